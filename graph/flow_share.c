/* Sharing along the dominator tree: a value that was computed before, on every way here, is not computed again, and a check that has been passed is not
 * made again.
 *
 * Equal are values of the same instruction on the same operands. One that may leave stands for a later one that may leave or not: it has been passed. One that may not leave
 * (it wraps, say) does not stand for one that must. Loads are equal as long as nothing of their alias number is written between them, on any way. Float operations do not commute:
 * of two NaNs the first one's bits are the result.
 * A condition is known behind a branch or a check that decided it: branches on it again become jumps, checks of it go. */
#include "graph/base/index.h"
#include "graph/flow_simplify_internal.h"
#include <string.h>

enum known { UNKNOWN, IS_FALSE, IS_TRUE };

struct share {
    struct jy_flow *w;
    struct jy_flow_shape shape;
    struct jy_index index;
    jy_fv *to;
    uint8_t *known;      /* by value: what a branch or check has decided */
    jy_fb *known_from;   /* in the blocks that this one dominates */
    uint32_t *memory;    /* by value: the state of memory that a load reads */
    uint32_t *memory_at; /* by block and alias number: at its end */
    uint64_t *writes;    /* by block: bit k: something is written under alias number k; bit 0: anywhere */
    uint32_t *now;       /* by alias number */
    uint32_t last_memory;
    uint32_t *mark; /* by block */
    uint32_t last_mark;
    jy_fb *walk;
    bool changed;
};

static bool
is_shareable(const struct jy_flow *w, const struct jy_fvalue *v)
{
    return v->f_op != JY_FLOW_PARAM && v->f_op != JY_FLOW_CONST && !jy_flow_has_effect(w, v);
}

static bool
commutes(const struct jy_fvalue *v, const struct jy_flow *w)
{
    enum jy_fop op = (enum jy_fop)v->f_op;
    if (op == JY_FLOW_EQ || op == JY_FLOW_NE)
        return true;
    uint8_t type = jy_flow_at(w, v->f_args[0])->f_type;
    bool is_int = type != JY_F_F32 && type != JY_F_F64;
    return is_int && (op == JY_FLOW_ADD || op == JY_FLOW_MUL || op == JY_FLOW_AND || op == JY_FLOW_OR ||
                      op == JY_FLOW_XOR || op == JY_FLOW_MIN || op == JY_FLOW_MAX);
}

static bool
uses_index(const struct jy_fvalue *v)
{
    return v->f_op == JY_FLOW_INPUT || v->f_op == JY_FLOW_LOAD || v->f_op == JY_FLOW_CALL;
}

static bool
stands_for(const struct share *s, jy_fv earlier, jy_fv later)
{
    const struct jy_fvalue *a = jy_flow_at(s->w, earlier), *b = jy_flow_at(s->w, later);
    if (a->f_op != b->f_op || a->f_type != b->f_type || a->f_nargs != b->f_nargs ||
        (uses_index(a) && a->f_index != b->f_index) || (a->f_exit == JY_NO_EXIT && b->f_exit != JY_NO_EXIT) ||
        s->memory[earlier] != s->memory[later])
        return false;
    bool same = true;
    for (size_t k = 0; k < a->f_nargs; k++)
        same &= a->f_args[k] == b->f_args[k];
    if (!same &&
        !(a->f_nargs == 2 && a->f_args[0] == b->f_args[1] && a->f_args[1] == b->f_args[0] && commutes(a, s->w)))
        return false;
    return jy_dominates(&s->shape.dom, a->f_block, b->f_block);
}

static uint32_t
hash_of(const struct share *s, jy_fv at)
{
    const struct jy_fvalue *v = jy_flow_at(s->w, at);
    uint32_t hash = jy_index_mix(v->f_op, (uint64_t)v->f_type << 32 | (uses_index(v) ? v->f_index : 0));
    uint64_t operands = 0; /* in any order */
    for (size_t k = 0; k < v->f_nargs; k++)
        operands += jy_index_mix(1, v->f_args[k]);
    return jy_index_mix(hash, operands ^ s->memory[at]);
}

/* ---- conditions ---- */

static enum known
known_in(const struct share *s, jy_fv condition, jy_fb block)
{
    const struct jy_fvalue *v = jy_flow_at(s->w, condition);
    if (v->f_op == JY_FLOW_CONST)
        return v->f_value.i != 0 ? IS_TRUE : IS_FALSE;
    if (s->known[condition] != UNKNOWN && jy_dominates(&s->shape.dom, s->known_from[condition], block))
        return (enum known)s->known[condition];
    return UNKNOWN;
}

static void
learn(struct share *s, jy_fv condition, bool value, jy_fb block)
{
    const struct jy_fvalue *v = jy_flow_at(s->w, condition);
    s->known[condition] = value ? IS_TRUE : IS_FALSE;
    s->known_from[condition] = block;
    if (v->f_type != JY_F_I1)
        return;
    if (v->f_op == JY_FLOW_NOT)
        learn(s, v->f_args[0], !value, block);
    if ((v->f_op == JY_FLOW_AND && value) || (v->f_op == JY_FLOW_OR && !value)) {
        learn(s, v->f_args[0], value, block);
        learn(s, v->f_args[1], value, block);
    }
}

