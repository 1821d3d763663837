/* A compiled function: the state behind a function object (3.12 and later: its vectorcall is ours) or a dispatcher object (3.11).
 *
 *   compile(f) -> struct jy_function { entries, refusals, statistics }
 *                    entry: guard program -> exec (direct) or new code around __compiled_fn_N
 *
 * The state belongs to the function object and dies with it. Nothing in it keeps the function or its arguments alive. */
#ifndef JY_RUNTIME_FUNCTION_H
#define JY_RUNTIME_FUNCTION_H

#include <Python.h>
#include "frontend/cpython/compat.h"
#include "frontend/frontend.h"
#include "runtime/api.h"
#include "runtime/config.h"
#include "runtime/exec.h"
#include "runtime/flow_exec.h"
#include "runtime/guard_check.h"
#include "runtime/never_slower.h"
#include "runtime/reserve.h"
#include "runtime/start.h"
#include "runtime/trial.h"
#include "runtime/whole_program.h"

struct jy_stats {
#define STAT(name, help) uint64_t name;
#include "runtime/stats.def"
#undef STAT
    double trace_ms, guards_ms, passes_ms, lower_ms, emit_ms, codegen_ms, load_ms, bytecode_ms;
    double first_call_ms;
};

/* One compiled unit of a function. */
struct jy_entry {
    struct jy_entry *e_next; /* most recently used first */
    uint32_t e_refs;         /* one of the list, one per running call */
    PyObject *e_globals; /* where __compiled_fn_N is; borrowed from the function, NULL once the name is taken away */
    uint32_t e_number;   /* N of __compiled_fn_N */
    struct jy_guard_program *e_guards;
    struct jy_quick *e_quick; /* of an e_direct entry, or NULL */
    struct jy_exec *e_exec;   /* owned by e_compiled */
    PyObject *e_compiled;     /* __compiled_fn_N */
    PyObject *e_runner;       /* with a backend of the user's: our own __compiled_fn_N, which owns e_exec then */
    struct jy_new_code e_new; /* regenerated code; an e_direct entry has it for inspection only */
    bool e_whole;             /* from call to return */
    bool e_direct;            /* the result is graph output 0 as it is: no bytecode runs */
    bool e_off;               /* its calls keep ending in the original */
    uint32_t e_inputs;
    uint32_t e_reruns, e_calls; /* of the last calls, decayed */
    struct jy_flow_exec *
        e_flow; /* native code from bytecode to its exits; then there is no exec, no compiled function and no new code */
    bool e_last; /* others are tried before it */
};

static inline bool
jy_entry_is_dead(const struct jy_entry *entry) /* a flow that was given up */
{
    return entry->e_off && entry->e_flow != NULL;
}

struct jy_function {
    PyObject *f_object; /* 3.12+: the function, borrowed; 3.11: the private function of the dispatcher, owned by that */
    PyObject *
        f_globals; /* the function's; borrowed, but readable until the state is freed, when the collector may have cleared the function */
    PyObject *f_weak;                             /* 3.12+: weak reference whose callback frees this */
    bool f_listed;                                /* in the table */
    PyObject *f_code, *f_defaults, *f_kwdefaults; /* what the entries were made for; strong */
    vectorcallfunc f_plain;
    uint32_t f_version;
    bool f_simple; /* positional parameters only: arguments need no binding */
    uint32_t f_nparams;
    uint32_t f_id, f_attempts; /* for log prefixes */
    struct jy_start f_call;
    struct jy_start *f_starts,
        *f_dead_starts; /* in the middle, most recently used first; dropped while a driver works with them */
    uint32_t f_driving; /* drivers of it that are at work */
    struct jy_leaves f_leaves;
    struct jy_original *f_original; /* of f_code; kept while there are leaves; NULL: none now */
    char **f_dynamic;               /* source texts of ints that have shown two values; NULL-terminated */
    size_t f_ndynamic;
    size_t f_nmarked; /* the first so many of f_dynamic are the user's marks, which reset() keeps */
    char **f_fixed;   /* source texts of ints and arrays that jitney.mark_static named; NULL-terminated, may be NULL */
    uint32_t *f_unrolled; /* offsets of loop heads where no flow could begin */
    size_t f_nunrolled;
    int32_t f_limit;     /* entries allowed; -1: as configured */
    uint32_t f_reserved; /* number whose __compiled_fn_N is in the globals already, for the first entry; 0: used */
    bool f_off, f_busy;  /* left to CPython for good; being compiled */
    int8_t f_loops;      /* whether the code has a loop: 0 not looked yet, 1 yes, -1 no */
    bool f_fullgraph;
    bool f_inplace;
    bool f_fastmath;          /* never changes, so no entry needs to say for which it was made */
    uint32_t f_threads;       /* of a jitney.prange; 0: as configured */
    bool f_found;             /* by whole-program mode */
    int8_t f_ints;            /* dynamic=: -1 default, 0 never, 1 from the start */
    uint32_t f_depth;         /* calls of the original that are running */
    bool f_recurses;          /* it has native code that calls itself */
    struct jy_trial *f_trial; /* not decided yet; NULL else */
    bool f_weighed;           /* of the trial of a decorated function: its first turn has been looked at */
    uint64_t f_weigh_calls, f_arrivals,
        f_weigh_arrivals; /* never_slower.h: looked at from that call on; continuations taken up; at how many of them */
    vectorcallfunc *f_entry; /* 3.11: where the dispatcher object has its entry; NULL else */
    char *f_error;           /* text of the latest internal error, for the report */
    PyObject *f_reasons;     /* list of dicts: every refusal, for explain() */
    PyObject *f_backend;     /* callable of the user's, or NULL */
    struct jy_stats f_stats;
};

