/* The stack itself. */
#include "frontend/ops.h"

jy_status
op_nop(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)f, (void)instr;
    return JY_OK;
}

jy_status
op_pop_top(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    jy_pop(f);
    return JY_OK;
}

jy_status
op_push_null(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return jy_push(f, jy_value_new(f, JY_V_NULL));
}

jy_status
op_copy(struct jy_frame *f, const struct jy_instr *instr)
{
    if (instr->i_arg < 1)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "COPY 0");
    return jy_push(f, *jy_peek(f, (size_t)instr->i_arg));
}

jy_status
op_swap(struct jy_frame *f, const struct jy_instr *instr)
{
    if (instr->i_arg < 1)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "SWAP 0");
    struct jy_value **a = jy_peek(f, 1), **b = jy_peek(f, (size_t)instr->i_arg), *v = *a;
    *a = *b;
    *b = v;
    return JY_OK;
}

/* A finished loop goes on behind it. */
jy_status
op_end_for(struct jy_frame *f, const struct jy_instr *instr)
{
    f->f_depth -= (size_t)jy_instr_pops(instr->i_op, instr->i_arg);
    return JY_OK;
}
