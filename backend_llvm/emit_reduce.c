/* Folds. The order of additions is the contract:
 *   PAIRWISE    NumPy's tree. The walk over its leaves is a helper's (graph/pairwise.h); a leaf is summed here:
 *               eight accumulators are one vector of eight lanes, which LLVM splits into as many registers as the
 *               machine needs (eight scalars where elements are strided and there is no gather), combined
 *               ((0+1)+(2+3))+((4+5)+(6+7)), then the tail one by one.
 *   SEQUENTIAL  one by one.
 *   FREE        vector accumulators; `any` and `all` stop after the block that decides.
 * A body that cannot stand in lanes (it has loops of its own) is evaluated element by element; of PAIRWISE into a
 * buffer of one leaf. */
#include "emit.h"
#include <assert.h>
#include <stddef.h>

enum { /* ORDER kernels */
#define KERNEL(name, result, args) HELPER_##name,
#include "graph/kernels.def"
#undef KERNEL
};

#define FREE_COPIES 4   /* accumulators: enough to hide the latency of an addition */
#define STOP_BLOCK 4096 /* elements of `any` or `all` between two looks: by taste */

struct fold {
    const struct jy_lstmt *s;
    jy_op op;
    jy_dtype dtype;
    unsigned width, copies;
    LLVMValueRef limit;         /* masked rounds of FREE; NULL: all lanes are active */
    LLVMValueRef buffer, start; /* PAIRWISE of a plain body: a leaf's elements and where it starts */
};

/* The yields of one round, in the accumulators' type. */
static LLVMValueRef
yield(struct jy_emit *e, const struct fold *f, unsigned copy)
{
    LLVMValueRef v = jy_emit_use(e, f->s->l_yield, copy);
    return f->dtype == JY_BOOL ? jy_emit_truth(e, v) : v;
}

static void
emit_round_body(struct jy_emit *e, LLVMValueRef index, const struct fold *f)
{
    e->lanes.index = index;
    e->lanes.width = f->width;
    e->lanes.copies = f->copies;
    e->lanes.mask = f->limit == NULL ? NULL : jy_emit_mask(e, index, f->limit, f->width);
    jy_emit_body(e, f->s->l_body.at, f->s->l_body.n);
}

static bool
is_idempotent(jy_op op)
{
    return op != JY_OP_ADD && op != JY_OP_MUL && op != JY_OP_BITWISE_XOR && op != JY_OP_LOGICAL_XOR;
}

static void
lane_round(struct jy_emit *e, LLVMValueRef index, LLVMValueRef *carried, void *context)
{
    const struct fold *f = context;
    emit_round_body(e, index, f);
    for (unsigned copy = 0; copy < f->copies; copy++) {
        LLVMValueRef v = yield(e, f, copy);
        if (f->limit != NULL && (f->dtype == JY_BOOL || !is_idempotent(f->op))) {
            /* idle lanes repeat lane 0: harmless to min and max, not to sums, nor where bools were made of them */
            LLVMTypeRef type = LLVMTypeOf(v);
            bool ones = f->op == JY_OP_LOGICAL_AND || f->op == JY_OP_BITWISE_AND ||
                        (f->dtype == JY_BOOL && (f->op == JY_OP_MUL || f->op == JY_OP_MINIMUM));
            LLVMValueRef one = jy_emit_splat(e, jy_emit_constant(e, f->dtype, (union jy_scalar){ .i = 1 }), f->width);
            LLVMValueRef neutral = f->op == JY_OP_MUL ? one : ones ? LLVMConstAllOnes(type) : LLVMConstNull(type);
            v = LLVMBuildSelect(e->builder, e->lanes.mask, v, neutral, "");
        }
        carried[copy] = jy_emit_binary(e, f->op, f->dtype, carried[copy], v);
    }
}

static LLVMValueRef
pick(struct jy_emit *e, LLVMValueRef v, unsigned first, unsigned step, unsigned n)
{
    LLVMValueRef index[32];
    for (unsigned i = 0; i < n; i++)
        index[i] = l_i32(e, (int32_t)(first + i * step));
    if (n == 1)
        return LLVMBuildExtractElement(e->builder, v, index[0], "");
    return LLVMBuildShuffleVector(e->builder, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(index, n), "");
}

