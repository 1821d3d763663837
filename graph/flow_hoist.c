/* Counted loops get a second, fast copy without the checks that hold in all its rounds. It is gone round in chunks:
 *
 *            |                    before: -> head <-+
 *            v                                |     |
 *     +-> front: do the conditions hold      body --+
 *     |      |yes             |no
 *     |      v                v
 *     |   fast head <-+     head <-+           the careful loop, as it was
 *     |      |  |     |       | |  |
 *     |      | body --+       | body
 *     |      v                v
 *     |   behind: evidence? -> undo what was stored -> head, from where the chunk began
 *     |      |  \
 *     +- poll    -> where the loop ends
 *
 * What does not change in the rounds but is read from memory is read between entry and front (flow_invariant.c). What the conditions are and which checks hold under them is flow_counted.c's and flow_range.c's business. A chunk has JY_CHUNK rounds at most, so the interpreter is asked often enough
 * between chunks, and a chunk may be made again: where evidence is collected, each round notes what its stores overwrite, and all of it is put back, the last
 * round first. At the poll the state is that of the head,
 * or of the way back to it, which are the same. The careful loop never comes back: what has failed once is not tried again in this run of the loop. */
#include "graph/flow_bounds.h"
#include "graph/flow_copy.h"
#include "graph/flow_poll.h"
#include "graph/flow_simplify_internal.h"
#include <float.h>

#define MOST_FLOW_VALUES 30000 /* of a flow; no copies are made beyond */

/* ---- building ---- */

struct build {
    struct jy_counted *c;
    struct jy_flow *w;
    const struct jy_fast *fast;
    const struct jy_polls *polls;
    struct jy_copy copy;
    jy_fv *noted[JY_EVIDENCE_COUNT]; /* by original block: the evidence at its end */
    jy_fv *last;                     /* parameters of the fast head: jy_polls_last of the round before */
    jy_fb latch;                     /* by which it is reached again */
    jy_fv scratch;                   /* old values of what the chunk has stored */
    uint32_t log_alias;
    size_t index_place;        /* among the head's parameters */
    jy_fv old[JY_MOST_LOGGED]; /* of what all rounds store to one place: what stood there before the first */
};

static jy_fv
op(struct build *b, jy_fb block, enum jy_fop what, enum jy_ftype type, jy_fv x, jy_fv y)
{
    jy_fv args[] = { x, y };
    return jy_flow_op(b->w, block, what, type, (size_t)jy_flow_op_info[what].nargs, args, JY_NO_EXIT);
}

static const uint8_t evidence_type[] = { [JY_EVIDENCE_F64] = JY_F_I64,
                                         [JY_EVIDENCE_F32] = JY_F_I32,
                                         [JY_EVIDENCE_WRAPPED] = JY_F_I64 };

static void
note(struct build *b, jy_fb from, jy_fb to, enum jy_evidence kind, jy_fv bits)
{
    jy_fv *noted = &b->noted[kind][from];
    *noted = op(b, to, JY_FLOW_OR, (enum jy_ftype)evidence_type[kind], *noted, bits);
}

/* "Not finite" is more than what FLAGGED asks for; the careful loop looks closely. */
static void
collect(struct build *b, jy_fb from, jy_fb to, jy_fv result)
{
    enum jy_ftype type = (enum jy_ftype)jy_flow_at(b->w, result)->f_type;
    enum jy_evidence kind = type == JY_F_F32 ? JY_EVIDENCE_F32 : JY_EVIDENCE_F64;
    jy_fv nothing = op(b, to, JY_FLOW_SUB, type, result, result);
    note(b, from, to, kind, op(b, to, JY_FLOW_BITS, (enum jy_ftype)evidence_type[kind], nothing, JY_NO_FV));
}

