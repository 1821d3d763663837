/* Loops get a head of their own, with one way in.
 *
 * A nest whose outer loop is entered in the middle of a round, where the inner one begins, has one head for both: its ways back are those of two loops. The outer ones get a
 * block in front of the head. (The frontend goes on like this where a variable has got its last kind in the inner loop.)
 *
 * Loops with two ways in get one. The frontend goes on in the middle of a loop where a first round, in which some variable was unbound or of another kind, has
 * become like the later ones; no pass and no compiler takes such a ring of blocks for a loop.
 *
 *        a          a            The ring is e and h. h becomes the head: what can be reached from the other entries without passing it gets a second copy (e'), for
 *       / \        / \           whoever comes from outside. This is what peeling the first round would have given.
 *      v   v      v   v
 *      e <> h     e'->h <> e */
#include "graph/flow_copy.h"
#include "graph/flow_simplify_internal.h"

#define MOST_SPLITS 16  /* of one flow */
#define MOST_VALUES 400 /* of one copy */

struct ring {
    struct jy_flow *w;
    struct jy_flow_shape shape;
    bool *inside;
    struct {
        jy_fb *at;
        size_t n, cap;
    } blocks; /* in reverse postorder */
    jy_fb head;
};

static void
push_once(struct jy_flow *w, bool *seen, jy_fb b, struct jy_flow_loop *list)
{
    if (seen[b])
        return;
    seen[b] = true;
    *jy_vec_push(w->w_arena, &list->blocks) = b;
}

/* Blocks below `top` in the dominator tree that reach `from` or are reached from it. */
static bool *
reach(struct ring *r, jy_fb from, jy_fb top, bool backwards)
{
    bool *seen = JY_NEW_ARRAY(r->w->w_arena, bool, r->w->w_blocks.n);
    struct jy_flow_loop list = { 0 };
    push_once(r->w, seen, from, &list);
    for (size_t k = 0; k < list.blocks.n; k++) {
        jy_fb b = list.blocks.at[k];
        const struct jy_fblock *block = &r->w->w_blocks.at[b];
        for (size_t e = 0; !backwards && e < jy_flow_nedges(block); e++) {
            jy_fb to = block->f_edge[e].to;
            if (to != top && jy_dominates(&r->shape.dom, top, to))
                push_once(r->w, seen, to, &list);
        }
        for (uint32_t p = r->shape.pred_start[b]; backwards && p < r->shape.pred_start[b + 1]; p++) {
            jy_fb pred = r->shape.pred[p].from;
            if (pred != top && jy_dominates(&r->shape.dom, top, pred))
                push_once(r->w, seen, pred, &list);
        }
    }
    return seen;
}

/* An edge that goes up to a block that does not dominate it. */
static bool
find_ring(struct ring *r)
{
    const struct jy_dominators *dom = &r->shape.dom;
    for (size_t k = 0; k < dom->n; k++) {
        jy_fb b = dom->order[k];
        for (size_t e = 0; e < jy_flow_nedges(&r->w->w_blocks.at[b]); e++) {
            jy_fb to = r->w->w_blocks.at[b].f_edge[e].to, top = to;
            if (dom->rank[to] > dom->rank[b] || jy_dominates(dom, to, b))
                continue;
            while (!jy_dominates(dom, top, b))
                top = dom->idom[top];
            const bool *down = reach(r, to, top, false), *up = reach(r, to, top, true);
            r->inside = JY_NEW_ARRAY(r->w->w_arena, bool, r->w->w_blocks.n);
            r->blocks.n = 0;
            for (size_t i = 0; i < dom->n; i++)
                if ((r->inside[dom->order[i]] = down[dom->order[i]] && up[dom->order[i]]))
                    *jy_vec_push(r->w->w_arena, &r->blocks) = dom->order[i];
            r->head = to;
            return true;
        }
    }
    return false;
}

