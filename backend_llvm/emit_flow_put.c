/* Which of the program's functions LLVM puts into others (always-inline), since a call costs more than they do:
 *
 *  - a short recursion, into itself (`again`): what a call costs, it costs that much less often;
 *  - a *part*, into all of its callers: it has neither a loop nor a call of a function, and with all of its copies it is
 *    no more code than a call of it is worth. Its caller is in a loop that asks for events, or is a function that has
 *    asked, and has the stack; so a part asks for neither. */
#include "emit_flow.h"
#include "graph/flow_analysis.h"

static size_t
count_values(const struct jy_flow *w)
{
    size_t n = 0;
    for (size_t b = 0; b < w->w_blocks.n; b++)
        n += w->w_blocks.at[b].f_params.n + w->w_blocks.at[b].f_body.n;
    return n;
}

/* Adds to each function in how many places of `w` it is called; gives how many calls of functions there are. */
static size_t
count_calls(const struct jy_flow *w, uint32_t *ncalls)
{
    size_t n = 0;
    for (size_t b = 0; b < w->w_blocks.n; b++) {
        const struct jy_fblock *block = &w->w_blocks.at[b];
        for (size_t k = 0; k < block->f_body.n; k++) {
            const struct jy_fvalue *v = jy_flow_at(w, block->f_body.at[k]);
            if (v->f_op != JY_FLOW_INVOKE)
                continue;
            ncalls[v->f_index]++;
            n++;
        }
    }
    return n;
}

/* How often a short recursion is put into itself. The innermost calls do little, so more than two levels gain nothing. */
unsigned
jy_flow_count_copies(const struct jy_flow *w, uint32_t number)
{
    enum { MOST_CALLS = 3, MOST_VALUES = 60, MOST_CODE = 140 }; /* taste */
    size_t ncalls = 0, nvalues = count_values(w);
    for (size_t b = 0; b < w->w_blocks.n; b++)
        for (size_t k = 0; k < w->w_blocks.at[b].f_body.n; k++) {
            const struct jy_fvalue *v = jy_flow_at(w, w->w_blocks.at[b].f_body.at[k]);
            ncalls += v->f_op == JY_FLOW_INVOKE && v->f_index == number;
        }
    if (ncalls == 0 || ncalls > MOST_CALLS || nvalues > MOST_VALUES)
        return 0;
    return nvalues * (1 + ncalls + ncalls * ncalls) <= MOST_CODE ? JY_FLOW_MOST_COPIES : 1;
}

/* No edge goes back. */
static bool
is_straight(const struct jy_flow *w)
{
    struct jy_flow_shape shape;
    jy_flow_shape_fill(&shape, w);
    for (size_t k = 0; k < shape.dom.n; k++) {
        const struct jy_fblock *block = &w->w_blocks.at[shape.dom.order[k]];
        for (size_t i = 0; i < jy_flow_nedges(block); i++)
            if (shape.dom.rank[block->f_edge[i].to] <= k)
                return false;
    }
    return true;
}

/* Marks the parts among the functions of `root`. */
void
jy_flow_find_parts(struct jy_emit *e, struct jy_flow_function *functions, const struct jy_flow *root)
{
    enum { MOST_CODE = 250 }; /* taste; in one place it costs nothing */
    size_t n = root->w_functions.n;
    uint32_t *ncalls = JY_NEW_ARRAY(e->arena, uint32_t, n + 1);
    size_t *own = JY_NEW_ARRAY(e->arena, size_t, n + 1);
    for (size_t k = 0; k <= n; k++)
        own[k] = count_calls(k < n ? root->w_functions.at[k] : root, ncalls);
    for (size_t k = 0; k < n; k++) {
        const struct jy_flow *w = root->w_functions.at[k];
        bool is_little = ncalls[k] == 1 || ncalls[k] * count_values(w) <= MOST_CODE;
        functions[k].is_part = ncalls[k] > 0 && own[k] == 0 && is_little && !w->w_is_piece && is_straight(w);
    }
}
