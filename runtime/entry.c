/* Entry: what a call of a compiled function does first.
 *
 *   watched?            -> original
 *   code or defaults written since? -> entries dropped
 *   bind arguments      -> does not fit: original (its TypeError is CPython's)
 *   entries, most recently used first: guards hold -> run
 *   miss                -> compile, or original
 *
 * An entry that is one native call has a short way of its own (run_direct), with nothing on it that such a call does not need, and many of these a
 * shorter one (jy_quick_call).
 *
 * A run that finds something to report (an FP flag that errstate does not ignore, an int overflow) has left everything as it was: the original runs, and its warnings, lines and
 * errors are eager's own. */
#include "runtime/function.h"
#include <alloca.h>
#include <string.h>

#define MAX_ROOM 16384u
#define DIRECT_ROOM 48u /* taste: values for which the short way has room */
#define DEPTH_LIMIT 50u /* nested calls of the original; each takes C stack, where 3.12 allows some 800 */
#define RECURSIVE_LIMIT                                                                                                \
    400u /* the same for functions that call themselves natively: left deep inside, they are rebuilt so deep */
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

void
jy_enter_call(struct jy_function *f)
{
    if (++f->f_depth == (f->f_recurses ? RECURSIVE_LIMIT : DEPTH_LIMIT))
        leave_recursion(f);
}

/* Calls that stand where the interpreter would have needed no C are given the units of C stack that they take, so that RecursionError comes where it would: so many at a time, as
 * each does take C stack. */
#define SPARED_LIMIT 400

static int
spare_units(const struct jy_function *f, PyObject *const *args)
{
    if (jy_runtime->spared >= SPARED_LIMIT)
        return 0;
    PyThreadState *thread = PyThreadState_Get();
    int units = jy_compat_c_units(thread, f->f_object, args);
    if (units != 0) {
        jy_runtime->spared++;
        jy_compat_give_c_units(thread, units);
    }
    return units;
}

static void
take_units(int units)
{
    if (units == 0)
        return;
    jy_runtime->spared--;
    jy_compat_give_c_units(PyThreadState_Get(), -units);
}

/* args: of the call whose unit gave the result */
static PyObject *
drive(struct jy_function *f, PyObject *result, PyObject *const *args)
{
    if (result == NULL || !jy_is_continuation(result))
        return result;
    int units = spare_units(f, args);
    result = jy_drive(f, result);
    take_units(units);
    return result;
}

PyObject *
jy_entry_plain(struct jy_function *f, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    vectorcallfunc plain = f->f_plain != NULL ? f->f_plain : jy_compat_get_vectorcall(f->f_object);
    PyObject *object = Py_NewRef(f->f_object); /* and with it the state */
    jy_enter_call(f);
    int units = spare_units(f, args);
    PyObject *result = plain(object, args, nargsf, kwnames);
    take_units(units);
    f->f_depth--;
    Py_DECREF(object);
    return result;
}

