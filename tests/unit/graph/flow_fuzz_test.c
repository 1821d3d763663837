/* Random flows (flow_random.h): their text, read back, is the same flow; the passes change neither where a flow ends nor with what. Failures print the seed and the flow.
 *
 * JITNEY_FUZZ_SEED and JITNEY_FUZZ_COUNT choose other flows than the fixed few of the suite. */
#include "tests/unit/graph/flow_random.h"
#include "tests/unit/test.h"

#ifndef FUZZ_COUNT /* flows of one run */
#define FUZZ_COUNT 400
#endif
enum { WORLDS = 6 };

typedef const char *(*checker)(struct flow_random *g);

static unsigned long
from_environment(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoul(text, NULL, 10);
}

static void
check_many(checker check)
{
    unsigned long first = from_environment("JITNEY_FUZZ_SEED", 1),
                  count = from_environment("JITNEY_FUZZ_COUNT", FUZZ_COUNT);
    for (unsigned long seed = first; seed < first + count; seed++) {
        struct flow_random g;
        flow_random_build(&g, seed);
        struct jy_text original = { 0 };
        jy_flow_print(&original, g.flow);
        const char *why = jy_flow_verify(g.flow);
        why = why != NULL ? why : check(&g);
        if (why != NULL) {
            struct jy_text text = { 0 };
            jy_flow_print(&text, g.flow);
            printf("seed %lu: %s\n%s\nwas\n%s\n", seed, why, text.at, original.at);
            jy_text_free(&text);
        }
        bool good = CHECK(why == NULL);
        jy_text_free(&original);
        flow_random_free(&g);
        if (!good)
            return;
    }
}

/* The outcomes in every world before something is done with the flow, and whether they are the same afterwards. */
static struct flow_outcome before[WORLDS];

static void
remember(struct flow_random *g)
{
    for (unsigned k = 0; k < WORLDS; k++)
        flow_random_run(&before[k], g, g->flow, k, flow_by_eval, NULL);
}

static const char *
compare(struct flow_random *g, const struct jy_flow *w)
{
    static struct flow_outcome now;
    const char *why = jy_flow_verify(w);
    for (unsigned k = 0; k < WORLDS && why == NULL; k++) {
        flow_random_run(&now, g, w, k, flow_by_eval, NULL);
        why = flow_outcomes_differ(g, &before[k], &now);
        if (why != NULL)
            why = jy_arena_printf(g->arena, "world %u: %s", k, why);
    }
    return why;
}

/* The flow that its text is, or NULL and why not. */
static struct jy_flow *
read_again(struct flow_random *g, const char **why)
{
    struct jy_text text = { 0 }, again = { 0 };
    jy_flow_print(&text, g->flow);
    struct jy_flow *w = jy_flow_parse(g->arena, text.at, why);
    if (w != NULL) {
        jy_flow_print(&again, w);
        if (strcmp(text.at, again.at) != 0)
            *why = "another text";
    }
    jy_text_free(&text);
    jy_text_free(&again);
    return w;
}

static const char *
check_text(struct flow_random *g)
{
    const char *why = NULL;
    struct jy_flow *w = read_again(g, &why);
    remember(g);
    return why != NULL ? why : compare(g, w);
}

static const char *
check_simplify(struct flow_random *g)
{
    const char *why = NULL;
    remember(g);
    jy_flow_simplify(g->flow);
    struct jy_flow *w = read_again(g, &why);
    return why != NULL ? why : compare(g, w);
}

/* Fast copies look less often whether there is something to do. */
static const char *
check_hoist(struct flow_random *g)
{
    const char *why = NULL;
    g->watch = FLOW_WATCH_NEVER;
    remember(g);
    jy_flow_simplify(g->flow);
    jy_flow_hoist(g->flow);
    struct jy_flow *w = read_again(g, &why);
    return why != NULL ? why : compare(g, w);
}

/* Polls of this copy let some of them pass by. */
static struct jy_flow *
with_deaf_polls(struct flow_random *g)
{
    size_t n;
    const char *why = NULL;
    struct jy_flow *w = read_again(g, &why);
    for (size_t i = 0; w != NULL && i < w->w_values.n; i++)
        if (w->w_values.at[i].f_op == JY_FLOW_POLL) {
            w->w_values.at[i].f_op = JY_FLOW_CALL;
            w->w_values.at[i].f_index = jy_flow_helper_add(w, &flow_helpers(&n)[5]);
        }
    return why == NULL ? w : NULL;
}

/* Where a fast copy is left because there is something to do, the original flow would have been left, too, had it looked no sooner. */
static const char *
check_polls(struct flow_random *g)
{
    static struct flow_outcome now, then;
    struct jy_flow *deaf = with_deaf_polls(g);
    const char *why = deaf == NULL ? "no copy" : NULL;
    g->watch = FLOW_WATCH_ALWAYS;
    jy_flow_simplify(g->flow);
    jy_flow_hoist(g->flow);
    for (unsigned k = 0; k < 3 && why == NULL; k++) {
        flow_random_run(&now, g, g->flow, k, flow_by_eval, NULL);
        g->deaf = SIZE_MAX;
        flow_random_run(&then, g, deaf, k, flow_by_eval, NULL);
        size_t n = then.world.npolls;
        why = flow_outcomes_differ(g, &then, &now);
        for (g->deaf = 0; why != NULL && g->deaf < n; g->deaf++) {
            flow_random_run(&then, g, deaf, k, flow_by_eval, NULL);
            why = flow_outcomes_differ(g, &then, &now) == NULL ? NULL : why;
        }
        if (why != NULL)
            why =
                jy_arena_printf(g->arena, "world %u, left at %u where none of %zu polls is: %s", k, now.offset, n, why);
    }
    return why;
}

TEST(flow_fuzz, text_is_the_flow)
{
    check_many(check_text);
}

TEST(flow_fuzz, simplifying_changes_no_outcome)
{
    check_many(check_simplify);
}

TEST(flow_fuzz, hoisting_changes_no_outcome)
{
    check_many(check_hoist);
}

TEST(flow_fuzz, polls_between_chunks_are_polls_of_the_program)
{
    check_many(check_polls);
}
