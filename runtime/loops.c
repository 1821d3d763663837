/* Finding NumPy's inner loops and probing its summation order.
 *
 * 1. The loop of a signature is the FIRST entry of PyUFuncObject.functions whose types match: many signatures are
 *    listed twice, and the second loop gives other bits.
 * 2. Loops are looked up in this process and never stored: NumPy chooses them by CPU features at import.
 * 3. Some loops clear the FP status when they end (comparisons, minimum, isnan ...). NumPy does not mind, since it
 *    reads the status once per ufunc; a unit reads it once for
 *    many operations. Such loops are recognised by a trial and wrapped: the wrapper puts the earlier flags back.
 * 4. How a long run is summed is probed by summing numbers whose two candidate results differ. */
#include "runtime/loops.h"
#include "graph/pairwise.h"
#include "runtime/fpstatus.h"
#include "runtime/numpy_api.h"
#include "runtime/vector.h"
#include <string.h>

#define WRAPPED_MAX 256

/* Found once per process. */
static struct {
    PyObject *ufunc[JY_OP_COUNT];
    struct jy_helpers helpers;
    bool pieces;
    size_t nwrapped;
    struct jy_loop_fn wrapped[WRAPPED_MAX]; /* the loops behind `keep_flags` */
} state;

static bool
find_ufuncs(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL)
        return false;
    for (size_t op = 0; op < JY_OP_COUNT; op++) {
        if (jy_op_info[op].oracle == NULL)
            continue;
        PyObject *ufunc = PyObject_GetAttrString(numpy, jy_op_info[op].oracle);
        PyErr_Clear();
        if (ufunc != NULL && PyObject_TypeCheck(ufunc, &PyUFunc_Type))
            state.ufunc[op] = ufunc;
        else
            Py_XDECREF(ufunc);
    }
    Py_DECREF(numpy);
    /* `clip` is a ufunc that the public function of that name hides. */
    PyObject *umath = PyImport_ImportModule("numpy._core.umath");
    PyObject *clip = umath == NULL ? NULL : PyObject_GetAttrString(umath, "clip");
    PyErr_Clear();
    if (clip != NULL && PyObject_TypeCheck(clip, &PyUFunc_Type) && state.ufunc[JY_OP_CLIP] == NULL)
        state.ufunc[JY_OP_CLIP] = Py_NewRef(clip);
    Py_XDECREF(clip);
    Py_XDECREF(umath);
    return true;
}

/* 16 400 numbers of mixed size; the two rules give different sums. */
static int
probe_sum(void)
{
    npy_intp n = 16400;
    PyArrayObject *a = (PyArrayObject *)PyArray_SimpleNew(1, &n, NPY_DOUBLE);
    if (a == NULL)
        return -1;
    double *x = PyArray_DATA(a), sums[2];
    uint64_t seed = 1;
    for (npy_intp i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (double)(int64_t)(seed >> 11) * (1 + (double)(seed >> 60)) / 3.0;
    }
    for (int rule = 0; rule < 2; rule++) {
        struct jy_pairwise s;
        int64_t leaf = jy_pairwise_begin(&s, n, rule == 0 ? INT64_MAX : NPY_BUFSIZE);
        while (leaf != 0)
            leaf = jy_pairwise_next_f64(&s, jy_pairwise_leaf_f64((const char *)(x + s.start), leaf, 8));
        sums[rule] = s.value.d;
    }
    PyObject *sum =
        state.ufunc[JY_OP_SUM] == NULL ? NULL : PyObject_CallMethod(state.ufunc[JY_OP_SUM], "reduce", "O", a);
    Py_DECREF(a);
    if (sum == NULL)
        return -1;
    double got = PyFloat_AsDouble(sum);
    Py_DECREF(sum);
    if (PyErr_Occurred())
        return -1;
    state.pieces = got == sums[1];
    if (sums[0] == sums[1] || (got != sums[0] && got != sums[1])) {
        PyErr_SetString(PyExc_ImportError, "jitney: this NumPy adds numbers in an unknown order");
        return -1;
    }
    return 0;
}

