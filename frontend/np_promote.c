/* Element types: which loop NumPy takes for these operands, and operands turned into what the loop reads.
 *
 * Decides nothing itself: ufunc.resolve_dtypes of the running NumPy is asked, with Python's int and float types standing for Python numbers (NEP 50: they are weak).
 * A Python number becomes an element as assignment to an array of the loop's dtype would make it: an int goes to float through the nearest double, an int that does
 * not fit is the original's OverflowError, a float that overflows float32 is the original's warning. */
#include "frontend/np_internal.h"
#include "graph/scalar.h"

#include <math.h>

static bool
classify_constant(struct jy_np_operand *out, PyObject *object)
{
    union jy_scalar value;
    jy_dtype dtype;
    if (PyBool_Check(object))
        out->form = JY_NP_PYBOOL, out->dtype = JY_BOOL;
    else if (PyLong_CheckExact(object))
        out->form = JY_NP_WEAK_INT, out->dtype = JY_I64;
    else if (PyFloat_CheckExact(object))
        out->form = JY_NP_WEAK_FLOAT, out->dtype = JY_F64;
    else if (jy_inspect_scalar(&dtype, &value, object))
        out->form = JY_NP_SCALAR, out->dtype = (uint8_t)dtype;
    else
        return false;
    return true;
}

jy_status
jy_np_classify(struct jy_frame *f, bool *ok, struct jy_np_operand *out, struct jy_value *v)
{
    static const uint8_t forms[] = { [JY_KIND_ARRAY] = JY_NP_ARRAY,
                                     [JY_KIND_NPSCALAR] = JY_NP_SCALAR,
                                     [JY_KIND_PYFLOAT] = JY_NP_WEAK_FLOAT,
                                     [JY_KIND_PYINT] = JY_NP_WEAK_INT,
                                     [JY_KIND_PYBOOL] = JY_NP_PYBOOL };
    TRY(jy_value_realize(f, v));
    *out = (struct jy_np_operand){ .value = v };
    *ok = true;
    if (v->v_kind == JY_V_ARRAY)
        out->form = JY_NP_ARRAY, out->dtype = v->u.array.dtype;
    else if (v->v_kind == JY_V_SCALAR)
        out->form = forms[v->u.scalar.kind], out->dtype = v->u.scalar.dtype;
    else
        *ok = v->v_kind == JY_V_CONST && classify_constant(out, v->v_object);
    return JY_OK;
}

jy_status
jy_np_concerns(struct jy_frame *f, bool *out, struct jy_value *v)
{
    struct jy_np_operand operand;
    bool ok;
    TRY(jy_np_classify(f, &ok, &operand, v));
    *out = ok && (operand.form == JY_NP_ARRAY || operand.form == JY_NP_SCALAR);
    return JY_OK;
}

/* What stands for the operand when NumPy is asked; borrowed. */
static PyObject *
stand_in(const struct jy_np_operand *operand)
{
    if (operand->form == JY_NP_WEAK_INT)
        return (PyObject *)&PyLong_Type;
    if (operand->form == JY_NP_WEAK_FLOAT)
        return (PyObject *)&PyFloat_Type;
    return jy_inspect_descr((jy_dtype)operand->dtype);
}

static jy_status
take_dtype(struct jy_frame *f, jy_dtype *out, PyObject *ufunc, PyObject *dtypes, size_t i)
{
    PyObject *dtype = PyTuple_GET_ITEM(dtypes, (Py_ssize_t)i);
    if (jy_inspect_dtype(out, dtype))
        return JY_OK;
    PyObject *text = jy_hold(f, PyObject_Str(dtype)), *name = jy_hold(f, PyObject_GetAttrString(ufunc, "__name__"));
    PyErr_Clear();
    return jy_break(f, JY_BREAK_NUMPY_DTYPE, "%s with a %s loop", name != NULL ? PyUnicode_AsUTF8(name) : "a ufunc",
                    text != NULL ? PyUnicode_AsUTF8(text) : "?");
}

