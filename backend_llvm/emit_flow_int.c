/* Integer operations of flows: two's complement, with an exit where the result would be another one in Python.
 *
 * Hot code gets the cheapest test that is enough; where it fails, a cold block decides exactly and may go on. A divisor
 * is tested for being -1 or 0 at once: by -1 the quotient is the negation, and only the smallest number has none. */
#include "emit_flow.h"

static LLVMValueRef
least_of(LLVMValueRef like)
{
    return l_int(like, (int64_t)((uint64_t)-1 << (l_bits(like) - 1)));
}

/* `exit` where the operation overflows. */
static LLVMValueRef
checked(struct jy_flow_emit *f, const char *intrinsic, LLVMValueRef a, LLVMValueRef b, uint32_t exit)
{
    LLVMValueRef pair[] = { a, b };
    LLVMValueRef both = jy_emit_intrinsic(f->e, intrinsic, LLVMTypeOf(a), pair, 2, "");
    LLVMValueRef r = LLVMBuildExtractValue(l_builder(f), both, 0, "");
    LLVMValueRef fits = LLVMBuildNot(l_builder(f), LLVMBuildExtractValue(l_builder(f), both, 1, ""), "");
    jy_flow_require(f, fits, exit);
    return r;
}

static LLVMValueRef
negated(struct jy_flow_emit *f, LLVMValueRef a, uint32_t exit)
{
    if (exit == JY_NO_EXIT)
        return LLVMBuildNeg(l_builder(f), a, "");
    return checked(f, "llvm.ssub.with.overflow", l_int(a, 0), a, exit);
}

static LLVMValueRef
absolute(struct jy_flow_emit *f, LLVMValueRef a, uint32_t exit)
{
    if (exit != JY_NO_EXIT)
        jy_flow_require(f, LLVMBuildICmp(l_builder(f), LLVMIntNE, a, least_of(a), ""), exit);
    LLVMValueRef args[] = { a, LLVMConstNull(f->e->i1) }; /* the smallest is not poison: it wraps */
    return jy_emit_intrinsic(f->e, "llvm.abs", LLVMTypeOf(a), args, 2, "");
}

static LLVMValueRef
extremum(struct jy_flow_emit *f, const char *intrinsic, LLVMValueRef *args)
{
    return jy_emit_intrinsic(f->e, intrinsic, LLVMTypeOf(args[0]), args, 2, "");
}

/* Shifts ---------------------------------------------------------------------------------------------------------- */

/* Zero shifted by a count that is not negative. */
static LLVMValueRef
decide_zero(struct jy_flow_emit *f, LLVMValueRef *args)
{
    LLVMValueRef zero = LLVMBuildICmp(l_builder(f), LLVMIntEQ, args[0], l_int(args[0], 0), "");
    LLVMValueRef good = LLVMBuildICmp(l_builder(f), LLVMIntSGE, args[1], l_int(args[1], 0), "");
    return LLVMBuildAnd(l_builder(f), zero, good, "");
}

/* A count of 0 .. bits-1 that is known here. */
static bool
is_small_count(LLVMValueRef count)
{
    return LLVMIsAConstantInt(count) != NULL && LLVMConstIntGetZExtValue(count) < l_bits(count);
}

/* Counts are masked, as the machine does anyway. Without an exit whoever made it knows that the count is small, and
 * LLVM need not know: others give 0, as in the interpreter. */
static LLVMValueRef
shift_left(struct jy_flow_emit *f, LLVMValueRef *args, uint32_t exit)
{
    LLVMBuilderRef b = l_builder(f);
    int64_t bits = l_bits(args[0]);
    LLVMValueRef count = LLVMBuildAnd(b, args[1], l_int(args[1], bits - 1), "");
    LLVMValueRef r = LLVMBuildShl(b, args[0], count, "");
    LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntULT, args[1], l_int(args[1], bits), "");
    if (exit == JY_NO_EXIT)
        return is_small_count(args[1]) ? r : LLVMBuildSelect(b, inside, r, l_int(r, 0), "");
    LLVMValueRef back = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildAShr(b, r, count, ""), args[0], "");
    jy_flow_require_rarely(f, LLVMBuildAnd(b, inside, back, ""), exit, decide_zero, args);
    return r;
}

