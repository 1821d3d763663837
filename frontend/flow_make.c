/* New lists, and what is done to lists as wholes: CPython's own functions do it, as helpers. An operation that cannot be done quietly - there is no memory, items go that the program would see go -
 * is left to the interpreter. Whatever comes into a list is made known to its origin. */
#include "frontend/flow.h"

#include <string.h>

static bool
is_list(const struct jy_val *v)
{
    return v->kind == JY_K_LIST && !v->is_tuple && v->elem->kind != JY_K_BYTE;
}

static struct jy_val *
none(struct jy_vbuild *b)
{
    return jy_val_known(b, jy_value_const(b->frame->f, Py_None));
}

static bool
is_none(const struct jy_val *v)
{
    return v->kind == JY_K_KNOWN && jy_value_is_none(v->known);
}

/* A list or tuple: of a display, one that only helpers see. It may be native. */
static jy_status
as_list(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v)
{
    if (v->kind == JY_K_LIST && v->elem->kind != JY_K_BYTE) {
        *out = v;
        return JY_OK;
    }
    if (v->kind == JY_K_NEWLIST || v->kind == JY_K_TUPLE)
        return jy_vlist_make(b, out, v);
    return jy_vb_lacks(b, "%s as a list", jy_val_describe(b, v));
}

/* ... as a live object. */
static jy_status
as_sequence(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v)
{
    TRY(as_list(b, out, v));
    return jy_vlist_as_object(b, *out);
}

/* ---- operators ---- */

static bool
is_count(const struct jy_val *v)
{
    return v->kind == JY_K_INT || v->kind == JY_K_BOOL;
}

bool
jy_vlist_has_operator(enum jy_nb op, const struct jy_val *x, const struct jy_val *y)
{
    bool first = is_list(x) || x->kind == JY_K_NEWLIST, second = is_list(y) || y->kind == JY_K_NEWLIST;
    return (op == JY_NB_ADD && first) || (op == JY_NB_MULTIPLY && ((first && is_count(y)) || (second && is_count(x))));
}

static jy_status
extend(struct jy_vbuild *b, struct jy_val *list, struct jy_val *items)
{
    struct jy_val *other;
    TRY(jy_vlist_check_writable(b, list, NULL));
    TRY(jy_vlist_as_object(b, list));
    TRY(as_sequence(b, &other, items));
    jy_fv args[] = { list->regs[0], other->regs[0] };
    jy_vhelp(b, "list_extend", 2, args, "a list that cannot grow");
    jy_vlist_learn(b, list, other->elem);
    return JY_OK;
}

static jy_status
times(struct jy_vbuild *b, struct jy_val **out, bool in_place, struct jy_val *list, struct jy_val *count)
{
    jy_fv args[2] = { JY_NO_FV };
    if (list->kind == JY_K_NEWLIST && list->nparts == 1)
        return jy_vlist_repeat(b, out, list, count);
    TRY(jy_vas_index(b, &args[1], count));
    if (in_place && list->kind == JY_K_LIST) {
        TRY(jy_vlist_check_writable(b, list, NULL));
        TRY(jy_vlist_as_object(b, list));
        args[0] = list->regs[0];
        jy_vhelp(b, "list_multiply", 2, args, "a list that cannot change");
        *out = list;
        return JY_OK;
    }
    TRY(as_sequence(b, &list, list));
    args[0] = list->regs[0];
    *out = jy_vlist_new(b, jy_vhelp(b, "list_times", 2, args, "a list that cannot be made"), list->elem);
    return JY_OK;
}

