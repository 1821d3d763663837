/* Exits: every value that the interpreter will need, as a machine word; what neighbours have in common is stored once. */
#include "tests/unit/backend_llvm/flow_harness.h"
#include <stdio.h>

/* Exit number in[0] (or the last one) of many, whose values are sums of in[1] in every mixture. */
static char *
many_exits(unsigned exits, unsigned values)
{
    struct jy_text text = { 0 };
    unsigned n = 3;
    jy_text_add(&text, "flow f :\n  input 0 : i64 number 0 int64\n  input 1 : i64 number 1 int64\n  block 0 () :\n"
                       "    %%0 = input[0] : i64\n    %%1 = input[1] : i64\n    %%2 = add %%1, %%1 : i64\n");
    for (; n < 3 + values; n++)
        jy_text_add(&text, "    %%%u = add %%%u, %%1 : i64\n", n, n - 1);
    for (unsigned k = 0; k < exits; k++, n += 2)
        jy_text_add(&text, "    %%%u = const[%u] : i64\n    %%%u = ne %%0, %%%u : i1\n    check %%%u exit %u\n", n, k,
                    n + 1, n, n + 1, k);
    jy_text_add(&text, "    exit %u\n", exits);
    for (unsigned k = 0; k <= exits; k++) {
        jy_text_add(&text, "  exit %u %s at %u (%%1", k, k == exits ? "stop" : "check", k);
        for (unsigned v = 0; v < values; v++)
            if (v < values / 2 || (k * 7 + v * 3) % 5 < 2)
                jy_text_add(&text, ", %%%u", 3 + v);
        jy_text_add(&text, ")\n");
    }
    char *copy = strdup(text.at);
    jy_text_free(&text);
    return copy;
}

/* More than 64 slots, too: they are kept in words of that many. */
TEST(emit_flow_exit, each_of_many_has_its_values)
{
    static const unsigned shapes[][2] = { { 1, 1 }, { 9, 2 }, { 12, 9 }, { 30, 60 }, { 7, 64 }, { 6, 65 }, { 5, 130 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char *text = many_exits(shapes[i][0], shapes[i][1]);
        struct jy_arena *arena = jy_arena_new();
        struct jy_flow *w = parse_flow(arena, text);
        struct flow_code c;
        if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
            for (int64_t k = 0; k <= (int64_t)shapes[i][0]; k++) {
                union jy_scalar in[] = { int_of(k), int_of(k * 1000 + 3) };
                if (!CHECK(flow_agrees(w, &c, &(struct jy_flow_call){ .in = in })))
                    printf("\n    %u exits, %u values: exit %d\n", shapes[i][0], shapes[i][1], (int)k);
            }
            flow_unload(&c);
        }
        jy_arena_free(arena);
        free(text);
    }
}

/* Three values in common pay for a block of their own, two do not. */
TEST(emit_flow_exit, common_stores_stand_in_one_block)
{
#define TWO_EXITS(common)                                                                                              \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = add %0, %0 exit 0 : i64\n"                                                                               \
    "    %2 = mul %0, %0 : i64\n"                                                                                      \
    "    %3 = not %0 : i64\n"                                                                                          \
    "    %4 = neg %0 : i64\n"                                                                                          \
    "    %5 = add %4, %3 exit 1 : i64\n"                                                                               \
    "    exit 2\n"                                                                                                     \
    "  exit 0 check at 1 (%0)\n"                                                                                       \
    "  exit 1 check at 2 (" common ")\n"                                                                               \
    "  exit 2 stop at 3 (" common ", %5)\n"
    static const struct {
        const char *text;
        size_t blocks, stores;
    } cases[] = { { TWO_EXITS("%1, %2, %3, %4"), 1, 5 },
                  { TWO_EXITS("%1, %2, %3"), 1, 4 },
                  { TWO_EXITS("%1, %2"), 0, 5 } };
    for (size_t k = 0; k < 3; k++) {
        char *ir = flow_ir(cases[k].text, false);
        if (ir == NULL)
            continue;
        CHECK_UINT(count_in(ir, "\nrest"), cases[k].blocks);
        CHECK_UINT(count_in(ir, "store i64"), cases[k].stores);
        CHECK(strstr(ir, "exit.1.check.at2.line0:") != NULL);
        free(ir);
    }
}

/* Short numbers are extended by their sign, a bool is 0 or 1, half a slot of a float32 is 0. */
TEST(emit_flow_exit, values_are_whole_words)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  input 1 : f32 number 1 float32\n"
                       "  input 2 : ptr object 2\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = input[1] : f32\n"
                       "    %2 = input[2] : ptr\n"
                       "    %3 = narrow %0 : i32\n"
                       "    %4 = lt %0, %0 : i1\n"
                       "    %5 = le %0, %0 : i1\n"
                       "    %6 = neg %1 : f32\n"
                       "    %7 = offset %2, %0 : ptr\n"
                       "    %8 = widen %6 : f64\n"
                       "    exit 0\n"
                       "  exit 0 stop at 1 (%3, %4, %5, %6, %7, %8)\n";
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        union jy_scalar in[] = { int_of(-2), f32_of(1.5f), { .bits = 0x7000 } }, out[6];
        memset(out, 0xa5, sizeof out);
        CHECK_INT(flow_run(&c, w, &(struct jy_flow_call){ .in = in, .out = out }), 0);
        CHECK_INT(out[0].i, -2);
        CHECK_INT(out[1].i, 0);
        CHECK_INT(out[2].i, 1);
        CHECK_UINT(out[3].bits, 0xbfc00000);
        CHECK_UINT(out[4].bits, 0x6ffe);
        CHECK_F64BITS(out[5].d, -1.5);
        flow_unload(&c);
    }
    jy_arena_free(arena);
}

