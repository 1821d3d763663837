/* Reverse postorder, dominators (Cooper, Harvey and Kennedy: "A Simple, Fast Dominance Algorithm") and natural loops. The dominator part works on any
 * digraph with a root: flow_params.c asks it of a graph of values. */
#include "graph/flow_analysis.h"

struct jy_digraph
jy_digraph_new(struct jy_arena *arena, size_t n, const struct jy_arcs *arcs, bool reversed)
{
    struct jy_digraph g = { n, JY_NEW_ARRAY(arena, uint32_t, n + 2), JY_NEW_ARRAY(arena, uint32_t, arcs->n + 1) };
    /* start[k + 2] counts, then start[k + 1] is where the next arc of k goes; at the end it is where those of k + 1 begin. */
    for (size_t a = 0; a < arcs->n; a++)
        g.start[(reversed ? arcs->at[a].to : arcs->at[a].from) + 2]++;
    for (size_t k = 2; k < n + 2; k++)
        g.start[k] += g.start[k - 1];
    for (size_t a = 0; a < arcs->n; a++) {
        struct jy_arc arc = arcs->at[a];
        if (reversed)
            g.to[g.start[arc.to + 1]++] = arc.from;
        else
            g.to[g.start[arc.from + 1]++] = arc.to;
    }
    return g;
}

/* The last arc of a node is followed first, so that the target of its first arc comes right behind it. */
static void
fill_order(struct jy_dominators *d, struct jy_arena *arena, const struct jy_digraph *g)
{
    uint32_t *stack = JY_NEW_ARRAY(arena, uint32_t, g->n + 1);
    uint32_t *left = JY_NEW_ARRAY(arena, uint32_t, g->n + 1); /* arcs not followed yet */
    size_t depth = 0, place = g->n;
    d->order = JY_NEW_ARRAY(arena, uint32_t, g->n + 1);
    d->rank = JY_NEW_ARRAY(arena, uint32_t, g->n + 1);
    for (size_t k = 0; k < g->n; k++)
        d->rank[k] = JY_UNREACHED;
    stack[depth++] = 0;
    d->rank[0] = 0;
    left[0] = g->start[1] - g->start[0];
    while (depth > 0) {
        uint32_t k = stack[depth - 1];
        if (left[k] == 0) {
            d->order[--place] = k;
            depth--;
            continue;
        }
        uint32_t to = g->to[g->start[k] + --left[k]];
        if (d->rank[to] != JY_UNREACHED)
            continue;
        d->rank[to] = 0;
        left[to] = g->start[to + 1] - g->start[to];
        stack[depth++] = to;
    }
    d->n = g->n - place;
    d->order += place;
    for (size_t k = 0; k < d->n; k++)
        d->rank[d->order[k]] = (uint32_t)k;
}

static uint32_t
common(const struct jy_dominators *d, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (d->rank[a] > d->rank[b])
            a = d->idom[a];
        while (d->rank[b] > d->rank[a])
            b = d->idom[b];
    }
    return a;
}

static void
fill_idom(struct jy_dominators *d, struct jy_arena *arena, const struct jy_digraph *preds)
{
    d->idom = JY_NEW_ARRAY(arena, uint32_t, preds->n + 1);
    for (size_t k = 0; k < preds->n; k++)
        d->idom[k] = JY_UNREACHED;
    d->idom[0] = 0;
    for (bool again = true; again;) {
        again = false;
        for (size_t k = 1; k < d->n; k++) {
            uint32_t node = d->order[k], idom = JY_UNREACHED;
            for (uint32_t a = preds->start[node]; a < preds->start[node + 1]; a++) {
                uint32_t from = preds->to[a];
                if (d->rank[from] == JY_UNREACHED || d->idom[from] == JY_UNREACHED)
                    continue;
                idom = idom == JY_UNREACHED ? from : common(d, idom, from);
            }
            if (d->idom[node] != idom) {
                d->idom[node] = idom;
                again = true;
            }
        }
    }
}

static void
fill_preorder(struct jy_dominators *d, struct jy_arena *arena, size_t nnodes)
{
    uint32_t *size = JY_NEW_ARRAY(arena, uint32_t, nnodes + 1); /* of the subtree */
    uint32_t *next = JY_NEW_ARRAY(arena, uint32_t, nnodes + 1); /* where the next child's subtree begins */
    d->first = JY_NEW_ARRAY(arena, uint32_t, nnodes + 1);
    d->last = JY_NEW_ARRAY(arena, uint32_t, nnodes + 1);
    d->preorder = JY_NEW_ARRAY(arena, uint32_t, d->n + 1);
    for (size_t k = d->n; k-- > 1;)
        size[d->idom[d->order[k]]] += ++size[d->order[k]];
    size[0]++;
    for (size_t k = 0; k < d->n; k++) {
        uint32_t node = d->order[k];
        uint32_t *at = &next[d->idom[node]];
        d->first[node] = *at;
        *at += k == 0 ? 0 : size[node];
        next[node] = d->first[node] + 1;
        d->last[node] = d->first[node] + size[node] - 1;
        d->preorder[d->first[node]] = node;
    }
}

