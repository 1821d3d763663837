/* What is computed, checked or read once, and what must be done again. */
#include "graph/flow_simplify_internal.h"
#include "tests/unit/graph/flow_case.h"

/* A passed check stands for the same one later, and for a wrapping instruction; a wrapping one does not stand for a check. */
TEST(flow_share, checks_that_were_passed)
{
    check_simplified(INT_AND_BOOL "    %2 = add %0, %0 : i64\n"
                                  "    %3 = add %0, %0 exit 0 : i64\n"
                                  "    %4 = add %0, %0 : i64\n"
                                  "    check %1 exit 0\n"
                                  "    branch %1 ? 1 () : 2 ()\n"
                                  "  block 1 () :\n"
                                  "    %5 = add %0, %0 exit 1 : i64\n"
                                  "    exit 2\n"
                                  "  block 2 () :\n"
                                  "    exit 0\n"
                                  "  exit 0 check at 5 (%0)\n"
                                  "  exit 1 check at 6 (%0)\n"
                                  "  exit 2 return at 7 (%2, %3, %4, %5)\n",
                     INT_AND_BOOL "    %2 = add %0, %0 : i64\n"
                                  "    %3 = add %0, %0 exit 0 : i64\n"
                                  "    check %1 exit 0\n"
                                  "    exit 1\n"
                                  "  exit 0 check at 5 (%0)\n"
                                  "  exit 1 return at 7 (%2, %3, %2, %3)\n");
}
/* Loads are one until something is written. */
TEST(flow_share, loads_until_something_is_written)
{
#define MEMORY                                                                                                         \
    "flow f :\n"                                                                                                       \
    "  input 0 : ptr data 0\n"                                                                                         \
    "  alias 1 : input 0 written\n"                                                                                    \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : ptr\n"                                                                                        \
    "    %1 = const[0] : i64\n"                                                                                        \
    "    %2 = load[0] %0, %1 alias 1 : i64\n"
    check_simplified(MEMORY "    %3 = load[0] %0, %1 alias 1 : i64\n"
                            "    %4 = load[8] %0, %1 alias 1 : i64\n"
                            "    store[0] %0, %1, %4 alias 1\n"
                            "    %5 = load[0] %0, %1 alias 1 : i64\n"
                            "    exit 0\n"
                            "  exit 0 return at 7 (%2, %3, %5)\n",
                     MEMORY "    %3 = load[8] %0, %1 alias 1 : i64\n"
                            "    store[0] %0, %1, %3 alias 1\n"
                            "    %5 = load[0] %0, %1 alias 1 : i64\n"
                            "    exit 0\n"
                            "  exit 0 return at 7 (%2, %2, %5)\n");
}
/* Float operations do not commute: of two NaNs the first one's bits are the result. */
TEST(flow_share, operands_in_another_order)
{
#define TWO_OF_EACH                                                                                                    \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : f64 number 2 float64\n"                                                                               \
    "  input 3 : f64 number 3 float64\n"                                                                               \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : f64\n"                                                                                        \
    "    %3 = input[3] : f64\n"
    check_step(TWO_OF_EACH "    %4 = mul %0, %1 exit 0 : i64\n"
                           "    %5 = mul %1, %0 exit 0 : i64\n"
                           "    %6 = eq %2, %3 : i1\n"
                           "    %7 = eq %3, %2 : i1\n"
                           "    %8 = add %2, %3 : f64\n"
                           "    exit 1\n"
                           "  exit 0 check at 5 ()\n"
                           "  exit 1 return at 6 (%5, %7, %8)\n",
               jy_flow_share,
               TWO_OF_EACH "    %4 = mul %0, %1 exit 0 : i64\n"
                           "    %6 = eq %2, %3 : i1\n"
                           "    %8 = add %2, %3 : f64\n"
                           "    exit 1\n"
                           "  exit 0 check at 5 ()\n"
                           "  exit 1 return at 6 (%4, %6, %8)\n");
    check_step(TWO_OF_EACH "    %4 = add %2, %3 : f64\n"
                           "    %5 = add %3, %2 : f64\n"
                           "    %6 = sub %0, %1 : i64\n"
                           "    %7 = sub %1, %0 : i64\n"
                           "    %8 = lt %0, %1 : i1\n"
                           "    %9 = lt %1, %0 : i1\n"
                           "    exit 0\n"
                           "  exit 0 return at 6 (%4, %5, %6, %7, %8, %9)\n",
               jy_flow_share, NULL);
}

