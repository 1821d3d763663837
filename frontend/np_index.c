/* Subscripts: ints, slices, None and Ellipsis, read and written; and the rules of assignment.
 *
 * A key becomes an index map. Where an extent or a bound is symbolic, the clamping of slices is decided on the traced call and guarded, so that starts and extents stay
 * expressions of sizes. A key of ints alone gives a NumPy scalar, a copy; everything else is a view. */
#include "frontend/np_internal.h"

#include <inttypes.h>
#include <math.h>

struct subscript {
    struct jy_view view;
    jy_sx shape[JY_MAX_NDIM];
    size_t ndim, axis; /* axes made, axes of the array used up */
    bool only_ints;
};

static jy_sx
combine(struct jy_frame *f, enum jy_sx_op op, jy_sx a, jy_sx b)
{
    return jy_sizes_binary(&f->f_trace->graph->g_sizes, op, a, b);
}

static jy_sx
constant(struct jy_frame *f, int64_t k)
{
    return jy_sizes_const(&f->f_trace->graph->g_sizes, k);
}

/* ---- slices ---- */

/* A bound as slice.indices() makes it: counted from the end when negative, then clamped to [low, high]. */
static jy_sx
clamp(struct jy_frame *f, jy_sx bound, jy_sx extent, jy_sx low, jy_sx high)
{
    if (jy_guard_size(f, bound, JY_LT, 0)) {
        bound = combine(f, JY_SX_ADD, extent, bound);
        return jy_guard_size(f, bound, JY_LT, 0) ? low : bound;
    }
    return jy_guard_size(f, bound, JY_GT, high) ? high : bound;
}

static jy_status
slice_part(struct jy_frame *f, jy_sx *out, bool *given, struct jy_value *v)
{
    *given = v != NULL && !jy_value_is_none(v);
    if (!*given)
        return JY_OK;
    bool ok;
    TRY(jy_value_as_size(f, out, &ok, v));
    return ok ? JY_OK : jy_break(f, JY_BREAK_NUMPY_INDEX, "%s in a slice", jy_value_describe(f, v));
}

/* How many elements from `start` to `stop`: ceil((stop - start) / step), or none. */
static jy_sx
slice_extent(struct jy_frame *f, jy_sx start, jy_sx stop, int64_t step)
{
    jy_sx low = step > 0 ? start : stop, high = step > 0 ? stop : start;
    int64_t width = step > 0 ? step : -step;
    if (!jy_guard_size(f, high, JY_GE, low))
        return 0;
    jy_sx span = combine(f, JY_SX_SUB, high, low);
    if (width == 1)
        return span;
    return combine(f, JY_SX_FLOORDIV, combine(f, JY_SX_ADD, span, constant(f, width - 1)), constant(f, width));
}

static jy_status
add_slice(struct jy_frame *f, struct subscript *s, const struct jy_value *array, struct jy_value *slice)
{
    jy_sx extent = array->u.array.shape[s->axis], start = 0, stop = 0;
    bool has_start, has_stop;
    int64_t step = 1;
    if (slice->u.range.step != NULL) {
        TRY(jy_value_realize(f, slice->u.range.step));
        if (!jy_value_is_none(slice->u.range.step))
            TRY(jy_value_index(f, &step, slice->u.range.step));
    }
    if (step == 0 || step <= -INT32_MAX || step >= INT32_MAX)
        return jy_break(f, JY_BREAK_NUMPY_INDEX, "a slice with step %" PRId64, step);
    if (slice->u.range.start != NULL)
        TRY(jy_value_realize(f, slice->u.range.start));
    if (slice->u.range.stop != NULL)
        TRY(jy_value_realize(f, slice->u.range.stop));
    TRY(slice_part(f, &start, &has_start, slice->u.range.start));
    TRY(slice_part(f, &stop, &has_stop, slice->u.range.stop));
    jy_sx low = step > 0 ? 0 : constant(f, -1), high = step > 0 ? extent : combine(f, JY_SX_SUB, extent, 1);
    start = has_start ? clamp(f, start, extent, low, high) : step > 0 ? low : high;
    stop = has_stop ? clamp(f, stop, extent, low, high) : step > 0 ? high : low;
    jy_sx length = slice_extent(f, start, stop, step);
    if ((step != 1 || start != 0) && !jy_guard_size(f, length, JY_GT, 0))
        length = start = 0, step = 1; /* NumPy's view of nothing */
    s->view.start[s->axis] = start;
    s->view.axis[s->ndim] = (int8_t)s->axis++;
    s->view.step[s->ndim] = step;
    s->shape[s->ndim++] = length;
    s->only_ints = false;
    return JY_OK;
}

