#include "graph_text.h"

TEST(print, names_without_blanks_stay_one_word)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = jy_graph_new(arena, "a b");
    jy_ref r = jy_graph_constant(g, JY_KIND_PYINT, JY_I64, (union jy_scalar){ .i = 1 });
    jy_graph_at(g, r)->n_name = "two words";
    check_graph_text(g, "graph a_b () :\n  %0 = constant[1] : pyint as two_words\n  output ()\n");
    jy_arena_free(arena);
}

TEST(print, table_has_aligned_columns)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g =
        parse_graph(arena, "graph f (s0=10) :\n"
                           "  %0 = placeholder[0] : float64[s0] layout(0; contiguous) @2 \"f.py\" as x\n"
                           "  %1 = constant[2.0] : pyfloat @3\n"
                           "  %2 = cast(%1) : float64 @3\n"
                           "  %3 = multiply(%0, %2) : float64[s0] @3\n"
                           "  output (%3)\n");
    struct jy_text text = { 0 };
    if (g != NULL)
        jy_graph_print_table(&text, g);
    CHECK_STR(text.at, "opcode       name  target    args      dtype    shape  line\n"
                       "placeholder  x     [0]       ()        float64  (s0,)  2\n"
                       "constant     v1    [2.0]     ()        pyfloat         3\n"
                       "call         v2    cast      (%1)      float64         3\n"
                       "call         v3    multiply  (%0, %2)  float64  (s0,)  3\n"
                       "output                       (%3)\n");
    jy_text_free(&text);
    jy_arena_free(arena);
}
