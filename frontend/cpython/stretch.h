/* Straight stretches of a code object, which new code carries as they are.
 *
 * A long function has many pieces of new code, and most of each is the original, instruction for instruction. Whole statements without jumps, targets and borders of exception ranges
 * in them need no work: an edited copy of the original holds a stretch of them as one item, a NOP with i_span > 1, that is passed by the edits and the verifier as a whole and
 * assembled by copying bytes. So new code costs what is changed in it, and a copy of memory. */
#ifndef JY_FRONTEND_CPYTHON_STRETCH_H
#define JY_FRONTEND_CPYTHON_STRETCH_H

#include "frontend/cpython/layout.h"

struct jy_stretches {
    const struct jy_code *s_code; /* the original, unedited; its ids are meant below */
    const struct jy_layout_map *s_map;
    int *
        s_end; /* by id: up to where all is plain and nothing but the first is a target; the id itself: it is not plain */
    int *
        s_boundary; /* by id: the last boundary of two statements at or before it, where a stretch may begin or end; JY_NO_INSTR */
    int *s_run;   /* by id: up to where the instructions have the position of this one, which begins such a run */
    int *s_place; /* by id: where in s_table the location of a run begins */
    int *s_line;  /* by id: the line that the table has come to there */
    const uint8_t *s_table;
};

/* Is made in the original's arena. */
struct jy_stretches *jy_stretches_new(struct jy_code *code, const struct jy_layout_map *map);

/* A copy to edit, in which only instructions with one of these offsets, and what is not plain, stand by themselves. */
struct jy_code *jy_stretches_copy(struct jy_arena *arena, const struct jy_stretches *stretches, const uint32_t *offsets,
                                  size_t noffsets);

/* What a stretch does to a set of bound locals; false: one may be unbound that is bound there in the original. */
bool jy_stretch_apply(const struct jy_code *code, const struct jy_instr *item, uint64_t *set);

#endif
