/* Tuples, lists, dicts and sets of values, and their constant relatives. */
#include "frontend/exception.h"
#include "frontend/instance.h"

#include <stdarg.h>
#include <stdio.h>

jy_status
jy_take(struct jy_frame *f, struct jy_value **out, PyObject *object)
{
    if (object == NULL)
        return jy_raise_from_exception(f);
    *out = jy_value_const_take(f, object);
    return JY_OK;
}

void
jy_take_operand(struct jy_value **out, struct jy_value *operand)
{
    if (operand->v_kind == JY_V_CONST && (*out)->v_kind == JY_V_CONST && operand->v_object == (*out)->v_object)
        *out = operand;
}

jy_status
jy_raises(struct jy_frame *f, PyObject *type, const char *format, ...)
{
    va_list args;
    char text[300];
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof text)
        return jy_break(f, JY_BREAK_RAISES, "%s", text);
    struct jy_value *message = jy_value_const_take(f, PyUnicode_FromString(text));
    return message != NULL ? jy_raise_new(f, type, 1, &message) : JY_ERROR;
}

jy_status
jy_raises_key(struct jy_frame *f, struct jy_value *key)
{
    return jy_raise_new(f, PyExc_KeyError, 1, &key);
}

static PyObject *
as_tuple(struct jy_frame *f, struct jy_value *v)
{
    if (jy_enter(f) != JY_OK)
        return NULL;
    PyObject *tuple = PyTuple_New((Py_ssize_t)v->u.seq.n);
    for (size_t i = 0; tuple != NULL && i < v->u.seq.n; i++) {
        PyObject *item = jy_value_as_object(f, v->u.seq.at[i]);
        if (item == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, item);
    }
    jy_leave(f);
    return tuple;
}

/* A part of a slice or range; absent ones are None. */
static PyObject *
as_part(struct jy_frame *f, struct jy_value *v)
{
    return v != NULL ? jy_value_as_object(f, v) : Py_NewRef(Py_None);
}

static PyObject *
as_range(struct jy_frame *f, struct jy_value *v)
{
    PyObject *start = as_part(f, v->u.range.start), *stop = as_part(f, v->u.range.stop),
             *step = as_part(f, v->u.range.step);
    PyObject *object = NULL;
    if (start != NULL && stop != NULL && step != NULL)
        object = v->v_kind == JY_V_SLICE
                     ? PySlice_New(start, stop, step)
                     : PyObject_CallFunctionObjArgs((PyObject *)&PyRange_Type, start, stop, step, NULL);
    Py_XDECREF(start);
    Py_XDECREF(stop);
    Py_XDECREF(step);
    return object;
}

PyObject *
jy_value_as_object(struct jy_frame *f, struct jy_value *v)
{
    PyObject *object = NULL;
    if (jy_value_realize(f, v) != JY_OK)
        PyErr_Clear();
    else if (v->v_kind == JY_V_TUPLE)
        object = as_tuple(f, v);
    else if (v->v_kind == JY_V_SLICE || v->v_kind == JY_V_RANGE)
        object = as_range(f, v);
    else if (v->v_kind == JY_V_CONST || v->v_kind == JY_V_CALLABLE)
        object = Py_NewRef(v->v_object);
    if (object == NULL)
        PyErr_Clear();
    return object;
}

/* ---- sequences ---- */

static jy_status
const_items(struct jy_frame *f, struct jy_value ***items, size_t *n, PyObject *object)
{
    if (!PyTuple_CheckExact(object) && !PyUnicode_CheckExact(object) && !PyBytes_CheckExact(object) &&
        !PyFrozenSet_CheckExact(object))
        return JY_OK;
    PyObject *tuple = jy_hold(f, PySequence_Tuple(object));
    if (tuple == NULL)
        return jy_break_from_exception(f, JY_BREAK_RAISES);
    *n = (size_t)PyTuple_GET_SIZE(tuple);
    *items = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, *n + 1);
    for (size_t i = 0; i < *n; i++)
        (*items)[i] = jy_value_const(f, PyTuple_GET_ITEM(tuple, i));
    return JY_OK;
}

