/* CPython's own functions on lists, called so that none of the program's code runs: items that go are plain, what is compared is numbers, and the collector waits while objects are made. */
#include "runtime/flow_lists.h"
#include "runtime/exec_internal.h"
#include "runtime/flow_exec.h"
#include "runtime/numpy_api.h"

#include <string.h>

/* Clears the exception of an operation that did not happen. */
static void
give_up(int32_t *failed)
{
    PyErr_Clear();
    *failed = 1;
}

/* refs: steals object, which may be NULL; borrowed result */
static PyObject *
keep_list(struct jy_flow_call *call, PyObject *list, int32_t *failed)
{
    size_t bytes = list == NULL ? 0 : (size_t)PyList_GET_SIZE(list) * sizeof(PyObject *);
    PyObject *kept = jy_flow_owner_keep(call->owner, list, bytes + 64);
    *failed = kept == NULL;
    return kept;
}

/* -- NumPy scalars ----------------------------------------------------------------------------------------------------------------- */

/* refs: new, NULL: no memory */
static PyObject *
scalar(int64_t dtype, int64_t bits)
{
    return jy_wrap_scalar(JY_KIND_NPSCALAR, (jy_dtype)dtype, (union jy_scalar){ .i = bits });
}

void
jy_flow_list_store_scalar(PyObject *list, int64_t index, int64_t dtype, int64_t bits, int32_t *failed)
{
    bool inside = index >= 0 && index < PyList_GET_SIZE(list);
    PyObject *old = inside ? PyList_GET_ITEM(list, index) : NULL;
    if (old != NULL && dtype == JY_F64 && PyArray_IsScalar(old, Double) && Py_IS_TYPE(old, &PyDoubleArrType_Type) &&
        Py_REFCNT(old) == 1) { /* nobody but the list holds it */
        memcpy(&PyArrayScalar_VAL(old, Double), &bits, sizeof bits);
        return;
    }
    PyObject *item = old != NULL && jy_flow_is_replaced_quietly(old) ? scalar(dtype, bits) : NULL;
    if (item == NULL) {
        give_up(failed);
        return;
    }
    PyList_SET_ITEM(list, index, item);
    Py_DECREF(old);
}

void
jy_flow_list_append_scalar(PyObject *list, int64_t dtype, int64_t bits, int32_t *failed)
{
    PyObject *item = scalar(dtype, bits);
    if (item == NULL || PyList_Append(list, item) < 0)
        give_up(failed);
    Py_XDECREF(item);
}

PyObject *
jy_flow_list_repeat_scalar(struct jy_flow_call *call, int64_t dtype, int64_t bits, int64_t n, int32_t *failed)
{
    PyObject *item = scalar(dtype, bits);
    bool collects;
    if (item == NULL || !jy_flow_begin_lists(2, &collects, failed)) {
        Py_XDECREF(item);
        return give_up(failed), NULL;
    }
    PyObject *list = PyList_New(n > 0 ? (Py_ssize_t)n : 0);
    for (Py_ssize_t k = 0; list != NULL && k < PyList_GET_SIZE(list); k++)
        PyList_SET_ITEM(list, k, Py_NewRef(item));
    jy_flow_end_lists(collects);
    Py_XDECREF(item);
    return keep_list(call, list, failed);
}

/* -- new lists --------------------------------------------------------------------------------------------------------------------- */

PyObject *
jy_flow_list_times(struct jy_flow_call *call, PyObject *list, int64_t n, int32_t *failed)
{
    bool collects;
    if (!jy_flow_begin_lists(1, &collects, failed))
        return NULL;
    PyObject *whole = PySequence_Repeat(list, (Py_ssize_t)n);
    jy_flow_end_lists(collects);
    return keep_list(call, whole, failed);
}

