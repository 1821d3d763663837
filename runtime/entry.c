/* Entry: what a call of a compiled function does first.
 *
 *   watched?            -> original
 *   code or defaults written since? -> entries dropped
 *   bind arguments      -> does not fit: original (its TypeError is CPython's)
 *   entries, most recently used first: guards hold -> run
 *   miss                -> compile, or original
 *
 * A run that finds something to report (an FP flag that errstate does not ignore, an int overflow) has left everything as it was: the original runs, and its warnings, lines and
 * errors are eager's own. */
#include "runtime/function.h"
#include <alloca.h>
#include <string.h>

#define MAX_ROOM 16384u
#define DEPTH_LIMIT 50u /* nested calls of the original; each takes C stack, where 3.12 allows some 800 */
#define RERUN_LIMIT                                                                                                    \
    4u /* taste: so many calls more that end in the original than that do not, and an entry is given up */

/* A function that recurses deeper than C can becomes plain again: the interpreter calls it without C stack then. */
static void
leave_recursion(struct jy_function *f)
{
    if (!jy_compat_has_function_vectorcall())
        return;
    f->f_off = true;
    jy_function_uninstall(f);
    jy_runtime->logs.frame = f->f_id;
    if (jy_runtime->logs.on[JY_LOG_perf_hints])
        jy_log_print(&jy_runtime->logs, JY_LOG_perf_hints, "left to CPython for good: it calls itself too deep");
}

static PyObject *
run_original(struct jy_function *f, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    vectorcallfunc plain = f->f_plain != NULL ? f->f_plain : jy_compat_get_vectorcall(f->f_object);
    PyObject *object = Py_NewRef(f->f_object); /* and with it the state */
    if (++f->f_depth == DEPTH_LIMIT)
        leave_recursion(f);
    PyObject *result = plain(object, args, nargsf, kwnames);
    f->f_depth--;
    Py_DECREF(object);
    return result;
}

/* The new code as a function like the original, for one call.  refs: new */
static PyObject *
regenerated_function(struct jy_function *f, PyObject *code)
{
    PyFunctionObject *origin = (PyFunctionObject *)f->f_object;
    PyObject *copy = PyFunction_NewWithQualName(code, origin->func_globals, origin->func_qualname);
    if (copy == NULL)
        return NULL;
    if ((origin->func_closure != NULL && PyFunction_SetClosure(copy, origin->func_closure) < 0) ||
        (origin->func_defaults != NULL && PyFunction_SetDefaults(copy, origin->func_defaults) < 0) ||
        (origin->func_kwdefaults != NULL && PyFunction_SetKwDefaults(copy, origin->func_kwdefaults) < 0))
        Py_CLEAR(copy);
    return copy;
}

static enum jy_run
run_regenerated(PyObject **out, struct jy_function *f, struct jy_entry *entry, PyObject *const *args, size_t nargsf,
                PyObject *kwnames)
{
    PyObject *copy = regenerated_function(f, entry->e_code);
    if (copy == NULL)
        return JY_RUN_ERROR;
    *out = PyObject_Vectorcall(copy, args, nargsf, kwnames);
    Py_DECREF(copy);
    if (*out == NULL)
        return JY_RUN_ERROR;
    if (*out != jy_runtime->rerun)
        return JY_RUN_OK;
    Py_CLEAR(*out);
    return JY_RUN_RERUN;
}

/* An entry whose calls keep ending in the original costs more than it gives. */
static void
note_run(struct jy_function *f, struct jy_entry *entry, enum jy_run run)
{
    if (run == JY_RUN_OK) {
        f->f_stats.native_calls++;
        if (entry->e_reruns > 0 && (++entry->e_calls & 3) == 0)
            entry->e_reruns--;
        return;
    }
    f->f_stats.flag_reruns++;
    if (++entry->e_reruns < RERUN_LIMIT || entry->e_off)
        return;
    entry->e_off = true;
    if (jy_runtime->logs.on[JY_LOG_perf_hints]) {
        jy_runtime->logs.frame = f->f_id;
        jy_log_print(&jy_runtime->logs, JY_LOG_perf_hints,
                     "a compiled unit is given up: most of its calls report warnings, which only the original can do");
    }
}

static void
move_to_front(struct jy_function *f, struct jy_entry *entry)
{
    struct jy_entry **at = &f->f_entries;
    while (*at != entry)
        at = &(*at)->e_next;
    *at = entry->e_next;
    entry->e_next = f->f_entries;
    f->f_entries = entry;
}

