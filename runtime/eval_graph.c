/* Executor `graph`: graph/graph_eval.c, with what it borrows from NumPy.
 *
 * The interpreter keeps each fresh storage dense in an arena and lets STOREs into placeholders write the arrays
 * themselves. Results: the storages behind the outputs are asked for as additional outputs and copied into ndarrays;
 * views among the outputs are placed over those arrays at the same offset. */
#include "graph/scalar.h"
#include "runtime/alloc.h"
#include "runtime/blas.h"
#include "runtime/exec_internal.h"
#include "runtime/fpstatus.h"
#include "runtime/loops.h"
#include "runtime/numpy_api.h"
#include <stdlib.h>
#include <string.h>

struct result {
    jy_ref node;
    struct jy_desc desc;
    union jy_scalar value;
    PyObject *object;
};

struct graph_run {
    struct jy_exec *exec;
    const struct jy_graph *g;
    PyObject *const *inputs;
    const int64_t *symbols;
    struct result *results;
    uint32_t flags;
};

bool
jy_eval_save_written(struct jy_undo *undo, struct jy_region *regions, const struct jy_exec *exec,
                     PyObject *const *inputs)
{
    const struct jy_graph *g = exec->unit->u_graph;
    size_t n = 0;
    bool *written = calloc(g->g_ninputs + 1, sizeof *written);
    if (written == NULL)
        return false;
    for (jy_ref r = 0; r < g->g_nodes.n; r++) {
        const struct jy_node *node = jy_graph_at(g, r);
        if (node->n_op == JY_OP_STORE && jy_graph_at(g, node->n_storage)->n_op == JY_OP_PLACEHOLDER)
            written[jy_graph_at(g, node->n_storage)->n_input] = true;
    }
    for (uint32_t i = 0; i < g->g_ninputs; i++) {
        if (!written[i])
            continue;
        PyArrayObject *a = (PyArrayObject *)inputs[i];
        regions[n] = (struct jy_region){ .data = PyArray_BYTES(a),
                                         .ndim = (size_t)PyArray_NDIM(a),
                                         .itemsize = (size_t)PyArray_ITEMSIZE(a) };
        for (int d = 0; d < PyArray_NDIM(a); d++) {
            regions[n].shape[d] = PyArray_DIM(a, d);
            regions[n].stride[d] = PyArray_STRIDE(a, d);
        }
        n++;
    }
    free(written);
    undo->saved = NULL;
    return n == 0 || jy_undo_save(undo, regions, n);
}

static void
give_input(void *context, uint32_t number, struct jy_desc *desc, union jy_scalar *value)
{
    struct graph_run *run = context;
    PyObject *input = run->inputs[number];
    if (!PyArray_CheckExact(input)) {
        jy_unwrap_scalar(value, (jy_dtype)run->exec->inputs[number].dtype, input);
        return;
    }
    PyArrayObject *a = (PyArrayObject *)input;
    desc->data = PyArray_BYTES(a);
    for (int d = 0; d < PyArray_NDIM(a); d++)
        desc->stride[d] = PyArray_STRIDE(a, d);
}

static struct jy_loop_fn
give_loop(void *context, jy_op op, jy_dtype dtype)
{
    (void)context;
    jy_dtype dtypes[4] = { dtype, dtype, dtype, dtype };
    size_t nin = (size_t)jy_op_info[op].arity;
    dtypes[nin] = jy_scalar_result_dtype(op, dtype);
    return jy_loops_find(op, nin, dtypes);
}

static bool
shape_of(int64_t *shape, const struct graph_run *run, const struct jy_node *node)
{
    for (size_t d = 0; d < node->n_ndim; d++)
        if (!jy_sizes_eval(&shape[d], &run->g->g_sizes, node->n_shape[d], run->symbols))
            return false;
    return true;
}

static bool
operand(struct jy_operand *out, const struct graph_run *run, const struct jy_node *node, const struct jy_desc *desc)
{
    out->data = desc->data;
    out->ndim = node->n_ndim;
    memcpy(out->stride, desc->stride, sizeof out->stride);
    return shape_of(out->shape, run, node);
}

