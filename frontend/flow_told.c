/* Which values of a frame can be told from equal ones by what the program does next.
 *
 * An exit makes new objects of numbers. That is seen where two objects of one value differ: with `is`, and with NaNs wherever identity comes before equality (`in`, list.index, == of lists and
 * tuples, keys). What only computes with an object, compares or tests it does not see which one it is. So, backward through the code: a local or stack item is *told* at an instruction when its
 * object may come to another instruction than such. graph/flow_identity.c asks for it. */
#include "frontend/flow.h"

enum { WORD = 64, MAX_ROUNDS = 100 }; /* locals and stack items that are followed; rounds until all of them are known */

enum family {
#define FAMILY(name, handler) name##_family,
#include "frontend/flow_op.def"
#undef FAMILY
    FAMILY_COUNT,
};

static const uint8_t families[256] = {
#define OPCODE(name, handler, argkind, caches, pops, pushes) [name] = handler##_family + 1,
#define OPCODE_BREAKS(name, why, argkind, caches, pops, pushes) [name] = 0,
#include "frontend/cpython/opcodes.def"
};

/* Which take the values of numbers only. (+x of a float is x.) */
static const bool takes_values[FAMILY_COUNT] = {
    [op_binary_op_family] = true,
    [op_compare_family] = true,
    [op_unary_invert_family] = true,
    [op_unary_negative_family] = true,
    [op_unary_not_family] = true,
    [op_to_bool_family] = true,
    [op_pop_jump_if_false_family] = true,
    [op_pop_jump_if_true_family] = true,
    [op_pop_top_family] = true,
    [op_pop_jump_if_none_family] = true,
    [op_pop_jump_if_not_none_family] = true,
};

static uint64_t
low_bits(int n)
{
    return n >= WORD ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static uint64_t
shifted_up(uint64_t bits, int n)
{
    return n >= WORD ? 0 : bits << n;
}

/* What is told before an instruction, one of those that a superinstruction stands for, from what is told behind it. */
static struct jy_vtold
before_part(const struct jy_instr *part, struct jy_vtold behind, bool jump)
{
    int arg = part->i_arg, pops = jy_instr_pops(part->i_op, arg), pushes = jy_instr_pushes(part->i_op, arg, jump);
    enum family family = families[part->i_op] != 0 ? (enum family)(families[part->i_op] - 1) : FAMILY_COUNT;
    bool is_local = jy_instr_argkind(part->i_op) == JY_ARG_LOCAL && arg < WORD;
    uint64_t local = is_local ? UINT64_C(1) << arg : 0, top = behind.stack & 1;
    struct jy_vtold now = { behind.locals, pushes >= WORD ? 0 : behind.stack >> pushes };
    if (is_local && pops == 0 && pushes == 1) {
        now.locals |= top != 0 ? local : 0;
    } else if (is_local && pops == 1 && pushes == 0) {
        now.locals &= ~local;
        now.stack = behind.stack << 1 | ((behind.locals & local) != 0);
    } else if (family == op_copy_family && arg < WORD) {
        now.stack = behind.stack >> 1 | top << (arg - 1);
    } else if (family == op_swap_family && arg < WORD) {
        uint64_t other = behind.stack >> (arg - 1) & 1, both = UINT64_C(1) | UINT64_C(1) << (arg - 1);
        now.stack = (behind.stack & ~both) | other | top << (arg - 1);
    } else {
        bool plain = family != FAMILY_COUNT && takes_values[family];
        now.stack = shifted_up(now.stack, pops) | (plain ? 0 : low_bits(pops));
    }
    return now;
}

static struct jy_vtold
before_way(const struct jy_instr *instr, struct jy_vtold behind, bool jump)
{
    struct jy_instr parts[2] = { *instr };
    size_t n = jy_instr_split(instr, parts) ? 2 : 1;
    while (n-- > 0)
        behind = before_part(&parts[n], behind, jump);
    return behind;
}

static struct jy_vtold
joined(struct jy_vtold a, struct jy_vtold b)
{
    return (struct jy_vtold){ a.locals | b.locals, a.stack | b.stack };
}

/* handler: of what is raised there, or JY_NO_INSTR. */
static struct jy_vtold
before(const struct jy_code *code, const struct jy_vtold *told, int id, int handler)
{
    const struct jy_instr *instr = jy_code_at(code, id);
    int next = jy_code_next(code, id);
    struct jy_vtold now = { 0, 0 };
    if (next == JY_NO_INSTR || !jy_instr_falls_through(instr->i_op))
        now = before_way(instr, now, false); /* what it takes itself */
    else
        now = before_way(instr, told[next], false);
    if (jy_instr_is_jump(instr->i_op))
        now = joined(now, before_way(instr, told[jy_code_live(code, instr->i_target)], true));
    if (handler != JY_NO_INSTR) /* which items are there is not followed */
        now = joined(now, (struct jy_vtold){ told[jy_code_live(code, handler)].locals, UINT64_MAX });
    return now;
}

static const int *
handlers_of(struct jy_vbuild *b, const struct jy_code *code)
{
    int *handlers = JY_NEW_ARRAY(b->arena, int, code->c_instrs.n);
    for (size_t i = 0; i < code->c_instrs.n; i++)
        handlers[i] = JY_NO_INSTR;
    for (size_t k = 0; k < code->c_handlers.n; k++) {
        const struct jy_handler *h = &code->c_handlers.at[k];
        int end = h->h_end == JY_NO_INSTR ? JY_NO_INSTR : jy_code_live(code, h->h_end);
        for (int id = jy_code_live(code, h->h_start); id != JY_NO_INSTR && id != end; id = jy_code_next(code, id))
            handlers[id] = h->h_handler;
    }
    return handlers;
}

/* By id. */
static const struct jy_vtold *
told_of(struct jy_vbuild *b, const struct jy_code *code)
{
    struct jy_vcode *c = jy_vb_code(b, code);
    bool changes = c->told == NULL, gives_up = false;
    const int *handlers = changes ? handlers_of(b, code) : NULL;
    if (changes)
        c->told = JY_NEW_ARRAY(b->arena, struct jy_vtold, code->c_instrs.n);
    for (int k = 0; changes; k++) {
        changes = false;
        gives_up |= k == MAX_ROUNDS;
        for (int id = code->c_last; id != JY_NO_INSTR; id = jy_code_at(code, id)->i_prev) {
            if (jy_code_at(code, id)->i_dead)
                continue;
            struct jy_vtold now =
                gives_up ? (struct jy_vtold){ UINT64_MAX, UINT64_MAX } : before(code, c->told, id, handlers[id]);
            changes |= now.locals != c->told[id].locals || now.stack != c->told[id].stack;
            c->told[id] = now;
        }
    }
    return c->told;
}

void
jy_vtold_mark(struct jy_box *box)
{
    box->is_told = true;
    for (size_t i = 0; i < box->n; i++)
        jy_vtold_mark(box->parts[i]);
}

void
jy_vtold_mark_frame(struct jy_vbuild *b, const struct jy_vframe *frame, size_t nlocals, struct jy_box *const *boxes)
{
    struct jy_vtold told = told_of(b, frame->f->f_instrs)[frame->pc];
    for (size_t i = 0; i < frame->depth; i++) {
        size_t from_top = frame->depth - 1 - i;
        if (from_top >= WORD || (told.stack >> from_top & 1) != 0)
            jy_vtold_mark(boxes[i]);
    }
    for (size_t i = 0; i < nlocals; i++)
        if (i >= WORD || (told.locals >> i & 1) != 0)
            jy_vtold_mark(boxes[frame->depth + i]);
}
