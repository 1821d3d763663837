/* Who needs the GIL? A run does not where whatever it reads and writes is its own:
 *
 *     inputs: numbers, ranges, addresses that are only handed on  ->  registers, SCRATCH  ->  values of an exit
 *
 *  1. LOAD and STORE are of SCRATCH, which is the run's own: nothing that anybody else knows is written. What is read beside that are numbers and bytes of an object that came in, who runs the flow sees to it that
 *     it never changes. Memory that the run allocates for lists would do as well; but the run is left for others at regular times, and those lists would be objects then.
 *  2. Helpers say in their row that they need none.
 *  3. No function calls itself, on whatever way: all frames are rebuilt when the run is left.
 *  4. Rounds of a prange are given to the threads of the process by one run at a time. */
#include "graph/flow_helper.h"

static const char *
why_input(const struct jy_flow_input *in)
{
    switch ((enum jy_flow_input_kind)in->kind) {
    case JY_FLOW_IN_NUMBER:
    case JY_FLOW_IN_RANGE:
    case JY_FLOW_IN_ARG:
    case JY_FLOW_IN_OBJECT:
    case JY_FLOW_IN_CONST_OBJECT:
        break;
    case JY_FLOW_IN_DATA:
    case JY_FLOW_IN_EXTENT:
    case JY_FLOW_IN_STRIDE:
        return "an array comes in, which others may reach";
    case JY_FLOW_IN_NATIVE:
    case JY_FLOW_IN_INDEX:
        return "a list comes in, which others may reach";
    case JY_FLOW_IN_BITGEN:
    case JY_FLOW_IN_CONST_BITGEN:
        return "it draws random numbers";
    }
    return NULL;
}

static bool
is_own(const struct jy_flow *w, jy_fv pointer)
{
    const struct jy_fvalue *v = jy_flow_at(w, pointer);
    while (v->f_op == JY_FLOW_OFFSET)
        v = jy_flow_at(w, v->f_args[0]);
    return v->f_op == JY_FLOW_SCRATCH;
}

/* Neither a pointer to something else, nor a count of references. */
static bool
reads_object(const struct jy_flow *w, const struct jy_fvalue *v)
{
    const struct jy_fvalue *pointer = jy_flow_at(w, v->f_args[0]);
    return v->f_op == JY_FLOW_LOAD && (v->f_type == JY_F_F64 || v->f_type == JY_F_F32 || v->f_type == JY_F_I8) &&
           pointer->f_op == JY_FLOW_INPUT && w->w_inputs.at[pointer->f_index].kind == JY_FLOW_IN_OBJECT;
}

bool
jy_flow_reads_object(const struct jy_flow *root, uint32_t number)
{
    const struct jy_flow *w;
    for (size_t p = 0; (w = jy_flow_part(root, p)) != NULL; p++)
        for (size_t k = 0; k < w->w_values.n; k++) {
            const struct jy_fvalue *v = &w->w_values.at[k];
            if (v->f_op == JY_FLOW_LOAD && reads_object(w, v) &&
                w->w_inputs.at[jy_flow_at(w, v->f_args[0])->f_index].number == number)
                return true;
        }
    return false;
}

static const char *
why_call(const struct jy_flow *w, const struct jy_flow_helper *helper)
{
    bool needs_none = jy_flow_helper_needs_no_gil(helper) && helper->type != JY_F_PTR;
    for (size_t k = 0; k < helper->nargs; k++)
        needs_none &= helper->args[k] != JY_F_PTR;
    return needs_none ? NULL : jy_arena_printf(w->w_arena, "it calls %s", helper->name);
}

static const char *
why_value(const struct jy_flow *w, const struct jy_fvalue *v)
{
    if (v->f_op == JY_FLOW_SPREAD)
        return "it has a loop over prange";
    if ((v->f_op == JY_FLOW_LOAD || v->f_op == JY_FLOW_STORE) && !is_own(w, v->f_args[0]) && !reads_object(w, v))
        return "it works on memory that others may reach";
    return v->f_op == JY_FLOW_CALL ? why_call(w, &w->w_helpers.at[v->f_index]) : NULL;
}

static const char *
why_part(const struct jy_flow *w)
{
    const char *why = NULL;
    for (size_t k = 0; k < w->w_inputs.n && why == NULL; k++)
        why = why_input(&w->w_inputs.at[k]);
    for (size_t k = 0; k < w->w_values.n && why == NULL; k++)
        why = why_value(w, &w->w_values.at[k]);
    return why;
}

/* Functions that call others which are done already are done; who is left in the end calls itself. */
static bool
has_recursion(const struct jy_flow *root)
{
    size_t n = root->w_functions.n, left = n;
    bool *done = JY_NEW_ARRAY(root->w_arena, bool, n + 1), again = true;
    while (again && left != 0) {
        again = false;
        for (size_t k = 0; k < n; k++) {
            const struct jy_flow *w = root->w_functions.at[k];
            bool ready = !done[k];
            for (size_t i = 0; i < w->w_values.n && ready; i++)
                ready = w->w_values.at[i].f_op != JY_FLOW_INVOKE || done[w->w_values.at[i].f_index];
            done[k] |= ready;
            left -= ready;
            again |= ready;
        }
    }
    return left != 0;
}

const char *
jy_flow_why_locked(const struct jy_flow *root)
{
    const struct jy_flow *w;
    const char *why = has_recursion(root) ? "a function calls itself" : NULL;
    for (size_t p = 0; why == NULL && (w = jy_flow_part(root, p)) != NULL; p++)
        why = why_part(w);
    return why;
}
