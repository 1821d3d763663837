/* Memory of a plan: which nodes share a buffer, who owns it, what is known of its strides. */
#include "graph/lower.h"
#include "tests/unit/graph/lowering.h"

TEST(lower_buffer, same_elements_are_one_buffer)
{
    check_lowered(VECTORS "  %2 = view[1+j0](%0) : float64[(s0-1)]\n"
                          "  %3 = view[1+j0](%0) : float64[(s0-1)]\n"
                          "  %4 = view[j0](%0) : float64[(s0-1)]\n"
                          "  %5 = add(%2, %3) : float64[(s0-1)]\n"
                          "  %6 = add(%5, %4) : float64[(s0-1)]\n"
                          "  output (%6)\n",
                  "  buffer",
                  "  buffer b0 = input 0 : float64[s0] order(0) unit(0) %0\n"
                  "  buffer b1 = input 1 : float64[s0] order(0) unit(0) %1\n"
                  "  buffer b2 = view 0 start(1) axis(0) step(1) : float64[(s0-1)] order(0) unit(0) %2\n"
                  "  buffer b3 = view 0 start(0) axis(0) step(1) : float64[(s0-1)] order(0) unit(0) %4\n"
                  "  buffer b4 = output : float64[(s0-1)] order(0) unit(0) %6\n");
}

/* The same start and step, but fewer of them. */
TEST(lower_buffer, views_of_other_lengths_are_other_buffers)
{
    struct lowered l;
    if (lower_begin(&l,
                    VECTORS "  %2 = view[2*j0](%0) : float64[((s0+1)//2)]\n"
                            "  %3 = view[2*j0](%0) : float64[(s0//2)]\n"
                            "  %4 = negative(%2) : float64[((s0+1)//2)]\n"
                            "  %5 = negative(%3) : float64[(s0//2)]\n"
                            "  output (%4, %5)\n",
                    NULL)) {
        check_plan_lines(&l, "  buffer b2",
                         "  buffer b2 = view 0 start(0) axis(0) step(2) : float64[((s0+1)//2)] order(0) %2\n");
        check_plan_lines(&l, "  buffer b4",
                         "  buffer b4 = view 0 start(0) axis(0) step(2) : float64[(s0//2)] order(0) %3\n");
        CHECK_RUNS(&l, 0, 1, 2, 7);
    }
    lower_end(&l);
}

/* A STORE is a new version of its storage, not new memory; what is handed out is OUTPUT, also through a view of it. */
TEST(lower_buffer, what_is_handed_out_is_no_scratch)
{
    struct lowered l;
    if (lower_begin(&l,
                    VECTORS "  %2 = negative(%0) : float64[s0]\n"
                            "  %3 = store(%2, %1) : float64[s0]\n"
                            "  %4 = view[1+j0](%3) : float64[(s0-1)]\n"
                            "  %5 = absolute(%0) : float64[s0]\n"
                            "  %6 = view[1+j0](%5) : float64[(s0-1)]\n"
                            "  %7 = sum[0](%6) : float64\n"
                            "  output (%4, %7)\n",
                    NULL)) {
        check_plan_lines(&l, "  buffer",
                         "  buffer b0 = input 0 : float64[s0] order(0) unit(0) %0\n"
                         "  buffer b1 = input 1 : float64[s0] order(0) unit(0) %1\n"
                         "  buffer b2 = output : float64[s0] order(0) unit(0) %2\n"
                         "  buffer b3 = temp : float64[s0] order(0) unit(0) %5\n"
                         "  buffer b4 = view 3 start(1) axis(0) step(1) : float64[(s0-1)] order(0) unit(0) %6\n"
                         "  buffer b5 = view 2 start(1) axis(0) step(1) : float64[(s0-1)] order(0) unit(0) %4\n");
        CHECK(l.plan->p_outputs.at[0].is_view);
        CHECK_UINT(l.plan->p_writes.n, 0); /* nothing older than the call is written */
        CHECK_RUNS(&l, 1, 2, 9);
    }
    lower_end(&l);
}

