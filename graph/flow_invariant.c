/* What a round of a counted loop reads again and again: sizes and item vectors of lists, rows, types. Where nothing in the loop writes such memory it is read in front, once per chunk, and
 * what is checked of it there is not checked in the rounds:
 *
 *     entry (parameters of the head) --> load, test --> load, test --> front: the conditions, the test --> fast head
 *                                             |no           |no            |no
 *                                             `-------------+--------------`--> head: the careful loop, as it was
 *
 * What each round comes to is looked at, in its order; then what all ways through a round do, each in a block of its own: both branches of an `if` that read rows of one table. A pointer is followed in front only behind the tests that the loop makes before it follows it: they are tests of the same
 * values, so they do not change either. For memory of the interpreter's alone: what arrays hold LLVM moves by itself, and their index checks are flow_range.c's. */
#include "graph/flow_counted.h"
#include "graph/flow_simplify_internal.h"
#include <string.h>

enum { MOST_DEPTH = 6, MOST_SHARED = 64 }; /* the latter: taste */

struct invariants {
    struct jy_counted *c;
    uint64_t written; /* jy_flow_writes of the loop */
    size_t nloads;
};

static uint64_t
written_in_loop(const struct jy_counted *c)
{
    uint64_t written = 0;
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        const struct jy_fblock *block = &c->w->w_blocks.at[c->loop->blocks.at[k]];
        for (size_t i = 0; i < block->f_body.n; i++)
            written |= jy_flow_writes(c->w, jy_flow_at(c->w, block->f_body.at[i]));
    }
    return written;
}

bool
jy_counted_is_in_every_round(const struct jy_counted *c, jy_fb block)
{
    for (uint32_t p = c->shape->pred_start[c->head]; p < c->shape->pred_start[c->head + 1]; p++) {
        jy_fb from = c->shape->pred[p].from;
        if (c->inside[from] && !jy_dominates(&c->shape->dom, block, from))
            return false;
    }
    return true;
}

/* To the next block of the chain where the condition holds, else to the careful loop. */
static void
require(struct jy_counted *c, jy_fv condition)
{
    jy_fb next = jy_flow_block(c->w);
    jy_flow_branch(c->w, c->front, condition, next, 0, NULL, c->head, c->w->w_blocks.at[c->head].f_params.n, c->first);
    c->w->w_blocks.at[c->front].f_likely[0] = true;
    c->front = next;
}

/* Such a value that is there already, so that equal work is seen to be equal. */
static jy_fv
made_in_front(const struct jy_counted *c, const struct jy_fvalue *like, const jy_fv *args)
{
    for (size_t k = 0; k < c->nvalues; k++) {
        if (c->invariant[k] == JY_NO_FV)
            continue;
        const struct jy_fvalue *v = jy_flow_at(c->w, c->invariant[k]);
        if (v->f_op == like->f_op && v->f_type == like->f_type && v->f_nargs == like->f_nargs &&
            v->f_exit == JY_NO_EXIT && memcmp(v->f_args, args, v->f_nargs * sizeof *args) == 0)
            return c->invariant[k];
    }
    return JY_NO_FV;
}

/* What stands for the value in front; JY_NO_FV: it changes, or has not been read there. */
static jy_fv
in_front(struct jy_counted *c, jy_fv at, int depth)
{
    const struct jy_fvalue v = *jy_flow_at(c->w, at);
    jy_fv args[3];
    if (!c->inside[v.f_block])
        return at;
    if (c->invariant[at] != JY_NO_FV)
        return c->invariant[at];
    if (depth == 0 || v.f_nargs == 0 || v.f_nargs > 3 || !jy_flow_is_cheap(&v))
        return JY_NO_FV;
    for (size_t k = 0; k < v.f_nargs; k++)
        if ((args[k] = in_front(c, v.f_args[k], depth - 1)) == JY_NO_FV)
            return JY_NO_FV;
    c->invariant[at] = made_in_front(c, &v, args);
    if (c->invariant[at] == JY_NO_FV)
        c->invariant[at] =
            jy_flow_op(c->w, c->front, (enum jy_fop)v.f_op, (enum jy_ftype)v.f_type, v.f_nargs, args, JY_NO_EXIT);
    return c->invariant[at];
}

