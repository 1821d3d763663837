/* Three ways to write a graph down: the text form, which jy_graph_parse reads back, a table, and Python source; the last two are for reading only.
 *
 * The text form, one node a line (the file is named where it changes; a layout where it is not the one that builders give):
 *
 *     graph NAME (s0=HINT, s1=HINT of INPUT.AXIS, s2=HINT of INPUT, s3=HINT is s0) :
 *       %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous) @12 "file.py" as x
 *       %1 = view[(s0-1)-j0, 2*j1](%0) : float64[s0,(s1//2)]       element j of the view is that element of the operand
 *       %2 = sum[0,1; keepdims](%1) : float64[1,1]
 *       %3 = store[1+j0, j1](%0, %2) : ...
 *       output (%3)
 *
 * "of" tells what a symbol is when it is not the first axis that has it as extent; "is" that a guard made it equal to another.
 * Kinds: float64[...] an array, float64 a NumPy scalar, pyfloat, pyint and pybool Python's. */
#include "graph/graph.h"
#include "graph/infer.h"
#include "graph/scalar.h"
#include <inttypes.h>
#include <string.h>

static const char *const python_kind[] = { [JY_KIND_PYFLOAT] = "pyfloat",
                                           [JY_KIND_PYINT] = "pyint",
                                           [JY_KIND_PYBOOL] = "pybool" };

/* A name without blanks, so that the parser knows where it ends. */
static void
print_name(struct jy_text *text, const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        jy_text_add(text, "%c", (unsigned char)*c <= ' ' ? '_' : *c);
    if (*name == '\0')
        jy_text_add(text, "_");
}

static void
print_quoted(struct jy_text *text, const char *s)
{
    jy_text_add(text, "\"");
    for (; *s != '\0'; s++)
        if ((unsigned char)*s < ' ' || *s == '"' || *s == '\\')
            jy_text_add(text, "\\x%02x", (unsigned)(unsigned char)*s);
        else
            jy_text_add(text, "%c", *s);
    jy_text_add(text, "\"");
}

/* Where readers would look for a symbol: the first axis of a placeholder that it is the extent of. */
static bool
is_where_expected(const struct jy_graph *g, uint32_t symbol)
{
    const struct jy_symbol *s = &g->g_sizes.symbols.at[symbol];
    for (jy_ref r = 0; r < g->g_nodes.n; r++) {
        const struct jy_node *node = jy_graph_at(g, r);
        if (node->n_op != JY_OP_PLACEHOLDER)
            continue;
        for (int d = 0; d < node->n_ndim; d++) {
            const struct jy_sx_node *x = &g->g_sizes.exprs.at[node->n_shape[d]];
            if (x->op == JY_SX_SYM && x->k == symbol)
                return s->placeholder == node->n_input && s->axis == d;
        }
    }
    return false;
}

static void
print_symbols(struct jy_text *text, const struct jy_graph *g)
{
    for (uint32_t k = 0; k < g->g_sizes.symbols.n; k++) {
        const struct jy_symbol *s = &g->g_sizes.symbols.at[k];
        jy_text_add(text, "%ss%" PRIu32 "=%" PRId64, k == 0 ? "" : ", ", k, s->hint);
        if (!is_where_expected(g, k)) {
            jy_text_add(text, " of %" PRIu32, s->placeholder);
            if (s->axis >= 0)
                jy_text_add(text, ".%" PRId32, s->axis);
        }
        if (s->same_as != k)
            jy_text_add(text, " is s%" PRIu32, s->same_as);
    }
}

static void
print_shape(struct jy_text *text, const struct jy_graph *g, const struct jy_node *node, const char *comma)
{
    for (size_t d = 0; d < node->n_ndim; d++) {
        jy_text_add(text, "%s", d == 0 ? "" : comma);
        jy_sizes_print(text, &g->g_sizes, node->n_shape[d]);
    }
}

static void
print_type(struct jy_text *text, const struct jy_graph *g, const struct jy_node *node)
{
    if (node->n_kind >= JY_KIND_PYFLOAT) {
        jy_text_add(text, "%s", python_kind[node->n_kind]);
        return;
    }
    jy_text_add(text, "%s", jy_dtype_info[node->n_dtype].text);
    if (node->n_kind == JY_KIND_NPSCALAR)
        return;
    jy_text_add(text, "[");
    print_shape(text, g, node, ",");
    jy_text_add(text, "]");
}

