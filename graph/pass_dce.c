/* Dead code: a node that nobody reads and that is no output goes away, unless eager would notice: a write, a call-out, an input
 * (the kernel's signature), or an operation that could have warned. */
#include "graph/pass_internal.h"

void
jy_pass_dce(struct jy_graph *graph)
{
    struct jy_rewrite rewrite = jy_rewrite_new(graph);
    uint32_t *readers = JY_NEW_ARRAY(graph->g_arena, uint32_t, graph->g_nodes.n + 1);
    for (jy_ref r = 0; r < graph->g_nodes.n; r++)
        for (size_t i = 0; i < jy_graph_at(graph, r)->n_nargs; i++)
            readers[jy_graph_at(graph, r)->n_args[i]]++;
    for (size_t k = 0; k < graph->g_outputs.n; k++)
        readers[graph->g_outputs.at[k]]++;
    for (jy_ref r = (jy_ref)graph->g_nodes.n; r-- > 0;) {
        const struct jy_node *node = jy_graph_at(graph, r);
        bool pure = (jy_op_info[node->n_op].facts & JY_FACT_PURE) != 0 && node->n_op != JY_OP_PLACEHOLDER;
        if (readers[r] != 0 || !pure || jy_node_may_flag(graph, node))
            continue;
        rewrite.drop[r] = 1;
        for (size_t i = 0; i < node->n_nargs; i++)
            readers[node->n_args[i]]--;
    }
    jy_rewrite_finish(graph, &rewrite);
}
