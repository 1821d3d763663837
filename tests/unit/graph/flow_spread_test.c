/* Loops of jitney.prange: which become a SPREAD and what their piece hands on, as text that reads back; and that a loop that does all of its rounds itself ends as it did before. */
#include "tests/unit/graph/flow_case.h"
#include <string.h>

/* for i in prange(n): a[i] = a[i] * 3; last = i * 2; total += i. `sum`: what total is added to by; `end`: where a round goes on. */
#define LOOP(sum, end)                                                                                                 \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 extent 1.0\n"                                                                                     \
    "  input 2 : ptr data 1\n"                                                                                         \
    "  alias 1 : input 1 written\n"                                                                                    \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : ptr\n"                                                                                        \
    "    %3 = const[0] : i64\n"                                                                                        \
    "    jump 1 (%3, %3, %3)\n"                                                                                        \
    "  block 1 (%4 : i64, %5 : i64, %6 : i64) :\n"                                                                     \
    "    independent\n"                                                                                                \
    "    %7 = lt %4, %0 : i1\n"                                                                                        \
    "    branch %7 ? 2 () : 3 ()\n"                                                                                    \
    "  block 2 () :\n"                                                                                                 \
    "    %8 = wrap %4, %1 exit 0 : i64\n"                                                                              \
    "    %9 = const[8] : i64\n"                                                                                        \
    "    %10 = mul %8, %9 : i64\n"                                                                                     \
    "    %11 = load[0] %2, %10 alias 1 : i64\n"                                                                        \
    "    %12 = const[3] : i64\n"                                                                                       \
    "    %13 = mul %11, %12 : i64\n"                                                                                   \
    "    store[0] %2, %10, %13 alias 1\n"                                                                              \
    "    %14 = const[1] : i64\n"                                                                                       \
    "    %15 = add %4, %14 : i64\n"                                                                                    \
    "    %16 = const[2] : i64\n"                                                                                       \
    "    %17 = mul %4, %16 : i64\n" sum "    poll exit 2\n" end "  block 3 () :\n"                                     \
    "    exit 3\n"                                                                                                     \
    "  exit 0 check at 1 (%4, %5, %6)\n"                                                                               \
    "  exit 1 check \"int overflow\" at 2 (%4, %5, %6)\n"                                                              \
    "  exit 2 poll at 3 (%15, %17, %18)\n"                                                                             \
    "  exit 3 return at 4 (%4, %5, %6)\n"
#define ADDS "    %18 = add %6, %4 exit 1 : i64\n"
#define CHAINS "    %18 = add %6, %6 exit 1 : i64\n"
#define ON "    jump 1 (%15, %17, %18)\n"

enum { ROOM = 16 };

struct outcome {
    uint32_t offset;
    union jy_scalar out[4];
    int64_t memory[ROOM];
};

static struct outcome
run(const struct jy_flow *w, int64_t n, int64_t length)
{
    static const uint32_t watch = 0;
    struct outcome o;
    union jy_scalar in[8];
    memset(&o, 0, sizeof o);
    for (int64_t k = 0; k < ROOM; k++)
        o.memory[k] = k * k;
    for (size_t k = 0; k < w->w_inputs.n; k++) {
        const struct jy_flow_input *input = &w->w_inputs.at[k];
        in[k].bits = input->type == JY_F_PTR ? (uintptr_t)o.memory : (uint64_t)(input->number == 0 ? n : length);
    }
    int32_t exit = jy_flow_eval(w, &(struct jy_flow_call){ .in = in, .out = o.out, .watch = &watch });
    o.offset = w->w_exits.at[exit].x_offset;
    return o;
}

static size_t
count(const struct jy_flow *w, enum jy_fop op)
{
    size_t n = 0;
    for (jy_fb b = 0; b < w->w_blocks.n; b++)
        for (size_t k = 0; k < w->w_blocks.at[b].f_body.n; k++)
            n += jy_flow_at(w, w->w_blocks.at[b].f_body.at[k])->f_op == op;
    return n;
}

