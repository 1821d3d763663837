/* Flows as machine code, for each feature level that this machine can run. */
#ifndef JY_BACKEND_FLOW_HARNESS_H
#define JY_BACKEND_FLOW_HARNESS_H

#include "tests/unit/backend_llvm/harness.h"
#include "tests/unit/graph/flow_case.h"

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

/* Of flow values: NaNs are all alike. */
static inline bool
flow_same(enum jy_ftype type, union jy_scalar a, union jy_scalar b)
{
    return same_value(type == JY_F_F64 ? JY_F64 : type == JY_F_F32 ? JY_F32 : JY_I64, a, b);
}

#endif
