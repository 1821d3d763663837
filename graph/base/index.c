/* The one part of an index that is not short: growing. At most half of the slots are taken, so a probe ends. */
#include "graph/base/index.h"

static void
place(struct jy_index *ix, uint32_t hash, uint32_t position)
{
    size_t slot = hash & (ix->cap - 1);
    while (ix->at[slot].position != 0)
        slot = (slot + 1) & (ix->cap - 1);
    ix->at[slot].hash = hash;
    ix->at[slot].position = position;
}

void
jy_index_add(struct jy_arena *arena, struct jy_index *ix, uint32_t hash, uint32_t position)
{
    if (2 * (ix->n + 1) > ix->cap) {
        struct jy_index old = *ix;
        ix->cap = old.cap == 0 ? 32 : 2 * old.cap;
        ix->at = jy_arena_alloc(arena, ix->cap * sizeof *ix->at);
        for (size_t slot = 0; slot < old.cap; slot++)
            if (old.at[slot].position != 0)
                place(ix, old.at[slot].hash, old.at[slot].position);
    }
    place(ix, hash, position + 1);
    ix->n++;
}
