/* What nobody needs, and what is needed though nobody reads it. */
#include "graph/flow_simplify_internal.h"
#include "tests/unit/graph/flow_case.h"

#define MEMORY                                                                                                         \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i1 number 1 bool\n"                                                                                   \
    "  input 2 : ptr data 2\n"                                                                                         \
    "  helper 0 twice (i64) : i64 pure\n"                                                                              \
    "  helper 1 draw (i64) : i64 keeps 0 1 2\n"                                                                        \
    "  helper 2 spoil (i64) : i64\n"                                                                                   \
    "  helper 3 touch (i64) : i64 keeps 0 2\n"                                                                         \
    "  alias 1 : input 2 written\n"                                                                                    \
    "  alias 2 : interpreter written\n"                                                                                \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i1\n"                                                                                         \
    "    %2 = input[2] : ptr\n"

TEST(flow_dead, what_may_leave_or_has_an_effect_stays)
{
    check_step(MEMORY "    %3 = add %0, %0 exit 0 : i64\n"
                      "    %4 = neg %0 : i64\n"
                      "    check %1 exit 0\n"
                      "    %6 = call[1] %4 : i64\n"
                      "    store[0] %2, %0, %4\n"
                      "    %9 = not %0 : i64\n"
                      "    poll exit 1\n"
                      "    exit 0\n"
                      "  exit 0 check at 5 ()\n"
                      "  exit 1 poll at 6 (%9)\n",
               jy_flow_drop_dead, NULL);
    check_step(MEMORY "    %3 = add %0, %0 : i64\n"
                      "    %4 = load[0] %2, %3 : i64\n"
                      "    %5 = call[0] %4 : i64\n"
                      "    %6 = floordiv %5, %0 : i64\n"
                      "    exit 0\n"
                      "  exit 0 check at 5 ()\n",
               jy_flow_drop_dead,
               "flow f :\n"
               "  input 0 : i64 number 0 int64\n"
               "  input 1 : i1 number 1 bool\n"
               "  input 2 : ptr data 2\n"
               "  helper 0 twice (i64) : i64 pure\n"
               "  helper 1 draw (i64) : i64 keeps 0 1 2\n"
               "  helper 2 spoil (i64) : i64\n"
               "  helper 3 touch (i64) : i64 keeps 0 2\n"
               "  alias 1 : input 2 written\n"
               "  alias 2 : interpreter written\n"
               "  block 0 () :\n"
               "    exit 0\n"
               "  exit 0 check at 5 ()\n");
}

/* Two parameters that feed only each other are dead though each is used; the counter decides the branch. */
TEST(flow_dead, parameters_that_feed_only_each_other)
{
    check_step(INT_AND_BOOL "    %2 = const[1] : i64\n"
                            "    jump 1 (%0, %0, %0)\n"
                            "  block 1 (%3 : i64, %4 : i64, %5 : i64) :\n"
                            "    %6 = add %3, %4 : i64\n"
                            "    %7 = sub %4, %3 : i64\n"
                            "    %8 = sub %5, %2 : i64\n"
                            "    %9 = lt %5, %2 : i1\n"
                            "    branch %9 ? 2 (%6) : 1 (%6, %7, %8)\n"
                            "  block 2 (%10 : i64) :\n"
                            "    exit 0\n"
                            "  exit 0 return at 5 (%2)\n",
               jy_flow_drop_dead,
               "flow f :\n"
               "  input 0 : i64 number 0 int64\n"
               "  input 1 : i1 number 1 bool\n"
               "  block 0 () :\n"
               "    %0 = input[0] : i64\n"
               "    %2 = const[1] : i64\n"
               "    jump 1 (%0)\n"
               "  block 1 (%5 : i64) :\n"
               "    %8 = sub %5, %2 : i64\n"
               "    %9 = lt %5, %2 : i1\n"
               "    branch %9 ? 2 () : 1 (%8)\n"
               "  block 2 () :\n"
               "    exit 0\n"
               "  exit 0 return at 5 (%2)\n");
}

static bool
drop_and_renumber(struct jy_flow *w)
{
    bool changed = jy_flow_drop_dead(w);
    jy_flow_renumber(w);
    return changed;
}

/* An exit needs its values only where somebody can take it: here nobody takes 0, and nothing comes to block 1. */
TEST(flow_dead, values_of_exits_that_are_not_taken)
{
    check_step(INT_AND_BOOL "    %2 = neg %0 : i64\n"
                            "    %3 = not %0 : i64\n"
                            "    %4 = abs %0 : i64\n"
                            "    exit 1\n"
                            "  block 1 () :\n"
                            "    check %1 exit 2\n"
                            "    exit 2\n"
                            "  exit 0 check at 5 (%2)\n"
                            "  exit 1 return at 6 (%3)\n"
                            "  exit 2 return at 7 (%4)\n",
               drop_and_renumber,
               "flow f :\n"
               "  input 0 : i64 number 0 int64\n"
               "  block 0 () :\n"
               "    %0 = input[0] : i64\n"
               "    %1 = not %0 : i64\n"
               "    exit 0\n"
               "  exit 0 return at 6 (%1)\n");
}

/* Bit k: memory of alias number k; bit 0 alone: any. */
TEST(flow_dead, which_memory_an_instruction_writes)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, MEMORY "    %3 = call[0] %0 : i64\n"
                                                 "    %4 = call[1] %0 : i64\n"
                                                 "    %5 = call[2] %0 : i64\n"
                                                 "    %6 = call[3] %0 : i64\n"
                                                 "    store[0] %2, %0, %3\n"
                                                 "    store[0] %2, %0, %3 alias 2\n"
                                                 "    %9 = load[0] %2, %0 alias 2 : i64\n"
                                                 "    exit 0\n"
                                                 "  exit 0 check at 5 ()\n");
    static const uint64_t writes[] = { 0, 0, 1, 2, 1, 4, 0 };
    static const bool effects[] = { false, true, true, true, true, true, false };
    for (size_t k = 0; k < 7; k++) {
        const struct jy_fvalue *v = jy_flow_at(w, w->w_blocks.at[0].f_body.at[3 + k]);
        CHECK_UINT(jy_flow_writes(w, v), writes[k]);
        CHECK_INT(jy_flow_has_effect(w, v), effects[k]);
    }
    jy_arena_free(arena);
}
