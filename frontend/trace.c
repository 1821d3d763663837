/* jy_trace: one run of one function, from its call or from the middle, becomes a unit.
 *
 * Where the trace breaks it is done again and ended before the instruction that broke: everything that is alive there has a recipe, or the end moves further up, before the making of
 * what has none. Tracing is deterministic, so the second run comes to the same place in the same state, with nothing left of the instruction that did not work out.
 *
 * Owns what a trace holds of Python (the unit's object table and the list of objects that only the trace looks at) and the jump that ends
 * it when memory runs out. */
#include "frontend/cpython/compat.h"
#include "frontend/cpython/original.h"
#include "frontend/flow.h"
#include "frontend/generator.h"
#include "frontend/instance.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STOPPING_CODE = 100000 }; /* instructions */

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

/* ---- the start ---- */

static jy_src
local_source(struct jy_frame *f, size_t slot)
{
    PyObject *name = jy_code_local_name(f->f_instrs, (int)slot);
    return jy_source_add(f->f_trace->unit, JY_SOURCE_LOCAL, 0, (uint32_t)slot, name);
}

static jy_status
fill_parameters(struct jy_frame *f, const struct jy_trace_request *request)
{
    if (request->nlocals > f->f_nlocals)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu parameters for %zu locals", request->nlocals, f->f_nlocals);
    for (size_t i = 0; i < request->nlocals; i++) {
        jy_src source = local_source(f, i);
        if (request->locals[i] != NULL)
            f->f_locals[i] = jy_value_lazy(f, request->locals[i], source);
    }
    return JY_OK;
}

static struct jy_value *
outside_cell(struct jy_frame *f, PyObject *cell, size_t slot)
{
    struct jy_value *v = jy_value_new(f, JY_V_CELL);
    PyObject *name = jy_code_local_name(f->f_instrs, (int)slot), *content = PyCell_GET(cell);
    v->v_source = jy_source_add(f->f_trace->unit, JY_SOURCE_CONTENT, local_source(f, slot), 0, name);
    v->u.cell.slot = (uint32_t)slot + 1;
    if (content != NULL)
        v->u.cell.content = jy_value_lazy(f, content, v->v_source);
    return v;
}

static void
fill_stack(struct jy_frame *f, const struct jy_trace_request *request, const uint8_t *kinds)
{
    for (size_t i = 0; i < request->nstack; i++) {
        struct jy_value *v = jy_value_new(f, JY_V_NULL);
        if (request->stack[i] != NULL) {
            jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_STACK, 0, (uint32_t)i, NULL);
            v = jy_value_lazy(f, request->stack[i], source);
        }
        if (kinds[i] == JY_SLOT_HANDLED) {
            struct jy_value *mark = jy_value_new(f, JY_V_HANDLED);
            mark->u.handled.exception = v;
            v = mark;
        }
        f->f_stack[f->f_depth++] = v;
    }
}

/* The layout of the root frame's code; NULL: it is not legal. */
static const struct jy_layout_map *
root_layout(struct jy_frame *f)
{
    struct jy_original *original = f->f_trace->request->original;
    if (original != NULL && original->o_code == f->f_instrs)
        return jy_original_map(original);
    struct jy_layout_map *map = JY_NEW(jy_frame_arena(f), struct jy_layout_map);
    struct jy_code *code = (struct jy_code *)(uintptr_t)f->f_instrs; /* the layout only fills in depths */
    return jy_code_layout(map, code) == JY_OK ? map : NULL;
}

/* The middle of the function: what the prologue did has happened. */
static jy_status
fill_frame(struct jy_frame *f, const struct jy_trace_request *request)
{
    struct jy_trace_state *t = f->f_trace;
    const PyCodeObject *co = (PyCodeObject *)f->f_code;
    const struct jy_code *code = f->f_instrs;
    const struct jy_layout_map *map = root_layout(f);
    t->start = f->f_next = jy_code_id_at_offset(code, (int)request->start);
    if (t->start == JY_NO_INSTR || request->nlocals + (size_t)co->co_nfreevars != f->f_nlocals || map == NULL ||
        !jy_layout_is_portable(map, code, t->start) || (size_t)jy_code_at(code, t->start)->i_depth != request->nstack)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "no start at %u", (unsigned)request->start);
    for (size_t i = 0; i < request->nlocals; i++) {
        PyObject *object = request->locals[i];
        bool is_cell = (jy_compat_local_kind((PyCodeObject *)f->f_code, (int)i) & JY_LOCAL_CELL) != 0;
        if (is_cell && (object == NULL || !PyCell_Check(object)))
            return jy_break(f, JY_BREAK_BAD_BYTECODE, "no cell in slot %zu", i);
        if (object != NULL)
            f->f_locals[i] = is_cell ? outside_cell(f, object, i) : jy_value_lazy(f, object, local_source(f, i));
    }
    fill_stack(f, request, map->kinds[t->start]);
    for (size_t i = 0; i < request->nstack; i++) /* whatever takes it off the stack drops it */
        if (request->stack[i] != NULL && jy_drop_shows(f, request->stack[i], false))
            return jy_break(f, JY_BREAK_DROP, "a %s on the value stack", Py_TYPE(request->stack[i])->tp_name);
    return co->co_nfreevars != 0 ? jy_copy_free_vars(f, (size_t)co->co_nfreevars) : JY_OK;
}

