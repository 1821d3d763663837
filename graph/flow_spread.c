/* Loops over jitney.prange: whose rounds the user says are independent. Where nothing in such a loop needs the interpreter, its rounds are also made a function of the flow, the *piece*:
 *
 *     before -> spread: SPREAD has done so many of the first rounds -> head <-+       piece (from, to, last, ...): the rounds from .. to-1
 *                                                                      |      |         done: what the last round knew -> last
 *                                                                     body ---+         any exit: it has failed, and says nothing of where
 *
 * SPREAD does as many of the first rounds as it likes (none is always right: the interpreter of flows does none), on as many threads as it likes; the loop as it was does the others. If a
 * piece fails, what it and the others have stored is put back, and none of the rounds is done: so the loop itself comes to what failed, in its order, and leaves there.
 *
 * A parameter of the head, but for the index, is
 *   LAST  where rounds only hand it on, or replace it: locals that are assigned in the body. Exits name them. A piece says which of them it has replaced, and the last piece that has counts.
 *   SUM   where rounds only add to it: ints, whose sum has no order, and floats under fastmath. A piece begins with zero.
 *   Any other makes a round depend on the one before: the loop stays as it is. */
#include "graph/flow_simplify_internal.h"
#include <string.h>

enum { MOST_OUTSIDE = 56, SMALL_BITS = 45 }; /* taste */

struct spread {
    struct jy_flow *w;
    const struct jy_flow_shape *shape;
    const struct jy_flow_loop *loop;
    bool fastmath;
    bool *inside; /* by block */
    jy_fb head;
    jy_fv index, stop;
    size_t index_place, stop_side, stay;
    int64_t step;
    uint8_t *role; /* by value: number + 1 of the parameter of the head that it hands on or is a sum of */
    uint8_t *how;  /* by parameter of the head: enum jy_flow_last_how */
    const char *why;
};

static bool
refuse(struct spread *s, const char *why)
{
    s->why = why;
    return false;
}

static const struct jy_fblock *
block_of(const struct spread *s, size_t k)
{
    return &s->w->w_blocks.at[s->loop->blocks.at[k]];
}

/* ---- does it count? ---- */

static bool
steps_by(const struct jy_flow *w, jy_fv next, jy_fv index, int64_t *step)
{
    const struct jy_fvalue *v = jy_flow_at(w, next);
    if (v->f_op != JY_FLOW_ADD || (v->f_args[0] != index && v->f_args[1] != index))
        return false;
    const struct jy_fvalue *by = jy_flow_at(w, v->f_args[v->f_args[0] == index ? 1 : 0]);
    *step = by->f_value.i;
    return by->f_op == JY_FLOW_CONST && *step != 0 && *step < INT64_C(1) << 30 && *step > -(INT64_C(1) << 30);
}

static bool
has_step(struct spread *s)
{
    const struct jy_fblock *head = &s->w->w_blocks.at[s->head];
    s->index_place = 0;
    while (head->f_params.at[s->index_place] != s->index)
        s->index_place++;
    s->step = 0;
    for (uint32_t p = s->shape->pred_start[s->head]; p < s->shape->pred_start[s->head + 1]; p++) {
        struct jy_fpred pred = s->shape->pred[p];
        int64_t step;
        if (!s->inside[pred.from])
            continue;
        if (!steps_by(s->w, s->w->w_blocks.at[pred.from].f_edge[pred.edge].args[s->index_place], s->index, &step) ||
            (s->step != 0 && step != s->step))
            return false;
        s->step = step;
    }
    return s->step != 0;
}

static bool
counts(struct spread *s)
{
    const struct jy_fblock *head = &s->w->w_blocks.at[s->head];
    if (head->f_end != JY_END_BRANCH || s->inside[head->f_edge[0].to] == s->inside[head->f_edge[1].to])
        return false;
    s->stay = s->inside[head->f_edge[0].to] ? 0 : 1;
    const struct jy_fvalue *test = jy_flow_at(s->w, head->f_condition);
    if ((test->f_op != JY_FLOW_LT && test->f_op != JY_FLOW_GT) || test->f_block != s->head)
        return false;
    for (size_t side = 0; side < 2; side++) {
        const struct jy_fvalue *v = jy_flow_at(s->w, test->f_args[side]);
        if (v->f_op != JY_FLOW_PARAM || v->f_block != s->head || v->f_type != JY_F_I64 ||
            s->inside[jy_flow_at(s->w, test->f_args[1 - side])->f_block])
            continue;
        s->index = test->f_args[side];
        s->stop = test->f_args[1 - side];
        s->stop_side = 1 - side;
        bool up = ((test->f_op == JY_FLOW_LT) == (side == 0)) == (s->stay == 0);
        return has_step(s) && (s->step > 0) == up;
    }
    return false;
}

