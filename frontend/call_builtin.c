/* Calls of Python's own callables: a row of builtins.def each, and pure C functions (math, parts of builtins) on constants.
 *
 * A value whose number is not known stays symbolic where Python gives a number back (abs, float, bool) and pins or breaks where structure depends on it.
 * min, max, sum, all, any run as loops over known items with the very comparisons and additions that Python makes, in its order. */
#include "frontend/number.h"

#include <string.h>

typedef jy_status builtin(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args,
                          PyObject *kwnames);

static jy_status
unknown(struct jy_frame *f, const char *name, const struct jy_value *v)
{
    return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s(%s)", name, jy_value_describe(f, v));
}

static struct jy_value *
boolean(struct jy_frame *f, bool truth)
{
    return jy_value_const(f, truth ? Py_True : Py_False);
}

/* The only keyword that a function takes, or its position; NULL: not given. *bad: another keyword is there. */
static struct jy_value *
keyword(bool *bad, const char *name, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *found = NULL;
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), name) == 0)
            found = args[n + (size_t)i];
        else
            *bad = true;
    }
    return found;
}

/* ---- numbers ---- */

static jy_status
call_abs(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return jy_unary(f, out, JY_UNARY_ABS, args[0]);
}

static jy_status
call_divmod(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    struct jy_value *parts[2];
    if (args[0]->v_kind == JY_V_ARRAY || args[1]->v_kind == JY_V_ARRAY)
        return unknown(f, "divmod", args[0]);
    TRY(jy_binary(f, &parts[0], JY_NB_FLOOR_DIVIDE, false, args[0], args[1]));
    TRY(jy_binary(f, &parts[1], JY_NB_REMAINDER, false, args[0], args[1]));
    *out = jy_value_seq(f, JY_V_TUPLE, 2, parts);
    return JY_OK;
}

static jy_status
call_pow(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (n == 3)
        return unknown(f, "pow with a modulus", args[2]);
    return jy_binary(f, out, JY_NB_POWER, false, args[0], args[1]);
}

static bool
is_zero_dim(const struct jy_value *v)
{
    return (v->v_kind == JY_V_ARRAY && v->u.array.ndim == 0) || v->v_kind == JY_V_SCALAR;
}

static jy_status
cast(struct jy_frame *f, struct jy_value **out, jy_dtype dtype, enum jy_kind kind, struct jy_value *v)
{
    jy_ref node;
    TRY(jy_value_node(f, &node, v));
    *out = jy_value_of_node(f, jy_graph_cast(f->f_trace->graph, dtype, kind, node));
    return JY_OK;
}

static jy_status
construct(struct jy_frame *f, struct jy_value **out, PyTypeObject *type, size_t n, struct jy_value *const *args)
{
    PyObject *objects = jy_hold(f, jy_value_as_object(f, jy_value_seq(f, JY_V_TUPLE, n, args)));
    if (objects == NULL || !jy_value_is_plain(f, objects))
        return unknown(f, type->tp_name, n != 0 ? args[0] : jy_value_const(f, Py_None));
    return jy_take(f, out, PyObject_Call((PyObject *)type, objects, NULL));
}

static jy_status
call_float(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (n == 1)
        TRY(jy_value_realize(f, args[0]));
    if (n == 0 || !is_zero_dim(args[0]))
        return construct(f, out, &PyFloat_Type, n, args);
    if (args[0]->v_kind == JY_V_SCALAR && args[0]->u.scalar.kind == JY_KIND_PYFLOAT) {
        *out = args[0];
        return JY_OK;
    }
    return cast(f, out, JY_F64, JY_KIND_PYFLOAT, args[0]);
}

static jy_status
call_int(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    bool baked = false;
    if (n >= 1)
        TRY(jy_value_realize(f, args[0]));
    if (n == 1 && args[0]->v_kind == JY_V_SCALAR && args[0]->u.scalar.has_size) {
        *out = args[0];
        return JY_OK;
    }
    if (n == 1 && is_zero_dim(args[0])) {
        jy_dtype dtype = args[0]->v_kind == JY_V_ARRAY ? args[0]->u.array.dtype : args[0]->u.scalar.dtype;
        if (!jy_dtype_is_float(dtype))
            return cast(f, out, JY_I64, JY_KIND_PYINT, args[0]);
        if (args[0]->v_kind == JY_V_SCALAR)
            TRY(jy_value_bake(f, &baked, args[0]));
        if (!baked)
            return jy_break(f, JY_BREAK_SCALAR_OP, "int(%s), which may raise", jy_value_describe(f, args[0]));
    }
    return construct(f, out, &PyLong_Type, n, args);
}

