/* One kernel per rule of the loop IR that breaks this rule only, and what the verifier says of it. */
#include "graph/loop_text.h"
#include "tests/unit/graph/plan_text.h"

TEST(loop_verify, values_are_defined_before_in_the_same_or_an_enclosing_body)
{
    static const char undefined[] = "an operand that is not defined before, in the same or an enclosing body";
    check_plan(KERNEL("    for %1 < %0:\n      %2 = load float64 b0[%1]\n    store b1[0] = %2\n"), undefined);
    check_plan(KERNEL("    %1 = int add %0, %2\n    %2 = size z0\n"), undefined);
    check_plan(KERNEL("    %1 = int add %0, %1\n"), undefined);
    check_plan(KERNEL("    %1 = int add %0, %4000000000\n"), undefined);
    check_plan(KERNEL("    store b1[0] = %2\n    %2 = scalar float64 q0\n"), undefined);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    set q0 = %1\n    set q0 = %2\n"), undefined);
    check_plan(KERNEL("    for %1 < %0:\n      %2 = int add %0, %1\n    %3 = int add %0, %1\n"), undefined);
    check_plan(KERNEL("    for %1 < %1:\n      %2 = int add %0, %0\n"), undefined);
    check_plan(KERNEL("    %1 = fold free maximum int64 %2 < %0 from %0:\n      yield %2\n    %3 = int add %0, %2\n"),
               undefined);
    check_plan(KERNEL("    for %1 < %0:\n      for %2 < %1:\n        %3 = int add %1, %2\n"), NULL);
}

TEST(loop_verify, an_error_names_kernel_statement_and_kind)
{
    check_plan(KERNEL("    %1 = size z7\n"), "kernel 0, %1 (kind 1, line 0): no such slot");
}

TEST(loop_verify, operands_are_counted)
{
    static const char number[] = "another number of operands than the statement has";
    check_plan(KERNEL("    %1 = scalar float64 q0\n    store b1[0] = %1, %1\n"), number);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    set q0 = %1, %1\n"), number);
    check_plan(KERNEL("    %1 = cast float64 %0, %0\n"), number);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = fold pairwise add float64 %3 < %0 from %1:\n      yield "
                      "%1\n"),
               number);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = fold free add float64 %3 < %0:\n      yield %1\n"), number);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = fold sequential add float64 %3 < %0:\n      yield %1\n"),
               number);
}

TEST(loop_verify, counts_are_int64)
{
    static const char count[] = "a count that is not int64";
    check_plan(KERNEL("    %1 = const int32 3\n    for %2 < %1:\n      store b1[%2] = %2\n"), count);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    ufunc l0 %1 (b0[0:]) -> b1[0:]\n"), count);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = ufold l1 float64 %1 b0[0:] from %1\n"), count);
    check_plan(
        KERNEL("    %1 = const bool True\n    %2 = fold free logical_or bool %3 < %1 from %1:\n      yield %1\n"),
        count);
}

TEST(loop_verify, steps_are_positive)
{
    check_plan(KERNEL("    for %1 < %0 step 0:\n      %2 = int add %1, %1\n"), "a step that is not positive");
    check_plan(KERNEL("    for %1 < %0 step -3:\n      %2 = int add %1, %1\n"), "a step that is not positive");
}

TEST(loop_verify, vector_loops_hold_what_has_vectors)
{
    static const char not_allowed[] = "not allowed in a vector loop";
    check_plan(KERNEL("    for %1 < %0 vector:\n      ufunc l0 %0 (b0[0:]) -> b1[0:]\n"), not_allowed);
    check_plan(KERNEL("    for %1 < %0 vector:\n      %2 = int add %0, %0\n"), not_allowed);
    check_plan(KERNEL("    for %1 < %0 vector:\n      for %2 < %0:\n        %3 = size z0\n"), not_allowed);
    check_plan(KERNEL("    for %1 < %0 vector:\n      set q1 = %0\n"), not_allowed);
    check_plan(KERNEL("    for %1 < %0 vector:\n      %2 = fold free add int64 %3 < %0 from %0:\n        yield %0\n"),
               not_allowed);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    for %2 < %0 vector:\n      %3 = ufold l1 float64 %0 b0[0:] from "
                      "%1\n"),
               not_allowed);
    check_plan(KERNEL("    for %1 < %0 vector:\n      %2 = load float64 b0[%1]\n      %3 = const float64 1.0\n      %4 "
                      "= scalar float64 q0\n      %5 = size z0\n      %6 = cast float64 %5\n      %7 = add float64 "
                      "%6, %2\n      %8 = vcall l0 float64 %7\n      store b1[%1] = %8\n"),
               NULL);
}

