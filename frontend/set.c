/* Sets.
 *
 * A set value carries a real set, the mirror, to which everything is done that the program does to its own. Its items are known and plain, so that hashing and comparing them runs no
 * code. Two sets of the same items may still differ in the order of their iteration, which comes from the history of their tables. Therefore:
 *
 *     made while tracing         the mirror has had the same history, and iterates in the program's order
 *     came from outside          guarded by items in their order; as long as it is not changed that order is known
 *     changed or made of such    `unordered`: its length, its members and comparisons are known, iteration breaks
 *
 * A set that leaves the trace is built by adding constants, if that provably gives the very table that the mirror has. */
#include "frontend/exception.h"
#include "frontend/effects.h"
#include "frontend/instance.h"

#include <string.h>

enum { MAX_SET = 10000 };

static bool
is_outside(const struct jy_value *v)
{
    return v->v_source != JY_NO_SOURCE;
}

jy_status
jy_set_new(struct jy_frame *f, struct jy_value **out, PyObject *mirror)
{
    if (jy_hold(f, mirror) == NULL)
        return JY_ERROR;
    *out = jy_value_new(f, JY_V_SET);
    (*out)->u.set.mirror = mirror;
    return JY_OK;
}

jy_status
jy_set_realize(struct jy_frame *f, struct jy_value *v)
{
    if (PySet_GET_SIZE(v->v_object) > MAX_SET)
        return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "a set of %zd items", PySet_GET_SIZE(v->v_object));
    PyObject *order = jy_hold(f, PySequence_Tuple(v->v_object));
    if (order == NULL)
        return JY_ERROR;
    if (!jy_key_is_known(f, order))
        return jy_break(f, JY_BREAK_UNKNOWN_ITEM,
                        "a set of items that are not numbers, text, members of enums or tuples");
    PyObject *mirror = jy_hold(f, PySet_New(v->v_object));
    if (mirror == NULL)
        return JY_ERROR;
    jy_guard_object(f, JY_GUARD_KEYS, v->v_source, order);
    v->v_kind = JY_V_SET;
    v->u.set.mirror = mirror;
    v->u.set.order = order;
    v->u.set.unordered = true;
    return JY_OK;
}

/* A set or frozenset as a real object, borrowed; NULL: it is none. */
static PyObject *
as_set(const struct jy_value *v)
{
    if (v->v_kind == JY_V_SET)
        return v->u.set.mirror;
    return v->v_kind == JY_V_CONST && PyFrozenSet_CheckExact(v->v_object) ? v->v_object : NULL;
}

static bool
is_unordered(const struct jy_value *v)
{
    return v->v_kind == JY_V_SET && v->u.set.unordered;
}

/* A computed set or frozenset, or another object that is plain. refs: steals */
static jy_status
take(struct jy_frame *f, struct jy_value **out, PyObject *object, bool unordered)
{
    if (object == NULL)
        return jy_raise_from_exception(f);
    if (!PySet_CheckExact(object) && !(PyFrozenSet_CheckExact(object) && unordered))
        return jy_take(f, out, object);
    if (!PySet_CheckExact(object)) {
        Py_DECREF(object);
        return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "a frozenset made of a set that came in");
    }
    TRY(jy_set_new(f, out, object));
    (*out)->u.set.unordered = unordered;
    return JY_OK;
}

/* ---- change ---- */

static jy_status
before_change(struct jy_frame *f, struct jy_value *set)
{
    TRY(jy_check_mutable(f, set));
    if (is_outside(set))
        set->u.set.order = NULL;
    return JY_OK;
}

jy_status
jy_set_add(struct jy_frame *f, struct jy_value *set, struct jy_value *item)
{
    PyObject *object;
    TRY(jy_key_object(f, &object, item));
    TRY(jy_check_kept_key(f, set, item, object));
    TRY(before_change(f, set));
    if (PySet_Add(set->u.set.mirror, object) < 0)
        return jy_raise_from_exception(f);
    jy_replay_call(f, set, "add", 1, &item);
    return JY_OK;
}

/* ---- questions ---- */

jy_status
jy_set_items(struct jy_frame *f, struct jy_value **out, struct jy_value *set)
{
    PyObject *order = set->u.set.order;
    if (order == NULL && set->u.set.unordered)
        return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "a set that came in and has been changed");
    if (order == NULL)
        order = jy_hold(f, PySequence_Tuple(set->u.set.mirror));
    if (order == NULL)
        return JY_ERROR;
    *out = jy_value_seq(f, JY_V_TUPLE, (size_t)PyTuple_GET_SIZE(order), NULL);
    for (size_t i = 0; i < (*out)->u.seq.n; i++)
        (*out)->u.seq.at[i] = jy_key_value(f, PyTuple_GET_ITEM(order, i));
    return JY_OK;
}

