/* Decorated functions that may be slower than plain ones are tried by the clock, and go back to CPython where they are.
 *
 *   considered  every JY_WEIGH_CALLS calls, or after that many arrivals in the middle of calls: the next call is timed.
 *   weighed     a call that takes long for its arrivals, or that is one graph of arrays, cannot lose much: no trial. So what a plain turn can cost is bounded.
 *   tried       calls run compiled and plain in turns (trial.h);
 *   kept        the usual entry again, until it is tried once more after several times as many calls: arguments change;
 *   left        CPython has it for good, with a reason of its own.
 *
 * A function that is not on trial pays nothing: who is tried has another entry. */
#include "runtime/never_slower.h"

#include "runtime/function.h"
#include "runtime/stress.h"

#define WEIGH_ARRIVALS 400u /* taste: so many arrivals make it worth to look at the clock */
#define AGAIN 8u            /* taste: so many times as many until the next trial */
#define LONG_NS                                                                                                        \
    8000u /* taste: what lies between two arrivals, or makes up a call; leaving and taking up again is a small part of more */
#define MIN_GAIN 3u /* percent */

/* The entry of a function's calls. */
static void
set_entry(struct jy_function *f, vectorcallfunc entry)
{
    if (f->f_entry != NULL)
        *f->f_entry = entry;
    else if (f->f_plain != NULL)
        jy_compat_set_vectorcall(f->f_object, entry);
}

static void
set_usual_entry(struct jy_function *f)
{
    set_entry(f, f->f_entry != NULL ? jy_dispatcher_vectorcall : jy_entry_vectorcall);
}

static bool
has_usual_entry(const struct jy_function *f)
{
    return f->f_entry != NULL || (f->f_plain != NULL && jy_compat_get_vectorcall(f->f_object) == jy_entry_vectorcall);
}

void
jy_never_slower_forget(struct jy_function *f)
{
    bool tried = f->f_trial != NULL && !f->f_found;
    if (tried) {
        jy_trial_free(f->f_trial);
        f->f_trial = NULL;
    }
    if (tried || f->f_entry != NULL)
        set_usual_entry(f);
    f->f_arrivals = f->f_weigh_calls = 0;
    f->f_weigh_arrivals = WEIGH_ARRIVALS;
}

/* -- considered -------------------------------------------------------------------------------------------------------------------- */

static bool
has_arrays(const struct jy_graph *g)
{
    bool found = false;
    for (size_t i = 0; !found && i < g->g_nodes.n; i++)
        found = g->g_nodes.at[i].n_kind == JY_KIND_ARRAY;
    return found;
}

/* A call that is one hit of a graph of arrays. */
static bool
is_one_graph(const struct jy_function *f)
{
    const struct jy_entry *entry = f->f_call.s_entries;
    return entry != NULL && entry->e_whole && entry->e_flow == NULL && !entry->e_off &&
           has_arrays(jy_entry_unit(entry)->u_graph);
}

/* Neither on purpose of a test or of the user's, nor where results need not be CPython's. */
static bool
may_try(const struct jy_function *f)
{
    const struct jy_runtime *rt = jy_runtime;
    const struct jy_config *c = &rt->config;
    bool stressed = rt->stress != NULL || c->break_every != 0 || c->exit_every != 0 || c->compare || c->executor != 0;
    return c->trials && !stressed && !c->disabled && (rt->api.stance | rt->api.disabled) == 0 && !f->f_fullgraph &&
           !f->f_fastmath && f->f_backend == NULL && !f->f_found && !f->f_off && f->f_trial == NULL &&
           f->f_depth == 0 && f->f_stats.compiles != 0 && has_usual_entry(f) && !is_one_graph(f);
}

static PyObject *trial_entry(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames);

static void
consider(struct jy_function *f)
{
    const struct jy_terms terms = { .gain = MIN_GAIN, .sure = true };
    if (!may_try(f) || (f->f_trial = jy_trial_new(terms)) == NULL)
        return;
    f->f_weighed = false;
    set_entry(f, trial_entry);
}

