/* ndarrays, NumPy scalars, dtypes and ufuncs, described in words of graph/.
 *
 * An array is understood when its type is exactly ndarray, its dtype is a DTYPE of dtype.def (for native loops: an ELEMENT, too) in native byte order without metadata and fields, its data is aligned and it has at
 * most JY_MAX_NDIM axes. Everything else has a reason in words, which becomes the detail of the break. */
#include "frontend/inspect_array.h"

#include "frontend/frontend.h"

#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

int
jy_inspect_array_init(void)
{
    return PyArray_ImportNumPyAPI() < 0 || PyUFunc_ImportUFuncAPI() < 0 ? -1 : 0;
}

static bool
known_descr(jy_dtype *out, const PyArray_Descr *descr, bool elements)
{
    bool known = elements ? jy_element_from_number(out, descr->type_num) : jy_dtype_from_number(out, descr->type_num);
    return known && PyArray_ISNBO(descr->byteorder) && PyDataType_METADATA(descr) == NULL &&
           !PyDataType_HASFIELDS(descr);
}

static void
fill_extent(struct jy_inspected_array *out, const char *data)
{
    uintptr_t low = (uintptr_t)data, high = low + jy_dtype_info[out->dtype].bytes;
    for (size_t d = 0; d < out->ndim; d++) {
        if (out->shape[d] == 0)
            high = low = (uintptr_t)data;
        if (out->shape[d] == 0)
            break;
        int64_t reach = (out->shape[d] - 1) * out->stride[d];
        *(reach < 0 ? &low : &high) += (uintptr_t)reach;
    }
    out->low = low, out->high = high;
}

