/* The instructions that flows have. Those without a handler end the flow before them. */
#include "frontend/flow.h"
#include "frontend/inspect_array.h"
#include "frontend/ops.h"

#include <string.h>

/* ---- locals, constants, names ---- */

static jy_status
load_local(struct jy_vbuild *b, int slot)
{
    struct jy_val *v = b->frame->locals[slot];
    if (v->kind == JY_K_UNBOUND)
        return jy_vb_lacks(b, "%s, which is not bound here", jy_utf8(jy_code_local_name(b->frame->f->f_instrs, slot)));
    if (v->kind == JY_K_MAYBE && v->nparts != 1)
        return jy_vb_lacks(b, "a variable of several kinds");
    if (v->kind == JY_K_MAYBE) {
        jy_vcheck(b, v->regs[0], "a variable that is not bound");
        v = b->frame->locals[slot] = v->parts[0];
    }
    return jy_vpush(b, v);
}

/* What runs code when it goes must go in its place. */
static jy_status
check_dropped(struct jy_vbuild *b, const struct jy_val *old)
{
    if (old->kind == JY_K_OBJECT &&
        !(PyUnicode_CheckExact(old->known->v_object) || PyLong_CheckExact(old->known->v_object)))
        return jy_vb_lacks(b, "a variable whose object may go");
    return JY_OK;
}

static jy_status
store_local(struct jy_vbuild *b, int slot)
{
    struct jy_val *v = jy_vpeek(b, 1);
    if (v->kind == JY_K_ITER)
        return jy_vb_lacks(b, "an iterator in a variable");
    if (b->frame->locals[slot] != v)
        TRY(check_dropped(b, b->frame->locals[slot]));
    if (v->kind == JY_K_NEWLIST)
        TRY(jy_vlist_make(b, &v, v));
    jy_vpop(b);
    b->frame->locals[slot] = v;
    return JY_OK;
}

static jy_status
v_load_fast(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return load_local(b, instr->i_arg);
}

static jy_status
v_load_fast_load_fast(struct jy_vbuild *b, const struct jy_instr *instr)
{
    TRY(load_local(b, instr->i_arg >> 4));
    return load_local(b, instr->i_arg & 15);
}

static jy_status
v_load_fast_and_clear(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *v = b->frame->locals[instr->i_arg];
    b->frame->locals[instr->i_arg] = jy_val_new(b, JY_K_UNBOUND, 0);
    return jy_vpush(b, v);
}

static jy_status
v_store_fast(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return store_local(b, instr->i_arg);
}

static jy_status
v_store_fast_load_fast(struct jy_vbuild *b, const struct jy_instr *instr)
{
    TRY(store_local(b, instr->i_arg >> 4));
    return load_local(b, instr->i_arg & 15);
}

static jy_status
v_store_fast_store_fast(struct jy_vbuild *b, const struct jy_instr *instr)
{
    TRY(store_local(b, instr->i_arg >> 4));
    return store_local(b, instr->i_arg & 15);
}

static jy_status
v_delete_fast(struct jy_vbuild *b, const struct jy_instr *instr)
{
    TRY(load_local(b, instr->i_arg));
    jy_vpop(b);
    TRY(check_dropped(b, b->frame->locals[instr->i_arg]));
    b->frame->locals[instr->i_arg] = jy_val_new(b, JY_K_UNBOUND, 0);
    return JY_OK;
}

static jy_status
push_imported(struct jy_vbuild *b, struct jy_value *v)
{
    struct jy_val *out;
    TRY(jy_vb_import(b, &out, v));
    return jy_vpush(b, out);
}

static jy_status
v_load_const(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_frame *f = b->frame->f;
    return push_imported(b, jy_value_const(f, jy_code_const(f->f_instrs, instr->i_arg)));
}

static jy_status
push_with_null(struct jy_vbuild *b, struct jy_val *v)
{
    struct jy_val *null = jy_val_new(b, JY_K_UNBOUND, 0);
    bool first = jy_instr_null_is_first();
    jy_vpush(b, first ? null : v);
    return jy_vpush(b, first ? v : null);
}

