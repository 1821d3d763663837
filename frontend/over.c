/* Objects of classes that lie over a builtin container or number: namedtuples, deques, defaultdicts, members of IntEnum, subclasses that the program makes.
 *
 * Such an object is an INSTANCE with a part, `over.base`: a TUPLE, LIST (a deque's, too), DICT or CONST value, which the program never sees itself. What the class has not overridden acts on
 * the part; that it has not is guarded by name. What it has overridden is called as any special method is.
 *
 *     live    the part is looked at when something asks for it; a deque that grows without bound takes items blindly before that. Numbers and text only of enums, whose members are guarded by
 *             identity
 *     new     builtin.__new__(class), and builtin.__init__(object, contents) once all is there; an exact deque or defaultdict is one call
 *
 * A part that has an owner stands for it in recipes and in the ledger. */
#include "frontend/instance.h"

#include "frontend/call_builtin.h"
#include "frontend/cpython/own.h"
#include "frontend/effects.h"

#include <string.h>

enum { MAX_ITEMS = 100000 };

/* ---- which type lies below ---- */

enum jy_over
jy_over_find(struct jy_frame *f, PyTypeObject **builtin, PyTypeObject *type)
{
    static const struct {
        PyTypeObject *type;
        enum jy_over over;
    } rows[] = {
        { &PyTuple_Type, JY_OVER_TUPLE },  { &PyList_Type, JY_OVER_LIST },         { &PyDict_Type, JY_OVER_DICT },
        { &PyLong_Type, JY_OVER_NUMBER },  { &PyFloat_Type, JY_OVER_NUMBER },      { &PyUnicode_Type, JY_OVER_NUMBER },
        { &PyBytes_Type, JY_OVER_NUMBER }, { &PyBaseObject_Type, JY_OVER_OBJECT },
    };
    while (type->tp_base != NULL && !(type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE))
        type = type->tp_base;
    *builtin = type;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type)
            return rows[i].over;
    if (jy_own_is_deque(type) && jy_is_named(f, (PyObject *)type, "_collections", "deque"))
        return JY_OVER_DEQUE;
    if (strcmp(type->tp_name, "collections.defaultdict") == 0 &&
        jy_is_named(f, (PyObject *)type, "_collections", "defaultdict"))
        return JY_OVER_DEFAULTDICT;
    return JY_OVER_OTHER;
}

static bool
has_part(const struct jy_value *v)
{
    return v->v_kind == JY_V_INSTANCE && v->u.instance->self == NULL && v->u.instance->over.kind != JY_OVER_OBJECT &&
           v->u.instance->over.kind != JY_OVER_OTHER;
}

bool
jy_over_is_exact(const struct jy_value *v)
{
    return v->u.instance->type == v->u.instance->over.builtin;
}

static PyObject *
builtins_own(struct jy_frame *f, const struct jy_value *v, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_InternFromString(name));
    return text != NULL ? _PyType_Lookup(v->u.instance->over.builtin, text) : NULL;
}

/* Does the class leave that to the builtin type? */
static bool
inherits(struct jy_frame *f, const struct jy_value *v, const char *name)
{
    PyObject *raw = jy_class_get_text(f, v->u.instance->type, name);
    return raw != NULL && raw == builtins_own(f, v, name);
}

/* ---- the part of a live object ---- */

static jy_status
open_items(struct jy_frame *f, struct jy_value *v, struct jy_value *seq, PyObject *(*item)(PyObject *, Py_ssize_t))
{
    Py_ssize_t n = Py_SIZE(v->v_object);
    if (n > MAX_ITEMS)
        return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "a container of %zd items", n);
    jy_guard_value(f, JY_GUARD_LENGTH, v->v_source, n);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *object = item(v->v_object, i);
        if (object == NULL)
            return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "an item that is not there");
        jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_ITEM, v->v_source, (uint32_t)i, NULL);
        jy_seq_append(f, seq, jy_value_lazy(f, object, source));
    }
    return JY_OK;
}

static PyObject *
fast_item(PyObject *sequence, Py_ssize_t i)
{
    return PySequence_Fast_GET_ITEM(sequence, i);
}

static jy_status
guard_maxlen(struct jy_frame *f, struct jy_value *v)
{
    v->u.instance->over.maxlen = jy_own_deque_maxlen(v->v_object);
    jy_guard_value(f, JY_GUARD_MAXLEN, v->v_source, v->u.instance->over.maxlen);
    return JY_OK;
}

/* What it was given before it was looked at. */
static void
add_given(struct jy_frame *f, struct jy_value *v, struct jy_value *seq)
{
    const struct jy_trace_state *t = f->f_trace;
    for (size_t i = 0; i < t->effects.n; i++) {
        const struct jy_pending_effect *e = &t->effects.at[i];
        if (e->kind != JY_EFFECT_CALL || e->nargs != 2 || e->args[0] != v)
            continue;
        PyObject *method = jy_unit_object(t->unit, e->name);
        bool left = PyUnicode_CompareWithASCIIString(PyDescr_NAME(method), "appendleft") == 0;
        jy_seq_insert(f, seq, left ? 0 : seq->u.seq.n, e->args[1]);
    }
}

static jy_status
open_dict(struct jy_frame *f, struct jy_value *v, struct jy_value *dict)
{
    PyObject *key, *value, *keys = jy_hold(f, PyTuple_New(PyDict_GET_SIZE(v->v_object)));
    Py_ssize_t position = 0, i = 0;
    if (keys == NULL)
        return JY_ERROR;
    if (PyTuple_GET_SIZE(keys) > MAX_ITEMS / 100)
        return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "a dict of %zd items", PyTuple_GET_SIZE(keys));
    while (i < PyTuple_GET_SIZE(keys) && PyDict_Next(v->v_object, &position, &key, &value)) {
        if (!jy_key_is_known(f, key))
            return jy_break(f, JY_BREAK_UNKNOWN_ITEM,
                            "a dict with keys that are not numbers, text, members of enums or tuples");
        PyTuple_SET_ITEM(keys, i++, Py_NewRef(key));
        jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_KEY, v->v_source, 0, key);
        TRY(jy_dict_set(f, dict, jy_key_value(f, key), jy_value_lazy(f, value, source)));
    }
    struct jy_guard *guard = jy_guard_add(f, JY_GUARD_KEYS, v->v_source);
    guard->object = jy_keep(f->f_trace->unit, keys);
    guard->value = 1;
    if (v->u.instance->over.kind != JY_OVER_DEFAULTDICT)
        return JY_OK;
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("default_factory"));
    PyObject *factory = name != NULL ? jy_hold(f, PyObject_GenericGetAttr(v->v_object, name)) : NULL;
    if (factory == NULL || !inherits(f, v, "default_factory"))
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ATTRIBUTE);
    jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, v->v_source, 0, name);
    jy_guard_present(f, source);
    v->u.instance->over.factory = jy_value_lazy(f, factory, source);
    return JY_OK;
}

