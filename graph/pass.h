/* Passes over the graph: a table (passes.def) and one runner: run, verify, dump, time. */
#ifndef JY_GRAPH_PASS_H
#define JY_GRAPH_PASS_H

#include "graph/graph.h"

struct jy_pass_options {
    uint64_t disabled; /* bit per row of passes.def */
    bool verify;
    /* Called after each pass (may be NULL): name, graph, microseconds. */
    void (*after)(void *context, const char *pass, char letter, const struct jy_graph *graph, double us);
    void *context;
};

struct jy_pass_info {
    const char *name, *help;
    char letter;
};
extern const struct jy_pass_info jy_pass_info[];
extern const size_t jy_pass_count;

/* Transforms `graph` in place (nodes may be renumbered). JY_BREAK with *why when a verifier objects. */
jy_status jy_passes_run(struct jy_graph *graph, const struct jy_pass_options *options, const char **why);

#endif
