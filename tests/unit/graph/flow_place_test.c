/* Places of loads and stores, compared: what is handed on in a register, and what is read from memory as before. */
#include "tests/unit/graph/flow_loop_case.h"

/* for i in range(start, stop): a[i + 1] = a[i] + x: each round gets what the one before has stored, and reads it from memory where the chunk begins only. A check costs less than evidence would. */
#define HANDED_ON(test, step, ahead)                                                                                   \
    BOUNDS_AND_ARRAY(" written")                                                                                       \
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

/* How many loads are handed what the round before has stored. */
static size_t
count_handed(const char *source)
{
    struct loop_case k;
    if (!CHECK(loop_case_find(&k, source)))
        return SIZE_MAX;
    struct jy_fast fast = jy_counted_plan(&k.c, true);
    loop_case_free(&k);
    return fast.handed.n;
}

/* a[i] is read at %22, a[i + ahead] is written: its place is %24. */
#define PLACES(ahead)                                                                                                  \
    "    %20 = wrap %10, %8 exit 1 : i64\n    %22 = mul %20, %7 : i64\n    %26 = const[" ahead "] : i64\n"             \
    "    %21 = add %10, %26 exit 1 : i64\n    %23 = wrap %21, %8 exit 1 : i64\n    %24 = mul %23, %7 : i64\n"
#define READS "    %25 = load[0] %3, %22 alias 1 : i64\n"
#define WRITES "    store[0] %3, %24, %25 alias 1\n"
#define ROUND(ahead, body) COUNTED_LOOP(UP, "1", PLACES(ahead) body SUM("%11"), CHECKS)

TEST(flow_place, only_the_round_before)
{
    CHECK_UINT(count_handed(ROUND("1", READS WRITES)), 1);
    CHECK_UINT(count_handed(ROUND("0", READS WRITES)), 0);
    CHECK_UINT(count_handed(ROUND("2", READS WRITES)), 0);
    CHECK_UINT(count_handed(ROUND("-1", READS WRITES)), 0);
    CHECK_UINT(count_handed(COUNTED_LOOP(DOWN, "-1", PLACES("-1") READS WRITES SUM("%11"), CHECKS)), 1);
    CHECK_UINT(count_handed(COUNTED_LOOP(UP, "2", PLACES("2") READS WRITES SUM("%11"), CHECKS)), 1);
    CHECK_UINT(count_handed(COUNTED_LOOP(UP, "2", PLACES("1") READS WRITES SUM("%11"), CHECKS)), 0);
    /* the step is not known */
    CHECK_UINT(count_handed(COUNTED_LOOP(
                   UP, "1", PLACES("1") READS WRITES "    %30 = add %10, %2 : i64\n    jump 1 (%30, %11)\n", CHECKS)),
               0);
}

TEST(flow_place, nothing_else_may_touch_the_place)
{
    CHECK_UINT(count_handed(ROUND("1", READS WRITES "    store[0] %4, %5, %25 alias 2\n")), 1);
    CHECK_UINT(count_handed(ROUND("1", READS WRITES "    store[0] %3, %5, %25 alias 1\n")), 0);
    CHECK_UINT(count_handed(ROUND("1", READS WRITES "    store[0] %4, %5, %25\n")), 0);
    CHECK_UINT(count_handed(ROUND("1", READS WRITES "    %30 = call[0] %25 : i64\n")), 1);
    CHECK_UINT(count_handed(ROUND("1", READS WRITES "    %30 = call[1] %25 : i64\n")), 0);
    CHECK_UINT(count_handed(ROUND("1", READS "    store[0] %3, %24, %25\n")), 0); /* of no alias number */
    CHECK_UINT(count_handed(ROUND("1", READS "    %30 = offset %3, %5 : ptr\n    store[0] %30, %24, %25 alias 1\n")),
               0);
}

TEST(flow_place, the_whole_place_in_the_same_type)
{
    CHECK_UINT(count_handed(ROUND("1", "    %25 = load[0] %3, %22 alias 1 : f64\n    store[0] %3, %24, %10 alias 1\n")),
               0);
    CHECK_UINT(count_handed(ROUND("1", "    %25 = load[4] %3, %22 alias 1 : i64\n" WRITES)), 0);
    CHECK_UINT(count_handed(ROUND("1", "    %25 = load[-4] %3, %22 alias 1 : i64\n" WRITES)), 0);
    CHECK_UINT(count_handed(ROUND("1", "    %25 = load[8] %3, %22 alias 1 : i64\n" WRITES)), 0); /* of this round */
    CHECK_UINT(count_handed(ROUND("0", READS "    store[8] %3, %24, %25 alias 1\n")), 1);
    CHECK_UINT(count_handed(ROUND("1", "    %25 = load[0] %3, %22 alias 1 : i1\n    store[0] %3, %24, %25 alias 1\n")),
               0);
}

#define SOMETIMES(body)                                                                                                \
    "    %30 = lt %10, %2 : i1\n    branch %30 ? 4 () : 5 ()\n  block 4 () :\n" body "    jump 5 ()\n  block 5 () :\n"

TEST(flow_place, both_in_every_round)
{
    CHECK_UINT(count_handed(ROUND("1", READS SOMETIMES(WRITES))), 0);
    CHECK_UINT(count_handed(ROUND("1", SOMETIMES(READS) "    store[0] %3, %24, %10 alias 1\n")), 0);
    CHECK_UINT(count_handed(ROUND("1", READS SOMETIMES("") WRITES)), 1);
    CHECK_UINT(count_handed(ROUND("1", READS "    branch %12 ? 4 () : 2 ()\n  block 4 () :\n" WRITES)),
               0); /* a way out */
}

/* One place in all rounds: what stands there when it is read is what the last round has stored, if it is read first. */
TEST(flow_place, that_stays)
{
#define ADDED "    %15 = add %25, %6 exit 1 : i64\n"
    const char *last = COUNTED_LOOP(
        UP, "1", "    store[0] %3, %7, %10 alias 1\n    %25 = load[0] %3, %7 alias 1 : i64\n" ADDED SUM("%15"), CHECKS);
    const char *moves = COUNTED_LOOP(UP, "1",
                                     "    %20 = and %10, %7 : i64\n    %25 = load[0] %3, %20 alias 1 : i64\n" ADDED
                                     "    store[0] %3, %20, %15 alias 1\n" SUM("%11"),
                                     CHECKS);
    static const int64_t values[] = { 0, 1, 2, 9, 40, -1 };
    const char *first = COUNTED_LOOP(
        UP, "1", "    %25 = load[0] %3, %7 alias 1 : i64\n" ADDED "    store[0] %3, %7, %15 alias 1\n" SUM("%11"),
        CHECKS);
    CHECK_UINT(count_handed(first), 1);
    CHECK_UINT(count_handed(last), 0);
    CHECK_UINT(count_handed(moves), 0);
    const char *sources[] = { first, last, moves };
    for (size_t k = 0; k < 3; k++)
        check_all_alike(sources[k], values, 6, 3);
}