static jy_status
call_bool(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    bool truth = false;
    if (n == 1)
        TRY(jy_value_realize(f, args[0]));
    if (n == 1 && args[0]->v_kind == JY_V_SCALAR && args[0]->u.scalar.kind == JY_KIND_PYBOOL) {
        *out = args[0];
        return JY_OK;
    }
    if (n == 1 && is_zero_dim(args[0]) && (args[0]->v_kind == JY_V_ARRAY || args[0]->v_source == JY_NO_SOURCE) &&
        !(args[0]->v_kind == JY_V_SCALAR && args[0]->u.scalar.has_size))
        return cast(f, out, JY_BOOL, JY_KIND_PYBOOL, args[0]);
    if (n == 1)
        TRY(jy_value_truth(f, &truth, args[0]));
    *out = boolean(f, truth);
    return JY_OK;
}

/* ---- reductions over known items ---- */

static jy_status
all_any(struct jy_frame *f, struct jy_value **out, struct jy_value *v, bool stop_at)
{
    struct jy_value *it, *item;
    bool truth;
    TRY(jy_iter(f, &it, v));
    for (;;) {
        TRY(jy_iter_next(f, &item, it));
        if (item == NULL)
            break;
        TRY(jy_value_truth(f, &truth, item));
        if (truth == stop_at) {
            *out = boolean(f, stop_at);
            return JY_OK;
        }
    }
    *out = boolean(f, !stop_at);
    return JY_OK;
}

static jy_status
call_all(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return all_any(f, out, args[0], false);
}

static jy_status
call_any(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return all_any(f, out, args[0], true);
}

static jy_status
extreme(struct jy_frame *f, struct jy_value **out, enum jy_compare op, size_t n, struct jy_value *const *args)
{
    struct jy_value *it, *item, *best = NULL, *verdict;
    bool better;
    TRY(jy_iter(f, &it, n == 1 ? args[0] : jy_value_seq(f, JY_V_TUPLE, n, args)));
    for (;;) {
        TRY(jy_iter_next(f, &item, it));
        if (item == NULL)
            break;
        better = true;
        if (best != NULL) {
            TRY(jy_compare_values(f, &verdict, op, item, best));
            TRY(jy_value_truth(f, &better, verdict));
        }
        best = better ? item : best;
    }
    if (best == NULL)
        return jy_break(f, JY_BREAK_RAISES, "min or max of nothing");
    *out = best;
    return JY_OK;
}

static jy_status
call_min(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    return extreme(f, out, JY_LT, n, args);
}

static jy_status
call_max(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    return extreme(f, out, JY_GT, n, args);
}

static void
mark_temporary(struct jy_frame *f, struct jy_value *v)
{
    if (v->v_kind == JY_V_ARRAY)
        v->v_temporary = v->v_source == JY_NO_SOURCE && v->u.array.storage->fresh && v->u.array.view == NULL &&
                         jy_frame_references(f, v) == 0;
}

/* Python's own floats are summed with compensation on some versions: only known ones, by the real function. */
static jy_status
call_sum(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    bool bad = false, known = true, floats = false;
    struct jy_value *start = keyword(&bad, "start", n, args, kwnames), *all, *total;
    start = n == 2 ? args[1] : start != NULL ? start : jy_value_const_take(f, PyLong_FromLong(0));
    if (bad || start == NULL)
        return unknown(f, "sum", args[0]);
    TRY(jy_value_realize(f, start));
    TRY(jy_iter_collect(f, &all, JY_V_TUPLE, args[0]));
    for (size_t i = 0; i <= all->u.seq.n; i++) {
        struct jy_value *v = i < all->u.seq.n ? all->u.seq.at[i] : start;
        TRY(jy_value_realize(f, v));
        known = known && v->v_kind == JY_V_CONST && jy_value_is_plain(f, v->v_object);
        floats = floats || (v->v_kind == JY_V_SCALAR && v->u.scalar.kind == JY_KIND_PYFLOAT) ||
                 (v->v_kind == JY_V_CONST && PyFloat_CheckExact(v->v_object));
    }
    if (known) {
        PyObject *items = jy_hold(f, jy_value_as_object(f, all)),
                 *function = PyDict_GetItemString(f->f_builtins, "sum");
        if (items == NULL || function == NULL)
            return unknown(f, "sum", args[0]);
        return jy_take(f, out, PyObject_CallFunctionObjArgs(function, items, start->v_object, NULL));
    }
    if (floats)
        return jy_break(f, JY_BREAK_SCALAR_OP, "sum() of Python floats that are not all known");
    total = start;
    for (size_t i = 0; i < all->u.seq.n; i++) {
        mark_temporary(f, total);
        mark_temporary(f, all->u.seq.at[i]);
        TRY(jy_binary(f, &total, JY_NB_ADD, false, total, all->u.seq.at[i]));
    }
    *out = total;
    return JY_OK;
}

