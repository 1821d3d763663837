/* Random graphs, lowered and run both ways (plan_driver.h). Failures print the seed, the graph and the plan.
 *
 * JITNEY_FUZZ_SEED and JITNEY_FUZZ_COUNT choose other graphs than the fixed few of the suite. Sizes are symbols whose values at the call
 * differ from those of the trace, 0 and 1 among them; inputs are C, Fortran, padded, reversed and stepped; values are small
 * integers, signed zeros, infinities and NaN, so that the order of additions and of ties shows. */
#include "tests/unit/graph/plan_driver.h"
#include <stdio.h>

#define SYMBOLS 3
#ifndef FUZZ_COUNT /* graphs of one run */
#define FUZZ_COUNT 1500
#endif

struct fuzz {
    uint64_t state;
    struct jy_arena *arena;
    struct jy_graph *g;
    jy_sx symbol[SYMBOLS];
    int64_t value[SYMBOLS];
    struct {
        jy_ref *at;
        size_t n, cap;
    } pool; /* nodes that may be read */
    struct {
        struct driver_input *at;
        size_t n, cap;
    } inputs;
};

static uint32_t
pick(struct fuzz *f, uint32_t n)
{
    f->state = f->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(f->state >> 33) % n;
}

static struct jy_sizes *
sizes(struct fuzz *f)
{
    return &f->g->g_sizes;
}

static const struct jy_node *
at(const struct fuzz *f, jy_ref r)
{
    return jy_graph_at(f->g, r);
}

static jy_ref
add(struct fuzz *f, jy_ref r)
{
    *jy_vec_push(f->arena, &f->pool) = r;
    return r;
}

static union jy_scalar
random_value(struct fuzz *f, jy_dtype dtype)
{
    static const double special[] = { 0.0, -0.0, 0.5, 1.0, -1.0, 3.25, -7.0, 1e300, 1e-300, INFINITY, NAN };
    double d = pick(f, 3) == 0 ? special[pick(f, 11)] : ((double)pick(f, 2000) - 1000.0) / 64.0 + 1.0 / 3.0;
    if (dtype == JY_F64)
        return (union jy_scalar){ .d = d };
    if (dtype == JY_F32) {
        union jy_scalar v = { .i = 0 };
        v.f = fabs(d) > 1e30 && isfinite(d) ? 2.5f : (float)d;
        return v;
    }
    return (union jy_scalar){ .i = dtype == JY_BOOL ? pick(f, 2) : (int64_t)pick(f, 21) - 10 };
}

static int64_t
now(struct fuzz *f, jy_sx e)
{
    int64_t v = 0;
    if (!jy_sizes_eval(&v, sizes(f), e, f->value))
        CHECK(!"a size has no value");
    return v;
}

/* Strides of one of the layouts, for extents of the trace or of the call. */
static size_t
fill_strides(int64_t *stride, int64_t *offset, size_t ndim, const int64_t *extents, size_t itemsize, uint32_t kind)
{
    int64_t step = (int64_t)itemsize, lowest = 0, highest = 0;
    for (size_t k = 0; k < ndim; k++) {
        size_t axis = kind == 1 ? k : ndim - 1 - k;
        stride[axis] = step * (kind == 3 && k == 0 ? 2 : 1);
        step = stride[axis] * (extents[axis] < 1 ? 1 : extents[axis]) + (kind == 2 && k == 0 ? (int64_t)itemsize : 0);
        if (kind == 4 && axis == 0)
            stride[axis] = -stride[axis];
        int64_t reach = stride[axis] * (extents[axis] > 0 ? extents[axis] - 1 : 0);
        lowest += reach < 0 ? reach : 0;
        highest += reach > 0 ? reach : 0;
    }
    *offset = -lowest;
    return (size_t)(highest - lowest) + itemsize;
}

static jy_sx
random_extent(struct fuzz *f)
{
    static const int64_t constants[] = { 1, 1, 2, 3, 5 };
    return pick(f, 4) == 0 ? jy_sizes_const(sizes(f), constants[pick(f, 5)]) : f->symbol[pick(f, SYMBOLS)];
}

