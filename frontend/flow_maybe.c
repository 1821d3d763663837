/* Locals that are bound on some ways only: `x` before the first round of the loop that assigns it, or behind an `if`.
 *
 * Every vector of kinds is a version of its own, so such a local would double all that follows, loops above all: a first round in which it is unbound, and the later ones. Instead it is a MAYBE
 * there: a register that says whether it is bound beside the value that it would have. Which locals, and of what kind, is known only when both ways have come to one instruction; the
 * flow is begun again then. From then on the local is made a MAYBE on every edge, and is a plain value again behind each place that assigns or reads it.
 *
 * A local that the flow will not read before it is assigned again may be of several kinds, too: nobody branches on which one it is, only exits have to say. It is a chain there: a MAYBE of the
 * first kind or else a MAYBE of the second, and so on; at the end it is unbound. */
#include "frontend/flow.h"

#include <string.h>

enum { MAX_DEPTH = 4 };               /* taste: of tuples */
enum { WORD = 64, MAX_ROUNDS = 100 }; /* locals whose reads are followed; rounds until all of them are known */

/* Values that can be made of zeros, and thrown away without a look. */
static bool
can_be_maybe(const struct jy_val *v, int depth)
{
    bool plain = jy_val_is_number(v) || v->kind == JY_K_COMPLEX || v->kind == JY_K_CHAR ||
                 (v->kind == JY_K_LIST && v->input == 0);
    if (v->kind != JY_K_TUPLE || v->input != 0 || depth == 0)
        return plain;
    for (size_t i = 0; i < v->nparts; i++)
        if (!can_be_maybe(v->parts[i], depth - 1))
            return false;
    return true;
}

/* ---- locals that are not read any more ---- */

/* What one of the parts of an instruction does to the bits of locals that are read behind it. */
static uint64_t
before_part(const struct jy_instr *part, uint64_t behind)
{
    if (jy_instr_argkind(part->i_op) != JY_ARG_LOCAL || part->i_arg >= WORD)
        return behind;
    uint64_t bit = UINT64_C(1) << part->i_arg;
    bool stores = jy_instr_pops(part->i_op, part->i_arg) == 1 && jy_instr_pushes(part->i_op, part->i_arg, false) == 0;
    return stores ? behind & ~bit : behind | bit;
}

static uint64_t
before(const struct jy_code *code, const uint64_t *reads, int id)
{
    const struct jy_instr *instr = jy_code_at(code, id);
    struct jy_instr parts[2] = { *instr };
    size_t n = jy_instr_split(instr, parts) ? 2 : 1;
    int next = jy_code_next(code, id);
    uint64_t bits = next != JY_NO_INSTR ? reads[next] : 0;
    if (jy_instr_is_jump(instr->i_op))
        bits |= reads[jy_code_live(code, instr->i_target)];
    while (n-- > 0)
        bits = before_part(&parts[n], bits);
    return bits;
}

/* By id: which locals may be read from there on, by instructions that flows go through. */
static const uint64_t *
reads_of(struct jy_vbuild *b, const struct jy_code *code)
{
    struct jy_vcode *c = jy_vb_code(b, code);
    bool changes = c->reads == NULL;
    if (changes)
        c->reads = JY_NEW_ARRAY(b->arena, uint64_t, code->c_instrs.n);
    for (int k = 0; changes; k++) {
        changes = false;
        for (int id = code->c_last; id != JY_NO_INSTR; id = jy_code_at(code, id)->i_prev) {
            if (jy_code_at(code, id)->i_dead)
                continue;
            uint64_t bits = k < MAX_ROUNDS ? before(code, c->reads, id) : UINT64_MAX;
            changes |= bits != c->reads[id];
            c->reads[id] = bits;
        }
    }
    return c->reads;
}

static bool
is_read(struct jy_vbuild *b, const struct jy_vframe *frame, size_t slot)
{
    return slot >= WORD || (reads_of(b, frame->f->f_instrs)[frame->pc] >> slot & 1) != 0;
}