static jy_status
call_len(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return jy_length(f, out, args[0]);
}

/* ---- containers ---- */

static jy_status
call_tuple(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (n == 0) {
        *out = jy_value_seq(f, JY_V_TUPLE, 0, NULL);
        return JY_OK;
    }
    TRY(jy_value_realize(f, args[0]));
    if (args[0]->v_kind != JY_V_TUPLE && !(args[0]->v_kind == JY_V_CONST && PyTuple_CheckExact(args[0]->v_object)))
        return jy_iter_collect(f, out, JY_V_TUPLE, args[0]);
    *out = args[0];
    return JY_OK;
}

static jy_status
call_list(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (n == 1)
        return jy_iter_collect(f, out, JY_V_LIST, args[0]);
    *out = jy_value_seq(f, JY_V_LIST, 0, NULL);
    return JY_OK;
}

static jy_status
call_set(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    struct jy_value *items = jy_value_seq(f, JY_V_TUPLE, 0, NULL), *set = jy_value_seq(f, JY_V_SET, 0, NULL), *none;
    PyObject *add = jy_hold(f, PyUnicode_InternFromString("add"));
    if (add == NULL)
        return JY_ERROR;
    if (n == 1)
        TRY(jy_iter_collect(f, &items, JY_V_TUPLE, args[0]));
    for (size_t i = 0; i < items->u.seq.n; i++)
        TRY(jy_call_method(f, &none, set, add, 1, &items->u.seq.at[i], NULL));
    *out = set;
    return JY_OK;
}

/* dict(), dict(mapping), dict(pairs), dict(name=value) */
static jy_status
call_dict(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *dict = jy_value_seq(f, JY_V_DICT, 0, NULL), *pairs = jy_value_seq(f, JY_V_TUPLE, 0, NULL), **pair;
    size_t two;
    if (n == 1) {
        TRY(jy_value_realize(f, args[0]));
        struct jy_value *v = args[0];
        if (v->v_kind == JY_V_DICT) {
            v = jy_value_new(f, JY_V_DICTVIEW);
            v->u.iter.sequence = args[0];
            v->u.iter.position = 2;
        }
        TRY(jy_iter_collect(f, &pairs, JY_V_TUPLE, v));
    }
    for (size_t i = 0; i < pairs->u.seq.n; i++) {
        TRY(jy_value_items(f, &pair, &two, pairs->u.seq.at[i]));
        if (pair == NULL || two != 2)
            return unknown(f, "dict", args[0]);
        TRY(jy_dict_set(f, dict, pair[0], pair[1]));
    }
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++)
        TRY(jy_dict_set(f, dict, jy_value_const(f, PyTuple_GET_ITEM(kwnames, i)), args[n + (size_t)i]));
    *out = dict;
    return JY_OK;
}

static jy_status
call_sorted(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    struct jy_value *all;
    TRY(jy_iter_collect(f, &all, JY_V_TUPLE, args[0]));
    PyObject *items = jy_hold(f, jy_value_as_object(f, all));
    if (items == NULL || !jy_value_is_plain(f, items))
        return unknown(f, "sorted", args[0]);
    PyObject *sorted = jy_hold(f, PySequence_List(items));
    if (sorted == NULL || PyList_Sort(sorted) < 0)
        return jy_break_from_exception(f, JY_BREAK_RAISES);
    *out = jy_value_seq(f, JY_V_LIST, 0, NULL);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(sorted); i++)
        jy_seq_append(f, *out, jy_value_const(f, PyList_GET_ITEM(sorted, i)));
    return JY_OK;
}

