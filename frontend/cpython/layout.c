/* Kinds of stack items by forward abstract interpretation; depths and bound locals are the verifier's.
 *
 * An instruction that takes p items and leaves q keeps the kinds of the lower min(p, q) of them: the few that look deeper than they change (LIST_APPEND, WITH_EXCEPT_START, COPY) say
 * so by their counts. SWAP, PUSH_EXC_INFO and the handlers' entries are the exceptions. */
#include "frontend/cpython/original.h"

#include <string.h>

#include "frontend/cpython/decode.h"
#include "frontend/cpython/edit.h"
#include "frontend/cpython/verify_code.h"

struct walk {
    struct jy_code *code;
    struct jy_layout_map *map;
    const int *handler; /* by id: index into c_handlers, or -1 */
    int *work;
    bool *is_waiting;
    int nwork;
    uint8_t *stack; /* room for one */
};

static void
reach(struct walk *w, int id, const uint8_t *kinds)
{
    id = jy_code_live(w->code, id);
    size_t depth = (size_t)jy_code_at(w->code, id)->i_depth;
    uint8_t **here = &w->map->kinds[id];
    bool changed = *here == NULL;
    if (changed) {
        *here = JY_NEW_ARRAY(w->code->c_arena, uint8_t, depth + 1);
        memcpy(*here, kinds, depth);
    }
    for (size_t i = 0; i < depth; i++) {
        if ((*here)[i] != kinds[i] && (*here)[i] != JY_SLOT_MIXED) {
            (*here)[i] = JY_SLOT_MIXED;
            changed = true;
        }
    }
    if (changed && !w->is_waiting[id]) {
        w->is_waiting[id] = true;
        w->work[w->nwork++] = id;
    }
}

/* The stack behind the instruction, from `kinds` of depth `depth`, into w->stack. */
static void
apply(struct walk *w, const struct jy_instr *instr, const uint8_t *kinds, size_t depth, bool jump)
{
    int op = instr->i_op, arg = instr->i_arg;
    size_t pops = (size_t)jy_instr_pops(op, arg), pushes = (size_t)jy_instr_pushes(op, arg, jump);
    size_t kept = depth - pops + (pops < pushes ? pops : pushes);
    memcpy(w->stack, kinds, kept);
    memset(w->stack + kept, JY_SLOT_VALUE, depth - pops + pushes - kept);
    if (op == SWAP) {
        w->stack[depth - 1] = kinds[depth - (size_t)arg];
        w->stack[depth - (size_t)arg] = kinds[depth - 1];
    } else if (op == COPY) {
        w->stack[depth] = kinds[depth - (size_t)arg];
    } else if (op == PUSH_EXC_INFO) {
        w->stack[depth - 1] = JY_SLOT_HANDLED;
    }
}

static void
visit(struct walk *w, int id)
{
    const struct jy_instr *instr = jy_code_at(w->code, id);
    const uint8_t *kinds = w->map->kinds[id];
    size_t depth = (size_t)instr->i_depth;
    if (w->handler[id] >= 0) {
        const struct jy_handler *h = &w->code->c_handlers.at[w->handler[id]];
        memcpy(w->stack, kinds, (size_t)h->h_depth);
        w->stack[h->h_depth] = h->h_lasti ? JY_SLOT_OFFSET : JY_SLOT_VALUE;
        w->stack[h->h_depth + h->h_lasti] = JY_SLOT_VALUE;
        reach(w, h->h_handler, w->stack);
    }
    if (jy_instr_is_jump(instr->i_op)) {
        apply(w, instr, kinds, depth, true);
        reach(w, instr->i_target, w->stack);
    }
    if (jy_instr_falls_through(instr->i_op)) {
        apply(w, instr, kinds, depth, false);
        reach(w, instr->i_next, w->stack);
    }
}

