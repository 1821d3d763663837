/* Evidence instead of checks: which results tell of others, what is undone, and what stays checked. */
#include "tests/unit/graph/flow_loop_case.h"
#include <float.h>
#include <math.h>

/* for i in range(n): s = s * x, each product checked by FLAGGED: the fast copy has no check, and the careful one says at which round it was. */
TEST(flow_evidence, evidence_of_floats)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, "flow f flags :\n"
                                       "  input 0 : i64 number 0 int64\n"
                                       "  input 1 : f64 number 1 float64\n"
                                       "  block 0 () :\n"
                                       "    %0 = input[0] : i64\n"
                                       "    %1 = input[1] : f64\n"
                                       "    %2 = const[0] : i64\n"
                                       "    jump 1 (%2, %1)\n"
                                       "  block 1 (%3 : i64, %4 : f64) :\n"
                                       "    %5 = lt %3, %0 : i1\n"
                                       "    branch %5 ? 2 () : 3 ()\n"
                                       "  block 2 () :\n"
                                       "    %6 = const[1] : i64\n"
                                       "    %7 = add %3, %6 : i64\n"
                                       "    %8 = mul %4, %1 : f64\n"
                                       "    flagged %8, %4, %1 exit 0\n"
                                       "    jump 1 (%7, %8)\n"
                                       "  block 3 () :\n"
                                       "    exit 1\n"
                                       "  exit 0 check at 1 (%3, %4)\n"
                                       "  exit 1 return at 2 (%4)\n");
    union jy_scalar in[2] = { { .i = 40 }, { .d = 2.0 } }, out[2];
    struct jy_flow_call call = { .in = in, .out = out };
    CHECK_UINT(count_op(w, JY_FLOW_FLAGGED), 1);
    CHECK_UINT(count_op(w, JY_FLOW_BITS), 0); /* the product itself tells */
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 2);
    CHECK(out[0].d == 0x1p41);
    in[0].i = 2000;
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 1);
    CHECK_INT(out[0].i, 1022);
    CHECK(out[1].d == 0x1p1023);
    in[1].d = (double)INFINITY; /* infinite all the time, without a warning */
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 2);
    jy_arena_free(arena);
}

/* for i in range(start, stop, step): a[i + 16] = a[i] + x; if a[i] > 9: a[i] = a[i] - y: what the chunk with the overflow has stored is put back, also what it has read again, and
 * what was stored on some ways only. The extent is the room's. */
#define STORES_THAT_ARE_UNDONE(step, test)                                                                             \
    BOUNDS_AND_ARRAY(" written")                                                                                       \
    "    %4 = const[64] : i64\n"                                                                                       \
    "    %5 = const[16] : i64\n"                                                                                       \
    "    %6 = const[8] : i64\n"                                                                                        \
    "    %7 = const[" step "] : i64\n"                                                                                 \
    "    %8 = const[9] : i64\n"                                                                                        \
    "    jump 1 (%0)\n"                                                                                                \
    "  block 1 (%9 : i64) :\n"                                                                                         \
    "    %10 = " test " %9, %1 : i1\n"                                                                                 \
    "    branch %10 ? 2 () : 5 ()\n"                                                                                   \
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
    "    %20 = gt %14, %8 : i1\n"                                                                                      \
    "    branch %20 ? 3 () : 4 ()\n"                                                                                   \
    "  block 3 () :\n"                                                                                                 \
    "    %21 = sub %14, %2 exit 4 : i64\n"                                                                             \
    "    store[0] %3, %13, %21 alias 1\n"                                                                              \
    "    jump 4 ()\n"                                                                                                  \
    "  block 4 () :\n"                                                                                                 \
    "    jump 1 (%11)\n"                                                                                               \
    "  block 5 () :\n"                                                                                                 \
    "    exit 5\n"                                                                                                     \
    "  exit 0 check at 1 (%9)\n"                                                                                       \
    "  exit 1 check at 2 (%9, %14)\n"                                                                                  \
    "  exit 2 check at 3 (%9)\n"                                                                                       \
    "  exit 3 check at 4 (%9, %16)\n"                                                                                  \
    "  exit 4 check at 5 (%9, %14)\n"                                                                                  \
    "  exit 5 return at 6 (%9)\n"

