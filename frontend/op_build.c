/* Building, extending and unpacking containers; text. */
#include "frontend/ambient.h"
#include "frontend/exception.h"
#include "frontend/instance.h"
#include "frontend/ops.h"
#include <assert.h>

enum { HAS_SPEC = 4, CONVERSION = 3 }; /* bits of FORMAT_VALUE's argument */

/* ---- build ---- */

static jy_status
build_sequence(struct jy_frame *f, enum jy_value_kind kind, size_t n)
{
    struct jy_value *seq = jy_value_seq(f, kind, n, &f->f_stack[f->f_depth - n]);
    return jy_replace(f, n, seq);
}

jy_status
op_build_tuple(struct jy_frame *f, const struct jy_instr *instr)
{
    return build_sequence(f, JY_V_TUPLE, (size_t)instr->i_arg);
}

jy_status
op_build_list(struct jy_frame *f, const struct jy_instr *instr)
{
    return build_sequence(f, JY_V_LIST, (size_t)instr->i_arg);
}

jy_status
op_build_set(struct jy_frame *f, const struct jy_instr *instr)
{
    size_t n = (size_t)instr->i_arg;
    struct jy_value *set;
    TRY(jy_set_new(f, &set, PySet_New(NULL)));
    for (size_t i = n; i > 0; i--)
        TRY(jy_set_add(f, set, *jy_peek(f, i)));
    return jy_replace(f, n, set);
}

jy_status
op_build_map(struct jy_frame *f, const struct jy_instr *instr)
{
    size_t n = 2 * (size_t)instr->i_arg;
    struct jy_value *dict = jy_value_seq(f, JY_V_DICT, 0, NULL);
    for (size_t i = n; i > 0; i -= 2)
        TRY(jy_dict_set(f, dict, *jy_peek(f, i), *jy_peek(f, i - 1)));
    return jy_replace(f, n, dict);
}

jy_status
op_build_const_key_map(struct jy_frame *f, const struct jy_instr *instr)
{
    size_t n = (size_t)instr->i_arg;
    struct jy_value **keys;
    size_t given;
    TRY(jy_value_items(f, &keys, &given, *jy_peek(f, 1))); /* a constant, or what comes in where the unit begins here */
    if (keys == NULL || given != n)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "BUILD_CONST_KEY_MAP without its keys");
    struct jy_value *dict = jy_value_seq(f, JY_V_DICT, 0, NULL);
    for (size_t i = 0; i < n; i++)
        TRY(jy_dict_set(f, dict, keys[i], *jy_peek(f, n + 1 - i)));
    return jy_replace(f, n + 1, dict);
}

jy_status
op_build_slice(struct jy_frame *f, const struct jy_instr *instr)
{
    size_t n = instr->i_arg == 3 ? 3 : 2;
    struct jy_value *slice = jy_value_new(f, JY_V_SLICE);
    slice->u.range.start = *jy_peek(f, n);
    slice->u.range.stop = *jy_peek(f, n - 1);
    slice->u.range.step = n == 3 ? *jy_peek(f, 1) : NULL;
    return jy_replace(f, n, slice);
}

/* ---- extend ---- */

/* The container that an instruction of a comprehension or display fills, below what it takes. */
static jy_status
get_container(struct jy_frame *f, struct jy_value **out, enum jy_value_kind kind, int below, size_t taken)
{
    if (below < 1 || f->f_depth < taken + (size_t)below)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "a container that is not there");
    *out = *jy_peek(f, taken + (size_t)below);
    if ((*out)->v_kind == JY_V_LAZY && !(kind == JY_V_LIST && jy_is_appendable(f, *out)))
        TRY(jy_value_realize(f, *out)); /* a comprehension that CPython began */
    if ((*out)->v_kind == JY_V_LAZY)
        return JY_OK;
    if ((*out)->v_kind != kind)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "%s as a container to fill", jy_value_describe(f, *out));
    return JY_OK;
}

jy_status
op_list_append(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *list = NULL;
    TRY(get_container(f, &list, JY_V_LIST, instr->i_arg, 1));
    TRY(jy_list_append(f, list, *jy_peek(f, 1)));
    jy_pop(f);
    return JY_OK;
}

jy_status
op_list_extend(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *list, *more;
    TRY(get_container(f, &list, JY_V_LIST, instr->i_arg, 1));
    TRY(jy_iter_collect(f, &more, JY_V_TUPLE, *jy_peek(f, 1)));
    for (size_t i = 0; i < more->u.seq.n; i++)
        TRY(jy_list_append(f, list, more->u.seq.at[i]));
    jy_pop(f);
    return JY_OK;
}

jy_status
op_list_to_tuple(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *list = *jy_peek(f, 1);
    if (list->v_kind != JY_V_LIST)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "LIST_TO_TUPLE of %s", jy_value_describe(f, list));
    return jy_replace(f, 1, jy_value_seq(f, JY_V_TUPLE, list->u.seq.n, list->u.seq.at));
}

