/* Stress: exits that nothing asks for. In front of whatever may exit stands a question to the helper `exit_due`, with the same exit; where it says so, the flow is left although the fast case holds.
 * An exit stands before its instruction, which the interpreter performs then, so nobody can tell but by the clock: what an exit forgets or does twice shows. */
#include "graph/flow_helper.h"

static void
force_one(struct jy_flow *w)
{
    struct jy_flow_helper row;
    if (!jy_flow_helper_row(&row, "exit_due"))
        return;
    uint32_t helper = jy_flow_helper_add(w, &row);
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        size_t n = w->w_blocks.at[b].f_body.n;
        jy_fv *body = JY_NEW_ARRAY(w->w_arena, jy_fv, n + 1);
        for (size_t k = 0; k < n; k++)
            body[k] = w->w_blocks.at[b].f_body.at[k];
        w->w_blocks.at[b].f_body.n = 0;
        for (size_t k = 0; k < n; k++) {
            uint32_t exit = jy_flow_at(w, body[k])->f_exit;
            w->w_line = jy_flow_at(w, body[k])->f_line;
            if (exit != JY_NO_EXIT)
                jy_flow_ask(w, b, helper, 0, NULL, exit);
            *jy_vec_push(w->w_arena, &w->w_blocks.at[b].f_body) = body[k];
        }
    }
}

void
jy_flow_force(struct jy_flow *w)
{
    force_one(w);
    for (size_t k = 0; k < w->w_functions.n; k++)
        force_one(w->w_functions.at[k]);
}
