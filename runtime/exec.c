/* From a unit to something that can be called: passes, lowering, machine code, and the tables that a call walks over
 * (exec_run.c).
 *
 * Everything lives in the unit's arena. The order of the stages is the order of jy_exec_new. */
#include "runtime/exec.h"
#include "frontend/frontend.h"
#include "graph/pass.h"
#include "runtime/alloc.h"
#include "runtime/backend.h"
#include "runtime/blas.h"
#include "runtime/exec_internal.h"
#include "runtime/fpstatus.h"
#include "runtime/loops.h"
#include "runtime/numpy_api.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double
now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int
jy_exec_init(void)
{
    if (jy_alloc_init() < 0 || jy_errstate_init() < 0 || jy_loops_init() < 0)
        return -1;
    PyObject *numpy = PyImport_ImportModule("numpy"), *umath = PyImport_ImportModule("numpy._core._multiarray_umath");
    PyObject *version = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, "__version__");
    PyObject *file = umath == NULL ? NULL : PyObject_GetAttrString(umath, "__file__");
    int minor = 0;
    const char *text = version == NULL ? NULL : PyUnicode_AsUTF8(version),
               *path = file == NULL ? NULL : PyUnicode_AsUTF8(file);
    if (text != NULL && sscanf(text, "2.%d", &minor) != 1)
        path = NULL; /* another NumPy: its choice of BLAS calls is unknown */
    PyErr_Clear();
    jy_blas_init(path, minor);
    Py_XDECREF(file);
    Py_XDECREF(version);
    Py_XDECREF(umath);
    Py_XDECREF(numpy);
    return 0;
}

void
jy_exec_describe(const char **blas, const char **sum_rule)
{
    *blas = jy_blas_describe();
    *sum_rule = jy_loops_sums_in_pieces() ? "pieces of 8192" : "one tree";
}

/* -- tables -------------------------------------------------------------------------------------------------------- */

static struct jy_extent
make_extent(const struct jy_exec *exec, jy_sx sx)
{
    const struct jy_sizes *sizes = &exec->plan->p_graph->g_sizes;
    const struct jy_sx_node *e = &sizes->exprs.at[sx];
    if (e->op == JY_SX_CONST)
        return (struct jy_extent){ .kind = JY_EXTENT_CONST, .value = e->k, .sx = sx };
    if (e->op == JY_SX_SYM) {
        const struct jy_symbol *symbol = &sizes->symbols.at[e->k];
        if (symbol->axis < 0)
            return (struct jy_extent){ .kind = JY_EXTENT_PYINT, .input = symbol->placeholder, .sx = sx };
        return (struct jy_extent){
            .kind = JY_EXTENT_AXIS, .input = symbol->placeholder, .axis = (uint8_t)symbol->axis, .sx = sx
        };
    }
    return (struct jy_extent){ .kind = JY_EXTENT_EXPR, .sx = sx };
}

/* Room for every size slot and every extent and start that a buffer can name. */
static size_t
most_extents(const struct jy_plan *plan)
{
    return plan->p_sizes.n + plan->p_buffers.n * JY_MAX_NDIM * 2 + 1;
}

static uint32_t
extent_of(struct jy_exec *exec, jy_sx sx)
{
    for (uint32_t i = 0; i < exec->nextents; i++)
        if (exec->extents[i].sx == sx)
            return i;
    exec->extents[exec->nextents] = make_extent(exec, sx);
    return exec->nextents++;
}

static void
add_extents(struct jy_exec *exec)
{
    const struct jy_plan *plan = exec->plan;
    exec->extents = JY_NEW_ARRAY(exec->unit->u_arena, struct jy_extent, most_extents(plan));
    for (size_t i = 0; i < plan->p_sizes.n; i++)
        exec->extents[exec->nextents++] = make_extent(exec, plan->p_sizes.at[i]);
    exec->buffer_extents = JY_NEW_ARRAY(exec->unit->u_arena, uint32_t, plan->p_buffers.n *JY_MAX_NDIM + 1);
    for (size_t i = 0; i < plan->p_buffers.n; i++)
        if (plan->p_buffers.at[i].b_kind != JY_BUFFER_TILE)
            for (size_t d = 0; d < plan->p_buffers.at[i].b_ndim; d++)
                exec->buffer_extents[i * JY_MAX_NDIM + d] = extent_of(exec, plan->p_buffers.at[i].b_shape[d]);
}

