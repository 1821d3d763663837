/* One call of a compiled unit.
 *
 *     extents -> inputs -> fresh arrays, scratch -> views -> [undo log] -> steps -> FP status -> results
 *
 * The tables of a call (descriptors, extents, scalars, objects) lie on the stack. On the way nothing is allocated but
 * results and, where the plan has them, scratch and the undo log.
 *
 * Flags. The registers are cleared before the first step and read after the last. If a kind was raised that errstate
 * reports:
 *   - nothing outside was written, or it was logged: put it back, JY_RUN_RERUN; the original then warns or raises as
 *     eager does;
 *   - a large region was written in place by a plan with one operation that can raise: nothing was logged. Then
 *     errstate only warns and no filter raises (looked at before the first step),
 *     so eager would have kept the values too, and the one warning is issued here with that operation's line. */
#include "runtime/alloc.h"
#include "frontend/cpython/compat.h"
#include "runtime/exec_fresh.h"
#include "runtime/fpstatus.h"
#include "runtime/loops.h"
#include "runtime/numpy_api.h"
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#ifdef JITNEY_HOSTILE /* the tables never fit */
#define STACK_MAX 8
#else
#define STACK_MAX 16384
#endif
#define UNDO_MAX (64 << 10) /* bytes; a larger region is worth avoiding its copy */

static PyArrayObject *
input_array(const struct jy_run_state *s, size_t i)
{
    return (PyArrayObject *)s->inputs[i];
}

bool
jy_run_symbols(int64_t *symbols, const struct jy_exec *exec, PyObject *const *inputs)
{
    const struct jy_sizes *sizes = &exec->plan->p_graph->g_sizes;
    for (size_t k = 0; k < sizes->symbols.n; k++) {
        const struct jy_symbol *symbol = &sizes->symbols.at[k];
        PyObject *input = inputs[symbol->placeholder];
        if (symbol->axis >= 0) {
            symbols[k] = PyArray_DIM((PyArrayObject *)input, symbol->axis);
        } else {
            union jy_scalar value;
            if (!jy_unwrap_scalar(&value, JY_I64, input))
                return false;
            symbols[k] = value.i;
        }
    }
    return true;
}

static bool
fill_extents(struct jy_run_state *s)
{
    const struct jy_exec *exec = s->exec;
    int64_t *symbols = NULL;
    if (exec->has_exprs) {
        symbols = alloca((exec->nsymbols + 1) * sizeof *symbols);
        if (!jy_run_symbols(symbols, exec, s->inputs))
            return false;
    }
    for (size_t i = 0; i < exec->nextents; i++) {
        const struct jy_extent *e = &exec->extents[i];
        union jy_scalar value;
        switch ((enum jy_extent_kind)e->kind) {
        case JY_EXTENT_AXIS:
            s->extent[i] = PyArray_DIM(input_array(s, e->input), e->axis);
            break;
        case JY_EXTENT_PYINT:
            if (!jy_unwrap_scalar(&value, JY_I64, s->inputs[e->input]))
                return false;
            s->extent[i] = value.i;
            break;
        case JY_EXTENT_CONST:
            s->extent[i] = e->value;
            break;
        case JY_EXTENT_EXPR:
            if (!jy_sizes_eval(&s->extent[i], &exec->plan->p_graph->g_sizes, e->sx, symbols))
                return false;
            break;
        }
    }
    return true;
}

static bool
fill_inputs(struct jy_run_state *s)
{
    const struct jy_exec *exec = s->exec;
    for (size_t i = 0; i < exec->ninputs; i++) {
        const struct jy_exec_input *in = &exec->inputs[i];
        if (in->scalar) {
            if (!jy_unwrap_scalar(&s->call.scalar[in->index], (jy_dtype)in->dtype, s->inputs[i]))
                return false;
            continue;
        }
        PyArrayObject *array = input_array(s, i);
        struct jy_desc *desc = &s->call.desc[in->index];
        desc->data = PyArray_BYTES(array);
        for (size_t d = 0; d < in->ndim; d++)
            desc->stride[d] = PyArray_STRIDES(array)[d];
        s->object[in->index] = s->inputs[i];
    }
    return true;
}