void
jy_dominators_fill(struct jy_dominators *d, struct jy_arena *arena, const struct jy_arcs *arcs, size_t nnodes)
{
    struct jy_digraph succs = jy_digraph_new(arena, nnodes, arcs, false);
    struct jy_digraph preds = jy_digraph_new(arena, nnodes, arcs, true);
    fill_order(d, arena, &succs);
    fill_idom(d, arena, &preds);
    fill_preorder(d, arena, nnodes);
}

void
jy_flow_shape_fill(struct jy_flow_shape *s, const struct jy_flow *w)
{
    size_t n = w->w_blocks.n;
    struct jy_arcs arcs = { 0 };
    for (jy_fb b = 0; b < n; b++)
        for (size_t k = 0; k < jy_flow_nedges(&w->w_blocks.at[b]); k++)
            *jy_vec_push(w->w_arena, &arcs) = (struct jy_arc){ b, w->w_blocks.at[b].f_edge[k].to };
    jy_dominators_fill(&s->dom, w->w_arena, &arcs, n);
    s->pred_start = JY_NEW_ARRAY(w->w_arena, uint32_t, n + 2);
    s->pred = JY_NEW_ARRAY(w->w_arena, struct jy_fpred, arcs.n + 1);
    for (size_t a = 0; a < arcs.n; a++)
        if (s->dom.rank[arcs.at[a].from] != JY_UNREACHED)
            s->pred_start[arcs.at[a].to + 1]++;
    for (size_t b = 0; b < n; b++)
        s->pred_start[b + 1] += s->pred_start[b];
    uint32_t *next = (uint32_t *)jy_arena_copy(w->w_arena, s->pred_start, (n + 1) * sizeof(*next));
    for (size_t k = 0; k < s->dom.n; k++) {
        jy_fb b = s->dom.order[k];
        for (uint32_t e = 0; e < jy_flow_nedges(&w->w_blocks.at[b]); e++)
            s->pred[next[w->w_blocks.at[b].f_edge[e].to]++] = (struct jy_fpred){ b, e };
    }
}

static void
fill_loop(struct jy_flow_loop *loop, const struct jy_flow *w, const struct jy_flow_shape *s, uint32_t *mark,
          uint32_t number)
{
    size_t n;
    *jy_vec_push(w->w_arena, &loop->blocks) = loop->head;
    mark[loop->head] = number;
    for (size_t k = 0; k < loop->blocks.n; k++) {
        jy_fb b = loop->blocks.at[k];
        for (uint32_t p = s->pred_start[b]; p < s->pred_start[b + 1]; p++) {
            jy_fb from = s->pred[p].from;
            bool counts = b != loop->head || jy_dominates(&s->dom, loop->head, from);
            if (!counts || mark[from] == number)
                continue;
            mark[from] = number;
            *jy_vec_push(w->w_arena, &loop->blocks) = from;
        }
    }
    n = loop->blocks.n;
    loop->blocks.n = 0;
    for (size_t k = s->dom.rank[loop->head]; loop->blocks.n < n; k++)
        if (mark[s->dom.order[k]] == number)
            loop->blocks.at[loop->blocks.n++] = s->dom.order[k];
}

void
jy_flow_loops_fill(struct jy_flow_loops *loops, const struct jy_flow *w, const struct jy_flow_shape *s)
{
    uint32_t *mark = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_blocks.n + 1);
    bool *has_loop = JY_NEW_ARRAY(w->w_arena, bool, w->w_blocks.n + 1);
    for (size_t k = s->dom.n; k-- > 0;) {
        jy_fb head = s->dom.order[k];
        bool is_head = false;
        for (uint32_t p = s->pred_start[head]; p < s->pred_start[head + 1]; p++)
            is_head |= jy_dominates(&s->dom, head, s->pred[p].from);
        if (!is_head)
            continue;
        struct jy_flow_loop *loop = jy_vec_push(w->w_arena, loops);
        *loop = (struct jy_flow_loop){ .head = head, .innermost = true };
        fill_loop(loop, w, s, mark, (uint32_t)loops->n);
        for (size_t j = 0; j < loop->blocks.n; j++)
            loop->innermost &= !has_loop[loop->blocks.at[j]];
        has_loop[head] = true;
    }
}

bool
jy_flow_is_made_of(const struct jy_flow *w, const struct jy_flow_shape *s, const bool *inside, jy_fb head, jy_fv v,
                   jy_fv param, int steps)
{
    const struct jy_fvalue *value = jy_flow_at(w, v);
    if (v == param)
        return true;
    if (steps == 0 || !inside[value->f_block])
        return false;
    for (size_t k = 0; k < value->f_nargs; k++)
        if (jy_flow_is_made_of(w, s, inside, head, value->f_args[k], param, steps - 1))
            return true;
    if (value->f_op != JY_FLOW_PARAM || value->f_block == head)
        return false;
    size_t place = 0;
    while (w->w_blocks.at[value->f_block].f_params.at[place] != v)
        place++;
    for (uint32_t p = s->pred_start[value->f_block]; p < s->pred_start[value->f_block + 1]; p++) {
        jy_fv given = w->w_blocks.at[s->pred[p].from].f_edge[s->pred[p].edge].args[place];
        if (jy_flow_is_made_of(w, s, inside, head, given, param, steps - 1))
            return true;
    }
    return false;
}
