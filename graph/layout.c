/* Memory layouts: in which order the axes of an array lie, and what may be relied upon.
 *
 * Decides: the axis order of given strides, by the insertion sort of NumPy's iterator (an axis of extent 1 or stride 0 has no opinion and stays
 * where C order puts it), because results are laid out and sums are ordered by what that sort says.
 * Relies on: hints. Order and strides are those of the traced call; `contiguous` and `inner_unit` of a view are claimed only
 * where they follow from the operand's whatever the sizes are. */
#include "graph/infer.h"
#include <stdlib.h>
#include <string.h>

/* Does the axis with stride `mine` belong outside of the one with stride `other`? 1, 0, or -1 without an opinion. */
static int
is_outside(int64_t mine, int64_t other)
{
    if (mine == 0 || other == 0)
        return -1;
    return llabs(mine) > llabs(other);
}

static void
sort_axes(uint8_t *order, size_t ndim, const int64_t *extents, const int64_t *strides)
{
    uint8_t axes[JY_MAX_NDIM]; /* innermost first */
    int64_t s[JY_MAX_NDIM];
    for (size_t d = 0; d < ndim; d++) {
        axes[d] = (uint8_t)(ndim - 1 - d);
        s[d] = extents[d] == 1 ? 0 : strides[d];
    }
    for (size_t i = 1; i < ndim; i++) {
        uint8_t axis = axes[i];
        size_t to = i;
        for (size_t k = i; k-- > 0;) {
            int outside = is_outside(s[axes[k]], s[axis]);
            if (outside == 0)
                break;
            if (outside == 1)
                to = k;
        }
        memmove(&axes[to + 1], &axes[to], i - to);
        axes[to] = axis;
    }
    for (size_t d = 0; d < ndim; d++)
        order[d] = axes[ndim - 1 - d];
}

static bool
fills_block(const struct jy_layout *layout, size_t ndim, const int64_t *extents, size_t itemsize)
{
    int64_t expected = (int64_t)itemsize;
    for (size_t d = ndim; d-- > 0;) {
        uint8_t axis = layout->order[d];
        if (extents[axis] == 0)
            return true;
        if (extents[axis] == 1)
            continue;
        if (layout->stride[axis] != expected)
            return false;
        expected *= extents[axis];
    }
    return true;
}

struct jy_layout
jy_layout_of_strides(size_t ndim, const int64_t *extents, const int64_t *strides, size_t itemsize)
{
    struct jy_layout layout = { .contiguous = true, .inner_unit = true };
    if (ndim == 0)
        return layout;
    memcpy(layout.stride, strides, ndim * sizeof(*strides));
    sort_axes(layout.order, ndim, extents, strides);
    for (size_t d = 0; d < ndim; d++)
        if (extents[d] == 0)
            return layout;
    layout.contiguous = fills_block(&layout, ndim, extents, itemsize);
    layout.inner_unit = layout.contiguous || strides[layout.order[ndim - 1]] == (int64_t)itemsize;
    return layout;
}

struct jy_layout
jy_layout_fresh(size_t ndim, const int64_t *extents, const uint8_t *order, size_t itemsize)
{
    struct jy_layout layout = { .contiguous = true, .inner_unit = true };
    uint64_t stride = itemsize; /* unsigned: extents whose product overflows fail at allocation, not here */
    for (size_t d = ndim; d-- > 0;) {
        uint8_t axis = order == NULL ? (uint8_t)d : order[d];
        layout.order[d] = axis;
        layout.stride[axis] = (int64_t)stride;
        stride *= extents[axis] > 1 ? (uint64_t)extents[axis] : 1;
    }
    return layout;
}

bool
jy_layout_may_repeat(size_t ndim, const int64_t *extents, const int64_t *strides, size_t itemsize)
{
    uint8_t order[JY_MAX_NDIM];
    int64_t reach = (int64_t)itemsize;
    for (size_t d = 0; d < ndim; d++)
        if (extents[d] == 0)
            return false;
    sort_axes(order, ndim, extents, strides);
    for (size_t d = ndim; d-- > 0;) {
        uint8_t axis = order[d];
        if (extents[axis] == 1)
            continue;
        if (llabs(strides[axis]) < reach)
            return true;
        reach += llabs(strides[axis]) * (extents[axis] - 1);
    }
    return false;
}

