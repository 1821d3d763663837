/* Inlining: a call of a Python function becomes a frame of its own, with CPython's binding of arguments.
 *
 *     positional, then *args · keywords by name, the rest into **kwargs · defaults · keyword-only defaults
 *
 * Arguments that do not fit break: the original raises the TypeError. A live function relies on its code (guarded when it was looked at) and, where a
 * parameter is left out, on its defaults' number or names; the defaults themselves are sources. NumPy's own Python functions are never inlined. */
#include "frontend/instance.h"

#include "frontend/cpython/compat.h"

#include <string.h>

enum { DEFAULT_DEPTH = 40 };

struct callee {
    PyCodeObject *code;
    struct jy_value *value;
    PyFunctionObject *live; /* NULL: made while tracing */
    size_t nparams, nkwonly;
    struct jy_value **locals; /* of the new frame */
};

/* ---- may it be inlined? ---- */

static bool
is_of_numpy(PyFunctionObject *function)
{
    PyObject *name = jy_compat_dict_get(function->func_globals, "__name__");
    const char *text = name != NULL && PyUnicode_Check(name) ? jy_utf8(name) : NULL;
    return text != NULL && (strcmp(text, "numpy") == 0 || strncmp(text, "numpy.", 6) == 0);
}

static bool
is_disabled(PyFunctionObject *function)
{
    PyObject *mark = function->func_dict != NULL ? jy_compat_dict_get(function->func_dict, "_jitney_disable") : NULL;
    return mark == Py_True;
}

static jy_status
check_callee(struct jy_frame *f, const struct callee *c)
{
    const struct jy_trace_state *t = f->f_trace;
    const char *text = jy_value_describe(f, c->value);
    if (c->live != NULL && is_of_numpy(c->live) && !jy_errstate_is_init(f, c->live))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s of NumPy", text);
    if (c->live != NULL && is_disabled(c->live))
        return jy_break(f, JY_BREAK_DISABLED, "%s", text);
    if (c->live != NULL && (!PyDict_CheckExact(c->live->func_globals) || !PyDict_CheckExact(c->live->func_builtins)))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s with globals that are no plain dict", text);
    if (c->live != NULL && c->value->v_source == JY_NO_SOURCE)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s, which nothing guards", text);
    if (jy_compat_is_code_watched((PyObject *)c->code))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s, which sys.monitoring watches", text);
    if (c->code->co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE))
        return jy_break(f, JY_BREAK_ASYNC, "%s", text);
    if (!(c->code->co_flags & CO_OPTIMIZED))
        return jy_break(f, JY_BREAK_CLASS_BODY, "%s", text);
    if (t->depth >= (t->request->max_inline != 0 ? t->request->max_inline : DEFAULT_DEPTH))
        return jy_break(f, JY_BREAK_TOO_DEEP, "%s at depth %u", text, t->depth);
    return JY_OK;
}

/* ---- binding ---- */

static jy_status
does_not_fit(struct jy_frame *f, const struct callee *c, const char *why)
{
    return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%s: %s", jy_value_describe(f, c->value), why);
}

static jy_status
bind_positional(struct jy_frame *f, struct callee *c, size_t nargs, struct jy_value *const *args)
{
    size_t npositional = (size_t)c->code->co_argcount, n = nargs < npositional ? nargs : npositional;
    for (size_t i = 0; i < n; i++)
        c->locals[i] = args[i];
    if (c->code->co_flags & CO_VARARGS)
        c->locals[c->nparams] = jy_value_seq(f, JY_V_TUPLE, nargs - n, args + n);
    else if (nargs > n)
        return does_not_fit(f, c, "too many positional arguments");
    return JY_OK;
}

/* Slot of a parameter that takes keywords; -1: none has that name. */
static Py_ssize_t
find_parameter(struct jy_frame *callee, const struct callee *c, PyObject *name)
{
    for (size_t i = (size_t)c->code->co_posonlyargcount; i < c->nparams; i++)
        if (PyUnicode_Compare(jy_code_local_name(callee->f_instrs, (int)i), name) == 0)
            return (Py_ssize_t)i;
    return -1;
}

