/* Runs a graph through the interpreter of graphs, and its plan through the interpreter of loops, on equal copies of the same inputs, and
 * compares everything a caller could see: outputs and their strides, inputs that were written, the status.
 *
 * The inner loops lent to both are made to notice what NumPy's notice: minimum and maximum pick between zeros by position in the run,
 * power takes a short cut for an exponent of stride 0 (in runs of more than one element: a run of one tells nothing). */
#ifndef JY_PLAN_DRIVER_H
#define JY_PLAN_DRIVER_H

#include "graph/plan.h"
#include "graph/scalar.h"
#include "tests/unit/test.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct driver_input {
    char *block; /* all memory that the array can reach; freed by the owner */
    size_t bytes;
    int64_t offset; /* of element 0 in it */
    int64_t stride[JY_MAX_NDIM];
    union jy_scalar value;
};

struct driver_result {
    struct jy_desc desc;
    union jy_scalar value;
};

struct driver {
    const struct jy_graph *graph;
    struct jy_arena *arena;
    const int64_t *symbols;
    int64_t sum_chunk;
    struct driver_input *inputs;
    char **blocks; /* of the current run, per input */
    struct driver_result *results;
};

/* One function for every inner loop; `data` points at the row. */
struct driver_loop {
    jy_op op;
    jy_dtype dtype;
};

static inline double
driver_apply(jy_op op, double x, double y, bool uniform)
{
    switch ((int)op) {
    case JY_OP_EXP:
        return exp(x);
    case JY_OP_LOG:
        return log(x);
    case JY_OP_SIN:
        return sin(x);
    case JY_OP_TANH:
        return tanh(x);
    case JY_OP_POWER:
        return uniform && y == 0.5 ? sqrt(x) : nextafter(pow(x, y), 0.0);
    case JY_OP_ARCTAN2:
        return atan2(x, y);
    case JY_OP_HYPOT:
        return hypot(x, y);
    default:
        return x;
    }
}

/* Four lanes, every one started with the accumulator, combined 0, 2, 1, 3; on a tie the later operand wins. */
static inline double
driver_minmax(jy_op op, double acc, const char *data, intptr_t n, intptr_t stride, bool wide)
{
    double lane[4] = { acc, acc, acc, acc };
    static const int order[4] = { 0, 2, 1, 3 };
    for (intptr_t i = 0; i < n; i++) {
        double x = wide ? *(const double *)(data + i * stride) : (double)*(const float *)(data + i * stride);
        double *at = &lane[i & 3];
        if (isnan(x) || (!isnan(*at) && (op == JY_OP_MINIMUM ? x <= *at : x >= *at)))
            *at = x;
    }
    double best = lane[0];
    for (int k = 1; k < 4; k++) {
        double x = lane[order[k]];
        if (isnan(x) || (!isnan(best) && (op == JY_OP_MINIMUM ? x <= best : x >= best)))
            best = x;
    }
    return best;
}

static inline void
driver_loop_run(char **args, const intptr_t *dims, const intptr_t *strides, void *data)
{
    const struct driver_loop *row = data;
    size_t nin = (size_t)jy_op_info[row->op].arity, bytes = jy_dtype_info[row->dtype].bytes;
    bool wide = row->dtype == JY_F64;
    if (row->op == JY_OP_MINIMUM || row->op == JY_OP_MAXIMUM) {
        bool reduces = args[0] == args[2] && strides[0] == 0;
        double acc = wide ? *(double *)args[0] : (double)*(float *)args[0];
        if (reduces && dims[0] > 1) {
            acc = driver_minmax(row->op, acc, args[1], dims[0], strides[1], wide);
            if (wide)
                *(double *)args[2] = acc;
            else
                *(float *)args[2] = (float)acc;
            return;
        }
        for (intptr_t i = 0; i < dims[0]; i++) {
            union jy_scalar pair[2] = { jy_scalar_load(row->dtype, args[0] + i * strides[0]),
                                        jy_scalar_load(row->dtype, args[1] + i * strides[1]) };
            jy_scalar_store(row->dtype, args[2] + i * strides[2], jy_scalar_apply(row->op, row->dtype, pair, NULL));
        }
        return;
    }
    for (intptr_t i = 0; i < dims[0]; i++) {
        union jy_scalar v[2] = { { .i = 0 }, { .i = 0 } }, out;
        for (size_t k = 0; k < nin; k++)
            v[k] = jy_scalar_load(row->dtype, args[k] + i * strides[k]);
        if (row->dtype == JY_F32)
            out.f = (float)driver_apply(row->op, (double)v[0].f, (double)v[1].f, dims[0] > 1 && strides[1] == 0);
        else if (row->dtype == JY_F64)
            out.d = driver_apply(row->op, v[0].d, v[1].d, dims[0] > 1 && strides[1] == 0);
        else
            out.i = v[1].i == 0 || v[1].i == -1 ? 0 : v[0].i / v[1].i;
        (void)bytes;
        jy_scalar_store(row->dtype, args[nin] + i * strides[nin], out);
    }
}