TEST(loop_verify, the_variable_of_a_vector_loop_only_indexes)
{
    check_plan(KERNEL("    for %1 < %0 vector:\n      %2 = cast float64 %1\n      store b1[%1] = %2\n"),
               "the variable of a vector loop as an operand");
    check_plan(KERNEL("    for %1 < %0:\n      %2 = cast float64 %1\n      store b1[%1] = %2\n"), NULL);
}

TEST(loop_verify, operations_meet_their_operands)
{
    static const char arity[] = "not an elementwise operation with that many operands";
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = exp float64 %1\n"), arity); /* TILE */
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = sum float64 %1\n"), arity);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = add float64 %1\n"), arity);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = sqrt float64 %1, %1\n"), arity);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = add float64 %1, %0\n"), "operands differ in dtype");
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = where float64 %1, %1, %1\n"), "the condition is not bool");
    check_plan(KERNEL("    %1 = const bool True\n    %2 = scalar float64 q0\n    %3 = where float64 %1, %2, %0\n"),
               "operands differ in dtype");
    static const char result[] = "another dtype than the operation gives";
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = less float64 %1, %1\n"), result);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = add float32 %1, %1\n"), result);
}

TEST(loop_verify, index_arithmetic_is_of_two_int64)
{
    static const char not_index[] = "not index arithmetic on two int64";
    check_plan(KERNEL("    %1 = int divide %0, %0\n"), not_index);
    check_plan(KERNEL("    %1 = int remainder %0, %0\n"), not_index);
    check_plan(KERNEL("    %1 = int add %0\n"), not_index);
    check_plan(KERNEL("    %1 = const int32 1\n    %2 = int add %0, %1\n"), not_index);
    check_plan(KERNEL("    %1 = const int32 1\n    %2 = int add %1, %0\n"), not_index);
    check_plan(KERNEL("    %1 = int add %0, %0\n    %2 = int subtract %0, %0\n    %3 = int multiply %0, %0\n    %4 = "
                      "int minimum %0, %0\n    %5 = int maximum %0, %0\n    %6 = int floor_divide %0, %0\n"),
               NULL);
}

TEST(loop_verify, accesses_name_buffers_axes_and_int64)
{
    check_plan(KERNEL("    %1 = load float64 b7[]\n"), "no such buffer");
    check_plan(KERNEL("    %1 = load float64 b0[0, %0]\n"), "an index for an axis that the buffer does not have");
    check_plan(KERNEL("    ufunc l0 %0 (b0[0:]) -> b1[0, 0:]\n"), "a run along an axis that the buffer does not have");
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = load float64 b0[%1]\n"),
               "an index that is not a visible int64");
    check_plan(KERNEL("    %1 = const int32 1\n    %2 = load float64 b0[%1]\n"),
               "an index that is not a visible int64");
    check_plan(KERNEL("    %1 = load float64 b0[%9]\n"), "an index that is not a visible int64");
    check_plan(KERNEL("    %1 = load float64 b0[%0+%0]\n"), "the same index twice on one axis");
    check_plan(KERNEL("    %1 = load float32 b0[0]\n"), "a value of another dtype than the buffer's");
    check_plan(KERNEL("    store b1[0] = %0\n"), "a value of another dtype than the buffer's");
}

TEST(loop_verify, one_index_may_walk_two_axes)
{
    check_plan("plan f (s0=5) :\n  size z0 = s0\n  buffer b0 = temp : float64[s0,s0] order(0,1)\n  kernel 0:\n    %0 = "
               "size z0\n    for %1 < %0:\n      %2 = load float64 b0[%1, %0+%1]\n",
               NULL);
}

TEST(loop_verify, slots_exist_and_keep_their_dtype)
{
    check_plan(KERNEL("    %1 = size z1\n"), "no such slot");
    check_plan(KERNEL("    %1 = scalar float64 q2\n"), "no such slot");
    check_plan(KERNEL("    set q2 = %0\n"), "no such slot");
    check_plan(KERNEL("    %1 = scalar float64 q1\n"), "a value of another dtype than the slot's");
    check_plan(KERNEL("    set q0 = %0\n"), "a value of another dtype than the slot's");
    check_plan(KERNEL("    set q1 = %0\n"), NULL);
}

