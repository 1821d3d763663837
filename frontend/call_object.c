/* Builtins that ask an object what it is and has. */
#include "frontend/call_builtin.h"

#include <string.h>

#include "frontend/exception.h"
#include "frontend/instance.h"

/* The exact type of a value; NULL: not known. */
static PyTypeObject *
type_of(struct jy_frame *f, struct jy_value *v)
{
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_CONST:
    case JY_V_CALLABLE:
    case JY_V_MODULE:
        return Py_TYPE(v->v_object);
    case JY_V_ARRAY:
        return (PyTypeObject *)f->f_trace->ndarray;
    case JY_V_SCALAR:
        switch ((enum jy_kind)v->u.scalar.kind) {
        case JY_KIND_PYFLOAT:
            return &PyFloat_Type;
        case JY_KIND_PYINT:
            return &PyLong_Type;
        case JY_KIND_PYBOOL:
            return &PyBool_Type;
        case JY_KIND_NPSCALAR:
        case JY_KIND_ARRAY:
            return v->v_object != NULL ? Py_TYPE(v->v_object) : NULL;
        }
        return NULL;
    case JY_V_TUPLE:
        return &PyTuple_Type;
    case JY_V_LIST:
        return &PyList_Type;
    case JY_V_DICT:
        return &PyDict_Type;
    case JY_V_SET:
        return &PySet_Type;
    case JY_V_RANGE:
        return &PyRange_Type;
    case JY_V_SLICE:
        return &PySlice_Type;
    case JY_V_FUNCTION:
        return &PyFunction_Type;
    case JY_V_METHOD:
        return v->u.func.function != NULL ? &PyMethod_Type : NULL;
    case JY_V_OPAQUE:
        jy_guard_type(f, v->v_source, Py_TYPE(v->v_object));
        return Py_TYPE(v->v_object);
    case JY_V_EXCEPTION:
        return jy_exception_type(v);
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_ITER:
    case JY_V_CELL:
    case JY_V_DICTVIEW:
    case JY_V_HANDLED:
        return NULL;
    case JY_V_PARTIAL:
        return jy_partial_type(f);
    case JY_V_INSTANCE:
        return v->u.instance->type;
    }
    return NULL;
}

/* NumPy's type for a computed scalar. */
static PyTypeObject *
numpy_type(struct jy_frame *f, struct jy_value *v)
{
    PyObject *name = jy_hold(f, PyUnicode_FromString("numpy"));
    PyObject *numpy = name != NULL ? jy_hold(f, PyImport_GetModule(name)) : NULL;
    PyObject *type =
        numpy != NULL
            ? jy_hold(f, PyObject_GetAttrString(
                             numpy, v->u.scalar.dtype == JY_BOOL ? "bool_" : jy_dtype_info[v->u.scalar.dtype].text))
            : NULL;
    PyErr_Clear();
    return type != NULL && PyType_Check(type) ? (PyTypeObject *)type : NULL;
}

jy_status
jy_value_type(struct jy_frame *f, PyTypeObject **out, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    *out = type_of(f, v);
    if (*out == NULL && v->v_kind == JY_V_SCALAR)
        *out = numpy_type(f, v);
    return *out != NULL ? JY_OK : jy_builtin_unknown(f, "type", v);
}

jy_status
jy_builtin_type(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    PyTypeObject *type;
    TRY(jy_value_type(f, &type, args[0]));
    if (jy_is_instance(f, args[0]) && args[0]->u.instance->self == NULL)
        *out = args[0]->u.instance->klass;
    else
        *out = args[0]->v_kind == JY_V_EXCEPTION ? args[0]->u.exception.type
                                                 : jy_value_callable(f, (PyObject *)type, JY_NO_SOURCE);
    return JY_OK;
}

/* type.__instancecheck__ */
static bool
asks_type(struct jy_frame *f, PyObject *klass)
{
    if (Py_IS_TYPE(klass, &PyType_Type))
        return true;
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("__instancecheck__"));
    if (name == NULL || (Py_TYPE(klass)->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 ||
        jy_class_find(Py_TYPE(klass), NULL, name) != jy_class_find(&PyType_Type, NULL, name))
        return false;
    jy_class_get(f, Py_TYPE(klass), NULL, name);
    return true;
}

/* Whether a class derives from another is guarded by something that only the MRO behind that other class has: what `object` holds. */
static bool
is_subtype(struct jy_frame *f, PyTypeObject *type, PyTypeObject *base)
{
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("__class__"));
    if (type != base && base != &PyBaseObject_Type && (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && name != NULL)
        jy_class_get(f, type, base, name);
    return PyType_IsSubtype(type, base);
}

