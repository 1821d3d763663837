/* Casts are C's, as NumPy's are. What C leaves open - a float beyond the integers of the target, NaN, a byte for a bool that is neither 0 nor 1 - is NumPy's own to do. */
#include "runtime/flow_cast.h"
#include <string.h>

#define ANY(x) true
#define TRUTH(x) ((x) <= 1)
#define IN_I32(x) ((double)(x) > -2147483649.0 && (double)(x) < 2147483648.0)
#define IN_I64(x) ((double)(x) >= -0x1p63 && (double)(x) < 0x1p63)

#define VALUE(type, x) (type)(x)
#define NOT_ZERO(type, x) (type)((x) != 0)

#define CAST(name, from_type, to_type, fits, value)                                                                    \
    static bool name(const char *from, int64_t from_stride, char *to, int64_t to_stride, int64_t n)                    \
    {                                                                                                                  \
        for (; n-- > 0; from += from_stride, to += to_stride) {                                                        \
            from_type x;                                                                                               \
            memcpy(&x, from, sizeof x);                                                                                \
            if (!(fits(x)))                                                                                            \
                return false;                                                                                          \
            to_type y = value(to_type, x);                                                                             \
            memcpy(to, &y, sizeof y);                                                                                  \
        }                                                                                                              \
        return true;                                                                                                   \
    }

/* To each of the dtypes that graphs know, too. */
#define CASTS(name, type, in_i32, in_i64, in_float)                                                                    \
    CAST(name##_bool, type, uint8_t, in_float, NOT_ZERO)                                                               \
    CAST(name##_i32, type, int32_t, in_i32, VALUE)                                                                     \
    CAST(name##_i64, type, int64_t, in_i64, VALUE)                                                                     \
    CAST(name##_f32, type, float, in_float, VALUE)                                                                     \
    CAST(name##_f64, type, double, in_float, VALUE)

CASTS(bool, uint8_t, TRUTH, TRUTH, TRUTH)
CASTS(i8, int8_t, ANY, ANY, ANY)
CASTS(i16, int16_t, ANY, ANY, ANY)
CASTS(i32, int32_t, ANY, ANY, ANY)
CASTS(i64, int64_t, ANY, ANY, ANY)
CASTS(u8, uint8_t, ANY, ANY, ANY)
CASTS(u16, uint16_t, ANY, ANY, ANY)
CASTS(u32, uint32_t, ANY, ANY, ANY)
CASTS(u64, uint64_t, ANY, ANY, ANY)
CASTS(f32, float, IN_I32, IN_I64, ANY)
CASTS(f64, double, IN_I32, IN_I64, ANY)

#define ROW(dtype, name)                                                                                               \
    [dtype] = {                                                                                                        \
        [JY_BOOL] = name##_bool, [JY_I32] = name##_i32, [JY_I64] = name##_i64,                                         \
        [JY_F32] = name##_f32,   [JY_F64] = name##_f64,                                                                \
    }

static jy_cast_fn *const casts[JY_ELEMENT_COUNT][JY_DTYPE_COUNT] = {
    ROW(JY_BOOL, bool), ROW(JY_I8, i8),   ROW(JY_I16, i16), ROW(JY_I32, i32), ROW(JY_I64, i64), ROW(JY_U8, u8),
    ROW(JY_U16, u16),   ROW(JY_U32, u32), ROW(JY_U64, u64), ROW(JY_F32, f32), ROW(JY_F64, f64),
};

jy_cast_fn *
jy_cast_of(jy_dtype from, jy_dtype to)
{
    return from < JY_ELEMENT_COUNT && to < JY_DTYPE_COUNT ? casts[from][to] : NULL;
}
