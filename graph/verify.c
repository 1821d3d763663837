/* Is a graph sound? Everything that builders assert, checked again on the finished graph, and the rules between nodes.
 *
 *   1. every node follows from its operands (infer.c): operands before uses, arity, dtypes, kinds, shapes, storage
 *   2. arrays with axes have a layout whose order is a permutation; scalars have none
 *   3. inputs are numbered once each and below g_ninputs; constants fit their dtype
 *   4. an index map stays inside its source under the hints
 *   5. no node reads a version of a storage after the STORE that supersedes it
 *   6. outputs exist
 *
 * Relies on nothing about the graph but that its arena holds it. Changes nothing: sizes are interned in a copy of the table. */
#include "graph/infer.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct verifier {
    const struct jy_graph *g;
    struct jy_sizes sizes; /* the copy */
    jy_ref *version;       /* per array node: the node whose contents it reads (a fresh node or a STORE) */
    jy_ref *latest;        /* per storage: its newest version so far */
    const char *message;
};

static bool __attribute__((format(printf, 3, 4)))
complain(struct verifier *v, jy_ref r, const char *format, ...)
{
    va_list args;
    char what[200];
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    const struct jy_node *node = jy_graph_at(v->g, r);
    const char *op = node->n_op < JY_OP_COUNT ? jy_op_info[node->n_op].text : "?";
    v->message = jy_arena_printf(v->g->g_arena, "%%%" PRIu32 " = %s (%s:%" PRIu32 "): %s", r, op,
                                 node->n_file == NULL ? "?" : node->n_file, node->n_line, what);
    return false;
}

static bool
follows_from_operands(struct verifier *v, jy_ref r)
{
    const struct jy_node *node = jy_graph_at(v->g, r);
    for (size_t i = 0; i < node->n_nargs; i++)
        if (node->n_args[i] >= r)
            return complain(v, r, "operand %zu is %%%" PRIu32 ", which comes later or not at all", i, node->n_args[i]);
    struct jy_node inferred = *node;
    const char *why = jy_infer_node(&inferred, r, v->g, &v->sizes);
    if (why != NULL)
        return complain(v, r, "%s", why);
    if (inferred.n_dtype != node->n_dtype)
        return complain(v, r, "dtype is %s, not %s", jy_dtype_info[node->n_dtype].text,
                        jy_dtype_info[inferred.n_dtype].text);
    if (inferred.n_ndim != node->n_ndim)
        return complain(v, r, "%d axes instead of %d", node->n_ndim, inferred.n_ndim);
    for (size_t d = 0; d < node->n_ndim; d++)
        if (!jy_sizes_same(&v->sizes, inferred.n_shape[d], node->n_shape[d]))
            return complain(v, r, "extent of axis %zu differs from what the operands give", d);
    if (inferred.n_storage != node->n_storage)
        return complain(v, r, "storage is %%%" PRIu32 ", not %%%" PRIu32, node->n_storage, inferred.n_storage);
    return true;
}

static bool
has_sound_layout(struct verifier *v, jy_ref r)
{
    const struct jy_node *node = jy_graph_at(v->g, r);
    bool wants = node->n_kind == JY_KIND_ARRAY && node->n_ndim != 0;
    if (wants != (node->n_layout != NULL))
        return complain(v, r, wants ? "an array without a layout" : "a scalar with a layout");
    uint32_t seen = 0;
    for (size_t d = 0; wants && d < node->n_ndim; d++)
        seen |= node->n_layout->order[d] < JY_MAX_NDIM ? 1u << node->n_layout->order[d] : 0;
    if (wants && seen != (1u << node->n_ndim) - 1)
        return complain(v, r, "the layout's order is not a permutation of the axes");
    if (wants && node->n_layout->contiguous && !node->n_layout->inner_unit)
        return complain(v, r, "a contiguous layout without adjacent elements");
    return true;
}

