/* Evidence instead of checks: what a chunk notes of its rounds, so that none of them asks.
 *
 * Of floats: whether any result of a FLAGGED was not finite. Where a later result tells of it nothing is noted; what a running sum or product was made of is told by the sum when the chunk is done.
 * Of integers: whether a sum of which nothing is known wrapped. A chunk that has stored something notes what it overwrites, so that it can be made again.
 *
 * This is what lets LLVM vectorise a loop. One that it cannot vectorise, as a round needs what the round before has computed, is only given evidence where that costs less than the checks. */
#include "graph/flow_counted.h"
#include "graph/flow_simplify_internal.h"

bool
jy_counted_can_replay(const struct jy_counted *c, const struct jy_fast *fast, jy_fv v, int depth)
{
    const struct jy_fvalue *value = jy_flow_at(c->w, v);
    bool is_checked =
        value->f_exit != JY_NO_EXIT && fast->how[v] != JY_UNCHECKED_PLAIN && fast->how[v] != JY_UNCHECKED_INDEX;
    if (!c->inside[value->f_block] || v == c->index || c->invariant[v] != JY_NO_FV)
        return true;
    if (depth == 0 || is_checked || value->f_nargs == 0)
        return false;
    switch ((int)value->f_op) {
    case JY_FLOW_ADD:
    case JY_FLOW_SUB:
    case JY_FLOW_MUL:
    case JY_FLOW_SHL:
    case JY_FLOW_WRAP:
    case JY_FLOW_OFFSET:
        break;
    default:
        return false;
    }
    for (size_t k = 0; k < value->f_nargs; k++)
        if (!jy_counted_can_replay(c, fast, value->f_args[k], depth - 1))
            return false;
    return true;
}

bool
jy_counted_is_fixed(const struct jy_counted *c, jy_fv v)
{
    const struct jy_fvalue *value = jy_flow_at(c->w, v);
    if (!c->inside[value->f_block] || c->invariant[v] != JY_NO_FV)
        return true;
    if (value->f_nargs == 0 && value->f_op != JY_FLOW_CONST)
        return false;
    if (value->f_op == JY_FLOW_LOAD || value->f_op == JY_FLOW_CALL || value->f_op == JY_FLOW_INVOKE)
        return false;
    for (size_t k = 0; k < value->f_nargs; k++)
        if (!jy_counted_is_fixed(c, value->f_args[k]))
            return false;
    return true;
}

/* A sum or difference of which nothing is known: no other proof rests on its fitting. One that a round hands on to the next is left alone: its check costs less than the evidence. */
static bool
is_free_sum(struct jy_counted *c, jy_fv at)
{
    const struct jy_fvalue v = *jy_flow_at(c->w, at);
    if (v.f_op != JY_FLOW_ADD && v.f_op != JY_FLOW_SUB)
        return false;
    for (size_t k = 0; k < 2; k++)
        if (jy_flow_at(c->w, v.f_args[k])->f_op == JY_FLOW_PARAM && c->inside[jy_flow_at(c->w, v.f_args[k])->f_block])
            return false;
    const struct jy_interval *range = jy_range_of(c, at);
    return !range->has_low && !range->has_high;
}

bool
jy_counted_is_left_at_head_only(const struct jy_counted *c)
{
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        jy_fb b = c->loop->blocks.at[k];
        const struct jy_fblock *block = &c->w->w_blocks.at[b];
        for (size_t e = 0; b != c->head && e < jy_flow_nedges(block); e++)
            if (!c->inside[block->f_edge[e].to])
                return false;
        if (block->f_end == JY_END_EXIT)
            return false;
    }
    return true;
}

/* A place that only some rounds come to is proven for them alone. The others note the first place instead, so there must be one. */
static bool
need_first_place(struct jy_counted *c, jy_fv v)
{
    const struct jy_fvalue value = *jy_flow_at(c->w, v);
    const struct jy_form one = jy_form_constant(1);
    if (!c->inside[value.f_block] || value.f_op == JY_FLOW_PARAM || c->invariant[v] != JY_NO_FV)
        return true;
    if (value.f_op == JY_FLOW_WRAP && !jy_counted_is_in_every_round(c, value.f_block)) {
        const struct jy_interval *extent = jy_range_of(c, value.f_args[1]);
        if (!extent->has_low || !jy_range_need_le(c, &one, 0, &extent->low))
            return false;
    }
    for (size_t k = 0; k < value.f_nargs; k++)
        if (!need_first_place(c, value.f_args[k]))
            return false;
    return true;
}

