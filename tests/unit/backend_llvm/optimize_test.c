/* The pass pipelines: none for kernels; for flows what each pass is there for, and what none may do. */
#include "tests/unit/backend_llvm/flow_harness.h"

TEST(optimize, kernels_are_left_as_they_are_emitted)
{
    struct jy_backend_options options = { .want_ir = true, .want_ir_opt = true };
    struct jy_object out;
    struct trial t;
    if (trial_parse(&t,
                    "plan f (s0=5) :\n  size z0 = s0\n  buffer b0 = input 0 : float64[s0] order(0) unit(0)\n  input "
                    "b0\n  kernel 0:\n    %0 = size z0\n    for %1 < %0 vector:\n      %2 = load float64 b0[%1]\n"
                    "      %3 = add float64 %2, %2\n      store b0[%1] = %3\n")) {
        CHECK_INT(jy_backend_entry()->compile(&out, &t.plan, &options), JY_OK);
        CHECK_STR(out.ir_opt, out.ir);
        jy_backend_entry()->release(&out);
    }
    trial_end(&t);
}

/* for i in range(n): a[i] = a[i] OP x, with what `round` computes from %7 = a[i] and %2 = x as %9. */
#define LOOP(round)                                                                                                    \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : ptr data 1\n"                                                                                         \
    "  input 2 : f64 number 2 float64\n"                                                                               \
    "  alias 1 : input 1 written\n"                                                                                    \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : ptr\n"                                                                                        \
    "    %2 = input[2] : f64\n"                                                                                        \
    "    %3 = const[0] : i64\n"                                                                                        \
    "    %4 = const[8] : i64\n"                                                                                        \
    "    jump 1 (%3)\n"                                                                                                \
    "  block 1 (%5 : i64) :\n"                                                                                         \
    "    %6 = lt %5, %0 : i1\n"                                                                                        \
    "    branch %6 ? 2 () : 3 ()\n"                                                                                    \
    "  block 2 () :\n"                                                                                                 \
    "    %7 = mul %5, %4 : i64\n"                                                                                      \
    "    %8 = load[0] %1, %7 alias 1 : f64\n" round "    jump 1 (%12)\n"                                               \
    "  block 3 () :\n"                                                                                                 \
    "    exit 0\n"                                                                                                     \
    "  exit 0 stop at 1 ()\n"                                                                                          \
    "  exit 1 check at 2 (%5)\n"
#define NEXT                                                                                                           \
    "    %11 = const[1] : i64\n"                                                                                       \
    "    %12 = add %5, %11 : i64\n"

/* Loops without checks become vector loops; those with are left whole and their bounds are not tested in every copy. */
TEST(optimize, loops_without_checks_vectorise)
{
    char *plain = flow_ir(LOOP("    %9 = mul %8, %2 : f64\n    store[0] %1, %7, %9 alias 1\n" NEXT), false);
    char *fast = flow_ir(LOOP("    %9 = mul %8, %2 : f64\n    store[0] %1, %7, %9 alias 1\n" NEXT), true);
    if (plain != NULL && fast != NULL) {
        CHECK(strstr(plain, "x double>") == NULL);
        CHECK(strstr(fast, "x double>") != NULL && strstr(fast, "vector.body") != NULL);
    }
    free(plain);
    free(fast);
}

/* What does not change leaves the loop: 1 / x is computed once, before the first round's load or after it. */
TEST(optimize, what_does_not_change_leaves_the_loop)
{
    char *ir = flow_ir(
        LOOP("    %9 = div %2, %2 : f64\n    %10 = add %8, %9 : f64\n    store[0] %1, %7, %10 alias 1\n" NEXT), true);
    if (ir != NULL) {
        const char *loop = strstr(ir, "vector.body:"), *division = strstr(ir, "fdiv double");
        CHECK(division != NULL && loop != NULL && division < loop);
        CHECK_UINT(count_in(ir, "fdiv"), 1);
    }
    free(ir);
}

/* The counter cannot overflow below a bound that fits: its check goes. */
TEST(optimize, checks_of_counters_go)
{
    const char *text =
        LOOP("    %9 = add %8, %2 : f64\n    store[0] %1, %7, %9 alias 1\n    %11 = const[1] : i64\n    %12 = "
             "add %5, %11 exit 1 : i64\n");
    char *plain = flow_ir(text, false), *fast = flow_ir(text, true);
    if (plain != NULL && fast != NULL) {
        CHECK(strstr(plain, "call { i64, i1 } @llvm.sadd.with.overflow") != NULL);
        CHECK(strstr(fast, "call { i64, i1 } @llvm.sadd.with.overflow") == NULL);
    }
    free(plain);
    free(fast);
}

/* s = s * x + a[i] * x: no pass makes one rounding of two, or another order of the sums; fastmath may. */
TEST(optimize, only_fastmath_changes_roundings)
{
    const char *text = "flow f :\n"
                       "  input 0 : f64 number 0 float64\n"
                       "  input 1 : f64 number 1 float64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : f64\n"
                       "    %1 = input[1] : f64\n"
                       "    %2 = mul %0, %1 : f64\n"
                       "    %3 = add %2, %1 : f64\n"
                       "    %4 = sub %3, %1 : f64\n"
                       "    exit 0\n"
                       "  exit 0 stop at 1 (%4)\n";
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    for (int fastmath = 0; fastmath < 2 && w != NULL; fastmath++) {
        struct jy_backend_options options = {
            .features = "+avx2,+fma", .want_ir = true, .want_asm = true, .fastmath = fastmath == 1
        };
        struct jy_object out;
        CHECK_INT(jy_backend_entry()->compile_flow(&out, w, &options), JY_OK);
        CHECK_INT(strstr(out.ir, "reassoc contract") != NULL, fastmath);
        CHECK_UINT(count_in(out.ir, "nnan") + count_in(out.ir, "ninf") + count_in(out.ir, "nsz"), 0);
        if (fastmath == 0)
            CHECK(strstr(out.asm_text, "mulsd") != NULL && strstr(out.asm_text, "addsd") != NULL &&
                  strstr(out.asm_text, "subsd") != NULL && strstr(out.asm_text, "fmadd") == NULL);
        jy_backend_entry()->release(&out);
    }
    jy_arena_free(arena);
}

/* A loop that fills memory, or moves it, is no call of memset or memcpy: there is no C library where flows are loaded. */
TEST(optimize, loops_become_no_library_calls)
{
    char *ir = flow_ir(LOOP("    %9 = const[0.0] : f64\n    store[0] %1, %7, %9 alias 1\n" NEXT), true);
    if (ir != NULL)
        CHECK(strstr(ir, "memset") == NULL);
    free(ir);
}
