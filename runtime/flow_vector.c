/* Operations on whole arrays inside native loops: NumPy's own inner loops, called as NumPy would call them, without its objects around them.
 *
 *   operands (block) --axes joined--> inner loop, once per row --FP status--> slot --only for `into`, `store`--> the array
 *
 * An inner loop gives the same bits whichever pieces it is called for; a reduction does not, so it is one call, or none. A status flag that NumPy would report fails the operation: the
 * interpreter does it again and reports it. */
#include "runtime/flow_vector.h"
#include "graph/op.h"
#include "runtime/alloc.h"
#include "runtime/blas.h"
#include "runtime/flow_cast.h"
#include "runtime/flow_exec.h"
#include "runtime/fpstatus.h"
#include "runtime/numpy_api.h"

#include <stdlib.h>
#include <string.h>

#define OLD_RUN 8192 /* NumPy before 2.3 adds in pieces of so many elements, if not fewer */

/* -- slots --------------------------------------------------------------------------------------------------------------------------- */

static void
clear_slot(struct jy_vector_slot *slot)
{
    if (slot->array != NULL)
        Py_DECREF(slot->array);
    else
        jy_block_free(slot->at);
    *slot = (struct jy_vector_slot){ .at = NULL };
}

void
jy_vectors_clear(struct jy_vectors *v)
{
    for (size_t k = 0; k < v->nslots; k++)
        clear_slot(&v->slot[k]);
    v->nslots = 0;
}

static bool
is_array_of(PyObject *o, int ndim, const npy_intp *dims, int type)
{
    PyArrayObject *a = (PyArrayObject *)o;
    return o != NULL && PyArray_NDIM(a) == ndim && PyArray_TYPE(a) == type &&
           PyArray_CompareLists(PyArray_DIMS(a), dims, ndim);
}

PyObject *
jy_vectors_hand_out(struct jy_vectors *v, const char *data, int ndim, const npy_intp *dims, int type)
{
    for (size_t k = 0; k < v->nslots; k++) {
        struct jy_vector_slot *slot = &v->slot[k];
        if (slot->at != data || !is_array_of(slot->array, ndim, dims, type))
            continue;
        return Py_NewRef(slot->array);
    }
    return NULL;
}

static struct jy_vectors *
vectors_of(const struct jy_flow_call *call)
{
    return ((struct jy_flow_owner *)call->owner)->vectors;
}

struct jy_vector_block *
jy_vector_block_of(struct jy_flow_call *call)
{
    return &vectors_of(call)->block;
}

/* NULL: all are in use. */
static struct jy_vector_slot *
free_slot(struct jy_vectors *v, int64_t live)
{
    if (live == -1)
        return NULL;
    unsigned k = (unsigned)__builtin_ctzll(~(uint64_t)live);
    while (v->nslots <= k)
        v->slot[v->nslots++] = (struct jy_vector_slot){ .at = NULL };
    v->block.slot = (int64_t)(UINT64_C(1) << k);
    return &v->slot[k];
}

char *
jy_vector_take_slot(struct jy_vectors *v, int64_t live, size_t bytes)
{
    struct jy_vector_slot *slot = free_slot(v, live);
    if (slot != NULL && (slot->capacity < bytes || slot->at == NULL)) {
        clear_slot(slot);
        slot->at = jy_block_alloc(bytes); /* runs that come after each other get the same memory, with its pages */
        slot->capacity = slot->at == NULL ? 0 : bytes;
    }
    return slot == NULL ? NULL : slot->at;
}

enum { LARGE_BYTES = 4096 }; /* taste: for less, copying costs less than making arrays */

/* Of the extents in the block, the elements zero or anything. One that is large is an array of NumPy's from the first:
 * if it is what the run gives back, nobody has to copy it. */
static char *
take_new(struct jy_vectors *v, int64_t live, const struct jy_vector_spec *s, size_t bytes, bool zeroed)
{
    struct jy_vector_slot *slot = bytes < LARGE_BYTES ? NULL : free_slot(v, live);
    int type = jy_dtype_info[s->dtype[JY_VECTOR_RESULT]].number;
    npy_intp dims[JY_VECTOR_NDIM];
    for (size_t d = 0; d < s->ndim; d++)
        dims[d] = v->block.extent[d];
    bool is_there = slot == NULL || is_array_of(slot->array, s->ndim, dims, type);
    char *out = slot == NULL ? jy_vector_take_slot(v, live, bytes) : slot->at;
    if (is_there) {
        if (out != NULL && zeroed)
            memset(out, 0, bytes);
        return out;
    }
    clear_slot(slot);
    slot->array = zeroed ? PyArray_ZEROS(s->ndim, dims, type, 0) : PyArray_EMPTY(s->ndim, dims, type, 0);
    if (slot->array == NULL) {
        PyErr_Clear();
        return NULL;
    }
    slot->at = PyArray_BYTES((PyArrayObject *)slot->array);
    slot->capacity = bytes;
    return slot->at;
}

