/* Loops get one head each, and one way in. */
#include "graph/flow_simplify_internal.h"
#include "tests/unit/graph/flow_loop_case.h"

/* A nest of two loops whose outer one is entered where the inner one begins: both have the head 1. */
#define ONE_HEAD_FOR_TWO                                                                                               \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : ptr data 2\n"                                                                                         \
    "  alias 1 : input 2\n"                                                                                            \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : ptr\n"                                                                                        \
    "    %3 = const[0] : i64\n"                                                                                        \
    "    %4 = const[1] : i64\n"                                                                                        \
    "    %5 = const[8] : i64\n"                                                                                        \
    "    %6 = const[64] : i64\n"                                                                                       \
    "    jump 1 (%4, %3, %3)\n"                                                                                        \
    "  block 1 (%7 : i64, %8 : i64, %9 : i64) :\n"                                                                     \
    "    %10 = lt %7, %0 : i1\n"                                                                                       \
    "    branch %10 ? 2 () : 3 ()\n"                                                                                   \
    "  block 2 () :\n"                                                                                                 \
    "    %11 = add %7, %4 : i64\n"                                                                                     \
    "    %12 = wrap %7, %6 exit 0 : i64\n"                                                                             \
    "    %13 = mul %12, %5 : i64\n"                                                                                    \
    "    %14 = load[0] %2, %13 alias 1 : i64\n"                                                                        \
    "    %15 = add %9, %14 : i64\n"                                                                                    \
    "    jump 1 (%11, %8, %15)\n"                                                                                      \
    "  block 3 () :\n"                                                                                                 \
    "    %16 = add %8, %4 : i64\n"                                                                                     \
    "    %17 = lt %16, %1 : i1\n"                                                                                      \
    "    branch %17 ? 1 (%3, %16, %9) : 4 ()\n"                                                                        \
    "  block 4 () :\n"                                                                                                 \
    "    exit 1\n"                                                                                                     \
    "  exit 0 check at 1 (%7, %8, %9)\n"                                                                               \
    "  exit 1 return at 2 (%8, %9)\n"

TEST(flow_reduce, nests_with_one_head)
{
    static const int64_t values[] = { 0, 1, 2, 7, 63, 64, 65, -1 };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, ONE_HEAD_FOR_TWO);
    CHECK_UINT(count_op(w, JY_FLOW_LOAD), 2); /* the inner loop has a fast copy */
    CHECK_UINT(count_op(w, JY_FLOW_WRAP), 1);
    jy_arena_free(arena);
    check_all_alike(ONE_HEAD_FOR_TWO, values, 8, 2);
}

/* A first round that joins the later ones in their middle: 1 and 3 lead to 2 and 4, which lead to the test in 5. */
#define ENTERED_IN_THE_MIDDLE                                                                                          \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = const[0] : i64\n"                                                                                        \
    "    %3 = const[1] : i64\n"                                                                                        \
    "    %4 = lt %0, %1 : i1\n"                                                                                        \
    "    branch %4 ? 2 (%0, %3) : 1 (%2, %2)\n"                                                                        \
    "  block 1 (%5 : i64, %6 : i64) :\n"                                                                               \
    "    poll exit 0\n"                                                                                                \
    "    jump 3 (%5, %6)\n"                                                                                            \
    "  block 2 (%7 : i64, %8 : i64) :\n"                                                                               \
    "    %9 = add %7, %8 exit 1 : i64\n"                                                                               \
    "    poll exit 2\n"                                                                                                \
    "    jump 3 (%9, %8)\n"                                                                                            \
    "  block 3 (%10 : i64, %11 : i64) :\n"                                                                             \
    "    %12 = lt %11, %1 : i1\n"                                                                                      \
    "    branch %12 ? 4 () : 5 ()\n"                                                                                   \
    "  block 4 () :\n"                                                                                                 \
    "    %13 = add %11, %3 : i64\n"                                                                                    \
    "    %14 = and %11, %0 : i64\n"                                                                                    \
    "    %15 = eq %14, %2 : i1\n"                                                                                      \
    "    branch %15 ? 1 (%10, %13) : 2 (%10, %13)\n"                                                                   \
    "  block 5 () :\n"                                                                                                 \
    "    exit 3\n"                                                                                                     \
    "  exit 0 poll at 1 (%5, %6)\n"                                                                                    \
    "  exit 1 check at 2 (%7, %8)\n"                                                                                   \
    "  exit 2 poll at 3 (%9, %8)\n"                                                                                    \
    "  exit 3 return at 4 (%10, %11)\n"

