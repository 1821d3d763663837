/* Unit -> bytecode: the unit's own part, then the original code for what comes after it.
 *
 *       the call                                    the middle of the function
 *       COPY_FREE_VARS, MAKE_CELL ..., RESUME       COPY_FREE_VARS, unpack the continuation into locals and stack, RESUME
 *                             the value stack, if it is needed, into temporaries
 *                             __compiled_fn_N(load of each input's source)
 *                             if that is `rerun`: the original from here on (a whole call: return it, and the caller runs the original)
 *                             unpack into temporaries
 *                             effects, in the order of the program
 *                             the result, RETURN_VALUE; or stack and locals, and a jump into
 *       the original code, which *leaves* before each of the given instructions: it returns a continuation (stack, locals, point) to the driver
 *
 * Nothing of the user's runs in the own part, and its temporaries are gone before the first original instruction. Values that are needed twice (a container that appears twice is one
 * object, a source with attribute look-ups) are made once and kept in a temporary; so is every source that an effect could change. */
#include "frontend/frontend.h"

#include "frontend/cpython/assemble.h"
#include "frontend/cpython/compat.h"
#include "frontend/cpython/emit.h"
#include "frontend/cpython/original.h"
#include "frontend/point.h"
#include "frontend/sweep.h"
#include <stdio.h>

struct temp {
    const void *key; /* recipe, or NULL for a source */
    jy_src source;
    int local;
    uint32_t uses;
};

struct generator {
    const struct jy_codegen_request *request;
    const struct jy_unit *unit; /* NULL: the original from `start` on, with no part of its own */
    struct jy_code *code;
    const struct jy_layout_map *map;
    bool has_original; /* the request's is what is edited */
    size_t nlocals;    /* locals and cells of the original */
    int resume;        /* id of the original's RESUME */
    int start;         /* id of the original instruction where the start is; of a call, the one behind RESUME */
    int *leave;        /* by id: of the jump that leaves before it, or JY_NO_INSTR */
    struct {
        struct temp *at;
        size_t n, cap;
    } temps;
    struct jy_index temp_index;
    int *output_local;
    int *stack_local; /* of the value stack at the start; NULL: it stands on the stack */
    struct {
        int *at;
        size_t n, cap;
    } bound; /* temporaries that hold something */
    struct {
        int *at;
        size_t n, cap;
    } left; /* where leaves keep the value stack, shared by all of them */
    struct {
        struct shape *at;
        size_t n, cap;
    } shapes;
    int left_point; /* local: of the leave whose shape's tail runs */
};

/* Leaves with the same depth and the same bound locals, of which there can be many, end in one tail. */
struct shape {
    int id; /* of the instruction before which the first of them leaves */
    struct {
        struct way {
            int jump;
            struct jy_point *point;
        } *at;
        size_t n, cap;
    } ways; /* to the tail */
};

/* Of the items on the value stack before an instruction of the original's. */
static const uint8_t *
kinds_at(const struct generator *g, int id)
{
    return g->map->kinds[jy_code_at(g->code, id)->i_id];
}

static const uint64_t *
bound_at(const struct generator *g, int id)
{
    return g->map->bound + (size_t)jy_code_at(g->code, id)->i_id * g->map->nwords;
}

/* Where a slot of the original's localsplus is now: new locals stand before cells and free variables. */
static int
new_index(const struct generator *g, int slot)
{
    int nnew = g->code->c_nlocals - g->code->c_origin->co_nlocals;
    return slot < g->code->c_origin->co_nlocals ? slot : slot + nnew;
}

#define CHECK(expr)                                                                                                    \
    do {                                                                                                               \
        if ((expr) < 0)                                                                                                \
            return -1;                                                                                                 \
    } while (0)

static int
new_local(struct generator *g, const char *stem, size_t number)
{
    PyObject *name = PyUnicode_FromFormat("__jitney_%s_%zu", stem, number);
    int local = name == NULL ? -1 : jy_edit_add_local(g->code, name);
    Py_XDECREF(name);
    return local;
}

static int
store_temp(struct generator *g, int local)
{
    *jy_vec_push(g->code->c_arena, &g->bound) = local;
    return jy_edit_append(g->code, STORE_FAST, local);
}

/* Before the program's own code can look. */
static void
delete_temps(struct generator *g)
{
    for (size_t k = 0; k < g->bound.n; k++)
        jy_edit_append(g->code, DELETE_FAST, g->bound.at[k]);
}

static uint32_t
hash_temp(const void *recipe, jy_src source)
{
    return jy_index_mix(recipe == NULL ? source : 0, (uintptr_t)recipe);
}

static struct temp *
find_temp(struct generator *g, const void *recipe, jy_src source)
{
    struct jy_index_probe probe;
    for (uint32_t k = jy_index_first(&g->temp_index, &probe, hash_temp(recipe, source)); k != JY_INDEX_END;
         k = jy_index_next(&g->temp_index, &probe))
        if (g->temps.at[k].key == recipe && (recipe != NULL || g->temps.at[k].source == source))
            return &g->temps.at[k];
    return NULL;
}

