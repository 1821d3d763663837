/* Statements in order, and loops in the shape that the machine runs: tested once before the first round, counted by
 * one i64 from which every address follows.
 *
 * A VECTOR loop becomes
 *      if n > 0:   what does not change
 *          copies * width elements a round     (several copies only while the body is small; where much is written to new
 *                                               memory another time, past the caches)
 *          width elements a round              (only beside the former)
 *          the rest: one masked round, or one by one where masked accesses are not single instructions */
#include "emit.h"

#define STRIDED_WIDTH 16
#define STREAM_BYTES (4 << 20) /* from this size on a result is not kept in caches */
#define CALL_WORK 20           /* of a vector function, in operations */

static void
emit_int(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    LLVMBuilderRef b = e->builder;
    LLVMValueRef x = jy_emit_use(e, s->l_args[0], 0), y = jy_emit_use(e, s->l_args[1], 0), r;
    /* clang-format off */
    switch ((int)s->l_op) {
    case JY_OP_ADD: r = LLVMBuildNSWAdd(b, x, y, ""); break;
    case JY_OP_SUB: r = LLVMBuildNSWSub(b, x, y, ""); break;
    case JY_OP_MUL: r = LLVMBuildNSWMul(b, x, y, ""); break;
    case JY_OP_FLOOR_DIVIDE: r = LLVMBuildUDiv(b, x, y, ""); break;
    case JY_OP_MINIMUM:
    case JY_OP_MAXIMUM: r = jy_emit_binary(e, s->l_op, JY_I64, x, y); break;
    default: jy_emit_fail(e, "unknown index arithmetic"); r = x; break;
    }
    /* clang-format on */
    jy_emit_define(e, lv, 0, r);
}

static LLVMValueRef
slot_address(struct jy_emit *e, uint32_t slot)
{
    LLVMValueRef base = jy_emit_field(e, JY_FIELD_SCALAR), index = l_i64(e, slot);
    return LLVMBuildGEP2(e->builder, e->i64, base, &index, 1, "");
}

/* A value that has one lane in every scope: jy_emit_use widens it. */
static void
define_uniform(struct jy_emit *e, jy_lv lv, LLVMValueRef v)
{
    jy_emit_define(e, lv, 0, v);
    e->owner[lv] = 0;
}

/* A bool of a slot is a whole integer, so that its byte is 0 or 1 on every machine. */
static void
emit_scalar(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    bool hoists = e->lanes.preheader != NULL;
    if (hoists && e->hoisted[lv].serial == e->lanes.serial)
        return;
    LLVMBasicBlockRef here = hoists ? l_visit(e, e->lanes.preheader) : NULL;
    LLVMTypeRef type = s->l_dtype == JY_BOOL ? e->i64 : jy_types_value(e, s->l_dtype);
    LLVMValueRef v = l_load(e, type, slot_address(e, s->l_index), 8, "");
    define_uniform(e, lv, s->l_dtype == JY_BOOL ? jy_emit_truth(e, v) : v);
    if (hoists) {
        l_at(e, here);
        e->hoisted[lv].serial = 0;
        jy_emit_use(e, lv, 0); /* registers it for the loop's other rounds */
    }
}

static void
emit_set_scalar(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    jy_dtype dtype = l_stmt(e, s->l_args[0])->l_dtype;
    LLVMValueRef v = jy_emit_use(e, s->l_args[0], 0), bits;
    if (dtype == JY_BOOL)
        bits = LLVMBuildZExt(e->builder, jy_emit_truth(e, v), e->i64, "");
    else if (dtype == JY_F32)
        bits = LLVMBuildZExt(e->builder, LLVMBuildBitCast(e->builder, v, e->i32, ""), e->i64, "");
    else
        bits = dtype == JY_I32 ? LLVMBuildSExt(e->builder, v, e->i64, "") : v;
    l_store(e, bits, slot_address(e, s->l_index), 8);
}

