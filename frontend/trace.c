/* jy_trace: one call of one function becomes a unit.
 *
 * Owns what a trace holds of Python (the unit's object table and the list of objects that only the trace looks at) and the jump that ends
 * it when memory runs out. */
#include "frontend/interp.h"

#include <string.h>

static struct jy_unit *
unit_new(struct jy_arena *arena)
{
    struct jy_unit *unit = JY_NEW(arena, struct jy_unit);
    unit->u_arena = arena;
    return unit;
}

void
jy_unit_free(struct jy_unit *unit)
{
    if (unit == NULL)
        return;
    for (size_t i = 1; i < unit->u_objects.n; i++)
        Py_XDECREF((PyObject *)unit->u_objects.at[i]);
    jy_arena_free(unit->u_arena);
}

/* numpy's types, when the program has loaded it; holds the module's attributes through sys.modules. */
static void
find_numpy(struct jy_frame *f)
{
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("numpy"));
    PyObject *numpy = name != NULL ? jy_hold(f, PyImport_GetModule(name)) : NULL;
    if (numpy != NULL) {
        f->f_trace->ndarray = jy_hold(f, PyObject_GetAttrString(numpy, "ndarray"));
        f->f_trace->generic = jy_hold(f, PyObject_GetAttrString(numpy, "generic"));
    }
    PyErr_Clear();
}

static jy_status
check_code(struct jy_frame *f)
{
    int flags = ((PyCodeObject *)f->f_code)->co_flags;
    if (flags & (CO_COROUTINE | CO_ASYNC_GENERATOR))
        return jy_break(f, JY_BREAK_ASYNC, "a coroutine");
    if (flags & (CO_GENERATOR | CO_ITERABLE_COROUTINE))
        return jy_break(f, JY_BREAK_GENERATOR, "a generator function");
    if ((flags & (CO_OPTIMIZED | CO_NEWLOCALS)) != (CO_OPTIMIZED | CO_NEWLOCALS))
        return jy_break(f, JY_BREAK_CLASS_BODY, "code without fast locals");
    if (!PyDict_CheckExact(f->f_globals) || !PyDict_CheckExact(f->f_builtins))
        return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "globals that are no plain dict");
    return JY_OK;
}

static jy_status
fill_locals(struct jy_frame *f, const struct jy_trace_request *request)
{
    if (request->nlocals > f->f_nlocals)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu parameters for %zu locals", request->nlocals, f->f_nlocals);
    for (size_t i = 0; i < request->nlocals; i++) {
        PyObject *name = jy_code_local_name(f->f_instrs, (int)i);
        jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_LOCAL, 0, (uint32_t)i, name);
        if (request->locals[i] != NULL)
            f->f_locals[i] = jy_value_lazy(f, request->locals[i], source);
    }
    return JY_OK;
}

/* Something is computed. A unit that only makes views would add to the cost of a call: NumPy makes them as fast. */
static bool
has_operations(const struct jy_graph *g)
{
    for (size_t i = 0; i < g->g_nodes.n; i++) {
        uint8_t klass = jy_op_info[g->g_nodes.at[i].n_op].klass;
        if (klass != JY_CLASS_SOURCE && klass != JY_CLASS_VIEW)
            return true;
    }
    return false;
}

static bool
writes_inputs(const struct jy_graph *g)
{
    for (size_t i = 0; i < g->g_nodes.n; i++) {
        const struct jy_node *node = &g->g_nodes.at[i];
        if (node->n_op == JY_OP_STORE && jy_graph_at(g, node->n_storage)->n_op == JY_OP_PLACEHOLDER)
            return true;
    }
    return false;
}

static jy_status
trace(struct jy_trace_state *t)
{
    const struct jy_trace_request *request = t->request;
    PyObject *code = ((PyFunctionObject *)request->function)->func_code;
    const char *name = jy_utf8(((PyCodeObject *)code)->co_name);
    t->graph = t->unit->u_graph = jy_graph_new(t->unit->u_arena, jy_arena_strdup(t->unit->u_arena, name));
    jy_source_add(t->unit, JY_SOURCE_FUNCTION, 0, 0, NULL);
    struct jy_frame *f;
    TRY(jy_frame_new(&f, NULL, t, request->function, code, 0));
    find_numpy(f);
    TRY(check_code(f));
    TRY(fill_locals(f, request));
    TRY(jy_interp_run(f));
    TRY(jy_outputs_build(f, f->f_return));
    t->unit->u_writes = writes_inputs(t->graph);
    if (!has_operations(t->graph))
        return jy_break(f, JY_BREAK_NOTHING_TO_COMPILE, "no array or number is computed");
    return JY_OK;
}

jy_status
jy_trace(struct jy_unit **out, const struct jy_trace_request *request)
{
    *out = NULL;
    struct jy_arena *arena = jy_arena_new();
    PyObject *held = PyList_New(0);
    if (arena == NULL || held == NULL) {
        jy_arena_free(arena);
        Py_XDECREF(held);
        PyErr_NoMemory();
        return JY_ERROR;
    }
    jy_status status;
    if (setjmp(*jy_arena_guard(arena)) == 0) {
        struct jy_unit *unit = unit_new(arena);
        *out = unit;
        struct jy_trace_state *t = JY_NEW(arena, struct jy_trace_state);
        t->unit = unit;
        t->request = request;
        t->held = held;
        status = trace(t);
    } else {
        PyErr_Clear();
        PyErr_NoMemory();
        status = JY_ERROR;
    }
    Py_DECREF(held);
    if (status == JY_ERROR) {
        if (*out != NULL)
            jy_unit_free(*out);
        else
            jy_arena_free(arena);
        *out = NULL;
    }
    return status;
}
