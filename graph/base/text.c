#include "graph/base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
reserve(struct jy_text *text, size_t more)
{
    if (text->failed)
        return 0;
    if (text->n + more + 1 <= text->cap)
        return 1;
    size_t cap = (text->n + more + 1) * 2;
    char *at = realloc(text->at, cap);
    if (at == NULL) {
        text->failed = 1;
        return 0;
    }
    text->at = at;
    text->cap = cap;
    return 1;
}

void
jy_text_put(struct jy_text *text, const char *data, size_t n)
{
    if (!reserve(text, n))
        return;
    memcpy(text->at + text->n, data, n);
    text->n += n;
    text->at[text->n] = '\0';
}

void
jy_text_add(struct jy_text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n >= 0 && reserve(text, (size_t)n)) {
        vsnprintf(text->at + text->n, (size_t)n + 1, format, again);
        text->n += (size_t)n;
    }
    va_end(again);
}

void
jy_text_free(struct jy_text *text)
{
    free(text->at);
    *text = (struct jy_text){ 0 };
}
