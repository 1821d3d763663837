/* Lowering: which nodes share a loop nest.
 *
 * Groups stand in the order in which they run. Every node joins the first group it may join: its space is the group's, and whatever it reads
 * is complete before, or is computed in the same iteration of the same group. Then, from the last node to the first,
 * nodes move later to the group of their first reader, so that a value waits in a register and not in memory.
 *
 * Effects. A STORE comes after everything that reads or writes an older version of its storage; it may share a nest with readers of
 * exactly the elements it writes (the same buffer: each element is read before it is written). A CALLOUT is a fence: nothing moves across.
 * Folds over inner axes (HOW_RUN) are members of a nest over the result's space; a nest with folds takes only what depends on them,
 * and a nest holds folds or tiled calls, not both. */
#include "graph/lower.h"
#include <string.h>

/* The array whose shape and memory order are those of the space of `r`. */
static jy_ref
space_of(const struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    if (node->n_op != JY_OP_STORE)
        return r;
    jy_ref value = node->n_args[1];
    bool is_whole = node->n_view == NULL && !jy_lower_same_shape(L, r, value);
    return is_whole ? r : value;
}

static void
fill_space(const struct jy_lower *L, struct jy_group *g, jy_ref r)
{
    jy_ref space = space_of(L, r);
    const struct jy_node *node = jy_lower_at(L, space);
    g->ndim = node->n_ndim;
    for (size_t d = 0; d < g->ndim; d++)
        g->shape[d] = jy_sizes_canonical(&L->g->g_sizes, node->n_shape[d]);
    g->naxes = (uint8_t)jy_lower_axes_of(L, space, g->order);
}

bool
jy_lower_fits(const struct jy_lower *L, const struct jy_group *g, jy_ref r)
{
    struct jy_group own = { 0 };
    if (g->kind != JY_GROUP_NEST)
        return false;
    fill_space(L, &own, r);
    return own.ndim == g->ndim && own.naxes == g->naxes && memcmp(own.shape, g->shape, g->ndim * sizeof(jy_sx)) == 0 &&
           memcmp(own.order, g->order, g->naxes) == 0;
}

static bool
is_run(const struct jy_lower *L, jy_ref r)
{
    return L->node[r].how == JY_HOW_RUN;
}

/* Does `r` have a value in the iterations of its group? */
static bool
has_value(const struct jy_lower *L, jy_ref r)
{
    if (jy_lower_class(L, r) == JY_CLASS_STORE)
        return jy_lower_forward(L, r) != r;
    return L->node[r].into == JY_NO_REF && L->node[r].group != JY_NONE && (jy_lower_is_pointwise(L, r) || is_run(L, r));
}

/* May `r`, whose operand `o` this is, read it within group `g` as a value? */
static bool
can_share(const struct jy_lower *L, const struct jy_group *g, jy_ref r, jy_ref o)
{
    return !is_run(L, r) && has_value(L, o) && jy_lower_fits(L, g, r) && jy_lower_fits(L, g, o);
}

static uint32_t
after_operand(const struct jy_lower *L, jy_ref r, jy_ref o)
{
    jy_ref owner = jy_lower_owner(L, o);
    uint32_t group = L->node[owner].group;
    if (group == JY_NONE)
        return 0;
    return owner == o && can_share(L, &L->groups.at[group], r, o) ? group : group + 1;
}

static void
raise_to(uint32_t *level, uint32_t at_least)
{
    if (*level < at_least)
        *level = at_least;
}

/* The node that stands for `r` in the list of groups. */
static jy_ref
stands_for(const struct jy_lower *L, jy_ref r)
{
    return L->node[r].into == JY_NO_REF ? r : L->node[r].into;
}

/* Does `m` read its operands element by element in its group, so that a STORE to the same elements may follow in the same iteration? */
static bool
reads_in_place(const struct jy_lower *L, jy_ref m)
{
    return L->node[m].into == JY_NO_REF && (jy_lower_is_pointwise(L, m) || jy_lower_class(L, m) == JY_CLASS_STORE);
}

