/* Executor `numpy`: every node by the NumPy function that eager calls (the `oracle` column of ops.def), on real
 * arrays, each dropped after its last reader.
 *
 * It shares nothing with lowering, kernels or the tables of exec_run.c and is therefore the judge of all of them.
 * Reported FP kinds raise FloatingPointError inside, which ends in JY_RUN_RERUN as flags do everywhere. What it cannot
 * show is the reuse of temporaries' memory that NumPy does for expressions in bytecode; strides of results that depend
 * on it are the frontend's doing (layouts of nodes). */
#include "graph/scalar.h"
#include "runtime/exec_internal.h"
#include "runtime/fpstatus.h"
#include "runtime/numpy_api.h"
#include <stdlib.h>
#include <string.h>

struct numpy_run {
    const struct jy_exec *exec;
    const struct jy_graph *g;
    PyObject *const *inputs;
    const int64_t *symbols;
    PyObject **value; /* per node, owned */
    PyObject *numpy;
};

static PyObject *
arg(const struct numpy_run *run, const struct jy_node *node, size_t i)
{
    return run->value[node->n_args[i]];
}

static PyArrayObject *
array_arg(const struct numpy_run *run, const struct jy_node *node, size_t i)
{
    return (PyArrayObject *)run->value[node->n_args[i]];
}

/* Scalars of NumPy's making as the kind that the node has; arrays as they are. refs: object taken, returns new */
static PyObject *
as_kind(const struct jy_node *node, PyObject *object)
{
    union jy_scalar value;
    if (object == NULL || (node->n_kind == JY_KIND_ARRAY && PyArray_CheckExact(object)))
        return object;
    if (!jy_unwrap_scalar(&value, (jy_dtype)node->n_dtype, object)) {
        PyErr_Format(PyExc_TypeError, "jitney: %s gave %R, not %s", jy_op_info[node->n_op].text, object,
                     jy_dtype_info[node->n_dtype].text);
        Py_DECREF(object);
        return NULL;
    }
    Py_DECREF(object);
    return jy_wrap_scalar(node->n_kind, (jy_dtype)node->n_dtype, value);
}

static bool
shape_of(npy_intp *shape, const struct numpy_run *run, const struct jy_node *node)
{
    for (size_t d = 0; d < node->n_ndim; d++) {
        int64_t extent;
        if (!jy_sizes_eval(&extent, &run->g->g_sizes, node->n_shape[d], run->symbols)) {
            PyErr_SetString(PyExc_OverflowError, "jitney: a size overflows");
            return false;
        }
        shape[d] = extent;
    }
    return true;
}

static PyObject *
new_array(const struct numpy_run *run, const struct jy_node *node)
{
    npy_intp shape[JY_MAX_NDIM], strides[JY_MAX_NDIM];
    int64_t extents[JY_MAX_NDIM], cells = 1;
    if (!shape_of(shape, run, node))
        return NULL;
    for (size_t d = 0; d < node->n_ndim; d++)
        cells *= extents[d] = shape[d];
    struct jy_layout layout =
        jy_layout_fresh(node->n_ndim, extents, node->n_layout == NULL ? NULL : node->n_layout->order,
                        jy_dtype_info[node->n_dtype].bytes);
    for (size_t d = 0; d < node->n_ndim; d++)
        strides[d] = layout.stride[d];
    return PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(jy_dtype_info[node->n_dtype].number), node->n_ndim,
                                shape, cells == 0 ? NULL : strides, NULL, 0, NULL);
}

static PyObject *
source(const struct numpy_run *run, const struct jy_node *node)
{
    if (node->n_op == JY_OP_PLACEHOLDER)
        return Py_NewRef(run->inputs[node->n_input]);
    union jy_scalar value = node->n_value;
    if (node->n_op == JY_OP_SIZE && !jy_sizes_eval(&value.i, &run->g->g_sizes, node->n_size, run->symbols)) {
        PyErr_SetString(PyExc_OverflowError, "jitney: a size overflows");
        return NULL;
    }
    return jy_wrap_scalar(node->n_kind, (jy_dtype)node->n_dtype, value);
}

