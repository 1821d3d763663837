/* Bounds that hold in every call, and what is left of index checks behind them. */
#include "graph/flow_bounds.h"
#include "tests/unit/graph/flow_case.h"

#define INPUTS                                                                                                         \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 extent 1.0\n"                                                                                     \
    "  input 2 : i64 index 2\n"                                                                                        \
    "  input 3 : ptr data 1\n"                                                                                         \
    "  input 4 : i1 number 4 bool\n"                                                                                   \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = input[3] : ptr\n"                                                                                        \
    "    %4 = input[4] : i1\n"                                                                                         \
    "    %5 = const[0] : i64\n"                                                                                        \
    "    %6 = const[1] : i64\n"                                                                                        \
    "    %7 = const[-3] : i64\n"

static struct jy_bounds
bounds_of(const char *source, jy_fv v)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    struct jy_flow_shape shape;
    struct jy_flow_bounds b;
    struct jy_bounds found = { 1, 0 };
    if (w != NULL) {
        jy_flow_shape_fill(&shape, w);
        jy_flow_bounds_init(&b, w, &shape);
        found = jy_flow_bounds_of(&b, v);
    }
    jy_arena_free(arena);
    return found;
}

#define CHECK_BOUNDS(source, v, low_, high_)                                                                           \
    do {                                                                                                               \
        struct jy_bounds found_ = bounds_of(source, v);                                                                \
        CHECK_INT(found_.low, low_);                                                                                   \
        CHECK_INT(found_.high, high_);                                                                                 \
    } while (0)
#define LONGEST JY_FLOW_MOST_EXTENT

/* %20 is the result of one instruction. */
#define ONE(instruction) INPUTS instruction "    exit 0\n  exit 0 return at 1 ()\n"
#define CHECK_ONE(instruction, low, high) CHECK_BOUNDS(ONE(instruction), 20, low, high)

TEST(flow_bounds, of_what_comes_in)
{
    CHECK_BOUNDS(ONE(""), 0, INT64_MIN, INT64_MAX);
    CHECK_BOUNDS(ONE(""), 1, 0, LONGEST);
    CHECK_BOUNDS(ONE(""), 2, 0, INT64_MAX);
    CHECK_BOUNDS(ONE(""), 7, -3, -3);
}

TEST(flow_bounds, of_operations)
{
    CHECK_ONE("    %20 = min %0, %1 : i64\n", INT64_MIN, LONGEST);
    CHECK_ONE("    %20 = max %0, %7 : i64\n", -3, INT64_MAX);
    CHECK_ONE("    %20 = select %4, %1, %7 : i64\n", -3, LONGEST);
    CHECK_ONE("    %20 = and %6, %0 : i64\n", 0, 1);
    CHECK_ONE("    %20 = and %0, %7 : i64\n", INT64_MIN, INT64_MAX);
    CHECK_ONE("    %10 = const[5] : i64\n    %20 = floormod %0, %10 : i64\n", 0, 4);
    CHECK_ONE("    %20 = floormod %0, %7 exit 0 : i64\n", INT64_MIN, INT64_MAX);
    CHECK_ONE("    %20 = wrap %0, %1 exit 0 : i64\n", 0, LONGEST - 1);
    CHECK_ONE("    %20 = wrap %0, %2 exit 0 : i64\n", 0, INT64_MAX - 1);
    CHECK_ONE("    %20 = wrap %0, %7 exit 0 : i64\n", 0, INT64_MAX); /* never comes */
    CHECK_ONE("    %10 = load[0] %3, %5 : i8\n    %20 = sext %10 : i64\n", -128, 127);
    CHECK_ONE("    %10 = load[0] %3, %5 : i16\n    %20 = zext %10 : i64\n", 0, 65535);
    CHECK_ONE("    %10 = load[0] %3, %5 : i32\n    %20 = sext %10 : i64\n", INT32_MIN, INT32_MAX);
    CHECK_ONE("    %20 = zext %4 : i64\n", 0, 1);
}

/* All corners fit; or one factor is a constant, and an exit is taken where the product does not fit. */
TEST(flow_bounds, of_products)
{
    CHECK_ONE("    %20 = mul %1, %7 : i64\n", -3 * LONGEST, 0);
    CHECK_ONE("    %10 = and %0, %6 : i64\n    %20 = mul %7, %10 : i64\n", -3, 0);
    CHECK_ONE("    %20 = mul %0, %7 : i64\n", INT64_MIN, INT64_MAX);
    CHECK_ONE("    %20 = mul %0, %7 exit 0 : i64\n", INT64_MIN, INT64_MAX);
    CHECK_ONE("    %20 = mul %0, %0 exit 0 : i64\n", INT64_MIN, INT64_MAX);
    CHECK_BOUNDS(ONE("    %10 = const[3] : i64\n    %20 = mul %0, %10 exit 0 : i64\n"), 20, INT64_MIN + 2,
                 INT64_MAX - 1);
    CHECK_BOUNDS(ONE("    %10 = const[3] : i64\n    %20 = mul %10, %0 exit 0 : i64\n"), 20, INT64_MIN + 2,
                 INT64_MAX - 1);
    CHECK_BOUNDS(ONE("    %10 = const[3] : i64\n    %20 = mul %0, %10 : i64\n"), 20, INT64_MIN, INT64_MAX);
}

