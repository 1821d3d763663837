/* Reads what plan_print.c writes. The graph of the plan holds nothing but the table of sizes; nodes are numbers that name nothing. */
#include "graph/loop_text.h"
#include "graph/plan.h"
#include <inttypes.h>
#include <string.h>

struct reading {
    struct jy_reader r;
    struct jy_plan *plan;
    struct jy_sizes *sizes;
};

static jy_sx
read_size(struct reading *in)
{
    jy_sx size = 0;
    jy_reader_blanks(&in->r);
    if (in->r.error == NULL && !jy_sizes_parse(&size, in->sizes, &in->r.at))
        jy_reader_fail(&in->r, "expected a size");
    return size;
}

static jy_ref
read_node(struct reading *in)
{
    return jy_reader_take(&in->r, "%") ? jy_reader_index(&in->r) : JY_NO_REF;
}

static uint32_t
read_named(struct reading *in, const char *letter)
{
    jy_reader_expect(&in->r, letter);
    return jy_reader_index(&in->r);
}

static struct jy_place
read_place(struct reading *in)
{
    if (jy_reader_take(&in->r, "q"))
        return (struct jy_place){ true, jy_reader_index(&in->r) };
    return (struct jy_place){ false, read_named(in, "b") };
}

static uint8_t
read_kind(struct reading *in)
{
    static const char *const kinds[] = { "array", "npscalar", "pyfloat", "pyint", "pybool" };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (jy_reader_take(&in->r, kinds[k]))
            return (uint8_t)k;
    jy_reader_fail(&in->r, "expected a kind");
    return 0;
}

/* "(1,2,3)" */
static size_t
read_list(struct reading *in, int64_t *out)
{
    size_t n = 0;
    jy_reader_expect(&in->r, "(");
    while (in->r.error == NULL && !jy_reader_take(&in->r, ")")) {
        if (n > 0)
            jy_reader_expect(&in->r, ",");
        if (n == JY_MAX_NDIM) {
            jy_reader_fail(&in->r, "too many axes");
            break;
        }
        out[n++] = jy_reader_int(&in->r);
    }
    return n;
}

static const struct jy_view *
read_view(struct reading *in)
{
    struct jy_view *v = JY_NEW(in->plan->p_arena, struct jy_view);
    int64_t list[JY_MAX_NDIM];
    jy_reader_expect(&in->r, "start");
    jy_reader_expect(&in->r, "(");
    while (in->r.error == NULL && !jy_reader_take(&in->r, ")")) {
        if (v->source_ndim > 0)
            jy_reader_expect(&in->r, ",");
        if (v->source_ndim == JY_MAX_NDIM) {
            jy_reader_fail(&in->r, "too many axes");
            break;
        }
        v->start[v->source_ndim++] = read_size(in);
    }
    jy_reader_expect(&in->r, "axis");
    v->ndim = (uint8_t)read_list(in, list);
    for (size_t d = 0; d < v->ndim; d++)
        v->axis[d] = (int8_t)list[d];
    jy_reader_expect(&in->r, "step");
    if (read_list(in, v->step) != v->ndim)
        jy_reader_fail(&in->r, "as many steps as axes");
    return v;
}

static void
read_buffer_kind(struct reading *in, struct jy_buffer *b)
{
    static const char *const kinds[] = { "input", "output", "temp", "view", "tile", "object" };
    bool known = jy_reader_take(&in->r, "reshape");
    b->b_kind = JY_BUFFER_VIEW;
    for (uint8_t k = 0; !known && k < sizeof kinds / sizeof kinds[0]; k++)
        if ((known = jy_reader_take(&in->r, kinds[k])))
            b->b_kind = k;
        else
            continue;
    if (!known)
        jy_reader_fail(&in->r, "expected a kind of buffer");
    if (b->b_kind != JY_BUFFER_OUTPUT && b->b_kind != JY_BUFFER_TEMP)
        b->b_index = jy_reader_index(&in->r);
    if (b->b_kind == JY_BUFFER_TILE)
        b->b_tile = jy_reader_int(&in->r);
    jy_reader_blanks(&in->r);
    if (b->b_kind == JY_BUFFER_VIEW && *in->r.at == 's')
        b->b_view = read_view(in);
}

