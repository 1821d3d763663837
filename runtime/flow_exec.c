/* From a unit's flow to machine code, and one run of it.
 *
 *   new:  flow --simplify--> --hoist--> --backend--> object --loader--> function, or the slow interpreter        once
 *   run:  errstate, inputs -> slots, overlap  ->  machine code  ->  exit number, values  ->  objects             per call
 *
 * The GIL is held until the inputs have been read and no Python code runs in between, so what the guards found still holds then; a reference to each is kept while the machine code runs. It may be given up for
 * machine code that touches nothing of Python's (flow_unlock.h); whatever a run writes to the flow's own structure is written before or behind that. */
#include "runtime/flow_exec.h"
#include "frontend/cpython/compat.h"
#include "frontend/cpython/iter.h"
#include "frontend/frontend.h"
#include "graph/flow_helper.h"
#include "graph/pass.h"
#include "runtime/backend.h"
#include "runtime/exec_internal.h"
#include "runtime/flow_back.h"
#include "runtime/flow_box.h"
#include "runtime/flow_chain.h"
#include "runtime/flow_late.h"
#include "runtime/flow_native.h"
#include "runtime/flow_random.h"
#include "runtime/flow_spread.h"
#include "runtime/flow_unlock.h"
#include "runtime/flow_vector.h"
#include "runtime/fpstatus.h"
#include "runtime/function.h"
#include "runtime/gil.h"
#include "runtime/numpy_api.h"
#include "runtime/pool.h"
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_SLOTS 4096u
#define EVENTS 0xffu /* of the eval breaker: jy_compat_eval_breaker */
/* Taste: a run of fewer ticks that ends at a check or a stop has not paid for what follows, and so many of those more than of others end a flow. Leaving and coming back take
 * some ten times as long, and CPython some thirty times as long for the same. */
#define SHORT_RUN 600u
#define FUTILE_RUNS 16u
/* Taste: lists of so many items are taken in by the first run. A run that takes four times as long as that admits lists that are MORE_ITEMS times as long; after so many runs that take less than twice as long,
 * in a row, only shorter ones are, but for FEW_ITEMS. */
#define FIRST_ITEMS 65536
#define MORE_ITEMS 64
#define FEW_ITEMS 64
#define VAIN_RUNS 4u
#define FRAMES_SPARED 4    /* so many from RecursionError the interpreter runs alone */
#define MOST_FRAMES 150    /* taste: frames that are rebuilt at once; each takes C stack, see DEPTH_LIMIT */
#define MOST_STACK 0x80000 /* bytes of C stack for machine code */

struct exit_state {
    struct jy_boxing *boxing;
    struct jy_point **points; /* by frame, the own one first; made when they are first needed */
};

/* The flow, or one of its functions. */
struct part {
    const struct jy_flow *flow;
    struct exit_state *exits;
    uint32_t *slot; /* of machine code, per value */
    size_t nslots;
    uint32_t first_exit; /* number of its exit 0 among those of all parts */
};

struct pair {
    uint32_t a, b; /* inputs of the unit */
};

struct jy_flow_exec {
    struct jy_unit *unit;
    struct jy_flow *flow;
    PyObject *code_object; /* the function's; owned */
    struct jy_code_block *code;
    jy_flow_fn fn; /* NULL: the slow interpreter */
    void **helpers;
    struct part *parts; /* the flow, then its functions */
    size_t nparts, nexits;
    uint64_t *counts; /* per exit of all parts */
    union jy_scalar *
        *last; /* the same: the values when it was taken last; NULL: never, or it shows no failure. For reports */
    size_t nin, nout;
    PyObject **callees; /* jy_flow_callee_new; owned */
    size_t ncallees;
    bool is_pure;                 /* a second run does no harm */
    bool is_undone;               /* a run may be thrown away */
    struct jy_spread_site *sites; /* per function: of those that are pieces */
    struct pair *pairs;           /* arrays that must not overlap */
    size_t npairs;
    bool compared;                     /* JITNEY_COMPARE, and a second run does no harm */
    uint32_t score;                    /* short runs more than long ones */
    bool has_views;                    /* some exit shows views of arrays that came in */
    bool has_natives, changes_natives; /* inputs that are native lists; those may be changed */
    int64_t most_items;                /* of them: taken in for a run */
    uint32_t nvain;                    /* runs in a row for which that was not worth it, or not possible */
    uint64_t runs, refused;
    struct jy_flow_unlock unlock;
    struct jy_exec_options options;
    struct jy_exec_texts texts;
    struct jy_exec_times times;
    bool has_texts;
    uint8_t *vectors; /* with the texts: of struct jy_object */
};

static double
now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static inline uint64_t
ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec) * 5 / 2;
#endif
}

/* -- stages ------------------------------------------------------------------------------------------------------------------------ */

static void
log_text(const struct jy_flow_exec *x, const char *channel, const char *text)
{
    if (x->options.log != NULL && text != NULL)
        x->options.log(x->options.context, channel, text);
}

static void
log_flow(const struct jy_flow_exec *x, const char *title)
{
    if (x->options.log == NULL || !jy_runtime->logs.on[JY_LOG_loop])
        return;
    struct jy_text text = { 0 };
    jy_text_add(&text, "%s\n", title);
    jy_flow_print(&text, x->flow);
    log_text(x, "loop", text.at);
    jy_text_free(&text);
}

static const char *
verify(const struct jy_flow_exec *x)
{
    return x->options.verify ? jy_flow_verify(x->flow) : NULL;
}

static jy_status
run_passes(struct jy_flow_exec *x, const char **why)
{
    double start = now_ms();
    if ((*why = verify(x)) != NULL)
        return JY_BREAK;
    log_flow(x, "flow:");
    jy_flow_simplify(x->flow);
    jy_flow_spread(x->flow, x->options.fastmath);
    if ((*why = verify(x)) != NULL)
        return JY_BREAK;
    jy_flow_hoist(x->flow);
    jy_flow_report(x->flow, x->options.fastmath);
    if (x->options.exit_every != 0)
        jy_flow_force(x->flow);
    if ((*why = verify(x)) != NULL)
        return JY_BREAK;
    log_flow(x, "flow after passes:");
    x->times.passes_ms = now_ms() - start;
    return JY_OK;
}

static jy_status
place_code(struct jy_flow_exec *x, const struct jy_object *object, const char **why)
{
    double start = now_ms();
    union {
        void *object;
        jy_flow_fn function;
    } u;
    TRY(jy_loader_place(&x->code, object->bytes, object->size, why));
    u.object = jy_loader_symbol(x->code, "jy_kernel_0");
    x->fn = u.function;
    x->times.load_ms = now_ms() - start;
    if (x->fn != NULL)
        return JY_OK;
    *why = "the flow is missing from the object code";
    return JY_BREAK;
}