jy_status
jy_value_items(struct jy_frame *f, struct jy_value ***items, size_t *n, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    *items = NULL;
    *n = 0;
    if (jy_is_instance(f, v)) {
        struct jy_value *part;
        TRY(jy_over_base(f, &part, v, "__iter__"));
        v = part != NULL ? part : v;
    }
    if (v->v_kind == JY_V_TUPLE || v->v_kind == JY_V_LIST) {
        *items = v->u.seq.at;
        *n = v->u.seq.n;
    } else if (v->v_kind == JY_V_CONST) {
        return const_items(f, items, n, v->v_object);
    } else if (v->v_kind == JY_V_RANGE || v->v_kind == JY_V_ARRAY || v->v_kind == JY_V_ITER || v->v_kind == JY_V_DICT ||
               v->v_kind == JY_V_SET || v->v_kind == JY_V_DICTVIEW) {
        struct jy_value *all;
        TRY(jy_iter_collect(f, &all, JY_V_TUPLE, v));
        *items = all->u.seq.at;
        *n = all->u.seq.n;
    }
    return JY_OK;
}

void
jy_seq_append(struct jy_frame *f, struct jy_value *seq, struct jy_value *item)
{
    *jy_vec_push(jy_frame_arena(f), &seq->u.seq) = item;
}

void
jy_seq_remove(struct jy_value *seq, size_t at)
{
    for (size_t i = at; i + 1 < seq->u.seq.n; i++) {
        seq->u.seq.at[i] = seq->u.seq.at[i + 1];
        if (seq->v_kind == JY_V_DICT)
            seq->u.seq.keys[i] = seq->u.seq.keys[i + 1];
    }
    seq->u.seq.n--;
    seq->u.seq.removals++;
}

void
jy_seq_insert(struct jy_frame *f, struct jy_value *seq, size_t at, struct jy_value *item)
{
    jy_seq_append(f, seq, item);
    for (size_t i = seq->u.seq.n - 1; i > at; i--)
        seq->u.seq.at[i] = seq->u.seq.at[i - 1];
    seq->u.seq.at[at] = item;
}

/* ---- dicts ---- */

static PyObject *
enums_own(struct jy_frame *f, const char *type, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_InternFromString("enum"));
    PyObject *module = text != NULL ? jy_hold(f, PyImport_GetModule(text)) : NULL;
    PyObject *klass = module != NULL ? jy_hold(f, PyObject_GetAttrString(module, type)) : NULL;
    PyObject *own = klass != NULL ? jy_hold(f, PyObject_GetAttrString(klass, name)) : NULL;
    PyErr_Clear();
    return own;
}

/* Does the class, an enum or one over tuple, leave hash and equality to the builtin type below or to the module enum? */
static bool
hashes_as_known(struct jy_frame *f, PyTypeObject *type, enum jy_over over)
{
    PyObject *hash = jy_class_get_text(f, type, "__hash__"), *equal = jy_class_get_text(f, type, "__eq__");
    if (hash == NULL || equal == NULL || !Py_IS_TYPE(equal, &PyWrapperDescr_Type))
        return false;
    if (Py_IS_TYPE(hash, &PyWrapperDescr_Type))
        return true;
    return over != JY_OVER_TUPLE &&
           (hash == enums_own(f, "Enum", "__hash__") || hash == enums_own(f, "Flag", "__hash__"));
}

static bool
is_member(struct jy_frame *f, PyObject *object)
{
    return jy_is_named(f, (PyObject *)Py_TYPE(Py_TYPE(object)), "enum", "EnumType");
}

bool
jy_key_is_known(struct jy_frame *f, PyObject *key)
{
    if (jy_value_is_plain(f, key))
        return true;
    if (key == NULL || !PyType_HasFeature(Py_TYPE(key), Py_TPFLAGS_HEAPTYPE)) {
        bool known = key != NULL && PyTuple_CheckExact(key);
        for (Py_ssize_t i = 0; known && i < PyTuple_GET_SIZE(key); i++)
            known = jy_key_is_known(f, PyTuple_GET_ITEM(key, i));
        return known;
    }
    PyTypeObject *builtin;
    enum jy_over over = jy_over_find(f, &builtin, Py_TYPE(key));
    bool known = is_member(f, key) ? over == JY_OVER_OBJECT || over == JY_OVER_NUMBER : over == JY_OVER_TUPLE;
    if (!known || !hashes_as_known(f, Py_TYPE(key), over))
        return false;
    for (Py_ssize_t i = 0; known && over == JY_OVER_TUPLE && i < PyTuple_GET_SIZE(key); i++)
        known = jy_key_is_known(f, PyTuple_GET_ITEM(key, i));
    return known;
}