static void
read_buffer(struct reading *in)
{
    struct jy_buffer b = { .b_unit_axis = -1 };
    jy_sx *shape = JY_NEW_ARRAY(in->plan->p_arena, jy_sx, JY_MAX_NDIM);
    uint8_t *order = JY_NEW_ARRAY(in->plan->p_arena, uint8_t, JY_MAX_NDIM);
    int64_t list[JY_MAX_NDIM];
    if (read_named(in, "b") != in->plan->p_buffers.n)
        jy_reader_fail(&in->r, "buffers are numbered in order");
    jy_reader_expect(&in->r, "=");
    read_buffer_kind(in, &b);
    jy_reader_expect(&in->r, ":");
    b.b_dtype = (uint8_t)jy_reader_dtype(&in->r);
    jy_reader_expect(&in->r, "[");
    while (in->r.error == NULL && !jy_reader_take(&in->r, "]")) {
        if (b.b_ndim > 0)
            jy_reader_expect(&in->r, ",");
        if (b.b_ndim == JY_MAX_NDIM) {
            jy_reader_fail(&in->r, "too many axes");
            break;
        }
        shape[b.b_ndim++] = read_size(in);
    }
    jy_reader_expect(&in->r, "order");
    if (read_list(in, list) != b.b_ndim)
        jy_reader_fail(&in->r, "the order names every axis");
    for (size_t d = 0; d < b.b_ndim; d++)
        order[d] = (uint8_t)list[d];
    if (jy_reader_take(&in->r, "unit")) {
        jy_reader_expect(&in->r, "(");
        b.b_unit_axis = (int8_t)jy_reader_int(&in->r);
        jy_reader_expect(&in->r, ")");
    }
    b.b_shape = shape;
    b.b_order = order;
    b.b_node = read_node(in);
    *jy_vec_push(in->plan->p_arena, &in->plan->p_buffers) = b;
}

static void
read_loop(struct reading *in)
{
    struct jy_plan_loop loop = { 0 };
    if (read_named(in, "l") != in->plan->p_loops.n)
        jy_reader_fail(&in->r, "loops are numbered in order");
    jy_reader_expect(&in->r, "=");
    loop.op = (uint16_t)jy_reader_op(&in->r);
    jy_dtype dtype = jy_reader_dtype(&in->r);
    loop.nin = (uint8_t)jy_op_info[loop.op].arity;
    for (size_t i = 0; i <= loop.nin && i < 4; i++)
        loop.dtypes[i] = (uint8_t)dtype;
    *jy_vec_push(in->plan->p_arena, &in->plan->p_loops) = loop;
}

static void
read_step(struct reading *in)
{
    struct jy_step s = { .s_node = JY_NO_REF };
    if (jy_reader_take(&in->r, "kernel")) {
        s.s_kernel = jy_reader_index(&in->r);
        *jy_vec_push(in->plan->p_arena, &in->plan->p_steps) = s;
        return;
    }
    if (jy_reader_take(&in->r, "matmul")) {
        s.s_kind = JY_STEP_MATMUL;
        s.s_op = (uint16_t)jy_reader_op(&in->r);
    } else if (jy_reader_take(&in->r, "reduce")) {
        s.s_kind = JY_STEP_NPREDUCE;
        s.s_op = (uint16_t)jy_reader_op(&in->r);
        jy_reader_expect(&in->r, "[axes");
        s.s_axes = jy_reader_index(&in->r);
        s.s_keepdims = jy_reader_take(&in->r, "; keepdims");
        jy_reader_expect(&in->r, "]");
    } else {
        s.s_kind = JY_STEP_CALLOUT;
        s.s_op = JY_OP_CALLOUT;
        jy_reader_expect(&in->r, "callout");
        s.s_callee = jy_reader_index(&in->r);
        jy_reader_expect(&in->r, ",");
        s.s_extra = jy_reader_index(&in->r);
    }
    struct {
        struct jy_place *at;
        size_t n, cap;
    } args = { NULL, 0, 0 };
    jy_reader_expect(&in->r, "(");
    while (in->r.error == NULL && !jy_reader_take(&in->r, ")")) {
        if (args.n > 0)
            jy_reader_expect(&in->r, ",");
        *jy_vec_push(in->plan->p_arena, &args) = read_place(in);
    }
    jy_reader_expect(&in->r, "->");
    s.s_args = args.at;
    s.s_nargs = (uint32_t)args.n;
    s.s_out = read_place(in);
    s.s_node = read_node(in);
    *jy_vec_push(in->plan->p_arena, &in->plan->p_steps) = s;
}

