/* The builder of kernels: what is shared, where statements go, how they are numbered. */
#include "graph/loop_build.h"
#include "graph/loop_text.h"
#include "tests/unit/test.h"
#include <string.h>

struct built {
    struct jy_plan plan;
    struct jy_loop_builder b;
};

/* One size slot, one scalar slot, one buffer float64[7]. */
static void
begin(struct built *t)
{
    static const jy_sx shape[1];
    static const uint8_t order[1];
    memset(t, 0, sizeof *t);
    t->plan.p_arena = jy_arena_new();
    t->plan.p_graph = jy_graph_new(t->plan.p_arena, "f");
    *jy_vec_push(t->plan.p_arena, &t->plan.p_sizes) = 0;
    *jy_vec_push(t->plan.p_arena, &t->plan.p_scalars) = (struct jy_slot){ JY_F64, JY_KIND_NPSCALAR, JY_NO_REF };
    *jy_vec_push(t->plan.p_arena, &t->plan.p_buffers) = (struct jy_buffer){
        .b_kind = JY_BUFFER_TEMP, .b_dtype = JY_F64, .b_ndim = 1, .b_shape = shape, .b_order = order
    };
    jy_loop_begin(&t->b, t->plan.p_arena);
}

static void
check_built(struct built *t, const char *expected)
{
    struct jy_text text = { 0 };
    *jy_vec_push(t->plan.p_arena, &t->plan.p_kernels) = jy_loop_finish(&t->b);
    CHECK_STR(jy_loop_verify(&t->plan, 0), NULL);
    jy_loop_print(&text, &t->plan, &t->plan.p_kernels.at[0], false);
    CHECK_STR(text.at, expected);
    jy_text_free(&text);
    jy_arena_free(t->plan.p_arena);
}

TEST(loop, what_depends_on_nothing_is_shared_and_comes_first)
{
    struct built t;
    begin(&t);
    struct jy_access at = { .buffer = 0, .run_axis = -1 };
    jy_lv n = jy_loop_size(&t.b, 0);
    jy_loop_for(&t.b, n, 1, false);
    jy_lv x = jy_loop_scalar(&t.b, 0, JY_F64), one = jy_loop_const(&t.b, JY_F64, (union jy_scalar){ .d = 1.0 });
    jy_lv sum = jy_loop_op(&t.b, JY_OP_ADD, JY_F64, 2, (jy_lv[]){ x, one }, false);
    jy_loop_store(&t.b, &at, sum);
    CHECK_UINT(jy_loop_size(&t.b, 0), n);
    CHECK_UINT(jy_loop_scalar(&t.b, 0, JY_F64), x);
    CHECK_UINT(jy_loop_const(&t.b, JY_F64, (union jy_scalar){ .d = 1.0 }), one);
    jy_loop_end_for(&t.b);
    check_built(&t, "    %0 = size z0 ; 0\n"
                    "    %1 = scalar float64 q0\n"
                    "    %2 = const float64 1.0\n"
                    "    for %3 < %0:\n"
                    "      %4 = add float64 %1, %2\n"
                    "      store b0[0] = %4\n");
}

TEST(loop, constants_are_shared_by_bits_and_dtype)
{
    struct built t;
    begin(&t);
    jy_lv zero = jy_loop_const(&t.b, JY_F64, (union jy_scalar){ .d = 0.0 });
    CHECK(jy_loop_const(&t.b, JY_F64, (union jy_scalar){ .d = -0.0 }) != zero);
    CHECK(jy_loop_const(&t.b, JY_I64, (union jy_scalar){ .i = 0 }) != zero);
    CHECK_UINT(jy_loop_int_const(&t.b, 0), jy_loop_const(&t.b, JY_I64, (union jy_scalar){ .i = 0 }));
    /* of a float32 only half of the union is its value */
    jy_lv half = jy_loop_const(&t.b, JY_F32, (union jy_scalar){ .bits = 0x3f000000 });
    CHECK_UINT(jy_loop_const(&t.b, JY_F32, (union jy_scalar){ .bits = UINT64_C(0x123456783f000000) }), half);
    check_built(&t, "    %0 = const float64 0.0\n"
                    "    %1 = const float64 -0.0\n"
                    "    %2 = const int64 0\n"
                    "    %3 = const float32 0.5\n");
}

