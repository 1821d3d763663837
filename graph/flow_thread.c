/* Blocks that do nothing: an edge to an empty block goes to where that one goes, also where an empty block branches on a constant that the edge passes; and
 * a block that is the only way to the next one is joined with it. */
#include "graph/flow_simplify_internal.h"
#include <string.h>

/* An edge follows at most so many empty blocks: a ring of them never ends. */
#define MOST_HOPS 64

/* By block: one of its parameters is used by others than its own edges and condition, so it has to stay. */
static void
mark_use(const struct jy_flow *w, bool *used, jy_fv v, jy_fb from)
{
    const struct jy_fvalue *value = jy_flow_at(w, v);
    if (value->f_op == JY_FLOW_PARAM && value->f_block != from)
        used[value->f_block] = true;
}

static bool *
used_elsewhere(const struct jy_flow *w, const struct jy_flow_shape *shape)
{
    bool *used = JY_NEW_ARRAY(w->w_arena, bool, w->w_blocks.n + 1);
    for (size_t k = 0; k < shape->dom.n; k++) {
        jy_fb b = shape->dom.order[k];
        const struct jy_fblock *block = &w->w_blocks.at[b];
        for (size_t i = 0; i < block->f_body.n; i++) {
            const struct jy_fvalue *v = jy_flow_at(w, block->f_body.at[i]);
            for (size_t a = 0; a < v->f_nargs; a++)
                mark_use(w, used, v->f_args[a], b);
        }
        for (size_t e = 0; e < jy_flow_nedges(block); e++)
            for (size_t a = 0; a < block->f_edge[e].nargs; a++)
                mark_use(w, used, block->f_edge[e].args[a], b);
        if (block->f_end == JY_END_BRANCH)
            mark_use(w, used, block->f_condition, b);
    }
    for (size_t x = 0; x < w->w_exits.n; x++)
        for (size_t k = 0; k < w->w_exits.at[x].x_values.n; k++)
            mark_use(w, used, w->w_exits.at[x].x_values.at[k], UINT32_MAX);
    return used;
}

/* What an edge to the block passes for v. */
static jy_fv
passed(const struct jy_fblock *block, const struct jy_fedge *edge, jy_fv v)
{
    for (size_t p = 0; p < block->f_params.n; p++)
        if (block->f_params.at[p] == v)
            return edge->args[p];
    return v;
}

/* One way back to a loop's head is better than several. */
static bool
is_join_of_ways_back(const struct jy_flow *w, const struct jy_flow_shape *shape, jy_fb block)
{
    jy_fb head = w->w_blocks.at[block].f_edge[0].to;
    return jy_flow_npreds(shape, block) > 1 && shape->dom.rank[block] != JY_UNREACHED &&
           jy_dominates(&shape->dom, head, block);
}

/* The edge by which an empty block is left again when it is entered by this one; NULL: that is not known, or the block is needed. */
static const struct jy_fedge *
way_out(const struct jy_flow *w, const struct jy_flow_shape *shape, const bool *used, const struct jy_fedge *edge)
{
    const struct jy_fblock *block = &w->w_blocks.at[edge->to];
    if (block->f_body.n != 0 || used[edge->to])
        return NULL;
    if (block->f_end == JY_END_JUMP)
        return is_join_of_ways_back(w, shape, edge->to) ? NULL : &block->f_edge[0];
    if (block->f_end != JY_END_BRANCH)
        return NULL;
    const struct jy_fvalue *condition = jy_flow_at(w, passed(block, edge, block->f_condition));
    return condition->f_op == JY_FLOW_CONST ? &block->f_edge[condition->f_value.i != 0 ? 0 : 1] : NULL;
}

static bool
thread_edge(struct jy_flow *w, const struct jy_flow_shape *shape, const bool *used, struct jy_fedge *edge)
{
    bool changed = false;
    for (size_t hops = 0; hops < MOST_HOPS; hops++) {
        const struct jy_fedge *out = way_out(w, shape, used, edge);
        if (out == NULL)
            break;
        struct jy_fedge next = { out->to, out->nargs, JY_NEW_ARRAY(w->w_arena, jy_fv, out->nargs + 1) };
        for (size_t k = 0; k < out->nargs; k++)
            next.args[k] = passed(&w->w_blocks.at[edge->to], edge, out->args[k]);
        *edge = next;
        changed = true;
    }
    return changed;
}

bool
jy_flow_thread(struct jy_flow *w)
{
    struct jy_flow_shape shape;
    bool changed = false;
    jy_flow_shape_fill(&shape, w);
    const bool *used = used_elsewhere(w, &shape);
    for (size_t k = 0; k < shape.dom.n; k++) {
        struct jy_fblock *block = &w->w_blocks.at[shape.dom.order[k]];
        for (size_t e = 0; e < jy_flow_nedges(block); e++)
            changed |= thread_edge(w, &shape, used, &block->f_edge[e]);
    }
    return changed;
}

static void
append_block(struct jy_flow *w, jy_fv *to, jy_fb first, jy_fb second)
{
    struct jy_fblock *a = &w->w_blocks.at[first], *b = &w->w_blocks.at[second];
    for (size_t p = 0; p < b->f_params.n; p++)
        to[b->f_params.at[p]] = a->f_edge[0].args[p];
    for (size_t k = 0; k < b->f_body.n; k++) {
        jy_flow_at(w, b->f_body.at[k])->f_block = first;
        *jy_vec_push(w->w_arena, &a->f_body) = b->f_body.at[k];
    }
    a->f_end = b->f_end;
    a->f_condition = b->f_condition;
    a->f_leave = b->f_leave;
    memcpy(a->f_edge, b->f_edge, sizeof(a->f_edge));
    memcpy(a->f_likely, b->f_likely, sizeof(a->f_likely));
    b->f_params.n = b->f_body.n = 0;
    b->f_end = JY_END_JUMP; /* nothing comes here; its edge is no one's business */
    b->f_edge[0] = (struct jy_fedge){ .to = second };
}

bool
jy_flow_merge(struct jy_flow *w)
{
    struct jy_flow_shape shape;
    jy_fv *to = jy_flow_renaming(w);
    bool changed = false;
    jy_flow_shape_fill(&shape, w);
    for (size_t k = 0; k < shape.dom.n; k++) {
        jy_fb b = shape.dom.order[k];
        const struct jy_fblock *block = &w->w_blocks.at[b];
        /* A block that was appended jumps to itself, so it is passed over. */
        while (block->f_end == JY_END_JUMP) {
            jy_fb next = block->f_edge[0].to;
            if (next == b || next == 0 || jy_flow_npreds(&shape, next) != 1)
                break;
            append_block(w, to, b, next);
            changed = true;
        }
    }
    if (changed)
        jy_flow_rename(w, to);
    return changed;
}
