/* The slow interpreter of graphs, the oracle of everything below it: one node after another, one element after another.
 *
 * Decides: nothing that is not in the graph. Fresh arrays are dense in the axis order of their layout, as eager would have them, so that a reduction can
 * follow the order of memory; views and STOREs address the memory of their storage; scalars are memory of one element.
 * Relies on: a verified graph; scalar.c for the arithmetic, reduce_order.c and pairwise.c for the order of sums; `io` for inputs,
 * outputs and what is NumPy's own (inner loops, matrix products, call-outs).
 * Guarantees: the bits and FP flags of eager execution. Memory comes from the arena and goes with it. */
#include "graph/plan.h"
#include "graph/reduce_order.h"
#include "graph/scalar.h"
#include <assert.h>
#include <string.h>

/* A value and where it lies. */
struct place {
    struct jy_desc desc;
    int64_t extent[JY_MAX_NDIM];
    int64_t count;
    uint8_t ndim, dtype;
};

struct eval {
    const struct jy_graph *g;
    struct jy_arena *arena;
    struct jy_graph_io *io;
    struct place *places;
};

static const struct place *
operand(const struct eval *e, const struct jy_node *node, size_t i)
{
    return &e->places[node->n_args[i]];
}

static char *
element(const struct place *p, const int64_t *index)
{
    char *at = p->desc.data;
    for (size_t d = 0; d < p->ndim; d++)
        at += index[d] * p->desc.stride[d];
    return at;
}

/* The element of an operand that meets element `index` of a result of `ndim` axes: matched from the right, extent 1 stretched. */
static char *
broadcast_element(const struct place *p, size_t ndim, const int64_t *index)
{
    char *at = p->desc.data;
    for (size_t d = 0; d < p->ndim; d++)
        at += p->extent[d] == 1 ? 0 : index[ndim - p->ndim + d] * p->desc.stride[d];
    return at;
}

