/* Native lists (struct jy_flow_list of graph/flow.h): how they are made, changed as wholes, freed, and what object becomes of one. As everywhere in flow_helpers.def: a function that fails has
 * done nothing. Sizes are those that CPython's lists would have, room for more included (sys.getsizeof). */
#ifndef JY_RUNTIME_FLOW_NATIVE_H
#define JY_RUNTIME_FLOW_NATIVE_H

#include "runtime/flow_exec.h"

/* The list object, the same at each call. refs: new; NULL: an exception. list NULL: None. */
PyObject *jy_flow_native_object(struct jy_flow_list *list);
void jy_flow_native_clear(struct jy_flow_owner *owner);
/* Of an input, as JY_FLOW_IN_NATIVE says; one list of one object, wherever it comes from. NULL: it cannot be native. No exception. */
struct jy_flow_list *jy_flow_native_of(struct jy_flow_owner *owner, PyObject *object, uint8_t type, unsigned depth);
/* The object of an item. refs: new; NULL: an exception */
PyObject *jy_flow_native_item(struct jy_flow_list *list, int64_t index);

/* []; [x] * n; list(range(start, stop, step)), step not 0. type: as in the list. */
struct jy_flow_list *jy_native_new(struct jy_flow_call *call, int64_t type, int32_t *failed);
struct jy_flow_list *jy_native_fill_int(struct jy_flow_call *call, int64_t value, int64_t n, int32_t *failed);
struct jy_flow_list *jy_native_fill_float(struct jy_flow_call *call, double value, int64_t n, int32_t *failed);
struct jy_flow_list *jy_native_fill_bool(struct jy_flow_call *call, bool value, int64_t n, int32_t *failed);
struct jy_flow_list *jy_native_fill_list(struct jy_flow_call *call, struct jy_flow_list *value, int64_t n,
                                         int32_t *failed);
struct jy_flow_list *jy_native_range(struct jy_flow_call *call, int64_t start, int64_t stop, int64_t step,
                                     int32_t *failed);
/* list[low:high], clipped already, and x + y of one type: fail where a NaN is copied, whose identity would be lost. drop: 1: x goes, 2: y goes; nobody else has it. */
struct jy_flow_list *jy_native_slice(struct jy_flow_call *call, struct jy_flow_list *list, int64_t low, int64_t high,
                                     int32_t *failed);
struct jy_flow_list *jy_native_concat(struct jy_flow_call *call, struct jy_flow_list *x, struct jy_flow_list *y,
                                      int64_t drop, int32_t *failed);
/* Room for one item more: append() calls it where size is allocated. */
void jy_native_grow(struct jy_flow_list *list, int32_t *failed);
/* The size becomes n, which is less than it was. */
void jy_native_shrink(struct jy_flow_list *list, int64_t n);
/* Fails where a NaN of an input would move, which is an object already. */
void jy_native_reverse(struct jy_flow_list *list, int32_t *failed);
/* The index of the first item that is equal, or -1; of floats: fails where the value is NaN. */
int64_t jy_native_find_int(struct jy_flow_list *list, int64_t value);
int64_t jy_native_find_float(struct jy_flow_list *list, double value, int32_t *failed);

#endif