/* Neighbours with neighbours until one is left: ((0+1)+(2+3))+((4+5)+(6+7)). */
static LLVMValueRef
across(struct jy_emit *e, const struct fold *f, LLVMValueRef v)
{
    for (unsigned n = l_width(v) / 2; n > 0; n /= 2)
        v = jy_emit_binary(e, f->op, f->dtype, pick(e, v, 0, 2, n), pick(e, v, 1, 2, n));
    return v;
}

/* SEQUENTIAL, and every fold whose body is plain
 * ---------------------------------------------------------------------- */

static void
plain_round(struct jy_emit *e, LLVMValueRef index, LLVMValueRef *carried, void *context)
{
    const struct fold *f = context;
    e->value[f->s->l_var * JY_COPIES] = index;
    e->owner[f->s->l_var] = 0;
    jy_emit_body(e, f->s->l_body.at, f->s->l_body.n);
    carried[0] = jy_emit_binary(e, f->op, f->dtype, carried[0], yield(e, f, 0));
}

static LLVMValueRef
initial(struct jy_emit *e, const struct fold *f)
{
    LLVMValueRef v = jy_emit_use(e, f->s->l_args[1], 0);
    return f->dtype == JY_BOOL ? jy_emit_truth(e, v) : v;
}

static LLVMValueRef
emit_plain(struct jy_emit *e, struct fold *f, LLVMValueRef n)
{
    LLVMValueRef acc = initial(e, f);
    jy_emit_counted(e, "fold", l_i64(e, 0), n, 1, &acc, 1, plain_round, f);
    return acc;
}

static LLVMValueRef
emit_sequential(struct jy_emit *e, struct fold *f, LLVMValueRef n, LLVMValueRef acc)
{
    jy_emit_counted(e, "fold", l_i64(e, 0), n, 1, &acc, 1, lane_round, f);
    return acc;
}

/* FREE ------------------------------------------------------------------------------------------------------------ */

static LLVMValueRef
neutral_scalar(struct jy_emit *e, const struct fold *f, LLVMValueRef start)
{
    if (is_idempotent(f->op) || f->dtype == JY_BOOL)
        return start;
    return jy_emit_constant(e, f->dtype, (union jy_scalar){ .i = f->op == JY_OP_MUL ? 1 : 0 });
}

/* Elements from .. to folded onto `start`. */
static LLVMValueRef
emit_free_range(struct jy_emit *e, struct fold *f, LLVMValueRef from, LLVMValueRef to, LLVMValueRef start)
{
    unsigned width = jy_emit_shape(e, f->s, f->s->l_var).width, copies = FREE_COPIES;
    bool masks = e->target->masks && width > 1;
    LLVMValueRef acc[JY_COPIES], seed = jy_emit_splat(e, neutral_scalar(e, f, start), width);
    LLVMValueRef n = LLVMBuildSub(e->builder, to, from, ""), i, r;
    for (unsigned k = 0; k < copies; k++)
        acc[k] = seed;
    f->width = width;
    f->copies = copies;
    LLVMValueRef top =
        LLVMBuildAdd(e->builder, from, LLVMBuildAnd(e->builder, n, l_i64(e, -(int64_t)(width * copies)), ""), "");
    i = jy_emit_counted(e, "fold", from, top, width * copies, acc, copies, lane_round, f);
    for (unsigned k = 1; k < copies; k++)
        acc[0] = jy_emit_binary(e, f->op, f->dtype, acc[0], acc[k]);
    f->copies = 1;
    f->limit = masks ? to : NULL;
    top = masks ? to : LLVMBuildAdd(e->builder, from, LLVMBuildAnd(e->builder, n, l_i64(e, -(int64_t)width), ""), "");
    i = jy_emit_counted(e, "rest", i, top, width, acc, 1, lane_round, f);
    r = across(e, f, acc[0]);
    r = jy_emit_binary(e, f->op, f->dtype, start, r);
    f->width = 1;
    f->limit = NULL;
    if (!masks && width > 1)
        jy_emit_counted(e, "tail", i, to, 1, &r, 1, lane_round, f);
    return r;
}

