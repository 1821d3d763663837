/* Arrays as keys: a[index], a[mask], and stores to them. All of the key is looked at before anything is written; elements are written in the order of the key, so the last of several for one place stays. */
#include "runtime/flow_vector.h"
#include "runtime/flow_exec.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256 }; /* keys that are looked at together */

#define READ(type)                                                                                                     \
    for (int64_t k = 0; k < n; k++) {                                                                                  \
        type x;                                                                                                        \
        memcpy(&x, key + k * stride, sizeof x);                                                                        \
        out[k] = (int64_t)x;                                                                                           \
    }                                                                                                                  \
    break

static void
read_indices(int64_t *out, const char *key, int64_t stride, int64_t n, jy_dtype dtype)
{
    switch ((int)dtype) {
    case JY_I8:
        READ(int8_t);
    case JY_I16:
        READ(int16_t);
    case JY_I32:
        READ(int32_t);
    case JY_U8:
        READ(uint8_t);
    case JY_U16:
        READ(uint16_t);
    case JY_U32:
        READ(uint32_t);
    default:
        READ(int64_t);
    }
}

/* One pass over the key. */
struct pass {
    const struct jy_vector_block *b;
    const struct jy_vector_spec *s;
    char *array; /* the elements that are named, with these strides */
    const int64_t *stride;
    char *other; /* what goes there, or what they come to: a step per key, and one per element */
    int64_t step, inner_step, inner;
    size_t bytes;
    bool puts;
};

#define MOVE(type)                                                                                                     \
    if (p->puts)                                                                                                       \
        for (size_t k = 0; k < n; k++, other += step)                                                                  \
            memcpy(array + at[k], other, sizeof(type));                                                                \
    else                                                                                                               \
        for (size_t k = 0; k < n; k++, other += step)                                                                  \
            memcpy(other, array + at[k], sizeof(type));                                                                \
    break

static void
move_elements(const struct pass *p, char *other, const int64_t *at, size_t n)
{
    char *array = p->array;
    int64_t step = p->step;
    switch (p->bytes) {
    case 1:
        MOVE(uint8_t);
    case 2:
        MOVE(uint16_t);
    case 4:
        MOVE(uint32_t);
    default:
        MOVE(uint64_t);
    }
}

static void
move_row(const struct pass *p, char *other, int64_t at)
{
    struct pass row = *p;
    if (p->stride[1] == (int64_t)p->bytes && p->inner_step == (int64_t)p->bytes) {
        memcpy(p->puts ? p->array + at : other, p->puts ? other : p->array + at, (size_t)p->inner * p->bytes);
        return;
    }
    row.step = p->inner_step;
    for (int64_t from = 0; from < p->inner; from += CHUNK) {
        int64_t elements[CHUNK];
        size_t n = p->inner - from < CHUNK ? (size_t)(p->inner - from) : (size_t)CHUNK;
        for (size_t k = 0; k < n; k++)
            elements[k] = at + (from + (int64_t)k) * p->stride[1];
        move_elements(&row, other + from * p->inner_step, elements, n);
    }
}

/* What so many keys name, by offsets in bytes: elements, or rows. */
static void
move(struct pass *p, const int64_t *at, size_t n)
{
    if (p->inner == 1)
        move_elements(p, p->other, at, n);
    for (size_t k = 0; k < n && p->inner != 1; k++)
        move_row(p, p->other + (int64_t)k * p->step, at[k]);
    p->other += (int64_t)n * p->step;
}

/* The usual case in one pass: indices of 64 bits side by side, elements of one size. */
#define MOVE_AT_ONCE(type)                                                                                             \
    for (int64_t k = 0; k < n; k++, other += step) {                                                                   \
        int64_t index = key[k] + (key[k] < 0 ? length : 0);                                                            \
        bool inside = (uint64_t)index < (uint64_t)length;                                                              \
        char *at = array + (inside ? index : 0) * stride;                                                              \
        good &= inside;                                                                                                \
        memcpy(puts ? at : other, puts ? other : at, sizeof(type));                                                    \
    }

static bool
move_at_once(const struct pass *p, const int64_t *key, bool puts)
{
    int64_t n = p->b->extent[JY_VECTOR_KEYS], length = p->b->extent[0], stride = p->stride[0], step = p->step;
    char *array = p->array, *other = p->other;
    bool good = n == 0 || length != 0;
    if (!good)
        return false;
    if (p->bytes == 8)
        MOVE_AT_ONCE(uint64_t)
    else
        MOVE_AT_ONCE(uint32_t)
    return good;
}

static bool
is_usual(const struct pass *p)
{
    uintptr_t key = (uintptr_t)p->b->data[1];
    return p->s->dtype[1] == JY_I64 && p->inner == 1 && p->b->stride[1][0] == 8 && key % 8 == 0 &&
           (p->bytes == 8 || p->bytes == 4);
}

