/* The BLAS that NumPy has loaded, found through NumPy's own extension module; never one of our own: bits depend on the
 * library and its thread setting. */
#ifndef JY_RUNTIME_BLAS_H
#define JY_RUNTIME_BLAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "graph/dtype.h"
#include "graph/op.h"
#include "graph/graph.h"

/* CBLAS's own numbers. */
enum { JY_ROW_MAJOR = 101, JY_COL_MAJOR = 102, JY_NO_TRANS = 111, JY_TRANS = 112, JY_UPPER = 121 };

/* `extension`: path of numpy._core._multiarray_umath; numpy_minor: 5 for NumPy 2.5. */
void jy_blas_init(const char *extension, int numpy_minor);
bool jy_blas_found(void);
const char *jy_blas_describe(void);
int64_t jy_blas_max(void); /* the largest int of its interface */
int jy_blas_numpy_minor(void);

/* alpha = 1, beta = 0; dtype is JY_F32 or JY_F64; leading dimensions and increments in elements. gemm and syrk are
 * row-major. */
void jy_blas_gemm(jy_dtype dtype, int transa, int transb, int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
                  const void *b, int64_t ldb, void *c, int64_t ldc);
void jy_blas_gemv(jy_dtype dtype, int order, int trans, int64_t m, int64_t n, const void *a, int64_t lda, const void *x,
                  int64_t incx, void *y, int64_t incy);
void jy_blas_syrk(jy_dtype dtype, int trans, int64_t n, int64_t k, const void *a, int64_t lda, void *c, int64_t ldc);
void jy_blas_axpy(jy_dtype dtype, int64_t n, const void *alpha, const void *x, int64_t incx, void *y, int64_t incy);
double jy_blas_dot(jy_dtype dtype, int64_t n, const void *x, int64_t incx, const void *y, int64_t incy);

/* kernel_matmul.c */
struct jy_operand {
    char *data;
    size_t ndim;
    int64_t shape[JY_MAX_NDIM], stride[JY_MAX_NDIM];
};
enum jy_product { JY_PRODUCT_DONE, JY_PRODUCT_NOMEM, JY_PRODUCT_DECLINED };

/* np.matmul or np.dot of operands of one dtype into `out`, whose last two axes (and everything, for dot) are dense in
 * C order. DECLINED: nothing was written, NumPy must do it. */
enum jy_product jy_product_run(jy_op op, jy_dtype dtype, const struct jy_operand *a, const struct jy_operand *b,
                               const struct jy_operand *out);
/* Whether NumPy reports the FP flags of this product (np.dot: since 2.3). */
bool jy_product_reports(jy_op op);

#endif
