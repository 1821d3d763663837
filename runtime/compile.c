/* The whole pipeline as one readable function: jy_compile.
 *
 *   gate -> trace -> (graph, guards, recipe) -> passes -> lower -> machine code -> bytecode -> install
 *
 * Whatever goes wrong ends in a refusal with a reason, never in an error of the user's program. */
#include "runtime/function.h"

#include "frontend/cpython/original.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PASS_LIMIT 2u /* attempts from one start that find nothing worth compiling before it is given up */

static double
now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* -- logging --------------------------------------------------------------------------------------------------------------------- */

static bool
wants(enum jy_log channel)
{
    return jy_runtime->logs.on[channel];
}

static void
print(struct jy_function *f, enum jy_log channel, const char *text)
{
    jy_runtime->logs.frame = f->f_id;
    jy_runtime->logs.attempt = f->f_attempts;
    jy_log_print(&jy_runtime->logs, channel, text);
}

static void
log_instruction(void *context, const char *line)
{
    print(context, JY_LOG_trace_bytecode, line);
}

static void
log_stage(void *context, const char *channel, const char *text)
{
    int k = jy_log_from_name(channel);
    if (k >= 0 && wants((enum jy_log)k))
        print(context, (enum jy_log)k, text);
}

static bool
wants_stages(void)
{
    static const enum jy_log stages[] = { JY_LOG_graph, JY_LOG_graph_code, JY_LOG_loop, JY_LOG_fusion,
                                          JY_LOG_ir,    JY_LOG_ir_opt,     JY_LOG_asm };
    bool any = false;
    for (size_t k = 0; k < sizeof(stages) / sizeof(stages[0]); k++)
        any |= wants(stages[k]);
    return any;
}

static void
log_guards(struct jy_function *f, const struct jy_unit *unit)
{
    struct jy_text text = { 0 };
    for (size_t k = 0; k < unit->u_guards.n; k++) {
        jy_guard_print(&text, unit, &unit->u_guards.at[k]);
        jy_text_add(&text, "\n");
    }
    if (text.at != NULL)
        print(f, JY_LOG_guards, text.at);
    jy_text_free(&text);
}

/* dis.dis of a code object through Python's own module. */
static void
log_bytecode(struct jy_function *f, const char *title, PyObject *code)
{
    print(f, JY_LOG_bytecode, title);
    PyObject *dis = PyImport_ImportModule("dis"), *bytecode = NULL, *text = NULL;
    if (dis != NULL)
        bytecode = PyObject_CallMethod(dis, "Bytecode", "O", code);
    if (bytecode != NULL)
        text = PyObject_CallMethod(bytecode, "dis", NULL);
    const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    if (utf8 != NULL)
        print(f, JY_LOG_bytecode, utf8);
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(bytecode);
    Py_XDECREF(dis);
}

/* -- refusals -------------------------------------------------------------------------------------------------------------------- */

static void
report(struct jy_function *f, const struct jy_break_info *why, const char *then)
{
    PyFunctionObject *object = (PyFunctionObject *)f->f_object;
    PyCodeObject *code = (PyCodeObject *)object->func_code;
    PyObject *row =
        Py_BuildValue("{sssssssssNsI}", "name", why->name, "what", why->what, "hint",
                      why->hint != NULL ? why->hint : "", "detail", why->detail != NULL ? why->detail : "", "file",
                      why->file != NULL ? PyUnicode_FromString(why->file) : Py_NewRef(code->co_filename), "line",
                      why->line != 0 ? why->line : (unsigned)code->co_firstlineno);
    if (f->f_reasons == NULL)
        f->f_reasons = PyList_New(0);
    if (row != NULL && f->f_reasons != NULL)
        PyList_Append(f->f_reasons, row);
    Py_XDECREF(row);
    PyErr_Clear();
    if (wants(JY_LOG_graph_breaks)) {
        struct jy_text text = { 0 };
        const char *file = why->file != NULL ? why->file : jy_utf8(code->co_filename);
        jy_text_add(&text, "%s:%u: %s: %s%s%s", file, why->line != 0 ? why->line : (unsigned)code->co_firstlineno,
                    why->name, why->what, why->detail != NULL ? ": " : "", why->detail != NULL ? why->detail : "");
        if (why->hint != NULL && why->hint[0] != '\0')
            jy_text_add(&text, "\n  hint: %s", why->hint);
        jy_text_add(&text, "\n  %s %s", jy_utf8(object->func_qualname), then);
        print(f, JY_LOG_graph_breaks, text.at != NULL ? text.at : why->name);
        jy_text_free(&text);
    }
}

