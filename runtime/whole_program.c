/* Whole-program mode: finds hot functions, compiles them in place, and gets out of the way.
 *
 *   seen    sys.monitoring tells of every function that starts.  Code that is not wanted (a skipped folder, a generator, a
 *           class body) is never told of again; other code is counted.
 *   found   after `hot_calls` calls - a tenth of them with a loop - the function object of that frame gets an entry of ours.
 *   tried   its calls run compiled and plain in turns and are timed, until it is clear whether compiling gains something:
 *   kept    the function has the usual entry from now on;
 *   left    it is plain for good, specialised by the interpreter as if nothing had been.
 *
 * So a program that gains nothing pays for the search and the trials, and then nothing.  What is decided for a function holds
 * for that object: another closure over the same code stays plain.
 *
 * Our monitoring tool does not count as somebody who watches (compat.h).
 *
 * 3.11 has neither sys.monitoring nor a vectorcall that its bytecode would look at.  There the eval-frame hook stays on, at a cost
 * to every call of the program (docs/stress.md), and does all of it: run_frame. */
#include "runtime/whole_program.h"

#include "frontend/cpython/decode.h"
#include "frontend/cpython/hook.h"
#include "runtime/function.h"
#include "runtime/hook.h"
#include "runtime/trial.h"
#include <stdlib.h>

/* A code object's extra: 0 never seen, above 0 calls that are left until it is hot, or: */
enum { NOT_WANTED = -1, WAS_HOT = -2 };

struct jy_whole {
    bool w_on;
    int w_tool;
    Py_ssize_t w_extra;        /* of a code object: how often it was seen */
    PyObject *w_skip, *w_take; /* tuples of prefixes of file names; the longest that fits decides */
    PyObject *w_disable;       /* sys.monitoring.DISABLE */
    PyObject *w_callback;
    unsigned long long w_seen, w_found, w_kept, w_left;
};

/* -- tried ------------------------------------------------------------------------------------------------------------------------- */

static void
end_trial(struct jy_function *f, bool keep)
{
    struct jy_whole *w = jy_runtime->whole;
    jy_trial_free(f->f_trial);
    f->f_trial = NULL;
    if (keep) {
        w->w_kept++;
        if (f->f_plain != NULL && jy_compat_has_function_vectorcall())
            jy_compat_set_vectorcall(f->f_object, jy_entry_vectorcall);
        return;
    }
    w->w_left++;
    jy_function_uninstall(f);
    jy_function_reset(f);
    f->f_off = true;
}

/* Is a turn to begin? *plain: else the call runs in CPython, as the one that it is part of. */
static bool
is_on_trial(const struct jy_function *f, bool *plain)
{
    *plain = false;
    return f->f_trial != NULL && !f->f_off && f->f_plain != NULL && !jy_trial_is_running(f->f_trial, plain);
}

/* refs: gives the function back */
static void
end_turn(struct jy_function *f, struct jy_turn *turn, bool succeeded)
{
    PyObject *object = f->f_object;
    enum jy_verdict verdict = jy_turn_end(f, turn, succeeded);
    if (verdict != JY_VERDICT_NONE)
        end_trial(f, verdict == JY_VERDICT_KEEP);
    Py_DECREF(object);
}

/* refs: as vectorcall */
static PyObject *
trial_entry(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    struct jy_function *f = jy_function_find(callable);
    bool plain;
    if (!is_on_trial(f, &plain))
        return plain ? jy_entry_plain(f, args, nargsf, kwnames) : jy_entry_call(f, args, nargsf, kwnames);
    struct jy_turn turn;
    jy_turn_begin(&turn, f);
    PyObject *result =
        turn.compiled ? jy_entry_call(f, args, nargsf, kwnames) : jy_entry_plain(f, args, nargsf, kwnames);
    end_turn(f, &turn, result != NULL);
    return result;
}

/* -- found ------------------------------------------------------------------------------------------------------------------------- */

