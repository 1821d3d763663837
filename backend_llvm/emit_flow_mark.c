/* What LLVM is told of loops that it would make too much of.
 *
 *   careful loops   have a fast copy and are seldom gone round: unrolling or vectorising them would cost time and code
 *   sums of floats  are made in order, lane by lane, also where the rest of the round is done in vectors (session.c). That pays where the lanes lie side by side in memory, one vector at a time, since
 *                   the additions wait for each other; and where quotients or roots are made, which take so long that several vectors are better. Else what must be gathered is half as fast
 *                   as scalar code. Under `fastmath` sums are in no order, and loops like others.
 *
 * For reports, innermost loops also get the number of the program's loop (loop_vectors.c). */
#include "emit_flow.h"
#include "graph/flow_analysis.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

enum { UNKNOWN_STEP = 1 << 30, MOST_STEP = 1 << 20, MOST_DEPTH = 6, MOST_ROWS = 2 };

struct sum_loop {
    const struct jy_flow *w;
    const struct jy_flow_loop *loop;
    const struct jy_fedge *back; /* the only one */
    bool *inside;                /* per block */
};

/* ---- metadata ---- */

static LLVMMetadataRef
row(struct jy_emit *e, const char *name, LLVMValueRef value)
{
    LLVMMetadataRef parts[] = { LLVMMDStringInContext2(e->context, name, strlen(name)),
                                value != NULL ? LLVMValueAsMetadata(value) : NULL };
    return LLVMMDNodeInContext2(e->context, parts, value != NULL ? 2 : 1);
}

/* A loop's node names itself first; nodes that do are no others' equal. */
static LLVMValueRef
make_mark(struct jy_emit *e, const LLVMMetadataRef *rows, size_t n)
{
    LLVMMetadataRef itself = LLVMTemporaryMDNode(e->context, NULL, 0);
    LLVMMetadataRef parts[1 + MOST_ROWS] = { itself };
    memcpy(parts + 1, rows, n * sizeof *rows);
    LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, parts, n + 1);
    LLVMMetadataReplaceAllUsesWith(itself, node);
    return LLVMMetadataAsValue(e->context, node);
}

static LLVMMetadataRef
not_vectorized(struct jy_emit *e)
{
    return row(e, "llvm.loop.vectorize.enable", LLVMConstInt(e->i1, 0, false));
}

static void
mark_ways_back(struct jy_flow_emit *f, const struct jy_flow_loop *loop, LLVMValueRef mark)
{
    unsigned kind = LLVMGetMDKindIDInContext(f->e->context, "llvm.loop", 9);
    for (size_t k = 0; k < loop->blocks.n; k++) {
        jy_fb b = loop->blocks.at[k];
        const struct jy_fblock *block = &f->w->w_blocks.at[b];
        for (size_t e = 0; e < jy_flow_nedges(block); e++)
            if (block->f_edge[e].to == loop->head)
                LLVMSetMetadata(LLVMGetBasicBlockTerminator(f->last[b]), kind, mark);
    }
}

/* ---- sums ---- */

/* False: it has several ways back, or one inside it. */
static bool
find_way_back(struct sum_loop *s)
{
    for (size_t k = 0; k < s->loop->blocks.n; k++) {
        const struct jy_fblock *block = &s->w->w_blocks.at[s->loop->blocks.at[k]];
        for (size_t e = 0; e < jy_flow_nedges(block); e++) {
            if (block->f_edge[e].to != s->loop->head)
                continue;
            if (s->back != NULL)
                return false;
            s->back = &block->f_edge[e];
        }
    }
    return s->back != NULL && s->loop->innermost;
}

/* Is there a float to which each round adds? */
static bool
has_sum(const struct sum_loop *s)
{
    const struct jy_fblock *head = &s->w->w_blocks.at[s->loop->head];
    for (size_t p = 0; p < head->f_params.n; p++) {
        jy_fv param = head->f_params.at[p];
        const struct jy_fvalue *v = jy_flow_at(s->w, s->back->args[p]);
        if (v->f_op == JY_FLOW_ADD && (v->f_type == JY_F_F64 || v->f_type == JY_F_F32) &&
            (v->f_args[0] == param || v->f_args[1] == param))
            return true;
    }
    return false;
}

static int64_t step_of(const struct sum_loop *s, jy_fv v, int depth);

static int64_t
step_of_param(const struct sum_loop *s, jy_fv param)
{
    const struct jy_fblock *head = &s->w->w_blocks.at[s->loop->head];
    size_t place = 0;
    while (head->f_params.at[place] != param)
        place++;
    const struct jy_fvalue *next = jy_flow_at(s->w, s->back->args[place]);
    if (next->f_op != JY_FLOW_ADD || next->f_args[0] != param)
        return UNKNOWN_STEP;
    const struct jy_fvalue *by = jy_flow_at(s->w, next->f_args[1]);
    bool is_small = by->f_op == JY_FLOW_CONST && by->f_value.i >= -MOST_STEP && by->f_value.i <= MOST_STEP;
    return is_small ? by->f_value.i : UNKNOWN_STEP;
}

