/* Reductions: sum, prod, min, max, any, all, and what is composed of them (mean, var, std); argmin, argmax and running sums by NumPy itself.
 *
 * Sums of floats keep NumPy's order, which lowering derives from the operand's layout. Integers and bools are widened to int64 first, where order does not matter. The mean
 * of integers is a sum of float64 that NumPy makes through its cast buffer, piece by piece: that sum is NumPy's own call. */
#include "frontend/np_internal.h"

struct reduction {
    struct jy_value *array;
    uint32_t axes;
    bool keepdims;
};

enum { ARRAY, AXIS, DTYPE, OUT, KEEPDIMS, NSLOTS };

/* The common parameters. */
static jy_status
read_arguments(struct jy_frame *f, struct reduction *out, struct jy_value **slots, const char *function)
{
    out->array = slots[ARRAY];
    TRY(jy_np_array_arg(f, function, out->array));
    if (out->array->u.array.ndim == 0)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of a 0-d array", function);
    TRY(jy_np_axes_arg(f, &out->axes, slots[AXIS], out->array->u.array.ndim));
    TRY(jy_np_flag(f, &out->keepdims, slots[KEEPDIMS], false));
    return jy_np_given(slots[OUT]) ? jy_break(f, JY_BREAK_NUMPY_CALL, "%s with out=", function) : JY_OK;
}

static bool
folds_all(const struct jy_value *array, uint32_t axes)
{
    return axes == (1u << array->u.array.ndim) - 1;
}

/* Elements per result element. */
static jy_sx
count_of(struct jy_frame *f, const struct jy_value *array, uint32_t axes)
{
    jy_sx count = 1;
    for (size_t d = 0; d < array->u.array.ndim; d++)
        if (axes >> d & 1)
            count = jy_sizes_binary(&f->f_trace->graph->g_sizes, JY_SX_MUL, count, array->u.array.shape[d]);
    return count;
}

static jy_status
check_not_empty(struct jy_frame *f, const struct jy_value *array, uint32_t axes, const char *what)
{
    for (size_t d = 0; d < array->u.array.ndim; d++)
        if ((axes >> d & 1) != 0 && !jy_guard_size(f, array->u.array.shape[d], JY_GT, 0))
            return jy_break(f, JY_BREAK_RAISES, "%s of nothing", what);
    return JY_OK;
}

jy_status
jy_np_reduce(struct jy_frame *f, struct jy_value **out, jy_op op, struct jy_value *array, uint32_t axes, bool keepdims)
{
    struct jy_graph *g = f->f_trace->graph;
    jy_dtype dtype = (jy_dtype)array->u.array.dtype, as = dtype;
    const struct jy_layout *layout;
    jy_ref node;
    if (op == JY_OP_SUM || op == JY_OP_PROD)
        as = jy_dtype_is_float(dtype) ? dtype : JY_I64;
    else if (op == JY_OP_ANY || op == JY_OP_ALL)
        as = JY_BOOL;
    TRY(jy_np_reduce_layout(f, &layout, array, axes, keepdims, as));
    TRY(jy_value_node(f, &node, array));
    if (as != dtype)
        node = jy_graph_cast(g, as, JY_KIND_ARRAY, node);
    bool scalar = folds_all(array, axes) && !keepdims;
    node = jy_graph_reduce(g, op, scalar ? JY_KIND_NPSCALAR : JY_KIND_ARRAY, node, axes, keepdims);
    if (!scalar)
        jy_np_set_layout(f, node, layout);
    *out = jy_value_of_node(f, node);
    return JY_OK;
}

/* dtype= may say what happens anyway. */
static jy_status
check_dtype(struct jy_frame *f, const struct jy_value *array, struct jy_value *given, const char *function)
{
    jy_dtype dtype, own = (jy_dtype)array->u.array.dtype;
    if (!jy_np_given(given))
        return JY_OK;
    TRY(jy_np_dtype_arg(f, &dtype, given));
    if (dtype != (jy_dtype_is_float(own) ? own : JY_I64))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of %s with dtype=%s", function, jy_dtype_info[own].text,
                        jy_dtype_info[dtype].text);
    return JY_OK;
}

jy_status
jy_np_reduce_fold(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "axis", "dtype", "out", "keepdims", NULL };
    struct jy_value *slots[NSLOTS];
    struct reduction r;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(read_arguments(f, &r, slots, row->name));
    TRY(check_dtype(f, r.array, slots[DTYPE], row->name));
    return jy_np_reduce(f, out, (jy_op)row->datum, r.array, r.axes, r.keepdims);
}

