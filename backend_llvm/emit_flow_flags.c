/* FLAGGED: leaves where an operation on floats would have warned, told by its values (flow_ops.def). The test in the hot
 * path is whether the result is finite; if it is not, a cold block decides by the operands.
 *
 * Tests wait for each other: what is not finite stays so in sums, products, square roots and as a numerator. So of
 * s + x * y only the sum is tested, and a cold block decides about both, the product first. They wait up to the next
 * thing that can be observed: another check, a store, a call, the block's end. */
#include "emit_flow.h"
#include <float.h>

static LLVMValueRef
compare_magnitude(struct jy_flow_emit *f, LLVMRealPredicate how, LLVMValueRef v, double limit)
{
    LLVMValueRef magnitude = jy_emit_intrinsic(f->e, "llvm.fabs", LLVMTypeOf(v), &v, 1, "");
    return LLVMBuildFCmp(l_builder(f), how, magnitude, LLVMConstReal(LLVMTypeOf(v), limit), "");
}

void
jy_flow_emit_flagged(struct jy_flow_emit *f, jy_fv fv)
{
    jy_fv result = jy_flow_at(f->w, fv)->f_args[0];
    for (size_t k = 0; k < f->flagged.n; k++)
        f->flagged.at[k].is_told |=
            jy_flow_passes_on(f->w, result, jy_flow_at(f->w, f->flagged.at[k].check)->f_args[0], 4);
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

/* Compared with the largest number, not with infinity: LLVM would test the exponent's bits, with twice the work. */
static LLVMValueRef
is_finite(struct jy_flow_emit *f, LLVMValueRef v)
{
    return compare_magnitude(f, LLVMRealOLE, v, LLVMTypeOf(v) == f->e->f64 ? DBL_MAX : (double)FLT_MAX);
}

/* Each test that is not told by a later one branches to the one cold block, which decides about all in their order. */
void
jy_flow_settle_flags(struct jy_flow_emit *f)
{
    struct jy_emit *e = f->e;
    size_t n = f->flagged.n;
    if (n == 0)
        return;
    LLVMBasicBlockRef doubt = l_block(e, "doubt"), on = NULL;
    for (size_t k = 0; k < n; k++) {
        if (f->flagged.at[k].is_told)
            continue;
        LLVMValueRef finite = is_finite(f, f->value[jy_flow_at(f->w, f->flagged.at[k].check)->f_args[0]]);
        on = jy_flow_go_on(f, finite, doubt);
    }
    l_at(e, doubt);
    for (size_t k = 0; k < n; k++) {
        const struct jy_fvalue *v = jy_flow_at(f->w, f->flagged.at[k].check);
        LLVMBasicBlockRef next = k + 1 < n ? l_block(e, "doubt") : on;
        LLVMBuildCondBr(e->builder, is_quiet(f, v), next, jy_flow_exit_block(f, v->f_exit));
        l_at(e, next);
    }
    f->flagged.n = 0;
}
