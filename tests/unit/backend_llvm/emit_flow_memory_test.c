/* Loads and stores of every type, helpers of every signature, polls. */
#include "tests/unit/backend_llvm/flow_harness.h"
#include <math.h>

struct record {
    int8_t a;
    uint8_t flag;
    int16_t b;
    int32_t c;
    int64_t d;
    float e;
    int32_t gap;
    double f;
    char *g;
};

static struct record record;

static void
check_memory(int32_t exit, const struct jy_flow_call *call)
{
    const union jy_scalar *out = call->out;
    CHECK_INT(exit, 0);
    CHECK_INT(out[0].i, -3);
    CHECK_INT(out[1].i, 1);
    CHECK_INT(out[2].i, 65536 - 300);
    CHECK_INT(out[3].i, -70000);
    CHECK_INT(out[4].i, INT64_MIN);
    CHECK(out[5].f == 0.5f && isnan(out[6].d));
    CHECK_UINT(out[7].bits, (uintptr_t)&record);
    CHECK(record.a == 1 && record.flag == 1 && record.b == -259 && record.c == -70000 && record.d == INT64_MIN + 1);
    record.a = -3, record.flag = 1, record.b = -300, record.d = INT64_MIN;
}

TEST(emit_flow_memory, memory)
{
    const char *text = "flow f :\n"
                       "  input 0 : ptr object 0\n"
                       "  input 1 : i64 number 1 int64\n"
                       "  alias 1 : input 0 written\n"
                       "  alias 2 : input 1\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : ptr\n"
                       "    %1 = input[1] : i64\n"
                       "    %2 = load[-4] %0, %1 alias 1 : i8\n"
                       "    %3 = sext %2 : i64\n"
                       "    %4 = load[-3] %0, %1 : i1\n"
                       "    %5 = load[-2] %0, %1 alias 1 : i16\n"
                       "    %6 = zext %5 : i64\n"
                       "    %7 = load[0] %0, %1 alias 1 : i32\n"
                       "    %8 = load[4] %0, %1 alias 1 : i64\n"
                       "    %9 = offset %0, %1 : ptr\n"
                       "    %10 = const[0] : i64\n"
                       "    %11 = load[12] %9, %10 alias 1 : f32\n"
                       "    %12 = load[20] %9, %10 alias 1 : f64\n"
                       "    %13 = load[28] %9, %10 : ptr\n"
                       "    %14 = const[1] : i64\n"
                       "    %15 = add %8, %14 : i64\n"
                       "    store[-4] %0, %1, %4 alias 1\n"
                       "    store[-2] %0, %1, %2 alias 1\n"
                       "    store[4] %0, %1, %15 alias 1\n"
                       "    exit 0\n"
                       "  exit 0 stop at 0 (%3, %4, %6, %7, %8, %11, %12, %13)\n";
    union jy_scalar in[] = { { .bits = (uintptr_t)&record }, { .i = 4 } }, out[8];
    struct jy_flow_call call = { .in = in, .out = out };
    record = (struct record){ -3, 1, -300, -70000, INT64_MIN, 0.5f, 0, NAN, (char *)&record };
    flow_run_text(text, &call, check_memory);
}

static void
check_truth(int32_t exit, const struct jy_flow_call *call)
{
    CHECK_INT(exit, 0);
    CHECK_INT(call->out[0].i, call->in[1].bits != 0);
    CHECK_INT(call->out[1].i, *(const uint8_t *)(uintptr_t)call->in[0].bits != 0);
    CHECK_INT(call->out[2].i, 1);
}

/* NumPy takes any byte but 0 as true, also one whose lowest bit is 0; what is stored is 0 or 1. */
TEST(emit_flow_memory, bytes_that_are_not_zero_are_true)
{
    const char *text = "flow f :\n"
                       "  input 0 : ptr object 0\n"
                       "  input 1 : i1 number 1 bool\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : ptr\n"
                       "    %1 = input[1] : i1\n"
                       "    %2 = const[0] : i64\n"
                       "    %3 = load[0] %0, %2 : i1\n"
                       "    %4 = const[True] : i1\n"
                       "    store[1] %0, %2, %4\n"
                       "    %6 = load[1] %0, %2 : i8\n"
                       "    %7 = sext %6 : i64\n"
                       "    exit 0\n"
                       "  exit 0 stop at 1 (%1, %3, %7)\n";
    static const uint8_t bytes[] = { 0, 1, 2, 0x80, 0xfe };
    for (size_t k = 0; k < sizeof bytes; k++) {
        uint8_t memory[2] = { bytes[k], 0x55 };
        union jy_scalar in[] = { { .bits = (uintptr_t)memory }, { .bits = bytes[k] } }, out[3];
        if (bytes[k] > 1)
            in[1].i = 1; /* slots have 0 or 1 */
        flow_run_text(text, &(struct jy_flow_call){ .in = in, .out = out }, check_truth);
    }
}

