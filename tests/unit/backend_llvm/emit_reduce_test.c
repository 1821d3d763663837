/* Folds of every order, dtype and length around the leaf and vector sizes, contiguous and strided, with an operation
 * before the fold; on every feature level. */
#include "tests/unit/backend_llvm/harness.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 9000
#define ROOM (MOST * 8 * 2)

static char memory[ROOM];

static int32_t
run_fold(const struct trial *t, jy_dtype dtype, size_t n, int stride, int64_t chunk, union jy_scalar *result,
         int *flags)
{
    struct jy_desc desc = {
        .data = memory + (stride < 0 ? (n == 0 ? 0 : n - 1) * jy_dtype_info[dtype].bytes * (size_t)-stride : 0),
        .stride = { (int64_t)stride * jy_dtype_info[dtype].bytes }
    };
    union jy_scalar slots[2] = { { 0 }, { 0 } };
    int64_t size = (int64_t)n;
    struct jy_call call = {
        .desc = &desc, .size = &size, .scalar = slots, .helper = trial_helpers(), .sum_chunk = chunk
    };
    *flags = trial_run(t, &call);
    *result = slots[0];
    return 0;
}

/* scalar[0] = fold of b0[i] (or of b0[i]*b0[i]); `plain`: the body holds a loop of its own, so that it cannot stand
 * in lanes */
static void
build_fold(struct trial *t, jy_op op, jy_dtype dtype, enum jy_fold_order order, bool unit, bool square,
           union jy_scalar start)
{
    trial_begin(t);
    uint32_t in = trial_buffer(t, dtype, unit);
    jy_lv initial = order == JY_FOLD_PAIRWISE ? JY_NO_LV : jy_loop_const(&t->b, dtype, start);
    jy_lv i = jy_loop_fold(&t->b, op, dtype, order, trial_count(t), initial), v = trial_load(t, in, i);
    if (square) {
        jy_lv args[] = { v, v };
        v = jy_loop_op(&t->b, JY_OP_MUL, dtype, 2, args, false);
    }
    jy_loop_set_scalar(&t->b, 0, jy_loop_end_fold(&t->b, v));
    trial_finish(t);
}

static union jy_scalar
element(jy_dtype dtype, size_t n, int stride, size_t i)
{
    int64_t bytes = jy_dtype_info[dtype].bytes, first = stride < 0 ? (int64_t)(n - 1) * bytes * -stride : 0;
    return jy_scalar_load(dtype, memory + first + (int64_t)i * stride * bytes);
}

static union jy_scalar
pairwise_leaf(jy_dtype dtype, size_t n, int stride, bool square, size_t start, size_t m)
{
    double d[JY_PAIRWISE_LEAF];
    float f[JY_PAIRWISE_LEAF];
    union jy_scalar r = { 0 };
    for (size_t k = 0; k < m; k++) {
        union jy_scalar v = element(dtype, n, stride, start + k);
        if (dtype == JY_F64)
            d[k] = square ? v.d * v.d : v.d;
        else
            f[k] = square ? v.f * v.f : v.f;
    }
    if (dtype == JY_F64)
        r.d = jy_pairwise_leaf_f64((const char *)d, (int64_t)m, sizeof *d);
    else
        r.f = jy_pairwise_leaf_f32((const char *)f, (int64_t)m, sizeof *f);
    return r;
}

static union jy_scalar
expect_pairwise(jy_dtype dtype, size_t n, int stride, bool square, int64_t chunk)
{
    struct jy_pairwise s;
    for (int64_t m = jy_pairwise_begin(&s, (int64_t)n, chunk); m != 0;) {
        union jy_scalar leaf = pairwise_leaf(dtype, n, stride, square, (size_t)s.start, (size_t)m);
        m = dtype == JY_F64 ? jy_pairwise_next_f64(&s, leaf.d) : jy_pairwise_next_f32(&s, leaf.f);
    }
    return s.value;
}

static const size_t lengths[] = { 0,   1,   2,   7,   8,   9,   15,   16,   17,   63,   100, 127,
                                  128, 129, 136, 200, 256, 257, 1000, 1024, 5000, 8192, 8999 };

