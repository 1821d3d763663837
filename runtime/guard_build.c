/* From a unit's guards to a program: two little lists of LOAD and CHECK steps.
 *
 *   fixed part     sources that go only through module dictionaries (globals, builtins, attributes of modules), guards of identity on them, and what classes hold. Its
 *                  outcome can change only when one of those dictionaries or classes is written, which their version tags tell.
 *   per call part  everything else: parameters, cells, containers, attributes of instances, array classes, relations of sizes.
 *
 * A source is loaded once, before the first guard that needs it. Graph inputs are the first values, so that a call that passes has its inputs in place. A step holds
 * all that it needs; no call looks at the unit. */
#include "runtime/numpy_api.h"

#include "frontend/frontend.h"
#include "runtime/guard_internal.h"
#include <stdlib.h>
#include <string.h>

#define NO_VALUE UINT32_MAX

struct place {
    uint32_t value; /* NO_VALUE: none yet */
    bool loaded, fixed, live, is_guarded;
};

struct builder {
    struct jy_guard_program *p;
    PyObject *function;
    struct place *at; /* per source */
    bool failed;
    struct jy_gstep lost; /* where a step goes that there is no memory for */
};

static struct jy_gstep *
add_step(struct builder *b, struct jy_gsteps *steps, enum jy_gop op)
{
    struct jy_gstep *at = realloc(steps->at, (steps->n + 1) * sizeof(*at));
    if (at == NULL) {
        b->failed = true;
        return &b->lost;
    }
    steps->at = at;
    at = &at[steps->n++];
    *at = (struct jy_gstep){ .op = (uint8_t)op, .guard = JY_NO_GUARD };
    return at;
}

static const struct jy_source *
source_at(const struct builder *b, uint32_t source)
{
    return &b->p->unit->u_sources.at[source];
}

static PyObject *
name_of(const struct builder *b, const struct jy_source *s)
{
    return s->name ? jy_unit_object(b->p->unit, s->name) : NULL;
}

/* -- sources ------------------------------------------------------------------------------------------------------------------------ */

static void
add_dict(struct builder *b, PyObject *dict, PyObject *base)
{
    struct jy_guard_program *p = b->p;
    PyObject *module = PyModule_Check(base) ? base : NULL;
    for (size_t k = 0; k < p->ndicts; k++)
        if (p->dicts[k].dict == dict && (module == NULL || p->dicts[k].module == module))
            return;
    struct jy_gdict *at = realloc(p->dicts, (p->ndicts + 1) * sizeof(*at));
    if (at == NULL) {
        b->failed = true;
        return;
    }
    p->dicts = at;
    p->dicts[p->ndicts++] = (struct jy_gdict){ dict, module, 0 };
}

/* The dictionary whose version covers this source, given a fixed base; NULL: the source is not fixed. */
static PyObject *
covering_dict(const struct jy_source *s, PyObject *base, PyObject *name)
{
    PyFunctionObject *f = base != NULL && PyFunction_Check(base) ? (PyFunctionObject *)base : NULL;
    if (s->kind == JY_SOURCE_GLOBAL && f != NULL)
        return f->func_globals;
    if (s->kind == JY_SOURCE_BUILTIN && f != NULL)
        return f->func_builtins;
    if (s->kind == JY_SOURCE_ATTR && base != NULL && PyModule_CheckExact(base)) {
        PyObject *dict = PyModule_GetDict(base), *value = PyDict_GetItemWithError(dict, name);
        PyErr_Clear(); /* a key's comparison raised: the value counts as absent */
        return value != NULL ? dict : NULL;
    }
    return NULL;
}

static void
add_type(struct builder *b, PyTypeObject *type)
{
    struct jy_guard_program *p = b->p;
    for (size_t k = 0; k < p->ntypes; k++)
        if (p->types[k].type == type)
            return;
    struct jy_gtype *at = realloc(p->types, (p->ntypes + 1) * sizeof(*at));
    if (at == NULL) {
        b->failed = true;
        return;
    }
    p->types = at;
    p->types[p->ntypes++] = (struct jy_gtype){ type, 0 };
}

static bool
is_named(PyObject *name, const char *text)
{
    return name != NULL && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, text) == 0;
}

static enum jy_gop
op_of_load(const struct builder *b, const struct jy_source *s)
{
    switch (s->kind) {
    case JY_SOURCE_LOCAL:
    case JY_SOURCE_STACK:
        return JY_G_PARAMETER;
    case JY_SOURCE_GLOBAL:
    case JY_SOURCE_BUILTIN:
        return JY_G_GLOBAL;
    case JY_SOURCE_ATTR:
        return source_at(b, s->base)->kind == JY_SOURCE_ATTR && is_named(name_of(b, s), "__func__") ? JY_G_METHOD
                                                                                                    : JY_G_ATTR;
    default:
        return JY_G_SOURCE;
    }
}