/* The first group in which STORE `s` may be, given an earlier reader or writer `m` of the same storage. */
static uint32_t
after_access(struct jy_lower *L, jy_ref s, jy_ref m)
{
    uint32_t group = L->node[stands_for(L, m)].group, level = 0;
    const struct jy_node *node = jy_lower_at(L, m);
    jy_ref storage = jy_lower_at(L, s)->n_storage;
    if (group == JY_NONE)
        return 0;
    for (size_t i = 0; i < node->n_nargs; i++) {
        jy_ref o = node->n_args[i];
        if (jy_lower_at(L, o)->n_kind != JY_KIND_ARRAY || jy_lower_at(L, o)->n_storage != storage)
            continue;
        bool is_base = i == 0 && node->n_op == JY_OP_STORE;
        bool same = reads_in_place(L, m) && jy_lower_fits(L, &L->groups.at[group], s);
        if (same && is_base)
            same = jy_lower_region(L, m) == jy_lower_region(L, s);
        else if (same && jy_lower_at(L, o)->n_ndim != 0 && L->node[jy_lower_owner(L, o)].group != group)
            same = jy_lower_buffer(L, o) == jy_lower_region(L, s); /* 0-d operands are read before the loops begin */
        raise_to(&level, same ? group : group + 1);
    }
    return level;
}

static uint32_t
earliest(struct jy_lower *L, jy_ref r, uint32_t fence)
{
    const struct jy_node *node = jy_lower_at(L, r);
    uint32_t level = fence;
    for (size_t i = 0; i < node->n_nargs; i++) {
        if (node->n_op == JY_OP_STORE && i == 0)
            continue; /* previous writers: below */
        if (L->node[node->n_args[i]].into != r)
            raise_to(&level, after_operand(L, r, node->n_args[i]));
    }
    if (jy_op_info[node->n_op].klass == JY_CLASS_REDUCE)
        for (jy_ref m = 0; m < r; m++)
            if (L->node[m].into == r)
                for (size_t i = 0; i < jy_lower_at(L, m)->n_nargs; i++)
                    if (L->node[jy_lower_at(L, m)->n_args[i]].into != r)
                        raise_to(&level, after_operand(L, r, jy_lower_at(L, m)->n_args[i]));
    if (node->n_op == JY_OP_STORE) {
        uint32_t creator = L->node[node->n_storage].group;
        raise_to(&level, creator == JY_NONE ? 0 : creator + 1);
        for (jy_ref m = 0; m < r; m++)
            if (L->node[m].live)
                raise_to(&level, after_access(L, r, m));
    }
    return level;
}

/* May `r` be a member of group number `k` as far as the kinds of loops go? */
static bool
mixes(const struct jy_lower *L, uint32_t k, jy_ref r)
{
    const struct jy_group *g = &L->groups.at[k];
    if (!jy_lower_fits(L, g, r))
        return false;
    if (g->naxes == 0)
        return true;
    if (is_run(L, r))
        return g->folds;
    if (!g->folds)
        return true;
    if (jy_lower_class(L, r) == JY_CLASS_TILE)
        return false;
    const struct jy_node *node = jy_lower_at(L, r);
    for (size_t i = 0; i < node->n_nargs; i++)
        if (L->node[node->n_args[i]].group == k && has_value(L, node->n_args[i]))
            return true;
    return false;
}

/* A STORE whose value is a view of the memory it writes, but not of the same elements. */
static bool
overlaps_itself(struct jy_lower *L, jy_ref s)
{
    jy_ref value = jy_lower_at(L, s)->n_args[1];
    const struct jy_node *node = jy_lower_at(L, value);
    return node->n_kind == JY_KIND_ARRAY && node->n_ndim != 0 && node->n_storage == jy_lower_at(L, s)->n_storage &&
           jy_lower_buffer(L, value) != jy_lower_region(L, s);
}

static uint32_t
new_group(struct jy_lower *L, enum jy_group_kind kind, jy_ref r)
{
    struct jy_group *g = jy_vec_push(L->arena, &L->groups);
    *g = (struct jy_group){ .kind = (uint8_t)kind };
    fill_space(L, g, r);
    g->folds = is_run(L, r) && g->naxes != 0;
    return (uint32_t)L->groups.n - 1;
}