/* A sum has another sign than both summands; a difference another one than the minuend, which differs from the subtrahend's. */
static void
collect_overflow(struct build *b, jy_fb from, jy_fb to, const struct jy_fvalue *v, jy_fv result)
{
    enum jy_ftype type = (enum jy_ftype)v->f_type;
    jy_fv x = jy_copy_value(&b->copy, v->f_args[0]), y = jy_copy_value(&b->copy, v->f_args[1]);
    jy_fv left = op(b, to, JY_FLOW_XOR, type, x, result);
    jy_fv right = op(b, to, JY_FLOW_XOR, type, v->f_op == JY_FLOW_ADD ? result : x, y);
    jy_fv both = op(b, to, JY_FLOW_AND, type, left, right);
    if (type != JY_F_I64)
        both = op(b, to, JY_FLOW_SEXT, JY_F_I64, both, JY_NO_FV);
    note(b, from, to, JY_EVIDENCE_WRAPPED, both);
}

static jy_fv
or_else(struct build *b, jy_fb block, jy_fv bad, jy_fv more)
{
    return bad == JY_NO_FV ? more : op(b, block, JY_FLOW_OR, JY_F_I1, bad, more);
}

/* Computed in the block: does what was noted up to the end of the original block say that the rounds must be made again? */
static jy_fv
is_bad(struct build *b, jy_fb block, jy_fb from)
{
    jy_fv bad = JY_NO_FV;
    for (int kind = 0; kind < JY_EVIDENCE_COUNT; kind++) {
        if (!b->fast->evidence[kind])
            continue;
        jy_fv zero = jy_flow_const(b->w, block, (enum jy_ftype)evidence_type[kind], (union jy_scalar){ .bits = 0 });
        enum jy_fop how = kind == JY_EVIDENCE_WRAPPED ? JY_FLOW_LT : JY_FLOW_NE;
        bad = or_else(b, block, bad, op(b, block, how, JY_F_I1, b->noted[kind][from], zero));
    }
    for (size_t k = 0; k < b->fast->carried.n; k++) { /* comparisons of NaNs are quiet */
        jy_fv sum = jy_copy_value(&b->copy, b->fast->carried.at[k]);
        enum jy_ftype type = (enum jy_ftype)jy_flow_at(b->w, sum)->f_type;
        union jy_scalar largest = { .bits = 0 }; /* LLVM makes more of a comparison with infinity */
        if (type == JY_F_F32)
            largest.f = FLT_MAX;
        else
            largest.d = DBL_MAX;
        jy_fv magnitude = op(b, block, JY_FLOW_ABS, type, sum, JY_NO_FV);
        jy_fv is_finite = op(b, block, JY_FLOW_LE, JY_F_I1, magnitude, jy_flow_const(b->w, block, type, largest));
        bad = or_else(b, block, bad, op(b, block, JY_FLOW_NOT, JY_F_I1, is_finite, JY_NO_FV));
    }
    return bad;
}

/* ---- what is undone ---- */

static enum jy_ftype
logged_type(const struct build *b, jy_fv store)
{
    enum jy_ftype type = (enum jy_ftype)jy_flow_at(b->w, jy_flow_at(b->w, store)->f_args[2])->f_type;
    return type == JY_F_I1 ? JY_F_I8 : type; /* a bool's byte may hold anything */
}

/* The value of the original loop in the round of this index, computed in the block. */
static jy_fv
replay(struct build *b, jy_fb block, jy_fv v, jy_fv index)
{
    const struct jy_fvalue value = *jy_flow_at(b->w, v);
    jy_fv args[2] = { JY_NO_FV, JY_NO_FV };
    if (v == b->c->index)
        return index;
    if (!b->c->inside[value.f_block])
        return v;
    if (b->c->invariant[v] != JY_NO_FV)
        return b->c->invariant[v];
    for (size_t k = 0; k < value.f_nargs; k++)
        args[k] = replay(b, block, value.f_args[k], index);
    if (value.f_op == JY_FLOW_WRAP && jy_counted_is_in_every_round(b->c, value.f_block))
        return args[0];
    if (value.f_op ==
        JY_FLOW_WRAP) { /* where it is not come to it may be out of range: the first place is noted then, to no effect */
        jy_fv chosen[] = { op(b, block, JY_FLOW_BELOW, JY_F_I1, args[0], args[1]), args[0],
                           jy_flow_const(b->w, block, JY_F_I64, (union jy_scalar){ .i = 0 }) };
        return jy_flow_op(b->w, block, JY_FLOW_SELECT, JY_F_I64, 3, chosen, JY_NO_EXIT);
    }
    return op(b, block, (enum jy_fop)value.f_op, (enum jy_ftype)value.f_type, args[0], args[1]);
}

