/* Operators on NumPy's scalars, by the rules of NEP 50. Where NumPy would warn or raise, the flow is left before the operation; what wraps or cuts off in silence does so here.
 *
 * Integers: int32 stands in a register of its own width, the others in 64 bits with their value, so that sums, differences and quotients of those below 64 bits are exact and are looked at
 * once: do they lie between the dtype's limits? uint64 has its bits there; what is negative in the register is 2^63 or more. */
#include "frontend/flow.h"

static bool
is_int_dtype(jy_dtype dtype)
{
    return jy_dtype_info[dtype].kind == 'i' || jy_dtype_info[dtype].kind == 'u';
}

/* In 64 bits, with room above. */
static bool
is_small(jy_dtype dtype)
{
    return is_int_dtype(dtype) && dtype != JY_I32 && dtype != JY_I64 && dtype != JY_U64;
}

static int
bits_of(jy_dtype dtype)
{
    return 8 * jy_dtype_info[dtype].bytes;
}

static jy_dtype
dtype_of(const struct jy_val *v)
{
    return v->kind == JY_K_NP      ? (jy_dtype)v->dtype
           : v->kind == JY_K_FLOAT ? JY_F64
           : v->kind == JY_K_BOOL  ? JY_BOOL
                                   : JY_I64;
}

static bool
is_integer(const struct jy_val *v)
{
    return jy_val_is_number(v) && !jy_dtype_is_float(dtype_of(v));
}

static bool
is_u64(const struct jy_val *v)
{
    return v->kind == JY_K_NP && v->dtype == JY_U64;
}

jy_fv
jy_vint_of(struct jy_vbuild *b, const struct jy_val *v)
{
    jy_dtype dtype = dtype_of(v);
    if (dtype == JY_BOOL)
        return jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64, v->regs[0]);
    return dtype == JY_I32 ? jy_ve1(b, JY_FLOW_SEXT, JY_F_I64, v->regs[0]) : v->regs[0];
}

/* ---- limits ---- */

/* x, in 64 bits, is a number of that dtype. */
static void
check_limits(struct jy_vbuild *b, jy_dtype dtype, jy_fv x, const char *what)
{
    int bits = bits_of(dtype);
    if (dtype == JY_I64)
        return;
    if (dtype == JY_U64) {
        jy_vcheck(b, jy_ve2(b, JY_FLOW_GE, JY_F_I1, x, jy_vint(b, 0)), what);
        return;
    }
    if (!jy_dtype_is_unsigned(dtype))
        x = jy_ve2(b, JY_FLOW_ADD, JY_F_I64, x, jy_vint(b, INT64_C(1) << (bits - 1)));
    jy_vcheck(b, jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, x, jy_vint(b, INT64_C(1) << bits)), what);
}

/* What the dtype keeps of x, in 64 bits. */
static jy_fv
cut(struct jy_vbuild *b, jy_dtype dtype, jy_fv x)
{
    static const uint8_t types[] = { [1] = JY_F_I8, [2] = JY_F_I16, [4] = JY_F_I32 };
    uint8_t bytes = jy_dtype_info[dtype].bytes;
    if (bytes == 8)
        return x;
    if (jy_dtype_is_unsigned(dtype))
        return jy_ve2(b, JY_FLOW_AND, JY_F_I64, x, jy_vint(b, (INT64_C(1) << (8 * bytes)) - 1));
    return jy_ve1(b, JY_FLOW_SEXT, JY_F_I64, jy_ve1(b, JY_FLOW_NARROW, (enum jy_ftype)types[bytes], x));
}

/* ---- conversions of operands ---- */

/* NEP 50: numbers of Python's own are weak. */
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

/* An integer as a float64: rounded to the nearest. */
static jy_fv
double_of_int(struct jy_vbuild *b, const struct jy_val *v)
{
    jy_fv x = jy_vint_of(b, v);
    if (is_u64(v))
        jy_vcheck(b, jy_ve2(b, JY_FLOW_GE, JY_F_I1, x, jy_vint(b, 0)), "a large uint64 as a float");
    return jy_ve1(b, JY_FLOW_TO_FLOAT, JY_F_F64, x);
}

