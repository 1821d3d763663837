/* Range iterators, and iterators with an index (iter.h).
 *
 * The iterators of lists, tuples, bytes and ASCII text, of other sequences, and the reversed ones are seven types with one layout: an index, and the sequence, which is NULL when nothing is left. Range iterators
 * keep start, step and length; 3.12 dropped the index in front of them. jy_iter_init compares both with what iterators do. */
#include "frontend/cpython/iter.h"

struct range_iter {
    PyObject_HEAD
#if PY_VERSION_HEX < 0x030c0000
        long index;
#endif
    long start, step, len;
};

struct range {
    PyObject_HEAD PyObject *start, *stop, *step, *length;
};

struct seq_iter {
    PyObject_HEAD Py_ssize_t index;
    PyObject *sequence;
};

static bool
to_int64(int64_t *out, PyObject *object)
{
    int overflow = 0;
    if (object == NULL || !PyLong_CheckExact(object))
        return false;
    *out = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
}

bool
jy_range_get(struct jy_range *out, PyObject *object)
{
    if (Py_IS_TYPE(object, &PyRange_Type)) {
        const struct range *r = (const struct range *)object;
        return to_int64(&out->next, r->start) && to_int64(&out->stop, r->stop) && to_int64(&out->step, r->step);
    }
    if (!Py_IS_TYPE(object, &PyRangeIter_Type))
        return false;
    const struct range_iter *r = (const struct range_iter *)object;
    long next = r->start, left = r->len, span;
#if PY_VERSION_HEX < 0x030c0000
    next = (long)((unsigned long)r->start + (unsigned long)r->index * (unsigned long)r->step);
    left = r->len - r->index;
#endif
    *out = (struct jy_range){ .next = next, .step = r->step };
    return !__builtin_mul_overflow(left, r->step, &span) && !__builtin_add_overflow(next, span, &out->stop);
}

static uint64_t
items_left(const struct jy_range *r)
{
    uint64_t step = r->step < 0 ? 0 - (uint64_t)r->step : (uint64_t)r->step;
    if (r->step > 0 ? r->next >= r->stop : r->next <= r->stop)
        return 0;
    uint64_t span = r->step > 0 ? (uint64_t)r->stop - (uint64_t)r->next : (uint64_t)r->next - (uint64_t)r->stop;
    return (span - 1) / step + 1;
}

PyObject *
jy_range_iter_new(const struct jy_range *r)
{
    struct range_iter *made = PyObject_New(struct range_iter, &PyRangeIter_Type);
    if (made == NULL)
        return NULL;
#if PY_VERSION_HEX < 0x030c0000
    made->index = 0;
#endif
    made->start = r->next;
    made->step = r->step;
    made->len = (long)items_left(r);
    return (PyObject *)made;
}

static PyTypeObject *ascii_iter; /* the type of iterators over ASCII text, which has no public name */

bool
jy_is_ascii_iter(PyObject *object)
{
    return Py_IS_TYPE(object, ascii_iter);
}

static bool
has_index(PyObject *iterator)
{
    PyTypeObject *type = Py_TYPE(iterator);
    return type == &PyListIter_Type || type == &PyTupleIter_Type || type == &PySeqIter_Type ||
           type == &PyBytesIter_Type || type == ascii_iter || type == &PyReversed_Type || type == &PyListRevIter_Type;
}

bool
jy_seq_iter_index(int64_t *out, PyObject *iterator)
{
    if (!has_index(iterator))
        return false;
    const struct seq_iter *it = (const struct seq_iter *)iterator;
    *out = it->sequence == NULL ? -1 : it->index;
    return true;
}

PyObject *
jy_seq_iter_of(PyObject *iterator)
{
    return has_index(iterator) ? ((const struct seq_iter *)iterator)->sequence : NULL;
}

PyObject *
jy_seq_iter_new(PyObject *sequence, bool is_reversed, int64_t index)
{
    PyObject *made =
        is_reversed ? PyObject_CallOneArg((PyObject *)&PyReversed_Type, sequence) : PyObject_GetIter(sequence);
    if (made == NULL)
        return NULL;
    struct seq_iter *it = (struct seq_iter *)made;
    if (!has_index(made)) {
        Py_DECREF(made);
        PyErr_SetString(PyExc_SystemError, "jitney: an iterator without an index");
        return NULL;
    }
    it->index = index;
    if (index < 0) {
        it->index = -1;
        Py_CLEAR(it->sequence);
    }
    return made;
}

