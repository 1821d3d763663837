/* Random numbers in flows. random.random() and getrandbits(), of the module and of the program's own random.Random, step the state where CPython keeps it; uniform draws of NumPy's generators
 * go through their interface for C, and their other methods are called. A draw cannot be taken back, so no check may follow it within its instruction, and a callee that is inlined has none.
 *
 * To add a method of NumPy's: a row in `draws`. It must give an object of one type for these arguments, and raise only before it draws. */
#include "frontend/cpython/own.h"
#include "frontend/cpython/twister.h"
#include "frontend/flow.h"
#include "frontend/instance.h"

#include <string.h>

enum owner { GENERATOR = 1, STATE = 2, BOTH = 3, TWISTER = 4 };

struct draw {
    uint8_t owners;
    const char *name, *args; /* letters: f float, i int */
    const char *helper;      /* its result is a float, an int, or with rng_l an np.int64 */
};

static const struct draw draws[] = {
    { TWISTER, "random", "", "random_draw" },
    { TWISTER, "getrandbits", "i", "random_bits" },
    { BOTH, "random", "", "bitgen_double" },
    { STATE, "random_sample", "", "bitgen_double" },
    { STATE, "rand", "", "bitgen_double" },
    { STATE, "randn", "", "rng_f" },
    { BOTH, "standard_normal", "", "rng_f" },
    { BOTH, "standard_exponential", "", "rng_f" },
    { BOTH, "normal", "", "rng_f" },
    { BOTH, "normal", "f", "rng_f_f" },
    { BOTH, "normal", "ff", "rng_f_ff" },
    { BOTH, "uniform", "", "rng_f" },
    { BOTH, "uniform", "f", "rng_f_f" },
    { BOTH, "uniform", "ff", "rng_f_ff" },
    { BOTH, "exponential", "", "rng_f" },
    { BOTH, "exponential", "f", "rng_f_f" },
    { BOTH, "lognormal", "ff", "rng_f_ff" },
    { BOTH, "gamma", "f", "rng_f_f" },
    { BOTH, "gamma", "ff", "rng_f_ff" },
    { BOTH, "beta", "ff", "rng_f_ff" },
    { BOTH, "laplace", "ff", "rng_f_ff" },
    { BOTH, "logistic", "ff", "rng_f_ff" },
    { BOTH, "weibull", "f", "rng_f_f" },
    { BOTH, "chisquare", "f", "rng_f_f" },
    { BOTH, "triangular", "fff", "rng_f_fff" },
    { BOTH, "poisson", "f", "rng_i_f" },
    { BOTH, "geometric", "f", "rng_i_f" },
    { BOTH, "binomial", "if", "rng_i_if" },
    { STATE, "randint", "i", "rng_i_i" },
    { STATE, "randint", "ii", "rng_i_ii" },
    { GENERATOR, "integers", "i", "rng_l_i" },
    { GENERATOR, "integers", "ii", "rng_l_ii" },
};

enum { NDRAWS = sizeof draws / sizeof *draws };

/* Of NumPy's classes; they are C's, and do not change. */
static unsigned
owner_of(PyObject *self)
{
    const PyTypeObject *type = Py_TYPE(self);
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        return 0;
    return strcmp(type->tp_name, "numpy.random._generator.Generator") == 0 ? GENERATOR
           : strcmp(type->tp_name, "numpy.random.mtrand.RandomState") == 0 ? STATE
                                                                           : 0;
}

/* Does the class of _random.Random's instance have the method from there? */
static bool
is_twister_method(PyObject *self, PyObject *name)
{
    PyObject *raw = _PyType_Lookup(Py_TYPE(self), name);
    return raw != NULL && Py_TYPE(self)->tp_getattro == PyObject_GenericGetAttr &&
           jy_twister_is_method(raw, jy_utf8(name));
}

static bool
has_row(unsigned owner, PyObject *name)
{
    bool found = false;
    for (size_t k = 0; k < NDRAWS; k++)
        found |= (draws[k].owners & owner) != 0 && PyUnicode_CompareWithASCIIString(name, draws[k].name) == 0;
    return found;
}

bool
jy_vdraw_has(struct jy_vbuild *b, const struct jy_val *v, PyObject *name)
{
    struct jy_frame *f = b->frame->f;
    PyObject *self = v->known->v_object;
    jy_src source = v->known->v_source;
    if (self == NULL || source == JY_NO_SOURCE || v->input == 0)
        return false;
    PyTypeObject *type = Py_TYPE(self);
    if (has_row(owner_of(self), name)) {
        jy_guard_type(f, source, type);
        return true;
    }
    if (!has_row(TWISTER, name) || !is_twister_method(self, name) || jy_own_attribute(self, name) != NULL)
        return false;
    jy_guard_type(f, source, type);
    jy_class_get(f, type, NULL, name);
    if (jy_own_has_dict(type))
        jy_guard_not_own(f, source, name);
    return true;
}