/* Sharing goes down the dominator tree only: what one arm has computed is unknown in the other one and behind both. */
TEST(flow_share, only_what_was_computed_on_every_way)
{
    check_step(INT_AND_BOOL "    branch %1 ? 1 () : 2 ()\n"
                            "  block 1 () :\n"
                            "    %2 = add %0, %0 exit 0 : i64\n"
                            "    jump 3 ()\n"
                            "  block 2 () :\n"
                            "    %3 = add %0, %0 exit 0 : i64\n"
                            "    jump 3 ()\n"
                            "  block 3 () :\n"
                            "    %4 = add %0, %0 exit 0 : i64\n"
                            "    exit 0\n"
                            "  exit 0 check at 5 ()\n",
               jy_flow_share, NULL);
}

#define THREE_MEMORIES                                                                                                 \
    "flow f :\n"                                                                                                       \
    "  input 0 : ptr data 0\n"                                                                                         \
    "  input 1 : i1 number 1 bool\n"                                                                                   \
    "  helper 0 keep (ptr) : none keeps 0 1\n"                                                                         \
    "  helper 1 spoil (ptr) : none\n"                                                                                  \
    "  helper 2 sin (i64) : i64 pure\n"                                                                                \
    "  alias 1 : input 0 written\n"                                                                                    \
    "  alias 2 : interpreter written\n"                                                                                \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : ptr\n"                                                                                        \
    "    %1 = input[1] : i1\n"                                                                                         \
    "    %2 = const[0] : i64\n"

/* Between the two loads stands `between`; the second one is of the memory `of`. */
#define LOADED_AGAIN(of, between)                                                                                      \
    THREE_MEMORIES "    %3 = load[0] %0, %2" of " : i64\n" between "    %4 = load[0] %0, %2" of " : i64\n"             \
                   "    exit 0\n"                                                                                      \
                   "  exit 0 return at 6 (%3, %4)\n"
#define LOADED_ONCE(of, between)                                                                                       \
    THREE_MEMORIES "    %3 = load[0] %0, %2" of " : i64\n" between "    exit 0\n"                                      \
                   "  exit 0 return at 6 (%3, %3)\n"

TEST(flow_share, loads_know_which_memory_is_written)
{
#define CHECK_LOADED_ONCE(of, between) check_step(LOADED_AGAIN(of, between), jy_flow_share, LOADED_ONCE(of, between))
#define CHECK_LOADED_AGAIN(of, between) check_step(LOADED_AGAIN(of, between), jy_flow_share, NULL)
    CHECK_LOADED_ONCE("", "");
    CHECK_LOADED_ONCE(" alias 1", "    store[0] %0, %2, %2 alias 2\n");
    CHECK_LOADED_AGAIN(" alias 2", "    store[0] %0, %2, %2 alias 2\n");
    CHECK_LOADED_AGAIN(" alias 1", "    store[0] %0, %2, %2\n");
    CHECK_LOADED_AGAIN("", "    store[0] %0, %2, %2 alias 2\n");
    CHECK_LOADED_ONCE(" alias 1", "    call[0] %0\n");
    CHECK_LOADED_AGAIN(" alias 2", "    call[0] %0\n");
    CHECK_LOADED_AGAIN(" alias 1", "    call[1] %0\n");
    CHECK_LOADED_ONCE("", "    %5 = call[2] %2 : i64\n");
}

TEST(flow_share, calls_are_made_as_often_as_before_but_of_pure_helpers)
{
    check_step(THREE_MEMORIES "    call[0] %0\n"
                              "    call[0] %0\n"
                              "    %3 = call[2] %2 : i64\n"
                              "    %4 = call[2] %2 : i64\n"
                              "    exit 0\n"
                              "  exit 0 return at 6 (%3, %4)\n",
               jy_flow_share,
               THREE_MEMORIES "    call[0] %0\n"
                              "    call[0] %0\n"
                              "    %3 = call[2] %2 : i64\n"
                              "    exit 0\n"
                              "  exit 0 return at 6 (%3, %3)\n");
}

/* In front of a loop, in its head and behind it; the round writes under alias number `writes`, the loads read under 1. */
#define LOADS_ROUND_A_LOOP(writes)                                                                                     \
    THREE_MEMORIES "    %3 = load[0] %0, %2 alias 1 : i64\n"                                                           \
                   "    jump 1 ()\n"                                                                                   \
                   "  block 1 () :\n"                                                                                  \
                   "    %4 = load[0] %0, %2 alias 1 : i64\n"                                                           \
                   "    branch %1 ? 2 () : 3 ()\n"                                                                     \
                   "  block 2 () :\n"                                                                                  \
                   "    store[0] %0, %2, %4 alias " writes "\n"                                                        \
                   "    jump 1 ()\n"                                                                                   \
                   "  block 3 () :\n"                                                                                  \
                   "    %5 = load[0] %0, %2 alias 1 : i64\n"                                                           \
                   "    exit 0\n"                                                                                      \
                   "  exit 0 return at 6 (%3, %4, %5)\n"