/* What is reached from the other entries without passing the head. */
static struct jy_flow_loop
beside_head(struct ring *r, jy_fb head)
{
    struct jy_flow_loop list = { .head = JY_NO_FV };
    bool *seen = JY_NEW_ARRAY(r->w->w_arena, bool, r->w->w_blocks.n);
    for (size_t k = 0; k < r->blocks.n; k++) {
        jy_fb b = r->blocks.at[k];
        for (uint32_t p = r->shape.pred_start[b]; p < r->shape.pred_start[b + 1]; p++)
            if (b != head && !r->inside[r->shape.pred[p].from])
                push_once(r->w, seen, b, &list);
    }
    for (size_t k = 0; k < list.blocks.n; k++) {
        const struct jy_fblock *block = &r->w->w_blocks.at[list.blocks.at[k]];
        for (size_t e = 0; e < jy_flow_nedges(block); e++)
            if (r->inside[block->f_edge[e].to] && block->f_edge[e].to != head)
                push_once(r->w, seen, block->f_edge[e].to, &list);
    }
    list.blocks.n = 0;
    for (size_t k = 0; k < r->blocks.n; k++)
        if (seen[r->blocks.at[k]])
            list.blocks.at[list.blocks.n++] = r->blocks.at[k];
    return list;
}

/* Is there no way round that does not pass it? Blocks are taken away that nothing of what is left leads to. */
static bool
is_on_every_way_round(struct ring *r, jy_fb head)
{
    bool *gone = JY_NEW_ARRAY(r->w->w_arena, bool, r->w->w_blocks.n);
    size_t left = r->blocks.n - 1;
    gone[head] = true;
    for (bool again = true; again && left > 0;) {
        again = false;
        for (size_t k = 0; k < r->blocks.n; k++) {
            jy_fb b = r->blocks.at[k];
            bool is_free = !gone[b];
            for (uint32_t p = r->shape.pred_start[b]; is_free && p < r->shape.pred_start[b + 1]; p++)
                is_free = !r->inside[r->shape.pred[p].from] || gone[r->shape.pred[p].from];
            if (is_free) {
                gone[b] = true;
                left--;
                again = true;
            }
        }
    }
    return left == 0;
}

/* Best is the block with the loop's test. */
static void
choose_head(struct ring *r)
{
    for (size_t k = 0; k < r->blocks.n; k++) {
        const struct jy_fblock *block = &r->w->w_blocks.at[r->blocks.at[k]];
        if (block->f_end == JY_END_BRANCH && r->inside[block->f_edge[0].to] != r->inside[block->f_edge[1].to] &&
            is_on_every_way_round(r, r->blocks.at[k])) {
            r->head = r->blocks.at[k];
            return;
        }
    }
}

static void
copy_blocks(struct ring *r, const struct jy_flow_loop *list)
{
    struct jy_flow *w = r->w;
    struct jy_copy copy = jy_copy_new(w);
    for (size_t k = 0; k < list->blocks.n; k++) {
        jy_fb from = list->blocks.at[k], to = jy_flow_block(w);
        struct jy_fblock original = w->w_blocks.at[from];
        copy.block[from] = to;
        w->w_blocks.at[to].f_offset = original.f_offset;
        w->w_blocks.at[to].f_line = original.f_line;
        w->w_blocks.at[to].f_loop = original.f_loop;
        for (size_t p = 0; p < original.f_params.n; p++) {
            enum jy_ftype type = (enum jy_ftype)jy_flow_at(w, original.f_params.at[p])->f_type;
            jy_fv param = jy_flow_param(w, to, type);
            copy.value[original.f_params.at[p]] = param;
        }
        for (size_t i = 0; i < original.f_body.n; i++)
            jy_copy_append(&copy, to, original.f_body.at[i], true);
    }
    for (size_t k = 0; k < list->blocks.n; k++) {
        struct jy_fblock original = w->w_blocks.at[list->blocks.at[k]];
        struct jy_fblock *block = &w->w_blocks.at[copy.block[list->blocks.at[k]]];
        block->f_end = original.f_end;
        if (original.f_end == JY_END_BRANCH)
            block->f_condition = jy_copy_value(&copy, original.f_condition);
        for (size_t e = 0; e < jy_flow_nedges(&original); e++) {
            block->f_edge[e] = jy_copy_edge(&copy, &original.f_edge[e], 0);
            block->f_likely[e] = original.f_likely[e];
        }
    }
    for (size_t k = 0; k < list->blocks.n; k++) {
        jy_fb b = list->blocks.at[k];
        for (uint32_t p = r->shape.pred_start[b]; p < r->shape.pred_start[b + 1]; p++)
            if (!r->inside[r->shape.pred[p].from])
                w->w_blocks.at[r->shape.pred[p].from].f_edge[r->shape.pred[p].edge].to = copy.block[b];
    }
}