/* A loop before its body, a fold and its variable before theirs; every mention is renamed. */
TEST(loop, numbers_follow_the_text)
{
    struct built t;
    begin(&t);
    struct jy_access at = { .buffer = 0, .run_axis = -1, .nterms = 1 };
    jy_lv one = jy_loop_int_const(&t.b, 1), n = jy_loop_int(&t.b, JY_OP_ADD, one, one);
    jy_lv i = jy_loop_for(&t.b, n, 8, false);
    jy_lv k = jy_loop_fold(&t.b, JY_OP_MUL, JY_F64, JY_FOLD_SEQUENTIAL, i, jy_loop_scalar(&t.b, 0, JY_F64));
    at.term[0].index = k;
    jy_lv x = jy_loop_load(&t.b, JY_F64, &at);
    jy_lv fold = jy_loop_end_fold(&t.b, x);
    jy_loop_set_scalar(&t.b, 0, fold);
    at.term[0].index = i;
    jy_loop_store(&t.b, &at, jy_loop_cast(&t.b, JY_F64, jy_loop_size(&t.b, 0)));
    jy_loop_end_for(&t.b);
    check_built(&t, "    %0 = const int64 1\n"
                    "    %1 = scalar float64 q0\n"
                    "    %2 = size z0 ; 0\n"
                    "    %3 = int add %0, %0\n"
                    "    for %4 < %3 step 8:\n"
                    "      %5 = fold sequential multiply float64 %6 < %4 from %1:\n"
                    "        %7 = load float64 b0[%6]\n"
                    "        yield %7\n"
                    "      set q0 = %5\n"
                    "      %9 = cast float64 %2\n"
                    "      store b0[%4] = %9\n");
}

TEST(loop, accesses_are_copied)
{
    struct built t;
    begin(&t);
    *jy_vec_push(t.plan.p_arena, &t.plan.p_loops) =
        (struct jy_plan_loop){ JY_OP_MAXIMUM, 2, { JY_F64, JY_F64, JY_F64 } };
    struct jy_access at[3] = { { .run_axis = 0 }, { .run_axis = -1 }, { .run_axis = 0 } };
    jy_lv n = jy_loop_size(&t.b, 0);
    jy_loop_ufunc(&t.b, 0, n, 3, at);
    jy_lv first = jy_loop_vcall(&t.b, 0, JY_F64, 2,
                                (jy_lv[]){ jy_loop_scalar(&t.b, 0, JY_F64), jy_loop_scalar(&t.b, 0, JY_F64) });
    jy_loop_set_scalar(&t.b, 0, jy_loop_ufold(&t.b, 0, JY_F64, n, first, &at[0]));
    memset(at, 0xff, sizeof at);
    check_built(&t, "    %0 = size z0 ; 0\n"
                    "    %1 = scalar float64 q0\n"
                    "    ufunc l0 %0 (b0[0:], b0[0]) -> b0[0:]\n"
                    "    %3 = vcall l0 float64 %1, %1\n"
                    "    %4 = ufold l0 float64 %0 b0[0:] from %3\n"
                    "    set q0 = %4\n");
}

TEST(loop, statements_carry_their_source_line)
{
    struct built t;
    begin(&t);
    t.b.line = 12;
    t.b.file = "f.py";
    jy_lv n = jy_loop_size(&t.b, 0), m = jy_loop_int(&t.b, JY_OP_ADD, n, n);
    CHECK_UINT(jy_loop_at(&t.b, m)->l_line, 12);
    CHECK_STR(jy_loop_at(&t.b, m)->l_file, "f.py");
    CHECK_UINT(jy_loop_at(&t.b, n)->l_line, 0); /* shared: of no line in particular */
    check_built(&t, "    %0 = size z0 ; 0\n    %1 = int add %0, %0\n");
}
