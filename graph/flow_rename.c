/* Putting values in the place of others, and giving new numbers when a pass is done, so that what is printed reads from top to bottom. */
#include "graph/flow_simplify_internal.h"
#include <assert.h>

jy_fv *
jy_flow_renaming(const struct jy_flow *w)
{
    jy_fv *to = JY_NEW_ARRAY(w->w_arena, jy_fv, w->w_values.n + 1);
    for (jy_fv v = 0; v < w->w_values.n; v++)
        to[v] = v;
    return to;
}

jy_fv
jy_flow_renamed(jy_fv *to, jy_fv v)
{
    while (to[v] != v)
        v = to[v] = to[to[v]];
    return v;
}

static void
rename_all(jy_fv *at, size_t n, jy_fv *to)
{
    for (size_t k = 0; k < n; k++)
        at[k] = jy_flow_renamed(to, at[k]);
}

void
jy_flow_rename(struct jy_flow *w, jy_fv *to)
{
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        struct jy_fblock *block = &w->w_blocks.at[b];
        for (size_t k = 0; k < block->f_body.n; k++) {
            struct jy_fvalue *v = jy_flow_at(w, block->f_body.at[k]);
            rename_all(v->f_args, v->f_nargs, to);
        }
        if (block->f_end == JY_END_BRANCH)
            block->f_condition = jy_flow_renamed(to, block->f_condition);
        for (size_t e = 0; e < jy_flow_nedges(block); e++)
            rename_all(block->f_edge[e].args, block->f_edge[e].nargs, to);
    }
    for (size_t x = 0; x < w->w_exits.n; x++)
        rename_all(w->w_exits.at[x].x_values.at, w->w_exits.at[x].x_values.n, to);
}

/* ---- new numbers ---- */

struct numbers {
    jy_fv *value;
    jy_fb *block;
    uint32_t *exit, *input;
    struct jy_fvalue *values; /* the new ones */
    size_t nvalues;
};

static void
move_value(struct jy_flow *w, struct numbers *n, jy_fv *at, jy_fb block)
{
    struct jy_fvalue *v = &n->values[n->nvalues];
    *v = *jy_flow_at(w, *at);
    v->f_block = block;
    n->value[*at] = (jy_fv)n->nvalues;
    *at = (jy_fv)n->nvalues++;
    if (v->f_exit != JY_NO_EXIT)
        n->exit[v->f_exit] = 1;
    if (v->f_op == JY_FLOW_INPUT)
        n->input[v->f_index] = 1;
}

static void
move_blocks(struct jy_flow *w, struct numbers *n, const struct jy_dominators *dom)
{
    struct jy_fblock *blocks = JY_NEW_ARRAY(w->w_arena, struct jy_fblock, dom->n);
    for (jy_fb k = 0; k < dom->n; k++) {
        struct jy_fblock *b = &blocks[k];
        *b = w->w_blocks.at[dom->order[k]];
        n->block[dom->order[k]] = k;
        for (size_t p = 0; p < b->f_params.n; p++)
            move_value(w, n, &b->f_params.at[p], k);
        for (size_t p = 0; p < b->f_body.n; p++)
            move_value(w, n, &b->f_body.at[p], k);
        if (b->f_end == JY_END_EXIT)
            n->exit[b->f_leave] = 1;
    }
    w->w_blocks.at = blocks;
    w->w_blocks.n = w->w_blocks.cap = dom->n;
    w->w_values.at = n->values;
    w->w_values.n = n->nvalues;
}

/* used[k] becomes its new number; gives how many there are. */
static size_t
count_used(uint32_t *used, size_t n)
{
    uint32_t count = 0;
    for (size_t k = 0; k < n; k++)
        used[k] = used[k] != 0 ? count++ : UINT32_MAX;
    return count;
}

static void
set_numbers(jy_fv *at, size_t n, const jy_fv *number)
{
    for (size_t k = 0; k < n; k++) {
        at[k] = number[at[k]];
        assert(at[k] != JY_NO_FV);
    }
}

static void
set_uses(struct jy_flow *w, struct numbers *n)
{
    for (size_t k = 0; k < w->w_values.n; k++) {
        struct jy_fvalue *v = &w->w_values.at[k];
        set_numbers(v->f_args, v->f_nargs, n->value);
        if (v->f_exit != JY_NO_EXIT)
            v->f_exit = n->exit[v->f_exit];
        if (v->f_op == JY_FLOW_INPUT)
            v->f_index = n->input[v->f_index];
    }
    for (size_t k = 0; k < w->w_blocks.n; k++) {
        struct jy_fblock *b = &w->w_blocks.at[k];
        if (b->f_end == JY_END_EXIT)
            b->f_leave = n->exit[b->f_leave];
        if (b->f_end == JY_END_BRANCH)
            b->f_condition = n->value[b->f_condition];
        for (size_t e = 0; e < jy_flow_nedges(b); e++) {
            b->f_edge[e].to = n->block[b->f_edge[e].to];
            set_numbers(b->f_edge[e].args, b->f_edge[e].nargs, n->value);
        }
    }
}

void
jy_flow_renumber(struct jy_flow *w)
{
    struct jy_flow_shape shape;
    jy_flow_shape_fill(&shape, w);
    struct numbers n = { .value = JY_NEW_ARRAY(w->w_arena, jy_fv, w->w_values.n + 1),
                         .block = JY_NEW_ARRAY(w->w_arena, jy_fb, w->w_blocks.n + 1),
                         .exit = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_exits.n + 1),
                         .input = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_inputs.n + 1),
                         .values = JY_NEW_ARRAY(w->w_arena, struct jy_fvalue, w->w_values.n + 1) };
    w->w_values.cap = w->w_values.n + 1;
    for (jy_fv v = 0; v < w->w_values.n; v++)
        n.value[v] = JY_NO_FV;
    move_blocks(w, &n, &shape.dom);
    size_t nexits = count_used(n.exit, w->w_exits.n), ninputs = count_used(n.input, w->w_inputs.n);
    set_uses(w, &n);
    for (size_t x = 0; x < w->w_exits.n; x++) {
        if (n.exit[x] == UINT32_MAX)
            continue;
        struct jy_flow_exit *exit = &w->w_exits.at[n.exit[x]];
        *exit = w->w_exits.at[x];
        exit->x_values.at = jy_arena_copy(w->w_arena, exit->x_values.at, exit->x_values.n * sizeof(jy_fv));
        exit->x_values.cap = exit->x_values.n;
        set_numbers(exit->x_values.at, exit->x_values.n, n.value);
    }
    for (size_t k = 0; k < w->w_inputs.n; k++)
        if (n.input[k] != UINT32_MAX)
            w->w_inputs.at[n.input[k]] = w->w_inputs.at[k];
    w->w_exits.n = nexits;
    w->w_inputs.n = ninputs;
}
