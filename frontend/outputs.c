/* The result of a unit: what the graph hands out and how the program's objects are made of it.
 *
 * Decides the order of PyCodegen's shortcuts: what came in and is returned as it is comes from its source, numbers and arrays come out of the
 * graph, constants are constants, containers are rebuilt. Two appearances of one object share one recipe; a container that contains itself breaks. */
#include "frontend/interp.h"

struct memo {
    struct {
        struct entry {
            const struct jy_value *value;
            struct jy_recipe *recipe;
            bool open;
        } *at;
        size_t n, cap;
    } entries;
};

static jy_status build(struct jy_recipe **out, struct jy_frame *f, struct memo *memo, struct jy_value *v);

static struct jy_recipe *
recipe_new(struct jy_frame *f, enum jy_recipe_kind kind)
{
    struct jy_recipe *r = JY_NEW(jy_frame_arena(f), struct jy_recipe);
    r->kind = (uint8_t)kind;
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
build_items(struct jy_recipe *r, struct jy_frame *f, struct memo *memo, struct jy_value *const *items, size_t n)
{
    r->n = n;
    r->items = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_recipe *, n + 1);
    TRY(jy_enter(f));
    for (size_t i = 0; i < n; i++)
        TRY(build(&r->items[i], f, memo, items[i]));
    jy_leave(f);
    return JY_OK;
}

static jy_status
build_dict(struct jy_recipe *r, struct jy_frame *f, struct memo *memo, struct jy_value *v)
{
    PyObject *keys = jy_hold(f, PyTuple_New((Py_ssize_t)v->u.seq.n));
    if (keys == NULL)
        return JY_ERROR;
    for (size_t i = 0; i < v->u.seq.n; i++)
        PyTuple_SET_ITEM(keys, i, Py_NewRef(v->u.seq.keys[i]));
    r->object = jy_keep(f->f_trace->unit, keys);
    return build_items(r, f, memo, v->u.seq.at, v->u.seq.n);
}

static jy_status
build_slice(struct jy_recipe *r, struct jy_frame *f, struct memo *memo, struct jy_value *v)
{
    struct jy_value *parts[] = { v->u.range.start, v->u.range.stop, v->u.range.step };
    for (size_t i = 0; i < 3; i++)
        if (parts[i] == NULL)
            parts[i] = jy_value_const(f, Py_None);
    return build_items(r, f, memo, parts, 3);
}

static jy_status
build_kind(struct jy_recipe **out, struct jy_frame *f, struct memo *memo, struct jy_value *v)
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
        *out = recipe_new(f, v->v_kind == JY_V_TUPLE ? JY_RECIPE_TUPLE : JY_RECIPE_LIST);
        return build_items(*out, f, memo, v->u.seq.at, v->u.seq.n);
    case JY_V_DICT:
        *out = recipe_new(f, JY_RECIPE_DICT);
        return build_dict(*out, f, memo, v);
    case JY_V_SLICE:
        *out = recipe_new(f, JY_RECIPE_SLICE);
        return build_slice(*out, f, memo, v);
    case JY_V_CALLABLE:
    case JY_V_MODULE:
        *out = recipe_new(f, JY_RECIPE_CONST);
        (*out)->object = jy_keep(f->f_trace->unit, v->v_object);
        return JY_OK;
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_RANGE:
    case JY_V_FUNCTION:
    case JY_V_METHOD:
    case JY_V_ITER:
    case JY_V_CELL:
    case JY_V_OPAQUE:
    case JY_V_SET:
    case JY_V_DICTVIEW:
    case JY_V_HANDLED:
    case JY_V_EXCEPTION:
    case JY_V_INSTANCE:
    case JY_V_PARTIAL:
        break;
    }
    return jy_break(f, JY_BREAK_RESULT, "%s", jy_value_describe(f, v));
}

static jy_status
build(struct jy_recipe **out, struct jy_frame *f, struct memo *memo, struct jy_value *v)
{
    for (size_t i = 0; i < memo->entries.n; i++) {
        if (memo->entries.at[i].value == v) {
            if (memo->entries.at[i].open)
                return jy_break(f, JY_BREAK_RESULT, "a container that contains itself");
            *out = memo->entries.at[i].recipe;
            return JY_OK;
        }
    }
    size_t number = memo->entries.n;
    *jy_vec_push(jy_frame_arena(f), &memo->entries) = (struct entry){ .value = v, .open = true };
    bool singleton = v->v_kind == JY_V_CONST && (v->v_object == Py_None || PyBool_Check(v->v_object));
    if (v->v_source != JY_NO_SOURCE && !singleton) { /* an equal int or str would be another object */
        *out = recipe_new(f, JY_RECIPE_SOURCE);
        (*out)->source = v->v_source;
    } else {
        TRY(build_kind(out, f, memo, v));
    }
    memo->entries.at[number].recipe = *out;
    memo->entries.at[number].open = false;
    return JY_OK;
}

jy_status
jy_outputs_build(struct jy_frame *f, struct jy_value *result)
{
    struct memo memo = { 0 };
    return build(&f->f_trace->unit->u_result, f, &memo, result);
}
