/* Attributes.
 *
 *     module            its dict, an ATTR source; no module-level __getattr__
 *     array, scalar     np.h
 *     plain constants   the real attribute, when it is plain itself; methods by name
 *     containers        methods by name
 *     classes           class.c
 *     instances         instance.c
 *     other objects     what finding runs no code for, guarded by the exact type
 */
#include "frontend/cpython/own.h"
#include "frontend/generator.h"
#include "frontend/instance.h"
#include "frontend/ops.h"

#include <string.h>

static struct jy_value *
method_of(struct jy_frame *f, struct jy_value *self, PyObject *name)
{
    struct jy_value *m = jy_value_new(f, JY_V_METHOD);
    jy_keep(f->f_trace->unit, name);
    m->u.func.self = self;
    m->u.func.name = name;
    return m;
}

static jy_status
no_attribute(struct jy_frame *f, struct jy_value *v, PyObject *name)
{
    return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s of %s", jy_utf8(name), jy_value_describe(f, v));
}

/* An object that somebody else certainly holds, at the end of `source`. */
static struct jy_value *
attribute(struct jy_frame *f, struct jy_value *v, PyObject *name, PyObject *object)
{
    struct jy_unit *unit = f->f_trace->unit;
    jy_src source = jy_source_add(unit, JY_SOURCE_ATTR, v->v_source, 0, name);
    unit->u_sources.at[source].is_read = true;
    return jy_value_lazy(f, object, source);
}

static jy_status
module_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    if (!PyModule_CheckExact(v->v_object) || v->v_source == JY_NO_SOURCE)
        return no_attribute(f, v, name);
    if (jy_is_stored_to(f, PyModule_GetDict(v->v_object)))
        return jy_break(f, JY_BREAK_STORE_GLOBAL, "%s of a module whose globals were changed", jy_utf8(name));
    PyObject *dict = PyModule_GetDict(v->v_object), *object = PyDict_GetItemWithError(dict, name);
    if (object != NULL) {
        *out = attribute(f, v, name, object);
        return JY_OK;
    }
    if (PyErr_Occurred())
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ATTRIBUTE);
    return no_attribute(f, v, name); /* made by the module's __getattr__, or absent: nothing guards absence */
}

static jy_status
plain_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    if (!jy_value_is_plain(f, v->v_object))
        return no_attribute(f, v, name);
    PyObject *object = jy_hold(f, PyObject_GetAttr(v->v_object, name));
    if (object == NULL) /* a class may get the attribute later */
        return PyType_Check(v->v_object) ? jy_break_from_exception(f, JY_BREAK_RAISES) : jy_raise_from_exception(f);
    if (PyCFunction_Check(object)) {
        *out = method_of(f, v, name);
        return JY_OK;
    }
    if (!jy_value_is_plain(f, object))
        return no_attribute(f, v, name);
    *out = PyType_Check(object) ? jy_value_callable(f, object, JY_NO_SOURCE) : jy_value_const(f, object);
    return JY_OK;
}

/* ---- classes and instances ---- */

/* Classes of C's do not change. */
static jy_status
class_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    PyTypeObject *type = (PyTypeObject *)v->v_object;
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        return jy_class_getattr(f, out, v->v_source != JY_NO_SOURCE ? v : jy_class_value(f, v->v_object), name);
    PyObject *raw = Py_IS_TYPE(v->v_object, &PyType_Type) ? _PyType_Lookup(type, name) : NULL;
    PyObject *of_type = _PyType_Lookup(&PyType_Type, name);
    if (Py_IS_TYPE(v->v_object, &PyType_Type) && PyUnicode_CompareWithASCIIString(name, "__name__") == 0) {
        *out = jy_value_const_take(f, PyObject_GetAttr(v->v_object, name));
        return *out != NULL ? JY_OK : JY_ERROR;
    }
    if (raw == NULL || (of_type != NULL && Py_TYPE(of_type)->tp_descr_set != NULL))
        return no_attribute(f, v, name);
    PyObject *object = jy_hold(f, PyObject_GetAttr(v->v_object, name));
    if (object == NULL)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ATTRIBUTE);
    if (jy_value_is_plain(f, object) && !PyType_Check(object))
        *out = jy_value_const(f, object);
    else
        *out = jy_value_callable(f, object, JY_NO_SOURCE);
    return JY_OK;
}

/* Would finding the attribute call something? Of what the class holds only functions, static methods, slots, fields of namedtuples and plain data surely
 * do not. */
static bool
is_quiet(PyObject *raw)
{
    return raw == NULL || jy_class_is_data(raw) || PyFunction_Check(raw) || Py_IS_TYPE(raw, &PyStaticMethod_Type) ||
           Py_IS_TYPE(raw, &PyMemberDescr_Type) || strstr(Py_TYPE(raw)->tp_name, "collections._tuplegetter") != NULL;
}

