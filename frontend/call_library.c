/* C callables of the library that are followed into: operator's getters, functools.reduce, methods of builtin types called through the type (list.append(l, x)), dict.fromkeys,
 * itertools. What is Python in the library is inlined like the program's own. */
#include "frontend/call_builtin.h"
#include "frontend/exception.h"
#include "frontend/instance.h"

#include <string.h>

bool
jy_is_getter(PyObject *object)
{
    const char *name = Py_TYPE(object)->tp_name;
    return strcmp(name, "operator.itemgetter") == 0 || strcmp(name, "operator.attrgetter") == 0 ||
           strcmp(name, "operator.methodcaller") == 0;
}

bool
jy_is_named(struct jy_frame *f, PyObject *callable, const char *module, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_FromString(module));
    PyObject *object = text != NULL ? jy_hold(f, PyImport_GetModule(text)) : NULL;
    object = object != NULL ? jy_hold(f, PyObject_GetAttrString(object, name)) : NULL;
    PyErr_Clear();
    return object == callable;
}

/* ---- operator.itemgetter, attrgetter, methodcaller ---- */

static jy_status
make_getter(struct jy_frame *f, struct jy_value **out, PyObject *callable, size_t n, struct jy_value *const *args)
{
    PyObject *objects = jy_hold(f, jy_value_as_object(f, jy_value_seq(f, JY_V_TUPLE, n, args)));
    if (objects == NULL || !jy_value_is_plain(f, objects))
        return jy_builtin_unknown(f, ((PyTypeObject *)callable)->tp_name,
                                  n != 0 ? args[0] : jy_value_const(f, Py_None));
    PyObject *getter = jy_hold(f, PyObject_Call(callable, objects, NULL));
    if (getter == NULL)
        return jy_raise_from_exception(f);
    *out = jy_value_callable(f, getter, JY_NO_SOURCE);
    return JY_OK;
}

/* a.b.c */
static jy_status
get_dotted(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *path)
{
    PyObject *dot = jy_hold(f, PyUnicode_FromString("."));
    PyObject *names = dot != NULL && PyUnicode_Check(path) ? jy_hold(f, PyUnicode_Split(path, dot, -1)) : NULL;
    if (names == NULL)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ATTRIBUTE);
    *out = v;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names); i++) {
        PyObject *name = PyList_GET_ITEM(names, i);
        Py_INCREF(name);
        PyUnicode_InternInPlace(&name);
        if (jy_hold(f, name) == NULL)
            return JY_ERROR;
        TRY(jy_getattr(f, out, *out, name));
    }
    return JY_OK;
}

static jy_status
get_one(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *what, bool item)
{
    return item ? jy_getitem(f, out, v, jy_value_const(f, what)) : get_dotted(f, out, v, what);
}

static jy_status
call_getter(struct jy_frame *f, struct jy_value **out, PyObject *getter, size_t n, struct jy_value *const *args)
{
    const char *kind = Py_TYPE(getter)->tp_name + strlen("operator.");
    PyObject *state = jy_hold(f, PyObject_CallMethod(getter, "__reduce__", NULL));
    PyObject *what =
        state != NULL && PyTuple_Check(state) && PyTuple_GET_SIZE(state) == 2 ? PyTuple_GET_ITEM(state, 1) : NULL;
    PyErr_Clear();
    if (n != 1 || what == NULL || !PyTuple_CheckExact(what) || !jy_value_is_plain(f, what) ||
        PyTuple_GET_ITEM(state, 0) != (PyObject *)Py_TYPE(getter) || PyTuple_GET_SIZE(what) == 0)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "operator.%s with more than plain arguments", kind);
    size_t nwhat = (size_t)PyTuple_GET_SIZE(what);
    if (strcmp(kind, "methodcaller") == 0) {
        struct jy_value *method, **given = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, nwhat);
        for (size_t i = 1; i < nwhat; i++)
            given[i - 1] = jy_value_const(f, PyTuple_GET_ITEM(what, i));
        TRY(get_dotted(f, &method, args[0], PyTuple_GET_ITEM(what, 0)));
        return jy_call(f, out, method, nwhat - 1, given, NULL);
    }
    bool item = strcmp(kind, "itemgetter") == 0;
    if (nwhat == 1)
        return get_one(f, out, args[0], PyTuple_GET_ITEM(what, 0), item);
    struct jy_value *all = jy_value_seq(f, JY_V_TUPLE, nwhat, NULL);
    for (size_t i = 0; i < nwhat; i++)
        TRY(get_one(f, &all->u.seq.at[i], args[0], PyTuple_GET_ITEM(what, i), item));
    *out = all;
    return JY_OK;
}

