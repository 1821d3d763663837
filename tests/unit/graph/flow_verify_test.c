/* Each rule of the flow IR, broken once. */
#include "tests/unit/graph/flow_case.h"
#include <stdio.h>
#include <string.h>

static void
check(const char *text, const char *error)
{
    struct jy_arena *arena = jy_arena_new();
    const char *why = NULL;
    struct jy_flow *w = jy_flow_parse(arena, text, &why);
    CHECK((w == NULL) == (error != NULL));
    if (error != NULL && !CHECK(why != NULL && strstr(why, error) != NULL))
        printf("\n    \"%s\", want \"%s\"", why == NULL ? "" : why, error);
    jy_arena_free(arena);
}

#define HEAD                                                                                                           \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : f64 number 1 float64\n"                                                                               \
    "  input 2 : ptr object 2\n"                                                                                       \
    "  input 3 : i1 number 3 bool\n"                                                                                   \
    "  input 4 : f32 number 4 float32\n"                                                                               \
    "  helper 0 sin (f64) : f64 pure\n"                                                                                \
    "  helper 1 ask (i64) : i64 fails\n"                                                                               \
    "  alias 1 : input 2\n"                                                                                            \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : f64\n"                                                                                        \
    "    %2 = input[2] : ptr\n"                                                                                        \
    "    %3 = input[3] : i1\n"                                                                                         \
    "    %4 = input[4] : f32\n"
#define EXITS "  exit 0 check at 0 ()\n"
#define TAIL "    exit 0\n" EXITS

TEST(flow_verify, knows_what_is_defined)
{
    check(HEAD "    %5 = add %0, %6 : i64\n    %6 = add %0, %0 : i64\n" TAIL,
          "block 0, %5 (add, line 0): an operand that is not defined before it");
    check(HEAD "    %5 = add %5, %0 : i64\n" TAIL, "an operand that is not defined before it");
    check(HEAD "    %5 = add %0, %77 : i64\n" TAIL, "an operand that is not defined before it");
    /* a block beside, and one in front */
    check(HEAD "    branch %3 ? 1 () : 2 ()\n  block 1 () :\n    %5 = neg %0 : i64\n    jump 3 ()\n"
               "  block 2 () :\n    jump 3 ()\n  block 3 () :\n    %6 = neg %5 : i64\n" TAIL,
          "block 3, %6 (neg, line 0): an operand that is not defined before it");
    check(HEAD "    branch %3 ? 1 () : 2 ()\n  block 1 () :\n    %5 = neg %0 : i64\n    jump 3 ()\n"
               "  block 2 () :\n    exit 0\n  block 3 () :\n    %6 = neg %5 : i64\n" TAIL,
          NULL);
    /* in a loop, only what came before in the same round or dominates */
    check(HEAD "    jump 1 ()\n  block 1 () :\n    %5 = neg %6 : i64\n    jump 2 ()\n  block 2 () :\n"
               "    %6 = neg %0 : i64\n    branch %3 ? 1 () : 3 ()\n  block 3 () :\n    %7 = neg %6 : i64\n" TAIL,
          "block 1, %5 (neg, line 0): an operand that is not defined before it");
    /* where nothing comes, anything goes but types */
    check(HEAD "    exit 0\n  block 1 () :\n    %5 = neg %6 : i64\n    %6 = neg %5 : i64\n" TAIL, NULL);
    check(HEAD "    exit 0\n  block 1 () :\n    %5 = neg %3 : i1\n" TAIL, "block 1, %5");
}

TEST(flow_verify, knows_edges)
{
    check(HEAD "    jump 1 ()\n" EXITS, "an edge to the entry or to a block that does not exist");
    check(HEAD "    jump 1 ()\n  block 1 () :\n    jump 0 ()\n" EXITS, "block 1: has no end, or an edge to the entry");
    check(HEAD "    jump 1 ()\n  block 1 (%5 : i64) :\n" TAIL, "another number of arguments");
    check(HEAD "    jump 1 (%1)\n  block 1 (%5 : i64) :\n" TAIL, "another type than the parameter");
    check(HEAD "    jump 1 (%6)\n  block 1 (%5 : i64) :\n    %6 = neg %5 : i64\n" TAIL, "argument that is not defined");
    check(HEAD "    branch %0 ? 1 () : 1 ()\n  block 1 () :\n" TAIL, "a condition that is not defined or no i1");
    check("flow f :\n  block 0 (%0 : i64) :\n" TAIL, "the entry has parameters");
    check(HEAD "    exit 1\n" EXITS, "leaves by an exit that does not exist");
}

