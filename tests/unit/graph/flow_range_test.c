/* Between which bounds the integers of a loop stay, as text, and that checks that are gone would have held. */
#include "tests/unit/graph/flow_loop_case.h"

/* for i in range(start, stop): s += i * k; bounds at the ends of the numbers */
#define SUM_OF_PRODUCTS(more, product)                                                                                 \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = const[50] : i64\n"                                                                                       \
    "    %4 = add %0, %3 : i64\n"                                                                                      \
    "    %5 = min %1, %4 : i64\n"                                                                                      \
    "    jump 1 (%0, %1)\n"                                                                                            \
    "  block 1 (%6 : i64, %7 : i64) :\n"                                                                               \
    "    %8 = lt %6, %5 : i1\n"                                                                                        \
    "    branch %8 ? 2 () : 3 ()\n"                                                                                    \
    "  block 2 () :\n"                                                                                                 \
    "    %9 = const[1] : i64\n"                                                                                        \
    "    %10 = add %6, %9 : i64\n" more "    %11 = mul " product " exit 0 : i64\n"                                     \
    "    %12 = add %7, %11 exit 1 : i64\n"                                                                             \
    "    %13 = floormod %12, %2 exit 2 : i64\n"                                                                        \
    "    jump 1 (%10, %12)\n"                                                                                          \
    "  block 3 () :\n"                                                                                                 \
    "    exit 3\n"                                                                                                     \
    "  exit 0 check at 1 (%6, %7)\n"                                                                                   \
    "  exit 1 check at 2 (%6, %7, %11)\n"                                                                              \
    "  exit 2 check at 3 (%6, %7, %12)\n"                                                                              \
    "  exit 3 return at 4 (%6, %7)\n"

TEST(flow_range, overflow_somewhere)
{
    static const int64_t values[] = { 0,
                                      1,
                                      -5,
                                      30,
                                      INT64_MAX,
                                      INT64_MIN,
                                      INT64_MAX - 3,
                                      INT64_MIN + 20,
                                      INT64_C(1) << 45,
                                      -(INT64_C(1) << 45),
                                      (INT64_C(1) << 31) + 1,
                                      INT64_MAX / 40 };
    check_all_alike(SUM_OF_PRODUCTS("", "%6, %2"), values, 12, 3);
    /* factors that are never negative */
    check_all_alike(SUM_OF_PRODUCTS("    %14 = const[0] : i64\n"
                                    "    %15 = max %6, %14 : i64\n"
                                    "    %16 = max %2, %14 : i64\n",
                                    "%15, %16"),
                    values, 12, 3);
}

/* for i in range(start, stop): if i >= x: s += a[i - x]: the branch proves what the range of i alone does not. */
#define BEHIND_A_BRANCH                                                                                                \
    BOUNDS_AND_ARRAY("")                                                                                               \
    "    %4 = const[64] : i64\n"                                                                                       \
    "    %5 = const[0] : i64\n"                                                                                        \
    "    %6 = const[8] : i64\n"                                                                                        \
    "    %7 = const[1] : i64\n"                                                                                        \
    "    jump 1 (%0, %5)\n"                                                                                            \
    "  block 1 (%9 : i64, %10 : i64) :\n"                                                                              \
    "    %11 = lt %9, %1 : i1\n"                                                                                       \
    "    branch %11 ? 2 () : 5 ()\n"                                                                                   \
    "  block 2 () :\n"                                                                                                 \
    "    %12 = add %9, %7 : i64\n"                                                                                     \
    "    %13 = lt %9, %2 : i1\n"                                                                                       \
    "    branch %13 ? 4 (%10) : 3 ()\n"                                                                                \
    "  block 3 () :\n"                                                                                                 \
    "    %14 = sub %9, %2 exit 0 : i64\n"                                                                              \
    "    %15 = wrap %14, %4 exit 1 : i64\n"                                                                            \
    "    %16 = mul %15, %6 : i64\n"                                                                                    \
    "    %17 = load[0] %3, %16 alias 1 : i64\n"                                                                        \
    "    %18 = add %10, %17 : i64\n"                                                                                   \
    "    jump 4 (%18)\n"                                                                                               \
    "  block 4 (%19 : i64) :\n"                                                                                        \
    "    jump 1 (%12, %19)\n"                                                                                          \
    "  block 5 () :\n"                                                                                                 \
    "    exit 2\n"                                                                                                     \
    "  exit 0 check at 1 (%9, %10)\n"                                                                                  \
    "  exit 1 check at 2 (%9, %14, %10)\n"                                                                             \
    "  exit 2 return at 3 (%9, %10)\n"