static enum jy_run
run_regenerated(PyObject **out, struct jy_function *f, struct jy_entry *entry, PyObject *const *args, size_t nargsf,
                PyObject *kwnames)
{
    if (jy_entry_refresh(f, &f->f_call, entry) < 0)
        return jy_reserve_spend(NULL) ? JY_RUN_RERUN : JY_RUN_ERROR;
    int units = spare_units(f, args);
    *out = jy_new_code_call(&entry->e_new, f, args, nargsf, kwnames);
    take_units(units);
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

void
jy_entry_move_to_front(struct jy_start *start, struct jy_entry *entry)
{
    struct jy_entry **at = &start->s_entries;
    while (*at != entry)
        at = &(*at)->e_next;
    *at = entry->e_next;
    entry->e_next = start->s_entries;
    start->s_entries = entry;
}

bool
jy_entry_holds(struct jy_function *f, struct jy_entry *entry, PyObject *const *slots)
{
    struct jy_guard_values values = { 0 };
    size_t room = jy_guards_room(entry->e_guards);
    uint32_t failed;
    if (room > MAX_ROOM)
        return false;
    enum jy_guard_result held = jy_guards_check(&values, alloca(room), entry->e_guards, f->f_object, slots, &failed);
    jy_guards_clear(&values);
    if (held == JY_GUARDS_ERROR)
        PyErr_Clear();
    return held == JY_GUARDS_HOLD;
}

/* What a run in an entry leads to; the entry is released. */
static __attribute__((noinline)) PyObject *
finish_run(struct jy_function *f, struct jy_entry *entry, enum jy_run run, PyObject *result, PyObject *const *args,
           size_t nargsf, PyObject *kwnames)
{
    if (!entry->e_off && run != JY_RUN_ERROR)
        note_run(f, entry, run);
    jy_entry_release(entry);
    if (run == JY_RUN_OK)
        return result;
    if (run == JY_RUN_ERROR)
        return NULL;
    f->f_stats.fallback_calls++;
    return jy_entry_plain(f, args, nargsf, kwnames);
}

static inline bool
has_direct(const struct jy_entry *entry)
{
    return entry != NULL && entry->e_direct && !entry->e_off &&
           jy_guards_room(entry->e_guards) <= DIRECT_ROOM * sizeof(PyObject *);
}

static inline bool
has_quick(const struct jy_entry *entry)
{
    return entry->e_quick != NULL && !entry->e_off && entry->e_reruns == 0;
}

/* As try_entry, for an entry that is a flow. */
static enum jy_guard_result
run_flow(PyObject **out, struct jy_function *f, struct jy_entry *entry, struct jy_guard_values *values,
         PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    switch (jy_entry_run_flow(out, f, &f->f_call, entry, values)) {
    case JY_FLOW_APART:
    case JY_FLOW_OBJECTS:
        return JY_GUARDS_MISS;
    case JY_FLOW_REFUSED:
    case JY_FLOW_UNDONE:
        f->f_stats.fallback_calls++;
        *out = jy_entry_plain(f, args, nargsf, kwnames);
        break;
    case JY_FLOW_RETURNED:
    case JY_FLOW_LEFT:
    case JY_FLOW_FAILED:
        break;
    }
    return JY_GUARDS_HOLD;
}

/* As try_entry, for an entry that has_direct and arguments that are the parameters. */
static inline enum jy_guard_result
run_direct(PyObject **out, struct jy_function *f, struct jy_entry *entry, PyObject *const *args, size_t nargsf)
{
    struct jy_guard_values values;
    PyObject *room[DIRECT_ROOM];
    uint32_t failed;
    enum jy_guard_result held = jy_guards_check(&values, room, entry->e_guards, f->f_object, args, &failed);
    if (held != JY_GUARDS_HOLD) {
        jy_guards_clear(&values);
        return held;
    }
    if (entry->e_flow != NULL) {
        held = run_flow(out, f, entry, &values, args, nargsf, NULL);
        jy_guards_clear(&values);
        return held;
    }
    entry->e_refs++;
    enum jy_run run = jy_exec_run(entry->e_exec, values.inputs, out);
    jy_guards_clear(&values);
    if (run == JY_RUN_OK && entry->e_reruns == 0 && entry->e_refs > 1) {
        entry->e_refs--;
        f->f_stats.native_calls++;
    } else {
        *out = finish_run(f, entry, run, *out, args, nargsf, NULL);
    }
    return JY_GUARDS_HOLD;
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
    if (entry->e_flow != NULL) {
        held = run_flow(out, f, entry, &values, args, nargsf, kwnames);
        jy_guards_clear(&values);
        return held;
    }
    entry->e_refs++;
    if (entry != f->f_call.s_entries)
        jy_entry_move_to_front(&f->f_call, entry);
    if (!entry->e_direct) { /* the program's own code may run, and let them die */
        jy_guards_clear(&values);
        values = (struct jy_guard_values){ 0 };
    }
    if (!entry->e_off)
        run = entry->e_direct ? jy_exec_run(entry->e_exec, values.inputs, out)
                              : run_regenerated(out, f, entry, args, nargsf, kwnames);
    jy_guards_clear(&values);
    *out = finish_run(f, entry, run, *out, args, nargsf, kwnames);
    return JY_GUARDS_HOLD;
}

static bool
parts_changed(const struct jy_function *f)
{
    const PyFunctionObject *object = (const PyFunctionObject *)f->f_object;
    return object->func_code != f->f_code || object->func_defaults != f->f_defaults ||
           object->func_kwdefaults != f->f_kwdefaults;
}

int
jy_may_compile(struct jy_function *f, size_t nentries)
{
    if (jy_runtime->compiling || f->f_busy || jy_runtime->config.disabled)
        return 0;
    return jy_runtime->api.stance == JY_STANCE_DEFAULT ? 1 : jy_api_allows_compile(f, nentries);
}

/* Guards missed everywhere: compile for these arguments, once. True: there is a new first entry. */
static int
compile_on_miss(struct jy_function *f, PyObject *const *slots, size_t nslots)
{
    f->f_stats.guard_misses += f->f_call.s_nentries != 0;
    int allowed = jy_may_compile(f, f->f_call.s_nentries);
    if (allowed <= 0)
        return allowed;
    jy_status status = jy_compile(f, &f->f_call, slots, nslots);
    if (status == JY_ERROR)
        return -1;
    return status == JY_OK;
}

#define IDLE_CALLS                                                                                                     \
    256u /* taste: calls without any unit, after the call itself has been given up, that show that none will come */

/* Nothing of the function was ever compiled: it becomes plain, and its calls cost what they did. */
static void
give_up_if_idle(struct jy_function *f)
{
    if (!f->f_call.s_off || f->f_stats.compiles != 0 || f->f_stats.fallback_calls < IDLE_CALLS || f->f_off)
        return;
    f->f_off = true;
    jy_leaves_drop_all(f);
    jy_function_uninstall(f);
}

/* tried: an entry whose guards do not hold; may be NULL */
static PyObject *
dispatch(struct jy_function *f, const struct jy_entry *tried, PyObject *const *slots, size_t nslots,
         PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyObject *result = NULL;
    for (int attempt = 0; attempt < 2; attempt++, tried = NULL) {
        for (struct jy_entry *entry = f->f_call.s_entries, *next; entry != NULL; entry = next) {
            next = entry->e_next;
            if (entry == tried || jy_entry_is_dead(entry))
                continue;
            enum jy_guard_result held = try_entry(&result, f, entry, slots, args, nargsf, kwnames);
            if (held == JY_GUARDS_HOLD)
                return drive(f, result, args);
            if (held == JY_GUARDS_ERROR)
                return NULL;
        }
        int compiled = attempt == 0 && !f->f_off && !f->f_call.s_off ? compile_on_miss(f, slots, nslots) : 0;
        if (compiled < 0)
            return NULL;
        if (compiled == 0)
            break;
    }
    bool has_leaves;
    f->f_stats.fallback_calls++;
    give_up_if_idle(f);
    if (jy_start_plain(&has_leaves, f, &f->f_call) < 0) {
        PyErr_Clear();
        has_leaves = false;
    }
    if (!has_leaves)
        return jy_entry_plain(f, args, nargsf, kwnames);
    int units = spare_units(f, args);
    result = jy_new_code_call(&f->f_call.s_plain, f, args, nargsf, kwnames);
    take_units(units);
    return drive(f, result, args);
}

static __attribute__((noinline)) PyObject *
bind_and_dispatch(struct jy_function *f, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    struct jy_bound bound;
    PyObject *result = NULL;
    int fits = jy_bind(&bound, f->f_object, args, (size_t)PyVectorcall_NARGS(nargsf), kwnames);
    if (fits == 1)
        result = dispatch(f, NULL, bound.at, bound.n, args, nargsf, kwnames);
    else if (fits == 0)
        result = jy_entry_plain(f, args, nargsf, kwnames);
    jy_bound_clear(&bound);
    return result;
}

PyObject *
jy_entry_call(struct jy_function *f, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    size_t nargs = (size_t)PyVectorcall_NARGS(nargsf);

    if (f->f_off && f->f_call.s_entries == NULL)
        return jy_entry_plain(f, args, nargsf, kwnames);
    if ((jy_runtime->api.stance | jy_runtime->api.disabled) != 0 && jy_api_forces_eager())
        return jy_entry_plain(f, args, nargsf, kwnames);
    if ((++f->f_stats.calls & (JY_WEIGH_CALLS - 1)) == 0)
        jy_never_slower_note_calls(f);
    if (jy_compat_is_watched(&jy_runtime->watch, f->f_code)) {
        f->f_stats.watched_calls++;
        return jy_entry_plain(f, args, nargsf, kwnames);
    }
    if (parts_changed(f))
        jy_function_reset(f);
    if (f->f_simple && kwnames == NULL && nargs == f->f_nparams) {
        struct jy_entry *entry = f->f_call.s_entries;
        PyObject *result = NULL;
        if (entry != NULL && has_quick(entry) && (result = jy_quick_call(entry->e_quick, args)) != NULL) {
            f->f_stats.native_calls++;
            return result;
        }
        if (!has_direct(entry))
            return dispatch(f, NULL, args, nargs, args, nargsf, kwnames);
        bool may_continue = entry->e_flow != NULL; /* what a graph returns is no continuation */
        enum jy_guard_result held = run_direct(&result, f, entry, args, nargsf);
        if (held == JY_GUARDS_MISS)
            return dispatch(f, entry, args, nargs, args, nargsf, kwnames);
        return may_continue ? drive(f, result, args) : result;
    }
    return bind_and_dispatch(f, args, nargsf, kwnames);
}

PyObject *
jy_entry_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    struct jy_function *f = jy_function_listed(callable);
    if (f == NULL) { /* cannot be: our vectorcall is set only on functions in the table */
        PyErr_SetString(PyExc_SystemError, "jitney: a function without state was called");
        return NULL;
    }
    return jy_entry_call(f, args, nargsf, kwnames);
}
