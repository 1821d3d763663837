/* Is it safe to run?  CPython takes any bytes for a code object and crashes on wrong ones, so nothing that we made reaches
 * it unverified: opcodes, argument ranges, jump targets, the exception table, and the stack depth at every instruction. */
#ifndef JY_FRONTEND_CPYTHON_VERIFY_CODE_H
#define JY_FRONTEND_CPYTHON_VERIFY_CODE_H

#include "frontend/cpython/instr.h"

/* JY_OK: fills every i_depth (-1: unreachable) and c_stacksize.  JY_BREAK: c_error names instruction, offset and line. */
jy_status jy_verify_code(struct jy_code *code);

/* The same, and by id the sets of locals that are certainly bound before each instruction, *nwords words of 64 each. */
jy_status jy_verify_code_bound(struct jy_code *code, uint64_t **bound, size_t *nwords);

#endif