/* Where the log has the old value of a store: behind those of the stores before, by rounds. */
static jy_fv
log_place(struct build *b, jy_fb block, size_t store, jy_fv index, int32_t *plus)
{
    int64_t size = (int64_t)jy_flow_type_bytes(logged_type(b, b->fast->logged[store]));
    jy_fv first = b->c->first[b->index_place];
    jy_fv rounds = b->c->step > 0 ? op(b, block, JY_FLOW_SUB, JY_F_I64, index, first)
                                  : op(b, block, JY_FLOW_SUB, JY_F_I64, first, index);
    *plus = (int32_t)(store * (size_t)b->c->chunk * sizeof(union jy_scalar));
    return op(b, block, JY_FLOW_MUL, JY_F_I64, rounds,
              jy_flow_const(b->w, block, JY_F_I64, (union jy_scalar){ .i = size }));
}

/* At the beginning of a round: what its stores will overwrite, whether they come to be made or not. */
static void
log_round(struct build *b, jy_fb block)
{
    jy_fv index = jy_copy_value(&b->copy, b->c->index);
    for (size_t k = 0; k < b->fast->nlogged; k++) {
        const struct jy_fvalue store = *jy_flow_at(b->w, b->fast->logged[k]);
        enum jy_ftype type = logged_type(b, b->fast->logged[k]);
        int32_t plus;
        if (b->fast->is_fixed[k])
            continue;
        jy_fv data = replay(b, block, store.f_args[0], index), offset = replay(b, block, store.f_args[1], index);
        jy_fv old = jy_flow_load(b->w, block, type, data, offset, (int32_t)store.f_index, store.f_alias);
        jy_fv place = log_place(b, block, k, index, &plus);
        jy_flow_store(b->w, block, b->scratch, place, plus, old, b->log_alias);
    }
}

static bool
has_log(const struct jy_fast *fast)
{
    for (size_t k = 0; k < fast->nlogged; k++)
        if (!fast->is_fixed[k])
            return true;
    return false;
}

/* On to the careful loop, which begins where the chunk did. Places that all rounds store to get their old values here, behind all others. */
static jy_fb
make_restored(struct build *b)
{
    struct jy_counted *c = b->c;
    jy_fb block = jy_flow_block(b->w);
    for (size_t k = 0; k < b->fast->nlogged; k++) {
        const struct jy_fvalue store = *jy_flow_at(b->w, b->fast->logged[k]);
        jy_fv first = c->first[b->index_place];
        if (!b->fast->is_fixed[k])
            continue;
        jy_fv data = replay(b, block, store.f_args[0], first), offset = replay(b, block, store.f_args[1], first);
        jy_flow_store(b->w, block, data, offset, (int32_t)store.f_index, b->old[k], store.f_alias);
    }
    jy_flow_jump(b->w, block, c->head, b->w->w_blocks.at[c->head].f_params.n, c->first);
    return block;
}