TEST(flow_share, a_round_may_have_written_what_its_head_reads)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, LOADS_ROUND_A_LOOP("1"));
    jy_flow_share(w);
    CHECK_UINT(count_op(w, JY_FLOW_LOAD), 2); /* the one behind the loop is the head's */
    w = parse_flow(arena, LOADS_ROUND_A_LOOP("2"));
    jy_flow_share(w);
    CHECK_UINT(count_op(w, JY_FLOW_LOAD), 1);
    jy_arena_free(arena);
}

/* One arm writes: behind the join it is read again. */
TEST(flow_share, what_was_written_on_one_of_the_ways)
{
#define READ_BEHIND_A_JOIN(writes)                                                                                     \
    THREE_MEMORIES "    %3 = load[0] %0, %2 alias 1 : i64\n"                                                           \
                   "    branch %1 ? 1 () : 2 ()\n"                                                                     \
                   "  block 1 () :\n"                                                                                  \
                   "    store[0] %0, %2, %3 alias " writes "\n"                                                        \
                   "    jump 2 ()\n"                                                                                   \
                   "  block 2 () :\n"                                                                                  \
                   "    %4 = load[0] %0, %2 alias 1 : i64\n"                                                           \
                   "    exit 0\n"                                                                                      \
                   "  exit 0 return at 6 (%3, %4)\n"
    check_step(READ_BEHIND_A_JOIN("1"), jy_flow_share, NULL);
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, READ_BEHIND_A_JOIN("2"));
    CHECK(jy_flow_share(w));
    CHECK_UINT(count_op(w, JY_FLOW_LOAD), 1);
    jy_arena_free(arena);
}

/* A branch has said what the conditions inside of its own are; NOT, AND and OR are seen through where one answer is left. */
TEST(flow_share, conditions_that_are_known)
{
#define DECIDED(condition, arms, tested)                                                                               \
    INT_AND_BOOL "    %2 = lt %0, %0 : i1\n"                                                                           \
                 "    %3 = " condition " : i1\n"                                                                       \
                 "    branch %3 ? " arms "\n"                                                                          \
                 "  block 1 () :\n"                                                                                    \
                 "    branch " tested " ? 2 () : 3 ()\n"                                                               \
                 "  block 2 () :\n"                                                                                    \
                 "    exit 0\n"                                                                                        \
                 "  block 3 () :\n"                                                                                    \
                 "    exit 0\n"                                                                                        \
                 "  exit 0 return at 5 (%0)\n"
#define YES "1 () : 2 ()"
#define NO "2 () : 1 ()"
    struct {
        const char *text;
        int to; /* where block 1 jumps to; 0: it still asks */
    } cases[] = { { DECIDED("not %1", YES, "%3"), 2 },     { DECIDED("not %1", YES, "%1"), 3 },
                  { DECIDED("and %1, %2", YES, "%1"), 2 }, { DECIDED("and %1, %2", YES, "%2"), 2 },
                  { DECIDED("or %1, %2", YES, "%1"), 0 },  { DECIDED("xor %1, %2", YES, "%1"), 0 },
                  { DECIDED("or %1, %2", NO, "%2"), 3 },   { DECIDED("and %1, %2", NO, "%1"), 0 } };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct jy_arena *arena = jy_arena_new();
        struct jy_flow *w = parse_flow(arena, cases[k].text);
        CHECK_INT(jy_flow_share(w), cases[k].to != 0);
        CHECK_INT(w->w_blocks.at[1].f_end == JY_END_JUMP ? (int)w->w_blocks.at[1].f_edge[0].to : 0, cases[k].to);
        jy_arena_free(arena);
    }
}

/* Behind the join nothing is known any more, and in the other arm the opposite. */
TEST(flow_share, conditions_are_known_behind_their_branch_only)
{
    check_step(INT_AND_BOOL "    branch %1 ? 1 () : 2 ()\n"
                            "  block 1 () :\n"
                            "    jump 3 ()\n"
                            "  block 2 () :\n"
                            "    check %1 exit 0\n"
                            "    jump 3 ()\n"
                            "  block 3 () :\n"
                            "    check %1 exit 0\n"
                            "    exit 0\n"
                            "  exit 0 check at 5 ()\n",
               jy_flow_share, NULL);
}

