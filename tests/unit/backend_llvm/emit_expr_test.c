/* Every elementwise operation and cast on every dtype, at lengths around the vector widths and with strides, on
 * every feature level: bits and FP flags of jy_scalar_apply, and nothing written beside the result. */
#include "tests/unit/backend_llvm/harness.h"
#include <stdio.h>

#define MOST 140 /* elements */
#define ROOM (MOST * 8 * 3)

/* Of every buffer, in elements; the data starts where all elements lie inside. A kernel that knows the stride takes
 * the first only. */
static const int strides[] = { 1, 2, -1, -3 };

static void
build_op(struct trial *t, jy_op op, jy_dtype dtype, bool unit)
{
    unsigned arity = (unsigned)jy_op_info[op].arity;
    jy_lv args[3];
    uint32_t in[3];
    trial_begin(t);
    for (unsigned k = 0; k < arity; k++)
        in[k] = trial_buffer(t, op == JY_OP_WHERE && k == 0 ? JY_BOOL : dtype, unit);
    jy_dtype result = jy_scalar_result_dtype(op, dtype);
    uint32_t out = trial_buffer(t, result, unit);
    jy_lv i = jy_loop_for(&t->b, trial_count(t), 1, true);
    for (unsigned k = 0; k < arity; k++)
        args[k] = trial_load(t, in[k], i);
    trial_store(t, out, i, jy_loop_op(&t->b, op, result, arity, args, false));
    jy_loop_end_for(&t->b);
    trial_finish(t);
}

static void
build_cast(struct trial *t, jy_dtype from, jy_dtype to, bool unit)
{
    trial_begin(t);
    uint32_t in = trial_buffer(t, from, unit), out = trial_buffer(t, to, unit);
    jy_lv i = jy_loop_for(&t->b, trial_count(t), 1, true);
    trial_store(t, out, i, jy_loop_cast(&t->b, to, trial_load(t, in, i)));
    jy_loop_end_for(&t->b);
    trial_finish(t);
}

static void
place(struct jy_desc *desc, char *memory, jy_dtype dtype, size_t n, int stride)
{
    int64_t step = (int64_t)stride * jy_dtype_info[dtype].bytes;
    desc->data = memory + (step < 0 ? -step * (int64_t)(n == 0 ? 0 : n - 1) : 0);
    desc->stride[0] = step;
}

static char memory[4][ROOM], untouched[ROOM];

/* Runs the kernel on n elements (`seed` chooses them) and compares with `expect`. `arity` buffers in, one out. */
static void
compare(struct trial *t, const char *what, size_t n, size_t seed, int stride, jy_op op, jy_dtype to, bool is_cast)
{
    size_t arity = t->plan.p_buffers.n - 1, bad = 0;
    struct jy_desc desc[4];
    int64_t size = (int64_t)n;
    struct jy_call call = { .desc = desc, .size = &size };
    jy_dtype from = is_cast ? t->plan.p_buffers.at[0].b_dtype : t->plan.p_buffers.at[arity - 1].b_dtype;

    for (size_t k = 0; k <= arity; k++) {
        memset(memory[k], 0x5a, ROOM);
        jy_dtype dtype = t->plan.p_buffers.at[k].b_dtype;
        place(&desc[k], memory[k], dtype, n, stride);
        for (size_t i = 0; i < n && k < arity; i++)
            jy_scalar_store(dtype, desc[k].data + (int64_t)i * desc[k].stride[0],
                            sample(dtype, seed + i * (2 * k + 1) + 31 * k));
    }
    memcpy(untouched, memory[arity], ROOM);
    int flags = trial_run(t, &call), wanted;
    union jy_scalar expected[MOST], actual, args[3];
    feclearexcept(FE_ALL_EXCEPT);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < arity; k++)
            args[k] = jy_scalar_load(t->plan.p_buffers.at[k].b_dtype, desc[k].data + (int64_t)i * desc[k].stride[0]);
        expected[i] = is_cast ? jy_scalar_cast(from, to, args[0]) : jy_scalar_apply(op, from, args, NULL);
    }
    wanted = fetestexcept(FLAGS);
    for (size_t i = 0; i < n; i++) {
        int64_t at = (int64_t)i * desc[arity].stride[0];
        actual = jy_scalar_load(to, desc[arity].data + at);
        if (!same_value(to, actual, expected[i]) && bad++ == 0)
            printf("\n    %s: n %zu, seed %zu, stride %d: element %zu is %016lx, not %016lx", what, n, seed, stride, i,
                   (unsigned long)actual.bits, (unsigned long)expected[i].bits);
        memset(desc[arity].data + at, 0x5a, jy_dtype_info[to].bytes);
    }
    CHECK_UINT(bad, 0);
    CHECK_BYTES(memory[arity], untouched, ROOM);
    if (flags != wanted)
        printf("\n    %s: n %zu, seed %zu, stride %d: flags %x, not %x", what, n, seed, stride, flags, wanted);
    CHECK_INT(flags, wanted);
}

