/* Live NumPy objects as plain descriptions: the only file of frontend/ that includes NumPy's headers is inspect_array.c.
 * Nothing here runs user code or leaves an exception behind. */
#ifndef JY_FRONTEND_INSPECT_ARRAY_H
#define JY_FRONTEND_INSPECT_ARRAY_H

#if !defined(JY_IN_FRONTEND)
#error "frontend/inspect_array.h is internal to frontend/"
#endif

#include <Python.h>
#include "graph/graph.h"

struct jy_inspected_array {
    jy_dtype dtype;
    uint8_t ndim;
    int64_t shape[JY_MAX_NDIM], stride[JY_MAX_NDIM];
    bool c_contiguous, writeable;
    bool repeats;        /* elements may share memory with each other */
    uintptr_t low, high; /* memory from the lowest byte to behind the highest; equal when there is no element */
};

/* Imports NumPy's C API, once per process. -1 with an exception. */
int jy_inspect_array_init(void);

/* False: not an exact ndarray that compiled code understands, and *why says what is in the way. elements: of any dtype that native loops know. */
bool jy_inspect_array(struct jy_inspected_array *out, const char **why, PyObject *object, bool elements);
bool jy_inspect_is_array(PyObject *object);
/* The name of the type of an array's elements, as numpy.uint8. */
const char *jy_inspect_element_type(PyObject *array);
/* An exact NumPy scalar of a dtype of graphs; of any that native loops know. */
bool jy_inspect_scalar(jy_dtype *dtype, union jy_scalar *value, PyObject *object);
bool jy_inspect_element(jy_dtype *dtype, union jy_scalar *value, PyObject *object);
/* What np.dtype(object) is, for type objects of Python's and NumPy's own, dtype objects and strings. */
bool jy_inspect_dtype(jy_dtype *out, PyObject *object);
bool jy_inspect_is_dtype(PyObject *object);
bool jy_inspect_is_ufunc(PyObject *object);
/* The inner loop that a ufunc with one output has for `nin` operands of that dtype, by its index, and the dtype of its result. False: it has none. */
bool jy_inspect_ufunc_loop(size_t *loop, jy_dtype *result, PyObject *ufunc, size_t nin, jy_dtype dtype);
struct jy_ufunc_operand {
    jy_dtype dtype;
    PyTypeObject *weak; /* int or float: a number of Python's; else NULL */
};
/* Does the ufunc cast such operands to that dtype, all of them? */
bool jy_inspect_ufunc_casts(PyObject *ufunc, size_t nin, const struct jy_ufunc_operand *operands, jy_dtype dtype);
/* refs: borrowed, immortal for the life of the process. */
PyObject *jy_inspect_descr(jy_dtype dtype);
PyTypeObject *jy_inspect_scalar_type(jy_dtype dtype);

#endif
