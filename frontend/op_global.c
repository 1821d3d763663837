/* Stores to global names.
 *
 * A store is an effect on the traced function's globals; from then on the trace reads what was stored, in every frame that has the same globals. Whoever reads them another way, as
 * attributes of their module or as a dict, breaks. */
#include "frontend/effects.h"
#include "frontend/ops.h"

static PyObject *
root_globals(const struct jy_frame *f)
{
    while (f->f_back != NULL)
        f = f->f_back;
    return f->f_globals;
}

static struct jy_global *
find(const struct jy_trace_state *t, PyObject *name)
{
    struct jy_index_probe probe;
    for (uint32_t i = jy_index_first(&t->global_index, &probe, (uint32_t)PyObject_Hash(name)); i != JY_INDEX_END;
         i = jy_index_next(&t->global_index, &probe))
        if (PyUnicode_Compare(t->globals.at[i].name, name) == 0)
            return &t->globals.at[i];
    return NULL;
}

bool
jy_global_is_stored(const struct jy_frame *f, struct jy_value **out, PyObject *name)
{
    const struct jy_global *global = f->f_globals == root_globals(f) ? find(f->f_trace, name) : NULL;
    *out = global != NULL ? global->value : NULL;
    return global != NULL;
}

bool
jy_is_stored_to(const struct jy_frame *f, PyObject *dict)
{
    return f->f_trace->globals.n != 0 && dict == root_globals(f);
}

static jy_status
store(struct jy_frame *f, PyObject *name, struct jy_value *value)
{
    struct jy_trace_state *t = f->f_trace;
    struct jy_value *old = NULL, *dict = jy_value_of_live(f, f->f_globals);
    if (f->f_globals != root_globals(f))
        return jy_break(f, JY_BREAK_STORE_GLOBAL, "%s of another module's function", jy_utf8(name));
    if (dict != NULL && dict->v_kind != JY_V_LAZY)
        return jy_break(f, JY_BREAK_STORE_GLOBAL, "%s of globals that were read as a dict", jy_utf8(name));
    struct jy_global *global = find(t, name);
    PyObject *object = global == NULL ? PyDict_GetItemWithError(f->f_globals, name) : NULL;
    if (PyErr_Occurred())
        return jy_break_from_exception(f, JY_BREAK_STORE_GLOBAL);
    jy_src source = jy_source_add(t->unit, JY_SOURCE_GLOBAL, f->f_function_source, 0, name);
    if (global != NULL)
        old = global->value;
    else if (object != NULL)
        old = jy_value_lazy(f, object, source);
    else
        jy_guard_value(f, JY_GUARD_ABSENT, source, 0);
    if (old == NULL && value == NULL)
        return jy_break(f, JY_BREAK_UNBOUND, "the global %s", jy_utf8(name));
    if (old != NULL)
        TRY(jy_check_dropped(f, old, old));
    t->unit->u_sources.at[source].is_read |= global == NULL && value == NULL;
    if (global == NULL) {
        jy_index_add(jy_frame_arena(f), &t->global_index, (uint32_t)PyObject_Hash(name), (uint32_t)t->globals.n);
        global = jy_vec_push(jy_frame_arena(f), &t->globals);
    }
    *global = (struct jy_global){ .name = name, .value = value };
    jy_effect_add(f, value != NULL ? JY_EFFECT_STORE_GLOBAL : JY_EFFECT_DELETE_GLOBAL, NULL, name, NULL, value);
    return JY_OK;
}

jy_status
op_store_global(struct jy_frame *f, const struct jy_instr *instr)
{
    TRY(store(f, jy_code_name(f->f_instrs, instr->i_arg), *jy_peek(f, 1)));
    jy_pop(f);
    return JY_OK;
}

jy_status
op_delete_global(struct jy_frame *f, const struct jy_instr *instr)
{
    return store(f, jy_code_name(f->f_instrs, instr->i_arg), NULL);
}
