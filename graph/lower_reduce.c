/* Lowering: how a reduction is done so that it adds in NumPy's order, and which producers its own loop computes.
 *
 * NumPy iterates in the memory order of the operand and joins adjacent axes. With the axes outermost first, K kept and R folded:
 *
 *     K* R+   RUN   one run per element of the result; float sums add a run pairwise, minima by NumPy's own loop over the whole run
 *     R+ K+   ROWS  result += row, element by element, rows in order. When the kept axes have one element in all, NumPy sees a single run
 *     else    CALL  NumPy does it (runs depend on which axes join, or on a buffer's size)
 *
 * Where the order cannot be seen (integers, bools) every pattern is RUN or ROWS. The order of strided operands is trusted for up to two axes,
 * one of them folded; beyond that axes that do not join are copied by NumPy into buffers, which is CALL.
 *
 * A pointwise producer that only the reduction reads is computed in its loop, unless memory may change in between, or the run spans
 * several axes that are not one line in everything that the producer reads. */
#include "graph/lower.h"
#include <string.h>

size_t
jy_lower_axes_of(const struct jy_lower *L, jy_ref r, uint8_t *axes)
{
    const struct jy_node *node = jy_lower_at(L, r);
    size_t n = 0;
    for (size_t d = 0; d < node->n_ndim; d++) {
        uint8_t axis = node->n_layout == NULL ? (uint8_t)d : node->n_layout->order[d];
        if (jy_sizes_canonical(&L->g->g_sizes, node->n_shape[axis]) != 1)
            axes[n++] = axis;
    }
    return n;
}

static bool
is_free(const struct jy_node *node)
{
    return !jy_dtype_is_float((jy_dtype)node->n_dtype);
}

static bool
is_contiguous(const struct jy_node *node)
{
    return node->n_layout == NULL || node->n_layout->contiguous;
}

/* A stride of 0 says nothing about the order of axes. */
static bool
has_clear_order(const struct jy_node *node, const uint8_t *axes, size_t n)
{
    for (size_t i = 0; i < n && n > 1; i++)
        if (node->n_layout->stride[axes[i]] == 0)
            return false;
    return true;
}

static enum jy_fold_how
choose(const struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r), *x = jy_lower_at(L, node->n_args[0]);
    uint8_t axes[JY_MAX_NDIM];
    size_t n = jy_lower_axes_of(L, node->n_args[0], axes), folded = 0, changes = 0;
    for (size_t i = 0; i < n; i++) {
        folded += node->n_axes >> axes[i] & 1;
        changes += i > 0 && ((node->n_axes >> axes[i] ^ node->n_axes >> axes[i - 1]) & 1);
    }
    bool one_line = is_contiguous(x) || folded <= 1;
    if (folded == 0)
        return JY_HOW_RUN;
    bool ends_folded = node->n_axes >> axes[n - 1] & 1;
    if (is_free(node)) {
        if (ends_folded && changes <= 1 && one_line)
            return JY_HOW_RUN;
        return folded < n ? JY_HOW_ROWS : JY_HOW_CALL;
    }
    if (changes > 1 || !(is_contiguous(x) || (n <= 2 && folded == 1 && has_clear_order(x, axes, n))))
        return JY_HOW_CALL;
    return ends_folded ? JY_HOW_RUN : JY_HOW_ROWS;
}

static bool
is_minmax_of_floats(const struct jy_node *node)
{
    return (node->n_op == JY_OP_MIN || node->n_op == JY_OP_MAX) && jy_dtype_is_float((jy_dtype)node->n_dtype);
}

/* The reduction whose loop can compute `r`: the only reader, directly or through nodes that it computes as well. */
static jy_ref
only_reader(const struct jy_lower *L, jy_ref r)
{
    jy_ref reader = JY_NO_REF;
    for (uint32_t i = L->uses.first[r]; i < L->uses.first[r + 1]; i++) {
        jy_ref user = L->uses.uses[i];
        if (!L->node[user].live)
            continue;
        jy_ref top = jy_lower_class(L, user) == JY_CLASS_REDUCE ? user : L->node[user].into;
        if (top == JY_NO_REF || (reader != JY_NO_REF && reader != top))
            return JY_NO_REF;
        reader = top;
    }
    return reader;
}