static void
fill_random(jy_dtype dtype, size_t special)
{
    uint64_t x = 88172645463325252;
    for (size_t i = 0; i < ROOM / jy_dtype_info[dtype].bytes; i++) {
        union jy_scalar v = { 0 };
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        if (dtype == JY_F64)
            v.d = (double)(int64_t)x * 0x1p-63 * (i % 97 == 0 ? 1e6 : 1);
        else if (dtype == JY_F32)
            v.f = (float)(double)(int64_t)x * 0x1p-63f;
        else
            v.i = dtype == JY_BOOL ? (int64_t)(x >> 60 == 0) : dtype == JY_I32 ? (int32_t)x : (int64_t)x;
        if (special != 0 && i % special == special - 1)
            v = sample(dtype, i);
        jy_scalar_store(dtype, memory + i * jy_dtype_info[dtype].bytes, v);
    }
}

static void
try_pairwise(enum level level, jy_dtype dtype, bool unit, int stride, bool square)
{
    struct trial t;
    union jy_scalar zero = { 0 }, actual;
    int flags;
    build_fold(&t, JY_OP_ADD, dtype, JY_FOLD_PAIRWISE, unit, square, zero);
    if (CHECK(trial_compile(&t, level)))
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (int64_t chunk = 8192; chunk != 0; chunk = chunk == 8192 ? INT64_MAX : 0) {
                fill_random(dtype, k % 4 == 3 ? 401 : 0);
                run_fold(&t, dtype, lengths[k], stride, chunk, &actual, &flags);
                feclearexcept(FE_ALL_EXCEPT);
                union jy_scalar expected = expect_pairwise(dtype, lengths[k], stride, square, chunk);
                if (dtype == JY_F64)
                    CHECK_F64BITS(actual.d, expected.d);
                else
                    CHECK_F32BITS(actual.f, expected.f);
                CHECK_INT(flags, fetestexcept(FLAGS));
            }
    trial_end(&t);
}

TEST(emit_reduce, pairwise)
{
    for (int level = 0; level < LEVELS; level++)
        for (jy_dtype dtype = JY_F32; dtype <= JY_F64 && level_runs((enum level)level); dtype++)
            for (int square = 0; square < 2; square++) {
                try_pairwise((enum level)level, dtype, true, 1, square);
                try_pairwise((enum level)level, dtype, false, 2, square);
                try_pairwise((enum level)level, dtype, false, -1, square);
            }
}

static union jy_scalar
start_of(jy_op op, jy_dtype dtype)
{
    union jy_scalar v = { .i = op == JY_OP_LOGICAL_AND || op == JY_OP_MUL };
    if (op == JY_OP_BITWISE_AND)
        v.i = -1;
    if (op == JY_OP_MINIMUM || op == JY_OP_MAXIMUM)
        v.i = 1;
    if (jy_dtype_is_float(dtype)) {
        double real = (double)v.i * (op == JY_OP_MAXIMUM ? -0.75 : 1);
        v.bits = 0;
        if (dtype == JY_F64)
            v.d = real;
        else
            v.f = (float)real;
    }
    return v;
}

static void
try_in_order(enum level level, jy_op op, jy_dtype dtype, enum jy_fold_order order, bool unit, bool square,
             size_t special)
{
    static const size_t few[] = { 0, 1, 3, 15, 16, 31, 64, 65, 130, 257, 1000, 4095, 4096, 4097, 8500 };
    struct trial t;
    union jy_scalar start = start_of(op, dtype), actual, args[2];
    int flags, stride = unit ? 1 : -1;
    build_fold(&t, op, dtype, order, unit, square, start);
    if (!CHECK(trial_compile(&t, level)))
        printf("\n    %s %s: %s", jy_op_info[op].text, jy_dtype_info[dtype].text, t.why);
    for (size_t k = 0; t.kernel != NULL && k < sizeof few / sizeof *few; k++) {
        fill_random(dtype, special);
        if (dtype == JY_BOOL) /* one element decides, somewhere */
            for (size_t i = 0; i < ROOM; i++)
                memory[i] = (op == JY_OP_LOGICAL_AND || op == JY_OP_MINIMUM) != (i == few[k] * 3 / 4 && k % 2 == 0);
        run_fold(&t, dtype, few[k], stride, 0, &actual, &flags);
        feclearexcept(FE_ALL_EXCEPT);
        args[0] = start;
        for (size_t i = 0; i < few[k]; i++) {
            union jy_scalar pair[2];
            pair[0] = pair[1] = args[1] = element(dtype, few[k], stride, i);
            if (square)
                args[1] = jy_scalar_apply(JY_OP_MUL, dtype, pair, NULL);
            args[0] = jy_scalar_apply(op, dtype, args, NULL);
        }
        if (!CHECK(same_value(dtype, actual, args[0])))
            printf("\n    %s %s, n %zu, level %d, order %d: %016lx, not %016lx", jy_op_info[op].text,
                   jy_dtype_info[dtype].text, few[k], (int)level, (int)order, (unsigned long)actual.bits,
                   (unsigned long)args[0].bits);
        CHECK_INT(flags, fetestexcept(FLAGS));
    }
    trial_end(&t);
}

