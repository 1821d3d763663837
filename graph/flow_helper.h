/* The signatures of flow_helpers.def: what whoever builds a flow must know of the C functions that it may call. */
#ifndef JY_GRAPH_FLOW_HELPER_H
#define JY_GRAPH_FLOW_HELPER_H

#include "graph/flow.h"

/* False: there is no such row. */
bool jy_flow_helper_row(struct jy_flow_helper *out, const char *name);
/* Does one call take as long as a list or an array is? */
bool jy_flow_helper_is_long(const char *name);
/* The letters of what it changes; empty: anything. */
const char *jy_flow_helper_changes(const char *name);
/* It may be called by a thread that does not hold the GIL. */
bool jy_flow_helper_needs_no_gil(const struct jy_flow_helper *helper);

#endif
