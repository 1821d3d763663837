/* The Mersenne Twister of _random.Random, which random.Random and the functions of the module random draw from: where its state is, and whether it is there. */
#ifndef JY_FRONTEND_CPYTHON_TWISTER_H
#define JY_FRONTEND_CPYTHON_TWISTER_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

enum { JY_TWISTER_WORDS = 624, JY_TWISTER_SHIFT = 397 };

/* What objects of that type and of classes derived from it begin with, on all versions. */
struct jy_twister {
    PyObject_HEAD int index; /* of the next word; JY_TWISTER_WORDS: all are used up */
    uint32_t state[JY_TWISTER_WORDS];
};

/* Is it the method of that name of _random.Random, as a descriptor? */
bool jy_twister_is_method(PyObject *descriptor, const char *name);
/* The object whose bound method _random.Random.NAME `callable` is; NULL: it is another function. */
PyObject *jy_twister_of_bound(PyObject *callable, const char *name);
/* Is the state where struct jy_twister has it? Compares it with what getstate() says. No exception is set. */
bool jy_twister_is_readable(PyObject *object);

#endif
