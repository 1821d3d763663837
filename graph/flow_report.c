/* What flow_report.h says: sites of checks, and, behind all passes, what is left of them in which loop and why LLVM has nothing to make vectors of.
 *
 * A natural loop of the flow is of the innermost loop of the program that has all of its blocks; blocks that passes have made are of none and are not asked. Of several natural loops of one loop
 * (a careful and a fast copy, the chunks around the fast one) the innermost fast one is looked at. */
#include "graph/flow_report.h"
#include "graph/flow_analysis.h"
#include "graph/base/index.h"

const struct jy_loop_why_info jy_loop_why_info[JY_WHY_COUNT] = {
    [JY_WHY_NONE] = { NULL, NULL, NULL },
#define LOOP_WHY(name, what, hint) [JY_WHY_##name] = { #name, what, hint },
#include "graph/loop_whys.def"
#undef LOOP_WHY
};

/* ---- sites ---- */

/* What the interpreter is asked for anyway, and functions that are left, are no checks. */
static bool
is_check(const struct jy_flow *w, const struct jy_fvalue *v)
{
    return v->f_exit != JY_NO_EXIT && v->f_op != JY_FLOW_POLL && v->f_op != JY_FLOW_INVOKE &&
           w->w_exits.at[v->f_exit].x_kind == JY_EXIT_CHECK;
}

void
jy_flow_stamp(struct jy_flow *w, jy_fv at)
{
    struct jy_flow *root = jy_flow_root(w);
    struct jy_fvalue *v = jy_flow_at(w, at);
    if (w->w_here.loop == 0 || !is_check(w, v))
        return;
    *jy_vec_push(w->w_arena, &root->w_sites) =
        (struct jy_flow_site){ .loop = w->w_here.loop, .place = w->w_here.place, .ordinal = w->w_here.ordinal++ };
    v->f_site = (uint32_t)root->w_sites.n;
}

static bool
is_same_site(const struct jy_flow_site *a, const struct jy_flow_site *b)
{
    return a->loop == b->loop && a->place == b->place && a->ordinal == b->ordinal;
}

/* The first site that is the same one in another version; its own number where it is the first. */
static uint32_t
first_of(struct jy_flow *root, struct jy_index *index, uint32_t number)
{
    const struct jy_flow_site *s = &root->w_sites.at[number];
    uint32_t hash = jy_index_mix(jy_index_mix(s->loop, s->place), s->ordinal);
    struct jy_index_probe probe = { 0 };
    for (uint32_t at = jy_index_first(index, &probe, hash); at != JY_INDEX_END; at = jy_index_next(index, &probe))
        if (is_same_site(&root->w_sites.at[at], s))
            return at;
    jy_index_add(root->w_arena, index, hash, number);
    return number;
}

/* Versions of one check get one site. */
static void
join_sites(struct jy_flow *root, struct jy_flow *w, const uint32_t *first)
{
    w->w_here.loop = 0;
    for (jy_fb b = 0; b < w->w_blocks.n; b++)
        for (size_t i = 0; i < w->w_blocks.at[b].f_body.n; i++) {
            struct jy_fvalue *v = jy_flow_at(w, w->w_blocks.at[b].f_body.at[i]);
            if (v->f_site == 0)
                continue;
            v->f_site = first[v->f_site - 1] + 1;
            root->w_sites.at[v->f_site - 1].counts = v->f_exit != JY_NO_EXIT;
        }
}

void
jy_flow_report_begin(struct jy_flow *root)
{
    struct jy_index index = { 0 };
    uint32_t *first = JY_NEW_ARRAY(root->w_arena, uint32_t, root->w_sites.n + 1);
    for (uint32_t k = 0; k < root->w_sites.n; k++)
        first[k] = first_of(root, &index, k);
    join_sites(root, root, first);
    for (size_t k = 0; k < root->w_functions.n; k++)
        join_sites(root, root->w_functions.at[k], first);
}

void
jy_flow_site_note(struct jy_flow *w, uint32_t site, enum jy_site_state state)
{
    struct jy_flow *root = jy_flow_root(w);
    if (site != 0 && root->w_sites.at[site - 1].state < (uint8_t)state)
        root->w_sites.at[site - 1].state = (uint8_t)state;
}

/* ---- loops ---- */

static uint32_t
around(const struct jy_flow *root, uint32_t report)
{
    return report == 0 ? 0 : root->w_reports.at[report - 1].around;
}

