/* np.matmul and np.dot: which BLAS call NumPy makes for which shapes and strides.
 *
 * The bits of a product depend on the routine, on m, n, k and on nothing else that NumPy varies; so the decisions
 * below are NumPy's (umath/matmul.c.src, multiarray/cblasfuncs.c), in its order:
 *
 *   matmul, (m,n) x (n,p)                                           dot, at most 2-D, floats
 *     an extent is 0                     zeros                        bad strides            copied first
 *     m == p == 1                        dot                          one side like a scalar axpy per line
 *     n == 1 or no operand fits          plain loop                   vector . vector        dot
 *     m == 1, p == 1                     gemv, transposed             matrix . vector        gemv, by contiguity
 *     matrix x itself transposed         syrk, then mirrored          matrix . matrix        syrk or gemm, by
 * contiguity
 *     else                               gemm                        more axes, ints        one dot per element
 *
 * NumPy before 2.3 takes the plain loop where an operand of matmul has bad strides; later ones copy it. Everything
 * here must be compiled without contraction. */
#include "runtime/blas.h"
#include "runtime/alloc.h"
#include <string.h>

#define NPRODUCT_SCRATCH 2

struct matrix {
    char *data;
    int64_t rows, cols, rs, cs; /* strides in bytes */
};

/* sum of products in order, from +0, in the element type */
#define DEFINE_PLAIN(name, type, zero, step)                                                                           \
    static void plain_##name(char *out, const char *a, int64_t sa, const char *b, int64_t sb, int64_t n)               \
    {                                                                                                                  \
        type acc = zero;                                                                                               \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            type x = *(const type *)(const void *)(a + k * sa), y = *(const type *)(const void *)(b + k * sb);         \
            step;                                                                                                      \
        }                                                                                                              \
        *(type *)(void *)out = acc;                                                                                    \
    }
DEFINE_PLAIN(f64, double, 0.0, acc += x * y)
DEFINE_PLAIN(f32, float, 0.0f, acc += x * y)
DEFINE_PLAIN(i64, uint64_t, 0, acc += x * y)
DEFINE_PLAIN(i32, uint32_t, 0, acc += x * y)
DEFINE_PLAIN(bool, uint8_t, 0, acc = (uint8_t)(acc | (x != 0 && y != 0)))

typedef void (*plain_fn)(char *, const char *, int64_t, const char *, int64_t, int64_t);
static const plain_fn plain[JY_DTYPE_COUNT] = {
    [JY_F64] = plain_f64, [JY_F32] = plain_f32, [JY_I64] = plain_i64, [JY_I32] = plain_i32, [JY_BOOL] = plain_bool,
};

/* Stride in elements when BLAS can follow it, else 0. */
static int64_t
blas_stride(int64_t stride, int64_t size)
{
    return stride > 0 && stride % size == 0 && stride / size <= jy_blas_max() ? stride / size : 0;
}

static bool
blasable(int64_t s1, int64_t s2, int64_t d2, int64_t size)
{
    return s2 == size && s1 % size == 0 && s1 / size >= d2 && s1 / size < jy_blas_max() - 1;
}

static bool
fits_c(const struct matrix *x, int64_t size)
{
    return blasable(x->rs, x->cs, x->cols, size);
}

static bool
fits_f(const struct matrix *x, int64_t size)
{
    return blasable(x->cs, x->rs, x->rows, size);
}

static void
one_dot(jy_dtype dtype, char *out, const char *a, int64_t sa, const char *b, int64_t sb, int64_t n)
{
    int64_t size = jy_dtype_info[dtype].bytes, ia = blas_stride(sa, size), ib = blas_stride(sb, size);
    if (!jy_dtype_is_float(dtype) || ia == 0 || ib == 0) {
        plain[dtype](out, a, sa, b, sb, n);
        return;
    }
    int64_t chunk = jy_blas_max() / 2 + 1;
    double sum = 0; /* for float32 too: NumPy adds the pieces in double and rounds once */
    for (; n > chunk; n -= chunk, a += chunk * sa, b += chunk * sb)
        sum += jy_blas_dot(dtype, chunk, a, ia, b, ib);
    sum += jy_blas_dot(dtype, n, a, ia, b, ib);
    if (dtype == JY_F64)
        *(double *)(void *)out = sum;
    else
        *(float *)(void *)out = (float)sum;
}

