/* A loop that counts has one test in its head, between a parameter that each round changes by a constant and something that does not change, and its head has no effects, so that a
 * copy may test twice. What its rounds check is then asked of flow_range.c, check by check; each proof may add conditions to the test in front, and where it fails takes them back. */
#include "graph/flow_counted.h"
#include "graph/flow_simplify_internal.h"

#define MOST_STEP (INT64_C(1) << 30)
#define MOST_VALUES JY_REPORT_LONG_BODY
#define MOST_DEPTH 6 /* of invariant conditions that are computed in front */

/* ---- finding ---- */

static bool
constant_of(const struct jy_flow *w, jy_fv v, int64_t *out)
{
    *out = jy_flow_at(w, v)->f_value.i;
    return jy_flow_at(w, v)->f_op == JY_FLOW_CONST;
}

static bool
steps_by(const struct jy_flow *w, jy_fv next, jy_fv index, int64_t *step)
{
    const struct jy_fvalue *v = jy_flow_at(w, next);
    if (v->f_op == JY_FLOW_ADD && v->f_args[0] == index)
        return constant_of(w, v->f_args[1], step);
    if (v->f_op == JY_FLOW_ADD && v->f_args[1] == index)
        return constant_of(w, v->f_args[0], step);
    if (v->f_op == JY_FLOW_SUB && v->f_args[0] == index && constant_of(w, v->f_args[1], step) && *step != INT64_MIN) {
        *step = -*step;
        return true;
    }
    return false;
}

/* What does not change in the loop and is added to the index. */
static jy_fv
adds(const struct jy_counted *c, jy_fv next)
{
    const struct jy_fvalue *v = jy_flow_at(c->w, next);
    if (v->f_op != JY_FLOW_ADD || (v->f_args[0] != c->index && v->f_args[1] != c->index))
        return JY_NO_FV;
    jy_fv by = v->f_args[v->f_args[0] == c->index ? 1 : 0];
    return c->inside[jy_flow_at(c->w, by)->f_block] ? JY_NO_FV : by;
}

static bool
find_step(struct jy_counted *c)
{
    const struct jy_fblock *head = &c->w->w_blocks.at[c->head];
    size_t place = 0;
    c->step = 0;
    c->by = JY_NO_FV;
    while (head->f_params.at[place] != c->index)
        place++;
    for (uint32_t p = c->shape->pred_start[c->head]; p < c->shape->pred_start[c->head + 1]; p++) {
        struct jy_fpred pred = c->shape->pred[p];
        int64_t step;
        jy_fv by = JY_NO_FV;
        if (!c->inside[pred.from])
            continue;
        jy_fv next = c->w->w_blocks.at[pred.from].f_edge[pred.edge].args[place];
        if (!steps_by(c->w, next, c->index, &step)) {
            by = adds(c, next);
            step = 1; /* which way it goes */
            if (by == JY_NO_FV)
                return false;
        }
        if ((c->step != 0 && (step != c->step || by != c->by)) || step == 0 || step > MOST_STEP || step < -MOST_STEP)
            return false;
        c->step = step;
        c->by = by;
    }
    return c->step != 0;
}

struct test {
    bool goes_up, or_equal;
    jy_fv limit;
};

static bool
is_index(const struct jy_counted *c, jy_fv v)
{
    const struct jy_fvalue *value = jy_flow_at(c->w, v);
    return value->f_op == JY_FLOW_PARAM && value->f_block == c->head && value->f_type == JY_F_I64;
}

/* Goes on while index < limit, or <=, >, >=. */
static bool
is_test(struct jy_counted *c, struct test *test, const struct jy_fvalue *v)
{
    if (v->f_op != JY_FLOW_LT && v->f_op != JY_FLOW_LE && v->f_op != JY_FLOW_GT && v->f_op != JY_FLOW_GE)
        return false;
    bool less = v->f_op == JY_FLOW_LT || v->f_op == JY_FLOW_LE;
    bool or_equal = v->f_op == JY_FLOW_LE || v->f_op == JY_FLOW_GE;
    for (size_t side = 0; side < 2; side++) {
        if (!is_index(c, v->f_args[side]) || v->f_args[1 - side] == v->f_args[side])
            continue;
        c->index = v->f_args[side];
        bool below = less == (side == 0);
        *test = (struct test){ below == (c->stay == 0), or_equal == (c->stay == 0), v->f_args[1 - side] };
        if (find_step(c) && (c->step > 0) == test->goes_up)
            return true;
    }
    return false;
}

