/* Places of loads and stores, compared: what is handed on in a register, and what is read from memory as before. */
#include "tests/unit/graph/flow_loop_case.h"

/* for i in range(start, stop): a[i + 1] = a[i] + x: each round gets what the one before has stored, and reads it from memory where the chunk begins only. A check costs less than evidence would. */
#define HANDED_ON(test, step, ahead)                                                                                   \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  input 3 : ptr data 3\n"                                                                                         \
    "  alias 1 : input 3 written\n"                                                                                    \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = input[3] : ptr\n"                                                                                        \
    "    %4 = const[64] : i64\n"                                                                                       \
    "    %5 = const[" ahead "] : i64\n"                                                                                \
    "    %6 = const[8] : i64\n"                                                                                        \
    "    %7 = const[" step "] : i64\n"                                                                                 \
    "    jump 1 (%0)\n"                                                                                                \
    "  block 1 (%9 : i64) :\n"                                                                                         \
    "    %10 = " test " %9, %1 : i1\n"                                                                                 \
    "    branch %10 ? 2 () : 3 ()\n"                                                                                   \
    "  block 2 () :\n"                                                                                                 \
    "    %11 = add %9, %7 : i64\n"                                                                                     \
    "    %12 = wrap %9, %4 exit 0 : i64\n"                                                                             \
    "    %13 = mul %12, %6 : i64\n"                                                                                    \
    "    %14 = load[0] %3, %13 alias 1 : i64\n"                                                                        \
    "    %15 = add %14, %2 exit 1 : i64\n"                                                                             \
    "    %16 = add %9, %5 exit 2 : i64\n"                                                                              \
    "    %17 = wrap %16, %4 exit 3 : i64\n"                                                                            \
    "    %18 = mul %17, %6 : i64\n"                                                                                    \
    "    store[0] %3, %18, %15 alias 1\n"                                                                              \
    "    jump 1 (%11)\n"                                                                                               \
    "  block 3 () :\n"                                                                                                 \
    "    exit 4\n"                                                                                                     \
    "  exit 0 check at 1 (%9)\n"                                                                                       \
    "  exit 1 check at 2 (%9, %14)\n"                                                                                  \
    "  exit 2 check at 3 (%9)\n"                                                                                       \
    "  exit 3 check at 4 (%9, %16)\n"                                                                                  \
    "  exit 4 return at 5 (%9)\n"

TEST(flow_place, what_the_round_before_has_stored_is_handed_on)
{
    static const int64_t values[] = { 0, 1, 2, 40, 62, 63, 64, -1, -8, INT64_MAX, INT64_MAX / 8, INT64_MIN + 3 };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, HANDED_ON("lt", "1", "1"));
    CHECK_UINT(count_op(w, JY_FLOW_SCRATCH), 0);
    CHECK_UINT(count_op(w, JY_FLOW_STORE), 2);
    CHECK_UINT(count_op(w, JY_FLOW_LOAD), 2); /* the careful loop's, and in front of the fast one */
    jy_arena_free(arena);
    check_all_alike(HANDED_ON("lt", "1", "1"), values, 12, 3);
    check_all_alike(HANDED_ON("gt", "-1", "-1"), values, 12, 3);
    check_all_alike(HANDED_ON("lt", "2", "1"), values, 12, 3);
    check_all_alike(HANDED_ON("lt", "1", "-1"), values, 12, 3);
    check_all_alike(HANDED_ON("lt", "2", "4"), values, 12, 3);
}
