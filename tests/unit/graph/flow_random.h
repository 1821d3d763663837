/* Random flows that always end, and worlds to run them in: for whoever changes or compiles flows (flow_fuzz_test.c, backend_llvm/flow_fuzz_test.c).
 *
 *     struct flow_random g;
 *     flow_random_build(&g, seed);                          g.flow, sound
 *     struct flow_outcome a, b;
 *     flow_random_run(&a, &g, g.flow, k, flow_by_eval, NULL);   in its world number k
 *     ... passes, or another executor ...
 *     flow_random_run(&b, &g, g.flow, k, my_runner, my_code);
 *     const char *why = flow_outcomes_differ(&g, &a, &b);   NULL: same exit (of polls: one of them), same values there, same memory, same calls
 *     flow_random_free(&g);
 *
 * The flows have the shape of those that the frontend makes: statements over typed locals, counted and other loops with break and continue, joins that pass all locals, an exit per
 * statement that names every local and the iterators on the stack. Passes may renumber exits, values and inputs: an exit is known by its bytecode offset, which is used once, an
 * input by what it is. NaNs are all alike; no instruction shows their bits. */
#ifndef JY_TESTS_FLOW_RANDOM_H
#define JY_TESTS_FLOW_RANDOM_H

#include "graph/flow.h"
#include "graph/graph.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLOW_NUMBERS = 8, /* inputs 0 .. 7: numbers */
    FLOW_ARRAYS = 3,  /* inputs 8, 9, 10 */
    FLOW_LIST = FLOW_NUMBERS + FLOW_ARRAYS,
    /* alias numbers, behind those of the arrays: head of the list, its items, what does not change of an object, its value */
    FLOW_HEAD = FLOW_ARRAYS + 1,
    FLOW_ITEMS,
    FLOW_FIXED,
    FLOW_VALUE,
    FLOW_VARS = 10, /* locals: the numbers and two more */
    FLOW_DEPTH = 3,
    FLOW_ROOM = 48,  /* elements of an array's memory */
    FLOW_CELLS = 12, /* objects in lists */
    FLOW_CALLS = 64, /* calls that are written down */
    FLOW_OUT = 64,
};

/* What a list of floats looks like to a flow. */
struct flow_cell {
    int64_t count, tag;
    double value;
};
struct flow_list {
    int64_t count, size;
    struct flow_cell **items;
};

struct flow_world {
    union jy_scalar number[FLOW_NUMBERS];
    struct flow_array {
        enum jy_ftype type;
        int64_t extent, stride;
        char *data;
        _Alignas(16) char block[FLOW_ROOM * 8];
    } array[FLOW_ARRAYS];
    struct flow_list list;
    struct flow_cell *items[FLOW_CELLS];
    struct flow_cell cell[FLOW_CELLS];
    uint32_t watch;
    int64_t calls_left;  /* until `watch` says that there is something to do */
    size_t deaf, npolls; /* see struct flow_random; polls that found something to do */
    size_t ncalls;
    int64_t called[FLOW_CALLS];
    const struct jy_flow *flow; /* that is run; by_code: as machine code, which has its values in slots */
    bool by_code;
};

struct flow_random {
    uint64_t state, seed;
    struct jy_arena *arena;
    struct jy_flow *flow;
    enum jy_ftype array_type[FLOW_ARRAYS];
    bool array_strided[FLOW_ARRAYS]; /* strides are inputs; else the element's size */
    struct flow_world *world;
    enum flow_watch { FLOW_WATCH_BY_WORLD, FLOW_WATCH_NEVER, FLOW_WATCH_ALWAYS } watch; /* is there something to do? */
    size_t deaf; /* so many polls are passed by in spite of it, where helper "poll" stands for the instruction */
    /* while building: */
    jy_fb block;
    jy_fv local[FLOW_VARS];
    struct {
        jy_fv next, stop, step; /* of the range iterator on the stack; step JY_NO_FV: another loop */
        jy_fb head, after;
        jy_fv index; /* this round's, JY_NO_FV: another loop */
        jy_fv again; /* of a head that two loops share: rounds of the outer one; JY_NO_FV: it has its own */
    } loop[FLOW_DEPTH];
    size_t depth;
    struct {
        jy_fb block;
        jy_fv at;
    } place[FLOW_ARRAYS + 1]; /* the last that was computed for each array, and for the list */
    struct {
        jy_fb block;
        enum jy_fop op;
        enum jy_ftype type;
        jy_fv x, y;
    } operation;   /* the last on integers */
    uint32_t exit; /* of the statement, JY_NO_EXIT: not made yet */
    uint32_t offset;
    int budget; /* statements */
};

struct flow_outcome {
    int32_t exit;
    uint32_t offset;
    uint8_t kind; /* of the exit */
    size_t n;
    uint8_t types[FLOW_OUT];
    union jy_scalar values[FLOW_OUT];
    struct flow_world world;
};

typedef int32_t (*flow_runner)(void *how, const struct jy_flow *w, struct jy_flow_call *call);

static inline int32_t
flow_by_eval(void *how, const struct jy_flow *w, struct jy_flow_call *call)
{
    (void)how;
    return jy_flow_eval(w, call);
}

/* ---- chance ---- */

static inline uint32_t
flow_pick(struct flow_random *g, uint32_t n)
{
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->state >> 33) % n;
}

static inline bool
flow_once_in(struct flow_random *g, uint32_t n)
{
    return flow_pick(g, n) == 0;
}

static inline union jy_scalar
flow_random_value(struct flow_random *g, enum jy_ftype type, uint32_t rarely_extreme)
{
    static const double doubles[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN, 1e308, -5e-324, 9007199254740993.0, 1e19 };
    static const int64_t ints[] = {
        INT64_MAX, INT64_MIN, INT64_MAX - 5,   INT64_C(1) << 53, (INT64_C(1) << 53) + 1, INT32_MAX,
        INT32_MIN, -1,        INT64_C(1) << 32
    };
    bool extreme = flow_once_in(g, rarely_extreme);
    uint32_t k = flow_pick(g, 9);
    int64_t small = (int64_t)flow_pick(g, 16) - 5;
    double d = extreme ? doubles[k] : (double)small + (double)flow_pick(g, 8) / 8.0;
    union jy_scalar v = { .bits = 0 };
    if (type == JY_F_I1)
        v.i = small & 1;
    else if (type == JY_F_F64)
        v.d = d;
    else if (type == JY_F_F32)
        v.f = extreme && isfinite(d) && d > 1.0 ? 3e38f : (float)d;
    else
        v.i = !extreme ? small : type == JY_F_I32 ? (int32_t)ints[k] : ints[k];
    return v;
}

/* ---- the world ---- */

static inline double
flow_help_mix(double x, double y)
{
    return x * 0.5 + y;
}

static inline bool
flow_help_near(double x, int64_t i)
{
    return fabs(x - (double)i) < 2.0;
}

static inline void
flow_write_down(struct flow_world *world, int64_t shown)
{
    if (world->ncalls < FLOW_CALLS)
        world->called[world->ncalls] = shown;
    world->ncalls++;
}