static bool
is_within(const struct jy_flow *root, uint32_t inner, uint32_t outer)
{
    while (inner != 0 && inner != outer)
        inner = around(root, inner);
    return inner == outer;
}

uint32_t
jy_flow_report_of(const struct jy_flow *w, const struct jy_flow_loop *loop)
{
    const struct jy_flow *root = jy_flow_root(w);
    uint32_t report = 0;
    bool any = false;
    for (size_t k = 0; k < loop->blocks.n; k++) {
        uint32_t own = w->w_blocks.at[loop->blocks.at[k]].f_loop;
        if (own == 0)
            continue;
        report = any ? report : own;
        any = true;
        while (!is_within(root, own, report))
            report = around(root, report);
    }
    while (report != 0 && root->w_reports.at[report - 1].kind == JY_REPORT_FUNCTION)
        report = around(root, report);
    return report;
}

struct reporter {
    struct jy_flow *root, *w;
    bool fastmath;
    struct jy_flow_shape shape;
    struct jy_flow_loops loops;
    uint32_t *of;  /* by natural loop: its report */
    bool *careful; /* by block: it is of a careful copy */
    bool *inside;  /* by block: of the loop that is looked at */
    const struct jy_flow_loop *loop;
    struct jy_flow_report *report;
};

static bool
refuse(struct reporter *r, enum jy_loop_why why, const char *detail, uint32_t line)
{
    r->report->why = (uint8_t)why;
    r->report->detail = detail;
    r->report->why_line = line;
    return false;
}

static const struct jy_fblock *
block_of(const struct reporter *r, size_t k)
{
    return &r->w->w_blocks.at[r->loop->blocks.at[k]];
}

/* ---- calls and checks ---- */

static bool
has_no_calls(struct reporter *r)
{
    for (size_t k = 0; k < r->loop->blocks.n; k++)
        for (size_t i = 0; i < block_of(r, k)->f_body.n; i++) {
            const struct jy_fvalue *v = jy_flow_at(r->w, block_of(r, k)->f_body.at[i]);
            if (v->f_op == JY_FLOW_INVOKE)
                return refuse(r, JY_WHY_OWN_CODE, r->root->w_functions.at[v->f_index]->w_name, v->f_line);
            if (v->f_op == JY_FLOW_CALL)
                return refuse(r, JY_WHY_C_CALL, r->w->w_helpers.at[v->f_index].name, v->f_line);
        }
    return true;
}

/* By one test, wherever it stands; or by others than that of the head. */
static bool
is_left_by_one_test(struct reporter *r)
{
    size_t ways = 0;
    uint32_t line = 0;
    for (size_t k = 0; k < r->loop->blocks.n; k++) {
        const struct jy_fblock *b = block_of(r, k);
        for (size_t e = 0; e < jy_flow_nedges(b); e++) {
            if (r->inside[b->f_edge[e].to])
                continue;
            ways++;
            line = r->loop->blocks.at[k] != r->loop->head ? b->f_line : line;
        }
    }
    return ways <= 1 || refuse(r, JY_WHY_LEFT_INSIDE, NULL, line);
}

static bool
has_no_checks(struct reporter *r)
{
    for (size_t k = 0; k < r->loop->blocks.n; k++)
        for (size_t i = 0; i < block_of(r, k)->f_body.n; i++) {
            const struct jy_fvalue *v = jy_flow_at(r->w, block_of(r, k)->f_body.at[i]);
            if (is_check(r->w, v))
                return refuse(r, JY_WHY_CHECK_LEFT, r->w->w_exits.at[v->f_exit].x_what, v->f_line);
        }
    return true;
}

/* ---- what rounds hand on ---- */

/* What the loop's one way back passes for the head's parameter; JY_NO_FV: there are several. */
static jy_fv
handed_on(const struct reporter *r, size_t place)
{
    jy_fv next = JY_NO_FV;
    for (uint32_t p = r->shape.pred_start[r->loop->head]; p < r->shape.pred_start[r->loop->head + 1]; p++) {
        struct jy_fpred pred = r->shape.pred[p];
        if (!r->inside[pred.from])
            continue;
        if (next != JY_NO_FV)
            return JY_NO_FV;
        next = r->w->w_blocks.at[pred.from].f_edge[pred.edge].args[place];
    }
    return next;
}

static bool
is_float(const struct jy_fvalue *v)
{
    return v->f_type == JY_F_F64 || v->f_type == JY_F_F32;
}

