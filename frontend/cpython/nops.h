/* An edit that changes where every instruction stands and nothing else: what tests do to a code object. */
#ifndef JY_FRONTEND_CPYTHON_NOPS_H
#define JY_FRONTEND_CPYTHON_NOPS_H

#include "frontend/cpython/instr.h"

/* NOPs before `count` instructions of the original drawn by *random, the state of jy_nops_random; fewer where none may stand. */
void jy_nops_insert(struct jy_code *code, int count, uint64_t *random);
uint64_t jy_nops_random(uint64_t *random);

#endif