static LLVMValueRef
shift_right(struct jy_flow_emit *f, LLVMValueRef *args, uint32_t exit)
{
    LLVMBuilderRef b = l_builder(f);
    LLVMValueRef pair[] = { args[1], l_int(args[1], (int64_t)l_bits(args[0]) - 1) };
    if (exit != JY_NO_EXIT)
        jy_flow_require(f, LLVMBuildICmp(b, LLVMIntSGE, args[1], l_int(args[1], 0), ""), exit);
    LLVMValueRef count = is_small_count(args[1]) ? args[1] : extremum(f, "llvm.umin", pair);
    return LLVMBuildAShr(b, args[0], count, "");
}

static LLVMValueRef
shift_right_unsigned(struct jy_flow_emit *f, LLVMValueRef *args)
{
    LLVMBuilderRef b = l_builder(f);
    int64_t bits = l_bits(args[0]);
    if (is_small_count(args[1]))
        return LLVMBuildLShr(b, args[0], args[1], "");
    LLVMValueRef count = LLVMBuildAnd(b, args[1], l_int(args[1], bits - 1), "");
    LLVMValueRef inside = LLVMBuildICmp(b, LLVMIntULT, args[1], l_int(args[1], bits), "");
    return LLVMBuildSelect(b, inside, LLVMBuildLShr(b, args[0], count, ""), l_int(args[0], 0), "");
}

/* Division -------------------------------------------------------------------------------------------------------- */

static LLVMValueRef
decide_divisor(struct jy_flow_emit *f, LLVMValueRef *args)
{
    LLVMValueRef zero = LLVMBuildICmp(l_builder(f), LLVMIntEQ, args[1], l_int(args[1], 0), "");
    LLVMValueRef least = LLVMBuildICmp(l_builder(f), LLVMIntEQ, args[0], least_of(args[0]), "");
    return LLVMBuildNot(l_builder(f), LLVMBuildOr(l_builder(f), zero, least, ""), "");
}

/* -1 and 0 are the two divisors d with d + 1 below 2, unsigned. */
static void
check_divisor(struct jy_flow_emit *f, LLVMValueRef *args, uint32_t exit)
{
    LLVMValueRef next = LLVMBuildAdd(l_builder(f), args[1], l_int(args[1], 1), "");
    LLVMValueRef usual = LLVMBuildICmp(l_builder(f), LLVMIntUGE, next, l_int(next, 2), "");
    jy_flow_require_rarely(f, usual, exit, decide_divisor, args);
}

/* log2 of a constant that is a power of two; -1: it is none. */
static int
power_of_two(LLVMValueRef v)
{
    long long c = LLVMIsAConstantInt(v) != NULL ? LLVMConstIntGetSExtValue(v) : 0;
    return c > 0 && (c & (c - 1)) == 0 ? __builtin_ctzll((unsigned long long)c) : -1;
}

/* The remainder of the division that rounds toward zero is not zero and has not the divisor's sign. */
static LLVMValueRef
is_rounded_up(struct jy_flow_emit *f, LLVMValueRef rest, LLVMValueRef divisor)
{
    LLVMBuilderRef b = l_builder(f);
    LLVMValueRef zero = l_int(rest, 0);
    LLVMValueRef differs = LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildXor(b, rest, divisor, ""), zero, "");
    return LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntNE, rest, zero, ""), differs, "");
}

/* Quotient and remainder as Python has them. */
static struct jy_flow_division
divide_signed(struct jy_flow_emit *f, LLVMValueRef a, LLVMValueRef d)
{
    LLVMBuilderRef b = l_builder(f);
    LLVMValueRef q = LLVMBuildSDiv(b, a, d, ""), rest = LLVMBuildSRem(b, a, d, "");
    LLVMValueRef is_up = is_rounded_up(f, rest, d);
    LLVMValueRef down = LLVMBuildSExt(b, is_up, LLVMTypeOf(q), "");
    LLVMValueRef plus = LLVMBuildSelect(b, is_up, d, l_int(rest, 0), "");
    return (struct jy_flow_division){ a, d, LLVMBuildAdd(b, q, down, ""), LLVMBuildAdd(b, rest, plus, "") };
}

