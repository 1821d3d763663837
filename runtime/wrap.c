/* Results: from buffers and scalar slots to Python objects, as eager would have made them.
 *
 * An OUTPUT buffer is an ndarray already. A view gets the base that NumPy would give it: PyArray_SetBaseObject follows
 * chains of views to the owner of the memory, and the writeable flag is the base's. NumPy scalars are put together by
 * hand: PyArray_Scalar costs twice as much. */
#include "runtime/exec_internal.h"
#include "graph/scalar.h"
#include "runtime/numpy_api.h"

#define BY_HAND(scalar_type, struct_type, field)                                                                       \
    do {                                                                                                               \
        struct_type *made = PyObject_Malloc((size_t)scalar_type.tp_basicsize);                                         \
        if (made == NULL)                                                                                              \
            return PyErr_NoMemory();                                                                                   \
        made->obval = field;                                                                                           \
        return PyObject_Init((PyObject *)made, &scalar_type);                                                          \
    } while (0)

static PyObject *
wrap_numpy_scalar(jy_dtype dtype, union jy_scalar value)
{
    switch (dtype) {
    case JY_F64:
        BY_HAND(PyDoubleArrType_Type, PyDoubleScalarObject, value.d);
    case JY_F32:
        BY_HAND(PyFloatArrType_Type, PyFloatScalarObject, value.f);
    case JY_I64:
        BY_HAND(PyLongArrType_Type, PyLongScalarObject, value.i);
    case JY_I32:
        BY_HAND(PyIntArrType_Type, PyIntScalarObject, (npy_int)value.i);
    case JY_BOOL:
        return Py_NewRef(value.i ? PyArrayScalar_True : PyArrayScalar_False);
    case JY_I8:
        BY_HAND(PyByteArrType_Type, PyByteScalarObject, (npy_byte)value.i);
    case JY_I16:
        BY_HAND(PyShortArrType_Type, PyShortScalarObject, (npy_short)value.i);
    case JY_U8:
        BY_HAND(PyUByteArrType_Type, PyUByteScalarObject, (npy_ubyte)value.i);
    case JY_U16:
        BY_HAND(PyUShortArrType_Type, PyUShortScalarObject, (npy_ushort)value.i);
    case JY_U32:
        BY_HAND(PyUIntArrType_Type, PyUIntScalarObject, (npy_uint)value.i);
    case JY_U64:
        BY_HAND(PyULongArrType_Type, PyULongScalarObject, value.bits);
    case JY_ELEMENT_COUNT:
    case JY_DTYPE_NONE:
        break;
    }
    PyErr_SetString(PyExc_SystemError, "jitney: a scalar of no dtype");
    return NULL;
}

PyObject *
jy_wrap_scalar(uint8_t kind, jy_dtype dtype, union jy_scalar value)
{
    PyObject *array;
    switch ((enum jy_kind)kind) {
    case JY_KIND_NPSCALAR:
        return wrap_numpy_scalar(dtype, value);
    case JY_KIND_PYFLOAT:
        return PyFloat_FromDouble(value.d);
    case JY_KIND_PYINT:
        return PyLong_FromLongLong(value.i);
    case JY_KIND_PYBOOL:
        return PyBool_FromLong(value.i != 0);
    case JY_KIND_ARRAY:
        array = PyArray_SimpleNew(0, NULL, jy_dtype_info[dtype].number);
        if (array != NULL)
            jy_scalar_store(dtype, PyArray_DATA((PyArrayObject *)array), value);
        return array;
    }
    return NULL;
}

/* An integer scalar of the type itself. */
#define READ_INT(name)                                                                                                 \
    do {                                                                                                               \
        if (!PyArray_IsScalar(object, name))                                                                           \
            return false;                                                                                              \
        out->i = (int64_t)PyArrayScalar_VAL(object, name);                                                             \
        return true;                                                                                                   \
    } while (0)

