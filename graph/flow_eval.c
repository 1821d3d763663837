/* The slow interpreter of the flow IR: one instruction at a time, exactly what machine code must do. It is the oracle of the backend and of the passes, and an executor of its own, so it is
 * made of nothing but the definitions: jy_flow_apply for what depends on operands only; here are control, memory, inputs and calls.
 *
 * Helpers are C functions of many signatures, and all of them are called as one. The C ABIs of x86-64 (System V) and AArch64 hand out integer and floating-point arguments
 * independently of each other, each sort in order, and a function does not see arguments that it has no parameters for. So eight int64_t (which are pointers and bools too) and eight
 * doubles (a float lies in the low half of one) cover every signature with at most eight of either; flow.h allows six, the call and the failure. */
#include "graph/flow.h"
#include <stdlib.h>
#include <string.h>

struct eval {
    const struct jy_flow *w;
    struct jy_flow_call *call;
    union jy_scalar *value; /* by value */
    union jy_scalar *moved; /* arguments of the edge that is taken */
};

static union jy_scalar
arg(const struct eval *e, const struct jy_fvalue *v, size_t i)
{
    return e->value[v->f_args[i]];
}

static enum jy_ftype
arg_type(const struct eval *e, const struct jy_fvalue *v, size_t i)
{
    return (enum jy_ftype)jy_flow_at(e->w, v->f_args[i])->f_type;
}

/* Memory and the low bytes of a slot agree: every machine that we know is little-endian. */
static union jy_scalar
load(enum jy_ftype type, const void *at)
{
    union jy_scalar v = { .bits = 0 };
    memcpy(&v, at, jy_flow_type_bytes(type));
    if (type == JY_F_I8)
        v.i = (int8_t)v.i;
    else if (type == JY_F_I16)
        v.i = (int16_t)v.i;
    else if (type == JY_F_I32)
        v.i = (int32_t)v.i;
    return v;
}

static void *
address(const struct eval *e, const struct jy_fvalue *v)
{
    uint64_t at = arg(e, v, 0).bits + arg(e, v, 1).bits + (uint64_t)(int64_t)(int32_t)v->f_index;
    return (void *)(uintptr_t)at;
}

struct registers {
    int64_t i[8];
    double f[8];
    size_t ni, nf;
};

static void
pass(struct registers *r, enum jy_ftype type, union jy_scalar v)
{
    if (type == JY_F_F64 || type == JY_F_F32)
        r->f[r->nf++] = v.d;
    else
        r->i[r->ni++] = v.i;
}

#define CALLER(name, type)                                                                                             \
    static type name(void *const *helper, const struct registers *r)                                                   \
    {                                                                                                                  \
        type (*fn)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, double, double, double,     \
                   double, double, double, double, double);                                                            \
        memcpy(&fn, helper, sizeof fn);                                                                                \
        return fn(r->i[0], r->i[1], r->i[2], r->i[3], r->i[4], r->i[5], r->i[6], r->i[7], r->f[0], r->f[1], r->f[2],   \
                  r->f[3], r->f[4], r->f[5], r->f[6], r->f[7]);                                                        \
    }
CALLER(call_nothing, void)
CALLER(call_bool, bool)
CALLER(call_int32, int32_t)
CALLER(call_int64, int64_t)
CALLER(call_float, float)
CALLER(call_double, double)

/* False: the helper says that it failed. */
static bool
call(union jy_scalar *out, const struct eval *e, const struct jy_fvalue *v)
{
    const struct jy_flow_helper *h = &e->w->w_helpers.at[v->f_index];
    void *const *helper = &e->call->helper[v->f_index];
    struct registers r = { .ni = 0 };
    int32_t failed = 0;
    if (h->wants_call)
        pass(&r, JY_F_PTR, (union jy_scalar){ .bits = (uintptr_t)e->call });
    for (size_t i = 0; i < h->nargs; i++)
        pass(&r, (enum jy_ftype)h->args[i], arg(e, v, i));
    if (h->may_fail)
        pass(&r, JY_F_PTR, (union jy_scalar){ .bits = (uintptr_t)&failed });
    out->bits = 0;
    switch ((int)h->type) {
    case JY_F_NONE:
        call_nothing(helper, &r);
        break;
    case JY_F_I1:
        out->i = call_bool(helper, &r);
        break;
    case JY_F_I32:
        out->i = call_int32(helper, &r);
        break;
    case JY_F_F32:
        out->f = call_float(helper, &r);
        break;
    case JY_F_F64:
        out->d = call_double(helper, &r);
        break;
    default:
        out->i = call_int64(helper, &r);
        break;
    }
    return failed == 0;
}

