/* What simplifying makes of flows, all of its steps together; that it changes nothing else is flow_fuzz_test.c's business. */
#include "tests/unit/graph/flow_case.h"

/* Two variables round a loop: one that is never changed, and one that nobody needs. The counter stays. */
TEST(flow_simplify, parameters_of_a_loop)
{
    check_simplified(INT_AND_BOOL "    %2 = const[0] : i64\n"
                                  "    jump 1 (%2, %0, %2)\n"
                                  "  block 1 (%3 : i64, %4 : i64, %5 : i64) :\n"
                                  "    %6 = lt %3, %4 : i1\n"
                                  "    branch %6 ? 2 (%3, %4, %5) : 3 (%3, %4, %5)\n"
                                  "  block 2 (%7 : i64, %8 : i64, %9 : i64) :\n"
                                  "    %10 = const[1] : i64\n"
                                  "    %11 = add %7, %10 exit 0 : i64\n"
                                  "    %12 = add %9, %10 : i64\n"
                                  "    jump 1 (%11, %8, %12)\n"
                                  "  block 3 (%13 : i64, %14 : i64, %15 : i64) :\n"
                                  "    exit 1\n"
                                  "  exit 0 check at 5 (%7, %8)\n"
                                  "  exit 1 return at 6 (%13)\n",
                     "flow f :\n"
                     "  input 0 : i64 number 0 int64\n"
                     "  block 0 () :\n"
                     "    %0 = input[0] : i64\n"
                     "    %1 = const[0] : i64\n"
                     "    %2 = const[1] : i64\n"
                     "    jump 1 (%1)\n"
                     "  block 1 (%3 : i64) :\n"
                     "    %4 = lt %3, %0 : i1\n"
                     "    branch %4 ? 2 () : 3 ()\n"
                     "  block 2 () :\n"
                     "    %5 = add %3, %2 exit 0 : i64\n"
                     "    jump 1 (%5)\n"
                     "  block 3 () :\n"
                     "    exit 1\n"
                     "  exit 0 check at 5 (%3, %0)\n"
                     "  exit 1 return at 6 (%3)\n");
}
/* Constants stand in the entry, equal ones as one; zeros of two signs, and numbers of two types, are not equal. */
TEST(flow_simplify, constants_are_gathered)
{
    check_simplified(INT_AND_BOOL "    branch %1 ? 1 () : 2 ()\n"
                                  "  block 1 () :\n"
                                  "    %2 = const[0] : i64\n"
                                  "    %3 = const[0.0] : f64\n"
                                  "    %4 = const[0.0] : f32\n"
                                  "    exit 0\n"
                                  "  block 2 () :\n"
                                  "    %5 = const[-0.0] : f64\n"
                                  "    %6 = const[0] : i64\n"
                                  "    exit 1\n"
                                  "  exit 0 return at 5 (%0, %2, %3, %4)\n"
                                  "  exit 1 return at 6 (%0, %5, %6)\n",
                     INT_AND_BOOL "    %2 = const[0] : i64\n"
                                  "    %3 = const[0.0] : f64\n"
                                  "    %4 = const[0.0] : f32\n"
                                  "    %5 = const[-0.0] : f64\n"
                                  "    branch %1 ? 1 () : 2 ()\n"
                                  "  block 1 () :\n"
                                  "    exit 0\n"
                                  "  block 2 () :\n"
                                  "    exit 1\n"
                                  "  exit 0 return at 5 (%0, %2, %3, %4)\n"
                                  "  exit 1 return at 6 (%0, %5, %2)\n");
}

/* What one step finds gives the others something to do: the constant that always comes decides a branch, whose other arm was what made %4 change. */
TEST(flow_simplify, steps_are_repeated)
{
    check_simplified(INT_AND_BOOL "    %2 = const[1] : i64\n"
                                  "    jump 1 (%2, %0)\n"
                                  "  block 1 (%3 : i64, %4 : i64) :\n"
                                  "    poll exit 0\n"
                                  "    %5 = const[1] : i64\n"
                                  "    %6 = eq %3, %5 : i1\n"
                                  "    branch %6 ? 1 (%5, %4) : 2 ()\n"
                                  "  block 2 () :\n"
                                  "    %7 = add %4, %5 : i64\n"
                                  "    jump 1 (%3, %7)\n"
                                  "  exit 0 poll at 5 (%4)\n",
                     "flow f :\n"
                     "  input 0 : i64 number 0 int64\n"
                     "  block 0 () :\n"
                     "    %0 = input[0] : i64\n"
                     "    jump 1 ()\n"
                     "  block 1 () :\n"
                     "    poll exit 0\n"
                     "    jump 1 ()\n"
                     "  exit 0 poll at 5 (%0)\n");
}
