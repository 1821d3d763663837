/* What a loop reads in front: memory of the interpreter's that nothing in it writes, behind the tests that guard it. */
#include "tests/unit/graph/flow_loop_case.h"

/* Is %15 read in front? */
static bool
is_read_in_front(const char *source)
{
    struct loop_case k;
    bool found = CHECK(loop_case_find(&k, source)) && k.c.invariant[15] != JY_NO_FV;
    loop_case_free(&k);
    return found;
}

#define READ(load, more) COUNTED_LOOP(UP, "1", "    %15 = " load "\n" more SUM("%11"), CHECKS)
#define SIZE "load[0] %4, %5 alias 2 : i64"

TEST(flow_invariant, memory_that_nothing_in_the_loop_writes)
{
    CHECK(is_read_in_front(READ(SIZE, "")));
    CHECK(is_read_in_front(READ(SIZE, "    store[0] %3, %5, %15 alias 1\n")));
    CHECK(!is_read_in_front(READ(SIZE, "    store[0] %4, %5, %15 alias 2\n")));
    CHECK(!is_read_in_front(READ(SIZE, "    store[0] %3, %5, %15\n")));
    CHECK(is_read_in_front(READ(SIZE, "    %16 = call[0] %15 : i64\n"))); /* it keeps that memory */
    CHECK(!is_read_in_front(READ(SIZE, "    %16 = call[1] %15 : i64\n")));
}

TEST(flow_invariant, only_the_interpreters_and_only_what_stays)
{
    CHECK(!is_read_in_front(READ("load[0] %3, %5 alias 1 : i64", "")));
    CHECK(!is_read_in_front(READ("load[0] %4, %5 : i64", "")));
    CHECK(!is_read_in_front(COUNTED_LOOP(
        UP, "1", "    %16 = and %10, %7 : i64\n    %15 = load[0] %4, %16 alias 2 : i64\n" SUM("%11"), CHECKS)));
    CHECK(!is_read_in_front(COUNTED_LOOP(
        UP, "1", "    %16 = mul %2, %7 exit 1 : i64\n    %15 = load[0] %4, %16 alias 2 : i64\n" SUM("%11"), CHECKS)));
    /* an offset that is cheap to compute there, and a pointer that was read there */
    CHECK(is_read_in_front(COUNTED_LOOP(
        UP, "1", "    %16 = and %2, %7 : i64\n    %15 = load[0] %4, %16 alias 2 : i64\n" SUM("%11"), CHECKS)));
    CHECK(is_read_in_front(COUNTED_LOOP(
        UP, "1", "    %16 = load[8] %4, %5 alias 2 : ptr\n    %15 = load[0] %16, %5 alias 2 : i64\n" SUM("%11"),
        CHECKS)));
}

/* Some rounds do not come to it. */
TEST(flow_invariant, only_what_every_round_comes_to)
{
    CHECK(!is_read_in_front(COUNTED_LOOP(UP, "1",
                                         "    %16 = lt %10, %2 : i1\n    branch %16 ? 4 () : 5 ()\n"
                                         "  block 4 () :\n    %15 = " SIZE "\n    jump 5 ()\n"
                                         "  block 5 () :\n" SUM("%11"),
                                         CHECKS)));
    CHECK(is_read_in_front(COUNTED_LOOP(UP, "1",
                                        "    %16 = lt %10, %2 : i1\n    branch %16 ? 4 () : 5 ()\n"
                                        "  block 4 () :\n    jump 5 ()\n"
                                        "  block 5 () :\n    %15 = " SIZE "\n" SUM("%11"),
                                        CHECKS)));
}

/* s += object[1 + %2], where `guard` makes sure that %2 is 0 or 1: with another number the place is nowhere. */
#define GUARDED(guard)                                                                                                 \
    COUNTED_LOOP(UP, "1",                                                                                              \
                 "    %18 = add %6, %6 : i64\n    %16 = below %2, %18 : i1\n" guard                                    \
                 "    %17 = mul %2, %7 : i64\n    %15 = load[8] %4, %17 alias 2 : i64\n"                               \
                 "    %19 = and %15, %7 : i64\n    %20 = add %11, %19 exit 1 : i64\n" SUM("%20"),                      \
                 CHECKS "  exit 2 return at 7 (%10, %11)\n")