TEST(emit_reduce, free_and_sequential)
{
    static const struct {
        jy_op op;
        jy_dtype dtype;
    } rows[] = {
        { JY_OP_ADD, JY_I64 },        { JY_OP_ADD, JY_I32 },         { JY_OP_MUL, JY_I64 },
        { JY_OP_MUL, JY_I32 },        { JY_OP_MINIMUM, JY_I64 },     { JY_OP_MAXIMUM, JY_I32 },
        { JY_OP_MAXIMUM, JY_F64 },    { JY_OP_MINIMUM, JY_F64 },     { JY_OP_MINIMUM, JY_F32 },
        { JY_OP_MAXIMUM, JY_F32 },    { JY_OP_LOGICAL_OR, JY_BOOL }, { JY_OP_LOGICAL_AND, JY_BOOL },
        { JY_OP_BITWISE_OR, JY_I64 }, { JY_OP_BITWISE_AND, JY_I32 }, { JY_OP_BITWISE_XOR, JY_I64 },
        { JY_OP_MAXIMUM, JY_BOOL },   { JY_OP_MINIMUM, JY_BOOL },
    };
    for (int level = 0; level < LEVELS; level++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows && level_runs((enum level)level); k++) {
            bool real = jy_dtype_is_float(rows[k].dtype),
                 extreme = rows[k].op == JY_OP_MINIMUM || rows[k].op == JY_OP_MAXIMUM;
            try_in_order((enum level)level, rows[k].op, rows[k].dtype, JY_FOLD_FREE, true, false, real ? 900 : 0);
            try_in_order((enum level)level, rows[k].op, rows[k].dtype, JY_FOLD_FREE, false, rows[k].dtype != JY_BOOL,
                         0);
            if (!extreme)
                try_in_order((enum level)level, rows[k].op, rows[k].dtype, JY_FOLD_SEQUENTIAL, true, false, 0);
        }
    for (int level = 0; level < LEVELS; level++)
        for (jy_dtype dtype = JY_F32; dtype <= JY_F64 && level_runs((enum level)level); dtype++) {
            try_in_order((enum level)level, JY_OP_ADD, dtype, JY_FOLD_SEQUENTIAL, true, true, 300);
            try_in_order((enum level)level, JY_OP_MUL, dtype, JY_FOLD_SEQUENTIAL, false, false, 0);
        }
}

/* The element of the fold is itself a fold: sum over i of sum over j < 3 of b0[i]; the body has no lanes. */
TEST(emit_reduce, pairwise_of_folds)
{
    for (int level = 0; level < LEVELS; level++) {
        struct trial t;
        union jy_scalar actual;
        int flags;
        if (!level_runs((enum level)level))
            continue;
        trial_begin(&t);
        uint32_t in = trial_buffer(&t, JY_F64, true);
        jy_lv count = trial_count(&t), three = jy_loop_int_const(&t.b, 3),
              zero = jy_loop_const(&t.b, JY_F64, (union jy_scalar){ 0 });
        jy_lv i = jy_loop_fold(&t.b, JY_OP_ADD, JY_F64, JY_FOLD_PAIRWISE, count, JY_NO_LV);
        jy_loop_fold(&t.b, JY_OP_ADD, JY_F64, JY_FOLD_SEQUENTIAL, three, zero);
        jy_lv inner = jy_loop_end_fold(&t.b, trial_load(&t, in, i));
        jy_loop_set_scalar(&t.b, 0, jy_loop_end_fold(&t.b, inner));
        trial_finish(&t);
        if (!CHECK(trial_compile(&t, (enum level)level)))
            printf("\n    %s", t.why);
        for (size_t n = 0; t.kernel != NULL && n < 400; n += 37) {
            fill_random(JY_F64, 0);
            run_fold(&t, JY_F64, n, 1, INT64_MAX, &actual, &flags);
            for (size_t k = 0; k < n; k++) {
                double v = element(JY_F64, n, 1, k).d;
                v = v + v + v;
                memcpy(memory + k * 8, &v, 8);
            }
            CHECK_F64BITS(actual.d, expect_pairwise(JY_F64, n, 1, false, INT64_MAX).d);
        }
        trial_end(&t);
    }
}
