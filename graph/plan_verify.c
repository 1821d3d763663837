/* A plan is sound when every number in it names something that exists, dtypes meet, and its kernels obey the rules of the loop IR. */
#include "graph/loop_text.h"

static const char *
bad(const struct jy_plan *plan, const char *what, size_t i, const char *why)
{
    return jy_arena_printf(plan->p_arena, "%s %zu: %s", what, i, why);
}

static bool
is_place(const struct jy_plan *plan, struct jy_place p)
{
    return p.index < (p.scalar ? plan->p_scalars.n : plan->p_buffers.n);
}

static const char *
verify_buffer(const struct jy_plan *plan, size_t i)
{
    const struct jy_buffer *b = &plan->p_buffers.at[i];
    if (b->b_dtype >= JY_DTYPE_COUNT || b->b_ndim > JY_MAX_NDIM || b->b_unit_axis >= (int)b->b_ndim)
        return bad(plan, "buffer", i, "no such dtype or axis");
    uint32_t axes = 0;
    for (size_t d = 0; d < b->b_ndim && b->b_order[d] < b->b_ndim; d++)
        axes |= 1u << b->b_order[d];
    if (axes != (1u << b->b_ndim) - 1)
        return bad(plan, "buffer", i, "the order does not name every axis once");
    if (b->b_kind == JY_BUFFER_VIEW) {
        if (b->b_index >= i)
            return bad(plan, "buffer", i, "a view of a later buffer");
        const struct jy_buffer *base = &plan->p_buffers.at[b->b_index];
        if (base->b_dtype != b->b_dtype)
            return bad(plan, "buffer", i, "a view with another dtype than its base");
        if (b->b_view != NULL && (b->b_view->ndim != b->b_ndim || b->b_view->source_ndim != base->b_ndim))
            return bad(plan, "buffer", i, "the index map has another number of axes");
        for (size_t d = 0; b->b_view != NULL && d < b->b_ndim; d++)
            if (b->b_view->axis[d] >= (int)base->b_ndim)
                return bad(plan, "buffer", i, "the index map names an axis that the base does not have");
    }
    if (b->b_kind == JY_BUFFER_INPUT && b->b_index >= plan->p_inputs.n)
        return bad(plan, "buffer", i, "no such input");
    if (b->b_kind == JY_BUFFER_OBJECT && b->b_index >= plan->p_steps.n)
        return bad(plan, "buffer", i, "no such step");
    if (b->b_kind == JY_BUFFER_TILE &&
        ((size_t)b->b_tile > plan->p_tile_bytes || /* or negative */
         b->b_index + (size_t)b->b_tile * jy_dtype_info[b->b_dtype].bytes > plan->p_tile_bytes))
        return bad(plan, "buffer", i, "beyond the memory for tiles");
    return NULL;
}

static const char *
verify_step(const struct jy_plan *plan, size_t i)
{
    const struct jy_step *s = &plan->p_steps.at[i];
    if (s->s_kind == JY_STEP_KERNEL)
        return s->s_kernel < plan->p_kernels.n ? NULL : bad(plan, "step", i, "no such kernel");
    for (size_t k = 0; k < s->s_nargs; k++)
        if (!is_place(plan, s->s_args[k]))
            return bad(plan, "step", i, "an operand that does not exist");
    if (!is_place(plan, s->s_out))
        return bad(plan, "step", i, "a result that does not exist");
    return NULL;
}

static const char *
verify_ends(const struct jy_plan *plan)
{
    for (size_t i = 0; i < plan->p_inputs.n; i++)
        if (!is_place(plan, plan->p_inputs.at[i]))
            return bad(plan, "input", i, "no such place");
    for (size_t i = 0; i < plan->p_outputs.n; i++) {
        const struct jy_plan_output *o = &plan->p_outputs.at[i];
        if (!is_place(plan, o->place))
            return bad(plan, "output", i, "no such place");
        uint8_t dtype =
            o->place.scalar ? plan->p_scalars.at[o->place.index].dtype : plan->p_buffers.at[o->place.index].b_dtype;
        if (dtype != o->dtype)
            return bad(plan, "output", i, "another dtype than its place has");
        if (!o->place.scalar && plan->p_buffers.at[o->place.index].b_kind == JY_BUFFER_TEMP)
            return bad(plan, "output", i, "scratch is handed out");
    }
    for (size_t i = 0; i < plan->p_writes.n; i++)
        if (plan->p_writes.at[i].buffer >= plan->p_buffers.n)
            return bad(plan, "write", i, "no such buffer");
    return NULL;
}

const char *
jy_plan_verify(const struct jy_plan *plan)
{
    const char *error = NULL;
    for (size_t i = 0; i < plan->p_buffers.n && error == NULL; i++)
        error = verify_buffer(plan, i);
    for (size_t i = 0; i < plan->p_steps.n && error == NULL; i++)
        error = verify_step(plan, i);
    for (size_t i = 0; i < plan->p_kernels.n && error == NULL; i++)
        error = jy_loop_verify(plan, i);
    return error == NULL ? verify_ends(plan) : error;
}