static jy_fv
float_from_int(struct jy_vbuild *b, const struct jy_val *v, jy_dtype to)
{
    if (to == JY_F64)
        return double_of_int(b, v);
    if (v->kind == JY_K_NP || v->kind == JY_K_BOOL) /* 16 bits at most: promote() */
        return jy_ve1(b, JY_FLOW_TO_FLOAT, JY_F_F32, jy_vint_of(b, v));
    jy_fv wide = jy_ve1x(b, JY_FLOW_TO_FLOAT, JY_F_F64, v->regs[0], "a large int as a float32");
    return jy_ve1(b, JY_FLOW_ROUND, JY_F_F32, wide);
}

static jy_fv
float_from_float(struct jy_vbuild *b, const struct jy_val *v, jy_dtype to)
{
    jy_fv x = v->regs[0];
    if (dtype_of(v) == to)
        return x;
    if (to == JY_F64)
        return jy_ve1(b, JY_FLOW_WIDEN, JY_F_F64, x);
    jy_fv rounded = jy_ve1(b, JY_FLOW_ROUND, JY_F_F32, x);
    b->w->w_np_flags = true;
    jy_vflagged(b, jy_ve1(b, JY_FLOW_WIDEN, JY_F_F64, rounded), x, x, "a float that the dtype does not hold");
    return rounded;
}

/* An integer as one of a dtype that promote() gave: only Python's may not fit. */
static jy_fv
int_from_int(struct jy_vbuild *b, const struct jy_val *v, jy_dtype to)
{
    const char *const what = "an int that the dtype does not hold";
    if (v->kind == JY_K_NP && v->dtype == to)
        return v->regs[0];
    jy_fv x = jy_vint_of(b, v);
    if (to == JY_I32)
        return v->kind == JY_K_INT ? jy_ve1x(b, JY_FLOW_NARROW, JY_F_I32, x, what)
                                   : jy_ve1(b, JY_FLOW_NARROW, JY_F_I32, x);
    if (v->kind == JY_K_INT)
        check_limits(b, to, x, what);
    return x;
}

/* The number as one of that dtype, as NumPy converts the operand of an operator. */
static jy_fv
operand(struct jy_vbuild *b, const struct jy_val *v, jy_dtype to)
{
    if (to == JY_BOOL)
        return v->regs[0];
    if (!jy_dtype_is_float(to))
        return int_from_int(b, v, to);
    return is_integer(v) ? float_from_int(b, v, to) : float_from_float(b, v, to);
}

/* ---- binary operators ---- */

static void
flagged(struct jy_vbuild *b, jy_fv result, jy_fv x, jy_fv y)
{
    b->w->w_np_flags = true;
    jy_vflagged(b, result, x, y, "a warning");
}

/* Of float64, as Python's: where the divisor is zero NumPy warns. */
static jy_fv
floor_division(struct jy_vbuild *b, enum jy_nb op, jy_fv x, jy_fv y)
{
    jy_fv args[] = { x, y };
    jy_vcheck_not_zero(b, y, "a warning");
    return jy_vhelp(b, op == JY_NB_REMAINDER ? "float_mod" : "float_floordiv", 2, args, NULL);
}

static jy_status
float_binary(struct jy_vbuild *b, jy_fv *out, enum jy_nb op, jy_dtype dtype, jy_fv x, jy_fv y)
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
    case JY_NB_FLOOR_DIVIDE:
    case JY_NB_REMAINDER:
        if (dtype != JY_F64)
            return jy_vb_lacks(b, "a floor division of float32");
        *out = floor_division(b, op, x, y);
        break;
    default:
        return jy_vb_lacks(b, "an operator on %s", jy_dtype_info[dtype].text);
    }
    flagged(b, *out, x, y);
    return JY_OK;
}

/* A product of the number with itself, without a warning. *out NO_FV: it is another power. */
static void
int_power(struct jy_vbuild *b, jy_fv *out, jy_dtype dtype, jy_fv x, jy_fv exponent)
{
    enum { MOST = 8 }; /* taste */
    enum jy_ftype type = jy_vtype_of_dtype(dtype);
    int64_t n;
    *out = JY_NO_FV;
    if (!jy_vconst(b, exponent, &n) || n < 1 || n > MOST)
        return;
    *out = x;
    while (n-- > 1)
        *out = jy_ve2(b, JY_FLOW_MUL, type, *out, x);
    if (is_small(dtype))
        *out = cut(b, dtype, *out);
}