static bool
make_fresh(struct jy_run_state *s)
{
    const struct jy_exec *exec = s->exec;
    for (size_t i = 0; i < exec->nfresh; i++) {
        const struct jy_exec_block *b = &exec->fresh[i];
        PyObject *array = jy_run_fresh(&s->call.desc[b->buffer], b, s->extent);
        if (array == NULL)
            return false;
        s->object[b->buffer] = array;
    }
    return true;
}

/* Tile and temporaries share one block. */
static bool
make_scratch(struct jy_run_state *s)
{
    const struct jy_exec *exec = s->exec;
    if (exec->tile_bytes == 0 && exec->ntemps == 0)
        return true;
    size_t total = exec->tile_bytes, nbytes;
    int flags;
    for (size_t i = 0; i < exec->ntemps; i++) {
        const struct jy_exec_block *b = &exec->temps[i];
        int64_t dims[JY_MAX_NDIM];
        if (!jy_run_lay_out(&nbytes, &flags, s->call.desc[b->buffer].stride, dims, b, s->extent))
            return false;
        s->call.desc[b->buffer].data = (char *)(uintptr_t)total;
        if (__builtin_add_overflow(total, (nbytes + 63) & ~(size_t)63, &total))
            return false;
    }
    s->scratch = jy_block_alloc(total);
    if (s->scratch == NULL)
        return false;
    s->call.tile = s->scratch;
    for (size_t i = 0; i < exec->ntemps; i++) {
        char **data = &s->call.desc[exec->temps[i].buffer].data;
        *data = (char *)s->scratch + (uintptr_t)*data;
    }
    return true;
}

static void
place_tiles(struct jy_run_state *s)
{
    const struct jy_plan *plan = s->exec->plan;
    for (size_t i = 0; i < plan->p_buffers.n; i++) {
        const struct jy_buffer *b = &plan->p_buffers.at[i];
        if (b->b_kind != JY_BUFFER_TILE)
            continue;
        s->call.desc[i].data = s->call.tile + b->b_index;
        s->call.desc[i].stride[0] = jy_dtype_info[b->b_dtype].bytes;
    }
}

static void
place_reshape(struct jy_desc *desc, const struct jy_exec_view *v, const int64_t *extent)
{
    int64_t step = v->itemsize;
    for (size_t d = v->ndim; d-- > 0;) {
        desc->stride[d] = step;
        if (extent[v->extent[d]] != 0) /* as NumPy: an empty axis counts as one of extent 1 */
            step *= extent[v->extent[d]];
    }
}

bool
jy_run_place_views(struct jy_run_state *s, bool late)
{
    const struct jy_exec *exec = s->exec;
    for (size_t i = 0; i < exec->nviews; i++) {
        const struct jy_exec_view *v = &exec->views[i];
        if (v->late != late)
            continue;
        const struct jy_desc *base = &s->call.desc[v->base];
        struct jy_desc *desc = &s->call.desc[v->buffer];
        desc->data = base->data;
        if (v->reshape) {
            place_reshape(desc, v, s->extent);
            continue;
        }
        for (size_t d = 0; d < v->ndim; d++) {
            int64_t extent = s->extent[v->extent[d]];
            if (extent < 0)
                return false;
            if (v->axis[d] < 0) {
                desc->stride[d] = 0;
                continue;
            }
            desc->stride[d] = v->step[d] * base->stride[v->axis[d]];
        }
        for (size_t a = 0; a < v->source_ndim; a++)
            desc->data += s->extent[v->start[a]] * base->stride[a];
    }
    return true;
}

struct jy_region
jy_run_region(const struct jy_run_state *s, uint32_t buffer)
{
    const struct jy_buffer *b = &s->exec->plan->p_buffers.at[buffer];
    struct jy_region r = { .data = s->call.desc[buffer].data,
                           .ndim = b->b_ndim,
                           .itemsize = jy_dtype_info[b->b_dtype].bytes };
    for (size_t d = 0; d < b->b_ndim; d++) {
        r.shape[d] = s->extent[s->exec->buffer_extents[buffer * JY_MAX_NDIM + d]];
        r.stride[d] = s->call.desc[buffer].stride[d];
    }
    return r;
}

