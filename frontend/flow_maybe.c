/* Locals that are bound on some ways only: `x` before the first round of the loop that assigns it, or behind an `if`.
 *
 * Every vector of kinds is a version of its own, so such a local would double all that follows, loops above all: a first round in which it is unbound, and the later ones. Instead it is a MAYBE
 * there: a register that says whether it is bound beside the value that it would have. Which locals, and of what kind, is known only when both ways have come to one instruction; the
 * flow is begun again then. From then on the local is made a MAYBE on every edge, and is a plain value again behind each place that assigns or reads it. */
#include "frontend/flow.h"

enum { MAX_DEPTH = 4 }; /* taste: of tuples */

/* Values that can be made of zeros, and thrown away without a look. */
static bool
can_be_maybe(const struct jy_val *v, int depth)
{
    bool plain = jy_val_is_number(v) || v->kind == JY_K_COMPLEX || (v->kind == JY_K_LIST && v->input == 0);
    if (v->kind != JY_K_TUPLE || v->input != 0 || depth == 0)
        return plain;
    for (size_t i = 0; i < v->nparts; i++)
        if (!can_be_maybe(v->parts[i], depth - 1))
            return false;
    return true;
}

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
    size_t before = b->hints->n;
    for (; x != NULL && y != NULL; x = x->back, y = y->back) {
        if (x->f->f_code != y->f->f_code)
            break;
        for (size_t i = 0; i < x->nlocals; i++)
            if (is_hint(b, x->f->f_code, i, x->locals[i], y->locals[i]))
                *jy_vec_push(b->arena, b->hints) =
                    (struct jy_vhint){ x->f->f_code, i,
                                       x->locals[i]->kind == JY_K_UNBOUND ? y->locals[i] : x->locals[i] };
    }
    return b->hints->n != before;
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

static bool
differs(const struct jy_vbuild *b, const struct jy_vframe *frame, size_t slot)
{
    const struct jy_val *v = frame->locals[slot], *like = hint_of(b->hints, frame->f->f_code, slot);
    return like != NULL && (v->kind == JY_K_UNBOUND || jy_val_same_kind(v, like));
}

void
jy_vmaybe_frame(struct jy_vbuild *b, struct jy_vframe *frame)
{
    if (b->hints->n == 0)
        return;
    for (size_t i = 0; i < frame->nlocals; i++)
        if (differs(b, frame, i))
            frame->locals[i] = maybe_of(b, frame->locals[i], hint_of(b->hints, frame->f->f_code, i));
    for (size_t i = 0; frame->back != NULL && i < frame->back->nlocals; i++)
        if (differs(b, frame->back, i)) { /* others may have the caller's frame, too */
            frame->back = jy_vb_copy(b, frame->back);
            break;
        }
    if (frame->back != NULL)
        jy_vmaybe_frame(b, frame->back);
}