/* A member of an enum is that very object for good. */
static jy_status
open_number(struct jy_frame *f, struct jy_value *v)
{
    PyTypeObject *builtin = v->u.instance->over.builtin;
    if (!jy_is_named(f, (PyObject *)Py_TYPE(v->u.instance->type), "enum", "EnumType"))
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "%s, which is derived from %s", jy_value_describe(f, v),
                        builtin->tp_name);
    PyObject *exact = builtin == &PyLong_Type    ? PyLong_Type.tp_as_number->nb_int(v->v_object)
                      : builtin == &PyFloat_Type ? PyFloat_FromDouble(PyFloat_AS_DOUBLE(v->v_object))
                      : builtin == &PyUnicode_Type
                          ? PyUnicode_FromObject(v->v_object)
                          : PyBytes_FromStringAndSize(PyBytes_AS_STRING(v->v_object), PyBytes_GET_SIZE(v->v_object));
    jy_guard_is(f, v->v_source, v->v_object);
    v->u.instance->over.base = jy_value_const_take(f, exact);
    return exact != NULL ? JY_OK : JY_ERROR;
}

static jy_status
open_part(struct jy_frame *f, struct jy_value *v)
{
    struct jy_instance *self = v->u.instance;
    enum jy_over over = (enum jy_over)self->over.kind;
    if (self->over.base != NULL)
        return JY_OK;
    if (over == JY_OVER_NUMBER)
        return open_number(f, v);
    if (!inherits(f, v, "__getitem__")) /* by which its items are fetched again */
        return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "%s, whose class has a __getitem__", jy_value_describe(f, v));
    enum jy_value_kind kind = over == JY_OVER_TUPLE                           ? JY_V_TUPLE
                              : over == JY_OVER_LIST || over == JY_OVER_DEQUE ? JY_V_LIST
                                                                              : JY_V_DICT;
    struct jy_value *part = jy_value_seq(f, kind, 0, NULL);
    part->v_source = v->v_source; /* before keys are set: they are the live dict's own */
    if (kind == JY_V_DICT)
        TRY(open_dict(f, v, part));
    else
        TRY(open_items(f, v, part, over == JY_OVER_DEQUE ? jy_own_deque_item : fast_item));
    if (over == JY_OVER_DEQUE) {
        TRY(guard_maxlen(f, v));
        add_given(f, v, part);
    }
    part->v_object = v->v_object;
    part->u.seq.owner = v;
    part->u.seq.escaped = true;
    self->over.base = part;
    return JY_OK;
}

jy_status
jy_over_base(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name)
{
    *out = NULL;
    if (!has_part(v) || !inherits(f, v, name))
        return JY_OK;
    TRY(open_part(f, v));
    *out = v->u.instance->over.base;
    return JY_OK;
}

jy_status
jy_over_dict(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    struct jy_value *part = NULL;
    if (jy_is_instance(f, v))
        TRY(jy_over_base(f, &part, v, "__iter__"));
    *out = part != NULL && part->v_kind == JY_V_DICT ? part : v;
    return JY_OK;
}

/* ---- new objects ---- */

jy_status
jy_over_new(struct jy_frame *f, struct jy_value **out, struct jy_value *klass, size_t n, struct jy_value *const *args,
            PyObject *kwnames)
{
    struct jy_value *v = jy_instance_new(f, klass), *items;
    struct jy_instance *self = v->u.instance;
    bool keywords = kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0;
    enum jy_over over = (enum jy_over)self->over.kind;
    self->over.maxlen = -1;
    *out = v;
    if (over == JY_OVER_LIST || over == JY_OVER_DEQUE || over == JY_OVER_DICT || over == JY_OVER_DEFAULTDICT) {
        bool list = over == JY_OVER_LIST || over == JY_OVER_DEQUE;
        self->over.base = jy_value_seq(f, list ? JY_V_LIST : JY_V_DICT, 0, NULL);
        self->over.base->u.seq.owner = v;
        self->over.factory = jy_value_const(f, Py_None);
        return JY_OK;
    }
    if (keywords || (over == JY_OVER_TUPLE && n > 1))
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "a new %s", self->type->tp_name);
    if (over == JY_OVER_NUMBER)
        return jy_builtin_construct(f, &self->over.base, self->over.builtin, n, args);
    TRY(jy_builtin_tuple(f, &items, n, args, NULL));
    struct jy_value **at;
    size_t nitems;
    TRY(jy_value_items(f, &at, &nitems, items));
    self->over.base = jy_value_seq(f, JY_V_TUPLE, nitems, at);
    self->over.base->u.seq.owner = v;
    return JY_OK;
}

static struct jy_value *
argument(const char *name, size_t position, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    bool ignored = false;
    return n > position ? args[position] : jy_builtin_keyword(&ignored, name, n, args, kwnames);
}

static jy_status deque_extend(struct jy_frame *f, struct jy_value *v, struct jy_value *iterable, bool left);

static jy_status
init_deque(struct jy_frame *f, struct jy_value *v, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *items = argument("iterable", 0, n, args, kwnames),
                    *bound = argument("maxlen", 1, n, args, kwnames);
    size_t nkw = kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0;
    int64_t maxlen = -1;
    if (n + nkw != (size_t)(items != NULL) + (bound != NULL))
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "arguments of deque()");
    if (bound != NULL)
        TRY(jy_value_realize(f, bound));
    if (bound != NULL && !jy_value_is_none(bound)) {
        TRY(jy_value_index(f, &maxlen, bound));
        if (maxlen < 0)
            return jy_raises(f, PyExc_ValueError, "maxlen must be non-negative");
    }
    v->u.instance->over.maxlen = maxlen;
    return items != NULL ? deque_extend(f, v, items, false) : JY_OK;
}

static jy_status
init_dict(struct jy_frame *f, struct jy_value *v, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *base = v->u.instance->over.base;
    if (n > 1)
        return jy_break(f, JY_BREAK_RAISES, "%zu arguments for a dict", n);
    if (n == 1)
        TRY(jy_dict_update(f, base, args[0]));
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++)
        TRY(jy_dict_store(f, base, jy_value_const(f, PyTuple_GET_ITEM(kwnames, i)), args[n + (size_t)i]));
    return JY_OK;
}

