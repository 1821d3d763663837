/* sorted(), list.sort, and what min() and max() share with them: a key function.
 *
 * The keys are computed first, in order, as CPython does; then its own sort orders the numbers of the items by the real keys, which must be known and plain: comparing those runs
 * no code, and stability, NaNs and the message of a TypeError are CPython's. The items themselves need not be known. */
#include "frontend/exception.h"
#include "frontend/interp.h"

jy_status
jy_sort_arguments(struct jy_frame *f, struct jy_value **key, bool *reverse, size_t n, struct jy_value *const *args,
                  PyObject *kwnames)
{
    *key = NULL;
    *reverse = false;
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        struct jy_value *v = args[n + (size_t)i];
        PyObject *name = PyTuple_GET_ITEM(kwnames, i);
        TRY(jy_value_realize(f, v));
        if (PyUnicode_CompareWithASCIIString(name, "key") == 0) {
            *key = jy_value_is_none(v) ? NULL : v;
        } else if (PyUnicode_CompareWithASCIIString(name, "reverse") == 0) {
            int64_t k;
            TRY(jy_value_index(f, &k, v));
            *reverse = k != 0;
        } else {
            return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "the keyword %s of a sort", jy_utf8(name));
        }
    }
    return JY_OK;
}

jy_status
jy_sort_key(struct jy_frame *f, struct jy_value **out, struct jy_value *key, struct jy_value *item)
{
    *out = item;
    return key != NULL ? jy_call(f, out, key, 1, &item, NULL) : JY_OK;
}

/* The numbers 0, 1, ... in the order of the keys. refs: new */
static PyObject *
order(PyObject *keys, bool reverse)
{
    PyObject *numbers = PyList_New(0), *get = PyObject_GetAttrString(keys, "__getitem__"), *sort = NULL, *done = NULL;
    for (Py_ssize_t i = 0; numbers != NULL && i < PyList_GET_SIZE(keys); i++) {
        PyObject *number = PyLong_FromSsize_t(i);
        if (number == NULL || PyList_Append(numbers, number) < 0)
            Py_CLEAR(numbers);
        Py_XDECREF(number);
    }
    PyObject *arguments = get != NULL ? Py_BuildValue("{s:O,s:i}", "key", get, "reverse", (int)reverse) : NULL;
    PyObject *empty = PyTuple_New(0);
    if (numbers != NULL && arguments != NULL && empty != NULL)
        sort = PyObject_GetAttrString(numbers, "sort");
    if (sort != NULL)
        done = PyObject_Call(sort, empty, arguments);
    if (done == NULL)
        Py_CLEAR(numbers);
    Py_XDECREF(get);
    Py_XDECREF(sort);
    Py_XDECREF(done);
    Py_XDECREF(arguments);
    Py_XDECREF(empty);
    return numbers;
}

jy_status
jy_sort(struct jy_frame *f, struct jy_value **out, const struct jy_value *all, struct jy_value *key, bool reverse,
        bool in_place)
{
    PyObject *keys = jy_hold(f, PyList_New(0));
    if (keys == NULL)
        return JY_ERROR;
    for (size_t i = 0; i < all->u.seq.n; i++) {
        struct jy_value *v;
        TRY(jy_sort_key(f, &v, key, all->u.seq.at[i]));
        PyObject *object = jy_hold(f, jy_value_as_object(f, v));
        if (object == NULL || !jy_value_is_plain(f, object))
            return jy_break(f, JY_BREAK_DATA_BRANCH, "sorting by %s", jy_value_describe(f, v));
        if (PyList_Append(keys, object) < 0)
            return JY_ERROR;
    }
    PyObject *numbers = jy_hold(f, order(keys, reverse));
    if (numbers == NULL && in_place) { /* what it leaves of the list is CPython's own affair */
        if (jy_break_from_exception(f, JY_BREAK_RAISES) == JY_ERROR)
            return JY_ERROR;
        return jy_break(f, JY_BREAK_STORE_CONTAINER, "a sort that raises");
    }
    if (numbers == NULL)
        return jy_raise_from_exception(f);
    *out = jy_value_seq(f, JY_V_LIST, 0, NULL);
    for (size_t i = 0; i < all->u.seq.n; i++)
        jy_seq_append(f, *out, all->u.seq.at[PyLong_AsSsize_t(PyList_GET_ITEM(numbers, i))]);
    return JY_OK;
}
