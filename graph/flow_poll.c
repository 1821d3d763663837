/* Between two chunks the loop stands at its head, with a round behind it. A poll in the head says what is true there. A poll on the way back to the head is in the bytecode in front of a jump, so
 * the head's state is its state as well; what it names beyond that (locals that the next round will overwrite) is handed on by the last round. Several ways back have a poll each;
 * their exits must look alike but for the place of the jump, and the first one's is taken. Where a call of a round may take long, polls stay where they are.
 *
 * A poll in a first round that stands by itself is one too many: what comes to it again comes by the ways back of a loop around it, and they ask. So it is where no loop is around it. */
#include "graph/flow_poll.h"
#include "graph/flow_helper.h"
#include "graph/flow_simplify_internal.h"

static bool
is_same_box(const struct jy_box *a, const struct jy_box *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->how != b->how || a->kind != b->kind || a->dtype != b->dtype || a->ndim != b->ndim ||
        a->number != b->number || a->object != b->object || a->value != b->value || a->n != b->n)
        return false;
    for (size_t k = 0; k < a->n; k++)
        if (!is_same_box(a->parts[k], b->parts[k]))
            return false;
    return true;
}

static bool
is_same_frame(const struct jy_flow_frame *a, const struct jy_flow_frame *b)
{
    if (a->x_function != b->x_function || a->x_depth != b->x_depth || a->x_nlocals != b->x_nlocals)
        return false;
    for (size_t k = 0; k < a->x_depth + a->x_nlocals; k++)
        if (!is_same_box(a->x_boxes[k], b->x_boxes[k]))
            return false;
    return true;
}

static bool
look_alike(const struct jy_flow *w, const struct jy_flow_exit *a, const struct jy_flow_exit *b)
{
    if (a->x_values.n != b->x_values.n || a->x_depth != b->x_depth || a->x_nlocals != b->x_nlocals ||
        (a->x_boxes == NULL) != (b->x_boxes == NULL) || a->x_ninner != b->x_ninner)
        return false;
    for (size_t k = 0; k < a->x_values.n; k++)
        if (jy_flow_at(w, a->x_values.at[k])->f_type != jy_flow_at(w, b->x_values.at[k])->f_type)
            return false;
    for (size_t k = 0; a->x_boxes != NULL && k < a->x_depth + a->x_nlocals; k++)
        if (!is_same_box(a->x_boxes[k], b->x_boxes[k]))
            return false;
    for (size_t k = 0; k < a->x_ninner; k++)
        if (!is_same_frame(&a->x_inner[k], &b->x_inner[k]) ||
            (k + 1 < a->x_ninner && a->x_inner[k].x_offset != b->x_inner[k].x_offset))
            return false;
    return true;
}

/* One poll per way back, and nothing behind it. */
static bool
find_on_ways_back(const struct jy_counted *c, struct jy_polls *polls)
{
    size_t nways = 0;
    for (uint32_t p = c->shape->pred_start[c->head]; p < c->shape->pred_start[c->head + 1]; p++) {
        jy_fb from = c->shape->pred[p].from;
        if (!c->inside[from])
            continue;
        const struct jy_fblock *block = &c->w->w_blocks.at[from];
        uint32_t exit = JY_NO_EXIT;
        for (size_t k = 0; k < block->f_body.n; k++) {
            const struct jy_fvalue *v = jy_flow_at(c->w, block->f_body.at[k]);
            if (v->f_op == JY_FLOW_POLL)
                exit = v->f_exit;
            else if (exit != JY_NO_EXIT && (v->f_exit != JY_NO_EXIT || jy_flow_has_effect(c->w, v)))
                return false;
        }
        if (exit == JY_NO_EXIT || block->f_end != JY_END_JUMP)
            return false;
        polls->exit_of[from] = exit;
        if (nways++ == 0)
            polls->exit = c->w->w_exits.at[exit];
        else if (!look_alike(c->w, &polls->exit, &c->w->w_exits.at[exit]))
            return false;
    }
    return nways == polls->n;
}