/* min, max, any, all: they have no dtype= */
jy_status
jy_np_reduce_pick(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "axis", "out", "keepdims", NULL };
    struct jy_value *given[4], *slots[NSLOTS];
    struct reduction r;
    TRY(jy_np_bind(f, row->name, names, given, nargs, args, kwnames));
    memcpy(slots, (struct jy_value *[]){ given[0], given[1], NULL, given[2], given[3] }, sizeof slots);
    TRY(read_arguments(f, &r, slots, row->name));
    if (row->datum == JY_OP_MIN || row->datum == JY_OP_MAX)
        TRY(check_not_empty(f, r.array, r.axes, row->name));
    return jy_np_reduce(f, out, (jy_op)row->datum, r.array, r.axes, r.keepdims);
}

/* ufunc.reduce: axis 0 when none is given */
jy_status
jy_np_reduce_ufunc(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                   struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "array", "axis", "dtype", "out", "keepdims", NULL };
    struct jy_value *slots[NSLOTS];
    struct reduction r;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    if (slots[AXIS] == NULL)
        slots[AXIS] = jy_value_size(f, 0);
    TRY(read_arguments(f, &r, slots, row->name));
    TRY(check_dtype(f, r.array, slots[DTYPE], row->name));
    if (row->datum == JY_OP_MIN || row->datum == JY_OP_MAX)
        TRY(check_not_empty(f, r.array, r.axes, "reduce"));
    return jy_np_reduce(f, out, (jy_op)row->datum, r.array, r.axes, r.keepdims);
}

/* ---- mean, var, std ---- */

/* refs: returns new; NULL with an exception */
static PyObject *
reduce_keywords(uint32_t axes, bool keepdims, bool with_dtype)
{
    PyObject *keywords = PyDict_New(), *tuple = PyTuple_New(__builtin_popcount(axes));
    bool ok = keywords != NULL && tuple != NULL;
    for (int d = 0, n = 0; ok && d < JY_MAX_NDIM; d++)
        if (axes >> d & 1) {
            PyObject *axis = PyLong_FromLong(d);
            ok = axis != NULL;
            PyTuple_SET_ITEM(tuple, n++, axis);
        }
    ok = ok && PyDict_SetItemString(keywords, "axis", tuple) == 0 &&
         PyDict_SetItemString(keywords, "keepdims", keepdims ? Py_True : Py_False) == 0 &&
         (!with_dtype || PyDict_SetItemString(keywords, "dtype", jy_inspect_descr(JY_F64)) == 0);
    Py_XDECREF(tuple);
    if (!ok)
        Py_CLEAR(keywords);
    return keywords;
}

/* add.reduce(a, axis, dtype="f8") of integers: through NumPy's cast buffer */
static jy_status
sum_as_double(struct jy_frame *f, struct jy_value **out, struct jy_value *array, uint32_t axes, bool keepdims)
{
    jy_sx shape[JY_MAX_NDIM];
    size_t ndim = 0;
    jy_ref node;
    const struct jy_layout *layout;
    for (size_t d = 0; d < array->u.array.ndim; d++)
        if ((axes >> d & 1) == 0)
            shape[ndim++] = array->u.array.shape[d];
        else if (keepdims)
            shape[ndim++] = 1;
    TRY(jy_np_reduce_layout(f, &layout, array, axes, keepdims, JY_F64));
    TRY(jy_value_node(f, &node, array));
    PyObject *keywords = reduce_keywords(axes, keepdims, true);
    if (keywords == NULL)
        return JY_ERROR;
    bool scalar = ndim == 0 && folds_all(array, axes);
    return jy_np_call_out(f, out,
                          &(struct jy_np_callout){ .callee = "add.reduce",
                                                   .keywords = keywords,
                                                   .nargs = 1,
                                                   .args = &node,
                                                   .kind = scalar ? JY_KIND_NPSCALAR : JY_KIND_ARRAY,
                                                   .dtype = JY_F64,
                                                   .ndim = ndim,
                                                   .shape = shape,
                                                   .layout = layout });
}

/* umr_sum of _methods.py */
static jy_status
sum_for_mean(struct jy_frame *f, struct jy_value **out, struct jy_value *array, uint32_t axes, bool keepdims)
{
    return jy_dtype_is_float((jy_dtype)array->u.array.dtype) ? jy_np_reduce(f, out, JY_OP_SUM, array, axes, keepdims)
                                                             : sum_as_double(f, out, array, axes, keepdims);
}