/* Operations that may be done in another order, on integers at least. */
static enum jy_fop
kind_of(uint8_t op)
{
    return op == JY_FLOW_SUB ? JY_FLOW_ADD : (enum jy_fop)op;
}

/* The value is the parameter, to which something was added (by which it was multiplied ...), again and again, or on some ways only. `kind`: the operation; JY_FLOW_COUNT: any, but one. */
static bool
is_gathered(const struct reporter *r, jy_fv at, jy_fv param, enum jy_fop kind, int depth)
{
    const struct jy_fvalue *v = jy_flow_at(r->w, at);
    const jy_fv *args = v->f_args;
    if (at == param)
        return true;
    if (depth == 0 || !r->inside[v->f_block])
        return false;
    if (v->f_op == JY_FLOW_SELECT)
        return is_gathered(r, args[1], param, kind, depth - 1) && is_gathered(r, args[2], param, kind, depth - 1);
    if (v->f_op != JY_FLOW_PARAM) {
        bool goes_on = kind == JY_FLOW_COUNT || kind == kind_of(v->f_op);
        switch ((int)v->f_op) {
        case JY_FLOW_ADD:
        case JY_FLOW_MUL:
        case JY_FLOW_MIN:
        case JY_FLOW_MAX:
        case JY_FLOW_AND:
        case JY_FLOW_OR:
        case JY_FLOW_XOR:
            kind = kind_of(v->f_op);
            return goes_on &&
                   (is_gathered(r, args[0], param, kind, depth - 1) || is_gathered(r, args[1], param, kind, depth - 1));
        case JY_FLOW_SUB:
            return goes_on && is_gathered(r, args[0], param, JY_FLOW_ADD, depth - 1);
        default:
            return false;
        }
    }
    if (v->f_block == r->loop->head)
        return false;
    size_t place = 0;
    while (r->w->w_blocks.at[v->f_block].f_params.at[place] != at)
        place++;
    for (uint32_t p = r->shape.pred_start[v->f_block]; p < r->shape.pred_start[v->f_block + 1]; p++) {
        struct jy_fpred pred = r->shape.pred[p];
        if (!is_gathered(r, r->w->w_blocks.at[pred.from].f_edge[pred.edge].args[place], param, kind, depth - 1))
            return false;
    }
    return true;
}

static bool
hands_nothing_on(struct reporter *r)
{
    const struct jy_fblock *head = &r->w->w_blocks.at[r->loop->head];
    for (size_t place = 0; place < head->f_params.n; place++) {
        jy_fv param = head->f_params.at[place], next = handed_on(r, place);
        if (next == JY_NO_FV || next == param ||
            !jy_flow_is_made_of(r->w, &r->shape, r->inside, r->loop->head, next, param, 12))
            continue;
        const struct jy_fvalue *v = jy_flow_at(r->w, next);
        bool is_sum = is_gathered(r, next, param, is_float(v) ? JY_FLOW_ADD : JY_FLOW_COUNT, 12);
        if (!is_sum)
            return refuse(r, JY_WHY_RECURRENCE, NULL, v->f_line);
        if (is_float(v) && !r->fastmath)
            return refuse(r, JY_WHY_ORDERED_SUM, NULL, v->f_line);
    }
    return true;
}

/* ---- why ---- */

static void
find_why(struct reporter *r)
{
    const struct jy_flow_report *told = r->report;
    size_t nvalues = 0;
    for (size_t k = 0; k < r->loop->blocks.n; k++)
        nvalues += block_of(r, k)->f_body.n;
    if (!r->loop->innermost) {
        refuse(r, JY_WHY_AROUND_LOOPS, NULL, 0);
        return;
    }
    if (!has_no_calls(r) || !is_left_by_one_test(r))
        return;
    if (!told->is_counted) {
        refuse(r, nvalues > JY_REPORT_LONG_BODY ? JY_WHY_TOO_LONG : JY_WHY_NOT_COUNTED, NULL, 0);
        return;
    }
    if (has_no_checks(r) && hands_nothing_on(r))
        refuse(r, JY_WHY_NO_GAIN, NULL, 0);
}

/* Another natural loop of the same loop lies in it: chunks of a fast copy. */
static bool
has_own_within(const struct reporter *r, size_t loop)
{
    for (size_t k = 0; k < loop; k++) { /* inner ones come first */
        if (r->of[k] != r->of[loop])
            continue;
        for (size_t i = 0; i < r->loops.at[loop].blocks.n; i++)
            if (r->loops.at[loop].blocks.at[i] == r->loops.at[k].head)
                return true;
    }
    return false;
}

