/* Attributes that an object holds itself.
 *
 *     3.11   values behind one pointer, the dictionary behind another
 *     3.12   one pointer, which is either of them
 *     3.13   values inside the object, valid until a dictionary takes them over
 *
 * Values belong to the keys that the class's instances share; a key of theirs that was made by hand may not be interned. */
#define Py_BUILD_CORE 1 /* for the layouts in internal/ */
#include "frontend/cpython/own.h"

#include "internal/pycore_dict.h"
#include "internal/pycore_object.h"
#include <stddef.h>
#include <string.h>
#include <structmember.h>

#define HAS_312 (PY_VERSION_HEX >= 0x030c0000)
#define HAS_313 (PY_VERSION_HEX >= 0x030d0000)

static bool
has_foreign_keys(PyObject *dict)
{
    return dict != NULL && PyDict_Check(dict) && !DK_IS_UNICODE(((PyDictObject *)dict)->ma_keys);
}

static PyObject *
in_dict(PyObject *dict, PyObject *name)
{
    if (has_foreign_keys(dict))
        return dict;
    PyObject *found = dict != NULL && PyDict_Check(dict) ? PyDict_GetItemWithError(dict, name) : NULL;
    if (found == NULL)
        PyErr_Clear();
    return found;
}

static bool
is_name(PyObject *key, PyObject *name)
{
    return key == name ||
           (key != NULL && PyUnicode_Check(key) && !PyUnicode_CHECK_INTERNED(key) && PyUnicode_Compare(key, name) == 0);
}

static PyObject *
in_values(PyTypeObject *type, PyDictValues *values, PyObject *name)
{
    PyDictKeysObject *keys = ((PyHeapTypeObject *)type)->ht_cached_keys;
    if (keys == NULL || keys->dk_kind == DICT_KEYS_GENERAL)
        return NULL;
    PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(keys);
    for (Py_ssize_t i = 0; i < keys->dk_nentries; i++)
        if (is_name(entries[i].me_key, name))
            return values->values[i];
    return NULL;
}

static PyObject *
in_managed(PyObject *object, PyObject *name)
{
#if HAS_313
    PyTypeObject *type = Py_TYPE(object);
    if ((type->tp_flags & Py_TPFLAGS_INLINE_VALUES) && _PyObject_InlineValues(object)->valid)
        return in_values(type, _PyObject_InlineValues(object), name);
    return in_dict((PyObject *)_PyObject_ManagedDictPointer(object)->dict, name);
#elif HAS_312
    PyDictOrValues at = *_PyObject_DictOrValuesPointer(object);
    if (_PyDictOrValues_IsValues(at))
        return in_values(Py_TYPE(object), _PyDictOrValues_GetValues(at), name);
    return in_dict(_PyDictOrValues_GetDict(at), name);
#else
    PyDictValues *values = *_PyObject_ValuesPointer(object);
    if (values != NULL)
        return in_values(Py_TYPE(object), values, name);
    return in_dict(*_PyObject_ManagedDictPointer(object), name);
#endif
}

PyObject *
jy_own_attribute(PyObject *object, PyObject *name)
{
    if (Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT)
        return in_managed(object, name);
    PyObject **dict = _PyObject_GetDictPtr(object);
    return dict != NULL ? in_dict(*dict, name) : NULL;
}

PyObject *
jy_own_dict(PyObject *object)
{
    if (!(Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
        PyObject **dict = Py_TYPE(object)->tp_dictoffset != 0 ? _PyObject_GetDictPtr(object) : NULL;
        return dict != NULL ? *dict : NULL;
    }
#if HAS_313
    return (PyObject *)_PyObject_ManagedDictPointer(object)->dict;
#elif HAS_312
    PyDictOrValues at = *_PyObject_DictOrValuesPointer(object);
    return _PyDictOrValues_IsValues(at) ? NULL : _PyDictOrValues_GetDict(at);
#else
    return *_PyObject_ManagedDictPointer(object);
#endif
}

bool
jy_own_has_foreign_keys(PyObject *object)
{
    return jy_own_has_dict(Py_TYPE(object)) && has_foreign_keys(jy_own_dict(object));
}

bool
jy_own_class_has_foreign_keys(PyTypeObject *type)
{
    PyObject *mro = type->tp_mro;
    for (Py_ssize_t i = 0, n = mro != NULL ? PyTuple_GET_SIZE(mro) : 0; i < n; i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        if ((base->tp_flags & Py_TPFLAGS_HEAPTYPE) && has_foreign_keys(base->tp_dict))
            return true;
    }
    return false;
}

bool
jy_own_has_dict(PyTypeObject *type)
{
    return (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) || type->tp_dictoffset != 0;
}

bool
jy_own_is_slot(PyTypeObject *type, PyObject *descriptor)
{
    if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type))
        return false;
    const PyMemberDef *member = ((PyMemberDescrObject *)descriptor)->d_member;
    return member->type == T_OBJECT_EX && member->flags == 0 &&
           PyType_IsSubtype(type, ((PyMemberDescrObject *)descriptor)->d_common.d_type);
}

PyObject *
jy_own_slot(bool *ok, PyObject *object, PyObject *descriptor)
{
    *ok = jy_own_is_slot(Py_TYPE(object), descriptor);
    return *ok ? *(PyObject **)((char *)object + ((PyMemberDescrObject *)descriptor)->d_member->offset) : NULL;
}

PyObject *
jy_own_class_attribute(PyTypeObject *type, PyObject *name)
{
#if HAS_312
    PyObject *dict = PyType_GetDict(type), *found = in_dict(dict, name);
    Py_XDECREF(dict);
    return found;
#else
    return in_dict(type->tp_dict, name);
#endif
}

/* The type of C's that the class lies over. */
static PyTypeObject *
builtin_of(PyTypeObject *type)
{
    while (type->tp_base != NULL && !(type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE))
        type = type->tp_base;
    return type;
}

bool
jy_own_is_deque(PyTypeObject *type)
{
    return strcmp(builtin_of(type)->tp_name, "collections.deque") == 0;
}

Py_ssize_t
jy_own_deque_maxlen(PyObject *deque)
{
    PyTypeObject *type = builtin_of(Py_TYPE(deque));
    PyObject *name = PyUnicode_InternFromString("maxlen");
    PyObject *raw = name != NULL ? _PyType_Lookup(type, name) : NULL;
    PyObject *bound = raw != NULL && Py_TYPE(raw)->tp_descr_get != NULL
                          ? Py_TYPE(raw)->tp_descr_get(raw, deque, (PyObject *)type)
                          : NULL;
    Py_ssize_t maxlen = bound != NULL && bound != Py_None ? PyLong_AsSsize_t(bound) : -1;
    PyErr_Clear();
    Py_XDECREF(name);
    Py_XDECREF(bound);
    return maxlen;
}

PyObject *
jy_own_deque_item(PyObject *deque, Py_ssize_t i)
{
    PyTypeObject *type = builtin_of(Py_TYPE(deque));
    PyObject *item = i < Py_SIZE(deque) ? type->tp_as_sequence->sq_item(deque, i) : NULL;
    PyErr_Clear();
    Py_XDECREF(item);
    return item;
}