int
jy_loops_init(void)
{
    if (state.helpers.pairwise_begin != NULL)
        return 0;
    if (!find_ufuncs() || probe_sum() < 0)
        return -1;
    state.helpers = (struct jy_helpers){
#define KERNEL(name, result, args) .name = jy_##name,
#include "graph/kernels.def"
#undef KERNEL
    };
    return 0;
}

static void
keep_flags(char **args, const intptr_t *dims, const intptr_t *strides, void *data)
{
    const struct jy_loop_fn *loop = data;
    uint32_t before = jy_fp_read(true);
    loop->fn(args, dims, strides, loop->data);
    if (before)
        jy_fp_raise(before);
}

/* Ones, in every dtype, at lengths that reach scalar tails and vector bodies. */
static bool
clears_flags(const struct jy_loop_fn *loop, size_t nin, const jy_dtype *dtypes)
{
    enum { ROOM = 128 };
    _Alignas(64) char memory[4][ROOM * 8] = { { 0 } };
    static const intptr_t lengths[] = { 1, 3, ROOM };
    intptr_t strides[4];
    char *args[4];
    bool lost = false;
    uint32_t before = jy_fp_read(true);
    for (size_t k = 0; k <= nin; k++) {
        strides[k] = jy_dtype_info[dtypes[k]].bytes;
        for (size_t i = 0; i < ROOM; i++) {
            char *at = memory[k] + i * (size_t)strides[k];
            switch ((int)dtypes[k]) {
            case JY_F64:
                *(double *)at = 1;
                break;
            case JY_F32:
                *(float *)at = 1;
                break;
            case JY_I64:
                *(int64_t *)at = 1;
                break;
            case JY_I32:
                *(int32_t *)at = 1;
                break;
            default: /* bool */
                *at = 1;
                break;
            }
        }
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (size_t k = 0; k <= nin; k++)
            args[k] = memory[k];
        jy_fp_clear(true);
        jy_fp_raise(15);
        loop->fn(args, &lengths[i], strides, loop->data);
        lost |= jy_fp_read(true) != 15;
    }
    jy_fp_clear(true);
    jy_fp_raise(before);
    return lost;
}

struct jy_loop_fn
jy_loops_find(jy_op op, size_t nin, const jy_dtype *dtypes)
{
    struct jy_loop_fn none = { NULL, NULL, NULL };
    const PyUFuncObject *u = (const PyUFuncObject *)state.ufunc[op];
    if (u == NULL || (size_t)u->nin != nin || u->nout != 1 || nin > 3)
        return none;
    for (int i = 0; i < u->ntypes; i++) {
        const char *types = u->types + (ptrdiff_t)i * u->nargs;
        size_t k = 0;
        while (k <= nin && types[k] == jy_dtype_info[dtypes[k]].number)
            k++;
        if (k <= nin)
            continue;
        struct jy_loop_fn loop = { u->functions[i], u->data == NULL ? NULL : (void *)(uintptr_t)u->data[i], NULL };
        if (!clears_flags(&loop, nin, dtypes)) {
            if (nin == 1 && dtypes[0] == JY_F64 && dtypes[1] == JY_F64)
                loop.vector = jy_vector_find(op, &loop);
            return loop;
        }
        for (size_t w = 0; w < state.nwrapped; w++)
            if (state.wrapped[w].fn == loop.fn && state.wrapped[w].data == loop.data)
                return (struct jy_loop_fn){ keep_flags, &state.wrapped[w], NULL };
        if (state.nwrapped == WRAPPED_MAX)
            return none;
        state.wrapped[state.nwrapped] = loop;
        return (struct jy_loop_fn){ keep_flags, &state.wrapped[state.nwrapped++], NULL };
    }
    return none;
}

bool
jy_loops_have_vector(jy_op op, jy_dtype dtype)
{
    jy_dtype dtypes[] = { dtype, dtype };
    return dtype == JY_F64 && jy_op_info[op].arity == 1 && jy_loops_find(op, 1, dtypes).vector != NULL;
}

const struct jy_helpers *
jy_loops_helpers(void)
{
    return &state.helpers;
}

bool
jy_loops_sums_in_pieces(void)
{
    return state.pieces;
}

void *
jy_loops_ufunc(jy_op op)
{
    return state.ufunc[op];
}
