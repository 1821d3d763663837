/* Element-wise functions: ufunc calls with broadcasting and out=, clip, where, round.
 *
 * A call becomes: casts to the loop's dtype, one node, and for out= a cast back and a STORE. The result is a NumPy scalar when every operand is 0-d and there is
 * no out=. Reading all operands before the first element is written is what a STORE means, which is NumPy's promise for overlapping operands too. */
#include "frontend/np_internal.h"
#include "graph/scalar.h"

enum { MAX_OPERANDS = 3 };

/* Operators may reuse a temporary operand as their output from this size on (temp_elide.c). */
enum { MIN_ELIDE_BYTES = 262144 };

static jy_status
classify_all(struct jy_frame *f, struct jy_np_operand *operands, jy_op op, size_t n, struct jy_value *const *args)
{
    for (size_t i = 0; i < n; i++) {
        bool ok;
        TRY(jy_np_classify(f, &ok, &operands[i], args[i]));
        if (!ok)
            return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of %s", jy_op_info[op].text, jy_value_describe(f, args[i]));
    }
    return JY_OK;
}

static bool
has_loop(jy_op op, jy_dtype in)
{
    if (jy_op_info[op].klass == JY_CLASS_EW)
        return jy_scalar_has(op, in);
    bool for_ints = op == JY_OP_POWER || op == JY_OP_FLOOR_DIVIDE || op == JY_OP_REMAINDER || op == JY_OP_FMOD;
    return jy_dtype_is_float(in) || (for_ints && in != JY_BOOL);
}

/* NumPy's loop for powers looks for a stride of 0 in its exponent, and an int loop raises on negative ones: the exponent is a scalar with one, or
 * an array that is never stretched. */
static jy_status
check_power(struct jy_frame *f, const struct jy_np_geometry *geometry, const struct jy_np_operand *operands,
            jy_dtype in)
{
    const struct jy_np_operand *base = &operands[0], *exponent = &operands[1];
    const struct jy_value *v = exponent->value;
    if (geometry->ndim == 0)
        return jy_break(f, JY_BREAK_SCALAR_PATH, "a power of 0-d operands");
    if (!jy_dtype_is_float(in)) {
        int overflow = 0;
        bool known = v->v_kind == JY_V_CONST && PyLong_CheckExact(v->v_object);
        if (!known || PyLong_AsLongLongAndOverflow(v->v_object, &overflow) < 0 || overflow != 0)
            return jy_break(f, JY_BREAK_EXPONENT, "an integer power whose exponent may be negative");
        return JY_OK;
    }
    if (exponent->form == JY_NP_SCALAR && exponent->dtype != in)
        return jy_break(f, JY_BREAK_EXPONENT, "a NumPy scalar of another type as exponent");
    if (exponent->form != JY_NP_ARRAY || v->u.array.ndim == 0)
        return exponent->form == JY_NP_ARRAY ? jy_break(f, JY_BREAK_EXPONENT, "a 0-d array as exponent") : JY_OK;
    if (v->u.array.ndim != geometry->ndim || exponent->stretch != 0)
        return jy_break(f, JY_BREAK_EXPONENT, "an exponent that is broadcast");
    for (size_t d = 0; d < geometry->ndim; d++) {
        bool same = v->u.array.shape[d] != 1 && v->u.array.layout->stride[d] != 0;
        if (geometry->ndim > 1 || base->form != JY_NP_ARRAY)
            same = same && jy_guard_size(f, v->u.array.shape[d], JY_GT, 1);
        if (!same)
            return jy_break(f, JY_BREAK_EXPONENT, "an exponent with an axis of one element");
    }
    return JY_OK;
}

static bool
runs_forward(const struct jy_value *array)
{
    for (size_t d = 0; d < array->u.array.ndim; d++)
        if (array->u.array.layout->stride[d] < 0)
            return false;
    return true;
}

