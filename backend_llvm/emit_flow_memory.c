/* Memory, calls and polls of flows.
 *
 *  1. Inputs and addresses of helpers lie in memory that does not change during the call: invariant loads, made in the
 *     entry block.
 *  2. Arrays may lie at any address: accesses promise no alignment (which costs nothing where it holds).
 *  3. A poll reads a word that other threads write: a volatile load, which orders nothing else. An atomic one would keep
 *     LLVM from moving other loads across it. */
#include "emit_flow.h"
#include <string.h>

LLVMValueRef
jy_flow_slot(struct jy_flow_emit *f, enum jy_flow_field field, uint32_t k)
{
    LLVMValueRef index = l_i64(f->e, k);
    return LLVMBuildGEP2(l_builder(f), f->e->i64, jy_flow_field(f, field), &index, 1, "");
}

static LLVMValueRef
load_frozen(struct jy_flow_emit *f, enum jy_flow_field field, uint32_t k, LLVMTypeRef type)
{
    LLVMValueRef v = l_load(f->e, type, jy_flow_slot(f, field, k), 8, "");
    LLVMSetMetadata(v, f->invariant_kind, f->frozen);
    return v;
}

/* A byte that is not zero is true, as in NumPy. */
static LLVMValueRef
truth_of(struct jy_flow_emit *f, LLVMValueRef v)
{
    return LLVMBuildICmp(l_builder(f), LLVMIntNE, v, l_int(v, 0), "");
}

LLVMValueRef
jy_flow_emit_input(struct jy_flow_emit *f, const struct jy_fvalue *v)
{
    const struct jy_flow_input *in = &f->w->w_inputs.at[v->f_index];
    if (in->kind == JY_FLOW_IN_ARG)
        return LLVMGetParam(f->e->function, in->number + 2);
    uint32_t slot = (uint32_t)jy_flow_first_input(f->w) + v->f_index;
    LLVMValueRef r = load_frozen(f, JY_FLOW_FIELD_IN, slot, jy_flow_memory_type(f, v->f_type));
    return v->f_type == JY_F_I1 ? truth_of(f, r) : r;
}

/* On the stack: its address goes nowhere, so LLVM knows that nothing else touches it. */
LLVMValueRef
jy_flow_emit_scratch(struct jy_flow_emit *f)
{
    if (f->scratch == NULL)
        f->scratch = jy_emit_alloca(f->e, LLVMArrayType2(f->e->i8, JY_SCRATCH_BYTES), "scratch");
    return f->scratch;
}

/* Loads and stores ------------------------------------------------------------------------------------------------ */

static LLVMValueRef
address_of(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    LLVMValueRef plus = l_i64(f->e, (int32_t)v->f_index);
    LLVMValueRef at = LLVMBuildGEP2(l_builder(f), f->e->i8, args[0], &args[1], 1, "");
    return v->f_index == 0 ? at : LLVMBuildGEP2(l_builder(f), f->e->i8, at, &plus, 1, "");
}

static void
set_alias(struct jy_flow_emit *f, LLVMValueRef access, uint32_t alias)
{
    if (alias == 0 || alias > f->w->w_nalias)
        return;
    LLVMSetMetadata(access, f->scope_kind, f->scope[alias]);
    if (f->apart[alias] != NULL)
        LLVMSetMetadata(access, f->apart_kind, f->apart[alias]);
}

LLVMValueRef
jy_flow_emit_load(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    LLVMValueRef r = l_load(f->e, jy_flow_memory_type(f, v->f_type), address_of(f, v, args), 1, "");
    set_alias(f, r, v->f_alias);
    return v->f_type == JY_F_I1 ? truth_of(f, r) : r;
}

void
jy_flow_emit_store(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    LLVMValueRef what = args[2];
    if (LLVMTypeOf(what) == f->e->i1)
        what = LLVMBuildZExt(l_builder(f), what, f->e->i8, "");
    LLVMValueRef store = LLVMBuildStore(l_builder(f), what, address_of(f, v, args));
    LLVMSetAlignment(store, 1);
    set_alias(f, store, v->f_alias);
}

/* Helpers --------------------------------------------------------------------------------------------------------- */

static void
add_call_attribute(struct jy_flow_emit *f, LLVMValueRef call, LLVMAttributeIndex where, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddCallSiteAttribute(call, where, LLVMCreateEnumAttribute(f->e->context, kind, 0)); /* memory: 0 is none */
}

/* C passes bool as a byte that is 0 or 1. */
static void
set_call_attributes(struct jy_flow_emit *f, LLVMValueRef call, const struct jy_flow_helper *h)
{
    const LLVMAttributeIndex all = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    add_call_attribute(f, call, all, "nounwind");
    if (h->pure) {
        add_call_attribute(f, call, all, "memory");
        add_call_attribute(f, call, all, "willreturn");
    }
    if (h->type == JY_F_I1)
        add_call_attribute(f, call, LLVMAttributeReturnIndex, "zeroext");
    for (unsigned k = 0; k < h->nargs; k++)
        if (h->args[k] == JY_F_I1)
            add_call_attribute(f, call, k + 1 + h->wants_call, "zeroext");
}

static LLVMValueRef
failed_slot(struct jy_flow_emit *f)
{
    if (f->failed == NULL)
        f->failed = jy_emit_alloca(f->e, f->e->i32, "failed");
    return f->failed;
}

