/* What a second copy of a loop needs: values that are used behind it come as parameters, and copies of instructions, exits and edges name the copy. */
#include "graph/flow_copy.h"
#include "tests/unit/graph/flow_case.h"

static bool
close_first_loop(struct jy_flow *w)
{
    struct jy_flow_shape shape;
    struct jy_flow_loops loops = { 0 };
    size_t n = w->w_values.n;
    jy_flow_shape_fill(&shape, w);
    jy_flow_loops_fill(&loops, w, &shape);
    jy_flow_close_loop(w, &shape, &loops.at[0]);
    return w->w_values.n != n;
}

/* A round makes %4; its index %3 is used in the block behind, %4 in the next one and by an exit of an instruction. An exit that the loop has as well says of the loop what it said. */
TEST(flow_copy, what_is_used_behind_the_loop_gets_there_as_a_parameter)
{
    check_step(INT_AND_BOOL "    jump 1 (%0)\n"
                            "  block 1 (%3 : i64) :\n"
                            "    %4 = add %3, %0 exit 0 : i64\n"
                            "    branch %1 ? 1 (%4) : 2 ()\n"
                            "  block 2 () :\n"
                            "    %5 = neg %3 exit 0 : i64\n"
                            "    %6 = neg %4 exit 2 : i64\n"
                            "    %7 = abs %4 exit 2 : i64\n"
                            "    jump 3 (%5)\n"
                            "  block 3 (%8 : i64) :\n"
                            "    %9 = add %8, %4 : i64\n"
                            "    exit 1\n"
                            "  exit 0 check at 5 (%3)\n"
                            "  exit 1 return at 6 (%9, %4)\n"
                            "  exit 2 check at 7 (%4)\n",
               close_first_loop,
               INT_AND_BOOL "    jump 1 (%0)\n"
                            "  block 1 (%3 : i64) :\n"
                            "    %4 = add %3, %0 exit 0 : i64\n"
                            "    branch %1 ? 1 (%4) : 2 (%3, %4)\n"
                            "  block 2 (%10 : i64, %11 : i64) :\n"
                            "    %5 = neg %10 exit 3 : i64\n"
                            "    %6 = neg %11 exit 4 : i64\n"
                            "    %7 = abs %11 exit 4 : i64\n"
                            "    jump 3 (%5, %10, %11)\n"
                            "  block 3 (%8 : i64, %12 : i64, %13 : i64) :\n"
                            "    %9 = add %8, %13 : i64\n"
                            "    exit 5\n"
                            "  exit 0 check at 5 (%3)\n"
                            "  exit 1 return at 6 (%9, %4)\n"
                            "  exit 2 check at 7 (%4)\n"
                            "  exit 3 check at 5 (%10)\n"
                            "  exit 4 check at 7 (%11)\n"
                            "  exit 5 return at 6 (%9, %13)\n");
}

/* Block 3 is reached past the loop as well, so nothing of the loop is known there. The branch asks for a value of the round. */
TEST(flow_copy, only_blocks_that_know_the_value_get_it)
{
    check_step(INT_AND_BOOL "    branch %1 ? 1 (%0) : 3 (%0)\n"
                            "  block 1 (%3 : i64) :\n"
                            "    %4 = lt %3, %0 : i1\n"
                            "    branch %4 ? 1 (%3) : 2 ()\n"
                            "  block 2 () :\n"
                            "    branch %4 ? 3 (%3) : 4 ()\n"
                            "  block 3 (%5 : i64) :\n"
                            "    exit 0\n"
                            "  block 4 () :\n"
                            "    exit 1\n"
                            "  exit 0 return at 5 (%5)\n"
                            "  exit 1 return at 6 (%0)\n",
               close_first_loop,
               INT_AND_BOOL "    branch %1 ? 1 (%0) : 3 (%0)\n"
                            "  block 1 (%3 : i64) :\n"
                            "    %4 = lt %3, %0 : i1\n"
                            "    branch %4 ? 1 (%3) : 2 (%3, %4)\n"
                            "  block 2 (%6 : i64, %7 : i1) :\n"
                            "    branch %7 ? 3 (%6) : 4 (%6, %7)\n"
                            "  block 3 (%5 : i64) :\n"
                            "    exit 0\n"
                            "  block 4 (%8 : i64, %9 : i1) :\n"
                            "    exit 1\n"
                            "  exit 0 return at 5 (%5)\n"
                            "  exit 1 return at 6 (%0)\n");
}

