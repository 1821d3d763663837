/* Python's numbers.
 *
 *     known values          the real objects compute (jy_number_fold)
 *     ints made of sizes    size expressions; comparisons and divisors become guards
 *     floats                nodes of kind PYFLOAT for + - * /; what needs the value bakes inputs (EQUALS guard) and breaks on computed numbers
 *
 * A float division by zero raises in Python: the kernel's division flags it, and the original runs and raises. int -> float conversion rounds
 * to even as the hardware does; int / int is exact only while both fit 53 bits, which is guarded. */
#include "frontend/number.h"

#include <math.h>

enum { MAX_BITS = 20000, MAX_WEIGHT = 2000 }; /* taste: of a folded int; of an expression of sizes */
#define EXACT_IN_DOUBLE (INT64_C(1) << 53)

bool
jy_number_is(const struct jy_value *v)
{
    if (v->v_kind == JY_V_SCALAR)
        return v->u.scalar.kind != JY_KIND_NPSCALAR;
    return v->v_kind == JY_V_CONST &&
           (PyLong_CheckExact(v->v_object) || PyFloat_CheckExact(v->v_object) || PyBool_Check(v->v_object));
}

static bool
is_float(const struct jy_value *v)
{
    return v->v_kind == JY_V_SCALAR ? v->u.scalar.kind == JY_KIND_PYFLOAT : PyFloat_CheckExact(v->v_object);
}

/* ---- known values ---- */