TEST(flow_reduce, loops_that_are_entered_in_the_middle)
{
    static const int64_t few[] = { 0, 1, 3, 30, -4 };
    check_all_alike(ENTERED_IN_THE_MIDDLE, few, 5, 2);
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, ENTERED_IN_THE_MIDDLE);
    union jy_scalar in[] = { { .i = 1 }, { .i = 5 * JY_CHUNK } }, out[2];
    const uint32_t watch = 1;
    struct jy_flow_call call = { .in = in, .out = out, .watch = &watch, .watch_mask = 0 };
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 4);
    CHECK_UINT(count_op(w, JY_FLOW_POLL), 3); /* the careful loop's two, and one between chunks */
    jy_arena_free(arena);
}

/* Does every edge that goes up lead to a block that dominates where it comes from? */
static bool
is_reducible(const struct jy_flow *w)
{
    struct jy_flow_shape s;
    bool good = true;
    jy_flow_shape_fill(&s, w);
    for (size_t k = 0; k < s.dom.n; k++) {
        jy_fb b = s.dom.order[k];
        for (size_t e = 0; e < jy_flow_nedges(&w->w_blocks.at[b]); e++) {
            jy_fb to = w->w_blocks.at[b].f_edge[e].to;
            good &= s.dom.rank[to] > s.dom.rank[b] || jy_dominates(&s.dom, to, b);
        }
    }
    return good;
}

TEST(flow_reduce, rings_get_one_way_in)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, ENTERED_IN_THE_MIDDLE);
    CHECK(!is_reducible(w));
    CHECK(jy_flow_reduce(w));
    CHECK(is_reducible(w));
    CHECK_STR(jy_flow_verify(w), NULL);
    CHECK(!jy_flow_reduce(w));
    jy_arena_free(arena);
}

/* Two blocks that lead to each other, both entered from outside, and what the round computes is used behind it. The entry that is no head gets a second copy. */
TEST(flow_reduce, the_other_entry_is_copied)
{
    check_step(INT_AND_BOOL "    branch %1 ? 1 (%0) : 2 (%0)\n"
                            "  block 1 (%2 : i64) :\n"
                            "    %3 = add %2, %2 exit 0 : i64\n"
                            "    jump 2 (%3)\n"
                            "  block 2 (%4 : i64) :\n"
                            "    %5 = lt %4, %0 : i1\n"
                            "    branch %5 ? 1 (%4) : 3 ()\n"
                            "  block 3 () :\n"
                            "    exit 1\n"
                            "  exit 0 check at 5 (%2)\n"
                            "  exit 1 return at 6 (%4)\n",
               jy_flow_reduce,
               INT_AND_BOOL "    branch %1 ? 4 (%0) : 2 (%0)\n"
                            "  block 1 (%2 : i64) :\n"
                            "    %3 = add %2, %2 exit 0 : i64\n"
                            "    jump 2 (%3)\n"
                            "  block 2 (%4 : i64) :\n"
                            "    %5 = lt %4, %0 : i1\n"
                            "    branch %5 ? 1 (%4) : 3 ()\n"
                            "  block 3 () :\n"
                            "    exit 1\n"
                            "  block 4 (%6 : i64) :\n"
                            "    %7 = add %6, %6 exit 2 : i64\n"
                            "    jump 2 (%7)\n"
                            "  exit 0 check at 5 (%2)\n"
                            "  exit 1 return at 6 (%4)\n"
                            "  exit 2 check at 5 (%6)\n");
}

