/* The calling convention of compiled kernels: int32_t kernel(struct jy_call *).
 * ORDER call: backend_llvm/types.c mirrors these structs, with static assertions. */
#ifndef JY_GRAPH_CALL_H
#define JY_GRAPH_CALL_H

#include "graph/graph.h"
#include "graph/pairwise.h"
#include <stdint.h>

struct jy_desc {
    char *data;                  /* of element 0,0,... */
    int64_t stride[JY_MAX_NDIM]; /* bytes */
};

#define JY_VECTOR_LANES 8 /* of a vector function: float64 in 512 bits */

/* One inner loop of a NumPy ufunc with its private datum. `vector` is what that loop calls for JY_VECTOR_LANES elements at
 * a time, operands and result in vector registers, each lane by itself; NULL where there is no such function. */
struct jy_loop_fn {
    void (*fn)(char **args, const intptr_t *dims, const intptr_t *strides, void *data);
    void *data;
    void *vector;
};

/* Functions that kernels call; rows of graph/kernels.def. */
struct jy_helpers {
#define KERNEL(name, result, args) result(*name) args;
#include "graph/kernels.def"
#undef KERNEL
};

enum jy_call_status {
    JY_CALL_RERUN =
        1, /* something that only the original can report happened (integer overflow of a NumPy scalar, ...): throw results away, run the original */
};

struct jy_call {
    struct jy_desc *desc;          /* per buffer of the plan */
    const int64_t *size;           /* per size slot of the plan */
    union jy_scalar *scalar;       /* per scalar slot of the plan */
    const struct jy_loop_fn *loop; /* per inner loop of the plan */
    const struct jy_helpers *helper;
    char *tile;        /* p_tile_bytes of scratch, aligned to 64 bytes */
    int64_t sum_chunk; /* for jy_pairwise_begin */
    uint32_t status;   /* enum jy_call_status, ORed in by kernels */
};

/* 0: done. Nothing else is returned by array kernels. */
typedef int32_t (*jy_kernel_fn)(struct jy_call *call);

#endif
