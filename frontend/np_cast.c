/* Conversions: astype, copies, array(), NumPy's scalar types as functions, item(), float() and int().
 *
 * A conversion of a float to an integer that Python would do (int(x), np.int64(x)) raises where C only sets a flag: it is left to CPython. */
#include "frontend/np_internal.h"

jy_status
jy_np_scalar_of(struct jy_frame *f, struct jy_value **out, struct jy_value *v, enum jy_kind kind, jy_dtype dtype)
{
    jy_ref node;
    TRY(jy_value_node(f, &node, v));
    *out = jy_value_of_node(f, jy_graph_cast(f->f_trace->graph, dtype, kind, node));
    return JY_OK;
}

/* A new array with the elements of `array` as `dtype`. */
static jy_status
new_copy(struct jy_frame *f, struct jy_value **out, struct jy_value *array, jy_dtype dtype, char order)
{
    struct jy_graph *g = f->f_trace->graph;
    const struct jy_layout *layout = NULL;
    jy_ref node;
    if (order != 'C' && order != 'K')
        return jy_break(f, JY_BREAK_NUMPY_CALL, "a copy with order='%c'", order);
    if (order == 'K')
        TRY(jy_np_keep_layout(f, &layout, array, dtype));
    TRY(jy_value_node(f, &node, array));
    node = array->u.array.dtype == dtype ? jy_graph_copy(g, node) : jy_graph_cast(g, dtype, JY_KIND_ARRAY, node);
    jy_np_set_layout(f, node, layout);
    *out = jy_value_of_node(f, node);
    return JY_OK;
}

jy_status
jy_np_cast_copy(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "order", NULL };
    struct jy_value *slots[2];
    char order;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    TRY(jy_np_order_arg(f, &order, slots[1]));
    return new_copy(f, out, slots[0], (jy_dtype)slots[0]->u.array.dtype, order != '\0' ? order : (char)row->datum);
}

jy_status
jy_np_cast_astype(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "dtype", "order", "casting", "subok", "copy", NULL };
    struct jy_value *slots[6];
    jy_dtype dtype;
    char order;
    bool copy;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    if (slots[1] == NULL || slots[3] != NULL || slots[4] != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "astype with these arguments");
    TRY(jy_np_dtype_arg(f, &dtype, slots[1]));
    TRY(jy_np_order_arg(f, &order, slots[2]));
    TRY(jy_np_flag(f, &copy, slots[5], true));
    if (jy_np_is_scalar(slots[0]))
        return jy_np_scalar_of(f, out, slots[0], JY_KIND_NPSCALAR, dtype);
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    bool may_stay = !copy && dtype == slots[0]->u.array.dtype;
    if (may_stay && (order == '\0' || order == 'K' || (order == 'C' && jy_np_is_c_block(slots[0])))) {
        *out = slots[0];
        return JY_OK;
    }
    if (may_stay && order == 'C')
        TRY(jy_np_check_not_contiguous(f, slots[0]));
    return new_copy(f, out, slots[0], dtype, order != '\0' ? order : 'K');
}

/* A view of a block that walks along an axis in other steps than one. */
static bool
skips_elements(struct jy_frame *f, const struct jy_value *array)
{
    const struct jy_view *view = array->u.array.view;
    const struct jy_node *base = jy_graph_at(f->f_trace->graph, array->u.array.storage->version);
    if (view == NULL || base->n_layout == NULL || !base->n_layout->contiguous)
        return false;
    for (size_t d = 0; d < view->ndim; d++)
        if (view->axis[d] >= 0 && view->step[d] != 1 && jy_np_hint(f, array->u.array.shape[d]) > 1)
            return true;
    return false;
}

jy_status
jy_np_check_not_contiguous(struct jy_frame *f, const struct jy_value *array)
{
    size_t ndim = array->u.array.ndim;
    jy_np_guard_degenerate(f, ndim, array->u.array.shape);
    if (skips_elements(f, array))
        return JY_OK;
    bool strided = !jy_layout_is_c_order(array->u.array.layout, ndim);
    for (size_t d = 0; d < ndim; d++)
        strided &= jy_np_hint(f, array->u.array.shape[d]) > 1;
    return strided ? JY_OK
                   : jy_break(f, JY_BREAK_MEMORY_ORDER, "a strided array that may be contiguous in another call");
}