static bool
count_use(struct generator *g, const void *recipe, jy_src source)
{
    struct temp *t = find_temp(g, recipe, source);
    if (t != NULL) {
        t->uses++;
        return false;
    }
    *jy_vec_push(g->code->c_arena, &g->temps) = (struct temp){ recipe, source, -1, 1 };
    jy_index_add(g->code->c_arena, &g->temp_index, hash_temp(recipe, source), (uint32_t)g->temps.n - 1);
    return true;
}

/* -- counting uses ----------------------------------------------------------------------------------------------------------------- */

static void
count_source(struct generator *g, jy_src source)
{
    const struct jy_source *s = &g->unit->u_sources.at[source];
    bool is_local = s->kind == JY_SOURCE_LOCAL; /* in a cell an effect can change it */
    if (s->kind == JY_SOURCE_FUNCTION || s->kind == JY_SOURCE_STACK ||
        (is_local && (jy_compat_local_kind(g->code->c_origin, (int)s->index) & JY_LOCAL_CELL) == 0))
        return;
    if (count_use(g, NULL, source) && s->base != 0 && !is_local)
        count_source(g, s->base);
}

static void
count_recipe(struct generator *g, const struct jy_recipe *r)
{
    if (r == NULL)
        return;
    if (r->kind == JY_RECIPE_SOURCE) {
        count_source(g, r->source);
        return;
    }
    bool is_made = r->kind != JY_RECIPE_OUTPUT && r->kind != JY_RECIPE_CONST && r->kind != JY_RECIPE_SLOT &&
                   r->kind != JY_RECIPE_NULL && r->kind != JY_RECIPE_HANDLED;
    if (is_made && !count_use(g, r, 0))
        return;
    for (size_t k = 0; k < r->n; k++)
        count_recipe(g, r->items[k]);
}

static void
count_recipes(struct generator *g, struct jy_recipe *const *at, size_t n)
{
    for (size_t k = 0; k < n; k++)
        count_recipe(g, at[k]);
}

static void
count_unit(struct generator *g)
{
    const struct jy_unit *unit = g->unit;
    for (size_t k = 0; k < unit->u_inputs.n; k++)
        count_source(g, unit->u_inputs.at[k].source);
    for (size_t k = 0; k < unit->u_effects.n; k++) {
        count_recipe(g, unit->u_effects.at[k].target);
        count_recipe(g, unit->u_effects.at[k].key);
        count_recipe(g, unit->u_effects.at[k].value);
    }
    count_recipe(g, unit->u_result);
    count_recipes(g, unit->u_stop.stack, unit->u_stop.depth);
    count_recipes(g, unit->u_stop.locals, unit->u_stop.nlocals);
}

/* -- sources ----------------------------------------------------------------------------------------------------------------------- */

static int load_source(struct generator *g, jy_src source);

static int
load_attr(struct generator *g, const char *name)
{
    PyObject *text = PyUnicode_InternFromString(name);
    int id = text == NULL ? -1 : jy_emit_load_attr(g->code, text);
    Py_XDECREF(text);
    return id;
}

static int
load_int(struct generator *g, uint32_t value)
{
    PyObject *number = PyLong_FromUnsignedLong(value);
    int id = number == NULL ? -1 : jy_emit_load_const(g->code, number);
    Py_XDECREF(number);
    return id;
}

/* base.attribute[key] */
static int
load_through(struct generator *g, jy_src base, const char *attribute, PyObject *key, uint32_t index)
{
    CHECK(load_source(g, base));
    CHECK(load_attr(g, attribute));
    CHECK(key != NULL ? jy_emit_load_const(g->code, key) : load_int(g, index));
    return jy_edit_append(g->code, BINARY_SUBSCR, 0);
}

static int
load_item(struct generator *g, jy_src base, PyObject *key, uint32_t index)
{
    CHECK(load_source(g, base));
    CHECK(key != NULL ? jy_emit_load_const(g->code, key) : load_int(g, index));
    return jy_edit_append(g->code, BINARY_SUBSCR, 0);
}

static int
load_fresh_source(struct generator *g, jy_src source)
{
    const struct jy_source *s = &g->unit->u_sources.at[source];
    PyObject *name = s->name ? jy_unit_object(g->unit, s->name) : NULL;

    switch ((enum jy_source_kind)s->kind) {
    case JY_SOURCE_LOCAL: /* the prologue has put a parameter into its cell */
        if (jy_compat_local_kind(g->code->c_origin, (int)s->index) & JY_LOCAL_CELL)
            return jy_edit_append(g->code, LOAD_DEREF, new_index(g, (int)s->index));
        return jy_edit_append(g->code, LOAD_FAST, (int)s->index);
    case JY_SOURCE_GLOBAL:
        return s->base == 0 ? jy_emit_load_global(g->code, name) : load_through(g, s->base, "__globals__", name, 0);
    case JY_SOURCE_BUILTIN:
        return s->base == 0 ? jy_emit_load_global(g->code, name) : load_through(g, s->base, "__builtins__", name, 0);
    case JY_SOURCE_CELL:
        if (s->base == 0)
            return jy_emit_load_free(g->code, (int)s->index);
        CHECK(load_through(g, s->base, "__closure__", NULL, s->index));
        return load_attr(g, "cell_contents");
    case JY_SOURCE_ATTR:
        CHECK(load_source(g, s->base));
        return jy_emit_load_attr(g->code, name);
    case JY_SOURCE_ITEM:
        return load_item(g, s->base, NULL, s->index);
    case JY_SOURCE_KEY:
        return load_item(g, s->base, name, 0);
    case JY_SOURCE_DEFAULT:
        return load_through(g, s->base, "__defaults__", NULL, s->index);
    case JY_SOURCE_KWDEFAULT:
        return load_through(g, s->base, "__kwdefaults__", name, 0);
    case JY_SOURCE_STACK:
        return jy_edit_append(g->code, LOAD_FAST, g->stack_local[s->index]);
    case JY_SOURCE_OBJECT:
        return jy_emit_load_const(g->code, name);
    case JY_SOURCE_CONTENT:
        return jy_edit_append(g->code, LOAD_DEREF, new_index(g, (int)g->unit->u_sources.at[s->base].index));
    case JY_SOURCE_FUNCTION:
        break;
    }
    PyErr_SetString(PyExc_SystemError, "a unit loads the function object itself");
    return -1;
}

