/* What passes share: replacing and dropping nodes, and the questions that decide whether they may.
 *
 * Guarantees: program order is kept, so an operand still precedes its uses and a reader of an old version still precedes the STORE, as long as a
 * replacement is earlier than what it replaces. Nothing is moved. */
#include "graph/pass_internal.h"
#include <assert.h>
#include <string.h>

struct jy_rewrite
jy_rewrite_new(const struct jy_graph *g)
{
    struct jy_rewrite rewrite = { JY_NEW_ARRAY(g->g_arena, jy_ref, g->g_nodes.n + 1),
                                  JY_NEW_ARRAY(g->g_arena, uint8_t, g->g_nodes.n + 1) };
    for (jy_ref r = 0; r < g->g_nodes.n; r++)
        rewrite.same_as[r] = r;
    return rewrite;
}

void
jy_rewrite_operands(struct jy_graph *g, const struct jy_rewrite *rewrite, jy_ref r)
{
    struct jy_node *node = jy_graph_at(g, r);
    for (size_t i = 0; i < node->n_nargs; i++)
        node->n_args[i] = rewrite->same_as[node->n_args[i]];
    if (node->n_storage != JY_NO_REF)
        node->n_storage = rewrite->same_as[node->n_storage];
}

void
jy_rewrite_replace(struct jy_rewrite *rewrite, jy_ref r, jy_ref by)
{
    assert(by < r && rewrite->same_as[by] == by);
    rewrite->same_as[r] = by;
    rewrite->drop[r] = 1;
}

void
jy_rewrite_finish(struct jy_graph *g, const struct jy_rewrite *rewrite)
{
    jy_ref *number = JY_NEW_ARRAY(g->g_arena, jy_ref, g->g_nodes.n + 1), kept = 0;
    for (jy_ref r = 0; r < g->g_nodes.n; r++) {
        if (rewrite->drop[r])
            continue;
        struct jy_node node = *jy_graph_at(g, r);
        number[r] = kept;
        for (size_t i = 0; i < node.n_nargs; i++)
            node.n_args[i] = number[rewrite->same_as[node.n_args[i]]];
        if (node.n_storage != JY_NO_REF)
            node.n_storage = number[rewrite->same_as[node.n_storage]];
        g->g_nodes.at[kept++] = node;
    }
    g->g_nodes.n = kept;
    for (size_t k = 0; k < g->g_outputs.n; k++)
        g->g_outputs.at[k] = number[rewrite->same_as[g->g_outputs.at[k]]];
}

void
jy_storages_fill(struct jy_storages *out, const struct jy_graph *g)
{
    out->written = JY_NEW_ARRAY(g->g_arena, uint8_t, g->g_nodes.n + 1);
    out->visible = JY_NEW_ARRAY(g->g_arena, uint8_t, g->g_nodes.n + 1);
    for (jy_ref r = 0; r < g->g_nodes.n; r++) {
        const struct jy_node *node = jy_graph_at(g, r);
        if (node->n_op == JY_OP_STORE)
            out->written[node->n_storage] = 1;
        for (size_t i = 0; node->n_op == JY_OP_CALLOUT && i < node->n_nargs; i++) {
            jy_ref storage = jy_graph_at(g, node->n_args[i])->n_storage;
            if (storage != JY_NO_REF) /* the callable may keep it, and may write to it */
                out->visible[storage] = out->written[storage] = 1;
        }
    }
    for (size_t k = 0; k < g->g_outputs.n; k++) {
        jy_ref storage = jy_graph_at(g, g->g_outputs.at[k])->n_storage;
        if (storage != JY_NO_REF)
            out->visible[storage] = 1;
    }
}

bool
jy_storages_is_value(const struct jy_storages *storages, const struct jy_node *node)
{
    return node->n_storage == JY_NO_REF || (!storages->written[node->n_storage] && !storages->visible[node->n_storage]);
}

bool
jy_node_may_flag(const struct jy_graph *g, const struct jy_node *node)
{
    if (node->n_nargs == 0)
        return false;
    const struct jy_op_info *info = &jy_op_info[node->n_op];
    const struct jy_node *operand = jy_graph_at(g, node->n_args[node->n_op == JY_OP_WHERE]);
    if (node->n_op ==
        JY_OP_CAST) /* NaN, infinities and large values into ints; float64 that is too large or too small for float32 */
        return jy_dtype_is_float((jy_dtype)operand->n_dtype) && node->n_dtype < operand->n_dtype &&
               node->n_dtype != JY_BOOL;
    if (jy_dtype_is_float((jy_dtype)operand->n_dtype))
        return (info->facts & JY_FACT_FLAGS) != 0;
    /* arrays of ints wrap in silence; NumPy's own loops report division by zero and raise for negative powers */
    return (info->facts & JY_FACT_INT_FLAGS) != 0 && (node->n_kind != JY_KIND_ARRAY || info->klass == JY_CLASS_TILE);
}

bool
jy_node_same_block(const struct jy_node *a, const struct jy_node *b)
{
    if (a->n_layout == NULL || b->n_layout == NULL)
        return a->n_layout == b->n_layout;
    return a->n_layout->contiguous && b->n_layout->contiguous &&
           memcmp(a->n_layout->order, b->n_layout->order, a->n_ndim) == 0;
}
