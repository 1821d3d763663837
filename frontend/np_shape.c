/* Views: transposes, new and dropped axes, broadcasts, reshapes.
 *
 * A view is a value that shares its storage with the array that it looks into: an index map relative to the whole storage. A reshape is no index map; it gets a storage of its own that
 * follows the one it is made of (jy_np_present), and is made only of a block in C order, where NumPy makes a view as well.
 * Permuting axes of symbolic extents guards how each extent stands to 0 and 1: a single row is contiguous in every order. */
#include "frontend/np_internal.h"

void
jy_np_view_identity(struct jy_view *view, size_t ndim)
{
    memset(view, 0, sizeof *view);
    view->source_ndim = view->ndim = (uint8_t)ndim;
    for (size_t d = 0; d < ndim; d++) {
        view->axis[d] = (int8_t)d;
        view->step[d] = 1;
    }
}

jy_ref
jy_np_present(struct jy_frame *f, struct jy_storage *storage)
{
    jy_ref node;
    if (storage->of != NULL && jy_value_node(f, &node, storage->of) == JY_OK && node != storage->of_node) {
        const struct jy_node *shape = jy_graph_at(f->f_trace->graph, storage->version);
        storage->version = jy_graph_reshape(f->f_trace->graph, node, shape->n_ndim, shape->n_shape);
        storage->of_node = node;
    }
    return storage->version;
}

/* `outer` applied to the result of `inner`. */
static void
compose(struct jy_frame *f, struct jy_view *out, const struct jy_view *inner, const struct jy_view *outer)
{
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    *out = *outer;
    out->source_ndim = inner->source_ndim;
    memcpy(out->start, inner->start, sizeof out->start);
    for (size_t d = 0; d < inner->ndim; d++) {
        if (inner->axis[d] < 0 || outer->start[d] == 0)
            continue;
        jy_sx moved = jy_sizes_binary(sizes, JY_SX_MUL, outer->start[d], jy_sizes_const(sizes, inner->step[d]));
        jy_sx *start = &out->start[inner->axis[d]];
        *start = jy_sizes_binary(sizes, JY_SX_ADD, *start, moved);
    }
    for (size_t j = 0; j < outer->ndim; j++) {
        int8_t through = outer->axis[j];
        out->axis[j] = through < 0 ? -1 : inner->axis[through];
        out->step[j] = out->axis[j] < 0 ? 0 : inner->step[through] * outer->step[j];
    }
}

struct jy_value *
jy_np_view(struct jy_frame *f, struct jy_value *array, const struct jy_view *view, const jy_sx *shape)
{
    struct jy_graph *g = f->f_trace->graph;
    struct jy_value *v = jy_value_new(f, JY_V_ARRAY);
    struct jy_view *whole = JY_NEW(jy_frame_arena(f), struct jy_view);
    if (array->u.array.view != NULL)
        compose(f, whole, array->u.array.view, view);
    else
        *whole = *view;
    v->u.array = array->u.array;
    v->u.array.view = whole;
    v->u.array.ndim = view->ndim;
    v->u.array.node_version = jy_np_present(f, array->u.array.storage);
    v->u.array.node = jy_graph_view(g, v->u.array.node_version, whole, shape);
    v->u.array.shape = jy_graph_at(g, v->u.array.node)->n_shape;
    v->u.array.layout = jy_graph_at(g, v->u.array.node)->n_layout;
    return v;
}

struct jy_value *
jy_np_transposed(struct jy_frame *f, struct jy_value *array, const uint8_t *axes)
{
    struct jy_view view;
    jy_sx shape[JY_MAX_NDIM];
    size_t ndim = array->u.array.ndim;
    bool moved = false;
    jy_np_view_identity(&view, ndim);
    for (size_t d = 0; d < ndim; d++) {
        view.axis[d] = (int8_t)axes[d];
        shape[d] = array->u.array.shape[axes[d]];
        moved |= axes[d] != d;
    }
    if (moved)
        jy_np_guard_degenerate(f, ndim, shape);
    return jy_np_view(f, array, &view, shape);
}

struct jy_value *
jy_np_broadcast_view(struct jy_frame *f, struct jy_value *array, size_t ndim, const jy_sx *shape)
{
    struct jy_view view;
    size_t own = array->u.array.ndim;
    jy_np_view_identity(&view, own);
    view.ndim = (uint8_t)ndim;
    for (size_t d = 0; d < ndim; d++) {
        size_t axis = d + own - ndim; /* wraps for new axes */
        bool walks = d + own >= ndim && jy_np_hint(f, array->u.array.shape[axis]) == jy_np_hint(f, shape[d]) &&
                     jy_guard_size(f, array->u.array.shape[axis], JY_EQ, shape[d]);
        if (!walks && d + own >= ndim)
            jy_guard_size(f, array->u.array.shape[axis], JY_EQ, 1);
        view.axis[d] = walks ? (int8_t)axis : -1;
        view.step[d] = walks;
    }
    return jy_np_view(f, array, &view, shape);
}

