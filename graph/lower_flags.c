/* Lowering: which operations can raise a floating-point flag or ask for the original to be run (JY_CALL_RERUN). */
#include "graph/lower.h"

/* Integer division is the one integer operation on arrays that reports: by zero, and the lowest value by -1. */
static bool
divides(jy_op op)
{
    return op == JY_OP_FLOOR_DIVIDE || op == JY_OP_REMAINDER || op == JY_OP_FMOD;
}

static bool
is_safe_divisor(const struct jy_node *node)
{
    return node->n_op == JY_OP_CONSTANT && node->n_value.i != 0 && node->n_value.i != -1;
}

/* Loses range: NaN, infinities and large values to integers, large values to float32. */
static bool
narrows(jy_dtype from, jy_dtype to)
{
    if (!jy_dtype_is_float(from))
        return false;
    return !jy_dtype_is_float(to) ? to != JY_BOOL : from == JY_F64 && to == JY_F32;
}

bool
jy_lower_may_flag(const struct jy_graph *g, const struct jy_node *node)
{
    uint8_t facts = jy_op_info[node->n_op].facts;
    if (node->n_nargs == 0 || (facts & (JY_FACT_FLAGS | JY_FACT_INT_FLAGS)) == 0)
        return false;
    const struct jy_node *last = jy_graph_at(g, node->n_args[node->n_nargs - 1]);
    jy_dtype dtype = (jy_dtype)last->n_dtype;
    if (node->n_op == JY_OP_CAST)
        return narrows(dtype, (jy_dtype)node->n_dtype);
    if (jy_dtype_is_float(dtype))
        return (facts & JY_FACT_FLAGS) != 0;
    if ((facts & JY_FACT_INT_FLAGS) == 0 || dtype == JY_BOOL)
        return false;
    return divides((jy_op)node->n_op) ? !is_safe_divisor(last) : node->n_kind != JY_KIND_ARRAY;
}

void
jy_lower_count_flags(struct jy_lower *L)
{
    struct jy_plan *plan = L->plan;
    plan->p_flag_node = JY_NO_REF;
    for (jy_ref r = 0; r < L->g->g_nodes.n; r++) {
        if (!L->node[r].live || !jy_lower_may_flag(L->g, jy_lower_at(L, r)))
            continue;
        plan->p_flag_node = plan->p_flag_nodes == 0 ? r : JY_NO_REF;
        plan->p_flag_nodes++;
    }
    plan->p_may_flag = plan->p_flag_nodes != 0;
}
