/* The type of points: immutable constants of new code objects. */
#include "frontend/point.h"

#include <stddef.h>

static void
point_dealloc(PyObject *self)
{
    Py_DECREF(((struct jy_point *)self)->code);
    PyObject_Free(self);
}

static PyNumberMethods point_number;

PyTypeObject jy_point_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "jitney._point",
    .tp_basicsize = offsetof(struct jy_point, is_wrapped),
    .tp_itemsize = 1,
    .tp_dealloc = point_dealloc,
    .tp_as_number = &point_number,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "a place where new code is left",
};

int
jy_point_init(inquiry may_leave)
{
    point_number.nb_bool = may_leave;
    return PyType_Ready(&jy_point_type);
}

struct jy_point *
jy_point_new(PyObject *code, uint32_t offset, size_t depth, size_t nlocals)
{
    struct jy_point *point = PyObject_NewVar(struct jy_point, &jy_point_type, (Py_ssize_t)(depth + nlocals));
    if (point == NULL)
        return NULL;
    point->code = Py_NewRef(code);
    point->offset = offset;
    point->depth = (uint32_t)depth;
    point->nlocals = (uint32_t)nlocals;
    point->is_plain = false;
    for (size_t k = 0; k < depth + nlocals; k++)
        point->is_wrapped[k] = 0;
    return point;
}
