/* Native lists (struct jy_flow_list): lists that the flow makes itself are memory of plain numbers, not objects, as long as it only does with them what is had here. An exit makes the objects of
 * those that it names, one of each list however many hold it; native code behind it goes on with lists as they always are.
 *
 * Which lists these are is found out by trying. A list begins native where its items are known to be of one kind: numbers, or native lists. Where something is done to it that needs the object -
 * it comes into a list from outside, CPython's functions are called for it - its origin is noted as one of objects, and the flow is begun again.
 *
 * Lists that come in are native when all of them can be: the runtime copies their numbers, and writes back what has changed. One object is one native list, so aliases need no check here; but no list may be
 * had as an object that another way is native. */
#include "frontend/flow.h"

#include <stddef.h>

enum {
    SIZE = offsetof(struct jy_flow_list, size),
    ALLOCATED = offsetof(struct jy_flow_list, allocated),
    ITEMS = offsetof(struct jy_flow_list, items),
};

/* ---- which ---- */

enum { MAX_TRIES = 8 }; /* taste: a flow is not begun more often for this */

static bool
holds_natives(const struct jy_velem *elem)
{
    return elem != NULL && elem->kind == JY_K_LIST && (elem->is_native || holds_natives(elem->elem));
}

jy_status
jy_vlist_as_object(struct jy_vbuild *b, const struct jy_val *list)
{
    struct jy_vhints *hints = b->hints;
    if (!list->is_native)
        return JY_OK;
    assert(b->may_again);
    bool has_origin = list->origin != 0 && list->origin != JY_FROM_INPUT;
    struct jy_vorigin *origin = has_origin ? &hints->origins.at[list->origin - 1] : NULL;
    if (list->origin == JY_FROM_INPUT || (origin != NULL && origin->is_input))
        hints->no_inputs = true;
    else if (origin == NULL || origin->is_object || ++hints->nobjects > MAX_TRIES)
        hints->no_natives = true; /* it came another way, or it takes too long to find all of them */
    else
        origin->is_object = true;
    for (size_t k = 0; k < hints->origins.n; k++)
        if (holds_natives(hints->origins.at[k].elem))
            hints->origins.at[k].elem = NULL;
    hints->n = hints->chains.n = 0; /* they may speak of lists as they were */
    b->again = true;
    return jy_vb_lacks(b, "a list that is no object yet");
}

bool
jy_vlist_may_be_native(const struct jy_vbuild *b, const struct jy_val *list)
{
    bool has_origin = list->origin != 0 && list->origin != JY_FROM_INPUT;
    const struct jy_vorigin *origin = has_origin ? &b->hints->origins.at[list->origin - 1] : NULL;
    return origin != NULL && !origin->is_input && !origin->is_object && b->may_again && !b->hints->no_natives;
}

bool
jy_vnative_can_hold(const struct jy_velem *elem)
{
    if (elem->other != NULL || elem->is_tuple)
        return false;
    if (elem->kind == JY_K_LIST)
        return elem->is_native && jy_vnative_can_hold(elem->elem);
    return elem->kind == JY_K_INT || elem->kind == JY_K_FLOAT || elem->kind == JY_K_BOOL;
}

/* ---- those that come in ---- */

/* Both sorts in one flow: a list that is an object may be, or hold, one that is native. */
static void
check_sorts(struct jy_vbuild *b)
{
    if (!b->root->has_natives || !b->root->has_lists)
        return;
    b->hints->no_inputs = true;
    b->hints->n = b->hints->chains.n = 0;
    b->again = b->root->again = true;
}

/* NULL: it cannot. *depth: levels of lists. */
static const struct jy_velem *
as_native(struct jy_vbuild *b, const struct jy_velem *elem, unsigned *depth)
{
    ++*depth;
    if (elem->kind != JY_K_LIST)
        return jy_vnative_can_hold(elem) ? elem : NULL;
    const struct jy_velem *inner = elem->is_tuple || elem->other != NULL ? NULL : as_native(b, elem->elem, depth);
    if (inner == NULL)
        return NULL;
    struct jy_velem *native = jy_arena_copy(b->arena, elem, sizeof *elem);
    native->elem = inner;
    native->is_native = true;
    native->origin = JY_FROM_INPUT;
    return native;
}

static bool
may_hold_lists(const struct jy_velem *elem)
{
    return elem->kind == JY_K_LIST || elem->kind == JY_K_UNBOUND;
}

void
jy_vnative_import_object(struct jy_vbuild *b, const struct jy_val *list)
{
    b->root->has_lists |= list->elem->kind != JY_K_BYTE && (!list->is_tuple || may_hold_lists(list->elem));
    check_sorts(b);
}

