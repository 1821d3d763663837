/* The loop of the symbolic interpreter: check an instruction, log it, dispatch it.
 *
 * Decides: when a trace has gone on for too long. Relies on: the opcode tables for what an instruction takes and leaves. Guarantees to handlers: operands
 * are there, results fit, indices are inside their tables; bytecode that no compiler made breaks here and nowhere else. */
#include "frontend/exception.h"
#include "frontend/ops.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/cpython/decode.h"
#include "frontend/cpython/original.h"

enum { DEFAULT_STEPS = 60000, DEFAULT_NODES = 6000, MAX_NESTING = 200 };

typedef jy_status handler(struct jy_frame *f, const struct jy_instr *instr);

struct row {
    handler *handle; /* NULL: breaks for `reason` */
    enum jy_break_reason reason;
};

static const struct row rows[256] = {
#define OPCODE(name, handler, argkind, caches, pops, pushes) [name] = { .handle = handler },
#define OPCODE_BREAKS(name, why, argkind, caches, pops, pushes) [name] = { .reason = JY_BREAK_##why },
#include "frontend/cpython/opcodes.def"
};

static jy_status
decode(struct jy_code **out, struct jy_frame *f, PyObject *code)
{
    struct jy_trace_state *t = f->f_trace;
    for (size_t i = 0; i < t->codes.n; i++) {
        if ((PyObject *)t->codes.at[i]->c_origin == code) {
            *out = t->codes.at[i];
            return JY_OK;
        }
    }
    const struct jy_original *original = t->request->original;
    if (original != NULL && original->o_object == code) {
        *out = original->o_code;
        return JY_OK;
    }
    jy_status status = jy_decode_code(out, jy_frame_arena(f), code);
    if (status == JY_BREAK)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "%s", (*out)->c_error);
    if (status == JY_OK)
        *jy_vec_push(jy_frame_arena(f), &t->codes) = *out;
    return status;
}

jy_status
jy_frame_new(struct jy_frame **out, struct jy_frame *back, struct jy_trace_state *trace, PyObject *function,
             PyObject *code, jy_src source)
{
    struct jy_arena *arena = trace->unit->u_arena;
    PyCodeObject *co = (PyCodeObject *)code;
    struct jy_frame *f = JY_NEW(arena, struct jy_frame);
    *out = f;
    jy_keep(trace->unit, code);
    f->f_trace = trace;
    f->f_back = back;
    f->f_function = function;
    f->f_code = code;
    f->f_pc = f->f_next = JY_NO_INSTR;
    f->f_function_source = source;
    if (function != NULL) {
        f->f_globals = ((PyFunctionObject *)function)->func_globals;
        f->f_builtins = ((PyFunctionObject *)function)->func_builtins;
    } else {
        f->f_globals = back->f_globals;
        f->f_builtins = back->f_builtins;
    }
    f->f_nlocals = (size_t)co->co_nlocalsplus;
    f->f_locals = JY_NEW_ARRAY(arena, struct jy_value *, f->f_nlocals + 1);
    f->f_stacksize = (size_t)co->co_stacksize + 1; /* one for the placeholder that an exhausted FOR_ITER leaves */
    f->f_stack = JY_NEW_ARRAY(arena, struct jy_value *, f->f_stacksize);
    struct jy_code *decoded = NULL;
    TRY(decode(&decoded, f, code));
    f->f_instrs = decoded;
    f->f_next = jy_code_begin(decoded);
    return JY_OK;
}

/* ---- checks ---- */

static bool
fits(const struct jy_frame *f, const struct jy_instr *instr)
{
    int op = instr->i_op, arg = instr->i_arg;
    size_t pops = (size_t)jy_instr_pops(op, arg);
    int straight = jy_instr_pushes(op, arg, false), jumping = jy_instr_pushes(op, arg, true);
    size_t pushes = (size_t)(straight > jumping ? straight : jumping);
    return pops <= f->f_depth && f->f_depth - pops + pushes <= f->f_stacksize;
}

static bool
is_inside(const struct jy_frame *f, const struct jy_instr *instr)
{
    const PyCodeObject *co = (PyCodeObject *)f->f_code;
    size_t arg = (size_t)instr->i_arg;
    switch (jy_instr_argkind(instr->i_op)) {
    case JY_ARG_CONST:
        return arg < (size_t)PyTuple_GET_SIZE(co->co_consts);
    case JY_ARG_NAME:
    case JY_ARG_NAME1:
    case JY_ARG_NAME2:
        return jy_instr_name_index(instr) < PyTuple_GET_SIZE(co->co_names);
    case JY_ARG_LOCAL:
    case JY_ARG_DEREF:
        return arg < f->f_nlocals;
    case JY_ARG_LOCAL2:
        return (arg >> 4) < f->f_nlocals && (arg & 15) < f->f_nlocals;
    case JY_ARG_NONE:
    case JY_ARG_JUMP_FWD:
    case JY_ARG_JUMP_BACK:
    case JY_ARG_COMPARE:
    case JY_ARG_BINOP:
    case JY_ARG_COUNT:
    case JY_ARG_RAW:
    case JY_ARG_INTERNAL:
        break;
    }
    return true;
}

