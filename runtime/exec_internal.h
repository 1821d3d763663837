/* Inside of an exec: tables made once so that a call is a walk over them. Only exec*.c, eval_numpy.c, wrap.c, undo.c,
 * compare.c include this. */
#ifndef JY_RUNTIME_EXEC_INTERNAL_H
#define JY_RUNTIME_EXEC_INTERNAL_H

#include "runtime/exec.h"
#include "runtime/fpstatus.h"
#include "runtime/loader.h"
#include "runtime/undo.h"

/* An integer of the call: extent of an input's axis, Python int input, constant, or an expression over these. The
 * first p_sizes.n are the plan's size slots. */
enum jy_extent_kind { JY_EXTENT_AXIS, JY_EXTENT_PYINT, JY_EXTENT_CONST, JY_EXTENT_EXPR };
struct jy_extent {
    uint8_t kind, axis;
    uint32_t input;
    int64_t value;
    jy_sx sx;
};

struct jy_exec_input {
    bool scalar;
    uint8_t kind, dtype, ndim;
    uint32_t index; /* buffer or scalar slot */
};

/* A buffer that gets memory of its own: OUTPUT or TEMP. */
struct jy_exec_block {
    uint32_t buffer;
    uint8_t ndim, dtype, itemsize;
    bool c_order;
    uint8_t order[JY_MAX_NDIM]; /* outermost first */
    uint32_t extent[JY_MAX_NDIM];
};

struct jy_exec_view {
    uint32_t buffer, base, root;
    uint8_t ndim, source_ndim, dtype, itemsize;
    bool reshape;
    bool late; /* over what a step returns */
    int8_t axis[JY_MAX_NDIM];
    int64_t step[JY_MAX_NDIM];
    uint32_t start[JY_MAX_NDIM], extent[JY_MAX_NDIM];
};

struct jy_exec {
    enum jy_run (*run)(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs);
    struct jy_unit *unit;
    struct jy_plan *plan;
    struct jy_code_block *code;
    jy_kernel_fn *kernels;
    struct jy_loop_fn *loops;
    uint32_t nextents, ninputs, noutputs, nfresh, ntemps, nviews, nsymbols;
    struct jy_extent *extents;
    struct jy_exec_input *inputs;
    struct jy_exec_block *fresh, *temps;
    struct jy_exec_view *views;
    uint32_t *buffer_extents; /* JY_MAX_NDIM per buffer: extents of its shape */
    uint32_t always_reported; /* FP kinds that matter even where errstate ignores them */
    uint32_t never_reported;  /* ... and those that do not where it reports them */
    size_t tile_bytes;
    size_t frame_bytes; /* of the tables of one call */
    int64_t sum_chunk;
    bool reads_bufsize; /* sums in pieces: the piece is errstate's buffer size */
    bool has_exprs, x87, has_late_views;
    bool may_fail; /* something after the first step can send the call to the original */
    bool only_kernels;
    struct jy_exec_options options;
    struct jy_exec_texts texts;
    struct jy_exec_times times;
    struct jy_exec_stats stats;
    PyObject *globals;
    bool has_texts;
};

/* Kinds that are looked at when the unit has run. */
static inline uint32_t
jy_exec_reported(const struct jy_exec *exec)
{
    return (jy_errstate_get().reported & ~exec->never_reported) | exec->always_reported;
}

/* One call. */
struct jy_run_state {
    struct jy_exec *exec;
    PyObject *const *inputs;
    struct jy_call call;
    int64_t *extent;
    PyObject **object; /* per buffer: ndarray of an INPUT (borrowed), OUTPUT or OBJECT (owned); NULL otherwise */
    void *scratch;
    uint32_t flags; /* seen so far, beside what the registers hold */
    struct jy_undo undo;
};

/* exec_flat.c */
bool jy_exec_is_flat(const struct jy_exec *exec);
enum jy_run jy_exec_run_flat(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs);

/* exec_run.c */
enum jy_run jy_exec_run_plan(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs);
bool jy_run_place_views(struct jy_run_state *s, bool late);
struct jy_region jy_run_region(const struct jy_run_state *s, uint32_t buffer);
bool jy_run_symbols(int64_t *symbols, const struct jy_exec *exec, PyObject *const *inputs);

/* exec_steps.c: what is not a kernel. JY_RUN_RERUN leaves no exception. */
enum jy_run jy_run_product(struct jy_run_state *s, const struct jy_step *step);
enum jy_run jy_run_reduce(struct jy_run_state *s, const struct jy_step *step);
enum jy_run jy_run_callout(struct jy_run_state *s, const struct jy_step *step);
/* callable(*args, **keywords) with reported FP kinds and every warning turned into an exception. refs: new; NULL with
 * or without an exception */
PyObject *jy_run_quietly(const struct jy_exec *exec, PyObject *callable, PyObject *args, PyObject *keywords);
/* After a failed Python call: RERUN and no exception, or ERROR for what must not be swallowed. */
enum jy_run jy_run_after_exception(void);

/* wrap.c */
PyObject *jy_wrap_scalar(uint8_t kind, jy_dtype dtype, union jy_scalar value); /* refs: new; NULL with an exception */
bool jy_unwrap_scalar(union jy_scalar *out, jy_dtype dtype,
                      PyObject *object); /* false, no exception: not a scalar of that dtype */
PyObject *jy_wrap_view(jy_dtype dtype, size_t ndim, const int64_t *shape, const struct jy_desc *desc, PyObject *base);
bool jy_run_wrap(struct jy_run_state *s, PyObject **outputs); /* false with an exception, outputs untouched */

/* eval_numpy.c, eval_graph.c: the slow executors. They write in place and undo. */
bool jy_eval_save_written(struct jy_undo *undo, struct jy_region *regions, const struct jy_exec *exec,
                          PyObject *const *inputs);
PyObject *jy_wrap_reduce(jy_op op, PyObject *operand, jy_dtype dtype, uint32_t axes,
                         bool keepdims); /* ufunc.reduce under the errstate of the moment */
enum jy_run jy_eval_numpy(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs);
enum jy_run jy_eval_graph(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs);

/* compare.c */
enum jy_run jy_exec_run_compared(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs);

#endif