void
jy_emit_body(struct jy_emit *e, const jy_lv *body, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        jy_lv lv = body[i];
        /* clang-format off */
        switch ((enum jy_lop)l_stmt(e, lv)->l_kind) {
        case JY_L_CONST: define_uniform(e, lv, jy_emit_constant(e, l_stmt(e, lv)->l_dtype, l_stmt(e, lv)->l_value)); break;
        case JY_L_SIZE: define_uniform(e, lv, jy_emit_size(e, l_stmt(e, lv)->l_index)); break;
        case JY_L_SCALAR: emit_scalar(e, lv); break;
        case JY_L_SET_SCALAR: emit_set_scalar(e, lv); break;
        case JY_L_INT: emit_int(e, lv); break;
        case JY_L_LOAD: jy_emit_load(e, lv); break;
        case JY_L_STORE: jy_emit_store(e, lv); break;
        case JY_L_OP: jy_emit_op(e, lv); break;
        case JY_L_VCALL: jy_emit_vcall(e, lv); break;
        case JY_L_CAST: jy_emit_cast(e, lv); break;
        case JY_L_FOR: jy_emit_for(e, lv); break;
        case JY_L_FOLD: jy_emit_fold(e, lv); break;
        case JY_L_UFUNC: jy_emit_ufunc(e, lv); break;
        case JY_L_UFOLD: jy_emit_ufold(e, lv); break;
        case JY_L_VAR: break;
        }
        /* clang-format on */
    }
}

LLVMValueRef
jy_emit_counted(struct jy_emit *e, const char *name, LLVMValueRef from, LLVMValueRef to, int64_t step,
                LLVMValueRef *carried, size_t n, jy_emit_round round, void *context)
{
    LLVMBuilderRef b = e->builder;
    LLVMBasicBlockRef before = l_here(e), loop = l_block(e, name), done = l_block(e, "after");
    LLVMValueRef phi[JY_COPIES], start[JY_COPIES];

    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, from, to, ""), loop, done);
    l_at(e, loop);
    LLVMValueRef i = LLVMBuildPhi(b, e->i64, "i");
    LLVMAddIncoming(i, &from, &before, 1);
    for (size_t k = 0; k < n; k++) {
        start[k] = carried[k];
        phi[k] = carried[k] = LLVMBuildPhi(b, LLVMTypeOf(start[k]), "acc");
        LLVMAddIncoming(phi[k], &start[k], &before, 1);
    }
    round(e, i, carried, context);
    LLVMValueRef next = LLVMBuildNSWAdd(b, i, l_i64(e, step), "i.next");
    LLVMBasicBlockRef latch = l_here(e);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, next, to, ""), loop, done);
    LLVMAddIncoming(i, &next, &latch, 1);

    l_at(e, done);
    for (size_t k = 0; k < n; k++) {
        LLVMAddIncoming(phi[k], &carried[k], &latch, 1);
        LLVMValueRef out = LLVMBuildPhi(b, LLVMTypeOf(start[k]), "acc.out");
        LLVMAddIncoming(out, &start[k], &before, 1);
        LLVMAddIncoming(out, &carried[k], &latch, 1);
        carried[k] = out;
    }
    LLVMValueRef end = LLVMBuildPhi(b, e->i64, "i.end");
    LLVMAddIncoming(end, &from, &before, 1);
    LLVMAddIncoming(end, &next, &latch, 1);
    return end;
}

struct jy_lanes
jy_emit_open(struct jy_emit *e, jy_lv var)
{
    struct jy_lanes saved = e->lanes;
    LLVMBasicBlockRef preheader = l_block(e, "preheader"), start = l_block(e, "start");
    LLVMBuildBr(e->builder, preheader);
    l_at(e, preheader);
    LLVMBuildBr(e->builder, start);
    l_at(e, start);
    e->lanes = (struct jy_lanes){ .var = var, .width = 1, .copies = 1, .preheader = preheader, .serial = ++e->serials };
    return saved;
}