static void
add_inputs(struct jy_exec *exec)
{
    const struct jy_plan *plan = exec->plan;
    exec->ninputs = (uint32_t)plan->p_inputs.n;
    exec->inputs = JY_NEW_ARRAY(exec->unit->u_arena, struct jy_exec_input, plan->p_inputs.n + 1);
    for (size_t i = 0; i < plan->p_inputs.n; i++) {
        struct jy_place place = plan->p_inputs.at[i];
        struct jy_exec_input *in = &exec->inputs[i];
        *in = (struct jy_exec_input){ .scalar = place.scalar, .index = place.index, .kind = JY_KIND_ARRAY };
        if (place.scalar) {
            in->kind = plan->p_scalars.at[place.index].kind;
            in->dtype = plan->p_scalars.at[place.index].dtype;
        } else {
            in->dtype = plan->p_buffers.at[place.index].b_dtype;
            in->ndim = plan->p_buffers.at[place.index].b_ndim;
        }
    }
}

static void
add_block(struct jy_exec *exec, struct jy_exec_block *out, uint32_t buffer)
{
    const struct jy_buffer *b = &exec->plan->p_buffers.at[buffer];
    *out = (struct jy_exec_block){ .buffer = buffer,
                                   .ndim = b->b_ndim,
                                   .dtype = b->b_dtype,
                                   .itemsize = jy_dtype_info[b->b_dtype].bytes,
                                   .c_order = true };
    for (size_t d = 0; d < b->b_ndim; d++) {
        out->order[d] = b->b_order == NULL ? (uint8_t)d : b->b_order[d];
        out->c_order &= out->order[d] == d;
        out->extent[d] = exec->buffer_extents[buffer * JY_MAX_NDIM + d];
    }
}

/* Base before view; NULL, or what is wrong. */
static const char *
add_view(struct jy_exec *exec, uint32_t buffer)
{
    const struct jy_buffer *b = &exec->plan->p_buffers.at[buffer];
    struct jy_exec_view *v = &exec->views[exec->nviews];
    if (b->b_index >= buffer)
        return "a view stands before its base";
    *v = (struct jy_exec_view){ .buffer = buffer,
                                .base = b->b_index,
                                .root = b->b_index,
                                .ndim = b->b_ndim,
                                .dtype = b->b_dtype,
                                .itemsize = jy_dtype_info[b->b_dtype].bytes,
                                .reshape = b->b_view == NULL };
    for (size_t i = 0; i < exec->nviews; i++)
        if (exec->views[i].buffer == v->base)
            v->root = exec->views[i].root;
    v->late = exec->plan->p_buffers.at[v->root].b_kind == JY_BUFFER_OBJECT;
    exec->has_late_views |= v->late;
    for (size_t d = 0; d < b->b_ndim; d++) {
        v->extent[d] = exec->buffer_extents[buffer * JY_MAX_NDIM + d];
        if (b->b_view != NULL) {
            v->axis[d] = b->b_view->axis[d];
            v->step[d] = b->b_view->step[d];
        }
    }
    if (b->b_view != NULL) {
        v->source_ndim = b->b_view->source_ndim;
        for (size_t a = 0; a < v->source_ndim; a++)
            v->start[a] = extent_of(exec, b->b_view->start[a]);
    }
    exec->nviews++;
    return NULL;
}

static const char *
add_buffers(struct jy_exec *exec)
{
    const struct jy_plan *plan = exec->plan;
    struct jy_arena *arena = exec->unit->u_arena;
    exec->fresh = JY_NEW_ARRAY(arena, struct jy_exec_block, plan->p_buffers.n + 1);
    exec->temps = JY_NEW_ARRAY(arena, struct jy_exec_block, plan->p_buffers.n + 1);
    exec->views = JY_NEW_ARRAY(arena, struct jy_exec_view, plan->p_buffers.n + 1);
    const char *wrong = NULL;
    for (uint32_t i = 0; wrong == NULL && i < plan->p_buffers.n; i++)
        switch ((enum jy_buffer_kind)plan->p_buffers.at[i].b_kind) {
        case JY_BUFFER_OUTPUT:
            add_block(exec, &exec->fresh[exec->nfresh++], i);
            break;
        case JY_BUFFER_TEMP:
            add_block(exec, &exec->temps[exec->ntemps++], i);
            break;
        case JY_BUFFER_VIEW:
            wrong = add_view(exec, i);
            break;
        case JY_BUFFER_INPUT:
        case JY_BUFFER_TILE:
        case JY_BUFFER_OBJECT:
            break;
        }
    return wrong;
}

