/* Frames of functions that a run of a flow was left in (graph/flow.h: INVOKE, frames of inlined callees).
 *
 *     the machine code leaves            the run has left: from the innermost on            the interpreter
 *     f:  push ──▶ record                continuation of f                                  CALL ─▶ g goes on ─▶ CALL ─▶ f goes on ─▶ its result, or its exception
 *     g:  push ──▶ record                continuation of g, standing before its CALL;
 *     root: exit                            what it calls is a callable that goes on in f
 *
 * So each frame is there, with its line, and each operation is performed once. */
#ifndef JY_RUNTIME_FLOW_CHAIN_H
#define JY_RUNTIME_FLOW_CHAIN_H

#include <Python.h>
#include "graph/flow.h"

struct jy_flow_record {
    uint32_t function, exit;
    union jy_scalar *values; /* of the exit, in order; heap */
};

/* Records, innermost first. */
struct jy_flow_pile {
    struct jy_flow_record *at;
    size_t n, cap;
    size_t most; /* only the outermost so many are kept; 0: all */
    bool failed; /* no memory */
};

/* Room for the values of the next record, NULL: none. */
union jy_scalar *jy_flow_pile_add(struct jy_flow_pile *pile, uint32_t function, uint32_t exit, size_t nvalues);
void jy_flow_pile_settle(struct jy_flow_pile *pile); /* all have been added */
void jy_flow_pile_clear(struct jy_flow_pile *pile);

/* A callable that goes on in a function, whatever its arguments are. refs: steals continuation (also on failure); function borrowed; callee may be NULL (borrowed): who drives a function
 * that has no state of its own */
PyObject *jy_flow_resumer_new(PyObject *continuation, PyObject *function, PyObject *callee);
/* State for a function that is not compiled itself, to drive it where it is left. refs: returns new, NULL with an exception */
PyObject *jy_flow_callee_new(PyObject *function);
PyObject *jy_flow_callee_function(PyObject *callee); /* refs: borrowed */
int jy_flow_chain_init(void);                        /* -1 with an exception */

#endif