static struct jy_gplace *
add_place(struct builder *b, PyObject *name)
{
    struct jy_gplace *place = &b->p->places[b->p->nplaces++];
    *place = (struct jy_gplace){ .name = name };
    return place;
}

static uint32_t need_source(struct builder *b, uint32_t index);

static struct jy_gstep *
add_load(struct builder *b, struct jy_gsteps *steps, uint32_t index, enum jy_gop op, uint32_t base)
{
    const struct jy_source *s = source_at(b, index);
    struct jy_gstep *step = add_step(b, steps, op);
    step->to = b->at[index].value;
    step->a = base;
    if (op == JY_G_PARAMETER)
        step->a = s->kind == JY_SOURCE_LOCAL ? b->p->unit->u_depth + s->index : s->index;
    else if (op == JY_G_SOURCE)
        step->u.source = s;
    else /* a method goes by the name of what it is bound as */
        step->u.place = add_place(b, name_of(b, op == JY_G_METHOD ? source_at(b, s->base) : s));
    if (op == JY_G_GLOBAL)
        step->u.place->builtin = s->kind == JY_SOURCE_BUILTIN;
    return step;
}

/* A step of each call reads it: a value of the fixed part must be put in its place. */
static void
use_source(struct builder *b, uint32_t index)
{
    struct place *at = &b->at[index];
    if (!at->fixed || at->live)
        return;
    at->live = true;
    b->p->live[b->p->nlive++] = at->value;
}

static void
load_source(struct builder *b, uint32_t index)
{
    struct jy_guard_program *p = b->p;
    const struct jy_source *s = source_at(b, index);
    struct place *at = &b->at[index];
    if (s->kind == JY_SOURCE_FUNCTION || s->kind == JY_SOURCE_OBJECT) {
        at->fixed = true;
        p->fixed_values[at->value] = s->kind == JY_SOURCE_FUNCTION ? b->function : name_of(b, s);
        return;
    }
    enum jy_gop op = op_of_load(b, s);
    if (op == JY_G_PARAMETER) {
        add_load(b, &p->per_call, index, op, 0);
        return;
    }
    uint32_t base = op == JY_G_METHOD ? source_at(b, s->base)->base : s->base, from = need_source(b, base);
    PyObject *dict = NULL;
    if (b->at[base].fixed && op != JY_G_METHOD)
        dict = covering_dict(s, p->fixed_values[from], name_of(b, s));
    if (dict == NULL) {
        use_source(b, base);
        add_load(b, &p->per_call, index, op, from);
        return;
    }
    const struct jy_gstep *step = add_load(b, &p->fixed, index, op == JY_G_ATTR ? JY_G_MODULE_ATTR : op, from);
    at->fixed = true;
    p->fixed_values[at->value] = b->failed ? NULL : jy_guards_load_fixed(step, p->fixed_values);
    PyErr_Clear(); /* a key's comparison raised: the value counts as absent */
    add_dict(b, dict, p->fixed_values[from]);
}

/* The place of the source's value, which is loaded if it was not. */
static uint32_t
need_source(struct builder *b, uint32_t index)
{
    struct place *at = &b->at[index];
    if (at->value == NO_VALUE)
        at->value = (uint32_t)b->p->nvalues++;
    if (!at->loaded) {
        at->loaded = true;
        load_source(b, index);
    }
    return at->value;
}

/* -- guards ------------------------------------------------------------------------------------------------------------------------- */

static uint32_t
source_of_input(const struct builder *b, size_t input)
{
    return b->p->unit->u_inputs.at[input].source;
}

static void
need_input(struct builder *b, size_t input)
{
    need_source(b, source_of_input(b, input));
    use_source(b, source_of_input(b, input));
}

static void
need_symbols(struct builder *b, jy_sx e)
{
    const struct jy_sizes *sizes = &b->p->unit->u_graph->g_sizes;
    const struct jy_sx_node *node = &sizes->exprs.at[e];
    if (node->op == JY_SX_SYM)
        need_input(b, sizes->symbols.at[node->k].placeholder);
    else if (node->op != JY_SX_CONST) {
        need_symbols(b, node->a);
        need_symbols(b, node->b);
    }
}

