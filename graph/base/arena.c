#include "graph/base/arena.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef JITNEY_HOSTILE
#define CHUNK_BYTES 64u
#else
#define CHUNK_BYTES 16384u
#endif

struct chunk {
    struct chunk *previous;
    size_t size, used;
    _Alignas(16) char data[];
};

struct jy_arena {
    struct chunk *top;
    size_t total;
    int guarded;
    jmp_buf guard;
};

struct jy_arena *
jy_arena_new(void)
{
    return calloc(1, sizeof(struct jy_arena));
}

void
jy_arena_free(struct jy_arena *arena)
{
    if (arena == NULL)
        return;
    for (struct chunk *c = arena->top, *previous; c != NULL; c = previous) {
        previous = c->previous;
        free(c);
    }
    free(arena);
}

jmp_buf *
jy_arena_guard(struct jy_arena *arena)
{
    arena->guarded = 1;
    return &arena->guard;
}

void
jy_arena_fail(struct jy_arena *arena)
{
    if (!arena->guarded)
        abort();
    longjmp(arena->guard, 1);
}

static struct chunk *
new_chunk(struct jy_arena *arena, size_t size)
{
    size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
    struct chunk *c = malloc(sizeof(*c) + room);
    if (c == NULL)
        jy_arena_fail(arena);
    c->previous = arena->top;
    c->size = room;
    c->used = 0;
    return arena->top = c;
}

/* Room that may hold anything. */
static void *
take(struct jy_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        jy_arena_fail(arena);
    size = (size + 15) & ~(size_t)15;
    struct chunk *c = arena->top;
    if (c == NULL || c->size - c->used < size)
        c = new_chunk(arena, size);
    void *at = c->data + c->used;
    c->used += size;
    arena->total += size;
    return at;
}

void *
jy_arena_alloc(struct jy_arena *arena, size_t size)
{
    return memset(take(arena, size), 0, size);
}

void *
jy_arena_copy(struct jy_arena *arena, const void *data, size_t size)
{
    void *at = take(arena, size);
    return size == 0 ? at : memcpy(at, data, size);
}

char *
jy_arena_strdup(struct jy_arena *arena, const char *text)
{
    return jy_arena_copy(arena, text, strlen(text) + 1);
}

char *
jy_arena_printf(struct jy_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = jy_arena_alloc(arena, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

size_t
jy_arena_used(const struct jy_arena *arena)
{
    return arena->total;
}

void
jy_vec_grow(struct jy_arena *arena, void **at, size_t n, size_t *cap, size_t item)
{
    size_t bigger = *cap == 0 ? 8 : *cap * 2;
    char *room = take(arena, bigger * item);
    if (n != 0)
        memcpy(room, *at, n * item);
    memset(room + n * item, 0, (bigger - n) * item);
    *at = room;
    *cap = bigger;
}
