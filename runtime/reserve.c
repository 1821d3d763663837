/* Address space for the time when there is none; reserve.h says what for. */
#include "runtime/reserve.h"
#include "runtime/function.h"
#include <sys/mman.h>

/* Taste: CPython asks for its small objects a megabyte at a time. */
#define OWN_BYTES ((size_t)4 << 20)

static void *
map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

bool
jy_reserve_grow(struct jy_reserve *r, size_t bytes)
{
    if (bytes <= r->size)
        return true;
    void *at = map(bytes);
    if (at == NULL)
        return false;
    jy_reserve_release(r);
    *r = (struct jy_reserve){ at, bytes };
    return true;
}

void
jy_reserve_release(struct jy_reserve *r)
{
    if (r->at != NULL)
        munmap(r->at, r->size);
    *r = (struct jy_reserve){ NULL, 0 };
}

bool
jy_reserve_keep(void)
{
    return jy_runtime->reserve.at != NULL || jy_reserve_grow(&jy_runtime->reserve, OWN_BYTES);
}

bool
jy_reserve_spend(struct jy_reserve *own)
{
    if (!PyErr_ExceptionMatches(PyExc_MemoryError))
        return false;
    PyErr_Clear();
    if (own != NULL)
        jy_reserve_release(own);
    jy_reserve_release(&jy_runtime->reserve);
    return true;
}

bool
jy_reserve_has_room(size_t bytes)
{
    void *at = map(bytes);
    if (at != NULL)
        munmap(at, bytes);
    return at != NULL;
}
