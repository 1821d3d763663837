/* Changes of lists and dicts.
 *
 * What the trace made is changed where it stands; it is built with its last contents when the unit ends. What existed before is changed here too, so that the trace reads what
 * the program would, and the very same change goes to the ledger (effects.h), which is replayed on the real object.
 *
 * Replaying must not run code of the program's: what leaves a container is of a type whose destructor runs none, or the change breaks. A list that nobody has looked into takes
 * appends blindly: neither its length nor its items are guarded, and whoever looks later finds the appended items behind those that were there (realize.c). */
#include "frontend/effects.h"
#include "frontend/cpython/compat.h"
#include "frontend/exception.h"
#include "frontend/instance.h"

#include <string.h>

enum { MAX_APPENDED = 20000 };

static bool
is_outside(const struct jy_value *v)
{
    return v->v_source != JY_NO_SOURCE;
}

static bool
is_plain_type(const PyTypeObject *type)
{
    return type == Py_TYPE(Py_None) || type == &PyBool_Type || type == &PyLong_Type || type == &PyFloat_Type ||
           type == &PyComplex_Type || type == &PyUnicode_Type || type == &PyBytes_Type || type == &PyRange_Type;
}

/* A dict of names is changed behind the back of the loads that read those. Its keys are guarded, so a dict without a __name__ is that of no module in a later call; functions may have other
 * globals, though. */
static jy_status
check_namespace(struct jy_frame *f, const struct jy_value *v)
{
    bool is_module =
        jy_compat_dict_get(v->v_object, "__name__") != NULL || jy_compat_dict_get(v->v_object, "__builtins__") != NULL;
    for (const struct jy_frame *at = f; at != NULL; at = at->f_back) {
        if (is_module || at->f_globals == v->v_object || at->f_builtins == v->v_object)
            return jy_break(f, JY_BREAK_STORE_CONTAINER, "a dict of global names");
        if (at->f_back != NULL || jy_compat_dict_get(at->f_globals, "__name__") != NULL)
            continue;
        PyObject *name = jy_hold(f, PyUnicode_InternFromString("__globals__"));
        if (name == NULL)
            return JY_ERROR;
        jy_guard_not_same(f, v->v_source, jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, 0, 0, name));
    }
    return JY_OK;
}

/* The object that the program knows it as. */
static struct jy_value *
owner_of(struct jy_value *v)
{
    bool may_be_part = v->v_kind == JY_V_TUPLE || v->v_kind == JY_V_LIST || v->v_kind == JY_V_DICT;
    return may_be_part && v->u.seq.owner != NULL ? v->u.seq.owner : v;
}

jy_status
jy_check_mutable(struct jy_frame *f, struct jy_value *v)
{
    if (!is_outside(v))
        return JY_OK;
    if (v->v_kind == JY_V_DICT)
        TRY(check_namespace(f, v));
    return jy_value_changes(f, owner_of(v));
}

static jy_status
check_items_dropped(struct jy_frame *f, struct jy_value *container, struct jy_value *v)
{
    TRY(jy_enter(f));
    for (size_t i = 0; i < v->u.seq.n; i++)
        TRY(jy_check_dropped(f, container, v->u.seq.at[i]));
    jy_leave(f);
    return JY_OK;
}

jy_status
jy_check_dropped(struct jy_frame *f, struct jy_value *container, struct jy_value *v)
{
    if (!is_outside(container) || v->v_kind == JY_V_CONST || v->v_kind == JY_V_SCALAR || v->v_kind == JY_V_ARRAY ||
        v->v_kind == JY_V_RANGE || v->v_kind == JY_V_SLICE)
        return JY_OK;
    if (v->v_kind == JY_V_LAZY && is_plain_type(Py_TYPE(v->v_object))) {
        jy_guard_type(f, v->v_source, Py_TYPE(v->v_object));
        return JY_OK;
    }
    if (v->v_kind == JY_V_LAZY)
        TRY(jy_value_realize(f, v));
    if (v->v_kind == JY_V_TUPLE || v->v_kind == JY_V_LIST || v->v_kind == JY_V_DICT)
        return check_items_dropped(f, container, v);
    if (v->v_kind == JY_V_SCALAR || v->v_kind == JY_V_ARRAY || v->v_kind == JY_V_CONST)
        return JY_OK;
    if (!is_outside(v) && v->v_kind != JY_V_INSTANCE && v->v_kind != JY_V_OPAQUE)
        return JY_OK;
    return jy_break(f, JY_BREAK_STORE_CONTAINER, "%s, which leaves a container that existed before",
                    jy_value_describe(f, v));
}

