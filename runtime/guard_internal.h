/* A guard program from inside: steps that need nothing but what they hold. Only guard_build.c, guard_check.c and exec_flat.c include this. */
#ifndef JY_RUNTIME_GUARD_INTERNAL_H
#define JY_RUNTIME_GUARD_INTERNAL_H

#include "runtime/numpy_api.h"

#include "frontend/cpython/compat.h"
#include "frontend/cpython/probe.h"
#include "runtime/guard_check.h"

#define JY_NO_GUARD UINT32_MAX

enum jy_gop {
    /* loads: values[to] = */
    JY_G_PARAMETER, /* slots[a] */
    JY_G_COPY,      /* values[a]: a second input from one source */
    JY_G_GLOBAL, /* values[a], a function: its global or builtin `name`, through a remembered place in the dictionary */
    JY_G_MODULE_ATTR, /* values[a], a module: its attribute `name`, likewise */
    JY_G_ATTR,        /* values[a].name, through a probe */
    JY_G_METHOD,      /* the function behind the method values[a].name */
    JY_G_SOURCE,      /* any other source */
    /* checks */
    JY_G_C_ARRAY,           /* values[a] is a C-contiguous array of the type of `descr`, `ndim`, flags `b` */
    JY_G_PARAMETER_C_ARRAY, /* values[to] = slots[a], and it is */
    JY_G_SAME_EXTENT,       /* axis_a of values[a] and axis_b of values[b] */
    JY_G_EXTENT_IS,         /* axis_a of values[a] and `value` */
    JY_G_TYPE,
    JY_G_IS,
    JY_G_SAME,
    JY_G_NOT_SAME,
    JY_G_NOT_OWN, /* the instance values[a] has nothing called `name` itself */
    JY_G_PRESENT,
    JY_G_FITS_INT64,
    JY_G_OTHER /* as the guard says */
};

struct jy_gstep {
    uint8_t op, ndim, axis_a, axis_b;
    uint32_t guard; /* of the unit; JY_NO_GUARD */
    uint32_t to, a, b;
    uint32_t failures;
    union {
        PyObject *object;
        int64_t value;
        PyArray_Descr *descr; /* of C_ARRAY: NumPy's own of the type, which is never freed */
        struct jy_gplace *place;
        const struct jy_source *source;
        const struct jy_guard *row;
    } u;
};

/* What is looked up by a name, and where it was found last. */
struct jy_gplace {
    PyObject *name;
    struct jy_dict_slot slot; /* GLOBAL, MODULE_ATTR */
    struct jy_probe probe;    /* ATTR, METHOD, NOT_OWN */
    bool builtin;
};

struct jy_gsteps {
    struct jy_gstep *at;
    size_t n;
};

struct jy_gdict {
    PyObject *dict; /* borrowed from a function or module that the unit's object table or the function keeps alive */
    PyObject *
        module; /* whose it is, NULL: a function's; a module may be given another class, whose attributes hide the dictionary's */
    uint64_t tag;
};

struct jy_gtype {
    PyTypeObject *type; /* in the unit's object table */
    unsigned tag;       /* 0: none, it counts as changed */
};

struct jy_guard_program {
    const struct jy_unit *unit;
    size_t nvalues, ninputs;
    struct jy_gsteps fixed, per_call;
    struct jy_gdict *dicts;
    size_t ndicts;
    struct jy_gtype *types;
    size_t ntypes;
    PyObject **fixed_values; /* per value: what the fixed part loaded */
    uint32_t *live;          /* values of the fixed part that each call needs */
    size_t nlive;
    struct jy_gplace *places;
    size_t nplaces;
    uint32_t running; /* calls that walk over the steps right now */
};

/* What the fixed part found still holds. */
static inline bool
jy_guards_nothing_written(const struct jy_guard_program *p)
{
    if (p->fixed.n == 0)
        return true;
    for (const struct jy_gdict *d = p->dicts, *end = d + p->ndicts; d < end; d++)
        if (jy_probe_dict_tag(d->dict) != d->tag || (d->module != NULL && !PyModule_CheckExact(d->module)))
            return false;
    for (const struct jy_gtype *t = p->types, *end = t + p->ntypes; t < end; t++)
        if (t->tag == 0 || jy_probe_type_tag(t->type) != t->tag)
            return false;
    return true;
}

/* A load of the fixed part. refs: borrowed; NULL with or without an exception */
PyObject *jy_guards_load_fixed(const struct jy_gstep *step, PyObject *const *values);

/* guard_value.c. `value`, `other`: of the guard's sources; `inputs`: what SIZE and DISJOINT are about. 1: holds, 0: fails, -1: exception. */
int jy_guard_holds(const struct jy_unit *unit, const struct jy_guard *guard, PyObject *value, PyObject *other,
                   PyObject *const *inputs);

#endif
