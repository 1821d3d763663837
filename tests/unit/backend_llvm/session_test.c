/* The target machine that is kept: for which features it is made, what the emitters decide by, when another one is made. */
#include "backend_llvm/session.h"
#include "tests/unit/backend_llvm/harness.h"
#include <stdio.h>
#include <stdlib.h>

static struct jy_target
target_for(const char *features)
{
    const char *why = NULL;
    jy_session_lock();
    const struct jy_target *t = jy_session_target(features, &why);
    struct jy_target copy = { .machine = NULL };
    if (CHECK(t != NULL))
        copy = *t;
    CHECK_STR(why, NULL);
    jy_session_unlock();
    return copy;
}

/* The feature string decides, its last word on each feature. */
TEST(session, features_decide_how_wide_vectors_are)
{
    static const struct {
        const char *features;
        unsigned bits;
        bool masks;
    } cases[] = {
        { "", 128, false },
        { "+sse4.2", 128, false },
        { "+avx2", 256, false },
        { "+avx2,-avx2", 128, false },
        { "-avx2,+avx2", 256, false },
        { "-avx2", 128, false },
        { "+avx", 128, false },
        { "+avx512f,+avx512vl,+avx512bw,+avx512dq", 512, true },
        { "+avx512vl,+avx512bw,+avx512dq,-avx512bw", 128, false },
        { "+avx2,+avx512vl,+avx512bw", 256, false },
        { "+avx2,+avx512vl,+avx512dq", 256, false },
        { "+avx2,+avx512bw,+avx512dq", 256, false },
    };
    if (strncmp(target_for("").triple, "x86_64", 6) != 0)
        return;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct jy_target t = target_for(cases[k].features);
        if (!CHECK_UINT(t.vector_bits, cases[k].bits) || !CHECK_INT(t.masks, cases[k].masks))
            printf("\n    %s\n", cases[k].features);
    }
}

TEST(session, a_machine_is_kept_until_others_are_asked_for)
{
    struct jy_target first = target_for("+avx2"), again = target_for("+avx2");
    CHECK_PTR(again.machine, first.machine);
    CHECK_PTR(again.features, first.features);
    struct jy_target host = target_for(NULL);
    CHECK_STR(host.features, jy_session_host_features());
    CHECK_STR(host.cpu, jy_session_host_cpu());
    CHECK_PTR(target_for(NULL).machine, host.machine);
    CHECK_STR(target_for("").features, "");
}

/* Names of CPUs promise more than features that are masked: the host's is for the host's own features. */
TEST(session, other_features_are_those_of_a_plain_cpu)
{
    struct jy_target t = target_for("+avx2");
    CHECK_STR(t.cpu, strncmp(t.triple, "x86_64", 6) == 0 ? "x86-64" : "generic");
}

/* The host's strings are asked for once. */
TEST(session, the_host_is_described_once)
{
    const char *features = jy_session_host_features();
    CHECK_PTR(jy_session_host_features(), features);
    CHECK_PTR(jy_session_host_cpu(), jy_session_host_cpu());
    CHECK(features[0] == '+' || features[0] == '-');
    CHECK_PTR(jy_backend_entry()->host_features(), features);
}

/* After a fatal error nothing of the kept machine is touched again, and the next compilation has a new one. */
TEST(session, what_is_forgotten_is_not_used_again)
{
    struct jy_target old = target_for("+avx2");
    jy_session_lock();
    jy_session_forget();
    jy_session_unlock();
    struct jy_target made = target_for("+avx2");
    CHECK(made.machine != old.machine && made.features != old.features);
    LLVMDisposeTargetData(old.layout); /* alive still */
    LLVMDisposeTargetMachine(old.machine);
    LLVMDisposeMessage(old.triple);
    free(old.cpu);
    free(old.features);
}
