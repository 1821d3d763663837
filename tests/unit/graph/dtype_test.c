#include "graph/dtype.h"
#include "tests/unit/test.h"

TEST(dtype, text_and_number_name_the_same_type)
{
    for (int t = 0; t < JY_DTYPE_COUNT; t++) {
        jy_dtype by_text = JY_DTYPE_NONE, by_number = JY_DTYPE_NONE;
        CHECK(jy_dtype_from_text(&by_text, jy_dtype_info[t].text));
        CHECK(jy_dtype_from_number(&by_number, jy_dtype_info[t].number));
        CHECK_INT(by_text, t);
        CHECK_INT(by_number, t);
    }
}

TEST(dtype, unknown_types_are_refused)
{
    jy_dtype t;
    CHECK(!jy_dtype_from_text(&t, "complex128"));
    CHECK(!jy_dtype_from_text(&t, "float"));
    CHECK(!jy_dtype_from_number(&t, 9)); /* long long: another type than long */
}

TEST(dtype, promotion_is_numpys)
{
    static const jy_dtype expected[JY_DTYPE_COUNT][JY_DTYPE_COUNT] = {
        { JY_BOOL, JY_I32, JY_I64, JY_F32, JY_F64 }, { JY_I32, JY_I32, JY_I64, JY_F64, JY_F64 },
        { JY_I64, JY_I64, JY_I64, JY_F64, JY_F64 },  { JY_F32, JY_F64, JY_F64, JY_F32, JY_F64 },
        { JY_F64, JY_F64, JY_F64, JY_F64, JY_F64 },
    };
    for (int a = 0; a < JY_DTYPE_COUNT; a++)
        for (int b = 0; b < JY_DTYPE_COUNT; b++)
            CHECK_INT(jy_dtype_promote((jy_dtype)a, (jy_dtype)b), expected[a][b]);
}