static jy_status
compile_flow(struct jy_flow_exec *x, const char **why)
{
    const struct jy_backend *backend = jy_backend_get(x->options.backend_path, why);
    if (backend == NULL)
        return JY_BREAK;
    struct jy_backend_options options = { .want_ir = x->options.want_ir,
                                          .want_ir_opt = x->options.want_ir_opt,
                                          .want_asm = x->options.want_asm,
                                          .verify = x->options.verify,
                                          .fastmath = x->options.fastmath,
                                          .name = x->options.name };
    struct jy_object object = { 0 };
    jy_status status = backend->compile_flow(&object, x->flow, &options);
    if (status == JY_OK) {
        x->times.emit_ms = object.emit_ms;
        x->times.codegen_ms = object.codegen_ms;
        log_text(x, "ir", object.ir);
        log_text(x, "ir_opt", object.ir_opt);
        log_text(x, "asm", object.asm_text);
        status = place_code(x, &object, why);
    } else {
        *why = object.error == NULL ? "the backend failed" : jy_arena_strdup(x->unit->u_arena, object.error);
    }
    backend->release(&object);
    return status;
}

static const char *
find_helpers(struct jy_flow_exec *x)
{
    const struct jy_flow *w = x->flow;
    size_t n = 0;
    x->helpers = JY_NEW_ARRAY(x->unit->u_arena, void *, jy_flow_count_helpers(w) + 1);
    for (size_t p = 0; (w = jy_flow_part(x->flow, p)) != NULL; p++)
        for (size_t k = 0; k < w->w_helpers.n; k++) {
            x->helpers[n] = jy_flow_helper_address(w->w_helpers.at[k].name);
            if (x->helpers[n++] == NULL)
                return jy_arena_printf(x->unit->u_arena, "no helper is named %s", w->w_helpers.at[k].name);
        }
    return NULL;
}

/* Two numbers whose accesses are said never to meet, at least one of them stores. */
static void
add_pairs(struct jy_flow_exec *x, const struct jy_flow *w)
{
    for (uint32_t a = 0; a < w->w_nalias; a++)
        for (uint32_t b = 0; b < a; b++)
            if (w->w_alias[a] != JY_NO_FV && w->w_alias[b] != JY_NO_FV &&
                (w->w_alias_written[a] || w->w_alias_written[b]))
                x->pairs[x->npairs++] = (struct pair){ w->w_alias[a], w->w_alias[b] };
}

static void
find_pairs(struct jy_flow_exec *x)
{
    const struct jy_flow *w;
    size_t most = 1;
    for (size_t p = 0; (w = jy_flow_part(x->flow, p)) != NULL; p++)
        most += (size_t)w->w_nalias * w->w_nalias;
    x->pairs = JY_NEW_ARRAY(x->unit->u_arena, struct pair, most);
    for (size_t p = 0; (w = jy_flow_part(x->flow, p)) != NULL; p++)
        add_pairs(x, w);
}

static bool
has_no_effect(const struct jy_flow *w)
{
    for (size_t k = 0; k < w->w_values.n; k++) {
        const struct jy_fvalue *v = &w->w_values.at[k];
        if (v->f_op == JY_FLOW_STORE || (v->f_op == JY_FLOW_CALL && !w->w_helpers.at[v->f_index].pure))
            return false;
    }
    return true;
}

static bool
may_run_twice(const struct jy_flow *root)
{
    const struct jy_flow *w;
    for (size_t p = 0; (w = jy_flow_part(root, p)) != NULL; p++)
        if (!has_no_effect(w))
            return false;
    return true;
}

static void
prepare_part(struct jy_flow_exec *x, struct part *part, const struct jy_flow *w)
{
    part->flow = w;
    part->exits = JY_NEW_ARRAY(x->unit->u_arena, struct exit_state, w->w_exits.n + 1);
    part->first_exit = (uint32_t)x->nexits;
    x->nexits += w->w_exits.n;
    for (size_t k = 0; k < w->w_exits.n; k++) {
        const struct jy_flow_exit *e = &w->w_exits.at[k];
        part->exits[k].boxing = jy_boxing_new(x->unit->u_arena, e);
        x->has_views |= jy_boxing_has_views(part->exits[k].boxing);
        part->exits[k].points = JY_NEW_ARRAY(x->unit->u_arena, struct jy_point *, e->x_ninner + 1);
    }
    part->slot = JY_NEW_ARRAY(x->unit->u_arena, uint32_t, w->w_values.n + 1);
    part->nslots = jy_flow_slots(w, part->slot);
}

static bool
changes_lists(const struct jy_flow *w)
{
    bool changes = false;
    for (size_t k = 0; k < w->w_values.n; k++)
        changes |= w->w_values.at[k].f_op == JY_FLOW_STORE;
    for (size_t k = 0; k < w->w_helpers.n; k++)
        changes |= strpbrk(jy_flow_helper_changes(w->w_helpers.at[k].name), "hm") != NULL;
    return changes;
}

static void
find_natives(struct jy_flow_exec *x)
{
    const struct jy_flow *w;
    x->most_items = FIRST_ITEMS;
    for (size_t p = 0; (w = jy_flow_part(x->flow, p)) != NULL; p++) {
        x->changes_natives |= changes_lists(w);
        for (size_t k = 0; k < w->w_inputs.n; k++)
            x->has_natives |= w->w_inputs.at[k].kind == JY_FLOW_IN_NATIVE;
    }
}

static void
prepare_exits(struct jy_flow_exec *x)
{
    const struct jy_flow *w = x->flow;
    x->nparts = w->w_functions.n + 1;
    x->parts = JY_NEW_ARRAY(x->unit->u_arena, struct part, x->nparts);
    for (size_t p = 0; p < x->nparts; p++)
        prepare_part(x, &x->parts[p], jy_flow_part(w, p));
    for (size_t k = 0; k < w->w_exits.n; k++)
        if (w->w_exits.at[k].x_values.n > x->nout)
            x->nout = w->w_exits.at[k].x_values.n;
    x->counts = JY_NEW_ARRAY(x->unit->u_arena, uint64_t, x->nexits + 1);
    x->last = JY_NEW_ARRAY(x->unit->u_arena, union jy_scalar *, x->nexits + 1);
    x->callees = JY_NEW_ARRAY(x->unit->u_arena, PyObject *, x->unit->u_inputs.n + 1);
    x->nin = jy_flow_count_inputs(w);
    x->is_pure = may_run_twice(w);
    x->is_undone = jy_flow_is_undone(w);
    x->sites = JY_NEW_ARRAY(x->unit->u_arena, struct jy_spread_site, x->nparts);
    for (size_t k = 0; k < w->w_functions.n; k++)
        jy_spread_prepare(&x->sites[k], w->w_functions.at[k]);
}

/* Runs under the arena's guard. */
static jy_status
build(struct jy_flow_exec *x, size_t nslots, const char **why)
{
    TRY(run_passes(x, why));
    if ((*why = find_helpers(x)) != NULL)
        return JY_BREAK;
    find_pairs(x);
    find_natives(x);
    prepare_exits(x);
    jy_flow_unlock_prepare(&x->unlock, x->unit, nslots);
    x->compared = x->options.compare && x->is_pure;
    if (x->nin + x->nout + x->parts[0].nslots <= MAX_SLOTS)
        return x->options.executor == JY_EXEC_LLVM ? compile_flow(x, why) : JY_OK;
    *why = "too many values";
    return JY_BREAK;
}