static void
plain_product(jy_dtype dtype, const struct matrix *a, const struct matrix *b, const struct matrix *out)
{
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->cols; j++)
            plain[dtype](out->data + i * out->rs + j * out->cs, a->data + i * a->rs, a->cs, b->data + j * b->cs, b->rs,
                         a->cols);
}

/* Dense copy in C order, or in F order; false: no memory. */
static bool
dense_copy(struct matrix *x, bool f_order, int64_t size, void **scratch)
{
    int64_t cells = x->rows * x->cols;
    char *to = jy_block_alloc((size_t)(cells * size));
    if (to == NULL)
        return false;
    *scratch = to;
    struct matrix y = { to, x->rows, x->cols, f_order ? size : x->cols * size, f_order ? x->rows * size : size };
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) {
            const char *from = x->data + i * x->rs + j * x->cs;
            char *at = to + i * y.rs + j * y.cs;
            if (size == 8)
                memcpy(at, from, 8);
            else
                memcpy(at, from, 4);
        }
    *x = y;
    return true;
}

/* The product of a matrix with its own transpose: the upper triangle by syrk, then mirrored. */
static void
self_product(jy_dtype dtype, int trans, int64_t n, int64_t k, const char *a, int64_t lda, char *out)
{
    jy_blas_syrk(dtype, trans, n, k, a, lda, out, n);
    if (dtype == JY_F64) {
        double *c = (double *)(void *)out;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                c[j * n + i] = c[i * n + j];
    } else {
        float *c = (float *)(void *)out;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                c[j * n + i] = c[i * n + j];
    }
}

static void
transposed_gemv(jy_dtype dtype, const struct matrix *x, const char *v, int64_t sv, char *out)
{
    int64_t size = jy_dtype_info[dtype].bytes;
    if (fits_c(x, size))
        jy_blas_gemv(dtype, JY_COL_MAJOR, JY_TRANS, x->cols, x->rows, x->data, x->rs / size, v, sv / size, out, 1);
    else
        jy_blas_gemv(dtype, JY_ROW_MAJOR, JY_TRANS, x->cols, x->rows, x->data, x->cs / size, v, sv / size, out, 1);
}

static struct matrix
transposed(const struct matrix *x)
{
    return (struct matrix){ x->data, x->cols, x->rows, x->cs, x->rs };
}

static int64_t
magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* The order in which NumPy copies an operand that BLAS cannot take. */
static bool
copies_to_f_order(const struct matrix *x, int numpy_minor)
{
    return numpy_minor == 3 ? x->rs < x->cs : magnitude(x->rs) < magnitude(x->cs);
}

static enum jy_product
big_product(jy_dtype dtype, struct matrix a, struct matrix b, const struct matrix *out)
{
    int64_t size = jy_dtype_info[dtype].bytes;
    void *scratch[NPRODUCT_SCRATCH] = { NULL, NULL };
    bool a_fits = fits_c(&a, size) || fits_f(&a, size), b_fits = fits_c(&b, size) || fits_f(&b, size);
    if (!(a_fits && b_fits)) {
        if (jy_blas_numpy_minor() < 3) {
            plain_product(dtype, &a, &b, out);
            return JY_PRODUCT_DONE;
        }
        if ((!a_fits && !dense_copy(&a, copies_to_f_order(&a, jy_blas_numpy_minor()), size, &scratch[0])) ||
            (!b_fits && !dense_copy(&b, copies_to_f_order(&b, jy_blas_numpy_minor()), size, &scratch[1]))) {
            jy_block_free(scratch[0]);
            return JY_PRODUCT_NOMEM;
        }
    }
    bool ac = fits_c(&a, size), bc = fits_c(&b, size);
    int64_t lda = (ac ? a.rs : a.cs) / size, ldb = (bc ? b.rs : b.cs) / size;
    if (a.data == b.data && a.rows == b.cols && a.rs == b.cs && a.cs == b.rs && ac != bc)
        self_product(dtype, ac ? JY_NO_TRANS : JY_TRANS, b.cols, a.cols, a.data, ac ? lda : ldb, out->data);
    else
        jy_blas_gemm(dtype, ac ? JY_NO_TRANS : JY_TRANS, bc ? JY_NO_TRANS : JY_TRANS, a.rows, b.cols, a.cols, a.data,
                     lda, b.data, ldb, out->data, b.cols);
    jy_block_free(scratch[0]);
    jy_block_free(scratch[1]);
    return JY_PRODUCT_DONE;
}

