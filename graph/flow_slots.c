/* Where machine code puts what its exits name. The interpreter of flows writes the values of an exit in their order; machine code gives each value a slot of its own instead, the same at
 * every exit. So exits that name the same values share the code that stores them, and constants and inputs are not stored (and kept in registers) at all: jy_flow_gather knows them.
 * Nor is a number stored that is another one plus a constant, where the exit names that, too: loops are left with their index and the next one, which would be two registers through every round. */
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

/* v = base + *more, whatever the round; JY_NO_FV: it is no such sum. */
static jy_fv
base_of(const struct jy_flow *w, jy_fv v, int64_t *more)
{
    const struct jy_fvalue *value = jy_flow_at(w, v);
    bool adds = value->f_op == JY_FLOW_ADD, subtracts = value->f_op == JY_FLOW_SUB;
    if (value->f_type != JY_F_I64 || (!adds && !subtracts))
        return JY_NO_FV;
    const struct jy_fvalue *a = jy_flow_at(w, value->f_args[0]), *b = jy_flow_at(w, value->f_args[1]);
    if (b->f_op == JY_FLOW_CONST) {
        *more = adds ? b->f_value.i : (int64_t)(0 - (uint64_t)b->f_value.i);
        return value->f_args[0];
    }
    *more = a->f_value.i;
    return adds && a->f_op == JY_FLOW_CONST ? value->f_args[1] : JY_NO_FV;
}

static bool
names(const struct jy_flow_exit *x, jy_fv v)
{
    for (size_t k = 0; k < x->x_values.n; k++)
        if (x->x_values.at[k] == v)
            return true;
    return false;
}

bool
jy_flow_is_stored(const struct jy_flow *w, const struct jy_flow_exit *x, jy_fv v)
{
    int64_t more;
    jy_fv base = base_of(w, v, &more);
    return needs_slot(w, jy_flow_at(w, v)) &&
           (base == JY_NO_FV || (needs_slot(w, jy_flow_at(w, base)) && !names(x, base)));
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
            if (slot[v] == JY_NO_SLOT && jy_flow_is_stored(w, exit, v))
                slot[v] = (uint32_t)n++;
        }
    }
    return n;
}

static union jy_scalar
value_at(const struct jy_flow *w, const struct jy_flow_exit *x, jy_fv v, const uint32_t *slot,
         const struct jy_flow_call *call)
{
    const struct jy_fvalue *value = jy_flow_at(w, v);
    int64_t more;
    if (value->f_op == JY_FLOW_CONST)
        return value->f_value;
    if (is_kept(w, value))
        return call->in[jy_flow_first_input(w) + value->f_index];
    if (jy_flow_is_stored(w, x, v))
        return call->out[slot[v]];
    jy_fv base = base_of(w, v, &more);
    union jy_scalar sum = value_at(w, x, base, slot, call);
    sum.i = (int64_t)((uint64_t)sum.i + (uint64_t)more);
    return sum;
}

void
jy_flow_gather(union jy_scalar *out, const struct jy_flow *w, uint32_t exit, const uint32_t *slot,
               const struct jy_flow_call *call)
{
    const struct jy_flow_exit *x = &w->w_exits.at[exit];
    for (size_t k = 0; k < x->x_values.n; k++)
        out[k] = value_at(w, x, x->x_values.at[k], slot, call);
}