/* Runs whose pieces show before NumPy 2.3: sums, and loops used as reductions. */
static bool
has_pieces(const struct jy_plan *plan)
{
    for (size_t k = 0; k < plan->p_kernels.n; k++)
        for (size_t i = 0; i < plan->p_kernels.at[k].k_stmts.n; i++) {
            const struct jy_lstmt *stmt = &plan->p_kernels.at[k].k_stmts.at[i];
            if (stmt->l_kind == JY_L_UFOLD || (stmt->l_kind == JY_L_FOLD && stmt->l_order == JY_FOLD_PAIRWISE))
                return true;
        }
    return false;
}

/* What raises whatever errstate says: a division of Python floats, and a NumPy float that becomes an element of an integer array. */
static uint32_t
always_reported(const struct jy_graph *g)
{
    uint32_t kinds = 0;
    for (jy_ref r = 0; r < g->g_nodes.n; r++) {
        const struct jy_node *node = jy_graph_at(g, r);
        bool divides = node->n_op == JY_OP_DIV || node->n_op == JY_OP_FLOOR_DIVIDE || node->n_op == JY_OP_REMAINDER;
        if (divides && node->n_kind == JY_KIND_PYFLOAT)
            kinds |= JY_FP_DIVIDE | JY_FP_INVALID;
        if (jy_op_info[node->n_op].klass == JY_CLASS_CAST && node->n_kind == JY_KIND_NPSCALAR &&
            jy_dtype_is_float((jy_dtype)jy_graph_at(g, node->n_args[0])->n_dtype) &&
            !jy_dtype_is_float((jy_dtype)node->n_dtype))
            kinds |= JY_FP_INVALID;
    }
    return kinds;
}

static void
add_facts(struct jy_exec *exec)
{
    const struct jy_plan *plan = exec->plan;
    exec->noutputs = (uint32_t)plan->p_outputs.n;
    exec->always_reported = always_reported(exec->unit->u_graph) | exec->unit->u_errs_reported;
    exec->never_reported = exec->unit->u_errs_ignored;
    exec->only_kernels = true;
    for (size_t i = 0; i < plan->p_steps.n; i++)
        exec->only_kernels &= plan->p_steps.at[i].s_kind == JY_STEP_KERNEL;
    exec->may_fail = plan->p_may_flag || !exec->only_kernels;
    exec->x87 = plan->p_loops.n != 0 || exec->options.executor != JY_EXEC_LLVM;
    exec->sum_chunk = INT64_MAX;
    exec->reads_bufsize = jy_loops_sums_in_pieces() && has_pieces(plan);
    exec->tile_bytes = (plan->p_tile_bytes + 63) & ~(size_t)63;
    for (size_t i = 0; i < exec->nextents; i++)
        exec->has_exprs |= exec->extents[i].kind == JY_EXTENT_EXPR;
    exec->nsymbols = (uint32_t)plan->p_graph->g_sizes.symbols.n;
    exec->frame_bytes = plan->p_buffers.n * (sizeof(struct jy_desc) + sizeof(PyObject *)) +
                        (exec->nextents + plan->p_scalars.n + 1) * 8;
}

static const char *
add_loops(struct jy_exec *exec)
{
    const struct jy_plan *plan = exec->plan;
    exec->loops = JY_NEW_ARRAY(exec->unit->u_arena, struct jy_loop_fn, plan->p_loops.n + 1);
    for (size_t i = 0; i < plan->p_loops.n; i++) {
        const struct jy_plan_loop *loop = &plan->p_loops.at[i];
        jy_dtype dtypes[4];
        for (size_t k = 0; k < 4; k++)
            dtypes[k] = (jy_dtype)loop->dtypes[k];
        exec->loops[i] = jy_loops_find((jy_op)loop->op, loop->nin, dtypes);
        if (exec->loops[i].fn == NULL)
            return jy_arena_printf(exec->unit->u_arena, "NumPy has no inner loop for %s of %s",
                                   jy_op_info[loop->op].text, jy_dtype_info[loop->dtypes[0]].text);
    }
    return NULL;
}

/* -- stages -------------------------------------------------------------------------------------------------------- */

static void
log_text(const struct jy_exec *exec, const char *channel, const char *text)
{
    if (exec->options.log != NULL && text != NULL)
        exec->options.log(exec->options.context, channel, text);
}