/* A new array with the elements at `desc`. refs: new */
static PyObject *
array_copy(const struct graph_run *run, const struct jy_node *node, const struct jy_desc *desc)
{
    if (node->n_kind != JY_KIND_ARRAY)
        return jy_wrap_scalar(node->n_kind, (jy_dtype)node->n_dtype,
                              jy_scalar_load((jy_dtype)node->n_dtype, desc->data));
    int64_t shape[JY_MAX_NDIM];
    if (!shape_of(shape, run, node))
        return NULL;
    PyObject *view = jy_wrap_view((jy_dtype)node->n_dtype, node->n_ndim, shape, desc, NULL);
    PyObject *copy = view == NULL ? NULL : PyArray_NewCopy((PyArrayObject *)view, NPY_KEEPORDER);
    Py_XDECREF(view);
    return copy;
}

/* Elements of `object` to memory laid out by `desc`. */
static bool
copy_out(const struct graph_run *run, const struct jy_node *node, const struct jy_desc *desc, PyObject *object)
{
    int64_t shape[JY_MAX_NDIM];
    union jy_scalar value;
    if (node->n_ndim == 0 && node->n_kind != JY_KIND_ARRAY) {
        if (!jy_unwrap_scalar(&value, (jy_dtype)node->n_dtype, object))
            return false;
        jy_scalar_store((jy_dtype)node->n_dtype, desc->data, value);
        return true;
    }
    PyObject *view =
        shape_of(shape, run, node) ? jy_wrap_view((jy_dtype)node->n_dtype, node->n_ndim, shape, desc, NULL) : NULL;
    bool good = view != NULL && PyArray_CheckExact(object) &&
                PyArray_TYPE((PyArrayObject *)object) == jy_dtype_info[node->n_dtype].number &&
                PyArray_SAMESHAPE((PyArrayObject *)view, (PyArrayObject *)object) &&
                PyArray_CopyInto((PyArrayObject *)view, (PyArrayObject *)object) == 0;
    Py_XDECREF(view);
    return good;
}

/* refs: args taken */
static jy_status
call_into(struct graph_run *run, const struct jy_node *node, PyObject *callable, PyObject *args, PyObject *keywords,
          const struct jy_desc *out)
{
    run->flags |= jy_fp_read(true);
    PyObject *result = args == NULL || callable == NULL ? NULL : jy_run_quietly(run->exec, callable, args, keywords);
    Py_XDECREF(args);
    if (result == NULL)
        return PyErr_Occurred() ? JY_ERROR : JY_BREAK;
    jy_fp_clear(true);
    bool good = copy_out(run, node, out, result);
    Py_DECREF(result);
    return good ? JY_OK : JY_BREAK;
}

/* refs: a tuple, new */
static PyObject *
boxed(const struct graph_run *run, const struct jy_node *node, const struct jy_desc *const *descs)
{
    PyObject *args = PyTuple_New(node->n_nargs);
    for (size_t i = 0; args != NULL && i < node->n_nargs; i++) {
        PyObject *arg = array_copy(run, jy_graph_at(run->g, node->n_args[i]), descs[i]);
        if (arg == NULL)
            Py_CLEAR(args);
        else
            PyTuple_SET_ITEM(args, (Py_ssize_t)i, arg);
    }
    return args;
}

static jy_status
multiply(void *context, const struct jy_node *node, const struct jy_desc *a, const struct jy_desc *b,
         struct jy_desc *out)
{
    struct graph_run *run = context;
    const struct jy_node *na = jy_graph_at(run->g, node->n_args[0]), *nb = jy_graph_at(run->g, node->n_args[1]);
    struct jy_operand oa, ob, oo;
    if (!operand(&oa, run, na, a) || !operand(&ob, run, nb, b) || !operand(&oo, run, node, out))
        return JY_BREAK;
    bool silent = !jy_product_reports((jy_op)node->n_op);
    if (silent)
        run->flags |= jy_fp_read(true);
    enum jy_product done = jy_product_run((jy_op)node->n_op, (jy_dtype)na->n_dtype, &oa, &ob, &oo);
    if (silent)
        jy_fp_clear(true);
    if (done != JY_PRODUCT_DECLINED)
        return done == JY_PRODUCT_DONE ? JY_OK : JY_NOMEM;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *callable = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, jy_op_info[node->n_op].oracle);
    const struct jy_desc *descs[] = { a, b };
    jy_status status = call_into(run, node, callable, boxed(run, node, descs), NULL, out);
    Py_XDECREF(callable);
    Py_XDECREF(numpy);
    return status;
}