static void
begin_trial(PyObject *function)
{
    const struct jy_terms terms = { .gain = 10 };
    bool has_vectorcall = jy_compat_has_function_vectorcall();
    struct jy_trial *trial = jy_trial_new(terms);
    struct jy_function *f = trial == NULL    ? NULL
                            : has_vectorcall ? jy_function_new(function)
                                             : jy_hook_attach(function);
    if (f == NULL || (has_vectorcall && jy_function_install(f) < 0)) { /* it stays plain */
        PyErr_Clear();
        jy_function_free(f);
        jy_trial_free(trial);
        return;
    }
    f->f_inplace = f->f_found = true;
    f->f_trial = trial;
    if (has_vectorcall)
        jy_compat_set_vectorcall(function, trial_entry);
    jy_runtime->whole->w_found++;
}

/* -- seen -------------------------------------------------------------------------------------------------------------------------- */

/* Length of the longest prefix that fits, -1: none does. */
static Py_ssize_t
longest_prefix(PyObject *name, PyObject *prefixes)
{
    Py_ssize_t longest = -1;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(prefixes); k++) {
        PyObject *prefix = PyTuple_GET_ITEM(prefixes, k);
        Py_ssize_t length = PyUnicode_GET_LENGTH(prefix);
        if (length > longest && PyUnicode_Tailmatch(name, prefix, 0, PY_SSIZE_T_MAX, -1) == 1)
            longest = length;
    }
    return longest;
}

static bool
is_wanted(const struct jy_whole *w, PyCodeObject *code)
{
    const int function = CO_OPTIMIZED | CO_NEWLOCALS;
    const int suspended = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
    if ((code->co_flags & function) != function || (code->co_flags & suspended) != 0)
        return false;
    return longest_prefix(code->co_filename, w->w_take) >= longest_prefix(code->co_filename, w->w_skip);
}

static bool
has_loop(PyCodeObject *code)
{
    bool found = false;
    PyObject *bytes = jy_compat_get_bytecode(code);
    if (bytes == NULL) {
        PyErr_Clear();
        return false;
    }
    const unsigned char *at = (const unsigned char *)PyBytes_AS_STRING(bytes);
    for (Py_ssize_t k = 0; k < PyBytes_GET_SIZE(bytes); k += 2 * (1 + jy_instr_caches(at[k])))
        found |= jy_instr_argkind(at[k]) == JY_ARG_JUMP_BACK;
    Py_DECREF(bytes);
    return found;
}

/* Calls that make the code hot, or NOT_WANTED. */
static intptr_t
calls_wanted(const struct jy_whole *w, PyCodeObject *code)
{
    int64_t limit = jy_runtime->config.hot_calls;
    if (!is_wanted(w, code))
        return NOT_WANTED;
    return (intptr_t)(has_loop(code) ? limit / 10 : limit) + 1;
}

/* Counts down what is left in the code's extra: 1 is the call that makes it hot.  False: never ask again. */
static bool
count_call(struct jy_whole *w, PyCodeObject *code, bool *hot)
{
    intptr_t left = (intptr_t)jy_code_extra(code, w->w_extra);
    *hot = left == 1;
    if (left < 0)
        return false;
    if (left == 0)
        w->w_seen++;
    left = left == 0 ? calls_wanted(w, code) : *hot ? WAS_HOT : left - 1;
    if (jy_code_set_extra(code, w->w_extra, (void *)left) < 0) {
        PyErr_Clear();
        return false;
    }
    return left > 0;
}

static void
forget_count(void *count)
{
    (void)count;
}

static bool
is_eligible(PyObject *function, PyObject *code)
{
    return PyFunction_Check(function) && ((PyFunctionObject *)function)->func_code == code &&
           jy_function_find(function) == NULL && jy_function_why_left_alone(function) == NULL;
}

