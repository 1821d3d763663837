/* The builtin iterators of loops, by their fields: where they stand, and new ones that stand somewhere. The fields' places are tried out by jy_iter_init, since CPython's
 * headers do not name them on all versions. */
#ifndef JY_FRONTEND_CPYTHON_ITER_H
#define JY_FRONTEND_CPYTHON_ITER_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* Once per process; -1 with an exception: this CPython lays its iterators out in another way. */
int jy_iter_init(void);

/* Of a range iterator or a range: next value (start), stop, step. The stop of an iterator is next + items left * step. False: it is none, or an integer does not fit. */
struct jy_range {
    int64_t next, stop, step;
};
bool jy_range_get(struct jy_range *out, PyObject *object);
/* iter(range(next, stop, step)). refs: new */
PyObject *jy_range_iter_new(const struct jy_range *range);

/* An iterator over ASCII text? */
bool jy_is_ascii_iter(PyObject *object);
/* Iterators of lists, tuples, bytes, ASCII text and sequences, and their reversed ones: the next index; -1: exhausted. False: it is none of them. */
bool jy_seq_iter_index(int64_t *out, PyObject *iterator);
/* What it goes over; NULL: exhausted, or none of them. refs: borrowed */
PyObject *jy_seq_iter_of(PyObject *iterator);
/* iter(sequence), or reversed(sequence), at `index`; negative: exhausted. refs: sequence borrowed, returns new */
PyObject *jy_seq_iter_new(PyObject *sequence, bool is_reversed, int64_t index);

#endif
