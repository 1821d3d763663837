/* What code generation leaves behind: unreachable code, jumps to the next instruction, and values that nobody takes. */
#ifndef JY_FRONTEND_SWEEP_H
#define JY_FRONTEND_SWEEP_H

#include "frontend/cpython/instr.h"

/* Until nothing changes any more.  Runs the verifier, so JY_BREAK means that the code is not legal (c_error). */
jy_status jy_sweep_code(struct jy_code *code);
/* Exception ranges that protect nothing any more, of code whose dead instructions are unlinked. */
void jy_sweep_handlers(struct jy_code *code);

#endif
