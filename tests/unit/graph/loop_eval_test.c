/* Single statements of the loop interpreter that random graphs do not pin down; whole plans are run by lower_fuzz_test.c. */
#include "tests/unit/graph/plan_driver.h"

struct bench {
    struct jy_arena *arena;
    struct jy_plan *plan;
    struct jy_desc desc[2];
    union jy_scalar scalar[2];
    int64_t size[1];
    struct jy_loop_fn loop[1];
    struct jy_call call;
};

static bool
set_up(struct bench *b, const char *text, int64_t size, int64_t chunk)
{
    const char *why = NULL;
    *b = (struct bench){ .arena = jy_arena_new() };
    b->plan = jy_plan_parse(b->arena, text, &why);
    if (why != NULL)
        printf("\n    %s", why);
    b->size[0] = size;
    b->call =
        (struct jy_call){ .desc = b->desc, .size = b->size, .scalar = b->scalar, .loop = b->loop, .sum_chunk = chunk };
    return CHECK(b->plan != NULL);
}

TEST(loop_eval, checked_integers_ask_for_the_original)
{
    struct bench b;
    const char *text =
        "plan f () :\n  scalar q0 = int64 npscalar\n  scalar q1 = int64 npscalar\n  input q0\n  kernel 0:\n"
        "    %0 = scalar int64 q0\n    %1 = add int64 %0, %0 checked\n    set q1 = %1\n  step kernel 0\n";
    if (!set_up(&b, text, 0, INT64_MAX))
        return;
    b.scalar[0].i = 21;
    CHECK_INT(jy_loop_eval(b.plan, 0, &b.call), 0);
    CHECK_INT(b.scalar[1].i, 42);
    CHECK_UINT(b.call.status, 0);
    b.scalar[0].i = INT64_MAX;
    CHECK_INT(jy_loop_eval(b.plan, 0, &b.call), 0);
    CHECK_UINT(b.call.status, JY_CALL_RERUN);
    jy_arena_free(b.arena);
}

struct pieces {
    int64_t n[8];
    size_t count;
};

static void
record(char **args, const intptr_t *dims, const intptr_t *strides, void *data)
{
    struct pieces *p = data;
    (void)args;
    (void)strides;
    p->n[p->count++] = dims[0];
}

/* Before 2.3 NumPy cuts a run into pieces of its buffer; the element that the accumulator starts with is one of the first piece. */
TEST(loop_eval, loops_that_fold_see_numpys_pieces)
{
    struct bench b;
    double data[10] = { 0 };
    struct pieces pieces = { .count = 0 };
    const char *text =
        "plan f (s0=10) :\n  size z0 = (s0-1)\n  scalar q0 = float64 npscalar\n"
        "  buffer b0 = input 0 : float64[s0] order(0) unit(0)\n  loop l0 = minimum float64\n  input b0\n  kernel 0:\n"
        "    %0 = size z0\n    %1 = const int64 1\n    %2 = load float64 b0[0]\n    %3 = ufold l0 float64 %0 b0[%1:] "
        "from %2\n"
        "    set q0 = %3\n  step kernel 0\n";
    if (!set_up(&b, text, 9, 4))
        return;
    b.desc[0].data = (char *)data;
    b.loop[0] = (struct jy_loop_fn){ record, &pieces, NULL };
    CHECK_INT(jy_loop_eval(b.plan, 0, &b.call), 0);
    CHECK_UINT(pieces.count, 3);
    CHECK_INT(pieces.n[0], 3);
    CHECK_INT(pieces.n[1], 4);
    CHECK_INT(pieces.n[2], 2);
    b.call.sum_chunk = INT64_MAX;
    pieces.count = 0;
    CHECK_INT(jy_loop_eval(b.plan, 0, &b.call), 0);
    CHECK_UINT(pieces.count, 1);
    CHECK_INT(pieces.n[0], 9);
    jy_arena_free(b.arena);
}

