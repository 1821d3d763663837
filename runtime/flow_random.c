/* Random numbers without a call into Python. The streams are those of the libraries, as their states are: whoever draws next, flow or interpreter, gets the next number.
 *
 * NumPy's Generator keeps a copy of its bit generator's struct of functions, which its methods call with the bit generator's lock held. Here the lock is tried once where a flow is entered:
 * as the GIL is held until it is left, nobody can begin to draw in between, and who had begun holds the lock. */
#include "runtime/flow_random.h"
#include "frontend/cpython/twister.h"
#include "runtime/numpy_api.h"

#include <stdint.h>
#include <string.h>

/* -- CPython's --------------------------------------------------------------------------------------------------------------------- */

static uint32_t
mixed(uint32_t high, uint32_t low, uint32_t other)
{
    uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return other ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
}

static void
twist(uint32_t *state)
{
    enum { N = JY_TWISTER_WORDS, M = JY_TWISTER_SHIFT };
    for (int k = 0; k < N - M; k++)
        state[k] = mixed(state[k], state[k + 1], state[k + M]);
    for (int k = N - M; k < N - 1; k++)
        state[k] = mixed(state[k], state[k + 1], state[k + M - N]);
    state[N - 1] = mixed(state[N - 1], state[0], state[M - 1]);
}

static inline uint32_t
next_word(struct jy_twister *t)
{
    if (t->index >= JY_TWISTER_WORDS) {
        twist(t->state);
        t->index = 0;
    }
    uint32_t y = t->state[t->index++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

double
jy_random_draw(PyObject *twister)
{
    struct jy_twister *t = (struct jy_twister *)twister;
    uint32_t high = next_word(t) >> 5, low = next_word(t) >> 6;
    return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
}

int64_t
jy_random_bits(PyObject *twister, int64_t n, int32_t *failed)
{
    struct jy_twister *t = (struct jy_twister *)twister;
    *failed = n < 0 || n > 63;
    if (*failed || n == 0)
        return 0;
    if (n <= 32)
        return next_word(t) >> (32 - n);
    uint64_t low = next_word(t), high = next_word(t) >> (64 - n);
    return (int64_t)(low | high << 32);
}

/* -- NumPy's ----------------------------------------------------------------------------------------------------------------------- */

/* numpy/random/bitgen.h, part of NumPy's interface. */
struct bitgen {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
};

/* Classes of C's do not change, and no program can make one. */
static bool
is_static_type(const PyTypeObject *type, const char *name)
{
    return !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) && strncmp(type->tp_name, name, strlen(name)) == 0;
}

/* Does the generator's own struct, somewhere in it, say what the bit generator's does? A program may have put another bit generator beside it. */
static const struct bitgen *
own_struct(PyObject *generator, const struct bitgen *wanted)
{
    const char *at = (const char *)generator + sizeof(PyObject);
    const char *end = (const char *)generator + Py_TYPE(generator)->tp_basicsize;
    for (; at + sizeof *wanted <= end; at += sizeof(void *))
        if (memcmp(at, wanted, sizeof *wanted) == 0)
            return (const struct bitgen *)at;
    return NULL;
}

/* It can be had without waiting. */
static bool
is_free(PyObject *lock)
{
    PyObject *taken = PyObject_CallMethod(lock, "acquire", "O", Py_False);
    bool free = taken == Py_True;
    PyObject *released = free ? PyObject_CallMethod(lock, "release", NULL) : NULL;
    Py_XDECREF(taken);
    Py_XDECREF(released);
    return free;
}

/* refs: generator and bits borrowed */
static const struct bitgen *
struct_of(PyObject *generator, PyObject *bits)
{
    PyObject *capsule = PyObject_GetAttrString(bits, "capsule"), *lock = PyObject_GetAttrString(bits, "lock");
    const struct bitgen *wanted = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, "BitGenerator");
    const struct bitgen *own = wanted == NULL ? NULL : own_struct(generator, wanted);
    bool free = own != NULL && lock != NULL && is_free(lock);
    Py_XDECREF(capsule);
    Py_XDECREF(lock);
    return free ? own : NULL;
}

void *
jy_bitgen_of(PyObject *generator)
{
    const PyTypeObject *type = Py_TYPE(generator);
    if (!is_static_type(type, "numpy.random._generator.Generator") &&
        !is_static_type(type, "numpy.random.mtrand.RandomState"))
        return NULL;
    PyObject *bits = PyObject_GetAttrString(generator, "_bit_generator");
    bool known = bits != NULL && is_static_type(Py_TYPE(bits), "numpy.random.");
    const struct bitgen *bitgen = known ? struct_of(generator, bits) : NULL;
    Py_XDECREF(bits);
    PyErr_Clear();
    return (void *)(uintptr_t)bitgen;
}

double
jy_bitgen_double(void *bitgen)
{
    const struct bitgen *b = bitgen;
    return b->next_double(b->state);
}