/* object.__getattribute__, at least before a __getattr__ is asked */
static bool
has_plain_lookup(PyTypeObject *type)
{
    if (type->tp_getattro == PyObject_GenericGetAttr)
        return true;
    PyObject *name = PyUnicode_InternFromString("__getattribute__");
    bool plain =
        name != NULL && (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && jy_class_is_plain_lookup(_PyType_Lookup(type, name));
    PyErr_Clear();
    Py_XDECREF(name);
    return plain;
}

/* The metaclass may have a look-up or a property of its own. */
static bool
is_quiet_of_class(PyTypeObject *object, PyObject *name)
{
    PyTypeObject *meta = Py_TYPE(object);
    PyObject *raw = _PyType_Lookup(object, name);
    if (meta == &PyType_Type)
        return is_quiet(raw);
    bool of_type = raw == NULL && (PyUnicode_CompareWithASCIIString(name, "__name__") == 0 ||
                                   PyUnicode_CompareWithASCIIString(name, "__qualname__") == 0 ||
                                   PyUnicode_CompareWithASCIIString(name, "__mro__") == 0);
    return (of_type || (raw != NULL && is_quiet(raw))) && meta->tp_getattro == PyType_Type.tp_getattro &&
           _PyType_Lookup(meta, name) == _PyType_Lookup(&PyType_Type, name);
}

bool
jy_attribute_is_quiet(PyObject *object, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(object);
    if (jy_own_class_has_foreign_keys(PyType_Check(object) ? (PyTypeObject *)object : type))
        return false;
    if (PyType_Check(object))
        return is_quiet_of_class((PyTypeObject *)object, name);
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return true;
    PyObject *raw = _PyType_Lookup(type, name);
    return has_plain_lookup(type) &&
           (is_quiet(raw) || (Py_TYPE(raw)->tp_descr_set == NULL && jy_own_attribute(object, name) != NULL));
}

PyObject *
jy_attribute_load(PyObject *object, PyObject *name)
{
    if (!jy_attribute_is_quiet(object, name))
        return NULL;
    bool instance = !PyType_Check(object) && (Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE);
    PyObject *value =
        instance ? _PyObject_GenericGetAttrWithDict(object, name, NULL, 1) : PyObject_GetAttr(object, name);
    if (value == NULL)
        PyErr_Clear();
    return value;
}

/* Objects of C's types, tuples with names and the like. */
static jy_status
opaque_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(v->v_object);
    PyObject *raw = _PyType_Lookup(type, name);
    if (v->v_source == JY_NO_SOURCE || type->tp_getattro != PyObject_GenericGetAttr || !is_quiet(raw))
        return no_attribute(f, v, name);
    PyObject *object = jy_hold(f, PyObject_GetAttr(v->v_object, name));
    if (object == NULL)
        return jy_break_from_exception(f, JY_BREAK_RAISES);
    jy_guard_type(f, v->v_source, type);
    if (raw == NULL || !PyFunction_Check(raw)) {
        *out = attribute(f, v, name, object);
        return JY_OK;
    }
    if (!PyMethod_Check(object) || PyMethod_GET_FUNCTION(object) != raw || PyMethod_GET_SELF(object) != v->v_object)
        return no_attribute(f, v, name); /* shadowed by an attribute of the instance */
    jy_class_get(f, type, NULL, name);
    if (jy_own_has_dict(type))
        jy_guard_not_own(f, v->v_source, name);
    *out = jy_value_new(f, JY_V_METHOD);
    (*out)->u.func.self = v;
    (*out)->u.func.function = jy_class_value(f, raw);
    return JY_OK;
}

static jy_status
instance_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    TRY(jy_instance_getattr(f, out, v, name));
    return *out != NULL ? JY_OK : jy_instance_no_attribute(f, v, name);
}

static jy_status
method_part(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    bool self = PyUnicode_CompareWithASCIIString(name, "__self__") == 0;
    if (v->u.func.function == NULL || (!self && PyUnicode_CompareWithASCIIString(name, "__func__") != 0))
        return no_attribute(f, v, name);
    *out = self ? v->u.func.self : v->u.func.function;
    return JY_OK;
}

bool
jy_is_function_text(const struct jy_value *v, const char *name)
{
    return v->v_kind == JY_V_FUNCTION && v->v_object != NULL && v->v_source != JY_NO_SOURCE &&
           (strcmp(name, "__doc__") == 0 || strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0);
}

static jy_status
function_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    PyObject *object = jy_is_function_text(v, jy_utf8(name)) ? jy_hold(f, PyObject_GetAttr(v->v_object, name)) : NULL;
    PyErr_Clear();
    if (object == NULL)
        return no_attribute(f, v, name);
    *out = attribute(f, v, name, object);
    return JY_OK;
}

