/* Methods of tuples, lists, dicts, sets and constants. What changes a container takes only those that were made while tracing. */
#include "frontend/interp.h"

#include <inttypes.h>
#include <string.h>

struct arguments {
    size_t n;
    struct jy_value *const *at;
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
            TRY(jy_dict_set(f, *out, jy_value_const(f, v->u.seq.keys[i]), v->u.seq.at[i]));
        else
            jy_seq_append(f, *out, v->u.seq.at[i]);
    }
    return JY_OK;
}

/* ---- sequences ---- */

static jy_status
list_append(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    TRY(jy_check_mutable(f, self));
    jy_seq_append(f, self, a->at[0]);
    return none(f, out);
}

static jy_status
list_extend(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    struct jy_value *more;
    TRY(jy_check_mutable(f, self));
    TRY(jy_iter_collect(f, &more, JY_V_TUPLE, a->at[0]));
    for (size_t i = 0; i < more->u.seq.n; i++)
        jy_seq_append(f, self, more->u.seq.at[i]);
    return none(f, out);
}

static jy_status
list_insert(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    int64_t at, n = (int64_t)self->u.seq.n;
    TRY(jy_check_mutable(f, self));
    TRY(jy_value_index(f, &at, a->at[0]));
    at = at < 0 ? at + n : at;
    jy_seq_insert(f, self, (size_t)(at < 0 ? 0 : at > n ? n : at), a->at[1]);
    return none(f, out);
}

static jy_status
list_pop(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    int64_t at = -1, n = (int64_t)self->u.seq.n;
    TRY(jy_check_mutable(f, self));
    if (a->n == 1)
        TRY(jy_value_index(f, &at, a->at[0]));
    at = at < 0 ? at + n : at;
    if (at < 0 || at >= n)
        return jy_break(f, JY_BREAK_RAISES, "pop from a list of %" PRId64, n);
    *out = self->u.seq.at[at];
    jy_seq_remove(self, (size_t)at);
    return JY_OK;
}

static jy_status
list_reverse(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    (void)a;
    TRY(jy_check_mutable(f, self));
    for (size_t i = 0, j = self->u.seq.n; i + 1 < j; i++, j--) {
        struct jy_value *v = self->u.seq.at[i];
        self->u.seq.at[i] = self->u.seq.at[j - 1];
        self->u.seq.at[j - 1] = v;
    }
    return none(f, out);
}

static jy_status
any_clear(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    (void)a;
    TRY(jy_check_mutable(f, self));
    self->u.seq.n = 0;
    return none(f, out);
}

static jy_status
any_copy(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    (void)a;
    return shallow_copy(f, out, self);
}

static jy_status
sequence_index(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    bool same;
    for (size_t i = 0; i < self->u.seq.n; i++) {
        TRY(jy_is_equal(f, &same, self->u.seq.at[i], a->at[0]));
        if (same)
            return jy_take(f, out, PyLong_FromSize_t(i));
    }
    return jy_break(f, JY_BREAK_RAISES, "%s is not in the sequence", jy_value_describe(f, a->at[0]));
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

static jy_status
set_add(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    bool found;
    if (jy_value_known(a->at[0]) == NULL || !jy_value_is_plain(f, a->at[0]->v_object))
        return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "%s in a set", jy_value_describe(f, a->at[0]));
    TRY(jy_contains(f, &found, self, a->at[0]));
    if (!found)
        jy_seq_append(f, self, a->at[0]);
    return none(f, out);
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
    TRY(jy_check_mutable(f, self));
    TRY(jy_dict_find(f, &index, &found, self, a->at[0]));
    if (!found && a->n == 1)
        return jy_break(f, JY_BREAK_RAISES, "no key %s", jy_value_describe(f, a->at[0]));
    *out = found ? self->u.seq.at[index] : a->at[1];
    if (found)
        jy_seq_remove(self, index);
    return JY_OK;
}

static jy_status
dict_setdefault(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    size_t index;
    bool found;
    TRY(jy_check_mutable(f, self));
    TRY(jy_dict_find(f, &index, &found, self, a->at[0]));
    *out = found ? self->u.seq.at[index] : a->n == 2 ? a->at[1] : jy_value_const(f, Py_None);
    return found ? JY_OK : jy_dict_set(f, self, a->at[0], *out);
}

static jy_status
dict_update(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const struct arguments *a)
{
    struct jy_value *more = a->at[0];
    TRY(jy_check_mutable(f, self));
    TRY(jy_value_realize(f, more));
    if (more->v_kind != JY_V_DICT)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "update() with %s", jy_value_describe(f, more));
    for (size_t i = 0; i < more->u.seq.n; i++)
        TRY(jy_dict_set(f, self, jy_value_const(f, more->u.seq.keys[i]), more->u.seq.at[i]));
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
} rows[] = {
    { JY_V_LIST, "append", list_append, 1, 1 },
    { JY_V_LIST, "extend", list_extend, 1, 1 },
    { JY_V_LIST, "insert", list_insert, 2, 2 },
    { JY_V_LIST, "pop", list_pop, 0, 1 },
    { JY_V_LIST, "reverse", list_reverse, 0, 0 },
    { JY_V_LIST, "clear", any_clear, 0, 0 },
    { JY_V_LIST, "copy", any_copy, 0, 0 },
    { JY_V_LIST, "index", sequence_index, 1, 1 },
    { JY_V_LIST, "count", sequence_count, 1, 1 },
    { JY_V_TUPLE, "index", sequence_index, 1, 1 },
    { JY_V_TUPLE, "count", sequence_count, 1, 1 },
    { JY_V_DICT, "get", dict_get, 1, 2 },
    { JY_V_DICT, "pop", dict_pop, 1, 2 },
    { JY_V_DICT, "setdefault", dict_setdefault, 1, 2 },
    { JY_V_DICT, "update", dict_update, 1, 1 },
    { JY_V_DICT, "keys", dict_keys, 0, 0 },
    { JY_V_DICT, "values", dict_values, 0, 0 },
    { JY_V_DICT, "items", dict_items, 0, 0 },
    { JY_V_DICT, "copy", any_copy, 0, 0 },
    { JY_V_DICT, "clear", any_clear, 0, 0 },
    { JY_V_SET, "add", set_add, 1, 1 },
};

static const struct row *
find(const struct jy_value *self, const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == self->v_kind && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool
jy_method_is_known(const struct jy_value *self, const char *name)
{
    return find(self, name) != NULL;
}

/* Methods of immutable constants compute on the real objects. */
static jy_status
call_constant(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name,
              const struct arguments *a)
{
    PyObject *bound = jy_hold(f, PyObject_GetAttr(self->v_object, name));
    PyObject *args = jy_hold(f, jy_value_as_object(f, jy_value_seq(f, JY_V_TUPLE, a->n, a->at)));
    if (bound == NULL || args == NULL || !jy_value_is_plain(f, args)) {
        PyErr_Clear();
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s of %s", jy_utf8(name), jy_value_describe(f, self));
    }
    PyObject *result = jy_hold(f, PyObject_Call(bound, args, NULL));
    if (result == NULL)
        return jy_break_from_exception(f, JY_BREAK_RAISES);
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
    struct arguments a = { .n = nargs, .at = args };
    if (text == NULL)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_CALL);
    if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords for the method %s", text);
    if (self->v_kind == JY_V_CONST)
        return call_constant(f, out, self, name, &a);
    const struct row *row = find(self, text);
    if (row == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s of %s", text, jy_value_describe(f, self));
    if (nargs < row->least || nargs > row->most)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu arguments for the method %s", nargs, text);
    return row->call(f, out, self, &a);
}
