/* Constants, locals, globals, cells.
 *
 * A name that the function finds in its globals is a GLOBAL source; one that it finds in its builtins also relies on its absence from the globals. A store
 * to a cell of the root frame that existed before is an effect; one to a callee's breaks, as do both when a callee's could be the same cell. */
#include "frontend/effects.h"
#include "frontend/ops.h"

static const char *
local_name(struct jy_frame *f, int slot)
{
    return jy_utf8(jy_code_local_name(f->f_instrs, slot));
}

jy_status
op_load_const(struct jy_frame *f, const struct jy_instr *instr)
{
    return jy_push(f, jy_value_const(f, jy_code_const(f->f_instrs, instr->i_arg)));
}

/* ---- locals ---- */

static jy_status
load_local(struct jy_frame *f, int slot)
{
    struct jy_value *v = f->f_locals[slot];
    if (v == NULL)
        return jy_break(f, JY_BREAK_UNBOUND, "%s", local_name(f, slot));
    return jy_push(f, v);
}

bool
jy_drop_shows(struct jy_frame *f, PyObject *o, bool deleting)
{
    if (o == NULL || jy_value_is_plain(f, o) || (PyObject *)Py_TYPE(o) == f->f_trace->ndarray)
        return false;
    return deleting || Py_TYPE(o)->tp_finalize != NULL || Py_TYPE(o)->tp_del != NULL;
}

/* Does the container that it came out of still hold it? */
static bool
is_held(const struct jy_frame *f, const struct jy_value *v)
{
    const struct jy_trace_state *t = f->f_trace;
    const struct jy_source *s = &t->unit->u_sources.at[v->v_source];
    bool item = (s->kind == JY_SOURCE_ITEM || s->kind == JY_SOURCE_KEY) && s->base < t->values.n;
    const struct jy_value *base = item ? t->values.at[s->base] : NULL;
    if (base == NULL || (base->v_kind != JY_V_LIST && base->v_kind != JY_V_TUPLE && base->v_kind != JY_V_DICT))
        return false;
    for (size_t i = 0; i < base->u.seq.n; i++)
        if (base->u.seq.at[i] == v)
            return true;
    return false;
}

/* Does a weak reference tell when the array, or one whose memory it shows, goes? */
static bool
is_watched(struct jy_frame *f, PyObject *o)
{
    while (o != NULL && (PyObject *)Py_TYPE(o) == f->f_trace->ndarray) {
        if (*(PyObject **)((char *)o + Py_TYPE(o)->tp_weaklistoffset) != NULL)
            return true;
        o = PyObject_GetAttrString(o, "base");
        Py_XDECREF(o); /* the array holds it */
    }
    PyErr_Clear();
    return false;
}

/* Does the object hold nothing whose destructor could run the program's code? */
static bool
is_inert(struct jy_frame *f, const struct jy_value *v)
{
    return v->v_source == JY_NO_SOURCE || v->v_kind == JY_V_CONST || v->v_kind == JY_V_ARRAY ||
           v->v_kind == JY_V_SCALAR || v->v_object == NULL || jy_value_is_plain(f, v->v_object) ||
           (PyObject *)Py_TYPE(v->v_object) == f->f_trace->ndarray;
}

/* What the unit's frame held at its start goes when the frame does, in the order of its slots. */
static void
note_drop(struct jy_frame *f, size_t slot)
{
    struct jy_trace_state *t = f->f_trace;
    PyObject *object = f->f_locals[slot]->v_object;
    bool shows = jy_drop_shows(f, object, false) || is_watched(f, object);
    if (t->drop_step == 0) {
        t->drop_step = t->root_steps;
        t->drop_effects = t->effects.n;
    } else if (slot < t->drop_slot && (shows || t->drop_shows)) {
        t->drop_mixed = true;
    }
    t->drop_slot = slot > t->drop_slot ? slot : t->drop_slot;
    t->drop_shows = t->drop_shows || shows;
}

/* The root frame drops a reference to what came from outside. Eager does it here. Compiled code does it at the end of the unit, which shows when a destructor runs that looks at what the
 * unit changes in between; what a caller holds, as it does every argument, is dropped at the end of the call. */
static jy_status
check_drop(struct jy_frame *f, int slot, bool deleting)
{
    struct jy_trace_state *t = f->f_trace;
    const struct jy_value *v = f->f_locals[slot];
    if (f->f_back != NULL || v == NULL || v->v_source == JY_NO_SOURCE)
        return JY_OK;
    bool watched = t->start != JY_NO_INSTR && is_watched(f, v->v_object); /* a caller holds the arguments */
    if ((is_inert(f, v) && !watched) || is_held(f, v))
        return JY_OK;
    bool is_parameter = t->unit->u_sources.at[v->v_source].kind == JY_SOURCE_LOCAL && t->start == JY_NO_INSTR;
    if (is_parameter && jy_drop_shows(f, v->v_object, deleting))
        return jy_break(f, JY_BREAK_DELETE_PARAMETER, "%s, a %s", local_name(f, slot), Py_TYPE(v->v_object)->tp_name);
    note_drop(f, (size_t)slot);
    return JY_OK;
}