jy_status
jy_flow_exec_new(struct jy_flow_exec **out, const char **why, struct jy_unit *unit, PyObject *code, size_t nslots,
                 const struct jy_exec_options *options)
{
    struct jy_flow_exec *x = calloc(1, sizeof *x);
    *why = NULL;
    if (x == NULL)
        return JY_NOMEM;
    x->unit = unit;
    x->flow = unit->u_flow;
    x->options = *options;
    jmp_buf *guard = jy_arena_guard(unit->u_arena), outer;
    memcpy(&outer, guard, sizeof outer);
    jy_status status = JY_NOMEM;
    if (setjmp(*guard) == 0) {
        x->options.name = options->name == NULL ? NULL : jy_arena_strdup(unit->u_arena, options->name);
        x->options.backend_path =
            options->backend_path == NULL ? NULL : jy_arena_strdup(unit->u_arena, options->backend_path);
        status = build(x, nslots, why);
    }
    memcpy(guard, &outer, sizeof outer);
    x->options.log = NULL; /* its context lives as long as the compilation */
    x->options.context = NULL;
    if (status != JY_OK) {
        jy_loader_free(x->code);
        free(x);
        return status;
    }
    x->code_object = Py_NewRef(code);
    *out = x;
    return JY_OK;
}

void
jy_flow_exec_free(struct jy_flow_exec *x)
{
    if (x == NULL)
        return;
    for (size_t p = 0; p < x->nparts; p++)
        for (size_t k = 0; k < x->parts[p].flow->w_exits.n; k++)
            for (size_t i = 0; i <= x->parts[p].flow->w_exits.at[k].x_ninner; i++)
                Py_XDECREF((PyObject *)x->parts[p].exits[k].points[i]);
    for (size_t k = 0; k < x->ncallees; k++)
        Py_DECREF(x->callees[k]);
    for (size_t k = 0; k < x->nexits; k++)
        free(x->last[k]);
    Py_DECREF(x->code_object);
    jy_loader_free(x->code);
    free(x->texts.plan);
    free(x->texts.ir);
    free(x->texts.ir_opt);
    free(x->texts.asm_text);
    free(x->vectors);
    jy_unit_free(x->unit);
    free(x);
}

/* -- what a run has made ----------------------------------------------------------------------------------------------------------- */

/* Taste: past these a run is left, so that what is not alive any more goes. */
#define MOST_OBJECTS 65536u
#define MOST_BYTES ((size_t)64 << 20)
#define MOST_LISTS 16384u /* native ones: the collector counts them only when they become objects */

void
jy_flow_owner_clear(struct jy_flow_owner *o)
{
    for (size_t k = 0; k < o->n; k++)
        Py_DECREF(o->at[k]);
    free(o->at);
    o->at = NULL;
    jy_flow_native_clear(o);
    jy_reserve_release(&o->reserve);
    o->n = o->cap = o->bytes = 0;
}

bool
jy_flow_owner_admits(struct jy_flow_owner *o, size_t bytes)
{
    if (o->bytes != 0 && (bytes > MOST_BYTES - o->bytes || o->nlists >= MOST_LISTS))
        return false;
    o->bytes += bytes;
    o->nlists++;
    return true;
}

PyObject *
jy_flow_owner_keep(struct jy_flow_owner *o, PyObject *object, size_t bytes)
{
    bool is_full = (o->n != 0 || o->bytes != 0) && (o->n >= MOST_OBJECTS || o->bytes + bytes > MOST_BYTES);
    if (object == NULL)
        PyErr_Clear();
    if (object != NULL && !is_full && o->n == o->cap) {
        size_t cap = o->cap == 0 ? 8 : 2 * o->cap;
        PyObject **at = realloc(o->at, cap * sizeof *at);
        if (at != NULL) {
            o->at = at;
            o->cap = cap;
        }
    }
    if (object == NULL || is_full || o->n == o->cap) {
        Py_XDECREF(object);
        return NULL;
    }
    o->at[o->n++] = object;
    o->bytes += bytes;
    return object;
}

/* -- inputs ------------------------------------------------------------------------------------------------------------------------- */

static bool
read_number(union jy_scalar *out, const struct jy_flow_input *in, PyObject *object)
{
    switch ((enum jy_ftype)in->type) {
    case JY_F_I1:
        return jy_unwrap_scalar(out, JY_BOOL, object);
    case JY_F_I32:
        return jy_unwrap_scalar(out, JY_I32, object);
    case JY_F_I64:
        return jy_unwrap_scalar(out, (jy_dtype)in->dtype, object);
    case JY_F_F32:
        return jy_unwrap_scalar(out, JY_F32, object);
    case JY_F_F64:
        if (PyComplex_CheckExact(object)) {
            out->d = in->axis == 0 ? PyComplex_RealAsDouble(object) : PyComplex_ImagAsDouble(object);
            return true;
        }
        return jy_unwrap_scalar(out, JY_F64, object);
    case JY_F_NONE:
    case JY_F_I8:
    case JY_F_I16:
    case JY_F_PTR:
    case JY_F_TYPE_COUNT:
        break;
    }
    return false;
}

/* An iterator comes back as a new object, so nobody else may hold it. */
static bool
read_range(union jy_scalar *out, const struct jy_flow_input *in, PyObject *object)
{
    struct jy_range range;
    if (!jy_range_get(&range, object) || (Py_REFCNT(object) > 1 && !Py_IS_TYPE(object, &PyRange_Type)))
        return false;
    out->i = in->axis == 0 ? range.next : in->axis == 1 ? range.stop : range.step;
    return true;
}

static bool
is_nan(const struct jy_flow_input *in, const union jy_scalar *value)
{
    return in->type == JY_F_F32 ? value->f != value->f : value->d != value->d;
}

/* It may go over another array than the one that the variable holds by now. */
static bool
goes_over_its_own(const struct jy_unit *unit, uint32_t number, PyObject *const *inputs)
{
    uint32_t over = unit->u_inputs.at[number].goes_over;
    return over == 0 || jy_seq_iter_of(inputs[number]) == inputs[over - 1];
}

static bool
read_input(union jy_scalar *out, const struct jy_flow_input *in, const struct jy_unit *unit, PyObject *const *inputs)
{
    bool is_const = in->kind == JY_FLOW_IN_CONST_OBJECT || in->kind == JY_FLOW_IN_CONST_BITGEN;
    PyObject *object = is_const ? jy_unit_object(unit, in->number) : inputs[in->number];
    out->bits = 0;
    switch ((enum jy_flow_input_kind)in->kind) {
    case JY_FLOW_IN_NUMBER:
        return read_number(out, in, object) && !(in->no_nan && is_nan(in, out));
    case JY_FLOW_IN_OBJECT:
    case JY_FLOW_IN_CONST_OBJECT:
        out->bits = (uintptr_t)object;
        return true;
    case JY_FLOW_IN_BITGEN:
    case JY_FLOW_IN_CONST_BITGEN:
        out->bits = (uintptr_t)jy_bitgen_of(object);
        return out->bits != 0;
    case JY_FLOW_IN_DATA:
        out->bits = (uintptr_t)PyArray_DATA((PyArrayObject *)object);
        return true;
    case JY_FLOW_IN_EXTENT:
        out->i = PyArray_DIM((PyArrayObject *)object, in->axis);
        return out->i >= in->some && out->i <= JY_FLOW_MOST_EXTENT;
    case JY_FLOW_IN_STRIDE:
        out->i = PyArray_STRIDE((PyArrayObject *)object, in->axis);
        return true;
    case JY_FLOW_IN_RANGE:
        return read_range(out, in, object);
    case JY_FLOW_IN_NATIVE: /* when all else is as it should be */
        return PyList_CheckExact(object);
    case JY_FLOW_IN_ARG:
        break;
    case JY_FLOW_IN_INDEX:
        return Py_REFCNT(object) == 1 && jy_seq_iter_index(&out->i, object) && out->i >= 0 &&
               goes_over_its_own(unit, in->number, inputs);
    }
    return false;
}

