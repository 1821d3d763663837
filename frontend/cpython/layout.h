/* What stands on the value stack, and which locals are bound, before each instruction of an unedited code object: what one must know to leave a function in the middle and to go
 * on there in another frame. From 3.11 on nothing else belongs to a position but the exception that is being handled. */
#ifndef JY_FRONTEND_CPYTHON_LAYOUT_H
#define JY_FRONTEND_CPYTHON_LAYOUT_H

#include "frontend/cpython/instr.h"

enum jy_slot_kind {
    JY_SLOT_VALUE,   /* an object, or the NULL of a call */
    JY_SLOT_HANDLED, /* the exception state that POP_EXCEPT brings back */
    JY_SLOT_OFFSET,  /* where an exception was raised, for RERAISE: means something in this code object only */
    JY_SLOT_MIXED    /* one or the other, as control came */
};

struct jy_layout_map {
    uint8_t **kinds; /* by id: jy_slot_kind of each item, bottom first; NULL: unreachable */
    uint64_t *bound; /* by id: set of locals that are certainly bound */
    uint64_t *
        verified; /* the same as the verifier finds it, to which a local that a comprehension has given back is bound */
    size_t nwords;
};

/* Runs the verifier, so JY_BREAK means that the code is not legal (c_error). */
jy_status jy_code_layout(struct jy_layout_map *out, struct jy_code *code);

static inline bool
jy_layout_is_bound(const struct jy_layout_map *map, int id, int local)
{
    return (map->bound[(size_t)id * map->nwords + (size_t)(local >> 6)] >> (local & 63) & 1) != 0;
}

/* Can the frame be left right before the instruction, and be entered there again?  The code may be an edited copy. */
bool jy_layout_is_portable(const struct jy_layout_map *map, const struct jy_code *code, int id);

/* Where a loop whose FOR_ITER is `id` goes on when it is finished: behind the END_FOR (3.13: and the POP_TOP) at its target. */
int jy_layout_exit_of_loop(const struct jy_code *code, int id);

/* Where units may begin when the function cannot be compiled as a whole: right behind the instruction at offset `stop`, on each of its ways; and, with `all`, at the bodies and ends of
 * loops and behind exception handlers. Offsets in code units; only portable places. Nothing is reported of code that is not legal. */
struct jy_original;
void jy_code_places(struct jy_original *original, uint32_t stop, bool all,
                    void (*report)(void *context, uint32_t offset), void *context);
/* Heads of loops: the portable places that are jumped back to. */
void jy_code_loop_heads(struct jy_original *original, void (*report)(void *context, uint32_t offset), void *context);

#endif
