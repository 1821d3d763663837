/* NumPy's C API for the files of runtime/: one table, imported by module.c (JY_NUMPY_IMPORT). */
#ifndef JY_RUNTIME_NUMPY_API_H
#define JY_RUNTIME_NUMPY_API_H

#define PY_ARRAY_UNIQUE_SYMBOL jy_numpy_array_api
#define PY_UFUNC_UNIQUE_SYMBOL jy_numpy_ufunc_api
#ifndef JY_NUMPY_IMPORT
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>
#include <stdbool.h>

/* Is the dtype NumPy's own of its number, or as good as that: in native byte order, without metadata and fields? Two that are differ by nothing. */
static inline bool
jy_plain_descr(const PyArray_Descr *descr)
{
    return PyDataType_ISNOTSWAPPED(descr) && PyDataType_METADATA(descr) == NULL && !PyDataType_HASFIELDS(descr);
}

#endif