void
jy_drop_locals(struct jy_frame *f)
{
    struct jy_trace_state *t = f->f_trace;
    if (t->drop_step == 0 || t->start == JY_NO_INSTR) /* a caller holds the arguments */
        return;
    for (size_t i = 0; i < f->f_nlocals; i++) {
        const struct jy_value *v = f->f_locals[i];
        if (v != NULL && !is_inert(f, v) && t->unit->u_sources.at[v->v_source].kind == JY_SOURCE_LOCAL)
            note_drop(f, i);
    }
}

static jy_status
store_local(struct jy_frame *f, int slot)
{
    if (f->f_locals[slot] != *jy_peek(f, 1)) /* x += y may give x */
        TRY(check_drop(f, slot, false));
    f->f_locals[slot] = jy_pop(f);
    return JY_OK;
}

jy_status
op_load_fast(struct jy_frame *f, const struct jy_instr *instr)
{
    return load_local(f, instr->i_arg);
}

jy_status
op_load_fast_and_clear(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *v = f->f_locals[instr->i_arg];
    f->f_locals[instr->i_arg] = NULL;
    return jy_push(f, v != NULL ? v : jy_value_new(f, JY_V_NULL));
}

jy_status
op_load_fast_load_fast(struct jy_frame *f, const struct jy_instr *instr)
{
    TRY(load_local(f, instr->i_arg >> 4));
    return load_local(f, instr->i_arg & 15);
}

/* What LOAD_FAST_AND_CLEAR took away may come back as NULL: an unbound local again. */
jy_status
op_store_fast(struct jy_frame *f, const struct jy_instr *instr)
{
    TRY(store_local(f, instr->i_arg));
    if (f->f_locals[instr->i_arg]->v_kind == JY_V_NULL)
        f->f_locals[instr->i_arg] = NULL;
    return JY_OK;
}

jy_status
op_store_fast_load_fast(struct jy_frame *f, const struct jy_instr *instr)
{
    TRY(store_local(f, instr->i_arg >> 4));
    return load_local(f, instr->i_arg & 15);
}

jy_status
op_store_fast_store_fast(struct jy_frame *f, const struct jy_instr *instr)
{
    TRY(store_local(f, instr->i_arg >> 4));
    return store_local(f, instr->i_arg & 15);
}

jy_status
op_delete_fast(struct jy_frame *f, const struct jy_instr *instr)
{
    if (f->f_locals[instr->i_arg] == NULL)
        return jy_break(f, JY_BREAK_UNBOUND, "%s", local_name(f, instr->i_arg));
    TRY(check_drop(f, instr->i_arg, true));
    f->f_locals[instr->i_arg] = NULL;
    return JY_OK;
}

/* ---- globals ---- */

jy_status
jy_global_load(struct jy_frame *f, struct jy_value **out, PyObject *name)
{
    struct jy_unit *unit = f->f_trace->unit;
    bool stored = jy_global_is_stored(f, out, name);
    if (stored && *out != NULL)
        return JY_OK;
    jy_src source = jy_source_add(unit, JY_SOURCE_GLOBAL, f->f_function_source, 0, name);
    PyObject *object = stored ? NULL : PyDict_GetItemWithError(f->f_globals, name);
    if (object == NULL && PyErr_Occurred())
        return jy_break_from_exception(f, JY_BREAK_UNBOUND);
    if (object == NULL && stored)
        return jy_break(f, JY_BREAK_STORE_GLOBAL, "%s, which was deleted", jy_utf8(name));
    if (object == NULL) {
        jy_guard_value(f, JY_GUARD_ABSENT, source, 0);
        source = jy_source_add(unit, JY_SOURCE_BUILTIN, f->f_function_source, 0, name);
        object = PyDict_GetItemWithError(f->f_builtins, name);
    }
    if (object == NULL) {
        if (PyErr_Occurred())
            return jy_break_from_exception(f, JY_BREAK_UNBOUND);
        return jy_break(f, JY_BREAK_UNBOUND, "the global %s", jy_utf8(name));
    }
    unit->u_sources.at[source].is_read = true;
    *out = jy_value_lazy(f, object, source);
    return JY_OK;
}

jy_status
op_load_global(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *v = NULL;
    TRY(jy_global_load(f, &v, jy_code_name(f->f_instrs, jy_instr_name_index(instr))));
    if (jy_instr_pushes_null(instr))
        return jy_push_callable(f, v);
    return jy_push(f, v);
}

jy_status
op_load_assertion_error(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return jy_push(f, jy_value_callable(f, PyExc_AssertionError, JY_NO_SOURCE));
}

/* ---- cells ---- */

static jy_status
get_cell(struct jy_frame *f, struct jy_value **out, int slot)
{
    *out = f->f_locals[slot];
    if (*out == NULL || (*out)->v_kind != JY_V_CELL)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "%s is no cell", local_name(f, slot));
    return JY_OK;
}