static bool
read_inputs(union jy_scalar *in, const struct jy_flow_exec *x, PyObject *const *inputs)
{
    for (size_t p = 0; p < x->nparts; p++) {
        const struct jy_flow *w = x->parts[p].flow;
        for (size_t k = 0; k < w->w_inputs.n; k++)
            if (w->w_inputs.at[k].kind != JY_FLOW_IN_ARG && !read_input(in, &w->w_inputs.at[k], x->unit, inputs))
                return false;
            else
                in++;
    }
    return true;
}

/* Every layout fits an array of nothing, and every stride an axis of one element, of which flows take the one that would be in C order. Strides show in views. */
static bool
has_strides(const PyArrayObject *array)
{
    npy_intp dense = PyArray_ITEMSIZE(array);
    bool is_dense = PyArray_IS_C_CONTIGUOUS(array), has = true;
    for (int d = PyArray_NDIM(array) - 1; d >= 0; d--) {
        has &= PyArray_DIM(array, d) != 0 && (!is_dense || PyArray_STRIDE(array, d) == dense);
        dense *= PyArray_DIM(array, d);
    }
    return has;
}

static bool
views_have_strides(const struct jy_flow_exec *x, PyObject *const *inputs)
{
    for (size_t k = 0; x->has_views && k < x->unit->u_inputs.n; k++)
        if (PyArray_Check(inputs[k]) && !has_strides((PyArrayObject *)inputs[k]))
            return false;
    return true;
}

/* The lists among the inputs. */
static bool
read_natives(union jy_scalar *in, struct jy_flow_exec *x, PyObject *const *inputs, struct jy_flow_owner *owner)
{
    bool good = true;
    owner->most_items = x->most_items;
    for (size_t p = 0; p < x->nparts && good; p++) {
        const struct jy_flow *w = x->parts[p].flow;
        for (size_t k = 0; k < w->w_inputs.n && good; k++) {
            const struct jy_flow_input *input = &w->w_inputs.at[k];
            if (input->kind == JY_FLOW_IN_NATIVE) {
                uint8_t type = (uint8_t)jy_flow_dtype_type(input->dtype);
                struct jy_flow_list *list = jy_flow_native_of(owner, inputs[input->number], type, input->axis);
                in->bits = (uintptr_t)list;
                good = list != NULL;
            }
            in += input->kind != JY_FLOW_IN_ARG;
        }
    }
    if (!good && ++x->nvain >= VAIN_RUNS * VAIN_RUNS)
        x->most_items = 0;
    return good;
}

/* Was it worth it to take them in? */
static void
judge_natives(struct jy_flow_exec *x, int64_t nitems, uint64_t taken, uint64_t time)
{
    uint64_t back =
        x->changes_natives ? 2 * taken : 0; /* about: items are compared before they are changed, and then */
    time -= back < time ? back : time;
    if (time / 4 >= taken) {
        x->nvain = 0;
        if (x->most_items / MORE_ITEMS < nitems)
            x->most_items = nitems * MORE_ITEMS;
    } else if (time / 2 < taken && nitems > FEW_ITEMS && ++x->nvain >= VAIN_RUNS) {
        x->most_items = nitems / 2;
        x->nvain = 0;
    }
}

/* As jy_flow_call.spread. */
static int64_t
spread(struct jy_flow_call *call, uint32_t function, jy_flow_piece piece, const union jy_scalar *args, int64_t rounds,
       union jy_scalar *last)
{
    const struct jy_flow_owner *owner = call->owner;
    const struct jy_config *config = &jy_runtime->config;
    int64_t threads = owner->exec->options.threads != 0 ? owner->exec->options.threads : config->threads;
    if (owner->exec->options.exit_every != 0) /* the stress counts */
        threads = 1;
    else if (threads == 1)
        return 0;
    return jy_spread_run(&owner->exec->sites[function], call, piece, args, rounds, last, owner->inputs,
                         threads > JY_POOL_MOST ? JY_POOL_MOST : (unsigned)threads, (double)config->prange_us * 1e3);
}

struct reach {
    uintptr_t low, high;
};

static struct reach
reach_of(PyArrayObject *a)
{
    struct reach r = { (uintptr_t)PyArray_DATA(a), (uintptr_t)PyArray_DATA(a) };
    for (int d = 0; d < PyArray_NDIM(a); d++) {
        npy_intp span = (PyArray_DIM(a, d) - 1) * PyArray_STRIDE(a, d);
        if (PyArray_DIM(a, d) == 0)
            return (struct reach){ r.low, r.low };
        if (span > 0)
            r.high += (uintptr_t)span;
        else
            r.low += (uintptr_t)span;
    }
    r.high += (uintptr_t)PyArray_ITEMSIZE(a);
    return r;
}

/* Objects other than arrays have memory of their own each. */
static bool
are_apart(PyObject *a, PyObject *b)
{
    if (a == b)
        return false;
    if (!PyArray_Check(a) || !PyArray_Check(b))
        return true;
    struct reach x = reach_of((PyArrayObject *)a), y = reach_of((PyArrayObject *)b);
    return x.high <= y.low || y.high <= x.low;
}

static bool
all_apart(const struct jy_flow_exec *x, PyObject *const *inputs)
{
    for (size_t k = 0; k < x->npairs; k++)
        if (!are_apart(inputs[x->pairs[k].a], inputs[x->pairs[k].b]))
            return false;
    return true;
}

/* Under the default state, and where a kind is ignored, the interpreter does what is to be done when it repeats an operation that raised a flag. */
static bool
errstate_is_known(void)
{
    struct jy_errstate now = jy_errstate_get();
    return now.beyond == 0 && (now.reported & JY_FP_UNDERFLOW) == 0;
}

/* -- a run -------------------------------------------------------------------------------------------------------------------------- */

static int32_t
run_slow(const struct jy_flow_exec *x, struct jy_flow_call *call)
{
    return jy_flow_eval(x->flow, call);
}

/* A function is left: its values, as the interpreter of flows gives them, and as machine code does. */
static void
push_slow(struct jy_flow_call *call, uint32_t function, uint32_t exit, const union jy_scalar *out)
{
    const struct jy_flow_owner *owner = call->owner;
    size_t n = owner->exec->parts[function + 1].flow->w_exits.at[exit].x_values.n;
    union jy_scalar *values = jy_flow_pile_add(owner->pile, function, exit, n);
    if (values != NULL && n != 0)
        memcpy(values, out, n * sizeof *values);
}

static void
push_code(struct jy_flow_call *call, uint32_t function, uint32_t exit, const union jy_scalar *out)
{
    const struct jy_flow_owner *owner = call->owner;
    const struct part *part = &owner->exec->parts[function + 1];
    union jy_scalar *values = jy_flow_pile_add(owner->pile, function, exit, part->flow->w_exits.at[exit].x_values.n);
    struct jy_flow_call of_function = { .in = call->in, .out = (union jy_scalar *)(uintptr_t)out };
    if (values != NULL)
        jy_flow_gather(values, part->flow, exit, part->slot, &of_function);
}