/* A block decides `any` or `all`; flags of the elements after it must not be lost. */
static bool
can_stop(const struct jy_emit *e, const struct fold *f)
{
    if (f->op != JY_OP_LOGICAL_OR && f->op != JY_OP_LOGICAL_AND)
        return false;
    for (size_t i = 0; i < f->s->l_body.n; i++) {
        const struct jy_lstmt *s = l_stmt(e, f->s->l_body.at[i]);
        if (s->l_kind == JY_L_CAST ||
            (s->l_kind == JY_L_OP && s->l_dtype != JY_BOOL && (jy_op_info[s->l_op].facts & JY_FACT_FLAGS)))
            return false;
    }
    return true;
}

static LLVMValueRef
emit_stopping(struct jy_emit *e, struct fold *f, LLVMValueRef n, LLVMValueRef start)
{
    LLVMBuilderRef b = e->builder;
    LLVMBasicBlockRef before = l_here(e), block = l_block(e, "block"), done = l_block(e, "decided");
    LLVMBuildBr(b, block);
    l_at(e, block);
    LLVMValueRef from = LLVMBuildPhi(b, e->i64, "from"), zero = l_i64(e, 0);
    LLVMValueRef to = jy_emit_binary(e, JY_OP_MINIMUM, JY_I64, LLVMBuildAdd(b, from, l_i64(e, STOP_BLOCK), ""), n);
    LLVMValueRef r = emit_free_range(e, f, from, to, start);
    LLVMValueRef decided = f->op == JY_OP_LOGICAL_OR ? r : LLVMBuildNot(b, r, "");
    LLVMValueRef stop = LLVMBuildOr(b, decided, LLVMBuildICmp(b, LLVMIntSGE, to, n, ""), "");
    LLVMBasicBlockRef latch = l_here(e);
    LLVMBuildCondBr(b, stop, done, block);
    LLVMAddIncoming(from, &zero, &before, 1);
    LLVMAddIncoming(from, &to, &latch, 1);
    l_at(e, done);
    return r;
}

/* PAIRWISE -------------------------------------------------------------------------------------------------------- */

static LLVMValueRef
state_field(struct jy_emit *e, LLVMValueRef state, size_t offset, LLVMTypeRef type, const char *name)
{
    LLVMValueRef at = l_i64(e, (int64_t)offset);
    return l_load(e, type, LLVMBuildGEP2(e->builder, e->i8, state, &at, 1, ""), 8, name);
}

/* One element of a leaf into the buffer. */
static void
buffer_round(struct jy_emit *e, LLVMValueRef index, LLVMValueRef *carried, void *context)
{
    const struct fold *f = context;
    (void)carried;
    e->value[f->s->l_var * JY_COPIES] = LLVMBuildAdd(e->builder, f->start, index, "");
    e->owner[f->s->l_var] = 0;
    jy_emit_body(e, f->s->l_body.at, f->s->l_body.n);
    LLVMValueRef at = LLVMBuildGEP2(e->builder, jy_types_value(e, f->dtype), f->buffer, &index, 1, "");
    l_store(e, yield(e, f, 0), at, jy_dtype_info[f->dtype].bytes);
}

/* The f->width * f->copies elements from `index` on; one value per copy. */
static void
leaf_values(struct jy_emit *e, const struct fold *f, LLVMValueRef index, LLVMValueRef *out)
{
    if (f->buffer != NULL) {
        LLVMTypeRef type = jy_types_value(e, f->dtype);
        LLVMValueRef at = LLVMBuildGEP2(e->builder, type, f->buffer, &index, 1, "");
        out[0] = l_load(e, l_widen(type, f->width), at, jy_dtype_info[f->dtype].bytes, "");
        return;
    }
    emit_round_body(e, index, f);
    for (unsigned copy = 0; copy < f->copies; copy++)
        out[copy] = yield(e, f, copy);
}

