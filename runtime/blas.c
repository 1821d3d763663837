/* Finding BLAS: a handle on NumPy's extension that is already in the process, and dlsym on it, which searches its
 * dependencies too. The names say how wide the integers are. */
#include "runtime/blas.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Both integer widths of one function share a slot: the call is made through the type that the name announced. */
enum function { GEMM, GEMV, SYRK, AXPY, DOT, FUNCTIONS };
static const char *const stems[FUNCTIONS] = { "gemm", "gemv", "syrk", "axpy", "dot" };

typedef void (*any_fn)(void);

/* Found once per process. */
static struct {
    bool searched, found, wide;
    any_fn at[2][FUNCTIONS]; /* float32, float64 */
    char name[160];
    int numpy_minor;
} state;

static any_fn
look_up(void *handle, const char *name)
{
    union {
        void *object;
        any_fn function;
    } u = { dlsym(handle, name) };
    return u.function;
}

static bool
find_under(void *handle, const char *prefix, const char *suffix)
{
    char name[64];
    for (int t = 0; t < 2; t++)
        for (int f = 0; f < FUNCTIONS; f++) {
            snprintf(name, sizeof name, "%scblas_%c%s%s", prefix, t ? 'd' : 's', stems[f], suffix);
            if ((state.at[t][f] = look_up(handle, name)) == NULL)
                return false;
        }
    return true;
}

static void
describe(void *handle, const char *prefix, const char *suffix)
{
    char symbol[64];
    const char *config = NULL, *core = NULL;
    snprintf(symbol, sizeof symbol, "%sopenblas_get_config%s", prefix, suffix);
    any_fn get = look_up(handle, symbol);
    if (get != NULL)
        config = ((char *(*)(void))get)();
    snprintf(symbol, sizeof symbol, "%sopenblas_get_corename%s", prefix, suffix);
    get = look_up(handle, symbol);
    if (get != NULL)
        core = ((char *(*)(void))get)();
    char version[32] = "";
    if (config != NULL) {
        int at = 0;
        sscanf(config, "OpenBLAS %n%31s", &at, version);
    }
    snprintf(state.name, sizeof state.name, "%s%s%s%s%s, %d-bit ints",
             config != NULL ? prefix[0] ? "scipy-openblas" : "openblas" : "cblas", version[0] ? " " : "", version,
             core != NULL ? " " : "", core != NULL ? core : "", state.wide ? 64 : 32);
}

