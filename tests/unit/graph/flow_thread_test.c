/* Edges through empty blocks, and blocks that are joined. */
#include "graph/flow_simplify_internal.h"
#include "tests/unit/graph/flow_case.h"

/* An edge that passes a constant knows which way the empty block behind it goes. */
TEST(flow_thread, edges_through_empty_blocks)
{
    check_simplified(INT_AND_BOOL "    %2 = const[True] : i1\n"
                                  "    branch %1 ? 1 (%2) : 3 ()\n"
                                  "  block 1 (%3 : i1) :\n"
                                  "    branch %3 ? 2 () : 4 ()\n"
                                  "  block 2 () :\n"
                                  "    exit 0\n"
                                  "  block 3 () :\n"
                                  "    %4 = const[3] : i64\n"
                                  "    %5 = lt %0, %4 : i1\n"
                                  "    jump 1 (%5)\n"
                                  "  block 4 () :\n"
                                  "    exit 1\n"
                                  "  exit 0 return at 7 (%0)\n"
                                  "  exit 1 return at 8 (%0)\n",
                     INT_AND_BOOL "    %2 = const[3] : i64\n"
                                  "    branch %1 ? 2 () : 1 ()\n"
                                  "  block 1 () :\n"
                                  "    %3 = lt %0, %2 : i1\n"
                                  "    branch %3 ? 2 () : 3 ()\n"
                                  "  block 2 () :\n"
                                  "    exit 0\n"
                                  "  block 3 () :\n"
                                  "    exit 1\n"
                                  "  exit 0 return at 7 (%0)\n"
                                  "  exit 1 return at 8 (%0)\n");
}
/* What others use of an empty block keeps it, and so does a block that joins the ways back to a loop's head. */
TEST(flow_thread, empty_blocks_that_are_needed)
{
    check_step(INT_AND_BOOL "    %2 = neg %0 : i64\n"
                            "    branch %1 ? 1 (%0) : 1 (%2)\n"
                            "  block 1 (%3 : i64) :\n"
                            "    jump 2 ()\n"
                            "  block 2 () :\n"
                            "    exit 0\n"
                            "  exit 0 return at 7 (%3)\n",
               jy_flow_thread, NULL);
    check_step(INT_AND_BOOL "    jump 1 (%0)\n"
                            "  block 1 (%2 : i64) :\n"
                            "    %3 = neg %2 : i64\n"
                            "    branch %1 ? 2 () : 3 ()\n"
                            "  block 2 () :\n"
                            "    poll exit 0\n"
                            "    jump 4 (%3)\n"
                            "  block 3 () :\n"
                            "    poll exit 0\n"
                            "    jump 4 (%2)\n"
                            "  block 4 (%4 : i64) :\n"
                            "    jump 1 (%4)\n"
                            "  exit 0 poll at 7 ()\n",
               jy_flow_thread, NULL);
}

/* An edge passes on what it passed to the block in between. */
TEST(flow_thread, arguments_go_all_the_way)
{
    check_step(INT_AND_BOOL "    %2 = neg %0 : i64\n"
                            "    branch %1 ? 1 (%0, %2) : 2 (%2)\n"
                            "  block 1 (%3 : i64, %4 : i64) :\n"
                            "    jump 2 (%4)\n"
                            "  block 2 (%5 : i64) :\n"
                            "    jump 3 (%5, %0)\n"
                            "  block 3 (%6 : i64, %7 : i64) :\n"
                            "    exit 0\n"
                            "  exit 0 return at 7 (%6, %7)\n",
               jy_flow_thread,
               INT_AND_BOOL "    %2 = neg %0 : i64\n"
                            "    branch %1 ? 3 (%2, %0) : 3 (%2, %0)\n"
                            "  block 1 (%3 : i64, %4 : i64) :\n"
                            "    jump 3 (%4, %0)\n"
                            "  block 2 (%5 : i64) :\n"
                            "    jump 3 (%5, %0)\n"
                            "  block 3 (%6 : i64, %7 : i64) :\n"
                            "    exit 0\n"
                            "  exit 0 return at 7 (%6, %7)\n");
}

/* A ring of blocks that do nothing is never left, by this pass neither. */
TEST(flow_thread, a_ring_of_empty_blocks)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, INT_AND_BOOL "    branch %1 ? 1 () : 3 ()\n"
                                                       "  block 1 () :\n"
                                                       "    jump 2 ()\n"
                                                       "  block 2 () :\n"
                                                       "    jump 1 ()\n"
                                                       "  block 3 () :\n"
                                                       "    exit 0\n"
                                                       "  exit 0 return at 7 (%0)\n");
    jy_flow_simplify(w);
    CHECK_STR(jy_flow_verify(w), NULL);
    union jy_scalar in[] = { { .i = 5 }, { .i = 0 } }, out[1];
    for (size_t k = 0; k < w->w_inputs.n; k++)
        in[k].i = w->w_inputs.at[k].number == 0 ? 5 : 0;
    CHECK_INT(jy_flow_eval(w, &(struct jy_flow_call){ .in = in, .out = out }), 0);
    CHECK_INT(out[0].i, 5);
    jy_arena_free(arena);
}

TEST(flow_thread, blocks_with_one_way_on_are_joined)
{
    check_step(INT_AND_BOOL "    jump 1 (%0)\n"
                            "  block 1 (%2 : i64) :\n"
                            "    %3 = neg %2 : i64\n"
                            "    jump 2 (%3)\n"
                            "  block 2 (%4 : i64) :\n"
                            "    branch %1 ? likely 3 (%4) : 4 ()\n"
                            "  block 3 (%5 : i64) :\n"
                            "    exit 0\n"
                            "  block 4 () :\n"
                            "    exit 1\n"
                            "  exit 0 return at 7 (%2, %5)\n"
                            "  exit 1 return at 8 (%4)\n",
               jy_flow_merge,
               INT_AND_BOOL "    %3 = neg %0 : i64\n"
                            "    branch %1 ? likely 3 (%3) : 4 ()\n"
                            "  block 1 () :\n"
                            "    jump 1 ()\n"
                            "  block 2 () :\n"
                            "    jump 2 ()\n"
                            "  block 3 (%5 : i64) :\n"
                            "    exit 0\n"
                            "  block 4 () :\n"
                            "    exit 1\n"
                            "  exit 0 return at 7 (%0, %5)\n"
                            "  exit 1 return at 8 (%3)\n");
}

/* A head has two ways in; a block that goes back to itself is no other one. */
TEST(flow_thread, blocks_that_are_not_joined)
{
    check_step(INT_AND_BOOL "    jump 1 (%0)\n"
                            "  block 1 (%2 : i64) :\n"
                            "    poll exit 0\n"
                            "    jump 1 (%2)\n"
                            "  exit 0 poll at 7 (%2)\n",
               jy_flow_merge, NULL);
}