/* One per process. */
struct jy_runtime {
    struct jy_config config;
    struct jy_logs logs;
    struct jy_compat_watch watch;
    struct {
        PyObject *key;
        struct jy_function *value;
    } *table; /* f_object -> state; open addressing */
    size_t table_size, table_used;
    uint32_t next_function, next_compiled;
    uint32_t *spare; /* numbers below next_compiled that are free again */
    size_t nspare, spare_room;
    struct jy_api api;
    uint32_t spared; /* calls under way whose C stack is not counted: entry.c, spare_units */
    struct jy_reserve reserve;
    uint32_t exits_asked; /* stress: flow_helpers.c, exit_due */
    bool compiling;       /* some thread traces: others run eager */
    PyObject *compile,
        *callee;     /* callables of the module; the second for functions that are called where a unit stops */
    PyObject *rerun; /* what __compiled_fn_N returns when the original must run */
    PyObject *weak_callback;
    char *backend_path;
    struct jy_pending *pending; /* hook.c: frames that wait for what their entry decides */
    struct jy_stress *stress;   /* NULL but under ./dev stress */
    struct jy_whole *whole;     /* NULL until whole-program mode is used */
};

extern struct jy_runtime *jy_runtime;

/* function.c: life of the state */
struct jy_function *jy_function_new(PyObject *object);
void jy_function_free(struct jy_function *function);
int jy_function_list(struct jy_function *function);     /* in the table; 0, or -1 with an exception */
struct jy_function *jy_function_find(PyObject *object); /* by function or dispatcher object; NULL */

static inline size_t
jy_function_slot(PyObject *key, size_t mask)
{
    uintptr_t bits = (uintptr_t)key >> 4;
    return (bits ^ (bits >> 12)) & mask;
}

/* The function's, if it is in the table, which must not be of size 0; NULL. */
static inline struct jy_function *
jy_function_listed(PyObject *object)
{
    const struct jy_runtime *rt = jy_runtime;
    size_t mask = rt->table_size - 1;
    for (size_t k = jy_function_slot(object, mask);; k = (k + 1) & mask) {
        if (rt->table[k].key == object)
            return rt->table[k].value;
        if (rt->table[k].key == NULL)
            return NULL;
    }
}

void jy_function_reset(struct jy_function *function); /* drops entries, refusals, statistics */
int jy_function_attach(
    struct jy_function *function); /* findable, and freed with its function; 0, or -1 with an exception */
/* Makes calls of `object` go through our entry; remembers what was there. 0, or -1 with an exception. */
int jy_function_install(struct jy_function *function);
void jy_function_uninstall(struct jy_function *function); /* plain again; idempotent */
void jy_entry_release(struct jy_entry *entry);
void jy_start_drop_entries(struct jy_start *start);

/* The name __compiled_fn_N in the function's globals. The first one is put there (as None) when the function is made, so that no dictionary grows in the middle of a call that
 * merely compiles for the first time; all are taken away with the entry. 0, or -1 with an exception. */
