/* The pass pipelines.
 *
 * Kernels of array expressions: none. The emitters make what the vectoriser, unroller and loop-invariant motion would
 * make, and every pass measured on their output cost compile time and gained nothing (reorderings that are legal for
 * LLVM but not for flags do not arise either). `ir_opt` therefore equals `ir` for them.
 *
 * Flows: what is left to do behind graph/flow_simplify.c and flow_hoist.c. Loops are tested at their end, loads and
 * conditions that do not change leave them, overflow checks of induction variables go, loops without checks vectorise.
 * Measured and left out: gvn and correlated-propagation (a tenth of the time, no speed), non-trivial unswitching (doubles
 * loops that have their fast copy already), a second instcombine, slp-vectorizer. Loops are rotated in brackets of their
 * own, since keeping MemorySSA right meanwhile costs more than bringing loops into their canonical form (a phi per value
 * and exit) once more; all else stands in one pair. Unrolling at run time costs little and is worth a third in short
 * vector loops, peeling up to a tenth. Careful loops are neither vectorised nor unrolled: emit_flow.c marks them.
 * What all ways into a block do last is done in it once (sink-common-insts): an `if` that stores this or that to one place
 * becomes a select, where a branch is mispredicted as often as the data likes.
 * Functions that are put into others (emit_flow_put.c) are so first of all, before anything costs twice.
 * No pass may change the order of float operations, since no instruction allows it but under `fastmath`, or invent calls
 * of the C library (no-builtins). */
#include "session.h"
#include <llvm-c/Transforms/PassBuilder.h>

static const char kernels[] = "";
#define FLOWS                                                                                                          \
    "always-inline,function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg<sink-common-insts>,"                 \
    "loop(loop-rotate),loop-mssa(licm,simple-loop-unswitch,indvars,loop-deletion),early-cse<memssa>,"
#define VECTORS "loop-vectorize"
#define BEHIND "loop-unroll<O3;runtime>,simplifycfg"
static const char flows[] = FLOWS VECTORS "," BEHIND ")";
/* The same in two steps, between which the vectors can be looked at: unrolled loops are none any more. */
static const char up_to_vectors[] = FLOWS VECTORS ")";
static const char behind_vectors[] = "function(" BEHIND ")";

static char *
run(LLVMModuleRef module, const struct jy_target *target, const char *pipeline)
{
    char *message = NULL;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, pipeline, target->machine, options);
    if (error != NULL) {
        char *text = LLVMGetErrorMessage(error);
        message = LLVMCreateMessage(text);
        LLVMDisposeErrorMessage(text);
    }
    LLVMDisposePassBuilderOptions(options);
    return message;
}

char *
jy_optimize_run(LLVMModuleRef module, const struct jy_target *target, bool is_flow)
{
    const char *pipeline = is_flow ? flows : kernels;
    return pipeline[0] == '\0' ? NULL : run(module, target, pipeline);
}

char *
jy_optimize_flow(LLVMModuleRef module, const struct jy_target *target, uint8_t *vectors, size_t n)
{
    char *message = run(module, target, up_to_vectors);
    if (message != NULL)
        return message;
    jy_vectors_find(module, vectors, n);
    return run(module, target, behind_vectors);
}