/* A check that flow_identity.c may drop proves nothing to those behind it, but need not be made where it is known to hold. */
TEST(flow_share, nothing_follows_from_a_check_that_may_go)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, INT_AND_BOOL "    check %1 exit 0\n"
                                                       "    check %1 exit 0\n"
                                                       "    check %1 exit 0\n"
                                                       "    exit 0\n"
                                                       "  exit 0 check at 5 ()\n");
    jy_flow_at(w, w->w_blocks.at[0].f_body.at[2])->f_index = JY_CHECK_STORED;
    jy_flow_at(w, w->w_blocks.at[0].f_body.at[4])->f_index = JY_CHECK_STORED;
    CHECK(jy_flow_share(w));
    CHECK_UINT(count_op(w, JY_FLOW_CHECK), 2);
    CHECK_UINT(jy_flow_at(w, w->w_blocks.at[0].f_body.at[3])->f_index, JY_CHECK_ALWAYS);
    jy_arena_free(arena);
}

/* Where an exit would be taken, the instruction stays; float arithmetic may raise a flag. */
TEST(flow_share, constants_are_folded_where_nothing_is_lost)
{
    check_step(INT_AND_BOOL "    %2 = const[9223372036854775807] : i64\n"
                            "    %3 = const[0.0] : f64\n"
                            "    %4 = const[-1] : i64\n"
                            "    %5 = add %2, %4 exit 0 : i64\n"
                            "    %6 = sub %2, %4 exit 0 : i64\n"
                            "    %7 = neg %3 : f64\n"
                            "    %8 = div %7, %3 : f64\n"
                            "    %9 = lt %4, %5 : i1\n"
                            "    %10 = select %9, %0, %4 : i64\n"
                            "    exit 1\n"
                            "  exit 0 check at 5 ()\n"
                            "  exit 1 return at 6 (%5, %6, %7, %8, %10)\n",
               jy_flow_share,
               INT_AND_BOOL "    %2 = const[9223372036854775807] : i64\n"
                            "    %3 = const[0.0] : f64\n"
                            "    %4 = const[-1] : i64\n"
                            "    %5 = const[9223372036854775806] : i64\n"
                            "    %6 = sub %2, %4 exit 0 : i64\n"
                            "    %7 = const[-0.0] : f64\n"
                            "    %8 = div %7, %3 : f64\n"
                            "    %9 = const[True] : i1\n"
                            "    exit 1\n"
                            "  exit 0 check at 5 ()\n"
                            "  exit 1 return at 6 (%5, %6, %7, %8, %0)\n");
}

TEST(flow_share, branches_both_of_whose_edges_are_one)
{
#define SAME_TARGET(end)                                                                                               \
    INT_AND_BOOL "    %2 = const[3] : i64\n    " end "\n"                                                              \
                 "  block 1 (%3 : i64) :\n"                                                                            \
                 "    exit 0\n"                                                                                        \
                 "  exit 0 return at 5 (%3)\n"
    check_step(SAME_TARGET("branch %1 ? 1 (%0) : 1 (%0)"), jy_flow_share, SAME_TARGET("jump 1 (%0)"));
    check_step(SAME_TARGET("branch %1 ? 1 (%0) : 1 (%2)"), jy_flow_share, NULL);
}
/* An extent that is never 0 answers the question whether it is; others do not. */
TEST(flow_share, extents_that_have_elements)
{
#define TWO_EXTENTS                                                                                                    \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 extent 0.0 some\n"                                                                                \
    "  input 1 : i64 extent 0.1\n"                                                                                     \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"
    check_simplified(TWO_EXTENTS "    %2 = const[0] : i64\n"
                                 "    %3 = lt %2, %0 : i1\n"
                                 "    %4 = gt %0, %2 : i1\n"
                                 "    %5 = below %2, %0 : i1\n"
                                 "    %6 = ne %0, %2 : i1\n"
                                 "    %7 = lt %2, %1 : i1\n"
                                 "    %8 = lt %0, %2 : i1\n"
                                 "    exit 0\n"
                                 "  exit 0 return at 1 (%3, %4, %5, %6, %7, %8)\n",
                     TWO_EXTENTS "    %2 = const[0] : i64\n"
                                 "    %3 = const[True] : i1\n"
                                 "    %4 = lt %2, %1 : i1\n"
                                 "    %5 = lt %0, %2 : i1\n"
                                 "    exit 0\n"
                                 "  exit 0 return at 1 (%3, %3, %3, %3, %4, %5)\n");
}
