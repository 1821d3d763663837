/* SPREAD: rounds of a loop on several threads (graph/flow_spread.c). The runtime calls the piece by its address, with the
 * arguments in memory:
 *
 *     spread.args <- what the piece takes behind its first three
 *     call->spread(call, number, piece, spread.args, rounds, last)
 *
 *     piece(call, args, from, to, last): loads the arguments, calls the function; true: it was left */
#include "emit_flow.h"

static LLVMTypeRef
piece_type(struct jy_emit *e)
{
    LLVMTypeRef types[] = { e->ptr, e->ptr, e->i64, e->i64, e->ptr };
    return LLVMFunctionType(e->i1, types, 5, false);
}

static LLVMValueRef
argument_slot(struct jy_emit *e, LLVMValueRef args, size_t k)
{
    LLVMValueRef index = l_i64(e, (int64_t)k);
    return LLVMBuildGEP2(e->builder, e->i64, args, &index, 1, "");
}

void
jy_flow_emit_piece(struct jy_emit *e, struct jy_flow_function *out, const struct jy_flow *w)
{
    struct jy_flow_emit f = { .e = e, .w = w };
    LLVMValueRef *all = JY_NEW_ARRAY(e->arena, LLVMValueRef, w->w_nargs + 2);
    out->piece = LLVMAddFunction(e->module, "piece", piece_type(e));
    LLVMSetLinkage(out->piece, LLVMInternalLinkage);
    e->function = out->piece;
    jy_emit_attributes(e);
    unsigned kind = LLVMGetEnumAttributeKindForName("zeroext", 7);
    LLVMAddAttributeAtIndex(out->piece, LLVMAttributeReturnIndex, LLVMCreateEnumAttribute(e->context, kind, 0));
    l_at(e, l_block(e, "entry"));
    all[0] = LLVMGetParam(out->piece, 0);
    all[1] = l_i64(e, 0); /* frames: it begins none */
    for (unsigned k = 0; k < JY_PIECE_ARGS; k++)
        all[k + 2] = LLVMGetParam(out->piece, k + 2);
    for (size_t k = JY_PIECE_ARGS; k < w->w_nargs; k++) {
        enum jy_ftype type = (enum jy_ftype)w->w_args[k];
        LLVMValueRef slot = argument_slot(e, LLVMGetParam(out->piece, 1), k - JY_PIECE_ARGS);
        LLVMValueRef v = l_load(e, jy_flow_memory_type(&f, type), slot, 8, "");
        all[k + 2] = type == JY_F_I1 ? LLVMBuildTrunc(e->builder, v, e->i1, "") : v;
    }
    LLVMValueRef left = LLVMBuildCall2(e->builder, out->type, out->function, all, (unsigned)w->w_nargs + 2, "");
    LLVMSetInstructionCallConv(left, LLVMFastCallConv);
    LLVMBuildRet(e->builder, left);
}

LLVMValueRef
jy_flow_emit_spread(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    struct jy_emit *e = f->e;
    LLVMValueRef room = jy_emit_alloca(e, LLVMArrayType2(e->i64, v->f_nargs), "spread.args");
    for (unsigned k = 2; k < v->f_nargs; k++) {
        LLVMValueRef what = LLVMTypeOf(args[k]) == e->i1 ? LLVMBuildZExt(e->builder, args[k], e->i8, "") : args[k];
        l_store(e, what, argument_slot(e, room, k - 2), 8);
    }
    LLVMTypeRef types[] = { e->ptr, e->i32, e->ptr, e->ptr, e->i64, e->ptr };
    LLVMValueRef all[] = { e->call, l_i32(e, (int32_t)v->f_index), f->functions[v->f_index].piece, room, args[0],
                           args[1] };
    LLVMValueRef at = LLVMBuildStructGEP2(e->builder, f->call_type, e->call, JY_FLOW_FIELD_SPREAD, "");
    LLVMValueRef callee = LLVMBuildLoad2(e->builder, e->ptr, at, "spread");
    return LLVMBuildCall2(e->builder, LLVMFunctionType(e->i64, types, 6, false), callee, all, 6, "");
}