/* ---- what came of it ---- */

/* Operations that compute something. A unit that only makes views would add to the cost of a call: NumPy makes them as fast. */
static size_t
count_operations(const struct jy_graph *g, size_t first)
{
    size_t n = 0;
    for (size_t i = first; i < g->g_nodes.n; i++) {
        uint8_t klass = jy_op_info[g->g_nodes.at[i].n_op].klass;
        n += klass != JY_CLASS_SOURCE && klass != JY_CLASS_VIEW;
    }
    return n;
}

enum {
    SCALARS_PER_ARRAY = 16
}; /* operations on numbers that gain as much as one on an array; measured: some 30 ns against 500 */

/* The same in operations on arrays, where leaving CPython and coming back must be worth it. Who asks for no more than one operation gets all. */
static size_t
count_gain(const struct jy_graph *g, uint32_t wanted)
{
    size_t arrays = 0, scalars = 0;
    for (size_t i = 0; i < g->g_nodes.n; i++) {
        const struct jy_node *node = &g->g_nodes.at[i];
        uint8_t klass = jy_op_info[node->n_op].klass;
        if (klass == JY_CLASS_SOURCE || klass == JY_CLASS_VIEW)
            continue;
        bool on_arrays = node->n_ndim != 0;
        for (uint8_t k = 0; k < node->n_nargs; k++)
            on_arrays |= jy_graph_at(g, node->n_args[k])->n_ndim != 0;
        *(on_arrays ? &arrays : &scalars) += 1;
    }
    return wanted <= 1 ? arrays + scalars : arrays + scalars / SCALARS_PER_ARRAY;
}

enum { MANY_NUMBERS = 16 }; /* taste: that a unit has to hand out before they are weighed */

/* Python's numbers alone, and hardly more operations than numbers that become objects again, which cost as much as two or three operations each. Measured. */
static bool
is_mostly_boxing(const struct jy_graph *g, size_t operations)
{
    bool own = g->g_outputs.n >= MANY_NUMBERS && operations <= 2 * g->g_outputs.n;
    for (size_t i = 0; own && i < g->g_nodes.n; i++)
        own = g->g_nodes.at[i].n_kind >= JY_KIND_PYFLOAT;
    return own;
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

/* The caller of a compiled function holds its arguments, so a destructor that the function lets run in its middle would run late. */
static bool
drops_parameters(struct jy_frame *f)
{
    const struct jy_trace_request *request = f->f_trace->request;
    for (int id = jy_code_begin(f->f_instrs); id != JY_NO_INSTR; id = jy_code_next(f->f_instrs, id)) {
        const struct jy_instr *instr = jy_code_at(f->f_instrs, id);
        bool deletes = instr->i_op == DELETE_FAST;
        if ((deletes || instr->i_op == STORE_FAST) && (size_t)instr->i_arg < request->nlocals &&
            jy_drop_shows(f, request->locals[instr->i_arg], deletes))
            return true;
    }
    return false;
}

/* A frame that the program holds must go on to be the one that runs; to a tracer that it installs, another one would begin. */
static bool
looks_at_its_frame(const struct jy_frame *f)
{
    /* Up to 3.12 locals() is one dict for the life of a frame: what exec() adds to it stays. */
    static const char *const names[] = { "_getframe",
                                         "_current_frames",
                                         "currentframe",
                                         "f_locals",
                                         "tb_frame",
                                         "f_back",
                                         "f_lasti",
                                         "locals",
                                         "vars",
                                         "dir",
                                         "exec",
                                         "eval",
                                         "settrace",
                                         "setprofile",
                                         "set_trace",
                                         "breakpoint",
                                         "_settraceallthreads" };
    PyObject *all = ((PyCodeObject *)f->f_code)->co_names;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all); i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(all, i), names[k]) == 0)
                return true;
    return false;
}

static bool
can_stop(struct jy_frame *f, const struct jy_break_info *why)
{
    if (why->reason == JY_BREAK_BAD_BYTECODE || why->reason == JY_BREAK_DELETE_PARAMETER)
        return false;
    return f->f_trace->start != JY_NO_INSTR || !drops_parameters(f);
}

