/* Undo log: contents of regions that a unit is about to overwrite. */
#ifndef JY_RUNTIME_UNDO_H
#define JY_RUNTIME_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "graph/graph.h"

/* Strided memory. */
struct jy_region {
    char *data;
    size_t ndim, itemsize;
    int64_t shape[JY_MAX_NDIM], stride[JY_MAX_NDIM];
};

int64_t jy_region_bytes(const struct jy_region *region);
/* Between the region and dense memory in C order. */
void jy_region_read(void *to, const struct jy_region *region);
void jy_region_write(const struct jy_region *region, const void *from);

struct jy_undo {
    struct jy_region *regions;
    size_t n;
    char *saved; /* the dense contents, one after the other; NULL: nothing is saved */
};

/* Takes `regions` (kept by the caller until the undo ends). False: no memory. */
bool jy_undo_save(struct jy_undo *out, struct jy_region *regions, size_t n);
void jy_undo_restore(struct jy_undo *undo); /* and drops it */
void jy_undo_drop(struct jy_undo *undo);

#endif