static void
log_graph(const struct jy_exec *exec)
{
    if (exec->options.log == NULL)
        return;
    struct jy_text table = { 0 }, code = { 0 };
    jy_graph_print_table(&table, exec->unit->u_graph);
    jy_graph_print_code(&code, exec->unit->u_graph);
    log_text(exec, "graph", table.at);
    log_text(exec, "graph_code", code.at);
    jy_text_free(&table);
    jy_text_free(&code);
}

static void
log_plan(const struct jy_exec *exec)
{
    if (exec->options.log == NULL)
        return;
    struct jy_text text = { 0 };
    jy_plan_print_lines(&text, exec->plan);
    log_text(exec, "loop", text.at);
    log_text(exec, "fusion", exec->plan->p_notes.at);
    jy_text_free(&text);
}

static const struct jy_backend *
find_backend(const char **why, const struct jy_exec *exec)
{
    return jy_backend_get(exec->options.backend_path, why);
}

static jy_status
place_code(struct jy_exec *exec, const struct jy_object *object, const char **why)
{
    double start = now_ms();
    TRY(jy_loader_place(&exec->code, object->bytes, object->size, why));
    exec->kernels = JY_NEW_ARRAY(exec->unit->u_arena, jy_kernel_fn, exec->plan->p_kernels.n + 1);
    for (size_t k = 0; k < exec->plan->p_kernels.n; k++) {
        char name[32];
        snprintf(name, sizeof name, "jy_kernel_%zu", k);
        union {
            void *object;
            jy_kernel_fn function;
        } u = { jy_loader_symbol(exec->code, name) };
        if (u.object == NULL) {
            *why = "a kernel is missing from the object code";
            return JY_BREAK;
        }
        exec->kernels[k] = u.function;
    }
    exec->times.load_ms = now_ms() - start;
    return JY_OK;
}

static jy_status
compile_kernels(struct jy_exec *exec, const char **why)
{
    if (exec->plan->p_kernels.n == 0) {
        exec->kernels = JY_NEW_ARRAY(exec->unit->u_arena, jy_kernel_fn, 1);
        return JY_OK;
    }
    const struct jy_backend *backend = find_backend(why, exec);
    if (backend == NULL)
        return JY_BREAK;
    struct jy_backend_options options = { .want_ir = exec->options.want_ir,
                                          .want_ir_opt = exec->options.want_ir_opt,
                                          .want_asm = exec->options.want_asm,
                                          .verify = exec->options.verify,
                                          .fastmath = exec->options.fastmath,
                                          .name = exec->options.name };
    struct jy_object object = { 0 };
    jy_status status = backend->compile(&object, exec->plan, &options);
    if (status == JY_OK) {
        exec->times.emit_ms = object.emit_ms;
        exec->times.codegen_ms = object.codegen_ms;
        log_text(exec, "ir", object.ir);
        log_text(exec, "ir_opt", object.ir_opt);
        log_text(exec, "asm", object.asm_text);
        status = place_code(exec, &object, why);
    } else {
        *why = object.error == NULL ? "the backend failed" : jy_arena_strdup(exec->unit->u_arena, object.error);
    }
    backend->release(&object);
    return status;
}

static void
choose_way(struct jy_exec *exec)
{
    if (exec->options.compare)
        exec->run = jy_exec_run_compared;
    else if (exec->options.executor == JY_EXEC_NUMPY)
        exec->run = jy_eval_numpy;
    else if (exec->options.executor == JY_EXEC_GRAPH)
        exec->run = jy_eval_graph;
    else
        exec->run = jy_exec_is_flat(exec) ? jy_exec_run_flat : jy_exec_run_plan;
}

/* Runs under the arena's guard. */
static jy_status
build(struct jy_exec *exec, const char **why)
{
    struct jy_unit *unit = exec->unit;
    double start = now_ms();
    struct jy_pass_options passes = { .disabled = exec->options.disabled_passes, .verify = exec->options.verify };
    TRY(jy_passes_run(unit->u_graph, &passes, why));
    exec->times.passes_ms = now_ms() - start;
    log_graph(exec);
    start = now_ms();
    TRY(jy_lower(&exec->plan, why, unit->u_arena, unit->u_graph, jy_loops_have_vector));
    if (exec->options.verify && (*why = jy_plan_verify(exec->plan)) != NULL)
        return JY_BREAK;
    exec->times.lower_ms = now_ms() - start;
    log_plan(exec);
    add_extents(exec);
    add_inputs(exec);
    if ((*why = add_buffers(exec)) != NULL || (*why = add_loops(exec)) != NULL)
        return JY_BREAK;
    add_facts(exec);
    if (exec->options.executor == JY_EXEC_LLVM)
        TRY(compile_kernels(exec, why));
    choose_way(exec);
    return JY_OK;
}

