/* Instances: their attributes, read and changed.
 *
 * Reading follows PyObject_GenericGetAttr: data descriptors of the class, then what the object holds itself, then the rest of the class, then __getattr__. Each answer that depends on
 * something not being there is guarded: CLASS for classes, NOT_OWN for the object. What an object from outside holds itself is an ATTR source; once the trace stores or deletes it, the
 * table of changed attributes answers, and an effect does the same to the real object when the unit has run.
 *
 * A new instance has its table only. If it outlives the unit it is made empty and its table is stored in order; if not, nobody ever sees it. */
#include "frontend/instance.h"

#include "frontend/cpython/own.h"
#include "frontend/effects.h"
#include <string.h>

/* ---- making and opening ---- */

/* A tuple with names of C's, whose fields may be more than its items. */
static bool
is_struct_sequence(PyTypeObject *type)
{
    PyObject *name = PyUnicode_InternFromString("n_sequence_fields");
    bool found = name != NULL && PyType_IsSubtype(type, &PyTuple_Type) && _PyType_Lookup(type, name) != NULL;
    PyErr_Clear();
    Py_XDECREF(name);
    return found;
}

void
jy_instance_open(struct jy_frame *f, struct jy_value *v)
{
    PyTypeObject *type = Py_TYPE(v->v_object);
    PyTypeObject *builtin;
    if (v->v_source == JY_NO_SOURCE || PyType_Check(v->v_object) || PyExceptionInstance_Check(v->v_object) ||
        jy_is_dispatcher(v->v_object))
        return;
    enum jy_over over = jy_over_find(f, &builtin, type);
    bool by_c = over == JY_OVER_DEQUE || over == JY_OVER_DEFAULTDICT;
    if ((!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) && !by_c) || is_struct_sequence(type) || jy_partial_open(f, v))
        return;
    jy_guard_type(f, v->v_source, type);
    jy_hold(f, Py_NewRef(v->v_object)); /* the unit must not keep it alive */
    v->v_kind = JY_V_INSTANCE;
    v->u.instance = JY_NEW(jy_frame_arena(f), struct jy_instance);
    v->u.instance->type = type;
    v->u.instance->over.kind = (uint8_t)over;
    v->u.instance->over.builtin = builtin;
    v->u.instance->klass = jy_class_value(f, (PyObject *)type);
}

struct jy_value *
jy_instance_new(struct jy_frame *f, struct jy_value *klass)
{
    struct jy_value *v = jy_value_new(f, JY_V_INSTANCE);
    v->u.instance = JY_NEW(jy_frame_arena(f), struct jy_instance);
    v->u.instance->type = (PyTypeObject *)klass->v_object;
    v->u.instance->klass = klass;
    v->u.instance->over.kind = (uint8_t)jy_over_find(f, &v->u.instance->over.builtin, v->u.instance->type);
    return v;
}

static bool
is_outside(const struct jy_value *v)
{
    return v->v_source != JY_NO_SOURCE;
}

/* ---- the table ---- */

static struct jy_attribute *
find_changed(const struct jy_value *v, PyObject *name)
{
    for (size_t i = 0; i < v->u.instance->attributes.n; i++)
        if (v->u.instance->attributes.at[i].name == name)
            return &v->u.instance->attributes.at[i];
    return NULL;
}

/* A deleted attribute of a new object leaves the dictionary's order; of one from outside, the deletion must be remembered. */
static void
change(struct jy_frame *f, struct jy_value *v, PyObject *name, struct jy_value *value, bool slot)
{
    struct jy_instance *self = v->u.instance;
    struct jy_attribute *a = find_changed(v, name);
    jy_keep(f->f_trace->unit, name);
    if (a == NULL)
        *jy_vec_push(jy_frame_arena(f), &self->attributes) = (struct jy_attribute){ name, value, slot };
    else
        a->value = value;
    if (value != NULL || is_outside(v))
        return;
    a = find_changed(v, name);
    memmove(a, a + 1, (size_t)(&self->attributes.at[self->attributes.n] - (a + 1)) * sizeof *a);
    self->attributes.n--;
}

/* ---- reading ---- */

