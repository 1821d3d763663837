/* The driver and what it works with; start.h has the picture.
 *
 * A continuation is the tuple (value stack, locals and cells, point) that new code returns. Its items belong to the frame that takes them over: the only argument of code that starts in
 * the middle is an iterator that hands the items out and keeps none, so that reference counts, and with them the moment of every destructor, are those of one frame that runs through. */
#include "runtime/function.h"

#include "frontend/cpython/hook.h"
#include "frontend/cpython/original.h"
#include "frontend/point.h"
#include "runtime/flow_chain.h"
#include "runtime/flow_late.h"
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROOM 16384u /* bytes for the guards' values */

/* -- handing over ------------------------------------------------------------------------------------------------------------------ */

struct handover {
    PyObject_HEAD PyObject *tuple; /* owned; items become NULL as they go */
    Py_ssize_t depth, nlocals, next;
};

static PyObject *
handover_next(PyObject *self)
{
    struct handover *h = (struct handover *)self;
    Py_ssize_t k = h->next, n = h->depth + h->nlocals;
    if (k >= n)
        return NULL;
    h->next++;
    PyObject **item = &PyTuple_GET_ITEM(h->tuple, k < h->nlocals ? h->depth + k : n - 1 - k);
    PyObject *given = *item;
    *item = NULL;
    return given != NULL ? given : Py_NewRef(Py_None);
}

static void
handover_dealloc(PyObject *self)
{
    Py_XDECREF(((struct handover *)self)->tuple);
    PyObject_Free(self);
}

static PyTypeObject handover_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "jitney._continuation",
    .tp_basicsize = sizeof(struct handover),
    .tp_dealloc = handover_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = handover_next,
    .tp_doc = "the frame that a resumed function takes over",
};

/* refs: steals tuple on success */
static PyObject *
handover_new(PyObject *tuple, const struct jy_start *s)
{
    struct handover *h = PyObject_New(struct handover, &handover_type);
    if (h == NULL && jy_reserve_spend(NULL))
        h = PyObject_New(struct handover, &handover_type);
    if (h == NULL)
        return NULL;
    h->tuple = tuple;
    h->depth = s->s_depth;
    h->nlocals = s->s_nlocals;
    h->next = 0;
    return (PyObject *)h;
}

/* Is there memory for the tuple that a frame is handed over in, and any beside it? A frame that is left when there is none cannot go on. */
static bool
has_room(const struct jy_point *point)
{
    void *any = PyObject_Malloc(sizeof(struct handover));
    PyObject *tuple = any != NULL ? PyTuple_New((Py_ssize_t)point->depth + point->nlocals + 1) : NULL;
    if (any != NULL && tuple == NULL)
        PyErr_Clear();
    PyObject_Free(any);
    Py_XDECREF(tuple);
    return tuple != NULL;
}

/* Asked in the frame that is about to be left. One that somebody holds, or watches, goes on to its end: it must show what it would show in CPython, line by line. */
static int
may_leave(PyObject *point)
{
    PyThreadState *thread = PyThreadState_Get();
    return !jy_thread_frame_is_kept(thread) &&
           !jy_compat_is_watched(&jy_runtime->watch, ((struct jy_point *)point)->code) &&
           has_room((struct jy_point *)point);
}

int
jy_start_init(void)
{
    return PyType_Ready(&handover_type) < 0 || jy_flow_chain_init() < 0 || jy_flow_late_init() < 0
               ? -1
               : jy_point_init(may_leave);
}

/* -- new code ---------------------------------------------------------------------------------------------------------------------- */

/* Functions that wait for their next call are untracked, which their destructor does not expect. */
static void
forget_function(struct jy_new_code *c)
{
    if (c->function != NULL)
        PyObject_GC_Track(c->function);
    Py_CLEAR(c->function);
}