LLVMValueRef
jy_flow_emit_call(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    const struct jy_flow_helper *h = &f->w->w_helpers.at[v->f_index];
    struct jy_emit *e = f->e;
    LLVMTypeRef types[8];
    LLVMValueRef all[8];
    unsigned n = 0;
    if (h->wants_call)
        all[n++] = e->call;
    for (unsigned k = 0; k < h->nargs; k++)
        all[n++] = args[k];
    if (h->may_fail) {
        all[n++] = failed_slot(f);
        l_store(e, l_i32(e, 0), failed_slot(f), 4);
    }
    for (unsigned k = 0; k < n; k++)
        types[k] = LLVMTypeOf(all[k]);
    LLVMTypeRef type = LLVMFunctionType(jy_flow_value_type(f, h->type), types, n, false);
    LLVMBasicBlockRef here = l_visit(e, e->entry);
    LLVMValueRef callee =
        load_frozen(f, JY_FLOW_FIELD_HELPER, (uint32_t)jy_flow_first_helper(f->w) + v->f_index, e->ptr);
    l_at(e, here);
    LLVMValueRef call = LLVMBuildCall2(e->builder, type, callee, all, n, "");
    set_call_attributes(f, call, h);
    if (f->kept[v->f_index] != NULL)
        LLVMSetMetadata(call, f->apart_kind, f->kept[v->f_index]);
    if (h->may_fail && v->f_exit != JY_NO_EXIT) {
        LLVMValueRef failed = l_load(e, e->i32, failed_slot(f), 4, "");
        jy_flow_require(f, LLVMBuildICmp(e->builder, LLVMIntEQ, failed, l_i32(e, 0), ""), v->f_exit);
    }
    return h->type == JY_F_NONE ? NULL : call;
}

/* The program's functions ------------------------------------------------------------------------------------------ */

/* All returns are one, of a number and a bit that are chosen apart: where the function is put into another, LLVM then sees on which ways it was left. */
static void
begin_result(struct jy_flow_emit *f)
{
    struct jy_emit *e = f->e;
    LLVMBasicBlockRef here = l_visit(e, f->result.block = l_block(e, "result"));
    f->result.left = LLVMBuildPhi(e->builder, e->i1, "left");
    LLVMValueRef both = f->result.left;
    if (f->w->w_type != JY_F_NONE) {
        f->result.number = LLVMBuildPhi(e->builder, jy_flow_value_type(f, (enum jy_ftype)f->w->w_type), "number");
        both = LLVMBuildInsertValue(e->builder, LLVMGetUndef(f->self->result), both, 1, "");
        both = LLVMBuildInsertValue(e->builder, both, f->result.number, 0, "");
    }
    LLVMBuildRet(e->builder, both);
    l_at(e, here);
}

void
jy_flow_emit_result(struct jy_flow_emit *f, LLVMValueRef result, bool left)
{
    struct jy_emit *e = f->e;
    if (f->result.block == NULL)
        begin_result(f);
    LLVMValueRef is_left = LLVMConstInt(e->i1, left, false);
    LLVMBasicBlockRef here = l_here(e);
    LLVMAddIncoming(f->result.left, &is_left, &here, 1);
    if (f->result.number != NULL) {
        LLVMValueRef number = result != NULL ? result : LLVMGetUndef(LLVMTypeOf(f->result.number));
        LLVMAddIncoming(f->result.number, &number, &here, 1);
    }
    LLVMBuildBr(e->builder, f->result.block);
}

LLVMValueRef
jy_flow_emit_invoke(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    const struct jy_flow_function *called = &f->functions[v->f_index];
    struct jy_emit *e = f->e;
    LLVMValueRef all[JY_FLOW_MOST_ARGS + 2] = { e->call,
                                                f->left != NULL ? f->left : jy_flow_field(f, JY_FLOW_FIELD_LEFT) };
    bool gives = v->f_type != JY_F_NONE;
    memcpy(all + 2, args, v->f_nargs * sizeof *args);
    bool is_copied = f->self == called && f->depth < JY_FLOW_MOST_COPIES && called->again[f->depth] != NULL;
    LLVMValueRef function = is_copied ? called->again[f->depth] : called->function;
    LLVMValueRef call = LLVMBuildCall2(e->builder, called->type, function, all, v->f_nargs + 2u, "");
    LLVMSetInstructionCallConv(call, LLVMFastCallConv);
    LLVMValueRef left = gives ? LLVMBuildExtractValue(e->builder, call, 1, "") : call;
    LLVMValueRef result = gives ? LLVMBuildExtractValue(e->builder, call, 0, "") : NULL;
    jy_flow_require(f, LLVMBuildNot(e->builder, left, ""), v->f_exit);
    return result;
}

/* Polls ------------------------------------------------------------------------------------------------------------ */

LLVMValueRef
jy_flow_must_poll(struct jy_flow_emit *f)
{
    LLVMValueRef word = l_load(f->e, f->e->i32, jy_flow_field(f, JY_FLOW_FIELD_WATCH), 4, "poll");
    LLVMSetVolatile(word, true);
    LLVMValueRef set = LLVMBuildAnd(l_builder(f), word, jy_flow_field(f, JY_FLOW_FIELD_MASK), "");
    return LLVMBuildICmp(l_builder(f), LLVMIntNE, set, l_i32(f->e, 0), "");
}

void
jy_flow_emit_poll(struct jy_flow_emit *f, const struct jy_fvalue *v)
{
    jy_flow_require(f, LLVMBuildNot(l_builder(f), jy_flow_must_poll(f), ""), v->f_exit);
}