/* One iterator of three items, of which one is taken. */
static bool
stands_where_it_should(PyObject *sequence, bool is_reversed)
{
    PyObject *it = sequence == NULL ? NULL : jy_seq_iter_new(sequence, is_reversed, 1);
    PyObject *item = it == NULL ? NULL : PyIter_Next(it);
    int64_t index = 0;
    bool good = item != NULL && PyLong_AsLong(item) == 11 && jy_seq_iter_index(&index, it) &&
                index == (is_reversed ? 0 : 2) && jy_seq_iter_of(it) == sequence;
    Py_XDECREF(item);
    Py_XDECREF(it);
    return good;
}

static bool
ranges_are_known(void)
{
    struct jy_range r = { 0 }, made = { .next = 7, .stop = 1, .step = -2 };
    PyObject *range = PyObject_CallFunction((PyObject *)&PyRange_Type, "iii", 10, 17, 3), *it, *item;
    bool good = range != NULL && jy_range_get(&r, range) && r.next == 10 && r.stop == 17 && r.step == 3;
    it = range == NULL ? NULL : PyObject_GetIter(range);
    item = it == NULL ? NULL : PyIter_Next(it);
    good = good && item != NULL && jy_range_get(&r, it) && r.next == 13 && r.stop == 19 && r.step == 3;
    Py_XDECREF(item);
    Py_XDECREF(it);
    Py_XDECREF(range);
    it = good ? jy_range_iter_new(&made) : NULL;
    item = it == NULL ? NULL : PySequence_List(it); /* 7, 5, 3 */
    good = item != NULL && PyList_GET_SIZE(item) == 3 && PyLong_AsLong(PyList_GET_ITEM(item, 2)) == 3;
    Py_XDECREF(item);
    Py_XDECREF(it);
    return good;
}

/* The same of text: "abc", of which "b" is taken. */
static bool
finds_ascii_iter(void)
{
    PyObject *text = PyUnicode_FromString("abc"), *it = text == NULL ? NULL : PyObject_GetIter(text);
    ascii_iter = it == NULL ? NULL : (PyTypeObject *)Py_NewRef(Py_TYPE(it));
    Py_XDECREF(it);
    it = ascii_iter == NULL ? NULL : jy_seq_iter_new(text, false, 1);
    PyObject *item = it == NULL ? NULL : PyIter_Next(it);
    int64_t index = 0;
    bool good = item != NULL && PyUnicode_READ_CHAR(item, 0) == 'b' && jy_seq_iter_index(&index, it) && index == 2 &&
                jy_seq_iter_of(it) == text;
    Py_XDECREF(item);
    Py_XDECREF(it);
    Py_XDECREF(text);
    return good;
}

int
jy_iter_init(void)
{
    PyObject *list = Py_BuildValue("[iii]", 10, 11, 12), *tuple = Py_BuildValue("(iii)", 10, 11, 12);
    bool good = ranges_are_known() && stands_where_it_should(list, false) && stands_where_it_should(tuple, false) &&
                stands_where_it_should(list, true) && stands_where_it_should(tuple, true) && finds_ascii_iter();
    PyObject *bytes = PyByteArray_FromStringAndSize("\n\v\f", 3);
    PyObject *it = bytes == NULL ? NULL : PySeqIter_New(bytes), *item = it == NULL ? NULL : PyIter_Next(it);
    good = good && item != NULL && ((const struct seq_iter *)it)->index == 1 &&
           ((const struct seq_iter *)it)->sequence == bytes;
    Py_XDECREF(item);
    Py_XDECREF(it);
    Py_XDECREF(bytes);
    Py_XDECREF(list);
    Py_XDECREF(tuple);
    if (!good && !PyErr_Occurred())
        PyErr_SetString(PyExc_ImportError, "jitney: this CPython's iterators are laid out in an unknown way");
    return good ? 0 : -1;
}