/* The frame of the trace finds and guards the name; its stack serves for that alone. */
static jy_status
v_load_global(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_frame *f = b->frame->f;
    struct jy_value *v = NULL;
    struct jy_val *out;
    TRY(jy_global_load(f, &v, jy_code_name(f->f_instrs, jy_instr_name_index(instr))));
    TRY(jy_vb_import(b, &out, v));
    return jy_instr_pushes_null(instr) ? push_with_null(b, out) : jy_vpush(b, out);
}

static jy_status
v_load_deref(struct jy_vbuild *b, const struct jy_instr *instr)
{
    const struct jy_val *cell = b->frame->locals[instr->i_arg];
    if (cell->kind != JY_K_CELL || cell->known->u.cell.content == NULL)
        return jy_vb_lacks(b, "a variable of an enclosing function that is not bound");
    return push_imported(b, cell->known->u.cell.content);
}

static jy_status
v_copy_free_vars(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_frame *f = b->frame->f;
    TRY(jy_copy_free_vars(f, (size_t)instr->i_arg));
    for (size_t i = f->f_nlocals - (size_t)instr->i_arg; i < f->f_nlocals; i++) {
        struct jy_val *cell = jy_val_new(b, JY_K_CELL, 0);
        cell->known = f->f_locals[i];
        b->frame->locals[i] = cell;
    }
    return JY_OK;
}

/* ---- the stack ---- */

static jy_status
v_nop(struct jy_vbuild *b, const struct jy_instr *instr)
{
    (void)b, (void)instr;
    return JY_OK;
}

static jy_status
v_pop_top(struct jy_vbuild *b, const struct jy_instr *instr)
{
    (void)instr;
    jy_vpop(b);
    return JY_OK;
}

static jy_status
v_push_null(struct jy_vbuild *b, const struct jy_instr *instr)
{
    (void)instr;
    return jy_vpush(b, jy_val_new(b, JY_K_UNBOUND, 0));
}

static jy_status
v_copy(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *v = jy_vpeek(b, (size_t)instr->i_arg);
    if (v->kind == JY_K_ITER || v->kind == JY_K_NEWLIST)
        return jy_vb_lacks(b, "a copy of %s", jy_val_describe(b, v));
    return jy_vpush(b, v);
}

static jy_status
v_swap(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val **top = &b->frame->stack[b->frame->depth - 1];
    struct jy_val **other = &b->frame->stack[b->frame->depth - (size_t)instr->i_arg], *v = *top;
    *top = *other;
    *other = v;
    return JY_OK;
}

static jy_status
v_end_for(struct jy_vbuild *b, const struct jy_instr *instr)
{
    b->frame->depth -= (size_t)jy_instr_pops(instr->i_op, instr->i_arg);
    return JY_OK;
}

/* ---- operators ---- */

enum { NB_INPLACE = 13 }; /* BINARY_OP codes from here on are the in-place ones */

static jy_status
v_binary_op(struct jy_vbuild *b, const struct jy_instr *instr)
{
    enum jy_nb op = (enum jy_nb)(instr->i_arg % NB_INPLACE);
    struct jy_val *x = jy_vpeek(b, 2), *y = jy_vpeek(b, 1), *out;
    if (jy_vlist_has_operator(op, x, y))
        TRY(jy_vlist_binary(b, &out, op, instr->i_arg >= NB_INPLACE, x, y));
    else if (x->kind == JY_K_ARRAY || y->kind == JY_K_ARRAY)
        TRY(jy_vvector_binary(b, &out, op, instr->i_arg >= NB_INPLACE, x, y));
    else
        TRY(jy_vnum_binary(b, &out, op, x, y));
    return jy_vreplace(b, 2, out);
}

static jy_status
unary(struct jy_vbuild *b, enum jy_unary op)
{
    struct jy_val *out, *x = jy_vpeek(b, 1);
    TRY(x->kind == JY_K_ARRAY ? jy_vvector_unary(b, &out, op, x) : jy_vnum_unary(b, &out, op, x));
    return jy_vreplace(b, 1, out);
}

