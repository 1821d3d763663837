/* Linear forms, and the test in front of a loop that is made of them. */
#include "graph/flow_range.h"

struct jy_form
jy_form_constant(int64_t constant)
{
    return (struct jy_form){ .constant = constant };
}

struct jy_form
jy_form_base(jy_fv base)
{
    return (struct jy_form){ .n = 1, .term = { { base, 1 } } };
}

static bool
is_in_bounds(const struct jy_form *f)
{
    int64_t factors = 0;
    for (size_t k = 0; k < f->n; k++)
        factors += f->term[k].factor < 0 ? -f->term[k].factor : f->term[k].factor;
    return factors <= JY_FORM_MOST_FACTOR && f->constant <= JY_FORM_MOST_CONSTANT &&
           f->constant >= -JY_FORM_MOST_CONSTANT;
}

bool
jy_form_add(struct jy_form *out, const struct jy_form *a, const struct jy_form *b, int64_t factor)
{
    struct jy_form sum = *a;
    int64_t constant;
    if (factor > JY_FORM_MOST_FACTOR || factor < -JY_FORM_MOST_FACTOR ||
        __builtin_mul_overflow(b->constant, factor, &constant) ||
        __builtin_add_overflow(sum.constant, constant, &sum.constant))
        return false;
    for (size_t k = 0; k < b->n; k++) {
        size_t at = 0;
        while (at < sum.n && sum.term[at].base != b->term[k].base)
            at++;
        if (at == JY_FORM_TERMS)
            return false;
        if (at == sum.n)
            sum.term[sum.n++] = (struct jy_term){ b->term[k].base, 0 };
        sum.term[at].factor += factor * b->term[k].factor; /* both are at most 2^16 */
        if (sum.term[at].factor == 0)
            sum.term[at] = sum.term[--sum.n];
    }
    *out = sum;
    return is_in_bounds(&sum);
}

bool
jy_form_equal(const struct jy_form *a, const struct jy_form *b)
{
    struct jy_form difference;
    return jy_form_add(&difference, a, b, -1) && difference.n == 0 && difference.constant == 0;
}

/* ---- in front of the loop ---- */

jy_fv
jy_front_const(struct jy_counted *c, int64_t i)
{
    return jy_flow_const(c->w, c->front, JY_F_I64, (union jy_scalar){ .i = i });
}

jy_fv
jy_front_op(struct jy_counted *c, enum jy_fop op, enum jy_ftype type, jy_fv a, jy_fv b)
{
    jy_fv args[] = { a, b };
    return jy_flow_op(c->w, c->front, op, type, (size_t)jy_flow_op_info[op].nargs, args, JY_NO_EXIT);
}

jy_fv
jy_form_emit(struct jy_counted *c, const struct jy_form *form)
{
    jy_fv sum = JY_NO_FV;
    for (size_t k = 0; k < form->n; k++) {
        jy_fv term = form->term[k].base;
        if (form->term[k].factor != 1)
            term = jy_front_op(c, JY_FLOW_MUL, JY_F_I64, term, jy_front_const(c, form->term[k].factor));
        sum = sum == JY_NO_FV ? term : jy_front_op(c, JY_FLOW_ADD, JY_F_I64, sum, term);
    }
    if (sum == JY_NO_FV)
        return jy_front_const(c, form->constant);
    return form->constant == 0 ? sum : jy_front_op(c, JY_FLOW_ADD, JY_F_I64, sum, jy_front_const(c, form->constant));
}

/* ---- what needs no test ---- */

static bool
is_small(struct jy_counted *c, jy_fv base)
{
    struct jy_bounds b = jy_flow_bounds_of(&c->bounds, base);
    return b.low >= -(INT64_C(1) << JY_BASE_BITS) && b.high < INT64_C(1) << JY_BASE_BITS;
}

/* Computed from small bases, that is from less than 2^61. */
static bool
is_never_positive(struct jy_counted *c, const struct jy_form *form, int depth)
{
    int64_t most = form->constant;
    bool is_known = true;
    for (size_t k = 0; k < form->n; k++) {
        struct jy_bounds b = jy_flow_bounds_of(&c->bounds, form->term[k].base);
        int64_t factor = form->term[k].factor, bound = factor > 0 ? b.high : b.low, product;
        is_known &= !__builtin_mul_overflow(bound, factor, &product) && !__builtin_add_overflow(most, product, &most);
    }
    if (is_known && most <= 0)
        return true;
    for (size_t k = 0; depth > 0 && k < form->n; k++) { /* a minimum is at most each of the two */
        const struct jy_term term = form->term[k];
        for (size_t d = 0; d < c->derived.n; d++) {
            const struct jy_derived derived = c->derived.at[d];
            struct jy_form base = jy_form_base(term.base), rest, more;
            uint8_t op = jy_flow_at(c->w, term.base)->f_op;
            if (derived.base != term.base || op != (term.factor > 0 ? JY_FLOW_MIN : JY_FLOW_MAX) ||
                !jy_form_add(&rest, form, &base, -term.factor))
                continue;
            for (size_t i = 0; i < derived.nfrom; i++)
                if (jy_form_add(&more, &rest, &derived.from[i], term.factor) && is_never_positive(c, &more, depth - 1))
                    return true;
        }
    }
    return false;
}

bool
jy_form_is_never_negative(struct jy_counted *c, const struct jy_form *form)
{
    struct jy_form zero = jy_form_constant(0), negated;
    return jy_form_add(&negated, &zero, form, -1) && is_never_positive(c, &negated, 2);
}

