/* Element-wise operations and casts on scalars and vectors alike: exactly the operation that NumPy's loops perform,
 * with the FP status flags they leave.
 *
 *  1. + - * / sqrt are plain instructions: never contracted or reassociated, since no flag on them allows it.
 *  2. < <= > >= must not raise INVALID for a quiet NaN. Plain `fcmp olt` may become a signalling compare; the
 *     constrained intrinsic is selected as the quiet one (vcmplt_oq) or unrolled where the machine has none. == !=
 *     and `uno` are quiet anyway.
 *  3. maximum(a, b) is isnan(a) ? a : a > b ? a : b, so that of two zeros the second wins, as the vector
 *     instructions that NumPy uses have it.
 *  4. A select may be merged with the operation that feeds it into a masked one or a branch, which then skips flags
 *     of the lanes not taken: arms that can raise are fenced. An operation on constants is fenced against folding;
 *     one whose value nobody needs is stored to a volatile slot.
 *  5. float to int is freeze(fptosi): the machine's conversion, whatever it gives out of range, and INVALID. */
#include "emit.h"
#include <stdio.h>
#include <string.h>

LLVMValueRef
jy_emit_intrinsic(struct jy_emit *e, const char *name, LLVMTypeRef type, LLVMValueRef *args, unsigned n,
                  const char *label)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->module, id, &type, 1);
    return LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(f), f, args, n, label);
}

LLVMValueRef
jy_emit_splat(struct jy_emit *e, LLVMValueRef scalar, unsigned width)
{
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), width);
    LLVMValueRef all[64];
    if (width == 1)
        return scalar;
    if (LLVMIsConstant(scalar)) {
        for (unsigned i = 0; i < width; i++)
            all[i] = scalar;
        return LLVMConstVector(all, width);
    }
    LLVMValueRef one = LLVMBuildInsertElement(e->builder, LLVMGetPoison(type), scalar, l_i64(e, 0), "");
    return LLVMBuildShuffleVector(e->builder, one, LLVMGetPoison(type), LLVMConstNull(LLVMVectorType(e->i32, width)),
                                  "splat");
}

/* What a reader of the IR finds again in the loop IR: operation or buffer, and the number of the statement. */
static void
name_value(struct jy_emit *e, jy_lv lv, LLVMValueRef v)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    char name[64];
    int n = 0;
    if (LLVMIsAInstruction(v) == NULL)
        return;
    if (s->l_kind == JY_L_LOAD)
        n = snprintf(name, sizeof name, "b%u.%u", s->l_access->buffer, lv);
    else if (s->l_kind == JY_L_OP || s->l_kind == JY_L_FOLD || s->l_kind == JY_L_INT)
        n = snprintf(name, sizeof name, "%s.%u", jy_op_info[s->l_op].text, lv);
    else
        n = snprintf(name, sizeof name, "v.%u", lv);
    LLVMSetValueName2(v, name, (size_t)n);
    if (s->l_line != 0) {
        n = snprintf(name, sizeof name, "line %u", s->l_line);
        LLVMMetadataRef text = LLVMMDStringInContext2(e->context, name, (size_t)n);
        LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, &text, 1);
        LLVMSetMetadata(v, LLVMGetMDKindIDInContext(e->context, "jitney", 6), LLVMMetadataAsValue(e->context, node));
    }
}

void
jy_emit_define(struct jy_emit *e, jy_lv lv, unsigned copy, LLVMValueRef v)
{
    e->value[lv * JY_COPIES + copy] = v;
    e->owner[lv] = e->lanes.serial;
    if (e->want_lines)
        name_value(e, lv, v);
}

LLVMValueRef
jy_emit_use(struct jy_emit *e, jy_lv lv, unsigned copy)
{
    const struct jy_lanes *l = &e->lanes;
    bool hoisted = l->preheader != NULL && e->hoisted[lv].serial == l->serial;
    if (!hoisted && e->owner[lv] == l->serial)
        return e->value[lv * JY_COPIES + copy];
    if (!hoisted) {
        e->hoisted[lv].serial = l->serial;
        e->hoisted[lv].scalar = e->value[lv * JY_COPIES];
        e->hoisted[lv].splat = NULL;
    }
    if (l->width == 1)
        return e->hoisted[lv].scalar;
    if (e->hoisted[lv].splat == NULL) {
        LLVMBasicBlockRef here = l_visit(e, l->preheader);
        e->hoisted[lv].splat = jy_emit_splat(e, e->hoisted[lv].scalar, l->width);
        l_at(e, here);
    }
    return e->hoisted[lv].splat;
}