static void
add_input(struct fuzz *f)
{
    static const jy_dtype dtypes[] = { JY_F64, JY_F64, JY_F64, JY_F32, JY_I64, JY_I32, JY_BOOL };
    jy_dtype dtype = dtypes[pick(f, 7)];
    size_t ndim = pick(f, 10) == 0 ? 0 : 1 + pick(f, 3);
    size_t itemsize = jy_dtype_info[dtype].bytes;
    struct driver_input in = { .value = random_value(f, dtype) };
    if (ndim == 0 && pick(f, 2)) {
        *jy_vec_push(f->arena, &f->inputs) = in;
        enum jy_kind kind = dtype == JY_F64 && pick(f, 2) ? JY_KIND_PYFLOAT : JY_KIND_NPSCALAR;
        add(f, jy_graph_placeholder(f->g, kind, dtype, 0, NULL, NULL));
        return;
    }
    jy_sx shape[JY_MAX_NDIM];
    int64_t traced[JY_MAX_NDIM], extents[JY_MAX_NDIM], strides[JY_MAX_NDIM], offset;
    for (size_t d = 0; d < ndim; d++) {
        shape[d] = random_extent(f);
        traced[d] = jy_sizes_hint(sizes(f), shape[d]);
        extents[d] = now(f, shape[d]);
    }
    uint32_t kind = pick(f, 2) ? 0 : pick(f, 5);
    fill_strides(strides, &offset, ndim, traced, itemsize, kind);
    struct jy_layout layout = jy_layout_of_strides(ndim, traced, strides, itemsize);
    in.bytes = fill_strides(in.stride, &in.offset, ndim, extents, itemsize, kind);
    in.block = jy_arena_alloc(f->arena, in.bytes + 8);
    for (size_t i = 0; i + itemsize <= in.bytes; i += itemsize)
        jy_scalar_store(dtype, in.block + i, random_value(f, dtype));
    *jy_vec_push(f->arena, &f->inputs) = in;
    add(f, jy_graph_placeholder(f->g, JY_KIND_ARRAY, dtype, ndim, shape, &layout));
}

static jy_ref
any_node(struct fuzz *f)
{
    size_t n = f->pool.n;
    return f->pool.at[pick(f, 3) == 0 ? pick(f, (uint32_t)n) : n - 1 - pick(f, (uint32_t)(n < 6 ? n : 6))];
}

static bool
broadcasts(struct fuzz *f, jy_ref a, jy_ref b)
{
    const struct jy_node *x = at(f, a), *y = at(f, b);
    size_t n = x->n_ndim < y->n_ndim ? x->n_ndim : y->n_ndim;
    for (size_t k = 1; k <= n; k++) {
        jy_sx u = x->n_shape[x->n_ndim - k], v = y->n_shape[y->n_ndim - k];
        if (u != 1 && v != 1 && !jy_sizes_same(sizes(f), u, v))
            return false;
    }
    return true;
}

static enum jy_kind
result_kind(struct fuzz *f, size_t n, const jy_ref *args)
{
    for (size_t i = 0; i < n; i++)
        if (at(f, args[i])->n_ndim != 0 || at(f, args[i])->n_kind == JY_KIND_ARRAY)
            return JY_KIND_ARRAY;
    return JY_KIND_NPSCALAR;
}

static jy_ref
cast(struct fuzz *f, jy_ref r, jy_dtype dtype)
{
    if (at(f, r)->n_dtype == dtype)
        return r;
    enum jy_kind kind = at(f, r)->n_kind == JY_KIND_ARRAY ? JY_KIND_ARRAY : JY_KIND_NPSCALAR;
    return jy_graph_cast(f->g, dtype, kind, r);
}