static void
compare_lengths(struct trial *t, const char *what, int stride, jy_op op, jy_dtype to, bool is_cast)
{
    for (size_t n = 0; n <= 70; n += n < 20 ? 1 : 7)
        compare(t, what, n, n * 13, stride, op, to, is_cast);
    for (size_t seed = 0; seed < 60; seed++) /* few elements, so that flags say something */
        compare(t, what, 1 + seed % 3, 1000 + seed * 17, stride, op, to, is_cast);
    compare(t, what, MOST, 77, stride, op, to, is_cast);
}

static void
try_op(jy_op op, jy_dtype dtype, enum level level, bool unit)
{
    char what[80];
    struct trial t;
    build_op(&t, op, dtype, unit);
    snprintf(what, sizeof what, "%s %s, level %d", jy_op_info[op].text, jy_dtype_info[dtype].text, (int)level);
    if (!trial_compile(&t, level))
        printf("\n    %s: %s", what, t.why);
    if (CHECK(t.kernel != NULL))
        for (size_t s = 0; s < (unit ? 1 : sizeof strides / sizeof *strides); s++)
            compare_lengths(&t, what, strides[s], op, jy_scalar_result_dtype(op, dtype), false);
    trial_end(&t);
}

static void
try_all_ops(enum level level)
{
    if (!level_runs(level))
        return;
    for (int op = 0; op < JY_OP_COUNT; op++)
        for (int dtype = 0; dtype < JY_DTYPE_COUNT; dtype++)
            if (jy_op_info[op].klass == JY_CLASS_EW && jy_scalar_has((jy_op)op, (jy_dtype)dtype))
                for (int unit = 0; unit < 2; unit++)
                    try_op((jy_op)op, (jy_dtype)dtype, level, unit == 1);
}

TEST(emit_expr, operations_host)
{
    try_all_ops(LEVEL_HOST);
}

TEST(emit_expr, operations_avx2)
{
    try_all_ops(LEVEL_AVX2);
}

TEST(emit_expr, operations_plain)
{
    try_all_ops(LEVEL_PLAIN);
}

TEST(emit_expr, casts)
{
    char what[80];
    for (int level = 0; level < LEVELS; level++)
        for (int from = 0; from < JY_DTYPE_COUNT; from++)
            for (int to = 0; to < JY_DTYPE_COUNT; to++) {
                struct trial t;
                bool unit = (from + to) % 2 == 0;
                if (!level_runs((enum level)level))
                    continue;
                build_cast(&t, (jy_dtype)from, (jy_dtype)to, unit);
                snprintf(what, sizeof what, "cast %s to %s, level %d", jy_dtype_info[from].text, jy_dtype_info[to].text,
                         level);
                if (CHECK(trial_compile(&t, (enum level)level)))
                    compare_lengths(&t, what, unit ? 1 : 2, JY_OP_CAST, (jy_dtype)to, true);
                trial_end(&t);
            }
}