LLVMValueRef
jy_emit_truth(struct jy_emit *e, LLVMValueRef v)
{
    LLVMTypeRef type = l_element(v);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(v));
    if (type == e->i1)
        return v;
    if (type == e->f64 || type == e->f32)
        return LLVMBuildFCmp(e->builder, LLVMRealUNE, v, zero, "");
    return LLVMBuildICmp(e->builder, LLVMIntNE, v, zero, "");
}

LLVMValueRef
jy_emit_constant(struct jy_emit *e, jy_dtype dtype, union jy_scalar value)
{
    LLVMTypeRef type = jy_types_value(e, dtype);
    if (dtype == JY_F64)
        return LLVMConstReal(type, value.d);
    if (dtype == JY_F32)
        return LLVMConstReal(type, (double)value.f);
    return LLVMConstInt(type, value.bits, true);
}

/* Any real number, or any bits, in the shape of `like`. */
static LLVMValueRef
real_like(LLVMValueRef like, double value)
{
    LLVMTypeRef type = LLVMTypeOf(like);
    LLVMValueRef all[64];
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return LLVMConstReal(type, value);
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++)
        all[i] = LLVMConstReal(LLVMGetElementType(type), value);
    return LLVMConstVector(all, LLVMGetVectorSize(type));
}

static LLVMValueRef
int_like(LLVMTypeRef type, int64_t value)
{
    LLVMValueRef all[64];
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return LLVMConstInt(type, (uint64_t)value, true);
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++)
        all[i] = LLVMConstInt(LLVMGetElementType(type), (uint64_t)value, true);
    return LLVMConstVector(all, LLVMGetVectorSize(type));
}

/* Rule 2; `predicate` as LLVM spells it: "olt", ... */
static LLVMValueRef
quiet_compare(struct jy_emit *e, const char *predicate, LLVMValueRef a, LLVMValueRef b)
{
    LLVMMetadataRef how = LLVMMDStringInContext2(e->context, predicate, strlen(predicate));
    LLVMMetadataRef ignore = LLVMMDStringInContext2(e->context, "fpexcept.ignore", 15);
    LLVMValueRef args[] = { a, b, LLVMMetadataAsValue(e->context, how), LLVMMetadataAsValue(e->context, ignore) };
    return jy_emit_intrinsic(e, "llvm.experimental.constrained.fcmp", LLVMTypeOf(a), args, 4, "");
}

static LLVMValueRef
extremum(struct jy_emit *e, const char *predicate, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef better = LLVMBuildSelect(e->builder, quiet_compare(e, predicate, a, b), a, b, "");
    LLVMValueRef nan = LLVMBuildFCmp(e->builder, LLVMRealUNO, a, a, "");
    return LLVMBuildSelect(e->builder, nan, a, better, "");
}

static LLVMTypeRef
int_type_like(struct jy_emit *e, LLVMValueRef v)
{
    return l_widen(l_element(v) == e->f64 ? e->i64 : e->i32, l_width(v));
}

/* Bits of a float without its sign, compared with those of infinity: silent for signalling NaNs too. */
static LLVMValueRef
compare_magnitude(struct jy_emit *e, LLVMIntPredicate predicate, LLVMValueRef v)
{
    bool f64 = l_element(v) == e->f64;
    LLVMTypeRef type = int_type_like(e, v);
    LLVMValueRef bits = LLVMBuildBitCast(e->builder, v, type, "");
    bits = LLVMBuildAnd(e->builder, bits, int_like(type, f64 ? INT64_MAX : INT32_MAX), "");
    return LLVMBuildICmp(e->builder, predicate, bits, int_like(type, f64 ? 0x7ff0000000000000 : 0x7f800000), "");
}

static LLVMValueRef
float_sign(struct jy_emit *e, LLVMValueRef v)
{
    LLVMValueRef zero = real_like(v, 0.0), r;
    r = LLVMBuildSelect(e->builder, LLVMBuildFCmp(e->builder, LLVMRealOEQ, v, zero, ""), zero, v, "");
    r = LLVMBuildSelect(e->builder, quiet_compare(e, "olt", v, zero), real_like(v, -1.0), r, "");
    return LLVMBuildSelect(e->builder, quiet_compare(e, "ogt", v, zero), real_like(v, 1.0), r, "");
}

