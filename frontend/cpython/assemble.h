/* struct jy_code -> code object: EXTENDED_ARG and jumps to a fixed point, caches, stack size, exception table and location
 * table by each version's own rules.  What was decoded and not edited comes back byte for byte.
 * Everything is verified first (verify_code.h), since CPython checks nothing. */
#ifndef JY_FRONTEND_CPYTHON_ASSEMBLE_H
#define JY_FRONTEND_CPYTHON_ASSEMBLE_H

#include "frontend/cpython/instr.h"

/* refs: returns new in *out.  JY_BREAK: not legal code, c_error says why; JY_ERROR: an exception is set.
 * Name, file, flags, signature, cells and free variables are the original's. */
jy_status jy_assemble_code(PyObject **out, struct jy_code *code);

/* Decodes, lets the callback edit, assembles, in an arena of its own.  The callback answers JY_OK, or what else this shall
 * answer.  Code that is not legal is JY_ERROR with a ValueError here, as c_error dies with the arena. */
typedef jy_status (*jy_code_editor)(struct jy_code *code, void *context);
jy_status jy_transform_code_object(PyObject **out, PyObject *origin, jy_code_editor edit, void *context);
/* The same for code that is decoded already: edits a copy (stretch.h), in which what has one of these offsets is sure to stand by itself. */
struct jy_original;
struct jy_stretches;
jy_status jy_transform_original(PyObject **out, const struct jy_original *original,
                                const struct jy_stretches *stretches, const uint32_t *offsets, size_t noffsets,
                                jy_code_editor edit, void *context);
/* The location table of unedited code, and where its runs are: fills s_run, s_place, s_line, s_table. */
void jy_assemble_locations(struct jy_stretches *out, struct jy_code *code);

#endif