static jy_status
init_defaultdict(struct jy_frame *f, struct jy_value *v, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *callable;
    bool fits = true;
    if (n == 0)
        return init_dict(f, v, 0, args, kwnames);
    TRY(jy_value_realize(f, args[0]));
    if (!jy_value_is_none(args[0])) {
        TRY(jy_builtin_callable(f, &callable, 1, args, NULL));
        TRY(jy_value_truth(f, &fits, callable));
    }
    if (!fits)
        return jy_raises(f, PyExc_TypeError, "first argument must be callable or None");
    v->u.instance->over.factory = args[0];
    return init_dict(f, v, n - 1, args + 1, kwnames);
}

jy_status
jy_over_init(struct jy_frame *f, struct jy_value *v, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_instance *self = v->u.instance;
    bool keywords = kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0;
    if (v->v_source != JY_NO_SOURCE || self->over.base == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "__init__ of %s", jy_value_describe(f, v));
    switch ((enum jy_over)self->over.kind) {
    case JY_OVER_DEQUE:
        if (self->over.base->u.seq.n != 0)
            break;
        return init_deque(f, v, n, args, kwnames);
    case JY_OVER_DICT:
        return init_dict(f, v, n, args, kwnames);
    case JY_OVER_DEFAULTDICT:
        return init_defaultdict(f, v, n, args, kwnames);
    case JY_OVER_LIST:
        if (keywords || n > 1 || self->over.base->u.seq.n != 0)
            break;
        return n == 1 ? jy_list_extend(f, self->over.base, args[0]) : JY_OK;
    case JY_OVER_OBJECT:
    case JY_OVER_TUPLE:
    case JY_OVER_NUMBER:
    case JY_OVER_OTHER:
        break;
    }
    return jy_break(f, JY_BREAK_UNKNOWN_CALL, "__init__ of %s", jy_value_describe(f, v));
}

/* ---- attributes ---- */

static jy_status
tuple_field(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *raw, PyObject *name)
{
    PyObject *state = jy_hold(f, PyObject_CallMethod(raw, "__reduce__", NULL)), *index = NULL;
    if (state != NULL && PyTuple_Check(state) && PyTuple_GET_SIZE(state) == 2)
        index = PyTuple_GetItem(PyTuple_GET_ITEM(state, 1), 0);
    Py_ssize_t i = index != NULL ? PyLong_AsSsize_t(index) : -1;
    if (i < 0)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ATTRIBUTE);
    struct jy_value *base = v->u.instance->over.base;
    if (base != NULL && (size_t)i < base->u.seq.n) {
        *out = base->u.seq.at[i];
        return JY_OK;
    }
    if (base != NULL || i >= PyTuple_GET_SIZE(v->v_object))
        return jy_break(f, JY_BREAK_RAISES, "field %s of a shorter tuple", jy_utf8(name));
    jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, v->v_source, 0, name);
    jy_guard_present(f, source);
    *out = jy_value_lazy(f, PyTuple_GET_ITEM(v->v_object, i), source);
    return JY_OK;
}

/* The attributes that the builtin type's own descriptors give. */
static jy_status
own_attribute(struct jy_frame *f, struct jy_value **out, bool *done, struct jy_value *v, PyObject *raw, PyObject *name)
{
    const struct jy_instance *self = v->u.instance;
    if (raw == builtins_own(f, v, "maxlen") && self->over.kind == JY_OVER_DEQUE) {
        *done = true;
        if (v->v_source != JY_NO_SOURCE && self->over.base == NULL)
            TRY(guard_maxlen(f, v));
        *out = self->over.maxlen < 0 ? jy_value_const(f, Py_None)
                                     : jy_value_const_take(f, PyLong_FromLongLong(self->over.maxlen));
        return *out != NULL ? JY_OK : JY_ERROR;
    }
    if (raw == builtins_own(f, v, "default_factory") && self->over.kind == JY_OVER_DEFAULTDICT) {
        *done = true;
        TRY(open_part(f, v));
        *out = self->over.factory;
        return JY_OK;
    }
    (void)name;
    return JY_OK;
}

jy_status
jy_over_bind(struct jy_frame *f, struct jy_value **out, bool *done, PyObject *raw, struct jy_value *v, PyObject *name)
{
    if (!has_part(v))
        return JY_OK;
    const struct jy_instance *self = v->u.instance;
    if (self->over.kind == JY_OVER_TUPLE && strstr(Py_TYPE(raw)->tp_name, "collections._tuplegetter") != NULL) {
        *done = true;
        return tuple_field(f, out, v, raw, name);
    }
    bool method = Py_IS_TYPE(raw, &PyMethodDescr_Type) || Py_IS_TYPE(raw, &PyWrapperDescr_Type);
    if (!method)
        return own_attribute(f, out, done, v, raw, name);
    PyTypeObject *of = PyDescr_TYPE(raw);
    if (of != self->over.builtin && !(self->over.kind == JY_OVER_DEFAULTDICT && of == &PyDict_Type))
        return JY_OK;
    *done = true;
    *out = jy_value_new(f, JY_V_METHOD);
    (*out)->u.func.self = v;
    (*out)->u.func.name = PyDescr_NAME(raw);
    jy_keep(f->f_trace->unit, PyDescr_NAME(raw));
    return JY_OK;
}

/* ---- items ---- */

static jy_status
deque_index(struct jy_frame *f, int64_t *out, const struct jy_value *base, struct jy_value *key)
{
    TRY(jy_value_index(f, out, key));
    if (*out < 0)
        *out += (int64_t)base->u.seq.n;
    if (*out < 0 || *out >= (int64_t)base->u.seq.n)
        return jy_raises(f, PyExc_IndexError, "deque index out of range");
    return JY_OK;
}

/* self[key] of a dict that does not have it. */
static jy_status
get_missing(struct jy_frame *f, struct jy_value **out, struct jy_value *v, struct jy_value *key)
{
    PyObject *raw = jy_class_get_text(f, v->u.instance->type, "__missing__");
    struct jy_value *factory = v->u.instance->over.factory;
    if (raw == NULL)
        return jy_raises_key(f, key);
    if (raw != builtins_own(f, v, "__missing__"))
        return jy_special_call(f, out, v, "__missing__", 1, &key);
    TRY(jy_value_realize(f, factory));
    if (jy_value_is_none(factory))
        return jy_raises_key(f, key);
    TRY(jy_call(f, out, factory, 0, NULL, NULL));
    return jy_setitem(f, v, key, *out);
}

