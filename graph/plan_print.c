/* Plans as text; plan_parse.c reads it.
 *
 *     plan NAME (s0=1000) :
 *       size z0 = (s0*s1)
 *       scalar q0 = float64 npscalar %3
 *       buffer b0 = input 0 : float64[s0,s1] order(0,1) unit(1) %0
 *       buffer b3 = view 0 start(1,0) axis(0,-1) step(1,0) : ...       source axis starts; per result axis: source axis and step
 *       buffer b4 = reshape 0 : ...
 *       buffer b5 = tile 0 1024 : float64[1024] order(0) unit(0)       offset in bytes, elements
 *       loop l0 = exp float64
 *       input b0
 *       kernel 0:
 *         statements (loop_print.c)
 *       step kernel 0
 *       step matmul matmul(b0, b1) -> b2 %5
 *       step reduce sum[axes 2; keepdims](b0) -> b2 %5
 *       step callout 3, 0 (b0, q1) -> b2 %5
 *       output b2 : float64 array view %7
 *       write b3 %9
 *       tile 8192
 *       flags 2 %5 */
#include "graph/loop_text.h"
#include "graph/plan.h"
#include <inttypes.h>

static const char *const buffer_text[] = { "input", "output", "temp", "view", "tile", "object" };
static const char *const kind_text[] = { "array", "npscalar", "pyfloat", "pyint", "pybool" };

static void
print_node(struct jy_text *text, jy_ref r)
{
    if (r != JY_NO_REF)
        jy_text_add(text, " %%%" PRIu32, r);
}

static void
print_place(struct jy_text *text, struct jy_place p)
{
    jy_text_add(text, "%c%" PRIu32, p.scalar ? 'q' : 'b', p.index);
}

static void
print_view(struct jy_text *text, const struct jy_sizes *sizes, const struct jy_view *v)
{
    jy_text_add(text, " start(");
    for (size_t a = 0; a < v->source_ndim; a++) {
        jy_text_add(text, "%s", a == 0 ? "" : ",");
        jy_sizes_print(text, sizes, v->start[a]);
    }
    jy_text_add(text, ") axis(");
    for (size_t d = 0; d < v->ndim; d++)
        jy_text_add(text, "%s%d", d == 0 ? "" : ",", v->axis[d]);
    jy_text_add(text, ") step(");
    for (size_t d = 0; d < v->ndim; d++)
        jy_text_add(text, "%s%" PRId64, d == 0 ? "" : ",", v->step[d]);
    jy_text_add(text, ")");
}

static void
print_buffer(struct jy_text *text, const struct jy_plan *plan, uint32_t i)
{
    const struct jy_buffer *b = &plan->p_buffers.at[i];
    const struct jy_sizes *sizes = &plan->p_graph->g_sizes;
    bool is_reshape = b->b_kind == JY_BUFFER_VIEW && b->b_view == NULL;
    jy_text_add(text, "  buffer b%" PRIu32 " = %s", i, is_reshape ? "reshape" : buffer_text[b->b_kind]);
    if (b->b_kind != JY_BUFFER_OUTPUT && b->b_kind != JY_BUFFER_TEMP)
        jy_text_add(text, " %" PRIu32, b->b_index);
    if (b->b_kind == JY_BUFFER_TILE)
        jy_text_add(text, " %" PRId64, b->b_tile);
    if (b->b_kind == JY_BUFFER_VIEW && !is_reshape)
        print_view(text, sizes, b->b_view);
    jy_text_add(text, " : %s[", jy_dtype_info[b->b_dtype].text);
    for (size_t d = 0; d < b->b_ndim; d++) {
        jy_text_add(text, "%s", d == 0 ? "" : ",");
        jy_sizes_print(text, sizes, b->b_shape[d]);
    }
    jy_text_add(text, "] order(");
    for (size_t d = 0; d < b->b_ndim; d++)
        jy_text_add(text, "%s%u", d == 0 ? "" : ",", (unsigned)b->b_order[d]);
    jy_text_add(text, ")");
    if (b->b_unit_axis >= 0)
        jy_text_add(text, " unit(%d)", b->b_unit_axis);
    print_node(text, b->b_node);
    jy_text_add(text, "\n");
}