/* -- the loop nest ------------------------------------------------------------------------------------------------------------------- */

enum { NEST_OPERANDS = JY_VECTOR_OPERANDS + 1 }; /* those of the block, and what is made */

struct nest {
    size_t noperands, ndim; /* ndim at least 1 */
    char *data[NEST_OPERANDS];
    npy_intp extent[JY_VECTOR_NDIM], stride[NEST_OPERANDS][JY_VECTOR_NDIM];
};

static int64_t
count(const struct jy_vector_block *b, size_t ndim)
{
    int64_t n = 1;
    for (size_t d = 0; d < ndim; d++)
        n *= b->extent[d];
    return n;
}

static size_t
itemsize(const struct jy_vector_spec *s, size_t operand)
{
    return jy_dtype_info[s->dtype[operand]].bytes;
}

/* From the block: operand `from` of it becomes the next one. */
static void
add_operand(struct nest *n, struct jy_vector_block *b, const struct jy_vector_spec *s, size_t from)
{
    size_t k = n->noperands++;
    bool is_number = (s->numbers >> from & 1) != 0;
    n->data[k] = is_number ? (char *)&b->number[from] : b->data[from];
    for (size_t d = 0; d < s->ndim; d++)
        n->stride[k][d] = is_number ? 0 : b->stride[from][d];
}

/* In C order. */
static void
add_dense(struct nest *n, const struct jy_vector_block *b, size_t ndim, char *data, size_t bytes)
{
    size_t k = n->noperands++;
    npy_intp stride = (npy_intp)bytes;
    n->data[k] = data;
    for (size_t d = ndim; d-- > 0; stride *= b->extent[d])
        n->stride[k][d] = stride;
}

static bool
joins(const struct nest *n, size_t d)
{
    for (size_t k = 0; k < n->noperands; k++)
        if (n->stride[k][d] != n->stride[k][d + 1] * n->extent[d + 1])
            return false;
    return true;
}

/* Axis d goes, or is joined with the one behind it. */
static void
drop_axis(struct nest *n, size_t d)
{
    for (size_t i = d; i + 1 < n->ndim; i++) {
        n->extent[i] = n->extent[i + 1];
        for (size_t k = 0; k < n->noperands; k++)
            n->stride[k][i] = n->stride[k][i + 1];
    }
    n->ndim--;
}

static void
begin_nest(struct nest *n, const struct jy_vector_block *b, size_t ndim)
{
    n->ndim = ndim;
    for (size_t d = 0; d < ndim; d++)
        n->extent[d] = b->extent[d];
    for (size_t d = ndim; d-- > 0 && n->ndim > 1;)
        if (n->extent[d] == 1)
            drop_axis(n, d);
}

static void
join_axes(struct nest *n)
{
    for (size_t d = n->ndim - 1; d-- > 0;)
        if (joins(n, d)) {
            npy_intp outer = n->extent[d];
            drop_axis(n, d);
            n->extent[d] *= outer;
        }
}

static void
finish_nest(struct nest *n, const struct jy_vector_block *b, size_t ndim)
{
    begin_nest(n, b, ndim);
    join_axes(n);
}

/* NumPy's iterator gives the result the order of the operands' strides; is that C order? */
static bool
is_in_c_order(const struct nest *n, size_t noperands)
{
    for (size_t k = 0; k < noperands; k++)
        for (size_t d = 0; d + 1 < n->ndim; d++)
            for (size_t e = d + 1; e < n->ndim; e++)
                if (n->stride[k][d] != 0 && n->stride[k][e] != 0 &&
                    llabs((long long)n->stride[k][d]) < llabs((long long)n->stride[k][e]))
                    return false;
    return true;
}

typedef void row_fn(void *context, char **data, npy_intp n, const npy_intp *stride);

/* Once per row. */
static void
walk(const struct nest *n, row_fn *row, void *context)
{
    npy_intp at[JY_VECTOR_NDIM] = { 0 }, stride[NEST_OPERANDS];
    char *data[NEST_OPERANDS];
    size_t last = n->ndim - 1;
    for (size_t k = 0; k < n->noperands; k++) {
        data[k] = n->data[k];
        stride[k] = n->stride[k][last];
    }
    for (;;) {
        char *args[NEST_OPERANDS];
        memcpy(args, data, sizeof args);
        row(context, args, n->extent[last], stride);
        size_t d = last;
        while (d-- > 0) {
            for (size_t k = 0; k < n->noperands; k++)
                data[k] += n->stride[k][d];
            if (++at[d] < n->extent[d])
                break;
            for (size_t k = 0; k < n->noperands; k++)
                data[k] -= n->stride[k][d] * n->extent[d];
            at[d] = 0;
        }
        if (d == SIZE_MAX)
            return;
    }
}

/* -- ufuncs -------------------------------------------------------------------------------------------------------------------------- */

struct loop {
    PyUFuncGenericFunction fn;
    void *data;
};