/* ---- does it need the interpreter? ---- */

static bool
is_free(struct spread *s, const struct jy_fvalue *v)
{
    switch ((int)v->f_op) {
    case JY_FLOW_CALL:
        if (s->w->w_helpers.at[v->f_index].pure)
            return true;
        return refuse(s, jy_arena_printf(s->w->w_arena, "its body calls %s, which needs the interpreter",
                                         s->w->w_helpers.at[v->f_index].name));
    case JY_FLOW_INVOKE:
        return refuse(s, "its body calls a function that is native code of its own");
    case JY_FLOW_STORE:
        if (v->f_alias == 0 || s->w->w_alias_shared >> v->f_alias & 1)
            return refuse(s, "arrays that its body changes may share memory with others");
        return s->w->w_alias[v->f_alias - 1] != JY_NO_FV ||
               refuse(s, "its body changes a list or another object of Python's");
    case JY_FLOW_POLL:
    case JY_FLOW_INDEPENDENT:
        return true;
    default:
        return !jy_flow_has_effect(s->w, v) || refuse(s, "its body does what needs the interpreter");
    }
}

/* Where the loop is left from the middle, the flow is left. */
static bool
is_left_at_head(struct spread *s, jy_fb block)
{
    const struct jy_fblock *b = &s->w->w_blocks.at[block];
    for (size_t e = 0; block != s->head && e < jy_flow_nedges(b); e++) {
        const struct jy_fblock *to = &s->w->w_blocks.at[b->f_edge[e].to];
        if (s->inside[b->f_edge[e].to])
            continue;
        if (to->f_end != JY_END_EXIT || s->w->w_exits.at[to->f_leave].x_kind == JY_EXIT_RETURN)
            return refuse(s, "it is left from the middle, by break or return");
    }
    return true;
}

static bool
is_native(struct spread *s)
{
    for (size_t k = 0; k < s->loop->blocks.n; k++) {
        const struct jy_fblock *b = block_of(s, k);
        for (size_t i = 0; i < b->f_body.n; i++)
            if (!is_free(s, jy_flow_at(s->w, b->f_body.at[i])))
                return false;
        if (!is_left_at_head(s, s->loop->blocks.at[k]))
            return false;
    }
    return true;
}

/* ---- what rounds hand on ---- */

/* An int of Python's own: exact however far the sum goes; NumPy's would warn of a part of it. */
static bool
has_no_order(const struct spread *s, const struct jy_fvalue *v)
{
    if (v->f_type == JY_F_F64 || v->f_type == JY_F_F32)
        return s->fastmath;
    const char *what = v->f_exit != JY_NO_EXIT ? s->w->w_exits.at[v->f_exit].x_what : NULL;
    return v->f_type == JY_F_I64 && what != NULL && strcmp(what, "int overflow") == 0;
}

static uint8_t
role_of_sum(const struct spread *s, const struct jy_fvalue *v)
{
    if (v->f_op != JY_FLOW_ADD && v->f_op != JY_FLOW_SUB)
        return 0;
    uint8_t a = s->role[v->f_args[0]], b = s->role[v->f_args[1]];
    if ((a != 0) == (b != 0) || (v->f_op == JY_FLOW_SUB && a == 0) || !has_no_order(s, v))
        return 0;
    return a != 0 ? a : b;
}

/* False: it hands on two. */
static bool
give_role(struct spread *s, jy_fv v, uint8_t role, bool *changed)
{
    if (role == 0 || s->role[v] == role)
        return true;
    if (s->role[v] != 0)
        return false;
    s->role[v] = role;
    *changed = true;
    return true;
}

static bool
spread_roles(struct spread *s, const struct jy_fblock *b, bool *changed)
{
    for (size_t i = 0; i < b->f_body.n; i++) {
        uint8_t role = role_of_sum(s, jy_flow_at(s->w, b->f_body.at[i]));
        if (role != 0)
            s->how[role - 1] = JY_LAST_SUM;
        if (!give_role(s, b->f_body.at[i], role, changed))
            return false;
    }
    for (size_t e = 0; e < jy_flow_nedges(b); e++) {
        const struct jy_fedge *edge = &b->f_edge[e];
        for (size_t k = 0; s->inside[edge->to] && k < edge->nargs; k++)
            if (!give_role(s, s->w->w_blocks.at[edge->to].f_params.at[k], s->role[edge->args[k]], changed))
                return false;
    }
    return true;
}

