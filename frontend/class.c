/* Classes: what they hold, how it is bound, and what calling them makes.
 *
 *     function             through an instance: bound method        through the class: the function
 *     staticmethod         the function
 *     classmethod          method of the class
 *     property             its getter is called                     the property
 *     slot                 the instance's member                    the descriptor
 *     other descriptors    the program's own __get__ is called
 *     plain data           the object
 *
 * A class is called here as type.__call__ does it, with `__new__` and `__init__` that are the program's or a builtin type's (over.c), if its destructor cannot run code; where its metaclass
 * has a __call__ of the program's, that is called. */
#include "frontend/instance.h"

#include "frontend/cpython/own.h"

#include <string.h>

/* ---- what a class holds ---- */

PyObject *
jy_class_find(PyTypeObject *type, PyTypeObject *after, PyObject *name)
{
    if (after == NULL)
        return _PyType_Lookup(type, name);
    PyObject *mro = type->tp_mro;
    Py_ssize_t i = 0, n = mro != NULL ? PyTuple_GET_SIZE(mro) : 0;
    while (i < n && PyTuple_GET_ITEM(mro, i) != (PyObject *)after)
        i++;
    for (i++; i < n; i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *found = jy_own_class_attribute(base, name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* Whether an object of a class of the program's is a descriptor is up to that class, which no version of the class that holds it tells. */
static void
guard_descriptor(struct jy_frame *f, PyObject *raw)
{
    static const char *const names[] = { "__get__", "__set__", "__delete__" };
    PyTypeObject *type = Py_TYPE(raw);
    if (PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE) || PyType_Check(raw))
        return;
    jy_guard_type(f, jy_source_add(f->f_trace->unit, JY_SOURCE_OBJECT, 0, 0, raw), type);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PyObject *name = jy_hold(f, PyUnicode_InternFromString(names[i]));
        if (name != NULL)
            jy_guard_class(f, type, NULL, name, jy_class_find(type, NULL, name));
    }
}

PyObject *
jy_class_get(struct jy_frame *f, PyTypeObject *type, PyTypeObject *after, PyObject *name)
{
    PyObject *raw = jy_class_find(type, after, name);
    jy_guard_class(f, type, after, name, raw);
    if (raw != NULL)
        guard_descriptor(f, raw);
    return raw;
}

PyObject *
jy_class_get_text(struct jy_frame *f, PyTypeObject *type, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_InternFromString(name));
    return text != NULL ? jy_class_get(f, type, NULL, text) : NULL;
}

bool
jy_class_is_default(PyObject *raw, const char *name)
{
    PyObject *text = PyUnicode_InternFromString(name);
    bool same = raw != NULL && text != NULL && raw == _PyType_Lookup(&PyBaseObject_Type, text);
    Py_XDECREF(text);
    return same;
}

struct jy_value *
jy_class_value(struct jy_frame *f, PyObject *object)
{
    jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_OBJECT, 0, 0, object);
    struct jy_value *v = jy_value_lazy(f, object, source);
    if (v->v_kind == JY_V_LAZY && PyType_Check(object)) /* no guard: it is that object */
        v->v_kind = JY_V_CALLABLE;
    return v;
}

/* ---- binding ---- */

static jy_status
not_traced(struct jy_frame *f, PyObject *name, PyObject *raw)
{
    return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s, a %s", jy_utf8(name), Py_TYPE(raw)->tp_name);
}

/* The Python function in a staticmethod or classmethod. */
static PyObject *
wrapped(struct jy_frame *f, PyObject *raw)
{
    PyObject *function = jy_hold(f, PyObject_GetAttrString(raw, "__func__"));
    PyErr_Clear();
    return function != NULL && PyFunction_Check(function) ? function : NULL;
}

static struct jy_value *
method_new(struct jy_frame *f, struct jy_value *function, struct jy_value *self)
{
    struct jy_value *method = jy_value_new(f, JY_V_METHOD);
    method->u.func.self = self;
    method->u.func.function = function;
    return method;
}

static jy_status
call_getter(struct jy_frame *f, struct jy_value **out, PyObject *raw, struct jy_value *self, PyObject *name)
{
    PyObject *getter = jy_hold(f, PyObject_GetAttrString(raw, "fget"));
    if (getter == NULL)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ATTRIBUTE);
    if (getter == Py_None)
        return jy_raises(f, PyExc_AttributeError, "property '%s' of '%s' object has no getter", jy_utf8(name),
                         self->u.instance->type->tp_name);
    return jy_call(f, out, jy_class_value(f, getter), 1, &self, NULL);
}