/* Counts that are too large leave nothing, or the sign; bits that are lost are lost in silence. */
static jy_fv
int_shift(struct jy_vbuild *b, enum jy_nb op, jy_dtype dtype, jy_fv x, jy_fv count)
{
    enum jy_ftype type = jy_vtype_of_dtype(dtype);
    int64_t known;
    if (op == JY_NB_LSHIFT) {
        jy_fv shifted = jy_ve2(b, JY_FLOW_SHL, type, x, count);
        return is_small(dtype) ? cut(b, dtype, shifted) : shifted;
    }
    if (dtype == JY_U64)
        return jy_ve2(b, JY_FLOW_USHR, type, x, count);
    bool positive = jy_dtype_is_unsigned(dtype) || (jy_vconst(b, count, &known) && known >= 0);
    return positive ? jy_ve2(b, JY_FLOW_SHR, type, x, count)
                    : jy_ve2x(b, JY_FLOW_SHR, type, x, count, "a negative shift");
}

static jy_fv
u64_arithmetic(struct jy_vbuild *b, enum jy_nb op, jy_fv x, jy_fv y)
{
    jy_fv args[] = { x, y }, result;
    if (op == JY_NB_MULTIPLY)
        return jy_vhelp(b, "uint_mul", 2, args, "a warning");
    if (op == JY_NB_FLOOR_DIVIDE || op == JY_NB_REMAINDER) {
        jy_vcheck_not_zero(b, y, "a warning");
        return jy_vhelp(b, op == JY_NB_REMAINDER ? "uint_mod" : "uint_div", 2, args, NULL);
    }
    bool adds = op == JY_NB_ADD;
    result = jy_ve2(b, adds ? JY_FLOW_ADD : JY_FLOW_SUB, JY_F_I64, x, y);
    jy_fv wraps = jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, adds ? result : x, adds ? x : y);
    jy_vcheck(b, jy_ve1(b, JY_FLOW_NOT, JY_F_I1, wraps), "a warning");
    return result;
}

static jy_fv
int_arithmetic(struct jy_vbuild *b, enum jy_nb op, jy_dtype dtype, jy_fv x, jy_fv y)
{
    static const uint8_t ops[] = { [JY_NB_ADD] = JY_FLOW_ADD,
                                   [JY_NB_SUBTRACT] = JY_FLOW_SUB,
                                   [JY_NB_MULTIPLY] = JY_FLOW_MUL,
                                   [JY_NB_FLOOR_DIVIDE] = JY_FLOW_FLOORDIV,
                                   [JY_NB_REMAINDER] = JY_FLOW_FLOORMOD };
    enum jy_ftype type = jy_vtype_of_dtype(dtype);
    bool divides = op == JY_NB_FLOOR_DIVIDE || op == JY_NB_REMAINDER, small = is_small(dtype);
    int64_t known;
    if (dtype == JY_U64)
        return u64_arithmetic(b, op, x, y);
    bool cannot = divides ? jy_vconst(b, y, &known) && known > 0 : small;
    jy_fv result = cannot ? jy_ve2(b, (enum jy_fop)ops[op], type, x, y)
                          : jy_ve2x(b, (enum jy_fop)ops[op], type, x, y, "a warning");
    if (small && !(divides && (cannot || jy_dtype_is_unsigned(dtype) || op == JY_NB_REMAINDER)))
        check_limits(b, dtype, result, "a warning");
    return result;
}

static jy_status
int_binary(struct jy_vbuild *b, jy_fv *out, enum jy_nb op, jy_dtype dtype, jy_fv x, jy_fv y)
{
    enum jy_ftype type = jy_vtype_of_dtype(dtype);
    switch (op) {
    case JY_NB_AND:
        *out = jy_ve2(b, JY_FLOW_AND, type, x, y);
        return JY_OK;
    case JY_NB_OR:
        *out = jy_ve2(b, JY_FLOW_OR, type, x, y);
        return JY_OK;
    case JY_NB_XOR:
        *out = jy_ve2(b, JY_FLOW_XOR, type, x, y);
        return JY_OK;
    case JY_NB_LSHIFT:
    case JY_NB_RSHIFT:
        *out = int_shift(b, op, dtype, x, y);
        return JY_OK;
    case JY_NB_POWER:
        int_power(b, out, dtype, x, y);
        return *out != JY_NO_FV ? JY_OK : jy_vb_lacks(b, "a power of %s", jy_dtype_info[dtype].text);
    case JY_NB_ADD:
    case JY_NB_SUBTRACT:
    case JY_NB_MULTIPLY:
    case JY_NB_FLOOR_DIVIDE:
    case JY_NB_REMAINDER:
        *out = int_arithmetic(b, op, dtype, x, y);
        return JY_OK;
    case JY_NB_TRUE_DIVIDE:
    case JY_NB_MATMUL:
        break;
    }
    return jy_vb_lacks(b, "an operator on %s", jy_dtype_info[dtype].text);
}

