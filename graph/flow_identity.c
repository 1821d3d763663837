/* Which numbers must not be NaN.
 *
 * Python's numbers are objects; a flow has their values, and makes an object whenever one goes into a list or is given back by an exit. Two objects of one number cannot be told apart by a
 * program that does not ask `is`, unless it is NaN: lists and tuples compare, find and count their items by identity first. So where a number may become an object twice, the frontend emits a
 * marked CHECK that it equals itself, whose exit lets the interpreter go on with the one object that there is:
 *   LOADED  behind a load from a list: the number is an object already
 *   STORED  in front of what puts it into a list
 * Most of them are not needed, and go here: those behind which the number does not become an object (any more) before it is computed anew. What comes of an exit counts only where the frontend
 * says that it can be told (jy_box.is_told).
 *
 * A number that came in is an object, too: exits that name it give that object back. One that is merged with others (a parameter of a block) is not known by its register any more: the flow is
 * not entered with a NaN there. Where it is merged with computed numbers, it comes back as another NaN all the same: a sum that is NaN before the loop is so behind it. */
#include "graph/flow_analysis.h"
#include <string.h>

struct identity {
    struct jy_flow *w;
    struct jy_flow_shape shape;
    bool *told;     /* by value: it, or what it is a source of, becomes an object */
    bool *computed; /* by value: it, or one of its sources, is computed here */
    struct told_values {
        jy_fv *at;
        size_t n, cap;
    } *of_exit; /* numbers that it makes objects of */
    bool *seen; /* by block */
    jy_fb *walk;
};

static bool
is_float(const struct jy_flow *w, jy_fv v)
{
    uint8_t type = jy_flow_at(w, v)->f_type;
    return type == JY_F_F64 || type == JY_F_F32;
}

/* ---- exits ---- */

static void
note_box(struct identity *d, uint32_t exit, const struct jy_box *box)
{
    const struct jy_flow_exit *x = &d->w->w_exits.at[exit];
    if (box == NULL)
        return;
    if (box->how == JY_BOX_NUMBER && box->is_told && is_float(d->w, x->x_values.at[box->value]))
        *jy_vec_push(d->w->w_arena, &d->of_exit[exit]) = x->x_values.at[box->value];
    for (size_t i = 0; i < box->n; i++)
        note_box(d, exit, box->parts[i]);
}

static void
note_exit(struct identity *d, uint32_t exit)
{
    const struct jy_flow_exit *x = &d->w->w_exits.at[exit];
    size_t n = x->x_boxes == NULL ? 0 : x->x_kind == JY_EXIT_RETURN ? 1 : x->x_depth + x->x_nlocals;
    for (size_t i = 0; i < n; i++)
        note_box(d, exit, x->x_boxes[i]);
    for (size_t f = 0; f < x->x_ninner; f++)
        for (size_t i = 0; i < x->x_inner[f].x_depth + x->x_inner[f].x_nlocals; i++)
            note_box(d, exit, x->x_inner[f].x_boxes[i]);
    for (size_t i = 0; x->x_boxes == NULL && x->x_kind == JY_EXIT_RETURN && i < x->x_values.n; i++)
        if (is_float(d->w, x->x_values.at[i])) /* of a function: its caller's */
            *jy_vec_push(d->w->w_arena, &d->of_exit[exit]) = x->x_values.at[i];
}

static bool
is_of_exit(const struct identity *d, uint32_t exit, jy_fv v)
{
    bool found = false;
    for (size_t i = 0; i < d->of_exit[exit].n; i++)
        found |= d->of_exit[exit].at[i] == v;
    return found;
}

/* ---- sources ---- */

/* The number that a marked check is of. */
static jy_fv
checked(const struct jy_flow *w, const struct jy_fvalue *check)
{
    return jy_flow_at(w, check->f_args[0])->f_args[0];
}

static bool
is_marked(const struct jy_fvalue *v, enum jy_check_mark mark)
{
    return v->f_op == JY_FLOW_CHECK && v->f_index == (uint32_t)mark;
}

static void
fill_told_by(struct identity *d, const struct jy_fvalue *v)
{
    if (is_marked(v, JY_CHECK_STORED))
        d->told[checked(d->w, v)] = true;
    for (size_t k = 0; v->f_op == JY_FLOW_INVOKE && k < v->f_nargs; k++)
        d->told[v->f_args[k]] = true;
    for (size_t k = 0; v->f_exit != JY_NO_EXIT && k < d->of_exit[v->f_exit].n; k++)
        d->told[d->of_exit[v->f_exit].at[k]] = true;
}

