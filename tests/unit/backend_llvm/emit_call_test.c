/* Calls of inner loops: what they are handed (pointers, count, strides, datum), and reductions by them. */
#include "tests/unit/backend_llvm/harness.h"

struct seen {
    intptr_t count, strides[3];
    char *args[3];
    int calls;
};

/* out = 10*a + b, and a record of the last call */
static void
inner(char **args, const intptr_t *dims, const intptr_t *strides, void *data)
{
    struct seen *seen = data;
    seen->count = *dims;
    memcpy(seen->strides, strides, sizeof seen->strides);
    memcpy(seen->args, args, sizeof seen->args);
    seen->calls++;
    for (intptr_t i = 0; i < *dims; i++) {
        double a = *(double *)(args[0] + i * strides[0]), b = *(double *)(args[1] + i * strides[1]);
        *(double *)(args[2] + i * strides[2]) = 10 * a + b;
    }
}

static struct jy_access
run(uint32_t buffer, jy_lv start, int axis)
{
    struct jy_access a = trial_access(buffer, start);
    a.run_axis = (int8_t)axis;
    return a;
}

/* for first in 0, 4, 8...: tile = f(b0[first..], b1) over min(4, n - first); b2[first + j] = tile[j] */
TEST(emit_call, tiles)
{
    for (int level = 0; level < LEVELS; level++) {
        struct trial t;
        struct seen seen = { .calls = 0 };
        if (!level_runs((enum level)level))
            continue;
        trial_begin(&t);
        uint32_t a = trial_buffer(&t, JY_F64, false), b = trial_buffer(&t, JY_F64, true),
                 out = trial_buffer(&t, JY_F64, true);
        uint32_t tile = trial_buffer(&t, JY_F64, true);
        t.plan.p_buffers.at[tile].b_kind = JY_BUFFER_TILE;
        t.plan.p_buffers.at[tile].b_index = 64;
        jy_lv count = trial_count(&t), four = jy_loop_int_const(&t.b, 4), first = jy_loop_for(&t.b, count, 4, false);
        jy_lv extent = jy_loop_int(&t.b, JY_OP_MINIMUM, four, jy_loop_int(&t.b, JY_OP_SUB, count, first));
        struct jy_access access[] = { run(a, first, 0), run(b, JY_NO_LV, -1), run(tile, JY_NO_LV, 0) };
        jy_loop_ufunc(&t.b, 0, extent, 3, access);
        jy_lv j = jy_loop_for(&t.b, extent, 1, true), v = trial_load(&t, tile, j);
        struct jy_access to = { .buffer = out, .nterms = 2, .term = { { .index = first }, { .index = j } } };
        jy_loop_store(&t.b, &to, v);
        jy_loop_end_for(&t.b);
        jy_loop_end_for(&t.b);
        trial_finish(&t);
        if (CHECK(trial_compile(&t, (enum level)level))) {
            double x[40], y = 3, result[20] = { 0 };
            _Alignas(64) char scratch[256];
            for (int i = 0; i < 40; i++)
                x[i] = i;
            struct jy_desc desc[] = {
                { (char *)&x[39], { -16 } }, { (char *)&y, { 8 } }, { (char *)result, { 8 } }, { NULL, { 0 } }
            };
            struct jy_loop_fn loop = { inner, &seen, NULL };
            int64_t size = 10;
            struct jy_call call = { .desc = desc, .size = &size, .loop = &loop, .tile = scratch };
            trial_run(&t, &call);
            CHECK_INT(seen.calls, 3);
            CHECK_INT(seen.count, 2);
            CHECK_INT(seen.strides[0], -16);
            CHECK_INT(seen.strides[1], 0);
            CHECK_INT(seen.strides[2], 8);
            CHECK_PTR(seen.args[0], &x[39 - 16]);
            CHECK_PTR(seen.args[2], scratch + 64);
            for (int i = 0; i < 20; i++)
                CHECK_F64BITS(result[i], i < 10 ? 10 * x[39 - 2 * i] + 3 : 0);
        }
        trial_end(&t);
    }
}