/* fastmath: a product and the sum it goes into may be rounded once. Only what the program itself says is marked; the
 * error terms of our own algorithms are not. The order of sums needs no freedom: NumPy's is a vector's already. */
static LLVMValueRef
contracted(const struct jy_emit *e, jy_op op, LLVMValueRef r)
{
    bool may = op == JY_OP_ADD || op == JY_OP_SUB || op == JY_OP_MUL || op == JY_OP_SQUARE;
    if (e->fastmath && may && r != NULL && LLVMIsAInstruction(r) != NULL)
        LLVMSetFastMathFlags(r, LLVMFastMathAllowContract);
    return r;
}

/* Three tables, one row per operation. */
/* clang-format off */
static LLVMValueRef
float_op(struct jy_emit *e, jy_op op, LLVMValueRef *a)
{
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = LLVMTypeOf(a[0]);
    switch ((int)op) {
    case JY_OP_ADD: return LLVMBuildFAdd(b, a[0], a[1], "");
    case JY_OP_SUB: return LLVMBuildFSub(b, a[0], a[1], "");
    case JY_OP_MUL: return LLVMBuildFMul(b, a[0], a[1], "");
    case JY_OP_DIV: return LLVMBuildFDiv(b, a[0], a[1], "");
    case JY_OP_NEG: return LLVMBuildFNeg(b, a[0], "");
    case JY_OP_POS: return a[0];
    case JY_OP_FABS:
    case JY_OP_ABS: return jy_emit_intrinsic(e, "llvm.fabs", type, a, 1, "");
    case JY_OP_COPYSIGN: return jy_emit_intrinsic(e, "llvm.copysign", type, a, 2, "");
    case JY_OP_SQUARE: return LLVMBuildFMul(b, a[0], a[0], "");
    case JY_OP_RECIPROCAL: return LLVMBuildFDiv(b, real_like(a[0], 1.0), a[0], "");
    case JY_OP_SQRT: return jy_emit_intrinsic(e, "llvm.sqrt", type, a, 1, "");
    case JY_OP_FLOOR: return jy_emit_intrinsic(e, "llvm.floor", type, a, 1, "");
    case JY_OP_CEIL: return jy_emit_intrinsic(e, "llvm.ceil", type, a, 1, "");
    case JY_OP_TRUNC: return jy_emit_intrinsic(e, "llvm.trunc", type, a, 1, "");
    case JY_OP_RINT: return jy_emit_intrinsic(e, "llvm.rint", type, a, 1, "");
    case JY_OP_SIGN: return float_sign(e, a[0]);
    case JY_OP_MINIMUM: return extremum(e, "olt", a[0], a[1]);
    case JY_OP_MAXIMUM: return extremum(e, "ogt", a[0], a[1]);
    case JY_OP_LT: return quiet_compare(e, "olt", a[0], a[1]);
    case JY_OP_LE: return quiet_compare(e, "ole", a[0], a[1]);
    case JY_OP_GT: return quiet_compare(e, "ogt", a[0], a[1]);
    case JY_OP_GE: return quiet_compare(e, "oge", a[0], a[1]);
    case JY_OP_EQ: return LLVMBuildFCmp(b, LLVMRealOEQ, a[0], a[1], "");
    case JY_OP_NE: return LLVMBuildFCmp(b, LLVMRealUNE, a[0], a[1], "");
    case JY_OP_ISNAN: return compare_magnitude(e, LLVMIntUGT, a[0]);
    case JY_OP_ISINF: return compare_magnitude(e, LLVMIntEQ, a[0]);
    case JY_OP_ISFINITE: return compare_magnitude(e, LLVMIntULT, a[0]);
    case JY_OP_SIGNBIT: {
        LLVMTypeRef bits = int_type_like(e, a[0]);
        return LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildBitCast(b, a[0], bits, ""), LLVMConstNull(bits), "");
    }
    default: return NULL;
    }
}

/* Of the lanes whose count is below the width; the others give anything. Where no instruction shifts by a count per
 * lane, LLVM makes those of int32 by converting 2^count from float, which raises INVALID at 2^31: there int64 is
 * shifted, by up to 63 so that LLVM cannot narrow it again. */