static bool
is_frozen(const struct invariants *in, const struct jy_fvalue *load)
{
    return load->f_alias != 0 && in->c->w->w_alias[load->f_alias - 1] == JY_NO_FV &&
           (in->written >> load->f_alias & 1) == 0 && (in->written & 1) == 0;
}

static void
read_in_front(struct invariants *in, jy_fv at, const struct jy_fvalue *v)
{
    struct jy_counted *c = in->c;
    jy_fv pointer = is_frozen(in, v) ? in_front(c, v->f_args[0], MOST_DEPTH) : JY_NO_FV;
    jy_fv offset = pointer != JY_NO_FV ? in_front(c, v->f_args[1], MOST_DEPTH) : JY_NO_FV;
    if (offset == JY_NO_FV)
        return;
    c->invariant[at] =
        jy_flow_load(c->w, c->front, (enum jy_ftype)v->f_type, pointer, offset, (int32_t)v->f_index, v->f_alias);
    in->nloads++;
}

static void
wrap_in_front(struct jy_counted *c, jy_fv at, const struct jy_fvalue *v)
{
    jy_fv index = in_front(c, v->f_args[0], MOST_DEPTH), extent = in_front(c, v->f_args[1], MOST_DEPTH);
    if (index == JY_NO_FV || extent == JY_NO_FV)
        return;
    if (v->f_exit != JY_NO_EXIT) {
        jy_fv negative = jy_front_op(c, JY_FLOW_LT, JY_F_I1, index, jy_front_const(c, 0));
        jy_fv args[] = { negative, jy_front_op(c, JY_FLOW_ADD, JY_F_I64, index, extent), index };
        index = jy_flow_op(c->w, c->front, JY_FLOW_SELECT, JY_F_I64, 3, args, JY_NO_EXIT);
        require(c, jy_front_op(c, JY_FLOW_BELOW, JY_F_I1, index, extent));
    }
    c->invariant[at] = index;
}

static void
check_in_front(struct jy_counted *c, jy_fv at, const struct jy_fvalue *v)
{
    jy_fv condition = in_front(c, v->f_args[0], MOST_DEPTH);
    if (condition == JY_NO_FV)
        return;
    require(c, condition);
    c->invariant[at] = condition;
}

/* A branch out of the loop is a test, too. */
static void
stay_in_front(struct jy_counted *c, jy_fb number)
{
    const struct jy_fblock *block = &c->w->w_blocks.at[number];
    bool stays[2];
    if (number == c->head || block->f_end != JY_END_BRANCH)
        return;
    for (size_t e = 0; e < 2; e++)
        stays[e] = c->inside[block->f_edge[e].to];
    jy_fv condition = stays[0] != stays[1] ? in_front(c, block->f_condition, MOST_DEPTH) : JY_NO_FV;
    if (condition != JY_NO_FV)
        require(c, stays[0] ? condition : jy_front_op(c, JY_FLOW_NOT, JY_F_I1, condition, JY_NO_FV));
}

static void
visit_value(struct invariants *in, jy_fv at)
{
    const struct jy_fvalue v = *jy_flow_at(in->c->w, at);
    if (v.f_op == JY_FLOW_LOAD)
        read_in_front(in, at, &v);
    else if (v.f_op == JY_FLOW_WRAP)
        wrap_in_front(in->c, at, &v);
    else if (v.f_op == JY_FLOW_CHECK)
        check_in_front(in->c, at, &v);
}

static void
visit_block(struct invariants *in, jy_fb number)
{
    struct jy_counted *c = in->c;
    for (size_t i = 0; i < c->w->w_blocks.at[number].f_body.n; i++)
        visit_value(in, c->w->w_blocks.at[number].f_body.at[i]);
    stay_in_front(c, number);
}

/* -- what all ways through a round do ------------------------------------------------------------------------------------------------- */

/* Something that could be done in front, and where the loop does it. */
struct work {
    jy_fv at, x, y; /* x, y: its operands in front */
    jy_fb block;
};

struct works {
    struct work *at;
    size_t n, cap;
};

