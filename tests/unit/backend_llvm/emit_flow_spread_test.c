/* SPREAD: the piece as the runtime calls it, with its arguments in memory, for any part of the rounds. */
#include "tests/unit/backend_llvm/flow_harness.h"
#include <stdio.h>

/* for i in range(n): a[i] = a[i] * 3; last = i * 2; total += i, with the piece of the rounds; `f` (0.5) and `b` (true) go along. */
static const char loop[] = "flow f :\n"
                           "  input 0 : i64 number 0 int64\n"
                           "  input 1 : i64 extent 1.0\n"
                           "  input 2 : ptr data 1\n"
                           "  input 3 : f32 number 3 float32\n"
                           "  input 4 : i1 number 4 bool\n"
                           "  alias 1 : input 1 written\n"
                           "  block 0 () :\n"
                           "    %0 = input[0] : i64\n"
                           "    %1 = input[3] : f32\n"
                           "    %2 = input[4] : i1\n"
                           "    %3 = const[0] : i64\n"
                           "    %4 = scratch : ptr\n"
                           "    store[0] %4, %3, %3\n"
                           "    store[8] %4, %3, %3\n"
                           "    %7 = spread[0] %0, %4, %3, %1, %2 : i64\n"
                           "    %8 = load[0] %4, %3 : i64\n"
                           "    %9 = load[8] %4, %3 : i64\n"
                           "    exit 0\n"
                           "  exit 0 stop at 1 (%7, %8, %9)\n"
                           "function f of 0 (i64, i64, ptr, i64, f32, i1) gives none piece (i64 last, i64 sum) :\n"
                           "  input 0 : i64 extent 1.0\n"
                           "  input 1 : ptr data 1\n"
                           "  input 2 : i64 arg 0\n"
                           "  input 3 : i64 arg 1\n"
                           "  input 4 : ptr arg 2\n"
                           "  input 5 : i64 arg 3\n"
                           "  input 6 : f32 arg 4\n"
                           "  input 7 : i1 arg 5\n"
                           "  alias 1 : input 1 written\n"
                           "  alias 2 : interpreter written\n"
                           "  block 0 () :\n"
                           "    %0 = input[0] : i64\n"
                           "    %1 = input[1] : ptr\n"
                           "    %2 = input[2] : i64\n"
                           "    %3 = input[3] : i64\n"
                           "    %4 = input[4] : ptr\n"
                           "    %5 = input[5] : i64\n"
                           "    %6 = input[6] : f32\n"
                           "    %7 = input[7] : i1\n"
                           "    %8 = const[0] : i64\n"
                           "    %9 = const[8] : i64\n"
                           "    %10 = const[3] : i64\n"
                           "    %11 = const[1] : i64\n"
                           "    %12 = const[2] : i64\n"
                           "    %13 = const[True] : i1\n"
                           "    %14 = const[False] : i1\n"
                           "    %15 = const[0.5] : f32\n"
                           "    %16 = eq %6, %15 : i1\n"
                           "    check %16 exit 1\n"
                           "    check %7 exit 1\n"
                           "    %19 = add %5, %2 : i64\n"
                           "    %20 = add %5, %3 : i64\n"
                           "    jump 1 (%19, %8, %8, %14)\n"
                           "  block 1 (%21 : i64, %22 : i64, %23 : i64, %24 : i1) :\n"
                           "    %25 = lt %21, %20 : i1\n"
                           "    branch %25 ? 2 () : 3 ()\n"
                           "  block 2 () :\n"
                           "    %26 = wrap %21, %0 exit 1 : i64\n"
                           "    %27 = mul %26, %9 : i64\n"
                           "    %28 = load[0] %1, %27 alias 1 : i64\n"
                           "    %29 = mul %28, %10 : i64\n"
                           "    store[0] %1, %27, %29 alias 1\n"
                           "    %31 = add %21, %11 : i64\n"
                           "    %32 = mul %21, %12 : i64\n"
                           "    %33 = add %23, %21 exit 1 : i64\n"
                           "    jump 1 (%31, %32, %33, %13)\n"
                           "  block 3 () :\n"
                           "    store[0] %4, %8, %22 alias 2\n"
                           "    store[8] %4, %8, %24 alias 2\n"
                           "    store[16] %4, %8, %23 alias 2\n"
                           "    store[24] %4, %8, %13 alias 2\n"
                           "    exit 0\n"
                           "  exit 0 return at 0 ()\n"
                           "  exit 1 check \"a round that the loop itself does again\" at 0 ()\n";