static void
leaf_round(struct jy_emit *e, LLVMValueRef index, LLVMValueRef *carried, void *context)
{
    const struct fold *f = context;
    LLVMValueRef v[JY_COPIES];
    leaf_values(e, f, index, v);
    for (unsigned copy = 0; copy < f->copies; copy++)
        carried[copy] = LLVMBuildFAdd(e->builder, carried[copy], v[copy], "");
}

/* The eight accumulators' sum: one vector, or eight scalars. */
static LLVMValueRef
combine_eight(struct jy_emit *e, const struct fold *f, LLVMValueRef *acc)
{
    for (unsigned n = f->copies / 2; n > 0; n /= 2)
        for (unsigned k = 0; k < n; k++)
            acc[k] = LLVMBuildFAdd(e->builder, acc[2 * k], acc[2 * k + 1], "");
    return across(e, f, acc[0]);
}

/* Sum of the elements from .. from+m of one leaf. */
static LLVMValueRef
emit_leaf(struct jy_emit *e, struct fold *f, LLVMValueRef from, LLVMValueRef m)
{
    LLVMBuilderRef b = e->builder;
    LLVMBasicBlockRef before = l_here(e), eights = l_block(e, "eights"), tail = l_block(e, "leaf.tail");
    LLVMValueRef none = LLVMConstReal(jy_types_value(e, f->dtype), -0.0), to = LLVMBuildAdd(b, from, m, "leaf.end");
    LLVMValueRef acc[JY_COPIES];
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, m, l_i64(e, 8), ""), tail, eights);

    l_at(e, eights);
    bool scalar = f->buffer == NULL && jy_emit_shape(e, f->s, f->s->l_var).width == 1;
    f->width = scalar ? 1 : 8;
    f->copies = scalar ? 8 : 1;
    leaf_values(e, f, from, acc);
    LLVMValueRef last = LLVMBuildAdd(b, from, LLVMBuildAnd(b, m, l_i64(e, -8), ""), "");
    jy_emit_counted(e, "leaf.eights", LLVMBuildAdd(b, from, l_i64(e, 8), ""), last, 8, acc, f->copies, leaf_round, f);
    LLVMValueRef eight = combine_eight(e, f, acc);
    LLVMBasicBlockRef latch = l_here(e);
    LLVMBuildBr(b, tail);

    l_at(e, tail);
    LLVMValueRef sum = LLVMBuildPhi(b, LLVMTypeOf(none), "sum"), i = LLVMBuildPhi(b, e->i64, "i");
    LLVMAddIncoming(sum, &none, &before, 1);
    LLVMAddIncoming(sum, &eight, &latch, 1);
    LLVMAddIncoming(i, &from, &before, 1);
    LLVMAddIncoming(i, &last, &latch, 1);
    f->width = f->copies = 1;
    jy_emit_counted(e, "leaf.ones", i, to, 1, &sum, 1, leaf_round, f);
    return sum;
}

static LLVMValueRef
next_leaf(struct jy_emit *e, const struct fold *f, LLVMValueRef state, LLVMValueRef sum)
{
    LLVMTypeRef params[] = { e->ptr, jy_types_value(e, f->dtype) };
    LLVMValueRef args[] = { state, sum };
    unsigned helper = f->dtype == JY_F64 ? HELPER_pairwise_next_f64 : HELPER_pairwise_next_f32;
    return jy_emit_helper(e, helper, LLVMFunctionType(e->i64, params, 2, false), args, 2, "m.next");
}

static LLVMValueRef
first_leaf(struct jy_emit *e, LLVMValueRef state, LLVMValueRef n)
{
    LLVMTypeRef params[] = { e->ptr, e->i64, e->i64 };
    LLVMValueRef args[] = { state, n, jy_emit_field(e, JY_FIELD_SUM_CHUNK) };
    return jy_emit_helper(e, HELPER_pairwise_begin, LLVMFunctionType(e->i64, params, 3, false), args, 3, "m.first");
}

