/* Guards as two little programs of LOAD and CHECK steps.
 *
 *   fixed part     sources that go only through module dictionaries (globals, builtins, attributes of modules) and guards of identity on them. Its outcome can change
 *                  only when one of those dictionaries is written, which their version tags tell.
 *   per call part  everything else: parameters, cells, containers, attributes of instances, array classes, relations of sizes.
 *
 * A source is loaded once, before the first guard that needs it; values are borrowed where the owner outlives the call and collected in `owned`
 * where a look-up gives a new reference. Nothing here runs code of the program's: an attribute whose look-up would counts as absent, and the call is a miss. */
#include "runtime/numpy_api.h"

#include "frontend/cpython/compat.h"
#include "frontend/frontend.h"
#include "runtime/guard_check.h"
#include <stdlib.h>
#include <string.h>

#define NO_GUARD UINT32_MAX

enum step_kind {
    STEP_LOAD,        /* source `index` */
    STEP_CHECK,       /* guard `index` */
    STEP_PARAMETER,   /* source `index` is parameter `a` */
    STEP_C_ARRAY,     /* guard `index`: the value of source `a` is a C-contiguous array of `number`, `ndim`, `flags` */
    STEP_SAME_EXTENT, /* guard `index`: two axes of the values of sources `a` and `b` are equal */
};

/* The last three say what the first two would, without a look at the unit: most steps of most calls are of these kinds. */
struct step {
    uint8_t kind, ndim, axis_a, axis_b;
    uint32_t index, a, b;
    int number, flags;
};

struct steps {
    struct step *at;
    size_t n;
};

struct dict_version {
    PyObject *dict; /* borrowed from a function or module that the unit's object table or the function keeps alive */
    PyObject *
        module; /* whose it is, NULL: a function's; a module may be given another class, whose attributes hide the dictionary's */
    uint64_t version;
};

struct jy_guard_program {
    const struct jy_unit *unit;
    size_t nsources, ninputs;
    struct steps fixed, per_call;
    struct dict_version *dicts;
    size_t ndicts;
    PyObject **fixed_values; /* per source: value of a fixed source, else NULL */
    bool *is_fixed;          /* per source */
    bool has_pyint;          /* some input is a Python int, which must fit in 64 bits */
};

/* -- loading a source ------------------------------------------------------------------------------------------------------------ */

static PyObject *
dict_item(PyObject *dict, PyObject *key)
{
    return dict != NULL && PyDict_Check(dict) ? PyDict_GetItemWithError(dict, key) : NULL;
}

static PyObject *
function_part(const struct jy_source *s, PyObject *base, PyObject *name)
{
    if (base == NULL || !PyFunction_Check(base))
        return NULL;
    PyFunctionObject *f = (PyFunctionObject *)base;
    PyObject *tuple;
    switch (s->kind) {
    case JY_SOURCE_GLOBAL:
        return dict_item(f->func_globals, name);
    case JY_SOURCE_BUILTIN:
        return dict_item(f->func_builtins, name);
    case JY_SOURCE_KWDEFAULT:
        return dict_item(f->func_kwdefaults, name);
    case JY_SOURCE_DEFAULT:
        tuple = f->func_defaults;
        return tuple != NULL && s->index < (size_t)PyTuple_GET_SIZE(tuple) ? PyTuple_GET_ITEM(tuple, s->index) : NULL;
    case JY_SOURCE_CELL:
        tuple = f->func_closure;
        return tuple != NULL && s->index < (size_t)PyTuple_GET_SIZE(tuple)
                   ? PyCell_GET(PyTuple_GET_ITEM(tuple, s->index))
                   : NULL;
    default:
        return NULL;
    }
}

static PyObject *
sequence_item(PyObject *base, uint32_t index)
{
    if (base == NULL || !(PyTuple_CheckExact(base) || PyList_CheckExact(base)) || index >= (size_t)Py_SIZE(base))
        return NULL;
    return PyTuple_CheckExact(base) ? PyTuple_GET_ITEM(base, index) : PyList_GET_ITEM(base, index);
}

