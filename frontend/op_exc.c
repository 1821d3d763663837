/* Raising and handling exceptions, and the with statement. exception.h says how an exception travels. */
#include "frontend/exception.h"
#include "frontend/instance.h"
#include "frontend/ops.h"

/* ---- raise ---- */

/* What `raise v` and `from v` make of v: an exception class is called. */
static jy_status
instantiate(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    PyObject *known = jy_value_known(v);
    *out = v;
    if (known != NULL && PyExceptionClass_Check(known))
        TRY(jy_call(f, out, v, 0, NULL, NULL));
    if ((*out)->v_kind != JY_V_EXCEPTION)
        return jy_break(f, JY_BREAK_RAISE, "%s", jy_value_describe(f, *out));
    return JY_OK;
}

/* An exception that has been raised before goes on; nothing about it changes. */
static jy_status
raise_again(struct jy_frame *f, struct jy_value *exception)
{
    if (exception == NULL || exception->v_kind != JY_V_EXCEPTION)
        return jy_break(f, JY_BREAK_RAISE, "an exception from outside again");
    return jy_raise_again(f, exception);
}

jy_status
op_raise_varargs(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *exception, *cause = NULL;
    if (instr->i_arg == 0)
        return raise_again(f, jy_exception_handled(f));
    TRY(instantiate(f, &exception, *jy_peek(f, (size_t)instr->i_arg)));
    if (instr->i_arg == 2) {
        TRY(jy_value_realize(f, *jy_peek(f, 1)));
        if (!jy_value_is_none(*jy_peek(f, 1)))
            TRY(instantiate(f, &cause, *jy_peek(f, 1)));
        exception->u.exception.cause = cause;
        exception->u.exception.suppress_context = true;
    }
    return jy_raise(f, JY_BREAK_RAISE, exception);
}

jy_status
op_reraise(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return raise_again(f, *jy_peek(f, 1));
}

/* ---- handlers ---- */

jy_status
op_push_exc_info(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *exception = *jy_peek(f, 1), *mark = jy_value_new(f, JY_V_HANDLED);
    mark->u.handled.exception = exception;
    *jy_peek(f, 1) = mark;
    return jy_push(f, exception);
}

/* The end of a handler that raises: COPY the mark, POP_EXCEPT, RERAISE. An exception from outside goes on in CPython, and before its mark is undone. */
jy_status
op_pop_except(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *mark = *jy_peek(f, 1);
    if (mark->v_kind != JY_V_HANDLED)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "POP_EXCEPT of %s", jy_value_describe(f, mark));
    if (mark->u.handled.exception->v_kind != JY_V_EXCEPTION)
        for (size_t i = 0; i + 1 < f->f_depth; i++)
            if (f->f_stack[i] == mark)
                return jy_break(f, JY_BREAK_RAISE, "an exception from outside again");
    jy_pop(f);
    return JY_OK;
}

/* The class of what is handled; one from outside is guarded by it. */
static jy_status
handled_type(struct jy_frame *f, PyTypeObject **out, struct jy_value *exception)
{
    TRY(jy_value_realize(f, exception));
    if (exception->v_kind == JY_V_EXCEPTION) {
        *out = jy_exception_type(exception);
        return JY_OK;
    }
    if (exception->v_kind != JY_V_OPAQUE || exception->v_source == JY_NO_SOURCE ||
        !PyExceptionInstance_Check(exception->v_object))
        return jy_break(f, JY_BREAK_EXCEPTION_HANDLING, "%s", jy_value_describe(f, exception));
    *out = Py_TYPE(exception->v_object);
    jy_guard_type(f, exception->v_source, *out);
    return JY_OK;
}

jy_status
op_check_exc_match(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    PyTypeObject *type = NULL;
    bool matches = false;
    TRY(handled_type(f, &type, *jy_peek(f, 2)));
    TRY(jy_exception_matches(f, &matches, type, *jy_peek(f, 1)));
    return jy_replace(f, 1, jy_value_const(f, matches ? Py_True : Py_False));
}

/* ---- with ---- */

/* A method that the class of a context manager has as a Python function. */
static jy_status
special_method(struct jy_frame *f, struct jy_value **out, struct jy_value *manager, const char *text)
{
    TRY(jy_value_realize(f, manager));
    if (!jy_is_instance(f, manager))
        return jy_break(f, JY_BREAK_EXCEPTION_HANDLING, "with %s", jy_value_describe(f, manager));
    PyObject *raw = jy_class_get_text(f, manager->u.instance->type, text);
    if (raw == NULL)
        return jy_break(f, JY_BREAK_RAISES, "with %s", jy_value_describe(f, manager));
    if (!PyFunction_Check(raw))
        return jy_break(f, JY_BREAK_EXCEPTION_HANDLING, "with %s", jy_value_describe(f, manager));
    return jy_special(f, out, manager, text);
}

jy_status
op_before_with(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *manager = *jy_peek(f, 1), *enter, *leave, *result;
    TRY(special_method(f, &enter, manager, "__enter__"));
    TRY(special_method(f, &leave, manager, "__exit__"));
    jy_replace(f, 1, leave);
    TRY(jy_call(f, &result, enter, 0, NULL, NULL));
    return jy_push(f, result);
}

/* exit, lasti, mark, exception: the answer of exit(type, exception, traceback) above them */
jy_status
op_with_except_start(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *exception = *jy_peek(f, 1), *result;
    if (exception->v_kind != JY_V_EXCEPTION)
        return jy_break(f, JY_BREAK_EXCEPTION_HANDLING, "an exception from outside leaves a with statement");
    struct jy_value *traceback = jy_value_new(f, JY_V_HANDLED);
    traceback->u.handled.exception = exception;
    struct jy_value *args[] = { exception->u.exception.type, exception, traceback };
    TRY(jy_call(f, &result, *jy_peek(f, 4), 3, args, NULL));
    return jy_push(f, result);
}
