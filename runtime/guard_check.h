/* How guards are checked. A unit's guards become a program of two parts: what depends only on module dictionaries is checked again only when one of
 * them has changed (version tags); the rest is checked at each call, in the order in which the frontend wrote it. */
#ifndef JY_RUNTIME_GUARD_CHECK_H
#define JY_RUNTIME_GUARD_CHECK_H

#include <Python.h>
#include "graph/unit.h"

struct jy_guard_program;

/* The unit must outlive the program. NULL with *why when the unit cannot be guarded. `function`: the function object. */
struct jy_guard_program *jy_guards_new(const char **why, const struct jy_unit *unit, PyObject *function);
void jy_guards_free(struct jy_guard_program *program);

enum jy_guard_result { JY_GUARDS_HOLD, JY_GUARDS_MISS, JY_GUARDS_ERROR };

/* Room for the values of a call. */
struct jy_guard_values {
    PyObject **inputs; /* per graph input, borrowed from slots, containers and `owned` */
    PyObject **values; /* per source */
    PyObject **owned;
    size_t nowned;
    PyObject *const *slots; /* what was checked */
};

size_t jy_guards_room(const struct jy_guard_program *program); /* bytes that `jy_guards_check` wants in `room` */
/* slots: bound parameters. On HOLD out->inputs is filled. *failed: index of the failing guard of a MISS. Always call jy_guards_clear afterwards. */
enum jy_guard_result jy_guards_check(struct jy_guard_values *out, void *room, struct jy_guard_program *program,
                                     PyObject *function, PyObject *const *slots, uint32_t *failed);
/* Whether these are objects that the unit's machine code may be given: the guards on arrays and sizes once more, for callers other than entry. */
bool jy_guards_fit_inputs(const struct jy_unit *unit, PyObject *const *inputs);

static inline void
jy_guards_clear(struct jy_guard_values *values)
{
    for (size_t k = 0; k < values->nowned; k++)
        Py_DECREF(values->owned[k]);
    values->nowned = 0;
}

#endif
