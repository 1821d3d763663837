/* Methods of tuples, lists, dicts and constants; those of sets are in set.c. Changes go through change.c, which tells the ledger. */
#include "frontend/ambient.h"
#include "frontend/effects.h"
#include "frontend/exception.h"
#include "frontend/instance.h"

#include <inttypes.h>
#include <string.h>

struct arguments {
    size_t n; /* positional ones; those that kwnames names are behind them */
    struct jy_value *const *at;
    PyObject *kwnames;
};

typedef jy_status method(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a);

static jy_status
none(struct jy_frame *f, struct jy_value **out)
{
    *out = jy_value_const(f, Py_None);
    return JY_OK;
}

static jy_status
shallow_copy(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    *out = jy_value_seq(f, (enum jy_value_kind)v->v_kind, 0, NULL);
    for (size_t i = 0; i < v->u.seq.n; i++) {
        if (v->v_kind == JY_V_DICT)
            TRY(jy_dict_set(f, *out, jy_key_value(f, v->u.seq.keys[i]), v->u.seq.at[i]));
        else
            jy_seq_append(f, *out, v->u.seq.at[i]);
    }
    return JY_OK;
}

/* ---- lists and tuples ---- */

static jy_status
list_append(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    TRY(jy_list_append(f, self, a->at[0]));
    return none(f, out);
}

static jy_status
list_extend(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    TRY(jy_list_extend(f, self, a->at[0]));
    return none(f, out);
}

static jy_status
list_insert(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    int64_t at, n = (int64_t)self->u.seq.n;
    TRY(jy_check_mutable(f, self));
    TRY(jy_value_index(f, &at, a->at[0]));
    at = at < 0 ? at + n : at;
    at = at < 0 ? 0 : at > n ? n : at;
    jy_seq_insert(f, self, (size_t)at, a->at[1]);
    struct jy_value *args[] = { jy_value_const_take(f, PyLong_FromLongLong(at)), a->at[1] };
    if (args[0] == NULL)
        return JY_ERROR;
    jy_replay_call(f, self, "insert", 2, args);
    return none(f, out);
}

static jy_status
remove_at(struct jy_frame *f, struct jy_value *self, int64_t at)
{
    struct jy_value *key = jy_value_const_take(f, PyLong_FromLongLong(at));
    if (key == NULL)
        return JY_ERROR;
    TRY(jy_check_mutable(f, self));
    TRY(jy_check_dropped(f, self, self->u.seq.at[at]));
    jy_seq_remove(self, (size_t)at);
    jy_replay_call(f, self, "pop", 1, &key);
    return JY_OK;
}

static jy_status
list_pop(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    int64_t at = -1, n = (int64_t)self->u.seq.n;
    if (a->n == 1)
        TRY(jy_value_index(f, &at, a->at[0]));
    if (n == 0)
        return jy_raises(f, PyExc_IndexError, "pop from empty list");
    at = at < 0 ? at + n : at;
    if (at < 0 || at >= n)
        return jy_raises(f, PyExc_IndexError, "pop index out of range");
    *out = self->u.seq.at[at];
    return remove_at(f, self, at);
}

static jy_status
find_item(struct jy_frame *f, size_t *at, bool *found, struct jy_value *self, struct jy_value *item)
{
    *found = false;
    for (*at = 0; *at < self->u.seq.n; ++*at) {
        TRY(jy_is_equal(f, found, self->u.seq.at[*at], item));
        if (*found)
            return JY_OK;
    }
    return JY_OK;
}

static jy_status
list_remove(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    size_t at;
    bool found;
    TRY(find_item(f, &at, &found, self, a->at[0]));
    if (!found)
        return jy_raises(f, PyExc_ValueError, "list.remove(x): x not in list");
    TRY(remove_at(f, self, (int64_t)at));
    return none(f, out);
}

jy_status
jy_seq_reverse(struct jy_frame *f, struct jy_value *v)
{
    TRY(jy_check_mutable(f, v));
    for (size_t i = 0, j = v->u.seq.n; i + 1 < j; i++, j--) {
        struct jy_value *item = v->u.seq.at[i];
        v->u.seq.at[i] = v->u.seq.at[j - 1];
        v->u.seq.at[j - 1] = item;
    }
    jy_replay_call(f, v, "reverse", 0, NULL);
    return JY_OK;
}

static jy_status
list_reverse(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    (void)a;
    TRY(jy_seq_reverse(f, self));
    return none(f, out);
}

