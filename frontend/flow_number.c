/* Operators on numbers, each with the rules of its own kind: Python's ints leave where 64 bits do not hold the result, its floats where they raise; NumPy's scalars promote by NEP 50 and leave
 * where they would warn. */
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
    if (v->kind == JY_K_FLOAT || (v->kind == JY_K_NP && v->dtype == JY_F64))
        *out = v->regs[0];
    else if (is_python_int(v))
        *out = jy_ve1(b, JY_FLOW_TO_FLOAT, JY_F_F64, as_int64(b, v));
    else if (v->kind == JY_K_NP && v->dtype == JY_F32)
        *out = jy_ve1(b, JY_FLOW_WIDEN, JY_F_F64, v->regs[0]);
    else
        return jy_vb_lacks(b, "%s as a float", jy_val_describe(b, v));
    return JY_OK;
}

jy_status
jy_vas_index(struct jy_vbuild *b, jy_fv *out, struct jy_val *v)
{
    if (is_python_int(v))
        *out = as_int64(b, v);
    else if (v->kind == JY_K_NP && v->dtype == JY_I64)
        *out = v->regs[0];
    else if (v->kind == JY_K_NP && v->dtype == JY_I32)
        *out = jy_ve1(b, JY_FLOW_SEXT, JY_F_I64, v->regs[0]);
    else
        return jy_vb_lacks(b, "%s as an index", jy_val_describe(b, v));
    return JY_OK;
}

/* ---- Python's ints ---- */

static jy_status
true_division(struct jy_vbuild *b, struct jy_val **out, jy_fv x, jy_fv y)
{
    jy_vcheck(b, jy_ve2(b, JY_FLOW_NE, JY_F_I1, y, jy_vint(b, 0)), "division by zero");
    jy_fv a = jy_ve1x(b, JY_FLOW_TO_FLOAT, JY_F_F64, x, "large integers divided");
    jy_fv c = jy_ve1x(b, JY_FLOW_TO_FLOAT, JY_F_F64, y, "large integers divided");
    *out = jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, jy_ve2(b, JY_FLOW_DIV, JY_F_F64, a, c));
    return JY_OK;
}