static jy_status
bool_binary(struct jy_vbuild *b, jy_fv *out, enum jy_nb op, jy_fv x, jy_fv y)
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

/* NumPy computes powers of these by its loop for arrays, which may give other bits than C's pow(): an integer and a Python float, two scalars that a third dtype holds. */
static bool
is_power_of_arrays(const struct jy_val *p, const struct jy_val *q, jy_dtype common)
{
    if (!jy_dtype_is_float(common))
        return false;
    if (p->kind == JY_K_NP && q->kind == JY_K_NP)
        return p->dtype != common && q->dtype != common;
    return (p->kind == JY_K_NP ? p : q)->dtype != common;
}

jy_status
jy_vscalar_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *p, struct jy_val *q)
{
    jy_dtype dtype = promote(p, q);
    bool weak = p->kind == JY_K_INT || q->kind == JY_K_INT;
    jy_fv result = JY_NO_FV;
    if (op == JY_NB_POWER && is_power_of_arrays(p, q, dtype))
        return jy_vb_lacks(b, "a power of %s and %s", jy_val_describe(b, p), jy_val_describe(b, q));
    if (op == JY_NB_TRUE_DIVIDE && is_int_dtype(dtype) && weak) { /* it must fit in the integer's dtype before */
        (void)operand(b, p, dtype);
        (void)operand(b, q, dtype);
    }
    if (op == JY_NB_TRUE_DIVIDE && !jy_dtype_is_float(dtype))
        dtype = JY_F64;
    jy_fv x = operand(b, p, dtype), y = operand(b, q, dtype);
    if (jy_dtype_is_float(dtype))
        TRY(float_binary(b, &result, op, dtype, x, y));
    else if (dtype == JY_BOOL)
        TRY(bool_binary(b, &result, op, x, y));
    else
        TRY(int_binary(b, &result, op, dtype, x, y));
    *out = jy_val_reg(b, JY_K_NP, dtype, result);
    return JY_OK;
}

/* ---- unary operators ---- */

static jy_status
int_unary(struct jy_vbuild *b, jy_fv *out, enum jy_unary op, jy_dtype dtype, jy_fv x)
{
    enum jy_ftype type = jy_vtype_of_dtype(dtype);
    bool has_sign = !jy_dtype_is_unsigned(dtype), small = is_small(dtype);
    switch (op) {
    case JY_UNARY_POSITIVE:
        *out = x;
        return JY_OK;
    case JY_UNARY_INVERT:
        *out = jy_ve1(b, JY_FLOW_NOT, type, x);
        if (small && !has_sign)
            *out = cut(b, dtype, *out);
        return JY_OK;
    case JY_UNARY_NEGATIVE:
    case JY_UNARY_ABS:
        break;
    }
    enum jy_fop flow = op == JY_UNARY_ABS ? JY_FLOW_ABS : JY_FLOW_NEG;
    if (!has_sign && op == JY_UNARY_NEGATIVE)
        jy_vcheck(b, jy_ve2(b, JY_FLOW_EQ, JY_F_I1, x, jy_vint(b, 0)), "a warning");
    if (!has_sign) {
        *out = x;
    } else if (small) {
        *out = jy_ve1(b, flow, type, x);
        check_limits(b, dtype, *out, "a warning");
    } else {
        *out = jy_ve1x(b, flow, type, x, "a warning");
    }
    return JY_OK;
}

jy_status
jy_vscalar_unary(struct jy_vbuild *b, struct jy_val **out, enum jy_unary op, struct jy_val *v)
{
    jy_dtype dtype = (jy_dtype)v->dtype;
    enum jy_ftype type = jy_vtype_of_dtype(dtype);
    jy_fv x = v->regs[0], result;
    if (is_int_dtype(dtype))
        TRY(int_unary(b, &result, op, dtype, x));
    else if (jy_dtype_is_float(dtype) && op != JY_UNARY_INVERT)
        result = op == JY_UNARY_POSITIVE ? x : jy_ve1(b, op == JY_UNARY_ABS ? JY_FLOW_ABS : JY_FLOW_NEG, type, x);
    else if (dtype == JY_BOOL && op == JY_UNARY_INVERT)
        result = jy_ve1(b, JY_FLOW_NOT, type, x);
    else
        return jy_vb_lacks(b, "an operator on %s", jy_val_describe(b, v));
    *out = jy_val_reg(b, JY_K_NP, dtype, result);
    return JY_OK;
}

