/* Fast copies of loops: which checks they go without, as text, and that with any bounds, steps and places of the first failure the flow ends as it did before. */
#include "graph/flow_range.h"
#include "tests/unit/graph/flow_case.h"
#include <math.h>
#include <string.h>

enum { ROOM = 64, MAX_OUT = 8 };

struct outcome {
    uint32_t offset;
    union jy_scalar out[MAX_OUT];
    int64_t memory[ROOM];
};

/* Exits are known by their places in the bytecode: the pass gives new numbers to them, and to inputs. */
static struct outcome
run(const struct jy_flow *w, const union jy_scalar *numbers, const int64_t *memory)
{
    static int64_t room[ROOM];
    static const uint32_t watch = 0;
    union jy_scalar in[8];
    struct outcome o;
    memset(&o, 0, sizeof o);
    memcpy(room, memory, sizeof room);
    for (size_t k = 0; k < w->w_inputs.n; k++) {
        in[k] = numbers[w->w_inputs.at[k].number];
        if (w->w_inputs.at[k].type == JY_F_PTR)
            in[k].bits = (uintptr_t)room;
    }
    int32_t exit = jy_flow_eval(w, &(struct jy_flow_call){ .in = in, .out = o.out, .watch = &watch });
    o.offset = w->w_exits.at[exit].x_offset;
    memcpy(o.memory, room, sizeof room);
    return o;
}

static struct jy_flow *
hoisted(struct jy_arena *arena, const char *source)
{
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL) {
        jy_flow_simplify(w);
        jy_flow_hoist(w);
        CHECK_PTR(jy_flow_verify(w), NULL);
    }
    return w;
}

/* How many instructions have an exit in fast copies: blocks between the first branch that is marked as likely and the careful loop are not told apart here, so all are counted. */
static size_t
count(const struct jy_flow *w, enum jy_fop op)
{
    size_t n = 0;
    for (jy_fb b = 0; b < w->w_blocks.n; b++)
        for (size_t k = 0; k < w->w_blocks.at[b].f_body.n; k++)
            n += jy_flow_at(w, w->w_blocks.at[b].f_body.at[k])->f_op == op;
    return n;
}

static void
check_all_alike(const char *source, const int64_t *values, size_t nvalues, size_t nnumbers)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *before = parse_flow(arena, source), *after = hoisted(arena, source);
    size_t total = 1, at[4] = { 0 };
    int64_t memory[ROOM];
    for (size_t k = 0; k < ROOM; k++)
        memory[k] = (int64_t)(k * k) % 23 - 7;
    for (size_t k = 0; k < nnumbers; k++)
        total *= nvalues;
    for (size_t k = 0; before != NULL && k < total; k++) {
        union jy_scalar numbers[4];
        for (size_t i = 0; i < nnumbers; i++)
            numbers[i].i = values[at[i]];
        struct outcome x = run(before, numbers, memory), y = run(after, numbers, memory);
        if (!CHECK(memcmp(&x, &y, sizeof x) == 0))
            printf("with %lld %lld %lld: at %u and at %u\n", (long long)numbers[0].i, (long long)numbers[1].i,
                   (long long)(nnumbers > 2 ? numbers[2].i : 0), x.offset, y.offset);
        for (size_t i = 0; i < nnumbers && ++at[i] == nvalues; i++)
            at[i] = 0;
    }
    jy_arena_free(arena);
}

