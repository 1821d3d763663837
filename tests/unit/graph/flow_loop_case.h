/* Loops in unit tests: as text, what is found out about the innermost one, and runs with many numbers before and after jy_flow_hoist. */
#ifndef JY_TESTS_FLOW_LOOP_CASE_H
#define JY_TESTS_FLOW_LOOP_CASE_H

#include "graph/flow_counted.h"
#include "tests/unit/graph/flow_case.h"
#include <stdio.h>
#include <string.h>

/* The head of a flow over an array: three numbers, such as bounds and a shift, and the array; access: what alias 1 says of it, "" or " written". */
#define BOUNDS_AND_ARRAY(access)                                                                                       \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : i64 number 2 int64\n"                                                                                 \
    "  input 3 : ptr data 3\n"                                                                                         \
    "  alias 1 : input 3" access "\n"                                                                                  \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : i64\n"                                                                                        \
    "    %3 = input[3] : ptr\n"

/* for %10 in a range from %0 to %1 by `step`, while `test` (it gives %12); %2 is another number, %3 the data of an array, %4 an object of the interpreter's, %5 to %8 are 0, 1, 8, 64. Block 3 is a
 * round: %13 is the next index; `body` goes on from %15 and ends with jumps to block 1 that pass %13 and the next %11, which begins with `zero`. Block 2 leaves by exit 0. */
#define LOOP_OF(type, dtype, zero, test, step, body, exits)                                                            \
    "flow f flags :\n"                                                                                                 \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  input 2 : " type " number 2 " dtype "\n"                                                                        \
    "  input 3 : ptr data 3\n"                                                                                         \
    "  input 4 : ptr object 4\n"                                                                                       \
    "  helper 0 twice (i64) : i64 keeps 0 1 2\n"                                                                       \
    "  helper 1 spoil (i64) : i64\n"                                                                                   \
    "  alias 1 : input 3 written\n"                                                                                    \
    "  alias 2 : interpreter written\n"                                                                                \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n"                                                                                        \
    "    %2 = input[2] : " type "\n"                                                                                   \
    "    %3 = input[3] : ptr\n"                                                                                        \
    "    %4 = input[4] : ptr\n"                                                                                        \
    "    %5 = const[0] : i64\n"                                                                                        \
    "    %6 = const[1] : i64\n"                                                                                        \
    "    %7 = const[8] : i64\n"                                                                                        \
    "    %8 = const[64] : i64\n"                                                                                       \
    "    %9 = const[" step "] : i64\n"                                                                                 \
    "    %14 = const[" zero "] : " type "\n"                                                                           \
    "    jump 1 (%0, %14)\n"                                                                                           \
    "  block 1 (%10 : i64, %11 : " type ") :\n"                                                                        \
    "    " test " : i1\n"                                                                                              \
    "    branch %12 ? 3 () : 2 ()\n"                                                                                   \
    "  block 2 () :\n"                                                                                                 \
    "    exit 0\n"                                                                                                     \
    "  block 3 () :\n"                                                                                                 \
    "    %13 = add %10, %9 : i64\n" body "  exit 0 return at 1 (%10, %11)\n" exits
#define COUNTED_LOOP(test, step, body, exits) LOOP_OF("i64", "int64", "0", test, step, body, exits)
#define UP "%12 = lt %10, %1"
#define DOWN "%12 = gt %10, %1"
/* a round's end: exit 1 belongs to what it checks */
#define SUM(v) "    jump 1 (%13, " v ")\n"
#define CHECKS "  exit 1 check at 2 (%10, %11)\n"

/* What is found out about a loop of the text as it stands: values keep their numbers. */
struct loop_case {
    struct jy_arena *arena;
    struct jy_flow *w;
    struct jy_flow_shape shape;
    struct jy_flow_loops loops;
    struct jy_counted c;
};

/* Of its first innermost loop: does it count? */
static inline bool
loop_case_find(struct loop_case *k, const char *source)
{
    size_t i = 0;
    memset(k, 0, sizeof *k);
    k->arena = jy_arena_new();
    k->w = parse_flow(k->arena, source);
    if (k->w == NULL)
        return false;
    jy_flow_shape_fill(&k->shape, k->w);
    jy_flow_loops_fill(&k->loops, k->w, &k->shape);
    while (!k->loops.at[i].innermost)
        i++;
    return jy_counted_find(&k->c, k->w, &k->shape, &k->loops.at[i]);
}

