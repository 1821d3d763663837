/* What one guard says of the values that it is about. Nothing here runs code of the program's. */
#include "runtime/numpy_api.h"

#include "frontend/cpython/own.h"
#include "frontend/frontend.h"
#include "runtime/guard_internal.h"
#include <string.h>

static bool
fits_class(PyArrayObject *array, const struct jy_array_guard *g)
{
    const npy_intp *dims = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    npy_intp itemsize = jy_dtype_info[g->dtype].bytes, joined = itemsize, last = NPY_MAX_INTP;
    bool contiguous = true;

    for (int d = 0; d < g->ndim; d++) {
        int sign = dims[d] == 1 ? 0 : (strides[d] > 0) - (strides[d] < 0);
        if ((dims[d] == 1) != g->one[d] || dims[d] == 0 || sign != g->sign[d])
            return false;
    }
    for (int k = 0; k < g->ndim; k++) {
        int d = g->order[k];
        npy_intp s = strides[d] < 0 ? -strides[d] : strides[d];
        if (dims[d] == 1 || s == 0)
            continue;
        if (s > last || (s == last && k > 0))
            return false;
        last = s;
    }
    if (g->writeable && jy_layout_may_repeat(g->ndim, dims, strides, (size_t)itemsize))
        return false; /* jy_np_will_write() */
    for (int k = g->ndim - 1; k >= 0; k--) {
        int d = g->order[k];
        if (dims[d] == 1)
            continue;
        contiguous = contiguous && strides[d] == joined;
        joined *= dims[d];
    }
    int inner = g->ndim > 0 ? g->order[g->ndim - 1] : -1;
    return (!g->contiguous || contiguous) && (!g->inner_unit || inner < 0 || strides[inner] == itemsize);
}

static bool
fits_array(PyObject *object, const struct jy_array_guard *g)
{
    if (!PyArray_CheckExact(object))
        return false;
    PyArrayObject *array = (PyArrayObject *)object;
    PyArray_Descr *descr = PyArray_DESCR(array);
    if (descr->type_num != jy_dtype_info[g->dtype].number || PyArray_NDIM(array) != g->ndim || !jy_plain_descr(descr))
        return false;
    int flags = PyArray_FLAGS(array), wanted = NPY_ARRAY_ALIGNED;
    if (g->c_contiguous)
        wanted |= NPY_ARRAY_C_CONTIGUOUS;
    if (g->writeable)
        wanted |= NPY_ARRAY_WRITEABLE;
    if (((uint32_t)flags & JY_WARN_ON_WRITE) != 0)
        return false;
    if ((flags & wanted) != wanted || (g->write_observed && !g->writeable && (flags & NPY_ARRAY_WRITEABLE)))
        return false;
    if (!g->c_contiguous)
        return fits_class(array, g);
    return g->ndim != 1 ||
           PyArray_STRIDE(array, 0) >= 0; /* NumPy's inner loops see the stride of a single element, too */
}

/* First byte and one past the last byte that an array's elements occupy. */
static void
extent_of(PyObject *object, const char **low, const char **high)
{
    PyArrayObject *a = (PyArrayObject *)object;
    *low = PyArray_BYTES(a);
    *high = *low + PyArray_ITEMSIZE(a);
    for (int d = 0; d < PyArray_NDIM(a); d++) {
        npy_intp n = PyArray_DIM(a, d), s = PyArray_STRIDE(a, d);
        if (n == 0) {
            *high = *low;
            return;
        }
        if (s < 0)
            *low += (n - 1) * s;
        else
            *high += (n - 1) * s;
    }
}

static bool
are_disjoint(PyObject *a, PyObject *b)
{
    const char *alow, *ahigh, *blow, *bhigh;
    extent_of(a, &alow, &ahigh);
    extent_of(b, &blow, &bhigh);
    return alow == ahigh || blow == bhigh || ahigh <= blow || bhigh <= alow;
}