jy_status
jy_np_resolve(struct jy_frame *f, jy_dtype *in, jy_dtype *result, jy_op op, size_t n,
              const struct jy_np_operand *operands)
{
    PyObject *ufunc = jy_np_ufunc_of(op), *asked = jy_hold(f, PyTuple_New((Py_ssize_t)n + 1));
    if (asked == NULL)
        return JY_ERROR;
    if (ufunc == NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "this NumPy has no %s", jy_op_info[op].text);
    for (size_t i = 0; i < n; i++)
        PyTuple_SET_ITEM(asked, (Py_ssize_t)i, Py_NewRef(stand_in(&operands[i])));
    PyTuple_SET_ITEM(asked, (Py_ssize_t)n, Py_NewRef(Py_None));
    PyObject *dtypes = jy_hold(f, PyObject_CallMethod(ufunc, "resolve_dtypes", "(O)", asked));
    if (dtypes == NULL)
        return jy_break_from_exception(f, JY_BREAK_NUMPY_DTYPE);
    TRY(take_dtype(f, in, ufunc, dtypes, 0));
    TRY(take_dtype(f, result, ufunc, dtypes, n));
    for (size_t i = 1; i < n; i++) {
        jy_dtype other;
        TRY(take_dtype(f, &other, ufunc, dtypes, i));
        if (other != *in)
            return jy_break(f, JY_BREAK_NUMPY_DTYPE, "%s of two types", jy_op_info[op].text);
    }
    return JY_OK;
}

jy_status
jy_np_common(struct jy_frame *f, jy_dtype *out, size_t n, const struct jy_np_operand *operands)
{
    PyObject *result_type = jy_np_object(f, "result_type"), *asked = jy_hold(f, PyTuple_New((Py_ssize_t)n));
    if (asked == NULL || result_type == NULL)
        return JY_ERROR;
    for (size_t i = 0; i < n; i++) {
        PyObject *item = operands[i].form == JY_NP_WEAK_INT     ? PyLong_FromLong(0)
                         : operands[i].form == JY_NP_WEAK_FLOAT ? PyFloat_FromDouble(0)
                                                                : Py_NewRef(stand_in(&operands[i]));
        if (item == NULL)
            return JY_ERROR;
        PyTuple_SET_ITEM(asked, (Py_ssize_t)i, item);
    }
    PyObject *dtype = jy_hold(f, PyObject_Call(result_type, asked, NULL));
    if (dtype == NULL)
        return jy_break_from_exception(f, JY_BREAK_NUMPY_DTYPE);
    return jy_inspect_dtype(out, dtype) ? JY_OK
                                        : jy_break(f, JY_BREAK_NUMPY_DTYPE, "a common type that is not compiled");
}

bool
jy_np_same_kind(jy_dtype from, jy_dtype to)
{
    /* dtype.def is ordered by kind */
    return jy_dtype_info[from].kind == jy_dtype_info[to].kind || from < to;
}

jy_ref
jy_np_constant(struct jy_frame *f, jy_dtype dtype, double value)
{
    union jy_scalar scalar = { .d = value };
    return jy_graph_constant(f->f_trace->graph, JY_KIND_NPSCALAR, dtype, jy_scalar_cast(JY_F64, dtype, scalar));
}

static jy_status
convert_float(struct jy_frame *f, jy_ref *out, double value, jy_dtype to)
{
    union jy_scalar element = { .i = 0 };
    if (to == JY_F32) {
        element.f = (float)value;
        if (isfinite(value) && (isinf(element.f) || (value != 0 && !isnormal(element.f))))
            return jy_break(f, JY_BREAK_RAISES, "%g does not fit float32", value);
    } else if (to == JY_F64) {
        element.d = value;
    } else {
        element.i = value != 0; /* truth: of a weak float only bool loops read an integer */
    }
    *out = jy_graph_constant(f->f_trace->graph, JY_KIND_NPSCALAR, to, element);
    return JY_OK;
}

