/* The program's own functions as native code of their own, which INVOKE calls: functions that call themselves.
 *
 * One per vector of kinds of its arguments; it is built beside the flow, by a build of its own. What it gives becomes known when the first way through it has come to a return; blocks with
 * calls whose result is not known wait until then and are begun again. A return of another kind ends the native code before it.
 *
 * Where the callee leaves, so does the caller, before its call: runtime/flow_chain.h. */
#include "frontend/cpython/compat.h"
#include "frontend/flow.h"

#include <string.h>

enum { MAX_FUNCTIONS = 12, MAX_ARGS = 48 }; /* taste; ORDER JY_FLOW_MOST_ARGS */

static bool
has_name(PyObject *names, PyObject *name)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0)
            return true;
    return false;
}

static bool
uses_name(PyCodeObject *code, PyObject *name)
{
    bool found = has_name(code->co_names, name);
    for (int i = code->co_nlocals; i < code->co_nlocalsplus && !found; i++)
        found = PyUnicode_Compare(jy_compat_local_name(code, i), name) == 0;
    return found && (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) == 0;
}

bool
jy_vcalls_itself(PyObject *function)
{
    PyCodeObject *code = (PyCodeObject *)((PyFunctionObject *)function)->func_code;
    return uses_name(code, code->co_name);
}

bool
jy_vmay_recurse(PyObject *function)
{
    const PyFunctionObject *f = (PyFunctionObject *)function;
    PyCodeObject *code = (PyCodeObject *)f->func_code;
    bool found = jy_vcalls_itself(function);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_names) && !found && PyDict_CheckExact(f->func_globals); i++) {
        PyObject *called = PyDict_GetItemWithError(f->func_globals, PyTuple_GET_ITEM(code->co_names, i));
        found = called != NULL && PyFunction_Check(called) &&
                uses_name((PyCodeObject *)((PyFunctionObject *)called)->func_code, code->co_name);
    }
    PyErr_Clear();
    return found;
}

/* ---- arguments ---- */

struct registers {
    jy_fv *at;
    uint8_t *types;
    size_t n;
};

/* False: too many, or a value that belongs to the caller's flow alone. */
static bool
collect(struct registers *out, const struct jy_val *v)
{
    if (v->kind == JY_K_ITER || v->kind == JY_K_MAYBE || v->kind == JY_K_NEWLIST ||
        (v->kind == JY_K_ARRAY && (v->array->is_view || v->nregs != 0)) || out->n + v->nregs > MAX_ARGS)
        return false;
    for (size_t i = 0; i < v->nregs; i++) {
        out->at[out->n] = v->regs[i];
        out->types[out->n++] = (uint8_t)jy_val_type(v, i);
    }
    for (size_t i = 0; i < v->nparts; i++)
        if (!collect(out, v->parts[i]))
            return false;
    return true;
}

static bool
collect_locals(struct registers *out, struct jy_vbuild *b, const struct jy_vframe *frame)
{
    out->at = JY_NEW_ARRAY(b->arena, jy_fv, MAX_ARGS);
    out->types = JY_NEW_ARRAY(b->arena, uint8_t, MAX_ARGS);
    out->n = 0;
    for (size_t i = 0; i < frame->nlocals; i++)
        if (!collect(out, frame->locals[i]))
            return false;
    return true;
}

bool
jy_vcan_invoke(struct jy_vbuild *b, const struct jy_vframe *callee)
{
    struct registers args;
    return b->root->functions.n < MAX_FUNCTIONS && collect_locals(&args, b, callee);
}

/* What is known by its register is not known as an object of the unit's. */
static struct jy_val *
without_input(struct jy_vbuild *b, struct jy_val *v)
{
    if (v->kind != JY_K_LIST || v->input == 0)
        return v;
    v = jy_arena_copy(b->arena, v, sizeof *v);
    v->input = 0;
    return v;
}

static void
forget_inputs(struct jy_vbuild *b, struct jy_vframe *frame)
{
    for (size_t i = 0; i < frame->nlocals; i++)
        frame->locals[i] = without_input(b, frame->locals[i]);
}

