/* Lists and tuples in flows: the live objects themselves. An item is loaded by its address, its type is checked, its number is read; a number is stored in place when nobody but the list
 * holds the object that stands there, as freeing it and making another would give the same memory; else a helper makes a new object. So aliases see what they should, and an exit has
 * nothing to write back.
 *
 * Memory is taken apart in classes, so that what is loaded from one of them stays known when another is written (docs/flow.md, "Lists"):
 *   list    sizes and item vectors of lists        rows   items that are taken for lists or tuples
 *   items   other items of lists                   number values of floats and ints
 *   count   reference counts                       fixed  what never changes: types, items of tuples and bytes
 * Lists that the flow makes itself need not be objects: flow_native.c has their items.
 *
 * A slot in which a list or tuple stands is never given a number (nor by a helper): what a row is borrowed from keeps it alive, and the stores of "items" do not touch what "rows" loads. */
#include "frontend/cpython/objects.h"
#include "frontend/flow.h"
#include "frontend/inspect_array.h"

#include <string.h>

jy_fv
jy_vlist_length(struct jy_vbuild *b, const struct jy_val *list)
{
    if (list->is_native)
        return jy_vnative_length(b, list);
    bool is_fixed = list->is_tuple || list->elem->kind == JY_K_BYTE;
    return jy_vload(b, JY_F_I64, list->regs[0], jy_vint(b, 0), JY_SEQUENCE_SIZE,
                    is_fixed ? b->alias_fixed : b->alias_list);
}

static jy_fv
item_at(struct jy_vbuild *b, const struct jy_val *list, jy_fv index)
{
    jy_fv offset = jy_ve2(b, JY_FLOW_MUL, JY_F_I64, index, jy_vint(b, (int64_t)sizeof(PyObject *)));
    if (list->is_tuple)
        return jy_vload(b, JY_F_PTR, list->regs[0], offset, JY_TUPLE_ITEMS, b->alias_fixed);
    jy_fv items = jy_vload(b, JY_F_PTR, list->regs[0], jy_vint(b, 0), JY_LIST_ITEMS, b->alias_list);
    bool is_row = list->elem->kind == JY_K_LIST;
    return jy_vload(b, JY_F_PTR, items, offset, 0, is_row ? b->alias_rows : b->alias_items);
}

static jy_fv
byte_at(struct jy_vbuild *b, const struct jy_val *bytes, jy_fv index)
{
    jy_fv byte = jy_vload(b, JY_F_I8, bytes->regs[0], index, JY_BYTES_ITEMS, b->alias_fixed);
    return jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64, byte);
}

static jy_fv
has_type(struct jy_vbuild *b, jy_fv object, PyTypeObject *type)
{
    jy_fv of = jy_vload(b, JY_F_PTR, object, jy_vint(b, 0), JY_OBJECT_TYPE, b->alias_fixed);
    return jy_ve2(b, JY_FLOW_EQ, JY_F_I1, of, jy_vaddress(b, (PyObject *)type));
}

/* ---- reading ---- */

static jy_fv
tag_is_small(struct jy_vbuild *b, jy_fv tag)
{
    jy_fv from_low = jy_ve2(b, JY_FLOW_SUB, JY_F_I64, tag, jy_vint(b, JY_LONG_TAG_LOW));
    return jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, from_low, jy_vint(b, JY_LONG_TAG_COUNT));
}

/* Of an int that is one: a digit at once, more by a helper. */
static jy_fv
int_value(struct jy_vbuild *b, jy_fv object)
{
    jy_fv zero = jy_vint(b, 0);
    jy_fv tag = jy_vload(b, JY_F_I64, object, zero, JY_LONG_TAG, b->alias_number);
    jy_fb small = jy_flow_block(b->w), large = jy_flow_block(b->w), join = jy_flow_block(b->w);
    jy_flow_branch(b->w, b->block, tag_is_small(b, tag), small, 0, NULL, large, 0, NULL);
    b->w->w_blocks.at[b->block].f_likely[0] = true;
    b->block = small;
    jy_fv digit = jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64,
                         jy_vload(b, JY_F_I32, object, jy_vint(b, 0), JY_LONG_DIGITS, b->alias_number));
    jy_fv factor = tag;
    if (!jy_long_tag_is_factor()) {
        jy_fv sign = jy_ve2(b, JY_FLOW_AND, JY_F_I64, tag, jy_vint(b, 3));
        factor = jy_ve2(b, JY_FLOW_SUB, JY_F_I64, jy_vint(b, 1), sign);
    }
    jy_fv value = jy_ve2(b, JY_FLOW_MUL, JY_F_I64, digit, factor);
    jy_flow_jump(b->w, b->block, join, 1, &value);
    b->block = large;
    value = jy_vhelp(b, "int_of_object", 1, &object, "a large int in a list");
    jy_flow_jump(b->w, b->block, join, 1, &value);
    b->block = join;
    return jy_flow_param(b->w, join, JY_F_I64);
}

