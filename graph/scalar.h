/* The meaning of every EW operation and of every cast on one element, bit for bit NumPy's, FP status flags included.
 * Both interpreters (graph_eval.c, loop_eval.c) are made of these functions, and so are constant folding and the backend's tests. */
#ifndef JY_GRAPH_SCALAR_H
#define JY_GRAPH_SCALAR_H

#include "graph/base/text.h"
#include "graph/dtype.h"
#include "graph/op.h"

/* `op` of class EW on operands of `dtype` (of `where`: the dtype of operands 1 and 2; operand 0 is bool). The result has the dtype that
 * jy_scalar_result_dtype says. `status` (may be NULL: arrays wrap in silence): JY_CALL_RERUN is ORed in when an integer operation
 * overflows, which on Python ints and NumPy scalars only the original can report. */
union jy_scalar jy_scalar_apply(jy_op op, jy_dtype dtype, const union jy_scalar *args, uint32_t *status);
/* Is `op` of class EW defined on operands of that dtype? (The column of scalar.def is not X.) */
bool jy_scalar_has(jy_op op, jy_dtype dtype);
/* Of elementwise `op` on operands of `dtype`. */
jy_dtype jy_scalar_result_dtype(jy_op op, jy_dtype dtype);
union jy_scalar jy_scalar_cast(jy_dtype from, jy_dtype to, union jy_scalar value);

union jy_scalar jy_scalar_load(jy_dtype dtype, const void *at);
void jy_scalar_store(jy_dtype dtype, void *at, union jy_scalar value);

/* Text of a value: "True", "-7", the shortest decimal that reads back to the same bits ("0.1", "1e+300"), "inf", "nan" or "nan(0x7ff8000000000001)".
 * Both use the C locale's decimal point whatever the program has set. */
void jy_scalar_print(struct jy_text *text, jy_dtype dtype, union jy_scalar value);
bool jy_scalar_parse(union jy_scalar *out, jy_dtype dtype, const char **at);

#endif
