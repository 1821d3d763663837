/* FLAGGED: leaves where an operation on floats would have warned, told by its values (flow_ops.def). The test in the hot
 * path is whether the result is finite; if it is not, a cold block decides by the operands.
 *
 * Tests wait for each other: what is not finite stays so in sums, products, square roots and as a numerator. So of
 * s + x * y only the sum is tested, and a cold block decides about both, the product first. They wait up to the next
 * thing that can be observed: a store, a call, the block's end. A few of them let other checks pass: where one of those
 * fails, they are decided about first. */
#include "emit_flow.h"
#include <float.h>

#define TOLD_DEPTH 5 /* operations that a result is looked for behind */
#define MOST_WAIT 4  /* taste: tests that let a check pass, for which each of them is code once more */

static LLVMValueRef
compare_magnitude(struct jy_flow_emit *f, LLVMRealPredicate how, LLVMValueRef v, double limit)
{
    LLVMValueRef magnitude = jy_emit_intrinsic(f->e, "llvm.fabs", LLVMTypeOf(v), &v, 1, "");
    return LLVMBuildFCmp(l_builder(f), how, magnitude, LLVMConstReal(LLVMTypeOf(v), limit), "");
}

static jy_fv
result_of(const struct jy_flow_emit *f, size_t k)
{
    return jy_flow_at(f->w, f->flagged.at[k].check)->f_args[0];
}

void
jy_flow_emit_flagged(struct jy_flow_emit *f, jy_fv fv)
{
    jy_fv result = jy_flow_at(f->w, fv)->f_args[0];
    for (size_t k = 0; k < f->flagged.n; k++)
        f->flagged.at[k].is_told |= jy_flow_passes_on(f->w, result, result_of(f, k), TOLD_DEPTH);
    *jy_vec_push(f->e->arena, &f->flagged) = (struct jy_flow_flagged){ .check = fv };
}

/* The result is NaN and no operand is, or infinite and no operand is. */
static LLVMValueRef
is_quiet(struct jy_flow_emit *f, const struct jy_fvalue *v)
{
    LLVMBuilderRef b = l_builder(f);
    LLVMValueRef r = f->value[v->f_args[0]], x = f->value[v->f_args[1]], y = f->value[v->f_args[2]];
    LLVMValueRef came_nan = LLVMBuildFCmp(b, LLVMRealUNO, x, y, "");
    LLVMValueRef came_inf = LLVMBuildOr(b, compare_magnitude(f, LLVMRealOEQ, x, __builtin_inf()),
                                        compare_magnitude(f, LLVMRealOEQ, y, __builtin_inf()), "");
    LLVMValueRef finite = compare_magnitude(f, LLVMRealOLT, r, __builtin_inf());
    LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, r, r, "");
    return LLVMBuildOr(b, finite, LLVMBuildSelect(b, is_nan, came_nan, came_inf, ""), "");
}

/* Compared with the largest number, not with infinity: LLVM would test the exponent's bits, with twice the work. What
 * has been widened is finite where it was so before. */
static LLVMValueRef
is_finite(struct jy_flow_emit *f, jy_fv fv)
{
    while (jy_flow_at(f->w, fv)->f_op == JY_FLOW_WIDEN)
        fv = jy_flow_at(f->w, fv)->f_args[0];
    LLVMValueRef v = f->value[fv];
    return compare_magnitude(f, LLVMRealOLE, v, LLVMTypeOf(v) == f->e->f64 ? DBL_MAX : (double)FLT_MAX);
}

/* From here on in the order of the program: exits of what had been reported, else the block `on`. */
static void
decide(struct jy_flow_emit *f, LLVMBasicBlockRef on)
{
    struct jy_emit *e = f->e;
    for (size_t k = 0; k < f->flagged.n; k++) {
        const struct jy_fvalue *v = jy_flow_at(f->w, f->flagged.at[k].check);
        LLVMBasicBlockRef next = k + 1 < f->flagged.n ? l_block(e, "doubt") : on;
        LLVMBuildCondBr(e->builder, is_quiet(f, v), next, jy_flow_exit_block(f, v->f_exit));
        l_at(e, next);
    }
}

/* Each test that is not told by a later one branches to the one cold block, which decides about all in their order. */
void
jy_flow_settle_flags(struct jy_flow_emit *f)
{
    LLVMBasicBlockRef on = NULL;
    if (f->flagged.n == 0)
        return;
    LLVMBasicBlockRef doubt = l_block(f->e, "doubt");
    for (size_t k = 0; k < f->flagged.n; k++)
        if (!f->flagged.at[k].is_told)
            on = jy_flow_go_on(f, is_finite(f, result_of(f, k)), doubt);
    l_at(f->e, doubt);
    decide(f, on);
    f->flagged.n = 0;
}

LLVMBasicBlockRef
jy_flow_failed_block(struct jy_flow_emit *f, uint32_t exit)
{
    LLVMBasicBlockRef to = jy_flow_exit_block(f, exit), here = l_here(f->e);
    if (f->flagged.n == 0)
        return to;
    LLVMBasicBlockRef doubt = l_block(f->e, "doubt");
    l_at(f->e, doubt);
    decide(f, to);
    l_at(f->e, here);
    return doubt;
}

void
jy_flow_before_check(struct jy_flow_emit *f)
{
    if (f->flagged.n > MOST_WAIT)
        jy_flow_settle_flags(f);
}

/* What became a number that fits an integer was finite, and so was what it was made of. */
void
jy_flow_behind_check(struct jy_flow_emit *f, const struct jy_fvalue *v)
{
    size_t left = 0;
    if (v->f_op != JY_FLOW_TO_INT)
        return;
    for (size_t k = 0; k < f->flagged.n; k++)
        if (!jy_flow_passes_on(f->w, v->f_args[0], result_of(f, k), TOLD_DEPTH))
            f->flagged.at[left++] = f->flagged.at[k];
    f->flagged.n = left;
}