/* The innermost place where the run was left; *exit: there. */
static const struct part *
place_of(const struct jy_flow_exec *x, uint32_t *exit, const struct jy_flow_pile *pile)
{
    if (x->flow->w_exits.at[*exit].x_kind != JY_EXIT_CALL || pile->n == 0)
        return &x->parts[0];
    *exit = pile->at[0].exit;
    return &x->parts[pile->at[0].function + 1];
}

/* Was a function not begun, or polled? Another run need not be. */
static bool
is_cut_short(const struct jy_flow_exec *x, int32_t taken, const struct jy_flow_pile *pile)
{
    uint32_t exit = (uint32_t)taken;
    uint8_t kind = place_of(x, &exit, pile)->flow->w_exits.at[exit].x_kind;
    return kind == JY_EXIT_CALL || kind == JY_EXIT_POLL;
}

static bool
is_same_pile(const struct jy_flow_exec *x, const struct jy_flow_pile *a, const struct jy_flow_pile *b)
{
    bool same = a->n == b->n;
    for (size_t k = 0; k < a->n && same; k++) {
        const struct jy_flow *w = x->parts[a->at[k].function + 1].flow;
        same = a->at[k].function == b->at[k].function && a->at[k].exit == b->at[k].exit;
        for (size_t i = 0; same && i < w->w_exits.at[a->at[k].exit].x_values.n; i++) {
            enum jy_ftype type = (enum jy_ftype)jy_flow_at(w, w->w_exits.at[a->at[k].exit].x_values.at[i])->f_type;
            union jy_scalar u = a->at[k].values[i], v = b->at[k].values[i];
            bool both_nan = type == JY_F_F64 && u.d != u.d && v.d != v.d;
            same = both_nan || memcmp(&u, &v, jy_flow_type_bytes(type)) == 0;
        }
    }
    return same;
}

/* The slow interpreter once more; false with an exception: another exit, or other values. */
static bool
same_as_slow(const struct jy_flow_exec *x, const struct jy_flow_call *call, int32_t exit,
             const struct jy_flow_pile *pile)
{
    static const uint32_t never;
    const struct jy_flow_exit *e = &x->flow->w_exits.at[exit];
    struct jy_flow_pile records = { .most = pile->most };
    struct jy_vectors vectors;
    struct jy_flow_owner owner = { .exec = x, .pile = &records, .vectors = &vectors };
    vectors.nslots = 0;
    vectors.late.flags = 0;
    struct jy_flow_call again = *call;
    again.out = alloca((x->nout + 1) * sizeof *again.out);
    again.watch = &never;
    again.owner = &owner;
    again.push = push_slow;
    if (e->x_kind == JY_EXIT_POLL || is_cut_short(x, exit, pile))
        return true;
    int32_t expected = run_slow(x, &again);
    jy_flow_pile_settle(&records);
    bool same = is_same_pile(x, pile, &records);
    jy_flow_pile_clear(&records);
    jy_flow_owner_clear(&owner);
    jy_vectors_clear(&vectors);
    if (!same) {
        PyErr_Format(PyExc_AssertionError,
                     "jitney: the machine code of %s leaves another function than the interpreter", x->flow->w_name);
        return false;
    }
    if (expected != exit) {
        PyErr_Format(PyExc_AssertionError, "jitney: the machine code of %s leaves by exit %d, the interpreter by %d",
                     x->flow->w_name, (int)exit, (int)expected);
        return false;
    }
    for (size_t k = 0; k < e->x_values.n; k++) {
        enum jy_ftype type = (enum jy_ftype)jy_flow_at(x->flow, e->x_values.at[k])->f_type;
        bool both_nan = (type == JY_F_F64 && call->out[k].d != call->out[k].d && again.out[k].d != again.out[k].d) ||
                        (type == JY_F_F32 && call->out[k].f != call->out[k].f && again.out[k].f != again.out[k].f);
        if (!both_nan && memcmp(&call->out[k], &again.out[k], jy_flow_type_bytes(type)) != 0) {
            PyErr_Format(PyExc_AssertionError,
                         "jitney: value %zu of exit %d of %s is %llx in machine code, %llx in the interpreter", k,
                         (int)exit, x->flow->w_name, (unsigned long long)call->out[k].bits,
                         (unsigned long long)again.out[k].bits);
            return false;
        }
    }
    return true;
}

static void
add_value(struct jy_text *text, enum jy_ftype type, union jy_scalar value)
{
    if (type == JY_F_F64 || type == JY_F_F32)
        jy_text_add(text, "%.17g", type == JY_F_F64 ? value.d : (double)value.f);
    else if (type == JY_F_I1)
        jy_text_add(text, value.bits & 0xff ? "True" : "False");
    else if (type == JY_F_PTR)
        jy_text_add(text, "<%llx>", (unsigned long long)value.bits);
    else
        jy_text_add(text, "%lld", (long long)(type == JY_F_I32 ? (int32_t)value.bits : value.i));
}

/* The numbers that the frame holds there, by name. */
static void
add_frame(struct jy_text *text, const struct jy_flow *w, PyObject *code, const struct jy_flow_exit *e,
          const union jy_scalar *out)
{
    size_t n = e->x_kind == JY_EXIT_RETURN ? 1 : e->x_depth + e->x_nlocals;
    for (size_t k = 0; k < n; k++) {
        const struct jy_box *box = e->x_boxes[k];
        if (box != NULL && box->how == JY_BOX_MAYBE && (out[box->value].bits & 0xff) != 0)
            box = box->parts[0];
        if (box == NULL || box->how != JY_BOX_NUMBER)
            continue;
        if (e->x_kind == JY_EXIT_RETURN)
            jy_text_add(text, " result=");
        else if (k < e->x_depth)
            jy_text_add(text, " stack[%zu]=", k);
        else
            jy_text_add(text, " %s=", jy_utf8(jy_compat_local_name((PyCodeObject *)code, (int)(k - e->x_depth))));
        enum jy_ftype type = (enum jy_ftype)jy_flow_at(w, e->x_values.at[box->value])->f_type;
        if (box->dtype == JY_U64)
            jy_text_add(text, "%llu", (unsigned long long)out[box->value].bits);
        else
            add_value(text, type, out[box->value]);
    }
}

/* By its number among those of all parts. */
static const struct part *
part_of(const struct jy_flow_exec *x, uint32_t *exit)
{
    size_t p = x->nparts - 1;
    while (x->parts[p].first_exit > *exit)
        p--;
    *exit -= x->parts[p].first_exit;
    return &x->parts[p];
}

static void
add_exit(struct jy_text *text, const struct jy_flow_exec *x, uint32_t exit)
{
    static const char *const kinds[] = { "check", "stop", "poll", "call", "return" }; /* ORDER flow_exit_kind */
    const struct part *part = part_of(x, &exit);
    const struct jy_flow_exit *e = &part->flow->w_exits.at[exit];
    const char *file = e->x_file;
    if (file == NULL)
        file = jy_utf8(((PyCodeObject *)x->code_object)->co_filename);
    jy_text_add(text, "%s:%u: %s%s%s", file, e->x_line, kinds[e->x_kind], e->x_what != NULL ? ": " : "",
                e->x_what != NULL ? e->x_what : "");
}

