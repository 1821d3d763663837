/* The end of a unit: what the graph hands out, and how the program's objects are made of it: the result, or all that is alive where the unit stops, and what it does to objects that
 * others can see.
 *
 * Decides the order of PyCodegen's shortcuts: what came in and is returned as it is comes from its source, numbers and arrays come out of the
 * graph, constants are constants, containers are rebuilt. Two appearances of one object share one recipe; a container that contains itself breaks. */
#include "frontend/instance.h"
#include "frontend/cpython/compat.h"
#include "frontend/interp.h"

struct jy_outputs {
    struct {
        struct entry {
            const struct jy_value *value;
            struct jy_recipe *recipe;
            bool open;
        } *at;
        size_t n, cap;
    } entries;
    struct jy_index by_value; /* a unit may hand out thousands */
    struct {
        struct jy_value **at;
        size_t n, cap;
    } instances;   /* new ones, and new cells, which are made empty */
    size_t stored; /* of the instances */
};

static jy_status build(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);

static struct jy_recipe *
recipe_new(struct jy_frame *f, enum jy_recipe_kind kind)
{
    struct jy_recipe *r = JY_NEW(jy_frame_arena(f), struct jy_recipe);
    r->kind = (uint8_t)kind;
    return r;
}

struct jy_recipe *
jy_recipe_const(struct jy_frame *f, PyObject *object)
{
    struct jy_recipe *r = recipe_new(f, JY_RECIPE_CONST);
    r->object = jy_keep(f->f_trace->unit, object);
    return r;
}

struct jy_recipe *
jy_recipe_call(struct jy_frame *f, PyObject *callable, size_t n, struct jy_recipe *const *items)
{
    struct jy_recipe *r = recipe_new(f, JY_RECIPE_CALL);
    r->object = jy_keep(f->f_trace->unit, callable);
    r->n = n;
    r->items = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_recipe *, n + 1);
    for (size_t i = 0; i < n; i++)
        r->items[i] = items[i];
    return r;
}

static jy_status
build_output(struct jy_recipe **out, struct jy_frame *f, struct jy_value *v)
{
    struct jy_graph *g = f->f_trace->graph;
    jy_ref node;
    TRY(jy_value_node(f, &node, v));
    *out = recipe_new(f, JY_RECIPE_OUTPUT);
    (*out)->output = (uint32_t)g->g_outputs.n;
    jy_graph_add_output(g, node);
    return JY_OK;
}

static jy_status
build_items(struct jy_recipe *r, struct jy_frame *f, struct jy_outputs *o, struct jy_value *const *items, size_t n)
{
    r->n = n;
    r->items = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_recipe *, n + 1);
    TRY(jy_enter(f));
    for (size_t i = 0; i < n; i++)
        TRY(build(&r->items[i], f, o, items[i]));
    jy_leave(f);
    return JY_OK;
}

static jy_status
build_dict(struct jy_recipe *r, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    PyObject *keys = jy_hold(f, PyTuple_New((Py_ssize_t)v->u.seq.n));
    if (keys == NULL)
        return JY_ERROR;
    for (size_t i = 0; i < v->u.seq.n; i++)
        PyTuple_SET_ITEM(keys, i, Py_NewRef(v->u.seq.keys[i]));
    r->object = jy_keep(f->f_trace->unit, keys);
    return build_items(r, f, o, v->u.seq.at, v->u.seq.n);
}

static jy_status
build_slice(struct jy_recipe *r, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_value *parts[] = { v->u.range.start, v->u.range.stop, v->u.range.step };
    for (size_t i = 0; i < 3; i++)
        if (parts[i] == NULL)
            parts[i] = jy_value_const(f, Py_None);
    return build_items(r, f, o, parts, 3);
}

static jy_status
build_part(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    if (v == NULL) {
        *out = jy_recipe_const(f, Py_None);
        return JY_OK;
    }
    return build(out, f, o, v);
}

static jy_status
build_range(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_recipe *parts[3];
    TRY(build_part(&parts[0], f, o, v->u.range.start));
    TRY(build_part(&parts[1], f, o, v->u.range.stop));
    TRY(build_part(&parts[2], f, o, v->u.range.step));
    *out = jy_recipe_call(f, (PyObject *)&PyRange_Type, 3, parts);
    return JY_OK;
}

