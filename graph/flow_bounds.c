/* Bounds that hold in every call. They come from constants, from extents (a flow is not entered with larger ones) and from loops that count: a parameter that rounds only add to is never below
 * what it began with, and one that is tested before something is added is not above the test's limit.
 *
 * Sums without an exit wrap: their bounds are known only where both ends of the exact sum fit, or where a test in front says that 1 more fits. */
#include "graph/flow_bounds.h"
#include "graph/flow_simplify_internal.h"
#include <string.h>

#define MOST_DEPTH 40

enum { NOT_ASKED, ASKED, KNOWN };

static const struct jy_bounds unknown = { INT64_MIN, INT64_MAX };

static const struct jy_fvalue *
at(const struct jy_flow_bounds *b, jy_fv v)
{
    return jy_flow_at(b->w, v);
}

static int64_t
least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t
greatest(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static struct jy_bounds
either(struct jy_bounds x, struct jy_bounds y)
{
    return (struct jy_bounds){ least(x.low, y.low), greatest(x.high, y.high) };
}

static bool
is_constant(const struct jy_flow_bounds *b, jy_fv v, int64_t *out)
{
    *out = at(b, v)->f_value.i;
    return at(b, v)->f_op == JY_FLOW_CONST;
}

/* ---- what branches say ---- */

/* What the condition says of v where it holds: v <= or < a limit (`above`: >= or >). */
static bool
is_limited_by(const struct jy_flow_bounds *b, jy_fv v, jy_fv condition, bool holds, bool above, jy_fv *limit,
              bool *is_strict)
{
    static const uint8_t other[JY_FLOW_COUNT] = {
        [JY_FLOW_LT] = JY_FLOW_GE, [JY_FLOW_GE] = JY_FLOW_LT, [JY_FLOW_GT] = JY_FLOW_LE, [JY_FLOW_LE] = JY_FLOW_GT
    };
    const struct jy_fvalue *test = at(b, condition);
    if (test->f_op == JY_FLOW_NOT)
        return is_limited_by(b, v, test->f_args[0], !holds, above, limit, is_strict);
    if (test->f_nargs != 2 || other[test->f_op] == 0 || (test->f_args[0] != v && test->f_args[1] != v))
        return false;
    uint8_t op = holds ? test->f_op : other[test->f_op];
    bool is_first = test->f_args[0] == v, is_less = op == JY_FLOW_LT || op == JY_FLOW_LE;
    *limit = test->f_args[is_first ? 1 : 0];
    *is_strict = op == JY_FLOW_LT || op == JY_FLOW_GT;
    return (is_first ? is_less : !is_less) != above;
}

/* The nearest branch on the way to the block that limits v; where it leads is the new `block`. */
static bool
find_limit(const struct jy_flow_bounds *b, jy_fv v, jy_fb *block, bool above, jy_fv *limit, bool *is_strict)
{
    if (*block >= b->nblocks || b->shape->dom.rank[*block] == JY_UNREACHED)
        return false;
    for (jy_fb here = *block; here != at(b, v)->f_block && here != 0; here = b->shape->dom.idom[here]) {
        if (jy_flow_npreds(b->shape, here) != 1)
            continue;
        struct jy_fpred pred = b->shape->pred[b->shape->pred_start[here]];
        const struct jy_fblock *from = &b->w->w_blocks.at[pred.from];
        if (from->f_end == JY_END_BRANCH && from->f_edge[0].to != from->f_edge[1].to &&
            is_limited_by(b, v, from->f_condition, pred.edge == 0, above, limit, is_strict)) {
            *block = here;
            return true;
        }
    }
    return false;
}

/* Is v = x + constant? */
static bool
is_step(const struct jy_flow_bounds *b, jy_fv v, jy_fv *x, int64_t *by)
{
    const struct jy_fvalue *value = at(b, v);
    if (value->f_op != JY_FLOW_ADD && value->f_op != JY_FLOW_SUB)
        return false;
    bool second = is_constant(b, value->f_args[1], by);
    if (!second && (value->f_op == JY_FLOW_SUB || !is_constant(b, value->f_args[0], by)))
        return false;
    *x = value->f_args[second ? 0 : 1];
    if (value->f_op == JY_FLOW_SUB && *by != INT64_MIN)
        *by = -*by;
    return *by <= INT32_MAX && *by >= -INT32_MAX;
}

/* v = x + by, of which a test has said that x is below (above) something: it does not wrap, and is at most (least) this. */
static bool
is_step_to(struct jy_flow_bounds *b, jy_fv v, jy_fv x, int64_t by, int64_t *most)
{
    jy_fv limit;
    bool is_strict, above = by < 0;
    jy_fb block = at(b, v)->f_block;
    if (!find_limit(b, x, &block, above, &limit, &is_strict))
        return false;
    struct jy_bounds bounds = jy_flow_bounds_of(b, limit);
    int64_t furthest = above ? bounds.low : bounds.high, rest = is_strict ? (above ? by + 1 : by - 1) : by;
    return !__builtin_add_overflow(furthest, rest, most);
}

/* ---- values ---- */

/* All sums, or differences, fit. `out`: the bounds of those that do. */
static bool
has_sum(enum jy_fop op, struct jy_bounds x, struct jy_bounds y, struct jy_bounds *out)
{
    bool no_low, no_high;
    if (op == JY_FLOW_ADD) {
        no_low = __builtin_add_overflow(x.low, y.low, &out->low);
        no_high = __builtin_add_overflow(x.high, y.high, &out->high);
    } else {
        no_low = __builtin_sub_overflow(x.low, y.high, &out->low);
        no_high = __builtin_sub_overflow(x.high, y.low, &out->high);
    }
    if (no_low)
        out->low = INT64_MIN;
    if (no_high)
        out->high = INT64_MAX;
    return !no_low && !no_high;
}

static struct jy_bounds
of_sum(struct jy_flow_bounds *b, jy_fv v)
{
    const struct jy_fvalue *value = at(b, v);
    struct jy_bounds x = jy_flow_bounds_of(b, value->f_args[0]), y = jy_flow_bounds_of(b, value->f_args[1]), sum;
    jy_fv from;
    int64_t by, most;
    if (has_sum(value->f_op, x, y, &sum) || value->f_exit != JY_NO_EXIT)
        return sum;
    if (!is_step(b, v, &from, &by) || by == 0 || !is_step_to(b, v, from, by, &most))
        return unknown;
    return by > 0 ? (struct jy_bounds){ sum.low, most } : (struct jy_bounds){ most, sum.high };
}

/* A product by a constant that is checked keeps its factor within what fits, whatever that is. */
static struct jy_bounds
of_checked_product(const struct jy_flow_bounds *b, const struct jy_fvalue *value)
{
    int64_t k;
    if (value->f_exit == JY_NO_EXIT ||
        (!is_constant(b, value->f_args[0], &k) && !is_constant(b, value->f_args[1], &k)) || k < 1)
        return unknown;
    return (struct jy_bounds){ INT64_MIN / k * k, INT64_MAX / k * k };
}

/* All products fit: the bounds of them. */
static bool
has_product(struct jy_bounds x, struct jy_bounds y, struct jy_bounds *out)
{
    *out = (struct jy_bounds){ INT64_MAX, INT64_MIN };
    for (int k = 0; k < 4; k++) {
        int64_t corner;
        if (__builtin_mul_overflow(k & 1 ? x.high : x.low, k & 2 ? y.high : y.low, &corner))
            return false;
        *out = either(*out, (struct jy_bounds){ corner, corner });
    }
    return true;
}

static struct jy_bounds
of_product(struct jy_flow_bounds *b, const struct jy_fvalue *value)
{
    struct jy_bounds out;
    struct jy_bounds x = jy_flow_bounds_of(b, value->f_args[0]), y = jy_flow_bounds_of(b, value->f_args[1]);
    return has_product(x, y, &out) ? out : of_checked_product(b, value);
}

static struct jy_bounds
of_type(const struct jy_flow_bounds *b, const struct jy_fvalue *value)
{
    uint8_t type = at(b, value->f_args[0])->f_type;
    if (type == JY_F_I1)
        return value->f_op == JY_FLOW_ZEXT ? (struct jy_bounds){ 0, 1 } : (struct jy_bounds){ -1, 0 };
    if (type != JY_F_I8 && type != JY_F_I16 && type != JY_F_I32)
        return unknown;
    int64_t half = INT64_C(1) << (jy_flow_type_bytes((enum jy_ftype)type) * 8 - 1);
    return value->f_op == JY_FLOW_ZEXT ? (struct jy_bounds){ 0, 2 * half - 1 } : (struct jy_bounds){ -half, half - 1 };
}

/* Beside what rounds add to it: what it begins with. */
static struct jy_bounds
of_parameter(struct jy_flow_bounds *b, jy_fv v)
{
    jy_fb block = at(b, v)->f_block;
    const struct jy_fblock *owner = &b->w->w_blocks.at[block];
    struct jy_bounds out = { INT64_MAX, INT64_MIN };
    size_t place = 0;
    if (block >= b->nblocks || b->shape->dom.rank[block] == JY_UNREACHED)
        return unknown;
    while (owner->f_params.at[place] != v)
        place++;
    for (uint32_t p = b->shape->pred_start[block]; p < b->shape->pred_start[block + 1]; p++) {
        struct jy_fpred pred = b->shape->pred[p];
        jy_fv passed = b->w->w_blocks.at[pred.from].f_edge[pred.edge].args[place], x;
        int64_t by, most;
        if (passed == v)
            continue;
        if (!is_step(b, passed, &x, &by) || x != v || by == 0) {
            out = either(out, jy_flow_bounds_of(b, passed));
            continue;
        }
        bool fits = is_step_to(b, passed, v, by, &most);
        if (!fits && at(b, passed)->f_exit == JY_NO_EXIT)
            return unknown;
        if (by > 0)
            out.high = fits ? greatest(out.high, most) : INT64_MAX;
        else
            out.low = fits ? least(out.low, most) : INT64_MIN;
    }
    return out.low <= out.high ? out : unknown;
}

static struct jy_bounds
of_operation(struct jy_flow_bounds *b, jy_fv v)
{
    const struct jy_fvalue *value = at(b, v);
    struct jy_bounds x = unknown, y = unknown;
    int64_t k = 0;
    switch ((int)value->f_op) {
    case JY_FLOW_ADD:
    case JY_FLOW_SUB:
        return of_sum(b, v);
    case JY_FLOW_MUL:
        return of_product(b, value);
    case JY_FLOW_SEXT:
    case JY_FLOW_ZEXT:
        return of_type(b, value);
    case JY_FLOW_SELECT:
        return either(jy_flow_bounds_of(b, value->f_args[1]), jy_flow_bounds_of(b, value->f_args[2]));
    case JY_FLOW_MIN:
    case JY_FLOW_MAX:
        x = jy_flow_bounds_of(b, value->f_args[0]);
        y = jy_flow_bounds_of(b, value->f_args[1]);
        return value->f_op == JY_FLOW_MIN ? (struct jy_bounds){ least(x.low, y.low), least(x.high, y.high) }
                                          : (struct jy_bounds){ greatest(x.low, y.low), greatest(x.high, y.high) };
    case JY_FLOW_AND:
        if ((is_constant(b, value->f_args[1], &k) || is_constant(b, value->f_args[0], &k)) && k >= 0)
            return (struct jy_bounds){ 0, k };
        return unknown;
    case JY_FLOW_FLOORMOD:
        if (is_constant(b, value->f_args[1], &k) && k > 0)
            return (struct jy_bounds){ 0, k - 1 };
        return unknown;
    case JY_FLOW_WRAP:
        y = jy_flow_bounds_of(b, value->f_args[1]);
        return (struct jy_bounds){ 0, y.high > 0 ? y.high - 1 : INT64_MAX };
    default:
        return unknown;
    }
}

struct jy_bounds
jy_flow_bounds_of(struct jy_flow_bounds *b, jy_fv v)
{
    const struct jy_fvalue *value = at(b, v);
    struct jy_bounds found = unknown;
    if (value->f_type != JY_F_I64)
        return unknown;
    if (value->f_op == JY_FLOW_CONST)
        return (struct jy_bounds){ value->f_value.i, value->f_value.i };
    if (v == b->given)
        return b->given_bounds;
    if (v < b->n && b->state[v] != NOT_ASKED)
        return b->state[v] == KNOWN ? b->at[v] : unknown;
    if (b->depth == MOST_DEPTH)
        return unknown;
    b->depth++;
    if (v < b->n)
        b->state[v] = ASKED; /* met again on the way to itself: not known */
    if (value->f_op == JY_FLOW_INPUT) {
        uint8_t kind = b->w->w_inputs.at[value->f_index].kind;
        if (kind == JY_FLOW_IN_EXTENT || kind == JY_FLOW_IN_INDEX)
            found = (struct jy_bounds){ b->w->w_inputs.at[value->f_index].some,
                                        kind == JY_FLOW_IN_EXTENT ? JY_FLOW_MOST_EXTENT : INT64_MAX };
    } else {
        found = value->f_op == JY_FLOW_PARAM ? of_parameter(b, v) : of_operation(b, v);
    }
    b->depth--;
    if (v < b->n) {
        b->state[v] = KNOWN;
        b->at[v] = found;
    }
    return found;
}

void
jy_flow_bounds_init(struct jy_flow_bounds *b, const struct jy_flow *w, const struct jy_flow_shape *shape)
{
    size_t n = w->w_values.n;
    *b = (struct jy_flow_bounds){ .w = w, .shape = shape, .n = n, .nblocks = w->w_blocks.n, .given = JY_NO_FV };
    b->at = JY_NEW_ARRAY(w->w_arena, struct jy_bounds, n + 1);
    b->state = JY_NEW_ARRAY(w->w_arena, uint8_t, n + 1);
}

/* ---- indices ---- */

/* A branch on the way to the block says so. */
static bool
is_below(const struct jy_flow_bounds *b, jy_fv index, jy_fv extent, jy_fb block)
{
    jy_fb from = block;
    jy_fv limit;
    bool is_strict;
    while (find_limit(b, index, &from, false, &limit, &is_strict)) {
        if (limit == extent && is_strict)
            return true;
        from = b->shape->dom.idom[from];
    }
    return false;
}

/* ---- overflow ---- */

/* What it leaves for does not occur. */
static bool
always_fits(struct jy_flow_bounds *b, const struct jy_fvalue *v)
{
    struct jy_bounds x, y = unknown, result;
    if (v->f_nargs == 0 || at(b, v->f_args[0])->f_type != JY_F_I64)
        return false;
    x = jy_flow_bounds_of(b, v->f_args[0]);
    if (v->f_nargs == 2)
        y = jy_flow_bounds_of(b, v->f_args[1]);
    switch ((int)v->f_op) {
    case JY_FLOW_ADD:
    case JY_FLOW_SUB:
        return has_sum(v->f_op, x, y, &result);
    case JY_FLOW_MUL:
        return has_product(x, y, &result);
    case JY_FLOW_NEG:
    case JY_FLOW_ABS:
        return x.low > INT64_MIN;
    case JY_FLOW_TO_FLOAT:
        return x.low >= -(INT64_C(1) << 53) && x.high <= INT64_C(1) << 53;
    default:
        return false;
    }
}

/* ---- remainders ---- */

/* x + by, where x counts below what the number is divided by: there is one step to the remainder at most. JY_NO_FV: it is no such number. */
static jy_fv
remainder_of_step(struct jy_flow_bounds *b, struct jy_flow *w, jy_fb block, const struct jy_fvalue *value)
{
    jy_fv number = value->f_args[0], by = value->f_args[1], x = number;
    int64_t step = 0;
    if (value->f_type != JY_F_I64 || (is_step(b, number, &x, &step) && step != 1 && step != -1) ||
        !is_below(b, x, by, block) || jy_flow_bounds_of(b, x).low < 0)
        return JY_NO_FV;
    if (step == 0)
        return number;
    jy_fv zero = jy_flow_const(w, block, JY_F_I64, (union jy_scalar){ .i = 0 });
    jy_fv outside[] = { number, step > 0 ? by : zero }, next[] = { number, by };
    jy_fv is_outside = jy_flow_op(w, block, step > 0 ? JY_FLOW_EQ : JY_FLOW_LT, JY_F_I1, 2, outside, JY_NO_EXIT);
    jy_fv there = step > 0 ? zero : jy_flow_op(w, block, JY_FLOW_ADD, JY_F_I64, 2, next, JY_NO_EXIT);
    jy_fv args[] = { is_outside, there, number };
    return jy_flow_op(w, block, JY_FLOW_SELECT, JY_F_I64, 3, args, JY_NO_EXIT);
}

/* ---- all of a flow ---- */

/* What stands for the value; JY_NO_FV: the value itself. */
static jy_fv
bound_wrap(struct jy_flow_bounds *b, struct jy_flow *w, jy_fb block, const struct jy_fvalue *value)
{
    if (jy_flow_bounds_of(b, value->f_args[0]).low < 0)
        return JY_NO_FV;
    if (value->f_exit != JY_NO_EXIT && !is_below(b, value->f_args[0], value->f_args[1], block)) {
        jy_fv below = jy_flow_op(w, block, JY_FLOW_BELOW, JY_F_I1, 2, value->f_args, JY_NO_EXIT);
        jy_fv check = jy_flow_op(w, block, JY_FLOW_CHECK, JY_F_NONE, 1, &below, value->f_exit);
        if (check != JY_NO_FV) /* a constant that holds is none */
            jy_flow_at(w, check)->f_site = value->f_site;
    }
    return value->f_args[0];
}

static void
bound_block(struct jy_flow_bounds *b, struct jy_flow *w, jy_fb block, jy_fv *instead)
{
    struct jy_fblock old = w->w_blocks.at[block];
    memset(&w->w_blocks.at[block].f_body, 0, sizeof old.f_body);
    for (size_t k = 0; k < old.f_body.n; k++) {
        jy_fv v = old.f_body.at[k], other = JY_NO_FV;
        const struct jy_fvalue value = *jy_flow_at(w, v);
        w->w_line = value.f_line;
        if (value.f_op == JY_FLOW_WRAP)
            other = bound_wrap(b, w, block, &value);
        else if (value.f_op == JY_FLOW_FLOORMOD)
            other = remainder_of_step(b, w, block, &value);
        else if (value.f_exit != JY_NO_EXIT && always_fits(b, &value))
            jy_flow_at(w, v)->f_exit = JY_NO_EXIT;
        if (other == JY_NO_FV)
            *jy_vec_push(w->w_arena, &w->w_blocks.at[block].f_body) = v;
        else
            instead[v] = other;
    }
}

void
jy_flow_bound(struct jy_flow *w)
{
    struct jy_flow_shape shape;
    struct jy_flow_bounds b;
    jy_flow_shape_fill(&shape, w);
    jy_flow_bounds_init(&b, w, &shape);
    jy_fv *instead = jy_flow_renaming(w);
    size_t nblocks = w->w_blocks.n, nvalues = w->w_values.n;
    for (jy_fb block = 0; block < nblocks; block++)
        if (shape.dom.rank[block] != JY_UNREACHED)
            bound_block(&b, w, block, instead);
    w->w_line = 0;
    jy_fv *to = jy_flow_renaming(w); /* of the tests, too */
    memcpy(to, instead, nvalues * sizeof *to);
    jy_flow_rename(w, to);
}
