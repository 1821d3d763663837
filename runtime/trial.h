/* A trial by the clock: a function's calls run compiled and plain in turns and are timed, until it is clear which is faster.
 *
 * Who tries a function sends its calls through jy_turn_begin and jy_turn_end; what a plain turn does is what the program does, so results never differ. */
#ifndef JY_RUNTIME_TRIAL_H
#define JY_RUNTIME_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

struct jy_function;
struct jy_trial;

enum jy_verdict {
    JY_VERDICT_NONE, /* not yet */
    JY_VERDICT_KEEP, /* compiled code is faster */
    JY_VERDICT_LEAVE /* it is not */
};

/* Who asks for the trial: what is kept has to gain so many percent, and must a verdict before the last turn be beyond doubt? */
struct jy_terms {
    uint32_t gain;
    bool sure;
};

struct jy_trial *jy_trial_new(struct jy_terms terms); /* NULL: no memory; no exception */
void jy_trial_free(struct jy_trial *trial);
/* Is a timed call under way? A call that comes meanwhile is part of it, and *plain says how it is to run; one of another thread makes it worthless. */
bool jy_trial_is_running(struct jy_trial *trial, bool *plain);
/* What a turn has taken so far, nanoseconds. */
void jy_trial_middles(const struct jy_trial *trial, double *compiled, double *plain);

/* A timed call. */
struct jy_turn {
    struct jy_trial *trial;
    uint64_t attempts, watched, begun, elapsed;
    bool compiled; /* how it is to run */
};

/* refs: a new one to the function, and with it the state, which the caller gives back behind jy_turn_end */
void jy_turn_begin(struct jy_turn *turn, struct jy_function *function);
/* A verdict ends nothing by itself: the caller acts on it. */
enum jy_verdict jy_turn_end(struct jy_function *function, struct jy_turn *turn, bool succeeded);

#endif
