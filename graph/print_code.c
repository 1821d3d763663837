/* A graph as Python source, for reading: what the traced function amounts to, one line a node, in the terms of NumPy.
 * Constants and sizes stand where they are used. An index map is shown as a function of the result's index. */
#include "graph/graph.h"
#include "graph/scalar.h"
#include <inttypes.h>
#include <string.h>

static void
put_reference(struct jy_text *text, const struct jy_graph *g, jy_ref r)
{
    const struct jy_node *node = jy_graph_at(g, r);
    if (node->n_op == JY_OP_PLACEHOLDER && node->n_name != NULL)
        jy_text_add(text, "%s", node->n_name);
    else if (node->n_op == JY_OP_PLACEHOLDER)
        jy_text_add(text, "arg%" PRIu32, node->n_input);
    else if (node->n_op == JY_OP_SIZE)
        jy_sizes_print(text, &g->g_sizes, node->n_size);
    else if (node->n_op != JY_OP_CONSTANT)
        jy_text_add(text, "v%" PRIu32, r);
    else {
        bool numpy = node->n_kind == JY_KIND_NPSCALAR;
        jy_text_add(text, numpy ? "np.%s(" : "", jy_dtype_info[node->n_dtype].text);
        jy_scalar_print(text, (jy_dtype)node->n_dtype, node->n_value);
        jy_text_add(text, numpy ? ")" : "");
    }
}

static void
put_references(struct jy_text *text, const struct jy_graph *g, const jy_ref *refs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        jy_text_add(text, "%s", i == 0 ? "" : ", ");
        put_reference(text, g, refs[i]);
    }
}

static void
put_tuple(struct jy_text *text, const struct jy_graph *g, const jy_sx *sizes, size_t n)
{
    jy_text_add(text, "(");
    for (size_t d = 0; d < n; d++) {
        jy_text_add(text, "%s", d == 0 ? "" : ", ");
        jy_sizes_print(text, &g->g_sizes, sizes[d]);
    }
    jy_text_add(text, n == 1 ? ",)" : ")");
}

/* lambda j0, j1: (start + step*j1, ...) */
static void
put_index_map(struct jy_text *text, const struct jy_graph *g, const struct jy_view *view)
{
    jy_text_add(text, "lambda");
    for (int d = 0; d < view->ndim; d++)
        jy_text_add(text, "%s j%d", d == 0 ? "" : ",", d);
    jy_text_add(text, ": (");
    for (int a = 0; a < view->source_ndim; a++) {
        jy_text_add(text, "%s", a == 0 ? "" : ", ");
        jy_sizes_print(text, &g->g_sizes, view->start[a]);
        for (int d = 0; d < view->ndim; d++)
            if (view->axis[d] == a)
                jy_text_add(text, " + %" PRId64 "*j%d", view->step[d], d);
    }
    jy_text_add(text, view->source_ndim == 1 ? ",)" : ")");
}

static void
put_reduce(struct jy_text *text, const struct jy_graph *g, const struct jy_node *node)
{
    jy_text_add(text, "np.%s(", jy_op_info[node->n_op].text);
    put_reference(text, g, node->n_args[0]);
    jy_text_add(text, ", axis=(");
    for (unsigned a = 0; node->n_axes >> a != 0; a++)
        if (node->n_axes >> a & 1)
            jy_text_add(text, "%u,", a);
    jy_text_add(text, ")%s)", node->n_keepdims ? ", keepdims=True" : "");
}

static void
put_create(struct jy_text *text, const struct jy_graph *g, const struct jy_node *node)
{
    if (node->n_op == JY_OP_COPY) {
        put_reference(text, g, node->n_args[0]);
        jy_text_add(text, ".copy()");
        return;
    }
    jy_text_add(text, "np.%s(", jy_op_info[node->n_op].text);
    put_tuple(text, g, node->n_shape, node->n_ndim);
    jy_text_add(text, ", ");
    if (node->n_op == JY_OP_FULL)
        put_reference(text, g, node->n_args[0]);
    else
        jy_text_add(text, "np.%s", jy_dtype_info[node->n_dtype].text);
    jy_text_add(text, ")");
}

