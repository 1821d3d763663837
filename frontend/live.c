/* Live objects that can change: one value each.
 *
 * Two sources may lead to one object (f(l, l), a.x and b.x). What the trace does to it through one must be seen through the other, so the first value made for it serves
 * both, with a guard that they are the same. Two objects that were different in the traced call may be one in a later call: that matters as soon as one of them is changed and
 * something was read from the other, and is guarded then. Objects of different types, or of which nothing was read, need no guard. */
#include "frontend/interp.h"

#include "frontend/cpython/own.h"

#include <string.h>

enum { MAX_DISTINCT = 300 };

/* Of these kinds one value per object is worth a guard. */
static bool
can_change(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyList_Type || type == &PyDict_Type || type == &PySet_Type)
        return true;
    if (strcmp(type->tp_name, "collections.deque") == 0 || strcmp(type->tp_name, "collections.defaultdict") == 0)
        return true;
    return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && !PyType_Check(object) &&
           strncmp(type->tp_name, "numpy.", 6) != 0 && !jy_is_dispatcher(object);
}

/* The slot where the object's value is, or would be. */
static size_t
find_slot(const struct jy_trace_state *t, PyObject *object)
{
    size_t i = (size_t)(((uintptr_t)object >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (t->live.cap - 1);
    while (t->live.at[i] != NULL && t->live.at[i]->v_object != object)
        i = (i + 1) & (t->live.cap - 1);
    return i;
}

struct jy_value *
jy_value_of_live(struct jy_frame *f, PyObject *object)
{
    const struct jy_trace_state *t = f->f_trace;
    return t->live.n != 0 ? t->live.at[find_slot(t, object)] : NULL;
}

void
jy_value_set_live(struct jy_frame *f, struct jy_value *v)
{
    struct jy_trace_state *t = f->f_trace;
    if (!can_change(v->v_object))
        return;
    if (2 * (t->live.n + 1) > t->live.cap) {
        struct jy_value **old = t->live.at;
        size_t cap = t->live.cap;
        t->live.cap = cap == 0 ? 32 : 2 * cap;
        t->live.at = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, t->live.cap);
        for (size_t i = 0; i < cap; i++)
            if (old[i] != NULL)
                t->live.at[find_slot(t, old[i]->v_object)] = old[i];
    }
    t->live.at[find_slot(t, v->v_object)] = v;
    t->live.n++;
}

/* ---- change ---- */

/* A dict and an object whose attributes could be in it. */
static jy_status
keep_from_dict(struct jy_frame *f, struct jy_value *dict, struct jy_value *instance)
{
    if (!PyDict_Check(dict->v_object) || !jy_own_has_dict(Py_TYPE(instance->v_object)))
        return JY_OK;
    if (jy_own_dict(instance->v_object) == dict->v_object)
        return jy_break(f, JY_BREAK_STORE_CONTAINER, "%s, which is the __dict__ of %s", jy_value_describe(f, dict),
                        jy_value_describe(f, instance));
    jy_guard_not_dict(f, dict->v_source, instance->v_source);
    return JY_OK;
}

static jy_status
keep_apart(struct jy_frame *f, struct jy_value *changed, struct jy_value *other)
{
    if (changed == other || other->v_kind == JY_V_LAZY)
        return JY_OK;
    if (Py_TYPE(changed->v_object) != Py_TYPE(other->v_object)) {
        TRY(keep_from_dict(f, changed, other));
        return keep_from_dict(f, other, changed);
    }
    if (++f->f_trace->napart > MAX_DISTINCT)
        return jy_break(f, JY_BREAK_STORE_CONTAINER, "changes of too many objects that must be different ones");
    jy_guard_not_same(f, changed->v_source, other->v_source);
    return JY_OK;
}

jy_status
jy_value_changes(struct jy_frame *f, struct jy_value *v)
{
    struct jy_trace_state *t = f->f_trace;
    if (v->v_source == JY_NO_SOURCE)
        return JY_OK;
    for (size_t i = 0; i < t->changed.n; i++)
        if (t->changed.at[i] == v)
            return JY_OK;
    for (size_t i = 0; i < t->live.cap; i++)
        if (t->live.at[i] != NULL)
            TRY(keep_apart(f, v, t->live.at[i]));
    *jy_vec_push(jy_frame_arena(f), &t->changed) = v;
    return JY_OK;
}

jy_status
jy_value_looked_at(struct jy_frame *f, struct jy_value *v)
{
    const struct jy_trace_state *t = f->f_trace;
    if (t->changed.n == 0 || v->v_source == JY_NO_SOURCE || v->v_object == NULL || !can_change(v->v_object))
        return JY_OK;
    for (size_t i = 0; i < t->changed.n; i++)
        TRY(keep_apart(f, t->changed.at[i], v));
    return JY_OK;
}
