/* Where a round's loads and stores go, compared: what the round before has stored is handed on in a register, instead of being read back from memory.
 *
 *     for j in range(1, m): a[j] = f(a[j - 1], ...)      the load waits for the store, which takes longer than most of what f does
 *
 * That is so where both places are one linear form in the index, a round apart, or the same place in all rounds (`a[i, j] -= a[i, k] * a[k, j]`), both are come to in every round, and nothing else that the loop stores may touch them. The first round's value is loaded
 * in front of it, behind the test: a chunk has a round then. */
#include "graph/flow_counted.h"
#include "graph/flow_simplify_internal.h"

/* The offset as a linear form over values of the round. */
static bool
form_of_place(struct jy_counted *c, const struct jy_fast *fast, struct jy_form *out, jy_fv v, int depth)
{
    const struct jy_fvalue *value = jy_flow_at(c->w, v);
    const struct jy_form nothing = jy_form_constant(0);
    struct jy_form x, y;
    if (value->f_op == JY_FLOW_CONST) {
        *out = jy_form_constant(value->f_value.i);
        return true;
    }
    *out = jy_form_base(v);
    if (depth == 0 || !c->inside[value->f_block])
        return true;
    if (value->f_op == JY_FLOW_WRAP && fast->how[v] == JY_UNCHECKED_INDEX)
        return form_of_place(c, fast, out, value->f_args[0], depth - 1);
    if (value->f_op != JY_FLOW_ADD && value->f_op != JY_FLOW_SUB && value->f_op != JY_FLOW_MUL)
        return true;
    if (!form_of_place(c, fast, &x, value->f_args[0], depth - 1) ||
        !form_of_place(c, fast, &y, value->f_args[1], depth - 1))
        return false;
    if (value->f_op != JY_FLOW_MUL)
        return jy_form_add(out, &x, &y, value->f_op == JY_FLOW_ADD ? 1 : -1);
    if (y.n != 0 && x.n != 0)
        return true;
    return y.n == 0 ? jy_form_add(out, &nothing, &x, y.constant) : jy_form_add(out, &nothing, &y, x.constant);
}

/* Both are come to in every round. */
static bool
stands_before(const struct jy_counted *c, jy_fv a, jy_fv b)
{
    jy_fb block = jy_flow_at(c->w, a)->f_block, other = jy_flow_at(c->w, b)->f_block;
    if (block != other)
        return c->shape->dom.rank[block] < c->shape->dom.rank[other];
    const struct jy_fblock *body = &c->w->w_blocks.at[block];
    size_t k = 0;
    while (body->f_body.at[k] != a && body->f_body.at[k] != b)
        k++;
    return body->f_body.at[k] == a;
}

bool
jy_place_is_behind(struct jy_counted *c, const struct jy_fast *fast, jy_fv load, jy_fv store, int64_t *rounds)
{
    const struct jy_fvalue from = *jy_flow_at(c->w, load), to = *jy_flow_at(c->w, store);
    struct jy_form read, written, distance;
    int64_t step = 0;
    if (from.f_alias != to.f_alias || from.f_args[0] != to.f_args[0] || !jy_counted_is_fixed(c, to.f_args[0]) ||
        !form_of_place(c, fast, &read, from.f_args[1], 8) || !form_of_place(c, fast, &written, to.f_args[1], 8) ||
        !jy_form_add(&distance, &written, &read, -1) || distance.n != 0)
        return false;
    for (size_t k = 0; k < written.n; k++)
        if (written.term[k].base == c->index && c->by != JY_NO_FV)
            return false;
        else if (written.term[k].base == c->index)
            step = written.term[k].factor * c->step;
    int64_t bytes = distance.constant + (int32_t)to.f_index - (int32_t)from.f_index;
    if (step == 0 && bytes == 0 && jy_counted_is_fixed(c, to.f_args[1])) { /* one place in all rounds */
        *rounds = stands_before(c, load, store) ? 1 : 0;
        return true;
    }
    int64_t size = (int64_t)jy_flow_type_bytes((enum jy_ftype)from.f_type);
    if (step == 0 || (step < size && step > -size) || bytes % step != 0)
        return false;
    *rounds = bytes / step;
    return true;
}

/* Does nothing but the store write under its alias number? */
static bool
is_only_writer(const struct jy_counted *c, jy_fv store)
{
    uint64_t mask = 1 | UINT64_C(1) << jy_flow_at(c->w, store)->f_alias;
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        const struct jy_fblock *block = &c->w->w_blocks.at[c->loop->blocks.at[k]];
        for (size_t i = 0; i < block->f_body.n; i++)
            if (block->f_body.at[i] != store &&
                (jy_flow_writes(c->w, jy_flow_at(c->w, block->f_body.at[i])) & mask) != 0)
                return false;
    }
    return true;
}

static void
hand_on(struct jy_counted *c, struct jy_fast *fast, jy_fv load, jy_fv store)
{
    const struct jy_fvalue *from = jy_flow_at(c->w, load), *to = jy_flow_at(c->w, store);
    int64_t rounds;
    if (from->f_type != jy_flow_at(c->w, to->f_args[2])->f_type || from->f_type == JY_F_I1 ||
        !jy_counted_is_in_every_round(c, from->f_block) || !jy_counted_is_in_every_round(c, to->f_block) ||
        !jy_counted_can_replay(c, fast, from->f_args[0], 8) || !jy_counted_can_replay(c, fast, from->f_args[1], 8) ||
        !jy_place_is_behind(c, fast, load, store, &rounds) || rounds != 1)
        return;
    *jy_vec_push(c->w->w_arena, &fast->handed) = (struct jy_handed){ load, store };
}

static void
look_for_loads(struct jy_counted *c, struct jy_fast *fast, jy_fv store)
{
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        const struct jy_fblock *block = &c->w->w_blocks.at[c->loop->blocks.at[k]];
        for (size_t i = 0; i < block->f_body.n; i++)
            if (jy_flow_at(c->w, block->f_body.at[i])->f_op == JY_FLOW_LOAD &&
                c->invariant[block->f_body.at[i]] == JY_NO_FV)
                hand_on(c, fast, block->f_body.at[i], store);
    }
}

void
jy_counted_plan_handed(struct jy_counted *c, struct jy_fast *fast)
{
    bool at_head =
        jy_counted_is_left_at_head_only(c); /* else a place may be proven for the rounds behind a break only */
    for (size_t k = 0; at_head && k < c->loop->blocks.n; k++) {
        const struct jy_fblock *block = &c->w->w_blocks.at[c->loop->blocks.at[k]];
        for (size_t i = 0; i < block->f_body.n; i++) {
            const struct jy_fvalue *v = jy_flow_at(c->w, block->f_body.at[i]);
            if (v->f_op == JY_FLOW_STORE && v->f_alias != 0 && is_only_writer(c, block->f_body.at[i]))
                look_for_loads(c, fast, block->f_body.at[i]);
        }
    }
    if (fast->handed.n == 0)
        return;
    jy_fv first = c->first[0];
    for (size_t p = 0; p < c->w->w_blocks.at[c->head].f_params.n; p++)
        if (c->w->w_blocks.at[c->head].f_params.at[p] == c->index)
            first = c->first[p];
    *jy_vec_push(c->w->w_arena, &c->facts) =
        jy_front_op(c, c->step > 0 ? JY_FLOW_LT : JY_FLOW_GT, JY_F_I1, first, c->stop);
}