/* Some results lie in another order of axes. */
static void
shuffle_layout(struct fuzz *f, jy_ref r)
{
    const struct jy_node *node = at(f, r);
    if (node->n_ndim < 2 || pick(f, 4) != 0)
        return;
    int64_t extents[JY_MAX_NDIM];
    uint8_t order[JY_MAX_NDIM];
    for (size_t d = 0; d < node->n_ndim; d++) {
        extents[d] = jy_sizes_hint(sizes(f), node->n_shape[d]);
        order[d] = (uint8_t)(node->n_ndim - 1 - d);
    }
    struct jy_layout layout = jy_layout_fresh(node->n_ndim, extents, order, jy_dtype_info[node->n_dtype].bytes);
    jy_graph_set_layout(f->g, r, &layout);
}

static void
add_elementwise(struct fuzz *f)
{
    static const jy_op unary[] = { JY_OP_NEG, JY_OP_ABS, JY_OP_SQUARE, JY_OP_SQRT, JY_OP_SIGN,
                                   JY_OP_EXP, JY_OP_SIN, JY_OP_TANH,   JY_OP_LOG };
    static const jy_op binary[] = { JY_OP_ADD,     JY_OP_SUB,     JY_OP_MUL,   JY_OP_DIV,  JY_OP_MINIMUM,
                                    JY_OP_MAXIMUM, JY_OP_ARCTAN2, JY_OP_POWER, JY_OP_HYPOT };
    static const jy_op compare[] = { JY_OP_LT, JY_OP_GE, JY_OP_EQ, JY_OP_NE };
    jy_ref args[3] = { any_node(f), any_node(f), any_node(f) };
    jy_dtype dtype = (jy_dtype)at(f, args[0])->n_dtype;
    jy_op op;
    size_t n = 1;
    switch (pick(f, 6)) {
    case 0:
    case 1:
        op = unary[pick(f, 9)];
        break;
    case 2:
        op = compare[pick(f, 4)];
        n = 2;
        break;
    case 3:
        op = JY_OP_WHERE;
        n = 3;
        break;
    default:
        op = binary[pick(f, 9)];
        n = 2;
        break;
    }
    bool floats = jy_op_info[op].klass == JY_CLASS_TILE || op == JY_OP_DIV || op == JY_OP_SQRT;
    if ((floats && !jy_dtype_is_float(dtype)) || (dtype == JY_BOOL && n < 3))
        dtype = JY_F64;
    for (size_t i = 1; i < n; i++)
        if (!broadcasts(f, args[i], args[0]) || (i == 2 && !broadcasts(f, args[2], args[1])))
            return;
    for (size_t i = 0; i < n; i++)
        args[i] = cast(f, args[i], op == JY_OP_WHERE && i == 0 ? JY_BOOL : dtype);
    jy_ref r = add(f, jy_graph_elementwise(f->g, op, result_kind(f, n, args), n, args));
    if (at(f, r)->n_kind == JY_KIND_ARRAY)
        shuffle_layout(f, r);
}

static void
add_reduce(struct fuzz *f)
{
    jy_ref x = any_node(f);
    const struct jy_node *node = at(f, x);
    if (node->n_ndim == 0)
        return;
    jy_op op = (jy_op)(JY_OP_SUM + pick(f, 6));
    uint32_t axes = pick(f, 3) == 0 ? (1u << node->n_ndim) - 1 : 1 + pick(f, (1u << node->n_ndim) - 1);
    bool keepdims = pick(f, 4) == 0;
    bool whole = axes == (1u << node->n_ndim) - 1 && !keepdims;
    if (op == JY_OP_ANY || op == JY_OP_ALL)
        x = cast(f, x, JY_BOOL);
    else if (node->n_dtype == JY_BOOL)
        x = cast(f, x, JY_I64);
    jy_ref r = add(f, jy_graph_reduce(f->g, op, whole ? JY_KIND_NPSCALAR : JY_KIND_ARRAY, x, axes, keepdims));
    if (!whole)
        shuffle_layout(f, r);
}

