/* Asking the interpreter between chunks instead of in every round. */
#ifndef JY_GRAPH_FLOW_POLL_H
#define JY_GRAPH_FLOW_POLL_H

#include "graph/flow_counted.h"

/* Where a value of the exit is found behind a chunk. */
enum jy_poll_how {
    JY_POLL_VALUE, /* it is `value`, of the head or from outside the loop */
    JY_POLL_INDEX, /* `value` is the index: it is less by a step */
    JY_POLL_LAST,  /* the last round knew it: number `place` of those */
};

struct jy_polls {
    size_t n;
    bool stay; /* they cannot be moved, or are not: a round may take long */
    struct jy_flow_exit exit;
    struct jy_poll_value {
        uint8_t how;
        jy_fv value;
        size_t place;
    } *value; /* by place in the exit */
    size_t nlast;
    size_t *last; /* their places in the exit */
    const struct jy_flow *flow;
    uint32_t *exit_of; /* by block that goes back to the head: its poll's exit */
};

struct jy_polls jy_polls_find(const struct jy_counted *c);
/* The k-th of the values that the last round knew, where the block `from` goes back to the head. */
jy_fv jy_polls_last(const struct jy_polls *polls, size_t k, jy_fb from);
enum jy_ftype jy_polls_type(const struct jy_flow *w, const struct jy_polls *polls, size_t k);
/* Drops the polls without which each loop still asks in each of its rounds. */
void jy_flow_drop_polls(struct jy_flow *w);

#endif