jy_status
jy_set_contains(struct jy_frame *f, bool *out, struct jy_value *set, struct jy_value *item)
{
    PyObject *object;
    TRY(jy_key_object(f, &object, item));
    int answer = PySet_Contains(as_set(set), object);
    if (answer < 0)
        return jy_raise_from_exception(f);
    *out = answer;
    return JY_OK;
}

jy_status
jy_set_compare(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_compare op, struct jy_value *a,
               struct jy_value *b)
{
    PyObject *x = as_set(a), *y = as_set(b);
    *done = x != NULL && y != NULL;
    return *done ? jy_take(f, out, PyObject_RichCompare(x, y, (int)op)) : JY_OK;
}

/* ---- operators ---- */

jy_status
jy_set_binary(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op, bool inplace, struct jy_value *a,
              struct jy_value *b)
{
    static const struct {
        binaryfunc plain, inplace;
        const char *name;
    } table[] = {
        [JY_NB_OR] = { PyNumber_Or, PyNumber_InPlaceOr, "__ior__" },
        [JY_NB_AND] = { PyNumber_And, PyNumber_InPlaceAnd, "__iand__" },
        [JY_NB_SUBTRACT] = { PyNumber_Subtract, PyNumber_InPlaceSubtract, "__isub__" },
        [JY_NB_XOR] = { PyNumber_Xor, PyNumber_InPlaceXor, "__ixor__" },
    };
    PyObject *x = as_set(a), *y = as_set(b);
    *done = x != NULL && y != NULL && (size_t)op < sizeof table / sizeof *table && table[op].name != NULL;
    if (!*done)
        return JY_OK;
    bool unordered = is_unordered(a) || is_unordered(b);
    if (!inplace || a->v_kind != JY_V_SET)
        return take(f, out, table[op].plain(x, y), unordered);
    TRY(before_change(f, a));
    if (jy_hold(f, table[op].inplace(x, y)) == NULL)
        return jy_raise_from_exception(f);
    a->u.set.unordered = unordered;
    jy_replay_call(f, a, table[op].name, 1, &b);
    *out = a;
    return JY_OK;
}

/* ---- methods ---- */

enum change { ASKS, CHANGES, CHANGES_BY_HISTORY };

static const struct row {
    const char *name;
    uint8_t least, most, change;
    bool takes_sets; /* its arguments are iterables, not items */
} rows[] = {
    { "add", 1, 1, CHANGES, false },
    { "clear", 0, 0, CHANGES, false },
    { "copy", 0, 0, ASKS, false },
    { "difference", 0, 8, ASKS, true },
    { "difference_update", 0, 8, CHANGES, true },
    { "discard", 1, 1, CHANGES, false },
    { "intersection", 0, 8, ASKS, true },
    { "intersection_update", 0, 8, CHANGES, true },
    { "isdisjoint", 1, 1, ASKS, true },
    { "issubset", 1, 1, ASKS, true },
    { "issuperset", 1, 1, ASKS, true },
    { "pop", 0, 0, CHANGES_BY_HISTORY, false },
    { "remove", 1, 1, CHANGES, false },
    { "symmetric_difference", 1, 1, ASKS, true },
    { "symmetric_difference_update", 1, 1, CHANGES, true },
    { "union", 0, 8, ASKS, true },
    { "update", 0, 8, CHANGES, true },
};

static const struct row *
find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool
jy_set_method_is_known(const char *name)
{
    return find(name) != NULL;
}

/* An iterable of known items as an object that set methods treat alike. refs: borrowed */
static jy_status
as_iterable(struct jy_frame *f, PyObject **out, bool *unordered, struct jy_value **v)
{
    TRY(jy_value_realize(f, *v));
    *out = as_set(*v);
    *unordered = *unordered || is_unordered(*v);
    if (*out != NULL)
        return JY_OK;
    struct jy_value *all, *given = *v;
    if (jy_is_instance(f, given))
        TRY(jy_instance_check_hint(f, given));
    TRY(jy_iter_collect(f, &all, JY_V_TUPLE, given));
    PyObject *items = jy_hold(f, jy_value_as_object(f, all));
    if (items == NULL || !jy_value_is_plain(f, items))
        return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "%s for a set", jy_value_describe(f, given));
    *out = items;
    *v = all;                         /* an iterator has nothing left to give when this is replayed */
    if (given->v_kind == JY_V_DICT) { /* whose keys are taken over table and all */
        *v = given;
        PyObject *dict = *out = jy_hold(f, PyDict_New());
        for (Py_ssize_t i = 0; dict != NULL && i < PyTuple_GET_SIZE(items); i++)
            if (PyDict_SetItem(dict, PyTuple_GET_ITEM(items, i), Py_None) < 0)
                return JY_ERROR;
    }
    return *out != NULL ? JY_OK : JY_ERROR;
}