/* JY_GUARDS_HOLD: the call is done, *out is its result or NULL with an exception. */
static enum jy_guard_result
try_entry(PyObject **out, struct jy_function *f, struct jy_entry *entry, PyObject *const *slots, PyObject *const *args,
          size_t nargsf, PyObject *kwnames)
{
    struct jy_guard_values values = { 0 };
    size_t room = jy_guards_room(entry->e_guards);
    uint32_t failed;
    enum jy_run run = JY_RUN_RERUN;

    if (room > MAX_ROOM)
        return JY_GUARDS_MISS;
    enum jy_guard_result held = jy_guards_check(&values, alloca(room), entry->e_guards, f->f_object, slots, &failed);
    if (held != JY_GUARDS_HOLD) {
        jy_guards_clear(&values);
        return held;
    }
    entry->e_refs++;
    if (entry != f->f_entries)
        move_to_front(f, entry);
    if (!entry->e_off) {
        run = entry->e_direct ? jy_exec_run(entry->e_exec, values.inputs, out)
                              : run_regenerated(out, f, entry, args, nargsf, kwnames);
        if (run != JY_RUN_ERROR)
            note_run(f, entry, run);
    }
    jy_guards_clear(&values);
    jy_entry_release(entry);
    if (run == JY_RUN_ERROR)
        *out = NULL;
    else if (run == JY_RUN_RERUN) {
        f->f_stats.fallback_calls++;
        *out = run_original(f, args, nargsf, kwnames);
    }
    return JY_GUARDS_HOLD;
}

static bool
parts_changed(const struct jy_function *f)
{
    const PyFunctionObject *object = (const PyFunctionObject *)f->f_object;
    return object->func_code != f->f_code || object->func_defaults != f->f_defaults ||
           object->func_kwdefaults != f->f_kwdefaults;
}

/* Guards missed everywhere: compile for these arguments, once. True: there is a new first entry. */
static int
compile_on_miss(struct jy_function *f, PyObject *const *slots, size_t nslots)
{
    f->f_stats.guard_misses += f->f_nentries != 0;
    if (jy_runtime->compiling || f->f_busy || jy_runtime->config.disabled)
        return 0;
    int allowed = jy_runtime->api.stance == JY_STANCE_DEFAULT ? 1 : jy_api_allows_compile(f);
    if (allowed <= 0)
        return allowed;
    jy_status status = jy_compile(f, slots, nslots);
    if (status == JY_ERROR)
        return -1;
    return status == JY_OK;
}

static PyObject *
dispatch(struct jy_function *f, PyObject *const *slots, size_t nslots, PyObject *const *args, size_t nargsf,
         PyObject *kwnames)
{
    PyObject *result = NULL;
    for (int attempt = 0; attempt < 2; attempt++) {
        for (struct jy_entry *entry = f->f_entries, *next; entry != NULL; entry = next) {
            next = entry->e_next;
            enum jy_guard_result held = try_entry(&result, f, entry, slots, args, nargsf, kwnames);
            if (held == JY_GUARDS_HOLD)
                return result;
            if (held == JY_GUARDS_ERROR)
                return NULL;
        }
        int compiled = attempt == 0 && !f->f_off ? compile_on_miss(f, slots, nslots) : 0;
        if (compiled < 0)
            return NULL;
        if (compiled == 0)
            break;
    }
    f->f_stats.fallback_calls++;
    return run_original(f, args, nargsf, kwnames);
}

PyObject *
jy_entry_call(struct jy_function *f, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    size_t nargs = (size_t)PyVectorcall_NARGS(nargsf);

    if (f->f_off && f->f_entries == NULL)
        return run_original(f, args, nargsf, kwnames);
    if ((jy_runtime->api.stance | jy_runtime->api.disabled) != 0 && jy_api_forces_eager())
        return run_original(f, args, nargsf, kwnames);
    f->f_stats.calls++;
    if (jy_compat_is_watched(&jy_runtime->watch, PyThreadState_Get(), f->f_code)) {
        f->f_stats.watched_calls++;
        return run_original(f, args, nargsf, kwnames);
    }
    if (parts_changed(f))
        jy_function_reset(f);
    if (f->f_simple && kwnames == NULL && nargs == f->f_nparams)
        return dispatch(f, args, nargs, args, nargsf, kwnames);

    struct jy_bound bound;
    PyObject *result = NULL;
    int fits = jy_bind(&bound, f->f_object, args, nargs, kwnames);
    if (fits == 1)
        result = dispatch(f, bound.at, bound.n, args, nargsf, kwnames);
    else if (fits == 0)
        result = run_original(f, args, nargsf, kwnames);
    jy_bound_clear(&bound);
    return result;
}

PyObject *
jy_entry_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    struct jy_function *f = jy_function_find(callable);
    if (f == NULL) { /* cannot be: our vectorcall is set only on functions in the table */
        PyErr_SetString(PyExc_SystemError, "jitney: a function without state was called");
        return NULL;
    }
    return jy_entry_call(f, args, nargsf, kwnames);
}