/* functools.cached_property: the getter's answer becomes the instance's own attribute, past any __setattr__. */
static jy_status
call_cached(struct jy_frame *f, struct jy_value **out, bool *done, PyObject *raw, struct jy_value *self, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(raw);
    PyObject *functools = jy_hold(f, PyUnicode_InternFromString("functools"));
    PyObject *module = functools != NULL ? jy_hold(f, PyImport_GetModule(functools)) : NULL;
    PyObject *real = module != NULL ? jy_hold(f, PyObject_GetAttrString(module, "cached_property")) : NULL;
    PyErr_Clear();
    if (real != (PyObject *)type || self == NULL || self->v_kind != JY_V_INSTANCE)
        return JY_OK;
    PyObject *get = jy_class_get_text(f, type, "__get__");
    PyObject *function = jy_hold(f, PyObject_GetAttrString(raw, "func")),
             *stored_as = jy_hold(f, PyObject_GetAttrString(raw, "attrname"));
    PyErr_Clear();
    if (get == NULL || function == NULL || stored_as != name || !PyFunction_Check(function) ||
        ((PyFunctionObject *)get)->func_globals != PyModule_GetDict(module))
        return JY_OK;
    *done = true;
    TRY(jy_call(f, out, jy_class_value(f, function), 1, &self, NULL));
    return jy_instance_generic_setattr(f, self, name, *out);
}

/* type(raw).__get__(raw, self, klass) */
static jy_status
call_descriptor(struct jy_frame *f, struct jy_value **out, PyObject *raw, struct jy_value *self, struct jy_value *klass,
                PyObject *name)
{
    struct jy_value *descriptor = jy_class_value(f, raw), *get;
    bool done = false;
    TRY(call_cached(f, out, &done, raw, self, name));
    if (done)
        return JY_OK;
    TRY(jy_value_realize(f, descriptor));
    if (!jy_is_instance(f, descriptor))
        return not_traced(f, name, raw);
    TRY(jy_special(f, &get, descriptor, "__get__"));
    if (get == NULL)
        return not_traced(f, name, raw);
    struct jy_value *args[] = { self != NULL ? self : jy_value_const(f, Py_None), klass };
    return jy_call(f, out, get, 2, args, NULL);
}

/* Wrappers of object's own slots, which calls of are understood. */
static bool
is_known_wrapper(PyObject *raw)
{
    static const char *const names[] = { "__init__",         "__setattr__", "__delattr__",
                                         "__getattribute__", "__eq__",      "__ne__" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (jy_class_is_default(raw, names[i]))
            return true;
    return false;
}

bool
jy_class_is_plain_lookup(PyObject *raw)
{
    return raw != NULL && Py_IS_TYPE(raw, &PyWrapperDescr_Type) &&
           ((PyWrapperDescrObject *)raw)->d_wrapped == (void *)PyObject_GenericGetAttr;
}

bool
jy_class_is_data(PyObject *raw)
{
    return raw != NULL && Py_TYPE(raw)->tp_descr_get == NULL && Py_TYPE(raw)->tp_descr_set == NULL;
}

jy_status
jy_class_bind(struct jy_frame *f, struct jy_value **out, PyObject *raw, struct jy_value *self, struct jy_value *klass,
              PyObject *name)
{
    bool static_method = Py_IS_TYPE(raw, &PyStaticMethod_Type);
    if (PyFunction_Check(raw) || static_method || Py_IS_TYPE(raw, &PyClassMethod_Type)) {
        PyObject *function = PyFunction_Check(raw) ? raw : wrapped(f, raw);
        if (function == NULL)
            return not_traced(f, name, raw);
        struct jy_value *value = jy_class_value(f, function), *first = PyFunction_Check(raw) ? self : klass;
        *out = static_method || first == NULL ? value : method_new(f, value, first);
        return JY_OK;
    }
    bool done = false;
    if (self != NULL)
        TRY(jy_over_bind(f, out, &done, raw, self, name));
    if (done)
        return JY_OK;
    if (self != NULL && Py_IS_TYPE(raw, &PyProperty_Type))
        return call_getter(f, out, raw, self, name);
    if (self != NULL && Py_IS_TYPE(raw, &PyMemberDescr_Type)) {
        TRY(jy_instance_slot(f, out, self, raw, name));
        return *out != NULL ? JY_OK
                            : jy_raises(f, PyExc_AttributeError, "'%s' object has no attribute '%s'",
                                        self->u.instance->type->tp_name, jy_utf8(name));
    }
    bool unbound = self == NULL && (Py_IS_TYPE(raw, &PyProperty_Type) || Py_IS_TYPE(raw, &PyMemberDescr_Type));
    if (Py_TYPE(raw)->tp_descr_get == NULL || unbound) {
        *out = jy_class_value(f, raw);
        return JY_OK;
    }
    if (Py_IS_TYPE(raw, &PyClassMethodDescr_Type) && klass != NULL &&
        (((PyTypeObject *)klass->v_object)->tp_flags & Py_TPFLAGS_IMMUTABLETYPE)) {
        PyObject *bound = jy_hold(f, PyObject_GetAttr(klass->v_object, name));
        if (bound == NULL)
            return jy_raise_from_exception(f);
        *out = jy_value_callable(f, bound, JY_NO_SOURCE);
        return JY_OK;
    }
    if (Py_TYPE(raw)->tp_flags & Py_TPFLAGS_HEAPTYPE)
        return call_descriptor(f, out, raw, self, klass, name);
    if (is_known_wrapper(raw) && (self != NULL || klass != NULL)) {
        struct jy_value *wrapper = jy_value_callable(f, raw, JY_NO_SOURCE);
        *out = self != NULL ? method_new(f, wrapper, self) : wrapper;
        return JY_OK;
    }
    return not_traced(f, name, raw);
}

struct jy_value *
jy_class_data(struct jy_frame *f, PyObject *raw, struct jy_value *holder, PyObject *name)
{
    jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, holder->v_source, 0, name);
    jy_guard_present(f, source);
    return jy_value_lazy(f, raw, source);
}

