/* Exceptions and context managers. A try block whose body raises nothing is straight-line code; everything that handles or raises one breaks, and the
 * original runs. */
#include "frontend/ops.h"

jy_status
op_before_with(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return jy_break(f, JY_BREAK_EXCEPTION_HANDLING, "with %s", jy_value_describe(f, *jy_peek(f, 1)));
}