static LLVMValueRef
shift_left(struct jy_emit *e, LLVMValueRef v, LLVMValueRef count)
{
    bool narrow = l_element(v) == e->i32, widen = narrow && l_width(v) > 1 && e->target->vector_bits == 128;
    LLVMTypeRef type = LLVMTypeOf(v), wide = widen ? l_widen(e->i64, l_width(v)) : type;
    LLVMValueRef most = int_like(type, narrow && !widen ? 31 : 63);
    LLVMValueRef by = LLVMBuildZExtOrBitCast(e->builder, LLVMBuildAnd(e->builder, count, most, ""), wide, "");
    LLVMValueRef shifted = LLVMBuildShl(e->builder, LLVMBuildZExtOrBitCast(e->builder, v, wide, ""), by, "");
    return LLVMBuildTruncOrBitCast(e->builder, shifted, type, "");
}

/* NumPy: a count that is negative or not below the width shifts everything out. */
static LLVMValueRef
shift(struct jy_emit *e, bool left, LLVMValueRef v, LLVMValueRef count)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    int64_t width = l_element(v) == e->i64 ? 64 : 32;
    LLVMValueRef inside = LLVMBuildICmp(e->builder, LLVMIntULT, count, int_like(type, width), "");
    if (!left) {
        LLVMValueRef most = LLVMBuildSelect(e->builder, inside, count, int_like(type, width - 1), "");
        return LLVMBuildAShr(e->builder, v, most, "");
    }
    return LLVMBuildSelect(e->builder, inside, shift_left(e, v, count), LLVMConstNull(type), "");
}

static LLVMValueRef
choose(struct jy_emit *e, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(e->builder, LLVMBuildICmp(e->builder, predicate, a, b, ""), a, b, "");
}

static LLVMValueRef
int_sign(struct jy_emit *e, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMValueRef zero = LLVMConstNull(type);
    LLVMValueRef positive = LLVMBuildZExt(e->builder, LLVMBuildICmp(e->builder, LLVMIntSGT, v, zero, ""), type, "");
    LLVMValueRef negative = LLVMBuildICmp(e->builder, LLVMIntSLT, v, zero, "");
    return LLVMBuildSelect(e->builder, negative, LLVMConstAllOnes(type), positive, "");
}

static LLVMValueRef
int_op(struct jy_emit *e, jy_op op, LLVMValueRef *a)
{
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef bools = l_widen(e->i1, l_width(a[0]));
    switch ((int)op) {
    case JY_OP_ADD: return LLVMBuildAdd(b, a[0], a[1], "");
    case JY_OP_SUB: return LLVMBuildSub(b, a[0], a[1], "");
    case JY_OP_MUL: return LLVMBuildMul(b, a[0], a[1], "");
    case JY_OP_NEG: return LLVMBuildNeg(b, a[0], "");
    case JY_OP_SQUARE: return LLVMBuildMul(b, a[0], a[0], "");
    case JY_OP_ABS: return choose(e, LLVMIntSGT, a[0], LLVMBuildNeg(b, a[0], ""));
    case JY_OP_SIGN: return int_sign(e, a[0]);
    case JY_OP_POS:
    case JY_OP_FLOOR:
    case JY_OP_CEIL:
    case JY_OP_TRUNC:
    case JY_OP_RINT: return a[0];
    case JY_OP_MINIMUM: return choose(e, LLVMIntSLT, a[0], a[1]);
    case JY_OP_MAXIMUM: return choose(e, LLVMIntSGT, a[0], a[1]);
    case JY_OP_LT: return LLVMBuildICmp(b, LLVMIntSLT, a[0], a[1], "");
    case JY_OP_LE: return LLVMBuildICmp(b, LLVMIntSLE, a[0], a[1], "");
    case JY_OP_GT: return LLVMBuildICmp(b, LLVMIntSGT, a[0], a[1], "");
    case JY_OP_GE: return LLVMBuildICmp(b, LLVMIntSGE, a[0], a[1], "");
    case JY_OP_EQ: return LLVMBuildICmp(b, LLVMIntEQ, a[0], a[1], "");
    case JY_OP_NE: return LLVMBuildICmp(b, LLVMIntNE, a[0], a[1], "");
    case JY_OP_BITWISE_AND: return LLVMBuildAnd(b, a[0], a[1], "");
    case JY_OP_BITWISE_OR: return LLVMBuildOr(b, a[0], a[1], "");
    case JY_OP_BITWISE_XOR: return LLVMBuildXor(b, a[0], a[1], "");
    case JY_OP_INVERT: return LLVMBuildNot(b, a[0], "");
    case JY_OP_LEFT_SHIFT: return shift(e, true, a[0], a[1]);
    case JY_OP_RIGHT_SHIFT: return shift(e, false, a[0], a[1]);
    case JY_OP_ISNAN:
    case JY_OP_ISINF: return LLVMConstNull(bools);
    case JY_OP_ISFINITE: return LLVMConstAllOnes(bools);
    case JY_OP_SIGNBIT: return LLVMBuildICmp(b, LLVMIntSLT, a[0], LLVMConstNull(LLVMTypeOf(a[0])), "");
    default: return NULL;
    }
}