void
jy_emit_close(struct jy_emit *e, struct jy_lanes saved)
{
    e->lanes = saved;
}

LLVMValueRef
jy_emit_mask(struct jy_emit *e, LLVMValueRef index, LLVMValueRef limit, unsigned width)
{
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef bits = LLVMIntTypeInContext(e->context, width);
    LLVMValueRef idle = LLVMBuildSub(b, l_i64(e, width), LLVMBuildSub(b, limit, index, ""), "");
    idle = jy_emit_binary(e, JY_OP_MAXIMUM, JY_I64, idle, l_i64(e, 0));
    LLVMValueRef ones = LLVMBuildLShr(b, l_i64(e, (int64_t)(~(uint64_t)0 >> (64 - width))), idle, "");
    LLVMValueRef low = width == 64 ? ones : LLVMBuildTrunc(b, ones, bits, "");
    return LLVMBuildBitCast(b, low, LLVMVectorType(e->i1, width), "mask");
}

bool
jy_emit_is_wide_body(const struct jy_emit *e, const struct jy_lstmt *loop, jy_lv var)
{
    for (size_t i = 0; i < loop->l_body.n; i++) {
        const struct jy_lstmt *s = l_stmt(e, loop->l_body.at[i]);
        if (s->l_kind != JY_L_LOAD && s->l_kind != JY_L_OP && s->l_kind != JY_L_CAST && s->l_kind != JY_L_CONST &&
            s->l_kind != JY_L_SCALAR && s->l_kind != JY_L_SIZE)
            return false;
        for (unsigned k = 0; k < s->l_nargs; k++)
            if (s->l_args[k] == var)
                return false;
    }
    return loop->l_yield != var;
}

static unsigned
widest_bytes(const struct jy_emit *e, const struct jy_lstmt *loop)
{
    unsigned widest = 1;
    for (size_t i = 0; i < loop->l_body.n; i++) {
        const struct jy_lstmt *s = l_stmt(e, loop->l_body.at[i]);
        jy_dtype dtype = s->l_kind == JY_L_STORE ? l_stmt(e, s->l_args[0])->l_dtype : s->l_dtype;
        if (s->l_kind != JY_L_SIZE && dtype < JY_DTYPE_COUNT && jy_dtype_info[dtype].bytes > widest)
            widest = jy_dtype_info[dtype].bytes;
    }
    return widest;
}

/* Along `var` the access neither stays nor goes from element to element: it gathers or scatters. */
static bool
is_strided(const struct jy_emit *e, const struct jy_access *a, jy_lv var)
{
    const struct jy_buffer *b = a == NULL ? NULL : &e->plan->p_buffers.at[a->buffer];
    for (unsigned t = 0; a != NULL && t < a->nterms; t++)
        if (a->term[t].index == var && b->b_kind != JY_BUFFER_TILE && b->b_unit_axis != (int)a->term[t].axis)
            return true;
    return false;
}

/* Copies hide latency and loop overhead, and cost compile time and registers. Strided elements are fetched one by
 * one in the end: by gathers where the machine has them (measured: 1.5 times as fast as scalar code), else scalar
 * code is faster as long as there is little to compute. */
struct jy_shape
jy_emit_shape(const struct jy_emit *e, const struct jy_lstmt *loop, jy_lv var)
{
    unsigned work = 0, strided = 0, width = e->vector_bits / 8 / widest_bytes(e, loop);
    for (size_t i = 0; i < loop->l_body.n; i++) {
        const struct jy_lstmt *s = l_stmt(e, loop->l_body.at[i]);
        work += s->l_kind == JY_L_VCALL ? CALL_WORK : s->l_kind == JY_L_OP || s->l_kind == JY_L_CAST;
        strided += is_strided(e, s->l_access, var);
    }
    struct jy_shape shape = { width, work <= 3 ? 4 : work <= 10 ? 2 : 1 };
    if (strided > 0 && !e->target->masks && work < 4 * strided)
        shape.width = 1;
    else if (strided > 0)
        shape = (struct jy_shape){ width < STRIDED_WIDTH ? width : STRIDED_WIDTH, 1 };
    return shape;
}

