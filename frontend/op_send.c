/* `yield from`: the inner iterator is asked where it stands, as FOR_ITER asks; a value that was sent goes on to the inner generator. */
#include "frontend/exception.h"
#include "frontend/generator.h"
#include "frontend/ops.h"

jy_status
op_get_yield_from_iter(struct jy_frame *f, const struct jy_instr *instr)
{
    return op_get_iter(f, instr);
}

static bool
is_generator(const struct jy_value *v)
{
    return v->u.iter.how == JY_ITER_GENERATOR;
}

/* receiver.send(value): what it yields, or, *out NULL, what it returned. */
static jy_status
send(struct jy_frame *f, struct jy_value **out, struct jy_value **returned, struct jy_value *receiver,
     struct jy_value *value)
{
    bool ended = receiver->u.iter.exhausted;
    *returned = jy_value_const(f, Py_None);
    if (jy_value_is_none(value)) {
        TRY(jy_iter_next(f, out, receiver));
        if (*out == NULL && is_generator(receiver) && !ended)
            *returned = receiver->u.iter.frame->f_return;
        return JY_OK;
    }
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("send"));
    if (name == NULL)
        return JY_ERROR;
    if (!is_generator(receiver))
        return jy_break(f, JY_BREAK_RAISES, "a value sent to %s", jy_value_describe(f, receiver));
    jy_status status = jy_generator_method(f, out, receiver, name, 1, &value, NULL);
    if (status != JY_BREAK || !jy_is_raised(f, PyExc_StopIteration))
        return status;
    jy_exception_take(f);
    *out = NULL;
    if (!ended)
        *returned = receiver->u.iter.frame->f_return;
    return JY_OK;
}

/* At the end 3.11 leaves the result in the place of both; later versions leave the receiver below it, for END_SEND. */
jy_status
op_send(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *receiver = *jy_peek(f, 2), *yielded, *returned;
    if (receiver->v_kind != JY_V_ITER)
        return jy_break(f, JY_BREAK_GENERATOR, "a value sent to %s", jy_value_describe(f, receiver));
    TRY(send(f, &yielded, &returned, receiver, *jy_peek(f, 1)));
    if (yielded != NULL)
        return jy_replace(f, 1, yielded);
    f->f_next = jy_code_live(f->f_instrs, instr->i_target);
    return jy_replace(f, jy_instr_pushes(instr->i_op, instr->i_arg, true) == 1 ? 2 : 1, returned);
}

jy_status
op_end_send(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return jy_replace(f, 2, *jy_peek(f, 1));
}