TEST(flow_range, what_branches_say_of_an_index)
{
    static const int64_t values[] = { 0, 1, 2, 5, 40, 62, 63, 64, 65, 90, -1, -8, 200, -300 };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, BEHIND_A_BRANCH);
    CHECK_UINT(count_op(w, JY_FLOW_WRAP), 1); /* the careful loop's */
    jy_arena_free(arena);
    check_all_alike(BEHIND_A_BRANCH, values, 14, 3);
}

/* ---- ranges as text ---- */

/* first, stop: of the index; sum: what the other parameter begins with; `new`: computed in front. */
static void
add_form(struct jy_text *text, const struct loop_case *k, const struct jy_form *f)
{
    for (size_t t = 0; t < f->n; t++) {
        jy_fv base = f->term[t].base;
        if (f->term[t].factor != 1)
            jy_text_add(text, "%lld*", (long long)f->term[t].factor);
        if (base == k->c.stop)
            jy_text_add(text, "stop");
        else if (base == k->c.first[0] || base == k->c.first[1])
            jy_text_add(text, base == k->c.first[0] ? "first" : "sum");
        else if (base >= k->c.nvalues)
            jy_text_add(text, "new");
        else
            jy_text_add(text, "%%%u", base);
        jy_text_add(text, t + 1 < f->n || f->constant != 0 ? " + " : "");
    }
    if (f->n == 0 || f->constant != 0)
        jy_text_add(text, "%lld", (long long)f->constant);
}

static void
check_range(const char *source, jy_fv v, const char *expected)
{
    struct loop_case k;
    struct jy_text text = { 0 };
    if (CHECK(loop_case_find(&k, source))) {
        struct jy_interval r = jy_range_at(&k.c, v, jy_flow_at(k.w, v)->f_block);
        jy_text_add(&text, "[");
        if (r.has_low)
            add_form(&text, &k, &r.low);
        jy_text_add(&text, ", ");
        if (r.has_high)
            add_form(&text, &k, &r.high);
        jy_text_add(&text, "]");
        CHECK_STR(text.at, expected);
    }
    jy_text_free(&text);
    loop_case_free(&k);
}

#define ROUND(body) COUNTED_LOOP(UP, "1", body SUM("%11"), CHECKS)

TEST(flow_range, of_the_index)
{
    check_range(ROUND(""), 10, "[first, stop + -1]");
    check_range(ROUND(""), 13, "[first + 1, stop]");
    check_range(COUNTED_LOOP("%12 = le %10, %1", "3", SUM("%11"), CHECKS), 10, "[first, stop + -1]");
    check_range(COUNTED_LOOP(DOWN, "-2", SUM("%11"), CHECKS), 10, "[stop + 1, first]");
    check_range(COUNTED_LOOP(DOWN, "-2", SUM("%11"), CHECKS), 13, "[stop + -1, first + -2]");
}

/* Along an axis the range ends where the axis does, in whichever chunk. */
TEST(flow_range, of_an_index_that_goes_along_an_axis)
{
    static const char number[] = "input 1 : i64 number 1 int64", extent[] = "input 1 : i64 extent 3.0    ";
    char source[4096];
    snprintf(source, sizeof source, "%s", ROUND(""));
    char *at = strstr(source, number);
    if (!CHECK(at != NULL))
        return;
    memcpy(at, extent, sizeof extent - 1);
    check_range(source, 10, "[first, %1 + -1]");
    check_range(source, 13, "[first + 1, %1]");
}

