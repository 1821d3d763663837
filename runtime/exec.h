/* A compiled unit: plan, machine code and tables, ready to be called any number of times.
 *
 * One call: fill size slots, scalars and descriptors; allocate outputs; save what will be overwritten; clear FP
 * status; perform the steps; read FP status; wrap outputs. When anything happened that only the original can report (a
 * flag that errstate does not ignore, an int overflow, an error inside a step), overwritten memory is put back,
 * outputs are dropped and the answer is JY_RUN_RERUN: the caller runs the original function, whose warnings and errors
 * are then eager's own. */
#ifndef JY_RUNTIME_EXEC_H
#define JY_RUNTIME_EXEC_H

#include <Python.h>
#include "graph/backend.h"
#include "graph/unit.h"

enum jy_executor { JY_EXEC_LLVM, JY_EXEC_LOOP, JY_EXEC_GRAPH, JY_EXEC_NUMPY };

struct jy_exec_options {
    enum jy_executor executor;
    bool compare; /* run every other executor too and stop at the first differing bit (JITNEY_COMPARE) */
    bool verify;
    bool want_ir, want_ir_opt, want_asm;
    bool fastmath;            /* machine code need not have eager's bits; it is not compared then */
    const char *name;         /* of the user's function */
    const char *backend_path; /* _backend_llvm.so */
    uint32_t exit_every;      /* stress: flows leave at every so many checks, whatever these say; 0: never */
    uint32_t threads;         /* of a jitney.prange; 0: as configured */
    uint64_t disabled_passes;
    void (*log)(void *context, const char *channel,
                const char *text); /* channels graph, graph_code, loop, ir, ir_opt, asm, fusion; may be NULL */
    void *context;
};

/* What inspect() shows; heap strings or NULL. */
struct jy_exec_texts {
    char *graph, *graph_table, *graph_code, *plan, *ir, *ir_opt, *asm_text;
};

struct jy_exec_times {
    double passes_ms, lower_ms, emit_ms, codegen_ms, load_ms;
};

struct jy_exec_stats {
    uint64_t calls, reruns; /* reruns: for whatever reason */
    uint64_t flag_reruns;   /* because of FP status or int overflow */
    uint32_t flags;         /* of the last such call */
};

struct jy_exec;

/* Runs the passes on unit's graph, lowers, compiles. The exec keeps `unit` (takes ownership on success). JY_BREAK:
 * *why. */
jy_status jy_exec_new(struct jy_exec **out, const char **why, struct jy_unit *unit,
                      const struct jy_exec_options *options);
void jy_exec_free(struct jy_exec *exec);
const struct jy_unit *jy_exec_unit(const struct jy_exec *exec);
const struct jy_exec_texts *
jy_exec_texts(struct jy_exec *exec); /* made on demand: IR and assembly are compiled again */
const struct jy_exec_times *jy_exec_times(const struct jy_exec *exec);
const struct jy_exec_stats *jy_exec_stats(const struct jy_exec *exec);

enum jy_run { JY_RUN_OK, JY_RUN_RERUN, JY_RUN_ERROR };

/* inputs: one object per graph input, guards hold. outputs: one new reference per graph output on JY_RUN_OK.
 * refs: inputs borrowed, outputs new. JY_RUN_ERROR: an exception that must be seen (KeyboardInterrupt); memory is as
 * before the call. */
enum jy_run jy_exec_run(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs);

/* A small call in one pass over its arguments, guards included (exec_flat.c). Exec and guards must outlive it. */
struct jy_quick;
struct jy_guard_program;
struct jy_quick *jy_quick_new(struct jy_exec *exec,
                              struct jy_guard_program *guards); /* NULL: the unit is not of that kind, or no memory */
void jy_quick_free(struct jy_quick *quick);
/* args: the parameters. refs: new; NULL without an exception and nothing done: the guards do not hold, or jy_exec_run is to say what happens. */
PyObject *jy_quick_call(const struct jy_quick *quick, PyObject *const *args);

/* The function's globals, for warnings of units that write in place (module and registry). Borrowed: a strong
 * reference would be a cycle that the collector cannot see. Whoever lets the function go sets NULL first. */
void jy_exec_set_globals(struct jy_exec *exec, PyObject *globals);

/* `__compiled_fn_N`: callable with the graph's inputs; returns a tuple of outputs, or `rerun`. refs: exec is taken. */
PyObject *jy_compiled_fn_new(struct jy_exec *exec, const char *name, PyObject *rerun);
struct jy_exec *jy_compiled_fn_exec(PyObject *compiled_fn);
PyObject *jy_compiled_fn_name(PyObject *compiled_fn); /* borrowed */
int jy_compiled_fn_init(PyObject *module);

/* Once per process, after import_array: finds loops, BLAS, summation rule. -1 with an exception. */
int jy_exec_init(void);
/* "scipy-openblas 0.3.31 Haswell, 64-bit ints" or "none"; "one tree" or "pieces of 8192" */
void jy_exec_describe(const char **blas, const char **sum_rule);

#endif
