/* Functions that NumPy computes itself: a CALLOUT node calls the real function with real arrays.
 *
 * Exact by construction; what has to be known here is dtype, shape and memory order of the result. What the call reports (a floating-point flag, an IndexError) sends the
 * whole call to the original function. */
#include "frontend/np_internal.h"

jy_status
jy_np_call_out(struct jy_frame *f, struct jy_value **out, const struct jy_np_callout *call)
{
    struct jy_unit *unit = f->f_trace->unit;
    PyObject *callee = jy_np_object(f, call->callee), *keywords = jy_hold(f, call->keywords);
    if (callee == NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "this NumPy has no %s", call->callee);
    jy_ref node =
        jy_graph_callout(f->f_trace->graph, jy_keep(unit, callee), keywords != NULL ? jy_keep(unit, keywords) : 0,
                         call->nargs, call->args, call->kind, call->dtype, call->ndim, call->shape);
    if (call->kind == JY_KIND_ARRAY)
        jy_np_set_layout(f, node, call->layout);
    *out = jy_value_of_node(f, node);
    return JY_OK;
}

/* datum 0: argmin, 1: argmax */
jy_status
jy_np_callout_arg(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "axis", "out", "keepdims", NULL };
    struct jy_value *slots[4];
    jy_sx shape[JY_MAX_NDIM];
    size_t ndim = 0, axis = 0;
    jy_ref node;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    if (jy_np_given(slots[2]) || slots[3] != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with out= or keepdims=", row->name);
    bool all = !jy_np_given(slots[1]);
    if (!all)
        TRY(jy_np_axis_arg(f, &axis, slots[1], slots[0]->u.array.ndim));
    for (size_t d = 0; d < slots[0]->u.array.ndim; d++)
        if ((all || d == axis) && !jy_guard_size(f, slots[0]->u.array.shape[d], JY_GT, 0))
            return jy_break(f, JY_BREAK_RAISES, "%s of nothing", row->name);
    for (size_t d = 0; d < slots[0]->u.array.ndim; d++)
        if (!all && d != axis)
            shape[ndim++] = slots[0]->u.array.shape[d];
    TRY(jy_value_node(f, &node, slots[0]));
    PyObject *keywords = all ? PyDict_New() : Py_BuildValue("{s:n}", "axis", (Py_ssize_t)axis);
    if (keywords == NULL)
        return JY_ERROR;
    return jy_np_call_out(f, out,
                          &(struct jy_np_callout){ .callee = row->name,
                                                   .keywords = keywords,
                                                   .nargs = 1,
                                                   .args = &node,
                                                   .kind = ndim == 0 ? JY_KIND_NPSCALAR : JY_KIND_ARRAY,
                                                   .dtype = JY_I64,
                                                   .ndim = ndim,
                                                   .shape = shape });
}

/* datum 0: cumsum, 1: cumprod */
jy_status
jy_np_callout_running(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                      struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "axis", NULL };
    struct jy_value *slots[2];
    size_t axis = 0;
    jy_ref node;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    const struct jy_value *array = slots[0];
    if (jy_np_given(slots[1]))
        TRY(jy_np_axis_arg(f, &axis, slots[1], array->u.array.ndim));
    else if (array->u.array.ndim != 1)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of an array with %u axes without axis=", row->name,
                        array->u.array.ndim);
    jy_dtype dtype = jy_dtype_is_float((jy_dtype)array->u.array.dtype) ? (jy_dtype)array->u.array.dtype : JY_I64;
    if (array->u.array.ndim != 1 && !jy_np_is_c_block(array))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of a strided array", row->name);
    TRY(jy_value_node(f, &node, slots[0]));
    PyObject *keywords = Py_BuildValue("{s:n}", "axis", (Py_ssize_t)axis);
    if (keywords == NULL)
        return JY_ERROR;
    return jy_np_call_out(f, out,
                          &(struct jy_np_callout){ .callee = row->name,
                                                   .keywords = keywords,
                                                   .nargs = 1,
                                                   .args = &node,
                                                   .kind = JY_KIND_ARRAY,
                                                   .dtype = dtype,
                                                   .ndim = array->u.array.ndim,
                                                   .shape = array->u.array.shape });
}

/* datum 0: sort, 1: argsort */
jy_status
jy_np_callout_sort(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                   struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "axis", NULL };
    struct jy_value *slots[2];
    jy_ref node;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    size_t ndim = slots[0]->u.array.ndim, axis = ndim - 1;
    if (ndim == 0 || (slots[1] != NULL && jy_value_is_none(slots[1])) || (ndim > 1 && !jy_np_is_c_block(slots[0])))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of a strided or 0-d array, or with axis=None", row->name);
    if (slots[1] != NULL)
        TRY(jy_np_axis_arg(f, &axis, slots[1], ndim));
    TRY(jy_value_node(f, &node, slots[0]));
    PyObject *keywords = Py_BuildValue("{s:n}", "axis", (Py_ssize_t)axis);
    if (keywords == NULL)
        return JY_ERROR;
    jy_dtype dtype = row->datum == 0 ? (jy_dtype)slots[0]->u.array.dtype : JY_I64;
    return jy_np_call_out(f, out,
                          &(struct jy_np_callout){ .callee = row->name,
                                                   .keywords = keywords,
                                                   .nargs = 1,
                                                   .args = &node,
                                                   .kind = JY_KIND_ARRAY,
                                                   .dtype = dtype,
                                                   .ndim = ndim,
                                                   .shape = slots[0]->u.array.shape });
}

