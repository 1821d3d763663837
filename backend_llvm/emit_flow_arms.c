/* Short ways of a branch, done both, of which one counts:
 *
 *     c ? n // 2 : 3 * n + 1          a = n >> 1; b, o = n * 3; o -> doubt: c ? go on : leave; ...; select c, a, b
 *
 * LLVM does so itself where nothing leaves, as a branch that is not foreseen costs more than some additions. Here are those in which an
 * integer may overflow: where one does on the way that is not gone, a cold block goes on. */
#include "emit_flow.h"

enum { MOST_VALUES = 4 /* taste: of both ways, as many as LLVM itself would do */ };

static bool
is_cheap_constant(const struct jy_flow_emit *f, jy_fv v, bool power)
{
    const struct jy_fvalue *value = jy_flow_at(f->w, v);
    int64_t c = value->f_value.i;
    return value->f_op == JY_FLOW_CONST && (power ? c > 0 && (c & (c - 1)) == 0 : c >= 0 && c < 64);
}

/* Integers only, nothing that may trap. */
static bool
can_be_done_in_vain(const struct jy_flow_emit *f, const struct jy_fvalue *v)
{
    if (v->f_type != JY_F_I64 && v->f_type != JY_F_I1)
        return false;
    switch ((int)v->f_op) {
    case JY_FLOW_ADD:
    case JY_FLOW_SUB:
    case JY_FLOW_MUL:
    case JY_FLOW_NEG:
        return true;
    case JY_FLOW_AND:
    case JY_FLOW_OR:
    case JY_FLOW_XOR:
    case JY_FLOW_NOT:
    case JY_FLOW_SELECT:
        return true;
    case JY_FLOW_SHR:
        return v->f_exit == JY_NO_EXIT && is_cheap_constant(f, v->f_args[1], false);
    case JY_FLOW_FLOORDIV:
    case JY_FLOW_FLOORMOD:
        return is_cheap_constant(f, v->f_args[1], true);
    default:
        return false;
    }
}

/* How many values a way has, and whether one of them leaves; false: it is no such way. */
static bool
is_arm(const struct jy_flow_emit *f, const uint32_t *npreds, jy_fb b, size_t *n, bool *leaves)
{
    const struct jy_fblock *block = &f->w->w_blocks.at[b];
    if (npreds[b] != 1 || block->f_params.n != 0 || block->f_end != JY_END_JUMP || block->f_careful)
        return false;
    *n += block->f_body.n;
    for (size_t k = 0; k < block->f_body.n && *n <= MOST_VALUES; k++) {
        const struct jy_fvalue *v = jy_flow_at(f->w, block->f_body.at[k]);
        if (!can_be_done_in_vain(f, v))
            return false;
        *leaves |= v->f_exit != JY_NO_EXIT;
    }
    return *n <= MOST_VALUES;
}

static bool
find_arms_of(struct jy_flow_emit *f, const uint32_t *npreds, jy_fb b)
{
    const struct jy_fblock *block = &f->w->w_blocks.at[b];
    size_t n = 0;
    bool leaves = false, arm[2];
    jy_fb to[2];
    if (block->f_end != JY_END_BRANCH || block->f_likely[0] != block->f_likely[1] ||
        block->f_edge[0].to == block->f_edge[1].to)
        return false;
    for (int k = 0; k < 2; k++) {
        jy_fb next = block->f_edge[k].to;
        arm[k] = is_arm(f, npreds, next, &n, &leaves);
        to[k] = arm[k] ? f->w->w_blocks.at[next].f_edge[0].to : next;
    }
    /* one way may be none at all: it ends where the other does */
    if (!leaves || to[0] != to[1] || f->place[to[0]] <= f->place[b])
        return false;
    for (int k = 0; k < 2; k++)
        if (arm[k])
            f->is_arm[block->f_edge[k].to] = true;
    return true;
}

/* `order`: the blocks that are reached. */
void
jy_flow_find_arms(struct jy_flow_emit *f, const jy_fb *order, size_t n)
{
    uint32_t *npreds = JY_NEW_ARRAY(f->e->arena, uint32_t, f->w->w_blocks.n);
    for (size_t k = 0; k < n; k++) {
        const struct jy_fblock *block = &f->w->w_blocks.at[order[k]];
        for (size_t e = 0; e < (block->f_end == JY_END_JUMP ? 1u : block->f_end == JY_END_BRANCH ? 2u : 0u); e++)
            npreds[block->f_edge[e].to]++;
    }
    for (size_t k = n; k-- > 0;)
        f->has_arms[order[k]] = !f->is_arm[order[k]] && find_arms_of(f, npreds, order[k]);
}

void
jy_flow_emit_arms(struct jy_flow_emit *f, jy_fb b)
{
    const struct jy_fblock *block = &f->w->w_blocks.at[b];
    LLVMValueRef condition = f->value[block->f_condition];
    for (int k = 0; k < 2; k++) {
        jy_fb arm = block->f_edge[k].to;
        if (!f->is_arm[arm])
            continue;
        f->goes_on = k == 0 ? LLVMBuildNot(l_builder(f), condition, "") : condition;
        jy_flow_emit_body(f, arm);
    }
    f->goes_on = NULL;
}

/* The edge on which both ways end, its arguments chosen by the condition. */
void
jy_flow_join_arms(struct jy_flow_emit *f, jy_fb b)
{
    const struct jy_fblock *block = &f->w->w_blocks.at[b];
    const struct jy_fedge *edge[2];
    for (int k = 0; k < 2; k++) {
        edge[k] = &block->f_edge[k];
        if (f->is_arm[edge[k]->to])
            edge[k] = &f->w->w_blocks.at[edge[k]->to].f_edge[0];
    }
    const struct jy_fblock *to = &f->w->w_blocks.at[edge[0]->to];
    for (size_t k = 0; k < edge[0]->nargs; k++) {
        LLVMValueRef yes = f->value[edge[0]->args[k]], no = f->value[edge[1]->args[k]];
        LLVMValueRef r = yes == no ? yes : LLVMBuildSelect(l_builder(f), f->value[block->f_condition], yes, no, "");
        LLVMBasicBlockRef from = f->last[b];
        LLVMAddIncoming(f->value[to->f_params.at[k]], &r, &from, 1);
    }
    LLVMBuildBr(l_builder(f), f->first[edge[0]->to]);
}
