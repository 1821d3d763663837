/* Lowering: nests with operations that NumPy's own inner loops compute, tiled so that what passes between them stays in L1.
 *
 *     for each tile:
 *       phase 0   a vector loop: loads, operations, results that a call or a later phase reads go to tile buffers
 *       calls 0   inner loops over the whole tile
 *       phase 1   ...
 *
 * A value's stage is the phase that computes it, or after which its call stands. A collapsed space is tiled in runs of `length` elements; then
 * buffers that are one line are passed to the calls as they are (homes of values: below). Other spaces are tiled in rows x columns, stored
 * densely, so that short rows still make long calls. Scalar operands are passed with stride 0, as NumPy does. STOREs into
 * older memory wait for the last phase: nothing is loaded after it has been overwritten.
 *
 * Tile buffers are shared by values whose lives, counted in phases and calls, do not touch. */
#include "graph/lower.h"
#include <assert.h>
#include <string.h>

#define L1_BYTES 32768
#define LONGEST_TILE 1024
#define LINE 64 /* a scalar operand gets a cache line of its own */

/* Where a value that outlives its phase is: in a buffer of the nest's own elements (`is_direct`), or in tile slot `slot`. */
struct home {
    bool exists, is_direct;
    uint32_t buffer, slot;
    uint32_t stage, from, until; /* stage; first and last moment */
};

/* A memory operand of a call that has to be copied to a tile first. */
struct copied {
    uint32_t buffer;
    struct home home;
};

struct tiling {
    struct jy_lower *L;
    struct jy_group *g;
    const struct jy_nest *nest;
    struct home *home; /* per node */
    uint32_t last_stage;
    struct {
        struct copied *at;
        size_t n, cap;
    } copied;
    struct {
        uint32_t *at;
        size_t n, cap;
    } slots; /* per slot: last moment of its last user */
    int64_t length;
    uint32_t scalar_offset;
    struct {
        struct jy_tile_scalar {
            jy_ref node;
            uint32_t buffer;
        } *at;
        size_t n, cap;
    } scalars;
    /* of the current tile: first element and extent per tiled axis, number of elements */
    jy_lv first[2], extent[2], count;
};

static bool
is_call(const struct tiling *t, jy_ref r)
{
    return jy_lower_class(t->L, r) == JY_CLASS_TILE;
}

/* The operand as this group sees it, and whether it is a value of this group. */
static bool
resolve(const struct tiling *t, jy_ref *r)
{
    if (jy_lower_class(t->L, *r) == JY_CLASS_STORE && t->L->node[*r].group == t->L->group)
        *r = jy_lower_forward(t->L, *r);
    return jy_lower_at(t->L, *r)->n_ndim != 0 && t->L->node[*r].group == t->L->group &&
           t->L->node[*r].into == JY_NO_REF && jy_lower_class(t->L, *r) != JY_CLASS_STORE;
}

static bool
is_line(const struct tiling *t)
{
    return t->nest->n <= 1;
}

/* Is element i of the collapsed space element i of this buffer, adjacent ones adjacent? */
static bool
is_direct_buffer(const struct tiling *t, uint32_t buffer)
{
    const struct jy_buffer *b = &t->L->plan->p_buffers.at[buffer];
    if (!is_line(t))
        return false;
    if (t->nest->n == 0)
        return true;
    int axis = t->nest->loop[0].axis - (t->g->ndim - b->b_ndim);
    return axis >= 0 && b->b_unit_axis == axis && b->b_shape[axis] != 1;
}

/* Stretched along every axis that is walked: one element, as a scalar. */
static bool
is_single(const struct tiling *t, uint32_t buffer)
{
    const struct jy_buffer *b = &t->L->plan->p_buffers.at[buffer];
    for (size_t d = 0; d < b->b_ndim; d++)
        if (b->b_shape[d] != 1)
            return false;
    return t->nest->n > 0;
}

static size_t
first_operand(const struct jy_node *node)
{
    return node->n_op == JY_OP_STORE; /* the base is not read */
}