/* Nothing can be compiled from here. */
static jy_status
refuse(struct jy_function *f, struct jy_start *s, const struct jy_break_info *why)
{
    report(f, why, "runs in CPython");
    f->f_stats.refusals++;
    s->s_refused++;
    /* The caller of our entry holds the arguments: a destructor that the function lets run comes late until it is a plain function again. */
    bool for_good = strcmp(why->name, "DELETE_PARAMETER") == 0;
    if (s->s_refused >= (uint32_t)jy_runtime->config.refusal_limit || for_good)
        s->s_off = true;
    if (s != &f->f_call && s->s_entries == NULL && s->s_refused >= PASS_LIMIT) {
        s->s_off = true;
        jy_leaves_drop(f, s->s_offset);
    }
    if (for_good)
        f->f_off = true;
    if (s == &f->f_call && s->s_off && f->f_leaves.active == 0) {
        f->f_off = true;
        if (s->s_entries == NULL)
            jy_function_uninstall(f);
    }
    return JY_BREAK;
}

/* Compiled code may take over again behind the instruction where a unit stops. */
static bool
is_before_loop(const struct jy_unit *unit)
{
    return unit->u_break.name != NULL && strcmp(unit->u_break.name, "NATIVE_LOOP") == 0;
}

static void
add_leaves(struct jy_function *f, const struct jy_unit *unit)
{
    double start = now_ms();
    if (is_before_loop(unit))
        jy_leaves_add_loop(f, unit->u_stop.offset);
    else
        jy_leaves_add(f, unit->u_stop.offset);
    f->f_stats.bytecode_ms += now_ms() - start;
}

/* Nothing worth compiling stands before the instruction where the trace stopped: CPython runs it, and compiled code may take over behind it. */
static jy_status
pass(struct jy_function *f, struct jy_start *s, const struct jy_unit *unit)
{
    report(f, &unit->u_break, "runs in CPython from here on, until compiled code takes over again");
    f->f_stats.refusals++;
    s->s_refused++;
    add_leaves(f, unit);
    if (s->s_refused >= PASS_LIMIT) {
        s->s_off = true;
        if (s != &f->f_call && s->s_entries == NULL)
            jy_leaves_drop(f, s->s_offset);
    }
    return JY_BREAK;
}

/* A reason of breaks.def that belongs to no instruction. */
static void
fill_reason(struct jy_break_info *why, const struct jy_function *f, const char *name, const char *detail)
{
    PyCodeObject *code = (PyCodeObject *)((PyFunctionObject *)f->f_object)->func_code;
    const struct jy_break_row *row = jy_break_row_named(name);
    *why = (struct jy_break_info){ .name = row->name,
                                   .what = row->what,
                                   .hint = row->hint,
                                   .detail = detail,
                                   .file = jy_utf8(code->co_filename),
                                   .line = (uint32_t)code->co_firstlineno };
}

static jy_status
refuse_because(struct jy_function *f, struct jy_start *s, const char *name, const char *detail)
{
    struct jy_break_info why;
    fill_reason(&why, f, name, detail);
    return f->f_fullgraph ? jy_api_raise_full_graph(&why) : refuse(f, s, &why);
}

void
jy_report_left(struct jy_function *f, const char *name, const char *detail)
{
    struct jy_break_info why;
    fill_reason(&why, f, name, detail);
    report(f, &why, "runs in CPython from now on");
}

/* -- recompilation --------------------------------------------------------------------------------------------------------------- */

static bool
is_dynamic(const struct jy_function *f, const char *source)
{
    for (size_t k = 0; k < f->f_ndynamic; k++)
        if (strcmp(f->f_dynamic[k], source) == 0)
            return true;
    return false;
}

static bool
is_fixed(const struct jy_function *f, const char *source)
{
    size_t k = 0;
    while (f->f_fixed != NULL && f->f_fixed[k] != NULL && strcmp(f->f_fixed[k], source) != 0)
        k++;
    return f->f_fixed != NULL && f->f_fixed[k] != NULL;
}