/* A function was left: where, and with which integers. */
static inline void
flow_help_push(struct jy_flow_call *call, uint32_t function, uint32_t exit, const union jy_scalar *out)
{
    struct flow_world *world = call->owner;
    const struct jy_flow *w = world->flow->w_functions.at[function];
    const struct jy_flow_exit *x = &w->w_exits.at[exit];
    union jy_scalar values[FLOW_OUT];
    struct jy_flow_call own = { .in = call->in, .out = (union jy_scalar *)(uintptr_t)out };
    uint32_t *slot = calloc(w->w_values.n, sizeof *slot);
    uint64_t shown = x->x_kind == JY_EXIT_POLL ? 1 : x->x_offset;
    if (slot == NULL)
        abort();
    jy_flow_slots(w, slot);
    if (world->by_code)
        jy_flow_gather(values, w, exit, slot, &own);
    else
        memcpy(values, out, x->x_values.n * sizeof *out);
    for (size_t k = 0; k < x->x_values.n; k++) {
        uint8_t type = jy_flow_at(w, x->x_values.at[k])->f_type;
        if (type == JY_F_I64 || type == JY_F_I32 || type == JY_F_I1)
            shown = shown * 31 + values[k].bits;
    }
    flow_write_down(world, (int64_t)shown);
    free(slot);
}

/* Written down; after a while there is something to do. */
static inline int64_t
flow_help_tick(struct jy_flow_call *call, int64_t i, double x)
{
    struct flow_world *world = call->owner;
    int64_t shown = (int64_t)((uint64_t)i * 31 + (x == x ? (uint64_t)(fabs(x) < 1e6 ? (int64_t)x : 7) : 5));
    flow_write_down(world, shown);
    if (--world->calls_left == 0)
        world->watch |= 1;
    return shown & 7;
}

static inline double
flow_help_refuse(int64_t i, double x, int32_t *failed)
{
    *failed = i % 7 == 3 ? 1 : 0;
    return x + 1.0;
}

static inline void
flow_help_bump(void *cell, double by)
{
    ((struct flow_cell *)cell)->value += by;
}

static inline void
flow_help_poll(struct jy_flow_call *call, int32_t *failed)
{
    struct flow_world *world = call->owner;
    *failed = world->watch != 0 && world->npolls++ >= world->deaf;
}

static inline const struct jy_flow_helper *
flow_helpers(size_t *n)
{
    static const struct jy_flow_helper rows[] = {
        { .name = "mix", .type = JY_F_F64, .nargs = 2, .args = { JY_F_F64, JY_F_F64 }, .pure = true },
        { .name = "near", .type = JY_F_I1, .nargs = 2, .args = { JY_F_F64, JY_F_I64 }, .pure = true },
        { .name = "tick",
          .type = JY_F_I64,
          .nargs = 2,
          .args = { JY_F_I64, JY_F_F64 },
          .wants_call = true,
          .keeps = (2u << FLOW_VALUE) - 1 },
        { .name = "refuse", .type = JY_F_F64, .nargs = 2, .args = { JY_F_I64, JY_F_F64 }, .may_fail = true },
        { .name = "bump",
          .type = JY_F_NONE,
          .nargs = 2,
          .args = { JY_F_PTR, JY_F_F64 },
          .keeps = (1u << FLOW_VALUE) - 1 },
        { .name = "poll", .type = JY_F_NONE, .wants_call = true, .may_fail = true },
    };
    *n = sizeof rows / sizeof rows[0];
    return rows;
}

static inline void *
flow_helper_address(const char *name)
{
    void *const addresses[] = { (void *)flow_help_mix,    (void *)flow_help_near, (void *)flow_help_tick,
                                (void *)flow_help_refuse, (void *)flow_help_bump, (void *)flow_help_poll };
    size_t n;
    const struct jy_flow_helper *rows = flow_helpers(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].name, name) == 0)
            return addresses[i];
    abort();
}

static inline enum jy_ftype
flow_number_type(size_t number)
{
    static const uint8_t types[FLOW_NUMBERS] = { JY_F_I64, JY_F_F64, JY_F_I64, JY_F_F64,
                                                 JY_F_I1,  JY_F_I32, JY_F_F32, JY_F_I64 };
    return (enum jy_ftype)types[number];
}

/* World k of the flow: always the same, at the same addresses. */
static inline void
flow_world_fill(struct flow_random *g, unsigned k)
{
    struct flow_world *world = g->world;
    struct flow_random chance = { .state = g->seed * 7919 + k * 104729 + 1 };
    for (int i = 0; i < 4; i++)
        flow_pick(&chance, 2);
    memset(world, 0, sizeof *world);
    for (size_t i = 0; i < FLOW_NUMBERS; i++)
        world->number[i] = flow_random_value(&chance, flow_number_type(i), 10);
    int64_t usual = flow_once_in(&chance, 4) ? 20 : (int64_t)flow_pick(&chance, 9);
    for (size_t a = 0; a < FLOW_ARRAYS; a++) {
        struct flow_array *array = &world->array[a];
        size_t bytes = jy_flow_type_bytes(g->array_type[a]);
        int64_t steps = !g->array_strided[a] || flow_once_in(&chance, 2) ? 1 : flow_once_in(&chance, 2) ? 2 : -1;
        array->type = g->array_type[a];
        array->extent = flow_once_in(&chance, 3) ? (int64_t)flow_pick(&chance, 9) : usual;
        array->stride = steps * (int64_t)bytes;
        array->data = array->block + (steps < 0 && array->extent > 0 ? (size_t)(array->extent - 1) * bytes : 0);
        for (size_t i = 0; i < FLOW_ROOM; i++) {
            union jy_scalar v = flow_random_value(&chance, array->type, 40);
            memcpy(array->block + i * bytes, &v, bytes);
        }
    }
    world->list = (struct flow_list){ 1, (int64_t)flow_pick(&chance, FLOW_CELLS + 1), world->items };
    for (size_t i = 0; i < FLOW_CELLS; i++) {
        world->cell[i] =
            (struct flow_cell){ 1, flow_once_in(&chance, 40) ? 8 : 7, flow_random_value(&chance, JY_F_F64, 40).d };
        world->items[i] = &world->cell[flow_once_in(&chance, 4) ? 0 : i];
    }
    world->watch = flow_once_in(&chance, 8) ? 1 : 0;
    world->calls_left = flow_once_in(&chance, 2) ? 3 : 1000000;
    if (g->watch != FLOW_WATCH_BY_WORLD) {
        world->watch = g->watch == FLOW_WATCH_ALWAYS;
        world->calls_left = 1000000;
    }
    world->deaf = g->deaf;
}

static inline union jy_scalar
flow_world_input(const struct flow_world *world, const struct jy_flow_input *in)
{
    union jy_scalar v = { .bits = 0 };
    if (in->kind == JY_FLOW_IN_NUMBER)
        v = world->number[in->number];
    else if (in->kind == JY_FLOW_IN_OBJECT)
        v.bits = (uintptr_t)&world->list;
    else if (in->kind == JY_FLOW_IN_DATA)
        v.bits = (uintptr_t)world->array[in->number - FLOW_NUMBERS].data;
    else if (in->kind == JY_FLOW_IN_EXTENT)
        v.i = world->array[in->number - FLOW_NUMBERS].extent;
    else
        v.i = world->array[in->number - FLOW_NUMBERS].stride;
    return v;
}