/* MAKE_FUNCTION gives the function the globals of the frame that runs it. */
static jy_status
build_function(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_value *parts[] = { v->u.func.defaults, v->u.func.kwdefaults, v->u.func.annotations, v->u.func.closure };
    if (v->v_object != NULL || v->u.func.maker->f_globals != f->f_globals)
        return jy_break(f, JY_BREAK_RESULT, "%s of another module", jy_value_describe(f, v));
    *out = recipe_new(f, JY_RECIPE_FUNCTION);
    (*out)->object = jy_keep(f->f_trace->unit, v->u.func.code);
    (*out)->n = 4;
    (*out)->items = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_recipe *, 4);
    for (size_t i = 0; i < 4; i++)
        if (parts[i] != NULL)
            TRY(build(&(*out)->items[i], f, o, parts[i]));
    return JY_OK;
}

/* A bound method is made anew by each look-up, so one more tells nobody anything. */
static jy_status
build_method(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_recipe *parts[2];
    if (v->u.func.name != NULL && v->u.func.self->v_kind == JY_V_INSTANCE) { /* the builtin type's own */
        PyObject *raw = _PyType_Lookup(v->u.func.self->u.instance->over.builtin, v->u.func.name);
        PyObject *get = raw != NULL ? jy_hold(f, PyObject_GetAttrString((PyObject *)Py_TYPE(raw), "__get__")) : NULL;
        if (get == NULL)
            return jy_break_from_exception(f, JY_BREAK_RESULT);
        parts[0] = jy_recipe_const(f, raw);
        TRY(build(&parts[1], f, o, v->u.func.self));
        *out = jy_recipe_call(f, get, 2, parts);
        return JY_OK;
    }
    if (v->u.func.name != NULL) {
        PyObject *getattr = jy_compat_dict_get(f->f_builtins, "getattr");
        if (getattr == NULL || !PyCFunction_Check(getattr))
            return jy_break(f, JY_BREAK_RESULT, "%s", jy_value_describe(f, v));
        TRY(build(&parts[0], f, o, v->u.func.self));
        parts[1] = jy_recipe_const(f, v->u.func.name);
        *out = jy_recipe_call(f, getattr, 2, parts);
        return JY_OK;
    }
    TRY(build(&parts[0], f, o, v->u.func.function));
    TRY(build(&parts[1], f, o, v->u.func.self));
    *out = jy_recipe_call(f, (PyObject *)&PyMethod_Type, 2, parts);
    return JY_OK;
}

