/* The C functions behind graph/flow_helpers.def that no C library has. A function that fails has done nothing: the interpreter performs the operation, and whatever error there is is its own.
 *
 * None of them runs code of the program's: an object is let go only where its destructor is known to run none, and while objects are made that the collector sees, it does not run. */
#include "frontend/cpython/compat.h"
#include "graph/flow_helper.h"
#include "runtime/flow_exec.h"
#include "runtime/flow_lists.h"
#include "runtime/flow_native.h"
#include "runtime/flow_numpy.h"
#include "runtime/flow_random.h"
#include "runtime/flow_vector.h"
#include "runtime/function.h"
#include "runtime/numpy_api.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* -- floats ------------------------------------------------------------------------------------------------------------------------ */

/* The quotient is that of x less its remainder, and may be off by a little less than one. */
static double
float_floordiv(double x, double y)
{
    double mod = fmod(x, y), div = (x - mod) / y;
    if (mod != 0 && (y < 0) != (mod < 0))
        div -= 1.0;
    if (div == 0)
        return copysign(0.0, x / y);
    double floored = floor(div);
    return div - floored > 0.5 ? floored + 1.0 : floored;
}

static double
float_mod(double x, double y)
{
    double mod = fmod(x, y);
    if (mod == 0)
        return copysign(0.0, y);
    return (y < 0) != (mod < 0) ? mod + y : mod;
}

static bool
is_odd(double x)
{
    return fmod(fabs(x), 2.0) == 1.0;
}

/* Where C libraries differ CPython decides by itself. */
static double
float_pow(double x, double y, int32_t *failed)
{
    if (y == 0)
        return 1.0;
    if (isnan(x))
        return x;
    if (isnan(y))
        return x == 1.0 ? 1.0 : y;
    if (isinf(y)) {
        double size = fabs(x);
        return size == 1.0 ? 1.0 : (y > 0) == (size > 1.0) ? fabs(y) : 0.0;
    }
    if (isinf(x)) {
        if (y > 0)
            return is_odd(y) ? x : fabs(x);
        return is_odd(y) ? copysign(0.0, x) : 0.0;
    }
    if ((x == 0 && y < 0) || (x < 0 && y != floor(y))) {
        *failed = 1;
        return 0;
    }
    if (x == 0)
        return is_odd(y) ? x : 0.0;
    bool negative = x < 0 && is_odd(y);
    x = fabs(x);
    if (x == 1.0)
        return negative ? -1.0 : 1.0;
    errno = 0;
    double power = pow(x, y);
    *failed = isinf(power) || (errno != 0 && power != 0);
    return negative ? -power : power;
}

static double
float_round(double x, int64_t digits, int32_t *failed)
{
    PyObject *object = PyFloat_FromDouble(x);
    PyObject *rounded = object == NULL ? NULL : PyObject_CallMethod(object, "__round__", "L", (long long)digits);
    double result = rounded == NULL ? 0.0 : PyFloat_AS_DOUBLE(rounded);
    *failed = rounded == NULL;
    PyErr_Clear();
    Py_XDECREF(rounded);
    Py_XDECREF(object);
    return result;
}

static double
float_of_int(int64_t n)
{
    return (double)n;
}

/* -- ints -------------------------------------------------------------------------------------------------------------------------- */

static bool
is_exact_float(int64_t n)
{
    return n >= -(INT64_C(1) << 53) && n <= INT64_C(1) << 53;
}

static double
int_truediv(int64_t a, int64_t b, int32_t *failed)
{
    if (b != 0 && is_exact_float(a) && is_exact_float(b))
        return (double)a / (double)b;
    PyObject *x = PyLong_FromLongLong(a), *y = PyLong_FromLongLong(b);
    PyObject *quotient = x == NULL || y == NULL ? NULL : PyNumber_TrueDivide(x, y);
    double result = quotient == NULL ? 0.0 : PyFloat_AS_DOUBLE(quotient);
    *failed = quotient == NULL;
    PyErr_Clear();
    Py_XDECREF(quotient);
    Py_XDECREF(x);
    Py_XDECREF(y);
    return result;
}