static inline struct jy_loop_fn
driver_loop_of(void *context, jy_op op, jy_dtype dtype)
{
    struct driver *d = context;
    struct driver_loop *row = JY_NEW(d->arena, struct driver_loop);
    *row = (struct driver_loop){ op, dtype };
    return (struct jy_loop_fn){ driver_loop_run, row, NULL };
}

static inline int64_t
driver_extent(const struct driver *d, jy_sx size)
{
    int64_t value = 0;
    if (!jy_sizes_eval(&value, &d->graph->g_sizes, size, d->symbols))
        CHECK(!"a size has no value");
    return value;
}

static inline struct jy_desc
driver_dense(struct driver *d, jy_dtype dtype, size_t ndim, const jy_sx *shape, const uint8_t *order)
{
    struct jy_desc desc = { .data = NULL };
    int64_t extents[JY_MAX_NDIM], count = 1;
    for (size_t k = 0; k < ndim; k++) {
        extents[k] = driver_extent(d, shape[k]);
        count *= extents[k];
    }
    struct jy_layout layout = jy_layout_fresh(ndim, extents, order, jy_dtype_info[dtype].bytes);
    memcpy(desc.stride, layout.stride, sizeof layout.stride);
    desc.data = jy_arena_alloc(d->arena, (size_t)count * 8 + 64);
    return desc;
}

static inline void
driver_input(void *context, uint32_t number, struct jy_desc *desc, union jy_scalar *value)
{
    struct driver *d = context;
    const struct driver_input *in = &d->inputs[number];
    if (in->block != NULL) {
        desc->data = d->blocks[number] + in->offset;
        memcpy(desc->stride, in->stride, sizeof in->stride);
    }
    *value = in->value;
}

/* out = a @ b with axes padded to two, sums in order. */
static inline jy_status
driver_matmul(void *context, const struct jy_node *node, const struct jy_desc *a, const struct jy_desc *b,
              struct jy_desc *out)
{
    struct driver *d = context;
    const struct jy_node *x = jy_graph_at(d->graph, node->n_args[0]), *y = jy_graph_at(d->graph, node->n_args[1]);
    int64_t m = x->n_ndim == 2 ? driver_extent(d, x->n_shape[0]) : 1, n = driver_extent(d, x->n_shape[x->n_ndim - 1]);
    int64_t p = y->n_ndim == 2 ? driver_extent(d, y->n_shape[1]) : 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < p; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += *(double *)(a->data + (x->n_ndim == 2 ? i * a->stride[0] : 0) + k * a->stride[x->n_ndim - 1]) *
                       *(double *)(b->data + k * b->stride[0] + (y->n_ndim == 2 ? j * b->stride[1] : 0));
            size_t axis = 0;
            char *at = out->data;
            at += x->n_ndim == 2 ? i * out->stride[axis++] : 0;
            at += y->n_ndim == 2 ? j * out->stride[axis] : 0;
            *(double *)at = sum;
        }
    return JY_OK;
}

/* A call-out that copies its operand. */
static inline jy_status
driver_callout(void *context, const struct jy_node *node, const struct jy_desc *args, struct jy_desc *out)
{
    struct driver *d = context;
    int64_t index[JY_MAX_NDIM] = { 0 }, extents[JY_MAX_NDIM], count = 1;
    for (size_t k = 0; k < node->n_ndim; k++)
        count *= extents[k] = driver_extent(d, node->n_shape[k]);
    for (int64_t i = 0; i < count; i++) {
        char *from = args[0].data, *to = out->data;
        for (size_t k = 0; k < node->n_ndim; k++) {
            from += index[k] * args[0].stride[k];
            to += index[k] * out->stride[k];
        }
        memcpy(to, from, jy_dtype_info[node->n_dtype].bytes);
        for (size_t k = node->n_ndim; k-- > 0;) {
            if (++index[k] < extents[k])
                break;
            index[k] = 0;
        }
    }
    return JY_OK;
}