/* The value in the function's own flow. */
static jy_status
as_argument(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *v, uint32_t *next)
{
    if (v->kind == JY_K_ARRAY)
        return jy_vb_array(b, out, v->array->value);
    struct jy_val *copy = jy_arena_copy(b->arena, v, sizeof *v);
    copy->regs = JY_NEW_ARRAY(b->arena, jy_fv, v->nregs + 1);
    copy->parts = JY_NEW_ARRAY(b->arena, struct jy_val *, v->nparts + 1);
    for (size_t i = 0; i < v->nregs; i++) {
        struct jy_flow_input input = { .kind = JY_FLOW_IN_ARG,
                                       .type = (uint8_t)jy_val_type(v, i),
                                       .number = (*next)++ };
        copy->regs[i] = jy_flow_input(b->w, &input);
    }
    for (size_t i = 0; i < v->nparts; i++)
        TRY(as_argument(b, &copy->parts[i], v->parts[i], next));
    *out = copy;
    return JY_OK;
}

/* ---- functions ---- */

static bool
is_same_value(const struct jy_val *a, const struct jy_val *b)
{
    if (a->kind == JY_K_ARRAY && b->kind == JY_K_ARRAY)
        return a->array->value->u.array.storage == b->array->value->u.array.storage;
    return jy_val_same_kind(a, b);
}

static bool
fits(const struct jy_vfunction *fn, const struct jy_vframe *callee)
{
    bool same = fn->function == callee->f->f_function && fn->nlocals == callee->nlocals;
    for (size_t i = 0; same && i < fn->nlocals; i++)
        same = is_same_value(fn->locals[i], callee->locals[i]);
    return same;
}

static jy_status
begin_function(struct jy_vbuild *b, struct jy_vfunction **out, struct jy_vframe *callee, const struct registers *args)
{
    struct jy_vbuild *root = b->root;
    const PyCodeObject *code = (PyCodeObject *)callee->f->f_code;
    struct jy_vfunction *fn = JY_NEW(b->arena, struct jy_vfunction);
    fn->number = (uint32_t)root->functions.n;
    fn->function = callee->f->f_function;
    fn->source = callee->f->f_function_source;
    fn->locals = jy_arena_copy(b->arena, callee->locals, (callee->nlocals + 1) * sizeof *callee->locals);
    fn->nlocals = callee->nlocals;
    struct jy_flow *w = jy_flow_function(root->w, jy_utf8(code->co_name));
    w->w_nargs = args->n;
    w->w_args = args->types;
    w->w_frames = 1;
    w->w_function = fn->source == 0 ? 0 : jy_vb_input(b, fn->source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE) + 1;
    fn->b = jy_vb_new(root, w, b->t);
    fn->b->self = fn;
    fn->report = jy_vsource_function(b, b->frame, callee);
    *jy_vec_push(b->arena, &root->functions) = fn;
    struct jy_vframe *frame = jy_vb_copy(b, callee);
    uint32_t next = 0;
    frame->back = NULL;
    fn->b->frame = fn->b->snap = frame;
    for (size_t i = 0; i < frame->nlocals; i++)
        TRY(as_argument(fn->b, &frame->locals[i], callee->locals[i], &next));
    jy_vb_goto(fn->b, frame);
    *out = fn;
    return JY_OK;
}

static jy_status
find_function(struct jy_vbuild *b, struct jy_vfunction **out, struct registers *args, struct jy_vframe *callee)
{
    struct jy_vbuild *root = b->root;
    forget_inputs(b, callee);
    if (!collect_locals(args, b, callee))
        return jy_vb_lacks(b, "a recursion with such arguments");
    for (size_t i = 0; i < root->functions.n; i++)
        if (fits(root->functions.at[i], callee)) {
            *out = root->functions.at[i];
            if (callee->f->f_function_source != (*out)->source)
                jy_guard_same(b->frame->f, callee->f->f_function_source, (*out)->source);
            return JY_OK;
        }
    if (root->functions.n >= MAX_FUNCTIONS)
        return jy_vb_lacks(b, "a recursion with arguments of many types");
    return begin_function(b, out, callee, args);
}

static const PyObject *
code_of(const struct jy_vfunction *fn)
{
    return ((PyFunctionObject *)fn->function)->func_code;
}

/* Its value here. */
static struct jy_val *
result_of(struct jy_vbuild *b, const struct jy_vfunction *fn, jy_fv reg)
{
    if (fn->result->nregs == 0)
        return fn->result;
    struct jy_val *v = jy_arena_copy(b->arena, fn->result, sizeof *v);
    v->regs = JY_NEW_ARRAY(b->arena, jy_fv, 1);
    v->regs[0] = reg;
    return v;
}

