/* Broadcasting, and the memory order of results.
 *
 * NumPy's iterator orders the axes of a new array after its operands: an insertion sort from C order by the absolute strides of all operands at once, in which an axis of extent 1
 * or stride 0 has no opinion and C order wins conflicts (npyiter_find_best_axis_ordering). Operands that are all contiguous in one order take a short cut with the same
 * outcome but for axes of extent 1 or 0. Here that is done on the strides of the traced call.
 *
 * Why it holds for other calls: when every operand has descending strides, the result is in C order whatever the sizes. Otherwise the relation of
 * every extent to 0 and 1 is guarded, and the array guards hold the operands' own order fixed. */
#include "frontend/np_internal.h"

#include <inttypes.h>
#include <stdlib.h>

struct strides {
    int64_t at[4][JY_MAX_NDIM]; /* per operand */
};

int64_t
jy_np_hint(struct jy_frame *f, jy_sx e)
{
    return jy_sizes_hint(&f->f_trace->graph->g_sizes, e);
}

jy_sx
jy_np_size(struct jy_frame *f, size_t ndim, const jy_sx *shape)
{
    jy_sx size = 1;
    for (size_t d = 0; d < ndim; d++)
        size = jy_sizes_binary(&f->f_trace->graph->g_sizes, JY_SX_MUL, size, shape[d]);
    return size;
}

void
jy_np_set_layout(struct jy_frame *f, jy_ref node, const struct jy_layout *layout)
{
    if (layout != NULL)
        jy_graph_set_layout(f->f_trace->graph, node, layout);
}

void
jy_np_guard_degenerate(struct jy_frame *f, size_t ndim, const jy_sx *shape)
{
    for (size_t d = 0; d < ndim; d++)
        if (!jy_guard_size(f, shape[d], JY_GT, 1))
            jy_guard_size(f, shape[d], JY_EQ, 1);
}

/* ---- broadcasting ---- */

/* Extent of result axis `d` (counted from the last): of the first operand that is not 1 there. */
static jy_sx
choose_extent(struct jy_frame *f, size_t d, size_t n, const struct jy_np_operand *operands)
{
    jy_sx extent = 1;
    for (size_t i = 0; i < n; i++) {
        const struct jy_value *v = operands[i].value;
        if (operands[i].form != JY_NP_ARRAY || v->u.array.ndim <= d)
            continue;
        jy_sx x = v->u.array.shape[v->u.array.ndim - 1 - d];
        if (jy_np_hint(f, x) != 1)
            return x;
        if (extent == 1)
            extent = x;
    }
    return extent;
}

static void
rename_extent(struct jy_frame *f, struct jy_np_operand *operand, size_t axis, jy_sx extent)
{
    const struct jy_value *v = operand->value;
    if (operand->renamed == NULL)
        operand->renamed =
            jy_arena_copy(jy_frame_arena(f), v->u.array.shape, v->u.array.ndim * sizeof *v->u.array.shape);
    operand->renamed[axis] = extent;
}

jy_status
jy_np_broadcast(struct jy_frame *f, struct jy_np_geometry *out, size_t n, struct jy_np_operand *operands)
{
    out->ndim = 0;
    for (size_t i = 0; i < n; i++)
        if (operands[i].form == JY_NP_ARRAY && operands[i].value->u.array.ndim > out->ndim)
            out->ndim = operands[i].value->u.array.ndim;
    for (size_t d = 0; d < out->ndim; d++) {
        jy_sx extent = choose_extent(f, d, n, operands);
        out->shape[out->ndim - 1 - d] = extent;
        for (size_t i = 0; i < n; i++) {
            const struct jy_value *v = operands[i].value;
            if (operands[i].form != JY_NP_ARRAY || v->u.array.ndim <= d)
                continue;
            size_t axis = v->u.array.ndim - 1 - d;
            jy_sx x = v->u.array.shape[axis];
            int64_t own = jy_np_hint(f, x), other = jy_np_hint(f, extent);
            if (own != other && own != 1)
                return jy_break(f, JY_BREAK_BROADCAST, "extents %" PRId64 " and %" PRId64 " do not broadcast", own,
                                other);
            if (x == 1)
                continue;
            jy_guard_size(f, x, JY_EQ, own == other ? extent : 1);
            if (own != other)
                operands[i].stretch |= 1u << axis;
            else if (!jy_sizes_same(&f->f_trace->graph->g_sizes, x, extent))
                rename_extent(f, &operands[i], axis, extent);
        }
    }
    return JY_OK;
}

/* ---- strides of the traced call ---- */

static int64_t
stride_of(const struct jy_value *v, size_t axis)
{
    return v->u.array.layout != NULL ? v->u.array.layout->stride[axis] : 0;
}

/* Descending strides: in C order whatever the sizes are. */
static bool
is_descending(const struct jy_value *v)
{
    int64_t last = INT64_MAX;
    for (size_t d = 0; d < v->u.array.ndim; d++) {
        int64_t stride = llabs(stride_of(v, d));
        if (stride > last)
            return false;
        if (stride != 0)
            last = stride;
    }
    return true;
}