/* Every store can be undone: its old value is noted, and its place found again; and rounds are left at the head only. */
static bool
can_undo(struct jy_counted *c, struct jy_fast *fast)
{
    if (!jy_counted_is_left_at_head_only(c))
        return false;
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        for (size_t i = 0; i < c->w->w_blocks.at[c->loop->blocks.at[k]].f_body.n; i++) {
            jy_fv store = c->w->w_blocks.at[c->loop->blocks.at[k]].f_body.at[i];
            const struct jy_fvalue v = *jy_flow_at(c->w, store);
            if (v.f_op != JY_FLOW_STORE)
                continue;
            if (fast->nlogged == JY_MOST_LOGGED || !jy_counted_can_replay(c, fast, v.f_args[0], 8) ||
                !jy_counted_can_replay(c, fast, v.f_args[1], 8) || !need_first_place(c, v.f_args[1]))
                return false;
            fast->is_fixed[fast->nlogged] = jy_counted_is_fixed(c, v.f_args[0]) && jy_counted_is_fixed(c, v.f_args[1]);
            fast->logged[fast->nlogged++] = store;
        }
    }
    return true;
}

/* A later result of the block tells of this one. */
static bool
is_told(const struct jy_flow *w, const struct jy_fblock *block, size_t at)
{
    jy_fv result = jy_flow_at(w, block->f_body.at[at])->f_args[0];
    for (size_t k = at + 1; k < block->f_body.n; k++) {
        const struct jy_fvalue *later = jy_flow_at(w, block->f_body.at[k]);
        if (later->f_op == JY_FLOW_FLAGGED && jy_flow_passes_on(w, later->f_args[0], result, 4))
            return true;
    }
    return false;
}

/* The blocks of a round that come behind this one, itself included. */
static bool *
reached_from(const struct jy_counted *c, jy_fb block)
{
    bool *seen = JY_NEW_ARRAY(c->w->w_arena, bool, c->w->w_blocks.n);
    seen[block] = true;
    for (size_t k = c->shape->dom.rank[block]; k < c->shape->dom.n; k++) {
        jy_fb b = c->shape->dom.order[k];
        for (size_t e = 0; seen[b] && e < jy_flow_nedges(&c->w->w_blocks.at[b]); e++) {
            jy_fb to = c->w->w_blocks.at[b].f_edge[e].to;
            seen[to] |= c->inside[to] && to != c->head;
        }
    }
    return seen;
}

/* Is v NaN or infinite whenever `part` is, on every way from there (`behind`) to here? */
static bool
stays_so(const struct jy_counted *c, jy_fv v, jy_fv part, const bool *behind, int depth)
{
    const struct jy_fvalue *value = jy_flow_at(c->w, v);
    const jy_fv *a = value->f_args;
    if (v == part)
        return true;
    if (depth == 0 || !c->inside[value->f_block])
        return false;
    if (value->f_op == JY_FLOW_SELECT)
        return stays_so(c, a[1], part, behind, depth - 1) && stays_so(c, a[2], part, behind, depth - 1);
    if (value->f_op != JY_FLOW_PARAM) {
        for (size_t k = 0; k < value->f_nargs; k++)
            if (jy_flow_passes_on(c->w, v, a[k], 1) && stays_so(c, a[k], part, behind, depth - 1))
                return true;
        return false;
    }
    if (value->f_block == c->head)
        return false;
    size_t place = 0;
    while (c->w->w_blocks.at[value->f_block].f_params.at[place] != v)
        place++;
    for (uint32_t p = c->shape->pred_start[value->f_block]; p < c->shape->pred_start[value->f_block + 1]; p++) {
        struct jy_fpred pred = c->shape->pred[p];
        jy_fv passed = c->w->w_blocks.at[pred.from].f_edge[pred.edge].args[place];
        if (behind[pred.from] && !stays_so(c, passed, part, behind, depth - 1))
            return false;
    }
    return true;
}

static bool
is_carried_by(const struct jy_counted *c, size_t place, jy_fv part)
{
    const bool *behind = reached_from(c, jy_flow_at(c->w, part)->f_block);
    for (uint32_t p = c->shape->pred_start[c->head]; p < c->shape->pred_start[c->head + 1]; p++) {
        struct jy_fpred pred = c->shape->pred[p];
        if (c->inside[pred.from] && behind[pred.from] &&
            !stays_so(c, c->w->w_blocks.at[pred.from].f_edge[pred.edge].args[place], part, behind, 6))
            return false;
    }
    return true;
}

static void
add_carried(struct jy_counted *c, struct jy_fast *fast, jy_fv sum)
{
    for (size_t k = 0; k < fast->carried.n; k++)
        if (fast->carried.at[k] == sum)
            return;
    *jy_vec_push(c->w->w_arena, &fast->carried) = sum;
}

