/* Matrix products: one node, which the runtime turns into the call that NumPy would make.
 *
 * Only operands of one float dtype become MATMUL or DOT nodes: a cast that NumPy makes on the way could change which routine it calls. Products of integers or of
 * two dtypes are NumPy's own call, and so is vdot, which never reports a flag. */
#include "frontend/np_internal.h"

struct product {
    jy_dtype dtype;
    bool mixed;
    jy_ref args[2];
    size_t ndim;
    jy_sx shape[JY_MAX_NDIM];
};

static jy_status
check_operands(struct jy_frame *f, struct product *p, struct jy_value *a, struct jy_value *b, const char *what)
{
    if (a->v_kind != JY_V_ARRAY || b->v_kind != JY_V_ARRAY || a->u.array.ndim == 0 || b->u.array.ndim == 0)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of something without axes", what);
    p->mixed = a->u.array.dtype != b->u.array.dtype;
    p->dtype = jy_dtype_promote((jy_dtype)a->u.array.dtype, (jy_dtype)b->u.array.dtype);
    TRY(jy_value_node(f, &p->args[0], a));
    return jy_value_node(f, &p->args[1], b);
}

static jy_status
match(struct jy_frame *f, jy_sx a, jy_sx b)
{
    return jy_guard_size(f, a, JY_EQ, b) ? JY_OK
                                         : jy_break(f, JY_BREAK_BROADCAST, "a product of matrices that do not fit");
}

static jy_status
emit(struct jy_frame *f, struct jy_value **out, jy_op op, const char *callee, const struct product *p, bool silent)
{
    enum jy_kind kind = p->ndim == 0 ? JY_KIND_NPSCALAR : JY_KIND_ARRAY;
    if (!jy_dtype_is_float(p->dtype) || p->mixed || silent)
        return jy_np_call_out(f, out,
                              &(struct jy_np_callout){ .callee = callee,
                                                       .nargs = 2,
                                                       .args = p->args,
                                                       .kind = kind,
                                                       .dtype = p->dtype,
                                                       .ndim = p->ndim,
                                                       .shape = p->shape });
    *out = jy_value_of_node(f, jy_graph_matmul(f->f_trace->graph, op, kind, p->args[0], p->args[1], p->ndim, p->shape));
    return JY_OK;
}

/* Batches broadcast; the axes in front of the last two. */
static jy_status
batch_shape(struct jy_frame *f, struct product *p, const struct jy_value *a, const struct jy_value *b)
{
    size_t na = a->u.array.ndim > 2 ? a->u.array.ndim - 2u : 0, nb = b->u.array.ndim > 2 ? b->u.array.ndim - 2u : 0;
    p->ndim = na > nb ? na : nb;
    if (p->ndim != 0 && !(jy_np_is_c_block(a) && jy_np_is_c_block(b)))
        return jy_break(f, JY_BREAK_MEMORY_ORDER, "a product of stacks of matrices that are not C-contiguous");
    for (size_t d = 0; d < p->ndim; d++) {
        jy_sx x = d + na >= p->ndim ? a->u.array.shape[d + na - p->ndim] : 1,
              y = d + nb >= p->ndim ? b->u.array.shape[d + nb - p->ndim] : 1;
        if (x == 1 || y == 1) {
            p->shape[d] = x == 1 ? y : x;
            continue;
        }
        TRY(match(f, x, y));
        p->shape[d] = x;
    }
    return JY_OK;
}

jy_status
jy_np_matmul(struct jy_frame *f, struct jy_value **out, struct jy_value *a, struct jy_value *b)
{
    struct product p;
    TRY(jy_value_realize(f, a));
    TRY(jy_value_realize(f, b));
    TRY(check_operands(f, &p, a, b, "matmul"));
    size_t na = a->u.array.ndim, nb = b->u.array.ndim;
    TRY(match(f, a->u.array.shape[na - 1], b->u.array.shape[nb > 1 ? nb - 2 : 0]));
    TRY(batch_shape(f, &p, a, b));
    if (na > 1)
        p.shape[p.ndim++] = a->u.array.shape[na - 2];
    if (nb > 1)
        p.shape[p.ndim++] = b->u.array.shape[nb - 1];
    return emit(f, out, JY_OP_MATMUL, "matmul", &p, false);
}