/* value / count as _methods.py divides: in float64, rounded to the value's type */
static jy_status
divide_by(struct jy_frame *f, struct jy_value **out, struct jy_value *value, jy_sx count)
{
    struct jy_graph *g = f->f_trace->graph;
    jy_ref nodes[2];
    TRY(jy_value_node(f, &nodes[0], value));
    const struct jy_node *summed = jy_graph_at(g, nodes[0]);
    enum jy_kind kind = (enum jy_kind)summed->n_kind;
    jy_dtype dtype = (jy_dtype)summed->n_dtype;
    const struct jy_layout *layout = summed->n_layout;
    if (dtype != JY_F64)
        nodes[0] = jy_graph_cast(g, JY_F64, kind, nodes[0]);
    nodes[1] = jy_graph_cast(g, JY_F64, JY_KIND_NPSCALAR, jy_graph_size(g, count));
    jy_ref node = jy_graph_elementwise(g, JY_OP_DIV, kind, 2, nodes);
    if (kind == JY_KIND_ARRAY)
        jy_np_set_layout(f, node, layout);
    if (dtype != JY_F64)
        node = jy_graph_cast(g, dtype, kind, node);
    if (kind == JY_KIND_ARRAY)
        jy_np_set_layout(f, node, layout);
    *out = jy_value_of_node(f, node);
    return JY_OK;
}

jy_status
jy_np_reduce_mean(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "axis", "dtype", "out", "keepdims", NULL };
    struct jy_value *slots[NSLOTS], *sum;
    struct reduction r;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(read_arguments(f, &r, slots, row->name));
    if (jy_np_given(slots[DTYPE]))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "mean with dtype=");
    TRY(check_not_empty(f, r.array, r.axes, "mean"));
    TRY(sum_for_mean(f, &sum, r.array, r.axes, r.keepdims));
    return divide_by(f, out, sum, count_of(f, r.array, r.axes));
}

/* sqrt(*v, out=*v) */
static jy_status
root_of(struct jy_frame *f, struct jy_value **v)
{
    struct jy_graph *g = f->f_trace->graph;
    jy_ref node;
    TRY(jy_value_node(f, &node, *v));
    enum jy_kind kind = (enum jy_kind)jy_graph_at(g, node)->n_kind;
    const struct jy_layout *layout = jy_graph_at(g, node)->n_layout;
    node = jy_graph_elementwise(g, JY_OP_SQRT, kind, 1, &node);
    if (kind == JY_KIND_ARRAY)
        jy_np_set_layout(f, node, layout);
    *v = jy_value_of_node(f, node);
    return JY_OK;
}

/* datum 0: var, 1: std */
jy_status
jy_np_reduce_var(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                 struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "axis", "dtype", "out", "ddof", "keepdims", NULL };
    struct jy_value *given[6], *slots[NSLOTS], *mean, *x, *sum;
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    struct reduction r;
    int64_t ddof = 0;
    TRY(jy_np_bind(f, row->name, names, given, nargs, args, kwnames));
    memcpy(slots, (struct jy_value *[]){ given[0], given[1], given[2], given[3], given[5] }, sizeof slots);
    TRY(read_arguments(f, &r, slots, row->name));
    if (jy_np_given(slots[DTYPE]))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with dtype=", row->name);
    if (given[4] != NULL)
        TRY(jy_value_index(f, &ddof, given[4]));
    jy_sx count = count_of(f, r.array, r.axes);
    if (!jy_guard_size(f, count, JY_GT, jy_sizes_const(sizes, ddof > 0 ? ddof : 0)))
        return jy_break(f, JY_BREAK_RAISES, "%s of too few elements", row->name);
    TRY(sum_for_mean(f, &mean, r.array, r.axes, true));
    TRY(divide_by(f, &mean, mean, count));
    TRY(jy_np_apply(f, &x, JY_OP_SUB, 2, (struct jy_value *[]){ r.array, mean }, NULL, 0));
    TRY(jy_np_apply(f, &x, JY_OP_MUL, 2, (struct jy_value *[]){ x, x }, NULL, 0));
    TRY(jy_np_reduce(f, &sum, JY_OP_SUM, x, r.axes, r.keepdims));
    TRY(divide_by(f, out, sum, jy_sizes_binary(sizes, JY_SX_SUB, count, jy_sizes_const(sizes, ddof))));
    return row->datum == 1 ? root_of(f, out) : JY_OK;
}
