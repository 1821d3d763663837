/* See stretch.h. What is plain and where the boundaries are is found once for a code object. */
#include "frontend/cpython/stretch.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/cpython/assemble.h"
#include "frontend/cpython/edit.h"

enum { SHORTEST = 4 }; /* taste: instructions that are worth an item of their own */

/* Neither control nor a frame's beginning, no local is unbound, and no slot named that moves when locals are added. */
static bool
is_plain(const struct jy_code *code, const struct jy_instr *instr)
{
    switch (instr->i_op) {
    case RESUME:
    case MAKE_CELL:
    case COPY_FREE_VARS:
    case DELETE_FAST:
    case RETURN_GENERATOR:
    case YIELD_VALUE:
#ifdef LOAD_FAST_AND_CLEAR
    case LOAD_FAST_AND_CLEAR:
#endif
        return false;
    default:
        return instr->i_depth >= 0 && !jy_instr_is_jump(instr->i_op) && jy_instr_falls_through(instr->i_op) &&
               !jy_edit_names_cell(code, instr);
    }
}

static bool
has_position_of(const struct jy_instr *a, const struct jy_instr *b)
{
    return memcmp(&a->i_position, &b->i_position, sizeof a->i_position) == 0;
}

static bool
is_boundary(const struct jy_code *code, int id)
{
    const struct jy_instr *instr = jy_code_at(code, id);
    return instr->i_depth == 0 && instr->i_position.line >= 0 && id > 0 &&
           !has_position_of(instr, jy_code_at(code, id - 1)) && !jy_instr_looks_back(instr->i_op) &&
           !jy_edit_is_glued(code, id);
}

static void
mark_joint(bool *joint, int id)
{
    if (id != JY_NO_INSTR)
        joint[id] = true;
}

/* By id: control may come to it from elsewhere, or leave an exception range in front of it. */
static bool *
find_joints(struct jy_arena *arena, const struct jy_code *code)
{
    bool *joint = JY_NEW_ARRAY(arena, bool, code->c_instrs.n);
    for (size_t id = 0; id < code->c_instrs.n; id++)
        mark_joint(joint, jy_code_at(code, (int)id)->i_target);
    for (size_t k = 0; k < code->c_handlers.n; k++) {
        mark_joint(joint, code->c_handlers.at[k].h_start);
        mark_joint(joint, code->c_handlers.at[k].h_end);
        mark_joint(joint, code->c_handlers.at[k].h_handler);
    }
    return joint;
}

struct jy_stretches *
jy_stretches_new(struct jy_code *code, const struct jy_layout_map *map)
{
    struct jy_arena *arena = code->c_arena;
    int n = code->c_ndecoded;
    const bool *joint = find_joints(arena, code);
    struct jy_stretches *s = JY_NEW(arena, struct jy_stretches);
    *s = (struct jy_stretches){
        .s_code = code,
        .s_map = map,
        .s_end = JY_NEW_ARRAY(arena, int, n),
        .s_boundary = JY_NEW_ARRAY(arena, int, n),
        .s_run = JY_NEW_ARRAY(arena, int, n),
        .s_place = JY_NEW_ARRAY(arena, int, n),
        .s_line = JY_NEW_ARRAY(arena, int, n),
    };
    for (int id = n - 1; id >= 0; id--) {
        bool plain = is_plain(code, jy_code_at(code, id));
        s->s_end[id] = !plain ? id : id + 1 == n || joint[id + 1] ? id + 1 : s->s_end[id + 1];
    }
    for (int id = 0; id < n; id++)
        s->s_boundary[id] = is_boundary(code, id) ? id : id > 0 ? s->s_boundary[id - 1] : JY_NO_INSTR;
    jy_assemble_locations(s, code);
    return s;
}

/* ---- the copy ---- */

