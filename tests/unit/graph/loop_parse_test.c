/* What the reader of kernels takes and refuses, each with its line. Round trips: loop_print_test.c; what is sound: loop_verify_test.c. */
#include "graph/loop_text.h"
#include "tests/unit/graph/plan_text.h"

TEST(loop_parse, fills_what_the_text_says)
{
    struct jy_arena *arena = jy_arena_new();
    const char *why = NULL;
    struct jy_plan *plan = jy_plan_parse(arena,
                                         KERNEL("    for %1 < %0 step 4:\n      %2 = load float64 b0[%1+%0]\n    %3 = "
                                                "fold sequential add float64 %4 < %0 from %6:\n      yield %6\n"),
                                         &why);
    CHECK(plan == NULL && strstr(why, "an operand that is not defined before") != NULL); /* read, and then verified */
    plan = jy_plan_parse(arena,
                         KERNEL("    for %1 < %0 step 4:\n      %2 = load float64 b0[%1+%0]\n    %3 = const float64 "
                                "2.5\n    %4 = fold sequential add float64 %5 < %0 from %3:\n      yield %3\n"),
                         &why);
    if (CHECK(plan != NULL)) {
        const struct jy_kernel *k = &plan->p_kernels.at[0];
        const struct jy_lstmt *s = k->k_stmts.at;
        CHECK(k->k_stmts.n == 6 && k->k_body.n == 4 && k->k_body.at[3] == 4); /* the variable stands in no body */
        CHECK(s[1].l_kind == JY_L_FOR && s[1].l_step == 4 && !s[1].l_vector && s[1].l_body.n == 1);
        CHECK(s[2].l_access[0].nterms == 2 && s[2].l_access[0].term[1].index == 0 && s[2].l_access[0].run_axis == -1);
        CHECK_F64BITS(s[3].l_value.d, 2.5);
        CHECK(s[4].l_kind == JY_L_FOLD && s[4].l_order == JY_FOLD_SEQUENTIAL && s[4].l_op == JY_OP_ADD);
        CHECK(s[4].l_var == 5 && s[4].l_yield == 3 && s[4].l_nargs == 2 && s[5].l_kind == JY_L_VAR);
    }
    jy_arena_free(arena);
}

/* Deeper lines belong to the loop before them; a comment or an empty line ends nothing. */
TEST(loop_parse, indentation_nests)
{
    struct jy_arena *arena = jy_arena_new();
    const char *why = NULL;
    struct jy_plan *plan =
        jy_plan_parse(arena,
                      KERNEL("    for %1 < %0:\n\n; note\n      for %2 < %1:\n          %3 = int add "
                             "%1, %2\n      %4 = int add %1, %1\n    %5 = int add %0, %0\n"),
                      &why);
    if (CHECK(plan != NULL)) {
        const struct jy_lstmt *s = plan->p_kernels.at[0].k_stmts.at;
        CHECK(s[1].l_body.n == 2 && s[1].l_body.at[0] == 2 && s[1].l_body.at[1] == 4);
        CHECK(s[2].l_body.n == 1 && s[2].l_body.at[0] == 3);
        CHECK_UINT(plan->p_kernels.at[0].k_body.n, 3);
    }
    jy_arena_free(arena);
}

TEST(loop_parse, statements_give_their_own_number)
{
    check_plan(KERNEL("    %2 = load float64 b0[0]\n"), "line 13: statement %2 is not number 1");
    check_plan(KERNEL("    for %2 < %0:\n"), "line 13: statement %2 is not number 1");
    check_plan(KERNEL("    %1 = fold free add int64 %3 < %0 from %0:\n      yield %3\n"), "line 13: statement %1");
}

TEST(loop_parse, says_what_it_cannot_read)
{
    check_plan(KERNEL("    %1 = size z0\n    %2 = frobnicate float64 %0\n"), "line 14: 'frobnicate' is no operation");
    check_plan(KERNEL("    %1 = load float63 b0[0]\n"), "line 13: 'float63' is no dtype");
    check_plan(KERNEL("    %1 = load uint8 b0[0]\n"), "line 13: uint8 is no dtype of graphs");
    check_plan(KERNEL("    %1 = const float64 zero\n"), "line 13: expected a value");
    check_plan(KERNEL("    %1 = size 0\n"), "line 13: expected 'z'");
    check_plan(KERNEL("    %x = size z0\n"), "line 13: expected a number at \"x = size z0");
    check_plan(KERNEL("    %-1 = size z0\n"), "line 13: expected an index");
    check_plan(KERNEL("    %1 = size z0 %0\n"), "line 13: more than a statement");
    check_plan(KERNEL("    %1 = int add %0, %0 checked\n"), "line 13: more than a statement");
    check_plan(KERNEL("    for %1 < %0 vectors:\n"), "line 13: expected ':'");
    check_plan(KERNEL("    %1 = fold backwards add int64 %2 < %0 from %0:\n"), "line 13: expected 'free'");
    check_plan(KERNEL("    %1 = \n"), "line 13: expected a word");
    check_plan(KERNEL("    yield %0\n"), "line 13: yield outside of a fold");
    check_plan(KERNEL("    for %1 < %0:\n      yield %0\n"), "line 14: yield outside of a fold");
}

TEST(loop_parse, refuses_more_than_a_statement_can_hold)
{
    check_plan(KERNEL("    %1 = where int64 %0, %0, %0, %0\n"), "line 13: too many operands");
    check_plan(KERNEL("    ufunc l0 %0 (b0[0:], b0[0:], b0[0:], b0[0:]) -> b1[0:]\n"), "line 13: too many operands");
    check_plan(KERNEL("    %1 = load float64 b0[0, 0, 0, 0, 0, 0, 0, 0, %0]\n"), "line 13: too many indices");
    check_plan(KERNEL("    %1 = load float64 b0[%0+%0+%0+%0+%0+%0+%0+%0+%0+%0+%0+%0+%0+%0+%0+%0+%0]\n"),
               "line 13: too many indices");
}

TEST(loop_parse, takes_whole_words)
{
    struct jy_reader r = { .at = "words word_7 b7" };
    CHECK(!jy_reader_take(&r, "word"));
    CHECK(jy_reader_take(&r, "words"));
    CHECK(!jy_reader_take(&r, "word"));
    CHECK(jy_reader_take(&r, "word_7"));
    CHECK(jy_reader_take(&r, "b")); /* a single character may begin a name */
}

TEST(loop_parse, after_an_error_nothing_is_read)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_reader r = { .arena = arena, .at = "word 7 word", .line = 3 };
    CHECK(jy_reader_take(&r, "word"));
    CHECK_INT(jy_reader_index(&r), 7);
    jy_reader_fail(&r, "first");
    jy_reader_fail(&r, "second");
    CHECK(!jy_reader_take(&r, "word"));
    CHECK_STR(r.error, "line 3: first at \" word\"");
    jy_arena_free(arena);
}
