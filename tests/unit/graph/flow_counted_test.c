/* Which loops count, and what becomes of each check in their fast copy. */
#include "tests/unit/graph/flow_loop_case.h"

static bool
counts(const char *source)
{
    struct loop_case k;
    bool found = loop_case_find(&k, source);
    loop_case_free(&k);
    return found;
}

#define SIMPLE(test, step) COUNTED_LOOP(test, step, SUM("%11"), CHECKS)

/* the sum of an array's items */
#define ITEM                                                                                                           \
    "    %15 = wrap %10, %8 exit 1 : i64\n    %16 = mul %15, %7 : i64\n"                                               \
    "    %17 = load[0] %3, %16 alias 1 : i64\n    %18 = add %11, %17 : i64\n" SUM("%18")

TEST(flow_counted, a_constant_step_toward_something_that_stays)
{
    CHECK(counts(SIMPLE(UP, "1")));
    CHECK(counts(SIMPLE("%12 = le %10, %1", "1073741824")));
    CHECK(counts(SIMPLE("%12 = gt %1, %10", "7")));
    CHECK(counts(SIMPLE(DOWN, "-1")));
    CHECK(counts(SIMPLE("%12 = le %1, %10", "-1073741824")));
    CHECK(counts(SIMPLE("%12 = lt %10, %11", "1"))); /* %11 is only handed on */
    CHECK(!counts(SIMPLE(UP, "-1")));
    CHECK(!counts(SIMPLE(DOWN, "1")));
    CHECK(!counts(SIMPLE(UP, "0")));
    CHECK(!counts(SIMPLE(UP, "1073741825")));
    CHECK(!counts(SIMPLE("%12 = ne %10, %1", "1")));
    CHECK(!counts(SIMPLE("%12 = below %10, %1", "1")));
    CHECK(!counts(SIMPLE("%12 = lt %10, %10", "1")));
    CHECK(!counts(SIMPLE("%12 = lt %0, %1", "1")));
    CHECK(!counts(COUNTED_LOOP("%12 = lt %10, %11", "1", SUM("%13"), CHECKS))); /* the limit goes along */
}

/* The last round is at the limit itself. */
TEST(flow_counted, as_far_as_the_limit)
{
    static const int64_t values[] = { 0, 1, 2, 7, 63, -1, -64 };
    check_all_alike(COUNTED_LOOP("%12 = le %10, %1", "1", ITEM, CHECKS), values, 7, 2);
    check_all_alike(COUNTED_LOOP("%12 = ge %10, %1", "-3", ITEM, CHECKS), values, 7, 2);
    CHECK_UINT(count_hoisted(COUNTED_LOOP("%12 = le %10, %1", "1", ITEM, CHECKS), JY_FLOW_WRAP), 1);
}

/* The head says when to stop instead of when to go on. */
TEST(flow_counted, the_test_may_be_turned_round)
{
    struct jy_arena *arena = jy_arena_new();
    static const struct {
        const char *source;
        bool counts;
    } cases[] = { { SIMPLE("%12 = ge %10, %1", "1"), true },
                  { SIMPLE("%12 = lt %1, %10", "1"), true },
                  { SIMPLE("%12 = le %10, %1", "-1"), true },
                  { SIMPLE("%12 = lt %10, %1", "1"), false },
                  { SIMPLE("%12 = eq %10, %1", "1"), false } };
    for (size_t k = 0; k < 5; k++) {
        char *source = jy_arena_strdup(arena, cases[k].source), *branch = strstr(source, "? 3 () : 2 ()");
        memcpy(branch, "? 2 () : 3 ()", 13);
        CHECK_INT(counts(source), cases[k].counts);
        if (cases[k].counts)
            check_all_alike(source, (int64_t[]){ 0, 1, 5, -3 }, 4, 2);
    }
    jy_arena_free(arena);
}

#define BY_NUMBER(test) COUNTED_LOOP(test, "1", "    %15 = add %10, %2 : i64\n    jump 1 (%15, %11)\n", CHECKS)
#define EITHER_WAY(up, less, greater)                                                                                  \
    "%30 = gt " up " : i1\n    %31 = " less " %10, %1 : i1\n    %32 = " greater                                        \
    " %10, %1 : i1\n    %12 = select %30, %31, %32"