static void
add_whole_axis(struct subscript *s, const struct jy_value *array)
{
    s->view.axis[s->ndim] = (int8_t)s->axis;
    s->view.step[s->ndim] = 1;
    s->shape[s->ndim++] = array->u.array.shape[s->axis++];
    s->only_ints = false;
}

static jy_status
add_int(struct jy_frame *f, struct subscript *s, const struct jy_value *array, jy_sx index)
{
    jy_sx extent = array->u.array.shape[s->axis];
    if (jy_guard_size(f, index, JY_LT, 0))
        index = combine(f, JY_SX_ADD, extent, index);
    if (!jy_guard_size(f, index, JY_GE, 0) || !jy_guard_size(f, extent, JY_GT, index))
        return jy_break(f, JY_BREAK_RAISES, "index %" PRId64 " is out of bounds for an axis of %" PRId64,
                        jy_np_hint(f, index), jy_np_hint(f, extent));
    s->view.start[s->axis++] = index;
    return JY_OK;
}

/* ---- keys ---- */

static bool
is_ellipsis(const struct jy_value *v)
{
    return v->v_kind == JY_V_CONST && v->v_object == Py_Ellipsis;
}

static jy_status
add_item(struct jy_frame *f, struct subscript *s, const struct jy_value *array, struct jy_value *item, size_t rest)
{
    if (is_ellipsis(item)) {
        for (size_t whole = array->u.array.ndim - rest; s->axis < whole;)
            add_whole_axis(s, array);
        s->only_ints = false;
        return JY_OK;
    }
    if (jy_value_is_none(item)) {
        s->view.axis[s->ndim] = -1;
        s->view.step[s->ndim] = 0;
        s->shape[s->ndim++] = 1;
        s->only_ints = false;
        return JY_OK;
    }
    if (item->v_kind == JY_V_SLICE)
        return add_slice(f, s, array, item);
    bool ok;
    jy_sx index;
    TRY(jy_value_as_size(f, &index, &ok, item));
    if (!ok || (item->v_kind == JY_V_CONST && PyBool_Check(item->v_object)))
        return jy_break(f, JY_BREAK_NUMPY_INDEX, "%s as a subscript", jy_value_describe(f, item));
    return add_int(f, s, array, index);
}

/* How many axes of the array the items from `i` on use up. */
static size_t
axes_used(size_t n, struct jy_value **items, size_t i)
{
    size_t used = 0;
    for (; i < n; i++)
        used += !jy_value_is_none(items[i]) && !is_ellipsis(items[i]);
    return used;
}

static jy_status
read_key(struct jy_frame *f, struct subscript *s, struct jy_value *array, struct jy_value *key)
{
    size_t n, ellipses = 0, made = 0;
    struct jy_value **items;
    TRY(jy_np_items(f, &n, &items, key));
    if (key->v_kind == JY_V_LIST)
        return jy_break(f, JY_BREAK_NUMPY_INDEX, "a list as a subscript");
    if (n == SIZE_MAX)
        n = 1, items = &key;
    for (size_t i = 0; i < n; i++) {
        ellipses += is_ellipsis(items[i]);
        made += jy_value_is_none(items[i]);
    }
    size_t used = axes_used(n, items, 0);
    if (ellipses > 1 || used > array->u.array.ndim)
        return jy_break(f, JY_BREAK_RAISES, "too many indices for an array with %u axes", array->u.array.ndim);
    if (array->u.array.ndim + made > JY_MAX_NDIM)
        return jy_break(f, JY_BREAK_ARRAY_KIND, "a view with more than 8 axes");
    memset(s, 0, sizeof *s);
    s->only_ints = true;
    s->view.source_ndim = array->u.array.ndim;
    for (size_t i = 0; i < n; i++)
        TRY(add_item(f, s, array, items[i], axes_used(n, items, i + 1)));
    while (s->axis < array->u.array.ndim)
        add_whole_axis(s, array);
    s->view.ndim = (uint8_t)s->ndim;
    return JY_OK;
}