static jy_status
unboxed(struct jy_vbuild *b, struct jy_val **out, jy_fv object, const struct jy_velem *elem)
{
    switch (elem->kind) {
    case JY_K_FLOAT:
        jy_vcheck(b, has_type(b, object, &PyFloat_Type), "an item that is no float");
        *out = jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE,
                          jy_vload(b, JY_F_F64, object, jy_vint(b, 0), JY_FLOAT_VALUE, b->alias_number));
        jy_vcheck_nan(b, *out, JY_CHECK_LOADED);
        return JY_OK;
    case JY_K_INT:
        jy_vcheck(b, has_type(b, object, &PyLong_Type), "an item that is no int");
        *out = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, int_value(b, object));
        return JY_OK;
    case JY_K_BOOL:
        jy_vcheck(b, has_type(b, object, &PyBool_Type), "an item that is no bool");
        *out = jy_val_reg(b, JY_K_BOOL, JY_DTYPE_NONE, jy_ve2(b, JY_FLOW_EQ, JY_F_I1, object, jy_vaddress(b, Py_True)));
        return JY_OK;
    case JY_K_LIST:
        jy_vcheck(b, has_type(b, object, elem->is_tuple ? &PyTuple_Type : &PyList_Type), "an item of another type");
        *out = jy_val_reg(b, JY_K_LIST, JY_DTYPE_NONE, object);
        (*out)->is_tuple = elem->is_tuple;
        (*out)->elem = elem->elem;
        (*out)->origin = elem->origin;
        return JY_OK;
    case JY_K_NP: {
        jy_dtype dtype = (jy_dtype)elem->dtype;
        jy_vcheck(b, has_type(b, object, jy_inspect_scalar_type(dtype)), "an item of another type");
        *out = jy_val_reg(b, JY_K_NP, dtype,
                          jy_vscalar_load(b, dtype, object, jy_vint(b, JY_SCALAR_VALUE), b->alias_number));
        jy_vcheck_nan(b, *out, JY_CHECK_LOADED);
        return JY_OK;
    }
    default:
        return jy_vb_lacks(b, "items of a list that are no numbers");
    }
}

static PyTypeObject *
type_of_elem(const struct jy_velem *elem)
{
    switch (elem->kind) {
    case JY_K_FLOAT:
        return &PyFloat_Type;
    case JY_K_INT:
        return &PyLong_Type;
    case JY_K_BOOL:
        return &PyBool_Type;
    default:
        return jy_inspect_scalar_type((jy_dtype)elem->dtype);
    }
}

jy_status
jy_vlist_push_item(struct jy_vbuild *b, struct jy_val *list, jy_fv index, size_t pops)
{
    struct jy_val *item;
    if (list->elem->other == NULL) {
        TRY(jy_vlist_at(b, &item, list, index));
        return jy_vreplace(b, pops, item);
    }
    jy_fv object = item_at(b, list, index);
    const struct jy_velem *elem = list->elem;
    for (; elem->other != NULL; elem = elem->other) {
        jy_fb is_one = jy_flow_block(b->w), is_none = jy_flow_block(b->w);
        jy_flow_branch(b->w, b->block, has_type(b, object, type_of_elem(elem)), is_one, 0, NULL, is_none, 0, NULL);
        b->block = is_one;
        TRY(unboxed(b, &item, object, elem));
        struct jy_vframe *with = jy_vb_copy(b, b->frame);
        with->depth -= pops;
        with->stack[with->depth++] = item;
        jy_vb_goto(b, with);
        b->block = is_none;
        b->ended = false;
    }
    TRY(unboxed(b, &item, object, elem));
    return jy_vreplace(b, pops, item);
}

static jy_status
check_elem(struct jy_vbuild *b, const struct jy_val *list)
{
    return list->elem->kind == JY_K_UNBOUND ? jy_vb_lacks(b, "items of a list that are no numbers") : JY_OK;
}

jy_status
jy_vlist_at(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, jy_fv index)
{
    TRY(check_elem(b, list));
    if (list->elem->kind == JY_K_BYTE) {
        *out = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, byte_at(b, list, index));
        return JY_OK;
    }
    if (list->elem->other != NULL)
        return jy_vb_lacks(b, "items of several kinds");
    if (list->is_native) {
        *out = jy_vnative_at(b, list, index);
        return JY_OK;
    }
    return unboxed(b, out, item_at(b, list, index), list->elem);
}

jy_status
jy_vlist_get(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, struct jy_val *key)
{
    jy_fv index;
    TRY(check_elem(b, list));
    TRY(jy_vas_index(b, &index, key));
    index = jy_ve2x(b, JY_FLOW_WRAP, JY_F_I64, index, jy_vlist_length(b, list), "index out of range");
    return jy_vlist_at(b, out, list, index);
}

/* ---- writing ---- */

static void
go(struct jy_vbuild *b, jy_fb to)
{
    jy_flow_jump(b->w, b->block, to, 0, NULL);
}

