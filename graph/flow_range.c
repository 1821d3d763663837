/* Ranges of the integers of a counted loop, during one chunk.
 *
 * A range is two linear forms over values known in front. It is right under the condition that the bases of its forms are small (jy_range_need), which also
 * makes the forms fit into 64 bits. What is not linear (min, a quotient, a product of two variables) is computed in front from the bounds, as a new base; that is a base like others and
 * `derived` remembers what it needs to be right. Instructions that wrap in silence are the numbers they stand for only where they fit: that is needed always.
 * Where the loop is not gone round at all, ranges are empty (low > high) and nothing said here matters.
 *
 * index     first .. stop - 1 (step > 0), stop + 1 .. first (step < 0)
 * sums      a parameter of the head that every round adds something to: first + what JY_CHUNK rounds add at most, so that every partial sum is covered
 * in blocks behind a branch  what its condition says as well (jy_range_at)
 * others    from their operands; a parameter of a join is between the least and the greatest of what it gets */
#include "graph/flow_range.h"

static const struct jy_interval unknown;

static struct jy_interval
exactly(struct jy_form form)
{
    return (struct jy_interval){ true, true, form, form };
}

static struct jy_interval
between(int64_t low, int64_t high)
{
    return (struct jy_interval){ true, true, jy_form_constant(low), jy_form_constant(high) };
}

/* A new base: `op` of what the forms come to. */
static struct jy_derived *
derive(struct jy_counted *c, struct jy_form *out, enum jy_fop op, const struct jy_form *a, const struct jy_form *b)
{
    jy_fv base = jy_front_op(c, op, JY_F_I64, jy_form_emit(c, a), b == NULL ? JY_NO_FV : jy_form_emit(c, b));
    struct jy_derived *d = jy_vec_push(c->w->w_arena, &c->derived);
    *d = (struct jy_derived){ .base = base, .from = { *a }, .nfrom = b == NULL ? 1 : 2 };
    if (b != NULL)
        d->from[1] = *b;
    *out = jy_form_base(base);
    return d;
}

/* The least (MIN) or greatest (MAX) of two. */
static struct jy_form
extreme(struct jy_counted *c, enum jy_fop op, const struct jy_form *a, const struct jy_form *b)
{
    struct jy_form out, difference;
    if (jy_form_add(&difference, a, b, -1) && difference.n == 0)
        return (difference.constant < 0) == (op == JY_FLOW_MIN) ? *a : *b;
    derive(c, &out, op, a, b);
    return out;
}

static struct jy_interval
either(struct jy_counted *c, const struct jy_interval *a, const struct jy_interval *b)
{
    struct jy_interval out = { a->has_low && b->has_low, a->has_high && b->has_high, { 0 }, { 0 } };
    if (out.has_low)
        out.low = extreme(c, JY_FLOW_MIN, &a->low, &b->low);
    if (out.has_high)
        out.high = extreme(c, JY_FLOW_MAX, &a->high, &b->high);
    return out;
}

/* a + factor * b */
static struct jy_interval
plus(const struct jy_interval *a, const struct jy_interval *b, int64_t factor)
{
    struct jy_interval out = { 0 };
    const struct jy_form *low = factor >= 0 ? &b->low : &b->high, *high = factor >= 0 ? &b->high : &b->low;
    bool has_low = factor >= 0 ? b->has_low : b->has_high, has_high = factor >= 0 ? b->has_high : b->has_low;
    out.has_low = a->has_low && has_low && jy_form_add(&out.low, &a->low, low, factor);
    out.has_high = a->has_high && has_high && jy_form_add(&out.high, &a->high, high, factor);
    return out;
}

static bool
is_constant(const struct jy_interval *r, int64_t *out)
{
    *out = r->low.constant;
    return r->has_low && r->has_high && r->low.n == 0 && r->high.n == 0 && r->low.constant == r->high.constant;
}