static inline jy_status
driver_output(void *context, size_t k, jy_ref node, const struct jy_desc *desc, union jy_scalar value)
{
    struct driver *d = context;
    (void)node;
    d->results[k] = (struct driver_result){ *desc, value };
    return JY_OK;
}

/* Fresh copies of the inputs' memory. */
static inline char **
driver_copy_inputs(struct driver *d)
{
    char **blocks = JY_NEW_ARRAY(d->arena, char *, d->graph->g_ninputs + 1);
    for (uint32_t i = 0; i < d->graph->g_ninputs; i++)
        if (d->inputs[i].block != NULL)
            blocks[i] = jy_arena_copy(d->arena, d->inputs[i].block, d->inputs[i].bytes);
    return blocks;
}

static inline jy_status
driver_run_graph(struct driver *d, uint32_t *status)
{
    struct jy_graph_io io = { .context = d,
                              .input = driver_input,
                              .symbols = d->symbols,
                              .sum_chunk = d->sum_chunk,
                              .loop = driver_loop_of,
                              .matmul = driver_matmul,
                              .callout = driver_callout,
                              .output = driver_output };
    jy_status s = jy_graph_eval(d->graph, d->arena, &io);
    *status = io.status;
    return s;
}

/* A reduction done "by NumPy": a graph of its own around it. */
static inline void
driver_reduce(struct driver *d, const struct jy_plan *plan, const struct jy_step *step, struct jy_call *call)
{
    const struct jy_buffer *b = &plan->p_buffers.at[step->s_args[0].index];
    struct jy_graph *g = jy_graph_new(d->arena, "reduce");
    jy_sx shape[JY_MAX_NDIM];
    int64_t extents[JY_MAX_NDIM];
    for (size_t k = 0; k < b->b_ndim; k++) {
        extents[k] = driver_extent(d, b->b_shape[k]);
        shape[k] = jy_sizes_const(&g->g_sizes, extents[k]);
    }
    struct jy_layout layout = jy_layout_of_strides(b->b_ndim, extents, call->desc[step->s_args[0].index].stride,
                                                   jy_dtype_info[b->b_dtype].bytes);
    jy_ref x = jy_graph_placeholder(g, JY_KIND_ARRAY, (jy_dtype)b->b_dtype, b->b_ndim, shape, &layout);
    const struct jy_node *node = jy_graph_at(d->graph, step->s_node);
    jy_ref r = jy_graph_reduce(g, (jy_op)step->s_op, (enum jy_kind)node->n_kind, x, step->s_axes, step->s_keepdims);
    if (node->n_ndim != 0) {
        int64_t out_extents[JY_MAX_NDIM];
        for (size_t k = 0; k < node->n_ndim; k++)
            out_extents[k] = driver_extent(d, node->n_shape[k]);
        struct jy_layout out =
            jy_layout_fresh(node->n_ndim, out_extents, node->n_layout->order, jy_dtype_info[node->n_dtype].bytes);
        jy_graph_set_layout(g, r, &out);
    }
    jy_graph_add_output(g, r);
    struct driver_result result;
    struct driver_input in = { .block = call->desc[step->s_args[0].index].data };
    memcpy(in.stride, call->desc[step->s_args[0].index].stride, sizeof in.stride);
    char *block = in.block;
    struct driver inner = { g, d->arena, NULL, d->sum_chunk, &in, &block, &result };
    uint32_t status;
    CHECK_INT(driver_run_graph(&inner, &status), JY_OK);
    if (step->s_out.scalar)
        call->scalar[step->s_out.index] = result.value;
    else
        call->desc[step->s_out.index] = result.desc;
}

static inline void
driver_perform(struct driver *d, const struct jy_plan *plan, const struct jy_step *step, struct jy_call *call)
{
    if (step->s_kind == JY_STEP_KERNEL) {
        CHECK_INT(jy_loop_eval(plan, step->s_kernel, call), 0);
        return;
    }
    if (step->s_kind == JY_STEP_NPREDUCE) {
        driver_reduce(d, plan, step, call);
        return;
    }
    const struct jy_node *node = jy_graph_at(d->graph, step->s_node);
    struct jy_desc args[8], out = { .data = NULL };
    union jy_scalar boxed[8], result = { .i = 0 };
    for (size_t i = 0; i < step->s_nargs; i++)
        if (step->s_args[i].scalar) {
            jy_dtype dtype = (jy_dtype)plan->p_scalars.at[step->s_args[i].index].dtype;
            jy_scalar_store(dtype, &boxed[i], call->scalar[step->s_args[i].index]);
            args[i] = (struct jy_desc){ .data = (char *)&boxed[i] };
        } else {
            args[i] = call->desc[step->s_args[i].index];
        }
    if (step->s_out.scalar)
        out.data = (char *)&result;
    else if (step->s_kind == JY_STEP_CALLOUT)
        out = driver_dense(d, (jy_dtype)node->n_dtype, node->n_ndim, node->n_shape,
                           node->n_layout == NULL ? NULL : node->n_layout->order);
    else
        out = call->desc[step->s_out.index];
    if (step->s_kind == JY_STEP_MATMUL)
        driver_matmul(d, node, &args[0], &args[1], &out);
    else
        driver_callout(d, node, args, &out);
    if (step->s_out.scalar)
        call->scalar[step->s_out.index] = jy_scalar_load((jy_dtype)node->n_dtype, &result);
    else
        call->desc[step->s_out.index] = out;
}