/* To `yes`, most often, where the condition holds, else to `no`; goes on in `yes`. */
static jy_fb
split(struct jy_vbuild *b, jy_fv condition, jy_fb no)
{
    jy_fb yes = jy_flow_block(b->w);
    jy_flow_branch(b->w, b->block, condition, yes, 0, NULL, no, 0, NULL);
    b->w->w_blocks.at[b->block].f_likely[0] = true;
    b->block = yes;
    return yes;
}

/* A store has two blocks besides its fast cases: `slow` for what remains, where a helper is called, and `behind`. */
struct places {
    jy_fb slow, behind;
};

static struct places
begin_store(struct jy_vbuild *b)
{
    return (struct places){ jy_flow_block(b->w), jy_flow_block(b->w) };
}

static void
end_store(struct jy_vbuild *b, struct places at, const char *helper, const struct jy_val *list, jy_fv index,
          jy_fv value)
{
    jy_fv args[] = { list->regs[0], index, value };
    b->block = at.slow;
    jy_vhelp(b, helper, 3, args, "an item that cannot be replaced");
    go(b, at.behind);
    b->block = at.behind;
}

static jy_fv
is_only_of_list(struct jy_vbuild *b, jy_fv object, PyTypeObject *type)
{
    jy_fv count = jy_vload(b, JY_F_I64, object, jy_vint(b, 0), JY_OBJECT_REFCOUNT, b->alias_count);
    jy_fv one = jy_ve2(b, JY_FLOW_EQ, JY_F_I1, count, jy_vint(b, 1));
    return jy_ve2(b, JY_FLOW_AND, JY_F_I1, one, has_type(b, object, type));
}

static void
store_float(struct jy_vbuild *b, const struct jy_val *list, jy_fv index, jy_fv value)
{
    struct places at = begin_store(b);
    jy_fv old = item_at(b, list, index);
    split(b, is_only_of_list(b, old, &PyFloat_Type), at.slow);
    jy_flow_store(b->w, b->block, old, jy_vint(b, 0), JY_FLOAT_VALUE, value, b->alias_number);
    go(b, at.behind);
    end_store(b, at, "list_store_float", list, index, value);
}

static void
add_to_count(struct jy_vbuild *b, jy_fv object, int64_t by)
{
    jy_fv zero = jy_vint(b, 0);
    jy_fv count = jy_vload(b, JY_F_I64, object, zero, JY_OBJECT_REFCOUNT, b->alias_count);
    count = jy_ve2(b, JY_FLOW_ADD, JY_F_I64, count, jy_vint(b, by));
    jy_flow_store(b->w, b->block, object, zero, JY_OBJECT_REFCOUNT, count, b->alias_count);
}

/* Both objects live as long as the interpreter. */
static void
replace_lasting(struct jy_vbuild *b, const struct jy_val *list, jy_fv index, jy_fv old, jy_fv object)
{
    if (!jy_has_immortals()) {
        add_to_count(b, object, 1);
        add_to_count(b, old, -1);
    }
    jy_fv items = jy_vload(b, JY_F_PTR, list->regs[0], jy_vint(b, 0), JY_LIST_ITEMS, b->alias_list);
    jy_fv offset = jy_ve2(b, JY_FLOW_MUL, JY_F_I64, index, jy_vint(b, (int64_t)sizeof(PyObject *)));
    jy_flow_store(b->w, b->block, items, offset, 0, object, b->alias_items);
}

static jy_fv
bool_object(struct jy_vbuild *b, jy_fv value)
{
    jy_fv yes = jy_vaddress(b, Py_True), no = jy_vaddress(b, Py_False);
    return jy_ve3(b, JY_FLOW_SELECT, JY_F_PTR, value, yes, no);
}

static void
store_bool(struct jy_vbuild *b, const struct jy_val *list, jy_fv index, jy_fv value)
{
    struct places at = begin_store(b);
    jy_fv old = item_at(b, list, index), object = bool_object(b, value);
    jy_fv is_true = jy_ve2(b, JY_FLOW_EQ, JY_F_I1, old, jy_vaddress(b, Py_True));
    jy_fv is_false = jy_ve2(b, JY_FLOW_EQ, JY_F_I1, old, jy_vaddress(b, Py_False));
    split(b, jy_ve2(b, JY_FLOW_OR, JY_F_I1, is_true, is_false), at.slow);
    replace_lasting(b, list, index, old, object);
    go(b, at.behind);
    end_store(b, at, "list_store_bool", list, index, value);
}

/* The cached ints, as a row of memory. */
static jy_fv
first_small_int(struct jy_vbuild *b)
{
    PyObject *first = PyLong_FromLong(JY_SMALL_LOW); /* cached */
    jy_fv address = jy_vaddress(b, first);
    Py_DECREF(first);
    return address;
}

