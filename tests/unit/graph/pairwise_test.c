#include "graph/pairwise.h"
#include "tests/unit/test.h"
#include <stdlib.h>

/* NumPy's own formulation, recursive (numpy/_core/src/umath/loops_utils.h.src). */
static double
recursive_f64(const double *a, int64_t n)
{
    if (n < 8) {
        double r = -0.0;
        for (int64_t i = 0; i < n; i++)
            r += a[i];
        return r;
    }
    if (n <= 128) {
        double r[8];
        int64_t i;
        for (i = 0; i < 8; i++)
            r[i] = a[i];
        for (i = 8; i < n - n % 8; i += 8)
            for (int k = 0; k < 8; k++)
                r[k] += a[i + k];
        double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        for (; i < n; i++)
            sum += a[i];
        return sum;
    }
    int64_t half = n / 2;
    half -= half % 8;
    return recursive_f64(a, half) + recursive_f64(a + half, n - half);
}

static double
walk_f64(const double *a, int64_t n, int64_t chunk)
{
    struct jy_pairwise s;
    for (int64_t k = jy_pairwise_begin(&s, n, chunk); k != 0;)
        k = jy_pairwise_next_f64(&s, jy_pairwise_leaf_f64((const char *)(a + s.start), k, sizeof(*a)));
    return s.value.d;
}

static double *
numbers(int64_t n)
{
    double *a = calloc((size_t)n + 1, sizeof(*a));
    uint64_t x = 88172645463325252;
    for (int64_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        a[i] = ((double)(x >> 11) - 0x1p52) * (x & 1 ? 1e-12 : 1e3);
    }
    return a;
}

TEST(pairwise, walk_is_the_recursion_for_every_length)
{
    double *a = numbers(70000);
    for (int64_t n = 1; n < 1200; n++)
        CHECK_F64BITS(walk_f64(a, n, INT64_MAX), recursive_f64(a, n));
    for (int64_t n = 1200; n < 70000; n += 977)
        CHECK_F64BITS(walk_f64(a, n, INT64_MAX), recursive_f64(a, n));
    free(a);
}

TEST(pairwise, pieces_are_added_in_order)
{
    double *a = numbers(30000);
    for (int64_t n = 8000; n < 30000; n += 411) {
        double sum = 0.0;
        for (int64_t i = 0; i < n; i += 8192)
            sum += recursive_f64(a + i, n - i < 8192 ? n - i : 8192);
        CHECK_F64BITS(walk_f64(a, n, 8192), n <= 8192 ? recursive_f64(a, n) : sum);
    }
    free(a);
}

TEST(pairwise, single_precision_adds_in_single_precision)
{
    float a[300], sum = -0.0f;
    for (int i = 0; i < 300; i++)
        a[i] = 1.0f / (float)(i + 3);
    struct jy_pairwise s;
    for (int64_t k = jy_pairwise_begin(&s, 7, INT64_MAX); k != 0;)
        k = jy_pairwise_next_f32(&s, jy_pairwise_leaf_f32((const char *)(a + s.start), k, sizeof(*a)));
    for (int i = 0; i < 7; i++)
        sum += a[i];
    CHECK_F32BITS(s.value.f, sum);
    for (int64_t k = jy_pairwise_begin(&s, 300, INT64_MAX); k != 0;)
        k = jy_pairwise_next_f32(&s, jy_pairwise_leaf_f32((const char *)(a + s.start), k, sizeof(*a)));
    float left = jy_pairwise_leaf_f32((const char *)a, 72, 4) + jy_pairwise_leaf_f32((const char *)(a + 72), 72, 4);
    float right =
        jy_pairwise_leaf_f32((const char *)(a + 144), 72, 4) + jy_pairwise_leaf_f32((const char *)(a + 216), 84, 4);
    CHECK_F32BITS(s.value.f, left + right);
}

TEST(pairwise, leaves_cover_a_huge_run_in_order)
{
    struct jy_pairwise s;
    int64_t expected = 0, n = 1000003;
    for (int64_t k = jy_pairwise_begin(&s, n, INT64_MAX); k != 0; k = jy_pairwise_next_f64(&s, 0.0)) {
        if (s.start != expected || k > JY_PAIRWISE_LEAF)
            CHECK_INT(s.start, expected);
        expected += k;
    }
    CHECK_INT(expected, n);
}

TEST(pairwise, signs_of_zero_survive)
{
    double zeros[9] = { -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0 };
    CHECK_F64BITS(walk_f64(zeros, 9, INT64_MAX), -0.0);
    CHECK_F64BITS(walk_f64(zeros, 3, INT64_MAX), -0.0);
    CHECK_F64BITS(walk_f64(zeros, 0, INT64_MAX), -0.0);
    CHECK_F64BITS(walk_f64(zeros, 9, 4), 0.0); /* several pieces are added to +0.0 */
}

TEST(pairwise, strides_may_be_negative)
{
    double a[20], reversed[20];
    for (int i = 0; i < 20; i++)
        a[i] = reversed[19 - i] = 0.1 * i * i;
    CHECK_F64BITS(jy_pairwise_leaf_f64((const char *)(a + 19), 20, -8),
                  jy_pairwise_leaf_f64((const char *)reversed, 20, 8));
}
