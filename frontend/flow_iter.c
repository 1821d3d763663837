/* Iteration in flows. An iterator lives in registers; on an exit an object is made that stands at the same place. One that the program could see twice (stored to a variable) is not had. */
#include "frontend/flow.h"
#include "frontend/cpython/compat.h"

static struct jy_val *
range_iterator(struct jy_vbuild *b, const struct jy_val *range)
{
    struct jy_val *it = jy_arena_copy(b->arena, range, sizeof *range);
    it->kind = JY_K_ITER;
    it->how = JY_VI_RANGE;
    it->input = 0;
    return it;
}

static struct jy_val *
sequence_iterator(struct jy_vbuild *b, struct jy_val *sequence, enum jy_viter how, jy_fv index)
{
    struct jy_val *it = jy_val_parts(b, JY_K_ITER, 1, &sequence);
    it->how = (uint8_t)how;
    if (sequence->kind != JY_K_TUPLE) {
        it->nregs = 1;
        it->regs[0] = index;
    }
    return it;
}

/* For is_for_a_graph() of flow.c. */
static void
note_rounds(struct jy_vbuild *b, const struct jy_val *v)
{
    int64_t start, stop;
    bool is_known = v->kind == JY_K_RANGE && v->fixed_step && jy_vconst(b, v->regs[0], &start) &&
                    jy_vconst(b, v->regs[1], &stop) && start >= -INT32_MAX && start <= INT32_MAX &&
                    stop >= -INT32_MAX && stop <= INT32_MAX;
    if (is_known && (stop - start) / v->step <= JY_FEW_ROUNDS)
        b->few_rounds = true;
    else
        b->many_rounds = true;
}

jy_status
jy_viter(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v)
{
    if (v->kind != JY_K_ITER)
        note_rounds(b, v);
    if (v->kind == JY_K_ITER)
        *out = v;
    else if (v->kind == JY_K_RANGE)
        *out = range_iterator(b, v);
    else if (v->kind == JY_K_LIST || v->kind == JY_K_TUPLE || (v->kind == JY_K_ARRAY && v->array->ndim > 0))
        *out = sequence_iterator(b, v, JY_VI_SEQUENCE, jy_vint(b, 0));
    else if (jy_vis_text(v)) {
        TRY(jy_vas_text(b, &v, v));
        *out = sequence_iterator(b, v, JY_VI_SEQUENCE, jy_vint(b, 0));
    } else
        return jy_vb_lacks(b, "iteration over %s", jy_val_describe(b, v));
    return JY_OK;
}

/* ---- ranges ---- */

enum { WIDE = 30 };

/* next + step never overflows, whatever the step. */
static void
check_bounds(struct jy_vbuild *b, const struct jy_val *range)
{
    jy_fv limit = jy_vint(b, INT64_C(1) << 62), bits = jy_vint(b, INT64_C(1) << WIDE);
    for (size_t i = 0; i < 2; i++) {
        jy_fv shifted = jy_ve2(b, JY_FLOW_ADD, JY_F_I64, range->regs[i], limit);
        jy_vcheck(b, jy_ve2(b, JY_FLOW_GE, JY_F_I1, shifted, jy_vint(b, 0)), "a range of large numbers");
    }
    if (range->fixed_step)
        return;
    jy_vcheck(b, jy_ve2(b, JY_FLOW_NE, JY_F_I1, range->regs[2], jy_vint(b, 0)), "a range without a step");
    jy_fv shifted = jy_ve2(b, JY_FLOW_ADD, JY_F_I64, range->regs[2], bits);
    jy_vcheck(b, jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, shifted, jy_vint(b, INT64_C(2) << WIDE)), "a range of wide steps");
}

jy_status
jy_vrange(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    struct jy_val *range = jy_val_new(b, JY_K_RANGE, 3);
    range->regs[0] = jy_vint(b, 0);
    range->regs[2] = jy_vint(b, 1);
    for (size_t i = 0; i < nargs; i++) {
        if (args[i]->kind != JY_K_INT && args[i]->kind != JY_K_NP)
            return jy_vb_lacks(b, "range() of %s", jy_val_describe(b, args[i]));
        TRY(jy_vas_index(b, &range->regs[nargs == 1 ? 1 : i], args[i]));
    }
    range->fixed_step = jy_vconst(b, range->regs[2], &range->step);
    if (range->fixed_step &&
        (range->step == 0 || range->step >= INT64_C(1) << WIDE || range->step <= -(INT64_C(1) << WIDE)))
        return jy_vb_lacks(b, "range() of such a step");
    if (!range->fixed_step || (range->step != 1 && range->step != -1))
        check_bounds(b, range);
    *out = range;
    return JY_OK;
}