static jy_status
call_slice(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    *out = jy_value_new(f, JY_V_SLICE);
    (*out)->u.range.start = n == 1 ? NULL : args[0];
    (*out)->u.range.stop = n == 1 ? args[0] : args[1];
    (*out)->u.range.step = n == 3 ? args[2] : NULL;
    return JY_OK;
}

static jy_status
call_range(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    bool ok;
    jy_sx size;
    for (size_t i = 0; i < n; i++) {
        TRY(jy_value_as_size(f, &size, &ok, args[i]));
        if (!ok) {
            int64_t k; /* NumPy ints count as well; what is no int breaks */
            TRY(jy_value_index(f, &k, args[i]));
        }
    }
    *out = jy_value_new(f, JY_V_RANGE);
    (*out)->u.range.start = n == 1 ? jy_value_const_take(f, PyLong_FromLong(0)) : args[0];
    (*out)->u.range.stop = n == 1 ? args[0] : args[1];
    (*out)->u.range.step = n == 3 ? args[2] : jy_value_const_take(f, PyLong_FromLong(1));
    return (*out)->u.range.start != NULL && (*out)->u.range.step != NULL ? JY_OK : JY_ERROR;
}

/* ---- iterators ---- */

static jy_status
make_iter(struct jy_frame *f, struct jy_value **out, enum jy_iter_how how, size_t n, struct jy_value *const *args)
{
    struct jy_value *it = jy_value_new(f, JY_V_ITER);
    it->u.iter.how = (uint8_t)how;
    it->u.iter.nparts = n;
    it->u.iter.parts = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, n + 1);
    for (size_t i = 0; i < n; i++)
        TRY(jy_iter(f, &it->u.iter.parts[i], args[i]));
    *out = it;
    return JY_OK;
}

static jy_status
call_iter(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return jy_iter(f, out, args[0]);
}

static jy_status
call_next(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (args[0]->v_kind != JY_V_ITER)
        return unknown(f, "next", args[0]);
    TRY(jy_iter_next(f, out, args[0]));
    if (*out == NULL && n == 1)
        return jy_break(f, JY_BREAK_RAISES, "next() of an exhausted iterator");
    *out = *out != NULL ? *out : args[1];
    return JY_OK;
}

static jy_status
call_zip(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    bool bad = false, strict = false;
    struct jy_value *v = keyword(&bad, "strict", n, args, kwnames);
    if (v != NULL)
        TRY(jy_value_truth(f, &strict, v));
    if (bad)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords of zip()");
    TRY(make_iter(f, out, JY_ITER_ZIP, n, args));
    (*out)->u.iter.strict = strict;
    return JY_OK;
}

static jy_status
call_enumerate(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    bool bad = false;
    int64_t start = 0;
    struct jy_value *v = keyword(&bad, "start", n, args, kwnames);
    v = n == 2 ? args[1] : v;
    if (v != NULL)
        TRY(jy_value_index(f, &start, v));
    if (bad)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords of enumerate()");
    TRY(make_iter(f, out, JY_ITER_ENUMERATE, 1, args));
    (*out)->u.iter.position = (size_t)start;
    return JY_OK;
}

static jy_status
call_map(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    TRY(make_iter(f, out, JY_ITER_MAP, n - 1, args + 1));
    (*out)->u.iter.sequence = args[0];
    return JY_OK;
}

static jy_status
call_filter(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    TRY(jy_value_realize(f, args[0]));
    TRY(make_iter(f, out, JY_ITER_FILTER, 1, args + 1));
    (*out)->u.iter.sequence = args[0];
    return JY_OK;
}

static jy_status
call_reversed(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    struct jy_value *v = args[0], *length;
    int64_t count;
    TRY(jy_value_realize(f, v));
    if (v->v_kind != JY_V_TUPLE && v->v_kind != JY_V_LIST && v->v_kind != JY_V_RANGE && v->v_kind != JY_V_ARRAY)
        return unknown(f, "reversed", v);
    TRY(jy_length(f, &length, v));
    TRY(jy_value_index(f, &count, length));
    TRY(make_iter(f, out, JY_ITER_REVERSED, 0, NULL));
    (*out)->u.iter.sequence = v;
    (*out)->u.iter.position = (size_t)count;
    return JY_OK;
}

/* ---- objects ---- */