#define LEAVING "  block 4 () :\n    exit 2\n  block 5 () :\n"

/* The test that the loop makes first stands in front of the load there, too: reading elsewhere would be a crash. */
TEST(flow_invariant, a_guard_goes_in_front_as_well)
{
    static const char *const sources[] = {
        GUARDED("    check %16 exit 1\n"),
        GUARDED("    branch %16 ? 5 () : 4 ()\n" LEAVING),
        GUARDED("    %21 = not %16 : i1\n    branch %21 ? 4 () : 5 ()\n" LEAVING),
        GUARDED("    %21 = wrap %2, %18 exit 1 : i64\n    check %16 exit 1\n"),
    };
    static const int64_t values[] = { 0, 1, 2, 3, -1 }, wild[] = { INT64_C(1) << 50, INT64_MIN };
    int64_t memory[LOOP_ROOM] = { 0 };
    for (size_t k = 0; k < 4; k++) {
        CHECK(is_read_in_front(sources[k]));
        check_all_alike(sources[k], values, 5, 3);
        struct jy_arena *arena = jy_arena_new();
        struct jy_flow *before = parse_flow(arena, sources[k]), *after = hoisted(arena, sources[k]);
        for (size_t x = 0; x < 2; x++) {
            union jy_scalar numbers[] = { { .i = 0 }, { .i = 3 }, { .i = wild[x] } };
            struct loop_outcome a = loop_run(before, numbers, memory), b = loop_run(after, numbers, memory);
            CHECK(memcmp(&a, &b, sizeof a) == 0);
        }
        jy_arena_free(arena);
    }
}

/* An index into a list that stays: wrapped and checked in front. Nothing is read in front where nothing is known there: the blocks that were made are nobody's. */
TEST(flow_invariant, an_index_that_stays)
{
#define ITEM                                                                                                           \
    COUNTED_LOOP(UP, "1",                                                                                              \
                 "    %15 = load[0] %4, %5 alias 2 : i64\n    %16 = wrap %2, %15 exit 1 : i64\n"                       \
                 "    %17 = mul %16, %7 : i64\n    %18 = load[8] %4, %5 alias 2 : ptr\n"                               \
                 "    %19 = load[0] %18, %17 alias 2 : i64\n    %20 = add %11, %19 exit 1 : i64\n" SUM("%20"),         \
                 CHECKS)
    struct loop_case k;
    CHECK(loop_case_find(&k, ITEM));
    CHECK(k.c.invariant[19] != JY_NO_FV);
    CHECK(k.c.front != k.c.entry);
    loop_case_free(&k);
    static const int64_t values[] = { 0, 1, 5, 63, 64, -1, -64, -65, INT64_MIN };
    check_all_alike(ITEM, values, 6, 3); /* bounds up to the room */
    CHECK(loop_case_find(&k,
                         COUNTED_LOOP(UP, "1", "    %16 = lt %2, %8 : i1\n    check %16 exit 1\n" SUM("%11"), CHECKS)));
    CHECK(k.c.front == k.c.entry);
    CHECK_UINT(k.c.invariant[16], JY_NO_FV);
    loop_case_free(&k);
}

/* s += object[1 + %2] in one way through the round, a part of that in the other; each makes sure that %2 is 0 or 1. */
#define WAYS(one, other, more)                                                                                         \
    COUNTED_LOOP(UP, "1",                                                                                              \
                 "    %16 = lt %10, %7 : i1\n    %18 = add %6, %6 : i64\n    branch %16 ? 4 () : 5 ()\n"               \
                 "  block 4 () :\n" one "  block 5 () :\n" other                                                       \
                 "  block 6 (%26 : i64) :\n    %27 = add %11, %26 exit 1 : i64\n" SUM("%27") more,                     \
                 CHECKS "  exit 2 return at 7 (%10, %11)\n")
#define GUARD(n) "    %" n " = below %2, %18 : i1\n    check %" n " exit 1\n"
#define WHOLE                                                                                                          \
    "    %17 = mul %2, %7 : i64\n    %15 = load[8] %4, %17 alias 2 : i64\n    %19 = and %15, %8 : i64\n"               \
    "    jump 6 (%19)\n"
