#include "graph_text.h"

static void
check_verdict(const char *source, const char *expected)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, source);
    const char *why = g == NULL ? "unread" : jy_graph_verify(g);
    CHECK_STR(why == NULL ? "sound" : why, expected);
    jy_arena_free(arena);
}

TEST(verify, a_superseded_version_is_not_read)
{
    check_verdict(VECTORS "  %2 = store(%0, %1) : float64[s0] @7 \"f.py\"\n"
                          "  %3 = add(%2, %1) : float64[s0] @8\n"
                          "  output (%3)\n",
                  "sound");
    check_verdict(VECTORS "  %2 = store(%0, %1) : float64[s0] @7 \"f.py\"\n"
                          "  %3 = add(%1, %0) : float64[s0] @8\n"
                          "  output (%3)\n",
                  "%3 = add (f.py:8): operand 1, %0, was overwritten by %2");
}

TEST(verify, a_view_of_a_superseded_version_is_not_read)
{
    check_verdict(VECTORS "  %2 = view[1+j0](%0) : float64[(s0-1)]\n"
                          "  %3 = store(%0, %1) : float64[s0]\n"
                          "  %4 = view[1+j0](%3) : float64[(s0-1)]\n"
                          "  %5 = negative(%4) : float64[(s0-1)]\n"
                          "  output (%5, %2)\n",
                  "sound"); /* an output is memory, not a read */
    check_verdict(VECTORS "  %2 = view[1+j0](%0) : float64[(s0-1)]\n"
                          "  %3 = store(%0, %1) : float64[s0]\n"
                          "  %4 = negative(%2) : float64[(s0-1)] @9\n"
                          "  output (%4)\n",
                  "%4 = negative (?:9): operand 0, %2, was overwritten by %3");
    check_verdict(VECTORS "  %2 = store(%0, %1) : float64[s0]\n"
                          "  %3 = store(%0, %1) : float64[s0]\n"
                          "  output ()\n",
                  "%3 = store (?:0): operand 0, %0, was overwritten by %2");
}

TEST(verify, index_maps_stay_inside)
{
    check_verdict(MATRIX "  %1 = view[2+j0, (s1-1)-j1](%0) : float64[(s0-2),s1]\n  output (%1)\n", "sound");
    check_verdict(MATRIX "  %1 = view[2+j0, j1](%0) : float64[s0,s1]\n  output (%1)\n",
                  "%1 = view (?:0): the index map leaves axis 0 of operand 0: 2 to 7 of 6");
    check_verdict(MATRIX "  %1 = view[0, 2-j0](%0) : float64[4]\n  output (%1)\n",
                  "%1 = view (?:0): the index map leaves axis 1 of operand 0: -1 to 2 of 4");
    check_verdict(MATRIX "  %1 = view[9, j0](%0) : float64[0]\n  output (%1)\n",
                  "sound"); /* empty: no element is addressed */
}

TEST(verify, inputs_are_numbered_once)
{
    check_verdict("graph f () :\n  %0 = placeholder[0] : pyint\n  %1 = placeholder[0] : pyint\n  output ()\n",
                  "%1 = placeholder (?:0): input 0 is %0 already");
}

/* Damage that text cannot express. */
TEST(verify, damaged_nodes_are_named)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, VECTORS "  %2 = add(%0, %1) : float64[s0] @5 \"f.py\"\n  output (%2)\n");
    struct jy_node *node = jy_graph_at(g, 2), saved = *node;
    CHECK_PTR(jy_graph_verify(g), NULL);
    node->n_dtype = JY_F32;
    CHECK_STR(jy_graph_verify(g), "%2 = add (f.py:5): dtype is float32, not float64");
    *node = saved;
    node->n_args[1] = 2;
    CHECK_STR(jy_graph_verify(g), "%2 = add (f.py:5): operand 1 is %2, which comes later or not at all");
    node->n_args[1] = 1;
    node->n_storage = 0;
    CHECK_STR(jy_graph_verify(g), "%2 = add (f.py:5): storage is %0, not %2");
    *node = saved;
    node->n_layout = NULL;
    CHECK_STR(jy_graph_verify(g), "%2 = add (f.py:5): an array without a layout");
    *node = saved;
    node->n_shape = (jy_sx[]){ 0 };
    CHECK_STR(jy_graph_verify(g), "%2 = add (f.py:5): extent of axis 0 differs from what the operands give");
    *node = saved;
    g->g_outputs.at[0] = 3;
    CHECK_STR(jy_graph_verify(g), "output 0 is %3, which does not exist");
    jy_arena_free(arena);
}
