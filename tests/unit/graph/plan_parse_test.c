/* What the reader of plans takes and refuses, each with its line. Statements: loop_parse_test.c; what is sound: plan_verify_test.c. */
#include "tests/unit/graph/plan_text.h"

static struct jy_plan *
parsed(struct jy_arena *arena, const char *text)
{
    const char *why = NULL;
    struct jy_plan *plan = jy_plan_parse(arena, text, &why);
    if (plan == NULL)
        CHECK_STR(why, NULL);
    return plan;
}

TEST(plan_parse, fills_what_the_text_says)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_plan *plan = parsed(arena, "plan f (s0=5, s1=-2) :\n"
                                         "  size z0 = (s0*s1)\n"
                                         "  scalar q0 = int64 pybool %7\n"
                                         "  buffer b0 = input 0 : float32[s0,3] order(1,0) unit(0) %9\n"
                                         "  buffer b1 = view 0 start(1,0) axis(-1,1) step(0,-2) : float32[1,3] "
                                         "order(0,1)\n"
                                         "  loop l0 = arctan2 float32\n"
                                         "  input b0\n"
                                         "  output b1 : float32 array view %4\n"
                                         "  write b0 %5\n"
                                         "  tile 640\n"
                                         "  flags 1 %6\n");
    if (plan != NULL) {
        const struct jy_buffer *b = plan->p_buffers.at;
        CHECK_STR(plan->p_graph->g_name, "f");
        CHECK_INT(plan->p_graph->g_sizes.symbols.at[1].hint, -2);
        CHECK_INT(plan->p_scalars.at[0].kind, JY_KIND_PYBOOL);
        CHECK_UINT(plan->p_scalars.at[0].node, 7);
        CHECK(b[0].b_kind == JY_BUFFER_INPUT && b[0].b_dtype == JY_F32 && b[0].b_ndim == 2 && b[0].b_unit_axis == 0);
        CHECK(b[0].b_order[0] == 1 && b[0].b_order[1] == 0 && b[0].b_node == 9);
        CHECK(b[1].b_kind == JY_BUFFER_VIEW && b[1].b_unit_axis == -1 && b[1].b_node == JY_NO_REF);
        CHECK(b[1].b_view->axis[0] == -1 && b[1].b_view->axis[1] == 1 && b[1].b_view->step[1] == -2);
        CHECK(b[1].b_view->source_ndim == 2 && b[1].b_view->start[0] == 1);
        CHECK(plan->p_loops.at[0].nin == 2 && plan->p_loops.at[0].dtypes[2] == JY_F32);
        CHECK(plan->p_outputs.at[0].is_view && plan->p_outputs.at[0].node == 4);
        CHECK(plan->p_writes.at[0].buffer == 0 && plan->p_writes.at[0].node == 5);
        CHECK(plan->p_tile_bytes == 640 && plan->p_may_flag && plan->p_flag_nodes == 1 && plan->p_flag_node == 6);
    }
    jy_arena_free(arena);
}

TEST(plan_parse, says_in_which_line_it_stopped)
{
    check_plan("", "line 1: expected 'plan'");
    check_plan("plan f\n", "line 1: expected '('");
    check_plan("plan f (s1=5) :\n", "line 1: symbols are numbered in order");
    check_plan("plan f (s0=5, s0=6) :\n", "line 1: symbols are numbered in order");
    check_plan("plan f (s0=five) :\n", "line 1: expected a number");
    check_plan("plan f (s0=5) :\n  nonsense\n", "line 2: expected 'flags'");
    check_plan("plan f (s0=5) :\n\n  ; a comment\n  nonsense\n", "line 4: expected 'flags'");
    check_plan("plan f () :\n  size z0 = 7 8\n", "line 2: more than expected at \"8");
    check_plan("plan f () :\n  step kernel 0 ; fine\n  kernels 0:\n", "line 3: expected 'flags'");
}

TEST(plan_parse, numbers_come_in_order)
{
    check_plan("plan f () :\n  size z1 = 7\n", "line 2: sizes are numbered in order");
    check_plan("plan f () :\n  scalar q1 = bool pybool\n", "line 2: scalars are numbered in order");
    check_plan("plan f () :\n  buffer b1 = temp : bool[] order()\n", "line 2: buffers are numbered in order");
    check_plan("plan f () :\n  loop l1 = exp float64\n", "line 2: loops are numbered in order");
    check_plan("plan f () :\n  kernel 1:\n", "line 2: kernels are numbered in order");
    check_plan("plan f () :\n  kernel -1:\n", "line 2: expected an index");
}

TEST(plan_parse, refuses_what_no_buffer_is)
{
    check_plan("plan f () :\n  buffer b0 = heap : bool[] order()\n", "line 2: expected a kind of buffer");
    check_plan("plan f () :\n  buffer b0 = temp : bool[x] order(0)\n", "line 2: expected a size");
    check_plan("plan f () :\n  buffer b0 = temp : bool[1] order()\n", "line 2: the order names every axis");
    check_plan("plan f () :\n  buffer b0 = temp : bool[1,1,1,1,1,1,1,1,1] order()\n", "line 2: too many axes");
    check_plan("plan f () :\n  buffer b0 = temp : bool[1] order(0,0,0,0,0,0,0,0,0)\n", "line 2: too many axes");
    check_plan("plan f () :\n  buffer b0 = view 0 start(0) axis(0) step(1,1) : bool[1] order(0)\n",
               "line 2: as many steps as axes");
    check_plan("plan f () :\n  buffer b0 = view 0 start(0,0,0,0,0,0,0,0,0) axis(0) step(1) : bool[1] order(0)\n",
               "line 2: too many axes");
    check_plan("plan f () :\n  buffer b0 = temp : float63[] order()\n", "line 2: 'float63' is no dtype");
    check_plan("plan f () :\n  buffer b0 = temp : uint8[] order()\n", "line 2: uint8 is no dtype of graphs");
    check_plan("plan f () :\n  scalar q0 = bool pylist\n", "line 2: expected a kind");
    check_plan("plan f () :\n  loop l0 = frobnicate bool\n", "line 2: 'frobnicate' is no operation");
}

TEST(plan_parse, refuses_what_no_step_is)
{
    check_plan("plan f () :\n  step dance 0\n", "line 2: expected 'callout'");
    check_plan("plan f () :\n  step callout 3 (q0) -> q0\n", "line 2: expected ','");
    check_plan("plan f () :\n  step matmul matmul(q0 q0) -> q0\n", "line 2: expected ','");
    check_plan("plan f () :\n  step reduce sum[axis 1](b0) -> q0\n", "line 2: expected '[axes'");
    check_plan("plan f () :\n  step matmul matmul(x0) -> q0\n", "line 2: expected 'b'");
}
