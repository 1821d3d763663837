/* Lowering: loop nests of pointwise groups.
 *
 * Loops follow the memory order of the group's space. Axes are joined with the innermost one as long as every buffer of the nest is one line
 * along both, so that the common case is a single loop over the product of the extents; a joined axis is indexed through its innermost
 * axis, whose stride is the itemsize. The innermost loop is a vector loop, unless a fold stands in it.
 * 0-d operands are made available at the top level of the kernel before the loops open. */
#include "graph/lower.h"
#include <assert.h>
#include <string.h>

jy_lv
jy_lower_size(struct jy_lower *L, jy_sx size)
{
    int64_t value;
    if (jy_sizes_is_const(&L->g->g_sizes, size, &value))
        return jy_loop_int_const(&L->b, value);
    return jy_loop_size(&L->b, jy_lower_size_slot(L, size));
}

void
jy_lower_open_scope(struct jy_lower *L, struct jy_scope *s, size_t ndim)
{
    *s = (struct jy_scope){ .ndim = (uint8_t)ndim, .stamp = ++L->stamp };
}

void
jy_lower_access(struct jy_lower *L, struct jy_access *out, const struct jy_scope *s, uint32_t buffer)
{
    const struct jy_buffer *b = &L->plan->p_buffers.at[buffer];
    *out = (struct jy_access){ .buffer = buffer, .run_axis = -1 };
    assert(b->b_ndim <= s->ndim);
    size_t offset = s->ndim - b->b_ndim;
    for (size_t d = 0; d < b->b_ndim; d++) {
        if (b->b_shape[d] == 1)
            continue;
        for (size_t k = 0; k < s->index[offset + d].n; k++) {
            out->term[out->nterms].index = s->index[offset + d].lv[k];
            out->term[out->nterms++].axis = (uint8_t)d;
        }
    }
}

jy_lv
jy_lower_load(struct jy_lower *L, struct jy_scope *s, uint32_t buffer)
{
    for (size_t i = 0; i < s->loads.n; i++)
        if (s->loads.at[i].buffer == buffer)
            return s->loads.at[i].value;
    struct jy_access access;
    jy_lower_access(L, &access, s, buffer);
    jy_lv v = jy_loop_load(&L->b, (jy_dtype)L->plan->p_buffers.at[buffer].b_dtype, &access);
    struct jy_scope_load *load = jy_vec_push(L->arena, &s->loads);
    *load = (struct jy_scope_load){ buffer, v };
    return v;
}

/* Is the value of 0-d node `r` kept nowhere but in memory? */
static bool
lives_in_memory(const struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    uint8_t klass = jy_op_info[node->n_op].klass;
    if (klass == JY_CLASS_VIEW || klass == JY_CLASS_STORE || node->n_op == JY_OP_EMPTY)
        return true;
    return node->n_op == JY_OP_PLACEHOLDER ? node->n_kind == JY_KIND_ARRAY
                                           : L->node[r].memory && !L->node[r].slot_needed;
}

jy_lv
jy_lower_scalar(struct jy_lower *L, jy_ref r)
{
    if (jy_lower_class(L, r) == JY_CLASS_STORE && L->node[r].group == L->group)
        r = jy_lower_forward(L, r);
    const struct jy_node *node = jy_lower_at(L, r);
    struct jy_lnode *at = &L->node[r];
    if (node->n_op == JY_OP_CONSTANT)
        return jy_loop_const(&L->b, (jy_dtype)node->n_dtype, node->n_value);
    if (node->n_op == JY_OP_SIZE)
        return jy_lower_size(L, node->n_size);
    if (at->top_kernel == L->kernel)
        return at->top;
    if (!lives_in_memory(L, r))
        return jy_loop_scalar(&L->b, jy_lower_scalar_slot(L, r), (jy_dtype)node->n_dtype);
    if (at->value_stamp != L->group_stamp) {
        assert(L->b.depth == 0);
        struct jy_access access = { .buffer = jy_lower_buffer(L, r), .run_axis = -1 };
        at->value = jy_loop_load(&L->b, (jy_dtype)node->n_dtype, &access);
        at->value_stamp = L->group_stamp;
    }
    return at->value;
}