static const int *
handlers_by_id(const struct jy_code *code)
{
    int *handler = JY_NEW_ARRAY(code->c_arena, int, code->c_instrs.n);
    for (size_t id = 0; id < code->c_instrs.n; id++)
        handler[id] = -1;
    for (size_t i = 0; i < code->c_handlers.n; i++) {
        const struct jy_handler *h = &code->c_handlers.at[i];
        for (int id = h->h_start; id != h->h_end && id != JY_NO_INSTR; id = jy_code_at(code, id)->i_next)
            handler[id] = (int)i;
    }
    return handler;
}

/* A comprehension saves and restores locals of its names, which may be unbound: the verifier takes the restored NULL for an object. */
static void
forget_saved_locals(struct jy_layout_map *map, const struct jy_code *code)
{
#ifdef LOAD_FAST_AND_CLEAR
    size_t n = code->c_instrs.n * map->nwords;
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        int local = jy_code_at(code, id)->i_arg;
        if (jy_code_at(code, id)->i_op != LOAD_FAST_AND_CLEAR)
            continue;
        if (map->verified == map->bound)
            map->bound = jy_arena_copy(code->c_arena, map->verified, n * sizeof *map->bound);
        for (size_t k = 0; k < code->c_instrs.n; k++)
            map->bound[k * map->nwords + (size_t)(local >> 6)] &= ~(UINT64_C(1) << (local & 63));
    }
#else
    (void)map, (void)code;
#endif
}

jy_status
jy_code_layout(struct jy_layout_map *out, struct jy_code *code)
{
    size_t n = code->c_instrs.n;
    TRY(jy_verify_code_bound(code, &out->bound, &out->nwords));
    out->verified = out->bound;
    forget_saved_locals(out, code);
    out->kinds = JY_NEW_ARRAY(code->c_arena, uint8_t *, n);
    struct walk w = {
        .code = code,
        .map = out,
        .handler = handlers_by_id(code),
        .work = JY_NEW_ARRAY(code->c_arena, int, n),
        .is_waiting = JY_NEW_ARRAY(code->c_arena, bool, n),
        .stack = JY_NEW_ARRAY(code->c_arena, uint8_t, code->c_stacksize + 2),
    };
    reach(&w, code->c_first, w.stack);
    while (w.nwork > 0) {
        int id = w.work[--w.nwork];
        w.is_waiting[id] = false;
        visit(&w, id);
    }
    return JY_OK;
}

/* Before RESUME a frame has not begun. */
static bool
has_begun(const struct jy_code *code, int id)
{
    for (int at = jy_code_begin(code); at != JY_NO_INSTR && at != id; at = jy_code_next(code, at))
        if (jy_code_at(code, at)->i_op == RESUME)
            return true;
    return false;
}

static bool
follows_prefix(const struct jy_code *code, int id)
{
    int prev = jy_code_at(code, id)->i_prev;
    while (prev != JY_NO_INSTR && jy_code_at(code, prev)->i_dead)
        prev = jy_code_at(code, prev)->i_prev;
    if (prev == JY_NO_INSTR)
        return true;
#ifdef KW_NAMES
    if (jy_code_at(code, prev)->i_op == KW_NAMES)
        return true;
#endif
    return false;
}

bool
jy_layout_is_portable(const struct jy_layout_map *map, const struct jy_code *code, int id)
{
    const struct jy_instr *instr = jy_code_at(code, id);
    const uint8_t *kinds = instr->i_id == JY_NO_INSTR ? NULL : map->kinds[instr->i_id];
    if (kinds == NULL || jy_edit_is_glued(code, id) || follows_prefix(code, id) || !has_begun(code, id))
        return false;
    for (int i = 0; i < instr->i_depth; i++)
        if (kinds[i] != JY_SLOT_VALUE && kinds[i] != JY_SLOT_HANDLED)
            return false;
    return true;
}

/* ---- places ---- */

struct places {
    const struct jy_code *code;
    const struct jy_layout_map *map;
    void (*report)(void *context, uint32_t offset);
    void *context;
};