/* Both factors have less than 32 bits, so the four products of their bounds are right. */
static struct jy_interval
product(struct jy_counted *c, const struct jy_interval *a, const struct jy_interval *b)
{
    const struct jy_form limit = jy_form_constant(INT64_C(1) << 31);
    const struct jy_form *x[] = { &a->low, &a->high }, *y[] = { &b->low, &b->high };
    struct jy_interval out = { true, true, { 0 }, { 0 } };
    struct jy_derived needs = { .nconditions = 4 };
    if (!a->has_low || !a->has_high || !b->has_low || !b->has_high)
        return unknown;
    struct jy_form minus_limit = jy_form_constant(-limit.constant);
    if (!jy_form_add(&needs.condition[0], &minus_limit, &a->low, -1) ||
        !jy_form_add(&needs.condition[1], &a->high, &limit, -1) ||
        !jy_form_add(&needs.condition[2], &minus_limit, &b->low, -1) ||
        !jy_form_add(&needs.condition[3], &b->high, &limit, -1))
        return unknown;
    /* Of factors that are never negative two products are enough. */
    bool grows = jy_form_is_never_negative(c, &a->low) && jy_form_is_never_negative(c, &b->low);
    for (size_t k = 0; k < 4; k += grows ? 3 : 1) {
        struct jy_form p;
        if (!grows && ((k / 2 == 1 && jy_form_equal(x[0], x[1])) || (k % 2 == 1 && jy_form_equal(y[0], y[1]))))
            continue; /* it was there */
        struct jy_derived *d = derive(c, &p, JY_FLOW_MUL, x[k / 2], y[k % 2]);
        d->nconditions = 4;
        for (size_t i = 0; i < 4; i++)
            d->condition[i] = needs.condition[i];
        out.low = k == 0 ? p : grows ? out.low : extreme(c, JY_FLOW_MIN, &out.low, &p);
        out.high = k == 0 || grows ? p : extreme(c, JY_FLOW_MAX, &out.high, &p);
    }
    return out;
}

static struct jy_interval
times(struct jy_counted *c, const struct jy_interval *a, const struct jy_interval *b)
{
    const struct jy_interval zero = between(0, 0);
    int64_t factor;
    if (is_constant(b, &factor))
        return plus(&zero, a, factor);
    if (is_constant(a, &factor))
        return plus(&zero, b, factor);
    return product(c, a, b);
}

/* Of a function that grows with its operand. */
static struct jy_interval
growing(struct jy_counted *c, enum jy_fop op, const struct jy_interval *a, int64_t by)
{
    struct jy_interval out = { a->has_low, a->has_high, { 0 }, { 0 } };
    struct jy_form constant = jy_form_constant(by);
    if (a->has_low)
        derive(c, &out.low, op, &a->low, &constant);
    if (a->has_high)
        derive(c, &out.high, op, &a->high, &constant);
    return out;
}

static struct jy_interval
remainder_of(struct jy_counted *c, const struct jy_interval *divisor)
{
    struct jy_interval out = between(0, 0);
    struct jy_form one = jy_form_constant(1), least;
    int64_t by;
    if (is_constant(divisor, &by))
        return by > 0 ? between(0, by - 1) : unknown;
    if (!divisor->has_low || !divisor->has_high || !jy_form_add(&least, &one, &divisor->low, -1))
        return unknown;
    struct jy_derived *d = derive(c, &out.high, JY_FLOW_SUB, &divisor->high, &one);
    d->condition[0] = least;
    d->nconditions = 1;
    return out;
}

static struct jy_interval
absolute(struct jy_counted *c, const struct jy_interval *a)
{
    struct jy_interval out = between(0, 0), zero = between(0, 0), negated = plus(&zero, a, -1);
    out.has_high = a->has_high && negated.has_high;
    if (out.has_high)
        out.high = extreme(c, JY_FLOW_MAX, &a->high, &negated.high);
    return out;
}

/* One operand is enough for one of the bounds. */
static struct jy_interval
least_or_greatest(struct jy_counted *c, enum jy_fop op, const struct jy_interval *a, const struct jy_interval *b)
{
    struct jy_interval out = { 0 };
    bool is_min = op == JY_FLOW_MIN;
    bool a_has = is_min ? a->has_high : a->has_low, b_has = is_min ? b->has_high : b->has_low;
    const struct jy_form *p = is_min ? &a->high : &a->low, *q = is_min ? &b->high : &b->low;
    bool has_near = a_has || b_has;
    struct jy_form near = !has_near ? (struct jy_form){ 0 } : a_has && b_has ? extreme(c, op, p, q) : a_has ? *p : *q;
    bool has_far = is_min ? a->has_low && b->has_low : a->has_high && b->has_high;
    struct jy_form far = { 0 };
    if (has_far)
        far = is_min ? extreme(c, op, &a->low, &b->low) : extreme(c, op, &a->high, &b->high);
    out.has_low = is_min ? has_far : has_near;
    out.has_high = is_min ? has_near : has_far;
    out.low = is_min ? far : near;
    out.high = is_min ? near : far;
    return out;
}

