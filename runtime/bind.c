/* Binding of call arguments to parameter slots, as CPython's own initialize_locals does it. It never raises for a call that does not fit: the original function is
 * run then, and its TypeError is CPython's. */
#include "runtime/function.h"
#include <stdlib.h>
#include <string.h>

struct signature {
    PyCodeObject *code;
    PyObject *names; /* co_varnames, owned */
    size_t npositional, nkwonly, nslots;
    bool star, starstar;
};

static int
keyword_slot(const struct signature *s, PyObject *keyword)
{
    size_t first = (size_t)s->code->co_posonlyargcount, n = s->npositional + s->nkwonly;
    for (size_t k = first; k < n; k++)
        if (PyTuple_GET_ITEM(s->names, k) == keyword)
            return (int)k;
    for (size_t k = first; k < n; k++) {
        int same = PyObject_RichCompareBool(PyTuple_GET_ITEM(s->names, k), keyword, Py_EQ);
        if (same != 0)
            return same < 0 ? -2 : (int)k;
    }
    return -1;
}

static int
bind_keywords(struct jy_bound *out, const struct signature *s, PyObject *const *values, PyObject *kwnames)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); k++) {
        PyObject *keyword = PyTuple_GET_ITEM(kwnames, k);
        int slot = PyUnicode_Check(keyword) ? keyword_slot(s, keyword) : -1;
        if (slot == -2)
            return -1;
        if (slot >= 0) {
            if (out->at[slot] != NULL)
                return 0;
            out->at[slot] = values[k];
        } else if (!s->starstar)
            return 0;
        else if (PyDict_SetItem(out->starstar, keyword, values[k]) < 0)
            return -1;
    }
    return 1;
}

static int
bind_defaults(struct jy_bound *out, const struct signature *s, PyFunctionObject *f)
{
    size_t ndefaults = f->func_defaults == NULL ? 0 : (size_t)PyTuple_GET_SIZE(f->func_defaults);
    for (size_t k = 0; k < s->npositional; k++)
        if (out->at[k] == NULL) {
            if (k + ndefaults < s->npositional)
                return 0;
            out->at[k] = PyTuple_GET_ITEM(f->func_defaults, k + ndefaults - s->npositional);
        }
    for (size_t k = s->npositional; k < s->npositional + s->nkwonly; k++)
        if (out->at[k] == NULL) {
            PyObject *name = PyTuple_GET_ITEM(s->names, k);
            if (f->func_kwdefaults != NULL)
                out->at[k] = PyDict_GetItemWithError(f->func_kwdefaults, name);
            if (out->at[k] == NULL)
                return PyErr_Occurred() ? -1 : 0;
        }
    return 1;
}

static int
bind_positional(struct jy_bound *out, const struct signature *s, PyObject *const *args, size_t nargs)
{
    size_t direct = nargs < s->npositional ? nargs : s->npositional;
    memcpy(out->at, args, direct * sizeof(PyObject *));
    if (!s->star)
        return nargs <= s->npositional;
    out->star = PyTuple_New((Py_ssize_t)(nargs - direct));
    if (out->star == NULL)
        return -1;
    for (size_t k = direct; k < nargs; k++)
        PyTuple_SET_ITEM(out->star, k - direct, Py_NewRef(args[k]));
    out->at[s->npositional + s->nkwonly] = out->star;
    return 1;
}

int
jy_bind(struct jy_bound *out, PyObject *function, PyObject *const *args, size_t nargs, PyObject *kwnames)
{
    PyFunctionObject *f = (PyFunctionObject *)function;
    PyCodeObject *code = (PyCodeObject *)f->func_code;
    struct signature s = { .code = code,
                           .npositional = (size_t)code->co_argcount,
                           .nkwonly = (size_t)code->co_kwonlyargcount,
                           .star = (code->co_flags & CO_VARARGS) != 0,
                           .starstar = (code->co_flags & CO_VARKEYWORDS) != 0 };
    s.nslots = s.npositional + s.nkwonly + s.star + s.starstar;
    *out = (struct jy_bound){ .n = s.nslots };
    out->at = out->room;
    if (s.nslots > sizeof(out->room) / sizeof(out->room[0]) && (out->at = calloc(s.nslots, sizeof(PyObject *))) == NULL)
        return 0;
    s.names = PyCode_GetVarnames(code);
    if (s.names == NULL)
        return -1;
    int result = bind_positional(out, &s, args, nargs);
    if (result == 1 && s.starstar) {
        out->starstar = PyDict_New();
        out->at[s.nslots - 1] = out->starstar;
        result = out->starstar == NULL ? -1 : 1;
    }
    if (result == 1 && kwnames != NULL)
        result = bind_keywords(out, &s, args + nargs, kwnames);
    if (result == 1)
        result = bind_defaults(out, &s, f);
    Py_DECREF(s.names);
    return result;
}

void
jy_bound_clear(struct jy_bound *bound)
{
    Py_CLEAR(bound->star);
    Py_CLEAR(bound->starstar);
    if (bound->at != bound->room)
        free(bound->at);
    bound->at = bound->room;
}
