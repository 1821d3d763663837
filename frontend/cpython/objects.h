/* Where CPython keeps the numbers and items of its objects: what machine code that reads them must know. */
#ifndef JY_FRONTEND_CPYTHON_OBJECTS_H
#define JY_FRONTEND_CPYTHON_OBJECTS_H

#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JY_OBJECT_REFCOUNT = offsetof(PyObject, ob_refcnt),
    JY_OBJECT_TYPE = offsetof(PyObject, ob_type),
    JY_SEQUENCE_SIZE = offsetof(PyVarObject, ob_size),
    JY_LIST_ITEMS = offsetof(PyListObject, ob_item),
    JY_LIST_ALLOCATED = offsetof(PyListObject, allocated),
    JY_TUPLE_ITEMS = offsetof(PyTupleObject, ob_item),
    JY_BYTES_ITEMS = offsetof(PyBytesObject, ob_sval),
    JY_TEXT_LENGTH = offsetof(PyASCIIObject, length),
    JY_TEXT_STATE = offsetof(PyASCIIObject, state), /* 32 bits: jy_text_ascii_state() */
    JY_TEXT_ITEMS = sizeof(PyASCIIObject),          /* of ASCII text */
    JY_SCALAR_VALUE = sizeof(PyObject),             /* of NumPy's scalars */
    JY_FLOAT_VALUE = offsetof(PyFloatObject, ob_fval),
#if PY_VERSION_HEX >= 0x030c0000
    JY_LONG_TAG = offsetof(PyLongObject, long_value.lv_tag),
    JY_LONG_DIGITS = offsetof(PyLongObject, long_value.ob_digit),
#else
    JY_LONG_TAG = offsetof(PyVarObject, ob_size),
    JY_LONG_DIGITS = offsetof(PyLongObject, ob_digit),
#endif
};

/* Ints in JY_SMALL_LOW .. JY_SMALL_HIGH are one object each, JY_INT_BYTES apart; jy_small_ints_are_a_row() makes sure of it. From 3.12 on they, the bools and None are immortal: their counts do
 * not change. */
enum { JY_SMALL_LOW = -5, JY_SMALL_HIGH = 256, JY_INT_BYTES = sizeof(PyLongObject) };
bool jy_small_ints_are_a_row(void);

/* The bits of a str's state that are all set where its characters are ASCII and lie behind it. */
uint32_t jy_text_ascii_state(void);

/* An int of at most one digit has a tag t (as I64) with 0 <= t - JY_LONG_TAG_LOW < JY_LONG_TAG_COUNT; its value is digit * factor, where factor is t itself, or 1 - (t & 3). */
#if PY_VERSION_HEX >= 0x030c0000
enum { JY_LONG_TAG_LOW = 0, JY_LONG_TAG_COUNT = 2 << 3 }; /* digits << 3 | sign: 0 positive, 1 zero, 2 negative */
enum { JY_LONG_TAG_POSITIVE = 1 << 3, JY_LONG_TAG_NEGATIVE = 1 << 3 | 2 }; /* of one digit */
static inline bool
jy_long_tag_is_factor(void)
{
    return false;
}
static inline bool
jy_has_immortals(void)
{
    return true;
}
#else
enum { JY_LONG_TAG_LOW = -1, JY_LONG_TAG_COUNT = 3 };
enum { JY_LONG_TAG_POSITIVE = 1, JY_LONG_TAG_NEGATIVE = -1 };
static inline bool
jy_long_tag_is_factor(void)
{
    return true;
}
static inline bool
jy_has_immortals(void)
{
    return false;
}
#endif

#endif
