/* Operators on arrays and NumPy scalars.
 *
 * Arrays: the ufunc, with true in-place meaning for augmented assignment, and `**` by the table of the running version. NumPy scalars among themselves or with Python
 * numbers: + - * / negative, comparisons and bit operations give the bits that the ufuncs give (integer overflow is found at run time and the original runs
 * again); `**`, `//` and `%` go through other C code and are left to CPython. */
#include "frontend/np_internal.h"

const jy_op jy_np_binary_ops[] = {
    [JY_NB_ADD] = JY_OP_ADD,
    [JY_NB_AND] = JY_OP_BITWISE_AND,
    [JY_NB_FLOOR_DIVIDE] = JY_OP_FLOOR_DIVIDE,
    [JY_NB_LSHIFT] = JY_OP_LEFT_SHIFT,
    [JY_NB_MATMUL] = JY_OP_MATMUL,
    [JY_NB_MULTIPLY] = JY_OP_MUL,
    [JY_NB_REMAINDER] = JY_OP_REMAINDER,
    [JY_NB_OR] = JY_OP_BITWISE_OR,
    [JY_NB_POWER] = JY_OP_POWER,
    [JY_NB_RSHIFT] = JY_OP_RIGHT_SHIFT,
    [JY_NB_SUBTRACT] = JY_OP_SUB,
    [JY_NB_TRUE_DIVIDE] = JY_OP_DIV,
    [JY_NB_XOR] = JY_OP_BITWISE_XOR,
};

/* The exponent as a constant: its value, and whether it is a Python int or float (NumPy scalars are neither). */
struct exponent {
    bool known, is_int, is_float;
    double value;
};

static jy_status
look_at_exponent(struct jy_frame *f, struct exponent *out, struct jy_value *v)
{
    bool baked;
    *out = (struct exponent){ 0 };
    if (v->v_kind == JY_V_SCALAR && v->u.scalar.has_size) {
        int64_t k;
        TRY(jy_value_index(f, &k, v));
        *out = (struct exponent){ .known = true, .is_int = true, .value = (double)k };
        return JY_OK;
    }
    if (v->v_kind == JY_V_SCALAR && v->u.scalar.kind == JY_KIND_NPSCALAR)
        return JY_OK;
    TRY(jy_value_bake(f, &baked, v));
    if (!baked)
        return JY_OK;
    jy_dtype dtype;
    union jy_scalar value;
    out->is_int = PyLong_CheckExact(v->v_object);
    out->is_float = PyFloat_CheckExact(v->v_object);
    out->known = out->is_int || out->is_float;
    if (out->is_float)
        out->value = PyFloat_AS_DOUBLE(v->v_object);
    else if (out->known)
        out->value = PyLong_AsDouble(v->v_object);
    else if ((out->known = jy_inspect_scalar(&dtype, &value, v->v_object)))
        out->value = dtype == JY_F32 ? (double)value.f : dtype == JY_F64 ? value.d : (double)value.i;
    PyErr_Clear();
    return JY_OK;
}

/* What `array ** exponent` is instead of a power; JY_OP_POWER: nothing else. */
static jy_op
special_power(const struct exponent *e, bool float_array)
{
    if (jy_np_version() >= 2003) {
        if (e->is_int && e->value == 2)
            return JY_OP_SQUARE;
        if (e->is_int && e->value == -1 && float_array)
            return JY_OP_RECIPROCAL;
        return e->is_float && e->value == 0.5 && float_array ? JY_OP_SQRT : JY_OP_POWER;
    }
    if (e->value == 2)
        return JY_OP_SQUARE;
    if (!float_array)
        return JY_OP_POWER;
    return e->value == 0.5 ? JY_OP_SQRT : e->value == -1 ? JY_OP_RECIPROCAL : e->value == 1 ? JY_OP_POS : JY_OP_POWER;
}

