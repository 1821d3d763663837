/* What follows from a node's op and operands: one function per op class.
 *
 * Decides: dtype and shape of every result, and which storage it lives in. The rules are those of graph.h and of the `result` column of ops.def.
 * Relies on: operands that are sound themselves; sizes proven equal having been merged.
 * Guarantees: NULL means that the node is complete; otherwise the message says which rule is broken, in words that
 * jy_graph_verify and jy_graph_parse prefix with the node. */
#include "graph/infer.h"
#include <string.h>

struct inference {
    struct jy_node *node;
    jy_ref self;
    const struct jy_graph *graph;
    struct jy_sizes *sizes;
};

static const struct jy_node *
operand(const struct inference *in, size_t i)
{
    return jy_graph_at(in->graph, in->node->n_args[i]);
}

static jy_sx *
new_shape(const struct inference *in, size_t ndim)
{
    in->node->n_ndim = (uint8_t)ndim;
    return in->node->n_shape = ndim == 0 ? NULL : JY_NEW_ARRAY(in->graph->g_arena, jy_sx, ndim);
}

static void
copy_shape(const struct inference *in, const struct jy_node *from)
{
    jy_sx *shape = new_shape(in, from->n_ndim);
    for (size_t d = 0; d < from->n_ndim; d++)
        shape[d] = from->n_shape[d];
}

const char *
jy_infer_broadcast(struct jy_node *node, const struct jy_graph *g, struct jy_sizes *sizes)
{
    struct inference in = { node, 0, g, sizes };
    size_t ndim = 0;
    for (size_t i = 0; i < node->n_nargs; i++)
        if (operand(&in, i)->n_ndim > ndim)
            ndim = operand(&in, i)->n_ndim;
    jy_sx *shape = new_shape(&in, ndim);
    for (size_t d = 0; d < ndim; d++)
        shape[d] = 1;
    for (size_t i = 0; i < node->n_nargs; i++) {
        const struct jy_node *x = operand(&in, i);
        for (size_t d = 0; d < x->n_ndim; d++) {
            jy_sx *extent = &shape[ndim - x->n_ndim + d];
            if (*extent == 1)
                *extent = x->n_shape[d];
            else if (x->n_shape[d] != 1 && !jy_sizes_same(sizes, *extent, x->n_shape[d]))
                return "operands do not broadcast: two extents are neither equal nor 1";
        }
    }
    return NULL;
}

static const char *
infer_source(const struct inference *in)
{
    if (in->node->n_op == JY_OP_PLACEHOLDER)
        return NULL;
    if (in->node->n_kind == JY_KIND_ARRAY)
        return "a constant or a size is a scalar";
    in->node->n_ndim = 0;
    if (in->node->n_op == JY_OP_SIZE && in->node->n_kind != JY_KIND_PYINT)
        return "a size is a Python int";
    return NULL;
}

static const char *
infer_elementwise(const struct inference *in)
{
    size_t first = in->node->n_op == JY_OP_WHERE;
    for (size_t i = first; i < in->node->n_nargs; i++)
        if (operand(in, i)->n_dtype != operand(in, first)->n_dtype)
            return "operands differ in dtype";
    if (first == 1 && operand(in, 0)->n_dtype != JY_BOOL)
        return "the condition is not bool";
    return jy_infer_broadcast(in->node, in->graph, in->sizes);
}

static const char *
check_view(const struct jy_view *view, const struct jy_node *source, size_t ndim)
{
    if (view->source_ndim != source->n_ndim || view->ndim != ndim)
        return "the index map has another number of axes";
    for (size_t d = 0; d < ndim; d++)
        if (view->axis[d] < -1 || view->axis[d] >= (int)source->n_ndim)
            return "the index map names an axis that its source does not have";
    return NULL;
}

static const char *
infer_view(const struct inference *in)
{
    const struct jy_node *x = operand(in, 0);
    if (x->n_kind != JY_KIND_ARRAY || in->node->n_kind != JY_KIND_ARRAY)
        return "a view is an array of an array";
    if (in->node->n_op == JY_OP_VIEW)
        return in->node->n_view == NULL ? "a view without an index map"
                                        : check_view(in->node->n_view, x, in->node->n_ndim);
    if (x->n_layout != NULL && !(x->n_layout->contiguous && jy_layout_is_c_order(x->n_layout, x->n_ndim)))
        return "the operand is not contiguous in C order";
    return NULL;
}

static const char *
infer_create(const struct inference *in)
{
    if (in->node->n_kind != JY_KIND_ARRAY)
        return "a new array is an array";
    if (in->node->n_op == JY_OP_COPY)
        copy_shape(in, operand(in, 0));
    if (in->node->n_op == JY_OP_FULL && operand(in, 0)->n_ndim != 0)
        return "the value is not a scalar";
    return NULL;
}