/* ---- reshape ---- */

/* Replaces an extent of -1, and checks that the number of elements stays. */
static jy_status
settle_shape(struct jy_frame *f, const struct jy_value *array, size_t ndim, jy_sx *shape)
{
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    jy_sx total = jy_np_size(f, array->u.array.ndim, array->u.array.shape), known = 1,
          minus = jy_sizes_const(sizes, -1);
    size_t open = SIZE_MAX;
    for (size_t d = 0; d < ndim; d++) {
        if (shape[d] != minus)
            known = jy_sizes_binary(sizes, JY_SX_MUL, known, shape[d]);
        else if (open != SIZE_MAX)
            return jy_break(f, JY_BREAK_RAISES, "reshape with two unknown extents");
        else
            open = d;
    }
    if (open == SIZE_MAX)
        return jy_guard_size(f, known, JY_EQ, total)
                   ? JY_OK
                   : jy_break(f, JY_BREAK_RAISES, "reshape to another number of elements");
    if (known == 1) {
        shape[open] = total;
        return JY_OK;
    }
    if (!jy_guard_size(f, known, JY_GT, 0))
        return jy_break(f, JY_BREAK_RAISES, "reshape of nothing with an unknown extent");
    if (!jy_guard_size(f, jy_sizes_binary(sizes, JY_SX_MOD, total, known), JY_EQ, 0))
        return jy_break(f, JY_BREAK_RAISES, "reshape to a shape that does not divide the number of elements");
    shape[open] = jy_sizes_binary(sizes, JY_SX_FLOORDIV, total, known);
    return JY_OK;
}

jy_status
jy_np_reshaped(struct jy_frame *f, struct jy_value **out, struct jy_value *array, size_t ndim, jy_sx *shape)
{
    struct jy_graph *g = f->f_trace->graph;
    jy_ref node;
    TRY(settle_shape(f, array, ndim, shape));
    if (!jy_np_is_c_block(array))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "reshape of an array that is not C-contiguous");
    TRY(jy_value_node(f, &node, array));
    struct jy_value *v = jy_value_of_node(f, jy_graph_reshape(g, node, ndim, shape));
    struct jy_storage *storage = v->u.array.storage, *from = array->u.array.storage;
    storage->fresh = from->fresh;
    storage->input = from->input;
    storage->of = array;
    storage->of_node = node;
    v->u.array.writeable = array->u.array.writeable;
    v->v_temporary = false;
    *out = v;
    return JY_OK;
}

/* Is this the shape that the array has already, without an open extent? Then NumPy keeps the strides, else it makes those of C order: on axes of one element or none they differ. */
static bool
is_own_shape(struct jy_frame *f, const struct jy_value *array, size_t ndim, const jy_sx *shape)
{
    bool same = ndim == array->u.array.ndim;
    for (size_t d = 0; same && d < ndim; d++)
        same = jy_guard_size(f, shape[d], JY_EQ, array->u.array.shape[d]);
    return same;
}

jy_status
jy_np_shape_reshape(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                    struct jy_value *const *args, PyObject *kwnames)
{
    jy_sx shape[JY_MAX_NDIM];
    size_t ndim;
    if (kwnames != NULL || nargs < 2 || (row->datum == 0 && nargs != 2))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "reshape with these arguments");
    TRY(jy_np_array_arg(f, "reshape", args[0]));
    TRY(jy_np_shape_arg(f, &ndim, shape, nargs - 1, args + 1));
    if (is_own_shape(f, args[0], ndim, shape)) {
        struct jy_view view;
        jy_np_view_identity(&view, ndim);
        *out = jy_np_view(f, args[0], &view, args[0]->u.array.shape);
        return JY_OK;
    }
    return jy_np_reshaped(f, out, args[0], ndim, shape);
}