static bool
memory_may_change(const struct jy_lower *L, jy_ref from, jy_ref to)
{
    for (jy_ref r = from + 1; r < to; r++)
        if (jy_lower_class(L, r) == JY_CLASS_STORE || jy_lower_class(L, r) == JY_CLASS_CALL)
            return true;
    return false;
}

static void
absorb(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    if (!L->node[r].live || L->node[r].memory || L->uses.is_output[r] || node->n_ndim == 0 ||
        !jy_lower_is_pointwise(L, r) || jy_op_info[node->n_op].klass == JY_CLASS_TILE)
        return;
    jy_ref into = only_reader(L, r);
    if (into == JY_NO_REF || (L->node[into].how != JY_HOW_RUN && L->node[into].how != JY_HOW_ROWS))
        return;
    const struct jy_node *fold = jy_lower_at(L, into);
    if (!is_minmax_of_floats(fold) && jy_lower_same_shape(L, r, fold->n_args[0]) && !memory_may_change(L, r, into))
        L->node[r].into = into;
}

/* Everything the loop of `r` loads lies in one line in the order of its operand. */
static bool
loads_are_lines(const struct jy_lower *L, jy_ref r)
{
    jy_ref x = jy_lower_at(L, r)->n_args[0];
    uint8_t want[JY_MAX_NDIM], have[JY_MAX_NDIM];
    size_t n = jy_lower_axes_of(L, x, want);
    for (jy_ref m = 0; m < r; m++) {
        if (L->node[m].into != r)
            continue;
        const struct jy_node *node = jy_lower_at(L, m);
        for (size_t i = 0; i < node->n_nargs; i++) {
            jy_ref o = node->n_args[i];
            const struct jy_node *operand = jy_lower_at(L, o);
            if (operand->n_ndim == 0 || L->node[o].into == r)
                continue;
            if (!is_contiguous(operand) || !jy_lower_same_shape(L, o, x) || jy_lower_axes_of(L, o, have) != n ||
                memcmp(want, have, n) != 0)
                return false;
        }
    }
    return true;
}

static void
check_absorbed(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    uint8_t axes[JY_MAX_NDIM];
    size_t n = jy_lower_axes_of(L, node->n_args[0], axes), folded = 0;
    for (size_t i = 0; i < n; i++)
        folded += node->n_axes >> axes[i] & 1;
    bool keep = folded <= 1 || (L->node[r].how == JY_HOW_ROWS && is_free(node)) || loads_are_lines(L, r);
    for (jy_ref m = 0; m < r; m++)
        if (L->node[m].into == r) {
            if (keep)
                jy_lower_note(L, "%%%u fused into reduction %%%u", m, r);
            else
                L->node[m].into = JY_NO_REF;
        }
}

void
jy_lower_choose_reductions(struct jy_lower *L)
{
    size_t n = L->g->g_nodes.n;
    for (jy_ref r = 0; r < n; r++)
        if (L->node[r].live && jy_lower_class(L, r) == JY_CLASS_REDUCE) {
            L->node[r].how = (uint8_t)choose(L, r);
            if (L->node[r].how == JY_HOW_CALL)
                jy_lower_note(L, "%%%u left to NumPy: its order of additions depends on buffers", r);
        }
    for (jy_ref r = (jy_ref)n; r-- > 0;)
        absorb(L, r);
    for (jy_ref r = 0; r < n; r++)
        if (L->node[r].how == JY_HOW_RUN || L->node[r].how == JY_HOW_ROWS)
            check_absorbed(L, r);
}

jy_op
jy_lower_fold_op(const struct jy_node *node)
{
    static const uint16_t op[] = { JY_OP_ADD,     JY_OP_MUL,        JY_OP_MINIMUM,
                                   JY_OP_MAXIMUM, JY_OP_LOGICAL_OR, JY_OP_LOGICAL_AND };
    _Static_assert(JY_OP_ALL - JY_OP_SUM == 5, "rows of ops.def: SUM PROD MIN MAX ANY ALL");
    return (jy_op)op[node->n_op - JY_OP_SUM];
}

