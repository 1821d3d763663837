/* Code object -> struct jy_code: real opcodes with whole arguments, jumps as ids, the exception table, a position each.
 * Reads co_code, which is free of specialisation and instrumentation.  Refuses (JY_BREAK, c_error says why) an opcode that
 * has no row, a jump into the middle of an instruction and a table that does not parse. */
#ifndef JY_FRONTEND_CPYTHON_DECODE_H
#define JY_FRONTEND_CPYTHON_DECODE_H

#include "frontend/cpython/instr.h"

/* refs: origin borrowed, must outlive *out.  *out is set also with JY_BREAK, for its c_error. */
jy_status jy_decode_code(struct jy_code **out, struct jy_arena *arena, PyObject *origin);

/* Drops what edits made the code own.  The memory stays the arena's. */
void jy_decode_release(struct jy_code *code);

#endif
