/* Loop nests of pointwise groups: which axes are joined, what is loaded where, what is not stored. */
#include "tests/unit/graph/lowering.h"

#define TWO_MATRICES(first, second)                                                                                    \
    "graph f (s0=6, s1=4) :\n"                                                                                         \
    "  %0 = placeholder[0] : float64[s0,s1] layout(" first ")\n"                                                       \
    "  %1 = placeholder[1] : float64[s0,s1] layout(" second ")\n"                                                      \
    "  %2 = add(%0, %1) : float64[s0,s1] layout(0,1; contiguous)\n"                                                    \
    "  output (%2)\n"

static void
check_depth(const char *source, size_t depth)
{
    struct lowered l;
    if (lower_begin(&l, source, NULL)) {
        CHECK_UINT(count_statements(&l, 0, JY_L_FOR), depth);
        CHECK_RUNS(&l, 0, 1, 2, 9);
    }
    lower_end(&l);
}

TEST(lower_nest, axes_are_joined_where_every_buffer_is_one_line)
{
    check_depth(TWO_MATRICES("0,1; contiguous", "0,1; contiguous"), 1);
    check_depth(TWO_MATRICES("0,1; contiguous", "1,0; contiguous"), 2);
    check_depth(TWO_MATRICES("0,1; contiguous", "0,1; unit; strides 64,8"), 2);
    check_depth(TWO_MATRICES("0,1; strides 128,16", "0,1; contiguous"), 2);
}

/* Stretched operands: a scalar joins everything, a row or a column nothing that it spans in part. */
TEST(lower_nest, stretched_axes_are_not_joined)
{
#define STRETCHED(shape, layout)                                                                                       \
    "graph f (s0=6, s1=4) :\n"                                                                                         \
    "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"                                                 \
    "  %1 = placeholder[1] : float64" shape layout "\n"                                                                \
    "  %2 = subtract(%0, %1) : float64[s0,s1]\n"                                                                       \
    "  output (%2)\n"
    check_depth(STRETCHED("[s1]", " layout(0; contiguous)"), 2);
    check_depth(STRETCHED("[s0,1]", " layout(0,1; contiguous)"), 2);
    check_depth(STRETCHED("[1,s1]", " layout(0,1; contiguous)"), 2);
    check_depth(STRETCHED("[1,1]", " layout(0,1; contiguous)"), 1);
    check_depth(STRETCHED("[]", ""), 1);
    check_depth(STRETCHED("", ""), 1);
}

/* The outer two of three axes are one line, the inner one is stretched: joined in pairs from the inside only. */
TEST(lower_nest, joining_begins_inside)
{
    check_depth("graph f (s0=6, s1=4) :\n"
                "  %0 = placeholder[0] : float64[s0,s1,s0] layout(0,1,2; contiguous)\n"
                "  %1 = placeholder[1] : float64[s0,s1,1] layout(0,1,2; contiguous)\n"
                "  %2 = subtract(%0, %1) : float64[s0,s1,s0]\n"
                "  output (%2)\n",
                3);
    check_depth("graph f (s0=6, s1=4) :\n"
                "  %0 = placeholder[0] : float64[s0,s1,s0] layout(0,1,2; contiguous)\n"
                "  %1 = placeholder[1] : float64[s1,s0] layout(0,1; contiguous)\n"
                "  %2 = subtract(%0, %1) : float64[s0,s1,s0]\n"
                "  output (%2)\n",
                2);
    check_depth("graph f (s0=6, s1=4) :\n"
                "  %0 = placeholder[0] : float64[s0,1,s1] layout(0,1,2; contiguous)\n"
                "  %1 = negative(%0) : float64[s0,1,s1]\n"
                "  output (%1)\n",
                1);
}

/* The two inner axes of an operand are one line only where it has them next to each other, innermost. */
TEST(lower_nest, joined_axes_are_neighbours_in_every_operand)
{
#define THREE_AXES(order)                                                                                              \
    "graph f (s0=6, s1=4) :\n"                                                                                         \
    "  %0 = placeholder[0] : float64[s0,s1,s0] layout(0,1,2; contiguous)\n"                                            \
    "  %1 = placeholder[1] : float64[s0,s1,s0] layout(" order "; contiguous)\n"                                        \
    "  %2 = subtract(%0, %1) : float64[s0,s1,s0] layout(0,1,2; contiguous)\n"                                          \
    "  output (%2)\n"
    check_depth(THREE_AXES("0,1,2"), 1);
    check_depth(THREE_AXES("1,2,0"), 3);
    check_depth(THREE_AXES("1,0,2"), 3);
    check_depth(THREE_AXES("2,1,0"), 3);
}