bool
jy_inspect_array(struct jy_inspected_array *out, const char **why, PyObject *object, bool elements)
{
    *why = NULL;
    if (!PyArray_CheckExact(object)) {
        *why = PyArray_Check(object) ? "a subclass of ndarray" : "no array";
        return false;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (!known_descr(&out->dtype, PyArray_DESCR(array), elements))
        *why = elements
                   ? "a dtype other than bool, int8 to int64, uint8 to uint64, float32 and float64 in native byte order"
                   : "a dtype other than bool, int32, int64, float32 and float64 in native byte order";
    else if (!PyArray_ISALIGNED(array))
        *why = "data that is not aligned";
    else if ((uint32_t)PyArray_FLAGS(array) & JY_WARN_ON_WRITE)
        *why = "an array that warns when it is written to";
    else if (PyArray_NDIM(array) > JY_MAX_NDIM)
        *why = "more than 8 axes";
    if (*why != NULL)
        return false;
    out->ndim = (uint8_t)PyArray_NDIM(array);
    for (size_t d = 0; d < out->ndim; d++) {
        out->shape[d] = PyArray_DIM(array, (int)d);
        out->stride[d] = PyArray_STRIDE(array, (int)d);
    }
    out->c_contiguous = PyArray_IS_C_CONTIGUOUS(array);
    out->writeable = PyArray_ISWRITEABLE(array);
    out->repeats = jy_layout_may_repeat(out->ndim, out->shape, out->stride, jy_dtype_info[out->dtype].bytes);
    fill_extent(out, PyArray_BYTES(array));
    return true;
}

bool
jy_inspect_is_array(PyObject *object)
{
    return PyArray_Check(object);
}

const char *
jy_inspect_element_type(PyObject *array)
{
    const PyArray_Descr *descr = PyArray_DESCR((PyArrayObject *)array);
    return descr->typeobj != NULL ? descr->typeobj->tp_name
                                  : Py_TYPE(descr)->tp_name; /* a user's dtype may have no scalars */
}

bool
jy_inspect_scalar(jy_dtype *dtype, union jy_scalar *value, PyObject *object)
{
    *value = (union jy_scalar){ .i = 0 };
    if (Py_IS_TYPE(object, &PyBoolArrType_Type))
        *dtype = JY_BOOL, value->i = PyArrayScalar_VAL(object, Bool) != 0;
    else if (Py_IS_TYPE(object, &PyIntArrType_Type))
        *dtype = JY_I32, value->i = PyArrayScalar_VAL(object, Int);
    else if (Py_IS_TYPE(object, &PyLongArrType_Type))
        *dtype = JY_I64, value->i = PyArrayScalar_VAL(object, Long);
    else if (Py_IS_TYPE(object, &PyFloatArrType_Type))
        *dtype = JY_F32, value->f = PyArrayScalar_VAL(object, Float);
    else if (Py_IS_TYPE(object, &PyDoubleArrType_Type))
        *dtype = JY_F64, value->d = PyArrayScalar_VAL(object, Double);
    else
        return false;
    return true;
}

bool
jy_inspect_element(jy_dtype *dtype, union jy_scalar *value, PyObject *object)
{
    if (jy_inspect_scalar(dtype, value, object))
        return true;
    if (Py_IS_TYPE(object, &PyByteArrType_Type))
        *dtype = JY_I8, value->i = PyArrayScalar_VAL(object, Byte);
    else if (Py_IS_TYPE(object, &PyShortArrType_Type))
        *dtype = JY_I16, value->i = PyArrayScalar_VAL(object, Short);
    else if (Py_IS_TYPE(object, &PyUByteArrType_Type))
        *dtype = JY_U8, value->i = PyArrayScalar_VAL(object, UByte);
    else if (Py_IS_TYPE(object, &PyUShortArrType_Type))
        *dtype = JY_U16, value->i = PyArrayScalar_VAL(object, UShort);
    else if (Py_IS_TYPE(object, &PyUIntArrType_Type))
        *dtype = JY_U32, value->i = PyArrayScalar_VAL(object, UInt);
    else if (Py_IS_TYPE(object, &PyULongArrType_Type))
        *dtype = JY_U64, value->bits = PyArrayScalar_VAL(object, ULong);
    else
        return false;
    return true;
}

bool
jy_inspect_is_dtype(PyObject *object)
{
    return PyArray_DescrCheck(object);
}

bool
jy_inspect_is_ufunc(PyObject *object)
{
    return PyObject_TypeCheck(object, &PyUFunc_Type);
}

/* The first signature that matches, as NumPy looks it up. */
bool
jy_inspect_ufunc_loop(size_t *loop, jy_dtype *result, PyObject *ufunc, size_t nin, jy_dtype dtype)
{
    const PyUFuncObject *u = (const PyUFuncObject *)ufunc;
    if ((size_t)u->nin != nin || u->nout != 1 || u->core_enabled)
        return false;
    for (int k = 0; k < u->ntypes; k++) {
        const char *types = u->types + (size_t)k * (nin + 1);
        bool fits = true;
        for (size_t i = 0; i < nin; i++)
            fits &= types[i] == (char)jy_dtype_info[dtype].number;
        if (!fits)
            continue;
        *loop = (size_t)k;
        return jy_element_from_number(result, types[nin]);
    }
    return false;
}

/* What resolve_dtypes() is asked for an operand: a dtype, or the type of a weak number; borrowed or new. */
static PyObject *
operand_type(const struct jy_ufunc_operand *operand)
{
    PyObject *type = operand->weak != NULL ? (PyObject *)operand->weak
                                           : (PyObject *)PyArray_DescrFromType(jy_dtype_info[operand->dtype].number);
    if (operand->weak != NULL)
        Py_INCREF(type);
    return type;
}

bool
jy_inspect_ufunc_casts(PyObject *ufunc, size_t nin, const struct jy_ufunc_operand *operands, jy_dtype dtype)
{
    PyObject *types = PyTuple_New((Py_ssize_t)nin + 1), *resolved = NULL;
    bool good = types != NULL;
    for (size_t i = 0; i < nin && good; i++) {
        PyObject *type = operand_type(&operands[i]);
        good = type != NULL;
        if (good)
            PyTuple_SET_ITEM(types, (Py_ssize_t)i, type);
    }
    if (good) {
        PyTuple_SET_ITEM(types, (Py_ssize_t)nin, Py_NewRef(Py_None));
        resolved = PyObject_CallMethod(ufunc, "resolve_dtypes", "(O)", types);
    }
    good = resolved != NULL && PyTuple_CheckExact(resolved);
    for (size_t i = 0; i < nin && good; i++) {
        PyObject *type = PyTuple_GET_ITEM(resolved, (Py_ssize_t)i);
        good = PyArray_DescrCheck(type) && ((PyArray_Descr *)type)->type_num == jy_dtype_info[dtype].number;
    }
    PyErr_Clear();
    Py_XDECREF(types);
    Py_XDECREF(resolved);
    return good;
}

/* Types whose conversion to a dtype looks up no attribute. */
static bool
names_dtype(PyObject *object)
{
    if (PyType_Check(object)) {
        PyTypeObject *type = (PyTypeObject *)object;
        return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type ||
               (PyType_IsSubtype(type, &PyGenericArrType_Type) && !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE));
    }
    return PyArray_DescrCheck(object) || PyUnicode_CheckExact(object);
}

bool
jy_inspect_dtype(jy_dtype *out, PyObject *object)
{
    PyArray_Descr *descr = NULL;
    if (!names_dtype(object))
        return false;
    if (!PyArray_DescrConverter(object, &descr)) {
        PyErr_Clear();
        return false;
    }
    bool known = known_descr(out, descr, false);
    Py_DECREF(descr);
    return known;
}

PyObject *
jy_inspect_descr(jy_dtype dtype)
{
    PyArray_Descr *descr = PyArray_DescrFromType(jy_dtype_info[dtype].number);
    Py_DECREF(descr); /* the built-in descriptors are never freed */
    return (PyObject *)descr;
}

PyTypeObject *
jy_inspect_scalar_type(jy_dtype dtype)
{
    return (PyTypeObject *)PyArray_TypeObjectFromType(jy_dtype_info[dtype].number);
}