static void
make_dynamic(struct jy_function *f, const char *source)
{
    char **at = is_dynamic(f, source) ? NULL : realloc(f->f_dynamic, (f->f_ndynamic + 2) * sizeof(char *));
    if (at == NULL)
        return;
    f->f_dynamic = at;
    at[f->f_ndynamic] = strdup(source);
    if (at[f->f_ndynamic] != NULL)
        f->f_ndynamic++;
    at[f->f_ndynamic] = NULL;
}

/* An int, or a float that the program branched on: symbolic next time, where that is possible. */
static bool
pins_number(const struct jy_unit *unit, const struct jy_guard *guard)
{
    return guard->kind == JY_GUARD_INT ||
           (guard->kind == JY_GUARD_EQUALS && PyFloat_CheckExact(jy_unit_object(unit, guard->object)));
}

/* Why the newest entry does not fit: an int that has a second value becomes symbolic. */
static void
learn_from_miss(struct jy_function *f, struct jy_start *s, PyObject *const *slots)
{
    struct jy_entry *entry = s->s_entries;
    struct jy_guard_values values = { 0 };
    uint32_t failed;
    struct jy_text text = { 0 };

    void *room = malloc(jy_guards_room(entry->e_guards) + 1);
    if (room == NULL)
        return;
    const struct jy_unit *unit = jy_entry_unit(entry);
    enum jy_guard_result held = jy_guards_check(&values, room, entry->e_guards, f->f_object, slots, &failed);
    jy_guards_clear(&values);
    free(room);
    PyErr_Clear();
    if (held != JY_GUARDS_MISS)
        return;
    const struct jy_guard *guard = failed < unit->u_guards.n ? &unit->u_guards.at[failed] : NULL;
    if (guard != NULL && f->f_ints != 0 && pins_number(unit, guard)) {
        jy_source_print(&text, unit, guard->source);
        if (text.at != NULL && !is_fixed(f, text.at))
            make_dynamic(f, text.at);
        jy_text_free(&text);
    }
    if (wants(JY_LOG_recompiles)) {
        jy_text_add(&text, "guard failed: ");
        if (guard != NULL)
            jy_guard_print(&text, unit, guard);
        else
            jy_text_add(&text, "a value that the unit reads is gone");
        print(f, JY_LOG_recompiles, text.at != NULL ? text.at : "");
        jy_text_free(&text);
    }
}

/* At the limit nothing more is compiled; a function that only misses is left alone. */
static jy_status
at_limit(struct jy_function *f, struct jy_start *s, PyObject *const *slots)
{
    if ((s->s_misses == 0 || f->f_fullgraph) && refuse_because(f, s, "RECOMPILE_LIMIT", NULL) == JY_ERROR)
        return JY_ERROR;
    if (s->s_misses++ == 0 && wants(JY_LOG_perf_hints)) {
        bool recompiles = wants(JY_LOG_recompiles);
        print(f, JY_LOG_perf_hints,
              "recompile limit reached; calls that fit no entry run in CPython. The guard that keeps failing:");
        jy_runtime->logs.on[JY_LOG_recompiles] = true;
        learn_from_miss(f, s, slots);
        jy_runtime->logs.on[JY_LOG_recompiles] = recompiles;
    }
    if (s->s_misses > (uint32_t)jy_runtime->config.miss_limit) {
        s->s_off = true;
        if (wants(JY_LOG_perf_hints))
            print(f, JY_LOG_perf_hints, "left to CPython for good: no entry has fitted for long");
    }
    return JY_BREAK;
}

/* -- the unit ---------------------------------------------------------------------------------------------------------------------- */

typedef jy_status (*tracer)(struct jy_unit **out, const struct jy_trace_request *request);

