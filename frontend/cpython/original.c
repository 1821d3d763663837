/* Owns an arena with the decoded form; whoever edits takes a copy (jy_transform_original in assemble.c). */
#include "frontend/cpython/original.h"

#include <stdlib.h>

#include "frontend/cpython/decode.h"

static bool
decode(struct jy_original *o)
{
    if (setjmp(*jy_arena_guard(o->o_arena)) != 0)
        return false;
    return jy_decode_code(&o->o_code, o->o_arena, o->o_object) == JY_OK;
}

struct jy_original *
jy_original_new(PyObject *code)
{
    struct jy_original *o = calloc(1, sizeof *o);
    if (o == NULL || (o->o_arena = jy_arena_new()) == NULL) {
        free(o);
        return NULL;
    }
    o->o_object = Py_NewRef(code);
    o->o_refs = 1;
    if (decode(o))
        return o;
    PyErr_Clear();
    jy_original_release(o);
    return NULL;
}

void
jy_original_release(struct jy_original *o)
{
    if (o == NULL || --o->o_refs != 0)
        return;
    jy_arena_free(o->o_arena);
    Py_DECREF(o->o_object);
    free(o);
}

const struct jy_layout_map *
jy_original_map(struct jy_original *o)
{
    if (!o->o_has_map && setjmp(*jy_arena_guard(o->o_arena)) == 0)
        o->o_has_map = jy_code_layout(&o->o_map, o->o_code) == JY_OK;
    return o->o_has_map ? &o->o_map : NULL;
}

const struct jy_stretches *
jy_original_stretches(struct jy_original *o)
{
    const struct jy_layout_map *map = jy_original_map(o);
    if (map != NULL && o->o_stretches == NULL && setjmp(*jy_arena_guard(o->o_arena)) == 0)
        o->o_stretches = jy_stretches_new(o->o_code, map);
    return o->o_stretches;
}
