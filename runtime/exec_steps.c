/* Steps that are not kernels: products, reductions that only NumPy can do in its own order, call-outs.
 *
 * NumPy clears the FP status at the start of each of its ufuncs, so what kernels have raised so far is collected
 * first. What NumPy itself finds must not become a warning here, because no frame of the function stands at the right
 * line: NumPy runs under an errstate that raises for the kinds that are reported now, and FloatingPointError sends the
 * call to the original. Other warnings of a call-out become errors by a filter that stands first in `warnings.filters`
 * while the callable runs. */
#include "runtime/blas.h"
#include "runtime/exec_internal.h"
#include "runtime/fpstatus.h"
#include "runtime/loops.h"
#include "runtime/numpy_api.h"
#include "graph/scalar.h"
#include <string.h>

enum jy_run
jy_run_after_exception(void)
{
    if (!PyErr_Occurred())
        return JY_RUN_RERUN;
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return JY_RUN_ERROR; /* KeyboardInterrupt, SystemExit: not the callable's doing */
    PyErr_Clear();
    return JY_RUN_RERUN;
}

static void
collect_flags(struct jy_run_state *s)
{
    if (s->exec->plan->p_may_flag)
        s->flags |= jy_fp_read(s->exec->x87);
}

static jy_dtype
dtype_of(const struct jy_run_state *s, const struct jy_place *place)
{
    const struct jy_plan *plan = s->exec->plan;
    return (jy_dtype)(place->scalar ? plan->p_scalars.at[place->index].dtype
                                    : plan->p_buffers.at[place->index].b_dtype);
}

/* refs: new */
static PyObject *
argument(struct jy_run_state *s, const struct jy_place *place)
{
    if (place->scalar) {
        const struct jy_slot *slot = &s->exec->plan->p_scalars.at[place->index];
        return jy_wrap_scalar(slot->kind, (jy_dtype)slot->dtype, s->call.scalar[place->index]);
    }
    uint32_t buffer = place->index;
    if (s->object[buffer] != NULL)
        return Py_NewRef(s->object[buffer]);
    const struct jy_buffer *b = &s->exec->plan->p_buffers.at[buffer];
    struct jy_region region = jy_run_region(s, buffer);
    PyObject *base = NULL;
    for (size_t i = 0; i < s->exec->nviews; i++)
        if (s->exec->views[i].buffer == buffer)
            base = s->object[s->exec->views[i].root];
    return jy_wrap_view((jy_dtype)b->b_dtype, b->b_ndim, region.shape, &s->call.desc[buffer], base);
}

/* refs: a tuple of the step's arguments, new */
static PyObject *
arguments(struct jy_run_state *s, const struct jy_step *step)
{
    PyObject *args = PyTuple_New((Py_ssize_t)step->s_nargs);
    for (size_t i = 0; args != NULL && i < step->s_nargs; i++) {
        PyObject *arg = argument(s, &step->s_args[i]);
        if (arg == NULL)
            Py_CLEAR(args);
        else
            PyTuple_SET_ITEM(args, (Py_ssize_t)i, arg);
    }
    return args;
}

/* Somebody besides the tuple holds an array that lies in our scratch. */
static bool
escapes(struct jy_run_state *s, const struct jy_step *step, PyObject *args)
{
    for (size_t i = 0; i < step->s_nargs; i++) {
        PyObject *arg = PyTuple_GET_ITEM(args, (Py_ssize_t)i);
        if (!step->s_args[i].scalar && s->object[step->s_args[i].index] == NULL && Py_REFCNT(arg) > 1)
            return true;
    }
    return false;
}

static bool
fits_buffer(struct jy_run_state *s, uint32_t buffer, PyObject *result)
{
    const struct jy_buffer *b = &s->exec->plan->p_buffers.at[buffer];
    PyArrayObject *a = (PyArrayObject *)result;
    if (!PyArray_CheckExact(result) || PyArray_NDIM(a) != b->b_ndim ||
        PyArray_TYPE(a) != jy_dtype_info[b->b_dtype].number || !PyArray_ISALIGNED(a) || PyArray_ISBYTESWAPPED(a))
        return false;
    for (size_t d = 0; d < b->b_ndim; d++)
        if (PyArray_DIM(a, (int)d) != s->extent[s->exec->buffer_extents[buffer * JY_MAX_NDIM + d]])
            return false;
    if (b->b_unit_axis >= 0 && PyArray_DIM(a, b->b_unit_axis) > 1 &&
        PyArray_STRIDE(a, b->b_unit_axis) != jy_dtype_info[b->b_dtype].bytes)
        return false;
    return true;
}

