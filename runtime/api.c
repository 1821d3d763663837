/* The user's switches that act at run time, and jitney's own callables.
 *
 *     graph_break(), is_compiling()      what they do eagerly: nothing, and False; the tracer knows them by module and name (frontend/call_own.c)
 *     prange()                           range(), marked
 *     stance                             one per process; entry looks at it before anything else
 *     disabled regions                   `with jitney.disable():` one count per thread, in the thread's own dict; entry looks there only while some region is open
 *     marks                              source texts of ints and arrays that are always, or never, symbolic; they outlive reset()
 *     FullGraphError, RecompileError     RuntimeErrors with the facts as attributes
 */
#include "runtime/function.h"
#include "frontend/cpython/compat.h"
#include <stdlib.h>
#include <string.h>

static const char *const stances[] = { "default", "force_eager", "eager_on_recompile",
                                       "fail_on_recompile" }; /* ORDER enum jy_stance */

/* -- jitney's own callables ------------------------------------------------------------------------------------------------------- */

static PyObject *
graph_break(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args))
{
    Py_RETURN_NONE;
}

static PyObject *
is_compiling(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args))
{
    Py_RETURN_FALSE;
}

static PyObject *
prange(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return PyObject_Vectorcall((PyObject *)&PyRange_Type, args, (size_t)nargs, kwnames);
}

static PyMethodDef own_methods[] = {
    { "graph_break", graph_break, METH_NOARGS,
      "graph_break()\n--\n\n"
      "Ends the graph here: in a compiled function the code before and behind the call is compiled as two units.\n\n"
      "Takes no arguments, returns None, raises nothing. Called by code that is not compiled it does nothing. With\n"
      "fullgraph=True it raises FullGraphError." },
    { "is_compiling", is_compiling, METH_NOARGS,
      "is_compiling()\n--\n\n"
      "True in compiled code, False in code that CPython runs.\n\n"
      "This is the one function whose answer differs between f and jitney.compile(f), by design. Compiled code "
      "contains the\n"
      "constant True; behind a break, in what CPython runs of the same function, the answer is False." },
    { "prange", (PyCFunction)(void (*)(void))prange, METH_FASTCALL | METH_KEYWORDS,
      "prange(stop) or prange(start, stop[, step])\n\n"
      "range(...), by which the program says that the rounds of the loop over it do not depend on each other.\n\n"
      "In a compiled function such a loop runs on threads, where its body is native code that touches no Python "
      "object\n"
      "but to read it, and where it takes long enough (config.prange_us). Sums of ints and, with fastmath=True, of "
      "floats may go\n"
      "through all rounds. jitney.explain says of each such loop whether it does, and if not why. Anywhere else it is "
      "range." },
    { NULL, NULL, 0, NULL },
};

/* -- stances and disabled regions ------------------------------------------------------------------------------------------------- */

/* This thread's count of open regions; NULL: none yet.  refs: borrowed */
static PyObject *
thread_count(PyObject **dict)
{
    *dict = PyThreadState_GetDict();
    return *dict == NULL ? NULL : jy_compat_dict_get(*dict, "jitney.disabled");
}

static long
open_regions(void)
{
    PyObject *dict, *count = thread_count(&dict);
    return count == NULL ? 0 : PyLong_AsLong(count);
}

bool
jy_api_forces_eager(void)
{
    const struct jy_api *api = &jy_runtime->api;
    return api->stance == JY_STANCE_FORCE_EAGER || (api->disabled != 0 && open_regions() > 0);
}

int
jy_api_allows_compile(struct jy_function *f, size_t nentries)
{
    const struct jy_api *api = &jy_runtime->api;
    if (api->stance == JY_STANCE_FAIL_ON_RECOMPILE && nentries != 0) {
        PyErr_Format(api->recompile_error,
                     "jitney: %U would be compiled again for these arguments, and the stance is 'fail_on_recompile'",
                     ((PyFunctionObject *)f->f_object)->func_qualname);
        return -1;
    }
    return api->stance == JY_STANCE_DEFAULT;
}

static PyObject *
set_stance(PyObject *Py_UNUSED(self), PyObject *name)
{
    const char *utf8 = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : "";
    if (utf8 == NULL)
        return NULL;
    for (uint32_t k = 0; k < sizeof stances / sizeof *stances; k++)
        if (strcmp(stances[k], utf8) == 0) {
            uint32_t before = jy_runtime->api.stance;
            jy_runtime->api.stance = k;
            return PyUnicode_FromString(stances[before]);
        }
    return PyErr_Format(PyExc_ValueError,
                        "there is no stance %R; there are: default, force_eager, eager_on_recompile, fail_on_recompile",
                        name);
}

/* Opens (1) or closes (-1) a region of this thread. */
static PyObject *
move_disabled(PyObject *Py_UNUSED(self), PyObject *step)
{
    PyObject *dict, *old = thread_count(&dict);
    long by = PyLong_AsLong(step), before = old == NULL ? 0 : PyLong_AsLong(old);
    if (dict == NULL || PyErr_Occurred())
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    if (before + by < 0)
        return PyErr_Format(PyExc_RuntimeError, "jitney.disable(): this region was left already");
    PyObject *now = PyLong_FromLong(before + by);
    int status = now == NULL ? -1 : PyDict_SetItemString(dict, "jitney.disabled", now);
    Py_XDECREF(now);
    if (status < 0)
        return NULL;
    jy_runtime->api.disabled += (uint32_t)by;
    Py_RETURN_NONE;
}

/* -- marks and limits -------------------------------------------------------------------------------------------------------------- */