static jy_status
build_kind(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_CONST:
        *out = recipe_new(f, JY_RECIPE_CONST);
        (*out)->object = jy_keep(f->f_trace->unit, v->v_object);
        return JY_OK;
    case JY_V_ARRAY:
        if (v->u.array.frozen)
            return jy_break(f, JY_BREAK_RESULT, "a broadcast view, which NumPy makes read-only");
        return build_output(out, f, v);
    case JY_V_SCALAR:
        return build_output(out, f, v);
    case JY_V_TUPLE:
    case JY_V_LIST:
        if (v->v_kind == JY_V_TUPLE && v->u.seq.is_key)
            return jy_break(f, JY_BREAK_RESULT, "a tuple that is a key, too");
        *out = recipe_new(f, v->v_kind == JY_V_TUPLE ? JY_RECIPE_TUPLE : JY_RECIPE_LIST);
        return build_items(*out, f, o, v->u.seq.at, v->u.seq.n);
    case JY_V_DICT:
        *out = recipe_new(f, JY_RECIPE_DICT);
        return build_dict(*out, f, o, v);
    case JY_V_SET:
        return jy_set_recipe(out, f, v);
    case JY_V_SLICE:
        *out = recipe_new(f, JY_RECIPE_SLICE);
        return build_slice(*out, f, o, v);
    case JY_V_CALLABLE:
        if (v->v_source == JY_NO_SOURCE && jy_is_getter(v->v_object)) /* each call makes its own */
            break;
        *out = jy_recipe_const(f, v->v_object);
        return JY_OK;
    case JY_V_MODULE:
        *out = recipe_new(f, JY_RECIPE_CONST);
        (*out)->object = jy_keep(f->f_trace->unit, v->v_object);
        return JY_OK;
    case JY_V_NULL:
        *out = recipe_new(f, JY_RECIPE_NULL);
        return JY_OK;
    case JY_V_HANDLED:
        *out = recipe_new(f, JY_RECIPE_HANDLED);
        return build_items(*out, f, o, &v->u.handled.exception, 1);
    case JY_V_RANGE:
        return build_range(out, f, o, v);
    case JY_V_FUNCTION:
        return build_function(out, f, o, v);
    case JY_V_METHOD:
        return build_method(out, f, o, v);
    case JY_V_CELL:
        if (v->u.cell.slot == 0 && v->v_source == JY_NO_SOURCE) {
            *jy_vec_push(jy_frame_arena(f), &o->instances) = v;
            *out = jy_recipe_call(f, (PyObject *)&PyCell_Type, 0, NULL);
            return JY_OK;
        }
        if (v->u.cell.slot == 0)
            break;
        *out = recipe_new(f, JY_RECIPE_SLOT);
        (*out)->output = v->u.cell.slot - 1;
        return JY_OK;
    case JY_V_DICTVIEW:
        return jy_dict_view_recipe(out, f, o, v);
    case JY_V_ITER:
        return jy_iter_recipe(out, f, o, v);
    case JY_V_LAZY:
    case JY_V_OPAQUE:
    case JY_V_EXCEPTION:
        break;
    case JY_V_PARTIAL:
        *jy_vec_push(jy_frame_arena(f), &o->instances) = v;
        return jy_partial_recipe(out, f, o, v);
    case JY_V_INSTANCE:
        *jy_vec_push(jy_frame_arena(f), &o->instances) = v;
        return jy_instance_recipe(out, f, o, v);
    }
    return jy_break(f, JY_BREAK_RESULT, "%s", jy_value_describe(f, v));
}

static const struct entry *
find_entry(const struct jy_outputs *o, const struct jy_value *v)
{
    struct jy_index_probe probe;
    for (uint32_t k = jy_index_first(&o->by_value, &probe, jy_index_mix(0, (uintptr_t)v)); k != JY_INDEX_END;
         k = jy_index_next(&o->by_value, &probe))
        if (o->entries.at[k].value == v)
            return &o->entries.at[k];
    return NULL;
}

static jy_status
build(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    if ((v->v_kind == JY_V_TUPLE || v->v_kind == JY_V_LIST || v->v_kind == JY_V_DICT) && v->u.seq.owner != NULL)
        v = v->u.seq.owner;
    const struct entry *known = find_entry(o, v);
    if (known != NULL) {
        if (known->open)
            return jy_break(f, JY_BREAK_RESULT, "a container that contains itself");
        *out = known->recipe;
        return JY_OK;
    }
    size_t number = o->entries.n;
    *jy_vec_push(jy_frame_arena(f), &o->entries) = (struct entry){ .value = v, .open = true };
    jy_index_add(jy_frame_arena(f), &o->by_value, jy_index_mix(0, (uintptr_t)v), (uint32_t)number);
    bool singleton = v->v_kind == JY_V_CONST && (v->v_object == Py_None || PyBool_Check(v->v_object));
    jy_status status = JY_OK;
    if (v->v_source != JY_NO_SOURCE && !singleton &&
        v->v_kind != JY_V_CELL) { /* an equal int or str would be another object */
        *out = recipe_new(f, JY_RECIPE_SOURCE);
        (*out)->source = v->v_source;
    } else {
        status = build_kind(out, f, o, v);
    }
    if (status == JY_BREAK && f->f_trace->unbuildable == NULL)
        f->f_trace->unbuildable = v;
    o->entries.at[number].recipe = *out;
    o->entries.at[number].open = false;
    return status;
}

jy_status
jy_outputs_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    return build(out, f, o, v);
}

/* ---- the end ---- */

static jy_status
build_optional(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    *out = NULL;
    return v != NULL ? build(out, f, o, v) : JY_OK;
}

