/* Evidence instead of checks: which results tell of others, what is undone, and what stays checked. */
#include "tests/unit/graph/flow_loop_case.h"
#include <float.h>
#include <math.h>

/* for i in range(n): s = s * x, each product checked by FLAGGED: the fast copy has no check, and the careful one says at which round it was. */
TEST(flow_evidence, evidence_of_floats)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, "flow f flags :\n"
                                       "  input 0 : i64 number 0 int64\n"
                                       "  input 1 : f64 number 1 float64\n"
                                       "  block 0 () :\n"
                                       "    %0 = input[0] : i64\n"
                                       "    %1 = input[1] : f64\n"
                                       "    %2 = const[0] : i64\n"
                                       "    jump 1 (%2, %1)\n"
                                       "  block 1 (%3 : i64, %4 : f64) :\n"
                                       "    %5 = lt %3, %0 : i1\n"
                                       "    branch %5 ? 2 () : 3 ()\n"
                                       "  block 2 () :\n"
                                       "    %6 = const[1] : i64\n"
                                       "    %7 = add %3, %6 : i64\n"
                                       "    %8 = mul %4, %1 : f64\n"
                                       "    flagged %8, %4, %1 exit 0\n"
                                       "    jump 1 (%7, %8)\n"
                                       "  block 3 () :\n"
                                       "    exit 1\n"
                                       "  exit 0 check at 1 (%3, %4)\n"
                                       "  exit 1 return at 2 (%4)\n");
    union jy_scalar in[2] = { { .i = 40 }, { .d = 2.0 } }, out[2];
    struct jy_flow_call call = { .in = in, .out = out };
    CHECK_UINT(count_op(w, JY_FLOW_FLAGGED), 1);
    CHECK_UINT(count_op(w, JY_FLOW_BITS), 0); /* the product itself tells */
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 2);
    CHECK(out[0].d == 0x1p41);
    in[0].i = 2000;
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 1);
    CHECK_INT(out[0].i, 1022);
    CHECK(out[1].d == 0x1p1023);
    in[1].d = (double)INFINITY; /* infinite all the time, without a warning */
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 2);
    jy_arena_free(arena);
}

/* for i in range(start, stop, step): a[i + 16] = a[i] + x; if a[i] > 9: a[i] = a[i] - y: what the chunk with the overflow has stored is put back, also what it has read again, and
 * what was stored on some ways only. The extent is the room's. */
#define STORES_THAT_ARE_UNDONE(step, test)                                                                             \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  input 3 : ptr data 3\n"                                                                                         \
    "  alias 1 : input 3 written\n"                                                                                    \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = input[3] : ptr\n"                                                                                        \
    "    %4 = const[64] : i64\n"                                                                                       \
    "    %5 = const[16] : i64\n"                                                                                       \
    "    %6 = const[8] : i64\n"                                                                                        \
    "    %7 = const[" step "] : i64\n"                                                                                 \
    "    %8 = const[9] : i64\n"                                                                                        \
    "    jump 1 (%0)\n"                                                                                                \
    "  block 1 (%9 : i64) :\n"                                                                                         \
    "    %10 = " test " %9, %1 : i1\n"                                                                                 \
    "    branch %10 ? 2 () : 5 ()\n"                                                                                   \
    "  block 2 () :\n"                                                                                                 \
    "    %11 = add %9, %7 : i64\n"                                                                                     \
    "    %12 = wrap %9, %4 exit 0 : i64\n"                                                                             \
    "    %13 = mul %12, %6 : i64\n"                                                                                    \
    "    %14 = load[0] %3, %13 alias 1 : i64\n"                                                                        \
    "    %15 = add %14, %2 exit 1 : i64\n"                                                                             \
    "    %16 = add %9, %5 exit 2 : i64\n"                                                                              \
    "    %17 = wrap %16, %4 exit 3 : i64\n"                                                                            \
    "    %18 = mul %17, %6 : i64\n"                                                                                    \
    "    store[0] %3, %18, %15 alias 1\n"                                                                              \
    "    %20 = gt %14, %8 : i1\n"                                                                                      \
    "    branch %20 ? 3 () : 4 ()\n"                                                                                   \
    "  block 3 () :\n"                                                                                                 \
    "    %21 = sub %14, %2 exit 4 : i64\n"                                                                             \
    "    store[0] %3, %13, %21 alias 1\n"                                                                              \
    "    jump 4 ()\n"                                                                                                  \
    "  block 4 () :\n"                                                                                                 \
    "    jump 1 (%11)\n"                                                                                               \
    "  block 5 () :\n"                                                                                                 \
    "    exit 5\n"                                                                                                     \
    "  exit 0 check at 1 (%9)\n"                                                                                       \
    "  exit 1 check at 2 (%9, %14)\n"                                                                                  \
    "  exit 2 check at 3 (%9)\n"                                                                                       \
    "  exit 3 check at 4 (%9, %16)\n"                                                                                  \
    "  exit 4 check at 5 (%9, %14)\n"                                                                                  \
    "  exit 5 return at 6 (%9)\n"

TEST(flow_evidence, what_was_stored_is_undone_where_there_is_evidence)
{
    static const int64_t values[] = {
        0, 1, 9, 40, 62, 63, 64, -1, -8, INT64_MAX, INT64_MAX - 9, INT64_MAX / 8, -60, INT64_MIN + 3
    };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, STORES_THAT_ARE_UNDONE("1", "lt"));
    CHECK_UINT(count_op(w, JY_FLOW_SCRATCH), 1);
    CHECK_UINT(count_op(w, JY_FLOW_STORE), 2 + 2 + 2 + 2); /* careful, fast, noted, undone */
    jy_arena_free(arena);
    check_all_alike(STORES_THAT_ARE_UNDONE("1", "lt"), values, 14, 3);
    check_all_alike(STORES_THAT_ARE_UNDONE("-1", "gt"), values, 14, 3);
}
