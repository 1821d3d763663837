/* Operators on numbers, each with the rules of its own kind: Python's ints leave where 64 bits do not hold the result, its floats where they raise. NumPy's scalars: flow_scalar.c. */
#include "frontend/flow.h"

static bool
is_python_int(const struct jy_val *v)
{
    return v->kind == JY_K_INT || v->kind == JY_K_BOOL;
}

static jy_fv
as_int64(struct jy_vbuild *b, const struct jy_val *v)
{
    return v->kind == JY_K_BOOL ? jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64, v->regs[0]) : v->regs[0];
}

jy_status
jy_vas_float(struct jy_vbuild *b, jy_fv *out, struct jy_val *v)
{
    v = jy_vnumber(b, v);
    if (v->kind == JY_K_FLOAT || (v->kind == JY_K_NP && v->dtype == JY_F64))
        *out = v->regs[0];
    else if (is_python_int(v))
        *out = jy_ve1(b, JY_FLOW_TO_FLOAT, JY_F_F64, as_int64(b, v));
    else if (v->kind == JY_K_NP && v->dtype == JY_F32)
        *out = jy_ve1(b, JY_FLOW_WIDEN, JY_F_F64, v->regs[0]);
    else if (v->kind == JY_K_NP && v->dtype != JY_BOOL) {
        TRY(jy_vas_index(b, out, v));
        *out = jy_ve1(b, JY_FLOW_TO_FLOAT, JY_F_F64, *out);
    } else
        return jy_vb_lacks(b, "%s as a float", jy_val_describe(b, v));
    return JY_OK;
}

jy_status
jy_vas_index(struct jy_vbuild *b, jy_fv *out, struct jy_val *v)
{
    bool is_numpy_int = v->kind == JY_K_NP && v->dtype != JY_BOOL && !jy_dtype_is_float((jy_dtype)v->dtype);
    if (!is_python_int(v) && !is_numpy_int)
        return jy_vb_lacks(b, "%s as an index", jy_val_describe(b, v));
    *out = jy_vint_of(b, v);
    if (v->dtype == JY_U64)
        jy_vcheck(b, jy_ve2(b, JY_FLOW_GE, JY_F_I1, *out, jy_vint(b, 0)), "a large uint64");
    return JY_OK;
}

/* ---- Python's ints ---- */

static jy_status
true_division(struct jy_vbuild *b, struct jy_val **out, jy_fv x, jy_fv y)
{
    jy_vcheck_not_zero(b, y, "division by zero");
    jy_fv a = jy_ve1x(b, JY_FLOW_TO_FLOAT, JY_F_F64, x, "large integers divided");
    jy_fv c = jy_ve1x(b, JY_FLOW_TO_FLOAT, JY_F_F64, y, "large integers divided");
    *out = jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, jy_ve2(b, JY_FLOW_DIV, JY_F_F64, a, c));
    return JY_OK;
}

static jy_status
int_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *p, struct jy_val *q)
{
    static const uint8_t ops[] = {
        [JY_NB_ADD] = JY_FLOW_ADD,
        [JY_NB_SUBTRACT] = JY_FLOW_SUB,
        [JY_NB_MULTIPLY] = JY_FLOW_MUL,
        [JY_NB_FLOOR_DIVIDE] = JY_FLOW_FLOORDIV,
        [JY_NB_REMAINDER] = JY_FLOW_FLOORMOD,
        [JY_NB_LSHIFT] = JY_FLOW_SHL,
        [JY_NB_RSHIFT] = JY_FLOW_SHR,
        [JY_NB_AND] = JY_FLOW_AND,
        [JY_NB_OR] = JY_FLOW_OR,
        [JY_NB_XOR] = JY_FLOW_XOR,
    };
    bool bitwise = op == JY_NB_AND || op == JY_NB_OR || op == JY_NB_XOR;
    if (bitwise && p->kind == JY_K_BOOL && q->kind == JY_K_BOOL) {
        *out =
            jy_val_reg(b, JY_K_BOOL, JY_DTYPE_NONE, jy_ve2(b, (enum jy_fop)ops[op], JY_F_I1, p->regs[0], q->regs[0]));
        return JY_OK;
    }
    jy_fv x = as_int64(b, p), y = as_int64(b, q), result;
    int64_t known;
    if (op == JY_NB_MATMUL)
        return jy_vb_lacks(b, "@ of numbers");
    if (op == JY_NB_TRUE_DIVIDE)
        return true_division(b, out, x, y);
    if (op == JY_NB_POWER && jy_vconst(b, y, &known) && known == 2) {
        result = jy_ve2x(b, JY_FLOW_MUL, JY_F_I64, x, x, "int overflow");
    } else if (op == JY_NB_POWER) {
        jy_fv args[] = { x, y };
        result = jy_vhelp(b, "int_pow", 2, args, "int overflow or a negative exponent");
    } else if (bitwise) {
        result = jy_ve2(b, (enum jy_fop)ops[op], JY_F_I64, x, y);
    } else {
        bool divides = op == JY_NB_FLOOR_DIVIDE || op == JY_NB_REMAINDER;
        bool cannot = jy_vconst(b, y, &known) && (divides ? known > 0 : op == JY_NB_RSHIFT && known >= 0 && known < 64);
        const char *what = divides ? "division by zero" : op == JY_NB_RSHIFT ? "negative shift" : "int overflow";
        result = cannot ? jy_ve2(b, (enum jy_fop)ops[op], JY_F_I64, x, y)
                        : jy_ve2x(b, (enum jy_fop)ops[op], JY_F_I64, x, y, what);
    }
    *out = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, result);
    return JY_OK;
}

