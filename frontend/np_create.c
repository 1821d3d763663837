/* New arrays: zeros, ones, empty, full and their _like forms; fill. */
#include "frontend/np_internal.h"

enum { ZEROS, ONES, EMPTY, FULL };

/* The element that fills the array, as `dtype`. */
static jy_status
filling(struct jy_frame *f, jy_ref *out, int what, struct jy_value *fill, jy_dtype dtype)
{
    struct jy_np_operand operand;
    bool ok;
    if (what != FULL) {
        *out = jy_np_constant(f, dtype, what == ONES);
        return JY_OK;
    }
    TRY(jy_np_classify(f, &ok, &operand, fill));
    if (!ok || operand.form == JY_NP_ARRAY)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "full with %s", jy_value_describe(f, fill));
    if (jy_dtype_is_float((jy_dtype)operand.dtype) && !jy_dtype_is_float(dtype))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "full of a float as %s", jy_dtype_info[dtype].text);
    return jy_np_convert(f, out, &operand, dtype);
}

static jy_status
create(struct jy_frame *f, struct jy_value **out, int what, struct jy_value *fill, jy_dtype dtype, size_t ndim,
       const jy_sx *shape, const struct jy_layout *layout)
{
    struct jy_graph *g = f->f_trace->graph;
    jy_ref node;
    if (what == EMPTY) {
        node = jy_graph_empty(g, dtype, ndim, shape);
    } else {
        TRY(filling(f, &node, what, fill, dtype));
        node = jy_graph_full(g, node, ndim, shape);
    }
    jy_np_set_layout(f, node, layout);
    *out = jy_value_of_node(f, node);
    return JY_OK;
}

/* Without dtype= the array takes the type of its filling. */
static jy_status
dtype_of_fill(struct jy_frame *f, jy_dtype *out, struct jy_value *fill)
{
    struct jy_np_operand operand;
    bool ok;
    TRY(jy_np_classify(f, &ok, &operand, fill));
    *out = (jy_dtype)operand.dtype;
    return ok ? JY_OK : jy_break(f, JY_BREAK_NUMPY_CALL, "full with %s", jy_value_describe(f, fill));
}

jy_status
jy_np_create_filled(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                    struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const plain[] = { "shape", "dtype", "order", NULL }, *const full[] = { "shape", "fill_value",
                                                                                              "dtype", "order", NULL };
    struct jy_value *slots[4], *fill = NULL, **rest = &slots[1];
    jy_sx shape[JY_MAX_NDIM];
    jy_dtype dtype = JY_F64;
    char order;
    size_t ndim;
    int64_t k;
    TRY(jy_np_bind(f, row->name, row->datum == FULL ? full : plain, slots, nargs, args, kwnames));
    if (row->datum == FULL)
        fill = *rest++;
    if (row->datum == FULL && fill == NULL)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "full without a value");
    TRY(jy_np_shape_arg(f, &ndim, shape, 1, slots));
    for (size_t d = 0; d < ndim; d++)
        if (jy_sizes_is_const(&f->f_trace->graph->g_sizes, shape[d], &k) && k < 0)
            return jy_break(f, JY_BREAK_RAISES, "a negative extent");
    if (jy_np_given(rest[0]))
        TRY(jy_np_dtype_arg(f, &dtype, rest[0]));
    else if (fill != NULL)
        TRY(dtype_of_fill(f, &dtype, fill));
    TRY(jy_np_order_arg(f, &order, rest[1]));
    if (order != '\0' && order != 'C')
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with order='%c'", row->name, order);
    return create(f, out, row->datum, fill, dtype, ndim, shape, NULL);
}

jy_status
jy_np_create_like(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const plain[] = { "a", "dtype", NULL }, *const full[] = { "a", "fill_value", "dtype", NULL };
    struct jy_value *slots[3], *fill = NULL, **rest = &slots[1];
    const struct jy_layout *layout;
    TRY(jy_np_bind(f, row->name, row->datum == FULL ? full : plain, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    jy_dtype dtype = (jy_dtype)slots[0]->u.array.dtype;
    if (row->datum == FULL)
        fill = *rest++;
    if (row->datum == FULL && fill == NULL)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "full_like without a value");
    if (jy_np_given(rest[0]))
        TRY(jy_np_dtype_arg(f, &dtype, rest[0]));
    TRY(jy_np_keep_layout(f, &layout, slots[0], dtype));
    return create(f, out, row->datum, fill, dtype, slots[0]->u.array.ndim, slots[0]->u.array.shape, layout);
}

jy_status
jy_np_create_fill(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "value", NULL };
    struct jy_value *slots[2];
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    if (slots[1] == NULL || slots[1]->v_kind == JY_V_ARRAY)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "fill with an array, or with nothing");
    TRY(jy_np_assign(f, slots[0], slots[1]));
    *out = jy_value_const(f, Py_None);
    return JY_OK;
}