static void
put_view(struct jy_text *text, const struct jy_graph *g, const struct jy_node *node)
{
    if (node->n_op == JY_OP_VIEW)
        jy_text_add(text, "view(");
    put_reference(text, g, node->n_args[0]);
    if (node->n_op == JY_OP_VIEW) {
        jy_text_add(text, ", ");
        put_index_map(text, g, node->n_view);
        jy_text_add(text, ", ");
    } else
        jy_text_add(text, ".reshape(");
    put_tuple(text, g, node->n_shape, node->n_ndim);
    jy_text_add(text, ")");
}

static void
put_store(struct jy_text *text, const struct jy_graph *g, jy_ref r)
{
    const struct jy_node *node = jy_graph_at(g, r);
    put_reference(text, g, node->n_args[0]);
    jy_text_add(text, node->n_view == NULL ? "\n    v%" PRIu32 "[...] = " : "\n    store(v%" PRIu32 ", ", r);
    if (node->n_view != NULL) {
        put_index_map(text, g, node->n_view);
        jy_text_add(text, ", ");
    }
    put_reference(text, g, node->n_args[1]);
    jy_text_add(text, node->n_view == NULL ? "" : ")");
}

static void
put_call(struct jy_text *text, const struct jy_graph *g, const struct jy_node *node)
{
    if (node->n_op == JY_OP_CALLOUT)
        jy_text_add(text, "callee%" PRIu32 "(", node->n_callee);
    else if (node->n_op == JY_OP_CAST)
        jy_text_add(text, "cast(np.%s, ", jy_dtype_info[node->n_dtype].text);
    else
        jy_text_add(text, "np.%s(", jy_op_info[node->n_op].text);
    put_references(text, g, node->n_args, node->n_nargs);
    if (node->n_extra != 0)
        jy_text_add(text, ", **extra%" PRIu32, node->n_extra);
    jy_text_add(text, ")");
}

static void
put_node(struct jy_text *text, const struct jy_graph *g, jy_ref r)
{
    const struct jy_node *node = jy_graph_at(g, r);
    uint8_t klass = jy_op_info[node->n_op].klass;
    jy_text_add(text, "    v%" PRIu32 " = ", r);
    if (klass == JY_CLASS_VIEW)
        put_view(text, g, node);
    else if (klass == JY_CLASS_CREATE)
        put_create(text, g, node);
    else if (klass == JY_CLASS_REDUCE)
        put_reduce(text, g, node);
    else if (klass == JY_CLASS_STORE)
        put_store(text, g, r);
    else
        put_call(text, g, node);
    if (node->n_line != 0)
        jy_text_add(text, "  # line %" PRIu32, node->n_line);
    jy_text_add(text, "\n");
}

/* The sizes that an array input brings with it. */
static void
put_symbols(struct jy_text *text, const struct jy_graph *g)
{
    for (uint32_t k = 0; k < g->g_sizes.symbols.n; k++) {
        const struct jy_symbol *s = &g->g_sizes.symbols.at[k];
        jy_text_add(text, "    s%" PRIu32 " = ", k);
        if (s->same_as != k)
            jy_text_add(text, "s%" PRIu32, s->same_as);
        else {
            jy_ref r = 0;
            while (r < g->g_nodes.n &&
                   (jy_graph_at(g, r)->n_op != JY_OP_PLACEHOLDER || jy_graph_at(g, r)->n_input != s->placeholder))
                r++;
            if (r < g->g_nodes.n)
                put_reference(text, g, r);
            else
                jy_text_add(text, "arg%" PRIu32, s->placeholder);
            if (s->axis >= 0)
                jy_text_add(text, ".shape[%" PRId32 "]", s->axis);
        }
        jy_text_add(text, "\n");
    }
}

void
jy_graph_print_code(struct jy_text *text, const struct jy_graph *g)
{
    const char *comma = "";
    jy_text_add(text, "def forward(");
    for (jy_ref r = 0; r < g->g_nodes.n; r++)
        if (jy_graph_at(g, r)->n_op == JY_OP_PLACEHOLDER) {
            jy_text_add(text, "%s", comma);
            put_reference(text, g, r);
            comma = ", ";
        }
    jy_text_add(text, "):\n");
    put_symbols(text, g);
    for (jy_ref r = 0; r < g->g_nodes.n; r++)
        if (jy_op_info[jy_graph_at(g, r)->n_op].klass != JY_CLASS_SOURCE)
            put_node(text, g, r);
    jy_text_add(text, "    return (");
    put_references(text, g, g->g_outputs.at, g->g_outputs.n);
    jy_text_add(text, g->g_outputs.n == 1 ? ",)\n" : ")\n");
}