/* Keeps the value on the stack in a temporary too, when it is needed again. */
static int
keep_temp(struct generator *g, struct temp *t)
{
    if (t == NULL || t->uses < 2)
        return 0;
    CHECK(t->local = new_local(g, "tmp", (size_t)(t - g->temps.at)));
    jy_edit_append(g->code, COPY, 1);
    return store_temp(g, t->local);
}

static int
load_source(struct generator *g, jy_src source)
{
    struct temp *t = find_temp(g, NULL, source);
    if (t != NULL && t->local >= 0)
        return jy_edit_append(g->code, LOAD_FAST, t->local);
    CHECK(load_fresh_source(g, source));
    return keep_temp(g, t);
}

/* -- making things ------------------------------------------------------------------------------------------------------------------ */

static int build(struct generator *g, const struct jy_recipe *r);

static int
build_items(struct generator *g, const struct jy_recipe *r)
{
    for (size_t k = 0; k < r->n; k++)
        CHECK(build(g, r->items[k]));
    return 0;
}

static int
build_call(struct generator *g, const struct jy_recipe *r)
{
    CHECK(jy_emit_callable_const(g->code, jy_unit_object(g->unit, r->object)));
    CHECK(build_items(g, r));
    return jy_emit_call(g->code, (int)r->n);
}

static int
build_function(struct generator *g, const struct jy_recipe *r)
{
    bool has[4];
    for (size_t k = 0; k < 4; k++) {
        has[k] = r->items[k] != NULL;
        if (has[k])
            CHECK(build(g, r->items[k]));
    }
    return jy_emit_make_function(g->code, jy_unit_object(g->unit, r->object), has);
}

static int
build_container(struct generator *g, const struct jy_recipe *r)
{
    switch ((enum jy_recipe_kind)r->kind) {
    case JY_RECIPE_CALL:
        return build_call(g, r);
    case JY_RECIPE_FUNCTION:
        return build_function(g, r);
    case JY_RECIPE_TUPLE:
        CHECK(build_items(g, r));
        return jy_edit_append(g->code, BUILD_TUPLE, (int)r->n);
    case JY_RECIPE_LIST:
        CHECK(build_items(g, r));
        return jy_edit_append(g->code, BUILD_LIST, (int)r->n);
    case JY_RECIPE_SET:
        CHECK(build_items(g, r));
        return jy_edit_append(g->code, BUILD_SET, (int)r->n);
    case JY_RECIPE_SLICE:
        CHECK(build_items(g, r));
        return jy_edit_append(g->code, BUILD_SLICE, (int)r->n);
    case JY_RECIPE_ITER:
        CHECK(build_items(g, r));
        return jy_edit_append(g->code, GET_ITER, 0);
    case JY_RECIPE_DICT:
        if (r->n == 0)
            return jy_edit_append(g->code, BUILD_MAP, 0);
        CHECK(build_items(g, r));
        CHECK(jy_emit_load_const(g->code, jy_unit_object(g->unit, r->object)));
        return jy_edit_append(g->code, BUILD_CONST_KEY_MAP, (int)r->n);
    case JY_RECIPE_SLOT:
    case JY_RECIPE_NULL:
    case JY_RECIPE_HANDLED:
    case JY_RECIPE_SOURCE:
    case JY_RECIPE_OUTPUT:
    case JY_RECIPE_CONST:
        break;
    }
    return -1;
}

static int
build(struct generator *g, const struct jy_recipe *r)
{
    switch ((enum jy_recipe_kind)r->kind) {
    case JY_RECIPE_SOURCE:
        return load_source(g, r->source);
    case JY_RECIPE_OUTPUT:
        return jy_edit_append(g->code, LOAD_FAST, g->output_local[r->output]);
    case JY_RECIPE_CONST:
        return jy_emit_load_const(g->code, jy_unit_object(g->unit, r->object));
    case JY_RECIPE_SLOT:
        return jy_emit_load_cell(g->code, new_index(g, (int)r->output));
    case JY_RECIPE_NULL:
        return jy_edit_append(g->code, PUSH_NULL, 0);
    case JY_RECIPE_HANDLED:
        CHECK(build_items(g, r));
        jy_edit_append(g->code, PUSH_EXC_INFO, 0);
        return jy_edit_append(g->code, POP_TOP, 0);
    case JY_RECIPE_CALL:
    case JY_RECIPE_FUNCTION:
    case JY_RECIPE_TUPLE:
    case JY_RECIPE_LIST:
    case JY_RECIPE_SET:
    case JY_RECIPE_SLICE:
    case JY_RECIPE_ITER:
    case JY_RECIPE_DICT:
        break;
    }
    struct temp *t = find_temp(g, r, 0);
    if (t != NULL && t->local >= 0)
        return jy_edit_append(g->code, LOAD_FAST, t->local);
    CHECK(build_container(g, r));
    return keep_temp(g, t);
}