static void
print_layout(struct jy_text *text, const struct jy_graph *g, const struct jy_node *node)
{
    const struct jy_layout *layout = node->n_layout, *usual = jy_layout_default(g, node);
    if (layout == NULL || (usual != NULL && jy_layout_equal(layout, usual, node->n_ndim)))
        return;
    int64_t extents[JY_MAX_NDIM];
    for (size_t d = 0; d < node->n_ndim; d++)
        extents[d] = jy_sizes_hint(&g->g_sizes, node->n_shape[d]);
    struct jy_layout dense = jy_layout_fresh(node->n_ndim, extents, layout->order, jy_dtype_info[node->n_dtype].bytes);
    jy_text_add(text, " layout(");
    for (size_t d = 0; d < node->n_ndim; d++)
        jy_text_add(text, "%s%u", d == 0 ? "" : ",", (unsigned)layout->order[d]);
    if (layout->contiguous)
        jy_text_add(text, "; contiguous");
    else if (layout->inner_unit)
        jy_text_add(text, "; unit");
    if (memcmp(layout->stride, dense.stride, node->n_ndim * sizeof(int64_t)) != 0)
        for (size_t d = 0; d < node->n_ndim; d++)
            jy_text_add(text, "%s%" PRId64, d == 0 ? "; strides " : ",", layout->stride[d]);
    jy_text_add(text, ")");
}

/* Per source axis: start, then a term per result axis that walks along it. */
static void
print_index_map(struct jy_text *text, const struct jy_graph *g, const struct jy_view *view)
{
    for (int a = 0; a < view->source_ndim; a++) {
        jy_text_add(text, "%s", a == 0 ? "" : ", ");
        bool empty = true;
        for (int d = 0; d < view->ndim; d++)
            empty = empty && view->axis[d] != a;
        bool start = view->start[a] != 0 || empty, first = !start;
        if (start)
            jy_sizes_print(text, &g->g_sizes, view->start[a]);
        for (int d = 0; d < view->ndim; d++) {
            int64_t step = view->step[d];
            if (view->axis[d] != a)
                continue;
            if (step == 1 || step == -1)
                jy_text_add(text, "%sj%d", step < 0 ? "-" : first ? "" : "+", d);
            else
                jy_text_add(text, "%s%" PRId64 "*j%d", step < 0 || first ? "" : "+", step, d);
            first = false;
        }
    }
}

static void
print_axes(struct jy_text *text, uint32_t axes)
{
    const char *comma = "";
    for (unsigned a = 0; axes >> a != 0; a++)
        if (axes >> a & 1) {
            jy_text_add(text, "%s%u", comma, a);
            comma = ",";
        }
}

/* What stands in brackets behind the op. */
static void
print_attributes(struct jy_text *text, const struct jy_graph *g, const struct jy_node *node)
{
    uint8_t klass = jy_op_info[node->n_op].klass;
    if (klass != JY_CLASS_SOURCE && klass != JY_CLASS_REDUCE && klass != JY_CLASS_CALL && node->n_view == NULL)
        return;
    jy_text_add(text, "[");
    if (node->n_view != NULL)
        print_index_map(text, g, node->n_view);
    else if (klass == JY_CLASS_REDUCE) {
        print_axes(text, node->n_axes);
        jy_text_add(text, "%s", node->n_keepdims ? "; keepdims" : "");
    } else if (klass == JY_CLASS_CALL)
        jy_text_add(text, "%" PRIu32 ", %" PRIu32, node->n_callee, node->n_extra);
    else if (node->n_op == JY_OP_PLACEHOLDER)
        jy_text_add(text, "%" PRIu32, node->n_input);
    else if (node->n_op == JY_OP_CONSTANT)
        jy_scalar_print(text, (jy_dtype)node->n_dtype, node->n_value);
    else
        jy_sizes_print(text, &g->g_sizes, node->n_size);
    jy_text_add(text, "]");
}

static void
print_args(struct jy_text *text, const struct jy_node *node)
{
    for (size_t i = 0; i < node->n_nargs; i++)
        jy_text_add(text, "%s%%%" PRIu32, i == 0 ? "" : ", ", node->n_args[i]);
}

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void
print_node(struct jy_text *text, const struct jy_graph *g, jy_ref r, const char **file)
{
    const struct jy_node *node = jy_graph_at(g, r);
    jy_text_add(text, "  %%%" PRIu32 " = %s", r, jy_op_info[node->n_op].text);
    print_attributes(text, g, node);
    if (jy_op_info[node->n_op].klass != JY_CLASS_SOURCE) {
        jy_text_add(text, "(");
        print_args(text, node);
        jy_text_add(text, ")");
    }
    jy_text_add(text, " : ");
    print_type(text, g, node);
    print_layout(text, g, node);
    if (node->n_line != 0 || !same_text(*file, node->n_file))
        jy_text_add(text, " @%" PRIu32, node->n_line);
    if (!same_text(*file, node->n_file)) {
        jy_text_add(text, " ");
        print_quoted(text, node->n_file == NULL ? "" : node->n_file);
        *file = node->n_file;
    }
    if (node->n_name != NULL) {
        jy_text_add(text, " as ");
        print_name(text, node->n_name);
    }
    jy_text_add(text, "\n");
}

