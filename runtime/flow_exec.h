/* A compiled flow (graph/flow.h), ready to be run any number of times: from a unit's inputs to the function's result, or to a continuation (start.h).
 *
 * A run that cannot be entered has done nothing: arrays overlap that the machine code takes for apart, an input is not what it was taken for, or errstate is one under which NumPy's scalars do
 * more than warn. */
#ifndef JY_RUNTIME_FLOW_EXEC_H
#define JY_RUNTIME_FLOW_EXEC_H

#include <Python.h>
#include "runtime/exec.h"
#include "runtime/guard_check.h"
#include "runtime/reserve.h"

struct jy_flow_exec;
struct jy_flow_pile;
struct jy_vectors;

/* unit->u_flow is made faster and compiled. Keeps the unit on success, and the code object for its points. nslots: objects that the frame begins with. JY_BREAK: *why. */
jy_status jy_flow_exec_new(struct jy_flow_exec **out, const char **why, struct jy_unit *unit, PyObject *code,
                           size_t nslots, const struct jy_exec_options *options);
void jy_flow_exec_free(struct jy_flow_exec *exec);
const struct jy_unit *jy_flow_exec_unit(const struct jy_flow_exec *exec);
const struct jy_exec_texts *jy_flow_exec_texts(struct jy_flow_exec *exec); /* plan: the flow; made on demand */
const struct jy_exec_times *jy_flow_exec_times(const struct jy_flow_exec *exec);

enum jy_flow_run {
    JY_FLOW_RETURNED, /* the result of the function */
    JY_FLOW_LEFT,     /* a continuation */
    JY_FLOW_APART,    /* not entered: arrays overlap */
    JY_FLOW_OBJECTS,  /* not entered: its lists are not such as can be native, or too long for what is done with them */
    JY_FLOW_REFUSED,  /* not entered for another reason */
    JY_FLOW_UNDONE,   /* there is no memory for what it has come to, and it was thrown away; or there may be none */
    JY_FLOW_FAILED    /* an exception is set */
};

/* Guards hold for the values, which are cleared when the GIL is given up; *unlocked is counted up then. *exit: number of the exit, the innermost one of several functions. function: the unit's own.
 * frame: for the log. refs: *out new */
enum jy_flow_run jy_flow_exec_run(PyObject **out, uint32_t *exit, uint64_t *unlocked, struct jy_flow_exec *exec,
                                  PyObject *function, struct jy_guard_values *values, uint32_t frame);
/* A run was ended for the interpreter. */
void jy_flow_exec_note_poll(struct jy_flow_exec *exec);
/* The kind of an exit, JY_EXIT_CHECK to JY_EXIT_RETURN; how many there are: of the flow and of its functions. */
uint8_t jy_flow_exec_exit_kind(const struct jy_flow_exec *exec, uint32_t exit);
size_t jy_flow_exec_count_exits(const struct jy_flow_exec *exec);
/* Most of its runs end soon at an exit, so that it costs more than it gives. */
bool jy_flow_exec_is_futile(const struct jy_flow_exec *exec);

struct jy_flow_stats {
    uint64_t runs, refused, unlocked;
    const char *locked;    /* why no run goes without the GIL; NULL: long ones may */
    const uint64_t *exits; /* by number */
};
struct jy_flow_stats jy_flow_exec_stats(const struct jy_flow_exec *exec);
/* "file:line: check: int overflow" of an exit; heap, NULL: no memory */
char *jy_flow_exec_describe_exit(const struct jy_flow_exec *exec, uint32_t exit);

/* An exit for reports. values: the numbers that the frame held when it was taken last, " name=number" each; heap, NULL: not kept. */
struct jy_flow_exit_report {
    const char *file, *what;
    uint32_t line;
    uint8_t kind;
    uint64_t count;
    char *values;
};
struct jy_flow_exit_report jy_flow_exec_exit(const struct jy_flow_exec *exec, uint32_t exit);

/* Of loop k of jitney.prange, in the order in which they were found; false: there are no more. */
struct jy_flow_prange_stats {
    uint32_t line;
    const char *why;       /* its rounds stay on one thread; NULL: they do not */
    uint64_t runs, undone; /* on threads */
};
bool jy_flow_exec_prange(struct jy_flow_prange_stats *out, const struct jy_flow_exec *exec, size_t k);

/* Report k (graph/flow_report.h); NULL: there are no more. *vectors: as in struct jy_object, -1: it is no machine code. */
const struct jy_flow_report *jy_flow_exec_report(int *vectors, struct jy_flow_exec *exec, size_t k);

/* Objects that a run has made (flow_helpers.c): they live until it has been left. */
struct jy_flow_owner {
    PyObject **at;
    size_t n, cap;
    struct jy_flow_list *lists; /* native ones */
    size_t nlists;
    struct jy_flow_list **known; /* of inputs, by object: hashed */
    size_t nknown, known_cap;
    int64_t nitems, most_items; /* of inputs */
    size_t bytes;               /* about */
    bool keeps_reserve;         /* the run cannot be thrown away: it must be able to make the objects of its lists, */
    size_t owed;                /* which take so many bytes */
    struct jy_reserve reserve;
    const struct jy_flow_exec *exec;
    struct jy_flow_pile *pile;  /* of functions that are left */
    struct jy_vectors *vectors; /* arrays that are no objects */
    PyObject *const *inputs;    /* of the unit */
};
void jy_flow_owner_clear(struct jy_flow_owner *owner);
/* refs: steals object (may be NULL); returns it borrowed, NULL when it could not be kept or too much is alive. Leaves no exception. */
PyObject *jy_flow_owner_keep(struct jy_flow_owner *owner, PyObject *object, size_t bytes);
/* May one more native list of so many bytes be alive? It counts then. */
bool jy_flow_owner_admits(struct jy_flow_owner *owner, size_t bytes);

/* flow_helpers.c: the C function of a row of graph/flow_helpers.def; NULL: there is none */
void *jy_flow_helper_address(const char *name);

#endif