static jy_status
trace(struct jy_unit **out, struct jy_function *f, const struct jy_start *s, PyObject *const *slots, size_t nslots,
      tracer run)
{
    static const char *const every_int[] = { "*", NULL };
    const struct jy_config *config = &jy_runtime->config;
    double start = now_ms();
    struct jy_trace_request request = {
        .function = f->f_object,
        .original = jy_original_of(f),
        .start = s->s_offset,
        .locals = slots + s->s_depth,
        .nlocals = nslots - s->s_depth,
        .stack = slots,
        .nstack = s->s_depth,
        .min_nodes = (uint32_t)config->min_nodes,
        .no_alias = s->s_no_alias,
        .no_natives = s->s_no_natives,
        .any_sizes = s->s_nentries > 0,
        .native_loops = config->flows && config->break_every == 0 && f->f_backend == NULL && !f->f_fullgraph,
        .unrolled = f->f_unrolled,
        .nunrolled = f->f_nunrolled,
        .break_every = (uint32_t)config->break_every,
        .callee = jy_runtime->callee,
        .dynamic = f->f_ints == 1 ? every_int : (const char *const *)f->f_dynamic,
        .fixed = (const char *const *)f->f_fixed,
        .max_steps = (uint32_t)config->max_steps,
        .max_nodes = (uint32_t)config->max_nodes,
        .max_inline = (uint32_t)config->max_inline,
        .log = wants(JY_LOG_trace_bytecode) ? log_instruction : NULL,
        .context = f,
    };
    jy_status status = run(out, &request);
    jy_original_release(request.original);
    f->f_stats.trace_ms += now_ms() - start;
    return status;
}

static struct jy_exec_options
exec_options(struct jy_function *f)
{
    return (struct jy_exec_options){
        .executor = f->f_backend != NULL ? JY_EXEC_NUMPY : (enum jy_executor)jy_runtime->config.executor,
        .compare = f->f_backend == NULL && jy_runtime->config.compare != 0 && !f->f_fastmath,
        .fastmath = f->f_fastmath,
        .threads = f->f_threads,
        .verify = jy_runtime->config.verify != 0,
        .exit_every = (uint32_t)jy_runtime->config.exit_every,
        .want_ir = wants(JY_LOG_ir),
        .want_ir_opt = wants(JY_LOG_ir_opt),
        .want_asm = wants(JY_LOG_asm),
        .name = jy_utf8(((PyFunctionObject *)f->f_object)->func_name),
        .backend_path = jy_runtime->backend_path,
        .log = wants_stages() ? log_stage : NULL,
        .context = f,
    };
}

static void
add_times(struct jy_function *f, const struct jy_exec_times *times)
{
    f->f_stats.passes_ms += times->passes_ms;
    f->f_stats.lower_ms += times->lower_ms;
    f->f_stats.emit_ms += times->emit_ms;
    f->f_stats.codegen_ms += times->codegen_ms;
    f->f_stats.load_ms += times->load_ms;
}

/* refs: takes `unit` on success */
static jy_status
build_exec(struct jy_exec **out, const char **why, struct jy_function *f, struct jy_unit *unit)
{
    struct jy_exec_options options = exec_options(f);
    jy_status status = jy_exec_new(out, why, unit, &options);
    if (status == JY_OK) {
        add_times(f, jy_exec_times(*out));
        jy_exec_set_globals(*out, ((PyFunctionObject *)f->f_object)->func_globals);
    }
    return status;
}

static int
make_code(struct jy_entry *entry, struct jy_function *f, const struct jy_start *s)
{
    PyObject *name = jy_compiled_fn_name(entry->e_runner != NULL ? entry->e_runner : entry->e_compiled);
    double start = now_ms();
    int status = jy_new_code_make(&entry->e_new, f, s, jy_exec_unit(entry->e_exec), name);
    f->f_stats.bytecode_ms += now_ms() - start;
    if (status == 0 && wants(JY_LOG_bytecode)) {
        log_bytecode(f, "before:", ((PyFunctionObject *)f->f_object)->func_code);
        log_bytecode(f, "after:", entry->e_new.code);
    }
    return status;
}

/* Puts __compiled_fn_N into the function's globals and makes the code that calls it.  0, or -1 with an exception. */
static int
generate_code(struct jy_entry *entry, struct jy_function *f, const struct jy_start *s)
{
    PyObject *name;
    int status = jy_function_set_name(&name, f, entry->e_number, entry->e_compiled);
    Py_XDECREF(name);
    if (status < 0)
        return -1;
    entry->e_globals = ((PyFunctionObject *)f->f_object)->func_globals;
    return make_code(entry, f, s);
}

int
jy_entry_refresh(struct jy_function *f, struct jy_start *s, struct jy_entry *entry)
{
    return entry->e_new.version == f->f_leaves.version || entry->e_whole ? 0 : make_code(entry, f, s);
}