static bool
size_of(int64_t *out, const struct jy_sizes *sizes, PyObject *const *inputs, jy_sx e)
{
    const struct jy_sx_node *node = &sizes->exprs.at[e];
    int64_t a, b;

    if (node->op == JY_SX_CONST) {
        *out = node->k;
        return true;
    }
    if (node->op == JY_SX_SYM) {
        const struct jy_symbol *symbol = &sizes->symbols.at[node->k];
        PyObject *object = inputs[symbol->placeholder];
        int overflow = 0;
        if (object == NULL)
            return false;
        *out = symbol->axis >= 0 ? PyArray_DIM((PyArrayObject *)object, symbol->axis)
                                 : PyLong_AsLongLongAndOverflow(object, &overflow);
        return overflow == 0;
    }
    if (!size_of(&a, sizes, inputs, node->a) || !size_of(&b, sizes, inputs, node->b))
        return false;
    switch ((enum jy_sx_op)node->op) {
    case JY_SX_ADD:
        return !__builtin_add_overflow(a, b, out);
    case JY_SX_SUB:
        return !__builtin_sub_overflow(a, b, out);
    case JY_SX_MUL:
        return !__builtin_mul_overflow(a, b, out);
    case JY_SX_MIN:
        *out = a < b ? a : b;
        return true;
    case JY_SX_MAX:
        *out = a > b ? a : b;
        return true;
    case JY_SX_FLOORDIV:
    case JY_SX_MOD:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return false;
        *out = node->op == JY_SX_MOD ? (a % b != 0 && (a % b < 0) != (b < 0) ? a % b + b : a % b)
                                     : a / b - (a % b != 0 && (a % b < 0) != (b < 0));
        return true;
    case JY_SX_CONST:
    case JY_SX_SYM:
        break;
    }
    return false;
}

static bool
compare_sizes(const struct jy_unit *unit, PyObject *const *inputs, const struct jy_guard *g)
{
    const struct jy_sizes *sizes = &unit->u_graph->g_sizes;
    int64_t a, b;
    return size_of(&a, sizes, inputs, g->a) && size_of(&b, sizes, inputs, g->b) &&
           jy_compare_holds(a, (enum jy_compare)g->compare, b);
}

static bool
is_int(PyObject *object, int64_t value)
{
    int overflow;
    return PyLong_CheckExact(object) && PyLong_AsLongLongAndOverflow(object, &overflow) == value && overflow == 0;
}

static bool
has_same_bits(PyObject *a, PyObject *b)
{
    union {
        char bytes[64];
        npy_longdouble aligned;
    } x = { { 0 } }, y = { { 0 } };
    if (!PyArray_IsScalar(a, Number) && !PyArray_IsScalar(a, Bool)) /* no number of NumPy's takes more than 64 bytes */
        return false;
    PyArray_ScalarAsCtype(a, &x);
    PyArray_ScalarAsCtype(b, &y);
    return memcmp(&x, &y, sizeof(x)) == 0;
}

/* The same type throughout, and the same value; floats by their bits, as 0.0 is not -0.0. What cannot be told counts as unequal. 1, 0, or -1 with an exception. */
static int
is_equal(PyObject *object, PyObject *wanted)
{
    if (object == wanted)
        return 1;
    if (Py_TYPE(object) != Py_TYPE(wanted))
        return 0;
    if (PyFloat_CheckExact(object))
        return memcmp(&((PyFloatObject *)object)->ob_fval, &((PyFloatObject *)wanted)->ob_fval, sizeof(double)) == 0;
    if (PyComplex_CheckExact(object))
        return memcmp(&((PyComplexObject *)object)->cval, &((PyComplexObject *)wanted)->cval, sizeof(Py_complex)) == 0;
    if (PyTuple_Check(object)) { /* exact, or of a class that has left equality to it: no other is a known key */
        int same = PyTuple_GET_SIZE(object) == PyTuple_GET_SIZE(wanted);
        for (Py_ssize_t k = 0; same == 1 && k < PyTuple_GET_SIZE(object); k++)
            same = is_equal(PyTuple_GET_ITEM(object, k), PyTuple_GET_ITEM(wanted, k));
        return same;
    }
    if (PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) || PyLong_CheckExact(object))
        return PyObject_RichCompareBool(object, wanted, Py_EQ);
    return has_same_bits(object, wanted);
}

/* A set, in the order of its iteration. */
static int
has_items(PyObject *object, PyObject *items)
{
    const PySetObject *set = (PySetObject *)object;
    Py_ssize_t k = 0;
    if (set->used != PyTuple_GET_SIZE(items))
        return 0;
    for (Py_ssize_t i = 0; i <= set->mask; i++) {
        if (set->table[i].key == NULL || set->table[i].hash == -1)
            continue;
        int same = is_equal(set->table[i].key, PyTuple_GET_ITEM(items, k++));
        if (same != 1)
            return same;
    }
    return 1;
}