/* Rings of 1 and 2, entered in both. */
#define RING(first, second, more)                                                                                      \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = const[3] : i64\n"                                                                                        \
    "    %3 = lt %0, %1 : i1\n"                                                                                        \
    "    branch %3 ? 2 (%0) : 1 (%1)\n"                                                                                \
    "  block 1 (%4 : i64) :\n"                                                                                         \
    "    %5 = add %4, %2 exit 0 : i64\n    " first "  block 2 (%6 : i64) :\n"                                          \
    "    %7 = lt %6, %1 : i1\n    " second "  block 3 () :\n"                                                          \
    "    exit 1\n" more "  exit 0 check at 5 (%4)\n"

static void
check_reduced(const char *source)
{
    static const int64_t values[] = { 0, 1, 4, 30, -7 };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    CHECK(!is_reducible(w));
    CHECK(jy_flow_reduce(w));
    CHECK(is_reducible(w));
    CHECK_STR(jy_flow_verify(w), NULL);
    jy_arena_free(arena);
    check_all_alike(source, values, 5, 2);
}

/* The only block that may leave the ring is not on every way round, so it cannot be the head of all of it. */
TEST(flow_reduce, a_test_that_some_rounds_pass_by_is_no_head)
{
    check_reduced(RING("jump 2 (%5)\n", "branch %7 ? 1 (%6) : 4 ()\n",
                       "  block 4 () :\n"
                       "    %8 = gt %6, %2 : i1\n"
                       "    branch %8 ? 3 () : 1 (%6)\n") "  exit 1 return at 6 (%6)\n");
}

/* What the copied entry has computed is used where the ring is left from there. */
TEST(flow_reduce, what_a_copied_entry_has_computed_is_used_behind)
{
    check_reduced(RING("    %8 = gt %5, %1 : i1\n    branch %8 ? 4 () : 2 (%5)\n", "branch %7 ? 1 (%6) : 3 ()\n",
                       "  block 4 () :\n"
                       "    exit 2\n") "  exit 1 return at 6 (%6)\n"
                                       "  exit 2 return at 7 (%5, %4)\n");
    check_reduced(RING("    jump 2 (%5)\n", "    %8 = add %6, %6 : i64\n    branch %7 ? 1 (%8) : 3 ()\n",
                       "") "  exit 1 return at 6 (%8)\n");
}

TEST(flow_reduce, loops_with_one_way_in_stay_as_they_are)
{
    check_step(INT_AND_BOOL "    jump 1 (%0)\n"
                            "  block 1 (%2 : i64) :\n"
                            "    branch %1 ? 1 (%2) : 2 ()\n"
                            "  block 2 () :\n"
                            "    branch %1 ? 1 (%0) : 3 ()\n"
                            "  block 3 () :\n"
                            "    exit 0\n"
                            "  exit 0 return at 6 (%2)\n",
               jy_flow_reduce, NULL);
}

static bool
separate(struct jy_flow *w)
{
    size_t n = w->w_blocks.n;
    jy_flow_separate(w);
    return w->w_blocks.n != n;
}

/* The way back that sets the compared parameter anew is another loop's than the one that adds to it. */
#define WAYS_BACK(first, second)                                                                                       \
    INT_AND_BOOL "    %2 = const[1] : i64\n"                                                                           \
                 "    jump 1 (%2, %2)\n"                                                                               \
                 "  block 1 (%3 : i64, %4 : i64) :\n"                                                                  \
                 "    %5 = lt %3, %0 : i1\n"                                                                           \
                 "    branch %5 ? 2 () : 3 ()\n"                                                                       \
                 "  block 2 () :\n"                                                                                    \
                 "    %6 = " first " : i64\n"                                                                          \
                 "    jump 1 (%6, %4)\n"                                                                               \
                 "  block 3 () :\n"                                                                                    \
                 "    %7 = " second " : i64\n"                                                                         \
                 "    branch %1 ? 1 (%7, %7) : 4 ()\n"                                                                 \
                 "  block 4 () :\n"                                                                                    \
                 "    exit 0\n"                                                                                        \
                 "  exit 0 return at 6 (%3, %4)\n"

