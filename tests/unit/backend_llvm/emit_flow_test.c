/* A flow as one function: blocks and their parameters, edges, the text that readers see. */
#include "tests/unit/backend_llvm/flow_harness.h"

static void
check_fib(int32_t exit, const struct jy_flow_call *call)
{
    CHECK_INT(exit, 1);
    CHECK_INT(call->out[0].i, 7540113804746346429);
    CHECK_INT(call->out[1].i, 91);
}

/* Parameters that change places, a check that fails in the middle of a loop, a block that nobody reaches. */
TEST(emit_flow, blocks)
{
    const char *text = "flow fib :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = const[0] : i64\n"
                       "    %2 = const[1] : i64\n"
                       "    jump 1 (%1, %1, %2)\n"
                       "  block 1 (%3 : i64, %4 : i64, %5 : i64) at 4 @2 :\n"
                       "    %6 = lt %3, %0 : i1\n"
                       "    branch %6 ? likely 2 () : 3 ()\n"
                       "  block 2 () :\n"
                       "    %7 = add %4, %5 exit 1 : i64\n"
                       "    %8 = add %3, %2 : i64\n"
                       "    jump 1 (%8, %5, %7)\n"
                       "  block 3 () :\n"
                       "    exit 0\n"
                       "  block 4 () :\n"
                       "    %9 = add %0, %0 : i64\n"
                       "    exit 0\n"
                       "  exit 0 return at 9 @5 (%4) :\n"
                       "    result number pyint int64 $0\n"
                       "  exit 1 check \"int overflow\" at 6 @3 (%5, %3)\n";
    union jy_scalar in = { .i = 200 }, out[2];
    struct jy_flow_call call = { .in = &in, .out = out };
    flow_run_text(text, &call, check_fib);
}

static void
check_twins(int32_t exit, const struct jy_flow_call *call)
{
    CHECK_INT(exit, 0);
    CHECK_INT(call->out[0].i, call->in[0].i != 0 ? 10 : 20);
}

/* Both edges of a branch go to one block. */
TEST(emit_flow, twins)
{
    const char *text = "flow f :\n"
                       "  input 0 : i1 number 0 bool\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i1\n"
                       "    %1 = const[10] : i64\n"
                       "    %2 = const[20] : i64\n"
                       "    branch %0 ? 1 (%1) : 1 (%2)\n"
                       "  block 1 (%3 : i64) :\n"
                       "    exit 0\n"
                       "  exit 0 stop at 9 (%3)\n";
    for (int64_t k = 0; k < 2; k++) {
        union jy_scalar in = { .i = k }, out[1];
        struct jy_flow_call call = { .in = &in, .out = out };
        flow_run_text(text, &call, check_twins);
    }
}

TEST(emit_flow, texts)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  block 0 () at 2 @7 :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = mul %0, %0 exit 0 : i64 @8\n"
                       "    exit 1\n"
                       "  exit 0 check at 4 @8 (%0)\n"
                       "  exit 1 stop at 6 @9 (%1)\n";
    struct jy_backend_options options = {
        .want_ir = true, .want_ir_opt = true, .want_asm = true, .verify = true, .name = "mine"
    };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct jy_object out;
    if (w != NULL && CHECK_INT(jy_backend_entry()->compile_flow(&out, w, &options), JY_OK)) {
        CHECK(strstr(out.ir, "define i32 @jy_kernel_0(ptr %call)") != NULL);
        CHECK(strstr(out.ir, "b0.at2.line7:") != NULL && strstr(out.ir, "exit.0.check.at4.line8:") != NULL);
        CHECK(strstr(out.ir, "%mul.1 = ") != NULL && strstr(out.ir, "line 8") != NULL);
        CHECK(strstr(out.ir_opt, "jy_kernel_0") != NULL && strstr(out.asm_text, "jy_kernel_0:") != NULL);
        jy_backend_entry()->release(&out);
    }
    jy_arena_free(arena);
}

/* Calls have room for a number of arguments that no program reaches, as the front end has less. */
TEST(emit_flow, refuses_calls_with_too_many_arguments)
{
    struct jy_text text = { 0 };
    struct jy_arena *arena = jy_arena_new();
    struct flow_code c;
    jy_text_add(
        &text,
        "flow f :\n  input 0 : i64 number 0 int64\n  block 0 () :\n    %%0 = input[0] : i64\n    %%1 = invoke[0] ");
    for (int k = 0; k < 65; k++)
        jy_text_add(&text, "%s%%0", k == 0 ? "" : ", ");
    jy_text_add(&text,
                " exit 0 : i64\n    exit 1\n  exit 0 call at 1 (%%0)\n  exit 1 stop at 2 (%%1)\nfunction g of 0 (");
    for (int k = 0; k < 65; k++)
        jy_text_add(&text, "%si64", k == 0 ? "" : ", ");
    jy_text_add(&text,
                ") gives i64 frames 1 :\n  input 0 : i64 arg 64\n  block 0 () :\n    %%0 = input[0] : i64\n    exit 0\n"
                "  exit 0 return at 1 (%%0)\n");
    struct jy_flow *w = parse_flow(arena, text.at);
    if (w != NULL) {
        CHECK(!flow_load(&c, w, LEVEL_HOST));
        CHECK_STR(c.why, "trial: a call in a loop has too many arguments");
        flow_unload(&c);
    }
    jy_text_free(&text);
    jy_arena_free(arena);
}
