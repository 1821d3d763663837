/* Memory of whole arrays in a run (graph/flow_vector.h), and the helpers that work on it. All of them: *failed set, nothing has happened. */
#ifndef JY_RUNTIME_FLOW_VECTOR_H
#define JY_RUNTIME_FLOW_VECTOR_H

#include "graph/flow.h"
#include "graph/flow_vector.h"
#include "runtime/flow_late.h"
#include "runtime/numpy_api.h"

struct jy_vectors {
    struct jy_vector_block block;
    size_t nslots;
    struct jy_vector_slot {
        char *at;
        size_t capacity;
        PyObject *array; /* owned: the memory is this array's, which the run may hand out; NULL: it is the run's own */
    } slot[JY_VECTOR_SLOTS]; /* those below nslots */
    struct jy_flow_late late;
};
void jy_vectors_clear(struct jy_vectors *vectors);
/* The array that has these elements, if it is of this kind. The run is left: the memory is not the slot's any more.
 * refs: new; NULL: there is none, and no exception */
PyObject *jy_vectors_hand_out(struct jy_vectors *vectors, const char *data, int ndim, const npy_intp *dims, int type);

struct jy_vector_block *jy_vector_block_of(struct jy_flow_call *call);
/* The memory of a slot that is not in use, of so many bytes at least, which the block then names; NULL: there is none. */
char *jy_vector_take_slot(struct jy_vectors *vectors, int64_t live, size_t bytes);
/* A new array; its data. */
char *jy_vector_apply(struct jy_flow_call *call, PyObject *ufunc, int64_t spec, int64_t live, int32_t *failed);
char *jy_vector_copy(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed);
char *jy_vector_cast(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed);
char *jy_vector_new(struct jy_flow_call *call, int64_t spec, int64_t zeroed, int64_t live, int32_t *failed);
char *jy_vector_product(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed);
/* Along the axes of the spec. */
char *jy_vector_reduce(struct jy_flow_call *call, PyObject *ufunc, int64_t spec, int64_t live, int32_t *failed);
char *jy_vector_where(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed);
int64_t jy_vector_arg(struct jy_flow_call *call, int64_t spec, int64_t largest, int32_t *failed);
/* Into an array that there is, as if the result were made first. into: *failed set, it may be done already, and only its report be left: `late` */
void jy_vector_into(struct jy_flow_call *call, PyObject *ufunc, int64_t spec, int64_t live, int32_t *failed);
void jy_vector_store(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed);
/* flow_index.c: elements that an array as a key names: enum jy_vector_key */
char *jy_vector_take(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed);
void jy_vector_put(struct jy_flow_call *call, int64_t spec, int32_t *failed);
/* Of all elements. f: also of float32. i: of other dtypes, as their value in 64 bits */
double jy_vector_reduce_f(struct jy_flow_call *call, PyObject *ufunc, int64_t spec, int32_t *failed);
int64_t jy_vector_reduce_i(struct jy_flow_call *call, PyObject *ufunc, int64_t spec, int32_t *failed);
/* Of two arrays of one axis; what it is: enum jy_op */
double jy_vector_dot(struct jy_flow_call *call, int64_t spec, int64_t op, int32_t *failed);
double jy_vector_square(struct jy_flow_call *call, int64_t spec, int32_t *failed);

#endif