/* -- effects ------------------------------------------------------------------------------------------------------------------------ */

/* An effect may change what a source says, so all of them are read before the first. */
static int
load_every_source(struct generator *g)
{
    for (size_t k = 0; k < g->temps.n; k++) {
        struct temp *t = &g->temps.at[k];
        if (t->key != NULL || t->local >= 0)
            continue;
        t->uses = 2;
        CHECK(load_source(g, t->source));
        jy_edit_append(g->code, POP_TOP, 0);
    }
    return 0;
}

static int
emit_effect(struct generator *g, const struct jy_effect *e)
{
    PyObject *name = e->name != 0 ? jy_unit_object(g->unit, e->name) : NULL;
    if (e->value != NULL)
        CHECK(build(g, e->value));
    switch ((enum jy_effect_kind)e->kind) {
    case JY_EFFECT_STORE_ATTR:
        CHECK(build(g, e->target));
        return jy_emit_named(g->code, STORE_ATTR, name);
    case JY_EFFECT_DELETE_ATTR:
        CHECK(build(g, e->target));
        return jy_emit_named(g->code, DELETE_ATTR, name);
    case JY_EFFECT_STORE_ITEM:
        CHECK(build(g, e->target));
        CHECK(build(g, e->key));
        return jy_edit_append(g->code, STORE_SUBSCR, 0);
    case JY_EFFECT_DELETE_ITEM:
        CHECK(build(g, e->target));
        CHECK(build(g, e->key));
        return jy_edit_append(g->code, DELETE_SUBSCR, 0);
    case JY_EFFECT_STORE_GLOBAL:
        return jy_emit_named(g->code, STORE_GLOBAL, name);
    case JY_EFFECT_DELETE_GLOBAL:
        return jy_emit_named(g->code, DELETE_GLOBAL, name);
    case JY_EFFECT_STORE_CELL:
        return jy_edit_append(g->code, e->value != NULL ? STORE_DEREF : DELETE_DEREF,
                              new_index(g, (int)e->target->output));
    case JY_EFFECT_CALL:
        return jy_edit_append(g->code, POP_TOP, 0);
    }
    return -1;
}

static int
emit_effects(struct generator *g)
{
    if (g->unit->u_effects.n != 0)
        CHECK(load_every_source(g));
    for (size_t k = 0; k < g->unit->u_effects.n; k++)
        CHECK(emit_effect(g, &g->unit->u_effects.at[k]));
    return 0;
}

/* -- the stop ----------------------------------------------------------------------------------------------------------------------- */

static bool
stays_in_place(const struct generator *g, const struct jy_recipe *r, size_t slot)
{
    if (r->kind == JY_RECIPE_SLOT)
        return r->output == slot;
    const struct jy_source *s = &g->unit->u_sources.at[r->source];
    return r->kind == JY_RECIPE_SOURCE && s->kind == JY_SOURCE_LOCAL && s->index == slot;
}

/* Everything is on the stack before the first local changes: they may be each other's sources. */
static int
emit_frame(struct generator *g)
{
    const struct jy_stop *stop = &g->unit->u_stop;
    for (size_t k = 0; k < stop->depth; k++)
        CHECK(build(g, stop->stack[k]));
    for (size_t k = 0; k < stop->nlocals; k++)
        if (stop->locals[k] != NULL && !stays_in_place(g, stop->locals[k], k))
            CHECK(build(g, stop->locals[k]));
    for (size_t k = stop->nlocals; k-- > 0;) {
        if (stop->locals[k] != NULL && !stays_in_place(g, stop->locals[k], k))
            jy_edit_append(g->code, STORE_FAST, new_index(g, (int)k));
        else if (stop->deletes[k])
            jy_edit_append(g->code, DELETE_FAST, new_index(g, (int)k));
    }
    return 0;
}

/* -- entering ----------------------------------------------------------------------------------------------------------------------- */

static bool
is_absent(const struct generator *g, size_t item)
{
    return g->request->absent != NULL && g->request->absent[item];
}

/* The continuation's items, locals first and then the value stack from its top, out of the only argument. Cells come as they are; up to 3.12 locals() takes a slot for one only
 * where its MAKE_CELL has been passed. */