/* From the last round back to the first; then on. The block it begins with, whose parameter is the index behind the last round. */
static jy_fb
make_undo(struct build *b)
{
    struct jy_counted *c = b->c;
    jy_fb head = jy_flow_block(b->w), body = jy_flow_block(b->w), restored = make_restored(b);
    jy_fv behind = jy_flow_param(b->w, head, JY_F_I64);
    if (!has_log(b->fast)) {
        jy_flow_jump(b->w, head, restored, 0, NULL);
        return head;
    }
    jy_fv goes_on = op(b, head, JY_FLOW_NE, JY_F_I1, behind, c->first[b->index_place]);
    jy_flow_branch(b->w, head, goes_on, body, 0, NULL, restored, 0, NULL);
    jy_fv step = jy_flow_const(b->w, body, JY_F_I64, (union jy_scalar){ .i = c->step });
    jy_fv index = op(b, body, JY_FLOW_SUB, JY_F_I64, behind, step);
    for (size_t k = b->fast->nlogged; k-- > 0;) {
        const struct jy_fvalue store = *jy_flow_at(b->w, b->fast->logged[k]);
        int32_t plus;
        if (b->fast->is_fixed[k])
            continue;
        jy_fv place = log_place(b, body, k, index, &plus);
        jy_fv old = jy_flow_load(b->w, body, logged_type(b, b->fast->logged[k]), b->scratch, place, plus, b->log_alias);
        jy_fv data = replay(b, body, store.f_args[0], index), offset = replay(b, body, store.f_args[1], index);
        jy_flow_store(b->w, body, data, offset, (int32_t)store.f_index, old, store.f_alias);
    }
    jy_flow_jump(b->w, body, head, 1, &index);
    b->w->w_blocks.at[head].f_careful = true;
    return head;
}

/* The log's own, as it lies apart from everything; 0: there are too many. */
static uint32_t
add_alias(struct jy_flow *w)
{
    size_t n = w->w_nalias;
    if (n >= JY_FLOW_MOST_ALIASES)
        return 0;
    uint32_t *of = JY_NEW_ARRAY(w->w_arena, uint32_t, n + 1);
    bool *written = JY_NEW_ARRAY(w->w_arena, bool, n + 1);
    for (size_t k = 0; k < n; k++) {
        of[k] = w->w_alias[k];
        written[k] = w->w_alias_written[k];
    }
    of[n] = JY_NO_FV;
    written[n] = true;
    w->w_alias = of;
    w->w_alias_written = written;
    return ++w->w_nalias;
}

static void
begin_log(struct build *b)
{
    while (b->w->w_blocks.at[b->c->head].f_params.at[b->index_place] != b->c->index)
        b->index_place++;
    if (!has_log(b->fast))
        return;
    b->log_alias = add_alias(b->w);
    b->scratch = jy_flow_op(b->w, b->c->front, JY_FLOW_SCRATCH, JY_F_PTR, 0, NULL, JY_NO_EXIT);
}

/* ---- the copy ---- */

static bool
is_handed(const struct jy_fast *fast, jy_fv at)
{
    for (size_t k = 0; k < fast->handed.n; k++)
        if (fast->handed.at[k].load == at)
            return true;
    return false;
}

static void
copy_value(struct build *b, jy_fb from, jy_fb to, jy_fv at)
{
    const struct jy_fvalue v = *jy_flow_at(b->w, at);
    enum jy_unchecked how = (enum jy_unchecked)b->fast->how[at];
    if ((v.f_op == JY_FLOW_POLL && !b->polls->stay) || is_handed(b->fast, at))
        return;
    switch (how) {
    case JY_UNCHECKED_GONE:
    case JY_UNCHECKED_IN_FRONT:
        break;
    case JY_UNCHECKED_INDEX:
        b->copy.value[at] = jy_copy_value(&b->copy, v.f_args[0]);
        break;
    case JY_UNCHECKED_BELOW: {
        jy_fv index = jy_copy_value(&b->copy, v.f_args[0]), extent = jy_copy_value(&b->copy, v.f_args[1]);
        jy_fv is_below = op(b, to, JY_FLOW_BELOW, JY_F_I1, index, extent);
        jy_fv check = jy_flow_op(b->w, to, JY_FLOW_CHECK, JY_F_NONE, 1, &is_below, jy_copy_exit(&b->copy, v.f_exit));
        if (check != JY_NO_FV) /* a constant that holds is none */
            jy_flow_at(b->w, check)->f_site = v.f_site;
        b->copy.value[at] = index;
        break;
    }
    case JY_UNCHECKED_COLLECT:
        collect(b, from, to, jy_copy_value(&b->copy, v.f_args[0]));
        break;
    case JY_UNCHECKED_OVERFLOW: {
        jy_fv result = jy_copy_append(&b->copy, to, at, false);
        collect_overflow(b, from, to, &v, result);
        break;
    }
    case JY_UNCHECKED_NO:
    case JY_UNCHECKED_PLAIN:
    default:
        jy_copy_append(&b->copy, to, at, how == JY_UNCHECKED_NO);
        break;
    }
}