/* The root step before which to end the unit instead; 0: there is none. */
static uint32_t
choose_stop(struct jy_frame *f, const struct jy_break_info *why)
{
    const struct jy_trace_state *t = f->f_trace;
    uint32_t step = t->root_steps;
    if (why->reason == JY_BREAK_DROP)
        step = t->drop_step;
    else if (t->unbuildable != NULL)
        step = t->unbuildable->v_step;
    else if (why->reason == JY_BREAK_LOOP_TOO_LONG && t->loop != JY_NO_INSTR)
        step = *jy_first_seen(f, t->loop);
    uint32_t at = step < t->groups.n ? t->groups.at[step] : 0;
    bool earlier = t->stop_at == 0 || at < t->stop_at;
    return at > t->begun && earlier ? at : 0;
}

/* The root step before which the unit can end for the reason in u_break; 0: there is none. */
static uint32_t
possible_stop(struct jy_frame *f)
{
    const struct jy_break_info *why = &f->f_trace->unit->u_break;
    bool can = f->f_instrs->c_ndecoded <= MAX_STOPPING_CODE && !looks_at_its_frame(f) && can_stop(f, why);
    return can ? choose_stop(f, why) : 0;
}

void
jy_trace_end_here(struct jy_frame *root)
{
    struct jy_trace_state *t = root->f_trace;
    if (possible_stop(root) != t->root_steps)
        return;
    t->ended = t->unit->u_break;
    t->stop_at = t->root_steps;
}

/* ---- one run ---- */

/* What is tried again: the stop, and why it is there. */
struct plan {
    uint32_t stop_at;
    bool
        calls_copy; /* the instruction there is a call that was given up for something in its callee, behind operations */
    bool unrolls;   /* loops are walked through here: the unit cannot end before one */
    struct jy_break_info why; /* its texts are copies on the heap */
};