static jy_status
concat(struct jy_vbuild *b, struct jy_val **out, struct jy_val *first, struct jy_val *second)
{
    struct jy_val *x, *y;
    TRY(as_list(b, &x, first));
    TRY(as_list(b, &y, second));
    const struct jy_velem *native = x->is_native && y->is_native ? jy_vnative_elem(b, x->elem) : NULL;
    if (native != NULL && jy_velem_same(native, x->elem) && jy_velem_same(native, y->elem)) {
        *out = jy_vnative_concat(b, x, y, x != first, y != second || y->regs[0] == b->fresh);
        return JY_OK;
    }
    TRY(jy_vlist_as_object(b, x));
    TRY(jy_vlist_as_object(b, y));
    jy_fv args[] = { x->regs[0], y->regs[0] };
    jy_fv address = jy_vhelp(b, "list_concat", 2, args, "a list that cannot be made");
    *out = jy_vlist_new(b, address, jy_velem_merge(b, x->elem, y->elem));
    return JY_OK;
}

jy_status
jy_vlist_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, bool in_place, struct jy_val *x,
                struct jy_val *y)
{
    if (op == JY_NB_MULTIPLY)
        return is_count(x) ? times(b, out, false, y, x) : times(b, out, in_place, x, y);
    if (in_place && x->kind == JY_K_LIST) {
        TRY(extend(b, x, y));
        *out = x;
        return JY_OK;
    }
    if (!is_list(y) && y->kind != JY_K_NEWLIST)
        return jy_vb_lacks(b, "a list and %s", jy_val_describe(b, y));
    return concat(b, out, x, y);
}

/* ---- slices ---- */

/* As slices clip: from the end where it is negative, and inside. */
static jy_status
clipped(struct jy_vbuild *b, jy_fv *out, struct jy_val *bound, jy_fv length, jy_fv otherwise)
{
    jy_fv zero = jy_vint(b, 0), at;
    if (is_none(bound)) {
        *out = otherwise;
        return JY_OK;
    }
    TRY(jy_vas_index(b, &at, bound));
    jy_fv negative = jy_ve2(b, JY_FLOW_LT, JY_F_I1, at, zero);
    jy_fv from_end = jy_ve2(b, JY_FLOW_MAX, JY_F_I64, jy_ve2(b, JY_FLOW_ADD, JY_F_I64, at, length), zero);
    jy_fv from_begin = jy_ve2(b, JY_FLOW_MIN, JY_F_I64, at, length);
    *out = jy_ve3(b, JY_FLOW_SELECT, JY_F_I64, negative, from_end, from_begin);
    return JY_OK;
}

static jy_status
clip(struct jy_vbuild *b, jy_fv *low, jy_fv *high, const struct jy_val *list, struct jy_val *const *bounds)
{
    jy_fv length = jy_vlist_length(b, list);
    TRY(clipped(b, low, bounds[0], length, jy_vint(b, 0)));
    return clipped(b, high, bounds[1], length, length);
}

static jy_status
slice(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *list, jy_fv low, jy_fv high)
{
    const struct jy_velem *native = list->is_native ? jy_vnative_elem(b, list->elem) : NULL;
    jy_fv args[] = { list->regs[0], low, high };
    if (native != NULL && jy_velem_same(native, list->elem)) {
        *out = jy_vnative_slice(b, list, low, high);
        return JY_OK;
    }
    TRY(jy_vlist_as_object(b, list));
    *out = jy_vlist_new(b, jy_vhelp(b, "list_slice", 3, args, "a list that cannot be made"), list->elem);
    return JY_OK;
}

static jy_status
copy(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *list)
{
    return slice(b, out, list, jy_vint(b, 0), jy_vlist_length(b, list));
}

jy_status
jy_vlist_slice(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, struct jy_val *const *bounds)
{
    jy_fv low, high;
    if (!is_list(list))
        return jy_vb_lacks(b, "a slice of %s", jy_val_describe(b, list));
    TRY(clip(b, &low, &high, list, bounds));
    return slice(b, out, list, low, high);
}

jy_status
jy_vlist_set_slice(struct jy_vbuild *b, struct jy_val *list, struct jy_val *const *bounds, struct jy_val *item)
{
    struct jy_val *other;
    jy_fv low, high;
    TRY(jy_vlist_check_writable(b, list, NULL));
    TRY(jy_vlist_as_object(b, list));
    TRY(as_sequence(b, &other, item));
    TRY(clip(b, &low, &high, list, bounds));
    jy_fv args[] = { list->regs[0], low, high, other->regs[0] };
    jy_vhelp(b, "list_set_slice", 4, args, "items that cannot be replaced");
    jy_vlist_learn(b, list, other->elem);
    return JY_OK;
}

