/* Which functions LLVM puts into their callers, and that they give and are left as the interpreter says. */
#include "tests/unit/backend_llvm/flow_harness.h"
#include <stdio.h>

/* f(a) = g(a), `body` being what g does. */
static void
make_text(char *out, size_t size, const char *body)
{
    snprintf(out, size,
             "flow f :\n"
             "  input 0 : i64 number 0 int64\n"
             "  block 0 () :\n"
             "    %%0 = input[0] : i64\n"
             "    %%1 = invoke[0] %%0 exit 0 : i64\n"
             "    exit 1\n"
             "  exit 0 call at 1 (%%0)\n"
             "  exit 1 stop at 2 (%%1)\n"
             "function g of 0 (i64) gives i64 frames 1 :\n"
             "  input 0 : i64 arg 0\n"
             "  block 0 () :\n"
             "    %%0 = input[0] : i64\n"
             "%s",
             body);
}

static const char straight[] = "    %1 = mul %0, %0 exit 0 : i64\n"
                               "    exit 1\n"
                               "  exit 0 check at 3 (%0)\n"
                               "  exit 1 return at 4 (%1)\n";

static const char looping[] = "    %1 = const[1] : i64\n"
                              "    jump 1 (%0)\n"
                              "  block 1 (%2 : i64) :\n"
                              "    %3 = gt %2, %1 : i1\n"
                              "    branch %3 ? 2 () : 3 ()\n"
                              "  block 2 () :\n"
                              "    %4 = sub %2, %1 : i64\n"
                              "    jump 1 (%4)\n"
                              "  block 3 () :\n"
                              "    exit 0\n"
                              "  exit 0 return at 4 (%2)\n";

static bool
is_put(const char *body)
{
    char text[1200];
    make_text(text, sizeof text, body);
    char *ir = flow_ir(text, true);
    bool put = CHECK(ir != NULL) && strstr(ir, "@function") == NULL;
    free(ir);
    return put;
}

TEST(emit_flow_put, straight_functions_that_are_called_once)
{
    CHECK(is_put(straight));
    CHECK(!is_put(looping));
}

static void
push(struct jy_flow_call *call, uint32_t function, uint32_t exit, const union jy_scalar *out)
{
    uint32_t *seen = call->owner;
    (void)function;
    (void)out;
    *seen = exit + 1;
}

/* The part leaves at its own exit, and its caller behind it. Frames are counted. */
TEST(emit_flow_put, are_left_like_others)
{
    static const uint32_t quiet = 0;
    static const int64_t values[] = { 0, -7, INT64_C(3037000499), INT64_C(3037000500), INT64_MIN };
    char text[1200];
    struct jy_arena *arena = jy_arena_new();
    struct flow_code c;
    make_text(text, sizeof text, straight);
    struct jy_flow *w = parse_flow(arena, text);
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        for (size_t k = 0; k < 10; k++) {
            union jy_scalar in = { .i = values[k / 2] }, a = { 0 }, b = { 0 };
            uint32_t slow = 0, fast = 0;
            struct jy_flow_call call = {
                .in = &in, .out = &a, .watch = &quiet, .watch_mask = 1, .left = (int64_t)(k % 2), .push = push
            };
            call.owner = &slow;
            int32_t exit = jy_flow_eval(w, &call);
            call.out = &b;
            call.owner = &fast;
            CHECK_INT(flow_run(&c, w, &call), exit);
            CHECK_UINT(fast, slow);
            CHECK_INT(b.i, a.i);
        }
        flow_unload(&c);
    }
    jy_arena_free(arena);
}