static jy_fv
is_small(struct jy_vbuild *b, jy_fv value)
{
    jy_fv above = jy_ve2(b, JY_FLOW_SUB, JY_F_I64, value, jy_vint(b, JY_SMALL_LOW));
    return jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, above, jy_vint(b, JY_SMALL_HIGH - JY_SMALL_LOW + 1));
}

static jy_fv
small_int_object(struct jy_vbuild *b, jy_fv value)
{
    jy_fv bytes = jy_ve2(b, JY_FLOW_MUL, JY_F_I64, value, jy_vint(b, JY_INT_BYTES));
    jy_fv offset = jy_ve2(b, JY_FLOW_SUB, JY_F_I64, bytes, jy_vint(b, (int64_t)JY_SMALL_LOW * JY_INT_BYTES));
    return jy_ve2(b, JY_FLOW_OFFSET, JY_F_PTR, first_small_int(b), offset);
}

static jy_fv
is_small_int_object(struct jy_vbuild *b, jy_fv object)
{
    jy_fv from = jy_ve1(b, JY_FLOW_BITS, JY_F_I64, first_small_int(b));
    jy_fv offset = jy_ve2(b, JY_FLOW_SUB, JY_F_I64, jy_ve1(b, JY_FLOW_BITS, JY_F_I64, object), from);
    return jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, offset, jy_vint(b, (JY_SMALL_HIGH - JY_SMALL_LOW + 1) * JY_INT_BYTES));
}

/* A cached int for a cached int: the pointer. A digit for a digit, neither cached, in an object of the list's alone: in place. */
static void
store_int(struct jy_vbuild *b, const struct jy_val *list, jy_fv index, jy_fv value)
{
    struct places at = begin_store(b);
    jy_fb large = jy_flow_block(b->w);
    jy_fv old = item_at(b, list, index);
    if (jy_small_ints_are_a_row()) {
        split(b, is_small(b, value), large);
        split(b, is_small_int_object(b, old), at.slow);
        replace_lasting(b, list, index, old, small_int_object(b, value));
        go(b, at.behind);
    } else {
        split(b, is_small(b, value), large);
        go(b, at.slow);
    }
    b->block = large;
    jy_fv size = jy_ve1(b, JY_FLOW_ABS, JY_F_I64, value);
    jy_fv fits = jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, size, jy_vint(b, INT64_C(1) << 30));
    split(b, jy_ve2(b, JY_FLOW_AND, JY_F_I1, fits, is_only_of_list(b, old, &PyLong_Type)), at.slow);
    jy_fv tag = jy_vload(b, JY_F_I64, old, jy_vint(b, 0), JY_LONG_TAG, b->alias_number);
    split(b, tag_is_small(b, tag), at.slow);
    jy_fv negative = jy_ve2(b, JY_FLOW_LT, JY_F_I1, value, jy_vint(b, 0));
    tag = jy_ve3(b, JY_FLOW_SELECT, JY_F_I64, negative, jy_vint(b, JY_LONG_TAG_NEGATIVE),
                 jy_vint(b, JY_LONG_TAG_POSITIVE));
    jy_flow_store(b->w, b->block, old, jy_vint(b, 0), JY_LONG_TAG, tag, b->alias_number);
    jy_fv digit = jy_ve1(b, JY_FLOW_NARROW, JY_F_I32, size);
    jy_flow_store(b->w, b->block, old, jy_vint(b, 0), JY_LONG_DIGITS, digit, b->alias_number);
    go(b, at.behind);
    end_store(b, at, "list_store_int", list, index, value);
}

jy_fv
jy_vscalar_bits(struct jy_vbuild *b, const struct jy_val *v)
{
    jy_fv bits = v->regs[0];
    enum jy_ftype type = jy_val_type(v, 0);
    if (type == JY_F_F64)
        return jy_ve1(b, JY_FLOW_BITS, JY_F_I64, bits);
    if (type == JY_F_F32)
        bits = jy_ve1(b, JY_FLOW_BITS, JY_F_I32, bits);
    if (type == JY_F_I1)
        return jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64, bits);
    return type == JY_F_I64 ? bits : jy_ve1(b, JY_FLOW_SEXT, JY_F_I64, bits);
}

/* A float64 for one of the list's alone: in place, as Python's floats. */
static void
store_scalar(struct jy_vbuild *b, const struct jy_val *list, jy_fv index, const struct jy_val *item)
{
    struct places at = begin_store(b);
    if (item->dtype == JY_F64) {
        jy_fv old = item_at(b, list, index);
        split(b, is_only_of_list(b, old, jy_inspect_scalar_type(JY_F64)), at.slow);
        jy_flow_store(b->w, b->block, old, jy_vint(b, 0), JY_SCALAR_VALUE, item->regs[0], b->alias_number);
        go(b, at.behind);
    } else
        go(b, at.slow);
    b->block = at.slow;
    jy_fv args[] = { list->regs[0], index, jy_vint(b, item->dtype), jy_vscalar_bits(b, item) };
    jy_vhelp(b, "list_store_scalar", 4, args, "an item that cannot be replaced");
    go(b, at.behind);
    b->block = at.behind;
}

