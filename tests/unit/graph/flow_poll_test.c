/* The poll between chunks: it says what the program's own says, or stays in the rounds. */
#include "graph/flow_poll.h"
#include "tests/unit/graph/flow_loop_case.h"

/* for i in range(n): s = s + i; asked to leave between chunks, at the way back: a state that the interpreter can go on from */
TEST(flow_poll, the_poll_says_where_it_stands)
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

/* "n" polls; "stay", or how each value of the exit is found behind a chunk. */
static void
check_polls(const char *source, const char *expected)
{
    struct loop_case k;
    struct jy_text text = { 0 };
    if (!CHECK(loop_case_find(&k, source)))
        return;
    struct jy_polls polls = jy_polls_find(&k.c);
    jy_text_add(&text, "%zu%s", polls.n, polls.stay ? " stay" : "");
    for (size_t i = 0; polls.n > 0 && !polls.stay && i < polls.exit.x_values.n; i++)
        switch (polls.value[i].how) {
        case JY_POLL_VALUE:
            jy_text_add(&text, " %%%u", polls.value[i].value);
            break;
        case JY_POLL_INDEX:
            jy_text_add(&text, " index");
            break;
        default:
            jy_text_add(&text, " last%zu", polls.value[i].place);
            for (uint32_t p = k.shape.pred_start[1]; p < k.shape.pred_start[2]; p++)
                if (k.c.inside[k.shape.pred[p].from])
                    jy_text_add(&text, ":%%%u", jy_polls_last(&polls, polls.value[i].place, k.shape.pred[p].from));
            break;
        }
    CHECK_STR(text.at, expected);
    jy_text_free(&text);
    loop_case_free(&k);
}

#define POLLED(body, exits)                                                                                            \
    COUNTED_LOOP(UP, "1", "    %15 = neg %10 : i64\n    %16 = not %11 : i64\n" body, CHECKS exits)
#define POLL "    poll exit 2\n"

TEST(flow_poll, where_values_are_found_behind_a_chunk)
{
    check_polls(POLLED(SUM("%11"), ""), "0");
    /* handed to the head, from in front, the index of the round, and what only the round knew */
    check_polls(POLLED(POLL SUM("%15"), "  exit 2 poll at 3 (%13, %15, %2, %10, %16, %11)\n"),
                "1 %10 %11 %2 index last0:%16 last1:%11");
    check_polls(COUNTED_LOOP("poll exit 2\n    " UP, "1", SUM("%11"), CHECKS "  exit 2 poll at 3 (%10, %11, %2)\n"),
                "1 %10 %11 %2");
}

TEST(flow_poll, polls_that_stay_in_the_rounds)
{
    check_polls(
        COUNTED_LOOP("poll exit 2\n    poll exit 2\n    " UP, "1", SUM("%11"), CHECKS "  exit 2 poll at 3 ()\n"),
        "2 stay");
    check_polls(COUNTED_LOOP("poll exit 2\n    " UP, "1", POLL SUM("%11"), CHECKS "  exit 2 poll at 3 ()\n"), "2 stay");
    /* something may still happen behind it */
    check_polls(POLLED(POLL "    store[0] %3, %5, %5 alias 1\n" SUM("%11"), "  exit 2 poll at 3 ()\n"), "1 stay");
    check_polls(POLLED(POLL "    %17 = add %2, %10 exit 1 : i64\n" SUM("%11"), "  exit 2 poll at 3 ()\n"), "1 stay");
    check_polls(POLLED(POLL "    %17 = add %2, %10 : i64\n" SUM("%11"), "  exit 2 poll at 3 ()\n"), "1");
    check_polls(POLLED(POLL
                       "    %17 = lt %15, %2 : i1\n    branch %17 ? 1 (%13, %11) : 4 ()\n  block 4 () :\n" SUM("%16"),
                       "  exit 2 poll at 3 ()\n"),
                "1 stay");
}

/* A call of what takes as long as a list is: each round asks. */
TEST(flow_poll, polls_of_rounds_that_may_take_long)
{
    struct jy_arena *arena = jy_arena_new();
    const char *source = POLLED("    %17 = call[0] %10 : i64\n" POLL SUM("%17"), "  exit 2 poll at 3 (%13, %17)\n");
    const char *name = strstr(source, "twice");
    check_polls(source, "1 %10 %11");
    check_polls(jy_arena_printf(arena, "%.*slist_find_int%s", (int)(name - source), source, name + 5), "1 stay");
    jy_arena_free(arena);
}

/* Ways back from 4, with exit 2, and from 5. */
#define TWO_WAYS(second, exits)                                                                                        \
    POLLED("    %17 = lt %10, %2 : i1\n    branch %17 ? 4 () : 5 ()\n"                                                 \
           "  block 4 () :\n" POLL SUM("%15") "  block 5 () :\n" second SUM("%16"),                                    \
           exits)
#define EACH "    poll exit 3\n"

