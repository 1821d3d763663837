/* The short way of a call: a unit of kernels that makes one fresh array or scalar out of its inputs, writes nothing else, and needs neither scratch nor
 * views. Most units that a program calls often on small arrays are of this kind, and for them the walk of exec_run.c costs more than the work.
 *
 * Nothing before the last line can be seen, so whatever goes wrong on the way is JY_RUN_RERUN.
 *
 * Where such a unit's guards are about its parameters only - contiguous arrays, their extents, numbers of one type - a call goes over the arguments
 * once, checking and filling the tables together (struct jy_quick). What does not hold, or has to be told, is found again by the ways that everything takes. */
#include "runtime/numpy_api.h"

#include "frontend/frontend.h"
#include "runtime/exec_fresh.h"
#include "runtime/fpstatus.h"
#include "runtime/loops.h"
#include "runtime/guard_internal.h"
#include <stdlib.h>

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
perform(const struct jy_exec *exec, struct jy_call *call)
{
    for (const struct jy_step *step = exec->plan->p_steps.at, *end = step + exec->plan->p_steps.n; step < end; step++)
        if (exec->kernels[step->s_kernel](call) != 0)
            return false;
    return (call->status & JY_CALL_RERUN) == 0;
}

static __attribute__((noinline)) bool
is_silent(uint32_t *reported, const struct jy_exec *exec, uint32_t flags)
{
    *reported = flags & jy_exec_reported(exec);
    return *reported == 0;
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

/* What is the same for both ways in. Tables that `inputs` fill are on the caller's stack. */
static inline void
begin(struct jy_call *call, const struct jy_exec *exec, struct jy_desc *desc, int64_t *extent, union jy_scalar *scalar)
{
    call->desc = desc;
    call->size = extent;
    call->scalar = scalar;
    call->loop = exec->loops;
    call->helper = jy_loops_helpers();
    call->tile = NULL;
    call->sum_chunk = exec->sum_chunk;
    call->status = 0;
}

/* From filled tables to the result. refs: new; NULL without an exception: the original has to run, for the FP kinds in *reported, if any. */
static inline __attribute__((always_inline)) PyObject *
finish(uint32_t *reported, const struct jy_exec *exec, struct jy_call *call)
{
    PyObject *result = NULL;
    bool may_flag = exec->plan->p_may_flag;
    uint32_t flags;

    if (exec->nfresh != 0) {
        const struct jy_exec_block *block = &exec->fresh[0];
        result = jy_run_fresh(&call->desc[block->buffer], block, call->size);
        if (result == NULL)
            return NULL;
    }
    if (may_flag)
        jy_fp_clear(exec->x87);
    if (!perform(exec, call) ||
        (may_flag && (flags = jy_fp_read(exec->x87)) != 0 && !is_silent(reported, exec, flags))) {
        Py_XDECREF(result);
        return NULL;
    }
    return result != NULL ? result : scalar_output(exec, call);
}

enum jy_run
jy_exec_run_flat(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs)
{
    struct jy_desc desc[BUFFERS];
    int64_t extent[EXTENTS];
    union jy_scalar scalar[SCALARS];
    struct jy_call call;
    uint32_t reported = 0;

    begin(&call, exec, desc, extent, scalar);
    if (!fill(&call, extent, exec, inputs))
        return JY_RUN_RERUN;
    outputs[0] = finish(&reported, exec, &call);
    if (outputs[0] != NULL)
        return JY_RUN_OK;
    exec->stats.flag_reruns += reported != 0 || (call.status & JY_CALL_RERUN) != 0;
    if (reported != 0)
        exec->stats.flags = reported;
    return JY_RUN_RERUN;
}

/* -- guards and tables in one pass -------------------------------------------------------------------------------------------------- */

struct quick_array {
    PyArray_Descr *descr;
    int flags, mask;
    uint16_t parameter, buffer;
    uint8_t ndim;
};
struct quick_number {
    PyTypeObject *type;
    uint16_t parameter, slot;
    uint8_t dtype;
};
struct quick_extent { /* two axes, or an axis and a number */
    int64_t value;
    uint16_t a, b;
    uint8_t axis_a, axis_b;
    bool pair;
};

struct jy_quick {
    struct jy_exec *exec;
    struct jy_guard_program *guards;
    struct quick_array array[BUFFERS];
    struct quick_number number[SCALARS];
    struct quick_extent check[EXTENTS], extent[EXTENTS];
    uint32_t narrays, nnumbers, nchecks, nextents;
};

/* The parameter behind a value of the guards, -1: something else. */
static int
parameter_of(const struct jy_guard_program *p, uint32_t value)
{
    for (size_t k = 0; k < p->per_call.n; k++) {
        const struct jy_gstep *s = &p->per_call.at[k];
        if ((s->op == JY_G_PARAMETER || s->op == JY_G_PARAMETER_C_ARRAY) && s->to == value)
            return s->a < UINT16_MAX ? (int)s->a : -1;
    }
    return -1;
}

/* Input by input: the step that checks it must be of those that the pass knows. */
static bool
add_input(struct jy_quick *q, uint32_t k)
{
    const struct jy_exec_input *in = &q->exec->inputs[k];
    int parameter = parameter_of(q->guards, k);
    if (parameter < 0)
        return false;
    for (size_t i = 0; i < q->guards->per_call.n; i++) {
        const struct jy_gstep *s = &q->guards->per_call.at[i];
        if (!in->scalar && s->op == JY_G_PARAMETER_C_ARRAY && s->to == k && s->ndim == in->ndim) {
            q->array[q->narrays++] = (struct quick_array){ .descr = s->u.descr,
                                                           .flags = (int)s->b,
                                                           .mask = (int)(s->b | JY_WARN_ON_WRITE),
                                                           .parameter = (uint16_t)parameter,
                                                           .buffer = (uint16_t)in->index,
                                                           .ndim = s->ndim };
            return true;
        }
        if (in->scalar && s->op == JY_G_TYPE && s->a == k) {
            q->number[q->nnumbers++] = (struct quick_number){ .type = (PyTypeObject *)s->u.object,
                                                              .parameter = (uint16_t)parameter,
                                                              .slot = (uint16_t)in->index,
                                                              .dtype = in->dtype };
            return true;
        }
    }
    return false;
}

static bool
add_check(struct jy_quick *q, const struct jy_gstep *s)
{
    bool pair = s->op == JY_G_SAME_EXTENT;
    int a = parameter_of(q->guards, s->a), b = pair ? parameter_of(q->guards, s->b) : 0;
    if (a < 0 || b < 0 || q->nchecks == EXTENTS)
        return false;
    q->check[q->nchecks++] = (struct quick_extent){ .value = pair ? 0 : s->u.value,
                                                    .a = (uint16_t)a,
                                                    .b = (uint16_t)b,
                                                    .axis_a = s->axis_a,
                                                    .axis_b = s->axis_b,
                                                    .pair = pair };
    return true;
}

static bool
add_extent(struct jy_quick *q, const struct jy_extent *e)
{
    bool axis = e->kind == JY_EXTENT_AXIS;
    int parameter = axis ? parameter_of(q->guards, e->input) : 0;
    if (parameter < 0)
        return false;
    q->extent[q->nextents++] =
        (struct quick_extent){ .value = e->value, .a = (uint16_t)parameter, .axis_a = e->axis, .pair = axis };
    return true;
}

static bool
knows_all(struct jy_quick *q)
{
    size_t checked = 0;
    for (uint32_t k = 0; k < q->exec->ninputs; k++)
        if (!add_input(q, k))
            return false;
    for (size_t k = 0; k < q->guards->per_call.n; k++) {
        const struct jy_gstep *s = &q->guards->per_call.at[k];
        if (s->op == JY_G_SAME_EXTENT || s->op == JY_G_EXTENT_IS) {
            if (!add_check(q, s))
                return false;
        } else if (s->op == JY_G_PARAMETER_C_ARRAY || s->op == JY_G_TYPE) {
            checked++;
        } else if (s->op != JY_G_PARAMETER) {
            return false;
        }
    }
    for (uint32_t k = 0; k < q->exec->nextents; k++)
        if (!add_extent(q, &q->exec->extents[k]))
            return false;
    return checked == q->narrays + q->nnumbers;
}

void
jy_quick_free(struct jy_quick *q)
{
    free(q);
}

struct jy_quick *
jy_quick_new(struct jy_exec *exec, struct jy_guard_program *guards)
{
    if (exec->run != jy_exec_run_flat || exec->ninputs > BUFFERS)
        return NULL;
    struct jy_quick *q = calloc(1, sizeof *q);
    if (q == NULL)
        return NULL;
    q->exec = exec;
    q->guards = guards;
    if (knows_all(q))
        return q;
    free(q);
    return NULL;
}

static inline bool
take_arrays(struct jy_desc *desc, const struct jy_quick *q, PyObject *const *args)
{
    const PyTypeObject *ndarray = &PyArray_Type;
    for (const struct quick_array *x = q->array, *end = x + q->narrays; x < end; x++) {
        const PyArrayObject_fields *a = (const PyArrayObject_fields *)args[x->parameter];
        if (Py_TYPE(a) != ndarray || a->descr != x->descr || a->nd != x->ndim || (a->flags & x->mask) != x->flags)
            return false;
        struct jy_desc *to = &desc[x->buffer];
        to->data = a->data;
        for (size_t d = 0; d < x->ndim; d++)
            to->stride[d] = a->strides[d];
        if (x->ndim == 1 && to->stride[0] < 0) /* as is_c_array in guard_check.c */
            return false;
    }
    return true;
}

static inline bool
take_numbers(union jy_scalar *scalar, const struct jy_quick *q, PyObject *const *args)
{
    for (const struct quick_number *x = q->number, *end = x + q->nnumbers; x < end; x++) {
        PyObject *value = args[x->parameter];
        if (Py_TYPE(value) != x->type)
            return false;
        if (x->type == &PyFloat_Type)
            scalar[x->slot].d = PyFloat_AS_DOUBLE(value);
        else if (!jy_unwrap_scalar(&scalar[x->slot], (jy_dtype)x->dtype, value))
            return false;
    }
    return true;
}

static inline bool
take_extents(int64_t *extent, const struct jy_quick *q, PyObject *const *args)
{
    for (const struct quick_extent *x = q->check, *end = x + q->nchecks; x < end; x++) {
        int64_t n = PyArray_DIM((PyArrayObject *)args[x->a], x->axis_a);
        if (n != (x->pair ? PyArray_DIM((PyArrayObject *)args[x->b], x->axis_b) : x->value))
            return false;
    }
    for (const struct quick_extent *x = q->extent, *end = x + q->nextents; x < end; x++)
        *extent++ = x->pair ? PyArray_DIM((PyArrayObject *)args[x->a], x->axis_a) : x->value;
    return true;
}

PyObject *
jy_quick_call(const struct jy_quick *q, PyObject *const *args)
{
    struct jy_desc desc[BUFFERS];
    int64_t extent[EXTENTS];
    union jy_scalar scalar[SCALARS];
    struct jy_call call;
    uint32_t reported;

    if (!jy_guards_nothing_written(q->guards) || !take_arrays(desc, q, args) || !take_numbers(scalar, q, args) ||
        !take_extents(extent, q, args))
        return NULL;
    begin(&call, q->exec, desc, extent, scalar);
    PyObject *result = finish(&reported, q->exec, &call);
    q->exec->stats.calls += result != NULL;
    return result;
}
