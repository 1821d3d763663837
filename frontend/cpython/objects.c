#include "frontend/cpython/objects.h"

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