bool
jy_unwrap_scalar(union jy_scalar *out, jy_dtype dtype, PyObject *object)
{
    out->bits = 0;
    if (PyArray_CheckExact(object)) {
        PyArrayObject *a = (PyArrayObject *)object;
        if (dtype >= JY_DTYPE_COUNT || PyArray_NDIM(a) != 0 || PyArray_TYPE(a) != jy_dtype_info[dtype].number ||
            !PyArray_ISCARRAY_RO(a))
            return false;
        *out = jy_scalar_load(dtype, PyArray_DATA(a));
        return true;
    }
    switch (dtype) {
    case JY_F64:
        if (!PyFloat_Check(object))
            return false;
        out->d = PyFloat_AS_DOUBLE(object); /* np.float64 is a float, and lies as one */
        return true;
    case JY_F32:
        if (!PyArray_IsScalar(object, Float))
            return false;
        out->f = PyArrayScalar_VAL(object, Float);
        return true;
    case JY_I64:
        if (PyArray_IsScalar(object, Long)) {
            out->i = PyArrayScalar_VAL(object, Long);
            return true;
        }
        if (!PyLong_CheckExact(object))
            return false;
        out->i = PyLong_AsLongLong(object);
        if (out->i == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return false;
        }
        return true;
    case JY_I32:
        READ_INT(Int);
    case JY_I8:
        READ_INT(Byte);
    case JY_I16:
        READ_INT(Short);
    case JY_U8:
        READ_INT(UByte);
    case JY_U16:
        READ_INT(UShort);
    case JY_U32:
        READ_INT(UInt);
    case JY_U64:
        READ_INT(ULong);
    case JY_BOOL:
        if (PyBool_Check(object))
            out->i = object == Py_True;
        else if (PyArray_IsScalar(object, Bool))
            out->i = PyArrayScalar_VAL(object, Bool) != 0;
        else
            return false;
        return true;
    case JY_ELEMENT_COUNT:
    case JY_DTYPE_NONE:
        break;
    }
    return false;
}

PyObject *
jy_wrap_view(jy_dtype dtype, size_t ndim, const int64_t *shape, const struct jy_desc *desc, PyObject *base)
{
    npy_intp dims[JY_MAX_NDIM], strides[JY_MAX_NDIM];
    for (size_t i = 0; i < ndim; i++) {
        dims[i] = shape[i];
        strides[i] = desc->stride[i];
    }
    int flags = base == NULL || PyArray_ISWRITEABLE((PyArrayObject *)base) ? NPY_ARRAY_WRITEABLE : 0;
    PyObject *view = PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(jy_dtype_info[dtype].number), (int)ndim,
                                          dims, strides, desc->data, flags, NULL);
    if (view == NULL || base == NULL)
        return view;
    if (PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef(base)) < 0) {
        Py_DECREF(view);
        return NULL;
    }
    return view;
}

static const struct jy_exec_view *
view_of(const struct jy_exec *exec, uint32_t buffer)
{
    for (size_t i = 0; i < exec->nviews; i++)
        if (exec->views[i].buffer == buffer)
            return &exec->views[i];
    return NULL;
}

static PyObject *
wrap_view_buffer(struct jy_run_state *s, uint32_t buffer)
{
    const struct jy_exec_view *view = view_of(s->exec, buffer);
    if (view == NULL || s->object[view->root] == NULL) {
        PyErr_SetString(PyExc_SystemError, "jitney: a result over memory that is not an array");
        return NULL;
    }
    int64_t shape[JY_MAX_NDIM];
    for (size_t i = 0; i < view->ndim; i++)
        shape[i] = s->extent[view->extent[i]];
    return jy_wrap_view((jy_dtype)view->dtype, view->ndim, shape, &s->call.desc[buffer], s->object[view->root]);
}

/* refs: new */
static PyObject *
wrap_one(struct jy_run_state *s, const struct jy_plan_output *output)
{
    if (output->place.scalar)
        return jy_wrap_scalar(output->kind, (jy_dtype)output->dtype, s->call.scalar[output->place.index]);
    uint32_t buffer = output->place.index;
    if (output->kind != JY_KIND_ARRAY)
        return jy_wrap_scalar(output->kind, (jy_dtype)output->dtype,
                              jy_scalar_load((jy_dtype)output->dtype, s->call.desc[buffer].data));
    if (s->object[buffer] != NULL)
        return Py_NewRef(s->object[buffer]);
    return wrap_view_buffer(s, buffer);
}

bool
jy_run_wrap(struct jy_run_state *s, PyObject **outputs)
{
    const struct jy_plan *plan = s->exec->plan;
    for (size_t k = 0; k < plan->p_outputs.n; k++) {
        const struct jy_plan_output *output = &plan->p_outputs.at[k];
        outputs[k] = NULL;
        for (size_t j = 0; j < k && outputs[k] == NULL; j++) /* one node is one object */
            if (plan->p_outputs.at[j].node == output->node)
                outputs[k] = Py_NewRef(outputs[j]);
        if (outputs[k] == NULL)
            outputs[k] = wrap_one(s, output);
        if (outputs[k] == NULL) {
            while (k-- > 0)
                Py_CLEAR(outputs[k]);
            return false;
        }
    }
    return true;
}