/* `select x < y ? x : y` and the like are written for the lesser or the greater of two; COUNT: another choice. */
static enum jy_fop
extreme_of_choice(const struct jy_counted *c, const struct jy_fvalue *v)
{
    const struct jy_fvalue *test = jy_flow_at(c->w, v->f_args[0]);
    bool less = test->f_op == JY_FLOW_LT || test->f_op == JY_FLOW_LE;
    if (!less && test->f_op != JY_FLOW_GT && test->f_op != JY_FLOW_GE)
        return JY_FLOW_COUNT;
    if (test->f_args[0] == v->f_args[1] && test->f_args[1] == v->f_args[2])
        return less ? JY_FLOW_MIN : JY_FLOW_MAX;
    if (test->f_args[0] == v->f_args[2] && test->f_args[1] == v->f_args[1])
        return less ? JY_FLOW_MAX : JY_FLOW_MIN;
    return JY_FLOW_COUNT;
}

static struct jy_interval
of_choice(struct jy_counted *c, const struct jy_fvalue *v, const struct jy_interval *r)
{
    enum jy_fop op = extreme_of_choice(c, v);
    return op == JY_FLOW_COUNT ? either(c, &r[1], &r[2]) : least_or_greatest(c, op, &r[1], &r[2]);
}

static struct jy_interval
of_type(enum jy_ftype type, bool is_signed)
{
    if (type == JY_F_I1)
        return between(0, 1);
    if (type != JY_F_I8 && type != JY_F_I16 && type != JY_F_I32)
        return unknown;
    int64_t half = INT64_C(1) << (jy_flow_type_bytes(type) * 8 - 1);
    return is_signed ? between(-half, half - 1) : between(0, 2 * half - 1);
}

/* What wraps where it does not fit is told apart from a number only by being tested: the fast copy always needs that. */
static struct jy_interval
without_wrapping(struct jy_counted *c, const struct jy_fvalue *v, struct jy_interval r)
{
    if (v->f_exit != JY_NO_EXIT)
        return r;
    if (!r.has_low || !r.has_high)
        return unknown;
    *jy_vec_push(c->w->w_arena, &c->always) = r.low;
    *jy_vec_push(c->w->w_arena, &c->always) = r.high;
    return r;
}

static struct jy_interval
of_arithmetic(struct jy_counted *c, const struct jy_fvalue *v, const struct jy_interval *r)
{
    const struct jy_interval zero = between(0, 0);
    int64_t k;
    switch ((int)v->f_op) {
    case JY_FLOW_ADD:
        return plus(&r[0], &r[1], 1);
    case JY_FLOW_SUB:
        return plus(&r[0], &r[1], -1);
    case JY_FLOW_NEG:
        return plus(&zero, &r[0], -1);
    case JY_FLOW_MUL:
        return times(c, &r[0], &r[1]);
    case JY_FLOW_ABS:
        return absolute(c, &r[0]);
    default: /* SHL */
        return is_constant(&r[1], &k) && k >= 0 && k <= 16 ? plus(&zero, &r[0], INT64_C(1) << k) : unknown;
    }
}

/* ---- what branches say ---- */

/* The smaller interval: `more` holds as well. */
static void
narrow(struct jy_counted *c, struct jy_interval *r, const struct jy_interval *more)
{
    if (more->has_low)
        r->low = r->has_low ? extreme(c, JY_FLOW_MAX, &r->low, &more->low) : more->low;
    if (more->has_high)
        r->high = r->has_high ? extreme(c, JY_FLOW_MIN, &r->high, &more->high) : more->high;
    r->has_low |= more->has_low;
    r->has_high |= more->has_high;
}

static enum jy_fop
negated(enum jy_fop op)
{
    static const uint8_t other[JY_FLOW_COUNT] = { [JY_FLOW_LT] = JY_FLOW_GE, [JY_FLOW_GE] = JY_FLOW_LT,
                                                  [JY_FLOW_GT] = JY_FLOW_LE, [JY_FLOW_LE] = JY_FLOW_GT,
                                                  [JY_FLOW_NE] = JY_FLOW_EQ, [JY_FLOW_EQ] = JY_FLOW_NE };
    return (enum jy_fop)other[op];
}