/* Functions ------------------------------------------------------------------------------------------------------- */

/* What was pushed, in order, gathered as the interpreter has it. */
struct pile {
    const struct jy_flow *w;
    bool by_code;
    size_t n;
    struct {
        uint32_t function, exit;
        union jy_scalar values[4];
    } at[16];
};

static void
push(struct jy_flow_call *call, uint32_t function, uint32_t exit, const union jy_scalar *out)
{
    struct pile *p = call->owner;
    const struct jy_flow *w = p->w->w_functions.at[function];
    if (!CHECK(p->n < 16))
        return;
    p->at[p->n].function = function;
    p->at[p->n].exit = exit;
    if (p->by_code) {
        uint32_t *slot = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_values.n);
        struct jy_flow_call own = { .in = call->in, .out = (union jy_scalar *)(uintptr_t)out };
        jy_flow_slots(w, slot);
        jy_flow_gather(p->at[p->n].values, w, exit, slot, &own);
    } else {
        memcpy(p->at[p->n].values, out, w->w_exits.at[exit].x_values.n * sizeof *out);
    }
    p->n++;
}

/* Computes the factorial of the input: exit 0 where it is left, 1 with the result. */
static const char factorial[] = "flow f :\n"
                                "  input 0 : i64 number 0 int64\n"
                                "  block 0 () :\n"
                                "    %0 = input[0] : i64\n"
                                "    %1 = add %0, %0 : i64\n"
                                "    %2 = invoke[0] %0 exit 0 : i64\n"
                                "    exit 1\n"
                                "  exit 0 call at 1 (%1)\n"
                                "  exit 1 stop at 2 (%2)\n"
                                "function fact of 0 (i64) gives i64 frames 1 :\n"
                                "  input 0 : i64 arg 0\n"
                                "  block 0 () :\n"
                                "    %0 = input[0] : i64\n"
                                "    %1 = const[1] : i64\n"
                                "    %2 = le %0, %1 : i1\n"
                                "    branch %2 ? 1 () : 2 ()\n"
                                "  block 1 () :\n"
                                "    exit 0\n"
                                "  block 2 () :\n"
                                "    %3 = sub %0, %1 : i64\n"
                                "    %4 = invoke[0] %3 exit 1 : i64\n"
                                "    %5 = mul %4, %0 exit 2 : i64\n"
                                "    exit 3\n"
                                "  exit 0 return at 1 (%1)\n"
                                "  exit 1 call at 2 (%0)\n"
                                "  exit 2 check at 3 (%0, %4)\n"
                                "  exit 3 return at 4 (%5)\n";

static int32_t
run_factorial(struct pile *pile, const struct jy_flow *w, const struct flow_code *c, struct jy_flow_call call)
{
    *pile = (struct pile){ .w = w, .by_code = c != NULL };
    call.push = push;
    call.owner = pile;
    return c == NULL ? jy_flow_eval(w, &call) : flow_run(c, w, &call);
}

/* The innermost frame first: the one whose product overflows, then every caller. */
TEST(emit_flow_exit, frames_are_pushed_from_the_inside)
{
    static const uint32_t quiet = 0, busy = 1;
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, factorial);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        for (int64_t k = -1; k < 23; k++) {
            union jy_scalar in[] = { int_of(k) }, a[2] = { { 0 } }, b[2] = { { 0 } };
            struct pile slow, fast;
            struct jy_flow_call call = { .in = in, .out = a, .watch = &quiet, .watch_mask = 1, .left = 100 };
            int32_t exit = run_factorial(&slow, w, NULL, call);
            call.out = b;
            CHECK_INT(run_factorial(&fast, w, &c, call), exit);
            CHECK_INT(exit, k > 20 ? 0 : 1);
            CHECK_INT(b[0].i, a[0].i);
            if (!CHECK_UINT(fast.n, slow.n))
                continue;
            for (size_t i = 0; i < fast.n; i++) {
                CHECK_UINT(fast.at[i].exit, slow.at[i].exit);
                CHECK_BYTES(fast.at[i].values, slow.at[i].values, sizeof slow.at[i].values);
            }
        }
        /* Too few frames, too little stack, something to do: the callers leave in front of the call. */
        union jy_scalar in[] = { int_of(6) }, out[2];
        struct jy_flow_call call = { .in = in, .out = out, .watch = &quiet, .watch_mask = 1, .left = 5 };
        struct pile pile;
        CHECK_INT(run_factorial(&pile, w, &c, call), 0);
        CHECK_UINT(pile.n, 5);
        CHECK_INT(pile.at[0].values[0].i, 2); /* the call with 1 was not begun */
        call.left = 6;
        CHECK_INT(run_factorial(&pile, w, &c, call), 1);
        call.stack = UINTPTR_MAX;
        CHECK_INT(run_factorial(&pile, w, &c, call), 0);
        CHECK_UINT(pile.n, 0);
        call.stack = 0;
        call.watch = &busy;
        CHECK_INT(run_factorial(&pile, w, &c, call), 0);
        CHECK_UINT(pile.n, 0);
        CHECK_INT(out[0].i, 12);
        flow_unload(&c);
    }
    jy_arena_free(arena);
}
