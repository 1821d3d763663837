/* The program's own functions, inlined. Where a callee does nothing that others see, an exit inside it is the exit before its call: the interpreter calls it again. Else, or where it has a
 * loop, it is *chained*: the exit has its frame, too, and the interpreter goes on in it (runtime/flow_chain.h). */
#include "frontend/cpython/compat.h"
#include "frontend/flow.h"

#include <string.h>

enum { MAX_DEPTH = 8, MAX_CODE = 400 }; /* taste: nesting; instructions of a callee */

static bool
is_recursive(const struct jy_vframe *frame, const PyObject *code)
{
    for (; frame != NULL; frame = frame->back)
        if (frame->f->f_code == code)
            return true;
    return false;
}

static size_t
depth_of(const struct jy_vframe *frame)
{
    size_t depth = 0;
    while (frame != NULL && frame->back != NULL) {
        frame = frame->back;
        depth++;
    }
    return depth;
}

static jy_status
check(struct jy_vbuild *b, const PyCodeObject *code, const char *text)
{
    if (depth_of(b->frame) >= MAX_DEPTH)
        return jy_vb_lacks(b, "calls that nest deeper than %d", MAX_DEPTH);
    if (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_VARARGS | CO_VARKEYWORDS))
        return jy_vb_lacks(b, "a call of %s, a generator or with star parameters", text);
    if (code->co_ncellvars != 0)
        return jy_vb_lacks(b, "a call of %s, which has closures", text);
    return JY_OK;
}

/* Locals of the callee from the arguments; those that stay NULL get their defaults. */
static jy_status
bind(struct jy_vbuild *b, struct jy_val **locals, const struct jy_frame *callee, const PyCodeObject *code, size_t nargs,
     struct jy_val *const *args, PyObject *kwnames)
{
    size_t nkw = kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0, npositional = nargs - nkw;
    size_t nparams = (size_t)code->co_argcount + (size_t)code->co_kwonlyargcount;
    if (npositional > (size_t)code->co_argcount)
        return jy_vb_lacks(b, "too many arguments");
    memcpy(locals, args, npositional * sizeof *args);
    for (size_t k = 0; k < nkw; k++) {
        size_t slot = (size_t)code->co_posonlyargcount;
        while (slot < nparams &&
               PyUnicode_Compare(jy_code_local_name(callee->f_instrs, (int)slot), PyTuple_GET_ITEM(kwnames, k)) != 0)
            slot++;
        if (slot == nparams || locals[slot] != NULL)
            return jy_vb_lacks(b, "a keyword argument that does not fit");
        locals[slot] = args[npositional + k];
    }
    return JY_OK;
}

static jy_status
bind_defaults(struct jy_vbuild *b, struct jy_val **locals, const struct jy_frame *callee, const PyCodeObject *code,
              struct jy_value *function)
{
    size_t nparams = (size_t)code->co_argcount + (size_t)code->co_kwonlyargcount;
    for (size_t i = 0; i < nparams; i++) {
        struct jy_value *value;
        if (locals[i] != NULL)
            continue;
        TRY(jy_callee_default(b->frame->f, &value, function, i, jy_code_local_name(callee->f_instrs, (int)i)));
        TRY(jy_vb_import(b, &locals[i], value));
    }
    return JY_OK;
}

jy_status
jy_vcallee_frame(struct jy_vbuild *b, struct jy_vframe **out, struct jy_value *function, size_t nargs,
                 struct jy_val *const *args, PyObject *kwnames)
{
    struct jy_frame *callee;
    PyObject *code = ((PyFunctionObject *)function->v_object)->func_code;
    const PyCodeObject *co = (PyCodeObject *)code;
    TRY(jy_frame_new(&callee, b->frame->f, b->t, function->v_object, code, function->v_source));
    struct jy_vframe *frame = JY_NEW(b->arena, struct jy_vframe);
    frame->f = callee;
    frame->pc = callee->f_next;
    frame->nlocals = callee->f_nlocals;
    frame->locals = JY_NEW_ARRAY(b->arena, struct jy_val *, frame->nlocals + 1);
    frame->stack = JY_NEW_ARRAY(b->arena, struct jy_val *, callee->f_stacksize + 2);
    TRY(bind(b, frame->locals, callee, co, nargs, args, kwnames));
    TRY(bind_defaults(b, frame->locals, callee, co, function));
    struct jy_val *unbound = jy_val_new(b, JY_K_UNBOUND, 0);
    for (size_t i = 0; i < frame->nlocals; i++)
        if (frame->locals[i] == NULL)
            frame->locals[i] = unbound;
    *out = frame;
    return JY_OK;
}