static bool
is_fixed_guard(const struct builder *b, const struct jy_guard *g)
{
    if (!b->at[g->source].fixed)
        return false;
    if (g->kind == JY_GUARD_TYPE) /* a builtin's instances cannot change their class */
        return PyType_HasFeature((PyTypeObject *)jy_unit_object(b->p->unit, g->object), Py_TPFLAGS_IMMUTABLETYPE);
    return g->kind == JY_GUARD_IS || g->kind == JY_GUARD_INT || g->kind == JY_GUARD_EQUALS ||
           g->kind == JY_GUARD_ABSENT || g->kind == JY_GUARD_PRESENT;
}

static void
fill_array(struct builder *b, struct jy_gstep *step, const struct jy_array_guard *array)
{
    step->ndim = array->ndim;
    step->b = NPY_ARRAY_ALIGNED | NPY_ARRAY_C_CONTIGUOUS | (array->writeable ? NPY_ARRAY_WRITEABLE : 0);
    step->u.descr = PyArray_DescrFromType(jy_dtype_info[array->dtype].number);
    b->failed |= step->u.descr == NULL;
    Py_XDECREF(step->u.descr); /* NumPy keeps it */
}

/* An array that was loaded by the step before: load and check are one. */
static void
add_array(struct builder *b, const struct jy_guard *g, uint32_t index, uint32_t value)
{
    struct jy_gsteps *steps = &b->p->per_call;
    struct jy_gstep *last = steps->n != 0 ? &steps->at[steps->n - 1] : NULL;
    if (last != NULL && last->op == JY_G_PARAMETER && last->to == value) {
        last->op = JY_G_PARAMETER_C_ARRAY;
    } else {
        last = add_step(b, steps, JY_G_C_ARRAY);
        last->a = value;
    }
    last->guard = index;
    fill_array(b, last, g->array);
}

static bool
is_extent(uint32_t *input, uint8_t *axis, const struct builder *b, jy_sx e)
{
    const struct jy_sizes *sizes = &b->p->unit->u_graph->g_sizes;
    const struct jy_sx_node *node = &sizes->exprs.at[e];
    if (node->op != JY_SX_SYM || sizes->symbols.at[node->k].axis < 0)
        return false;
    *input = sizes->symbols.at[node->k].placeholder;
    *axis = (uint8_t)sizes->symbols.at[node->k].axis;
    return true;
}

static void
add_size(struct builder *b, const struct jy_guard *g, uint32_t index)
{
    const struct jy_sizes *sizes = &b->p->unit->u_graph->g_sizes;
    struct jy_gstep *step;
    uint8_t axis_a, axis_b;
    uint32_t a, other;
    int64_t k;

    need_symbols(b, g->a);
    need_symbols(b, g->b);
    bool equal = g->compare == JY_EQ && is_extent(&a, &axis_a, b, g->a);
    if (equal && is_extent(&other, &axis_b, b, g->b)) {
        step = add_step(b, &b->p->per_call, JY_G_SAME_EXTENT);
        step->a = a;
        step->b = other;
        step->axis_a = axis_a;
        step->axis_b = axis_b;
    } else if (equal && jy_sizes_is_const(sizes, g->b, &k)) {
        step = add_step(b, &b->p->per_call, JY_G_EXTENT_IS);
        step->a = a;
        step->axis_a = axis_a;
        step->u.value = k;
    } else {
        step = add_step(b, &b->p->per_call, JY_G_OTHER);
        step->u.row = g;
    }
    step->guard = index;
}

static void
add_other(struct builder *b, const struct jy_guard *g, uint32_t index)
{
    bool pair = g->kind == JY_GUARD_SAME || g->kind == JY_GUARD_NOT_SAME || g->kind == JY_GUARD_NOT_DICT;
    uint32_t other = pair ? need_source(b, g->other_source) : 0, value = need_source(b, g->source);
    bool fixed = is_fixed_guard(b, g);
    if (!fixed) {
        use_source(b, g->source);
        if (pair)
            use_source(b, g->other_source);
    }
    if (g->kind == JY_GUARD_ARRAY && g->array->c_contiguous && !g->array->write_observed) {
        add_array(b, g, index, value);
        return;
    }
    struct jy_gstep *step = add_step(b, fixed ? &b->p->fixed : &b->p->per_call, JY_G_OTHER);
    step->a = value;
    step->b = other;
    step->guard = index;
    step->u.row = g;
    if (g->kind == JY_GUARD_TYPE || g->kind == JY_GUARD_IS) {
        step->op = g->kind == JY_GUARD_TYPE ? JY_G_TYPE : JY_G_IS;
        step->u.object = jy_unit_object(b->p->unit, g->object);
    } else if (pair && g->kind != JY_GUARD_NOT_DICT) {
        step->op = g->kind == JY_GUARD_SAME ? JY_G_SAME : JY_G_NOT_SAME;
    } else if (g->kind == JY_GUARD_PRESENT) {
        step->op = JY_G_PRESENT;
    } else if (g->kind == JY_GUARD_NOT_OWN) {
        step->op = JY_G_NOT_OWN;
        step->u.place = add_place(b, jy_unit_object(b->p->unit, g->name));
    }
}

