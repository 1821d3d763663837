/* What the pass does is in tests/golden/graph/viewfold.txt; here: doing it again changes nothing. */
#include "graph/pass_internal.h"
#include "graph_text.h"

TEST(pass_viewfold, a_second_run_changes_nothing)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, VECTORS "  %2 = view[1+j0](%0) : float64[(s0-1)]\n"
                                                    "  %3 = view[1+j0](%2) : float64[(s0-2)]\n"
                                                    "  %4 = view[2+j0](%0) : float64[(s0-2)]\n"
                                                    "  %5 = negative(%3) : float64[(s0-2)]\n"
                                                    "  %6 = negative(%4) : float64[(s0-2)]\n"
                                                    "  %7 = isnan(%5) : bool[(s0-2)]\n"
                                                    "  %8 = add(%6, %6) : float64[(s0-2)]\n"
                                                    "  output (%8)\n");
    jy_pass_viewfold(g);
    jy_pass_viewfold(g);
    CHECK_PTR(jy_graph_verify(g), NULL);
    struct jy_text once = { 0 };
    jy_graph_print(&once, g);
    CHECK_UINT(g->g_nodes.n, 9);
    jy_pass_viewfold(g);
    check_graph_text(g, once.at);
    jy_text_free(&once);
    jy_arena_free(arena);
}