void
jy_replay_call(struct jy_frame *f, struct jy_value *v, const char *name, size_t nargs, struct jy_value *const *args)
{
    if (!is_outside(v))
        return;
    const struct jy_value *owner = owner_of(v);
    PyTypeObject *type = owner->v_kind == JY_V_INSTANCE ? owner->u.instance->over.builtin : Py_TYPE(v->v_object);
    PyObject *text = jy_hold(f, PyUnicode_InternFromString(name));
    PyObject *method = text != NULL ? _PyType_Lookup(type, text) : NULL;
    assert(method != NULL);
    struct jy_value **all = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, nargs + 1);
    all[0] = v;
    for (size_t i = 0; i < nargs; i++)
        all[i + 1] = args[i];
    jy_effect_add_call(f, method, nargs + 1, all);
}

void
jy_replay_item(struct jy_frame *f, struct jy_value *v, struct jy_value *key, struct jy_value *item)
{
    const struct jy_value *owner = owner_of(v);
    struct jy_value *args[] = { key, item };
    if (!is_outside(v))
        return;
    if (owner == v || jy_over_is_exact(owner))
        jy_effect_add(f, item != NULL ? JY_EFFECT_STORE_ITEM : JY_EFFECT_DELETE_ITEM, v, NULL, key, item);
    else
        jy_replay_call(f, v, item != NULL ? "__setitem__" : "__delitem__", item != NULL ? 2 : 1, args);
}

/* ---- lists ---- */

bool
jy_is_appendable(struct jy_frame *f, const struct jy_value *v)
{
    (void)f;
    return v->v_kind == JY_V_LAZY && PyList_CheckExact(v->v_object);
}

jy_status
jy_list_append(struct jy_frame *f, struct jy_value *list, struct jy_value *item)
{
    TRY(jy_check_mutable(f, list));
    if (list->v_kind == JY_V_LAZY)
        jy_guard_type(f, list->v_source, &PyList_Type);
    else
        jy_seq_append(f, list, item);
    jy_replay_call(f, list, "append", 1, &item);
    return JY_OK;
}

void
jy_list_add_appended(struct jy_frame *f, struct jy_value *list)
{
    const struct jy_trace_state *t = f->f_trace;
    for (size_t i = 0; i < t->effects.n; i++)
        if (t->effects.at[i].kind == JY_EFFECT_CALL && t->effects.at[i].args[0] == list)
            jy_seq_append(f, list, t->effects.at[i].args[1]); /* nothing but appends reaches a list before that */
}

/* What an iterator gives is there before it is asked again: it may look at the list, or change it. */
static jy_status
append_each(struct jy_frame *f, struct jy_value *list, struct jy_value *iterator)
{
    struct jy_value *item;
    for (size_t i = 0; i < MAX_APPENDED; i++) {
        TRY(jy_iter_next(f, &item, iterator));
        if (item == NULL)
            return JY_OK;
        TRY(jy_list_append(f, list, item));
    }
    return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "more than %d items", MAX_APPENDED);
}

jy_status
jy_list_extend(struct jy_frame *f, struct jy_value *list, struct jy_value *iterable)
{
    struct jy_value *more;
    TRY(jy_value_realize(f, iterable));
    TRY(jy_check_mutable(f, list));
    if (iterable->v_kind == JY_V_ITER)
        return append_each(f, list, iterable);
    jy_status status = jy_iter_collect(f, &more, JY_V_TUPLE, iterable);
    if (status != JY_OK) { /* CPython has added what came before an exception */
        jy_exception_stop(f);
        return status;
    }
    for (size_t i = 0; i < more->u.seq.n; i++)
        jy_seq_append(f, list, more->u.seq.at[i]);
    if (more->u.seq.n != 0)
        jy_replay_call(f, list, "extend", 1, &more);
    return JY_OK;
}

/* The contents become `items`; sharing none of the old array, which somebody may be walking through. */
static void
set_items(struct jy_value *list, const struct jy_value *items)
{
    list->u.seq.at = items->u.seq.at;
    list->u.seq.n = items->u.seq.n;
    list->u.seq.cap = items->u.seq.cap;
}

static jy_status
splice(struct jy_frame *f, struct jy_value *list, size_t start, size_t count, const struct jy_value *more)
{
    struct jy_value *all = jy_value_seq(f, JY_V_LIST, 0, NULL);
    for (size_t i = 0; i < start; i++)
        jy_seq_append(f, all, list->u.seq.at[i]);
    for (size_t i = 0; i < more->u.seq.n; i++)
        jy_seq_append(f, all, more->u.seq.at[i]);
    for (size_t i = start + count; i < list->u.seq.n; i++)
        jy_seq_append(f, all, list->u.seq.at[i]);
    set_items(list, all);
    return JY_OK;
}

