#include "graph/graph.h"
#include "tests/unit/test.h"

struct fixture {
    struct jy_arena *arena;
    struct jy_graph *g;
    jy_sx s0, s1;
    jy_ref x; /* float64[s0,s1] */
};

static struct fixture
set_up(void)
{
    struct fixture f = { .arena = jy_arena_new() };
    f.g = jy_graph_new(f.arena, "f");
    f.g->g_file = "f.py";
    f.g->g_line = 3;
    f.s0 = jy_sizes_symbol(&f.g->g_sizes, jy_sizes_new_symbol(&f.g->g_sizes, 0, 0, 6));
    f.s1 = jy_sizes_symbol(&f.g->g_sizes, jy_sizes_new_symbol(&f.g->g_sizes, 0, 1, 4));
    struct jy_layout c = jy_layout_fresh(2, (int64_t[]){ 6, 4 }, NULL, 8);
    f.x = jy_graph_placeholder(f.g, JY_KIND_ARRAY, JY_F64, 2, (jy_sx[]){ f.s0, f.s1 }, &c);
    return f;
}

static void
tear_down(struct fixture *f)
{
    const char *why = jy_graph_verify(f->g);
    if (why != NULL)
        CHECK_STR(why, "");
    jy_arena_free(f->arena);
}

TEST(graph, elementwise_broadcasts_and_takes_position)
{
    struct fixture f = set_up();
    jy_ref two = jy_graph_constant(f.g, JY_KIND_NPSCALAR, JY_F64, (union jy_scalar){ .d = 2 });
    jy_ref y = jy_graph_elementwise(f.g, JY_OP_MUL, JY_KIND_ARRAY, 2, (jy_ref[]){ two, f.x });
    const struct jy_node *node = jy_graph_at(f.g, y);
    CHECK_INT(node->n_dtype, JY_F64);
    CHECK_INT(node->n_ndim, 2);
    CHECK_UINT(node->n_shape[0], f.s0);
    CHECK_UINT(node->n_shape[1], f.s1);
    CHECK_UINT(node->n_storage, y);
    CHECK_UINT(node->n_line, 3);
    CHECK_STR(node->n_file, "f.py");
    CHECK(node->n_layout->contiguous && jy_layout_is_c_order(node->n_layout, 2));
    CHECK_UINT(jy_graph_at(f.g, two)->n_storage, JY_NO_REF);
    tear_down(&f);
}

TEST(graph, extents_of_one_stretch)
{
    struct fixture f = set_up();
    jy_ref row = jy_graph_reduce(f.g, JY_OP_SUM, JY_KIND_ARRAY, f.x, 1, true);
    jy_ref column = jy_graph_reduce(f.g, JY_OP_MAX, JY_KIND_ARRAY, f.x, 2, true);
    const struct jy_node *node =
        jy_graph_at(f.g, jy_graph_elementwise(f.g, JY_OP_LT, JY_KIND_ARRAY, 2, (jy_ref[]){ row, column }));
    CHECK_INT(node->n_dtype, JY_BOOL);
    CHECK_UINT(node->n_shape[0], f.s0);
    CHECK_UINT(node->n_shape[1], f.s1);
    tear_down(&f);
}

TEST(graph, reductions_drop_or_keep_axes)
{
    struct fixture f = set_up();
    CHECK_INT(jy_graph_at(f.g, jy_graph_reduce(f.g, JY_OP_SUM, JY_KIND_NPSCALAR, f.x, 3, false))->n_ndim, 0);
    jy_ref r = jy_graph_reduce(f.g, JY_OP_SUM, JY_KIND_ARRAY, f.x, 1, false);
    CHECK_INT(jy_graph_at(f.g, r)->n_ndim, 1);
    CHECK_UINT(jy_graph_at(f.g, r)->n_shape[0], f.s1);
    r = jy_graph_reduce(f.g, JY_OP_SUM, JY_KIND_ARRAY, f.x, 3, true);
    CHECK_UINT(jy_graph_at(f.g, r)->n_shape[1], 1);
    tear_down(&f);
}

TEST(graph, views_and_stores_live_in_their_operands_storage)
{
    struct fixture f = set_up();
    struct jy_view t = { .source_ndim = 2, .ndim = 2, .axis = { 1, 0 }, .step = { 1, 1 } };
    jy_ref v = jy_graph_view(f.g, f.x, &t, (jy_sx[]){ f.s1, f.s0 });
    CHECK_UINT(jy_graph_at(f.g, v)->n_storage, f.x);
    jy_ref c = jy_graph_copy(f.g, v);
    CHECK_UINT(jy_graph_at(f.g, c)->n_storage, c);
    jy_ref zero = jy_graph_constant(f.g, JY_KIND_NPSCALAR, JY_F64, (union jy_scalar){ .d = 0 });
    jy_ref s = jy_graph_store(f.g, f.x, NULL, zero);
    CHECK_UINT(jy_graph_at(f.g, s)->n_storage, f.x);
    CHECK_INT(jy_graph_at(f.g, s)->n_ndim, 2);
    jy_ref flat = jy_graph_reshape(f.g, s, 1, (jy_sx[]){ jy_sizes_binary(&f.g->g_sizes, JY_SX_MUL, f.s0, f.s1) });
    CHECK_UINT(jy_graph_at(f.g, flat)->n_storage, f.x);
    tear_down(&f);
}

TEST(graph, constants_have_one_pattern_of_bits)
{
    struct fixture f = set_up();
    union jy_scalar dirty = { .bits = UINT64_MAX };
    dirty.f = 1.5f;
    jy_ref c = jy_graph_constant(f.g, JY_KIND_NPSCALAR, JY_F32, dirty);
    CHECK_UINT(jy_graph_at(f.g, c)->n_value.bits, 0x3fc00000);
    tear_down(&f);
}

TEST(graph, uses_list_every_reader)
{
    struct fixture f = set_up();
    jy_ref square = jy_graph_elementwise(f.g, JY_OP_MUL, JY_KIND_ARRAY, 2, (jy_ref[]){ f.x, f.x });
    jy_ref sum = jy_graph_elementwise(f.g, JY_OP_ADD, JY_KIND_ARRAY, 2, (jy_ref[]){ f.x, square });
    jy_graph_add_output(f.g, sum);
    struct jy_uses uses;
    jy_graph_fill_uses(&uses, f.g);
    CHECK_UINT(uses.first[f.x + 1] - uses.first[f.x], 3);
    CHECK_UINT(uses.uses[uses.first[f.x]], square);
    CHECK_UINT(uses.uses[uses.first[f.x] + 1], square);
    CHECK_UINT(uses.uses[uses.first[f.x] + 2], sum);
    CHECK_UINT(uses.first[square + 1] - uses.first[square], 1);
    CHECK_UINT(uses.first[sum + 1] - uses.first[sum], 0);
    CHECK(uses.is_output[sum] && !uses.is_output[f.x]);
    tear_down(&f);
}
