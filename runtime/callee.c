/* Functions that are called where a unit stops: the call of a function whose body breaks cannot be inlined, so the new code calls a compiled copy of it.
 *
 * The copy is made once and kept in the globals of the function, beside the names of compiled units, where it lives as long as they do and the garbage collector sees it. Only functions that
 * a module or a class holds have one: others come and go. */
#include "runtime/function.h"
#include <string.h>

static bool
is_lasting(PyObject *function)
{
    const PyFunctionObject *f = (const PyFunctionObject *)function;
    const char *name = PyUnicode_AsUTF8(f->func_qualname);
    if (name == NULL)
        PyErr_Clear();
    return name != NULL && strstr(name, "<locals>") == NULL && f->func_closure == NULL &&
           PyDict_CheckExact(f->func_globals) && jy_function_why_left_alone(function) == NULL;
}

/* And still: its code or defaults may have been replaced since. */
static bool
is_copy_of(PyObject *copy, PyObject *function)
{
    PyObject *wrapped = PyObject_GetAttrString(copy, "__wrapped__");
    const struct jy_function *state = jy_function_find(copy);
    PyErr_Clear();
    Py_XDECREF(wrapped);
    if (wrapped != function || state == NULL)
        return false;
    const PyFunctionObject *a = (const PyFunctionObject *)state->f_object, *b = (const PyFunctionObject *)function;
    return a->func_code == b->func_code && a->func_defaults == b->func_defaults &&
           a->func_kwdefaults == b->func_kwdefaults;
}

/* refs: new, or NULL without an exception: the function has none. */
static PyObject *
find_or_make(PyObject *function)
{
    PyObject *globals = ((PyFunctionObject *)function)->func_globals;
    PyObject *name = PyUnicode_FromFormat("__compiled_callee_%p", (void *)function);
    PyObject *copy = name == NULL ? NULL : PyDict_GetItemWithError(globals, name);
    if (copy != NULL && is_copy_of(copy, function)) {
        Py_INCREF(copy);
    } else {
        copy = name == NULL ? NULL : PyObject_CallOneArg(jy_runtime->compile, function);
        if (copy == function || (copy != NULL && PyDict_SetItem(globals, name, copy) < 0))
            Py_CLEAR(copy);
    }
    Py_XDECREF(name);
    PyErr_Clear();
    return copy;
}

static PyObject *
callee(PyObject *Py_UNUSED(self), PyObject *function)
{
    PyObject *copy = NULL;
    if (PyFunction_Check(function) && jy_function_find(function) == NULL && is_lasting(function))
        copy = find_or_make(function);
    return copy != NULL ? copy : Py_NewRef(function);
}

static PyMethodDef callee_method = { "callee", callee, METH_O, "The compiled copy of a function, or the function." };

int
jy_callee_init(PyObject *module)
{
    jy_runtime->compile = PyObject_GetAttrString(module, "compile");
    jy_runtime->callee = PyCFunction_New(&callee_method, NULL);
    return jy_runtime->compile == NULL || jy_runtime->callee == NULL ? -1 : 0;
}