static LLVMValueRef
joined(struct jy_flow_emit *f, LLVMValueRef a, LLVMBasicBlockRef from_a, LLVMValueRef b, LLVMBasicBlockRef from_b)
{
    LLVMValueRef phi = LLVMBuildPhi(l_builder(f), LLVMTypeOf(a), "");
    LLVMAddIncoming(phi, &a, &from_a, 1);
    LLVMAddIncoming(phi, &b, &from_b, 1);
    return phi;
}

/* Most numbers have no sign and 32 bits: the machine divides those in half the time, and the quotient is Python's. */
static struct jy_flow_division
divide_either(struct jy_flow_emit *f, LLVMValueRef a, LLVMValueRef d)
{
    struct jy_emit *e = f->e;
    LLVMBasicBlockRef narrow = l_block(e, "narrow"), wide = l_block(e, "wide"), on = l_block(e, "");
    LLVMBasicBlockRef block[] = { wide, narrow, on }, here = l_here(e);
    for (size_t k = 0; k < 3; k++)
        LLVMMoveBasicBlockAfter(block[k], here);
    LLVMValueRef bits = LLVMBuildOr(e->builder, a, d, "");
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntULT, bits, l_int(bits, INT64_C(1) << 32), ""), narrow,
                    wide);
    l_at(e, narrow);
    LLVMValueRef low_a = LLVMBuildTrunc(e->builder, a, e->i32, ""), low_d = LLVMBuildTrunc(e->builder, d, e->i32, "");
    LLVMValueRef q = LLVMBuildZExt(e->builder, LLVMBuildUDiv(e->builder, low_a, low_d, ""), e->i64, "");
    LLVMValueRef rest = LLVMBuildZExt(e->builder, LLVMBuildURem(e->builder, low_a, low_d, ""), e->i64, "");
    LLVMBuildBr(e->builder, on);
    l_at(e, wide);
    struct jy_flow_division slow = divide_signed(f, a, d);
    LLVMBuildBr(e->builder, on);
    l_at(e, on);
    return (struct jy_flow_division){ a, d, joined(f, q, narrow, slow.quotient, wide),
                                      joined(f, rest, narrow, slow.rest, wide) };
}

/* `//` and `%` of the same numbers are one division. */
static struct jy_flow_division
division_of(struct jy_flow_emit *f, LLVMValueRef *args, uint32_t exit)
{
    if (exit != JY_NO_EXIT)
        check_divisor(f, args, exit);
    if (f->division.dividend == args[0] && f->division.divisor == args[1])
        return f->division;
    bool either = l_bits(args[0]) == 64 && LLVMIsAConstantInt(args[1]) == NULL;
    f->division = either ? divide_either(f, args[0], args[1]) : divide_signed(f, args[0], args[1]);
    return f->division;
}

static LLVMValueRef
divided(struct jy_flow_emit *f, LLVMValueRef *args, uint32_t exit)
{
    int shift = power_of_two(args[1]);
    if (shift >= 0)
        return LLVMBuildAShr(l_builder(f), args[0], l_int(args[0], shift), "");
    return division_of(f, args, exit).quotient;
}

static LLVMValueRef
remainder_of(struct jy_flow_emit *f, LLVMValueRef *args, uint32_t exit)
{
    LLVMBuilderRef b = l_builder(f);
    if (power_of_two(args[1]) >= 0)
        return LLVMBuildAnd(b, args[0], LLVMBuildSub(b, args[1], l_int(args[1], 1), ""), "");
    return division_of(f, args, exit).rest;
}

/* ----------------------------------------------------------------------------------------------------------------- */

/* A factor by which the machine multiplies with a shift, or as it adds addresses; 0: another one. */
static int64_t
cheap_factor(LLVMValueRef v)
{
    int64_t c = LLVMIsAConstantInt(v) != NULL && l_bits(v) == 64 ? LLVMConstIntGetSExtValue(v) : 0;
    return c == 3 || c == 5 || c == 9 || (c > 2 && (c & (c - 1)) == 0) ? c : 0;
}