static inline void
flow_random_run(struct flow_outcome *o, struct flow_random *g, const struct jy_flow *w, unsigned k, flow_runner run,
                void *how)
{
    union jy_scalar *in = JY_NEW_ARRAY(g->arena, union jy_scalar, jy_flow_count_inputs(w) + 1);
    void **helper = JY_NEW_ARRAY(g->arena, void *, jy_flow_count_helpers(w) + 1);
    flow_world_fill(g, k);
    memset(o, 0, sizeof *o);
    g->world->flow = w;
    g->world->by_code = how != NULL;
    for (size_t p = 0; jy_flow_part(w, p) != NULL; p++) {
        const struct jy_flow *part = jy_flow_part(w, p);
        for (size_t i = 0; i < part->w_inputs.n; i++)
            if (part->w_inputs.at[i].kind != JY_FLOW_IN_ARG)
                in[jy_flow_first_input(part) + i] = flow_world_input(g->world, &part->w_inputs.at[i]);
        for (size_t i = 0; i < part->w_helpers.n; i++)
            helper[jy_flow_first_helper(part) + i] = flow_helper_address(part->w_helpers.at[i].name);
    }
    struct jy_flow_call call = { .in = in,
                                 .out = o->values,
                                 .helper = (void *const *)helper,
                                 .watch = &g->world->watch,
                                 .watch_mask = 1,
                                 .owner = g->world,
                                 .left = 10,
                                 .push = flow_help_push };
    o->exit = run(how, w, &call);
    if (o->exit >= 0 && (size_t)o->exit < w->w_exits.n) {
        const struct jy_flow_exit *x = &w->w_exits.at[o->exit];
        o->offset = x->x_offset;
        o->kind = x->x_kind;
        o->n = x->x_values.n;
        for (size_t i = 0; i < o->n; i++)
            o->types[i] = jy_flow_at(w, x->x_values.at[i])->f_type;
    }
    o->world = *g->world;
}

static inline bool
flow_values_differ(enum jy_ftype type, const void *a, const void *b)
{
    double x, y;
    float u, v;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    memcpy(&u, a, sizeof u);
    memcpy(&v, b, sizeof v);
    if (type == JY_F_F64 && isnan(x) && isnan(y))
        return false;
    if (type == JY_F_F32 && isnan(u) && isnan(v))
        return false;
    return memcmp(a, b, jy_flow_type_bytes(type)) != 0;
}

static inline const char *
flow_outcomes_differ(struct flow_random *g, const struct flow_outcome *a, const struct flow_outcome *b)
{
    bool at_polls = a->kind == JY_EXIT_POLL && b->kind == JY_EXIT_POLL;
    if (a->exit < 0 || b->exit < 0 || (a->offset != b->offset && !at_polls))
        return jy_arena_printf(g->arena, "exit %d (at %u) and exit %d (at %u)", a->exit, a->offset, b->exit, b->offset);
    for (size_t i = 0; i < a->n; i++)
        if (i >= b->n || a->types[i] != b->types[i] ||
            flow_values_differ((enum jy_ftype)a->types[i], &a->values[i], &b->values[i]))
            return jy_arena_printf(g->arena, "at %u, value %zu: %llx and %llx", a->offset, i,
                                   (unsigned long long)a->values[i].bits, (unsigned long long)b->values[i].bits);
    for (size_t k = 0; k < FLOW_ARRAYS; k++) {
        const struct flow_array *x = &a->world.array[k], *y = &b->world.array[k];
        size_t bytes = jy_flow_type_bytes(x->type);
        for (size_t i = 0; i < FLOW_ROOM; i++) {
            char p[8] = { 0 }, q[8] = { 0 };
            memcpy(p, x->block + i * bytes, bytes);
            memcpy(q, y->block + i * bytes, bytes);
            if (flow_values_differ(x->type, p, q))
                return jy_arena_printf(g->arena, "array %zu differs at element %zu of its memory", k, i);
        }
    }
    for (size_t i = 0; i < FLOW_CELLS; i++)
        if (flow_values_differ(JY_F_F64, &a->world.cell[i].value, &b->world.cell[i].value))
            return jy_arena_printf(g->arena, "list object %zu: %a and %a", i, a->world.cell[i].value,
                                   b->world.cell[i].value);
    if (a->world.ncalls != b->world.ncalls || memcmp(a->world.called, b->world.called, sizeof a->world.called) != 0)
        return "calls differ";
    return NULL;
}

/* ---- building ---- */

static inline enum jy_ftype
flow_local_type(size_t i)
{
    return flow_number_type(i < FLOW_NUMBERS ? i : i - FLOW_NUMBERS);
}

static inline jy_fv
flow_int(struct flow_random *g, int64_t i)
{
    return jy_flow_const(g->flow, g->block, JY_F_I64, (union jy_scalar){ .i = i });
}

static inline jy_fv
flow_op(struct flow_random *g, enum jy_fop op, enum jy_ftype type, jy_fv x, jy_fv y, uint32_t exit)
{
    return jy_flow_op(g->flow, g->block, op, type, (size_t)jy_flow_op_info[op].nargs, (jy_fv[]){ x, y }, exit);
}

static inline jy_fv
flow_array_input(struct flow_random *g, size_t array, enum jy_flow_input_kind kind)
{
    struct jy_flow_input in = { .kind = (uint8_t)kind,
                                .type = kind == JY_FLOW_IN_DATA ? JY_F_PTR : JY_F_I64,
                                .number = (uint32_t)(FLOW_NUMBERS + array) };
    return jy_flow_input(g->flow, &in);
}

static inline struct jy_box *
flow_box(struct flow_random *g, struct jy_box box)
{
    return jy_arena_copy(g->arena, &box, sizeof box);
}

/* The exit of the statement that is being made: the state is what it was where the statement began. */
static inline uint32_t
flow_exit_of(struct flow_random *g, enum jy_flow_exit_kind kind)
{
    static const uint8_t dtypes[JY_F_TYPE_COUNT] = {
        [JY_F_I1] = JY_BOOL, [JY_F_I32] = JY_I32, [JY_F_I64] = JY_I64, [JY_F_F32] = JY_F32, [JY_F_F64] = JY_F64
    };
    struct jy_flow_exit x = { .x_kind = (uint8_t)kind, .x_offset = ++g->offset, .x_line = g->offset / 3 + 1 };
    size_t ranges = 0, n = 0;
    for (size_t d = 0; d < g->depth; d++)
        ranges += g->loop[d].step != JY_NO_FV;
    x.x_depth = ranges;
    x.x_nlocals = FLOW_VARS;
    x.x_boxes = JY_NEW_ARRAY(g->arena, struct jy_box *, ranges + FLOW_VARS);
    for (size_t d = 0; d < g->depth; d++)
        if (g->loop[d].step != JY_NO_FV) {
            x.x_boxes[n++] = flow_box(g, (struct jy_box){ .how = JY_BOX_RANGE_ITER, .value = (uint32_t)x.x_values.n });
            *jy_vec_push(g->arena, &x.x_values) = g->loop[d].next;
            *jy_vec_push(g->arena, &x.x_values) = g->loop[d].stop;
            *jy_vec_push(g->arena, &x.x_values) = g->loop[d].step;
        }
    for (size_t i = 0; i < FLOW_VARS; i++) {
        x.x_boxes[n++] = flow_box(g, (struct jy_box){ .how = JY_BOX_NUMBER,
                                                      .kind = JY_KIND_NPSCALAR,
                                                      .dtype = dtypes[flow_local_type(i)],
                                                      .value = (uint32_t)x.x_values.n });
        *jy_vec_push(g->arena, &x.x_values) = g->local[i];
    }
    return jy_flow_exit_add(g->flow, &x);
}

