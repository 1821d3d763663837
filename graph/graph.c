/* Building graphs: every builder fills in what is special about its op, and `append` does the rest: inference, default layout, position.
 *
 * Relies on: the frontend having decided NEP 50 (casts are nodes), merged equal extents and checked axes; broken rules are
 * bugs and assert here (jy_graph_verify reports them in release builds). */
#include "graph/graph.h"
#include "graph/infer.h"
#include "graph/scalar.h"
#include <assert.h>
#include <string.h>

struct jy_graph *
jy_graph_new(struct jy_arena *arena, const char *name)
{
    struct jy_graph *g = JY_NEW(arena, struct jy_graph);
    g->g_arena = arena;
    g->g_name = jy_arena_strdup(arena, name);
    jy_sizes_init(&g->g_sizes, arena);
    return g;
}

static jy_ref
append(struct jy_graph *g, struct jy_node node)
{
    jy_ref self = (jy_ref)g->g_nodes.n;
    node.n_line = g->g_line;
    node.n_file = g->g_file;
    const char *why = jy_infer_node(&node, self, g, &g->g_sizes);
    assert(why == NULL);
    (void)why;
    if (node.n_layout == NULL)
        node.n_layout = jy_layout_default(g, &node);
    *jy_vec_push(g->g_arena, &g->g_nodes) = node;
    return self;
}

static struct jy_node
new_node(const struct jy_graph *g, jy_op op, enum jy_kind kind, size_t nargs, const jy_ref *args)
{
    struct jy_node node = { .n_op = (uint16_t)op, .n_kind = (uint8_t)kind, .n_nargs = (uint8_t)nargs };
    if (nargs != 0)
        node.n_args = jy_arena_copy(g->g_arena, args, nargs * sizeof(*args));
    return node;
}

static void
give_shape(const struct jy_graph *g, struct jy_node *node, size_t ndim, const jy_sx *shape)
{
    assert(ndim <= JY_MAX_NDIM);
    node->n_ndim = (uint8_t)ndim;
    if (ndim != 0)
        node->n_shape = jy_arena_copy(g->g_arena, shape, ndim * sizeof(*shape));
}

jy_ref
jy_graph_placeholder(struct jy_graph *g, enum jy_kind kind, jy_dtype dtype, size_t ndim, const jy_sx *shape,
                     const struct jy_layout *layout)
{
    struct jy_node node = new_node(g, JY_OP_PLACEHOLDER, kind, 0, NULL);
    node.n_dtype = (uint8_t)dtype;
    node.n_input = g->g_ninputs++;
    give_shape(g, &node, ndim, shape);
    assert(ndim == 0 || layout != NULL);
    if (ndim != 0)
        node.n_layout = jy_arena_copy(g->g_arena, layout, sizeof(*layout));
    return append(g, node);
}

jy_ref
jy_graph_constant(struct jy_graph *g, enum jy_kind kind, jy_dtype dtype, union jy_scalar value)
{
    struct jy_node node = new_node(g, JY_OP_CONSTANT, kind, 0, NULL);
    node.n_dtype = (uint8_t)dtype;
    node.n_value = jy_scalar_cast(dtype, dtype, value); /* unused bytes zero: equal values have equal bits */
    return append(g, node);
}

jy_ref
jy_graph_size(struct jy_graph *g, jy_sx size)
{
    struct jy_node node = new_node(g, JY_OP_SIZE, JY_KIND_PYINT, 0, NULL);
    node.n_size = size;
    return append(g, node);
}

jy_ref
jy_graph_elementwise(struct jy_graph *g, jy_op op, enum jy_kind kind, size_t nargs, const jy_ref *args)
{
    assert(jy_op_info[op].klass == JY_CLASS_EW || jy_op_info[op].klass == JY_CLASS_TILE);
    return append(g, new_node(g, op, kind, nargs, args));
}

jy_ref
jy_graph_cast(struct jy_graph *g, jy_dtype to, enum jy_kind kind, jy_ref arg)
{
    struct jy_node node = new_node(g, JY_OP_CAST, kind, 1, &arg);
    node.n_dtype = (uint8_t)to;
    return append(g, node);
}

jy_ref
jy_graph_view(struct jy_graph *g, jy_ref arg, const struct jy_view *view, const jy_sx *shape)
{
    struct jy_node node = new_node(g, JY_OP_VIEW, JY_KIND_ARRAY, 1, &arg);
    node.n_view = jy_arena_copy(g->g_arena, view, sizeof(*view));
    give_shape(g, &node, view->ndim, shape);
    return append(g, node);
}

