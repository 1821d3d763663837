/* Lists of the program's, changed and made by flows as CPython's methods would, and pure functions that flows have no instruction for. As everywhere in flow_helpers.def: a function that fails
 * has done nothing. */
#ifndef JY_RUNTIME_FLOW_LISTS_H
#define JY_RUNTIME_FLOW_LISTS_H

#include "graph/flow.h"

#include <Python.h>

/* flow_helpers.c: it stands in a list: letting go of it runs none of the program's code, and no flow has borrowed it. */
bool jy_flow_is_replaced_quietly(PyObject *object);

/* Around making n lists. False with *failed: a collection is due, which the interpreter begins where it makes them (3.11; later ones begin it where they poll, and so where the flow does).
 * In between none begins: a finaliser would run in the middle of the flow. */
bool jy_flow_begin_lists(int n, bool *collects, int32_t *failed);
void jy_flow_end_lists(bool collects);

/* Items that are NumPy scalars: `bits` is the value as in union jy_scalar. */
void jy_flow_list_store_scalar(PyObject *list, int64_t index, int64_t dtype, int64_t bits, int32_t *failed);
void jy_flow_list_append_scalar(PyObject *list, int64_t dtype, int64_t bits, int32_t *failed);
PyObject *jy_flow_list_repeat_scalar(struct jy_flow_call *call, int64_t dtype, int64_t bits, int64_t n,
                                     int32_t *failed);

/* list * n; list *= n; list(range(start, stop, step)); list(x) of a list, tuple or bytes */
PyObject *jy_flow_list_times(struct jy_flow_call *call, PyObject *list, int64_t n, int32_t *failed);
void jy_flow_list_multiply(PyObject *list, int64_t n, int32_t *failed);
PyObject *jy_flow_list_range(struct jy_flow_call *call, int64_t start, int64_t stop, int64_t step, int32_t *failed);
PyObject *jy_flow_list_of(struct jy_flow_call *call, PyObject *sequence, int32_t *failed);

/* Methods. `other`: a list or tuple. */
void jy_flow_list_extend(PyObject *list, PyObject *other, int32_t *failed);
void jy_flow_list_insert_float(PyObject *list, int64_t index, double value, int32_t *failed);
void jy_flow_list_insert_int(PyObject *list, int64_t index, int64_t value, int32_t *failed);
void jy_flow_list_insert_bool(PyObject *list, int64_t index, bool value, int32_t *failed);
void jy_flow_list_insert_object(PyObject *list, int64_t index, PyObject *object, int32_t *failed);
/* x[low:high] = other, or del where that is NULL; both are clipped already. */
void jy_flow_list_set_slice(PyObject *list, int64_t low, int64_t high, PyObject *other, int32_t *failed);
void jy_flow_list_cut(PyObject *list, int64_t low, int64_t high, int32_t *failed);
/* Only of ints, floats and bools. */
void jy_flow_list_sort(PyObject *list, int32_t *failed);
int64_t jy_flow_list_find_float(PyObject *list, double value, int32_t *failed);

/* What a pure builtin function gives of a list of ints, floats and bools; fails where it raises or gives another type. */
double jy_flow_ask_list_float(PyObject *callable, PyObject *list, int32_t *failed);
int64_t jy_flow_ask_list_int(PyObject *callable, PyObject *list, int32_t *failed);
bool jy_flow_ask_list_bool(PyObject *callable, PyObject *list, int32_t *failed);
/* ... of numbers. */
double jy_flow_ask_f(PyObject *callable, double x, int32_t *failed);
double jy_flow_ask_ff(PyObject *callable, double x, double y, int32_t *failed);
double jy_flow_ask_fff(PyObject *callable, double x, double y, double z, int32_t *failed);
double jy_flow_ask_fi(PyObject *callable, double x, int64_t n, int32_t *failed);
int64_t jy_flow_ask_ii(PyObject *callable, int64_t x, int64_t y, int32_t *failed);

#endif
