/* Order, dominators and loops of flows that are nothing but edges: "1|23|1|" has block 0 go to 1, 1 to 2 or 3, 2 to 1, and 3 leave. */
#include "graph/flow_analysis.h"
#include "tests/unit/graph/flow_case.h"
#include <stdio.h>

static struct jy_flow *
flow_of(struct jy_arena *arena, const char *edges)
{
    struct jy_flow *w = jy_flow_new(arena, "edges");
    jy_fv yes = jy_flow_const(w, 0, JY_F_I1, int_of(1));
    for (const char *s = edges; *s != '\0'; s++)
        if (*s == '|')
            jy_flow_block(w);
    const char *s = edges;
    for (jy_fb b = 0; b < w->w_blocks.n; b++) {
        size_t n = strcspn(s, "|");
        if (n == 0)
            jy_flow_leave(w, b, 0);
        else if (n == 1)
            jy_flow_jump(w, b, (jy_fb)(s[0] - '0'), 0, NULL);
        else
            jy_flow_branch(w, b, yes, (jy_fb)(s[0] - '0'), 0, NULL, (jy_fb)(s[1] - '0'), 0, NULL);
        s += n + (s[n] == '|');
    }
    return w;
}

/* "order; idom of each block, - where nothing comes" */
static void
check_dominators(const char *edges, const char *expected)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = flow_of(arena, edges);
    struct jy_flow_shape s;
    struct jy_text text = { 0 };
    jy_flow_shape_fill(&s, w);
    for (size_t k = 0; k < s.dom.n; k++) {
        jy_text_add(&text, "%u", s.dom.order[k]);
        CHECK_UINT(s.dom.rank[s.dom.order[k]], k);
    }
    jy_text_add(&text, "; ");
    for (jy_fb b = 0; b < w->w_blocks.n; b++)
        if (s.dom.rank[b] == JY_UNREACHED)
            jy_text_add(&text, "-");
        else
            jy_text_add(&text, "%u", s.dom.idom[b]);
    CHECK_STR(text.at, expected);
    for (size_t a = 0; a < s.dom.n; a++) /* the interval of the preorder says the same as the way up */
        for (size_t b = 0; b < s.dom.n; b++) {
            uint32_t top = s.dom.order[a], up = s.dom.order[b];
            CHECK_UINT(s.dom.preorder[s.dom.first[up]], up);
            while (up != top && up != 0)
                up = s.dom.idom[up];
            CHECK_INT(jy_dominates(&s.dom, top, s.dom.order[b]), up == top);
        }
    jy_text_free(&text);
    jy_arena_free(arena);
}

TEST(flow_analysis, dominators)
{
    check_dominators("", "0; 0");
    check_dominators("12|3|3|", "0123; 0000"); /* the target of the first edge comes first */
    check_dominators("21|3|3|", "0213; 0000");
    check_dominators("1|23|1|", "0123; 0011");                /* a loop */
    check_dominators("12|2|13|", "0213; 0002");               /* a ring with two ways in belongs to neither */
    check_dominators("1|23|45|5|6|6|14", "0123564; 0011111"); /* both in one */
}

/* Where nothing comes, nothing counts: block 2 would be a second way to 1. */
TEST(flow_analysis, what_is_not_reached)
{
    check_dominators("3|4|1|1|", "0314; 03-01");
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow_shape s;
    jy_flow_shape_fill(&s, flow_of(arena, "3|4|1|1|"));
    CHECK_UINT(jy_flow_npreds(&s, 1), 1);
    CHECK_UINT(s.pred[s.pred_start[1]].from, 3);
    CHECK_UINT(jy_flow_npreds(&s, 0), 0);
    jy_arena_free(arena);
}

TEST(flow_analysis, both_edges_of_a_branch_to_one_block_are_two)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow_shape s;
    jy_flow_shape_fill(&s, flow_of(arena, "11|"));
    CHECK_UINT(jy_flow_npreds(&s, 1), 2);
    CHECK_UINT(s.pred[s.pred_start[1]].edge + s.pred[s.pred_start[1] + 1].edge, 1);
    jy_arena_free(arena);
}

/* "head:blocks" of each loop, inner ones first; ! is innermost. */
static void
check_loops(const char *edges, const char *expected)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = flow_of(arena, edges);
    struct jy_flow_shape s;
    struct jy_flow_loops loops = { 0 };
    struct jy_text text = { 0 };
    jy_flow_shape_fill(&s, w);
    jy_flow_loops_fill(&loops, w, &s);
    for (size_t k = 0; k < loops.n; k++) {
        jy_text_add(&text, "%s%u%s", k == 0 ? "" : " ", loops.at[k].head, loops.at[k].innermost ? "!" : ":");
        for (size_t i = 0; i < loops.at[k].blocks.n; i++)
            jy_text_add(&text, "%u", loops.at[k].blocks.at[i]);
    }
    CHECK_STR(text.at == NULL ? "" : text.at, expected);
    jy_text_free(&text);
    jy_arena_free(arena);
}

TEST(flow_analysis, loops)
{
    check_loops("1||", "");
    check_loops("1|12|", "1!1");
    check_loops("1|23|1|", "1!12");
    check_loops("1|23|41||1", "1!124");         /* two ways back are one loop */
    check_loops("1|25|34|2|1|", "2!23 1:1234"); /* a nest */
    check_loops("1|25|3|34|1|", "3!3 1:1234");
    check_loops("1|2|23|31|", "3!3 2!2 1:123"); /* two loops in one */
    check_loops("1|23|1|44|45|", "4!4 1!12");   /* one behind the other */
    check_loops("12|2|13|", "");                /* a ring with two ways in */
    check_loops("2|1|", "");                    /* a ring that nothing reaches */
}

TEST(flow_analysis, digraphs_keep_the_order_of_their_arcs)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_arcs arcs = { 0 };
    static const struct jy_arc list[] = { { 1, 2 }, { 0, 2 }, { 1, 0 }, { 0, 1 }, { 1, 2 } };
    for (size_t k = 0; k < 5; k++)
        *jy_vec_push(arena, &arcs) = list[k];
    struct jy_digraph g = jy_digraph_new(arena, 4, &arcs, false), r = jy_digraph_new(arena, 4, &arcs, true);
    CHECK_BYTES(g.start, ((uint32_t[]){ 0, 2, 5, 5, 5 }), 5 * sizeof(uint32_t));
    CHECK_BYTES(g.to, ((uint32_t[]){ 2, 1, 2, 0, 2 }), 5 * sizeof(uint32_t));
    CHECK_BYTES(r.start, ((uint32_t[]){ 0, 1, 2, 5, 5 }), 5 * sizeof(uint32_t));
    CHECK_BYTES(r.to, ((uint32_t[]){ 1, 0, 1, 0, 1 }), 5 * sizeof(uint32_t));
    jy_arena_free(arena);
}