/* On truth values; NumPy's bool addition is `or`, its multiplication `and`. */
static LLVMValueRef
bool_op(struct jy_emit *e, jy_op op, LLVMValueRef *a)
{
    LLVMBuilderRef b = e->builder;
    switch ((int)op) {
    case JY_OP_ADD:
    case JY_OP_MAXIMUM:
    case JY_OP_BITWISE_OR:
    case JY_OP_LOGICAL_OR: return LLVMBuildOr(b, a[0], a[1], "");
    case JY_OP_MUL:
    case JY_OP_MINIMUM:
    case JY_OP_BITWISE_AND:
    case JY_OP_LOGICAL_AND: return LLVMBuildAnd(b, a[0], a[1], "");
    case JY_OP_NE:
    case JY_OP_BITWISE_XOR:
    case JY_OP_LOGICAL_XOR: return LLVMBuildXor(b, a[0], a[1], "");
    case JY_OP_EQ: return LLVMBuildNot(b, LLVMBuildXor(b, a[0], a[1], ""), "");
    case JY_OP_LT: return LLVMBuildAnd(b, LLVMBuildNot(b, a[0], ""), a[1], "");
    case JY_OP_LE: return LLVMBuildOr(b, LLVMBuildNot(b, a[0], ""), a[1], "");
    case JY_OP_GT: return LLVMBuildAnd(b, a[0], LLVMBuildNot(b, a[1], ""), "");
    case JY_OP_GE: return LLVMBuildOr(b, a[0], LLVMBuildNot(b, a[1], ""), "");
    case JY_OP_INVERT:
    case JY_OP_LOGICAL_NOT: return LLVMBuildNot(b, a[0], "");
    case JY_OP_POS:
    case JY_OP_ABS:
    case JY_OP_SQUARE:
    case JY_OP_FLOOR:
    case JY_OP_CEIL:
    case JY_OP_TRUNC: return a[0];
    case JY_OP_ISNAN:
    case JY_OP_ISINF:
    case JY_OP_SIGNBIT: return LLVMConstNull(LLVMTypeOf(a[0]));
    case JY_OP_ISFINITE: return LLVMConstAllOnes(LLVMTypeOf(a[0]));
    default: return NULL;
    }
}

/* clang-format on */

static bool
is_logical(jy_op op)
{
    return op == JY_OP_LOGICAL_AND || op == JY_OP_LOGICAL_OR || op == JY_OP_LOGICAL_XOR || op == JY_OP_LOGICAL_NOT;
}

static LLVMValueRef
apply(struct jy_emit *e, jy_op op, jy_dtype dtype, LLVMValueRef *args, unsigned n)
{
    LLVMValueRef r;
    if (dtype == JY_BOOL || is_logical(op)) {
        for (unsigned k = 0; k < n; k++)
            args[k] = jy_emit_truth(e, args[k]);
        r = bool_op(e, op, args);
    } else {
        r = jy_dtype_is_float(dtype) ? contracted(e, op, float_op(e, op, args)) : int_op(e, op, args);
    }
    if (r == NULL) {
        jy_emit_fail(e, "an operation has no machine code for its dtype");
        r = args[0];
    }
    return r;
}

LLVMValueRef
jy_emit_binary(struct jy_emit *e, jy_op op, jy_dtype dtype, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef args[] = { a, b };
    return apply(e, op, dtype, args, 2);
}

/* Rule 4
 * ------------------------------------------------------------------------------------------------------------ */