/* The constants may be the last references to objects of the program's: they go when its watchers hear again. */
void
jy_new_code_clear(struct jy_new_code *c)
{
    PyObject *constants = c->code == NULL ? NULL : Py_NewRef(((PyCodeObject *)c->code)->co_consts);
    unsigned muted = jy_compat_mute_watchers();
    forget_function(c);
    Py_CLEAR(c->code);
    jy_compat_unmute_watchers(muted);
    Py_XDECREF(constants);
}

struct jy_original *
jy_original_of(struct jy_function *f)
{
    if (f->f_original == NULL)
        f->f_original = jy_original_new(f->f_code);
    if (f->f_original != NULL)
        f->f_original->o_refs++;
    return f->f_original;
}

static void
forget_original(struct jy_function *f)
{
    struct jy_original *original = f->f_original;
    f->f_original = NULL;
    jy_original_release(original);
}

void
jy_original_settle(struct jy_function *f)
{
    if (f->f_leaves.active == 0)
        forget_original(f);
}

/* The same for all: whatever makes new code afresh comes through here. */
static PyObject *
generate(struct jy_function *f, PyObject *code, const struct jy_start *s, const struct jy_unit *unit, PyObject *name,
         bool leaves)
{
    size_t n = 0;
    uint32_t *offsets = malloc((f->f_leaves.n + 1) * sizeof *offsets);
    if (offsets == NULL)
        return PyErr_NoMemory();
    for (size_t k = 0; leaves && k < f->f_leaves.n; k++)
        if (f->f_leaves.at[k].active)
            offsets[n++] = f->f_leaves.at[k].offset;
    struct jy_original *original = code == f->f_code ? jy_original_of(f) : NULL;
    struct jy_codegen_request request = {
        .unit = unit,
        .code = code,
        .original = original,
        .compiled_name = name,
        .rerun = jy_runtime->rerun,
        .start = s->s_offset,
        .depth = s->s_depth,
        .absent = s->s_absent,
        .leaves = offsets,
        .nleaves = n,
    };
    PyObject *made = jy_codegen(&request);
    if (made == NULL && jy_reserve_spend(NULL))
        made = jy_codegen(&request);
    jy_original_release(original);
    free(offsets);
    return made;
}

static int
make(struct jy_new_code *out, struct jy_function *f, const struct jy_start *s, const struct jy_unit *unit,
     PyObject *compiled_name, bool leaves)
{
    PyObject *code = generate(f, f->f_code, s, unit, compiled_name, leaves);
    if (code == NULL)
        return -1;
    jy_new_code_clear(out);
    out->code = code;
    out->version = f->f_leaves.version;
    return 0;
}

int
jy_new_code_make(struct jy_new_code *out, struct jy_function *f, const struct jy_start *s, const struct jy_unit *unit,
                 PyObject *compiled_name)
{
    return make(out, f, s, unit, compiled_name, true);
}

static void
set_parts(PyFunctionObject *function, const PyFunctionObject *origin)
{
    Py_XSETREF(function->func_globals, Py_XNewRef(origin->func_globals));
    Py_XSETREF(function->func_builtins, Py_XNewRef(origin->func_builtins));
    Py_XSETREF(function->func_closure, Py_XNewRef(origin->func_closure));
    Py_XSETREF(function->func_defaults, Py_XNewRef(origin->func_defaults));
    Py_XSETREF(function->func_kwdefaults, Py_XNewRef(origin->func_kwdefaults));
    Py_XSETREF(function->func_module,
               Py_XNewRef(origin->func_module)); /* sys._getframemodulename() asks the frame's function */
}

static void
clear_parts(PyFunctionObject *function)
{
    Py_CLEAR(function->func_globals);
    Py_CLEAR(function->func_builtins);
    Py_CLEAR(function->func_closure);
    Py_CLEAR(function->func_module);
    Py_CLEAR(function->func_defaults);
    Py_CLEAR(function->func_kwdefaults);
    Py_CLEAR(function->func_module);
}

