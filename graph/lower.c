/* Graph -> plan, the driver.
 *
 * Decides nothing itself but liveness and what the runtime sees of inputs and outputs. The stages, each in a file of its own:
 *
 *     live -> reductions -> groups -> memory -> emit, group by group -> outputs, flags
 *
 * A kernel holds all consecutive groups up to the next step that is not a loop nest, so that scalars pass between nests in registers.
 * Relies on: a verified graph; different placeholders do not overlap where one of them is written (the caller checks that at run time).
 * Guarantees: every operation is computed exactly once, in an order that respects operands, STOREs and CALLOUTs; operations that
 * may raise a flag are computed even when nobody reads their result. */
#include "graph/lower.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool
jy_lower_is_pointwise(const struct jy_lower *L, jy_ref r)
{
    jy_op op = (jy_op)jy_lower_at(L, r)->n_op;
    return jy_op_is_elementwise(op) || op == JY_OP_FULL || op == JY_OP_COPY;
}

jy_ref
jy_lower_owner(const struct jy_lower *L, jy_ref r)
{
    while (jy_lower_class(L, r) == JY_CLASS_VIEW)
        r = jy_lower_at(L, r)->n_args[0];
    return r;
}

jy_ref
jy_lower_forward(const struct jy_lower *L, jy_ref r)
{
    jy_ref value = r;
    while (jy_lower_class(L, value) == JY_CLASS_STORE && jy_lower_at(L, value)->n_view == NULL)
        value = jy_lower_at(L, value)->n_args[1];
    if (value == r)
        return r;
    return jy_lower_is_pointwise(L, value) && L->node[value].group == L->node[r].group ? value : r;
}

bool
jy_lower_same_shape(const struct jy_lower *L, jy_ref a, jy_ref b)
{
    const struct jy_node *x = jy_lower_at(L, a), *y = jy_lower_at(L, b);
    if (x->n_ndim != y->n_ndim)
        return false;
    for (size_t d = 0; d < x->n_ndim; d++)
        if (!jy_sizes_same(&L->g->g_sizes, x->n_shape[d], y->n_shape[d]))
            return false;
    return true;
}

void
jy_lower_note(struct jy_lower *L, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    jy_text_add(&L->notes, "%s\n", line);
}

static void
mark_live(struct jy_lower *L)
{
    size_t n = L->g->g_nodes.n;
    for (jy_ref r = (jy_ref)n; r-- > 0;) {
        const struct jy_node *node = jy_lower_at(L, r);
        uint8_t klass = jy_op_info[node->n_op].klass;
        bool is_read = L->node[r].live || L->uses.is_output[r];
        bool has_effect = klass == JY_CLASS_STORE || klass == JY_CLASS_CALL;
        if (!is_read && !has_effect) {
            if (!jy_lower_may_flag(L->g, node))
                continue;
            /* Kept in memory, or the compiler of the kernel would drop it together with its flags. */
            L->node[r].memory = node->n_ndim != 0;
            L->node[r].slot_needed = node->n_ndim == 0;
        }
        L->node[r].live = true;
        for (size_t i = 0; i < node->n_nargs; i++)
            L->node[node->n_args[i]].live = true;
    }
}

/* The group in which the value of `r` is produced or used: that of the reduction that computes it, if one does. */
static uint32_t
home(const struct jy_lower *L, jy_ref r)
{
    return L->node[r].into == JY_NO_REF ? L->node[r].group : L->node[L->node[r].into].group;
}

/* Does user `u` need operand `r` in memory (arrays) or in a slot (scalars of another kernel)? */
static bool
reads_memory(const struct jy_lower *L, jy_ref u, size_t arg)
{
    jy_ref r = jy_lower_at(L, u)->n_args[arg];
    switch ((enum jy_op_class)jy_lower_class(L, u)) {
    case JY_CLASS_VIEW:
    case JY_CLASS_LINALG:
    case JY_CLASS_CALL:
        return true;
    case JY_CLASS_STORE:
        return arg == 0 || home(L, u) != home(L, r);
    case JY_CLASS_REDUCE:
        return L->node[r].into != u;
    case JY_CLASS_SOURCE:
    case JY_CLASS_EW:
    case JY_CLASS_TILE:
    case JY_CLASS_CAST:
    case JY_CLASS_CREATE:
        break;
    }
    return L->node[u].into != L->node[r].into || home(L, u) != home(L, r);
}

