/* Blocks and arrays.
 *
 *     block:  [ header, 64 bytes ][ data ... ]     header: size class, usable bytes, next free block
 *
 * Size classes are four to a power of two (at most 25 % waste, and only of addresses: untouched pages cost nothing).
 * Free blocks of a class form a stack: the block freed last is the one whose lines are still in cache. Blocks of 4 MiB
 * and more lie at 2 MiB boundaries and ask for huge pages, as NumPy's do.
 *
 * Arrays. PyArray_NewFromDescr costs about as much as a whole small kernel, so arrays are put together by hand, from
 * the same parts: memory of NumPy's default handler (or a block and our handler), dimensions from the allocator that
 * NumPy frees them with, a tracemalloc entry in NumPy's domain. Only where the user has set another memory handler,
 * or where the array structure is not what the headers say, NumPy makes the array itself. */
#include "runtime/alloc.h"
#include "frontend/cpython/compat.h"
#include "runtime/numpy_api.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEADER 64
#define HUGE_FROM ((size_t)4 << 20)
#define HUGE_PAGE ((size_t)2 << 20)
#define FIRST_SHIFT 12 /* the smallest class has 4 kB */
#define CLASSES ((48 - FIRST_SHIFT) * 4)
#define NUMPY_TRACE_DOMAIN 389047

struct block {
    struct block *next;
    size_t room;     /* bytes of data */
    uint32_t number; /* size class */
    bool mapped;
    size_t map_bytes; /* of the mapping that starts at the header */
};
_Static_assert(sizeof(struct block) <= HEADER, "the header has its place before the data");

static struct {
    struct block *idle[CLASSES];
    size_t kept;
    PyObject *own_handler;    /* capsule of `handler` */
    PyDataMem_Handler *numpy; /* the default handler of NumPy */
    PyArray_Descr *descr[JY_DTYPE_COUNT];
    bool by_hand;   /* ndarray's structure is as we know it */
    PyObject *seen; /* weak reference to the context variables under which the default handler was active */
} state;

static uint32_t
class_of(size_t size, size_t *room)
{
    if (size <= (size_t)1 << FIRST_SHIFT) {
        *room = (size_t)1 << FIRST_SHIFT;
        return 0;
    }
    unsigned shift = 63u - (unsigned)__builtin_clzll(size - 1); /* 2^shift < size <= 2^(shift+1) */
    size_t step = (size_t)1 << (shift - 2), part = (size - 1 - ((size_t)1 << shift)) / step;
    *room = ((size_t)1 << shift) + (part + 1) * step;
    return (shift - FIRST_SHIFT) * 4 + (uint32_t)part + 1;
}