/* The stride of an axis is its itemsize only where something promises it. */
TEST(lower_buffer, unit_axes_are_promised_by_layouts)
{
    static const char source[] = "graph f (s0=6, s1=4) :\n"
                                 "  %0 = placeholder[0] : float64[s0,s1] layout(1,0; contiguous)\n"
                                 "  %1 = placeholder[1] : float64[s0,1] layout(0,1; contiguous)\n"
                                 "  %2 = placeholder[2] : float64[s0,s1] layout(0,1; unit; strides 64,8)\n"
                                 "  %3 = placeholder[3] : float64[s0,s1] layout(0,1; strides 128,16)\n"
                                 "  %4 = placeholder[4] : float64[]\n"
                                 "  output (%0, %1, %2, %3, %4)\n";
    check_lowered(source, "  buffer",
                  "  buffer b0 = input 0 : float64[s0,s1] order(1,0) unit(0) %0\n"
                  "  buffer b1 = input 1 : float64[s0,1] order(0,1) unit(0) %1\n"
                  "  buffer b2 = input 2 : float64[s0,s1] order(0,1) unit(1) %2\n"
                  "  buffer b3 = input 3 : float64[s0,s1] order(0,1) %3\n"
                  "  buffer b4 = input 4 : float64[] order() %4\n");
}

/* Nothing is known of memory that a callable returns, nor of views of it, whatever shape they have. */
TEST(lower_buffer, call_outs_promise_nothing)
{
    struct lowered l;
    if (lower_begin(&l,
                    VECTORS "  %2 = callout[3, 0](%0) : float64[s0]\n"
                            "  %3 = view[1+j0](%2) : float64[(s0-1)]\n"
                            "  %4 = negative(%3) : float64[(s0-1)]\n"
                            "  output (%4)\n",
                    NULL)) {
        check_plan_lines(&l, "  buffer b2", "  buffer b2 = object 0 : float64[s0] order(0) %2\n");
        check_plan_lines(&l, "  buffer b3",
                         "  buffer b3 = view 2 start(1) axis(0) step(1) : float64[(s0-1)] order(0) %3\n");
        CHECK_RUNS(&l, 1, 8);
    }
    lower_end(&l);
}

/* A region walked backwards or in steps has no unit axis; one in steps of one keeps that of its base. */
TEST(lower_buffer, regions_keep_a_unit_axis_walked_in_ones)
{
    static const char source[] = MATRIX "  %1 = constant[2.0] : float64\n"
                                        "  %2 = full(%1) : float64[(s0-1),s1]\n"
                                        "  %3 = store[1+j0, j1](%0, %2) : float64[s0,s1]\n"
                                        "  %4 = full(%1) : float64[s0,(s1//2)]\n"
                                        "  %5 = store[j0, 2*j1](%3, %4) : float64[s0,s1]\n"
                                        "  %6 = full(%1) : float64[s0]\n"
                                        "  %7 = store[j0, 1](%5, %6) : float64[s0,s1]\n"
                                        "  %8 = full(%1) : float64[s1]\n"
                                        "  %9 = store[2, j0](%7, %8) : float64[s0,s1]\n"
                                        "  output ()\n";
    struct lowered l;
    if (lower_begin(&l, source, NULL)) {
        check_plan_lines(
            &l, "  buffer",
            "  buffer b0 = input 0 : float64[s0,s1] order(0,1) unit(1) %0\n"
            "  buffer b1 = view 0 start(1,0) axis(0,1) step(1,1) : float64[(s0-1),s1] order(0,1) unit(1) %3\n"
            "  buffer b2 = view 0 start(0,0) axis(0,1) step(1,2) : float64[s0,(s1//2)] order(0,1) %5\n"
            "  buffer b3 = view 0 start(0,1) axis(0) step(1) : float64[s0] order(0) %7\n"
            "  buffer b4 = view 0 start(2,0) axis(1) step(1) : float64[s1] order(0) unit(0) %9\n");
        CHECK_UINT(l.plan->p_writes.n, 4);
        CHECK_RUNS(&l, 3, 4, 9);
    }
    lower_end(&l);
}