TEST(flow_range, of_operations)
{
#define CHECK_ROUND(instruction, expected) check_range(ROUND("    " instruction " : i64\n"), 15, expected)
    CHECK_ROUND("%15 = sub %8, %10 exit 1", "[-1*stop + 65, -1*first + 64]");
    CHECK_ROUND("%15 = neg %10 exit 1", "[-1*stop + 1, -1*first]");
    CHECK_ROUND("%15 = mul %10, %7 exit 1", "[8*first, 8*stop + -8]");
    CHECK_ROUND("%15 = mul %9, %10 exit 1", "[first, stop + -1]");
    CHECK_ROUND("%15 = mul %10, %10 exit 1", "[new, new]");
    CHECK_ROUND("%15 = shl %10, %7 exit 1", "[256*first, 256*stop + -256]");
    CHECK_ROUND("%15 = shl %10, %8 exit 1", "[, ]"); /* by 64 */
    CHECK_ROUND("%15 = shr %10, %6", "[new, new]");
    CHECK_ROUND("%15 = and %10, %8", "[0, 64]");
    CHECK_ROUND("%15 = floordiv %10, %7", "[new, new]");
    CHECK_ROUND("%15 = floordiv %10, %2 exit 1", "[, ]");
    CHECK_ROUND("%15 = floormod %10, %7", "[0, 7]");
    CHECK_ROUND("%15 = floormod %10, %2 exit 1", "[0, new]");
    CHECK_ROUND("%15 = floormod %10, %5 exit 1", "[, ]");
    CHECK_ROUND("%15 = abs %10 exit 1", "[0, new]");
    CHECK_ROUND("%15 = min %10, %8", "[new, new]");
    CHECK_ROUND("%15 = wrap %10, %8 exit 1", "[0, 63]");
    CHECK_ROUND("%15 = wrap %10, %2 exit 1", "[0, %2 + -1]");
    CHECK_ROUND("%15 = add %2, %10 exit 1", "[%2 + first, %2 + stop + -1]");
    CHECK_ROUND("%15 = ushr %10, %6", "[, ]");
    CHECK_ROUND("%15 = load[0] %3, %5 alias 1", "[, ]");
}

#define LOADED "    %16 = load[0] %3, %5 alias 1 : i64\n"

/* Written as a choice, the lesser and the greater of two are what they are as instructions. */
TEST(flow_range, of_choices)
{
#define CHECK_CHOICE(test, choice, expected)                                                                           \
    check_range(ROUND(LOADED "    %17 = " test " : i1\n    %15 = select %17, " choice " : i64\n"), 15, expected)
    CHECK_CHOICE("lt %16, %8", "%16, %8", "[, 64]");
    CHECK_CHOICE("le %8, %16", "%8, %16", "[, 64]");
    CHECK_CHOICE("gt %16, %8", "%8, %16", "[, 64]");
    CHECK_CHOICE("ge %16, %8", "%16, %8", "[64, ]");
    CHECK_CHOICE("lt %16, %8", "%8, %16", "[64, ]");
    CHECK_CHOICE("gt %8, %16", "%8, %16", "[64, ]");
    CHECK_CHOICE("ne %16, %8", "%8, %16", "[, ]");
    CHECK_CHOICE("lt %16, %7", "%16, %8", "[, ]");
    CHECK_CHOICE("below %16, %8", "%16, %8", "[, ]");
}

#define QUOTIENT(a, b)                                                                                                 \
    "    %16 = to_float " a " exit 1 : f64\n    %17 = to_float " b                                                     \
    " exit 1 : f64\n    %18 = div %16, %17 : f64\n    %15 = to_int %18 exit 1 : i64\n"

TEST(flow_range, of_quotients_that_are_cut)
{
    check_range(ROUND(QUOTIENT("%10", "%8")), 15, "[0, new]");
    check_range(ROUND(QUOTIENT("%10", "%2")), 15, "[0, new]");
    check_range(ROUND("    %16 = to_float %10 exit 1 : f64\n    %17 = const[3.0] : f64\n    %18 = div %16, %17 : f64\n"
                      "    %15 = to_int %18 exit 1 : i64\n"),
                15, "[0, new]");
    check_range(ROUND("    %16 = to_float %10 exit 1 : f64\n    %17 = const[2.5] : f64\n    %18 = div %16, %17 : f64\n"
                      "    %15 = to_int %18 exit 1 : i64\n"),
                15, "[, ]");
    check_range(ROUND("    %19 = load[0] %3, %5 alias 1 : i64\n" QUOTIENT("%19", "%8")), 15, "[, ]");
    check_range(ROUND("    %16 = to_float %10 exit 1 : f64\n    %18 = mul %16, %16 : f64\n"
                      "    %15 = to_int %18 exit 1 : i64\n"),
                15, "[, ]");
}

