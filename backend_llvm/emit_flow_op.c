/* Operations of flows but for integers: floats, comparisons, conversions, Python's rules.
 *
 * Plain instructions without fast-math flags, unless the user asked for them: each result is rounded once. An ordered compare may raise INVALID for a
 * NaN where the interpreter's is quiet; nobody reads the flag (emit_flow.c, 4). What is rare is decided in cold blocks. */
#include "emit_flow.h"
#include <float.h>
#include <string.h>

static bool
is_float(const struct jy_flow_emit *f, LLVMValueRef v)
{
    return LLVMTypeOf(v) == f->e->f64 || LLVMTypeOf(v) == f->e->f32;
}

static LLVMValueRef
real(LLVMValueRef like, double value)
{
    return LLVMConstReal(LLVMTypeOf(like), value);
}

static LLVMValueRef
intrinsic(struct jy_flow_emit *f, const char *name, LLVMValueRef *args, unsigned n)
{
    return jy_emit_intrinsic(f->e, name, LLVMTypeOf(args[0]), args, n, "");
}

/* |v| < limit; false for NaN */
static LLVMValueRef
is_within(struct jy_flow_emit *f, LLVMValueRef v, double limit)
{
    return LLVMBuildFCmp(l_builder(f), LLVMRealOLT, intrinsic(f, "llvm.fabs", &v, 1), real(v, limit), "");
}

/* fastmath: sums and products in any order, one rounding instead of two. What a NaN or an infinity gives stays what it is:
 * with nnan and ninf comparisons and FLAGGED would be decided in advance, with nsz x - x would be 0 whatever x is, with
 * arcp 0 / y would be 0 * inf for the smallest y. */
static LLVMValueRef
relaxed(const struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef r)
{
    bool is_arithmetic = v->f_op == JY_FLOW_ADD || v->f_op == JY_FLOW_SUB || v->f_op == JY_FLOW_MUL;
    if (f->e->fastmath && is_arithmetic && LLVMIsAInstruction(r) != NULL)
        LLVMSetFastMathFlags(r, LLVMFastMathAllowReassoc | LLVMFastMathAllowContract);
    return r;
}

/* clang-format off */
static LLVMValueRef
emit_float(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    LLVMBuilderRef b = l_builder(f);
    switch ((int)v->f_op) {
    case JY_FLOW_ADD: return LLVMBuildFAdd(b, args[0], args[1], "");
    case JY_FLOW_SUB: return LLVMBuildFSub(b, args[0], args[1], "");
    case JY_FLOW_MUL: return LLVMBuildFMul(b, args[0], args[1], "");
    case JY_FLOW_DIV: return LLVMBuildFDiv(b, args[0], args[1], "");
    case JY_FLOW_NEG: return LLVMBuildFNeg(b, args[0], "");
    case JY_FLOW_ABS: return intrinsic(f, "llvm.fabs", args, 1);
    case JY_FLOW_SQRT: return intrinsic(f, "llvm.sqrt", args, 1);
    case JY_FLOW_FLOOR: return intrinsic(f, "llvm.floor", args, 1);
    case JY_FLOW_CEIL: return intrinsic(f, "llvm.ceil", args, 1);
    case JY_FLOW_TRUNC: return intrinsic(f, "llvm.trunc", args, 1);
    case JY_FLOW_RINT: return intrinsic(f, "llvm.rint", args, 1);
    case JY_FLOW_COPYSIGN: return intrinsic(f, "llvm.copysign", args, 2);
    case JY_FLOW_LT: return LLVMBuildFCmp(b, LLVMRealOLT, args[0], args[1], "");
    case JY_FLOW_LE: return LLVMBuildFCmp(b, LLVMRealOLE, args[0], args[1], "");
    case JY_FLOW_GT: return LLVMBuildFCmp(b, LLVMRealOGT, args[0], args[1], "");
    case JY_FLOW_GE: return LLVMBuildFCmp(b, LLVMRealOGE, args[0], args[1], "");
    default: return NULL;
    }
}
/* clang-format on */

static LLVMValueRef
emit_equal(struct jy_flow_emit *f, bool negate, LLVMValueRef *args)
{
    if (is_float(f, args[0]))
        return LLVMBuildFCmp(l_builder(f), negate ? LLVMRealUNE : LLVMRealOEQ, args[0], args[1], "");
    return LLVMBuildICmp(l_builder(f), negate ? LLVMIntNE : LLVMIntEQ, args[0], args[1], "");
}