static inline uint32_t
flow_exit(struct flow_random *g)
{
    if (g->exit == JY_NO_EXIT)
        g->exit = flow_exit_of(g, JY_EXIT_CHECK);
    return g->exit;
}

static inline jy_fv
flow_operand(struct flow_random *g, enum jy_ftype type)
{
    size_t first = flow_pick(g, FLOW_VARS);
    if (type == JY_F_I64 && g->depth > 0 && flow_once_in(g, 3) && g->loop[g->depth - 1].index != JY_NO_FV)
        return g->loop[g->depth - 1].index;
    if (!flow_once_in(g, 3))
        for (size_t i = 0; i < FLOW_VARS; i++)
            if (flow_local_type((first + i) % FLOW_VARS) == type)
                return g->local[(first + i) % FLOW_VARS];
    return jy_flow_const(g->flow, g->block, type, flow_random_value(g, type, 12));
}

static inline jy_fv
flow_condition(struct flow_random *g)
{
    static const enum jy_ftype types[] = { JY_F_I64, JY_F_F64, JY_F_I64, JY_F_F64, JY_F_I32, JY_F_F32 };
    enum jy_ftype type = types[flow_pick(g, 6)];
    bool integer = type == JY_F_I64 || type == JY_F_I32;
    enum jy_fop op = (enum jy_fop)(JY_FLOW_EQ + flow_pick(g, integer ? 7 : 6));
    if (flow_once_in(g, 5))
        return flow_operand(g, JY_F_I1);
    return flow_op(g, op, JY_F_I1, flow_operand(g, type), flow_operand(g, type), JY_NO_EXIT);
}

/* Not a NaN: for instructions that show bits or signs. */
static inline jy_fv
flow_number_operand(struct flow_random *g, enum jy_ftype type)
{
    jy_fv x = flow_operand(g, type), is_number = flow_op(g, JY_FLOW_EQ, JY_F_I1, x, x, JY_NO_EXIT);
    jy_fv one = jy_flow_const(g->flow, g->block, type, flow_random_value(g, type, UINT32_MAX));
    return jy_flow_op(g->flow, g->block, JY_FLOW_SELECT, type, 3, (jy_fv[]){ is_number, x, one }, JY_NO_EXIT);
}

static inline jy_fv
flow_call(struct flow_random *g, size_t row, jy_fv x, jy_fv y)
{
    size_t n;
    const struct jy_flow_helper *helper = &flow_helpers(&n)[row];
    return jy_flow_ask(g->flow, g->block, jy_flow_helper_add(g->flow, helper), 2, (jy_fv[]){ x, y },
                       helper->may_fail ? flow_exit(g) : JY_NO_EXIT);
}

/* The place of an element, behind the checks that Python makes. */
static inline jy_fv
flow_place(struct flow_random *g, jy_fv extent, jy_fv stride)
{
    jy_fv index = flow_operand(g, JY_F_I64);
    if (g->depth > 0 && !flow_once_in(g, 4) && g->loop[g->depth - 1].index != JY_NO_FV)
        index = g->loop[flow_once_in(g, 4) ? 0 : g->depth - 1].index;
    if (index == JY_NO_FV)
        index = flow_operand(g, JY_F_I64);
    if (flow_once_in(g, 4))
        index = flow_op(g, JY_FLOW_ADD, JY_F_I64, index, flow_int(g, (int64_t)flow_pick(g, 5) - 2), flow_exit(g));
    if (flow_once_in(g, 8))
        index = flow_op(g, JY_FLOW_MUL, JY_F_I64, flow_int(g, 2), index, flow_exit(g));
    index = flow_op(g, JY_FLOW_WRAP, JY_F_I64, index, extent, flow_exit(g));
    return flow_op(g, JY_FLOW_MUL, JY_F_I64, index, stride, JY_NO_EXIT);
}

/* Often the place where the last access was: what was loaded there may have changed. */
static inline jy_fv
flow_element(struct flow_random *g, size_t a)
{
    jy_fv stride = g->array_strided[a] ? flow_array_input(g, a, JY_FLOW_IN_STRIDE)
                                       : flow_int(g, (int64_t)jy_flow_type_bytes(g->array_type[a]));
    if (g->place[a].block != g->block || flow_once_in(g, 3)) {
        g->place[a].at = flow_place(g, flow_array_input(g, a, JY_FLOW_IN_EXTENT), stride);
        g->place[a].block = g->block;
    }
    return g->place[a].at;
}

/* The three parts of an address, in one of the ways in which they can be written. */
struct flow_address {
    jy_fv pointer, offset;
    int32_t plus;
};

static inline struct flow_address
flow_address(struct flow_random *g, size_t a)
{
    jy_fv at = flow_element(g, a), data = flow_array_input(g, a, JY_FLOW_IN_DATA);
    int32_t plus = (int32_t)flow_pick(g, 2) * 8;
    if (flow_once_in(g, 3))
        return (struct flow_address){ flow_op(g, JY_FLOW_OFFSET, JY_F_PTR, data, at, JY_NO_EXIT), flow_int(g, -plus),
                                      plus };
    if (flow_once_in(g, 5))
        at = flow_op(g, JY_FLOW_SUB, JY_F_I64, at, flow_int(g, plus), JY_NO_EXIT);
    else
        plus = 0;
    return (struct flow_address){ data, at, plus };
}

static inline jy_fv
flow_load_element(struct flow_random *g, size_t a)
{
    struct flow_address at = flow_address(g, a);
    return jy_flow_load(g->flow, g->block, g->array_type[a], at.pointer, at.offset, at.plus, (uint32_t)a + 1);
}

static inline bool
flow_array_of(struct flow_random *g, size_t *out, enum jy_ftype type)
{
    size_t first = flow_pick(g, FLOW_ARRAYS);
    for (size_t i = 0; i < FLOW_ARRAYS; i++) {
        *out = (first + i) % FLOW_ARRAYS;
        if (g->array_type[*out] == type)
            return true;
    }
    return false;
}