static bool
is_power_of_ten(uint64_t n)
{
    while (n % 10 == 0)
        n /= 10;
    return n == 1;
}

static void
log_exit(const struct jy_flow_exec *x, uint32_t exit, const union jy_scalar *out, uint32_t frame)
{
    struct jy_text text = { 0 };
    if (!is_power_of_ten(x->counts[exit]))
        return;
    add_exit(&text, x, exit);
    jy_text_add(&text, " (%llu)", (unsigned long long)x->counts[exit]);
    const struct part *part = part_of(x, &exit);
    if (part->flow == x->flow)
        add_frame(&text, x->flow, x->code_object, &x->flow->w_exits.at[exit], out);
    jy_runtime->logs.frame = frame;
    if (text.at != NULL)
        jy_log_print(&jy_runtime->logs, JY_LOG_exits, text.at);
    jy_text_free(&text);
}

/* Of the flow's own exits, for reports: what the values were. Without memory for them there are none. */
static void
keep_values(struct jy_flow_exec *x, uint32_t exit, const union jy_scalar *out)
{
    size_t bytes = x->flow->w_exits.at[exit].x_values.n * sizeof *out;
    if (x->last[exit] == NULL)
        x->last[exit] = malloc(bytes + 1);
    if (x->last[exit] != NULL)
        memcpy(x->last[exit], out, bytes);
}

/* Runs that end soon where the interpreter must go on, in so many frames, against the others by what they have done. */
static void
keep_score(struct jy_flow_exec *x, enum jy_flow_exit_kind kind, uint64_t time, size_t frames)
{
    bool leaves = kind == JY_EXIT_CHECK || kind == JY_EXIT_STOP;
    uint64_t worth = time / (SHORT_RUN * frames);
    if (leaves && worth == 0)
        x->score++;
    else if (x->score != 0)
        x->score -= worth >= x->score ? x->score : worth != 0 ? (uint32_t)worth : 1;
}

bool
jy_flow_exec_is_futile(const struct jy_flow_exec *x)
{
    return x->score >= FUTILE_RUNS && x->options.exit_every == 0;
}

/* -- frames -------------------------------------------------------------------------------------------------------------------------- */

/* What is rebuilt, from the innermost frame on. */
struct chain {
    struct jy_flow_exec *x;
    PyObject *own; /* the unit's function */
    PyObject *const *inputs;
    struct jy_vectors *vectors; /* of the run */
    PyObject *inner,
        *function; /* so far: the outermost frame's continuation (owned; NULL: none yet), and its function */
};

static PyObject *
function_of(const struct chain *c, uint32_t number)
{
    return number == 0 ? c->own : c->inputs[number - 1];
}

/* Who drives it, where it has no state of its own (*out NULL: it has). */
static bool
find_callee(PyObject **out, struct chain *c)
{
    struct jy_flow_exec *x = c->x;
    *out = NULL;
    if (jy_function_find(c->function) != NULL)
        return true;
    for (size_t k = 0; k < x->ncallees; k++)
        if (jy_flow_callee_function(x->callees[k]) == c->function)
            *out = x->callees[k];
    if (*out != NULL)
        return true;
    PyObject *callee = jy_flow_callee_new(c->function);
    if (callee == NULL)
        return false;
    if (x->ncallees == x->unit->u_inputs.n) { /* functions that come and go */
        Py_SETREF(x->callees[0], callee);
    } else {
        x->callees[x->ncallees++] = callee;
    }
    *out = callee;
    return true;
}

/* One more frame around what there is. refs: steals the items. */
static bool
add_frame_of(struct chain *c, struct jy_point **point, PyObject **items, const struct jy_flow_frame *frame,
             PyObject *code, bool is_plain)
{
    size_t n = frame->x_depth + frame->x_nlocals;
    PyObject *tuple = PyTuple_New((Py_ssize_t)n + 1), *callee;
    if (*point == NULL)
        *point = jy_point_new(code, frame->x_offset, frame->x_depth, frame->x_nlocals);
    if (tuple == NULL || *point == NULL || (c->inner != NULL && !find_callee(&callee, c))) {
        for (size_t k = 0; k < n; k++)
            Py_XDECREF(items[k]);
        Py_XDECREF(tuple);
        return false;
    }
    (*point)->is_plain = is_plain;
    for (size_t k = 0; k < n; k++)
        PyTuple_SET_ITEM(tuple, (Py_ssize_t)k, items[k]);
    PyTuple_SET_ITEM(tuple, (Py_ssize_t)n, Py_NewRef((PyObject *)*point));
    if (c->inner != NULL) {
        PyObject *resumer = jy_flow_resumer_new(c->inner, c->function, callee);
        c->inner = NULL;
        if (resumer == NULL) {
            Py_DECREF(tuple);
            return false;
        }
        Py_SETREF(PyTuple_GET_ITEM(tuple, (Py_ssize_t)frame->x_call), resumer);
    }
    c->inner = tuple;
    c->function = function_of(c, frame->x_function);
    return true;
}

/* The frames of an exit, the innermost first. */
static bool
add_frames(struct chain *c, const struct part *part, uint32_t exit, const union jy_scalar *values,
           const struct jy_flow_late *late)
{
    const struct jy_flow_exit *e = &part->flow->w_exits.at[exit];
    const struct exit_state *state = &part->exits[exit];
    size_t n = jy_boxing_count(state->boxing), left = n;
    PyObject **items = malloc((n + 1) * sizeof *items);
    bool good = items != NULL && jy_boxing_make(items, state->boxing, c->x->unit, values, c->inputs, c->vectors);
    if (items == NULL)
        PyErr_NoMemory();
    if (!good)
        left = 0;
    if (good && late->flags != 0) {
        size_t nlocals = e->x_ninner != 0 ? e->x_inner[e->x_ninner - 1].x_nlocals : e->x_nlocals;
        good = jy_flow_late_put(items + n - nlocals, late);
    }
    for (size_t k = e->x_ninner + 1; good && k-- > 0;) {
        struct jy_flow_frame own = { .x_function = part->flow->w_function,
                                     .x_offset = e->x_offset,
                                     .x_call = e->x_call,
                                     .x_depth = e->x_depth,
                                     .x_nlocals = e->x_nlocals };
        const struct jy_flow_frame *frame = k == 0 ? &own : &e->x_inner[k - 1];
        bool is_plain = e->x_kind != JY_EXIT_STOP || k != e->x_ninner;
        PyObject *code = k == 0 && part->flow == c->x->flow
                             ? c->x->code_object
                             : ((PyFunctionObject *)function_of(c, frame->x_function))->func_code;
        left -= frame->x_depth + frame->x_nlocals;
        good = add_frame_of(c, &state->points[k], items + left, frame, code, is_plain);
    }
    for (size_t k = 0; k < left; k++)
        Py_XDECREF(items[k]);
    free(items);
    return good;
}

