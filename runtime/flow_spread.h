/* SPREAD of flows: rounds of a jitney.prange on the threads of the pool. */
#ifndef JY_RUNTIME_FLOW_SPREAD_H
#define JY_RUNTIME_FLOW_SPREAD_H

#include <Python.h>
#include "graph/flow.h"

/* What is known of one piece. */
struct jy_spread_site {
    const struct jy_flow *flow; /* the piece; NULL: the function is none */
    bool has_checks, has_polls; /* it may fail */
    double ns;                  /* a round; 0: not known */
    uint32_t skipped;           /* times in a row that it was too short */
    uint32_t failed, resting;   /* runs that were undone; runs that it is left out for that */
    uint64_t runs, undone;      /* on threads */
    double since,
        told; /* when the loop itself began with `begun` rounds, 0: it has not; what a round of its took then, where that was too much to believe */
    int64_t begun;
    bool doubted; /* ns is to be measured again */
};
void jy_spread_prepare(struct jy_spread_site *site, const struct jy_flow *flow);

/* The run is over in which the loop itself did all rounds. */
void jy_spread_settle(struct jy_spread_site *site);

/* As jy_flow_call.spread. inputs: of the unit; threads: at most, 0: one per core; least_ns: of work that is worth it, 0: do it in any case. */
int64_t jy_spread_run(struct jy_spread_site *site, struct jy_flow_call *call, jy_flow_piece piece,
                      const union jy_scalar *args, int64_t rounds, union jy_scalar *last, PyObject *const *inputs,
                      unsigned threads, double least_ns);

#endif