static bool
is_step(const struct jy_lower *L, jy_ref u)
{
    uint8_t klass = jy_lower_class(L, u);
    return klass == JY_CLASS_LINALG || klass == JY_CLASS_CALL || L->node[u].how == JY_HOW_CALL;
}

static void
mark_memory(struct jy_lower *L)
{
    for (jy_ref u = 0; u < L->g->g_nodes.n; u++) {
        if (!L->node[u].live)
            continue;
        const struct jy_node *user = jy_lower_at(L, u);
        L->node[u].memory |= L->node[u].how == JY_HOW_ROWS;
        for (size_t i = 0; i < user->n_nargs; i++) {
            jy_ref r = user->n_args[i];
            const struct jy_node *node = jy_lower_at(L, r);
            bool is_base = jy_op_info[user->n_op].klass == JY_CLASS_STORE && i == 0;
            bool is_view = jy_op_info[user->n_op].klass == JY_CLASS_VIEW;
            if (node->n_ndim != 0 || is_base || is_view)
                L->node[r].memory |= reads_memory(L, u, i);
            else if (is_step(L, u) || home(L, u) == JY_NONE || home(L, r) == JY_NONE ||
                     L->groups.at[home(L, u)].kernel != L->groups.at[home(L, r)].kernel)
                L->node[r].slot_needed = true;
        }
    }
    for (size_t k = 0; k < L->g->g_outputs.n; k++) {
        jy_ref r = L->g->g_outputs.at[k];
        L->node[r].memory |= jy_lower_at(L, r)->n_ndim != 0;
        L->node[r].slot_needed |= jy_lower_at(L, r)->n_ndim == 0;
    }
    for (jy_ref r = 0; r < L->g->g_nodes.n; r++)
        if (L->node[r].memory && home(L, r) != JY_NONE && !is_step(L, r) && !L->uses.is_output[r] &&
            jy_lower_class(L, r) != JY_CLASS_STORE)
            jy_lower_note(L, "%%%u materialised: a view, a step or another nest reads it", r);
}

/* Every scalar that a step or a later kernel reads goes through a slot. */
static struct jy_place
place_of(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    uint8_t klass = jy_op_info[node->n_op].klass;
    bool in_memory = node->n_ndim != 0 || L->node[r].memory || klass == JY_CLASS_VIEW || klass == JY_CLASS_STORE ||
                     L->node[r].buffer != JY_NONE ||
                     (node->n_op == JY_OP_PLACEHOLDER && node->n_kind == JY_KIND_ARRAY) || node->n_op == JY_OP_EMPTY;
    if (in_memory)
        return (struct jy_place){ .scalar = false, .index = jy_lower_buffer(L, r) };
    return (struct jy_place){ .scalar = true, .index = jy_lower_scalar_slot(L, r) };
}

static struct jy_step *
add_step(struct jy_lower *L, enum jy_step_kind kind, jy_ref r)
{
    struct jy_step *step = jy_vec_push(L->arena, &L->plan->p_steps);
    *step = (struct jy_step){ .s_kind = (uint8_t)kind, .s_node = r };
    return step;
}

/* Constants and sizes have no code of their own: where a step or an output wants one in a slot, the kernel before puts it there. */
static void
fill_slots(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    if (node->n_op == JY_OP_CONSTANT || node->n_op == JY_OP_SIZE)
        if (L->node[r].slot_needed && L->node[r].slot == JY_NONE)
            jy_loop_set_scalar(&L->b, jy_lower_scalar_slot(L, r), jy_lower_scalar(L, r));
}