jy_status
jy_over_getitem(struct jy_frame *f, struct jy_value **out, struct jy_value *v, struct jy_value *key)
{
    struct jy_value *base = v->u.instance->over.base;
    size_t at;
    int64_t index;
    bool found;
    TRY(jy_value_realize(f, key));
    if (base->v_kind == JY_V_DICT) {
        TRY(jy_dict_find(f, &at, &found, base, key));
        if (!found)
            return get_missing(f, out, v, key);
        *out = base->u.seq.at[at];
        return JY_OK;
    }
    if (v->u.instance->over.kind == JY_OVER_DEQUE) {
        TRY(deque_index(f, &index, base, key));
        *out = base->u.seq.at[index];
        return JY_OK;
    }
    if (base->v_kind == JY_V_TUPLE && key->v_kind == JY_V_SLICE) /* a plain tuple, also when it is all of it */
        base = jy_value_seq(f, JY_V_TUPLE, base->u.seq.n, base->u.seq.at);
    return jy_getitem(f, out, base, key);
}

jy_status
jy_over_setitem(struct jy_frame *f, struct jy_value *v, struct jy_value *key, struct jy_value *item)
{
    struct jy_value *base = v->u.instance->over.base;
    int64_t index;
    if (base->v_kind != JY_V_LIST && base->v_kind != JY_V_DICT)
        return jy_raises(f, PyExc_TypeError, "'%s' object does not support item assignment",
                         v->u.instance->type->tp_name);
    if (v->u.instance->over.kind != JY_OVER_DEQUE)
        return jy_setitem(f, base, key, item);
    TRY(deque_index(f, &index, base, key));
    TRY(jy_check_mutable(f, base));
    TRY(jy_check_dropped(f, base, base->u.seq.at[index]));
    base->u.seq.at[index] = item;
    jy_replay_item(f, base, key, item);
    return JY_OK;
}

jy_status
jy_over_delitem(struct jy_frame *f, struct jy_value *v, struct jy_value *key)
{
    struct jy_value *base = v->u.instance->over.base;
    int64_t index;
    if (base->v_kind != JY_V_LIST && base->v_kind != JY_V_DICT)
        return jy_raises(f, PyExc_TypeError, "'%s' object doesn't support item deletion", v->u.instance->type->tp_name);
    if (v->u.instance->over.kind != JY_OVER_DEQUE)
        return jy_delitem(f, base, key);
    TRY(deque_index(f, &index, base, key));
    TRY(jy_check_mutable(f, base));
    TRY(jy_check_dropped(f, base, base->u.seq.at[index]));
    jy_seq_remove(base, (size_t)index);
    v->u.instance->over.changes++;
    jy_replay_item(f, base, key, NULL);
    return JY_OK;
}

/* ---- iteration ---- */

jy_status
jy_over_iter(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    struct jy_value *base = v->u.instance->over.base;
    if (v->u.instance->over.kind != JY_OVER_DEQUE)
        return jy_iter(f, out, base);
    TRY(jy_iter_new(f, out, JY_ITER_DEQUE, 0, NULL));
    (*out)->u.iter.sequence = base;
    (*out)->u.iter.numbers = JY_NEW_ARRAY(jy_frame_arena(f), int64_t, 2);
    (*out)->u.iter.numbers[0] = v->u.instance->over.changes;
    (*out)->u.iter.numbers[1] = (int64_t)base->u.seq.n;
    return JY_OK;
}

jy_status
jy_over_reversed(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    struct jy_value *base;
    TRY(jy_over_base(f, &base, v, "__reversed__"));
    if (base == NULL)
        return jy_special_call(f, out, v, "__reversed__", 0, NULL);
    if (base->v_kind == JY_V_DICT) {
        *out = jy_dict_iter(f, base, 0, true);
        return JY_OK;
    }
    if (v->u.instance->over.kind != JY_OVER_DEQUE)
        return JY_OK;
    TRY(jy_over_iter(f, out, v));
    (*out)->u.iter.backwards = true;
    return JY_OK;
}

jy_status
jy_over_next(struct jy_frame *f, struct jy_value **out, struct jy_value *iterator)
{
    const struct jy_value *seq = iterator->u.iter.sequence;
    size_t at = iterator->u.iter.position;
    if (iterator->u.iter.backwards && at >= (size_t)iterator->u.iter.numbers[1])
        return JY_OK;
    if (iterator->u.iter.numbers[0] != seq->u.seq.owner->u.instance->over.changes) {
        iterator->u.iter.position = SIZE_MAX;
        return jy_raises(f, PyExc_RuntimeError, "deque mutated during iteration");
    }
    if (at >= seq->u.seq.n)
        return JY_OK;
    *out = seq->u.seq.at[iterator->u.iter.backwards ? seq->u.seq.n - 1 - at : at];
    iterator->u.iter.position++;
    return JY_OK;
}

/* ---- operators ---- */

/* The operand as the operation sees it: the part of an object whose class leaves all those names to the builtin type. */
static jy_status
as_operand(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *const *names, size_t n)
{
    *out = v;
    if (!has_part(v))
        return JY_OK;
    for (size_t i = 0; i < n; i++)
        if (names[i] != NULL && jy_class_get_text(f, v->u.instance->type, names[i]) != builtins_own(f, v, names[i]))
            return JY_OK;
    TRY(open_part(f, v));
    *out = v->u.instance->over.base;
    return JY_OK;
}

/* NumPy looks at the class of a number, and for more than its items in a sequence. */
static bool
is_of_numpy(const struct jy_value *v)
{
    if (v->v_kind == JY_V_CONST)
        return !PyLong_CheckExact(v->v_object) && !PyFloat_CheckExact(v->v_object) && !PyBool_Check(v->v_object) &&
               !PyUnicode_CheckExact(v->v_object) && !PyBytes_CheckExact(v->v_object) &&
               !PyTuple_CheckExact(v->v_object) && !PyComplex_CheckExact(v->v_object);
    return v->v_kind == JY_V_ARRAY || (v->v_kind == JY_V_SCALAR && v->u.scalar.kind == JY_KIND_NPSCALAR);
}

static bool
has_items(const struct jy_value *v)
{
    return v->v_kind == JY_V_TUPLE || v->v_kind == JY_V_LIST || v->v_kind == JY_V_DICT;
}

static bool
is_deque(const struct jy_value *v)
{
    return v->v_kind == JY_V_INSTANCE && v->u.instance->over.kind == JY_OVER_DEQUE;
}