/* A step that is not known: the copy goes up, and the test in front asks for that. */
TEST(flow_counted, a_step_that_stays)
{
    CHECK(counts(BY_NUMBER(UP)));
    CHECK(!counts(BY_NUMBER(DOWN)));
    CHECK(counts(BY_NUMBER(EITHER_WAY("%2, %5", "lt", "gt"))));
    CHECK(!counts(BY_NUMBER(EITHER_WAY("%1, %5", "lt", "gt")))); /* another number */
    CHECK(!counts(BY_NUMBER(EITHER_WAY("%2, %6", "lt", "gt"))));
    CHECK(!counts(COUNTED_LOOP(UP, "1", "    %15 = add %10, %11 : i64\n    jump 1 (%15, %13)\n", CHECKS)));
    /* up, down, and by so much that the index wraps */
    const char *source = COUNTED_LOOP(EITHER_WAY("%2, %5", "lt", "gt"), "1",
                                      "    %16 = wrap %10, %8 exit 1 : i64\n    %17 = mul %16, %7 : i64\n"
                                      "    %18 = load[0] %3, %17 alias 1 : i64\n    %19 = add %11, %18 : i64\n"
                                      "    %15 = add %10, %2 : i64\n    jump 1 (%15, %19)\n",
                                      CHECKS);
    CHECK_UINT(count_hoisted(source, JY_FLOW_WRAP), 1); /* the careful loop's */
    check_all_alike(source, (int64_t[]){ 1, 2, 5, 40, 64, 70, -1, -7, INT64_MAX, INT64_MIN }, 10, 3);
}

/* Two ways back, and a branch in between. */
#define TWO_WAYS_BACK(other)                                                                                           \
    COUNTED_LOOP(UP, "1",                                                                                              \
                 "    %15 = lt %10, %2 : i1\n    branch %15 ? 4 () : 5 ()\n"                                           \
                 "  block 4 () :\n" SUM("%11") "  block 5 () :\n    %16 = add %10, %7 : i64\n"                         \
                                               "    jump 1 (" other ", %11)\n",                                        \
                 CHECKS)

TEST(flow_counted, every_way_back_goes_on_by_the_same)
{
    CHECK(counts(TWO_WAYS_BACK("%13")));
    CHECK(!counts(TWO_WAYS_BACK("%16")));
    CHECK(!counts(TWO_WAYS_BACK("%10")));
}

/* The copy's head tests twice, so it may only look. */
TEST(flow_counted, the_head_has_no_effects)
{
    CHECK(counts(SIMPLE("poll exit 1\n    " UP, "1")));
    CHECK(counts(SIMPLE("%30 = load[0] %3, %5 alias 1 : i64\n    " UP, "1")));
    CHECK(!counts(SIMPLE("store[0] %3, %5, %5 alias 1\n    " UP, "1")));
    CHECK(!counts(SIMPLE("%30 = call[0] %5 : i64\n    " UP, "1")));
    CHECK(!counts(SIMPLE("%30 = add %10, %2 exit 1 : i64\n    " UP, "1")));
}

TEST(flow_counted, long_rounds_are_not_copied)
{
    struct jy_arena *arena = jy_arena_new();
    for (int n = 390; n <= 400; n += 10) {
        struct jy_text body = { 0 };
        for (int k = 0; k < n; k++)
            jy_text_add(&body, "    %%%d = neg %%2 : i64\n", 100 + k);
        const char *source = COUNTED_LOOP(UP, "1", "@" SUM("%11"), CHECKS), *at = strchr(source, '@');
        CHECK_INT(counts(jy_arena_printf(arena, "%.*s%s%s", (int)(at - source), source, body.at, at + 1)), n < 395);
        jy_text_free(&body);
    }
    jy_arena_free(arena);
}