bool
jy_np_is_c_block(const struct jy_value *array)
{
    return array->u.array.ndim == 0 ||
           (array->u.array.layout->contiguous && jy_layout_is_c_order(array->u.array.layout, array->u.array.ndim));
}

enum { IS_C = 1, IS_F = 2 };

/* NumPy's contiguity flags. */
static unsigned
flags_of(struct jy_frame *f, const struct jy_value *v)
{
    size_t ndim = v->u.array.ndim;
    unsigned flags = IS_C | IS_F;
    int64_t c = jy_dtype_info[v->u.array.dtype].bytes, fortran = c, extents[JY_MAX_NDIM] = { 0 };
    for (size_t d = 0; d < ndim; d++)
        if ((extents[d] = jy_np_hint(f, v->u.array.shape[d])) == 0)
            return flags;
    for (size_t d = 0; d < ndim; d++) {
        size_t last = ndim - 1 - d;
        if (extents[last] != 1 && stride_of(v, last) != c)
            flags &= ~(unsigned)IS_C;
        if (extents[d] != 1 && stride_of(v, d) != fortran)
            flags &= ~(unsigned)IS_F;
        c *= extents[last];
        fortran *= extents[d];
    }
    return flags;
}

static void
fill_strides(struct jy_frame *f, struct strides *out, const struct jy_np_geometry *geometry, size_t n,
             const struct jy_np_operand *operands)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n; i++) {
        const struct jy_value *v = operands[i].value;
        if (operands[i].form != JY_NP_ARRAY)
            continue;
        for (size_t d = 0; d < v->u.array.ndim; d++)
            if (jy_np_hint(f, v->u.array.shape[d]) != 1)
                out->at[i][geometry->ndim - v->u.array.ndim + d] = stride_of(v, d);
    }
}

/* 1: axis `mine` belongs inside of `other`, which the sort has inside so far; 0: it does not; -1: no opinion. */
static int
belongs_inside(const struct strides *strides, size_t n, size_t mine, size_t other)
{
    int verdict = -1;
    for (size_t i = 0; i < n; i++) {
        int64_t a = llabs(strides->at[i][mine]), b = llabs(strides->at[i][other]);
        if (a == 0 || b == 0)
            continue;
        if (b <= a)
            verdict = 0;
        else if (verdict == -1)
            verdict = 1;
    }
    return verdict;
}

/* Outermost axis first. */
static void
iteration_order(uint8_t *order, size_t ndim, size_t n, const struct strides *strides)
{
    uint8_t axes[JY_MAX_NDIM]; /* innermost first */
    for (size_t d = 0; d < ndim; d++)
        axes[d] = (uint8_t)(ndim - 1 - d);
    for (size_t i = 1; i < ndim; i++) {
        uint8_t axis = axes[i];
        size_t to = i;
        for (size_t k = i; k-- > 0;) {
            int inside = belongs_inside(strides, n, axis, axes[k]);
            if (inside == 0)
                break;
            if (inside == 1)
                to = k;
        }
        memmove(&axes[to + 1], &axes[to], i - to);
        axes[to] = axis;
    }
    for (size_t d = 0; d < ndim; d++)
        order[d] = axes[ndim - 1 - d];
}

/* NULL for plain C order. */
static const struct jy_layout *
layout_in_order(struct jy_frame *f, size_t ndim, const jy_sx *shape, const uint8_t *order, jy_dtype dtype)
{
    int64_t extents[JY_MAX_NDIM] = { 0 };
    for (size_t d = 0; d < ndim; d++)
        extents[d] = jy_np_hint(f, shape[d]);
    struct jy_layout layout = jy_layout_fresh(ndim, extents, order, jy_dtype_info[dtype].bytes);
    return ndim == 0 || jy_layout_is_c_order(&layout, ndim) ? NULL
                                                            : jy_arena_copy(jy_frame_arena(f), &layout, sizeof layout);
}

/* Does the ufunc machinery take its short cut for contiguous operands of one shape, and into which order? IS_C or IS_F; 0: no. */
static unsigned
short_cut(struct jy_frame *f, const struct jy_np_geometry *geometry, size_t n, const struct jy_np_operand *operands,
          jy_dtype dtype_in)
{
    unsigned order = 0;
    for (size_t i = 0; i < n; i++) {
        const struct jy_value *v = operands[i].value;
        if (operands[i].form != JY_NP_ARRAY || v->u.array.ndim == 0)
            continue;
        unsigned flags = flags_of(f, v);
        bool same = v->u.array.ndim == geometry->ndim && v->u.array.dtype == dtype_in && operands[i].stretch == 0;
        for (size_t d = 0; same && d < geometry->ndim; d++)
            same = jy_np_hint(f, v->u.array.shape[d]) == jy_np_hint(f, geometry->shape[d]);
        if (!same || flags == 0 || (order != 0 && order != flags))
            return 0;
        order = flags;
    }
    return order == IS_F ? IS_F : order != 0 ? IS_C : 0;
}