/* 3.11: the eval-frame hook, which stays on. */
static PyObject *
run_frame(PyThreadState *thread, struct _PyInterpreterFrame *frame)
{
    struct jy_whole *w = jy_runtime->whole;
    PyCodeObject *code = jy_frame_code(frame);
    PyObject *function = jy_frame_function(frame);
    bool hot;
    if ((intptr_t)jy_code_extra(code, w->w_extra) >= 0) {
        count_call(w, code, &hot);
        if (hot && is_eligible(function, (PyObject *)code))
            begin_trial(function);
        return jy_hook_run(thread, frame);
    }
    struct jy_function *f = (intptr_t)jy_code_extra(code, w->w_extra) == NOT_WANTED ? NULL : jy_function_find(function);
    if (f == NULL || !f->f_found || f->f_off)
        return jy_hook_run(thread, frame);
    bool plain;
    if (!is_on_trial(f, &plain))
        return plain ? jy_hook_run(thread, frame) : jy_hook_enter(thread, frame, f);
    struct jy_turn turn;
    jy_turn_begin(&turn, f);
    PyObject *result = turn.compiled ? jy_hook_enter(thread, frame, f) : jy_hook_run(thread, frame);
    end_turn(f, &turn, result != NULL);
    return result;
}

/* What sys.monitoring calls: (code, offset). */
static PyObject *
on_start(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t nargs)
{
    struct jy_whole *w = jy_runtime->whole;
    bool hot = false;
    if (!w->w_on || nargs != 2 || !PyCode_Check(args[0]))
        return Py_NewRef(w->w_disable);
    bool again = count_call(w, (PyCodeObject *)args[0], &hot);
    PyObject *function = hot ? jy_thread_running_function(PyThreadState_Get()) : NULL;
    if (function != NULL && is_eligible(function, args[0]))
        begin_trial(function);
    return again ? Py_NewRef(Py_None) : Py_NewRef(w->w_disable);
}

static PyMethodDef start_method = { "on_start", (PyCFunction)(void (*)(void))on_start, METH_FASTCALL, NULL };

/* -- the switch -------------------------------------------------------------------------------------------------------------------- */

/* The first free of the ids that no convention has given to somebody else, our own by convention first.  -1 with an exception. */
static int
take_tool(PyObject *monitoring)
{
    static const int ids[] = { 5, 4, 3 };
    for (size_t k = 0; k < sizeof(ids) / sizeof(ids[0]); k++) {
        PyObject *owner = PyObject_CallMethod(monitoring, "get_tool", "i", ids[k]);
        bool is_free = owner == Py_None;
        Py_XDECREF(owner);
        PyObject *done = is_free ? PyObject_CallMethod(monitoring, "use_tool_id", "is", ids[k], "jitney") : NULL;
        Py_XDECREF(done);
        if (done != NULL)
            return ids[k];
        if (PyErr_Occurred())
            return -1;
    }
    PyErr_SetString(PyExc_RuntimeError, "jitney: every tool id of sys.monitoring is in use");
    return -1;
}

/* refs: new; the event mask for PY_START */
static PyObject *
start_event(PyObject *monitoring)
{
    PyObject *events = PyObject_GetAttrString(monitoring, "events");
    PyObject *event = events == NULL ? NULL : PyObject_GetAttrString(events, "PY_START");
    Py_XDECREF(events);
    return event;
}

/* 0, or -1 with an exception. */
static int
set_monitoring(struct jy_whole *w, bool on)
{
    PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
    PyObject *event = monitoring == NULL ? NULL : start_event(monitoring), *done = NULL;
    if (event == NULL)
        return -1;
    if (on && (w->w_tool = take_tool(monitoring)) < 0) {
        Py_DECREF(event);
        return -1;
    }
    PyObject *callback = on ? w->w_callback : Py_None;
    done = PyObject_CallMethod(monitoring, "register_callback", "iOO", w->w_tool, event, callback);
    Py_XSETREF(done, done == NULL ? NULL
                     : on         ? PyObject_CallMethod(monitoring, "set_events", "iO", w->w_tool, event)
                                  : PyObject_CallMethod(monitoring, "set_events", "ii", w->w_tool, 0));
    if (!on)
        Py_XSETREF(done, done == NULL ? NULL : PyObject_CallMethod(monitoring, "free_tool_id", "i", w->w_tool));
    Py_DECREF(event);
    Py_XDECREF(done);
    if (done == NULL)
        return -1;
    jy_compat_fill_watch(&jy_runtime->watch, on ? w->w_tool : -1);
    return 0;
}