/* Breaks when a trace of so many instructions is too long, or its graph. */
static jy_status
check_budget(struct jy_frame *f, uint32_t steps)
{
    struct jy_trace_state *t = f->f_trace;
    uint32_t max_steps = t->request->max_steps != 0 ? t->request->max_steps : DEFAULT_STEPS;
    uint32_t max_nodes = t->request->max_nodes != 0 ? t->request->max_nodes : DEFAULT_NODES;
    if (steps > max_steps)
        return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "more than %u instructions", max_steps);
    if (t->graph->g_nodes.n > max_nodes)
        return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "more than %u operations", max_nodes);
    return JY_OK;
}

jy_status
jy_enter(struct jy_frame *f)
{
    if (++f->f_trace->nesting > MAX_NESTING)
        return jy_break(f, JY_BREAK_TOO_DEEP, "a structure of more than %d levels", MAX_NESTING);
    return JY_OK;
}

/* ---- the loop ---- */

enum { SEEN_PAGE = 128 }; /* instructions */

uint32_t *
jy_first_seen(struct jy_frame *root, int id)
{
    struct jy_trace_state *t = root->f_trace;
    if (t->first_seen == NULL)
        t->first_seen = JY_NEW_ARRAY(jy_frame_arena(root), uint32_t *, root->f_instrs->c_instrs.n / SEEN_PAGE + 1);
    uint32_t **page = &t->first_seen[id / SEEN_PAGE];
    if (*page == NULL)
        *page = JY_NEW_ARRAY(jy_frame_arena(root), uint32_t, SEEN_PAGE);
    return &(*page)[id % SEEN_PAGE];
}

/* The root frame's books: where a unit may end. */
static void
count_root_step(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_trace_state *t = f->f_trace;
    int previous = t->root_steps == 0 ? JY_NO_INSTR : f->f_previous;
    bool glued = previous != JY_NO_INSTR && jy_instr_is_prefix(jy_code_at(f->f_instrs, previous)->i_op);
    if (t->groups.n == 0)
        *jy_vec_push(jy_frame_arena(f), &t->groups) = 0;
    t->root_steps++;
    t->step_nodes = t->graph->g_nodes.n;
    *jy_vec_push(jy_frame_arena(f), &t->groups) = glued ? t->groups.at[t->root_steps - 1] : t->root_steps;
    if (instr->i_op == RESUME && t->begun == 0)
        t->begun = t->root_steps;
    uint32_t *seen = jy_first_seen(f, f->f_pc);
    if (*seen == 0)
        *seen = t->root_steps;
    else if (previous != JY_NO_INSTR && jy_code_at(f->f_instrs, previous)->i_offset >= instr->i_offset)
        t->loop = f->f_pc;
    f->f_previous = f->f_pc;
    if (glued && t->root_steps == t->stop_at) /* a forced stop knows nothing of groups */
        t->stop_at++;
    if (t->stop_at == 0 && check_budget(f, t->steps + 1) == JY_BREAK)
        jy_trace_end_here(f);
    t->stopped = t->root_steps == t->stop_at || (f->f_pc == t->start && t->root_steps > 1);
}

/* ---- loops that are compiled by themselves ---- */

enum { SHORT_LOOP = 8 }; /* taste: trips that are walked through */

/* Where loops of the root frame's code begin. */
static const struct jy_loop_heads *
loop_heads(struct jy_frame *f)
{
    struct jy_trace_state *t = f->f_trace;
    struct jy_original *original = t->request->original;
    if (t->loop_heads == NULL && original != NULL && original->o_code == f->f_instrs)
        t->loop_heads = jy_original_heads(original);
    if (t->loop_heads == NULL)
        t->loop_heads = jy_loop_heads_new(jy_frame_arena(f), f->f_instrs);
    return t->loop_heads;
}

static bool
is_attribute_of_shape(const struct jy_code *code, const struct jy_instr *instr)
{
    static const char *const names[] = { "shape", "size", "ndim" };
    const char *name = jy_utf8(jy_code_name(code, jy_instr_name_index(instr)));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(name, names[k]) == 0)
            return true;
    return false;
}

