/* See probe.h. Where instances keep their attributes differs between the versions:
 *
 *     3.11   a pointer to values before the object, NULL once it has a dictionary
 *     3.12   the same word is either values or a dictionary, told apart by its lowest bit
 *     3.13   values inside the object, valid or not, beside a pointer to a dictionary
 *
 * In all of them the names stand in the class's shared keys, which only grow. An object that has a dictionary is probed through that
 * dictionary's keys, entry and name compared. */
#define Py_BUILD_CORE 1 /* for the layouts in internal/ */
#include "frontend/cpython/probe.h"

#include "frontend/cpython/compat.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_object.h"
#include <structmember.h>

static PyDictKeysObject *
shared_keys(PyTypeObject *type)
{
    return ((PyHeapTypeObject *)type)->ht_cached_keys;
}

/* The attributes that the object keeps without a dictionary, and through *dict the dictionary; either may be NULL. */
static PyObject **
own_values(PyObject **dict, PyObject *object)
{
#if PY_VERSION_HEX >= 0x030d0000
    *dict = (PyObject *)_PyObject_GetManagedDict(object);
    if (!(Py_TYPE(object)->tp_flags & Py_TPFLAGS_INLINE_VALUES) || !_PyObject_InlineValues(object)->valid)
        return NULL;
    return _PyObject_InlineValues(object)->values;
#elif PY_VERSION_HEX >= 0x030c0000
    PyDictOrValues both = *_PyObject_DictOrValuesPointer(object);
    if (_PyDictOrValues_IsValues(both)) {
        *dict = NULL;
        return _PyDictOrValues_GetValues(both)->values;
    }
    *dict = _PyDictOrValues_GetDict(both);
    return NULL;
#else
    *dict = *_PyObject_ManagedDictPointer(object);
    PyDictValues *values = *_PyObject_ValuesPointer(object);
    return values == NULL ? NULL : values->values;
#endif
}

/* The value of the entry `index` of a dictionary if its name is `name`. */
static PyObject *
dict_entry(PyObject *object, Py_ssize_t index, PyObject *name)
{
    PyDictObject *dict = (PyDictObject *)object;
    PyDictKeysObject *keys = dict->ma_keys;
    if (!DK_IS_UNICODE(keys) || index >= keys->dk_nentries || DK_UNICODE_ENTRIES(keys)[index].me_key != name)
        return NULL;
    return dict->ma_values != NULL ? dict->ma_values->values[index] : DK_UNICODE_ENTRIES(keys)[index].me_value;
}

static PyObject *
get_own(const struct jy_probe *p, PyObject *object)
{
    PyObject *dict, **values = own_values(&dict, object);
    if (values != NULL)
        return values[p->index];
    return dict != NULL ? dict_entry(dict, p->index, p->name) : NULL;
}

static bool
is_hidden(const struct jy_probe *p, PyObject *object)
{
    if (!p->hideable)
        return false;
    PyObject *dict, **values = own_values(&dict, object);
    if (values == NULL)
        return true; /* perhaps */
    return p->index >= 0 ? values[p->index] != NULL : shared_keys(Py_TYPE(object))->dk_nentries != p->nkeys;
}

PyObject *
jy_probe_get(const struct jy_probe *p, PyObject *object)
{
    PyTypeObject *type = p->kind == JY_PROBE_OF_TYPE ? (PyTypeObject *)object : Py_TYPE(object);
    if (p->kind == JY_PROBE_NONE || (p->kind == JY_PROBE_OF_TYPE && !Py_IS_TYPE(object, &PyType_Type)) ||
        jy_probe_type_tag(type) != p->version)
        return NULL;
    switch ((enum jy_probe_kind)p->kind) {
    case JY_PROBE_VALUES:
        return get_own(p, object);
    case JY_PROBE_SLOT:
        return *(PyObject **)((char *)object + p->index);
    case JY_PROBE_CLASS:
        return is_hidden(p, object) ? NULL : p->value;
    case JY_PROBE_OF_TYPE:
        return p->value;
    case JY_PROBE_NONE:
        break;
    }
    return NULL;
}

/* ---- learning ---- */

/* Index of the name among the keys; -1: no entry has a name equal to it. False: another object of the same text is there. */
static bool
find_key(Py_ssize_t *index, PyDictKeysObject *keys, PyObject *name)
{
    *index = -1;
    for (Py_ssize_t i = 0; i < keys->dk_nentries; i++) {
        PyObject *key = DK_UNICODE_ENTRIES(keys)[i].me_key;
        if (key == name) {
            *index = i;
            return true;
        }
        if (key == NULL || !PyUnicode_CheckExact(key) || PyUnicode_Compare(key, name) == 0)
            return false;
    }
    return true;
}

