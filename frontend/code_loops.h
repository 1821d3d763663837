/* The loops of a code object as its bytecode has them, for reports: where each begins and ends, its line, and what stands in what. */
#ifndef JY_FRONTEND_CODE_LOOPS_H
#define JY_FRONTEND_CODE_LOOPS_H

#include "frontend/cpython/instr.h"
#include "graph/flow_report.h"

struct jy_code_loop {
    int first,
        last; /* ids: the head, and the last instruction that jumps back to it. What handlers do behind the function's end is not between them */
    uint32_t line, last_line;
    uint8_t kind; /* FOR, WHILE or COMPREHENSION of enum jy_report_kind */
    int around;   /* index of the loop that it stands in; -1: none */
};

struct jy_code_loops {
    struct {
        struct jy_code_loop *at; /* outer ones before those in them, else in the order of the program */
        size_t n, cap;
    } list;
    int *innermost; /* by id: the index of its loop; JY_IN_NO_LOOP, JY_IN_HANDLER */
};

enum {
    JY_IN_NO_LOOP = -1,
    JY_IN_HANDLER = -2
}; /* the latter: code of a handler, which stands behind the others; of which loop it is is not known */

struct jy_code_loops *jy_code_loops_find(struct jy_arena *arena, const struct jy_code *code);

#endif