static int
unpack_continuation(struct generator *g)
{
    size_t depth = g->request->depth;
    enum { ARGUMENT = 0 };
    g->code->c_one_parameter = true;
    g->code->c_cursor = g->resume;
    jy_edit_append(g->code, LOAD_FAST, ARGUMENT);
    jy_edit_append(g->code, UNPACK_SEQUENCE, (int)(g->nlocals + depth));
    for (size_t k = 0; k < g->nlocals; k++) {
        if (jy_compat_local_kind(g->code->c_origin, (int)k) & JY_LOCAL_CELL)
            jy_edit_append(g->code, MAKE_CELL, new_index(g, (int)k));
        if (!is_absent(g, depth + k))
            jy_edit_append(g->code, STORE_FAST, new_index(g, (int)k));
        else
            jy_edit_append(g->code, POP_TOP, 0);
    }
    if (g->code->c_origin->co_nlocals == 0 || is_absent(g, depth))
        jy_edit_append(g->code, DELETE_FAST, ARGUMENT);
    return 0;
}

static bool
is_plain_stack(const struct generator *g)
{
    for (size_t k = 0; k < g->request->depth; k++)
        if (is_absent(g, k) || kinds_at(g, g->start)[k] != JY_SLOT_VALUE)
            return false;
    return true;
}

static int
stash_stack(struct generator *g)
{
    size_t depth = g->request->depth;
    g->stack_local = JY_NEW_ARRAY(g->code->c_arena, int, depth + 1);
    for (size_t k = depth; k-- > 0;) {
        if (is_absent(g, k)) {
            jy_edit_append(g->code, POP_TOP, 0);
            continue;
        }
        CHECK(g->stack_local[k] = new_local(g, "stack", k));
        store_temp(g, g->stack_local[k]);
    }
    return 0;
}

static void
unstash_stack(struct generator *g)
{
    for (size_t k = 0; k < g->request->depth; k++) {
        if (is_absent(g, k)) {
            jy_edit_append(g->code, PUSH_NULL, 0);
            continue;
        }
        jy_edit_append(g->code, LOAD_FAST, g->stack_local[k]);
        if (kinds_at(g, g->start)[k] == JY_SLOT_HANDLED) {
            jy_edit_append(g->code, PUSH_EXC_INFO, 0);
            jy_edit_append(g->code, POP_TOP, 0);
        }
    }
}

/* The original from the start on, as if there were no unit. */
static int
run_original(struct generator *g)
{
    if (g->stack_local != NULL)
        unstash_stack(g);
    delete_temps(g);
    int jump = jy_edit_append(g->code, JUMP_FORWARD, 0);
    jy_edit_set_target(g->code, jump, g->start);
    return 0;
}

/* -- leaving ------------------------------------------------------------------------------------------------------------------------ */

static int
load_to_leave(struct generator *g, int local, bool is_certain, struct jy_point *point, size_t item)
{
    if (is_certain)
        return jy_edit_append(g->code, LOAD_FAST, local);
    point->is_wrapped[item] = jy_emit_take_local(g->code, local);
    return 0;
}

static int
left_local(struct generator *g, size_t item)
{
    while (g->left.n <= item) {
        int local = new_local(g, "left", g->left.n);
        CHECK(local);
        *jy_vec_push(g->code->c_arena, &g->left) = local;
    }
    return g->left.at[item];
}

/* A handler is left by POP_EXCEPT; what it handles is only to be had by handling something else. */
static int
stash_handlers(struct generator *g, int id, struct jy_point *point)
{
    const uint8_t *kinds = kinds_at(g, id);
    size_t depth = point->depth;
    int *local = JY_NEW_ARRAY(g->code->c_arena, int, depth + 1);
    for (size_t k = depth; k-- > 0;) {
        CHECK(local[k] = left_local(g, k));
        if (kinds[k] == JY_SLOT_HANDLED) {
            CHECK(jy_emit_load_const(g->code, Py_None));
            jy_edit_append(g->code, PUSH_EXC_INFO, 0);
            jy_edit_append(g->code, POP_TOP, 0);
        }
        jy_edit_append(g->code, STORE_FAST, local[k]);
        if (kinds[k] == JY_SLOT_HANDLED)
            jy_edit_append(g->code, POP_EXCEPT, 0);
    }
    for (size_t k = 0; k < depth; k++)
        CHECK(load_to_leave(g, local[k], kinds[k] == JY_SLOT_HANDLED, point, k));
    return 0;
}

static int
load_locals_to_leave(struct generator *g, int id, struct jy_point *point)
{
    for (size_t k = 0; k < g->nlocals; k++) {
        int local = new_index(g, (int)k);
        CHECK(load_to_leave(g, local, jy_layout_is_bound(g->map, jy_code_at(g->code, id)->i_id, (int)k), point,
                            point->depth + k));
    }
    return 0;
}

static int
return_continuation(struct generator *g, const struct jy_point *point)
{
    jy_edit_append(g->code, BUILD_TUPLE, (int)(point->depth + g->nlocals + 1));
    return jy_edit_append(g->code, RETURN_VALUE, 0);
}

static void
set_positions(struct generator *g, int first, int id)
{
    struct jy_position position = jy_code_at(g->code, id)->i_position;
    for (int k = first; k < (int)g->code->c_instrs.n; k++)
        jy_code_at(g->code, k)->i_position = position;
}

static bool
handles_something(const struct generator *g, int id)
{
    for (int k = 0; k < jy_code_at(g->code, id)->i_depth; k++)
        if (kinds_at(g, id)[k] == JY_SLOT_HANDLED)
            return true;
    return false;
}

