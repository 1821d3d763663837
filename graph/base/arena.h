/* Memory of one compile attempt: allocate, never free singly, drop everything at once.
 * Out of memory is a jump, not a return value: `jy_arena_guard` (setjmp) is set once by the owner of the attempt, so that
 * no pass and no handler has to test an allocation. */
#ifndef JY_GRAPH_BASE_ARENA_H
#define JY_GRAPH_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>

struct jy_arena;

/* NULL when there is no memory. */
struct jy_arena *jy_arena_new(void);
void jy_arena_free(struct jy_arena *arena);

/* `if (setjmp(*jy_arena_guard(a)) != 0) { out of memory }`; without it exhaustion aborts. */
jmp_buf *jy_arena_guard(struct jy_arena *arena);
/* There is no memory, also for something that is not the arena's: the jump. */
void jy_arena_fail(struct jy_arena *arena) __attribute__((noreturn));

/* Zeroed, aligned to 16 bytes; never NULL. */
void *jy_arena_alloc(struct jy_arena *arena, size_t size);
void *jy_arena_copy(struct jy_arena *arena, const void *data, size_t size);
char *jy_arena_strdup(struct jy_arena *arena, const char *text);
char *jy_arena_printf(struct jy_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t jy_arena_used(const struct jy_arena *arena);

#define JY_NEW(arena, type) ((type *)jy_arena_alloc((arena), sizeof(type)))
#define JY_NEW_ARRAY(arena, type, n) ((type *)jy_arena_alloc((arena), sizeof(type) * (size_t)(n)))

/* A growing array in an arena: `struct { T *at; size_t n, cap; } v; *jy_vec_push(arena, &v) = x;` */
void jy_vec_grow(struct jy_arena *arena, void **at, size_t n, size_t *cap, size_t item);
#define jy_vec_push(arena, v)                                                                                          \
    (((v)->n == (v)->cap ? jy_vec_grow((arena), (void **)&(v)->at, (v)->n, &(v)->cap, sizeof(*(v)->at)) : (void)0),    \
     &(v)->at[(v)->n++])

#endif