static struct block *
map_block(size_t room)
{
    size_t bytes = (room + HEADER + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE, wide = bytes + HUGE_PAGE;
    char *at = mmap(NULL, wide, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
    if (before != 0)
        munmap(at, before);
    if (wide - before - bytes != 0)
        munmap(at + before + bytes, wide - before - bytes);
    madvise(at + before, bytes, MADV_HUGEPAGE);
    struct block *b = (struct block *)(void *)(at + before);
    b->mapped = true;
    b->map_bytes = bytes;
    return b;
}

static void
release(struct block *b)
{
    if (b->mapped)
        munmap(b, b->map_bytes);
    else
        free(b);
}

static struct block *
fresh_block(size_t room)
{
    if (room >= HUGE_FROM)
        return map_block(room);
    void *at = NULL;
    if (posix_memalign(&at, HEADER, room + HEADER) != 0)
        return NULL;
    struct block *b = at;
    b->mapped = false;
    return b;
}

void *
jy_block_alloc(size_t size)
{
    if (size > (size_t)1 << 46)
        return NULL;
    size_t room;
    uint32_t number = class_of(size, &room);
    struct block *b = state.idle[number];
    if (b != NULL) {
        state.idle[number] = b->next;
        state.kept -= b->room;
        return (char *)b + HEADER;
    }
    b = fresh_block(room);
    if (b == NULL) {
        jy_blocks_trim();
        b = fresh_block(room);
        if (b == NULL)
            return NULL;
    }
    b->room = room;
    b->number = number;
    return (char *)b + HEADER;
}

static struct block *
header_of(void *data)
{
    return (struct block *)(void *)((char *)data - HEADER);
}

/* Largest classes first: few blocks, many bytes. */
static void
trim_to(size_t bytes)
{
    for (size_t c = CLASSES; c-- > 0 && state.kept > bytes;)
        while (state.idle[c] != NULL && state.kept > bytes) {
            struct block *b = state.idle[c];
            state.idle[c] = b->next;
            state.kept -= b->room;
            release(b);
        }
}

void
jy_block_free(void *data)
{
    if (data == NULL)
        return;
    struct block *b = header_of(data);
    if (b->room > JY_BLOCKS_KEPT) {
        release(b);
        return;
    }
    if (state.kept + b->room > JY_BLOCKS_KEPT)
        trim_to(JY_BLOCKS_KEPT - b->room);
    b->next = state.idle[b->number];
    state.idle[b->number] = b;
    state.kept += b->room;
}

void
jy_blocks_trim(void)
{
    trim_to(0);
}

size_t
jy_blocks_kept(void)
{
    return state.kept;
}

/* The handler of arrays over our blocks: what ndarray.resize and deallocation call. */
static void *
handler_malloc(void *context, size_t size)
{
    (void)context;
    return jy_block_alloc(size);
}

static void *
handler_calloc(void *context, size_t n, size_t size)
{
    (void)context;
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    void *data = jy_block_alloc(bytes);
    return data == NULL ? NULL : memset(data, 0, bytes);
}

static void *
handler_realloc(void *context, void *old, size_t size)
{
    (void)context;
    if (old != NULL && size <= header_of(old)->room)
        return old;
    void *data = jy_block_alloc(size);
    if (data != NULL && old != NULL) {
        memcpy(data, old, header_of(old)->room);
        jy_block_free(old);
    }
    return data;
}

static void
handler_free(void *context, void *data, size_t size)
{
    (void)context;
    (void)size;
    jy_block_free(data);
}

/* Named as NumPy's, because get_handler_name shows the name. */
static PyDataMem_Handler handler = { "default_allocator",
                                     1,
                                     { NULL, handler_malloc, handler_calloc, handler_realloc, handler_free } };

int
jy_alloc_init(void)
{
    if (state.own_handler != NULL)
        return 0;
    for (size_t t = 0; t < JY_DTYPE_COUNT; t++)
        state.descr[t] = PyArray_DescrFromType(jy_dtype_info[t].number);
    PyObject *numpy = PyDataMem_DefaultHandler;
    state.numpy = numpy == NULL ? NULL : PyCapsule_GetPointer(numpy, "mem_handler");
    PyErr_Clear();
    state.by_hand = state.numpy != NULL && state.numpy->version == 1 &&
                    PyArray_Type.tp_basicsize == (Py_ssize_t)sizeof(PyArrayObject_fields) &&
                    PyArray_Type.tp_itemsize == 0;
    state.own_handler = PyCapsule_New(&handler, "mem_handler", NULL);
    return state.own_handler == NULL ? -1 : 0;
}

/* Whether NumPy would now allocate with its default handler. The handler is a context variable: as long as the mapping
 * of variables is the same object, so is the answer. The weak reference dies with that object, so another one at the
 * same address is not taken for it. */
static bool
default_handler_is_active(void)
{
    PyObject *variables = jy_compat_context_vars(PyThreadState_Get());
    if (variables == NULL)
        return true;
    if (state.seen != NULL && ((PyWeakReference *)state.seen)->wr_object == variables)
        return true;
    PyObject *active = PyDataMem_GetHandler();
    bool is_default = active == PyDataMem_DefaultHandler;
    Py_XDECREF(active);
    if (is_default)
        Py_XSETREF(state.seen, PyWeakref_NewRef(variables, NULL));
    if (PyErr_Occurred())
        PyErr_Clear();
    return is_default;
}

static PyObject *
array_by_numpy(jy_dtype dtype, size_t ndim, const int64_t *dims, const int64_t *strides)
{
    Py_INCREF(state.descr[dtype]);
    npy_intp shape[NPY_MAXDIMS], step[NPY_MAXDIMS];
    for (size_t i = 0; i < ndim; i++) {
        shape[i] = dims[i];
        step[i] = strides == NULL ? 0 : strides[i];
    }
    return PyArray_NewFromDescr(&PyArray_Type, state.descr[dtype], (int)ndim, shape, strides == NULL ? NULL : step,
                                NULL, 0, NULL);
}

PyObject *
jy_alloc_empty(jy_dtype dtype, size_t ndim, const int64_t *dims)
{
    return array_by_numpy(dtype, ndim, dims, NULL);
}

PyObject *
jy_alloc_array(jy_dtype dtype, size_t ndim, const int64_t *dims, const int64_t *strides, size_t nbytes, int flags)
{
    if (__builtin_expect(!state.by_hand || !default_handler_is_active(), 0))
        return array_by_numpy(dtype, ndim, dims, strides);
    bool large = nbytes >= JY_BLOCK_LEAST;
    char *data = large ? jy_block_alloc(nbytes) : state.numpy->allocator.malloc(state.numpy->allocator.ctx, nbytes);
    npy_intp *shape = ndim == 0 ? NULL : PyMem_RawMalloc(2 * ndim * sizeof(npy_intp));
    PyArrayObject_fields *a = PyObject_Malloc(sizeof *a);
    if (__builtin_expect(data == NULL || a == NULL || (shape == NULL && ndim != 0), 0)) {
        PyObject_Free(a);
        PyMem_RawFree(shape);
        if (large)
            jy_block_free(data);
        else if (data != NULL)
            state.numpy->allocator.free(state.numpy->allocator.ctx, data, nbytes);
        return PyErr_NoMemory();
    }
    PyTraceMalloc_Track(NUMPY_TRACE_DOMAIN, (uintptr_t)data, nbytes);
    for (size_t i = 0; i < ndim; i++) {
        shape[i] = dims[i];
        shape[ndim + i] = strides[i];
    }
    a->data = data;
    a->nd = (int)ndim;
    a->dimensions = shape;
    a->strides = shape + ndim;
    a->base = NULL;
    Py_INCREF(state.descr[dtype]);
    a->descr = state.descr[dtype];
    a->flags = flags | NPY_ARRAY_OWNDATA | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE;
    a->weakreflist = NULL;
    a->_buffer_info = NULL;
    a->mem_handler = Py_NewRef(large ? state.own_handler : PyDataMem_DefaultHandler);
    return PyObject_Init((PyObject *)a, &PyArray_Type);
}