/* ---- Python's floats ---- */

static jy_status
float_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *p, struct jy_val *q)
{
    jy_fv args[2], result;
    TRY(jy_vas_float(b, &args[0], p));
    TRY(jy_vas_float(b, &args[1], q));
    if (op == JY_NB_TRUE_DIVIDE || op == JY_NB_FLOOR_DIVIDE || op == JY_NB_REMAINDER)
        jy_vcheck_not_zero(b, args[1], "division by zero");
    switch (op) {
    case JY_NB_ADD:
        result = jy_ve2(b, JY_FLOW_ADD, JY_F_F64, args[0], args[1]);
        break;
    case JY_NB_SUBTRACT:
        result = jy_ve2(b, JY_FLOW_SUB, JY_F_F64, args[0], args[1]);
        break;
    case JY_NB_MULTIPLY:
        result = jy_ve2(b, JY_FLOW_MUL, JY_F_F64, args[0], args[1]);
        break;
    case JY_NB_TRUE_DIVIDE:
        result = jy_ve2(b, JY_FLOW_DIV, JY_F_F64, args[0], args[1]);
        break;
    case JY_NB_FLOOR_DIVIDE:
        result = jy_vhelp(b, "float_floordiv", 2, args, NULL);
        break;
    case JY_NB_REMAINDER:
        result = jy_vhelp(b, "float_mod", 2, args, NULL);
        break;
    case JY_NB_POWER:
        result = jy_vhelp(b, "float_pow", 2, args, "a power that raises or is complex");
        break;
    case JY_NB_AND:
    case JY_NB_LSHIFT:
    case JY_NB_MATMUL:
    case JY_NB_OR:
    case JY_NB_RSHIFT:
    case JY_NB_XOR:
        return jy_vb_lacks(b, "an operator that floats do not have");
    default:
        return jy_vb_lacks(b, "an unknown operator");
    }
    *out = jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, result);
    return JY_OK;
}

/* ---- all of them ---- */

jy_status
jy_vnum_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *x, struct jy_val *y)
{
    x = jy_vnumber(b, x);
    y = jy_vnumber(b, y);
    bool complex = x->kind == JY_K_COMPLEX || y->kind == JY_K_COMPLEX;
    bool numbers = (jy_val_is_number(x) || x->kind == JY_K_COMPLEX) && (jy_val_is_number(y) || y->kind == JY_K_COMPLEX);
    if (complex && numbers)
        return jy_vcomplex_binary(b, out, op, x, y);
    if (!numbers)
        return jy_vb_lacks(b, "an operator on %s and %s", jy_val_describe(b, x), jy_val_describe(b, y));
    if (x->kind == JY_K_NP || y->kind == JY_K_NP)
        return jy_vscalar_binary(b, out, op, x, y);
    return is_python_int(x) && is_python_int(y) ? int_binary(b, out, op, x, y) : float_binary(b, out, op, x, y);
}

static jy_status
int_unary(struct jy_vbuild *b, jy_fv *out, enum jy_unary op, enum jy_ftype type, jy_fv x)
{
    switch (op) {
    case JY_UNARY_POSITIVE:
        *out = x;
        return JY_OK;
    case JY_UNARY_NEGATIVE:
        *out = jy_ve1x(b, JY_FLOW_NEG, type, x, "int overflow");
        return JY_OK;
    case JY_UNARY_ABS:
        *out = jy_ve1x(b, JY_FLOW_ABS, type, x, "int overflow");
        return JY_OK;
    case JY_UNARY_INVERT:
        *out = jy_ve1(b, JY_FLOW_NOT, type, x);
        return JY_OK;
    }
    return JY_BREAK;
}

static jy_status
float_unary(struct jy_vbuild *b, jy_fv *out, enum jy_unary op, enum jy_ftype type, jy_fv x)
{
    if (op == JY_UNARY_INVERT)
        return jy_vb_lacks(b, "~ of a float");
    *out = op == JY_UNARY_POSITIVE ? x : jy_ve1(b, op == JY_UNARY_ABS ? JY_FLOW_ABS : JY_FLOW_NEG, type, x);
    return JY_OK;
}