/* ---- comparisons ---- */

/* x < y of integers that one of is a uint64; others are below it where they are negative. */
static jy_fv
is_below(struct jy_vbuild *b, const struct jy_val *p, const struct jy_val *q, jy_fv x, jy_fv y)
{
    jy_fv below = jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, x, y), zero = jy_vint(b, 0);
    if (!is_u64(p))
        return jy_ve2(b, JY_FLOW_OR, JY_F_I1, jy_ve2(b, JY_FLOW_LT, JY_F_I1, x, zero), below);
    if (!is_u64(q))
        return jy_ve2(b, JY_FLOW_AND, JY_F_I1, jy_ve2(b, JY_FLOW_GE, JY_F_I1, y, zero), below);
    return below;
}

static jy_fv
compare_u64(struct jy_vbuild *b, enum jy_compare op, const struct jy_val *p, const struct jy_val *q, jy_fv x, jy_fv y)
{
    bool swap = op == JY_GT || op == JY_LE, negate = op == JY_GE || op == JY_LE || op == JY_NE;
    jy_fv result;
    if (op == JY_EQ || op == JY_NE) {
        result = jy_ve2(b, JY_FLOW_EQ, JY_F_I1, x, y);
        if (!is_u64(p) || !is_u64(q)) {
            jy_fv not_negative = jy_ve2(b, JY_FLOW_GE, JY_F_I1, is_u64(p) ? y : x, jy_vint(b, 0));
            result = jy_ve2(b, JY_FLOW_AND, JY_F_I1, result, not_negative);
        }
    } else {
        result = swap ? is_below(b, q, p, y, x) : is_below(b, p, q, x, y);
    }
    return negate ? jy_ve1(b, JY_FLOW_NOT, JY_F_I1, result) : result;
}

/* Integers of all dtypes and sizes are compared by what they are. */
jy_status
jy_vscalar_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *p, struct jy_val *q)
{
    static const uint8_t ops[] = { [JY_LT] = JY_FLOW_LT, [JY_LE] = JY_FLOW_LE, [JY_EQ] = JY_FLOW_EQ,
                                   [JY_NE] = JY_FLOW_NE, [JY_GT] = JY_FLOW_GT, [JY_GE] = JY_FLOW_GE };
    jy_fv x, y, result;
    if (is_integer(p) && is_integer(q)) {
        bool alike = p->kind == q->kind && p->dtype == JY_I32 && q->dtype == JY_I32;
        x = alike ? p->regs[0] : jy_vint_of(b, p);
        y = alike ? q->regs[0] : jy_vint_of(b, q);
    } else {
        jy_dtype dtype = promote(p, q);
        x = operand(b, p, dtype);
        y = operand(b, q, dtype);
    }
    if (is_integer(p) && is_integer(q) && (is_u64(p) || is_u64(q)))
        result = compare_u64(b, op, p, q, x, y);
    else
        result = jy_ve2(b, (enum jy_fop)ops[op], JY_F_I1, x, y);
    *out = jy_val_reg(b, JY_K_NP, JY_BOOL, result);
    return JY_OK;
}

/* ---- elements of arrays ---- */

/* What an element is in memory; with or without a sign. */
static enum jy_ftype
memory_type(jy_dtype dtype)
{
    static const uint8_t types[] = { [1] = JY_F_I8, [2] = JY_F_I16, [4] = JY_F_I32, [8] = JY_F_I64 };
    return is_int_dtype(dtype) ? (enum jy_ftype)types[jy_dtype_info[dtype].bytes] : jy_vtype_of_dtype(dtype);
}

jy_dtype
jy_vscalar_promote(jy_dtype dtype, const struct jy_val *item)
{
    struct jy_val array = { .kind = JY_K_NP, .dtype = (uint8_t)dtype };
    return promote(&array, item);
}

