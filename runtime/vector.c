/* Finding vector functions: on CPUs with AVX-512 most of NumPy's loops over float64 are calls of one function of its
 * vector library, eight elements at a time, and NumPy's extension exports it.
 *
 * 1. The symbol is looked up in the object that holds the loop itself. Each function is there in two accuracies.
 * 2. Nothing is believed: a function counts only when the loop gave the same bits and FP flags on thousands of numbers. The
 *    loop sees them side by side, the function each among others, so that a result that depends on the neighbours shows. */
#define _GNU_SOURCE /* dladdr */
#include "runtime/vector.h"
#include "runtime/fpstatus.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The library's names; NumPy's loops of other operations are its own. */
static const struct {
    jy_op op;
    const char *name;
} names[] = {
    { JY_OP_EXP, "exp" },       { JY_OP_EXP2, "exp2" },   { JY_OP_EXPM1, "expm1" },   { JY_OP_LOG, "log" },
    { JY_OP_LOG2, "log2" },     { JY_OP_LOG10, "log10" }, { JY_OP_LOG1P, "log1p" },   { JY_OP_TAN, "tan" },
    { JY_OP_ARCSIN, "asin" },   { JY_OP_ARCCOS, "acos" }, { JY_OP_ARCTAN, "atan" },   { JY_OP_SINH, "sinh" },
    { JY_OP_COSH, "cosh" },     { JY_OP_CBRT, "cbrt" },   { JY_OP_ARCSINH, "asinh" }, { JY_OP_ARCCOSH, "acosh" },
    { JY_OP_ARCTANH, "atanh" },
};

#if defined(__x86_64__)
#include <immintrin.h>

#define POINTS 4096
#define STRIDE 517 /* odd: neighbours of the second order were far apart in the first */

typedef __m512d (*vector_fn)(__m512d);

/* Found or not, once per process. */
static struct {
    bool searched[JY_OP_COUNT];
    void *found[JY_OP_COUNT];
} state;

__attribute__((target("avx512f"))) static void
call_eight(void *function, const double *x, double *y)
{
    union {
        void *object;
        vector_fn function;
    } u = { function };
    _mm512_storeu_pd(y, u.function(_mm512_loadu_pd(x)));
}

/* Numbers of all sizes that these functions tell apart, both signs, and those that are special to one of them. */
static void
fill(double *x)
{
    static const double special[] = { 0.0, -0.0,  1,      -1,      INFINITY, -INFINITY, NAN,  5e-324, -5e-324,
                                      710, -745,  -746.5, 1e308,   -1e308,   2.2e-308,  0.5,  -0.5,   1.0 - 0x1p-53,
                                      2,   1e-17, 1e16,   -1e-310, 1024,     -1075,     89.5, 0.9375, 1.0647 };
    static const double scale[] = { 1e-9, 0.01, 0.5, 1, 2, 30, 800, 1e7 };
    uint64_t seed = 7;
    for (size_t i = 0; i < POINTS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double unit = (double)(int64_t)seed * 0x1p-63;
        x[i] = scale[i % 8] * (i % 16 < 8 ? unit : fabs(unit));
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        x[i * 149] = special[i];
}

static bool
same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool
agrees(void *function, const struct jy_loop_fn *loop)
{
    double x[POINTS], y[POINTS];
    intptr_t n = POINTS, eight = JY_VECTOR_LANES, strides[2] = { sizeof(double), sizeof(double) };
    char *args[2] = { (char *)x, (char *)y };
    fill(x);
    loop->fn(args, &n, strides, loop->data);
    for (size_t i = 0; i < POINTS; i += JY_VECTOR_LANES) {
        double in[JY_VECTOR_LANES], out[JY_VECTOR_LANES], again[JY_VECTOR_LANES];
        char *few[2] = { (char *)in, (char *)again };
        for (size_t k = 0; k < JY_VECTOR_LANES; k++)
            in[k] = x[(i + k) * STRIDE % POINTS];
        jy_fp_clear(true);
        loop->fn(few, &eight, strides, loop->data);
        uint32_t flags = jy_fp_read(true);
        jy_fp_clear(true);
        call_eight(function, in, out);
        if (jy_fp_read(true) != flags)
            return false;
        for (size_t k = 0; k < JY_VECTOR_LANES; k++)
            if (!same(out[k], y[(i + k) * STRIDE % POINTS]) || !same(out[k], again[k]))
                return false;
    }
    return true;
}

static void *
search(const char *name, const struct jy_loop_fn *loop)
{
    union {
        void (*function)(char **, const intptr_t *, const intptr_t *, void *);
        void *object;
    } u = { loop->fn };
    Dl_info where;
    void *handle = dladdr(u.object, &where) == 0 ? NULL : dlopen(where.dli_fname, RTLD_NOLOAD | RTLD_NOW | RTLD_LOCAL);
    void *found = NULL;
    for (int accuracy = 0; handle != NULL && found == NULL && accuracy < 2; accuracy++) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, "__svml_%s8%s", name, accuracy == 0 ? "_ha" : "");
        found = dlsym(handle, symbol);
        if (found != NULL && !agrees(found, loop))
            found = NULL;
    }
    if (handle != NULL)
        dlclose(handle); /* NumPy keeps it loaded */
    return found;
}

void *
jy_vector_find(jy_op op, const struct jy_loop_fn *loop)
{
    size_t row = 0;
    while (row < sizeof names / sizeof *names && names[row].op != op)
        row++;
    if (row == sizeof names / sizeof *names || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq"))
        return NULL;
    if (!state.searched[op]) {
        uint32_t before = jy_fp_read(true);
        state.found[op] = search(names[row].name, loop);
        state.searched[op] = true;
        jy_fp_clear(true);
        jy_fp_raise(before);
    }
    return state.found[op];
}
#else
void *
jy_vector_find(jy_op op, const struct jy_loop_fn *loop)
{
    (void)op;
    (void)loop;
    (void)names;
    return NULL;
}
#endif
