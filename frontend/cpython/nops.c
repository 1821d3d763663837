/* NOPs at random places, see nops.h.  A splitmix64 generator draws them: a printed seed repeats a run. */
#include "frontend/cpython/nops.h"

#include "frontend/cpython/edit.h"

uint64_t
jy_nops_random(uint64_t *random)
{
    uint64_t x = *random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void
jy_nops_insert(struct jy_code *code, int count, uint64_t *random)
{
    for (int i = 0; i < count; i++) {
        int at = (int)(jy_nops_random(random) % (uint64_t)code->c_ndecoded);
        if (!jy_edit_is_glued(code, at))
            jy_edit_insert_before(code, at, NOP, 0);
    }
}