/* for i in range(start, stop): s += a[min(int(i * i / x) + 1, 63)]: all of it is proven in front, or none. */
#define INDEX_OF_QUOTIENT                                                                                              \
    COUNTED_LOOP(UP, "1",                                                                                              \
                 "    %19 = mul %10, %10 exit 1 : i64\n"                                                               \
                 "    %20 = ne %2, %5 : i1\n"                                                                          \
                 "    check %20 exit 1\n" QUOTIENT("%19", "%2") "    %22 = add %15, %6 exit 1 : i64\n"                 \
                                                                "    %23 = const[63] : i64\n"                          \
                                                                "    %24 = lt %22, %23 : i1\n"                         \
                                                                "    %25 = select %24, %22, %23 : i64\n"               \
                                                                "    %26 = wrap %25, %8 exit 1 : i64\n"                \
                                                                "    %27 = mul %26, %7 : i64\n"                        \
                                                                "    %28 = load[0] %3, %27 alias 1 : i64\n"            \
                                                                "    %29 = add %11, %28 : i64\n" SUM("%29"),           \
                 CHECKS)

TEST(flow_range, an_index_that_is_a_quotient)
{
    static const int64_t values[] = { 0, 1, 3, 40, -2, 9, 200, INT64_MIN };
    size_t with_exit = 0, without = 0;
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, INDEX_OF_QUOTIENT);
    for (jy_fv v = 0; w != NULL && v < w->w_values.n; v++) {
        const struct jy_fvalue *value = jy_flow_at(w, v);
        with_exit += value->f_op == JY_FLOW_TO_INT && value->f_exit != JY_NO_EXIT;
        without += value->f_op == JY_FLOW_TO_INT && value->f_exit == JY_NO_EXIT;
    }
    CHECK_UINT(with_exit, 1); /* the careful loop's */
    CHECK_UINT(without, 2);   /* in front, and the round's */
    CHECK_UINT(count_op(w, JY_FLOW_WRAP), 1);
    jy_arena_free(arena);
    check_all_alike(INDEX_OF_QUOTIENT, values, 8, 3);
}

static void
check_products(const char *source, jy_fv v, size_t expected)
{
    struct loop_case k;
    size_t n = 0;
    if (CHECK(loop_case_find(&k, source))) {
        struct jy_interval r = jy_range_at(&k.c, v, jy_flow_at(k.w, v)->f_block);
        for (size_t d = 0; d < k.c.derived.n; d++)
            n += jy_flow_at(k.w, k.c.derived.at[d].base)->f_op == JY_FLOW_MUL;
        CHECK(r.has_low && r.has_high);
        CHECK_UINT(n, expected);
    }
    loop_case_free(&k);
}

/* Least and greatest by the signs of what is multiplied, as far as they are known. */
TEST(flow_range, of_products)
{
#define MASKED "    %16 = and %10, %8 : i64\n    %17 = max %10, %5 : i64\n"
    check_products(ROUND("    %15 = mul %10, %10 exit 1 : i64\n"), 15, 4);
    check_products(ROUND(MASKED "    %15 = mul %10, %16 exit 1 : i64\n"), 15, 4);
    check_products(ROUND("    %15 = mul %10, %2 exit 1 : i64\n"), 15, 2);
    check_products(ROUND("    %15 = mul %2, %10 exit 1 : i64\n"), 15, 2);
    check_products(ROUND(MASKED "    %15 = mul %17, %16 exit 1 : i64\n"), 15, 2);
}