static struct loop
loop_of(PyObject *ufunc, uint32_t k)
{
    const PyUFuncObject *u = (const PyUFuncObject *)ufunc;
    return (struct loop){ u->functions[k], u->data == NULL ? NULL : (void *)(uintptr_t)u->data[k] };
}

static void
run_row(void *context, char **data, npy_intp n, const npy_intp *stride)
{
    const struct loop *loop = context;
    loop->fn(data, &n, stride, loop->data);
}

static bool
is_quiet(void)
{
    return (jy_fp_read(true) & ~(uint32_t)JY_FP_UNDERFLOW) == 0;
}

/* Where a result goes, dense in C order; NULL: there is no memory. */
static char *
place_result(struct jy_vectors *v, const struct jy_vector_spec *s, int64_t live)
{
    size_t bytes = (size_t)count(&v->block, s->ndim) * itemsize(s, JY_VECTOR_RESULT);
    if (s->over == JY_VECTOR_OVER_NONE)
        return jy_vector_take_slot(v, live, bytes);
    return v->block.data[s->over == JY_VECTOR_OVER_SECOND];
}

static bool
is_quiet_or_late(struct jy_vectors *v, PyObject *ufunc, uint8_t over)
{
    if (is_quiet())
        return true;
    if (over != JY_VECTOR_OVER_NONE)
        v->late = (struct jy_flow_late){ ufunc, jy_fp_read(true), over };
    return false;
}

/* The result, dense in C order, in a free slot or over an operand; NULL: failed. */
static char *
compute(struct jy_flow_call *call, PyObject *ufunc, const struct jy_vector_spec *s, int64_t live, bool fresh)
{
    struct jy_vectors *v = vectors_of(call);
    struct jy_vector_block *b = &v->block;
    int64_t n = count(b, s->ndim);
    char *out = place_result(v, s, live);
    if (out == NULL || n == 0)
        return out;
    struct nest nest = { .noperands = 0 };
    for (size_t k = 0; k < s->nin; k++)
        add_operand(&nest, b, s, k);
    add_dense(&nest, b, s->ndim, out, itemsize(s, JY_VECTOR_RESULT));
    finish_nest(&nest, b, s->ndim);
    if (fresh && !is_in_c_order(&nest, s->nin))
        return NULL;
    struct loop loop = loop_of(ufunc, s->loop);
    jy_fp_clear(true);
    walk(&nest, run_row, &loop);
    return is_quiet_or_late(v, ufunc, s->over) ? out : NULL;
}

char *
jy_vector_apply(struct jy_flow_call *call, PyObject *ufunc, int64_t spec, int64_t live, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    char *out = compute(call, ufunc, &s, live, true);
    *failed = out == NULL;
    return out;
}

enum { PIECE_BYTES = 8192 };

/* -- copies -------------------------------------------------------------------------------------------------------------------------- */

/* One element, n times: what there is again, up to some KB of it. */
static void
fill(char *to, const char *from, size_t n, size_t bytes)
{
    if (bytes == 1) {
        memset(to, *(const unsigned char *)from, n);
        return;
    }
    memcpy(to, from, bytes);
    for (size_t done = 1, step; done < n; done += step) {
        step = done < PIECE_BYTES / bytes ? done : PIECE_BYTES / bytes;
        step = step < n - done ? step : n - done;
        memcpy(to + done * bytes, to, step * bytes);
    }
}

/* `bytes` is a constant where it is called, so that an item is one move; an item that goes everywhere is read once. */
static inline void
copy_items(char *to, const char *from, npy_intp n, const npy_intp *stride, size_t bytes)
{
    char item[sizeof(double) * 2];
    if (n > 0)
        memcpy(item, from, bytes);
    if (stride[0] == 0)
        for (; n-- > 0; to += stride[1])
            memcpy(to, item, bytes);
    else
        for (; n-- > 0; from += stride[0], to += stride[1])
            memcpy(to, from, bytes);
}

static void
copy_apart(char *to, const char *from, npy_intp n, const npy_intp *stride, size_t bytes)
{
    switch (bytes) {
    case 1:
        copy_items(to, from, n, stride, 1);
        break;
    case 2:
        copy_items(to, from, n, stride, 2);
        break;
    case 4:
        copy_items(to, from, n, stride, 4);
        break;
    case 8:
        copy_items(to, from, n, stride, 8);
        break;
    default:
        copy_items(to, from, n, stride, bytes);
        break;
    }
}

static void
copy_row(void *context, char **data, npy_intp n, const npy_intp *stride)
{
    size_t bytes = *(const size_t *)context;
    if (stride[0] == (npy_intp)bytes && stride[1] == (npy_intp)bytes)
        memcpy(data[1], data[0], (size_t)n * bytes);
    else if (stride[0] == 0 && stride[1] == (npy_intp)bytes)
        fill(data[1], data[0], (size_t)n, bytes);
    else
        copy_apart(data[1], data[0], n, stride, bytes);
}