/* The test of a range whose step is not known: step > 0 ? index < stop : index > stop. The copy goes up. */
static bool
find_test(struct jy_counted *c, struct test *test)
{
    const struct jy_fvalue *v = jy_flow_at(c->w, c->w->w_blocks.at[c->head].f_condition);
    if (v->f_op != JY_FLOW_SELECT)
        return is_test(c, test, v);
    const struct jy_fvalue *up = jy_flow_at(c->w, v->f_args[0]);
    int64_t zero;
    return c->stay == 0 && up->f_op == JY_FLOW_GT && constant_of(c->w, up->f_args[1], &zero) && zero == 0 &&
           is_test(c, test, jy_flow_at(c->w, v->f_args[1])) && c->by == up->f_args[0];
}

/* Its blocks are left in the order in which they stand, but for the way back to the head; it is not too long; its head only looks. */
static bool
has_good_shape(struct jy_counted *c)
{
    const struct jy_flow *w = c->w;
    size_t nvalues = 0;
    const struct jy_fblock *head = &w->w_blocks.at[c->head];
    if (c->head == 0 || head->f_end != JY_END_BRANCH || c->inside[head->f_edge[0].to] == c->inside[head->f_edge[1].to])
        return false;
    c->stay = c->inside[head->f_edge[0].to] ? 0 : 1;
    c->body = head->f_edge[c->stay].to;
    if (c->body == c->head || jy_flow_npreds(c->shape, c->body) != 1)
        return false;
    for (size_t k = 0; k < head->f_body.n; k++) {
        const struct jy_fvalue *v = jy_flow_at(w, head->f_body.at[k]);
        if (v->f_op != JY_FLOW_POLL && (v->f_exit != JY_NO_EXIT || jy_flow_has_effect(w, v)))
            return false;
    }
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        jy_fb b = c->loop->blocks.at[k];
        const struct jy_fblock *block = &w->w_blocks.at[b];
        nvalues += block->f_body.n + block->f_params.n;
        for (size_t e = 0; e < jy_flow_nedges(block); e++) {
            jy_fb to = block->f_edge[e].to;
            if (c->inside[to] && to != c->head && c->shape->dom.rank[to] <= c->shape->dom.rank[b])
                return false;
        }
    }
    return nvalues <= MOST_VALUES;
}

static void
make_front(struct jy_counted *c)
{
    size_t n = c->w->w_blocks.at[c->head].f_params.n;
    c->entry = c->front = jy_flow_block(c->w);
    c->first = JY_NEW_ARRAY(c->w->w_arena, jy_fv, n + 1);
    for (size_t p = 0; p < n; p++) {
        enum jy_ftype type = (enum jy_ftype)jy_flow_at(c->w, c->w->w_blocks.at[c->head].f_params.at[p])->f_type;
        c->first[p] = jy_flow_param(c->w, c->front, type);
    }
}

static size_t
count_ops(const struct jy_counted *c, enum jy_fop op)
{
    size_t n = 0;
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        const struct jy_fblock *block = &c->w->w_blocks.at[c->loop->blocks.at[k]];
        for (size_t i = 0; i < block->f_body.n; i++)
            n += jy_flow_at(c->w, block->f_body.at[i])->f_op == op;
    }
    return n;
}

static void
choose_chunk(struct jy_counted *c)
{
    size_t nstores = count_ops(c, JY_FLOW_STORE);
    c->can_log = nstores > 0 && nstores <= JY_MOST_LOGGED && c->by == JY_NO_FV && (c->step == 1 || c->step == -1);
    c->chunk = c->can_log ? JY_LOG_ROUNDS / (int64_t)nstores : JY_CHUNK;
    /* A call may take its time, or make an object for which a collection is due. */
    if (count_ops(c, JY_FLOW_CALL) > 0 && c->chunk > JY_CALL_CHUNK)
        c->chunk = JY_CALL_CHUNK;
}