/* Borrowed, or new with *owned true; NULL: it is not there (an exception may be set). */
static PyObject *
load(bool *owned, const struct jy_guard_program *p, PyObject **values, PyObject *function, PyObject *const *slots,
     uint32_t index)
{
    const struct jy_source *s = &p->unit->u_sources.at[index];
    PyObject *base = index == 0 ? NULL : values[s->base], *name = s->name ? jy_unit_object(p->unit, s->name) : NULL;

    *owned = false;
    switch (s->kind) {
    case JY_SOURCE_FUNCTION:
        return function;
    case JY_SOURCE_LOCAL:
        return slots != NULL ? slots[p->unit->u_depth + s->index] : NULL; /* no parameter is a fixed source */
    case JY_SOURCE_STACK:
        return slots != NULL ? slots[s->index] : NULL;
    case JY_SOURCE_CONTENT:
        return base != NULL && PyCell_Check(base) ? PyCell_GET(base) : NULL;
    case JY_SOURCE_ITEM:
        return sequence_item(base, s->index);
    case JY_SOURCE_KEY:
        return base != NULL && PyDict_CheckExact(base) ? dict_item(base, name) : NULL;
    case JY_SOURCE_ATTR:
        if (base == NULL)
            return NULL;
        if (PyModule_CheckExact(base))
            return dict_item(PyModule_GetDict(base), name);
        *owned = true;
        return jy_attribute_is_quiet(base, name) ? PyObject_GetAttr(base, name) : NULL;
    default:
        return function_part(s, base, name);
    }
}

/* -- checking a guard ------------------------------------------------------------------------------------------------------------ */

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
    if (descr->type_num != jy_dtype_info[g->dtype].number || PyArray_NDIM(array) != g->ndim ||
        !PyDataType_ISNOTSWAPPED(descr))
        return false;
    int flags = PyArray_FLAGS(array), wanted = NPY_ARRAY_ALIGNED;
    if (g->c_contiguous)
        wanted |= NPY_ARRAY_C_CONTIGUOUS;
    if (g->writeable)
        wanted |= NPY_ARRAY_WRITEABLE;
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

static PyObject *
input_value(const struct jy_guard_program *p, PyObject **values, uint32_t input)
{
    return values[p->unit->u_inputs.at[input].source];
}

static bool
size_of(int64_t *out, const struct jy_guard_program *p, PyObject **values, jy_sx e)
{
    const struct jy_sizes *sizes = &p->unit->u_graph->g_sizes;
    const struct jy_sx_node *node = &sizes->exprs.at[e];
    int64_t a, b;

    if (node->op == JY_SX_CONST) {
        *out = node->k;
        return true;
    }
    if (node->op == JY_SX_SYM) {
        const struct jy_symbol *symbol = &sizes->symbols.at[node->k];
        PyObject *object = input_value(p, values, symbol->placeholder);
        int overflow = 0;
        if (object == NULL)
            return false;
        *out = symbol->axis >= 0 ? PyArray_DIM((PyArrayObject *)object, symbol->axis)
                                 : PyLong_AsLongLongAndOverflow(object, &overflow);
        return overflow == 0;
    }
    if (!size_of(&a, p, values, node->a) || !size_of(&b, p, values, node->b))
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
compare_sizes(const struct jy_guard_program *p, PyObject **values, const struct jy_guard *g)
{
    int64_t a, b;
    return size_of(&a, p, values, g->a) && size_of(&b, p, values, g->b) &&
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
    if (PyTuple_CheckExact(object)) {
        int same = PyTuple_GET_SIZE(object) == PyTuple_GET_SIZE(wanted);
        for (Py_ssize_t k = 0; same == 1 && k < PyTuple_GET_SIZE(object); k++)
            same = is_equal(PyTuple_GET_ITEM(object, k), PyTuple_GET_ITEM(wanted, k));
        return same;
    }
    if (PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) || PyLong_CheckExact(object))
        return PyObject_RichCompareBool(object, wanted, Py_EQ);
    return has_same_bits(object, wanted);
}

static int
has_keys(PyObject *object, PyObject *keys)
{
    PyObject *key, *value;
    Py_ssize_t at = 0, k = 0;
    if (!PyDict_CheckExact(object) || PyDict_GET_SIZE(object) != PyTuple_GET_SIZE(keys))
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
    if (PyTuple_CheckExact(object) || PyList_CheckExact(object))
        return Py_SIZE(object) == length;
    return PyDict_CheckExact(object) && PyDict_GET_SIZE(object) == length;
}