static jy_status
v_unary_negative(struct jy_vbuild *b, const struct jy_instr *instr)
{
    (void)instr;
    return unary(b, JY_UNARY_NEGATIVE);
}

static jy_status
v_unary_positive(struct jy_vbuild *b, const struct jy_instr *instr)
{
    (void)instr;
    return unary(b, JY_UNARY_POSITIVE);
}

static jy_status
v_unary_invert(struct jy_vbuild *b, const struct jy_instr *instr)
{
    (void)instr;
    return unary(b, JY_UNARY_INVERT);
}

static jy_status
push_bool(struct jy_vbuild *b, size_t pops, jy_fv reg)
{
    return jy_vreplace(b, pops, jy_val_reg(b, JY_K_BOOL, JY_DTYPE_NONE, reg));
}

static jy_status
v_unary_not(struct jy_vbuild *b, const struct jy_instr *instr)
{
    jy_fv truth;
    (void)instr;
    TRY(jy_vtruth(b, &truth, jy_vpeek(b, 1)));
    return push_bool(b, 1, jy_ve1(b, JY_FLOW_NOT, JY_F_I1, truth));
}

static jy_status
v_to_bool(struct jy_vbuild *b, const struct jy_instr *instr)
{
    jy_fv truth;
    (void)instr;
    TRY(jy_vtruth(b, &truth, jy_vpeek(b, 1)));
    return push_bool(b, 1, truth);
}

static jy_status
v_compare(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *out, *x = jy_vpeek(b, 2), *y = jy_vpeek(b, 1);
    enum jy_compare op = (enum jy_compare)jy_instr_compare(instr);
    bool of_arrays = x->kind == JY_K_ARRAY || y->kind == JY_K_ARRAY;
    bool of_chars = x->kind == JY_K_CHAR || y->kind == JY_K_CHAR;
    jy_fv truth;
    TRY(of_arrays  ? jy_vvector_compare(b, &out, op, x, y)
        : of_chars ? jy_vtext_compare(b, &out, op, x, y)
                   : jy_vnum_compare(b, &out, op, x, y));
    if (!jy_instr_compare_to_bool(instr))
        return jy_vreplace(b, 2, out);
    TRY(jy_vtruth(b, &truth, out));
    return push_bool(b, 2, truth);
}

static bool
is_none(const struct jy_val *v)
{
    return v->kind == JY_K_KNOWN && jy_value_is_none(v->known);
}

/* Only what is decided by the kinds. */
static jy_status
same_object(struct jy_vbuild *b, jy_fv *out, const struct jy_val *x, const struct jy_val *y)
{
    if (is_none(x) || is_none(y)) {
        const struct jy_val *other = is_none(x) ? y : x;
        if (other->kind == JY_K_OBJECT)
            return jy_vb_lacks(b, "whether an object is None");
        *out = jy_vbool(b, is_none(other));
        return JY_OK;
    }
    if (x->kind == JY_K_BOOL && y->kind == JY_K_BOOL) {
        jy_fv differ = jy_ve2(b, JY_FLOW_XOR, JY_F_I1, x->regs[0], y->regs[0]);
        *out = jy_ve1(b, JY_FLOW_NOT, JY_F_I1, differ);
        return JY_OK;
    }
    if (x->kind == JY_K_LIST && y->kind == JY_K_LIST) {
        *out = jy_ve2(b, JY_FLOW_EQ, JY_F_I1, x->regs[0], y->regs[0]);
        return JY_OK;
    }
    return jy_vb_lacks(b, "%s is %s", jy_val_describe(b, x), jy_val_describe(b, y));
}

static jy_status
v_is(struct jy_vbuild *b, const struct jy_instr *instr)
{
    jy_fv same = JY_NO_FV;
    TRY(same_object(b, &same, jy_vpeek(b, 2), jy_vpeek(b, 1)));
    return push_bool(b, 2, instr->i_arg != 0 ? jy_ve1(b, JY_FLOW_NOT, JY_F_I1, same) : same);
}

