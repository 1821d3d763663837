/* Lowering: memory. Buffers of nodes, interned views, slots for sizes and scalars, inner loops.
 *
 * A node's buffer is made when somebody first asks for it. A STORE lives in the buffer of its base; two views of one buffer by the same index
 * map are one buffer, so that "the same elements" is "the same number". Arrays that are handed out, or that a view which is
 * handed out looks into, are OUTPUT; other results are TEMP. */
#include "graph/lower.h"
#include <assert.h>
#include <string.h>

uint32_t
jy_lower_size_slot(struct jy_lower *L, jy_sx size)
{
    size = jy_sizes_canonical(&L->g->g_sizes, size);
    for (uint32_t i = 0; i < L->plan->p_sizes.n; i++)
        if (L->plan->p_sizes.at[i] == size)
            return i;
    *jy_vec_push(L->arena, &L->plan->p_sizes) = size;
    return (uint32_t)L->plan->p_sizes.n - 1;
}

uint32_t
jy_lower_scalar_slot(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    if (L->node[r].slot == JY_NONE) {
        *jy_vec_push(L->arena, &L->plan->p_scalars) = (struct jy_slot){ node->n_dtype, node->n_kind, r };
        L->node[r].slot = (uint32_t)L->plan->p_scalars.n - 1;
    }
    return L->node[r].slot;
}

uint32_t
jy_lower_loop(struct jy_lower *L, jy_op op, jy_dtype dtype)
{
    struct jy_plan_loop loop = { .op = (uint16_t)op, .nin = (uint8_t)jy_op_info[op].arity };
    for (size_t i = 0; i <= loop.nin; i++)
        loop.dtypes[i] = (uint8_t)dtype;
    for (uint32_t i = 0; i < L->plan->p_loops.n; i++)
        if (memcmp(&L->plan->p_loops.at[i], &loop, sizeof loop) == 0)
            return i;
    *jy_vec_push(L->arena, &L->plan->p_loops) = loop;
    return (uint32_t)L->plan->p_loops.n - 1;
}

static uint32_t
add_buffer(struct jy_lower *L, struct jy_buffer buffer, bool dense)
{
    *jy_vec_push(L->arena, &L->plan->p_buffers) = buffer;
    *jy_vec_push(L->arena, &L->dense) = dense;
    return (uint32_t)L->plan->p_buffers.n - 1;
}

/* The axis whose stride is the itemsize for certain. In a block it is the innermost that is longer than 1. */
static int8_t
unit_axis(size_t ndim, const jy_sx *shape, const uint8_t *order, bool dense, bool inner_unit)
{
    if (dense)
        for (size_t d = ndim; d-- > 0;)
            if (shape[order[d]] != 1)
                return (int8_t)order[d];
    return inner_unit && ndim > 0 ? (int8_t)order[ndim - 1] : -1;
}

static struct jy_buffer
describe(struct jy_lower *L, enum jy_buffer_kind kind, jy_ref r, bool dense)
{
    static const uint8_t c_order[JY_MAX_NDIM] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const struct jy_node *node = jy_lower_at(L, r);
    struct jy_buffer b = { .b_kind = (uint8_t)kind, .b_dtype = node->n_dtype, .b_ndim = node->n_ndim, .b_node = r };
    jy_sx *shape = JY_NEW_ARRAY(L->arena, jy_sx, node->n_ndim + 1);
    for (size_t d = 0; d < node->n_ndim; d++)
        shape[d] = jy_sizes_canonical(&L->g->g_sizes, node->n_shape[d]);
    b.b_shape = shape;
    b.b_order = node->n_layout == NULL ? c_order : node->n_layout->order;
    b.b_unit_axis =
        unit_axis(node->n_ndim, shape, b.b_order, dense, node->n_layout != NULL && node->n_layout->inner_unit);
    return b;
}

static bool
same_view(const struct jy_view *a, const struct jy_view *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a->source_ndim == b->source_ndim && a->ndim == b->ndim &&
           memcmp(a->start, b->start, a->source_ndim * sizeof(jy_sx)) == 0 && memcmp(a->axis, b->axis, a->ndim) == 0 &&
           memcmp(a->step, b->step, a->ndim * sizeof(int64_t)) == 0;
}

static bool
same_extents(const struct jy_buffer *a, const struct jy_buffer *b)
{
    return a->b_ndim == b->b_ndim && memcmp(a->b_shape, b->b_shape, a->b_ndim * sizeof(jy_sx)) == 0;
}

static uint32_t
intern_view(struct jy_lower *L, struct jy_buffer view, bool dense)
{
    for (uint32_t i = 0; i < L->plan->p_buffers.n; i++) {
        struct jy_buffer *b = &L->plan->p_buffers.at[i];
        if (b->b_kind != JY_BUFFER_VIEW || b->b_index != view.b_index || !same_view(b->b_view, view.b_view) ||
            !same_extents(b, &view))
            continue;
        if (dense && !L->dense.at[i]) {
            L->dense.at[i] = true;
            b->b_order = view.b_order;
            b->b_unit_axis = view.b_unit_axis; /* a region may have named an axis of one element */
        }
        if (b->b_unit_axis < 0)
            b->b_unit_axis = view.b_unit_axis;
        return i;
    }
    return add_buffer(L, view, dense);
}