/* A basic index: per axis everything, a piece, every other element, backwards, or one element; sometimes a new axis, or turned round. */
static bool
random_view(struct fuzz *f, const struct jy_node *x, struct jy_view *view, jy_sx *shape)
{
    *view = (struct jy_view){ .source_ndim = x->n_ndim };
    bool turned = pick(f, 3) == 0;
    for (size_t k = 0; k < x->n_ndim; k++) {
        size_t a = turned ? x->n_ndim - 1u - k : k, d = view->ndim;
        jy_sx n = x->n_shape[a],
              rest = jy_sizes_binary(sizes(f), JY_SX_MAX, jy_sizes_binary(sizes(f), JY_SX_SUB, n, 1), 0);
        uint32_t how = pick(f, 8);
        if (how == 0 && now(f, n) > 0) { /* one element */
            view->start[a] = 0;
            continue;
        }
        view->axis[d] = (int8_t)a;
        view->step[d] = 1;
        shape[d] = n;
        if (how == 1 && now(f, n) > 0) { /* [1:] */
            view->start[a] = 1;
            shape[d] = rest;
        } else if (how == 2) { /* [:-1] */
            shape[d] = rest;
        } else if (how == 3) { /* [::2] */
            view->step[d] = 2;
            shape[d] = jy_sizes_binary(sizes(f), JY_SX_FLOORDIV, jy_sizes_binary(sizes(f), JY_SX_ADD, n, 1),
                                       jy_sizes_const(sizes(f), 2));
        } else if (how == 4) { /* [::-1] */
            view->step[d] = -1;
            view->start[a] = rest;
        }
        view->ndim++;
    }
    if (view->ndim < 3 && pick(f, 5) == 0) {
        view->axis[view->ndim] = -1;
        view->step[view->ndim] = 0;
        shape[view->ndim++] = pick(f, 2) ? 1 : f->symbol[pick(f, SYMBOLS)];
    }
    return true;
}

static void
add_view(struct fuzz *f)
{
    jy_ref x = any_node(f);
    struct jy_view view;
    jy_sx shape[JY_MAX_NDIM];
    if (at(f, x)->n_kind == JY_KIND_ARRAY && random_view(f, at(f, x), &view, shape))
        add(f, jy_graph_view(f->g, x, &view, shape));
}

static void
add_reshape(struct fuzz *f)
{
    jy_ref x = any_node(f);
    const struct jy_node *node = at(f, x);
    if (node->n_kind != JY_KIND_ARRAY || node->n_ndim == 0 || !node->n_layout->contiguous ||
        !jy_layout_is_c_order(node->n_layout, node->n_ndim))
        return;
    jy_sx shape[2] = { 1, 1 };
    for (size_t d = 0; d < node->n_ndim; d++)
        shape[0] = jy_sizes_binary(sizes(f), JY_SX_MUL, shape[0], node->n_shape[d]);
    add(f, jy_graph_reshape(f->g, x, 1 + pick(f, 2), shape));
}

/* A value of exactly this shape and dtype, or no node. */
static jy_ref
value_of_shape(struct fuzz *f, jy_dtype dtype, size_t ndim, const jy_sx *shape)
{
    for (int tries = 0; tries < 8; tries++) {
        jy_ref r = any_node(f);
        const struct jy_node *node = at(f, r);
        bool same = node->n_ndim == ndim;
        for (size_t d = 0; same && d < ndim; d++)
            same = jy_sizes_same(sizes(f), node->n_shape[d], shape[d]);
        if (same)
            return cast(f, r, dtype);
    }
    union jy_scalar value = random_value(f, dtype);
    jy_ref scalar = jy_graph_constant(f->g, JY_KIND_NPSCALAR, dtype, value);
    return ndim == 0 ? scalar : jy_graph_full(f->g, scalar, ndim, shape);
}

/* Older versions of the storage may not be read any more. */
static void
retire(struct fuzz *f, jy_ref storage)
{
    size_t n = 0;
    for (size_t i = 0; i < f->pool.n; i++)
        if (at(f, f->pool.at[i])->n_storage != storage)
            f->pool.at[n++] = f->pool.at[i];
    f->pool.n = n;
}

