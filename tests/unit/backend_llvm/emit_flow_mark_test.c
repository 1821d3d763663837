/* Sums of floats: the bits of additions one after the other, in vectors or not, and which loops LLVM leaves alone. */
#include "tests/unit/backend_llvm/flow_form.h"

/* The sum over rounds 0 .. in1 - 1 of what `term` makes of %12, which lies `step` bytes behind that of the round before. */
#define LOOP(step, careful, term)                                                                                      \
    "flow f loops 1 :\n"                                                                                               \
    "  input 0 : ptr data 0\n"                                                                                         \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : ptr\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = const[0] : i64\n"                                                                                        \
    "    %3 = const[1] : i64\n"                                                                                        \
    "    %4 = const[" step "] : i64\n"                                                                                 \
    "    %5 = const[0.0] : f64\n"                                                                                      \
    "    jump 1 (%2, %5)\n"                                                                                            \
    "  block 1 (%6 : i64, %7 : f64)" careful " :\n"                                                                    \
    "    %8 = lt %6, %1 : i1\n"                                                                                        \
    "    branch %8 ? likely 2 () : 3 ()\n"                                                                             \
    "  block 2 () :\n"                                                                                                 \
    "    %10 = add %6, %3 : i64\n"                                                                                     \
    "    %11 = mul %6, %4 : i64\n"                                                                                     \
    "    %12 = load[0] %0, %11 : f64\n"                                                                                \
    "    %13 = " term " : f64\n"                                                                                       \
    "    %14 = add %7, %13 : f64\n"                                                                                    \
    "    jump 1 (%10, %14)\n"                                                                                          \
    "  block 3 () :\n"                                                                                                 \
    "    exit 0\n"                                                                                                     \
    "  exit 0 stop at 2 (%7)\n"

enum { MOST = 150, STEP = 3 };

static size_t step;

static void
check_sum(int32_t exit, const struct jy_flow_call *call)
{
    const double *x = (const double *)(uintptr_t)call->in[0].bits;
    double sum = 0;
    for (int64_t k = 0; k < call->in[1].i; k++)
        sum += x[(size_t)k * step] * x[(size_t)k * step];
    CHECK_INT(exit, 0);
    CHECK(memcmp(&sum, &call->out[0].d, sizeof sum) == 0);
}

TEST(emit_flow_mark, sums_are_made_in_order)
{
    static const char *const texts[] = { LOOP("8", "", "mul %12, %12"), LOOP("24", "", "mul %12, %12"),
                                         LOOP("8", " careful", "mul %12, %12") };
    static const volatile uint32_t quiet;
    double x[MOST * STEP];
    for (size_t k = 0; k < MOST * STEP; k++) /* of different sizes, so that each order has bits of its own */
        x[k] = (k % 2 == 0 ? 1.0 : -1.0) * (1.0 + (double)(k * 7919 % 1000) / 3.0) * (k % 5 == 0 ? 1e9 : 1.0);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        for (int64_t n = 0; n < MOST; n += n < 40 ? 1 : 17) {
            union jy_scalar in[2] = { { .bits = (uintptr_t)x }, { .i = n } }, out[1];
            step = k == 1 ? STEP : 1;
            flow_run_text(texts[k], &(struct jy_flow_call){ .in = in, .out = out, .watch = &quiet, .watch_mask = 1 },
                          check_sum);
        }
}

static size_t
count_marks(const char *text, const char *mark)
{
    char *ir = flow_ir(text, false);
    size_t n = ir != NULL ? count_in(ir, mark) : 99;
    free(ir);
    return n;
}

TEST(emit_flow_mark, what_is_marked)
{
    const char *off = "llvm.loop.vectorize.enable", *one = "llvm.loop.interleave.count";
    CHECK_INT(count_marks(LOOP("8", "", "mul %12, %12"), one), 1);
    CHECK_INT(count_marks(LOOP("8", "", "mul %12, %12"), off), 0);
    CHECK_INT(count_marks(LOOP("24", "", "mul %12, %12"), off), 1);
    CHECK_INT(count_marks(LOOP("-8", "", "mul %12, %12"), off), 1);
    CHECK_INT(count_marks(LOOP("24", "", "div %12, %12"), off), 0);
    CHECK_INT(count_marks(LOOP("8", "", "sqrt %12"), one), 0);
    CHECK_INT(count_marks(LOOP("8", " careful", "mul %12, %12"), off), 1);
}
