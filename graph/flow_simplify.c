/* Making a flow small: what the frontend says block by block and instruction by instruction is said once.
 *
 *   gather   constants to the entry block, equal ones as one, so that "always the same value" covers them
 *   params   (flow_params.c)  parameters that are copies
 *   share    (flow_share.c)   equal values and passed checks along the dominator tree, branches that are decided
 *   thread   (flow_thread.c)  edges through empty blocks; merge: a block and its only way on
 *   dead     (flow_dead.c)    what nobody needs
 *   renumber (flow_rename.c)  by place
 *
 * Each step may give the others something to do, so they are repeated until nothing changes, and at most MOST_ROUNDS times: what is left then costs time
 * only. No step moves an instruction that may leave or has an effect before or behind another one, and the values of an exit are the same before and after. */
#include "graph/base/index.h"
#include "graph/flow_simplify_internal.h"

#define MOST_ROUNDS 6

static uint64_t
constant_bits(const struct jy_fvalue *v)
{
    return v->f_type == JY_F_F32 ? (uint32_t)v->f_value.bits : v->f_value.bits;
}

struct gather {
    struct jy_flow *w;
    struct jy_index index;
    jy_fv *to;
    struct {
        jy_fv *at;
        size_t n, cap;
    } inputs, constants, rest; /* of the entry block */
};

static void
gather_constant(struct gather *g, jy_fv at)
{
    struct jy_fvalue *v = jy_flow_at(g->w, at);
    uint32_t hash = jy_index_mix(v->f_type, constant_bits(v));
    struct jy_index_probe probe = { 0 };
    for (uint32_t e = jy_index_first(&g->index, &probe, hash); e != JY_INDEX_END;
         e = jy_index_next(&g->index, &probe)) {
        const struct jy_fvalue *earlier = jy_flow_at(g->w, e);
        if (earlier->f_type == v->f_type && constant_bits(earlier) == constant_bits(v)) {
            g->to[at] = e;
            return;
        }
    }
    v->f_block = 0;
    jy_index_add(g->w->w_arena, &g->index, hash, at);
    *jy_vec_push(g->w->w_arena, &g->constants) = at;
}

static void
gather_constants(struct jy_flow *w)
{
    struct gather g = { .w = w, .to = jy_flow_renaming(w) };
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        struct jy_fblock *block = &w->w_blocks.at[b];
        size_t n = 0;
        for (size_t k = 0; k < block->f_body.n; k++) {
            jy_fv at = block->f_body.at[k];
            uint8_t op = jy_flow_at(w, at)->f_op;
            if (op == JY_FLOW_CONST)
                gather_constant(&g, at);
            else if (b > 0)
                block->f_body.at[n++] = at;
            else if (op == JY_FLOW_INPUT)
                *jy_vec_push(w->w_arena, &g.inputs) = at;
            else
                *jy_vec_push(w->w_arena, &g.rest) = at;
        }
        block->f_body.n = n;
    }
    struct jy_fblock *entry = &w->w_blocks.at[0];
    for (size_t k = 0; k < g.inputs.n; k++)
        *jy_vec_push(w->w_arena, &entry->f_body) = g.inputs.at[k];
    for (size_t k = 0; k < g.constants.n; k++)
        *jy_vec_push(w->w_arena, &entry->f_body) = g.constants.at[k];
    for (size_t k = 0; k < g.rest.n; k++)
        *jy_vec_push(w->w_arena, &entry->f_body) = g.rest.at[k];
    jy_flow_rename(w, g.to);
}

static void
simplify_one(struct jy_flow *w)
{
    bool again = true;
    for (int round = 0; again && round < MOST_ROUNDS; round++) {
        gather_constants(w);
        again = jy_flow_drop_params(w);
        again |= jy_flow_share(w);
        again |= jy_flow_thread(w);
        again |= jy_flow_merge(w);
        again |= jy_flow_drop_dead(w);
    }
    jy_flow_renumber(w);
}

void
jy_flow_simplify(struct jy_flow *w)
{
    simplify_one(w);
    for (size_t k = 0; k < w->w_functions.n; k++)
        simplify_one(w->w_functions.at[k]);
}
