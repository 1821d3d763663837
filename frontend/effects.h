/* The ledger: what the trace changes in objects that existed before it, or that outlive it. It is replayed in program order after the graph call.
 *
 * A handler that records an effect also changes the symbolic value, so that the trace reads what the program would; and it records only when it is certain not to break any more.
 * Recording fixes nothing: targets, keys and values become recipes when the unit ends, so a list that is stored first and filled later is stored filled. */
#ifndef JY_FRONTEND_EFFECTS_H
#define JY_FRONTEND_EFFECTS_H

#include "frontend/frame.h"

/* For the kinds of unit.h but CALL; key and value as the kind needs them, else NULL. */
void jy_effect_add(struct jy_frame *f, enum jy_effect_kind kind, struct jy_value *target, PyObject *name,
                   struct jy_value *key, struct jy_value *value);
/* callable(*args), a C function or method descriptor that runs no code of the program's (list.append of an exact list, ...); its result is dropped. */
void jy_effect_add_call(struct jy_frame *f, PyObject *callable, size_t nargs, struct jy_value *const *args);

#endif