/* for i in range(start, stop, step): s += a[i + shift] */
#define SUM_OF_ITEMS(step, test, shift)                                                                                \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  input 3 : ptr data 3\n"                                                                                         \
    "  alias 1 : input 3\n"                                                                                            \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = input[3] : ptr\n"                                                                                        \
    "    %4 = const[0] : i64\n"                                                                                        \
    "    jump 1 (%0, %4)\n"                                                                                            \
    "  block 1 (%5 : i64, %6 : i64) :\n"                                                                               \
    "    %7 = " test " %5, %1 : i1\n"                                                                                  \
    "    branch %7 ? 2 () : 3 ()\n"                                                                                    \
    "  block 2 () :\n"                                                                                                 \
    "    %8 = const[" step "] : i64\n"                                                                                 \
    "    %9 = add %5, %8 : i64\n"                                                                                      \
    "    %10 = const[" shift "] : i64\n"                                                                               \
    "    %11 = add %5, %10 exit 0 : i64\n"                                                                             \
    "    %12 = wrap %11, %2 exit 1 : i64\n"                                                                            \
    "    %13 = const[8] : i64\n"                                                                                       \
    "    %14 = mul %12, %13 : i64\n"                                                                                   \
    "    %15 = load[0] %3, %14 alias 1 : i64\n"                                                                        \
    "    %16 = add %6, %15 exit 2 : i64\n"                                                                             \
    "    poll exit 3\n"                                                                                                \
    "    jump 1 (%9, %16)\n"                                                                                           \
    "  block 3 () :\n"                                                                                                 \
    "    exit 4\n"                                                                                                     \
    "  exit 0 check at 1 (%5, %6)\n"                                                                                   \
    "  exit 1 check at 2 (%5, %6, %11)\n"                                                                              \
    "  exit 2 check at 3 (%5, %6, %15)\n"                                                                              \
    "  exit 3 poll at 4 (%9, %16, %5)\n"                                                                               \
    "  exit 4 return at 5 (%5, %6)\n"

TEST(flow_hoist, indices_of_all_kinds)
{
    /* extents up to the room only; starts and stops also where nothing of it fits */
    static const int64_t values[] = { 0, 1, 7, 8, 40, -1, -3, -8, -9 };
    check_all_alike(SUM_OF_ITEMS("1", "lt", "0"), values, 9, 3);
    check_all_alike(SUM_OF_ITEMS("1", "le", "1"), values, 9, 3);
    check_all_alike(SUM_OF_ITEMS("3", "lt", "-1"), values, 9, 3);
    check_all_alike(SUM_OF_ITEMS("-1", "gt", "0"), values, 9, 3);
    check_all_alike(SUM_OF_ITEMS("-2", "ge", "2"), values, 9, 3);
}

TEST(flow_hoist, the_fast_copy_of_a_sum_of_items)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, SUM_OF_ITEMS("1", "lt", "1"));
    CHECK_UINT(count(w, JY_FLOW_WRAP), 1); /* the careful one */
    CHECK_UINT(count(w, JY_FLOW_POLL), 2); /* its own, and the one between chunks */
    jy_arena_free(arena);
}

/* for i in range(start, stop): s += i * k; bounds at the ends of the numbers */
#define SUM_OF_PRODUCTS                                                                                                \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = const[50] : i64\n"                                                                                       \
    "    %4 = add %0, %3 : i64\n"                                                                                      \
    "    %5 = min %1, %4 : i64\n"                                                                                      \
    "    jump 1 (%0, %1)\n"                                                                                            \
    "  block 1 (%6 : i64, %7 : i64) :\n"                                                                               \
    "    %8 = lt %6, %5 : i1\n"                                                                                        \
    "    branch %8 ? 2 () : 3 ()\n"                                                                                    \
    "  block 2 () :\n"                                                                                                 \
    "    %9 = const[1] : i64\n"                                                                                        \
    "    %10 = add %6, %9 : i64\n"                                                                                     \
    "    %11 = mul %6, %2 exit 0 : i64\n"                                                                              \
    "    %12 = add %7, %11 exit 1 : i64\n"                                                                             \
    "    %13 = floormod %12, %2 exit 2 : i64\n"                                                                        \
    "    jump 1 (%10, %12)\n"                                                                                          \
    "  block 3 () :\n"                                                                                                 \
    "    exit 3\n"                                                                                                     \
    "  exit 0 check at 1 (%6, %7)\n"                                                                                   \
    "  exit 1 check at 2 (%6, %7, %11)\n"                                                                              \
    "  exit 2 check at 3 (%6, %7, %12)\n"                                                                              \
    "  exit 3 return at 4 (%6, %7)\n"