void
jy_graph_print(struct jy_text *text, const struct jy_graph *g)
{
    const char *file = NULL;
    jy_text_add(text, "graph ");
    print_name(text, g->g_name);
    jy_text_add(text, " (");
    print_symbols(text, g);
    jy_text_add(text, ") :\n");
    for (jy_ref r = 0; r < g->g_nodes.n; r++)
        print_node(text, g, r, &file);
    jy_text_add(text, "  output (");
    for (size_t k = 0; k < g->g_outputs.n; k++)
        jy_text_add(text, "%s%%%" PRIu32, k == 0 ? "" : ", ", g->g_outputs.at[k]);
    jy_text_add(text, ")\n");
}

enum { COLUMNS = 7 };

static void
fill_row(struct jy_text *cell, const struct jy_graph *g, jy_ref r)
{
    const struct jy_node *node = jy_graph_at(g, r);
    bool source = jy_op_info[node->n_op].klass == JY_CLASS_SOURCE;
    jy_text_add(&cell[0], "%s", source ? jy_op_info[node->n_op].text : "call");
    if (node->n_name != NULL)
        jy_text_add(&cell[1], "%s", node->n_name);
    else
        jy_text_add(&cell[1], "v%" PRIu32, r);
    jy_text_add(&cell[2], "%s", source ? "" : jy_op_info[node->n_op].text);
    print_attributes(&cell[2], g, node);
    jy_text_add(&cell[3], "(");
    print_args(&cell[3], node);
    jy_text_add(&cell[3], ")");
    jy_text_add(&cell[4], "%s",
                node->n_kind >= JY_KIND_PYFLOAT ? python_kind[node->n_kind] : jy_dtype_info[node->n_dtype].text);
    if (node->n_kind == JY_KIND_ARRAY) {
        jy_text_add(&cell[5], "(");
        print_shape(&cell[5], g, node, ", ");
        jy_text_add(&cell[5], node->n_ndim == 1 ? ",)" : ")");
    }
    if (node->n_line != 0)
        jy_text_add(&cell[6], "%" PRIu32, node->n_line);
}

/* Without blanks at the end. */
static void
end_line(struct jy_text *text)
{
    while (text->n > 0 && text->at[text->n - 1] == ' ')
        text->n--;
    jy_text_add(text, "\n");
}

void
jy_graph_print_table(struct jy_text *text, const struct jy_graph *g)
{
    static const char *const title[COLUMNS] = { "opcode", "name", "target", "args", "dtype", "shape", "line" };
    size_t rows = g->g_nodes.n + 2, width[COLUMNS] = { 0 };
    struct jy_text *cells = JY_NEW_ARRAY(g->g_arena, struct jy_text, rows * COLUMNS);
    for (size_t c = 0; c < COLUMNS; c++)
        jy_text_add(&cells[c], "%s", title[c]);
    for (jy_ref r = 0; r < g->g_nodes.n; r++)
        fill_row(&cells[(r + 1) * COLUMNS], g, r);
    struct jy_text *last = &cells[(rows - 1) * COLUMNS];
    jy_text_add(&last[0], "output");
    jy_text_add(&last[3], "(");
    for (size_t k = 0; k < g->g_outputs.n; k++)
        jy_text_add(&last[3], "%s%%%" PRIu32, k == 0 ? "" : ", ", g->g_outputs.at[k]);
    jy_text_add(&last[3], ")");
    for (size_t i = 0; i < rows * COLUMNS; i++)
        if (cells[i].n > width[i % COLUMNS])
            width[i % COLUMNS] = cells[i].n;
    for (size_t i = 0; i < rows * COLUMNS; i++) {
        size_t c = i % COLUMNS;
        jy_text_add(text, "%-*s  ", (int)width[c], cells[i].at == NULL ? "" : cells[i].at);
        if (c == COLUMNS - 1)
            end_line(text);
        jy_text_free(&cells[i]);
    }
}