static jy_fv
range_goes_on(struct jy_vbuild *b, const struct jy_val *it)
{
    jy_fv below = jy_ve2(b, JY_FLOW_LT, JY_F_I1, it->regs[0], it->regs[1]);
    jy_fv above = jy_ve2(b, JY_FLOW_GT, JY_F_I1, it->regs[0], it->regs[1]);
    if (it->fixed_step)
        return it->step > 0 ? below : above;
    jy_fv up = jy_ve2(b, JY_FLOW_GT, JY_F_I1, it->regs[2], jy_vint(b, 0));
    return jy_ve3(b, JY_FLOW_SELECT, JY_F_I1, up, below, above);
}

jy_status
jy_vlength(struct jy_vbuild *b, jy_fv *out, struct jy_val *v)
{
    switch (v->kind) {
    case JY_K_LIST:
        *out = jy_vlist_length(b, v);
        return JY_OK;
    case JY_K_TUPLE:
    case JY_K_NEWLIST:
        *out = jy_vint(b, (int64_t)v->nparts);
        return JY_OK;
    case JY_K_ARRAY: {
        if (v->array->ndim == 0)
            break;
        struct jy_vgeometry g;
        jy_varray_geometry(&g, v);
        *out = g.extent[0];
        return JY_OK;
    }
    case JY_K_RANGE:
        if (!v->fixed_step || v->step != 1)
            break;
        *out = jy_ve2(b, JY_FLOW_MAX, JY_F_I64,
                      jy_ve2x(b, JY_FLOW_SUB, JY_F_I64, v->regs[1], v->regs[0], "a long range"), jy_vint(b, 0));
        return JY_OK;
    case JY_K_CHAR:
        *out = jy_vint(b, 1);
        return JY_OK;
    default:
        break;
    }
    if (jy_vis_text(v)) {
        TRY(jy_vas_text(b, &v, v));
        *out = jy_vtext_length(b, v);
        return JY_OK;
    }
    return jy_vb_lacks(b, "len() of %s", jy_val_describe(b, v));
}

/* ---- next ---- */

/* The present block goes on where the condition holds; else to `done`. */
static void
go_on_if(struct jy_vbuild *b, jy_fv condition, jy_fb *done)
{
    if (*done == JY_NO_FV)
        *done = jy_flow_block(b->w);
    jy_fb more = jy_flow_block(b->w);
    jy_flow_branch(b->w, b->block, condition, more, 0, NULL, *done, 0, NULL);
    b->block = more;
}

static struct jy_val *
moved(struct jy_vbuild *b, const struct jy_val *it, jy_fv reg)
{
    struct jy_val *next = jy_arena_copy(b->arena, it, sizeof *it);
    next->regs = jy_arena_copy(b->arena, it->regs, (it->nregs + 1u) * sizeof *it->regs);
    next->regs[0] = reg;
    return next;
}

static jy_status
sequence_next(struct jy_vbuild *b, struct jy_val **item, struct jy_val **next, jy_fb *done, struct jy_val *it)
{
    struct jy_val *sequence = it->parts[0];
    if (sequence->kind == JY_K_TUPLE) {
        bool more = (size_t)it->step < sequence->nparts;
        *next = jy_arena_copy(b->arena, it, sizeof *it);
        (*next)->step++;
        *item = more ? sequence->parts[it->step] : NULL;
        return JY_OK;
    }
    if (sequence->kind == JY_K_LIST && sequence->elem->kind == JY_K_UNBOUND)
        return jy_vb_lacks(b, "items of a list that are no numbers");
    jy_fv length;
    TRY(jy_vlength(b, &length, sequence));
    go_on_if(b, jy_ve2(b, JY_FLOW_LT, JY_F_I1, it->regs[0], length), done);
    *next = moved(b, it, jy_ve2(b, JY_FLOW_ADD, JY_F_I64, it->regs[0], jy_vint(b, 1)));
    if (sequence->kind == JY_K_TEXT) {
        *item = jy_vtext_at(b, sequence, it->regs[0]);
        return JY_OK;
    }
    return sequence->kind == JY_K_LIST ? jy_vlist_at(b, item, sequence, it->regs[0])
                                       : jy_varray_at(b, item, sequence, it->regs[0]);
}

