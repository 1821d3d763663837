/* Fast copies of loops: which checks they go without, as text, and that with any bounds, steps and places of the first failure the flow ends as it did before. */
#include "tests/unit/graph/flow_loop_case.h"

/* for i in range(start, stop, step): s += a[i + shift] */
#define SUM_OF_ITEMS(step, test, shift)                                                                                \
    BOUNDS_AND_ARRAY("")                                                                                               \
    "    %4 = const[0] : i64\n"                                                                                        \
    "    jump 1 (%0, %4)\n"                                                                                            \
    "  block 1 (%5 : i64, %6 : i64) :\n"                                                                               \
    "    %7 = " test " %5, %1 : i1\n"                                                                                  \
    "    branch %7 ? 2 () : 3 ()\n"                                                                                    \
    "  block 2 () :\n"                                                                                                 \
    "    %8 = const[" step "] : i64\n"                                                                                 \
    "    %9 = add %5, %8 : i64\n"                                                                                      \
    "    %10 = const[" shift "] : i64\n"                                                                               \
    "    %11 = add %5, %10 exit 0 : i64\n"                                                                             \
    "    %12 = wrap %11, %2 exit 1 : i64\n"                                                                            \
    "    %13 = const[8] : i64\n"                                                                                       \
    "    %14 = mul %12, %13 : i64\n"                                                                                   \
    "    %15 = load[0] %3, %14 alias 1 : i64\n"                                                                        \
    "    %16 = add %6, %15 exit 2 : i64\n"                                                                             \
    "    poll exit 3\n"                                                                                                \
    "    jump 1 (%9, %16)\n"                                                                                           \
    "  block 3 () :\n"                                                                                                 \
    "    exit 4\n"                                                                                                     \
    "  exit 0 check at 1 (%5, %6)\n"                                                                                   \
    "  exit 1 check at 2 (%5, %6, %11)\n"                                                                              \
    "  exit 2 check at 3 (%5, %6, %15)\n"                                                                              \
    "  exit 3 poll at 4 (%9, %16, %5)\n"                                                                               \
    "  exit 4 return at 5 (%5, %6)\n"

TEST(flow_hoist, indices_of_all_kinds)
{
    /* extents up to the room only; starts and stops also where nothing of it fits */
    static const int64_t values[] = { 0, 1, 7, 8, 40, -1, -3, -8, -9 };
    check_all_alike(SUM_OF_ITEMS("1", "lt", "0"), values, 9, 3);
    check_all_alike(SUM_OF_ITEMS("1", "le", "1"), values, 9, 3);
    check_all_alike(SUM_OF_ITEMS("3", "lt", "-1"), values, 9, 3);
    check_all_alike(SUM_OF_ITEMS("-1", "gt", "0"), values, 9, 3);
    check_all_alike(SUM_OF_ITEMS("-2", "ge", "2"), values, 9, 3);
}

TEST(flow_hoist, the_fast_copy_of_a_sum_of_items)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, SUM_OF_ITEMS("1", "lt", "1"));
    CHECK_UINT(count_op(w, JY_FLOW_WRAP), 1); /* the careful one */
    CHECK_UINT(count_op(w, JY_FLOW_POLL), 2); /* its own, and the one between chunks */
    jy_arena_free(arena);
}
