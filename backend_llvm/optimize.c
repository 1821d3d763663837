/* The pass pipeline. It is empty: the emitters make what the vectoriser, unroller and loop-invariant motion would
 * make, and every pass measured on their output cost compile time and gained nothing (reorderings that are legal for
 * LLVM but not for flags do not arise either). `ir_opt` therefore equals `ir` for the kernels of array expressions. */
#include "session.h"
#include <llvm-c/Transforms/PassBuilder.h>

static const char pipeline[] = "";

char *
jy_optimize_run(LLVMModuleRef module, const struct jy_target *target)
{
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