/* refs: result is taken */
static enum jy_run
take_result(struct jy_run_state *s, const struct jy_place *out, PyObject *result)
{
    bool good;
    if (out->scalar) {
        good = jy_unwrap_scalar(&s->call.scalar[out->index], (jy_dtype)s->exec->plan->p_scalars.at[out->index].dtype,
                                result);
        Py_DECREF(result);
        return good ? JY_RUN_OK : JY_RUN_RERUN;
    }
    if (!fits_buffer(s, out->index, result)) {
        Py_DECREF(result);
        return JY_RUN_RERUN;
    }
    struct jy_desc *desc = &s->call.desc[out->index];
    desc->data = PyArray_BYTES((PyArrayObject *)result);
    for (int d = 0; d < PyArray_NDIM((PyArrayObject *)result); d++)
        desc->stride[d] = PyArray_STRIDE((PyArrayObject *)result, d);
    Py_XSETREF(s->object[out->index], result);
    good = !s->exec->has_late_views || jy_run_place_views(s, true);
    return good ? JY_RUN_OK : JY_RUN_RERUN;
}

/* refs: new, or NULL with or without an exception */
static PyObject *
call_quietly(const struct jy_exec *exec, PyObject *callable, PyObject *args, PyObject *keywords)
{
    PyObject *token;
    if (!jy_errstate_enter_raise(&token, exec->unit->u_errs_reported, exec->unit->u_errs_ignored))
        return NULL;
    PyObject *result = PyObject_Call(callable, args, keywords);
    jy_errstate_leave(token);
    return result;
}

PyObject *
jy_wrap_reduce(jy_op op, PyObject *operand, jy_dtype dtype, uint32_t axes, bool keepdims)
{
    PyObject *ufunc = jy_loops_ufunc(op), *reduce = ufunc == NULL ? NULL : PyObject_GetAttrString(ufunc, "reduce");
    PyObject *which = PyTuple_New(__builtin_popcount(axes)), *keywords = NULL, *args = NULL, *result = NULL;
    Py_ssize_t k = 0;
    for (int d = 0; which != NULL && d < JY_MAX_NDIM; d++)
        if (axes >> d & 1)
            PyTuple_SET_ITEM(which, k++, PyLong_FromLong(d));
    if (reduce != NULL && which != NULL) {
        keywords = Py_BuildValue("{sOsNsO}", "axis", which, "dtype", PyArray_DescrFromType(jy_dtype_info[dtype].number),
                                 "keepdims", keepdims ? Py_True : Py_False);
        args = PyTuple_Pack(1, operand);
    }
    if (keywords != NULL && args != NULL)
        result = PyObject_Call(reduce, args, keywords);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    Py_XDECREF(which);
    Py_XDECREF(reduce);
    return result;
}

enum jy_run
jy_run_reduce(struct jy_run_state *s, const struct jy_step *step)
{
    PyObject *operand = argument(s, &step->s_args[0]), *token, *result = NULL;
    collect_flags(s);
    if (operand != NULL &&
        jy_errstate_enter_raise(&token, s->exec->unit->u_errs_reported, s->exec->unit->u_errs_ignored)) {
        result =
            jy_wrap_reduce((jy_op)step->s_op, operand, dtype_of(s, &step->s_args[0]), step->s_axes, step->s_keepdims);
        jy_errstate_leave(token);
    }
    Py_XDECREF(operand);
    if (result == NULL) {
        enum jy_run run = jy_run_after_exception();
        s->exec->stats.flag_reruns += run == JY_RUN_RERUN;
        return run;
    }
    jy_fp_clear(s->exec->x87);
    return take_result(s, &step->s_out, result);
}

/* The filter that turns every warning into an error, at the head of `warnings.filters`; NULL without an exception when
 * that is impossible. The filters' version does not change, so no registry of warnings that were shown is forgotten.
 * refs: new, the list */
static PyObject *
push_filter(PyObject **filter)
{
    PyObject *warnings = PyImport_ImportModule("warnings");
    PyObject *filters = warnings == NULL ? NULL : PyObject_GetAttrString(warnings, "filters");
    *filter = Py_BuildValue("(sOOOi)", "error", Py_None, PyExc_Warning, Py_None, 0);
    Py_XDECREF(warnings);
    if (filters != NULL && *filter != NULL && PyList_Check(filters) && PyList_Insert(filters, 0, *filter) == 0)
        return filters;
    PyErr_Clear();
    Py_XDECREF(filters);
    Py_CLEAR(*filter);
    return NULL;
}

/* refs: both taken */
static void
pop_filter(PyObject *filters, PyObject *filter)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(filters); i++)
        if (PyList_GET_ITEM(filters, i) == filter) {
            PyList_SetSlice(filters, i, i + 1, NULL);
            break;
        }
    Py_DECREF(filters);
    Py_DECREF(filter);
    PyErr_Restore(type, value, traceback);
}