/* The loops of some functions take another path for negative strides, with other bits: kernels hand them pieces that run forward. */
static jy_status
check_forward(struct jy_frame *f, jy_op op, size_t n, const struct jy_np_operand *operands, const struct jy_value *into)
{
    bool forward = into == NULL || runs_forward(into);
    for (size_t i = 0; i < n; i++)
        forward &= operands[i].form != JY_NP_ARRAY || runs_forward(operands[i].value);
    return forward ? JY_OK : jy_break(f, JY_BREAK_MEMORY_ORDER, "%s of a reversed array", jy_op_info[op].text);
}

/* Would eager reuse the memory of an operand, and does that show in the strides of the result? */
static jy_status
check_elision(struct jy_frame *f, const struct jy_layout *layout, const struct jy_np_geometry *geometry, size_t n,
              const struct jy_np_operand *operands, jy_dtype dtype)
{
    struct jy_graph *g = f->f_trace->graph;
    int64_t extents[JY_MAX_NDIM];
    for (size_t d = 0; d < geometry->ndim; d++)
        extents[d] = jy_np_hint(f, geometry->shape[d]);
    struct jy_layout c_order = jy_layout_fresh(geometry->ndim, extents, NULL, jy_dtype_info[dtype].bytes);
    const struct jy_layout *result = layout != NULL ? layout : &c_order;
    for (size_t i = 0; i < n; i++) {
        const struct jy_value *v = operands[i].value;
        if (operands[i].form != JY_NP_ARRAY || !v->u.array.storage->fresh || v->u.array.view != NULL ||
            v->u.array.ndim != geometry->ndim || v->u.array.dtype != dtype ||
            memcmp(v->u.array.layout->stride, result->stride, geometry->ndim * sizeof *result->stride) == 0)
            continue;
        jy_sx limit = jy_sizes_const(&g->g_sizes, MIN_ELIDE_BYTES / jy_dtype_info[dtype].bytes);
        if (!jy_guard_size(f, jy_np_size(f, v->u.array.ndim, v->u.array.shape), JY_LT, limit))
            return jy_break(f, JY_BREAK_MEMORY_ORDER, "a large temporary in another order than the other operand");
    }
    return JY_OK;
}

/* out=: the value is cast and stored, the array itself is the result. */
static jy_status
write_into(struct jy_frame *f, struct jy_value **out, struct jy_value *into, jy_ref node)
{
    struct jy_graph *g = f->f_trace->graph;
    const struct jy_node *result = jy_graph_at(g, node);
    jy_dtype to = (jy_dtype)into->u.array.dtype;
    if (!jy_np_same_kind((jy_dtype)result->n_dtype, to))
        return jy_break(f, JY_BREAK_RAISES, "a result of type %s for an array of type %s",
                        jy_dtype_info[result->n_dtype].text, jy_dtype_info[to].text);
    if (result->n_dtype != to)
        node = jy_graph_cast(g, to, (enum jy_kind)result->n_kind, node);
    TRY(jy_np_store(f, into, node));
    *out = into;
    return JY_OK;
}

/* Broadcasting with out= must leave its shape as it is. */
static jy_status
check_into(struct jy_frame *f, const struct jy_np_geometry *geometry, const struct jy_value *into, jy_op op)
{
    bool truths = op == JY_OP_ISNAN || op == JY_OP_ISINF || op == JY_OP_ISFINITE || op == JY_OP_SIGNBIT;
    if (truths && !jy_np_is_c_block(into))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s into an array that is not contiguous", jy_op_info[op].text);
    if (geometry->ndim > into->u.array.ndim)
        return jy_break(f, JY_BREAK_BROADCAST, "more axes than the array that is written");
    for (size_t d = 0; d < geometry->ndim; d++) {
        jy_sx x = geometry->shape[d], extent = into->u.array.shape[into->u.array.ndim - geometry->ndim + d];
        if (jy_np_hint(f, x) != jy_np_hint(f, extent) && jy_np_hint(f, x) != 1)
            return jy_break(f, JY_BREAK_BROADCAST, "a result that is larger than the array that is written");
    }
    return JY_OK;
}