/* The value itself, but opaque to everything that would look through it. */
static LLVMValueRef
fence(struct jy_emit *e, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v), element = l_element(v);
    bool is_float = element == e->f64 || element == e->f32;
    LLVMTypeRef real = is_float ? type : l_widen(element == e->i64 ? e->f64 : e->f32, l_width(v));
    if (!is_float && element != e->i64 && element != e->i32)
        return v;
    LLVMValueRef in = is_float ? v : LLVMBuildBitCast(e->builder, v, real, "");
    LLVMValueRef out = jy_emit_intrinsic(e, "llvm.arithmetic.fence", real, &in, 1, "");
    return is_float ? out : LLVMBuildBitCast(e->builder, out, type, "");
}

static bool
may_raise(const struct jy_emit *e, const struct jy_lstmt *s)
{
    if (s->l_kind != JY_L_CAST && s->l_kind != JY_L_OP)
        return false;
    jy_dtype from = l_stmt(e, s->l_args[0])->l_dtype;
    if (s->l_kind == JY_L_CAST)
        return jy_dtype_is_float(from) && s->l_dtype != JY_BOOL && !(from == JY_F32 && s->l_dtype == JY_F64);
    return jy_dtype_is_float(from) && (jy_op_info[s->l_op].facts & JY_FACT_FLAGS) != 0 && s->l_dtype != JY_BOOL;
}

/* Stored where nobody looks: computed here, whatever happens to its users. */
static void
pin(struct jy_emit *e, LLVMValueRef v)
{
    if (e->sink == NULL)
        e->sink = jy_emit_alloca(e, LLVMArrayType2(e->i8, 64), "sink");
    LLVMValueRef store = LLVMBuildStore(e->builder, v, e->sink);
    LLVMSetAlignment(store, 8);
    LLVMSetVolatile(store, true);
}

/* In plain scope code may be sunk behind a condition that its flags do not depend on; in a loop only what nobody
 * uses is at risk. */
static void
keep_alive(struct jy_emit *e, jy_lv lv, LLVMValueRef v)
{
    if (may_raise(e, l_stmt(e, lv)) && (e->lanes.preheader == NULL || e->uses[lv] == 0))
        pin(e, v);
}

/* An arm of a select. A scalar select can become a branch, into which all that only the arm needs is moved, what it
 * was computed from included: there a fence is not enough. */
static LLVMValueRef
guard_arm(struct jy_emit *e, jy_lv lv, LLVMValueRef v)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    if (l_width(v) == 1 && (s->l_kind == JY_L_OP || s->l_kind == JY_L_CAST))
        pin(e, v);
    return l_width(v) > 1 && may_raise(e, s) ? fence(e, v) : v;
}

/* One of two constants: code generation computes with both of them, without a flag. */
static bool
is_choice(const struct jy_emit *e, LLVMValueRef v)
{
    return LLVMIsASelectInst(v) != NULL || (LLVMIsAUIToFPInst(v) != NULL && l_element(LLVMGetOperand(v, 0)) == e->i1);
}

static void
fence_constants(struct jy_emit *e, LLVMValueRef *args, unsigned n)
{
    unsigned constants = 0;
    for (unsigned k = 0; k < n; k++) {
        constants += LLVMIsConstant(args[k]);
        if (is_choice(e, args[k]))
            args[k] = fence(e, args[k]);
    }
    if (constants == n)
        args[0] = fence(e, args[0]);
}

/* Statements
 * ---------------------------------------------------------------------------------------------------------- */

static LLVMValueRef
emit_where(struct jy_emit *e, const struct jy_lstmt *s, LLVMValueRef *a)
{
    for (unsigned k = 1; k < 3; k++)
        a[k] = guard_arm(e, s->l_args[k], a[k]);
    if (l_element(a[1]) != l_element(a[2])) { /* bool: one loaded, one computed */
        LLVMTypeRef bytes = l_widen(e->i8, l_width(a[1]));
        for (unsigned k = 1; k < 3; k++)
            a[k] = l_element(a[k]) == e->i1 ? LLVMBuildZExt(e->builder, a[k], bytes, "") : a[k];
    }
    return LLVMBuildSelect(e->builder, jy_emit_truth(e, a[0]), a[1], a[2], "");
}

static void
set_rerun(struct jy_emit *e, LLVMValueRef condition)
{
    LLVMValueRef at = jy_emit_field_address(e, JY_FIELD_STATUS);
    LLVMValueRef bit = LLVMBuildSelect(e->builder, condition, l_i32(e, JY_CALL_RERUN), l_i32(e, 0), "");
    LLVMValueRef old = LLVMBuildLoad2(e->builder, e->i32, at, "status");
    LLVMBuildStore(e->builder, LLVMBuildOr(e->builder, old, bit, ""), at);
}