TEST(flow_hoist, overflow_somewhere)
{
    static const int64_t values[] = { 0,
                                      1,
                                      -5,
                                      30,
                                      INT64_MAX,
                                      INT64_MIN,
                                      INT64_MAX - 3,
                                      INT64_MIN + 20,
                                      INT64_C(1) << 45,
                                      -(INT64_C(1) << 45),
                                      (INT64_C(1) << 31) + 1,
                                      INT64_MAX / 40 };
    check_all_alike(SUM_OF_PRODUCTS, values, 12, 3);
}

/* for i in range(n): s = s + i; asked to leave between chunks, at the way back: a state that the interpreter can go on from */
TEST(flow_hoist, the_poll_says_where_it_stands)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, "flow f :\n"
                                       "  input 0 : i64 number 0 int64\n"
                                       "  block 0 () :\n"
                                       "    %0 = input[0] : i64\n"
                                       "    %1 = const[0] : i64\n"
                                       "    jump 1 (%1, %1)\n"
                                       "  block 1 (%2 : i64, %3 : i64) :\n"
                                       "    %4 = lt %2, %0 : i1\n"
                                       "    branch %4 ? 2 () : 3 ()\n"
                                       "  block 2 () :\n"
                                       "    %5 = const[2] : i64\n"
                                       "    %6 = add %2, %5 : i64\n"
                                       "    %7 = add %3, %2 exit 0 : i64\n"
                                       "    %8 = mul %2, %2 exit 0 : i64\n"
                                       "    poll exit 1\n"
                                       "    jump 1 (%6, %7)\n"
                                       "  block 3 () :\n"
                                       "    exit 2\n"
                                       "  exit 0 check at 1 (%2)\n"
                                       "  exit 1 poll at 2 (%6, %7, %2, %8)\n"
                                       "  exit 2 return at 3 (%3)\n");
    const uint32_t watch = 4;
    union jy_scalar in = { .i = 1000000 }, out[4];
    struct jy_flow_call call = { .in = &in, .out = out, .watch = &watch, .watch_mask = 4 };
    int32_t exit = jy_flow_eval(w, &call);
    CHECK_UINT(w->w_exits.at[exit].x_offset, 2);
    int64_t n = out[0].i / 2;
    CHECK_INT(n, JY_CHUNK);
    CHECK_INT(out[1].i, n * (n - 1));
    CHECK_INT(out[2].i, out[0].i - 2);
    CHECK_INT(out[3].i, out[2].i * out[2].i);
    in.i = 2 * JY_CHUNK; /* nothing is left when it could be asked */
    exit = jy_flow_eval(w, &call);
    CHECK_UINT(w->w_exits.at[exit].x_offset, 3);
    jy_arena_free(arena);
}

/* for i in range(n): s = s * x, each product checked by FLAGGED: the fast copy has no check, and the careful one says at which round it was. */
TEST(flow_hoist, evidence_of_floats)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, "flow f flags :\n"
                                       "  input 0 : i64 number 0 int64\n"
                                       "  input 1 : f64 number 1 float64\n"
                                       "  block 0 () :\n"
                                       "    %0 = input[0] : i64\n"
                                       "    %1 = input[1] : f64\n"
                                       "    %2 = const[0] : i64\n"
                                       "    jump 1 (%2, %1)\n"
                                       "  block 1 (%3 : i64, %4 : f64) :\n"
                                       "    %5 = lt %3, %0 : i1\n"
                                       "    branch %5 ? 2 () : 3 ()\n"
                                       "  block 2 () :\n"
                                       "    %6 = const[1] : i64\n"
                                       "    %7 = add %3, %6 : i64\n"
                                       "    %8 = mul %4, %1 : f64\n"
                                       "    flagged %8, %4, %1 exit 0\n"
                                       "    jump 1 (%7, %8)\n"
                                       "  block 3 () :\n"
                                       "    exit 1\n"
                                       "  exit 0 check at 1 (%3, %4)\n"
                                       "  exit 1 return at 2 (%4)\n");
    union jy_scalar in[2] = { { .i = 40 }, { .d = 2.0 } }, out[2];
    struct jy_flow_call call = { .in = in, .out = out };
    CHECK_UINT(count(w, JY_FLOW_FLAGGED), 1);
    CHECK_UINT(count(w, JY_FLOW_BITS), 0); /* the product itself tells */
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 2);
    CHECK(out[0].d == 0x1p41);
    in[0].i = 2000;
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 1);
    CHECK_INT(out[0].i, 1022);
    CHECK(out[1].d == 0x1p1023);
    in[1].d = (double)INFINITY; /* infinite all the time, without a warning */
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 2);
    jy_arena_free(arena);
}

