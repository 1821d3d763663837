/* The dispatcher object of CPython 3.11, whose bytecode ignores a function's vectorcall: a callable that stands for a private copy of the function and looks like a function.
 *
 * `__class__` answers `function`, attributes are those of the private copy (so that writes do not reach the original), it binds as a method, is weakly
 * referenceable, pickles by qualified name and is collected with its parts. */
#include "runtime/function.h"
#include <stddef.h>
#include <structmember.h>

struct dispatcher {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *function; /* private copy */
    PyObject *globals;  /* the copy's: the collector may clear the copy before the state lets its names go */
    PyObject *weakrefs;
    struct jy_function *state;
};

static PyTypeObject dispatcher_type;

struct jy_function *
jy_dispatcher_function(PyObject *object)
{
    return Py_TYPE(object) == &dispatcher_type ? ((struct dispatcher *)object)->state : NULL;
}

PyObject *
jy_dispatcher_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    struct dispatcher *d = (struct dispatcher *)self;
    Py_INCREF(self); /* the call may drop the last other reference */
    PyObject *result = jy_entry_call(d->state, args, nargsf, kwnames);
    Py_DECREF(self);
    return result;
}

PyObject *
jy_dispatcher_new(PyObject *private_function, PyObject *Py_UNUSED(original))
{
    struct dispatcher *d = PyObject_GC_New(struct dispatcher, &dispatcher_type);
    if (d == NULL)
        return NULL;
    d->vectorcall = jy_dispatcher_vectorcall;
    d->function = Py_NewRef(private_function);
    d->globals = Py_NewRef(((PyFunctionObject *)private_function)->func_globals);
    d->weakrefs = NULL;
    d->state = jy_function_new(private_function);
    PyObject_GC_Track((PyObject *)d);
    if (d->state == NULL || jy_function_list(d->state) < 0)
        Py_CLEAR(d);
    else
        d->state->f_entry = &d->vectorcall;
    return (PyObject *)d;
}

/* What the units of native loops hold: the dispatcher itself, where one calls its own function by a global. Those of other units belong to objects that the collector does not know. */
static int
visit_flows(const struct jy_start *start, visitproc visit, void *arg)
{
    for (const struct jy_entry *entry = start->s_entries; entry != NULL; entry = entry->e_next) {
        const struct jy_unit *unit = entry->e_flow != NULL ? jy_flow_exec_unit(entry->e_flow) : NULL;
        for (size_t k = 1; unit != NULL && k < unit->u_objects.n; k++)
            Py_VISIT((PyObject *)unit->u_objects.at[k]);
    }
    return 0;
}

static int
dispatcher_traverse(PyObject *self, visitproc visit, void *arg)
{
    const struct jy_function *state = ((struct dispatcher *)self)->state;
    Py_VISIT(((struct dispatcher *)self)->function);
    Py_VISIT(((struct dispatcher *)self)->globals);
    if (state == NULL)
        return 0;
    for (const struct jy_start *start = state->f_starts; start != NULL; start = start->s_next) {
        int stopped = visit_flows(start, visit, arg);
        if (stopped != 0)
            return stopped;
    }
    return visit_flows(&state->f_call, visit, arg);
}

/* The state goes with the function: without it no call may come any more, and the collector only clears what nobody can call. */
static int
dispatcher_clear(PyObject *self)
{
    struct dispatcher *d = (struct dispatcher *)self;
    struct jy_function *state = d->state;
    PyObject *function = d->function;
    if (function != NULL)
        d->function = Py_NewRef(Py_None);
    d->state = NULL;
    jy_function_free(state);
    Py_CLEAR(d->globals);
    Py_XDECREF(function);
    return 0;
}

static void
dispatcher_dealloc(PyObject *self)
{
    struct dispatcher *d = (struct dispatcher *)self;
    PyObject_GC_UnTrack(self);
    if (d->weakrefs != NULL)
        PyObject_ClearWeakRefs(self);
    dispatcher_clear(self);
    Py_CLEAR(d->function);
    PyObject_GC_Del(self);
}

static PyObject *
dispatcher_getattro(PyObject *self, PyObject *name)
{
    PyObject *function = ((struct dispatcher *)self)->function;
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0)
        return Py_NewRef((PyObject *)Py_TYPE(function));
    if (PyUnicode_CompareWithASCIIString(name, "__reduce_ex__") == 0 ||
        PyUnicode_CompareWithASCIIString(name, "__reduce__") == 0)
        return PyObject_GenericGetAttr(self, name);
    if (PyUnicode_CompareWithASCIIString(name, "__get__") == 0)
        return PyObject_GenericGetAttr(self, name);
    if (PyUnicode_CompareWithASCIIString(name, "_jitney_function") ==
        0) /* for the frontend: what a compiled caller inlines */
        return Py_NewRef(function);
    return PyObject_GetAttr(function, name);
}

static int
dispatcher_setattro(PyObject *self, PyObject *name, PyObject *value)
{
    return PyObject_SetAttr(((struct dispatcher *)self)->function, name, value);
}

static PyObject *
dispatcher_get(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(owner))
{
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

/* As repr(function), with the dispatcher's own address. */
static PyObject *
dispatcher_repr(PyObject *self)
{
    PyObject *function = ((struct dispatcher *)self)->function;
    if (!PyFunction_Check(function))
        return PyUnicode_FromString("<function>");
    return PyUnicode_FromFormat("<function %U at %p>", ((PyFunctionObject *)function)->func_qualname, self);
}

static PyObject *
dispatcher_reduce(PyObject *self, PyObject *Py_UNUSED(args))
{
    return PyObject_GetAttrString(((struct dispatcher *)self)->function, "__qualname__");
}

static PyObject *
dispatcher_copy(PyObject *self, PyObject *Py_UNUSED(args))
{
    return Py_NewRef(self);
}

static PyMethodDef dispatcher_methods[] = {
    { "__reduce__", dispatcher_reduce, METH_NOARGS, NULL },
    { "__reduce_ex__", dispatcher_reduce, METH_VARARGS, NULL },
    { "__copy__", dispatcher_copy, METH_NOARGS, NULL },
    { "__deepcopy__", dispatcher_copy, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyMemberDef dispatcher_members[] = {
    { "__weaklistoffset__", T_PYSSIZET, offsetof(struct dispatcher, weakrefs), READONLY, NULL },
    { "__vectorcalloffset__", T_PYSSIZET, offsetof(struct dispatcher, vectorcall), READONLY, NULL },
    { NULL, 0, 0, 0, NULL },
};

static PyTypeObject dispatcher_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "jitney.function",
    .tp_basicsize = sizeof(struct dispatcher),
    .tp_dealloc = dispatcher_dealloc,
    .tp_vectorcall_offset = offsetof(struct dispatcher, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_repr = dispatcher_repr,
    .tp_getattro = dispatcher_getattro,
    .tp_setattro = dispatcher_setattro,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_doc = "A compiled function (CPython 3.11).",
    .tp_traverse = dispatcher_traverse,
    .tp_clear = dispatcher_clear,
    .tp_weaklistoffset = offsetof(struct dispatcher, weakrefs),
    .tp_methods = dispatcher_methods,
    .tp_members = dispatcher_members,
    .tp_descr_get = dispatcher_get,
};

int
jy_dispatcher_init(PyObject *module)
{
    return PyModule_AddType(module, &dispatcher_type);
}
