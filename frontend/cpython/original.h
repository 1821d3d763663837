/* A code object decoded and laid out once, for all the traces and all the new code that its function gets. */
#ifndef JY_FRONTEND_CPYTHON_ORIGINAL_H
#define JY_FRONTEND_CPYTHON_ORIGINAL_H

#include "frontend/cpython/stretch.h"

enum {
    JY_HEAD = 1,         /* a jump goes back to the instruction */
    JY_HEAD_OUTSIDE = 2, /* one that is in no exception handler */
};

/* Where the loops of freshly decoded code begin. */
struct jy_loop_heads {
    uint8_t *kinds; /* by id */
    int *at;        /* ids, in order of the first jumps to them */
    size_t n, cap;
};

struct jy_original {
    struct jy_arena *o_arena;
    PyObject *o_object; /* the code object; owned */
    struct jy_code *o_code;
    struct jy_layout_map o_map;
    bool o_has_map;
    struct jy_stretches *o_stretches;
    struct jy_loop_heads *o_heads;
    uint32_t o_refs;
};

/* With one reference. NULL without an exception: no memory, or code that does not decode. */
struct jy_original *jy_original_new(PyObject *code);
void jy_original_release(struct jy_original *original); /* may be NULL */
/* The layout, made when it is first asked for; NULL: no memory, or code that is not legal. Depths of the instructions are filled in then. */
const struct jy_layout_map *jy_original_map(struct jy_original *original);
/* Likewise. */
const struct jy_stretches *jy_original_stretches(struct jy_original *original);
/* Likewise. */
const struct jy_loop_heads *jy_original_heads(struct jy_original *original);
struct jy_loop_heads *jy_loop_heads_new(struct jy_arena *arena, const struct jy_code *code);

#endif