static void
store_nan(struct jy_vbuild *b, const struct jy_val *list, jy_fv index, const struct jy_val *item)
{
    jy_fv args[] = { list->regs[0], index, jy_vnan_object(b, item) };
    jy_vhelp(b, "list_store_object", 3, args, "an item that cannot be replaced");
}

static jy_status
store(struct jy_vbuild *b, const struct jy_val *list, jy_fv index, struct jy_val *item)
{
    jy_vcheck_nan(b, item, JY_CHECK_STORED);
    if (item->kind == JY_K_FLOAT)
        store_float(b, list, index, item->regs[0]);
    else if (item->kind == JY_K_INT)
        store_int(b, list, index, item->regs[0]);
    else if (item->kind == JY_K_BOOL)
        store_bool(b, list, index, item->regs[0]);
    else if (item->kind == JY_K_NP)
        store_scalar(b, list, index, item);
    else if (jy_vis_nan(item))
        store_nan(b, list, index, item);
    else
        return jy_vb_lacks(b, "a store of %s into a list", jy_val_describe(b, item));
    return JY_OK;
}

jy_status
jy_vlist_check_writable(struct jy_vbuild *b, const struct jy_val *list, const struct jy_val *item)
{
    if (list->is_tuple || list->elem->kind == JY_K_BYTE)
        return jy_vb_lacks(b, "a store into a tuple or bytes");
    TRY(jy_vb_effect(b));
    if (item != NULL && !jy_val_is_number(item) && item->kind != JY_K_LIST && !jy_vis_nan(item))
        return jy_vb_lacks(b, "a store of %s into a list", jy_val_describe(b, item));
    return JY_OK;
}

jy_status
jy_vlist_set(struct jy_vbuild *b, struct jy_val *list, struct jy_val *key, struct jy_val *item)
{
    jy_fv index;
    TRY(jy_vlist_check_writable(b, list, item));
    if (jy_vis_nan(item))
        TRY(jy_vlist_as_object(b, list));
    if (list->is_native)
        return jy_vnative_set(b, list, key, item);
    if (item->kind == JY_K_LIST)
        return jy_vb_lacks(b, "a store of a list into a list");
    TRY(jy_vas_index(b, &index, key));
    index = jy_ve2x(b, JY_FLOW_WRAP, JY_F_I64, index, jy_vlist_length(b, list), "index out of range");
    TRY(store(b, list, index, item));
    if (list->elem->kind != JY_K_UNBOUND)
        jy_vlist_learn(b, list, jy_velem_of_item(b, item));
    return JY_OK;
}

/* ---- growing and shrinking ---- */

const struct jy_velem *
jy_velem_of_item(struct jy_vbuild *b, const struct jy_val *item)
{
    struct jy_velem *elem = JY_NEW(b->arena, struct jy_velem);
    elem->kind = jy_vis_nan(item) ? JY_K_FLOAT : item->kind;
    elem->dtype = item->kind == JY_K_NP ? item->dtype : 0;
    elem->is_tuple = item->is_tuple;
    elem->is_native = item->is_native;
    elem->origin = item->kind == JY_K_LIST ? item->origin : 0;
    elem->elem = item->elem;
    return elem;
}

static bool
is_number_elem(const struct jy_velem *elem)
{
    return elem->kind == JY_K_INT || elem->kind == JY_K_FLOAT || elem->kind == JY_K_BOOL || elem->kind == JY_K_NP;
}

/* `elem`, which is one kind, among the alternatives of `list`. */
static const struct jy_velem *
with_kind(struct jy_vbuild *b, const struct jy_velem *list, const struct jy_velem *elem)
{
    unsigned order = list == NULL ? UINT32_MAX : (unsigned)list->kind << 8 | list->dtype;
    unsigned of_elem = (unsigned)elem->kind << 8 | elem->dtype;
    if (order == of_elem)
        return list;
    struct jy_velem *first = jy_arena_copy(b->arena, order < of_elem ? list : elem, sizeof *first);
    first->other = order < of_elem ? with_kind(b, list->other, elem) : list;
    return first;
}

const struct jy_velem *
jy_velem_merge(struct jy_vbuild *b, const struct jy_velem *a, const struct jy_velem *c)
{
    if (a->kind == JY_K_UNBOUND || c == a)
        return c;
    if (a->kind == JY_K_LIST && c->kind == JY_K_LIST && a->is_tuple == c->is_tuple) {
        struct jy_velem *elem = jy_arena_copy(b->arena, a, sizeof *a);
        elem->elem = jy_velem_merge(b, a->elem, c->elem);
        elem->is_native = a->is_native && c->is_native;
        elem->origin = a->origin == c->origin ? a->origin : 0;
        return elem;
    }
    for (; is_number_elem(a) && c != NULL && is_number_elem(c); c = c->other) {
        struct jy_velem one = *c;
        one.other = NULL;
        a = with_kind(b, a, &one);
    }
    return a;
}