/* 1: holds, 0: fails, -1: exception */
static int
check(const struct jy_guard_program *p, PyObject **values, const struct jy_guard *g)
{
    PyObject *value = values[g->source], *object = g->object ? jy_unit_object(p->unit, g->object) : NULL;

    if (value == NULL && g->kind != JY_GUARD_SIZE && g->kind != JY_GUARD_DISJOINT)
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
        return has_keys(value, object);
    case JY_GUARD_CODE:
        return PyFunction_Check(value) && ((PyFunctionObject *)value)->func_code == object &&
               !jy_compat_is_code_watched(object);
    case JY_GUARD_SIZE:
        return compare_sizes(p, values, g);
    case JY_GUARD_DISJOINT:
        return are_disjoint(input_value(p, values, (uint32_t)g->value), input_value(p, values, (uint32_t)g->other));
    case JY_GUARD_SAME:
        return value == values[g->other_source];
    case JY_GUARD_ABSENT:
    case JY_GUARD_COUNT:
        break;
    }
    return 0;
}

/* -- building the program ---------------------------------------------------------------------------------------------------------- */

struct builder {
    struct jy_guard_program *p;
    PyObject *function;
    bool *loaded;
    bool failed;
};

static void
add_step(struct builder *b, struct steps *steps, enum step_kind kind, uint32_t index)
{
    struct step *at = realloc(steps->at, (steps->n + 1) * sizeof(*at));
    if (at == NULL) {
        b->failed = true;
        return;
    }
    steps->at = at;
    steps->at[steps->n++] = (struct step){ .kind = (uint8_t)kind, .index = index };
}

static void
add_dict(struct builder *b, PyObject *dict, PyObject *base)
{
    struct jy_guard_program *p = b->p;
    PyObject *module = PyModule_Check(base) ? base : NULL;
    for (size_t k = 0; k < p->ndicts; k++)
        if (p->dicts[k].dict == dict && (module == NULL || p->dicts[k].module == module))
            return;
    struct dict_version *at = realloc(p->dicts, (p->ndicts + 1) * sizeof(*at));
    if (at == NULL) {
        b->failed = true;
        return;
    }
    p->dicts = at;
    p->dicts[p->ndicts++] = (struct dict_version){ dict, module, 0 };
}

/* The dictionary whose version covers this source, given a fixed base; NULL: the source is not fixed. */
static PyObject *
covering_dict(const struct jy_source *s, PyObject *base, PyObject *name)
{
    PyFunctionObject *f = base != NULL && PyFunction_Check(base) ? (PyFunctionObject *)base : NULL;
    if (s->kind == JY_SOURCE_GLOBAL && f != NULL)
        return f->func_globals;
    if (s->kind == JY_SOURCE_BUILTIN && f != NULL)
        return f->func_builtins;
    if (s->kind == JY_SOURCE_ATTR && base != NULL && PyModule_CheckExact(base) &&
        dict_item(PyModule_GetDict(base), name) != NULL)
        return PyModule_GetDict(base);
    return NULL;
}

static void
need_source(struct builder *b, uint32_t index)
{
    struct jy_guard_program *p = b->p;
    const struct jy_source *s = &p->unit->u_sources.at[index];
    if (b->loaded[index])
        return;
    b->loaded[index] = true;
    if (s->kind == JY_SOURCE_FUNCTION) {
        p->is_fixed[index] = true;
        p->fixed_values[index] = b->function;
        return;
    }
    bool is_slot = s->kind == JY_SOURCE_LOCAL || s->kind == JY_SOURCE_STACK;
    if (!is_slot)
        need_source(b, s->base);
    PyObject *name = s->name ? jy_unit_object(p->unit, s->name) : NULL, *dict = NULL;
    if (!is_slot && p->is_fixed[s->base])
        dict = covering_dict(s, p->fixed_values[s->base], name);
    if (dict == NULL) {
        add_step(b, &p->per_call, STEP_LOAD, index);
        return;
    }
    bool owned;
    p->is_fixed[index] = true;
    p->fixed_values[index] = load(&owned, p, p->fixed_values, b->function, NULL, index);
    add_dict(b, dict, p->fixed_values[s->base]);
    add_step(b, &p->fixed, STEP_LOAD, index);
}

