/* A loop is what a backward jump goes round: from its target, the head, to the jump. A `while` is compiled with its test twice, in front and behind, so that `continue` has a head of its own:
 *
 *     W: test -> end        continue goes to W
 *     B: body               the round's end to B
 *        test -> B
 *
 * Both are one loop. Its line is that of the test: the least of what lies in it. */
#include "frontend/code_loops.h"

struct finder {
    const struct jy_code *code;
    struct jy_arena *arena;
    struct jy_code_loops *out;
    int cold; /* offset of the first handler: handlers stand behind everything else */
};

static int
offset_of(const struct jy_code *code, int id)
{
    return jy_code_at(code, id)->i_offset;
}

static bool
is_for(const struct jy_code *code, const struct jy_code_loop *loop)
{
    return jy_code_at(code, loop->first)->i_op == FOR_ITER;
}

static bool
holds(const struct jy_code *code, const struct jy_code_loop *loop, int id)
{
    int at = offset_of(code, id);
    return at >= offset_of(code, loop->first) && at <= offset_of(code, loop->last);
}

static int
find_cold(const struct jy_code *code)
{
    int cold = INT32_MAX;
    for (size_t k = 0; k < code->c_handlers.n; k++) {
        int at = offset_of(code, jy_code_live(code, code->c_handlers.at[k].h_handler));
        cold = at < cold ? at : cold;
    }
    return cold;
}

/* Asking another generator for values goes round, too, but is no loop of the program's. */
static bool
is_awaiting(const struct jy_code *code, int head)
{
    return jy_code_at(code, head)->i_op == SEND;
}

static void
add_jump(struct finder *f, int head, int from)
{
    bool from_handler = offset_of(f->code, from) >= f->cold && offset_of(f->code, head) < f->cold;
    for (size_t k = 0; k < f->out->list.n; k++) {
        struct jy_code_loop *loop = &f->out->list.at[k];
        if (loop->first != head)
            continue;
        if (!from_handler && offset_of(f->code, from) > offset_of(f->code, loop->last))
            loop->last = from;
        return;
    }
    *jy_vec_push(f->arena, &f->out->list) =
        (struct jy_code_loop){ .first = head, .last = from_handler ? head : from, .around = -1 };
}

static uint32_t
line_of(const struct jy_code *code, int id)
{
    int line = jy_code_at(code, id)->i_position.line;
    return line > 0 ? (uint32_t)line : UINT32_MAX;
}

static void
find_line(const struct jy_code *code, struct jy_code_loop *loop)
{
    uint32_t least = line_of(code, loop->first);
    for (int id = loop->first; id != JY_NO_INSTR && holds(code, loop, id); id = jy_code_next(code, id)) {
        uint32_t line = line_of(code, id);
        least = line < least && !is_for(code, loop) ? line : least;
        loop->last_line = line != UINT32_MAX && line > loop->last_line ? line : loop->last_line;
    }
    loop->line = least == UINT32_MAX ? 0 : least;
}

/* The two heads of a `while`. */
static bool
is_one(const struct jy_code *code, const struct jy_code_loop *a, const struct jy_code_loop *b)
{
    return !is_for(code, a) && !is_for(code, b) && a->line == b->line &&
           (holds(code, a, b->first) || holds(code, b, a->first));
}

static void
join_heads(struct finder *f)
{
    size_t n = 0;
    for (size_t k = 0; k < f->out->list.n; k++) {
        struct jy_code_loop loop = f->out->list.at[k];
        size_t other = 0;
        while (other < n && !is_one(f->code, &f->out->list.at[other], &loop))
            other++;
        struct jy_code_loop *into = &f->out->list.at[other];
        if (other == n) {
            f->out->list.at[n++] = loop;
            continue;
        }
        into->first = offset_of(f->code, loop.first) < offset_of(f->code, into->first) ? loop.first : into->first;
        into->last_line = loop.last_line > into->last_line ? loop.last_line : into->last_line;
        into->last = offset_of(f->code, loop.last) > offset_of(f->code, into->last) ? loop.last : into->last;
    }
    f->out->list.n = n;
}

/* Does `a` come first: it begins earlier, or is the outer one? */
static bool
comes_first(const struct jy_code *code, const struct jy_code_loop *a, const struct jy_code_loop *b)
{
    int x = offset_of(code, a->first), y = offset_of(code, b->first);
    return x != y ? x < y : offset_of(code, a->last) > offset_of(code, b->last);
}

static void
put_in_order(struct finder *f)
{
    for (size_t k = 1; k < f->out->list.n; k++) {
        struct jy_code_loop loop = f->out->list.at[k];
        size_t to = k;
        for (; to > 0 && comes_first(f->code, &loop, &f->out->list.at[to - 1]); to--)
            f->out->list.at[to] = f->out->list.at[to - 1];
        f->out->list.at[to] = loop;
    }
    for (size_t k = 0; k < f->out->list.n; k++)
        for (size_t outer = 0; outer < k; outer++)
            if (holds(f->code, &f->out->list.at[outer], f->out->list.at[k].first))
                f->out->list.at[k].around = (int)outer;
}

static void
fill_innermost(struct finder *f)
{
    for (int id = jy_code_begin(f->code); id != JY_NO_INSTR; id = jy_code_next(f->code, id)) {
        f->out->innermost[id] = offset_of(f->code, id) >= f->cold ? JY_IN_HANDLER : JY_IN_NO_LOOP;
        for (size_t k = 0; k < f->out->list.n; k++)
            if (holds(f->code, &f->out->list.at[k], id))
                f->out->innermost[id] = (int)k;
    }
}

/* What a comprehension makes is given one more item behind as many iterators as it has loops. */
static void
mark_comprehension(struct finder *f, int id)
{
    const struct jy_instr *instr = jy_code_at(f->code, id);
    int loop = f->out->innermost[id];
    if (instr->i_op != LIST_APPEND && instr->i_op != SET_ADD && instr->i_op != MAP_ADD)
        return;
    for (int n = instr->i_arg - 1; n > 0 && loop >= 0; n--, loop = f->out->list.at[loop].around)
        f->out->list.at[loop].kind = JY_REPORT_COMPREHENSION;
}

struct jy_code_loops *
jy_code_loops_find(struct jy_arena *arena, const struct jy_code *code)
{
    struct jy_code_loops *out = JY_NEW(arena, struct jy_code_loops);
    struct finder f = { .code = code, .arena = arena, .out = out, .cold = find_cold(code) };
    out->innermost = JY_NEW_ARRAY(arena, int, code->c_instrs.n + 1);
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        const struct jy_instr *instr = jy_code_at(code, id);
        int head = jy_instr_is_jump(instr->i_op) ? jy_code_live(code, instr->i_target) : JY_NO_INSTR;
        if (head != JY_NO_INSTR && offset_of(code, head) <= offset_of(code, id) && !is_awaiting(code, head))
            add_jump(&f, head, id);
    }
    for (size_t k = 0; k < out->list.n; k++)
        find_line(code, &out->list.at[k]);
    join_heads(&f);
    put_in_order(&f);
    fill_innermost(&f);
    for (size_t k = 0; k < out->list.n; k++)
        out->list.at[k].kind = is_for(code, &out->list.at[k]) ? JY_REPORT_FOR : JY_REPORT_WHILE;
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id))
        mark_comprehension(&f, id);
    return out;
}