jy_status
jy_np_apply(struct jy_frame *f, struct jy_value **out, jy_op op, size_t n, struct jy_value *const *args,
            struct jy_value *into, unsigned flags)
{
    struct jy_np_operand operands[MAX_OPERANDS];
    struct jy_np_geometry geometry;
    const struct jy_layout *layout = NULL;
    jy_dtype in, result;
    jy_ref nodes[MAX_OPERANDS];
    TRY(classify_all(f, operands, op, n, args));
    TRY(jy_np_resolve(f, &in, &result, op, n, operands));
    if (!has_loop(op, in) || jy_scalar_result_dtype(op, in) != result)
        return jy_break(f, JY_BREAK_NUMPY_DTYPE, "%s of %s", jy_op_info[op].text, jy_dtype_info[in].text);
    TRY(jy_np_broadcast(f, &geometry, n, operands));
    if (op == JY_OP_POWER)
        TRY(check_power(f, &geometry, operands, in));
    if (jy_op_info[op].klass == JY_CLASS_TILE && jy_dtype_is_float(in))
        TRY(check_forward(f, op, n, operands, into));
    if (into != NULL)
        TRY(check_into(f, &geometry, into, op));
    else
        TRY(jy_np_result_layout(f, &layout, &geometry, n, operands, in, result));
    if (into == NULL && (flags & JY_NP_OPERATOR) != 0 && geometry.ndim > 1)
        TRY(check_elision(f, layout, &geometry, n, operands, result));
    for (size_t i = 0; i < n; i++)
        TRY(jy_np_convert(f, &nodes[i], &operands[i], in));
    enum jy_kind kind = geometry.ndim != 0 ? JY_KIND_ARRAY : JY_KIND_NPSCALAR;
    jy_ref node = jy_graph_elementwise(f->f_trace->graph, op, kind, n, nodes);
    if (into != NULL)
        return write_into(f, out, into, node);
    if (kind == JY_KIND_ARRAY)
        jy_np_set_layout(f, node, layout);
    *out = jy_value_of_node(f, node);
    return JY_OK;
}

/* out=array or out=(array,) */
static jy_status
take_out(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    size_t n;
    struct jy_value **items;
    *out = NULL;
    if (!jy_np_given(v))
        return JY_OK;
    TRY(jy_np_items(f, &n, &items, v));
    if (n == 1)
        v = items[0];
    TRY(jy_value_realize(f, v));
    if (v->v_kind != JY_V_ARRAY)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "out=%s", jy_value_describe(f, v));
    *out = v;
    return JY_OK;
}

jy_status
jy_np_ufunc_call(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                 struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[][MAX_OPERANDS + 1] = { { "x", "out", NULL }, { "x1", "x2", "out", NULL } };
    jy_op op = (jy_op)row->datum;
    size_t n = (size_t)jy_op_info[op].arity;
    struct jy_value *slots[MAX_OPERANDS], *into;
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), "out") != 0)
            return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with %s=", row->name, jy_utf8(PyTuple_GET_ITEM(kwnames, i)));
    TRY(jy_np_bind(f, row->name, names[n - 1], slots, nargs, args, kwnames));
    for (size_t i = 0; i < n; i++)
        if (slots[i] == NULL)
            return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%s with too few arguments", row->name);
    TRY(take_out(f, &into, slots[n]));
    return jy_np_apply(f, out, op, n, slots, into, 0);
}

/* ---- clip ---- */