/* Both ends of the exact sum fit, or an exit is taken where the sum does not: else it wraps to anywhere. */
TEST(flow_bounds, of_sums)
{
    CHECK_ONE("    %20 = add %1, %7 : i64\n", -3, LONGEST - 3);
    CHECK_ONE("    %20 = sub %7, %1 : i64\n", -3 - LONGEST, -3);
    CHECK_ONE("    %20 = add %2, %6 : i64\n", INT64_MIN, INT64_MAX);
    CHECK_ONE("    %20 = add %2, %6 exit 0 : i64\n", 1, INT64_MAX);
    CHECK_ONE("    %20 = sub %7, %2 : i64\n", INT64_MIN, INT64_MAX); /* -3 - INT64_MAX is INT64_MIN - 2 */
    CHECK_ONE("    %10 = const[-1] : i64\n    %20 = sub %10, %2 : i64\n", INT64_MIN, -1);
    CHECK_ONE("    %20 = add %0, %6 exit 0 : i64\n", INT64_MIN + 1, INT64_MAX);
    CHECK_ONE("    %20 = sub %5, %0 exit 0 : i64\n", INT64_MIN + 1, INT64_MAX);
}

/* for %10 from `start`: while `test`: %10 = `next` (%13) */
#define COUNTS(start, test, next)                                                                                      \
    INPUTS "    jump 1 (" start ")\n"                                                                                  \
           "  block 1 (%10 : i64) :\n"                                                                                 \
           "    %11 = " test " : i1\n"                                                                                 \
           "    branch %11 ? 2 () : 3 ()\n"                                                                            \
           "  block 2 () :\n"                                                                                          \
           "    %13 = " next " : i64\n"                                                                                \
           "    jump 1 (%13)\n"                                                                                        \
           "  block 3 () :\n"                                                                                          \
           "    exit 0\n"                                                                                              \
           "  exit 0 return at 1 (%10)\n"

TEST(flow_bounds, of_loops_that_count_up)
{
    CHECK_BOUNDS(COUNTS("%5", "lt %10, %1", "add %10, %6"), 10, 0, LONGEST);
    CHECK_BOUNDS(COUNTS("%5", "lt %10, %1", "add %10, %6"), 13, 1, LONGEST + 1);
    CHECK_BOUNDS(COUNTS("%5", "le %10, %1", "add %6, %10"), 10, 0, LONGEST + 1);
    CHECK_BOUNDS(COUNTS("%5", "lt %10, %0", "add %10, %6"), 10, 0, INT64_MAX); /* at most the limit, whatever it is */
    CHECK_BOUNDS(COUNTS("%5", "le %10, %0", "add %10, %6"), 10, INT64_MIN,
                 INT64_MAX); /* INT64_MAX <= INT64_MAX, and on */
    CHECK_BOUNDS(COUNTS("%5", "le %10, %0", "add %10, %6 exit 0"), 10, 0, INT64_MAX);
    CHECK_BOUNDS(COUNTS("%0", "lt %10, %1", "add %10, %6"), 10, INT64_MIN, INT64_MAX);
    CHECK_BOUNDS(COUNTS("%5", "gt %1, %10", "sub %10, %7"), 10, 0,
                 LONGEST + 2); /* the test turned round; the step is 3 */
    CHECK_BOUNDS(COUNTS("%5", "ne %10, %1", "add %10, %6"), 10, INT64_MIN, INT64_MAX);
    CHECK_BOUNDS(COUNTS("%5", "gt %10, %1", "add %10, %6"), 10, INT64_MIN, INT64_MAX);
    CHECK_BOUNDS(COUNTS("%5", "lt %10, %1", "add %10, %0"), 10, INT64_MIN, INT64_MAX);
    CHECK_BOUNDS(COUNTS("%5", "lt %10, %1", "add %10, %10"), 10, INT64_MIN, INT64_MAX);
}

TEST(flow_bounds, of_loops_that_count_down)
{
    CHECK_BOUNDS(COUNTS("%1", "gt %10, %5", "sub %10, %6"), 10, 0, LONGEST);
    CHECK_BOUNDS(COUNTS("%1", "ge %10, %5", "add %10, %7"), 10, -3, LONGEST);
    CHECK_BOUNDS(COUNTS("%1", "ge %10, %0", "sub %10, %6"), 10, INT64_MIN, INT64_MAX);
    CHECK_BOUNDS(COUNTS("%1", "gt %10, %0", "sub %10, %6"), 10, INT64_MIN, LONGEST);
}