/* The first items that differ are compared once more, by the operator that was asked for. */
static jy_status
compare_deques(struct jy_frame *f, struct jy_value **out, enum jy_compare op, struct jy_value *a, struct jy_value *b)
{
    struct jy_value *x, *y, *verdict;
    TRY(jy_over_base(f, &x, a, "__iter__"));
    TRY(jy_over_base(f, &y, b, "__iter__"));
    if (x == NULL || y == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "a comparison of %s and %s", jy_value_describe(f, a),
                        jy_value_describe(f, b));
    size_t i = 0, n = x->u.seq.n, m = y->u.seq.n;
    int64_t changes = a->u.instance->over.changes + b->u.instance->over.changes;
    bool same = true, answer, equality = op == JY_EQ || op == JY_NE;
    for (; i < n && i < m && same && !(equality && n != m) && a != b; i += same)
        TRY(jy_is_equal(f, &same, x->u.seq.at[i], y->u.seq.at[i]));
    if (!same) {
        TRY(jy_compare_values(f, &verdict, op, x->u.seq.at[i], y->u.seq.at[i]));
        TRY(jy_value_truth(f, &answer, verdict));
    } else {
        answer = jy_compare_holds((int64_t)n, op, (int64_t)m);
    }
    if (changes != a->u.instance->over.changes + b->u.instance->over.changes)
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "deques that change while they are compared");
    *out = jy_value_const(f, answer ? Py_True : Py_False);
    return JY_OK;
}

jy_status
jy_over_compare(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_compare op, const char *name,
                const char *swapped, enum jy_compare back, struct jy_value *a, struct jy_value *b)
{
    const char *names[] = { name, swapped };
    struct jy_value *x, *y;
    if (!has_part(a) && !has_part(b))
        return JY_OK;
    TRY(as_operand(f, &x, a, names, 2));
    TRY(as_operand(f, &y, b, names, 2));
    if (x->v_kind == JY_V_INSTANCE || y->v_kind == JY_V_INSTANCE || is_of_numpy(x) || is_of_numpy(y))
        return JY_OK;
    if (is_deque(a) != is_deque(b)) { /* of which neither knows the other */
        bool builtin = has_items(x) && has_items(y);
        *done = builtin && (op == JY_EQ || op == JY_NE);
        *out = jy_value_const(f, op == JY_NE ? Py_True : Py_False);
        return JY_OK;
    }
    PyTypeObject *of[2];
    TRY(jy_value_type(f, &of[0], a));
    TRY(jy_value_type(f, &of[1], b));
    *done = true;
    if (of[0] != of[1] && PyType_IsSubtype(of[1], of[0]))
        return is_deque(a) ? compare_deques(f, out, back, b, a) : jy_compare_values(f, out, back, y, x);
    return is_deque(a) ? compare_deques(f, out, op, a, b) : jy_compare_values(f, out, op, x, y);
}

/* A plain sequence of the same items, so that no operation gives the part itself. */
static struct jy_value *
copy_of(struct jy_frame *f, struct jy_value *v)
{
    bool sequence = v->v_kind == JY_V_TUPLE || v->v_kind == JY_V_LIST;
    return sequence && v->u.seq.owner != NULL ? jy_value_seq(f, (enum jy_value_kind)v->v_kind, v->u.seq.n, v->u.seq.at)
                                              : v;
}

static jy_status deque_operator(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op,
                                struct jy_value *a, struct jy_value *b);
static jy_status dict_or(struct jy_frame *f, struct jy_value **out, bool *done, struct jy_value *a, struct jy_value *b,
                         struct jy_value *x, struct jy_value *y);

jy_status
jy_over_binary(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op, bool inplace,
               const char *const *names, struct jy_value *a, struct jy_value *b)
{
    struct jy_value *x, *y;
    if (!has_part(a) && !has_part(b))
        return JY_OK;
    TRY(as_operand(f, &x, a, names, 3));
    TRY(as_operand(f, &y, b, names, 3));
    if (x->v_kind == JY_V_INSTANCE || y->v_kind == JY_V_INSTANCE || is_of_numpy(x) || is_of_numpy(y))
        return JY_OK;
    if (inplace && x != a && op == JY_NB_ADD && x->v_kind == JY_V_LIST) {
        *done = true;
        *out = a;
        return is_deque(a) ? deque_extend(f, a, b, false) : jy_list_extend(f, x, b);
    }
    if (inplace && x != a && op == JY_NB_OR && x->v_kind == JY_V_DICT) {
        *done = true;
        *out = a;
        return jy_dict_update(f, x, b);
    }
    if (!inplace && (is_deque(a) || is_deque(b)))
        return deque_operator(f, out, done, op, a, b);
    if (op == JY_NB_OR && x->v_kind == JY_V_DICT && y->v_kind == JY_V_DICT)
        return dict_or(f, out, done, a, b, x, y);
    bool changes = inplace && (x->v_kind == JY_V_LIST || x->v_kind == JY_V_DICT);
    if (changes || is_deque(a) || is_deque(b) || x->v_kind == JY_V_DICT || y->v_kind == JY_V_DICT)
        return JY_OK; /* not followed */
    *done = true;
    return jy_binary(f, out, op, false, copy_of(f, x), copy_of(f, y));
}

/* ---- methods of deques ---- */

static jy_status
none(struct jy_frame *f, struct jy_value **out)
{
    *out = jy_value_const(f, Py_None);
    return JY_OK;
}

static bool
is_blind(struct jy_frame *f, struct jy_value *v)
{
    if (v->v_source == JY_NO_SOURCE || v->u.instance->over.base != NULL || jy_own_deque_maxlen(v->v_object) >= 0)
        return false;
    jy_guard_value(f, JY_GUARD_MAXLEN, v->v_source, -1);
    return true;
}

static jy_status
deque_add(struct jy_frame *f, struct jy_value *v, struct jy_value *item, bool left)
{
    struct jy_instance *self = v->u.instance;
    const char *name = left ? "appendleft" : "append";
    if (is_blind(f, v)) {
        TRY(jy_check_mutable(f, v));
        self->over.changes++;
        jy_replay_call(f, v, name, 1, &item);
        return JY_OK;
    }
    TRY(open_part(f, v));
    struct jy_value *base = self->over.base;
    bool full = self->over.maxlen >= 0 && (int64_t)base->u.seq.n >= self->over.maxlen;
    TRY(jy_check_mutable(f, base));
    if (full && base->u.seq.n != 0)
        TRY(jy_check_dropped(f, base, base->u.seq.at[left ? base->u.seq.n - 1 : 0]));
    jy_seq_insert(f, base, left ? 0 : base->u.seq.n, item);
    if (full)
        jy_seq_remove(base, left ? base->u.seq.n - 1 : 0);
    self->over.changes++;
    jy_replay_call(f, base, name, 1, &item);
    return JY_OK;
}

