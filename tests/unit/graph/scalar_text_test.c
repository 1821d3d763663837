#include "graph/scalar.h"
#include "tests/unit/test.h"
#include <math.h>

static void
check_value(jy_dtype dtype, union jy_scalar value, const char *expected)
{
    struct jy_text text = { 0 };
    jy_scalar_print(&text, dtype, value);
    CHECK_STR(text.at, expected);
    const char *at = text.at;
    union jy_scalar again = { .bits = 0x5555555555555555 };
    CHECK(jy_scalar_parse(&again, dtype, &at));
    CHECK_STR(at, "");
    CHECK_UINT(again.bits, value.bits);
    jy_text_free(&text);
}

static union jy_scalar
f32(float f)
{
    union jy_scalar value = { 0 };
    value.f = f;
    return value;
}

TEST(scalar_text, values_print_and_read_back_to_the_same_bits)
{
    check_value(JY_F64, (union jy_scalar){ .d = 2 }, "2.0");
    check_value(JY_F64, (union jy_scalar){ .d = 0.1 }, "0.1");
    check_value(JY_F64, (union jy_scalar){ .d = -0.0 }, "-0.0");
    check_value(JY_F64, (union jy_scalar){ .d = 1e300 }, "1e+300");
    check_value(JY_F64, (union jy_scalar){ .d = 0x1.fffffffffffffp-3 }, "0.24999999999999997");
    check_value(JY_F64, (union jy_scalar){ .d = 5e-324 }, "5e-324");
    check_value(JY_F64, (union jy_scalar){ .d = -INFINITY }, "-inf");
    check_value(JY_F64, (union jy_scalar){ .bits = 0x7ff8000000000000 }, "nan");
    check_value(JY_F64, (union jy_scalar){ .bits = 0xfff8000000000001 }, "nan(0xfff8000000000001)");
    check_value(JY_F32, f32(0.1f), "0.1");
    check_value(JY_F32, f32(16777216.0f), "16777216.0");
    check_value(JY_F32, (union jy_scalar){ .bits = 0xffc00000 }, "nan(0xffc00000)");
    check_value(JY_I64, (union jy_scalar){ .i = INT64_MIN }, "-9223372036854775808");
    check_value(JY_I32, (union jy_scalar){ .i = -7 }, "-7");
    check_value(JY_BOOL, (union jy_scalar){ .i = 1 }, "True");
    check_value(JY_BOOL, (union jy_scalar){ .i = 0 }, "False");
}

TEST(scalar_text, what_is_no_value_is_refused)
{
    static const struct {
        jy_dtype dtype;
        const char *text;
    } bad[] = {
        { JY_I64, "9223372036854775808" },
        { JY_I32, "2147483648" },
        { JY_I64, "x" },
        { JY_I64, "-" },
        { JY_F64, "" },
        { JY_F64, " 1" },
        { JY_F64, "nan(0x1)" },
        { JY_F32, "nan(0xffffffffffffffff)" },
        { JY_BOOL, "1" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        const char *at = bad[i].text;
        union jy_scalar value;
        CHECK(!jy_scalar_parse(&value, bad[i].dtype, &at));
    }
}