/* What Python raises for floats and NumPy's functions do not. */
static bool
divides_by_zero(const struct numpy_run *run, const struct jy_node *node)
{
    bool divides = node->n_op == JY_OP_DIV || node->n_op == JY_OP_FLOOR_DIVIDE || node->n_op == JY_OP_REMAINDER;
    return divides && node->n_kind == JY_KIND_PYFLOAT && PyFloat_AsDouble(arg(run, node, 1)) == 0;
}

/* Integer scalars that overflow: operators of NumPy's scalars warn and Python's ints grow, where functions of arrays wrap. */
static bool
overflows(const struct numpy_run *run, const struct jy_node *node)
{
    jy_dtype dtype = (jy_dtype)jy_graph_at(run->g, node->n_args[0])->n_dtype;
    union jy_scalar operands[3];
    uint32_t status = 0;
    if (node->n_kind == JY_KIND_ARRAY || jy_op_info[node->n_op].klass != JY_CLASS_EW || node->n_nargs > 2 ||
        !jy_scalar_has((jy_op)node->n_op, dtype))
        return false;
    for (size_t i = 0; i < node->n_nargs; i++)
        if (!jy_unwrap_scalar(&operands[i], dtype, arg(run, node, i)))
            return false;
    jy_scalar_apply((jy_op)node->n_op, dtype, operands, &status);
    return status != 0;
}

/* NumPy orders the axes of a result by the operands that it sees, and here some are copies made by a cast: the node's layout is what eager gives.
 * refs: result taken, returns new */
static PyObject *
in_layout(const struct numpy_run *run, const struct jy_node *node, PyObject *result)
{
    if (result == NULL || node->n_kind != JY_KIND_ARRAY || node->n_ndim < 2)
        return result;
    PyObject *array = new_array(run, node);
    if (array != NULL && memcmp(PyArray_STRIDES((PyArrayObject *)array), PyArray_STRIDES((PyArrayObject *)result),
                                node->n_ndim * sizeof(npy_intp)) == 0) {
        Py_DECREF(array);
        return result;
    }
    if (array != NULL && PyArray_CopyInto((PyArrayObject *)array, (PyArrayObject *)result) < 0)
        Py_CLEAR(array);
    Py_DECREF(result);
    return array;
}

/* The operators of integer scalars report an overflow, which the ufuncs do not. refs: new; NULL without an exception: another operation */
static PyObject *
integer_operator(const struct numpy_run *run, const struct jy_node *node)
{
    bool is_scalar = node->n_kind == JY_KIND_NPSCALAR || node->n_kind == JY_KIND_PYINT;
    if (!is_scalar || (node->n_dtype != JY_I32 && node->n_dtype != JY_I64))
        return NULL;
    switch (node->n_op) {
    case JY_OP_ADD:
        return PyNumber_Add(arg(run, node, 0), arg(run, node, 1));
    case JY_OP_SUB:
        return PyNumber_Subtract(arg(run, node, 0), arg(run, node, 1));
    case JY_OP_MUL:
        return PyNumber_Multiply(arg(run, node, 0), arg(run, node, 1));
    case JY_OP_NEG:
        return PyNumber_Negative(arg(run, node, 0));
    case JY_OP_ABS:
        return PyNumber_Absolute(arg(run, node, 0));
    default:
        return NULL;
    }
}

/* By name, with the operands in order. */
static PyObject *
call_by_name(const struct numpy_run *run, const struct jy_node *node)
{
    if (divides_by_zero(run, node) || overflows(run, node))
        return NULL;
    PyObject *number = integer_operator(run, node);
    if (number != NULL || PyErr_Occurred())
        return as_kind(node, number);
    PyObject *callable = PyObject_GetAttrString(run->numpy, jy_op_info[node->n_op].oracle),
             *args = PyTuple_New(node->n_nargs), *result = NULL;
    for (size_t i = 0; args != NULL && i < node->n_nargs; i++)
        PyTuple_SET_ITEM(args, (Py_ssize_t)i, Py_NewRef(arg(run, node, i)));
    if (callable != NULL && args != NULL)
        result = PyObject_Call(callable, args, NULL);
    Py_XDECREF(callable);
    Py_XDECREF(args);
    return as_kind(node, result);
}