/* How a unit that writes what existed before the call is protected. */
enum protection { UNPROTECTED, LOGGED, WARNS_LATER, IMPOSSIBLE };

/* The only operation that can raise is on arrays, and a warning of it can be made from here. */
static bool
may_warn_later(const struct jy_exec *exec)
{
    const struct jy_plan *plan = exec->plan;
    if (!exec->only_kernels || plan->p_flag_nodes != 1 || exec->unit->u_errs_reported != 0 || exec->globals == NULL ||
        exec->options.executor != JY_EXEC_LLVM)
        return false;
    const struct jy_node *node = jy_graph_at(plan->p_graph, plan->p_flag_node);
    if (node->n_kind != JY_KIND_ARRAY || node->n_file == NULL)
        return false;
    PyObject *file =
        jy_compat_dict_get(exec->globals, "__file__"); /* an inlined function of another module has another registry */
    if (file == NULL || !PyUnicode_Check(file) || PyUnicode_CompareWithASCIIString(file, node->n_file) != 0)
        return false;
    return jy_errstate_get().beyond == 0 && jy_warnings_do_not_raise();
}

static enum protection
protect(struct jy_run_state *s, struct jy_region *regions)
{
    const struct jy_exec *exec = s->exec;
    size_t n = exec->plan->p_writes.n;
    if (n == 0 || !exec->may_fail)
        return UNPROTECTED;
    int64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        regions[i] = jy_run_region(s, exec->plan->p_writes.at[i].buffer);
        bytes += jy_region_bytes(&regions[i]);
    }
    if (bytes > UNDO_MAX && may_warn_later(exec))
        return WARNS_LATER;
    return jy_undo_save(&s->undo, regions, n) ? LOGGED : IMPOSSIBLE;
}

static enum jy_run
perform(struct jy_run_state *s)
{
    struct jy_exec *exec = s->exec;
    const struct jy_plan *plan = exec->plan;
    for (size_t i = 0; i < plan->p_steps.n; i++) {
        const struct jy_step *step = &plan->p_steps.at[i];
        enum jy_run run = JY_RUN_OK;
        int32_t failed = 0;
        switch ((enum jy_step_kind)step->s_kind) {
        case JY_STEP_KERNEL:
            failed = exec->kernels != NULL ? exec->kernels[step->s_kernel](&s->call)
                                           : jy_loop_eval(plan, step->s_kernel, &s->call);
            break;
        case JY_STEP_MATMUL:
            run = jy_run_product(s, step);
            break;
        case JY_STEP_NPREDUCE:
            run = jy_run_reduce(s, step);
            break;
        case JY_STEP_CALLOUT:
            run = jy_run_callout(s, step);
            break;
        }
        if (run != JY_RUN_OK)
            return run;
        if (failed)
            return JY_RUN_RERUN;
        if (s->call.status & JY_CALL_RERUN) {
            exec->stats.flag_reruns++;
            return JY_RUN_RERUN;
        }
    }
    return JY_RUN_OK;
}

static const char *
operation_name(const struct jy_node *node)
{
    uint8_t klass = jy_op_info[node->n_op].klass;
    if (klass == JY_CLASS_CAST || klass == JY_CLASS_STORE)
        return "cast";
    return klass == JY_CLASS_REDUCE ? "reduce" : jy_op_info[node->n_op].oracle;
}

/* Flags were raised. */
static enum jy_run
report(struct jy_run_state *s, enum protection protection)
{
    struct jy_exec *exec = s->exec;
    uint32_t reported = s->flags & jy_exec_reported(exec);
    if (reported == 0)
        return JY_RUN_OK;
    exec->stats.flags = reported;
    if (protection != WARNS_LATER) {
        exec->stats.flag_reruns++;
        return JY_RUN_RERUN;
    }
    const struct jy_node *node = jy_graph_at(exec->plan->p_graph, exec->plan->p_flag_node);
    return jy_fp_warn(reported, operation_name(node), node->n_file, node->n_line, exec->globals) ? JY_RUN_OK
                                                                                                 : JY_RUN_ERROR;
}