static void
need_symbols(struct builder *b, jy_sx e)
{
    const struct jy_sizes *sizes = &b->p->unit->u_graph->g_sizes;
    const struct jy_sx_node *node = &sizes->exprs.at[e];
    if (node->op == JY_SX_SYM)
        need_source(b, b->p->unit->u_inputs.at[sizes->symbols.at[node->k].placeholder].source);
    else if (node->op != JY_SX_CONST) {
        need_symbols(b, node->a);
        need_symbols(b, node->b);
    }
}

static bool
is_fixed_guard(const struct jy_guard_program *p, const struct jy_guard *g)
{
    if (g->kind == JY_GUARD_TYPE) /* a builtin's instances cannot change their class */
        return p->is_fixed[g->source] &&
               PyType_HasFeature((PyTypeObject *)jy_unit_object(p->unit, g->object), Py_TPFLAGS_IMMUTABLETYPE);
    bool identity =
        g->kind == JY_GUARD_IS || g->kind == JY_GUARD_INT || g->kind == JY_GUARD_EQUALS || g->kind == JY_GUARD_ABSENT;
    return identity && p->is_fixed[g->source];
}

static void
add_guard(struct builder *b, uint32_t index)
{
    struct jy_guard_program *p = b->p;
    const struct jy_guard *g = &p->unit->u_guards.at[index];
    switch ((int)g->kind) {
    case JY_GUARD_SIZE:
        need_symbols(b, g->a);
        need_symbols(b, g->b);
        break;
    case JY_GUARD_DISJOINT:
        need_source(b, p->unit->u_inputs.at[g->value].source);
        need_source(b, p->unit->u_inputs.at[g->other].source);
        break;
    case JY_GUARD_SAME:
        need_source(b, g->other_source);
        need_source(b, g->source);
        break;
    default:
        need_source(b, g->source);
    }
    add_step(b, is_fixed_guard(p, g) ? &p->fixed : &p->per_call, STEP_CHECK, index);
}

static void
stamp_dicts(struct jy_guard_program *p)
{
    for (size_t k = 0; k < p->ndicts; k++)
        p->dicts[k].version = jy_compat_dict_version(p->dicts[k].dict);
}

static bool
is_extent(const struct jy_sx_node **node, const struct jy_guard_program *p, jy_sx e)
{
    const struct jy_sizes *sizes = &p->unit->u_graph->g_sizes;
    *node = &sizes->exprs.at[e];
    return (*node)->op == JY_SX_SYM && sizes->symbols.at[(*node)->k].axis >= 0;
}

static void
specialise_check(struct step *s, const struct jy_guard_program *p, const struct jy_guard *g)
{
    const struct jy_sizes *sizes = &p->unit->u_graph->g_sizes;
    const struct jy_sx_node *a, *b;
    if (g->kind == JY_GUARD_ARRAY && g->array->c_contiguous && !g->array->write_observed) {
        s->kind = STEP_C_ARRAY;
        s->a = g->source;
        s->ndim = g->array->ndim;
        s->number = jy_dtype_info[g->array->dtype].number;
        s->flags = NPY_ARRAY_ALIGNED | NPY_ARRAY_C_CONTIGUOUS | (g->array->writeable ? NPY_ARRAY_WRITEABLE : 0);
    } else if (g->kind == JY_GUARD_SIZE && g->compare == JY_EQ && is_extent(&a, p, g->a) && is_extent(&b, p, g->b)) {
        s->kind = STEP_SAME_EXTENT;
        s->a = p->unit->u_inputs.at[sizes->symbols.at[a->k].placeholder].source;
        s->b = p->unit->u_inputs.at[sizes->symbols.at[b->k].placeholder].source;
        s->axis_a = (uint8_t)sizes->symbols.at[a->k].axis;
        s->axis_b = (uint8_t)sizes->symbols.at[b->k].axis;
    }
}