static bool
same_strides(const struct jy_layout *a, const struct jy_layout *b, size_t ndim)
{
    return a == b || (a != NULL && b != NULL && memcmp(a->stride, b->stride, ndim * sizeof *a->stride) == 0);
}

jy_status
jy_np_result_layout(struct jy_frame *f, const struct jy_layout **out, const struct jy_np_geometry *geometry, size_t n,
                    const struct jy_np_operand *operands, jy_dtype dtype_in, jy_dtype dtype_out)
{
    bool descending = true;
    for (size_t i = 0; i < n; i++)
        descending &= operands[i].form != JY_NP_ARRAY || is_descending(operands[i].value);
    *out = NULL;
    if (descending)
        return JY_OK;
    for (size_t i = 0; i < n; i++)
        if (operands[i].form == JY_NP_ARRAY)
            jy_np_guard_degenerate(f, operands[i].value->u.array.ndim, operands[i].value->u.array.shape);
    struct strides strides;
    uint8_t order[JY_MAX_NDIM], fortran[JY_MAX_NDIM] = { 0 };
    fill_strides(f, &strides, geometry, n, operands);
    iteration_order(order, geometry->ndim, n, &strides);
    *out = layout_in_order(f, geometry->ndim, geometry->shape, order, dtype_out);
    unsigned cut = dtype_in != JY_DTYPE_NONE ? short_cut(f, geometry, n, operands, dtype_in) : 0;
    for (size_t d = 0; d < geometry->ndim; d++)
        fortran[d] = (uint8_t)(geometry->ndim - 1 - d);
    if (cut != 0 &&
        !same_strides(*out,
                      layout_in_order(f, geometry->ndim, geometry->shape, cut == IS_F ? fortran : NULL, dtype_out),
                      geometry->ndim))
        return jy_break(f, JY_BREAK_MEMORY_ORDER, "an operand in Fortran order with an axis of one element or none");
    return JY_OK;
}

jy_status
jy_np_reduce_layout(struct jy_frame *f, const struct jy_layout **out, struct jy_value *array, uint32_t axes,
                    bool keepdims, jy_dtype dtype)
{
    *out = NULL;
    size_t ndim = array->u.array.ndim, kept = 0;
    if (is_descending(array))
        return JY_OK;
    jy_np_guard_degenerate(f, ndim, array->u.array.shape);
    struct jy_np_geometry geometry = { .ndim = ndim };
    struct jy_np_operand operand = { .value = array, .form = JY_NP_ARRAY };
    struct strides strides;
    uint8_t order[JY_MAX_NDIM], result[JY_MAX_NDIM] = { 0 }, position[JY_MAX_NDIM] = { 0 };
    jy_sx shape[JY_MAX_NDIM];
    fill_strides(f, &strides, &geometry, 1, &operand);
    iteration_order(order, ndim, 1, &strides);
    for (size_t d = 0; d < ndim; d++) {
        bool folded = axes >> d & 1;
        if (folded && !keepdims)
            continue;
        position[d] = (uint8_t)kept;
        shape[kept++] = folded ? 1 : array->u.array.shape[d];
    }
    for (size_t d = 0, k = 0; d < ndim; d++)
        if (keepdims || (axes >> order[d] & 1) == 0)
            result[k++] = position[order[d]];
    *out = layout_in_order(f, kept, shape, result, dtype);
    return JY_OK;
}

jy_status
jy_np_keep_layout(struct jy_frame *f, const struct jy_layout **out, const struct jy_value *array, jy_dtype dtype)
{
    size_t ndim = array->u.array.ndim;
    bool plain = is_descending(array);
    *out = NULL;
    for (size_t d = 0; d < ndim; d++)
        plain &= ndim == 1 || stride_of(array, d) != 0;
    if (plain || jy_np_is_c_block(array))
        return JY_OK;
    jy_np_guard_degenerate(f, ndim, array->u.array.shape);
    unsigned flags = flags_of(f, array);
    for (size_t d = 0; d < ndim; d++)
        if (jy_np_hint(f, array->u.array.shape[d]) <= 1)
            return jy_break(f, JY_BREAK_MEMORY_ORDER,
                            "a copy in the order of an array with an axis of one element or none");
    uint8_t order[JY_MAX_NDIM] = { 0 };
    for (size_t d = 0; d < ndim; d++) { /* stable, by descending absolute stride; a stride of 0 is innermost */
        size_t to = d;
        for (; to > 0 && llabs(stride_of(array, order[to - 1])) < llabs(stride_of(array, d)); to--)
            order[to] = order[to - 1];
        order[to] = (uint8_t)d;
    }
    if ((flags & IS_C) == 0)
        *out = layout_in_order(f, ndim, array->u.array.shape, order, dtype);
    return JY_OK;
}