/* An edge that leaves the loop asks for the evidence first; one that goes back to the head takes along what the poll will want to know of the round. */
static struct jy_fedge
copy_edge(struct build *b, jy_fb from, const struct jy_fedge *original)
{
    struct jy_counted *c = b->c;
    struct jy_fedge edge = jy_copy_edge(&b->copy, original, JY_EVIDENCE_COUNT + b->polls->nlast + b->fast->handed.n);
    if (c->inside[original->to]) {
        for (int kind = 0; kind < JY_EVIDENCE_COUNT; kind++)
            if (b->fast->evidence[kind])
                edge.args[edge.nargs++] = b->noted[kind][from];
        for (size_t k = 0; original->to == c->head && k < b->polls->nlast; k++)
            edge.args[edge.nargs++] = jy_copy_value(&b->copy, jy_polls_last(b->polls, k, from));
        for (size_t k = 0; original->to == c->head && k < b->fast->handed.n; k++)
            edge.args[edge.nargs++] = jy_copy_value(&b->copy, jy_flow_at(b->w, b->fast->handed.at[k].store)->f_args[2]);
        if (original->to == c->head)
            edge.to = b->latch;
        return edge;
    }
    if (!b->fast->collects)
        return edge;
    jy_fb test = jy_flow_block(b->w);
    jy_flow_branch(b->w, test, is_bad(b, test, from), c->head, b->w->w_blocks.at[c->head].f_params.n, c->first, edge.to,
                   edge.nargs, edge.args);
    b->w->w_blocks.at[test].f_likely[1] = true;
    return (struct jy_fedge){ .to = test };
}

static void
copy_block(struct build *b, jy_fb from)
{
    jy_fb to = b->copy.block[from];
    if (from == b->c->body)
        log_round(b, to);
    for (size_t k = 0; k < b->w->w_blocks.at[from].f_body.n; k++)
        copy_value(b, from, to, b->w->w_blocks.at[from].f_body.at[k]);
    if (from == b->c->head)
        return;
    struct jy_fblock original = b->w->w_blocks.at[from];
    struct jy_fedge edge[2] = { { 0 }, { 0 } };
    for (size_t e = 0; e < jy_flow_nedges(&original); e++)
        edge[e] = copy_edge(b, from, &original.f_edge[e]);
    struct jy_fblock *block = &b->w->w_blocks.at[to];
    block->f_end = original.f_end;
    block->f_condition = original.f_end == JY_END_BRANCH ? jy_copy_value(&b->copy, original.f_condition) : JY_NO_FV;
    for (size_t e = 0; e < 2; e++) {
        block->f_edge[e] = edge[e];
        block->f_likely[e] = original.f_likely[e];
    }
}

/* Value k of the poll's exit, behind a chunk. */
static jy_fv
poll_value(struct build *b, jy_fb block, size_t k)
{
    const struct jy_poll_value v = b->polls->value[k];
    if (v.how == JY_POLL_LAST)
        return b->last[v.place];
    jy_fv value = jy_copy_value(&b->copy, v.value);
    if (v.how != JY_POLL_INDEX)
        return value;
    jy_fv step = b->c->by;
    if (step == JY_NO_FV)
        step = jy_flow_const(b->w, block, JY_F_I64, (union jy_scalar){ .i = b->c->step });
    return op(b, block, JY_FLOW_SUB, JY_F_I64, value, step);
}