TEST(flow_verify, knows_types)
{
    check(HEAD "    %5 = add %0, %1 : i64\n" TAIL, "operands of two types");
    check(HEAD "    %5 = add %0, %0 : f64\n" TAIL, "not the type that it gives");
    check(HEAD "    %5 = add %3, %3 : i1\n" TAIL, "an operand of a type that it does not take");
    check(HEAD "    %5 = and %1, %1 : f64\n" TAIL, "an operand of a type that it does not take");
    check(HEAD "    %5 = div %0, %0 : i64\n" TAIL, "an operand of a type that it does not take");
    check(HEAD "    %5 = lt %2, %2 : i1\n" TAIL, "an operand of a type that it does not take");
    check(HEAD "    %5 = eq %2, %2 : i1\n    %6 = eq %3, %3 : i1\n" TAIL, NULL);
    check(HEAD "    %5 = add %0 : i64\n" TAIL, "another number of operands");
    check(HEAD "    %5 = select %3, %0, %1 : i64\n" TAIL, "operands of two types");
    check(HEAD "    %5 = select %3, %2, %2 : ptr\n" TAIL, NULL);
    check(HEAD "    %5 = load[0] %0, %0 : i64\n" TAIL, "an operand of a type that it does not take");
    check(HEAD "    store[0] %2, %0, %4\n" TAIL, NULL);
    check(HEAD "    %5 = store[0] %2, %0, %4 : i64\n" TAIL, "not the type that it gives");
    check(HEAD "    neg %0\n" TAIL, "not the type that it gives");
    check(HEAD "    flagged %1, %1, %4 exit 0\n" TAIL, "operands of two types");
    check(HEAD "    %5 = const[300] : i8\n" TAIL, "a constant that is none of its type");
    check(HEAD "    %5 = input[1] : i64\n" TAIL, "not a type that it can give");
    check(HEAD "    jump 1 ()\n  block 1 () :\n    %5 = input[0] : i64\n" TAIL, "outside of the entry");
    check("flow f :\n  input 0 : f64 number 0 int64\n  block 0 () :\n" TAIL, "input 0: not a type of that kind");
    check("flow f :\n  input 0 : i64 object 0\n  block 0 () :\n" TAIL, "input 0: not a type of that kind");
}

TEST(flow_verify, knows_conversions)
{
    check(HEAD "    %5 = sext %0 : i32\n" TAIL, "not a type that it can give");
    check(HEAD "    %5 = sext %3 : i64\n" TAIL, "not a type that it can give");
    check(HEAD "    %5 = zext %3 : i64\n    %6 = zext %3 : i8\n" TAIL, NULL);
    check(HEAD "    %5 = narrow %0 : i64\n" TAIL, "not a type that it can give");
    check(HEAD "    %5 = narrow %0 : i1\n" TAIL, "not a type that it can give");
    check(HEAD "    %5 = to_float %0 : i32\n" TAIL, "not a type that it can give");
    check(HEAD "    %5 = to_int %1 : f32\n" TAIL, "not a type that it can give");
    check(HEAD "    %5 = widen %1 : f64\n" TAIL, "not a type that it can give");
    check(HEAD "    %5 = round %4 : f64\n" TAIL, "not a type that it can give");
    check(HEAD "    %5 = bits %1 : ptr\n" TAIL, "not a type that it can give");
    check(HEAD "    %5 = bits %2 : i64\n    %6 = bits %5 : f64\n    %7 = bits %4 : i32\n" TAIL, NULL);
}

TEST(flow_verify, knows_calls)
{
    check(HEAD "    %5 = call[0] %1 : f64\n    %6 = call[1] %0 exit 0 : i64\n" TAIL, NULL);
    check(HEAD "    %5 = call[2] %1 : f64\n" TAIL, "no such helper");
    check(HEAD "    %5 = call[0] %1, %1 : f64\n" TAIL, "not as many arguments");
    check(HEAD "    %5 = call[0] %0 : f64\n" TAIL, "an argument of another type");
    check(HEAD "    %5 = call[0] %1 : i64\n" TAIL, "another type than it gives");
    check(HEAD "    %5 = call[0] %1 exit 0 : f64\n" TAIL, "an exit, but the helper cannot fail");
    check(HEAD "    %5 = call[1] %0 : i64\n" TAIL, "an exit, but the helper cannot fail");
}