/* One output, handed out as it is: entry calls the native code and no bytecode runs. */
static bool
is_direct(const struct jy_unit *unit)
{
    return unit->u_start == 0 && !unit->u_stop.stops && unit->u_effects.n == 0 &&
           unit->u_result->kind == JY_RECIPE_OUTPUT && unit->u_graph->g_outputs.n == 1;
}

/* A backend of the user's: jitney._backend.call(backend, graph description, runner, inputs) gives the callable that stands for __compiled_fn_N.
 * The exec stays: it is the graph's runner (NumPy, node by node) and what inspect() shows. */
static int
use_user_backend(struct jy_entry *entry, struct jy_function *f, PyObject *const *slots)
{
    struct jy_guard_values values = { 0 };
    uint32_t failed;
    const char *why;
    struct jy_guard_program *guards = jy_guards_new(&why, jy_exec_unit(entry->e_exec), f->f_object);
    void *room = guards == NULL ? NULL : malloc(jy_guards_room(guards) + 1);
    PyObject *inputs = NULL, *graph = NULL, *module = NULL, *compiled = NULL;

    if (room != NULL && jy_guards_check(&values, room, guards, f->f_object, slots, &failed) == JY_GUARDS_HOLD) {
        inputs = PyTuple_New((Py_ssize_t)entry->e_inputs);
        for (uint32_t k = 0; inputs != NULL && k < entry->e_inputs; k++)
            PyTuple_SET_ITEM(inputs, k, Py_NewRef(values.inputs[k]));
    }
    if (inputs != NULL && (graph = jy_describe_graph(jy_exec_unit(entry->e_exec))) != NULL)
        module = PyImport_ImportModule("jitney._backend");
    if (module != NULL)
        compiled = PyObject_CallMethod(module, "call", "OOOO", f->f_backend, graph, entry->e_compiled, inputs);
    jy_guards_clear(&values);
    jy_guards_free(guards);
    free(room);
    Py_XDECREF(inputs);
    Py_XDECREF(graph);
    Py_XDECREF(module);
    if (compiled == NULL)
        return -1;
    entry->e_runner = entry->e_compiled;
    entry->e_compiled = compiled;
    return 0;
}

/* What went wrong, from the exception that is set; lives until the next of the function. */
static const char *
error_text(struct jy_function *f)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *text = value != NULL ? PyObject_Str(value) : NULL;
    const char *utf8 = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    free(f->f_error);
    f->f_error = strdup(utf8 != NULL ? utf8 : "an exception without a text");
    Py_XDECREF(text);
    PyErr_Restore(type, value, traceback);
    return f->f_error != NULL ? f->f_error : "no memory";
}

/* Guards that fail for the very call that they come from would have it traced again at every call: a mistake of ours. NULL: they hold. The text lives as error_text's. */
static const char *
failing_at_birth(struct jy_function *f, const struct jy_entry *entry, PyObject *const *slots)
{
    const struct jy_unit *unit = jy_entry_unit(entry);
    struct jy_guard_values values = { 0 };
    uint32_t failed;
    void *room = malloc(jy_guards_room(entry->e_guards) + 1);
    if (room == NULL)
        return "no memory";
    enum jy_guard_result held = jy_guards_check(&values, room, entry->e_guards, f->f_object, slots, &failed);
    jy_guards_clear(&values);
    free(room);
    if (held == JY_GUARDS_HOLD)
        return NULL;
    struct jy_text text = { 0 };
    PyErr_Clear();
    jy_text_add(&text, "its own call does not fit: ");
    if (failed < unit->u_guards.n)
        jy_guard_print(&text, unit, &unit->u_guards.at[failed]);
    else
        jy_text_add(&text, "a value that the unit reads is not there");
    free(f->f_error);
    f->f_error = text.at;
    return f->f_error != NULL ? f->f_error : "no memory";
}

static bool
guard_entry(const char **why, struct jy_entry *entry, struct jy_function *f)
{
    double start = now_ms();
    entry->e_guards = jy_guards_new(why, jy_entry_unit(entry), f->f_object);
    f->f_stats.guards_ms += now_ms() - start;
    return entry->e_guards != NULL;
}

