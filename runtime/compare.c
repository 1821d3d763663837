/* JITNEY_COMPARE: the same call by every executor, and the first difference is an error.
 *
 * The chosen executor gets the real inputs. The others get copies made before: same strides, same offsets from a cache
 * line, and where inputs share memory the copies share it alike. Compared are outputs (type, dtype, shape, strides,
 * bits; NaN equals NaN whatever its payload) and, when the unit writes, all of every array input. A lost flag is a
 * difference too: the chosen executor finished where NumPy, node by node, had something to report. On a difference a
 * Python program that repeats the call is written to the temporary directory. */
#include "runtime/exec_internal.h"
#include "runtime/numpy_api.h"
#include "graph/scalar.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ELISION_BYTES 262144 /* from here on NumPy reuses temporaries, and strides may follow them */

static const char *const executor_names[] = { "llvm", "loop", "graph", "numpy" };

struct span {
    char *low, *high;
};

static struct span
span_of(PyArrayObject *a)
{
    struct span s = { PyArray_BYTES(a), PyArray_BYTES(a) };
    for (int d = 0; d < PyArray_NDIM(a); d++) {
        npy_intp reach = (PyArray_DIM(a, d) - 1) * PyArray_STRIDE(a, d);
        if (PyArray_DIM(a, d) == 0)
            return (struct span){ s.low, s.low };
        if (reach > 0)
            s.high += reach;
        else
            s.low += reach;
    }
    s.high += PyArray_ITEMSIZE(a);
    return s;
}

static bool
meet(struct span a, struct span b)
{
    return a.low < b.high && b.low < a.high;
}

static void
free_memory(PyObject *capsule)
{
    free(PyCapsule_GetPointer(capsule, NULL));
}

/* The part of memory that input i shares with others, grown until it meets no other. */
static struct span
whole_span(PyObject *const *inputs, size_t n, size_t i)
{
    struct span s = span_of((PyArrayObject *)inputs[i]);
    for (bool grown = true; grown;) {
        grown = false;
        for (size_t k = 0; k < n; k++) {
            if (!PyArray_CheckExact(inputs[k]))
                continue;
            struct span other = span_of((PyArrayObject *)inputs[k]);
            if (meet(s, other) && (other.low < s.low || other.high > s.high)) {
                s.low = other.low < s.low ? other.low : s.low;
                s.high = other.high > s.high ? other.high : s.high;
                grown = true;
            }
        }
    }
    return s;
}

/* refs: new; an array like `a` whose memory is that of `owner` (a capsule), moved by `shift` */
static PyObject *
moved(PyArrayObject *a, char *data, PyObject *owner)
{
    PyObject *copy =
        PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(a)), PyArray_NDIM(a),
                             PyArray_DIMS(a), PyArray_STRIDES(a), data, PyArray_FLAGS(a) & NPY_ARRAY_WRITEABLE, NULL);
    if (copy != NULL && PyArray_SetBaseObject((PyArrayObject *)copy, Py_NewRef(owner)) < 0)
        Py_CLEAR(copy);
    return copy;
}

/* refs: copies[0..n) new, or all NULL with an exception */
static bool
copy_inputs(PyObject **copies, PyObject *const *inputs, size_t n)
{
    memset(copies, 0, n * sizeof *copies);
    for (size_t i = 0; i < n; i++) {
        if (copies[i] != NULL)
            continue;
        if (!PyArray_CheckExact(inputs[i])) {
            copies[i] = Py_NewRef(inputs[i]);
            continue;
        }
        struct span s = whole_span(inputs, n, i);
        size_t bytes = (size_t)(s.high - s.low), before = (uintptr_t)s.low % 64;
        void *memory = NULL;
        if (posix_memalign(&memory, 64, bytes + before + 64) != 0) {
            PyErr_NoMemory();
            return false;
        }
        char *at = (char *)memory + before;
        memcpy(at, s.low, bytes);
        PyObject *owner = PyCapsule_New(memory, NULL, free_memory);
        for (size_t k = i; owner != NULL && k < n; k++) {
            if (k != i && (!PyArray_CheckExact(inputs[k]) || !meet(s, span_of((PyArrayObject *)inputs[k]))))
                continue;
            copies[k] =
                moved((PyArrayObject *)inputs[k], at + (PyArray_BYTES((PyArrayObject *)inputs[k]) - s.low), owner);
        }
        Py_XDECREF(owner);
        if (copies[i] == NULL)
            return false;
    }
    return true;
}

