/* errstate and warnings: read and set without running a line of NumPy's Python.
 *
 * The state of a thread is the value of a context variable: an immutable capsule around {int errmask; npy_intp
 * bufsize; PyObject *call}, three bits per kind in the mask. Its layout is the same from 2.0 to 2.5; what cannot be
 * found there is answered conservatively. */
#include "runtime/fpstatus.h"
#include "frontend/cpython/compat.h"
#include "runtime/numpy_api.h"

struct extobj {
    int errmask;
    npy_intp bufsize;
    PyObject *call;
};

/* Found once per process. */
static struct {
    PyObject *variable, *make; /* numpy._core.umath._extobj_contextvar, _make_extobj */
    PyObject *raising;         /* capsule for the state below */
    uint32_t raising_kinds;
    int64_t raising_bufsize;
} state;

static const struct {
    const char *keyword, *text;
    uint32_t flag, shift;
} kinds[] = {
    { "divide", "divide by zero", JY_FP_DIVIDE, 0 },
    { "over", "overflow", JY_FP_OVERFLOW, 3 },
    { "under", "underflow", JY_FP_UNDERFLOW, 6 },
    { "invalid", "invalid value", JY_FP_INVALID, 9 },
};

void
jy_fp_raise(uint32_t flags)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | (flags & 7u) << 2 | (flags >> 3 & 1u));
#else
    feraiseexcept((flags & JY_FP_DIVIDE ? FE_DIVBYZERO : 0) | (flags & JY_FP_OVERFLOW ? FE_OVERFLOW : 0) |
                  (flags & JY_FP_UNDERFLOW ? FE_UNDERFLOW : 0) | (flags & JY_FP_INVALID ? FE_INVALID : 0));
#endif
}

int
jy_errstate_init(void)
{
    if (state.variable != NULL)
        return 0;
    PyObject *umath = PyImport_ImportModule("numpy._core.umath");
    if (umath == NULL)
        return -1;
    state.variable = PyObject_GetAttrString(umath, "_extobj_contextvar");
    state.make = PyObject_GetAttrString(umath, "_make_extobj");
    PyErr_Clear();
    Py_DECREF(umath);
    if (state.variable != NULL && !PyContextVar_CheckExact(state.variable))
        Py_CLEAR(state.variable);
    return 0;
}

struct jy_errstate
jy_errstate_get(void)
{
    struct jy_errstate out = { 15, 15, NPY_BUFSIZE };
    PyObject *capsule = NULL;
    if (state.variable == NULL || PyContextVar_Get(state.variable, NULL, &capsule) < 0 || capsule == NULL) {
        PyErr_Clear();
        return out;
    }
    const struct extobj *e = PyCapsule_GetPointer(capsule, "numpy.ufunc.extobj");
    if (e == NULL) {
        PyErr_Clear();
    } else {
        out.reported = out.beyond = 0;
        for (size_t i = 0; i < 4; i++) {
            int mode = e->errmask >> kinds[i].shift & 7;
            out.reported |= mode != JY_ERR_IGNORE ? kinds[i].flag : 0;
            out.beyond |= mode > JY_ERR_WARN ? kinds[i].flag : 0;
        }
        out.bufsize = e->bufsize;
    }
    Py_DECREF(capsule);
    return out;
}

/* refs: new, or NULL with an exception */
static PyObject *
make_raising(const struct jy_errstate *now)
{
    PyObject *keywords = PyDict_New(), *none = PyTuple_New(0), *capsule = NULL, *value;
    bool good = keywords != NULL && none != NULL;
    for (size_t i = 0; good && i < 4; i++) {
        value = PyUnicode_FromString(now->reported & kinds[i].flag ? "raise" : "ignore");
        good = value != NULL && PyDict_SetItemString(keywords, kinds[i].keyword, value) == 0;
        Py_XDECREF(value);
    }
    if (good) {
        value = PyLong_FromLongLong(now->bufsize);
        good = value != NULL && PyDict_SetItemString(keywords, "bufsize", value) == 0;
        Py_XDECREF(value);
    }
    if (good)
        capsule = PyObject_Call(state.make, none, keywords);
    Py_XDECREF(keywords);
    Py_XDECREF(none);
    return capsule;
}

bool
jy_errstate_enter_raise(PyObject **token, uint32_t always, uint32_t never)
{
    *token = NULL;
    if (state.variable == NULL || state.make == NULL)
        return false;
    struct jy_errstate now = jy_errstate_get();
    now.reported = (now.reported | always) & ~never;
    if (state.raising == NULL || state.raising_kinds != now.reported || state.raising_bufsize != now.bufsize) {
        Py_CLEAR(state.raising);
        state.raising = make_raising(&now);
        state.raising_kinds = now.reported;
        state.raising_bufsize = now.bufsize;
    }
    if (state.raising != NULL)
        *token = PyContextVar_Set(state.variable, state.raising);
    if (*token == NULL)
        PyErr_Clear();
    return *token != NULL;
}

void
jy_errstate_leave(PyObject *token)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyContextVar_Reset(state.variable, token) < 0)
        PyErr_WriteUnraisable(token);
    Py_DECREF(token);
    PyErr_Restore(type, value, traceback);
}

static bool
is_error_text(PyObject *action)
{
    return PyUnicode_Check(action) && PyUnicode_CompareWithASCIIString(action, "error") == 0;
}

/* One filter: (action, message, category, module, lineno). What it restricts to is not examined: any error filter for
 * the category counts. */
static bool
filter_may_raise(PyObject *filter)
{
    if (!PyTuple_Check(filter) || PyTuple_GET_SIZE(filter) < 3)
        return true;
    if (!is_error_text(PyTuple_GET_ITEM(filter, 0)))
        return false;
    int covers = PyObject_IsSubclass(PyExc_RuntimeWarning, PyTuple_GET_ITEM(filter, 2));
    return covers != 0;
}

bool
jy_warnings_do_not_raise(void)
{
    PyObject *warnings = PyImport_ImportModule("warnings");
    PyObject *filters = warnings == NULL ? NULL : PyObject_GetAttrString(warnings, "filters");
    PyObject *action = filters == NULL ? NULL : PyObject_GetAttrString(warnings, "defaultaction");
    bool good = action != NULL && !is_error_text(action) && PyList_Check(filters);
    for (Py_ssize_t i = 0; good && i < PyList_GET_SIZE(filters); i++)
        good = !filter_may_raise(PyList_GET_ITEM(filters, i));
    PyErr_Clear();
    Py_XDECREF(action);
    Py_XDECREF(filters);
    Py_XDECREF(warnings);
    return good;
}

bool
jy_fp_warn(uint32_t flags, const char *operation, const char *file, uint32_t line, PyObject *globals)
{
    PyObject *key = PyUnicode_FromString("__warningregistry__"), *fresh = PyDict_New(),
             *filename = PyUnicode_DecodeFSDefault(file);
    PyObject *registry = key && fresh && filename ? PyDict_SetDefault(globals, key, fresh) : NULL;
    PyObject *module = registry == NULL ? NULL : jy_compat_dict_get(globals, "__name__");
    bool good = registry != NULL;
    for (size_t i = 0; good && i < 4; i++) {
        if (!(flags & kinds[i].flag))
            continue;
        PyObject *text = PyUnicode_FromFormat("%s encountered in %s", kinds[i].text, operation);
        good = text != NULL &&
               PyErr_WarnExplicitObject(PyExc_RuntimeWarning, text, filename, (int)line, module, registry) == 0;
        Py_XDECREF(text);
    }
    Py_XDECREF(key);
    Py_XDECREF(fresh);
    Py_XDECREF(filename);
    return good;
}