static bool
is_handed_out(const struct numpy_run *run, const struct jy_node *node)
{
    for (size_t k = 0; k < run->g->g_outputs.n; k++) {
        jy_ref storage = jy_graph_at(run->g, run->g->g_outputs.at[k])->n_storage;
        if (storage != JY_NO_REF && jy_graph_at(run->g, storage) == node)
            return true;
    }
    return false;
}

/* The array, or a view with one element along axes that are stretched, or (`like` given) a view stretched as that one is. refs: new */
static PyObject *
unstretched(PyArrayObject *array, PyArrayObject *like)
{
    struct jy_desc desc = { .data = PyArray_BYTES(array) };
    int64_t extents[JY_MAX_NDIM];
    jy_dtype dtype;
    bool stretched = false;
    for (int d = 0; d < PyArray_NDIM(array); d++) {
        bool still = PyArray_STRIDE(like == NULL ? array : like, d) == 0 && PyArray_SIZE(array) != 0;
        stretched |= still;
        extents[d] = like != NULL ? PyArray_DIM(like, d) : still ? 1 : PyArray_DIM(array, d);
        desc.stride[d] = still ? 0 : PyArray_STRIDE(array, d);
    }
    if (!stretched || !jy_dtype_from_number(&dtype, PyArray_TYPE(array)))
        return Py_NewRef(array);
    return jy_wrap_view(dtype, (size_t)PyArray_NDIM(array), extents, &desc, (PyObject *)array);
}

/* A NumPy float becomes an element of an integer array by int(), which raises whatever errstate says. */
static bool
fits_integer(const struct numpy_run *run, const struct jy_node *node)
{
    const struct jy_node *from = jy_graph_at(run->g, node->n_args[0]);
    bool is_integer = node->n_dtype == JY_I32 || node->n_dtype == JY_I64;
    if (!is_integer || node->n_kind != JY_KIND_NPSCALAR || !jy_dtype_is_float((jy_dtype)from->n_dtype))
        return true;
    PyObject *integer = PyNumber_Long(arg(run, node, 0));
    long long value = integer == NULL ? -1 : PyLong_AsLongLong(integer);
    Py_XDECREF(integer);
    return !PyErr_Occurred() && (node->n_dtype == JY_I64 || value == (int32_t)value);
}

/* Inside of a ufunc an operand is cast in pieces and keeps the strides that say how the result is laid out: a stretched axis has none. */
static PyObject *
cast(const struct numpy_run *run, const struct jy_node *node)
{
    if (!fits_integer(run, node))
        return NULL;
    PyObject *dtype = (PyObject *)PyArray_DescrFromType(jy_dtype_info[node->n_dtype].number);
    PyObject *array = PyArray_FROM_O(arg(run, node, 0)), *result = NULL;
    bool inside = array != NULL && node->n_kind == JY_KIND_ARRAY && !is_handed_out(run, node);
    PyObject *from = inside ? unstretched((PyArrayObject *)array, NULL) : Py_XNewRef(array);
    if (from != NULL)
        result = PyObject_CallMethod(from, "astype", "O", dtype);
    if (inside && result != NULL)
        Py_SETREF(result, unstretched((PyArrayObject *)result, (PyArrayObject *)array));
    Py_XDECREF(from);
    Py_XDECREF(array);
    Py_DECREF(dtype);
    return as_kind(node, result);
}

/* refs: new */
static PyObject *
view(const struct numpy_run *run, PyObject *base, const struct jy_view *v, jy_dtype dtype, const npy_intp *shape)
{
    struct jy_desc desc = { .data = PyArray_BYTES((PyArrayObject *)base) };
    int64_t extents[JY_MAX_NDIM];
    for (size_t d = 0; d < v->ndim; d++) {
        extents[d] = shape[d];
        if (v->axis[d] >= 0)
            desc.stride[d] = v->step[d] * PyArray_STRIDE((PyArrayObject *)base, v->axis[d]);
    }
    for (size_t a = 0; a < v->source_ndim; a++) {
        int64_t start;
        if (!jy_sizes_eval(&start, &run->g->g_sizes, v->start[a], run->symbols)) {
            PyErr_SetString(PyExc_OverflowError, "jitney: a size overflows");
            return NULL;
        }
        desc.data += start * PyArray_STRIDE((PyArrayObject *)base, (int)a);
    }
    return jy_wrap_view(dtype, v->ndim, extents, &desc, base);
}

