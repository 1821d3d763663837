/* CPython does not say where _random.Random keeps its state, so it is compared with what the object says of itself before anything is read from it. */
#include "frontend/cpython/twister.h"

#include <string.h>

/* _random.Random itself: the class of C's that the object's class comes from. */
static PyTypeObject *
base_type(PyTypeObject *type)
{
    while (type != NULL && type->tp_base != &PyBaseObject_Type)
        type = type->tp_base;
    bool found = type != NULL && strcmp(type->tp_name, "_random.Random") == 0 &&
                 (size_t)type->tp_basicsize >= sizeof(struct jy_twister);
    return found ? type : NULL;
}

/* borrowed */
static PyObject *
own_method(PyTypeObject *type, const char *name)
{
    PyObject *text = PyUnicode_InternFromString(name);
    PyObject *method = text == NULL ? NULL : _PyType_Lookup(type, text);
    Py_XDECREF(text);
    PyErr_Clear();
    bool own = method != NULL && Py_IS_TYPE(method, &PyMethodDescr_Type) && PyDescr_TYPE(method) == type;
    return own ? method : NULL;
}

bool
jy_twister_is_method(PyObject *descriptor, const char *name)
{
    if (!Py_IS_TYPE(descriptor, &PyMethodDescr_Type))
        return false;
    PyTypeObject *type = PyDescr_TYPE(descriptor);
    return base_type(type) == type && own_method(type, name) == descriptor;
}

PyObject *
jy_twister_of_bound(PyObject *callable, const char *name)
{
    if (!Py_IS_TYPE(callable, &PyCFunction_Type) || PyCFunction_GET_SELF(callable) == NULL)
        return NULL;
    PyObject *self = PyCFunction_GET_SELF(callable);
    PyTypeObject *type = base_type(Py_TYPE(self));
    PyObject *method = type == NULL ? NULL : own_method(type, name);
    if (method == NULL || ((PyCFunctionObject *)callable)->m_ml != ((PyMethodDescrObject *)method)->d_method)
        return NULL;
    return self;
}

static bool
is_word(PyObject *number, uint32_t word)
{
    return PyLong_CheckExact(number) && PyLong_AsUnsignedLong(number) == word;
}

bool
jy_twister_is_readable(PyObject *object)
{
    const struct jy_twister *t = (const struct jy_twister *)object;
    PyTypeObject *type = base_type(Py_TYPE(object));
    PyObject *method = type == NULL ? NULL : own_method(type, "getstate");
    PyObject *state = method == NULL ? NULL : PyObject_CallOneArg(method, object);
    bool same = state != NULL && PyTuple_CheckExact(state) && PyTuple_GET_SIZE(state) == JY_TWISTER_WORDS + 1 &&
                t->index >= 0 && is_word(PyTuple_GET_ITEM(state, JY_TWISTER_WORDS), (uint32_t)t->index);
    for (Py_ssize_t k = 0; same && k < JY_TWISTER_WORDS; k++)
        same = is_word(PyTuple_GET_ITEM(state, k), t->state[k]);
    Py_XDECREF(state);
    PyErr_Clear();
    return same;
}