static void
place(struct jy_lower *L, jy_ref r, uint32_t *fence)
{
    uint8_t klass = jy_lower_class(L, r), how = L->node[r].how;
    uint32_t *group = &L->node[r].group;
    if (klass == JY_CLASS_LINALG || klass == JY_CLASS_CALL || how == JY_HOW_CALL || how == JY_HOW_ROWS) {
        *group = new_group(L, how == JY_HOW_ROWS ? JY_GROUP_ROWS : JY_GROUP_STEP, r);
        if (klass == JY_CLASS_CALL)
            *fence = *group + 1;
        return;
    }
    if (!jy_lower_is_pointwise(L, r) && klass != JY_CLASS_STORE && how != JY_HOW_RUN)
        return;
    if (klass == JY_CLASS_STORE && overlaps_itself(L, r)) {
        jy_lower_note(L, "%%%u goes through a temporary: it reads other elements of what it writes", r);
        *group = new_group(L, JY_GROUP_COPY, r);
        return;
    }
    for (uint32_t k = earliest(L, r, *fence); k < L->groups.n; k++)
        if (mixes(L, k, r)) {
            *group = k;
            return;
        }
    *group = new_group(L, JY_GROUP_NEST, r);
}

/* The last group in which `r` may still read what it reads: before the STOREs that overwrite it and before the next call-out. */
static uint32_t
latest(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    uint32_t level = UINT32_MAX;
    for (jy_ref s = r + 1; s < L->g->g_nodes.n; s++) {
        uint8_t klass = jy_lower_class(L, s);
        if (klass != JY_CLASS_CALL && klass != JY_CLASS_STORE)
            continue;
        bool reads = klass == JY_CLASS_CALL;
        for (size_t i = 0; i < node->n_nargs; i++)
            reads |= jy_lower_at(L, node->n_args[i])->n_kind == JY_KIND_ARRAY &&
                     jy_lower_at(L, node->n_args[i])->n_storage == jy_lower_at(L, s)->n_storage;
        reads |= jy_lower_at(L, s)->n_storage == r;
        uint32_t before = L->node[s].group == 0 ? 0 : L->node[s].group - 1;
        if (reads && before < level)
            level = before;
    }
    return level;
}

static void
sink(struct jy_lower *L, jy_ref r)
{
    if (!jy_lower_is_pointwise(L, r) || L->node[r].into != JY_NO_REF || L->node[r].group == JY_NONE ||
        jy_lower_at(L, r)->n_ndim == 0)
        return;
    uint32_t first = UINT32_MAX;
    bool shares = false;
    for (uint32_t i = L->uses.first[r]; i < L->uses.first[r + 1]; i++) {
        jy_ref user = stands_for(L, L->uses.uses[i]);
        if (!L->node[user].live)
            continue;
        uint32_t group = L->node[user].group;
        if (group == JY_NONE)
            return; /* a view: read as memory by somebody else */
        bool is_value = L->node[L->uses.uses[i]].into == JY_NO_REF && !is_run(L, user) &&
                        !(jy_lower_class(L, user) == JY_CLASS_STORE && jy_lower_at(L, user)->n_args[0] == r);
        if (group < first || (group == first && is_value)) {
            first = group;
            shares = is_value;
        }
    }
    if (first == UINT32_MAX || first <= L->node[r].group || !shares || first > latest(L, r))
        return;
    const struct jy_group *g = &L->groups.at[first];
    if (!jy_lower_fits(L, g, r) || (g->folds && g->naxes != 0))
        return;
    jy_lower_note(L, "%%%u moved to the nest of its reader", r);
    L->node[r].group = first;
}

jy_status
jy_lower_group(struct jy_lower *L)
{
    uint32_t fence = 0, kernel = 0;
    size_t n = L->g->g_nodes.n;
    for (jy_ref r = 0; r < n; r++)
        if (L->node[r].live && L->node[r].into == JY_NO_REF)
            place(L, r, &fence);
    for (jy_ref r = (jy_ref)n; r-- > 0;)
        if (L->node[r].live)
            sink(L, r);
    for (jy_ref r = 0; r < n; r++)
        if (L->node[r].group != JY_NONE) {
            struct jy_group *g = &L->groups.at[L->node[r].group];
            g->tiles |= jy_lower_class(L, r) == JY_CLASS_TILE;
            if (g->members.n > 0 && g->ndim > 0)
                jy_lower_note(L, "%%%u fused with %%%u", r, g->members.at[0]);
            *jy_vec_push(L->arena, &g->members) = r;
        }
    for (size_t k = 0; k < L->groups.n; k++) {
        kernel += L->groups.at[k].kind == JY_GROUP_STEP;
        L->groups.at[k].kernel = kernel;
        kernel += L->groups.at[k].kind == JY_GROUP_STEP;
    }
    return JY_OK;
}
