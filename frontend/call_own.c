/* Calls of jitney's own functions, and of functions that carry a mark of the user's.
 *
 *     jitney.graph_break()               a break
 *     jitney.prange(...)                 range(...)
 *     jitney.is_compiling()              True: compiled code is code that was traced
 *     __dict__['_jitney_results']        assume_constant_result: the first result for these arguments, which are constants
 *     __dict__['_jitney_callout']        allow_in_graph: a CALLOUT node, where the result's dtype and shape are declared
 *
 * assume_constant_result is the one place where a trace runs code of the program's: its mark is the promise that nobody will notice. */
#include "frontend/call_builtin.h"
#include "frontend/cpython/compat.h"
#include "frontend/interp.h"

#include <string.h>

/* The mark's object, borrowed; NULL: there is none. */
static PyObject *
mark(PyObject *function, const char *name)
{
    PyObject *dict = ((PyFunctionObject *)function)->func_dict;
    return dict != NULL ? jy_compat_dict_get(dict, name) : NULL;
}

/* ---- graph_break, is_compiling ---- */

bool
jy_is_own(PyObject *callable, const char *name)
{
    if (!PyCFunction_CheckExact(callable))
        return false;
    PyObject *module = ((PyCFunctionObject *)callable)->m_module;
    return module != NULL && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "jitney") == 0 &&
           strcmp(((PyCFunctionObject *)callable)->m_ml->ml_name, name) == 0;
}

jy_status
jy_call_own(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
            struct jy_value *const *args, PyObject *kwnames)
{
    if (nargs == 0 && jy_is_own(callable, "graph_break"))
        return jy_break(f, JY_BREAK_GRAPH_BREAK, "jitney.graph_break()");
    if (nargs >= 1 && nargs <= 3 && kwnames == NULL && jy_is_own(callable, "prange")) {
        TRY(jy_builtin_range(f, out, nargs, args, NULL));
        *handled = true;
    } else if (nargs == 0 && jy_is_own(callable, "is_compiling")) {
        *handled = true;
        *out = jy_value_const(f, Py_True);
    }
    return JY_OK;
}

/* ---- assume_constant_result ---- */

/* Constants from the arguments; numbers that came from outside are pinned.  refs: *out borrowed */
static jy_status
constant_arguments(struct jy_frame *f, PyObject **out, const char *name, size_t nargs, struct jy_value *const *args)
{
    bool known;
    for (size_t i = 0; i < nargs; i++) {
        TRY(jy_value_realize(f, args[i]));
        TRY(jy_value_bake(f, &known, args[i]));
        if (!known && args[i]->v_kind == JY_V_SCALAR)
            return jy_break(f, JY_BREAK_CONSTANT_RESULT, "%s of %s", name, jy_value_describe(f, args[i]));
    }
    *out = jy_hold(f, jy_value_as_object(f, jy_value_seq(f, JY_V_TUPLE, nargs, args)));
    if (*out == NULL || !jy_value_is_plain(f, *out))
        return jy_break(f, JY_BREAK_CONSTANT_RESULT, "%s of %s", name,
                        nargs != 0 ? jy_value_describe(f, args[0]) : "its arguments");
    return JY_OK;
}

