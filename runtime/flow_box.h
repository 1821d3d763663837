/* From the machine values of a flow's exit to objects: the result of the function, or a continuation (start.h). */
#ifndef JY_RUNTIME_FLOW_BOX_H
#define JY_RUNTIME_FLOW_BOX_H

#include <Python.h>
#include "frontend/point.h"
#include "graph/unit.h"

struct jy_boxing; /* the boxes of one exit, parts first, each once; in the unit's arena */

struct jy_boxing *jy_boxing_new(struct jy_arena *arena, const struct jy_flow_exit *exit);
/* values: what the machine code stored; inputs: of the unit; point: NULL for RETURN. refs: returns new; NULL with an exception, which is a MemoryError */
PyObject *jy_boxing_make(const struct jy_boxing *boxing, const struct jy_unit *unit, const union jy_scalar *values,
                         PyObject *const *inputs, struct jy_point *point);

#endif