static inline void
loop_case_free(struct loop_case *k)
{
    jy_arena_free(k->arena);
}

/* ---- runs ---- */

enum { LOOP_ROOM = 64, LOOP_MAX_OUT = 8 };

struct loop_outcome {
    uint32_t offset;
    union jy_scalar out[LOOP_MAX_OUT];
    int64_t memory[LOOP_ROOM];
    int64_t object[4];
};

static inline int64_t
loop_twice(int64_t i)
{
    return (int64_t)((uint64_t)i * 2);
}

/* Exits are known by their places in the bytecode: the passes give new numbers to them, and to inputs. The object is { 64, data, 7, 0 }. */
static inline struct loop_outcome
loop_run(const struct jy_flow *w, const union jy_scalar *numbers, const int64_t *memory)
{
    static int64_t room[LOOP_ROOM], object[4];
    static const uint32_t watch = 0;
    void *helper[] = { (void *)loop_twice, (void *)loop_twice };
    union jy_scalar in[8];
    struct loop_outcome o;
    memset(&o, 0, sizeof o);
    memcpy(room, memory, sizeof room);
    memcpy(object, ((int64_t[]){ LOOP_ROOM, (int64_t)(uintptr_t)room, 7, 0 }), sizeof object);
    for (size_t k = 0; k < w->w_inputs.n; k++) {
        const struct jy_flow_input *input = &w->w_inputs.at[k];
        if (input->kind == JY_FLOW_IN_OBJECT)
            in[k].bits = (uintptr_t)object;
        else if (input->type == JY_F_PTR)
            in[k].bits = (uintptr_t)room;
        else
            in[k] = numbers[input->number];
    }
    int32_t exit = jy_flow_eval(w, &(struct jy_flow_call){ .in = in, .out = o.out, .helper = helper, .watch = &watch });
    o.offset = w->w_exits.at[exit].x_offset;
    memcpy(o.memory, room, sizeof room);
    memcpy(o.object, object, sizeof object);
    return o;
}

static inline struct jy_flow *
hoisted(struct jy_arena *arena, const char *source)
{
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL) {
        jy_flow_simplify(w);
        jy_flow_hoist(w);
        CHECK_STR(jy_flow_verify(w), NULL);
    }
    return w;
}

/* How often the instruction stands in the hoisted flow. */
static inline size_t
count_hoisted(const char *source, enum jy_fop op)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = hoisted(arena, source);
    size_t n = w == NULL ? SIZE_MAX : count_op(w, op);
    jy_arena_free(arena);
    return n;
}

/* With all of the values as each of its numbers, on memory that begins as given: the flow ends as before. */
static inline void
check_alike_on(const char *source, const int64_t *memory, const int64_t *values, size_t nvalues, size_t nnumbers)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *before = parse_flow(arena, source), *after = hoisted(arena, source);
    size_t total = 1, at[4] = { 0 };
    for (size_t k = 0; k < nnumbers; k++)
        total *= nvalues;
    for (size_t k = 0; before != NULL && k < total; k++) {
        union jy_scalar numbers[4] = { { .bits = 0 } };
        for (size_t i = 0; i < nnumbers; i++)
            numbers[i].i = values[at[i]];
        struct loop_outcome x = loop_run(before, numbers, memory), y = loop_run(after, numbers, memory);
        if (!CHECK(memcmp(&x, &y, sizeof x) == 0))
            printf("with %lld %lld %lld: at %u and at %u\n", (long long)numbers[0].i, (long long)numbers[1].i,
                   (long long)numbers[2].i, x.offset, y.offset);
        for (size_t i = 0; i < nnumbers && ++at[i] == nvalues; i++)
            at[i] = 0;
    }
    jy_arena_free(arena);
}

static inline void
check_all_alike(const char *source, const int64_t *values, size_t nvalues, size_t nnumbers)
{
    int64_t memory[LOOP_ROOM];
    for (size_t k = 0; k < LOOP_ROOM; k++)
        memory[k] = (int64_t)(k * k) % 23 - 7;
    check_alike_on(source, memory, values, nvalues, nnumbers);
}

#endif