/* What is pushed at `id`, `depth` items from the top then, is an array: does its consumer only look at elements or the shape? */
static bool
is_used_by_element(const struct jy_code *code, int id, size_t depth)
{
    const struct jy_instr *before =
        jy_code_at(code, id)->i_prev == JY_NO_INSTR ? NULL : jy_code_at(code, jy_code_at(code, id)->i_prev);
    bool of_len = before != NULL && before->i_op == LOAD_GLOBAL &&
                  strcmp(jy_utf8(jy_code_name(code, jy_instr_name_index(before))), "len") == 0;
    while ((id = jy_code_next(code, id)) != JY_NO_INSTR) {
        const struct jy_instr *instr = jy_code_at(code, id);
        size_t pops = (size_t)jy_instr_pops(instr->i_op, instr->i_arg);
        if (instr->i_op == COPY || instr->i_op == SWAP) { /* of x[i] += y */
            size_t other = (size_t)instr->i_arg;
            depth = instr->i_op == COPY ? depth + 1 : depth == other ? 1 : depth == 1 ? other : depth;
            continue;
        }
        if (pops >= depth)
            return (depth == 2 && (instr->i_op == BINARY_SUBSCR || instr->i_op == STORE_SUBSCR)) ||
                   (depth == 1 && instr->i_op == LOAD_ATTR && is_attribute_of_shape(code, instr)) ||
                   (of_len && jy_instr_call_items(instr) != 0);
        if (jy_instr_is_jump(instr->i_op))
            return false;
        depth += (size_t)jy_instr_pushes(instr->i_op, instr->i_arg, false) - pops;
    }
    return false;
}

static bool
is_array(const struct jy_frame *f, int slot)
{
    const struct jy_value *v = f->f_locals[slot];
    if (v == NULL)
        return false;
    if (v->v_kind == JY_V_LAZY)
        return (PyObject *)Py_TYPE(v->v_object) == f->f_trace->ndarray;
    return v->v_kind == JY_V_ARRAY && v->u.array.ndim != 0;
}

/* Does the loop compute with whole arrays? Then it is better walked through. */
static bool
works_on_arrays(const struct jy_frame *f, int head)
{
    const struct jy_code *code = f->f_instrs;
    int last = head;
    for (int id = head; id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        const struct jy_instr *instr = jy_code_at(code, id);
        if (jy_instr_is_jump(instr->i_op) && jy_code_live(code, instr->i_target) == head)
            last = id;
    }
    for (int id = head; id != JY_NO_INSTR && id != last; id = jy_code_next(code, id)) {
        struct jy_instr parts[2] = { *jy_code_at(code, id) };
        size_t n = jy_instr_split(jy_code_at(code, id), parts) ? 2 : 1;
        for (size_t k = 0; k < n; k++)
            if (jy_instr_argkind(parts[k].i_op) == JY_ARG_LOCAL && jy_instr_pushes(parts[k].i_op, 0, false) == 1 &&
                jy_instr_pops(parts[k].i_op, 0) == 0 && is_array(f, parts[k].i_arg) &&
                !is_used_by_element(code, id, n - k))
                return true;
    }
    return false;
}

static bool
is_known_int(const struct jy_value *v, int64_t *out)
{
    if (v->v_kind != JY_V_CONST || !PyLong_CheckExact(v->v_object))
        return false;
    int overflow;
    *out = PyLong_AsLongLongAndOverflow(v->v_object, &overflow);
    return overflow == 0;
}

static bool
is_number(const struct jy_value *v)
{
    PyObject *o = v->v_object;
    return v->v_kind == JY_V_SCALAR || (o != NULL && (PyLong_Check(o) || PyFloat_Check(o)));
}

/* Over numbers that come one by one, more than a few of them. */
static bool
is_long_loop(const struct jy_frame *f, const struct jy_value *it)
{
    if (it->v_kind != JY_V_ITER || it->u.iter.how != JY_ITER_SEQUENCE)
        return false;
    const struct jy_value *sequence = it->u.iter.sequence;
    int64_t start, stop, step;
    if (sequence->v_kind == JY_V_LIST || sequence->v_kind == JY_V_TUPLE)
        return sequence->v_source != JY_NO_SOURCE && sequence->u.seq.n > SHORT_LOOP && is_number(sequence->u.seq.at[0]);
    if (sequence->v_kind == JY_V_ARRAY)
        return sequence->u.array.ndim == 1 &&
               jy_sizes_hint(&f->f_trace->graph->g_sizes, sequence->u.array.shape[0]) > SHORT_LOOP;
    if (sequence->v_kind != JY_V_RANGE)
        return false;
    if (!is_known_int(sequence->u.range.start, &start) || !is_known_int(sequence->u.range.stop, &stop) ||
        !is_known_int(sequence->u.range.step, &step) || step == 0)
        return true;
    double trips = ((double)stop - (double)start) / (double)step;
    return trips > SHORT_LOOP;
}

