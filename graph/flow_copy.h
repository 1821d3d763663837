/* A second copy of a loop. */
#ifndef JY_GRAPH_FLOW_COPY_H
#define JY_GRAPH_FLOW_COPY_H

#include "graph/flow_analysis.h"

/* What stands for the values, blocks and exits of the original; itself where it says nothing. */
struct jy_copy {
    struct jy_flow *w;
    jy_fv *value;
    jy_fb *block;
    uint32_t *exit;
    size_t nvalues, nblocks, nexits; /* that the original has */
};

/* Values of the loop that are used behind it get there as parameters from now on. So a second way out of a copy of the loop only passes its own. */
void jy_flow_close_loop(struct jy_flow *w, const struct jy_flow_shape *shape, const struct jy_flow_loop *loop);
/* The same for blocks that may be entered anywhere from what lies behind them: they get such parameters, too. */
void jy_flow_close_ring(struct jy_flow *w, const struct jy_flow_shape *shape, const struct jy_flow_loop *part);

struct jy_copy jy_copy_new(struct jy_flow *w);
jy_fv jy_copy_value(const struct jy_copy *copy, jy_fv v);
/* A new exit that says of the copy what `exit` says of the original; one per exit. */
uint32_t jy_copy_exit(struct jy_copy *copy, uint32_t exit);
/* The instruction, appended to the block. */
jy_fv jy_copy_append(struct jy_copy *copy, jy_fb block, jy_fv v, bool with_exit);
/* The edge's arguments, translated, with room for `more` behind them. */
struct jy_fedge jy_copy_edge(const struct jy_copy *copy, const struct jy_fedge *edge, size_t more);

#endif
