/* Can a run be thrown away? Nobody can tell that there was one where all it has changed goes with it:
 *
 *  1. STORE is to SCRATCH, or to memory of the run's own: native lists (those that came in are copies until the run is left), arrays that are no objects yet.
 *  2. Helpers change nothing else, by the letters of their row. Counts of references (`c`) are those that new objects hold, which go too.
 *
 * So the loop is the interpreter's from its beginning when there is no memory for the objects of an exit: what that raises is raised where it should be, in a frame. */
#include <string.h>
#include "graph/flow_helper.h"

/* Letters of flow_helpers.def. */
#define OWN_MEMORY "hmtouc"

static bool
is_own(const struct jy_flow *w, const struct jy_fvalue *store)
{
    const struct jy_fvalue *v = jy_flow_at(w, store->f_args[0]);
    while (v->f_op == JY_FLOW_OFFSET)
        v = jy_flow_at(w, v->f_args[0]);
    return v->f_op == JY_FLOW_SCRATCH || (store->f_alias != 0 && (w->w_alias_own >> store->f_alias & 1) != 0);
}

static bool
changes_own(const struct jy_flow_helper *helper)
{
    const char *changes = jy_flow_helper_changes(helper->name);
    return helper->pure || (*changes != '\0' && changes[strspn(changes, OWN_MEMORY)] == '\0');
}

static bool
is_part_undone(const struct jy_flow *w)
{
    for (size_t k = 0; k < w->w_values.n; k++) {
        const struct jy_fvalue *v = &w->w_values.at[k];
        if ((v->f_op == JY_FLOW_STORE && !is_own(w, v)) ||
            (v->f_op == JY_FLOW_CALL && !changes_own(&w->w_helpers.at[v->f_index])))
            return false;
    }
    return true;
}

bool
jy_flow_is_undone(const struct jy_flow *root)
{
    const struct jy_flow *w;
    for (size_t p = 0; (w = jy_flow_part(root, p)) != NULL; p++)
        if (!is_part_undone(w))
            return false;
    return true;
}
