/* Address space that is kept for the time when there is none: objects that must be made, as the state of a frame is in them, find room in it. It is never touched, so it takes no memory; a limit like RLIMIT_AS
 * counts it. */
#ifndef JY_RUNTIME_RESERVE_H
#define JY_RUNTIME_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

struct jy_reserve {
    void *at; /* NULL: none */
    size_t size;
};

/* At least so many bytes; false: there are none, and it is as it was. */
bool jy_reserve_grow(struct jy_reserve *reserve, size_t bytes);
void jy_reserve_release(struct jy_reserve *reserve);
/* The process's own, for frames and what is in them: again where it was spent. False: there is no memory for it. */
bool jy_reserve_keep(void);
/* A MemoryError is set: it is cleared, the reserves are spent (own: may be NULL), and what has failed may be tried once more. False: it is another exception, which stays. */
bool jy_reserve_spend(struct jy_reserve *own);
/* Could so many bytes be had now? Who cannot fail asks before. */
bool jy_reserve_has_room(size_t bytes);

#endif
