/* What the backend's tests share: a plan with 1-D buffers built statement by statement, compiled for a given feature
 * level, loaded and run.
 *
 * Every level that this machine can run is tried: its own, AVX2, and plain x86-64 (128-bit vectors without masked
 * accesses). */
#ifndef JY_BACKEND_HARNESS_H
#define JY_BACKEND_HARNESS_H

#include "graph/backend.h"
#include "graph/loop_build.h"
#include "graph/scalar.h"
#include "runtime/loader.h"
#include "tests/unit/test.h"
#include <fenv.h>
#include <string.h>

const struct jy_backend *jy_backend_entry(void);

enum level { LEVEL_HOST, LEVEL_AVX2, LEVEL_PLAIN, LEVELS };

static inline const char *
level_features(enum level level)
{
    static const char *const features[LEVELS] = {
        NULL, "+avx2,+fma,+bmi,+bmi2,+lzcnt,+popcnt,+sse4.2,+f16c,+movbe,+cx16,+sahf", ""
    };
    return features[level];
}

static inline bool
level_runs(enum level level)
{
    return level != LEVEL_AVX2 || strstr(jy_backend_entry()->host_features(), "+avx2") != NULL;
}

#define FLAGS (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW)

struct trial {
    struct jy_arena *arena;
    struct jy_plan plan;
    struct jy_loop_builder b;
    struct jy_object object;
    struct jy_code_block *code;
    jy_kernel_fn kernel;
    const char *why;
};

static inline void
trial_begin(struct trial *t)
{
    memset(t, 0, sizeof *t);
    t->arena = jy_arena_new();
    t->plan.p_arena = t->arena;
    jy_loop_begin(&t->b, t->arena);
}

/* In the place of a plan that is built by hand; false after a failed check. */
static inline bool
trial_parse(struct trial *t, const char *text)
{
    const char *why = NULL;
    trial_begin(t);
    const struct jy_plan *plan = jy_plan_parse(t->arena, text, &why);
    if (plan != NULL)
        t->plan = *plan;
    return CHECK_STR(why, NULL);
}

/* A 1-D buffer; `unit`: its stride is known to be the itemsize. */
static inline uint32_t
trial_buffer(struct trial *t, jy_dtype dtype, bool unit)
{
    struct jy_buffer *b = jy_vec_push(t->arena, &t->plan.p_buffers);
    *b = (struct jy_buffer){ .b_kind = JY_BUFFER_INPUT, .b_dtype = dtype, .b_ndim = 1, .b_unit_axis = unit ? 0 : -1 };
    return (uint32_t)t->plan.p_buffers.n - 1;
}

/* Element [index] of a buffer; JY_NO_LV: its first. */
static inline struct jy_access
trial_access(uint32_t buffer, jy_lv index)
{
    struct jy_access a = { .buffer = buffer };
    if (index != JY_NO_LV) {
        a.nterms = 1;
        a.term[0].index = index;
    }
    return a;
}

static inline jy_lv
trial_load(struct trial *t, uint32_t buffer, jy_lv index)
{
    struct jy_access a = trial_access(buffer, index);
    return jy_loop_load(&t->b, t->plan.p_buffers.at[buffer].b_dtype, &a);
}

static inline void
trial_store(struct trial *t, uint32_t buffer, jy_lv index, jy_lv value)
{
    struct jy_access a = trial_access(buffer, index);
    jy_loop_store(&t->b, &a, value);
}

/* The value of size slot 0, which counts the elements. */
static inline jy_lv
trial_count(struct trial *t)
{
    if (t->plan.p_sizes.n == 0)
        *jy_vec_push(t->arena, &t->plan.p_sizes) = 0;
    return jy_loop_size(&t->b, 0);
}

static inline void
trial_finish(struct trial *t)
{
    *jy_vec_push(t->arena, &t->plan.p_kernels) = jy_loop_finish(&t->b);
}

static inline void
trial_unload(struct trial *t)
{
    jy_loader_free(t->code);
    jy_backend_entry()->release(&t->object);
    t->code = NULL;
}

static inline bool
trial_compile(struct trial *t, enum level level)
{
    struct jy_backend_options options = { .features = level_features(level), .verify = true, .name = "trial" };
    trial_unload(t);
    t->kernel = NULL;
    if (jy_backend_entry()->compile(&t->object, &t->plan, &options) != JY_OK) {
        t->why = t->object.error;
        return false;
    }
    if (jy_loader_place(&t->code, t->object.bytes, t->object.size, &t->why) != JY_OK)
        return false;
    void *at = jy_loader_symbol(t->code, "jy_kernel_0");
    memcpy(&t->kernel, &at, sizeof at);
    return t->kernel != NULL;
}

static inline void
trial_end(struct trial *t)
{
    trial_unload(t);
    jy_arena_free(t->arena);
}

/* Runs the kernel with clear flags; returns the flags it left. */
static inline int
trial_run(const struct trial *t, struct jy_call *call)
{
    feclearexcept(FE_ALL_EXCEPT);
    int32_t status = t->kernel(call);
    int flags = fetestexcept(FLAGS);
    feclearexcept(FE_ALL_EXCEPT);
    CHECK_INT(status, 0);
    return flags;
}

static inline const struct jy_helpers *
trial_helpers(void)
{
    static const struct jy_helpers helpers = { jy_pairwise_begin, jy_pairwise_next_f64, jy_pairwise_next_f32 };
    return &helpers;
}

/* How often a text of LLVM's has this. */
static inline size_t
count_in(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

/* Values that matter, then a spread of ordinary ones. */
static inline union jy_scalar
sample(jy_dtype dtype, size_t k)
{
    static const double reals[] = { 0.0,
                                    -0.0,
                                    1.0,
                                    -1.0,
                                    0.5,
                                    -2.5,
                                    3.5,
                                    1.5,
                                    1e308,
                                    -1e308,
                                    5e-324,
                                    2.2250738585072014e-308,
                                    1e-200,
                                    __builtin_inf(),
                                    -__builtin_inf(),
                                    __builtin_nan(""),
                                    2147483648.0,
                                    -2147483649.0,
                                    9.3e18,
                                    4294967296.5,
                                    1e-45,
                                    3e38,
                                    0.1,
                                    7.0 };
    static const int64_t ints[] = { 0,  1,   -1,        2,         63,        64,        31, 32,     33,
                                    65, -64, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 5,  1000003 };
    uint64_t mix = (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
    union jy_scalar v = { 0 };
    mix ^= mix >> 29;
    double real =
        k % 3 == 0 ? (double)(int64_t)mix * 0x1p-60 : reals[(k * 7 + (mix & 3)) % (sizeof reals / sizeof *reals)];
    int64_t whole = k % 3 == 0 ? (int64_t)mix : ints[(k * 5 + (mix & 1)) % (sizeof ints / sizeof *ints)];
    switch ((int)dtype) {
    case JY_BOOL:
        v.i = (int64_t)(mix >> 40 & 1);
        break;
    case JY_I32:
        v.i = (int32_t)whole;
        break;
    case JY_I64:
        v.i = whole;
        break;
    case JY_F32:
        v.f = (float)real;
        break;
    default: /* float64 */
        v.d = real;
        break;
    }
    return v;
}

static inline bool
same_value(jy_dtype dtype, union jy_scalar a, union jy_scalar b)
{
    if (dtype == JY_F64 && a.d != a.d)
        return b.d != b.d;
    if (dtype == JY_F32)
        return a.f != a.f ? b.f != b.f : memcmp(&a.f, &b.f, sizeof a.f) == 0;
    return a.bits == b.bits;
}

#endif
