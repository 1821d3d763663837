/* Unit -> bytecode: `outputs = __compiled_fn_N(inputs...)`, then the result by its recipe.
 *
 *       COPY_FREE_VARS, RESUME                      as in the original
 *       __compiled_fn_N(load of each input's source)
 *       if that is `rerun`: return it               the caller runs the original
 *       unpack into temporaries
 *       build the result: a source, an output, a constant or a container of these
 *       RETURN_VALUE
 *
 * Nothing of the user's runs in this code, so temporaries are never seen. Values that are needed twice (a container that appears twice is one object, a source with attribute
 * look-ups) are made once and kept in a temporary. MAKE_CELL is left out: no closure is made here, and a parameter that is a cell stays in its slot as it came. */
#include "frontend/frontend.h"

#include "frontend/cpython/assemble.h"
#include "frontend/cpython/emit.h"
#include "frontend/sweep.h"
#include <stdio.h>

struct temp {
    const void *key; /* recipe, or NULL for a source */
    jy_src source;
    int local;
    uint32_t uses;
};

struct generator {
    const struct jy_unit *unit;
    PyFunctionObject *function;
    PyObject *name, *rerun;
    struct jy_code *code;
    struct {
        struct temp *at;
        size_t n, cap;
    } temps;
    int *output_local;
};

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

static struct temp *
find_temp(struct generator *g, const void *recipe, jy_src source)
{
    for (size_t k = 0; k < g->temps.n; k++)
        if (g->temps.at[k].key == recipe && (recipe != NULL || g->temps.at[k].source == source))
            return &g->temps.at[k];
    return NULL;
}

static bool
count_use(struct generator *g, const void *recipe, jy_src source)
{
    struct temp *t = find_temp(g, recipe, source);
    if (t == NULL)
        *jy_vec_push(g->code->c_arena, &g->temps) = (struct temp){ recipe, source, -1, 1 };
    else
        t->uses++;
    return t == NULL;
}

/* -- counting uses ----------------------------------------------------------------------------------------------------------------- */

static void
count_source(struct generator *g, jy_src source)
{
    const struct jy_source *s = &g->unit->u_sources.at[source];
    if (s->kind == JY_SOURCE_FUNCTION || s->kind == JY_SOURCE_LOCAL)
        return;
    if (count_use(g, NULL, source) && s->base != 0)
        count_source(g, s->base);
}

