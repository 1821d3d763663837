/* Short axes: a loop over an axis of three goes round as often in the next call, most likely.
 *
 * Where the first call had so few elements along an axis of an input that a loop goes along, their number is guarded and a constant of the flow: LLVM then lays the rounds side by side, and what would be
 * asked before and behind a loop (chunks, vectors, evidence) goes. Arrays with an axis as long in the same place share the constant, as what is compared with it is mostly theirs. A call with another number
 * gets a flow for any. */
#include "flow.h"

enum { MOST = 4 }; /* taste: points, pixels, small matrices */

/* The input whose extent ends the loop that has this head; NULL: it does not count so. */
static const struct jy_flow_input *
limit_of(const struct jy_flow *w, jy_fb head)
{
    const struct jy_fblock *block = &w->w_blocks.at[head];
    const struct jy_fvalue *test = block->f_end == JY_END_BRANCH ? jy_flow_at(w, block->f_condition) : NULL;
    if (test == NULL || test->f_op != JY_FLOW_LT)
        return NULL;
    const struct jy_fvalue *index = jy_flow_at(w, test->f_args[0]), *limit = jy_flow_at(w, test->f_args[1]);
    if (index->f_op != JY_FLOW_PARAM || index->f_block != head || limit->f_op != JY_FLOW_INPUT)
        return NULL;
    const struct jy_flow_input *in = &w->w_inputs.at[limit->f_index];
    return in->kind == JY_FLOW_IN_EXTENT ? in : NULL;
}

static const struct jy_varray *
array_of(const struct jy_vbuild *b, const struct jy_flow_input *in)
{
    for (size_t k = 0; k < b->arrays.n; k++)
        if (b->arrays.at[k]->input == in->number && b->arrays.at[k]->value != NULL)
            return b->arrays.at[k];
    return NULL;
}

/* All extents of that axis that were as long. */
static bool
fix_axis(struct jy_vbuild *b, struct jy_frame *root, size_t axis, int64_t n)
{
    jy_sx size = jy_sizes_const(&root->f_trace->graph->g_sizes, n);
    bool any = false;
    for (jy_fv v = 0; v < b->w->w_values.n; v++) {
        struct jy_fvalue *value = jy_flow_at(b->w, v);
        const struct jy_flow_input *in = value->f_op == JY_FLOW_INPUT ? &b->w->w_inputs.at[value->f_index] : NULL;
        const struct jy_varray *a =
            in != NULL && in->kind == JY_FLOW_IN_EXTENT && in->axis == axis ? array_of(b, in) : NULL;
        if (a == NULL || a->ndim < 2 || a->about[axis] != n ||
            !jy_guard_size(root, a->value->u.array.shape[axis], JY_EQ, size))
            continue;
        value->f_op = JY_FLOW_CONST;
        value->f_index = 0;
        value->f_value = (union jy_scalar){ .i = n };
        any = true;
    }
    return any;
}

void
jy_vshort_axes(struct jy_vbuild *b, struct jy_frame *root)
{
    bool any = false;
    for (jy_fb head = 0; !b->t->request->any_sizes && head < b->w->w_blocks.n; head++) {
        const struct jy_flow_input *in = limit_of(b->w, head);
        const struct jy_varray *a = in != NULL ? array_of(b, in) : NULL;
        if (a != NULL && a->ndim >= 2 && a->about[in->axis] >= 2 && a->about[in->axis] <= MOST)
            any |= fix_axis(b, root, in->axis, a->about[in->axis]);
    }
    if (any)
        jy_flow_simplify(b->w);
}