/* One round, over values that are copies of others: backward what is told, forward what is computed. */
static bool
pass_on(struct identity *d, jy_fv from, jy_fv to)
{
    bool changes = (d->told[to] && !d->told[from]) || (d->computed[from] && !d->computed[to]);
    d->told[from] |= d->told[to];
    d->computed[to] |= d->computed[from];
    return changes;
}

static bool
pass_on_in(struct identity *d, const struct jy_fblock *block)
{
    bool changes = false;
    for (size_t i = 0; i < block->f_body.n; i++) {
        jy_fv at = block->f_body.at[i];
        const struct jy_fvalue *v = jy_flow_at(d->w, at);
        for (size_t k = 1; v->f_op == JY_FLOW_SELECT && k < 3; k++)
            changes |= pass_on(d, v->f_args[k], at);
    }
    for (size_t e = 0; e < jy_flow_nedges(block); e++)
        for (size_t k = 0; k < block->f_edge[e].nargs; k++)
            changes |= pass_on(d, block->f_edge[e].args[k], d->w->w_blocks.at[block->f_edge[e].to].f_params.at[k]);
    return changes;
}

static bool
is_computed(const struct jy_fvalue *v)
{
    return v->f_op != JY_FLOW_PARAM && v->f_op != JY_FLOW_SELECT && v->f_op != JY_FLOW_INPUT &&
           v->f_op != JY_FLOW_CONST && v->f_op != JY_FLOW_LOAD;
}

static void
fill_values(struct identity *d)
{
    for (size_t k = 0; k < d->shape.dom.n; k++) {
        const struct jy_fblock *block = &d->w->w_blocks.at[d->shape.dom.order[k]];
        for (size_t i = 0; i < block->f_body.n; i++) {
            const struct jy_fvalue *v = jy_flow_at(d->w, block->f_body.at[i]);
            fill_told_by(d, v);
            d->computed[block->f_body.at[i]] = is_computed(v);
        }
        for (size_t i = 0; block->f_end == JY_END_EXIT && i < d->of_exit[block->f_leave].n; i++)
            d->told[d->of_exit[block->f_leave].at[i]] = true;
    }
    for (bool changes = true; changes;) {
        changes = false;
        for (size_t k = d->shape.dom.n; k-- > 0;)
            changes |= pass_on_in(d, &d->w->w_blocks.at[d->shape.dom.order[k]]);
    }
}

/* ---- what comes behind a check ---- */

/* Does the block, from there on, make an object of the number? own: the exit of the instruction that is done. */
static bool
makes_object(const struct identity *d, const struct jy_fblock *block, size_t from, jy_fv number, uint32_t own)
{
    for (size_t i = from; i < block->f_body.n; i++) {
        const struct jy_fvalue *v = jy_flow_at(d->w, block->f_body.at[i]);
        if (is_marked(v, JY_CHECK_STORED) && checked(d->w, v) == number)
            return true;
        if (v->f_exit != JY_NO_EXIT && v->f_exit != own && is_of_exit(d, v->f_exit, number))
            return true;
        if (v->f_op == JY_FLOW_SELECT && d->told[block->f_body.at[i]] &&
            (v->f_args[1] == number || v->f_args[2] == number))
            return true;
    }
    if (block->f_end == JY_END_EXIT)
        return is_of_exit(d, block->f_leave, number);
    for (size_t e = 0; e < jy_flow_nedges(block); e++)
        for (size_t k = 0; k < block->f_edge[e].nargs; k++)
            if (block->f_edge[e].args[k] == number && d->told[d->w->w_blocks.at[block->f_edge[e].to].f_params.at[k]])
                return true;
    return false;
}

/* Where the number is defined, it is another one. */
static bool
becomes_object(struct identity *d, jy_fb block, size_t from, jy_fv number, uint32_t own)
{
    jy_fb of = jy_flow_at(d->w, number)->f_block;
    size_t n = 0;
    memset(d->seen, 0, d->w->w_blocks.n * sizeof *d->seen);
    d->walk[n++] = block;
    for (bool first = true; n > 0; first = false) {
        jy_fb at = d->walk[--n];
        const struct jy_fblock *b = &d->w->w_blocks.at[at];
        if (makes_object(d, b, first ? from : 0, number, own))
            return true;
        for (size_t e = 0; e < jy_flow_nedges(b); e++) {
            jy_fb to = b->f_edge[e].to;
            if (to == of || d->seen[to])
                continue;
            d->seen[to] = true;
            d->walk[n++] = to;
        }
    }
    return false;
}

