/* `python -m jitney run`: a program runs as the interpreter's own command runs it. Its frames have none of ours below them, all of the recursion limit is theirs, a file is read by the
 * interpreter's own tokenizer, and what nobody catches is shown by PyErr_Print(), which also ends the process for SystemExit. */
#include "runtime/program.h"
#include "frontend/cpython/outermost.h"
#include <stdbool.h>
#include <stdio.h>

/* Has the process end by SIGINT when the interpreter has ended, so that a shell sees it: the interpreter notes that of an interrupt that nobody caught in text that it runs. */
static void
note_interrupt(void)
{
    PyObject *namespace = PyDict_New();
    PyObject *result =
        namespace == NULL ? NULL : PyRun_String("raise KeyboardInterrupt", Py_file_input, namespace, namespace);
    PyErr_Clear();
    Py_XDECREF(result);
    Py_XDECREF(namespace);
}

/* Shows the error if there is one.  refs: steals result; new: the exit code, which an interrupt goes before */
static PyObject *
ended(PyObject *result)
{
    bool interrupted = result == NULL && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
    if (result == NULL)
        PyErr_Print();
    if (interrupted)
        note_interrupt();
    int code = result == NULL && !interrupted;
    Py_XDECREF(result);
    return PyLong_FromLong(code);
}

/* The interpreter takes the file's name away when its program is done, before functions registered with atexit run. */
static void
forget_name(PyObject *namespace)
{
    static const char *const names[] = { "__file__", "__cached__" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (PyDict_DelItemString(namespace, names[k]) < 0)
            PyErr_Clear();
}

/* "-" is standard input.  NULL: it cannot be opened, and errno says why. */
static FILE *
open_program(const char *path)
{
    return path[0] == '-' && path[1] == '\0' ? stdin : fopen(path, "rb");
}

/* run_file(path, name, namespace) */
static PyObject *
run_file(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *path, *name, *namespace, *result = NULL;
    if (!PyArg_ParseTuple(args, "O&O&O!", PyUnicode_FSConverter, &path, PyUnicode_FSConverter, &name, &PyDict_Type,
                          &namespace))
        return NULL;
    FILE *file = open_program(PyBytes_AS_STRING(path));
    if (file == NULL) {
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, PyBytes_AS_STRING(path));
    } else {
        PyCompilerFlags flags = _PyCompilerFlags_INIT;
        struct jy_hidden_frames hidden = jy_compat_hide_frames();
        result = ended(PyRun_FileExFlags(file, PyBytes_AS_STRING(name), Py_file_input, namespace, namespace,
                                         file != stdin, &flags));
        jy_compat_show_frames(hidden);
        forget_name(namespace);
    }
    Py_DECREF(path);
    Py_DECREF(name);
    return result;
}

/* run_text(source, namespace) */
static PyObject *
run_text(PyObject *Py_UNUSED(self), PyObject *args)
{
    const char *source;
    PyObject *namespace;
    if (!PyArg_ParseTuple(args, "sO!", &source, &PyDict_Type, &namespace))
        return NULL;
    PyCompilerFlags flags = _PyCompilerFlags_INIT;
    flags.cf_flags = PyCF_IGNORE_COOKIE;
    struct jy_hidden_frames hidden = jy_compat_hide_frames();
    PyObject *result = ended(PyRun_StringFlags(source, Py_file_input, namespace, namespace, &flags));
    jy_compat_show_frames(hidden);
    return result;
}

/* run_code(code object of a .pyc file, namespace) */
static PyObject *
run_code(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *code, *namespace;
    if (!PyArg_ParseTuple(args, "O!O!", &PyCode_Type, &code, &PyDict_Type, &namespace))
        return NULL;
    struct jy_hidden_frames hidden = jy_compat_hide_frames();
    PyObject *result = ended(PyEval_EvalCode(code, namespace, namespace));
    jy_compat_show_frames(hidden);
    forget_name(namespace);
    return result;
}

/* run_call(callable, arguments): the interpreter runs modules by a function of runpy's */
static PyObject *
run_call(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *callable, *arguments;
    if (!PyArg_ParseTuple(args, "OO!", &callable, &PyTuple_Type, &arguments))
        return NULL;
    struct jy_hidden_frames hidden = jy_compat_hide_frames();
    PyObject *result = ended(PyObject_CallObject(callable, arguments));
    jy_compat_show_frames(hidden);
    return result;
}

PyMethodDef jy_program_methods[] = {
    { "run_file", run_file, METH_VARARGS, "run_file(path, name, namespace): the exit code" },
    { "run_text", run_text, METH_VARARGS, "run_text(source, namespace)" },
    { "run_code", run_code, METH_VARARGS, "run_code(code, namespace)" },
    { "run_call", run_call, METH_VARARGS, "run_call(callable, arguments)" },
    { NULL, NULL, 0, NULL },
};
