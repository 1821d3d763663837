/* What each instruction of the flow IR that depends on its operands only gives, and when its exit is taken: the columns of flow_ops.def, in C.
 *
 * The interpreter, the builder's folding and the passes are made of this one function. Values are in `union jy_scalar` as flow.h says of slots: I1 as 0 or 1, narrow integers
 * sign-extended, F32 in the low half. Nothing is undefined here: where an instruction has no exit and its maker promised that the case does not occur, the result is 0.
 * Floats are computed in their own type, comparisons are quiet, so the FP flags that come up are those of the operation. */
#include "graph/flow.h"
#include <math.h>

/* The low bits of x, as a signed number of that type. */
static int64_t
cut(enum jy_ftype type, int64_t x)
{
    switch ((int)type) {
    case JY_F_I1:
        return x & 1;
    case JY_F_I8:
        return (int8_t)x;
    case JY_F_I16:
        return (int16_t)x;
    case JY_F_I32:
        return (int32_t)x;
    default:
        return x;
    }
}

static int64_t
zero_extended(enum jy_ftype of, int64_t x)
{
    switch ((int)of) {
    case JY_F_I8:
        return (uint8_t)x;
    case JY_F_I16:
        return (uint16_t)x;
    case JY_F_I32:
        return (uint32_t)x;
    default:
        return x;
    }
}

static bool
shift_left(int64_t *out, enum jy_ftype type, int64_t x, int64_t count)
{
    int64_t bits = type == JY_F_I32 ? 32 : 64;
    *out = 0;
    if (count < 0)
        return false;
    if (count >= bits)
        return x == 0;
    *out = cut(type, (int64_t)((uint64_t)x << count));
    return *out >> count == x;
}

static bool
shift_right(int64_t *out, int64_t x, int64_t count)
{
    *out = count < 0 ? 0 : x >> (count < 63 ? count : 63);
    return count >= 0;
}

static int64_t
shift_right_unsigned(enum jy_ftype type, int64_t x, int64_t count)
{
    if (count < 0 || count >= (type == JY_F_I32 ? 32 : 64))
        return 0;
    return type == JY_F_I32 ? (int32_t)((uint32_t)x >> count) : (int64_t)((uint64_t)x >> count);
}

static bool
divide(int64_t *out, enum jy_ftype type, bool wants_quotient, int64_t x, int64_t y)
{
    *out = 0;
    if (y == 0 || (y == -1 && x == (type == JY_F_I32 ? INT32_MIN : INT64_MIN)))
        return false;
    int64_t quotient = x / y, rest = x % y;
    if (rest != 0 && (rest < 0) != (y < 0)) {
        quotient--;
        rest += y;
    }
    *out = wants_quotient ? quotient : rest;
    return true;
}

static bool
wrap_index(int64_t *out, int64_t index, int64_t extent)
{
    *out = index < 0 ? (int64_t)((uint64_t)index + (uint64_t)extent) : index;
    return *out >= 0 && *out < extent;
}

static bool
apply_int(int64_t *out, enum jy_fop op, enum jy_ftype type, int64_t x, int64_t y)
{
    bool overflows;
    int64_t r;
    switch ((int)op) {
    case JY_FLOW_ADD:
        overflows = __builtin_add_overflow(x, y, &r);
        break;
    case JY_FLOW_SUB:
        overflows = __builtin_sub_overflow(x, y, &r);
        break;
    case JY_FLOW_MUL:
        overflows = __builtin_mul_overflow(x, y, &r);
        break;
    case JY_FLOW_NEG:
        overflows = __builtin_sub_overflow(0, x, &r);
        break;
    case JY_FLOW_ABS:
        overflows = x < 0 && __builtin_sub_overflow(0, x, &r);
        r = x < 0 ? r : x;
        break;
    case JY_FLOW_AND:
        *out = x & y;
        return true;
    case JY_FLOW_OR:
        *out = x | y;
        return true;
    case JY_FLOW_XOR:
        *out = x ^ y;
        return true;
    case JY_FLOW_NOT:
        *out = cut(type, ~x);
        return true;
    case JY_FLOW_MIN:
        *out = x < y ? x : y;
        return true;
    case JY_FLOW_MAX:
        *out = x > y ? x : y;
        return true;
    case JY_FLOW_SHL:
        return shift_left(out, type, x, y);
    case JY_FLOW_SHR:
        return shift_right(out, x, y);
    case JY_FLOW_USHR:
        *out = shift_right_unsigned(type, x, y);
        return true;
    case JY_FLOW_FLOORDIV:
    case JY_FLOW_FLOORMOD:
        return divide(out, type, op == JY_FLOW_FLOORDIV, x, y);
    case JY_FLOW_WRAP:
        return wrap_index(out, x, y);
    default:
        *out = 0;
        return false;
    }
    *out = cut(type, r);
    return !overflows && *out == r;
}

static bool
compare_int(enum jy_fop op, int64_t x, int64_t y)
{
    switch ((int)op) {
    case JY_FLOW_EQ:
        return x == y;
    case JY_FLOW_NE:
        return x != y;
    case JY_FLOW_LT:
        return x < y;
    case JY_FLOW_LE:
        return x <= y;
    case JY_FLOW_GT:
        return x > y;
    case JY_FLOW_GE:
        return x >= y;
    default: /* BELOW; sign extension keeps the unsigned order */
        return (uint64_t)x < (uint64_t)y;
    }
}

