/* Copying loops. A loop's values may be used in every block that they dominate; a copy of the loop brings second values for them, so they must come as parameters before it
 * is made. As the frontend does, every block behind the loop gets a parameter for each of them; flow_params.c removes what was not needed. A part of a ring (flow_reduce.c) is
 * entered again from the rest of it, so its own blocks get such parameters, too. */
#include "graph/flow_copy.h"
#include <string.h>

struct close {
    struct jy_flow *w;
    const struct jy_flow_shape *shape;
    bool *inside;
    bool is_ring; /* its blocks are entered from outside anywhere, so they need parameters like those behind it */
    jy_fb user;   /* whose uses are noted */
    size_t nvalues, nblocks;
    uint32_t *place; /* by value: place in `out` + 1; 0: not used outside */
    struct {
        jy_fv *at;
        size_t n, cap;
    } out;
    jy_fv **param; /* by block: per value of `out`; NULL: none of its parameters are of ours */
};

static void
note_use(struct close *c, jy_fv v)
{
    jy_fb block = v < c->nvalues ? jy_flow_at(c->w, v)->f_block : c->user;
    if (block == c->user || !c->inside[block] || c->place[v] != 0)
        return;
    *jy_vec_push(c->w->w_arena, &c->out) = v;
    c->place[v] = (uint32_t)c->out.n;
}

static void
note_uses(struct close *c, const jy_fv *at, size_t n)
{
    for (size_t k = 0; k < n; k++)
        note_use(c, at[k]);
}

static void
note_exit(struct close *c, uint32_t x)
{
    if (x != JY_NO_EXIT)
        note_uses(c, c->w->w_exits.at[x].x_values.at, c->w->w_exits.at[x].x_values.n);
}

static void
note_block(struct close *c, const struct jy_fblock *block)
{
    for (size_t k = 0; k < block->f_body.n; k++) {
        const struct jy_fvalue *v = jy_flow_at(c->w, block->f_body.at[k]);
        note_uses(c, v->f_args, v->f_nargs);
        note_exit(c, v->f_exit);
    }
    for (size_t e = 0; e < jy_flow_nedges(block); e++)
        note_uses(c, block->f_edge[e].args, block->f_edge[e].nargs);
    if (block->f_end == JY_END_BRANCH)
        note_use(c, block->f_condition);
    if (block->f_end == JY_END_EXIT)
        note_exit(c, block->f_leave);
}

static bool
gets_params(const struct close *c, jy_fb block)
{
    return c->is_ring || !c->inside[block];
}

static bool
reaches(const struct close *c, size_t k, jy_fb block)
{
    jy_fb from = jy_flow_at(c->w, c->out.at[k])->f_block;
    return from != block && jy_dominates(&c->shape->dom, from, block);
}

/* The value in a block, or at its end. */
static jy_fv
value_in(const struct close *c, jy_fb block, size_t k)
{
    jy_fv param = c->param[block] != NULL ? c->param[block][k] : JY_NO_FV;
    return param != JY_NO_FV ? param : c->out.at[k];
}

static void
add_params(struct close *c, jy_fb block)
{
    for (size_t k = 0; k < c->out.n; k++) {
        if (!reaches(c, k, block))
            continue;
        if (c->param[block] == NULL) {
            c->param[block] = JY_NEW_ARRAY(c->w->w_arena, jy_fv, c->out.n);
            memset(c->param[block], 0xff, c->out.n * sizeof(jy_fv));
        }
        enum jy_ftype type = (enum jy_ftype)jy_flow_at(c->w, c->out.at[k])->f_type;
        jy_fv param = jy_flow_param(c->w, block, type);
        c->param[block][k] = param;
    }
}

static void
use_params(const struct close *c, jy_fb block, jy_fv *at, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (at[k] < c->nvalues && c->place[at[k]] != 0)
            at[k] = value_in(c, block, c->place[at[k]] - 1);
}

/* The exit is others' too. */
static uint32_t
own_exit(struct close *c, jy_fb block, uint32_t x)
{
    struct jy_flow_exit exit = c->w->w_exits.at[x];
    bool uses = false;
    for (size_t k = 0; k < exit.x_values.n; k++)
        uses |= exit.x_values.at[k] < c->nvalues && c->place[exit.x_values.at[k]] != 0;
    if (!uses)
        return x;
    exit.x_values.at = jy_arena_copy(c->w->w_arena, exit.x_values.at, exit.x_values.n * sizeof(jy_fv));
    exit.x_values.cap = exit.x_values.n;
    use_params(c, block, exit.x_values.at, exit.x_values.n);
    return jy_flow_exit_add(c->w, &exit);
}

static void
rewrite_block(struct close *c, jy_fb number)
{
    struct jy_fblock *block = &c->w->w_blocks.at[number];
    uint32_t last = JY_NO_EXIT, last_own = JY_NO_EXIT; /* the instructions of a statement have one exit */
    if (c->param[number] == NULL)
        return;
    for (size_t k = 0; k < block->f_body.n; k++) {
        struct jy_fvalue *v = jy_flow_at(c->w, block->f_body.at[k]);
        use_params(c, number, v->f_args, v->f_nargs);
        if (v->f_exit == JY_NO_EXIT)
            continue;
        if (v->f_exit != last) {
            last = v->f_exit;
            last_own = own_exit(c, number, last);
        }
        v->f_exit = last_own;
    }
    for (size_t e = 0; e < jy_flow_nedges(block); e++)
        use_params(c, number, block->f_edge[e].args, block->f_edge[e].nargs);
    if (block->f_end == JY_END_BRANCH)
        use_params(c, number, &block->f_condition, 1);
    if (block->f_end == JY_END_EXIT)
        block->f_leave = own_exit(c, number, block->f_leave);
}

