/* Calls: who is called. Below the arguments lie two slots; the callable is in the one that is not NULL, or both hold function and self. */
#include "frontend/exception.h"
#include "frontend/generator.h"
#include "frontend/instance.h"
#include "frontend/ops.h"

#include <string.h>

/* ---- dispatch ---- */

static jy_status
call_callable(struct jy_frame *f, struct jy_value **out, PyObject *callable, size_t nargs, struct jy_value *const *args,
              PyObject *kwnames)
{
    bool handled = false;
    if (jy_np_knows(f, callable))
        return jy_np_call(f, out, callable, nargs, args, kwnames);
    TRY(jy_call_own(f, out, &handled, callable, nargs, args, kwnames));
    if (handled)
        return JY_OK;
    TRY(jy_call_builtin(f, out, &handled, callable, nargs, args, kwnames));
    if (handled)
        return JY_OK;
    return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s", jy_value_describe(f, jy_value_callable(f, callable, JY_NO_SOURCE)));
}

static jy_status
call_with_self(struct jy_frame *f, struct jy_value **out, struct jy_value *function, struct jy_value *self,
               size_t nargs, struct jy_value *const *args, PyObject *kwnames)
{
    size_t n = nargs + (kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0);
    struct jy_value **all = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, n + 1);
    all[0] = self;
    if (n != 0)
        memcpy(all + 1, args, n * sizeof *args);
    return jy_call(f, out, function, nargs + 1, all, kwnames);
}

static jy_status
call_method(struct jy_frame *f, struct jy_value **out, struct jy_value *method, size_t nargs,
            struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *self = method->u.func.self;
    if (!jy_is_appendable(f, self))
        TRY(jy_value_realize(f, self));
    if (method->u.func.function != NULL)
        return call_with_self(f, out, method->u.func.function, self, nargs, args, kwnames);
    bool is_ufunc = self->v_kind == JY_V_CALLABLE && jy_np_knows(f, self->v_object);
    if (is_ufunc || self->v_kind == JY_V_ARRAY ||
        (self->v_kind == JY_V_SCALAR && self->u.scalar.kind == JY_KIND_NPSCALAR))
        return jy_np_method(f, out, self, method->u.func.name, nargs, args, kwnames);
    if (self->v_kind == JY_V_ITER)
        return jy_generator_method(f, out, self, method->u.func.name, nargs, args, kwnames);
    if (self->v_kind == JY_V_EXCEPTION)
        return jy_exception_method(f, out, self, method->u.func.name, nargs, args, kwnames);
    jy_status status = jy_call_method(f, out, self, method->u.func.name, nargs, args, kwnames);
    if (status == JY_BREAK) /* extend() may have taken some items by then */
        jy_exception_stop(f);
    return status;
}

static jy_status
call_dispatcher(struct jy_frame *f, struct jy_value **out, struct jy_value *dispatcher, size_t nargs,
                struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *function;
    TRY(jy_dispatcher_part(f, &function, dispatcher));
    return jy_call(f, out, function, nargs, args, kwnames);
}

