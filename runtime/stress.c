/* The stress modes, which make a whole program - CPython's own tests, NumPy's - go through a part of jitney:
 *
 *   REENCODE  every frame runs a code object that was decoded and assembled again, maybe with NOPs at random places (bytecode layer)
 *   OVERRIDE  every function's vectorcall is ours, binds the arguments, misses and runs the original (entry); 3.12 and later
 *   COMPILE   every function is compiled at its first call (everything)
 *   HOOK      every frame passes the eval-frame hook, which does nothing: the control of REENCODE, as the hook itself can be seen
 *
 * OVERRIDE and COMPILE are the same machinery: a function watcher gives every new function a vectorcall that makes its state at its
 * first call; functions that exist already are handed over by stress_adopt().  They differ in config.disabled alone.  On 3.11, where bytecode
 * ignores a function's vectorcall, COMPILE enters through the frame (hook.h). 
 *
 * Nothing here may be seen by the program but by nature: docs/stress.md has the list. */
#include "runtime/stress.h"

#include "frontend/cpython/assemble.h"
#include "frontend/cpython/hook.h"
#include "frontend/cpython/nops.h"
#include "runtime/function.h"
#include "runtime/hook.h"
#include <stdlib.h>

enum jy_stress_mode { JY_STRESS_NONE, JY_STRESS_REENCODE, JY_STRESS_OVERRIDE, JY_STRESS_COMPILE, JY_STRESS_HOOK };

struct jy_stress {
    enum jy_stress_mode s_mode;
    uint64_t s_random;  /* state of jy_nops_random */
    int s_nops;         /* per code object */
    Py_ssize_t s_extra; /* of a code object: its twin, or None */
    vectorcallfunc s_plain;
    PyObject *s_refused; /* list of (qualified name, file, line, why) */
    unsigned long long s_frames, s_recoded, s_no_room, s_codes, s_functions;
};

/* -- REENCODE -------------------------------------------------------------------------------------------------------------------- */

static jy_status
insert_nops(struct jy_code *code, void *context)
{
    struct jy_stress *stress = context;
    jy_nops_insert(code, stress->s_nops, &stress->s_random);
    return JY_OK;
}

/* A code object that the bytecode layer declines is a finding. */
static void
note_refusal(struct jy_stress *stress, PyCodeObject *code)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *row = Py_BuildValue("OOiO", code->co_qualname, code->co_filename, code->co_firstlineno,
                                  value != NULL ? value : Py_None);
    if (row != NULL)
        PyList_Append(stress->s_refused, row);
    PyErr_Clear();
    Py_XDECREF(row);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

/* refs: borrowed from `code`; None: it runs as it is. */
static PyObject *
make_twin(struct jy_stress *stress, PyCodeObject *code)
{
    PyObject *twin = NULL;
    jy_status status = jy_transform_code_object(&twin, (PyObject *)code, insert_nops, stress);
    if (status == JY_NOMEM)
        PyErr_NoMemory();
    if (status != JY_OK) {
        note_refusal(stress, code);
        twin = Py_NewRef(Py_None);
    } else if (jy_code_set_extra((PyCodeObject *)twin, stress->s_extra, Py_NewRef(Py_None)) < 0)
        PyErr_Clear();
    stress->s_codes++;
    if (jy_code_set_extra(code, stress->s_extra, twin) < 0) { /* the frame itself must keep it */
        PyErr_Clear();
        Py_DECREF(twin);
        return Py_None;
    }
    return twin;
}

static PyObject *
run_reencoded(PyThreadState *thread, struct _PyInterpreterFrame *frame)
{
    struct jy_stress *stress = jy_runtime->stress;
    PyCodeObject *code = jy_frame_code(frame);
    stress->s_frames++;
    if (!jy_compat_is_code_watched((PyObject *)code)) { /* its events are registered for this code object */
        PyObject *twin = jy_code_extra(code, stress->s_extra);
        if (twin == NULL)
            twin = make_twin(stress, code);
        if (twin != Py_None) {
            bool done = jy_frame_recode(thread, frame, (PyCodeObject *)twin);
            stress->s_recoded += done;
            stress->s_no_room += !done;
        }
    }
    return jy_hook_run(thread, frame);
}

/* NULL when somebody else has data in that code object. */
static void
drop_twin(void *twin)
{
    Py_XDECREF((PyObject *)twin);
}

/* -- OVERRIDE, COMPILE ----------------------------------------------------------------------------------------------------------- */

/* Functions around new code are ours: nobody else's are untracked. */
static bool
is_left_alone(PyObject *function)
{
    return !PyObject_GC_IsTracked(function) || jy_function_why_left_alone(function) != NULL;
}

/* refs: as vectorcall */
static PyObject *
first_call(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    vectorcallfunc plain = jy_runtime->stress->s_plain;
    if (jy_function_find(function) != NULL) /* compiled by the program: this is what it took for the original's entry */
        return plain(function, args, nargsf, kwnames);
    jy_compat_set_vectorcall(function, plain);
    if (!is_left_alone(function)) {
        struct jy_function *f = jy_function_new(function);
        if (f == NULL || jy_function_install(f) < 0) {
            jy_function_free(f);
            return NULL;
        }
        f->f_inplace = true;
        jy_runtime->stress->s_functions++;
    }
    return jy_compat_get_vectorcall(function)(function, args, nargsf, kwnames);
}