static bool
is_good_at_birth(const char **why, const struct jy_entry *entry, struct jy_function *f, PyObject *const *slots)
{
    double start = now_ms();
    const char *misfit = failing_at_birth(f, entry, slots);
    f->f_stats.guards_ms += now_ms() - start;
    if (misfit != NULL)
        *why = misfit;
    return misfit == NULL;
}

/* refs: takes exec */
static struct jy_entry *
new_entry(const char **why, struct jy_function *f, struct jy_start *s, struct jy_exec *exec, PyObject *const *slots)
{
    struct jy_entry *entry = calloc(1, sizeof(*entry));
    const struct jy_unit *unit = jy_exec_unit(exec);
    char name[40];

    *why = "no memory";
    if (entry == NULL) {
        jy_exec_free(exec);
        return NULL;
    }
    entry->e_refs = 1;
    entry->e_exec = exec;
    entry->e_inputs = (uint32_t)unit->u_inputs.n;
    entry->e_number = f->f_reserved != 0 ? f->f_reserved : jy_number_take();
    f->f_reserved = 0;
    snprintf(name, sizeof(name), "__compiled_fn_%u", entry->e_number);
    entry->e_compiled = jy_compiled_fn_new(exec, name, jy_runtime->rerun);
    if (entry->e_compiled == NULL) {
        jy_exec_free(exec);
        jy_number_give(entry->e_number);
        free(entry);
        return NULL;
    }
    if (f->f_backend != NULL && use_user_backend(entry, f, slots) < 0) {
        *why = "the backend raised an exception";
        jy_entry_release(entry);
        return NULL;
    }
    entry->e_direct = f->f_backend == NULL && is_direct(unit);
    entry->e_whole = unit->u_start == 0 && !unit->u_stop.stops;
    if (!guard_entry(why, entry, f) || generate_code(entry, f, s) < 0) {
        if (PyErr_Occurred())
            *why = error_text(f);
        jy_entry_release(entry);
        return NULL;
    }
    if (!is_good_at_birth(why, entry, f, slots)) {
        jy_entry_release(entry);
        return NULL;
    }
    if (entry->e_direct)
        entry->e_quick = jy_quick_new(exec, entry->e_guards);
    return entry;
}

/* refs: takes flow */
static struct jy_entry *
new_flow_entry(const char **why, struct jy_function *f, struct jy_start *s, struct jy_flow_exec *flow,
               PyObject *const *slots)
{
    struct jy_entry *entry = calloc(1, sizeof(*entry));
    *why = "no memory";
    if (entry == NULL) {
        jy_flow_exec_free(flow);
        return NULL;
    }
    entry->e_refs = 1;
    entry->e_flow = flow;
    entry->e_inputs = (uint32_t)jy_entry_unit(entry)->u_inputs.n;
    entry->e_direct = s == &f->f_call;
    entry->e_last = s->s_no_alias || s->s_no_natives;
    if (guard_entry(why, entry, f) && is_good_at_birth(why, entry, f, slots))
        return entry;
    if (PyErr_Occurred())
        *why = error_text(f);
    jy_entry_release(entry);
    return NULL;
}

static void
install(struct jy_function *f, struct jy_start *s, struct jy_entry *entry)
{
    struct jy_entry **link = &s->s_entries;
    while (entry->e_last && *link != NULL)
        link = &(*link)->e_next;
    entry->e_next = *link;
    *link = entry;
    s->s_nentries++;
    s->s_refused = 0;
    f->f_stats.compiles++;
    f->f_stats.recompiles += s->s_nentries > 1;
}

/* -- native loops ----------------------------------------------------------------------------------------------------------------- */

enum { FLOW_LIMIT = 8 }; /* taste: flows of one function; each takes milliseconds of LLVM */

static bool
may_flow(struct jy_function *f, const struct jy_start *s)
{
    const struct jy_config *config = &jy_runtime->config;
    return config->flows && config->break_every == 0 && f->f_backend == NULL && !s->s_no_flow &&
           f->f_stats.flow_entries < FLOW_LIMIT &&
           (s == &f->f_call ? jy_function_has_loop(f) || jy_vmay_recurse(f->f_object)
                            : jy_function_loops_at(f, s->s_offset));
}