/* The float object of a list's item, its type checked, and that nobody else has it. */
static inline jy_fv
flow_item(struct flow_random *g)
{
    const struct jy_flow_input list = { .kind = JY_FLOW_IN_OBJECT, .type = JY_F_PTR, .number = FLOW_LIST };
    jy_fv object = jy_flow_input(g->flow, &list), zero = flow_int(g, 0);
    jy_fv size = jy_flow_load(g->flow, g->block, JY_F_I64, object, zero, 8, FLOW_HEAD);
    jy_fv items = jy_flow_load(g->flow, g->block, JY_F_PTR, object, zero, 16, FLOW_HEAD);
    if (g->place[FLOW_ARRAYS].block != g->block || flow_once_in(g, 3)) {
        g->place[FLOW_ARRAYS].at = flow_place(g, size, flow_int(g, 8));
        g->place[FLOW_ARRAYS].block = g->block;
    }
    jy_fv item = jy_flow_load(g->flow, g->block, JY_F_PTR, items, g->place[FLOW_ARRAYS].at, 0, FLOW_ITEMS);
    jy_fv count = jy_flow_load(g->flow, g->block, JY_F_I64, item, zero, 0, FLOW_FIXED);
    jy_fv tag = jy_flow_load(g->flow, g->block, JY_F_I64, item, zero, 8, flow_once_in(g, 9) ? 0 : FLOW_FIXED);
    flow_op(g, JY_FLOW_CHECK, JY_F_NONE, flow_op(g, JY_FLOW_EQ, JY_F_I1, tag, flow_int(g, 7), JY_NO_EXIT), 0,
            flow_exit(g));
    flow_op(g, JY_FLOW_CHECK, JY_F_NONE, flow_op(g, JY_FLOW_EQ, JY_F_I1, count, flow_int(g, 1), JY_NO_EXIT), 0,
            flow_exit(g));
    return item;
}

static inline jy_fv
flow_int_expression(struct flow_random *g, enum jy_ftype type)
{
    static const enum jy_fop ops[] = { JY_FLOW_ADD, JY_FLOW_ADD,      JY_FLOW_SUB,      JY_FLOW_MUL, JY_FLOW_NEG,
                                       JY_FLOW_ABS, JY_FLOW_AND,      JY_FLOW_OR,       JY_FLOW_XOR, JY_FLOW_NOT,
                                       JY_FLOW_SHL, JY_FLOW_SHR,      JY_FLOW_FLOORDIV, JY_FLOW_MIN, JY_FLOW_MAX,
                                       JY_FLOW_ADD, JY_FLOW_FLOORMOD, JY_FLOW_SHL };
    uint32_t choice = flow_pick(g, 27);
    bool wide = type == JY_F_I64;
    size_t a;
    if (choice < 18) {
        enum jy_fop op = ops[choice];
        bool bits = (op >= JY_FLOW_AND && op <= JY_FLOW_NOT) || op == JY_FLOW_MIN || op == JY_FLOW_MAX;
        bool wraps = (op <= JY_FLOW_ABS || op == JY_FLOW_SHL) && flow_once_in(g, 4);
        jy_fv x = flow_operand(g, type), y = flow_operand(g, type);
        if (g->operation.block == g->block && g->operation.type == type && flow_once_in(g, 3))
            return flow_op(g, g->operation.op, type, g->operation.x, g->operation.y, flow_exit(g));
        if ((op == JY_FLOW_SHL || op == JY_FLOW_SHR) && flow_once_in(g, 2))
            return flow_op(g, op, type, x,
                           jy_flow_const(g->flow, g->block, type, (union jy_scalar){ .i = flow_pick(g, 32) }),
                           JY_NO_EXIT);
        if (!bits) {
            g->operation.block = g->block;
            g->operation.op = op;
            g->operation.type = type;
            g->operation.x = x;
            g->operation.y = y;
        }
        return flow_op(g, op, type, x, y, bits || wraps ? JY_NO_EXIT : flow_exit(g));
    }
    if (choice == 26)
        return flow_op(g, JY_FLOW_USHR, type, flow_operand(g, type), flow_operand(g, type), JY_NO_EXIT);
    if (choice == 18)
        return flow_op(g, JY_FLOW_ZEXT, type, flow_operand(g, wide && flow_once_in(g, 2) ? JY_F_I32 : JY_F_I1), 0,
                       JY_NO_EXIT);
    if (choice == 19)
        return wide ? flow_op(g, JY_FLOW_SEXT, type, flow_operand(g, JY_F_I32), 0, JY_NO_EXIT)
                    : flow_op(g, JY_FLOW_NARROW, type, flow_operand(g, JY_F_I64), 0,
                              flow_once_in(g, 2) ? flow_exit(g) : JY_NO_EXIT);
    if (choice == 20)
        return flow_op(g, JY_FLOW_TO_INT, type, flow_operand(g, flow_once_in(g, 2) ? JY_F_F64 : JY_F_F32), 0,
                       flow_exit(g));
    if (choice == 21)
        return flow_op(g, JY_FLOW_BITS, type, flow_number_operand(g, wide ? JY_F_F64 : JY_F_F32), 0, JY_NO_EXIT);
    if (choice == 24 && wide && g->flow->w_functions.n > 0)
        return jy_flow_invoke(g->flow, g->block, 0, 2,
                              (jy_fv[]){ flow_operand(g, JY_F_I64), flow_operand(g, JY_F_F64) },
                              flow_exit_of(g, JY_EXIT_CALL));
    if (choice == 22 && wide)
        return flow_call(g, 2, flow_operand(g, JY_F_I64), flow_operand(g, JY_F_F64));
    if (choice == 23)
        return jy_flow_op(g->flow, g->block, JY_FLOW_SELECT, type, 3,
                          (jy_fv[]){ flow_condition(g), flow_operand(g, type), flow_operand(g, type) }, JY_NO_EXIT);
    if (wide && flow_once_in(g, 2) && (flow_array_of(g, &a, JY_F_I8) || flow_array_of(g, &a, JY_F_I16)))
        return flow_op(g, flow_once_in(g, 2) ? JY_FLOW_SEXT : JY_FLOW_ZEXT, type, flow_load_element(g, a), 0,
                       JY_NO_EXIT);
    if (flow_array_of(g, &a, type))
        return flow_load_element(g, a);
    return flow_operand(g, type);
}

