/* Sweeping after code generation.
 *
 *   unreachable code        whatever the verifier did not reach, and exception ranges that protect nothing any more
 *   jump to the next        JUMP_FORWARD only: a conditional jump calls __bool__, a backward one polls for signals
 *   stores nobody reads     of locals that we added; then the pushes that fed them
 *
 * A local of the user's keeps every store: locals(), a debugger and the moment of a destructor can see it.  What is dead
 * is decided by liveness (backwards, one bit per added local; an exception may leave from every instruction of a range).
 * References to deleted instructions mean the next live one, so tables and lines need no repair. */
#include "frontend/sweep.h"

#include "frontend/cpython/edit.h"
#include "frontend/cpython/verify_code.h"

struct sweep {
    struct jy_code *code;
    int first_new; /* added locals are first_new up to first_new + nnew */
    int nnew, nwords;
    uint64_t *live;  /* by id: which added locals may be read after it has begun */
    bool *is_target; /* by id: control may come from elsewhere than the instruction before */
    bool changed;
};

static void
sweep_away(struct sweep *s, int id)
{
    jy_edit_delete(s->code, id);
    s->changed = true;
}

static void
sweep_unreachable(struct sweep *s)
{
    for (int id = jy_code_begin(s->code); id != JY_NO_INSTR; id = jy_code_next(s->code, id)) {
        if (jy_code_at(s->code, id)->i_depth < 0)
            sweep_away(s, id);
    }
}

static bool
protects_something(const struct jy_code *code, const struct jy_handler *h)
{
    return jy_code_live(code, h->h_start) != jy_code_live(code, h->h_end);
}

static void
sweep_handlers(struct sweep *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->code->c_handlers.n; i++) {
        if (protects_something(s->code, &s->code->c_handlers.at[i]))
            s->code->c_handlers.at[kept++] = s->code->c_handlers.at[i];
    }
    s->code->c_handlers.n = kept;
}

static void
sweep_jumps(struct sweep *s)
{
    for (int id = jy_code_begin(s->code); id != JY_NO_INSTR; id = jy_code_next(s->code, id)) {
        const struct jy_instr *instr = jy_code_at(s->code, id);
        if (instr->i_op == JUMP_FORWARD && jy_code_live(s->code, instr->i_target) == jy_code_next(s->code, id))
            sweep_away(s, id);
    }
}

/* ---- stores ---- */

/* Which added local the argument means; -1: none. */
static int
added_local(const struct sweep *s, int arg)
{
    return arg >= s->first_new && arg < s->first_new + s->nnew ? arg - s->first_new : -1;
}

static uint64_t *
live_at(const struct sweep *s, int id)
{
    return s->live + (size_t)id * (size_t)s->nwords;
}

static void
set_live(uint64_t *set, int local, bool is_live)
{
    uint64_t bit = UINT64_C(1) << (local & 63);
    set[local >> 6] = is_live ? set[local >> 6] | bit : set[local >> 6] & ~bit;
}

/* From the set behind an instruction to the set before it.  A DELETE_FAST counts as a read: it wants a bound local. */
static void
step_back(const struct sweep *s, const struct jy_instr *instr, uint64_t *set)
{
    struct jy_instr parts[2];
    if (jy_instr_split(instr, parts)) {
        step_back(s, &parts[1], set);
        step_back(s, &parts[0], set);
    } else if (jy_instr_argkind(instr->i_op) == JY_ARG_LOCAL && added_local(s, instr->i_arg) >= 0) {
        set_live(set, added_local(s, instr->i_arg), instr->i_op != STORE_FAST);
    }
}

/* set |= what is live at `id`, or at the next live instruction behind it. */
static void
join(const struct sweep *s, uint64_t *set, int id)
{
    id = jy_code_live(s->code, id);
    for (int i = 0; id != JY_NO_INSTR && i < s->nwords; i++)
        set[i] |= live_at(s, id)[i];
}

/* The set behind `id`, without what an exception in it may reach. */
static void
fill_behind(const struct sweep *s, int id, uint64_t *set)
{
    const struct jy_instr *instr = jy_code_at(s->code, id);
    memset(set, 0, sizeof *set * (size_t)s->nwords);
    if (jy_instr_falls_through(instr->i_op))
        join(s, set, instr->i_next);
    if (jy_instr_is_jump(instr->i_op))
        join(s, set, instr->i_target);
}

/* handler_of[id] from the table; the array is by id. */
static const int *
handlers_by_id(const struct jy_code *code)
{
    int *handler = JY_NEW_ARRAY(code->c_arena, int, code->c_instrs.n);
    for (int id = code->c_first; id != JY_NO_INSTR; id = jy_code_at(code, id)->i_next)
        handler[id] = JY_NO_INSTR;
    for (size_t i = 0; i < code->c_handlers.n; i++) {
        const struct jy_handler *h = &code->c_handlers.at[i];
        for (int id = h->h_start; id != h->h_end; id = jy_code_at(code, id)->i_next)
            handler[id] = h->h_handler;
    }
    return handler;
}

static void
find_live(struct sweep *s)
{
    const int *handler = handlers_by_id(s->code);
    uint64_t *set = JY_NEW_ARRAY(s->code->c_arena, uint64_t, s->nwords);
    bool is_stable;
    s->live = JY_NEW_ARRAY(s->code->c_arena, uint64_t, s->code->c_instrs.n *(size_t)s->nwords);
    do {
        is_stable = true;
        for (int id = s->code->c_last; id != JY_NO_INSTR; id = jy_code_at(s->code, id)->i_prev) {
            if (jy_code_at(s->code, id)->i_dead)
                continue;
            fill_behind(s, id, set);
            step_back(s, jy_code_at(s->code, id), set);
            if (handler[id] != JY_NO_INSTR)
                join(s, set, handler[id]);
            is_stable = is_stable && memcmp(set, live_at(s, id), sizeof *set * (size_t)s->nwords) == 0;
            memcpy(live_at(s, id), set, sizeof *set * (size_t)s->nwords);
        }
    } while (!is_stable);
}