/* Elements of the result's dtype; there is at least one, and the two share no memory. */
static void
copy(const struct jy_vector_block *b, struct nest *nest, const struct jy_vector_spec *s)
{
    size_t bytes = itemsize(s, JY_VECTOR_RESULT);
    finish_nest(nest, b, s->ndim);
    walk(nest, copy_row, &bytes);
}

struct reach {
    uintptr_t low, high;
};

static struct reach
reach_of(const struct jy_vector_block *b, const struct jy_vector_spec *s, size_t operand)
{
    uintptr_t data = (uintptr_t)b->data[operand];
    struct reach r = { data, data };
    for (size_t d = 0; d < s->ndim; d++) {
        int64_t span = b->stride[operand][d] * (b->extent[d] - 1);
        if (span < 0)
            r.low += (uintptr_t)span;
        else
            r.high += (uintptr_t)span;
    }
    r.high += itemsize(s, operand);
    return r;
}

/* Whose elements do not lie in each other, as far as a look at axes in C order shows. */
static bool
is_plain_target(const struct jy_vector_block *b, const struct jy_vector_spec *s)
{
    int64_t inner = (int64_t)itemsize(s, JY_VECTOR_RESULT);
    for (size_t d = s->ndim; d-- > 0;) {
        int64_t stride = llabs((long long)b->stride[JY_VECTOR_RESULT][d]);
        if (b->extent[d] == 1)
            continue;
        if (stride < inner)
            return false;
        inner = stride * b->extent[d];
    }
    return true;
}

static bool
is_target_itself(const struct jy_vector_block *b, const struct jy_vector_spec *s, size_t operand)
{
    bool same = b->data[operand] == b->data[JY_VECTOR_RESULT] && s->dtype[operand] == s->dtype[JY_VECTOR_RESULT];
    for (size_t d = 0; d < s->ndim; d++)
        same &= b->extent[d] == 1 || b->stride[operand][d] == b->stride[JY_VECTOR_RESULT][d];
    return same;
}

/* Element by element it is as if the result were made first: operands are the target, or share nothing with it. Of one element NumPy's loops would take the target for a sum. */
static bool
may_write_at_once(const struct jy_vector_block *b, const struct jy_vector_spec *s)
{
    struct reach to = reach_of(b, s, JY_VECTOR_RESULT);
    bool good = count(b, s->ndim) > 1 && is_plain_target(b, s);
    for (size_t k = 0; k < s->nin && good; k++) {
        struct reach from = (s->numbers >> k & 1) != 0 ? (struct reach){ 0, 0 } : reach_of(b, s, k);
        good = from.high <= to.low || to.high <= from.low || is_target_itself(b, s, k);
    }
    return good;
}

/* Where it belongs, as NumPy does: what would be reported is reported behind it, by the instruction that the flow is left in front of (flow_late.h). */
static void
write_at_once(struct jy_vectors *v, PyObject *ufunc, const struct jy_vector_spec *s, int32_t *failed)
{
    struct nest nest = { .noperands = 0 };
    struct loop loop = loop_of(ufunc, s->loop);
    for (size_t k = 0; k < s->nin; k++)
        add_operand(&nest, &v->block, s, k);
    add_operand(&nest, &v->block, s, JY_VECTOR_RESULT);
    finish_nest(&nest, &v->block, s->ndim);
    jy_fp_clear(true);
    walk(&nest, run_row, &loop);
    *failed = !is_quiet_or_late(v, ufunc, JY_VECTOR_OVER_FIRST);
}

void
jy_vector_into(struct jy_flow_call *call, PyObject *ufunc, int64_t spec, int64_t live, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vector_block *b = jy_vector_block_of(call);
    if (may_write_at_once(b, &s)) {
        write_at_once(vectors_of(call), ufunc, &s, failed);
        return;
    }
    char *made = compute(call, ufunc, &s, live, false);
    *failed = made == NULL;
    if (made == NULL || count(b, s.ndim) == 0)
        return;
    struct nest nest = { .noperands = 0 };
    add_dense(&nest, b, s.ndim, made, itemsize(&s, JY_VECTOR_RESULT));
    add_operand(&nest, b, &s, JY_VECTOR_RESULT);
    copy(b, &nest, &s);
}

char *
jy_vector_copy(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vectors *v = vectors_of(call);
    int64_t n = count(&v->block, s.ndim);
    char *out = take_new(v, live, &s, (size_t)n * itemsize(&s, JY_VECTOR_RESULT), false);
    *failed = out == NULL;
    if (out == NULL || n == 0)
        return out;
    struct nest nest = { .noperands = 0 };
    add_operand(&nest, &v->block, &s, 0);
    add_dense(&nest, &v->block, s.ndim, out, itemsize(&s, JY_VECTOR_RESULT));
    copy(&v->block, &nest, &s);
    return out;
}

/* -- casts --------------------------------------------------------------------------------------------------------------------------- */

struct cast {
    jy_cast_fn *fn;
    bool good;
};