static bool
compare_float(enum jy_fop op, double x, double y)
{
    switch ((int)op) {
    case JY_FLOW_EQ:
        return x == y;
    case JY_FLOW_NE:
        return x != y;
    case JY_FLOW_LT:
        return isless(x, y);
    case JY_FLOW_LE:
        return islessequal(x, y);
    case JY_FLOW_GT:
        return isgreater(x, y);
    default:
        return isgreaterequal(x, y);
    }
}

#define FLOAT_OPS(name, type, suffix)                                                                                  \
    static type name(enum jy_fop op, type x, type y)                                                                   \
    {                                                                                                                  \
        switch ((int)op) {                                                                                             \
        case JY_FLOW_ADD:                                                                                              \
            return x + y;                                                                                              \
        case JY_FLOW_SUB:                                                                                              \
            return x - y;                                                                                              \
        case JY_FLOW_MUL:                                                                                              \
            return x * y;                                                                                              \
        case JY_FLOW_DIV:                                                                                              \
            return x / y;                                                                                              \
        case JY_FLOW_NEG:                                                                                              \
            return -x;                                                                                                 \
        case JY_FLOW_ABS:                                                                                              \
            return fabs##suffix(x);                                                                                    \
        case JY_FLOW_SQRT:                                                                                             \
            return sqrt##suffix(x);                                                                                    \
        case JY_FLOW_FLOOR:                                                                                            \
            return floor##suffix(x);                                                                                   \
        case JY_FLOW_CEIL:                                                                                             \
            return ceil##suffix(x);                                                                                    \
        case JY_FLOW_TRUNC:                                                                                            \
            return trunc##suffix(x);                                                                                   \
        case JY_FLOW_RINT:                                                                                             \
            return rint##suffix(x);                                                                                    \
        default:                                                                                                       \
            return copysign##suffix(x, y);                                                                             \
        }                                                                                                              \
    }
FLOAT_OPS(apply_f64, double, )
FLOAT_OPS(apply_f32, float, f)

static double
as_double(enum jy_ftype type, union jy_scalar x)
{
    return type == JY_F_F32 ? (double)x.f : x.d;
}

static bool
to_float(union jy_scalar *out, enum jy_ftype type, int64_t x)
{
    const int64_t exact = INT64_C(1) << 53;
    if (type == JY_F_F32)
        out->f = (float)x;
    else
        out->d = (double)x;
    return -exact <= x && x <= exact;
}

static bool
to_int(union jy_scalar *out, enum jy_ftype type, double x)
{
    bool fits = type == JY_F_I32 ? isgreater(x, -0x1p31 - 1.0) && isless(x, 0x1p31)
                                 : isgreaterequal(x, -0x1p63) && isless(x, 0x1p63);
    out->i = fits ? (int64_t)x : 0;
    return fits;
}

static bool
convert(union jy_scalar *out, enum jy_fop op, enum jy_ftype type, enum jy_ftype of, union jy_scalar x)
{
    switch ((int)op) {
    case JY_FLOW_SEXT:
        out->i = x.i;
        return true;
    case JY_FLOW_ZEXT:
        out->i = zero_extended(of, x.i);
        return true;
    case JY_FLOW_NARROW:
        out->i = cut(type, x.i);
        return out->i == x.i;
    case JY_FLOW_TO_FLOAT:
        return to_float(out, type, x.i);
    case JY_FLOW_TO_INT:
        return to_int(out, type, as_double(of, x));
    case JY_FLOW_WIDEN:
        out->d = (double)x.f;
        return true;
    case JY_FLOW_ROUND:
        out->f = (float)x.d;
        return true;
    default: /* BITS */
        out->bits = x.bits;
        if (type == JY_F_I32)
            out->i = (int32_t)x.i;
        if (type == JY_F_F32)
            out->bits &= UINT32_MAX;
        return true;
    }
}

/* One operation made `r` of x and y: did it raise divide, overflow or invalid? */
static bool
is_flagged(double r, double x, double y)
{
    return (isnan(r) && !isnan(x) && !isnan(y)) || (isinf(r) && !isinf(x) && !isinf(y));
}

bool
jy_flow_apply(union jy_scalar *out, enum jy_fop op, enum jy_ftype type, enum jy_ftype of, const union jy_scalar *args)
{
    bool on_float = of == JY_F_F32 || of == JY_F_F64;
    union jy_scalar x = args[0], y = jy_flow_op_info[op].nargs > 1 ? args[1] : (union jy_scalar){ .i = 0 };
    out->bits = 0;
    if (op >= JY_FLOW_EQ && op <= JY_FLOW_BELOW) {
        out->i = on_float ? compare_float(op, as_double(of, x), as_double(of, y)) : compare_int(op, x.i, y.i);
        return true;
    }
    if (op >= JY_FLOW_SEXT && op <= JY_FLOW_BITS)
        return convert(out, op, type, of, x);
    if (op == JY_FLOW_SELECT) {
        *out = x.i != 0 ? y : args[2];
        return true;
    }
    if (op == JY_FLOW_OFFSET) {
        out->bits = x.bits + y.bits;
        return true;
    }
    if (op == JY_FLOW_CHECK)
        return x.i != 0;
    if (op == JY_FLOW_FLAGGED)
        return !is_flagged(as_double(of, x), as_double(of, y), as_double(of, args[2]));
    if (!on_float)
        return apply_int(&out->i, op, type, x.i, y.i);
    if (of == JY_F_F32)
        out->f = apply_f32(op, x.f, y.f);
    else
        out->d = apply_f64(op, x.d, y.d);
    return true;
}