struct vector_loop {
    const struct jy_lstmt *s;
    unsigned width, copies;
    LLVMValueRef limit; /* of a masked round; NULL: all lanes are active */
};

static void
vector_round(struct jy_emit *e, LLVMValueRef index, LLVMValueRef *carried, void *context)
{
    const struct vector_loop *v = context;
    (void)carried;
    e->lanes.index = index;
    e->lanes.width = v->width;
    e->lanes.copies = v->copies;
    e->lanes.mask = v->limit == NULL ? NULL : jy_emit_mask(e, index, v->limit, v->width);
    jy_emit_body(e, v->s->l_body.at, v->s->l_body.n);
}

/* n rounded down to a multiple of `step`, a power of two. */
static LLVMValueRef
whole(struct jy_emit *e, LLVMValueRef n, unsigned step)
{
    return LLVMBuildAnd(e->builder, n, l_i64(e, -(int64_t)step), "whole");
}

/* The store of a loop that may stream, or NULL: its only one, of whole vectors, to memory that is new and that nothing in
 * the kernel reads. */
static const struct jy_access *
streamed(const struct jy_emit *e, const struct jy_lstmt *loop, jy_lv var, unsigned width)
{
    const struct jy_access *store = NULL;
    for (size_t i = 0; i < loop->l_body.n; i++) {
        const struct jy_lstmt *s = l_stmt(e, loop->l_body.at[i]);
        if (s->l_kind == JY_L_STORE && store != NULL)
            return NULL;
        if (s->l_kind == JY_L_STORE)
            store = s->l_access;
    }
    if (store == NULL || !e->target->masks || is_strided(e, store, var))
        return NULL;
    const struct jy_buffer *b = &e->plan->p_buffers.at[store->buffer];
    if (b->b_kind != JY_BUFFER_OUTPUT || jy_dtype_info[b->b_dtype].bytes * 8u * width != e->vector_bits)
        return NULL;
    for (size_t i = 0; i < e->kernel->k_stmts.n; i++) {
        const struct jy_lstmt *s = l_stmt(e, (jy_lv)i);
        for (unsigned k = 0; k < s->l_naccess; k++)
            if (&s->l_access[k] != store && s->l_access[k].buffer == store->buffer)
                return NULL;
    }
    return store;
}

/* The loop once more, for arrays that no cache keeps: up to an aligned address masked, then whole vectors. Gives the index
 * where it ends. Weakly ordered stores are fenced, as other threads may see the array next. */
static LLVMValueRef
emit_stream(struct jy_emit *e, struct vector_loop v, const struct jy_access *store, LLVMValueRef n)
{
    LLVMBuilderRef b = e->builder;
    unsigned bytes = e->vector_bits / 8 / v.width, round = v.width * v.copies, copies = v.copies;
    LLVMValueRef at = LLVMBuildPtrToInt(b, jy_emit_start(e, store), e->i64, "");
    LLVMValueRef gap = LLVMBuildAnd(b, LLVMBuildNeg(b, at, ""), l_i64(e, e->vector_bits / 8 - 1), "");
    LLVMValueRef from = LLVMBuildUDiv(b, gap, l_i64(e, bytes), "aligned");
    v.limit = from;
    v.copies = 1;
    jy_emit_counted(e, "unaligned", l_i64(e, 0), from, v.width, NULL, 0, vector_round, &v);
    v.limit = NULL;
    v.copies = copies;
    LLVMValueRef to = LLVMBuildAdd(b, from, whole(e, LLVMBuildSub(b, n, from, ""), round), "");
    e->lanes.streams = true;
    jy_emit_counted(e, "stream", from, to, round, NULL, 0, vector_round, &v);
    e->lanes.streams = false;
    LLVMTypeRef none = LLVMFunctionType(LLVMVoidTypeInContext(e->context), NULL, 0, false);
    unsigned id = LLVMLookupIntrinsicID("llvm.x86.sse.sfence", 19);
    LLVMBuildCall2(b, none, LLVMGetIntrinsicDeclaration(e->module, id, NULL, 0), NULL, 0, "");
    return to;
}