/* What the runtime does before a step: views of memory that is there by now. */
static inline void
driver_fill_views(struct driver *d, const struct jy_plan *plan, struct jy_desc *desc)
{
    for (size_t i = 0; i < plan->p_buffers.n; i++) {
        const struct jy_buffer *b = &plan->p_buffers.at[i];
        if (b->b_kind != JY_BUFFER_VIEW || desc[b->b_index].data == NULL)
            continue;
        const struct jy_desc *base = &desc[b->b_index];
        if (b->b_view == NULL) {
            desc[i] = driver_dense(d, (jy_dtype)b->b_dtype, b->b_ndim, b->b_shape, NULL);
            desc[i].data = base->data;
            continue;
        }
        desc[i].data = base->data;
        bool empty = false;
        for (size_t a = 0; a < b->b_view->source_ndim; a++)
            empty |= driver_extent(d, plan->p_buffers.at[b->b_index].b_shape[a]) == 0;
        for (size_t a = 0; a < b->b_view->source_ndim && !empty; a++)
            desc[i].data += driver_extent(d, b->b_view->start[a]) * base->stride[a];
        for (size_t k = 0; k < b->b_ndim; k++)
            desc[i].stride[k] = b->b_view->axis[k] < 0 ? 0 : b->b_view->step[k] * base->stride[b->b_view->axis[k]];
    }
}

static inline void
driver_run_plan(struct driver *d, const struct jy_plan *plan, uint32_t *status)
{
    struct jy_desc *desc = JY_NEW_ARRAY(d->arena, struct jy_desc, plan->p_buffers.n + 1);
    int64_t *sizes = JY_NEW_ARRAY(d->arena, int64_t, plan->p_sizes.n + 1);
    union jy_scalar *scalars = JY_NEW_ARRAY(d->arena, union jy_scalar, plan->p_scalars.n + 1);
    struct jy_loop_fn *loops = JY_NEW_ARRAY(d->arena, struct jy_loop_fn, plan->p_loops.n + 1);
    for (size_t i = 0; i < plan->p_sizes.n; i++)
        sizes[i] = driver_extent(d, plan->p_sizes.at[i]);
    for (size_t i = 0; i < plan->p_loops.n; i++)
        loops[i] = driver_loop_of(d, (jy_op)plan->p_loops.at[i].op, (jy_dtype)plan->p_loops.at[i].dtypes[0]);
    for (uint32_t i = 0; i < plan->p_inputs.n; i++) {
        union jy_scalar value;
        struct jy_desc in = { .data = NULL };
        driver_input(d, i, &in, &value);
        if (plan->p_inputs.at[i].scalar)
            scalars[plan->p_inputs.at[i].index] = value;
        else
            desc[plan->p_inputs.at[i].index] = in;
    }
    for (size_t i = 0; i < plan->p_buffers.n; i++) {
        const struct jy_buffer *b = &plan->p_buffers.at[i];
        if (b->b_kind == JY_BUFFER_OUTPUT || b->b_kind == JY_BUFFER_TEMP)
            desc[i] = driver_dense(d, (jy_dtype)b->b_dtype, b->b_ndim, b->b_shape, b->b_order);
    }
    struct jy_call call = { .desc = desc,
                            .size = sizes,
                            .scalar = scalars,
                            .loop = loops,
                            .sum_chunk = d->sum_chunk,
                            .tile = jy_arena_alloc(d->arena, plan->p_tile_bytes + 64) };
    for (size_t i = 0; i < plan->p_steps.n; i++) {
        driver_fill_views(d, plan, desc);
        driver_perform(d, plan, &plan->p_steps.at[i], &call);
    }
    driver_fill_views(d, plan, desc);
    for (size_t k = 0; k < plan->p_outputs.n; k++) {
        const struct jy_plan_output *o = &plan->p_outputs.at[k];
        if (o->place.scalar)
            d->results[k].value = scalars[o->place.index];
        else
            d->results[k].desc = desc[o->place.index];
        if (!o->place.scalar && jy_graph_at(d->graph, o->node)->n_ndim == 0)
            d->results[k].value = jy_scalar_load((jy_dtype)o->dtype, desc[o->place.index].data);
    }
    *status = call.status;
}

