#include "graph/graph.h"
#include "tests/unit/test.h"

static void
check_order(const struct jy_layout *layout, size_t ndim, const char *expected)
{
    char text[2 * JY_MAX_NDIM + 1] = { 0 };
    for (size_t d = 0; d < ndim; d++)
        text[d] = (char)('0' + layout->order[d]);
    CHECK_STR(text, expected);
}

TEST(layout, fresh_blocks)
{
    struct jy_layout c = jy_layout_fresh(3, (int64_t[]){ 2, 3, 4 }, NULL, 8);
    check_order(&c, 3, "012");
    CHECK_INT(c.stride[0], 96);
    CHECK_INT(c.stride[1], 32);
    CHECK_INT(c.stride[2], 8);
    CHECK(c.contiguous && c.inner_unit && jy_layout_is_c_order(&c, 3));
    struct jy_layout f = jy_layout_fresh(3, (int64_t[]){ 2, 0, 4 }, (uint8_t[]){ 2, 1, 0 }, 4);
    CHECK_INT(f.stride[0], 4);
    CHECK_INT(f.stride[1], 8);
    CHECK_INT(f.stride[2], 8); /* an empty axis counts as one element, as in NumPy */
    CHECK(!jy_layout_is_c_order(&f, 3));
}

TEST(layout, order_follows_strides)
{
    struct jy_layout l = jy_layout_of_strides(3, (int64_t[]){ 4, 5, 6 }, (int64_t[]){ 8, 192, 32 }, 8);
    check_order(&l, 3, "120");
    CHECK(l.contiguous && l.inner_unit);
    l = jy_layout_of_strides(2, (int64_t[]){ 4, 5 }, (int64_t[]){ -80, -16 }, 8);
    check_order(&l, 2, "01");
    CHECK(!l.contiguous && !l.inner_unit);
}

TEST(layout, axes_of_extent_one_and_stride_zero_have_no_opinion)
{
    struct jy_layout l = jy_layout_of_strides(3, (int64_t[]){ 4, 1, 6 }, (int64_t[]){ 8, 99999, 32 }, 8);
    check_order(&l, 3, "120"); /* as np.nditer([x, None]) lays out its result */
    CHECK(l.contiguous);
    l = jy_layout_of_strides(2, (int64_t[]){ 7, 6 }, (int64_t[]){ 0, 8 }, 8);
    check_order(&l, 2, "01");
    CHECK(!l.contiguous && l.inner_unit);
}

TEST(layout, negative_and_gapped_are_not_contiguous)
{
    struct jy_layout l = jy_layout_of_strides(1, (int64_t[]){ 5 }, (int64_t[]){ -8 }, 8);
    CHECK(!l.contiguous && !l.inner_unit);
    l = jy_layout_of_strides(2, (int64_t[]){ 5, 3 }, (int64_t[]){ 32, 8 }, 8);
    CHECK(!l.contiguous && l.inner_unit);
}

/* Views of a C-contiguous float64[s0,s1], by their index maps: which may rely on adjacency for every size? */
static const struct jy_layout *
view_layout(struct jy_graph *g, struct jy_view view, const jy_sx *shape)
{
    struct jy_layout c = jy_layout_fresh(2, (int64_t[]){ 6, 4 }, NULL, 8);
    jy_sx s0 = jy_sizes_symbol(&g->g_sizes, jy_sizes_new_symbol(&g->g_sizes, 0, 0, 6));
    jy_sx s1 = jy_sizes_symbol(&g->g_sizes, jy_sizes_new_symbol(&g->g_sizes, 0, 1, 4));
    jy_sx sizes[JY_MAX_NDIM];
    for (size_t d = 0; d < view.ndim; d++)
        sizes[d] = shape[d] == 100 ? s0 : shape[d] == 101 ? s1 : jy_sizes_const(&g->g_sizes, shape[d]);
    view.source_ndim = 2;
    jy_ref x = jy_graph_placeholder(g, JY_KIND_ARRAY, JY_F64, 2, (jy_sx[]){ s0, s1 }, &c);
    return jy_graph_at(g, jy_graph_view(g, x, &view, sizes))->n_layout;
}

TEST(layout, views_claim_only_what_holds_for_all_sizes)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = jy_graph_new(arena, "f");
    const struct jy_layout *l =
        view_layout(g, (struct jy_view){ .ndim = 2, .axis = { 1, 0 }, .step = { 1, 1 } }, (jy_sx[]){ 101, 100 });
    check_order(l, 2, "10");
    CHECK(l->contiguous && l->inner_unit); /* transposed */
    l = view_layout(g, (struct jy_view){ .ndim = 2, .start = { 1, 0 }, .axis = { 0, 1 }, .step = { 1, 1 } },
                    (jy_sx[]){ 3, 101 });
    CHECK(l->contiguous); /* some rows */
    l = view_layout(g, (struct jy_view){ .ndim = 2, .axis = { 0, 1 }, .step = { 1, 1 } }, (jy_sx[]){ 100, 3 });
    CHECK(!l->contiguous && l->inner_unit); /* some columns */
    l = view_layout(g, (struct jy_view){ .ndim = 2, .axis = { 0, 1 }, .step = { 1, 2 } }, (jy_sx[]){ 100, 2 });
    CHECK(!l->contiguous && !l->inner_unit);
    CHECK_INT(l->stride[1], 16);
    l = view_layout(g, (struct jy_view){ .ndim = 1, .start = { 1, 1 }, .axis = { 1 }, .step = { 1 } }, (jy_sx[]){ 3 });
    CHECK(l->contiguous); /* a piece of one row */
    l = view_layout(g, (struct jy_view){ .ndim = 1, .axis = { 0 }, .step = { 1 } }, (jy_sx[]){ 100 });
    CHECK(!l->contiguous && !l->inner_unit); /* a column */
    l = view_layout(g, (struct jy_view){ .ndim = 3, .axis = { 0, -1, 1 }, .step = { 1, 0, 1 } },
                    (jy_sx[]){ 100, 1, 101 });
    CHECK(l->contiguous); /* x[:, None, :] */
    l = view_layout(g, (struct jy_view){ .ndim = 3, .axis = { -1, 0, 1 }, .step = { 0, 1, 1 } },
                    (jy_sx[]){ 9, 100, 101 });
    CHECK(!l->contiguous && l->inner_unit); /* broadcast */
    jy_arena_free(arena);
}
