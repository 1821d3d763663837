/* The rows of numpy.def on the running NumPy: which live object is which row, and dispatch to handlers.
 *
 * Decides: nothing but identity. A function is known when the very object that `numpy.<name>` was at initialisation is called: an attribute that somebody replaced
 * later is another object. Methods are found by name, because the type of their self is exactly ndarray or a NumPy scalar type.
 * State: one table, filled once by jy_np_init and constant from then on. */
#include "frontend/np_internal.h"

static const struct jy_np_row functions[] = {
#define NP(name, handler, datum) { name, handler, datum },
#define NP_METHOD(name, handler, datum)
#include "frontend/numpy.def"
#undef NP
#undef NP_METHOD
};

static const struct jy_np_row methods[] = {
#define NP(name, handler, datum)
#define NP_METHOD(name, handler, datum) { name, handler, datum },
#include "frontend/numpy.def"
#undef NP
#undef NP_METHOD
};

enum { NFUNCTIONS = sizeof functions / sizeof *functions, NMETHODS = sizeof methods / sizeof *methods };

static struct {
    PyObject *module;               /* numpy */
    PyObject *function[NFUNCTIONS]; /* NULL: this NumPy has none */
    PyObject *ufunc[JY_OP_COUNT];
    int version;
} numpy;

/* refs: returns new */
static PyObject *
follow_path(const char *path)
{
    PyObject *at = Py_NewRef(numpy.module);
    while (at != NULL && *path != '\0') {
        size_t n = strcspn(path, ".");
        PyObject *name = PyUnicode_FromStringAndSize(path, (Py_ssize_t)n);
        PyObject *next = name != NULL ? PyObject_GetAttr(at, name) : NULL;
        Py_XDECREF(name);
        Py_DECREF(at);
        at = next;
        path += n + (path[n] == '.');
    }
    return at;
}

static int
read_version(void)
{
    PyObject *text = follow_path("__version__");
    const char *utf8 = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    int major = 0, minor = 0;
    if (utf8 != NULL && sscanf(utf8, "%d.%d", &major, &minor) == 2)
        numpy.version = major * 1000 + minor;
    Py_XDECREF(text);
    return utf8 != NULL ? 0 : -1;
}

int
jy_np_init(void)
{
    if (numpy.module != NULL)
        return 0;
    if (jy_inspect_array_init() < 0 || (numpy.module = PyImport_ImportModule("numpy")) == NULL || read_version() < 0)
        return -1;
    for (size_t i = 0; i < NFUNCTIONS; i++) {
        numpy.function[i] = follow_path(functions[i].name);
        if (numpy.function[i] == NULL && !PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
    }
    for (size_t op = 0; op < JY_OP_COUNT; op++) {
        const char *path = op == JY_OP_CLIP ? "_core.umath.clip" : jy_op_info[op].oracle;
        numpy.ufunc[op] = path != NULL ? follow_path(path) : NULL;
        PyErr_Clear();
        if (numpy.ufunc[op] != NULL && !jy_inspect_is_ufunc(numpy.ufunc[op]))
            Py_CLEAR(numpy.ufunc[op]);
    }
    return 0;
}

PyObject *
jy_np_ufunc_of(jy_op op)
{
    return numpy.ufunc[op];
}

PyObject *
jy_np_object(struct jy_frame *f, const char *path)
{
    PyObject *object = follow_path(path);
    if (object == NULL)
        PyErr_Clear();
    return jy_hold(f, object);
}

int
jy_np_version(void)
{
    return numpy.version;
}

static const struct jy_np_row *
find_function(PyObject *callable)
{
    for (size_t i = 0; i < NFUNCTIONS; i++)
        if (numpy.function[i] == callable)
            return &functions[i];
    return NULL;
}

static const struct jy_np_row *
find_method(PyObject *name)
{
    for (size_t i = 0; i < NMETHODS; i++)
        if (PyUnicode_CompareWithASCIIString(name, methods[i].name) == 0)
            return &methods[i];
    return NULL;
}

bool
jy_np_knows(struct jy_frame *f, PyObject *callable)
{
    (void)f;
    return find_function(callable) != NULL;
}

const char *
jy_np_function_name(PyObject *callable)
{
    const struct jy_np_row *row = find_function(callable);
    return row != NULL ? row->name : NULL;
}

bool
jy_np_knows_method(PyObject *name)
{
    return find_method(name) != NULL;
}

jy_status
jy_np_call(struct jy_frame *f, struct jy_value **out, PyObject *callable, size_t nargs, struct jy_value *const *args,
           PyObject *kwnames)
{
    const struct jy_np_row *row = find_function(callable);
    if (row == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s", Py_TYPE(callable)->tp_name);
    return row->handler(f, out, row, nargs, args, kwnames);
}

/* np.add.reduce(a): the default axis is 0 */
static jy_status
call_reduce(struct jy_frame *f, struct jy_value **out, PyObject *ufunc, size_t nargs, struct jy_value *const *args,
            PyObject *kwnames)
{
    static const jy_op folds[] = { JY_OP_SUM, JY_OP_PROD, JY_OP_MIN, JY_OP_MAX, JY_OP_ANY, JY_OP_ALL };
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        if (numpy.ufunc[folds[i]] == ufunc)
            return jy_np_reduce_ufunc(f, out, &(struct jy_np_row){ "reduce", NULL, (int)folds[i] }, nargs, args,
                                      kwnames);
    return jy_break(f, JY_BREAK_NUMPY_CALL, "reduce of this ufunc");
}

jy_status
jy_np_method(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name, size_t nargs,
             struct jy_value *const *args, PyObject *kwnames)
{
    if (self->v_kind == JY_V_CALLABLE && jy_inspect_is_ufunc(self->v_object) &&
        PyUnicode_CompareWithASCIIString(name, "reduce") == 0)
        return call_reduce(f, out, self->v_object, nargs, args, kwnames);
    const struct jy_np_row *row = find_method(name);
    if (row == NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "the method %s", jy_utf8(name));
    size_t total = nargs + 1 + (kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0);
    struct jy_value **all = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, total);
    all[0] = self;
    for (size_t i = 1; i < total; i++)
        all[i] = args[i - 1];
    return row->handler(f, out, row, nargs + 1, all, kwnames);
}
