/* The target machine: made at the first compilation for the host's features, kept for the next ones.
 *
 * The feature string decides, not the CPU's name: names are masked in virtual machines and promise features that the
 * OS has turned off. The name is passed for the host only, where it selects scheduling models. Loop strength
 * reduction is off for the whole process: it takes up to two thirds of code generation and gains nothing where the
 * emitters already make pointer and index form. Sums of floats may be vectorised in order, which LLVM does on some
 * architectures only unless asked: emit_flow_mark.c says which. */
#include "session.h"
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The one mutable object of this library; guarded by `lock`. */
static struct {
    pthread_mutex_t lock;
    bool initialized;
    struct jy_target target;
    char *host_cpu, *host_features;
} session = { .lock = PTHREAD_MUTEX_INITIALIZER };

void
jy_session_lock(void)
{
    pthread_mutex_lock(&session.lock);
}

void
jy_session_unlock(void)
{
    pthread_mutex_unlock(&session.lock);
}

const char *
jy_session_host_features(void)
{
    if (session.host_features == NULL)
        session.host_features = LLVMGetHostCPUFeatures();
    return session.host_features;
}

const char *
jy_session_host_cpu(void)
{
    if (session.host_cpu == NULL)
        session.host_cpu = LLVMGetHostCPUName();
    return session.host_cpu;
}

static void
initialize(void)
{
    static const char *const options[] = { "jitney", "-disable-lsr", "-force-ordered-reductions" };
    if (session.initialized)
        return;
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, "jitney");
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
    session.initialized = true;
}

/* The last mention of `name` in "+a,-b,..." wins, as in LLVM. */
static bool
has_feature(const char *features, const char *name)
{
    bool has = false;
    size_t n = strlen(name);
    for (const char *at = features; at != NULL && *at != '\0'; at = strchr(at, ',')) {
        at += *at == ',';
        if ((*at == '+' || *at == '-') && strncmp(at + 1, name, n) == 0 && (at[n + 1] == ',' || at[n + 1] == '\0'))
            has = *at == '+';
    }
    return has;
}

static void
fill_vector_facts(struct jy_target *t)
{
    bool x86 = strncmp(t->triple, "x86_64", 6) == 0;
    t->masks = x86 && has_feature(t->features, "avx512vl") && has_feature(t->features, "avx512bw") &&
               has_feature(t->features, "avx512dq");
    t->vector_bits = t->masks ? 512 : x86 && has_feature(t->features, "avx2") ? 256 : 128;
}

static void
dispose(struct jy_target *t)
{
    if (t->layout != NULL)
        LLVMDisposeTargetData(t->layout);
    if (t->machine != NULL)
        LLVMDisposeTargetMachine(t->machine);
    LLVMDisposeMessage(t->triple);
    free(t->cpu);
    free(t->features);
    memset(t, 0, sizeof *t);
}

void
jy_session_forget(void)
{
    memset(&session.target, 0, sizeof session.target);
}

/* The name of a CPU that promises nothing beyond the architecture. */
static const char *
plain_cpu(const char *triple)
{
    return strncmp(triple, "x86_64", 6) == 0 ? "x86-64" : "generic";
}

const struct jy_target *
jy_session_target(const char *features, const char **why)
{
    struct jy_target *t = &session.target;
    bool host = features == NULL;
    LLVMTargetRef target;
    char *error = NULL;

    initialize();
    features = host ? jy_session_host_features() : features;
    if (t->machine != NULL && strcmp(t->features, features) == 0)
        return t;
    dispose(t);
    t->triple = LLVMGetDefaultTargetTriple();
    t->cpu = strdup(host ? jy_session_host_cpu() : plain_cpu(t->triple));
    t->features = strdup(features);
    if (t->cpu == NULL || t->features == NULL) {
        *why = "no memory for a target machine";
        return NULL;
    }
    if (LLVMGetTargetFromTriple(t->triple, &target, &error) != 0) {
        LLVMDisposeMessage(error);
        *why = "LLVM was built without this machine's target";
        return NULL;
    }
    t->machine = LLVMCreateTargetMachine(target, t->triple, t->cpu, t->features, LLVMCodeGenLevelLess, LLVMRelocPIC,
                                         LLVMCodeModelSmall);
    if (t->machine == NULL) {
        *why = "LLVM has no target machine for this CPU";
        return NULL;
    }
    t->layout = LLVMCreateTargetDataLayout(t->machine);
    fill_vector_facts(t);
    return t;
}