static void
close_kernel(struct jy_lower *L)
{
    if (L->b.kernel.k_body.n == 0)
        return;
    *jy_vec_push(L->arena, &L->plan->p_kernels) = jy_loop_finish(&L->b);
    add_step(L, JY_STEP_KERNEL, JY_NO_REF)->s_kernel = (uint32_t)L->plan->p_kernels.n - 1;
    L->kernel++;
    jy_loop_begin(&L->b, L->arena);
}

static void
emit_step(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    struct jy_place *args = JY_NEW_ARRAY(L->arena, struct jy_place, node->n_nargs + 1);
    for (size_t i = 0; i < node->n_nargs; i++)
        fill_slots(L, node->n_args[i]);
    close_kernel(L);
    for (size_t i = 0; i < node->n_nargs; i++)
        args[i] = place_of(L, node->n_args[i]);
    uint8_t klass = jy_op_info[node->n_op].klass;
    uint32_t number = (uint32_t)L->plan->p_steps.n;
    struct jy_place out;
    if (node->n_ndim == 0 && !L->node[r].memory)
        out = (struct jy_place){ .scalar = true, .index = jy_lower_scalar_slot(L, r) };
    else if (klass == JY_CLASS_LINALG)
        out = (struct jy_place){ .scalar = false, .index = jy_lower_buffer(L, r) };
    else
        out = (struct jy_place){ .scalar = false, .index = jy_lower_object(L, r, number) };
    enum jy_step_kind kind = klass == JY_CLASS_LINALG ? JY_STEP_MATMUL
                             : klass == JY_CLASS_CALL ? JY_STEP_CALLOUT
                                                      : JY_STEP_NPREDUCE;
    struct jy_step *step = add_step(L, kind, r);
    step->s_op = node->n_op;
    step->s_nargs = node->n_nargs;
    step->s_args = args;
    step->s_out = out;
    step->s_axes = node->n_axes;
    step->s_keepdims = node->n_keepdims;
    step->s_callee = node->n_callee;
    step->s_extra = node->n_extra;
}

static void
emit_groups(struct jy_lower *L)
{
    jy_loop_begin(&L->b, L->arena);
    for (size_t k = 0; k < L->groups.n; k++) {
        struct jy_group *g = &L->groups.at[k];
        if (g->members.n == 0)
            continue;
        if (g->kind == JY_GROUP_STEP) {
            emit_step(L, g->members.at[0]);
            continue;
        }
        L->group = (uint32_t)k;
        L->group_stamp = ++L->stamp;
        if (g->kind == JY_GROUP_ROWS)
            jy_lower_emit_rows(L, g);
        else if (g->kind == JY_GROUP_COPY)
            jy_lower_emit_copy(L, g);
        else
            jy_lower_emit_nest(L, g);
        if (L->why != NULL)
            return;
    }
    for (size_t k = 0; k < L->g->g_outputs.n; k++)
        fill_slots(L, L->g->g_outputs.at[k]);
    close_kernel(L);
}

static void
add_inputs(struct jy_lower *L)
{
    L->plan->p_inputs.at = JY_NEW_ARRAY(L->arena, struct jy_place, L->g->g_ninputs + 1);
    L->plan->p_inputs.n = L->plan->p_inputs.cap = L->g->g_ninputs;
    for (jy_ref r = 0; r < L->g->g_nodes.n; r++)
        if (jy_lower_at(L, r)->n_op == JY_OP_PLACEHOLDER)
            L->plan->p_inputs.at[jy_lower_at(L, r)->n_input] = place_of(L, r);
}

static void
add_outputs(struct jy_lower *L)
{
    for (size_t k = 0; k < L->g->g_outputs.n; k++) {
        jy_ref r = L->g->g_outputs.at[k];
        const struct jy_node *node = jy_lower_at(L, r);
        struct jy_place place = place_of(L, r);
        uint8_t kind = place.scalar ? JY_BUFFER_OUTPUT : L->plan->p_buffers.at[place.index].b_kind;
        *jy_vec_push(L->arena, &L->plan->p_outputs) = (struct jy_plan_output){
            .place = place,
            .kind = node->n_kind,
            .dtype = node->n_dtype,
            .node = r,
            .is_view = kind == JY_BUFFER_VIEW || kind == JY_BUFFER_INPUT,
        };
    }
}

