/* Runs the .txt files of tests/golden/graph: graph text through named passes. A file is a list of cases:
 *
 *     --- graph          the text of a graph
 *     --- pass NAME      a row of passes.def, or `all`; any number of them
 *     --- expect         the text afterwards
 *
 * Lines before the first section, and empty lines, are for the reader. The graph is verified before, between and after. */
#include "graph/pass.h"
#include "graph_text.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct golden {
    const char *file;
    struct jy_arena *arena;
    struct jy_graph *graph;
    unsigned cases, line;
};

static char *
read_file(struct jy_arena *arena, const char *path)
{
    struct jy_text text = { 0 };
    char block[4096];
    FILE *f = fopen(path, "r");
    for (size_t n; f != NULL && (n = fread(block, 1, sizeof(block), f)) > 0;)
        jy_text_put(&text, block, n);
    if (f != NULL)
        fclose(f);
    char *copy = jy_arena_strdup(arena, text.at == NULL ? "" : text.at);
    jy_text_free(&text);
    return copy;
}

static void
complain(const struct golden *t, const char *what)
{
    printf("\n    %s:%u: %s", t->file, t->line, what);
    CHECK(!"golden");
}

static void
run_pass(struct golden *t, const char *name)
{
    struct jy_pass_options options = { .verify = true };
    const char *why = NULL;
    bool known = strcmp(name, "all") == 0;
    for (size_t i = 0; i < jy_pass_count && strcmp(name, "all") != 0; i++)
        if (strcmp(jy_pass_info[i].name, name) == 0)
            known = true;
        else
            options.disabled |= (uint64_t)1 << i;
    if (!known)
        complain(t, "no such pass");
    else if (jy_passes_run(t->graph, &options, &why) != JY_OK)
        complain(t, why);
}

static void
run_section(struct golden *t, const char *title, const char *body)
{
    const char *error = NULL;
    if (strcmp(title, "graph") == 0) {
        if ((t->graph = jy_graph_parse(t->arena, body, &error)) == NULL)
            complain(t, error);
    } else if (t->graph == NULL) {
        complain(t, "a section without a graph");
    } else if (strncmp(title, "pass ", 5) == 0) {
        run_pass(t, title + 5);
    } else if (strcmp(title, "expect") == 0) {
        struct jy_text text = { 0 };
        jy_graph_print(&text, t->graph);
        if (strcmp(text.at, body) != 0)
            complain(t, "gives another graph:");
        CHECK_STR(text.at, body);
        jy_text_free(&text);
        t->cases++;
    } else
        complain(t, "no such section");
}

/* Ends a section where the next line begins with "--- ", or at the end; empty lines before it are for the reader. */
static void
end_section(struct golden *t, const char *title, const char *body, const char *end)
{
    size_t n = (size_t)(end - body);
    while (n > 1 && body[n - 1] == '\n' && body[n - 2] == '\n')
        n--;
    char *copy = jy_arena_alloc(t->arena, n + 1);
    run_section(t, title, memcpy(copy, body, n));
}

static void
run_file(struct golden *t, const char *text)
{
    const char *title = NULL, *body = NULL;
    unsigned line = 1, title_line = 1;
    for (const char *at = text; *at != '\0'; line++) {
        size_t n = strcspn(at, "\n");
        const char *next = at + n + (at[n] == '\n');
        if (strncmp(at, "--- ", 4) == 0) {
            t->line = title_line;
            if (title != NULL)
                end_section(t, title, body, at);
            title = jy_arena_printf(t->arena, "%.*s", (int)n - 4, at + 4);
            title_line = line;
            body = next;
        }
        at = next;
    }
    t->line = title_line;
    if (title != NULL)
        end_section(t, title, body, body + strlen(body));
}

static int
is_text(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && strcmp(entry->d_name + n - 4, ".txt") == 0;
}

TEST(golden, files)
{
    struct dirent **entries;
    unsigned cases = 0;
    int n = scandir(JITNEY_GOLDEN_DIR "/graph", &entries, is_text, alphasort);
    for (int i = 0; i < n; i++) {
        struct golden t = { .arena = jy_arena_new() };
        t.file = jy_arena_printf(t.arena, "%s/graph/%s", JITNEY_GOLDEN_DIR, entries[i]->d_name);
        run_file(&t, read_file(t.arena, t.file));
        if (t.cases == 0)
            complain(&t, "no case in this file");
        cases += t.cases;
        jy_arena_free(t.arena);
        free(entries[i]);
    }
    CHECK(cases >= 20);
    if (n >= 0)
        free(entries);
}
