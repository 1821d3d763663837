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

TEST(dtype, native_loops_know_more_than_graphs)
{
    for (int t = 0; t < JY_ELEMENT_COUNT; t++) {
        jy_dtype by_text = JY_DTYPE_NONE, by_number = JY_DTYPE_NONE, of_graphs;
        CHECK(jy_element_from_text(&by_text, jy_dtype_info[t].text));
        CHECK(jy_element_from_number(&by_number, jy_dtype_info[t].number));
        CHECK_INT(by_text, t);
        CHECK_INT(by_number, t);
        CHECK(jy_dtype_from_number(&of_graphs, jy_dtype_info[t].number) == (t < JY_DTYPE_COUNT));
        CHECK(jy_dtype_from_text(&of_graphs, jy_dtype_info[t].text) == (t < JY_DTYPE_COUNT));
    }
}

TEST(dtype, promotion_is_numpys)
{
#define ROW(...)                                                                                                       \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
    static const jy_dtype order[] =
        ROW(JY_BOOL, JY_I8, JY_I16, JY_I32, JY_I64, JY_U8, JY_U16, JY_U32, JY_U64, JY_F32, JY_F64);
    static const jy_dtype expected[JY_ELEMENT_COUNT][JY_ELEMENT_COUNT] = {
        ROW(JY_BOOL, JY_I8, JY_I16, JY_I32, JY_I64, JY_U8, JY_U16, JY_U32, JY_U64, JY_F32, JY_F64),
        ROW(JY_I8, JY_I8, JY_I16, JY_I32, JY_I64, JY_I16, JY_I32, JY_I64, JY_F64, JY_F32, JY_F64),
        ROW(JY_I16, JY_I16, JY_I16, JY_I32, JY_I64, JY_I16, JY_I32, JY_I64, JY_F64, JY_F32, JY_F64),
        ROW(JY_I32, JY_I32, JY_I32, JY_I32, JY_I64, JY_I32, JY_I32, JY_I64, JY_F64, JY_F64, JY_F64),
        ROW(JY_I64, JY_I64, JY_I64, JY_I64, JY_I64, JY_I64, JY_I64, JY_I64, JY_F64, JY_F64, JY_F64),
        ROW(JY_U8, JY_I16, JY_I16, JY_I32, JY_I64, JY_U8, JY_U16, JY_U32, JY_U64, JY_F32, JY_F64),
        ROW(JY_U16, JY_I32, JY_I32, JY_I32, JY_I64, JY_U16, JY_U16, JY_U32, JY_U64, JY_F32, JY_F64),
        ROW(JY_U32, JY_I64, JY_I64, JY_I64, JY_I64, JY_U32, JY_U32, JY_U32, JY_U64, JY_F64, JY_F64),
        ROW(JY_U64, JY_F64, JY_F64, JY_F64, JY_F64, JY_U64, JY_U64, JY_U64, JY_U64, JY_F64, JY_F64),
        ROW(JY_F32, JY_F32, JY_F32, JY_F64, JY_F64, JY_F32, JY_F32, JY_F64, JY_F64, JY_F32, JY_F64),
        ROW(JY_F64, JY_F64, JY_F64, JY_F64, JY_F64, JY_F64, JY_F64, JY_F64, JY_F64, JY_F64, JY_F64),
    };
#undef ROW
    for (int a = 0; a < JY_ELEMENT_COUNT; a++)
        for (int b = 0; b < JY_ELEMENT_COUNT; b++)
            CHECK_INT(jy_dtype_promote(order[a], order[b]), expected[a][b]);
}
