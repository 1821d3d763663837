/* Where machine code puts what its exits name. The interpreter of flows writes the values of an exit in their order; machine code gives each value a slot of its own instead, the same at
 * every exit. So exits that name the same values share the code that stores them, and constants and inputs are not stored (and kept in registers) at all: jy_flow_gather knows them. */
#include "graph/flow.h"

/* Does call->in have it? Arguments of a function do not stand there. */
static bool
is_kept(const struct jy_flow *w, const struct jy_fvalue *v)
{
    return v->f_op == JY_FLOW_INPUT && w->w_inputs.at[v->f_index].kind != JY_FLOW_IN_ARG;
}

static bool
needs_slot(const struct jy_flow *w, const struct jy_fvalue *v)
{
    return v->f_op != JY_FLOW_CONST && !is_kept(w, v);
}

size_t
jy_flow_slots(const struct jy_flow *w, uint32_t *slot)
{
    size_t n = 0;
    for (size_t v = 0; v < w->w_values.n; v++)
        slot[v] = JY_NO_SLOT;
    for (size_t x = 0; x < w->w_exits.n; x++) {
        const struct jy_flow_exit *exit = &w->w_exits.at[x];
        if (w->w_root != NULL && exit->x_kind == JY_EXIT_RETURN) /* in a register */
            continue;
        for (size_t k = 0; k < exit->x_values.n; k++) {
            jy_fv v = exit->x_values.at[k];
            if (slot[v] == JY_NO_SLOT && needs_slot(w, jy_flow_at(w, v)))
                slot[v] = (uint32_t)n++;
        }
    }
    return n;
}

void
jy_flow_gather(union jy_scalar *out, const struct jy_flow *w, uint32_t exit, const uint32_t *slot,
               const struct jy_flow_call *call)
{
    const struct jy_flow_exit *x = &w->w_exits.at[exit];
    size_t first = jy_flow_first_input(w);
    for (size_t k = 0; k < x->x_values.n; k++) {
        const struct jy_fvalue *v = jy_flow_at(w, x->x_values.at[k]);
        if (v->f_op == JY_FLOW_CONST)
            out[k] = v->f_value;
        else
            out[k] = is_kept(w, v) ? call->in[first + v->f_index] : call->out[slot[x->x_values.at[k]]];
    }
}