/* What a class holds changes only with its version. */
static void
add_class(struct builder *b, const struct jy_guard *g, uint32_t index)
{
    struct jy_gstep *step = add_step(b, &b->p->fixed, JY_G_OTHER);
    step->guard = index;
    step->u.row = g;
    add_type(b, (PyTypeObject *)jy_unit_object(b->p->unit, g->object));
}

static void
add_guard(struct builder *b, uint32_t index)
{
    const struct jy_guard *g = &b->p->unit->u_guards.at[index];
    if (g->kind == JY_GUARD_SIZE) {
        add_size(b, g, index);
    } else if (g->kind == JY_GUARD_CLASS) {
        add_class(b, g, index);
    } else if (g->kind == JY_GUARD_DISJOINT) {
        need_input(b, (size_t)g->value);
        need_input(b, (size_t)g->other);
        struct jy_gstep *step = add_step(b, &b->p->per_call, JY_G_OTHER);
        step->guard = index;
        step->u.row = g;
    } else {
        add_other(b, g, index);
    }
}

/* -- inputs --------------------------------------------------------------------------------------------------------------------------- */

/* Sources of which some guard holds only if there is a value. */
static void
find_guarded(struct builder *b)
{
    const struct jy_unit *unit = b->p->unit;
    for (size_t k = 0; k < unit->u_guards.n; k++) {
        const struct jy_guard *g = &unit->u_guards.at[k];
        if (g->kind != JY_GUARD_SIZE && g->kind != JY_GUARD_DISJOINT && g->kind != JY_GUARD_ABSENT &&
            g->kind != JY_GUARD_CLASS)
            b->at[g->source].is_guarded = true;
    }
}

static void
add_input(struct builder *b, uint32_t input)
{
    const struct jy_input *in = &b->p->unit->u_inputs.at[input];
    uint32_t value = need_source(b, in->source);
    use_source(b, in->source);
    if (value != input) { /* the source is another input already */
        struct jy_gstep *step = add_step(b, &b->p->per_call, JY_G_COPY);
        step->to = input;
        step->a = value;
        return;
    }
    if (!b->at[in->source].is_guarded)
        add_step(b, &b->p->per_call, JY_G_PRESENT)->a = value;
    if (in->kind == JY_KIND_PYINT)
        add_step(b, &b->p->per_call, JY_G_FITS_INT64)->a = value;
}

static void
place_inputs(struct builder *b)
{
    struct jy_guard_program *p = b->p;
    p->nvalues = p->ninputs = p->unit->u_inputs.n;
    for (size_t k = 0; k < p->unit->u_sources.n; k++)
        b->at[k].value = NO_VALUE;
    for (size_t k = p->ninputs; k-- > 0;)
        b->at[source_of_input(b, k)].value = (uint32_t)k;
}

static bool
make_room(struct builder *b)
{
    struct jy_guard_program *p = b->p;
    size_t nsources = p->unit->u_sources.n, nvalues = nsources + p->unit->u_inputs.n + 1;
    b->at = calloc(nsources + 1, sizeof(*b->at));
    p->fixed_values = calloc(nvalues, sizeof(*p->fixed_values));
    p->live = calloc(nvalues, sizeof(*p->live));
    p->places = calloc(nsources + p->unit->u_guards.n + 1, sizeof(*p->places));
    return b->at != NULL && p->fixed_values != NULL && p->live != NULL && p->places != NULL;
}

struct jy_guard_program *
jy_guards_new(const char **why, const struct jy_unit *unit, PyObject *function)
{
    struct jy_guard_program *p = calloc(1, sizeof(*p));
    struct builder b = { .p = p, .function = function };

    *why = "no memory";
    if (p == NULL)
        return NULL;
    p->unit = unit;
    b.failed = !make_room(&b);
    if (!b.failed) {
        place_inputs(&b);
        find_guarded(&b);
        for (uint32_t k = 0; k < unit->u_guards.n; k++)
            add_guard(&b, k);
        for (uint32_t k = 0; k < unit->u_inputs.n; k++)
            add_input(&b, k);
    }
    free(b.at);
    if (b.failed) {
        jy_guards_free(p);
        return NULL;
    }
    return p;
}

void
jy_guards_free(struct jy_guard_program *p)
{
    if (p == NULL)
        return;
    free(p->fixed.at);
    free(p->per_call.at);
    free(p->dicts);
    free(p->types);
    free(p->fixed_values);
    free(p->live);
    free(p->places);
    free(p);
}