static jy_status
constant_result(struct jy_frame *f, struct jy_value **out, struct jy_value *function, PyObject *results, size_t nargs,
                struct jy_value *const *args, PyObject *kwnames)
{
    const char *name = jy_value_describe(f, function);
    PyObject *arguments = NULL;
    if (kwnames != NULL || function->v_source == JY_NO_SOURCE)
        return jy_break(f, JY_BREAK_CONSTANT_RESULT, "%s with keywords", name);
    TRY(constant_arguments(f, &arguments, name, nargs, args));
    jy_guard_is(f, function->v_source, function->v_object);
    PyObject *text = jy_hold(f, PyObject_Repr(arguments)); /* tells 1, 1.0 and True apart, and -0.0 from 0.0 */
    PyObject *key = text != NULL ? jy_hold(f, PyTuple_Pack(2, arguments, text)) : NULL;
    PyObject *result = key != NULL ? PyDict_GetItemWithError(results, key) : NULL;
    if (result == NULL && !PyErr_Occurred()) {
        result = jy_hold(f, PyObject_Call(function->v_object, arguments, NULL));
        if (result == NULL || PyDict_SetItem(results, key, result) < 0)
            result = NULL;
    }
    if (result == NULL)
        return jy_break_from_exception(f, JY_BREAK_CONSTANT_RESULT);
    if (jy_value_is_plain(f, result)) {
        *out = jy_value_const(f, result);
        return JY_OK;
    }
    PyObject *attribute = jy_hold(f, PyUnicode_InternFromString("_jitney_results"));
    jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, function->v_source, 0, attribute);
    jy_keep(f->f_trace->unit, key);
    *out = jy_value_lazy(f, result, jy_source_add(f->f_trace->unit, JY_SOURCE_KEY, source, 0, key));
    return JY_OK;
}

/* ---- allow_in_graph ---- */

static jy_status
call_out(struct jy_frame *f, struct jy_value **out, struct jy_value *function, PyObject *like, size_t nargs,
         struct jy_value *const *args, PyObject *kwnames)
{
    const char *name = jy_value_describe(f, function);
    if (like == Py_None)
        return jy_break(f, JY_BREAK_ALLOWED_CALL, "%s, whose result is not declared", name);
    size_t model = PyLong_AsSize_t(like);
    if (PyErr_Occurred())
        return jy_break_from_exception(f, JY_BREAK_ALLOWED_CALL);
    if (kwnames != NULL || model >= nargs || function->v_source == JY_NO_SOURCE)
        return jy_break(f, JY_BREAK_ALLOWED_CALL, "%s with these arguments", name);
    jy_ref *nodes = JY_NEW_ARRAY(jy_frame_arena(f), jy_ref, nargs);
    for (size_t i = 0; i < nargs; i++) {
        TRY(jy_value_realize(f, args[i]));
        if (args[i]->v_kind != JY_V_ARRAY && args[i]->v_kind != JY_V_SCALAR && args[i]->v_kind != JY_V_CONST)
            return jy_break(f, JY_BREAK_ALLOWED_CALL, "%s of %s", name, jy_value_describe(f, args[i]));
        TRY(jy_value_node(f, &nodes[i], args[i]));
    }
    const struct jy_value *array = args[model];
    if (array->v_kind != JY_V_ARRAY || array->u.array.ndim == 0)
        return jy_break(f, JY_BREAK_ALLOWED_CALL, "%s, whose result is to be like %s", name,
                        jy_value_describe(f, array));
    jy_obj callee = jy_keep(f->f_trace->unit, function->v_object);
    jy_guard_is(f, function->v_source, function->v_object);
    *out = jy_value_of_node(f, jy_graph_callout(f->f_trace->graph, callee, 0, nargs, nodes, JY_KIND_ARRAY,
                                                (jy_dtype)array->u.array.dtype, array->u.array.ndim,
                                                array->u.array.shape));
    return JY_OK;
}

/* ---- marks of Python functions ---- */

bool
jy_is_marked(PyFunctionObject *function)
{
    return mark((PyObject *)function, "_jitney_results") != NULL ||
           mark((PyObject *)function, "_jitney_callout") != NULL;
}

jy_status
jy_call_marked(struct jy_frame *f, struct jy_value **out, bool *handled, struct jy_value *function, size_t nargs,
               struct jy_value *const *args, PyObject *kwnames)
{
    PyObject *results = mark(function->v_object, "_jitney_results"),
             *like = mark(function->v_object, "_jitney_callout");
    *handled = true;
    if (results != NULL && PyDict_CheckExact(results))
        return constant_result(f, out, function, results, nargs, args, kwnames);
    if (like != NULL && f->f_trace->errs.depth != 0)
        return jy_break(f, JY_BREAK_ALLOWED_CALL, "%s inside np.errstate", jy_value_describe(f, function));
    if (like != NULL)
        return call_out(f, out, function, like, nargs, args, kwnames);
    *handled = false;
    return JY_OK;
}