static struct jy_value *
live_attribute(struct jy_frame *f, struct jy_value *v, PyObject *object, PyObject *name)
{
    jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, v->v_source, 0, name);
    jy_guard_present(f, source);
    return jy_value_lazy(f, object, source);
}

jy_status
jy_instance_slot(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *descriptor, PyObject *name)
{
    bool ok;
    struct jy_attribute *a = v->v_kind == JY_V_INSTANCE ? find_changed(v, name) : NULL;
    *out = NULL;
    bool token =
        v->v_kind == JY_V_INSTANCE && v->u.instance->errs.used && PyUnicode_CompareWithASCIIString(name, "_token") == 0;
    if (token || v->v_kind != JY_V_INSTANCE || !jy_own_is_slot(v->u.instance->type, descriptor))
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s, a member of %s", jy_utf8(name), jy_value_describe(f, v));
    if (a != NULL || !is_outside(v)) {
        *out = a != NULL ? a->value : NULL;
        return JY_OK;
    }
    PyObject *object = jy_own_slot(&ok, v->v_object, descriptor);
    if (ok && object == NULL && _PyType_Lookup(v->u.instance->type, name) == descriptor) {
        jy_guard_value(f, JY_GUARD_ABSENT, jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, v->v_source, 0, name), 0);
        return JY_OK;
    }
    if (!ok || object == NULL || _PyType_Lookup(v->u.instance->type, name) != descriptor)
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "the empty slot %s", jy_utf8(name));
    *out = live_attribute(f, v, object, name);
    return JY_OK;
}

static bool
is_data_descriptor(PyObject *raw)
{
    return raw != NULL && Py_TYPE(raw)->tp_descr_set != NULL;
}

/* What the object holds itself. *found, with *out NULL: nothing, which is guarded if `guard`. */
static void
own_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name, bool guard)
{
    struct jy_attribute *a = find_changed(v, name);
    *out = a != NULL ? a->value : NULL;
    if (a != NULL || !is_outside(v) || !jy_own_has_dict(v->u.instance->type))
        return;
    PyObject *object = jy_own_attribute(v->v_object, name);
    if (object != NULL)
        *out = live_attribute(f, v, object, name);
    else if (guard)
        jy_guard_not_own(f, v->v_source, name);
}

static jy_status
class_of(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *raw)
{
    if (!jy_class_is_default(raw, "__class__"))
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "__class__ of %s", jy_value_describe(f, v));
    *out = v->u.instance->klass;
    return JY_OK;
}

/* A look-up in such a dictionary is the program's business: how often, and in which order. */
static jy_status
check_keys(struct jy_frame *f, struct jy_value *v)
{
    if ((is_outside(v) && jy_own_has_foreign_keys(v->v_object)) || jy_own_class_has_foreign_keys(v->u.instance->type))
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE,
                        "an object or a class whose __dict__ has keys that are no strings");
    return JY_OK;
}

jy_status
jy_instance_generic_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    TRY(check_keys(f, v));
    struct jy_instance *self = v->u.instance;
    PyObject *raw = jy_class_find(self->type, NULL, name);
    bool data = jy_class_is_data(raw);
    if (!data)
        jy_class_get(f, self->type, NULL, name);
    *out = NULL;
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0)
        return class_of(f, out, v, raw);
    if (is_data_descriptor(raw))
        return jy_class_bind(f, out, raw, v, self->klass, name);
    own_attribute(f, out, v, name, !data);
    if (*out != NULL || raw == NULL)
        return JY_OK;
    if (data) { /* the instance fetches it, unless something of that name was taken from the instance */
        *out = jy_class_data(f, raw, is_outside(v) && find_changed(v, name) == NULL ? v : self->klass, name);
        return JY_OK;
    }
    return jy_class_bind(f, out, raw, v, self->klass, name);
}

static jy_status
check_getattribute(struct jy_frame *f, struct jy_value *v)
{
    PyObject *raw = jy_class_get_text(f, v->u.instance->type, "__getattribute__");
    if (!jy_class_is_plain_lookup(raw))
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s, whose class has a __getattribute__",
                        jy_value_describe(f, v));
    return JY_OK;
}