/* STOREs come after every call: a call may read what is overwritten. */
static void
delay_stores(struct tiling *t)
{
    bool stores = false;
    uint32_t stage = t->last_stage;
    for (size_t i = 0; i < t->g->members.n; i++) {
        jy_ref r = t->g->members.at[i];
        stores |= jy_lower_class(t->L, r) == JY_CLASS_STORE;
        if (is_call(t, r) && t->home[r].stage + 1 > stage)
            stage = t->home[r].stage + 1;
    }
    if (!stores)
        return;
    t->last_stage = stage;
    for (size_t i = 0; i < t->g->members.n; i++)
        if (jy_lower_class(t->L, t->g->members.at[i]) == JY_CLASS_STORE)
            t->home[t->g->members.at[i]].stage = stage;
}

static void
find_stages(struct tiling *t)
{
    struct jy_lower *L = t->L;
    for (size_t i = 0; i < t->g->members.n; i++) {
        jy_ref r = t->g->members.at[i];
        const struct jy_node *node = jy_lower_at(L, r);
        uint32_t stage = 0;
        for (size_t k = first_operand(node); k < node->n_nargs; k++) {
            jy_ref o = node->n_args[k];
            if (!resolve(t, &o))
                continue;
            uint32_t after = t->home[o].stage + (is_call(t, o) && !is_call(t, r));
            stage = after > stage ? after : stage;
        }
        t->home[r].stage = stage;
        bool is_copied_out = is_call(t, r) && L->node[r].memory && !is_direct_buffer(t, jy_lower_buffer(L, r));
        stage += is_copied_out;
        t->last_stage = stage > t->last_stage ? stage : t->last_stage;
    }
    delay_stores(t);
}

/* Moments: a phase, then each call behind it. */
static uint32_t
moment_of_phase(const struct tiling *t, uint32_t stage)
{
    return stage * ((uint32_t)t->g->members.n + 1);
}

static uint32_t
moment_of_call(const struct tiling *t, size_t member)
{
    return moment_of_phase(t, t->home[t->g->members.at[member]].stage) + 1 + (uint32_t)member;
}

static void
use_home(struct home *home, uint32_t moment)
{
    home->exists = true;
    if (moment > home->until)
        home->until = moment;
}

static struct copied *
copied_operand(struct tiling *t, uint32_t buffer)
{
    for (size_t i = 0; i < t->copied.n; i++)
        if (t->copied.at[i].buffer == buffer)
            return &t->copied.at[i];
    return NULL;
}

static void
use_copied(struct tiling *t, uint32_t buffer, uint32_t stage, uint32_t moment)
{
    struct copied *c = copied_operand(t, buffer);
    if (c == NULL) {
        c = jy_vec_push(t->L->arena, &t->copied);
        *c = (struct copied){ buffer, { .stage = stage, .from = moment_of_phase(t, stage) } };
    }
    if (stage < c->home.stage) {
        c->home.stage = stage;
        c->home.from = moment_of_phase(t, stage);
    }
    use_home(&c->home, moment);
}

static void
find_uses(struct tiling *t)
{
    struct jy_lower *L = t->L;
    for (size_t i = 0; i < t->g->members.n; i++) {
        jy_ref r = t->g->members.at[i];
        const struct jy_node *node = jy_lower_at(L, r);
        struct home *own = &t->home[r];
        uint32_t moment = is_call(t, r) ? moment_of_call(t, i) : moment_of_phase(t, own->stage);
        own->from = moment;
        if (is_call(t, r)) {
            bool in_memory = L->node[r].memory && !is_direct_buffer(t, jy_lower_buffer(L, r));
            use_home(own, in_memory ? moment_of_phase(t, own->stage + 1) : moment);
        }
        for (size_t k = first_operand(node); k < node->n_nargs; k++) {
            jy_ref o = node->n_args[k];
            if (resolve(t, &o)) {
                if (is_call(t, r) || is_call(t, o) || t->home[o].stage != own->stage)
                    use_home(&t->home[o], moment);
            } else if (jy_lower_at(L, o)->n_ndim != 0 && is_call(t, r)) {
                uint32_t buffer = jy_lower_buffer(L, o);
                if (!is_direct_buffer(t, buffer) && !is_single(t, buffer))
                    use_copied(t, buffer, own->stage, moment);
            }
        }
    }
}