static PyObject *
view_or_reshape(const struct numpy_run *run, const struct jy_node *node)
{
    npy_intp shape[JY_MAX_NDIM];
    if (!shape_of(shape, run, node))
        return NULL;
    if (node->n_op == JY_OP_VIEW)
        return view(run, arg(run, node, 0), node->n_view, (jy_dtype)node->n_dtype, shape);
    struct jy_desc desc = { .data = PyArray_BYTES(array_arg(run, node, 0)) };
    int64_t extents[JY_MAX_NDIM];
    for (size_t d = 0; d < node->n_ndim; d++)
        extents[d] = shape[d];
    struct jy_layout layout = jy_layout_fresh(node->n_ndim, extents, NULL, jy_dtype_info[node->n_dtype].bytes);
    memcpy(desc.stride, layout.stride, sizeof desc.stride);
    return jy_wrap_view((jy_dtype)node->n_dtype, node->n_ndim, extents, &desc, arg(run, node, 0));
}

static PyObject *
create(const struct numpy_run *run, const struct jy_node *node)
{
    PyObject *array = new_array(run, node);
    if (array == NULL || node->n_nargs == 0)
        return array;
    PyObject *from = PyArray_FROM_O(arg(run, node, 0));
    if (from == NULL || PyArray_CopyInto((PyArrayObject *)array, (PyArrayObject *)from) < 0)
        Py_CLEAR(array);
    Py_XDECREF(from);
    return array;
}

/* The right side is read as if before the left side is written: PyArray_CopyInto looks for overlap. */
static PyObject *
store(const struct numpy_run *run, const struct jy_node *node)
{
    PyObject *base = arg(run, node, 0), *from = PyArray_FROM_O(arg(run, node, 1)), *to = NULL;
    if (from == NULL)
        return NULL;
    if (node->n_view == NULL)
        to = Py_NewRef(base);
    else
        to = view(run, base, node->n_view, (jy_dtype)node->n_dtype, PyArray_DIMS((PyArrayObject *)from));
    bool good = to != NULL && PyArray_CopyInto((PyArrayObject *)to, (PyArrayObject *)from) == 0;
    Py_XDECREF(to);
    Py_DECREF(from);
    return good ? Py_NewRef(base) : NULL;
}

static PyObject *
call_out(const struct numpy_run *run, const struct jy_node *node)
{
    const struct jy_unit *unit = run->exec->unit;
    PyObject *args = PyTuple_New(node->n_nargs), *result = NULL;
    for (size_t i = 0; args != NULL && i < node->n_nargs; i++)
        PyTuple_SET_ITEM(args, (Py_ssize_t)i, Py_NewRef(arg(run, node, i)));
    if (args != NULL)
        result = jy_run_quietly(run->exec, unit->u_objects.at[node->n_callee], args,
                                node->n_extra == 0 ? NULL : unit->u_objects.at[node->n_extra]);
    Py_XDECREF(args);
    result = as_kind(node, result);
    if (result != NULL && node->n_kind == JY_KIND_ARRAY) {
        npy_intp shape[JY_MAX_NDIM];
        PyArrayObject *a = (PyArrayObject *)result;
        if (!shape_of(shape, run, node) || PyArray_TYPE(a) != jy_dtype_info[node->n_dtype].number ||
            PyArray_NDIM(a) != node->n_ndim || !PyArray_CompareLists(PyArray_DIMS(a), shape, node->n_ndim))
            Py_CLEAR(result); /* not what was traced: the original must run */
    }
    return result;
}