/* for i in range(start, stop, step): a[i + 16] = a[i] + x; if a[i] > 9: a[i] = a[i] - y: what the chunk with the overflow has stored is put back, also what it has read again, and
 * what was stored on some ways only. The extent is the room's. */
#define STORES_THAT_ARE_UNDONE(step, test)                                                                             \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  input 3 : ptr data 3\n"                                                                                         \
    "  alias 1 : input 3 written\n"                                                                                    \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = input[3] : ptr\n"                                                                                        \
    "    %4 = const[64] : i64\n"                                                                                       \
    "    %5 = const[16] : i64\n"                                                                                       \
    "    %6 = const[8] : i64\n"                                                                                        \
    "    %7 = const[" step "] : i64\n"                                                                                 \
    "    %8 = const[9] : i64\n"                                                                                        \
    "    jump 1 (%0)\n"                                                                                                \
    "  block 1 (%9 : i64) :\n"                                                                                         \
    "    %10 = " test " %9, %1 : i1\n"                                                                                 \
    "    branch %10 ? 2 () : 5 ()\n"                                                                                   \
    "  block 2 () :\n"                                                                                                 \
    "    %11 = add %9, %7 : i64\n"                                                                                     \
    "    %12 = wrap %9, %4 exit 0 : i64\n"                                                                             \
    "    %13 = mul %12, %6 : i64\n"                                                                                    \
    "    %14 = load[0] %3, %13 alias 1 : i64\n"                                                                        \
    "    %15 = add %14, %2 exit 1 : i64\n"                                                                             \
    "    %16 = add %9, %5 exit 2 : i64\n"                                                                              \
    "    %17 = wrap %16, %4 exit 3 : i64\n"                                                                            \
    "    %18 = mul %17, %6 : i64\n"                                                                                    \
    "    store[0] %3, %18, %15 alias 1\n"                                                                              \
    "    %20 = gt %14, %8 : i1\n"                                                                                      \
    "    branch %20 ? 3 () : 4 ()\n"                                                                                   \
    "  block 3 () :\n"                                                                                                 \
    "    %21 = sub %14, %2 exit 4 : i64\n"                                                                             \
    "    store[0] %3, %13, %21 alias 1\n"                                                                              \
    "    jump 4 ()\n"                                                                                                  \
    "  block 4 () :\n"                                                                                                 \
    "    jump 1 (%11)\n"                                                                                               \
    "  block 5 () :\n"                                                                                                 \
    "    exit 5\n"                                                                                                     \
    "  exit 0 check at 1 (%9)\n"                                                                                       \
    "  exit 1 check at 2 (%9, %14)\n"                                                                                  \
    "  exit 2 check at 3 (%9)\n"                                                                                       \
    "  exit 3 check at 4 (%9, %16)\n"                                                                                  \
    "  exit 4 check at 5 (%9, %14)\n"                                                                                  \
    "  exit 5 return at 6 (%9)\n"

