/* One plan per rule that breaks this rule only; the rules of kernels are tried by loop_verify_test.c. */
#include "tests/unit/graph/plan_text.h"

#define PLAN(lines) "plan f (s0=5) :\n" lines
#define INPUT "  buffer b0 = input 0 : float64[s0,s0] order(0,1) unit(1)\n  input b0\n"

TEST(plan_verify, buffers_name_every_axis_once)
{
    static const char order[] = "buffer 0: the order does not name every axis once";
    check_plan(PLAN("  buffer b0 = temp : float64[s0,s0] order(0,0)\n"), order);
    check_plan(PLAN("  buffer b0 = temp : float64[s0,s0] order(0,2)\n"), order);
    check_plan(PLAN("  buffer b0 = temp : float64[s0,s0] order(1,40)\n"), order);
    check_plan(PLAN("  buffer b0 = temp : float64[s0,s0] order(1,0)\n"), NULL);
    check_plan(PLAN("  buffer b0 = temp : float64[s0] order(0) unit(1)\n"), "buffer 0: no such dtype or axis");
    check_plan(PLAN("  buffer b0 = temp : float64[] order()\n"), NULL);
}

TEST(plan_verify, views_fit_their_base)
{
    check_plan(PLAN("  buffer b0 = view 0 start(0) axis(0) step(1) : float64[s0] order(0)\n"),
               "buffer 0: a view of a later buffer");
    check_plan(PLAN("  buffer b0 = reshape 1 : float64[s0] order(0)\n  buffer b1 = temp : float64[s0] order(0)\n"),
               "buffer 0: a view of a later buffer");
    check_plan(PLAN(INPUT "  buffer b1 = view 0 start(0,0) axis(0) step(1) : float32[s0] order(0)\n"),
               "buffer 1: a view with another dtype than its base");
    static const char axes[] = "buffer 1: the index map has another number of axes";
    check_plan(PLAN(INPUT "  buffer b1 = view 0 start(0) axis(0) step(1) : float64[s0] order(0)\n"), axes);
    check_plan(PLAN(INPUT "  buffer b1 = view 0 start(0,0) axis(0,1) step(1,1) : float64[s0] order(0)\n"), axes);
    check_plan(PLAN(INPUT "  buffer b1 = view 0 start(0,0) axis(2) step(1) : float64[s0] order(0)\n"),
               "buffer 1: the index map names an axis that the base does not have");
    check_plan(PLAN(INPUT "  buffer b1 = view 0 start(1,0) axis(-1,1) step(0,1) : float64[1,s0] order(0,1)\n"), NULL);
}

TEST(plan_verify, memory_comes_from_somewhere)
{
    check_plan(PLAN("  buffer b0 = input 0 : float64[s0] order(0)\n"), "buffer 0: no such input");
    check_plan(PLAN("  buffer b0 = object 0 : float64[s0] order(0)\n"), "buffer 0: no such step");
    static const char beyond[] = "buffer 0: beyond the memory for tiles";
    check_plan(PLAN("  buffer b0 = tile 0 64 : float64[64] order(0) unit(0)\n  tile 511\n"), beyond);
    check_plan(PLAN("  buffer b0 = tile 8 64 : float64[64] order(0) unit(0)\n  tile 512\n"), beyond);
    check_plan(PLAN("  buffer b0 = tile 8 -1 : float64[1] order(0) unit(0)\n  tile 512\n"), beyond);
    check_plan(PLAN("  buffer b0 = tile 0 64 : float64[64] order(0) unit(0)\n  tile 512\n"), NULL);
}

TEST(plan_verify, steps_name_what_exists)
{
    check_plan(PLAN("  step kernel 0\n"), "step 0: no such kernel");
    check_plan(PLAN(INPUT "  step matmul matmul(b0, b1) -> b0\n"), "step 0: an operand that does not exist");
    check_plan(PLAN(INPUT "  step matmul matmul(b0, q0) -> b0\n"), "step 0: an operand that does not exist");
    check_plan(PLAN(INPUT "  step matmul matmul(b0, b0) -> b1\n"), "step 0: a result that does not exist");
    check_plan(PLAN(INPUT "  step reduce sum[axes 1](b0) -> q0\n"), "step 0: a result that does not exist");
    check_plan(PLAN(INPUT "  scalar q0 = float64 npscalar\n  step reduce sum[axes 3](b0) -> q0\n"), NULL);
}

TEST(plan_verify, what_enters_and_leaves_exists)
{
    check_plan(PLAN("  input b0\n"), "input 0: no such place");
    check_plan(PLAN("  input q0\n"), "input 0: no such place");
    check_plan(PLAN(INPUT "  output b1 : float64 array\n"), "output 0: no such place");
    check_plan(PLAN("  output q0 : float64 npscalar\n"), "output 0: no such place");
    check_plan(PLAN(INPUT "  output b0 : int64 array\n"), "output 0: another dtype than its place has");
    check_plan(PLAN("  scalar q0 = int64 pyint\n  output q0 : float64 pyfloat\n"),
               "output 0: another dtype than its place has");
    check_plan(PLAN(INPUT "  write b1 %0\n"), "write 0: no such buffer");
    check_plan(PLAN(INPUT "  output b0 : float64 array\n  write b0 %0\n"), NULL);
}

TEST(plan_verify, scratch_stays)
{
    check_plan(PLAN("  buffer b0 = temp : float64[s0] order(0) unit(0)\n  output b0 : float64 array\n"),
               "output 0: scratch is handed out");
}
