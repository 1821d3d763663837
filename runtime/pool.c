/* One pool per process, made when it is first needed.
 *
 *     asks: seats = n - 1, wakes  -> works as 0 ->  takes away the seats that are free still, waits for those who work
 *     helpers: sleep until there is a seat; take it; work; look for the next for a moment, sleep
 *
 * So a helper that the system does not run is not waited for: its part is done by the others. Idle helpers end before a fork(), so that the parent is a process of as many threads as the program has made
 * (CPython warns of others), and the child has none, whatever those of the parent were doing. */
#define _GNU_SOURCE
#include "runtime/pool.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

enum { SPIN_NS = 50000 }; /* taste: waking who sleeps takes as long */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    pthread_t thread[JY_POOL_MOST];
    unsigned nthreads;
    jy_pool_work work;
    void *context;
    unsigned seats, working, number;
    bool busy, stop;
    atomic_uint posted; /* counts pieces of work, for who looks without the lock */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };

static long
now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* For a moment, without the lock. */
static void
look(unsigned seen)
{
    long start = now_ns();
    while (atomic_load_explicit(&state.posted, memory_order_relaxed) == seen && now_ns() - start < SPIN_NS)
        for (int k = 0; k < 32; k++) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
}

static void *
help(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&state.lock);
    while (!state.stop) {
        if (state.seats == 0) {
            unsigned seen = atomic_load_explicit(&state.posted, memory_order_relaxed);
            pthread_mutex_unlock(&state.lock);
            look(seen);
            pthread_mutex_lock(&state.lock);
            while (state.seats == 0 && !state.stop)
                pthread_cond_wait(&state.wake, &state.lock);
            continue;
        }
        jy_pool_work work = state.work;
        void *context = state.context;
        unsigned who = state.number++;
        state.seats--;
        state.working++;
        pthread_mutex_unlock(&state.lock);
        work(context, who);
        pthread_mutex_lock(&state.lock);
        if (--state.working == 0)
            pthread_cond_signal(&state.done);
    }
    pthread_mutex_unlock(&state.lock);
    return NULL;
}

/* Under the lock. Fewer where the system gives no more. */
static void
grow(unsigned n)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (state.nthreads < n && pthread_create(&state.thread[state.nthreads], NULL, help, NULL) == 0)
        state.nthreads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void
jy_pool_run(unsigned nthreads, jy_pool_work work, void *context)
{
    unsigned helpers = nthreads > JY_POOL_MOST ? JY_POOL_MOST - 1 : nthreads != 0 ? nthreads - 1 : 0;
    pthread_mutex_lock(&state.lock);
    bool alone = state.busy || helpers == 0;
    if (!alone) {
        state.busy = true;
        grow(helpers);
        state.work = work;
        state.context = context;
        state.number = 1;
        state.seats = helpers < state.nthreads ? helpers : state.nthreads;
        atomic_fetch_add_explicit(&state.posted, 1, memory_order_relaxed);
        pthread_cond_broadcast(&state.wake);
    }
    pthread_mutex_unlock(&state.lock);
    work(context, 0);
    if (alone)
        return;
    pthread_mutex_lock(&state.lock);
    state.seats = 0;
    while (state.working != 0)
        pthread_cond_wait(&state.done, &state.lock);
    state.busy = false;
    pthread_mutex_unlock(&state.lock);
}

unsigned
jy_pool_cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : n > JY_POOL_MOST ? JY_POOL_MOST : (unsigned)n;
}

static void
forget(void)
{
    static const pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const pthread_cond_t nobody = PTHREAD_COND_INITIALIZER;
    state.lock = lock;
    state.wake = state.done = nobody;
    state.nthreads = state.seats = state.working = 0;
    state.busy = state.stop = false;
}

void
jy_pool_stop(void)
{
    pthread_mutex_lock(&state.lock);
    unsigned n = state.nthreads;
    state.stop = true;
    state.nthreads = 0;
    pthread_cond_broadcast(&state.wake);
    pthread_mutex_unlock(&state.lock);
    for (unsigned k = 0; k < n; k++)
        pthread_join(state.thread[k], NULL);
    pthread_mutex_lock(&state.lock);
    state.stop = false;
    pthread_mutex_unlock(&state.lock);
}

static void
end_idle(void)
{
    pthread_mutex_lock(&state.lock);
    bool idle = !state.busy && state.nthreads != 0;
    state.busy |= idle; /* nobody begins meanwhile */
    pthread_mutex_unlock(&state.lock);
    if (!idle)
        return;
    jy_pool_stop();
    pthread_mutex_lock(&state.lock);
    state.busy = false;
    pthread_mutex_unlock(&state.lock);
}

void
jy_pool_init(void)
{
    pthread_atfork(end_idle, NULL, forget);
}