jy_status
jy_vlist_delete(struct jy_vbuild *b, struct jy_val *list, struct jy_val *key)
{
    jy_fv low, high;
    TRY(jy_vlist_check_writable(b, list, NULL));
    TRY(jy_vlist_as_object(b, list));
    if (key->kind == JY_K_SLICE) {
        if (!is_none(key->parts[2]))
            return jy_vb_lacks(b, "del of a slice with a step");
        TRY(clip(b, &low, &high, list, key->parts));
    } else {
        TRY(jy_vas_index(b, &low, key));
        low = jy_ve2x(b, JY_FLOW_WRAP, JY_F_I64, low, jy_vlist_length(b, list), "index out of range");
        high = jy_ve2(b, JY_FLOW_ADD, JY_F_I64, low, jy_vint(b, 1));
    }
    jy_fv args[] = { list->regs[0], low, high };
    jy_vhelp(b, "list_cut", 3, args, "items that cannot go");
    return JY_OK;
}

/* ---- finding ---- */

/* The first index, or -1. Only what is compared by numbers of one kind. */
static jy_status
find(struct jy_vbuild *b, jy_fv *out, struct jy_val *list, const struct jy_val *x)
{
    jy_fv args[] = { list->regs[0], JY_NO_FV };
    bool is_int = x->kind == JY_K_INT && (list->elem->kind == JY_K_INT || list->elem->kind == JY_K_BOOL);
    if (!is_list(list) || list->elem->other != NULL ||
        !(is_int || (x->kind == JY_K_FLOAT && list->elem->kind == JY_K_FLOAT)))
        return jy_vb_lacks(b, "%s in %s", jy_val_describe(b, x), jy_val_describe(b, list));
    args[1] = x->regs[0];
    if (list->is_native)
        *out = jy_vhelp(b, is_int ? "native_find_int" : "native_find_float", 2, args, "a NaN");
    else
        *out = jy_vhelp(b, is_int ? "list_find_int" : "list_find_float", 2, args, "items of another type");
    return JY_OK;
}

jy_status
jy_vlist_contains(struct jy_vbuild *b, jy_fv *out, struct jy_val *list, struct jy_val *x)
{
    jy_fv index;
    TRY(find(b, &index, list, x));
    *out = jy_ve2(b, JY_FLOW_GE, JY_F_I1, index, jy_vint(b, 0));
    return JY_OK;
}

static jy_status
index_of(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, const struct jy_val *x)
{
    jy_fv index;
    TRY(find(b, &index, list, x));
    jy_vcheck(b, jy_ve2(b, JY_FLOW_GE, JY_F_I1, index, jy_vint(b, 0)), "no such item");
    *out = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, index);
    return JY_OK;
}

/* ---- list() ---- */

static jy_status
list_of_range(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *range)
{
    struct jy_velem *ints = JY_NEW(b->arena, struct jy_velem);
    ints->kind = JY_K_INT;
    const struct jy_velem *native = jy_vnative_elem(b, ints);
    if (native != NULL)
        *out = jy_vnative_range(b, range, native);
    else
        *out = jy_vlist_new(b, jy_vhelp(b, "list_range", 3, range->regs, "a list that cannot be made"), ints);
    return JY_OK;
}

jy_status
jy_vlist_call(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    if (nargs == 0)
        return jy_vlist_make(b, out, jy_val_parts(b, JY_K_NEWLIST, 0, NULL));
    if (nargs == 1 && args[0]->kind == JY_K_RANGE)
        return list_of_range(b, out, args[0]);
    if (nargs == 1 && (args[0]->kind == JY_K_TUPLE || args[0]->kind == JY_K_NEWLIST))
        return jy_vlist_make(b, out, args[0]);
    if (nargs != 1 || args[0]->kind != JY_K_LIST)
        return jy_vb_lacks(b, "list() of %s", nargs == 1 ? jy_val_describe(b, args[0]) : "several");
    const struct jy_velem *elem = args[0]->elem;
    if (args[0]->is_native)
        return copy(b, out, args[0]);
    if (elem->kind == JY_K_BYTE) {
        struct jy_velem *ints = JY_NEW(b->arena, struct jy_velem);
        ints->kind = JY_K_INT;
        elem = ints;
    }
    *out = jy_vlist_new(b, jy_vhelp(b, "list_of", 1, args[0]->regs, "a list that cannot be made"), elem);
    return JY_OK;
}