jy_status
jy_call(struct jy_frame *f, struct jy_value **out, struct jy_value *callable, size_t nargs,
        struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *method;
    bool handled = false;
    TRY(jy_value_realize(f, callable));
    switch ((enum jy_value_kind)callable->v_kind) {
    case JY_V_FUNCTION:
        return jy_call_python(f, out, callable, nargs, args, kwnames);
    case JY_V_METHOD:
        return call_method(f, out, callable, nargs, args, kwnames);
    case JY_V_CALLABLE:
        if (jy_is_dispatcher(callable->v_object))
            return call_dispatcher(f, out, callable, nargs, args, kwnames);
        if (PyExceptionClass_Check(callable->v_object))
            return jy_exception_call(f, out, callable, nargs, args, kwnames);
        TRY(jy_exception_builtin(f, out, &handled, callable->v_object, nargs, args, kwnames));
        if (handled)
            return JY_OK;
        TRY(jy_library_call(f, out, &handled, callable->v_object, nargs, args, kwnames));
        if (handled)
            return JY_OK;
        TRY(jy_class_call(f, out, &handled, callable, nargs, args, kwnames));
        return handled ? JY_OK : call_callable(f, out, callable->v_object, nargs, args, kwnames);
    case JY_V_OPAQUE:
    case JY_V_INSTANCE:
        if (!jy_is_instance(f, callable)) {
            if (callable->v_kind == JY_V_PARTIAL)
                return jy_partial_call(f, out, callable, nargs, args, kwnames);
            break;
        }
        TRY(jy_special(f, &method, callable, "__call__"));
        if (method == NULL)
            return jy_raises(f, PyExc_TypeError, "'%s' object is not callable", callable->u.instance->type->tp_name);
        return jy_call(f, out, method, nargs, args, kwnames);
    case JY_V_CONST:
        if (PyExceptionClass_Check(callable->v_object))
            return jy_exception_call(f, out, callable, nargs, args, kwnames);
        if (PyCallable_Check(callable->v_object))
            return call_callable(f, out, callable->v_object, nargs, args, kwnames);
        break;
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_ARRAY:
    case JY_V_SCALAR:
    case JY_V_TUPLE:
    case JY_V_LIST:
    case JY_V_DICT:
    case JY_V_RANGE:
    case JY_V_SLICE:
    case JY_V_MODULE:
    case JY_V_ITER:
    case JY_V_CELL:
    case JY_V_SET:
    case JY_V_DICTVIEW:
    case JY_V_HANDLED:
    case JY_V_EXCEPTION:
        break;
    case JY_V_PARTIAL:
        return jy_partial_call(f, out, callable, nargs, args, kwnames);
    }
    return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s", jy_value_describe(f, callable));
}

/* ---- instructions ---- */

/* Takes n argument slots and the two below them off the stack, so that a callee's frame holds what eager's would hold, and pushes the result. */
static jy_status
call(struct jy_frame *f, size_t n, PyObject *kwnames)
{
    size_t nkw = kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0;
    if (nkw > n)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "%zu names for %zu arguments", nkw, n);
    struct jy_value **slots = &f->f_stack[f->f_depth - n - 2], *result;
    struct jy_value **args = jy_arena_copy(jy_frame_arena(f), slots, (n + 2) * sizeof *slots);
    f->f_depth -= n + 2;
    if (args[0]->v_kind == JY_V_NULL)
        TRY(jy_call(f, &result, args[1], n - nkw, args + 2, kwnames));
    else if (args[1]->v_kind == JY_V_NULL)
        TRY(jy_call(f, &result, args[0], n - nkw, args + 2, kwnames));
    else
        TRY(jy_call(f, &result, args[0], n - nkw + 1, args + 1, kwnames));
    return jy_push(f, result);
}

jy_status
op_call(struct jy_frame *f, const struct jy_instr *instr)
{
    PyObject *kwnames = f->f_kwnames != NULL ? f->f_kwnames->v_object : NULL;
    f->f_kwnames = NULL;
    return call(f, (size_t)instr->i_arg, kwnames);
}

static bool
is_names(PyObject *names)
{
    return names != NULL && PyTuple_CheckExact(names);
}

jy_status
op_kw_names(struct jy_frame *f, const struct jy_instr *instr)
{
    PyObject *names = jy_code_const(f->f_instrs, instr->i_arg);
    if (!is_names(names))
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "KW_NAMES without a tuple");
    f->f_kwnames = jy_value_const(f, names);
    return JY_OK;
}

/* The tuple of names below the top: a constant, or, where the unit begins at the call, one that comes in and is held to its names by guards; NULL: no names. */
static jy_status
incoming_names(struct jy_frame *f, PyObject **out, struct jy_value *v)
{
    struct jy_value **items;
    size_t n;
    *out = jy_value_known(v);
    if (*out != NULL)
        return JY_OK;
    TRY(jy_value_items(f, &items, &n, v));
    if (items == NULL)
        return JY_OK;
    PyObject *names = jy_hold(f, PyTuple_New((Py_ssize_t)n));
    if (names == NULL)
        return JY_ERROR;
    for (size_t i = 0; i < n; i++) {
        TRY(jy_value_realize(f, items[i]));
        PyObject *name = jy_value_known(items[i]);
        if (name == NULL || !PyUnicode_CheckExact(name))
            return JY_OK;
        PyTuple_SET_ITEM(names, (Py_ssize_t)i, Py_NewRef(name));
    }
    *out = names;
    return JY_OK;
}