static void
check_scratch(int32_t exit, const struct jy_flow_call *call)
{
    CHECK_INT(exit, 0);
    CHECK_INT(call->out[0].i, call->in[0].i);
    CHECK_INT(call->out[1].i, (int32_t)call->in[0].i);
}

/* All of a run's scratch is one piece of memory, as long as promised. */
TEST(emit_flow_memory, scratch_is_one_piece)
{
    struct jy_text text = { 0 };
    jy_text_add(&text,
                "flow f :\n"
                "  input 0 : i64 number 0 int64\n"
                "  block 0 () :\n"
                "    %%0 = input[0] : i64\n"
                "    %%1 = scratch : ptr\n"
                "    %%2 = const[0] : i64\n"
                "    store[0] %%1, %%2, %%0\n"
                "    %%4 = const[%d] : i64\n"
                "    store[0] %%1, %%4, %%0\n"
                "    %%6 = scratch : ptr\n"
                "    %%7 = load[0] %%6, %%2 : i64\n"
                "    %%8 = load[0] %%6, %%4 : i32\n"
                "    exit 0\n"
                "  exit 0 stop at 1 (%%7, %%8)\n",
                JY_SCRATCH_BYTES - 8);
    for (int64_t k = -3; k < 1000; k += 501) {
        union jy_scalar in[] = { int_of(k) }, out[2];
        flow_run_text(text.at, &(struct jy_flow_call){ .in = in, .out = out }, check_scratch);
    }
    jy_text_free(&text);
}

/* Accesses of different numbers are apart, so a load may leave a loop that stores elsewhere; number 0 is apart from nothing. */
TEST(emit_flow_memory, alias_numbers_keep_accesses_apart)
{
#define ALIASES(of_store)                                                                                              \
    "flow f :\n"                                                                                                       \
    "  input 0 : ptr data 0\n"                                                                                         \
    "  input 1 : ptr data 1\n"                                                                                         \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  alias 1 : input 0\n"                                                                                            \
    "  alias 2 : input 1 written\n"                                                                                    \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : ptr\n"                                                                                        \
    "    %1 = input[1] : ptr\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = const[0] : i64\n"                                                                                        \
    "    %4 = load[0] %0, %3 alias 1 : i64\n"                                                                          \
    "    store[0] %1, %2, %4" of_store "\n"                                                                            \
    "    %6 = load[0] %0, %3 alias 1 : i64\n"                                                                          \
    "    exit 0\n"                                                                                                     \
    "  exit 0 stop at 1 (%4, %6)\n"
    char *apart = flow_ir(ALIASES(" alias 2"), true), *together = flow_ir(ALIASES(""), true);
    if (apart != NULL && together != NULL) {
        CHECK(strstr(apart, "%load.4 = load") != NULL && strstr(apart, "%load.6 = load") == NULL);
        CHECK(strstr(together, "%load.4 = load") != NULL && strstr(together, "%load.6 = load") != NULL);
    }
    free(apart);
    free(together);
}

static int64_t
help_all(struct jy_flow_call *call, int64_t i, double d, bool b, void *p, float f, int32_t *failed)
{
    *failed = i == 3;
    return i + (int64_t)d + b + (p == call->owner) * 100 + (int64_t)(f * 2);
}

static bool
help_is_odd(int64_t i)
{
    return i % 2 != 0;
}

static float
help_half(float f)
{
    return f / 2;
}

static void
help_touch(void *p)
{
    ++*(int32_t *)p;
}

static int32_t touched;

static void
check_helpers(int32_t exit, const struct jy_flow_call *call)
{
    if (call->in[0].i == 3) {
        CHECK_INT(exit, 0);
        CHECK_INT(call->out[0].i, 3);
        CHECK_INT(touched, 0);
        return;
    }
    CHECK_INT(exit, 1);
    CHECK_INT(call->out[0].i, call->in[0].i + 2 + call->in[0].i % 2 + 100 + 3);
    CHECK_INT(call->out[1].i, call->in[0].i % 2);
    CHECK_F32BITS(call->out[2].f, 0.75f);
    CHECK_INT(call->out[3].i, 2);
    touched = 0;
}

