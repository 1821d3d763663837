#include "graph/plan.h"
#include "graph_text.h"
#include <math.h>
#include <string.h>

struct world {
    double input[2][16];
    double output[4][16];
    size_t count; /* elements of each output */
    uint32_t loop_calls;
    intptr_t steps[3];
};

static void
give_input(void *context, uint32_t number, struct jy_desc *desc, union jy_scalar *value)
{
    struct world *w = context;
    desc->data = (char *)w->input[number];
    desc->stride[0] = 8;
    value->d = w->input[number][0];
}

static jy_status
take_output(void *context, size_t k, jy_ref node, const struct jy_desc *desc, union jy_scalar value)
{
    struct world *w = context;
    (void)node;
    if (desc->stride[0] == 0) /* a scalar */
        w->output[k][0] = value.d;
    else
        for (size_t i = 0; i < w->count; i++)
            memcpy(&w->output[k][i], desc->data + (int64_t)i * desc->stride[0], sizeof(double));
    return JY_OK;
}

static void
loop_of_exp(char **args, const intptr_t *dims, const intptr_t *strides, void *data)
{
    struct world *w = data;
    w->loop_calls++;
    memcpy(w->steps, strides, 2 * sizeof(*strides));
    for (intptr_t i = 0; i < dims[0]; i++) {
        double x;
        memcpy(&x, args[0] + i * strides[0], sizeof(x));
        x = exp(x);
        memcpy(args[1] + i * strides[1], &x, sizeof(x));
    }
}

static struct jy_loop_fn
find_loop(void *context, jy_op op, jy_dtype dtype)
{
    return (struct jy_loop_fn){ op == JY_OP_EXP && dtype == JY_F64 ? loop_of_exp : NULL, context, NULL };
}

static jy_status
multiply_matrices(void *context, const struct jy_node *node, const struct jy_desc *a, const struct jy_desc *b,
                  struct jy_desc *out)
{
    (void)context, (void)node;
    double x, y, sum = 0;
    for (int i = 0; i < 3; i++) {
        memcpy(&x, a->data + i * a->stride[0], 8);
        memcpy(&y, b->data + i * b->stride[0], 8);
        sum += x * y;
    }
    memcpy(out->data, &sum, 8);
    return JY_OK;
}

static jy_status
call_out(void *context, const struct jy_node *node, const struct jy_desc *args, struct jy_desc *out)
{
    double x = ((struct world *)context)->input[1][15];
    (void)args;
    CHECK_UINT(node->n_callee, 7);
    memcpy(out->data, &x, 8);
    return JY_OK;
}

static jy_status
evaluate(struct world *w, const char *source, int64_t n, uint32_t *status)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, source);
    struct jy_graph_io io = { .context = w,
                              .input = give_input,
                              .symbols = &n,
                              .sum_chunk = INT64_MAX,
                              .loop = find_loop,
                              .matmul = multiply_matrices,
                              .callout = call_out,
                              .output = take_output };
    jy_status result = JY_BREAK;
    if (g != NULL && CHECK_PTR(jy_graph_verify(g), NULL))
        result = jy_graph_eval(g, arena, &io);
    if (status != NULL)
        *status = io.status;
    jy_arena_free(arena);
    return result;
}

TEST(graph_eval, elementwise_broadcasts_scalars)
{
    struct world w = { .input = { { 1, 2, 3 }, { 10, 20, 30 } }, .count = 3 };
    CHECK_INT(evaluate(&w,
                       VECTORS "  %2 = constant[0.5] : float64\n"
                               "  %3 = multiply(%0, %2) : float64[s0]\n"
                               "  %4 = add(%3, %1) : float64[s0]\n"
                               "  %5 = size[(s0+1)] : pyint\n"
                               "  %6 = cast(%5) : float64\n"
                               "  output (%4, %6)\n",
                       3, NULL),
              JY_OK);
    CHECK_F64BITS(w.output[0][0], 10.5);
    CHECK_F64BITS(w.output[0][2], 31.5);
    CHECK_F64BITS(w.output[1][0], 4.0);
}

TEST(graph_eval, stores_write_the_inputs_memory_as_if_the_right_side_were_read_first)
{
    struct world w = { .input = { { 1, 2, 3, 4 } }, .count = 3 };
    CHECK_INT(evaluate(&w,
                       VECTORS "  %2 = view[j0](%0) : float64[(s0-1)]\n"
                               "  %3 = store[1+j0](%0, %2) : float64[s0]\n"
                               "  %4 = view[(s0-1)-j0](%3) : float64[s0]\n"
                               "  output (%4)\n",
                       4, NULL),
              JY_OK);
    CHECK_F64BITS(w.input[0][0], 1);
    CHECK_F64BITS(w.input[0][1], 1);
    CHECK_F64BITS(w.input[0][3], 3);
    CHECK_F64BITS(w.output[0][0], 3); /* a view of the new version, backwards */
    CHECK_F64BITS(w.output[0][2], 1);
}