/* The metaclass leaves look-up to `type`; a __getattr__ of its own has no say in what is found. */
static bool
has_plain_getattribute(struct jy_frame *f, PyTypeObject *meta, bool found)
{
    if (meta->tp_getattro == PyType_Type.tp_getattro)
        return true;
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("__getattribute__"));
    return found && name != NULL && jy_class_get(f, meta, NULL, name) == _PyType_Lookup(&PyType_Type, name);
}

static bool
is_name(PyObject *name)
{
    return PyUnicode_CompareWithASCIIString(name, "__name__") == 0 ||
           PyUnicode_CompareWithASCIIString(name, "__qualname__") == 0;
}

/* A class statement always leaves a __doc__, which type's own descriptor reads. */
static bool
is_own_doc(PyTypeObject *type, PyObject *name)
{
    PyObject *doc = PyUnicode_CompareWithASCIIString(name, "__doc__") == 0 && (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
                        ? jy_own_class_attribute(type, name)
                        : NULL;
    return doc != NULL && (doc == Py_None || PyUnicode_CheckExact(doc));
}

/* type.__getattribute__: the metaclass's data descriptors come first. */
jy_status
jy_class_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *klass, PyObject *name)
{
    PyTypeObject *type = (PyTypeObject *)klass->v_object, *meta = Py_TYPE(klass->v_object);
    if (jy_own_class_has_foreign_keys(type))
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "a class whose __dict__ has keys that are no strings");
    PyObject *raw = jy_class_find(type, NULL, name), *of_type = _PyType_Lookup(&PyType_Type, name);
    if (raw == NULL && of_type != NULL && Py_IS_TYPE(of_type, &PyGetSetDescr_Type) && is_name(name) &&
        jy_attribute_is_quiet(klass->v_object, name)) {
        PyObject *text = jy_hold(f, PyObject_GetAttr(klass->v_object, name));
        if (text == NULL)
            return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ATTRIBUTE);
        *out = jy_class_data(f, text, klass, name);
        return JY_OK;
    }
    if (is_own_doc(type, name) && has_plain_getattribute(f, meta, true)) {
        *out = jy_class_value(f, jy_class_get(f, type, NULL, name));
        return JY_OK;
    }
    if (!has_plain_getattribute(f, meta, raw != NULL) ||
        (of_type != NULL && (raw == NULL || Py_TYPE(of_type)->tp_descr_set != NULL)))
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s of class %s", jy_utf8(name), type->tp_name);
    if (meta != &PyType_Type) {
        PyObject *of_meta = jy_class_get(f, meta, NULL, name);
        bool first = raw == NULL || (of_meta != NULL && Py_TYPE(of_meta)->tp_descr_set != NULL);
        if (of_meta != of_type && first)
            return not_traced(f, name, of_meta != NULL ? of_meta : of_type);
    }
    if (jy_class_is_data(raw) && klass->v_source != JY_NO_SOURCE && jy_attribute_is_quiet(klass->v_object, name)) {
        *out = jy_class_data(f, raw, klass, name);
        return JY_OK;
    }
    raw = jy_class_get(f, type, NULL, name);
    if (raw == NULL)
        return jy_raises(f, PyExc_AttributeError, "type object '%s' has no attribute '%s'", type->tp_name,
                         jy_utf8(name));
    return jy_class_bind(f, out, raw, NULL, klass, name);
}