static bool
carries(struct spread *s, uint8_t role, const struct jy_fvalue *user)
{
    enum jy_ftype type = (enum jy_ftype)jy_flow_at(s->w, s->w->w_blocks.at[s->head].f_params.at[role - 1])->f_type;
    bool adds_floats = user != NULL && (user->f_op == JY_FLOW_ADD || user->f_op == JY_FLOW_SUB) &&
                       (type == JY_F_F64 || type == JY_F_F32) && !s->fastmath;
    return refuse(s, adds_floats
                         ? "its rounds add floats to one, which keeps its order; compile(fastmath=True) gives that up"
                         : "a round needs a value of the round before");
}

/* What has a role is only handed on, or added to. */
static bool
are_uses_good(struct spread *s, const struct jy_fblock *b)
{
    for (size_t i = 0; i < b->f_body.n; i++) {
        const struct jy_fvalue *v = jy_flow_at(s->w, b->f_body.at[i]);
        for (size_t k = 0; k < v->f_nargs; k++) {
            uint8_t role = s->role[v->f_args[k]];
            bool is_test = v->f_op == JY_FLOW_FLAGGED && role != 0 && s->how[role - 1] == JY_LAST_SUM;
            if (role != 0 && s->role[b->f_body.at[i]] != role && !is_test)
                return carries(s, role, v);
        }
    }
    if (b->f_end == JY_END_BRANCH && s->role[b->f_condition] != 0)
        return carries(s, s->role[b->f_condition], NULL);
    for (size_t e = 0; e < jy_flow_nedges(b); e++) {
        const struct jy_fedge *edge = &b->f_edge[e];
        for (size_t k = 0; s->inside[edge->to] && k < edge->nargs; k++) {
            uint8_t role = s->role[s->w->w_blocks.at[edge->to].f_params.at[k]];
            if (role != 0 && s->how[role - 1] == JY_LAST_SUM && s->role[edge->args[k]] != role)
                return carries(s, role, NULL); /* it is set as well */
        }
    }
    return true;
}

static bool
find_roles(struct spread *s)
{
    const struct jy_fblock *head = &s->w->w_blocks.at[s->head];
    size_t n = head->f_params.n;
    if (n > JY_PIECE_MOST_LAST)
        return refuse(s, "too many variables");
    s->role = JY_NEW_ARRAY(s->w->w_arena, uint8_t, s->w->w_values.n + 1);
    s->how = JY_NEW_ARRAY(s->w->w_arena, uint8_t, n + 1);
    for (size_t p = 0; p < n; p++) {
        s->how[p] = JY_LAST_VALUE;
        if (p != s->index_place)
            s->role[head->f_params.at[p]] = (uint8_t)(p + 1);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < s->loop->blocks.n; k++)
            if (!spread_roles(s, block_of(s, k), &changed))
                return refuse(s, "a round needs a value of the round before");
    }
    for (size_t k = 0; k < s->loop->blocks.n; k++)
        if (!are_uses_good(s, block_of(s, k)))
            return false;
    return true;
}

/* ---- the piece ---- */

static jy_fv *
copy_values(struct jy_arena *arena, const jy_fv *at, size_t n)
{
    jy_fv *copy = JY_NEW_ARRAY(arena, jy_fv, n + 1);
    if (n > 0)
        memcpy(copy, at, n * sizeof *at);
    return copy;
}

