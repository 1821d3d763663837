/* A growing string on the heap, for dumps and messages. */
#ifndef JY_GRAPH_BASE_TEXT_H
#define JY_GRAPH_BASE_TEXT_H

#include <stddef.h>

struct jy_text {
    char *at; /* always ends with a zero once something was added; NULL at first */
    size_t n, cap;
    int failed; /* an allocation failed: the text is cut here */
};

void jy_text_add(struct jy_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void jy_text_put(struct jy_text *text, const char *data, size_t n);
void jy_text_free(struct jy_text *text);

#endif
