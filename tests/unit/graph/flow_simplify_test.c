/* What simplifying makes of flows, as text; that it changes nothing else is flow_fuzz_test.c's business, but for what random flows do not have: loops with two entries. */
#include "tests/unit/graph/flow_case.h"

static void
check_simplified(const char *source, const char *expected)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL) {
        jy_flow_simplify(w);
        CHECK_PTR(jy_flow_verify(w), NULL);
        check_flow_text(w, expected);
    }
    jy_arena_free(arena);
}

#define INPUTS                                                                                                         \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i1 number 1 bool\n"                                                                                   \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i1\n"

/* Two variables round a loop: one that is never changed, and one that nobody needs. The counter stays. */
TEST(flow_simplify, parameters_of_a_loop)
{
    check_simplified(INPUTS "    %2 = const[0] : i64\n"
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

/* Parameters of a ring with two entries that only pass each other on: taking away trivial ones one by one does not find them. */
TEST(flow_simplify, parameters_of_a_ring_with_two_entries)
{
    check_simplified(INPUTS "    branch %1 ? 1 (%0) : 2 (%0)\n"
                            "  block 1 (%2 : i64) :\n"
                            "    poll exit 0\n"
                            "    jump 2 (%2)\n"
                            "  block 2 (%3 : i64) :\n"
                            "    poll exit 1\n"
                            "    jump 1 (%3)\n"
                            "  exit 0 poll at 5 (%2)\n"
                            "  exit 1 poll at 6 (%3)\n",
                     INPUTS "    branch %1 ? 2 () : 1 ()\n"
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
TEST(flow_simplify, parameters_that_change_places)
{
    check_simplified(INPUTS "    %2 = const[7] : i64\n"
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

/* A passed check stands for the same one later, and for a wrapping instruction; a wrapping one does not stand for a check. */
TEST(flow_simplify, checks_that_were_passed)
{
    check_simplified(INPUTS "    %2 = add %0, %0 : i64\n"
                            "    %3 = add %0, %0 exit 0 : i64\n"
                            "    %4 = add %0, %0 : i64\n"
                            "    check %1 exit 0\n"
                            "    branch %1 ? 1 () : 2 ()\n"
                            "  block 1 () :\n"
                            "    %5 = add %0, %0 exit 1 : i64\n"
                            "    exit 2\n"
                            "  block 2 () :\n"
                            "    exit 0\n"
                            "  exit 0 check at 5 (%0)\n"
                            "  exit 1 check at 6 (%0)\n"
                            "  exit 2 return at 7 (%2, %3, %4, %5)\n",
                     INPUTS "    %2 = add %0, %0 : i64\n"
                            "    %3 = add %0, %0 exit 0 : i64\n"
                            "    check %1 exit 0\n"
                            "    exit 1\n"
                            "  exit 0 check at 5 (%0)\n"
                            "  exit 1 return at 7 (%2, %3, %2, %3)\n");
}

/* Loads are one until something is written. */
TEST(flow_simplify, loads)
{
#define MEMORY                                                                                                         \
    "flow f :\n"                                                                                                       \
    "  input 0 : ptr data 0\n"                                                                                         \
    "  alias 1 : input 0 written\n"                                                                                    \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : ptr\n"                                                                                        \
    "    %1 = const[0] : i64\n"                                                                                        \
    "    %2 = load[0] %0, %1 alias 1 : i64\n"
    check_simplified(MEMORY "    %3 = load[0] %0, %1 alias 1 : i64\n"
                            "    %4 = load[8] %0, %1 alias 1 : i64\n"
                            "    store[0] %0, %1, %4 alias 1\n"
                            "    %5 = load[0] %0, %1 alias 1 : i64\n"
                            "    exit 0\n"
                            "  exit 0 return at 7 (%2, %3, %5)\n",
                     MEMORY "    %3 = load[8] %0, %1 alias 1 : i64\n"
                            "    store[0] %0, %1, %3 alias 1\n"
                            "    %5 = load[0] %0, %1 alias 1 : i64\n"
                            "    exit 0\n"
                            "  exit 0 return at 7 (%2, %2, %5)\n");
}

/* An edge that passes a constant knows which way the empty block behind it goes. */
TEST(flow_simplify, edges_through_empty_blocks)
{
    check_simplified(INPUTS "    %2 = const[True] : i1\n"
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
                     INPUTS "    %2 = const[3] : i64\n"
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