static void
count_recipe(struct generator *g, const struct jy_recipe *r)
{
    if (r->kind == JY_RECIPE_SOURCE) {
        count_source(g, r->source);
        return;
    }
    if (r->kind == JY_RECIPE_OUTPUT || r->kind == JY_RECIPE_CONST || !count_use(g, r, 0))
        return;
    for (size_t k = 0; k < r->n; k++)
        count_recipe(g, r->items[k]);
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
    case JY_SOURCE_LOCAL:
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
    case JY_SOURCE_CONTENT:
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
    return jy_edit_append(g->code, STORE_FAST, t->local);
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

/* -- the result -------------------------------------------------------------------------------------------------------------------- */

static int build(struct generator *g, const struct jy_recipe *r);

static int
build_container(struct generator *g, const struct jy_recipe *r)
{
    for (size_t k = 0; k < r->n; k++)
        CHECK(build(g, r->items[k]));
    switch ((enum jy_recipe_kind)r->kind) {
    case JY_RECIPE_TUPLE:
        return jy_edit_append(g->code, BUILD_TUPLE, (int)r->n);
    case JY_RECIPE_LIST:
        return jy_edit_append(g->code, BUILD_LIST, (int)r->n);
    case JY_RECIPE_SLICE:
        return jy_edit_append(g->code, BUILD_SLICE, (int)r->n);
    case JY_RECIPE_DICT:
        if (r->n == 0)
            return jy_edit_append(g->code, BUILD_MAP, 0);
        CHECK(jy_emit_load_const(g->code, jy_unit_object(g->unit, r->object)));
        return jy_edit_append(g->code, BUILD_CONST_KEY_MAP, (int)r->n);
    case JY_RECIPE_SET:
    case JY_RECIPE_CALL:
    case JY_RECIPE_ITER:
    case JY_RECIPE_FUNCTION:
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
    if (r->kind == JY_RECIPE_SOURCE)
        return load_source(g, r->source);
    if (r->kind == JY_RECIPE_OUTPUT)
        return jy_edit_append(g->code, LOAD_FAST, g->output_local[r->output]);
    if (r->kind == JY_RECIPE_CONST)
        return jy_emit_load_const(g->code, jy_unit_object(g->unit, r->object));
    struct temp *t = find_temp(g, r, 0);
    if (t != NULL && t->local >= 0)
        return jy_edit_append(g->code, LOAD_FAST, t->local);
    CHECK(build_container(g, r));
    return keep_temp(g, t);
}

/* -- the whole ----------------------------------------------------------------------------------------------------------------------- */

/* Only the prologue of the original stays. */
static void
clear_body(struct jy_code *code)
{
    bool resumed = false;
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        int op = jy_code_at(code, id)->i_op;
        if (!resumed && (op == COPY_FREE_VARS || op == RESUME))
            resumed = op == RESUME;
        else
            jy_edit_delete(code, id);
    }
    code->c_handlers.n = 0;
}

static int
emit_call(struct generator *g)
{
    size_t noutputs = g->unit->u_graph->g_outputs.n;
    CHECK(jy_emit_callable_global(g->code, g->name));
    for (size_t k = 0; k < g->unit->u_inputs.n; k++)
        CHECK(load_source(g, g->unit->u_inputs.at[k].source));
    CHECK(jy_emit_call(g->code, (int)g->unit->u_inputs.n));
    jy_edit_append(g->code, COPY, 1);
    CHECK(jy_emit_load_const(g->code, g->rerun));
    jy_edit_append(g->code, IS_OP, 0);
    int jump = jy_emit_pop_jump_if_false(g->code);
    jy_edit_append(g->code, RETURN_VALUE, 0);
    jy_edit_set_target(g->code, jump, jy_edit_append(g->code, UNPACK_SEQUENCE, (int)noutputs));
    for (size_t k = 0; k < noutputs; k++) {
        CHECK(g->output_local[k] = new_local(g, "out", k));
        jy_edit_append(g->code, STORE_FAST, g->output_local[k]);
    }
    return 0;
}

static int
generate(struct generator *g)
{
    size_t noutputs = g->unit->u_graph->g_outputs.n;
    g->output_local = JY_NEW_ARRAY(g->code->c_arena, int, noutputs + 1);
    for (size_t k = 0; k < g->unit->u_inputs.n; k++)
        count_source(g, g->unit->u_inputs.at[k].source);
    count_recipe(g, g->unit->u_result);
    clear_body(g->code);
    CHECK(emit_call(g));
    CHECK(build(g, g->unit->u_result));
    return jy_edit_append(g->code, RETURN_VALUE, 0);
}

static jy_status
edit(struct jy_code *code, void *context)
{
    struct generator *g = context;
    g->code = code;
    int first = code->c_ndecoded;
    if (generate(g) < 0)
        return JY_ERROR;
    for (int id = first; id < (int)code->c_instrs.n; id++) /* a traceback through here points at the def */
        jy_code_at(code, id)->i_position =
            (struct jy_position){ code->c_origin->co_firstlineno, code->c_origin->co_firstlineno, -1, -1 };
    return jy_sweep_code(code);
}

PyObject *
jy_codegen(const struct jy_unit *unit, PyObject *function, PyObject *compiled_name, PyObject *rerun)
{
    struct generator g = {
        .unit = unit, .function = (PyFunctionObject *)function, .name = compiled_name, .rerun = rerun
    };
    PyObject *code = NULL;
    jy_status status = jy_transform_code_object(&code, g.function->func_code, edit, &g);
    if (status == JY_NOMEM)
        PyErr_NoMemory();
    else if (status == JY_BREAK && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the regenerated bytecode is not legal");
    return status == JY_OK ? code : NULL;
}