/* x in (1, 2, 3) */
static jy_status
v_contains(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *x = jy_vpeek(b, 2), *all = jy_vpeek(b, 1);
    jy_fv inside;
    if (x->kind == JY_K_CHAR) {
        TRY(jy_vtext_contains(b, &inside, all, x));
        return push_bool(b, 2, instr->i_arg != 0 ? jy_ve1(b, JY_FLOW_NOT, JY_F_I1, inside) : inside);
    }
    if (all->kind == JY_K_LIST) {
        TRY(jy_vlist_contains(b, &inside, all, x));
        return push_bool(b, 2, instr->i_arg != 0 ? jy_ve1(b, JY_FLOW_NOT, JY_F_I1, inside) : inside);
    }
    if (all->kind != JY_K_TUPLE || !jy_val_is_number(x))
        return jy_vb_lacks(b, "%s in %s", jy_val_describe(b, x), jy_val_describe(b, all));
    jy_fv found = jy_vbool(b, false);
    for (size_t i = 0; i < all->nparts; i++) {
        struct jy_val *equal;
        if (x->kind == JY_K_FLOAT || x->kind == JY_K_NP) /* a NaN that is the very object counts as found */
            return jy_vb_lacks(b, "%s in a tuple", jy_val_describe(b, x));
        TRY(jy_vnum_compare(b, &equal, JY_EQ, x, all->parts[i]));
        found = jy_ve2(b, JY_FLOW_OR, JY_F_I1, found, equal->regs[0]);
    }
    return push_bool(b, 2, instr->i_arg != 0 ? jy_ve1(b, JY_FLOW_NOT, JY_F_I1, found) : found);
}

/* ---- jumps ---- */

static int
target(const struct jy_vbuild *b, const struct jy_instr *instr)
{
    return jy_code_live(b->frame->f->f_instrs, instr->i_target);
}

static jy_status
v_jump(struct jy_vbuild *b, const struct jy_instr *instr)
{
    int to = target(b, instr);
    bool backward = jy_code_at(b->frame->f->f_instrs, to)->i_offset <= instr->i_offset;
    if (backward)
        jy_flow_op(b->w, b->block, JY_FLOW_POLL, JY_F_NONE, 0, NULL, jy_vb_exit(b, JY_EXIT_POLL, "poll"));
    b->frame->pc = to;
    if (backward)
        jy_vb_goto(b, b->frame);
    return JY_OK;
}

/* 3.11 jumps backward on conditions, too. */
static void
poll_before(struct jy_vbuild *b, const struct jy_instr *instr)
{
    if (jy_code_at(b->frame->f->f_instrs, target(b, instr))->i_offset <= instr->i_offset)
        jy_flow_op(b->w, b->block, JY_FLOW_POLL, JY_F_NONE, 0, NULL, jy_vb_exit(b, JY_EXIT_POLL, "poll"));
}

static jy_status
branch(struct jy_vbuild *b, const struct jy_instr *instr, jy_fv condition, bool when, bool keep_when_jumping)
{
    poll_before(b, instr);
    struct jy_vframe *stay = jy_vb_copy(b, b->frame), *jump = jy_vb_copy(b, b->frame);
    stay->depth--;
    jump->depth -= !keep_when_jumping;
    jump->pc = target(b, instr);
    jy_vb_branch(b, condition, when ? jump : stay, when ? stay : jump);
    return JY_OK;
}

static jy_status
jump_if(struct jy_vbuild *b, const struct jy_instr *instr, bool when, bool keep)
{
    jy_fv truth;
    TRY(jy_vtruth(b, &truth, jy_vpeek(b, 1)));
    return branch(b, instr, truth, when, keep);
}

static jy_status
v_pop_jump_if_true(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return jump_if(b, instr, true, false);
}

static jy_status
v_pop_jump_if_false(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return jump_if(b, instr, false, false);
}

