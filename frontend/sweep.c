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
    uint64_t **live;  /* by id: which added locals may be read after it has begun; NULL: none */
    bool *is_target;  /* by id: control may come from elsewhere than the instruction before */
    bool *is_handler; /* by id: an exception handler begins there */
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
    jy_edit_unlink_dead(s->code);
}

static bool
protects_something(const struct jy_code *code, const struct jy_handler *h)
{
    return h->h_start != JY_NO_INSTR && jy_code_live(code, h->h_start) != jy_code_live(code, h->h_end);
}

void
jy_sweep_handlers(struct jy_code *code)
{
    size_t kept = 0;
    for (size_t i = 0; i < code->c_handlers.n; i++) {
        if (protects_something(code, &code->c_handlers.at[i]))
            code->c_handlers.at[kept++] = code->c_handlers.at[i];
    }
    code->c_handlers.n = kept;
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
    for (int i = 0; id != JY_NO_INSTR && s->live[id] != NULL && i < s->nwords; i++)
        set[i] |= s->live[id][i];
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

/* Where control may come from: the instructions that jump to one, by list through `next`. */
struct sources {
    int *first, *next; /* by target, by jump */
};

static struct sources
jumps_by_target(const struct jy_code *code)
{
    size_t n = code->c_instrs.n;
    struct sources from = { JY_NEW_ARRAY(code->c_arena, int, n), JY_NEW_ARRAY(code->c_arena, int, n) };
    for (size_t id = 0; id < n; id++)
        from.first[id] = JY_NO_INSTR;
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        int target = jy_instr_is_jump(jy_code_at(code, id)->i_op) ? jy_code_live(code, jy_code_at(code, id)->i_target)
                                                                  : JY_NO_INSTR;
        if (target == JY_NO_INSTR)
            continue;
        from.next[id] = from.first[target];
        from.first[target] = id;
    }
    return from;
}

struct asked {
    bool *waits; /* by id */
    size_t n;
};

static void
ask(struct asked *w, const struct jy_code *code, int id)
{
    if (id == JY_NO_INSTR || w->waits[id] || jy_code_at(code, id)->i_dead)
        return;
    w->waits[id] = true;
    w->n++;
}

static int
live_before(const struct jy_code *code, int id)
{
    do
        id = jy_code_at(code, id)->i_prev;
    while (id != JY_NO_INSTR && jy_code_at(code, id)->i_dead);
    return id;
}

/* Everything from which control may come to `id`. */
static void
ask_sources(const struct sweep *s, struct asked *w, const struct sources *from, int id)
{
    const struct jy_code *code = s->code;
    ask(w, code, live_before(code, id));
    for (int jump = from->first[id]; jump != JY_NO_INSTR; jump = from->next[jump])
        ask(w, code, jump);
    for (size_t i = 0; s->is_handler[id] && i < code->c_handlers.n; i++) {
        const struct jy_handler *h = &code->c_handlers.at[i];
        for (int at = h->h_start; jy_code_live(code, h->h_handler) == id && at != h->h_end;
             at = jy_code_at(code, at)->i_next)
            ask(w, code, at);
    }
}

/* Does what is live before `id` change? */
static bool
find_live_before(struct sweep *s, int id, const int *handler, uint64_t *set)
{
    size_t size = sizeof *set * (size_t)s->nwords;
    fill_behind(s, id, set);
    step_back(s, jy_code_at(s->code, id), set);
    if (handler[id] != JY_NO_INSTR)
        join(s, set, handler[id]);
    if (s->live[id] == NULL) {
        int k = 0;
        while (k < s->nwords && set[k] == 0)
            k++;
        if (k == s->nwords)
            return false;
        s->live[id] = JY_NEW_ARRAY(s->code->c_arena, uint64_t, s->nwords);
    } else if (memcmp(set, s->live[id], size) == 0) {
        return false;
    }
    memcpy(s->live[id], set, size);
    return true;
}

/* Only what reads an added local makes one live, so the rest is asked no sooner than something behind it has changed. From the end to the beginning, so
 * that all that is live behind an instruction comes to it at once; again for what is jumped back to. */