/* A region is known by its axes; the view of the same elements knows that they are one block. */
TEST(lower_buffer, a_region_becomes_dense_with_its_view)
{
    struct lowered l;
    if (lower_begin(&l,
                    MATRIX "  %1 = constant[2.0] : float64\n"
                           "  %2 = full(%1) : float64[(s0-1),s1]\n"
                           "  %3 = store[1+j0, j1](%0, %2) : float64[s0,s1]\n"
                           "  %4 = view[1+j0, j1](%3) : float64[(s0-1),s1] layout(0,1; contiguous)\n"
                           "  %5 = negative(%4) : float64[(s0-1),s1]\n"
                           "  output (%5)\n",
                    NULL)) {
        check_plan_lines(&l, "    for", "    for %4 < %1:\n    for %7 < %3 vector:\n");
        CHECK_RUNS(&l, 1, 2, 9);
    }
    lower_end(&l);
}

TEST(lower_buffer, symbols_that_a_guard_made_equal_are_one_size)
{
    check_lowered("graph f (s0=10, s1=10 is s0) :\n"
                  "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"
                  "  %1 = placeholder[1] : float64[s1] layout(0; contiguous)\n"
                  "  %2 = negative(%0) : float64[s0]\n"
                  "  %3 = absolute(%1) : float64[s1]\n"
                  "  output (%2, %3)\n",
                  "  size", "  size z0 = s0\n");
}

TEST(lower_buffer, equal_sizes_and_loops_have_one_slot)
{
    struct lowered l;
    if (lower_begin(&l,
                    "graph f (s0=10) :\n"
                    "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"
                    "  %1 = placeholder[1] : float32[s0] layout(0; contiguous)\n"
                    "  %2 = exp(%0) : float64[s0]\n"
                    "  %3 = exp(%1) : float32[s0]\n"
                    "  %4 = exp(%2) : float64[s0]\n"
                    "  %5 = sin(%4) : float64[s0]\n"
                    "  %6 = size[s0] : pyint\n"
                    "  output (%5, %3, %6)\n",
                    NULL)) {
        check_plan_lines(&l, "  size", "  size z0 = s0\n");
        check_plan_lines(&l, "  loop", "  loop l0 = exp float64\n  loop l1 = exp float32\n  loop l2 = sin float64\n");
        CHECK_RUNS(&l, 0, 1, 9, 4000);
    }
    lower_end(&l);
}

/* Called by hand: a tile buffer is its place, dtype and length; the memory of tiles ends on a cache line. */
TEST(lower_buffer, tiles_of_one_place_are_one_buffer)
{
    struct jy_plan plan = { .p_arena = jy_arena_new() };
    struct jy_graph *g = jy_graph_new(plan.p_arena, "f");
    struct jy_lower L = { .arena = plan.p_arena, .g = g, .plan = &plan };
    uint32_t first = jy_lower_tile_buffer(&L, JY_F64, 0, 9);
    CHECK_UINT(plan.p_tile_bytes, 128);
    CHECK_UINT(jy_lower_tile_buffer(&L, JY_F64, 0, 9), first);
    CHECK(jy_lower_tile_buffer(&L, JY_F32, 0, 9) != first);
    CHECK(jy_lower_tile_buffer(&L, JY_F64, 0, 8) != first);
    CHECK(jy_lower_tile_buffer(&L, JY_F64, 64, 1) != first);
    CHECK_UINT(plan.p_tile_bytes, 128);
    jy_lower_tile_buffer(&L, JY_F64, 128, 1);
    CHECK_UINT(plan.p_tile_bytes, 192);
    jy_arena_free(plan.p_arena);
}