static bool
has_loop(const struct jy_code *code)
{
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        const struct jy_instr *instr = jy_code_at(code, id);
        if (jy_instr_is_jump(instr->i_op) &&
            jy_code_at(code, jy_code_live(code, instr->i_target))->i_offset <= instr->i_offset)
            return true;
    }
    return false;
}

static bool
is_among(const struct jy_vcodes *codes, const PyObject *code)
{
    for (size_t i = 0; i < codes->n; i++)
        if (codes->at[i] == code)
            return true;
    return false;
}

/* What a callee with a loop has done may be much, and whoever polls in it must not lose that. */
static bool
must_chain(const struct jy_vbuild *b, const struct jy_vframe *callee)
{
    return is_among(&b->hints->chained, callee->f->f_code) || has_loop(callee->f->f_instrs);
}

/* Functions that call themselves; and those with loops, whose code would else be there once per call. */
static bool
is_called(struct jy_vbuild *b, const struct jy_vframe *callee)
{
    const PyObject *code = callee->f->f_code;
    if (jy_vcalls_itself(callee->f->f_function) || is_recursive(b->frame, code))
        return true;
    return has_loop(callee->f->f_instrs) && !is_among(&b->hints->inlined, code) && jy_vcan_invoke(b, callee);
}

jy_status
jy_vb_effect(struct jy_vbuild *b)
{
    bool all = true;
    for (const struct jy_vframe *frame = b->frame; frame->back != NULL; frame = frame->back)
        all &= frame->is_chained;
    if (all)
        return JY_OK;
    if (!b->may_again)
        return jy_vb_lacks(b, "a change in a function that is called");
    for (const struct jy_vframe *frame = b->frame; frame->back != NULL; frame = frame->back)
        if (!frame->is_chained)
            *jy_vec_push(b->arena, &b->hints->chained) = frame->f->f_code;
    b->again = b->root->again = true;
    return jy_vb_lacks(b, "a change in a function that is called");
}

static jy_status
enter(struct jy_vbuild *b, struct jy_vframe *callee, size_t items, size_t call_item)
{
    struct jy_vframe *top = b->frame;
    callee->is_chained = must_chain(b, callee);
    if (callee->is_chained)
        TRY(jy_vb_effect(b));
    callee->back = jy_vb_copy(b, b->snap);
    callee->back->call = top->f->f_pc;
    callee->back_items = items;
    callee->call_item = call_item;
    size_t depth = depth_of(callee) + 1;
    if (b->w->w_frames < depth)
        b->w->w_frames = (uint32_t)depth;
    b->frame = callee;
    return JY_OK;
}

jy_status
jy_vcall_python(struct jy_vbuild *b, struct jy_value *function, size_t items, size_t nargs, struct jy_val *const *args,
                PyObject *kwnames)
{
    struct jy_vframe *callee;
    TRY(jy_callee_check(b->frame->f, function));
    const PyCodeObject *code = (PyCodeObject *)((PyFunctionObject *)function->v_object)->func_code;
    TRY(check(b, code, jy_value_describe(b->frame->f, function)));
    for (size_t i = 0; i < nargs; i++)
        if (args[i]->kind == JY_K_ITER || args[i]->kind == JY_K_NEWLIST)
            return jy_vb_lacks(b, "%s as an argument", jy_val_describe(b, args[i]));
    TRY(jy_vcallee_frame(b, &callee, function, nargs, args, kwnames));
    const struct jy_val *first = b->frame->stack[b->frame->depth - items];
    size_t call_item = b->frame->depth - items + (first->kind == JY_K_UNBOUND);
    size_t all = items + b->snap->depth - b->frame->depth; /* with the names that CALL_KW has taken already */
    if (is_called(b, callee))
        return jy_vinvoke(b, callee, function, items, call_item);
    if (callee->f->f_instrs->c_ndecoded > MAX_CODE)
        return jy_vb_lacks(b, "a call of a function of %d instructions", callee->f->f_instrs->c_ndecoded);
    return enter(b, callee, all, call_item);
}

jy_status
jy_vreturn(struct jy_vbuild *b, struct jy_val *v)
{
    if (v->kind == JY_K_NEWLIST)
        TRY(jy_vlist_make(b, &v, v));
    if (v->kind == JY_K_ITER)
        return jy_vb_lacks(b, "an iterator that is returned");
    if (b->frame->back == NULL && b->self != NULL)
        return jy_vfunction_return(b, v);
    if (b->frame->back == NULL) {
        jy_flow_leave(b->w, b->block, jy_vb_exit_return(b, v));
        b->ended = true;
        return JY_OK;
    }
    struct jy_vframe *caller = jy_vb_copy(b, b->frame->back);
    caller->depth -= b->frame->back_items;
    caller->stack[caller->depth++] = v;
    caller->kwnames = NULL;
    caller->pc = jy_code_next(caller->f->f_instrs, caller->call);
    b->frame = caller;
    return JY_OK;
}