static struct jy_vchain *
chain_of(const struct jy_vhints *hints, const PyObject *code, size_t slot)
{
    for (size_t i = 0; i < hints->chains.n; i++)
        if (hints->chains.at[i].code == code && hints->chains.at[i].slot == slot)
            return &hints->chains.at[i];
    return NULL;
}

/* Its place in the chain; the length: it has none. */
static size_t
place_in(const struct jy_vchain *chain, const struct jy_val *v)
{
    size_t k = 0;
    while (k < chain->n && !jy_val_same_kind(chain->likes[k], v))
        k++;
    return k;
}

/* The kinds that the value may be of; false: they do not fit into a chain. */
static bool
add_kinds(struct jy_vchain *chain, const struct jy_val *v)
{
    for (; v->kind == JY_K_MAYBE; v = v->parts[1]) {
        if (!add_kinds(chain, v->parts[0]))
            return false;
        if (v->nparts == 1)
            return true;
    }
    if (v->kind == JY_K_UNBOUND || place_in(chain, v) < chain->n)
        return true;
    if (!can_be_maybe(v, MAX_DEPTH) || chain->n == sizeof chain->likes / sizeof *chain->likes)
        return false;
    chain->likes[chain->n++] = v;
    return true;
}

static bool
is_bound(const struct jy_val *v)
{
    return v->kind != JY_K_UNBOUND;
}

/* Two kinds of a local that is not read there. */
static bool
learn_chain(struct jy_vbuild *b, const struct jy_vframe *x, const struct jy_vframe *y, size_t slot)
{
    const struct jy_val *v = x->locals[slot], *w = y->locals[slot];
    if (x->pc != y->pc || !is_bound(v) || !is_bound(w) || jy_val_same_kind(v, w) || is_read(b, x, slot))
        return false;
    struct jy_vchain *known = chain_of(b->hints, x->f->f_code, slot), chain = { x->f->f_code, slot, 0, { NULL } };
    if (known != NULL)
        chain = *known;
    size_t n = chain.n;
    if (!add_kinds(&chain, v) || !add_kinds(&chain, w) || chain.n == n)
        return false;
    if (known != NULL)
        *known = chain;
    else
        *jy_vec_push(b->arena, &b->hints->chains) = chain;
    return true;
}

/* ---- locals that may be unbound ---- */

static const struct jy_val *
hint_of(const struct jy_vhints *hints, const PyObject *code, size_t slot)
{
    for (size_t i = 0; i < hints->n; i++)
        if (hints->at[i].code == code && hints->at[i].slot == slot)
            return hints->at[i].like;
    return NULL;
}

static bool
is_hint(const struct jy_vbuild *b, const PyObject *code, size_t slot, const struct jy_val *x, const struct jy_val *y)
{
    const struct jy_val *bound = x->kind == JY_K_UNBOUND ? y : x;
    return (x->kind == JY_K_UNBOUND) != (y->kind == JY_K_UNBOUND) && can_be_maybe(bound, MAX_DEPTH) &&
           hint_of(b->hints, code, slot) == NULL;
}

bool
jy_vmaybe_learn(struct jy_vbuild *b, const struct jy_vframe *x, const struct jy_vframe *y)
{
    size_t n = b->hints->n;
    bool chains = false;
    for (; x != NULL && y != NULL; x = x->back, y = y->back) {
        if (x->f->f_code != y->f->f_code)
            break;
        for (size_t i = 0; i < x->nlocals; i++)
            chains |= learn_chain(b, x, y, i);
        for (size_t i = 0; i < x->nlocals; i++)
            if (is_hint(b, x->f->f_code, i, x->locals[i], y->locals[i]))
                *jy_vec_push(b->arena, b->hints) =
                    (struct jy_vhint){ x->f->f_code, i,
                                       x->locals[i]->kind == JY_K_UNBOUND ? y->locals[i] : x->locals[i] };
    }
    return chains || b->hints->n != n;
}

