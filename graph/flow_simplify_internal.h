/* The steps of jy_flow_simplify. Those that give bool say whether they have changed anything. Between steps there may be blocks that nothing reaches;
 * they have no effect on the others. */
#ifndef JY_GRAPH_FLOW_SIMPLIFY_INTERNAL_H
#define JY_GRAPH_FLOW_SIMPLIFY_INTERNAL_H

#include "graph/flow_analysis.h"

/* flow_rename.c: what stands for each value: itself at first. */
jy_fv *jy_flow_renaming(const struct jy_flow *w);
/* Follows the renaming to its end, and shortens the way. */
jy_fv jy_flow_renamed(jy_fv *to, jy_fv v);
/* Every use in the flow. */
void jy_flow_rename(struct jy_flow *w, jy_fv *to);
/* Values, blocks, exits and inputs get new numbers in the order in which they are reached; what is not reached is gone. */
void jy_flow_renumber(struct jy_flow *w);

/* Does the instruction do anything but give its value? */
bool jy_flow_has_effect(const struct jy_flow *w, const struct jy_fvalue *v);

/* Bit k: it may write memory that is accessed under alias number k; bit 0: any memory. */
uint64_t jy_flow_writes(const struct jy_flow *w, const struct jy_fvalue *v);

bool jy_flow_drop_params(struct jy_flow *w); /* flow_params.c */
bool jy_flow_share(struct jy_flow *w);       /* flow_share.c */
bool jy_flow_drop_dead(struct jy_flow *w);   /* flow_dead.c */
bool jy_flow_thread(struct jy_flow *w);      /* flow_thread.c */
bool jy_flow_merge(struct jy_flow *w);       /* flow_thread.c */
/* flow_reduce.c, for jy_flow_hoist: loops that are entered in two places are entered in one. */
bool jy_flow_reduce(struct jy_flow *w);
/* flow_reduce.c, for jy_flow_hoist: a nest of two loops with one head gets two. Simplifying joins them again. */
void jy_flow_separate(struct jy_flow *w);

#endif