static bool
is_native_loop(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_trace_state *t = f->f_trace;
    bool may_leave = t->begun != 0 || t->unit->u_start != 0;
    if (!t->native_loops || f->f_back != NULL || f->f_pc == t->start || !may_leave ||
        !(loop_heads(f)->kinds[f->f_pc] & JY_HEAD_OUTSIDE) || *jy_first_seen(f, f->f_pc) != t->root_steps)
        return false;
    for (size_t k = 0; k < t->request->nunrolled; k++)
        if (t->request->unrolled[k] == (uint32_t)instr->i_offset)
            return false;
    return (instr->i_op != FOR_ITER || is_long_loop(f, *jy_peek(f, 1))) && !works_on_arrays(f, f->f_pc);
}

/* A loop that is walked through, for reports. */
static void
note_round(const struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_unit *unit = f->f_trace->unit;
    const PyCodeObject *code = (PyCodeObject *)f->f_code;
    if (f->f_next == JY_NO_INSTR || f->f_next != jy_code_live(f->f_instrs, instr->i_target) ||
        jy_code_at(f->f_instrs, f->f_next)->i_offset > instr->i_offset)
        return;
    struct jy_unrolled like = { .function = jy_utf8(code->co_name),
                                .first_line = (uint32_t)code->co_firstlineno,
                                .offset = (uint32_t)jy_code_at(f->f_instrs, f->f_next)->i_offset,
                                .rounds = 1 };
    for (size_t k = 0; k < unit->u_unrolled.n; k++) {
        struct jy_unrolled *u = &unit->u_unrolled.at[k];
        if (u->offset == like.offset && u->first_line == like.first_line && strcmp(u->function, like.function) == 0) {
            u->rounds++;
            return;
        }
    }
    like.file = jy_frame_file(f);
    like.function = jy_arena_strdup(unit->u_arena, like.function);
    *jy_vec_push(unit->u_arena, &unit->u_unrolled) = like;
}

static jy_status
step(struct jy_frame *f)
{
    f->f_pc = f->f_next;
    if (f->f_pc == JY_NO_INSTR)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "the code ends without a return");
    const struct jy_instr *instr = jy_code_at(f->f_instrs, f->f_pc);
    if (f->f_back == NULL)
        count_root_step(f, instr);
    if (f->f_trace->stopped)
        return JY_OK;
    f->f_next = jy_code_next(f->f_instrs, f->f_pc);
    f->f_trace->graph->g_line = jy_frame_line(f);
    if (f->f_trace->request->log != NULL)
        jy_log_instr(f, instr);
    TRY(check_budget(f, ++f->f_trace->steps));
    if (!fits(f, instr) || !is_inside(f, instr))
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "%s out of bounds", jy_instr_opname(instr->i_op));
    if (is_native_loop(f, instr))
        return jy_break(f, JY_BREAK_NATIVE_LOOP, "%s", jy_instr_opname(instr->i_op));
    const struct row *row = &rows[instr->i_op];
    if (row->handle == NULL)
        return jy_break(f, row->reason, "%s", jy_instr_opname(instr->i_op));
    jy_status status = row->handle(f, instr);
    assert((status == JY_ERROR) == (PyErr_Occurred() != NULL));
    if (status == JY_OK && jy_instr_is_jump(instr->i_op))
        note_round(f, instr);
    return status;
}

jy_status
jy_interp_run(struct jy_frame *f)
{
    struct jy_graph *g = f->f_trace->graph;
    const char *file = g->g_file;
    uint32_t line = g->g_line;
    uint32_t depth = f->f_trace->depth, nesting = f->f_trace->nesting;
    jy_status status = JY_OK;
    g->g_file = jy_frame_file(f);
    f->f_return = f->f_yield = NULL;
    f->f_running = true;
    while (status == JY_OK && f->f_return == NULL && f->f_yield == NULL && !f->f_trace->stopped) {
        status = step(f);
        if (status == JY_BREAK && f->f_trace->raised != NULL)
            status = jy_exception_unwind(f, depth, nesting);
    }
    f->f_running = false;
    if (f->f_back != NULL) { /* what the root frame's result still needs belongs to its return */
        g->g_file = file;
        g->g_line = line;
    }
    return status;
}