static enum jy_run
run_protected(struct jy_run_state *s, PyObject **outputs)
{
    const struct jy_exec *exec = s->exec;
    struct jy_region *regions = exec->plan->p_writes.n == 0 ? NULL : alloca(exec->plan->p_writes.n * sizeof *regions);
    enum protection protection = protect(s, regions);
    if (protection == IMPOSSIBLE)
        return JY_RUN_RERUN;
    if (exec->plan->p_may_flag)
        jy_fp_clear(exec->x87);
    enum jy_run run = perform(s);
    if (run == JY_RUN_OK && exec->plan->p_may_flag && (s->flags |= jy_fp_read(exec->x87)) != 0)
        run = report(s, protection);
    if (run == JY_RUN_OK && !jy_run_wrap(s, outputs))
        run = protection == UNPROTECTED && exec->plan->p_writes.n != 0 ? JY_RUN_ERROR : jy_run_after_exception();
    if (run != JY_RUN_OK)
        jy_undo_restore(&s->undo);
    else
        jy_undo_drop(&s->undo);
    return run;
}

static void
release(struct jy_run_state *s)
{
    const struct jy_exec *exec = s->exec;
    for (size_t i = 0; i < exec->nfresh; i++)
        Py_XDECREF(s->object[exec->fresh[i].buffer]);
    if (!exec->only_kernels)
        for (size_t i = 0; i < exec->plan->p_buffers.n; i++)
            if (exec->plan->p_buffers.at[i].b_kind == JY_BUFFER_OBJECT)
                Py_XDECREF(s->object[i]);
    if (s->scratch != NULL)
        jy_block_free(s->scratch);
}

enum jy_run
jy_exec_run_plan(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs)
{
    const struct jy_plan *plan = exec->plan;
    char *memory = exec->frame_bytes <= STACK_MAX ? alloca(exec->frame_bytes) : malloc(exec->frame_bytes);
    if (memory == NULL)
        return JY_RUN_RERUN;
    struct jy_run_state s;
    s.exec = exec;
    s.inputs = inputs;
    s.scratch = NULL;
    s.flags = 0;
    s.undo.saved = NULL;
    s.call.desc = (struct jy_desc *)(void *)memory;
    s.object = (PyObject **)(void *)(s.call.desc + plan->p_buffers.n);
    s.extent = (int64_t *)(void *)(s.object + plan->p_buffers.n);
    s.call.scalar = (union jy_scalar *)(void *)(s.extent + exec->nextents);
    s.call.size = s.extent;
    s.call.loop = exec->loops;
    s.call.helper = jy_loops_helpers();
    s.call.tile = NULL;
    s.call.status = 0;
    s.call.sum_chunk = exec->reads_bufsize ? jy_errstate_get().bufsize : exec->sum_chunk;
    for (size_t i = 0; i < plan->p_buffers.n; i++)
        s.object[i] = NULL;
    if (!exec->only_kernels) /* other threads may run meanwhile, and rebind what the inputs were borrowed from */
        for (size_t i = 0; i < exec->ninputs; i++)
            Py_INCREF(inputs[i]);
    enum jy_run run = JY_RUN_RERUN;
    if (fill_extents(&s) && fill_inputs(&s) && make_scratch(&s) && make_fresh(&s)) {
        if (exec->tile_bytes != 0)
            place_tiles(&s);
        if (exec->nviews == 0 || jy_run_place_views(&s, false))
            run = run_protected(&s, outputs);
    } else {
        PyErr_Clear(); /* NumPy raises its own MemoryError */
    }
    release(&s);
    if (!exec->only_kernels)
        for (size_t i = 0; i < exec->ninputs; i++)
            Py_DECREF(inputs[i]);
    if (exec->frame_bytes > STACK_MAX)
        free(memory);
    return run;
}