static bool
is_sum(const struct jy_fvalue *v)
{
    return (v->f_op == JY_FLOW_ADD || v->f_op == JY_FLOW_SUB) && v->f_type == JY_F_I64 && v->f_exit != JY_NO_EXIT;
}

/* A sum that fits: its sign, or the first operand's, is not that of both (of a difference: of one). */
static void
sum_in_front(struct jy_counted *c, jy_fv at, const struct work *work)
{
    enum jy_fop op = (enum jy_fop)jy_flow_at(c->w, at)->f_op;
    jy_fv sum = jy_front_op(c, op, JY_F_I64, work->x, work->y);
    jy_fv from = op == JY_FLOW_ADD ? sum : work->x;
    jy_fv wrong = jy_front_op(c, JY_FLOW_AND, JY_F_I64, jy_front_op(c, JY_FLOW_XOR, JY_F_I64, work->x, sum),
                              jy_front_op(c, JY_FLOW_XOR, JY_F_I64, work->y, from));
    require(c, jy_front_op(c, JY_FLOW_GE, JY_F_I1, wrong, jy_front_const(c, 0)));
    c->invariant[at] = sum;
}

static bool
is_guard(const struct jy_fvalue *v)
{
    return v->f_op == JY_FLOW_CHECK || (v->f_op == JY_FLOW_WRAP && v->f_exit != JY_NO_EXIT);
}

/* False: an operand changes, or the value is none of those. */
static bool
work_of(struct invariants *in, struct work *out, jy_fv at)
{
    const struct jy_fvalue v = *jy_flow_at(in->c->w, at);
    bool is_read = v.f_op == JY_FLOW_LOAD && is_frozen(in, &v);
    if (!is_read && v.f_op != JY_FLOW_WRAP && v.f_op != JY_FLOW_CHECK && !is_sum(&v))
        return false;
    *out = (struct work){ .at = at, .block = v.f_block, .y = JY_NO_FV };
    out->x = in_front(in->c, v.f_args[0], MOST_DEPTH);
    if (v.f_op != JY_FLOW_CHECK && out->x != JY_NO_FV)
        out->y = in_front(in->c, v.f_args[1], MOST_DEPTH);
    return out->x != JY_NO_FV && (v.f_op == JY_FLOW_CHECK || out->y != JY_NO_FV);
}

static bool
is_same_work(const struct jy_counted *c, const struct work *a, const struct work *b)
{
    const struct jy_fvalue *v = jy_flow_at(c->w, a->at), *w = jy_flow_at(c->w, b->at);
    bool is_load = v->f_op == JY_FLOW_LOAD;
    return v->f_op == w->f_op && v->f_type == w->f_type && a->x == b->x && a->y == b->y &&
           (v->f_exit == JY_NO_EXIT) == (w->f_exit == JY_NO_EXIT) &&
           (!is_load || (v->f_index == w->f_index && v->f_alias == w->f_alias));
}

/* A branch by what does not change may be what guards the work behind it. Those out of the loop that every round comes to stand in front, too. */
static bool
decides_a_way(struct jy_counted *c, jy_fb number)
{
    const struct jy_fblock *block = &c->w->w_blocks.at[number];
    if (block->f_end != JY_END_BRANCH || in_front(c, block->f_condition, MOST_DEPTH) == JY_NO_FV)
        return false;
    bool stays = c->inside[block->f_edge[0].to] && c->inside[block->f_edge[1].to];
    return stays || !jy_counted_is_in_every_round(c, number);
}

/* A guard that could stand in front, and does not. */
static bool
has_open_guard(struct invariants *in, jy_fb number)
{
    struct work work;
    for (size_t i = 0; i < in->c->w->w_blocks.at[number].f_body.n; i++) {
        jy_fv at = in->c->w->w_blocks.at[number].f_body.at[i];
        if (in->c->invariant[at] == JY_NO_FV && is_guard(jy_flow_at(in->c->w, at)) && work_of(in, &work, at))
            return true;
    }
    return false;
}