TEST(flow_evidence, what_was_stored_is_undone_where_there_is_evidence)
{
    static const int64_t values[] = {
        0, 1, 9, 40, 62, 63, 64, -1, -8, INT64_MAX, INT64_MAX - 9, INT64_MAX / 8, -60, INT64_MIN + 3
    };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, STORES_THAT_ARE_UNDONE("1", "lt"));
    CHECK_UINT(count_op(w, JY_FLOW_SCRATCH), 1);
    CHECK_UINT(count_op(w, JY_FLOW_STORE), 2 + 2 + 2 + 2); /* careful, fast, noted, undone */
    jy_arena_free(arena);
    check_all_alike(STORES_THAT_ARE_UNDONE("1", "lt"), values, 14, 3);
    check_all_alike(STORES_THAT_ARE_UNDONE("-1", "gt"), values, 14, 3);
}

/* ---- what is planned ---- */

/* What becomes of %15 to %17, or `none`: there is no evidence. Parameters that tell by themselves, and stores that are undone, + for those to one place. */
static void
check_plan(const char *source, const char *expected)
{
    static const char *const how[] = { [JY_UNCHECKED_NO] = "no",          [JY_UNCHECKED_GONE] = "gone",
                                       [JY_UNCHECKED_PLAIN] = "plain",    [JY_UNCHECKED_INDEX] = "index",
                                       [JY_UNCHECKED_BELOW] = "below",    [JY_UNCHECKED_COLLECT] = "collect",
                                       [JY_UNCHECKED_IN_FRONT] = "front", [JY_UNCHECKED_OVERFLOW] = "overflow" };
    struct loop_case k;
    struct jy_text text = { 0 };
    if (!CHECK(loop_case_find(&k, source)))
        return;
    struct jy_fast fast = jy_counted_plan(&k.c, false);
    for (jy_fb b = 3; b < k.w->w_blocks.n; b++)
        for (size_t i = 0; i < k.w->w_blocks.at[b].f_body.n; i++) {
            jy_fv at = k.w->w_blocks.at[b].f_body.at[i];
            if (k.c.inside[b] && jy_flow_at(k.w, at)->f_exit != JY_NO_EXIT)
                jy_text_add(&text, "%s ", how[fast.how[at]]);
        }
    for (size_t i = 0; i < fast.nlogged; i++)
        jy_text_add(&text, fast.is_fixed[i] ? "undone+ " : "undone ");
    if (fast.carried.n > 0)
        jy_text_add(&text, "%zu tell ", fast.carried.n);
    jy_text_add(&text, fast.collects ? "evidence" : "none");
    CHECK_STR(text.at, expected);
    jy_text_free(&text);
    loop_case_free(&k);
}

/* Floats: %2 is a number; %11 is handed on. */
#define FLOATS(body, next) LOOP_OF("f64", "float64", "1.0", UP, "1", body "    jump 1 (%13, " next ")\n", CHECKS)
#define PRODUCT(r, x, y) "    " r " = mul " x ", " y " : f64\n    flagged " r ", " x ", " y " exit 1\n"
#define QUOTIENT(r, x, y) "    " r " = div " x ", " y " : f64\n    flagged " r ", " x ", " y " exit 1\n"
#define DIFFERENCE(r, x, y) "    " r " = sub " x ", " y " : f64\n    flagged " r ", " x ", " y " exit 1\n"
#define ITEM "    %30 = and %10, %7 : i64\n    %31 = load[0] %3, %30 alias 1 : f64\n"

TEST(flow_evidence, a_result_that_a_later_one_tells_of_is_not_noted)
{
    check_plan(FLOATS(ITEM PRODUCT("%15", "%31", "%2"), "%11"), "collect evidence");
    check_plan(FLOATS(ITEM PRODUCT("%15", "%31", "%2") DIFFERENCE("%16", "%2", "%15"), "%11"), "gone collect evidence");
    check_plan(FLOATS(ITEM PRODUCT("%15", "%31", "%2") QUOTIENT("%16", "%15", "%2"), "%11"), "gone collect evidence");
    /* by an infinity it is divided to 0 */
    check_plan(FLOATS(ITEM PRODUCT("%15", "%31", "%2") QUOTIENT("%16", "%2", "%15"), "%11"),
               "collect collect evidence");
    /* some rounds do not come to the later one */
    check_plan(
        FLOATS(ITEM PRODUCT("%15", "%31", "%2") "    %32 = lt %15, %2 : i1\n    branch %32 ? 4 () : 5 ()\n"
                                                "  block 4 () :\n" DIFFERENCE("%16", "%2", "%15") "    jump 5 ()\n"
                                                                                                  "  block 5 () :\n",
               "%11"),
        "collect collect evidence");
}

