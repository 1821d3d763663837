/* The trial: samples of both kinds, and what they say. */
#include "runtime/trial.h"

#include "runtime/function.h"
#include <stdlib.h>
#include <time.h>

#define TRIALS 8u      /* taste: timed calls of each kind before a verdict, twice as many before one against */
#define MAX_TRIALS 64u /* taste: no verdict by then is a verdict against */
#define PATIENCE 32u   /* taste: calls of a function that never runs compiled */

struct samples {
    uint32_t n;
    uint64_t at[MAX_TRIALS]; /* nanoseconds, ascending */
};

struct jy_trial {
    bool t_running;
    uint32_t t_turns;
    struct samples t_plain, t_compiled;
};

struct jy_trial *
jy_trial_new(void)
{
    return calloc(1, sizeof(struct jy_trial));
}

void
jy_trial_free(struct jy_trial *trial)
{
    free(trial);
}

bool
jy_trial_is_running(const struct jy_trial *trial)
{
    return trial->t_running;
}

static uint64_t
now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void
add_sample(struct samples *samples, uint64_t elapsed)
{
    if (samples->n == MAX_TRIALS)
        return;
    uint32_t k = samples->n++;
    for (; k > 0 && samples->at[k - 1] > elapsed; k--)
        samples->at[k] = samples->at[k - 1];
    samples->at[k] = elapsed;
}

/* By medians: other programs may get the processor in the middle of any call. */
static enum jy_verdict
judge(const struct jy_trial *t, const struct jy_function *f)
{
    uint32_t n = t->t_compiled.n < t->t_plain.n ? t->t_compiled.n : t->t_plain.n;
    if (f->f_off || (t->t_turns >= PATIENCE && f->f_stats.compiles == 0) || t->t_turns >= 8 * MAX_TRIALS)
        return JY_VERDICT_LEAVE;
    if (n < TRIALS)
        return JY_VERDICT_NONE;
    uint64_t compiled = t->t_compiled.at[t->t_compiled.n / 2], plain = t->t_plain.at[t->t_plain.n / 2];
    if (10 * compiled < 9 * plain)
        return JY_VERDICT_KEEP;
    return n >= MAX_TRIALS || (n >= 2 * TRIALS && compiled > plain) ? JY_VERDICT_LEAVE : JY_VERDICT_NONE;
}

/* Compiled or plain?  By the Thue-Morse sequence, which is balanced and falls in step with no loop of the program. */
static bool
is_compiled_turn(const struct jy_trial *t)
{
    return __builtin_parity(t->t_turns) == 0;
}

static uint64_t
attempts_of(const struct jy_function *f)
{
    return f->f_stats.compiles + f->f_stats.refusals;
}

void
jy_turn_begin(struct jy_turn *turn, struct jy_function *f)
{
    struct jy_trial *t = f->f_trial;
    *turn = (struct jy_turn){ .trial = t, .attempts = attempts_of(f), .watched = f->f_stats.watched_calls };
    turn->compiled = f->f_stats.compiles == 0 || is_compiled_turn(t);
    Py_INCREF(f->f_object);
    t->t_turns++;
    t->t_running = true;
    turn->begun = now_ns();
}

enum jy_verdict
jy_turn_end(struct jy_function *f, const struct jy_turn *turn, bool succeeded)
{
    uint64_t elapsed = now_ns() - turn->begun;
    struct jy_trial *t = turn->trial;
    if (f->f_trial != t) /* it was ended meanwhile */
        return JY_VERDICT_NONE;
    t->t_running = false;
    /* A call that compiles, fails or is watched says nothing. */
    if (succeeded && turn->attempts == attempts_of(f) && turn->watched == f->f_stats.watched_calls &&
        f->f_stats.compiles != 0)
        add_sample(turn->compiled ? &t->t_compiled : &t->t_plain, elapsed);
    return judge(t, f);
}