/* Of a block that not every round comes to, up to the first guard that is not in front. */
static void
collect(struct invariants *in, struct works *works, jy_fb number)
{
    struct jy_counted *c = in->c;
    for (jy_fb b = number; b != c->head;) {
        b = c->shape->dom.idom[b];
        if (decides_a_way(c, b) || (!jy_counted_is_in_every_round(c, b) && has_open_guard(in, b)))
            return;
    }
    for (size_t i = 0; i < c->w->w_blocks.at[number].f_body.n; i++) {
        jy_fv at = c->w->w_blocks.at[number].f_body.at[i];
        struct work work;
        if (c->invariant[at] != JY_NO_FV || !work_of(in, &work, at))
            continue;
        *jy_vec_push(c->w->w_arena, works) = work;
        if (is_guard(jy_flow_at(c->w, at)))
            return;
    }
}

/* Does each round that comes back to the head do it? */
static bool
is_on_all_ways(const struct jy_counted *c, const struct works *works, const struct work *work)
{
    size_t nblocks = c->w->w_blocks.n, depth = 0;
    bool *seen = JY_NEW_ARRAY(c->w->w_arena, bool, nblocks);
    jy_fb *stack = JY_NEW_ARRAY(c->w->w_arena, jy_fb, nblocks);
    for (size_t k = 0; k < works->n; k++)
        if (is_same_work(c, &works->at[k], work))
            seen[works->at[k].block] = true;
    stack[depth++] = c->head;
    seen[c->head] = true;
    while (depth != 0) {
        const struct jy_fblock *block = &c->w->w_blocks.at[stack[--depth]];
        size_t edges = block->f_end == JY_END_JUMP ? 1 : block->f_end == JY_END_BRANCH ? 2 : 0;
        for (size_t e = 0; e < edges; e++) {
            jy_fb to = block->f_edge[e].to;
            if (to == c->head)
                return false;
            if (c->inside[to] && !seen[to]) {
                seen[to] = true;
                stack[depth++] = to;
            }
        }
    }
    return true;
}

/* Does one work of these in front. False: there is none. */
static bool
share_one(struct invariants *in, const struct works *works)
{
    struct jy_counted *c = in->c;
    for (size_t k = 0; k < works->n; k++) {
        const struct work *work = &works->at[k];
        if (!is_on_all_ways(c, works, work))
            continue;
        if (is_sum(jy_flow_at(c->w, work->at)))
            sum_in_front(c, work->at, work);
        else
            visit_value(in, work->at);
        for (size_t i = 0; i < works->n; i++)
            if (is_same_work(c, &works->at[i], work))
                c->invariant[works->at[i].at] = c->invariant[work->at];
        return c->invariant[work->at] != JY_NO_FV;
    }
    return false;
}

static void
share(struct invariants *in)
{
    struct jy_counted *c = in->c;
    bool any = true;
    for (size_t round = 0; any && round < MOST_SHARED; round++) {
        struct works works = { NULL, 0, 0 };
        for (size_t k = 0; k < c->loop->blocks.n; k++)
            if (!jy_counted_is_in_every_round(c, c->loop->blocks.at[k]))
                collect(in, &works, c->loop->blocks.at[k]);
        any = share_one(in, &works);
    }
}

void
jy_counted_read_in_front(struct jy_counted *c)
{
    struct invariants in = { .c = c, .written = written_in_loop(c) };
    jy_fb entry = c->front;
    c->invariant = JY_NEW_ARRAY(c->w->w_arena, jy_fv, c->nvalues + 1);
    for (size_t k = 0; k < c->nvalues; k++)
        c->invariant[k] = JY_NO_FV;
    for (size_t k = 0; k < c->loop->blocks.n; k++)
        if (jy_counted_is_in_every_round(c, c->loop->blocks.at[k]))
            visit_block(&in, c->loop->blocks.at[k]);
    share(&in);
    if (in.nloads != 0)
        return;
    for (size_t k = 0; k < c->nvalues; k++) /* nothing was read: the blocks made since then are nobody's */
        c->invariant[k] = JY_NO_FV;
    jy_fb front = c->front;
    if (front != entry) {
        c->w->w_blocks.at[entry].f_body.n = 0;
        c->w->w_blocks.at[entry].f_end = JY_END_JUMP;
        c->front = entry;
    }
}
