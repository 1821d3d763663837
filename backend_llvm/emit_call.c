/* Calls out of generated code: NumPy's inner loops (args, dims and strides on the stack) and the rows of
 * graph/kernels.def. No symbol is referenced: functions come from the call's tables, so that the object needs no
 * linking. */
#include "emit.h"

/* ORDER kernels: the helpers are an array of function pointers. */
LLVMValueRef
jy_emit_helper(struct jy_emit *e, unsigned helper, LLVMTypeRef type, LLVMValueRef *args, unsigned n, const char *label)
{
    LLVMValueRef table = jy_emit_field(e, JY_FIELD_HELPER), index = l_i64(e, helper);
    LLVMValueRef f = LLVMBuildLoad2(e->builder, e->ptr, LLVMBuildGEP2(e->builder, e->ptr, table, &index, 1, ""), "");
    return LLVMBuildCall2(e->builder, type, f, args, n, label);
}

static void
put(struct jy_emit *e, LLVMTypeRef type, LLVMValueRef array, unsigned k, LLVMValueRef v)
{
    LLVMValueRef index = l_i64(e, k);
    l_store(e, v, LLVMBuildGEP2(e->builder, type, array, &index, 1, ""), 8);
}

/* Stack arrays for `n` operands. */
struct operands {
    LLVMValueRef args, strides, count;
};

static struct operands
make_operands(struct jy_emit *e, unsigned n)
{
    struct operands o;
    o.args = jy_emit_alloca(e, LLVMArrayType2(e->ptr, n), "args");
    o.strides = jy_emit_alloca(e, LLVMArrayType2(e->i64, n), "strides");
    o.count = jy_emit_alloca(e, e->i64, "count");
    return o;
}

static void
put_operand(struct jy_emit *e, const struct operands *o, unsigned k, LLVMValueRef at, LLVMValueRef stride)
{
    put(e, e->ptr, o->args, k, at);
    put(e, e->i64, o->strides, k, stride);
}

static void
call_loop(struct jy_emit *e, const struct jy_lstmt *s, const struct operands *o, LLVMValueRef count)
{
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef params[] = { e->ptr, e->ptr, e->ptr, e->ptr };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 4, false);
    LLVMValueRef loops = jy_emit_field(e, JY_FIELD_LOOP), index = l_i64(e, s->l_index);
    LLVMValueRef loop = LLVMBuildGEP2(b, e->loop_type, loops, &index, 1, "");
    LLVMValueRef f = LLVMBuildLoad2(b, e->ptr, LLVMBuildStructGEP2(b, e->loop_type, loop, 0, ""), "fn");
    LLVMValueRef data = LLVMBuildLoad2(b, e->ptr, LLVMBuildStructGEP2(b, e->loop_type, loop, 1, ""), "data");
    LLVMValueRef args[] = { o->args, o->count, o->strides, data };
    l_store(e, count, o->count, 8);
    LLVMBuildCall2(b, type, f, args, 4, "");
}

void
jy_emit_ufunc(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    struct operands o = make_operands(e, s->l_naccess);
    for (unsigned k = 0; k < s->l_naccess; k++)
        put_operand(e, &o, k, jy_emit_address(e, &s->l_access[k]), jy_emit_run_stride(e, &s->l_access[k]));
    call_loop(e, s, &o, jy_emit_use(e, s->l_args[0], 0));
}