static void
specialise(struct jy_guard_program *p)
{
    for (size_t k = 0; k < p->per_call.n; k++) {
        struct step *s = &p->per_call.at[k];
        if (s->kind == STEP_CHECK)
            specialise_check(s, p, &p->unit->u_guards.at[s->index]);
        else if (p->unit->u_sources.at[s->index].kind == JY_SOURCE_LOCAL) {
            s->kind = STEP_PARAMETER;
            s->a = p->unit->u_depth + p->unit->u_sources.at[s->index].index;
        }
    }
    for (size_t k = 0; k < p->ninputs; k++)
        p->has_pyint |= p->unit->u_inputs.at[k].kind == JY_KIND_PYINT;
}

struct jy_guard_program *
jy_guards_new(const char **why, const struct jy_unit *unit, PyObject *function)
{
    size_t n = unit->u_sources.n;
    struct jy_guard_program *p = calloc(1, sizeof(*p));
    bool *loaded = calloc(n, sizeof(bool));
    struct builder b = { p, function, loaded, p == NULL || loaded == NULL };

    *why = "no memory";
    if (!b.failed) {
        p->unit = unit;
        p->nsources = n;
        p->ninputs = unit->u_inputs.n;
        p->fixed_values = calloc(n, sizeof(PyObject *));
        p->is_fixed = calloc(n, sizeof(bool));
        b.failed = p->fixed_values == NULL || p->is_fixed == NULL;
    }
    if (!b.failed) {
        for (uint32_t k = 0; k < unit->u_guards.n; k++)
            add_guard(&b, k);
        for (uint32_t k = 0; k < unit->u_inputs.n; k++)
            need_source(&b, unit->u_inputs.at[k].source);
        PyErr_Clear(); /* a key's comparison may have raised; the value then counts as absent */
    }
    free(loaded);
    if (b.failed) {
        jy_guards_free(p);
        return NULL;
    }
    specialise(p);
    return p;
}

void
jy_guards_free(struct jy_guard_program *p)
{
    if (p == NULL)
        return;
    free(p->fixed.at);
    free(p->per_call.at);
    free(p->dicts);
    free(p->fixed_values);
    free(p->is_fixed);
    free(p);
}

/* -- a call ------------------------------------------------------------------------------------------------------------------------ */

static bool
dicts_unchanged(const struct jy_guard_program *p)
{
    for (size_t k = 0; k < p->ndicts; k++)
        if (jy_compat_dict_version(p->dicts[k].dict) != p->dicts[k].version ||
            (p->dicts[k].module != NULL && !PyModule_CheckExact(p->dicts[k].module)))
            return false;
    return true;
}

static enum jy_guard_result
miss(uint32_t *failed, uint32_t guard)
{
    *failed = guard;
    return PyErr_Occurred() ? JY_GUARDS_ERROR : JY_GUARDS_MISS;
}

static enum jy_guard_result
check_fixed(struct jy_guard_program *p, PyObject *function, uint32_t *failed)
{
    bool owned;
    for (size_t k = 0; k < p->fixed.n; k++) {
        struct step s = p->fixed.at[k];
        if (s.kind == STEP_LOAD)
            p->fixed_values[s.index] = load(&owned, p, p->fixed_values, function, NULL, s.index);
        else if (check(p, p->fixed_values, &p->unit->u_guards.at[s.index]) != 1)
            return miss(failed, s.index);
    }
    stamp_dicts(p);
    return JY_GUARDS_HOLD;
}

static inline bool
is_c_array(PyObject *value, const struct step *s)
{
    if (value == NULL || !PyArray_CheckExact(value))
        return false;
    PyArrayObject *array = (PyArrayObject *)value;
    PyArray_Descr *descr = PyArray_DESCR(array);
    return descr->type_num == s->number && PyArray_NDIM(array) == s->ndim && PyDataType_ISNOTSWAPPED(descr) &&
           (PyArray_FLAGS(array) & s->flags) == s->flags &&
           (s->ndim != 1 || PyArray_STRIDE(array, 0) >= 0); /* as fits_array */
}

static inline bool
has_same_extent(PyObject *a, PyObject *b, const struct step *s)
{
    return PyArray_DIM((PyArrayObject *)a, s->axis_a) == PyArray_DIM((PyArrayObject *)b, s->axis_b);
}

