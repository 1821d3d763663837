/* The scalar semantics of scalar.def as functions: one per row and kind of operand, found by a table of pointers.
 *
 * Relies on: -ffp-contract=off and -frounding-math (graph/CMakeLists.txt), one rounding per operation in the operands' precision, and quiet comparison builtins
 * where NumPy is quiet (a plain `<` raises INVALID for a NaN).
 * Guarantees: the bits and the FP status of NumPy's loops on x86-64; the payload and sign of a NaN are not promised. */
#include "graph/scalar.h"
#include "graph/call.h"
#include <assert.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef union jy_scalar (*scalar_fn)(const union jy_scalar *x, jy_dtype dtype, uint32_t *status);

static int64_t
undefined(void)
{
    assert(!"the op is not defined on this dtype");
    abort();
}

static int64_t
truncate_int(int64_t value, bool overflowed, jy_dtype dtype, uint32_t *status)
{
    int64_t result = dtype == JY_I32 ? (int32_t)value : value;
    if (status != NULL && (overflowed || result != value))
        *status |= JY_CALL_RERUN;
    return result;
}

#define DEFINE_WRAP(op)                                                                                                \
    static int64_t wrap_##op(int64_t a, int64_t b, jy_dtype dtype, uint32_t *status)                                   \
    {                                                                                                                  \
        int64_t value;                                                                                                 \
        bool overflowed = __builtin_##op##_overflow(a, b, &value);                                                     \
        return truncate_int(value, overflowed, dtype, status);                                                         \
    }
DEFINE_WRAP(add)
DEFINE_WRAP(sub)
DEFINE_WRAP(mul)

/* NumPy: a count outside of the width leaves nothing; a negative count is such a one. */
static int64_t
shift_left(int64_t a, int64_t count, jy_dtype dtype)
{
    int64_t bits = 8 * jy_dtype_info[dtype].bytes;
    return count < 0 || count >= bits ? 0 : truncate_int((int64_t)((uint64_t)a << count), false, dtype, NULL);
}

static union jy_scalar
int_value(int64_t i)
{
    return (union jy_scalar){ .i = i };
}

#define GT(a, b) __builtin_isgreater(a, b)
#define GE(a, b) __builtin_isgreaterequal(a, b)
#define NAN_(a) __builtin_isunordered(a, a)
#define IF (x[0].i != 0)
#define X undefined()

#define DEFINE_CLIP(name, type)                                                                                        \
    static type name(type a, type low, type high)                                                                      \
    {                                                                                                                  \
        type t = GT(a, low) || NAN_(a) ? a : low;                                                                      \
        return GT(high, t) || NAN_(t) ? t : high;                                                                      \
    }
DEFINE_CLIP(clip_f64, double)
DEFINE_CLIP(clip_f32, float)

#define BODY(kind, name, ...)                                                                                          \
    static union jy_scalar kind##_##name(const union jy_scalar *x, jy_dtype dtype, uint32_t *status)                   \
    {                                                                                                                  \
        (void)x, (void)dtype, (void)status;                                                                            \
        __VA_ARGS__                                                                                                    \
    }

#define A (x[0].i)
#define B (x[1].i)
#define C (x[2].i)
#define BITS (8 * jy_dtype_info[dtype].bytes)
#define WRAP(op, a, b) wrap_##op(a, b, dtype, status)
#define SAME(op, on_bool, on_int, on_float)                                                                            \
    BODY(bool, op, return int_value(on_bool);)                                                                         \
    BODY(int, op, return int_value(on_int);)
#define TRUTH SAME
#include "graph/scalar.def"
#undef A
#undef B
#undef C
#undef SAME
#undef TRUTH

/* The float rows, once per precision; the value's unused half is zero, so that equal values have equal bits. */
#define A (x[0].FIELD)
#define B (x[1].FIELD)
#define C (x[2].FIELD)

#define FIELD d
#define FN(f) f
#define clip clip_f64
#define SAME(op, on_bool, on_int, on_float)                                                                            \
    BODY(f64, op, union jy_scalar r = { 0 }; r.d = (double)(on_float); return r;)
#define TRUTH(op, on_bool, on_int, on_float) BODY(f64, op, return int_value(on_float);)
#include "graph/scalar.def"
#undef FIELD
#undef FN
#undef clip
#undef SAME
#undef TRUTH

#define FIELD f
#define FN(fn) fn##f
#define clip clip_f32
#define SAME(op, on_bool, on_int, on_float) BODY(f32, op, union jy_scalar r = { 0 }; r.f = (float)(on_float); return r;)
#define TRUTH(op, on_bool, on_int, on_float) BODY(f32, op, return int_value(on_float);)
#include "graph/scalar.def"
#undef SAME
#undef TRUTH
#undef A
#undef B
#undef C