jy_status
jy_set_freeze(struct jy_frame *f, struct jy_value **out, struct jy_value *iterable)
{
    PyObject *object;
    bool unordered = false;
    TRY(as_iterable(f, &object, &unordered, &iterable));
    if (object == jy_value_known(iterable)) { /* frozenset(s) is s */
        *out = iterable;
        return JY_OK;
    }
    return take(f, out, PyFrozenSet_New(object), unordered);
}

/* What an iterator gives is there before it is asked again. */
static jy_status
add_each(struct jy_frame *f, struct jy_value **out, struct jy_value *set, struct jy_value *iterator)
{
    struct jy_value *item;
    *out = jy_value_const(f, Py_None);
    for (size_t i = 0; i < MAX_SET; i++) {
        TRY(jy_iter_next(f, &item, iterator));
        if (item == NULL)
            return JY_OK;
        TRY(jy_set_add(f, set, item));
    }
    return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "more than %d items", MAX_SET);
}

jy_status
jy_set_method(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const char *name, size_t nargs,
              struct jy_value *const *args)
{
    const struct row *row = find(name);
    if (row == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s of a set", name);
    if (nargs < row->least || nargs > row->most)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu arguments for the method %s", nargs, name);
    if (row->change == CHANGES_BY_HISTORY && self->u.set.unordered)
        return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "%s of a set that came in", name);
    if (strcmp(name, "update") == 0 && nargs == 1) {
        TRY(jy_value_realize(f, args[0]));
        if (args[0]->v_kind == JY_V_ITER)
            return add_each(f, out, self, args[0]);
    }
    bool unordered = self->u.set.unordered;
    struct jy_value **given = jy_arena_copy(jy_frame_arena(f), args, (nargs + 1) * sizeof *args);
    PyObject *objects = jy_hold(f, PyTuple_New((Py_ssize_t)nargs)), *object = NULL;
    if (objects == NULL)
        return JY_ERROR;
    for (size_t i = 0; i < nargs; i++) {
        if (row->takes_sets)
            TRY(as_iterable(f, &object, &unordered, &given[i]));
        else
            TRY(jy_key_object(f, &object, given[i]));
        PyTuple_SET_ITEM(objects, i, Py_NewRef(object));
    }
    if (row->change != ASKS)
        TRY(before_change(f, self));
    PyObject *method = jy_hold(f, PyObject_GetAttrString(self->u.set.mirror, name));
    PyObject *result = method != NULL ? PyObject_Call(method, objects, NULL) : NULL;
    if (result == NULL)
        return jy_raise_from_exception(f);
    if (row->change != ASKS) {
        self->u.set.unordered = unordered;
        jy_replay_call(f, self, name, nargs, given);
    }
    return take(f, out, result, unordered);
}

/* ---- leaving the trace ---- */

static bool
is_same_table(PyObject *a, PyObject *b)
{
    const PySetObject *x = (PySetObject *)a, *y = (PySetObject *)b;
    if (x->fill != y->fill || x->used != y->used || x->mask != y->mask || x->finger != y->finger)
        return false;
    for (Py_ssize_t i = 0; i <= x->mask; i++)
        if (x->table[i].key != y->table[i].key || x->table[i].hash != y->table[i].hash)
            return false;
    return true;
}

static jy_status
build_by_adding(struct jy_recipe **out, struct jy_frame *f, PyObject *items)
{
    struct jy_recipe *r = JY_NEW(jy_frame_arena(f), struct jy_recipe);
    r->kind = JY_RECIPE_SET;
    r->n = (size_t)PyTuple_GET_SIZE(items);
    r->items = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_recipe *, r->n + 1);
    for (size_t i = 0; i < r->n; i++)
        r->items[i] = jy_recipe_const(f, PyTuple_GET_ITEM(items, i));
    *out = r;
    return JY_OK;
}

jy_status
jy_set_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_value *v)
{
    PyObject *mirror = v->u.set.mirror, *items = jy_hold(f, PySequence_Tuple(mirror));
    PyObject *added = jy_hold(f, PySet_New(NULL)), *frozen = jy_hold(f, PyFrozenSet_New(mirror));
    if (items == NULL || added == NULL || frozen == NULL)
        return JY_ERROR;
    if (v->u.set.unordered)
        return jy_break(f, JY_BREAK_RESULT, "a set made of one that came in");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++)
        if (PySet_Add(added, PyTuple_GET_ITEM(items, i)) < 0)
            return JY_ERROR;
    if (is_same_table(added, mirror))
        return build_by_adding(out, f, items);
    PyObject *copied = jy_hold(f, PySet_New(frozen));
    if (copied == NULL)
        return JY_ERROR;
    if (!is_same_table(copied, mirror))
        return jy_break(f, JY_BREAK_RESULT, "a set whose order comes from how it was made");
    struct jy_recipe *item = jy_recipe_const(f, frozen);
    *out = jy_recipe_call(f, (PyObject *)&PySet_Type, 1, &item);
    return JY_OK;
}
