/* Views: a view of a view becomes a view of the first array, a reshape of a reshape likewise, and an index map that changes nothing disappears unless
 * it is an output (there it is an object of its own). What no longer has a reader is left to dce. */
#include "graph/pass_internal.h"

/* a + k * b */
static jy_sx
add_scaled(struct jy_sizes *sizes, jy_sx a, int64_t k, jy_sx b)
{
    if (k == INT64_MIN)
        return jy_sizes_binary(sizes, JY_SX_ADD, a, jy_sizes_binary(sizes, JY_SX_MUL, b, jy_sizes_const(sizes, k)));
    jy_sx scaled = jy_sizes_binary(sizes, JY_SX_MUL, b, jy_sizes_const(sizes, k < 0 ? -k : k));
    return jy_sizes_binary(sizes, k < 0 ? JY_SX_SUB : JY_SX_ADD, a, scaled);
}

static bool
try_compose(struct jy_view *out, struct jy_sizes *sizes, const struct jy_view *outer, const struct jy_view *inner)
{
    *out = (struct jy_view){ .source_ndim = inner->source_ndim, .ndim = outer->ndim };
    for (size_t a = 0; a < inner->source_ndim; a++)
        out->start[a] = inner->start[a];
    for (size_t e = 0; e < inner->ndim; e++)
        if (inner->axis[e] >= 0)
            out->start[inner->axis[e]] = add_scaled(sizes, out->start[inner->axis[e]], inner->step[e], outer->start[e]);
    for (size_t d = 0; d < outer->ndim; d++) {
        int8_t middle = outer->axis[d];
        out->axis[d] = middle < 0 ? -1 : inner->axis[middle];
        if (out->axis[d] >= 0 && __builtin_mul_overflow(outer->step[d], inner->step[middle], &out->step[d]))
            return false;
    }
    return true;
}

/* Strides of a reshape on axes of one element are its own, and show in views of it. */
static bool
lends_strides(const struct jy_graph *g, const struct jy_uses *uses, jy_ref r)
{
    if (jy_graph_at(g, r)->n_op == JY_OP_VIEW)
        return false;
    for (uint32_t i = uses->first[r]; i < uses->first[r + 1]; i++)
        if (jy_op_info[jy_graph_at(g, uses->uses[i])->n_op].klass == JY_CLASS_VIEW)
            return true;
    return false;
}

static bool
is_identity(struct jy_graph *g, const struct jy_node *node)
{
    const struct jy_node *operand = jy_graph_at(g, node->n_args[0]);
    if (node->n_ndim != operand->n_ndim)
        return false;
    for (size_t d = 0; d < node->n_ndim; d++) {
        if (!jy_sizes_same(&g->g_sizes, node->n_shape[d], operand->n_shape[d]))
            return false;
        if (node->n_op != JY_OP_VIEW)
            continue;
        const struct jy_view *view = node->n_view;
        if (view->axis[d] != (int)d || view->step[d] != 1 || jy_sizes_canonical(&g->g_sizes, view->start[d]) != 0)
            return false;
    }
    return true;
}

static void
fold_into_operand(struct jy_graph *g, struct jy_node *node)
{
    const struct jy_node *operand = jy_graph_at(g, node->n_args[0]);
    struct jy_view composed;
    if (operand->n_op != node->n_op)
        return;
    if (node->n_op == JY_OP_VIEW) {
        if (!try_compose(&composed, &g->g_sizes, node->n_view, operand->n_view))
            return;
        node->n_view = jy_arena_copy(g->g_arena, &composed, sizeof(composed));
    }
    node->n_args[0] = operand->n_args[0];
}

void
jy_pass_viewfold(struct jy_graph *graph)
{
    struct jy_rewrite rewrite = jy_rewrite_new(graph);
    struct jy_uses uses;
    jy_graph_fill_uses(&uses, graph);
    for (jy_ref r = 0; r < graph->g_nodes.n; r++) {
        jy_rewrite_operands(graph, &rewrite, r);
        struct jy_node *node = jy_graph_at(graph, r);
        if (jy_op_info[node->n_op].klass != JY_CLASS_VIEW)
            continue;
        fold_into_operand(graph, node);
        if (!uses.is_output[r] && !lends_strides(graph, &uses, r) && is_identity(graph, node))
            jy_rewrite_replace(&rewrite, r, node->n_args[0]);
    }
    jy_rewrite_finish(graph, &rewrite);
}