/* Only classes whose metaclass leaves that to `type`, or to module abc. */
static jy_status
is_instance(struct jy_frame *f, bool *out, PyTypeObject *type, struct jy_value *of)
{
    struct jy_value **items;
    size_t n;
    TRY(jy_value_realize(f, of));
    PyObject *object = jy_value_known(of);
    if (object != NULL && PyType_Check(object) && (asks_type(f, object) || object == (PyObject *)type)) {
        *out = *out || is_subtype(f, type, (PyTypeObject *)object);
        return JY_OK;
    }
    if (object != NULL && jy_is_abstract_base(f, object) && is_subtype(f, type, (PyTypeObject *)object)) {
        *out = true;
        return JY_OK;
    }
    if (object != NULL && PyType_Check(object)) {
        bool known, answer;
        TRY(jy_abstract_answer(f, &known, &answer, type, object));
        if (!known)
            return jy_builtin_unknown(f, "isinstance", of);
        *out = *out || answer;
        return JY_OK;
    }
    if (of->v_kind != JY_V_TUPLE && !(object != NULL && PyTuple_CheckExact(object)))
        return jy_builtin_unknown(f, "isinstance", of);
    TRY(jy_value_items(f, &items, &n, of));
    for (size_t i = 0; i < n; i++)
        TRY(is_instance(f, out, type, items[i]));
    return JY_OK;
}

/* Does the object, rather than its type, answer `__class__`? */
static bool
has_own_class(struct jy_frame *f, struct jy_value *v, PyTypeObject *type)
{
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("__class__"));
    if (v->v_kind == JY_V_CALLABLE && jy_is_dispatcher(v->v_object))
        return true;
    return name == NULL || type->tp_getattro == NULL ||
           _PyType_Lookup(type, name) != _PyType_Lookup(&PyBaseObject_Type, name) ||
           (v->v_kind == JY_V_OPAQUE && type->tp_getattro != PyObject_GenericGetAttr);
}

jy_status
jy_isinstance(struct jy_frame *f, bool *out, struct jy_value *v, struct jy_value *classes)
{
    PyTypeObject *type;
    *out = false;
    TRY(jy_value_realize(f, v));
    if (jy_is_instance(f, v)) {
        struct jy_value *klass;
        PyObject *name = jy_hold(f, PyUnicode_InternFromString("__class__"));
        TRY(name != NULL ? jy_instance_getattr(f, &klass, v, name) : JY_ERROR); /* it may lie, and then it breaks */
        return is_instance(f, out, v->u.instance->type, classes);
    }
    TRY(jy_value_type(f, &type, v));
    if (has_own_class(f, v, type)) /* which may lie */
        return jy_builtin_unknown(f, "isinstance", v);
    return is_instance(f, out, type, classes);
}

/* Of classes whose metaclass is `type` itself: what one derives from cannot change without a class watcher noticing, but __bases__ can be set, so only builtin ones. */
jy_status
jy_builtin_issubclass(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args,
                      PyObject *kwnames)
{
    (void)n, (void)kwnames;
    bool answer = false;
    PyObject *type = jy_value_known(args[0]);
    if (type == NULL || !PyType_Check(type))
        return jy_builtin_unknown(f, "issubclass", args[0]);
    jy_guard_bases(f, (PyTypeObject *)type);
    TRY(is_instance(f, &answer, (PyTypeObject *)type, args[1]));
    *out = jy_builtin_bool_value(f, answer);
    return JY_OK;
}

jy_status
jy_builtin_isinstance(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args,
                      PyObject *kwnames)
{
    (void)n, (void)kwnames;
    bool answer;
    TRY(jy_isinstance(f, &answer, args[0], args[1]));
    *out = jy_builtin_bool_value(f, answer);
    return JY_OK;
}

jy_status
jy_builtin_callable(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args,
                    PyObject *kwnames)
{
    (void)n, (void)kwnames;
    PyTypeObject *type;
    TRY(jy_value_realize(f, args[0]));
    if (args[0]->v_kind == JY_V_METHOD) {
        *out = jy_builtin_bool_value(f, true);
        return JY_OK;
    }
    if (jy_is_instance(f, args[0])) {
        struct jy_value *method;
        TRY(jy_special(f, &method, args[0], "__call__"));
        *out = jy_builtin_bool_value(f, method != NULL);
        return JY_OK;
    }
    if (args[0]->v_kind == JY_V_OPAQUE) /* its class may come to have a __call__, or lose it */
        return jy_builtin_unknown(f, "callable", args[0]);
    TRY(jy_value_type(f, &type, args[0]));
    *out = jy_builtin_bool_value(f, type->tp_call != NULL);
    return JY_OK;
}