static int
compare_ids(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Sorted, with one behind all at the end. */
static int *
ids_to_keep(struct jy_arena *arena, const struct jy_code *code, const uint32_t *offsets, size_t n)
{
    int *ids = JY_NEW_ARRAY(arena, int, n + 1);
    for (size_t k = 0; k < n; k++)
        ids[k] = jy_code_id_at_offset(code, (int)offsets[k]);
    qsort(ids, n, sizeof *ids, compare_ids);
    ids[n] = code->c_ndecoded;
    return ids;
}

/* Up to where a stretch goes that begins at `id` and leaves `limit` alone; not behind `id`: none does. */
static int
end_of_stretch(const struct jy_stretches *s, int id, int limit)
{
    if (s->s_boundary[id] != id)
        return id;
    int end = s->s_end[id] < limit ? s->s_end[id] : limit;
    return end < s->s_code->c_ndecoded ? s->s_boundary[end] : s->s_boundary[end - 1];
}

static void
add_item(struct jy_code *code, const struct jy_instr *original, int span)
{
    int id = (int)code->c_instrs.n;
    struct jy_instr item = *original;
    item.i_prev = id - 1;
    item.i_next = id + 1;
    if (span > 1) {
        item.i_op = NOP;
        item.i_arg = 0;
        item.i_caches = item.i_prefix = 0;
        item.i_span = span;
    }
    *jy_vec_push(code->c_arena, &code->c_instrs) = item;
}

/* The item that is that instruction of the original. */
static int
item_of(const struct jy_code *code, int original)
{
    int low = 0, high = code->c_ndecoded;
    while (original != JY_NO_INSTR && low < high) {
        int middle = low + (high - low) / 2;
        if (jy_code_at(code, middle)->i_id == original)
            return middle;
        if (jy_code_at(code, middle)->i_id < original)
            low = middle + 1;
        else
            high = middle;
    }
    return JY_NO_INSTR;
}

static void
copy_handlers(struct jy_code *code, const struct jy_code *original)
{
    code->c_handlers.cap = original->c_handlers.n;
    if (code->c_handlers.cap == 0)
        return;
    code->c_handlers.at =
        jy_arena_copy(code->c_arena, original->c_handlers.at, original->c_handlers.n * sizeof *code->c_handlers.at);
    for (size_t k = 0; k < code->c_handlers.n; k++) {
        struct jy_handler *h = &code->c_handlers.at[k];
        h->h_start = item_of(code, h->h_start);
        h->h_end = item_of(code, h->h_end);
        h->h_handler = item_of(code, h->h_handler);
    }
}

struct jy_code *
jy_stretches_copy(struct jy_arena *arena, const struct jy_stretches *s, const uint32_t *offsets, size_t noffsets)
{
    const struct jy_code *original = s->s_code;
    const int *keep = ids_to_keep(arena, original, offsets, noffsets);
    struct jy_code *code = jy_arena_copy(arena, original, sizeof *code);
    code->c_arena = arena;
    code->c_stretches = s;
    code->c_instrs.at = NULL;
    code->c_instrs.n = code->c_instrs.cap = 0;
    for (int id = 0; id < original->c_ndecoded;) {
        while (*keep < id)
            keep++;
        int end = end_of_stretch(s, id, *keep);
        int span = end - id >= SHORTEST ? end - id : 1;
        add_item(code, jy_code_at(original, id), span);
        id += span;
    }
    code->c_ndecoded = (int)code->c_instrs.n;
    code->c_first = 0;
    code->c_last = code->c_ndecoded - 1;
    jy_code_at(code, code->c_last)->i_next = JY_NO_INSTR;
    for (int id = 0; id < code->c_ndecoded; id++)
        jy_code_at(code, id)->i_target = item_of(code, jy_code_at(code, id)->i_target);
    copy_handlers(code, original);
    return code;
}

/* ---- verification ---- */

/* The map has forgotten the names of comprehensions. What the original loads or stores is bound behind that. */
static void
add_named_locals(const struct jy_instr *instr, uint64_t *set)
{
    struct jy_instr parts[2];
    if (jy_instr_split(instr, parts)) {
        add_named_locals(&parts[0], set);
        add_named_locals(&parts[1], set);
    } else if (jy_instr_argkind(instr->i_op) == JY_ARG_LOCAL) {
        set[instr->i_arg >> 6] |= UINT64_C(1) << (instr->i_arg & 63);
    }
}

bool
jy_stretch_apply(const struct jy_code *code, const struct jy_instr *item, uint64_t *set)
{
    const struct jy_layout_map *map = code->c_stretches->s_map;
    size_t before = (size_t)item->i_id * map->nwords, behind = before + (size_t)item->i_span * map->nwords;
    int n = code->c_origin->co_nlocals; /* cells and free variables are not named in it */
    for (int k = 0; 64 * k < n; k++) {
        uint64_t own = 64 * (k + 1) <= n ? ~UINT64_C(0) : (UINT64_C(1) << (n & 63)) - 1;
        if ((map->bound[before + (size_t)k] & ~set[k] & own) != 0)
            return false;
        uint64_t stored = map->verified[behind + (size_t)k] & ~map->verified[before + (size_t)k];
        set[k] |= (map->bound[behind + (size_t)k] | stored) & own;
    }
    for (int k = 0; k < item->i_span && map->verified != map->bound; k++)
        add_named_locals(jy_code_at(code->c_stretches->s_code, item->i_id + k), set);
    return true;
}
