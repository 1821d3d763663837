/* What the passes over flows ask of the control flow: order, dominators, natural loops. All of it is linear in practice and stands in the flow's arena.
 * A change of edges makes it stale; nothing here is updated. */
#ifndef JY_GRAPH_FLOW_ANALYSIS_H
#define JY_GRAPH_FLOW_ANALYSIS_H

#include "graph/flow.h"

/* Successors of node k: to[start[k]] .. to[start[k + 1] - 1]. */
struct jy_digraph {
    size_t n;
    uint32_t *start, *to;
};

struct jy_arcs {
    struct jy_arc {
        uint32_t from, to;
    } *at;
    size_t n, cap;
};

/* Arcs of one node keep the order in which they are listed; reversed: every arc is turned round. */
struct jy_digraph jy_digraph_new(struct jy_arena *arena, size_t n, const struct jy_arcs *arcs, bool reversed);

#define JY_UNREACHED UINT32_MAX

/* Of a digraph whose root is node 0. */
struct jy_dominators {
    size_t n;               /* nodes that are reached */
    uint32_t *order;        /* they, in reverse postorder */
    uint32_t *rank;         /* by node: place in `order`, JY_UNREACHED */
    uint32_t *idom;         /* by node; the root's is itself */
    uint32_t *first, *last; /* by node: the places of its subtree in the preorder of the dominator tree */
    uint32_t *preorder;     /* n nodes */
};

void jy_dominators_fill(struct jy_dominators *d, struct jy_arena *arena, const struct jy_arcs *arcs, size_t nnodes);

static inline bool
jy_dominates(const struct jy_dominators *d, uint32_t a, uint32_t b)
{
    return d->first[a] <= d->first[b] && d->last[b] <= d->last[a];
}

/* An edge of the flow: which of which block. */
struct jy_fpred {
    jy_fb from;
    uint32_t edge;
};

struct jy_flow_shape {
    struct jy_dominators dom; /* nodes are blocks */
    uint32_t *
        pred_start; /* predecessors of block b: pred[pred_start[b]] .. pred[pred_start[b + 1] - 1], reached ones only */
    struct jy_fpred *pred;
};

void jy_flow_shape_fill(struct jy_flow_shape *s, const struct jy_flow *w);

static inline size_t
jy_flow_nedges(const struct jy_fblock *b)
{
    return b->f_end == JY_END_JUMP ? 1 : b->f_end == JY_END_BRANCH ? 2 : 0;
}

static inline size_t
jy_flow_npreds(const struct jy_flow_shape *s, jy_fb block)
{
    return s->pred_start[block + 1] - s->pred_start[block];
}

/* A natural loop: the blocks that reach the head's back edges without passing the head. */
struct jy_flow_loop {
    jy_fb head;
    bool innermost;
    struct {
        jy_fb *at; /* the head first, in reverse postorder */
        size_t n, cap;
    } blocks;
};

struct jy_flow_loops {
    struct jy_flow_loop *at; /* inner ones before those around them */
    size_t n, cap;
};

void jy_flow_loops_fill(struct jy_flow_loops *loops, const struct jy_flow *w, const struct jy_flow_shape *s);

/* Is v made, inside of the loop, of that parameter of its head (or v itself)? `inside` is by block. At most so many steps are followed; what lies behind them is none. */
bool jy_flow_is_made_of(const struct jy_flow *w, const struct jy_flow_shape *s, const bool *inside, jy_fb head, jy_fv v,
                        jy_fv param, int steps);

#endif