static bool
must_poll(const struct jy_flow_call *c)
{
    return (*c->watch & c->watch_mask) != 0;
}

/* False: its exit is taken, if it has one. */
static bool
run(const struct eval *e, union jy_scalar *out, const struct jy_fvalue *v)
{
    union jy_scalar args[3];
    switch ((int)v->f_op) {
    case JY_FLOW_CONST:
        *out = v->f_value;
        return true;
    case JY_FLOW_INPUT:
        *out = e->call->in[v->f_index];
        return true;
    case JY_FLOW_LOAD:
        *out = load((enum jy_ftype)v->f_type, address(e, v));
        return true;
    case JY_FLOW_STORE:
        memcpy(address(e, v), &e->value[v->f_args[2]], jy_flow_type_bytes(arg_type(e, v, 2)));
        return true;
    case JY_FLOW_CALL:
        return call(out, e, v);
    case JY_FLOW_POLL:
        return !must_poll(e->call);
    default:
        for (size_t i = 0; i < v->f_nargs; i++)
            args[i] = arg(e, v, i);
        return jy_flow_apply(out, (enum jy_fop)v->f_op, (enum jy_ftype)v->f_type, arg_type(e, v, 0), args);
    }
}

static int32_t
leave(const struct eval *e, uint32_t exit)
{
    const struct jy_flow_exit *x = &e->w->w_exits.at[exit];
    for (size_t i = 0; i < x->x_values.n; i++)
        e->call->out[i] = e->value[x->x_values.at[i]];
    return (int32_t)exit;
}

/* All arguments are read before a parameter is written: an edge may exchange parameters. */
static jy_fb
follow(const struct eval *e, const struct jy_fedge *edge)
{
    const struct jy_fblock *to = &e->w->w_blocks.at[edge->to];
    for (size_t i = 0; i < edge->nargs; i++)
        e->moved[i] = e->value[edge->args[i]];
    for (size_t i = 0; i < edge->nargs; i++)
        e->value[to->f_params.at[i]] = e->moved[i];
    return edge->to;
}

static int32_t
run_blocks(const struct eval *e)
{
    for (jy_fb block = 0;;) {
        const struct jy_fblock *b = &e->w->w_blocks.at[block];
        for (size_t i = 0; i < b->f_body.n; i++) {
            const struct jy_fvalue *v = jy_flow_at(e->w, b->f_body.at[i]);
            union jy_scalar result = { .bits = 0 };
            if (!run(e, &result, v) && v->f_exit != JY_NO_EXIT)
                return leave(e, v->f_exit);
            e->value[b->f_body.at[i]] = result;
        }
        if (b->f_end == JY_END_EXIT)
            return leave(e, b->f_leave);
        bool second = b->f_end == JY_END_BRANCH && e->value[b->f_condition].i == 0;
        block = follow(e, &b->f_edge[second ? 1 : 0]);
    }
}

int32_t
jy_flow_eval(const struct jy_flow *w, struct jy_flow_call *call)
{
    size_t nparams = 0;
    for (size_t b = 0; b < w->w_blocks.n; b++)
        if (w->w_blocks.at[b].f_params.n > nparams)
            nparams = w->w_blocks.at[b].f_params.n;
    union jy_scalar *value = calloc(w->w_values.n + nparams + 1, sizeof(*value));
    if (value == NULL)
        return JY_FLOW_NO_MEMORY;
    int32_t exit = run_blocks(&(struct eval){ w, call, value, value + w->w_values.n });
    free(value);
    return exit;
}