/* One by one: what gives the items may look at the deque. A deque with room for nothing lets them go untouched. */
static jy_status
deque_extend(struct jy_frame *f, struct jy_value *v, struct jy_value *iterable, bool left)
{
    struct jy_value *it, *item;
    if (v->v_source != JY_NO_SOURCE && jy_own_deque_maxlen(v->v_object) >= 0)
        TRY(open_part(f, v));
    bool keeps = v->u.instance->over.base == NULL || v->u.instance->over.maxlen != 0;
    TRY(jy_value_realize(f, iterable));
    if (iterable == v)
        TRY(jy_iter_collect(f, &iterable, JY_V_LIST, iterable));
    TRY(jy_iter(f, &it, iterable));
    for (size_t i = 0; i < MAX_ITEMS; i++) {
        jy_status status = jy_iter_next(f, &item, it);
        if (status == JY_OK && item == NULL)
            return JY_OK;
        if (status == JY_OK && keeps)
            status = deque_add(f, v, item, left);
        TRY(status);
    }
    return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "more than %d items", MAX_ITEMS);
}

static jy_status
deque_pop(struct jy_frame *f, struct jy_value **out, struct jy_value *v, bool left)
{
    struct jy_value *base = v->u.instance->over.base;
    if (base->u.seq.n == 0)
        return jy_raises(f, PyExc_IndexError, "pop from an empty deque");
    size_t at = left ? 0 : base->u.seq.n - 1;
    TRY(jy_check_mutable(f, base));
    TRY(jy_check_dropped(f, base, base->u.seq.at[at]));
    *out = base->u.seq.at[at];
    jy_seq_remove(base, at);
    v->u.instance->over.changes++;
    jy_replay_call(f, base, left ? "popleft" : "pop", 0, NULL);
    return JY_OK;
}

static jy_status
deque_rotate(struct jy_frame *f, struct jy_value *v, struct jy_value *by)
{
    struct jy_value *base = v->u.instance->over.base;
    int64_t k = 1, n = (int64_t)base->u.seq.n;
    if (by != NULL)
        TRY(jy_value_index(f, &k, by));
    if (n <= 1)
        return JY_OK;
    TRY(jy_check_mutable(f, base));
    k = (k % n + n) % n;
    struct jy_value **at = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, n);
    for (int64_t i = 0; i < n; i++)
        at[(i + k) % n] = base->u.seq.at[i];
    memcpy(base->u.seq.at, at, (size_t)n * sizeof *at);
    v->u.instance->over.changes++;
    struct jy_value *number = jy_value_const_take(f, PyLong_FromLongLong(k));
    if (number == NULL)
        return JY_ERROR;
    jy_replay_call(f, base, "rotate", 1, &number);
    return JY_OK;
}

static jy_status
deque_clear(struct jy_frame *f, struct jy_value *v)
{
    struct jy_value *base = v->u.instance->over.base;
    TRY(jy_check_mutable(f, base));
    for (size_t i = 0; i < base->u.seq.n; i++)
        TRY(jy_check_dropped(f, base, base->u.seq.at[i]));
    base->u.seq.n = 0;
    v->u.instance->over.changes++;
    jy_replay_call(f, base, "clear", 0, NULL);
    return JY_OK;
}

static jy_status
deque_copy(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    const struct jy_value *base = v->u.instance->over.base;
    if (!jy_over_is_exact(v))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "copy of %s", jy_value_describe(f, v));
    TRY(jy_over_new(f, out, v->u.instance->klass, 0, NULL, NULL));
    (*out)->u.instance->over.maxlen = v->u.instance->over.maxlen;
    for (size_t i = 0; i < base->u.seq.n; i++)
        jy_seq_append(f, (*out)->u.instance->over.base, base->u.seq.at[i]);
    return JY_OK;
}

static jy_status
defaultdict_copy(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    const struct jy_instance *self = v->u.instance;
    if (!jy_over_is_exact(v))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "copy of %s", jy_value_describe(f, v));
    TRY(jy_over_new(f, out, self->klass, 0, NULL, NULL));
    (*out)->u.instance->over.factory = self->over.factory;
    return jy_dict_update(f, (*out)->u.instance->over.base, self->over.base);
}

/* deque + deque and deque * k, of exact deques: what comes first makes the new one's bound. */
static jy_status
deque_operator(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op, struct jy_value *a,
               struct jy_value *b)
{
    struct jy_value *first = is_deque(a) ? a : b, *times = is_deque(a) ? b : a;
    int64_t k;
    bool is_sum = op == JY_NB_ADD && is_deque(a) && is_deque(b);
    bool is_product = op == JY_NB_MULTIPLY && !(is_deque(a) && is_deque(b)) &&
                      (times->v_kind == JY_V_SCALAR || times->v_kind == JY_V_CONST);
    if ((!is_sum && !is_product) || !jy_over_is_exact(first))
        return JY_OK;
    TRY(open_part(f, first));
    if (is_sum) {
        *done = true;
        TRY(deque_copy(f, out, a));
        return deque_extend(f, *out, b, false);
    }
    TRY(jy_value_index(f, &k, times));
    *done = true;
    const struct jy_value *base = first->u.instance->over.base;
    if (k > 0 && base->u.seq.n != 0 && (size_t)k > MAX_ITEMS / base->u.seq.n)
        return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "more than %d items", MAX_ITEMS);
    TRY(deque_copy(f, out, first));
    if (k <= 0)
        (*out)->u.instance->over.base->u.seq.n = 0;
    for (int64_t i = 1; i < k; i++)
        for (size_t j = 0; j < base->u.seq.n; j++)
            TRY(deque_add(f, *out, base->u.seq.at[j], false));
    return JY_OK;
}

/* A defaultdict, the left one first, gives its factory to the result; other subclasses of dict give a dict. */
static jy_status
dict_or(struct jy_frame *f, struct jy_value **out, bool *done, struct jy_value *a, struct jy_value *b,
        struct jy_value *x, struct jy_value *y)
{
    struct jy_value *with[] = { a, b }, *self = NULL;
    for (int i = 0; i < 2 && self == NULL; i++)
        if (has_part(with[i]) && with[i]->u.instance->over.kind == JY_OVER_DEFAULTDICT)
            self = with[i];
    *done = true;
    if (self == NULL)
        return jy_binary(f, out, JY_NB_OR, false, x, y);
    if (!jy_over_is_exact(self)) {
        *done = false;
        return JY_OK;
    }
    TRY(jy_over_new(f, out, self->u.instance->klass, 0, NULL, NULL));
    (*out)->u.instance->over.factory = self->u.instance->over.factory;
    TRY(jy_dict_update(f, (*out)->u.instance->over.base, x));
    return jy_dict_update(f, (*out)->u.instance->over.base, y);
}

