/* What the interpreter does beyond single instructions: control, memory, helpers, exits. */
#include "tests/unit/graph/flow_case.h"
#include <math.h>
#include <string.h>

TEST(flow_eval, goes_round_a_loop)
{
    const char *text = "flow sum :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = const[0] : i64\n"
                       "    jump 1 (%1, %1)\n"
                       "  block 1 (%2 : i64, %3 : i64) :\n"
                       "    %4 = lt %2, %0 : i1\n"
                       "    branch %4 ? 2 () : 3 ()\n"
                       "  block 2 () :\n"
                       "    %5 = add %3, %2 exit 0 : i64\n"
                       "    %6 = const[1] : i64\n"
                       "    %7 = add %2, %6 : i64\n"
                       "    jump 1 (%7, %5)\n"
                       "  block 3 () :\n"
                       "    exit 1\n"
                       "  exit 0 check at 7 (%2, %3)\n"
                       "  exit 1 return at 9 (%3)\n";
    union jy_scalar out[2], in = { .i = 10 };
    CHECK_INT(eval_flow(text, &in, out), 1);
    CHECK_INT(out[0].i, 45);
    in.i = 0;
    CHECK_INT(eval_flow(text, &in, out), 1);
    CHECK_INT(out[0].i, 0);
}

/* fib: the edge exchanges parameters, so they must be read before one of them is written. */
TEST(flow_eval, moves_arguments_at_once)
{
    const char *text = "flow fib :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = const[0] : i64\n"
                       "    %2 = const[1] : i64\n"
                       "    jump 1 (%0, %1, %2)\n"
                       "  block 1 (%3 : i64, %4 : i64, %5 : i64) :\n"
                       "    %6 = eq %3, %1 : i1\n"
                       "    branch %6 ? 3 () : 2 ()\n"
                       "  block 2 () :\n"
                       "    %7 = sub %3, %2 : i64\n"
                       "    jump 1 (%7, %5, %4)\n"
                       "  block 3 () :\n"
                       "    exit 0\n"
                       "  exit 0 stop at 0 (%4, %5)\n";
    for (int64_t n = 0; n < 4; n++) {
        union jy_scalar out[2], in = { .i = n };
        CHECK_INT(eval_flow(text, &in, out), 0);
        CHECK_INT(out[0].i, n % 2);
        CHECK_INT(out[1].i, 1 - n % 2);
    }
}

/* The values of an exit on an instruction are those before it. */
TEST(flow_eval, leaves_with_what_was_before)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  input 1 : f64 number 1 float64\n"
                       "  input 2 : i1 number 2 bool\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = input[1] : f64\n"
                       "    %2 = input[2] : i1\n"
                       "    %3 = const[1] : i64\n"
                       "    jump 1 (%0)\n"
                       "  block 1 (%4 : i64) :\n"
                       "    %5 = add %4, %3 exit 0 : i64\n"
                       "    jump 1 (%5)\n"
                       "  exit 0 check \"int overflow\" at 3 (%2, %1, %4)\n";
    union jy_scalar in[] = { int_of(INT64_MAX - 3), f64_of(-0.0), int_of(1) }, out[3];
    CHECK_INT(eval_flow(text, in, out), 0);
    CHECK_INT(out[0].i, 1);
    CHECK_F64BITS(out[1].d, -0.0);
    CHECK_INT(out[2].i, INT64_MAX);
}

TEST(flow_eval, reads_and_writes_memory_of_every_type)
{
    const char *text = "flow f :\n"
                       "  input 0 : ptr object 0\n"
                       "  input 1 : i64 number 1 int64\n"
                       "  alias 1 : input 0 written\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : ptr\n"
                       "    %1 = input[1] : i64\n"
                       "    %2 = const[0] : i64\n"
                       "    %3 = load[0] %0, %2 : i8\n"
                       "    %4 = sext %3 : i64\n"
                       "    %5 = load[2] %0, %2 : i16\n"
                       "    %6 = zext %5 : i64\n"
                       "    %7 = load[-4] %0, %1 alias 1 : i32\n"
                       "    %8 = load[8] %0, %2 : i64\n"
                       "    %9 = offset %0, %1 : ptr\n"
                       "    %10 = load[8] %9, %2 : f32\n"
                       "    %11 = load[16] %9, %2 : f64\n"
                       "    %12 = load[24] %9, %2 : ptr\n"
                       "    %13 = load[1] %0, %2 : i1\n"
                       "    store[1] %0, %2, %3\n"
                       "    store[2] %0, %2, %13\n"
                       "    store[4] %0, %2, %5\n"
                       "    store[8] %0, %2, %11 alias 1\n"
                       "    store[16] %0, %2, %10 alias 1\n"
                       "    store[20] %0, %2, %7 alias 1\n"
                       "    store[24] %0, %2, %9 alias 1\n"
                       "    exit 0\n"
                       "  exit 0 stop at 0 (%4, %6, %7, %8, %10, %11, %12, %13)\n";
    struct {
        int8_t a;
        uint8_t flag;
        uint16_t b;
        int32_t c;
        int64_t d;
        float e;
        int32_t e2;
        double f;
        void *g;
    } m = { -1, 1, 0xfffe, INT32_MIN, INT64_MIN, 0.5f, 0, -0.25, &m };
    union jy_scalar in[] = { { .bits = (uintptr_t)&m }, int_of(8) }, out[8];
    CHECK_INT(eval_flow(text, in, out), 0);
    CHECK_INT(out[0].i, -1);
    CHECK_INT(out[1].i, 0xfffe);
    CHECK_INT(out[2].i, INT32_MIN);
    CHECK_INT(out[3].i, INT64_MIN);
    CHECK_F32BITS(out[4].f, 0.5f);
    CHECK_F64BITS(out[5].d, -0.25);
    CHECK_PTR((void *)(uintptr_t)out[6].bits, &m);
    CHECK_INT(out[7].i, 1);
    CHECK_INT(m.flag, 0xff);
    CHECK_INT(m.b, 0xff01);
    CHECK_INT(m.c & 0xffff, 0xfffe);
    CHECK_BYTES(&m.d, &(double){ -0.25 }, 8);
    CHECK_F32BITS(m.e, 0.5f);
    CHECK_INT(m.e2, INT32_MIN);
    CHECK_BYTES(&m.f, &(uint64_t){ (uintptr_t)&m + 8 }, 8);
}