static void
look_at(struct reporter *r, size_t k)
{
    r->loop = &r->loops.at[k];
    r->report = &r->root->w_reports.at[r->of[k] - 1];
    for (size_t i = 0; i < r->loop->blocks.n; i++)
        r->inside[r->loop->blocks.at[i]] = true;
    r->report->is_round = true;
    find_why(r);
    for (size_t i = 0; i < r->loop->blocks.n; i++)
        r->inside[r->loop->blocks.at[i]] = false;
}

static void
find_loops(struct reporter *r)
{
    size_t nblocks = r->w->w_blocks.n;
    jy_flow_shape_fill(&r->shape, r->w);
    jy_flow_loops_fill(&r->loops, r->w, &r->shape);
    r->of = JY_NEW_ARRAY(r->w->w_arena, uint32_t, r->loops.n + 1);
    r->careful = JY_NEW_ARRAY(r->w->w_arena, bool, nblocks + 1);
    r->inside = JY_NEW_ARRAY(r->w->w_arena, bool, nblocks + 1);
    for (size_t k = 0; k < r->loops.n; k++) {
        const struct jy_flow_loop *loop = &r->loops.at[k];
        r->of[k] = jy_flow_report_of(r->w, loop);
        for (size_t i = 0; i < loop->blocks.n; i++)
            r->careful[loop->blocks.at[i]] |= r->w->w_blocks.at[loop->head].f_careful;
    }
}

/* ---- counting ---- */

static void
note_left(const struct reporter *r, jy_fb b, uint32_t loop)
{
    for (size_t i = 0; i < r->w->w_blocks.at[b].f_body.n; i++) {
        const struct jy_fvalue *v = jy_flow_at(r->w, r->w->w_blocks.at[b].f_body.at[i]);
        if (v->f_site != 0 && v->f_exit != JY_NO_EXIT && r->root->w_sites.at[v->f_site - 1].loop == loop)
            jy_flow_site_note(r->w, v->f_site, JY_SITE_LEFT);
    }
}

/* Checks that stand in a loop's rounds, but for those of careful copies and of rounds that the frontend has put in front; those of a function stand anywhere in it. */
static void
find_left(const struct reporter *r)
{
    for (size_t k = 0; k < r->loops.n; k++)
        for (size_t i = 0; i < r->loops.at[k].blocks.n; i++)
            if (!r->careful[r->loops.at[k].blocks.at[i]])
                note_left(r, r->loops.at[k].blocks.at[i], r->of[k]);
    for (size_t k = 0; k < r->shape.dom.n; k++) {
        jy_fb b = r->shape.dom.order[k];
        uint32_t own = r->w->w_blocks.at[b].f_loop;
        if (own != 0 && r->root->w_reports.at[own - 1].kind == JY_REPORT_FUNCTION)
            note_left(r, b, own);
    }
}

static void
report_part(struct jy_flow *root, struct jy_flow *w, bool fastmath)
{
    struct reporter r = { .root = root, .w = w, .fastmath = fastmath };
    find_loops(&r);
    for (size_t k = 0; k < r.loops.n; k++)
        if (r.of[k] != 0 && !w->w_blocks.at[r.loops.at[k].head].f_careful && !has_own_within(&r, k))
            look_at(&r, k);
    find_left(&r);
}

/* Of several natural loops of a loop some may be about first rounds, without the loops in it. */
static void
tell_around(struct jy_flow *root, const struct jy_flow_report *inner)
{
    if (!inner->is_round || inner->around == 0 || root->w_reports.at[inner->around - 1].kind == JY_REPORT_FUNCTION)
        return;
    struct jy_flow_report *outer = &root->w_reports.at[inner->around - 1];
    outer->why = JY_WHY_AROUND_LOOPS;
    outer->detail = NULL;
    outer->why_line = 0;
}

void
jy_flow_report(struct jy_flow *root, bool fastmath)
{
    report_part(root, root, fastmath);
    for (size_t k = 0; k < root->w_functions.n; k++)
        report_part(root, root->w_functions.at[k], fastmath);
    for (size_t k = 0; k < root->w_reports.n; k++)
        tell_around(root, &root->w_reports.at[k]);
    for (size_t k = 0; k < root->w_sites.n; k++) {
        const struct jy_flow_site *s = &root->w_sites.at[k];
        if (s->counts)
            root->w_reports.at[s->loop - 1].checks[s->state]++;
    }
}