static struct shape *
find_shape(struct generator *g, int id)
{
    const uint64_t *here = bound_at(g, id);
    for (size_t i = 0; i < g->shapes.n; i++) {
        struct shape *shape = &g->shapes.at[i];
        const uint64_t *there = bound_at(g, shape->id);
        if (jy_code_at(g->code, id)->i_depth == jy_code_at(g->code, shape->id)->i_depth &&
            memcmp(here, there, g->map->nwords * sizeof *here) == 0)
            return shape;
    }
    struct shape *shape = jy_vec_push(g->code->c_arena, &g->shapes);
    *shape = (struct shape){ .id = id };
    return shape;
}

/* The point into its local, and on to the tail, which stands behind all of these: a jump back would look for signals. */
static int
emit_way_to_tail(struct generator *g, int id, struct jy_point *point)
{
    struct shape *shape = find_shape(g, id);
    int first = (int)g->code->c_instrs.n;
    CHECK(jy_emit_load_const(g->code, (PyObject *)point));
    jy_edit_append(g->code, STORE_FAST, g->left_point);
    *jy_vec_push(g->code->c_arena, &shape->ways) = (struct way){ jy_edit_append(g->code, JUMP_FORWARD, 0), point };
    set_positions(g, first, id);
    return first;
}

static int
emit_tail(struct generator *g, const struct shape *shape)
{
    struct jy_point *point = shape->ways.at[0].point;
    int first = (int)g->code->c_instrs.n;
    CHECK(load_locals_to_leave(g, shape->id, point));
    jy_edit_append(g->code, LOAD_FAST, g->left_point);
    return_continuation(g, point);
    for (size_t k = 0; k < shape->ways.n; k++) {
        jy_edit_set_target(g->code, shape->ways.at[k].jump, first);
        memcpy(shape->ways.at[k].point->is_wrapped, point->is_wrapped, point->depth + g->nlocals);
    }
    set_positions(g, first, shape->id);
    return 0;
}

static int
emit_leave(struct generator *g, int id, struct jy_point *point)
{
    bool handles = handles_something(g, id);
    if (!handles && g->left_point >= 0)
        return emit_way_to_tail(g, id, point);
    int first = (int)g->code->c_instrs.n;
    if (handles)
        CHECK(stash_handlers(g, id, point));
    CHECK(load_locals_to_leave(g, id, point));
    CHECK(jy_emit_load_const(g->code, (PyObject *)point));
    return_continuation(g, point);
    set_positions(g, first, id);
    return first;
}

/* Before the instruction it is asked whether the frame may be left there. Whatever reaches the instruction goes to the question; what the own part enters later goes to the instruction. */
static int
add_leave(struct generator *g, int id)
{
    const struct jy_instr *instr = jy_code_at(g->code, id);
    struct jy_point *point =
        jy_point_new(g->request->code, (uint32_t)instr->i_offset, (size_t)instr->i_depth, g->nlocals);
    if (point == NULL)
        return -1;
    g->code->c_cursor = id;
    int question = jy_emit_load_const(g->code, (PyObject *)point);
    int jump = jy_emit_pop_jump_if_truthy(g->code);
    g->code->c_cursor = JY_NO_INSTR;
    int tail = question < 0 ? -1 : emit_leave(g, id, point);
    Py_DECREF(point);
    CHECK(tail);
    jy_edit_set_target(g->code, jump, tail);
    g->leave[id] = question;
    return 0;
}

static void
ask_first(const struct generator *g, int *id)
{
    if (*id != JY_NO_INSTR && g->leave[*id] != JY_NO_INSTR)
        *id = g->leave[*id];
}

/* Whatever went to an instruction with a leave goes to its question, and a range that ends there is left before that. A range that
 * covered what was in front of its first instruction covers that one's question, too: on 3.11 a signal at a loop's head goes by it. */
static void
retarget_to_questions(struct generator *g, size_t noriginal)
{
    for (size_t id = 0; id < noriginal; id++)
        ask_first(g, &jy_code_at(g->code, (int)id)->i_target);
    for (size_t k = 0; k < g->code->c_handlers.n; k++) {
        ask_first(g, &g->code->c_handlers.at[k].h_handler);
        ask_first(g, &g->code->c_handlers.at[k].h_end);
        if (g->code->c_handlers.at[k].h_cut)
            ask_first(g, &g->code->c_handlers.at[k].h_start);
    }
}

static int
add_leaves(struct generator *g)
{
    enum { FEW = 8 };
    size_t n = g->code->c_instrs.n;
    g->leave = JY_NEW_ARRAY(g->code->c_arena, int, n);
    for (size_t k = 0; k < n; k++)
        g->leave[k] = JY_NO_INSTR;
    g->left_point = -1;
    if (g->request->nleaves > FEW)
        CHECK(g->left_point = new_local(g, "point", 0));
    for (size_t k = 0; k < g->request->nleaves; k++) {
        int id = jy_code_id_at_offset(g->code, (int)g->request->leaves[k]);
        if (id != JY_NO_INSTR && !jy_code_at(g->code, id)->i_dead && g->leave[id] == JY_NO_INSTR &&
            jy_layout_is_portable(g->map, g->code, id))
            CHECK(add_leave(g, id));
    }
    retarget_to_questions(g, n);
    for (size_t i = 0; i < g->shapes.n; i++)
        CHECK(emit_tail(g, &g->shapes.at[i]));
    return 0;
}