/* Behind a chunk: on to the next one, or out of the loop. Where the chunk ends says which, so the head's condition is not kept. */
static void
make_behind(struct build *b, jy_fb behind)
{
    struct jy_counted *c = b->c;
    struct jy_fblock head = b->w->w_blocks.at[c->head];
    jy_fv *state = JY_NEW_ARRAY(b->w->w_arena, jy_fv, head.f_params.n + 1);
    for (size_t p = 0; p < head.f_params.n; p++)
        state[p] = jy_copy_value(&b->copy, head.f_params.at[p]);
    if (b->fast->collects) {
        jy_fb good = jy_flow_block(b->w), again = c->head;
        jy_fv last = jy_copy_value(&b->copy, c->index);
        bool undoes = b->fast->nlogged > 0;
        if (undoes)
            again = make_undo(b);
        jy_flow_branch(b->w, behind, is_bad(b, behind, c->head), again, undoes ? 1 : head.f_params.n,
                       undoes ? &last : c->first, good, 0, NULL);
        b->w->w_blocks.at[behind].f_likely[1] = true;
        behind = good;
    }
    jy_fb next = jy_flow_block(b->w);
    if (b->polls->n > 0 && !b->polls->stay) {
        struct jy_flow_exit exit = b->polls->exit;
        exit.x_values.at = JY_NEW_ARRAY(b->w->w_arena, jy_fv, exit.x_values.n + 1);
        exit.x_values.cap = exit.x_values.n;
        for (size_t k = 0; k < exit.x_values.n; k++)
            exit.x_values.at[k] = poll_value(b, next, k);
        jy_flow_op(b->w, next, JY_FLOW_POLL, JY_F_NONE, 0, NULL, jy_flow_exit_add(b->w, &exit));
    }
    jy_flow_jump(b->w, next, c->entry, head.f_params.n, state);
    struct jy_fedge leave = jy_copy_edge(&b->copy, &head.f_edge[1 - c->stay], 0);
    jy_fv more = op(b, behind, c->step > 0 ? JY_FLOW_LT : JY_FLOW_GT, JY_F_I1, c->stop, c->limit);
    jy_flow_branch(b->w, behind, more, next, 0, NULL, leave.to, leave.nargs, leave.args);
}

/* Loops with several ways back are taken for nested ones by LLVM, which then does not vectorise them. */
static void
make_latch(struct build *b)
{
    jy_fb head = b->copy.block[b->c->head];
    size_t n = b->w->w_blocks.at[head].f_params.n;
    jy_fv *args = JY_NEW_ARRAY(b->w->w_arena, jy_fv, n + 1);
    b->latch = jy_flow_block(b->w);
    for (size_t p = 0; p < n; p++) {
        enum jy_ftype type = (enum jy_ftype)jy_flow_at(b->w, b->w->w_blocks.at[head].f_params.at[p])->f_type;
        args[p] = jy_flow_param(b->w, b->latch, type);
    }
    jy_flow_jump(b->w, b->latch, head, n, args);
}

static void
copy_loop(struct build *b)
{
    struct jy_counted *c = b->c;
    struct jy_flow *w = b->w;
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        jy_fb from = c->loop->blocks.at[k], to = jy_flow_block(w);
        struct jy_fblock original = w->w_blocks.at[from];
        b->copy.block[from] = to;
        w->w_blocks.at[to].f_offset = original.f_offset;
        w->w_blocks.at[to].f_line = original.f_line;
        w->w_blocks.at[to].f_loop = original.f_loop;
        for (size_t p = 0; p < original.f_params.n; p++) {
            enum jy_ftype type = (enum jy_ftype)jy_flow_at(w, original.f_params.at[p])->f_type;
            jy_fv param = jy_flow_param(w, to, type);
            b->copy.value[original.f_params.at[p]] = param;
        }
        for (int kind = 0; kind < JY_EVIDENCE_COUNT; kind++)
            if (b->fast->evidence[kind]) {
                jy_fv noted = jy_flow_param(w, to, (enum jy_ftype)evidence_type[kind]);
                b->noted[kind][from] = noted;
            }
    }
    for (size_t k = 0; k < b->polls->nlast; k++) {
        jy_fv last = jy_flow_param(w, b->copy.block[c->head], jy_polls_type(w, b->polls, k));
        b->last[k] = last;
    }
    for (size_t k = 0; k < b->fast->handed.n; k++) {
        jy_fv load = b->fast->handed.at[k].load;
        jy_fv handed = jy_flow_param(w, b->copy.block[c->head], (enum jy_ftype)jy_flow_at(w, load)->f_type);
        b->copy.value[load] = handed;
    }
    make_latch(b);
    for (size_t k = 0; k < c->loop->blocks.n; k++)
        copy_block(b, c->loop->blocks.at[k]);
}