static jy_status
build_call(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, const struct jy_pending_effect *e)
{
    *out = recipe_new(f, JY_RECIPE_CALL);
    (*out)->object = e->name;
    return build_items(*out, f, o, e->args, e->nargs);
}

static jy_status
build_effects(struct jy_frame *f, struct jy_outputs *o)
{
    struct jy_unit *unit = f->f_trace->unit;
    for (size_t i = 0; i < f->f_trace->effects.n; i++) {
        const struct jy_pending_effect *e = &f->f_trace->effects.at[i];
        struct jy_effect effect = { .kind = e->kind, .name = e->kind == JY_EFFECT_CALL ? 0 : e->name };
        if (e->kind == JY_EFFECT_CALL)
            TRY(build_call(&effect.value, f, o, e));
        else
            TRY(build_optional(&effect.value, f, o, e->value));
        TRY(build_optional(&effect.target, f, o, e->target));
        TRY(build_optional(&effect.key, f, o, e->key));
        *jy_vec_push(unit->u_arena, &unit->u_effects) = effect;
    }
    return JY_OK;
}

static bool
came_in(const struct jy_frame *f, size_t slot)
{
    const struct jy_trace_request *request = f->f_trace->request;
    return slot < request->nlocals && request->locals[slot] != NULL;
}

/* The contents of a cell that the prologue has made, once everything else is there: a function may stand in a cell of its own closure. */
static jy_status
build_own_cell(struct jy_frame *f, struct jy_outputs *o, struct jy_value *cell)
{
    struct jy_unit *unit = f->f_trace->unit;
    if (cell == NULL || cell->v_kind != JY_V_CELL || cell->v_source != JY_NO_SOURCE || cell->u.cell.slot == 0)
        return JY_OK;
    size_t slot = cell->u.cell.slot - 1;
    const struct jy_value *content = cell->u.cell.content;
    bool is_as_it_came = content != NULL && content->v_source != JY_NO_SOURCE &&
                         unit->u_sources.at[content->v_source].kind == JY_SOURCE_LOCAL &&
                         unit->u_sources.at[content->v_source].index == slot;
    if (is_as_it_came || (content == NULL && !came_in(f, slot)))
        return JY_OK;
    struct jy_effect effect = { .kind = JY_EFFECT_STORE_CELL };
    TRY(build(&effect.target, f, o, cell));
    TRY(build_optional(&effect.value, f, o, cell->u.cell.content));
    *jy_vec_push(unit->u_arena, &unit->u_effects) = effect;
    return JY_OK;
}

/* An inlined comprehension keeps the cell of a name of its own on the stack. */
static jy_status
build_own_cells(struct jy_frame *f, struct jy_outputs *o)
{
    for (size_t i = 0; i < f->f_nlocals; i++)
        TRY(build_own_cell(f, o, f->f_locals[i]));
    for (size_t i = 0; i < f->f_depth; i++)
        TRY(build_own_cell(f, o, f->f_stack[i]));
    return JY_OK;
}

/* Items of the stack that the call at which the unit stops may call: the interpreter's order of callable and NULL or self has both. */
static bool
is_callable_item(const struct jy_frame *f, size_t item)
{
    int id = f->f_pc;
    const struct jy_instr *instr = jy_code_at(f->f_instrs, id);
    while (jy_instr_is_prefix(instr->i_op)) {
        id = jy_code_next(f->f_instrs, id);
        instr = jy_code_at(f->f_instrs, id);
    }
    size_t above = f->f_depth - item, taken = jy_instr_call_items(instr);
    return taken != 0 && (above == taken || above == taken - 1);
}

static struct jy_recipe *
copy_of(struct jy_frame *f, struct jy_recipe *function)
{
    return jy_recipe_call(f, f->f_trace->request->callee, 1, &function);
}