static enum jy_product
matmul_2d(jy_dtype dtype, struct matrix a, struct matrix b, const struct matrix *out)
{
    int64_t size = jy_dtype_info[dtype].bytes, m = a.rows, n = a.cols, p = b.cols;
    if (m == 0 || n == 0 || p == 0 || !jy_dtype_is_float(dtype)) {
        plain_product(dtype, &a, &b, out);
        return JY_PRODUCT_DONE;
    }
    if (m == 1 && p == 1) {
        one_dot(dtype, out->data, a.data, a.cs, b.data, b.rs, n);
        return JY_PRODUCT_DONE;
    }
    if (m != 1 && n != 1 && p != 1)
        return big_product(dtype, a, b, out);
    if (n != 1 && m == 1 && (fits_c(&b, size) || fits_f(&b, size)) && blasable(a.cs, size, 1, size)) {
        struct matrix bt = transposed(&b);
        transposed_gemv(dtype, &bt, a.data, a.cs, out->data);
    } else if (n != 1 && p == 1 && (fits_c(&a, size) || fits_f(&a, size)) && blasable(b.rs, size, 1, size)) {
        transposed_gemv(dtype, &a, b.data, b.rs, out->data);
    } else {
        plain_product(dtype, &a, &b, out);
    }
    return JY_PRODUCT_DONE;
}

/* Batch axes: those before the last two (one operand may be 1-D). `axis` counts axes of `out` that are still to be
 * walked. */
static enum jy_product
matmul_batch(jy_dtype dtype, const struct jy_operand *a, const struct jy_operand *b, const struct jy_operand *out,
             size_t batch, size_t axis, struct matrix ma, struct matrix mb, struct matrix mo)
{
    if (axis == batch)
        return matmul_2d(dtype, ma, mb, &mo);
    size_t from_core = batch - axis; /* distance of this axis from the core axes */
    int64_t sa = 0, sb = 0;
    if (a->ndim > 2 && a->ndim - 2 >= from_core && a->shape[a->ndim - 2 - from_core] != 1)
        sa = a->stride[a->ndim - 2 - from_core];
    if (b->ndim > 2 && b->ndim - 2 >= from_core && b->shape[b->ndim - 2 - from_core] != 1)
        sb = b->stride[b->ndim - 2 - from_core];
    for (int64_t i = 0; i < out->shape[axis]; i++) {
        enum jy_product done = matmul_batch(dtype, a, b, out, batch, axis + 1, ma, mb, mo);
        if (done != JY_PRODUCT_DONE)
            return done;
        ma.data += sa;
        mb.data += sb;
        mo.data += out->stride[axis];
    }
    return JY_PRODUCT_DONE;
}