/* Where a chunk begins: what the loop begins with, or what a round has gone on to, of which the test in the head held. */
static void
bound_first(struct jy_counted *c, size_t place, const struct test *test)
{
    struct jy_bounds first = { INT64_MAX, INT64_MIN }, limit = jy_flow_bounds_of(&c->bounds, test->limit);
    for (uint32_t p = c->shape->pred_start[c->head]; p < c->shape->pred_start[c->head + 1]; p++) {
        struct jy_fpred pred = c->shape->pred[p];
        if (c->inside[pred.from])
            continue;
        struct jy_bounds more =
            jy_flow_bounds_of(&c->bounds, c->w->w_blocks.at[pred.from].f_edge[pred.edge].args[place]);
        first.low = more.low < first.low ? more.low : first.low;
        first.high = more.high > first.high ? more.high : first.high;
    }
    if (c->step > 0 && limit.high > first.high)
        first.high = limit.high;
    if (c->step < 0 && limit.low < first.low)
        first.low = limit.low;
    c->bounds.given = c->first[place];
    c->bounds.given_bounds = first;
}

/* The index stops at its limit or after a chunk's rounds, what comes first. */
static bool
make_stop(struct jy_counted *c, const struct test *test)
{
    const struct jy_interval limit = *jy_range_of(c, test->limit);
    struct jy_form stop, by = jy_form_constant(c->chunk * c->step), one = jy_form_constant(c->step > 0 ? 1 : -1);
    if (!limit.has_low || !limit.has_high || !jy_form_equal(&limit.low, &limit.high) ||
        !jy_form_add(&stop, &limit.low, &one, test->or_equal ? 1 : 0))
        return false;
    size_t place = 0;
    while (c->w->w_blocks.at[c->head].f_params.at[place] != c->index)
        place++;
    struct jy_form first = jy_form_base(c->first[place]), reach;
    bound_first(c, place, test);
    if (c->by != JY_NO_FV) { /* at least one */
        by = jy_form_base(c->by);
        if (!jy_range_need_le(c, &one, 0, &by))
            return false;
    }
    if (!jy_form_add(&reach, &first, &by, c->by != JY_NO_FV ? c->chunk : 1))
        return false;
    c->limit_form = stop;
    c->limit = jy_form_emit(c, &stop);
    c->stop = jy_front_op(c, c->step > 0 ? JY_FLOW_MIN : JY_FLOW_MAX, JY_F_I64, c->limit, jy_form_emit(c, &reach));
    *jy_vec_push(c->w->w_arena, &c->derived) =
        (struct jy_derived){ .base = c->stop, .from = { stop, reach }, .nfrom = 2 };
    struct jy_form itself = jy_form_base(c->stop);
    jy_range_need(c, &itself);
    jy_range_need(c, &stop);
    jy_range_need(c, &reach);
    return true;
}

bool
jy_counted_find(struct jy_counted *c, struct jy_flow *w, const struct jy_flow_shape *shape,
                const struct jy_flow_loop *loop)
{
    struct test test;
    *c = (struct jy_counted){ .w = w, .shape = shape, .loop = loop, .head = loop->head, .nvalues = w->w_values.n };
    c->inside = JY_NEW_ARRAY(w->w_arena, bool, w->w_blocks.n + 1);
    for (size_t k = 0; k < loop->blocks.n; k++)
        c->inside[loop->blocks.at[k]] = true;
    if (!has_good_shape(c) || !find_test(c, &test))
        return false;
    c->range = JY_NEW_ARRAY(w->w_arena, struct jy_interval *, w->w_values.n + 1);
    jy_flow_bounds_init(&c->bounds, w, shape);
    choose_chunk(c);
    make_front(c);
    jy_counted_read_in_front(c);
    return make_stop(c, &test);
}

/* ---- planning ---- */