static bool
same_bits(const char *a, const char *b, int type)
{
    if (type == NPY_DOUBLE) {
        double x, y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        return memcmp(a, b, 8) == 0 || (isnan(x) && isnan(y));
    }
    if (type == NPY_FLOAT) {
        float x, y;
        memcpy(&x, a, 4);
        memcpy(&y, b, 4);
        return memcmp(a, b, 4) == 0 || (isnan(x) && isnan(y));
    }
    return memcmp(a, b, type == NPY_BOOL ? 1 : type == NPY_INT ? 4 : 8) == 0;
}

struct difference {
    char text[512];
    bool found;
};

static void
note(struct difference *d, const char *what, PyObject *a, PyObject *b)
{
    PyObject *ra = PyObject_Repr(a), *rb = PyObject_Repr(b);
    const char *ta = ra == NULL ? NULL : PyUnicode_AsUTF8(ra), *tb = rb == NULL ? NULL : PyUnicode_AsUTF8(rb);
    snprintf(d->text, sizeof d->text, "%s: %.160s and %.160s", what, ta == NULL ? "?" : ta, tb == NULL ? "?" : tb);
    d->found = true;
    PyErr_Clear();
    Py_XDECREF(ra);
    Py_XDECREF(rb);
}

static void
compare_elements(struct difference *d, PyArrayObject *a, PyArrayObject *b)
{
    npy_intp index[NPY_MAXDIMS] = { 0 };
    int ndim = PyArray_NDIM(a), k;
    if (PyArray_SIZE(a) == 0)
        return;
    do {
        if (!same_bits(PyArray_GetPtr(a, index), PyArray_GetPtr(b, index), PyArray_TYPE(a))) {
            char where[128] = "element (";
            for (k = 0; k < ndim; k++)
                snprintf(where + strlen(where), sizeof where - strlen(where), "%" PRId64 ", ", (int64_t)index[k]);
            PyObject *x = PyArray_GETITEM(a, PyArray_GetPtr(a, index)),
                     *y = PyArray_GETITEM(b, PyArray_GetPtr(b, index));
            snprintf(where + strlen(where), sizeof where - strlen(where), ")");
            if (x != NULL && y != NULL)
                note(d, where, x, y);
            Py_XDECREF(x);
            Py_XDECREF(y);
            return;
        }
        for (k = ndim - 1; k >= 0 && ++index[k] == PyArray_DIM(a, k); k--)
            index[k] = 0;
    } while (k >= 0);
}

static void
compare_objects(struct difference *d, PyObject *a, PyObject *b)
{
    if (Py_TYPE(a) != Py_TYPE(b)) {
        note(d, "type", (PyObject *)Py_TYPE(a), (PyObject *)Py_TYPE(b));
        return;
    }
    if (!PyArray_CheckExact(a)) {
        union jy_scalar x = { 0 }, y = { 0 };
        jy_dtype dtype = PyFloat_Check(a)                               ? JY_F64
                         : PyArray_IsScalar(a, Float)                   ? JY_F32
                         : PyBool_Check(a) || PyArray_IsScalar(a, Bool) ? JY_BOOL
                         : PyArray_IsScalar(a, Int)                     ? JY_I32
                                                                        : JY_I64;
        bool known = jy_unwrap_scalar(&x, dtype, a) && jy_unwrap_scalar(&y, dtype, b);
        char bytes[2][8];
        jy_scalar_store(dtype, bytes[0], x);
        jy_scalar_store(dtype, bytes[1], y);
        if (!known || !same_bits(bytes[0], bytes[1], jy_dtype_info[dtype].number))
            note(d, "value", a, b);
        return;
    }
    PyArrayObject *x = (PyArrayObject *)a, *y = (PyArrayObject *)b;
    if (PyArray_TYPE(x) != PyArray_TYPE(y)) {
        note(d, "dtype", (PyObject *)PyArray_DESCR(x), (PyObject *)PyArray_DESCR(y));
        return;
    }
    size_t axes = (size_t)PyArray_NDIM(x) * sizeof(npy_intp);
    bool same_shape = PyArray_SAMESHAPE(x, y);
    bool same_strides = PyArray_NBYTES(x) >= ELISION_BYTES ||
                        memcmp(PyArray_STRIDES(x), PyArray_STRIDES(y), same_shape ? axes : 0) == 0;
    if (!same_shape || !same_strides || PyArray_ISWRITEABLE(x) != PyArray_ISWRITEABLE(y)) {
        const char *attribute = !same_shape ? "shape" : !same_strides ? "strides" : "flags";
        PyObject *p = PyObject_GetAttrString(a, attribute), *q = PyObject_GetAttrString(b, attribute);
        if (p != NULL && q != NULL)
            note(d, attribute, p, q);
        Py_XDECREF(p);
        Py_XDECREF(q);
        return;
    }
    compare_elements(d, x, y);
}