static uint64_t
length_of_range(int64_t start, int64_t stop, int64_t step)
{
    if (step > 0)
        return start < stop ? ((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1 : 0;
    return start > stop ? ((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step) + 1 : 0;
}

PyObject *
jy_flow_list_range(struct jy_flow_call *call, int64_t start, int64_t stop, int64_t step, int32_t *failed)
{
    uint64_t n = length_of_range(start, stop, step);
    bool collects;
    if (!jy_flow_begin_lists(1, &collects, failed))
        return NULL;
    PyObject *list = n > PY_SSIZE_T_MAX / sizeof(PyObject *) ? NULL : PyList_New((Py_ssize_t)n);
    jy_flow_end_lists(collects);
    for (uint64_t k = 0; list != NULL && k < n; k++) {
        PyObject *item = PyLong_FromLongLong((int64_t)((uint64_t)start + k * (uint64_t)step));
        if (item == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)k, item);
    }
    return keep_list(call, list, failed);
}

PyObject *
jy_flow_list_of(struct jy_flow_call *call, PyObject *sequence, int32_t *failed)
{
    bool collects;
    if (!jy_flow_begin_lists(1, &collects, failed))
        return NULL;
    PyObject *list = PySequence_List(sequence);
    jy_flow_end_lists(collects);
    return keep_list(call, list, failed);
}

/* -- changes ----------------------------------------------------------------------------------------------------------------------- */

static bool
go_quietly(PyObject *list, int64_t low, int64_t high)
{
    bool quiet = true;
    for (int64_t k = low; quiet && k < high; k++)
        quiet = jy_flow_is_replaced_quietly(PyList_GET_ITEM(list, k));
    return quiet;
}

void
jy_flow_list_set_slice(PyObject *list, int64_t low, int64_t high, PyObject *other, int32_t *failed)
{
    high = high < low ? low : high;
    if (!go_quietly(list, low, high) || PyList_SetSlice(list, (Py_ssize_t)low, (Py_ssize_t)high, other) < 0)
        give_up(failed);
}

void
jy_flow_list_cut(PyObject *list, int64_t low, int64_t high, int32_t *failed)
{
    jy_flow_list_set_slice(list, low, high, NULL, failed);
}

void
jy_flow_list_extend(PyObject *list, PyObject *other, int32_t *failed)
{
    Py_ssize_t n = PyList_GET_SIZE(list);
    if (PyList_SetSlice(list, n, n, other) < 0)
        give_up(failed);
}

void
jy_flow_list_multiply(PyObject *list, int64_t n, int32_t *failed)
{
    PyObject *same =
        n > 0 || go_quietly(list, 0, PyList_GET_SIZE(list)) ? PySequence_InPlaceRepeat(list, (Py_ssize_t)n) : NULL;
    if (same == NULL)
        give_up(failed);
    Py_XDECREF(same);
}

/* refs: steals item, which may be NULL: no memory */
static void
insert(PyObject *list, int64_t index, PyObject *item, int32_t *failed)
{
    if (item == NULL || PyList_Insert(list, (Py_ssize_t)index, item) < 0)
        give_up(failed);
    Py_XDECREF(item);
}

void
jy_flow_list_insert_float(PyObject *list, int64_t index, double value, int32_t *failed)
{
    insert(list, index, PyFloat_FromDouble(value), failed);
}

void
jy_flow_list_insert_int(PyObject *list, int64_t index, int64_t value, int32_t *failed)
{
    insert(list, index, PyLong_FromLongLong(value), failed);
}

void
jy_flow_list_insert_bool(PyObject *list, int64_t index, bool value, int32_t *failed)
{
    insert(list, index, PyBool_FromLong(value), failed);
}

void
jy_flow_list_insert_object(PyObject *list, int64_t index, PyObject *object, int32_t *failed)
{
    insert(list, index, Py_NewRef(object), failed);
}

/* -- questions --------------------------------------------------------------------------------------------------------------------- */

static bool
has_plain_numbers(PyObject *sequence)
{
    bool plain = true;
    for (Py_ssize_t k = 0; plain && k < PySequence_Fast_GET_SIZE(sequence); k++) {
        PyObject *item = PySequence_Fast_GET_ITEM(sequence, k);
        plain = PyFloat_CheckExact(item) || PyLong_CheckExact(item) || PyBool_Check(item);
    }
    return plain;
}

void
jy_flow_list_sort(PyObject *list, int32_t *failed)
{
    if (!has_plain_numbers(list) || PyList_Sort(list) < 0)
        give_up(failed);
}

/* A NaN that is the very object would be found. */
int64_t
jy_flow_list_find_float(PyObject *list, double value, int32_t *failed)
{
    if (value != value)
        give_up(failed);
    for (Py_ssize_t k = 0; !*failed && k < PyList_GET_SIZE(list); k++) {
        PyObject *item = PyList_GET_ITEM(list, k);
        if (!PyFloat_CheckExact(item))
            give_up(failed);
        else if (PyFloat_AS_DOUBLE(item) == value)
            return k;
    }
    return -1;
}

/* refs: result stolen, NULL: an exception */
static double
as_float(PyObject *result, int32_t *failed)
{
    double value = 0;
    if (result != NULL && PyFloat_CheckExact(result))
        value = PyFloat_AS_DOUBLE(result);
    else
        give_up(failed);
    Py_XDECREF(result);
    return value;
}

/* refs: result stolen, NULL: an exception */
static int64_t
as_int(PyObject *result, int32_t *failed)
{
    int64_t value = 0;
    int overflow = 0;
    if (result != NULL && PyLong_CheckExact(result))
        value = PyLong_AsLongLongAndOverflow(result, &overflow);
    else
        give_up(failed);
    if (overflow != 0)
        give_up(failed);
    Py_XDECREF(result);
    return value;
}

/* refs: new; NULL with an exception or without */
static PyObject *
ask_list(PyObject *callable, PyObject *list)
{
    int collects = PyGC_Disable();
    PyObject *result = has_plain_numbers(list) ? PyObject_CallOneArg(callable, list) : NULL;
    if (collects)
        PyGC_Enable();
    return result;
}

double
jy_flow_ask_list_float(PyObject *callable, PyObject *list, int32_t *failed)
{
    return as_float(ask_list(callable, list), failed);
}

int64_t
jy_flow_ask_list_int(PyObject *callable, PyObject *list, int32_t *failed)
{
    return as_int(ask_list(callable, list), failed);
}

bool
jy_flow_ask_list_bool(PyObject *callable, PyObject *list, int32_t *failed)
{
    PyObject *result = ask_list(callable, list);
    if (result == NULL || !PyBool_Check(result))
        give_up(failed);
    Py_XDECREF(result);
    return result == Py_True;
}

/* refs: args stolen, each may be NULL: no memory; new result */
static PyObject *
call_with(PyObject *callable, size_t n, PyObject **args)
{
    bool good = true;
    for (size_t k = 0; k < n; k++)
        good &= args[k] != NULL;
    PyObject *result = good ? PyObject_Vectorcall(callable, args, n, NULL) : NULL;
    for (size_t k = 0; k < n; k++)
        Py_XDECREF(args[k]);
    return result;
}

double
jy_flow_ask_f(PyObject *callable, double x, int32_t *failed)
{
    PyObject *args[] = { PyFloat_FromDouble(x) };
    return as_float(call_with(callable, 1, args), failed);
}

double
jy_flow_ask_ff(PyObject *callable, double x, double y, int32_t *failed)
{
    PyObject *args[] = { PyFloat_FromDouble(x), PyFloat_FromDouble(y) };
    return as_float(call_with(callable, 2, args), failed);
}

double
jy_flow_ask_fff(PyObject *callable, double x, double y, double z, int32_t *failed)
{
    PyObject *args[] = { PyFloat_FromDouble(x), PyFloat_FromDouble(y), PyFloat_FromDouble(z) };
    return as_float(call_with(callable, 3, args), failed);
}

double
jy_flow_ask_fi(PyObject *callable, double x, int64_t n, int32_t *failed)
{
    PyObject *args[] = { PyFloat_FromDouble(x), PyLong_FromLongLong(n) };
    return as_float(call_with(callable, 2, args), failed);
}

int64_t
jy_flow_ask_ii(PyObject *callable, int64_t x, int64_t y, int32_t *failed)
{
    PyObject *args[] = { PyLong_FromLongLong(x), PyLong_FromLongLong(y) };
    return as_int(call_with(callable, 2, args), failed);
}
