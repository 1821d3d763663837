/* Runs the rows of passes.def: run, verify, dump, time. */
#include "graph/pass_internal.h"
#include <time.h>

const struct jy_pass_info jy_pass_info[] = {
#define PASS(name, letter, function, help) { #name, help, letter },
#include "graph/passes.def"
#undef PASS
};
const size_t jy_pass_count = sizeof(jy_pass_info) / sizeof(*jy_pass_info);

static void (*const functions[])(struct jy_graph *) = {
#define PASS(name, letter, function, help) function,
#include "graph/passes.def"
#undef PASS
};
_Static_assert(sizeof(functions) / sizeof(*functions) <= 64, "jy_pass_options.disabled has a bit per row");

static double
now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static jy_status
verify(const struct jy_graph *graph, const char *when, const char **why)
{
    const char *message = jy_graph_verify(graph);
    if (message == NULL)
        return JY_OK;
    *why = jy_arena_printf(graph->g_arena, "%s: %s", when, message);
    return JY_BREAK;
}

jy_status
jy_passes_run(struct jy_graph *graph, const struct jy_pass_options *options, const char **why)
{
    if (options->verify)
        TRY(verify(graph, "before the passes", why));
    for (size_t i = 0; i < jy_pass_count; i++) {
        if (options->disabled >> i & 1)
            continue;
        double before = now_us();
        functions[i](graph);
        double us = now_us() - before;
        if (options->verify)
            TRY(verify(graph, jy_arena_printf(graph->g_arena, "after pass %s", jy_pass_info[i].name), why));
        if (options->after != NULL)
            options->after(options->context, jy_pass_info[i].name, jy_pass_info[i].letter, graph, us);
    }
    return JY_OK;
}
