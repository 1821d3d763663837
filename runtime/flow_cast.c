/* Casts are C's, as NumPy's are. What C leaves open - a float beyond the integers of the target, NaN, a byte for a bool that is neither 0 nor 1 - is NumPy's own to do. */
#include "runtime/flow_cast.h"
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define ANY(x) ((void)(x), true)
#define TRUTH(x) ((x) <= 1)
#define IN_I32(x) (((double)(x) > -2147483649.0) & ((double)(x) < 2147483648.0))
#define IN_I64(x) (((double)(x) >= -0x1p63) & ((double)(x) < 0x1p63))

#define VALUE(type, x) (type)(x)
#define NOT_ZERO(type, x) (type)((x) != 0)

/* Twice, so that the usual case is one for vectors; all elements are looked at. */
#define CAST_LOOP(from_type, to_type, fits, value, from_step, to_step)                                                 \
    for (int64_t k = 0; k < n; k++) {                                                                                  \
        from_type x;                                                                                                   \
        memcpy(&x, from + k * (from_step), sizeof x);                                                                  \
        good &= fits(x);                                                                                               \
        to_type y = value(to_type, x);                                                                                 \
        memcpy(to + k * (to_step), &y, sizeof y);                                                                      \
    }
#define CAST(name, from_type, to_type, fits, value)                                                                    \
    static bool name(const char *restrict from, int64_t from_stride, char *restrict to, int64_t to_stride, int64_t n)  \
    {                                                                                                                  \
        bool good = true;                                                                                              \
        if (from_stride == (int64_t)sizeof(from_type) && to_stride == (int64_t)sizeof(to_type))                        \
            CAST_LOOP(from_type, to_type, fits, value, (int64_t)sizeof(from_type), (int64_t)sizeof(to_type))           \
        else                                                                                                           \
            CAST_LOOP(from_type, to_type, fits, value, from_stride, to_stride)                                         \
        return good;                                                                                                   \
    }

/* Floats to integers: the processor itself says `invalid` of what does not fit, so nothing is compared. */
#ifdef __SSE2__
#define FITS_I32(x) ANY(x)
#define FITS_I64(x) ANY(x)
#define F64_I32(type, x) (type) _mm_cvttsd_si32(_mm_set_sd(x))
#define F64_I64(type, x) (type) _mm_cvttsd_si64(_mm_set_sd(x))
#define F32_I32(type, x) (type) _mm_cvttss_si32(_mm_set_ss(x))
#define F32_I64(type, x) (type) _mm_cvttss_si64(_mm_set_ss(x))
#else
#define FITS_I32(x) IN_I32(x)
#define FITS_I64(x) IN_I64(x)
#define F64_I32(type, x) (type)(IN_I32(x) ? (x) : 0)
#define F64_I64(type, x) (type)(IN_I64(x) ? (x) : 0)
#define F32_I32(type, x) (type)(IN_I32(x) ? (x) : 0)
#define F32_I64(type, x) (type)(IN_I64(x) ? (x) : 0)
#endif

/* To each of the dtypes that graphs know, too. */
#define CASTS(name, type, in_i32, to_i32, in_i64, to_i64, in_float)                                                    \
    CAST(name##_bool, type, uint8_t, in_float, NOT_ZERO)                                                               \
    CAST(name##_i32, type, int32_t, in_i32, to_i32)                                                                    \
    CAST(name##_i64, type, int64_t, in_i64, to_i64)                                                                    \
    CAST(name##_f32, type, float, in_float, VALUE)                                                                     \
    CAST(name##_f64, type, double, in_float, VALUE)

CASTS(bool, uint8_t, TRUTH, VALUE, TRUTH, VALUE, TRUTH)
CASTS(i8, int8_t, ANY, VALUE, ANY, VALUE, ANY)
CASTS(i16, int16_t, ANY, VALUE, ANY, VALUE, ANY)
CASTS(i32, int32_t, ANY, VALUE, ANY, VALUE, ANY)
CASTS(i64, int64_t, ANY, VALUE, ANY, VALUE, ANY)
CASTS(u8, uint8_t, ANY, VALUE, ANY, VALUE, ANY)
CASTS(u16, uint16_t, ANY, VALUE, ANY, VALUE, ANY)
CASTS(u32, uint32_t, ANY, VALUE, ANY, VALUE, ANY)
CASTS(u64, uint64_t, ANY, VALUE, ANY, VALUE, ANY)
CASTS(f32, float, FITS_I32, F32_I32, FITS_I64, F32_I64, ANY)
CASTS(f64, double, FITS_I32, F64_I32, FITS_I64, F64_I64, ANY)

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