static void
find_live(struct sweep *s)
{
    struct jy_code *code = s->code;
    size_t n = code->c_instrs.n;
    const int *handler = handlers_by_id(code);
    struct sources from = jumps_by_target(code);
    struct asked w = { .waits = JY_NEW_ARRAY(code->c_arena, bool, n) };
    uint64_t *set = JY_NEW_ARRAY(code->c_arena, uint64_t, s->nwords);
    s->live = JY_NEW_ARRAY(code->c_arena, uint64_t *, n);
    s->is_handler = JY_NEW_ARRAY(code->c_arena, bool, n);
    for (size_t i = 0; i < code->c_handlers.n; i++)
        s->is_handler[jy_code_live(code, code->c_handlers.at[i].h_handler)] = true;
    for (int id = code->c_first; id != JY_NO_INSTR; id = jy_code_at(code, id)->i_next)
        if (jy_code_at(code, id)->i_offset < 0)
            ask(&w, code, id);
    while (w.n > 0) {
        for (int id = code->c_last; id != JY_NO_INSTR; id = jy_code_at(code, id)->i_prev) {
            if (!w.waits[id])
                continue;
            w.waits[id] = false;
            w.n--;
            if (find_live_before(s, id, handler, set))
                ask_sources(s, &w, &from, id);
        }
    }
}

/* By added local: is it read anywhere? */
static bool *
loaded_locals(const struct sweep *s)
{
    bool *is_loaded = JY_NEW_ARRAY(s->code->c_arena, bool, s->nnew);
    struct jy_instr parts[2];
    for (int id = jy_code_begin(s->code); id != JY_NO_INSTR; id = jy_code_next(s->code, id)) {
        const struct jy_instr *instr = jy_code_at(s->code, id);
        int n = jy_instr_split(instr, parts) ? 2 : 1;
        for (int k = 0; k < n; k++) {
            const struct jy_instr *part = n == 2 ? &parts[k] : instr;
            bool is_read = n == 2 || (part->i_op != STORE_FAST && part->i_op != DELETE_FAST);
            if (is_read && jy_instr_argkind(part->i_op) == JY_ARG_LOCAL && added_local(s, part->i_arg) >= 0)
                is_loaded[added_local(s, part->i_arg)] = true;
        }
    }
    return is_loaded;
}

/* A store becomes a POP_TOP; the deletes of a local that nobody loads go with its stores. */
static void
sweep_stores(struct sweep *s)
{
    uint64_t *behind = JY_NEW_ARRAY(s->code->c_arena, uint64_t, s->nwords);
    const bool *is_loaded = loaded_locals(s);
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

/* By id: the live instruction in front of what is jumped back to, or JY_NO_INSTR. */
static int *
before_loops(const struct jy_code *code)
{
    size_t n = code->c_instrs.n;
    int *before = JY_NEW_ARRAY(code->c_arena, int, n), *order = JY_NEW_ARRAY(code->c_arena, int, n);
    int count = 0;
    for (size_t id = 0; id < n; id++)
        before[id] = JY_NO_INSTR;
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id))
        order[id] = count++;
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        int target = jy_instr_is_jump(jy_code_at(code, id)->i_op) ? jy_code_live(code, jy_code_at(code, id)->i_target)
                                                                  : JY_NO_INSTR;
        if (target != JY_NO_INSTR && order[target] <= order[id])
            before[target] = live_before(code, target);
    }
    return before;
}

/* What a signal raises at a loop's head goes to the handler of the instruction in front. Where the original's does not stand there any more, a NOP takes its place. */
static void
cover_loops(struct sweep *s)
{
    struct jy_code *code = s->code;
    int n = (int)code->c_instrs.n;
    const int *handler = handlers_by_id(code), *before = before_loops(code);
    for (int id = 0; id < n; id++) {
        if (before[id] == JY_NO_INSTR)
            continue;
        int head = id; /* in the original: questions whether to leave stand before it */
        while (head != JY_NO_INSTR && head >= code->c_ndecoded)
            head = jy_code_next(code, head);
        if (before[id] == head - 1 || handler[before[id]] == handler[id])
            continue;
        int nop = jy_edit_insert_before(code, id, NOP, 0);
        for (size_t i = 0; i < code->c_handlers.n; i++) {
            struct jy_handler *h = &code->c_handlers.at[i];
            if (jy_code_live(code, h->h_start) == id)
                h->h_start = nop;
            if (h->h_end != JY_NO_INSTR && jy_code_live(code, h->h_end) == id)
                h->h_end = nop; /* the NOP is the head's, not what stands before it */
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
        jy_sweep_handlers(code);
        sweep_jumps(&s);
        if (s.nnew > 0)
            sweep_stores(&s);
        sweep_pushes(&s);
    } while (s.changed);
    cover_frames(&s);
    if (jy_instr_polls_at_target())
        cover_loops(&s);
    return JY_OK;
}
