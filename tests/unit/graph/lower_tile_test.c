/* Nests with NumPy's inner loops: tiles and their remainders, what is passed as it lies, what waits in which buffer. */
#include "tests/unit/graph/lowering.h"

/* Around the length of a tile, which is at most 1024 elements. */
#define AROUND_TILES 0, 1, 63, 1023, 1024, 1025, 2500

TEST(lower_tile, the_last_tile_is_what_is_left)
{
    struct lowered l;
    if (lower_begin(&l, VECTORS "  %2 = multiply(%0, %1) : float64[s0]\n  %3 = exp(%2) : float64[s0]\n  output (%3)\n",
                    NULL)) {
        check_plan_lines(&l, STATEMENTS,
                         "    %0 = size z0 ; s0\n"
                         "    %1 = const int64 1024\n"
                         "    for %2 < %0 step 1024:\n"
                         "      %3 = int subtract %0, %2\n"
                         "      %4 = int minimum %1, %3\n"
                         "      for %5 < %4 vector:\n"
                         "        %6 = load float64 b0[%2+%5]\n"
                         "        %7 = load float64 b1[%2+%5]\n"
                         "        %8 = multiply float64 %6, %7\n"
                         "        store b3[%5] = %8\n"
                         "      ufunc l0 %4 (b3[0:]) -> b2[%2:]\n");
        CHECK_RUNS(&l, AROUND_TILES);
    }
    lower_end(&l);
}

TEST(lower_tile, a_lone_call_takes_the_whole_run)
{
    check_lowered(VECTORS "  %2 = arctan2(%0, %1) : float64[s0]\n  output (%2)\n", STATEMENTS,
                  "    %0 = size z0 ; s0\n    ufunc l0 %0 (b0[0:], b1[0:]) -> b2[0:]\n");
}

/* Stride 0 is what NumPy gives its loops for a scalar; every scalar has a cache line of its own. */
TEST(lower_tile, scalars_are_passed_with_stride_0)
{
    struct lowered l;
    if (lower_begin(&l,
                    "graph f (s0=10) :\n"
                    "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"
                    "  %1 = placeholder[1] : pyfloat\n"
                    "  %2 = constant[0.5] : float64\n"
                    "  %3 = power(%0, %1) : float64[s0]\n"
                    "  %4 = power(%3, %2) : float64[s0]\n"
                    "  %5 = hypot(%4, %1) : float64[s0]\n"
                    "  output (%5)\n",
                    NULL)) {
        check_plan_lines(&l, "      ufunc",
                         "      ufunc l0 %8 (b0[%6:], b4[0]) -> b2[0:]\n"
                         "      ufunc l0 %8 (b2[0:], b5[0]) -> b3[0:]\n"
                         "      ufunc l1 %8 (b3[0:], b4[0]) -> b1[%6:]\n");
        CHECK_INT(l.plan->p_buffers.at[5].b_index - l.plan->p_buffers.at[4].b_index, 64);
        CHECK_RUNS(&l, AROUND_TILES);
    }
    lower_end(&l);
}

/* A chain of calls needs two places in turn, not one per value; tiles are as long as then fit. */
TEST(lower_tile, places_are_given_back)
{
    struct lowered l;
    if (lower_begin(&l,
                    VECTORS "  %2 = negative(%0) : float64[s0]\n"
                            "  %3 = exp(%2) : float64[s0]\n"
                            "  %4 = sin(%3) : float64[s0]\n"
                            "  %5 = exp(%4) : float64[s0]\n"
                            "  %6 = sin(%5) : float64[s0]\n"
                            "  %7 = add(%6, %1) : float64[s0]\n"
                            "  output (%7)\n",
                    NULL)) {
        CHECK_UINT(l.plan->p_tile_bytes, 2 * 1024 * 8);
        CHECK_RUNS(&l, AROUND_TILES);
    }
    lower_end(&l);
    if (lower_begin(&l,
                    VECTORS "  %2 = exp(%0) : float64[s0]\n"
                            "  %3 = sin(%0) : float64[s0]\n"
                            "  %4 = tanh(%0) : float64[s0]\n"
                            "  %5 = log(%0) : float64[s0]\n"
                            "  %6 = hypot(%2, %3) : float64[s0]\n"
                            "  %7 = hypot(%4, %5) : float64[s0]\n"
                            "  %8 = add(%6, %7) : float64[s0]\n"
                            "  %9 = add(%8, %1) : float64[s0]\n"
                            "  output (%9)\n",
                    NULL)) {
        CHECK(l.plan->p_tile_bytes > 4 * 64 * 8 && l.plan->p_tile_bytes <= 32768);
        CHECK_RUNS(&l, 0, 1, 700, 2500);
    }
    lower_end(&l);
}

/* What is handed out is its own tile, so it is not copied; a later call reads it there. */
TEST(lower_tile, results_in_memory_are_their_own_tiles)
{
    check_lowered(VECTORS "  %2 = exp(%0) : float64[s0]\n  %3 = sin(%2) : float64[s0]\n  output (%2, %3)\n", "      ",
                  "      %3 = int subtract %0, %2\n"
                  "      %4 = int minimum %1, %3\n"
                  "      ufunc l0 %4 (b0[%2:]) -> b2[%2:]\n"
                  "      ufunc l1 %4 (b2[%2:]) -> b3[%2:]\n");
}