struct jy_value *
jy_key_value(struct jy_frame *f, PyObject *key)
{
    return jy_value_is_plain(f, key) ? jy_value_const(f, key) : jy_class_value(f, key);
}

static jy_status
unknown_key(struct jy_frame *f, struct jy_value *key)
{
    return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "%s as a key", jy_value_describe(f, key));
}

static jy_status
key_of_items(struct jy_frame *f, PyObject **out, struct jy_value *tuple)
{
    PyObject *items = jy_hold(f, PyTuple_New((Py_ssize_t)tuple->u.seq.n)), *item;
    if (items == NULL)
        return JY_ERROR;
    TRY(jy_enter(f));
    for (size_t i = 0; i < tuple->u.seq.n; i++) {
        TRY(jy_key_object(f, &item, tuple->u.seq.at[i]));
        PyTuple_SET_ITEM(items, (Py_ssize_t)i, Py_NewRef(item));
    }
    jy_leave(f);
    *out = items;
    return JY_OK;
}

/* A member of an enum, which is that very object, or a tuple of a class of its own with known items. */
static jy_status
key_of_instance(struct jy_frame *f, PyObject **out, struct jy_value *key)
{
    struct jy_value *part = NULL;
    if (!jy_is_instance(f, key))
        return unknown_key(f, key);
    struct jy_instance *self = key->u.instance;
    if (key->v_object != NULL && key->v_source != JY_NO_SOURCE && is_member(f, key->v_object)) {
        jy_guard_is(f, key->v_source, key->v_object);
        *out = key->v_object;
        return JY_OK;
    }
    if (self->over.kind == JY_OVER_TUPLE)
        TRY(jy_over_base(f, &part, key, "__hash__"));
    if (part == NULL)
        return unknown_key(f, key);
    TRY(key_of_items(f, out, part));
    PyObject *args = jy_hold(f, PyTuple_Pack(1, *out));
    *out = key->v_object != NULL ? key->v_object
           : args != NULL        ? jy_hold(f, PyTuple_Type.tp_new(self->type, args, NULL))
                                 : NULL;
    return *out != NULL ? JY_OK : JY_ERROR;
}

jy_status
jy_key_object(struct jy_frame *f, PyObject **out, struct jy_value *key)
{
    bool baked;
    TRY(jy_value_bake(f, &baked, key));
    if (key->v_kind == JY_V_SCALAR && key->u.scalar.has_size) {
        int64_t k;
        TRY(jy_value_index(f, &k, key));
        *out = jy_hold(f, PyLong_FromLongLong(k));
        return *out != NULL ? JY_OK : JY_ERROR;
    }
    if (key->v_kind == JY_V_INSTANCE || key->v_kind == JY_V_OPAQUE)
        TRY(key_of_instance(f, out, key));
    else
        *out = jy_hold(f, jy_value_as_object(f, key));
    if (*out == NULL && key->v_kind == JY_V_TUPLE)
        TRY(key_of_items(f, out, key));
    return *out != NULL && jy_key_is_known(f, *out) ? JY_OK : unknown_key(f, key);
}

static void
mark_keys(struct jy_value *v)
{
    if (v->v_kind == JY_V_INSTANCE && v->u.instance->over.kind == JY_OVER_TUPLE)
        v = v->u.instance->over.base;
    if (v == NULL || v->v_kind != JY_V_TUPLE || (v->u.seq.n == 0 && v->u.seq.owner == NULL))
        return;
    v->u.seq.is_key = true;
    for (size_t i = 0; i < v->u.seq.n; i++)
        mark_keys(v->u.seq.at[i]);
}

/* A container that the trace makes keeps the very object, and a later call's number or tuple is another one. Small ints are the same everywhere. A tuple of the trace's is kept as an object that
 * is made now: the tuple itself can no longer be built, for it would be another one. */