/* NumPy before 2.3 calls its loop on pieces of its buffer, and the initial value is an element of the first piece. */
static void
call_in_pieces(struct jy_emit *e, const struct jy_lstmt *s, const struct operands *o, LLVMValueRef at,
               LLVMValueRef stride)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef n = jy_emit_use(e, s->l_args[0], 0), chunk = jy_emit_field(e, JY_FIELD_SUM_CHUNK);
    LLVMValueRef first = LLVMBuildSub(b, chunk, l_i64(e, 1), "");
    LLVMBasicBlockRef before = l_here(e), head = l_block(e, "pieces"), body = l_block(e, "piece"),
                      done = l_block(e, "folded");
    LLVMBuildBr(b, head);

    l_at(e, head);
    LLVMValueRef left = LLVMBuildPhi(b, e->i64, "left"), piece = LLVMBuildPhi(b, e->i64, ""),
                 from = LLVMBuildPhi(b, e->ptr, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGT, left, l_i64(e, 0), ""), body, done);

    l_at(e, body);
    LLVMValueRef m = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, left, piece, ""), left, piece, "m");
    LLVMValueRef step = LLVMBuildMul(b, m, stride, "");
    put_operand(e, o, 1, from, stride);
    call_loop(e, s, o, m);
    LLVMValueRef rest = LLVMBuildSub(b, left, m, ""), next = LLVMBuildGEP2(b, e->i8, from, &step, 1, "");
    LLVMBuildBr(b, head);
    LLVMBasicBlockRef blocks[] = { before, l_here(e) };
    LLVMAddIncoming(left, (LLVMValueRef[]){ n, rest }, blocks, 2);
    LLVMAddIncoming(piece, (LLVMValueRef[]){ first, chunk }, blocks, 2);
    LLVMAddIncoming(from, (LLVMValueRef[]){ at, next }, blocks, 2);
    l_at(e, done);
}

/* A call keeps no vector register, so the body of a loop that has one is not interleaved (jy_emit_shape). A plain scope
 * calls with its element in every lane: they raise what one raises. */
static LLVMValueRef
call_vector(struct jy_emit *e, const struct jy_lstmt *s, unsigned copy)
{
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef eight = LLVMVectorType(e->f64, JY_VECTOR_LANES), params[] = { eight, eight, eight };
    LLVMValueRef args[3], loops = jy_emit_field(e, JY_FIELD_LOOP), index = l_i64(e, s->l_index);
    LLVMValueRef loop = LLVMBuildGEP2(b, e->loop_type, loops, &index, 1, "");
    LLVMValueRef f = LLVMBuildLoad2(b, e->ptr, LLVMBuildStructGEP2(b, e->loop_type, loop, 2, ""), "vector.fn");
    for (unsigned k = 0; k < s->l_nargs; k++) {
        args[k] = jy_emit_use(e, s->l_args[k], copy);
        if (e->lanes.width == 1)
            args[k] = jy_emit_splat(e, args[k], JY_VECTOR_LANES);
    }
    LLVMValueRef v = LLVMBuildCall2(b, LLVMFunctionType(eight, params, s->l_nargs, false), f, args, s->l_nargs, "");
    return e->lanes.width == 1 ? LLVMBuildExtractElement(b, v, l_i64(e, 0), "") : v;
}

void
jy_emit_vcall(struct jy_emit *e, jy_lv lv)
{
    if (e->vector_bits != JY_VECTOR_LANES * 64 || (e->lanes.width != 1 && e->lanes.width != JY_VECTOR_LANES)) {
        jy_emit_fail(e, "a vector function that this machine's registers do not fit");
        for (unsigned copy = 0; copy < e->lanes.copies; copy++)
            jy_emit_define(e, lv, copy, LLVMGetPoison(l_widen(e->f64, e->lanes.width)));
        return;
    }
    for (unsigned copy = 0; copy < e->lanes.copies; copy++)
        jy_emit_define(e, lv, copy, call_vector(e, l_stmt(e, lv), copy));
}

void
jy_emit_ufold(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    LLVMTypeRef type = jy_types_memory(e, s->l_dtype);
    LLVMValueRef acc = jy_emit_alloca(e, e->i64, "acc"), start = jy_emit_use(e, s->l_args[1], 0);
    struct operands o = make_operands(e, 3);
    if (l_element(start) == e->i1)
        start = LLVMBuildZExt(e->builder, start, e->i8, "");
    l_store(e, start, acc, 8);
    put_operand(e, &o, 0, acc, l_i64(e, 0));
    put_operand(e, &o, 2, acc, l_i64(e, 0));
    call_in_pieces(e, s, &o, jy_emit_address(e, &s->l_access[0]), jy_emit_run_stride(e, &s->l_access[0]));
    jy_emit_define(e, lv, 0, l_load(e, type, acc, 8, ""));
}