static int
has_keys(PyObject *object, PyObject *keys, bool subclass)
{
    PyObject *key, *value;
    Py_ssize_t at = 0, k = 0;
    if (PySet_CheckExact(object))
        return has_items(object, keys);
    if (!(subclass ? PyDict_Check(object) : PyDict_CheckExact(object)) ||
        PyDict_GET_SIZE(object) != PyTuple_GET_SIZE(keys))
        return 0;
    while (PyDict_Next(object, &at, &key, &value)) {
        int same = is_equal(key, PyTuple_GET_ITEM(keys, k++));
        if (same != 1)
            return same;
    }
    return 1;
}

static int
has_length(PyObject *object, int64_t length)
{
    if (PyTuple_Check(object) || PyList_Check(object) || jy_own_is_deque(Py_TYPE(object)))
        return Py_SIZE(object) == length;
    return PyDict_Check(object) && PyDict_GET_SIZE(object) == length;
}

static bool
class_holds(const struct jy_unit *unit, const struct jy_guard *g)
{
    PyObject *after = g->after ? jy_unit_object(unit, g->after) : NULL;
    PyObject *wanted = g->result ? jy_unit_object(unit, g->result) : NULL;
    return jy_class_find((PyTypeObject *)jy_unit_object(unit, g->object), (PyTypeObject *)after,
                         jy_unit_object(unit, g->name)) == wanted;
}

int
jy_guard_holds(const struct jy_unit *unit, const struct jy_guard *g, PyObject *value, PyObject *other,
               PyObject *const *inputs)
{
    PyObject *object = g->object ? jy_unit_object(unit, g->object) : NULL;

    if (value == NULL && g->kind != JY_GUARD_SIZE && g->kind != JY_GUARD_DISJOINT && g->kind != JY_GUARD_CLASS)
        return g->kind == JY_GUARD_ABSENT;
    switch ((enum jy_guard_kind)g->kind) {
    case JY_GUARD_TYPE:
        return (PyObject *)Py_TYPE(value) == object;
    case JY_GUARD_IS:
        return value == object;
    case JY_GUARD_INT:
        return is_int(value, g->value);
    case JY_GUARD_EQUALS:
        return is_equal(value, object);
    case JY_GUARD_ARRAY:
        return fits_array(value, g->array);
    case JY_GUARD_LENGTH:
        return has_length(value, g->value);
    case JY_GUARD_KEYS:
        return has_keys(value, object, g->value != 0);
    case JY_GUARD_CODE:
        return PyFunction_Check(value) && ((PyFunctionObject *)value)->func_code == object &&
               !jy_compat_is_code_watched(object);
    case JY_GUARD_SIZE:
        return compare_sizes(unit, inputs, g);
    case JY_GUARD_DISJOINT:
        return are_disjoint(inputs[g->value], inputs[g->other]) == (g->compare != JY_NE);
    case JY_GUARD_SAME:
        return value == other;
    case JY_GUARD_NOT_SAME:
        return value != other;
    case JY_GUARD_CLASS:
        return class_holds(unit, g);
    case JY_GUARD_NOT_DICT:
        return other != NULL && value != jy_own_dict(other);
    case JY_GUARD_FLAGS:
        return ((int64_t)Py_TYPE(value)->tp_flags & g->value) == g->other;
    case JY_GUARD_MAXLEN:
        return jy_own_is_deque(Py_TYPE(value)) && jy_own_deque_maxlen(value) == g->value;
    case JY_GUARD_PRESENT:
        return value != NULL;
    case JY_GUARD_NOT_OWN:
        return jy_own_attribute(value, jy_unit_object(unit, g->name)) == NULL;
    case JY_GUARD_REGISTERED:
        return jy_abstract_token(value) == g->value;
    case JY_GUARD_ABSENT:
    case JY_GUARD_COUNT:
        break;
    }
    return 0;
}

bool
jy_guards_fit_inputs(const struct jy_unit *unit, PyObject *const *inputs)
{
    for (size_t k = 0; k < unit->u_inputs.n; k++) {
        const struct jy_input *input = &unit->u_inputs.at[k];
        if (input->kind == JY_KIND_ARRAY &&
            !(input->array != NULL ? fits_array(inputs[k], input->array) : PyArray_CheckExact(inputs[k])))
            return false;
        if (input->kind == JY_KIND_PYINT && !PyLong_CheckExact(inputs[k]))
            return false;
    }
    for (size_t k = 0; k < unit->u_guards.n; k++) {
        const struct jy_guard *g = &unit->u_guards.at[k];
        if ((g->kind == JY_GUARD_SIZE || g->kind == JY_GUARD_DISJOINT) &&
            jy_guard_holds(unit, g, NULL, NULL, inputs) != 1)
            return false;
    }
    return true;
}
