/* What follows from a node's op, operands and attributes: dtype, shape, storage. Internal to graph/: builders, parser and verifier share it. */
#ifndef JY_GRAPH_INFER_H
#define JY_GRAPH_INFER_H

#include "graph/graph.h"

/* Completes `node`, whose n_op, n_kind, n_args and attributes are set, as node number `self` of `g`: n_dtype and n_shape where the op determines them (else they must be set
 * already), n_storage for arrays. `sizes` is g's table or a copy of it. NULL, or why the operands break the rules of graph.h. */
const char *jy_infer_node(struct jy_node *node, jy_ref self, const struct jy_graph *g, struct jy_sizes *sizes);
/* Shape of the operands broadcast together. */
const char *jy_infer_broadcast(struct jy_node *node, const struct jy_graph *g, struct jy_sizes *sizes);
/* The layout that builders give an array node: of a placeholder none, of a view what the index map makes of the operand's,
 * of a STORE the operand's, of everything else C order over a fresh block. NULL for scalars and 0-d arrays. */
const struct jy_layout *jy_layout_default(const struct jy_graph *g, const struct jy_node *node);
bool jy_layout_equal(const struct jy_layout *a, const struct jy_layout *b, size_t ndim);

#endif
