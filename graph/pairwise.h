/* NumPy's pairwise summation order, as a walk over the leaves of its tree, so that any producer of leaf sums can be plugged in.
 *
 *     for (n = jy_pairwise_begin(&s, count, chunk); n != 0; n = jy_pairwise_next_f64(&s, leaf))
 *         leaf = jy_pairwise_leaf of the n elements from s.start
 *     result: s.value.d
 *
 * A run of more than 128 elements is split at half, rounded down to a multiple of 8; a leaf of fewer than 8 elements is added one by one from -0.0, a larger one in eight accumulators
 * combined ((0+1)+(2+3))+((4+5)+(6+7)), then the rest one by one. NumPy before 2.3 cuts the run into pieces of `chunk` elements and adds the pieces'
 * sums in order from +0.0; later versions have one tree (chunk = INT64_MAX). Checked against NumPy by the differential tests. */
#ifndef JY_GRAPH_PAIRWISE_H
#define JY_GRAPH_PAIRWISE_H

#include "graph/dtype.h"

#define JY_PAIRWISE_LEAF 128
#define JY_PAIRWISE_DEPTH 64

struct jy_pairwise {
    int64_t start; /* of the current leaf; ORDER pairwise: backend_llvm reads this field and `value` */
    union jy_scalar
        value; /* result when the walk has ended; of an empty run -0.0 (as float32: +0.0; an accumulator that starts at +0.0 sees neither) */
    int64_t left, chunk; /* elements after the current piece; piece length */
    union jy_scalar pieces;
    int32_t depth;
    int64_t pending_start[JY_PAIRWISE_DEPTH], pending_n[JY_PAIRWISE_DEPTH]; /* right halves still to do */
    union jy_scalar partial[JY_PAIRWISE_DEPTH];
    uint8_t half_done[JY_PAIRWISE_DEPTH];
    int64_t next; /* first element after the current piece */
};

/* Both return the number of elements of the (next) leaf, 0 at the end. */
int64_t jy_pairwise_begin(struct jy_pairwise *s, int64_t n, int64_t chunk);
int64_t jy_pairwise_next_f64(struct jy_pairwise *s, double leaf);
int64_t jy_pairwise_next_f32(struct jy_pairwise *s, float leaf);
/* Leaf sums of n <= 128 elements, `stride` in bytes. */
double jy_pairwise_leaf_f64(const char *data, int64_t n, int64_t stride);
float jy_pairwise_leaf_f32(const char *data, int64_t n, int64_t stride);

#endif