static enum jy_product
run_matmul(jy_dtype dtype, const struct jy_operand *a, const struct jy_operand *b, const struct jy_operand *out)
{
    int64_t size = jy_dtype_info[dtype].bytes;
    struct matrix ma, mb, mo;
    if (a->ndim == 1)
        ma = (struct matrix){ a->data, 1, a->shape[0], a->shape[0] * size, a->stride[0] };
    else
        ma = (struct matrix){ a->data, a->shape[a->ndim - 2], a->shape[a->ndim - 1], a->stride[a->ndim - 2],
                              a->stride[a->ndim - 1] };
    if (b->ndim == 1)
        mb = (struct matrix){ b->data, b->shape[0], 1, b->stride[0], size };
    else
        mb = (struct matrix){ b->data, b->shape[b->ndim - 2], b->shape[b->ndim - 1], b->stride[b->ndim - 2],
                              b->stride[b->ndim - 1] };
    mo = (struct matrix){ out->data, ma.rows, mb.cols, mb.cols * size, size };
    size_t core = (a->ndim > 1 ? 1 : 0) + (b->ndim > 1 ? 1 : 0);
    return matmul_batch(dtype, a, b, out, out->ndim - core, 0, ma, mb, mo);
}

/* What np.dot makes of the strides and shape of an operand of at most two axes. */
enum shape { SCALAR, COLUMN, ROW, MATRIX };

static enum shape
shape_of(const struct jy_operand *x)
{
    if (x->ndim == 0)
        return SCALAR;
    if (x->ndim == 1)
        return x->shape[0] > 1 ? COLUMN : SCALAR;
    if (x->shape[0] > 1)
        return x->shape[1] == 1 ? COLUMN : MATRIX;
    return x->shape[1] == 1 ? SCALAR : ROW;
}

static bool
has_bad_strides(const struct jy_operand *x, int64_t size)
{
    if ((uintptr_t)x->data % (uintptr_t)size != 0)
        return true;
    for (size_t i = 0; i < x->ndim; i++)
        if (x->stride[i] < 0 || x->stride[i] % size != 0 || (x->stride[i] == 0 && x->shape[i] > 1))
            return true;
    return false;
}

static bool
is_dense(const struct jy_operand *x, bool f_order, int64_t size)
{
    int64_t expected = size;
    for (size_t i = 0; i < x->ndim; i++)
        if (x->shape[i] == 0)
            return true;
    for (size_t i = 0; i < x->ndim; i++) {
        size_t axis = f_order ? i : x->ndim - 1 - i;
        if (x->shape[axis] != 1 && x->stride[axis] != expected)
            return false;
        expected *= x->shape[axis];
    }
    return true;
}

static struct matrix
as_matrix(const struct jy_operand *x)
{
    if (x->ndim == 2)
        return (struct matrix){ x->data, x->shape[0], x->shape[1], x->stride[0], x->stride[1] };
    if (x->ndim == 1)
        return (struct matrix){ x->data, x->shape[0], 1, x->stride[0], 0 };
    return (struct matrix){ x->data, 1, 1, 0, 0 };
}

static bool
copy_operand(struct jy_operand *x, bool f_order, int64_t size, void **scratch)
{
    struct matrix m = as_matrix(x);
    if (!dense_copy(&m, f_order, size, scratch))
        return false;
    x->data = m.data;
    if (x->ndim > 0)
        x->stride[0] = x->ndim == 1 ? size : m.rs;
    if (x->ndim > 1)
        x->stride[1] = m.cs;
    return true;
}

static void
multiply_one(jy_dtype dtype, char *out, const char *a, const char *b)
{
    if (dtype == JY_F64)
        *(double *)(void *)out = *(const double *)(const void *)a * *(const double *)(const void *)b;
    else
        *(float *)(void *)out = *(const float *)(const void *)a * *(const float *)(const void *)b;
}

/* x times the single number at `factor`, into zeros: one axpy per line. `length` is NumPy's `l`. */
static void
scale(jy_dtype dtype, const struct jy_operand *x, enum shape shape, const char *factor, int64_t length,
      const struct jy_operand *out)
{
    int64_t size = jy_dtype_info[dtype].bytes;
    if (length == 1) {
        multiply_one(dtype, out->data, factor, x->data);
    } else if (shape != MATRIX) {
        int64_t step = shape == ROW ? x->stride[1] : x->ndim > 0 ? x->stride[0] : 0;
        jy_blas_axpy(dtype, length, factor, x->data, step / size, out->data, 1);
    } else {
        size_t major = x->shape[0] >= x->shape[1] ? 0 : 1, minor = 1 - major;
        for (int64_t i = 0; i < x->shape[minor]; i++)
            jy_blas_axpy(dtype, x->shape[major], factor, x->data + i * x->stride[minor], x->stride[major] / size,
                         out->data + i * out->stride[minor], out->stride[major] / size);
    }
}