static bool
is_handed_out(const struct jy_lower *L, jy_ref storage)
{
    for (size_t k = 0; k < L->g->g_outputs.n; k++)
        if (jy_lower_at(L, L->g->g_outputs.at[k])->n_storage == storage)
            return true;
    return false;
}

/* NumPy lays out what a reduction returns as the graph says; of a call-out's result nothing is known. */
static bool
of_call_out(const struct jy_lower *L, jy_ref r)
{
    jy_ref storage = jy_lower_at(L, r)->n_storage;
    return storage != JY_NO_REF && jy_lower_class(L, storage) == JY_CLASS_CALL;
}

/* The step that makes the object fills in its number. */
static uint32_t
add_object(struct jy_lower *L, jy_ref r)
{
    bool dense = jy_lower_class(L, r) != JY_CLASS_CALL;
    struct jy_buffer b = describe(L, JY_BUFFER_OBJECT, r, dense);
    if (!dense)
        b.b_unit_axis = -1;
    return add_buffer(L, b, dense);
}

uint32_t
jy_lower_buffer(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    if (L->node[r].buffer != JY_NONE)
        return L->node[r].buffer;
    bool contiguous = node->n_layout == NULL || node->n_layout->contiguous;
    uint32_t buffer;
    if (node->n_op == JY_OP_PLACEHOLDER) {
        struct jy_buffer b = describe(L, JY_BUFFER_INPUT, r, contiguous);
        b.b_index = node->n_input;
        buffer = add_buffer(L, b, contiguous);
    } else if (node->n_op == JY_OP_STORE) {
        buffer = jy_lower_buffer(L, node->n_args[0]);
    } else if (jy_op_info[node->n_op].klass == JY_CLASS_VIEW) {
        uint32_t base = jy_lower_buffer(L, node->n_args[0]);
        bool known = !of_call_out(L, r);
        struct jy_buffer b = describe(L, JY_BUFFER_VIEW, r, contiguous && known);
        b.b_index = base;
        b.b_view = node->n_op == JY_OP_VIEW ? node->n_view : NULL;
        if (!known)
            b.b_unit_axis = -1;
        buffer = intern_view(L, b, contiguous && known);
    } else if (jy_lower_class(L, r) == JY_CLASS_CALL || L->node[r].how == JY_HOW_CALL) {
        buffer = add_object(L, r);
    } else {
        bool out = is_handed_out(L, r);
        buffer = add_buffer(L, describe(L, out ? JY_BUFFER_OUTPUT : JY_BUFFER_TEMP, r, true), true);
    }
    return L->node[r].buffer = buffer;
}

/* A region has the value's shape; it keeps a unit axis that is walked in steps of one. */
uint32_t
jy_lower_region(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    uint32_t base = jy_lower_buffer(L, node->n_args[0]);
    if (node->n_view == NULL)
        return base;
    struct jy_buffer b = describe(L, JY_BUFFER_VIEW, node->n_args[1], false);
    const struct jy_view *view = node->n_view;
    b.b_index = base;
    b.b_view = view;
    b.b_node = r;
    b.b_unit_axis = -1;
    for (size_t d = 0; d < view->ndim; d++)
        if (view->axis[d] >= 0 && view->axis[d] == L->plan->p_buffers.at[base].b_unit_axis && view->step[d] == 1)
            b.b_unit_axis = (int8_t)d;
    bool dense =
        view->ndim == 1 && view->source_ndim == 1 && L->dense.at[base] && view->axis[0] == 0 && view->step[0] == 1;
    return intern_view(L, b, dense);
}

uint32_t
jy_lower_temp_like(struct jy_lower *L, jy_ref r)
{
    return add_buffer(L, describe(L, JY_BUFFER_TEMP, r, true), true);
}

uint32_t
jy_lower_tile_buffer(struct jy_lower *L, jy_dtype dtype, uint32_t offset, int64_t n)
{
    static const uint8_t order[1] = { 0 };
    jy_sx *shape = JY_NEW(L->arena, jy_sx);
    shape[0] = jy_sizes_const(&L->g->g_sizes, n);
    for (uint32_t i = 0; i < L->plan->p_buffers.n; i++) {
        const struct jy_buffer *b = &L->plan->p_buffers.at[i];
        if (b->b_kind == JY_BUFFER_TILE && b->b_dtype == dtype && b->b_index == offset && b->b_tile == n)
            return i;
    }
    size_t end = offset + (size_t)n * jy_dtype_info[dtype].bytes;
    if (end > L->plan->p_tile_bytes)
        L->plan->p_tile_bytes = (end + 63) / 64 * 64;
    struct jy_buffer b = { .b_kind = JY_BUFFER_TILE,
                           .b_dtype = (uint8_t)dtype,
                           .b_ndim = 1,
                           .b_unit_axis = 0,
                           .b_index = offset,
                           .b_tile = n,
                           .b_shape = shape,
                           .b_order = order,
                           .b_node = JY_NO_REF };
    return add_buffer(L, b, true);
}

uint32_t
jy_lower_object(struct jy_lower *L, jy_ref r, uint32_t step)
{
    uint32_t buffer = jy_lower_buffer(L, r);
    assert(L->plan->p_buffers.at[buffer].b_kind == JY_BUFFER_OBJECT);
    L->plan->p_buffers.at[buffer].b_index = step;
    return buffer;
}
