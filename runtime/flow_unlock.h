/* Which runs of a flow go without the GIL: those that are long, where other threads want it, and where nobody could tell. docs/flow.md, Threads. */
#ifndef JY_RUNTIME_FLOW_UNLOCK_H
#define JY_RUNTIME_FLOW_UNLOCK_H

#include <Python.h>
#include "graph/unit.h"

struct jy_flow_unlock {
    const char *why; /* never; NULL: where the rest fits */
    bool *stays;     /* per input of the unit: each exit of the flow, its RETURNs excepted, still shows that object */
    bool *read;      /* per input of the unit: the flow looks into that object */
    size_t nslots;   /* objects that the frame begins with */
    bool is_polled;  /* runs were ended for the interpreter: those that come are timed */
    uint8_t credit;  /* so many runs yet that are expected to be long */
    uint64_t runs;
};

/* Runs under the arena's guard. */
void jy_flow_unlock_prepare(struct jy_flow_unlock *out, const struct jy_unit *unit, size_t nslots);
/* Is there another thread, and does nobody notice when these objects live until the run is over? */
bool jy_flow_unlock_fits(const struct jy_flow_unlock *unlock, const struct jy_unit *unit, PyObject *const *slots,
                         PyObject *const *inputs);
/* A run that was timed. unlocked: it went without the GIL. polled: it was ended for the interpreter. */
void jy_flow_unlock_judge(struct jy_flow_unlock *unlock, double ms, bool unlocked, bool polled);

#endif