static inline jy_fv
flow_float_expression(struct flow_random *g, enum jy_ftype type)
{
    static const enum jy_fop two[] = { JY_FLOW_ADD, JY_FLOW_SUB, JY_FLOW_MUL, JY_FLOW_DIV };
    static const enum jy_fop one[] = { JY_FLOW_NEG,  JY_FLOW_ABS,   JY_FLOW_SQRT, JY_FLOW_FLOOR,
                                       JY_FLOW_CEIL, JY_FLOW_TRUNC, JY_FLOW_RINT };
    uint32_t choice = flow_pick(g, 23);
    bool wide = type == JY_F_F64;
    size_t a;
    if (choice < 8) {
        jy_fv x = flow_operand(g, type), y = flow_operand(g, type);
        jy_fv r = flow_op(g, two[flow_pick(g, 4)], type, x, y, JY_NO_EXIT);
        if (flow_once_in(g, 3))
            jy_flow_op(g->flow, g->block, JY_FLOW_FLAGGED, JY_F_NONE, 3, (jy_fv[]){ r, x, y }, flow_exit(g));
        return r;
    }
    if (choice < 10) {
        enum jy_fop op = one[flow_pick(g, 7)];
        jy_fv x = flow_operand(g, type), r = flow_op(g, op, type, x, 0, JY_NO_EXIT);
        if (op == JY_FLOW_SQRT && flow_once_in(g, 2))
            jy_flow_op(g->flow, g->block, JY_FLOW_FLAGGED, JY_F_NONE, 3, (jy_fv[]){ r, x, x }, flow_exit(g));
        return r;
    }
    if (choice == 10)
        return flow_op(g, JY_FLOW_COPYSIGN, type, flow_operand(g, type), flow_number_operand(g, type), JY_NO_EXIT);
    if (choice == 11)
        return flow_op(g, JY_FLOW_TO_FLOAT, type, flow_operand(g, JY_F_I64), 0, wide ? flow_exit(g) : JY_NO_EXIT);
    if (choice == 20)
        return flow_op(g, JY_FLOW_TO_FLOAT, type, flow_operand(g, JY_F_I32), 0, JY_NO_EXIT);
    if (choice == 21)
        return flow_op(g, JY_FLOW_BITS, type, flow_operand(g, wide ? JY_F_I64 : JY_F_I32), 0, JY_NO_EXIT);
    if (choice == 12)
        return wide ? flow_op(g, JY_FLOW_WIDEN, type, flow_operand(g, JY_F_F32), 0, JY_NO_EXIT)
                    : flow_op(g, JY_FLOW_ROUND, type, flow_operand(g, JY_F_F64), 0, JY_NO_EXIT);
    if (choice == 13 && wide)
        return flow_call(g, 0, flow_operand(g, type), flow_operand(g, type));
    if (choice == 14 && wide)
        return flow_call(g, 3, flow_operand(g, JY_F_I64), flow_operand(g, type));
    if (choice == 15 && wide)
        return jy_flow_load(g->flow, g->block, type, flow_item(g), flow_int(g, 0), 16, FLOW_VALUE);
    if (choice == 16)
        return jy_flow_op(g->flow, g->block, JY_FLOW_SELECT, type, 3,
                          (jy_fv[]){ flow_condition(g), flow_operand(g, type), flow_operand(g, type) }, JY_NO_EXIT);
    if (flow_array_of(g, &a, type))
        return flow_load_element(g, a);
    return flow_operand(g, type);
}

static inline jy_fv
flow_bool_expression(struct flow_random *g)
{
    static const enum jy_fop ops[] = { JY_FLOW_AND, JY_FLOW_OR, JY_FLOW_XOR, JY_FLOW_NOT, JY_FLOW_EQ };
    size_t a;
    if (flow_once_in(g, 3))
        return flow_op(g, ops[flow_pick(g, 5)], JY_F_I1, flow_operand(g, JY_F_I1), flow_condition(g), JY_NO_EXIT);
    if (flow_once_in(g, 6))
        return flow_call(g, 1, flow_operand(g, JY_F_F64), flow_operand(g, JY_F_I64));
    if (flow_once_in(g, 4) && flow_array_of(g, &a, JY_F_I1))
        return flow_load_element(g, a);
    return flow_condition(g);
}

static inline jy_fv
flow_expression(struct flow_random *g, enum jy_ftype type)
{
    if (type == JY_F_I1)
        return flow_bool_expression(g);
    return type == JY_F_F64 || type == JY_F_F32 ? flow_float_expression(g, type) : flow_int_expression(g, type);
}

static inline void
flow_assign(struct flow_random *g)
{
    size_t i = flow_pick(g, FLOW_VARS);
    g->local[i] = flow_expression(g, flow_local_type(i));
}

/* a[i] = x, or a[i] op= x */
static inline void
flow_store_element(struct flow_random *g)
{
    size_t a = flow_pick(g, FLOW_ARRAYS);
    enum jy_ftype type = g->array_type[a];
    bool is_narrow = type == JY_F_I8 || type == JY_F_I16;
    jy_fv value = flow_expression(g, is_narrow ? JY_F_I64 : type);
    if (is_narrow)
        value = flow_op(g, JY_FLOW_NARROW, type, value, 0, flow_once_in(g, 2) ? flow_exit(g) : JY_NO_EXIT);
    else if (type != JY_F_I1 && flow_once_in(g, 3))
        value = flow_op(g, flow_once_in(g, 3) ? JY_FLOW_MUL : JY_FLOW_ADD, type, flow_load_element(g, a), value,
                        JY_NO_EXIT);
    struct flow_address at = flow_address(g, a);
    jy_flow_store(g->flow, g->block, at.pointer, at.offset, at.plus, value, (uint32_t)a + 1);
}

static inline void
flow_store_item(struct flow_random *g)
{
    jy_fv value = flow_operand(g, JY_F_F64), item = flow_item(g);
    if (flow_once_in(g, 3)) {
        flow_call(g, 4, item, value);
    } else if (flow_once_in(g, 4)) { /* the object in another place, or in its own */
        const struct jy_flow_input list = { .kind = JY_FLOW_IN_OBJECT, .type = JY_F_PTR, .number = FLOW_LIST };
        jy_fv object = jy_flow_input(g->flow, &list), zero = flow_int(g, 0);
        flow_item(g);
        jy_fv items = jy_flow_load(g->flow, g->block, JY_F_PTR, object, zero, 16, FLOW_HEAD);
        jy_flow_store(g->flow, g->block, items, g->place[FLOW_ARRAYS].at, 0, item, FLOW_ITEMS);
    } else {
        jy_flow_store(g->flow, g->block, item, flow_int(g, 0), 16, value, flow_once_in(g, 9) ? 0 : FLOW_VALUE);
    }
}

/* A block with a parameter for each local, and more. */
static inline jy_fb
flow_block_of_locals(struct flow_random *g, size_t more, jy_fv *params)
{
    jy_fb b = jy_flow_block(g->flow);
    for (size_t i = 0; i < FLOW_VARS; i++)
        params[i] = jy_flow_param(g->flow, b, flow_local_type(i));
    for (size_t i = 0; i < more; i++)
        params[FLOW_VARS + i] = jy_flow_param(g->flow, b, JY_F_I64);
    return b;
}

static inline void
flow_go(struct flow_random *g, jy_fb to, jy_fv more)
{
    jy_fv args[FLOW_VARS + 1];
    memcpy(args, g->local, sizeof g->local);
    args[FLOW_VARS] = more;
    jy_flow_jump(g->flow, g->block, to, FLOW_VARS + (more != JY_NO_FV), args);
}

/* To the head of the loop for another round, or the first one. */
static inline void
flow_go_round(struct flow_random *g, size_t d)
{
    jy_fv args[FLOW_VARS + 2];
    memcpy(args, g->local, sizeof g->local);
    args[FLOW_VARS] = g->loop[d].next;
    args[FLOW_VARS + 1] = g->loop[d].again;
    jy_flow_jump(g->flow, g->block, g->loop[d].head, FLOW_VARS + 1 + (g->loop[d].again != JY_NO_FV), args);
}

static inline void
flow_stand(struct flow_random *g, jy_fb block, const jy_fv *params)
{
    g->block = block;
    memcpy(g->local, params, sizeof g->local);
}

static inline bool flow_statements(struct flow_random *g);