jy_status
jy_np_linalg_matmul(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                    struct jy_value *const *args, PyObject *kwnames)
{
    if (nargs != 2 || kwnames != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with these arguments", row->name);
    return jy_np_matmul(f, out, args[0], args[1]);
}

/* datum 0: dot, 1: inner, 2: vdot */
jy_status
jy_np_linalg_dot(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                 struct jy_value *const *args, PyObject *kwnames)
{
    struct product p = { 0 };
    if (nargs != 2 || kwnames != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with these arguments", row->name);
    TRY(jy_value_realize(f, args[0]));
    TRY(jy_value_realize(f, args[1]));
    TRY(check_operands(f, &p, args[0], args[1], row->name));
    size_t na = args[0]->u.array.ndim, nb = args[1]->u.array.ndim;
    if (na > 2 || nb > 2 || (row->datum != 0 && na + nb > 2))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of arrays with %zu and %zu axes", row->name, na, nb);
    if (row->datum == 2 && !(jy_np_is_c_block(args[0]) && jy_np_is_c_block(args[1])))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of a strided array", row->name);
    TRY(match(f, args[0]->u.array.shape[na - 1], args[1]->u.array.shape[0]));
    if (na > 1)
        p.shape[p.ndim++] = args[0]->u.array.shape[0];
    if (nb > 1)
        p.shape[p.ndim++] = args[1]->u.array.shape[1];
    return emit(f, out, JY_OP_DOT, row->name, &p, row->datum == 2);
}

/* Of all elements: sqrt(x.dot(x)) of the elements side by side, as numpy.linalg has it. */
jy_status
jy_np_linalg_norm(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *x, *sum;
    if (nargs != 1 || kwnames != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with these arguments", row->name);
    TRY(jy_np_array_arg(f, row->name, args[0]));
    if (!jy_dtype_is_float((jy_dtype)args[0]->u.array.dtype) || args[0]->u.array.ndim == 0 ||
        !jy_np_is_c_block(args[0]))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s of integers, or of a strided array", row->name);
    jy_sx size = jy_np_size(f, args[0]->u.array.ndim, args[0]->u.array.shape);
    TRY(jy_np_reshaped(f, &x, args[0], 1, &size));
    struct product p = { .dtype = (jy_dtype)x->u.array.dtype };
    TRY(jy_value_node(f, &p.args[0], x));
    p.args[1] = p.args[0];
    TRY(emit(f, &sum, JY_OP_DOT, "dot", &p, false));
    return jy_np_apply(f, out, JY_OP_SQRT, 1, &sum, NULL, 0);
}

/* a.ravel()[:, None] * b.ravel()[None, :] */
jy_status
jy_np_linalg_outer(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                   struct jy_value *const *args, PyObject *kwnames)
{
    if (nargs != 2 || kwnames != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with these arguments", row->name);
    struct jy_value *pair[2];
    for (size_t i = 0; i < 2; i++) {
        TRY(jy_np_array_arg(f, row->name, args[i]));
        if (args[i]->u.array.ndim != 1)
            return jy_break(f, JY_BREAK_NUMPY_CALL, "outer of an array with %u axes", args[i]->u.array.ndim);
        struct jy_view view = { .source_ndim = 1, .ndim = 2, .axis = { -1, -1 } };
        jy_sx shape[2] = { 1, 1 };
        view.axis[i] = 0;
        view.step[i] = 1;
        shape[i] = args[i]->u.array.shape[0];
        pair[i] = jy_np_view(f, args[i], &view, shape);
    }
    return jy_np_apply(f, out, JY_OP_MUL, 2, pair, NULL, 0);
}