/* Does every way back name, for value k of its exit, its own argument p of the head; with p == JY_NO_FV: `same`? */
static bool
all_name(const struct jy_counted *c, const struct jy_polls *polls, size_t k, uint32_t p, jy_fv same)
{
    for (uint32_t i = c->shape->pred_start[c->head]; i < c->shape->pred_start[c->head + 1]; i++) {
        jy_fb from = c->shape->pred[i].from;
        if (!c->inside[from])
            continue;
        jy_fv expected = p == JY_NO_FV ? same : c->w->w_blocks.at[from].f_edge[0].args[p];
        if (c->w->w_exits.at[polls->exit_of[from]].x_values.at[k] != expected)
            return false;
    }
    return true;
}

static struct jy_poll_value
value_on_ways_back(const struct jy_counted *c, struct jy_polls *polls, size_t k)
{
    jy_fv v = polls->exit.x_values.at[k];
    const struct jy_fblock *head = &c->w->w_blocks.at[c->head];
    if (!c->inside[jy_flow_at(c->w, v)->f_block] && all_name(c, polls, k, JY_NO_FV, v))
        return (struct jy_poll_value){ JY_POLL_VALUE, v, 0 };
    for (uint32_t p = 0; p < head->f_params.n; p++)
        if (all_name(c, polls, k, p, JY_NO_FV))
            return (struct jy_poll_value){ JY_POLL_VALUE, head->f_params.at[p], 0 };
    if (all_name(c, polls, k, JY_NO_FV, c->index))
        return (struct jy_poll_value){ JY_POLL_INDEX, c->index, 0 };
    polls->last[polls->nlast] = k;
    return (struct jy_poll_value){ JY_POLL_LAST, JY_NO_FV, polls->nlast++ };
}

static bool
find_in_head(const struct jy_counted *c, struct jy_polls *polls)
{
    const struct jy_fblock *head = &c->w->w_blocks.at[c->head];
    size_t n = 0;
    for (size_t k = 0; k < head->f_body.n; k++) {
        const struct jy_fvalue *v = jy_flow_at(c->w, head->f_body.at[k]);
        if (v->f_op == JY_FLOW_POLL && n++ == 0)
            polls->exit = c->w->w_exits.at[v->f_exit];
    }
    return n == 1 && polls->n == 1;
}

/* Does it call what takes as long as a list or an array is? CPython looks behind each such call, so rounds look, too. */
static bool
has_long_calls(const struct jy_counted *c)
{
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        const struct jy_fblock *block = &c->w->w_blocks.at[c->loop->blocks.at[k]];
        for (size_t i = 0; i < block->f_body.n; i++) {
            const struct jy_fvalue *v = jy_flow_at(c->w, block->f_body.at[i]);
            if (v->f_op == JY_FLOW_CALL && jy_flow_helper_is_long(c->w->w_helpers.at[v->f_index].name))
                return true;
        }
    }
    return false;
}

struct jy_polls
jy_polls_find(const struct jy_counted *c)
{
    struct jy_polls polls = { .exit_of = JY_NEW_ARRAY(c->w->w_arena, uint32_t, c->w->w_blocks.n + 1), .flow = c->w };
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        const struct jy_fblock *block = &c->w->w_blocks.at[c->loop->blocks.at[k]];
        for (size_t i = 0; i < block->f_body.n; i++)
            polls.n += jy_flow_at(c->w, block->f_body.at[i])->f_op == JY_FLOW_POLL;
    }
    if (polls.n == 0)
        return polls;
    bool in_head = find_in_head(c, &polls);
    polls.stay = has_long_calls(c) || (!in_head && !find_on_ways_back(c, &polls));
    if (polls.stay)
        return polls;
    polls.value = JY_NEW_ARRAY(c->w->w_arena, struct jy_poll_value, polls.exit.x_values.n + 1);
    polls.last = JY_NEW_ARRAY(c->w->w_arena, size_t, polls.exit.x_values.n + 1);
    for (size_t k = 0; k < polls.exit.x_values.n; k++)
        polls.value[k] = in_head ? (struct jy_poll_value){ JY_POLL_VALUE, polls.exit.x_values.at[k], 0 }
                                 : value_on_ways_back(c, &polls, k);
    return polls;
}