static jy_status
deque_insert(struct jy_frame *f, struct jy_value *v, struct jy_value *index, struct jy_value *item)
{
    struct jy_value *base = v->u.instance->over.base;
    int64_t at, n = (int64_t)base->u.seq.n;
    TRY(jy_value_index(f, &at, index));
    if (v->u.instance->over.maxlen >= 0 && n >= v->u.instance->over.maxlen)
        return jy_raises(f, PyExc_IndexError, "deque already at its maximum size");
    at = at < 0 ? at + n : at;
    at = at < 0 ? 0 : at > n ? n : at;
    struct jy_value *args[] = { jy_value_const_take(f, PyLong_FromLongLong(at)), item };
    if (args[0] == NULL)
        return JY_ERROR;
    TRY(jy_check_mutable(f, base));
    jy_seq_insert(f, base, (size_t)at, item);
    v->u.instance->over.changes++;
    jy_replay_call(f, base, "insert", 2, args);
    return JY_OK;
}

/* From `at` up to `stop`; *at == stop: nothing there is equal. */
static jy_status
deque_find(struct jy_frame *f, size_t *at, size_t stop, struct jy_value *v, struct jy_value *item)
{
    const struct jy_value *base = v->u.instance->over.base;
    int64_t changes = v->u.instance->over.changes;
    for (bool same = false; *at < stop; ++*at) {
        TRY(jy_is_equal(f, &same, base->u.seq.at[*at], item));
        if (changes != v->u.instance->over.changes)
            return jy_break(f, JY_BREAK_RAISES, "a deque that changes while it is searched");
        if (same)
            return JY_OK;
    }
    return JY_OK;
}

static jy_status
deque_remove(struct jy_frame *f, struct jy_value *v, struct jy_value *item)
{
    struct jy_value *base = v->u.instance->over.base;
    size_t at = 0;
    TRY(deque_find(f, &at, base->u.seq.n, v, item));
    if (at == base->u.seq.n)
        return jy_break(f, JY_BREAK_RAISES, "remove() of an item that the deque does not hold");
    struct jy_value *key = jy_value_const_take(f, PyLong_FromSize_t(at));
    return key != NULL ? jy_over_delitem(f, v, key) : JY_ERROR;
}

static jy_status
deque_index_of(struct jy_frame *f, struct jy_value **out, struct jy_value *v, size_t nargs,
               struct jy_value *const *args)
{
    int64_t n = (int64_t)v->u.instance->over.base->u.seq.n, bounds[] = { 0, n };
    for (size_t i = 1; i < nargs; i++) {
        TRY(jy_value_index(f, &bounds[i - 1], args[i]));
        int64_t bound = bounds[i - 1] < 0 ? bounds[i - 1] + n : bounds[i - 1];
        bounds[i - 1] = bound < 0 ? 0 : bound > n ? n : bound;
    }
    size_t at = (size_t)bounds[0], stop = bounds[1] < bounds[0] ? at : (size_t)bounds[1];
    TRY(deque_find(f, &at, stop, v, args[0]));
    if (at == stop)
        return jy_break(f, JY_BREAK_RAISES, "index() of an item that the deque does not hold");
    return jy_take(f, out, PyLong_FromSize_t(at));
}

static jy_status
deque_reverse(struct jy_frame *f, struct jy_value *v)
{
    return jy_seq_reverse(f, v->u.instance->over.base);
}

static jy_status
call_deque(struct jy_frame *f, struct jy_value **out, bool *done, struct jy_value *v, const char *name, size_t n,
           struct jy_value *const *args)
{
    static const struct {
        const char *name;
        uint8_t least, most;
    } rows[] = { { "append", 1, 1 }, { "appendleft", 1, 1 }, { "extend", 1, 1 }, { "extendleft", 1, 1 },
                 { "pop", 0, 0 },    { "popleft", 0, 0 },    { "rotate", 0, 1 }, { "clear", 0, 0 },
                 { "copy", 0, 0 },   { "__copy__", 0, 0 },   { "insert", 2, 2 }, { "remove", 1, 1 },
                 { "index", 1, 3 },  { "reverse", 0, 0 },    { "count", 1, 1 } };
    size_t row = 0;
    while (row < sizeof rows / sizeof *rows && strcmp(rows[row].name, name) != 0)
        row++;
    if (row == sizeof rows / sizeof *rows)
        return JY_OK;
    if (n < rows[row].least || n > rows[row].most)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu arguments for the method %s", n, name);
    *done = true;
    TRY(none(f, out));
    if (row < 2)
        return deque_add(f, v, args[0], row == 1);
    if (row < 4)
        return deque_extend(f, v, args[0], row == 3);
    TRY(open_part(f, v));
    if (row < 6)
        return deque_pop(f, out, v, row == 5);
    if (row == 6)
        return deque_rotate(f, v, n == 1 ? args[0] : NULL);
    if (row == 7)
        return deque_clear(f, v);
    if (row < 10)
        return deque_copy(f, out, v);
    if (row == 10)
        return deque_insert(f, v, args[0], args[1]);
    if (row == 11)
        return deque_remove(f, v, args[0]);
    if (row == 12)
        return deque_index_of(f, out, v, n, args);
    if (row == 13)
        return deque_reverse(f, v);
    PyObject *count = jy_hold(f, PyUnicode_InternFromString(name));
    return count != NULL ? jy_call_method(f, out, v->u.instance->over.base, count, n, args, NULL) : JY_ERROR;
}

/* ---- methods ---- */

