/* Common subexpressions: a node that does what an earlier one did is replaced by it.
 *
 * Equal means: op, operands (in either order where they commute), attributes, kind, dtype, shape and layout. Two reads of a storage on different
 * sides of a STORE have different operands, versions being nodes. What makes fresh memory on purpose (CREATE), writes or calls is never merged.
 * In eager every operation gives an object of its own, so two nodes may become one only while the program cannot tell: neither's memory is
 * written later, and at most one of them (or of the arrays in their memory) is seen outside.
 * A warning that eager gives twice comes back twice: on any flag the original runs. */
#include "graph/base/index.h"
#include "graph/pass_internal.h"
#include <string.h>

static bool
is_candidate(const struct jy_node *node)
{
    uint8_t klass = jy_op_info[node->n_op].klass;
    return (jy_op_info[node->n_op].facts & JY_FACT_PURE) != 0 && klass != JY_CLASS_CREATE &&
           node->n_op != JY_OP_PLACEHOLDER;
}

static bool
same_operands(const struct jy_node *a, const struct jy_node *b)
{
    if (a->n_nargs != b->n_nargs)
        return false;
    if (a->n_nargs == 0 || memcmp(a->n_args, b->n_args, a->n_nargs * sizeof(*a->n_args)) == 0)
        return true;
    return (jy_op_info[a->n_op].facts & JY_FACT_COMMUTES) != 0 && a->n_nargs == 2 && a->n_args[0] == b->n_args[1] &&
           a->n_args[1] == b->n_args[0];
}

static bool
same_view(struct jy_sizes *sizes, const struct jy_view *a, const struct jy_view *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->ndim != b->ndim || a->source_ndim != b->source_ndim)
        return false;
    for (size_t s = 0; s < a->source_ndim; s++)
        if (!jy_sizes_same(sizes, a->start[s], b->start[s]))
            return false;
    for (size_t d = 0; d < a->ndim; d++)
        if (a->axis[d] != b->axis[d] || (a->axis[d] >= 0 && a->step[d] != b->step[d]))
            return false;
    return true;
}

static bool
is_equal(struct jy_graph *g, const struct jy_node *a, const struct jy_node *b)
{
    if (a->n_op != b->n_op || a->n_dtype != b->n_dtype || a->n_kind != b->n_kind || a->n_ndim != b->n_ndim ||
        !same_operands(a, b))
        return false;
    if (a->n_axes != b->n_axes || a->n_keepdims != b->n_keepdims || !same_view(&g->g_sizes, a->n_view, b->n_view))
        return false;
    if (a->n_op == JY_OP_CONSTANT && a->n_value.bits != b->n_value.bits)
        return false;
    if (a->n_op == JY_OP_SIZE && !jy_sizes_same(&g->g_sizes, a->n_size, b->n_size))
        return false;
    for (size_t d = 0; d < a->n_ndim; d++)
        if (!jy_sizes_same(&g->g_sizes, a->n_shape[d], b->n_shape[d]))
            return false;
    return jy_op_info[a->n_op].klass == JY_CLASS_VIEW || jy_node_same_block(a, b);
}

/* Views share their memory anyway; only as outputs are they objects. */
static bool
may_merge(const struct jy_storages *storages, const struct jy_uses *uses, const struct jy_graph *g, jy_ref a, jy_ref b)
{
    jy_ref sa = jy_graph_at(g, a)->n_storage, sb = jy_graph_at(g, b)->n_storage;
    if (uses->is_output[a] && uses->is_output[b])
        return false;
    if (sa == sb)
        return true;
    return !storages->written[sa] && !storages->written[sb] && !(storages->visible[sa] && storages->visible[sb]);
}

/* Nodes by what equal ones have in common, earliest first. */
struct chains {
    jy_ref *first, *last, *next; /* first, last: by hash; next: by node; JY_NO_REF: none */
    size_t mask;
};

static struct chains
chains_new(const struct jy_graph *g)
{
    size_t n = g->g_nodes.n, cap = 16;
    while (cap < n)
        cap *= 2;
    struct chains c = { .mask = cap - 1 };
    c.first = JY_NEW_ARRAY(g->g_arena, jy_ref, cap);
    c.last = JY_NEW_ARRAY(g->g_arena, jy_ref, cap);
    c.next = JY_NEW_ARRAY(g->g_arena, jy_ref, n + 1);
    for (size_t k = 0; k < cap; k++)
        c.first[k] = JY_NO_REF;
    return c;
}

static size_t
chain_of(const struct chains *c, const struct jy_node *node)
{
    uint32_t hash =
        jy_index_mix(node->n_op, (uint64_t)node->n_dtype << 32 | (uint64_t)node->n_kind << 16 | node->n_ndim);
    uint64_t operands = node->n_nargs; /* in any order */
    for (size_t k = 0; k < node->n_nargs; k++)
        operands += jy_index_mix(1, node->n_args[k]);
    return jy_index_mix(hash, operands ^ (node->n_op == JY_OP_CONSTANT ? node->n_value.bits : 0)) & c->mask;
}

static void
chain_append(struct chains *c, size_t chain, jy_ref r)
{
    c->next[r] = JY_NO_REF;
    if (c->first[chain] == JY_NO_REF)
        c->first[chain] = r;
    else
        c->next[c->last[chain]] = r;
    c->last[chain] = r;
}

void
jy_pass_cse(struct jy_graph *graph)
{
    struct chains chains = chains_new(graph);
    struct jy_rewrite rewrite = jy_rewrite_new(graph);
    struct jy_storages storages;
    struct jy_uses uses;
    jy_storages_fill(&storages, graph);
    jy_graph_fill_uses(&uses, graph);
    for (jy_ref r = 0; r < graph->g_nodes.n; r++) {
        jy_rewrite_operands(graph, &rewrite, r);
        const struct jy_node *node = jy_graph_at(graph, r);
        if (!is_candidate(node))
            continue;
        size_t chain = chain_of(&chains, node);
        for (jy_ref e = chains.first[chain]; e != JY_NO_REF; e = chains.next[e]) {
            if (rewrite.drop[e] || !is_equal(graph, jy_graph_at(graph, e), node) ||
                !may_merge(&storages, &uses, graph, e, r))
                continue;
            uses.is_output[e] |= uses.is_output[r];
            if (node->n_storage != JY_NO_REF)
                storages.visible[jy_graph_at(graph, e)->n_storage] |= storages.visible[node->n_storage];
            jy_rewrite_replace(&rewrite, r, e);
            break;
        }
        chain_append(&chains, chain, r);
    }
    jy_rewrite_finish(graph, &rewrite);
}
