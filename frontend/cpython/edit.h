/* Changes to a decoded code object.  Ids stay valid; see instr.h. */
#ifndef JY_FRONTEND_CPYTHON_EDIT_H
#define JY_FRONTEND_CPYTHON_EDIT_H

#include "frontend/cpython/instr.h"

/* The id of a new instruction directly before or behind `at`, with at's position.  Jumps to `at` still go to `at`, and
 * exception ranges keep their ends: what stands before the first instruction of a range is outside of it. */
int jy_edit_insert_before(struct jy_code *code, int at, int op, int arg);
int jy_edit_insert_after(struct jy_code *code, int at, int op, int arg);
/* At the end, or before c_cursor. */
int jy_edit_append(struct jy_code *code, int op, int arg);

/* An instruction that jumps to `target`: `condition` is the opcode of this version (JUMP_FORWARD for a plain one); the
 * direction is put right when assembling where the version has an opcode for each. */
void jy_edit_set_target(struct jy_code *code, int id, int target);

/* Makes the instruction emit nothing.  Jumps to it reach the next live one. */
void jy_edit_delete(struct jy_code *code, int id);

/* Takes deleted instructions out of the list, so that nothing has to step over them any more. References to them still mean the next live one. */
void jy_edit_unlink_dead(struct jy_code *code);

/* Jumps and handlers that go to `from` go to `to` instead. */
void jy_edit_retarget(struct jy_code *code, int from, int to);

/* Protects [start, end) by a handler; the range must not overlap others. */
void jy_edit_add_handler(struct jy_code *code, struct jy_handler handler);

/* Whether `id` must stay directly behind its predecessor: the interpreter looks at neighbours (a generator's YIELD_VALUE
 * and RESUME, 3.11's PRECALL and CALL, the END_FOR of a loop, a COPY_FREE_VARS that must come first). */
bool jy_edit_is_glued(const struct jy_code *code, int id);

/* Does the instruction name a cell or free variable, which moves when locals are added? */
bool jy_edit_names_cell(const struct jy_code *code, const struct jy_instr *instr);

/* Indices into co_consts, co_names; names are compared, constants are never merged.  -1 with an exception. */
int jy_edit_add_const(struct jy_code *code, PyObject *value); /* refs: takes its own */
int jy_edit_add_name(struct jy_code *code, PyObject *name);

/* Replaces a constant.  refs: takes its own; 0, or -1 with an exception. */
int jy_edit_set_const(struct jy_code *code, int index, PyObject *value);

/* A new local; cells and free variables move up by one and every instruction that names them is changed.
 * It shows in locals() while it is bound: delete it before user code can look.  -1 with an exception. */
int jy_edit_add_local(struct jy_code *code, PyObject *name);

#endif
