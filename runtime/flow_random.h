/* Random numbers in flows: of CPython's Mersenne Twister, and of NumPy's bit generators through their interface for C. */
#ifndef JY_RUNTIME_FLOW_RANDOM_H
#define JY_RUNTIME_FLOW_RANDOM_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* What _random.Random.random gives, and the same next state. The object is one that jy_twister_is_readable. */
double jy_random_draw(PyObject *twister);

/* The struct of C functions and state (bitgen_t) that a numpy.random.Generator or RandomState draws from; NULL: it is another object, of a kind of bit generator that is not NumPy's own, or
 * somebody holds the lock on it. The struct may be used while the GIL is held and the object lives: who waits for the lock needs the GIL first. No exception is set. */
void *jy_bitgen_of(PyObject *generator);
/* A uniform number in [0, 1), as Generator.random() and RandomState.random_sample() draw it. */
double jy_bitgen_double(void *bitgen);
/* getrandbits(n) of the same; fails, and draws nothing, where the result may be more than an int64. */
int64_t jy_random_bits(PyObject *twister, int64_t n, int32_t *failed);

/* Methods of a Generator or RandomState of NumPy's, called as they are; `bitgen` is what jy_bitgen_of gave. Whatever raises there does so before it draws. */
double jy_rng_f(void *bitgen, PyObject *rng, PyObject *name, int32_t *failed);
double jy_rng_f_f(void *bitgen, PyObject *rng, PyObject *name, double x, int32_t *failed);
double jy_rng_f_ff(void *bitgen, PyObject *rng, PyObject *name, double x, double y, int32_t *failed);
double jy_rng_f_fff(void *bitgen, PyObject *rng, PyObject *name, double x, double y, double z, int32_t *failed);
int64_t jy_rng_i_f(void *bitgen, PyObject *rng, PyObject *name, double x, int32_t *failed);
int64_t jy_rng_i_if(void *bitgen, PyObject *rng, PyObject *name, int64_t n, double x, int32_t *failed);
int64_t jy_rng_i_i(void *bitgen, PyObject *rng, PyObject *name, int64_t n, int32_t *failed);
int64_t jy_rng_i_ii(void *bitgen, PyObject *rng, PyObject *name, int64_t n, int64_t m, int32_t *failed);
int64_t jy_rng_l_i(void *bitgen, PyObject *rng, PyObject *name, int64_t n, int32_t *failed);
int64_t jy_rng_l_ii(void *bitgen, PyObject *rng, PyObject *name, int64_t n, int64_t m, int32_t *failed);

#endif