static jy_status
int_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *p, struct jy_val *q)
{
    static const uint8_t ops[] = {
        [JY_NB_ADD] = JY_FLOW_ADD,       [JY_NB_SUBTRACT] = JY_FLOW_SUB,
        [JY_NB_MULTIPLY] = JY_FLOW_MUL,  [JY_NB_FLOOR_DIVIDE] = JY_FLOW_FLOORDIV,
        [JY_NB_REMAINDER] = JY_FLOW_FLOORMOD, [JY_NB_LSHIFT] = JY_FLOW_SHL,
        [JY_NB_RSHIFT] = JY_FLOW_SHR,    [JY_NB_AND] = JY_FLOW_AND,
        [JY_NB_OR] = JY_FLOW_OR,         [JY_NB_XOR] = JY_FLOW_XOR,
    };
    bool bitwise = op == JY_NB_AND || op == JY_NB_OR || op == JY_NB_XOR;
    if (bitwise && p->kind == JY_K_BOOL && q->kind == JY_K_BOOL) {
        *out = jy_val_reg(b, JY_K_BOOL, JY_DTYPE_NONE,
                          jy_ve2(b, (enum jy_fop)ops[op], JY_F_I1, p->regs[0], q->regs[0]));
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
        jy_vcheck(b, jy_ve2(b, JY_FLOW_NE, JY_F_I1, args[1], jy_vfloat(b, 0)), "division by zero");
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

/* ---- NumPy's scalars ---- */

/* NEP 50: numbers of Python's own are weak. JY_DTYPE_NONE: it is no case of this table. */
static jy_dtype
promote(const struct jy_val *p, const struct jy_val *q)
{
    if (p->kind == JY_K_NP && q->kind == JY_K_NP)
        return jy_dtype_promote((jy_dtype)p->dtype, (jy_dtype)q->dtype);
    const struct jy_val *np = p->kind == JY_K_NP ? p : q, *weak = np == p ? q : p;
    jy_dtype dtype = (jy_dtype)np->dtype;
    if (weak->kind == JY_K_BOOL)
        return dtype;
    if (weak->kind == JY_K_INT)
        return dtype == JY_BOOL ? JY_I64 : dtype;
    return jy_dtype_is_float(dtype) ? dtype : JY_F64;
}

static bool
is_int_dtype(jy_dtype dtype)
{
    return dtype == JY_I32 || dtype == JY_I64;
}

/* The number as one of that dtype, as NumPy converts the operand of an operator. */
static jy_status
convert(struct jy_vbuild *b, jy_fv *out, const struct jy_val *v, jy_dtype to)
{
    jy_dtype from = v->kind == JY_K_NP      ? (jy_dtype)v->dtype
                    : v->kind == JY_K_FLOAT ? JY_F64
                    : v->kind == JY_K_BOOL  ? JY_BOOL
                                            : JY_I64;
    enum jy_ftype type = jy_vtype_of_dtype(to);
    jy_fv x = v->regs[0];
    if (from == to) {
        *out = x;
        return JY_OK;
    }
    if (from == JY_BOOL)
        x = jy_ve1(b, JY_FLOW_ZEXT, to == JY_I32 ? JY_F_I32 : JY_F_I64, x);
    if (from == JY_BOOL && is_int_dtype(to)) {
        *out = x;
    } else if (from == JY_I32 && to == JY_I64) {
        *out = jy_ve1(b, JY_FLOW_SEXT, JY_F_I64, x);
    } else if (from == JY_I64 && to == JY_I32) {
        *out = jy_ve1x(b, JY_FLOW_NARROW, JY_F_I32, x, "an int that the dtype does not hold");
    } else if (to == JY_F64 && (from == JY_I64 || from == JY_I32 || from == JY_BOOL)) {
        *out = jy_ve1(b, JY_FLOW_TO_FLOAT, type, x);
    } else if (from == JY_F32 && to == JY_F64) {
        *out = jy_ve1(b, JY_FLOW_WIDEN, type, x);
    } else if (from == JY_F64 && to == JY_F32) {
        *out = jy_ve1(b, JY_FLOW_ROUND, type, x);
        jy_fv back = jy_ve1(b, JY_FLOW_WIDEN, JY_F_F64, *out);
        jy_vflagged(b, back, x, x, "a float that the dtype does not hold");
    } else if (to == JY_F32) {
        jy_fv wide = from == JY_I64 ? jy_ve1x(b, JY_FLOW_TO_FLOAT, JY_F_F64, x, "a large int as a float32")
                                    : jy_ve1(b, JY_FLOW_TO_FLOAT, JY_F_F64, x);
        *out = jy_ve1(b, JY_FLOW_ROUND, type, wide);
    } else {
        return jy_vb_lacks(b, "%s as %s", jy_val_describe(b, v), jy_dtype_info[to].text);
    }
    return JY_OK;
}

static void
flagged(struct jy_vbuild *b, jy_fv result, jy_fv x, jy_fv y)
{
    b->w->w_np_flags = true;
    jy_vflagged(b, result, x, y, "a warning");
}

static jy_status
np_float_binary(struct jy_vbuild *b, jy_fv *out, enum jy_nb op, jy_dtype dtype, jy_fv x, jy_fv y)
{
    enum jy_ftype type = jy_vtype_of_dtype(dtype);
    jy_fv args[] = { x, y };
    switch ((int)op) {
    case JY_NB_ADD:
        *out = jy_ve2(b, JY_FLOW_ADD, type, x, y);
        break;
    case JY_NB_SUBTRACT:
        *out = jy_ve2(b, JY_FLOW_SUB, type, x, y);
        break;
    case JY_NB_MULTIPLY:
        *out = jy_ve2(b, JY_FLOW_MUL, type, x, y);
        break;
    case JY_NB_TRUE_DIVIDE:
        *out = jy_ve2(b, JY_FLOW_DIV, type, x, y);
        break;
    case JY_NB_POWER:
        if (dtype != JY_F64)
            return jy_vb_lacks(b, "a power of float32");
        *out = jy_vhelp(b, "pow", 2, args, NULL);
        break;
    default:
        return jy_vb_lacks(b, "an operator on %s", jy_dtype_info[dtype].text);
    }
    flagged(b, *out, x, y);
    return JY_OK;
}

static jy_status
np_int_binary(struct jy_vbuild *b, jy_fv *out, enum jy_nb op, jy_dtype dtype, jy_fv x, jy_fv y)
{
    static const int8_t ops[] = {
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
        [JY_NB_MATMUL] = -1,
        [JY_NB_POWER] = -1,
        [JY_NB_TRUE_DIVIDE] = -1,
    };
    enum jy_ftype type = jy_vtype_of_dtype(dtype);
    if (ops[op] < 0)
        return jy_vb_lacks(b, "an operator on %s", jy_dtype_info[dtype].text);
    bool quiet = op == JY_NB_AND || op == JY_NB_OR || op == JY_NB_XOR;
    *out = quiet ? jy_ve2(b, (enum jy_fop)ops[op], type, x, y)
                 : jy_ve2x(b, (enum jy_fop)ops[op], type, x, y, "a warning or an error");
    return JY_OK;
}

static jy_status
np_bool_binary(struct jy_vbuild *b, jy_fv *out, enum jy_nb op, jy_fv x, jy_fv y)
{
    switch ((int)op) {
    case JY_NB_AND:
    case JY_NB_MULTIPLY:
        *out = jy_ve2(b, JY_FLOW_AND, JY_F_I1, x, y);
        return JY_OK;
    case JY_NB_OR:
    case JY_NB_ADD:
        *out = jy_ve2(b, JY_FLOW_OR, JY_F_I1, x, y);
        return JY_OK;
    case JY_NB_XOR:
        *out = jy_ve2(b, JY_FLOW_XOR, JY_F_I1, x, y);
        return JY_OK;
    default:
        return jy_vb_lacks(b, "an operator on numpy.bool");
    }
}

/* NumPy computes powers of these by its loop for arrays, which gives other bits than C's pow(). */
static bool
is_whole_and_float(const struct jy_val *np, const struct jy_val *python)
{
    return np->kind == JY_K_NP && !jy_dtype_is_float((jy_dtype)np->dtype) && python->kind == JY_K_FLOAT;
}

static jy_status
np_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *p, struct jy_val *q)
{
    jy_dtype dtype = promote(p, q);
    if (op == JY_NB_TRUE_DIVIDE && !jy_dtype_is_float(dtype))
        dtype = JY_F64;
    jy_fv x, y, result = JY_NO_FV;
    if (op == JY_NB_POWER && (is_whole_and_float(p, q) || is_whole_and_float(q, p)))
        return jy_vb_lacks(b, "a power of a NumPy integer and a float");
    TRY(convert(b, &x, p, dtype));
    TRY(convert(b, &y, q, dtype));
    if (jy_dtype_is_float(dtype))
        TRY(np_float_binary(b, &result, op, dtype, x, y));
    else if (dtype == JY_BOOL)
        TRY(np_bool_binary(b, &result, op, x, y));
    else
        TRY(np_int_binary(b, &result, op, dtype, x, y));
    *out = jy_val_reg(b, JY_K_NP, dtype, result);
    return JY_OK;
}

/* ---- all of them ---- */

jy_status
jy_vnum_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *x, struct jy_val *y)
{
    bool complex = x->kind == JY_K_COMPLEX || y->kind == JY_K_COMPLEX;
    bool numbers = (jy_val_is_number(x) || x->kind == JY_K_COMPLEX) && (jy_val_is_number(y) || y->kind == JY_K_COMPLEX);
    if (complex && numbers)
        return jy_vcomplex_binary(b, out, op, x, y);
    if (!numbers)
        return jy_vb_lacks(b, "an operator on %s and %s", jy_val_describe(b, x), jy_val_describe(b, y));
    if (x->kind == JY_K_NP || y->kind == JY_K_NP)
        return np_binary(b, out, op, x, y);
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
    if (x->kind == JY_K_COMPLEX)
        return jy_vcomplex_unary(b, out, op, x);
    if (x->kind == JY_K_INT || (x->kind == JY_K_BOOL && op != JY_UNARY_INVERT)) {
        TRY(int_unary(b, &result, op, JY_F_I64, as_int64(b, x)));
        *out = x->kind == JY_K_INT && op == JY_UNARY_POSITIVE ? x
                                                              : jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, result);
        return JY_OK;
    }
    if (x->kind == JY_K_FLOAT) {
        TRY(float_unary(b, &result, op, JY_F_F64, x->regs[0]));
        *out = jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, result);
        return JY_OK;
    }
    if (x->kind != JY_K_NP)
        return jy_vb_lacks(b, "an operator on %s", jy_val_describe(b, x));
    jy_dtype dtype = (jy_dtype)x->dtype;
    enum jy_ftype type = jy_vtype_of_dtype(dtype);
    if (jy_dtype_is_float(dtype))
        TRY(float_unary(b, &result, op, type, x->regs[0]));
    else if (is_int_dtype(dtype))
        TRY(int_unary(b, &result, op, type, x->regs[0]));
    else if (op == JY_UNARY_INVERT)
        result = jy_ve1(b, JY_FLOW_NOT, type, x->regs[0]);
    else
        return jy_vb_lacks(b, "an operator on numpy.bool");
    *out = jy_val_reg(b, JY_K_NP, dtype, result);
    return JY_OK;
}

