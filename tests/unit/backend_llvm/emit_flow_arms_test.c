/* Ways of a branch that are both done: overflow counts on the one that is gone. */
#include "tests/unit/backend_llvm/flow_form.h"

static void
check_arms(int32_t exit, const struct jy_flow_call *call)
{
    int64_t x = call->in[0].i, product, sum = 0, expected = 0;
    int32_t taken = 3;
    if (call->in[1].i != 0) {
        if (__builtin_mul_overflow(x, 3, &product))
            taken = 0;
        else if (__builtin_add_overflow(product, 1, &sum))
            taken = 1;
        expected = sum;
    } else {
        if (__builtin_sub_overflow(0, x, &sum))
            taken = 2;
        expected = sum >> 1;
    }
    CHECK_INT(exit, taken);
    if (taken == 3)
        CHECK_INT(call->out[0].i, expected);
}

/* Both ways are done, and only what happens on the one that is gone counts. */
TEST(emit_flow_arms, only_the_way_that_is_gone_leaves)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  input 1 : i1 number 1 bool\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = input[1] : i1\n"
                       "    %2 = const[3] : i64\n"
                       "    %3 = const[1] : i64\n"
                       "    %4 = const[2] : i64\n"
                       "    branch %1 ? 1 () : 2 ()\n"
                       "  block 1 () :\n"
                       "    %5 = mul %2, %0 exit 0 : i64\n"
                       "    %6 = add %5, %3 exit 1 : i64\n"
                       "    jump 3 (%6)\n"
                       "  block 2 () :\n"
                       "    %7 = neg %0 exit 2 : i64\n"
                       "    %8 = floordiv %7, %4 : i64\n"
                       "    jump 3 (%8)\n"
                       "  block 3 (%9 : i64) :\n"
                       "    exit 3\n"
                       "  exit 0 check at 1 (%0)\n"
                       "  exit 1 check at 2 (%5)\n"
                       "  exit 2 check at 3 (%0)\n"
                       "  exit 3 stop at 4 (%9)\n";
    static const int64_t values[] = { 0,
                                      1,
                                      -7,
                                      INT64_MAX,
                                      INT64_MIN,
                                      INT64_MIN + 1,
                                      INT64_MAX / 3,
                                      INT64_MAX / 3 + 1,
                                      INT64_MIN / 3,
                                      INT64_MIN / 3 - 1 };
    union jy_scalar in[2], out[1];
    struct jy_flow_call call = { .in = in, .out = out };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        for (size_t k = 0; k < 2 * sizeof values / sizeof *values; k++) {
            in[0].i = values[k / 2], in[1].i = (int64_t)(k % 2);
            check_arms(flow_run(&c, w, &call), &call);
        }
        flow_unload(&c);
    }
    jy_arena_free(arena);
}

/* A sum that is taken from, or added to, or left, by a bit: with a constant, what comes in, and what wraps. */
TEST(emit_flow_arms, a_sum_or_the_number_itself)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  input 1 : i1 number 1 bool\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = input[1] : i1\n"
                       "    %2 = const[7] : i64\n"
                       "    branch %1 ? 1 () : 2 (%0)\n"
                       "  block 1 () :\n"
                       "    %3 = add %2, %0 : i64\n"
                       "    jump 2 (%3)\n"
                       "  block 2 (%4 : i64) :\n"
                       "    branch %1 ? 4 (%4) : 3 ()\n"
                       "  block 3 () :\n"
                       "    %5 = sub %4, %2 : i64\n"
                       "    jump 4 (%5)\n"
                       "  block 4 (%6 : i64) :\n"
                       "    branch %1 ? 5 () : 6 (%6)\n"
                       "  block 5 () :\n"
                       "    %7 = sub %2, %6 : i64\n"
                       "    jump 6 (%7)\n"
                       "  block 6 (%8 : i64) :\n"
                       "    exit 0\n"
                       "  exit 0 stop at 1 (%4, %6, %8)\n";
    union jy_scalar in[2], out[3];
    struct jy_flow_call call = { .in = in, .out = out };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        for (int64_t x = INT64_MAX - 8; x != INT64_MIN + 8; x = (int64_t)((uint64_t)x + 1))
            for (int bit = 0; bit < 2; bit++) {
                in[0].i = x, in[1].i = bit;
                uint64_t first = (uint64_t)x + (bit ? 7 : 0), second = first - (bit ? 0 : 7);
                CHECK_INT(flow_run(&c, w, &call), 0);
                CHECK_INT(out[0].i, (int64_t)first);
                CHECK_INT(out[1].i, (int64_t)second);
                CHECK_INT(out[2].i, (int64_t)(bit ? 7 - second : second));
            }
        flow_unload(&c);
    }
    jy_arena_free(arena);
}