static jy_status
bind_keywords(struct jy_frame *f, struct jy_frame *callee, struct callee *c, struct jy_value *const *args,
              PyObject *kwnames)
{
    struct jy_value *rest = NULL;
    if (c->code->co_flags & CO_VARKEYWORDS) {
        rest = jy_value_seq(f, JY_V_DICT, 0, NULL);
        c->locals[c->nparams + ((c->code->co_flags & CO_VARARGS) != 0)] = rest;
    }
    Py_ssize_t n = kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        Py_ssize_t slot = find_parameter(callee, c, name);
        if (slot < 0 && rest == NULL)
            return does_not_fit(f, c, "an unexpected keyword argument");
        if (slot < 0) {
            TRY(jy_dict_set(f, rest, jy_value_const(f, name), args[i]));
            continue;
        }
        if (c->locals[slot] != NULL)
            return does_not_fit(f, c, "an argument that comes twice");
        c->locals[slot] = args[i];
    }
    return JY_OK;
}

static jy_src
part_source(struct jy_frame *f, const struct callee *c, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_InternFromString(name));
    return jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, c->value->v_source, 0, text);
}

static jy_status
live_default(struct jy_frame *f, struct jy_value **out, struct callee *c, size_t index)
{
    PyObject *defaults = c->live->func_defaults;
    if (defaults == NULL)
        return does_not_fit(f, c, "a missing argument");
    size_t n = (size_t)PyTuple_GET_SIZE(defaults), first = (size_t)c->code->co_argcount - n;
    if (n > (size_t)c->code->co_argcount || index < first)
        return does_not_fit(f, c, "a missing argument");
    jy_src source = part_source(f, c, "__defaults__");
    jy_guard_type(f, source, &PyTuple_Type);
    jy_guard_value(f, JY_GUARD_LENGTH, source, (int64_t)n);
    source = jy_source_add(f->f_trace->unit, JY_SOURCE_DEFAULT, c->value->v_source, (uint32_t)(index - first), NULL);
    *out = jy_value_lazy(f, PyTuple_GET_ITEM(defaults, index - first), source);
    return JY_OK;
}

static jy_status
live_kwdefault(struct jy_frame *f, struct jy_value **out, struct callee *c, PyObject *name)
{
    PyObject *dict = c->live->func_kwdefaults;
    PyObject *object = dict != NULL && PyDict_CheckExact(dict) ? PyDict_GetItemWithError(dict, name) : NULL;
    if (object == NULL)
        return does_not_fit(f, c, "a missing keyword argument");
    struct jy_value *all = jy_value_lazy(f, dict, part_source(f, c, "__kwdefaults__"));
    TRY(jy_value_realize(f, all));
    *out = jy_value_lazy(f, object, jy_source_add(f->f_trace->unit, JY_SOURCE_KWDEFAULT, c->value->v_source, 0, name));
    return JY_OK;
}

static jy_status
made_default(struct jy_frame *f, struct jy_value **out, struct callee *c, size_t index)
{
    struct jy_value **items;
    size_t n = 0;
    if (c->value->u.func.defaults != NULL)
        TRY(jy_value_items(f, &items, &n, c->value->u.func.defaults));
    size_t first = (size_t)c->code->co_argcount - n;
    if (n == 0 || index < first)
        return does_not_fit(f, c, "a missing argument");
    *out = items[index - first];
    return JY_OK;
}

static jy_status
made_kwdefault(struct jy_frame *f, struct jy_value **out, struct callee *c, PyObject *name)
{
    struct jy_value *dict = c->value->u.func.kwdefaults;
    size_t index;
    bool found = false;
    if (dict != NULL && dict->v_kind == JY_V_DICT)
        TRY(jy_dict_find(f, &index, &found, dict, jy_value_const(f, name)));
    if (!found)
        return does_not_fit(f, c, "a missing keyword argument");
    *out = dict->u.seq.at[index];
    return JY_OK;
}