/* While it is sorted a list is empty: that is what a key function sees. */
static jy_status
list_sort(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    struct jy_value *key, *all, *sorted;
    bool reverse;
    TRY(jy_check_mutable(f, self));
    TRY(jy_sort_arguments(f, &key, &reverse, a->n, a->at, a->kwnames));
    all = jy_value_seq(f, JY_V_TUPLE, self->u.seq.n, self->u.seq.at);
    self->u.seq.n = 0;
    TRY(jy_sort(f, &sorted, all, key, reverse, true));
    if (self->u.seq.n != 0)
        return jy_break(f, JY_BREAK_STORE_CONTAINER, "a list that changes while it is sorted");
    sorted->u.seq.owner = self->u.seq.owner;
    self->u.seq = sorted->u.seq;
    if (self->v_source != JY_NO_SOURCE)
        TRY(jy_replay_contents(f, self));
    return none(f, out);
}

static jy_status
any_clear(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    (void)a;
    TRY(jy_check_mutable(f, self));
    for (size_t i = 0; i < self->u.seq.n; i++)
        TRY(jy_check_dropped(f, self, self->u.seq.at[i]));
    self->u.seq.n = 0;
    self->u.seq.removals++;
    jy_replay_call(f, self, "clear", 0, NULL);
    return none(f, out);
}

static jy_status
any_copy(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    (void)a;
    return shallow_copy(f, out, self);
}

/* index(item, start, stop) */
static jy_status
sequence_index(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    int64_t n = (int64_t)self->u.seq.n, bounds[2] = { 0, n };
    for (size_t i = 1; i < a->n; i++) {
        TRY(jy_value_index(f, &bounds[i - 1], a->at[i]));
        bounds[i - 1] += bounds[i - 1] < 0 ? n : 0;
        bounds[i - 1] = bounds[i - 1] < 0 ? 0 : bounds[i - 1];
    }
    bool same;
    for (int64_t i = bounds[0]; i < n && i < bounds[1]; i++) {
        TRY(jy_is_equal(f, &same, self->u.seq.at[i], a->at[0]));
        if (same)
            return jy_take(f, out, PyLong_FromLongLong(i));
    }
    if (self->v_kind == JY_V_TUPLE)
        return jy_raises(f, PyExc_ValueError, "tuple.index(x): x not in tuple");
    PyObject *object = jy_hold(f, jy_value_as_object(f, a->at[0]));
    if (object == NULL || !jy_value_is_plain(f, object))
        return jy_break(f, JY_BREAK_RAISES, "%s is not in the list", jy_value_describe(f, a->at[0]));
    PyErr_Format(PyExc_ValueError, "%R is not in list", object);
    return jy_raise_from_exception(f);
}

static jy_status
sequence_count(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    size_t n = 0;
    bool same;
    for (size_t i = 0; i < self->u.seq.n; i++) {
        TRY(jy_is_equal(f, &same, self->u.seq.at[i], a->at[0]));
        n += same;
    }
    return jy_take(f, out, PyLong_FromSize_t(n));
}

/* ---- dicts ---- */

static jy_status
dict_get(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    size_t index;
    bool found;
    TRY(jy_dict_find(f, &index, &found, self, a->at[0]));
    *out = found ? self->u.seq.at[index] : a->n == 2 ? a->at[1] : jy_value_const(f, Py_None);
    return JY_OK;
}

static jy_status
dict_pop(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    size_t index;
    bool found;
    TRY(jy_dict_find(f, &index, &found, self, a->at[0]));
    if (!found && a->n == 1)
        return jy_raises_key(f, a->at[0]);
    *out = found ? self->u.seq.at[index] : a->at[1];
    return found ? jy_dict_delete(f, self, index, a->at[0]) : JY_OK;
}

static jy_status
dict_popitem(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    (void)a;
    size_t n = self->u.seq.n;
    if (n == 0) {
        struct jy_value *text = jy_value_const_take(f, PyUnicode_FromString("popitem(): dictionary is empty"));
        return text != NULL ? jy_raises_key(f, text) : JY_ERROR;
    }
    struct jy_value *pair[] = { jy_key_value(f, self->u.seq.keys[n - 1]), self->u.seq.at[n - 1] };
    *out = jy_value_seq(f, JY_V_TUPLE, 2, pair);
    return jy_dict_delete(f, self, n - 1, pair[0]);
}