static void
cast_row(void *context, char **data, npy_intp n, const npy_intp *stride)
{
    struct cast *cast = context;
    cast->good = cast->good && cast->fn(data[0], stride[0], data[1], stride[1], n);
}

static bool
is_c_contiguous(const struct jy_vector_block *b, const struct jy_vector_spec *s)
{
    int64_t stride = (int64_t)itemsize(s, 0);
    for (size_t d = s->ndim; d-- > 0; stride *= b->extent[d])
        if (b->extent[d] != 1 && b->stride[0][d] != stride)
            return false;
    return true;
}

/* A copy has the order of its operand's strides, also those of axes of one; a result, of others. Both may go by size only. */
static bool
has_order(const struct jy_vector_block *b, const struct jy_vector_spec *s)
{
    int64_t outer = INT64_MAX;
    if (s->order == JY_VECTOR_ANY_ORDER || s->ndim == 1 || is_c_contiguous(b, s))
        return true;
    for (size_t d = 0; d < s->ndim; d++) {
        int64_t stride = llabs((long long)b->stride[0][d]);
        if (b->extent[d] == 1 && s->order == JY_VECTOR_OPERAND_ORDER)
            continue;
        if (stride > outer)
            return false;
        outer = stride;
    }
    return true;
}

char *
jy_vector_cast(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vectors *v = vectors_of(call);
    int64_t n = count(&v->block, s.ndim);
    *failed = 1;
    if (!has_order(&v->block, &s) || (n == 0 && s.ndim > 1 && s.order == JY_VECTOR_COPY_ORDER))
        return NULL;
    char *out = jy_vector_take_slot(v, live, (size_t)n * itemsize(&s, JY_VECTOR_RESULT));
    if (out == NULL)
        return NULL;
    struct nest nest = { .noperands = 0 };
    struct cast cast = { jy_cast_of((jy_dtype)s.dtype[0], (jy_dtype)s.dtype[JY_VECTOR_RESULT]), true };
    add_operand(&nest, &v->block, &s, 0);
    add_dense(&nest, &v->block, s.ndim, out, itemsize(&s, JY_VECTOR_RESULT));
    finish_nest(&nest, &v->block, s.ndim);
    jy_fp_clear(true);
    if (n != 0)
        walk(&nest, cast_row, &cast);
    *failed = !cast.good || !is_quiet();
    return out;
}

void
jy_vector_store(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vector_block *b = jy_vector_block_of(call);
    struct nest nest = { .noperands = 0 };
    if (count(b, s.ndim) == 0)
        return;
    bool overlaps = false;
    if ((s.numbers & 1) == 0) {
        struct reach from = reach_of(b, &s, 0), to = reach_of(b, &s, JY_VECTOR_RESULT);
        overlaps = from.low < to.high && to.low < from.high;
    }
    if (overlaps) {
        char *made = jy_vector_copy(call, spec, live, failed);
        if (*failed)
            return;
        add_dense(&nest, b, s.ndim, made, itemsize(&s, JY_VECTOR_RESULT));
    } else {
        add_operand(&nest, b, &s, 0);
    }
    add_operand(&nest, b, &s, JY_VECTOR_RESULT);
    copy(b, &nest, &s);
}

char *
jy_vector_new(struct jy_flow_call *call, int64_t spec, int64_t zeroed, int64_t live, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vectors *v = vectors_of(call);
    int64_t n = 1;
    for (size_t d = 0; d < s.ndim; d++)
        if (v->block.extent[d] < 0 || __builtin_mul_overflow(n, v->block.extent[d], &n) || n > INT64_C(1) << 40) {
            *failed = 1;
            return NULL;
        }
    char *out = take_new(v, live, &s, (size_t)n * itemsize(&s, JY_VECTOR_RESULT), zeroed != 0);
    *failed = out == NULL;
    return out;
}

/* -- reductions ---------------------------------------------------------------------------------------------------------------------- */

static union jy_scalar
number_of(jy_dtype dtype, int value)
{
    union jy_scalar x = { .bits = 0 };
    if (dtype == JY_F64)
        x.d = value;
    else if (dtype == JY_F32)
        x.f = (float)value;
    else
        x.i = value; /* its first bytes are those of a smaller one */
    return x;
}

static bool
is_old_numpy(void)
{
    return jy_blas_numpy_minor() < 3;
}