jy_fv
jy_polls_last(const struct jy_polls *polls, size_t k, jy_fb from)
{
    return polls->flow->w_exits.at[polls->exit_of[from]].x_values.at[polls->last[k]];
}

enum jy_ftype
jy_polls_type(const struct jy_flow *w, const struct jy_polls *polls, size_t k)
{
    return (enum jy_ftype)jy_flow_at(w, polls->exit.x_values.at[polls->last[k]])->f_type;
}

/* ---- polls that others make superfluous ---- */

static bool
has_poll(const struct jy_flow *w, jy_fb b)
{
    const struct jy_fblock *block = &w->w_blocks.at[b];
    for (size_t k = 0; k < block->f_body.n; k++)
        if (jy_flow_at(w, block->f_body.at[k])->f_op == JY_FLOW_POLL)
            return true;
    return false;
}

/* Does an edge go back to something else than the head of a natural loop? */
static bool
is_reducible(const struct jy_flow *w, const struct jy_flow_shape *shape)
{
    for (size_t k = 0; k < shape->dom.n; k++) {
        jy_fb from = shape->dom.order[k];
        const struct jy_fblock *block = &w->w_blocks.at[from];
        for (size_t e = 0; e < jy_flow_nedges(block); e++)
            if (shape->dom.rank[block->f_edge[e].to] <= k && !jy_dominates(&shape->dom, block->f_edge[e].to, from))
                return false;
    }
    return true;
}

static bool
goes_back(const struct jy_flow *w, jy_fb from, jy_fb head)
{
    const struct jy_fblock *block = &w->w_blocks.at[from];
    for (size_t e = 0; e < jy_flow_nedges(block); e++)
        if (block->f_edge[e].to == head)
            return true;
    return false;
}

/* Marks the blocks of the loop, but those that go back to its head, where each of these polls. */
static void
mark_asked_anyway(const struct jy_flow *w, const struct jy_flow_loop *loop, bool *seen, bool *asked)
{
    bool all = true;
    for (size_t k = 0; k < loop->blocks.n; k++)
        all &= !goes_back(w, loop->blocks.at[k], loop->head) || has_poll(w, loop->blocks.at[k]);
    for (size_t k = 0; k < loop->blocks.n; k++) {
        jy_fb b = loop->blocks.at[k];
        asked[b] = seen[b] ? asked[b] : all && !goes_back(w, b, loop->head);
        seen[b] = true;
    }
}

void
jy_flow_drop_polls(struct jy_flow *w)
{
    struct jy_flow_shape shape;
    struct jy_flow_loops loops = { 0 };
    bool *seen = JY_NEW_ARRAY(w->w_arena, bool, w->w_blocks.n + 1);
    bool *asked = JY_NEW_ARRAY(w->w_arena, bool, w->w_blocks.n + 1);
    jy_flow_shape_fill(&shape, w);
    if (!is_reducible(w, &shape))
        return;
    jy_flow_loops_fill(&loops, w, &shape);
    for (size_t k = 0; k < loops.n; k++)
        mark_asked_anyway(w, &loops.at[k], seen, asked);
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        struct jy_fblock *block = &w->w_blocks.at[b];
        size_t n = 0;
        for (size_t k = 0; k < block->f_body.n; k++)
            if (jy_flow_at(w, block->f_body.at[k])->f_op != JY_FLOW_POLL || (seen[b] && !asked[b]))
                block->f_body.at[n++] = block->f_body.at[k];
        block->f_body.n = n;
    }
}