static const char *
infer_reduce(const struct inference *in)
{
    const struct jy_node *x = operand(in, 0);
    if (in->node->n_axes >> x->n_ndim != 0)
        return "an axis is folded that the operand does not have";
    if ((in->node->n_op == JY_OP_ANY || in->node->n_op == JY_OP_ALL) && x->n_dtype != JY_BOOL)
        return "the operand is not bool";
    size_t folded = (size_t)__builtin_popcount(in->node->n_axes), d = 0;
    jy_sx *shape = new_shape(in, in->node->n_keepdims ? x->n_ndim : x->n_ndim - folded);
    for (size_t a = 0; a < x->n_ndim; a++)
        if ((in->node->n_axes >> a & 1) == 0)
            shape[d++] = x->n_shape[a];
        else if (in->node->n_keepdims)
            shape[d++] = 1;
    return NULL;
}

static const char *
infer_linalg(const struct inference *in)
{
    return operand(in, 0)->n_dtype != operand(in, 1)->n_dtype ? "operands differ in dtype" : NULL;
}

static const char *
infer_store(const struct inference *in)
{
    const struct jy_node *base = operand(in, 0), *value = operand(in, 1);
    if (base->n_kind != JY_KIND_ARRAY || in->node->n_kind != JY_KIND_ARRAY)
        return "a store is into an array";
    if (base->n_dtype != value->n_dtype)
        return "operands differ in dtype";
    const char *why = NULL;
    if (in->node->n_view != NULL) /* the region has the value's shape */
        why = check_view(in->node->n_view, base, value->n_ndim);
    else if ((why = jy_infer_broadcast(in->node, in->graph, in->sizes)) == NULL)
        for (size_t d = 0; d < in->node->n_ndim; d++)
            if (in->node->n_ndim != base->n_ndim || !jy_sizes_same(in->sizes, in->node->n_shape[d], base->n_shape[d]))
                why = "the value does not broadcast to the base";
    copy_shape(in, base);
    return why;
}

static const char *
infer_class(const struct inference *in)
{
    switch ((enum jy_op_class)jy_op_info[in->node->n_op].klass) {
    case JY_CLASS_SOURCE:
        return infer_source(in);
    case JY_CLASS_EW:
    case JY_CLASS_TILE:
    case JY_CLASS_CAST:
        return infer_elementwise(in);
    case JY_CLASS_VIEW:
        return infer_view(in);
    case JY_CLASS_CREATE:
        return infer_create(in);
    case JY_CLASS_REDUCE:
        return infer_reduce(in);
    case JY_CLASS_LINALG:
        return infer_linalg(in);
    case JY_CLASS_STORE:
        return infer_store(in);
    case JY_CLASS_CALL:
        return NULL;
    }
    return "an op without a class";
}

static void
infer_dtype(const struct inference *in)
{
    struct jy_node *node = in->node;
    switch ((enum jy_op_result)jy_op_info[node->n_op].result) {
    case JY_RESULT_SAME:
        node->n_dtype = operand(in, 0)->n_dtype;
        break;
    case JY_RESULT_BOOL:
        node->n_dtype = JY_BOOL;
        break;
    case JY_RESULT_OPERAND1:
        node->n_dtype = operand(in, 1)->n_dtype;
        break;
    case JY_RESULT_GIVEN:
        if (node->n_op == JY_OP_SIZE)
            node->n_dtype = JY_I64;
        break;
    }
}

static const char *
check_kind(const struct jy_node *node)
{
    static const uint8_t python_dtype[] = { [JY_KIND_PYFLOAT] = JY_F64,
                                            [JY_KIND_PYINT] = JY_I64,
                                            [JY_KIND_PYBOOL] = JY_BOOL };
    if (node->n_kind > JY_KIND_PYBOOL || node->n_dtype >= JY_DTYPE_COUNT)
        return "no such kind or dtype";
    if (node->n_kind != JY_KIND_ARRAY && node->n_ndim != 0)
        return "a scalar with axes";
    if (node->n_kind >= JY_KIND_PYFLOAT && node->n_dtype != python_dtype[node->n_kind])
        return "a Python number of another dtype than its own";
    return node->n_ndim > JY_MAX_NDIM ? "too many axes" : NULL;
}

const char *
jy_infer_node(struct jy_node *node, jy_ref self, const struct jy_graph *g, struct jy_sizes *sizes)
{
    struct inference in = { node, self, g, sizes };
    if (node->n_op >= JY_OP_COUNT)
        return "no such op";
    int8_t arity = jy_op_info[node->n_op].arity;
    if (arity >= 0 && node->n_nargs != arity)
        return "another number of operands than the op takes";
    for (size_t i = 0; i < node->n_nargs; i++)
        if (node->n_args[i] >= self)
            return "an operand that comes later or not at all";
    infer_dtype(&in);
    const char *why = infer_class(&in);
    if (why == NULL)
        why = check_kind(node);
    if (why != NULL)
        return why;
    uint8_t klass = jy_op_info[node->n_op].klass;
    if (node->n_kind != JY_KIND_ARRAY)
        node->n_storage = JY_NO_REF;
    else
        node->n_storage = klass == JY_CLASS_VIEW || klass == JY_CLASS_STORE ? operand(&in, 0)->n_storage : self;
    return NULL;
}