static double
weighted(int64_t a, double x, int64_t b, double y, bool c, const void *p)
{
    return (double)a * x + (double)b * y + (c ? 1000.0 : 0.0) + (p != NULL ? 0.5 : 0.0);
}

static int64_t
six(struct jy_flow_call *call, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int32_t *failed)
{
    *failed = f < 0;
    return *failed ? 0 : ((int64_t *)call->owner)[0] + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

static bool
is_odd(int64_t a)
{
    return (a & 1) != 0;
}

static float
half(float x)
{
    return x / 2;
}

static int32_t
low(int64_t a)
{
    return (int32_t)a;
}

static void *
itself(void *p)
{
    return p;
}

static void
increase(int64_t *p, double by)
{
    *p += (int64_t)by;
}

TEST(flow_eval, calls_helpers_of_every_signature)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  input 1 : f64 number 1 float64\n"
                       "  input 2 : ptr object 2\n"
                       "  input 3 : f32 number 3 float32\n"
                       "  helper 0 weighted (i64, f64, i64, f64, i1, ptr) : f64 pure\n"
                       "  helper 1 six (call, i64, i64, i64, i64, i64, i64) : i64 fails\n"
                       "  helper 2 is_odd (i64) : i1\n"
                       "  helper 3 half (f32) : f32\n"
                       "  helper 4 low (i64) : i32\n"
                       "  helper 5 itself (ptr) : ptr\n"
                       "  helper 6 increase (ptr, f64) : none\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = input[1] : f64\n"
                       "    %2 = input[2] : ptr\n"
                       "    %3 = input[3] : f32\n"
                       "    %4 = const[7] : i64\n"
                       "    %5 = const[0.25] : f64\n"
                       "    %6 = call[2] %0 : i1\n"
                       "    %7 = call[0] %0, %1, %4, %5, %6, %2 : f64\n"
                       "    %8 = call[3] %3 : f32\n"
                       "    %9 = call[4] %0 : i32\n"
                       "    %10 = call[5] %2 : ptr\n"
                       "    call[6] %10, %1\n"
                       "    %11 = call[1] %4, %4, %4, %4, %4, %0 exit 0 : i64\n"
                       "    exit 1\n"
                       "  exit 0 check at 0 (%7, %6, %8, %9)\n"
                       "  exit 1 stop at 0 (%7, %6, %8, %9, %11)\n";
    int64_t owned[1] = { 1000000 }, counter = 0;
    void *helpers[] = { (void *)weighted, (void *)six,    (void *)is_odd,  (void *)half,
                        (void *)low,      (void *)itself, (void *)increase };
    union jy_scalar in[] = { int_of((INT64_C(1) << 32) + 3),
                             f64_of(2.0),
                             { .bits = (uintptr_t)&counter },
                             f32_of(3.0f) },
                    out[5];
    struct jy_flow_call call = { .in = in, .out = out, .helper = helpers, .owner = owned };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    if (w != NULL) {
        CHECK_INT(jy_flow_eval(w, &call), 1);
        CHECK_F64BITS(out[0].d, 2.0 * 4294967299.0 + 1.75 + 1000.5);
        CHECK_INT(out[1].i, 1);
        CHECK_F32BITS(out[2].f, 1.5f);
        CHECK_INT(out[3].i, 3);
        CHECK_INT(out[4].i, 1000000 + 15 * 7 + 6 * ((INT64_C(1) << 32) + 3));
        CHECK_INT(counter, 2);
        in[0].i = -2;
        CHECK_INT(jy_flow_eval(w, &call), 0);
        CHECK_INT(out[1].i, 0);
        CHECK_INT(out[3].i, -2);
        CHECK_INT(counter, 4);
    }
    jy_arena_free(arena);
}

TEST(flow_eval, polls_what_the_mask_shows)
{
    const char *text = "flow f :\n"
                       "  block 0 () :\n"
                       "    poll exit 0\n"
                       "    exit 1\n"
                       "  exit 0 poll at 0 ()\n"
                       "  exit 1 stop at 0 ()\n";
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    uint32_t watch = 0xff00;
    struct jy_flow_call call = { .watch = &watch, .watch_mask = 0x00ff };
    if (w != NULL) {
        CHECK_INT(jy_flow_eval(w, &call), 1);
        watch |= 0x10;
        CHECK_INT(jy_flow_eval(w, &call), 0);
    }
    jy_arena_free(arena);
}