/* The product of the extents is the only loop; the joined index runs along the axis of stride itemsize. */
TEST(lower_nest, a_joined_nest_is_one_vector_loop)
{
    check_lowered("graph f (s0=6, s1=4) :\n"
                  "  %0 = placeholder[0] : float64[s0,s1] layout(1,0; contiguous)\n"
                  "  %1 = negative(%0) : float64[s0,s1] layout(1,0; contiguous)\n"
                  "  output (%1)\n",
                  STATEMENTS,
                  "    %0 = size z0 ; (s0*s1)\n"
                  "    for %1 < %0 vector:\n"
                  "      %2 = load float64 b0[%1, 0]\n"
                  "      %3 = negative float64 %2\n"
                  "      store b1[%1, 0] = %3\n");
}

/* A constant extent is no size slot; an operand is loaded once; 0-d operands before the loops. */
TEST(lower_nest, loads_once_and_scalars_first)
{
    check_lowered("graph f (s0=6) :\n"
                  "  %0 = placeholder[0] : float64[7] layout(0; contiguous)\n"
                  "  %1 = placeholder[1] : float64[]\n"
                  "  %2 = multiply(%0, %1) : float64[7]\n"
                  "  %3 = add(%2, %0) : float64[7]\n"
                  "  %4 = subtract(%3, %1) : float64[7]\n"
                  "  %5 = placeholder[2] : float64[s0] layout(0; contiguous)\n"
                  "  output (%4, %5)\n",
                  STATEMENTS,
                  "    %0 = const int64 7\n"
                  "    %1 = load float64 b1[]\n"
                  "    for %2 < %0 vector:\n"
                  "      %3 = load float64 b0[%2]\n"
                  "      %4 = multiply float64 %3, %1\n"
                  "      %5 = add float64 %4, %3\n"
                  "      %6 = subtract float64 %5, %1\n"
                  "      store b3[%2] = %6\n");
}

/* NumPy scalars warn when they overflow, Python's integers do not overflow: the original must run. Arrays wrap. */
TEST(lower_nest, checks_integers_of_scalars_but_not_of_arrays)
{
    check_lowered("graph f (s0=5) :\n"
                  "  %0 = placeholder[0] : int64\n"
                  "  %1 = placeholder[1] : int64[s0] layout(0; contiguous)\n"
                  "  %2 = placeholder[2] : float64\n"
                  "  %3 = add(%0, %0) : int64\n"
                  "  %4 = add(%1, %3) : int64[s0]\n"
                  "  %5 = add(%2, %2) : float64\n"
                  "  %6 = minimum(%0, %3) : int64\n"
                  "  output (%4, %5, %6)\n",
                  STATEMENTS,
                  "    %0 = scalar int64 q0\n"
                  "    %1 = scalar float64 q1\n"
                  "    %2 = size z0 ; s0\n"
                  "    %3 = add int64 %0, %0 checked\n"
                  "    %4 = add float64 %1, %1\n"
                  "    set q2 = %4\n"
                  "    %6 = minimum int64 %0, %3\n"
                  "    set q3 = %6\n"
                  "    for %8 < %2 vector:\n"
                  "      %9 = load int64 b0[%8]\n"
                  "      %10 = add int64 %9, %3\n"
                  "      store b1[%8] = %10\n");
}

/* The first STORE of a nest to the same elements is never seen. */
TEST(lower_nest, an_overwritten_store_is_left_out)
{
    static const char source[] = VECTORS "  %2 = negative(%0) : float64[s0]\n"
                                         "  %3 = store(%0, %2) : float64[s0]\n"
                                         "  %4 = multiply(%3, %1) : float64[s0]\n"
                                         "  %5 = store(%3, %4) : float64[s0]\n"
                                         "  output ()\n";
    struct lowered l;
    if (lower_begin(&l, source, NULL)) {
        check_plan_lines(&l, STATEMENTS,
                         "    %0 = size z0 ; s0\n"
                         "    for %1 < %0 vector:\n"
                         "      %2 = load float64 b0[%1]\n"
                         "      %3 = negative float64 %2\n"
                         "      %4 = load float64 b1[%1]\n"
                         "      %5 = multiply float64 %3, %4\n"
                         "      store b0[%1] = %5\n");
        CHECK_RUNS(&l, 1, 9);
    }
    lower_end(&l);
}