/* A block with one predecessor knows which way that one's branch went. */
static void
learn_from_branch(struct share *s, jy_fb block)
{
    if (block == 0 || jy_flow_npreds(&s->shape, block) != 1)
        return;
    struct jy_fpred pred = s->shape.pred[s->shape.pred_start[block]];
    const struct jy_fblock *from = &s->w->w_blocks.at[pred.from];
    if (from->f_end == JY_END_BRANCH)
        learn(s, from->f_condition, pred.edge == 0, block);
}

/* ---- memory ---- */

enum { MOST_WALKED = 200 }; /* blocks; taste */

/* What is written on the ways from the block's dominator to it. */
static uint64_t
written_on_the_way(struct share *s, jy_fb block)
{
    jy_fb top = s->shape.dom.idom[block];
    uint64_t written = 0;
    size_t n = 0, nwalked = 0;
    s->last_mark++;
    s->walk[n++] = block;
    while (n > 0) {
        jy_fb b = s->walk[--n];
        for (uint32_t p = s->shape.pred_start[b]; p < s->shape.pred_start[b + 1]; p++) {
            jy_fb from = s->shape.pred[p].from;
            if (from == top || s->mark[from] == s->last_mark)
                continue;
            if (++nwalked > MOST_WALKED)
                return 1;
            s->mark[from] = s->last_mark;
            written |= s->writes[from];
            s->walk[n++] = from;
        }
    }
    return written;
}

static void
write_memory(struct share *s, uint64_t written)
{
    s->last_memory++;
    for (uint32_t k = 0; k <= s->w->w_nalias; k++)
        if (written >> k & 1 || (k == 0 && written != 0) || (written & 1))
            s->now[k] = s->last_memory;
}

static void
begin_memory(struct share *s, jy_fb block)
{
    size_t n = s->w->w_nalias + 1;
    if (block == 0) {
        write_memory(s, 1);
        return;
    }
    memcpy(s->now, s->memory_at + s->shape.dom.idom[block] * n, n * sizeof *s->now);
    if (jy_flow_npreds(&s->shape, block) != 1)
        write_memory(s, written_on_the_way(s, block));
}

static void
end_memory(struct share *s, jy_fb block)
{
    size_t n = s->w->w_nalias + 1;
    memcpy(s->memory_at + block * n, s->now, n * sizeof *s->now);
}

static void
fill_writes(struct share *s)
{
    for (size_t b = 0; b < s->w->w_blocks.n; b++)
        for (size_t i = 0; i < s->w->w_blocks.at[b].f_body.n; i++)
            s->writes[b] |= jy_flow_writes(s->w, jy_flow_at(s->w, s->w->w_blocks.at[b].f_body.at[i]));
}

/* ---- the walk ---- */

/* The value becomes a constant where its operands are. Not float arithmetic: it may raise a flag that somebody reads. */
static bool
fold(const struct jy_flow *w, struct jy_fvalue *v)
{
    union jy_scalar args[3], value;
    bool moves_bits =
        v->f_op == JY_FLOW_NEG || v->f_op == JY_FLOW_ABS || v->f_op == JY_FLOW_COPYSIGN || v->f_op == JY_FLOW_BITS;
    if (v->f_nargs == 0 || v->f_nargs > 3 || v->f_type == JY_F_NONE || v->f_op == JY_FLOW_LOAD ||
        v->f_op == JY_FLOW_CALL || v->f_op == JY_FLOW_INVOKE || v->f_op == JY_FLOW_SPREAD)
        return false;
    for (size_t k = 0; k < v->f_nargs; k++) {
        const struct jy_fvalue *a = jy_flow_at(w, v->f_args[k]);
        bool is_float = a->f_type == JY_F_F32 || a->f_type == JY_F_F64;
        if (a->f_op != JY_FLOW_CONST || (is_float && !moves_bits))
            return false;
        args[k] = a->f_value;
    }
    if (!jy_flow_apply(&value, (enum jy_fop)v->f_op, (enum jy_ftype)v->f_type,
                       (enum jy_ftype)jy_flow_at(w, v->f_args[0])->f_type, args))
        return false;
    v->f_op = JY_FLOW_CONST;
    v->f_nargs = 0;
    v->f_exit = JY_NO_EXIT;
    v->f_value = value;
    return true;
}

static bool
is_some_extent(const struct jy_flow *w, jy_fv v)
{
    const struct jy_fvalue *value = jy_flow_at(w, v);
    return value->f_op == JY_FLOW_INPUT && w->w_inputs.at[value->f_index].some;
}

static bool
is_zero(const struct jy_flow *w, jy_fv v)
{
    const struct jy_fvalue *value = jy_flow_at(w, v);
    return value->f_op == JY_FLOW_CONST && value->f_type == JY_F_I64 && value->f_value.i == 0;
}