/* refs: new; NULL with or without an exception */
static PyObject *
eval_node(const struct numpy_run *run, const struct jy_node *node)
{
    switch ((enum jy_op_class)jy_op_info[node->n_op].klass) {
    case JY_CLASS_SOURCE:
        return source(run, node);
    case JY_CLASS_EW:
    case JY_CLASS_TILE:
        return in_layout(run, node, call_by_name(run, node));
    case JY_CLASS_LINALG:
        return call_by_name(run, node);
    case JY_CLASS_CAST:
        return in_layout(run, node, cast(run, node));
    case JY_CLASS_VIEW:
        return view_or_reshape(run, node);
    case JY_CLASS_CREATE:
        return create(run, node);
    case JY_CLASS_REDUCE:
        return in_layout(run, node,
                         as_kind(node, jy_wrap_reduce((jy_op)node->n_op, arg(run, node, 0),
                                                      (jy_dtype)jy_graph_at(run->g, node->n_args[0])->n_dtype,
                                                      node->n_axes, node->n_keepdims)));
    case JY_CLASS_STORE:
        return store(run, node);
    case JY_CLASS_CALL:
        return call_out(run, node);
    }
    return NULL;
}

/* last[r]: the last node that reads r; outputs are read at the end. */
static void
fill_last_readers(uint32_t *last, const struct jy_graph *g)
{
    for (jy_ref r = 0; r < g->g_nodes.n; r++) {
        last[r] = r;
        for (size_t i = 0; i < jy_graph_at(g, r)->n_nargs; i++)
            last[jy_graph_at(g, r)->n_args[i]] = r;
    }
    for (size_t k = 0; k < g->g_outputs.n; k++)
        last[g->g_outputs.at[k]] = UINT32_MAX;
}

static enum jy_run
eval(struct numpy_run *run, uint32_t *last, PyObject **outputs)
{
    const struct jy_graph *g = run->g;
    fill_last_readers(last, g);
    for (jy_ref r = 0; r < g->g_nodes.n; r++) {
        const struct jy_node *node = jy_graph_at(g, r);
        run->value[r] = eval_node(run, node);
        if (run->value[r] == NULL)
            return jy_run_after_exception();
        for (size_t i = 0; i < node->n_nargs; i++)
            if (last[node->n_args[i]] == r)
                Py_CLEAR(run->value[node->n_args[i]]);
        if (last[r] == r)
            Py_CLEAR(run->value[r]);
    }
    for (size_t k = 0; k < g->g_outputs.n; k++)
        outputs[k] = Py_NewRef(run->value[g->g_outputs.at[k]]);
    return JY_RUN_OK;
}

enum jy_run
jy_eval_numpy(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs)
{
    struct numpy_run run = {
        .exec = exec, .g = exec->unit->u_graph, .inputs = inputs, .numpy = PyImport_ImportModule("numpy")
    };
    size_t n = run.g->g_nodes.n;
    run.value = calloc(n + 1, sizeof *run.value);
    uint32_t *last = calloc(n + 1, sizeof *last);
    int64_t *symbols = calloc(run.g->g_sizes.symbols.n + 1, sizeof *symbols);
    struct jy_region *regions = calloc(run.g->g_ninputs + 1, sizeof *regions);
    struct jy_undo undo = { 0 };
    enum jy_run result = JY_RUN_RERUN;
    PyObject *token = NULL;
    run.symbols = symbols;
    bool ready = run.numpy != NULL && run.value != NULL && last != NULL && symbols != NULL && regions != NULL &&
                 jy_run_symbols(symbols, exec, inputs) && jy_eval_save_written(&undo, regions, exec, inputs);
    if (ready && jy_errstate_enter_raise(&token, exec->unit->u_errs_reported, exec->unit->u_errs_ignored)) {
        result = eval(&run, last, outputs);
        jy_errstate_leave(token);
    }
    if (result == JY_RUN_OK)
        jy_undo_drop(&undo);
    else
        jy_undo_restore(&undo);
    for (size_t r = 0; run.value != NULL && r < n; r++)
        Py_XDECREF(run.value[r]);
    if (result == JY_RUN_RERUN)
        PyErr_Clear();
    Py_XDECREF(run.numpy);
    free(run.value);
    free(last);
    free(symbols);
    free(regions);
    return result;
}
