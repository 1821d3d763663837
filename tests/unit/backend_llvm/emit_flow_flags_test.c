/* FLAGGED: an operation that would have warned leaves, the first one first. */
#include "tests/unit/backend_llvm/flow_form.h"
#include <math.h>

/* A result that warns leaves before any later one, although one test is enough for both when all is well. */
static void
check_first_flag(int32_t exit, const struct jy_flow_call *call)
{
    double x = call->in[0].d, y = call->in[1].d, z = call->in[2].d, p = x * y, s = p + z;
    bool first = (isnan(p) && !isnan(x) && !isnan(y)) || (isinf(p) && !isinf(x) && !isinf(y));
    bool second = (isnan(s) && !isnan(p) && !isnan(z)) || (isinf(s) && !isinf(p) && !isinf(z));
    CHECK_INT(exit, first ? 0 : second ? 1 : 2);
}

TEST(emit_flow_flags, flags_in_order)
{
    const char *text = "flow f flags :\n"
                       "  input 0 : f64 number 0 float64\n"
                       "  input 1 : f64 number 1 float64\n"
                       "  input 2 : f64 number 2 float64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : f64\n"
                       "    %1 = input[1] : f64\n"
                       "    %2 = input[2] : f64\n"
                       "    %3 = mul %0, %1 : f64\n"
                       "    flagged %3, %0, %1 exit 0\n"
                       "    %4 = add %3, %2 : f64\n"
                       "    flagged %4, %3, %2 exit 1\n"
                       "    exit 2\n"
                       "  exit 0 check at 1 (%0)\n"
                       "  exit 1 check at 2 (%3)\n"
                       "  exit 2 stop at 3 (%4)\n";
    static const double values[] = { 0.0, -1.0, 1e308, -1e308, INFINITY, -INFINITY, NAN };
    union jy_scalar in[3], out[1];
    struct jy_flow_call call = { .in = in, .out = out };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        for (size_t k = 0; k < 7 * 7 * 7; k++) {
            in[0].d = values[k % 7], in[1].d = values[k / 7 % 7], in[2].d = values[k / 49];
            check_first_flag(flow_run(&c, w, &call), &call);
        }
        flow_unload(&c);
    }
    jy_arena_free(arena);
}

/* Alone, at the ends of the range: NaN and infinities that came in say nothing. */
TEST(emit_flow_flags, what_came_in_does_not_warn)
{
    check_form((struct form){ JY_FLOW_FLAGGED, JY_F_NONE, JY_F_F32, true, -1 });
    check_form((struct form){ JY_FLOW_FLAGGED, JY_F_NONE, JY_F_F64, true, -1 });
}

static double held[1];

static void
check_store_waits(int32_t exit, const struct jy_flow_call *call)
{
    CHECK_INT(exit, call->in[1].d > 1e300 ? 0 : 1);
    CHECK_F64BITS(held[0], exit == 0 ? 7.0 : call->in[1].d * 1e10);
    held[0] = 7.0;
}

/* Tests may wait for each other, but for nothing that can be observed. */
TEST(emit_flow_flags, nothing_is_stored_before_the_test)
{
    const char *text = "flow f flags :\n"
                       "  input 0 : ptr object 0\n"
                       "  input 1 : f64 number 1 float64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : ptr\n"
                       "    %1 = input[1] : f64\n"
                       "    %2 = const[0] : i64\n"
                       "    %3 = const[1e10] : f64\n"
                       "    %4 = mul %1, %3 : f64\n"
                       "    flagged %4, %1, %3 exit 0\n"
                       "    store[0] %0, %2, %4\n"
                       "    exit 1\n"
                       "  exit 0 check at 1 (%1)\n"
                       "  exit 1 stop at 2 (%4)\n";
    static const double values[] = { 1.5, 1e301 };
    held[0] = 7.0;
    for (size_t k = 0; k < 2; k++) {
        union jy_scalar in[] = { { .bits = (uintptr_t)held }, f64_of(values[k]) }, out[2];
        flow_run_text(text, &(struct jy_flow_call){ .in = in, .out = out }, check_store_waits);
    }
    char *ir = flow_ir(text, false);
    if (ir != NULL)
        CHECK_UINT(count_in(ir, "fcmp ole double"), 1); /* not again at the end of the block */
    free(ir);
}

