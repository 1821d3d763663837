/* Building a kernel statement by statement. Statements go to the innermost open body; those that depend on nothing (constants, sizes,
 * scalar slots) go to a prologue and are shared by the whole kernel. jy_loop_finish puts the prologue first and numbers the statements
 * in the order they are printed in. */
#ifndef JY_GRAPH_LOOP_BUILD_H
#define JY_GRAPH_LOOP_BUILD_H

#include "graph/loop.h"

#define JY_LOOP_DEPTH 24

struct jy_loop_builder {
    struct jy_arena *arena;
    struct jy_kernel kernel;
    struct {
        jy_lv *at;
        size_t n, cap;
    } prologue;
    jy_lv open[JY_LOOP_DEPTH]; /* FOR and FOLD statements whose bodies are open */
    size_t depth;
    uint32_t line; /* stamped on statements */
    const char *file;
};

void jy_loop_begin(struct jy_loop_builder *b, struct jy_arena *arena);
struct jy_kernel jy_loop_finish(struct jy_loop_builder *b);

static inline struct jy_lstmt *
jy_loop_at(const struct jy_loop_builder *b, jy_lv v)
{
    return &b->kernel.k_stmts.at[v];
}

jy_lv jy_loop_const(struct jy_loop_builder *b, jy_dtype dtype, union jy_scalar value);
jy_lv jy_loop_int_const(struct jy_loop_builder *b, int64_t value);
jy_lv jy_loop_size(struct jy_loop_builder *b, uint32_t slot);
jy_lv jy_loop_scalar(struct jy_loop_builder *b, uint32_t slot, jy_dtype dtype);
void jy_loop_set_scalar(struct jy_loop_builder *b, uint32_t slot, jy_lv value);
jy_lv jy_loop_int(struct jy_loop_builder *b, jy_op op, jy_lv x, jy_lv y);
jy_lv jy_loop_load(struct jy_loop_builder *b, jy_dtype dtype, const struct jy_access *access);
jy_lv jy_loop_store(struct jy_loop_builder *b, const struct jy_access *access, jy_lv value);
jy_lv jy_loop_op(struct jy_loop_builder *b, jy_op op, jy_dtype dtype, size_t nargs, const jy_lv *args, bool checked);
jy_lv jy_loop_vcall(struct jy_loop_builder *b, uint32_t loop, jy_dtype dtype, size_t nargs, const jy_lv *args);
jy_lv jy_loop_cast(struct jy_loop_builder *b, jy_dtype dtype, jy_lv value);
void jy_loop_ufunc(struct jy_loop_builder *b, uint32_t loop, jy_lv count, size_t naccess,
                   const struct jy_access *access);
jy_lv jy_loop_ufold(struct jy_loop_builder *b, uint32_t loop, jy_dtype dtype, jy_lv count, jy_lv initial,
                    const struct jy_access *access);
/* Both open a body; the value is the loop variable. */
jy_lv jy_loop_for(struct jy_loop_builder *b, jy_lv count, int64_t step, bool vector);
jy_lv jy_loop_fold(struct jy_loop_builder *b, jy_op op, jy_dtype dtype, enum jy_fold_order order, jy_lv count,
                   jy_lv initial);
void jy_loop_end_for(struct jy_loop_builder *b);
/* The value of the fold. */
jy_lv jy_loop_end_fold(struct jy_loop_builder *b, jy_lv yield);

#endif
