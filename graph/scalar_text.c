/* Values as text: one spelling per value, and back to the same bits. The C library's conversions follow the program's locale,
 * which a Python program may have changed; both directions run under the C locale. */
#include "graph/scalar.h"
#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The thread's locale is the C locale until leave(). Without memory for it the program's own stays. */
struct c_locale {
    locale_t c, before;
};

static struct c_locale
enter(void)
{
    struct c_locale l = { .c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0) };
    if (l.c != (locale_t)0)
        l.before = uselocale(l.c);
    return l;
}

static void
leave(struct c_locale l)
{
    if (l.c == (locale_t)0)
        return;
    uselocale(l.before);
    freelocale(l.c);
}

static bool
reads_back(jy_dtype dtype, const char *digits, union jy_scalar value)
{
    return dtype == JY_F64 ? strtod(digits, NULL) == value.d : strtof(digits, NULL) == value.f;
}

static void
print_float(struct jy_text *text, jy_dtype dtype, union jy_scalar value)
{
    double d = dtype == JY_F64 ? value.d : (double)value.f;
    if (isnan(d)) {
        uint64_t bits = dtype == JY_F64 ? value.bits : (uint32_t)value.bits;
        uint64_t usual = dtype == JY_F64 ? 0x7ff8000000000000 : 0x7fc00000;
        if (bits == usual)
            jy_text_add(text, "nan");
        else
            jy_text_add(text, "nan(0x%" PRIx64 ")", bits);
        return;
    }
    if (isinf(d)) {
        jy_text_add(text, "%sinf", d < 0 ? "-" : "");
        return;
    }
    char digits[40];
    struct c_locale l = enter();
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof(digits), "%.*g", precision, d);
        if (reads_back(dtype, digits, value))
            break;
    }
    leave(l);
    jy_text_add(text, "%s%s", digits, strpbrk(digits, ".e") == NULL ? ".0" : "");
}

void
jy_scalar_print(struct jy_text *text, jy_dtype dtype, union jy_scalar value)
{
    if (dtype == JY_BOOL)
        jy_text_add(text, "%s", value.i != 0 ? "True" : "False");
    else if (jy_dtype_is_float(dtype))
        print_float(text, dtype, value);
    else
        jy_text_add(text, "%" PRId64, value.i);
}

static bool
take(const char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

static bool
parse_nan(union jy_scalar *out, jy_dtype dtype, const char **at)
{
    out->bits = dtype == JY_F64 ? 0x7ff8000000000000 : 0x7fc00000;
    if (!take(at, "(0x"))
        return true;
    char *end;
    if (!isxdigit((unsigned char)**at))
        return false;
    out->bits = strtoull(*at, &end, 16);
    *at = end;
    bool is_nan = dtype == JY_F64 ? isnan(out->d) : isnan(out->f) && out->bits <= UINT32_MAX;
    return is_nan && take(at, ")");
}

static bool
parse_float(union jy_scalar *out, jy_dtype dtype, const char **at)
{
    out->bits = 0;
    if (take(at, "nan"))
        return parse_nan(out, dtype, at);
    char *end;
    struct c_locale l = enter();
    if (dtype == JY_F64)
        out->d = strtod(*at, &end);
    else
        out->f = strtof(*at, &end);
    leave(l);
    bool any = end != *at && !isspace((unsigned char)**at);
    *at = end;
    return any;
}

static bool
parse_int(union jy_scalar *out, jy_dtype dtype, const char **at)
{
    const char *p = *at;
    bool negative = *p == '-';
    p += negative;
    if (!isdigit((unsigned char)*p))
        return false;
    int64_t value = 0;
    for (; isdigit((unsigned char)*p); p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? '0' - *p : *p - '0', &value))
            return false;
    *at = p;
    out->i = value;
    return dtype != JY_I32 || value == (int32_t)value;
}

bool
jy_scalar_parse(union jy_scalar *out, jy_dtype dtype, const char **at)
{
    if (jy_dtype_is_float(dtype))
        return parse_float(out, dtype, at);
    if (dtype != JY_BOOL)
        return parse_int(out, dtype, at);
    out->i = take(at, "True");
    return out->i != 0 || take(at, "False");
}