static void
give_slot(struct tiling *t, struct home *home)
{
    for (uint32_t i = 0; i < t->slots.n; i++)
        if (t->slots.at[i] < home->from) {
            t->slots.at[i] = home->until;
            home->slot = i;
            return;
        }
    home->slot = (uint32_t)t->slots.n;
    *jy_vec_push(t->L->arena, &t->slots) = home->until;
}

/* In order of their first moments, as slots are given back in time. */
static void
give_slots(struct tiling *t)
{
    struct jy_lower *L = t->L;
    for (uint32_t stage = 0; stage <= t->last_stage; stage++) {
        for (size_t i = 0; i < t->copied.n; i++)
            if (t->copied.at[i].home.stage == stage)
                give_slot(t, &t->copied.at[i].home);
        for (int calls = 0; calls < 2; calls++)
            for (size_t i = 0; i < t->g->members.n; i++) {
                jy_ref r = t->g->members.at[i];
                struct home *home = &t->home[r];
                if (!home->exists || home->stage != stage || is_call(t, r) != calls)
                    continue;
                home->is_direct = L->node[r].memory && is_direct_buffer(t, jy_lower_buffer(L, r));
                if (home->is_direct)
                    home->buffer = jy_lower_buffer(L, r);
                else
                    give_slot(t, home);
            }
    }
    size_t slots = t->slots.n == 0 ? 1 : t->slots.n;
    t->length = (int64_t)(L1_BYTES / (8 * slots)) / 64 * 64;
    t->length = t->length > LONGEST_TILE ? LONGEST_TILE : t->length < 64 ? 64 : t->length;
    t->scalar_offset = (uint32_t)(t->slots.n * (size_t)t->length * 8);
}

static void
bind_slot(struct tiling *t, struct home *home, jy_dtype dtype)
{
    if (home->exists && !home->is_direct)
        home->buffer = jy_lower_tile_buffer(t->L, dtype, (uint32_t)(home->slot * (size_t)t->length * 8), t->length);
}

static void
bind_slots(struct tiling *t)
{
    for (size_t i = 0; i < t->g->members.n; i++) {
        jy_ref r = t->g->members.at[i];
        bind_slot(t, &t->home[r], (jy_dtype)jy_lower_at(t->L, r)->n_dtype);
    }
    for (size_t i = 0; i < t->copied.n; i++)
        bind_slot(t, &t->copied.at[i].home, (jy_dtype)t->L->plan->p_buffers.at[t->copied.at[i].buffer].b_dtype);
}

static void
put(struct jy_lower *L, uint32_t buffer, jy_lv value)
{
    struct jy_access access = { .buffer = buffer, .run_axis = -1 };
    jy_loop_store(&L->b, &access, value);
}

/* 0-d operands of calls lie in memory for the whole nest. */
static void
put_scalars(struct tiling *t)
{
    struct jy_lower *L = t->L;
    for (size_t i = 0; i < t->g->members.n; i++) {
        const struct jy_node *node = jy_lower_at(L, t->g->members.at[i]);
        for (size_t k = 0; is_call(t, t->g->members.at[i]) && k < node->n_nargs; k++) {
            jy_ref o = node->n_args[k];
            bool known = jy_lower_at(L, o)->n_ndim != 0;
            for (size_t j = 0; j < t->scalars.n && !known; j++)
                known = t->scalars.at[j].node == o;
            if (known)
                continue;
            uint32_t buffer = jy_lower_tile_buffer(L, (jy_dtype)jy_lower_at(L, o)->n_dtype, t->scalar_offset, 1);
            t->scalar_offset += LINE;
            put(L, buffer, jy_lower_scalar(L, o));
            *jy_vec_push(L->arena, &t->scalars) = (struct jy_tile_scalar){ o, buffer };
        }
    }
}

/* An element of the current tile: indices into the space, and into tile buffers. */
struct element {
    struct jy_scope s;
    jy_lv in_tile[2];
    size_t n_in_tile;
};