/* One run of NumPy's loop with a result that does not move, over elements that lie in one row. */
static bool
reduce(union jy_scalar *acc, struct jy_flow_call *call, PyObject *ufunc, const struct jy_vector_spec *s)
{
    struct jy_vector_block *b = jy_vector_block_of(call);
    struct nest nest = { .noperands = 0 };
    int64_t n = count(b, s->ndim);
    bool from_first = s->nin == JY_VECTOR_FROM_FIRST;
    *acc = number_of((jy_dtype)s->dtype[0], s->nin == JY_VECTOR_FROM_ONE);
    if (n == 0)
        return !from_first;
    add_operand(&nest, b, s, 0);
    finish_nest(&nest, b, s->ndim);
    bool in_pieces = is_old_numpy() || s->in_pieces;
    if (nest.ndim != 1 || (in_pieces && (n > OLD_RUN || jy_errstate_get().bufsize < OLD_RUN)))
        return false;
    char *from = nest.data[0];
    if (from_first) {
        memcpy(acc, from, itemsize(s, 0));
        from += nest.stride[0][0];
        n--;
    }
    struct loop loop = loop_of(ufunc, s->loop);
    char *args[] = { (char *)acc, from, (char *)acc };
    npy_intp dim = n, strides[] = { 0, nest.stride[0][0], 0 };
    jy_fp_clear(true);
    if (n != 0)
        loop.fn(args, &dim, strides, loop.data);
    return is_quiet();
}

static bool
has_smaller_stride(const struct nest *n, size_t d, size_t e)
{
    return llabs((long long)n->stride[0][d]) < llabs((long long)n->stride[0][e]);
}

/* The order in which NumPy goes through the axes: the smallest stride of the operand innermost, by insertion from C order. A stride of 0 has no opinion. False: C order it was. */
static bool
sort_axes(struct nest *n)
{
    bool changed = false;
    for (size_t from = n->ndim - 1; from-- > 0;) {
        size_t to = from;
        for (size_t d = from + 1; d < n->ndim; d++) {
            if (n->stride[0][d] == 0 || n->stride[0][from] == 0)
                continue;
            if (!has_smaller_stride(n, from, d))
                break;
            to = d;
        }
        for (size_t d = from; d < to; d++) {
            changed = true;
            for (size_t k = 0; k < n->noperands; k++) {
                npy_intp stride = n->stride[k][d];
                n->stride[k][d] = n->stride[k][d + 1];
                n->stride[k][d + 1] = stride;
            }
            npy_intp extent = n->extent[d];
            n->extent[d] = n->extent[d + 1];
            n->extent[d + 1] = extent;
        }
    }
    return changed;
}

static void
reduce_row(void *context, char **data, npy_intp n, const npy_intp *stride)
{
    const struct loop *loop = context;
    char *args[] = { data[1], data[0], data[1] };
    npy_intp strides[] = { stride[1], stride[0], stride[1] };
    loop->fn(args, &n, strides, loop->data);
}

/* Operand 0 to operand 1, which does not move along the axes that go. */
static bool
plan_reduction(struct nest *nest, struct jy_vector_block *b, const struct jy_vector_spec *s, char *out)
{
    npy_intp stride = (npy_intp)itemsize(s, JY_VECTOR_RESULT);
    add_operand(nest, b, s, 0);
    nest->data[nest->noperands++] = out;
    for (size_t d = s->ndim; d-- > 0;) {
        bool goes = (s->axes >> d & 1) != 0;
        nest->stride[1][d] = goes ? 0 : stride;
        stride *= goes ? 1 : b->extent[d];
    }
    begin_nest(nest, b, s->ndim);
    bool moved = sort_axes(nest);
    npy_intp outer = 0;
    for (size_t d = nest->ndim; d-- > 0;) { /* the result has NumPy's order of axes: is it C order? */
        if (nest->stride[1][d] == 0)
            continue;
        if (nest->stride[1][d] < outer)
            return false;
        outer = nest->stride[1][d];
    }
    join_axes(nest);
    return !(moved && s->keepdims);
}

/* Where NumPy makes one run for each element of the result, or goes along rows of it. */
static bool
is_plain(const struct nest *nest, size_t ngone, bool from_first)
{
    size_t last = nest->ndim - 1;
    bool inner_goes = nest->stride[1][last] == 0;
    if (inner_goes && nest->extent[last] > OLD_RUN)
        return false;
    return ngone <= 1 || (!inner_goes && !from_first);
}

/* The first element of each run, for reductions that begin with it: `gone` is the one axis that goes. */
static void
take_first(struct nest *nest, size_t gone, const struct jy_vector_spec *s)
{
    struct nest first = *nest;
    size_t bytes = itemsize(s, JY_VECTOR_RESULT);
    first.extent[gone] = 1;
    walk(&first, copy_row, &bytes);
    nest->data[0] += nest->stride[0][gone];
    nest->extent[gone]--;
}