static enum jy_flow_run
leave(PyObject **out, struct jy_flow_exec *x, uint32_t exit, const union jy_scalar *values, PyObject *function,
      PyObject *const *inputs, const struct jy_flow_pile *pile, struct jy_vectors *vectors)
{
    static const struct jy_flow_late nothing = { .flags = 0 };
    const struct jy_flow_exit *e = &x->flow->w_exits.at[exit];
    if (e->x_kind == JY_EXIT_RETURN)
        return jy_boxing_make(out, x->parts[0].exits[exit].boxing, x->unit, values, inputs, vectors) ? JY_FLOW_RETURNED
                                                                                                     : JY_FLOW_FAILED;
    struct chain c = { .x = x, .own = function, .inputs = inputs, .vectors = vectors };
    bool is_tail = e->x_kind == JY_EXIT_CALL && e->x_boxes == NULL, good = true;
    if (is_tail && pile->n == 0)
        return JY_FLOW_REFUSED;
    for (size_t k = 0; k < pile->n && good; k++)
        good = add_frames(&c, &x->parts[pile->at[k].function + 1], pile->at[k].exit, pile->at[k].values, &nothing);
    if (good && !is_tail)
        good = add_frames(&c, &x->parts[0], exit, values, &vectors->late);
    *out = good ? c.inner : NULL;
    if (!good)
        Py_XDECREF(c.inner);
    return good ? JY_FLOW_LEFT : JY_FLOW_FAILED;
}

/* The exit taken; its values are in call->out, in order. */
static int32_t
run_code(const struct jy_flow_exec *x, struct jy_flow_call *call, union jy_scalar *slots)
{
    union jy_scalar *values = call->out;
    call->out = slots;
    int32_t exit = x->fn(call);
    jy_flow_gather(values, x->flow, (uint32_t)exit, x->parts[0].slot, call);
    call->out = values;
    return exit;
}

/* Python frames that functions may begin. What changes something is rebuilt as it is, so that its depth is limited; of the rest, the outermost frames are, and call once more. */
static int64_t
frames_left(const struct jy_flow_exec *x)
{
    int64_t left = jy_compat_frames_left(PyThreadState_Get()) - FRAMES_SPARED - x->flow->w_frames;
    return !x->is_pure && left > MOST_FRAMES ? MOST_FRAMES : left;
}

void
jy_flow_exec_note_poll(struct jy_flow_exec *x)
{
    x->unlock.is_polled = x->unlock.why == NULL && x->fn != NULL;
}

static int
let_go(void *object)
{
    Py_DECREF((PyObject *)object);
    return 0;
}

/* Behind us the function's state is in use yet: it may not go with the last reference. */
static void
release_function(PyObject *function)
{
    if (Py_REFCNT(function) == 1)
        Py_AddPendingCall(let_go, function); /* kept for ever where there are too many */
    else
        Py_DECREF(function);
}

/* As run_code, without the GIL where the run is expected to be long and nobody can tell. What the guards hold would be held for all of the run: it is let go before, while its owners still have it. */
static __attribute__((noinline)) int32_t
run_polled(struct jy_flow_exec *x, struct jy_flow_call *call, union jy_scalar *slots, PyObject *function,
           struct jy_guard_values *values, uint64_t *unlocked)
{
    struct jy_away away;
    struct jy_flow_call own = *call;
    bool is_expected = x->unlock.credit != 0 && jy_runtime->config.release_gil &&
                       jy_flow_unlock_fits(&x->unlock, x->unit, values->slots, values->inputs);
    Py_INCREF(function);
    if (is_expected)
        jy_guards_clear(values);
    bool goes = is_expected && jy_gil_release(&away);
    if (goes) {
        own.watch = &away.leave;
        own.watch_mask = 1;
    }
    double start = now_ms();
    int32_t taken = run_code(x, &own, slots);
    double ms = now_ms() - start;
    if (goes)
        jy_gil_take(&away);
    uint8_t kind = x->flow->w_exits.at[taken].x_kind;
    jy_flow_unlock_judge(&x->unlock, ms, goes, kind == JY_EXIT_POLL || kind == JY_EXIT_CALL);
    x->unlock.runs += goes;
    *unlocked += goes;
    release_function(function);
    return taken;
}

/* Once: objects for all that the run has left, or none, and an exception. */
static enum jy_flow_run
try_to_settle(PyObject **out, struct jy_flow_exec *x, uint32_t exit, const union jy_scalar *values, PyObject *function,
              struct jy_flow_owner *owner)
{
    bool has_changed = x->changes_natives && owner->nknown != 0;
    bool collects = has_changed && jy_compat_collects_at_once() && PyGC_Disable(); /* it would show half of it */
    enum jy_flow_run result = JY_FLOW_FAILED;
    if (!has_changed || jy_flow_back_prepare(owner))
        result = leave(out, x, exit, values, function, owner->inputs, owner->pile, owner->vectors);
    if (has_changed && result == JY_FLOW_FAILED)
        jy_flow_back_undo(owner);
    else if (has_changed)
        jy_flow_back_commit(owner);
    if (collects)
        PyGC_Enable();
    return result;
}

/* Memory that is short at first may be there when the reserves are spent. */
static enum jy_flow_run
settle(PyObject **out, struct jy_flow_exec *x, uint32_t exit, const union jy_scalar *values, PyObject *function,
       struct jy_flow_owner *owner)
{
    if (owner->pile->failed) {
        PyErr_NoMemory();
        return JY_FLOW_FAILED;
    }
    enum jy_flow_run result = try_to_settle(out, x, exit, values, function, owner);
    if (result == JY_FLOW_FAILED && jy_reserve_spend(&owner->reserve))
        result = try_to_settle(out, x, exit, values, function, owner);
    return result;
}

static enum jy_flow_run
run(PyObject **out, uint32_t *exit, uint64_t *unlocked, struct jy_flow_exec *x, PyObject *function,
    struct jy_guard_values *guarded, struct jy_flow_call *call, uint32_t frame)
{
    struct jy_flow_owner *owner = call->owner;
    struct jy_flow_pile *pile = owner->pile;
    bool timed = x->score != 0; /* after a run that may have been short */
    uint64_t start = timed ? ticks() : 0;
    int32_t taken = x->unlock.is_polled ? run_polled(x, call, call->out + x->nout, function, guarded, unlocked)
                    : x->fn != NULL     ? run_code(x, call, call->out + x->nout)
                                        : run_slow(x, call);
    uint64_t time = timed ? ticks() - start : 0;
    jy_flow_pile_settle(pile);
    *exit = (uint32_t)taken;
    const struct part *place = place_of(x, exit, pile);
    uint8_t kind = place->flow->w_exits.at[*exit].x_kind;
    *exit += place->first_exit;
    x->runs++;
    x->counts[*exit]++;
    if ((kind == JY_EXIT_CHECK || kind == JY_EXIT_STOP) && place->flow == x->flow)
        keep_values(x, *exit, call->out);
    keep_score(x, (enum jy_flow_exit_kind)kind, time, pile->n + 1);
    if (jy_runtime->logs.on[JY_LOG_exits])
        log_exit(x, *exit, call->out, frame);
    if (x->compared && x->fn != NULL && !pile->failed && !same_as_slow(x, call, taken, pile))
        return JY_FLOW_FAILED;
    enum jy_flow_run result = settle(out, x, (uint32_t)taken, call->out, function, owner);
    if (result == JY_FLOW_FAILED && x->is_undone && PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear();
        *exit = JY_NO_EXIT;
        return JY_FLOW_UNDONE;
    }
    return result;
}