static void
access_home(struct tiling *t, struct jy_access *out, const struct element *e, const struct home *home)
{
    if (home->is_direct) {
        jy_lower_access(t->L, out, &e->s, home->buffer);
        return;
    }
    *out = (struct jy_access){ .buffer = home->buffer, .run_axis = -1, .nterms = (uint8_t)e->n_in_tile };
    for (size_t i = 0; i < e->n_in_tile; i++)
        out->term[i].index = e->in_tile[i];
}

static void
store_home(struct tiling *t, const struct element *e, const struct home *home, jy_lv value)
{
    struct jy_access access;
    access_home(t, &access, e, home);
    jy_loop_store(&t->L->b, &access, value);
}

/* Operands that earlier phases and calls have left in their homes become values of this phase. */
static void
fetch(struct tiling *t, struct element *e, jy_ref r, uint32_t stage)
{
    struct jy_lower *L = t->L;
    if (L->node[r].value_stamp == e->s.stamp || (t->home[r].stage == stage && !is_call(t, r)))
        return;
    struct jy_access access;
    access_home(t, &access, e, &t->home[r]);
    L->node[r].value = jy_loop_load(&L->b, (jy_dtype)jy_lower_at(L, r)->n_dtype, &access);
    L->node[r].value_stamp = e->s.stamp;
}

static bool
is_copied_out(struct tiling *t, jy_ref r, uint32_t stage)
{
    return is_call(t, r) && t->L->node[r].memory && !t->home[r].is_direct && t->home[r].stage + 1 == stage;
}

static bool
has_phase(struct tiling *t, uint32_t stage)
{
    for (size_t i = 0; i < t->copied.n; i++)
        if (t->copied.at[i].home.stage == stage)
            return true;
    for (size_t i = 0; i < t->g->members.n; i++) {
        jy_ref r = t->g->members.at[i];
        if ((!is_call(t, r) && t->home[r].stage == stage) || is_copied_out(t, r, stage))
            return true;
    }
    return false;
}

static void
emit_phase_body(struct tiling *t, struct element *e, uint32_t stage)
{
    struct jy_lower *L = t->L;
    for (size_t i = 0; i < t->copied.n; i++)
        if (t->copied.at[i].home.stage == stage)
            store_home(t, e, &t->copied.at[i].home, jy_lower_load(L, &e->s, t->copied.at[i].buffer));
    for (size_t i = 0; i < t->g->members.n; i++) {
        jy_ref r = t->g->members.at[i];
        const struct jy_node *node = jy_lower_at(L, r);
        if (is_copied_out(t, r, stage)) {
            fetch(t, e, r, stage);
            jy_lower_store_result(L, &e->s, r, L->node[r].value);
        }
        if (is_call(t, r) || t->home[r].stage != stage)
            continue;
        for (size_t k = first_operand(node); k < node->n_nargs; k++) {
            jy_ref o = node->n_args[k];
            if (resolve(t, &o))
                fetch(t, e, o, stage);
        }
        jy_lower_emit_member(L, &e->s, r);
        if (t->home[r].exists && !t->home[r].is_direct)
            store_home(t, e, &t->home[r], L->node[r].value);
    }
}

static void
index_axis(struct element *e, size_t axis, jy_lv base, jy_lv var)
{
    e->s.index[axis].lv[0] = base;
    e->s.index[axis].lv[1] = var;
    e->s.index[axis].n = 2;
}

static void
emit_phase(struct tiling *t, const struct jy_scope *outer, uint32_t stage)
{
    struct jy_lower *L = t->L;
    struct element e = { .n_in_tile = 0 };
    size_t n = t->nest->n;
    jy_lower_open_scope(L, &e.s, t->g->ndim);
    memcpy(e.s.index, outer->index, sizeof e.s.index);
    if (n >= 2) {
        jy_lv row = jy_loop_for(&L->b, t->extent[0], 1, false);
        e.in_tile[e.n_in_tile++] = jy_loop_int(&L->b, JY_OP_MUL, row, t->extent[1]);
        index_axis(&e, t->nest->loop[n - 2].axis, t->first[0], row);
    }
    if (n >= 1) {
        jy_lv column = jy_loop_for(&L->b, t->extent[1], 1, true);
        e.in_tile[e.n_in_tile++] = column;
        index_axis(&e, t->nest->loop[n - 1].axis, t->first[1], column);
    }
    emit_phase_body(t, &e, stage);
    if (n >= 1)
        jy_loop_end_for(&L->b);
    if (n >= 2)
        jy_loop_end_for(&L->b);
}

