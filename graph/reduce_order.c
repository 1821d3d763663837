/* The order of NumPy's reductions, as a plan over the operand's strides.
 *
 *   1. axes are sorted by the operand's strides (layout.c), smallest innermost;
 *   2. neighbours that are one axis for operand and result are joined;
 *   3. runs. Before NumPy 2.3: the innermost folded dims are one block, cut into pieces of the buffer size. Later: a cost model plans how many dims a buffer
 *      covers (`plan_buffer`); where nothing needs copying a run is as long as the data allow.
 *
 * Relies on: aligned operands of the native byte order and of the reduction's own dtype (casts are nodes of their own here).
 * Guarantees: with pairwise sums of the runs (pairwise.h) the bits of np.add.reduce; with sequential products those of
 * np.multiply.reduce. A change of NumPy's iterator shows in the differential tests, and in the probe at import. */
#include "graph/reduce_order.h"

static void
sort_and_join(struct jy_reduce_order *o, const int64_t *extents, const int64_t *strides, uint32_t axes, size_t itemsize)
{
    size_t ndim = o->ndim;
    struct jy_layout layout = jy_layout_of_strides(ndim, extents, strides, itemsize);
    int64_t c_stride[JY_MAX_NDIM], dense = 1, iterated = 1;
    for (size_t a = ndim; a-- > 0;) {
        c_stride[a] = axes >> a & 1 ? 0 : dense;
        dense *= axes >> a & 1 ? 1 : extents[a];
    }
    o->total = 1;
    for (size_t i = 0; i < ndim; i++) {
        uint8_t a = layout.order[ndim - 1 - i];
        bool kept = (axes >> a & 1) == 0 && extents[a] != 1;
        struct jy_reduce_dim d = { extents[a], extents[a] == 1 ? 0 : strides[a], kept ? iterated : 0 };
        iterated *= kept ? extents[a] : 1;
        o->total *= extents[a];
        o->axis[i].n = extents[a];
        o->axis[i].in = d.in;
        o->axis[i].out = c_stride[a];
        struct jy_reduce_dim *last = o->ndims == 0 ? NULL : &o->dim[o->ndims - 1];
        if (last != NULL && last->n == 1 && last->in == 0 && last->out == 0)
            *last = d;
        else if (last != NULL && ((d.n == 1 && d.in == 0 && d.out == 0) ||
                                  (last->in * last->n == d.in && last->out * last->n == d.out)))
            last->n *= d.n;
        else
            o->dim[o->ndims++] = d;
    }
    if (o->ndims == 0)
        o->dim[o->ndims++] = (struct jy_reduce_dim){ 1, 0, 0 };
}

static int64_t
min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* NumPy 2.3 and later: which dims one buffer, or one direct call, covers. Operand 0 is the result, 1 the input. */
static void
plan_buffer(struct jy_reduce_order *o)
{
    int cost = 1, best_cost = 1, best = 0, flip = 0, joined[2] = { 1, 1 };
    int64_t size = o->dim[0].n, best_size = size;
    o->core = 1;
    for (int d = 1; d < o->ndims && flip == 0 && !(size >= JY_REDUCE_BUFFER && cost > 1); d++) {
        const struct jy_reduce_dim *inner = &o->dim[d - 1], *outer = &o->dim[d];
        for (int op = 0; op < 2; op++) {
            int64_t s = op == 0 ? inner->out : inner->in, t = op == 0 ? outer->out : outer->in;
            if (joined[op] == d && s * inner->n == t) {
                joined[op]++;
                continue;
            }
            cost += joined[op] == d;
            if (op == 0 && (s == 0 || t == 0)) /* from folded to kept axes or back */
                flip = d;
        }
        int64_t core = size;
        size *= outer->n;
        if (size == 0)
            break;
        int64_t buffer = size > JY_REDUCE_BUFFER && cost > 1 ? JY_REDUCE_BUFFER : size;
        if (cost * best_size <= best_cost * buffer) {
            best = d;
            best_cost = cost;
            best_size = size;
            o->core = core;
        }
    }
    o->outer = (uint8_t)best;
    o->two = flip != 0 && best == flip;
    bool direct = o->two && (joined[1] == best || (o->dim[best].in == 0 && joined[1] <= best));
    o->buffered = joined[1] + direct <= best || joined[0] + o->two <= best;
    o->piece = best_size;
    if (o->buffered && o->piece > JY_REDUCE_BUFFER)
        o->piece = o->core * (JY_REDUCE_BUFFER / o->core);
}

void
jy_reduce_order_begin(struct jy_reduce_order *o, size_t ndim, const int64_t *extents, const int64_t *strides,
                      uint32_t axes, size_t itemsize, int64_t chunk)
{
    *o = (struct jy_reduce_order){ .ndim = (uint8_t)ndim };
    sort_and_join(o, extents, strides, axes, itemsize);
    o->folds = o->dim[0].out == 0;
    o->whole_blocks = chunk != INT64_MAX;
    if (!o->whole_blocks) {
        plan_buffer(o);
        return;
    }
    o->piece = chunk;
    o->block = o->dim[0].n;
    for (int d = 1; o->folds && d < o->ndims && o->dim[d].out == 0; d++)
        o->block *= o->dim[d].n;
}

bool
jy_reduce_order_next(struct jy_reduce_order *o)
{
    int64_t at = o->start + o->n;
    if (at >= o->total)
        return false;
    o->start = at;
    if (o->whole_blocks)
        o->n = min_i64(o->piece, o->block - at % o->block);
    else {
        if (at >= o->piece_end) {
            int64_t extent = o->dim[o->outer].n, left = extent - at / o->core % extent;
            o->piece_end = at + min_i64(min_i64(o->piece, o->core * left), o->total - at);
        }
        o->n = o->two ? min_i64(o->core, o->piece_end - at) : o->piece_end - at;
    }
    o->gathered = o->buffered || at % o->dim[0].n + o->n > o->dim[0].n;
    return true;
}

void
jy_reduce_order_place(int64_t *in, int64_t *out, const struct jy_reduce_order *o, int64_t position)
{
    *in = *out = 0;
    for (size_t i = 0; i < o->ndim; i++) {
        int64_t index = position % o->axis[i].n;
        position /= o->axis[i].n;
        *in += index * o->axis[i].in;
        *out += index * o->axis[i].out;
    }
}