static enum jy_fop
turned_round(enum jy_fop op)
{
    static const uint8_t other[JY_FLOW_COUNT] = { [JY_FLOW_LT] = JY_FLOW_GT,
                                                  [JY_FLOW_GT] = JY_FLOW_LT,
                                                  [JY_FLOW_LE] = JY_FLOW_GE,
                                                  [JY_FLOW_GE] = JY_FLOW_LE,
                                                  [JY_FLOW_EQ] = JY_FLOW_EQ };
    return (enum jy_fop)other[op];
}

/* What the condition says of v where it is true (`holds`) or false. */
static void
narrow_by(struct jy_counted *c, struct jy_interval *r, jy_fv v, jy_fv condition, bool holds, int depth)
{
    const struct jy_fvalue test = *jy_flow_at(c->w, condition);
    const struct jy_interval one = between(1, 1);
    if (test.f_op == JY_FLOW_NOT && test.f_type == JY_F_I1) {
        narrow_by(c, r, v, test.f_args[0], !holds, depth);
        return;
    }
    if (depth > 0 && test.f_type == JY_F_I1 && test.f_op == (holds ? JY_FLOW_AND : JY_FLOW_OR))
        for (size_t k = 0; k < 2; k++)
            narrow_by(c, r, v, test.f_args[k], holds, depth - 1);
    if (test.f_nargs != 2 || (test.f_args[0] != v && test.f_args[1] != v) || test.f_args[0] == test.f_args[1])
        return;
    enum jy_fop op = holds ? (enum jy_fop)test.f_op : negated((enum jy_fop)test.f_op);
    if (test.f_args[1] == v)
        op = turned_round(op);
    struct jy_interval other = *jy_range_of(c, test.f_args[test.f_args[0] == v ? 1 : 0]);
    if (op == JY_FLOW_LT)
        other = plus(&other, &one, -1);
    else if (op == JY_FLOW_GT)
        other = plus(&other, &one, 1);
    else if (op != JY_FLOW_LE && op != JY_FLOW_GE && op != JY_FLOW_EQ)
        return;
    other.has_low &= op != JY_FLOW_LT && op != JY_FLOW_LE;
    other.has_high &= op != JY_FLOW_GT && op != JY_FLOW_GE;
    narrow(c, r, &other);
}

struct jy_interval
jy_range_at(struct jy_counted *c, jy_fv v, jy_fb block)
{
    struct jy_interval r = *jy_range_of(c, v);
    const struct jy_fvalue *value = jy_flow_at(c->w, v);
    if (value->f_type != JY_F_I64 || value->f_op == JY_FLOW_CONST || !c->inside[value->f_block])
        return r; /* what does not change is its own bound */
    for (jy_fb b = block; b != c->head && c->inside[b]; b = c->shape->dom.idom[b]) {
        if (jy_flow_npreds(c->shape, b) != 1)
            continue;
        struct jy_fpred pred = c->shape->pred[c->shape->pred_start[b]];
        const struct jy_fblock *from = &c->w->w_blocks.at[pred.from];
        if (from->f_end == JY_END_BRANCH && pred.from != c->head)
            narrow_by(c, &r, v, from->f_condition, pred.edge == 0, 2);
    }
    return r;
}

/* Of a float that is the conversion of an integer, that integer's. */
static struct jy_interval
of_whole_float(struct jy_counted *c, jy_fv v, jy_fb block)
{
    const struct jy_fvalue x = *jy_flow_at(c->w, v);
    const double most = (double)(INT64_C(1) << JY_BASE_BITS);
    if (x.f_op == JY_FLOW_TO_FLOAT && jy_flow_at(c->w, x.f_args[0])->f_type == JY_F_I64)
        return jy_range_at(c, x.f_args[0], block);
    if (x.f_op == JY_FLOW_CONST && x.f_value.d >= 0 && x.f_value.d <= most &&
        (double)(int64_t)x.f_value.d == x.f_value.d)
        return between((int64_t)x.f_value.d, (int64_t)x.f_value.d);
    return unknown;
}

/* int(a / b) of integers, a >= 0 and b >= 1. The conversions, the division and the cut never turn the order of two numbers around, so the same operations on the greatest
 * a and the least b give the greatest result. In front they are defined for all numbers: what is out of bounds is cut, and the conditions say that nothing was. */