/* Conversions ----------------------------------------------------------------------------------------------------- */

static LLVMValueRef
narrowed(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef x)
{
    LLVMValueRef r = LLVMBuildTrunc(l_builder(f), x, jy_flow_value_type(f, v->f_type), "");
    LLVMValueRef back = LLVMBuildSExt(l_builder(f), r, LLVMTypeOf(x), "");
    if (v->f_exit != JY_NO_EXIT)
        jy_flow_require(f, LLVMBuildICmp(l_builder(f), LLVMIntEQ, back, x, ""), v->f_exit);
    return r;
}

/* Integers within -2^53 .. 2^53 are floats. */
static LLVMValueRef
to_float(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef x)
{
    const int64_t most = INT64_C(1) << DBL_MANT_DIG;
    LLVMTypeRef type = jy_flow_value_type(f, v->f_type);
    if (LLVMTypeOf(x) == f->e->i1)
        return LLVMBuildUIToFP(l_builder(f), x, type, "");
    if (v->f_exit != JY_NO_EXIT) {
        LLVMValueRef above = LLVMBuildAdd(l_builder(f), x, l_int(x, most), "");
        jy_flow_require(f, LLVMBuildICmp(l_builder(f), LLVMIntULE, above, l_int(x, 2 * most), ""), v->f_exit);
    }
    return LLVMBuildSIToFP(l_builder(f), x, type, "");
}

/* Beyond what the cheap test allows only the smallest integers are left: those above -2^(n-1) - 1. */
static LLVMValueRef
decide_integer(struct jy_flow_emit *f, LLVMValueRef *args)
{
    LLVMValueRef whole = intrinsic(f, "llvm.trunc", args, 1);
    return LLVMBuildFCmp(l_builder(f), LLVMRealOEQ, whole, args[1], "");
}

/* What the machine gives: the smallest integer for all that does not fit. */
static LLVMValueRef
converted(struct jy_flow_emit *f, LLVMValueRef x)
{
    struct jy_emit *e = f->e;
    bool is_double = LLVMTypeOf(x) == e->f64;
    const char *name = is_double ? "llvm.x86.sse2.cvttsd2si64" : "llvm.x86.sse.cvttss2si64";
    LLVMTypeRef four = LLVMVectorType(LLVMTypeOf(x), is_double ? 2 : 4),
                type = LLVMFunctionType(e->i64, &four, 1, false);
    LLVMValueRef all = LLVMBuildInsertElement(e->builder, LLVMGetPoison(four), x, l_i64(e, 0), "");
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, LLVMLookupIntrinsicID(name, strlen(name)), NULL, 0);
    return LLVMBuildCall2(e->builder, type, function, &all, 1, "");
}

/* Without an exit whoever made it knows that it fits; the freeze keeps a mistake from becoming anything at all. */
static LLVMValueRef
to_int(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef x)
{
    LLVMTypeRef type = jy_flow_value_type(f, v->f_type);
    double limit = LLVMGetIntTypeWidth(type) == 64 ? 0x1p63 : 0x1p31;
    LLVMValueRef args[] = { x, real(x, -limit) };
    if (v->f_exit != JY_NO_EXIT && type == f->e->i64 && strncmp(f->e->target->triple, "x86_64", 6) == 0) {
        LLVMValueRef r = converted(f, x), fits = LLVMBuildICmp(l_builder(f), LLVMIntNE, r, l_int(r, INT64_MIN), "");
        jy_flow_require_rarely(f, fits, v->f_exit, decide_integer, args);
        return r;
    }
    if (v->f_exit != JY_NO_EXIT)
        jy_flow_require_rarely(f, is_within(f, x, limit), v->f_exit, decide_integer, args);
    return LLVMBuildFreeze(l_builder(f), LLVMBuildFPToSI(l_builder(f), x, type, ""), "");
}

static LLVMValueRef
same_bits(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef x)
{
    LLVMTypeRef type = jy_flow_value_type(f, v->f_type);
    if (LLVMTypeOf(x) == f->e->ptr)
        return LLVMBuildPtrToInt(l_builder(f), x, type, "");
    if (type == f->e->ptr)
        return LLVMBuildIntToPtr(l_builder(f), x, type, "");
    return LLVMBuildBitCast(l_builder(f), x, type, "");
}