/* The exact type of a value; NULL: not known. */
static PyTypeObject *
type_of(struct jy_frame *f, struct jy_value *v)
{
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_CONST:
    case JY_V_CALLABLE:
    case JY_V_MODULE:
        return Py_TYPE(v->v_object);
    case JY_V_ARRAY:
        return (PyTypeObject *)f->f_trace->ndarray;
    case JY_V_SCALAR:
        switch ((enum jy_kind)v->u.scalar.kind) {
        case JY_KIND_PYFLOAT:
            return &PyFloat_Type;
        case JY_KIND_PYINT:
            return &PyLong_Type;
        case JY_KIND_PYBOOL:
            return &PyBool_Type;
        case JY_KIND_NPSCALAR:
        case JY_KIND_ARRAY:
            return v->v_object != NULL ? Py_TYPE(v->v_object) : NULL;
        }
        return NULL;
    case JY_V_TUPLE:
        return &PyTuple_Type;
    case JY_V_LIST:
        return &PyList_Type;
    case JY_V_DICT:
        return &PyDict_Type;
    case JY_V_SET:
        return &PySet_Type;
    case JY_V_RANGE:
        return &PyRange_Type;
    case JY_V_SLICE:
        return &PySlice_Type;
    case JY_V_FUNCTION:
        return &PyFunction_Type;
    case JY_V_METHOD:
        return v->u.func.function != NULL ? &PyMethod_Type : NULL;
    case JY_V_OPAQUE:
        jy_guard_type(f, v->v_source, Py_TYPE(v->v_object));
        return Py_TYPE(v->v_object);
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_ITER:
    case JY_V_CELL:
    case JY_V_DICTVIEW:
    case JY_V_HANDLED:
    case JY_V_EXCEPTION:
    case JY_V_INSTANCE:
    case JY_V_PARTIAL:
        return NULL;
    }
    return NULL;
}

/* NumPy's type for a computed scalar. */
static PyTypeObject *
numpy_type(struct jy_frame *f, struct jy_value *v)
{
    PyObject *name = jy_hold(f, PyUnicode_FromString("numpy"));
    PyObject *numpy = name != NULL ? jy_hold(f, PyImport_GetModule(name)) : NULL;
    PyObject *type =
        numpy != NULL
            ? jy_hold(f, PyObject_GetAttrString(
                             numpy, v->u.scalar.dtype == JY_BOOL ? "bool_" : jy_dtype_info[v->u.scalar.dtype].text))
            : NULL;
    PyErr_Clear();
    return type != NULL && PyType_Check(type) ? (PyTypeObject *)type : NULL;
}

static jy_status
known_type(struct jy_frame *f, PyTypeObject **out, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    *out = type_of(f, v);
    if (*out == NULL && v->v_kind == JY_V_SCALAR)
        *out = numpy_type(f, v);
    return *out != NULL ? JY_OK : unknown(f, "type", v);
}

static jy_status
call_type(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    PyTypeObject *type;
    TRY(known_type(f, &type, args[0]));
    *out = jy_value_callable(f, (PyObject *)type, JY_NO_SOURCE);
    return JY_OK;
}

/* Only classes whose metaclass is `type` itself: others may have __instancecheck__. */
static jy_status
is_instance(struct jy_frame *f, bool *out, PyTypeObject *type, struct jy_value *of)
{
    struct jy_value **items;
    size_t n;
    TRY(jy_value_realize(f, of));
    PyObject *object = jy_value_known(of);
    if (object != NULL && PyType_Check(object) && (Py_IS_TYPE(object, &PyType_Type) || object == (PyObject *)type)) {
        *out = *out || PyType_IsSubtype(type, (PyTypeObject *)object);
        return JY_OK;
    }
    if (of->v_kind != JY_V_TUPLE && !(object != NULL && PyTuple_CheckExact(object)))
        return unknown(f, "isinstance", of);
    TRY(jy_value_items(f, &items, &n, of));
    for (size_t i = 0; i < n; i++)
        TRY(is_instance(f, out, type, items[i]));
    return JY_OK;
}

/* Does the object, rather than its type, answer `__class__`? */
static bool
has_own_class(struct jy_frame *f, struct jy_value *v, PyTypeObject *type)
{
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("__class__"));
    if (v->v_kind == JY_V_CALLABLE && jy_is_dispatcher(v->v_object))
        return true;
    return name == NULL || type->tp_getattro == NULL ||
           _PyType_Lookup(type, name) != _PyType_Lookup(&PyBaseObject_Type, name) ||
           (v->v_kind == JY_V_OPAQUE && type->tp_getattro != PyObject_GenericGetAttr);
}