static bool
is_sound_source(struct verifier *v, jy_ref r)
{
    const struct jy_node *node = jy_graph_at(v->g, r);
    if (node->n_op == JY_OP_CONSTANT && node->n_dtype == JY_BOOL && (node->n_value.i & ~1) != 0)
        return complain(v, r, "a bool that is neither 0 nor 1");
    if (node->n_op == JY_OP_CONSTANT && node->n_dtype == JY_I32 && node->n_value.i != (int32_t)node->n_value.i)
        return complain(v, r, "the constant does not fit int32");
    if (node->n_op == JY_OP_SIZE && node->n_size >= v->sizes.exprs.n)
        return complain(v, r, "no such size");
    if (node->n_op != JY_OP_PLACEHOLDER)
        return true;
    if (node->n_input >= v->g->g_ninputs)
        return complain(v, r, "input %" PRIu32 " of %" PRIu32, node->n_input, v->g->g_ninputs);
    for (jy_ref other = 0; other < r; other++)
        if (jy_graph_at(v->g, other)->n_op == JY_OP_PLACEHOLDER && jy_graph_at(v->g, other)->n_input == node->n_input)
            return complain(v, r, "input %" PRIu32 " is %%%" PRIu32 " already", node->n_input, other);
    return true;
}

/* Where hints say nothing (an expression without a value) nothing is claimed. */
static bool
stays_inside(struct verifier *v, jy_ref r)
{
    const struct jy_node *node = jy_graph_at(v->g, r);
    const struct jy_view *view = node->n_view;
    if (view == NULL)
        return true;
    const struct jy_node *source = jy_graph_at(v->g, node->n_args[0]);
    const struct jy_node *region = node->n_op == JY_OP_STORE ? jy_graph_at(v->g, node->n_args[1]) : node;
    for (size_t d = 0; d < region->n_ndim; d++)
        if (jy_sizes_hint(&v->sizes, region->n_shape[d]) == 0)
            return true;
    for (int a = 0; a < view->source_ndim; a++) {
        int64_t low, high, extent, n;
        if (!jy_sizes_eval(&low, &v->sizes, view->start[a], NULL) ||
            !jy_sizes_eval(&extent, &v->sizes, source->n_shape[a], NULL))
            continue;
        high = low;
        for (int d = 0; d < view->ndim; d++)
            if (view->axis[d] == a && jy_sizes_eval(&n, &v->sizes, region->n_shape[d], NULL))
                *(view->step[d] < 0 ? &low : &high) += (n - 1) * view->step[d];
        if (low < 0 || high >= extent)
            return complain(v, r, "the index map leaves axis %d of operand 0: %" PRId64 " to %" PRId64 " of %" PRId64,
                            a, low, high, extent);
    }
    return true;
}

static bool
reads_newest_versions(struct verifier *v, jy_ref r)
{
    const struct jy_node *node = jy_graph_at(v->g, r);
    for (size_t i = 0; i < node->n_nargs; i++) {
        jy_ref arg = node->n_args[i], storage = jy_graph_at(v->g, arg)->n_storage;
        if (storage != JY_NO_REF && v->version[arg] != v->latest[storage])
            return complain(v, r, "operand %zu, %%%" PRIu32 ", was overwritten by %%%" PRIu32, i, arg,
                            v->latest[storage]);
    }
    if (node->n_storage == JY_NO_REF)
        return true;
    bool is_view = jy_op_info[node->n_op].klass == JY_CLASS_VIEW;
    v->version[r] = is_view ? v->version[node->n_args[0]] : r;
    if (!is_view)
        v->latest[node->n_storage] = r;
    return true;
}

const char *
jy_graph_verify(const struct jy_graph *g)
{
    struct verifier v = { .g = g, .sizes = g->g_sizes };
    v.version = JY_NEW_ARRAY(g->g_arena, jy_ref, g->g_nodes.n + 1);
    v.latest = JY_NEW_ARRAY(g->g_arena, jy_ref, g->g_nodes.n + 1);
    for (jy_ref r = 0; r < g->g_nodes.n; r++)
        if (!follows_from_operands(&v, r) || !has_sound_layout(&v, r) || !is_sound_source(&v, r) ||
            !stays_inside(&v, r) || !reads_newest_versions(&v, r))
            return v.message;
    for (size_t k = 0; k < g->g_outputs.n; k++)
        if (g->g_outputs.at[k] >= g->g_nodes.n)
            return jy_arena_printf(g->g_arena, "output %zu is %%%" PRIu32 ", which does not exist", k,
                                   g->g_outputs.at[k]);
    return NULL;
}