TEST(flow_hoist, what_was_stored_is_undone_where_there_is_evidence)
{
    static const int64_t values[] = {
        0, 1, 9, 40, 62, 63, 64, -1, -8, INT64_MAX, INT64_MAX - 9, INT64_MAX / 8, -60, INT64_MIN + 3
    };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, STORES_THAT_ARE_UNDONE("1", "lt"));
    CHECK_UINT(count(w, JY_FLOW_SCRATCH), 1);
    CHECK_UINT(count(w, JY_FLOW_STORE), 2 + 2 + 2 + 2); /* careful, fast, noted, undone */
    jy_arena_free(arena);
    check_all_alike(STORES_THAT_ARE_UNDONE("1", "lt"), values, 14, 3);
    check_all_alike(STORES_THAT_ARE_UNDONE("-1", "gt"), values, 14, 3);
}

/* for i in range(start, stop): a[i + 1] = a[i] + x: each round gets what the one before has stored, and reads it from memory where the chunk begins only. A check costs less than evidence would. */
#define HANDED_ON(test, step, ahead)                                                                                   \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  input 3 : ptr data 3\n"                                                                                         \
    "  alias 1 : input 3 written\n"                                                                                    \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = input[3] : ptr\n"                                                                                        \
    "    %4 = const[64] : i64\n"                                                                                       \
    "    %5 = const[" ahead "] : i64\n"                                                                                \
    "    %6 = const[8] : i64\n"                                                                                        \
    "    %7 = const[" step "] : i64\n"                                                                                 \
    "    jump 1 (%0)\n"                                                                                                \
    "  block 1 (%9 : i64) :\n"                                                                                         \
    "    %10 = " test " %9, %1 : i1\n"                                                                                 \
    "    branch %10 ? 2 () : 3 ()\n"                                                                                   \
    "  block 2 () :\n"                                                                                                 \
    "    %11 = add %9, %7 : i64\n"                                                                                     \
    "    %12 = wrap %9, %4 exit 0 : i64\n"                                                                             \
    "    %13 = mul %12, %6 : i64\n"                                                                                    \
    "    %14 = load[0] %3, %13 alias 1 : i64\n"                                                                        \
    "    %15 = add %14, %2 exit 1 : i64\n"                                                                             \
    "    %16 = add %9, %5 exit 2 : i64\n"                                                                              \
    "    %17 = wrap %16, %4 exit 3 : i64\n"                                                                            \
    "    %18 = mul %17, %6 : i64\n"                                                                                    \
    "    store[0] %3, %18, %15 alias 1\n"                                                                              \
    "    jump 1 (%11)\n"                                                                                               \
    "  block 3 () :\n"                                                                                                 \
    "    exit 4\n"                                                                                                     \
    "  exit 0 check at 1 (%9)\n"                                                                                       \
    "  exit 1 check at 2 (%9, %14)\n"                                                                                  \
    "  exit 2 check at 3 (%9)\n"                                                                                       \
    "  exit 3 check at 4 (%9, %16)\n"                                                                                  \
    "  exit 4 return at 5 (%9)\n"

TEST(flow_hoist, what_the_round_before_has_stored_is_handed_on)
{
    static const int64_t values[] = { 0, 1, 2, 40, 62, 63, 64, -1, -8, INT64_MAX, INT64_MAX / 8, INT64_MIN + 3 };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, HANDED_ON("lt", "1", "1"));
    CHECK_UINT(count(w, JY_FLOW_SCRATCH), 0);
    CHECK_UINT(count(w, JY_FLOW_STORE), 2);
    CHECK_UINT(count(w, JY_FLOW_LOAD), 2); /* the careful loop's, and in front of the fast one */
    jy_arena_free(arena);
    check_all_alike(HANDED_ON("lt", "1", "1"), values, 12, 3);
    check_all_alike(HANDED_ON("gt", "-1", "-1"), values, 12, 3);
    check_all_alike(HANDED_ON("lt", "2", "1"), values, 12, 3);
    check_all_alike(HANDED_ON("lt", "1", "-1"), values, 12, 3);
    check_all_alike(HANDED_ON("lt", "2", "4"), values, 12, 3);
}