static jy_status
call_isinstance(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    PyTypeObject *type;
    bool answer = false;
    TRY(known_type(f, &type, args[0]));
    if (has_own_class(f, args[0], type)) /* which may lie */
        return unknown(f, "isinstance", args[0]);
    TRY(is_instance(f, &answer, type, args[1]));
    *out = boolean(f, answer);
    return JY_OK;
}

static jy_status
call_callable_(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    PyTypeObject *type;
    TRY(jy_value_realize(f, args[0]));
    if (args[0]->v_kind == JY_V_METHOD) {
        *out = boolean(f, true);
        return JY_OK;
    }
    if (args[0]->v_kind == JY_V_OPAQUE) /* its class may come to have a __call__, or lose it */
        return unknown(f, "callable", args[0]);
    TRY(known_type(f, &type, args[0]));
    *out = boolean(f, type->tp_call != NULL);
    return JY_OK;
}

static jy_status
get_name(struct jy_frame *f, PyObject **out, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    *out = v->v_kind == JY_V_CONST && PyUnicode_CheckExact(v->v_object) ? v->v_object : NULL;
    return *out != NULL ? JY_OK : unknown(f, "getattr", v);
}

/* Whether a plain object has an attribute; its absence cannot change. */
static jy_status
has_attribute(struct jy_frame *f, bool *out, struct jy_value *v, PyObject *name)
{
    PyTypeObject *type;
    TRY(jy_value_realize(f, v));
    if (v->v_kind == JY_V_MODULE && PyModule_CheckExact(v->v_object)) {
        *out = PyDict_Contains(PyModule_GetDict(v->v_object), name) == 1;
        struct jy_value *attribute;
        return *out ? jy_getattr(f, &attribute, v, name) : unknown(f, "hasattr of what is absent", v);
    }
    TRY(known_type(f, &type, v));
    if (v->v_kind == JY_V_OPAQUE || v->v_kind == JY_V_FUNCTION || v->v_kind == JY_V_CALLABLE)
        return unknown(f, "hasattr", v);
    *out = _PyType_Lookup(type, name) != NULL;
    return JY_OK;
}

static jy_status
call_hasattr(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    PyObject *name;
    bool has;
    TRY(get_name(f, &name, args[1]));
    TRY(has_attribute(f, &has, args[0], name));
    *out = boolean(f, has);
    return JY_OK;
}

static jy_status
call_getattr(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    PyObject *name;
    bool has = true;
    TRY(get_name(f, &name, args[1]));
    TRY(jy_value_realize(f, args[0]));
    if (n == 3 && args[0]->v_kind != JY_V_OPAQUE)
        TRY(has_attribute(f, &has, args[0], name));
    if (has)
        return jy_getattr(f, out, args[0], name);
    *out = args[2];
    return JY_OK;
}

/* ---- the tables ---- */

static const struct row {
    const char *name;
    PyTypeObject *type;
    builtin *call;
    uint8_t least, most;
} rows[] = {
#define FUNCTION(name, handler, least, most) { #name, NULL, handler, least, most },
#define TYPE(type, handler, least, most) { #type, &type, handler, least, most },
#define OPERATOR(name, op)
#define UNARY(name, op)
#define COMPARE(name, op)
#include "frontend/builtins.def"
};

static const struct operator_row {
    const char *name;
    uint8_t nargs, which, op; /* which: 0 binary, 1 unary, 2 comparison */
} operators[] = {
#define FUNCTION(name, handler, least, most)
#define TYPE(type, handler, least, most)
#define OPERATOR(name, op) { #name, 2, 0, op },
#define UNARY(name, op) { #name, 1, 1, op },
#define COMPARE(name, op) { #name, 2, 2, op },
#include "frontend/builtins.def"
};

static bool
takes_keywords(const struct row *row)
{
    return row->call == call_sum || row->call == call_zip || row->call == call_enumerate || row->call == call_dict;
}

static jy_status
call_row(struct jy_frame *f, struct jy_value **out, const struct row *row, size_t n, struct jy_value *const *args,
         PyObject *kwnames)
{
    if (n < row->least || n > row->most)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu arguments for %s", n, row->name);
    if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0 && !takes_keywords(row))
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords for %s", row->name);
    for (size_t i = 0; i < n; i++)
        TRY(jy_value_realize(f, args[i]));
    return row->call(f, out, n, args, kwnames);
}

