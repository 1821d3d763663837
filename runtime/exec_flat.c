/* The short way of a call: a unit of kernels that makes one fresh array or scalar out of its inputs, writes nothing else, and needs neither scratch nor
 * views. Most units that a program calls often on small arrays are of this kind, and for them the walk of exec_run.c costs more than the work.
 *
 * Nothing before the last line can be seen, so whatever goes wrong on the way is JY_RUN_RERUN. */
#include "runtime/exec_internal.h"
#include "runtime/fpstatus.h"
#include "runtime/loops.h"
#include "runtime/numpy_api.h"

#define BUFFERS 12 /* taste: what lies on the stack stays in one page */
#define EXTENTS 32
#define SCALARS 24

static bool
has_flat_extents(const struct jy_exec *exec)
{
    for (size_t i = 0; i < exec->nextents; i++)
        if (exec->extents[i].kind != JY_EXTENT_AXIS && exec->extents[i].kind != JY_EXTENT_CONST)
            return false;
    return exec->nextents <= EXTENTS;
}

static bool
has_flat_buffers(const struct jy_plan *plan)
{
    for (size_t i = 0; i < plan->p_buffers.n; i++)
        if (plan->p_buffers.at[i].b_kind != JY_BUFFER_INPUT && plan->p_buffers.at[i].b_kind != JY_BUFFER_OUTPUT)
            return false;
    return plan->p_buffers.n <= BUFFERS;
}

static bool
has_flat_output(const struct jy_exec *exec)
{
    if (exec->noutputs != 1 || exec->nfresh > 1)
        return false;
    const struct jy_plan_output *output = &exec->plan->p_outputs.at[0];
    if (output->place.scalar)
        return exec->nfresh == 0 && output->kind != JY_KIND_ARRAY;
    return output->kind == JY_KIND_ARRAY && exec->nfresh == 1 && exec->fresh[0].buffer == output->place.index;
}

bool
jy_exec_is_flat(const struct jy_exec *exec)
{
    return exec->options.executor == JY_EXEC_LLVM && exec->only_kernels && exec->plan->p_writes.n == 0 &&
           exec->tile_bytes == 0 && !exec->reads_bufsize && exec->plan->p_scalars.n <= SCALARS &&
           has_flat_extents(exec) && has_flat_buffers(exec->plan) && has_flat_output(exec);
}

static inline bool
fill(struct jy_call *call, int64_t *extent, const struct jy_exec *exec, PyObject *const *inputs)
{
    for (const struct jy_extent *e = exec->extents, *end = e + exec->nextents; e < end; e++)
        *extent++ = e->kind == JY_EXTENT_AXIS ? PyArray_DIM((PyArrayObject *)inputs[e->input], e->axis) : e->value;
    for (const struct jy_exec_input *in = exec->inputs, *end = in + exec->ninputs; in < end; in++) {
        PyObject *input = *inputs++;
        if (!in->scalar) {
            const PyArrayObject_fields *array = (const PyArrayObject_fields *)input;
            struct jy_desc *desc = &call->desc[in->index];
            size_t d = in->ndim;
            desc->data = array->data;
            while (d-- > 0)
                desc->stride[d] = array->strides[d];
        } else if (in->dtype == JY_F64 && PyFloat_CheckExact(input)) {
            call->scalar[in->index].d = PyFloat_AS_DOUBLE(input);
        } else if (!jy_unwrap_scalar(&call->scalar[in->index], (jy_dtype)in->dtype, input)) {
            return false;
        }
    }
    return true;
}

static inline bool
perform(struct jy_exec *exec, struct jy_call *call)
{
    for (const struct jy_step *step = exec->plan->p_steps.at, *end = step + exec->plan->p_steps.n; step < end; step++)
        if (exec->kernels[step->s_kernel](call) != 0)
            return false;
    exec->stats.flag_reruns += (call->status & JY_CALL_RERUN) != 0;
    return (call->status & JY_CALL_RERUN) == 0;
}

static __attribute__((noinline)) bool
is_silent(struct jy_exec *exec, uint32_t flags)
{
    uint32_t reported = flags & jy_exec_reported(exec);
    if (reported == 0)
        return true;
    exec->stats.flags = reported;
    exec->stats.flag_reruns++;
    return false;
}

static inline PyObject *
scalar_output(const struct jy_exec *exec, const struct jy_call *call)
{
    const struct jy_plan_output *output = &exec->plan->p_outputs.at[0];
    PyObject *scalar = jy_wrap_scalar(output->kind, (jy_dtype)output->dtype, call->scalar[output->place.index]);
    if (scalar == NULL)
        PyErr_Clear(); /* the original raises its own MemoryError */
    return scalar;
}

enum jy_run
jy_exec_run_flat(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs)
{
    struct jy_desc desc[BUFFERS];
    int64_t extent[EXTENTS];
    union jy_scalar scalar[SCALARS];
    struct jy_call call;
    PyObject *result = NULL;
    bool may_flag = exec->plan->p_may_flag;

    call.desc = desc;
    call.size = extent;
    call.scalar = scalar;
    call.loop = exec->loops;
    call.helper = jy_loops_helpers();
    call.tile = NULL;
    call.sum_chunk = exec->sum_chunk;
    call.status = 0;
    if (!fill(&call, extent, exec, inputs))
        return JY_RUN_RERUN;
    if (exec->nfresh != 0) {
        const struct jy_exec_block *block = &exec->fresh[0];
        result = jy_run_fresh(&desc[block->buffer], block, extent);
        if (result == NULL)
            return JY_RUN_RERUN;
    }
    if (may_flag)
        jy_fp_clear(exec->x87);
    uint32_t flags;
    if (!perform(exec, &call) || (may_flag && (flags = jy_fp_read(exec->x87)) != 0 && !is_silent(exec, flags))) {
        Py_XDECREF(result);
        return JY_RUN_RERUN;
    }
    if (result == NULL && (result = scalar_output(exec, &call)) == NULL)
        return JY_RUN_RERUN;
    outputs[0] = result;
    return JY_RUN_OK;
}
