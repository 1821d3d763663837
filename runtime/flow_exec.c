/* From a unit's flow to machine code, and one run of it.
 *
 *   new:  flow --simplify--> --hoist--> --backend--> object --loader--> function, or the slow interpreter        once
 *   run:  errstate, inputs -> slots, overlap  ->  machine code  ->  exit number, values  ->  objects             per call
 *
 * The GIL is held throughout and no Python code runs in between, so what the guards found still holds when the inputs are read; a reference to each is kept while the machine code runs. */
#include "runtime/flow_exec.h"
#include "frontend/cpython/compat.h"
#include "frontend/cpython/iter.h"
#include "frontend/frontend.h"
#include "graph/pass.h"
#include "runtime/backend.h"
#include "runtime/exec_internal.h"
#include "runtime/flow_box.h"
#include "runtime/flow_random.h"
#include "runtime/fpstatus.h"
#include "runtime/function.h"
#include "runtime/numpy_api.h"
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

struct exit_state {
    struct jy_boxing *boxing;
    struct jy_point *point; /* made when it is first taken; NULL for RETURN */
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
    struct exit_state *exits;
    uint64_t *counts;
    size_t nin, nout, nslots;
    uint32_t *slot;     /* of machine code, per value */
    struct pair *pairs; /* arrays that must not overlap */
    size_t npairs;
    bool compared;  /* JITNEY_COMPARE, and a second run does no harm */
    uint32_t score; /* short runs more than long ones */
    uint64_t runs, refused;
    struct jy_exec_options options;
    struct jy_exec_texts texts;
    struct jy_exec_times times;
    bool has_texts;
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
    if ((*why = verify(x)) != NULL)
        return JY_BREAK;
    jy_flow_hoist(x->flow);
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
    x->helpers = JY_NEW_ARRAY(x->unit->u_arena, void *, w->w_helpers.n + 1);
    for (size_t k = 0; k < w->w_helpers.n; k++) {
        x->helpers[k] = jy_flow_helper_address(w->w_helpers.at[k].name);
        if (x->helpers[k] == NULL)
            return jy_arena_printf(x->unit->u_arena, "no helper is named %s", w->w_helpers.at[k].name);
    }
    return NULL;
}

/* Two numbers whose accesses are said never to meet, at least one of them stores. */
static void
find_pairs(struct jy_flow_exec *x)
{
    const struct jy_flow *w = x->flow;
    x->pairs = JY_NEW_ARRAY(x->unit->u_arena, struct pair, (size_t)w->w_nalias * w->w_nalias + 1);
    for (uint32_t a = 0; a < w->w_nalias; a++)
        for (uint32_t b = 0; b < a; b++)
            if (w->w_alias[a] != JY_NO_FV && w->w_alias[b] != JY_NO_FV &&
                (w->w_alias_written[a] || w->w_alias_written[b]))
                x->pairs[x->npairs++] = (struct pair){ w->w_alias[a], w->w_alias[b] };
}

static bool
may_run_twice(const struct jy_flow *w)
{
    for (size_t k = 0; k < w->w_values.n; k++) {
        const struct jy_fvalue *v = &w->w_values.at[k];
        if (v->f_op == JY_FLOW_STORE || (v->f_op == JY_FLOW_CALL && !w->w_helpers.at[v->f_index].pure))
            return false;
    }
    return true;
}

static void
prepare_exits(struct jy_flow_exec *x)
{
    const struct jy_flow *w = x->flow;
    x->exits = JY_NEW_ARRAY(x->unit->u_arena, struct exit_state, w->w_exits.n + 1);
    x->counts = JY_NEW_ARRAY(x->unit->u_arena, uint64_t, w->w_exits.n + 1);
    for (size_t k = 0; k < w->w_exits.n; k++) {
        x->exits[k].boxing = jy_boxing_new(x->unit->u_arena, &w->w_exits.at[k]);
        if (w->w_exits.at[k].x_values.n > x->nout)
            x->nout = w->w_exits.at[k].x_values.n;
    }
    x->nin = w->w_inputs.n;
    x->slot = JY_NEW_ARRAY(x->unit->u_arena, uint32_t, w->w_values.n + 1);
    x->nslots = jy_flow_slots(w, x->slot);
}

/* Runs under the arena's guard. */
static jy_status
build(struct jy_flow_exec *x, const char **why)
{
    TRY(run_passes(x, why));
    if ((*why = find_helpers(x)) != NULL)
        return JY_BREAK;
    find_pairs(x);
    prepare_exits(x);
    x->compared = x->options.compare && may_run_twice(x->flow);
    if (x->nin + x->nout + x->nslots <= MAX_SLOTS)
        return x->options.executor == JY_EXEC_LLVM ? compile_flow(x, why) : JY_OK;
    *why = "too many values";
    return JY_BREAK;
}

