/* What passes share: rewriting with renumbering, and what is known about storages. */
#ifndef JY_GRAPH_PASS_INTERNAL_H
#define JY_GRAPH_PASS_INTERNAL_H

#include "graph/pass.h"

#define PASS(name, letter, function, help) void function(struct jy_graph *graph);
#include "graph/passes.def"
#undef PASS

/* What a pass has decided, per node: read `same_as` instead of it (an earlier node, or itself), and whether it stays. */
struct jy_rewrite {
    jy_ref *same_as;
    uint8_t *drop;
};

/* Nothing replaced, nothing dropped. */
struct jy_rewrite jy_rewrite_new(const struct jy_graph *g);
/* Operands of node r, with all replacements so far. Passes that look at operands call it first. */
void jy_rewrite_operands(struct jy_graph *g, const struct jy_rewrite *rewrite, jy_ref r);
void jy_rewrite_replace(struct jy_rewrite *rewrite, jy_ref r, jy_ref by);
/* Takes out dropped nodes and renumbers the rest. */
void jy_rewrite_finish(struct jy_graph *g, const struct jy_rewrite *rewrite);

/* Per storage: is it written after its creation; can the program see it (an output or a call-out's operand lies in it)? An array that is
 * neither is a mere value, and may share memory with an equal one. */
struct jy_storages {
    uint8_t *written, *visible;
};
void jy_storages_fill(struct jy_storages *out, const struct jy_graph *g);
/* Is the node no array, or an array in memory that is neither written nor visible? */
bool jy_storages_is_value(const struct jy_storages *storages, const struct jy_node *node);

/* May evaluating it report something (an FP flag, an integer that does not fit, a division by zero)? */
bool jy_node_may_flag(const struct jy_graph *g, const struct jy_node *node);
/* Same order of axes, both filling a block whatever the sizes; or without axes. */
bool jy_node_same_block(const struct jy_node *a, const struct jy_node *b);

#endif
