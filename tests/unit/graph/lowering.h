/* A graph as text, lowered: parts of the plan's text, and the plan run against the interpreter of graphs. */
#ifndef JY_TESTS_LOWERING_H
#define JY_TESTS_LOWERING_H

#include "tests/unit/graph/graph_text.h"
#include "tests/unit/graph/plan_driver.h"
#include <stdio.h>

struct lowered {
    struct jy_arena *arena;
    struct jy_graph *graph;
    struct jy_plan *plan;
};

static inline bool
lower_begin(struct lowered *l, const char *source, jy_has_vector has_vector)
{
    const char *why = NULL;
    *l = (struct lowered){ .arena = jy_arena_new() };
    l->graph = parse_graph(l->arena, source);
    if (l->graph == NULL)
        return false;
    CHECK_STR(jy_graph_verify(l->graph), NULL);
    if (jy_lower(&l->plan, &why, l->arena, l->graph, has_vector) != JY_OK || (why = jy_plan_verify(l->plan)) != NULL)
        CHECK_STR(why, source);
    return why == NULL;
}

static inline void
lower_end(struct lowered *l)
{
    jy_arena_free(l->arena);
}

/* Reductions that NumPy does itself are steps of kind NPREDUCE; kernels, products and call-outs likewise. */
static inline size_t
count_steps(const struct lowered *l, enum jy_step_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < l->plan->p_steps.n; i++)
        n += l->plan->p_steps.at[i].s_kind == kind;
    return n;
}

/* Statements of kernel k of this kind. */
static inline size_t
count_statements(const struct lowered *l, size_t k, enum jy_lop kind)
{
    size_t n = 0;
    for (size_t i = 0; k < l->plan->p_kernels.n && i < l->plan->p_kernels.at[k].k_stmts.n; i++)
        n += l->plan->p_kernels.at[k].k_stmts.at[i].l_kind == kind;
    return n;
}

/* The lines of the plan that begin with `prefix`, in order. */
static inline void
check_plan_lines(const struct lowered *l, const char *prefix, const char *expected)
{
    struct jy_text all = { 0 }, some = { 0 };
    jy_plan_print(&all, l->plan);
    for (const char *line = all.at; *line != '\0'; line += strcspn(line, "\n") + 1)
        if (strncmp(line, prefix, strlen(prefix)) == 0)
            jy_text_put(&some, line, strcspn(line, "\n") + 1);
    CHECK_STR(some.at == NULL ? "" : some.at, expected);
    jy_text_free(&all);
    jy_text_free(&some);
}

#define STATEMENTS "    " /* the prefix of kernels' lines */

/* The plan's lines with this prefix, of a graph that is not asked anything else. */
static inline void
check_lowered(const char *source, const char *prefix, const char *expected)
{
    struct lowered l;
    if (lower_begin(&l, source, NULL))
        check_plan_lines(&l, prefix, expected);
    lower_end(&l);
}

static inline bool
has_note(const struct lowered *l, const char *note)
{
    return l->plan->p_notes.at != NULL && strstr(l->plan->p_notes.at, note) != NULL;
}

static inline union jy_scalar
lowered_value(jy_dtype dtype, size_t i)
{
    static const double reals[] = { 1.5,  -0.25,           3.0,  0.0,       0.1,   -7.75, 1e16, -0.0, 2.5,
                                    0.25, __builtin_inf(), -1.0, 1.0 / 3.0, 1024.0 };
    union jy_scalar v = { .i = 0 };
    double real = reals[(i * 5 + i / 14) % 14];
    int64_t whole = (int64_t)(i * 7 % 23) - 9;
    if (dtype == JY_F64)
        v.d = real;
    else if (dtype == JY_F32)
        v.f = (float)real;
    else
        v.i = dtype == JY_BOOL ? whole > 0 : whole;
    return v;
}

/* Memory of a placeholder: in its layout's order, with holes where it is not contiguous; axes of stride 0 keep theirs. */
static inline struct driver_input
lowered_input(struct driver *d, const struct jy_node *node, size_t number)
{
    jy_dtype dtype = (jy_dtype)node->n_dtype;
    struct driver_input in = { .value = lowered_value(dtype, number) };
    const struct jy_layout *layout = node->n_layout;
    int64_t bytes = jy_dtype_info[dtype].bytes, step = bytes * (layout == NULL || layout->inner_unit ? 1 : 2);
    if (node->n_kind != JY_KIND_ARRAY)
        return in;
    for (size_t k = node->n_ndim; k-- > 0;) {
        size_t axis = layout->order[k];
        int64_t n = driver_extent(d, node->n_shape[axis]);
        in.stride[axis] = layout->stride[axis] == 0 && !layout->contiguous ? 0 : step;
        step = in.stride[axis] == 0 ? step : step * (n < 1 ? 1 : n) + (layout->contiguous ? 0 : bytes);
    }
    in.bytes = (size_t)(step < bytes ? bytes : step);
    in.block = jy_arena_alloc(d->arena, in.bytes + 8);
    for (size_t i = 0; (i + 1) * (size_t)bytes <= in.bytes; i++)
        jy_scalar_store(dtype, in.block + i * (size_t)bytes, lowered_value(dtype, i + number * 3));
    return in;
}

/* Does the plan compute what the graph says, for these values of its symbols? */
static inline void
check_runs(const struct lowered *l, const int64_t *symbols, int64_t sum_chunk)
{
    struct driver d = { .graph = l->graph, .arena = l->arena, .symbols = symbols, .sum_chunk = sum_chunk };
    d.inputs = JY_NEW_ARRAY(l->arena, struct driver_input, l->graph->g_ninputs + 1);
    for (jy_ref r = 0; r < l->graph->g_nodes.n; r++) {
        const struct jy_node *node = jy_graph_at(l->graph, r);
        if (node->n_op == JY_OP_PLACEHOLDER)
            d.inputs[node->n_input] = lowered_input(&d, node, node->n_input);
    }
    const char *difference = driver_compare(&d, l->plan);
    if (!CHECK_STR(difference, NULL))
        for (size_t i = 0; i < l->graph->g_sizes.symbols.n; i++)
            printf("    s%zu = %" PRId64 "\n", i, symbols[i]);
}

/* For every pair of these extents as s0 and s1 (s2 = 2), with NumPy's buffers large and small. */
static inline void
check_runs_for(const struct lowered *l, size_t n, const int64_t *extents)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < (l->graph->g_sizes.symbols.n < 2 ? 1 : n); j++) {
            check_runs(l, (int64_t[]){ extents[i], extents[j], 2 }, INT64_MAX);
            check_runs(l, (int64_t[]){ extents[i], extents[j], 2 }, 16);
        }
}

#define CHECK_RUNS(l, ...)                                                                                             \
    check_runs_for(l, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), (int64_t[]){ __VA_ARGS__ })

#endif