static jy_status
v_jump_if_true_or_pop(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return jump_if(b, instr, true, true);
}

static jy_status
v_jump_if_false_or_pop(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return jump_if(b, instr, false, true);
}

static jy_status
jump_none(struct jy_vbuild *b, const struct jy_instr *instr, bool when)
{
    const struct jy_val *v = jy_vpeek(b, 1);
    if (v->kind == JY_K_OBJECT)
        return jy_vb_lacks(b, "whether an object is None");
    return branch(b, instr, jy_vbool(b, is_none(v)), when, false);
}

static jy_status
v_pop_jump_if_none(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return jump_none(b, instr, true);
}

static jy_status
v_pop_jump_if_not_none(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return jump_none(b, instr, false);
}

/* ---- subscripts and attributes ---- */

static jy_status
tuple_item(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *tuple, const struct jy_val *key)
{
    int64_t index;
    if (key->kind != JY_K_INT || !jy_vconst(b, key->regs[0], &index))
        return jy_vb_lacks(b, "an item of a tuple whose index is not known");
    index += index < 0 ? (int64_t)tuple->nparts : 0;
    if (index < 0 || (size_t)index >= tuple->nparts)
        return jy_vb_lacks(b, "an index out of range");
    *out = tuple->parts[index];
    return JY_OK;
}

/* Items of several kinds go on in ways of their own. */
static jy_status
list_item(struct jy_vbuild *b, struct jy_val *list, struct jy_val *key)
{
    struct jy_val *out;
    jy_fv index;
    if (list->elem->other == NULL) {
        TRY(jy_vlist_get(b, &out, list, key));
        return jy_vreplace(b, 2, out);
    }
    TRY(jy_vas_index(b, &index, key));
    index = jy_ve2x(b, JY_FLOW_WRAP, JY_F_I64, index, jy_vlist_length(b, list), "index out of range");
    return jy_vlist_push_item(b, list, index, 2);
}

static jy_status
list_slice(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, struct jy_val *key)
{
    if (!is_none(key->parts[2]))
        return jy_vb_lacks(b, "a slice of a list with a step");
    return jy_vlist_slice(b, out, list, key->parts);
}

static jy_status
v_build_slice(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *parts[3];
    size_t n = (size_t)instr->i_arg;
    for (size_t k = 0; k < n; k++)
        parts[k] = jy_vpeek(b, n - k);
    if (n == 2)
        parts[2] = jy_val_known(b, jy_value_const(b->frame->f, Py_None));
    for (size_t k = 0; k < 3; k++)
        if (!is_none(parts[k]) && !jy_val_is_number(parts[k]))
            return jy_vb_lacks(b, "a slice of %s", jy_val_describe(b, parts[k]));
    return jy_vreplace(b, n, jy_val_parts(b, JY_K_SLICE, 3, parts));
}

static jy_status
v_binary_slice(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *v = jy_vpeek(b, 3), *bounds[] = { jy_vpeek(b, 2), jy_vpeek(b, 1) }, *out;
    (void)instr;
    if (v->kind == JY_K_ARRAY)
        TRY(jy_varray_slice(b, &out, v, bounds));
    else if (v->kind == JY_K_LIST)
        TRY(jy_vlist_slice(b, &out, v, bounds));
    else
        return jy_vb_lacks(b, "a slice of %s", jy_val_describe(b, v));
    return jy_vreplace(b, 3, out);
}

static jy_status
v_store_slice(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *item = jy_vpeek(b, 4), *v = jy_vpeek(b, 3), *bounds[] = { jy_vpeek(b, 2), jy_vpeek(b, 1) };
    (void)instr;
    if (v->kind == JY_K_ARRAY)
        TRY(jy_varray_set_slice(b, v, bounds, item));
    else if (v->kind == JY_K_LIST)
        TRY(jy_vlist_set_slice(b, v, bounds, item));
    else
        return jy_vb_lacks(b, "a store into a slice of %s", jy_val_describe(b, v));
    b->frame->depth -= 4;
    return JY_OK;
}