/* False: an index is out of range, where that is not known; of what is taken nobody has seen anything then. */
static bool
move_by_index(struct pass *p)
{
    int64_t n = p->b->extent[JY_VECTOR_KEYS], length = p->b->extent[0], stride = p->stride[0], at[CHUNK];
    bool good = true;
    if (is_usual(p)) {
        const int64_t *key = (const int64_t *)(const void *)p->b->data[1];
        return p->puts ? move_at_once(p, key, true) : move_at_once(p, key, false);
    }
    for (int64_t from = 0; from < n && good; from += CHUNK) {
        int64_t m = n - from < CHUNK ? n - from : CHUNK;
        read_indices(at, p->b->data[1] + from * p->b->stride[1][0], p->b->stride[1][0], m, (jy_dtype)p->s->dtype[1]);
        for (int64_t k = 0; k < m; k++) {
            int64_t index = at[k] + (at[k] < 0 ? length : 0);
            good &= (uint64_t)index < (uint64_t)length;
            at[k] = index * stride;
        }
        if (good)
            move(p, at, (size_t)m);
    }
    return good;
}

/* One row of a mask, its elements `stride` apart in the array. Bytes are 0 or 1. */
static void
move_by_row(struct pass *p, const char *mask, int64_t mask_stride, int64_t n, int64_t offset, int64_t stride)
{
    int64_t at[CHUNK + 8], k = 0;
    size_t found = 0;
    for (; mask_stride == 1 && k + 8 <= n; k += 8) {
        uint64_t word;
        memcpy(&word, mask + k, sizeof word);
        for (; word != 0; word &= word - 1)
            at[found++] = offset + (k + __builtin_ctzll(word) / 8) * stride;
        if (found >= CHUNK) {
            move(p, at, found);
            found = 0;
        }
    }
    for (; k < n; k++) {
        at[found] = offset + k * stride;
        found += mask[k * mask_stride] != 0;
        if (found >= CHUNK) {
            move(p, at, found);
            found = 0;
        }
    }
    move(p, at, found);
}

static void
move_by_mask(struct pass *p)
{
    const struct jy_vector_block *b = p->b;
    if (p->s->nin != JY_VECTOR_MASK || p->s->ndim == 1) {
        move_by_row(p, b->data[1], b->stride[1][0], b->extent[0], 0, p->stride[0]);
        return;
    }
    for (int64_t i = 0; i < b->extent[0]; i++)
        move_by_row(p, b->data[1] + i * b->stride[1][0], b->stride[1][1], b->extent[1], i * p->stride[0], p->stride[1]);
}

static bool
move_all(struct pass *p)
{
    if (p->s->nin == JY_VECTOR_INDEX)
        return move_by_index(p);
    move_by_mask(p);
    return true;
}

/* Are all indices inside? */
static bool
are_inside(const struct jy_vector_block *b, const struct jy_vector_spec *s)
{
    int64_t n = b->extent[JY_VECTOR_KEYS], at[CHUNK];
    bool good = true;
    if (s->dtype[1] == JY_I64 && b->stride[1][0] == 8 && (uintptr_t)b->data[1] % 8 == 0) {
        const int64_t *index = (const int64_t *)(const void *)b->data[1];
        int64_t length = b->extent[0];
        for (int64_t k = 0; k < n; k++)
            good &= (uint64_t)(index[k] + (index[k] < 0 ? length : 0)) < (uint64_t)length;
        return good;
    }
    for (int64_t from = 0; from < n && good; from += CHUNK) {
        int64_t m = n - from < CHUNK ? n - from : CHUNK;
        read_indices(at, b->data[1] + from * b->stride[1][0], b->stride[1][0], m, (jy_dtype)s->dtype[1]);
        for (int64_t k = 0; k < m; k++)
            good &= at[k] >= -b->extent[0] && at[k] < b->extent[0];
    }
    return good;
}

struct truth {
    uint64_t all;
    int64_t n;
};

static void
count_row(struct truth *t, const char *mask, int64_t stride, int64_t n)
{
    int64_t k = 0;
    for (; stride == 1 && k + 8 <= n; k += 8) {
        uint64_t word;
        memcpy(&word, mask + k, sizeof word);
        t->all |= word;
        t->n += (int64_t)((word & UINT64_C(0x0101010101010101)) * UINT64_C(0x0101010101010101) >> 56);
    }
    for (; k < n; k++) {
        t->all |= (unsigned char)mask[k * stride];
        t->n += (unsigned char)mask[k * stride];
    }
}