/* ORDER dtype */
static const scalar_fn table[JY_OP_COUNT][JY_DTYPE_COUNT] = {
#define SAME(op, on_bool, on_int, on_float)                                                                            \
    [JY_OP_##op] = {                                                                                                   \
        [JY_BOOL] = bool_##op, [JY_I32] = int_##op, [JY_I64] = int_##op, [JY_F32] = f32_##op, [JY_F64] = f64_##op      \
    },
#define TRUTH SAME
#include "graph/scalar.def"
#undef SAME
#undef TRUTH
};

/* "X" as text tells which kinds a row leaves out. */
static bool
row_has(const char *on_bool, const char *on_int, const char *on_float, jy_dtype dtype)
{
    const char *expression = dtype == JY_BOOL ? on_bool : jy_dtype_is_float(dtype) ? on_float : on_int;
    return strcmp(expression, "X") != 0;
}

bool
jy_scalar_has(jy_op op, jy_dtype dtype)
{
#define SAME(name, on_bool, on_int, on_float)                                                                          \
    if (op == JY_OP_##name)                                                                                            \
        return row_has(#on_bool, #on_int, #on_float, dtype);
#define TRUTH SAME
#include "graph/scalar.def"
#undef SAME
#undef TRUTH
    return false;
}

union jy_scalar
jy_scalar_apply(jy_op op, jy_dtype dtype, const union jy_scalar *args, uint32_t *status)
{
    assert(jy_scalar_has(op, dtype));
    return table[op][dtype](args, dtype, status);
}

jy_dtype
jy_scalar_result_dtype(jy_op op, jy_dtype dtype)
{
    return jy_op_info[op].result == JY_RESULT_BOOL ? JY_BOOL : dtype;
}

static double
as_double(jy_dtype from, union jy_scalar value)
{
    return from == JY_F64 ? value.d : from == JY_F32 ? value.f : (double)value.i;
}

/* What cvttsd2si gives: the smallest integer, with INVALID, for what does not fit. */
static int64_t
double_to_int(double value, jy_dtype to)
{
    double low = to == JY_I32 ? -0x1p31 : -0x1p63;
    bool fits = to == JY_I32 ? GT(value, low - 1) && GT(-low, value) : GE(value, low) && GT(-low, value);
    if (fits)
        return (int64_t)value;
    feraiseexcept(FE_INVALID);
    return to == JY_I32 ? INT32_MIN : INT64_MIN;
}

union jy_scalar
jy_scalar_cast(jy_dtype from, jy_dtype to, union jy_scalar value)
{
    union jy_scalar result = { 0 };
    bool is_float = jy_dtype_is_float(from);
    switch ((int)to) {
    case JY_BOOL:
        result.i = is_float ? as_double(from, value) != 0 : value.i != 0;
        break;
    case JY_I32:
    case JY_I64:
        result.i = is_float ? double_to_int(as_double(from, value), to) : truncate_int(value.i, false, to, NULL);
        break;
    case JY_F32: /* an int64 is rounded once, not through float64 */
        result.f = from == JY_F32 ? value.f : from == JY_F64 ? (float)value.d : (float)value.i;
        break;
    case JY_F64:
        result.d = as_double(from, value);
        break;
    default: /* no graph has it */
        undefined();
    }
    return result;
}

union jy_scalar
jy_scalar_load(jy_dtype dtype, const void *at)
{
    union jy_scalar value = { 0 };
    int32_t i32;
    uint8_t truth;
    switch ((int)dtype) {
    case JY_BOOL:
        memcpy(&truth, at, sizeof(truth));
        value.i = truth != 0;
        break;
    case JY_I32:
        memcpy(&i32, at, sizeof(i32));
        value.i = i32;
        break;
    case JY_F32:
        memcpy(&value.f, at, sizeof(value.f));
        break;
    case JY_I64:
    case JY_F64:
        memcpy(&value.bits, at, sizeof(value.bits));
        break;
    default: /* no graph has it */
        undefined();
    }
    return value;
}

void
jy_scalar_store(jy_dtype dtype, void *at, union jy_scalar value)
{
    int32_t i32 = (int32_t)value.i;
    uint8_t truth = value.i != 0;
    switch ((int)dtype) {
    case JY_BOOL:
        memcpy(at, &truth, sizeof(truth));
        break;
    case JY_I32:
        memcpy(at, &i32, sizeof(i32));
        break;
    case JY_F32:
        memcpy(at, &value.f, sizeof(value.f));
        break;
    case JY_I64:
    case JY_F64:
        memcpy(at, &value.bits, sizeof(value.bits));
        break;
    default: /* no graph has it */
        undefined();
    }
}
