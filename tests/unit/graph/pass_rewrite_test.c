#include "graph/pass_internal.h"
#include "graph_text.h"

TEST(pass_rewrite, replacements_and_drops_renumber_operands_storages_and_outputs)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, VECTORS "  %2 = exp(%0) : float64[s0]\n"
                                                    "  %3 = exp(%0) : float64[s0]\n"
                                                    "  %4 = view[1+j0](%3) : float64[(s0-1)]\n"
                                                    "  output (%4, %3)\n");
    struct jy_rewrite rewrite = jy_rewrite_new(g);
    jy_rewrite_replace(&rewrite, 3, 2);
    jy_rewrite_operands(g, &rewrite, 4);
    CHECK_UINT(jy_graph_at(g, 4)->n_args[0], 2);
    rewrite.drop[1] = 1;
    jy_rewrite_finish(g, &rewrite);
    CHECK_PTR(jy_graph_verify(g), NULL);
    check_graph_text(g, "graph f (s0=10) :\n"
                        "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"
                        "  %1 = exp(%0) : float64[s0]\n"
                        "  %2 = view[1+j0](%1) : float64[(s0-1)]\n"
                        "  output (%2, %1)\n");
    jy_arena_free(arena);
}

TEST(pass_rewrite, storages_know_who_writes_and_who_sees)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, VECTORS "  %2 = exp(%0) : float64[s0]\n"
                                                    "  %3 = view[1+j0](%2) : float64[(s0-1)]\n"
                                                    "  %4 = store(%0, %1) : float64[s0]\n"
                                                    "  %5 = sqrt(%1) : float64[s0]\n"
                                                    "  %6 = callout[0, 0](%5) : pyint\n"
                                                    "  output (%3)\n");
    struct jy_storages storages;
    jy_storages_fill(&storages, g);
    CHECK(storages.written[0] && !storages.visible[0]);
    CHECK(!storages.written[1] && !storages.visible[1]);
    CHECK(!storages.written[2] && storages.visible[2]);
    CHECK(storages.written[5] && storages.visible[5]);
    CHECK(jy_storages_is_value(&storages, jy_graph_at(g, 1)) && !jy_storages_is_value(&storages, jy_graph_at(g, 3)));
    jy_arena_free(arena);
}