/* 0, or -1 with an exception. */
static int
switch_search(struct jy_whole *w, bool on)
{
    if (jy_compat_has_function_vectorcall())
        return set_monitoring(w, on);
    if (!on)
        jy_hook_uninstall();
    else if (!jy_hook_install(run_frame)) {
        PyErr_SetString(PyExc_RuntimeError, "jitney: a stress mode has the eval-frame hook");
        return -1;
    }
    return 0;
}

/* Made once: a code object's data has no way back.  0, or -1 with an exception. */
static int
prepare(void)
{
    if (jy_runtime->whole != NULL)
        return 0;
    struct jy_whole *w = calloc(1, sizeof(*w));
    if (w == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    PyObject *monitoring = PySys_GetObject("monitoring");
    w->w_extra = jy_code_request_extra(forget_count);
    w->w_callback = w->w_extra < 0 ? NULL : PyCFunction_New(&start_method, NULL);
    w->w_disable = w->w_callback == NULL ? NULL
                   : monitoring == NULL  ? Py_NewRef(Py_None)
                                         : PyObject_GetAttrString(monitoring, "DISABLE");
    if (w->w_disable == NULL) {
        Py_XDECREF(w->w_callback);
        free(w);
        return -1;
    }
    jy_runtime->whole = w;
    return 0;
}

static PyObject *
whole_start(PyObject *Py_UNUSED(self), PyObject *args)
{
    PyObject *skip, *take;
    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &skip, &PyTuple_Type, &take))
        return NULL;
    if (prepare() < 0)
        return NULL;
    struct jy_whole *w = jy_runtime->whole;
    Py_XSETREF(w->w_skip, Py_NewRef(skip));
    Py_XSETREF(w->w_take, Py_NewRef(take));
    if (!w->w_on && switch_search(w, true) < 0)
        return NULL;
    w->w_on = true;
    Py_RETURN_NONE;
}

/* What was found is plain again. */
static PyObject *
whole_stop(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args))
{
    struct jy_whole *w = jy_runtime->whole;
    if (w == NULL || !w->w_on)
        Py_RETURN_NONE;
    w->w_on = false;
    if (switch_search(w, false) < 0)
        return NULL;
    for (size_t k = 0; k < jy_runtime->table_size; k++) {
        struct jy_function *f = jy_runtime->table[k].key == NULL ? NULL : jy_runtime->table[k].value;
        if (f == NULL || !f->f_found)
            continue;
        jy_trial_free(f->f_trial);
        f->f_trial = NULL;
        jy_function_uninstall(f);
        f->f_off = true;
    }
    Py_RETURN_NONE;
}

static PyObject *
whole_stats(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args))
{
    const struct jy_whole *w = jy_runtime->whole;
    if (w == NULL)
        Py_RETURN_NONE;
    PyObject *kept = PyList_New(0);
    for (size_t k = 0; kept != NULL && k < jy_runtime->table_size; k++) {
        struct jy_function *f = jy_runtime->table[k].key == NULL ? NULL : jy_runtime->table[k].value;
        if (f != NULL && f->f_found && f->f_trial == NULL && !f->f_off && PyList_Append(kept, f->f_object) < 0)
            Py_CLEAR(kept);
    }
    return kept == NULL ? NULL
                        : Py_BuildValue("{sOsKsKsKsKsN}", "on", w->w_on ? Py_True : Py_False, "seen", w->w_seen,
                                        "found", w->w_found, "kept", w->w_kept, "left", w->w_left, "functions", kept);
}

PyMethodDef jy_whole_methods[] = {
    { "whole_start", whole_start, METH_VARARGS, "whole_start(skip, take): tuples of prefixes of file names" },
    { "whole_stop", whole_stop, METH_NOARGS, "whole_stop(): the functions found are plain again" },
    { "whole_stats", whole_stats, METH_NOARGS,
      "whole_stats(): dict of counters and the functions that were kept, or None" },
    { NULL, NULL, 0, NULL },
};