static char *
copy_text(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

static void
forget_reason(struct plan *plan)
{
    free((void *)(uintptr_t)plan->why.detail);
    free((void *)(uintptr_t)plan->why.file);
    free((void *)(uintptr_t)plan->why.function);
    plan->why = (struct jy_break_info){ 0 };
}

/* The first reason stays: a stop that has to move further up is there for the same one. */
static void
remember_reason(struct plan *plan, const struct jy_break_info *why)
{
    if (plan->why.name != NULL)
        return;
    plan->why = *why;
    plan->why.detail = copy_text(why->detail);
    plan->why.file = copy_text(why->file);
    plan->why.function = copy_text(why->function);
}

static void
restore_reason(struct jy_unit *unit, const struct plan *plan)
{
    struct jy_break_info *why = &unit->u_break;
    *why = plan->why;
    why->detail = plan->why.detail != NULL ? jy_arena_strdup(unit->u_arena, plan->why.detail) : NULL;
    why->file = plan->why.file != NULL ? jy_arena_strdup(unit->u_arena, plan->why.file) : NULL;
    why->function = plan->why.function != NULL ? jy_arena_strdup(unit->u_arena, plan->why.function) : NULL;
}

static jy_status
interpret(struct jy_frame *f)
{
    TRY(jy_interp_run(f));
    f->f_trace->unbuildable = NULL;
    TRY(jy_generators_check(f));
    TRY(jy_outputs_build(f));
    TRY(jy_errstate_finish(f));
    jy_guard_reads(f);
    const struct jy_trace_state *t = f->f_trace;
    if (!t->stopped)
        jy_drop_locals(f);
    if (t->drop_step != 0 && (t->effects.n > t->drop_effects || writes_inputs(t->graph)))
        return jy_break(f, JY_BREAK_DROP, "a change comes behind it");
    if (t->drop_mixed)
        return jy_break(f, JY_BREAK_DROP, "another comes behind it");
    return JY_OK;
}

static jy_status
open_root(struct jy_frame **out, struct jy_trace_state *t)
{
    const struct jy_trace_request *request = t->request;
    struct jy_unit *unit = t->unit;
    PyObject *code = ((PyFunctionObject *)request->function)->func_code;
    const char *name = jy_utf8(((PyCodeObject *)code)->co_name);
    t->graph = unit->u_graph = jy_graph_new(unit->u_arena, jy_arena_strdup(unit->u_arena, name));
    jy_source_add(unit, JY_SOURCE_FUNCTION, 0, 0, NULL);
    unit->u_start = request->start;
    unit->u_depth = (uint32_t)request->nstack;
    TRY(jy_frame_new(out, NULL, t, request->function, code, 0));
    find_numpy(*out);
    TRY(check_code(*out));
    return request->start == 0 ? fill_parameters(*out, request) : fill_frame(*out, request);
}

/* JY_OK, JY_ERROR, or JY_BREAK; *again: plan->stop_at has been set, and the same trace will come further. */
static jy_status
trace(struct jy_trace_state *t, struct plan *plan, bool *again)
{
    struct jy_unit *unit = t->unit;
    struct jy_frame *f = NULL;
    t->stop_at = plan->stop_at;
    t->calls_copy = plan->calls_copy && t->request->callee != NULL;
    t->start = t->loop = JY_NO_INSTR;
    TRY(open_root(&f, t));
    t->native_loops = !plan->unrolls && t->request->native_loops;
    jy_status status = interpret(f);
    if (t->ended.name != NULL)
        remember_reason(plan, &t->ended);
    if (status == JY_BREAK && unit->u_break.reason == JY_BREAK_NATIVE_LOOP && possible_stop(f) == 0) {
        plan->unrolls = *again = true;
        return status;
    }
    if (status == JY_BREAK && f->f_instrs->c_ndecoded > MAX_STOPPING_CODE)
        return jy_break(f, JY_BREAK_CODE_TOO_LONG, "%d instructions: %s", f->f_instrs->c_ndecoded, unit->u_break.what);
    if (status == JY_BREAK && looks_at_its_frame(f))
        return jy_break(f, JY_BREAK_OWN_FRAME, "%s", unit->u_break.what);
    if (status == JY_BREAK && can_stop(f, &unit->u_break)) {
        uint32_t at = choose_stop(f, &unit->u_break);
        if (at != 0) {
            remember_reason(plan, &unit->u_break);
            bool in_callee = t->depth != 0 && !t->stopped && at == t->groups.at[t->root_steps] &&
                             jy_instr_call_items(jy_code_at(f->f_instrs, f->f_pc)) != 0;
            size_t inside = in_callee ? count_operations(t->graph, t->step_nodes) : 0;
            plan->calls_copy = inside != 0 && inside >= t->request->min_nodes;
            plan->stop_at = at;
            *again = true;
        }
    }
    TRY(status);
    unit->u_writes = writes_inputs(t->graph);
    if (unit->u_stop.stops && plan->why.name != NULL)
        restore_reason(unit, plan);
    size_t operations = count_operations(t->graph, 0);
    bool whole = !unit->u_stop.stops && unit->u_start == 0;
    if (t->request->min_nodes > 1 && is_mostly_boxing(t->graph, operations))
        return jy_break(f, JY_BREAK_NOTHING_TO_COMPILE, "%zu operations for %zu numbers of Python's own that are kept",
                        operations, t->graph->g_outputs.n);
    bool enough = t->calls_copy ||
                  (operations != 0 && (whole || count_gain(t->graph, t->request->min_nodes) >= t->request->min_nodes));
    if (!enough && (!unit->u_stop.stops || plan->why.name == NULL))
        return jy_break(f, JY_BREAK_NOTHING_TO_COMPILE, "%s array or number is computed",
                        operations == 0 ? "no" : "hardly any");
    return enough ? JY_OK : JY_BREAK;
}

static jy_status
trace_flow(struct jy_trace_state *t)
{
    struct jy_frame *f = NULL;
    t->start = t->loop = JY_NO_INSTR;
    t->elements = true;
    TRY(open_root(&f, t));
    if (looks_at_its_frame(f))
        return jy_break(f, JY_BREAK_OWN_FRAME, "a loop that would go on in another frame");
    TRY(jy_flow_build(f));
    jy_guard_reads(f);
    return JY_OK;
}

/* plan NULL: a flow. */
static jy_status
trace_once(struct jy_unit **out, const struct jy_trace_request *request, struct plan *plan, bool *again)
{
    *out = NULL;
    *again = false;
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
        status = plan != NULL ? trace(t, plan, again) : trace_flow(t);
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

jy_status
jy_trace(struct jy_unit **out, const struct jy_trace_request *request)
{
    struct plan plan = { .stop_at = request->break_every };
    jy_status status;
    bool again;
    do {
        status = trace_once(out, request, &plan, &again);
        if (again && status == JY_BREAK) {
            jy_unit_free(*out);
            *out = NULL;
        }
    } while (again && status == JY_BREAK);
    forget_reason(&plan);
    return status;
}

/* A function that calls itself runs natively from its call on. */
static bool
may_recurse(const struct jy_trace_request *request)
{
    return request->start == 0 && jy_vmay_recurse(request->function);
}

jy_status
jy_flow_trace(struct jy_unit **out, const struct jy_trace_request *request)
{
    bool again;
    if (!may_recurse(request))
        return trace_once(out, request, NULL, &again);
    struct jy_trace_request as_function = *request;
    as_function.as_function = true;
    jy_status status = trace_once(out, &as_function, NULL, &again);
    if (status != JY_BREAK)
        return status;
    struct jy_unit *first = *out;
    status = trace_once(out, request, NULL, &again);
    if (status == JY_BREAK && *out != NULL) { /* why it does not run natively as a whole says more */
        jy_unit_free(*out);
        *out = first;
    } else {
        jy_unit_free(first);
    }
    return status;
}
