/* How reductions are done, so that they add in NumPy's order, and which producers their loops compute. */
#include "graph/lower.h"
#include "tests/unit/graph/lowering.h"

/* One reduction, of a placeholder: is it left to NumPy, a run per element (folds or inner loops), or rows that are added? */
static enum jy_fold_how
how(const struct lowered *l)
{
    if (count_steps(l, JY_STEP_NPREDUCE) != 0)
        return JY_HOW_CALL;
    for (size_t i = 0; i < l->plan->p_kernels.at[0].k_stmts.n; i++) {
        const struct jy_lstmt *s = &l->plan->p_kernels.at[0].k_stmts.at[i];
        for (size_t k = 0; s->l_kind == JY_L_LOAD && k < l->plan->p_buffers.n; k++)
            if (l->plan->p_buffers.at[s->l_access[0].buffer].b_kind == JY_BUFFER_OUTPUT)
                return JY_HOW_ROWS; /* reads what it has added up so far */
    }
    return JY_HOW_RUN;
}

static void
check_how(const char *dtype, const char *layout, const char *op, const char *result, enum jy_fold_how expected)
{
    struct jy_text text = { 0 };
    struct lowered l;
    jy_text_add(&text, "graph f (s0=6, s1=4, s2=3) :\n  %%0 = placeholder[0] : %s[s0,s1,s2] layout(%s)\n", dtype,
                layout);
    jy_text_add(&text, "  %%1 = %s(%%0) : %s%s\n  output (%%1)\n", op, dtype, result);
    if (lower_begin(&l, text.at, NULL)) {
        if (!CHECK_INT(how(&l), expected))
            printf("\n    %s", text.at);
        CHECK_RUNS(&l, 1, 2, 9);
    }
    lower_end(&l);
    jy_text_free(&text);
}

#define C_ORDER "0,1,2; contiguous"
#define F_ORDER "2,1,0; contiguous"
#define STRIDED "0,1,2; strides 1280,256,32"

/* K* R+ is a run, R+ K+ rows, anything else is NumPy's, in memory order. */
TEST(lower_reduce, the_pattern_of_axes_decides_for_floats)
{
    check_how("float64", C_ORDER, "sum[0,1,2]", "", JY_HOW_RUN);
    check_how("float64", C_ORDER, "sum[2]", "[s0,s1]", JY_HOW_RUN);
    check_how("float64", C_ORDER, "sum[1,2]", "[s0]", JY_HOW_RUN);
    check_how("float64", C_ORDER, "sum[0]", "[s1,s2]", JY_HOW_ROWS);
    check_how("float64", C_ORDER, "sum[0,1]", "[s2]", JY_HOW_ROWS);
    check_how("float64", C_ORDER, "sum[1]", "[s0,s2]", JY_HOW_CALL);
    check_how("float64", C_ORDER, "sum[0,2]", "[s1]", JY_HOW_CALL);
    check_how("float64", F_ORDER, "sum[0]", "[s1,s2] layout(1,0; contiguous)", JY_HOW_RUN);
    check_how("float64", F_ORDER, "sum[2]", "[s0,s1] layout(1,0; contiguous)", JY_HOW_ROWS);
    check_how("float32", C_ORDER, "prod[0]", "[s1,s2]", JY_HOW_ROWS);
    check_how("float32", C_ORDER, "min[1]", "[s0,s2]", JY_HOW_CALL);
    check_how("float64", C_ORDER, "max[1,2]", "[s0]", JY_HOW_RUN);
}

TEST(lower_reduce, integers_are_added_in_any_order)
{
    check_how("int64", C_ORDER, "sum[1]", "[s0,s2]", JY_HOW_ROWS);
    check_how("int64", C_ORDER, "sum[0,2]", "[s1]", JY_HOW_ROWS);
    check_how("int32", C_ORDER, "max[1,2]", "[s0]", JY_HOW_RUN);
    check_how("bool", C_ORDER, "any[1]", "[s0,s2]", JY_HOW_ROWS);
    check_how("int64", STRIDED, "sum[2]", "[s0,s1]", JY_HOW_RUN);
    check_how("int64", STRIDED, "sum[1,2]", "[s0]", JY_HOW_ROWS); /* not one line */
    check_how("int64", STRIDED, "sum[0,1,2]", "", JY_HOW_CALL);   /* nothing kept */
}

