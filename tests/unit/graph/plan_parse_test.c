/* What the reader of plans and the two verifiers refuse, each with its line or statement. Round trips are checked by lower_fuzz_test.c. */
#include "graph/plan.h"
#include "tests/unit/test.h"
#include <stdio.h>
#include <string.h>

#define HEAD                                                                                                           \
    "plan f (s0=5) :\n"                                                                                                \
    "  size z0 = s0\n"                                                                                                 \
    "  scalar q0 = float64 npscalar\n"                                                                                 \
    "  buffer b0 = input 0 : float64[s0] order(0) unit(0)\n"                                                           \
    "  buffer b1 = output : float64[s0] order(0) unit(0)\n"                                                            \
    "  loop l0 = exp float64\n"                                                                                        \
    "  input b0\n"                                                                                                     \
    "  kernel 0:\n"                                                                                                    \
    "    %0 = size z0\n"
#define TAIL                                                                                                           \
    "  step kernel 0\n"                                                                                                \
    "  output b1 : float64 array\n"

static void
check(const char *text, const char *error)
{
    struct jy_arena *arena = jy_arena_new();
    const char *why = NULL;
    struct jy_plan *plan = jy_plan_parse(arena, text, &why);
    CHECK((plan == NULL) == (error != NULL));
    if (error != NULL && (why == NULL || strstr(why, error) == NULL)) {
        printf("\n    \"%s\", want \"%s\"", why == NULL ? "" : why, error);
        CHECK(!"the reason");
    }
    jy_arena_free(arena);
}

TEST(plan_parse, reads_a_kernel)
{
    check(HEAD "    for %1 < %0 vector:\n      %2 = load float64 b0[%1]\n      store b1[%1] = %2\n" TAIL, NULL);
    check(HEAD "    ufunc l0 %0 (b0[0:]) -> b1[0:]\n" TAIL, NULL);
    check(HEAD "    %1 = fold pairwise add float64 %2 < %0:\n      %3 = load float64 b0[%2]\n      yield %3\n    set "
               "q0 = %1\n" TAIL,
          NULL);
}

TEST(plan_parse, says_what_it_cannot_read)
{
    check("plan f (s0=5) :\n  nonsense\n", "line 2: expected 'flags'");
    check(HEAD "    %2 = load float64 b0[0]\n" TAIL, "line 10: statement %2 is not number 1");
    check(HEAD "    %1 = frobnicate float64 %0\n" TAIL, "'frobnicate' is no operation");
    check(HEAD "    %1 = load float63 b0[0]\n" TAIL, "'float63' is no dtype");
    check(HEAD "    yield %0\n" TAIL, "yield outside of a fold");
}

TEST(loop_verify, knows_scopes)
{
    check(HEAD "    for %1 < %0:\n      %2 = load float64 b0[%1]\n    store b1[0] = %2\n" TAIL,
          "%3 (kind 6, line 0): an operand that is not defined before");
    check(HEAD "    %1 = int add %0, %2\n    %2 = size z0\n" TAIL, "an operand that is not defined before");
    check(HEAD "    %1 = fold free add float64 %2 < %0 from %4:\n      %3 = load float64 b0[%2]\n      yield %3\n    "
               "%4 = scalar float64 q0\n" TAIL,
          "an operand that is not defined before");
}

TEST(loop_verify, knows_vector_loops)
{
    check(HEAD "    for %1 < %0 vector:\n      %2 = load float64 b0[%1]\n      %3 = vcall l0 float64 %2\n      store "
               "b1[%1] = %3\n" TAIL,
          NULL);
    check(HEAD "    %1 = const float64 1.0\n    %2 = vcall l7 float64 %1\n" TAIL, "no such inner loop");
    check(HEAD "    %1 = const float64 1.0\n    %2 = vcall l0 float64 %1, %1\n" TAIL, "another number of operands");
    check(HEAD "    %1 = const int64 1\n    %2 = vcall l0 float64 %1\n" TAIL, "something else than float64");
    check(HEAD "    for %1 < %0 vector:\n      ufunc l0 %0 (b0[0:]) -> b1[0:]\n" TAIL, "not allowed in a vector loop");
    check(HEAD "    for %1 < %0 vector:\n      %2 = cast float64 %1\n      store b1[%1] = %2\n" TAIL,
          "the variable of a vector loop as an operand");
}

TEST(loop_verify, knows_dtypes)
{
    check(HEAD "    %1 = load float32 b0[0]\n" TAIL, "a value of another dtype than the buffer's");
    check(HEAD "    %1 = load float64 b0[0]\n    %2 = add float64 %1, %0\n" TAIL, "operands differ in dtype");
    check(HEAD "    %1 = load float64 b0[0]\n    %2 = less float64 %1, %1\n" TAIL,
          "another dtype than the operation gives");
    check(HEAD "    %1 = load float64 b0[0]\n    %2 = exp float64 %1\n" TAIL, "not an elementwise operation");
}

TEST(loop_verify, knows_buffers_and_slots)
{
    check(HEAD "    %1 = load float64 b7[]\n" TAIL, "no such buffer");
    check(HEAD "    %1 = size z7\n" TAIL, "no such slot");
    check(HEAD "    ufunc l3 %0 (b0[0:]) -> b1[0:]\n" TAIL, "no such inner loop");
}

TEST(plan_verify, knows_what_leaves)
{
    check("plan f (s0=5) :\n  buffer b0 = temp : float64[s0] order(0) unit(0)\n  output b0 : float64 array\n",
          "output 0: scratch is handed out");
    check("plan f (s0=5) :\n  output q0 : float64 array\n", "output 0: no such place");
    check("plan f (s0=5) :\n  step kernel 3\n", "step 0: no such kernel");
    check("plan f (s0=5) :\n  buffer b0 = tile 0 64 : float64[64] order(0) unit(0)\n  tile 256\n",
          "buffer 0: beyond the memory for tiles");
}