static jy_status
dict_setdefault(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    size_t index;
    bool found;
    TRY(jy_dict_find(f, &index, &found, self, a->at[0]));
    *out = found ? self->u.seq.at[index] : a->n == 2 ? a->at[1] : jy_value_const(f, Py_None);
    return found ? JY_OK : jy_dict_store(f, self, a->at[0], *out);
}

static jy_status
dict_update(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    if (a->n == 1)
        TRY(jy_dict_update(f, self, a->at[0]));
    for (Py_ssize_t i = 0; a->kwnames != NULL && i < PyTuple_GET_SIZE(a->kwnames); i++)
        TRY(jy_dict_store(f, self, jy_value_const(f, PyTuple_GET_ITEM(a->kwnames, i)), a->at[a->n + (size_t)i]));
    return none(f, out);
}

static jy_status
view(struct jy_frame *f, struct jy_value **out, struct jy_value *self, size_t what)
{
    *out = jy_value_new(f, JY_V_DICTVIEW);
    (*out)->u.iter.sequence = self;
    (*out)->u.iter.position = what;
    return JY_OK;
}

static jy_status
dict_keys(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    (void)a;
    return view(f, out, self, 0);
}

static jy_status
dict_values(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    (void)a;
    return view(f, out, self, 1);
}

static jy_status
dict_items(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    (void)a;
    return view(f, out, self, 2);
}

/* ---- the table ---- */

static const struct row {
    uint8_t kind;
    const char *name;
    method *call;
    uint8_t least, most;
    bool keywords; /* takes some */
} rows[] = {
    { JY_V_LIST, "append", list_append, 1, 1, false }, /* the only one that a list which was not looked into is asked for */
    { JY_V_LIST, "clear", any_clear, 0, 0, false },       { JY_V_LIST, "copy", any_copy, 0, 0, false },
    { JY_V_LIST, "count", sequence_count, 1, 1, false },  { JY_V_LIST, "extend", list_extend, 1, 1, false },
    { JY_V_LIST, "index", sequence_index, 1, 3, false },  { JY_V_LIST, "insert", list_insert, 2, 2, false },
    { JY_V_LIST, "pop", list_pop, 0, 1, false },          { JY_V_LIST, "remove", list_remove, 1, 1, false },
    { JY_V_LIST, "reverse", list_reverse, 0, 0, false },  { JY_V_LIST, "sort", list_sort, 0, 0, true },
    { JY_V_TUPLE, "count", sequence_count, 1, 1, false }, { JY_V_TUPLE, "index", sequence_index, 1, 3, false },
    { JY_V_DICT, "clear", any_clear, 0, 0, false },       { JY_V_DICT, "copy", any_copy, 0, 0, false },
    { JY_V_DICT, "get", dict_get, 1, 2, false },          { JY_V_DICT, "items", dict_items, 0, 0, false },
    { JY_V_DICT, "keys", dict_keys, 0, 0, false },        { JY_V_DICT, "pop", dict_pop, 1, 2, false },
    { JY_V_DICT, "popitem", dict_popitem, 0, 0, false },  { JY_V_DICT, "setdefault", dict_setdefault, 1, 2, false },
    { JY_V_DICT, "update", dict_update, 0, 1, true },     { JY_V_DICT, "values", dict_values, 0, 0, false },
};