/* Special methods, called by their names: super().__getitem__(key) */
static jy_status
call_special(struct jy_frame *f, struct jy_value **out, bool *done, struct jy_value *v, const char *name, size_t n,
             struct jy_value *const *args, PyObject *kwnames)
{
    bool answer;
    *done = true;
    if (strcmp(name, "__init__") == 0) {
        TRY(none(f, out));
        return jy_over_init(f, v, n, args, kwnames);
    }
    TRY(open_part(f, v));
    struct jy_value *base = v->u.instance->over.base;
    if (strcmp(name, "__getitem__") == 0 && n == 1)
        return jy_over_getitem(f, out, v, args[0]);
    if (strcmp(name, "__len__") == 0 && n == 0)
        return jy_length(f, out, base);
    if (strcmp(name, "__iter__") == 0 && n == 0)
        return jy_over_iter(f, out, v);
    if (strcmp(name, "__contains__") == 0 && n == 1) {
        TRY(jy_contains(f, &answer, base, args[0]));
        *out = jy_value_const(f, answer ? Py_True : Py_False);
        return JY_OK;
    }
    if (strcmp(name, "__missing__") == 0 && n == 1 && v->u.instance->over.kind == JY_OVER_DEFAULTDICT) {
        TRY(jy_value_realize(f, v->u.instance->over.factory));
        if (jy_value_is_none(v->u.instance->over.factory))
            return jy_raises_key(f, args[0]);
        TRY(jy_call(f, out, v->u.instance->over.factory, 0, NULL, NULL));
        return jy_setitem(f, v, args[0], *out);
    }
    TRY(none(f, out));
    if (strcmp(name, "__setitem__") == 0 && n == 2)
        return jy_over_setitem(f, v, args[0], args[1]);
    if (strcmp(name, "__delitem__") == 0 && n == 1)
        return jy_over_delitem(f, v, args[0]);
    *done = false;
    return JY_OK;
}

jy_status
jy_over_method(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name, size_t n,
               struct jy_value *const *args, PyObject *kwnames)
{
    const char *text = jy_utf8(name);
    bool done = false, deque = is_deque(v);
    if (strncmp(text, "__", 2) == 0 && strcmp(text, "__copy__") != 0) {
        TRY(call_special(f, out, &done, v, text, n, args, kwnames));
        return done ? JY_OK : jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s of %s", text, jy_value_describe(f, v));
    }
    bool keywords = kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0;
    if (deque && !keywords)
        TRY(call_deque(f, out, &done, v, text, n, args));
    if (done)
        return JY_OK;
    if (deque)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s of %s", text, jy_value_describe(f, v));
    TRY(open_part(f, v));
    if (v->u.instance->over.kind == JY_OVER_DEFAULTDICT && (strcmp(text, "copy") == 0 || strcmp(text, "__copy__") == 0))
        return n == 0 ? defaultdict_copy(f, out, v) : jy_break(f, JY_BREAK_RAISES, "copy() with arguments");
    return jy_call_method(f, out, v->u.instance->over.base, name, n, args, kwnames);
}

/* ---- those that outlive the unit ---- */

static struct jy_value *
contents_of(struct jy_frame *f, const struct jy_value *v)
{
    const struct jy_value *base = v->u.instance->over.base;
    bool as_tuple = base->v_kind == JY_V_TUPLE || base->v_kind == JY_V_LIST;
    struct jy_value *copy = jy_value_seq(f, as_tuple ? JY_V_TUPLE : JY_V_DICT, 0, NULL);
    copy->u.seq = base->u.seq;
    copy->u.seq.owner = NULL;
    return copy;
}

static PyObject *
method_of(struct jy_frame *f, const struct jy_value *v, const char *name)
{
    return jy_hold(f, PyObject_GetAttrString((PyObject *)v->u.instance->over.builtin, name));
}

/* What __init__ takes behind the object. */
static jy_status
init_parts(struct jy_recipe **parts, size_t *n, struct jy_frame *f, struct jy_outputs *o, const struct jy_value *v)
{
    const struct jy_instance *self = v->u.instance;
    if (self->over.kind == JY_OVER_DEFAULTDICT)
        TRY(jy_outputs_recipe(&parts[(*n)++], f, o, self->over.factory));
    TRY(jy_outputs_recipe(&parts[(*n)++], f, o, contents_of(f, v)));
    if (self->over.kind == JY_OVER_DEQUE && self->over.maxlen >= 0) {
        PyObject *maxlen = jy_hold(f, PyLong_FromLongLong(self->over.maxlen));
        if (maxlen == NULL)
            return JY_ERROR;
        parts[(*n)++] = jy_recipe_const(f, maxlen);
    }
    return JY_OK;
}

static bool
is_one_call(const struct jy_value *v)
{
    const struct jy_instance *self = v->u.instance;
    return (self->over.kind == JY_OVER_DEQUE || self->over.kind == JY_OVER_DEFAULTDICT) && jy_over_is_exact(v);
}

bool
jy_over_is_filled_late(const struct jy_value *part)
{
    const struct jy_value *owner = part->v_kind == JY_V_LIST || part->v_kind == JY_V_DICT ? part->u.seq.owner : NULL;
    return owner != NULL && owner->v_source == JY_NO_SOURCE && !is_one_call(owner);
}

jy_status
jy_over_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    const struct jy_instance *self = v->u.instance;
    struct jy_recipe *parts[4];
    size_t n = 0;
    if (self->over.kind == JY_OVER_OTHER || self->over.base == NULL)
        return jy_break(f, JY_BREAK_RESULT, "%s", jy_value_describe(f, v));
    if (self->over.kind == JY_OVER_TUPLE && self->over.base->u.seq.is_key)
        return jy_break(f, JY_BREAK_RESULT, "a tuple that is a key, too");
    if (is_one_call(v)) {
        TRY(init_parts(parts, &n, f, o, v));
        *out = jy_recipe_call(f, (PyObject *)self->type, n, parts);
        return JY_OK;
    }
    PyObject *new = method_of(f, v, "__new__");
    if (new == NULL)
        return JY_ERROR;
    parts[n++] = jy_recipe_const(f, (PyObject *)self->type);
    if (self->over.kind == JY_OVER_NUMBER)
        parts[n++] = jy_recipe_const(f, self->over.base->v_object);
    else if (self->over.kind == JY_OVER_TUPLE)
        TRY(jy_outputs_recipe(&parts[n++], f, o, contents_of(f, v)));
    *out = jy_recipe_call(f, new, n, parts);
    return JY_OK;
}

jy_status
jy_over_store(struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    const struct jy_instance *self = v->u.instance;
    struct jy_recipe *parts[4];
    size_t n = 1;
    if (!has_part(v) || self->over.kind == JY_OVER_TUPLE || self->over.kind == JY_OVER_NUMBER || is_one_call(v))
        return JY_OK;
    PyObject *init = method_of(f, v, "__init__");
    if (init == NULL)
        return JY_ERROR;
    TRY(jy_outputs_recipe(&parts[0], f, o, v));
    TRY(init_parts(parts, &n, f, o, v));
    *jy_vec_push(jy_frame_arena(f), &f->f_trace->unit->u_effects) =
        (struct jy_effect){ .kind = JY_EFFECT_CALL, .value = jy_recipe_call(f, init, n, parts) };
    return JY_OK;
}
