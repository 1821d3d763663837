/* Which loops count, and which of their checks the fast copy goes without. */
#ifndef JY_GRAPH_FLOW_COUNTED_H
#define JY_GRAPH_FLOW_COUNTED_H

#include "graph/flow_range.h"

enum jy_unchecked {
    JY_UNCHECKED_NO,       /* stays as it is */
    JY_UNCHECKED_GONE,     /* a CHECK that holds */
    JY_UNCHECKED_PLAIN,    /* the same without an exit */
    JY_UNCHECKED_INDEX,    /* WRAP: its index as it is */
    JY_UNCHECKED_BELOW,    /* WRAP of an index that is not negative: only the extent is checked */
    JY_UNCHECKED_COLLECT,  /* FLAGGED: noted, and asked when the chunk is done */
    JY_UNCHECKED_TOLD,     /* FLAGGED: told by one of `told`, when the chunk is done */
    JY_UNCHECKED_IN_FRONT, /* it has been computed or checked in front */
    JY_UNCHECKED_OVERFLOW, /* ADD, SUB: that it wrapped is noted */
};

enum { JY_MOST_LOGGED = 4 }; /* taste: stores of a loop that are undone */
enum { JY_MOST_TOLD = 8 };

struct jy_fast {
    uint8_t *how; /* by value: enum jy_unchecked */
    size_t ngone; /* checks that the fast copy does without */
    bool collects;
    jy_fv logged[JY_MOST_LOGGED]; /* stores that are undone where there is evidence */
    size_t nlogged;
    jy_fv told[JY_MOST_TOLD]; /* parameters of the head that are not finite any more once they were not: looked at behind a chunk */
    size_t ntold;
};

/* flow_invariant.c: fills c->invariant, and the chain of blocks between entry and front. */
void jy_counted_read_in_front(struct jy_counted *c);
/* Fills `c` and makes the front block, which nothing reaches yet. False: the loop does not count, or a copy of it could not go round its head twice. */
bool jy_counted_find(struct jy_counted *c, struct jy_flow *w, const struct jy_flow_shape *shape,
                     const struct jy_flow_loop *loop);
struct jy_fast jy_counted_plan(struct jy_counted *c, bool polls_stay);

#endif
