/* Lowering, shared by lower*.c only: what is known about every node, the groups, and the state while kernels are emitted.
 *
 *     lower.c           the driver: liveness, who computes what where, plan inputs and outputs
 *     lower_reduce.c    how each reduction is done (run, rows, NumPy) and which producers its loop computes
 *     lower_group.c     groups: which nodes share a loop nest or are a step, and in which order
 *     lower_buffer.c    memory: buffers, views, size slots, scalar slots
 *     lower_nest.c      emits loop nests: collapse, accesses, elementwise bodies, folds
 *     lower_rows.c      emits reductions over outer axes
 *     lower_tile.c      emits nests with calls of NumPy's inner loops on tiles
 *     lower_flags.c     which operations can raise something */
#ifndef JY_GRAPH_LOWER_H
#define JY_GRAPH_LOWER_H

#include "graph/loop_build.h"
#include "graph/plan.h"

#define JY_NONE UINT32_MAX

enum jy_fold_how {
    JY_HOW_NONE,
    JY_HOW_RUN,  /* innermost axes are folded: one FOLD (or UFOLD) per element of the result */
    JY_HOW_ROWS, /* the innermost axis is kept: rows are added to the result in order */
    JY_HOW_CALL, /* NumPy's ufunc.reduce */
};

struct jy_lnode {
    bool live;
    bool memory;      /* some reader needs it in a buffer */
    bool vector;      /* of class TILE, computed like EW by a vector function */
    bool slot_needed; /* 0-d: some reader is in another kernel or a step, or it is an output */
    uint8_t how;      /* enum jy_fold_how */
    uint32_t group;   /* that computes it, or JY_NONE */
    jy_ref into;      /* the REDUCE whose own loop computes this node, or JY_NO_REF */
    uint32_t buffer, slot;
    jy_lv value; /* current value: valid while value_stamp is the current scope's stamp */
    uint32_t value_stamp;
    jy_lv top; /* 0-d: value at the top level of kernel top_kernel */
    uint32_t top_kernel;
};

enum jy_group_kind {
    JY_GROUP_NEST,
    JY_GROUP_COPY, /* one STORE that goes through a temporary */
    JY_GROUP_ROWS, /* one reduction over outer axes */
    JY_GROUP_STEP, /* no loop nest: one step of the plan */
};

struct jy_group {
    uint8_t kind, ndim;
    bool tiles, folds;
    jy_sx shape[JY_MAX_NDIM];   /* canonical */
    uint8_t order[JY_MAX_NDIM]; /* axes that are not the constant 1, outermost first */
    uint8_t naxes;
    uint32_t kernel;
    struct {
        jy_ref *at;
        size_t n, cap;
    } members;
};

struct jy_scope_load {
    uint32_t buffer;
    jy_lv value;
};

/* Where an element of some space is: index terms per axis. */
struct jy_scope {
    uint8_t ndim;
    uint32_t stamp;
    struct {
        uint8_t n;
        jy_lv lv[3];
    } index[JY_MAX_NDIM];
    struct {
        struct jy_scope_load *at;
        size_t n, cap;
    } loads; /* done already in this scope */
};

struct jy_nest_loop {
    uint8_t axis;  /* the innermost axis of those that were collapsed */
    uint32_t axes; /* mask of them */
    jy_sx extent;
};

struct jy_nest {
    size_t n;
    struct jy_nest_loop loop[JY_MAX_NDIM];
};

struct jy_lower {
    struct jy_arena *arena;
    struct jy_graph *g; /* its size table grows, nothing else changes */
    struct jy_plan *plan;
    struct jy_lnode *node;
    struct jy_uses uses;
    struct {
        struct jy_group *at;
        size_t n, cap;
    } groups;
    struct {
        bool *at;
        size_t n, cap;
    } dense; /* per buffer: fills one block in b_order */
    jy_has_vector has_vector;
    struct jy_loop_builder b;
    uint32_t kernel;      /* number of the kernel being emitted */
    uint32_t stamp;       /* last scope */
    uint32_t group_stamp; /* of the current group: 0-d values loaded from memory are good for one group */
    uint32_t group;       /* being emitted */
    const char *why;
    struct jy_text notes;
};

static inline const struct jy_node *
jy_lower_at(const struct jy_lower *L, jy_ref r)
{
    return jy_graph_at(L->g, r);
}

static inline uint8_t
jy_lower_class(const struct jy_lower *L, jy_ref r)
{
    return L->node[r].vector ? JY_CLASS_EW : jy_op_info[jy_lower_at(L, r)->n_op].klass;
}