PyObject *
jy_run_quietly(const struct jy_exec *exec, PyObject *callable, PyObject *args, PyObject *keywords)
{
    PyObject *filter, *filters = push_filter(&filter);
    if (filters == NULL)
        return NULL;
    PyObject *result = call_quietly(exec, callable, args, keywords);
    pop_filter(filters, filter);
    return result;
}

enum jy_run
jy_run_callout(struct jy_run_state *s, const struct jy_step *step)
{
    const struct jy_unit *unit = s->exec->unit;
    PyObject *callable = unit->u_objects.at[step->s_callee],
             *keywords = step->s_extra == 0 ? NULL : unit->u_objects.at[step->s_extra];
    collect_flags(s);
    PyObject *args = arguments(s, step);
    PyObject *result = args == NULL ? NULL : jy_run_quietly(s->exec, callable, args, keywords);
    bool escaped = result != NULL && escapes(s, step, args);
    Py_XDECREF(args);
    if (result == NULL)
        return jy_run_after_exception();
    jy_fp_clear(s->exec->x87);
    if (escaped) {
        Py_DECREF(result);
        return JY_RUN_RERUN;
    }
    return take_result(s, &step->s_out, result);
}

static void
operand(struct jy_operand *out, struct jy_run_state *s, const struct jy_place *place)
{
    out->ndim = 0;
    if (place->scalar) {
        out->data = (char *)&s->call.scalar[place->index];
        return;
    }
    struct jy_region region = jy_run_region(s, place->index);
    out->data = region.data;
    out->ndim = region.ndim;
    memcpy(out->shape, region.shape, sizeof out->shape);
    memcpy(out->stride, region.stride, sizeof out->stride);
}

/* By NumPy itself: no BLAS was found, or a case that the tables leave to it. */
static enum jy_run
product_by_numpy(struct jy_run_state *s, const struct jy_step *step, const struct jy_operand *out)
{
    PyObject *numpy = PyImport_ImportModule("numpy"), *args = arguments(s, step);
    PyObject *callable =
        numpy == NULL ? NULL : PyObject_GetAttrString(numpy, step->s_op == JY_OP_DOT ? "dot" : "matmul");
    PyObject *result = callable == NULL || args == NULL ? NULL : call_quietly(s->exec, callable, args, NULL);
    Py_XDECREF(callable);
    Py_XDECREF(args);
    Py_XDECREF(numpy);
    if (result == NULL)
        return jy_run_after_exception();
    jy_fp_clear(s->exec->x87);
    jy_dtype dtype = dtype_of(s, &step->s_out);
    union jy_scalar value;
    bool good = true;
    if (out->ndim == 0) {
        good = jy_unwrap_scalar(&value, dtype, result);
        if (good)
            jy_scalar_store(dtype, out->data, value);
    } else if ((good = fits_buffer(s, step->s_out.index, result))) {
        struct jy_region from = {
            PyArray_BYTES((PyArrayObject *)result), out->ndim, jy_dtype_info[dtype].bytes, { 0 }, { 0 }
        };
        for (size_t d = 0; d < out->ndim; d++) {
            from.shape[d] = out->shape[d];
            from.stride[d] = PyArray_STRIDE((PyArrayObject *)result, (int)d);
        }
        jy_region_read(out->data, &from);
    }
    Py_DECREF(result);
    return good ? JY_RUN_OK : JY_RUN_RERUN;
}

enum jy_run
jy_run_product(struct jy_run_state *s, const struct jy_step *step)
{
    struct jy_operand a, b, out;
    jy_dtype dtype = dtype_of(s, &step->s_args[0]);
    union jy_scalar value = { 0 };
    bool silent = !jy_product_reports((jy_op)step->s_op);
    operand(&a, s, &step->s_args[0]);
    operand(&b, s, &step->s_args[1]);
    operand(&out, s, &step->s_out);
    if (step->s_out.scalar)
        out.data = (char *)&value;
    if (silent)
        collect_flags(s);
    enum jy_product done = jy_product_run((jy_op)step->s_op, dtype, &a, &b, &out);
    enum jy_run run = JY_RUN_RERUN;
    if (done == JY_PRODUCT_DECLINED) {
        collect_flags(s);
        run = product_by_numpy(s, step, &out);
    } else if (done == JY_PRODUCT_DONE) {
        run = JY_RUN_OK;
    }
    if (silent)
        jy_fp_clear(true);
    if (step->s_out.scalar)
        s->call.scalar[step->s_out.index] = jy_scalar_load(dtype, &value);
    return run;
}