jy_status
jy_np_getitem(struct jy_frame *f, struct jy_value **out, struct jy_value *array, struct jy_value *key)
{
    struct subscript s;
    TRY(jy_value_realize(f, array));
    if (array->v_kind != JY_V_ARRAY)
        return jy_break(f, JY_BREAK_NUMPY_INDEX, "a subscript of %s", jy_value_describe(f, array));
    TRY(jy_value_realize(f, key));
    if (key->v_kind == JY_V_ARRAY)
        return jy_np_callout_gather(f, out, array, key);
    TRY(read_key(f, &s, array, key));
    *out = jy_np_view(f, array, &s.view, s.shape);
    if (s.only_ints)
        return jy_np_scalar_of(f, out, *out, JY_KIND_NPSCALAR, (jy_dtype)array->u.array.dtype);
    return JY_OK;
}

/* ---- writing ---- */

static bool
is_whole(const struct jy_view *view, const struct jy_value *target, const struct jy_node *base)
{
    bool whole = view->ndim == base->n_ndim;
    for (size_t d = 0; whole && d < view->ndim; d++)
        whole = view->axis[d] == (int)d && view->step[d] == 1 && view->start[d] == 0 &&
                target->u.array.shape[d] == base->n_shape[d];
    return whole;
}

/* A region and its value have one shape. Extents are equal or 1 by check_store. */
static jy_ref
fill_region(struct jy_frame *f, const struct jy_value *target, jy_ref ref)
{
    struct jy_graph *g = f->f_trace->graph;
    const struct jy_node *node = jy_graph_at(g, ref);
    size_t ndim = target->u.array.ndim;
    bool same = node->n_ndim == ndim;
    for (size_t d = 0; same && d < ndim; d++)
        same = jy_sizes_same(&g->g_sizes, node->n_shape[d], target->u.array.shape[d]);
    if (same)
        return ref;
    if (node->n_kind != JY_KIND_ARRAY)
        return jy_graph_full(g, ref, ndim, target->u.array.shape);
    struct jy_view view;
    jy_np_view_identity(&view, node->n_ndim);
    view.ndim = (uint8_t)ndim;
    for (size_t d = 0; d < ndim; d++) {
        size_t axis = d + node->n_ndim - ndim;
        bool walks =
            d + node->n_ndim >= ndim && jy_np_hint(f, node->n_shape[axis]) == jy_np_hint(f, target->u.array.shape[d]);
        view.axis[d] = walks ? (int8_t)axis : -1;
        view.step[d] = walks;
    }
    return jy_graph_view(g, ref, &view, target->u.array.shape);
}

/* The value's extents are the target's or 1. */
static jy_status
check_store(struct jy_frame *f, const struct jy_value *target, jy_ref ref)
{
    const struct jy_node *node = jy_graph_at(f->f_trace->graph, ref);
    if (node->n_ndim > target->u.array.ndim)
        return jy_break(f, JY_BREAK_BROADCAST, "a value with more axes than the array that is written");
    for (size_t d = 0; d < node->n_ndim; d++) {
        jy_sx x = jy_graph_at(f->f_trace->graph, ref)->n_shape[d],
              extent = target->u.array.shape[target->u.array.ndim - node->n_ndim + d];
        int64_t own = jy_np_hint(f, x), want = jy_np_hint(f, extent);
        if (own != want && own != 1)
            return jy_break(f, JY_BREAK_BROADCAST, "extent %" PRId64 " into extent %" PRId64, own, want);
        jy_guard_size(f, x, JY_EQ, own == want ? extent : 1);
    }
    return JY_OK;
}