jy_status
jy_flow_exec_new(struct jy_flow_exec **out, const char **why, struct jy_unit *unit, PyObject *code,
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
        status = build(x, why);
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
    for (size_t k = 0; k < x->flow->w_exits.n; k++)
        Py_XDECREF((PyObject *)x->exits[k].point);
    Py_DECREF(x->code_object);
    jy_loader_free(x->code);
    free(x->texts.plan);
    free(x->texts.ir);
    free(x->texts.ir_opt);
    free(x->texts.asm_text);
    jy_unit_free(x->unit);
    free(x);
}

/* -- what a run has made ----------------------------------------------------------------------------------------------------------- */

/* Taste: past these a run is left, so that what is not alive any more goes. */
#define MOST_OBJECTS 65536u
#define MOST_BYTES ((size_t)64 << 20)

void
jy_flow_owner_clear(struct jy_flow_owner *o)
{
    for (size_t k = 0; k < o->n; k++)
        Py_DECREF(o->at[k]);
    free(o->at);
    *o = (struct jy_flow_owner){ 0 };
}

PyObject *
jy_flow_owner_keep(struct jy_flow_owner *o, PyObject *object, size_t bytes)
{
    bool is_full = o->n != 0 && (o->n >= MOST_OBJECTS || o->bytes + bytes > MOST_BYTES);
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
        return jy_unwrap_scalar(out, JY_I64, object);
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
read_input(union jy_scalar *out, const struct jy_flow_input *in, const struct jy_unit *unit, PyObject *const *inputs)
{
    bool is_const = in->kind == JY_FLOW_IN_CONST_OBJECT || in->kind == JY_FLOW_IN_CONST_BITGEN;
    PyObject *object = is_const ? jy_unit_object(unit, in->number) : inputs[in->number];
    out->bits = 0;
    switch ((enum jy_flow_input_kind)in->kind) {
    case JY_FLOW_IN_NUMBER:
        return read_number(out, in, object);
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
        return true;
    case JY_FLOW_IN_STRIDE:
        out->i = PyArray_STRIDE((PyArrayObject *)object, in->axis);
        return true;
    case JY_FLOW_IN_RANGE:
        return read_range(out, in, object);
    case JY_FLOW_IN_INDEX:
        return Py_REFCNT(object) == 1 && jy_seq_iter_index(&out->i, object) && out->i >= 0;
    }
    return false;
}

static bool
read_inputs(union jy_scalar *in, const struct jy_flow_exec *x, PyObject *const *inputs)
{
    for (size_t k = 0; k < x->nin; k++)
        if (!read_input(&in[k], &x->flow->w_inputs.at[k], x->unit, inputs))
            return false;
    return true;
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

/* The slow interpreter once more; false with an exception: another exit, or other values. */
static bool
same_as_slow(const struct jy_flow_exec *x, const struct jy_flow_call *call, int32_t exit)
{
    static const uint32_t never;
    const struct jy_flow_exit *e = &x->flow->w_exits.at[exit];
    struct jy_flow_owner owner = { 0 };
    struct jy_flow_call again = *call;
    again.out = alloca((x->nout + 1) * sizeof *again.out);
    again.watch = &never;
    again.owner = &owner;
    if (e->x_kind == JY_EXIT_POLL)
        return true;
    int32_t expected = run_slow(x, &again);
    jy_flow_owner_clear(&owner);
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
add_frame(struct jy_text *text, const struct jy_flow_exec *x, const struct jy_flow_exit *e, const union jy_scalar *out)
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
            jy_text_add(text,
                        " %s=", jy_utf8(jy_compat_local_name((PyCodeObject *)x->code_object, (int)(k - e->x_depth))));
        enum jy_ftype type = (enum jy_ftype)jy_flow_at(x->flow, e->x_values.at[box->value])->f_type;
        add_value(text, type, out[box->value]);
    }
}

static void
add_exit(struct jy_text *text, const struct jy_flow_exec *x, uint32_t exit)
{
    static const char *const kinds[] = { "check", "stop", "poll", "return" }; /* ORDER flow_exit_kind */
    const struct jy_flow_exit *e = &x->flow->w_exits.at[exit];
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
    add_frame(&text, x, &x->flow->w_exits.at[exit], out);
    jy_runtime->logs.frame = frame;
    if (text.at != NULL)
        jy_log_print(&jy_runtime->logs, JY_LOG_exits, text.at);
    jy_text_free(&text);
}

/* Runs that end soon where the interpreter must go on, against the others by what they have done. */
static void
keep_score(struct jy_flow_exec *x, enum jy_flow_exit_kind kind, uint64_t time)
{
    bool leaves = kind == JY_EXIT_CHECK || kind == JY_EXIT_STOP;
    uint64_t worth = time / SHORT_RUN;
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

static struct jy_point *
point_of(struct jy_flow_exec *x, uint32_t exit)
{
    const struct jy_flow_exit *e = &x->flow->w_exits.at[exit];
    struct exit_state *state = &x->exits[exit];
    if (state->point == NULL) {
        state->point = jy_point_new(x->code_object, e->x_offset, e->x_depth, e->x_nlocals);
        if (state->point != NULL)
            state->point->is_plain = e->x_kind != JY_EXIT_STOP;
    }
    return state->point;
}

static enum jy_flow_run
leave(PyObject **out, struct jy_flow_exec *x, uint32_t exit, const union jy_scalar *values, PyObject *const *inputs)
{
    bool returns = x->flow->w_exits.at[exit].x_kind == JY_EXIT_RETURN;
    struct jy_point *point = returns ? NULL : point_of(x, exit);
    if (point == NULL && !returns)
        return JY_FLOW_FAILED;
    *out = jy_boxing_make(x->exits[exit].boxing, x->unit, values, inputs, point);
    if (*out == NULL)
        return JY_FLOW_FAILED;
    return returns ? JY_FLOW_RETURNED : JY_FLOW_LEFT;
}

/* The exit taken; its values are in call->out, in order. */
static int32_t
run_code(const struct jy_flow_exec *x, struct jy_flow_call *call, union jy_scalar *slots)
{
    union jy_scalar *values = call->out;
    call->out = slots;
    int32_t exit = x->fn(call);
    jy_flow_gather(values, x->flow, (uint32_t)exit, x->slot, call);
    call->out = values;
    return exit;
}

enum jy_flow_run
jy_flow_exec_run(PyObject **out, uint32_t *exit, struct jy_flow_exec *x, PyObject *const *inputs, uint32_t frame)
{
    union jy_scalar *slots = alloca((x->nin + x->nout + x->nslots + 1) * sizeof *slots);
    struct jy_flow_owner owner = { 0 };
    struct jy_flow_call call = { .in = slots,
                                 .out = slots + x->nin,
                                 .helper = x->helpers,
                                 .watch = jy_compat_eval_breaker(PyThreadState_Get()),
                                 .watch_mask = EVENTS,
                                 .owner = &owner };
    size_t ninputs = x->unit->u_inputs.n;

    *out = NULL;
    *exit = JY_NO_EXIT;
    if ((x->flow->w_np_flags && !errstate_is_known()) || !read_inputs(slots, x, inputs)) {
        x->refused++;
        return JY_FLOW_REFUSED;
    }
    if (!all_apart(x, inputs)) {
        x->refused++;
        return JY_FLOW_APART;
    }
    for (size_t k = 0; k < ninputs; k++)
        Py_INCREF(inputs[k]);
    bool timed = x->score != 0; /* after a run that may have been short */
    uint64_t start = timed ? ticks() : 0;
    int32_t taken = x->fn != NULL ? run_code(x, &call, call.out + x->nout) : run_slow(x, &call);
    uint64_t time = timed ? ticks() - start : 0;
    enum jy_flow_run run = JY_FLOW_FAILED;
    *exit = (uint32_t)taken;
    x->runs++;
    x->counts[taken]++;
    keep_score(x, (enum jy_flow_exit_kind)x->flow->w_exits.at[taken].x_kind, time);
    if (jy_runtime->logs.on[JY_LOG_exits])
        log_exit(x, (uint32_t)taken, call.out, frame);
    if (!x->compared || x->fn == NULL || same_as_slow(x, &call, taken))
        run = leave(out, x, (uint32_t)taken, call.out, inputs);
    jy_flow_owner_clear(&owner);
    for (size_t k = 0; k < ninputs; k++)
        Py_DECREF(inputs[k]);
    return run;
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
    return (struct jy_flow_stats){ .runs = x->runs, .refused = x->refused, .exits = x->counts };
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
    struct jy_backend_options options = {
        .want_ir = true, .want_ir_opt = true, .want_asm = true, .name = x->options.name
    };
    struct jy_object object = { 0 };
    if (backend->compile_flow(&object, x->flow, &options) == JY_OK) {
        x->texts.ir = copy_text(object.ir);
        x->texts.ir_opt = copy_text(object.ir_opt);
        x->texts.asm_text = copy_text(object.asm_text);
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