enum { ROOM = 16 };

struct rounds {
    int64_t parts; /* in which the rounds are done, the last part first */
    bool failed;
};

static void
no_push(struct jy_flow_call *call, uint32_t function, uint32_t exit, const union jy_scalar *out)
{
    (void)call;
    (void)out;
    CHECK_UINT(function, 0);
    CHECK_UINT(exit, 1);
}

/* As the runtime's, one part after the other: values of the last round, sums of all. */
static int64_t
spread(struct jy_flow_call *call, uint32_t function, jy_flow_piece piece, const union jy_scalar *args, int64_t rounds,
       union jy_scalar *last)
{
    struct rounds *r = call->owner;
    int64_t sum = 0;
    CHECK_UINT(function, 0);
    for (int64_t k = r->parts; k-- > 0 && !r->failed;) {
        union jy_scalar own[4];
        memset(own, 0, sizeof own);
        r->failed = piece(call, args, rounds * k / r->parts, rounds * (k + 1) / r->parts, own);
        if (k == r->parts - 1 && !r->failed && (own[1].bits & 0xff) != 0)
            last[0] = own[0];
        sum += own[2].i;
    }
    last[1].i += sum;
    return r->failed ? 0 : rounds;
}

static void
check_parts(const struct flow_code *c, const struct jy_flow *w, int64_t n, int64_t parts, float f, bool b)
{
    int64_t memory[ROOM];
    struct rounds rounds = { .parts = parts };
    union jy_scalar in[7], out[3];
    for (int64_t k = 0; k < ROOM; k++)
        memory[k] = k + 1;
    in[0].i = n, in[1].i = ROOM, in[2].bits = (uintptr_t)memory, in[3] = f32_of(f), in[4].i = b;
    in[5].i = ROOM, in[6].bits = (uintptr_t)memory; /* the piece's */
    static const uint32_t watch = 0;
    struct jy_flow_call call = {
        .in = in, .out = out, .owner = &rounds, .spread = spread, .push = no_push, .watch = &watch
    };
    CHECK_INT(flow_run(c, w, &call), 0);
    bool good = f == 0.5f && b && n <= ROOM;
    CHECK_INT(rounds.failed, !good);
    if (!good)
        return;
    CHECK_INT(out[0].i, n);
    CHECK_INT(out[1].i, n == 0 ? 0 : 2 * (n - 1));
    CHECK_INT(out[2].i, n * (n - 1) / 2);
    for (int64_t k = 0; k < ROOM; k++)
        CHECK_INT(memory[k], (k + 1) * (k < n ? 3 : 1));
}

TEST(emit_flow_spread, rounds_in_any_parts)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, loop);
    for (int level = 0; level < LEVELS && w != NULL; level++) {
        struct flow_code c;
        if (level_runs((enum level)level) && CHECK(flow_load(&c, w, (enum level)level))) {
            for (int64_t n = 0; n <= ROOM; n++)
                for (int64_t parts = 1; parts <= 5; parts += 2)
                    check_parts(&c, w, n, parts, 0.5f, true);
            flow_unload(&c);
        }
    }
    jy_arena_free(arena);
}

/* A round that the piece cannot do: it says so, and the runtime decides. Arguments arrive as what they are. */
TEST(emit_flow_spread, a_piece_that_is_left_says_so)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, loop);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        check_parts(&c, w, ROOM + 1, 2, 0.5f, true);
        check_parts(&c, w, ROOM, 2, 0.25f, true);
        check_parts(&c, w, ROOM, 2, 0.5f, false);
        flow_unload(&c);
    }
    jy_arena_free(arena);
}