/* False: nothing comes behind it. */
static inline bool
flow_if(struct flow_random *g)
{
    jy_fv before[FLOW_VARS], params[FLOW_VARS], condition = flow_condition(g);
    jy_fb yes = jy_flow_block(g->flow), no = jy_flow_block(g->flow), join = flow_block_of_locals(g, 0, params);
    bool goes_on = false;
    memcpy(before, g->local, sizeof before);
    jy_flow_branch(g->flow, g->block, condition, yes, 0, NULL, no, 0, NULL);
    for (int arm = 0; arm < 2; arm++) {
        flow_stand(g, arm == 0 ? yes : no, before);
        if ((arm == 1 && flow_once_in(g, 2)) || flow_statements(g)) {
            flow_go(g, join, JY_NO_FV);
            goes_on = true;
        }
    }
    flow_stand(g, join, params);
    if (!goes_on) /* verifiers want an end, and nobody comes here */
        jy_flow_leave(g->flow, join, flow_exit_of(g, JY_EXIT_STOP));
    return goes_on;
}

static inline void
flow_poll(struct flow_random *g)
{
    jy_flow_op(g->flow, g->block, JY_FLOW_POLL, JY_F_NONE, 0, NULL, flow_exit_of(g, JY_EXIT_POLL));
}

/* Between two entries of a ring: the head, and a block with the index of the round and the next one. */
static inline void
flow_enter_twice(struct flow_random *g, size_t d, jy_fb middle, jy_fv second)
{
    jy_fv args[FLOW_VARS + 2], is_first = flow_condition(g);
    memcpy(args, g->local, sizeof g->local);
    args[FLOW_VARS] = g->loop[d].next;
    args[FLOW_VARS + 1] = second;
    jy_flow_branch(g->flow, g->block, is_first, g->loop[d].head, FLOW_VARS + 1, args, middle, FLOW_VARS + 2, args);
}

static inline void
flow_go_to_middle(struct flow_random *g, size_t d, jy_fb middle, jy_fv index)
{
    jy_fv args[FLOW_VARS + 2];
    memcpy(args, g->local, sizeof g->local);
    args[FLOW_VARS] = index;
    args[FLOW_VARS + 1] = g->loop[d].next;
    jy_flow_jump(g->flow, g->block, middle, FLOW_VARS + 2, args);
}

/* Behind a loop, which shares its head with the one around it: that one's next round. */
static inline void
flow_begin_again(struct flow_random *g, size_t d, jy_fv start)
{
    jy_fv args[FLOW_VARS + 2], params[FLOW_VARS], again = g->loop[d].again;
    jy_fb end = flow_block_of_locals(g, 0, params);
    jy_fv goes = flow_op(g, JY_FLOW_LT, JY_F_I1, again, flow_int(g, 2), JY_NO_EXIT);
    memcpy(args, g->local, sizeof g->local);
    args[FLOW_VARS] = start;
    args[FLOW_VARS + 1] = flow_op(g, JY_FLOW_ADD, JY_F_I64, again, flow_int(g, 1), JY_NO_EXIT);
    jy_flow_branch(g->flow, g->block, goes, g->loop[d].head, FLOW_VARS + 2, args, end, FLOW_VARS, args);
    flow_stand(g, end, params);
}

/* The test of a loop in one of the ways in which it can be written. */
static inline jy_fv
flow_goes_on(struct flow_random *g, bool down, jy_fv index, jy_fv stop, jy_fv by)
{
    static const enum jy_fop ops[2][4] = { { JY_FLOW_LT, JY_FLOW_LT, JY_FLOW_LT, JY_FLOW_LE },
                                           { JY_FLOW_GT, JY_FLOW_GT, JY_FLOW_GT, JY_FLOW_GE } };
    uint32_t choice = flow_pick(g, 8);
    if (choice == 7) {
        jy_fv up = flow_op(g, JY_FLOW_GT, JY_F_I1, by, flow_int(g, 0), JY_NO_EXIT);
        jy_fv less = flow_op(g, JY_FLOW_LT, JY_F_I1, index, stop, JY_NO_EXIT);
        jy_fv more = flow_op(g, JY_FLOW_GT, JY_F_I1, index, stop, JY_NO_EXIT);
        return jy_flow_op(g->flow, g->block, JY_FLOW_SELECT, JY_F_I1, 3, (jy_fv[]){ up, less, more }, JY_NO_EXIT);
    }
    if (choice >= 5)
        return flow_op(g, ops[!down][choice % 4], JY_F_I1, stop, index, JY_NO_EXIT);
    return flow_op(g, ops[down][choice % 4], JY_F_I1, index, stop, JY_NO_EXIT);
}

/* for local in range(start, stop, step), or a loop that a counter ends. Start, stop and step keep it short. */
static inline void
flow_loop(struct flow_random *g)
{
    jy_fv in_head[FLOW_VARS + 2], in_middle_of[FLOW_VARS + 2], behind[FLOW_VARS], stop;
    bool is_range = !flow_once_in(g, 5), down = flow_once_in(g, 5);
    int64_t step = (flow_once_in(g, 4) ? 1 + (int64_t)flow_pick(g, 3) : 1) * (down ? -1 : 1);
    int64_t end = down ? -2 : (int64_t)flow_pick(g, 7);
    jy_fv start = flow_int(g, down ? (int64_t)flow_pick(g, 8) : flow_once_in(g, 3) ? (int64_t)flow_pick(g, 5) - 2 : 0);
    if (down || flow_once_in(g, 5))
        stop = flow_int(g, end);
    else if (flow_once_in(g, 3))
        stop = flow_op(g, JY_FLOW_MIN, JY_F_I64, flow_operand(g, JY_F_I64), flow_int(g, 9), JY_NO_EXIT);
    else
        stop = flow_array_input(g, flow_pick(g, FLOW_ARRAYS), JY_FLOW_IN_EXTENT);
    jy_fv by = flow_int(g, step);
    if (!down && flow_once_in(g, 5)) { /* 1 .. 3, not known when the flow is made */
        jy_fv few = flow_op(g, JY_FLOW_AND, JY_F_I64, flow_operand(g, JY_F_I64), flow_int(g, 3), JY_NO_EXIT);
        by = flow_op(g, JY_FLOW_MAX, JY_F_I64, few, flow_int(g, 1), JY_NO_EXIT);
    }
    bool is_shared = flow_once_in(g, 8), in_middle = !is_shared && flow_once_in(g, 6);
    jy_fb head = flow_block_of_locals(g, is_shared ? 2 : 1, in_head), body = jy_flow_block(g->flow);
    jy_fb after = flow_block_of_locals(g, 0, behind), middle = UINT32_MAX;
    size_t d = g->depth++, target = flow_once_in(g, 2) ? 0 : 2;
    g->loop[d].step = is_range ? by : JY_NO_FV;
    g->loop[d].next = start;
    g->loop[d].stop = stop;
    g->loop[d].index = JY_NO_FV;
    g->loop[d].head = head;
    g->loop[d].after = after;
    g->loop[d].again = is_shared ? flow_int(g, 0) : JY_NO_FV;
    if (in_middle) {
        middle = flow_block_of_locals(g, 2, in_middle_of);
        flow_enter_twice(g, d, middle, flow_op(g, JY_FLOW_ADD, JY_F_I64, start, by, JY_NO_EXIT));
    } else {
        flow_go_round(g, d);
    }
    flow_stand(g, head, in_head);
    jy_fv index = g->loop[d].next = in_head[FLOW_VARS];
    if (is_shared)
        g->loop[d].again = in_head[FLOW_VARS + 1];
    if (flow_once_in(g, 3))
        flow_poll(g);
    jy_fv goes = flow_goes_on(g, down, index, stop, by);
    jy_flow_branch(g->flow, head, goes, body, 0, NULL, after, FLOW_VARS, g->local);
    g->block = body;
    g->loop[d].next = flow_op(g, JY_FLOW_ADD, JY_F_I64, index, by, JY_NO_EXIT);
    if (is_range)
        g->local[target] = g->loop[d].index = index;
    bool goes_round = flow_statements(g);
    if (in_middle) {
        if (goes_round)
            flow_go_to_middle(g, d, middle, index);
        flow_stand(g, middle, in_middle_of);
        g->loop[d].index = is_range ? in_middle_of[FLOW_VARS] : JY_NO_FV;
        g->loop[d].next = in_middle_of[FLOW_VARS + 1];
        goes_round = flow_statements(g);
    }
    if (goes_round) {
        if (flow_once_in(g, 3))
            flow_poll(g);
        flow_go_round(g, d);
    }
    g->depth--;
    flow_stand(g, after, behind);
    if (is_shared)
        flow_begin_again(g, d, start);
    if (flow_once_in(g, 2)) /* nobody asks for the last index */
        g->local[target] = flow_int(g, 3);
}

