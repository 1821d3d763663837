/* A result's array: how it is laid out, and its memory. In a header for exec_flat.c, where it is half of a call. */
#ifndef JY_RUNTIME_EXEC_FRESH_H
#define JY_RUNTIME_EXEC_FRESH_H

#include "runtime/numpy_api.h"

#include "runtime/alloc.h"
#include "runtime/exec_internal.h"
#include <string.h>

/* Strides of a block filled in its order, its size in bytes, and its flags: it is C-contiguous when the axes longer than 1 come ascending, F-contiguous when
 * descending. False: overflow or a negative extent. */
static inline bool
jy_run_lay_out(size_t *nbytes, int *flags, int64_t *stride, int64_t *dims, const struct jy_exec_block *b,
               const int64_t *extent)
{
    int64_t step = b->itemsize;
    bool ascending = true, descending = true;
    int last = JY_MAX_NDIM;
    for (size_t k = b->ndim; k-- > 0;) {
        int d = b->order[k];
        int64_t n = dims[d] = extent[b->extent[d]];
        stride[d] = step;
        if (n == 1)
            continue;
        if (n < 0 || __builtin_mul_overflow(step, n, &step))
            return false;
        ascending &= d < last;
        descending &= last == JY_MAX_NDIM || last < d;
        last = d;
    }
    *nbytes = (size_t)step;
    *flags = (ascending ? NPY_ARRAY_C_CONTIGUOUS : 0) | (descending ? NPY_ARRAY_F_CONTIGUOUS : 0);
    if (step == 0) /* as NumPy */
        memset(stride, 0, b->ndim * sizeof *stride);
    return true;
}

/* A new array for the block, laid out by the extents; fills desc. refs: new; NULL without an exception */
static inline PyObject *
jy_run_fresh(struct jy_desc *desc, const struct jy_exec_block *b, const int64_t *extent)
{
    int64_t dims[JY_MAX_NDIM];
    size_t nbytes;
    int flags;
    PyObject *array = NULL;
    if (jy_run_lay_out(&nbytes, &flags, desc->stride, dims, b, extent))
        array = nbytes == 0 ? jy_alloc_empty((jy_dtype)b->dtype, b->ndim, dims)
                            : jy_alloc_array((jy_dtype)b->dtype, b->ndim, dims, desc->stride, nbytes, flags);
    if (array == NULL)
        PyErr_Clear(); /* NumPy raises its own MemoryError */
    else
        desc->data = PyArray_BYTES((PyArrayObject *)array);
    return array;
}

#endif