static struct jy_interval
of_whole_quotient(struct jy_counted *c, const struct jy_fvalue *v)
{
    const struct jy_fvalue x = *jy_flow_at(c->w, v->f_args[0]);
    const struct jy_form zero = jy_form_constant(0), one = jy_form_constant(1),
                         most = jy_form_constant(INT64_C(1) << JY_BASE_BITS);
    struct jy_interval out = between(0, 0);
    if (x.f_op != JY_FLOW_DIV || x.f_type != JY_F_F64)
        return unknown;
    struct jy_interval a = of_whole_float(c, x.f_args[0], v->f_block), b = of_whole_float(c, x.f_args[1], v->f_block);
    struct jy_derived d = { .from = { a.high, b.low }, .nfrom = 2, .nconditions = 3 };
    if (!a.has_low || !a.has_high || !b.has_low || !jy_form_add(&d.condition[0], &zero, &a.low, -1) ||
        !jy_form_add(&d.condition[1], &a.high, &most, -1) || !jy_form_add(&d.condition[2], &one, &b.low, -1))
        return unknown;
    jy_fv cut = jy_front_op(c, JY_FLOW_MIN, JY_F_I64, jy_form_emit(c, &a.high), jy_form_emit(c, &most));
    jy_fv dividend = jy_front_op(c, JY_FLOW_MAX, JY_F_I64, cut, jy_form_emit(c, &zero));
    jy_fv divisor = jy_front_op(c, JY_FLOW_MAX, JY_F_I64, jy_form_emit(c, &b.low), jy_form_emit(c, &one));
    jy_fv quotient =
        jy_front_op(c, JY_FLOW_DIV, JY_F_F64, jy_front_op(c, JY_FLOW_TO_FLOAT, JY_F_F64, dividend, JY_NO_FV),
                    jy_front_op(c, JY_FLOW_TO_FLOAT, JY_F_F64, divisor, JY_NO_FV));
    d.base = jy_front_op(c, JY_FLOW_TO_INT, JY_F_I64, quotient, JY_NO_FV);
    *jy_vec_push(c->w->w_arena, &c->derived) = d;
    out.high = jy_form_base(d.base);
    return out;
}

static struct jy_interval
of_operation(struct jy_counted *c, const struct jy_fvalue *v)
{
    struct jy_interval r[3] = { unknown, unknown, unknown };
    int64_t k;
    if (v->f_op == JY_FLOW_SEXT || v->f_op == JY_FLOW_ZEXT)
        return of_type((enum jy_ftype)jy_flow_at(c->w, v->f_args[0])->f_type, v->f_op == JY_FLOW_SEXT);
    for (size_t i = 0; i < v->f_nargs && i < 3; i++)
        r[i] = jy_range_at(c, v->f_args[i], v->f_block);
    if ((v->f_op == JY_FLOW_ADD || v->f_op == JY_FLOW_SUB) && v->f_exit != JY_NO_EXIT) {
        /* Half of what a branch says proves little, and takes the sum from those that are left to evidence. */
        struct jy_interval sum = of_arithmetic(c, v, r);
        for (size_t i = 0; i < 2 && sum.has_low != sum.has_high; i++)
            r[i] = *jy_range_of(c, v->f_args[i]);
    }
    switch ((int)v->f_op) {
    case JY_FLOW_ADD:
    case JY_FLOW_SUB:
    case JY_FLOW_NEG:
    case JY_FLOW_MUL:
    case JY_FLOW_ABS:
    case JY_FLOW_SHL:
        return without_wrapping(c, v, of_arithmetic(c, v, r));
    case JY_FLOW_AND:
        if ((is_constant(&r[1], &k) || is_constant(&r[0], &k)) && k >= 0)
            return between(0, k);
        return unknown;
    case JY_FLOW_SHR:
        return is_constant(&r[1], &k) && k >= 0 && k < 64 ? growing(c, JY_FLOW_SHR, &r[0], k) : unknown;
    case JY_FLOW_FLOORDIV:
        return is_constant(&r[1], &k) && k > 0 ? growing(c, JY_FLOW_FLOORDIV, &r[0], k) : unknown;
    case JY_FLOW_FLOORMOD:
        return remainder_of(c, &r[1]);
    case JY_FLOW_MIN:
    case JY_FLOW_MAX:
        return least_or_greatest(c, (enum jy_fop)v->f_op, &r[0], &r[1]);
    case JY_FLOW_SELECT:
        return of_choice(c, v, r);
    case JY_FLOW_TO_INT:
        return of_whole_quotient(c, v);
    case JY_FLOW_WRAP: { /* the extent's greatest value less one */
        struct jy_form minus_one = jy_form_constant(-1);
        struct jy_interval out = between(0, 0);
        out.has_high = r[1].has_high && jy_form_add(&out.high, &r[1].high, &minus_one, 1);
        return out;
    }
    default:
        return unknown;
    }
}

