/* The program's own functions, inlined. A callee does nothing that others see, so an exit inside it is the exit before its call: the interpreter calls it again. */
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
    if (is_recursive(b->frame, (const PyObject *)code))
        return jy_vb_lacks(b, "recursion of %s", text);
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
bind(struct jy_vbuild *b, struct jy_val **locals, const struct jy_frame *callee, const PyCodeObject *code,
     size_t nargs, struct jy_val *const *args, PyObject *kwnames)
{
    size_t nkw = kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0, npositional = nargs - nkw;
    size_t nparams = (size_t)(code->co_argcount + code->co_kwonlyargcount);
    if (npositional > (size_t)code->co_argcount)
        return jy_vb_lacks(b, "too many arguments");
    memcpy(locals, args, npositional * sizeof *args);
    for (size_t k = 0; k < nkw; k++) {
        size_t slot = (size_t)code->co_posonlyargcount;
        while (slot < nparams && PyUnicode_Compare(jy_code_local_name(callee->f_instrs, (int)slot),
                                                   PyTuple_GET_ITEM(kwnames, k)) != 0)
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
    size_t nparams = (size_t)(code->co_argcount + code->co_kwonlyargcount);
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
jy_vcall_python(struct jy_vbuild *b, struct jy_value *function, size_t items, size_t nargs, struct jy_val *const *args,
                PyObject *kwnames)
{
    struct jy_frame *f = b->frame->f, *callee;
    TRY(jy_callee_check(f, function));
    PyObject *code = ((PyFunctionObject *)function->v_object)->func_code;
    const PyCodeObject *co = (PyCodeObject *)code;
    TRY(check(b, co, jy_value_describe(f, function)));
    for (size_t i = 0; i < nargs; i++)
        if (args[i]->kind == JY_K_ITER || args[i]->kind == JY_K_NEWLIST)
            return jy_vb_lacks(b, "%s as an argument", jy_val_describe(b, args[i]));
    TRY(jy_frame_new(&callee, f, b->t, function->v_object, code, function->v_source));
    if (callee->f_instrs->c_ndecoded > MAX_CODE)
        return jy_vb_lacks(b, "a call of a function of %d instructions", callee->f_instrs->c_ndecoded);
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
    frame->back = jy_vb_copy(b, b->snap);
    frame->back->call = b->frame->f->f_pc;
    items += b->snap->depth - b->frame->depth; /* names that CALL_KW has taken already */
    frame->back_items = items;
    b->frame = frame;
    return JY_OK;
}

jy_status
jy_vreturn(struct jy_vbuild *b, struct jy_val *v)
{
    if (v->kind == JY_K_NEWLIST)
        TRY(jy_vlist_make(b, &v, v));
    if (v->kind == JY_K_ITER)
        return jy_vb_lacks(b, "an iterator that is returned");
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