/* datum 0: ravel, a view where it can be; 1: flatten, a copy */
jy_status
jy_np_shape_ravel(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "order", NULL };
    struct jy_value *slots[2], *array;
    char order;
    jy_ref node;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, array = slots[0]));
    TRY(jy_np_order_arg(f, &order, slots[1]));
    if (order != '\0' && order != 'C')
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with order='%c'", row->name, order);
    jy_sx size = jy_np_size(f, array->u.array.ndim, array->u.array.shape);
    bool block = jy_np_is_c_block(array);
    if (block && row->datum == 0)
        return jy_np_reshaped(f, out, array, 1, &size);
    if (!block && array->u.array.ndim != 1) {
        TRY(jy_value_node(f, &node, array));
        jy_np_guard_degenerate(f, array->u.array.ndim, array->u.array.shape);
        for (size_t d = 0; d < array->u.array.ndim; d++)
            if (jy_np_hint(f, array->u.array.shape[d]) <= 1)
                return jy_break(f, JY_BREAK_MEMORY_ORDER, "%s of a strided array with an axis of one element or none",
                                row->name);
        if (row->datum == 0)
            TRY(jy_np_check_not_contiguous(f, array));
        return jy_np_call_out(f, out,
                              &(struct jy_np_callout){ .callee = "ndarray.flatten",
                                                       .nargs = 1,
                                                       .args = &node,
                                                       .kind = JY_KIND_ARRAY,
                                                       .dtype = (jy_dtype)array->u.array.dtype,
                                                       .ndim = 1,
                                                       .shape = &size });
    }
    if (block)
        TRY(jy_np_reshaped(f, &array, array, 1, &size));
    else if (row->datum == 0)
        TRY(jy_np_check_not_contiguous(f, array));
    TRY(jy_value_node(f, &node, array));
    *out = jy_value_of_node(f, jy_graph_copy(f->f_trace->graph, node));
    return JY_OK;
}

/* ---- axes ---- */

jy_status
jy_np_shape_transpose(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                      struct jy_value *const *args, PyObject *kwnames)
{
    uint8_t axes[JY_MAX_NDIM];
    (void)row;
    if (kwnames != NULL || nargs == 0)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "transpose with keywords");
    TRY(jy_np_array_arg(f, "transpose", args[0]));
    size_t ndim = args[0]->u.array.ndim, n = nargs - 1;
    struct jy_value *const *items = args + 1;
    if (n == 1) {
        struct jy_value **inner;
        TRY(jy_np_items(f, &n, &inner, items[0]));
        if (n == SIZE_MAX)
            n = 1;
        else
            items = inner;
    }
    bool reversed = nargs == 1 || (n == 1 && nargs == 2 && jy_value_is_none(args[1]));
    if (!reversed && n != ndim)
        return jy_break(f, JY_BREAK_RAISES, "axes that do not match the array");
    uint32_t seen = 0;
    for (size_t d = 0; d < ndim; d++) {
        size_t axis = ndim - 1 - d;
        if (!reversed)
            TRY(jy_np_axis_arg(f, &axis, items[d], ndim));
        axes[d] = (uint8_t)axis;
        seen |= 1u << axis;
    }
    if (seen != (1u << ndim) - 1)
        return jy_break(f, JY_BREAK_RAISES, "a repeated axis in transpose");
    *out = jy_np_transposed(f, args[0], axes);
    return JY_OK;
}

jy_status
jy_np_shape_swapaxes(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                     struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "axis1", "axis2", NULL };
    struct jy_value *slots[3];
    uint8_t axes[JY_MAX_NDIM];
    size_t a, b;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    if (slots[1] == NULL || slots[2] == NULL)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "swapaxes without axes");
    TRY(jy_np_axis_arg(f, &a, slots[1], slots[0]->u.array.ndim));
    TRY(jy_np_axis_arg(f, &b, slots[2], slots[0]->u.array.ndim));
    for (size_t d = 0; d < slots[0]->u.array.ndim; d++)
        axes[d] = (uint8_t)(d == a ? b : d == b ? a : d);
    *out = jy_np_transposed(f, slots[0], axes);
    return JY_OK;
}

jy_status
jy_np_shape_moveaxis(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                     struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "source", "destination", NULL };
    struct jy_value *slots[3];
    uint8_t axes[JY_MAX_NDIM] = { 0 };
    size_t from, to;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    if (slots[1] == NULL || slots[2] == NULL)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "moveaxis without axes");
    size_t ndim = slots[0]->u.array.ndim;
    TRY(jy_np_axis_arg(f, &from, slots[1], ndim));
    TRY(jy_np_axis_arg(f, &to, slots[2], ndim));
    for (size_t d = 0, other = 0; d < ndim; d++) {
        other += other == from;
        axes[d] = (uint8_t)(d == to ? from : other++);
    }
    *out = jy_np_transposed(f, slots[0], axes);
    return JY_OK;
}