/* Of a function that must be one graph from call to return. */
static bool
stops_somewhere(const struct jy_flow *flow)
{
    for (size_t k = 0; k < flow->w_exits.n; k++)
        if (flow->w_exits.at[k].x_kind == JY_EXIT_STOP)
            return true;
    return false;
}

/* Objects that a frame which begins there has. */
static size_t
nslots_of(const struct jy_function *f, const struct jy_start *s)
{
    const PyCodeObject *code = (const PyCodeObject *)f->f_code;
    if (s != &f->f_call)
        return (size_t)s->s_depth + s->s_nlocals;
    return (size_t)code->co_argcount + (size_t)code->co_kwonlyargcount + ((code->co_flags & CO_VARARGS) != 0) +
           ((code->co_flags & CO_VARKEYWORDS) != 0);
}

/* refs: takes unit */
static jy_status
install_flow(struct jy_function *f, struct jy_start *s, struct jy_unit *unit, PyObject *const *slots)
{
    struct jy_flow_exec *flow = NULL;
    const char *why = NULL;
    struct jy_exec_options options = exec_options(f);
    if (wants(JY_LOG_guards))
        log_guards(f, unit);
    if (jy_flow_exec_new(&flow, &why, unit, f->f_code, nslots_of(f, s), &options) != JY_OK) {
        jy_status refused = refuse_because(f, s, "BACKEND", why);
        jy_unit_free(unit);
        return refused;
    }
    add_times(f, jy_flow_exec_times(flow));
    struct jy_entry *entry = new_flow_entry(&why, f, s, flow, slots);
    if (entry == NULL) {
        PyErr_Clear();
        return refuse_because(f, s, "INSTALL", why);
    }
    install(f, s, entry);
    f->f_stats.flow_entries++;
    for (size_t k = 0; k < unit->u_flow->w_functions.n; k++)
        f->f_recurses |= s == &f->f_call && !unit->u_flow->w_functions.at[k]->w_is_piece;
    jy_leaves_add_loops(f);
    return JY_OK;
}

static void
drop_units_before(struct jy_start *s, uint32_t offset)
{
    for (struct jy_entry **link = &s->s_entries, *entry = *link; entry != NULL; entry = *link) {
        const struct jy_unit *unit = jy_entry_unit(entry);
        if (!unit->u_stop.stops || unit->u_stop.offset != offset || !is_before_loop(unit)) {
            link = &entry->e_next;
            continue;
        }
        *link = entry->e_next;
        s->s_nentries--;
        jy_entry_release(entry);
    }
}

static bool
is_unrolled(const struct jy_function *f, uint32_t offset)
{
    for (size_t k = 0; k < f->f_nunrolled; k++)
        if (f->f_unrolled[k] == offset)
            return true;
    return false;
}

/* The loop there is no flow: units that end for its sake are made again, and walk through it. */
static void
unroll(struct jy_function *f, const struct jy_start *start)
{
    uint32_t *at = start == &f->f_call || is_unrolled(f, start->s_offset)
                       ? NULL
                       : realloc(f->f_unrolled, (f->f_nunrolled + 1) * sizeof *at);
    if (at == NULL)
        return;
    f->f_unrolled = at;
    at[f->f_nunrolled++] = start->s_offset;
    drop_units_before(&f->f_call, start->s_offset);
    f->f_call.s_off = false;
    for (struct jy_start *s = f->f_starts; s != NULL; s = s->s_next)
        drop_units_before(s, start->s_offset);
}

/* JY_BREAK: nothing here runs as a flow. */
static jy_status
try_flow(struct jy_function *f, struct jy_start *s, PyObject *const *slots, size_t nslots)
{
    struct jy_unit *unit = NULL;
    if (!may_flow(f, s))
        return JY_BREAK;
    jy_status status = trace(&unit, f, s, slots, nslots, jy_flow_trace);
    if (status == JY_OK && !(f->f_fullgraph && stops_somewhere(unit->u_flow))) {
        status = install_flow(f, s, unit, slots);
        s->s_no_flow |= status == JY_BREAK;
        return status;
    }
    if (status == JY_BREAK && wants(JY_LOG_perf_hints) && unit->u_break.detail != NULL) {
        struct jy_text text = { 0 };
        jy_text_add(&text, "no native loop from here (%s): %s (line %u)", unit->u_break.name, unit->u_break.detail,
                    unit->u_break.line);
        if (text.at != NULL)
            print(f, JY_LOG_perf_hints, text.at);
        jy_text_free(&text);
    }
    jy_unit_free(unit);
    s->s_no_flow = true;
    unroll(f, s);
    if (status != JY_ERROR)
        return JY_BREAK;
    if (!PyErr_ExceptionMatches(PyExc_MemoryError))
        return JY_ERROR;
    PyErr_Clear();
    return JY_BREAK;
}