static void
scalar_dot(jy_dtype dtype, const struct jy_operand *a, const struct jy_operand *b, const struct jy_operand *out)
{
    bool swap = shape_of(a) == SCALAR;
    const struct jy_operand *x = swap ? b : a, *s = swap ? a : b;
    enum shape shape = shape_of(x);
    int64_t length = 1;
    if (a->ndim == 0 || b->ndim == 0) {
        for (size_t i = 0; i < out->ndim; i++)
            length *= out->shape[i];
    } else if (out->ndim == 1) {
        length = out->shape[0];
    } else if (out->ndim == 2) {
        length = out->shape[shape == ROW ? 1 : 0];
    } else {
        length = a->shape[a->ndim - 1];
    }
    scale(dtype, x, shape, s->data, length, out);
}

static enum jy_product
dense_dot(jy_dtype dtype, struct jy_operand a, struct jy_operand b, const struct jy_operand *out, void **scratch)
{
    int64_t size = jy_dtype_info[dtype].bytes;
    enum shape sa = shape_of(&a), sb = shape_of(&b);
    if (sa == SCALAR || sb == SCALAR) {
        scalar_dot(dtype, &a, &b, out);
        return JY_PRODUCT_DONE;
    }
    if (sb == COLUMN && sa != MATRIX) {
        one_dot(dtype, out->data, a.data, a.stride[sa == ROW], b.data, b.stride[0], a.shape[a.ndim - 1]);
        return JY_PRODUCT_DONE;
    }
    bool a_whole = is_dense(&a, false, size) || is_dense(&a, true, size),
         b_whole = is_dense(&b, false, size) || is_dense(&b, true, size);
    if (sa == MATRIX && sb != MATRIX) {
        if (!a_whole && !copy_operand(&a, false, size, scratch))
            return JY_PRODUCT_NOMEM;
        bool c = is_dense(&a, false, size);
        jy_blas_gemv(dtype, c ? JY_ROW_MAJOR : JY_COL_MAJOR, JY_NO_TRANS, a.shape[0], a.shape[1], a.data,
                     a.shape[c ? 1 : 0], b.data, b.stride[0] / size, out->data, 1);
        return JY_PRODUCT_DONE;
    }
    if (sa != MATRIX && sb == MATRIX) {
        if (!b_whole && !copy_operand(&b, false, size, scratch))
            return JY_PRODUCT_NOMEM;
        bool c = is_dense(&b, false, size);
        jy_blas_gemv(dtype, c ? JY_ROW_MAJOR : JY_COL_MAJOR, JY_TRANS, b.shape[0], b.shape[1], b.data,
                     b.shape[c ? 1 : 0], a.data, a.stride[sa == ROW] / size, out->data, 1);
        return JY_PRODUCT_DONE;
    }
    if ((!b_whole && !copy_operand(&b, false, size, &scratch[0])) ||
        (!a_whole && !copy_operand(&a, false, size, &scratch[1])))
        return JY_PRODUCT_NOMEM;
    bool af = is_dense(&a, true, size), bf = is_dense(&b, true, size);
    int64_t lda = a.shape[af ? 0 : 1], ldb = b.shape[bf ? 0 : 1];
    if (a.data == b.data && a.shape[0] == b.shape[1] && a.stride[0] == b.stride[1] && a.stride[1] == b.stride[0] &&
        af != bf)
        self_product(dtype, af ? JY_TRANS : JY_NO_TRANS, b.shape[1], b.shape[0], a.data, af ? ldb : lda, out->data);
    else
        jy_blas_gemm(dtype, af ? JY_TRANS : JY_NO_TRANS, bf ? JY_TRANS : JY_NO_TRANS, a.shape[0], b.shape[1],
                     b.shape[0], a.data, lda, b.data, ldb, out->data, b.shape[1]);
    return JY_PRODUCT_DONE;
}

