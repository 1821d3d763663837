/* Who is away from the GIL, and for how long.
 *
 *     runs kernels:   release --> machine code, until it is done or its word says so --> take
 *     the clock:      sleeps until the first slice is over --> sets that word
 *
 *  1. A slice ends whatever happens: so signals, exceptions from other threads, pending calls, a tracer, and changes of what the guards found are seen in time, by the interpreter itself, and no word of the
 *     interpreter's is read without the GIL. (Before 3.13 that word is one for all threads: it also says that somebody else is asked for the GIL.)
 *  2. The clock is a thread of C's that takes no signals and touches nothing of Python's: only the list here, under its lock. It ends before a fork() when nobody is away, so that the parent is a process of as
 *     many threads as the program has made; a child begins without it and with an empty list.
 *  3. Who is away has no frame yet, but sys._current_frames() shows one for each function that runs. So it has all come back first, and nobody goes until it is done. */
#define _GNU_SOURCE
#include "runtime/gil.h"
#include "frontend/cpython/compat.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define SLICE_NS                                                                                                       \
    20000000 /* taste: four times as long as whoever wants the GIL waits for it by default, so that kernels run most of the time; Ctrl-C waits no longer than that */
#define PAUSE_NS 100000

static struct {
    pthread_mutex_t lock; /* of the list and the clock */
    pthread_cond_t wake;
    pthread_t clock;
    bool running, stop, closed;
    struct jy_away *first, *last; /* by the end of their slices */
    /* under the GIL: */
    unsigned away, barred;
    PyCFunction current_frames;
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t
now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* -- the clock --------------------------------------------------------------------------------------------------------------------- */

/* Under the lock. */
static void
tell(struct jy_away *a)
{
    a->told = true;
    __atomic_store_n(&a->leave, 1, __ATOMIC_RELAXED);
}

static struct jy_away *
next_to_tell(void)
{
    struct jy_away *a = state.first;
    while (a != NULL && a->told)
        a = a->next;
    return a;
}

static void *
run_clock(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&state.lock);
    while (!state.stop) {
        struct jy_away *a = next_to_tell();
        if (a == NULL) {
            pthread_cond_wait(&state.wake, &state.lock);
        } else if (now_ns() >= a->until) {
            tell(a);
        } else {
            struct timespec until = { a->until / 1000000000, a->until % 1000000000 };
            pthread_cond_timedwait(&state.wake, &state.lock, &until);
        }
    }
    pthread_mutex_unlock(&state.lock);
    return NULL;
}

/* Under the lock. False: the system gives no thread. */
static bool
start_clock(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    state.running = pthread_create(&state.clock, NULL, run_clock, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return state.running;
}

/* Under the lock, which it lets go meanwhile. */
static void
stop_clock(void)
{
    state.running = false;
    state.stop = true;
    pthread_cond_signal(&state.wake);
    pthread_mutex_unlock(&state.lock);
    pthread_join(state.clock, NULL);
    pthread_mutex_lock(&state.lock);
    state.stop = false;
}

/* -- sys._current_frames() --------------------------------------------------------------------------------------------------------- */

/* Everybody comes back and goes on in the interpreter, which has a frame; who is asked for the GIL there lets us have it. */
static PyObject *
current_frames(PyObject *self, PyObject *args)
{
    struct timespec pause = { 0, PAUSE_NS };
    state.barred++;
    pthread_mutex_lock(&state.lock);
    for (struct jy_away *a = state.first; a != NULL; a = a->next)
        tell(a);
    pthread_mutex_unlock(&state.lock);
    while (state.away != 0 && !jy_compat_is_finalizing()) { /* then they do not come back */
        PyThreadState *thread = PyEval_SaveThread();
        nanosleep(&pause, NULL);
        PyEval_RestoreThread(thread);
    }
    PyObject *frames = state.current_frames(self, args);
    state.barred--;
    return frames;
}

/* The function object stays the one that it is. False: somebody has put another there. */
static bool
frames_are_shown(void)
{
    if (state.current_frames != NULL)
        return true;
    PyObject *function = PySys_GetObject("_current_frames");
    if (function == NULL || !PyCFunction_CheckExact(function))
        return false;
    PyMethodDef *method = ((PyCFunctionObject *)function)->m_ml;
    if (strcmp(method->ml_name, "_current_frames") != 0 || method->ml_flags != METH_NOARGS)
        return false;
    state.current_frames = method->ml_meth;
    method->ml_meth = current_frames;
    return true;
}

/* -- going and coming -------------------------------------------------------------------------------------------------------------- */

static void
append(struct jy_away *a)
{
    a->previous = state.last;
    if (state.last != NULL)
        state.last->next = a;
    else
        state.first = a;
    state.last = a;
}

static void
remove_from_list(struct jy_away *a)
{
    if (a->previous != NULL)
        a->previous->next = a->next;
    else
        state.first = a->next;
    if (a->next != NULL)
        a->next->previous = a->previous;
    else
        state.last = a->previous;
}

bool
jy_gil_release(struct jy_away *out)
{
    if (state.barred != 0 || !frames_are_shown())
        return false;
    pthread_mutex_lock(&state.lock);
    bool ready = !state.closed && !state.stop && (state.running || start_clock());
    if (ready) {
        *out = (struct jy_away){ .until = now_ns() + SLICE_NS };
        append(out);
        pthread_cond_signal(&state.wake);
    }
    pthread_mutex_unlock(&state.lock);
    if (!ready)
        return false;
    state.away++;
    out->thread = PyEval_SaveThread();
    return true;
}

void
jy_gil_take(struct jy_away *a)
{
    pthread_mutex_lock(&state.lock);
    remove_from_list(a);
    pthread_mutex_unlock(&state.lock);
    PyEval_RestoreThread(a->thread);
    state.away--;
}

/* -- processes --------------------------------------------------------------------------------------------------------------------- */

static void
make_condition(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&state.wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void
end_idle(void)
{
    pthread_mutex_lock(&state.lock);
    if (state.running && state.first == NULL)
        stop_clock();
    pthread_mutex_unlock(&state.lock);
}

static void
forget(void)
{
    static const pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    state.lock = lock;
    make_condition();
    state.running = state.stop = false;
    state.first = state.last = NULL;
    state.away = state.barred = 0;
}

void
jy_gil_init(void)
{
    make_condition();
    pthread_atfork(end_idle, NULL, forget);
}

void
jy_gil_stop(void)
{
    pthread_mutex_lock(&state.lock);
    state.closed = true;
    if (state.running)
        stop_clock();
    pthread_mutex_unlock(&state.lock);
}