jy_status
jy_list_set_slice(struct jy_frame *f, struct jy_value *list, struct jy_value *key, struct jy_value *iterable)
{
    Py_ssize_t start = 0, step = 1, count = 0;
    struct jy_value *more;
    TRY(jy_check_mutable(f, list));
    TRY(jy_slice_bounds(f, &start, &step, &count, key, list->u.seq.n));
    size_t before = list->u.seq.n;
    TRY(jy_value_realize(f, iterable));
    if (jy_is_instance(f, iterable))
        TRY(jy_instance_check_hint(f, iterable));
    TRY(jy_iter_collect(f, &more, JY_V_TUPLE, iterable));
    if (list->u.seq.n != before)
        return jy_break(f, JY_BREAK_STORE_CONTAINER, "a list that changes while one of its slices is set");
    if (step != 1 && more->u.seq.n != (size_t)count)
        return jy_raises(f, PyExc_ValueError, "attempt to assign sequence of size %zu to extended slice of size %zd",
                         more->u.seq.n, count);
    for (Py_ssize_t i = 0; i < count; i++)
        TRY(jy_check_dropped(f, list, list->u.seq.at[start + i * step]));
    if (step == 1)
        TRY(splice(f, list, (size_t)start, (size_t)count, more));
    for (Py_ssize_t i = 0; step != 1 && i < count; i++)
        list->u.seq.at[start + i * step] = more->u.seq.at[i];
    jy_replay_item(f, list, key, more);
    return JY_OK;
}

jy_status
jy_list_delete_slice(struct jy_frame *f, struct jy_value *list, struct jy_value *key)
{
    Py_ssize_t start = 0, step = 1, count = 0;
    TRY(jy_check_mutable(f, list));
    TRY(jy_slice_bounds(f, &start, &step, &count, key, list->u.seq.n));
    for (Py_ssize_t i = 0; i < count; i++)
        TRY(jy_check_dropped(f, list, list->u.seq.at[start + i * step]));
    struct jy_value *rest = jy_value_seq(f, JY_V_LIST, 0, NULL);
    for (size_t i = 0; i < list->u.seq.n; i++) {
        Py_ssize_t k = (Py_ssize_t)i - start;
        if (k % step != 0 || k / step < 0 || k / step >= count)
            jy_seq_append(f, rest, list->u.seq.at[i]);
    }
    set_items(list, rest);
    jy_replay_item(f, list, key, NULL);
    return JY_OK;
}

jy_status
jy_replay_contents(struct jy_frame *f, struct jy_value *list)
{
    jy_replay_item(f, list, jy_value_new(f, JY_V_SLICE), jy_value_seq(f, JY_V_TUPLE, list->u.seq.n, list->u.seq.at));
    return JY_OK;
}

/* ---- dicts ---- */

jy_status
jy_dict_store(struct jy_frame *f, struct jy_value *dict, struct jy_value *key, struct jy_value *value)
{
    size_t index;
    bool found;
    TRY(jy_check_mutable(f, dict));
    TRY(jy_dict_find(f, &index, &found, dict, key));
    if (found)
        TRY(jy_check_dropped(f, dict, dict->u.seq.at[index]));
    TRY(jy_dict_set(f, dict, key, value));
    jy_replay_item(f, dict, key, value);
    return JY_OK;
}

jy_status
jy_dict_delete(struct jy_frame *f, struct jy_value *dict, size_t index, struct jy_value *key)
{
    TRY(jy_check_mutable(f, dict));
    TRY(jy_check_dropped(f, dict, dict->u.seq.at[index]));
    jy_seq_remove(dict, index);
    jy_replay_item(f, dict, key, NULL);
    return JY_OK;
}

jy_status
jy_dict_update(struct jy_frame *f, struct jy_value *dict, struct jy_value *from)
{
    struct jy_value **pair, *it, *item;
    size_t two;
    TRY(jy_value_realize(f, from));
    TRY(jy_over_dict(f, &from, from));
    if (from->v_kind == JY_V_DICT) {
        for (size_t i = 0; from != dict && i < from->u.seq.n; i++)
            TRY(jy_dict_store(f, dict, jy_key_value(f, from->u.seq.keys[i]), from->u.seq.at[i]));
        return JY_OK;
    }
    if (from->v_kind != JY_V_LIST && from->v_kind != JY_V_TUPLE && from->v_kind != JY_V_ITER &&
        from->v_kind != JY_V_DICTVIEW && from->v_kind != JY_V_CONST)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "update() with %s", jy_value_describe(f, from));
    TRY(jy_iter(f, &it, from));
    for (;;) {
        TRY(jy_iter_next(f, &item, it));
        if (item == NULL)
            return JY_OK;
        TRY(jy_value_items(f, &pair, &two, item));
        if (pair == NULL || two != 2)
            return jy_break(f, JY_BREAK_RAISES, "%s as a key and a value", jy_value_describe(f, item));
        TRY(jy_dict_store(f, dict, pair[0], pair[1]));
    }
}
