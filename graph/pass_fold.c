/* Folding: scalar operations on constants, and operations that give back an operand.
 *
 * Constants are folded with the functions of the interpreters (scalar.c), and only when nothing was reported: a flag or an integer overflow
 * is for run time to see. Identities are those that keep every bit of every input: x - 0.0 and x + -0.0, but not
 * x + 0.0, which turns -0.0 into 0.0; x * 1.0 and x / 1.0. (A NaN stays a NaN; quiet inputs raise nothing.)
 * In eager an identity still makes a new object with a layout of its own. So it folds only where nobody can tell: the result is no output, neither
 * array's memory is written later, and where it has axes both fill a block in one order, so that sums over either run alike. */
#include "graph/pass_internal.h"
#include "graph/scalar.h"
#include <assert.h>
#include <fenv.h>

/* The constant that makes an operation of floats, or of ints, give back its other operand. */
static const struct identity {
    jy_op op;
    bool on_float, on_int, either_side; /* else the constant is operand 1 */
    double float_constant;
    int64_t int_constant;
} identities[] = {
    { JY_OP_ADD, true, true, true, -0.0, 0 },        { JY_OP_SUB, true, true, false, 0.0, 0 },
    { JY_OP_MUL, true, true, true, 1.0, 1 },         { JY_OP_DIV, true, false, false, 1.0, 0 },
    { JY_OP_BITWISE_OR, false, true, true, 0, 0 },   { JY_OP_BITWISE_XOR, false, true, true, 0, 0 },
    { JY_OP_BITWISE_AND, false, true, true, 0, -1 }, { JY_OP_LEFT_SHIFT, false, true, false, 0, 0 },
    { JY_OP_RIGHT_SHIFT, false, true, false, 0, 0 },
};

static bool
is_constant(const struct jy_graph *g, jy_ref r)
{
    return jy_graph_at(g, r)->n_op == JY_OP_CONSTANT;
}

static bool
is_identity_constant(const struct identity *row, const struct jy_node *node)
{
    assert(node != NULL);
    if (node->n_op != JY_OP_CONSTANT || node->n_dtype == JY_BOOL)
        return false;
    if (!jy_dtype_is_float((jy_dtype)node->n_dtype))
        return row->on_int && node->n_value.i == row->int_constant;
    union jy_scalar wanted =
        jy_scalar_cast(JY_F64, (jy_dtype)node->n_dtype, (union jy_scalar){ .d = row->float_constant });
    return row->on_float && node->n_value.bits == wanted.bits;
}

/* Which operand the node's value equals, bit for bit; JY_NO_REF when none is known to. */
static jy_ref
equal_operand(const struct jy_graph *g, const struct jy_node *node)
{
    const struct jy_node *first = node->n_nargs == 0 ? NULL : jy_graph_at(g, node->n_args[0]);
    for (size_t i = 0; i < sizeof(identities) / sizeof(*identities); i++) {
        const struct identity *row = &identities[i];
        if (row->op != node->n_op)
            continue;
        if (is_identity_constant(row, jy_graph_at(g, node->n_args[1])))
            return node->n_args[0];
        if (row->either_side && is_identity_constant(row, first))
            return node->n_args[1];
    }
    bool wraps = first != NULL && !jy_dtype_is_float((jy_dtype)first->n_dtype) && first->n_kind != JY_KIND_ARRAY;
    if (node->n_op == JY_OP_NEG && first->n_op == JY_OP_NEG && !wraps) /* the smallest int as a scalar warns */
        return first->n_args[0];
    if (node->n_op == JY_OP_POS || (node->n_op == JY_OP_CAST && first->n_dtype == node->n_dtype))
        return node->n_args[0];
    if (node->n_op == JY_OP_WHERE && is_constant(g, node->n_args[0]))
        return node->n_args[first->n_value.i != 0 ? 1 : 2];
    return JY_NO_REF;
}

static bool
is_replaceable(struct jy_graph *g, const struct jy_storages *storages, const struct jy_node *node,
               const struct jy_node *by)
{
    if (node->n_kind != by->n_kind || node->n_dtype != by->n_dtype || node->n_ndim != by->n_ndim ||
        !jy_node_same_block(node, by))
        return false;
    for (size_t d = 0; d < node->n_ndim; d++)
        if (!jy_sizes_same(&g->g_sizes, node->n_shape[d], by->n_shape[d]))
            return false;
    return node->n_storage == JY_NO_REF || (jy_storages_is_value(storages, node) && !storages->written[by->n_storage]);
}

/* The value of a scalar operation on constants, when computing it reports nothing. */
static bool
try_evaluate(union jy_scalar *out, const struct jy_graph *g, const struct jy_node *node)
{
    union jy_scalar args[3];
    uint32_t status = 0;
    uint8_t klass = jy_op_info[node->n_op].klass;
    if (node->n_kind == JY_KIND_ARRAY || (klass != JY_CLASS_EW && klass != JY_CLASS_CAST))
        return false;
    for (size_t i = 0; i < node->n_nargs; i++) {
        if (!is_constant(g, node->n_args[i]))
            return false;
        args[i] = jy_graph_at(g, node->n_args[i])->n_value;
    }
    jy_dtype operand = (jy_dtype)jy_graph_at(g, node->n_args[node->n_op == JY_OP_WHERE])->n_dtype;
    if (klass == JY_CLASS_EW && !jy_scalar_has((jy_op)node->n_op, operand))
        return false;
    fenv_t before;
    feholdexcept(&before);
    if (klass == JY_CLASS_CAST)
        *out = jy_scalar_cast(operand, (jy_dtype)node->n_dtype, args[0]);
    else
        *out = jy_scalar_apply((jy_op)node->n_op, operand, args, &status);
    bool silent = fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT) == 0;
    fesetenv(&before);
    return silent && status == 0;
}

static void
make_constant(struct jy_node *node, union jy_scalar value)
{
    node->n_op = JY_OP_CONSTANT;
    node->n_nargs = 0;
    node->n_args = NULL;
    node->n_value = value;
}

void
jy_pass_fold(struct jy_graph *graph)
{
    struct jy_rewrite rewrite = jy_rewrite_new(graph);
    struct jy_storages storages;
    struct jy_uses uses;
    jy_storages_fill(&storages, graph);
    jy_graph_fill_uses(&uses, graph);
    for (jy_ref r = 0; r < graph->g_nodes.n; r++) {
        jy_rewrite_operands(graph, &rewrite, r);
        struct jy_node *node = jy_graph_at(graph, r);
        union jy_scalar value;
        if (node->n_op == JY_OP_SIZE && jy_sizes_is_const(&graph->g_sizes, node->n_size, &value.i))
            make_constant(node, value);
        else if (node->n_nargs != 0 && try_evaluate(&value, graph, node))
            make_constant(node, value);
        jy_ref by = equal_operand(graph, node);
        if (by != JY_NO_REF && !uses.is_output[r] && is_replaceable(graph, &storages, node, jy_graph_at(graph, by)))
            jy_rewrite_replace(&rewrite, r, by);
    }
    jy_rewrite_finish(graph, &rewrite);
}