/* refs: args stolen, each may be NULL: no memory; new result, NULL with an exception. The collector waits, as a finaliser would run in the middle of the flow. */
static PyObject *
draw(PyObject *rng, PyObject *name, size_t n, PyObject *const *args)
{
    PyObject *all[4] = { rng };
    bool good = true;
    for (size_t k = 0; k < n; k++) {
        all[k + 1] = args[k];
        good &= args[k] != NULL;
    }
    int collects = PyGC_Disable();
    PyObject *result = good ? PyObject_VectorcallMethod(name, all, n + 1, NULL) : NULL;
    if (collects)
        PyGC_Enable();
    for (size_t k = 0; k < n; k++)
        Py_XDECREF(args[k]);
    return result;
}

/* refs: result stolen, NULL with an exception */
static double
as_float(PyObject *result, int32_t *failed)
{
    *failed = result == NULL || !PyFloat_CheckExact(result);
    double value = *failed ? 0 : PyFloat_AS_DOUBLE(result);
    Py_XDECREF(result);
    PyErr_Clear();
    return value;
}

/* refs: result stolen, NULL with an exception */
static int64_t
as_int(PyObject *result, bool is_numpy, int32_t *failed)
{
    bool right = result != NULL && (is_numpy ? Py_IS_TYPE(result, &PyLongArrType_Type) : PyLong_CheckExact(result));
    int64_t value = !right ? -1 : is_numpy ? PyArrayScalar_VAL(result, Long) : PyLong_AsLongLong(result);
    *failed = !right || (value == -1 && PyErr_Occurred());
    Py_XDECREF(result);
    PyErr_Clear();
    return value;
}

double
jy_rng_f(void *bitgen, PyObject *rng, PyObject *name, int32_t *failed)
{
    (void)bitgen;
    return as_float(draw(rng, name, 0, NULL), failed);
}

double
jy_rng_f_f(void *bitgen, PyObject *rng, PyObject *name, double x, int32_t *failed)
{
    PyObject *args[] = { PyFloat_FromDouble(x) };
    (void)bitgen;
    return as_float(draw(rng, name, 1, args), failed);
}

double
jy_rng_f_ff(void *bitgen, PyObject *rng, PyObject *name, double x, double y, int32_t *failed)
{
    PyObject *args[] = { PyFloat_FromDouble(x), PyFloat_FromDouble(y) };
    (void)bitgen;
    return as_float(draw(rng, name, 2, args), failed);
}

double
jy_rng_f_fff(void *bitgen, PyObject *rng, PyObject *name, double x, double y, double z, int32_t *failed)
{
    PyObject *args[] = { PyFloat_FromDouble(x), PyFloat_FromDouble(y), PyFloat_FromDouble(z) };
    (void)bitgen;
    return as_float(draw(rng, name, 3, args), failed);
}

int64_t
jy_rng_i_f(void *bitgen, PyObject *rng, PyObject *name, double x, int32_t *failed)
{
    PyObject *args[] = { PyFloat_FromDouble(x) };
    (void)bitgen;
    return as_int(draw(rng, name, 1, args), false, failed);
}

int64_t
jy_rng_i_if(void *bitgen, PyObject *rng, PyObject *name, int64_t n, double x, int32_t *failed)
{
    PyObject *args[] = { PyLong_FromLongLong(n), PyFloat_FromDouble(x) };
    (void)bitgen;
    return as_int(draw(rng, name, 2, args), false, failed);
}

static int64_t
draw_int(bool is_numpy, PyObject *rng, PyObject *name, int64_t n, int32_t *failed)
{
    PyObject *args[] = { PyLong_FromLongLong(n) };
    return as_int(draw(rng, name, 1, args), is_numpy, failed);
}

static int64_t
draw_between(bool is_numpy, PyObject *rng, PyObject *name, int64_t n, int64_t m, int32_t *failed)
{
    PyObject *args[] = { PyLong_FromLongLong(n), PyLong_FromLongLong(m) };
    return as_int(draw(rng, name, 2, args), is_numpy, failed);
}

int64_t
jy_rng_i_i(void *bitgen, PyObject *rng, PyObject *name, int64_t n, int32_t *failed)
{
    (void)bitgen;
    return draw_int(false, rng, name, n, failed);
}

int64_t
jy_rng_i_ii(void *bitgen, PyObject *rng, PyObject *name, int64_t n, int64_t m, int32_t *failed)
{
    (void)bitgen;
    return draw_between(false, rng, name, n, m, failed);
}

int64_t
jy_rng_l_i(void *bitgen, PyObject *rng, PyObject *name, int64_t n, int32_t *failed)
{
    (void)bitgen;
    return draw_int(true, rng, name, n, failed);
}

int64_t
jy_rng_l_ii(void *bitgen, PyObject *rng, PyObject *name, int64_t n, int64_t m, int32_t *failed)
{
    (void)bitgen;
    return draw_between(true, rng, name, n, m, failed);
}