TEST(flow_evidence, a_sum_tells_of_all_that_it_was_made_of)
{
    check_plan(FLOATS(ITEM PRODUCT("%15", "%31", "%2") DIFFERENCE("%16", "%11", "%15"), "%16"),
               "gone gone 1 tell evidence");
    check_plan(FLOATS(PRODUCT("%15", "%11", "%2"), "%15"), "gone 1 tell evidence");
    check_plan(FLOATS(QUOTIENT("%15", "%11", "%2"), "%15"), "gone 1 tell evidence");
    /* x / s: of an infinity it makes 0. Each round waits for the last one, so that a check costs less than noting. */
    check_plan(FLOATS(QUOTIENT("%15", "%2", "%11"), "%15"), "no none");
    /* begun anew on some rounds; left as it is on some: still there */
    check_plan(
        FLOATS(PRODUCT("%15", "%11", "%2") "    %32 = eq %10, %7 : i1\n    %33 = select %32, %2, %15 : f64\n", "%33"),
        "no none");
    check_plan(
        FLOATS(PRODUCT("%15", "%11", "%2") "    %32 = eq %10, %7 : i1\n    %33 = select %32, %15, %2 : f64\n", "%33"),
        "no none");
    check_plan(
        FLOATS(PRODUCT("%15", "%11", "%2") "    %32 = eq %10, %7 : i1\n    %33 = select %32, %15, %15 : f64\n", "%33"),
        "gone 1 tell evidence");
    /* the last round is left in its middle, with a product that the sum does not know */
    check_plan(FLOATS(PRODUCT("%15", "%11", "%2") "    %32 = eq %10, %7 : i1\n    branch %32 ? 2 () : 4 ()\n"
                                                  "  block 4 () :\n",
                      "%15"),
               "no none");
}

/* Through a join, on every way from the result to the head. */
#define JOINED(yes, no)                                                                                                \
    FLOATS("    %32 = lt %10, %7 : i1\n    branch %32 ? 4 () : 5 ()\n"                                                 \
           "  block 4 () :\n" PRODUCT("%15", "%11", "%2") "    jump 6 (" yes ")\n"                                     \
                                                          "  block 5 () :\n    jump 6 (" no ")\n"                      \
                                                          "  block 6 (%33 : f64) :\n",                                 \
           "%33")

TEST(flow_evidence, a_sum_that_some_rounds_hand_on)
{
    check_plan(JOINED("%15", "%11"), "gone 1 tell evidence");
    check_plan(JOINED("%15", "%2"), "no none");
    check_plan(JOINED("%2", "%11"), "no none"); /* the product is lost */
}

/* Sums of ints of which nothing is known; products and running sums keep their checks. */
TEST(flow_evidence, sums_of_ints_that_may_wrap)
{
#define INTS(body, next)                                                                                               \
    COUNTED_LOOP(UP, "1",                                                                                              \
                 "    %30 = and %10, %7 : i64\n    %31 = load[0] %3, %30 alias 1 : i64\n" body                         \
                 "    jump 1 (%13, " next ")\n",                                                                       \
                 CHECKS)
    check_plan(INTS("    %15 = add %31, %2 exit 1 : i64\n", "%11"), "overflow evidence");
    check_plan(INTS("    %15 = sub %10, %31 exit 1 : i64\n", "%11"), "no none"); /* the index is a parameter */
    check_plan(INTS("    %15 = add %11, %31 exit 1 : i64\n", "%15"), "no none");
    check_plan(INTS("    %15 = mul %31, %2 exit 1 : i64\n", "%11"), "no none");
    check_plan(INTS("    %15 = add %31, %2 exit 1 : i64\n    %16 = mul %31, %2 exit 1 : i64\n", "%11"), "no no none");
    check_plan(INTS("    %15 = add %31, %2 exit 1 : i64\n    %16 = call[0] %31 : i64\n", "%11"),
               "no none"); /* it cannot be undone */
}

/* What was stored must be found again from the index alone, be not too much, and the loop be left at its head only. */
#define STORED(place, body)                                                                                            \
    INTS("    %15 = add %31, %2 exit 1 : i64\n" body "    store[0] %3, " place ", %15 alias 1\n", "%11")