static void
report(const struct places *p, int id)
{
    if (id == JY_NO_INSTR || (id = jy_code_live(p->code, id)) == JY_NO_INSTR)
        return;
    if (jy_code_at(p->code, id)->i_op == POP_TOP && jy_code_next(p->code, id) != JY_NO_INSTR)
        id = jy_code_next(p->code, id); /* what a statement leaves behind goes at once */
    if (jy_layout_is_portable(p->map, p->code, id))
        p->report(p->context, (uint32_t)jy_code_at(p->code, id)->i_offset);
}

/* The call behind KW_NAMES and PRECALL. */
static int
end_of_group(const struct places *p, int id)
{
    int next = jy_code_next(p->code, id);
    while (next != JY_NO_INSTR && (jy_edit_is_glued(p->code, next) || follows_prefix(p->code, next))) {
        id = next;
        next = jy_code_next(p->code, id);
    }
    return id;
}

int
jy_layout_exit_of_loop(const struct jy_code *code, int id)
{
    int target = jy_code_live(code, jy_code_at(code, id)->i_target);
#ifdef END_FOR
    target = target == JY_NO_INSTR ? target : jy_code_next(code, target);
#if PY_VERSION_HEX >= 0x030d0000
    target = target == JY_NO_INSTR ? target : jy_code_next(code, target);
#endif
#endif
    return target;
}

static void
report_behind(const struct places *p, int id)
{
    id = end_of_group(p, id);
    const struct jy_instr *instr = jy_code_at(p->code, id);
    if (instr->i_op == FOR_ITER)
        report(p, jy_layout_exit_of_loop(p->code, id));
    else if (jy_instr_is_jump(instr->i_op))
        report(p, instr->i_target);
    if (jy_instr_falls_through(instr->i_op))
        report(p, instr->i_next);
}

/* A method that is not traced is called as soon as its arguments are there. In between stands the object, whose destructor may keep compiled code from starting there. */
static void
report_behind_call(const struct places *p, int id)
{
    int depth = jy_code_at(p->code, id)->i_depth, next = jy_code_next(p->code, id);
    while (next != JY_NO_INSTR && jy_code_at(p->code, next)->i_depth > depth)
        next = jy_code_next(p->code, next);
    report(p, next);
}

static void
report_all(const struct places *p)
{
    for (int id = jy_code_begin(p->code); id != JY_NO_INSTR; id = jy_code_next(p->code, id)) {
        int op = jy_code_at(p->code, id)->i_op;
        if (op == FOR_ITER || op == POP_EXCEPT)
            report_behind(p, id);
    }
}

void
jy_code_places(struct jy_original *original, uint32_t stop, bool all, void (*report_to)(void *context, uint32_t offset),
               void *context)
{
    const struct jy_layout_map *map = jy_original_map(original);
    const struct jy_loop_heads *heads = jy_original_heads(original);
    if (map == NULL || heads == NULL)
        return;
    struct places p = { .code = original->o_code, .map = map, .report = report_to, .context = context };
    int id = jy_code_id_at_offset(p.code, (int)stop);
    if (id != JY_NO_INSTR && map->kinds[id] != NULL)
        report_behind(&p, id);
    if (id != JY_NO_INSTR && map->kinds[id] != NULL && jy_instr_loads_method(jy_code_at(p.code, id)))
        report_behind_call(&p, id);
    bool takes_next = id != JY_NO_INSTR && jy_code_at(p.code, id)->i_op == FOR_ITER; /* its body begins behind it */
    if (id != JY_NO_INSTR && heads->kinds[id] != 0 && !takes_next)
        report(&p, id);
    if (all)
        report_all(&p);
}

void
jy_code_loop_heads(struct jy_original *original, void (*report_to)(void *context, uint32_t offset), void *context)
{
    const struct jy_layout_map *map = jy_original_map(original);
    const struct jy_loop_heads *heads = jy_original_heads(original);
    for (size_t k = 0; map != NULL && heads != NULL && k < heads->n; k++)
        if (jy_layout_is_portable(map, original->o_code, heads->at[k]))
            report_to(context, (uint32_t)jy_code_at(original->o_code, heads->at[k])->i_offset);
}