/* for i in range(start, stop): if i >= x: s += a[i - x]: the branch proves what the range of i alone does not. */
#define BEHIND_A_BRANCH                                                                                                \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  input 3 : ptr data 3\n"                                                                                         \
    "  alias 1 : input 3\n"                                                                                            \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = input[3] : ptr\n"                                                                                        \
    "    %4 = const[64] : i64\n"                                                                                       \
    "    %5 = const[0] : i64\n"                                                                                        \
    "    %6 = const[8] : i64\n"                                                                                        \
    "    %7 = const[1] : i64\n"                                                                                        \
    "    jump 1 (%0, %5)\n"                                                                                            \
    "  block 1 (%9 : i64, %10 : i64) :\n"                                                                              \
    "    %11 = lt %9, %1 : i1\n"                                                                                       \
    "    branch %11 ? 2 () : 5 ()\n"                                                                                   \
    "  block 2 () :\n"                                                                                                 \
    "    %12 = add %9, %7 : i64\n"                                                                                     \
    "    %13 = lt %9, %2 : i1\n"                                                                                       \
    "    branch %13 ? 4 (%10) : 3 ()\n"                                                                                \
    "  block 3 () :\n"                                                                                                 \
    "    %14 = sub %9, %2 exit 0 : i64\n"                                                                              \
    "    %15 = wrap %14, %4 exit 1 : i64\n"                                                                            \
    "    %16 = mul %15, %6 : i64\n"                                                                                    \
    "    %17 = load[0] %3, %16 alias 1 : i64\n"                                                                        \
    "    %18 = add %10, %17 : i64\n"                                                                                   \
    "    jump 4 (%18)\n"                                                                                               \
    "  block 4 (%19 : i64) :\n"                                                                                        \
    "    jump 1 (%12, %19)\n"                                                                                          \
    "  block 5 () :\n"                                                                                                 \
    "    exit 2\n"                                                                                                     \
    "  exit 0 check at 1 (%9, %10)\n"                                                                                  \
    "  exit 1 check at 2 (%9, %14, %10)\n"                                                                             \
    "  exit 2 return at 3 (%9, %10)\n"

TEST(flow_hoist, what_branches_say_of_an_index)
{
    static const int64_t values[] = { 0, 1, 2, 5, 40, 62, 63, 64, 65, 90, -1, -8, 200, -300 };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, BEHIND_A_BRANCH);
    CHECK_UINT(count(w, JY_FLOW_WRAP), 1); /* the careful loop's */
    jy_arena_free(arena);
    check_all_alike(BEHIND_A_BRANCH, values, 14, 3);
}

/* A nest of two loops whose outer one is entered where the inner one begins: both have the head 1. */
#define ONE_HEAD_FOR_TWO                                                                                               \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : ptr data 2\n"                                                                                         \
    "  alias 1 : input 2\n"                                                                                            \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : ptr\n"                                                                                        \
    "    %3 = const[0] : i64\n"                                                                                        \
    "    %4 = const[1] : i64\n"                                                                                        \
    "    %5 = const[8] : i64\n"                                                                                        \
    "    %6 = const[64] : i64\n"                                                                                       \
    "    jump 1 (%4, %3, %3)\n"                                                                                        \
    "  block 1 (%7 : i64, %8 : i64, %9 : i64) :\n"                                                                     \
    "    %10 = lt %7, %0 : i1\n"                                                                                       \
    "    branch %10 ? 2 () : 3 ()\n"                                                                                   \
    "  block 2 () :\n"                                                                                                 \
    "    %11 = add %7, %4 : i64\n"                                                                                     \
    "    %12 = wrap %7, %6 exit 0 : i64\n"                                                                             \
    "    %13 = mul %12, %5 : i64\n"                                                                                    \
    "    %14 = load[0] %2, %13 alias 1 : i64\n"                                                                        \
    "    %15 = add %9, %14 : i64\n"                                                                                    \
    "    jump 1 (%11, %8, %15)\n"                                                                                      \
    "  block 3 () :\n"                                                                                                 \
    "    %16 = add %8, %4 : i64\n"                                                                                     \
    "    %17 = lt %16, %1 : i1\n"                                                                                      \
    "    branch %17 ? 1 (%3, %16, %9) : 4 ()\n"                                                                        \
    "  block 4 () :\n"                                                                                                 \
    "    exit 1\n"                                                                                                     \
    "  exit 0 check at 1 (%7, %8, %9)\n"                                                                               \
    "  exit 1 return at 2 (%8, %9)\n"

