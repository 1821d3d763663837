/* The trial: samples of both kinds, and what they say. */
#include "runtime/trial.h"

#include "runtime/function.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

#define TRIALS 8u       /* taste: timed calls of each kind before a verdict, twice as many before one against */
#define MAX_TRIALS 64u  /* taste: a verdict comes by then */
#define PATIENCE 32u    /* taste: calls of a function that never runs compiled */
#define SURE 3.0        /* standard deviations that are beyond doubt */
#define WARM 8u         /* plain turns that are not counted: the interpreter has not specialised the code yet */
#define LONG_NS 100000u /* taste: what is a long call; one of them is warm by itself */
#define INLINE_NS                                                                                                      \
    30u /* what a call from C, as ours, takes longer than one that the interpreter makes by itself. Measured. */

struct samples {
    uint32_t n;
    uint64_t at[MAX_TRIALS]; /* nanoseconds, ascending */
};

struct jy_trial {
    struct jy_terms t_terms;
    PyThreadState *t_thread; /* of the timed call that is under way; NULL: none */
    bool t_plain_now, t_spoiled;
    uint32_t t_turns, t_warm;
    struct samples t_plain, t_compiled;
};

struct jy_trial *
jy_trial_new(struct jy_terms terms)
{
    struct jy_trial *t = calloc(1, sizeof(*t));
    if (t != NULL)
        t->t_terms = terms;
    return t;
}

void
jy_trial_free(struct jy_trial *trial)
{
    free(trial);
}

bool
jy_trial_is_running(struct jy_trial *t, bool *plain)
{
    if (t->t_thread == NULL)
        return false;
    bool own = t->t_thread == PyThreadState_Get();
    t->t_spoiled |= !own;
    *plain = own && t->t_plain_now;
    return true;
}

/* The mean of the middle half: other programs may get the processor in the middle of any call, and the clock may tick in steps as long as a short call. */
static double
middle(const struct samples *samples)
{
    uint32_t from = samples->n / 4, to = samples->n - from;
    double sum = 0;
    for (uint32_t k = from; k < to; k++)
        sum += (double)samples->at[k];
    return samples->n == 0 ? 0 : sum / (to - from);
}

void
jy_trial_middles(const struct jy_trial *t, double *compiled, double *plain)
{
    *compiled = middle(&t->t_compiled);
    *plain = middle(&t->t_plain);
}

static uint64_t
now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* How long the interpreter takes for a call of a function that is left to it. */
static uint64_t
without_our_entry(uint64_t elapsed)
{
    uint64_t saved = jy_compat_has_function_vectorcall() ? INLINE_NS : 0;
    return elapsed > saved ? elapsed - saved : 0;
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

/* Mann and Whitney's rank sum: of all pairs of a plain and a compiled turn, how many more than half have the compiled one faster, in standard deviations of chance. Arguments may
 * differ from call to call by any factor, so that medians alone say little. */
static double
advantage(const struct samples *compiled, const struct samples *plain)
{
    double pairs = (double)compiled->n * plain->n, faster = 0;
    for (uint32_t c = 0, below = 0, upto = 0; c < compiled->n; c++) {
        while (below < plain->n && plain->at[below] < compiled->at[c])
            below++;
        while (upto < plain->n && plain->at[upto] <= compiled->at[c])
            upto++;
        faster += plain->n - 0.5 * (below + upto);
    }
    return (faster - pairs / 2) / sqrt(pairs * (compiled->n + plain->n + 1) / 12);
}

/* A long plain call that costs the program several compiled ones is not repeated without need. */
static bool
is_clear_gain(const struct samples *compiled, const struct samples *plain)
{
    return compiled->n >= 2 && plain->n >= 2 && plain->at[0] > LONG_NS &&
           plain->at[0] > 2 * compiled->at[compiled->n - 1];
}

static enum jy_verdict
judge(const struct jy_trial *t, const struct jy_function *f)
{
    const struct samples *c = &t->t_compiled, *p = &t->t_plain;
    double compiled = middle(c), plain = middle(p);
    bool sure = t->t_terms.sure, gains = 100 * compiled<(100 - t->t_terms.gain) * plain, loses = compiled> plain;
    uint32_t n = c->n < p->n ? c->n : p->n;
    if (f->f_off || (t->t_turns >= PATIENCE && f->f_stats.compiles == 0) || t->t_turns >= 8 * MAX_TRIALS)
        return sure ? JY_VERDICT_KEEP : JY_VERDICT_LEAVE;
    if (n < TRIALS)
        return sure && is_clear_gain(c, p) ? JY_VERDICT_KEEP : JY_VERDICT_NONE;
    if (gains && (!sure || advantage(c, p) > SURE))
        return JY_VERDICT_KEEP;
    if (n >= MAX_TRIALS)
        return sure && !loses ? JY_VERDICT_KEEP : JY_VERDICT_LEAVE;
    return n >= 2 * TRIALS && loses && (!sure || advantage(c, p) < -SURE) ? JY_VERDICT_LEAVE : JY_VERDICT_NONE;
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
    t->t_thread = PyThreadState_Get();
    t->t_plain_now = !turn->compiled;
    t->t_spoiled = false;
    turn->begun = now_ns();
}

enum jy_verdict
jy_turn_end(struct jy_function *f, struct jy_turn *turn, bool succeeded)
{
    turn->elapsed = now_ns() - turn->begun;
    struct jy_trial *t = turn->trial;
    if (f->f_trial != t) /* it was ended meanwhile */
        return JY_VERDICT_NONE;
    t->t_thread = NULL;
    /* A call that compiles, fails or is watched says nothing. */
    if (succeeded && !t->t_spoiled && turn->attempts == attempts_of(f) && turn->watched == f->f_stats.watched_calls &&
        f->f_stats.compiles != 0) {
        if (turn->compiled)
            add_sample(&t->t_compiled, turn->elapsed);
        else if (turn->elapsed > LONG_NS || ++t->t_warm > WARM)
            add_sample(&t->t_plain, without_our_entry(turn->elapsed));
    }
    return judge(t, f);
}