#define PART                                                                                                           \
    "    %23 = mul %2, %7 : i64\n    %24 = load[8] %4, %23 alias 2 : i64\n    %25 = and %24, %7 : i64\n"               \
    "    jump 6 (%25)\n"

/* As before, with numbers for which the loop leaves, too. */
static void
check_wild(const char *source, const int64_t *wild, size_t n)
{
    int64_t memory[LOOP_ROOM] = { 0 };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *before = parse_flow(arena, source), *after = hoisted(arena, source);
    for (size_t x = 0; x < n; x++) {
        union jy_scalar numbers[] = { { .i = 0 }, { .i = 12 }, { .i = wild[x] } };
        struct loop_outcome a = loop_run(before, numbers, memory), b = loop_run(after, numbers, memory);
        CHECK(memcmp(&a, &b, sizeof a) == 0);
    }
    jy_arena_free(arena);
}

TEST(flow_invariant, what_all_ways_through_a_round_do)
{
    static const char *const sources[] = {
        WAYS(GUARD("20") WHOLE, GUARD("21") PART, ""),
        WAYS(GUARD("20") WHOLE, "    %28 = lt %2, %18 : i1\n    check %28 exit 1\n" GUARD("21") PART,
             ""),                                                                               /* one more guard */
        WAYS(GUARD("20") WHOLE, "    %21 = below %2, %18 : i1\n    branch %21 ? 7 () : 8 ()\n", /* another one */
             "  block 7 () :\n" PART "  block 8 () :\n    exit 2\n"),
        WAYS(GUARD("20") WHOLE, "    %21 = below %2, %18 : i1\n    branch %21 ? 7 () : 8 ()\n", /* not in all */
             "  block 7 () :\n" PART "  block 8 () :\n    jump 6 (%6)\n"),
        WAYS("    %20 = below %2, %18 : i1\n    branch %20 ? 9 () : 8 ()\n", /* both leave otherwise */
             "    %21 = below %2, %18 : i1\n    branch %21 ? 7 () : 8 ()\n",
             "  block 7 () :\n" PART "  block 8 () :\n    exit 2\n  block 9 () :\n" WHOLE),
    };
    static const int64_t values[] = { 0, 1, 2, 3, -1 }, wild[] = { 0, 1, 2, INT64_C(1) << 50, INT64_MIN };
    for (size_t k = 0; k < 5; k++) {
        CHECK(is_read_in_front(sources[k]) == (k == 0));
        check_all_alike(sources[k], values, 5, 3);
        check_wild(sources[k], wild, 5);
    }
}

/* A sum that may not fit is tested in front. */
TEST(flow_invariant, a_sum_of_all_ways)
{
#define SUMS(op)                                                                                                       \
    COUNTED_LOOP(                                                                                                      \
        UP, "1",                                                                                                       \
        "    %16 = lt %10, %7 : i1\n    branch %16 ? 4 () : 5 ()\n"                                                    \
        "  block 4 () :\n    %17 = " op " %2, %8 exit 1 : i64\n    %18 = load[0] %4, %5 alias 2 : i64\n"               \
        "    jump 6 (%17)\n"                                                                                           \
        "  block 5 () :\n    %19 = " op " %2, %8 exit 1 : i64\n    %15 = load[0] %4, %5 alias 2 : i64\n"               \
        "    %20 = and %19, %7 : i64\n    jump 6 (%20)\n"                                                              \
        "  block 6 (%21 : i64) :\n    %22 = and %21, %8 : i64\n    %23 = add %11, %22 exit 1 : i64\n" SUM("%23"),      \
        CHECKS)
    static const int64_t wild[] = {
        0, 1, INT64_MAX, INT64_MAX - 64, INT64_MAX - 63, INT64_MIN, INT64_MIN + 63, INT64_MIN + 64, -64
    };
    struct loop_case k;
    CHECK(loop_case_find(&k, SUMS("add")));
    CHECK(k.c.invariant[17] != JY_NO_FV && k.c.invariant[17] == k.c.invariant[19]);
    loop_case_free(&k);
    check_wild(SUMS("add"), wild, 9);
    check_wild(SUMS("sub"), wild, 9);
}