/* Rounds of `copies` vectors; the index where they end. */
static LLVMValueRef
emit_whole_rounds(struct jy_emit *e, struct vector_loop v, const struct jy_access *store, LLVMValueRef n)
{
    LLVMBuilderRef b = e->builder;
    unsigned round = v.width * v.copies;
    if (store == NULL)
        return jy_emit_counted(e, "vector", l_i64(e, 0), whole(e, n, round), round, NULL, 0, vector_round, &v);
    LLVMBasicBlockRef far = l_block(e, "far"), near = l_block(e, "near"), both = l_block(e, "both"), from[2];
    LLVMValueRef is_far = LLVMBuildICmp(b, LLVMIntSGE, n, l_i64(e, STREAM_BYTES / (e->vector_bits / 8) * v.width), "");
    LLVMValueRef end[2];
    LLVMBuildCondBr(b, is_far, far, near);
    l_at(e, far);
    end[0] = emit_stream(e, v, store, n);
    from[0] = l_here(e);
    LLVMBuildBr(b, both);
    l_at(e, near);
    end[1] = jy_emit_counted(e, "vector", l_i64(e, 0), whole(e, n, round), round, NULL, 0, vector_round, &v);
    from[1] = l_here(e);
    LLVMBuildBr(b, both);
    l_at(e, both);
    LLVMValueRef i = LLVMBuildPhi(b, e->i64, "");
    LLVMAddIncoming(i, end, from, 2);
    return i;
}

static void
emit_vector_rounds(struct jy_emit *e, jy_lv lv, LLVMValueRef n)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    struct jy_shape shape = jy_emit_shape(e, s, lv);
    unsigned width = shape.width, copies = shape.copies;
    struct vector_loop v = { s, width, copies, NULL };
    LLVMValueRef i = emit_whole_rounds(e, v, streamed(e, s, lv, width), n);
    v.copies = 1;
    if (e->target->masks && width > 1) {
        v.limit = n;
        jy_emit_counted(e, "tail", i, n, width, NULL, 0, vector_round, &v);
        return;
    }
    if (copies > 1 && width > 1)
        i = jy_emit_counted(e, "rest", i, whole(e, n, width), width, NULL, 0, vector_round, &v);
    v.width = 1;
    jy_emit_counted(e, "tail", i, n, 1, NULL, 0, vector_round, &v);
}

static void
emit_vector_for(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    LLVMValueRef n = jy_emit_use(e, s->l_args[0], 0);
    LLVMBasicBlockRef some = l_block(e, "some"), done = l_block(e, "done");
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntSGT, n, l_i64(e, 0), ""), some, done);
    l_at(e, some);
    struct jy_lanes saved = jy_emit_open(e, lv);
    emit_vector_rounds(e, lv, n);
    jy_emit_close(e, saved);
    LLVMBuildBr(e->builder, done);
    l_at(e, done);
}

static void
plain_round(struct jy_emit *e, LLVMValueRef index, LLVMValueRef *carried, void *context)
{
    const jy_lv *lv = context;
    const struct jy_lstmt *s = l_stmt(e, *lv);
    (void)carried;
    e->value[*lv * JY_COPIES] = index;
    e->owner[*lv] = 0;
    jy_emit_body(e, s->l_body.at, s->l_body.n);
}

void
jy_emit_for(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    if (e->lanes.preheader != NULL)
        jy_emit_fail(e, "a loop inside a vector loop");
    else if (s->l_vector && s->l_step == 1)
        emit_vector_for(e, lv);
    else
        jy_emit_counted(e, "loop", l_i64(e, 0), jy_emit_use(e, s->l_args[0], 0), s->l_step, NULL, 0, plain_round, &lv);
}