/* ---- new objects ---- */

/* May the builtin __new__ be followed? Everything that decides it is guarded. */
static jy_status
check_plain(struct jy_frame *f, PyTypeObject *type)
{
    PyTypeObject *builtin;
    enum jy_over over = jy_over_find(f, &builtin, type);
    bool plain = over != JY_OVER_OTHER && type->tp_alloc == PyType_GenericAlloc;
    if (type != builtin)
        plain =
            plain && type->tp_finalize == NULL && type->tp_del == NULL && jy_class_get_text(f, type, "__del__") == NULL;
    if (!plain)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "class %s, which does not make plain objects", type->tp_name);
    jy_class_get_text(f, type, "__abstractmethods__");
    if (type->tp_flags & Py_TPFLAGS_IS_ABSTRACT)
        return jy_break(f, JY_BREAK_RAISES, "abstract class %s", type->tp_name);
    return JY_OK;
}

/* type.__call__ does the calling. */
static jy_status
check_metaclass(struct jy_frame *f, PyTypeObject *type)
{
    PyTypeObject *meta = Py_TYPE(type);
    if (meta == &PyType_Type)
        return JY_OK;
    PyObject *call = jy_class_get_text(f, meta, "__call__");
    if (meta->tp_call != PyType_Type.tp_call || call == NULL || !Py_IS_TYPE(call, &PyWrapperDescr_Type))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "class %s, whose metaclass has a say", type->tp_name);
    return JY_OK;
}

static size_t
count_args(size_t nargs, PyObject *kwnames)
{
    return nargs + (kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0);
}

static PyObject *
builtins_own(struct jy_frame *f, PyTypeObject *builtin, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_InternFromString(name));
    return text != NULL ? _PyType_Lookup(builtin, text) : NULL;
}

/* first and then the arguments */
static struct jy_value **
with_first(struct jy_frame *f, struct jy_value *first, size_t n, struct jy_value *const *args)
{
    struct jy_value **all = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, n + 1);
    all[0] = first;
    if (n != 0)
        memcpy(all + 1, args, n * sizeof *args);
    return all;
}

static jy_status
call_new(struct jy_frame *f, struct jy_value **out, struct jy_value *klass, PyObject *raw, size_t nargs,
         struct jy_value *const *args, PyObject *kwnames)
{
    PyTypeObject *type = (PyTypeObject *)klass->v_object, *builtin;
    enum jy_over over = jy_over_find(f, &builtin, type);
    struct jy_value *new;
    if (over != JY_OVER_OTHER && raw == builtins_own(f, builtin, "__new__")) {
        TRY(check_plain(f, type));
        if (over != JY_OVER_OBJECT)
            return jy_over_new(f, out, klass, nargs, args, kwnames);
        *out = jy_instance_new(f, klass);
        return JY_OK;
    }
    if (!PyFunction_Check(raw) && !Py_IS_TYPE(raw, &PyStaticMethod_Type))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "class %s, whose __new__ is no function", type->tp_name);
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("__new__"));
    if (name == NULL)
        return JY_ERROR;
    TRY(jy_class_getattr(f, &new, klass, name));
    return jy_call(f, out, new, nargs + 1, with_first(f, klass, count_args(nargs, kwnames), args), kwnames);
}