/* All of the flow, with the same numbers. */
static struct jy_flow *
copy_flow(struct jy_flow *w)
{
    struct jy_arena *a = w->w_arena;
    struct jy_flow *p = jy_flow_function(w, w->w_name);
    p->w_blocks.n = 0;
    for (size_t k = 0; k < w->w_values.n; k++) {
        struct jy_fvalue v = w->w_values.at[k];
        v.f_args = copy_values(a, v.f_args, v.f_nargs);
        *jy_vec_push(a, &p->w_values) = v;
    }
    for (size_t k = 0; k < w->w_blocks.n; k++) {
        struct jy_fblock b = w->w_blocks.at[k];
        b.f_params.at = copy_values(a, b.f_params.at, b.f_params.n);
        b.f_params.cap = b.f_params.n;
        b.f_body.at = copy_values(a, b.f_body.at, b.f_body.n);
        b.f_body.cap = b.f_body.n;
        for (size_t e = 0; e < jy_flow_nedges(&b); e++)
            b.f_edge[e].args = copy_values(a, b.f_edge[e].args, b.f_edge[e].nargs);
        *jy_vec_push(a, &p->w_blocks) = b;
    }
    for (size_t k = 0; k < w->w_inputs.n; k++)
        *jy_vec_push(a, &p->w_inputs) = w->w_inputs.at[k];
    for (size_t k = 0; k < w->w_helpers.n; k++)
        *jy_vec_push(a, &p->w_helpers) = w->w_helpers.at[k];
    /* One more alias: what the last round knew. */
    p->w_nalias = w->w_nalias + 1;
    p->w_alias = JY_NEW_ARRAY(a, uint32_t, p->w_nalias);
    p->w_alias_written = JY_NEW_ARRAY(a, bool, p->w_nalias);
    for (uint32_t k = 0; k < w->w_nalias; k++)
        p->w_alias[k] = w->w_alias[k];
    p->w_alias[w->w_nalias] = JY_NO_FV;
    p->w_alias_written[w->w_nalias] = true;
    p->w_alias_shared = w->w_alias_shared;
    p->w_alias_own = w->w_alias_own;
    return p;
}

struct outside {
    struct jy_flow *w;
    bool *seen; /* by value */
    struct {
        jy_fv *at;
        size_t n, cap;
    } values;
};

/* Constants and inputs of the call the piece has of its own. */
static void
note(struct outside *o, const struct spread *s, const jy_fv *at, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const struct jy_fvalue *v = jy_flow_at(o->w, at[k]);
        if (s->inside[v->f_block] || o->seen[at[k]] || v->f_op == JY_FLOW_CONST || v->f_op == JY_FLOW_INPUT)
            continue;
        o->seen[at[k]] = true;
        *jy_vec_push(o->w->w_arena, &o->values) = at[k];
    }
}

static struct outside
find_outside(const struct spread *s)
{
    struct outside o = { .w = s->w, .seen = JY_NEW_ARRAY(s->w->w_arena, bool, s->w->w_values.n + 1) };
    for (size_t k = 0; k < s->loop->blocks.n; k++) {
        const struct jy_fblock *b = block_of(s, k);
        for (size_t i = 0; i < b->f_body.n; i++)
            note(&o, s, jy_flow_at(s->w, b->f_body.at[i])->f_args, jy_flow_at(s->w, b->f_body.at[i])->f_nargs);
        if (b->f_end == JY_END_BRANCH)
            note(&o, s, &b->f_condition, 1);
        for (size_t e = 0; e < jy_flow_nedges(b); e++)
            if (s->inside[b->f_edge[e].to])
                note(&o, s, b->f_edge[e].args, b->f_edge[e].nargs);
    }
    return o;
}

static jy_fv
argument(struct jy_flow *p, size_t number)
{
    struct jy_flow_input in = { .kind = JY_FLOW_IN_ARG, .type = p->w_args[number], .number = (uint32_t)number };
    return jy_flow_input(p, &in);
}

static void
make_signature(const struct spread *s, struct jy_flow *p, const struct outside *o)
{
    size_t n = JY_PIECE_ARGS + 1 + o->values.n;
    uint8_t *types = JY_NEW_ARRAY(p->w_arena, uint8_t, n);
    types[0] = types[1] = types[JY_PIECE_ARGS] = JY_F_I64; /* from, to; the first index */
    types[2] = JY_F_PTR;
    for (size_t k = 0; k < o->values.n; k++)
        types[JY_PIECE_ARGS + 1 + k] = jy_flow_at(s->w, o->values.at[k])->f_type;
    p->w_args = types;
    p->w_nargs = n;
    p->w_is_piece = true;
    for (size_t k = 0; k < s->w->w_blocks.at[s->head].f_params.n; k++) {
        jy_fv param = s->w->w_blocks.at[s->head].f_params.at[k];
        if (k != s->index_place)
            *jy_vec_push(p->w_arena, &p->w_last) = (struct jy_flow_last){ s->how[k], jy_flow_at(s->w, param)->f_type };
    }
}

static jy_fv
constant(struct jy_flow *w, jy_fb block, enum jy_ftype type, int64_t value)
{
    return jy_flow_const(w, block, type, (union jy_scalar){ .i = value });
}

static jy_fv
two(struct jy_flow *w, jy_fb block, enum jy_fop op, enum jy_ftype type, jy_fv a, jy_fv b)
{
    jy_fv args[] = { a, b };
    return jy_flow_op(w, block, op, type, 2, args, JY_NO_EXIT);
}

