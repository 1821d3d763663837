/* Exceptions while tracing.
 *
 * An exception that the program raises is a JY_V_EXCEPTION value. Raising one answers JY_BREAK with `f_trace->raised` set: every function on the way hands the break on, and the loop
 * of interp.c asks jy_exception_unwind, which goes on at the frame's handler. Without a handler the frame ends, and the frame that called it looks in turn; at the root it is a break
 * like any other, so the original raises from its own line.
 *
 * No recipe makes such a value. It may live and die inside a unit, and a unit that would end while one lives ends before the instruction that made it. So tracebacks need no modelling:
 * nobody sees one. What would be seen is either true (class, args, cause, context, attributes, text) or breaks.
 *
 * A function that raises has changed nothing that the operation would have left unchanged: from JY_BREAK alone the trace is thrown away, from a raise it goes on. */
#ifndef JY_FRONTEND_EXCEPTION_H
#define JY_FRONTEND_EXCEPTION_H

#include "frontend/interp.h"

/* All answer JY_BREAK (or JY_ERROR where memory ran out): `return jy_raise(...)`. The reason is what is recorded when nobody handles it. */
jy_status jy_raise(struct jy_frame *f, enum jy_break_reason reason, struct jy_value *exception);
/* The same exception once more: RERAISE and a bare raise. */
jy_status jy_raise_again(struct jy_frame *f, struct jy_value *exception);
/* A builtin exception class called with `args`. */
jy_status jy_raise_new(struct jy_frame *f, PyObject *type, size_t n, struct jy_value *const *args);
/* The Python exception that is set: the frontend performed the very operation on the program's own objects, or on others that give the same class and args. MemoryError and its like
 * are errors; what is no plain exception breaks. */
jy_status jy_raise_from_exception(struct jy_frame *f);

/* After JY_BREAK: has the program raised an exception of this class? */
bool jy_is_raised(const struct jy_frame *f, PyObject *type);
/* Takes the exception that is on its way: it is handled. */
struct jy_value *jy_exception_take(struct jy_frame *f);
/* After JY_BREAK in an operation that had changed something by then: if the exception came from a call inside it, it cannot be followed any more. */
void jy_exception_stop(struct jy_frame *f);

/* What becomes of an exception that leaves a generator: a StopIteration is turned into a RuntimeError. */
struct jy_value *jy_exception_turned(struct jy_frame *f, struct jy_value *exception);
/* ... of the one that is on its way. */
void jy_exception_turn(struct jy_frame *f);

/* JY_OK: the frame goes on at its handler. */
jy_status jy_exception_unwind(struct jy_frame *f, uint32_t depth, uint32_t nesting);

/* What the innermost handler of this frame or of its callers handles; NULL: none, as far as the trace knows. */
struct jy_value *jy_exception_handled(const struct jy_frame *f);

/* ---- the value ---- */

/* klass(*args), an exception class. */
jy_status jy_exception_call(struct jy_frame *f, struct jy_value **out, struct jy_value *klass, size_t nargs,
                            struct jy_value *const *args, PyObject *kwnames);
PyTypeObject *jy_exception_type(const struct jy_value *v);
jy_status jy_exception_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name);
jy_status jy_exception_setattr(struct jy_frame *f, struct jy_value *v, PyObject *name, struct jy_value *value);
/* What super() finds for an exception. */
jy_status jy_exception_super(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *raw,
                             PyObject *name);
/* BaseException.__init__(self, *args) and its like, called through a class; sys.exception(). */
jy_status jy_exception_builtin(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable,
                               size_t nargs, struct jy_value *const *args, PyObject *kwnames);
/* A method of BaseException's own. */
jy_status jy_exception_method(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name,
                              size_t nargs, struct jy_value *const *args, PyObject *kwnames);
jy_status jy_exception_truth(struct jy_frame *f, bool *out, struct jy_value *v);
/* format(v, "") is str(v). */
jy_status jy_exception_check_format(struct jy_frame *f, struct jy_value *v);
/* str(v) */
jy_status jy_exception_text(struct jy_frame *f, struct jy_value **out, struct jy_value *v);
/* A class of the program's keeps its base classes. */
void jy_guard_bases(struct jy_frame *f, PyTypeObject *type);
/* `exc.__class__` derives from one of `classes`, as an except clause asks. */
jy_status jy_exception_matches(struct jy_frame *f, bool *out, PyTypeObject *type, struct jy_value *classes);

#endif