union jy_scalar
jy_lower_fold_start(const struct jy_node *node)
{
    union jy_scalar v = { .i = 0 };
    int64_t lowest = node->n_dtype == JY_BOOL ? 0 : node->n_dtype == JY_I32 ? INT32_MIN : INT64_MIN;
    int64_t highest = node->n_dtype == JY_BOOL ? 1 : node->n_dtype == JY_I32 ? INT32_MAX : INT64_MAX;
    if (node->n_op == JY_OP_PROD && node->n_dtype == JY_F64)
        v.d = 1.0;
    else if (node->n_op == JY_OP_PROD && node->n_dtype == JY_F32)
        v.f = 1.0f;
    else if (node->n_op == JY_OP_PROD || node->n_op == JY_OP_ALL)
        v.i = 1;
    else if (node->n_op == JY_OP_MIN)
        v.i = highest;
    else if (node->n_op == JY_OP_MAX)
        v.i = lowest;
    return v;
}

static jy_sx
folded_count(const struct jy_lower *L, const struct jy_node *node)
{
    const struct jy_node *x = jy_lower_at(L, node->n_args[0]);
    jy_sx count = 1;
    for (size_t a = 0; a < x->n_ndim; a++)
        if (node->n_axes >> a & 1)
            count = jy_sizes_binary(&L->g->g_sizes, JY_SX_MUL, count, x->n_shape[a]);
    return count;
}

/* NumPy starts with the first element and runs its loop over the rest. */
static jy_lv
emit_ufold(struct jy_lower *L, struct jy_scope *s, const struct jy_node *node, jy_sx count, int run_axis)
{
    uint32_t buffer = jy_lower_buffer(L, node->n_args[0]);
    struct jy_access access;
    jy_lv rest = jy_lower_size(L, jy_sizes_binary(&L->g->g_sizes, JY_SX_SUB, count, 1));
    jy_lower_access(L, &access, s, buffer);
    jy_lv first = jy_loop_load(&L->b, (jy_dtype)node->n_dtype, &access);
    if (run_axis < 0)
        return first;
    access.term[access.nterms].index = jy_loop_int_const(&L->b, 1);
    access.term[access.nterms++].axis = (uint8_t)run_axis;
    access.run_axis = (int8_t)run_axis;
    uint32_t loop = jy_lower_loop(L, jy_lower_fold_op(node), (jy_dtype)node->n_dtype);
    return jy_loop_ufold(&L->b, loop, (jy_dtype)node->n_dtype, rest, first, &access);
}

jy_lv
jy_lower_emit_run(struct jy_lower *L, struct jy_scope *s, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    jy_dtype dtype = (jy_dtype)node->n_dtype;
    uint8_t axes[JY_MAX_NDIM];
    size_t n = jy_lower_axes_of(L, node->n_args[0], axes);
    int run_axis = -1;
    for (size_t i = 0; i < n; i++)
        if (node->n_axes >> axes[i] & 1)
            run_axis = axes[i];
    jy_sx count = folded_count(L, node);
    if (is_minmax_of_floats(node))
        return emit_ufold(L, s, node, count, run_axis);
    bool pairwise = node->n_op == JY_OP_SUM && !is_free(node);
    jy_lv start = jy_loop_const(&L->b, dtype, jy_lower_fold_start(node));
    enum jy_fold_order order = pairwise ? JY_FOLD_PAIRWISE : is_free(node) ? JY_FOLD_FREE : JY_FOLD_SEQUENTIAL;
    jy_lv var =
        jy_loop_fold(&L->b, jy_lower_fold_op(node), dtype, order, jy_lower_size(L, count), pairwise ? JY_NO_LV : start);
    struct jy_scope inner = *s;
    jy_lower_open_scope(L, &inner, s->ndim);
    memcpy(inner.index, s->index, sizeof inner.index);
    if (run_axis >= 0) {
        inner.index[run_axis].lv[0] = var;
        inner.index[run_axis].n = 1;
    }
    jy_lv value = jy_lower_folded(L, &inner, r);
    jy_lv fold = jy_loop_end_fold(&L->b, value);
    return pairwise ? jy_loop_op(&L->b, JY_OP_ADD, dtype, 2, (jy_lv[]){ start, fold }, false) : fold;
}