/* ---- parameters ---- */

static size_t
place_of(const struct jy_flow *w, jy_fv param)
{
    const struct jy_fblock *block = &w->w_blocks.at[jy_flow_at(w, param)->f_block];
    size_t place = 0;
    while (block->f_params.at[place] != param)
        place++;
    return place;
}

static jy_fv
passed(const struct jy_counted *c, struct jy_fpred pred, size_t place)
{
    return c->w->w_blocks.at[pred.from].f_edge[pred.edge].args[place];
}

/* Is v = sum + something, and between which bounds is that? *wraps: some of it is added without an exit. */
static bool
added_to(struct jy_counted *c, struct jy_interval *out, bool *wraps, jy_fv v, jy_fv sum, int depth)
{
    const struct jy_fvalue value = *jy_flow_at(c->w, v);
    struct jy_interval more;
    *out = between(0, 0);
    if (v == sum)
        return true;
    if (depth == 0 || !c->inside[value.f_block])
        return false;
    if (value.f_op == JY_FLOW_ADD || value.f_op == JY_FLOW_SUB) {
        size_t side = 0;
        if (!added_to(c, out, wraps, value.f_args[0], sum, depth - 1)) {
            side = 1;
            if (value.f_op == JY_FLOW_SUB || !added_to(c, out, wraps, value.f_args[1], sum, depth - 1))
                return false;
        }
        more = *jy_range_of(c, value.f_args[1 - side]);
        *out = plus(out, &more, value.f_op == JY_FLOW_ADD ? 1 : -1);
        *wraps |= value.f_exit == JY_NO_EXIT;
        return (out->has_low && out->has_high) || (value.f_exit != JY_NO_EXIT && (out->has_low || out->has_high));
    }
    if (value.f_op == JY_FLOW_SELECT) {
        if (!added_to(c, out, wraps, value.f_args[1], sum, depth - 1) ||
            !added_to(c, &more, wraps, value.f_args[2], sum, depth - 1))
            return false;
        *out = either(c, out, &more);
        return out->has_low || out->has_high;
    }
    if (value.f_op != JY_FLOW_PARAM || value.f_block == c->head)
        return false;
    size_t place = place_of(c->w, v);
    for (uint32_t p = c->shape->pred_start[value.f_block]; p < c->shape->pred_start[value.f_block + 1]; p++) {
        if (!added_to(c, &more, wraps, passed(c, c->shape->pred[p], place), sum, depth - 1))
            return false;
        *out = p == c->shape->pred_start[value.f_block] ? more : either(c, out, &more);
    }
    return out->has_low || out->has_high;
}

/* A loop over an axis goes to its end, but for a `break`. */
static bool
goes_along_axis(const struct jy_counted *c)
{
    const struct jy_form *limit = &c->limit_form;
    for (size_t k = 0; k < limit->n; k++) {
        const struct jy_fvalue *v = jy_flow_at(c->w, limit->term[k].base);
        if (v->f_op != JY_FLOW_INPUT || c->w->w_inputs.at[v->f_index].kind != JY_FLOW_IN_EXTENT)
            return false;
    }
    return limit->n > 0;
}

/* As far as the chunk goes; along an axis, as the whole loop goes: what is asked of that is the same for all chunks, and in the loops around this one. */
static struct jy_interval
of_index(struct jy_counted *c)
{
    struct jy_form first = jy_form_base(c->first[place_of(c->w, c->index)]);
    struct jy_form last = goes_along_axis(c) ? c->limit_form : jy_form_base(c->stop);
    last.constant += c->step > 0 ? -1 : 1;
    return (struct jy_interval){ true, true, c->step > 0 ? first : last, c->step > 0 ? last : first };
}