static void
retype_values(struct jy_val **at, size_t n, jy_fv address, struct jy_val *as)
{
    for (size_t i = 0; i < n; i++)
        if (at[i]->kind == JY_K_LIST && at[i]->regs[0] == address)
            at[i] = as;
}

void
jy_vlist_learn(struct jy_vbuild *b, struct jy_val *list, const struct jy_velem *elem)
{
    const struct jy_velem *merged = jy_velem_merge(b, list->elem, elem);
    if (jy_velem_same(merged, list->elem))
        return;
    if (b->may_again && list->origin != 0 && list->origin != JY_FROM_INPUT) {
        b->hints->origins.at[list->origin - 1].elem = merged;
        b->hints->n = b->hints->chains.n = 0; /* they may speak of lists as they were */
        b->again = true;
        return;
    }
    struct jy_val *as = jy_arena_copy(b->arena, list, sizeof *list);
    as->elem = merged;
    for (struct jy_vframe *frame = b->frame; frame != NULL; frame = frame->back) {
        retype_values(frame->locals, frame->nlocals, list->regs[0], as);
        retype_values(frame->stack, frame->depth, list->regs[0], as);
    }
}

/* A reference for the list to keep. */
static jy_fv
int_object(struct jy_vbuild *b, jy_fv value)
{
    if (!jy_small_ints_are_a_row())
        return jy_vhelp(b, "new_int", 1, &value, "a list that cannot grow");
    jy_fb small = jy_flow_block(b->w), large = jy_flow_block(b->w), behind = jy_flow_block(b->w);
    jy_flow_branch(b->w, b->block, is_small(b, value), small, 0, NULL, large, 0, NULL);
    b->block = small;
    jy_fv object = small_int_object(b, value);
    if (!jy_has_immortals())
        add_to_count(b, object, 1);
    jy_flow_jump(b->w, b->block, behind, 1, &object);
    b->block = large;
    object = jy_vhelp(b, "new_int", 1, &value, "a list that cannot grow");
    jy_flow_jump(b->w, b->block, behind, 1, &object);
    b->block = behind;
    return jy_flow_param(b->w, behind, JY_F_PTR);
}

static jy_fv
number_object(struct jy_vbuild *b, const struct jy_val *item)
{
    if (item->kind == JY_K_INT)
        return int_object(b, item->regs[0]);
    if (item->kind == JY_K_FLOAT)
        return jy_vhelp(b, "new_float", 1, item->regs, "a list that cannot grow");
    jy_fv object = bool_object(b, item->regs[0]);
    if (!jy_has_immortals())
        add_to_count(b, object, 1);
    return object;
}

/* Where the vector has room, as list.append() does; else that is called. */
static void
append_number(struct jy_vbuild *b, const struct jy_val *list, const struct jy_val *item)
{
    jy_fb full = jy_flow_block(b->w), behind = jy_flow_block(b->w);
    jy_fv args[] = { list->regs[0], number_object(b, item) }, zero = jy_vint(b, 0);
    jy_fv size = jy_vlist_length(b, list);
    jy_fv room = jy_vload(b, JY_F_I64, list->regs[0], zero, JY_LIST_ALLOCATED, b->alias_list);
    split(b, jy_ve2(b, JY_FLOW_LT, JY_F_I1, size, room), full);
    jy_fv items = jy_vload(b, JY_F_PTR, list->regs[0], zero, JY_LIST_ITEMS, b->alias_list);
    jy_fv offset = jy_ve2(b, JY_FLOW_MUL, JY_F_I64, size, jy_vint(b, (int64_t)sizeof(PyObject *)));
    jy_flow_store(b->w, b->block, items, offset, 0, args[1], b->alias_items);
    size = jy_ve2(b, JY_FLOW_ADD, JY_F_I64, size, jy_vint(b, 1));
    jy_flow_store(b->w, b->block, list->regs[0], zero, JY_SEQUENCE_SIZE, size, b->alias_list);
    go(b, behind);
    b->block = full;
    jy_vhelp(b, "list_append_new", 2, args, "a list that cannot grow");
    go(b, behind);
    b->block = behind;
}

static void
append(struct jy_vbuild *b, const struct jy_val *list, const struct jy_val *item)
{
    static const char *const helpers[] = { [JY_K_FLOAT] = "list_append_float",
                                           [JY_K_INT] = "list_append_int",
                                           [JY_K_BOOL] = "list_append_bool",
                                           [JY_K_NP] = "list_append_scalar",
                                           [JY_K_LIST] = "list_append_object" };
    bool is_scalar = item->kind == JY_K_NP;
    if (jy_vis_nan(item)) {
        jy_fv nan[] = { list->regs[0], jy_vnan_object(b, item) };
        jy_vhelp(b, "list_append_object", 2, nan, "a list that cannot grow");
        return;
    }
    jy_vcheck_nan(b, item, JY_CHECK_STORED);
    if (!is_scalar && item->kind != JY_K_LIST &&
        list->elem->kind != JY_K_LIST) { /* of rows: their slots are memory apart */
        append_number(b, list, item);
        return;
    }
    jy_fv args[3] = { list->regs[0], item->regs[0] };
    if (is_scalar) {
        args[1] = jy_vint(b, item->dtype);
        args[2] = jy_vscalar_bits(b, item);
    }
    jy_vhelp(b, helpers[item->kind], is_scalar ? 3 : 2, args, "a list that cannot grow");
}

