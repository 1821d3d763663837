/* The slow interpreter of the flow IR: one instruction at a time, exactly what machine code must do. It is the oracle of the backend and of the passes, and an executor of its own, so it is
 * made of nothing but the definitions: jy_flow_apply for what depends on operands only; here are control, memory, inputs and calls.
 *
 * Helpers are C functions of many signatures, and all of them are called as one. The C ABIs of x86-64 (System V) and AArch64 hand out integer and floating-point arguments
 * independently of each other, each sort in order, and a function does not see arguments that it has no parameters for. So eight int64_t (which are pointers and bools too) and eight
 * doubles (a float lies in the low half of one) cover every signature with at most eight of either; flow.h allows six, the call and the failure.
 *
 * Functions that call each other have their frames on the heap: whatever depth they reach, the C stack does not grow. */
#include "graph/flow.h"
#include <stdlib.h>
#include <string.h>

struct eval {
    const struct jy_flow *w;
    struct jy_flow_call *call;
    union jy_scalar *value; /* by value */
    union jy_scalar *moved; /* arguments of the edge that is taken; values of the exit of a function */
    union jy_scalar *args;  /* of a function */
    const union jy_scalar *in;
    struct eval *back; /* who called the function; NULL: the root */
    uint32_t function;
    int64_t left;
    jy_fb block; /* where it is */
    size_t at;
    union jy_scalar *scratch;
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
    else if (type == JY_F_I1) /* any byte but 0 is true */
        v.i = v.i != 0;
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
    void *const *helper = &e->call->helper[jy_flow_first_helper(e->w) + v->f_index];
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
        *out = e->w->w_inputs.at[v->f_index].kind == JY_FLOW_IN_ARG ? e->args[e->w->w_inputs.at[v->f_index].number]
                                                                    : e->in[v->f_index];
        return true;
    case JY_FLOW_SCRATCH:
        out->bits = (uintptr_t)e->scratch;
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
    case JY_FLOW_INDEPENDENT:
        return true;
    case JY_FLOW_SPREAD: /* the loop itself does all of them */
        out->i = 0;
        return true;
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

/* refs: a new frame for a function, or the root; NULL: no memory */
static struct eval *
begin(const struct jy_flow *w, struct jy_flow_call *call, struct eval *back)
{
    size_t most = 0;
    for (size_t b = 0; b < w->w_blocks.n; b++)
        if (w->w_blocks.at[b].f_params.n > most)
            most = w->w_blocks.at[b].f_params.n;
    for (size_t x = 0; x < w->w_exits.n && back != NULL; x++)
        if (w->w_exits.at[x].x_values.n > most)
            most = w->w_exits.at[x].x_values.n;
    struct eval *e = calloc(1, sizeof *e);
    union jy_scalar *value =
        calloc(w->w_values.n + most + w->w_nargs + 1 + JY_SCRATCH_BYTES / sizeof *value, sizeof *value);
    if (e == NULL || value == NULL) {
        free(e);
        free(value);
        return NULL;
    }
    e->w = w;
    e->call = call;
    e->value = value;
    e->moved = value + w->w_values.n;
    e->args = e->moved + most;
    e->scratch = e->args + w->w_nargs + 1;
    e->in = call->in + jy_flow_first_input(w);
    e->back = back;
    return e;
}

static void
end(struct eval *e)
{
    free(e->value);
    free(e);
}

/* The frame of the function that is called; NULL: it is not begun. */
static struct eval *
invoke(struct eval *e, const struct jy_fvalue *v)
{
    const struct jy_flow *w = jy_flow_root(e->w)->w_functions.at[v->f_index];
    struct eval *inner = e->left < w->w_frames || must_poll(e->call) ? NULL : begin(w, e->call, e);
    if (inner == NULL)
        return NULL;
    inner->function = v->f_index;
    inner->left = e->left - w->w_frames;
    for (size_t i = 0; i < v->f_nargs; i++)
        inner->args[i] = arg(e, v, i);
    return inner;
}

/* Whoever called the function goes on; false: it leaves too, by *exit. */
static bool
return_to(struct eval *outer, struct eval *inner, uint32_t *exit)
{
    const struct jy_flow_exit *x = &inner->w->w_exits.at[*exit];
    jy_fv at = outer->w->w_blocks.at[outer->block].f_body.at[outer->at - 1];
    if (x->x_kind == JY_EXIT_RETURN) {
        if (x->x_values.n != 0)
            outer->value[at] = inner->value[x->x_values.at[0]];
        return true;
    }
    for (size_t i = 0; i < x->x_values.n; i++)
        inner->moved[i] = inner->value[x->x_values.at[i]];
    inner->call->push(inner->call, inner->function, *exit, inner->moved);
    *exit = jy_flow_at(outer->w, at)->f_exit;
    return false;
}

enum outcome { GO_ON, CALLS, LEAVES };

/* The next instruction, or the end of the block. */
static enum outcome
step(struct eval *e, struct eval **inner, uint32_t *exit)
{
    const struct jy_fblock *b = &e->w->w_blocks.at[e->block];
    if (e->at < b->f_body.n) {
        jy_fv number = b->f_body.at[e->at++];
        const struct jy_fvalue *v = jy_flow_at(e->w, number);
        union jy_scalar result = { .bits = 0 };
        *exit = v->f_exit;
        if (v->f_op == JY_FLOW_INVOKE) {
            *inner = invoke(e, v);
            return *inner != NULL ? CALLS : LEAVES;
        }
        if (!run(e, &result, v) && v->f_exit != JY_NO_EXIT)
            return LEAVES;
        e->value[number] = result;
        return GO_ON;
    }
    *exit = b->f_leave;
    if (b->f_end == JY_END_EXIT)
        return LEAVES;
    bool second = b->f_end == JY_END_BRANCH && e->value[b->f_condition].i == 0;
    e->block = follow(e, &b->f_edge[second ? 1 : 0]);
    e->at = 0;
    return GO_ON;
}

static int32_t
run_blocks(struct eval *e)
{
    for (;;) {
        struct eval *inner = NULL;
        uint32_t exit;
        enum outcome outcome = step(e, &inner, &exit);
        if (outcome == CALLS)
            e = inner;
        for (bool goes_on = outcome != LEAVES; !goes_on;) {
            struct eval *outer = e->back;
            if (outer == NULL)
                return leave(e, exit);
            goes_on = return_to(outer, e, &exit);
            end(e);
            e = outer;
        }
    }
}

int32_t
jy_flow_eval(const struct jy_flow *w, struct jy_flow_call *call)
{
    struct eval *root = begin(w, call, NULL);
    if (root == NULL)
        return JY_FLOW_NO_MEMORY;
    root->left = call->left;
    int32_t exit = run_blocks(root);
    end(root); /* run_blocks ends those that it began. NOLINT(clang-analyzer-unix.Malloc) */
    return exit;
}
