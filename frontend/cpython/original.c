/* Owns an arena with the decoded form; whoever edits takes a copy (jy_transform_original in assemble.c). */
#include "frontend/cpython/original.h"

#include <limits.h>
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

/* The id of the first instruction of any handler: they stand behind all else. */
static int
first_handler(const struct jy_code *code)
{
    int first = INT_MAX;
    for (size_t k = 0; k < code->c_handlers.n; k++)
        if (code->c_handlers.at[k].h_handler < first)
            first = code->c_handlers.at[k].h_handler;
    return first;
}

struct jy_loop_heads *
jy_loop_heads_new(struct jy_arena *arena, const struct jy_code *code)
{
    struct jy_loop_heads *heads = JY_NEW(arena, struct jy_loop_heads);
    heads->kinds = JY_NEW_ARRAY(arena, uint8_t, code->c_instrs.n);
    int handlers = first_handler(code);
    for (int id = 0; id < code->c_ndecoded; id++) {
        int head = code->c_instrs.at[id].i_target;
        if (head == JY_NO_INSTR || head > id)
            continue;
        if (heads->kinds[head] == 0)
            *jy_vec_push(arena, heads) = head;
        heads->kinds[head] |= id < handlers ? JY_HEAD | JY_HEAD_OUTSIDE : JY_HEAD;
    }
    return heads;
}

const struct jy_loop_heads *
jy_original_heads(struct jy_original *o)
{
    if (o->o_heads == NULL && setjmp(*jy_arena_guard(o->o_arena)) == 0)
        o->o_heads = jy_loop_heads_new(o->o_arena, o->o_code);
    return o->o_heads;
}