/* -- what can be reached ------------------------------------------------------------------------------------------------------------- */

struct walk {
    int *work, *handler; /* by id: where its exceptions go */
    size_t n;
    bool *seen;
};

static void
reach(const struct generator *g, struct walk *w, int id)
{
    id = id == JY_NO_INSTR ? id : jy_code_live(g->code, id);
    if (id == JY_NO_INSTR || w->seen[id])
        return;
    w->seen[id] = true;
    w->work[w->n++] = id;
}

static void
find_handlers(const struct generator *g, struct walk *w)
{
    for (size_t id = 0; id < g->code->c_instrs.n; id++)
        w->handler[id] = JY_NO_INSTR;
    for (size_t k = 0; k < g->code->c_handlers.n; k++) {
        const struct jy_handler *h = &g->code->c_handlers.at[k];
        for (int id = h->h_start; id != h->h_end && id != JY_NO_INSTR; id = jy_code_at(g->code, id)->i_next)
            w->handler[id] = h->h_handler;
    }
}

/* Of code that starts in the middle only what may still run is worked on: a long function has many such. */
static void
drop_unreachable(struct generator *g)
{
    size_t n = g->code->c_instrs.n;
    struct walk w = {
        .work = JY_NEW_ARRAY(g->code->c_arena, int, n),
        .handler = JY_NEW_ARRAY(g->code->c_arena, int, n),
        .seen = JY_NEW_ARRAY(g->code->c_arena, bool, n),
    };
    find_handlers(g, &w);
    reach(g, &w, g->start);
    if (g->unit != NULL && g->unit->u_stop.stops)
        reach(g, &w, jy_code_id_at_offset(g->code, (int)g->unit->u_stop.offset));
    while (w.n > 0) {
        int id = w.work[--w.n];
        const struct jy_instr *instr = jy_code_at(g->code, id);
        reach(g, &w, w.handler[id]);
        if (jy_instr_is_jump(instr->i_op))
            reach(g, &w, instr->i_target);
        if (jy_instr_falls_through(instr->i_op))
            reach(g, &w, instr->i_next);
    }
    for (int id = jy_code_next(g->code, g->resume); id != JY_NO_INSTR; id = jy_code_next(g->code, id))
        if (!w.seen[id])
            jy_edit_delete(g->code, id);
    for (size_t k = 0; k < g->code->c_handlers.n; k++)
        g->code->c_handlers.at[k].h_cut = jy_code_at(g->code, g->code->c_handlers.at[k].h_start)->i_dead;
    jy_edit_unlink_dead(g->code);
    jy_sweep_handlers(g->code);
}

/* -- the whole ----------------------------------------------------------------------------------------------------------------------- */

static bool
is_whole_call(const struct generator *g)
{
    return g->request->start == 0 && !g->unit->u_stop.stops;
}

static int
emit_call(struct generator *g)
{
    size_t noutputs = g->unit->u_graph->g_outputs.n;
    CHECK(jy_emit_callable_global(g->code, g->request->compiled_name));
    for (size_t k = 0; k < g->unit->u_inputs.n; k++)
        CHECK(load_source(g, g->unit->u_inputs.at[k].source));
    CHECK(jy_emit_call(g->code, (int)g->unit->u_inputs.n));
    jy_edit_append(g->code, COPY, 1);
    CHECK(jy_emit_load_const(g->code, g->request->rerun));
    jy_edit_append(g->code, IS_OP, 0);
    int jump = jy_emit_pop_jump_if_false(g->code);
    if (is_whole_call(g)) {
        jy_edit_append(g->code, RETURN_VALUE, 0);
    } else {
        jy_edit_append(g->code, POP_TOP, 0);
        CHECK(run_original(g));
    }
    jy_edit_set_target(g->code, jump, jy_edit_append(g->code, UNPACK_SEQUENCE, (int)noutputs));
    g->output_local = JY_NEW_ARRAY(g->code->c_arena, int, noutputs + 1);
    for (size_t k = 0; k < noutputs; k++) {
        CHECK(g->output_local[k] = new_local(g, "out", k));
        store_temp(g, g->output_local[k]);
    }
    return 0;
}

static int
emit_end(struct generator *g)
{
    if (!g->unit->u_stop.stops) {
        CHECK(build(g, g->unit->u_result));
        return jy_edit_append(g->code, RETURN_VALUE, 0);
    }
    CHECK(emit_frame(g));
    delete_temps(g);
    int stop = jy_code_id_at_offset(g->code, (int)g->unit->u_stop.offset);
    int jump = jy_edit_append(g->code, JUMP_FORWARD, 0);
    bool leaves = g->leave[stop] != JY_NO_INSTR && !g->unit->u_stop.stands;
    jy_edit_set_target(g->code, jump, leaves ? g->leave[stop] : stop);
    return 0;
}