static jy_status
reversed_next(struct jy_vbuild *b, struct jy_val **item, struct jy_val **next, jy_fb *done, struct jy_val *it)
{
    struct jy_val *list = it->parts[0];
    jy_fv length;
    if (list->kind == JY_K_LIST && list->elem->kind == JY_K_UNBOUND)
        return jy_vb_lacks(b, "items of a list that are no numbers");
    TRY(jy_vlength(b, &length, list));
    go_on_if(b, jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, it->regs[0], length), done);
    *next = moved(b, it, jy_ve2(b, JY_FLOW_SUB, JY_F_I64, it->regs[0], jy_vint(b, 1)));
    if (list->kind == JY_K_TEXT) {
        *item = jy_vtext_at(b, list, it->regs[0]);
        return JY_OK;
    }
    return jy_vlist_at(b, item, list, it->regs[0]);
}

/* *item NULL: known to be exhausted. *done: the block that the exhausted case goes to, made when it is needed. */
static jy_status
iterator_next(struct jy_vbuild *b, struct jy_val **item, struct jy_val **next, jy_fb *done, struct jy_val *it)
{
    struct jy_val *items[JY_MAX_NDIM], *parts[JY_MAX_NDIM];
    switch ((enum jy_viter)it->how) {
    case JY_VI_RANGE:
        go_on_if(b, range_goes_on(b, it), done);
        *item = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, it->regs[0]);
        *next = moved(b, it, jy_ve2(b, JY_FLOW_ADD, JY_F_I64, it->regs[0], it->regs[2]));
        return JY_OK;
    case JY_VI_SEQUENCE:
        return sequence_next(b, item, next, done, it);
    case JY_VI_REVERSED:
        return reversed_next(b, item, next, done, it);
    case JY_VI_ENUMERATE: {
        jy_fv count = jy_ve2x(b, JY_FLOW_ADD, JY_F_I64, it->regs[0], jy_vint(b, 1), "int overflow");
        TRY(iterator_next(b, &items[1], &parts[0], done, it->parts[0]));
        if (items[1] == NULL) {
            *item = NULL;
            return JY_OK;
        }
        items[0] = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, it->regs[0]);
        *item = jy_val_parts(b, JY_K_TUPLE, 2, items);
        *next = moved(b, it, count);
        (*next)->parts = jy_arena_copy(b->arena, parts, sizeof *parts);
        return JY_OK;
    }
    case JY_VI_ZIP:
        for (size_t i = 0; i < it->nparts; i++) {
            TRY(iterator_next(b, &items[i], &parts[i], done, it->parts[i]));
            if (items[i] == NULL) {
                *item = NULL;
                return JY_OK;
            }
        }
        *item = jy_val_parts(b, JY_K_TUPLE, it->nparts, items);
        *next = jy_val_parts(b, JY_K_ITER, it->nparts, parts);
        (*next)->how = JY_VI_ZIP;
        return JY_OK;
    }
    return jy_vb_lacks(b, "an unknown iterator");
}

static struct jy_vframe *
exhausted(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_vframe *frame = jy_vb_copy(b, b->snap);
    frame->pc = jy_code_live(frame->f->f_instrs, instr->i_target);
    if (jy_instr_pushes(instr->i_op, instr->i_arg, true) == 0)
        frame->depth--;
    else
        frame->stack[frame->depth++] = jy_val_new(b, JY_K_UNBOUND, 0);
    return frame;
}

/* The next item of a list of several kinds. */
static jy_status
push_next(struct jy_vbuild *b, jy_fb *done, struct jy_val *it)
{
    struct jy_val *list = it->parts[0];
    go_on_if(b, jy_ve2(b, JY_FLOW_LT, JY_F_I1, it->regs[0], jy_vlist_length(b, list)), done);
    jy_fv next = jy_ve2(b, JY_FLOW_ADD, JY_F_I64, it->regs[0], jy_vint(b, 1));
    b->frame->stack[b->frame->depth - 1] = moved(b, it, next);
    return jy_vlist_push_item(b, list, it->regs[0], 0);
}

/* ---- jitney.prange ---- */