/* array[indices] along the first axis */
jy_status
jy_np_callout_gather(struct jy_frame *f, struct jy_value **out, struct jy_value *array, struct jy_value *indices)
{
    jy_sx shape[2 * JY_MAX_NDIM];
    jy_ref nodes[2];
    size_t n = 0, ndim = array->u.array.ndim;
    jy_dtype dtype = (jy_dtype)indices->u.array.dtype;
    if ((dtype != JY_I32 && dtype != JY_I64) || indices->u.array.ndim == 0 || ndim == 0)
        return jy_break(f, JY_BREAK_NUMPY_INDEX, "an array of %s as a subscript", jy_dtype_info[dtype].text);
    if (!jy_np_is_c_block(indices) || (ndim > 1 && !jy_np_is_c_block(array)) ||
        indices->u.array.ndim + ndim - 1 > JY_MAX_NDIM)
        return jy_break(f, JY_BREAK_NUMPY_INDEX, "an index array, where one of the arrays is strided");
    for (size_t d = 0; d < indices->u.array.ndim; d++)
        shape[n++] = indices->u.array.shape[d];
    for (size_t d = 1; d < ndim; d++)
        shape[n++] = array->u.array.shape[d];
    TRY(jy_value_node(f, &nodes[0], array));
    TRY(jy_value_node(f, &nodes[1], indices));
    return jy_np_call_out(f, out,
                          &(struct jy_np_callout){ .callee = "ndarray.__getitem__",
                                                   .nargs = 2,
                                                   .args = nodes,
                                                   .kind = JY_KIND_ARRAY,
                                                   .dtype = (jy_dtype)array->u.array.dtype,
                                                   .ndim = n,
                                                   .shape = shape });
}

jy_status
jy_np_callout_searchsorted(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                           struct jy_value *const *args, PyObject *kwnames)
{
    jy_ref nodes[2];
    if (nargs != 2 || kwnames != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with these arguments", row->name);
    for (size_t i = 0; i < 2; i++) {
        TRY(jy_np_array_arg(f, row->name, args[i]));
        if (args[i]->u.array.ndim == 0 || args[i]->u.array.dtype != args[0]->u.array.dtype ||
            (i == 1 && !jy_np_is_c_block(args[i])))
            return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of arrays of two types, or of a strided one", row->name);
        TRY(jy_value_node(f, &nodes[i], args[i]));
    }
    if (args[0]->u.array.ndim != 1)
        return jy_break(f, JY_BREAK_RAISES, "%s in an array with %u axes", row->name, args[0]->u.array.ndim);
    return jy_np_call_out(f, out,
                          &(struct jy_np_callout){ .callee = row->name,
                                                   .nargs = 2,
                                                   .args = nodes,
                                                   .kind = JY_KIND_ARRAY,
                                                   .dtype = JY_I64,
                                                   .ndim = args[1]->u.array.ndim,
                                                   .shape = args[1]->u.array.shape });
}

/* arange of ints: arange(stop), arange(start, stop), arange(start, stop, step) */
jy_status
jy_np_callout_arange(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                     struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    jy_sx bounds[3] = { 0, 0, 1 };
    jy_ref nodes[3];
    int64_t step;
    if (nargs == 0 || nargs > 3 || kwnames != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with these arguments", row->name);
    for (size_t i = 0; i < nargs; i++) {
        bool ok;
        TRY(jy_value_as_size(f, &bounds[nargs == 1 ? 1 : i], &ok, args[i]));
        if (!ok || (args[i]->v_kind == JY_V_CONST && PyBool_Check(args[i]->v_object)))
            return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of %s", row->name, jy_value_describe(f, args[i]));
        TRY(jy_value_node(f, &nodes[i], args[i]));
    }
    if (!jy_sizes_is_const(sizes, bounds[2], &step) || step <= 0)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with a step that is not a positive constant", row->name);
    jy_sx length = 0;
    if (jy_guard_size(f, bounds[1], JY_GT, bounds[0])) {
        length = jy_sizes_binary(sizes, JY_SX_SUB, bounds[1], bounds[0]);
        length = jy_sizes_binary(sizes, JY_SX_ADD, length, jy_sizes_const(sizes, step - 1));
        length = jy_sizes_binary(sizes, JY_SX_FLOORDIV, length, bounds[2]);
    }
    return jy_np_call_out(f, out,
                          &(struct jy_np_callout){ .callee = row->name,
                                                   .nargs = nargs,
                                                   .args = nodes,
                                                   .kind = JY_KIND_ARRAY,
                                                   .dtype = JY_I64,
                                                   .ndim = 1,
                                                   .shape = &length });
}