/* One test in the hot path for a sum of products: the product is told by the sum, which is told by the next. */
TEST(emit_flow_flags, the_last_result_tells_of_the_others)
{
    const char *text = "flow f flags :\n"
                       "  input 0 : f64 number 0 float64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : f64\n"
                       "    %1 = mul %0, %0 : f64\n"
                       "    flagged %1, %0, %0 exit 0\n"
                       "    %2 = add %1, %0 : f64\n"
                       "    flagged %2, %1, %0 exit 0\n"
                       "    %3 = sqrt %2 : f64\n"
                       "    flagged %3, %2, %2 exit 0\n"
                       "    exit 1\n"
                       "  exit 0 check at 1 (%0)\n"
                       "  exit 1 stop at 2 (%3)\n";
    char *ir = flow_ir(text, false);
    if (CHECK(ir != NULL)) {
        const char *doubt = strstr(ir, "doubt");
        CHECK(doubt != NULL && count_in(ir, "fcmp ole double") == 1);
    }
    free(ir);
}

/* A test that waits is decided about before a check behind it that fails. */
static void
check_flag_before_checks(int32_t exit, const struct jy_flow_call *call)
{
    double x = call->in[0].d, y = call->in[1].d, z = call->in[2].d, p = x * y, s = p + z;
    bool first = (isnan(p) && !isnan(x) && !isnan(y)) || (isinf(p) && !isinf(x) && !isinf(y));
    bool second = (isnan(s) && !isnan(p) && !isnan(z)) || (isinf(s) && !isinf(p) && !isinf(z));
    bool fits = p >= -0x1p63 && p < 0x1p63, inside = fits && (int64_t)p >= -8 && (int64_t)p < 8;
    CHECK_INT(exit, first ? 0 : !fits ? 1 : !inside ? 2 : second ? 3 : 4);
}

TEST(emit_flow_flags, flags_before_checks)
{
    const char *text = "flow f flags :\n"
                       "  input 0 : f64 number 0 float64\n"
                       "  input 1 : f64 number 1 float64\n"
                       "  input 2 : f64 number 2 float64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : f64\n"
                       "    %1 = input[1] : f64\n"
                       "    %2 = input[2] : f64\n"
                       "    %3 = mul %0, %1 : f64\n"
                       "    flagged %3, %0, %1 exit 0\n"
                       "    %5 = to_int %3 exit 1 : i64\n"
                       "    %6 = add %3, %2 : f64\n"
                       "    %7 = const[8] : i64\n"
                       "    %8 = wrap %5, %7 exit 2 : i64\n"
                       "    flagged %6, %3, %2 exit 3\n"
                       "    exit 4\n"
                       "  exit 0 check at 1 (%0)\n"
                       "  exit 1 check at 2 (%3)\n"
                       "  exit 2 check at 3 (%5)\n"
                       "  exit 3 check at 4 (%6)\n"
                       "  exit 4 stop at 5 (%8)\n";
    static const double values[] = { 0.0, -1.0, 3.5, -8.0, 9.0, 0x1p63, 1e308, -1e308, INFINITY, -INFINITY, NAN };
    enum { N = sizeof values / sizeof *values };
    union jy_scalar in[3], out[1];
    struct jy_flow_call call = { .in = in, .out = out };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        for (size_t k = 0; k < N * N * N; k++) {
            in[0].d = values[k % N], in[1].d = values[k / N % N], in[2].d = values[k / N / N];
            check_flag_before_checks(flow_run(&c, w, &call), &call);
        }
        flow_unload(&c);
    }
    jy_arena_free(arena);
}
