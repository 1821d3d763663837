/* Parameters that always get one value. The frontend gives every block a parameter for every live local and stack item, so most of them only hand on
 * what they got, round loops and across joins.
 *
 * A parameter copies one of its arguments. Draw an arc from every argument to the parameter, and from a root to every value that is no parameter: then
 * a parameter p is always v exactly when all ways from the root to p pass v. So the dominator of p just below the root is what p is a copy of: a value
 * that is no parameter, or a parameter where different ones come together. One computation of dominators finds all of them, cycles of
 * parameters that pass each other on included; the usual way, removing trivial ones until none is left, misses those in irreducible loops. */
#include "graph/flow_simplify_internal.h"
#include <string.h>

struct copies {
    struct jy_flow *w;
    uint32_t *node; /* by value; 0: none yet, or the root */
    struct {
        jy_fv *at; /* by node */
        size_t n, cap;
    } value;
    struct jy_arcs arcs;
};

static uint32_t
node_of(struct copies *c, jy_fv v)
{
    if (c->node[v] == 0) {
        c->node[v] = (uint32_t)c->value.n;
        *jy_vec_push(c->w->w_arena, &c->value) = v;
        if (jy_flow_at(c->w, v)->f_op != JY_FLOW_PARAM)
            *jy_vec_push(c->w->w_arena, &c->arcs) = (struct jy_arc){ 0, c->node[v] };
    }
    return c->node[v];
}

/* to[p]: what parameter p is a copy of. */
static bool
find_copies(struct jy_flow *w, const struct jy_flow_shape *shape, jy_fv *to)
{
    struct copies c = { .w = w, .node = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_values.n + 1) };
    *jy_vec_push(w->w_arena, &c.value) = JY_NO_FV;
    for (size_t k = 0; k < shape->dom.n; k++) {
        const struct jy_fblock *block = &w->w_blocks.at[shape->dom.order[k]];
        for (size_t e = 0; e < jy_flow_nedges(block); e++) {
            const struct jy_fedge *edge = &block->f_edge[e];
            for (size_t p = 0; p < edge->nargs; p++) {
                uint32_t param = node_of(&c, w->w_blocks.at[edge->to].f_params.at[p]);
                uint32_t arg = node_of(&c, edge->args[p]);
                *jy_vec_push(w->w_arena, &c.arcs) = (struct jy_arc){ arg, param };
            }
        }
    }
    struct jy_dominators dom;
    jy_dominators_fill(&dom, w->w_arena, &c.arcs, c.value.n);
    bool found = false;
    for (size_t k = 1; k < dom.n; k++) {
        uint32_t node = dom.order[k], above = dom.idom[node];
        if (above != 0) {
            to[c.value.at[node]] = jy_flow_renamed(to, c.value.at[above]);
            found = true;
        }
    }
    return found;
}

/* Those of one block that always have the same value: bits that say which variables are bound mostly, as many variables become so at one place. All of
 * a block's are taken for equal until an edge is found that passes them different values; what is left when no more is found is equal. */
struct equal {
    struct jy_flow *w;
    const struct jy_flow_shape *shape;
    jy_fv *now, *next; /* per value: the first one that it is taken for */
};

static bool
are_passed_alike(const struct equal *q, jy_fb block, size_t a, size_t b)
{
    for (uint32_t p = q->shape->pred_start[block]; p < q->shape->pred_start[block + 1]; p++) {
        struct jy_fpred pred = q->shape->pred[p];
        const jy_fv *args = q->w->w_blocks.at[pred.from].f_edge[pred.edge].args;
        if (q->now[args[a]] != q->now[args[b]])
            return false;
    }
    return true;
}

/* Of those that are taken for one, those that are passed the same stay together. */
static bool
split(struct equal *q, jy_fb block)
{
    const struct jy_fblock *b = &q->w->w_blocks.at[block];
    const jy_fv *params = b->f_params.at;
    bool changed = false;
    for (size_t k = 0; k < b->f_params.n; k++) {
        size_t first = k;
        if (q->now[params[k]] == params[k])
            continue;
        for (size_t i = 0; i < k && first == k; i++)
            if (q->now[params[i]] == q->now[params[k]] && q->next[params[i]] == params[i] &&
                are_passed_alike(q, block, i, k))
                first = i;
        q->next[params[k]] = params[first];
        changed |= q->now[params[k]] != params[first];
    }
    return changed;
}

static bool
take_for_equal(const struct equal *q, jy_fb block)
{
    const struct jy_fblock *b = &q->w->w_blocks.at[block];
    jy_fv first = JY_NO_FV;
    bool found = false;
    for (size_t p = 0; p < b->f_params.n; p++) {
        jy_fv param = b->f_params.at[p];
        if (jy_flow_at(q->w, param)->f_type != JY_F_I1)
            continue;
        found |= first != JY_NO_FV;
        first = first == JY_NO_FV ? param : first;
        q->now[param] = first;
    }
    return found;
}

static bool
find_equal(struct jy_flow *w, const struct jy_flow_shape *shape, jy_fv *to)
{
    size_t bytes = w->w_values.n * sizeof *to;
    struct equal q = { .w = w, .shape = shape, .now = to, .next = jy_flow_renaming(w) };
    bool changed = false;
    for (size_t k = 1; k < shape->dom.n; k++)
        changed |= take_for_equal(&q, shape->dom.order[k]);
    while (changed) {
        changed = false;
        memcpy(q.next, to, bytes);
        for (size_t k = 1; k < shape->dom.n; k++)
            changed |= split(&q, shape->dom.order[k]);
        memcpy(to, q.next, bytes);
    }
    for (size_t v = 0; v < w->w_values.n; v++)
        if (to[v] != v)
            return true;
    return false;
}

/* Parameters that are something else go. */
static void
drop(struct jy_flow *w, jy_fv *to)
{
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        struct jy_fblock *block = &w->w_blocks.at[b];
        for (size_t e = 0; e < jy_flow_nedges(block); e++) {
            struct jy_fedge *edge = &block->f_edge[e];
            const jy_fv *params = w->w_blocks.at[edge->to].f_params.at;
            size_t n = 0;
            for (size_t p = 0; p < edge->nargs; p++)
                if (to[params[p]] == params[p])
                    edge->args[n++] = edge->args[p];
            edge->nargs = n;
        }
    }
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        struct jy_fblock *block = &w->w_blocks.at[b];
        size_t n = 0;
        for (size_t p = 0; p < block->f_params.n; p++)
            if (to[block->f_params.at[p]] == block->f_params.at[p])
                block->f_params.at[n++] = block->f_params.at[p];
        block->f_params.n = n;
    }
    jy_flow_rename(w, to);
}

bool
jy_flow_drop_params(struct jy_flow *w)
{
    struct jy_flow_shape shape;
    bool found = false;
    jy_flow_shape_fill(&shape, w);
    for (int k = 0; k < 2; k++) {
        jy_fv *to = jy_flow_renaming(w);
        if (k == 0 ? find_copies(w, &shape, to) : find_equal(w, &shape, to)) {
            drop(w, to);
            found = true;
        }
    }
    return found;
}