TEST(flow_reduce, only_ways_back_of_two_sorts_are_separated)
{
    check_step(WAYS_BACK("add %3, %2", "sub %3, %2"), separate, NULL);
    check_step(WAYS_BACK("neg %3", "not %4"), separate, NULL);
    check_step(WAYS_BACK("add %4, %2", "not %4"), separate, NULL);
    check_step(WAYS_BACK("add %3, %4", "not %4"), separate, NULL); /* not a constant */
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, WAYS_BACK("add %3, %2", "not %4"));
    struct jy_flow_shape shape;
    struct jy_flow_loops loops = { 0 };
    CHECK(separate(w));
    CHECK_STR(jy_flow_verify(w), NULL);
    jy_flow_shape_fill(&shape, w);
    jy_flow_loops_fill(&loops, w, &shape);
    CHECK_UINT(loops.n, 2);
    CHECK_UINT(loops.at[0].head, 1);
    CHECK_UINT(w->w_blocks.at[1].f_params.n, 1); /* %4 changes in the outer loop only */
    jy_arena_free(arena);
}

/* The ring is 1 to 6; 4 has the test. What is made again for those that come from outside is 1, 2 and 3, and 3 is entered from 5, too, where %9 of 2 is still known. */
#define ENTERED_AGAIN_BEHIND_A_VALUE                                                                                   \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = const[0] : i64\n"                                                                                        \
    "    %3 = const[1] : i64\n"                                                                                        \
    "    %4 = const[2] : i64\n"                                                                                        \
    "    %5 = lt %0, %1 : i1\n"                                                                                        \
    "    branch %5 ? 2 (%0, %2) : 1 (%1, %2)\n"                                                                        \
    "  block 1 (%6 : i64, %7 : i64) :\n"                                                                               \
    "    %8 = add %6, %3 exit 0 : i64\n"                                                                               \
    "    jump 2 (%8, %7)\n"                                                                                            \
    "  block 2 (%9 : i64, %10 : i64) :\n"                                                                              \
    "    jump 3 (%10)\n"                                                                                               \
    "  block 3 (%11 : i64) :\n"                                                                                        \
    "    %12 = xor %9, %11 : i64\n"                                                                                    \
    "    poll exit 1\n"                                                                                                \
    "    jump 4 ()\n"                                                                                                  \
    "  block 4 () :\n"                                                                                                 \
    "    %13 = add %11, %3 : i64\n"                                                                                    \
    "    %14 = lt %13, %0 : i1\n"                                                                                      \
    "    branch %14 ? 5 () : 7 ()\n"                                                                                   \
    "  block 5 () :\n"                                                                                                 \
    "    %15 = and %12, %3 : i64\n"                                                                                    \
    "    %16 = eq %15, %2 : i1\n"                                                                                      \
    "    branch %16 ? 3 (%13) : 6 ()\n"                                                                                \
    "  block 6 () :\n"                                                                                                 \
    "    %17 = and %13, %4 : i64\n"                                                                                    \
    "    %18 = eq %17, %2 : i1\n"                                                                                      \
    "    branch %18 ? 1 (%12, %13) : 2 (%12, %13)\n"                                                                   \
    "  block 7 () :\n"                                                                                                 \
    "    exit 2\n"                                                                                                     \
    "  exit 0 check at 1 (%6, %7)\n"                                                                                   \
    "  exit 1 poll at 2 (%9, %11, %12)\n"                                                                              \
    "  exit 2 return at 3 (%9, %12, %13)\n"

TEST(flow_reduce, values_of_a_part_that_is_entered_again_behind_them)
{
    static const int64_t few[] = { 0, 1, 2, 3, 9, 30, -4 };
    check_all_alike(ENTERED_AGAIN_BEHIND_A_VALUE, few, 7, 2);
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, ENTERED_AGAIN_BEHIND_A_VALUE);
    CHECK(jy_flow_reduce(w));
    CHECK(is_reducible(w));
    CHECK_STR(jy_flow_verify(w), NULL);
    jy_arena_free(arena);
}
