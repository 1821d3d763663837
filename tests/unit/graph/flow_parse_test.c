/* What the reader of flows refuses, each with its line. Round trips are in flow_print_test.c and flow_fuzz_test.c. */
#include "tests/unit/graph/flow_case.h"
#include <stdio.h>
#include <string.h>

static void
check(const char *text, const char *error)
{
    struct jy_arena *arena = jy_arena_new();
    const char *why = NULL;
    CHECK_PTR(jy_flow_parse(arena, text, &why), NULL);
    if (!CHECK(why != NULL && strstr(why, error) != NULL))
        printf("\n    \"%s\", want \"%s\"", why == NULL ? "" : why, error);
    jy_arena_free(arena);
}

#define HEAD "flow f :\n  block 0 () :\n"
#define TAIL "    exit 0\n  exit 0 stop at 0 ()\n"

TEST(flow_parse, says_what_it_cannot_read)
{
    check("", "line 1: expected 'flow'");
    check("flow f :\n", "a flow without a block");
    check("flow f :\n  nonsense\n", "line 2: expected input, helper, alias, block, exit or function");
    check(HEAD "    %0 = frobnicate\n" TAIL, "line 3: 'frobnicate' is no instruction");
    check(HEAD "    %0 = param : i64\n" TAIL, "'param' is no instruction");
    check(HEAD "    %0 = const[1] : i63\n" TAIL, "expected a type");
    check(HEAD "    %0 = const[1.5] : i64\n" TAIL, "a constant that is no i64");
    check(HEAD "    %0 = const[1 : i64\n" TAIL, "expected ']'");
    check(HEAD "    %0 = const[1] : i64\n    %0 = const[2] : i64\n" TAIL, "line 4: %0 is defined twice");
    check(HEAD "    %99999999 = const[1] : i64\n" TAIL, "the number is too large");
    check(HEAD "    %0 = const[1] : i64 nonsense\n" TAIL, "line 3: more than expected");
    check(HEAD "    %0 = const[1] : i64\n", "a block without an end");
    check(HEAD "    exit 0\n  block 2 () :\n" TAIL, "line 4: blocks are numbered in order");
    check(HEAD "    exit 0\n  exit 1 stop at 0 ()\n", "exits are numbered in order");
    check("flow \"f :\n" HEAD TAIL, "a text without an end");
}

TEST(flow_parse, reads_exits_whose_lines_fit)
{
    check(HEAD TAIL "  exit 1 return at 0 () :\n", "a return without a result");
    check(HEAD TAIL "  exit 1 stop at 0 () :\n    result null\n", "not the place of such a line");
    check(HEAD TAIL "  exit 1 stop at 0 () :\n    local null\n    stack null\n", "not the place of such a line");
    check(HEAD TAIL "  exit 1 stop at 0 () :\n    local nonsense\n", "expected a box");
    check(HEAD TAIL "  exit 1 stop at 0 () :\n    local #0\n", "no such box: #0");
    check(HEAD TAIL "  exit 1 stop at 0 () :\n    local #0 = tuple (#0)\n", "no such box: #0");
    check(HEAD TAIL "  exit 1 stop at 0 () :\n    local #1 = tuple ()\n", "labels are numbered in order");
}