/* An untracked function without globals, as a copy that outlives the original must not keep the original's world alive. */
static PyObject *
new_function(const struct jy_new_code *c, const PyFunctionObject *origin)
{
    unsigned muted = jy_compat_mute_watchers();
    PyObject *function = PyFunction_NewWithQualName(c->code, origin->func_globals, origin->func_qualname);
    jy_compat_unmute_watchers(muted);
    if (function == NULL)
        return NULL;
    Py_CLEAR(((PyFunctionObject *)function)->func_module);
    Py_CLEAR(((PyFunctionObject *)function)->func_doc);
    PyObject_GC_UnTrack(function);
    return function;
}

PyObject *
jy_new_code_call(struct jy_new_code *c, struct jy_function *f, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    const PyFunctionObject *origin = (const PyFunctionObject *)f->f_object;
    PyObject *function = c->function != NULL ? c->function : new_function(c, origin);
    if (function == NULL && jy_reserve_spend(NULL))
        function = new_function(c, origin);
    if (function == NULL)
        return NULL;
    c->function = NULL; /* a call inside this one makes its own */
    set_parts((PyFunctionObject *)function, origin);
    jy_enter_call(f);
    PyObject *result = PyObject_Vectorcall(function, args, nargsf, kwnames);
    f->f_depth--;
    if (Py_REFCNT(function) == 1 && c->function == NULL &&
        ((PyFunctionObject *)function)->func_code ==
            c->code) { /* no frame of it is left: a traceback would need its globals */
        clear_parts((PyFunctionObject *)function);
        c->function = function;
    } else {
        PyObject_GC_Track(function);
        Py_DECREF(function);
    }
    return result;
}

/* -- leaves ------------------------------------------------------------------------------------------------------------------------ */

static struct jy_leave *
find_leave(struct jy_function *f, uint32_t offset)
{
    for (size_t k = 0; k < f->f_leaves.n; k++)
        if (f->f_leaves.at[k].offset == offset)
            return &f->f_leaves.at[k];
    return NULL;
}

static void
add_leave(void *context, uint32_t offset)
{
    struct jy_function *f = context;
    struct jy_leaves *l = &f->f_leaves;
    struct jy_leave *known = find_leave(f, offset);
    if (known != NULL)
        known->is_loop = false;
    if (known != NULL || l->n >= (size_t)jy_runtime->config.max_leaves)
        return;
    struct jy_leave *at = realloc(l->at, (l->n + 1) * sizeof *at);
    if (at == NULL)
        return;
    l->at = at;
    l->at[l->n++] = (struct jy_leave){ .offset = offset, .active = true };
    l->active++;
    l->version++;
}

/* super() looks for the first argument of the frame that calls it, and new code that starts in the middle has one. */
static bool
has_super_without_argument(PyCodeObject *code)
{
    bool found = false;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(code->co_names) && code->co_argcount == 0 && !found; k++)
        found = PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(code->co_names, k), "super") == 0;
    return found;
}

void
jy_leaves_add(struct jy_function *f, uint32_t stop)
{
    if (has_super_without_argument((PyCodeObject *)f->f_code))
        return;
    struct jy_original *original = jy_original_of(f);
    if (original != NULL)
        jy_code_places(original, stop, !f->f_leaves.has_all, add_leave, f);
    jy_original_release(original);
    f->f_leaves.has_all = true;
}

static void
add_loop(void *context, uint32_t offset)
{
    struct jy_function *f = context;
    size_t n = f->f_leaves.n;
    if (find_leave(f, offset) == NULL)
        add_leave(f, offset);
    if (f->f_leaves.n > n)
        f->f_leaves.at[n].is_loop = true;
}

static void
each_loop(struct jy_function *f, void (*report)(void *context, uint32_t offset), void *context)
{
    struct jy_original *original = jy_original_of(f);
    if (original != NULL)
        jy_code_loop_heads(original, report, context);
    jy_original_release(original);
}

void
jy_leaves_add_loop(struct jy_function *f, uint32_t offset)
{
    add_leave(f, offset);
}

void
jy_leaves_add_loops(struct jy_function *f)
{
    each_loop(f, add_loop, f);
}

