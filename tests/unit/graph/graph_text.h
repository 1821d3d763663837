/* Graphs as text in unit tests. */
#ifndef JY_TESTS_GRAPH_TEXT_H
#define JY_TESTS_GRAPH_TEXT_H

#include "graph/graph.h"
#include "tests/unit/test.h"

/* The graph, or NULL after a failed check that shows the error. */
static inline struct jy_graph *
parse_graph(struct jy_arena *arena, const char *source)
{
    const char *error = NULL;
    struct jy_graph *g = jy_graph_parse(arena, source, &error);
    if (g == NULL)
        CHECK_STR(error, "");
    return g;
}

static inline void
check_graph_text(const struct jy_graph *g, const char *expected)
{
    struct jy_text text = { 0 };
    jy_graph_print(&text, g);
    CHECK_STR(text.at, expected);
    jy_text_free(&text);
}

/* The nodes of a graph over x, y: float64[s0], both contiguous, as lines. */
#define VECTORS                                                                                                        \
    "graph f (s0=10) :\n"                                                                                              \
    "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"                                                      \
    "  %1 = placeholder[1] : float64[s0] layout(0; contiguous)\n"
#define MATRIX                                                                                                         \
    "graph f (s0=6, s1=4) :\n"                                                                                         \
    "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"

#endif
