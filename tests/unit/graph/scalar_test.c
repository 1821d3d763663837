#include "graph/scalar.h"
#include "graph/call.h"
#include "tests/unit/test.h"
#include <fenv.h>
#include <math.h>

static union jy_scalar
apply_i(jy_op op, jy_dtype dtype, int64_t a, int64_t b, uint32_t *status)
{
    return jy_scalar_apply(op, dtype, (union jy_scalar[3]){ { .i = a }, { .i = b }, { .i = 0 } }, status);
}

static union jy_scalar
apply_d(jy_op op, double a, double b)
{
    return jy_scalar_apply(op, JY_F64, (union jy_scalar[3]){ { .d = a }, { .d = b }, { .d = 0 } }, NULL);
}

TEST(scalar, every_elementwise_op_has_a_row)
{
    for (int op = 0; op < JY_OP_COUNT; op++)
        if (jy_op_info[op].klass == JY_CLASS_EW) {
            bool any = false;
            for (int t = 0; t < JY_DTYPE_COUNT; t++)
                any = any || jy_scalar_has((jy_op)op, (jy_dtype)t);
            CHECK(any);
        }
    CHECK(!jy_scalar_has(JY_OP_EXP, JY_F64));
    CHECK(!jy_scalar_has(JY_OP_SUB, JY_BOOL));
}

TEST(scalar, integers_wrap_in_their_width)
{
    CHECK_INT(apply_i(JY_OP_ADD, JY_I32, INT32_MAX, 1, NULL).i, INT32_MIN);
    CHECK_INT(apply_i(JY_OP_ADD, JY_I64, INT64_MAX, 1, NULL).i, INT64_MIN);
    CHECK_INT(apply_i(JY_OP_MUL, JY_I32, 65536, 65536, NULL).i, 0);
    CHECK_INT(apply_i(JY_OP_MUL, JY_I64, INT64_MIN, -1, NULL).i, INT64_MIN);
    CHECK_INT(apply_i(JY_OP_ABS, JY_I32, INT32_MIN, 0, NULL).i, INT32_MIN);
    CHECK_INT(apply_i(JY_OP_NEG, JY_I64, INT64_MIN, 0, NULL).i, INT64_MIN);
    CHECK_INT(apply_i(JY_OP_INVERT, JY_I32, 5, 0, NULL).i, -6);
}

TEST(scalar, overflow_is_reported_where_it_is_asked_for)
{
    uint32_t status = 0;
    apply_i(JY_OP_ADD, JY_I32, INT32_MAX, 0, &status);
    apply_i(JY_OP_MUL, JY_I64, INT64_MAX, 1, &status);
    CHECK_UINT(status, 0);
    apply_i(JY_OP_SUB, JY_I32, INT32_MIN, 1, &status);
    CHECK_UINT(status, JY_CALL_RERUN);
    status = 0;
    apply_i(JY_OP_SQUARE, JY_I64, (int64_t)1 << 32, 0, &status);
    CHECK_UINT(status, JY_CALL_RERUN);
}

TEST(scalar, shift_counts_outside_of_the_width)
{
    CHECK_INT(apply_i(JY_OP_LEFT_SHIFT, JY_I32, 1, 31, NULL).i, INT32_MIN);
    CHECK_INT(apply_i(JY_OP_LEFT_SHIFT, JY_I32, 1, 32, NULL).i, 0);
    CHECK_INT(apply_i(JY_OP_LEFT_SHIFT, JY_I64, 1, -1, NULL).i, 0);
    CHECK_INT(apply_i(JY_OP_RIGHT_SHIFT, JY_I64, -5, 64, NULL).i, -1);
    CHECK_INT(apply_i(JY_OP_RIGHT_SHIFT, JY_I32, 5, -1, NULL).i, 0);
    CHECK_INT(apply_i(JY_OP_RIGHT_SHIFT, JY_I32, -5, 1, NULL).i, -3);
}

TEST(scalar, minimum_and_maximum_take_the_second_of_two_zeros_and_any_nan)
{
    CHECK_F64BITS(apply_d(JY_OP_MAXIMUM, 0.0, -0.0).d, -0.0);
    CHECK_F64BITS(apply_d(JY_OP_MAXIMUM, -0.0, 0.0).d, 0.0);
    CHECK_F64BITS(apply_d(JY_OP_MINIMUM, 0.0, -0.0).d, -0.0);
    CHECK_F64BITS(apply_d(JY_OP_MINIMUM, -0.0, 0.0).d, 0.0);
    CHECK(isnan(apply_d(JY_OP_MAXIMUM, NAN, 1).d) && isnan(apply_d(JY_OP_MAXIMUM, 1, NAN).d));
    CHECK(isnan(apply_d(JY_OP_MINIMUM, NAN, 1).d) && isnan(apply_d(JY_OP_MINIMUM, 1, NAN).d));
}