/* What a parameter begins with: a sum with nothing. -0.0 + x is x, whatever x is. */
static jy_fv
beginning(struct jy_flow *p, uint8_t how, enum jy_ftype type)
{
    union jy_scalar none = { .bits = 0 };
    if (how == JY_LAST_SUM && type == JY_F_F64)
        none.d = -0.0;
    else if (how == JY_LAST_SUM && type == JY_F_F32)
        none.f = -0.0f;
    return jy_flow_const(p, 0, type, none);
}

/* Beside each parameter that hands on a LAST: has it been replaced? */
static jy_fv *
add_shadows(const struct spread *s, struct jy_flow *p)
{
    jy_fv *shadow = JY_NEW_ARRAY(p->w_arena, jy_fv, s->w->w_values.n + 1);
    for (size_t k = 0; k < s->loop->blocks.n; k++) {
        jy_fb block = s->loop->blocks.at[k];
        size_t n = s->w->w_blocks.at[block].f_params.n;
        for (size_t i = 0; i < n; i++) {
            jy_fv param = s->w->w_blocks.at[block].f_params.at[i];
            uint8_t role = s->role[param];
            shadow[param] = JY_NO_FV;
            if (role == 0 || s->how[role - 1] != JY_LAST_VALUE)
                continue;
            jy_fv flag = jy_flow_param(p, block, JY_F_I1);
            shadow[param] = flag;
        }
    }
    return shadow;
}

/* The edge's arguments, with those for the shadows behind them; from NO_FV: the loop is entered. */
static void
pass_shadows(const struct spread *s, struct jy_flow *p, struct jy_fedge *edge, const jy_fv *shadow, bool enters)
{
    const struct jy_fblock *to = &s->w->w_blocks.at[edge->to];
    size_t n = to->f_params.n;
    jy_fv *args = JY_NEW_ARRAY(p->w_arena, jy_fv, 2 * n + 1);
    for (size_t k = 0; k < to->f_params.n; k++)
        args[k] = edge->args[k];
    for (size_t k = 0; k < to->f_params.n; k++) {
        if (shadow[to->f_params.at[k]] == JY_NO_FV)
            continue;
        bool hands_on = !enters && s->role[edge->args[k]] != 0;
        args[n++] = hands_on ? shadow[edge->args[k]] : constant(p, 0, JY_F_I1, !enters);
    }
    edge->args = args;
    edge->nargs = n;
}

static uint32_t
add_exit(struct jy_flow *p, enum jy_flow_exit_kind kind, const char *what)
{
    return jy_flow_exit_add(p, &(struct jy_flow_exit){ .x_kind = (uint8_t)kind, .x_what = what });
}

/* Where the piece's rounds are done. */
static jy_fb
make_done(const struct spread *s, struct jy_flow *p, jy_fv last, const jy_fv *shadow)
{
    jy_fb done = jy_flow_block(p);
    int32_t place = 0;
    jy_fv none = constant(p, 0, JY_F_I64, 0), yes = constant(p, 0, JY_F_I1, 1);
    for (size_t k = 0; k < s->w->w_blocks.at[s->head].f_params.n; k++) {
        jy_fv param = s->w->w_blocks.at[s->head].f_params.at[k];
        if (k == s->index_place)
            continue;
        jy_fv flag = s->how[k] == JY_LAST_SUM ? yes : shadow[param];
        jy_flow_store(p, done, last, none, place, param, p->w_nalias);
        jy_flow_store(p, done, last, none, place + 8, flag, p->w_nalias);
        place += 16;
    }
    jy_flow_leave(p, done, add_exit(p, JY_EXIT_RETURN, NULL));
    return done;
}

static void
make_loop(const struct spread *s, struct jy_flow *p, const jy_fv *shadow, jy_fb done)
{
    uint32_t failed = add_exit(p, JY_EXIT_CHECK, "a round that the loop itself does again"),
             polled = add_exit(p, JY_EXIT_POLL, "poll");
    jy_fb fail = jy_flow_block(p);
    jy_flow_leave(p, fail, failed);
    for (size_t k = 0; k < s->loop->blocks.n; k++) {
        struct jy_fblock *b = &p->w_blocks.at[s->loop->blocks.at[k]];
        size_t n = 0;
        for (size_t i = 0; i < b->f_body.n; i++) {
            struct jy_fvalue *v = jy_flow_at(p, b->f_body.at[i]);
            if (v->f_exit != JY_NO_EXIT)
                v->f_exit = v->f_op == JY_FLOW_POLL ? polled : failed;
            if (v->f_op == JY_FLOW_STORE)
                p->w_alias_written[v->f_alias - 1] = true;
            if (v->f_op != JY_FLOW_INDEPENDENT)
                b->f_body.at[n++] = b->f_body.at[i];
        }
        b->f_body.n = n;
        for (size_t e = 0; e < jy_flow_nedges(b); e++) {
            struct jy_fedge *edge = &p->w_blocks.at[s->loop->blocks.at[k]].f_edge[e];
            if (s->inside[edge->to])
                pass_shadows(s, p, edge, shadow, false);
            else
                *edge = (struct jy_fedge){ .to = s->loop->blocks.at[k] == s->head ? done : fail };
        }
    }
}