/* `factor`: a constant. */
static int64_t
step_of_product(int64_t step, const struct jy_fvalue *factor)
{
    int64_t by = factor->f_value.i;
    bool is_small = factor->f_op == JY_FLOW_CONST && by >= -MOST_STEP && by <= MOST_STEP;
    return is_small && step >= -MOST_STEP && step <= MOST_STEP ? step * by : UNKNOWN_STEP;
}

/* What the value grows by from round to round; UNKNOWN_STEP or more: it cannot be told. */
static int64_t
step_of(const struct sum_loop *s, jy_fv v, int depth)
{
    const struct jy_fvalue *value = jy_flow_at(s->w, v);
    if (!s->inside[value->f_block])
        return 0;
    if (value->f_op == JY_FLOW_PARAM && value->f_block == s->loop->head && value->f_type == JY_F_I64)
        return step_of_param(s, v);
    if (depth == 0 || (value->f_op != JY_FLOW_ADD && value->f_op != JY_FLOW_SUB && value->f_op != JY_FLOW_MUL))
        return UNKNOWN_STEP;
    int64_t a = step_of(s, value->f_args[0], depth - 1), b = step_of(s, value->f_args[1], depth - 1);
    if (a >= UNKNOWN_STEP || b >= UNKNOWN_STEP)
        return UNKNOWN_STEP;
    if (value->f_op != JY_FLOW_MUL)
        return value->f_op == JY_FLOW_ADD ? a + b : a - b;
    if (a == 0 && b == 0)
        return 0;
    return b == 0 ? step_of_product(a, jy_flow_at(s->w, value->f_args[1])) : UNKNOWN_STEP;
}

/* Is what it reads or writes in following rounds one element, or a run of them? */
static bool
is_side_by_side(const struct sum_loop *s, const struct jy_fvalue *v)
{
    bool loads = v->f_op == JY_FLOW_LOAD;
    uint8_t type = loads ? v->f_type : jy_flow_at(s->w, v->f_args[2])->f_type;
    if (s->inside[jy_flow_at(s->w, v->f_args[0])->f_block])
        return false;
    int64_t step = step_of(s, v->f_args[1], MOST_DEPTH);
    return step == (int64_t)jy_flow_type_bytes((enum jy_ftype)type) || (loads && step == 0);
}

/* How it is vectorised; NULL: as LLVM likes. */
static LLVMMetadataRef
choose_row(struct jy_flow_emit *f, const struct sum_loop *s)
{
    bool pays = true;
    for (size_t k = 0; k < s->loop->blocks.n; k++) {
        const struct jy_fblock *block = &s->w->w_blocks.at[s->loop->blocks.at[k]];
        for (size_t i = 0; i < block->f_body.n; i++) {
            const struct jy_fvalue *v = jy_flow_at(s->w, block->f_body.at[i]);
            if (v->f_op == JY_FLOW_DIV || v->f_op == JY_FLOW_SQRT)
                return NULL;
            pays &= (v->f_op != JY_FLOW_LOAD && v->f_op != JY_FLOW_STORE) || is_side_by_side(s, v);
        }
    }
    return pays ? row(f->e, "llvm.loop.interleave.count", l_i32(f->e, 1)) : not_vectorized(f->e);
}

/* What is said of a sum of floats; NULL: nothing, or it is none. */
static LLVMMetadataRef
sum_row(struct jy_flow_emit *f, const struct jy_flow_loop *loop)
{
    struct sum_loop s = { f->w, loop, NULL, JY_NEW_ARRAY(f->e->arena, bool, f->w->w_blocks.n) };
    for (size_t k = 0; k < loop->blocks.n; k++)
        s.inside[loop->blocks.at[k]] = true;
    return find_way_back(&s) && has_sum(&s) ? choose_row(f, &s) : NULL;
}

static void
mark_loop(struct jy_flow_emit *f, const struct jy_flow_loop *loop)
{
    LLVMMetadataRef rows[MOST_ROWS], how = f->e->fastmath ? NULL : sum_row(f, loop);
    uint32_t report = f->e->want_vectors && loop->innermost ? jy_flow_report_of(f->w, loop) : 0;
    size_t n = 0;
    if (how != NULL)
        rows[n++] = how;
    if (report != 0)
        rows[n++] = row(f->e, JY_LOOP_NUMBER, l_i32(f->e, (int)report));
    if (n != 0)
        mark_ways_back(f, loop, make_mark(f->e, rows, n));
}

static void
mark_careful(struct jy_flow_emit *f, const struct jy_flow_loop *loop)
{
    LLVMMetadataRef rows[] = { not_vectorized(f->e), row(f->e, "llvm.loop.unroll.disable", NULL) };
    mark_ways_back(f, loop, make_mark(f->e, rows, 2));
}

void
jy_flow_mark_loops(struct jy_flow_emit *f)
{
    struct jy_flow_shape shape;
    struct jy_flow_loops loops = { 0 };
    jy_flow_shape_fill(&shape, f->w);
    jy_flow_loops_fill(&loops, f->w, &shape);
    for (size_t k = 0; k < loops.n; k++) {
        const struct jy_flow_loop *loop = &loops.at[k];
        if (f->w->w_blocks.at[loop->head].f_careful)
            mark_careful(f, loop);
        else
            mark_loop(f, loop);
    }
}
