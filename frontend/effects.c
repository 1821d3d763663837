/* Recording effects; outputs.c makes recipes of them when the unit ends. */
#include "frontend/effects.h"

static struct jy_pending_effect *
add(struct jy_frame *f, enum jy_effect_kind kind)
{
    struct jy_pending_effect *e = jy_vec_push(jy_frame_arena(f), &f->f_trace->effects);
    *e = (struct jy_pending_effect){ .kind = (uint8_t)kind };
    return e;
}

void
jy_effect_add(struct jy_frame *f, enum jy_effect_kind kind, struct jy_value *target, PyObject *name,
              struct jy_value *key, struct jy_value *value)
{
    struct jy_pending_effect *e = add(f, kind);
    e->target = target;
    e->key = key;
    e->value = value;
    e->name = name != NULL ? jy_keep(f->f_trace->unit, name) : 0;
}

void
jy_effect_add_call(struct jy_frame *f, PyObject *callable, size_t nargs, struct jy_value *const *args)
{
    struct jy_pending_effect *e = add(f, JY_EFFECT_CALL);
    e->name = jy_keep(f->f_trace->unit, callable);
    e->nargs = nargs;
    e->args = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, nargs + 1);
    for (size_t i = 0; i < nargs; i++)
        e->args[i] = args[i];
}
