/* State and helpers of the emitters of flows (graph/flow.h); emit_flow.c has the order of events.
 *
 * A block of the flow is a run of LLVM blocks: each check ends one, with a branch to the exit's block, which is cold,
 * and goes on in the next. Parameters are phis. The builder stands where the next instruction goes. */
#ifndef JY_BACKEND_EMIT_FLOW_H
#define JY_BACKEND_EMIT_FLOW_H

#include "emit.h"
#include "graph/flow.h"

enum { JY_FLOW_MOST_ARGS = 64 };

/* ORDER flow_call */
enum jy_flow_field {
    JY_FLOW_FIELD_IN,
    JY_FLOW_FIELD_OUT,
    JY_FLOW_FIELD_HELPER,
    JY_FLOW_FIELD_WATCH,
    JY_FLOW_FIELD_MASK,
    JY_FLOW_FIELD_OWNER,
    JY_FLOW_FIELD_LEFT,
    JY_FLOW_FIELD_STACK,
    JY_FLOW_FIELD_PUSH,
    JY_FLOW_FIELD_SPREAD,
    JY_FLOW_FIELDS,
};

/* A FLAGGED that is not tested yet. */
struct jy_flow_flagged {
    jy_fv check;
    bool is_told; /* by a later one: where that result is finite this one is */
};

/* A product that goes round a loop: emit_flow_stride.c. */
struct jy_flow_stride {
    jy_fv counter, factor;
    size_t place; /* of the counter among the parameters of the head */
    int64_t step;
    LLVMValueRef product;
};

/* Both results of a division, in the block of the flow that is being emitted. */
struct jy_flow_division {
    LLVMValueRef dividend, divisor, quotient, rest;
};

enum { JY_FLOW_MOST_COPIES = 2 };

/* One of the program's functions, as LLVM has it: { result, left } or left, of (call, frames left, arguments). */
struct jy_flow_function {
    LLVMValueRef function;
    LLVMValueRef again
        [JY_FLOW_MOST_COPIES]; /* the same, for calls in it of itself, in that copy of itself, ...: LLVM puts them into it. NULL: calls like others */
    LLVMTypeRef type, result;
    bool is_part;       /* LLVM puts it into its callers, which ask for events and stack */
    LLVMValueRef piece; /* a jy_flow_piece that calls it; NULL: it is none */
};

struct jy_flow_emit {
    struct jy_emit *e;
    const struct jy_flow *w;
    const struct jy_flow_function *functions; /* of the root */
    const struct jy_flow_function *self;      /* NULL: this is the root */
    unsigned depth;                           /* of this copy of the function in itself */
    uint32_t number;                          /* of the function */
    LLVMValueRef left;                        /* frames that may be begun yet; NULL: nobody has asked */
    struct {
        LLVMBasicBlockRef block; /* NULL: nothing has returned yet */
        LLVMValueRef number, left;
    } result; /* of a function: where all returns end */
    LLVMTypeRef call_type;
    LLVMValueRef *value;             /* per value of the flow */
    bool *is_arm, *has_arms;         /* per block: emit_flow_arms.c */
    LLVMValueRef goes_on;            /* where a check fails and this holds, nothing is left; NULL: it always is */
    LLVMBasicBlockRef *first, *last; /* per block; last: where it ends, once emitted; NULL: never reached */
    uint32_t *place;                 /* per block: in the order in which they are emitted */
    LLVMBasicBlockRef *exits;        /* per exit; NULL: nobody takes it */
    uint32_t *slot;                  /* per value: jy_flow_slots */
    size_t nslots;
    LLVMValueRef *scope, *apart;        /* per alias number: its own, and the list of all others */
    LLVMValueRef *kept;                 /* per helper: scopes that it does not touch; NULL: none */
    LLVMValueRef field[JY_FLOW_FIELDS]; /* loaded in the entry block */
    LLVMValueRef failed;                /* slot for helpers that may fail */
    LLVMValueRef scratch;               /* SCRATCH */
    LLVMValueRef rare, usual, frozen; /* metadata: the first edge is taken never, always; memory that does not change */
    struct {
        struct jy_flow_flagged *at;
        size_t n, cap;
    } flagged;
    struct {
        struct jy_flow_stride *at;
        size_t n, cap;
    } strides;
    const jy_fb *order; /* of blocks, as `place` says; with arms */
    size_t norder;
    struct jy_flow_division division; /* the last one */
    unsigned prof_kind, invariant_kind, scope_kind, apart_kind;
};