jy_status
jy_vnum_unary(struct jy_vbuild *b, struct jy_val **out, enum jy_unary op, struct jy_val *x)
{
    jy_fv result = JY_NO_FV;
    if (op != JY_UNARY_POSITIVE) /* that is the very object */
        x = jy_vnumber(b, x);
    if (x->kind == JY_K_COMPLEX)
        return jy_vcomplex_unary(b, out, op, x);
    if (x->kind == JY_K_INT || (x->kind == JY_K_BOOL && op != JY_UNARY_INVERT)) {
        TRY(int_unary(b, &result, op, JY_F_I64, as_int64(b, x)));
        *out = x->kind == JY_K_INT && op == JY_UNARY_POSITIVE ? x : jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, result);
        return JY_OK;
    }
    if (x->kind == JY_K_FLOAT) {
        TRY(float_unary(b, &result, op, JY_F_F64, x->regs[0]));
        *out = jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, result);
        return JY_OK;
    }
    if (x->kind == JY_K_NP)
        return jy_vscalar_unary(b, out, op, x);
    return jy_vb_lacks(b, "an operator on %s", jy_val_describe(b, x));
}

/* ---- comparison and truth ---- */

jy_status
jy_vnum_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *p, struct jy_val *q)
{
    static const uint8_t ops[] = { [JY_LT] = JY_FLOW_LT, [JY_LE] = JY_FLOW_LE, [JY_EQ] = JY_FLOW_EQ,
                                   [JY_NE] = JY_FLOW_NE, [JY_GT] = JY_FLOW_GT, [JY_GE] = JY_FLOW_GE };
    p = jy_vnumber(b, p);
    q = jy_vnumber(b, q);
    if (p->kind == JY_K_COMPLEX || q->kind == JY_K_COMPLEX)
        return jy_vcomplex_compare(b, out, op, p, q);
    if (!jy_val_is_number(p) || !jy_val_is_number(q))
        return jy_vb_lacks(b, "a comparison of %s and %s", jy_val_describe(b, p), jy_val_describe(b, q));
    if (p->kind == JY_K_NP || q->kind == JY_K_NP)
        return jy_vscalar_compare(b, out, op, p, q);
    jy_fv x, y;
    if (is_python_int(p) && is_python_int(q)) {
        x = as_int64(b, p);
        y = as_int64(b, q);
    } else { /* CPython compares the values that they stand for */
        x = is_python_int(p) ? jy_ve1x(b, JY_FLOW_TO_FLOAT, JY_F_F64, as_int64(b, p), "a large int and a float")
                             : p->regs[0];
        y = is_python_int(q) ? jy_ve1x(b, JY_FLOW_TO_FLOAT, JY_F_F64, as_int64(b, q), "a large int and a float")
                             : q->regs[0];
    }
    *out = jy_val_reg(b, JY_K_BOOL, JY_DTYPE_NONE, jy_ve2(b, (enum jy_fop)ops[op], JY_F_I1, x, y));
    return JY_OK;
}

bool
jy_vtruth_known(const struct jy_vbuild *b, bool *out, const struct jy_val *v)
{
    (void)b;
    if (v->kind == JY_K_KNOWN && v->known->v_kind == JY_V_CONST && v->known->v_object == Py_None) {
        *out = false;
        return true;
    }
    if (v->kind == JY_K_TUPLE || v->kind == JY_K_CHAR) {
        *out = v->kind == JY_K_CHAR || v->nparts != 0;
        return true;
    }
    return false;
}

jy_status
jy_vtruth(struct jy_vbuild *b, jy_fv *out, struct jy_val *v)
{
    bool known;
    v = jy_vnumber(b, v);
    if (jy_vtruth_known(b, &known, v)) {
        *out = jy_vbool(b, known);
        return JY_OK;
    }
    if (v->kind == JY_K_BOOL || (v->kind == JY_K_NP && v->dtype == JY_BOOL)) {
        *out = v->regs[0];
        return JY_OK;
    }
    if (v->kind == JY_K_LIST) {
        *out = jy_ve2(b, JY_FLOW_NE, JY_F_I1, jy_vlist_length(b, v), jy_vint(b, 0));
        return JY_OK;
    }
    if (jy_vis_text(v)) {
        jy_fv length;
        TRY(jy_vlength(b, &length, v));
        *out = jy_ve2(b, JY_FLOW_NE, JY_F_I1, length, jy_vint(b, 0));
        return JY_OK;
    }
    if (!jy_val_is_number(v))
        return jy_vb_lacks(b, "the truth of %s", jy_val_describe(b, v));
    union jy_scalar zero = { 0 };
    enum jy_ftype type = jy_val_type(v, 0);
    *out = jy_ve2(b, JY_FLOW_NE, JY_F_I1, v->regs[0], jy_flow_const(b->w, b->block, type, zero));
    return JY_OK;
}