/* -- report -------------------------------------------------------------------------------------------------------- */

static void
write_input(FILE *file, PyObject *input)
{
    if (!PyArray_CheckExact(input)) {
        PyObject *repr = PyObject_Repr(input);
        const char *text = repr == NULL ? NULL : PyUnicode_AsUTF8(repr);
        fprintf(file, "inputs.append(%s)\n", text == NULL ? "None" : text);
        Py_XDECREF(repr);
        PyErr_Clear();
        return;
    }
    PyArrayObject *a = (PyArrayObject *)input;
    struct span s = span_of(a);
    fprintf(file, "memory = np.frombuffer(bytearray.fromhex(\"");
    for (const char *at = s.low; at < s.high; at++)
        fprintf(file, "%02x", (unsigned)(unsigned char)*at);
    fprintf(file, "\"), \"u1\")[%td:]\ninputs.append(np.ndarray((", PyArray_BYTES(a) - s.low);
    for (int d = 0; d < PyArray_NDIM(a); d++)
        fprintf(file, "%" PRId64 ", ", (int64_t)PyArray_DIM(a, d));
    fprintf(file, "), \"%c\", bytes_of(memory), %td, (", PyArray_DESCR(a)->type, PyArray_BYTES(a) - s.low);
    for (int d = 0; d < PyArray_NDIM(a); d++)
        fprintf(file, "%" PRId64 ", ", (int64_t)PyArray_STRIDE(a, d));
    fprintf(file, ")))\n");
}

/* refs: none. `path` receives where it was written, or an empty text. */
static void
write_report(char *path, size_t size, struct jy_exec *exec, PyObject *const *copies, const char *message)
{
    const char *directory = getenv("TMPDIR");
    snprintf(path, size, "%s/jitney-difference-XXXXXX", directory == NULL ? "/tmp" : directory);
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file == NULL) {
        if (fd >= 0)
            close(fd);
        path[0] = '\0';
        return;
    }
    const char *graph = jy_exec_texts(exec)->graph;
    fprintf(file,
            "# %s\nimport numpy as np\nfrom jitney import _jitney\n\nbytes_of = lambda memory: memory.base\ngraph = "
            "\"\"\"\\\n%s\"\"\"\ninputs = []\n",
            message, graph == NULL ? "" : graph);
    for (size_t i = 0; i < exec->ninputs; i++)
        write_input(file, copies[i]);
    fprintf(file, "print(_jitney._test_run_graph(graph, *inputs, executor=\"llvm\", compare=True))\n");
    fclose(file);
}

static void
raise_difference(struct jy_exec *exec, enum jy_executor other, const char *what, PyObject *const *originals,
                 const char *detail)
{
    char message[900], path[256];
    snprintf(message, sizeof message, "jitney: executors %s and %s differ in %s, %s, %s",
             executor_names[exec->options.executor], executor_names[other],
             exec->options.name == NULL ? "a graph" : exec->options.name, what, detail);
    write_report(path, sizeof path, exec, originals, message);
    PyErr_Format(PyExc_RuntimeError, "%s; to repeat it: %s", message,
                 path[0] == '\0' ? "(the report could not be written)" : path);
}

