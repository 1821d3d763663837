/* What a round of a counted loop reads again and again: sizes and item vectors of lists, rows, types. Where nothing in the loop writes such memory it is read in front, once per chunk, and
 * what is checked of it there is not checked in the rounds:
 *
 *     entry (parameters of the head) --> load, test --> load, test --> front: the conditions, the test --> fast head
 *                                             |no           |no            |no
 *                                             `-------------+--------------`--> head: the careful loop, as it was
 *
 * Only what each round comes to is looked at, in its order. A pointer is followed in front only behind the tests that the loop makes before it follows it: they are tests of the same
 * values, so they do not change either. For memory of the interpreter's alone: what arrays hold LLVM moves by itself, and their index checks are flow_range.c's. */
#include "graph/flow_counted.h"
#include "graph/flow_simplify_internal.h"

enum { MOST_DEPTH = 6 };

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
    return c->invariant[at] =
               jy_flow_op(c->w, c->front, (enum jy_fop)v.f_op, (enum jy_ftype)v.f_type, v.f_nargs, args, JY_NO_EXIT);
}

static void
read_in_front(struct invariants *in, jy_fv at, const struct jy_fvalue *v)
{
    struct jy_counted *c = in->c;
    bool is_frozen = v->f_alias != 0 && c->w->w_alias[v->f_alias - 1] == JY_NO_FV &&
                     (in->written >> v->f_alias & 1) == 0 && (in->written & 1) == 0;
    jy_fv pointer = is_frozen ? in_front(c, v->f_args[0], MOST_DEPTH) : JY_NO_FV;
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
visit_block(struct invariants *in, jy_fb number)
{
    struct jy_counted *c = in->c;
    for (size_t i = 0; i < c->w->w_blocks.at[number].f_body.n; i++) {
        jy_fv at = c->w->w_blocks.at[number].f_body.at[i];
        const struct jy_fvalue v = *jy_flow_at(c->w, at);
        if (v.f_op == JY_FLOW_LOAD)
            read_in_front(in, at, &v);
        else if (v.f_op == JY_FLOW_WRAP)
            wrap_in_front(c, at, &v);
        else if (v.f_op == JY_FLOW_CHECK)
            check_in_front(c, at, &v);
    }
    stay_in_front(c, number);
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
