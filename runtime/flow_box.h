/* From the machine values of a flow's exit to objects: the result of the function, or what its frames hold. */
#ifndef JY_RUNTIME_FLOW_BOX_H
#define JY_RUNTIME_FLOW_BOX_H

#include <Python.h>
#include "frontend/point.h"
#include "graph/unit.h"

struct jy_vectors;
struct jy_boxing; /* the boxes of one exit, parts first, each once; in the unit's arena */

struct jy_boxing *jy_boxing_new(struct jy_arena *arena, const struct jy_flow_exit *exit);
/* The items of the exit's frames, the own one first, each stack before locals, NULL where there is none; of RETURN the result. values: what the machine code stored; inputs: of the unit.
 * vectors: of the run, which is left: its large arrays become those of the exit.
 * refs: out gets new ones, as many as jy_boxing_count says. False: an exception, which is a MemoryError */
bool jy_boxing_make(PyObject **out, const struct jy_boxing *boxing, const struct jy_unit *unit,
                    const union jy_scalar *values, PyObject *const *inputs, struct jy_vectors *vectors);
/* Does it make arrays on the memory of arrays that came in? */
bool jy_boxing_has_views(const struct jy_boxing *boxing);
size_t jy_boxing_count(const struct jy_boxing *boxing);

#endif