TEST(flow_verify, knows_who_may_leave)
{
    check(HEAD "    %5 = add %0, %0 exit 0 : i64\n    %6 = to_float %0 exit 0 : f64\n" TAIL, NULL);
    check(HEAD "    %5 = add %1, %1 exit 0 : f64\n" TAIL, "an exit on an instruction that takes none");
    check(HEAD "    %5 = and %0, %0 exit 0 : i64\n" TAIL, "an exit on an instruction that takes none");
    check(HEAD "    %5 = to_float %0 exit 0 : f32\n" TAIL, "an exit on an instruction that takes none");
    check(HEAD "    %5 = load[0] %2, %0 exit 0 : f32\n" TAIL, "an exit on an instruction that takes none");
    check(HEAD "    poll\n" TAIL, "no exit");
    check(HEAD "    %5 = add %0, %0 exit 1 : i64\n" TAIL, "an exit that does not exist");
    check(HEAD "    %5 = load[0] %2, %0 alias 2 : f64\n" TAIL, "an alias number that is not in use");
    check(HEAD "    %5 = add %0, %0 alias 1 : i64\n" TAIL, "something that is no access");
}

/* An exit's values are there wherever it may be taken; an instruction's own value is not. */
TEST(flow_verify, knows_what_an_exit_needs)
{
    check(HEAD "    %5 = add %0, %0 exit 0 : i64\n    exit 1\n  exit 0 check at 0 (%5)\n  exit 1 stop at 0 ()\n",
          "its exit has a value that is not defined before it");
    check(HEAD "    %5 = add %0, %0 exit 0 : i64\n    %6 = neg %5 : i64\n    exit 0\n  exit 0 check at 0 (%6)\n",
          "its exit has a value that is not defined before it");
    check(HEAD "    branch %3 ? 1 () : 2 ()\n  block 1 () :\n    %5 = neg %0 : i64\n    exit 0\n  block 2 () :\n"
               "    exit 0\n  exit 0 check at 0 (%5)\n",
          "block 2: the exit that it leaves by has a value that is not defined");
    check(HEAD "    %5 = narrow %0 : i8\n    exit 0\n  exit 0 check at 0 (%5)\n",
          "exit 0: a value that does not exist or has no slot");
}

TEST(flow_verify, knows_boxes)
{
#define BOX(box) HEAD "    exit 0\n  exit 0 stop at 0 (%0, %1, %2) :\n    local " box "\n"
    check(BOX("number pyint int64 $0"), NULL);
    check(BOX("number pyint int64 $1"), "exit 0: a box of a value of another type");
    check(BOX("number pyint float64 $1"), "a kind that does not go with its dtype");
    check(BOX("number array int64 $0"), "a kind that does not go with its dtype");
    check(BOX("number npscalar float64 $1"), NULL);
    check(BOX("number pyint int64 $3"), "a box of a value that the exit does not have");
    check(BOX("number pyint int64 $4294967294"), "a box of a value that the exit does not have");
    check(BOX("complex npscalar $1"), "a box of a value of another type");
    check(BOX("complex npscalar $2"), "a box of a value that the exit does not have");
    check(BOX("object $0"), "a box of a value of another type");
    check(BOX("view float64 1d $2 (input 0)"), "a box of a value that the exit does not have");
    check(BOX("seq_iter $0 ()"), "a box of another number of parts");
    check(BOX("tuple (list (range (input 0, input 0)))"), "a box of another number of parts");
    check(BOX("zip ()"), NULL);
#undef BOX
}

static void
check_built(const struct jy_flow *w, const char *error)
{
    const char *why = jy_flow_verify(w);
    if (!CHECK(why != NULL && strstr(why, error) != NULL))
        printf("\n    \"%s\", want \"%s\"", why == NULL ? "" : why, error);
}

/* What no text can say. */
TEST(flow_verify, knows_where_things_stand)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = jy_flow_new(arena, "f");
    check_built(w, "block 0: has no end");
    jy_fv v = jy_flow_const(w, 0, JY_F_I64, int_of(1));
    jy_flow_leave(w, 0, jy_flow_exit_add(w, &(struct jy_flow_exit){ .x_kind = JY_EXIT_STOP }));
    CHECK_PTR(jy_flow_verify(w), NULL);
    *jy_vec_push(arena, &w->w_blocks.at[0].f_body) = v;
    check_built(w, "stands in two places");
    w->w_blocks.at[0].f_body.at[1] = 7;
    check_built(w, "names a value that does not exist");
    w->w_blocks.at[0].f_body.n = 1;
    jy_flow_at(w, v)->f_block = 1;
    check_built(w, "says that it stands in another block");
    jy_flow_at(w, v)->f_block = 0;
    jy_flow_at(w, v)->f_op = JY_FLOW_PARAM;
    check_built(w, "a parameter in a body");
    jy_arena_free(arena);
}