TEST(flow_poll, ways_back_that_look_alike)
{
    check_polls(TWO_WAYS(EACH, "  exit 2 poll at 3 (%15, %2, %10)\n  exit 3 poll at 4 (%16, %2, %10)\n"),
                "2 %11 %2 index");
    check_polls(TWO_WAYS(EACH, "  exit 2 poll at 3 (%15, %15)\n  exit 3 poll at 4 (%16, %15)\n"),
                "2 %11 last0:%15:%15");
    check_polls(TWO_WAYS(EACH, "  exit 2 poll at 3 (%2)\n  exit 3 poll at 4 (%10)\n"), "2 last0:%2:%10");
    check_polls(TWO_WAYS("", "  exit 2 poll at 3 ()\n"), "1 stay");
    check_polls(TWO_WAYS(EACH, "  exit 2 poll at 3 (%15)\n  exit 3 poll at 4 ()\n"), "2 stay");
    check_polls(TWO_WAYS(EACH, "  exit 2 poll at 3 (%15)\n  exit 3 poll at 4 (%12)\n"), "2 stay"); /* of another type */
}

/* What the interpreter would make of the values has to be the same as well. */
TEST(flow_poll, ways_back_that_do_not_look_alike)
{
#define BOXES(first, second) TWO_WAYS(EACH, "  exit 2 poll at 3 (%10) :\n" first "  exit 3 poll at 4 (%10) :\n" second)
#define INT "    local number pyint int64 $0\n"
    check_polls(BOXES(INT, INT), "2 index");
    check_polls(BOXES(INT, "    local number npscalar int64 $0\n"), "2 stay");
    check_polls(BOXES(INT, "    stack number pyint int64 $0\n"), "2 stay");
    check_polls(BOXES(INT INT, INT), "2 stay");
    check_polls(BOXES("    local tuple (input 1)\n", "    local tuple (input 1)\n"), "2 index");
    check_polls(BOXES("    local tuple (input 1)\n", "    local tuple (input 2)\n"), "2 stay");
    check_polls(BOXES("    local tuple (const o1)\n", "    local list (const o1)\n"), "2 stay");
    check_polls(BOXES("    local const o1\n", "    local null\n"), "2 stay");
}

static size_t
count_polls(const struct jy_flow *w)
{
    size_t n = 0;
    for (size_t b = 0; b < w->w_blocks.n; b++)
        for (size_t k = 0; k < w->w_blocks.at[b].f_body.n; k++)
            n += jy_flow_at(w, w->w_blocks.at[b].f_body.at[k])->f_op == JY_FLOW_POLL;
    return n;
}

/* A loop from block 1 to 3 with a first round of an inner loop in 2; `way_back` is where the outer one goes back, `inner` where the inner one does. */
#define NEST(entry, first, inner, way_back)                                                                            \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = const[1] : i64\n" entry "    jump 1 (%0)\n"                                                              \
    "  block 1 (%2 : i64) :\n"                                                                                         \
    "    %3 = lt %1, %2 : i1\n"                                                                                        \
    "    branch %3 ? 2 () : 5 ()\n"                                                                                    \
    "  block 2 () :\n" first "    jump 3 (%2)\n"                                                                       \
    "  block 3 (%4 : i64) :\n"                                                                                         \
    "    %5 = sub %4, %1 : i64\n"                                                                                      \
    "    %6 = lt %1, %5 : i1\n" inner "    branch %6 ? 3 (%5) : 4 ()\n"                                                \
    "  block 4 () :\n"                                                                                                 \
    "    %7 = sub %2, %1 : i64\n" way_back "    jump 1 (%7)\n"                                                         \
    "  block 5 () :\n"                                                                                                 \
    "    exit 0\n"                                                                                                     \
    "  exit 0 return at 1 (%2)\n"                                                                                      \
    "  exit 1 poll at 2 ()\n"
#define ASK "    poll exit 1\n"

static void
check_left(const char *source, size_t before, size_t behind)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL) {
        CHECK_UINT(count_polls(w), before);
        jy_flow_drop_polls(w);
        CHECK_UINT(count_polls(w), behind);
    }
    jy_arena_free(arena);
}

TEST(flow_poll, each_loop_asks_in_each_round)
{
    check_left(NEST("", ASK, ASK, ASK), 3, 2);
    check_left(NEST(ASK, ASK, ASK, ASK), 4, 2);
    check_left(NEST("", ASK, ASK, ""), 2, 2); /* it is the outer one's only one */
    check_left(NEST("", ASK, "", ASK), 2, 1);
    /* a loop with two entries is none whose ways back are known */
    check_left("flow f :\n"
               "  input 0 : i64 number 0 int64\n"
               "  block 0 () :\n"
               "    %0 = input[0] : i64\n"
               "    %1 = lt %0, %0 : i1\n"
               "    branch %1 ? 1 () : 2 ()\n"
               "  block 1 () :\n" ASK "    jump 2 ()\n"
               "  block 2 () :\n"
               "    branch %1 ? 1 () : 3 ()\n"
               "  block 3 () :\n"
               "    exit 0\n"
               "  exit 0 return at 1 (%0)\n"
               "  exit 1 poll at 2 ()\n",
               1, 1);
}
