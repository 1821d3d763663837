/* What is told of loops: what became of their checks, why nothing of them can be vectors, and of which loop of the program a natural loop is. */
#include "tests/unit/graph/flow_loop_case.h"

/* All loops of the text are one loop of the program's; its checks are stamped as the frontend does. */
static struct jy_flow_report
told(const char *source)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    struct jy_flow_report report = { .kind = JY_REPORT_FOR };
    if (w == NULL)
        return report;
    *jy_vec_push(arena, &w->w_reports) = report;
    w->w_here.loop = 1;
    for (jy_fb b = 1; b < w->w_blocks.n; b++) {
        w->w_blocks.at[b].f_loop = 1;
        for (size_t i = 0; i < w->w_blocks.at[b].f_body.n; i++)
            jy_flow_stamp(w, w->w_blocks.at[b].f_body.at[i]);
    }
    jy_flow_report_begin(w);
    jy_flow_simplify(w);
    jy_flow_hoist(w);
    jy_flow_report(w, false);
    report = w->w_reports.at[0];
    report.detail = NULL; /* the arena's */
    jy_arena_free(arena);
    return report;
}

static void
check_counts(const char *source, uint32_t proven, uint32_t hoisted, uint32_t noted, uint32_t left)
{
    struct jy_flow_report r = told(source);
    CHECK_UINT(r.checks[JY_SITE_PROVEN], proven);
    CHECK_UINT(r.checks[JY_SITE_HOISTED], hoisted);
    CHECK_UINT(r.checks[JY_SITE_NOTED], noted);
    CHECK_UINT(r.checks[JY_SITE_LEFT], left);
}

#define SUM_OF_UNKNOWN                                                                                                 \
    "    %15 = and %10, %7 : i64\n    %16 = load[0] %3, %15 alias 1 : i64\n    %17 = add %11, %16 exit 1 : i64\n" SUM( \
        "%17")
#define ROUND(text) COUNTED_LOOP(UP, "1", text, CHECKS)

TEST(flow_report, what_became_of_checks)
{
    const char *index = ROUND("    %15 = wrap %10, %8 exit 1 : i64\n    %16 = mul %15, %7 : i64\n"
                              "    %17 = load[0] %3, %16 alias 1 : i64\n    %18 = xor %11, %17 : i64\n" SUM("%18"));
    const char *sum = ROUND(SUM_OF_UNKNOWN);
    const char *invariant =
        ROUND("    %15 = lt %2, %8 : i1\n    check %15 exit 1\n    %16 = xor %11, %10 : i64\n" SUM("%16"));
    check_counts(index, 0, 1, 0, 0);
    check_counts(sum, 0, 0, 0, 1);
    check_counts(invariant, 0, 1, 0, 0);
}

static void
check_why(const char *source, enum jy_loop_why why)
{
    struct jy_flow_report r = told(source);
    CHECK(r.is_round);
    CHECK_STR(jy_loop_why_info[r.why].name, jy_loop_why_info[why].name);
}

TEST(flow_report, why_there_are_no_vectors)
{
    check_why(ROUND("    %15 = call[0] %10 : i64\n    %16 = xor %11, %15 : i64\n" SUM("%16")), JY_WHY_C_CALL);
    check_why(ROUND(SUM_OF_UNKNOWN), JY_WHY_CHECK_LEFT);
    check_why(
        ROUND("    %15 = mul %11, %8 : i64\n    %16 = shr %15, %6 : i64\n    %17 = xor %16, %10 : i64\n" SUM("%17")),
        JY_WHY_RECURRENCE);
    check_why(ROUND("    %15 = xor %11, %10 : i64\n" SUM("%15")), JY_WHY_NO_GAIN); /* but for what LLVM knows */
    check_why(COUNTED_LOOP("%12 = ne %10, %1", "1", "    %15 = add %11, %10 exit 1 : i64\n" SUM("%15"), CHECKS),
              JY_WHY_NOT_COUNTED);
}

TEST(flow_report, every_reason_says_what_to_do)
{
    for (int k = JY_WHY_NONE + 1; k < JY_WHY_COUNT; k++)
        CHECK(jy_loop_why_info[k].name[0] != '\0' && jy_loop_why_info[k].what[0] != '\0' &&
              jy_loop_why_info[k].hint[0] != '\0');
}

TEST(flow_report, a_natural_loop_is_of_the_innermost_loop_that_has_all_of_it)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, ROUND("    %15 = xor %11, %10 : i64\n" SUM("%15")));
    struct jy_flow_shape shape;
    struct jy_flow_loops loops = { 0 };
    jy_flow_shape_fill(&shape, w);
    jy_flow_loops_fill(&loops, w, &shape);
    for (uint32_t around = 0; around < 3; around++)
        *jy_vec_push(arena, &w->w_reports) = (struct jy_flow_report){ .around = around };
    CHECK_UINT(jy_flow_report_of(w, &loops.at[0]), 0);
    w->w_blocks.at[1].f_loop = 3; /* 3 in 2 in 1 */
    CHECK_UINT(jy_flow_report_of(w, &loops.at[0]), 3);
    w->w_blocks.at[3].f_loop = 2;
    CHECK_UINT(jy_flow_report_of(w, &loops.at[0]), 2);
    w->w_reports.at[1].kind = JY_REPORT_FUNCTION; /* functions are no loops */
    CHECK_UINT(jy_flow_report_of(w, &loops.at[0]), 1);
    jy_arena_free(arena);
}