/* Its block 0: arguments, and the index of the first round and behind the last. */
static void
make_entry(const struct spread *s, struct jy_flow *p, const struct outside *o)
{
    struct jy_fblock *entry = &p->w_blocks.at[0];
    size_t n = 0, nparams = s->w->w_blocks.at[s->head].f_params.n, nlast = 0;
    for (size_t i = 0; i < entry->f_body.n; i++) {
        uint8_t op = jy_flow_at(p, entry->f_body.at[i])->f_op;
        if (op == JY_FLOW_CONST || op == JY_FLOW_INPUT)
            entry->f_body.at[n++] = entry->f_body.at[i];
    }
    entry->f_body.n = n;
    entry->f_end = JY_END_EXIT; /* no edges while it grows; the end comes last */
    jy_fv from = argument(p, 0), to = argument(p, 1), last = argument(p, 2), base = argument(p, JY_PIECE_ARGS);
    for (size_t k = 0; k < o->values.n; k++) {
        jy_fv arg = argument(p, JY_PIECE_ARGS + 1 + k);
        struct jy_fvalue *v = jy_flow_at(p, o->values.at[k]);
        uint32_t index = jy_flow_at(p, arg)->f_index;
        v->f_op = JY_FLOW_INPUT;
        v->f_nargs = 0;
        v->f_alias = 0;
        v->f_exit = JY_NO_EXIT;
        v->f_index = index;
        v->f_block = 0;
        *jy_vec_push(p->w_arena, &p->w_blocks.at[0].f_body) = o->values.at[k];
    }
    jy_fv step = constant(p, 0, JY_F_I64, s->step);
    jy_fv first = two(p, 0, JY_FLOW_ADD, JY_F_I64, base, two(p, 0, JY_FLOW_MUL, JY_F_I64, from, step));
    jy_fv behind = two(p, 0, JY_FLOW_ADD, JY_F_I64, base, two(p, 0, JY_FLOW_MUL, JY_F_I64, to, step));
    jy_fv *args = JY_NEW_ARRAY(p->w_arena, jy_fv, nparams + 1);
    for (size_t k = 0; k < nparams; k++) {
        if (k == s->index_place) {
            args[k] = first;
            continue;
        }
        jy_fv begin = beginning(p, p->w_last.at[nlast].how, (enum jy_ftype)p->w_last.at[nlast].type);
        args[k] = begin;
        nlast++;
    }
    jy_flow_at(p, p->w_blocks.at[s->head].f_condition)->f_args[s->stop_side] = behind;
    const jy_fv *shadow = add_shadows(s, p);
    make_loop(s, p, shadow, make_done(s, p, last, shadow));
    struct jy_fedge into = { .to = s->head, .nargs = nparams, .args = args };
    pass_shadows(s, p, &into, shadow, true);
    jy_flow_jump(p, 0, s->head, into.nargs, into.args);
}

/* ---- the loop ---- */

static jy_fv
is_small(struct jy_flow *w, jy_fb block, jy_fv v)
{
    jy_fv shifted = two(w, block, JY_FLOW_ADD, JY_F_I64, v, constant(w, block, JY_F_I64, INT64_C(1) << SMALL_BITS));
    return two(w, block, JY_FLOW_BELOW, JY_F_I1, shifted, constant(w, block, JY_F_I64, INT64_C(2) << SMALL_BITS));
}

static jy_fv
count_rounds(const struct spread *s, jy_fb block, jy_fv first)
{
    struct jy_flow *w = s->w;
    int64_t size = s->step > 0 ? s->step : -s->step;
    jy_fv way = s->step > 0 ? two(w, block, JY_FLOW_SUB, JY_F_I64, s->stop, first)
                            : two(w, block, JY_FLOW_SUB, JY_F_I64, first, s->stop);
    if (size == 1)
        return way;
    jy_fv more = two(w, block, JY_FLOW_ADD, JY_F_I64, way, constant(w, block, JY_F_I64, size - 1));
    return two(w, block, JY_FLOW_FLOORDIV, JY_F_I64, more, constant(w, block, JY_F_I64, size));
}