/* datum 0: asarray, 1: array, 2: ascontiguousarray */
jy_status
jy_np_cast_array(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                 struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "dtype", "copy", "order", NULL };
    struct jy_value *slots[4], *array;
    bool copy;
    if (nargs > 2)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with %zu arguments", row->name, nargs);
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, array = slots[0]));
    jy_dtype dtype = (jy_dtype)array->u.array.dtype;
    if (jy_np_given(slots[3]))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with order=", row->name);
    if (jy_np_given(slots[1]))
        TRY(jy_np_dtype_arg(f, &dtype, slots[1]));
    TRY(jy_np_flag(f, &copy, slots[2], row->datum == 1));
    bool same = dtype == array->u.array.dtype, contiguous = row->datum == 2;
    if (slots[2] != NULL && row->datum != 1)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with copy=", row->name);
    if (!copy && row->datum == 1)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "array with copy=False");
    if (contiguous && array->u.array.ndim == 0)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "ascontiguousarray of a 0-d array");
    if (!copy && same && (!contiguous || jy_np_is_c_block(array))) {
        *out = array;
        return JY_OK;
    }
    if (contiguous && same)
        TRY(jy_np_check_not_contiguous(f, array));
    return new_copy(f, out, array, dtype, contiguous ? 'C' : 'K');
}

/* np.float64(x) and its like: a NumPy scalar of a number. */
jy_status
jy_np_cast_type(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_np_operand operand;
    jy_dtype to = (jy_dtype)row->datum;
    jy_ref node;
    bool ok;
    if (nargs != 1 || kwnames != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "np.%s with %zu arguments", row->name, nargs);
    TRY(jy_np_classify(f, &ok, &operand, args[0]));
    if (!ok || (operand.form == JY_NP_ARRAY && args[0]->u.array.ndim != 0))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "np.%s of %s", row->name, jy_value_describe(f, args[0]));
    if (jy_dtype_is_float((jy_dtype)operand.dtype) && (to == JY_I32 || to == JY_I64))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "np.%s of a float", row->name);
    TRY(jy_np_convert(f, &node, &operand, to));
    if (jy_graph_at(f->f_trace->graph, node)->n_kind != JY_KIND_NPSCALAR ||
        to != JY_BOOL) /* always a new object, but for the two bools */
        node = jy_graph_cast(f->f_trace->graph, to, JY_KIND_NPSCALAR, node);
    *out = jy_value_of_node(f, node);
    return JY_OK;
}

/* The dtype's Python number. */
static enum jy_kind
python_kind(jy_dtype dtype, jy_dtype *as)
{
    *as = dtype == JY_BOOL ? JY_BOOL : jy_dtype_is_float(dtype) ? JY_F64 : JY_I64;
    return dtype == JY_BOOL ? JY_KIND_PYBOOL : jy_dtype_is_float(dtype) ? JY_KIND_PYFLOAT : JY_KIND_PYINT;
}

/* An array of one element as a 0-d view. */
static jy_status
only_element(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *function)
{
    struct jy_view view = { 0 };
    *out = v;
    if (jy_np_is_scalar(v))
        return JY_OK;
    TRY(jy_np_array_arg(f, function, v));
    for (size_t d = 0; d < v->u.array.ndim; d++)
        if (!jy_guard_size(f, v->u.array.shape[d], JY_EQ, 1))
            return jy_break(f, JY_BREAK_RAISES, "%s of an array of more than one element or none", function);
    view.source_ndim = v->u.array.ndim;
    if (v->u.array.ndim != 0)
        *out = jy_np_view(f, v, &view, NULL);
    return JY_OK;
}

jy_status
jy_np_cast_item(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *element;
    jy_dtype as;
    if (nargs != 1 || kwnames != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "item with arguments");
    TRY(jy_value_realize(f, args[0]));
    TRY(only_element(f, &element, args[0], row->name));
    enum jy_kind kind =
        python_kind((jy_dtype)(jy_np_is_scalar(element) ? element->u.scalar.dtype : element->u.array.dtype), &as);
    return jy_np_scalar_of(f, out, element, kind, as);
}

/* float(x), int(x) */
jy_status
jy_np_cast_number(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_np_operand operand;
    bool ok;
    if (nargs != 1 || kwnames != NULL)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%s with arguments", row->name);
    TRY(jy_np_classify(f, &ok, &operand, args[0]));
    if (!ok || (operand.form == JY_NP_ARRAY && args[0]->u.array.ndim != 0))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of an array with axes", row->name);
    if (row->datum == JY_KIND_PYINT && jy_dtype_is_float((jy_dtype)operand.dtype))
        return jy_break(f, JY_BREAK_DATA_VALUE, "int() of a computed float");
    return jy_np_scalar_of(f, out, args[0], (enum jy_kind)row->datum, row->datum == JY_KIND_PYINT ? JY_I64 : JY_F64);
}
