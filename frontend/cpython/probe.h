/* Attributes found where they were found last time, as CPython's own inline caches do it.
 *
 * A probe remembers where the look-up of one name in objects of one class ended: in the object's own values, in a slot, or in
 * the class. It is trusted only while the class has the version tag that it had then; a tag is never given out twice, so neither a
 * change of the class, of a base or of its __getattribute__ nor another class at the same address can go unseen. What the tag does
 * not cover, an attribute of the instance that hides the class's, is looked at each time. */
#ifndef JY_FRONTEND_CPYTHON_PROBE_H
#define JY_FRONTEND_CPYTHON_PROBE_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

enum jy_probe_kind {
    JY_PROBE_NONE,
    JY_PROBE_VALUES, /* value `index` of the object's own attributes */
    JY_PROBE_SLOT,   /* a member of __slots__ at byte `index` */
    JY_PROBE_CLASS,  /* `value`, which the class holds; the instance has nothing of that name */
    JY_PROBE_OF_TYPE /* the object is the class; `value` */
};

struct jy_probe {
    uint8_t kind;
    bool hideable;    /* CLASS: objects have attributes of their own */
    unsigned version; /* of the class */
    Py_ssize_t
        index; /* CLASS: of the name among the attributes that instances have, -1: `nkeys` names, none of them this */
    Py_ssize_t nkeys;
    PyObject *name,
        *value; /* borrowed: the name from whoever holds the probe, the value from the class of that version */
};

/* refs: borrowed. NULL: not known, look the attribute up. Of a probe that learnt absence: any object, if the instance surely has nothing of that name. */
PyObject *jy_probe_get(const struct jy_probe *probe, PyObject *object);
/* After a look-up that ran no code of the program's found `found` (NULL: nothing). Cannot fail: what is not recognised makes the probe know nothing. */
void jy_probe_learn(struct jy_probe *probe, PyObject *object, PyObject *name, PyObject *found);
/* The same where the attribute is a method bound to `object`: the probe then gives its function. */
void jy_probe_learn_method(struct jy_probe *probe, PyObject *object, PyObject *name, PyObject *function);

/* The instance itself has nothing of that name; the class does not matter. */
void jy_probe_learn_absence(struct jy_probe *probe, PyObject *object, PyObject *name);

/* Of the class as it is; 0: it has none. Another one after every change. */
static inline unsigned
jy_probe_type_tag(const PyTypeObject *type)
{
    return type->tp_version_tag;
}

/* Differs from what it was at any earlier time between which and now the dictionary was written (and may differ without). */
static inline uint64_t
jy_probe_dict_tag(PyObject *dict)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return ((PyDictObject *)dict)->ma_version_tag;
#pragma GCC diagnostic pop
}

#endif