/* The value, computed in front; JY_NO_FV: it changes in the loop, or costs too much, or is not defined there for all operands. */
static jy_fv
in_front(struct jy_counted *c, jy_fv v, int depth)
{
    const struct jy_fvalue value = *jy_flow_at(c->w, v);
    jy_fv args[3];
    if (!c->inside[value.f_block])
        return v;
    if (c->invariant[v] != JY_NO_FV)
        return c->invariant[v];
    if (depth == 0 || value.f_nargs == 0 || value.f_nargs > 3 || !jy_flow_is_cheap(&value))
        return JY_NO_FV;
    for (size_t k = 0; k < value.f_nargs; k++)
        if ((args[k] = in_front(c, value.f_args[k], depth - 1)) == JY_NO_FV)
            return JY_NO_FV;
    return jy_flow_op(c->w, c->front, (enum jy_fop)value.f_op, (enum jy_ftype)value.f_type, value.f_nargs, args,
                      JY_NO_EXIT);
}

static bool
need_between(struct jy_counted *c, jy_fb at, jy_fv v, int64_t low, int64_t high)
{
    const struct jy_interval r = jy_range_at(c, v, at);
    struct jy_form bottom = jy_form_constant(low), top = jy_form_constant(high);
    return r.has_low && r.has_high && jy_range_need_le(c, &bottom, 0, &r.low) && jy_range_need_le(c, &r.high, 0, &top);
}

/* a + constant <= b in every round that comes to the block. */
static bool
need_le(struct jy_counted *c, jy_fb at, jy_fv a, int64_t constant, jy_fv b)
{
    const struct jy_interval x = jy_range_at(c, a, at), y = jy_range_at(c, b, at);
    return x.has_high && y.has_low && jy_range_need_le(c, &x.high, constant, &y.low);
}

static bool
need_not_negative(struct jy_counted *c, jy_fb at, jy_fv v)
{
    const struct jy_interval r = jy_range_at(c, v, at);
    struct jy_form zero = jy_form_constant(0);
    return r.has_low && jy_range_need_le(c, &zero, 0, &r.low);
}

/* In 64 bits. */
static bool
need_fits(struct jy_counted *c, jy_fv v)
{
    const struct jy_interval r = *jy_range_of(c, v);
    if (!r.has_low || !r.has_high)
        return false;
    jy_range_need(c, &r.low);
    jy_range_need(c, &r.high);
    return true;
}

static bool
need_true(struct jy_counted *c, jy_fb at, jy_fv condition, int depth)
{
    const struct jy_fvalue v = *jy_flow_at(c->w, condition);
    const jy_fv *a = v.f_args;
    jy_fv known = in_front(c, condition, MOST_DEPTH);
    if (known != JY_NO_FV) {
        *jy_vec_push(c->w->w_arena, &c->facts) = known;
        c->asks |= jy_flow_at(c->w, known)->f_op != JY_FLOW_CONST;
        return true;
    }
    if (v.f_op == JY_FLOW_AND && depth > 0)
        return need_true(c, at, a[0], depth - 1) && need_true(c, at, a[1], depth - 1);
    if (v.f_nargs != 2 || jy_flow_at(c->w, a[0])->f_type != JY_F_I64)
        return false;
    switch ((int)v.f_op) {
    case JY_FLOW_LT:
        return need_le(c, at, a[0], 1, a[1]);
    case JY_FLOW_LE:
        return need_le(c, at, a[0], 0, a[1]);
    case JY_FLOW_GT:
        return need_le(c, at, a[1], 1, a[0]);
    case JY_FLOW_GE:
        return need_le(c, at, a[1], 0, a[0]);
    case JY_FLOW_NE: /* divisors are seldom negative */
        return need_le(c, at, a[1], 1, a[0]);
    case JY_FLOW_BELOW:
        return need_not_negative(c, at, a[0]) && need_le(c, at, a[0], 1, a[1]);
    default:
        return false;
    }
}

static enum jy_unchecked
wrap(struct jy_counted *c, const struct jy_fvalue *v)
{
    if (!need_not_negative(c, v->f_block, v->f_args[0]))
        return JY_UNCHECKED_NO;
    size_t nconditions = c->conditions.n, nsmall = c->small.n;
    if (need_le(c, v->f_block, v->f_args[0], 1, v->f_args[1]))
        return JY_UNCHECKED_INDEX;
    c->conditions.n = nconditions;
    c->small.n = nsmall;
    return JY_UNCHECKED_BELOW;
}

