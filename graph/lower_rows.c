/* Lowering: reductions that keep the innermost axis (HOW_ROWS): result[k] = start; then, row by row in memory order, result[k] += x[.., k].
 *
 * The inner loop runs over kept elements, so every element of the result sees its operations in NumPy's order while the loop is a vector
 * loop. A NumPy reduction whose kept axes have one element in all has nothing to keep: it is one run. That case is known only
 * at run time, so for reductions whose order shows there are two pieces of code in loops that are entered `kept != 1` and
 * `kept == 1` times. */
#include "graph/lower.h"
#include <string.h>

struct rows {
    jy_ref node;
    const struct jy_node *at, *x;
    uint8_t axes[JY_MAX_NDIM]; /* of the operand, in the order of the loops */
    size_t n;
    uint8_t to[JY_MAX_NDIM]; /* axis of the result per kept axis of the operand */
};

static bool
is_folded(const struct rows *w, size_t axis)
{
    return w->at->n_axes >> axis & 1;
}

/* Floats: memory order. Others: folded axes outside, so that the inner loop keeps. */
static void
fill_axes(struct jy_lower *L, struct rows *w)
{
    uint8_t memory[JY_MAX_NDIM];
    size_t n = jy_lower_axes_of(L, w->at->n_args[0], memory);
    for (int kept = 0; kept < 2; kept++)
        for (size_t i = 0; i < n; i++)
            if (is_folded(w, memory[i]) != kept)
                w->axes[w->n++] = memory[i];
    if (jy_dtype_is_float((jy_dtype)w->at->n_dtype))
        memcpy(w->axes, memory, n);
    for (size_t a = 0, d = 0; a < w->x->n_ndim; a++) {
        w->to[a] = (uint8_t)d;
        d += !is_folded(w, a) || w->at->n_keepdims;
    }
}

/* The result's element that belongs to element `s` of the operand. */
static void
access_result(struct jy_lower *L, struct jy_access *out, const struct rows *w, const struct jy_scope *s)
{
    struct jy_scope r = { .ndim = w->at->n_ndim };
    for (size_t a = 0; a < w->x->n_ndim; a++)
        if (!is_folded(w, a))
            memcpy(&r.index[w->to[a]], &s->index[a], sizeof r.index[0]);
    jy_lower_access(L, out, &r, jy_lower_buffer(L, w->node));
}

static void
open_loops(struct jy_lower *L, struct jy_nest *nest, const struct rows *w, struct jy_scope *s, bool kept_only)
{
    nest->n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (!kept_only || !is_folded(w, w->axes[i]))
            nest->loop[nest->n++] = (struct jy_nest_loop){ w->axes[i], 1u << w->axes[i], w->x->n_shape[w->axes[i]] };
    jy_lower_open_scope(L, s, w->x->n_ndim);
    jy_lower_open_loops(L, s, nest, true);
}

static bool
is_minmax_of_floats(const struct jy_node *node)
{
    return (node->n_op == JY_OP_MIN || node->n_op == JY_OP_MAX) && jy_dtype_is_float((jy_dtype)node->n_dtype);
}

/* Minima start with the first row; taking it twice changes nothing. */
static void
emit_start(struct jy_lower *L, const struct rows *w)
{
    struct jy_nest nest;
    struct jy_scope s;
    struct jy_access access;
    open_loops(L, &nest, w, &s, true);
    jy_lv start = is_minmax_of_floats(w->at)
                      ? jy_lower_operand(L, &s, w->at->n_args[0])
                      : jy_loop_const(&L->b, (jy_dtype)w->at->n_dtype, jy_lower_fold_start(w->at));
    access_result(L, &access, w, &s);
    jy_loop_store(&L->b, &access, start);
    jy_lower_close_loops(L, &nest);
}

static void
emit_adding(struct jy_lower *L, const struct rows *w)
{
    struct jy_nest nest;
    struct jy_scope s;
    struct jy_access access;
    jy_dtype dtype = (jy_dtype)w->at->n_dtype;
    open_loops(L, &nest, w, &s, false);
    jy_lv x = jy_lower_folded(L, &s, w->node);
    access_result(L, &access, w, &s);
    jy_lv sum = jy_loop_load(&L->b, dtype, &access);
    jy_loop_store(&L->b, &access, jy_loop_op(&L->b, jy_lower_fold_op(w->at), dtype, 2, (jy_lv[]){ sum, x }, false));
    jy_lower_close_loops(L, &nest);
}

/* 1 when the kept axes have one element, else 0. */
static jy_sx
has_one_element(struct jy_lower *L, const struct rows *w)
{
    struct jy_sizes *sizes = &L->g->g_sizes;
    jy_sx kept = 1, two = jy_sizes_const(sizes, 2);
    for (size_t a = 0; a < w->x->n_ndim; a++)
        if (!is_folded(w, a))
            kept = jy_sizes_binary(sizes, JY_SX_MUL, kept, w->x->n_shape[a]);
    jy_sx below_two = jy_sizes_binary(sizes, JY_SX_MAX, jy_sizes_binary(sizes, JY_SX_SUB, two, kept), 0);
    return jy_sizes_binary(sizes, JY_SX_MIN, below_two, jy_sizes_binary(sizes, JY_SX_MIN, kept, 1));
}

static void
emit_rows(struct jy_lower *L, const struct rows *w)
{
    emit_start(L, w);
    emit_adding(L, w);
}

static void
emit_single_run(struct jy_lower *L, const struct rows *w)
{
    struct jy_scope s;
    struct jy_access access;
    jy_lower_open_scope(L, &s, w->x->n_ndim);
    jy_lv value = jy_lower_emit_run(L, &s, w->node);
    access_result(L, &access, w, &s);
    jy_loop_store(&L->b, &access, value);
}

/* Only while the condition, 0 or 1, is 1. */
static void
emit_if(struct jy_lower *L, jy_sx condition, const struct rows *w, void (*emit)(struct jy_lower *, const struct rows *))
{
    jy_loop_for(&L->b, jy_lower_size(L, condition), 1, false);
    emit(L, w);
    jy_loop_end_for(&L->b);
}

void
jy_lower_emit_rows(struct jy_lower *L, struct jy_group *g)
{
    struct rows w = { .node = g->members.at[0] };
    w.at = jy_lower_at(L, w.node);
    w.x = jy_lower_at(L, w.at->n_args[0]);
    fill_axes(L, &w);
    L->b.line = w.at->n_line;
    L->b.file = w.at->n_file;
    jy_lower_prepare(L, w.node);
    bool order_shows = jy_dtype_is_float((jy_dtype)w.at->n_dtype) && w.at->n_op != JY_OP_PROD;
    jy_sx one = order_shows ? has_one_element(L, &w) : 0;
    if (one == 0) { /* known to be several, or all the same */
        emit_rows(L, &w);
        return;
    }
    emit_if(L, jy_sizes_binary(&L->g->g_sizes, JY_SX_SUB, 1, one), &w, emit_rows);
    emit_if(L, one, &w, emit_single_run);
}