/* lower.c */
/* Element by element over its own shape: EW, TILE, CAST, FULL, COPY. */
bool jy_lower_is_pointwise(const struct jy_lower *L, jy_ref r);
/* The node whose memory `r` is a view of, views peeled off (a STORE is not peeled). */
jy_ref jy_lower_owner(const struct jy_lower *L, jy_ref r);
/* What a reader of `r` in the same group sees: of a STORE to everything the value that was just computed, else `r` itself. */
jy_ref jy_lower_forward(const struct jy_lower *L, jy_ref r);
bool jy_lower_same_shape(const struct jy_lower *L, jy_ref a, jy_ref b);
void jy_lower_note(struct jy_lower *L, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* lower_reduce.c */
void jy_lower_choose_reductions(struct jy_lower *L);
/* Axes of `r` in memory order, outermost first, without those of constant extent 1; the number of them. */
size_t jy_lower_axes_of(const struct jy_lower *L, jy_ref r, uint8_t *axes);

/* lower_group.c */
jy_status jy_lower_group(struct jy_lower *L);
/* Does `r` belong to the space of group `g`? */
bool jy_lower_fits(const struct jy_lower *L, const struct jy_group *g, jy_ref r);

/* lower_buffer.c */
uint32_t jy_lower_size_slot(struct jy_lower *L, jy_sx size);
uint32_t jy_lower_scalar_slot(struct jy_lower *L, jy_ref r);
uint32_t jy_lower_loop(struct jy_lower *L, jy_op op, jy_dtype dtype);
/* The buffer of an array node whose owner has memory. */
uint32_t jy_lower_buffer(struct jy_lower *L, jy_ref r);
/* The region that STORE `r` writes. */
uint32_t jy_lower_region(struct jy_lower *L, jy_ref r);
uint32_t jy_lower_tile_buffer(struct jy_lower *L, jy_dtype dtype, uint32_t offset, int64_t n);
/* Scratch for an array like `r`. */
uint32_t jy_lower_temp_like(struct jy_lower *L, jy_ref r);
uint32_t jy_lower_object(struct jy_lower *L, jy_ref r, uint32_t step);

/* lower_nest.c */
void jy_lower_emit_nest(struct jy_lower *L, struct jy_group *g);
void jy_lower_emit_copy(struct jy_lower *L, struct jy_group *g);
/* Opens the loops of a nest and indexes the scope with their variables. */
void jy_lower_open_loops(struct jy_lower *L, struct jy_scope *s, const struct jy_nest *nest, bool vector);
void jy_lower_close_loops(struct jy_lower *L, const struct jy_nest *nest);
/* Emits STORE, pointwise or RUN node `r` at element `s`, and what stores its value. */
void jy_lower_emit_member(struct jy_lower *L, struct jy_scope *s, jy_ref r);
jy_lv jy_lower_size(struct jy_lower *L, jy_sx size);
/* Loops of a space of `naxes` axes in `order`, adjacent ones joined where every buffer of the members allows it. */
void jy_lower_loops(struct jy_lower *L, struct jy_nest *out, const struct jy_group *g, bool collapse);
void jy_lower_open_scope(struct jy_lower *L, struct jy_scope *s, size_t ndim);
/* Access to element `s` of a buffer whose axes are matched with the scope's from the right. */
void jy_lower_access(struct jy_lower *L, struct jy_access *out, const struct jy_scope *s, uint32_t buffer);
/* Value of operand `r` at element `s`: computed in this scope, uniform, or loaded. */
jy_lv jy_lower_operand(struct jy_lower *L, struct jy_scope *s, jy_ref r);
jy_lv jy_lower_load(struct jy_lower *L, struct jy_scope *s, uint32_t buffer);
/* Computes pointwise node `r` (not TILE, unless it has a vector function or is 0-d) at element `s`. */
jy_lv jy_lower_compute(struct jy_lower *L, struct jy_scope *s, jy_ref r);
/* Makes the values of 0-d operands of `r` (and of what its loop computes) available at top level. */
void jy_lower_prepare(struct jy_lower *L, jy_ref r);
/* A 0-d node at the top level of the current kernel. */
jy_lv jy_lower_scalar(struct jy_lower *L, jy_ref r);
/* Computes what the loop of reduction `r` computes itself, and gives the value of its operand, at element `s`. */
jy_lv jy_lower_folded(struct jy_lower *L, struct jy_scope *s, jy_ref r);
/* The operation and initial value of a reduction. */
jy_op jy_lower_fold_op(const struct jy_node *node);
union jy_scalar jy_lower_fold_start(const struct jy_node *node);
/* One element of a reduction over its innermost axes: `s` is an element of the operand's space without indices for the folded axes. */
jy_lv jy_lower_emit_run(struct jy_lower *L, struct jy_scope *s, jy_ref r);
void jy_lower_store_result(struct jy_lower *L, struct jy_scope *s, jy_ref r, jy_lv value);

/* lower_rows.c, lower_tile.c */
void jy_lower_emit_rows(struct jy_lower *L, struct jy_group *g);
void jy_lower_emit_tiles(struct jy_lower *L, struct jy_group *g, const struct jy_nest *nest);
jy_lv jy_lower_scalar_call(struct jy_lower *L, jy_ref r);

/* lower_flags.c */
void jy_lower_count_flags(struct jy_lower *L);
bool jy_lower_may_flag(const struct jy_graph *g, const struct jy_node *node);

#endif