static void
add_store(struct fuzz *f)
{
    jy_ref base = any_node(f);
    const struct jy_node *node = at(f, base);
    struct jy_view view;
    jy_sx shape[JY_MAX_NDIM];
    if (node->n_kind != JY_KIND_ARRAY || jy_op_info[node->n_op].klass == JY_CLASS_VIEW)
        return;
    jy_ref storage = node->n_storage, r;
    if (pick(f, 2)) {
        jy_ref value = any_node(f);
        if (!broadcasts(f, value, base) || at(f, value)->n_ndim > node->n_ndim)
            return;
        for (size_t k = 1; k <= at(f, value)->n_ndim; k++)
            if (at(f, value)->n_shape[at(f, value)->n_ndim - k] != 1 && node->n_shape[node->n_ndim - k] == 1)
                return;
        r = jy_graph_store(f->g, base, NULL, cast(f, value, (jy_dtype)node->n_dtype));
    } else {
        random_view(f, node, &view, shape);
        for (size_t d = 0; d < view.ndim; d++)
            if (view.axis[d] < 0)
                return; /* every element is written once */
        jy_dtype dtype = (jy_dtype)node->n_dtype;
        jy_ref value = value_of_shape(f, dtype, view.ndim, shape);
        r = jy_graph_store(f->g, base, &view, value);
    }
    retire(f, storage);
    add(f, r);
}

static void
add_product(struct fuzz *f)
{
    jy_ref a = any_node(f), b = any_node(f);
    size_t m = at(f, a)->n_ndim, n = at(f, b)->n_ndim;
    if (m < 1 || m > 2 || n < 1 || n > 2 || !jy_sizes_same(sizes(f), at(f, a)->n_shape[m - 1], at(f, b)->n_shape[0]))
        return;
    jy_sx shape[2];
    size_t ndim = 0;
    if (m == 2)
        shape[ndim++] = at(f, a)->n_shape[0];
    if (n == 2)
        shape[ndim++] = at(f, b)->n_shape[1];
    a = cast(f, a, JY_F64);
    b = cast(f, b, JY_F64);
    add(f, jy_graph_matmul(f->g, JY_OP_MATMUL, ndim == 0 ? JY_KIND_NPSCALAR : JY_KIND_ARRAY, a, b, ndim, shape));
}

static void
add_other(struct fuzz *f)
{
    jy_ref x = any_node(f);
    jy_sx shape[3] = { random_extent(f), random_extent(f), random_extent(f) };
    switch (pick(f, 4)) {
    case 0:
        if (at(f, x)->n_ndim == 0)
            add(f, jy_graph_full(f->g, x, 1 + pick(f, 3), shape));
        break;
    case 1:
        if (at(f, x)->n_kind == JY_KIND_ARRAY)
            add(f, jy_graph_copy(f->g, x));
        break;
    case 2:
        add(f, cast(f, jy_graph_size(f->g, f->symbol[pick(f, SYMBOLS)]), pick(f, 2) ? JY_F64 : JY_I64));
        break;
    default:
        if (at(f, x)->n_ndim != 0 && pick(f, 3) == 0)
            add(f, jy_graph_callout(f->g, 1, 0, 1, &x, JY_KIND_ARRAY, (jy_dtype)at(f, x)->n_dtype, at(f, x)->n_ndim,
                                    at(f, x)->n_shape));
        break;
    }
}