static int64_t
small_int(PyObject *object)
{
    int overflow = 0;
    int64_t k = PyLong_Check(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : 0;
    return overflow != 0 ? INT64_MAX : k < 0 ? 0 : k;
}

static size_t
bits_of(PyObject *object)
{
    return PyLong_Check(object) ? _PyLong_NumBits(object) : 0;
}

static bool
is_huge(enum jy_nb op, PyObject *a, PyObject *b)
{
    if (op == JY_NB_POWER && PyLong_Check(a) && PyLong_Check(b))
        return small_int(b) > MAX_BITS || (uint64_t)small_int(b) * bits_of(a) > MAX_BITS;
    if (op == JY_NB_LSHIFT)
        return small_int(b) > MAX_BITS;
    if (op == JY_NB_MULTIPLY && PySequence_Check(a) && PyLong_Check(b))
        return small_int(b) > MAX_BITS;
    if (op == JY_NB_MULTIPLY && PySequence_Check(b) && PyLong_Check(a))
        return small_int(a) > MAX_BITS;
    return false;
}

jy_status
jy_number_fold(struct jy_frame *f, struct jy_value **out, enum jy_nb op, PyObject *a, PyObject *b)
{
    static binaryfunc const functions[] = {
        [JY_NB_ADD] = PyNumber_Add,
        [JY_NB_AND] = PyNumber_And,
        [JY_NB_FLOOR_DIVIDE] = PyNumber_FloorDivide,
        [JY_NB_LSHIFT] = PyNumber_Lshift,
        [JY_NB_MATMUL] = PyNumber_MatrixMultiply,
        [JY_NB_MULTIPLY] = PyNumber_Multiply,
        [JY_NB_REMAINDER] = PyNumber_Remainder,
        [JY_NB_OR] = PyNumber_Or,
        [JY_NB_RSHIFT] = PyNumber_Rshift,
        [JY_NB_SUBTRACT] = PyNumber_Subtract,
        [JY_NB_TRUE_DIVIDE] = PyNumber_TrueDivide,
        [JY_NB_XOR] = PyNumber_Xor,
    };
    if (is_huge(op, a, b))
        return jy_break(f, JY_BREAK_SCALAR_OP, "a constant of more than %d bits", MAX_BITS);
    return jy_take(f, out, op == JY_NB_POWER ? PyNumber_Power(a, b, Py_None) : functions[op](a, b));
}

/* The exception of operands like these. refs: steals a and b */
static jy_status
division_by_zero(struct jy_frame *f, enum jy_nb op, PyObject *a, PyObject *b)
{
    struct jy_value *none;
    a = jy_hold(f, a);
    b = jy_hold(f, b);
    return a != NULL && b != NULL ? jy_number_fold(f, &none, op, a, b) : JY_ERROR;
}

/* ---- ints made of sizes ---- */

static jy_status
size_binary(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op, jy_sx a, jy_sx b)
{
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    enum jy_sx_op sx = JY_SX_CONST;
    switch (op) {
    case JY_NB_ADD:
        sx = JY_SX_ADD;
        break;
    case JY_NB_SUBTRACT:
        sx = JY_SX_SUB;
        break;
    case JY_NB_MULTIPLY:
        sx = JY_SX_MUL;
        break;
    case JY_NB_FLOOR_DIVIDE:
        sx = JY_SX_FLOORDIV;
        break;
    case JY_NB_REMAINDER:
        sx = JY_SX_MOD;
        break;
    case JY_NB_AND:
    case JY_NB_LSHIFT:
    case JY_NB_MATMUL:
    case JY_NB_OR:
    case JY_NB_POWER:
    case JY_NB_RSHIFT:
    case JY_NB_TRUE_DIVIDE:
    case JY_NB_XOR:
        return JY_OK;
    }
    if ((sx == JY_SX_FLOORDIV || sx == JY_SX_MOD) && !jy_guard_size(f, b, JY_NE, 0))
        return division_by_zero(f, op, PyLong_FromLong(1), PyLong_FromLong(0));
    if (jy_sizes_weight(sizes, a) + jy_sizes_weight(sizes, b) > MAX_WEIGHT)
        return JY_OK;
    jy_sx result = jy_sizes_binary(sizes, sx, a, b);
    int64_t hint;
    if (!jy_sizes_eval(&hint, sizes, result, NULL))
        return jy_break(f, JY_BREAK_SCALAR_OP, "an int of more than 64 bits");
    *out = jy_value_size(f, result);
    *done = true;
    return JY_OK;
}

/* What has no size expression is computed on the values of the traced call, which are guarded. */
static jy_status
pin(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    int64_t k;
    if (v->v_kind == JY_V_CONST) {
        *out = v;
        return JY_OK;
    }
    TRY(jy_value_index(f, &k, v));
    return jy_take(f, out, PyLong_FromLongLong(k));
}

static bool
is_exact_double(struct jy_frame *f, jy_sx e)
{
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    return jy_guard_size(f, e, JY_LE, jy_sizes_const(sizes, EXACT_IN_DOUBLE)) &&
           jy_guard_size(f, e, JY_GE, jy_sizes_const(sizes, -EXACT_IN_DOUBLE));
}

/* ---- floats ---- */

jy_status
jy_number_float_node(struct jy_frame *f, jy_ref *out, struct jy_value *v)
{
    struct jy_graph *g = f->f_trace->graph;
    if (v->v_kind == JY_V_CONST && !PyFloat_CheckExact(v->v_object)) {
        double d = PyFloat_AsDouble(v->v_object);
        if (d == -1.0 && PyErr_Occurred())
            return jy_break_from_exception(f, JY_BREAK_RAISES);
        *out = jy_graph_constant(g, JY_KIND_PYFLOAT, JY_F64, (union jy_scalar){ .d = d });
        return JY_OK;
    }
    TRY(jy_value_node(f, out, v));
    const struct jy_node *node = jy_graph_at(g, *out);
    if (node->n_dtype != JY_F64 || node->n_kind != JY_KIND_PYFLOAT)
        *out = jy_graph_cast(g, JY_F64, JY_KIND_PYFLOAT, *out);
    return JY_OK;
}

static jy_status
emit(struct jy_frame *f, struct jy_value **out, jy_op op, enum jy_kind kind, struct jy_value *a, struct jy_value *b)
{
    jy_ref args[2];
    TRY(jy_number_float_node(f, &args[0], a));
    TRY(jy_number_float_node(f, &args[1], b));
    *out = jy_value_of_node(f, jy_graph_elementwise(f->f_trace->graph, op, kind, 2, args));
    return JY_OK;
}

static bool
is_zero(const struct jy_value *v)
{
    return v->v_kind == JY_V_CONST && PyFloat_AsDouble(v->v_object) == 0.0;
}

/* A zero divisor raises whatever it divides, but the processor reports it for finite dividends only: 1.0 / b, which nobody reads, is reported for all of them. */
static jy_status
report_zero(struct jy_frame *f, const struct jy_value *a, struct jy_value *b)
{
    if (b->v_kind == JY_V_CONST || (a->v_kind == JY_V_CONST && isfinite(PyFloat_AsDouble(a->v_object))))
        return JY_OK;
    struct jy_value *one, *none;
    TRY(jy_take(f, &one, PyFloat_FromDouble(1.0)));
    return emit(f, &none, JY_OP_DIV, JY_KIND_PYFLOAT, one, b);
}

static jy_status
float_binary(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op, struct jy_value *a,
             struct jy_value *b)
{
    jy_op graph_op = JY_OP_COUNT;
    switch (op) {
    case JY_NB_ADD:
        graph_op = JY_OP_ADD;
        break;
    case JY_NB_SUBTRACT:
        graph_op = JY_OP_SUB;
        break;
    case JY_NB_MULTIPLY:
        graph_op = JY_OP_MUL;
        break;
    case JY_NB_TRUE_DIVIDE:
        if (is_zero(b))
            return division_by_zero(f, op, PyFloat_FromDouble(1.0), Py_NewRef(b->v_object));
        TRY(report_zero(f, a, b));
        graph_op = JY_OP_DIV;
        break;
    case JY_NB_AND:
    case JY_NB_FLOOR_DIVIDE:
    case JY_NB_LSHIFT:
    case JY_NB_MATMUL:
    case JY_NB_OR:
    case JY_NB_POWER:
    case JY_NB_REMAINDER:
    case JY_NB_RSHIFT:
    case JY_NB_XOR:
        return JY_OK;
    }
    *done = true;
    return emit(f, out, graph_op, JY_KIND_PYFLOAT, a, b);
}

/* ---- operators ---- */

static jy_status
fold_baked(struct jy_frame *f, struct jy_value **out, enum jy_nb op, struct jy_value *a, struct jy_value *b)
{
    static const char *const names[] = { "+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^" };
    bool known_a, known_b;
    TRY(jy_value_bake(f, &known_a, a));
    TRY(jy_value_bake(f, &known_b, b));
    if (!known_a || !known_b)
        return jy_break(f, JY_BREAK_SCALAR_OP, "%s %s %s", jy_value_describe(f, a), names[op], jy_value_describe(f, b));
    TRY(jy_number_fold(f, out, op, a->v_object, b->v_object));
    jy_take_operand(out, a);
    jy_take_operand(out, b);
    return JY_OK;
}

jy_status
jy_number_binary(struct jy_frame *f, struct jy_value **out, enum jy_nb op, struct jy_value *a, struct jy_value *b)
{
    bool done = false, size_a, size_b;
    jy_sx x = 0, y = 0;
    TRY(jy_value_as_size(f, &x, &size_a, a));
    TRY(jy_value_as_size(f, &y, &size_b, b));
    if (size_a && size_b) {
        TRY(size_binary(f, out, &done, op, x, y));
        if (done)
            return JY_OK;
        if (op == JY_NB_TRUE_DIVIDE && is_exact_double(f, x) && is_exact_double(f, y)) {
            if (!jy_guard_size(f, y, JY_NE, 0))
                return division_by_zero(f, op, PyLong_FromLong(1), PyLong_FromLong(0));
            return emit(f, out, JY_OP_DIV, JY_KIND_PYFLOAT, a, b);
        }
        TRY(pin(f, &a, a));
        TRY(pin(f, &b, b));
        return jy_number_fold(f, out, op, a->v_object, b->v_object);
    }
    bool fits_a = size_a || a->v_kind == JY_V_CONST || is_float(a),
         fits_b = size_b || b->v_kind == JY_V_CONST || is_float(b);
    if (fits_a && fits_b && (is_float(a) || is_float(b)))
        TRY(float_binary(f, out, &done, op, a, b));
    return done ? JY_OK : fold_baked(f, out, op, a, b);
}

static jy_status
fold_unary(struct jy_frame *f, struct jy_value **out, enum jy_unary op, struct jy_value *a)
{
    static unaryfunc const functions[] = { [JY_UNARY_NEGATIVE] = PyNumber_Negative,
                                           [JY_UNARY_POSITIVE] = PyNumber_Positive,
                                           [JY_UNARY_INVERT] = PyNumber_Invert,
                                           [JY_UNARY_ABS] = PyNumber_Absolute };
    if (op == JY_UNARY_INVERT && PyBool_Check(a->v_object))
        return jy_break(f, JY_BREAK_SCALAR_OP, "~ of a bool, which may warn");
    TRY(jy_take(f, out, functions[op](a->v_object)));
    jy_take_operand(out, a);
    return JY_OK;
}

jy_status
jy_number_unary(struct jy_frame *f, struct jy_value **out, enum jy_unary op, struct jy_value *a)
{
    static const jy_op ops[] = { [JY_UNARY_NEGATIVE] = JY_OP_NEG, [JY_UNARY_ABS] = JY_OP_ABS };
    if (a->v_kind == JY_V_CONST)
        return fold_unary(f, out, op, a);
    if (a->u.scalar.has_size) {
        bool done = false;
        if (op == JY_UNARY_POSITIVE || (op == JY_UNARY_ABS && jy_guard_size(f, a->u.scalar.size, JY_GE, 0))) {
            *out = a;
            return JY_OK;
        }
        if (op != JY_UNARY_INVERT)
            return size_binary(f, out, &done, JY_NB_SUBTRACT, 0, a->u.scalar.size);
        return size_binary(f, out, &done, JY_NB_SUBTRACT, jy_sizes_const(&f->f_trace->graph->g_sizes, -1),
                           a->u.scalar.size);
    }
    if (is_float(a) && op == JY_UNARY_POSITIVE) {
        *out = a;
        return JY_OK;
    }
    if (is_float(a) && op != JY_UNARY_INVERT) {
        jy_ref node;
        TRY(jy_value_node(f, &node, a));
        *out = jy_value_of_node(f, jy_graph_elementwise(f->f_trace->graph, ops[op], JY_KIND_PYFLOAT, 1, &node));
        return JY_OK;
    }
    return jy_break(f, JY_BREAK_SCALAR_OP, "an operator on %s", jy_value_describe(f, a));
}

static bool
converts_exactly(const struct jy_value *v)
{
    if (v->v_kind != JY_V_CONST || !PyLong_CheckExact(v->v_object))
        return v->v_kind == JY_V_CONST || v->u.scalar.kind == JY_KIND_PYFLOAT;
    int overflow;
    int64_t k = PyLong_AsLongLongAndOverflow(v->v_object, &overflow);
    return overflow == 0 && k <= EXACT_IN_DOUBLE && k >= -EXACT_IN_DOUBLE;
}

jy_status
jy_number_compare(struct jy_frame *f, struct jy_value **out, enum jy_compare op, struct jy_value *a, struct jy_value *b)
{
    static const jy_op ops[] = { [JY_LT] = JY_OP_LT, [JY_LE] = JY_OP_LE, [JY_EQ] = JY_OP_EQ,
                                 [JY_NE] = JY_OP_NE, [JY_GT] = JY_OP_GT, [JY_GE] = JY_OP_GE };
    bool size_a, size_b, known_a, known_b;
    jy_sx x = 0, y = 0;
    TRY(jy_value_as_size(f, &x, &size_a, a));
    TRY(jy_value_as_size(f, &y, &size_b, b));
    if (size_a && size_b) {
        *out = jy_value_const(f, jy_guard_size(f, x, op, y) ? Py_True : Py_False);
        return JY_OK;
    }
    TRY(jy_value_bake(f, &known_a, a));
    TRY(jy_value_bake(f, &known_b, b));
    if (size_a && known_b)
        TRY(pin(f, &a, a));
    if (size_b && known_a)
        TRY(pin(f, &b, b));
    if (a->v_kind == JY_V_CONST && b->v_kind == JY_V_CONST)
        return jy_take(f, out, PyObject_RichCompare(a->v_object, b->v_object, (int)op));
    if ((is_float(a) || is_float(b)) && converts_exactly(a) && converts_exactly(b))
        return emit(f, out, ops[op], JY_KIND_PYBOOL, a, b);
    return jy_break(f, JY_BREAK_DATA_BRANCH, "a comparison of %s and %s", jy_value_describe(f, a),
                    jy_value_describe(f, b));
}
