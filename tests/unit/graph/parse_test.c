#include "graph_text.h"
#include <string.h>

static void
check_round_trip(const char *source)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, source);
    if (g != NULL)
        check_graph_text(g, source);
    jy_arena_free(arena);
}

TEST(parse, headers_positions_and_layouts_print_as_they_were_read)
{
    check_round_trip("graph <lambda> () :\n  output ()\n");
    check_round_trip("graph f (s0=10, s1=3 of 0.1, s2=7 of 2, s3=10 is s0) :\n"
                     "  %0 = placeholder[0] : float64[s0,(s1+1)] layout(1,0; unit; strides 8,96) @12 \"f.py\" as x\n"
                     "  %1 = placeholder[1] : float32[s3] layout(0; strides -4) @12 as y\n"
                     "  %2 = placeholder[2] : pyint @13 \"lib/\\x22odd\\x5c.py\"\n"
                     "  %3 = copy(%0) : float64[s0,(s1+1)] @14\n"
                     "  %4 = copy(%0) : float64[s0,(s1+1)] layout(1,0; contiguous) @14\n"
                     "  %5 = add(%3, %4) : float64[s0,(s1+1)] @0 \"\"\n"
                     "  output (%5, %0, %5)\n");
}

TEST(parse, scalars_print_as_they_were_read)
{
    check_round_trip("graph f (s0=10 of 0) :\n"
                     "  %0 = constant[-0.0] : float64\n"
                     "  %1 = constant[nan(0x7ff8000000000001)] : pyfloat\n"
                     "  %2 = constant[True] : pybool\n"
                     "  %3 = constant[-5] : int32\n"
                     "  %4 = constant[0.1] : float32\n"
                     "  %5 = size[max(s0,((s0*2)-1))] : pyint\n"
                     "  %6 = cast(%5) : float64\n"
                     "  %7 = less(%6, %0) : bool\n"
                     "  %8 = where(%7, %6, %0) : float64\n"
                     "  output (%8)\n");
}

TEST(parse, index_maps_print_as_they_were_read)
{
    check_round_trip(MATRIX "  %1 = view[j1, j0](%0) : float64[s1,s0]\n"
                            "  %2 = view[(s0-1)-j0, 2*j1](%0) : float64[s0,(s1//2)]\n"
                            "  %3 = view[2, 3-3*j0](%0) : float64[2]\n"
                            "  %4 = view[j0+j1, -j2](%0) : float64[2,2,1]\n"
                            "  %5 = view[0, 0](%0) : float64[]\n"
                            "  %6 = view[](%5) : float64[s0]\n"
                            "  %7 = view[1+j1, j2](%0) : float64[9,(s0-1),s1]\n"
                            "  %8 = reshape(%0) : float64[(s0*s1)]\n"
                            "  %9 = constant[1.5] : float64\n"
                            "  %10 = full(%9) : float64[2,3]\n"
                            "  %11 = store[1+j0, 1+j1](%0, %10) : float64[s0,s1]\n"
                            "  %12 = store(%11, %9) : float64[s0,s1]\n"
                            "  %13 = store[2, (s1-1)](%12, %9) : float64[s0,s1]\n"
                            "  output (%13)\n");
}

TEST(parse, calls_print_as_they_were_read)
{
    check_round_trip(MATRIX "  %1 = sum[0,1](%0) : float64\n"
                            "  %2 = sum[1; keepdims](%0) : float64[s0,1]\n"
                            "  %3 = max[](%0) : float64[s0,s1]\n"
                            "  %4 = empty() : bool[3]\n"
                            "  %5 = any[0](%4) : bool[]\n"
                            "  %6 = matmul(%0, %0) : float64[s0,s1]\n"
                            "  %7 = callout[3, 0](%6, %1) : int64[s0]\n"
                            "  %8 = callout[4, 1]() : pybool\n"
                            "  %9 = exp(%0) : float64[s0,s1]\n"
                            "  output (%7)\n");
}

/* Spellings that mean the same are one in print. */
TEST(parse, spellings_are_normalised)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, "graph f (s0=10) :\n"
                                            "  %0 = placeholder[0] : float64[s0] layout(0; contiguous; strides 8)\n"
                                            "  %1 = view[0+1*j0](%0) : float64[s0] layout(0; contiguous)\n"
                                            "  output (%1)\n\n");
    if (g != NULL)
        check_graph_text(g, "graph f (s0=10) :\n"
                            "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"
                            "  %1 = view[j0](%0) : float64[s0]\n"
                            "  output (%1)\n");
    jy_arena_free(arena);
}