/* A sum that lies in memory, from where each round takes it and where it puts it back. */
static bool
is_handed_on_by(const struct jy_counted *c, const struct jy_handed *pair, jy_fv part)
{
    const struct jy_fvalue *store = jy_flow_at(c->w, pair->store);
    const bool *behind = reached_from(c, jy_flow_at(c->w, part)->f_block);
    return behind[store->f_block] && stays_so(c, store->f_args[2], part, behind, 6);
}

static bool
is_carried_in_memory(struct jy_counted *c, struct jy_fast *fast, jy_fv result)
{
    for (size_t k = 0; k < fast->handed.n; k++) {
        const struct jy_handed *pair = &fast->handed.at[k];
        uint8_t type = jy_flow_at(c->w, pair->load)->f_type;
        if ((type != JY_F_F64 && type != JY_F_F32) || !is_handed_on_by(c, pair, result) ||
            !is_handed_on_by(c, pair, pair->load))
            continue;
        add_carried(c, fast, pair->load);
        return true;
    }
    return false;
}

/* A running sum or product tells of all that it was made of when the chunk is done: nothing has to be noted round by round. */
static bool
is_carried(struct jy_counted *c, struct jy_fast *fast, jy_fv result)
{
    const struct jy_fblock *head = &c->w->w_blocks.at[c->head];
    for (size_t place = 0; place < head->f_params.n; place++) {
        jy_fv sum = head->f_params.at[place];
        uint8_t type = jy_flow_at(c->w, sum)->f_type;
        if ((type != JY_F_F64 && type != JY_F_F32) || !is_carried_by(c, place, result) || !is_carried_by(c, place, sum))
            continue;
        add_carried(c, fast, sum);
        return true;
    }
    return is_carried_in_memory(c, fast, result);
}

/* What can be collected, or is no hindrance. */
static bool
can_collect(struct jy_counted *c, struct jy_fast *fast, jy_fv at, size_t *nfound, size_t *nstores)
{
    const struct jy_fvalue v = *jy_flow_at(c->w, at);
    uint8_t how = fast->how[at];
    if (v.f_op == JY_FLOW_POLL)
        return true;
    *nstores += v.f_op == JY_FLOW_STORE;
    if (jy_flow_has_effect(c->w, &v))
        return v.f_op == JY_FLOW_STORE;
    if (v.f_exit == JY_NO_EXIT || (how != JY_UNCHECKED_NO && how != JY_UNCHECKED_BELOW))
        return true;
    bool is_found = v.f_op == JY_FLOW_FLAGGED || (how == JY_UNCHECKED_NO && is_free_sum(c, at));
    *nfound += is_found;
    return is_found;
}

/* ---- does it pay? ---- */

/* A float that each round makes of the last one's: the order of float operations is the program's. */
static bool
has_float_recurrence(const struct jy_counted *c)
{
    const struct jy_fblock *head = &c->w->w_blocks.at[c->head];
    for (size_t place = 0; place < head->f_params.n; place++) {
        jy_fv param = head->f_params.at[place];
        uint8_t type = jy_flow_at(c->w, param)->f_type;
        if (type != JY_F_F64 && type != JY_F_F32)
            continue;
        for (uint32_t p = c->shape->pred_start[c->head]; p < c->shape->pred_start[c->head + 1]; p++) {
            struct jy_fpred pred = c->shape->pred[p];
            jy_fv next = c->w->w_blocks.at[pred.from].f_edge[pred.edge].args[place];
            if (c->inside[pred.from] && next != param &&
                jy_flow_is_made_of(c->w, c->shape, c->inside, c->head, next, param, 8))
                return true;
        }
    }
    return false;
}

/* Does the load read what the store has written a few rounds before? */
static bool
follows(struct jy_counted *c, const struct jy_fast *fast, jy_fv load, jy_fv store)
{
    enum { FEW = 8 }; /* lanes */
    int64_t rounds;
    return jy_place_is_behind(c, fast, load, store, &rounds) && rounds > 0 && rounds < FEW;
}

static bool
has_memory_recurrence(struct jy_counted *c, const struct jy_fast *fast)
{
    for (size_t s = 0; s < fast->nlogged; s++)
        for (size_t k = 0; k < c->loop->blocks.n; k++) {
            const struct jy_fblock *block = &c->w->w_blocks.at[c->loop->blocks.at[k]];
            for (size_t i = 0; i < block->f_body.n; i++) {
                jy_fv load = block->f_body.at[i];
                if (jy_flow_at(c->w, load)->f_op == JY_FLOW_LOAD && follows(c, fast, load, fast->logged[s]))
                    return true;
            }
        }
    return false;
}