/* How many are true; -1: a byte is no bool. */
static int64_t
count_true(const struct jy_vector_block *b, const struct jy_vector_spec *s)
{
    struct truth t = { 0, 0 };
    if (s->nin != JY_VECTOR_MASK || s->ndim == 1)
        count_row(&t, b->data[1], b->stride[1][0], b->extent[0]);
    else
        for (int64_t i = 0; i < b->extent[0]; i++)
            count_row(&t, b->data[1] + i * b->stride[1][0], b->stride[1][1], b->extent[1]);
    return (t.all & ~UINT64_C(0x0101010101010101)) != 0 ? -1 : t.n;
}

/* -1: the key is not good. */
static int64_t
count_keys(const struct jy_vector_block *b, const struct jy_vector_spec *s)
{
    if (s->nin == JY_VECTOR_INDEX)
        return are_inside(b, s) ? b->extent[JY_VECTOR_KEYS] : -1;
    return count_true(b, s);
}

static int64_t
inner_of(const struct jy_vector_block *b, const struct jy_vector_spec *s)
{
    return s->ndim == 2 && s->nin != JY_VECTOR_MASK ? b->extent[1] : 1;
}

char *
jy_vector_take(struct jy_flow_call *call, int64_t spec, int64_t live, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vectors *v = ((struct jy_flow_owner *)call->owner)->vectors;
    struct jy_vector_block *b = &v->block;
    int64_t n = s.nin == JY_VECTOR_INDEX ? b->extent[JY_VECTOR_KEYS] : count_true(b, &s), inner = inner_of(b, &s);
    size_t bytes = jy_dtype_info[s.dtype[0]].bytes;
    *failed = 1;
    if (n < 0)
        return NULL;
    char *out = jy_vector_take_slot(v, live, (size_t)(n * inner) * bytes);
    if (out == NULL)
        return NULL;
    struct pass p = { .b = b,
                      .s = &s,
                      .array = b->data[0],
                      .stride = b->stride[0],
                      .other = out,
                      .step = inner * (int64_t)bytes,
                      .inner_step = (int64_t)bytes,
                      .inner = inner,
                      .bytes = bytes };
    *failed = !move_all(&p);
    b->extent[JY_VECTOR_KEYS] = n;
    return out;
}

struct reach {
    uintptr_t low, high;
};

static struct reach
reach_of(const char *data, size_t ndim, const int64_t *extent, const int64_t *stride, size_t bytes)
{
    struct reach r = { (uintptr_t)data, (uintptr_t)data + bytes };
    for (size_t d = 0; d < ndim; d++) {
        int64_t span = extent[d] > 0 ? (extent[d] - 1) * stride[d] : 0;
        *(span > 0 ? &r.high : &r.low) += (uintptr_t)span;
    }
    return r;
}

static bool
meet(struct reach a, struct reach b)
{
    return a.low < b.high && b.low < a.high;
}

/* Is what is stored, or the key, in the array? NumPy may copy it first, or not. */
static bool
is_apart(const struct jy_vector_block *b, const struct jy_vector_spec *s, int64_t n)
{
    size_t bytes = jy_dtype_info[s->dtype[JY_VECTOR_RESULT]].bytes;
    struct reach to = reach_of(b->data[JY_VECTOR_RESULT], s->ndim, b->extent, b->stride[JY_VECTOR_RESULT], bytes);
    int64_t items[2] = { n, inner_of(b, s) }, keys[2] = { b->extent[JY_VECTOR_KEYS], b->extent[1] };
    size_t key_axes = s->nin == JY_VECTOR_MASK ? s->ndim : 1;
    bool is_number = (s->numbers & 1) != 0;
    return (is_number || !meet(to, reach_of(b->data[0], 2, items, b->stride[0], bytes))) &&
           !meet(to, reach_of(b->data[1], key_axes, keys, b->stride[1], jy_dtype_info[s->dtype[1]].bytes));
}

void
jy_vector_put(struct jy_flow_call *call, int64_t spec, int32_t *failed)
{
    struct jy_vector_spec s = jy_vector_unpack(spec);
    struct jy_vector_block *b = jy_vector_block_of(call);
    int64_t n = count_keys(b, &s);
    bool is_number = (s.numbers & 1) != 0;
    *failed = n < 0 || (b->extent[JY_VECTOR_ITEMS] >= 0 && b->extent[JY_VECTOR_ITEMS] != n) || !is_apart(b, &s, n);
    if (*failed)
        return;
    struct pass p = { .b = b,
                      .s = &s,
                      .array = b->data[JY_VECTOR_RESULT],
                      .stride = b->stride[JY_VECTOR_RESULT],
                      .other = is_number ? (char *)&b->number[0] : b->data[0],
                      .step = is_number ? 0 : b->stride[0][0],
                      .inner_step = is_number ? 0 : b->stride[0][1],
                      .inner = inner_of(b, &s),
                      .bytes = jy_dtype_info[s.dtype[JY_VECTOR_RESULT]].bytes,
                      .puts = true };
    move_all(&p);
}