/* ---- functions ---- */

static jy_status
call_reduce(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args)
{
    struct jy_value *it, *item, *total = n == 3 ? args[2] : NULL;
    TRY(jy_iter(f, &it, args[1]));
    for (;;) {
        TRY(jy_iter_next(f, &item, it));
        if (item == NULL)
            break;
        struct jy_value *pair[] = { total, item };
        if (total == NULL)
            total = item;
        else
            TRY(jy_call(f, &total, args[0], 2, pair, NULL));
    }
    if (total == NULL)
        return jy_raises(f, PyExc_TypeError, "reduce() of empty iterable with no initial value");
    *out = total;
    return JY_OK;
}

static jy_status
call_fromkeys(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args)
{
    struct jy_value *it, *key, *value = n == 2 ? args[1] : jy_value_const(f, Py_None);
    *out = jy_value_seq(f, JY_V_DICT, 0, NULL);
    TRY(jy_iter(f, &it, args[0]));
    for (;;) {
        TRY(jy_iter_next(f, &key, it));
        if (key == NULL)
            return JY_OK;
        TRY(jy_dict_set(f, *out, key, value));
    }
}

/* type.method(self, ...) for an object of that very type */
static jy_status
call_descriptor(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *descriptor, size_t n,
                struct jy_value *const *args, PyObject *kwnames)
{
    PyTypeObject *type = PyDescr_TYPE(descriptor), *of;
    struct jy_value *method;
    bool container = type == &PyList_Type || type == &PyDict_Type || type == &PySet_Type || type == &PyTuple_Type ||
                     type == &PyUnicode_Type || type == &PyBytes_Type || type == &PyFrozenSet_Type ||
                     type == &PyLong_Type || type == &PyFloat_Type;
    if (!container || n == 0)
        return JY_OK;
    if (!jy_is_appendable(f, args[0]))
        TRY(jy_value_realize(f, args[0]));
    if (jy_is_instance(f, args[0])) /* class.c */
        return JY_OK;
    of = &PyList_Type;
    if (args[0]->v_kind != JY_V_LAZY)
        TRY(jy_value_type(f, &of, args[0]));
    if (of != type)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "a method of %s with %s", type->tp_name,
                        jy_value_describe(f, args[0]));
    *handled = true;
    TRY(jy_getattr(f, &method, args[0], PyDescr_NAME(descriptor)));
    return jy_call(f, out, method, n - 1, args + 1, kwnames);
}

jy_status
jy_library_call(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
                struct jy_value *const *args, PyObject *kwnames)
{
    bool keywords = kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0;
    *handled = false;
    if (Py_IS_TYPE(callable, &PyMethodDescr_Type))
        return call_descriptor(f, out, handled, callable, nargs, args, kwnames);
    if (!keywords && jy_is_getter(callable) &&
        jy_is_named(f, (PyObject *)Py_TYPE(callable), "_operator", Py_TYPE(callable)->tp_name + strlen("operator."))) {
        *handled = true;
        return call_getter(f, out, callable, nargs, args);
    }
    if (!keywords && PyCFunction_CheckExact(callable)) {
        PyObject *self = PyCFunction_GET_SELF(callable);
        const char *name = ((PyCFunctionObject *)callable)->m_ml->ml_name;
        if (strcmp(name, "reduce") == 0 && (nargs == 2 || nargs == 3) &&
            jy_is_named(f, callable, "_functools", "reduce")) {
            *handled = true;
            return call_reduce(f, out, nargs, args);
        }
        if (strcmp(name, "fromkeys") == 0 && (nargs == 1 || nargs == 2) && self == (PyObject *)&PyDict_Type) {
            *handled = true;
            return call_fromkeys(f, out, nargs, args);
        }
    }
    const char *type = PyType_Check(callable) ? ((PyTypeObject *)callable)->tp_name : "";
    if (!keywords && strncmp(type, "operator.", 9) == 0 && jy_is_named(f, callable, "_operator", type + 9)) {
        *handled = true;
        return make_getter(f, out, callable, nargs, args);
    }
    return jy_itertools_call(f, out, handled, callable, nargs, args, kwnames);
}