int jy_function_reserve_name(struct jy_function *function);
/* Numbers of dropped entries are given out again: CPython never frees a name that stood in a code object. */
uint32_t jy_number_take(void);
void jy_number_give(uint32_t number);
int jy_function_set_name(PyObject **name, struct jy_function *function, uint32_t number,
                         PyObject *value); /* refs: *name new, may be NULL */

/* module.c: what no compiled code may stand for; NULL: nothing speaks against it */
const char *jy_function_why_left_alone(PyObject *function);

/* entry.c: refs: as vectorcall */
PyObject *jy_entry_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames);
PyObject *jy_entry_call(struct jy_function *function, PyObject *const *args, size_t nargsf, PyObject *kwnames);
/* The original, run by CPython. */
PyObject *jy_entry_plain(struct jy_function *function, PyObject *const *args, size_t nargsf, PyObject *kwnames);

static inline const struct jy_unit *
jy_entry_unit(const struct jy_entry *entry)
{
    return entry->e_flow != NULL ? jy_flow_exec_unit(entry->e_flow) : jy_exec_unit(entry->e_exec);
}

/* flow_entry.c: one run of an entry that is a flow; guards hold for the values, which may be cleared. What came of it is counted, and a flow that costs more than it gives is given up. refs: *out new */
enum jy_flow_run jy_entry_run_flow(PyObject **out, struct jy_function *function, struct jy_start *start,
                                   struct jy_entry *entry, struct jy_guard_values *values);
/* Do its guards hold for these parameters, or items of a continuation? Leaves no exception. */
bool jy_entry_holds(struct jy_function *function, struct jy_entry *entry, PyObject *const *slots);
void jy_entry_move_to_front(struct jy_start *start, struct jy_entry *entry);
/* One call more of the function runs (f_depth); one that nests too deep makes it plain. */
void jy_enter_call(struct jy_function *function);
/* May something be compiled now? 1, 0, or -1 with an exception. */
int jy_may_compile(struct jy_function *function, size_t nentries);

/* compile.c: a new entry for these bound parameters, or items of a continuation (stack, locals and cells), first in the start's list. JY_BREAK: refused (remembered, logged).
 * JY_ERROR: exception set. */
jy_status jy_compile(struct jy_function *function, struct jy_start *start, PyObject *const *slots, size_t nslots);
/* A reason of breaks.def why CPython has the function for good. */
void jy_report_left(struct jy_function *function, const char *name, const char *detail);
/* Its code is made anew when leaves have come or gone. 0, or -1 with an exception. */
int jy_entry_refresh(struct jy_function *function, struct jy_start *start, struct jy_entry *entry);

/* callee.c; -1 with an exception */
int jy_callee_init(PyObject *module);

/* inspect.c: the graph as a dict of lists for jitney.Graph; what inspect() and stats() show. refs: new */
PyObject *jy_describe_graph(const struct jy_unit *unit);
PyObject *jy_describe_start(const struct jy_function *function, const struct jy_start *start); /* its entries */
PyObject *jy_describe_stats(const struct jy_function *function);
/* inspect_loops.c, lists of dicts: loops of the bytecode; of a flow; its exits; loops that were walked through. refs: new */
PyObject *jy_describe_code_loops(PyObject *code);
PyObject *jy_describe_flow_loops(struct jy_flow_exec *flow);
PyObject *jy_describe_flow_exits(const struct jy_flow_exec *flow);
PyObject *jy_describe_unrolled(const struct jy_unit *unit);

/* bind.c: parameters in the order of co_varnames. 1: bound; 0: the call does not fit (the original will say so); -1: exception. */
struct jy_bound {
    PyObject **at;
    size_t n;
    PyObject *star, *starstar; /* owned */
    PyObject *room[16];
};
int jy_bind(struct jy_bound *out, PyObject *function, PyObject *const *args, size_t nargs, PyObject *kwnames);
void jy_bound_clear(struct jy_bound *bound);

/* dispatcher.c (3.11): refs: new */
PyObject *jy_dispatcher_new(PyObject *private_function, PyObject *original);
struct jy_function *jy_dispatcher_function(PyObject *object); /* NULL: it is none */
PyObject *jy_dispatcher_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames);
int jy_dispatcher_init(PyObject *module);

#endif
