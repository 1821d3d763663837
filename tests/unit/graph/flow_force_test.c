/* Exits that nothing asks for: where the questions stand. */
#include "tests/unit/graph/flow_case.h"

#define INPUTS                                                                                                         \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"
#define START                                                                                                          \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = const[3] : i64\n"

TEST(flow_force, a_question_in_front_of_each_exit)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, INPUTS START "    %2 = add %0, %1 exit 0 : i64 @4\n"
                                                       "    %3 = mul %2, %1 : i64 @5\n"
                                                       "    poll exit 1 @5\n"
                                                       "    exit 2\n"
                                                       "  exit 0 check at 5 (%0)\n"
                                                       "  exit 1 poll at 6 (%3)\n"
                                                       "  exit 2 return at 7 (%3)\n");
    if (w != NULL) {
        jy_flow_force(w);
        CHECK_PTR(jy_flow_verify(w), NULL);
        check_flow_text(w, INPUTS "  helper 0 exit_due (call) : none fails\n" START "    call[0] exit 0 @4\n"
                                  "    %2 = add %0, %1 exit 0 : i64 @4\n"
                                  "    %3 = mul %2, %1 : i64 @5\n"
                                  "    call[0] exit 1 @5\n"
                                  "    poll exit 1 @5\n"
                                  "    exit 2\n"
                                  "  exit 0 check at 5 (%0)\n"
                                  "  exit 1 poll at 6 (%3)\n"
                                  "  exit 2 return at 7 (%3)\n");
    }
    jy_arena_free(arena);
}
