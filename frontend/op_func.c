/* Functions made while tracing; return and yield. */
#include "frontend/generator.h"
#include "frontend/ops.h"

enum { DEFAULTS = 1, KWDEFAULTS = 2, ANNOTATIONS = 4, CLOSURE = 8 }; /* of MAKE_FUNCTION and SET_FUNCTION_ATTRIBUTE */

static jy_status
set_part(struct jy_frame *f, struct jy_value *function, int which, struct jy_value *part)
{
    if (function->v_kind != JY_V_FUNCTION)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "an attribute of %s", jy_value_describe(f, function));
    if (which == DEFAULTS)
        function->u.func.defaults = part;
    else if (which == KWDEFAULTS)
        function->u.func.kwdefaults = part;
    else if (which == ANNOTATIONS)
        function->u.func.annotations = part;
    else if (which == CLOSURE)
        function->u.func.closure = part;
    return JY_OK;
}

/* The code object that v is: a constant, or, where the unit begins here, one that comes in and is held to by a guard; NULL: none. */
static PyObject *
known_code(struct jy_frame *f, const struct jy_value *v)
{
    PyObject *code = jy_value_known(v);
    if (code == NULL && v->v_source != JY_NO_SOURCE && v->v_object != NULL && PyCode_Check(v->v_object)) {
        jy_guard_object(f, JY_GUARD_IS, v->v_source, v->v_object);
        code = v->v_object;
    }
    return code != NULL && PyCode_Check(code) ? code : NULL;
}

jy_status
op_make_function(struct jy_frame *f, const struct jy_instr *instr)
{
    static const int order[] = { CLOSURE, ANNOTATIONS, KWDEFAULTS, DEFAULTS };
    PyObject *code = known_code(f, *jy_peek(f, 1));
    if (code == NULL)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "MAKE_FUNCTION of %s", jy_value_describe(f, *jy_peek(f, 1)));
    int takes = jy_instr_pops(instr->i_op, instr->i_arg);
    struct jy_value *function = jy_value_new(f, JY_V_FUNCTION);
    function->u.func.code = code;
    function->u.func.globals_of = f->f_function_source;
    function->u.func.maker = f;
    jy_pop(f);
    for (size_t i = 0; takes > 1 && i < sizeof order / sizeof *order; i++)
        if (instr->i_arg & order[i])
            TRY(set_part(f, function, order[i], jy_pop(f)));
    return jy_push(f, function);
}

jy_status
op_set_function_attribute(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *function = *jy_peek(f, 1);
    TRY(set_part(f, function, instr->i_arg, *jy_peek(f, 2)));
    return jy_replace(f, 2, function);
}

jy_status
op_return_value(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    f->f_return = jy_pop(f);
    return JY_OK;
}

jy_status
op_return_const(struct jy_frame *f, const struct jy_instr *instr)
{
    f->f_return = jy_value_const(f, jy_code_const(f->f_instrs, instr->i_arg));
    return JY_OK;
}

/* The call that made this frame has handed out the generator already; the first `next` starts here and finds what it sent, None. */
jy_status
op_return_generator(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    if (f->f_generator == NULL)
        return jy_break(f, JY_BREAK_GENERATOR, "a generator function");
    return jy_push(f, jy_value_const(f, Py_None));
}

jy_status
op_yield_value(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    TRY(jy_generator_suspend(f));
    f->f_yield = jy_pop(f);
    return jy_push(f, jy_value_const(f, Py_None)); /* what next() sends */
}