bool
jy_vnative_import(struct jy_vbuild *b, struct jy_val *list, uint32_t number)
{
    static const uint8_t dtypes[] = { [JY_K_INT] = JY_I64, [JY_K_FLOAT] = JY_F64, [JY_K_BOOL] = JY_BOOL };
    unsigned depth = 0;
    bool may = b->may_again && !b->hints->no_inputs && !b->t->request->no_natives && !list->is_tuple;
    const struct jy_velem *elem = may ? as_native(b, list->elem, &depth) : NULL, *leaf = elem;
    if (elem == NULL)
        return false;
    while (leaf->kind == JY_K_LIST)
        leaf = leaf->elem;
    struct jy_flow_input input = { .kind = JY_FLOW_IN_NATIVE,
                                   .type = JY_F_PTR,
                                   .axis = (uint8_t)depth,
                                   .dtype = dtypes[leaf->kind],
                                   .number = number };
    list->regs[0] = jy_flow_input(b->w, &input);
    list->elem = elem;
    list->is_native = true;
    b->root->has_natives = true;
    check_sorts(b);
    return true;
}

/* ---- memory ---- */

/* Of items of that type; NONE: of heads. */
static uint32_t
alias_of(struct jy_vbuild *b, enum jy_ftype type)
{
    static const uint8_t types[] = { JY_F_NONE, JY_F_I1, JY_F_I64, JY_F_F64, JY_F_PTR };
    for (size_t k = 0; k < sizeof types && b->alias_native[JY_F_NONE] == 0; k++)
        b->alias_native[types[sizeof types - 1 - k]] = jy_vb_own_alias(b);
    return b->alias_native[type];
}

static enum jy_ftype
type_of(const struct jy_velem *elem)
{
    return elem->kind == JY_K_INT     ? JY_F_I64
           : elem->kind == JY_K_FLOAT ? JY_F_F64
           : elem->kind == JY_K_BOOL  ? JY_F_I1
                                      : JY_F_PTR;
}

static jy_fv
head(struct jy_vbuild *b, const struct jy_val *list, enum jy_ftype type, int32_t field)
{
    return jy_vload(b, type, list->regs[0], jy_vint(b, 0), field, alias_of(b, JY_F_NONE));
}

static void
set_size(struct jy_vbuild *b, const struct jy_val *list, jy_fv size)
{
    jy_flow_store(b->w, b->block, list->regs[0], jy_vint(b, 0), SIZE, size, alias_of(b, JY_F_NONE));
}

jy_fv
jy_vnative_length(struct jy_vbuild *b, const struct jy_val *list)
{
    return head(b, list, JY_F_I64, SIZE);
}

static jy_fv
offset_of(struct jy_vbuild *b, const struct jy_val *list, jy_fv index)
{
    return jy_ve2(b, JY_FLOW_MUL, JY_F_I64, index, jy_vint(b, list->elem->kind == JY_K_BOOL ? 1 : 8));
}

/* ---- items ---- */

struct jy_val *
jy_vnative_at(struct jy_vbuild *b, const struct jy_val *list, jy_fv index)
{
    const struct jy_velem *elem = list->elem;
    enum jy_ftype type = type_of(elem);
    jy_fv offset = offset_of(b, list, index), items = head(b, list, JY_F_PTR, ITEMS);
    jy_fv reg = jy_vload(b, type, items, offset, 0, alias_of(b, type));
    struct jy_val *item = jy_val_reg(b, (enum jy_vkind)elem->kind, JY_DTYPE_NONE, reg);
    jy_vcheck_nan(b, item, JY_CHECK_LOADED);
    if (elem->kind == JY_K_LIST) {
        item->elem = elem->elem;
        item->is_native = true;
        item->origin = elem->origin;
    }
    return item;
}

static void
store(struct jy_vbuild *b, const struct jy_val *list, jy_fv index, const struct jy_val *item)
{
    enum jy_ftype type = type_of(list->elem);
    jy_fv offset = offset_of(b, list, index), items = head(b, list, JY_F_PTR, ITEMS);
    jy_flow_store(b->w, b->block, items, offset, 0, item->regs[0], alias_of(b, type));
}

/* Are the items such as this one? If not, the flow is begun again with a list that holds both. */
static jy_status
check_kind(struct jy_vbuild *b, struct jy_val *list, const struct jy_val *item)
{
    const struct jy_velem *elem = jy_velem_of_item(b, item);
    if (jy_vnative_can_hold(elem) && jy_velem_same(list->elem, elem))
        return JY_OK;
    jy_vlist_learn(b, list, elem);
    if (!b->again)
        return jy_vlist_as_object(b, list);
    return jy_vb_lacks(b, "a list of several kinds");
}

jy_status
jy_vnative_set(struct jy_vbuild *b, struct jy_val *list, struct jy_val *key, struct jy_val *item)
{
    jy_fv index;
    TRY(check_kind(b, list, item));
    TRY(jy_vas_index(b, &index, key));
    index = jy_ve2x(b, JY_FLOW_WRAP, JY_F_I64, index, jy_vnative_length(b, list), "index out of range");
    jy_vcheck_nan(b, item, JY_CHECK_STORED);
    store(b, list, index, item);
    return JY_OK;
}

static void
branch(struct jy_vbuild *b, jy_fv condition, jy_fb yes, jy_fb no)
{
    jy_flow_branch(b->w, b->block, condition, yes, 0, NULL, no, 0, NULL);
    b->w->w_blocks.at[b->block].f_likely[0] = true;
}

