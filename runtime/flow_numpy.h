/* NumPy's functions of numbers in flows. They fail where the ufunc has no such loop, and where a warning may be due. */
#ifndef JY_RUNTIME_FLOW_NUMPY_H
#define JY_RUNTIME_FLOW_NUMPY_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

double jy_flow_np_f_f(PyObject *ufunc, double x, int32_t *failed);
double jy_flow_np_f_ff(PyObject *ufunc, double x, double y, int32_t *failed);
bool jy_flow_np_b_f(PyObject *ufunc, double x, int32_t *failed);

#endif