static void
note_loop(void *context, uint32_t offset)
{
    (void)offset;
    *(int8_t *)context = 1;
}

bool
jy_function_has_loop(struct jy_function *f)
{
    if (f->f_loops == 0) {
        f->f_loops = -1;
        each_loop(f, note_loop, &f->f_loops);
    }
    return f->f_loops > 0;
}

struct search {
    uint32_t offset;
    bool found;
};

static void
compare_loop(void *context, uint32_t offset)
{
    struct search *search = context;
    search->found |= offset == search->offset;
}

bool
jy_function_loops_at(struct jy_function *f, uint32_t offset)
{
    struct search search = { .offset = offset };
    each_loop(f, compare_loop, &search);
    return search.found;
}

void
jy_leaves_drop_all(struct jy_function *f)
{
    for (size_t k = 0; k < f->f_leaves.n; k++)
        f->f_leaves.at[k].active = false;
    f->f_leaves.active = 0;
    f->f_leaves.version++;
}

void
jy_leaves_drop(struct jy_function *f, uint32_t offset)
{
    struct jy_leave *leave = find_leave(f, offset);
    if (leave == NULL || !leave->active)
        return;
    leave->active = false;
    f->f_leaves.active--;
    f->f_leaves.version++;
}

/* -- starts ------------------------------------------------------------------------------------------------------------------------ */

static bool
is_layout(const struct jy_start *s, const struct jy_point *point, PyObject *const *items)
{
    if (s->s_offset != point->offset || s->s_depth != point->depth)
        return false;
    for (size_t k = 0; k < (size_t)s->s_depth + s->s_nlocals; k++)
        if (s->s_absent[k] != (items[k] == NULL))
            return false;
    return true;
}

static struct jy_start *
find_start(struct jy_function *f, const struct jy_point *point, PyObject *const *items)
{
    struct jy_start **link = &f->f_starts, *s;
    size_t n = (size_t)point->depth + point->nlocals;
    for (s = *link; s != NULL && !is_layout(s, point, items); s = *link)
        link = &s->s_next;
    if (s == NULL) {
        s = calloc(1, sizeof *s);
        bool *absent = s == NULL ? NULL : calloc(n + 1, sizeof *absent);
        if (absent == NULL) {
            free(s);
            PyErr_NoMemory();
            return NULL;
        }
        s->s_offset = point->offset;
        s->s_depth = point->depth;
        s->s_nlocals = point->nlocals;
        s->s_absent = absent;
        for (size_t k = 0; k < n; k++)
            absent[k] = items[k] == NULL;
    } else {
        *link = s->s_next;
    }
    s->s_next = f->f_starts;
    f->f_starts = s;
    return s;
}

/* Those that no driver works with any more. */
void
jy_starts_free(struct jy_function *f)
{
    while (f->f_driving == 0 && f->f_dead_starts != NULL) {
        struct jy_start *s = f->f_dead_starts;
        f->f_dead_starts = s->s_next;
        jy_new_code_clear(&s->s_plain);
        jy_new_code_clear(&s->s_alone);
        free(s->s_absent);
        free(s);
    }
}

void
jy_starts_clear(struct jy_function *f)
{
    while (f->f_starts != NULL) {
        struct jy_start *s = f->f_starts;
        f->f_starts = s->s_next;
        jy_start_drop_entries(s);
        s->s_next = f->f_dead_starts;
        f->f_dead_starts = s;
    }
    jy_starts_free(f);
    jy_new_code_clear(&f->f_call.s_plain);
    jy_new_code_clear(&f->f_call.s_alone);
    forget_original(f);
    free(f->f_leaves.at);
    f->f_leaves = (struct jy_leaves){ .version = f->f_leaves.version + 1 };
}

int
jy_start_plain(bool *has, struct jy_function *f, struct jy_start *s)
{
    *has = s != &f->f_call || f->f_leaves.active != 0;
    if (!*has || (s->s_plain.code != NULL && s->s_plain.version == f->f_leaves.version))
        return 0;
    return jy_new_code_make(&s->s_plain, f, s, NULL, NULL);
}