TEST(loop_eval, a_run_without_stride_repeats_its_operand)
{
    struct bench b;
    double x[1] = { 3.0 }, out[5] = { 0 };
    const char *text =
        "plan f (s0=5) :\n  size z0 = s0\n  buffer b0 = input 0 : float64[1] order(0) unit(0)\n"
        "  buffer b1 = output : float64[s0] order(0) unit(0)\n  loop l0 = hypot float64\n  input b0\n  kernel 0:\n"
        "    %0 = size z0\n    ufunc l0 %0 (b0[0], b0[0]) -> b1[0:]\n  step kernel 0\n  output b1 : float64 array\n";
    if (!set_up(&b, text, 5, INT64_MAX))
        return;
    struct driver d = { .arena = b.arena };
    b.desc[0].data = (char *)x;
    b.desc[1].data = (char *)out;
    b.loop[0] = driver_loop_of(&d, JY_OP_HYPOT, JY_F64);
    CHECK_INT(jy_loop_eval(b.plan, 0, &b.call), 0);
    for (size_t i = 0; i < 5; i++)
        CHECK_F64BITS(out[i], hypot(3.0, 3.0));
    jy_arena_free(b.arena);
}

TEST(loop_eval, a_vector_call_is_the_inner_loop_on_one_element)
{
    struct bench b;
    double x[3] = { 3.0, -1.0, 0.5 }, out[3] = { 0 };
    const char *text =
        "plan f (s0=3) :\n  size z0 = s0\n  buffer b0 = input 0 : float64[s0] order(0) unit(0)\n"
        "  buffer b1 = output : float64[s0] order(0) unit(0)\n  loop l0 = hypot float64\n  input b0\n  kernel 0:\n"
        "    %0 = size z0\n    for %1 < %0 vector:\n      %2 = load float64 b0[%1]\n      %3 = vcall l0 float64 %2, "
        "%2\n"
        "      store b1[%1] = %3\n  step kernel 0\n  output b1 : float64 array\n";
    if (!set_up(&b, text, 3, INT64_MAX))
        return;
    struct driver d = { .arena = b.arena };
    b.desc[0].data = (char *)x;
    b.desc[1].data = (char *)out;
    b.loop[0] = driver_loop_of(&d, JY_OP_HYPOT, JY_F64);
    CHECK_INT(jy_loop_eval(b.plan, 0, &b.call), 0);
    for (size_t i = 0; i < 3; i++)
        CHECK_F64BITS(out[i], hypot(x[i], x[i]));
    jy_arena_free(b.arena);
}

TEST(loop_eval, sums_follow_numpys_tree)
{
    struct bench b;
    double data[300];
    const char *text = "plan f (s0=300) :\n  size z0 = s0\n  scalar q0 = float64 npscalar\n"
                       "  buffer b0 = input 0 : float64[s0] order(0) unit(0)\n  input b0\n  kernel 0:\n"
                       "    %0 = size z0\n    %1 = fold pairwise add float64 %2 < %0:\n      %3 = load float64 "
                       "b0[%2]\n      yield %3\n"
                       "    set q0 = %1\n  step kernel 0\n";
    for (size_t i = 0; i < 300; i++)
        data[i] = 1.0 / (double)(i + 3);
    if (!set_up(&b, text, 300, INT64_MAX))
        return;
    b.desc[0].data = (char *)data;
    CHECK_INT(jy_loop_eval(b.plan, 0, &b.call), 0);
    /* 300: 144 + 156; 144: 72 + 72; 156: 72 + 84 */
    double left = jy_pairwise_leaf_f64((char *)data, 72, 8) + jy_pairwise_leaf_f64((char *)(data + 72), 72, 8);
    double right =
        jy_pairwise_leaf_f64((char *)(data + 144), 72, 8) + jy_pairwise_leaf_f64((char *)(data + 216), 84, 8);
    CHECK_F64BITS(b.scalar[0].d, left + right);
    jy_arena_free(b.arena);
}