static enum jy_guard_result
load_value(struct jy_guard_values *out, struct jy_guard_program *p, PyObject *function, PyObject *const *slots,
           uint32_t source)
{
    bool owned;
    PyObject *value = out->values[source] = load(&owned, p, out->values, function, slots, source);
    if (value == NULL && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError) && !PyErr_ExceptionMatches(PyExc_KeyError))
            return JY_GUARDS_ERROR;
        PyErr_Clear();
    }
    if (value != NULL && owned)
        out->owned[out->nowned++] = value;
    return JY_GUARDS_HOLD;
}

static inline enum jy_guard_result
step(struct jy_guard_values *out, struct jy_guard_program *p, PyObject *function, PyObject *const *slots,
     const struct step *s)
{
    bool holds = false;
    switch ((enum step_kind)s->kind) {
    case STEP_PARAMETER:
        out->values[s->index] = slots[s->a];
        return JY_GUARDS_HOLD;
    case STEP_LOAD:
        return load_value(out, p, function, slots, s->index);
    case STEP_C_ARRAY:
        holds = is_c_array(out->values[s->a], s);
        break;
    case STEP_SAME_EXTENT: /* their ARRAY guards stand before it */
        holds = has_same_extent(out->values[s->a], out->values[s->b], s);
        break;
    case STEP_CHECK:
        holds = check(p, out->values, &p->unit->u_guards.at[s->index]) == 1;
        break;
    }
    return holds ? JY_GUARDS_HOLD : JY_GUARDS_MISS;
}

static inline bool
fill_inputs(struct jy_guard_values *out, const struct jy_guard_program *p)
{
    const struct jy_input *inputs = p->unit->u_inputs.at;
    for (size_t k = 0; k < p->ninputs; k++)
        if ((out->inputs[k] = out->values[inputs[k].source]) == NULL)
            return false;
    for (size_t k = 0; p->has_pyint && k < p->ninputs; k++) {
        int overflow = 0;
        if (inputs[k].kind == JY_KIND_PYINT && (PyLong_AsLongLongAndOverflow(out->inputs[k], &overflow), overflow != 0))
            return false;
    }
    return true;
}

size_t
jy_guards_room(const struct jy_guard_program *p)
{
    return (2 * p->nsources + p->ninputs) * sizeof(PyObject *);
}

enum jy_guard_result
jy_guards_check(struct jy_guard_values *out, void *room, struct jy_guard_program *p, PyObject *function,
                PyObject *const *slots, uint32_t *failed)
{
    out->values = room;
    out->inputs = out->values + p->nsources;
    out->owned = out->inputs + p->ninputs;
    out->nowned = 0;
    *failed = NO_GUARD;

    if (!dicts_unchanged(p)) {
        enum jy_guard_result result = check_fixed(p, function, failed);
        if (result != JY_GUARDS_HOLD)
            return result;
    }
    for (size_t k = 0; k < p->nsources; k++)
        out->values[k] = p->fixed_values[k];
    for (const struct step *s = p->per_call.at, *end = s + p->per_call.n; s < end; s++) {
        enum jy_guard_result result = step(out, p, function, slots, s);
        if (result != JY_GUARDS_HOLD)
            return result == JY_GUARDS_MISS ? miss(failed, s->index) : result;
    }
    return fill_inputs(out, p) ? JY_GUARDS_HOLD : miss(failed, NO_GUARD);
}

bool
jy_guards_fit_inputs(const struct jy_unit *unit, PyObject *const *inputs)
{
    struct jy_guard_program p = { .unit = unit };
    PyObject **values = calloc(unit->u_sources.n, sizeof(*values));
    bool fit = values != NULL;
    for (size_t k = 0; fit && k < unit->u_inputs.n; k++) {
        const struct jy_input *input = &unit->u_inputs.at[k];
        values[input->source] = inputs[k];
        fit = (input->kind != JY_KIND_ARRAY || PyArray_CheckExact(inputs[k])) &&
              (input->kind != JY_KIND_PYINT || PyLong_CheckExact(inputs[k]));
    }
    for (size_t k = 0; fit && k < unit->u_guards.n; k++) {
        const struct jy_guard *g = &unit->u_guards.at[k];
        bool concerns = g->kind == JY_GUARD_SIZE || g->kind == JY_GUARD_DISJOINT ||
                        (g->kind == JY_GUARD_ARRAY && values[g->source] != NULL);
        fit = !concerns || check(&p, values, g) == 1;
    }
    free(values);
    return fit;
}