/* -- the driver -------------------------------------------------------------------------------------------------------------------- */

bool
jy_is_continuation(PyObject *result)
{
    return PyTuple_CheckExact(result) && PyTuple_GET_SIZE(result) != 0 &&
           Py_IS_TYPE(PyTuple_GET_ITEM(result, PyTuple_GET_SIZE(result) - 1), &jy_point_type);
}

static void
unwrap(PyObject *tuple, const struct jy_point *point)
{
    for (Py_ssize_t k = 0; k < Py_SIZE(point); k++) {
        if (!point->is_wrapped[k])
            continue;
        PyObject **item = &PyTuple_GET_ITEM(tuple, k), *cell = *item;
        *item = Py_XNewRef(PyCell_GET(cell));
        Py_DECREF(cell);
    }
}

/* refs: steals tuple */
static PyObject *
run_code(struct jy_new_code *c, struct jy_function *f, const struct jy_start *s, PyObject *tuple)
{
    PyObject *handover = handover_new(tuple, s);
    if (handover == NULL) {
        Py_DECREF(tuple);
        return NULL;
    }
    PyObject *result = jy_new_code_call(c, f, &handover, 1, NULL);
    bool has_begun = ((struct handover *)handover)->next != 0;
    if (result == NULL && !has_begun && jy_reserve_spend(NULL))
        result = jy_new_code_call(c, f, &handover, 1, NULL);
    Py_DECREF(handover);
    return result;
}

/* The function's code was replaced, or a tracer came, while it ran: this run goes on in the code that it began with, and is not left any more.
 * refs: steals tuple */
static PyObject *
run_detached(struct jy_function *f, PyObject *code, const struct jy_start *s, PyObject *tuple)
{
    struct jy_new_code once = { .code = generate(f, code, s, NULL, NULL, false) };
    if (once.code == NULL) {
        Py_DECREF(tuple);
        return NULL;
    }
    PyObject *result = run_code(&once, f, s, tuple);
    jy_new_code_clear(&once);
    return result;
}

/* refs: steals tuple */
static PyObject *
resume_detached(struct jy_function *f, const struct jy_point *point, PyObject *tuple)
{
    size_t n = (size_t)point->depth + point->nlocals;
    struct jy_start here = { .s_offset = point->offset, .s_depth = point->depth, .s_nlocals = point->nlocals };
    PyObject *result = NULL;
    here.s_absent = malloc(n + 1);
    for (size_t k = 0; here.s_absent != NULL && k < n; k++)
        here.s_absent[k] = PyTuple_GET_ITEM(tuple, k) == NULL;
    if (here.s_absent != NULL) {
        result = run_detached(f, point->code, &here, tuple);
    } else {
        PyErr_NoMemory();
        Py_DECREF(tuple);
    }
    free(here.s_absent);
    return result;
}

/* What must not be lost, and cannot be raised between two instructions of the program, comes back at the next. */
static void
postpone_exception(void)
{
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
        PyErr_SetInterrupt();
    PyErr_Clear();
}

/* So often may nothing be found where loops run as flows, until the rest of the call is the interpreter's alone. */
#define IDLE_LIMIT 16u
/* Taste: a loop's head that is reached so often behind exits is worth a compilation. */
#define HOT_ARRIVALS 8u
/* Taste: a place where so many more resumptions find nothing than find something costs more than it gives. */
#define MISS_LIMIT 64u

/* An entry with new code whose guards hold for these items, or NULL; first in the list then, with a reference of the caller's. */
static struct jy_entry *
find_entry(struct jy_function *f, struct jy_start *s, PyObject *const *items)
{
    for (struct jy_entry *entry = s->s_entries, *next; entry != NULL; entry = next) {
        next = entry->e_next;
        if (!entry->e_off && entry->e_flow == NULL && jy_entry_holds(f, entry, items)) {
            jy_entry_move_to_front(s, entry);
            entry->e_refs++;
            return entry;
        }
    }
    return NULL;
}