TEST(scalar, sign_and_rounding)
{
    CHECK_F64BITS(apply_d(JY_OP_SIGN, -0.0, 0).d, 0.0);
    CHECK(isnan(apply_d(JY_OP_SIGN, NAN, 0).d));
    CHECK_F64BITS(apply_d(JY_OP_RINT, 2.5, 0).d, 2.0);
    CHECK_F64BITS(apply_d(JY_OP_RINT, -0.5, 0).d, -0.0);
    CHECK_F64BITS(apply_d(JY_OP_CEIL, -0.2, 0).d, -0.0);
    CHECK_F64BITS(apply_d(JY_OP_TRUNC, -1.7, 0).d, -1.0);
}

TEST(scalar, bools_add_by_or_and_multiply_by_and)
{
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            CHECK_INT(apply_i(JY_OP_ADD, JY_BOOL, a, b, NULL).i, a | b);
            CHECK_INT(apply_i(JY_OP_MUL, JY_BOOL, a, b, NULL).i, a & b);
            CHECK_INT(apply_i(JY_OP_LE, JY_BOOL, a, b, NULL).i, a <= b);
        }
    CHECK_INT(apply_i(JY_OP_INVERT, JY_BOOL, 1, 0, NULL).i, 0);
}

TEST(scalar, comparisons_of_nan_are_quiet_and_division_is_not)
{
    static const jy_op quiet[] = { JY_OP_LT,      JY_OP_LE,      JY_OP_GT,   JY_OP_GE,    JY_OP_EQ,    JY_OP_NE,
                                   JY_OP_MAXIMUM, JY_OP_MINIMUM, JY_OP_SIGN, JY_OP_ISNAN, JY_OP_ISINF, JY_OP_ISFINITE };
    feclearexcept(FE_ALL_EXCEPT);
    for (size_t i = 0; i < sizeof(quiet) / sizeof(*quiet); i++)
        apply_d(quiet[i], NAN, 1.0);
    CHECK_INT(fetestexcept(FE_INVALID), 0);
    CHECK_INT(apply_d(JY_OP_LT, NAN, 1.0).i, 0);
    CHECK_INT(apply_d(JY_OP_NE, NAN, NAN).i, 1);
    apply_d(JY_OP_DIV, 1.0, 0.0);
    CHECK(fetestexcept(FE_DIVBYZERO) != 0);
    apply_d(JY_OP_MUL, 1e300, 1e300);
    CHECK(fetestexcept(FE_OVERFLOW) != 0);
    apply_d(JY_OP_SQRT, -1.0, 0);
    CHECK(fetestexcept(FE_INVALID) != 0);
    feclearexcept(FE_ALL_EXCEPT);
}

TEST(scalar, casts_of_floats_to_ints)
{
    union jy_scalar v = { .d = -2147483648.9 };
    feclearexcept(FE_ALL_EXCEPT);
    CHECK_INT(jy_scalar_cast(JY_F64, JY_I32, v).i, INT32_MIN);
    v.d = 2147483647.5;
    CHECK_INT(jy_scalar_cast(JY_F64, JY_I32, v).i, INT32_MAX);
    CHECK_INT(fetestexcept(FE_INVALID), 0);
    v.d = 2147483648.0;
    CHECK_INT(jy_scalar_cast(JY_F64, JY_I32, v).i, INT32_MIN);
    CHECK(fetestexcept(FE_INVALID) != 0);
    v.d = NAN;
    CHECK_INT(jy_scalar_cast(JY_F64, JY_I64, v).i, INT64_MIN);
    CHECK_INT(jy_scalar_cast(JY_F64, JY_BOOL, v).i, 1);
    v.d = 0x1p63;
    CHECK_INT(jy_scalar_cast(JY_F64, JY_I64, v).i, INT64_MIN);
    v.d = -0x1p63;
    CHECK_INT(jy_scalar_cast(JY_F64, JY_I64, v).i, INT64_MIN);
    feclearexcept(FE_ALL_EXCEPT);
}

TEST(scalar, int64_becomes_float32_by_one_rounding)
{
    union jy_scalar v = { .i = ((int64_t)1 << 60) + ((int64_t)1 << 36) +
                               1 }; /* through float64 it would tie to even, downwards */
    CHECK_F32BITS(jy_scalar_cast(JY_I64, JY_F32, v).f, 0x1.000002p60f);
    v.i = (int64_t)1 << 32 | 5;
    CHECK_INT(jy_scalar_cast(JY_I64, JY_I32, v).i, 5);
}

TEST(scalar, memory_holds_what_was_stored)
{
    char at[8];
    for (int t = 0; t < JY_DTYPE_COUNT; t++) {
        union jy_scalar v = jy_scalar_cast(JY_I64, (jy_dtype)t, (union jy_scalar){ .i = t == JY_BOOL ? 1 : -3 });
        jy_scalar_store((jy_dtype)t, at, v);
        CHECK_UINT(jy_scalar_load((jy_dtype)t, at).bits, v.bits);
    }
}
