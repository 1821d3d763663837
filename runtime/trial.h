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

struct jy_trial *jy_trial_new(void); /* NULL: no memory; no exception */
void jy_trial_free(struct jy_trial *trial);
bool jy_trial_is_running(const struct jy_trial *trial); /* a timed call is under way: what it calls is part of it */

/* A timed call. */
struct jy_turn {
    struct jy_trial *trial;
    uint64_t attempts, watched, begun;
    bool compiled; /* how it is to run */
};

/* refs: a new one to the function, and with it the state, which the caller gives back behind jy_turn_end */
void jy_turn_begin(struct jy_turn *turn, struct jy_function *function);
/* A verdict ends nothing by itself: the caller acts on it. */
enum jy_verdict jy_turn_end(struct jy_function *function, const struct jy_turn *turn, bool succeeded);

#endif