void
jy_lower_prepare(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    for (size_t i = 0; i < node->n_nargs; i++)
        if (jy_lower_at(L, node->n_args[i])->n_ndim == 0 && L->node[node->n_args[i]].group != L->group &&
            !(i == 0 && node->n_op == JY_OP_STORE))
            jy_lower_scalar(L, node->n_args[i]);
    if (jy_op_info[node->n_op].klass == JY_CLASS_REDUCE)
        for (jy_ref m = 0; m < r; m++)
            if (L->node[m].into == r)
                jy_lower_prepare(L, m);
}

jy_lv
jy_lower_operand(struct jy_lower *L, struct jy_scope *s, jy_ref r)
{
    if (jy_lower_class(L, r) == JY_CLASS_STORE && L->node[r].group == L->group)
        r = jy_lower_forward(L, r);
    if (jy_lower_at(L, r)->n_ndim == 0)
        return jy_lower_scalar(L, r);
    if (L->node[r].value_stamp == s->stamp)
        return L->node[r].value;
    return jy_lower_load(L, s, jy_lower_buffer(L, r));
}

/* Integers of NumPy scalars warn on overflow, Python's do not overflow: in both cases the original must be run. */
static bool
is_checked(const struct jy_lower *L, const struct jy_node *node)
{
    jy_dtype dtype = (jy_dtype)jy_lower_at(L, node->n_args[0])->n_dtype;
    return node->n_kind != JY_KIND_ARRAY && !jy_dtype_is_float(dtype) &&
           (jy_op_info[node->n_op].facts & JY_FACT_INT_FLAGS) != 0;
}

jy_lv
jy_lower_compute(struct jy_lower *L, struct jy_scope *s, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    jy_dtype dtype = (jy_dtype)node->n_dtype;
    jy_lv args[3] = { JY_NO_LV, JY_NO_LV, JY_NO_LV }, value;
    L->b.line = node->n_line;
    L->b.file = node->n_file;
    if (jy_lower_class(L, r) == JY_CLASS_TILE) {
        value = jy_lower_scalar_call(L, r);
    } else {
        for (size_t i = 0; i < node->n_nargs; i++)
            args[i] = jy_lower_operand(L, s, node->n_args[i]);
        if (L->node[r].vector)
            value = jy_loop_vcall(&L->b, jy_lower_loop(L, (jy_op)node->n_op, dtype), dtype, node->n_nargs, args);
        else if (jy_op_info[node->n_op].klass == JY_CLASS_EW)
            value = jy_loop_op(&L->b, (jy_op)node->n_op, dtype, node->n_nargs, args, is_checked(L, node));
        else
            value = jy_loop_at(&L->b, args[0])->l_dtype == dtype ? args[0] : jy_loop_cast(&L->b, dtype, args[0]);
    }
    L->node[r].value = value;
    L->node[r].value_stamp = s->stamp;
    return value;
}

jy_lv
jy_lower_folded(struct jy_lower *L, struct jy_scope *s, jy_ref r)
{
    for (jy_ref m = 0; m < r; m++)
        if (L->node[m].into == r)
            jy_lower_compute(L, s, m);
    return jy_lower_operand(L, s, jy_lower_at(L, r)->n_args[0]);
}

/* The operand's space: indices of the kept axes from the result's, none for the folded ones. */
static jy_lv
emit_fold(struct jy_lower *L, const struct jy_scope *s, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r), *x = jy_lower_at(L, node->n_args[0]);
    struct jy_scope wide;
    jy_lower_open_scope(L, &wide, x->n_ndim);
    for (size_t a = 0, d = 0; a < x->n_ndim; a++) {
        bool folded = node->n_axes >> a & 1;
        if (!folded)
            wide.index[a].n = s->index[d].n;
        if (!folded)
            memcpy(wide.index[a].lv, s->index[d].lv, sizeof wide.index[a].lv);
        d += !folded || node->n_keepdims;
    }
    return jy_lower_emit_run(L, &wide, r);
}