TEST(loop_verify, folds_have_an_operation_and_a_value)
{
    static const char operation[] = "a fold by no operation of two operands and a result of one dtype";
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = fold free less float64 %3 < %0 from %1:\n      yield %1\n"),
               operation);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = fold free sqrt float64 %3 < %0 from %1:\n      yield %1\n"),
               operation);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = fold free sum float64 %3 < %0 from %1:\n      yield %1\n"),
               operation);
    static const char pairwise[] = "pairwise, but not a sum of floats";
    check_plan(KERNEL("    %1 = fold pairwise add int64 %2 < %0:\n      yield %2\n"), pairwise);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = fold pairwise multiply float64 %3 < %0:\n      yield %1\n"),
               pairwise);
    check_plan(
        KERNEL("    %1 = fold free add float64 %2 < %0 from %0:\n      %3 = load float64 b0[%2]\n      yield %3\n"),
        "an initial value of another dtype than the fold's");
    static const char folded[] = "what is folded is not a visible value of the fold's dtype";
    check_plan(KERNEL("    %1 = fold pairwise add float64 %2 < %0:\n      yield %2\n"), folded);
    check_plan(KERNEL("    %1 = fold free add int64 %2 < %0 from %0:\n      %3 = size z0\n"), folded); /* no yield */
    check_plan(KERNEL("    %1 = fold free add int64 %2 < %0 from %0:\n      yield %1\n"), folded);
}

TEST(loop_verify, inner_loops_meet_their_operands)
{
    check_plan(KERNEL("    ufunc l3 %0 (b0[0:]) -> b1[0:]\n"), "no such inner loop");
    check_plan(KERNEL("    ufunc l0 %0 (b0[0:], b0[0:]) -> b1[0:]\n"),
               "another number of operands than the inner loop takes");
    check_plan(KERNEL("    ufunc l2 %0 (b0[0:]) -> b1[0:]\n"), "a buffer of another dtype than the inner loop takes");
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = ufold l7 float64 %0 b0[0:] from %1\n"),
               "no such inner loop");
    check_plan(KERNEL("    %1 = const float32 1.0\n    %2 = ufold l2 float32 %0 b0[0:] from %1\n"),
               "a buffer of another dtype than the inner loop takes");
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = ufold l0 float64 %0 b0[0:] from %1\n"),
               "not a fold by an inner loop of two operands of its dtype");
    check_plan(KERNEL("    %1 = const int64 1\n    %2 = ufold l1 int64 %0 b0[0:] from %1\n"),
               "not a fold by an inner loop of two operands of its dtype");
    check_plan(KERNEL("    %1 = ufold l1 float64 %0 b0[0:] from %0\n"),
               "an initial value of another dtype than the fold's");
}

TEST(loop_verify, vector_functions_take_and_give_float64)
{
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = vcall l7 float64 %1\n"), "no such inner loop");
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = vcall l0 float64 %1, %1\n"),
               "another number of operands than the inner loop takes");
    static const char other[] = "a vector function of something else than float64";
    check_plan(KERNEL("    %1 = vcall l0 float64 %0\n"), other);
    check_plan(KERNEL("    %1 = scalar float64 q0\n    %2 = vcall l0 float32 %1\n"), other);
    check_plan(KERNEL("    %1 = const float32 1.0\n    %2 = vcall l2 float32 %1\n"), other);
}

/* What no text says: bodies whose numbers are wrong. */
static void
check_bent(void (*bend)(struct jy_kernel *k), const char *error)
{
    struct jy_arena *arena = jy_arena_new();
    const char *why = NULL;
    struct jy_plan *plan = jy_plan_parse(arena,
                                         KERNEL("    for %1 < %0:\n      %2 = load float64 b0[%1]\n    %3 = fold free "
                                                "add int64 %4 < %0 from %0:\n      yield %4\n"),
                                         &why);
    if (CHECK(plan != NULL)) {
        bend(&plan->p_kernels.at[0]);
        CHECK_STR(jy_loop_verify(plan, 0), error);
    }
    jy_arena_free(arena);
}

static void
stand_twice(struct jy_kernel *k)
{
    k->k_stmts.at[1].l_body.at[0] = 0;
}

static void
stand_in_itself(struct jy_kernel *k)
{
    k->k_stmts.at[1].l_body.at[0] = 1;
}

static void
name_nothing(struct jy_kernel *k)
{
    k->k_body.at[2] = 77;
}

static void
name_variable(struct jy_kernel *k)
{
    k->k_body.at[2] = 4;
}

static void
lose_variable(struct jy_kernel *k)
{
    k->k_stmts.at[3].l_var = 2;
}

TEST(loop_verify, a_statement_stands_in_one_body)
{
    check_bent(stand_twice, "kernel 0, %0 (kind 1, line 0): stands in two bodies");
    check_bent(stand_in_itself, "kernel 0, %1 (kind 10, line 0): stands in two bodies");
    check_bent(name_nothing, "kernel 0: a body names statement 77, which does not exist");
    check_bent(name_variable, "kernel 0, %4 (kind 11, line 0): the variable of a fold in a body");
    check_bent(lose_variable, "kernel 0, %3 (kind 12, line 0): a fold without a variable");
}