/* Rounds of a chunk: as many as the log has room for, where stores may have to be undone. */
TEST(flow_counted, chunks)
{
#define STORE "    store[0] %3, %5, %5 alias 1\n"
    static const struct {
        const char *source;
        int64_t chunk;
    } cases[] = {
        { SIMPLE(UP, "1"), JY_CHUNK },
        { COUNTED_LOOP(UP, "1", "    %15 = call[0] %10 : i64\n" SUM("%15"), CHECKS), JY_CALL_CHUNK },
        { COUNTED_LOOP(UP, "1", STORE SUM("%11"), CHECKS), JY_LOG_ROUNDS },
        { COUNTED_LOOP(DOWN, "-1", STORE STORE STORE STORE SUM("%11"), CHECKS), JY_LOG_ROUNDS / 4 },
        { COUNTED_LOOP(UP, "1", STORE STORE STORE STORE STORE SUM("%11"), CHECKS), JY_CHUNK },
        { COUNTED_LOOP(UP, "2", STORE SUM("%11"), CHECKS), JY_CHUNK },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct loop_case k;
        CHECK(loop_case_find(&k, cases[i].source));
        CHECK_INT(k.c.chunk, cases[i].chunk);
        loop_case_free(&k);
    }
}

/* ---- checks ---- */

/* %16 is any number, %17 any bool; at most 64 rounds are made. */
#define CHECKED(instruction)                                                                                           \
    COUNTED_LOOP(UP, "1",                                                                                              \
                 "    %18 = lt %11, %8 : i1\n    check %18 exit 1\n"                                                   \
                 "    %20 = and %10, %7 : i64\n    %16 = load[0] %3, %20 alias 1 : i64\n"                              \
                 "    %17 = eq %16, %7 : i1\n    " instruction "\n"                                                    \
                 "    %30 = add %11, %6 : i64\n" SUM("%30"),                                                           \
                 CHECKS)

static void
check_how(const char *source, enum jy_unchecked expected)
{
    static const int64_t values[] = {
        0, 1, 2, 9, -3, 64, 65, INT64_MAX, INT64_MAX - 2, INT64_MIN, (INT64_C(1) << 42) + 1, (INT64_C(1) << 42) + 9
    };
    struct loop_case k;
    if (!CHECK(loop_case_find(&k, source)))
        return;
    const struct jy_fblock *round = &k.w->w_blocks.at[3];
    jy_fv at = round->f_body.at[round->f_body.n - 2]; /* the instruction */
    struct jy_fast fast = jy_counted_plan(&k.c, true);
    CHECK_INT(fast.how[at], expected);
    loop_case_free(&k);
    check_all_alike(source, values, sizeof values / sizeof values[0], 3);
}