void
jy_never_slower_note_calls(struct jy_function *f)
{
    if (f->f_stats.calls >= f->f_weigh_calls)
        consider(f);
}

void
jy_never_slower_note_arrivals(struct jy_function *f)
{
    f->f_weigh_arrivals = f->f_arrivals + WEIGH_ARRIVALS;
    consider(f);
}

/* -- tried ------------------------------------------------------------------------------------------------------------------------- */

/* refs: as vectorcall. The entry of a function that was left, where no other way leads past ours. */
static PyObject *
left_entry(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Py_INCREF(callable);
    PyObject *result = jy_entry_plain(jy_function_find(callable), args, nargsf, kwnames);
    Py_DECREF(callable);
    return result;
}

static void
leave(struct jy_function *f, double compiled, double plain)
{
    char detail[96];
    snprintf(detail, sizeof detail, "a compiled call takes %.2f us, a plain one %.2f us", 1e-3 * compiled,
             1e-3 * plain);
    f->f_off = true;
    set_entry(f, left_entry);
    jy_function_uninstall(f);
    jy_report_left(f, "SLOWER", detail);
}

static void
act(struct jy_function *f, enum jy_verdict verdict)
{
    double compiled, plain;
    if (verdict == JY_VERDICT_NONE)
        return;
    jy_trial_middles(f->f_trial, &compiled, &plain);
    jy_trial_free(f->f_trial);
    f->f_trial = NULL;
    if (verdict == JY_VERDICT_LEAVE && !f->f_off) {
        leave(f, compiled, plain);
        return;
    }
    set_usual_entry(f);
    f->f_weigh_calls = AGAIN * f->f_stats.calls;
    f->f_weigh_arrivals = AGAIN * f->f_arrivals + WEIGH_ARRIVALS;
}

/* The first turn, which is a compiled one. */
static bool
is_too_long(struct jy_function *f, const struct jy_turn *turn, uint64_t arrivals)
{
    if (f->f_weighed)
        return false;
    f->f_weighed = true;
    return turn->elapsed > LONG_NS * (1 + f->f_arrivals - arrivals);
}

/* Called off without a verdict. */
static void
call_off(struct jy_function *f)
{
    jy_trial_free(f->f_trial);
    f->f_trial = NULL;
    set_usual_entry(f);
}

/* refs: as vectorcall */
static PyObject *
run_turn(struct jy_function *f, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    struct jy_turn turn;
    uint64_t arrivals = f->f_arrivals;
    jy_turn_begin(&turn, f);
    PyObject *object = f->f_object, *result;
    if (turn.compiled) {
        result = jy_entry_call(f, args, nargsf, kwnames);
    } else {
        f->f_stats.calls++;
        f->f_stats.trial_calls++;
        result = jy_entry_plain(f, args, nargsf, kwnames);
    }
    enum jy_verdict verdict = jy_turn_end(f, &turn, result != NULL);
    if (f->f_trial == turn.trial && turn.compiled && is_too_long(f, &turn, arrivals))
        call_off(f);
    else
        act(f, verdict);
    Py_DECREF(object);
    return result;
}

/* Calls that say nothing: jitney or somebody else wants them to run otherwise. */
static bool
is_apart(const struct jy_function *f)
{
    return (jy_runtime->api.stance | jy_runtime->api.disabled) != 0 ||
           jy_compat_is_watched(&jy_runtime->watch, f->f_code) ||
           ((PyFunctionObject *)f->f_object)->func_code != f->f_code;
}

/* refs: as vectorcall */
static PyObject *
trial_entry(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    struct jy_function *f = jy_function_find(callable);
    bool plain = false;
    Py_INCREF(callable); /* the call may drop the last other reference */
    PyObject *result = f->f_trial == NULL || f->f_off || jy_trial_is_running(f->f_trial, &plain) || is_apart(f)
                           ? (plain ? jy_entry_plain : jy_entry_call)(f, args, nargsf, kwnames)
                           : run_turn(f, args, nargsf, kwnames);
    Py_DECREF(callable);
    return result;
}
