/* Functions of eight float64 in one register that NumPy's inner loops call: with them a loop of ours computes exp where it
 * needs it, instead of handing tiles to NumPy. */
#ifndef JY_RUNTIME_VECTOR_H
#define JY_RUNTIME_VECTOR_H

#include "graph/call.h"
#include "graph/op.h"

/* What `loop`, the inner loop of `op` from float64 to float64, calls; NULL where it has no such function, this CPU not the
 * registers, or a trial told the two apart. */
void *jy_vector_find(jy_op op, const struct jy_loop_fn *loop);

#endif