static char **
copy_texts(size_t *n, PyObject *list)
{
    *n = 0;
    char **texts = calloc((size_t)PyList_GET_SIZE(list) + 1, sizeof *texts);
    for (Py_ssize_t k = 0; texts != NULL && k < PyList_GET_SIZE(list); k++) {
        const char *utf8 = PyUnicode_AsUTF8(PyList_GET_ITEM(list, k));
        texts[*n] = utf8 == NULL ? NULL : strdup(utf8);
        if (texts[*n] == NULL) {
            jy_api_free_texts(texts);
            texts = NULL;
        } else
            ++*n;
    }
    if (texts == NULL && !PyErr_Occurred())
        PyErr_NoMemory();
    return texts;
}

void
jy_api_free_texts(char **texts)
{
    for (size_t k = 0; texts != NULL && texts[k] != NULL; k++)
        free(texts[k]);
    free(texts);
}

/* set_marks(function, [source text, ...] always symbolic, [...] never symbolic, entries allowed; -1: as configured; -2: as before) */
static PyObject *
set_marks(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *object, *dynamic, *fixed;
    int limit;
    size_t ndynamic, nfixed;
    if (!PyArg_ParseTuple(args, "OO!O!i", &object, &PyList_Type, &dynamic, &PyList_Type, &fixed, &limit))
        return NULL;
    struct jy_function *f = jy_function_find(object);
    if (f == NULL)
        return PyErr_Format(PyExc_TypeError, "%R is not a compiled function", object);
    char **always = copy_texts(&ndynamic, dynamic), **never = always == NULL ? NULL : copy_texts(&nfixed, fixed);
    if (never == NULL) {
        jy_api_free_texts(always);
        return NULL;
    }
    f->f_nmarked = 0; /* the reset drops the old ones as well */
    jy_function_reset(f);
    jy_api_free_texts(f->f_dynamic);
    jy_api_free_texts(f->f_fixed);
    f->f_dynamic = always;
    f->f_ndynamic = f->f_nmarked = ndynamic;
    f->f_fixed = never;
    if (limit >= -1)
        f->f_limit = limit;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    { "set_stance", set_stance, METH_O, "set_stance(name): the one before" },
    { "move_disabled", move_disabled, METH_O, "move_disabled(1 or -1): this thread enters or leaves a region" },
    { "set_marks", set_marks, METH_VARARGS, "set_marks(function, dynamic, static, recompile_limit)" },
    { NULL, NULL, 0, NULL },
};

/* -- errors ------------------------------------------------------------------------------------------------------------------------ */

static int
set_fact(PyObject *error, const char *name, const char *text)
{
    PyObject *value =
        text == NULL ? Py_NewRef(Py_None) : PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    int status = value == NULL ? -1 : PyObject_SetAttrString(error, name, value);
    Py_XDECREF(value);
    return status;
}

jy_status
jy_api_raise_full_graph(const struct jy_break_info *why)
{
    const char *file = why->file != NULL ? why->file : "?", *instruction = why->instruction;
    PyObject *text = PyUnicode_FromFormat(
        "jitney: fullgraph=True, but %s:%u%s%s%s cannot be compiled: %s: %s%s%s; hint: %s", file, (unsigned)why->line,
        instruction != NULL ? " (" : "", instruction != NULL ? instruction : "", instruction != NULL ? ")" : "",
        why->name, why->what, why->detail != NULL ? ": " : "", why->detail != NULL ? why->detail : "",
        why->hint != NULL ? why->hint : "none");
    PyObject *error = text == NULL ? NULL : PyObject_CallOneArg(jy_runtime->api.full_graph_error, text);
    PyObject *line = error == NULL ? NULL : PyLong_FromUnsignedLong(why->line);
    if (line != NULL && PyObject_SetAttrString(error, "line", line) == 0 && set_fact(error, "file", file) == 0 &&
        set_fact(error, "instruction", instruction) == 0 && set_fact(error, "reason", why->name) == 0 &&
        set_fact(error, "detail", why->detail) == 0 && set_fact(error, "hint", why->hint) == 0)
        PyErr_SetObject(jy_runtime->api.full_graph_error, error);
    Py_XDECREF(line);
    Py_XDECREF(error);
    Py_XDECREF(text);
    return JY_ERROR;
}

static PyObject *
new_error(PyObject *module, const char *name, const char *doc)
{
    PyObject *error = PyErr_NewExceptionWithDoc(name, doc, PyExc_RuntimeError, NULL);
    return error != NULL && PyModule_AddObjectRef(module, strrchr(name, '.') + 1, error) == 0 ? error : NULL;
}

int
jy_api_init(PyObject *module)
{
    struct jy_api *api = &jy_runtime->api;
    PyObject *name = PyUnicode_InternFromString("jitney");
    api->full_graph_error = new_error(module, "jitney.FullGraphError",
                                      "A function compiled with fullgraph=True cannot be compiled as one graph.\n\n"
                                      "Attributes: file, line, instruction (name of the opcode, or None), reason (a "
                                      "name of docs/breaks.md), detail, hint.");
    api->recompile_error =
        new_error(module, "jitney.RecompileError", "A call would compile, and the stance is 'fail_on_recompile'.");
    if (name == NULL || api->full_graph_error == NULL || api->recompile_error == NULL)
        return -1;
    for (PyMethodDef *def = own_methods; def->ml_name != NULL; def++) {
        PyObject *function = PyCFunction_NewEx(def, NULL, name);
        if (function == NULL || PyModule_AddObject(module, def->ml_name, function) < 0)
            return -1;
    }
    Py_DECREF(name);
    return PyModule_AddFunctions(module, methods);
}