/* A function that could not be inlined is called as its compiled copy. */
static jy_status
build_callable(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_recipe *parts[2];
    TRY(jy_value_realize(f, v));
    struct jy_value *function = v->v_kind == JY_V_METHOD ? v->u.func.function : v;
    if (function != NULL)
        TRY(jy_value_realize(f, function));
    if (function == NULL || function->v_kind != JY_V_FUNCTION || function->v_object == NULL)
        return build(out, f, o, v);
    if (v->v_kind == JY_V_FUNCTION) {
        TRY(build(&parts[0], f, o, v));
        *out = copy_of(f, parts[0]);
        return JY_OK;
    }
    TRY(build(&parts[0], f, o, v->u.func.function));
    parts[0] = copy_of(f, parts[0]);
    TRY(build(&parts[1], f, o, v->u.func.self));
    *out = jy_recipe_call(f, (PyObject *)&PyMethod_Type, 2, parts);
    return JY_OK;
}

static jy_status
build_stop(struct jy_frame *f, struct jy_outputs *o)
{
    struct jy_stop *stop = &f->f_trace->unit->u_stop;
    struct jy_arena *arena = jy_frame_arena(f);
    const PyCodeObject *co = (PyCodeObject *)f->f_code;
    stop->stops = true;
    stop->stands = f->f_trace->root_steps <= 1;
    stop->offset = (uint32_t)jy_code_at(f->f_instrs, f->f_pc)->i_offset;
    stop->depth = f->f_depth;
    stop->nlocals = f->f_nlocals - (size_t)co->co_nfreevars;
    stop->stack = JY_NEW_ARRAY(arena, struct jy_recipe *, stop->depth + 1);
    stop->locals = JY_NEW_ARRAY(arena, struct jy_recipe *, stop->nlocals + 1);
    for (size_t i = 0; i < stop->depth; i++) {
        bool copies = f->f_trace->calls_copy && is_callable_item(f, i);
        TRY(copies ? build_callable(&stop->stack[i], f, o, f->f_stack[i])
                   : build(&stop->stack[i], f, o, f->f_stack[i]));
    }
    stop->deletes = JY_NEW_ARRAY(arena, bool, stop->nlocals + 1);
    for (size_t i = 0; i < stop->nlocals; i++) {
        TRY(build_optional(&stop->locals[i], f, o, f->f_locals[i]));
        stop->deletes[i] = f->f_locals[i] == NULL && came_in(f, i);
    }
    return JY_OK;
}

static jy_status
store_cell(struct jy_frame *f, struct jy_outputs *o, struct jy_value *cell)
{
    if (cell->u.cell.content == NULL)
        return JY_OK;
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("cell_contents"));
    if (name == NULL)
        return JY_ERROR;
    struct jy_unit *unit = f->f_trace->unit;
    struct jy_effect effect = { .kind = JY_EFFECT_STORE_ATTR, .name = jy_keep(unit, name) };
    TRY(build(&effect.target, f, o, cell));
    TRY(build(&effect.value, f, o, cell->u.cell.content));
    *jy_vec_push(unit->u_arena, &unit->u_effects) = effect;
    return JY_OK;
}

static jy_status
store_instance(struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    if (v->v_kind == JY_V_CELL)
        return store_cell(f, o, v);
    return v->v_kind == JY_V_PARTIAL ? jy_partial_store(f, o, v) : jy_instance_store(f, o, v);
}

/* Attributes of new instances and contents of new cells, which may be new in turn. Nobody sees one before all effects are done. */
static jy_status
build_instances(struct jy_frame *f, struct jy_outputs *o)
{
    while (o->stored < o->instances.n)
        TRY(store_instance(f, o, o->instances.at[o->stored++]));
    return JY_OK;
}

static bool
hands_out_cells(const struct jy_outputs *o)
{
    for (size_t i = 0; i < o->entries.n; i++)
        if (o->entries.at[i].value->v_kind == JY_V_CELL)
            return true;
    return false;
}

jy_status
jy_outputs_build(struct jy_frame *f)
{
    struct jy_outputs o = { 0 };
    bool stops = f->f_trace->stopped;
    TRY(build_effects(f, &o));
    TRY(stops ? build_stop(f, &o) : build(&f->f_trace->unit->u_result, f, &o, f->f_return));
    TRY(build_instances(f, &o));
    if (stops || hands_out_cells(&o))
        TRY(build_own_cells(f, &o));
    return build_instances(f, &o);
}
