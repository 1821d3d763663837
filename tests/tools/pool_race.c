/* The thread pool by itself, for a thread sanitizer: many short pieces of work, two who ask at once, children of fork(), an end and a new beginning. tests/python/test_prange.py builds and runs it. */
#include "runtime/pool.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000 };
#define SUM ((long)N * (N - 1) / 2)

struct job {
    atomic_long next;
    long *out;
};

static void
work(void *context, unsigned who)
{
    struct job *j = context;
    (void)who;
    for (long k; (k = atomic_fetch_add(&j->next, 3)) < N;)
        for (long i = k; i < k + 3 && i < N; i++)
            j->out[i] += i;
}

static long
total(unsigned threads, int rounds)
{
    long *out = calloc(N, sizeof *out), sum = 0;
    for (int r = 0; r < rounds; r++) {
        struct job j = { .out = out };
        jy_pool_run(threads, work, &j);
    }
    for (long i = 0; i < N; i++)
        sum += out[i];
    free(out);
    return sum;
}

static void *
ask(void *unused)
{
    if (total(4, 200) != 200 * SUM)
        abort();
    return unused;
}

int
main(int argc, char **argv)
{
    pthread_t other;
    (void)argv;
    jy_pool_init();
    if (total(4, 1000) != 1000 * SUM)
        return 1;
    pthread_create(&other, NULL, ask, NULL);
    ask(NULL);
    pthread_join(other, NULL);
    for (int k = 0; argc > 1 && k < 10; k++) { /* not under a sanitizer: its child has lost its threads */
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            _exit(total(4, 50) != 50 * SUM);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            return 2;
    }
    jy_pool_stop();
    if (total(3, 10) != 10 * SUM)
        return 3;
    jy_pool_stop();
    return 0;
}