bool
jy_vscalar_operand(struct jy_vbuild *b, jy_fv *out, jy_dtype to, const struct jy_val *item)
{
    if (jy_vscalar_promote(to, item) != to)
        return false;
    *out = operand(b, item, to);
    if (is_small(to))
        *out = jy_ve1(b, JY_FLOW_NARROW, memory_type(to), *out);
    return true;
}

/* In memory a bool is a byte that is 0 or 1; what else a byte of the array holds is true, too. */
jy_fv
jy_vscalar_load(struct jy_vbuild *b, jy_dtype dtype, jy_fv data, jy_fv offset, uint32_t alias)
{
    if (dtype == JY_BOOL) {
        jy_fv byte = jy_vload(b, JY_F_I8, data, offset, 0, alias);
        return jy_ve2(b, JY_FLOW_NE, JY_F_I1, jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64, byte), jy_vint(b, 0));
    }
    jy_fv value = jy_vload(b, memory_type(dtype), data, offset, 0, alias);
    if (!is_small(dtype))
        return value;
    return jy_ve1(b, jy_dtype_is_unsigned(dtype) ? JY_FLOW_ZEXT : JY_FLOW_SEXT, JY_F_I64, value);
}

/* An integer that is stored: NumPy's own are cut off for dtypes without a sign; all else that does not fit raises. */
static jy_fv
stored_int(struct jy_vbuild *b, jy_dtype to, const struct jy_val *item)
{
    const char *const what = "an int that the dtype does not hold";
    jy_fv x = jy_vint_of(b, item);
    bool fits = item->kind == JY_K_BOOL || (item->kind == JY_K_NP && jy_dtype_promote((jy_dtype)item->dtype, to) == to);
    bool wraps = item->kind == JY_K_NP && jy_dtype_is_unsigned(to);
    if (is_u64(item) && !wraps)
        jy_vcheck(b, jy_ve2(b, JY_FLOW_GE, JY_F_I1, x, jy_vint(b, 0)), what);
    if (!wraps && !fits)
        check_limits(b, to, x, what);
    return x;
}

/* Toward zero; what does not fit warns or raises, or depends on the machine. */
static jy_fv
stored_float_as_int(struct jy_vbuild *b, jy_dtype to, const struct jy_val *item)
{
    const char *const what = "a float that the dtype does not hold";
    jy_fv x = jy_ve1x(b, JY_FLOW_TO_INT, JY_F_I64, float_from_float(b, item, JY_F64), what);
    check_limits(b, to, x, what);
    return x;
}

/* A Python int goes through float64, one of NumPy's is rounded once. */
static jy_fv
stored_as_float(struct jy_vbuild *b, jy_dtype to, const struct jy_val *item)
{
    if (!is_integer(item))
        return float_from_float(b, item, to);
    if (to == JY_F64 || item->kind == JY_K_INT || is_u64(item)) {
        jy_fv wide = double_of_int(b, item);
        if (is_u64(item) && to == JY_F32) /* which is exact below 2^53 */
            jy_vcheck(b, jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, item->regs[0], jy_vint(b, INT64_C(1) << 53)),
                      "a large uint64 as a float");
        return to == JY_F64 ? wide : jy_ve1(b, JY_FLOW_ROUND, JY_F_F32, wide);
    }
    return jy_ve1(b, JY_FLOW_TO_FLOAT, JY_F_F32, jy_vint_of(b, item));
}

static jy_fv
stored_as_bool(struct jy_vbuild *b, const struct jy_val *item)
{
    enum jy_ftype type = jy_val_type(item, 0);
    if (type == JY_F_I1)
        return item->regs[0];
    jy_fv zero = jy_flow_const(b->w, b->block, type, (union jy_scalar){ .i = 0 });
    return jy_ve2(b, JY_FLOW_NE, JY_F_I1, item->regs[0], zero);
}

jy_fv
jy_vscalar_stored(struct jy_vbuild *b, jy_dtype to, const struct jy_val *item)
{
    if (to == JY_BOOL)
        return stored_as_bool(b, item);
    if (jy_dtype_is_float(to))
        return stored_as_float(b, to, item);
    if (item->kind == JY_K_NP && item->dtype == to && to == JY_I32)
        return item->regs[0];
    jy_fv x = is_integer(item) ? stored_int(b, to, item) : stored_float_as_int(b, to, item);
    return jy_dtype_info[to].bytes == 8 ? x : jy_ve1(b, JY_FLOW_NARROW, memory_type(to), x);
}