static jy_status
convert_int(struct jy_frame *f, jy_ref *out, PyObject *object, jy_dtype to)
{
    int overflow;
    union jy_scalar element = { .i = PyLong_AsLongLongAndOverflow(object, &overflow) };
    if (overflow != 0 || (to == JY_I32 && element.i != (int32_t)element.i))
        return jy_break(f, JY_BREAK_RAISES, "an int that does not fit %s", jy_dtype_info[to].text);
    if (jy_dtype_is_float(to))
        return convert_float(f, out, PyLong_AsDouble(object), to);
    if (to == JY_BOOL)
        element.i = element.i != 0;
    *out = jy_graph_constant(f->f_trace->graph, JY_KIND_NPSCALAR, to, element);
    return JY_OK;
}

static jy_status
convert_constant(struct jy_frame *f, jy_ref *out, const struct jy_np_operand *operand, jy_dtype to)
{
    PyObject *object = operand->value->v_object;
    if (operand->form == JY_NP_WEAK_INT)
        return convert_int(f, out, object, to);
    if (operand->form == JY_NP_WEAK_FLOAT)
        return convert_float(f, out, PyFloat_AS_DOUBLE(object), to);
    union jy_scalar value = { .i = object == Py_True };
    jy_dtype dtype = JY_BOOL;
    if (operand->form == JY_NP_SCALAR)
        jy_inspect_scalar(&dtype, &value, object);
    struct jy_graph *g = f->f_trace->graph;
    *out = jy_graph_constant(g, JY_KIND_NPSCALAR, dtype, value);
    if (dtype != to)
        *out = jy_graph_cast(g, to, JY_KIND_NPSCALAR, *out);
    return JY_OK;
}

/* A Python int whose value only the call knows, as int32: the sizes that it is made of must keep it there. */
static jy_status
check_int32(struct jy_frame *f, const struct jy_value *v)
{
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    if (v->u.scalar.has_size && jy_guard_size(f, v->u.scalar.size, JY_LE, jy_sizes_const(sizes, INT32_MAX)) &&
        jy_guard_size(f, v->u.scalar.size, JY_GE, jy_sizes_const(sizes, INT32_MIN)))
        return JY_OK;
    return jy_break(f, JY_BREAK_RAISES, "a Python int that may not fit int32");
}

/* Makes visible in the node's shape what broadcasting has found: extents that are 1, and equal ones. */
static jy_ref
stretch(struct jy_frame *f, jy_ref node, const struct jy_np_operand *operand)
{
    struct jy_view view;
    jy_sx shape[JY_MAX_NDIM];
    size_t ndim = operand->value->u.array.ndim;
    if (operand->stretch == 0 && operand->renamed == NULL)
        return node;
    jy_np_view_identity(&view, ndim);
    for (size_t d = 0; d < ndim; d++) {
        bool fixed = operand->stretch >> d & 1;
        shape[d] = fixed ? 1 : operand->renamed != NULL ? operand->renamed[d] : operand->value->u.array.shape[d];
        if (fixed)
            view.axis[d] = -1, view.step[d] = 0;
    }
    return jy_graph_view(f->f_trace->graph, node, &view, shape);
}

jy_status
jy_np_convert(struct jy_frame *f, jy_ref *out, const struct jy_np_operand *operand, jy_dtype to)
{
    struct jy_graph *g = f->f_trace->graph;
    struct jy_value *v = operand->value;
    if (v->v_kind == JY_V_CONST)
        return convert_constant(f, out, operand, to);
    if (operand->form == JY_NP_WEAK_INT && to == JY_I32)
        TRY(check_int32(f, v));
    TRY(jy_value_node(f, out, v));
    if (operand->form == JY_NP_ARRAY)
        *out = stretch(f, *out, operand);
    if (operand->form == JY_NP_WEAK_INT && to == JY_F32)
        *out = jy_graph_cast(g, JY_F64, JY_KIND_NPSCALAR, *out);
    if (jy_graph_at(g, *out)->n_dtype != to)
        *out = jy_graph_cast(g, to, operand->form == JY_NP_ARRAY ? JY_KIND_ARRAY : JY_KIND_NPSCALAR, *out);
    return JY_OK;
}