static LLVMValueRef
emit_pairwise(struct jy_emit *e, struct fold *f, LLVMValueRef n, bool wide)
{
    LLVMBuilderRef b = e->builder;
    struct jy_lanes saved = e->lanes;
    LLVMTypeRef type = jy_types_value(e, f->dtype);
    LLVMValueRef state = jy_emit_alloca(e, LLVMArrayType2(e->i8, sizeof(struct jy_pairwise)), "tree");
    LLVMBasicBlockRef some = l_block(e, "some"), leaf = l_block(e, "leaf"), done = l_block(e, "summed");
    LLVMValueRef first = first_leaf(e, state, n);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, first, l_i64(e, 0), ""), some, done);

    l_at(e, some);
    if (wide)
        saved = jy_emit_open(e, f->s->l_var);
    LLVMBasicBlockRef before = l_here(e);
    LLVMBuildBr(b, leaf);
    l_at(e, leaf);
    LLVMValueRef m = LLVMBuildPhi(b, e->i64, "m");
    LLVMAddIncoming(m, &first, &before, 1);
    LLVMValueRef start = state_field(e, state, offsetof(struct jy_pairwise, start), e->i64, "leaf.start");
    if (!wide) {
        f->buffer = jy_emit_alloca(e, LLVMArrayType2(type, JY_PAIRWISE_LEAF), "leaf");
        f->start = start;
        jy_emit_counted(e, "leaf.fill", l_i64(e, 0), m, 1, NULL, 0, buffer_round, f);
        start = l_i64(e, 0);
    }
    LLVMValueRef next = next_leaf(e, f, state, emit_leaf(e, f, start, m));
    LLVMBasicBlockRef latch = l_here(e);
    LLVMAddIncoming(m, &next, &latch, 1);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, next, l_i64(e, 0), ""), leaf, done);
    jy_emit_close(e, saved);

    l_at(e, done);
    return state_field(e, state, offsetof(struct jy_pairwise, value), type, "");
}

/* ----------------------------------------------------------------------------------------------------------------- */

/* Folds in lanes run in a scope of their own, entered only when there is an element. */
static LLVMValueRef
emit_in_lanes(struct jy_emit *e, struct fold *f, LLVMValueRef n)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef start = initial(e, f), out;
    LLVMBasicBlockRef before = l_here(e), some = l_block(e, "some"), done = l_block(e, "folded");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGT, n, l_i64(e, 0), ""), some, done);
    l_at(e, some);
    struct jy_lanes saved = jy_emit_open(e, f->s->l_var);
    if (f->s->l_order != JY_FOLD_FREE)
        out = emit_sequential(e, f, n, start);
    else if (can_stop(e, f))
        out = emit_stopping(e, f, n, start);
    else
        out = emit_free_range(e, f, l_i64(e, 0), n, start);
    jy_emit_close(e, saved);
    LLVMBasicBlockRef after = l_here(e);
    LLVMBuildBr(b, done);
    l_at(e, done);
    LLVMValueRef r = LLVMBuildPhi(b, LLVMTypeOf(start), "");
    LLVMAddIncoming(r, &start, &before, 1);
    LLVMAddIncoming(r, &out, &after, 1);
    return r;
}

void
jy_emit_fold(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    struct fold f = { .s = s, .op = s->l_op, .dtype = s->l_dtype, .width = 1, .copies = 1 };
    LLVMValueRef n = jy_emit_use(e, s->l_args[0], 0), r;
    bool wide = jy_emit_is_wide_body(e, s, s->l_var);
    if (e->lanes.preheader != NULL) {
        jy_emit_fail(e, "a fold inside a vector loop");
        return;
    }
    if (s->l_order == JY_FOLD_PAIRWISE)
        r = emit_pairwise(e, &f, n, wide);
    else
        r = wide ? emit_in_lanes(e, &f, n) : emit_plain(e, &f, n);
    jy_emit_define(e, lv, 0, r);
}
