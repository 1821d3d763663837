#include "graph/dtype.h"
#include <string.h>

const struct jy_dtype_info jy_dtype_info[JY_DTYPE_COUNT] = {
#define DTYPE(name, text, bytes, kind, number) { text, bytes, kind, number },
#include "graph/dtype.def"
#undef DTYPE
};

bool
jy_dtype_from_number(jy_dtype *out, int number)
{
    for (int t = 0; t < JY_DTYPE_COUNT; t++)
        if (jy_dtype_info[t].number == number) {
            *out = (jy_dtype)t;
            return true;
        }
    return false;
}

bool
jy_dtype_from_text(jy_dtype *out, const char *text)
{
    for (int t = 0; t < JY_DTYPE_COUNT; t++)
        if (strcmp(jy_dtype_info[t].text, text) == 0) {
            *out = (jy_dtype)t;
            return true;
        }
    return false;
}

jy_dtype
jy_dtype_promote(jy_dtype a, jy_dtype b)
{
    jy_dtype low = a < b ? a : b, high = a < b ? b : a;
    /* float32 holds no int32 exactly; everything else ascends in the table's order */
    return high == JY_F32 && (low == JY_I32 || low == JY_I64) ? JY_F64 : high;
}