static void
check_error(const char *source, const char *expected)
{
    struct jy_arena *arena = jy_arena_new();
    const char *error = "none";
    CHECK_PTR(jy_graph_parse(arena, source, &error), NULL);
    CHECK_STR(error, expected);
    jy_arena_free(arena);
}

TEST(parse, errors_name_line_and_reason)
{
    check_error("", "line 1: expected 'graph '");
    check_error("graph f (s1=3) :\n", "line 1: symbols are not numbered in order");
    check_error("graph f (s0=3) :\n  output ()\n", "line 3: s0 is the extent of no placeholder and has no 'of'");
    check_error("graph f () :\n  %1 = constant[1] : pyint\n", "line 2: nodes are not numbered in order");
    check_error("graph f () :\n  %0 = frobnicate() : pyint\n", "line 2: no such op");
    check_error("graph f () :\n  %0 = constant[1.5] : int64\n", "line 2: the value is not one of its dtype");
    check_error("graph f () :\n  %0 = placeholder[0] : float64[3]\n  output ()\n",
                "line 2: a placeholder needs a layout");
    check_error(VECTORS "  %2 = add(%0, %2) : float64[s0]\n", "line 4: an operand that comes later or not at all");
    check_error(VECTORS "  %2 = add(%0, %1) : float32[s0]\n", "line 4: the op gives another dtype");
    check_error(VECTORS "  %2 = add(%0, %1) : float64[3]\n", "line 4: the op gives another shape");
    check_error(VECTORS "  %2 = add(%0, %1) : float64[s0,1]\n", "line 4: the op gives another number of axes");
    check_error(VECTORS "  %2 = add(%0) : float64[s0]\n", "line 4: another number of operands than the op takes");
    check_error(VECTORS "  %2 = sum[1](%0) : float64[s0]\n",
                "line 4: an axis is folded that the operand does not have");
    check_error(VECTORS "  %2 = view[j0+j0](%0) : float64[s0]\n", "line 4: a result axis out of range or named twice");
    check_error(VECTORS "  %2 = view[j1](%0) : float64[s0]\n",
                "line 4: the index map names an axis that the result does not have");
    check_error(VECTORS "  %2 = view[j0, 0](%0) : float64[s0]\n", "line 4: the index map has another number of axes");
    check_error(VECTORS "  %2 = copy(%0) : float64[s0] layout(1)\n",
                "line 4: the order is not a permutation of the axes");
    check_error(VECTORS "  output (%2)\n", "line 4: no such node");
    check_error(VECTORS "  output (%0)\nmore\n", "line 5: text behind the output");
}

/* What was read prints to a text that reads and prints the same. */
static bool
is_stable(const struct jy_graph *g)
{
    struct jy_text text = { 0 }, again = { 0 };
    const char *error = NULL;
    jy_graph_print(&text, g);
    const struct jy_graph *reread = jy_graph_parse(g->g_arena, text.at, &error);
    if (reread != NULL)
        jy_graph_print(&again, reread);
    bool stable = reread != NULL && strcmp(text.at, again.at) == 0;
    jy_text_free(&text);
    jy_text_free(&again);
    return stable;
}

/* Any prefix of a good text, and any text with one byte changed, is refused, or is a graph. */
TEST(parse, damaged_text_is_refused_or_read)
{
    char source[] = "graph f (s0=10, s1=3 of 0.1) :\n"
                    "  %0 = placeholder[0] : float64[s0,(s1+1)] layout(1,0; unit; strides 8,96) @12 \"f.py\" as x\n"
                    "  %1 = view[(s0-1)-j1, 2*j0](%0) : float64[((s1+1)//2),s0]\n"
                    "  %2 = sum[0; keepdims](%1) : float64[1,s0]\n"
                    "  %3 = store[1+j0, j1](%0, %2) : float64[s0,(s1+1)]\n"
                    "  output (%3, %2)\n";
    const char *error;
    struct jy_arena *arena = jy_arena_new();
    size_t n = sizeof(source) - 1, parsed = 0;
    for (size_t i = 0; i < n; i++) {
        char saved = source[i];
        static const char other[] = { 0, ' ', '0', '9', '%', '(', ')', '[', ']', '-', 'j', 's', '"', '\n', '\x80' };
        for (size_t k = 0; k < sizeof(other); k++) {
            source[i] = other[k];
            struct jy_graph *g = jy_graph_parse(arena, source, &error);
            if (g != NULL) {
                jy_graph_verify(g);
                if (!is_stable(g))
                    CHECK_STR(source, "a stable text");
                parsed++;
            }
        }
        source[i] = saved;
        jy_arena_free(arena);
        arena = jy_arena_new();
    }
    CHECK(parsed > 20); /* names, numbers, blanks */
    jy_arena_free(arena);
}
