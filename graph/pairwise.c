/* NumPy's pairwise summation as a walk with an explicit stack.
 *
 * The tree of a run: a node of more than JY_PAIRWISE_LEAF elements has a left child of half its elements (rounded down to a multiple
 * of 8) and a right child of the rest. `pending_*[d]` is the right child at depth d of the path to the current leaf; once
 * the left child's sum is known it lies in `partial[d]` and the walk goes down the right child:
 *
 *     depth 0   [      left      |      right      ]     partial[0] is the sum of left when half_done[0]
 *     depth 1   [ left | right ]
 *               start
 *
 * A run longer than `chunk` is cut into pieces (NumPy before 2.3); their sums are added in order to `pieces`, from +0.0.
 * Addition commutes bit for bit (but for NaN payloads, which are not promised), so only the grouping matters. */
#include "graph/pairwise.h"
#include <string.h>

/* Goes down to the first leaf of the node of n elements at `start`; gives the leaf's length. */
static int64_t
descend(struct jy_pairwise *s, int64_t start, int64_t n)
{
    while (n > JY_PAIRWISE_LEAF) {
        int64_t half = n / 2;
        half -= half % 8;
        s->pending_start[s->depth] = start + half;
        s->pending_n[s->depth] = n - half;
        s->half_done[s->depth] = 0;
        s->depth++;
        n = half;
    }
    s->start = start;
    return n;
}

/* The next piece of the run, 0 when there is none. */
static int64_t
begin_piece(struct jy_pairwise *s)
{
    int64_t start = s->next, piece = s->left < s->chunk ? s->left : s->chunk;
    s->left -= piece;
    s->next += piece;
    return piece == 0 ? 0 : descend(s, start, piece);
}

int64_t
jy_pairwise_begin(struct jy_pairwise *s, int64_t n, int64_t chunk)
{
    s->start = s->next = 0;
    s->value.d = -0.0;
    s->pieces.bits = 0; /* +0.0 in either precision */
    s->depth = 0;
    s->left = n;
    s->chunk = n <= chunk ? INT64_MAX : chunk;
    return begin_piece(s);
}

/* A leaf's sum climbs while it completes nodes; the first node with its right half still to do is where the walk goes on. */
#define DEFINE_NEXT(suffix, type, field)                                                                               \
    int64_t jy_pairwise_next_##suffix(struct jy_pairwise *s, type leaf)                                                \
    {                                                                                                                  \
        type sum = leaf;                                                                                               \
        for (; s->depth > 0; s->depth--) {                                                                             \
            int32_t top = s->depth - 1;                                                                                \
            if (!s->half_done[top]) {                                                                                  \
                s->partial[top].field = sum;                                                                           \
                s->half_done[top] = 1;                                                                                 \
                return descend(s, s->pending_start[top], s->pending_n[top]);                                           \
            }                                                                                                          \
            sum = s->partial[top].field + sum;                                                                         \
        }                                                                                                              \
        s->pieces.field = s->chunk == INT64_MAX ? sum : s->pieces.field + sum;                                         \
        s->value = s->pieces;                                                                                          \
        return begin_piece(s);                                                                                         \
    }

DEFINE_NEXT(f64, double, d)
DEFINE_NEXT(f32, float, f)

#define DEFINE_LEAF(suffix, type)                                                                                      \
    static type load_##suffix(const char *at)                                                                          \
    {                                                                                                                  \
        type value;                                                                                                    \
        memcpy(&value, at, sizeof(value));                                                                             \
        return value;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    type jy_pairwise_leaf_##suffix(const char *data, int64_t n, int64_t stride)                                        \
    {                                                                                                                  \
        type sum = (type) - 0.0, lane[8];                                                                              \
        int64_t i = 0;                                                                                                 \
        if (n >= 8) {                                                                                                  \
            for (; i < 8; i++)                                                                                         \
                lane[i] = load_##suffix(data + i * stride);                                                            \
            for (; i < n - n % 8; i++)                                                                                 \
                lane[i % 8] += load_##suffix(data + i * stride);                                                       \
            sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));           \
        }                                                                                                              \
        for (; i < n; i++)                                                                                             \
            sum += load_##suffix(data + i * stride);                                                                   \
        return sum;                                                                                                    \
    }

DEFINE_LEAF(f64, double)
DEFINE_LEAF(f32, float)