static int64_t
int_pow(int64_t base, int64_t exponent, int32_t *failed)
{
    int64_t result = 1;
    bool lost = exponent < 0;
    for (uint64_t left = (uint64_t)exponent; !lost && left != 0;) {
        if (left & 1)
            lost = __builtin_mul_overflow(result, base, &result);
        left >>= 1;
        if (left != 0 && !lost) /* a base that overflows here is 2 or more in size, and is used */
            lost = __builtin_mul_overflow(base, base, &base);
    }
    *failed = lost;
    return result;
}

static uint64_t
size_of(int64_t n)
{
    return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

static int64_t
int_powmod(int64_t base, int64_t exponent, int64_t modulus, int32_t *failed)
{
    uint64_t m = size_of(modulus);
    if (m == 0 || exponent < 0) {
        *failed = 1;
        return 0;
    }
    uint64_t square = size_of(base) % m, result = 1 % m;
    if (base < 0 && square != 0)
        square = m - square;
    for (uint64_t left = (uint64_t)exponent; left != 0; left >>= 1) {
        if (left & 1)
            result = (uint64_t)((unsigned __int128)result * square % m);
        square = (uint64_t)((unsigned __int128)square * square % m);
    }
    return modulus < 0 && result != 0 ? (int64_t)(result - m) : (int64_t)result;
}

/* Numbers of np.uint64, by their bits. */
static int64_t
uint_mul(int64_t x, int64_t y, int32_t *failed)
{
    uint64_t product;
    *failed = __builtin_mul_overflow((uint64_t)x, (uint64_t)y, &product);
    return (int64_t)product;
}

static int64_t
uint_div(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x / (uint64_t)y);
}

static int64_t
uint_mod(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x % (uint64_t)y);
}

static int64_t
int_gcd(int64_t a, int64_t b, int32_t *failed)
{
    uint64_t x = size_of(a), y = size_of(b);
    while (y != 0) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    *failed = x > INT64_MAX;
    return (int64_t)x;
}

static int64_t
int_isqrt(int64_t n, int32_t *failed)
{
    if (n < 0) {
        *failed = 1;
        return 0;
    }
    uint64_t root = (uint64_t)sqrt((double)n);
    while (root * root > (uint64_t)n)
        root--;
    while ((root + 1) * (root + 1) <= (uint64_t)n)
        root++;
    return (int64_t)root;
}

static int64_t
int_factorial(int64_t n, int32_t *failed)
{
    int64_t result = 1;
    *failed = n < 0 || n > 20; /* 21! has 66 bits */
    for (int64_t k = 2; k <= n && !*failed; k++)
        result *= k;
    return result;
}

static int64_t
int_bit_length(int64_t n)
{
    return n == 0 ? 0 : 64 - __builtin_clzll(size_of(n));
}

static int64_t
int_bit_count(int64_t n)
{
    return __builtin_popcountll(size_of(n));
}

static int64_t
int_of_object(PyObject *object, int32_t *failed)
{
    int overflow = 0;
    if (!PyLong_CheckExact(object)) {
        *failed = 1;
        return 0;
    }
    int64_t n = PyLong_AsLongLongAndOverflow(object, &overflow);
    *failed = overflow != 0;
    return n;
}

/* -- lists ------------------------------------------------------------------------------------------------------------------------- */

/* Of the very type: a subclass may have a destructor. */
static bool
is_numpy_number(PyObject *object)
{
    PyTypeObject *const types[] = { &PyDoubleArrType_Type, &PyLongArrType_Type,  &PyFloatArrType_Type,
                                    &PyIntArrType_Type,    &PyBoolArrType_Type,  &PyByteArrType_Type,
                                    &PyShortArrType_Type,  &PyUByteArrType_Type, &PyUShortArrType_Type,
                                    &PyUIntArrType_Type,   &PyULongArrType_Type };
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (Py_IS_TYPE(object, types[k]))
            return true;
    return false;
}