jy_ref
jy_graph_reshape(struct jy_graph *g, jy_ref arg, size_t ndim, const jy_sx *shape)
{
    struct jy_node node = new_node(g, JY_OP_RESHAPE, JY_KIND_ARRAY, 1, &arg);
    give_shape(g, &node, ndim, shape);
    return append(g, node);
}

jy_ref
jy_graph_full(struct jy_graph *g, jy_ref scalar, size_t ndim, const jy_sx *shape)
{
    struct jy_node node = new_node(g, JY_OP_FULL, JY_KIND_ARRAY, 1, &scalar);
    give_shape(g, &node, ndim, shape);
    return append(g, node);
}

jy_ref
jy_graph_empty(struct jy_graph *g, jy_dtype dtype, size_t ndim, const jy_sx *shape)
{
    struct jy_node node = new_node(g, JY_OP_EMPTY, JY_KIND_ARRAY, 0, NULL);
    node.n_dtype = (uint8_t)dtype;
    give_shape(g, &node, ndim, shape);
    return append(g, node);
}

jy_ref
jy_graph_copy(struct jy_graph *g, jy_ref arg)
{
    return append(g, new_node(g, JY_OP_COPY, JY_KIND_ARRAY, 1, &arg));
}

jy_ref
jy_graph_reduce(struct jy_graph *g, jy_op op, enum jy_kind kind, jy_ref arg, uint32_t axes, bool keepdims)
{
    assert(jy_op_info[op].klass == JY_CLASS_REDUCE);
    struct jy_node node = new_node(g, op, kind, 1, &arg);
    node.n_axes = axes;
    node.n_keepdims = keepdims;
    return append(g, node);
}

jy_ref
jy_graph_matmul(struct jy_graph *g, jy_op op, enum jy_kind kind, jy_ref a, jy_ref b, size_t ndim, const jy_sx *shape)
{
    assert(jy_op_info[op].klass == JY_CLASS_LINALG);
    struct jy_node node = new_node(g, op, kind, 2, (jy_ref[]){ a, b });
    give_shape(g, &node, ndim, shape);
    return append(g, node);
}

jy_ref
jy_graph_store(struct jy_graph *g, jy_ref base, const struct jy_view *view, jy_ref value)
{
    struct jy_node node = new_node(g, JY_OP_STORE, JY_KIND_ARRAY, 2, (jy_ref[]){ base, value });
    if (view != NULL)
        node.n_view = jy_arena_copy(g->g_arena, view, sizeof(*view));
    return append(g, node);
}

jy_ref
jy_graph_callout(struct jy_graph *g, uint32_t callee, uint32_t extra, size_t nargs, const jy_ref *args,
                 enum jy_kind kind, jy_dtype dtype, size_t ndim, const jy_sx *shape)
{
    struct jy_node node = new_node(g, JY_OP_CALLOUT, kind, nargs, args);
    node.n_dtype = (uint8_t)dtype;
    node.n_callee = callee;
    node.n_extra = extra;
    give_shape(g, &node, ndim, shape);
    return append(g, node);
}

void
jy_graph_set_layout(struct jy_graph *g, jy_ref ref, const struct jy_layout *layout)
{
    struct jy_node *node = jy_graph_at(g, ref);
    assert(node->n_kind == JY_KIND_ARRAY);
    node->n_layout = node->n_ndim == 0 ? NULL : jy_arena_copy(g->g_arena, layout, sizeof(*layout));
}

void
jy_graph_add_output(struct jy_graph *g, jy_ref ref)
{
    assert(ref < g->g_nodes.n);
    *jy_vec_push(g->g_arena, &g->g_outputs) = ref;
}

/* Counting sort of (operand, user) pairs by operand; a node that reads an operand twice is listed twice. */
void
jy_graph_fill_uses(struct jy_uses *out, const struct jy_graph *g)
{
    size_t n = g->g_nodes.n, total = 0;
    out->first = JY_NEW_ARRAY(g->g_arena, uint32_t, n + 2);
    out->is_output = JY_NEW_ARRAY(g->g_arena, uint8_t, n + 1);
    for (jy_ref r = 0; r < n; r++)
        for (size_t i = 0; i < g->g_nodes.at[r].n_nargs; i++, total++)
            out->first[g->g_nodes.at[r].n_args[i] + 2]++;
    for (size_t r = 2; r < n + 2; r++)
        out->first[r] += out->first[r - 1];
    out->uses = JY_NEW_ARRAY(g->g_arena, uint32_t, total + 1);
    for (jy_ref r = 0; r < n; r++)
        for (size_t i = 0; i < g->g_nodes.at[r].n_nargs; i++)
            out->uses[out->first[g->g_nodes.at[r].n_args[i] + 1]++] = r;
    for (size_t k = 0; k < g->g_outputs.n; k++)
        out->is_output[g->g_outputs.at[k]] = 1;
}