/* A call in a later phase reads what the STORE overwrites: it waits. */
TEST(lower_tile, stores_wait_for_every_call)
{
    struct lowered l;
    if (lower_begin(&l,
                    VECTORS "  %2 = exp(%1) : float64[s0]\n"
                            "  %3 = negative(%1) : float64[s0]\n"
                            "  %4 = multiply(%2, %3) : float64[s0]\n"
                            "  %5 = hypot(%4, %0) : float64[s0]\n"
                            "  %6 = store(%0, %3) : float64[s0]\n"
                            "  output (%5)\n",
                    NULL)) {
        CHECK_RUNS(&l, AROUND_TILES);
    }
    lower_end(&l);
}

#define STRIDED_MATRICES                                                                                               \
    "graph f (s0=6, s1=4) :\n"                                                                                         \
    "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; strides 128,16)\n"                                             \
    "  %1 = placeholder[1] : float64[s1] layout(0; contiguous)\n"

/* Rows and columns of a space that is not one line: short rows make one tile together, long ones are cut. */
TEST(lower_tile, grids_have_remainders_both_ways)
{
    struct lowered l;
    if (lower_begin(&l,
                    STRIDED_MATRICES
                    "  %2 = exp(%0) : float64[s0,s1]\n  %3 = add(%2, %1) : float64[s0,s1]\n  output (%3)\n",
                    NULL)) {
        static const int64_t extents[][2] = { { 0, 5 },    { 5, 0 },    { 1, 1 },    { 1, 1025 },
                                              { 1025, 1 }, { 3, 1023 }, { 3, 1024 }, { 2, 1025 },
                                              { 40, 100 }, { 7, 300 },  { 2500, 2 } };
        for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
            check_runs(&l, extents[i], INT64_MAX);
    }
    lower_end(&l);
}

/* A row that is stretched over the grid is copied, so that the call sees one element per element. */
TEST(lower_tile, stretched_operands_of_calls_are_copied)
{
    struct lowered l;
    if (lower_begin(&l, STRIDED_MATRICES "  %2 = hypot(%0, %1) : float64[s0,s1]\n  output (%2)\n", NULL)) {
        CHECK_UINT(count_statements(&l, 0, JY_L_UFUNC), 1);
        CHECK_UINT(count_statements(&l, 0, JY_L_LOAD), 3); /* both operands in, the result out */
        check_runs(&l, (int64_t[]){ 1, 1 }, INT64_MAX);
        check_runs(&l, (int64_t[]){ 7, 300 }, INT64_MAX);
        check_runs(&l, (int64_t[]){ 2, 1025 }, INT64_MAX);
    }
    lower_end(&l);
}

/* An array of one element is passed as a scalar is. */
TEST(lower_tile, single_elements_are_not_copied)
{
    check_lowered("graph f (s0=6) :\n"
                  "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"
                  "  %1 = placeholder[1] : float64[1] layout(0; contiguous)\n"
                  "  %2 = arctan2(%0, %1) : float64[s0]\n"
                  "  output (%2)\n",
                  STATEMENTS, "    %0 = size z0 ; s0\n    ufunc l0 %0 (b0[0:], b1[0]) -> b2[0:]\n");
}

/* Axes outside of the two that are tiled are plain loops. */
TEST(lower_tile, outer_axes_are_loops)
{
    struct lowered l;
    if (lower_begin(&l,
                    "graph f (s0=6, s1=4) :\n"
                    "  %0 = placeholder[0] : float64[s0,s1,s0] layout(0,1,2; strides 4096,256,16)\n"
                    "  %1 = negative(%0) : float64[s0,s1,s0]\n"
                    "  %2 = sin(%1) : float64[s0,s1,s0]\n"
                    "  output (%2)\n",
                    NULL))
        CHECK_RUNS(&l, 0, 1, 2, 9, 33);
    lower_end(&l);
}

/* NumPy's power of scalars is no loop of NumPy's: a run of one that advances, so that stride 0 takes no short cut. */
TEST(lower_tile, scalar_calls_are_runs_of_one)
{
    check_lowered("graph f () :\n"
                  "  %0 = placeholder[0] : float64\n"
                  "  %1 = power(%0, %0) : float64\n"
                  "  %2 = hypot(%0, %1) : float64\n"
                  "  output (%2)\n",
                  "    ufunc",
                  "    ufunc l0 %1 (b0[0:], b1[0:]) -> b2[0:]\n"
                  "    ufunc l1 %1 (b0[0], b1[0]) -> b2[0:]\n");
}

TEST(lower_tile, constants_of_one_element_are_one_tile)
{
    struct lowered l;
    if (lower_begin(&l,
                    "graph f (s0=6) :\n"
                    "  %0 = placeholder[0] : float64[1] layout(0; contiguous)\n"
                    "  %1 = placeholder[1] : float64[s0] layout(0; contiguous)\n"
                    "  %2 = exp(%0) : float64[1]\n"
                    "  %3 = negative(%2) : float64[1]\n"
                    "  output (%3, %1)\n",
                    NULL)) {
        CHECK_UINT(count_statements(&l, 0, JY_L_FOR), 0);
        CHECK_RUNS(&l, 1, 3);
    }
    lower_end(&l);
}