static bool
is_loaded_anywhere(const struct sweep *s, int arg)
{
    struct jy_instr parts[2];
    for (int id = jy_code_begin(s->code); id != JY_NO_INSTR; id = jy_code_next(s->code, id)) {
        const struct jy_instr *instr = jy_code_at(s->code, id);
        bool is_read = instr->i_op != STORE_FAST && instr->i_op != DELETE_FAST;
        if (jy_instr_split(instr, parts)
                ? parts[0].i_arg == arg || parts[1].i_arg == arg
                : jy_instr_argkind(instr->i_op) == JY_ARG_LOCAL && instr->i_arg == arg && is_read)
            return true;
    }
    return false;
}

/* A store becomes a POP_TOP; the deletes of a local that nobody loads go with its stores. */
static void
sweep_stores(struct sweep *s)
{
    uint64_t *behind = JY_NEW_ARRAY(s->code->c_arena, uint64_t, s->nwords);
    bool *is_loaded = JY_NEW_ARRAY(s->code->c_arena, bool, s->nnew);
    for (int i = 0; i < s->nnew; i++)
        is_loaded[i] = is_loaded_anywhere(s, s->first_new + i);
    find_live(s);
    for (int id = jy_code_begin(s->code); id != JY_NO_INSTR; id = jy_code_next(s->code, id)) {
        struct jy_instr *instr = jy_code_at(s->code, id);
        bool is_store = instr->i_op == STORE_FAST, is_delete = instr->i_op == DELETE_FAST;
        int local = is_store || is_delete ? added_local(s, instr->i_arg) : -1;
        if (local < 0)
            continue;
        fill_behind(s, id, behind);
        if (is_delete && !is_loaded[local]) {
            sweep_away(s, id);
        } else if (is_store && (!is_loaded[local] || (behind[local >> 6] >> (local & 63) & 1) == 0)) {
            instr->i_op = POP_TOP;
            instr->i_arg = 0;
            s->changed = true;
        }
    }
}

/* ---- pushes ---- */

static void
find_targets(struct sweep *s)
{
    s->is_target = JY_NEW_ARRAY(s->code->c_arena, bool, s->code->c_instrs.n);
    for (int id = jy_code_begin(s->code); id != JY_NO_INSTR; id = jy_code_next(s->code, id)) {
        int target = jy_code_live(s->code, jy_code_at(s->code, id)->i_target);
        if (target != JY_NO_INSTR)
            s->is_target[target] = true;
    }
    for (size_t i = 0; i < s->code->c_handlers.n; i++)
        s->is_target[jy_code_live(s->code, s->code->c_handlers.at[i].h_handler)] = true;
}

static bool
only_pushes(const struct sweep *s, const struct jy_instr *instr)
{
    switch (instr->i_op) {
    case LOAD_CONST:
    case PUSH_NULL:
        return true;
    case COPY:
        return instr->i_arg >= 1;
    case LOAD_FAST:
        return added_local(s, instr->i_arg) >= 0; /* ours are bound where we load them */
    default:
        return false;
    }
}

/* A push of ours that a POP_TOP of ours takes at once. */
static void
sweep_pushes(struct sweep *s)
{
    find_targets(s);
    for (int id = jy_code_begin(s->code); id != JY_NO_INSTR; id = jy_code_next(s->code, id)) {
        const struct jy_instr *push = jy_code_at(s->code, id);
        int next = jy_code_next(s->code, id);
        if (push->i_offset >= 0 || next == JY_NO_INSTR || !only_pushes(s, push))
            continue;
        const struct jy_instr *pop = jy_code_at(s->code, next);
        if (pop->i_offset < 0 && pop->i_op == POP_TOP && !s->is_target[next]) {
            sweep_away(s, id);
            sweep_away(s, next);
        }
    }
}

/* An instruction that looks back for its handler gets a NOP of its own range before it, unless the original's neighbour still stands there. */
static void
cover_frames(struct sweep *s)
{
    struct jy_code *code = s->code;
    const int *handler = handlers_by_id(code);
    int previous = JY_NO_INSTR;
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; previous = id, id = jy_code_next(code, id)) {
        bool as_before = previous == id - 1 && id < code->c_ndecoded;
        if (!jy_instr_looks_back(jy_code_at(code, id)->i_op) || previous == JY_NO_INSTR || as_before ||
            handler[previous] == handler[id])
            continue;
        int nop = jy_edit_insert_before(code, id, NOP, 0);
        jy_edit_retarget(code, id, nop);
        for (size_t i = 0; i < code->c_handlers.n; i++) {
            struct jy_handler *h = &code->c_handlers.at[i];
            if (jy_code_live(code, h->h_start) == id)
                h->h_start = nop;
            if (h->h_end != JY_NO_INSTR && jy_code_live(code, h->h_end) == id)
                h->h_end = nop;
        }
    }
}

jy_status
jy_sweep_code(struct jy_code *code)
{
    struct sweep s = {
        .code = code,
        .first_new = code->c_origin->co_nlocals,
        .nnew = code->c_nlocals - code->c_origin->co_nlocals,
    };
    s.nwords = (s.nnew + 63) / 64;
    do {
        TRY(jy_verify_code(code));
        s.changed = false;
        sweep_unreachable(&s);
        sweep_handlers(&s);
        sweep_jumps(&s);
        if (s.nnew > 0)
            sweep_stores(&s);
        sweep_pushes(&s);
    } while (s.changed);
    cover_frames(&s);
    return JY_OK;
}
