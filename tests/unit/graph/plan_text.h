/* Plans as text in unit tests: what is read, what is refused and why, what comes out when it is printed again. */
#ifndef JY_TESTS_PLAN_TEXT_H
#define JY_TESTS_PLAN_TEXT_H

#include "graph/plan.h"
#include "graph/scalar.h"
#include "tests/unit/test.h"
#include <stdio.h>
#include <string.h>

/* A plan around statements of kernel 0, whose %0 is the length of b0 and b1 (float64[s0]); lines 1 to 12, a statement more is line 13. */
#define PLAN_HEAD                                                                                                      \
    "plan f (s0=5) :\n"                                                                                                \
    "  size z0 = s0\n"                                                                                                 \
    "  scalar q0 = float64 npscalar\n"                                                                                 \
    "  scalar q1 = int64 npscalar\n"                                                                                   \
    "  buffer b0 = input 0 : float64[s0] order(0) unit(0)\n"                                                           \
    "  buffer b1 = output : float64[s0] order(0) unit(0)\n"                                                            \
    "  loop l0 = exp float64\n"                                                                                        \
    "  loop l1 = maximum float64\n"                                                                                    \
    "  loop l2 = exp float32\n"                                                                                        \
    "  input b0\n"                                                                                                     \
    "  kernel 0:\n"                                                                                                    \
    "    %0 = size z0 ; s0\n"
#define PLAN_TAIL                                                                                                      \
    "  step kernel 0\n"                                                                                                \
    "  output b1 : float64 array\n"
#define KERNEL(statements) PLAN_HEAD statements PLAN_TAIL

/* `error` NULL: sound; else a part of what must be said. */
static inline void
check_plan(const char *text, const char *error)
{
    struct jy_arena *arena = jy_arena_new();
    const char *why = NULL;
    struct jy_plan *plan = jy_plan_parse(arena, text, &why);
    bool good = CHECK((plan == NULL) == (error != NULL));
    if (why != NULL && error != NULL)
        good &= CHECK(strstr(why, error) != NULL);
    if (!good)
        printf("\n    \"%s\", want \"%s\" for\n%s", why == NULL ? "" : why, error == NULL ? "" : error, text);
    jy_arena_free(arena);
}

/* Reads and prints the very same text. */
static inline void
check_round_trip(const char *text)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_text printed = { 0 };
    const char *why = NULL;
    struct jy_plan *plan = jy_plan_parse(arena, text, &why);
    if (plan == NULL)
        CHECK_STR(why, text);
    else
        jy_plan_print(&printed, plan);
    if (plan != NULL)
        CHECK_STR(printed.at, text);
    jy_text_free(&printed);
    jy_arena_free(arena);
}

#endif