/* A run over the current tile in `buffer`, which is direct. */
static void
run_direct(struct tiling *t, struct jy_access *out, uint32_t buffer)
{
    *out = (struct jy_access){ .buffer = buffer,
                               .run_axis = t->nest->n == 0 ? -1 : t->L->plan->p_buffers.at[buffer].b_unit_axis };
    if (t->nest->n == 0 || t->first[1] == JY_NO_LV)
        return;
    out->nterms = 1;
    out->term[0].index = t->first[1];
    out->term[0].axis = (uint8_t)out->run_axis;
}

static void
run_home(struct tiling *t, struct jy_access *out, const struct home *home)
{
    if (home->is_direct)
        run_direct(t, out, home->buffer);
    else
        *out = (struct jy_access){ .buffer = home->buffer, .run_axis = 0 };
}

static void
run_operand(struct tiling *t, struct jy_access *out, jy_ref o)
{
    struct jy_lower *L = t->L;
    if (resolve(t, &o)) {
        run_home(t, out, &t->home[o]);
        return;
    }
    if (jy_lower_at(L, o)->n_ndim == 0) {
        for (size_t j = 0; j < t->scalars.n; j++)
            if (t->scalars.at[j].node == o)
                *out = (struct jy_access){ .buffer = t->scalars.at[j].buffer, .run_axis = -1 };
        return;
    }
    uint32_t buffer = jy_lower_buffer(L, o);
    const struct copied *c = copied_operand(t, buffer);
    if (c != NULL)
        run_home(t, out, &c->home);
    else if (is_single(t, buffer))
        *out = (struct jy_access){ .buffer = buffer, .run_axis = -1 };
    else
        run_direct(t, out, buffer);
}

static void
emit_call(struct tiling *t, jy_ref r)
{
    struct jy_lower *L = t->L;
    const struct jy_node *node = jy_lower_at(L, r);
    struct jy_access access[4];
    for (size_t k = 0; k < node->n_nargs; k++)
        run_operand(t, &access[k], node->n_args[k]);
    run_home(t, &access[node->n_nargs], &t->home[r]);
    L->b.line = node->n_line;
    L->b.file = node->n_file;
    jy_loop_ufunc(&L->b, jy_lower_loop(L, (jy_op)node->n_op, (jy_dtype)node->n_dtype), t->count, node->n_nargs + 1u,
                  access);
}

static void
emit_tile(struct tiling *t, const struct jy_scope *outer)
{
    for (uint32_t stage = 0; stage <= t->last_stage; stage++) {
        if (has_phase(t, stage))
            emit_phase(t, outer, stage);
        for (size_t i = 0; i < t->g->members.n; i++)
            if (is_call(t, t->g->members.at[i]) && t->home[t->g->members.at[i]].stage == stage)
                emit_call(t, t->g->members.at[i]);
    }
}

static jy_lv
part(struct tiling *t, jy_lv length, jy_lv whole, jy_lv first)
{
    struct jy_loop_builder *b = &t->L->b;
    return jy_loop_int(b, JY_OP_MINIMUM, length, jy_loop_int(b, JY_OP_SUB, whole, first));
}

/* Tiles of a collapsed space; a single call that needs no tile at all takes the whole run. */
static void
emit_line(struct tiling *t, const struct jy_scope *outer)
{
    struct jy_loop_builder *b = &t->L->b;
    jy_lv whole = t->nest->n == 0 ? jy_loop_int_const(b, 1) : jy_lower_size(t->L, t->nest->loop[0].extent);
    bool is_lone_call = t->slots.n == 0 && t->g->members.n == 1;
    t->first[1] = JY_NO_LV;
    t->count = t->extent[1] = whole;
    if (t->nest->n == 0 || is_lone_call) {
        emit_tile(t, outer);
        return;
    }
    t->first[1] = jy_loop_for(b, whole, t->length, false);
    t->count = t->extent[1] = part(t, jy_loop_int_const(b, t->length), whole, t->first[1]);
    emit_tile(t, outer);
    jy_loop_end_for(b);
}

