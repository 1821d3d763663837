/* Runs tests/golden/loop: a graph, the plan it must be lowered to, and the decisions in words. JITNEY_ACCEPT=1 rewrites the expectations; review
 * the diff. What plans compute is the business of lower_fuzz_test.c; here it is what they look like, and what is refused. */
#include "graph/plan.h"
#include "tests/unit/test.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *
read_file(struct jy_arena *arena, const char *path)
{
    struct jy_text text = { 0 };
    char block[4096];
    FILE *f = fopen(path, "r");
    for (size_t n; f != NULL && (n = fread(block, 1, sizeof block, f)) > 0;)
        jy_text_put(&text, block, n);
    if (f != NULL)
        fclose(f);
    char *copy = jy_arena_strdup(arena, text.at == NULL ? "" : text.at);
    jy_text_free(&text);
    return copy;
}

static struct jy_plan *
lower_text(struct jy_arena *arena, const char *text, const char **why)
{
    struct jy_plan *plan = NULL;
    struct jy_graph *g = jy_graph_parse(arena, text, why);
    if (g == NULL || (*why = jy_graph_verify(g)) != NULL)
        return NULL;
    return jy_lower(&plan, why, arena, g, NULL) == JY_OK && (*why = jy_plan_verify(plan)) == NULL ? plan : NULL;
}

static void
check_golden(const char *path)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_text produced = { 0 };
    const char *why = NULL;
    char *text = read_file(arena, path), *graph = strstr(text, "--- graph\n"), *plan_text = strstr(text, "--- plan\n");
    if (CHECK(graph != NULL)) {
        size_t head = plan_text == NULL ? strlen(text) : (size_t)(plan_text - text);
        graph = jy_arena_strdup(arena, graph + strlen("--- graph\n"));
        if (plan_text != NULL)
            *strstr(graph, "--- plan\n") = '\0';
        struct jy_plan *plan = lower_text(arena, graph, &why);
        if (plan == NULL)
            printf("\n    %s: %s", path, why);
        if (CHECK(plan != NULL)) {
            jy_text_put(&produced, text, head);
            jy_text_add(&produced, "--- plan\n");
            jy_plan_print(&produced, plan);
            jy_text_add(&produced, "--- notes\n%s", plan->p_notes.at == NULL ? "" : plan->p_notes.at);
            if (getenv("JITNEY_ACCEPT") != NULL) {
                FILE *f = fopen(path, "w");
                if (CHECK(f != NULL)) {
                    fwrite(produced.at, 1, produced.n, f);
                    fclose(f);
                }
            } else {
                CHECK_STR(produced.at, text);
            }
        }
    }
    jy_text_free(&produced);
    jy_arena_free(arena);
}

static int
is_text(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && strcmp(entry->d_name + n - 4, ".txt") == 0;
}

TEST(lower, goldens)
{
    struct dirent **entries = NULL;
    int n = scandir(JITNEY_GOLDEN_DIR "/loop", &entries, is_text, alphasort);
    CHECK(n >= 9);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/loop/%s", JITNEY_GOLDEN_DIR, entries[i]->d_name);
        check_golden(path);
        free(entries[i]);
    }
    free(entries);
}

static void
check_refused(const char *text, const char *reason)
{
    struct jy_arena *arena = jy_arena_new();
    const char *why = NULL;
    CHECK(lower_text(arena, text, &why) == NULL);
    CHECK_STR(why, reason);
    jy_arena_free(arena);
}

TEST(lower, refuses_powers_that_numpy_computes_as_its_iterator_decides)
{
    check_refused("graph f (s0=5, s1=3 of 0.1) :\n"
                  "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"
                  "  %1 = placeholder[1] : float64[s1] layout(0; contiguous)\n"
                  "  %2 = power(%0, %1) : float64[s0,s1]\n"
                  "  output (%2)\n",
                  "power with an exponent array that is broadcast");
    check_refused("graph f (s0=5) :\n"
                  "  %0 = placeholder[0] : int64[s0] layout(0; contiguous)\n"
                  "  %1 = power(%0, %0) : int64[s0]\n"
                  "  output (%1)\n",
                  "power of integers whose exponent may be negative");
}

static struct jy_plan *
plan_of(struct jy_arena *arena, const char *text)
{
    const char *why = NULL;
    struct jy_plan *plan = lower_text(arena, text, &why);
    if (plan == NULL)
        printf("\n    %s", why == NULL ? "no reason" : why);
    return plan;
}

TEST(lower, keeps_dead_operations_that_may_flag)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_plan *plan = plan_of(arena, "graph f (s0=5) :\n"
                                          "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"
                                          "  %1 = sqrt(%0) : float64[s0]\n"
                                          "  %2 = isnan(%0) : bool[s0]\n"
                                          "  output ()\n");
    if (CHECK(plan != NULL)) {
        CHECK_UINT(plan->p_flag_nodes, 1);
        CHECK_UINT(plan->p_flag_node, 1);
        CHECK_UINT(plan->p_steps.n, 1);
        CHECK_UINT(plan->p_buffers.n, 2); /* the dead root is stored; what cannot flag is gone */
    }
    jy_arena_free(arena);
}

TEST(lower, names_every_write_to_older_memory)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_plan *plan = plan_of(arena, "graph f (s0=5) :\n"
                                          "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"
                                          "  %1 = constant[1.0] : float64\n"
                                          "  %2 = full(%1) : float64[s0]\n"
                                          "  %3 = store(%2, %0) : float64[s0]\n"
                                          "  %4 = store(%0, %1) : float64[s0]\n"
                                          "  output (%3)\n");
    if (CHECK(plan != NULL) && CHECK_UINT(plan->p_writes.n, 1)) {
        CHECK_UINT(plan->p_writes.at[0].node, 4);
        CHECK_UINT(plan->p_writes.at[0].buffer, plan->p_inputs.at[0].index);
        CHECK(!plan->p_outputs.at[0].is_view);
    }
    jy_arena_free(arena);
}
