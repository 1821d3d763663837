/* Finding by hash what stands in an array: pairs (hash, position) in an arena, open addressing. What is equal the user of it decides:
 *
 *     for (uint32_t at = jy_index_first(&ix, &probe, hash); at != JY_INDEX_END; at = jy_index_next(&ix, &probe))
 *         if (is_equal(&things[at], ...))
 *             return at;
 *     jy_index_add(arena, &ix, hash, new_position); */
#ifndef JY_GRAPH_BASE_INDEX_H
#define JY_GRAPH_BASE_INDEX_H

#include <stdint.h>

#include "graph/base/arena.h"

#define JY_INDEX_END UINT32_MAX

struct jy_index {
    struct {
        uint32_t hash, position; /* position + 1; 0: free */
    } *at;
    size_t n, cap; /* cap: a power of two, or 0 */
};

struct jy_index_probe {
    uint32_t hash;
    size_t slot;
};

/* Of a value into a hash, one after the other; the low bits are good. */
static inline uint32_t
jy_index_mix(uint32_t hash, uint64_t value)
{
    uint64_t x = (value ^ hash) * UINT64_C(0x9E3779B97F4A7C15);
    x ^= x >> 29;
    x *= UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(x >> 32);
}

/* Positions added with this hash, in no order. */
static inline uint32_t
jy_index_next(const struct jy_index *ix, struct jy_index_probe *probe)
{
    while (ix->at[probe->slot].position != 0) {
        size_t slot = probe->slot;
        probe->slot = (slot + 1) & (ix->cap - 1);
        if (ix->at[slot].hash == probe->hash)
            return ix->at[slot].position - 1;
    }
    return JY_INDEX_END;
}

static inline uint32_t
jy_index_first(const struct jy_index *ix, struct jy_index_probe *probe, uint32_t hash)
{
    if (ix->cap == 0)
        return JY_INDEX_END;
    *probe = (struct jy_index_probe){ hash, hash & (ix->cap - 1) };
    return jy_index_next(ix, probe);
}

void jy_index_add(struct jy_arena *arena, struct jy_index *ix, uint32_t hash, uint32_t position);

#endif