/* Python's rules -------------------------------------------------------------------------------------------------- */

static bool
is_loaded(const struct jy_flow *w, jy_fv fv)
{
    while (jy_flow_at(w, fv)->f_op == JY_FLOW_SEXT)
        fv = jy_flow_at(w, fv)->f_args[0];
    return jy_flow_at(w, fv)->f_op == JY_FLOW_LOAD;
}

/* Any sign: the branch that is left is foreseen. */
static LLVMValueRef
wrapped_either(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    LLVMBuilderRef b = l_builder(f);
    LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, args[0], l_int(args[0], 0), "");
    LLVMValueRef r = LLVMBuildSelect(b, negative, LLVMBuildAdd(b, args[0], args[1], ""), args[0], "");
    jy_flow_require(f, LLVMBuildICmp(b, LLVMIntULT, r, args[1], ""), v->f_exit);
    return r;
}

/* What a program computes is seldom negative: one compare is enough then, and the rest is a cold block's. There the sum of
 * an index that is too large with the extent is too large as well. Indices that lie in memory may be anything. */
static LLVMValueRef
wrapped(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    LLVMBuilderRef b = l_builder(f);
    if (v->f_exit == JY_NO_EXIT)
        return args[0];
    if (is_loaded(f->w, v->f_args[0]))
        return wrapped_either(f, v, args);
    LLVMBasicBlockRef here = l_here(f->e), doubt = l_block(f->e, "doubt");
    LLVMBasicBlockRef on = jy_flow_go_on(f, LLVMBuildICmp(b, LLVMIntULT, args[0], args[1], ""), doubt);
    l_at(f->e, doubt);
    LLVMValueRef behind = LLVMBuildAdd(b, args[0], args[1], "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, behind, args[1], ""), on, jy_flow_failed_block(f, v->f_exit));
    l_at(f->e, on);
    LLVMValueRef r = LLVMBuildPhi(b, LLVMTypeOf(behind), "");
    LLVMAddIncoming(r, &args[0], &here, 1);
    LLVMAddIncoming(r, &behind, &doubt, 1);
    return r;
}

LLVMValueRef
jy_flow_emit_op(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    LLVMBuilderRef b = l_builder(f);
    LLVMTypeRef type = jy_flow_value_type(f, v->f_type);
    LLVMValueRef r;
    switch ((int)v->f_op) {
    case JY_FLOW_EQ:
    case JY_FLOW_NE:
        return emit_equal(f, v->f_op == JY_FLOW_NE, args);
    case JY_FLOW_SELECT:
        return LLVMBuildSelect(b, args[0], args[1], args[2], "");
    case JY_FLOW_SEXT:
        return LLVMBuildSExt(b, args[0], type, "");
    case JY_FLOW_ZEXT:
        return LLVMBuildZExt(b, args[0], type, "");
    case JY_FLOW_NARROW:
        return narrowed(f, v, args[0]);
    case JY_FLOW_TO_FLOAT:
        return to_float(f, v, args[0]);
    case JY_FLOW_TO_INT:
        return to_int(f, v, args[0]);
    case JY_FLOW_WIDEN:
        return LLVMBuildFPExt(b, args[0], type, "");
    case JY_FLOW_ROUND:
        return LLVMBuildFPTrunc(b, args[0], type, "");
    case JY_FLOW_BITS:
        return same_bits(f, v, args[0]);
    case JY_FLOW_OFFSET:
        return LLVMBuildGEP2(b, f->e->i8, args[0], &args[1], 1, "");
    case JY_FLOW_WRAP:
        return wrapped(f, v, args);
    case JY_FLOW_CHECK:
        jy_flow_require(f, args[0], v->f_exit);
        return NULL;
    default:
        break;
    }
    r = is_float(f, args[0]) ? emit_float(f, v, args) : jy_flow_emit_int(f, v, args);
    if (r != NULL && is_float(f, args[0]))
        return relaxed(f, v, r);
    if (r == NULL) {
        jy_emit_fail(f->e, "an operation of a loop has no machine code for its type");
        r = args[0];
    }
    return r;
}
