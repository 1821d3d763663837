#include "frontend/cpython/objects.h"

#include <string.h>

bool
jy_small_ints_are_a_row(void)
{
    PyObject *first = PyLong_FromLong(JY_SMALL_LOW);
    bool good = first != NULL;
    for (long k = JY_SMALL_LOW; good && k <= JY_SMALL_HIGH; k++) {
        PyObject *object = PyLong_FromLong(k);
        good = (char *)object == (char *)first + (k - JY_SMALL_LOW) * JY_INT_BYTES;
        Py_XDECREF(object);
    }
    Py_XDECREF(first);
    return good;
}

uint32_t
jy_text_ascii_state(void)
{
    PyASCIIObject like;
    uint32_t bits;
    memset(&like, 0, sizeof like);
    like.state.compact = 1;
    like.state.ascii = 1;
    memcpy(&bits, (const char *)&like + JY_TEXT_STATE, sizeof bits);
    return bits;
}