jy_status
jy_np_store(struct jy_frame *f, struct jy_value *target, jy_ref node)
{
    struct jy_graph *g = f->f_trace->graph;
    struct jy_storage *storage = target->u.array.storage;
    if (storage->of != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "a write through a reshaped view");
    TRY(check_store(f, target, node));
    TRY(jy_np_will_write(f, target));
    jy_ref base = jy_np_present(f, storage);
    const struct jy_view *view = target->u.array.view;
    if (view != NULL && is_whole(view, target, jy_graph_at(g, base)))
        view = NULL;
    node = fill_region(f, target, node);
    storage->version = jy_graph_store(g, base, view, node);
    return JY_OK;
}

/* Python floats become integers by int(), which raises where C only sets a flag. */
static jy_status
float_to_int(struct jy_frame *f, jy_ref *out, double value, jy_dtype to)
{
    double limit = to == JY_I32 ? 2147483647.0 : 9223372036854774784.0;
    if (!(fabs(value) <= limit))
        return jy_break(f, JY_BREAK_RAISES, "%g does not fit %s", value, jy_dtype_info[to].text);
    union jy_scalar element = { .i = (int64_t)value };
    *out = jy_graph_constant(f->f_trace->graph, JY_KIND_NPSCALAR, to, element);
    return JY_OK;
}

jy_status
jy_np_assign(struct jy_frame *f, struct jy_value *target, struct jy_value *value)
{
    struct jy_np_operand operand;
    jy_dtype to = (jy_dtype)target->u.array.dtype;
    jy_ref node;
    bool ok;
    TRY(jy_np_classify(f, &ok, &operand, value));
    if (!ok)
        return jy_break(f, JY_BREAK_NUMPY_INDEX, "%s assigned to an array", jy_value_describe(f, value));
    if (operand.form == JY_NP_SCALAR && operand.dtype == JY_I64 && to == JY_I32) /* raises where it does not fit */
        return jy_break(f, JY_BREAK_DATA_VALUE, "an np.int64 assigned to an array of int32");
    if (operand.form == JY_NP_WEAK_FLOAT && (to == JY_I32 || to == JY_I64)) {
        if (value->v_kind != JY_V_CONST)
            return jy_break(f, JY_BREAK_DATA_VALUE, "a float assigned to an integer array");
        TRY(float_to_int(f, &node, PyFloat_AS_DOUBLE(value->v_object), to));
    } else {
        TRY(jy_np_convert(f, &node, &operand, to));
    }
    return jy_np_store(f, target, node);
}

/* The same region of the same memory. */
static bool
is_same_region(const struct jy_value *a, const struct jy_value *b)
{
    const struct jy_view *x = a->u.array.view, *y = b->u.array.view;
    if (b->v_kind != JY_V_ARRAY || a->u.array.storage != b->u.array.storage || y == NULL || x->ndim != y->ndim)
        return false;
    for (size_t d = 0; d < x->ndim; d++)
        if (x->axis[d] != y->axis[d] || x->step[d] != y->step[d] || a->u.array.shape[d] != b->u.array.shape[d])
            return false;
    return memcmp(x->start, y->start, x->source_ndim * sizeof *x->start) == 0;
}

jy_status
jy_np_setitem(struct jy_frame *f, struct jy_value *array, struct jy_value *key, struct jy_value *value)
{
    struct subscript s;
    TRY(jy_value_realize(f, array));
    TRY(jy_value_realize(f, value));
    if (array->v_kind != JY_V_ARRAY)
        return jy_break(f, JY_BREAK_NUMPY_INDEX, "a subscript of %s", jy_value_describe(f, array));
    TRY(read_key(f, &s, array, key));
    if (s.only_ints && value->v_kind == JY_V_ARRAY && value->u.array.ndim != 0)
        return jy_break(f, JY_BREAK_NUMPY_INDEX, "an array assigned to one element");
    struct jy_value *target = jy_np_view(f, array, &s.view, s.shape);
    if (is_same_region(target, value)) /* `a[k] += b` stores back the view that it has just written */
        return jy_np_will_write(f, target);
    return jy_np_assign(f, target, value);
}
