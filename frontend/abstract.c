/* isinstance and issubclass with abstract base classes of module abc.
 *
 * abc.ABCMeta asks, in this order: its caches, the class's __subclasshook__, what is registered, and the class's subclasses. Its "yes" is remembered for as long as the class
 * lives, its "no" until something is registered with any abstract class, which moves abc.get_cache_token(). So the answer may be asked for while tracing, if only code of
 * the standard library can be asked: it is the same one then, or guarded by the token. */
#include "frontend/call_builtin.h"
#include "frontend/instance.h"

#include <string.h>

int64_t
jy_abstract_token(PyObject *get_cache_token)
{
    PyObject *token = PyObject_CallNoArgs(get_cache_token);
    int64_t value = token != NULL ? PyLong_AsLongLong(token) : -1;
    Py_XDECREF(token);
    if (value < 0)
        PyErr_Clear();
    return value;
}

enum { MAX_DEPTH = 12, MAX_CLASSES = 400 }; /* taste: of a search through what is registered */

struct search {
    struct jy_frame *f;
    PyTypeObject *meta; /* abc.ABCMeta */
    PyObject *dump;     /* _abc._get_dump */
    PyObject *hooks; /* the globals of collections.abc, whose hooks look at attributes of classes and at nothing else */
    uint32_t depth, n;
};

/* module.name, if the module is loaded; held */
static PyObject *
loaded(struct jy_frame *f, const char *module, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_InternFromString(module));
    PyObject *m = text != NULL ? jy_hold(f, PyImport_GetModule(text)) : NULL;
    PyObject *found = m == NULL      ? NULL
                      : name == NULL ? PyModule_GetDict(m)
                                     : jy_hold(f, PyObject_GetAttrString(m, name));
    PyErr_Clear();
    return found;
}

/* Is it a class whose metaclass is abc.ABCMeta as it comes? */
static bool
has_abstract_meta(struct jy_frame *f, PyObject *object)
{
    static const char *const asked[] = { "__instancecheck__", "__subclasscheck__" };
    PyTypeObject *meta = Py_TYPE(object);
    if (!PyType_Check(object) || strcmp(meta->tp_name, "ABCMeta") != 0 || meta->tp_base != &PyType_Type ||
        loaded(f, "abc", "ABCMeta") != (PyObject *)meta)
        return false;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const PyObject *raw = jy_class_get_text(f, meta, asked[i]);
        if (raw == NULL || !PyFunction_Check(raw))
            return false;
    }
    return true;
}

bool
jy_is_abstract_base(struct jy_frame *f, PyObject *object)
{
    return has_abstract_meta(f, object) &&
           jy_class_is_default(jy_class_get_text(f, (PyTypeObject *)object, "__subclasshook__"), "__subclasshook__");
}

static bool
has_known_hook(const struct search *s, PyTypeObject *type)
{
    PyObject *name = jy_hold(s->f, PyUnicode_InternFromString("__subclasshook__"));
    PyObject *raw = name != NULL ? _PyType_Lookup(type, name) : NULL;
    if (jy_class_is_default(raw, "__subclasshook__"))
        return true;
    if (raw == NULL || !Py_IS_TYPE(raw, &PyClassMethod_Type) || s->hooks == NULL)
        return false;
    const PyObject *function = jy_hold(s->f, PyObject_GetAttrString(raw, "__func__"));
    PyErr_Clear();
    return function != NULL && PyFunction_Check(function) &&
           ((const PyFunctionObject *)function)->func_globals == s->hooks;
}

static bool asks_nobody(struct search *s, PyObject *klass);

static bool
all_ask_nobody(struct search *s, PyObject *classes)
{
    PyObject *list = classes != NULL ? jy_hold(s->f, PySequence_List(classes)) : NULL;
    if (list == NULL) {
        PyErr_Clear();
        return false;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *klass = PyList_GET_ITEM(list, i);
        if (PyWeakref_Check(klass)) { /* what is registered */
            klass = jy_hold(s->f, PyObject_CallNoArgs(klass));
            if (klass == Py_None)
                continue;
        }
        if (klass == NULL || !asks_nobody(s, klass))
            return false;
    }
    return true;
}

/* Does issubclass(x, klass) run code of the standard library alone, whatever class x is? */
static bool
asks_nobody(struct search *s, PyObject *klass)
{
    PyObject *name = jy_hold(s->f, PyUnicode_InternFromString("__subclasscheck__"));
    PyObject *check = name != NULL && PyType_Check(klass) ? _PyType_Lookup(Py_TYPE(klass), name) : NULL;
    if (check == NULL || check == _PyType_Lookup(&PyType_Type, name))
        return check != NULL;
    if (check != _PyType_Lookup(s->meta, name) || s->depth == MAX_DEPTH || ++s->n > MAX_CLASSES ||
        !has_known_hook(s, (PyTypeObject *)klass))
        return false;
    PyObject *parts = jy_hold(s->f, PyObject_CallOneArg(s->dump, klass));
    PyObject *below = jy_hold(s->f, PyObject_CallMethod((PyObject *)&PyType_Type, "__subclasses__", "O", klass));
    PyErr_Clear();
    s->depth++;
    bool none = parts != NULL && PyTuple_Check(parts) && PyTuple_GET_SIZE(parts) != 0 &&
                all_ask_nobody(s, PyTuple_GET_ITEM(parts, 0)) && all_ask_nobody(s, below);
    s->depth--;
    return none;
}

/* Nothing of the program's is called when the class is looked at and put into a set. */
static bool
is_ordinary(const PyTypeObject *type)
{
    const PyTypeObject *meta = Py_TYPE(type);
    return meta->tp_getattro == PyType_Type.tp_getattro && meta->tp_hash == PyType_Type.tp_hash &&
           meta->tp_richcompare == PyType_Type.tp_richcompare;
}

jy_status
jy_abstract_answer(struct jy_frame *f, bool *known, bool *out, PyTypeObject *type, PyObject *klass)
{
    struct search s = { .f = f, .meta = Py_TYPE(klass) };
    *known = false;
    if (!has_abstract_meta(f, klass) || !is_ordinary(type))
        return JY_OK;
    PyObject *token = loaded(f, "_abc", "get_cache_token");
    s.dump = loaded(f, "_abc", "_get_dump");
    s.hooks = loaded(f, "_collections_abc", NULL);
    if (token == NULL || !PyCFunction_Check(token) || s.dump == NULL || !asks_nobody(&s, klass))
        return JY_OK;
    int answer = PyObject_IsSubclass((PyObject *)type, klass);
    int64_t now = jy_abstract_token(token);
    if (answer < 0 || now < 0) {
        PyErr_Clear();
        return JY_OK;
    }
    *known = true;
    *out = answer != 0;
    if (answer == 0)
        jy_guard_value(f, JY_GUARD_REGISTERED, jy_source_add(f->f_trace->unit, JY_SOURCE_OBJECT, 0, 0, token), now);
    return JY_OK;
}