static jy_status
call_out(void *context, const struct jy_node *node, const struct jy_desc *args, struct jy_desc *out)
{
    struct graph_run *run = context;
    const struct jy_unit *unit = run->exec->unit;
    const struct jy_desc **descs = calloc((size_t)node->n_nargs + 1, sizeof *descs);
    if (descs == NULL)
        return JY_NOMEM;
    for (size_t i = 0; i < node->n_nargs; i++)
        descs[i] = &args[i];
    jy_status status = call_into(run, node, unit->u_objects.at[node->n_callee], boxed(run, node, descs),
                                 node->n_extra == 0 ? NULL : unit->u_objects.at[node->n_extra], out);
    free(descs);
    return status;
}

static jy_status
take_output(void *context, size_t k, jy_ref node, const struct jy_desc *desc, union jy_scalar value)
{
    struct graph_run *run = context;
    run->results[k] = (struct result){ .node = node, .desc = *desc, .value = value };
    return JY_OK;
}

/* The node whose object an output is: STOREs give new versions of the same array. */
static jy_ref
object_node(const struct jy_graph *g, jy_ref r)
{
    while (jy_graph_at(g, r)->n_op == JY_OP_STORE)
        r = jy_graph_at(g, r)->n_args[0];
    return r;
}

/* refs: new */
static PyObject *
copy_storage(const struct graph_run *run, const struct result *result)
{
    const struct jy_node *node = jy_graph_at(run->g, result->node);
    int64_t shape[JY_MAX_NDIM], bytes = jy_dtype_info[node->n_dtype].bytes;
    npy_intp dims[JY_MAX_NDIM], strides[JY_MAX_NDIM];
    if (!shape_of(shape, run, node))
        return NULL;
    for (size_t d = 0; d < node->n_ndim; d++) {
        dims[d] = shape[d];
        strides[d] = result->desc.stride[d];
        bytes *= shape[d];
    }
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(jy_dtype_info[node->n_dtype].number),
                                           node->n_ndim, dims, bytes == 0 ? NULL : strides, NULL, 0, NULL);
    if (array != NULL)
        memcpy(PyArray_DATA((PyArrayObject *)array), result->desc.data, (size_t)bytes);
    return array;
}

/* refs: new. results[k] is an output; the storages stand behind the outputs. */
static PyObject *
wrap(struct graph_run *run, size_t k, size_t n)
{
    const struct result *result = &run->results[k];
    const struct jy_node *node = jy_graph_at(run->g, result->node);
    if (node->n_kind != JY_KIND_ARRAY)
        return jy_wrap_scalar(node->n_kind, (jy_dtype)node->n_dtype, result->value);
    const struct jy_node *storage = jy_graph_at(run->g, node->n_storage);
    PyObject *owner = NULL;
    const char *start = NULL;
    if (storage->n_op == JY_OP_PLACEHOLDER) {
        owner = run->inputs[storage->n_input];
        start = PyArray_BYTES((PyArrayObject *)owner);
    }
    for (size_t i = 0; owner == NULL && i < n; i++)
        if (run->results[i].node == node->n_storage && run->results[i].object != NULL) {
            owner = run->results[i].object;
            start = run->results[i].desc.data;
        }
    if (owner == NULL || object_node(run->g, result->node) == node->n_storage)
        return Py_XNewRef(owner);
    int64_t shape[JY_MAX_NDIM];
    struct jy_desc desc = result->desc;
    desc.data = PyArray_BYTES((PyArrayObject *)owner) + (desc.data - start);
    return shape_of(shape, run, node) ? jy_wrap_view((jy_dtype)node->n_dtype, node->n_ndim, shape, &desc, owner) : NULL;
}

