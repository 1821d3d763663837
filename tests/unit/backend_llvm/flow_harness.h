/* Flows as machine code, for each feature level that this machine can run. */
#ifndef JY_BACKEND_FLOW_HARNESS_H
#define JY_BACKEND_FLOW_HARNESS_H

#include "tests/unit/backend_llvm/harness.h"
#include "tests/unit/graph/flow_case.h"
#include <stdlib.h>

struct flow_code {
    struct jy_object object;
    struct jy_code_block *code;
    jy_flow_fn run;
    const char *why;
};

/* As jy_flow_eval: the values of the exit in order. */
static inline int32_t
flow_run(const struct flow_code *c, const struct jy_flow *w, struct jy_flow_call *call)
{
    uint32_t *slot = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_values.n);
    union jy_scalar *values = call->out, *slots = JY_NEW_ARRAY(w->w_arena, union jy_scalar, jy_flow_slots(w, slot));
    call->out = slots;
    int32_t exit = c->run(call);
    if (CHECK(exit >= 0 && (size_t)exit < w->w_exits.n))
        jy_flow_gather(values, w, (uint32_t)exit, slot, call);
    call->out = values;
    return exit;
}

static inline void
flow_unload(struct flow_code *c)
{
    jy_loader_free(c->code);
    jy_backend_entry()->release(&c->object);
    *c = (struct flow_code){ .why = NULL };
}

static inline bool
flow_load(struct flow_code *c, const struct jy_flow *w, enum level level)
{
    struct jy_backend_options options = { .features = level_features(level), .verify = true, .name = "trial" };
    *c = (struct flow_code){ .why = NULL };
    if (jy_backend_entry()->compile_flow(&c->object, w, &options) != JY_OK) {
        c->why = c->object.error;
        return false;
    }
    if (jy_loader_place(&c->code, c->object.bytes, c->object.size, &c->why) != JY_OK)
        return false;
    void *at = jy_loader_symbol(c->code, "jy_kernel_0");
    memcpy(&c->run, &at, sizeof at);
    return c->run != NULL;
}

/* The LLVM IR of a text, before the passes or behind them; NULL after a failed check. To be freed. */
static inline char *
flow_ir(const char *text, bool optimized)
{
    struct jy_backend_options options = { .want_ir = true, .want_ir_opt = true, .verify = true, .name = "trial" };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct jy_object out;
    char *ir = NULL;
    if (w != NULL) {
        if (jy_backend_entry()->compile_flow(&out, w, &options) == JY_OK)
            ir = strdup(optimized ? out.ir_opt : out.ir);
        else
            CHECK_STR(out.error, NULL);
        jy_backend_entry()->release(&out);
    }
    jy_arena_free(arena);
    return ir;
}

/* Of flow values: NaNs are all alike. */
static inline bool
flow_same(enum jy_ftype type, union jy_scalar a, union jy_scalar b)
{
    return same_value(type == JY_F_F64 ? JY_F64 : type == JY_F_F32 ? JY_F32 : JY_I64, a, b);
}

/* Runs a text at each level and by the interpreter; `check` looks at what came out. */
static inline void
flow_run_text(const char *text, struct jy_flow_call *call, void (*check)(int32_t exit, const struct jy_flow_call *call))
{
    for (int level = -1; level < LEVELS; level++) {
        struct jy_arena *arena = jy_arena_new();
        struct jy_flow *w = parse_flow(arena, text);
        struct flow_code c;
        if (w != NULL && level < 0) {
            check(jy_flow_eval(w, call), call);
        } else if (w != NULL && level_runs((enum level)level)) {
            if (CHECK(flow_load(&c, w, (enum level)level)))
                check(flow_run(&c, w, call), call);
            flow_unload(&c);
        }
        jy_arena_free(arena);
    }
}

/* With these inputs: the same exit with the same values. */
static inline bool
flow_agrees(const struct jy_flow *w, const struct flow_code *c, const struct jy_flow_call *call)
{
    size_t room = 1;
    for (size_t k = 0; k < w->w_exits.n; k++)
        room = w->w_exits.at[k].x_values.n > room ? w->w_exits.at[k].x_values.n : room;
    union jy_scalar *expected = JY_NEW_ARRAY(w->w_arena, union jy_scalar, room),
                    *actual = JY_NEW_ARRAY(w->w_arena, union jy_scalar, room);
    struct jy_flow_call slow = *call, fast = *call;
    slow.out = expected;
    fast.out = actual;
    int32_t exit = jy_flow_eval(w, &slow);
    if (flow_run(c, w, &fast) != exit)
        return false;
    const struct jy_flow_exit *x = &w->w_exits.at[exit];
    for (size_t k = 0; k < x->x_values.n; k++)
        if (!flow_same((enum jy_ftype)jy_flow_at(w, x->x_values.at[k])->f_type, actual[k], expected[k]))
            return false;
    return true;
}

#endif
