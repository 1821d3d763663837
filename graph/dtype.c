#include "graph/dtype.h"
#include <string.h>

const struct jy_dtype_info jy_dtype_info[JY_ELEMENT_COUNT] = {
#define DTYPE(name, text, bytes, kind, number) [JY_##name] = { text, bytes, kind, number },
#define ELEMENT(name, text, bytes, kind, number) DTYPE(name, text, bytes, kind, number)
#include "graph/dtype.def"
#undef DTYPE
#undef ELEMENT
};

static bool
find_number(jy_dtype *out, int number, int count)
{
    for (int t = 0; t < count; t++)
        if (jy_dtype_info[t].number == number) {
            *out = (jy_dtype)t;
            return true;
        }
    return false;
}

static bool
find_text(jy_dtype *out, const char *text, int count)
{
    for (int t = 0; t < count; t++)
        if (strcmp(jy_dtype_info[t].text, text) == 0) {
            *out = (jy_dtype)t;
            return true;
        }
    return false;
}

bool
jy_dtype_from_number(jy_dtype *out, int number)
{
    return find_number(out, number, JY_DTYPE_COUNT);
}

bool
jy_dtype_from_text(jy_dtype *out, const char *text)
{
    return find_text(out, text, JY_DTYPE_COUNT);
}

bool
jy_element_from_number(jy_dtype *out, int number)
{
    return find_number(out, number, JY_ELEMENT_COUNT);
}

bool
jy_element_from_text(jy_dtype *out, const char *text)
{
    return find_text(out, text, JY_ELEMENT_COUNT);
}

/* Signed integers of at least so many bytes. */
static jy_dtype
signed_of(size_t bytes)
{
    return bytes <= 1 ? JY_I8 : bytes <= 2 ? JY_I16 : bytes <= 4 ? JY_I32 : JY_I64;
}

jy_dtype
jy_dtype_promote(jy_dtype a, jy_dtype b)
{
    const struct jy_dtype_info *x = &jy_dtype_info[a], *y = &jy_dtype_info[b];
    if (a == b || y->kind == 'b')
        return a;
    if (x->kind == 'b')
        return b;
    if (x->kind == y->kind)
        return x->bytes > y->bytes ? a : b;
    if (x->kind == 'f' || y->kind == 'f') { /* float32 holds integers of 16 bits */
        const struct jy_dtype_info *integer = x->kind == 'f' ? y : x;
        jy_dtype real = x->kind == 'f' ? a : b;
        return integer->bytes <= 2 ? real : JY_F64;
    }
    jy_dtype with_sign = x->kind == 'i' ? a : b, without = with_sign == a ? b : a;
    size_t bytes = 2u * jy_dtype_info[without].bytes; /* what holds all of it */
    if (bytes > 8)
        return JY_F64;
    return jy_dtype_info[with_sign].bytes >= bytes ? with_sign : signed_of(bytes);
}