jy_status
jy_vinvoke(struct jy_vbuild *b, struct jy_vframe *callee, struct jy_value *function, size_t items, size_t call_item)
{
    struct jy_vfunction *fn = NULL;
    struct registers args;
    (void)function;
    TRY(jy_vb_effect(b));
    TRY(find_function(b, &fn, &args, callee));
    b->root->recurses |= b->self != NULL && code_of(fn) == code_of(b->root->functions.at[0]);
    if (b->self != NULL && code_of(fn) == code_of(b->self))
        jy_flow_root(b->w)->w_reports.at[fn->report - 1].calls_itself = true;
    if (fn->result == NULL && b->root->is_last)
        return jy_vb_lacks(b, "a recursion that does not return");
    if (fn->result == NULL) {
        b->waits = true;
        return JY_BREAK;
    }
    for (size_t i = 0; i < callee->nlocals; i++)
        jy_vcheck_nan(b, callee->locals[i], JY_CHECK_STORED);
    jy_fv reg = jy_flow_invoke(b->w, b->block, fn->number, args.n, args.at, jy_vb_exit_call(b, call_item));
    return jy_vreplace(b, items, result_of(b, fn, reg));
}

jy_status
jy_vinvoke_own(struct jy_vbuild *b, struct jy_vframe *frame)
{
    struct jy_vfunction *fn = NULL;
    struct registers args;
    const PyCodeObject *code = (PyCodeObject *)frame->f->f_code;
    if (code->co_ncellvars != 0)
        return jy_break(frame->f, JY_BREAK_NO_LOOP, "a recursion with closures");
    jy_status status = find_function(b, &fn, &args, frame);
    if (status == JY_BREAK)
        return jy_break(frame->f, JY_BREAK_NO_LOOP, "%s", b->why != NULL ? b->why : "a recursion");
    b->own_args = args.at;
    b->nown_args = args.n;
    return status;
}

jy_status
jy_vinvoke_finish(struct jy_vbuild *b)
{
    struct jy_vfunction *fn = b->functions.at[0];
    if (fn->result == NULL || !b->recurses)
        return jy_break(b->snap->f, JY_BREAK_NO_LOOP, "%s",
                        fn->b->first_stop != NULL ? fn->b->first_stop : "no recursion");
    struct jy_flow_exit left = { .x_kind = JY_EXIT_CALL, .x_what = "a call that was left", .x_file = b->w->w_file };
    jy_fv reg = jy_flow_invoke(b->w, 0, 0, b->nown_args, b->own_args, jy_flow_exit_add(b->w, &left));
    b->block = 0;
    jy_flow_leave(b->w, 0, jy_vb_exit_return(b, result_of(b, fn, reg)));
    return JY_OK;
}

/* ---- results ---- */

jy_status
jy_vfunction_return(struct jy_vbuild *b, struct jy_val *v)
{
    struct jy_vfunction *fn = b->self;
    bool is_plain = jy_val_is_number(v) || v->kind == JY_K_KNOWN || v->kind == JY_K_LIST;
    bool is_other = fn->result != NULL && !jy_val_same_kind(fn->result, without_input(b, v));
    if ((!is_plain || is_other) && !jy_vcalls_itself(fn->function) && b->may_again) { /* inlined it may do that */
        *jy_vec_push(b->arena, &b->hints->inlined) = b->snap->f->f_code;
        b->again = true;
    }
    if (!is_plain)
        return jy_vb_lacks(b, "%s as the result of a recursion", jy_val_describe(b, v));
    v = without_input(b, v);
    if (fn->result == NULL) {
        fn->result = v;
        b->w->w_type = v->nregs != 0 ? (uint8_t)jy_val_type(v, 0) : JY_F_NONE;
        b->root->has_news = true;
    } else if (is_other) {
        return jy_vb_lacks(b, "a recursion that returns %s, too", jy_val_describe(b, v));
    }
    struct jy_flow_exit exit = { .x_kind = JY_EXIT_RETURN, .x_what = "return", .x_file = b->w->w_file };
    const struct jy_instr *instr = jy_code_at(b->snap->f->f_instrs, b->snap->pc);
    exit.x_offset = (uint32_t)instr->i_offset;
    exit.x_line = instr->i_position.line > 0 ? (uint32_t)instr->i_position.line : 0;
    if (v->nregs != 0)
        *jy_vec_push(b->arena, &exit.x_values) = v->regs[0];
    jy_flow_leave(b->w, b->block, jy_flow_exit_add(b->w, &exit));
    b->ended = true;
    return JY_OK;
}