/* One operand is enough for the nearer bound; of what is not known, nothing is. */
TEST(flow_range, of_what_is_known_on_one_side)
{
#define CHECK_LOADED(instruction, expected) check_range(ROUND(LOADED "    " instruction " : i64\n"), 15, expected)
    CHECK_LOADED("%15 = min %16, %8", "[, 64]");
    CHECK_LOADED("%15 = max %5, %16", "[0, ]");
    CHECK_LOADED("%15 = select %12, %16, %8", "[, ]");
    CHECK_LOADED("%15 = abs %16 exit 1", "[0, ]");
    check_range(ROUND(LOADED "    %17 = max %16, %6 : i64\n    %15 = add %17, %10 exit 1 : i64\n"), 15,
                "[first + 1, ]");
    check_range(ROUND(LOADED "    %17 = max %16, %6 : i64\n    %15 = sub %10, %17 exit 1 : i64\n"), 15,
                "[, stop + -2]");
    check_range(ROUND(LOADED "    %17 = max %16, %6 : i64\n    %15 = add %17, %10 : i64\n"), 15,
                "[, ]"); /* it may wrap */
    check_range(ROUND("    %16 = load[0] %3, %5 alias 1 : i8\n    %15 = sext %16 : i64\n"), 15, "[-128, 127]");
    check_range(ROUND("    %16 = load[0] %3, %5 alias 1 : i16\n    %15 = zext %16 : i64\n"), 15, "[0, 65535]");
}

/* for ...: the other parameter becomes %15 */
#define SUMS(step, test, body) COUNTED_LOOP(test, step, body SUM("%15"), CHECKS)

TEST(flow_range, of_sums)
{
    /* as far as the index: exactly */
    check_range(SUMS("1", UP, "    %15 = add %11, %7 : i64\n"), 11, "[sum, sum + 8*stop + -8*first + -8]");
    check_range(SUMS("-1", DOWN, "    %15 = sub %11, %6 : i64\n"), 11, "[sum + stop + -1*first + 1, sum]");
    /* not in step with the index */
    struct jy_text far = { 0 };
    jy_text_add(&far, "[sum, sum + %d]", JY_CHUNK);
    check_range(SUMS("2", UP, "    %15 = add %11, %6 : i64\n"), 11, far.at);
    jy_text_free(&far);
}

/* What a round may add, as often as a round was made. */
TEST(flow_range, of_sums_of_this_or_that)
{
    struct jy_text far = { 0 };
    jy_text_add(&far, "[sum, sum + %d]", 8 * JY_CHUNK);
    check_range(SUMS("1", UP, "    %16 = select %12, %7, %5 : i64\n    %15 = add %11, %16 : i64\n"), 11,
                "[sum, sum + 8*stop + -8*first + -8]");
    check_range(SUMS("-1", DOWN, "    %16 = select %12, %7, %6 : i64\n    %15 = add %11, %16 : i64\n"), 11,
                "[sum, sum + -8*stop + 8*first + -8]");
    check_range(SUMS("2", UP, "    %16 = select %12, %7, %6 : i64\n    %15 = add %11, %16 : i64\n"), 11, far.at);
    check_range(SUMS("1", UP, "    %15 = mul %11, %7 exit 1 : i64\n"), 11, "[, ]");
    check_range(SUMS("1", UP, LOADED "    %15 = add %11, %16 exit 1 : i64\n"), 11, "[, ]");
    check_range(SUMS("1", UP, LOADED "    %17 = max %16, %6 : i64\n    %15 = add %11, %17 exit 1 : i64\n"), 11,
                "[sum, ]");
    jy_text_free(&far);
}

/* A condition on the way to the block says more: here of %10 where %16 is computed. */
#define BEHIND(condition, arms)                                                                                        \
    COUNTED_LOOP(UP, "1",                                                                                              \
                 "    %15 = " condition " : i1\n"                                                                      \
                 "    branch %15 ? " arms "\n"                                                                         \
                 "  block 4 () :\n"                                                                                    \
                 "    %16 = add %10, %5 exit 1 : i64\n"                                                                \
                 "    jump 5 ()\n"                                                                                     \
                 "  block 5 () :\n" SUM("%11"),                                                                        \
                 CHECKS)