/* What the passes have left without a reader may warn. */
static bool
is_noticed(const struct jy_unit *unit)
{
    const struct jy_graph *graph = unit->u_graph;
    bool noticed = unit->u_writes || graph->g_outputs.n != 0;
    for (jy_ref r = 0; r < graph->g_nodes.n && !noticed; r++) {
        uint16_t op = jy_graph_at(graph, r)->n_op;
        noticed = op != JY_OP_PLACEHOLDER && op != JY_OP_CONSTANT && op != JY_OP_SIZE;
    }
    return noticed;
}

static int
emit_own_part(struct generator *g)
{
    count_unit(g);
    if (g->request->start != 0)
        CHECK(stash_stack(g));
    if (is_noticed(g->unit))
        CHECK(emit_call(g));
    CHECK(emit_effects(g));
    return emit_end(g);
}

/* In the middle of the function there is nothing to prepare but the closure. */
static void
cut_prologue(struct generator *g)
{
    for (int id = jy_code_begin(g->code); id != g->resume; id = jy_code_next(g->code, id))
        if (jy_code_at(g->code, id)->i_op != COPY_FREE_VARS && jy_code_at(g->code, id)->i_offset >= 0)
            jy_edit_delete(g->code, id);
}

static int
find_places(struct generator *g)
{
    const PyCodeObject *co = g->code->c_origin;
    g->nlocals = (size_t)(co->co_nlocalsplus - co->co_nfreevars);
    g->resume = jy_code_begin(g->code);
    while (g->resume != JY_NO_INSTR && jy_code_at(g->code, g->resume)->i_op != RESUME)
        g->resume = jy_code_next(g->code, g->resume);
    if (g->resume != JY_NO_INSTR)
        g->start = g->request->start == 0 ? jy_code_next(g->code, g->resume)
                                          : jy_code_id_at_offset(g->code, (int)g->request->start);
    if (g->resume != JY_NO_INSTR && g->start != JY_NO_INSTR)
        return 0;
    PyErr_SetString(PyExc_ValueError, "the code has no place to start at");
    return -1;
}

static int
generate(struct generator *g)
{
    CHECK(find_places(g));
    if (g->request->start != 0 &&
        g->code->c_origin->co_nlocals == 0) /* the argument is local 0: before others are added */
        CHECK(new_local(g, "continuation", 0));
    if (g->request->start != 0)
        drop_unreachable(g);
    CHECK(add_leaves(g));
    if (g->request->start != 0) {
        CHECK(unpack_continuation(g));
        cut_prologue(g);
        /* A signal that waits is raised by an instruction of the program's, under its handlers, and not by this one. */
        jy_code_at(g->code, g->resume)->i_arg = 2;
    }
    g->code->c_cursor = jy_code_next(g->code, g->resume);
    int first = (int)g->code->c_instrs.n;
    if (g->unit != NULL) {
        CHECK(emit_own_part(g));
    } else if (g->request->start != 0) {
        if (!is_plain_stack(g))
            CHECK(stash_stack(g));
        CHECK(run_original(g));
    }
    struct jy_position at = jy_code_at(g->code, g->start)->i_position;
    for (int id = first; id < (int)g->code->c_instrs.n; id++) /* a traceback through here points at the line */
        jy_code_at(g->code, id)->i_position = (struct jy_position){ at.line, at.line, -1, -1 };
    return 0;
}

static jy_status
edit(struct jy_code *code, void *context)
{
    struct generator *g = context;
    g->code = code;
    struct jy_layout_map own;
    if (g->has_original) {
        g->map = jy_original_map(g->request->original);
    } else {
        TRY(jy_code_layout(&own, code));
        g->map = &own;
    }
    if (generate(g) < 0)
        return JY_ERROR;
    code->c_cursor = JY_NO_INSTR;
    return jy_sweep_code(code);
}

/* Where the new code differs from the original. */
static uint32_t *
places_of_edits(const struct jy_codegen_request *request, size_t *n)
{
    uint32_t *offsets = PyMem_Malloc((request->nleaves + 2) * sizeof *offsets);
    if (offsets == NULL)
        return NULL;
    *n = request->nleaves;
    if (request->nleaves != 0)
        memcpy(offsets, request->leaves, request->nleaves * sizeof *offsets);
    offsets[(*n)++] = request->start;
    if (request->unit != NULL && request->unit->u_stop.stops)
        offsets[(*n)++] = request->unit->u_stop.offset;
    return offsets;
}

PyObject *
jy_codegen(const struct jy_codegen_request *request)
{
    struct generator g = { .request = request, .unit = request->unit };
    const struct jy_stretches *stretches = request->original == NULL ? NULL : jy_original_stretches(request->original);
    PyObject *code = NULL;
    jy_status status = JY_NOMEM;
    g.has_original = stretches != NULL;
    if (g.has_original) {
        size_t n;
        uint32_t *offsets = places_of_edits(request, &n);
        if (offsets != NULL)
            status = jy_transform_original(&code, request->original, stretches, offsets, n, edit, &g);
        PyMem_Free(offsets);
    } else {
        status = jy_transform_code_object(&code, request->code, edit, &g);
    }
    if (status == JY_NOMEM)
        PyErr_NoMemory();
    else if (status == JY_BREAK && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the regenerated bytecode is not legal");
    return status == JY_OK ? code : NULL;
}
