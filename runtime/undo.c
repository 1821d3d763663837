/* Saving and restoring strided regions. All are saved before anything is written, so regions that overlap hold the
 * same old bytes and the order of restoring is free. */
#include "runtime/undo.h"
#include "runtime/alloc.h"
#include <string.h>

int64_t
jy_region_bytes(const struct jy_region *region)
{
    int64_t bytes = (int64_t)region->itemsize;
    for (size_t i = 0; i < region->ndim; i++)
        bytes *= region->shape[i];
    return bytes;
}

/* Copies axis `axis` and those inside it; returns the dense position after it. */
static char *
copy(const struct jy_region *r, size_t axis, char *at, char *dense, bool to_dense)
{
    if (axis == r->ndim) {
        memcpy(to_dense ? dense : at, to_dense ? at : dense, r->itemsize);
        return dense + r->itemsize;
    }
    if (axis + 1 == r->ndim && r->stride[axis] == (int64_t)r->itemsize) {
        size_t bytes = (size_t)r->shape[axis] * r->itemsize;
        memcpy(to_dense ? dense : at, to_dense ? at : dense, bytes);
        return dense + bytes;
    }
    for (int64_t i = 0; i < r->shape[axis]; i++)
        dense = copy(r, axis + 1, at + i * r->stride[axis], dense, to_dense);
    return dense;
}

void
jy_region_read(void *to, const struct jy_region *region)
{
    copy(region, 0, region->data, to, true);
}

void
jy_region_write(const struct jy_region *region, const void *from)
{
    copy(region, 0, region->data, (char *)(uintptr_t)from, false);
}

bool
jy_undo_save(struct jy_undo *out, struct jy_region *regions, size_t n)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += jy_region_bytes(&regions[i]);
    char *at = jy_block_alloc((size_t)bytes);
    if (at == NULL)
        return false;
    *out = (struct jy_undo){ regions, n, at };
    for (size_t i = 0; i < n; i++) {
        jy_region_read(at, &regions[i]);
        at += jy_region_bytes(&regions[i]);
    }
    return true;
}

void
jy_undo_restore(struct jy_undo *undo)
{
    const char *at = undo->saved;
    for (size_t i = 0; at != NULL && i < undo->n; i++) {
        jy_region_write(&undo->regions[i], at);
        at += jy_region_bytes(&undo->regions[i]);
    }
    jy_undo_drop(undo);
}

void
jy_undo_drop(struct jy_undo *undo)
{
    jy_block_free(undo->saved);
    undo->saved = NULL;
}