/* break, continue or return. */
static inline void
flow_jump_away(struct flow_random *g)
{
    size_t d = g->depth - 1;
    uint32_t choice = flow_pick(g, 5);
    if (choice == 0 || g->depth == 0) {
        jy_flow_leave(g->flow, g->block, flow_exit_of(g, JY_EXIT_STOP));
    } else if (choice < 3) {
        flow_go(g, g->loop[d].after, JY_NO_FV);
    } else {
        if (flow_once_in(g, 2))
            flow_poll(g);
        flow_go_round(g, d);
    }
}

/* False: nothing comes behind them. */
static inline bool
flow_statements(struct flow_random *g)
{
    for (uint32_t n = 1 + flow_pick(g, 4); n > 0 && g->budget > 0; n--) {
        uint32_t choice = flow_pick(g, 20);
        g->budget--;
        g->exit = JY_NO_EXIT;
        if (choice < 3 && g->depth < FLOW_DEPTH) {
            flow_loop(g);
        } else if (choice < 6) {
            if (!flow_if(g))
                return false;
        } else if (choice < 10) {
            flow_store_element(g);
        } else if (choice == 10) {
            flow_store_item(g);
        } else if (choice == 13 && flow_once_in(g, 2)) {
            g->local[0] = flow_call(g, 2, flow_operand(g, JY_F_I64), flow_operand(g, JY_F_F64));
        } else if (choice == 11 && flow_once_in(g, 2)) {
            flow_op(g, JY_FLOW_CHECK, JY_F_NONE, flow_condition(g), 0, flow_exit(g));
        } else if (choice == 12 && flow_once_in(g, 2) && g->depth > 0) {
            flow_jump_away(g);
            return false;
        } else {
            flow_assign(g);
        }
    }
    return true;
}

/* From here on the flow is built, or one of its functions. */
static inline void
flow_begin(struct flow_random *g, struct jy_flow *w)
{
    g->flow = w;
    g->block = 0;
    g->exit = JY_NO_EXIT;
    g->operation.block = UINT32_MAX;
    for (size_t a = 0; a <= FLOW_ARRAYS; a++)
        g->place[a].block = UINT32_MAX;
    w->w_file = "random.py";
    w->w_np_flags = true;
    w->w_nalias = FLOW_VALUE;
    w->w_alias = JY_NEW_ARRAY(g->arena, uint32_t, FLOW_VALUE);
    w->w_alias_written = JY_NEW_ARRAY(g->arena, bool, FLOW_VALUE);
    for (size_t a = 0; a < FLOW_VALUE; a++)
        w->w_alias[a] = a < FLOW_ARRAYS ? (uint32_t)(FLOW_NUMBERS + a) : JY_NO_FV;
    for (size_t i = 0; i < FLOW_VARS; i++) {
        static const uint8_t dtypes[JY_F_TYPE_COUNT] = {
            [JY_F_I1] = JY_BOOL, [JY_F_I32] = JY_I32, [JY_F_I64] = JY_I64, [JY_F_F32] = JY_F32, [JY_F_F64] = JY_F64
        };
        enum jy_ftype type = flow_local_type(i);
        struct jy_flow_input in = { .type = (uint8_t)type, .dtype = dtypes[type], .number = (uint32_t)i };
        if (w->w_root != NULL && i < w->w_nargs)
            in.kind = JY_FLOW_IN_ARG;
        g->local[i] = i < FLOW_NUMBERS ? jy_flow_input(w, &in) : g->local[i - FLOW_NUMBERS];
    }
}

/* Of an int and a float, which are its first two locals; gives its first. */
static inline void
flow_random_function(struct flow_random *g)
{
    struct jy_flow *root = g->flow, *w = jy_flow_function(root, "callee");
    struct jy_flow_exit returns = { .x_kind = JY_EXIT_RETURN, .x_offset = ++g->offset };
    w->w_frames = 1;
    w->w_type = JY_F_I64;
    w->w_nargs = 2;
    w->w_args = jy_arena_copy(g->arena, (uint8_t[]){ JY_F_I64, JY_F_F64 }, 2);
    flow_begin(g, w);
    g->budget = 2 + (int)flow_pick(g, 8);
    bool goes_on = true;
    if (flow_once_in(g, 2))
        flow_loop(g);
    while (goes_on && g->budget > 0)
        goes_on = flow_statements(g);
    if (goes_on) {
        *jy_vec_push(g->arena, &returns.x_values) = g->local[0];
        jy_flow_leave(w, g->block, jy_flow_exit_add(w, &returns));
    }
    g->flow = root;
}

static inline void
flow_random_build(struct flow_random *g, uint64_t seed)
{
    static const enum jy_ftype types[] = {
        JY_F_F64, JY_F_F64, JY_F_I64, JY_F_F32, JY_F_I32, JY_F_I1, JY_F_I8, JY_F_I16
    };
    *g = (struct flow_random){ .seed = seed, .state = seed * 2654435761u + 12345, .arena = jy_arena_new() };
    for (int i = 0; i < 4; i++)
        flow_pick(g, 2);
    struct jy_flow *w = g->flow = jy_flow_new(g->arena, "random");
    g->world = calloc(1, sizeof *g->world);
    if (g->world == NULL)
        abort();
    w->w_file = "random.py";
    for (size_t a = 0; a < FLOW_ARRAYS; a++) {
        g->array_type[a] = types[flow_pick(g, 8)];
        g->array_strided[a] = flow_once_in(g, 3);
    }
    if (flow_once_in(g, 4))
        flow_random_function(g);
    flow_begin(g, w);
    g->budget = 4 + (int)flow_pick(g, 30);
    flow_loop(g);
    while (g->budget > 0)
        if (!flow_statements(g))
            return;
    jy_flow_leave(w, g->block, flow_exit_of(g, JY_EXIT_STOP));
}

static inline void
flow_random_free(struct flow_random *g)
{
    free(g->world);
    jy_arena_free(g->arena);
}

#endif