jy_status
jy_np_shape_expand_dims(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                        struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "axis", NULL };
    struct jy_value *slots[2];
    jy_sx shape[JY_MAX_NDIM + 1];
    size_t axis;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    size_t ndim = slots[0]->u.array.ndim;
    if (slots[1] == NULL || ndim == JY_MAX_NDIM)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "expand_dims without an axis, or to 9 axes");
    TRY(jy_np_axis_arg(f, &axis, slots[1], ndim + 1));
    for (size_t d = 0, old = 0; d <= ndim; d++)
        shape[d] = d == axis ? 1 : slots[0]->u.array.shape[old++];
    return jy_np_reshaped(f, out, slots[0], ndim + 1, shape); /* as NumPy does: the new axis has a stride */
}

jy_status
jy_np_shape_squeeze(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                    struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "axis", NULL };
    struct jy_value *slots[2];
    struct jy_view view;
    jy_sx shape[JY_MAX_NDIM];
    uint32_t axes;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    size_t ndim = slots[0]->u.array.ndim, n = 0;
    bool all = !jy_np_given(slots[1]);
    TRY(jy_np_axes_arg(f, &axes, slots[1], ndim));
    jy_np_view_identity(&view, ndim);
    for (size_t d = 0; d < ndim; d++) {
        jy_sx extent = slots[0]->u.array.shape[d];
        bool drop = (axes >> d & 1) != 0 && jy_guard_size(f, extent, JY_EQ, 1);
        if (!all && !drop && (axes >> d & 1) != 0)
            return jy_break(f, JY_BREAK_RAISES, "squeeze of an axis that has more than one element");
        if (!drop) {
            view.axis[n] = (int8_t)d;
            shape[n++] = extent;
        }
    }
    view.ndim = (uint8_t)n;
    *out = all && n == ndim ? slots[0] : jy_np_view(f, slots[0], &view, shape);
    return JY_OK;
}

jy_status
jy_np_shape_broadcast_to(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                         struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "array", "shape", NULL };
    struct jy_value *slots[2];
    jy_sx shape[JY_MAX_NDIM];
    size_t ndim;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    if (slots[1] == NULL)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "broadcast_to without a shape");
    TRY(jy_np_shape_arg(f, &ndim, shape, 1, &slots[1]));
    size_t own = slots[0]->u.array.ndim;
    if (own > ndim)
        return jy_break(f, JY_BREAK_BROADCAST, "broadcast_to fewer axes");
    for (size_t d = 0; d < own; d++) {
        int64_t have = jy_np_hint(f, slots[0]->u.array.shape[d]), want = jy_np_hint(f, shape[ndim - own + d]);
        if (have != 1 && have != want)
            return jy_break(f, JY_BREAK_BROADCAST, "extent %lld to %lld", (long long)have, (long long)want);
    }
    jy_np_guard_degenerate(f, ndim, shape);
    *out = jy_np_broadcast_view(f, slots[0], ndim, shape);
    (*out)->u.array.writeable = false;
    (*out)->u.array.frozen = true;
    return JY_OK;
}

jy_status
jy_np_shape_flip(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                 struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "m", "axis", NULL };
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    struct jy_value *slots[2];
    struct jy_view view;
    uint32_t axes;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    if (slots[0]->u.array.ndim == 0)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "flip of a 0-d array");
    TRY(jy_np_axes_arg(f, &axes, slots[1], slots[0]->u.array.ndim));
    jy_np_view_identity(&view, slots[0]->u.array.ndim);
    for (size_t d = 0; d < view.ndim; d++) {
        if ((axes >> d & 1) == 0)
            continue;
        if (!jy_guard_size(f, slots[0]->u.array.shape[d], JY_GT, 0))
            return jy_break(f, JY_BREAK_NUMPY_CALL, "flip of an empty axis");
        view.start[d] = jy_sizes_binary(sizes, JY_SX_SUB, slots[0]->u.array.shape[d], 1);
        view.step[d] = -1;
    }
    *out = jy_np_view(f, slots[0], &view, slots[0]->u.array.shape);
    return JY_OK;
}