static jy_status
v_delete_subscr(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *v = jy_vpeek(b, 2), *key = jy_vpeek(b, 1);
    (void)instr;
    if (v->kind != JY_K_LIST)
        return jy_vb_lacks(b, "del of items of %s", jy_val_describe(b, v));
    TRY(jy_vlist_delete(b, v, key));
    b->frame->depth -= 2;
    return JY_OK;
}

static jy_status
v_binary_subscr(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *v = jy_vpeek(b, 2), *key = jy_vpeek(b, 1), *out;
    (void)instr;
    if (v->kind == JY_K_LIST && key->kind != JY_K_SLICE)
        return list_item(b, v, key);
    if (v->kind == JY_K_ARRAY)
        TRY(jy_varray_get(b, &out, v, key));
    else if (v->kind == JY_K_LIST)
        TRY(list_slice(b, &out, v, key));
    else if (v->kind == JY_K_TUPLE)
        TRY(tuple_item(b, &out, v, key));
    else if (jy_vis_text(v))
        TRY(jy_vtext_get(b, &out, v, key));
    else
        return jy_vb_lacks(b, "a subscript of %s", jy_val_describe(b, v));
    return jy_vreplace(b, 2, out);
}

static jy_status
v_store_subscr(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *item = jy_vpeek(b, 3), *v = jy_vpeek(b, 2), *key = jy_vpeek(b, 1);
    (void)instr;
    if (v->kind == JY_K_ARRAY)
        TRY(jy_varray_set(b, v, key, item));
    else if (v->kind == JY_K_LIST && key->kind == JY_K_SLICE && is_none(key->parts[2]))
        TRY(jy_vlist_set_slice(b, v, key->parts, item));
    else if (v->kind == JY_K_LIST)
        TRY(jy_vlist_set(b, v, key, item));
    else
        return jy_vb_lacks(b, "a store into %s", jy_val_describe(b, v));
    b->frame->depth -= 3;
    return JY_OK;
}

static struct jy_val *
method_of(struct jy_vbuild *b, struct jy_val *self, PyObject *name)
{
    struct jy_val *method = jy_val_parts(b, JY_K_METHOD, 1, &self);
    jy_keep(b->t->unit, name);
    method->name = name;
    return method;
}

/* Is it looked up in vain, with the AttributeError at this instruction? */
static bool
lacks_attribute(const struct jy_val *v, PyObject *name)
{
    PyTypeObject *type = &PyList_Type;
    if (jy_val_is_number(v))
        type = v->kind == JY_K_NP     ? jy_inspect_scalar_type((jy_dtype)v->dtype)
               : v->kind == JY_K_INT  ? &PyLong_Type
               : v->kind == JY_K_BOOL ? &PyBool_Type
                                      : &PyFloat_Type;
    return _PyType_Lookup(type, name) == NULL;
}

static jy_status
attribute(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, PyObject *name, bool is_call)
{
    if (v->kind == JY_K_ARRAY && is_call && jy_vvector_has_method(jy_utf8(name))) {
        *out = method_of(b, v, name);
        return JY_OK;
    }
    if (v->kind == JY_K_ARRAY)
        return jy_varray_attr(b, out, v, jy_utf8(name));
    if (v->kind == JY_K_COMPLEX && !is_call) {
        bool real = strcmp(jy_utf8(name), "real") == 0;
        if (!real && strcmp(jy_utf8(name), "imag") != 0)
            return jy_vb_lacks(b, "the attribute %s of a complex number", jy_utf8(name));
        *out = jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, v->regs[real ? 0 : 1]);
        return JY_OK;
    }
    if ((v->kind == JY_K_LIST && !v->is_tuple) || jy_val_is_number(v)) {
        if (!is_call || lacks_attribute(v, name))
            return jy_vb_lacks(b, "the attribute %s of %s", jy_utf8(name), jy_val_describe(b, v));
        *out = method_of(b, v, name);
        return JY_OK;
    }
    if (v->kind == JY_K_CHAR && is_call && jy_vtext_has_method(jy_utf8(name))) {
        *out = method_of(b, v, name);
        return JY_OK;
    }
    if (v->kind != JY_K_KNOWN && v->kind != JY_K_OBJECT)
        return jy_vb_lacks(b, "the attribute %s of %s", jy_utf8(name), jy_val_describe(b, v));
    if (is_call && v->kind == JY_K_OBJECT && jy_vdraw_has(b, v, name)) {
        *out = method_of(b, v, name);
        return JY_OK;
    }
    struct jy_value *value = NULL;
    TRY(jy_getattr(b->frame->f, &value, v->known, name));
    return jy_vb_import(b, out, value);
}

