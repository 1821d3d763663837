/* Errors of LLVM come back as text: a fatal error jumps to the guard that `compile` has set, an error diagnostic is
 * remembered.
 *
 * LLVM ends the process after a fatal error whose handler returns; jumping out leaks what it held, which is why the
 * session then forgets its target machine. The verifier and the dumps live here too. */
#include "session.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/ErrorHandling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Guarded by the session's lock. */
static struct {
    jmp_buf guard;
    bool armed, failed;
    char text[400];
} last;

static void
remember(const char *text)
{
    if (!last.failed)
        snprintf(last.text, sizeof last.text, "%s", text);
    last.failed = true;
}

static void
on_fatal(const char *reason)
{
    remember(reason);
    if (last.armed)
        longjmp(last.guard, 1);
}

static void
on_diagnostic(LLVMDiagnosticInfoRef info, void *unused)
{
    (void)unused;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    remember(text);
    LLVMDisposeMessage(text);
}

jmp_buf *
jy_diagnostics_guard(void)
{
    last.armed = true;
    return &last.guard;
}

void
jy_diagnostics_install(LLVMContextRef context)
{
    LLVMResetFatalErrorHandler();
    LLVMInstallFatalErrorHandler(on_fatal);
    LLVMContextSetDiagnosticHandler(context, on_diagnostic, NULL);
}

void
jy_diagnostics_reset(void)
{
    last.armed = last.failed = false;
    last.text[0] = '\0';
}

const char *
jy_diagnostics_error(void)
{
    return last.failed ? last.text : NULL;
}

char *
jy_diagnostics_verify(LLVMModuleRef module)
{
    char *message = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message) != 0)
        return message;
    LLVMDisposeMessage(message);
    return NULL;
}

/* LLVM's own string is freed by LLVM's function only; what leaves the backend is plain heap memory. */
char *
jy_diagnostics_ir(LLVMModuleRef module)
{
    LLVMModuleRef plain = LLVMCloneModule(module); /* without what asm_lines.c has added: the text says it by itself */
    LLVMStripModuleDebugInfo(plain);
    char *text = LLVMPrintModuleToString(plain);
    char *copy = strdup(text);
    LLVMDisposeMessage(text);
    LLVMDisposeModule(plain);
    return copy;
}

char *
jy_diagnostics_asm(LLVMModuleRef module, const struct jy_target *target)
{
    LLVMModuleRef copy = LLVMCloneModule(module);
    LLVMMemoryBufferRef buffer = NULL;
    char *error = NULL, *text = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(target->machine, copy, LLVMAssemblyFile, &error, &buffer) == 0) {
        text = strndup(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
        LLVMDisposeMemoryBuffer(buffer);
        if (text != NULL)
            jy_lines_tidy(text);
    } else {
        LLVMDisposeMessage(error);
    }
    LLVMDisposeModule(copy);
    return text;
}