/* Machine instructions, roughly. */
enum {
    COST_OF_FLAGGED = 3,
    COST_OF_OVERFLOW = 2,
    COST_OF_NOTED = 3,
    COST_OF_WRAPPED = 5,
    COST_OF_LOGGED = 4, /* the load, the store, and the place in the log */
    COST_OF_CHOSEN = 4, /* more, where not every round stores */
};

struct costs {
    size_t checks, evidence;
};

/* What becomes of a check that is found. */
static enum jy_unchecked
evidence_for(struct jy_counted *c, struct jy_fast *fast, const struct jy_fblock *block, size_t i, bool at_head,
             struct costs *costs)
{
    const struct jy_fvalue *v = jy_flow_at(c->w, block->f_body.at[i]);
    if (v->f_op != JY_FLOW_FLAGGED) {
        costs->checks += COST_OF_OVERFLOW;
        costs->evidence += COST_OF_WRAPPED;
        return JY_UNCHECKED_OVERFLOW;
    }
    if (is_told(c->w, block, i))
        return JY_UNCHECKED_GONE;
    costs->checks += COST_OF_FLAGGED;
    if (at_head && is_carried(c, fast, v->f_args[0]))
        return JY_UNCHECKED_GONE;
    costs->evidence += COST_OF_NOTED;
    return JY_UNCHECKED_COLLECT;
}

static size_t
cost_of_log(const struct jy_counted *c, const struct jy_fast *fast)
{
    size_t cost = 0;
    for (size_t k = 0; k < fast->nlogged; k++) {
        if (fast->is_fixed[k])
            continue;
        cost += COST_OF_LOGGED;
        if (!jy_counted_is_in_every_round(c, jy_flow_at(c->w, fast->logged[k])->f_block))
            cost += COST_OF_CHOSEN;
    }
    return cost;
}

/* Evidence is collected where a chunk may be made again: what it has written can be undone, and a round can be left in no other way that would have to be precise. */
void
jy_counted_plan_evidence(struct jy_counted *c, struct jy_fast *fast)
{
    size_t nfound = 0, nstores = 0;
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        const struct jy_fblock *block = &c->w->w_blocks.at[c->loop->blocks.at[k]];
        for (size_t i = 0; i < block->f_body.n; i++)
            if (!can_collect(c, fast, block->f_body.at[i], &nfound, &nstores))
                return;
    }
    bool at_head = jy_counted_is_left_at_head_only(c), good = nstores == 0 || (c->can_log && can_undo(c, fast));
    struct costs costs = { 0 };
    uint8_t *how = JY_NEW_ARRAY(c->w->w_arena, uint8_t, c->nvalues + 1);
    for (size_t k = 0; good && k < c->loop->blocks.n; k++) {
        const struct jy_fblock *block = &c->w->w_blocks.at[c->loop->blocks.at[k]];
        for (size_t i = 0; i < block->f_body.n; i++) {
            jy_fv at = block->f_body.at[i];
            const struct jy_fvalue *v = jy_flow_at(c->w, at);
            if (v->f_op == JY_FLOW_FLAGGED ||
                (v->f_op != JY_FLOW_POLL && v->f_exit != JY_NO_EXIT && fast->how[at] == JY_UNCHECKED_NO))
                how[at] = (uint8_t)evidence_for(c, fast, block, i, at_head, &costs);
        }
    }
    costs.evidence += cost_of_log(c, fast);
    if (nfound == 0 || !good ||
        (costs.evidence >= costs.checks && (has_float_recurrence(c) || has_memory_recurrence(c, fast)))) {
        fast->nlogged = fast->carried.n = 0;
        return;
    }
    fast->collects = true;
    for (jy_fv at = 0; at < c->nvalues; at++) {
        if (how[at] == JY_UNCHECKED_NO)
            continue;
        fast->how[at] = how[at];
        fast->told[at] = JY_SITE_NOTED;
        fast->ngone++;
        if (how[at] == JY_UNCHECKED_OVERFLOW)
            fast->evidence[JY_EVIDENCE_WRAPPED] = true;
        else if (how[at] == JY_UNCHECKED_COLLECT)
            fast->evidence[jy_flow_at(c->w, jy_flow_at(c->w, at)->f_args[0])->f_type == JY_F_F32 ? JY_EVIDENCE_F32
                                                                                                 : JY_EVIDENCE_F64] =
                true;
    }
}