/* 3.11: the same by way of the frame. */
static PyObject *
run_entered(PyThreadState *thread, struct _PyInterpreterFrame *frame)
{
    const int function_flags = CO_OPTIMIZED | CO_NEWLOCALS;
    PyObject *function = jy_frame_function(frame);
    PyCodeObject *code = jy_frame_code(frame);
    struct jy_function *f = jy_function_find(function);
    if (f == NULL && (code->co_flags & function_flags) == function_flags && !is_left_alone(function)) {
        f = jy_hook_attach(function);
        if (f == NULL)
            return NULL;
        jy_runtime->stress->s_functions++;
    }
    return f != NULL && code == (PyCodeObject *)((PyFunctionObject *)function)->func_code
               ? jy_hook_enter(thread, frame, f)
               : jy_hook_run(thread, frame);
}

static void
override(PyObject *function)
{
    vectorcallfunc plain = jy_compat_get_vectorcall(function);
    if (plain == first_call)
        return;
    jy_runtime->stress->s_plain = plain; /* every Python function is made with the same */
    jy_compat_set_vectorcall(function, first_call);
    jy_code_forget_version((PyCodeObject *)((PyFunctionObject *)function)->func_code);
}

static int
on_function(unsigned event, PyFunctionObject *function, PyObject *Py_UNUSED(value))
{
    if (event == JY_FUNCTION_CREATE)
        override((PyObject *)function);
    return 0;
}

static PyObject *
stress_adopt(PyObject *Py_UNUSED(self), PyObject *function)
{
    struct jy_stress *stress = jy_runtime->stress;
    if (stress == NULL || stress->s_mode < JY_STRESS_OVERRIDE)
        return PyErr_Format(PyExc_RuntimeError, "jitney: no stress mode that overrides functions is on");
    if (jy_compat_has_function_vectorcall() && PyFunction_Check(function) && jy_function_find(function) == NULL)
        override(function);
    Py_RETURN_NONE;
}

/* -- the switch ------------------------------------------------------------------------------------------------------------------ */

/* 0, or -1 with an exception. */
static int
begin(struct jy_stress *stress)
{
    switch (stress->s_mode) {
    case JY_STRESS_REENCODE:
        stress->s_extra = jy_code_request_extra(drop_twin);
        if (stress->s_extra < 0)
            return -1;
        if (jy_hook_install(run_reencoded))
            return 0;
        break;
    case JY_STRESS_OVERRIDE:
    case JY_STRESS_COMPILE:
        jy_runtime->config.disabled = stress->s_mode == JY_STRESS_OVERRIDE;
        if (jy_compat_has_function_vectorcall())
            return jy_compat_add_function_watcher(on_function) < 0 ? -1 : 0;
        if (stress->s_mode == JY_STRESS_COMPILE && jy_hook_install(run_entered))
            return 0;
        PyErr_SetString(PyExc_NotImplementedError,
                        "jitney: Python 3.11 calls bytecode without asking the function object");
        return -1;
    case JY_STRESS_HOOK:
        if (jy_hook_install(jy_hook_run))
            return 0;
        break;
    case JY_STRESS_NONE:
        break;
    }
    PyErr_SetString(PyExc_ValueError, "jitney: a stress mode is 1 to 4, and the eval-frame hook must be free");
    return -1;
}

/* For the rest of the process. */
static PyObject *
stress_start(PyObject *Py_UNUSED(self), PyObject *args)
{
    int mode, nops = 0;
    unsigned long long seed = 0;
    if (!PyArg_ParseTuple(args, "i|iK", &mode, &nops, &seed))
        return NULL;
    if (jy_runtime->stress != NULL)
        return PyErr_Format(PyExc_RuntimeError, "jitney: a stress mode is on already");
    struct jy_stress *stress = calloc(1, sizeof(*stress));
    if (stress == NULL)
        return PyErr_NoMemory();
    *stress = (struct jy_stress){ .s_mode = (enum jy_stress_mode)mode, .s_nops = nops, .s_random = seed };
    stress->s_refused = PyList_New(0);
    jy_runtime->stress = stress;
    if (stress->s_refused != NULL && begin(stress) == 0)
        Py_RETURN_NONE;
    jy_runtime->stress = NULL;
    Py_XDECREF(stress->s_refused);
    free(stress);
    return NULL;
}

static PyObject *
stress_stats(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args))
{
    const struct jy_stress *s = jy_runtime->stress;
    if (s == NULL)
        Py_RETURN_NONE;
    return Py_BuildValue("{sisKsKsKsKsKsO}", "mode", (int)s->s_mode, "frames", s->s_frames, "recoded", s->s_recoded,
                         "no_room", s->s_no_room, "codes", s->s_codes, "functions", s->s_functions, "refused",
                         s->s_refused);
}

PyMethodDef jy_stress_methods[] = {
    { "stress_start", stress_start, METH_VARARGS, "stress_start(mode, nops=0, seed=0): for the rest of the process" },
    { "stress_adopt", stress_adopt, METH_O, "stress_adopt(function): one that was there before the mode" },
    { "stress_stats", stress_stats, METH_NOARGS, "stress_stats(): dict of counters and refusals, or None" },
    { NULL, NULL, 0, NULL },
};