static bool
wrap_all(struct graph_run *run, PyObject **outputs, size_t noutputs, size_t n)
{
    for (size_t k = noutputs; k < n; k++)
        if ((run->results[k].object = copy_storage(run, &run->results[k])) == NULL)
            return false;
    for (size_t k = 0; k < noutputs; k++) {
        outputs[k] = NULL;
        for (size_t j = 0; j < k && outputs[k] == NULL; j++)
            if (run->results[j].node == run->results[k].node)
                outputs[k] = Py_NewRef(outputs[j]);
        if (outputs[k] == NULL && (outputs[k] = wrap(run, k, n)) == NULL) {
            while (k-- > 0)
                Py_CLEAR(outputs[k]);
            return false;
        }
    }
    return true;
}

static enum jy_run
eval(struct graph_run *run, struct jy_arena *arena, PyObject **outputs)
{
    const struct jy_graph *g = run->g;
    int64_t *symbols = JY_NEW_ARRAY(arena, int64_t, g->g_sizes.symbols.n + 1);
    if (!jy_run_symbols(symbols, run->exec, run->inputs))
        return JY_RUN_RERUN;
    run->symbols = symbols;
    struct jy_graph wide = *g; /* the same graph with the storages as further outputs */
    size_t noutputs = g->g_outputs.n, n = noutputs;
    wide.g_outputs.at = JY_NEW_ARRAY(arena, jy_ref, 2 * noutputs + 1);
    for (size_t k = 0; k < noutputs; k++) {
        const struct jy_node *node = jy_graph_at(g, g->g_outputs.at[k]);
        wide.g_outputs.at[k] = g->g_outputs.at[k];
        bool seen = node->n_kind != JY_KIND_ARRAY || jy_graph_at(g, node->n_storage)->n_op == JY_OP_PLACEHOLDER;
        for (size_t i = noutputs; !seen && i < n; i++)
            seen = wide.g_outputs.at[i] == node->n_storage;
        if (!seen)
            wide.g_outputs.at[n++] = node->n_storage;
    }
    wide.g_outputs.n = wide.g_outputs.cap = n;
    run->results = JY_NEW_ARRAY(arena, struct result, n + 1);
    struct jy_graph_io io = { .context = run,
                              .input = give_input,
                              .symbols = symbols,
                              .loop = give_loop,
                              .matmul = multiply,
                              .callout = call_out,
                              .output = take_output,
                              .sum_chunk = jy_loops_sums_in_pieces() ? jy_errstate_get().bufsize : INT64_MAX };
    jy_fp_clear(true);
    jy_status status = jy_graph_eval(&wide, arena, &io);
    run->flags |= jy_fp_read(true);
    if (status == JY_ERROR)
        return jy_run_after_exception();
    if (status != JY_OK || io.status & JY_CALL_RERUN || run->flags & jy_exec_reported(run->exec)) {
        run->exec->stats.flag_reruns += status == JY_OK;
        return JY_RUN_RERUN;
    }
    bool good = wrap_all(run, outputs, noutputs, n);
    for (size_t k = noutputs; k < n; k++)
        Py_XDECREF(run->results[k].object);
    return good ? JY_RUN_OK : jy_run_after_exception();
}

enum jy_run
jy_eval_graph(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs)
{
    struct graph_run run = { .exec = exec, .g = exec->unit->u_graph, .inputs = inputs };
    struct jy_region *regions = calloc(run.g->g_ninputs + 1, sizeof *regions);
    struct jy_arena *arena = regions == NULL ? NULL : jy_arena_new();
    struct jy_undo undo = { 0 };
    volatile enum jy_run result = JY_RUN_RERUN;
    if (arena != NULL && jy_eval_save_written(&undo, regions, exec, inputs)) {
        if (setjmp(*jy_arena_guard(arena)) == 0)
            result = eval(&run, arena, outputs);
        if (result == JY_RUN_OK)
            jy_undo_drop(&undo);
        else
            jy_undo_restore(&undo);
    }
    if (arena != NULL)
        jy_arena_free(arena);
    free(regions);
    return result;
}