/* One entry that is a flow. JY_FLOW_REFUSED: also where its guards do not hold. */
static __attribute__((noinline)) enum jy_flow_run
try_flow(PyObject **out, struct jy_function *f, struct jy_start *s, struct jy_entry *entry, PyObject *const *items)
{
    struct jy_guard_values values = { 0 };
    size_t room = jy_guards_room(entry->e_guards);
    uint32_t failed;
    enum jy_flow_run run = JY_FLOW_REFUSED;
    if (room > MAX_ROOM)
        return run;
    enum jy_guard_result held = jy_guards_check(&values, alloca(room), entry->e_guards, f->f_object, items, &failed);
    if (held == JY_GUARDS_HOLD)
        run = jy_entry_run_flow(out, f, s, entry, &values);
    else if (held == JY_GUARDS_ERROR)
        PyErr_Clear();
    jy_guards_clear(&values);
    return run;
}

/* The entries that are flows: true: one of them has run, *out is what came of it, NULL with an exception. *idle: as in run_plain; one that was thrown away would be so again at the next head. */
static bool
run_flows(PyObject **out, bool *refused, uint32_t *idle, struct jy_function *f, struct jy_start *s,
          PyObject *const *items)
{
    *refused = false;
    for (struct jy_entry *entry = s->s_entries; entry != NULL; entry = entry->e_next) {
        if (entry->e_flow == NULL || entry->e_off)
            continue;
        uint64_t refusals = f->f_stats.flow_refusals;
        enum jy_flow_run run = try_flow(out, f, s, entry, items);
        if (run == JY_FLOW_RETURNED || run == JY_FLOW_LEFT || run == JY_FLOW_FAILED) {
            *idle = 0;
            return true;
        }
        if (run == JY_FLOW_UNDONE) {
            *idle = IDLE_LIMIT;
            return false;
        }
        *refused |= run == JY_FLOW_REFUSED && f->f_stats.flow_refusals != refusals;
    }
    return false;
}

static bool
has_flow(const struct jy_start *s)
{
    const struct jy_entry *entry = s->s_entries;
    while (entry != NULL && entry->e_flow == NULL)
        entry = entry->e_next;
    return entry != NULL;
}

/* The original from here on; `idle`: resumptions in a row that found nothing.  refs: steals tuple */
static PyObject *
run_plain(struct jy_function *f, struct jy_start *s, const struct jy_point *point, PyObject *tuple, uint32_t idle)
{
    bool has, alone = idle >= IDLE_LIMIT;
    if (alone && (s->s_alone.code != NULL || make(&s->s_alone, f, s, NULL, NULL, false) == 0))
        return run_code(&s->s_alone, f, s, tuple);
    if ((!alone && jy_start_plain(&has, f, s) == 0) || s->s_plain.code != NULL) { /* an old one is better than none */
        PyErr_Clear();
        return run_code(&s->s_plain, f, s, tuple);
    }
    PyErr_Clear();
    return resume_detached(f, point, tuple);
}

/* May something be compiled here now? The heads of loops wait until it is worth it. */
static int
may_compile(struct jy_function *f, struct jy_start *s)
{
    if (s->s_off)
        return 0;
    const struct jy_leave *leave = s->s_entries == NULL ? find_leave(f, s->s_offset) : NULL;
    if (leave != NULL && leave->is_loop && ++s->s_arrivals < HOT_ARRIVALS)
        return 0;
    return jy_may_compile(f, s->s_nentries);
}