static void
free_texts(struct jy_exec_texts *texts)
{
    free(texts->graph);
    free(texts->graph_table);
    free(texts->graph_code);
    free(texts->plan);
    free(texts->ir);
    free(texts->ir_opt);
    free(texts->asm_text);
}

jy_status
jy_exec_new(struct jy_exec **out, const char **why, struct jy_unit *unit, const struct jy_exec_options *options)
{
    struct jy_exec *exec = calloc(1, sizeof *exec);
    *why = NULL;
    if (exec == NULL)
        return JY_NOMEM;
    exec->unit = unit;
    exec->options = *options;
    jmp_buf *guard = jy_arena_guard(unit->u_arena), outer;
    memcpy(&outer, guard, sizeof outer);
    jy_status status = JY_NOMEM;
    if (setjmp(*guard) == 0) {
        exec->options.name = options->name == NULL ? NULL : jy_arena_strdup(unit->u_arena, options->name);
        exec->options.backend_path =
            options->backend_path == NULL ? NULL : jy_arena_strdup(unit->u_arena, options->backend_path);
        status = build(exec, why);
    }
    memcpy(guard, &outer, sizeof outer);
    exec->options.log = NULL; /* its context lives as long as the compilation */
    exec->options.context = NULL;
    if (status != JY_OK) {
        jy_loader_free(exec->code);
        free(exec);
        return status;
    }
    *out = exec;
    return JY_OK;
}

void
jy_exec_free(struct jy_exec *exec)
{
    if (exec == NULL)
        return;
    jy_loader_free(exec->code);
    free_texts(&exec->texts);
    jy_unit_free(exec->unit);
    free(exec);
}

/* -- calling and looking ------------------------------------------------------------------------------------------- */

enum jy_run
jy_exec_run(struct jy_exec *exec, PyObject *const *inputs, PyObject **outputs)
{
    exec->stats.calls++;
    enum jy_run run = exec->run(exec, inputs, outputs);
    exec->stats.reruns += run == JY_RUN_RERUN;
    return run;
}

const struct jy_unit *
jy_exec_unit(const struct jy_exec *exec)
{
    return exec->unit;
}

const struct jy_exec_times *
jy_exec_times(const struct jy_exec *exec)
{
    return &exec->times;
}

const struct jy_exec_stats *
jy_exec_stats(const struct jy_exec *exec)
{
    return &exec->stats;
}

void
jy_exec_set_globals(struct jy_exec *exec, PyObject *globals)
{
    exec->globals = globals;
}

static char *
copy_text(const char *text)
{
    return text == NULL ? NULL : strdup(text);
}

static void
compile_for_texts(struct jy_exec *exec)
{
    const char *why;
    const struct jy_backend *backend = exec->options.executor == JY_EXEC_LLVM ? find_backend(&why, exec) : NULL;
    if (backend == NULL || exec->plan->p_kernels.n == 0)
        return;
    struct jy_backend_options options = { .want_ir = true,
                                          .want_ir_opt = true,
                                          .want_asm = true,
                                          .fastmath = exec->options.fastmath,
                                          .name = exec->options.name };
    struct jy_object object = { 0 };
    if (backend->compile(&object, exec->plan, &options) == JY_OK) {
        exec->texts.ir = copy_text(object.ir);
        exec->texts.ir_opt = copy_text(object.ir_opt);
        exec->texts.asm_text = copy_text(object.asm_text);
    }
    backend->release(&object);
}

const struct jy_exec_texts *
jy_exec_texts(struct jy_exec *exec)
{
    if (exec->has_texts)
        return &exec->texts;
    exec->has_texts = true;
    struct jy_text text[4] = { { 0 } };
    jy_graph_print(&text[0], exec->unit->u_graph);
    jy_graph_print_table(&text[1], exec->unit->u_graph);
    jy_graph_print_code(&text[2], exec->unit->u_graph);
    jy_plan_print_lines(&text[3], exec->plan);
    exec->texts.graph = text[0].at;
    exec->texts.graph_table = text[1].at;
    exec->texts.graph_code = text[2].at;
    exec->texts.plan = text[3].at;
    compile_for_texts(exec);
    return &exec->texts;
}