static void
add_writes(struct jy_lower *L)
{
    for (jy_ref r = 0; r < L->g->g_nodes.n; r++)
        if (jy_lower_class(L, r) == JY_CLASS_STORE &&
            jy_lower_at(L, jy_lower_at(L, r)->n_storage)->n_op == JY_OP_PLACEHOLDER)
            *jy_vec_push(L->arena, &L->plan->p_writes) = (struct jy_plan_write){ jy_lower_region(L, r), r };
}

/* Operations of NumPy's inner loops that any loop can compute by itself: those with a vector function. */
static bool
is_vector(const struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    return L->has_vector != NULL && jy_op_info[node->n_op].klass == JY_CLASS_TILE && node->n_ndim != 0 &&
           L->has_vector((jy_op)node->n_op, (jy_dtype)node->n_dtype);
}

static void
init_nodes(struct jy_lower *L)
{
    L->node = JY_NEW_ARRAY(L->arena, struct jy_lnode, L->g->g_nodes.n + 1);
    for (size_t i = 0; i < L->g->g_nodes.n; i++)
        L->node[i] = (struct jy_lnode){ .vector = is_vector(L, (jy_ref)i),
                                        .group = JY_NONE,
                                        .into = JY_NO_REF,
                                        .buffer = JY_NONE,
                                        .slot = JY_NONE,
                                        .value = JY_NO_LV,
                                        .top = JY_NO_LV,
                                        .top_kernel = JY_NONE };
}

/* What no kernel can do exactly. */
static const char *
find_unsupported(const struct jy_lower *L)
{
    for (jy_ref r = 0; r < L->g->g_nodes.n; r++) {
        const struct jy_node *node = jy_lower_at(L, r);
        if (!L->node[r].live || node->n_op != JY_OP_POWER)
            continue;
        const struct jy_node *exponent = jy_lower_at(L, node->n_args[1]);
        bool is_constant = exponent->n_op == JY_OP_CONSTANT;
        if (!jy_dtype_is_float((jy_dtype)node->n_dtype) && (!is_constant || exponent->n_value.i < 0))
            return "power of integers whose exponent may be negative";
        /* NumPy gives its loop an exponent of stride 0 or a filled buffer, as its iterator decides, and the two differ in bits. */
        if (jy_dtype_is_float((jy_dtype)node->n_dtype) && exponent->n_ndim != 0 &&
            !jy_lower_same_shape(L, r, node->n_args[1]))
            return "power with an exponent array that is broadcast";
    }
    return NULL;
}

static jy_status
lower(struct jy_lower *L, const char **why)
{
    init_nodes(L);
    jy_graph_fill_uses(&L->uses, L->g);
    mark_live(L);
    if ((*why = find_unsupported(L)) != NULL)
        return JY_BREAK;
    jy_lower_choose_reductions(L);
    TRY(jy_lower_group(L));
    mark_memory(L);
    add_inputs(L);
    emit_groups(L);
    if ((*why = L->why) != NULL)
        return JY_BREAK;
    add_outputs(L);
    add_writes(L);
    jy_lower_count_flags(L);
    return JY_OK;
}

jy_status
jy_lower(struct jy_plan **out, const char **why, struct jy_arena *arena, const struct jy_graph *graph,
         jy_has_vector has_vector)
{
    struct jy_plan *plan = JY_NEW(arena, struct jy_plan);
    plan->p_arena = arena;
    plan->p_graph = graph;
    /* Size expressions are interned in the graph's own table, which is the only thing of it that grows. */
    struct jy_lower L = {
        .arena = arena, .g = (struct jy_graph *)(uintptr_t)graph, .plan = plan, .has_vector = has_vector
    };
    *why = NULL;
    jy_status status = lower(&L, why);
    if (L.notes.at != NULL)
        plan->p_notes.at = jy_arena_strdup(arena, L.notes.at);
    jy_text_free(&L.notes);
    if (status == JY_OK)
        *out = plan;
    return status;
}