static void
make_spread(const struct spread *s, uint32_t function, const struct outside *o)
{
    struct jy_flow *w = s->w;
    size_t n = w->w_blocks.at[s->head].f_params.n, nargs = 0;
    jy_fb test = jy_flow_block(w), block = jy_flow_block(w);
    jy_fv *params = JY_NEW_ARRAY(w->w_arena, jy_fv, n + 1), *state = JY_NEW_ARRAY(w->w_arena, jy_fv, n + 1);
    jy_fv args[3 + MOST_OUTSIDE];
    for (size_t k = 0; k < n; k++) {
        enum jy_ftype type = (enum jy_ftype)jy_flow_at(w, w->w_blocks.at[s->head].f_params.at[k])->f_type;
        jy_fv param = jy_flow_param(w, test, type);
        params[k] = param;
    }
    jy_fv first = params[s->index_place];
    jy_fv small = two(w, test, JY_FLOW_AND, JY_F_I1, is_small(w, test, first), is_small(w, test, s->stop));
    jy_fv rounds = count_rounds(s, test, first);
    jy_fv several = two(w, test, JY_FLOW_GT, JY_F_I1, rounds, constant(w, test, JY_F_I64, 1));
    jy_flow_branch(w, test, two(w, test, JY_FLOW_AND, JY_F_I1, small, several), block, 0, NULL, s->head, n, params);

    jy_fv last = jy_flow_op(w, block, JY_FLOW_SCRATCH, JY_F_PTR, 0, NULL, JY_NO_EXIT);
    jy_fv none = constant(w, block, JY_F_I64, 0);
    int32_t place = 0;
    for (size_t k = 0; k < n; k++, place += k - 1 != s->index_place ? 8 : 0)
        if (k != s->index_place)
            jy_flow_store(w, block, last, none, place, params[k], 0);
    args[nargs++] = rounds;
    args[nargs++] = last;
    args[nargs++] = first;
    for (size_t k = 0; k < o->values.n; k++)
        args[nargs++] = o->values.at[k];
    jy_fv done = jy_flow_op(w, block, JY_FLOW_SPREAD, JY_F_I64, nargs, args, JY_NO_EXIT);
    jy_flow_at(w, done)->f_index = function;
    place = 0;
    for (size_t k = 0; k < n; k++) {
        if (k == s->index_place) {
            jy_fv step = constant(w, block, JY_F_I64, s->step);
            jy_fv index = two(w, block, JY_FLOW_ADD, JY_F_I64, first, two(w, block, JY_FLOW_MUL, JY_F_I64, done, step));
            state[k] = index;
            continue;
        }
        jy_fv value = jy_flow_load(w, block, (enum jy_ftype)jy_flow_at(w, params[k])->f_type, last, none, place, 0);
        state[k] = value;
        place += 8;
    }
    jy_flow_jump(w, block, s->head, n, state);
    for (uint32_t p = s->shape->pred_start[s->head]; p < s->shape->pred_start[s->head + 1]; p++)
        if (!s->inside[s->shape->pred[p].from])
            w->w_blocks.at[s->shape->pred[p].from].f_edge[s->shape->pred[p].edge].to = test;
}

/* ---- the pass ---- */

static bool
spread_loop(struct spread *s)
{
    if (s->w->w_nalias >= JY_FLOW_MOST_ALIASES || s->head == 0)
        return refuse(s, "it is too long");
    if (!counts(s))
        return refuse(s, "it does not count by a constant");
    if (!is_native(s) || !find_roles(s))
        return false;
    struct outside o = find_outside(s);
    if (o.values.n > MOST_OUTSIDE)
        return refuse(s, "too many variables");
    uint32_t function = (uint32_t)s->w->w_functions.n;
    struct jy_flow *piece = copy_flow(s->w);
    make_signature(s, piece, &o);
    make_entry(s, piece, &o);
    jy_flow_simplify(piece);
    make_spread(s, function, &o);
    return true;
}

/* The place in its body of the mark that a prange has put there, JY_NO_FV: it has none. */
static jy_fv
mark_of(const struct jy_flow *w, jy_fb block)
{
    const struct jy_fblock *b = &w->w_blocks.at[block];
    for (size_t k = 0; k < b->f_body.n; k++)
        if (jy_flow_at(w, b->f_body.at[k])->f_op == JY_FLOW_INDEPENDENT)
            return b->f_body.at[k];
    return JY_NO_FV;
}