static jy_status
call_init(struct jy_frame *f, struct jy_value *v, size_t nargs, struct jy_value *const *args, PyObject *kwnames)
{
    const struct jy_instance *self = v->u.instance;
    PyObject *init = jy_class_get_text(f, self->type, "__init__");
    struct jy_value *none;
    if (jy_class_is_default(init, "__init__"))
        return JY_OK;
    if (self->over.kind != JY_OVER_OBJECT && self->over.kind != JY_OVER_OTHER &&
        init == builtins_own(f, self->over.builtin, "__init__"))
        return jy_over_init(f, v, nargs, args, kwnames);
    if (init == NULL || !PyFunction_Check(init))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "class %s, whose __init__ is no function", self->type->tp_name);
    TRY(jy_call(f, &none, jy_class_value(f, init), nargs + 1, with_first(f, v, count_args(nargs, kwnames), args),
                kwnames));
    if (!jy_value_is_none(none))
        return jy_raises(f, PyExc_TypeError, "__init__() should return None, not '%s'",
                         none->v_kind == JY_V_CONST ? Py_TYPE(none->v_object)->tp_name : "?");
    return JY_OK;
}

/* type.__call__: what __new__ gives is initialised if it is an instance of the class. */
static jy_status
make(struct jy_frame *f, struct jy_value **out, struct jy_value *klass, size_t nargs, struct jy_value *const *args,
     PyObject *kwnames)
{
    PyTypeObject *type = (PyTypeObject *)klass->v_object, *of;
    struct jy_value *v;
    TRY(check_metaclass(f, type));
    PyObject *new = jy_class_get_text(f, type, "__new__");
    bool plain = jy_class_is_default(new, "__new__");
    if (new == NULL || (plain && type->tp_new != PyBaseObject_Type.tp_new))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "class %s, which does not make plain objects", type->tp_name);
    if (plain && count_args(nargs, kwnames) != 0 &&
        jy_class_is_default(jy_class_get_text(f, type, "__init__"), "__init__"))
        return jy_break(f, JY_BREAK_RAISES, "%s() takes no arguments", type->tp_name);
    TRY(call_new(f, &v, klass, new, nargs, args, kwnames));
    *out = v;
    TRY(jy_value_realize(f, v));
    if (jy_is_instance(f, v) && v->u.instance->type == type)
        return call_init(f, v, nargs, args, kwnames);
    TRY(jy_value_type(f, &of, v));
    if (PyType_IsSubtype(of, type) || (of->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "class %s, whose __new__ gives a %s", type->tp_name, of->tp_name);
    return JY_OK;
}

/* ---- object's own methods, called by name ---- */

static jy_status
attribute_name(struct jy_frame *f, PyObject **out, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    if (v->v_kind != JY_V_CONST || !PyUnicode_CheckExact(v->v_object))
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "a name that is not known");
    PyObject *name = Py_NewRef(v->v_object);
    PyUnicode_InternInPlace(&name);
    *out = jy_hold(f, name);
    return *out != NULL ? JY_OK : JY_ERROR;
}

static jy_status
call_object_method(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t n,
                   struct jy_value *const *args)
{
    PyObject *name;
    *out = jy_value_const(f, Py_None);
    if (n == 0)
        return JY_OK;
    TRY(jy_value_realize(f, args[0]));
    if (!jy_is_instance(f, args[0]))
        return JY_OK;
    *handled = true;
    if (jy_class_is_default(callable, "__init__") && n == 1)
        return JY_OK;
    if (jy_class_is_default(callable, "__setattr__") && n == 3) {
        TRY(attribute_name(f, &name, args[1]));
        return jy_instance_generic_setattr(f, args[0], name, args[2]);
    }
    if (jy_class_is_default(callable, "__delattr__") && n == 2) {
        TRY(attribute_name(f, &name, args[1]));
        return jy_instance_generic_setattr(f, args[0], name, NULL);
    }
    if (jy_class_is_default(callable, "__getattribute__") && n == 2) {
        TRY(attribute_name(f, &name, args[1]));
        TRY(jy_instance_generic_getattr(f, out, args[0], name));
        return *out != NULL ? JY_OK
                            : jy_raises(f, PyExc_AttributeError, "'%s' object has no attribute '%s'",
                                        args[0]->u.instance->type->tp_name, jy_utf8(name));
    }
    *handled = false;
    return JY_OK;
}

/* list.append(v, x), where v is of a class over list */
static jy_status
call_part_method(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *descriptor, size_t n,
                 struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *method;
    if (n == 0 || !(Py_IS_TYPE(descriptor, &PyWrapperDescr_Type) || Py_IS_TYPE(descriptor, &PyMethodDescr_Type)))
        return JY_OK;
    TRY(jy_value_realize(f, args[0]));
    if (!jy_is_instance(f, args[0]))
        return JY_OK;
    TRY(jy_over_bind(f, &method, handled, descriptor, args[0], PyDescr_NAME(descriptor)));
    return *handled ? jy_call(f, out, method, n - 1, args + 1, kwnames) : JY_OK;
}