static jy_status
get_name(struct jy_frame *f, PyObject **out, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    if (v->v_kind != JY_V_CONST || !PyUnicode_CheckExact(v->v_object))
        return jy_builtin_unknown(f, "getattr", v);
    PyObject *name = Py_NewRef(v->v_object);
    PyUnicode_InternInPlace(&name); /* attributes are told apart by address */
    *out = jy_hold(f, name);
    return *out != NULL ? JY_OK : JY_ERROR;
}

jy_status
jy_builtin_setattr(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    PyObject *name;
    TRY(get_name(f, &name, args[1]));
    *out = jy_value_const(f, Py_None);
    return jy_setattr(f, args[0], name, n == 3 ? args[2] : NULL);
}

/* Classes of C's do not change. */
static jy_status
class_has(struct jy_frame *f, bool *out, struct jy_value *v, PyObject *name)
{
    PyTypeObject *type = (PyTypeObject *)v->v_object;
    struct jy_value *attribute;
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        if (!Py_IS_TYPE(v->v_object, &PyType_Type))
            return jy_builtin_unknown(f, "hasattr", v);
        *out = jy_hold(f, PyObject_GetAttr(v->v_object, name)) != NULL;
        PyErr_Clear();
        return JY_OK;
    }
    struct jy_value *klass = v->v_source != JY_NO_SOURCE ? v : jy_class_value(f, v->v_object);
    jy_status status = jy_class_getattr(f, &attribute, klass, name);
    *out = status == JY_OK;
    if (status == JY_BREAK && jy_is_raised(f, PyExc_AttributeError)) {
        jy_exception_take(f);
        return JY_OK;
    }
    return status;
}

/* Whether a plain object has an attribute; its absence cannot change. */
static jy_status
has_attribute(struct jy_frame *f, bool *out, struct jy_value *v, PyObject *name)
{
    PyTypeObject *type;
    TRY(jy_value_realize(f, v));
    if (jy_is_instance(f, v)) {
        struct jy_value *found;
        TRY(jy_instance_find(f, &found, v, name));
        *out = found != NULL;
        return JY_OK;
    }
    if (v->v_kind == JY_V_MODULE && PyModule_CheckExact(v->v_object)) {
        *out = PyDict_Contains(PyModule_GetDict(v->v_object), name) == 1;
        struct jy_value *attribute;
        return *out ? jy_getattr(f, &attribute, v, name) : jy_builtin_unknown(f, "hasattr of what is absent", v);
    }
    if (v->v_kind == JY_V_EXCEPTION) {
        struct jy_value *attribute;
        jy_status status = jy_exception_getattr(f, &attribute, v, name);
        *out = status == JY_OK;
        if (status == JY_BREAK && jy_is_raised(f, PyExc_AttributeError)) {
            jy_exception_take(f);
            return JY_OK;
        }
        return status;
    }
    if (v->v_kind == JY_V_CALLABLE && PyType_Check(v->v_object))
        return class_has(f, out, v, name);
    if (jy_is_function_text(v, jy_utf8(name))) {
        *out = true;
        return JY_OK;
    }
    TRY(jy_value_type(f, &type, v));
    if (v->v_kind == JY_V_OPAQUE || v->v_kind == JY_V_FUNCTION || v->v_kind == JY_V_CALLABLE)
        return jy_builtin_unknown(f, "hasattr", v);
    *out = _PyType_Lookup(type, name) != NULL;
    return JY_OK;
}

jy_status
jy_builtin_hasattr(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    PyObject *name;
    bool has;
    TRY(get_name(f, &name, args[1]));
    TRY(has_attribute(f, &has, args[0], name));
    *out = jy_builtin_bool_value(f, has);
    return JY_OK;
}

jy_status
jy_builtin_getattr(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    PyObject *name;
    bool has = true;
    TRY(get_name(f, &name, args[1]));
    TRY(jy_value_realize(f, args[0]));
    if (n == 3 && jy_is_instance(f, args[0])) {
        TRY(jy_instance_find(f, out, args[0], name));
        *out = *out != NULL ? *out : args[2];
        return JY_OK;
    }
    if (n == 3 && args[0]->v_kind != JY_V_OPAQUE)
        TRY(has_attribute(f, &has, args[0], name));
    if (has)
        return jy_getattr(f, out, args[0], name);
    *out = args[2];
    return JY_OK;
}
