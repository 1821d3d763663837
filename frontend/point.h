/* A place where a function's new code is left: the last item of a continuation, which is a tuple (value stack, locals and cells, point). Only new code makes one, and only the driver
 * (runtime/entry.c) sees it. */
#ifndef JY_FRONTEND_POINT_H
#define JY_FRONTEND_POINT_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

struct jy_point {
    PyObject_VAR_HEAD PyObject *code; /* the original */
    uint32_t offset;  /* of the instruction before which the code was left, in units of the original code */
    uint32_t depth;   /* items of the value stack */
    uint32_t nlocals; /* locals and cells, no free variables */
    bool is_plain; /* the instruction there is for the interpreter: compiled code may take over behind it, not at it */
    uint8_t is_wrapped[1]; /* by item: it comes in a cell, which is empty for a local that is unbound (3.11) */
};

extern PyTypeObject jy_point_type;

/* may_leave: what the truth of a point is, asked where new code is about to leave there. -1 with an exception */
int jy_point_init(inquiry may_leave);
/* refs: code borrowed, returns new; nothing is wrapped */
struct jy_point *jy_point_new(PyObject *code, uint32_t offset, size_t depth, size_t nlocals);

#endif