/* ---- the protocol ---- */

static jy_status
part(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    static const char *const names[] = { "start", "stop", "step" };
    struct jy_value *parts[] = { v->u.range.start, v->u.range.stop, v->u.range.step };
    for (int i = 0; i < 3; i++) {
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0) {
            *out = parts[i] != NULL ? parts[i] : jy_value_const(f, Py_None);
            return JY_OK;
        }
    }
    return no_attribute(f, v, name);
}

jy_status
jy_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ATTRIBUTE);
    if (jy_is_appendable(f, v) && strcmp(text, "append") == 0) {
        jy_guard_type(f, v->v_source, &PyList_Type);
        *out = method_of(f, v, name);
        return JY_OK;
    }
    TRY(jy_value_realize(f, v));
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_MODULE:
        return module_attribute(f, out, v, name);
    case JY_V_ARRAY:
        return jy_np_getattr(f, out, v, name);
    case JY_V_SCALAR:
        if (v->u.scalar.kind == JY_KIND_NPSCALAR)
            return jy_np_getattr(f, out, v, name);
        break;
    case JY_V_CONST:
        return plain_attribute(f, out, v, name);
    case JY_V_EXCEPTION:
        return jy_exception_getattr(f, out, v, name);
    case JY_V_CALLABLE:
        if (PyType_Check(v->v_object))
            return class_attribute(f, out, v, name);
        if (strcmp(text, "reduce") == 0 && jy_np_knows(f, v->v_object))
            return jy_np_getattr(f, out, v, name);
        break;
    case JY_V_TUPLE:
    case JY_V_LIST:
    case JY_V_DICT:
    case JY_V_SET:
        if (!jy_method_is_known(v, text))
            break;
        *out = method_of(f, v, name);
        return JY_OK;
    case JY_V_RANGE:
    case JY_V_SLICE:
        return part(f, out, v, name);
    case JY_V_OPAQUE:
    case JY_V_INSTANCE:
        if (jy_is_instance(f, v))
            return instance_attribute(f, out, v, name);
        return v->v_kind == JY_V_PARTIAL ? jy_partial_getattr(f, out, v, name) : opaque_attribute(f, out, v, name);
    case JY_V_PARTIAL:
        return jy_partial_getattr(f, out, v, name);
    case JY_V_METHOD:
        return method_part(f, out, v, name);
    case JY_V_ITER:
        if (!jy_generator_has_method(v, text))
            break;
        *out = method_of(f, v, name);
        return JY_OK;
    case JY_V_FUNCTION:
        return function_attribute(f, out, v, name);
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_CELL:
    case JY_V_DICTVIEW:
    case JY_V_HANDLED:
        break;
    }
    return no_attribute(f, v, name);
}

jy_status
jy_setattr(struct jy_frame *f, struct jy_value *v, PyObject *name, struct jy_value *value)
{
    TRY(jy_value_realize(f, v));
    if (v->v_kind == JY_V_EXCEPTION && value != NULL)
        return jy_exception_setattr(f, v, name, value);
    if (jy_is_instance(f, v))
        return jy_instance_setattr(f, v, name, value);
    return jy_break(f, JY_BREAK_STORE_ATTR, "%s of %s", jy_utf8(name), jy_value_describe(f, v));
}

/* ---- instructions ---- */

static PyObject *
name_of(struct jy_frame *f, const struct jy_instr *instr)
{
    return jy_code_name(f->f_instrs, jy_instr_name_index(instr));
}

/* A method comes as one value with its self; CALL sees that its other slot is NULL. */
static jy_status
load(struct jy_frame *f, const struct jy_instr *instr, bool with_null)
{
    struct jy_value *v;
    TRY(jy_getattr(f, &v, *jy_peek(f, 1), name_of(f, instr)));
    if (!with_null)
        return jy_replace(f, 1, v);
    jy_pop(f);
    return jy_push_callable(f, v);
}

jy_status
op_load_attr(struct jy_frame *f, const struct jy_instr *instr)
{
    return load(f, instr, jy_instr_pushes_null(instr));
}

jy_status
op_load_method(struct jy_frame *f, const struct jy_instr *instr)
{
    return load(f, instr, true);
}

jy_status
op_store_attr(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *v = *jy_peek(f, 1), *value = *jy_peek(f, 2);
    f->f_depth -= 2; /* a setter's frame finds what eager's would */
    return jy_setattr(f, v, name_of(f, instr), value);
}

jy_status
op_delete_attr(struct jy_frame *f, const struct jy_instr *instr)
{
    return jy_setattr(f, jy_pop(f), name_of(f, instr), NULL);
}