TEST(emit_flow_memory, helpers)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  input 1 : f32 number 1 float32\n"
                       "  input 2 : ptr object 2\n"
                       "  helper 0 all (call, i64, f64, i1, ptr, f32) : i64 fails\n"
                       "  helper 1 is_odd (i64) : i1 pure\n"
                       "  helper 2 half (f32) : f32 pure\n"
                       "  helper 3 touch (ptr) : none\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = input[1] : f32\n"
                       "    %2 = input[2] : ptr\n"
                       "    %3 = const[2.5] : f64\n"
                       "    %4 = const[0] : i64\n"
                       "    %5 = call[1] %0 : i1\n"
                       "    %6 = call[0] %0, %3, %5, %2, %1 exit 0 : i64\n"
                       "    %7 = call[2] %1 : f32\n"
                       "    call[3] %2\n"
                       "    call[3] %2\n"
                       "    %8 = load[0] %2, %4 : i32\n"
                       "    exit 1\n"
                       "  exit 0 check at 1 (%0)\n"
                       "  exit 1 stop at 2 (%6, %5, %7, %8)\n";
    void *const helper[] = { (void *)help_all, (void *)help_is_odd, (void *)help_half, (void *)help_touch };
    for (int64_t k = 2; k < 5; k++) {
        union jy_scalar in[] = { { .i = k }, { .f = 1.5f }, { .bits = (uintptr_t)&touched } }, out[4];
        struct jy_flow_call call = { .in = in, .out = out, .helper = helper, .owner = &touched };
        touched = 0;
        flow_run_text(text, &call, check_helpers);
    }
}

/* Says that it failed, and never that it did not. */
static int64_t
help_fails_at_three(int64_t i, int32_t *failed)
{
    if (i == 3)
        *failed = 1;
    return i * 2;
}

/* What the next function finds on its stack. */
static void __attribute__((noinline, no_sanitize("address")))
leave_ones_on_the_stack(void)
{
    volatile char room[4096];
    for (size_t k = 0; k < sizeof room; k++)
        room[k] = -1;
}

TEST(emit_flow_memory, helpers_need_not_say_that_they_did_not_fail)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  helper 0 fails_at_three (i64) : i64 fails\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = call[0] %0 exit 0 : i64\n"
                       "    exit 1\n"
                       "  exit 0 check at 1 (%0)\n"
                       "  exit 1 stop at 2 (%1)\n";
    void *const helper[] = { (void *)help_fails_at_three };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        for (int64_t k = 2; k < 5; k++) {
            union jy_scalar in[] = { int_of(k) }, slots[4];
            struct jy_flow_call call = { .in = in, .out = slots, .helper = helper };
            leave_ones_on_the_stack();
            CHECK_INT(c.run(&call), k == 3 ? 0 : 1);
        }
        flow_unload(&c);
    }
    jy_arena_free(arena);
}

static void
check_poll(int32_t exit, const struct jy_flow_call *call)
{
    bool leaves = (*call->watch & call->watch_mask) != 0;
    CHECK_INT(exit, leaves ? 0 : 1);
    CHECK_INT(call->out[0].i, leaves ? 0 : 5);
}

TEST(emit_flow_memory, polls)
{
    const char *text = "flow f :\n"
                       "  block 0 () :\n"
                       "    %0 = const[0] : i64\n"
                       "    %1 = const[1] : i64\n"
                       "    %2 = const[5] : i64\n"
                       "    jump 1 (%0)\n"
                       "  block 1 (%3 : i64) :\n"
                       "    poll exit 0\n"
                       "    %4 = add %3, %1 : i64\n"
                       "    %5 = lt %4, %2 : i1\n"
                       "    branch %5 ? 1 (%4) : 2 ()\n"
                       "  block 2 () :\n"
                       "    exit 1\n"
                       "  exit 0 poll at 1 (%3)\n"
                       "  exit 1 stop at 2 (%4)\n";
    for (uint32_t word = 0; word < 4; word++) {
        union jy_scalar out[1];
        struct jy_flow_call call = { .out = out, .watch = &word, .watch_mask = 2 };
        flow_run_text(text, &call, check_poll);
    }
}