/* emit_flow.c */
LLVMTypeRef jy_flow_value_type(const struct jy_flow_emit *f, enum jy_ftype type);
LLVMTypeRef jy_flow_memory_type(const struct jy_flow_emit *f, enum jy_ftype type); /* I1: i8 */
LLVMValueRef jy_flow_field(struct jy_flow_emit *f, enum jy_flow_field field);
/* Branches to a cold block where the condition does not hold, and goes on in a new block, which it returns. */
LLVMBasicBlockRef jy_flow_go_on(struct jy_flow_emit *f, LLVMValueRef condition, LLVMBasicBlockRef otherwise);
/* Leaves where the condition does not hold, goes on in a new block otherwise. */
void jy_flow_require(struct jy_flow_emit *f, LLVMValueRef condition, uint32_t exit);
/* The same with a cheap condition that is enough and a precise one, made by `decide` in a cold block. */
typedef LLVMValueRef (*jy_flow_decide)(struct jy_flow_emit *f, LLVMValueRef *args);
void jy_flow_require_rarely(struct jy_flow_emit *f, LLVMValueRef enough, uint32_t exit, jy_flow_decide decide,
                            LLVMValueRef *args);

void jy_flow_emit_body(struct jy_flow_emit *f, jy_fb block); /* its instructions, where the builder stands */

/* emit_flow_put.c */
unsigned jy_flow_count_copies(const struct jy_flow *w, uint32_t number);
void jy_flow_find_parts(struct jy_emit *e, struct jy_flow_function *functions, const struct jy_flow *root);
/* emit_flow_arms.c */
void jy_flow_find_arms(struct jy_flow_emit *f, const jy_fb *order, size_t n);
void jy_flow_emit_arms(struct jy_flow_emit *f, jy_fb block); /* behind the block's body */
void jy_flow_join_arms(struct jy_flow_emit *f, jy_fb block); /* in place of its branch */
/* emit_flow_op.c */
LLVMValueRef jy_flow_emit_op(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args);
/* emit_flow_int.c: NULL when it is no operation on integers */
LLVMValueRef jy_flow_emit_int(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args);
/* emit_flow_stride.c: NULL: it is another operation, or not in such a loop */
LLVMValueRef jy_flow_emit_stride(struct jy_flow_emit *f, const struct jy_fvalue *v);
/* Of an edge whose block, `from`, has ended. */
void jy_flow_pass_strides(struct jy_flow_emit *f, const struct jy_fedge *edge, LLVMBasicBlockRef from, bool is_back);
/* emit_flow_mark.c: when all blocks have ended */
void jy_flow_mark_loops(struct jy_flow_emit *f);
/* emit_flow_exit.c */
LLVMBasicBlockRef jy_flow_exit_block(struct jy_flow_emit *f, uint32_t exit);
void jy_flow_emit_exits(struct jy_flow_emit *f); /* of those that are taken */
/* emit_flow_flags.c */
void jy_flow_emit_flagged(struct jy_flow_emit *f, jy_fv fv);
void jy_flow_settle_flags(struct jy_flow_emit *f); /* before anything that can be observed but other checks */
/* Around another check, and where it goes when it fails: first to the tests that wait. */
void jy_flow_before_check(struct jy_flow_emit *f);
void jy_flow_behind_check(struct jy_flow_emit *f, const struct jy_fvalue *v);
LLVMBasicBlockRef jy_flow_failed_block(struct jy_flow_emit *f, uint32_t exit);
/* emit_flow_memory.c */
LLVMValueRef jy_flow_emit_scratch(struct jy_flow_emit *f);
LLVMValueRef jy_flow_emit_input(struct jy_flow_emit *f, const struct jy_fvalue *v);
LLVMValueRef jy_flow_emit_load(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args);
void jy_flow_emit_store(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args);
LLVMValueRef jy_flow_emit_call(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args);
LLVMValueRef jy_flow_emit_invoke(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args);
/* emit_flow_spread.c */
void jy_flow_emit_piece(struct jy_emit *e, struct jy_flow_function *out, const struct jy_flow *w);
LLVMValueRef jy_flow_emit_spread(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args);
/* emit_flow_memory.c */
LLVMValueRef jy_flow_must_poll(struct jy_flow_emit *f);
/* Ends the block: a function's result, or NULL: it was left. */
void jy_flow_emit_result(struct jy_flow_emit *f, LLVMValueRef result, bool left);
void jy_flow_emit_poll(struct jy_flow_emit *f, const struct jy_fvalue *v);
LLVMValueRef jy_flow_slot(struct jy_flow_emit *f, enum jy_flow_field field, uint32_t k);

static inline LLVMBuilderRef
l_builder(const struct jy_flow_emit *f)
{
    return f->e->builder;
}

static inline LLVMValueRef
l_int(LLVMValueRef like, int64_t value)
{
    return LLVMConstInt(LLVMTypeOf(like), (uint64_t)value, true);
}

static inline unsigned
l_bits(LLVMValueRef v)
{
    return LLVMGetIntTypeWidth(LLVMTypeOf(v));
}

#endif