static jy_status
load_attr(struct jy_vbuild *b, const struct jy_instr *instr, bool is_call)
{
    struct jy_frame *f = b->frame->f;
    struct jy_val *out;
    TRY(attribute(b, &out, jy_vpeek(b, 1), jy_code_name(f->f_instrs, jy_instr_name_index(instr)), is_call));
    if (!is_call)
        return jy_vreplace(b, 1, out);
    b->frame->depth--;
    return push_with_null(b, out);
}

static jy_status
v_load_attr(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return load_attr(b, instr, jy_instr_pushes_null(instr));
}

static jy_status
v_load_method(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return load_attr(b, instr, true);
}

/* ---- building and unpacking ---- */

static jy_status
build(struct jy_vbuild *b, enum jy_vkind kind, size_t n)
{
    struct jy_val **items = &b->frame->stack[b->frame->depth - n];
    for (size_t i = 0; i < n; i++)
        if (items[i]->kind == JY_K_ITER || items[i]->kind == JY_K_NEWLIST || items[i]->kind == JY_K_METHOD)
            return jy_vb_lacks(b, "%s in a container", jy_val_describe(b, items[i]));
    return jy_vreplace(b, n, jy_val_parts(b, kind, n, items));
}

static jy_status
v_build_tuple(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return build(b, JY_K_TUPLE, (size_t)instr->i_arg);
}

static jy_status
v_build_list(struct jy_vbuild *b, const struct jy_instr *instr)
{
    if (instr->i_arg != 0)
        return build(b, JY_K_NEWLIST, (size_t)instr->i_arg);
    struct jy_val *empty = jy_val_parts(b, JY_K_NEWLIST, 0, NULL);
    int next = b->frame->pc;
    if (next != JY_NO_INSTR && jy_code_at(b->frame->f->f_instrs, next)->i_op == LOAD_CONST) /* [1, 2, 3] */
        return jy_vpush(b, empty);
    TRY(jy_vlist_make(b, &empty, empty));
    return jy_vpush(b, empty);
}

static jy_status
v_list_extend(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *list = jy_vpeek(b, 2), *items = jy_vpeek(b, 1);
    if (instr->i_arg != 1 || list->kind != JY_K_NEWLIST || list->nparts != 0 || items->kind != JY_K_TUPLE)
        return jy_vb_lacks(b, "a list that is extended");
    return jy_vreplace(b, 2, jy_val_parts(b, JY_K_NEWLIST, items->nparts, items->parts));
}

static jy_status
v_list_append(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *list = jy_vpeek(b, (size_t)instr->i_arg + 1), *item = jy_vpeek(b, 1);
    if (list->kind != JY_K_LIST)
        return jy_vb_lacks(b, "a comprehension");
    jy_vpop(b);
    return jy_vlist_append(b, list, item);
}

static jy_status
v_unpack_sequence(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *v = jy_vpeek(b, 1);
    size_t n = (size_t)instr->i_arg;
    struct jy_val **items = JY_NEW_ARRAY(b->arena, struct jy_val *, n + 1);
    if (v->kind == JY_K_TUPLE && v->nparts == n) {
        memcpy(items, v->parts, n * sizeof *items);
    } else if (v->kind == JY_K_LIST) {
        jy_fv same = jy_ve2(b, JY_FLOW_EQ, JY_F_I1, jy_vlist_length(b, v), jy_vint(b, (int64_t)n));
        jy_vcheck(b, same, "another number of items");
        for (size_t i = 0; i < n; i++)
            TRY(jy_vlist_at(b, &items[i], v, jy_vint(b, (int64_t)i)));
    } else {
        return jy_vb_lacks(b, "unpacking %s", jy_val_describe(b, v));
    }
    jy_vpop(b);
    for (size_t i = n; i-- > 0;)
        jy_vpush(b, items[i]);
    return JY_OK;
}