/* What the first round reads, in front of it. */
static jy_fv
load_before(struct build *b, jy_fb block, jy_fv load)
{
    const struct jy_fvalue v = *jy_flow_at(b->w, load);
    jy_fv index = b->c->first[b->index_place];
    jy_fv data = replay(b, block, v.f_args[0], index), offset = replay(b, block, v.f_args[1], index);
    return jy_flow_load(b->w, block, (enum jy_ftype)v.f_type, data, offset, (int32_t)v.f_index, v.f_alias);
}

static void
keep_old(struct build *b, jy_fb block)
{
    for (size_t k = 0; k < b->fast->nlogged; k++) {
        const struct jy_fvalue store = *jy_flow_at(b->w, b->fast->logged[k]);
        jy_fv first = b->c->first[b->index_place];
        if (!b->fast->is_fixed[k])
            continue;
        jy_fv data = replay(b, block, store.f_args[0], first), offset = replay(b, block, store.f_args[1], first);
        jy_fv old = jy_flow_load(b->w, block, logged_type(b, b->fast->logged[k]), data, offset, (int32_t)store.f_index,
                                 store.f_alias);
        b->old[k] = old;
    }
}

static void
build(struct jy_counted *c, const struct jy_fast *fast, const struct jy_polls *polls)
{
    struct jy_flow *w = c->w;
    size_t nparams = w->w_blocks.at[c->head].f_params.n;
    jy_flow_close_loop(w, c->shape, c->loop);
    jy_fv test = jy_range_test(c);
    struct build b = { c,
                       w,
                       fast,
                       polls,
                       jy_copy_new(w),
                       { JY_NEW_ARRAY(w->w_arena, jy_fv, w->w_blocks.n), JY_NEW_ARRAY(w->w_arena, jy_fv, w->w_blocks.n),
                         JY_NEW_ARRAY(w->w_arena, jy_fv, w->w_blocks.n) },
                       JY_NEW_ARRAY(w->w_arena, jy_fv, polls->nlast + 1),
                       0,
                       JY_NO_FV,
                       0,
                       0,
                       { 0 } };
    begin_log(&b);
    for (uint32_t p = c->shape->pred_start[c->head]; p < c->shape->pred_start[c->head + 1]; p++)
        if (!c->inside[c->shape->pred[p].from])
            w->w_blocks.at[c->shape->pred[p].from].f_edge[c->shape->pred[p].edge].to = c->entry;
    for (jy_fv v = 0; v < c->nvalues; v++)
        if (c->invariant[v] != JY_NO_FV && jy_flow_at(w, v)->f_type != JY_F_NONE)
            b.copy.value[v] = c->invariant[v];
    copy_loop(&b);

    jy_fb fast_head = b.copy.block[c->head], behind = jy_flow_block(w);
    jy_fv *first = JY_NEW_ARRAY(w->w_arena, jy_fv, nparams + JY_EVIDENCE_COUNT + polls->nlast + fast->handed.n);
    size_t nfirst = 0;
    while (nfirst < nparams) {
        first[nfirst] = c->first[nfirst];
        nfirst++;
    }
    for (int kind = 0; kind < JY_EVIDENCE_COUNT; kind++)
        if (fast->evidence[kind])
            first[nfirst++] =
                jy_flow_const(w, c->front, (enum jy_ftype)evidence_type[kind], (union jy_scalar){ .bits = 0 });
    for (size_t k = 0; k < polls->nlast; k++) /* not looked at before the first round is done */
        first[nfirst++] = jy_flow_const(w, c->front, jy_polls_type(w, polls, k), (union jy_scalar){ .bits = 0 });
    jy_fb begin = jy_flow_block(w);
    for (size_t k = 0; k < fast->handed.n; k++) {
        jy_fv before = load_before(&b, begin, fast->handed.at[k].load);
        first[nfirst++] = before;
    }
    keep_old(&b, begin);
    jy_flow_branch(w, c->front, test, begin, 0, NULL, c->head, nparams, c->first);
    jy_flow_jump(w, begin, fast_head, nfirst, first);
    w->w_blocks.at[c->front].f_likely[0] = true;

    jy_fv goes_on =
        op(&b, fast_head, c->step > 0 ? JY_FLOW_LT : JY_FLOW_GT, JY_F_I1, jy_copy_value(&b.copy, c->index), c->stop);
    struct jy_fedge into = copy_edge(&b, c->head, &w->w_blocks.at[c->head].f_edge[c->stay]);
    jy_flow_branch(w, fast_head, goes_on, into.to, into.nargs, into.args, behind, 0, NULL);
    w->w_blocks.at[fast_head].f_likely[0] = true;
    make_behind(&b, behind);
    w->w_blocks.at[c->head].f_careful = true;
}