TEST(flow_counted, arithmetic_that_fits)
{
    check_how(CHECKED("%15 = add %10, %2 exit 1 : i64"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = sub %2, %10 exit 1 : i64"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = mul %10, %2 exit 1 : i64"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = neg %2 exit 1 : i64"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = abs %10 exit 1 : i64"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = shl %10, %7 exit 1 : i64"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = shr %16, %6 exit 1 : i64"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = add %10, %16 exit 1 : i64"), JY_UNCHECKED_NO);
    check_how(CHECKED("%15 = shl %10, %8 exit 1 : i64"), JY_UNCHECKED_NO); /* by 64 */
    check_how(CHECKED("%15 = shr %16, %8 exit 1 : i64"), JY_UNCHECKED_NO);
    check_how(CHECKED("%15 = shr %16, %2 exit 1 : i64"), JY_UNCHECKED_NO);
    check_how(CHECKED("%15 = narrow %10 exit 1 : i32"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = narrow %16 exit 1 : i32"), JY_UNCHECKED_NO);
    check_how(CHECKED("%15 = to_float %10 exit 1 : f64"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = to_float %16 exit 1 : f64"), JY_UNCHECKED_NO);
    check_how(
        CHECKED("%21 = const[12] : i64\n    %22 = shl %10, %21 exit 1 : i64\n    %15 = to_float %22 exit 1 : f64"),
        JY_UNCHECKED_PLAIN); /* up to 2^53 */
}

TEST(flow_counted, divisors)
{
    check_how(CHECKED("%15 = floordiv %16, %7 exit 1 : i64"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = floormod %16, %2 exit 1 : i64"), JY_UNCHECKED_PLAIN); /* where it is positive */
    check_how(CHECKED("%15 = floordiv %16, %10 exit 1 : i64"), JY_UNCHECKED_PLAIN);
    check_how(CHECKED("%15 = floordiv %10, %16 exit 1 : i64"), JY_UNCHECKED_NO);
    check_how(CHECKED("%15 = floormod %10, %5 exit 1 : i64"), JY_UNCHECKED_NO);
}

TEST(flow_counted, indices)
{
    check_how(CHECKED("%15 = wrap %10, %8 exit 1 : i64"), JY_UNCHECKED_INDEX);
    check_how(CHECKED("%15 = wrap %10, %2 exit 1 : i64"), JY_UNCHECKED_INDEX);
    check_how(CHECKED("%21 = load[24] %3, %20 alias 1 : i64\n    %15 = wrap %10, %21 exit 1 : i64"),
              JY_UNCHECKED_BELOW);
    check_how(CHECKED("%15 = wrap %16, %8 exit 1 : i64"), JY_UNCHECKED_NO);
}

TEST(flow_counted, conditions)
{
    check_how(CHECKED("%15 = lt %10, %8 : i1\n    check %15 exit 1"), JY_UNCHECKED_GONE);
    check_how(CHECKED("%15 = le %2, %10 : i1\n    check %15 exit 1"), JY_UNCHECKED_GONE);
    check_how(CHECKED("%15 = gt %10, %2 : i1\n    check %15 exit 1"), JY_UNCHECKED_GONE);
    check_how(CHECKED("%15 = ge %8, %10 : i1\n    check %15 exit 1"), JY_UNCHECKED_GONE);
    check_how(CHECKED("%15 = ne %10, %2 : i1\n    check %15 exit 1"), JY_UNCHECKED_GONE);
    check_how(CHECKED("%15 = below %10, %2 : i1\n    check %15 exit 1"), JY_UNCHECKED_GONE);
    check_how(CHECKED("%15 = eq %10, %2 : i1\n    check %15 exit 1"), JY_UNCHECKED_NO);
    check_how(CHECKED("%15 = lt %10, %16 : i1\n    check %15 exit 1"), JY_UNCHECKED_NO);
    check_how(CHECKED("check %17 exit 1"), JY_UNCHECKED_NO);
    /* what does not change is a fact; of an AND, both must hold */
    check_how(CHECKED("%15 = eq %2, %1 : i1\n    check %15 exit 1"), JY_UNCHECKED_GONE);
    check_how(
        CHECKED("%21 = lt %10, %8 : i1\n    %22 = eq %2, %1 : i1\n    %15 = and %21, %22 : i1\n    check %15 exit 1"),
        JY_UNCHECKED_GONE);
    check_how(CHECKED("%21 = lt %10, %8 : i1\n    %15 = and %21, %17 : i1\n    check %15 exit 1"), JY_UNCHECKED_NO);
    check_how(CHECKED("%21 = lt %10, %8 : i1\n    %15 = or %21, %17 : i1\n    check %15 exit 1"), JY_UNCHECKED_NO);
}

/* A proof that fails takes its conditions back: the fast copy asks for no more than what it goes without. */
TEST(flow_counted, what_is_not_proven_asks_for_nothing)
{
    struct loop_case k, none;
    CHECK(loop_case_find(&k, CHECKED("%21 = lt %10, %2 : i1\n    %22 = eq %0, %1 : i1\n    %23 = and %21, %22 : i1\n"
                                     "    %15 = and %23, %17 : i1\n    check %15 exit 1")));
    CHECK(loop_case_find(&none, CHECKED("")));
    jy_counted_plan(&k.c, true);
    jy_counted_plan(&none.c, true);
    CHECK_UINT(k.c.conditions.n, none.c.conditions.n);
    CHECK_UINT(k.c.facts.n, none.c.facts.n);
    CHECK_UINT(k.c.small.n, none.c.small.n);
    loop_case_free(&k);
    loop_case_free(&none);
}