/* Of one nest, but into two arrays. */
TEST(lower_nest, stores_to_two_arrays_are_both_kept)
{
    struct lowered l;
    if (lower_begin(&l,
                    VECTORS "  %2 = add(%0, %1) : float64[s0]\n"
                            "  %3 = subtract(%0, %1) : float64[s0]\n"
                            "  %4 = store(%0, %2) : float64[s0]\n"
                            "  %5 = store(%1, %3) : float64[s0]\n"
                            "  output ()\n",
                    NULL)) {
        CHECK_UINT(count_statements(&l, 0, JY_L_FOR), 1);
        CHECK_UINT(count_statements(&l, 0, JY_L_STORE), 2);
        CHECK_RUNS(&l, 1, 9);
    }
    lower_end(&l);
}

/* All elements, and then some of them again: both STOREs are seen. */
TEST(lower_nest, a_store_to_other_elements_is_kept)
{
    struct lowered l;
    if (lower_begin(&l,
                    VECTORS "  %2 = constant[2.0] : float64\n"
                            "  %3 = store(%0, %2) : float64[s0]\n"
                            "  %4 = full(%2) : float64[(s0-1)]\n"
                            "  %5 = negative(%4) : float64[(s0-1)]\n"
                            "  %6 = store[1+j0](%3, %5) : float64[s0]\n"
                            "  output ()\n",
                    NULL)) {
        CHECK_UINT(count_statements(&l, 0, JY_L_STORE), 2);
        CHECK_RUNS(&l, 1, 2, 9);
    }
    lower_end(&l);
}

/* All is read before anything is written, through scratch that looks like the value. */
TEST(lower_nest, copies_go_through_scratch)
{
    struct lowered l;
    if (lower_begin(&l,
                    MATRIX "  %1 = view[j0, 1+j1](%0) : float64[s0,(s1-1)]\n"
                           "  %2 = store[j0, j1](%0, %1) : float64[s0,s1]\n"
                           "  output ()\n",
                    NULL)) {
        check_plan_lines(&l, STATEMENTS,
                         "    %0 = size z0 ; s0\n"
                         "    %1 = size z1 ; (s1-1)\n"
                         "    for %2 < %0:\n"
                         "      for %3 < %1 vector:\n"
                         "        %4 = load float64 b1[%2, %3]\n"
                         "        store b3[%2, %3] = %4\n"
                         "    for %6 < %0:\n"
                         "      for %7 < %1 vector:\n"
                         "        %8 = load float64 b3[%6, %7]\n"
                         "        store b2[%6, %7] = %8\n");
        CHECK_RUNS(&l, 1, 2, 9);
    }
    lower_end(&l);
}

static bool
exp_has_vector(jy_op op, jy_dtype dtype)
{
    return op == JY_OP_EXP && dtype == JY_F64;
}

/* An operation with a vector function is one of any vector loop, for its dtype; of a scalar it is NumPy's own loop. */
TEST(lower_nest, vector_functions_are_called_where_they_are)
{
    struct lowered l;
    if (lower_begin(&l,
                    "graph f (s0=5) :\n"
                    "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"
                    "  %1 = placeholder[1] : float32[s0] layout(0; contiguous)\n"
                    "  %2 = placeholder[2] : float64\n"
                    "  %3 = exp(%0) : float64[s0]\n"
                    "  %4 = exp(%1) : float32[s0]\n"
                    "  %5 = exp(%2) : float64\n"
                    "  %6 = multiply(%3, %5) : float64[s0]\n"
                    "  output (%6, %4)\n",
                    exp_has_vector)) {
        CHECK_UINT(count_statements(&l, 0, JY_L_VCALL), 1);
        CHECK_UINT(count_statements(&l, 0, JY_L_UFUNC), 2);
        CHECK_RUNS(&l, 1, 9);
    }
    lower_end(&l);
}
