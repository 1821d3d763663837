/* Random numbers in flows: of CPython's Mersenne Twister, and of NumPy's bit generators through their interface for C. */
#ifndef JY_RUNTIME_FLOW_RANDOM_H
#define JY_RUNTIME_FLOW_RANDOM_H

#include <Python.h>
#include <stdbool.h>

/* What _random.Random.random gives, and the same next state. The object is one that jy_twister_is_readable. */
double jy_random_draw(PyObject *twister);

/* The struct of C functions and state (bitgen_t) that a numpy.random.Generator or RandomState draws from; NULL: it is another object, of a kind of bit generator that is not NumPy's own, or
 * somebody holds the lock on it. The struct may be used while the GIL is held and the object lives: who waits for the lock needs the GIL first. No exception is set. */
void *jy_bitgen_of(PyObject *generator);
/* A uniform number in [0, 1), as Generator.random() and RandomState.random_sample() draw it. */
double jy_bitgen_double(void *bitgen);

#endif