jy_status
jy_vlist_append(struct jy_vbuild *b, struct jy_val *list, struct jy_val *item)
{
    if (item->kind == JY_K_NEWLIST)
        TRY(jy_vlist_make(b, &item, item));
    TRY(jy_vlist_check_writable(b, list, item));
    if (jy_vis_nan(item))
        TRY(jy_vlist_as_object(b, list));
    if (list->is_native)
        return jy_vnative_append(b, list, item);
    if (item->is_native && jy_vlist_may_be_native(b, list)) /* what it holds has not been known */
        jy_vlist_learn(b, list, jy_velem_of_item(b, item));
    TRY(b->again ? JY_BREAK : jy_vlist_as_object(b, item));
    append(b, list, item);
    jy_vlist_learn(b, list, jy_velem_of_item(b, item));
    return JY_OK;
}

static jy_status
pop(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, size_t nargs, struct jy_val *const *args)
{
    TRY(check_elem(b, list));
    int64_t known;
    bool is_last = nargs == 0 || (args[0]->kind == JY_K_INT && jy_vconst(b, args[0]->regs[0], &known) && known == -1);
    if (list->is_native && is_last) {
        TRY(jy_vb_effect(b));
        *out = jy_vnative_pop(b, list);
        return JY_OK;
    }
    TRY(jy_vlist_as_object(b, list));
    if (list->is_tuple || list->elem->kind == JY_K_LIST || list->elem->other != NULL)
        return jy_vb_lacks(b, "pop() here");
    TRY(jy_vb_effect(b));
    jy_fv index = jy_vint(b, -1);
    if (nargs == 1)
        TRY(jy_vas_index(b, &index, args[0]));
    index = jy_ve2x(b, JY_FLOW_WRAP, JY_F_I64, index, jy_vlist_length(b, list), "pop from an empty list");
    TRY(unboxed(b, out, item_at(b, list, index), list->elem));
    jy_fv drop[] = { list->regs[0], index };
    jy_vhelp(b, "list_drop", 2, drop, "a list that cannot shrink");
    return JY_OK;
}

jy_status
jy_vlist_method(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, const char *name, size_t nargs,
                struct jy_val *const *args)
{
    if (strcmp(name, "append") == 0 && nargs == 1) {
        TRY(jy_vlist_append(b, list, args[0]));
        *out = jy_val_known(b, jy_value_const(b->frame->f, Py_None));
        return JY_OK;
    }
    if (strcmp(name, "pop") == 0 && nargs <= 1)
        return pop(b, out, list, nargs, args);
    return jy_vlist_other_method(b, out, list, name, nargs, args);
}

/* ---- new ones ---- */

static size_t
find_origin(const struct jy_vhints *hints, const struct jy_vorigin *origin)
{
    size_t k = 0;
    for (; k < hints->origins.n; k++) {
        const struct jy_vorigin *known = &hints->origins.at[k];
        if (known->is_input == origin->is_input && known->number == origin->number && known->code == origin->code)
            break;
    }
    return k;
}

void
jy_vlist_set_origin(struct jy_vbuild *b, struct jy_val *list, bool is_input, uint32_t number)
{
    const struct jy_vorigin here = { .is_input = is_input,
                                     .number = number,
                                     .code = is_input ? NULL : b->frame->f->f_code };
    size_t k = find_origin(b->hints, &here);
    if (k == b->hints->origins.n)
        *jy_vec_push(b->arena, &b->hints->origins) = here;
    else if (b->hints->origins.at[k].elem != NULL)
        list->elem = jy_velem_merge(b, list->elem, b->hints->origins.at[k].elem);
    list->origin = (uint32_t)k + 1;
}

static uint32_t
offset_here(const struct jy_vbuild *b)
{
    const struct jy_frame *f = b->frame->f;
    return (uint32_t)jy_code_at(f->f_instrs, f->f_pc)->i_offset;
}

/* What a native list holds that the present instruction makes, and of whose items that much is known; NULL: it cannot be native. */
const struct jy_velem *
jy_vnative_elem(struct jy_vbuild *b, const struct jy_velem *elem)
{
    const struct jy_vorigin here = { .number = offset_here(b), .code = b->frame->f->f_code };
    size_t k = find_origin(b->hints, &here);
    const struct jy_vorigin *origin = k < b->hints->origins.n ? &b->hints->origins.at[k] : NULL;
    if (!b->may_again || b->hints->no_natives || (origin != NULL && origin->is_object))
        return NULL;
    if (origin != NULL && origin->elem != NULL)
        elem = jy_velem_merge(b, elem, origin->elem);
    return jy_vnative_can_hold(elem) ? elem : NULL;
}