static void
learn_slot(struct jy_probe *p, PyObject *object, PyObject *raw)
{
    const PyMemberDef *member = ((PyMemberDescrObject *)raw)->d_member;
    if (member->type != T_OBJECT_EX || member->flags != 0 || !PyObject_TypeCheck(object, PyDescr_TYPE(raw)))
        return;
    p->index = member->offset;
    p->kind = JY_PROBE_SLOT;
}

/* Objects whose attributes lie as own_values says. */
static bool
is_managed(PyTypeObject *type)
{
    return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) &&
           shared_keys(type) != NULL;
}

static void
learn_own(struct jy_probe *p, PyTypeObject *type)
{
    if (is_managed(type) && find_key(&p->index, shared_keys(type), p->name) && p->index >= 0)
        p->kind = JY_PROBE_VALUES;
}

static void
learn_class(struct jy_probe *p, PyTypeObject *type, PyObject *raw)
{
    p->hideable = type->tp_dictoffset != 0 || (type->tp_flags & Py_TPFLAGS_MANAGED_DICT);
    if (p->hideable && (!is_managed(type) || !find_key(&p->index, shared_keys(type), p->name)))
        return;
    p->nkeys = p->hideable ? shared_keys(type)->dk_nentries : 0;
    p->value = raw;
    p->kind = JY_PROBE_CLASS;
}

/* A builtin's behaviour as a descriptor cannot change; that of a class of the program's could, and no version would tell. */
static bool
is_steady(PyObject *raw)
{
    return PyType_HasFeature(Py_TYPE(raw), Py_TPFLAGS_IMMUTABLETYPE);
}

static void
learn_of_type(struct jy_probe *p, PyTypeObject *type, PyObject *name, PyObject *found)
{
    p->version = jy_compat_take_type_version(type);
    if (p->version == 0 || _PyType_Lookup(type, name) != found || _PyType_Lookup(&PyType_Type, name) != NULL ||
        !is_steady(found))
        return; /* bound, computed, or nobody knows for how long */
    p->value = found;
    p->kind = JY_PROBE_OF_TYPE;
}

/* What the class holds under that name; false: its instances are not probed. */
static bool
begin(struct jy_probe *p, PyObject **raw, PyObject *object, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(object);
    *p = (struct jy_probe){ .kind = JY_PROBE_NONE, .index = -1, .name = name };
    if (!PyUnicode_CheckExact(name) || type->tp_getattro != PyObject_GenericGetAttr ||
        (p->version = jy_compat_take_type_version(type)) == 0)
        return false;
    *raw = _PyType_Lookup(type, name);
    return *raw == NULL || is_steady(*raw);
}

void
jy_probe_learn(struct jy_probe *p, PyObject *object, PyObject *name, PyObject *found)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject *raw;
    bool known = begin(p, &raw, object, name);
    if (found == NULL)
        return;
    if (type == &PyType_Type) {
        learn_of_type(p, (PyTypeObject *)object, name, found);
        return;
    }
    if (!known)
        return;
    if (raw != NULL && Py_IS_TYPE(raw, &PyMemberDescr_Type))
        learn_slot(p, object, raw);
    else if (raw == found && Py_TYPE(raw)->tp_descr_get == NULL)
        learn_class(p, type, raw);
    else if (raw == NULL || Py_TYPE(raw)->tp_descr_set == NULL)
        learn_own(p, type);
    if (p->kind != JY_PROBE_NONE && p->kind != JY_PROBE_CLASS && jy_probe_get(p, object) != found)
        p->kind = JY_PROBE_NONE;
}

void
jy_probe_learn_method(struct jy_probe *p, PyObject *object, PyObject *name, PyObject *function)
{
    PyObject *raw;
    if (begin(p, &raw, object, name) && raw == function && PyFunction_Check(function))
        learn_class(p, Py_TYPE(object), raw);
}

void
jy_probe_learn_absence(struct jy_probe *p, PyObject *object, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(object);
    *p = (struct jy_probe){ .kind = JY_PROBE_NONE, .index = -1, .name = name };
    if (PyUnicode_CheckExact(name) && (p->version = jy_compat_take_type_version(type)) != 0)
        learn_class(p, type, Py_None);
}