static bool
is_plain_object(PyObject *object)
{
    return object == Py_None || PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
           PyUnicode_CheckExact(object) || is_numpy_number(object);
}

/* Letting go of it runs none of the program's code, and no list or tuple goes along that the flow has borrowed from it. */
static bool
goes_quietly(PyObject *object)
{
    return Py_REFCNT(object) > 1 || is_plain_object(object);
}

/* A list or tuple keeps its place even when somebody else holds it, too: the flow may have read it before, and takes it that stores of numbers do not change such places. */
bool
jy_flow_is_replaced_quietly(PyObject *object)
{
    return goes_quietly(object) && !PyList_CheckExact(object) && !PyTuple_CheckExact(object);
}

/* refs: steals item, which may be NULL: no memory */
static void
store(PyObject *list, int64_t index, PyObject *item, int32_t *failed)
{
    bool good = item != NULL && index >= 0 && index < PyList_GET_SIZE(list);
    PyObject *old = good ? PyList_GET_ITEM(list, index) : NULL;
    if (old == NULL || !jy_flow_is_replaced_quietly(old)) {
        PyErr_Clear();
        Py_XDECREF(item);
        *failed = 1;
        return;
    }
    PyList_SET_ITEM(list, index, item);
    Py_DECREF(old);
}

/* A float that nobody but the list holds takes the new value. */
static void
list_store_float(PyObject *list, int64_t index, double value, int32_t *failed)
{
    PyObject *old = index >= 0 && index < PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, index) : NULL;
    if (old != NULL && PyFloat_CheckExact(old) && Py_REFCNT(old) == 1)
        ((PyFloatObject *)old)->ob_fval = value;
    else
        store(list, index, PyFloat_FromDouble(value), failed);
}

static void
list_store_int(PyObject *list, int64_t index, int64_t value, int32_t *failed)
{
    store(list, index, PyLong_FromLongLong(value), failed);
}

static void
list_store_bool(PyObject *list, int64_t index, bool value, int32_t *failed)
{
    store(list, index, PyBool_FromLong(value), failed);
}

static void
list_store_object(PyObject *list, int64_t index, PyObject *object, int32_t *failed)
{
    store(list, index, Py_NewRef(object), failed);
}

/* refs: steals item, which may be NULL: no memory */
static void
append(PyObject *list, PyObject *item, int32_t *failed)
{
    if (item == NULL || PyList_Append(list, item) < 0) {
        PyErr_Clear();
        *failed = 1;
    }
    Py_XDECREF(item);
}

static void
list_append_float(PyObject *list, double value, int32_t *failed)
{
    append(list, PyFloat_FromDouble(value), failed);
}

static void
list_append_int(PyObject *list, int64_t value, int32_t *failed)
{
    append(list, PyLong_FromLongLong(value), failed);
}

static void
list_append_bool(PyObject *list, bool value, int32_t *failed)
{
    append(list, PyBool_FromLong(value), failed);
}

static void
list_append_object(PyObject *list, PyObject *object, int32_t *failed)
{
    append(list, Py_NewRef(object), failed);
}

/* refs: steals object, which is a new one that the flow has made */
static void
list_append_new(PyObject *list, PyObject *object, int32_t *failed)
{
    append(list, object, failed);
}

/* refs: new, or NULL */
static PyObject *
made(PyObject *object, int32_t *failed)
{
    *failed = object == NULL;
    if (object == NULL)
        PyErr_Clear();
    return object;
}

static PyObject *
new_float(double value, int32_t *failed)
{
    return made(PyFloat_FromDouble(value), failed);
}

static PyObject *
new_int(int64_t value, int32_t *failed)
{
    return made(PyLong_FromLongLong(value), failed);
}