/* The multiplication that tells of overflow takes three times as long, which counts where a round waits for the last one. So
 * the factor is looked at, beside the way from round to round: that there is no overflow is a range. */
static LLVMValueRef
multiplied(struct jy_flow_emit *f, LLVMValueRef *args, uint32_t exit)
{
    LLVMBuilderRef b = l_builder(f);
    int64_t c = cheap_factor(args[0]);
    LLVMValueRef x = c != 0 ? args[1] : args[0];
    c = c != 0 ? c : cheap_factor(args[1]);
    if (c == 0)
        return checked(f, "llvm.smul.with.overflow", args[0], args[1], exit);
    int64_t low = INT64_MIN / c;
    LLVMValueRef above = LLVMBuildSub(b, x, l_int(x, low), "");
    LLVMValueRef r = LLVMBuildMul(b, args[0], args[1], "");
    jy_flow_require(f, LLVMBuildICmp(b, LLVMIntULE, above, l_int(x, INT64_MAX / c - low), ""), exit);
    return r;
}

static LLVMValueRef
arithmetic(struct jy_flow_emit *f, enum jy_fop op, LLVMValueRef *args, uint32_t exit)
{
    bool free = exit == JY_NO_EXIT;
    switch ((int)op) {
    case JY_FLOW_ADD:
        return free ? LLVMBuildAdd(l_builder(f), args[0], args[1], "")
                    : checked(f, "llvm.sadd.with.overflow", args[0], args[1], exit);
    case JY_FLOW_SUB:
        return free ? LLVMBuildSub(l_builder(f), args[0], args[1], "")
                    : checked(f, "llvm.ssub.with.overflow", args[0], args[1], exit);
    default:
        return free ? LLVMBuildMul(l_builder(f), args[0], args[1], "") : multiplied(f, args, exit);
    }
}

/* clang-format off */
LLVMValueRef
jy_flow_emit_int(struct jy_flow_emit *f, const struct jy_fvalue *v, LLVMValueRef *args)
{
    LLVMBuilderRef b = l_builder(f);
    switch ((int)v->f_op) {
    case JY_FLOW_ADD:
    case JY_FLOW_SUB:
    case JY_FLOW_MUL: return arithmetic(f, v->f_op, args, v->f_exit);
    case JY_FLOW_NEG: return negated(f, args[0], v->f_exit);
    case JY_FLOW_ABS: return absolute(f, args[0], v->f_exit);
    case JY_FLOW_AND: return LLVMBuildAnd(b, args[0], args[1], "");
    case JY_FLOW_OR: return LLVMBuildOr(b, args[0], args[1], "");
    case JY_FLOW_XOR: return LLVMBuildXor(b, args[0], args[1], "");
    case JY_FLOW_NOT: return LLVMBuildNot(b, args[0], "");
    case JY_FLOW_SHL: return shift_left(f, args, v->f_exit);
    case JY_FLOW_SHR: return shift_right(f, args, v->f_exit);
    case JY_FLOW_USHR: return shift_right_unsigned(f, args);
    case JY_FLOW_FLOORDIV: return divided(f, args, v->f_exit);
    case JY_FLOW_FLOORMOD: return remainder_of(f, args, v->f_exit);
    case JY_FLOW_MIN: return extremum(f, "llvm.smin", args);
    case JY_FLOW_MAX: return extremum(f, "llvm.smax", args);
    case JY_FLOW_LT: return LLVMBuildICmp(b, LLVMIntSLT, args[0], args[1], "");
    case JY_FLOW_LE: return LLVMBuildICmp(b, LLVMIntSLE, args[0], args[1], "");
    case JY_FLOW_GT: return LLVMBuildICmp(b, LLVMIntSGT, args[0], args[1], "");
    case JY_FLOW_GE: return LLVMBuildICmp(b, LLVMIntSGE, args[0], args[1], "");
    case JY_FLOW_BELOW: return LLVMBuildICmp(b, LLVMIntULT, args[0], args[1], "");
    default: return NULL;
    }
}
/* clang-format on */
