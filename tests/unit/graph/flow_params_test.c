/* Parameters that are copies, and those that only look like it. */
#include "graph/flow_simplify_internal.h"
#include "tests/unit/graph/flow_case.h"

/* Parameters of a ring with two entries that only pass each other on: taking away trivial ones one by one does not find them. */
TEST(flow_params, of_a_ring_with_two_entries)
{
    check_simplified(INT_AND_BOOL "    branch %1 ? 1 (%0) : 2 (%0)\n"
                                  "  block 1 (%2 : i64) :\n"
                                  "    poll exit 0\n"
                                  "    jump 2 (%2)\n"
                                  "  block 2 (%3 : i64) :\n"
                                  "    poll exit 1\n"
                                  "    jump 1 (%3)\n"
                                  "  exit 0 poll at 5 (%2)\n"
                                  "  exit 1 poll at 6 (%3)\n",
                     INT_AND_BOOL "    branch %1 ? 2 () : 1 ()\n"
                                  "  block 1 () :\n"
                                  "    poll exit 1\n"
                                  "    jump 2 ()\n"
                                  "  block 2 () :\n"
                                  "    poll exit 0\n"
                                  "    jump 1 ()\n"
                                  "  exit 0 poll at 5 (%0)\n"
                                  "  exit 1 poll at 6 (%0)\n");
}

/* Two variables that change places are not the same, though each is only ever a copy. */
TEST(flow_params, that_change_places)
{
    check_simplified(INT_AND_BOOL "    %2 = const[7] : i64\n"
                                  "    jump 1 (%0, %2)\n"
                                  "  block 1 (%3 : i64, %4 : i64) :\n"
                                  "    poll exit 0\n"
                                  "    jump 1 (%4, %3)\n"
                                  "  exit 0 poll at 5 (%3, %4)\n",
                     "flow f :\n"
                     "  input 0 : i64 number 0 int64\n"
                     "  block 0 () :\n"
                     "    %0 = input[0] : i64\n"
                     "    %1 = const[7] : i64\n"
                     "    jump 1 (%0, %1)\n"
                     "  block 1 (%2 : i64, %3 : i64) :\n"
                     "    poll exit 0\n"
                     "    jump 1 (%3, %2)\n"
                     "  exit 0 poll at 5 (%2, %3)\n");
}

/* Bits that are always the same, also where they change places, are one; one that lags behind them is not. */
TEST(flow_params, that_are_equal_bits)
{
    check_simplified(INT_AND_BOOL "    %2 = const[False] : i1\n"
                                  "    %3 = const[True] : i1\n"
                                  "    jump 1 (%2, %2, %2)\n"
                                  "  block 1 (%4 : i1, %5 : i1, %6 : i1) :\n"
                                  "    poll exit 0\n"
                                  "    branch %1 ? 1 (%3, %3, %4) : 2 ()\n"
                                  "  block 2 () :\n"
                                  "    poll exit 1\n"
                                  "    jump 1 (%5, %4, %3)\n"
                                  "  exit 0 poll at 5 (%4, %5, %6)\n"
                                  "  exit 1 poll at 6 (%5)\n",
                     "flow f :\n"
                     "  input 0 : i1 number 1 bool\n"
                     "  block 0 () :\n"
                     "    %0 = input[0] : i1\n"
                     "    %1 = const[False] : i1\n"
                     "    %2 = const[True] : i1\n"
                     "    jump 1 (%1, %1)\n"
                     "  block 1 (%3 : i1, %4 : i1) :\n"
                     "    poll exit 0\n"
                     "    branch %0 ? 1 (%2, %3) : 2 ()\n"
                     "  block 2 () :\n"
                     "    poll exit 1\n"
                     "    jump 1 (%3, %2)\n"
                     "  exit 0 poll at 5 (%3, %3, %4)\n"
                     "  exit 1 poll at 6 (%3)\n");
}

/* One value comes by all ways that can be gone; what an unreachable block passes counts for nothing. */
TEST(flow_params, that_get_one_value_by_all_ways)
{
    check_step(INT_AND_BOOL "    branch %1 ? 1 (%0, %0) : 2 (%0)\n"
                            "  block 1 (%2 : i64, %3 : i64) :\n"
                            "    jump 3 (%2, %3)\n"
                            "  block 2 (%4 : i64) :\n"
                            "    %5 = neg %4 : i64\n"
                            "    jump 3 (%4, %5)\n"
                            "  block 3 (%6 : i64, %7 : i64) :\n"
                            "    exit 0\n"
                            "  block 4 () :\n"
                            "    %8 = const[3] : i64\n"
                            "    jump 3 (%8, %0)\n"
                            "  exit 0 return at 5 (%6, %7)\n",
               jy_flow_drop_params,
               INT_AND_BOOL "    branch %1 ? 1 () : 2 ()\n"
                            "  block 1 () :\n"
                            "    jump 3 (%0)\n"
                            "  block 2 () :\n"
                            "    %5 = neg %0 : i64\n"
                            "    jump 3 (%5)\n"
                            "  block 3 (%7 : i64) :\n"
                            "    exit 0\n"
                            "  block 4 () :\n"
                            "    %8 = const[3] : i64\n"
                            "    jump 3 (%0)\n"
                            "  exit 0 return at 5 (%0, %7)\n");
}

/* A parameter may be a copy of another one, where different values come together first. */
TEST(flow_params, that_are_copies_of_another_one)
{
    check_step(INT_AND_BOOL "    %2 = neg %0 : i64\n"
                            "    branch %1 ? 1 (%0) : 1 (%2)\n"
                            "  block 1 (%3 : i64) :\n"
                            "    jump 2 (%3)\n"
                            "  block 2 (%4 : i64) :\n"
                            "    poll exit 0\n"
                            "    jump 2 (%4)\n"
                            "  exit 0 poll at 5 (%3, %4)\n",
               jy_flow_drop_params,
               INT_AND_BOOL "    %2 = neg %0 : i64\n"
                            "    branch %1 ? 1 (%0) : 1 (%2)\n"
                            "  block 1 (%3 : i64) :\n"
                            "    jump 2 ()\n"
                            "  block 2 () :\n"
                            "    poll exit 0\n"
                            "    jump 2 ()\n"
                            "  exit 0 poll at 5 (%3, %3)\n");
}

/* Equal constants are two values here (gathering makes them one); a sum with zero is no copy. */
TEST(flow_params, that_are_no_copies)
{
    check_step(INT_AND_BOOL "    %2 = const[0] : i64\n"
                            "    jump 1 (%0)\n"
                            "  block 1 (%3 : i64) :\n"
                            "    %4 = add %3, %2 : i64\n"
                            "    branch %1 ? 1 (%4) : 2 ()\n"
                            "  block 2 () :\n"
                            "    exit 0\n"
                            "  exit 0 return at 5 (%3)\n",
               jy_flow_drop_params, NULL);
}
