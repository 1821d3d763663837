/* The poll between chunks: it says what the program's own says, or stays in the rounds. */
#include "graph/flow_poll.h"
#include "tests/unit/graph/flow_loop_case.h"

/* for i in range(n): s = s + i; asked to leave between chunks, at the way back: a state that the interpreter can go on from */
TEST(flow_poll, the_poll_says_where_it_stands)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, "flow f :\n"
                                       "  input 0 : i64 number 0 int64\n"
                                       "  block 0 () :\n"
                                       "    %0 = input[0] : i64\n"
                                       "    %1 = const[0] : i64\n"
                                       "    jump 1 (%1, %1)\n"
                                       "  block 1 (%2 : i64, %3 : i64) :\n"
                                       "    %4 = lt %2, %0 : i1\n"
                                       "    branch %4 ? 2 () : 3 ()\n"
                                       "  block 2 () :\n"
                                       "    %5 = const[2] : i64\n"
                                       "    %6 = add %2, %5 : i64\n"
                                       "    %7 = add %3, %2 exit 0 : i64\n"
                                       "    %8 = mul %2, %2 exit 0 : i64\n"
                                       "    poll exit 1\n"
                                       "    jump 1 (%6, %7)\n"
                                       "  block 3 () :\n"
                                       "    exit 2\n"
                                       "  exit 0 check at 1 (%2)\n"
                                       "  exit 1 poll at 2 (%6, %7, %2, %8)\n"
                                       "  exit 2 return at 3 (%3)\n");
    const uint32_t watch = 4;
    union jy_scalar in = { .i = 1000000 }, out[4];
    struct jy_flow_call call = { .in = &in, .out = out, .watch = &watch, .watch_mask = 4 };
    int32_t exit = jy_flow_eval(w, &call);
    CHECK_UINT(w->w_exits.at[exit].x_offset, 2);
    int64_t n = out[0].i / 2;
    CHECK_INT(n, JY_CHUNK);
    CHECK_INT(out[1].i, n * (n - 1));
    CHECK_INT(out[2].i, out[0].i - 2);
    CHECK_INT(out[3].i, out[2].i * out[2].i);
    in.i = 2 * JY_CHUNK; /* nothing is left when it could be asked */
    exit = jy_flow_eval(w, &call);
    CHECK_UINT(w->w_exits.at[exit].x_offset, 3);
    jy_arena_free(arena);
}
