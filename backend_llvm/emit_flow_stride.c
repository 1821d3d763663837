/* Products of a counter and what does not change, in innermost loops: where a row of an array begins, mostly.
 *
 *     head: k = phi(from, k + 1)                      head: k = phi(from, k + 1); p = phi(from * n, p + n)
 *           ... k * n ...                  ->               ... p ...
 *
 * LLVM's own pass (loop-reduce) does so as well, and chooses addresses and counters anew for every loop; that takes time, and short loops
 * lose more by what it computes in front of them than they gain. */
#include "emit_flow.h"

/* The edge back to the head; NULL: several, or what is between contains another loop, or is a careful loop. */
static const struct jy_fedge *
way_back(const struct jy_flow_emit *f, jy_fb head)
{
    const struct jy_fedge *back = NULL;
    uint32_t first = f->place[head], last = first;
    if (f->w->w_blocks.at[head].f_careful)
        return NULL;
    for (size_t k = first; k < f->norder; k++) {
        const struct jy_fblock *block = &f->w->w_blocks.at[f->order[k]];
        for (int e = 0; e < (block->f_end == JY_END_JUMP ? 1 : block->f_end == JY_END_BRANCH ? 2 : 0); e++) {
            if (block->f_edge[e].to != head)
                continue;
            if (back != NULL)
                return NULL;
            back = &block->f_edge[e];
            last = (uint32_t)k;
        }
    }
    for (size_t k = first; k <= last; k++) {
        const struct jy_fblock *block = &f->w->w_blocks.at[f->order[k]];
        for (int e = 0; e < (block->f_end == JY_END_JUMP ? 1 : block->f_end == JY_END_BRANCH ? 2 : 0); e++)
            if (f->place[block->f_edge[e].to] <= k && block->f_edge[e].to != head &&
                f->place[block->f_edge[e].to] >= first)
                return NULL;
    }
    return back;
}

/* What each round adds to the parameter; 0: no constant. */
static int64_t
step_of(const struct jy_flow_emit *f, const struct jy_fedge *back, size_t place)
{
    jy_fv param = f->w->w_blocks.at[back->to].f_params.at[place];
    const struct jy_fvalue *next = jy_flow_at(f->w, back->args[place]);
    if (next->f_op != JY_FLOW_ADD || next->f_exit != JY_NO_EXIT)
        return 0;
    const struct jy_fvalue *by = jy_flow_at(f->w, next->f_args[next->f_args[0] == param ? 1 : 0]);
    bool is_param = next->f_args[0] == param || next->f_args[1] == param;
    return is_param && by->f_op == JY_FLOW_CONST ? by->f_value.i : 0;
}

static LLVMValueRef
find_or_add(struct jy_flow_emit *f, jy_fv counter, jy_fv factor)
{
    const struct jy_fvalue *c = jy_flow_at(f->w, counter), *n = jy_flow_at(f->w, factor);
    if (c->f_op != JY_FLOW_PARAM || n->f_op == JY_FLOW_CONST || c->f_block == 0 ||
        f->place[n->f_block] >= f->place[c->f_block])
        return NULL;
    for (size_t k = 0; k < f->strides.n; k++)
        if (f->strides.at[k].counter == counter && f->strides.at[k].factor == factor)
            return f->strides.at[k].product;
    const struct jy_fedge *back = way_back(f, c->f_block);
    size_t place = 0;
    while (back != NULL && f->w->w_blocks.at[c->f_block].f_params.at[place] != counter)
        place++;
    int64_t step = back == NULL ? 0 : step_of(f, back, place);
    if (step == 0)
        return NULL;
    LLVMBasicBlockRef here = l_here(f->e);
    LLVMPositionBuilderBefore(l_builder(f), LLVMGetFirstInstruction(f->first[c->f_block]));
    LLVMValueRef product = LLVMBuildPhi(l_builder(f), f->e->i64, "stride");
    l_at(f->e, here);
    *jy_vec_push(f->e->arena, &f->strides) = (struct jy_flow_stride){ counter, factor, place, step, product };
    return product;
}

LLVMValueRef
jy_flow_emit_stride(struct jy_flow_emit *f, const struct jy_fvalue *v)
{
    if (v->f_op != JY_FLOW_MUL || v->f_type != JY_F_I64 || v->f_exit != JY_NO_EXIT)
        return NULL;
    LLVMValueRef product = find_or_add(f, v->f_args[0], v->f_args[1]);
    return product != NULL ? product : find_or_add(f, v->f_args[1], v->f_args[0]);
}

/* The products that go round with the parameters of the block that the edge leads to. */
void
jy_flow_pass_strides(struct jy_flow_emit *f, const struct jy_fedge *edge, LLVMBasicBlockRef from, bool is_back)
{
    LLVMBuilderRef b = l_builder(f);
    for (size_t k = 0; k < f->strides.n; k++) {
        const struct jy_flow_stride *s = &f->strides.at[k];
        if (jy_flow_at(f->w, s->counter)->f_block != edge->to)
            continue;
        LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(from));
        LLVMValueRef factor = f->value[s->factor], arg = f->value[edge->args[s->place]], passed;
        if (is_back)
            passed = LLVMBuildAdd(b, s->product, LLVMBuildMul(b, factor, l_int(factor, s->step), ""), "");
        else
            passed = LLVMBuildMul(b, arg, factor, "");
        LLVMAddIncoming(s->product, &passed, &from, 1);
    }
}