jy_status
op_set_add(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *set = NULL;
    TRY(get_container(f, &set, JY_V_SET, instr->i_arg, 1));
    struct jy_value *none;
    TRY(jy_set_method(f, &none, set, "add", 1, jy_peek(f, 1)));
    jy_pop(f);
    return JY_OK;
}

jy_status
op_set_update(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *set, *none;
    TRY(get_container(f, &set, JY_V_SET, instr->i_arg, 1));
    TRY(jy_set_method(f, &none, set, "update", 1, jy_peek(f, 1)));
    jy_pop(f);
    return JY_OK;
}

jy_status
op_map_add(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *dict = NULL;
    TRY(get_container(f, &dict, JY_V_DICT, instr->i_arg, 2));
    TRY(jy_setitem(f, dict, *jy_peek(f, 2), *jy_peek(f, 1)));
    f->f_depth -= 2;
    return JY_OK;
}

/* Keyword arguments must be text and must not come twice. */
static jy_status
update(struct jy_frame *f, const struct jy_instr *instr, bool keywords)
{
    struct jy_value *dict, *more = *jy_peek(f, 1);
    TRY(get_container(f, &dict, JY_V_DICT, instr->i_arg, 1));
    TRY(jy_value_realize(f, more));
    TRY(jy_over_dict(f, &more, more));
    if (more->v_kind != JY_V_DICT)
        return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "** of %s", jy_value_describe(f, more));
    for (size_t i = 0; i < more->u.seq.n; i++) {
        struct jy_value *key = jy_key_value(f, more->u.seq.keys[i]);
        size_t index;
        bool found = false;
        if (keywords)
            TRY(jy_dict_find(f, &index, &found, dict, key));
        if (keywords && (found || key->v_kind != JY_V_CONST || !PyUnicode_CheckExact(key->v_object)))
            return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "the keyword %s", jy_value_describe(f, key));
        TRY(jy_setitem(f, dict, key, more->u.seq.at[i]));
    }
    jy_pop(f);
    return JY_OK;
}

jy_status
op_dict_update(struct jy_frame *f, const struct jy_instr *instr)
{
    return update(f, instr, false);
}

jy_status
op_dict_merge(struct jy_frame *f, const struct jy_instr *instr)
{
    return update(f, instr, true);
}

/* ---- unpack ---- */

/* What is unpacked asks for no length. Instances, and what their __iter__ gives, become an iterator; the rest is left alone. */
static jy_status
open_instance(struct jy_frame *f, struct jy_value **v)
{
    TRY(jy_value_realize(f, *v));
    if (!jy_is_instance(f, *v))
        return JY_OK;
    PyTypeObject *type = (*v)->u.instance->type;
    if ((*v)->u.instance->self == NULL && jy_class_get_text(f, type, "__iter__") == NULL &&
        jy_class_get_text(f, type, "__getitem__") == NULL)
        return jy_raises(f, PyExc_TypeError, "cannot unpack non-iterable %.200s object", type->tp_name);
    return jy_iter(f, v, *v);
}

/* Up to so many items of an iterator. */
static jy_status
take(struct jy_frame *f, struct jy_value *all, struct jy_value *iterator, size_t most)
{
    struct jy_value *item;
    while (all->u.seq.n < most) {
        TRY(jy_iter_next(f, &item, iterator));
        if (item == NULL)
            break;
        jy_seq_append(f, all, item);
    }
    return JY_OK;
}

static bool
is_iterator(const struct jy_value *v)
{
    return v->v_kind == JY_V_ITER || v->v_kind == JY_V_INSTANCE;
}

/* An iterator is asked for one item more than fits, no further. */
static jy_status
take_items(struct jy_frame *f, struct jy_value ***items, size_t *n, struct jy_value *v, size_t fits)
{
    TRY(open_instance(f, &v));
    if (!is_iterator(v))
        return jy_value_items(f, items, n, v);
    struct jy_value *all = jy_value_seq(f, JY_V_TUPLE, 0, NULL);
    TRY(take(f, all, v, fits + 1));
    *items = all->u.seq.at;
    *n = all->u.seq.n;
    return JY_OK;
}

/* The first ones are taken one by one, the rest as list() does. */
static jy_status
take_all_items(struct jy_frame *f, struct jy_value ***items, size_t *n, struct jy_value *v, size_t first)
{
    TRY(open_instance(f, &v));
    if (!is_iterator(v))
        return jy_value_items(f, items, n, v);
    struct jy_value *all = jy_value_seq(f, JY_V_TUPLE, 0, NULL), *rest;
    TRY(take(f, all, v, first));
    if (all->u.seq.n == first) {
        TRY(jy_iter_collect(f, &rest, JY_V_TUPLE, v));
        for (size_t i = 0; i < rest->u.seq.n; i++)
            jy_seq_append(f, all, rest->u.seq.at[i]);
    }
    *items = all->u.seq.at;
    *n = all->u.seq.n;
    return JY_OK;
}

