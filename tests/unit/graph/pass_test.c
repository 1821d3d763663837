#include "graph/pass.h"
#include "graph_text.h"
#include <string.h>

struct seen {
    char letters[16];
    size_t n;
};

static void
note(void *context, const char *pass, char letter, const struct jy_graph *graph, double us)
{
    struct seen *seen = context;
    CHECK(strlen(pass) > 0 && graph->g_nodes.n > 0 && us >= 0);
    seen->letters[seen->n++] = letter;
}

TEST(pass, rows_run_in_order_and_can_be_left_out)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, VECTORS "  output (%0)\n");
    struct seen seen = { 0 };
    struct jy_pass_options options = { .verify = true, .after = note, .context = &seen };
    const char *why = NULL;
    CHECK_INT(jy_passes_run(g, &options, &why), JY_OK);
    CHECK_STR(seen.letters, "fvcd");
    seen = (struct seen){ 0 };
    options.disabled = 1 << 1 | 1 << 3;
    CHECK_INT(jy_passes_run(g, &options, &why), JY_OK);
    CHECK_STR(seen.letters, "fc");
    jy_arena_free(arena);
}

TEST(pass, letters_are_unique)
{
    for (size_t i = 0; i < jy_pass_count; i++)
        for (size_t k = 0; k < i; k++)
            CHECK(jy_pass_info[i].letter != jy_pass_info[k].letter);
}

TEST(pass, an_unsound_graph_is_refused_with_the_reason)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, VECTORS "  %2 = add(%0, %1) : float64[s0] @4 \"f.py\"\n  output (%2)\n");
    struct jy_pass_options options = { .verify = true };
    const char *why = NULL;
    jy_graph_at(g, 2)->n_dtype = JY_BOOL;
    CHECK_INT(jy_passes_run(g, &options, &why), JY_BREAK);
    CHECK_STR(why, "before the passes: %2 = add (f.py:4): dtype is bool, not float64");
    jy_arena_free(arena);
}