static jy_status
power_of_array(struct jy_frame *f, struct jy_value **out, struct jy_value *a, struct jy_value *b, struct jy_value *into)
{
    struct exponent e;
    struct jy_value *args[] = { a, b };
    if (b->v_kind == JY_V_ARRAY)
        return b->u.array.ndim != 0 ? jy_np_apply(f, out, JY_OP_POWER, 2, args, into, 0)
                                    : jy_break(f, JY_BREAK_EXPONENT, "a 0-d array as exponent");
    TRY(look_at_exponent(f, &e, b));
    bool floats = jy_dtype_is_float((jy_dtype)a->u.array.dtype);
    if (!e.known) {
        if (jy_np_version() < 2003 || !jy_np_is_scalar(b))
            return jy_break(f, JY_BREAK_EXPONENT, "%s as exponent of an array", jy_value_describe(f, b));
        return jy_np_apply(f, out, JY_OP_POWER, 2, args, into, 0);
    }
    if (b->v_kind == JY_V_SCALAR)
        args[1] = jy_value_size(f, jy_sizes_const(&f->f_trace->graph->g_sizes, (int64_t)e.value));
    jy_op op = special_power(&e, floats);
    if (op == JY_OP_SQUARE && !floats && !e.is_int)
        return jy_break(f, JY_BREAK_EXPONENT, "an integer array to the power of a float or NumPy scalar 2");
    return jy_np_apply(f, out, op, op == JY_OP_POWER ? 2 : 1, args, into, 0);
}

static jy_status
power(struct jy_frame *f, struct jy_value **out, struct jy_value *a, struct jy_value *b, struct jy_value *into)
{
    if (a->v_kind == JY_V_ARRAY)
        return power_of_array(f, out, a, b, into);
    struct jy_value *args[] = { a, b };
    if (b->v_kind != JY_V_ARRAY)
        return jy_break(f, JY_BREAK_SCALAR_PATH, "a power of NumPy scalars");
    return jy_np_apply(f, out, JY_OP_POWER, 2, args, NULL, 0);
}

/* Elision knows these operators. */
static bool
may_reuse_operand(jy_op op)
{
    return op != JY_OP_REMAINDER && op != JY_OP_POWER;
}

jy_status
jy_np_binary(struct jy_frame *f, struct jy_value **out, bool *handled, enum jy_nb nb, bool inplace, struct jy_value *a,
             struct jy_value *b)
{
    bool concerns_a, concerns_b;
    struct jy_value *args[] = { a, b };
    jy_op op = jy_np_binary_ops[nb];
    TRY(jy_np_concerns(f, &concerns_a, a));
    TRY(jy_np_concerns(f, &concerns_b, b));
    *handled = concerns_a || concerns_b;
    if (!*handled)
        return JY_OK;
    struct jy_value *into = inplace && a->v_kind == JY_V_ARRAY ? a : NULL;
    if (op == JY_OP_MATMUL)
        return into != NULL ? jy_break(f, JY_BREAK_NUMPY_CALL, "@=") : jy_np_matmul(f, out, a, b);
    if (op == JY_OP_POWER)
        return power(f, out, a, b, into);
    bool arrays = a->v_kind == JY_V_ARRAY || b->v_kind == JY_V_ARRAY;
    if (!arrays && (op == JY_OP_FLOOR_DIVIDE || op == JY_OP_REMAINDER))
        return jy_break(f, JY_BREAK_SCALAR_PATH, "%s of NumPy scalars", jy_op_info[op].text);
    return jy_np_apply(f, out, op, 2, args, into, may_reuse_operand(op) ? JY_NP_OPERATOR : 0);
}

jy_status
jy_np_unary(struct jy_frame *f, struct jy_value **out, bool *handled, enum jy_unary unary, struct jy_value *a)
{
    static const jy_op ops[] = { [JY_UNARY_NEGATIVE] = JY_OP_NEG,
                                 [JY_UNARY_POSITIVE] = JY_OP_POS,
                                 [JY_UNARY_INVERT] = JY_OP_INVERT,
                                 [JY_UNARY_ABS] = JY_OP_ABS };
    TRY(jy_np_concerns(f, handled, a));
    return *handled ? jy_np_apply(f, out, ops[unary], 1, &a, NULL, JY_NP_OPERATOR) : JY_OK;
}

jy_status
jy_np_compare(struct jy_frame *f, struct jy_value **out, bool *handled, enum jy_compare compare, struct jy_value *a,
              struct jy_value *b)
{
    static const jy_op ops[] = { [JY_LT] = JY_OP_LT, [JY_LE] = JY_OP_LE, [JY_EQ] = JY_OP_EQ,
                                 [JY_NE] = JY_OP_NE, [JY_GT] = JY_OP_GT, [JY_GE] = JY_OP_GE };
    bool concerns_a, concerns_b;
    struct jy_value *args[] = { a, b };
    TRY(jy_np_concerns(f, &concerns_a, a));
    TRY(jy_np_concerns(f, &concerns_b, b));
    *handled = concerns_a || concerns_b;
    return *handled ? jy_np_apply(f, out, ops[compare], 2, args, NULL, 0) : JY_OK;
}