static struct jy_val *
zeros_like(struct jy_vbuild *b, const struct jy_val *like)
{
    struct jy_val *v = jy_arena_copy(b->arena, like, sizeof *like);
    v->regs = JY_NEW_ARRAY(b->arena, jy_fv, v->nregs + 1);
    v->parts = JY_NEW_ARRAY(b->arena, struct jy_val *, v->nparts + 1);
    for (size_t i = 0; i < v->nregs; i++)
        v->regs[i] = jy_flow_const(b->w, b->block, jy_val_type(v, i), (union jy_scalar){ .bits = 0 });
    for (size_t i = 0; i < v->nparts; i++)
        v->parts[i] = zeros_like(b, like->parts[i]);
    return v;
}

static struct jy_val *
maybe_of(struct jy_vbuild *b, struct jy_val *v, const struct jy_val *like)
{
    bool is_bound = v->kind != JY_K_UNBOUND;
    if (is_bound && !jy_val_same_kind(v, like))
        return v;
    struct jy_val *value = is_bound ? v : zeros_like(b, like), *out = jy_val_new(b, JY_K_MAYBE, 1);
    out->regs[0] = jy_vbool(b, is_bound);
    out->nparts = 1;
    out->parts = JY_NEW_ARRAY(b->arena, struct jy_val *, 1);
    out->parts[0] = value;
    return out;
}

/* `v`, or what it may be, as a chain; it fits. */
static struct jy_val *
as_chain(struct jy_vbuild *b, struct jy_val *v, const struct jy_vchain *chain, size_t from)
{
    if (from == chain->n)
        return v; /* unbound */
    struct jy_val *rest = v, *value = NULL;
    jy_fv is_this = jy_vbool(b, false);
    if (v->kind == JY_K_MAYBE && place_in(chain, v->parts[0]) == from) {
        is_this = v->regs[0];
        value = v->parts[0];
        rest = v->nparts == 2 ? v->parts[1] : jy_val_new(b, JY_K_UNBOUND, 0);
    } else if (v->kind != JY_K_MAYBE && place_in(chain, v) == from) {
        is_this = jy_vbool(b, true);
        value = v;
        rest = jy_val_new(b, JY_K_UNBOUND, 0);
    }
    struct jy_val *parts[] = { value != NULL ? value : zeros_like(b, chain->likes[from]), NULL };
    parts[1] = as_chain(b, rest, chain, from + 1);
    struct jy_val *out = jy_val_parts(b, JY_K_MAYBE, from + 1 == chain->n ? 1 : 2, parts);
    out->nregs = 1;
    out->regs[0] = is_this;
    return out;
}

/* Does all that the value may be stand in the chain, in its order? */
static bool
fits_chain(const struct jy_vchain *chain, const struct jy_val *v, size_t from)
{
    if (v->kind == JY_K_UNBOUND)
        return true;
    const struct jy_val *first = v->kind == JY_K_MAYBE ? v->parts[0] : v;
    size_t place = place_in(chain, first);
    if (place < from || place == chain->n)
        return false;
    return v->kind != JY_K_MAYBE || v->nparts == 1 || fits_chain(chain, v->parts[1], place + 1);
}

static const struct jy_vchain *
chain_at(struct jy_vbuild *b, const struct jy_vframe *frame, size_t slot)
{
    const struct jy_vchain *chain = chain_of(b->hints, frame->f->f_code, slot);
    bool fits = chain != NULL && !is_read(b, frame, slot) && fits_chain(chain, frame->locals[slot], 0);
    return fits ? chain : NULL;
}

static bool
differs(struct jy_vbuild *b, const struct jy_vframe *frame, size_t slot)
{
    if (chain_at(b, frame, slot) != NULL)
        return true;
    const struct jy_val *v = frame->locals[slot], *like = hint_of(b->hints, frame->f->f_code, slot);
    return like != NULL && (v->kind == JY_K_UNBOUND || jy_val_same_kind(v, like));
}