/* ---- methods ---- */

static jy_status
insert(struct jy_vbuild *b, struct jy_val *list, struct jy_val *key, struct jy_val *item)
{
    static const char *const helpers[] = { [JY_K_FLOAT] = "list_insert_float",
                                           [JY_K_INT] = "list_insert_int",
                                           [JY_K_BOOL] = "list_insert_bool",
                                           [JY_K_LIST] = "list_insert_object" };
    jy_fv args[3] = { list->regs[0] };
    if (item->kind == JY_K_NEWLIST)
        TRY(jy_vlist_make(b, &item, item));
    TRY(jy_vlist_check_writable(b, list, item));
    TRY(jy_vlist_as_object(b, list));
    TRY(jy_vlist_as_object(b, item));
    if (item->kind == JY_K_NP || item->kind == JY_K_KNOWN)
        return jy_vb_lacks(b, "insert() of %s", jy_val_describe(b, item));
    TRY(jy_vas_index(b, &args[1], key));
    args[2] = item->regs[0];
    jy_vcheck_nan(b, item, JY_CHECK_STORED);
    jy_vhelp(b, helpers[item->kind], 3, args, "a list that cannot grow");
    jy_vlist_learn(b, list, jy_velem_of_item(b, item));
    return JY_OK;
}

static jy_status
change(struct jy_vbuild *b, struct jy_val *list, const char *helper)
{
    TRY(jy_vlist_check_writable(b, list, NULL));
    TRY(jy_vlist_as_object(b, list));
    jy_vhelp(b, helper, 1, list->regs, "a list that cannot be changed here");
    return JY_OK;
}

static jy_status
reverse(struct jy_vbuild *b, struct jy_val *list)
{
    if (!list->is_native)
        return change(b, list, "list_reverse");
    TRY(jy_vb_effect(b));
    jy_vhelp(b, "native_reverse", 1, list->regs, "a NaN");
    return JY_OK;
}

static jy_status
clear(struct jy_vbuild *b, struct jy_val *list)
{
    TRY(jy_vlist_check_writable(b, list, NULL));
    if (list->is_native) {
        jy_vnative_clear(b, list);
        return JY_OK;
    }
    jy_fv args[] = { list->regs[0], jy_vint(b, 0), jy_vlist_length(b, list) };
    jy_vhelp(b, "list_cut", 3, args, "items that cannot go");
    return JY_OK;
}

jy_status
jy_vlist_other_method(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, const char *name, size_t nargs,
                      struct jy_val *const *args)
{
    *out = none(b);
    if (!is_list(list))
        return jy_vb_lacks(b, "a method of %s", jy_val_describe(b, list));
    if (strcmp(name, "reverse") == 0 && nargs == 0)
        return reverse(b, list);
    if (strcmp(name, "sort") == 0 && nargs == 0)
        return change(b, list, "list_sort");
    if (strcmp(name, "clear") == 0 && nargs == 0)
        return clear(b, list);
    if (strcmp(name, "extend") == 0 && nargs == 1)
        return extend(b, list, args[0]);
    if (strcmp(name, "insert") == 0 && nargs == 2)
        return insert(b, list, args[0], args[1]);
    if (strcmp(name, "index") == 0 && nargs == 1)
        return index_of(b, out, list, args[0]);
    if (strcmp(name, "copy") == 0 && nargs == 0)
        return copy(b, out, list);
    return jy_vb_lacks(b, "the method %s of a list", name);
}
