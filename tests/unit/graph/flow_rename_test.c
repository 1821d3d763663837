/* One value in the place of another at every use, and new numbers. */
#include "graph/flow_simplify_internal.h"
#include "tests/unit/graph/flow_case.h"

TEST(flow_rename, ways_are_followed_to_their_end_and_shortened)
{
    jy_fv to[] = { 0, 0, 1, 2, 3, 5 };
    CHECK_UINT(jy_flow_renamed(to, 4), 0);
    CHECK_UINT(jy_flow_renamed(to, 5), 5);
    CHECK(to[4] != 3);
}

/* Operands, conditions, what edges pass and what exits say: %2 becomes %0 and %3 becomes %1, by way of each other's neighbours. */
TEST(flow_rename, every_use)
{
#define USES(x, c)                                                                                                     \
    INT_AND_BOOL "    %2 = neg %0 : i64\n"                                                                             \
                 "    %3 = lt %0, %2 : i1\n"                                                                           \
                 "    branch %" c " ? 1 (%" x ") : 2 ()\n"                                                             \
                 "  block 1 (%4 : i64) :\n"                                                                            \
                 "    %5 = add %" x ", %" x " exit 0 : i64\n"                                                          \
                 "    jump 1 (%" x ")\n"                                                                               \
                 "  block 2 () :\n"                                                                                    \
                 "    exit 1\n"                                                                                        \
                 "  exit 0 check at 5 (%" x ", %" c ")\n"                                                              \
                 "  exit 1 return at 6 (%" x ", %" c ")\n"
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, USES("2", "3")), *expected = parse_flow(arena, USES("0", "1"));
    jy_fv *to = jy_flow_renaming(w);
    to[2] = 0;
    to[3] = 1;
    jy_flow_at(expected, 3)->f_args[1] = 0;
    jy_flow_rename(w, to);
    struct jy_text text = { 0 };
    jy_flow_print(&text, expected);
    check_flow_text(w, text.at);
    jy_text_free(&text);
    jy_arena_free(arena);
}

/* From top to bottom; blocks that nothing reaches, and exits and inputs that nobody uses, are gone. */
TEST(flow_rename, new_numbers)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, "flow f :\n"
                                          "  input 0 : i64 number 0 int64\n"
                                          "  input 1 : i1 number 1 bool\n"
                                          "  input 2 : i64 number 2 int64\n"
                                          "  block 0 () :\n"
                                          "    %9 = input[2] : i64\n"
                                          "    %7 = input[1] : i1\n"
                                          "    branch %7 ? 3 (%9) : 2 ()\n"
                                          "  block 1 () :\n"
                                          "    %4 = neg %9 : i64\n"
                                          "    exit 0\n"
                                          "  block 2 () :\n"
                                          "    exit 2\n"
                                          "  block 3 (%5 : i64) :\n"
                                          "    %2 = neg %5 exit 3 : i64\n"
                                          "    jump 3 (%2)\n"
                                          "  exit 0 return at 5 (%4)\n"
                                          "  exit 1 return at 6 (%4)\n"
                                          "  exit 2 return at 7 (%9)\n"
                                          "  exit 3 check at 8 (%5)\n");
    jy_flow_renumber(w);
    CHECK_STR(jy_flow_verify(w), NULL);
    check_flow_text(w, "flow f :\n"
                       "  input 0 : i1 number 1 bool\n"
                       "  input 1 : i64 number 2 int64\n"
                       "  block 0 () :\n"
                       "    %0 = input[1] : i64\n"
                       "    %1 = input[0] : i1\n"
                       "    branch %1 ? 1 (%0) : 2 ()\n"
                       "  block 1 (%2 : i64) :\n"
                       "    %3 = neg %2 exit 1 : i64\n"
                       "    jump 1 (%3)\n"
                       "  block 2 () :\n"
                       "    exit 0\n"
                       "  exit 0 return at 7 (%0)\n"
                       "  exit 1 check at 8 (%2)\n");
    jy_arena_free(arena);
}

/* Two exits may hold one list of values: it is renumbered once for each. */
TEST(flow_rename, exits_that_share_their_values)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, "flow f :\n"
                                          "  input 0 : i64 number 0 int64\n"
                                          "  block 0 () :\n"
                                          "    %2 = input[0] : i64\n"
                                          "    %1 = neg %2 exit 0 : i64\n"
                                          "    %0 = neg %1 exit 1 : i64\n"
                                          "    exit 0\n"
                                          "  exit 0 check at 5 (%2)\n"
                                          "  exit 1 check at 6 (%2)\n");
    w->w_exits.at[1].x_values = w->w_exits.at[0].x_values;
    jy_flow_renumber(w);
    CHECK_UINT(w->w_exits.at[0].x_values.at[0], 0);
    CHECK_UINT(w->w_exits.at[1].x_values.at[0], 0);
    jy_arena_free(arena);
}