enum jy_flow_run
jy_flow_exec_run(PyObject **out, uint32_t *exit, uint64_t *unlocked, struct jy_flow_exec *x, PyObject *function,
                 struct jy_guard_values *guarded, uint32_t frame)
{
    PyObject *const *inputs = guarded->inputs;
    union jy_scalar *slots = alloca((x->nin + x->nout + x->parts[0].nslots + 1) * sizeof *slots);
    struct jy_flow_pile pile = { .most = x->is_pure ? MOST_FRAMES : 0 };
    struct jy_vectors vectors; /* large: not cleared as a whole */
    struct jy_flow_owner owner = {
        .exec = x, .pile = &pile, .vectors = &vectors, .inputs = inputs, .keeps_reserve = !x->is_undone
    };
    struct jy_flow_call call = { .in = slots,
                                 .out = slots + x->nin,
                                 .helper = x->helpers,
                                 .watch = jy_compat_eval_breaker(PyThreadState_Get()),
                                 .watch_mask = EVENTS,
                                 .owner = &owner,
                                 .left = frames_left(x),
                                 .stack = (uintptr_t)&pile > MOST_STACK ? (uintptr_t)&pile - MOST_STACK : 0,
                                 .push = x->fn != NULL ? push_code : push_slow,
                                 .spread = spread };
    size_t ninputs = x->unit->u_inputs.n;

    vectors.nslots = 0;
    vectors.late.flags = 0;
    *out = NULL;
    *exit = JY_NO_EXIT;
    if (!jy_reserve_keep() && !x->is_undone) {
        x->refused++;
        return JY_FLOW_UNDONE;
    }
    if ((x->flow->w_np_flags && !errstate_is_known()) || !read_inputs(slots, x, inputs) ||
        !views_have_strides(x, inputs)) {
        x->refused++;
        return JY_FLOW_REFUSED;
    }
    if (!all_apart(x, inputs)) {
        x->refused++;
        return JY_FLOW_APART;
    }
    uint64_t start = x->has_natives ? ticks() : 0;
    if (x->has_natives && !read_natives(slots, x, inputs, &owner)) {
        jy_flow_owner_clear(&owner);
        x->refused++;
        return JY_FLOW_OBJECTS;
    }
    uint64_t begin = x->has_natives ? ticks() : 0;
    for (size_t k = 0; k < ninputs; k++)
        Py_INCREF(inputs[k]);
    enum jy_flow_run result = run(out, exit, unlocked, x, function, guarded, &call, frame);
    if (x->has_natives)
        judge_natives(x, owner.nitems, begin - start, ticks() - begin);
    for (size_t k = 0; k + 1 < x->nparts; k++)
        if (x->sites[k].since != 0)
            jy_spread_settle(&x->sites[k]);
    if (result == JY_FLOW_REFUSED || result == JY_FLOW_UNDONE) {
        x->refused++;
        *exit = JY_NO_EXIT;
    }
    jy_flow_pile_clear(&pile);
    jy_flow_owner_clear(&owner);
    jy_vectors_clear(&vectors);
    for (size_t k = 0; k < ninputs; k++)
        Py_DECREF(inputs[k]);
    return result;
}

/* -- looking ----------------------------------------------------------------------------------------------------------------------- */

const struct jy_unit *
jy_flow_exec_unit(const struct jy_flow_exec *x)
{
    return x->unit;
}

const struct jy_exec_times *
jy_flow_exec_times(const struct jy_flow_exec *x)
{
    return &x->times;
}

struct jy_flow_stats
jy_flow_exec_stats(const struct jy_flow_exec *x)
{
    return (struct jy_flow_stats){
        .runs = x->runs, .refused = x->refused, .unlocked = x->unlock.runs, .locked = x->unlock.why, .exits = x->counts
    };
}

size_t
jy_flow_exec_count_exits(const struct jy_flow_exec *x)
{
    return x->nexits;
}

bool
jy_flow_exec_prange(struct jy_flow_prange_stats *out, const struct jy_flow_exec *x, size_t k)
{
    if (k >= x->flow->w_pranges.n)
        return false;
    const struct jy_flow_prange *p = &x->flow->w_pranges.at[k];
    *out = (struct jy_flow_prange_stats){ .line = p->line, .why = p->why };
    if (p->why == NULL) {
        out->runs = x->sites[p->function].runs;
        out->undone = x->sites[p->function].undone;
    }
    return true;
}

struct jy_flow_exit_report
jy_flow_exec_exit(const struct jy_flow_exec *x, uint32_t exit)
{
    struct jy_flow_exit_report out = { .count = x->counts[exit] };
    const union jy_scalar *last = x->last[exit];
    const struct part *part = part_of(x, &exit);
    const struct jy_flow_exit *e = &part->flow->w_exits.at[exit];
    struct jy_text text = { 0 };
    out.kind = e->x_kind;
    out.line = e->x_line;
    out.file = e->x_file != NULL ? e->x_file : jy_utf8(((PyCodeObject *)x->code_object)->co_filename);
    out.what = e->x_what;
    if (last != NULL)
        add_frame(&text, x->flow, x->code_object, e, last);
    out.values = text.at;
    return out;
}

const struct jy_flow_report *
jy_flow_exec_report(int *vectors, struct jy_flow_exec *x, size_t k)
{
    if (k >= x->flow->w_reports.n)
        return NULL;
    (void)jy_flow_exec_texts(x);
    *vectors = x->fn == NULL || x->vectors == NULL ? -1 : x->vectors[k];
    return &x->flow->w_reports.at[k];
}

uint8_t
jy_flow_exec_exit_kind(const struct jy_flow_exec *x, uint32_t exit)
{
    const struct part *part = part_of(x, &exit);
    return part->flow->w_exits.at[exit].x_kind;
}

char *
jy_flow_exec_describe_exit(const struct jy_flow_exec *x, uint32_t exit)
{
    struct jy_text text = { 0 };
    add_exit(&text, x, exit);
    return text.at;
}

static char *
copy_text(const char *text)
{
    return text == NULL ? NULL : strdup(text);
}

static void
compile_for_texts(struct jy_flow_exec *x)
{
    const char *why;
    const struct jy_backend *backend =
        x->options.executor == JY_EXEC_LLVM ? jy_backend_get(x->options.backend_path, &why) : NULL;
    if (backend == NULL)
        return;
    struct jy_backend_options options = { .want_ir = true,
                                          .want_ir_opt = true,
                                          .want_asm = true,
                                          .want_vectors = true,
                                          .fastmath = x->options.fastmath,
                                          .name = x->options.name };
    struct jy_object object = { 0 };
    if (backend->compile_flow(&object, x->flow, &options) == JY_OK) {
        x->texts.ir = copy_text(object.ir);
        x->texts.ir_opt = copy_text(object.ir_opt);
        x->texts.asm_text = copy_text(object.asm_text);
        x->vectors = object.vectors;
        object.vectors = NULL;
    }
    backend->release(&object);
}

const struct jy_exec_texts *
jy_flow_exec_texts(struct jy_flow_exec *x)
{
    if (!x->has_texts) {
        struct jy_text text = { 0 };
        x->has_texts = true;
        jy_flow_print(&text, x->flow);
        x->texts.plan = text.at;
        compile_for_texts(x);
    }
    return &x->texts;
}