static void
build(struct fuzz *f)
{
    static const int64_t hints[SYMBOLS] = { 7, 11, 4 };
    static const int64_t values[] = { 0, 1, 1, 2, 3, 7, 8, 9, 13, 17, 24, 40, 130 };
    f->g = jy_graph_new(f->arena, "fuzz");
    for (uint32_t k = 0; k < SYMBOLS; k++) {
        f->symbol[k] = jy_sizes_symbol(sizes(f), jy_sizes_new_symbol(sizes(f), k, -1, hints[k]));
        f->value[k] = values[pick(f, k == 2 ? 9 : 13)];
    }
    for (size_t i = 1 + pick(f, 3); i-- > 0;)
        add_input(f);
    for (size_t i = 2 + pick(f, 14); i-- > 0;)
        switch (pick(f, 12)) {
        case 0:
        case 1:
            add_reduce(f);
            break;
        case 2:
        case 3:
            add_view(f);
            break;
        case 4:
            add_store(f);
            break;
        case 5:
            add_other(f);
            break;
        case 6:
            if (pick(f, 2))
                add_reshape(f);
            else
                add_product(f);
            break;
        default:
            add_elementwise(f);
            break;
        }
    for (size_t i = 1 + pick(f, 3); i-- > 0;)
        jy_graph_add_output(f->g, any_node(f));
}

/* Print, parse, print: the same text. */
static const char *
check_text(struct fuzz *f, const struct jy_plan *plan)
{
    struct jy_text first = { NULL, 0, 0, 0 }, second = { NULL, 0, 0, 0 };
    const char *why = NULL;
    jy_plan_print(&first, plan);
    struct jy_plan *parsed = jy_plan_parse(f->arena, first.at, &why);
    if (parsed != NULL) {
        jy_plan_print(&second, parsed);
        if (strcmp(strchr(first.at, '\n'), strchr(second.at, '\n')) != 0)
            why = jy_arena_printf(f->arena, "the text of the parsed plan differs:\n%s", second.at);
    }
    jy_text_free(&first);
    jy_text_free(&second);
    return why;
}

#ifndef FUZZ_VECTORS
#define FUZZ_VECTORS true
#endif

static bool
some_have_vector(jy_op op, jy_dtype dtype)
{
    return dtype == JY_F64 && jy_op_info[op].arity == 1 && op % 2 == 1;
}

static const char *
try_graph(struct fuzz *f, bool *broke)
{
    struct jy_plan *plan = NULL;
    const char *why = jy_graph_verify(f->g);
    *broke = false;
    if (why != NULL)
        return jy_arena_printf(f->arena, "the graph is not sound: %s", why);
    if (jy_lower(&plan, &why, f->arena, f->g, FUZZ_VECTORS && pick(f, 2) ? some_have_vector : NULL) != JY_OK) {
        *broke = true;
        return NULL;
    }
    if ((why = jy_plan_verify(plan)) == NULL && (why = check_text(f, plan)) == NULL) {
        struct driver d = { .graph = f->g,
                            .arena = f->arena,
                            .symbols = f->value,
                            .inputs = f->inputs.at,
                            .sum_chunk = pick(f, 2) ? INT64_MAX : 32 };
        why = driver_compare(&d, plan);
    }
    if (why != NULL) {
        struct jy_text text = { NULL, 0, 0, 0 };
        jy_graph_print(&text, f->g);
        jy_plan_print(&text, plan);
        jy_text_add(&text, "symbols %d %d %d\n", (int)f->value[0], (int)f->value[1], (int)f->value[2]);
        printf("%s", text.at);
        jy_text_free(&text);
    }
    return why;
}

static unsigned long
from_environment(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoul(text, NULL, 10);
}

TEST(lower_fuzz, plans_do_what_graphs_say)
{
    unsigned long first = from_environment("JITNEY_FUZZ_SEED", 1),
                  count = from_environment("JITNEY_FUZZ_COUNT", FUZZ_COUNT), refused = 0;
    for (unsigned long seed = first; seed < first + count; seed++) {
        struct fuzz f = { .state = seed * 2654435761u + 12345, .arena = jy_arena_new() };
        bool broke;
        for (int i = 0; i < 4; i++)
            pick(&f, 2);
        build(&f);
        const char *why = try_graph(&f, &broke);
        refused += broke;
        if (why != NULL)
            printf("seed %lu: %s\n", seed, why);
        bool good = CHECK(why == NULL);
        jy_arena_free(f.arena);
        if (!good)
            return;
    }
    CHECK(refused * 4 < count);
}