struct jy_val *
jy_vlist_new(struct jy_vbuild *b, jy_fv address, const struct jy_velem *elem)
{
    struct jy_val *list = jy_val_reg(b, JY_K_LIST, JY_DTYPE_NONE, address);
    list->elem = elem;
    jy_vlist_set_origin(b, list, false, offset_here(b));
    return list;
}

static const struct jy_velem unknown = { .kind = JY_K_UNBOUND };

/* [item] * count, as an object. */
static jy_status
repeat(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, struct jy_val *count)
{
    jy_fv n, address;
    TRY(jy_vas_index(b, &n, count));
    struct jy_val *item = v->parts[0];
    jy_fv args[3] = { JY_NO_FV, n };
    const char *helper = "list_repeat";
    size_t nargs = 2;
    jy_vcheck_nan(b, item, JY_CHECK_STORED);
    switch (item->kind) {
    case JY_K_NP:
        helper = "list_repeat_scalar";
        nargs = 3;
        args[0] = jy_vint(b, item->dtype);
        args[1] = jy_vscalar_bits(b, item);
        args[2] = n;
        break;
    case JY_K_FLOAT:
        helper = "list_repeat_float";
        args[0] = item->regs[0];
        break;
    case JY_K_INT:
        helper = "list_repeat_int";
        args[0] = item->regs[0];
        break;
    case JY_K_BOOL:
        args[0] = bool_object(b, item->regs[0]);
        break;
    case JY_K_LIST:
        args[0] = item->regs[0];
        break;
    case JY_K_KNOWN:
        if (!jy_vis_nan(item))
            return jy_vb_lacks(b, "a list of %s", jy_val_describe(b, item));
        args[0] = jy_vnan_object(b, item);
        break;
    default:
        return jy_vb_lacks(b, "a list of %s", jy_val_describe(b, item));
    }
    address = jy_vhelp(b, helper, nargs, args, "a list that cannot be made");
    *out = jy_vlist_new(b, address, jy_velem_of_item(b, item));
    return JY_OK;
}

/* Of a native list of these items; NULL: it cannot be native. */
static const struct jy_velem *
native_elem_of(struct jy_vbuild *b, size_t n, struct jy_val *const *items)
{
    const struct jy_velem *elem = jy_vnative_elem(b, n != 0 ? jy_velem_of_item(b, items[0]) : &unknown);
    for (size_t i = 0; i < n && elem != NULL; i++)
        if (jy_vis_nan(items[i]) || !jy_velem_same(elem, jy_velem_of_item(b, items[i])))
            elem = NULL;
    return elem;
}

jy_status
jy_vlist_make(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v)
{
    const struct jy_velem *native = native_elem_of(b, v->nparts, v->parts);
    if (native != NULL) {
        *out = v->nparts == 0 ? jy_vnative_empty(b, native) : jy_vnative_display(b, v, native);
        return JY_OK;
    }
    if (v->nparts == 0) {
        *out = jy_vlist_new(b, jy_vhelp(b, "list_new", 0, NULL, "a list that cannot be made"), &unknown);
        return JY_OK;
    }
    for (size_t i = 0; i < v->nparts; i++)
        if (!jy_val_is_number(v->parts[i]) && v->parts[i]->kind != JY_K_LIST && !jy_vis_nan(v->parts[i]))
            return jy_vb_lacks(b, "a list of %s", jy_val_describe(b, v->parts[i]));
    for (size_t i = 0; i < v->nparts; i++)
        TRY(jy_vlist_as_object(b, v->parts[i]));
    struct jy_val *count = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, jy_vint(b, 1));
    struct jy_val *first = jy_val_parts(b, JY_K_NEWLIST, 1, v->parts);
    TRY(repeat(b, out, first, count));
    for (size_t i = 1; i < v->nparts; i++) {
        append(b, *out, v->parts[i]);
        (*out)->elem = jy_velem_merge(b, (*out)->elem, jy_velem_of_item(b, v->parts[i]));
    }
    return JY_OK;
}

jy_status
jy_vlist_repeat(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, struct jy_val *count)
{
    jy_fv n;
    if (v->nparts != 1)
        return jy_vb_lacks(b, "a list of several items, repeated");
    const struct jy_velem *native = native_elem_of(b, 1, v->parts);
    if (native == NULL) {
        TRY(jy_vlist_as_object(b, v->parts[0]));
        return repeat(b, out, v, count);
    }
    TRY(jy_vas_index(b, &n, count));
    *out = jy_vnative_repeat(b, v->parts[0], n, native);
    return JY_OK;
}
