/* Random flows (tests/unit/graph/flow_random.h) as machine code leave where the interpreter leaves, with the same values, memory and calls. Failures print the seed and the flow.
 *
 * JITNEY_FUZZ_SEED and JITNEY_FUZZ_COUNT choose other flows than the fixed few of the suite. */
#include "tests/unit/backend_llvm/flow_harness.h"
#include "tests/unit/graph/flow_random.h"

enum { WORLDS = 6 };

static unsigned long
from_environment(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoul(text, NULL, 10);
}

static int32_t
by_code(void *how, const struct jy_flow *w, struct jy_flow_call *call)
{
    return flow_run(how, w, call);
}

static const char *
check_level(struct flow_random *g, enum level level)
{
    static struct flow_outcome a, b;
    struct flow_code c;
    const char *why = NULL;
    if (g->seed % 2 == 0) { /* loops without checks are those that vectorise */
        jy_flow_simplify(g->flow);
        jy_flow_hoist(g->flow);
    }
    if (!flow_load(&c, g->flow, level))
        why = jy_arena_strdup(g->arena, c.why);
    for (unsigned k = 0; k < WORLDS && why == NULL; k++) {
        flow_random_run(&a, g, g->flow, k, flow_by_eval, NULL);
        flow_random_run(&b, g, g->flow, k, by_code, &c);
        why = flow_outcomes_differ(g, &a, &b);
        if (why != NULL)
            why = jy_arena_printf(g->arena, "level %d, world %u: %s", (int)level, k, why);
    }
    flow_unload(&c);
    return why;
}

/* Each level gets flows of its own: one compilation takes ten times as long as all runs. */
static void
check_many(enum level level)
{
    unsigned long first = from_environment("JITNEY_FUZZ_SEED", 1 + 1000 * (unsigned long)level),
                  count = from_environment("JITNEY_FUZZ_COUNT", 40);
    for (unsigned long seed = first; level_runs(level) && seed < first + count; seed++) {
        struct flow_random g;
        flow_random_build(&g, seed);
        const char *why = check_level(&g, level);
        if (why != NULL) {
            struct jy_text text = { 0 };
            jy_flow_print(&text, g.flow);
            printf("seed %lu: %s\n%s\n", seed, why, text.at);
            jy_text_free(&text);
        }
        bool good = CHECK(why == NULL);
        flow_random_free(&g);
        if (!good)
            return;
    }
}

TEST(flow_fuzz, host)
{
    check_many(LEVEL_HOST);
}

TEST(flow_fuzz, avx2)
{
    check_many(LEVEL_AVX2);
}

TEST(flow_fuzz, plain)
{
    check_many(LEVEL_PLAIN);
}