static void
pass_params(struct close *c, jy_fb from)
{
    struct jy_fblock *block = &c->w->w_blocks.at[from];
    for (size_t e = 0; e < jy_flow_nedges(block); e++) {
        struct jy_fedge *edge = &block->f_edge[e];
        if (c->param[edge->to] == NULL)
            continue;
        size_t n = edge->nargs;
        jy_fv *args = JY_NEW_ARRAY(c->w->w_arena, jy_fv, n + c->out.n);
        if (n > 0)
            memcpy(args, edge->args, n * sizeof(*args));
        for (size_t k = 0; k < c->out.n; k++)
            if (c->param[edge->to][k] != JY_NO_FV)
                args[n++] = value_in(c, from, k);
        edge->args = args;
        edge->nargs = n;
    }
}

static void
close_blocks(struct jy_flow *w, const struct jy_flow_shape *shape, const struct jy_flow_loop *loop, bool is_ring)
{
    size_t nblocks = w->w_blocks.n;
    struct close c = { .w = w,
                       .shape = shape,
                       .inside = JY_NEW_ARRAY(w->w_arena, bool, nblocks),
                       .is_ring = is_ring,
                       .nvalues = w->w_values.n,
                       .nblocks = nblocks,
                       .place = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_values.n),
                       .param = JY_NEW_ARRAY(w->w_arena, jy_fv *, nblocks) };
    for (size_t k = 0; k < loop->blocks.n; k++)
        c.inside[loop->blocks.at[k]] = true;
    for (size_t k = 0; k < shape->dom.n; k++) {
        c.user = shape->dom.order[k];
        if (gets_params(&c, c.user))
            note_block(&c, &w->w_blocks.at[c.user]);
    }
    if (c.out.n == 0)
        return;
    for (size_t k = 0; k < shape->dom.n; k++)
        if (gets_params(&c, shape->dom.order[k]))
            add_params(&c, shape->dom.order[k]);
    for (size_t k = 0; k < shape->dom.n; k++) {
        if (gets_params(&c, shape->dom.order[k]))
            rewrite_block(&c, shape->dom.order[k]);
        pass_params(&c, shape->dom.order[k]);
    }
}

void
jy_flow_close_loop(struct jy_flow *w, const struct jy_flow_shape *shape, const struct jy_flow_loop *loop)
{
    close_blocks(w, shape, loop, false);
}

void
jy_flow_close_ring(struct jy_flow *w, const struct jy_flow_shape *shape, const struct jy_flow_loop *part)
{
    close_blocks(w, shape, part, true);
}

/* ---- copies ---- */

struct jy_copy
jy_copy_new(struct jy_flow *w)
{
    struct jy_copy copy = { w,
                            JY_NEW_ARRAY(w->w_arena, jy_fv, w->w_values.n + 1),
                            JY_NEW_ARRAY(w->w_arena, jy_fb, w->w_blocks.n + 1),
                            JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_exits.n + 1),
                            w->w_values.n,
                            w->w_blocks.n,
                            w->w_exits.n };
    for (jy_fv v = 0; v < copy.nvalues; v++)
        copy.value[v] = v;
    for (jy_fb b = 0; b < copy.nblocks; b++)
        copy.block[b] = b;
    for (size_t x = 0; x < copy.nexits; x++)
        copy.exit[x] = JY_NO_EXIT;
    return copy;
}

jy_fv
jy_copy_value(const struct jy_copy *copy, jy_fv v)
{
    return v < copy->nvalues ? copy->value[v] : v;
}

static jy_fv *
copied(const struct jy_copy *copy, const jy_fv *at, size_t n, size_t more)
{
    jy_fv *out = JY_NEW_ARRAY(copy->w->w_arena, jy_fv, n + more + 1);
    for (size_t k = 0; k < n; k++)
        out[k] = jy_copy_value(copy, at[k]);
    return out;
}

uint32_t
jy_copy_exit(struct jy_copy *copy, uint32_t x)
{
    if (copy->exit[x] == JY_NO_EXIT) {
        struct jy_flow_exit exit = copy->w->w_exits.at[x];
        exit.x_values.at = copied(copy, exit.x_values.at, exit.x_values.n, 0);
        exit.x_values.cap = exit.x_values.n;
        copy->exit[x] = jy_flow_exit_add(copy->w, &exit);
    }
    return copy->exit[x];
}

jy_fv
jy_copy_append(struct jy_copy *copy, jy_fb block, jy_fv v, bool with_exit)
{
    struct jy_flow *w = copy->w;
    struct jy_fvalue value = *jy_flow_at(w, v);
    jy_fv new = (jy_fv)w->w_values.n;
    value.f_args = copied(copy, value.f_args, value.f_nargs, 0);
    value.f_block = block;
    value.f_exit = with_exit && value.f_exit != JY_NO_EXIT ? jy_copy_exit(copy, value.f_exit) : JY_NO_EXIT;
    *jy_vec_push(w->w_arena, &w->w_values) = value;
    *jy_vec_push(w->w_arena, &w->w_blocks.at[block].f_body) = new;
    copy->value[v] = new;
    return new;
}

struct jy_fedge
jy_copy_edge(const struct jy_copy *copy, const struct jy_fedge *edge, size_t more)
{
    return (struct jy_fedge){ copy->block[edge->to], edge->nargs, copied(copy, edge->args, edge->nargs, more) };
}