static jy_status
bind_defaults(struct jy_frame *f, struct jy_frame *callee, struct callee *c)
{
    for (size_t i = 0; i < c->nparams; i++) {
        if (c->locals[i] != NULL)
            continue;
        PyObject *name = jy_code_local_name(callee->f_instrs, (int)i);
        if (i < (size_t)c->code->co_argcount)
            TRY(c->live != NULL ? live_default(f, &c->locals[i], c, i) : made_default(f, &c->locals[i], c, i));
        else
            TRY(c->live != NULL ? live_kwdefault(f, &c->locals[i], c, name)
                                : made_kwdefault(f, &c->locals[i], c, name));
    }
    return JY_OK;
}

/* ---- the call ---- */

static jy_status
run(struct jy_frame *f, struct jy_value **out, struct jy_frame *callee, int flags)
{
    if (flags & CO_GENERATOR) {
        *out = jy_value_new(f, JY_V_ITER);
        (*out)->u.iter.how = JY_ITER_GENERATOR;
        (*out)->u.iter.frame = callee;
        callee->f_generator = *out;
        return JY_OK;
    }
    f->f_trace->depth++;
    TRY(jy_interp_run(callee));
    f->f_trace->depth--;
    *out = callee->f_return;
    return JY_OK;
}

jy_status
jy_call_python(struct jy_frame *f, struct jy_value **out, struct jy_value *function, size_t nargs,
               struct jy_value *const *args, PyObject *kwnames)
{
    struct callee c = { .value = function, .live = (PyFunctionObject *)function->v_object };
    PyObject *code = c.live != NULL ? c.live->func_code : function->u.func.code;
    c.code = (PyCodeObject *)code;
    c.nkwonly = (size_t)c.code->co_kwonlyargcount;
    c.nparams = (size_t)c.code->co_argcount + c.nkwonly;
    bool handled = false;
    if (c.live != NULL)
        TRY(jy_call_marked(f, out, &handled, function, nargs, args, kwnames));
    if (c.live != NULL && !handled)
        TRY(jy_errstate_call(f, out, &handled, function, nargs, args, kwnames));
    if (handled)
        return JY_OK;
    TRY(check_callee(f, &c));
    struct jy_frame *callee;
    jy_src source = c.live != NULL ? function->v_source : function->u.func.globals_of;
    TRY(jy_frame_new(&callee, f, f->f_trace, (PyObject *)c.live, code, source));
    if (c.live == NULL) {
        callee->f_closure = function->u.func.closure;
        callee->f_globals = function->u.func.maker->f_globals;
        callee->f_builtins = function->u.func.maker->f_builtins;
    }
    c.locals = callee->f_locals;
    TRY(bind_positional(f, &c, nargs, args));
    TRY(bind_keywords(f, callee, &c, args + nargs, kwnames));
    TRY(bind_defaults(f, callee, &c));
    return run(f, out, callee, c.code->co_flags);
}

/* ---- for flows, which inline in their own way ---- */

static struct callee
live_callee(struct jy_value *function)
{
    struct callee c = { .value = function, .live = (PyFunctionObject *)function->v_object };
    c.code = (PyCodeObject *)c.live->func_code;
    c.nkwonly = (size_t)c.code->co_kwonlyargcount;
    c.nparams = (size_t)c.code->co_argcount + c.nkwonly;
    return c;
}

jy_status
jy_callee_check(struct jy_frame *f, struct jy_value *function)
{
    if (function->v_object == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s, which is made here", jy_value_describe(f, function));
    struct callee c = live_callee(function);
    if (jy_is_marked(c.live))
        return jy_break(f, JY_BREAK_ALLOWED_CALL, "%s", jy_value_describe(f, function));
    return check_callee(f, &c);
}

jy_status
jy_callee_default(struct jy_frame *f, struct jy_value **out, struct jy_value *function, size_t index, PyObject *name)
{
    struct callee c = live_callee(function);
    return index < (size_t)c.code->co_argcount ? live_default(f, out, &c, index) : live_kwdefault(f, out, &c, name);
}