static bool
fits(const struct draw *row, size_t nargs, struct jy_val *const *args)
{
    if (strlen(row->args) != nargs)
        return false;
    for (size_t k = 0; k < nargs; k++)
        if (args[k]->kind != JY_K_INT && (row->args[k] != 'f' || args[k]->kind != JY_K_FLOAT))
            return false;
    return true;
}

static const struct draw *
find_row(unsigned owner, PyObject *name, size_t nargs, struct jy_val *const *args)
{
    for (size_t k = 0; k < NDRAWS; k++)
        if ((draws[k].owners & owner) != 0 && PyUnicode_CompareWithASCIIString(name, draws[k].name) == 0 &&
            fits(&draws[k], nargs, args))
            return &draws[k];
    return NULL;
}

/* The generator: an input of the unit, or an object of its table. */
static jy_fv
part_of(struct jy_vbuild *b, const struct jy_val *self, PyObject *object, bool bitgen)
{
    struct jy_flow_input input = { .type = JY_F_PTR };
    if (self != NULL) {
        input.kind = bitgen ? JY_FLOW_IN_BITGEN : JY_FLOW_IN_OBJECT;
        input.number = self->input - 1;
    } else {
        input.kind = bitgen ? JY_FLOW_IN_CONST_BITGEN : JY_FLOW_IN_CONST_OBJECT;
        input.number = jy_keep(b->t->unit, object);
    }
    return jy_flow_input(b->w, &input);
}

static jy_status
draw(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *self, PyObject *object, PyObject *name,
     const struct draw *row, size_t nargs, struct jy_val *const *args)
{
    jy_fv regs[6];
    size_t n = 0;
    if (row == NULL)
        return jy_vb_lacks(b, "%s() of a random generator, of these arguments", jy_utf8(name));
    TRY(jy_vb_effect(b));
    if (row->owners == TWISTER && !jy_twister_is_readable(object))
        return jy_vb_lacks(b, "a random generator that keeps its state elsewhere");
    regs[n++] = part_of(b, self, object, row->owners != TWISTER);
    if (strncmp(row->helper, "rng_", strlen("rng_")) == 0) {
        regs[n++] = part_of(b, self, object, false);
        regs[n++] = jy_vaddress(b, name);
    }
    for (size_t k = 0; k < nargs; k++) {
        if (row->args[k] == 'f')
            TRY(jy_vas_float(b, &regs[n++], args[k]));
        else
            regs[n++] = args[k]->regs[0];
    }
    struct jy_flow_helper helper;
    jy_fv result = jy_vhelp(b, row->helper, n, regs, "a draw that raises");
    (void)jy_flow_helper_row(&helper, row->helper);
    bool is_numpy = strncmp(row->helper, "rng_l", strlen("rng_l")) == 0;
    *out = jy_val_reg(b,
                      is_numpy                  ? JY_K_NP
                      : helper.type == JY_F_F64 ? JY_K_FLOAT
                                                : JY_K_INT,
                      is_numpy ? JY_I64 : JY_DTYPE_NONE, result);
    return JY_OK;
}

jy_status
jy_vdraw_method(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *self, PyObject *name, size_t nargs,
                struct jy_val *const *args)
{
    PyObject *object = self->known->v_object;
    unsigned owner = owner_of(object);
    const struct draw *row = find_row(owner != 0 ? owner : TWISTER, name, nargs, args);
    return draw(b, out, self, object, name, row, nargs, args);
}

/* The row's name as an object, where `callable` is that very method, bound; else NULL. */
static PyObject *
bound_name(PyObject **self, struct jy_frame *f, PyObject *callable, const struct draw *row)
{
    PyObject *name = jy_hold(f, PyUnicode_InternFromString(row->name));
    if (name == NULL) {
        PyErr_Clear();
        return NULL;
    }
    if (row->owners == TWISTER) {
        *self = jy_twister_of_bound(callable, row->name);
        return *self != NULL ? name : NULL;
    }
    if (!PyMethod_Check(callable) || (owner_of(PyMethod_GET_SELF(callable)) & row->owners) == 0)
        return NULL;
    *self = PyMethod_GET_SELF(callable);
    return PyMethod_GET_FUNCTION(callable) == _PyType_Lookup(Py_TYPE(*self), name) ? name : NULL;
}

jy_status
jy_vdraw_bound(struct jy_vbuild *b, struct jy_val **out, PyObject *callable, size_t nargs, struct jy_val *const *args)
{
    PyObject *self = NULL, *name = NULL;
    *out = NULL;
    if (!PyMethod_Check(callable) && !Py_IS_TYPE(callable, &PyCFunction_Type))
        return JY_OK;
    for (size_t k = 0; k < NDRAWS && name == NULL; k++)
        name = bound_name(&self, b->frame->f, callable, &draws[k]);
    if (name == NULL)
        return JY_OK;
    unsigned owner = owner_of(self);
    const struct draw *row = find_row(owner != 0 ? owner : TWISTER, name, nargs, args);
    return draw(b, out, NULL, self, name, row, nargs, args);
}