static void
emit_grid(struct tiling *t, struct jy_scope *outer)
{
    struct jy_loop_builder *b = &t->L->b;
    const struct jy_nest *nest = t->nest;
    jy_lv rows = jy_lower_size(t->L, nest->loop[nest->n - 2].extent),
          columns = jy_lower_size(t->L, nest->loop[nest->n - 1].extent);
    jy_lv one = jy_loop_int_const(b, 1), length = jy_loop_int_const(b, t->length);
    jy_lv fit = jy_loop_int(b, JY_OP_FLOOR_DIVIDE, length, jy_loop_int(b, JY_OP_MAXIMUM, columns, one));
    jy_lv height = jy_loop_int(b, JY_OP_MAXIMUM, fit, one);
    jy_lv rounded = jy_loop_int(b, JY_OP_SUB, jy_loop_int(b, JY_OP_ADD, rows, height), one);
    jy_lv blocks = jy_loop_int(b, JY_OP_FLOOR_DIVIDE, rounded, height);
    struct jy_nest outside = *nest;
    outside.n -= 2;
    jy_lower_open_loops(t->L, outer, &outside, false);
    jy_lv block = jy_loop_for(b, blocks, 1, false);
    t->first[0] = jy_loop_int(b, JY_OP_MUL, block, height);
    t->extent[0] = part(t, height, rows, t->first[0]);
    t->first[1] = jy_loop_for(b, columns, t->length, false);
    t->extent[1] = part(t, length, columns, t->first[1]);
    t->count = jy_loop_int(b, JY_OP_MUL, t->extent[0], t->extent[1]);
    emit_tile(t, outer);
    jy_loop_end_for(b);
    jy_loop_end_for(b);
    jy_lower_close_loops(t->L, &outside);
}

void
jy_lower_emit_tiles(struct jy_lower *L, struct jy_group *g, const struct jy_nest *nest)
{
    struct tiling t = { .L = L, .g = g, .nest = nest };
    t.home = JY_NEW_ARRAY(L->arena, struct home, L->g->g_nodes.n + 1);
    find_stages(&t);
    find_uses(&t);
    give_slots(&t);
    bind_slots(&t);
    put_scalars(&t);
    struct jy_scope outer;
    jy_lower_open_scope(L, &outer, g->ndim);
    if (is_line(&t))
        emit_line(&t, &outer);
    else
        emit_grid(&t, &outer);
}

/* NumPy gives its loops 0-d operands with stride 0; the power of scalars is no loop of NumPy's, and stride 0 would take its short cuts. */
jy_lv
jy_lower_scalar_call(struct jy_lower *L, jy_ref r)
{
    const struct jy_node *node = jy_lower_at(L, r);
    jy_dtype dtype = (jy_dtype)node->n_dtype;
    struct jy_access access[4];
    int8_t run_axis = node->n_op == JY_OP_POWER && node->n_kind != JY_KIND_ARRAY ? 0 : -1;
    size_t n = node->n_nargs;
    for (size_t k = 0; k < n; k++) {
        access[k] = (struct jy_access){ .buffer = jy_lower_tile_buffer(L, dtype, (uint32_t)(k * LINE), 1),
                                        .run_axis = run_axis };
        put(L, access[k].buffer, jy_lower_scalar(L, node->n_args[k]));
    }
    access[n] = (struct jy_access){ .buffer = jy_lower_tile_buffer(L, dtype, (uint32_t)(n * LINE), 1), .run_axis = 0 };
    jy_loop_ufunc(&L->b, jy_lower_loop(L, (jy_op)node->n_op, dtype), jy_loop_int_const(&L->b, 1), n + 1, access);
    struct jy_access result = { .buffer = access[n].buffer, .run_axis = -1 };
    return jy_loop_load(&L->b, dtype, &result);
}