/* The test stands behind the step: it says nothing of the number that is added to. */
TEST(flow_bounds, a_test_of_the_sum_is_none_of_the_number)
{
    CHECK_BOUNDS(INPUTS "    jump 1 (%5)\n"
                        "  block 1 (%10 : i64) :\n"
                        "    %13 = add %10, %6 : i64\n"
                        "    %11 = lt %13, %0 : i1\n"
                        "    branch %11 ? 1 (%13) : 2 ()\n"
                        "  block 2 () :\n"
                        "    exit 0\n"
                        "  exit 0 return at 1 (%10)\n",
                 10, INT64_MIN, INT64_MAX);
}

/* A parameter that only goes round, and one that is made of itself in two steps. */
TEST(flow_bounds, of_parameters_made_of_themselves)
{
    CHECK_BOUNDS(INPUTS "    jump 1 (%1, %1)\n"
                        "  block 1 (%10 : i64, %11 : i64) :\n"
                        "    poll exit 0\n"
                        "    %12 = min %11, %7 : i64\n"
                        "    jump 1 (%10, %12)\n"
                        "  exit 0 poll at 1 (%10, %11)\n",
                 10, 0, LONGEST);
    CHECK_BOUNDS(INPUTS "    jump 1 (%1)\n"
                        "  block 1 (%11 : i64) :\n"
                        "    poll exit 0\n"
                        "    %12 = min %11, %7 : i64\n"
                        "    jump 1 (%12)\n"
                        "  exit 0 poll at 1 (%11)\n",
                 11, INT64_MIN, LONGEST);
}

/* ---- what is changed ---- */

static void
check_bound(const char *source, const char *expected)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL) {
        jy_flow_bound(w);
        CHECK_STR(jy_flow_verify(w), NULL);
        check_flow_text(w, expected);
    }
    jy_arena_free(arena);
}

#define WRAPPED(instruction, result)                                                                                   \
    INPUTS instruction "    exit 1\n  exit 0 check at 1 ()\n  exit 1 return at 2 (" result ")\n"

TEST(flow_bounds, an_index_that_is_never_negative_is_compared_with_the_extent)
{
    check_bound(WRAPPED("    %20 = wrap %2, %0 exit 0 : i64 @7\n", "%20"),
                WRAPPED("    %21 = below %2, %0 : i1 @7\n    check %21 exit 0 @7\n", "%2"));
    check_bound(WRAPPED("    %20 = wrap %2, %0 : i64\n", "%20"), WRAPPED("", "%2"));
    check_bound(WRAPPED("    %20 = wrap %0, %2 exit 0 : i64\n", "%20"),
                WRAPPED("    %20 = wrap %0, %2 exit 0 : i64\n", "%20"));
    check_bound(WRAPPED("    %20 = wrap %0, %2 : i64\n", "%20"), WRAPPED("    %20 = wrap %0, %2 : i64\n", "%20"));
}

/* A branch has compared the index with the extent already: with that one, strictly, and on every way. */
#define TESTED(test, arms, left)                                                                                       \
    INPUTS "    %10 = " test " : i1\n"                                                                                 \
           "    branch %10 ? " arms "\n"                                                                               \
           "  block 1 () :\n" left "    exit 1\n"                                                                      \
           "  block 2 () :\n"                                                                                          \
           "    jump 1 ()\n"                                                                                           \
           "  block 3 () :\n"                                                                                          \
           "    exit 1\n"                                                                                              \
           "  exit 0 check at 1 ()\n"                                                                                  \
           "  exit 1 return at 2 ()\n"

TEST(flow_bounds, an_index_that_a_branch_has_compared)
{
#define WRAP "    %20 = wrap %2, %1 exit 0 : i64\n"
#define BELOW "    %21 = below %2, %1 : i1\n    check %21 exit 0\n"
#define CHECK_TESTED(test, arms, left) check_bound(TESTED(test, arms, WRAP), TESTED(test, arms, left))
    CHECK_TESTED("lt %2, %1", "1 () : 3 ()", "");
    CHECK_TESTED("gt %1, %2", "1 () : 3 ()", "");
    CHECK_TESTED("ge %2, %1", "3 () : 1 ()", "");
    CHECK_TESTED("le %2, %1", "1 () : 3 ()", BELOW);
    CHECK_TESTED("lt %2, %1", "3 () : 1 ()", BELOW);
    CHECK_TESTED("lt %2, %0", "1 () : 3 ()", BELOW);
    CHECK_TESTED("lt %2, %1", "1 () : 2 ()", BELOW); /* the other way comes here, too */
    CHECK_TESTED("lt %2, %1", "1 () : 1 ()", BELOW);
}