void
jy_blas_init(const char *extension, int numpy_minor)
{
    static const struct {
        const char *prefix, *suffix;
        bool wide;
    } spellings[] = { { "scipy_", "64_", true }, { "", "64_", true }, { "scipy_", "", false }, { "", "", false } };
    if (state.searched)
        return;
    state.searched = true;
    state.numpy_minor = numpy_minor;
    strcpy(state.name, "none");
    void *handle = extension == NULL ? NULL : dlopen(extension, RTLD_NOLOAD | RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return;
    for (size_t i = 0; !state.found && i < sizeof spellings / sizeof *spellings; i++)
        if (find_under(handle, spellings[i].prefix, spellings[i].suffix)) {
            state.found = true;
            state.wide = spellings[i].wide;
            describe(handle, spellings[i].prefix, spellings[i].suffix);
        }
    dlclose(handle); /* NumPy keeps it loaded */
}

bool
jy_blas_found(void)
{
    return state.found;
}

const char *
jy_blas_describe(void)
{
    return state.name;
}

int64_t
jy_blas_max(void)
{
    return state.wide ? INT64_MAX : INT_MAX;
}

bool
jy_product_reports(jy_op op)
{
    return op == JY_OP_MATMUL || state.numpy_minor >= 3;
}

/* One function for both integer widths: CALL(int64_t, (int64_t)) or CALL(int, (int)). */
#define BY_WIDTH(CALL)                                                                                                 \
    do {                                                                                                               \
        if (state.wide)                                                                                                \
            CALL(int64_t);                                                                                             \
        else                                                                                                           \
            CALL(int);                                                                                                 \
    } while (0)

void
jy_blas_gemm(jy_dtype dtype, int transa, int transb, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
             const void *b, int64_t ldb, void *c, int64_t ldc)
{
#define CALL_F64(I)                                                                                                    \
    ((void (*)(int, int, int, I, I, I, double, const void *, I, const void *, I, double, void *,                       \
               I))state.at[1][GEMM])(JY_ROW_MAJOR, transa, transb, (I)m, (I)n, (I)k, 1.0, a, (I)lda, b, (I)ldb, 0.0,   \
                                     c, (I)ldc)
#define CALL_F32(I)                                                                                                    \
    ((void (*)(int, int, int, I, I, I, float, const void *, I, const void *, I, float, void *, I))state.at[0][GEMM])(  \
        JY_ROW_MAJOR, transa, transb, (I)m, (I)n, (I)k, 1.0f, a, (I)lda, b, (I)ldb, 0.0f, c, (I)ldc)
    if (dtype == JY_F64)
        BY_WIDTH(CALL_F64);
    else
        BY_WIDTH(CALL_F32);
#undef CALL_F64
#undef CALL_F32
}

void
jy_blas_gemv(jy_dtype dtype, int order, int trans, int64_t m, int64_t n, const void *a, int64_t lda, const void *x,
             int64_t incx, void *y, int64_t incy)
{
#define CALL_F64(I)                                                                                                    \
    ((void (*)(int, int, I, I, double, const void *, I, const void *, I, double, void *, I))state.at[1][GEMV])(        \
        order, trans, (I)m, (I)n, 1.0, a, (I)lda, x, (I)incx, 0.0, y, (I)incy)
#define CALL_F32(I)                                                                                                    \
    ((void (*)(int, int, I, I, float, const void *, I, const void *, I, float, void *, I))state.at[0][GEMV])(          \
        order, trans, (I)m, (I)n, 1.0f, a, (I)lda, x, (I)incx, 0.0f, y, (I)incy)
    if (dtype == JY_F64)
        BY_WIDTH(CALL_F64);
    else
        BY_WIDTH(CALL_F32);
#undef CALL_F64
#undef CALL_F32
}

void
jy_blas_syrk(jy_dtype dtype, int trans, int64_t n, int64_t k, const void *a, int64_t lda, void *c, int64_t ldc)
{
#define CALL_F64(I)                                                                                                    \
    ((void (*)(int, int, int, I, I, double, const void *, I, double, void *, I))state.at[1][SYRK])(                    \
        JY_ROW_MAJOR, JY_UPPER, trans, (I)n, (I)k, 1.0, a, (I)lda, 0.0, c, (I)ldc)
#define CALL_F32(I)                                                                                                    \
    ((void (*)(int, int, int, I, I, float, const void *, I, float, void *, I))state.at[0][SYRK])(                      \
        JY_ROW_MAJOR, JY_UPPER, trans, (I)n, (I)k, 1.0f, a, (I)lda, 0.0f, c, (I)ldc)
    if (dtype == JY_F64)
        BY_WIDTH(CALL_F64);
    else
        BY_WIDTH(CALL_F32);
#undef CALL_F64
#undef CALL_F32
}

void
jy_blas_axpy(jy_dtype dtype, int64_t n, const void *alpha, const void *x, int64_t incx, void *y, int64_t incy)
{
#define CALL_F64(I)                                                                                                    \
    ((void (*)(I, double, const void *, I, void *, I))state.at[1][AXPY])((I)n, *(const double *)alpha, x, (I)incx, y,  \
                                                                         (I)incy)
#define CALL_F32(I)                                                                                                    \
    ((void (*)(I, float, const void *, I, void *, I))state.at[0][AXPY])((I)n, *(const float *)alpha, x, (I)incx, y,    \
                                                                        (I)incy)
    if (dtype == JY_F64)
        BY_WIDTH(CALL_F64);
    else
        BY_WIDTH(CALL_F32);
#undef CALL_F64
#undef CALL_F32
}

double
jy_blas_dot(jy_dtype dtype, int64_t n, const void *x, int64_t incx, const void *y, int64_t incy)
{
    double sum;
#define CALL_F64(I)                                                                                                    \
    (sum = ((double (*)(I, const void *, I, const void *, I))state.at[1][DOT])((I)n, x, (I)incx, y, (I)incy))
#define CALL_F32(I)                                                                                                    \
    (sum = (double)((float (*)(I, const void *, I, const void *, I))state.at[0][DOT])((I)n, x, (I)incx, y, (I)incy))
    if (dtype == JY_F64)
        BY_WIDTH(CALL_F64);
    else
        BY_WIDTH(CALL_F32);
#undef CALL_F64
#undef CALL_F32
    return sum;
}

int
jy_blas_numpy_minor(void)
{
    return state.numpy_minor;
}