/* a[1:] - a[:-1] along an axis; of bools it is != */
jy_status
jy_np_shape_diff(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                 struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "n", "axis", NULL };
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    struct jy_value *slots[3], *parts[2];
    int64_t times = 1;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    struct jy_value *array = slots[0];
    if (slots[1] != NULL)
        TRY(jy_value_index(f, &times, slots[1]));
    if (times != 1 || array->u.array.ndim == 0)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "diff of a 0-d array, or more than once");
    size_t axis = array->u.array.ndim - 1u;
    if (slots[2] != NULL)
        TRY(jy_np_axis_arg(f, &axis, slots[2], array->u.array.ndim));
    if (!jy_guard_size(f, array->u.array.shape[axis], JY_GT, 0))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "diff of nothing");
    for (size_t i = 0; i < 2; i++) {
        struct jy_view view;
        jy_sx shape[JY_MAX_NDIM];
        jy_np_view_identity(&view, array->u.array.ndim);
        memcpy(shape, array->u.array.shape, array->u.array.ndim * sizeof *shape);
        shape[axis] = jy_sizes_binary(sizes, JY_SX_SUB, shape[axis], 1);
        view.start[axis] = i == 0;
        parts[i] = jy_np_view(f, array, &view, shape);
    }
    return jy_np_apply(f, out, array->u.array.dtype == JY_BOOL ? JY_OP_NE : JY_OP_SUB, 2, parts, NULL, 0);
}

/* ---- concatenate, stack ---- */

static jy_status
check_parts(struct jy_frame *f, size_t n, struct jy_value **items, bool stack, size_t axis)
{
    const struct jy_value *first = items[0];
    for (size_t i = 1; i < n; i++) {
        if (items[i]->u.array.ndim != first->u.array.ndim || items[i]->u.array.dtype != first->u.array.dtype)
            return jy_break(f, JY_BREAK_NUMPY_CALL, "concatenate of arrays that differ in dtype or number of axes");
        for (size_t d = 0; d < first->u.array.ndim; d++)
            if ((stack || d != axis) && !jy_guard_size(f, items[i]->u.array.shape[d], JY_EQ, first->u.array.shape[d]))
                return jy_break(f, JY_BREAK_RAISES, "concatenate of arrays whose extents differ");
    }
    return JY_OK;
}

/* A new array, and one store per part. datum 0: concatenate, 1: stack along a new axis. */
jy_status
jy_np_shape_concatenate(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                        struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "arrays", "axis", NULL };
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    struct jy_value *slots[2], **items;
    size_t n, axis = 0;
    bool stack = row->datum == 1;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_items(f, &n, &items, slots[0]));
    if (n == SIZE_MAX || n == 0 || (slots[1] != NULL && jy_value_is_none(slots[1])))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of no tuple or list, or with axis=None", row->name);
    for (size_t i = 0; i < n; i++) {
        TRY(jy_np_array_arg(f, row->name, items[i]));
        for (size_t d = 1; d < items[i]->u.array.ndim; d++)
            if (!jy_np_is_c_block(items[i]))
                return jy_break(f, JY_BREAK_MEMORY_ORDER, "%s of arrays that are not C-contiguous", row->name);
    }
    size_t ndim = items[0]->u.array.ndim + (stack ? 1u : 0u);
    if (ndim == 0 || ndim > JY_MAX_NDIM)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of arrays with %u axes", row->name, items[0]->u.array.ndim);
    if (slots[1] != NULL)
        TRY(jy_np_axis_arg(f, &axis, slots[1], ndim));
    TRY(check_parts(f, n, items, stack, axis));
    jy_sx shape[JY_MAX_NDIM], at = 0;
    for (size_t d = 0, old = 0; d < ndim; d++)
        shape[d] = stack && d == axis ? 1 : items[0]->u.array.shape[old++];
    shape[axis] = stack ? jy_sizes_const(sizes, (int64_t)n) : 0;
    for (size_t i = 0; i < n && !stack; i++)
        shape[axis] = jy_sizes_binary(sizes, JY_SX_ADD, shape[axis], items[i]->u.array.shape[axis]);
    jy_ref fresh = jy_graph_empty(f->f_trace->graph, (jy_dtype)items[0]->u.array.dtype, ndim, shape);
    *out = jy_value_of_node(f, fresh);
    for (size_t i = 0; i < n; i++) {
        struct jy_view view;
        jy_ref node;
        jy_sx part[JY_MAX_NDIM];
        jy_np_view_identity(&view, ndim);
        memcpy(part, shape, sizeof part);
        part[axis] = stack ? 1 : items[i]->u.array.shape[axis];
        view.start[axis] = at;
        if (stack) { /* the new axis is fixed */
            view.ndim = (uint8_t)(ndim - 1);
            for (size_t d = axis; d + 1 < ndim; d++)
                view.axis[d] = (int8_t)(d + 1);
        }
        TRY(jy_value_node(f, &node, items[i]));
        TRY(jy_np_store(f, jy_np_view(f, *out, &view, stack ? items[i]->u.array.shape : part), node));
        at = jy_sizes_binary(sizes, JY_SX_ADD, at, part[axis]);
    }
    return JY_OK;
}