/* The prologue makes a cell in its slot. One that is made later, for a name of an inlined comprehension whose cell or value then stands on the stack, is a new object. */
jy_status
op_make_cell(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *cell = jy_value_new(f, JY_V_CELL);
    cell->u.cell.content = f->f_locals[instr->i_arg];
    if (f->f_back == NULL && f->f_depth == 0)
        cell->u.cell.slot = (uint32_t)instr->i_arg + 1;
    f->f_locals[instr->i_arg] = cell;
    return JY_OK;
}

jy_status
op_load_closure(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *cell;
    TRY(get_cell(f, &cell, instr->i_arg));
    return jy_push(f, cell);
}

/* What is in a cell; a break where it is empty. */
static jy_status
read_cell(struct jy_frame *f, struct jy_value **out, int slot)
{
    struct jy_value *cell;
    TRY(get_cell(f, &cell, slot));
    if (cell->u.cell.content == NULL)
        return jy_break(f, JY_BREAK_UNBOUND, "%s", local_name(f, slot));
    *out = cell->u.cell.content;
    if ((*out)->v_source == JY_NO_SOURCE)
        return JY_OK;
    struct jy_source *source = &f->f_trace->unit->u_sources.at[(*out)->v_source];
    source->is_read |= source->kind == JY_SOURCE_CELL || source->kind == JY_SOURCE_CONTENT;
    return JY_OK;
}

jy_status
op_load_deref(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *content;
    TRY(read_cell(f, &content, instr->i_arg));
    return jy_push(f, content);
}

static jy_status
set_cell(struct jy_frame *f, int slot, struct jy_value *content)
{
    struct jy_value *cell;
    TRY(get_cell(f, &cell, slot));
    if (cell->v_source != JY_NO_SOURCE && cell->u.cell.slot == 0)
        return jy_break(f, JY_BREAK_STORE_CELL, "%s", local_name(f, slot));
    if (cell->v_source != JY_NO_SOURCE && f->f_trace->other_cells) /* which may be the same cell */
        return jy_break(f, JY_BREAK_STORE_CELL, "%s", local_name(f, slot));
    f->f_trace->stores_cells |= cell->v_source != JY_NO_SOURCE;
    if (cell->v_source != JY_NO_SOURCE)
        jy_effect_add(f, JY_EFFECT_STORE_CELL, cell, NULL, NULL, content);
    cell->u.cell.content = content;
    return JY_OK;
}

jy_status
op_store_deref(struct jy_frame *f, const struct jy_instr *instr)
{
    TRY(set_cell(f, instr->i_arg, *jy_peek(f, 1)));
    jy_pop(f);
    return JY_OK;
}

jy_status
op_delete_deref(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *content;
    TRY(read_cell(f, &content, instr->i_arg));
    return set_cell(f, instr->i_arg, NULL);
}

/* A live function's own cell. Its contents are read at every call, so they are a source. */
static jy_status
live_cell(struct jy_frame *f, struct jy_value **out, PyObject *closure, size_t index, PyObject *name)
{
    if (closure == NULL || index >= (size_t)PyTuple_GET_SIZE(closure) ||
        !PyCell_Check(PyTuple_GET_ITEM(closure, index)))
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "a closure that does not fit");
    if (f->f_back != NULL && f->f_trace->stores_cells) /* it may be one that was written */
        return jy_break(f, JY_BREAK_STORE_CELL, "%s", jy_utf8(name));
    f->f_trace->other_cells |= f->f_back != NULL;
    *out = jy_value_new(f, JY_V_CELL);
    (*out)->v_source = jy_source_add(f->f_trace->unit, JY_SOURCE_CELL, f->f_function_source, (uint32_t)index, name);
    PyObject *content = PyCell_GET(PyTuple_GET_ITEM(closure, index));
    if (content != NULL)
        (*out)->u.cell.content = jy_value_lazy(f, content, (*out)->v_source);
    return JY_OK;
}

jy_status
jy_copy_free_vars(struct jy_frame *f, size_t n)
{
    if (n > f->f_nlocals)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "%zu free variables", n);
    size_t first = f->f_nlocals - n;
    for (size_t i = 0; i < n; i++) {
        struct jy_value *cell = NULL;
        if (f->f_closure != NULL) {
            if (i >= f->f_closure->u.seq.n || f->f_closure->u.seq.at[i]->v_kind != JY_V_CELL)
                return jy_break(f, JY_BREAK_BAD_BYTECODE, "a closure that does not fit");
            cell = f->f_closure->u.seq.at[i];
        } else {
            PyObject *closure = f->f_function != NULL ? ((PyFunctionObject *)f->f_function)->func_closure : NULL;
            TRY(live_cell(f, &cell, closure, i, jy_code_local_name(f->f_instrs, (int)(first + i))));
            if (f->f_back == NULL)
                cell->u.cell.slot = (uint32_t)(first + i) + 1;
        }
        f->f_locals[first + i] = cell;
    }
    return JY_OK;
}

jy_status
op_copy_free_vars(struct jy_frame *f, const struct jy_instr *instr)
{
    return jy_copy_free_vars(f, (size_t)instr->i_arg);
}
