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
    for (size_t k = 0; k < n; k++, other += p->step) {                                                                 \
        type x;                                                                                                        \
        memcpy(&x, p->puts ? other : p->array + at[k], sizeof x);                                                      \
        memcpy(p->puts ? p->array + at[k] : other, &x, sizeof x);                                                      \
    }                                                                                                                  \
    break

static void
move_elements(const struct pass *p, char *other, const int64_t *at, size_t n)
{
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

/* What so many keys name, by offsets in bytes: elements, or rows. */
static void
move(struct pass *p, const int64_t *at, size_t n)
{
    if (p->inner == 1)
        move_elements(p, p->other, at, n);
    for (size_t k = 0; k < n && p->inner != 1; k++) {
        struct pass row = *p;
        row.step = p->inner_step;
        for (int64_t i = 0; i < p->inner; i += CHUNK) {
            int64_t elements[CHUNK];
            size_t m = p->inner - i < CHUNK ? (size_t)(p->inner - i) : (size_t)CHUNK;
            for (size_t j = 0; j < m; j++)
                elements[j] = at[k] + (i + (int64_t)j) * p->stride[1];
            move_elements(&row, p->other + (int64_t)k * p->step + i * p->inner_step, elements, m);
        }
    }
    p->other += (int64_t)n * p->step;
}

static void
move_by_index(struct pass *p)
{
    int64_t n = p->b->extent[JY_VECTOR_KEYS], at[CHUNK];
    for (int64_t from = 0; from < n; from += CHUNK) {
        int64_t m = n - from < CHUNK ? n - from : CHUNK;
        read_indices(at, p->b->data[1] + from * p->b->stride[1][0], p->b->stride[1][0], m, (jy_dtype)p->s->dtype[1]);
        for (int64_t k = 0; k < m; k++)
            at[k] = (at[k] < 0 ? at[k] + p->b->extent[0] : at[k]) * p->stride[0];
        move(p, at, (size_t)m);
    }
}

static void
move_by_mask(struct pass *p)
{
    bool has_rows = p->s->nin == JY_VECTOR_MASK && p->s->ndim == 2;
    int64_t n = has_rows ? p->b->extent[1] : 1, at[CHUNK + 1];
    size_t found = 0;
    for (int64_t i = 0; i < p->b->extent[0]; i++)
        for (int64_t k = 0; k < n; k++) {
            at[found] = i * p->stride[0] + (has_rows ? k * p->stride[1] : 0);
            found += p->b->data[1][i * p->b->stride[1][0] + (has_rows ? k * p->b->stride[1][1] : 0)] != 0;
            if (found == CHUNK) {
                move(p, at, found);
                found = 0;
            }
        }
    move(p, at, found);
}

static void
move_all(struct pass *p)
{
    if (p->s->nin == JY_VECTOR_INDEX)
        move_by_index(p);
    else
        move_by_mask(p);
}

/* Are all indices inside? */
static bool
are_inside(const struct jy_vector_block *b, const struct jy_vector_spec *s)
{
    int64_t n = b->extent[JY_VECTOR_KEYS], at[CHUNK];
    bool good = true;
    for (int64_t from = 0; from < n && good; from += CHUNK) {
        int64_t m = n - from < CHUNK ? n - from : CHUNK;
        read_indices(at, b->data[1] + from * b->stride[1][0], b->stride[1][0], m, (jy_dtype)s->dtype[1]);
        for (int64_t k = 0; k < m; k++)
            good &= at[k] >= -b->extent[0] && at[k] < b->extent[0];
    }
    return good;
}

/* How many are true; -1: a byte is no bool. */
static int64_t
count_true(const struct jy_vector_block *b, const struct jy_vector_spec *s)
{
    int64_t n = 0, rows = s->nin == JY_VECTOR_MASK && s->ndim == 2 ? b->extent[1] : 1;
    unsigned all = 0;
    for (int64_t i = 0; i < b->extent[0]; i++)
        for (int64_t k = 0; k < rows; k++) {
            unsigned char byte = (unsigned char)b->data[1][i * b->stride[1][0] + (rows > 1 ? k * b->stride[1][1] : 0)];
            all |= byte;
            n += byte;
        }
    return all > 1 ? -1 : n;
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
    int64_t n = count_keys(b, &s), inner = inner_of(b, &s);
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
    move_all(&p);
    b->extent[JY_VECTOR_KEYS] = n;
    *failed = 0;
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