#define ARITHMETIC(instruction) WRAPPED(instruction, "%20")
#define CHECK_FITS(before, operation, type)                                                                            \
    check_bound(ARITHMETIC(before "    %20 = " operation " exit 0 : " type "\n"),                                      \
                ARITHMETIC(before "    %20 = " operation " : " type "\n"))
#define CHECK_MAY_NOT_FIT(before, operation, type)                                                                     \
    check_bound(ARITHMETIC(before "    %20 = " operation " exit 0 : " type "\n"),                                      \
                ARITHMETIC(before "    %20 = " operation " exit 0 : " type "\n"))

TEST(flow_bounds, arithmetic_that_always_fits_leaves_no_more)
{
#define TRIPLE "    %8 = const[3] : i64\n    %9 = const[2] : i64\n    %10 = mul %0, %8 exit 0 : i64\n"
    CHECK_FITS("", "add %1, %6", "i64");
    CHECK_FITS("", "sub %7, %1", "i64");
    CHECK_FITS("", "mul %1, %7", "i64");
    CHECK_FITS("", "neg %1", "i64");
    CHECK_FITS("", "abs %1", "i64");
    CHECK_FITS("", "to_float %1", "f64");
    CHECK_FITS(TRIPLE, "add %10, %6", "i64");
    CHECK_MAY_NOT_FIT(TRIPLE, "add %10, %9", "i64");
    CHECK_MAY_NOT_FIT(TRIPLE, "sub %10, %8", "i64");
    CHECK_FITS(TRIPLE, "neg %10", "i64");
    CHECK_MAY_NOT_FIT("", "add %2, %6", "i64");
    CHECK_MAY_NOT_FIT("", "mul %2, %2", "i64");
    CHECK_MAY_NOT_FIT("", "neg %0", "i64");
    CHECK_MAY_NOT_FIT("", "abs %0", "i64");
    CHECK_MAY_NOT_FIT("", "to_float %2", "f64");
}

/* %10 counts from 0, or what `first` says, below %1. */
#define COUNTED(first, limit, body, result)                                                                            \
    INPUTS "    jump 1 (" first ")\n"                                                                                  \
           "  block 1 (%10 : i64) :\n"                                                                                 \
           "    %11 = lt %10, " limit " : i1\n"                                                                        \
           "    branch %11 ? 2 () : 3 ()\n"                                                                            \
           "  block 2 () :\n" body "    %14 = mul " result ", %6 : i64\n"                                              \
           "    store[0] %3, %5, %14\n"                                                                                \
           "    poll exit 0\n"                                                                                         \
           "    %15 = add %10, %6 : i64\n"                                                                             \
           "    jump 1 (%15)\n"                                                                                        \
           "  block 3 () :\n"                                                                                          \
           "    exit 1\n"                                                                                              \
           "  exit 0 poll at 1 (%10)\n"                                                                                \
           "  exit 1 return at 2 ()\n"

TEST(flow_bounds, a_remainder_by_what_the_number_counts_to)
{
#define NEXT "    %12 = add %10, %6 : i64\n"
#define LAST "    %12 = sub %10, %6 : i64\n"
#define REST "    %13 = floormod %12, %1 exit 0 : i64\n"
    check_bound(COUNTED("%5", "%1", "    %13 = floormod %10, %1 exit 0 : i64\n", "%13"),
                COUNTED("%5", "%1", "", "%10"));
    check_bound(COUNTED("%5", "%1", NEXT REST, "%13"),
                COUNTED("%5", "%1",
                        NEXT
                        "    %18 = const[0] : i64\n    %19 = eq %12, %1 : i1\n    %20 = select %19, %18, %12 : i64\n",
                        "%20"));
    check_bound(COUNTED("%5", "%1", LAST REST, "%13"),
                COUNTED("%5", "%1",
                        LAST "    %18 = const[0] : i64\n    %19 = lt %12, %18 : i1\n    %20 = add %12, %1 : i64\n"
                             "    %21 = select %19, %20, %12 : i64\n",
                        "%21"));
    check_bound(COUNTED("%7", "%1", NEXT REST, "%13"), COUNTED("%7", "%1", NEXT REST, "%13"));
    check_bound(COUNTED("%5", "%2", NEXT REST, "%13"), COUNTED("%5", "%2", NEXT REST, "%13"));
    check_bound(COUNTED("%5", "%1", "    %12 = sub %10, %7 : i64\n" REST, "%13"),
                COUNTED("%5", "%1", "    %12 = sub %10, %7 : i64\n" REST, "%13"));
}
