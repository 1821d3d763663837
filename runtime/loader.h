/* Machine code in memory: places relocatable ELF objects, finds their symbols, frees them. */
#ifndef JY_RUNTIME_LOADER_H
#define JY_RUNTIME_LOADER_H

#include "graph/base/status.h"
#include <stddef.h>

struct jy_code_block;

/* Copies the object's sections into executable memory and applies its relocations; `object` is not needed
 * afterwards. JY_BREAK with *why (static text) for an object that this loader does not understand. One thread at a
 * time (the GIL). */
jy_status jy_loader_place(struct jy_code_block **out, const char *object, size_t size, const char **why);
/* NULL when the object defines no such symbol. */
void *jy_loader_symbol(const struct jy_code_block *block, const char *name);
/* No thread may be inside the code. NULL is allowed. */
void jy_loader_free(struct jy_code_block *block);

#endif
