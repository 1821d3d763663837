/* Reductions that keep the innermost axis: rows are added in order, and NumPy's single run where one element is kept. */
#include "tests/unit/graph/lowering.h"

static void
check_rows(const char *source, size_t loops)
{
    struct lowered l;
    if (lower_begin(&l, source, NULL)) {
        CHECK_UINT(count_steps(&l, JY_STEP_NPREDUCE), 0);
        if (!CHECK_UINT(count_statements(&l, 0, JY_L_FOR), loops))
            printf("\n    %s", source);
        CHECK_RUNS(&l, 1, 2, 3, 9, 40);
    }
    lower_end(&l);
}

/* %1: two cases, loops over s1; over s0 and s1; and the single run. */
TEST(lower_rows, a_single_column_is_one_run)
{
    struct lowered l;
    if (lower_begin(&l, MATRIX "  %1 = sum[0](%0) : float64[s1]\n  output (%1)\n", NULL)) {
        CHECK_UINT(count_statements(&l, 0, JY_L_FOLD), 1);
        /* no column is no run, either */
        check_plan_lines(&l, "  size",
                         "  size z0 = (1-min(min(s1,1),max((2-s1),0)))\n"
                         "  size z1 = s1\n"
                         "  size z2 = s0\n"
                         "  size z3 = min(min(s1,1),max((2-s1),0))\n");
        for (int64_t rows = 0; rows < 40; rows++) /* the tree differs from a chain from the ninth element on */
            check_runs(&l, (int64_t[]){ rows, 1 }, INT64_MAX);
        check_runs(&l, (int64_t[]){ 300, 1 }, INT64_MAX);
        check_runs(&l, (int64_t[]){ 300, 1 }, 32);
        check_runs(&l, (int64_t[]){ 5, 0 }, INT64_MAX);
    }
    lower_end(&l);
}

/* Known to be several, or with an order that cannot be seen: no second case. */
TEST(lower_rows, one_piece_of_code_where_the_order_cannot_differ)
{
    check_rows("graph f (s0=6) :\n"
               "  %0 = placeholder[0] : float64[s0,3] layout(0,1; contiguous)\n"
               "  %1 = sum[0](%0) : float64[3]\n"
               "  output (%1)\n",
               3);
    check_rows(MATRIX "  %1 = prod[0](%0) : float64[s1]\n  output (%1)\n", 3);
    check_rows("graph f (s0=6, s1=4) :\n"
               "  %0 = placeholder[0] : int64[s0,s1] layout(0,1; contiguous)\n"
               "  %1 = sum[0](%0) : int64[s1]\n"
               "  output (%1)\n",
               3);
}

/* Rows in memory order: of an array in Fortran order these are its columns. */
TEST(lower_rows, rows_are_those_of_the_memory)
{
    check_rows("graph f (s0=6, s1=4) :\n"
               "  %0 = placeholder[0] : float64[s0,s1] layout(1,0; contiguous)\n"
               "  %1 = sum[1](%0) : float64[s0]\n"
               "  output (%1)\n",
               5);
    check_rows("graph f (s0=6, s1=4) :\n"
               "  %0 = placeholder[0] : float64[s0,s1,2] layout(0,1,2; contiguous)\n"
               "  %1 = sum[0,1](%0) : float64[2]\n"
               "  output (%1)\n",
               4);
}

/* Of integers the folded axes go outside, whatever the memory says: the inner loop runs along what is kept. */
TEST(lower_rows, integers_fold_outside)
{
    check_lowered("graph f (s0=6, s1=4) :\n"
                  "  %0 = placeholder[0] : int64[s0,s1,2] layout(0,1,2; strides 512,64,8)\n"
                  "  %1 = sum[1,2](%0) : int64[s0]\n"
                  "  output (%1)\n",
                  STATEMENTS,
                  "    %0 = size z0 ; s0\n"
                  "    %1 = const int64 0\n"
                  "    %2 = size z1 ; s1\n"
                  "    %3 = const int64 2\n"
                  "    for %4 < %0 vector:\n"
                  "      store b1[%4] = %1\n"
                  "    for %6 < %2:\n"
                  "      for %7 < %3:\n"
                  "        for %8 < %0 vector:\n"
                  "          %9 = load int64 b0[%8, %6, %7]\n"
                  "          %10 = load int64 b1[%8]\n"
                  "          %11 = add int64 %10, %9\n"
                  "          store b1[%8] = %11\n");
}

/* Axes that stay with extent 1 are indexed by nothing. */
TEST(lower_rows, kept_dimensions_do_not_shift_axes)
{
    check_rows("graph f (s0=6, s1=4) :\n"
               "  %0 = placeholder[0] : float64[s0,s1,2] layout(0,1,2; contiguous)\n"
               "  %1 = sum[0; keepdims](%0) : float64[1,s1,2]\n"
               "  output (%1)\n",
               7);
    check_rows("graph f (s0=6, s1=4) :\n"
               "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"
               "  %1 = max[0; keepdims](%0) : float64[1,s1]\n"
               "  output (%1)\n",
               5);
}

/* Producers are computed as their rows are added; minima begin with the first row, so they have none. */
TEST(lower_rows, producers_are_computed_row_by_row)
{
    struct lowered l;
    if (lower_begin(&l,
                    MATRIX "  %1 = square(%0) : float64[s0,s1]\n"
                           "  %2 = sum[0](%1) : float64[s1]\n"
                           "  output (%2)\n",
                    NULL)) {
        CHECK(has_note(&l, "%1 fused into reduction %2"));
        CHECK_UINT(l.plan->p_buffers.n, 2);
        CHECK_RUNS(&l, 1, 2, 9);
    }
    lower_end(&l);
    if (lower_begin(&l,
                    MATRIX "  %1 = square(%0) : float64[s0,s1]\n"
                           "  %2 = min[0](%1) : float64[s1]\n"
                           "  output (%2)\n",
                    NULL)) {
        CHECK_UINT(l.plan->p_buffers.n, 3);
        CHECK_RUNS(&l, 1, 2, 9);
    }
    lower_end(&l);
}
