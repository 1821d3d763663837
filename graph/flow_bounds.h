/* Constants between which an integer of a flow lies, whatever the call. */
#ifndef JY_GRAPH_FLOW_BOUNDS_H
#define JY_GRAPH_FLOW_BOUNDS_H

#include "graph/flow_analysis.h"

struct jy_bounds {
    int64_t low, high; /* INT64_MIN, INT64_MAX: not known */
};

/* One for the flow as it is: a change of edges makes it stale. Values that were added since are looked at as well. */
struct jy_flow_bounds {
    const struct jy_flow *w;
    const struct jy_flow_shape *shape;
    size_t n, nblocks;    /* values and blocks that there were */
    struct jy_bounds *at; /* by value */
    uint8_t *state;       /* by value: not asked, being asked, known */
    size_t depth;
    jy_fv given; /* what somebody else knows of one value */
    struct jy_bounds given_bounds;
};

void jy_flow_bounds_init(struct jy_flow_bounds *b, const struct jy_flow *w, const struct jy_flow_shape *shape);
struct jy_bounds jy_flow_bounds_of(struct jy_flow_bounds *b, jy_fv v);
/* A WRAP of what is never negative is a test of the extent, or nothing where a branch has tested that. Arithmetic that always fits leaves no more. */
void jy_flow_bound(struct jy_flow *w);

#endif
