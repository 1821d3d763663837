/* Between which bounds the integers of a loop stay, said in terms of values that are known in front of it. */
#ifndef JY_GRAPH_FLOW_RANGE_H
#define JY_GRAPH_FLOW_RANGE_H

#include "graph/flow_bounds.h"

enum { JY_FORM_TERMS = 4 };

/* constant + sum of factor * base, in the integers: nothing wraps. Bases are I64 values of the front block or of blocks that dominate it. */
struct jy_form {
    size_t n;
    struct jy_term {
        jy_fv base;
        int64_t factor;
    } term[JY_FORM_TERMS];
    int64_t constant;
};

/* The bases of conditions and bounds are tested to be small, so that forms are computed in 64 bits: |base| <= 2^45, factors add up to 2^16 at most, constant <= 2^60. */
enum { JY_BASE_BITS = 45 };
#define JY_FORM_MOST_FACTOR (INT64_C(1) << 16)
#define JY_FORM_MOST_CONSTANT (INT64_C(1) << 60)

struct jy_form jy_form_constant(int64_t constant);
struct jy_form jy_form_base(jy_fv base);
/* out = a + factor * b; false: too large or too many terms. */
bool jy_form_add(struct jy_form *out, const struct jy_form *a, const struct jy_form *b, int64_t factor);
bool jy_form_equal(const struct jy_form *a, const struct jy_form *b);

struct jy_interval {
    bool has_low, has_high;
    struct jy_form low, high;
};

/* A loop that counts: `index`, a parameter of its head, goes by `step` until the head's test, which compares it with an invariant, says no. It is worked on in chunks: runs of at most
 * `chunk` rounds, between which the front block is passed. */
#ifdef JITNEY_HOSTILE /* chunks end all the time */
enum { JY_CHUNK = 3, JY_CALL_CHUNK = 2, JY_LOG_ROUNDS = 12 };
#else
enum { JY_CHUNK = 1 << 14, JY_CALL_CHUNK = 1 << 9, JY_LOG_ROUNDS = JY_SCRATCH_BYTES / 8 }; /* with one store a round */
#endif

struct jy_counted {
    struct jy_flow *w;
    const struct jy_flow_shape *shape;
    const struct jy_flow_loop *loop;
    size_t nvalues;   /* of the flow before anything was added */
    bool *inside;     /* by block, those that there were */
    jy_fb head, body; /* `body`: where the head goes on to */
    size_t stay;      /* that edge of the head */
    jy_fv index;
    int64_t step; /* `by`: 1, the way it goes in the fast copy */
    jy_fv by;     /* the step is this value, which does not change; JY_NO_FV: it is `step` */
    jy_fb entry;  /* new; its parameters are the head's at the beginning of a chunk */
    jy_fb front;  /* the same, or the last block of the chain behind it (flow_invariant.c) */
    jy_fv *first; /* by place of the head's parameter: the entry's */
    jy_fv *
        invariant; /* by value: what stands for it in front; JY_NO_FV: it changes, or nobody asked. Of a CHECK: its condition */
    int64_t
        chunk; /* rounds of one at most: JY_CHUNK; as many as SCRATCH has room for where stores may have to be undone */
    bool can_log;               /* the latter */
    jy_fv stop;                 /* in front: the chunk goes on while index < stop (step > 0), index > stop (step < 0) */
    jy_fv limit;                /* in front: the same for the loop; a chunk that ends before it is not the last one */
    struct jy_form limit_form;  /* what `limit` is */
    struct jy_interval **range; /* by value; NULL: not asked yet */
    struct jy_flow_bounds bounds;
    struct {
        struct jy_derived {
            jy_fv base;
            struct jy_form from[4]; /* it is what it is named for if these are computed in 64 bits */
            size_t nfrom;
            struct jy_form condition[4]; /* and if these are <= 0 */
            size_t nconditions;
        } *at;
        size_t n, cap;
    } derived;
    /* What the fast copy needs: forms that are <= 0, bases that are small, values that are true. */
    struct {
        struct jy_form *at;
        size_t n, cap;
    } conditions, always; /* always: not <= 0, but right; the ranges rest on it */
    struct {
        jy_fv *at;
        size_t n, cap;
    } small, facts;
    bool asks; /* something was needed since this was cleared that is tested in front; for reports */
};

const struct jy_interval *jy_range_of(struct jy_counted *c, jy_fv v);
/* In that block of the loop, which the value's own dominates: what the branches on the way there say is known as well. */
struct jy_interval jy_range_at(struct jy_counted *c, jy_fv v, jy_fb block);
/* Whatever the call, and without a test. */
bool jy_form_is_never_negative(struct jy_counted *c, const struct jy_form *form);
/* In the front block. */
jy_fv jy_form_emit(struct jy_counted *c, const struct jy_form *form);
jy_fv jy_front_const(struct jy_counted *c, int64_t i);
jy_fv jy_front_op(struct jy_counted *c, enum jy_fop op, enum jy_ftype type, jy_fv a, jy_fv b);
/* The form is what it says, computed in 64 bits: its bases are small. */
void jy_range_need(struct jy_counted *c, const struct jy_form *form);
/* a + constant <= b holds, or becomes a condition of the fast copy; false: it never holds or cannot be said. */
bool jy_range_need_le(struct jy_counted *c, const struct jy_form *a, int64_t constant, const struct jy_form *b);
/* One value that says whether everything that is needed holds. */
jy_fv jy_range_test(struct jy_counted *c);

#endif