TEST(flow_copy, a_loop_that_nobody_asks_for_anything_stays_as_it_is)
{
    check_step(INT_AND_BOOL "    jump 1 (%0)\n"
                            "  block 1 (%3 : i64) :\n"
                            "    %4 = add %3, %0 exit 0 : i64\n"
                            "    branch %1 ? 1 (%4) : 2 (%4)\n"
                            "  block 2 (%5 : i64) :\n"
                            "    exit 1\n"
                            "  exit 0 check at 5 (%3)\n"
                            "  exit 1 return at 6 (%5, %0)\n",
               close_first_loop, NULL);
}

/* What stands for a value is what was said last; values and exits that are newer than the copy stand for themselves. */
TEST(flow_copy, copies_name_the_copy)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, INT_AND_BOOL "    jump 1 (%0)\n"
                                                       "  block 1 (%2 : i64) :\n"
                                                       "    %3 = add %2, %0 exit 0 : i64 @9\n"
                                                       "    %4 = add %3, %2 exit 0 : i64\n"
                                                       "    branch %1 ? 1 (%4) : 2 ()\n"
                                                       "  block 2 () :\n"
                                                       "    exit 1\n"
                                                       "  exit 0 check at 5 (%2, %0)\n"
                                                       "  exit 1 return at 6 (%0)\n");
    struct jy_copy copy = jy_copy_new(w);
    jy_fb block = jy_flow_block(w);
    jy_fv param = jy_flow_param(w, block, JY_F_I64);
    CHECK_UINT(jy_copy_value(&copy, 3), 3);
    CHECK_UINT(jy_copy_value(&copy, param), param);
    copy.value[2] = param;
    copy.block[1] = block;
    jy_fv sum = jy_copy_append(&copy, block, 3, true), plain = jy_copy_append(&copy, block, 4, false);
    CHECK_UINT(jy_copy_exit(&copy, 0), 2); /* the one that there is by now */
    CHECK_UINT(w->w_exits.n, 3);
    struct jy_fedge edge = jy_copy_edge(&copy, &w->w_blocks.at[1].f_edge[0], 1);
    edge.args[edge.nargs] = sum; /* there is room */
    CHECK_UINT(edge.to, block);
    CHECK_UINT(edge.nargs, 1);
    CHECK_UINT(edge.args[0], plain);
    CHECK_UINT(w->w_blocks.at[1].f_edge[0].args[0], 4);
    w->w_blocks.at[block].f_end = JY_END_JUMP;
    w->w_blocks.at[block].f_edge[0] = edge;
    check_flow_text(w, INT_AND_BOOL "    jump 1 (%0)\n"
                                    "  block 1 (%2 : i64) :\n"
                                    "    %3 = add %2, %0 exit 0 : i64 @9\n"
                                    "    %4 = add %3, %2 exit 0 : i64\n"
                                    "    branch %1 ? 1 (%4) : 2 ()\n"
                                    "  block 2 () :\n"
                                    "    exit 1\n"
                                    "  block 3 (%5 : i64) :\n"
                                    "    %6 = add %5, %0 exit 2 : i64 @9\n"
                                    "    %7 = add %6, %5 : i64\n"
                                    "    jump 3 (%7)\n"
                                    "  exit 0 check at 5 (%2, %0)\n"
                                    "  exit 1 return at 6 (%0)\n"
                                    "  exit 2 check at 5 (%5, %0)\n");
    jy_arena_free(arena);
}