/* Axes that do not join are copied into NumPy's buffers: trusted for two axes, one of them folded. */
TEST(lower_reduce, strided_floats_are_numpys)
{
    check_how("float64", STRIDED, "sum[2]", "[s0,s1]", JY_HOW_CALL);
    check_how("float64", STRIDED, "sum[0,1,2]", "", JY_HOW_CALL);
#define STRIDED_MATRIX(strides, reduction)                                                                             \
    "graph f (s0=6, s1=4) :\n"                                                                                         \
    "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; strides " strides ")\n"                                        \
    "  %1 = " reduction "\n"                                                                                           \
    "  output (%1)\n"
    static const struct {
        const char *source;
        enum jy_fold_how how;
    } cases[] = {
        { STRIDED_MATRIX("128,16", "sum[1](%0) : float64[s0]"), JY_HOW_RUN },
        { STRIDED_MATRIX("128,16", "sum[0](%0) : float64[s1]"), JY_HOW_ROWS },
        { STRIDED_MATRIX("128,16", "sum[0,1](%0) : float64"), JY_HOW_CALL },
        { STRIDED_MATRIX("0,8", "sum[0](%0) : float64[s1]"), JY_HOW_CALL }, /* a stride of 0 tells no order */
        { STRIDED_MATRIX("8,0", "sum[1](%0) : float64[s0]"), JY_HOW_CALL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lowered l;
        if (lower_begin(&l, cases[i].source, NULL) && !CHECK_INT(how(&l), cases[i].how))
            printf("\n    %s", cases[i].source);
        lower_end(&l);
    }
}

static jy_ref
reduction(struct jy_graph *g, jy_op op, jy_dtype dtype)
{
    jy_sx shape[1] = { jy_sizes_const(&g->g_sizes, 7) };
    struct jy_layout layout = jy_layout_fresh(1, (int64_t[]){ 7 }, (uint8_t[]){ 0 }, jy_dtype_info[dtype].bytes);
    jy_ref x = jy_graph_placeholder(g, JY_KIND_ARRAY, dtype, 1, shape, &layout);
    return jy_graph_reduce(g, op, JY_KIND_NPSCALAR, x, 1, false);
}

/* The value a fold begins with changes no value of its dtype. */
TEST(lower_reduce, folds_begin_with_a_neutral_value)
{
    static const double reals[] = { 1.5, -0.0, -3e38, __builtin_inf(), 1e-40 };
    for (int op = JY_OP_SUM; op <= JY_OP_ALL; op++)
        for (int dtype = 0; dtype < JY_DTYPE_COUNT; dtype++) {
            bool is_float = jy_dtype_is_float((jy_dtype)dtype), logical = op == JY_OP_ANY || op == JY_OP_ALL;
            if (logical != (dtype == JY_BOOL) || (is_float && (op == JY_OP_MIN || op == JY_OP_MAX)))
                continue; /* minima of floats begin with an element */
            struct jy_arena *arena = jy_arena_new();
            struct jy_graph *g = jy_graph_new(arena, "f");
            const struct jy_node *node = jy_graph_at(g, reduction(g, (jy_op)op, (jy_dtype)dtype));
            for (size_t i = 0; i < 5; i++) {
                static const int64_t ints[] = { 0, 1, -1, INT64_MAX, INT64_MIN };
                union jy_scalar v = { .i = dtype == JY_BOOL ? ints[i] & 1 : ints[i] };
                if (dtype == JY_I32)
                    v.i = (int32_t)(v.i >> (i > 2 ? 32 : 0));
                if (dtype == JY_F64)
                    v.d = reals[i];
                if (dtype == JY_F32)
                    v = (union jy_scalar){ .f = (float)reals[i] };
                union jy_scalar pair[2] = { jy_lower_fold_start(node), v };
                union jy_scalar sum = jy_scalar_apply(jy_lower_fold_op(node), (jy_dtype)dtype, pair, NULL);
                if (op == JY_OP_SUM && is_float && i == 1)
                    continue; /* 0.0 + -0.0: NumPy begins with 0.0, too */
                CHECK(driver_same_bits((jy_dtype)dtype, sum, v));
            }
            jy_arena_free(arena);
        }
}

TEST(lower_reduce, operations_are_those_of_the_ufunc)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = jy_graph_new(arena, "f");
    for (int op = JY_OP_SUM; op <= JY_OP_ALL; op++) {
        const struct jy_node *node = jy_graph_at(g, reduction(g, (jy_op)op, op < JY_OP_ANY ? JY_F64 : JY_BOOL));
        CHECK_STR(jy_op_info[jy_lower_fold_op(node)].text, jy_op_info[op].oracle);
    }
    jy_arena_free(arena);
}