static bool
reduce_along(struct jy_vector_block *b, PyObject *ufunc, const struct jy_vector_spec *s, char *out, int64_t nout)
{
    struct nest nest = { .noperands = 0 };
    bool from_first = s->nin == JY_VECTOR_FROM_FIRST;
    size_t ngone = 0, gone = 0, bytes = itemsize(s, JY_VECTOR_RESULT);
    if (!plan_reduction(&nest, b, s, out) || jy_errstate_get().bufsize < OLD_RUN)
        return false;
    for (size_t d = 0; d < nest.ndim; d++)
        if (nest.stride[1][d] == 0) {
            gone = d;
            ngone++;
        }
    if (!is_plain(&nest, ngone, from_first))
        return false;
    struct loop loop = loop_of(ufunc, s->loop);
    union jy_scalar start = number_of((jy_dtype)s->dtype[0], s->nin == JY_VECTOR_FROM_ONE);
    if (from_first && ngone == 0)
        walk(&nest, copy_row, &bytes);
    else if (from_first)
        take_first(&nest, gone, s);
    else
        for (int64_t k = 0; k < nout; k++)
            memcpy(out + (size_t)k * bytes, &start, bytes);
    jy_fp_clear(true);
    bool is_done = from_first && (ngone == 0 || nest.extent[gone] == 0);
    if (!is_done && count(b, s->ndim) != 0)
        walk(&nest, reduce_row, &loop);
    return is_quiet();
}

char *
jy_vector_reduce(struct jy_flow_call *call, PyObject *ufunc, int64_t spec, int64_t live, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vectors *v = vectors_of(call);
    int64_t nout = 1, ngone = 1;
    for (size_t d = 0; d < s.ndim; d++)
        *((s.axes >> d & 1) != 0 ? &ngone : &nout) *= v->block.extent[d];
    *failed = 1;
    if (nout == 0 || (ngone == 0 && s.nin == JY_VECTOR_FROM_FIRST)) /* NumPy's strides of nothing, or its error */
        return NULL;
    char *out = jy_vector_take_slot(v, live, (size_t)nout * itemsize(&s, JY_VECTOR_RESULT));
    if (out == NULL || !reduce_along(&v->block, ufunc, &s, out, nout))
        return NULL;
    *failed = 0;
    return out;
}

double
jy_vector_reduce_f(struct jy_flow_call *call, PyObject *ufunc, int64_t spec, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    union jy_scalar acc;
    *failed = !reduce(&acc, call, ufunc, &s);
    return s.dtype[0] == JY_F32 ? (double)acc.f : acc.d;
}

int64_t
jy_vector_reduce_i(struct jy_flow_call *call, PyObject *ufunc, int64_t spec, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    union jy_scalar acc;
    *failed = !reduce(&acc, call, ufunc, &s);
    if (s.dtype[0] == JY_I32)
        return (int32_t)acc.i;
    return s.dtype[0] == JY_BOOL ? (acc.bits & 0xff) != 0 : acc.i;
}

/* -- choices ------------------------------------------------------------------------------------------------------------------------- */

static void
where_row(void *context, char **data, npy_intp n, const npy_intp *stride)
{
    size_t bytes = *(const size_t *)context;
    const char *yes = data[0], *no = data[1], *condition = data[2];
    char *to = data[3];
    for (; n-- > 0; yes += stride[0], no += stride[1], condition += stride[2], to += stride[3])
        if (bytes == 8)
            memcpy(to, *condition != 0 ? yes : no, 8);
        else
            memcpy(to, *condition != 0 ? yes : no, bytes);
}

char *
jy_vector_where(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vectors *v = vectors_of(call);
    size_t bytes = itemsize(&s, 0);
    int64_t n = count(&v->block, s.ndim);
    char *out = jy_vector_take_slot(v, live, (size_t)n * bytes);
    *failed = out == NULL;
    if (out == NULL || n == 0)
        return out;
    struct nest nest = { .noperands = 0 };
    for (size_t k = 0; k < JY_VECTOR_OPERANDS; k++)
        add_operand(&nest, &v->block, &s, k);
    add_dense(&nest, &v->block, s.ndim, out, bytes);
    finish_nest(&nest, &v->block, s.ndim);
    *failed = !is_in_c_order(&nest, JY_VECTOR_OPERANDS);
    if (!*failed)
        walk(&nest, where_row, &bytes);
    return out;
}

/* By NumPy's own function, which wants a row of elements side by side. */
int64_t
jy_vector_arg(struct jy_flow_call *call, int64_t spec, int64_t largest, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vector_block *b = jy_vector_block_of(call);
    PyArray_Descr *descr = PyArray_DescrFromType(jy_dtype_info[s.dtype[0]].number);
    const PyArray_ArrFuncs *functions = PyDataType_GetArrFuncs(descr);
    PyArray_ArgFunc *arg = largest != 0 ? functions->argmax : functions->argmin;
    int64_t n = count(b, s.ndim);
    size_t bytes = itemsize(&s, 0);
    npy_intp at = 0;
    char *copied = NULL;
    *failed = n == 0 || arg == NULL;
    if (!*failed) {
        struct nest nest = { .noperands = 0 };
        add_operand(&nest, b, &s, 0);
        finish_nest(&nest, b, s.ndim);
        char *from = nest.data[0];
        if (nest.ndim != 1 || nest.stride[0][0] != (npy_intp)bytes) {
            struct nest rows = { .noperands = 0 };
            from = copied = malloc((size_t)n * bytes);
            add_operand(&rows, b, &s, 0);
            add_dense(&rows, b, s.ndim, copied, bytes);
            if (copied != NULL)
                copy(b, &rows, &s);
        }
        *failed = from == NULL || arg(from, n, &at, NULL) < 0;
    }
    free(copied);
    Py_DECREF(descr);
    return at;
}

