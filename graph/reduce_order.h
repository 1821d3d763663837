/* In which runs NumPy's reductions visit the elements of an operand: its iteration order, and what one call of the inner loop covers.
 *
 *     jy_reduce_order_begin(&o, ndim, extents, strides, axes, itemsize, chunk);
 *     while (jy_reduce_order_next(&o))
 *         o.folds:  the o.n elements from position o.start belong to one result element: acc = acc op fold(run)
 *         else:     each belongs to its own: result[...] = result[...] op element
 *
 * Positions count elements in iteration order; jy_reduce_order_place turns one into the operand's byte offset and the number of the result element. */
#ifndef JY_GRAPH_REDUCE_ORDER_H
#define JY_GRAPH_REDUCE_ORDER_H

#include "graph/graph.h"

#define JY_REDUCE_BUFFER 8192 /* NumPy's default buffer, in elements */

struct jy_reduce_dim {
    int64_t n, in,
        out; /* extent; strides of operand (bytes) and of a result in iteration order (elements; 0: folded) */
};

struct jy_reduce_order {
    bool folds;       /* the current run goes into one result element */
    bool gathered;    /* NumPy copies the run's elements together; else they have one stride */
    int64_t start, n; /* the current run */
    /* the operand, innermost axis first */
    uint8_t ndim;
    struct {
        int64_t n, in, out;
    } axis[JY_MAX_NDIM]; /* `out`: in a C-ordered result */
    /* neighbouring axes that are one for operand and result are joined */
    uint8_t ndims;
    struct jy_reduce_dim dim[JY_MAX_NDIM];
    /* the plan */
    int64_t total, core, piece, piece_end, block;
    uint8_t outer; /* the dim that pieces may not cross */
    bool two, whole_blocks, buffered;
};

/* `chunk` is jy_graph_io.sum_chunk: INT64_MAX from NumPy 2.3 on (buffers are planned), else the buffer size (the run of an element is cut into pieces). */
void jy_reduce_order_begin(struct jy_reduce_order *o, size_t ndim, const int64_t *extents, const int64_t *strides,
                           uint32_t axes, size_t itemsize, int64_t chunk);
bool jy_reduce_order_next(struct jy_reduce_order *o);
void jy_reduce_order_place(int64_t *in, int64_t *out, const struct jy_reduce_order *o, int64_t position);

#endif