static void
list_drop(PyObject *list, int64_t index, int32_t *failed)
{
    bool good = index >= 0 && index < PyList_GET_SIZE(list) && goes_quietly(PyList_GET_ITEM(list, index));
    if (!good || PyList_SetSlice(list, index, index + 1, NULL) < 0) {
        PyErr_Clear();
        *failed = 1;
    }
}

static void
list_swap(PyObject *list, int64_t i, int64_t j, int32_t *failed)
{
    Py_ssize_t n = PyList_GET_SIZE(list);
    if (i < 0 || j < 0 || i >= n || j >= n) {
        *failed = 1;
        return;
    }
    PyObject *item = PyList_GET_ITEM(list, i);
    PyList_SET_ITEM(list, i, PyList_GET_ITEM(list, j));
    PyList_SET_ITEM(list, j, item);
}

static void
list_reverse(PyObject *list, int32_t *failed)
{
    *failed = PyList_Reverse(list) < 0;
}

static int64_t
list_find_int(PyObject *list, int64_t value, int32_t *failed)
{
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(list); k++) {
        PyObject *item = PyList_GET_ITEM(list, k);
        int overflow = 0;
        if (!PyLong_CheckExact(item) && !PyBool_Check(item)) {
            *failed = 1;
            return 0;
        }
        if (PyLong_AsLongLongAndOverflow(item, &overflow) == value && overflow == 0)
            return k;
    }
    return -1;
}

/* -- new objects ------------------------------------------------------------------------------------------------------------------- */

/* Counts over all flows, so that no exit is always the one in whose turn it comes. */
static void
exit_due(struct jy_flow_call *call, int32_t *failed)
{
    (void)call;
    struct jy_runtime *rt = jy_runtime;
    uint32_t every = (uint32_t)rt->config.exit_every;
    *failed = every != 0 && ++rt->exits_asked >= every;
    if (*failed)
        rt->exits_asked = 0;
}

bool
jy_flow_begin_lists(int n, bool *collects, int32_t *failed)
{
    *failed = jy_compat_list_collects(n) && !jy_runtime->config.compare;
    *collects = !*failed && jy_compat_collects_at_once() && PyGC_Disable();
    return !*failed;
}

void
jy_flow_end_lists(bool collects)
{
    if (collects)
        PyGC_Enable();
}

/* refs: steals object, which may be NULL; borrowed result */
static PyObject *
keep(struct jy_flow_call *call, PyObject *object, size_t bytes, int32_t *failed)
{
    PyObject *kept = jy_flow_owner_keep(call->owner, object, bytes + 64);
    *failed = kept == NULL;
    return kept;
}

static PyObject *
list_new(struct jy_flow_call *call, int32_t *failed)
{
    bool collects;
    if (!jy_flow_begin_lists(1, &collects, failed))
        return NULL;
    PyObject *list = PyList_New(0);
    jy_flow_end_lists(collects);
    return keep(call, list, 0, failed);
}

/* As CPython does it: one addition to the count. refs: item borrowed, may be NULL: no memory */
static PyObject *
repeat(struct jy_flow_call *call, PyObject *item, int64_t n, int32_t *failed)
{
    n = n < 0 ? 0 : n;
    bool collects;
    if (item == NULL || !jy_flow_begin_lists(n == 1 ? 1 : 2, &collects, failed))
        return keep(call, NULL, 0, failed);
    PyObject *list = PyList_New(1);
    if (list != NULL)
        PyList_SET_ITEM(list, 0, Py_NewRef(item));
    if (list != NULL && n != 1) {
        PyObject *one = list;
        list = PySequence_Repeat(one, (Py_ssize_t)n);
        Py_DECREF(one);
    }
    jy_flow_end_lists(collects);
    return keep(call, list, (size_t)n * sizeof(PyObject *), failed);
}

static PyObject *
list_repeat(struct jy_flow_call *call, PyObject *item, int64_t n, int32_t *failed)
{
    return repeat(call, item, n, failed);
}