/* -- products ------------------------------------------------------------------------------------------------------------------------ */

static double
run_dot(jy_op op, const struct jy_vector_spec *s, const struct jy_operand *operand, int32_t *failed)
{
    struct jy_operand out = { .ndim = 0 };
    union jy_scalar result = { .bits = 0 };
    out.data = (char *)&result;
    jy_fp_clear(true);
    bool done = jy_product_run(op, (jy_dtype)s->dtype[0], &operand[0], &operand[1], &out) == JY_PRODUCT_DONE;
    *failed = !done || (jy_product_reports(op) && !is_quiet());
    return s->dtype[0] == JY_F32 ? (double)result.f : result.d;
}

static struct jy_operand
vector_operand(const struct jy_vector_block *b, size_t k)
{
    struct jy_operand x = { .data = b->data[k], .ndim = 1 };
    x.shape[0] = b->extent[0];
    x.stride[0] = b->stride[k][0];
    return x;
}

double
jy_vector_dot(struct jy_flow_call *call, int64_t spec, int64_t op, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vector_block *b = jy_vector_block_of(call);
    return run_dot((jy_op)op, &s, (struct jy_operand[]){ vector_operand(b, 0), vector_operand(b, 1) }, failed);
}

/* As numpy.linalg.norm() computes it: elements that do not lie side by side are copied first, so that the BLAS routine is the one for such that do. */
double
jy_vector_square(struct jy_flow_call *call, int64_t spec, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_operand x = vector_operand(jy_vector_block_of(call), 0);
    int64_t n = x.shape[0], dense = (int64_t)itemsize(&s, 0);
    char *copied = NULL;
    if (n > 1 && x.stride[0] != dense) {
        size_t bytes = (size_t)dense;
        copied = malloc((size_t)n * bytes);
        *failed = copied == NULL;
        if (*failed)
            return 0;
        copy_row(&bytes, (char *[]){ x.data, copied }, (npy_intp)n, (npy_intp[]){ x.stride[0], (npy_intp)dense });
        x.data = copied;
    }
    x.stride[0] = dense;
    double sum = run_dot(JY_OP_DOT, &s, (struct jy_operand[]){ x, x }, failed);
    free(copied);
    return sum;
}

/* How many axes the operands have: of a matrix and a vector extents 0 and 1 of the block are the matrix's, of two matrices m n p. */
static void
read_factors(struct jy_operand *factor, const struct jy_vector_block *b, enum jy_vector_product how)
{
    static const uint8_t extents[][2][2] = {
        [JY_VECTOR_BY_MATRIX] = { { 0, 0 }, { 0, 1 } },
        [JY_MATRIX_BY_VECTOR] = { { 0, 1 }, { 1, 0 } },
        [JY_MATRIX_BY_MATRIX] = { { 0, 1 }, { 1, 2 } },
    };
    for (size_t k = 0; k < 2; k++) {
        factor[k] = (struct jy_operand){ .data = b->data[k], .ndim = 2 };
        if (how == (k == 0 ? JY_VECTOR_BY_MATRIX : JY_MATRIX_BY_VECTOR))
            factor[k].ndim = 1;
        for (size_t d = 0; d < factor[k].ndim; d++) {
            factor[k].shape[d] = b->extent[extents[how][k][d]];
            factor[k].stride[d] = b->stride[k][d];
        }
    }
}

/* The result's axes: those of the first but its last, those of the second but its first. */
static int64_t
shape_product(struct jy_operand *out, const struct jy_operand *factor, size_t bytes)
{
    out->ndim = 0;
    if (factor[0].ndim == 2)
        out->shape[out->ndim++] = factor[0].shape[0];
    if (factor[1].ndim == 2)
        out->shape[out->ndim++] = factor[1].shape[1];
    int64_t n = 1;
    for (size_t d = out->ndim; d-- > 0; n *= out->shape[d])
        out->stride[d] = n * (int64_t)bytes;
    return n;
}

char *
jy_vector_product(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vectors *v = vectors_of(call);
    struct jy_operand factor[2], out;
    size_t bytes = itemsize(&s, JY_VECTOR_RESULT);
    read_factors(factor, &v->block, (enum jy_vector_product)s.nin);
    int64_t n = shape_product(&out, factor, bytes);
    out.data = jy_vector_take_slot(v, live, (size_t)n * bytes);
    *failed = 1;
    if (out.data == NULL)
        return NULL;
    jy_op op = s.loop;
    jy_fp_clear(true);
    bool done = jy_product_run(op, (jy_dtype)s.dtype[0], &factor[0], &factor[1], &out) == JY_PRODUCT_DONE;
    *failed = !done || (jy_product_reports(op) && !is_quiet());
    return out.data;
}
