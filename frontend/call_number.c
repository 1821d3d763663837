/* Builtins that make numbers. A number that is not known stays symbolic where Python gives a number back (abs, float, bool) and pins or breaks where structure depends on it. */
#include "frontend/ambient.h"
#include "frontend/call_builtin.h"
#include "frontend/instance.h"
#include "frontend/exception.h"
#include "frontend/number.h"

jy_status
jy_builtin_abs(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return jy_unary(f, out, JY_UNARY_ABS, args[0]);
}

jy_status
jy_builtin_divmod(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    struct jy_value *parts[2];
    bool done = false;
    TRY(jy_instance_divmod(f, out, &done, args[0], args[1]));
    if (done)
        return JY_OK;
    if (args[0]->v_kind == JY_V_ARRAY || args[1]->v_kind == JY_V_ARRAY)
        return jy_builtin_unknown(f, "divmod", args[0]);
    TRY(jy_binary(f, &parts[0], JY_NB_FLOOR_DIVIDE, false, args[0], args[1]));
    TRY(jy_binary(f, &parts[1], JY_NB_REMAINDER, false, args[0], args[1]));
    *out = jy_value_seq(f, JY_V_TUPLE, 2, parts);
    return JY_OK;
}

jy_status
jy_builtin_pow(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (n == 3)
        return jy_builtin_unknown(f, "pow with a modulus", args[2]);
    return jy_binary(f, out, JY_NB_POWER, false, args[0], args[1]);
}

static bool
is_zero_dim(const struct jy_value *v)
{
    return (v->v_kind == JY_V_ARRAY && v->u.array.ndim == 0) || v->v_kind == JY_V_SCALAR;
}

static jy_status
cast(struct jy_frame *f, struct jy_value **out, jy_dtype dtype, enum jy_kind kind, struct jy_value *v)
{
    jy_ref node;
    TRY(jy_value_node(f, &node, v));
    *out = jy_value_of_node(f, jy_graph_cast(f->f_trace->graph, dtype, kind, node));
    return JY_OK;
}

/* What a constructor asks of the process: the second argument of str() and bytes() is a codec's name, the third its error handler's. */
static jy_status
check_ambient(struct jy_frame *f, const PyTypeObject *type, PyObject *args)
{
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    if (n > 1 && (type == &PyUnicode_Type || type == &PyBytes_Type))
        return jy_check_codec(f, PyTuple_GET_ITEM(args, 0), PyTuple_GET_ITEM(args, 1),
                              n > 2 ? PyTuple_GET_ITEM(args, 2) : NULL);
    if (n > 0 && type == &PyLong_Type)
        return jy_check_digits_of(f, PyTuple_GET_ITEM(args, 0));
    return type == &PyUnicode_Type ? jy_check_digits(f, args) : JY_OK;
}

jy_status
jy_builtin_construct(struct jy_frame *f, struct jy_value **out, PyTypeObject *type, size_t n,
                     struct jy_value *const *args)
{
    PyObject *objects = jy_hold(f, jy_value_as_object(f, jy_value_seq(f, JY_V_TUPLE, n, args)));
    if (objects == NULL || !jy_value_is_plain(f, objects))
        return jy_builtin_unknown(f, type->tp_name, n != 0 ? args[0] : jy_value_const(f, Py_None));
    TRY(check_ambient(f, type, objects));
    TRY(jy_take(f, out, PyObject_Call((PyObject *)type, objects, NULL)));
    for (size_t i = 0; i < n; i++)
        jy_take_operand(out, args[i]);
    return JY_OK;
}

jy_status
jy_builtin_float(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (n == 1)
        TRY(jy_value_realize(f, args[0]));
    if (n == 1 && jy_is_instance(f, args[0]))
        return jy_instance_convert(f, out, args[0], &PyFloat_Type);
    if (n == 0 || !is_zero_dim(args[0]))
        return jy_builtin_construct(f, out, &PyFloat_Type, n, args);
    if (args[0]->v_kind == JY_V_SCALAR && args[0]->u.scalar.kind == JY_KIND_PYFLOAT) {
        *out = args[0];
        return JY_OK;
    }
    return cast(f, out, JY_F64, JY_KIND_PYFLOAT, args[0]);
}

jy_status
jy_builtin_int(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    bool baked = false;
    if (n >= 1)
        TRY(jy_value_realize(f, args[0]));
    if (n == 1 && jy_is_instance(f, args[0]))
        return jy_instance_convert(f, out, args[0], &PyLong_Type);
    if (n == 1 && args[0]->v_kind == JY_V_SCALAR && args[0]->u.scalar.has_size) {
        *out = args[0];
        return JY_OK;
    }
    if (n == 1 && is_zero_dim(args[0])) {
        jy_dtype dtype = args[0]->v_kind == JY_V_ARRAY ? args[0]->u.array.dtype : args[0]->u.scalar.dtype;
        if (!jy_dtype_is_float(dtype))
            return cast(f, out, JY_I64, JY_KIND_PYINT, args[0]);
        if (args[0]->v_kind == JY_V_SCALAR)
            TRY(jy_value_bake(f, &baked, args[0]));
        if (!baked)
            return jy_break(f, JY_BREAK_SCALAR_OP, "int(%s), which may raise", jy_value_describe(f, args[0]));
    }
    return jy_builtin_construct(f, out, &PyLong_Type, n, args);
}

jy_status
jy_builtin_bool(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    bool truth = false;
    if (n == 1)
        TRY(jy_value_realize(f, args[0]));
    if (n == 1 && args[0]->v_kind == JY_V_SCALAR && args[0]->u.scalar.kind == JY_KIND_PYBOOL) {
        *out = args[0];
        return JY_OK;
    }
    if (n == 1 && is_zero_dim(args[0]) && (args[0]->v_kind == JY_V_ARRAY || args[0]->v_source == JY_NO_SOURCE) &&
        !(args[0]->v_kind == JY_V_SCALAR && args[0]->u.scalar.has_size))
        return cast(f, out, JY_BOOL, JY_KIND_PYBOOL, args[0]);
    if (n == 1)
        TRY(jy_value_truth(f, &truth, args[0]));
    *out = jy_builtin_bool_value(f, truth);
    return JY_OK;
}

jy_status
jy_builtin_complex(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    return jy_builtin_construct(f, out, &PyComplex_Type, n, args);
}

jy_status
jy_builtin_bytes(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    enum { MAX_BYTES = 100000 };
    if (n == 1 && args[0]->v_kind == JY_V_CONST && PyLong_Check(args[0]->v_object)) {
        int64_t k;
        TRY(jy_value_index(f, &k, args[0]));
        if (k > MAX_BYTES)
            return jy_builtin_unknown(f, "bytes", args[0]);
    }
    return jy_builtin_construct(f, out, &PyBytes_Type, n, args);
}

jy_status
jy_builtin_str(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (n == 1 && args[0]->v_kind == JY_V_EXCEPTION)
        return jy_exception_text(f, out, args[0]);
    return jy_builtin_construct(f, out, &PyUnicode_Type, n, args);
}