static PyObject *
list_repeat_float(struct jy_flow_call *call, double value, int64_t n, int32_t *failed)
{
    PyObject *item = PyFloat_FromDouble(value), *list = repeat(call, item, n, failed);
    Py_XDECREF(item);
    return list;
}

static PyObject *
list_repeat_int(struct jy_flow_call *call, int64_t value, int64_t n, int32_t *failed)
{
    PyObject *item = PyLong_FromLongLong(value), *list = repeat(call, item, n, failed);
    Py_XDECREF(item);
    return list;
}

static PyObject *
list_slice(struct jy_flow_call *call, PyObject *list, int64_t low, int64_t high, int32_t *failed)
{
    bool collects;
    if (!jy_flow_begin_lists(1, &collects, failed))
        return NULL;
    PyObject *slice = PyList_GetSlice(list, low, high);
    jy_flow_end_lists(collects);
    return keep(call, slice, high > low ? (size_t)(high - low) * sizeof(PyObject *) : 0, failed);
}

static PyObject *
list_concat(struct jy_flow_call *call, PyObject *x, PyObject *y, int32_t *failed)
{
    bool collects;
    if (!jy_flow_begin_lists(1, &collects, failed))
        return NULL;
    PyObject *whole = PySequence_Concat(x, y);
    jy_flow_end_lists(collects);
    return keep(call, whole, whole == NULL ? 0 : (size_t)PyList_GET_SIZE(whole) * sizeof(PyObject *), failed);
}

static PyObject *
float_object(struct jy_flow_call *call, double value, int32_t *failed)
{
    return keep(call, PyFloat_FromDouble(value), 0, failed);
}

static PyObject *
int_object(struct jy_flow_call *call, int64_t value, int32_t *failed)
{
    return keep(call, PyLong_FromLongLong(value), 0, failed);
}

static void
fill_ones(PyArrayObject *array, jy_dtype dtype)
{
    char *at = PyArray_BYTES(array);
    size_t itemsize = jy_dtype_info[dtype].bytes;
    double d = 1;
    float f = 1;
    int64_t i = 1; /* its first bytes are those of a smaller one */
    const void *one = dtype == JY_F64 ? (const void *)&d : dtype == JY_F32 ? (const void *)&f : (const void *)&i;
    for (npy_intp k = PyArray_SIZE(array); k-- > 0; at += itemsize)
        memcpy(at, one, itemsize);
}

static PyObject *
array_new(struct jy_flow_call *call, int64_t dtype, int64_t ndim, int64_t n0, int64_t n1, int64_t fill, int32_t *failed)
{
    npy_intp dims[2] = { n0, n1 };
    int type = jy_dtype_info[dtype].number;
    bool negative = (ndim > 0 && n0 < 0) || (ndim > 1 && n1 < 0);
    PyObject *array = negative    ? NULL
                      : fill == 1 ? PyArray_ZEROS((int)ndim, dims, type, 0)
                                  : PyArray_EMPTY((int)ndim, dims, type, 0);
    if (array != NULL && fill == 2)
        fill_ones((PyArrayObject *)array, (jy_dtype)dtype);
    return keep(call, array, array == NULL ? 0 : (size_t)PyArray_NBYTES((PyArrayObject *)array), failed);
}

/* -- the table --------------------------------------------------------------------------------------------------------------------- */

typedef void (*any_function)(void);

static const struct {
    const char *name;
    any_function function;
} functions[] = {
#define HELPER(name, signature, function) { #name, (any_function)function },
#include "graph/flow_helpers.def"
#undef HELPER
};

void *
jy_flow_helper_address(const char *name)
{
    union {
        any_function function;
        void *object;
    } u = { NULL };
    for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]) && u.function == NULL; k++)
        if (strcmp(functions[k].name, name) == 0)
            u.function = functions[k].function;
    return u.object;
}