static void
print_step(struct jy_text *text, const struct jy_step *s)
{
    if (s->s_kind == JY_STEP_KERNEL) {
        jy_text_add(text, "  step kernel %" PRIu32 "\n", s->s_kernel);
        return;
    }
    if (s->s_kind == JY_STEP_MATMUL)
        jy_text_add(text, "  step matmul %s(", jy_op_info[s->s_op].text);
    else if (s->s_kind == JY_STEP_NPREDUCE)
        jy_text_add(text, "  step reduce %s[axes %" PRIu32 "%s](", jy_op_info[s->s_op].text, s->s_axes,
                    s->s_keepdims ? "; keepdims" : "");
    else
        jy_text_add(text, "  step callout %" PRIu32 ", %" PRIu32 " (", s->s_callee, s->s_extra);
    for (size_t i = 0; i < s->s_nargs; i++) {
        jy_text_add(text, "%s", i == 0 ? "" : ", ");
        print_place(text, s->s_args[i]);
    }
    jy_text_add(text, ") -> ");
    print_place(text, s->s_out);
    print_node(text, s->s_node);
    jy_text_add(text, "\n");
}

static void
print_outputs(struct jy_text *text, const struct jy_plan *plan)
{
    for (size_t i = 0; i < plan->p_outputs.n; i++) {
        const struct jy_plan_output *o = &plan->p_outputs.at[i];
        jy_text_add(text, "  output ");
        print_place(text, o->place);
        jy_text_add(text, " : %s %s%s", jy_dtype_info[o->dtype].text, kind_text[o->kind], o->is_view ? " view" : "");
        print_node(text, o->node);
        jy_text_add(text, "\n");
    }
    for (size_t i = 0; i < plan->p_writes.n; i++) {
        jy_text_add(text, "  write b%" PRIu32, plan->p_writes.at[i].buffer);
        print_node(text, plan->p_writes.at[i].node);
        jy_text_add(text, "\n");
    }
    if (plan->p_tile_bytes != 0)
        jy_text_add(text, "  tile %zu\n", plan->p_tile_bytes);
    if (plan->p_may_flag) {
        jy_text_add(text, "  flags %" PRIu32, plan->p_flag_nodes);
        print_node(text, plan->p_flag_node);
        jy_text_add(text, "\n");
    }
}

static void
print_plan(struct jy_text *text, const struct jy_plan *plan, bool with_lines)
{
    const struct jy_sizes *sizes = &plan->p_graph->g_sizes;
    jy_text_add(text, "plan %s (", plan->p_graph->g_name);
    for (size_t i = 0; i < sizes->symbols.n; i++)
        jy_text_add(text, "%ss%zu=%" PRId64, i == 0 ? "" : ", ", i, sizes->symbols.at[i].hint);
    jy_text_add(text, ") :\n");
    for (size_t i = 0; i < plan->p_sizes.n; i++) {
        jy_text_add(text, "  size z%zu = ", i);
        jy_sizes_print(text, sizes, plan->p_sizes.at[i]);
        jy_text_add(text, "\n");
    }
    for (size_t i = 0; i < plan->p_scalars.n; i++) {
        jy_text_add(text, "  scalar q%zu = %s %s", i, jy_dtype_info[plan->p_scalars.at[i].dtype].text,
                    kind_text[plan->p_scalars.at[i].kind]);
        print_node(text, plan->p_scalars.at[i].node);
        jy_text_add(text, "\n");
    }
    for (uint32_t i = 0; i < plan->p_buffers.n; i++)
        print_buffer(text, plan, i);
    for (size_t i = 0; i < plan->p_loops.n; i++)
        jy_text_add(text, "  loop l%zu = %s %s\n", i, jy_op_info[plan->p_loops.at[i].op].text,
                    jy_dtype_info[plan->p_loops.at[i].dtypes[0]].text);
    for (size_t i = 0; i < plan->p_inputs.n; i++) {
        jy_text_add(text, "  input ");
        print_place(text, plan->p_inputs.at[i]);
        jy_text_add(text, "\n");
    }
    for (size_t i = 0; i < plan->p_kernels.n; i++) {
        jy_text_add(text, "  kernel %zu:\n", i);
        jy_loop_print(text, plan, &plan->p_kernels.at[i], with_lines);
    }
    for (size_t i = 0; i < plan->p_steps.n; i++)
        print_step(text, &plan->p_steps.at[i]);
    print_outputs(text, plan);
}

void
jy_plan_print(struct jy_text *text, const struct jy_plan *plan)
{
    print_plan(text, plan, false);
}

void
jy_plan_print_lines(struct jy_text *text, const struct jy_plan *plan)
{
    print_plan(text, plan, true);
}
