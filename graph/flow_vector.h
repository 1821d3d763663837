/* Whole arrays inside a flow: what the helpers named vector_* are given.
 *
 * An operation on arrays is one call. Its operands lie where they lie; where they lie and how their elements follow each other is written into the run's *block* before the call, all operands with
 * the axes of the result: an operand that is repeated along an axis has the stride 0 there, a number has nothing but a place in the block. NumPy's own inner loops do the work, so bits and
 * flags are NumPy's.
 *
 * A new array is no object: it has a *slot* of the run's own memory, in C order. Which slots are in use is known where the flow is made - `live` is a bit mask, made of the registers of all arrays
 * that the frame holds - so the helper takes one that is free, and in a loop slots take turns. When the flow is left, an array that the exit names becomes an object with memory of its own.
 * Large ones that are made anew, or copied, lie in an array of NumPy's from the first, which is handed out then.
 *
 * A call that fails has changed nothing but a free slot and the block. */
#ifndef JY_GRAPH_FLOW_VECTOR_H
#define JY_GRAPH_FLOW_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include "graph/dtype.h"

enum { JY_VECTOR_NDIM = 4, JY_VECTOR_OPERANDS = 3, JY_VECTOR_RESULT = 2, JY_VECTOR_SLOTS = 64 };

/* The operand that is the result, or what is written to, is the last one. */
struct jy_vector_block {
    char *data[JY_VECTOR_OPERANDS];
    int64_t extent[JY_VECTOR_NDIM]; /* outermost first */
    int64_t stride[JY_VECTOR_OPERANDS][JY_VECTOR_NDIM];
    union jy_scalar number[JY_VECTOR_OPERANDS]; /* as it lies in an array */
    int64_t slot;                               /* given back: the bit of the result's slot */
};

/* What an operation is, in 64 bits: which of the ufunc's loops, how many inputs, how many axes; the dtype of each operand, and which are numbers. */
struct jy_vector_spec {
    uint32_t loop;
    uint8_t nin, ndim, numbers; /* numbers: bit k: operand k */
    uint8_t dtype[JY_VECTOR_OPERANDS];
    uint8_t axes; /* of a reduction along some: bit d: axis d goes */
    bool keepdims;
    uint8_t over;   /* of a new array, in place of the axes: enum jy_vector_over */
    uint8_t order;  /* of a cast: enum jy_vector_order */
    bool in_pieces; /* of a reduction of all: NumPy casts as it goes, by pieces */
};

static inline int64_t
jy_vector_pack(const struct jy_vector_spec *s)
{
    uint64_t bits = s->loop | (uint64_t)s->nin << 32 | (uint64_t)s->ndim << 36 | (uint64_t)s->numbers << 40;
    for (int k = 0; k < JY_VECTOR_OPERANDS; k++)
        bits |= (uint64_t)s->dtype[k] << (44 + 4 * k);
    bits |= (uint64_t)(s->axes | s->over) << 56 | (uint64_t)s->keepdims << 60 | (uint64_t)s->order << 61 |
            (uint64_t)s->in_pieces << 63;
    return (int64_t)bits;
}

static inline struct jy_vector_spec
jy_vector_unpack(int64_t packed)
{
    uint64_t bits = (uint64_t)packed;
    struct jy_vector_spec s = { .loop = (uint32_t)bits,
                                .nin = bits >> 32 & 15,
                                .ndim = bits >> 36 & 15,
                                .numbers = bits >> 40 & 15,
                                .axes = bits >> 56 & 15,
                                .over = bits >> 56 & 15,
                                .keepdims = bits >> 60 & 1,
                                .order = bits >> 61 & 3,
                                .in_pieces = bits >> 63 };
    for (int k = 0; k < JY_VECTOR_OPERANDS; k++)
        s.dtype[k] = bits >> (44 + 4 * k) & 15;
    return s;
}

/* A new array that takes the place of an operand which only the stack has, as NumPy does with long ones: that of the instruction's first or second operand. With one operand there is no other. */
enum jy_vector_over { JY_VECTOR_OVER_NONE, JY_VECTOR_OVER_FIRST, JY_VECTOR_OVER_SECOND, JY_VECTOR_OVER_ONLY };

/* A copy is in C order; where NumPy's, or the result of what it is an operand of, would not be, the helper fails. */
enum jy_vector_order { JY_VECTOR_ANY_ORDER, JY_VECTOR_OPERAND_ORDER, JY_VECTOR_COPY_ORDER };

/* Which elements an array as a key names, in place of the number of inputs: those along the first axis by their numbers, or where it is true; or all where one of its own shape is true.
 * Extents 0 and 1 of the block are those of the array, the key is operand 1, and what the block has for its extents says how many there are: */
enum jy_vector_key { JY_VECTOR_INDEX, JY_VECTOR_MASK_AXIS, JY_VECTOR_MASK };
enum {
    JY_VECTOR_ITEMS = 2, /* in: elements of what is stored, if it has an axis for that; else -1 */
    JY_VECTOR_KEYS = 3,  /* in: of the key along its first axis; out: that were taken */
};

/* How a reduction begins, in place of the number of inputs. */
enum jy_vector_start { JY_VECTOR_FROM_ZERO, JY_VECTOR_FROM_ONE, JY_VECTOR_FROM_FIRST };

/* Of what a product is, in place of the number of inputs. */
enum jy_vector_product { JY_VECTOR_BY_MATRIX, JY_MATRIX_BY_VECTOR, JY_MATRIX_BY_MATRIX };

#endif