TEST(flow_range, what_conditions_say)
{
#define THEN "4 () : 5 ()"
#define ELSE "5 () : 4 ()"
    check_range(BEHIND("lt %10, %8", THEN), 16, "[first, new]");
    check_range(BEHIND("lt %10, %8", ELSE), 16, "[new, stop + -1]");
    check_range(BEHIND("gt %8, %10", THEN), 16, "[first, new]");
    check_range(BEHIND("eq %10, %8", THEN), 16, "[new, new]");
    check_range(BEHIND("ne %10, %8", THEN), 16, "[first, stop + -1]");
    check_range(BEHIND("below %10, %8", THEN), 16, "[first, stop + -1]");
}

/* The same of a number from 0 to 64, so that the bounds are seen: %16, where %18 is computed. */
#define NARROWED(condition, arms)                                                                                      \
    COUNTED_LOOP(UP, "1",                                                                                              \
                 LOADED "    %17 = and %16, %8 : i64\n    %15 = " condition " : i1\n"                                  \
                        "    branch %15 ? " arms "\n"                                                                  \
                        "  block 4 () :\n"                                                                             \
                        "    %18 = add %17, %5 exit 1 : i64\n"                                                         \
                        "    jump 5 ()\n"                                                                              \
                        "  block 5 () :\n" SUM("%11"),                                                                 \
                 CHECKS)

TEST(flow_range, what_conditions_say_in_numbers)
{
    check_range(NARROWED("lt %17, %7", THEN), 18, "[0, 7]");
    check_range(NARROWED("lt %17, %7", ELSE), 18, "[8, 64]");
    check_range(NARROWED("le %17, %7", THEN), 18, "[0, 8]");
    check_range(NARROWED("le %17, %7", ELSE), 18, "[9, 64]");
    check_range(NARROWED("gt %17, %7", THEN), 18, "[9, 64]");
    check_range(NARROWED("gt %17, %7", ELSE), 18, "[0, 8]");
    check_range(NARROWED("ge %17, %7", THEN), 18, "[8, 64]");
    check_range(NARROWED("ge %17, %7", ELSE), 18, "[0, 7]");
    check_range(NARROWED("lt %7, %17", THEN), 18, "[9, 64]");
    check_range(NARROWED("le %7, %17", ELSE), 18, "[0, 7]");
    check_range(NARROWED("eq %17, %7", THEN), 18, "[8, 8]");
    check_range(NARROWED("ne %7, %17", ELSE), 18, "[8, 8]");
    check_range(NARROWED("eq %17, %7", ELSE), 18, "[0, 64]");
}

/* A sum that grows by a number of which only the least is known, and by 8 without an exit where that is 0: near the largest int it wraps, and is less than it began with. */
#define WRAPS_SOMETIMES                                                                                                \
    SUMS("1", UP,                                                                                                      \
         "    %16 = wrap %10, %8 exit 1 : i64\n"                                                                       \
         "    %17 = mul %16, %7 : i64\n"                                                                               \
         "    %18 = load[0] %3, %17 alias 1 : i64\n"                                                                   \
         "    %19 = ge %11, %5 : i1\n"                                                                                 \
         "    check %19 exit 2\n"                                                                                      \
         "    %21 = eq %18, %5 : i1\n"                                                                                 \
         "    branch %21 ? 4 () : 5 ()\n"                                                                              \
         "  block 4 () :\n"                                                                                            \
         "    %22 = add %11, %7 : i64\n"                                                                               \
         "    jump 6 (%22)\n"                                                                                          \
         "  block 5 () :\n"                                                                                            \
         "    %23 = max %18, %6 : i64\n"                                                                               \
         "    %24 = add %11, %23 exit 1 : i64\n"                                                                       \
         "    jump 6 (%24)\n"                                                                                          \
         "  block 6 (%15 : i64) :\n")                                                                                  \
    "  exit 2 check at 3 (%10, %11)\n"

TEST(flow_range, of_sums_that_wrap_on_one_of_the_ways)
{
    int64_t memory[LOOP_ROOM] = { INT64_MAX - 3, 0, 1, 0, 0 };
    static const int64_t values[] = { 0, 1, 2, 3, 5, 20 };
    check_alike_on(WRAPS_SOMETIMES, memory, values, 6, 2);
    check_range(WRAPS_SOMETIMES, 11, "[, ]");
}