/* -- running ------------------------------------------------------------------------------------------------------- */

static enum jy_run
run_by(struct jy_exec *exec, enum jy_executor executor, PyObject *const *inputs, PyObject **outputs)
{
    jy_kernel_fn *kernels = exec->kernels;
    enum jy_run run;
    switch (executor) {
    case JY_EXEC_NUMPY:
        return jy_eval_numpy(exec, inputs, outputs);
    case JY_EXEC_GRAPH:
        return jy_eval_graph(exec, inputs, outputs);
    case JY_EXEC_LOOP:
        exec->kernels = NULL;
        break;
    case JY_EXEC_LLVM:
        break;
    }
    run = jy_exec_run_plan(exec, inputs, outputs);
    exec->kernels = kernels;
    return run;
}

/* Everything that another executor leaves against what the chosen one left. False with an exception on a difference. */
static bool
check_against(struct jy_exec *exec, enum jy_executor other, enum jy_run chosen_run, PyObject *const *inputs,
              PyObject *const *outputs, PyObject *const *originals)
{
    size_t nin = exec->ninputs, nout = exec->noutputs;
    PyObject **copies = calloc(nin + nout + 1, sizeof *copies), **results = copies + nin;
    if (copies == NULL) {
        PyErr_NoMemory();
        return false;
    }
    struct difference d = { .found = false };
    bool good = copy_inputs(copies, originals, nin);
    enum jy_run run = good ? run_by(exec, other, copies, results) : JY_RUN_ERROR;
    char what[64] = "status";
    if (good && run == JY_RUN_OK && chosen_run == JY_RUN_OK) {
        for (size_t k = 0; !d.found && k < nout; k++) {
            snprintf(what, sizeof what, "output %zu (node %%%u)", k, (unsigned)exec->plan->p_outputs.at[k].node);
            compare_objects(&d, outputs[k], results[k]);
        }
        for (size_t i = 0; !d.found && exec->plan->p_writes.n != 0 && i < nin; i++) {
            snprintf(what, sizeof what, "input %zu after the call", i);
            if (PyArray_CheckExact(inputs[i]))
                compare_elements(&d, (PyArrayObject *)inputs[i], (PyArrayObject *)copies[i]);
        }
    } else if (good && run == JY_RUN_RERUN && chosen_run == JY_RUN_OK) {
        snprintf(d.text, sizeof d.text, "only the latter has something to report");
        d.found = true;
    }
    if (d.found)
        raise_difference(exec, other, what, originals, d.text);
    for (size_t i = 0; i < nin + nout; i++)
        Py_XDECREF(copies[i]);
    free(copies);
    return good && run != JY_RUN_ERROR && !d.found;
}

enum jy_run
jy_exec_run_compared(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs)
{
    size_t n = exec->ninputs;
    PyObject **originals = calloc(n + 1, sizeof *originals);
    if (originals == NULL)
        return JY_RUN_RERUN;
    enum jy_run run = JY_RUN_ERROR;
    bool good = copy_inputs(originals, inputs, n);
    if (good)
        run = run_by(exec, exec->options.executor, inputs, outputs);
    for (int other = JY_EXEC_LLVM; good && run != JY_RUN_ERROR && other <= JY_EXEC_NUMPY; other++) {
        bool runnable = other != JY_EXEC_LLVM || exec->kernels != NULL;
        if (other == (int)exec->options.executor || !runnable)
            continue;
        good = check_against(exec, (enum jy_executor)other, run, inputs, outputs, originals);
    }
    if (!good && run == JY_RUN_OK)
        for (size_t k = 0; k < exec->noutputs; k++)
            Py_CLEAR(outputs[k]);
    for (size_t i = 0; i < n; i++)
        Py_XDECREF(originals[i]);
    free(originals);
    return good ? run : JY_RUN_ERROR;
}