jy_status
op_unpack_sequence(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value **items, *v = *jy_peek(f, 1);
    size_t n;
    TRY(take_items(f, &items, &n, v, (size_t)instr->i_arg));
    if (items == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "unpacking %s", jy_value_describe(f, v));
    if (n != (size_t)instr->i_arg)
        return n > (size_t)instr->i_arg
                   ? jy_raises(f, PyExc_ValueError, "too many values to unpack (expected %d)", instr->i_arg)
                   : jy_raises(f, PyExc_ValueError, "not enough values to unpack (expected %d, got %zu)", instr->i_arg,
                               n);
    jy_pop(f);
    for (size_t i = n; i > 0; i--)
        jy_push(f, items[i - 1]);
    return JY_OK;
}

jy_status
op_unpack_ex(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value **items, *v = *jy_peek(f, 1);
    size_t n, before = (size_t)(instr->i_arg & 0xff), after = (size_t)(instr->i_arg >> 8);
    TRY(take_all_items(f, &items, &n, v, before));
    if (items == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "unpacking %s", jy_value_describe(f, v));
    if (n < before + after)
        return jy_raises(f, PyExc_ValueError, "not enough values to unpack (expected at least %zu, got %zu)",
                         before + after, n);
    jy_pop(f);
    for (size_t i = 0; i < after; i++)
        jy_push(f, items[n - 1 - i]);
    jy_push(f, jy_value_seq(f, JY_V_LIST, n - before - after, &items[before]));
    for (size_t i = before; i > 0; i--)
        jy_push(f, items[i - 1]);
    return JY_OK;
}

/* ---- text ---- */

static jy_status
get_constant(struct jy_frame *f, PyObject **out, struct jy_value *v)
{
    *out = jy_hold(f, jy_value_as_object(f, v));
    if (*out == NULL || !jy_value_is_plain(f, *out))
        return jy_break(f, JY_BREAK_FORMAT, "%s in text", jy_value_describe(f, v));
    return JY_OK;
}

static PyObject *
convert(PyObject *object, int conversion)
{
    switch (conversion) {
    case 1:
        return PyObject_Str(object);
    case 2:
        return PyObject_Repr(object);
    case 3:
        return PyObject_ASCII(object);
    default:
        return Py_NewRef(object);
    }
}

/* An exception's text, for str() and for format() without a specification. */
static jy_status
take_text(struct jy_frame *f, struct jy_value **v, int *conversion, bool has_spec)
{
    if ((*v)->v_kind != JY_V_EXCEPTION || *conversion > 1 || (*conversion == 0 && has_spec))
        return JY_OK;
    if (*conversion == 0)
        TRY(jy_exception_check_format(f, *v));
    *conversion = 0;
    return jy_exception_text(f, v, *v);
}

/* The top n items, the first formatted by the second. */
static jy_status
format(struct jy_frame *f, size_t n, int conversion)
{
    PyObject *object, *spec = NULL;
    struct jy_value *text, *v = *jy_peek(f, n);
    TRY(take_text(f, &v, &conversion, n == 2));
    TRY(get_constant(f, &object, v));
    if (n == 2)
        TRY(get_constant(f, &spec, *jy_peek(f, 1)));
    TRY(jy_check_digits(f, object));
    if (spec != NULL)
        TRY(jy_check_locale(f, spec, false));
    PyObject *converted = jy_hold(f, convert(object, conversion));
    if (converted == NULL)
        return jy_raise_from_exception(f);
    TRY(jy_take(f, &text, PyObject_Format(converted, spec)));
    jy_take_operand(&text, v);
    return jy_replace(f, n, text);
}

jy_status
op_format_value(struct jy_frame *f, const struct jy_instr *instr)
{
    return format(f, instr->i_arg & HAS_SPEC ? 2 : 1, instr->i_arg & CONVERSION);
}

jy_status
op_format_simple(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return format(f, 1, 0);
}

jy_status
op_format_with_spec(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return format(f, 2, 0);
}

jy_status
op_convert_value(struct jy_frame *f, const struct jy_instr *instr)
{
    PyObject *object;
    struct jy_value *text, *v = *jy_peek(f, 1);
    int conversion = instr->i_arg;
    TRY(take_text(f, &v, &conversion, false));
    TRY(get_constant(f, &object, v));
    TRY(jy_take(f, &text, convert(object, conversion)));
    jy_take_operand(&text, v);
    return jy_replace(f, 1, text);
}

jy_status
op_build_string(struct jy_frame *f, const struct jy_instr *instr)
{
    size_t n = (size_t)instr->i_arg;
    PyObject *parts = jy_hold(f, PyTuple_New((Py_ssize_t)n)), *empty = jy_hold(f, PyUnicode_FromString(""));
    struct jy_value *text;
    if (parts == NULL || empty == NULL)
        return JY_ERROR;
    for (size_t i = 0; i < n; i++) {
        PyObject *part;
        TRY(get_constant(f, &part, *jy_peek(f, n - i)));
        PyTuple_SET_ITEM(parts, i, Py_NewRef(part));
    }
    TRY(jy_take(f, &text, PyUnicode_Join(empty, parts)));
    for (size_t i = n; i > 0; i--)
        jy_take_operand(&text, *jy_peek(f, i));
    return jy_replace(f, n, text);
}