/* Nothing was found, and nothing may be made: where that is the rule, for all that the frame may hold there, it is not left any more. */
static void
note_miss(struct jy_function *f, struct jy_start *s)
{
    uint64_t missed = 0, found = 0;
    if (s->s_arrivals != 0 && s->s_arrivals < HOT_ARRIVALS)
        return;
    if (++s->s_missed % MISS_LIMIT != 0)
        return;
    for (const struct jy_start *other = f->f_starts; other != NULL; other = other->s_next) {
        if (other->s_offset != s->s_offset)
            continue;
        if (has_flow(other))
            return;
        missed += other->s_missed;
        found += other->s_found;
    }
    if (missed >= found + MISS_LIMIT)
        jy_leaves_drop(f, s->s_offset);
}

/* refs: steals tuple */
static PyObject *
resume(struct jy_function *f, PyObject *tuple, uint32_t *idle)
{
    Py_ssize_t n = PyTuple_GET_SIZE(tuple) - 1;
    const struct jy_point *point = (const struct jy_point *)PyTuple_GET_ITEM(tuple, n);
    PyObject *const *items = &PyTuple_GET_ITEM(tuple, 0), *result = NULL;
    struct jy_start *s = find_start(f, point, items);
    if (s == NULL && jy_reserve_spend(NULL))
        s = find_start(f, point, items);
    if (s == NULL) {
        Py_DECREF(tuple);
        return NULL;
    }
    bool eager = (jy_runtime->api.stance | jy_runtime->api.disabled) != 0 && jy_api_forces_eager();
    if (eager || point->is_plain)
        return run_plain(f, s, point, tuple, *idle);
    bool refused;
    if (run_flows(&result, &refused, idle, f, s, items)) {
        Py_DECREF(tuple);
        return result;
    }
    if (*idle >= IDLE_LIMIT)
        return run_plain(f, s, point, tuple, *idle);
    struct jy_entry *entry = find_entry(f, s, items);
    int allowed = entry == NULL && !refused ? may_compile(f, s) : 0;
    if (allowed < 0) { /* the stance says so */
        Py_DECREF(tuple);
        return NULL;
    }
    if (allowed > 0) {
        f->f_stats.guard_misses += s->s_nentries != 0;
        bool compiled = jy_compile(f, s, items, (size_t)n) == JY_OK;
        postpone_exception();
        if (compiled && run_flows(&result, &refused, idle, f, s, items)) {
            Py_DECREF(tuple);
            return result;
        }
        if (compiled)
            entry = find_entry(f, s, items);
    }
    if (entry != NULL && jy_entry_refresh(f, s, entry) == 0) {
        f->f_stats.resumed_calls++;
        s->s_found++;
        *idle = 0;
        result = run_code(&entry->e_new, f, s, tuple);
    } else {
        PyErr_Clear();
        if (entry == NULL && allowed == 0)
            note_miss(f, s);
        *idle += has_flow(s);
        result = run_plain(f, s, point, tuple, *idle);
    }
    if (entry != NULL)
        jy_entry_release(entry);
    return result;
}

PyObject *
jy_drive(struct jy_function *f, PyObject *result)
{
    if (result == NULL || !jy_is_continuation(result))
        return result;
    PyObject *object = Py_NewRef(f->f_object); /* and with it the state */
    uint32_t idle = 0;
    f->f_driving++;
    do {
        f->f_arrivals++;
        Py_ssize_t n = PyTuple_GET_SIZE(result) - 1;
        struct jy_point *point = (struct jy_point *)Py_NewRef(PyTuple_GET_ITEM(result, n));
        PyObject_GC_UnTrack(result); /* nobody else has it, and it has holes */
        unwrap(result, point);
        bool as_before = point->code == f->f_code && point->code == ((PyFunctionObject *)object)->func_code;
        if (as_before && !jy_compat_is_watched(&jy_runtime->watch, point->code))
            result = resume(f, result, &idle);
        else
            result = resume_detached(f, point, result);
        Py_DECREF(point);
    } while (result != NULL && jy_is_continuation(result));
    f->f_driving--;
    jy_starts_free(f);
    if (f->f_arrivals >= f->f_weigh_arrivals && f->f_driving == 0)
        jy_never_slower_note_arrivals(f);
    Py_DECREF(object);
    return result;
}