static bool
is_fortran_only(const struct jy_operand *x, int64_t size)
{
    return x->ndim > 1 && is_dense(x, true, size) && !is_dense(x, false, size);
}

static enum jy_product
blas_dot(jy_dtype dtype, struct jy_operand a, struct jy_operand b, const struct jy_operand *out)
{
    int64_t size = jy_dtype_info[dtype].bytes;
    void *scratch[4] = { NULL, NULL, NULL, NULL };
    enum jy_product done = JY_PRODUCT_NOMEM;
    if ((!has_bad_strides(&a, size) || copy_operand(&a, is_fortran_only(&a, size), size, &scratch[2])) &&
        (!has_bad_strides(&b, size) || copy_operand(&b, is_fortran_only(&b, size), size, &scratch[3])))
        done = dense_dot(dtype, a, b, out, scratch);
    for (size_t i = 0; i < 4; i++)
        jy_block_free(scratch[i]);
    return done;
}

/* One dot product per element of the result: every axis of a but the last, every axis of b but the last but one. */
static void
dot_each(jy_dtype dtype, const struct jy_operand *a, const struct jy_operand *b, const struct jy_operand *out)
{
    int64_t at[2 * JY_MAX_NDIM] = { 0 }, extent[2 * JY_MAX_NDIM], sa[2 * JY_MAX_NDIM], sb[2 * JY_MAX_NDIM],
                   size = jy_dtype_info[dtype].bytes;
    size_t n = 0, summed = b->ndim > 1 ? b->ndim - 2 : 0;
    for (size_t i = 0; i + 1 < a->ndim; i++, n++) {
        extent[n] = a->shape[i];
        sa[n] = a->stride[i];
        sb[n] = 0;
    }
    for (size_t i = 0; i < b->ndim; i++)
        if (i != summed) {
            extent[n] = b->shape[i];
            sa[n] = 0;
            sb[n++] = b->stride[i];
        }
    char *to = out->data;
    const char *x = a->data, *y = b->data;
    for (;;) {
        one_dot(dtype, to, x, a->stride[a->ndim - 1], y, b->stride[summed], a->shape[a->ndim - 1]);
        to += size;
        size_t i = n;
        while (i-- > 0) {
            x += sa[i];
            y += sb[i];
            if (++at[i] < extent[i])
                break;
            x -= sa[i] * extent[i];
            y -= sb[i] * extent[i];
            at[i] = 0;
        }
        if (i == (size_t)-1)
            return;
    }
}

static enum jy_product
run_dot(jy_dtype dtype, const struct jy_operand *a, const struct jy_operand *b, const struct jy_operand *out)
{
    int64_t cells = 1, length = a->ndim > 0 ? a->shape[a->ndim - 1] : 1;
    for (size_t i = 0; i < out->ndim; i++)
        cells *= out->shape[i];
    bool by_blas = jy_dtype_is_float(dtype) && a->ndim <= 2 && b->ndim <= 2;
    if (!by_blas && (a->ndim == 0 || b->ndim == 0)) /* np.dot multiplies */
        return JY_PRODUCT_DECLINED;
    memset(out->data, 0, (size_t)(cells * jy_dtype_info[dtype].bytes));
    if (cells == 0 || (length == 0 && b->ndim > 0))
        return JY_PRODUCT_DONE;
    if (by_blas)
        return blas_dot(dtype, *a, *b, out);
    dot_each(dtype, a, b, out);
    return JY_PRODUCT_DONE;
}

enum jy_product
jy_product_run(jy_op op, jy_dtype dtype, const struct jy_operand *a, const struct jy_operand *b,
               const struct jy_operand *out)
{
    if (jy_dtype_is_float(dtype) && !jy_blas_found())
        return JY_PRODUCT_DECLINED;
    return op == JY_OP_MATMUL ? run_matmul(dtype, a, b, out) : run_dot(dtype, a, b, out);
}
