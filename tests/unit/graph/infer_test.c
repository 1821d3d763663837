/* What each op class refuses; what it gives is in graph_test.c. */
#include "graph/infer.h"
#include "graph_text.h"

/* Infers `node` behind the nodes of `source`. */
static const char *
infer(struct jy_arena *arena, const char *source, struct jy_node *node)
{
    struct jy_graph *g = parse_graph(arena, source);
    return g == NULL ? "" : jy_infer_node(node, (jy_ref)g->g_nodes.n, g, &g->g_sizes);
}

static void
check_refused(const char *source, struct jy_node node, const char *expected)
{
    struct jy_arena *arena = jy_arena_new();
    const char *why = infer(arena, source, &node);
    CHECK_STR(why == NULL ? "accepted" : why, expected);
    jy_arena_free(arena);
}

#define ARGS(...)                                                                                                      \
    (sizeof((jy_ref[]){ __VA_ARGS__ }) / sizeof(jy_ref)), .n_args = (jy_ref[])                                         \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const char two_shapes[] = "graph f (s0=6, s1=4) :\n"
                                 "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"
                                 "  %1 = placeholder[1] : float64[s0] layout(0; contiguous)\n"
                                 "  %2 = placeholder[2] : int64[s1] layout(0; contiguous)\n"
                                 "  %3 = constant[1.0] : float64\n"
                                 "  output ()\n";

TEST(infer, elementwise_operands_agree)
{
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_ADD, .n_nargs = ARGS(0, 1) },
                  "operands do not broadcast: two extents are neither equal nor 1");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_ADD, .n_nargs = ARGS(0, 2) }, "operands differ in dtype");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_WHERE, .n_nargs = ARGS(0, 1, 1) },
                  "the condition is not bool");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_ADD, .n_nargs = ARGS(0) },
                  "another number of operands than the op takes");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_ADD, .n_nargs = ARGS(0, 5) },
                  "an operand that comes later or not at all");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_COUNT }, "no such op");
}

TEST(infer, kinds_fit)
{
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_ADD, .n_kind = JY_KIND_NPSCALAR, .n_nargs = ARGS(1, 1) },
                  "a scalar with axes");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_ADD, .n_kind = JY_KIND_PYINT, .n_nargs = ARGS(3, 3) },
                  "a Python number of another dtype than its own");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_CONSTANT, .n_dtype = JY_F64 },
                  "a constant or a size is a scalar");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_SIZE, .n_kind = JY_KIND_NPSCALAR },
                  "a size is a Python int");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_COPY, .n_kind = JY_KIND_NPSCALAR, .n_nargs = ARGS(1) },
                  "a new array is an array");
}

TEST(infer, views_and_stores_fit_their_memory)
{
    struct jy_view map = { .source_ndim = 2, .ndim = 1, .axis = { 2 } };
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_VIEW, .n_ndim = 1, .n_nargs = ARGS(0) },
                  "a view without an index map");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_VIEW, .n_ndim = 1, .n_view = &map, .n_nargs = ARGS(0) },
                  "the index map names an axis that its source does not have");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_VIEW, .n_ndim = 1, .n_view = &map, .n_nargs = ARGS(1) },
                  "the index map has another number of axes");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_VIEW, .n_view = &map, .n_nargs = ARGS(3) },
                  "a view is an array of an array");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_STORE, .n_nargs = ARGS(2, 3) },
                  "operands differ in dtype");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_STORE, .n_nargs = ARGS(1, 0) },
                  "operands do not broadcast: two extents are neither equal nor 1");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_STORE, .n_nargs = ARGS(3, 3) },
                  "a store is into an array");
    check_refused("graph f (s0=6) :\n"
                  "  %0 = placeholder[0] : float64[1] layout(0; contiguous)\n"
                  "  %1 = placeholder[1] : float64[s0] layout(0; contiguous)\n"
                  "  output ()\n",
                  (struct jy_node){ .n_op = JY_OP_STORE, .n_nargs = ARGS(0, 1) },
                  "the value does not broadcast to the base");
    check_refused("graph f (s0=6, s1=4) :\n"
                  "  %0 = placeholder[0] : float64[s0,s1] layout(1,0; contiguous)\n"
                  "  output ()\n",
                  (struct jy_node){ .n_op = JY_OP_RESHAPE, .n_ndim = 0, .n_nargs = ARGS(0) },
                  "the operand is not contiguous in C order");
}

TEST(infer, other_classes)
{
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_SUM, .n_axes = 4, .n_nargs = ARGS(0) },
                  "an axis is folded that the operand does not have");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_ANY, .n_axes = 1, .n_nargs = ARGS(0) },
                  "the operand is not bool");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_MATMUL, .n_nargs = ARGS(0, 2) },
                  "operands differ in dtype");
    check_refused(two_shapes, (struct jy_node){ .n_op = JY_OP_FULL, .n_nargs = ARGS(1) }, "the value is not a scalar");
}

TEST(infer, broadcasting_matches_from_the_right)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_node node = { .n_op = JY_OP_MUL, .n_nargs = ARGS(0, 2) };
    CHECK_PTR(infer(arena,
                    "graph f (s0=6, s1=4) :\n"
                    "  %0 = placeholder[0] : float64[s0,1,s1] layout(0,1,2; contiguous)\n"
                    "  %1 = placeholder[1] : float64[s1] layout(0; contiguous)\n"
                    "  %2 = placeholder[2] : float64[3,1] layout(0,1; contiguous)\n"
                    "  output ()\n",
                    &node),
              NULL);
    CHECK_INT(node.n_ndim, 3);
    CHECK_UINT(node.n_storage, 3);
    CHECK_INT(node.n_dtype, JY_F64);
    CHECK(node.n_shape[0] != 1 && node.n_shape[1] != 1 && node.n_shape[2] != 1);
    jy_arena_free(arena);
}