static enum jy_unchecked
without_check(struct jy_counted *c, jy_fv at)
{
    const struct jy_fvalue v = *jy_flow_at(c->w, at);
    const int64_t most_exact = INT64_C(1) << 53;
    int64_t count;
    bool good = false;
    switch ((int)v.f_op) {
    case JY_FLOW_CHECK:
        return need_true(c, v.f_block, v.f_args[0], 3) ? JY_UNCHECKED_GONE : JY_UNCHECKED_NO;
    case JY_FLOW_WRAP:
        return wrap(c, &v);
    case JY_FLOW_ADD:
    case JY_FLOW_SUB:
    case JY_FLOW_MUL:
    case JY_FLOW_NEG:
    case JY_FLOW_ABS:
    case JY_FLOW_TO_INT:
        good = v.f_type == JY_F_I64 && need_fits(c, at);
        break;
    case JY_FLOW_SHL:
        good = v.f_type == JY_F_I64 && constant_of(c->w, v.f_args[1], &count) && count >= 0 && need_fits(c, at);
        break;
    case JY_FLOW_SHR:
        good = v.f_type == JY_F_I64 && constant_of(c->w, v.f_args[1], &count) && count >= 0 && count < 64;
        break;
    case JY_FLOW_FLOORDIV:
    case JY_FLOW_FLOORMOD: {
        const struct jy_interval r = jy_range_at(c, v.f_args[1], v.f_block);
        struct jy_form one = jy_form_constant(1);
        good = v.f_type == JY_F_I64 && r.has_low && jy_range_need_le(c, &one, 0, &r.low);
        break;
    }
    case JY_FLOW_NARROW:
        good = v.f_type == JY_F_I32 && need_between(c, v.f_block, v.f_args[0], INT32_MIN, INT32_MAX);
        break;
    case JY_FLOW_TO_FLOAT:
        good = v.f_type == JY_F_F64 && need_between(c, v.f_block, v.f_args[0], -most_exact, most_exact);
        break;
    default:
        break;
    }
    return good ? JY_UNCHECKED_PLAIN : JY_UNCHECKED_NO;
}

static bool
try_without_check(struct jy_counted *c, struct jy_fast *fast, jy_fv at)
{
    size_t nconditions = c->conditions.n, nsmall = c->small.n, nfacts = c->facts.n;
    fast->how[at] = (uint8_t)without_check(c, at);
    if (fast->how[at] != JY_UNCHECKED_NO)
        return true;
    c->conditions.n = nconditions;
    c->small.n = nsmall;
    c->facts.n = nfacts;
    return false;
}

struct jy_fast
jy_counted_plan(struct jy_counted *c, bool polls_stay)
{
    struct jy_fast fast = { .how = JY_NEW_ARRAY(c->w->w_arena, uint8_t, c->nvalues + 1),
                            .told = JY_NEW_ARRAY(c->w->w_arena, uint8_t, c->nvalues + 1) };
    for (size_t k = 0; k < c->loop->blocks.n; k++) {
        jy_fb b = c->loop->blocks.at[k];
        for (size_t i = 0; i < c->w->w_blocks.at[b].f_body.n; i++) {
            jy_fv at = c->w->w_blocks.at[b].f_body.at[i];
            bool checks = jy_flow_at(c->w, at)->f_exit != JY_NO_EXIT;
            c->asks = c->invariant[at] != JY_NO_FV;
            if (c->invariant[at] != JY_NO_FV)
                fast.how[at] = JY_UNCHECKED_IN_FRONT;
            if (checks && (c->invariant[at] != JY_NO_FV || (b != c->head && try_without_check(c, &fast, at))))
                fast.ngone++;
            fast.told[at] = c->asks ? JY_SITE_HOISTED : JY_SITE_PROVEN;
        }
    }
    jy_counted_plan_handed(c, &fast);
    if (!polls_stay)
        jy_counted_plan_evidence(c, &fast);
    return fast;
}