void
jy_vmaybe_frame(struct jy_vbuild *b, struct jy_vframe *frame)
{
    if (b->hints->n == 0 && b->hints->chains.n == 0)
        return;
    for (size_t i = 0; i < frame->nlocals; i++) {
        const struct jy_vchain *chain = chain_at(b, frame, i);
        if (chain != NULL)
            frame->locals[i] = as_chain(b, frame->locals[i], chain, 0);
        else if (differs(b, frame, i))
            frame->locals[i] = maybe_of(b, frame->locals[i], hint_of(b->hints, frame->f->f_code, i));
    }
    for (size_t i = 0; frame->back != NULL && i < frame->back->nlocals; i++)
        if (differs(b, frame->back, i)) { /* others may have the caller's frame, too */
            frame->back = jy_vb_copy(b, frame->back);
            break;
        }
    if (frame->back != NULL)
        jy_vmaybe_frame(b, frame->back);
}

/* ---- what is known in the end ---- */

struct used { /* of one exit */
    struct jy_box **at;
    size_t n, cap;
};

/* Most are bound, or are not, on every way to the exit. */
static struct jy_box *
resolved(struct jy_vbuild *b, const struct jy_flow_exit *exit, struct jy_box *box)
{
    if (box == NULL)
        return NULL;
    if (box->how == JY_BOX_MAYBE) {
        const struct jy_fvalue *flag = jy_flow_at(b->w, exit->x_values.at[box->value]);
        if (flag->f_op == JY_FLOW_CONST && flag->f_value.i != 0)
            return resolved(b, exit, box->parts[0]);
        if (flag->f_op == JY_FLOW_CONST)
            return box->n > 1 ? resolved(b, exit, box->parts[1]) : JY_NEW(b->arena, struct jy_box); /* NULL */
    }
    for (size_t i = 0; i < box->n; i++)
        box->parts[i] = resolved(b, exit, box->parts[i]);
    return box;
}

static void
note_used(struct jy_vbuild *b, struct used *used, struct jy_box *box)
{
    for (size_t k = 0; k < used->n; k++)
        if (used->at[k] == box)
            return;
    *jy_vec_push(b->arena, used) = box;
    for (size_t i = 0; i < box->n; i++)
        note_used(b, used, box->parts[i]);
}

/* Values of the exit that no box asks for any more would keep other exits from looking like it. */
static void
drop_unused(struct jy_vbuild *b, struct jy_flow_exit *exit, size_t nboxes)
{
    struct used used = { 0 };
    jy_fv *values = JY_NEW_ARRAY(b->arena, jy_fv, exit->x_values.n + 1);
    uint32_t n = 0;
    for (size_t i = 0; i < nboxes; i++)
        if (exit->x_boxes[i] != NULL)
            note_used(b, &used, exit->x_boxes[i]);
    for (size_t f = 0; f < exit->x_ninner; f++)
        for (size_t i = 0; i < exit->x_inner[f].x_depth + exit->x_inner[f].x_nlocals; i++)
            if (exit->x_inner[f].x_boxes[i] != NULL)
                note_used(b, &used, exit->x_inner[f].x_boxes[i]);
    for (size_t k = 0; k < used.n; k++) {
        struct jy_box *box = used.at[k];
        size_t own = jy_box_nvalues(box);
        memcpy(values + n, exit->x_values.at + box->value, own * sizeof *values);
        box->value = own == 0 ? 0 : n;
        n += (uint32_t)own;
    }
    exit->x_values.at = values;
    exit->x_values.n = n;
}

void
jy_vmaybe_resolve(struct jy_vbuild *b)
{
    for (size_t k = 0; k < b->w->w_exits.n && b->hints->n > 0; k++) {
        struct jy_flow_exit *exit = &b->w->w_exits.at[k];
        size_t n = exit->x_kind == JY_EXIT_RETURN ? 1 : exit->x_depth + exit->x_nlocals;
        if (exit->x_boxes == NULL)
            continue;
        for (size_t i = 0; i < n; i++)
            exit->x_boxes[i] = resolved(b, exit, exit->x_boxes[i]);
        for (size_t f = 0; f < exit->x_ninner; f++)
            for (size_t i = 0; i < exit->x_inner[f].x_depth + exit->x_inner[f].x_nlocals; i++)
                exit->x_inner[f].x_boxes[i] = resolved(b, exit, exit->x_inner[f].x_boxes[i]);
        drop_unused(b, exit, n);
    }
}