void
jy_lower_store_result(struct jy_lower *L, struct jy_scope *s, jy_ref r, jy_lv value)
{
    if (L->node[r].memory) {
        struct jy_access access;
        jy_lower_access(L, &access, s, jy_lower_buffer(L, r));
        jy_loop_store(&L->b, &access, value);
    }
    if (jy_lower_at(L, r)->n_ndim != 0)
        return;
    L->node[r].top = value;
    L->node[r].top_kernel = L->kernel;
    if (L->node[r].slot_needed)
        jy_loop_set_scalar(&L->b, jy_lower_scalar_slot(L, r), value);
}

/* A later STORE of the same group to the same elements makes this one invisible. */
static bool
is_overwritten(struct jy_lower *L, jy_ref r)
{
    const struct jy_group *g = &L->groups.at[L->group];
    for (size_t i = 0; i < g->members.n; i++) {
        jy_ref m = g->members.at[i];
        if (m > r && jy_lower_class(L, m) == JY_CLASS_STORE && jy_lower_region(L, m) == jy_lower_region(L, r))
            return true;
    }
    return false;
}

void
jy_lower_emit_member(struct jy_lower *L, struct jy_scope *s, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    L->b.line = node->n_line;
    L->b.file = node->n_file;
    if (node->n_op == JY_OP_STORE) {
        jy_lv value = jy_lower_operand(L, s, node->n_args[1]);
        struct jy_access access;
        jy_lower_access(L, &access, s, jy_lower_region(L, r));
        if (!is_overwritten(L, r))
            jy_loop_store(&L->b, &access, value);
        return;
    }
    jy_lv value;
    if (L->node[r].how == JY_HOW_RUN) {
        if (L->b.depth == 0)
            jy_lower_prepare(L, r); /* of a scalar nest, which has no loops to prepare before */
        value = emit_fold(L, s, r);
        L->node[r].value = value;
        L->node[r].value_stamp = s->stamp;
    } else {
        value = jy_lower_compute(L, s, r);
    }
    jy_lower_store_result(L, s, r, value);
}

/* Is `b` one line along `outer` and `inner`, `inner` being its innermost axis when `first`? */
static bool
joins(const struct jy_lower *L, const struct jy_group *g, uint32_t buffer, size_t outer, size_t inner, bool first)
{
    const struct jy_buffer *b = &L->plan->p_buffers.at[buffer];
    size_t offset = g->ndim - b->b_ndim;
    bool has_outer = outer >= offset && b->b_shape[outer - offset] != 1;
    bool has_inner = inner >= offset && b->b_shape[inner - offset] != 1;
    if (!has_outer || !has_inner)
        return has_outer == has_inner;
    if (!L->dense.at[buffer])
        return false;
    size_t last = JY_MAX_NDIM, before = JY_MAX_NDIM; /* innermost axis; the one outside of `inner` */
    for (size_t d = 0, previous = JY_MAX_NDIM; d < b->b_ndim; d++) {
        size_t axis = b->b_order[d];
        if (b->b_shape[axis] == 1)
            continue;
        if (axis == inner - offset)
            before = previous;
        last = previous = axis;
    }
    return before == outer - offset && (!first || last == inner - offset);
}

static bool
member_joins(struct jy_lower *L, const struct jy_group *g, jy_ref r, size_t outer, size_t inner, bool first)
{
    const struct jy_node *node = jy_lower_at(L, r);
    if (node->n_op == JY_OP_STORE && !joins(L, g, jy_lower_region(L, r), outer, inner, first))
        return false;
    if (L->node[r].memory && node->n_op != JY_OP_STORE && !joins(L, g, jy_lower_buffer(L, r), outer, inner, first))
        return false;
    for (size_t i = node->n_op == JY_OP_STORE; i < node->n_nargs; i++) {
        jy_ref o = node->n_args[i];
        if (jy_lower_class(L, o) == JY_CLASS_STORE && L->node[o].group == L->group)
            o = jy_lower_forward(L, o);
        if (jy_lower_at(L, o)->n_ndim == 0 || L->node[o].group == L->group)
            continue;
        if (!joins(L, g, jy_lower_buffer(L, o), outer, inner, first))
            return false;
    }
    return true;
}