static bool
is_needed(struct identity *d, jy_fb block, size_t place)
{
    const struct jy_fvalue *check = jy_flow_at(d->w, d->w->w_blocks.at[block].f_body.at[place]);
    jy_fv number = checked(d->w, check);
    const struct jy_fvalue *v = jy_flow_at(d->w, number);
    bool came_in = v->f_op == JY_FLOW_INPUT && d->w->w_inputs.at[v->f_index].kind == JY_FLOW_IN_NUMBER;
    if (v->f_op == JY_FLOW_CONST) /* no NaN: those are objects, see jy_vis_nan */
        return false;
    return came_in || becomes_object(d, block, place + 1, number, check->f_exit);
}

static void
decide(struct identity *d, bool *needed)
{
    for (jy_fb b = 0; b < d->w->w_blocks.n; b++) {
        const struct jy_fblock *block = &d->w->w_blocks.at[b];
        for (size_t i = 0; i < block->f_body.n; i++) {
            const struct jy_fvalue *v = jy_flow_at(d->w, block->f_body.at[i]);
            bool marked = v->f_op == JY_FLOW_CHECK && v->f_index != JY_CHECK_ALWAYS;
            needed[block->f_body.at[i]] = !marked || is_needed(d, b, i);
        }
    }
}

static void
drop(struct jy_flow *w, const bool *needed)
{
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        struct jy_fblock *block = &w->w_blocks.at[b];
        size_t n = 0;
        for (size_t i = 0; i < block->f_body.n; i++) {
            jy_fv at = block->f_body.at[i];
            if (jy_flow_at(w, at)->f_op == JY_FLOW_CHECK)
                jy_flow_at(w, at)->f_index = JY_CHECK_ALWAYS;
            if (needed[at])
                block->f_body.at[n++] = at;
        }
        block->f_body.n = n;
    }
}

/* ---- what came in ---- */

static bool
is_merged(const struct identity *d, const struct jy_fblock *block, jy_fv number)
{
    bool merged = false;
    for (size_t i = 0; i < block->f_body.n; i++) {
        jy_fv at = block->f_body.at[i];
        const struct jy_fvalue *v = jy_flow_at(d->w, at);
        merged |= v->f_op == JY_FLOW_SELECT && (v->f_args[1] == number || v->f_args[2] == number) && d->told[at] &&
                  !d->computed[at];
        for (size_t k = 0; v->f_op == JY_FLOW_INVOKE && k < v->f_nargs; k++)
            merged |= v->f_args[k] == number;
    }
    for (size_t e = 0; e < jy_flow_nedges(block); e++)
        for (size_t k = 0; k < block->f_edge[e].nargs; k++) {
            jy_fv param = d->w->w_blocks.at[block->f_edge[e].to].f_params.at[k];
            merged |= block->f_edge[e].args[k] == number && d->told[param] && !d->computed[param];
        }
    return merged;
}

static void
find_merged(struct identity *d)
{
    for (size_t i = 0; i < d->w->w_blocks.at[0].f_body.n; i++) {
        jy_fv at = d->w->w_blocks.at[0].f_body.at[i];
        const struct jy_fvalue *v = jy_flow_at(d->w, at);
        struct jy_flow_input *in = v->f_op == JY_FLOW_INPUT ? &d->w->w_inputs.at[v->f_index] : NULL;
        if (in == NULL || in->kind != JY_FLOW_IN_NUMBER || !is_float(d->w, at))
            continue;
        for (size_t k = 0; k < d->shape.dom.n && !in->no_nan; k++)
            in->no_nan = is_merged(d, &d->w->w_blocks.at[d->shape.dom.order[k]], at);
    }
}

void
jy_flow_identity(struct jy_flow *w)
{
    struct identity d = { .w = w,
                          .told = JY_NEW_ARRAY(w->w_arena, bool, w->w_values.n + 1),
                          .computed = JY_NEW_ARRAY(w->w_arena, bool, w->w_values.n + 1),
                          .of_exit = JY_NEW_ARRAY(w->w_arena, struct told_values, w->w_exits.n + 1),
                          .seen = JY_NEW_ARRAY(w->w_arena, bool, w->w_blocks.n),
                          .walk = JY_NEW_ARRAY(w->w_arena, jy_fb, w->w_blocks.n + 1) };
    bool *needed = JY_NEW_ARRAY(w->w_arena, bool, w->w_values.n + 1);
    jy_flow_shape_fill(&d.shape, w);
    for (uint32_t x = 0; x < w->w_exits.n; x++)
        note_exit(&d, x);
    fill_values(&d);
    find_merged(&d);
    decide(&d, needed);
    drop(w, needed);
}
