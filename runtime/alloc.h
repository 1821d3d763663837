/* Memory for results and scratch: a bounded cache of large blocks, and ordinary ndarrays over either NumPy's memory or
 * a block of ours.
 *
 * A large array costs mostly page faults when its memory is fresh from the kernel. Blocks from 64 kB upward are
 * therefore kept when they are freed and handed out again; at most JY_BLOCKS_KEPT bytes stay. The GIL protects
 * everything here. */
#ifndef JY_RUNTIME_ALLOC_H
#define JY_RUNTIME_ALLOC_H

#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "graph/dtype.h"

#ifdef JITNEY_HOSTILE /* nearly every array lies in a block of ours, and few blocks are kept */
#define JY_BLOCKS_KEPT ((size_t)4 << 20)
#define JY_BLOCK_LEAST ((size_t)256)
#else
#define JY_BLOCKS_KEPT ((size_t)256 << 20)
#define JY_BLOCK_LEAST ((size_t)64 << 10) /* results below this come from NumPy's own allocator */
#endif

/* 64-byte aligned, any size; NULL when there is no memory. */
void *jy_block_alloc(size_t size);
void jy_block_free(void *block);
/* Gives every kept block back to the system. */
void jy_blocks_trim(void);
size_t jy_blocks_kept(void);

int jy_alloc_init(void); /* -1 with an exception */

/* A new ndarray whose elements are not set, strides as given; `flags` is NPY_ARRAY_C_CONTIGUOUS and
 * NPY_ARRAY_F_CONTIGUOUS as they apply. Nothing but time distinguishes it from one that NumPy made. No extent may be
 * 0. refs: new, or NULL with an exception */
PyObject *jy_alloc_array(jy_dtype dtype, size_t ndim, const int64_t *dims, const int64_t *strides, size_t nbytes,
                         int flags);
/* The same with an extent of 0. */
PyObject *jy_alloc_empty(jy_dtype dtype, size_t ndim, const int64_t *dims);

#endif