TEST(emit_call, reduction)
{
    struct trial t;
    struct seen seen = { .calls = 0 };
    trial_begin(&t);
    uint32_t in = trial_buffer(&t, JY_F64, true);
    struct jy_access access = run(in, JY_NO_LV, 0);
    jy_lv start = jy_loop_const(&t.b, JY_F64, (union jy_scalar){ .d = 0.5 });
    jy_loop_set_scalar(&t.b, 0, jy_loop_ufold(&t.b, 0, JY_F64, trial_count(&t), start, &access));
    trial_finish(&t);
    if (CHECK(trial_compile(&t, LEVEL_HOST))) {
        double x[] = { 1, 2, 3 };
        struct jy_desc desc = { (char *)x, { 8 } };
        struct jy_loop_fn loop = { inner, &seen, NULL };
        union jy_scalar slot;
        int64_t size = 3;
        struct jy_call call = { .desc = &desc, .size = &size, .loop = &loop, .scalar = &slot, .sum_chunk = INT64_MAX };
        trial_run(&t, &call);
        CHECK_F64BITS(slot.d, ((0.5 * 10 + 1) * 10 + 2) * 10 + 3);
        CHECK_PTR(seen.args[0], seen.args[2]);
        CHECK_INT(seen.strides[1], 8);
    }
    trial_end(&t);
}

#if defined(__x86_64__)
#include <immintrin.h>

static bool
host_has_registers(void)
{
    return strstr(jy_backend_entry()->host_features(), "+avx512dq") != NULL &&
           strstr(jy_backend_entry()->host_features(), "+avx512vl") != NULL;
}

/* 3*x + 1 */
__attribute__((target("avx512f"))) static __m512d
three_and_one(__m512d x)
{
    return _mm512_add_pd(_mm512_mul_pd(x, _mm512_set1_pd(3)), _mm512_set1_pd(1));
}

/* b1[i] = 2 * f(b0[i]), strided and not, whole vectors, a tail, a single element, nothing */
TEST(emit_call, vector_functions)
{
    for (int unit = 0; unit < 2; unit++) {
        struct trial t;
        if (!host_has_registers())
            continue;
        trial_begin(&t);
        uint32_t a = trial_buffer(&t, JY_F64, unit), out = trial_buffer(&t, JY_F64, true);
        jy_lv i = jy_loop_for(&t.b, trial_count(&t), 1, true), x = trial_load(&t, a, i);
        jy_lv f = jy_loop_vcall(&t.b, 0, JY_F64, 1, &x);
        trial_store(&t, out, i, jy_loop_op(&t.b, JY_OP_ADD, JY_F64, 2, (jy_lv[]){ f, f }, false));
        jy_loop_end_for(&t.b);
        trial_finish(&t);
        if (CHECK(trial_compile(&t, LEVEL_HOST))) {
            union {
                __m512d (*function)(__m512d);
                void *object;
            } u = { three_and_one };
            double from[64], to[33];
            struct jy_desc desc[] = { { (char *)from, { unit ? 8 : 16 } }, { (char *)to, { 8 } } };
            struct jy_loop_fn loop = { NULL, NULL, u.object };
            for (int k = 0; k < 64; k++)
                from[k] = k / 7.0;
            for (int64_t n = 0; n <= 32; n++) {
                struct jy_call call = { .desc = desc, .size = &n, .loop = &loop };
                memset(to, 0, sizeof to);
                trial_run(&t, &call);
                for (int k = 0; k < 33; k++) {
                    double v = from[unit ? k : 2 * k % 64];
                    CHECK_F64BITS(to[k], k < n ? 2 * (v * 3 + 1) : 0);
                }
            }
        }
        trial_end(&t);
    }
}

TEST(emit_call, vector_functions_need_the_registers)
{
    struct trial t;
    trial_begin(&t);
    uint32_t a = trial_buffer(&t, JY_F64, true);
    jy_lv i = jy_loop_for(&t.b, trial_count(&t), 1, true), x = trial_load(&t, a, i);
    trial_store(&t, a, i, jy_loop_vcall(&t.b, 0, JY_F64, 1, &x));
    jy_loop_end_for(&t.b);
    trial_finish(&t);
    CHECK(!trial_compile(&t, LEVEL_PLAIN));
    trial_end(&t);
}
#endif