static jy_status
compile_unit(struct jy_function *f, struct jy_start *s, PyObject *const *slots, size_t nslots)
{
    struct jy_unit *unit = NULL;
    struct jy_exec *exec = NULL;
    const char *why = NULL;

    jy_status status = try_flow(f, s, slots, nslots);
    if (status != JY_BREAK)
        return status;
    status = trace(&unit, f, s, slots, nslots, jy_trace);
    if (status == JY_BREAK) {
        if (f->f_fullgraph)
            status = jy_api_raise_full_graph(&unit->u_break);
        else
            status = unit->u_stop.stops ? pass(f, s, unit) : refuse(f, s, &unit->u_break);
        jy_unit_free(unit);
        return status;
    }
    if (status != JY_OK) {
        jy_unit_free(unit);
        if (status == JY_ERROR && !PyErr_ExceptionMatches(PyExc_MemoryError))
            return JY_ERROR;
        PyErr_Clear();
        return refuse_because(f, s, "NO_MEMORY", NULL);
    }
    if (unit->u_stop.stops) {
        if (f->f_fullgraph) {
            jy_api_raise_full_graph(&unit->u_break);
            jy_unit_free(unit);
            return JY_ERROR;
        }
        if (unit->u_break.name != NULL)
            report(f, &unit->u_break, "runs in CPython there; compiled code may take over again behind it");
        f->f_stats.graph_breaks += !is_before_loop(unit);
        add_leaves(f, unit);
    }
    if (wants(JY_LOG_guards))
        log_guards(f, unit);
    status = build_exec(&exec, &why, f, unit);
    if (status != JY_OK) {
        jy_status refused = status == JY_ERROR ? JY_ERROR : refuse_because(f, s, "BACKEND", why);
        jy_unit_free(unit);
        return refused;
    }
    struct jy_entry *entry = new_entry(&why, f, s, exec, slots);
    if (entry == NULL) {
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) /* a backend of the user's was interrupted */
            return JY_ERROR;
        PyErr_Clear();
        return refuse_because(f, s, "INSTALL", why);
    }
    install(f, s, entry);
    return JY_OK;
}

/* python -b: bytes that meet text warn, and what is known would meet while code is made, too. */
static bool
has_bytes_warnings(void)
{
    PyObject *flags = PySys_GetObject("flags"); /* borrowed */
    PyObject *flag = flags != NULL ? PyObject_GetAttrString(flags, "bytes_warning") : NULL;
    bool has = flag != NULL && PyObject_IsTrue(flag) == 1;
    PyErr_Clear();
    Py_XDECREF(flag);
    return has;
}

/* LLVM ends the process where there is no memory. Taste: what large functions take. */
#define BACKEND_BYTES ((size_t)32 << 20)

jy_status
jy_compile(struct jy_function *f, struct jy_start *s, PyObject *const *slots, size_t nslots)
{
    PyThreadState *thread = PyThreadState_Get();

    if (has_bytes_warnings())
        return refuse_because(f, s, "AMBIENT", "Python runs with -b");
    if (!jy_reserve_has_room(BACKEND_BYTES))
        return refuse_because(f, s, "NO_MEMORY", NULL);
    if (s->s_nentries >= (size_t)(f->f_limit >= 0 ? f->f_limit : jy_runtime->config.recompile_limit))
        return at_limit(f, s, slots);
    if (s->s_entries != NULL)
        learn_from_miss(f, s, slots);
    f->f_attempts++;
    f->f_busy = jy_runtime->compiling = true;
    jy_compat_enter_tracing(thread);
    jy_status status = compile_unit(f, s, slots, nslots);
    jy_compat_leave_tracing(thread);
    f->f_busy = jy_runtime->compiling = false;
    jy_original_settle(f);
    return status;
}