jy_status
jy_vnative_append(struct jy_vbuild *b, struct jy_val *list, struct jy_val *item)
{
    TRY(check_kind(b, list, item));
    jy_vcheck_nan(b, item, JY_CHECK_STORED);
    jy_fb full = jy_flow_block(b->w), behind = jy_flow_block(b->w);
    jy_fv size = jy_vnative_length(b, list);
    branch(b, jy_ve2(b, JY_FLOW_LT, JY_F_I1, size, head(b, list, JY_F_I64, ALLOCATED)), behind, full);
    b->block = full;
    jy_vhelp(b, "native_grow", 1, list->regs, "a list that cannot grow");
    jy_flow_jump(b->w, b->block, behind, 0, NULL);
    b->block = behind;
    store(b, list, size, item);
    set_size(b, list, jy_ve2(b, JY_FLOW_ADD, JY_F_I64, size, jy_vint(b, 1)));
    return JY_OK;
}

struct jy_val *
jy_vnative_pop(struct jy_vbuild *b, const struct jy_val *list)
{
    jy_fb little = jy_flow_block(b->w), much = jy_flow_block(b->w), behind = jy_flow_block(b->w);
    jy_fv one = jy_vint(b, 1), size = jy_vnative_length(b, list);
    jy_fv index = jy_ve2x(b, JY_FLOW_WRAP, JY_F_I64, jy_vint(b, -1), size, "pop from an empty list");
    struct jy_val *item = jy_vnative_at(b, list, index);
    jy_fv half = jy_ve2(b, JY_FLOW_SHR, JY_F_I64, head(b, list, JY_F_I64, ALLOCATED), one);
    jy_fv least = jy_ve2(b, JY_FLOW_MAX, JY_F_I64, half, one);
    branch(b, jy_ve2(b, JY_FLOW_GE, JY_F_I1, index, least), much, little);
    b->block = much;
    set_size(b, list, index);
    jy_flow_jump(b->w, b->block, behind, 0, NULL);
    b->block = little;
    jy_fv args[] = { list->regs[0], index };
    jy_vhelp(b, "native_shrink", 2, args, NULL);
    jy_flow_jump(b->w, b->block, behind, 0, NULL);
    b->block = behind;
    return item;
}

void
jy_vnative_clear(struct jy_vbuild *b, const struct jy_val *list)
{
    jy_fv args[] = { list->regs[0], jy_vint(b, 0) };
    jy_vhelp(b, "native_shrink", 2, args, NULL);
}

/* ---- new ones ---- */

static struct jy_val *
made(struct jy_vbuild *b, const char *helper, size_t nargs, const jy_fv *args, const struct jy_velem *elem)
{
    struct jy_val *list = jy_vlist_new(b, jy_vhelp(b, helper, nargs, args, "a list that cannot be made"), elem);
    list->is_native = true;
    b->made = list->regs[0];
    return list;
}

struct jy_val *
jy_vnative_empty(struct jy_vbuild *b, const struct jy_velem *elem)
{
    jy_fv type = jy_vint(b, type_of(elem));
    return made(b, "native_new", 1, &type, elem);
}

struct jy_val *
jy_vnative_repeat(struct jy_vbuild *b, const struct jy_val *item, jy_fv count, const struct jy_velem *elem)
{
    jy_vcheck_nan(b, item, JY_CHECK_STORED);
    jy_fv args[] = { item->regs[0], count };
    const char *helper = item->kind == JY_K_INT     ? "native_fill_int"
                         : item->kind == JY_K_FLOAT ? "native_fill_float"
                         : item->kind == JY_K_BOOL  ? "native_fill_bool"
                                                    : "native_fill_list";
    return made(b, helper, 2, args, elem);
}

struct jy_val *
jy_vnative_display(struct jy_vbuild *b, const struct jy_val *display, const struct jy_velem *elem)
{
    struct jy_val *list = jy_vnative_repeat(b, display->parts[0], jy_vint(b, (int64_t)display->nparts), elem);
    for (size_t i = 1; i < display->nparts; i++) {
        jy_vcheck_nan(b, display->parts[i], JY_CHECK_STORED);
        store(b, list, jy_vint(b, (int64_t)i), display->parts[i]);
    }
    return list;
}

struct jy_val *
jy_vnative_range(struct jy_vbuild *b, const struct jy_val *range, const struct jy_velem *elem)
{
    return made(b, "native_range", 3, range->regs, elem);
}

struct jy_val *
jy_vnative_slice(struct jy_vbuild *b, const struct jy_val *list, jy_fv low, jy_fv high)
{
    jy_fv args[] = { list->regs[0], low, high };
    return made(b, "native_slice", 3, args, list->elem);
}

struct jy_val *
jy_vnative_concat(struct jy_vbuild *b, const struct jy_val *x, const struct jy_val *y, bool drop_x, bool drop_y)
{
    jy_fv args[] = { x->regs[0], y->regs[0], jy_vint(b, (drop_x ? 1 : 0) | (drop_y ? 2 : 0)) };
    return made(b, "native_concat", 3, args, x->elem);
}