/* What a round adds to the sum: between these bounds, whichever way back to the head it goes. */
static bool
added_by_round(struct jy_counted *c, struct jy_interval *each, bool *wraps, jy_fv sum)
{
    size_t place = place_of(c->w, sum);
    bool first = true;
    for (uint32_t p = c->shape->pred_start[c->head]; p < c->shape->pred_start[c->head + 1]; p++) {
        struct jy_fpred pred = c->shape->pred[p];
        struct jy_interval more;
        if (!c->inside[pred.from])
            continue;
        if (!added_to(c, &more, wraps, passed(c, pred, place), sum, 8))
            return false;
        *each = first ? more : either(c, each, &more);
        first = false;
    }
    return !first;
}

static struct jy_interval
sum_of_rounds(struct jy_counted *c, jy_fv sum, bool *wraps)
{
    const struct jy_interval first = exactly(jy_form_base(c->first[place_of(c->w, sum)])), none = between(0, 0);
    struct jy_interval each, rounds;
    int64_t by;
    if (!added_by_round(c, &each, wraps, sum))
        return unknown;
    /* How far the index is from where it began: it says how many rounds have been made. */
    const struct jy_interval from = exactly(jy_form_base(c->first[place_of(c->w, c->index)])), index = of_index(c);
    rounds = plus(&index, &from, -1);
    if (c->by == JY_NO_FV && is_constant(&each, &by) && by % c->step == 0)
        return plus(&first, &rounds, by / c->step);
    each = either(c, &none, &each); /* of no round, too */
    bool fixed = each.has_low && each.has_high && each.low.n == 0 && each.high.n == 0;
    if (!fixed || c->by != JY_NO_FV || (c->step != 1 && c->step != -1))
        return plus(&first, &each, c->chunk);
    /* At most as many additions as rounds have been made before this one. */
    struct jy_form made = c->step > 0 ? rounds.high : rounds.low;
    struct jy_interval out = { 0 };
    out.has_low = jy_form_add(&out.low, &first.low, &made, each.low.constant * c->step);
    out.has_high = jy_form_add(&out.high, &first.high, &made, each.high.constant * c->step);
    return out;
}

static struct jy_interval
of_sum(struct jy_counted *c, jy_fv sum)
{
    bool wraps = false;
    struct jy_interval out = sum_of_rounds(c, sum, &wraps);
    if (!out.has_low || !out.has_high)
        return wraps ? unknown : out; /* beyond the end that is not known it comes back from the other one */
    *jy_vec_push(c->w->w_arena, &c->always) = out.low;
    *jy_vec_push(c->w->w_arena, &c->always) = out.high;
    return out;
}

static struct jy_interval
of_join(struct jy_counted *c, jy_fv param)
{
    size_t place = place_of(c->w, param);
    jy_fb block = jy_flow_at(c->w, param)->f_block;
    struct jy_interval out = unknown;
    for (uint32_t p = c->shape->pred_start[block]; p < c->shape->pred_start[block + 1]; p++) {
        const struct jy_interval more = jy_range_at(c, passed(c, c->shape->pred[p], place), c->shape->pred[p].from);
        out = p == c->shape->pred_start[block] ? more : either(c, &out, &more);
    }
    return out;
}

const struct jy_interval *
jy_range_of(struct jy_counted *c, jy_fv v)
{
    if (c->range[v] != NULL)
        return c->range[v];
    const struct jy_fvalue value = *jy_flow_at(c->w, v);
    struct jy_interval *out = c->range[v] =
        JY_NEW(c->w->w_arena, struct jy_interval); /* unknown where it is met on the way */
    struct jy_interval found = unknown;
    if (value.f_type != JY_F_I64)
        return out;
    if (value.f_op == JY_FLOW_CONST && value.f_value.i <= JY_FORM_MOST_CONSTANT &&
        value.f_value.i >= -JY_FORM_MOST_CONSTANT)
        found = between(value.f_value.i, value.f_value.i);
    else if (!c->inside[value.f_block])
        found = exactly(jy_form_base(v));
    else if (c->invariant[v] != JY_NO_FV)
        found = exactly(jy_form_base(c->invariant[v]));
    else if (v == c->index)
        found = of_index(c);
    else if (value.f_op == JY_FLOW_PARAM)
        found = value.f_block == c->head ? of_sum(c, v) : of_join(c, v);
    else
        found = of_operation(c, &value);
    *out = found;
    return out;
}