jy_status
jy_check_kept_key(struct jy_frame *f, struct jy_value *container, struct jy_value *key, PyObject *object)
{
    if (container->v_source == JY_NO_SOURCE)
        mark_keys(key);
    if (container->v_source != JY_NO_SOURCE || key->v_source == JY_NO_SOURCE)
        return JY_OK;
    long small = PyLong_CheckExact(object) ? PyLong_AsLong(object) : 0;
    bool is_small = small >= -5 && small <= 256 && !PyErr_Occurred();
    PyErr_Clear();
    if (is_member(f, object))
        return JY_OK;
    bool has_twins = PyLong_CheckExact(object) ? !is_small
                                               : !(PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) ||
                                                   PyBool_Check(object) || PyType_Check(object) || object == Py_None ||
                                                   object == Py_Ellipsis || object == Py_NotImplemented);
    if (has_twins)
        return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "%s from outside as a key", jy_value_describe(f, key));
    return JY_OK;
}

/* The first `known` keys of a dict by hash; keys go only with a new count of removals. */
struct jy_key_index {
    struct jy_index by_hash;
    size_t known;
    uint32_t removals;
};

static const struct jy_index *
index_keys(struct jy_frame *f, struct jy_value *dict)
{
    struct jy_arena *arena = jy_frame_arena(f);
    struct jy_key_index *index = dict->u.seq.index;
    if (index == NULL || index->removals != dict->u.seq.removals) {
        index = dict->u.seq.index = JY_NEW(arena, struct jy_key_index);
        index->removals = dict->u.seq.removals;
    }
    for (; index->known < dict->u.seq.n; index->known++) {
        Py_hash_t hash = PyObject_Hash(dict->u.seq.keys[index->known]); /* of known objects, which have one */
        jy_index_add(arena, &index->by_hash, (uint32_t)hash, (uint32_t)index->known);
    }
    return &index->by_hash;
}

static jy_status
find(struct jy_frame *f, size_t *index, bool *found, struct jy_value *dict, PyObject *key)
{
    *found = false;
    Py_hash_t hash = PyObject_Hash(key);
    if (hash == -1)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ITEM);
    const struct jy_index *keys = index_keys(f, dict);
    struct jy_index_probe probe;
    for (uint32_t i = jy_index_first(keys, &probe, (uint32_t)hash); i != JY_INDEX_END && !*found;
         i = jy_index_next(keys, &probe)) {
        if (dict->u.seq.keys[i] != key && PyObject_Hash(dict->u.seq.keys[i]) != hash)
            continue;
        int equal = PyObject_RichCompareBool(dict->u.seq.keys[i], key, Py_EQ);
        if (equal < 0)
            return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ITEM);
        *found = equal;
        *index = i;
    }
    return JY_OK;
}

/* A key that dicts look for. */
static jy_status
hashable(struct jy_frame *f, PyObject **out, struct jy_value *key)
{
    TRY(jy_value_realize(f, key));
    const char *type = key->v_kind == JY_V_LIST   ? "list"
                       : key->v_kind == JY_V_DICT ? "dict"
                       : key->v_kind == JY_V_SET  ? "set"
                                                  : NULL;
    if (type != NULL)
        return jy_raises(f, PyExc_TypeError, "unhashable type: '%s'", type);
    return jy_key_object(f, out, key);
}

jy_status
jy_dict_find(struct jy_frame *f, size_t *index, bool *found, struct jy_value *dict, struct jy_value *key)
{
    PyObject *object;
    TRY(hashable(f, &object, key));
    return find(f, index, found, dict, object);
}

jy_status
jy_dict_set(struct jy_frame *f, struct jy_value *dict, struct jy_value *key, struct jy_value *value)
{
    PyObject *object;
    size_t index = 0;
    bool found;
    TRY(jy_key_object(f, &object, key));
    TRY(find(f, &index, &found, dict, object));
    if (found) {
        dict->u.seq.at[index] = value;
        return JY_OK;
    }
    TRY(jy_check_kept_key(f, dict, key, object));
    size_t cap = dict->u.seq.cap, n = dict->u.seq.n;
    jy_seq_append(f, dict, value);
    if (dict->u.seq.cap != cap || dict->u.seq.keys == NULL) {
        PyObject **keys = JY_NEW_ARRAY(jy_frame_arena(f), PyObject *, dict->u.seq.cap);
        for (size_t i = 0; i < n; i++)
            keys[i] = dict->u.seq.keys[i];
        dict->u.seq.keys = keys;
    }
    jy_keep(f->f_trace->unit, object);
    dict->u.seq.keys[n] = object;
    return JY_OK;
}