static void
read_output(struct reading *in)
{
    struct jy_plan_output o = { .place = read_place(in) };
    jy_reader_expect(&in->r, ":");
    o.dtype = (uint8_t)jy_reader_dtype(&in->r);
    o.kind = read_kind(in);
    o.is_view = jy_reader_take(&in->r, "view");
    o.node = read_node(in);
    *jy_vec_push(in->plan->p_arena, &in->plan->p_outputs) = o;
}

static void
read_scalar(struct reading *in)
{
    if (read_named(in, "q") != in->plan->p_scalars.n)
        jy_reader_fail(&in->r, "scalars are numbered in order");
    jy_reader_expect(&in->r, "=");
    struct jy_slot slot = { .dtype = (uint8_t)jy_reader_dtype(&in->r), .kind = read_kind(in), .node = JY_NO_REF };
    slot.node = read_node(in);
    *jy_vec_push(in->plan->p_arena, &in->plan->p_scalars) = slot;
}

static void
read_line(struct reading *in)
{
    struct jy_plan *plan = in->plan;
    struct jy_reader *r = &in->r;
    size_t indent = jy_reader_indent(r);
    if (jy_reader_take(r, "size")) {
        if (read_named(in, "z") != plan->p_sizes.n)
            jy_reader_fail(r, "sizes are numbered in order");
        jy_reader_expect(r, "=");
        *jy_vec_push(plan->p_arena, &plan->p_sizes) = read_size(in);
    } else if (jy_reader_take(r, "scalar")) {
        read_scalar(in);
    } else if (jy_reader_take(r, "buffer")) {
        read_buffer(in);
    } else if (jy_reader_take(r, "loop")) {
        read_loop(in);
    } else if (jy_reader_take(r, "input")) {
        *jy_vec_push(plan->p_arena, &plan->p_inputs) = read_place(in);
    } else if (jy_reader_take(r, "kernel")) {
        if (jy_reader_index(r) != plan->p_kernels.n)
            jy_reader_fail(r, "kernels are numbered in order");
        jy_reader_expect(r, ":");
        *jy_vec_push(plan->p_arena, &plan->p_kernels) = jy_loop_parse(r, indent);
    } else if (jy_reader_take(r, "step")) {
        read_step(in);
    } else if (jy_reader_take(r, "output")) {
        read_output(in);
    } else if (jy_reader_take(r, "write")) {
        uint32_t buffer = read_named(in, "b");
        *jy_vec_push(plan->p_arena, &plan->p_writes) = (struct jy_plan_write){ buffer, read_node(in) };
    } else if (jy_reader_take(r, "tile")) {
        plan->p_tile_bytes = jy_reader_index(r);
    } else {
        jy_reader_expect(r, "flags");
        plan->p_may_flag = true;
        plan->p_flag_nodes = jy_reader_index(r);
        plan->p_flag_node = read_node(in);
    }
    if (!jy_reader_at_end_of_line(r))
        jy_reader_fail(r, "more than expected");
}

/* "plan NAME (s0=7, s1=9) :" */
static const char *
read_head(struct reading *in)
{
    jy_reader_expect(&in->r, "plan");
    const char *name = jy_reader_word(&in->r);
    jy_reader_expect(&in->r, "(");
    while (in->r.error == NULL && !jy_reader_take(&in->r, ")")) {
        uint32_t symbol = (uint32_t)in->sizes->symbols.n;
        if (symbol > 0)
            jy_reader_expect(&in->r, ",");
        if (read_named(in, "s") != symbol)
            jy_reader_fail(&in->r, "symbols are numbered in order");
        jy_reader_expect(&in->r, "=");
        jy_sizes_new_symbol(in->sizes, 0, -1, jy_reader_int(&in->r));
    }
    jy_reader_expect(&in->r, ":");
    return name;
}

struct jy_plan *
jy_plan_parse(struct jy_arena *arena, const char *source, const char **error)
{
    struct jy_graph *g = jy_graph_new(arena, "");
    struct jy_plan *plan = JY_NEW(arena, struct jy_plan);
    struct reading in = { { .arena = arena, .at = source, .line = 1 }, plan, &g->g_sizes };
    plan->p_arena = arena;
    plan->p_graph = g;
    plan->p_flag_node = JY_NO_REF;
    g->g_name = read_head(&in);
    while (in.r.error == NULL && jy_reader_next_line(&in.r))
        read_line(&in);
    *error = in.r.error != NULL ? in.r.error : jy_plan_verify(plan);
    return *error == NULL ? plan : NULL;
}