TEST(flow_evidence, stores_that_can_be_undone)
{
#define OFFSET "    %32 = wrap %10, %8 exit 1 : i64\n    %33 = mul %32, %7 : i64\n"
    check_plan(STORED("%33", OFFSET), "overflow index undone evidence");
    check_plan(STORED("%5", ""), "overflow undone+ evidence");
    check_plan(STORED("%31", ""), "no none"); /* a place that was read */
    check_plan(STORED("%30", ""), "no none"); /* an AND is not computed again */
    check_plan(
        STORED("%33", OFFSET
               "    store[0] %3, %5, %2 alias 1\n    store[0] %3, %5, %2 alias 1\n    store[0] %3, %5, %2 alias 1\n"),
        "overflow index undone+ undone+ undone+ undone evidence");
    check_plan(
        STORED("%33", OFFSET
               "    store[0] %3, %5, %2 alias 1\n    store[0] %3, %5, %2 alias 1\n    store[0] %3, %5, %2 alias 1\n"
               "    store[0] %3, %5, %2 alias 1\n"),
        "no index none");
    check_plan(COUNTED_LOOP(UP, "2",
                            "    %31 = load[0] %3, %5 alias 1 : i64\n    %15 = add %31, %2 exit 1 : i64\n"
                            "    store[0] %3, %5, %15 alias 1\n" SUM("%11"),
                            CHECKS),
               "no none"); /* the rounds are not counted by the index */
    /* a way out in the middle of a round */
    check_plan(STORED("%33", OFFSET "    %34 = eq %31, %7 : i1\n    branch %34 ? 2 () : 4 ()\n  block 4 () :\n"),
               "no index none");
    check_plan(INTS("    %15 = add %31, %2 exit 1 : i64\n    %34 = eq %31, %7 : i1\n    branch %34 ? 2 () : 4 ()\n  "
                    "block 4 () :\n",
                    "%11"),
               "overflow evidence"); /* nothing to undo */
}

/* All kinds of floats in memory, in the number and as what is found: the copy is as the flow was. */
static void
check_floats(const char *source)
{
    const double numbers[] = { 0.0,         -0.0,   1.0,    -2.5, 1e200, -1e308, (double)INFINITY, -(double)INFINITY,
                               (double)NAN, 5e-324, DBL_MAX };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *before = parse_flow(arena, source), *after = hoisted(arena, source);
    for (size_t n = 0; n < 11; n++)
        for (size_t m = 0; m < 22; m++)
            for (int64_t stop = 0; stop < 12; stop += 1 + stop / 2) {
                union jy_scalar in[] = { { .i = 0 }, { .i = stop }, { .d = numbers[n] } };
                int64_t memory[LOOP_ROOM];
                for (size_t k = 0; k < LOOP_ROOM; k++)
                    memory[k] = f64_of(k == 1 || m >= 11 ? numbers[(m + k / 2) % 11] : 1.5).i;
                struct loop_outcome x = loop_run(before, in, memory), y = loop_run(after, in, memory);
                CHECK(memcmp(&x, &y, sizeof x) == 0);
            }
    jy_arena_free(arena);
}

TEST(flow_evidence, of_floats_of_all_kinds)
{
    check_floats(FLOATS(ITEM PRODUCT("%15", "%31", "%2") QUOTIENT("%16", "%2", "%15"), "%11"));
    check_floats(FLOATS(ITEM PRODUCT("%15", "%31", "%2") DIFFERENCE("%16", "%11", "%15"), "%16"));
    check_floats(FLOATS(
        ITEM PRODUCT("%15", "%31", "%2") "    %32 = eq %10, %7 : i1\n    %33 = select %32, %11, %15 : f64\n", "%33"));
    check_floats(JOINED("%15", "%11"));
    check_floats(JOINED("%2", "%11"));
    check_floats(FLOATS("    %32 = wrap %10, %8 exit 1 : i64\n    %33 = mul %32, %7 : i64\n    %31 = load[0] %3, %33 "
                        "alias 1 : f64\n" PRODUCT("%15", "%31", "%31") "    store[0] %3, %33, %15 alias 1\n",
                        "%15"));
    /* a sum that lies in memory */
    check_floats(FLOATS(
        "    %31 = load[8] %3, %5 alias 1 : f64\n" PRODUCT("%15", "%31", "%2") "    store[8] %3, %5, %15 alias 1\n",
        "%11"));
}