bool
jy_flow_reduce(struct jy_flow *w)
{
    bool changed = false;
    for (int k = 0; k < MOST_SPLITS; k++) {
        struct ring r = { .w = w };
        size_t nvalues = 0;
        jy_flow_shape_fill(&r.shape, w);
        if (!find_ring(&r))
            break;
        choose_head(&r);
        struct jy_flow_loop list = beside_head(&r, r.head);
        for (size_t i = 0; i < list.blocks.n; i++)
            nvalues += w->w_blocks.at[list.blocks.at[i]].f_params.n + w->w_blocks.at[list.blocks.at[i]].f_body.n;
        if (nvalues > MOST_VALUES)
            break;
        jy_flow_close_ring(w, &r.shape, &list);
        copy_blocks(&r, &list);
        changed = true;
    }
    return changed;
}

/* ---- nests that share their head ---- */

static bool
adds_constant(const struct jy_flow *w, jy_fv next, jy_fv index)
{
    const struct jy_fvalue *v = jy_flow_at(w, next);
    if (v->f_op != JY_FLOW_ADD && v->f_op != JY_FLOW_SUB)
        return false;
    return v->f_args[0] == index && jy_flow_at(w, v->f_args[1])->f_op == JY_FLOW_CONST;
}

/* The place of the parameter that the head compares; SIZE_MAX: there is none. */
static size_t
compared_place(const struct jy_flow *w, jy_fb head)
{
    const struct jy_fblock *block = &w->w_blocks.at[head];
    if (block->f_end != JY_END_BRANCH || jy_flow_at(w, block->f_condition)->f_nargs != 2)
        return SIZE_MAX;
    const jy_fv *sides = jy_flow_at(w, block->f_condition)->f_args;
    for (size_t p = 0; p < block->f_params.n; p++)
        if (sides[0] == block->f_params.at[p] || sides[1] == block->f_params.at[p])
            return p;
    return SIZE_MAX;
}

static void
enter_by(struct jy_flow *w, const struct jy_flow_shape *shape, jy_fb head, const bool *stays)
{
    jy_fb before = jy_flow_block(w);
    size_t n = w->w_blocks.at[head].f_params.n;
    jy_fv *args = JY_NEW_ARRAY(w->w_arena, jy_fv, n + 1);
    for (size_t p = 0; p < n; p++)
        args[p] = jy_flow_param(w, before, (enum jy_ftype)jy_flow_at(w, w->w_blocks.at[head].f_params.at[p])->f_type);
    for (uint32_t p = shape->pred_start[head]; p < shape->pred_start[head + 1]; p++)
        if (!stays[shape->pred[p].from])
            w->w_blocks.at[shape->pred[p].from].f_edge[shape->pred[p].edge].to = before;
    jy_flow_jump(w, before, head, n, args);
}

/* Ways back on which the index goes on by a constant are the inner loop's; there are others, on which it begins again. */
static bool
is_shared_head(const struct jy_flow *w, const struct jy_flow_shape *shape, jy_fb head, bool *stays)
{
    size_t place = compared_place(w, head), ninner = 0, nouter = 0;
    if (place == SIZE_MAX)
        return false;
    for (uint32_t p = shape->pred_start[head]; p < shape->pred_start[head + 1]; p++) {
        struct jy_fpred pred = shape->pred[p];
        if (!jy_dominates(&shape->dom, head, pred.from))
            continue;
        jy_fv next = w->w_blocks.at[pred.from].f_edge[pred.edge].args[place];
        stays[pred.from] = adds_constant(w, next, w->w_blocks.at[head].f_params.at[place]);
        ninner += stays[pred.from];
        nouter += !stays[pred.from];
    }
    return ninner > 0 && nouter > 0;
}

void
jy_flow_separate(struct jy_flow *w)
{
    struct jy_flow_shape shape;
    bool changed = false;
    jy_flow_shape_fill(&shape, w);
    for (size_t k = 0; k < shape.dom.n; k++) {
        bool *stays = JY_NEW_ARRAY(w->w_arena, bool, w->w_blocks.n);
        if (is_shared_head(w, &shape, shape.dom.order[k], stays)) {
            enter_by(w, &shape, shape.dom.order[k], stays);
            changed = true;
        }
    }
    if (changed) /* what only the outer loop changes is no parameter of the inner head */
        jy_flow_drop_params(w);
}
