/* The pass pipelines.
 *
 * Kernels of array expressions: none. The emitters make what the vectoriser, unroller and loop-invariant motion would
 * make, and every pass measured on their output cost compile time and gained nothing (reorderings that are legal for
 * LLVM but not for flags do not arise either). `ir_opt` therefore equals `ir` for them.
 *
 * Flows: what scalar code with checks in its loops needs. */
#include "session.h"
#include <llvm-c/Transforms/PassBuilder.h>

static const char kernels[] = "";
static const char flows[] =
    "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-rotate,licm,simple-loop-unswitch<nontrivial>),simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop(indvars,loop-deletion),gvn,correlated-propagation,loop-vectorize,loop-unroll<O3;runtime>,"
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm))";

char *
jy_optimize_run(LLVMModuleRef module, const struct jy_target *target, bool is_flow)
{
    const char *pipeline = is_flow ? flows : kernels;
    char *message = NULL;
    if (pipeline[0] == '\0')
        return NULL;
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