/* An AttributeError on its way out of a getter: __getattr__, hasattr and getattr with a default ask no further what raised it. */
static bool
is_missing(struct jy_frame *f, jy_status status, uint32_t depth, uint32_t nesting)
{
    if (status != JY_BREAK || !jy_is_raised(f, PyExc_AttributeError))
        return false;
    jy_exception_take(f);
    f->f_trace->depth = depth;
    f->f_trace->nesting = nesting;
    return true;
}

static jy_status
call_getattr_hook(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    PyObject *hook = jy_class_get_text(f, v->u.instance->type, "__getattr__");
    if (hook == NULL)
        return JY_OK;
    if (!PyFunction_Check(hook))
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s by a __getattr__ that is no function", jy_utf8(name));
    struct jy_value *args[] = { v, jy_value_const(f, name) };
    return jy_call(f, out, jy_class_value(f, hook), 2, args, NULL);
}

jy_status
jy_instance_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    uint32_t depth = f->f_trace->depth, nesting = f->f_trace->nesting;
    if (v->u.instance->self != NULL)
        return jy_super_getattr(f, out, v, name);
    TRY(check_getattribute(f, v));
    jy_status status = jy_instance_generic_getattr(f, out, v, name);
    if (status == JY_OK && *out != NULL)
        return JY_OK;
    if (status != JY_OK &&
        (!jy_is_raised(f, PyExc_AttributeError) || jy_class_get_text(f, v->u.instance->type, "__getattr__") == NULL ||
         !is_missing(f, status, depth, nesting)))
        return status;
    *out = NULL;
    return call_getattr_hook(f, out, v, name);
}

jy_status
jy_instance_find(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    uint32_t depth = f->f_trace->depth, nesting = f->f_trace->nesting;
    *out = NULL;
    jy_status status = jy_instance_getattr(f, out, v, name);
    if (!is_missing(f, status, depth, nesting))
        return status;
    *out = NULL;
    return JY_OK;
}

jy_status
jy_instance_no_attribute(struct jy_frame *f, struct jy_value *v, PyObject *name)
{
    return jy_raises(f, PyExc_AttributeError, "'%s' object has no attribute '%s'", v->u.instance->type->tp_name,
                     jy_utf8(name));
}

/* ---- changing ---- */

/* The old value leaves: replay must run no destructor of the program's later than eager would, or not at all. */
static jy_status
check_dropped(struct jy_frame *f, struct jy_value *v, PyObject *name)
{
    struct jy_attribute *a = find_changed(v, name);
    if (!is_outside(v) || (a != NULL && a->value == NULL))
        return JY_OK;
    if (a != NULL)
        return JY_OK; /* its own store put it there; both happen in order */
    PyObject *old = jy_own_attribute(v->v_object, name);
    if (old != NULL && (Py_TYPE(old)->tp_finalize != NULL || Py_TYPE(old)->tp_del != NULL) && !PyGen_CheckExact(old))
        return jy_break(f, JY_BREAK_STORE_ATTR, "%s, whose old value has a destructor", jy_utf8(name));
    return JY_OK;
}

static void
record(struct jy_frame *f, struct jy_value *v, PyObject *name, struct jy_value *value)
{
    const PyTypeObject *type = v->u.instance->type;
    if (!is_outside(v))
        return;
    if (type->tp_setattro == PyObject_GenericSetAttr) {
        jy_effect_add(f, value != NULL ? JY_EFFECT_STORE_ATTR : JY_EFFECT_DELETE_ATTR, v, name, NULL, value);
        return;
    }
    const char *method = value != NULL ? "__setattr__" : "__delattr__"; /* not the class's own */
    PyObject *text = jy_hold(f, PyUnicode_InternFromString(method));
    PyObject *wrapper = text != NULL ? _PyType_Lookup(&PyBaseObject_Type, text) : NULL;
    struct jy_value *args[] = { v, jy_value_const(f, name), value };
    assert(wrapper != NULL);
    jy_effect_add_call(f, wrapper, value != NULL ? 3 : 2, args);
}