/* builtin.__new__(klass, ...), a method of a type of C's. */
static jy_status
make_empty(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *new, size_t n,
           struct jy_value *const *args, PyObject *kwnames)
{
    PyTypeObject *builtin;
    if (n == 0)
        return JY_OK;
    TRY(jy_value_realize(f, args[0]));
    if (args[0]->v_kind != JY_V_CALLABLE || !PyType_Check(args[0]->v_object) || args[0]->v_source == JY_NO_SOURCE)
        return JY_OK;
    PyTypeObject *type = (PyTypeObject *)args[0]->v_object;
    enum jy_over over = jy_over_find(f, &builtin, type);
    if (over == JY_OVER_OTHER || type == builtin || new != builtins_own(f, builtin, "__new__") ||
        (over == JY_OVER_OBJECT && count_args(n, kwnames) != 1))
        return JY_OK;
    *handled = true;
    return call_new(f, out, args[0], new, n - 1, args + 1, kwnames);
}

/* ---- metaclasses ---- */

jy_status
jy_metaclass_special(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name)
{
    PyTypeObject *meta = v->v_kind == JY_V_CALLABLE && PyType_Check(v->v_object) ? Py_TYPE(v->v_object) : &PyType_Type;
    *out = NULL;
    if (meta == &PyType_Type || !(meta->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return JY_OK;
    PyObject *raw = jy_class_get_text(f, meta, name);
    if (raw == NULL)
        return JY_OK;
    struct jy_value *klass = v->v_source != JY_NO_SOURCE ? v : jy_class_value(f, v->v_object);
    jy_guard_type(f, klass->v_source, meta);
    if (PyFunction_Check(raw))
        *out = method_new(f, jy_class_value(f, raw), klass);
    return JY_OK;
}

jy_status
jy_metaclass_call(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name, size_t nargs,
                  struct jy_value *const *args)
{
    struct jy_value *method;
    *out = NULL;
    TRY(jy_metaclass_special(f, &method, v, name));
    return method != NULL ? jy_call(f, out, method, nargs, args, NULL) : JY_OK;
}

jy_status
jy_class_call(struct jy_frame *f, struct jy_value **out, bool *handled, struct jy_value *callable, size_t nargs,
              struct jy_value *const *args, PyObject *kwnames)
{
    PyObject *object = callable->v_object;
    bool keywords = kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0;
    if (object == (PyObject *)&PySuper_Type && !keywords) {
        *handled = true;
        return jy_super_new(f, out, nargs, args);
    }
    if (!PyType_Check(object)) {
        TRY(call_part_method(f, out, handled, object, nargs, args, kwnames));
        if (*handled)
            return JY_OK;
        if (Py_IS_TYPE(object, &PyWrapperDescr_Type) && !keywords)
            return call_object_method(f, out, handled, object, nargs, args);
        if (PyCFunction_Check(object) && strcmp(((PyCFunctionObject *)object)->m_ml->ml_name, "__new__") == 0)
            return make_empty(f, out, handled, object, nargs, args, kwnames);
        return JY_OK;
    }
    PyTypeObject *type = (PyTypeObject *)object, *builtin;
    enum jy_over over = jy_over_find(f, &builtin, type);
    bool by_c = type == builtin && (over == JY_OVER_DEQUE || over == JY_OVER_DEFAULTDICT);
    if (type != &PyBaseObject_Type && !by_c &&
        (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || PyExceptionClass_Check(object) ||
         PyType_IsSubtype(type, &PyType_Type)))
        return JY_OK;
    if (jy_partial_is_type(f, object)) {
        *handled = true;
        return jy_partial_new(f, out, nargs, args, kwnames);
    }
    struct jy_value *call;
    TRY(jy_metaclass_special(f, &call, callable, "__call__"));
    if (call != NULL) {
        *handled = true;
        return jy_call(f, out, call, nargs, args, kwnames);
    }
    if (over == JY_OVER_OTHER) /* a subclass of ndarray, ... */
        return JY_OK;
    *handled = true;
    struct jy_value *klass = callable->v_source != JY_NO_SOURCE ? callable : jy_class_value(f, object);
    return make(f, out, klass, nargs, args, kwnames);
}
