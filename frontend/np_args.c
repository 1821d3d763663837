/* Arguments of NumPy's functions: binding to parameters, and the small languages of axes, shapes, dtypes and orders.
 *
 * What is structure (axes, ndim, flags, dtypes, orders) must be known: ints from outside are guarded to what they are. Extents may stay symbolic. */
#include "frontend/np_internal.h"

static jy_status
slot_of(struct jy_frame *f, size_t *out, const char *function, const char *const *names, PyObject *name)
{
    for (*out = 0; names[*out] != NULL; ++*out)
        if (PyUnicode_CompareWithASCIIString(name, names[*out]) == 0)
            return JY_OK;
    return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with %s=", function, jy_utf8(name));
}

jy_status
jy_np_bind(struct jy_frame *f, const char *function, const char *const *names, struct jy_value **slots, size_t nargs,
           struct jy_value *const *args, PyObject *kwnames)
{
    size_t n = 0, nkeywords = kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0;
    for (; names[n] != NULL; n++)
        slots[n] = NULL;
    if (nargs > n)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with %zu arguments", function, nargs);
    for (size_t i = 0; i < nargs; i++)
        slots[i] = args[i];
    for (size_t i = 0; i < nkeywords; i++) {
        size_t slot;
        TRY(slot_of(f, &slot, function, names, PyTuple_GET_ITEM(kwnames, (Py_ssize_t)i)));
        if (slots[slot] != NULL)
            return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%s: %s is given twice", function, names[slot]);
        slots[slot] = args[nargs + i];
    }
    for (size_t i = 0; i < n; i++)
        if (slots[i] != NULL)
            TRY(jy_value_realize(f, slots[i]));
    return n == 0 || slots[0] != NULL ? JY_OK : jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%s without arguments", function);
}

jy_status
jy_np_flag(struct jy_frame *f, bool *out, struct jy_value *v, bool otherwise)
{
    *out = otherwise;
    if (v == NULL)
        return JY_OK;
    if (v->v_kind != JY_V_CONST || !PyBool_Check(v->v_object))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "a flag that is not True or False");
    *out = v->v_object == Py_True;
    return JY_OK;
}

jy_status
jy_np_order_arg(struct jy_frame *f, char *out, struct jy_value *v)
{
    *out = '\0';
    if (!jy_np_given(v))
        return JY_OK;
    const char *text =
        v->v_kind == JY_V_CONST && PyUnicode_CheckExact(v->v_object) ? PyUnicode_AsUTF8(v->v_object) : NULL;
    PyErr_Clear();
    if (text == NULL || strlen(text) != 1 || strchr("CFAK", *text) == NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "an order that is not 'C', 'F', 'A' or 'K'");
    *out = *text;
    return JY_OK;
}

jy_status
jy_np_dtype_arg(struct jy_frame *f, jy_dtype *out, struct jy_value *v)
{
    PyObject *object = jy_value_known(v);
    if (object != NULL && jy_inspect_dtype(out, object))
        return JY_OK;
    return jy_break(f, JY_BREAK_NUMPY_DTYPE, "the dtype %s", jy_value_describe(f, v));
}

/* A bool is an int, but most of NumPy takes none for a size or an axis. */
static jy_status
check_no_bool(struct jy_frame *f, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    return v->v_kind == JY_V_CONST && PyBool_Check(v->v_object)
               ? jy_break(f, JY_BREAK_NUMPY_CALL, "%s as an extent or axis", jy_value_describe(f, v))
               : JY_OK;
}

jy_status
jy_np_axis_arg(struct jy_frame *f, size_t *out, struct jy_value *v, size_t ndim)
{
    int64_t axis;
    TRY(check_no_bool(f, v));
    TRY(jy_value_index(f, &axis, v));
    if (axis < 0)
        axis += (int64_t)ndim;
    if (axis < 0 || axis >= (int64_t)ndim)
        return jy_break(f, JY_BREAK_RAISES, "an axis that an array with %zu axes does not have", ndim);
    *out = (size_t)axis;
    return JY_OK;
}

jy_status
jy_np_items(struct jy_frame *f, size_t *n, struct jy_value ***items, struct jy_value *v)
{
    *n = SIZE_MAX;
    TRY(jy_value_realize(f, v));
    if (v->v_kind == JY_V_TUPLE || v->v_kind == JY_V_LIST) {
        *n = v->u.seq.n;
        *items = v->u.seq.at;
    } else if (v->v_kind == JY_V_CONST && PyTuple_CheckExact(v->v_object)) {
        *n = (size_t)PyTuple_GET_SIZE(v->v_object);
        *items = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, *n + 1);
        for (size_t i = 0; i < *n; i++)
            (*items)[i] = jy_value_const(f, PyTuple_GET_ITEM(v->v_object, (Py_ssize_t)i));
    }
    for (size_t i = 0; *n != SIZE_MAX && i < *n; i++)
        TRY(jy_value_realize(f, (*items)[i]));
    return JY_OK;
}

jy_status
jy_np_axes_arg(struct jy_frame *f, uint32_t *out, struct jy_value *v, size_t ndim)
{
    *out = (1u << ndim) - 1;
    if (!jy_np_given(v))
        return JY_OK;
    size_t n, axis;
    struct jy_value **items;
    TRY(jy_np_items(f, &n, &items, v));
    if (n == SIZE_MAX)
        n = 1, items = &v;
    if (v->v_kind == JY_V_LIST || n == 0)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "axis=%s", v->v_kind == JY_V_LIST ? "a list" : "()");
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        TRY(jy_np_axis_arg(f, &axis, items[i], ndim));
        if (*out >> axis & 1)
            return jy_break(f, JY_BREAK_RAISES, "an axis given twice");
        *out |= 1u << axis;
    }
    return JY_OK;
}

jy_status
jy_np_shape_arg(struct jy_frame *f, size_t *ndim, jy_sx *shape, size_t nvalues, struct jy_value *const *values)
{
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    struct jy_value *const *items = values;
    size_t n = nvalues;
    if (nvalues == 1) {
        struct jy_value **inner;
        TRY(jy_np_items(f, &n, &inner, values[0]));
        if (n == SIZE_MAX)
            n = 1;
        else
            items = inner;
    }
    if (n > JY_MAX_NDIM)
        return jy_break(f, JY_BREAK_ARRAY_KIND, "an array with %zu axes", n);
    *ndim = n;
    for (size_t i = 0; i < n; i++) {
        bool ok;
        TRY(check_no_bool(f, items[i]));
        TRY(jy_value_as_size(f, &shape[i], &ok, items[i]));
        if (!ok)
            return jy_break(f, JY_BREAK_NUMPY_CALL, "%s as an extent", jy_value_describe(f, items[i]));
        int64_t k;
        bool constant = jy_sizes_is_const(sizes, shape[i], &k);
        if (constant ? k < -1 : !jy_guard_size(f, shape[i], JY_GE, 0))
            return jy_break(f, JY_BREAK_RAISES, "a negative extent");
    }
    return JY_OK;
}

jy_status
jy_np_array_arg(struct jy_frame *f, const char *function, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    return v->v_kind == JY_V_ARRAY ? JY_OK
                                   : jy_break(f, JY_BREAK_NUMPY_CALL, "%s of %s", function, jy_value_describe(f, v));
}
