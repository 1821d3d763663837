/* The fuzzer of lowering (tests/unit/graph/lower_fuzz_test.c) with machine code in the place of the slow
 * interpreter: random graphs, lowered, compiled and run, against the interpreter of graphs. JITNEY_FUZZ_SEED and
 * JITNEY_FUZZ_COUNT as there. The kernels of a plan take the feature levels in turn. */
#include "tests/unit/backend_llvm/harness.h"
#include <stdio.h>

static int32_t
run_compiled(const struct jy_plan *plan, size_t k, struct jy_call *call)
{
    static unsigned turn;
    struct trial t = { .why = NULL };
    enum level level = (enum level)(turn++ % LEVELS);
    struct jy_backend_options options = { .features = level_features(level_runs(level) ? level : LEVEL_PLAIN),
                                          .verify = true,
                                          .name = "fuzz" };
    char name[32];
    int32_t status = -1;

    if (jy_backend_entry()->compile(&t.object, plan, &options) != JY_OK)
        printf("\n    %s", t.object.error);
    else if (jy_loader_place(&t.code, t.object.bytes, t.object.size, &t.why) != JY_OK)
        printf("\n    %s", t.why);
    else {
        snprintf(name, sizeof name, "jy_kernel_%zu", k);
        void *at = jy_loader_symbol(t.code, name);
        memcpy(&t.kernel, &at, sizeof at);
        call->helper = trial_helpers();
        status = t.kernel(call);
    }
    trial_unload(&t);
    return status;
}

#define FUZZ_COUNT 250
#define FUZZ_VECTORS false /* there is no vector function for the driver's operations */
#define jy_loop_eval run_compiled
#include "tests/unit/graph/lower_fuzz_test.c"