TEST(graph_eval, fresh_arrays_do_not_share)
{
    struct world w = { .input = { { 1, 2, 3 } }, .count = 3 };
    CHECK_INT(evaluate(&w,
                       VECTORS "  %2 = copy(%0) : float64[s0]\n"
                               "  %3 = constant[9.0] : float64\n"
                               "  %4 = store[1](%2, %3) : float64[s0]\n"
                               "  %5 = full(%3) : float64[3]\n"
                               "  output (%0, %4, %5)\n",
                       3, NULL),
              JY_OK);
    CHECK_F64BITS(w.output[0][1], 2);
    CHECK_F64BITS(w.output[1][1], 9);
    CHECK_F64BITS(w.output[2][2], 9);
}

TEST(graph_eval, reductions)
{
    struct world w = { .input = { { 3, -1, 5, 0.5, -0.0, 2 } }, .count = 3 };
    CHECK_INT(evaluate(&w,
                       VECTORS "  %2 = reshape(%0) : float64[2,3]\n"
                               "  %3 = sum[0](%2) : float64[3]\n"
                               "  %4 = prod[0,1](%2) : float64\n"
                               "  %5 = min[0](%2) : float64[3]\n"
                               "  %6 = max[0,1](%2) : float64\n"
                               "  output (%3, %4, %5, %6)\n",
                       6, NULL),
              JY_OK);
    CHECK_F64BITS(w.output[0][0], 3.5);
    CHECK_F64BITS(w.output[0][2], 7);
    CHECK_F64BITS(w.output[1][0], 3 * -1 * 5 * 0.5 * -0.0 * 2);
    CHECK_F64BITS(w.output[2][0], 0.5);
    CHECK_F64BITS(w.output[2][1], -1);
    CHECK_F64BITS(w.output[3][0], 5);
}

TEST(graph_eval, empty_reductions)
{
    struct world w = { .count = 1 };
    CHECK_INT(
        evaluate(&w, VECTORS "  %2 = sum[0](%0) : float64\n  %3 = prod[0](%0) : float64\n  output (%2, %3)\n", 0, NULL),
        JY_OK);
    CHECK_F64BITS(w.output[0][0], 0.0);
    CHECK_F64BITS(w.output[1][0], 1.0);
    CHECK_INT(evaluate(&w, VECTORS "  %2 = max[0](%0) : float64\n  output (%2)\n", 0, NULL), JY_BREAK);
}

TEST(graph_eval, sums_of_negative_zeros_start_at_zero)
{
    struct world w = { .input = { { -0.0, -0.0 } }, .count = 1 };
    CHECK_INT(evaluate(&w, VECTORS "  %2 = sum[0](%0) : float64\n  output (%2)\n", 2, NULL), JY_OK);
    CHECK_F64BITS(w.output[0][0], 0.0);
}

TEST(graph_eval, inner_loops_run_along_the_innermost_axis)
{
    struct world w = { .input = { { 0, 1, 2, 3 } }, .count = 2 };
    CHECK_INT(evaluate(&w,
                       VECTORS "  %2 = view[2*j0](%0) : float64[2]\n"
                               "  %3 = exp(%2) : float64[2]\n"
                               "  output (%3)\n",
                       4, NULL),
              JY_OK);
    CHECK_F64BITS(w.output[0][1], exp(2));
    CHECK_UINT(w.loop_calls, 1);
    CHECK_INT(w.steps[0], 16);
    CHECK_INT(w.steps[1], 8);
    CHECK_INT(evaluate(&w, VECTORS "  %2 = log(%0) : float64[s0]\n  output (%2)\n", 4, NULL),
              JY_BREAK); /* no such loop here */
}

TEST(graph_eval, products_and_calls_are_lent)
{
    struct world w = { .input = { { 1, 2, 3 }, { 4, 5, 6, [15] = 2.5 } }, .count = 1 };
    CHECK_INT(evaluate(&w,
                       VECTORS "  %2 = dot(%0, %1) : float64\n"
                               "  %3 = callout[7, 0](%0) : float64\n"
                               "  output (%2, %3)\n",
                       3, NULL),
              JY_OK);
    CHECK_F64BITS(w.output[0][0], 32);
    CHECK_F64BITS(w.output[1][0], 2.5);
}

TEST(graph_eval, integer_scalars_report_overflow_and_arrays_wrap)
{
    struct world w = { .count = 1 };
    uint32_t status = 0;
    static const char scalars[] = "graph f () :\n"
                                  "  %0 = constant[9223372036854775807] : int64\n"
                                  "  %1 = add(%0, %0) : int64\n"
                                  "  output (%1)\n";
    static const char arrays[] = "graph f () :\n"
                                 "  %0 = constant[9223372036854775807] : int64\n"
                                 "  %1 = full(%0) : int64[1]\n"
                                 "  %2 = add(%1, %0) : int64[1]\n"
                                 "  output (%2)\n";
    CHECK_INT(evaluate(&w, scalars, 0, &status), JY_OK);
    CHECK_UINT(status, JY_CALL_RERUN);
    CHECK_INT(evaluate(&w, arrays, 0, &status), JY_OK);
    CHECK_UINT(status, 0);
}

TEST(graph_eval, extents_that_cannot_be_are_refused)
{
    struct world w = { .count = 1 };
    CHECK_INT(evaluate(&w, VECTORS "  %2 = view[j0](%0) : float64[(s0-1)]\n  output (%2)\n", 0, NULL), JY_BREAK);
}
