/* NumPy's inner loops, and what has to be known about how NumPy sums. */
#ifndef JY_RUNTIME_LOOPS_H
#define JY_RUNTIME_LOOPS_H

#include "graph/call.h"
#include "graph/op.h"

int jy_loops_init(void); /* -1 with an exception */
/* The loop NumPy itself would take for operands (inputs, then output) of these dtypes. fn is NULL when there is none.
 * */
struct jy_loop_fn jy_loops_find(jy_op op, size_t nin, const jy_dtype *dtypes);
/* Has that loop a vector function? Fits jy_has_vector. */
bool jy_loops_have_vector(jy_op op, jy_dtype dtype);
const struct jy_helpers *jy_loops_helpers(void);
/* Whether this NumPy cuts runs of a sum into pieces of the ufunc buffer size (before 2.3), or has one tree. */
bool jy_loops_sums_in_pieces(void);
/* The ufunc object of `op` (borrowed), or NULL. */
void *jy_loops_ufunc(jy_op op);

#endif