/* The question whether an extent is more than 0, or not 0, becomes true where that is known. */
static bool
fold_extent(const struct jy_flow *w, struct jy_fvalue *v)
{
    bool less = (v->f_op == JY_FLOW_LT || v->f_op == JY_FLOW_BELOW) && is_zero(w, v->f_args[0]) &&
                is_some_extent(w, v->f_args[1]);
    bool more =
        (v->f_op == JY_FLOW_GT || v->f_op == JY_FLOW_NE) && is_some_extent(w, v->f_args[0]) && is_zero(w, v->f_args[1]);
    if (!less && !more)
        return false;
    v->f_op = JY_FLOW_CONST;
    v->f_nargs = 0;
    v->f_value = (union jy_scalar){ .i = 1 };
    return true;
}

/* Gives true where `at` is not needed any more. */
static bool
visit_value(struct share *s, jy_fv at, jy_fb block)
{
    struct jy_fvalue *v = jy_flow_at(s->w, at);
    for (size_t k = 0; k < v->f_nargs; k++)
        v->f_args[k] = jy_flow_renamed(s->to, v->f_args[k]);
    if (jy_flow_has_effect(s->w, v)) {
        write_memory(s, jy_flow_writes(s->w, v));
        return false;
    }
    if (!is_shareable(s->w, v))
        return false;
    if (v->f_op == JY_FLOW_CHECK) {
        if (known_in(s, v->f_args[0], block) == IS_TRUE)
            return true;
        if (v->f_index != JY_CHECK_ALWAYS) /* it may go, so nothing follows from it */
            return false;
        learn(s, v->f_args[0], true, block);
        return false;
    }
    if (v->f_op == JY_FLOW_SELECT && known_in(s, v->f_args[0], block) != UNKNOWN) {
        s->to[at] = v->f_args[known_in(s, v->f_args[0], block) == IS_TRUE ? 1 : 2];
        return true;
    }
    if (fold(s->w, v) || fold_extent(s->w, v)) {
        s->changed = true;
        return false;
    }
    s->memory[at] = v->f_op == JY_FLOW_LOAD ? s->now[v->f_alias] : 0;
    uint32_t hash = hash_of(s, at);
    struct jy_index_probe probe = { 0 };
    for (uint32_t e = jy_index_first(&s->index, &probe, hash); e != JY_INDEX_END; e = jy_index_next(&s->index, &probe))
        if (stands_for(s, e, at)) {
            s->to[at] = e;
            return true;
        }
    jy_index_add(s->w->w_arena, &s->index, hash, at);
    return false;
}

static bool
same_edges(const struct jy_fblock *block, jy_fv *to)
{
    const struct jy_fedge *a = &block->f_edge[0], *b = &block->f_edge[1];
    if (a->to != b->to)
        return false;
    for (size_t k = 0; k < a->nargs; k++)
        if (jy_flow_renamed(to, a->args[k]) != jy_flow_renamed(to, b->args[k]))
            return false;
    return true;
}

static void
visit_end(struct share *s, struct jy_fblock *block, jy_fb number)
{
    if (block->f_end != JY_END_BRANCH)
        return;
    block->f_condition = jy_flow_renamed(s->to, block->f_condition);
    enum known known = known_in(s, block->f_condition, number);
    if (known == UNKNOWN && same_edges(block, s->to))
        known = IS_TRUE;
    if (known == UNKNOWN)
        return;
    if (known == IS_FALSE)
        block->f_edge[0] = block->f_edge[1];
    block->f_end = JY_END_JUMP;
    s->changed = true;
}

bool
jy_flow_share(struct jy_flow *w)
{
    struct share s = { .w = w,
                       .to = jy_flow_renaming(w),
                       .known = JY_NEW_ARRAY(w->w_arena, uint8_t, w->w_values.n + 1),
                       .known_from = JY_NEW_ARRAY(w->w_arena, jy_fb, w->w_values.n + 1),
                       .memory = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_values.n + 1),
                       .memory_at = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_blocks.n *(w->w_nalias + 1)),
                       .writes = JY_NEW_ARRAY(w->w_arena, uint64_t, w->w_blocks.n),
                       .now = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_nalias + 1),
                       .mark = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_blocks.n),
                       .walk = JY_NEW_ARRAY(w->w_arena, jy_fb, w->w_blocks.n + 1) };
    jy_flow_shape_fill(&s.shape, w);
    fill_writes(&s);
    for (size_t k = 0; k < s.shape.dom.n; k++) {
        jy_fb number = s.shape.dom.preorder[k];
        struct jy_fblock *block = &w->w_blocks.at[number];
        size_t n = 0;
        begin_memory(&s, number);
        learn_from_branch(&s, number);
        for (size_t i = 0; i < block->f_body.n; i++) {
            jy_fv at = block->f_body.at[i];
            if (visit_value(&s, at, number))
                s.changed = true;
            else
                block->f_body.at[n++] = at;
        }
        block->f_body.n = n;
        end_memory(&s, number);
        visit_end(&s, block, number);
    }
    if (s.changed)
        jy_flow_rename(w, s.to);
    return s.changed;
}