TEST(flow_hoist, nests_with_one_head)
{
    static const int64_t values[] = { 0, 1, 2, 7, 63, 64, 65, -1 };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, ONE_HEAD_FOR_TWO);
    CHECK_UINT(count(w, JY_FLOW_LOAD), 2); /* the inner loop has a fast copy */
    CHECK_UINT(count(w, JY_FLOW_WRAP), 1);
    jy_arena_free(arena);
    check_all_alike(ONE_HEAD_FOR_TWO, values, 8, 2);
}

/* A first round that joins the later ones in their middle: 1 and 3 lead to 2 and 4, which lead to the test in 5. */
#define ENTERED_IN_THE_MIDDLE                                                                                          \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = const[0] : i64\n"                                                                                        \
    "    %3 = const[1] : i64\n"                                                                                        \
    "    %4 = lt %0, %1 : i1\n"                                                                                        \
    "    branch %4 ? 2 (%0, %3) : 1 (%2, %2)\n"                                                                        \
    "  block 1 (%5 : i64, %6 : i64) :\n"                                                                               \
    "    poll exit 0\n"                                                                                                \
    "    jump 3 (%5, %6)\n"                                                                                            \
    "  block 2 (%7 : i64, %8 : i64) :\n"                                                                               \
    "    %9 = add %7, %8 exit 1 : i64\n"                                                                               \
    "    poll exit 2\n"                                                                                                \
    "    jump 3 (%9, %8)\n"                                                                                            \
    "  block 3 (%10 : i64, %11 : i64) :\n"                                                                             \
    "    %12 = lt %11, %1 : i1\n"                                                                                      \
    "    branch %12 ? 4 () : 5 ()\n"                                                                                   \
    "  block 4 () :\n"                                                                                                 \
    "    %13 = add %11, %3 : i64\n"                                                                                    \
    "    %14 = and %11, %0 : i64\n"                                                                                    \
    "    %15 = eq %14, %2 : i1\n"                                                                                      \
    "    branch %15 ? 1 (%10, %13) : 2 (%10, %13)\n"                                                                   \
    "  block 5 () :\n"                                                                                                 \
    "    exit 3\n"                                                                                                     \
    "  exit 0 poll at 1 (%5, %6)\n"                                                                                    \
    "  exit 1 check at 2 (%7, %8)\n"                                                                                   \
    "  exit 2 poll at 3 (%9, %8)\n"                                                                                    \
    "  exit 3 return at 4 (%10, %11)\n"

TEST(flow_hoist, loops_that_are_entered_in_the_middle)
{
    static const int64_t few[] = { 0, 1, 3, 30, -4 };
    check_all_alike(ENTERED_IN_THE_MIDDLE, few, 5, 2);
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, ENTERED_IN_THE_MIDDLE);
    union jy_scalar in[] = { { .i = 1 }, { .i = 5 * JY_CHUNK } }, out[2];
    const uint32_t watch = 1;
    struct jy_flow_call call = { .in = in, .out = out, .watch = &watch, .watch_mask = 0 };
    CHECK_UINT(w->w_exits.at[jy_flow_eval(w, &call)].x_offset, 4);
    CHECK(count(w, JY_FLOW_POLL) >= 4); /* the first round's, the careful loop's, and one between chunks */
    jy_arena_free(arena);
}
