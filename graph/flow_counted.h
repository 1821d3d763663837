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
    JY_UNCHECKED_IN_FRONT, /* it has been computed or checked in front */
    JY_UNCHECKED_OVERFLOW, /* ADD, SUB: that it wrapped is noted */
};

enum { JY_MOST_LOGGED = 4 }; /* taste: stores of a loop that are undone */

/* What a chunk notes of its results, each in an integer of its own that all rounds OR something to. */
enum jy_evidence {
    JY_EVIDENCE_F64, /* the bits of r - r: 0 where r is finite, else those of a NaN */
    JY_EVIDENCE_F32,
    JY_EVIDENCE_WRAPPED, /* negative where a sum has wrapped */
    JY_EVIDENCE_COUNT,
};

/* A load that reads what the store has written in the round before. */
struct jy_handed {
    jy_fv load, store;
};

struct jy_fast {
    uint8_t *how;  /* by value: enum jy_unchecked */
    uint8_t *told; /* by value: enum jy_site_state; for reports */
    size_t ngone;  /* checks that the fast copy does without */
    bool collects;
    bool evidence[JY_EVIDENCE_COUNT];
    struct {
        jy_fv *at;
        size_t n, cap;
    } carried; /* parameters of the head, and loads that are handed on, that stay NaN or infinite once they are: they tell of what they are made of */
    jy_fv logged[JY_MOST_LOGGED];  /* stores that are undone where there is evidence */
    bool is_fixed[JY_MOST_LOGGED]; /* of them: all rounds store there, so what stood there before the first is enough */
    size_t nlogged;
    struct {
        struct jy_handed *at;
        size_t n, cap;
    } handed;
};

static inline bool
jy_flow_is_cheap(const struct jy_fvalue *v)
{
    return jy_flow_op_info[v->f_op].is_cheap && v->f_exit == JY_NO_EXIT;
}

/* flow_invariant.c: fills c->invariant, and the chain of blocks between entry and front. */
void jy_counted_read_in_front(struct jy_counted *c);
/* Fills `c` and makes the front block, which nothing reaches yet. False: the loop does not count, or a copy of it could not go round its head twice. */
bool jy_counted_find(struct jy_counted *c, struct jy_flow *w, const struct jy_flow_shape *shape,
                     const struct jy_flow_loop *loop);
/* By neither a break nor an exit in between; checks that fail do not count. */
bool jy_counted_is_left_at_head_only(const struct jy_counted *c);
bool jy_counted_is_in_every_round(const struct jy_counted *c, jy_fb block);
/* Is it the same in all rounds of a chunk, told without looking at memory? */
bool jy_counted_is_fixed(const struct jy_counted *c, jy_fv v);
/* flow_evidence.c: what of the rest is evidence. */
void jy_counted_plan_evidence(struct jy_counted *c, struct jy_fast *fast);
/* Whether the value can be computed again from the index alone, without looking at memory that the loop may have changed. */
bool jy_counted_can_replay(const struct jy_counted *c, const struct jy_fast *fast, jy_fv v, int depth);
/* flow_place.c */
void jy_counted_plan_handed(struct jy_counted *c, struct jy_fast *fast);
/* Does the load read what the store has written so many rounds before? False: it cannot be told. */
bool jy_place_is_behind(struct jy_counted *c, const struct jy_fast *fast, jy_fv load, jy_fv store, int64_t *rounds);
struct jy_fast jy_counted_plan(struct jy_counted *c, bool polls_stay);

#endif