bool
jy_layout_is_c_order(const struct jy_layout *layout, size_t ndim)
{
    for (size_t d = 0; d < ndim; d++)
        if (layout->order[d] != d)
            return false;
    return true;
}

bool
jy_layout_equal(const struct jy_layout *a, const struct jy_layout *b, size_t ndim)
{
    return memcmp(a->order, b->order, ndim) == 0 && memcmp(a->stride, b->stride, ndim * sizeof(*a->stride)) == 0 &&
           a->contiguous == b->contiguous && a->inner_unit == b->inner_unit;
}

/* The only result axis that walks along source axis `a`; -1: none, -2: several. */
static int
result_axis_of(const struct jy_view *view, size_t a)
{
    int found = -1;
    for (int d = 0; d < view->ndim; d++)
        if (view->axis[d] == (int)a)
            found = found == -1 ? d : -2;
    return found;
}

/* Is a view of an operand that fills its block a block itself, for all sizes? Yes when axes are fixed or cut only outside of everything else. */
static bool
keeps_block(const struct jy_node *node, const struct jy_node *operand)
{
    const struct jy_view *view = node->n_view;
    bool leading = true; /* all axes so far have a single element in the view */
    for (size_t i = 0; i < operand->n_ndim; i++) {
        size_t a = operand->n_layout->order[i];
        int d = result_axis_of(view, a);
        if (d == -2)
            return false;
        if (d == -1) {
            if (!leading && operand->n_shape[a] != 1)
                return false;
            continue;
        }
        if (node->n_shape[d] == 1 && (leading || operand->n_shape[a] == 1))
            continue;
        bool whole = view->step[d] == 1 && view->start[a] == 0 && node->n_shape[d] == operand->n_shape[a];
        if (!whole && (!leading || view->step[d] != 1))
            return false;
        leading = false;
    }
    for (size_t d = 0; d < view->ndim; d++)
        if (view->axis[d] < 0 && node->n_shape[d] != 1)
            return false;
    return true;
}

static struct jy_layout
layout_of_view(const struct jy_graph *g, const struct jy_node *node, const int64_t *extents)
{
    const struct jy_node *operand = jy_graph_at(g, node->n_args[0]);
    const struct jy_view *view = node->n_view;
    size_t itemsize = jy_dtype_info[node->n_dtype].bytes;
    int64_t strides[JY_MAX_NDIM];
    for (size_t d = 0; d < view->ndim; d++)
        strides[d] = view->axis[d] < 0 ? 0 : operand->n_layout->stride[view->axis[d]] * view->step[d];
    struct jy_layout layout = jy_layout_of_strides(view->ndim, extents, strides, itemsize);
    bool block = operand->n_ndim == 0 || operand->n_layout->contiguous;
    layout.contiguous = layout.contiguous && block && keeps_block(node, operand);
    layout.inner_unit = layout.contiguous;
    if (view->ndim == 0)
        return layout;
    uint8_t inner = layout.order[view->ndim - 1];
    if (operand->n_ndim != 0 && operand->n_layout->inner_unit && view->step[inner] == 1)
        layout.inner_unit |= view->axis[inner] == operand->n_layout->order[operand->n_ndim - 1];
    return layout;
}

const struct jy_layout *
jy_layout_default(const struct jy_graph *g, const struct jy_node *node)
{
    if (node->n_kind != JY_KIND_ARRAY || node->n_ndim == 0 || node->n_op == JY_OP_PLACEHOLDER)
        return NULL;
    if (node->n_op == JY_OP_STORE)
        return jy_graph_at(g, node->n_args[0])->n_layout;
    int64_t extents[JY_MAX_NDIM];
    for (size_t d = 0; d < node->n_ndim; d++)
        extents[d] = jy_sizes_hint(&g->g_sizes, node->n_shape[d]);
    struct jy_layout layout = node->n_op == JY_OP_VIEW
                                  ? layout_of_view(g, node, extents)
                                  : jy_layout_fresh(node->n_ndim, extents, NULL, jy_dtype_info[node->n_dtype].bytes);
    return jy_arena_copy(g->g_arena, &layout, sizeof(layout));
}