static struct jy_flow *
spread(struct jy_arena *arena, const char *source)
{
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL) {
        jy_flow_simplify(w);
        jy_flow_spread(w, false);
        CHECK_PTR(jy_flow_verify(w), NULL);
        CHECK_INT(count(w, JY_FLOW_INDEPENDENT), 0);
    }
    return w;
}

static void
check_reads_back(const struct jy_flow *w)
{
    struct jy_text text = { 0 };
    jy_flow_print(&text, w);
    check_round_trip(text.at);
    jy_text_free(&text);
}

TEST(flow_spread, rounds_become_a_piece)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = spread(arena, LOOP(ADDS, ON));
    if (w != NULL && CHECK_INT(w->w_functions.n, 1)) {
        const struct jy_flow *piece = w->w_functions.at[0];
        CHECK(piece->w_is_piece && piece->w_last.n == 2);
        CHECK_INT(piece->w_last.at[0].how, JY_LAST_VALUE);
        CHECK_INT(piece->w_last.at[1].how, JY_LAST_SUM);
        CHECK_INT(count(w, JY_FLOW_SPREAD), 1);
        CHECK(w->w_pranges.n == 1 && w->w_pranges.at[0].why == NULL);
        check_reads_back(w);
    }
    jy_arena_free(arena);
}

TEST(flow_spread, the_loop_itself_is_as_it_was)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *before = parse_flow(arena, LOOP(ADDS, ON)), *after = spread(arena, LOOP(ADDS, ON));
    for (int64_t n = -1; n <= ROOM && before != NULL && after != NULL; n++)
        for (int64_t length = 0; length <= ROOM; length += 4) {
            struct outcome x = run(before, n, length), y = run(after, n, length);
            CHECK(memcmp(&x, &y, sizeof x) == 0);
        }
    jy_arena_free(arena);
}

TEST(flow_spread, a_value_of_the_round_before_keeps_it_on_one_thread)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = spread(arena, LOOP(CHAINS, ON));
    if (w != NULL) {
        CHECK_INT(w->w_functions.n, 0);
        CHECK(w->w_pranges.n == 1 && strcmp(w->w_pranges.at[0].why, "a round needs a value of the round before") == 0);
    }
    jy_arena_free(arena);
}

/* What a failed round has to put back is more than the array that the number is said to be of. */
TEST(flow_spread, arrays_that_share_memory_keep_it_on_one_thread)
{
    struct jy_arena *arena = jy_arena_new();
    const char *source = LOOP(ADDS, ON), *at = strstr(source, " written");
    struct jy_flow *w = spread(arena, jy_arena_printf(arena, "%.*s shared%s", (int)(at - source), source, at));
    if (w != NULL) {
        CHECK_INT(w->w_functions.n, 0);
        CHECK(w->w_pranges.n == 1 && strstr(w->w_pranges.at[0].why, "may share memory") != NULL);
        check_reads_back(w);
    }
    jy_arena_free(arena);
}

/* Each is one line that is wrong in a sound flow with a piece. */
TEST(flow_spread, what_the_verifier_refuses)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = spread(arena, LOOP(ADDS, ON));
    if (w != NULL && CHECK_INT(w->w_functions.n, 1)) {
        struct jy_flow *piece = w->w_functions.at[0];
        piece->w_is_piece = false;
        CHECK(jy_flow_verify(w) != NULL);
        piece->w_is_piece = true;
        piece->w_args[2] = JY_F_I64;
        CHECK(jy_flow_verify(w) != NULL);
        piece->w_args[2] = JY_F_PTR;
        piece->w_last.at[1].type = JY_F_PTR;
        CHECK(jy_flow_verify(w) != NULL);
        piece->w_last.at[1].type = JY_F_I64;
        CHECK_PTR(jy_flow_verify(w), NULL);
    }
    jy_arena_free(arena);
}