/* Integer scalars: NumPy warns where the result does not fit. */
static LLVMValueRef
emit_checked(struct jy_emit *e, const struct jy_lstmt *s, LLVMValueRef *a)
{
    LLVMTypeRef type = LLVMTypeOf(a[0]);
    LLVMValueRef zero = LLVMConstNull(type), pair[2] = { a[0], a[1] };
    LLVMValueRef least = LLVMConstInt(type, type == e->i64 ? (uint64_t)INT64_MIN : (uint64_t)INT32_MIN, true);
    const char *name = NULL;
    /* clang-format off */
    switch ((int)s->l_op) {
    case JY_OP_ADD: name = "llvm.sadd.with.overflow"; break;
    case JY_OP_SUB: name = "llvm.ssub.with.overflow"; break;
    case JY_OP_MUL: name = "llvm.smul.with.overflow"; break;
    case JY_OP_SQUARE: name = "llvm.smul.with.overflow"; pair[1] = a[0]; break;
    case JY_OP_NEG: name = "llvm.ssub.with.overflow"; pair[0] = zero; pair[1] = a[0]; break;
    case JY_OP_ABS: set_rerun(e, LLVMBuildICmp(e->builder, LLVMIntEQ, a[0], least, "")); break;
    default: break;
    }
    /* clang-format on */
    if (name == NULL)
        return apply(e, s->l_op, l_stmt(e, s->l_args[0])->l_dtype, a, s->l_nargs);
    LLVMValueRef both = jy_emit_intrinsic(e, name, type, pair, 2, "");
    set_rerun(e, LLVMBuildExtractValue(e->builder, both, 1, ""));
    return LLVMBuildExtractValue(e->builder, both, 0, "");
}

void
jy_emit_op(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    jy_dtype dtype = l_stmt(e, s->l_args[0])->l_dtype;
    for (unsigned copy = 0; copy < e->lanes.copies; copy++) {
        LLVMValueRef args[3], r;
        for (unsigned k = 0; k < s->l_nargs; k++)
            args[k] = jy_emit_use(e, s->l_args[k], copy);
        if (may_raise(e, s))
            fence_constants(e, args, s->l_nargs);
        if (s->l_op == JY_OP_WHERE)
            r = emit_where(e, s, args);
        else if (s->l_checked && e->lanes.width == 1 && (dtype == JY_I32 || dtype == JY_I64))
            r = emit_checked(e, s, args);
        else
            r = apply(e, s->l_op, dtype, args, s->l_nargs);
        jy_emit_define(e, lv, copy, r);
        keep_alive(e, lv, r);
    }
}

static LLVMValueRef
convert(struct jy_emit *e, LLVMValueRef v, jy_dtype from, jy_dtype to)
{
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = l_widen(jy_types_value(e, to), l_width(v));
    if (from == to)
        return v;
    if (to == JY_BOOL)
        return jy_emit_truth(e, v);
    if (from == JY_BOOL) {
        v = jy_emit_truth(e, v);
        return jy_dtype_is_float(to) ? LLVMBuildUIToFP(b, v, type, "") : LLVMBuildZExt(b, v, type, "");
    }
    if (jy_dtype_is_float(from) && jy_dtype_is_float(to))
        return to == JY_F64 ? LLVMBuildFPExt(b, v, type, "") : LLVMBuildFPTrunc(b, v, type, "");
    if (jy_dtype_is_float(from))
        return LLVMBuildFreeze(b, LLVMBuildFPToSI(b, v, type, ""), "");
    if (jy_dtype_is_float(to))
        return LLVMBuildSIToFP(b, v, type, "");
    return to == JY_I64 ? LLVMBuildSExt(b, v, type, "") : LLVMBuildTrunc(b, v, type, "");
}

void
jy_emit_cast(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    for (unsigned copy = 0; copy < e->lanes.copies; copy++) {
        LLVMValueRef v = jy_emit_use(e, s->l_args[0], copy);
        if (may_raise(e, s))
            fence_constants(e, &v, 1);
        v = convert(e, v, l_stmt(e, s->l_args[0])->l_dtype, s->l_dtype);
        jy_emit_define(e, lv, copy, v);
        keep_alive(e, lv, v);
    }
}
