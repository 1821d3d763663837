/* Random numbers in flows: random.random and the method of the program's own random.Random, which step the state where CPython keeps it, and the uniform draws of NumPy's generators through
 * their interface for C. A draw cannot be taken back, so no check may follow it within its instruction, and a callee that is inlined has none.
 *
 * To add a method of NumPy's: a row in `draws`, and a helper that draws as the method does and gives what it gives. */
#include "frontend/cpython/own.h"
#include "frontend/cpython/twister.h"
#include "frontend/flow.h"
#include "frontend/instance.h"

#include <string.h>

static const struct {
    const char *type, *name, *helper;
} draws[] = {
    { "numpy.random._generator.Generator", "random", "bitgen_double" },
    { "numpy.random.mtrand.RandomState", "random", "bitgen_double" },
    { "numpy.random.mtrand.RandomState", "random_sample", "bitgen_double" },
    { "numpy.random.mtrand.RandomState", "rand", "bitgen_double" },
};

/* The helper for a method of one of NumPy's generators without arguments; NULL: there is none. Classes of C's do not change. */
static const char *
numpy_draw(PyObject *self, PyObject *name)
{
    const PyTypeObject *type = Py_TYPE(self);
    for (size_t k = 0; k < sizeof draws / sizeof *draws; k++)
        if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) && strcmp(type->tp_name, draws[k].type) == 0 &&
            PyUnicode_CompareWithASCIIString(name, draws[k].name) == 0)
            return draws[k].helper;
    return NULL;
}

/* Of a bound method. */
static const char *
numpy_bound_draw(struct jy_frame *f, PyObject *method)
{
    PyObject *self = PyMethod_GET_SELF(method);
    for (size_t k = 0; k < sizeof draws / sizeof *draws; k++) {
        PyObject *name = jy_hold(f, PyUnicode_InternFromString(draws[k].name));
        if (name != NULL && numpy_draw(self, name) != NULL &&
            PyMethod_GET_FUNCTION(method) == _PyType_Lookup(Py_TYPE(self), name))
            return numpy_draw(self, name);
    }
    PyErr_Clear();
    return NULL;
}

static bool
is_twister_draw(PyObject *self, PyObject *name)
{
    PyObject *raw = _PyType_Lookup(Py_TYPE(self), name);
    return raw != NULL && Py_TYPE(self)->tp_getattro == PyObject_GenericGetAttr && jy_twister_is_draw(raw);
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
    if (numpy_draw(self, name) != NULL) {
        jy_guard_type(f, source, type);
        return true;
    }
    if (!is_twister_draw(self, name) || jy_own_attribute(self, name) != NULL)
        return false;
    jy_guard_type(f, source, type);
    jy_class_get(f, type, NULL, name);
    if (jy_own_has_dict(type))
        jy_guard_not_own(f, source, name);
    return true;
}

static jy_status
check_place(struct jy_vbuild *b, size_t nargs)
{
    if (nargs != 0)
        return jy_vb_lacks(b, "random numbers of %zu arguments", nargs);
    if (b->frame->back != NULL)
        return jy_vb_lacks(b, "a random number in a function that is called");
    return JY_OK;
}

static jy_status
draw(struct jy_vbuild *b, struct jy_val **out, const char *helper, PyObject *self, struct jy_flow_input input)
{
    if (strcmp(helper, "random_draw") == 0 && !jy_twister_is_readable(self))
        return jy_vb_lacks(b, "a random generator that keeps its state elsewhere");
    input.type = JY_F_PTR;
    jy_fv from = jy_flow_input(b->w, &input);
    *out = jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, jy_vhelp(b, helper, 1, &from, NULL));
    return JY_OK;
}

jy_status
jy_vdraw_method(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *self, PyObject *name, size_t nargs)
{
    PyObject *object = self->known->v_object;
    const char *helper = numpy_draw(object, name);
    struct jy_flow_input input = { .kind = helper != NULL ? JY_FLOW_IN_BITGEN : JY_FLOW_IN_OBJECT,
                                   .number = self->input - 1 };
    TRY(check_place(b, nargs));
    return draw(b, out, helper != NULL ? helper : "random_draw", object, input);
}

jy_status
jy_vdraw_bound(struct jy_vbuild *b, struct jy_val **out, PyObject *callable, size_t nargs)
{
    const char *helper = "random_draw";
    PyObject *self = jy_twister_of_bound(callable);
    bool is_twister = self != NULL;
    *out = NULL;
    if (PyMethod_Check(callable)) {
        self = PyMethod_GET_SELF(callable);
        helper = numpy_bound_draw(b->frame->f, callable);
        if (helper == NULL)
            return JY_OK;
    }
    if (self == NULL)
        return JY_OK;
    TRY(check_place(b, nargs));
    struct jy_flow_input input = { .kind = is_twister ? JY_FLOW_IN_CONST_OBJECT : JY_FLOW_IN_CONST_BITGEN,
                                   .number = jy_keep(b->t->unit, self) };
    return draw(b, out, helper, self, input);
}