/* Sums of floats by NumPy's tree, products one by one, integers in any order, minima of floats by NumPy's loop behind the first element. */
TEST(lower_reduce, each_fold_has_its_order)
{
    check_lowered("graph f (s0=6) :\n"
                  "  %0 = placeholder[0] : float64[s0] layout(0; contiguous)\n"
                  "  %1 = placeholder[1] : int32[s0] layout(0; contiguous)\n"
                  "  %2 = sum[0](%0) : float64\n"
                  "  %3 = prod[0](%0) : float64\n"
                  "  %4 = min[0](%1) : int32\n"
                  "  %5 = max[0](%0) : float64\n"
                  "  output (%2, %3, %4, %5)\n",
                  STATEMENTS,
                  "    %0 = const float64 0.0\n"
                  "    %1 = size z0 ; s0\n"
                  "    %2 = const float64 1.0\n"
                  "    %3 = const int32 2147483647\n"
                  "    %4 = size z1 ; (s0-1)\n"
                  "    %5 = const int64 1\n"
                  "    %6 = fold pairwise add float64 %7 < %1:\n"
                  "      %8 = load float64 b0[%7]\n"
                  "      yield %8\n"
                  "    %9 = add float64 %0, %6\n"
                  "    set q0 = %9\n"
                  "    %11 = fold sequential multiply float64 %12 < %1 from %2:\n"
                  "      %13 = load float64 b0[%12]\n"
                  "      yield %13\n"
                  "    set q1 = %11\n"
                  "    %15 = fold free minimum int32 %16 < %1 from %3:\n"
                  "      %17 = load int32 b1[%16]\n"
                  "      yield %17\n"
                  "    set q2 = %15\n"
                  "    %19 = load float64 b0[0]\n"
                  "    %20 = ufold l0 float64 %4 b0[%5:] from %19\n"
                  "    set q3 = %20\n");
}

static void
check_fused(const char *source, bool fused)
{
    struct lowered l;
    if (lower_begin(&l, source, NULL)) {
        if (!CHECK_INT(has_note(&l, "fused into reduction"), fused))
            printf("\n    %s", source);
        CHECK_RUNS(&l, 1, 2, 9);
    }
    lower_end(&l);
}

TEST(lower_reduce, computes_producers_that_nobody_else_reads)
{
    check_fused(VECTORS "  %2 = multiply(%0, %1) : float64[s0]\n  %3 = sum[0](%2) : float64\n  output (%3)\n", true);
    check_fused(VECTORS "  %2 = multiply(%0, %1) : float64[s0]\n  %3 = sum[0](%2) : float64\n  output (%3, %2)\n",
                false);
    check_fused(VECTORS "  %2 = multiply(%0, %1) : float64[s0]\n  %3 = sum[0](%2) : float64\n"
                        "  %4 = prod[0](%2) : float64\n  output (%3, %4)\n",
                false);
    check_fused(VECTORS "  %2 = exp(%0) : float64[s0]\n  %3 = sum[0](%2) : float64\n  output (%3)\n", false);
    check_fused(VECTORS "  %2 = multiply(%0, %1) : float64[s0]\n  %3 = max[0](%2) : float64\n  output (%3)\n", false);
}

/* Between producer and sum the operand is overwritten, or could be by a callable. */
TEST(lower_reduce, does_not_delay_reads_over_writes)
{
    check_fused(VECTORS "  %2 = multiply(%0, %1) : float64[s0]\n  %3 = constant[1.0] : float64\n"
                        "  %4 = store(%0, %3) : float64[s0]\n  %5 = sum[0](%2) : float64\n  output (%5)\n",
                false);
    check_fused(VECTORS "  %2 = multiply(%0, %1) : float64[s0]\n  %3 = callout[3, 0](%1) : float64[s0]\n"
                        "  %4 = sum[0](%2) : float64\n  output (%3, %4)\n",
                false);
}

/* A run over several axes is one line: what a producer reads must be that line, too. */
TEST(lower_reduce, a_run_over_several_axes_reads_lines)
{
#define RUN_OVER_BOTH(shape, layout)                                                                                   \
    "graph f (s0=6, s1=4) :\n"                                                                                         \
    "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"                                                 \
    "  %1 = placeholder[1] : float64" shape layout "\n"                                                                \
    "  %2 = multiply(%0, %1) : float64[s0,s1] layout(0,1; contiguous)\n"                                               \
    "  %3 = sum[0,1](%2) : float64\n"                                                                                  \
    "  output (%3)\n"
    check_fused(RUN_OVER_BOTH("[s0,s1]", " layout(0,1; contiguous)"), true);
    check_fused(RUN_OVER_BOTH("[s0,s1]", " layout(1,0; contiguous)"), false);
    check_fused(RUN_OVER_BOTH("[s0,s1]", " layout(0,1; unit; strides 64,8)"), false);
    check_fused(RUN_OVER_BOTH("[s1]", " layout(0; contiguous)"), false);
    check_fused(RUN_OVER_BOTH("", ""), true);
}
