/* Instructions that versions spell differently, appended at the end of a decoded code object. Each returns the id of the last instruction, or -1 with an exception. */
#ifndef JY_FRONTEND_CPYTHON_EMIT_H
#define JY_FRONTEND_CPYTHON_EMIT_H

#include "frontend/cpython/edit.h"

/* A call is begun by jy_emit_callable_global, followed by code that pushes `nargs` values, and ended by jy_emit_call. */
int jy_emit_callable_global(struct jy_code *code, PyObject *name);
int jy_emit_callable_const(struct jy_code *code, PyObject *callable);
int jy_emit_call(struct jy_code *code, int nargs);
/* STORE_ATTR and the like, with their name. */
int jy_emit_named(struct jy_code *code, int op, PyObject *name);
/* A function of `body`; defaults, keyword defaults, annotations and closure stand on the stack in this order, those that it has. */
int jy_emit_make_function(struct jy_code *code, PyObject *body, const bool has[4]);
/* The cell in a slot itself. */
int jy_emit_load_cell(struct jy_code *code, int slot);
/* Moves a local that may be unbound to the stack, as NULL then. Where the version cannot, it comes in a cell that may be empty: true. */
bool jy_emit_take_local(struct jy_code *code, int local);
int jy_emit_load_global(struct jy_code *code, PyObject *name);
int jy_emit_load_attr(struct jy_code *code, PyObject *name);
int jy_emit_load_const(struct jy_code *code, PyObject *value);
/* Free variable number `index`. */
int jy_emit_load_free(struct jy_code *code, int index);
/* Jumps to a later instruction when the bool on the stack is false; set the target with jy_edit_set_target. */
int jy_emit_pop_jump_if_false(struct jy_code *code);
/* The same when the object on the stack, whatever it is, is true. */
int jy_emit_pop_jump_if_truthy(struct jy_code *code);

#endif
