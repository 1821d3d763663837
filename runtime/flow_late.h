/* An operation that a run has done already, over one of its operands, and whose report is left to the interpreter.
 *
 *     x -= y:  NumPy's loop writes x ──▶ flags ──▶ the flow is left in front of the instruction, with another left operand ──▶ that reports, as NumPy does, and gives x
 *
 * So it is where the result of `x + y` takes the place of an operand that nobody else has (enum jy_vector_over). NumPy reports behind the last element, too: whatever hears of it - a warning's filter, a hook, a handler - sees the new elements. To put back the old ones would take a copy of the array at each
 * operation, or a second pass; on long rows that is as much work as the operation. */
#ifndef JY_RUNTIME_FLOW_LATE_H
#define JY_RUNTIME_FLOW_LATE_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

struct jy_flow_late {
    PyObject *ufunc; /* borrowed: of the unit */
    uint32_t flags;  /* enum jy_fp; 0: there is nothing to report */
    uint8_t over;    /* enum jy_vector_over */
};

/* Puts what stands in for the result, until the instruction is performed, onto the stack whose items end there: in place of the first operand. False: an exception */
bool jy_flow_late_put(PyObject **end, const struct jy_flow_late *late);
int jy_flow_late_init(void); /* -1 with an exception */

#endif