/* ---- comparison and truth ---- */

jy_status
jy_vnum_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *p, struct jy_val *q)
{
    static const uint8_t ops[] = { [JY_LT] = JY_FLOW_LT, [JY_LE] = JY_FLOW_LE, [JY_EQ] = JY_FLOW_EQ,
                                   [JY_NE] = JY_FLOW_NE, [JY_GT] = JY_FLOW_GT, [JY_GE] = JY_FLOW_GE };
    if (p->kind == JY_K_COMPLEX || q->kind == JY_K_COMPLEX)
        return jy_vcomplex_compare(b, out, op, p, q);
    if (!jy_val_is_number(p) || !jy_val_is_number(q))
        return jy_vb_lacks(b, "a comparison of %s and %s", jy_val_describe(b, p), jy_val_describe(b, q));
    bool np = p->kind == JY_K_NP || q->kind == JY_K_NP;
    jy_fv x, y;
    if (np) {
        jy_dtype dtype = promote(p, q);
        TRY(convert(b, &x, p, dtype));
        TRY(convert(b, &y, q, dtype));
        if (dtype == JY_BOOL) {
            x = jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64, x);
            y = jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64, y);
        }
    } else if (is_python_int(p) && is_python_int(q)) {
        x = as_int64(b, p);
        y = as_int64(b, q);
    } else { /* CPython compares the values that they stand for */
        x = is_python_int(p) ? jy_ve1x(b, JY_FLOW_TO_FLOAT, JY_F_F64, as_int64(b, p), "a large int and a float")
                             : p->regs[0];
        y = is_python_int(q) ? jy_ve1x(b, JY_FLOW_TO_FLOAT, JY_F_F64, as_int64(b, q), "a large int and a float")
                             : q->regs[0];
    }
    jy_fv result = jy_ve2(b, (enum jy_fop)ops[op], JY_F_I1, x, y);
    *out = np ? jy_val_reg(b, JY_K_NP, JY_BOOL, result) : jy_val_reg(b, JY_K_BOOL, JY_DTYPE_NONE, result);
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
    if (v->kind == JY_K_TUPLE) {
        *out = v->nparts != 0;
        return true;
    }
    return false;
}

jy_status
jy_vtruth(struct jy_vbuild *b, jy_fv *out, struct jy_val *v)
{
    bool known;
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
    if (!jy_val_is_number(v))
        return jy_vb_lacks(b, "the truth of %s", jy_val_describe(b, v));
    union jy_scalar zero = { 0 };
    enum jy_ftype type = jy_val_type(v, 0);
    *out = jy_ve2(b, JY_FLOW_NE, JY_F_I1, v->regs[0], jy_flow_const(b->w, b->block, type, zero));
    return JY_OK;
}
