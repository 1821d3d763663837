#include "frontend/ambient.h"

#include "frontend/frame.h"
#include <string.h>

/* ---- codecs ---- */

enum codec { ASCII, LATIN_1, UTF_8, REGISTERED };

/* As C code compares it with the names that it knows: without regard to case, '-' is '_'. */
static bool
is_spelled(PyObject *encoding, const char *name)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(encoding);
    for (Py_ssize_t k = 0; k < n; k++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(encoding, k);
        c = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
        if (c == 0 || c != (unsigned char)name[k]) /* so no character is compared with what is behind the name's end */
            return false;
    }
    return name[n] == '\0';
}

/* The names for which C code does not ask the registry. */
static enum codec
codec_of(PyObject *encoding)
{
    static const struct {
        const char *name;
        enum codec codec;
    } rows[] = { { "utf_8", UTF_8 },     { "utf8", UTF_8 },     { "ascii", ASCII },        { "us_ascii", ASCII },
                 { "latin_1", LATIN_1 }, { "latin1", LATIN_1 }, { "iso_8859_1", LATIN_1 }, { "iso8859_1", LATIN_1 } };
    if (encoding == NULL)
        return UTF_8;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (is_spelled(encoding, rows[k].name))
            return rows[k].codec;
    return REGISTERED;
}

/* The development mode looks for the handler even when no error comes up. */
static bool
is_common_handler(PyObject *errors)
{
    static const char *const names[] = { "strict", "ignore", "replace", "backslashreplace", "surrogateescape" };
    bool found = errors == NULL;
    for (size_t k = 0; k < sizeof names / sizeof *names && !found; k++)
        found = PyUnicode_CompareWithASCIIString(errors, names[k]) == 0;
    return found;
}

static bool
has_surrogate(PyObject *text)
{
    for (Py_ssize_t k = 0; k < PyUnicode_GET_LENGTH(text); k++)
        if (Py_UNICODE_IS_SURROGATE(PyUnicode_READ_CHAR(text, k)))
            return true;
    return false;
}

/* The codec handles this way of dealing with errors by itself, and what it does leaves surrogates. */
static bool
is_utf_8(PyObject *bytes)
{
    PyObject *text = PyUnicode_DecodeUTF8(PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes), "surrogateescape");
    bool good = text != NULL && !has_surrogate(text);
    PyErr_Clear();
    Py_XDECREF(text);
    return good;
}

static bool
is_ascii(PyObject *bytes)
{
    for (Py_ssize_t k = 0; k < PyBytes_GET_SIZE(bytes); k++)
        if ((unsigned char)PyBytes_AS_STRING(bytes)[k] > 127)
            return false;
    return true;
}

static bool
encodes(PyObject *text, enum codec codec)
{
    if (PyUnicode_IS_ASCII(text))
        return codec != REGISTERED;
    return codec == UTF_8     ? !has_surrogate(text)
           : codec == LATIN_1 ? PyUnicode_KIND(text) == PyUnicode_1BYTE_KIND
                              : false;
}

static bool
decodes(PyObject *bytes, enum codec codec)
{
    return codec == LATIN_1 || (codec == ASCII && is_ascii(bytes)) || (codec == UTF_8 && is_utf_8(bytes));
}

jy_status
jy_check_codec(struct jy_frame *f, PyObject *text, PyObject *encoding, PyObject *errors)
{
    if ((encoding != NULL && !PyUnicode_CheckExact(encoding)) || (errors != NULL && !PyUnicode_CheckExact(errors)))
        return JY_OK; /* a TypeError, before anybody is asked */
    enum codec codec = codec_of(encoding);
    bool good = PyUnicode_CheckExact(text) ? encodes(text, codec) : !PyBytes_CheckExact(text) || decodes(text, codec);
    if (good && is_common_handler(errors))
        return JY_OK;
    return jy_break(f, JY_BREAK_AMBIENT, "text through %s",
                    codec == REGISTERED ? "a codec that is looked for" : "a codec whose error handler is asked");
}

/* ---- digits ---- */

/* The least limit that can be set is 640 digits. */
#define MOST_DIGITS 640
#define MOST_BITS 2126

jy_status
jy_check_digits(struct jy_frame *f, PyObject *object)
{
    bool is_long = PyLong_CheckExact(object) && _PyLong_NumBits(object) > MOST_BITS;
    for (Py_ssize_t k = 0; PyTuple_CheckExact(object) && k < PyTuple_GET_SIZE(object); k++)
        TRY(jy_check_digits(f, PyTuple_GET_ITEM(object, k)));
    return is_long ? jy_break(f, JY_BREAK_AMBIENT, "an int of more than %d digits and its text", MOST_DIGITS) : JY_OK;
}

jy_status
jy_check_digits_of(struct jy_frame *f, PyObject *text)
{
    bool is_long = (PyUnicode_CheckExact(text) && PyUnicode_GET_LENGTH(text) > MOST_DIGITS) ||
                   (PyBytes_CheckExact(text) && PyBytes_GET_SIZE(text) > MOST_DIGITS);
    return is_long ? jy_break(f, JY_BREAK_AMBIENT, "an int of more than %d digits and its text", MOST_DIGITS) : JY_OK;
}

/* ---- the locale ---- */

jy_status
jy_check_locale(struct jy_frame *f, PyObject *text, bool is_template)
{
    if (!PyUnicode_CheckExact(text) || PyUnicode_GET_LENGTH(text) == 0)
        return JY_OK;
    bool asks = !is_template && PyUnicode_READ_CHAR(text, PyUnicode_GET_LENGTH(text) - 1) == 'n';
    for (Py_ssize_t k = 1; is_template && k < PyUnicode_GET_LENGTH(text); k++) {
        Py_UCS4 before = PyUnicode_READ_CHAR(text, k - 1);
        asks |= PyUnicode_READ_CHAR(text, k) == '}' && (before == 'n' || before == '}');
    }
    return asks ? jy_break(f, JY_BREAK_AMBIENT, "a number as the locale writes it") : JY_OK;
}