/* A bound that an integer array can never reach is dropped by some versions and an error in others. */
static jy_status
check_bound(struct jy_frame *f, const struct jy_value *array, const struct jy_value *bound)
{
    if (array->u.array.dtype != JY_I32 && array->u.array.dtype != JY_I64)
        return JY_OK;
    if (bound->v_kind != JY_V_CONST || !PyLong_CheckExact(bound->v_object))
        return JY_OK;
    int overflow;
    int64_t k = PyLong_AsLongLongAndOverflow(bound->v_object, &overflow);
    bool narrow = array->u.array.dtype == JY_I32;
    if (overflow != 0 || k <= (narrow ? INT32_MIN : INT64_MIN) || k >= (narrow ? INT32_MAX : INT64_MAX))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "clip to a bound that the dtype cannot pass");
    return JY_OK;
}

jy_status
jy_np_ufunc_clip(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                 struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[2][5] = { { "a", "a_min", "a_max", "out", NULL },
                                             { "self", "min", "max", "out", NULL } };
    struct jy_value *slots[4], *into;
    TRY(jy_np_bind(f, "clip", names[row->datum], slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, "clip", slots[0]));
    TRY(take_out(f, &into, slots[3]));
    if (row->datum == 0 && (slots[1] == NULL) != (slots[2] == NULL))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "clip with one bound of two");
    bool low = jy_np_given(slots[1]), high = jy_np_given(slots[2]);
    if (!low && !high)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "clip without bounds");
    if (low)
        TRY(check_bound(f, slots[0], slots[1]));
    if (high)
        TRY(check_bound(f, slots[0], slots[2]));
    if (low && high)
        return jy_np_apply(f, out, JY_OP_CLIP, 3, slots, into, 0);
    struct jy_value *pair[] = { slots[0], low ? slots[1] : slots[2] };
    return jy_np_apply(f, out, low ? JY_OP_MAXIMUM : JY_OP_MINIMUM, 2, pair, into, 0);
}

/* ---- where ---- */

jy_status
jy_np_ufunc_where(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_np_operand operands[3];
    struct jy_np_geometry geometry;
    const struct jy_layout *layout;
    jy_ref nodes[3];
    jy_dtype dtype;
    (void)row;
    if (nargs != 3 || kwnames != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "np.where with %zu argument%s", nargs, nargs == 1 ? "" : "s");
    TRY(classify_all(f, operands, JY_OP_WHERE, 3, args));
    TRY(jy_np_common(f, &dtype, 2, &operands[1]));
    TRY(jy_np_broadcast(f, &geometry, 3, operands));
    if (geometry.ndim == 0) /* the result is a 0-d array, which no element-wise node of 0-d operands is */
        return jy_break(f, JY_BREAK_NUMPY_CALL, "np.where of 0-d operands");
    TRY(jy_np_result_layout(f, &layout, &geometry, 3, operands, JY_DTYPE_NONE, dtype));
    for (size_t i = 0; i < 3; i++)
        TRY(jy_np_convert(f, &nodes[i], &operands[i], i == 0 ? JY_BOOL : dtype));
    jy_ref node = jy_graph_elementwise(f->f_trace->graph, JY_OP_WHERE, JY_KIND_ARRAY, 3, nodes);
    jy_np_set_layout(f, node, layout);
    *out = jy_value_of_node(f, node);
    return JY_OK;
}

/* ---- round ---- */

jy_status
jy_np_ufunc_round(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    static const char *const names[] = { "a", "decimals", "out", NULL };
    struct jy_value *slots[3];
    int64_t decimals = 0;
    TRY(jy_np_bind(f, row->name, names, slots, nargs, args, kwnames));
    TRY(jy_np_array_arg(f, row->name, slots[0]));
    if (slots[1] != NULL)
        TRY(jy_value_index(f, &decimals, slots[1]));
    if (decimals != 0 || jy_np_given(slots[2]) || !jy_dtype_is_float((jy_dtype)slots[0]->u.array.dtype))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "round to decimals, of integers, or with out=");
    return jy_np_apply(f, out, JY_OP_RINT, 1, slots, NULL, 0);
}
