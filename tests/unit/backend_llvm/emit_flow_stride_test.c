/* Products of a counter of a loop: handed on from round to round, and the same numbers. */
#include "tests/unit/backend_llvm/flow_form.h"

/* Rounds k = in0, in0 + 3, ... < in1, of which the sum of k * in2 is made. `factor`: in2, or what is loaded in each round. */
#define LOOP(factor)                                                                                                   \
    "flow f loops 1 :\n"                                                                                               \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = const[3] : i64\n"                                                                                        \
    "    %4 = const[0] : i64\n"                                                                                        \
    "    jump 1 (%0, %4)\n"                                                                                            \
    "  block 1 (%5 : i64, %6 : i64) :\n"                                                                               \
    "    %7 = lt %5, %1 : i1\n"                                                                                        \
    "    branch %7 ? 2 () : 3 ()\n"                                                                                    \
    "  block 2 () :\n"                                                                                                 \
    "    %8 = add %5, %3 : i64\n"                                                                                      \
    "    %9 = mul %5, " factor " : i64\n"                                                                              \
    "    %10 = add %6, %9 : i64\n"                                                                                     \
    "    poll exit 0\n"                                                                                                \
    "    jump 1 (%8, %10)\n"                                                                                           \
    "  block 3 () :\n"                                                                                                 \
    "    exit 1\n"                                                                                                     \
    "  exit 0 poll at 1 (%5, %9)\n"                                                                                    \
    "  exit 1 stop at 2 (%6)\n"

static void
check_sum(int32_t exit, const struct jy_flow_call *call)
{
    uint64_t sum = 0;
    for (int64_t k = call->in[0].i; k < call->in[1].i; k += 3)
        sum += (uint64_t)k * (uint64_t)call->in[2].i;
    CHECK_INT(exit, 1);
    CHECK_INT(call->out[0].i, (int64_t)sum);
}

TEST(emit_flow_stride, sums_of_products)
{
    static const int64_t values[][3] = { { 0, 10, 7 },
                                         { -5, 20, -11 },
                                         { 4, 4, 9 },
                                         { -3, -1, INT64_MIN },
                                         { 1, 50, INT64_MAX },
                                         { 0, 100, 0 },
                                         { INT64_MAX - 9, INT64_MAX - 4, 1 } };
    static const volatile uint32_t quiet;
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        union jy_scalar in[3], out[2];
        for (size_t i = 0; i < 3; i++)
            in[i].i = values[k][i];
        flow_run_text(LOOP("%2"), &(struct jy_flow_call){ .in = in, .out = out, .watch = &quiet, .watch_mask = 1 },
                      check_sum);
    }
}

/* The product goes round; one with a factor that changes, or with a constant, is made in each round. */
TEST(emit_flow_stride, what_goes_round)
{
    static const char *const texts[] = { LOOP("%2"), LOOP("%6"), LOOP("%3") };
    for (size_t k = 0; k < 3; k++) {
        char *ir = flow_ir(texts[k], false);
        if (CHECK(ir != NULL))
            CHECK_INT(count_in(ir, "%mul.9 = phi i64"), k == 0 ? 1 : 0);
        free(ir);
    }
}