static inline bool
driver_same_bits(jy_dtype dtype, union jy_scalar x, union jy_scalar y)
{
    if (dtype == JY_F64)
        return (isnan(x.d) && isnan(y.d)) || x.bits == y.bits;
    if (dtype == JY_F32)
        return (isnan(x.f) && isnan(y.f)) || memcmp(&x.f, &y.f, sizeof x.f) == 0;
    return x.i == y.i;
}

/* The first difference between output k of both runs in words, or NULL. */
static inline const char *
driver_compare_output(struct driver *d, size_t k, const struct driver_result *want, const struct driver_result *got)
{
    const struct jy_node *node = jy_graph_at(d->graph, d->graph->g_outputs.at[k]);
    jy_dtype dtype = (jy_dtype)node->n_dtype;
    int64_t index[JY_MAX_NDIM] = { 0 }, extents[JY_MAX_NDIM], count = 1;
    if (node->n_ndim == 0)
        return driver_same_bits(dtype, want->value, got->value)
                   ? NULL
                   : jy_arena_printf(d->arena, "output %zu: %a (%" PRId64 "), want %a (%" PRId64 ")", k, got->value.d,
                                     got->value.i, want->value.d, want->value.i);
    for (size_t a = 0; a < node->n_ndim; a++)
        count *= extents[a] = driver_extent(d, node->n_shape[a]);
    for (size_t a = 0; a < node->n_ndim; a++)
        if (count != 0 && extents[a] > 1 && want->desc.stride[a] != got->desc.stride[a] &&
            jy_op_info[node->n_op].klass != JY_CLASS_CALL)
            return jy_arena_printf(d->arena, "output %zu: stride %" PRId64 " of axis %zu, want %" PRId64, k,
                                   got->desc.stride[a], a, want->desc.stride[a]);
    for (int64_t i = 0; i < count; i++) {
        int64_t x = 0, y = 0;
        for (size_t a = 0; a < node->n_ndim; a++) {
            x += index[a] * want->desc.stride[a];
            y += index[a] * got->desc.stride[a];
        }
        union jy_scalar u = jy_scalar_load(dtype, want->desc.data + x), v = jy_scalar_load(dtype, got->desc.data + y);
        if (!driver_same_bits(dtype, u, v))
            return jy_arena_printf(d->arena, "output %zu, element %" PRId64 ": %a (%" PRId64 "), want %a (%" PRId64 ")",
                                   k, i, v.d, v.i, u.d, u.i);
        for (size_t a = node->n_ndim; a-- > 0;) {
            if (++index[a] < extents[a])
                break;
            index[a] = 0;
        }
    }
    return NULL;
}

/* Both ways; NULL when nothing differs. `plan` must be that of d->graph. */
static inline const char *
driver_compare(struct driver *d, const struct jy_plan *plan)
{
    size_t n = d->graph->g_outputs.n + 1;
    struct driver_result *want = JY_NEW_ARRAY(d->arena, struct driver_result, n),
                         *got = JY_NEW_ARRAY(d->arena, struct driver_result, n);
    char **want_blocks = driver_copy_inputs(d), **got_blocks = driver_copy_inputs(d);
    uint32_t want_status, got_status;
    d->blocks = want_blocks;
    d->results = want;
    if (driver_run_graph(d, &want_status) != JY_OK)
        return NULL; /* eager would have raised: the plan is not run */
    d->blocks = got_blocks;
    d->results = got;
    driver_run_plan(d, plan, &got_status);
    if (want_status != got_status)
        return jy_arena_printf(d->arena, "status %u, want %u", got_status, want_status);
    for (size_t k = 0; k < d->graph->g_outputs.n; k++) {
        const char *difference = driver_compare_output(d, k, &want[k], &got[k]);
        if (difference != NULL)
            return difference;
    }
    for (uint32_t i = 0; i < d->graph->g_ninputs; i++)
        if (d->inputs[i].block != NULL && memcmp(want_blocks[i], got_blocks[i], d->inputs[i].bytes) != 0)
            return jy_arena_printf(d->arena, "memory of input %u differs", i);
    return NULL;
}

#endif
