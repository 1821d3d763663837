/* Elements of one dtype as another, as NumPy's casts have them. */
#ifndef JY_RUNTIME_FLOW_CAST_H
#define JY_RUNTIME_FLOW_CAST_H

#include <stdbool.h>
#include <stdint.h>
#include "graph/dtype.h"

/* n elements from `from` on, with strides in bytes, to `to`. False: one of them has no value there that does not depend on the machine, or would be warned of; status flags tell of overflow, and of floats that an integer does not hold (invalid). */
typedef bool jy_cast_fn(const char *from, int64_t from_stride, char *to, int64_t to_stride, int64_t n);
/* NULL: there is none. */
jy_cast_fn *jy_cast_of(jy_dtype from, jy_dtype to);

#endif