static jy_status
call_setter(struct jy_frame *f, struct jy_value *v, PyObject *raw, PyObject *name, struct jy_value *value)
{
    PyObject *setter = jy_hold(f, PyObject_GetAttrString(raw, value != NULL ? "fset" : "fdel"));
    struct jy_value *args[] = { v, value }, *ignored;
    if (setter == NULL)
        return jy_break_from_exception(f, JY_BREAK_STORE_ATTR);
    if (setter == Py_None)
        return jy_raises(f, PyExc_AttributeError, "property '%s' of '%s' object has no %s", jy_utf8(name),
                         v->u.instance->type->tp_name, value != NULL ? "setter" : "deleter");
    return jy_call(f, &ignored, jy_class_value(f, setter), value != NULL ? 2 : 1, args, NULL);
}

static jy_status
call_descriptor(struct jy_frame *f, struct jy_value *v, PyObject *raw, PyObject *name, struct jy_value *value)
{
    struct jy_value *descriptor = jy_class_value(f, raw), *set = NULL, *args[] = { v, value }, *ignored;
    TRY(jy_value_realize(f, descriptor));
    if (jy_is_instance(f, descriptor))
        TRY(jy_special(f, &set, descriptor, value != NULL ? "__set__" : "__delete__"));
    if (set == NULL)
        return jy_break(f, JY_BREAK_STORE_ATTR, "%s, a %s", jy_utf8(name), Py_TYPE(raw)->tp_name);
    return jy_call(f, &ignored, set, value != NULL ? 2 : 1, args, NULL);
}

static jy_status
store_slot(struct jy_frame *f, struct jy_value *v, PyObject *raw, PyObject *name, struct jy_value *value)
{
    bool ok = true;
    struct jy_attribute *a = find_changed(v, name);
    PyObject *old = is_outside(v) ? jy_own_slot(&ok, v->v_object, raw) : NULL;
    if (!ok || !jy_own_is_slot(v->u.instance->type, raw) || _PyType_Lookup(v->u.instance->type, name) != raw)
        return jy_break(f, JY_BREAK_STORE_ATTR, "%s, a member", jy_utf8(name));
    if (old != NULL && (Py_TYPE(old)->tp_finalize != NULL || Py_TYPE(old)->tp_del != NULL))
        return jy_break(f, JY_BREAK_STORE_ATTR, "%s, whose old value has a destructor", jy_utf8(name));
    if (value == NULL && (a != NULL ? a->value == NULL : old == NULL))
        return jy_break(f, JY_BREAK_RAISES, "del of the empty slot %s", jy_utf8(name));
    if (value == NULL && a == NULL)
        live_attribute(f, v, old, name); /* that it is full must hold at every call */
    TRY(jy_value_changes(f, v));
    change(f, v, name, value, true);
    record(f, v, name, value);
    return JY_OK;
}

static jy_status
store_own(struct jy_frame *f, struct jy_value *v, PyObject *raw, PyObject *name, struct jy_value *value)
{
    struct jy_value *old = NULL;
    if (!jy_own_has_dict(v->u.instance->type))
        return jy_instance_no_attribute(f, v, name);
    TRY(check_dropped(f, v, name));
    if (value == NULL) {
        own_attribute(f, &old, v, name, true);
        if (old == NULL)
            return jy_instance_no_attribute(f, v, name);
        if (raw != NULL && is_outside(v) && find_changed(v, name) == NULL)
            return jy_break(f, JY_BREAK_STORE_ATTR, "del of %s, which the class has too", jy_utf8(name));
    }
    TRY(jy_value_changes(f, v));
    change(f, v, name, value, false);
    record(f, v, name, value);
    return JY_OK;
}

