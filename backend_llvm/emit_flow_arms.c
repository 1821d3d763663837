/* Short ways of a branch, done both, of which one counts:
 *
 *     c ? n // 2 : 3 * n + 1          a = n >> 1; b, o = n * 3; o -> doubt: c ? go on : leave; ...; select c, a, b
 *
 * LLVM does so itself where nothing leaves, as a branch that is not foreseen costs more than some additions. Here are those in which an
 * integer may overflow: where one does on the way that is not gone, a cold block goes on. And those that add to a number or not:
 *
 *     if c: n += x                    a = select c, x, 0; n = n + a
 *
 * which LLVM takes for a sum, over the rounds of a loop, too; of what it makes itself of the branch it does not know that. */
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

/* Is a sum of integers: `x` and something, which is what it gives; JY_NO_FV: no. */
static jy_fv
added_to(const struct jy_flow_emit *f, jy_fv sum, jy_fv x)
{
    const struct jy_fvalue *v = jy_flow_at(f->w, sum);
    if ((v->f_op != JY_FLOW_ADD && v->f_op != JY_FLOW_SUB) || v->f_exit != JY_NO_EXIT || v->f_type != JY_F_I64)
        return JY_NO_FV;
    if (v->f_args[0] == x)
        return v->f_args[1];
    return v->f_op == JY_FLOW_ADD && v->f_args[1] == x ? v->f_args[0] : JY_NO_FV;
}

/* The edge on which a way ends. */
static const struct jy_fedge *
last_edge(const struct jy_flow_emit *f, jy_fb b, int k)
{
    const struct jy_fedge *edge = &f->w->w_blocks.at[b].f_edge[k];
    return f->is_arm[edge->to] ? &f->w->w_blocks.at[edge->to].f_edge[0] : edge;
}

static bool
has_sum(const struct jy_flow_emit *f, jy_fb b)
{
    const struct jy_fedge *yes = last_edge(f, b, 0), *no = last_edge(f, b, 1);
    for (size_t k = 0; k < yes->nargs; k++)
        if (added_to(f, yes->args[k], no->args[k]) != JY_NO_FV || added_to(f, no->args[k], yes->args[k]) != JY_NO_FV)
            return true;
    return false;
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
    if (to[0] != to[1] || f->place[to[0]] <= f->place[b])
        return false;
    for (int k = 0; k < 2; k++)
        f->is_arm[block->f_edge[k].to] |= arm[k];
    if (leaves || has_sum(f, b))
        return true;
    for (int k = 0; k < 2; k++)
        f->is_arm[block->f_edge[k].to] &= !arm[k];
    return false;
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

/* `sum`, which is `x` and something, where the condition is as `holds` says; else `x`. NULL: it is no such sum. */
static LLVMValueRef
added_if(struct jy_flow_emit *f, LLVMValueRef condition, bool holds, jy_fv sum, jy_fv x)
{
    jy_fv by = added_to(f, sum, x);
    if (by == JY_NO_FV)
        return NULL;
    LLVMBuilderRef b = l_builder(f);
    LLVMValueRef some = f->value[by], none = l_int(some, 0);
    LLVMValueRef what = LLVMBuildSelect(b, condition, holds ? some : none, holds ? none : some, "");
    return jy_flow_at(f->w, sum)->f_op == JY_FLOW_ADD ? LLVMBuildAdd(b, f->value[x], what, "")
                                                      : LLVMBuildSub(b, f->value[x], what, "");
}

static LLVMValueRef
chosen(struct jy_flow_emit *f, LLVMValueRef condition, jy_fv yes, jy_fv no)
{
    if (yes == no)
        return f->value[yes];
    LLVMValueRef r = added_if(f, condition, true, yes, no);
    r = r != NULL ? r : added_if(f, condition, false, no, yes);
    return r != NULL ? r : LLVMBuildSelect(l_builder(f), condition, f->value[yes], f->value[no], "");
}

/* The edge on which both ways end, its arguments chosen by the condition. */
void
jy_flow_join_arms(struct jy_flow_emit *f, jy_fb b)
{
    const struct jy_fblock *block = &f->w->w_blocks.at[b];
    const struct jy_fedge *yes = last_edge(f, b, 0), *no = last_edge(f, b, 1);
    const struct jy_fblock *to = &f->w->w_blocks.at[yes->to];
    for (size_t k = 0; k < yes->nargs; k++) {
        LLVMValueRef r = chosen(f, f->value[block->f_condition], yes->args[k], no->args[k]);
        LLVMBasicBlockRef from = f->last[b];
        LLVMAddIncoming(f->value[to->f_params.at[k]], &r, &from, 1);
    }
    LLVMBuildBr(l_builder(f), f->first[yes->to]);
}
