/* Everything that a flow holds is in its text. What is read back is checked by printing it again. */
#include "tests/unit/graph/flow_case.h"

TEST(flow_print, says_everything_of_a_head)
{
    check_round_trip("flow \"<lambda>\" in \"a \\\"b\\\"\\\\c\\n.py\" loops 2 flags :\n"
                     "  input 0 : i64 number 1 int64\n"
                     "  input 1 : i32 number 1 int32\n"
                     "  input 2 : f32 number 2 float32\n"
                     "  input 3 : i1 number 3 bool\n"
                     "  input 4 : ptr object 4\n"
                     "  input 5 : ptr data 4\n"
                     "  input 6 : i64 extent 4.1\n"
                     "  input 7 : i64 stride 4.7\n"
                     "  input 8 : i64 range 5.2\n"
                     "  input 9 : i64 index 6\n"
                     "  input 10 : ptr constant 17\n"
                     "  helper 0 nothing () : none\n"
                     "  helper 1 owner (call) : ptr fails\n"
                     "  helper 2 list_set (call, ptr, i64, f64) : i1 fails\n"
                     "  helper 3 pow (f64, f64) : f64 pure\n"
                     "  alias 1 : input 4 written\n"
                     "  alias 2 : input 5\n"
                     "  block 0 () :\n"
                     "    exit 0\n"
                     "  exit 0 stop at 0 ()\n");
}

TEST(flow_print, says_everything_of_a_block)
{
    check_round_trip("flow f :\n"
                     "  block 0 () :\n"
                     "    %0 = const[True] : i1\n"
                     "    %1 = const[-7] : i8\n"
                     "    %2 = const[-9223372036854775808] : i64\n"
                     "    %3 = const[0.1] : f32 @7\n"
                     "    %4 = const[-inf] : f64\n"
                     "    %5 = const[nan(0x7ff8000000000001)] : f64\n"
                     "    %6 = const[0x1234567890] : ptr\n"
                     "    branch %0 ? likely 1 (%2, %4) : 2 ()\n"
                     "  block 1 (%7 : i64, %9 : f64) at 12 @5 careful :\n"
                     "    branch %0 ? 1 (%2, %9) : likely 1 (%7, %4)\n"
                     "  block 2 () careful :\n"
                     "    %8 = load[-16] %6, %2 : f64 @6\n"
                     "    poll exit 0\n"
                     "    check %0 exit 0 @9\n"
                     "    store[8] %6, %2, %8\n"
                     "    jump 1 (%2, %8)\n"
                     "  exit 0 poll at 0 ()\n");
}

TEST(flow_print, says_everything_of_an_exit)
{
    check_round_trip("flow f in \"f.py\" :\n"
                     "  block 0 () :\n"
                     "    %0 = const[1] : i64\n"
                     "    %1 = const[1.5] : f64\n"
                     "    %2 = const[0x10] : ptr\n"
                     "    %3 = const[False] : i1\n"
                     "    exit 1\n"
                     "  exit 0 return at 5 @6 (%0) :\n"
                     "    result number pyint int64 $0\n"
                     "  exit 1 check \"index\" at 9 @12 in \"g.py\" (%0, %1, %1, %2, %0, %0, %0, %0, %3) :\n"
                     "    stack null\n"
                     "    stack seq_iter $0 (input 3)\n"
                     "    local number npscalar float64 $1\n"
                     "    local number pybool bool $8\n"
                     "    local complex pyfloat $1\n"
                     "    local object $3\n"
                     "    local view float64 2d $3 (input 4)\n"
                     "    local view int8 1d $3 (fresh int8 1d $3)\n"
                     "    local range_iter $4\n"
                     "    local reversed_iter $4 (const o7)\n"
                     "    local range (const o1, number pyint int64 $0, const o1)\n"
                     "    local slice (const o1, const o1, const o2)\n"
                     "    local enumerate (zip (seq_iter $0 (input 3), range_iter $5), const o1)\n"
                     "    local method o9 (input 3)\n"
                     "    local list ()\n"
                     "    local tuple (const o1)\n"
                     "    local maybe $8 (number pyint int64 $0)\n"
                     "  exit 2 stop at 0 in \"\" ()\n");
}

/* Which of two equal boxes are one object is part of the meaning. */
TEST(flow_print, names_boxes_that_are_one_object)
{
    const char *text = "flow f :\n"
                       "  block 0 () :\n"
                       "    %0 = const[1] : i64\n"
                       "    exit 0\n"
                       "  exit 0 stop at 0 (%0) :\n"
                       "    local #0 = list (#1 = number pyint int64 $0, list ())\n"
                       "    local #1\n"
                       "    local #0\n"
                       "    local list ()\n"
                       "    local tuple (#0, #2 = list (), #2)\n";
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    if (w != NULL) {
        struct jy_box **boxes = w->w_exits.at[0].x_boxes;
        CHECK_PTR(boxes[2], boxes[0]);
        CHECK_PTR(boxes[1], boxes[0]->parts[0]);
        CHECK_PTR(boxes[4]->parts[0], boxes[0]);
        CHECK_PTR(boxes[4]->parts[1], boxes[4]->parts[2]);
        CHECK(boxes[3] != boxes[0]->parts[1]);
        check_flow_text(w, text);
    }
    jy_arena_free(arena);
}