/* The next index in C order; false after the last. */
static bool
advance(int64_t *index, const struct place *p)
{
    for (size_t d = p->ndim; d-- > 0;) {
        if (++index[d] < p->extent[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static jy_status
set_extents(struct place *p, const struct eval *e, const struct jy_node *node)
{
    p->ndim = node->n_ndim;
    p->dtype = node->n_dtype;
    p->count = 1;
    for (size_t d = 0; d < node->n_ndim; d++) {
        if (!jy_sizes_eval(&p->extent[d], &e->g->g_sizes, node->n_shape[d], e->io->symbols) || p->extent[d] < 0)
            return JY_BREAK;
        if (__builtin_mul_overflow(p->count, p->extent[d], &p->count))
            return JY_NOMEM;
    }
    return JY_OK;
}

/* Fresh memory, dense in the given order of axes. */
static jy_status
allocate(struct place *p, const struct eval *e, const uint8_t *order)
{
    int64_t itemsize = jy_dtype_info[p->dtype].bytes, bytes;
    if (__builtin_mul_overflow(p->count, itemsize, &bytes))
        return JY_NOMEM;
    struct jy_layout layout = jy_layout_fresh(p->ndim, p->extent, order, (size_t)itemsize);
    if (p->count != 0) /* of an array of nothing NumPy makes them 0 */
        memcpy(p->desc.stride, layout.stride, sizeof(layout.stride));
    p->desc.data = jy_arena_alloc(e->arena, (size_t)bytes + sizeof(union jy_scalar));
    return JY_OK;
}

static jy_status
eval_source(struct eval *e, const struct jy_node *node, struct place *p)
{
    union jy_scalar value = node->n_value;
    if (node->n_op == JY_OP_PLACEHOLDER)
        e->io->input(e->io->context, node->n_input, &p->desc, &value);
    if (node->n_op == JY_OP_SIZE && !jy_sizes_eval(&value.i, &e->g->g_sizes, node->n_size, e->io->symbols))
        return JY_BREAK;
    if (node->n_kind != JY_KIND_ARRAY)
        jy_scalar_store((jy_dtype)node->n_dtype, p->desc.data, value);
    return JY_OK;
}

static void
eval_ew(struct eval *e, const struct jy_node *node, struct place *p)
{
    jy_dtype dtype = (jy_dtype)operand(e, node, node->n_op == JY_OP_WHERE)->dtype;
    uint32_t *status = node->n_kind == JY_KIND_ARRAY ? NULL : &e->io->status;
    int64_t index[JY_MAX_NDIM] = { 0 };
    union jy_scalar args[3];
    do {
        for (size_t i = 0; i < node->n_nargs; i++)
            args[i] = jy_scalar_load((jy_dtype)operand(e, node, i)->dtype,
                                     broadcast_element(operand(e, node, i), p->ndim, index));
        union jy_scalar value = node->n_op == JY_OP_CAST ? jy_scalar_cast(dtype, (jy_dtype)p->dtype, args[0])
                                                         : jy_scalar_apply((jy_op)node->n_op, dtype, args, status);
        jy_scalar_store((jy_dtype)p->dtype, element(p, index), value);
    } while (advance(index, p));
}

/* NumPy's own loop, called along the innermost axis with the strides that it would see there (0 for scalars and along an extent of 1: some loops
 * look at that). */
static jy_status
eval_tile(struct eval *e, const struct jy_node *node, struct place *p)
{
    struct jy_loop_fn loop = e->io->loop(e->io->context, (jy_op)node->n_op, (jy_dtype)operand(e, node, 0)->dtype);
    if (loop.fn == NULL)
        return JY_BREAK;
    size_t axis = p->ndim == 0 ? 0 : node->n_layout->order[p->ndim - 1];
    intptr_t n = p->ndim == 0 ? 1 : p->extent[axis], steps[4] = { 0 };
    for (size_t i = 0; i < node->n_nargs; i++) {
        const struct place *x = operand(e, node, i);
        size_t missing = (size_t)(p->ndim - x->ndim);
        if (axis >= missing && x->ndim != 0 && x->extent[axis - missing] != 1)
            steps[i] = x->desc.stride[axis - missing];
    }
    steps[node->n_nargs] = p->ndim == 0 ? jy_dtype_info[p->dtype].bytes : p->desc.stride[axis];
    struct place rows = *p;
    if (p->ndim != 0)
        rows.extent[axis] = 1;
    int64_t index[JY_MAX_NDIM] = { 0 };
    do {
        char *args[4];
        for (size_t i = 0; i < node->n_nargs; i++)
            args[i] = broadcast_element(operand(e, node, i), p->ndim, index);
        args[node->n_nargs] = element(p, index);
        loop.fn(args, &n, steps, loop.data);
    } while (advance(index, &rows));
    return JY_OK;
}

static jy_status
move_to_view(struct place *p, const struct eval *e, const struct place *source, const struct jy_view *view)
{
    for (size_t d = 0; d < view->ndim; d++) {
        p->desc.stride[d] = 0;
        if (view->axis[d] >= 0)
            p->desc.stride[d] = view->step[d] * source->desc.stride[view->axis[d]];
    }
    p->desc.data = source->desc.data;
    for (size_t a = 0; a < view->source_ndim; a++) {
        int64_t start;
        if (!jy_sizes_eval(&start, &e->g->g_sizes, view->start[a], e->io->symbols))
            return JY_BREAK;
        p->desc.data += start * source->desc.stride[a];
    }
    return JY_OK;
}

/* Every element of `to` from the one of `from` that meets it. */
static void
copy_elements(const struct place *to, const struct place *from)
{
    int64_t index[JY_MAX_NDIM] = { 0 };
    if (to->count != 0)
        do
            memcpy(element(to, index), broadcast_element(from, to->ndim, index), jy_dtype_info[to->dtype].bytes);
        while (advance(index, to));
}

/* The right side is read as a whole before anything is written: it may overlap the region. */
static jy_status
eval_store(struct eval *e, const struct jy_node *node, struct place *p)
{
    struct place value = *operand(e, node, 1), region = *p;
    p->desc = operand(e, node, 0)->desc;
    region.desc = p->desc;
    TRY(allocate(&value, e, NULL));
    copy_elements(&value, operand(e, node, 1));
    if (node->n_view != NULL) {
        region.ndim = value.ndim;
        region.count = value.count;
        memcpy(region.extent, value.extent, sizeof(region.extent));
        TRY(move_to_view(&region, e, p, node->n_view));
    }
    copy_elements(&region, &value);
    return JY_OK;
}

struct fold {
    jy_op op; /* of two elements */
    jy_dtype dtype;
    bool pairwise, seeded;  /* float sums; min and max start from the first element */
    struct jy_loop_fn loop; /* NumPy's, for min and max of floats: it decides between zeros of both signs */
};

static union jy_scalar
sum_run(jy_dtype dtype, const char *data, int64_t n, int64_t stride)
{
    struct jy_pairwise s;
    for (int64_t k = jy_pairwise_begin(&s, n, INT64_MAX); k != 0;)
        if (dtype == JY_F64)
            k = jy_pairwise_next_f64(&s, jy_pairwise_leaf_f64(data + s.start * stride, k, stride));
        else
            k = jy_pairwise_next_f32(&s, jy_pairwise_leaf_f32(data + s.start * stride, k, stride));
    return s.value;
}

static void
accumulate(const struct fold *f, char *acc, char *data, int64_t n, int64_t stride)
{
    if (f->loop.fn != NULL && n != 0) {
        char *args[3] = { acc, data, acc };
        intptr_t count = n, steps[3] = { 0, stride, 0 };
        f->loop.fn(args, &count, steps, f->loop.data);
        return;
    }
    union jy_scalar pair[2] = { jy_scalar_load(f->dtype, acc) };
    if (f->pairwise) {
        pair[1] = sum_run(f->dtype, data, n, stride);
        pair[0] = jy_scalar_apply(f->op, f->dtype, pair, NULL);
        n = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        pair[1] = jy_scalar_load(f->dtype, data + i * stride);
        pair[0] = jy_scalar_apply(f->op, f->dtype, pair, NULL);
    }
    jy_scalar_store(f->dtype, acc, pair[0]);
}

/* One run into one result element; its first element seeds the result where the operation has no identity. */
static void
fold_run(const struct eval *e, const struct fold *f, const struct jy_reduce_order *o, const struct place *x,
         const struct place *p, uint8_t *seen)
{
    int64_t in, out, next, n = o->n, itemsize = jy_dtype_info[x->dtype].bytes, stride = o->dim[0].in;
    jy_reduce_order_place(&in, &out, o, o->start);
    char *data = x->desc.data + in, *acc = p->desc.data + out * itemsize;
    if (o->gathered) {
        data = jy_arena_alloc(e->arena, (size_t)(n * itemsize));
        stride = itemsize;
        for (int64_t i = 0; i < n; i++) {
            jy_reduce_order_place(&in, &next, o, o->start + i);
            memcpy(data + i * itemsize, x->desc.data + in, (size_t)itemsize);
        }
    }
    if (f->seeded && !seen[out]) {
        seen[out] = 1;
        memcpy(acc, data, (size_t)itemsize);
        data += stride;
        n--;
    }
    accumulate(f, acc, data, n, stride);
}

static void
fold_elements(const struct fold *f, const struct jy_reduce_order *o, const struct place *x, const struct place *p,
              uint8_t *seen)
{
    int64_t in, out, itemsize = jy_dtype_info[x->dtype].bytes;
    for (int64_t i = 0; i < o->n; i++) {
        jy_reduce_order_place(&in, &out, o, o->start + i);
        if (f->seeded && !seen[out])
            memcpy(p->desc.data + out * itemsize, x->desc.data + in, (size_t)itemsize);
        else
            accumulate(f, p->desc.data + out * itemsize, x->desc.data + in, 1, itemsize);
        seen[out] = 1;
    }
}

static struct fold
fold_of(const struct eval *e, const struct jy_node *node, jy_dtype dtype)
{
    struct fold f = { .dtype = dtype, .seeded = node->n_op == JY_OP_MIN || node->n_op == JY_OP_MAX };
    bool known = jy_op_from_text(&f.op, jy_op_info[node->n_op].oracle); /* the ufunc whose reduce it is */
    assert(known);
    (void)known;
    f.pairwise = node->n_op == JY_OP_SUM && jy_dtype_is_float(dtype);
    if (f.seeded && jy_dtype_is_float(dtype))
        f.loop = e->io->loop(e->io->context, f.op, dtype);
    return f;
}

static jy_status
eval_reduce(struct eval *e, const struct jy_node *node, struct place *result)
{
    const struct place *x = operand(e, node, 0);
    struct fold f = fold_of(e, node, (jy_dtype)x->dtype);
    struct place dense = *result; /* reduce_order numbers result elements in C order */
    if (f.seeded && x->count == 0 && dense.count != 0)
        return JY_BREAK; /* eager raises */
    TRY(allocate(&dense, e, NULL));
    bool one = node->n_op == JY_OP_PROD || node->n_op == JY_OP_ALL;
    for (int64_t i = 0; i < dense.count; i++)
        jy_scalar_store(f.dtype, dense.desc.data + i * jy_dtype_info[dense.dtype].bytes,
                        jy_scalar_cast(JY_BOOL, f.dtype, (union jy_scalar){ .i = one }));
    uint8_t *seen = jy_arena_alloc(e->arena, (size_t)dense.count + 1);
    struct jy_reduce_order o;
    jy_reduce_order_begin(&o, x->ndim, x->extent, x->desc.stride, node->n_axes, jy_dtype_info[x->dtype].bytes,
                          e->io->sum_chunk);
    while (jy_reduce_order_next(&o))
        if (o.folds)
            fold_run(e, &f, &o, x, &dense, seen);
        else
            fold_elements(&f, &o, x, &dense, seen);
    copy_elements(result, &dense);
    return JY_OK;
}

static jy_status
eval_linalg(struct eval *e, const struct jy_node *node, struct place *p)
{
    struct place dense = *p;
    TRY(allocate(&dense, e, NULL));
    TRY(e->io->matmul(e->io->context, node, &operand(e, node, 0)->desc, &operand(e, node, 1)->desc, &dense.desc));
    copy_elements(p, &dense);
    return JY_OK;
}

static jy_status
eval_callout(struct eval *e, const struct jy_node *node, struct place *p)
{
    struct jy_desc *args = JY_NEW_ARRAY(e->arena, struct jy_desc, node->n_nargs + 1);
    for (size_t i = 0; i < node->n_nargs; i++)
        args[i] = operand(e, node, i)->desc;
    return e->io->callout(e->io->context, node, args, &p->desc);
}

static jy_status
eval_node(struct eval *e, jy_ref r)
{
    const struct jy_node *node = jy_graph_at(e->g, r);
    struct place *p = &e->places[r];
    enum jy_op_class klass = (enum jy_op_class)jy_op_info[node->n_op].klass;
    bool own = klass != JY_CLASS_VIEW && klass != JY_CLASS_STORE &&
               (node->n_op != JY_OP_PLACEHOLDER || node->n_kind != JY_KIND_ARRAY);
    struct jy_layout layout;
    TRY(set_extents(p, e, node));
    if (own)
        TRY(allocate(p, e, node->n_layout == NULL ? NULL : node->n_layout->order));
    if (p->count == 0 && (klass == JY_CLASS_EW || klass == JY_CLASS_CAST || klass == JY_CLASS_TILE))
        return JY_OK;
    switch (klass) {
    case JY_CLASS_SOURCE:
        return eval_source(e, node, p);
    case JY_CLASS_EW:
    case JY_CLASS_CAST:
        eval_ew(e, node, p);
        return JY_OK;
    case JY_CLASS_TILE:
        return eval_tile(e, node, p);
    case JY_CLASS_VIEW:
        if (node->n_op == JY_OP_VIEW)
            return move_to_view(p, e, operand(e, node, 0), node->n_view);
        layout = jy_layout_fresh(p->ndim, p->extent, NULL, jy_dtype_info[p->dtype].bytes);
        memcpy(p->desc.stride, layout.stride, sizeof(layout.stride));
        p->desc.data = operand(e, node, 0)->desc.data;
        return JY_OK;
    case JY_CLASS_CREATE:
        if (node->n_nargs != 0)
            copy_elements(p, operand(e, node, 0));
        return JY_OK;
    case JY_CLASS_REDUCE:
        return eval_reduce(e, node, p);
    case JY_CLASS_LINALG:
        return eval_linalg(e, node, p);
    case JY_CLASS_STORE:
        return eval_store(e, node, p);
    case JY_CLASS_CALL:
        return eval_callout(e, node, p);
    }
    return JY_BREAK;
}

jy_status
jy_graph_eval(const struct jy_graph *graph, struct jy_arena *arena, struct jy_graph_io *io)
{
    struct eval e = { graph, arena, io, JY_NEW_ARRAY(arena, struct place, graph->g_nodes.n + 1) };
    for (jy_ref r = 0; r < graph->g_nodes.n; r++)
        TRY(eval_node(&e, r));
    for (size_t k = 0; k < graph->g_outputs.n; k++) {
        jy_ref r = graph->g_outputs.at[k];
        union jy_scalar value = { 0 };
        if (e.places[r].ndim == 0)
            value = jy_scalar_load((jy_dtype)e.places[r].dtype, e.places[r].desc.data);
        TRY(io->output(io->context, k, r, &e.places[r].desc, value));
    }
    return JY_OK;
}
