/* The handlers that the opcode tables name. A handler finds its operands on the stack (their number is checked), reads and checks first and then
 * changes the frame; where control goes is f_next. One file per family. */
#ifndef JY_FRONTEND_OPS_H
#define JY_FRONTEND_OPS_H

#include "frontend/interp.h"

/* op_load.c */
jy_status op_load_const(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_load_fast(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_load_fast_and_clear(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_load_fast_load_fast(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_store_fast(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_store_fast_load_fast(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_store_fast_store_fast(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_delete_fast(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_load_global(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_load_deref(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_store_deref(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_delete_deref(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_load_closure(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_make_cell(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_copy_free_vars(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_load_assertion_error(struct jy_frame *f, const struct jy_instr *instr);

/* op_stack.c */
jy_status op_nop(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_pop_top(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_push_null(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_copy(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_swap(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_end_for(struct jy_frame *f, const struct jy_instr *instr);

/* op_binary.c */
jy_status op_binary_op(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_unary_negative(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_unary_positive(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_unary_invert(struct jy_frame *f, const struct jy_instr *instr);

/* op_compare.c */
jy_status op_compare(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_is(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_contains(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_unary_not(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_to_bool(struct jy_frame *f, const struct jy_instr *instr);

/* op_jump.c */
jy_status op_jump(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_pop_jump_if_true(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_pop_jump_if_false(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_pop_jump_if_none(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_pop_jump_if_not_none(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_jump_if_true_or_pop(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_jump_if_false_or_pop(struct jy_frame *f, const struct jy_instr *instr);

/* op_call.c */
jy_status op_call(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_call_kw(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_kw_names(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_call_function_ex(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_call_intrinsic_1(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_call_intrinsic_2(struct jy_frame *f, const struct jy_instr *instr);

/* op_build.c */
jy_status op_build_tuple(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_build_list(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_build_set(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_build_map(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_build_const_key_map(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_build_slice(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_build_string(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_list_append(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_list_extend(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_list_to_tuple(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_set_add(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_set_update(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_map_add(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_dict_update(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_dict_merge(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_format_value(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_format_simple(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_format_with_spec(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_convert_value(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_unpack_sequence(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_unpack_ex(struct jy_frame *f, const struct jy_instr *instr);

/* op_subscr.c */
jy_status op_binary_subscr(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_store_subscr(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_delete_subscr(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_binary_slice(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_store_slice(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_get_len(struct jy_frame *f, const struct jy_instr *instr);

/* op_attr.c */
jy_status op_load_attr(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_load_method(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_store_attr(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_delete_attr(struct jy_frame *f, const struct jy_instr *instr);

/* op_super.c */
jy_status op_load_super_attr(struct jy_frame *f, const struct jy_instr *instr);

/* op_match.c */
jy_status op_match_sequence(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_match_mapping(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_match_keys(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_match_class(struct jy_frame *f, const struct jy_instr *instr);

/* op_import.c */
jy_status op_import_name(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_import_from(struct jy_frame *f, const struct jy_instr *instr);

/* op_global.c */
jy_status op_store_global(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_delete_global(struct jy_frame *f, const struct jy_instr *instr);

/* op_send.c */
jy_status op_get_yield_from_iter(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_send(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_end_send(struct jy_frame *f, const struct jy_instr *instr);

/* op_iter.c */
jy_status op_get_iter(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_for_iter(struct jy_frame *f, const struct jy_instr *instr);

/* op_func.c */
jy_status op_make_function(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_set_function_attribute(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_return_value(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_return_const(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_return_generator(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_yield_value(struct jy_frame *f, const struct jy_instr *instr);

/* op_exc.c */
jy_status op_raise_varargs(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_reraise(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_push_exc_info(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_pop_except(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_check_exc_match(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_before_with(struct jy_frame *f, const struct jy_instr *instr);
jy_status op_with_except_start(struct jy_frame *f, const struct jy_instr *instr);

#endif