jy_status
op_call_kw(struct jy_frame *f, const struct jy_instr *instr)
{
    PyObject *names;
    TRY(incoming_names(f, &names, *jy_peek(f, 1)));
    if (!is_names(names))
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "CALL_KW without a tuple");
    jy_pop(f);
    return call(f, (size_t)instr->i_arg, names);
}

/* f(*args, **kwargs) */
jy_status
op_call_function_ex(struct jy_frame *f, const struct jy_instr *instr)
{
    bool has_keywords = instr->i_arg & 1;
    struct jy_value **positional, *keywords = has_keywords ? *jy_peek(f, 1) : NULL;
    size_t n, nkw = 0;
    TRY(jy_value_items(f, &positional, &n, *jy_peek(f, has_keywords ? 2 : 1)));
    if (positional == NULL)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "* of %s", jy_value_describe(f, *jy_peek(f, has_keywords ? 2 : 1)));
    if (has_keywords) {
        TRY(jy_value_realize(f, keywords));
        TRY(jy_over_dict(f, &keywords, keywords));
        if (keywords->v_kind != JY_V_DICT)
            return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "** of %s", jy_value_describe(f, keywords));
        nkw = keywords->u.seq.n;
    }
    struct jy_value **args = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, n + nkw + 1);
    for (size_t i = 0; i < n; i++)
        args[i] = positional[i];
    PyObject *kwnames = nkw != 0 ? jy_hold(f, PyTuple_New((Py_ssize_t)nkw)) : NULL;
    if (nkw != 0 && kwnames == NULL)
        return JY_ERROR;
    for (size_t i = 0; i < nkw; i++) {
        if (!PyUnicode_CheckExact(keywords->u.seq.keys[i]))
            return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords that are no text");
        PyTuple_SET_ITEM(kwnames, i, Py_NewRef(keywords->u.seq.keys[i]));
        args[n + i] = keywords->u.seq.at[i];
    }
    f->f_depth -= has_keywords ? 2 : 1;
    struct jy_value *slots[2] = { *jy_peek(f, 2), *jy_peek(f, 1) }, *result;
    f->f_depth -= 2;
    TRY(jy_call(f, &result, slots[0]->v_kind == JY_V_NULL ? slots[1] : slots[0], n, args, kwnames));
    return jy_push(f, result);
}

/* ---- intrinsics ---- */

enum { INTRINSIC_STOPITERATION_ERROR = 3, INTRINSIC_UNARY_POSITIVE = 5, INTRINSIC_LIST_TO_TUPLE = 6 };

jy_status
op_call_intrinsic_1(struct jy_frame *f, const struct jy_instr *instr)
{
    if (instr->i_arg == INTRINSIC_UNARY_POSITIVE)
        return op_unary_positive(f, instr);
    if (instr->i_arg == INTRINSIC_LIST_TO_TUPLE)
        return op_list_to_tuple(f, instr);
    if (instr->i_arg == INTRINSIC_STOPITERATION_ERROR && (*jy_peek(f, 1))->v_kind == JY_V_EXCEPTION)
        return jy_replace(f, 1, jy_exception_turned(f, *jy_peek(f, 1)));
    return jy_break(f, JY_BREAK_UNKNOWN_OPCODE, "CALL_INTRINSIC_1 %d", instr->i_arg);
}

jy_status
op_call_intrinsic_2(struct jy_frame *f, const struct jy_instr *instr)
{
    return jy_break(f, JY_BREAK_UNKNOWN_OPCODE, "CALL_INTRINSIC_2 %d", instr->i_arg);
}