/* ---- iteration, calls, return ---- */

static jy_status
v_get_iter(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *out;
    (void)instr;
    TRY(jy_viter(b, &out, jy_vpeek(b, 1)));
    return jy_vreplace(b, 1, out);
}

static jy_status
v_for_iter(struct jy_vbuild *b, const struct jy_instr *instr)
{
    return jy_vfor_iter(b, instr);
}

static jy_status
v_kw_names(struct jy_vbuild *b, const struct jy_instr *instr)
{
    PyObject *names = jy_code_const(b->frame->f->f_instrs, instr->i_arg);
    if (!PyTuple_CheckExact(names))
        return jy_vb_lacks(b, "keywords without names");
    b->frame->kwnames = names;
    return JY_OK;
}

static jy_status
v_call(struct jy_vbuild *b, const struct jy_instr *instr)
{
    PyObject *kwnames = b->frame->kwnames;
    b->frame->kwnames = NULL;
    return jy_vcall(b, (size_t)instr->i_arg + 2, (size_t)instr->i_arg, kwnames);
}

/* The names lie on the stack, from a constant. */
static jy_status
v_call_kw(struct jy_vbuild *b, const struct jy_instr *instr)
{
    const struct jy_code *code = b->frame->f->f_instrs;
    const struct jy_instr *before = jy_code_at(code, jy_code_at(code, b->frame->f->f_pc)->i_prev);
    if (before->i_op != LOAD_CONST || !PyTuple_CheckExact(jy_code_const(code, before->i_arg)))
        return jy_vb_lacks(b, "keywords without names");
    jy_vpop(b);
    return jy_vcall(b, (size_t)instr->i_arg + 2, (size_t)instr->i_arg, jy_code_const(code, before->i_arg));
}

static jy_status
v_return_value(struct jy_vbuild *b, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_val *v = jy_vpeek(b, 1);
    return jy_vreturn(b, v);
}

static jy_status
v_return_const(struct jy_vbuild *b, const struct jy_instr *instr)
{
    TRY(v_load_const(b, instr));
    return jy_vreturn(b, jy_vpeek(b, 1));
}

/* ---- the table: a row per handler of the opcode tables ---- */

typedef jy_status handler(struct jy_vbuild *b, const struct jy_instr *instr);

enum family {
#define FAMILY(name, handler) name##_family,
#include "frontend/flow_op.def"
#undef FAMILY
};

static handler *const handlers[] = {
#define FAMILY(name, handler) [name##_family] = handler,
#include "frontend/flow_op.def"
#undef FAMILY
};

enum { NO_ROW = 255 };

static const uint8_t families[256] = {
#define OPCODE(name, handler, argkind, caches, pops, pushes) [name] = handler##_family + 1,
#define OPCODE_BREAKS(name, why, argkind, caches, pops, pushes) [name] = 0,
#include "frontend/cpython/opcodes.def"
};

jy_status
jy_vstep(struct jy_vbuild *b, const struct jy_instr *instr)
{
    uint8_t family = families[instr->i_op];
    size_t pops = (size_t)jy_instr_pops(instr->i_op, instr->i_arg);
    if (pops > b->frame->depth)
        return jy_break(b->frame->f, JY_BREAK_BAD_BYTECODE, "%s out of bounds", jy_instr_opname(instr->i_op));
    if (family == 0 || handlers[family - 1] == NULL)
        return jy_vb_lacks(b, "the instruction %s", jy_instr_opname(instr->i_op));
    return handlers[family - 1](b, instr);
}
