/* What LLVM complains about comes back as text: errors, fatal errors, malformed IR; and texts of modules. */
#include "backend_llvm/emit.h"
#include "tests/unit/backend_llvm/harness.h"
#include <stdlib.h>

/* A fatal error leaves LLVM in the middle of what it did: what that held is lost. */
#if defined __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define LOSES_MEMORY(statement) (__lsan_disable(), (statement), __lsan_enable())
#else
#define LOSES_MEMORY(statement) (statement)
#endif

struct broken {
    LLVMContextRef context;
    LLVMModuleRef module;
};

static void
begin(struct broken *b)
{
    b->context = LLVMContextCreate();
    jy_session_lock();
    jy_diagnostics_install(b->context);
    jy_diagnostics_reset();
    b->module = LLVMModuleCreateWithNameInContext("broken", b->context);
}

static void
end(struct broken *b)
{
    jy_diagnostics_reset();
    jy_session_unlock();
    LLVMDisposeModule(b->module);
    LLVMContextDispose(b->context);
}

/* Gives 1 and never comes to its end. */
static bool
stumbles(struct broken *b)
{
    if (setjmp(*jy_diagnostics_guard()) != 0)
        return true;
    LLVMSetDataLayout(b->module, "this is no layout");
    return false;
}

TEST(diagnostics, fatal_errors_jump_back_with_their_text)
{
    struct broken b;
    bool stumbled = false;
    begin(&b);
    CHECK_STR(jy_diagnostics_error(), NULL);
    LOSES_MEMORY(stumbled = stumbles(&b));
    CHECK(stumbled);
    if (CHECK(jy_diagnostics_error() != NULL))
        CHECK(jy_diagnostics_error()[0] != '\0');
    jy_diagnostics_reset();
    CHECK_STR(jy_diagnostics_error(), NULL);
    end(&b);
}

/* An error diagnostic that does not stop LLVM: assembly that no assembler knows. The first one is kept. */
TEST(diagnostics, errors_are_remembered)
{
    static const char code[] = "frobnicate %eax\nanother_one\n";
    LLVMMemoryBufferRef buffer = NULL;
    struct broken b;
    const char *why = NULL;
    char *message = NULL;
    begin(&b);
    const struct jy_target *t = jy_session_target(NULL, &why);
    LLVMSetTarget(b.module, t->triple);
    LLVMSetModuleDataLayout(b.module, t->layout);
    LLVMSetModuleInlineAsm2(b.module, code, sizeof code - 1);
    if (LLVMTargetMachineEmitToMemoryBuffer(t->machine, b.module, LLVMObjectFile, &message, &buffer) == 0)
        LLVMDisposeMemoryBuffer(buffer);
    else
        LLVMDisposeMessage(message);
    if (CHECK(jy_diagnostics_error() != NULL)) {
        CHECK(strstr(jy_diagnostics_error(), "frobnicate") != NULL);
        CHECK(strstr(jy_diagnostics_error(), "another_one") == NULL);
    }
    end(&b);
}

TEST(diagnostics, the_verifier_says_what_is_malformed)
{
    struct broken b;
    begin(&b);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(b.context);
    LLVMValueRef f = LLVMAddFunction(b.module, "f", LLVMFunctionType(i32, NULL, 0, false));
    CHECK_STR(jy_diagnostics_verify(b.module), NULL);
    LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(b.context, f, "unfinished");
    char *message = jy_diagnostics_verify(b.module);
    if (CHECK(message != NULL))
        CHECK(strstr(message, "unfinished") != NULL);
    LLVMDisposeMessage(message);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(b.context);
    LLVMPositionBuilderAtEnd(builder, block);
    LLVMBuildRet(builder, LLVMConstInt(i32, 7, false));
    LLVMDisposeBuilder(builder);
    CHECK_STR(jy_diagnostics_verify(b.module), NULL);
    end(&b);
}

/* Code generation changes a module: the assembly is that of a copy. */
TEST(diagnostics, texts_leave_the_module_as_it_was)
{
    struct broken b;
    const char *why = NULL;
    begin(&b);
    const struct jy_target *t = jy_session_target(NULL, &why);
    LLVMSetTarget(b.module, t->triple);
    LLVMSetModuleDataLayout(b.module, t->layout);
    LLVMTypeRef f64 = LLVMDoubleTypeInContext(b.context);
    LLVMValueRef f = LLVMAddFunction(b.module, "answer", LLVMFunctionType(f64, NULL, 0, false));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(b.context);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(b.context, f, "entry"));
    LLVMBuildRet(builder, LLVMConstReal(f64, 42.5));
    LLVMDisposeBuilder(builder);
    char *ir = jy_diagnostics_ir(b.module), *code = jy_diagnostics_asm(b.module, t),
         *again = jy_diagnostics_ir(b.module);
    CHECK(strstr(ir, "define double @answer()") != NULL && strstr(ir, "ret double 4.25") != NULL);
    CHECK(code != NULL && strstr(code, "answer:") != NULL);
    CHECK_STR(again, ir);
    free(ir);
    free(code);
    free(again);
    end(&b);
}

/* A machine without 64-bit code, in the middle of a compilation: a reason, and the next compilation is as good as ever. */
TEST(diagnostics, a_compilation_that_llvm_gives_up_is_refused)
{
    struct jy_backend_options options = { .features = "-64bit", .name = "mine" };
    struct jy_object out;
    struct trial t;
    jy_status status = JY_OK;
    if (strstr(jy_backend_entry()->host_features(), "64bit") == NULL)
        return; /* no x86 */
    if (!trial_parse(
            &t, "plan f () :\n  scalar q0 = float64 npscalar\n  kernel 0:\n    %0 = const float64 7.5\n    set q0 = "
                "%0\n  step kernel 0\n"))
        return;
    LOSES_MEMORY(status = jy_backend_entry()->compile(&out, &t.plan, &options));
    CHECK_INT(status, JY_BREAK);
    if (CHECK(out.error != NULL))
        CHECK(strncmp(out.error, "mine: LLVM: 64-bit code requested", 33) == 0);
    CHECK_PTR(out.bytes, NULL);
    jy_backend_entry()->release(&out);
    if (CHECK(trial_compile(&t, LEVEL_HOST))) {
        union jy_scalar slot[1];
        trial_run(&t, &(struct jy_call){ .scalar = slot });
        CHECK_F64BITS(slot[0].d, 7.5);
    }
    trial_end(&t);
}