/* A list that nobody has looked into (jy_is_appendable) counts as one. */
static const struct row *
find(const struct jy_value *self, const char *name)
{
    uint8_t kind = self->v_kind == JY_V_LAZY ? JY_V_LIST : self->v_kind;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool
jy_method_is_known(const struct jy_value *self, const char *name)
{
    return self->v_kind == JY_V_SET ? jy_set_method_is_known(name) : find(self, name) != NULL;
}

/* The arguments of a constant's method as real objects. join() takes what it is given item by item. */
static jy_status
get_objects(struct jy_frame *f, PyObject **args, PyObject **keywords, PyObject *name, const struct arguments *a)
{
    struct jy_value *only = a->n == 1 ? a->at[0] : NULL;
    struct jy_value *all = jy_value_seq(f, JY_V_TUPLE, a->n, a->at);
    if (only != NULL)
        TRY(jy_value_realize(f, only));
    if (only != NULL && only->v_kind != JY_V_CONST && PyUnicode_CompareWithASCIIString(name, "join") == 0) {
        if (jy_is_instance(f, only))
            TRY(jy_instance_check_hint(f, only));
        TRY(jy_iter_collect(f, &only, JY_V_TUPLE, only));
        all->u.seq.at[0] = only;
    }
    *args = jy_hold(f, jy_value_as_object(f, all));
    *keywords = NULL;
    if (*args == NULL || !jy_value_is_plain(f, *args))
        *args = NULL;
    if (a->kwnames == NULL || *args == NULL)
        return JY_OK;
    *keywords = jy_hold(f, PyDict_New());
    for (Py_ssize_t i = 0; *keywords != NULL && i < PyTuple_GET_SIZE(a->kwnames); i++) {
        PyObject *value = jy_hold(f, jy_value_as_object(f, a->at[a->n + (size_t)i]));
        if (value == NULL || !jy_value_is_plain(f, value))
            *args = NULL;
        else if (PyDict_SetItem(*keywords, PyTuple_GET_ITEM(a->kwnames, i), value) < 0)
            return JY_ERROR;
    }
    return *keywords != NULL ? JY_OK : JY_ERROR;
}

/* encode(encoding, errors), decode(encoding, errors), format(...) */
static jy_status
check_ambient(struct jy_frame *f, PyObject *self, const char *name, PyObject *args, PyObject *keywords)
{
    if (strcmp(name, "format") == 0 || strcmp(name, "format_map") == 0) {
        TRY(jy_check_digits(f, args));
        return jy_check_locale(f, self, true);
    }
    if (strcmp(name, "__format__") == 0 && PyTuple_GET_SIZE(args) == 1) {
        TRY(jy_check_digits(f, self));
        return jy_check_locale(f, PyTuple_GET_ITEM(args, 0), false);
    }
    if (strcmp(name, "__str__") == 0 || strcmp(name, "__repr__") == 0)
        return jy_check_digits(f, self);
    if (strcmp(name, "encode") != 0 && strcmp(name, "decode") != 0)
        return JY_OK;
    PyObject *given[2] = { NULL, NULL };
    static const char *const names[2] = { "encoding", "errors" };
    for (Py_ssize_t k = 0; k < 2; k++)
        given[k] = k < PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, k)
                   : keywords != NULL         ? PyDict_GetItemString(keywords, names[k])
                                              : NULL;
    return jy_check_codec(f, self, given[0], given[1]);
}

/* Methods of immutable constants compute on the real objects. */
static jy_status
call_constant(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name,
              const struct arguments *a)
{
    PyObject *bound = jy_hold(f, PyObject_GetAttr(self->v_object, name)), *args, *keywords;
    TRY(get_objects(f, &args, &keywords, name, a));
    if (bound == NULL || args == NULL) {
        PyErr_Clear();
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s of %s", jy_utf8(name), jy_value_describe(f, self));
    }
    TRY(check_ambient(f, self->v_object, jy_utf8(name), args, keywords));
    PyObject *result = jy_hold(f, PyObject_Call(bound, args, keywords));
    if (result == NULL)
        return jy_raise_from_exception(f);
    if (PyList_CheckExact(result)) { /* str.split and its like */
        struct jy_value *list = jy_value_seq(f, JY_V_LIST, 0, NULL);
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(result); i++)
            jy_seq_append(f, list, jy_value_const(f, PyList_GET_ITEM(result, i)));
        *out = list;
        return JY_OK;
    }
    if (!jy_value_is_plain(f, result))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s of %s", jy_utf8(name), jy_value_describe(f, self));
    *out = jy_value_const(f, result);
    return JY_OK;
}

jy_status
jy_call_method(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name, size_t nargs,
               struct jy_value *const *args, PyObject *kwnames)
{
    const char *text = PyUnicode_AsUTF8(name);
    struct arguments a = { .n = nargs, .at = args, .kwnames = kwnames };
    if (text == NULL)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_CALL);
    bool keywords = kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0;
    if (self->v_kind == JY_V_INSTANCE)
        return jy_over_method(f, out, self, name, nargs, args, kwnames);
    if (self->v_kind == JY_V_CONST)
        return call_constant(f, out, self, name, &a);
    if (self->v_kind == JY_V_SET && !keywords)
        return jy_set_method(f, out, self, text, nargs, args);
    const struct row *row = find(self, text);
    if (row != NULL && keywords && !row->keywords)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords for the method %s", text);
    if (row == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s of %s", text, jy_value_describe(f, self));
    if (nargs < row->least || nargs > row->most)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu arguments for the method %s", nargs, text);
    return row->call(f, out, self, &a);
}