/* ---- the pass ---- */

struct heads {
    jy_fb *at;
    size_t n, cap;
};

static bool
is_done(const struct heads *done, jy_fb head)
{
    for (size_t k = 0; k < done->n; k++)
        if (done->at[k] == head)
            return true;
    return false;
}

/* What becomes of the checks in the fast copy, for reports. */
static void
note_sites(struct jy_counted *c, const struct jy_fast *fast)
{
    for (jy_fv at = 0; at < c->nvalues; at++)
        if (fast->how[at] != JY_UNCHECKED_NO && fast->how[at] != JY_UNCHECKED_BELOW)
            jy_flow_site_note(c->w, jy_flow_at(c->w, at)->f_site, (enum jy_site_state)fast->told[at]);
}

/* One innermost loop that was not looked at yet. False: there is none. */
static bool
hoist_next(struct jy_flow *w, struct heads *done)
{
    struct jy_flow_shape shape;
    struct jy_flow_loops loops = { 0 };
    struct jy_counted c;
    size_t k = 0;
    jy_flow_shape_fill(&shape, w);
    jy_flow_loops_fill(&loops, w, &shape);
    while (k < loops.n && (!loops.at[k].innermost || is_done(done, loops.at[k].head)))
        k++;
    if (k == loops.n)
        return false;
    *jy_vec_push(w->w_arena, done) = loops.at[k].head;
    uint32_t report = jy_flow_report_of(w, &loops.at[k]);
    if (!jy_counted_find(&c, w, &shape, &loops.at[k]))
        return true;
    if (report != 0)
        jy_flow_root(w)->w_reports.at[report - 1].is_counted = true;
    struct jy_polls polls = jy_polls_find(&c);
    struct jy_fast fast = jy_counted_plan(&c, polls.stay);
    if (fast.ngone == 0 && (polls.n == 0 || polls.stay))
        return true;
    *jy_vec_push(w->w_arena, done) = (jy_fb)w->w_blocks.n; /* the fast head is the next block */
    build(&c, &fast, &polls);
    note_sites(&c, &fast);
    if (report != 0)
        jy_flow_root(w)->w_reports.at[report - 1].is_fast = true;
    return true;
}

static void
hoist_one(struct jy_flow *w)
{
    struct heads done = { 0 };
    w->w_line = 0; /* what is added is no line's */
    if (jy_flow_reduce(w))
        jy_flow_simplify(w);
    jy_flow_separate(w);
    jy_flow_drop_polls(w);
    while (w->w_values.n < MOST_FLOW_VALUES && hoist_next(w, &done))
        ;
    jy_flow_bound(w);
    jy_flow_simplify(w);
}

void
jy_flow_hoist(struct jy_flow *w)
{
    hoist_one(w);
    for (size_t k = 0; k < w->w_functions.n; k++)
        hoist_one(w->w_functions.at[k]);
}