static bool
remove_marks(struct jy_flow *w)
{
    bool had = false;
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        struct jy_fblock *block = &w->w_blocks.at[b];
        size_t n = 0;
        for (size_t k = 0; k < block->f_body.n; k++)
            if (jy_flow_at(w, block->f_body.at[k])->f_op != JY_FLOW_INDEPENDENT)
                block->f_body.at[n++] = block->f_body.at[k];
        had |= n != block->f_body.n;
        block->f_body.n = n;
    }
    return had;
}

static bool
has_marks(const struct jy_flow *w)
{
    for (jy_fb b = 0; b < w->w_blocks.n; b++)
        if (mark_of(w, b) != JY_NO_FV)
            return true;
    return false;
}

/* Of marks that stand in no loop's head: the frontend goes on in the middle of a loop where the first round has made a variable another kind of value, and the heads of several loops are one then. */
static void
report_others(struct jy_flow *w)
{
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        jy_fv mark = mark_of(w, b);
        if (mark != JY_NO_FV)
            *jy_vec_push(w->w_arena, &w->w_pranges) =
                (struct jy_flow_prange){ jy_flow_at(w, mark)->f_line, JY_NO_FV,
                                         "its first round changes the kind of a variable" };
    }
}

/* The next outermost loop of a prange that was not looked at. False: there is none. */
static bool
spread_next(struct jy_flow *w, bool fastmath)
{
    struct jy_flow_shape shape;
    struct jy_flow_loops loops = { 0 };
    jy_flow_shape_fill(&shape, w);
    jy_flow_loops_fill(&loops, w, &shape);
    size_t k = loops.n; /* inner ones come first */
    while (k > 0 && mark_of(w, loops.at[k - 1].head) == JY_NO_FV)
        k--;
    if (k == 0)
        return false;
    struct jy_flow_loop *loop = &loops.at[k - 1];
    struct spread s = { .w = w, .shape = &shape, .loop = loop, .fastmath = fastmath, .head = loop->head };
    s.inside = JY_NEW_ARRAY(w->w_arena, bool, w->w_blocks.n);
    for (size_t i = 0; i < loop->blocks.n; i++)
        s.inside[loop->blocks.at[i]] = true;
    jy_fv mark = mark_of(w, loop->head);
    uint32_t line = jy_flow_at(w, mark)->f_line;
    uint32_t function = (uint32_t)w->w_functions.n;
    bool is_spread = spread_loop(&s);
    *jy_vec_push(w->w_arena, &w->w_pranges) = (struct jy_flow_prange){ line, function, is_spread ? NULL : s.why };
    size_t last = is_spread ? loop->blocks.n : 1; /* inner ones stay on the thread of the outer one's round */
    for (size_t i = 0; i < last; i++) {
        struct jy_fblock *b = &w->w_blocks.at[loop->blocks.at[i]];
        size_t n = 0;
        for (size_t at = 0; at < b->f_body.n; at++)
            if (jy_flow_at(w, b->f_body.at[at])->f_op != JY_FLOW_INDEPENDENT)
                b->f_body.at[n++] = b->f_body.at[at];
        b->f_body.n = n;
    }
    return true;
}

/* One report per line: several copies of a loop, of which one or the other is never gone round. */
static void
join_reports(struct jy_flow *w)
{
    size_t n = 0;
    for (size_t k = 0; k < w->w_pranges.n; k++) {
        struct jy_flow_prange p = w->w_pranges.at[k];
        bool is_told = false;
        for (size_t i = 0; p.why != NULL && i < w->w_pranges.n; i++)
            is_told |= w->w_pranges.at[i].line == p.line && (w->w_pranges.at[i].why == NULL || i < n);
        if (!is_told)
            w->w_pranges.at[n++] = p;
    }
    w->w_pranges.n = n;
}

void
jy_flow_spread(struct jy_flow *w, bool fastmath)
{
    size_t nfunctions = w->w_functions.n;
    w->w_line = 0;
    if (has_marks(w)) {
        if (jy_flow_reduce(w))
            jy_flow_simplify(w);
        while (spread_next(w, fastmath))
            ;
    }
    report_others(w);
    join_reports(w);
    bool had = remove_marks(w);
    for (size_t k = 0; k < nfunctions; k++)
        had |= remove_marks(w->w_functions.at[k]);
    if (had || w->w_functions.n != nfunctions)
        jy_flow_simplify(w);
}
