/* Jumps. A condition must be known: it is a constant, or a relation of sizes, which is decided and guarded. */
#include "frontend/ops.h"

static void
go(struct jy_frame *f, const struct jy_instr *instr)
{
    f->f_next = jy_code_live(f->f_instrs, instr->i_target);
}

jy_status
op_jump(struct jy_frame *f, const struct jy_instr *instr)
{
    go(f, instr);
    return JY_OK;
}

static jy_status
pop_jump(struct jy_frame *f, const struct jy_instr *instr, bool when)
{
    bool truth;
    TRY(jy_value_truth(f, &truth, *jy_peek(f, 1)));
    jy_pop(f);
    if (truth == when)
        go(f, instr);
    return JY_OK;
}

jy_status
op_pop_jump_if_true(struct jy_frame *f, const struct jy_instr *instr)
{
    return pop_jump(f, instr, true);
}

jy_status
op_pop_jump_if_false(struct jy_frame *f, const struct jy_instr *instr)
{
    return pop_jump(f, instr, false);
}

static jy_status
pop_jump_none(struct jy_frame *f, const struct jy_instr *instr, bool when)
{
    bool is_none;
    TRY(jy_is_same(f, &is_none, *jy_peek(f, 1), jy_value_const(f, Py_None)));
    jy_pop(f);
    if (is_none == when)
        go(f, instr);
    return JY_OK;
}

jy_status
op_pop_jump_if_none(struct jy_frame *f, const struct jy_instr *instr)
{
    return pop_jump_none(f, instr, true);
}

jy_status
op_pop_jump_if_not_none(struct jy_frame *f, const struct jy_instr *instr)
{
    return pop_jump_none(f, instr, false);
}

static jy_status
jump_or_pop(struct jy_frame *f, const struct jy_instr *instr, bool when)
{
    bool truth;
    TRY(jy_value_truth(f, &truth, *jy_peek(f, 1)));
    if (truth == when)
        go(f, instr);
    else
        jy_pop(f);
    return JY_OK;
}

jy_status
op_jump_if_true_or_pop(struct jy_frame *f, const struct jy_instr *instr)
{
    return jump_or_pop(f, instr, true);
}

jy_status
op_jump_if_false_or_pop(struct jy_frame *f, const struct jy_instr *instr)
{
    return jump_or_pop(f, instr, false);
}