/* The instruction that pushes the callable of a call, with `for` in front of which the call stands: found backwards, by what the stack must hold. -1: not among so many. */
static int
callable_of(const struct jy_code *code, const int *ids, int call)
{
    int need = (int)jy_instr_call_items(jy_code_at(code, ids[call]));
    for (int k = call - 1; k >= 0 && need > 0; k--) {
        const struct jy_instr *instr = jy_code_at(code, ids[k]);
        if (jy_instr_is_prefix(instr->i_op))
            continue;
        if (jy_instr_is_jump(instr->i_op) || !jy_instr_falls_through(instr->i_op))
            return -1;
        need += jy_instr_pops(instr->i_op, instr->i_arg) - jy_instr_pushes(instr->i_op, instr->i_arg, false);
        if (need == 0)
            return instr->i_op == PUSH_NULL ? k + 1 : k;
    }
    return -1;
}

/* Is the name jitney.prange now, or the module that has it? Nothing is guarded. */
static bool
is_prange_now(const struct jy_frame *f, PyObject *name, bool is_module)
{
    PyObject *object = PyDict_GetItemWithError(f->f_globals, name), *attribute = NULL;
    if (object != NULL && is_module && PyModule_Check(object))
        attribute = jy_compat_dict_get(PyModule_GetDict(object), "prange");
    PyErr_Clear();
    object = is_module ? attribute : object;
    return object != NULL && jy_is_own(object, "prange");
}

/* `for ... in prange(...)` or `jitney.prange(...)` of global names, which are guarded to be what they seem. */
static bool
says_prange(struct jy_vbuild *b, const struct jy_instr *head)
{
    struct jy_frame *f = b->frame->f;
    const struct jy_code *code = f->f_instrs;
    int *ids = JY_NEW_ARRAY(b->arena, int, code->c_instrs.n + 1), n = 0;
    for (int id = jy_code_begin(code); id != JY_NO_INSTR && jy_code_at(code, id) != head; id = jy_code_next(code, id))
        ids[n++] = id;
    if (n < 3 || jy_code_at(code, ids[n - 1])->i_op != GET_ITER)
        return false;
    int at = callable_of(code, ids, n - 2);
    if (at < 0 || at + 1 >= n || jy_code_at(code, ids[at])->i_op != LOAD_GLOBAL)
        return false;
    const struct jy_instr *load = jy_code_at(code, ids[at]), *next = jy_code_at(code, ids[at + 1]);
    PyObject *name = jy_code_name(code, jy_instr_name_index(load)), *inner = NULL;
    if (jy_instr_argkind(next->i_op) == jy_instr_argkind(LOAD_ATTR) && jy_instr_pops(next->i_op, next->i_arg) == 1)
        inner = jy_code_name(code, jy_instr_name_index(next));
    if (!is_prange_now(f, name, inner != NULL) ||
        (inner != NULL && PyUnicode_CompareWithASCIIString(inner, "prange") != 0))
        return false;
    struct jy_value *v = NULL;
    if (jy_global_load(f, &v, name) != JY_OK || (inner != NULL && jy_getattr(f, &v, v, inner) != JY_OK))
        return false;
    struct jy_val *callable;
    return jy_vb_import(b, &callable, v) == JY_OK && callable->kind == JY_K_KNOWN &&
           callable->known->v_object != NULL && jy_is_own(callable->known->v_object, "prange");
}

static bool
is_independent(struct jy_vbuild *b, const struct jy_instr *instr, const struct jy_val *it)
{
    return it->independent || (it->is_outside && says_prange(b, instr));
}

jy_status
jy_vfor_iter(struct jy_vbuild *b, const struct jy_instr *instr)
{
    struct jy_val *it = jy_vpeek(b, 1), *item = NULL, *next = NULL;
    jy_fb done = JY_NO_FV;
    if (it->kind != JY_K_ITER)
        return jy_vb_lacks(b, "iteration over %s", jy_val_describe(b, it));
    if (it->how == JY_VI_RANGE && is_independent(b, instr, it))
        jy_flow_op(b->w, b->block, JY_FLOW_INDEPENDENT, JY_F_NONE, 0, NULL, JY_NO_EXIT);
    bool of_several = it->how == JY_VI_SEQUENCE && it->parts[0]->kind == JY_K_LIST && it->parts[0]->elem->other != NULL;
    jy_status status = of_several ? push_next(b, &done, it) : iterator_next(b, &item, &next, &done, it);
    if (status == JY_BREAK) {
        if (done != JY_NO_FV) /* it is decided by the interpreter, then */
            jy_flow_leave(b->w, done, jy_vb_exit(b, JY_EXIT_STOP, b->why));
        return status;
    }
    TRY(status);
    if (of_several) {
        jy_vb_goto(b, b->frame);
    } else if (item == NULL) {
        jy_vb_goto(b, exhausted(b, instr));
    } else {
        b->frame->stack[b->frame->depth - 1] = next;
        jy_vpush(b, item);
        jy_vb_goto(b, b->frame);
    }
    if (done != JY_NO_FV) {
        b->block = done;
        jy_vb_goto(b, exhausted(b, instr));
    }
    return JY_OK;
}