static jy_status
call_operator(struct jy_frame *f, struct jy_value **out, const struct operator_row *row, size_t n,
              struct jy_value *const *args)
{
    if (n != row->nargs)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu arguments for operator.%s", n, row->name);
    for (size_t i = 0; i < n; i++)
        mark_temporary(f, args[i]);
    if (row->which == 1)
        return jy_unary(f, out, (enum jy_unary)row->op, args[0]);
    if (row->which == 2)
        return jy_compare_values(f, out, (enum jy_compare)row->op, args[0], args[1]);
    return jy_binary(f, out, (enum jy_nb)row->op, false, args[0], args[1]);
}

static const char *
module_of(PyObject *function)
{
    PyObject *module = ((PyCFunctionObject *)function)->m_module;
    const char *name = module != NULL && PyUnicode_Check(module) ? jy_utf8(module) : NULL;
    return name != NULL ? name : "";
}

/* C functions that only look at their arguments and finish soon. */
static bool
is_pure(const char *module, const char *name)
{
    static const char *const of_builtins[] = { "ascii", "bin", "chr", "format", "hex", "oct", "ord", "repr", "round" };
    static const char *const slow_of_math[] = { "factorial", "comb", "perm" };
    bool math = strcmp(module, "math") == 0;
    for (size_t i = 0; math && i < sizeof slow_of_math / sizeof *slow_of_math; i++)
        if (strcmp(slow_of_math[i], name) == 0)
            return false;
    for (size_t i = 0; strcmp(module, "builtins") == 0 && i < sizeof of_builtins / sizeof *of_builtins; i++)
        if (strcmp(of_builtins[i], name) == 0)
            return true;
    return math;
}

static jy_status
call_pure(struct jy_frame *f, struct jy_value **out, PyObject *function, size_t n, struct jy_value *const *args,
          PyObject *kwnames)
{
    const char *name = ((PyCFunctionObject *)function)->m_ml->ml_name;
    bool known;
    if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords for %s", name);
    for (size_t i = 0; i < n; i++) {
        TRY(jy_value_realize(f, args[i]));
        TRY(jy_value_bake(f, &known, args[i]));
        if (!known && args[i]->v_kind == JY_V_SCALAR)
            return jy_break(f, JY_BREAK_SCALAR_OP, "%s(%s)", name, jy_value_describe(f, args[i]));
    }
    PyObject *objects = jy_hold(f, jy_value_as_object(f, jy_value_seq(f, JY_V_TUPLE, n, args)));
    if (objects == NULL || !jy_value_is_plain(f, objects))
        return unknown(f, name, n != 0 ? args[0] : jy_value_const(f, Py_None));
    PyObject *result = jy_hold(f, PyObject_Call(function, objects, NULL));
    if (result == NULL)
        return jy_break_from_exception(f, JY_BREAK_RAISES);
    if (!jy_value_is_plain(f, result))
        return unknown(f, name, args[0]);
    *out = jy_value_const(f, result);
    return JY_OK;
}

static jy_status
call_function(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *function, size_t n,
              struct jy_value *const *args, PyObject *kwnames)
{
    const char *module = module_of(function), *name = ((PyCFunctionObject *)function)->m_ml->ml_name;
    *handled = true;
    for (size_t i = 0; strcmp(module, "builtins") == 0 && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == NULL && strcmp(rows[i].name, name) == 0)
            return call_row(f, out, &rows[i], n, args, kwnames);
    for (size_t i = 0; strcmp(module, "_operator") == 0 && i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i].name, name) == 0)
            return call_operator(f, out, &operators[i], n, args);
    if (is_pure(module, name))
        return call_pure(f, out, function, n, args, kwnames);
    *handled = false;
    return JY_OK;
}

jy_status
jy_call_builtin(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
                struct jy_value *const *args, PyObject *kwnames)
{
    if (PyCFunction_CheckExact(callable))
        return call_function(f, out, handled, callable, nargs, args, kwnames);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].type != NULL && (PyObject *)rows[i].type == callable) {
            *handled = true;
            return call_row(f, out, &rows[i], nargs, args, kwnames);
        }
    }
    if (callable == (PyObject *)&PyUnicode_Type && nargs == 1 && kwnames == NULL) {
        *handled = true;
        TRY(jy_value_realize(f, args[0]));
        return construct(f, out, &PyUnicode_Type, nargs, args);
    }
    return JY_OK;
}
