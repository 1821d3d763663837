/* Values that nobody needs: found from the other side, so that parameters that only feed each other round a loop go too. Needed is what has an effect, may
 * leave, decides a branch, or is written down by an exit that can be taken; and what those are made of. */
#include "graph/flow_simplify_internal.h"

bool
jy_flow_has_effect(const struct jy_flow *w, const struct jy_fvalue *v)
{
    if (v->f_op == JY_FLOW_CALL)
        return !w->w_helpers.at[v->f_index].pure;
    return v->f_op == JY_FLOW_STORE || v->f_op == JY_FLOW_POLL || v->f_op == JY_FLOW_INVOKE ||
           v->f_op == JY_FLOW_SPREAD || v->f_op == JY_FLOW_INDEPENDENT;
}

uint64_t
jy_flow_writes(const struct jy_flow *w, const struct jy_fvalue *v)
{
    if (v->f_op == JY_FLOW_STORE)
        return UINT64_C(1) << v->f_alias;
    if (v->f_op == JY_FLOW_INVOKE || v->f_op == JY_FLOW_SPREAD)
        return 1;
    if (v->f_op != JY_FLOW_CALL || w->w_helpers.at[v->f_index].pure)
        return 0;
    uint64_t all = (UINT64_C(2) << w->w_nalias) - 1, changed = all & ~w->w_helpers.at[v->f_index].keeps;
    return changed & 1 ? 1 : changed;
}

struct need {
    struct jy_flow *w;
    const struct jy_flow_shape *shape;
    bool *value, *exit;
    struct {
        jy_fv *at;
        size_t n, cap;
    } todo;
};

static void
need_value(struct need *n, jy_fv v)
{
    if (n->value[v])
        return;
    n->value[v] = true;
    *jy_vec_push(n->w->w_arena, &n->todo) = v;
}

static void
need_exit(struct need *n, uint32_t x)
{
    if (x == JY_NO_EXIT || n->exit[x])
        return;
    n->exit[x] = true;
    for (size_t k = 0; k < n->w->w_exits.at[x].x_values.n; k++)
        need_value(n, n->w->w_exits.at[x].x_values.at[k]);
}

static void
need_roots(struct need *n, const struct jy_fblock *block)
{
    for (size_t k = 0; k < block->f_body.n; k++) {
        const struct jy_fvalue *v = jy_flow_at(n->w, block->f_body.at[k]);
        if (v->f_exit != JY_NO_EXIT || jy_flow_has_effect(n->w, v))
            need_value(n, block->f_body.at[k]);
    }
    if (block->f_end == JY_END_BRANCH)
        need_value(n, block->f_condition);
    if (block->f_end == JY_END_EXIT)
        need_exit(n, block->f_leave);
}

static void
need_params(struct need *n, jy_fv param)
{
    const struct jy_flow_shape *s = n->shape;
    jy_fb block = jy_flow_at(n->w, param)->f_block;
    size_t place = 0;
    while (n->w->w_blocks.at[block].f_params.at[place] != param)
        place++;
    for (uint32_t p = s->pred_start[block]; p < s->pred_start[block + 1]; p++)
        need_value(n, n->w->w_blocks.at[s->pred[p].from].f_edge[s->pred[p].edge].args[place]);
}

static bool
keep_needed(jy_fv *at, size_t *n, const bool *needed)
{
    size_t kept = 0, before = *n;
    for (size_t k = 0; k < *n; k++)
        if (needed[at[k]])
            at[kept++] = at[k];
    *n = kept;
    return kept != before;
}

bool
jy_flow_drop_dead(struct jy_flow *w)
{
    struct jy_flow_shape shape;
    jy_flow_shape_fill(&shape, w);
    struct need n = { .w = w,
                      .shape = &shape,
                      .value = JY_NEW_ARRAY(w->w_arena, bool, w->w_values.n + 1),
                      .exit = JY_NEW_ARRAY(w->w_arena, bool, w->w_exits.n + 1) };
    for (size_t k = 0; k < shape.dom.n; k++)
        need_roots(&n, &w->w_blocks.at[shape.dom.order[k]]);
    while (n.todo.n > 0) {
        jy_fv at = n.todo.at[--n.todo.n];
        const struct jy_fvalue *v = jy_flow_at(w, at);
        if (v->f_op == JY_FLOW_PARAM)
            need_params(&n, at);
        for (size_t k = 0; k < v->f_nargs; k++)
            need_value(&n, v->f_args[k]);
        need_exit(&n, v->f_exit);
    }
    bool changed = false;
    for (jy_fb b = 0; b < w->w_blocks.n; b++)
        for (size_t e = 0; e < jy_flow_nedges(&w->w_blocks.at[b]); e++) {
            struct jy_fedge *edge = &w->w_blocks.at[b].f_edge[e];
            const jy_fv *params = w->w_blocks.at[edge->to].f_params.at;
            size_t kept = 0;
            for (size_t p = 0; p < edge->nargs; p++)
                if (n.value[params[p]])
                    edge->args[kept++] = edge->args[p];
            edge->nargs = kept;
        }
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        struct jy_fblock *block = &w->w_blocks.at[b];
        changed |= keep_needed(block->f_params.at, &block->f_params.n, n.value);
        changed |= keep_needed(block->f_body.at, &block->f_body.n, n.value);
    }
    return changed;
}