jy_status
jy_instance_generic_setattr(struct jy_frame *f, struct jy_value *v, PyObject *name, struct jy_value *value)
{
    TRY(check_keys(f, v));
    PyObject *raw = jy_class_get(f, v->u.instance->type, NULL, name);
    if (!is_data_descriptor(raw))
        return store_own(f, v, raw, name, value);
    if (Py_IS_TYPE(raw, &PyProperty_Type))
        return call_setter(f, v, raw, name, value);
    if (Py_IS_TYPE(raw, &PyMemberDescr_Type))
        return store_slot(f, v, raw, name, value);
    if (strstr(Py_TYPE(raw)->tp_name, "collections._tuplegetter") != NULL)
        return jy_raises(f, PyExc_AttributeError, value != NULL ? "can't set attribute" : "can't delete attribute");
    if (Py_TYPE(raw)->tp_flags & Py_TPFLAGS_HEAPTYPE)
        return call_descriptor(f, v, raw, name, value);
    return jy_break(f, JY_BREAK_STORE_ATTR, "%s, a %s", jy_utf8(name), Py_TYPE(raw)->tp_name);
}

jy_status
jy_instance_setattr(struct jy_frame *f, struct jy_value *v, PyObject *name, struct jy_value *value)
{
    const char *method = value != NULL ? "__setattr__" : "__delattr__";
    if (v->u.instance->self != NULL)
        return jy_break(f, JY_BREAK_STORE_ATTR, "an attribute of super()");
    PyObject *raw = jy_class_get_text(f, v->u.instance->type, method);
    if (jy_class_is_default(raw, method))
        return jy_instance_generic_setattr(f, v, name, value);
    if (raw == NULL || !PyFunction_Check(raw))
        return jy_break(f, JY_BREAK_STORE_ATTR, "%s of %s", jy_utf8(name), jy_value_describe(f, v));
    struct jy_value *args[] = { v, jy_value_const(f, name), value }, *ignored;
    return jy_call(f, &ignored, jy_class_value(f, raw), value != NULL ? 3 : 2, args, NULL);
}

/* ---- instances that outlive the unit ---- */

jy_status
jy_instance_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_instance *self = v->u.instance;
    struct jy_recipe *parts[2];
    TRY(jy_errstate_recipe(f, v));
    if (self->self != NULL) { /* super(after, self) */
        TRY(jy_outputs_recipe(&parts[0], f, o, self->after));
        TRY(jy_outputs_recipe(&parts[1], f, o, self->self));
        *out = jy_recipe_call(f, (PyObject *)&PySuper_Type, 2, parts);
        return JY_OK;
    }
    if (self->over.kind != JY_OVER_OBJECT)
        return jy_over_recipe(out, f, o, v);
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("__new__"));
    PyObject *new = name != NULL ? jy_hold(f, PyObject_GetAttr((PyObject *)&PyBaseObject_Type, name)) : NULL;
    if (new == NULL)
        return JY_ERROR;
    parts[0] = jy_recipe_const(f, (PyObject *)self->type);
    *out = jy_recipe_call(f, new, 1, parts);
    return JY_OK;
}

static void
add_effect(struct jy_frame *f, const struct jy_effect *effect)
{
    *jy_vec_push(jy_frame_arena(f), &f->f_trace->unit->u_effects) = *effect;
}

jy_status
jy_instance_store(struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    const struct jy_instance *self = v->u.instance;
    bool plain = self->type->tp_setattro == PyObject_GenericSetAttr;
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("__setattr__"));
    PyObject *wrapper = name != NULL ? _PyType_Lookup(&PyBaseObject_Type, name) : NULL;
    if (wrapper == NULL)
        return JY_ERROR;
    TRY(jy_over_store(f, o, v));
    for (size_t i = 0; i < self->attributes.n; i++) {
        const struct jy_attribute *a = &self->attributes.at[i];
        struct jy_effect effect = { .kind = JY_EFFECT_STORE_ATTR, .name = jy_keep(f->f_trace->unit, a->name) };
        TRY(jy_outputs_recipe(&effect.target, f, o, v));
        TRY(jy_outputs_recipe(&effect.value, f, o, a->value));
        if (!plain) {
            struct jy_recipe *parts[] = { effect.target, jy_recipe_const(f, a->name), effect.value };
            effect = (struct jy_effect){ .kind = JY_EFFECT_CALL, .value = jy_recipe_call(f, wrapper, 3, parts) };
        }
        add_effect(f, &effect);
    }
    return jy_errstate_store(f, o, v);
}