static void
need_condition(struct jy_counted *c, const struct jy_form *form)
{
    c->asks = c->asks || !is_never_positive(c, form, 2);
    for (size_t k = 0; k < c->conditions.n; k++)
        if (jy_form_equal(&c->conditions.at[k], form))
            return;
    *jy_vec_push(c->w->w_arena, &c->conditions) = *form;
    jy_range_need(c, form);
}

void
jy_range_need(struct jy_counted *c, const struct jy_form *form)
{
    for (size_t k = 0; k < form->n; k++) {
        jy_fv base = form->term[k].base;
        size_t at = 0;
        c->asks = c->asks || !is_small(c, base);
        while (at < c->small.n && c->small.at[at] != base)
            at++;
        if (at < c->small.n)
            continue;
        *jy_vec_push(c->w->w_arena, &c->small) = base;
        for (size_t d = 0; d < c->derived.n; d++) {
            struct jy_derived derived = c->derived.at[d];
            if (derived.base != base)
                continue;
            for (size_t i = 0; i < derived.nfrom; i++)
                jy_range_need(c, &derived.from[i]);
            for (size_t i = 0; i < derived.nconditions; i++)
                need_condition(c, &derived.condition[i]);
        }
    }
}

bool
jy_range_need_le(struct jy_counted *c, const struct jy_form *a, int64_t constant, const struct jy_form *b)
{
    struct jy_form difference, shift = jy_form_constant(constant);
    if (!jy_form_add(&difference, a, b, -1) || !jy_form_add(&difference, &difference, &shift, 1))
        return false;
    if (difference.n == 0)
        return difference.constant <= 0;
    need_condition(c, &difference);
    return true;
}

/* Another one asks for more: the same bases with the same factors, and a greater constant. */
static bool
is_implied(const struct jy_counted *c, size_t at)
{
    for (size_t k = 0; k < c->conditions.n; k++) {
        struct jy_form more;
        if (k != at && jy_form_add(&more, &c->conditions.at[k], &c->conditions.at[at], -1) && more.n == 0 &&
            (more.constant > 0 || (more.constant == 0 && k < at)))
            return true;
    }
    return false;
}

/* Inputs are the same in every round of loops around this one: what is made of them alone is computed once, if it stands together. */
static bool
is_of_inputs(const struct jy_counted *c, const jy_fv *at, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (jy_flow_at(c->w, at[k])->f_block != 0)
            return false;
    return true;
}

static bool
form_of_inputs(const struct jy_counted *c, const struct jy_form *form)
{
    for (size_t k = 0; k < form->n; k++)
        if (!is_of_inputs(c, &form->term[k].base, 1))
            return false;
    return true;
}

static jy_fv
combined(struct jy_counted *c, enum jy_fop op, enum jy_ftype type, jy_fv all, jy_fv more)
{
    return all == JY_NO_FV ? more : jy_front_op(c, op, type, all, more);
}

/* All bases at once: each of base + 2^45 is below 2^46 if their bits together are. */
static jy_fv
are_small(struct jy_counted *c)
{
    jy_fv half = jy_front_const(c, INT64_C(1) << JY_BASE_BITS), bits = JY_NO_FV;
    for (int of_inputs = 1; of_inputs >= 0; of_inputs--)
        for (size_t k = 0; k < c->small.n; k++)
            if (is_of_inputs(c, &c->small.at[k], 1) == (of_inputs == 1) && !is_small(c, c->small.at[k]))
                bits = combined(c, JY_FLOW_OR, JY_F_I64, bits,
                                jy_front_op(c, JY_FLOW_ADD, JY_F_I64, c->small.at[k], half));
    if (bits == JY_NO_FV)
        return JY_NO_FV;
    return jy_front_op(c, JY_FLOW_BELOW, JY_F_I1, bits, jy_front_const(c, INT64_C(2) << JY_BASE_BITS));
}

/* All forms at once: each is <= 0, so that form - 1 has its sign bit. */
static jy_fv
are_not_positive(struct jy_counted *c)
{
    jy_fv bits = JY_NO_FV;
    for (int of_inputs = 1; of_inputs >= 0; of_inputs--)
        for (size_t k = 0; k < c->conditions.n; k++) {
            struct jy_form form = c->conditions.at[k];
            if (form_of_inputs(c, &form) != (of_inputs == 1) || is_implied(c, k) || is_never_positive(c, &form, 2))
                continue;
            form.constant--; /* at most 2^60 before */
            bits = combined(c, JY_FLOW_AND, JY_F_I64, bits, jy_form_emit(c, &form));
        }
    return bits == JY_NO_FV ? bits : jy_front_op(c, JY_FLOW_LT, JY_F_I1, bits, jy_front_const(c, 0));
}

jy_fv
jy_range_test(struct jy_counted *c)
{
    for (size_t k = 0; k < c->always.n; k++)
        jy_range_need(c, &c->always.at[k]);
    jy_fv all = are_small(c), below = are_not_positive(c);
    if (below != JY_NO_FV)
        all = combined(c, JY_FLOW_AND, JY_F_I1, all, below);
    for (size_t k = 0; k < c->facts.n; k++)
        all = combined(c, JY_FLOW_AND, JY_F_I1, all, c->facts.at[k]);
    return all == JY_NO_FV ? jy_flow_const(c->w, c->front, JY_F_I1, (union jy_scalar){ .i = 1 }) : all;
}