/* A loop that began in the interpreter: nearly always its step is a constant of the program, which the iterator does not tell. */
void
jy_viter_fix_steps(struct jy_vbuild *b, struct jy_vframe *frame)
{
    for (size_t i = 0; i < frame->depth; i++) {
        const struct jy_val *it = frame->stack[i];
        if (it->kind != JY_K_ITER || it->how != JY_VI_RANGE || it->fixed_step || it->step == 0 ||
            it->step >= INT64_C(1) << WIDE || it->step <= -(INT64_C(1) << WIDE))
            continue;
        jy_fv step = jy_vint(b, it->step);
        jy_vcheck(b, jy_ve2(b, JY_FLOW_EQ, JY_F_I1, it->regs[2], step), "another step of a range");
        struct jy_val *fixed = jy_arena_copy(b->arena, it, sizeof *it);
        fixed->regs = jy_arena_copy(b->arena, it->regs, 3 * sizeof *it->regs);
        fixed->regs[2] = step;
        fixed->fixed_step = true;
        frame->stack[i] = fixed;
    }
}

/* ---- functions that give iterators ---- */

jy_status
jy_vzip(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    struct jy_val *parts[JY_MAX_NDIM];
    if (nargs == 0 || nargs > JY_MAX_NDIM)
        return jy_vb_lacks(b, "zip() of %zu", nargs);
    for (size_t i = 0; i < nargs; i++) {
        if (args[i]->kind == JY_K_ITER)
            return jy_vb_lacks(b, "zip() of iterators");
        TRY(jy_viter(b, &parts[i], args[i]));
    }
    *out = jy_val_parts(b, JY_K_ITER, nargs, parts);
    (*out)->how = JY_VI_ZIP;
    return JY_OK;
}

jy_status
jy_venumerate(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    struct jy_val *inner;
    if (nargs == 2 && args[1]->kind != JY_K_INT)
        return jy_vb_lacks(b, "enumerate() from %s", jy_val_describe(b, args[1]));
    TRY(jy_viter(b, &inner, args[0]));
    *out = jy_val_parts(b, JY_K_ITER, 1, &inner);
    (*out)->how = JY_VI_ENUMERATE;
    (*out)->nregs = 1;
    (*out)->regs[0] = nargs == 2 ? args[1]->regs[0] : jy_vint(b, 0);
    return JY_OK;
}

jy_status
jy_vreversed(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v)
{
    if (jy_vis_text(v))
        TRY(jy_vas_text(b, &v, v));
    if (v->kind == JY_K_LIST || v->kind == JY_K_TEXT) {
        jy_fv length;
        TRY(jy_vlength(b, &length, v));
        jy_fv last = jy_ve2(b, JY_FLOW_SUB, JY_F_I64, length, jy_vint(b, 1));
        *out = sequence_iterator(b, v, JY_VI_REVERSED, last);
        return JY_OK;
    }
    if (v->kind != JY_K_RANGE || !v->fixed_step || v->step != 1)
        return jy_vb_lacks(b, "reversed() of %s", jy_val_describe(b, v));
    struct jy_val *it = range_iterator(b, v);
    jy_fv one = jy_vint(b, 1);
    it->regs = JY_NEW_ARRAY(b->arena, jy_fv, 3);
    jy_fv first = jy_ve2x(b, JY_FLOW_SUB, JY_F_I64, v->regs[1], one, "a range of large numbers");
    it->regs[1] = jy_ve2x(b, JY_FLOW_SUB, JY_F_I64, v->regs[0], one, "a range of large numbers");
    it->regs[0] = first;
    it->regs[2] = jy_vint(b, -1);
    it->step = -1;
    *out = it;
    return JY_OK;
}
