/* The object whose operators only report; flow_late.h says why. */
#include "runtime/flow_late.h"
#include "graph/flow_vector.h"
#include "runtime/numpy_api.h"

struct late {
    PyObject_HEAD PyObject *array;
    const char *name; /* the ufunc's, static */
    uint32_t flags;
};

static PyObject *
report(PyObject *self, PyObject *Py_UNUSED(operand))
{
    const struct late *l = (struct late *)self;
    return PyUFunc_GiveFloatingpointErrors(l->name, (int)l->flags) < 0 ? NULL : Py_NewRef(l->array);
}

static PyObject *
report_power(PyObject *self, PyObject *operand, PyObject *Py_UNUSED(modulus))
{
    return report(self, operand);
}

static PyObject *
report_unary(PyObject *self)
{
    return report(self, NULL);
}

static void
late_dealloc(PyObject *self)
{
    Py_DECREF(((struct late *)self)->array);
    PyObject_Free(self);
}

static PyNumberMethods late_number = {
    .nb_add = report,
    .nb_inplace_add = report,
    .nb_subtract = report,
    .nb_inplace_subtract = report,
    .nb_multiply = report,
    .nb_inplace_multiply = report,
    .nb_remainder = report,
    .nb_inplace_remainder = report,
    .nb_lshift = report,
    .nb_inplace_lshift = report,
    .nb_rshift = report,
    .nb_inplace_rshift = report,
    .nb_and = report,
    .nb_inplace_and = report,
    .nb_xor = report,
    .nb_inplace_xor = report,
    .nb_or = report,
    .nb_inplace_or = report,
    .nb_floor_divide = report,
    .nb_inplace_floor_divide = report,
    .nb_true_divide = report,
    .nb_inplace_true_divide = report,
    .nb_power = report_power,
    .nb_inplace_power = report_power,
    .nb_negative = report_unary,
    .nb_positive = report_unary,
    .nb_invert = report_unary,
};

static PyTypeObject late_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "jitney._late",
    .tp_basicsize = sizeof(struct late),
    .tp_dealloc = late_dealloc,
    .tp_as_number = &late_number,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "the result of an operation that has not been reported yet",
};

bool
jy_flow_late_put(PyObject **end, const struct jy_flow_late *late)
{
    struct late *l = PyObject_New(struct late, &late_type);
    if (l == NULL)
        return false;
    l->array = Py_NewRef(end[late->over == JY_VECTOR_OVER_FIRST ? -2 : -1]);
    l->name = ((const PyUFuncObject *)late->ufunc)->name;
    l->flags = late->flags;
    Py_SETREF(end[late->over == JY_VECTOR_OVER_ONLY ? -1 : -2], (PyObject *)l);
    return true;
}

int
jy_flow_late_init(void)
{
    return PyType_Ready(&late_type);
}