void
jy_lower_loops(struct jy_lower *L, struct jy_nest *out, const struct jy_group *g, bool collapse)
{
    out->n = 0;
    for (size_t d = 0; d < g->naxes; d++)
        out->loop[out->n++] = (struct jy_nest_loop){ g->order[d], 1u << g->order[d], g->shape[g->order[d]] };
    for (bool first = true; collapse && out->n > 1; first = false) {
        struct jy_nest_loop *outer = &out->loop[out->n - 2], *inner = outer + 1;
        size_t outermost = g->order[g->naxes - (size_t)__builtin_popcount(inner->axes)];
        bool all = true;
        for (size_t i = 0; i < g->members.n && all; i++)
            all = member_joins(L, g, g->members.at[i], outer->axis, outermost, first);
        if (!all)
            return;
        outer->axis = inner->axis;
        outer->axes |= inner->axes;
        outer->extent = jy_sizes_binary(&L->g->g_sizes, JY_SX_MUL, outer->extent, inner->extent);
        out->n--;
    }
}

void
jy_lower_open_loops(struct jy_lower *L, struct jy_scope *s, const struct jy_nest *nest, bool vector)
{
    for (size_t i = 0; i < nest->n; i++) {
        jy_lv count = jy_lower_size(L, nest->loop[i].extent);
        size_t axis = nest->loop[i].axis;
        s->index[axis].lv[0] = jy_loop_for(&L->b, count, 1, vector && i == nest->n - 1);
        s->index[axis].n = 1;
    }
}

void
jy_lower_close_loops(struct jy_lower *L, const struct jy_nest *nest)
{
    for (size_t i = 0; i < nest->n; i++)
        jy_loop_end_for(&L->b);
}

void
jy_lower_emit_nest(struct jy_lower *L, struct jy_group *g)
{
    struct jy_nest nest;
    if (g->ndim != 0)
        for (size_t i = 0; i < g->members.n; i++)
            jy_lower_prepare(L, g->members.at[i]);
    jy_lower_loops(L, &nest, g, !g->folds);
    if (g->tiles && g->ndim != 0) {
        jy_lower_emit_tiles(L, g, &nest);
        return;
    }
    struct jy_scope s;
    jy_lower_open_scope(L, &s, g->ndim);
    jy_lower_open_loops(L, &s, &nest, !g->folds);
    for (size_t i = 0; i < g->members.n; i++)
        jy_lower_emit_member(L, &s, g->members.at[i]);
    jy_lower_close_loops(L, &nest);
}

static void
copy_loop(struct jy_lower *L, const struct jy_group *g, uint32_t from, uint32_t to)
{
    struct jy_nest nest;
    struct jy_scope s;
    struct jy_access access;
    jy_lower_loops(L, &nest, g, false);
    jy_lower_open_scope(L, &s, g->ndim);
    jy_lower_open_loops(L, &s, &nest, true);
    jy_lv value = jy_lower_load(L, &s, from);
    jy_lower_access(L, &access, &s, to);
    jy_loop_store(&L->b, &access, value);
    jy_lower_close_loops(L, &nest);
}

void
jy_lower_emit_copy(struct jy_lower *L, struct jy_group *g)
{
    jy_ref store = g->members.at[0], value = jy_lower_at(L, store)->n_args[1];
    uint32_t temp = jy_lower_temp_like(L, value);
    copy_loop(L, g, jy_lower_buffer(L, value), temp);
    copy_loop(L, g, temp, jy_lower_region(L, store));
}
