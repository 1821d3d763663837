/* Comparison, identity, membership, truth. */
#include "frontend/instance.h"
#include "frontend/exception.h"
#include "frontend/number.h"
#include "frontend/ops.h"

/* ---- identity ---- */

static bool
is_singleton(const struct jy_value *v)
{
    PyObject *o = jy_value_known(v);
    return o != NULL && (v->v_kind != JY_V_CONST || o == Py_None || PyBool_Check(o) || o == Py_Ellipsis ||
                         o == Py_NotImplemented || PyType_Check(o));
}

/* Made while tracing, so it is none of the objects that were there before, and no other made one. () is always the same object. */
static bool
is_new(const struct jy_value *v)
{
    if (v->v_source != JY_NO_SOURCE)
        return false;
    return v->v_kind == JY_V_LIST || v->v_kind == JY_V_DICT || v->v_kind == JY_V_ARRAY || v->v_kind == JY_V_ITER ||
           v->v_kind == JY_V_SET || v->v_kind == JY_V_CELL || v->v_kind == JY_V_INSTANCE || v->v_kind == JY_V_PARTIAL ||
           v->v_kind == JY_V_EXCEPTION || (v->v_kind == JY_V_TUPLE && v->u.seq.n != 0);
}

static bool
is_object(const struct jy_value *v)
{
    return v->v_kind == JY_V_INSTANCE || v->v_kind == JY_V_OPAQUE;
}

jy_status
jy_is_same(struct jy_frame *f, bool *out, struct jy_value *a, struct jy_value *b)
{
    TRY(jy_value_realize(f, a));
    TRY(jy_value_realize(f, b));
    *out = a == b;
    if (a == b || is_new(a) || is_new(b))
        return JY_OK;
    if (is_singleton(a) && is_singleton(b)) {
        struct jy_value *both[] = { a, b };
        for (int i = 0; i < 2; i++) /* of a function only the code is guarded so far */
            if (both[i]->v_kind == JY_V_FUNCTION && both[i]->v_source != JY_NO_SOURCE)
                jy_guard_is(f, both[i]->v_source, both[i]->v_object);
        *out = jy_value_known(a) == jy_value_known(b);
        return JY_OK;
    }
    if (is_singleton(a) || is_singleton(b)) { /* the other is of a kind that can never be that object */
        struct jy_value *other = is_singleton(a) ? b : a;
        if (other->v_kind == JY_V_OPAQUE && other->v_source != JY_NO_SOURCE)
            jy_guard_type(f, other->v_source, Py_TYPE(other->v_object));
        return JY_OK;
    }
    bool sourced = a->v_source != JY_NO_SOURCE && b->v_source != JY_NO_SOURCE;
    if (sourced && a->v_object != NULL && a->v_object == b->v_object) {
        jy_guard_same(f, a->v_source, b->v_source);
        *out = true;
        return JY_OK;
    }
    if ((a->v_kind == JY_V_INSTANCE && !is_object(b)) || (b->v_kind == JY_V_INSTANCE && !is_object(a)))
        return JY_OK; /* of another type */
    if (sourced && is_object(a) && is_object(b)) {
        jy_guard_not_same(f, a->v_source, b->v_source);
        return JY_OK;
    }
    if (a->v_kind != b->v_kind && a->v_kind != JY_V_OPAQUE && b->v_kind != JY_V_OPAQUE && a->v_kind != JY_V_CONST &&
        b->v_kind != JY_V_CONST)
        return JY_OK;
    return jy_break(f, JY_BREAK_DATA_BRANCH, "%s is %s", jy_value_describe(f, a), jy_value_describe(f, b));
}

/* ---- comparison ---- */

static jy_status
compare_sequences(struct jy_frame *f, struct jy_value **out, enum jy_compare op, struct jy_value *a, struct jy_value *b)
{
    struct jy_value **x, **y;
    size_t n, m, i;
    bool same = true;
    TRY(jy_enter(f));
    TRY(jy_value_items(f, &x, &n, a));
    TRY(jy_value_items(f, &y, &m, b));
    if (n != m && (op == JY_EQ || op == JY_NE)) {
        jy_leave(f);
        *out = jy_value_const(f, op == JY_NE ? Py_True : Py_False);
        return JY_OK;
    }
    for (i = 0; i < n && i < m && same; i += same)
        TRY(jy_is_equal(f, &same, x[i], y[i]));
    jy_leave(f);
    if (!same && op != JY_EQ && op != JY_NE)
        return jy_compare_values(f, out, op, x[i], y[i]);
    PyObject *lengths[] = { jy_hold(f, PyLong_FromSize_t(same ? n : 0)), jy_hold(f, PyLong_FromSize_t(same ? m : 1)) };
    if (lengths[0] == NULL || lengths[1] == NULL)
        return JY_ERROR;
    return jy_take(f, out, PyObject_RichCompare(lengths[0], lengths[1], (int)op));
}

static jy_status
compare_dicts(struct jy_frame *f, struct jy_value **out, enum jy_compare op, struct jy_value *a, struct jy_value *b)
{
    bool same = a->u.seq.n == b->u.seq.n;
    TRY(jy_enter(f));
    for (size_t i = 0; i < a->u.seq.n && same; i++) {
        size_t index;
        TRY(jy_dict_find(f, &index, &same, b, jy_key_value(f, a->u.seq.keys[i])));
        if (same)
            TRY(jy_is_equal(f, &same, a->u.seq.at[i], b->u.seq.at[index]));
    }
    jy_leave(f);
    *out = jy_value_const(f, same == (op == JY_EQ) ? Py_True : Py_False);
    return JY_OK;
}

static bool
is_tuple(const struct jy_value *v)
{
    return v->v_kind == JY_V_TUPLE || (v->v_kind == JY_V_CONST && PyTuple_CheckExact(v->v_object));
}

/* Builtin kinds that are never equal to one another. */
static int
family(const struct jy_value *v)
{
    if (jy_number_is(v))
        return 1;
    if (is_tuple(v))
        return 2;
    if (v->v_kind == JY_V_LIST)
        return 3;
    if (v->v_kind == JY_V_DICT)
        return 4;
    if (v->v_kind == JY_V_CONST && (v->v_object == Py_None || PyUnicode_CheckExact(v->v_object)))
        return v->v_object == Py_None ? 5 : 6;
    if (v->v_kind == JY_V_FUNCTION)
        return 7;
    if (v->v_kind == JY_V_MODULE)
        return 8;
    if (v->v_kind == JY_V_SET || (v->v_kind == JY_V_CONST && PyFrozenSet_CheckExact(v->v_object)))
        return 9;
    return 0;
}

/* A dtype compares with whatever np.dtype() takes, which may warn or raise: only with its like and with types. */
static bool
compares_quietly(struct jy_frame *f, PyObject *a, PyObject *b)
{
    if (!jy_value_is_plain(f, a) || !jy_value_is_plain(f, b))
        return false;
    return (a != Py_None && b != Py_None) || Py_TYPE(Py_TYPE(a)) == Py_TYPE(Py_TYPE(b));
}

jy_status
jy_compare_values(struct jy_frame *f, struct jy_value **out, enum jy_compare op, struct jy_value *a, struct jy_value *b)
{
    bool done = false;
    TRY(jy_value_realize(f, a));
    TRY(jy_value_realize(f, b));
    TRY(jy_instance_compare(f, out, &done, op, a, b));
    if (done)
        return JY_OK;
    TRY(jy_np_compare(f, out, &done, op, a, b));
    if (done)
        return JY_OK;
    PyObject *x = jy_value_known(a), *y = jy_value_known(b);
    if (x != NULL && y != NULL && compares_quietly(f, x, y))
        return jy_take(f, out, PyObject_RichCompare(x, y, (int)op));
    if (jy_number_is(a) && jy_number_is(b))
        return jy_number_compare(f, out, op, a, b);
    if ((is_tuple(a) && is_tuple(b)) || (a->v_kind == JY_V_LIST && b->v_kind == JY_V_LIST))
        return compare_sequences(f, out, op, a, b);
    TRY(jy_set_compare(f, out, &done, op, a, b));
    if (done)
        return JY_OK;
    bool equality = op == JY_EQ || op == JY_NE;
    if (equality && a->v_kind == JY_V_DICT && b->v_kind == JY_V_DICT)
        return compare_dicts(f, out, op, a, b);
    if (equality && family(a) != 0 && family(b) != 0 && family(a) != family(b)) {
        *out = jy_value_const(f, op == JY_NE ? Py_True : Py_False);
        return JY_OK;
    }
    return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "a comparison of %s and %s", jy_value_describe(f, a),
                    jy_value_describe(f, b));
}

jy_status
jy_is_equal(struct jy_frame *f, bool *out, struct jy_value *a, struct jy_value *b)
{
    struct jy_value *verdict;
    *out = a == b;
    if (a == b)
        return JY_OK;
    PyObject *x = jy_value_known(a), *y = jy_value_known(b);
    if (x != NULL && x == y) {
        *out = true;
        return JY_OK;
    }
    TRY(jy_value_realize(f, a));
    TRY(jy_value_realize(f, b));
    if (is_object(a) && is_object(b)) { /* they must not become one: identity asks no __eq__ */
        TRY(jy_is_same(f, out, a, b));
        if (*out)
            return JY_OK;
    }
    TRY(jy_compare_values(f, &verdict, JY_EQ, a, b));
    return jy_value_truth(f, out, verdict);
}

/* Whatever is no tuple of two is not in dict.items(), and its hash is not asked for; a key's is. */
static jy_status
items_contain(struct jy_frame *f, bool *out, struct jy_value *dict, struct jy_value *item)
{
    struct jy_value **parts;
    size_t n, index;
    if (!is_tuple(item) && family(item) == 0)
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "%s in items()", jy_value_describe(f, item));
    *out = false;
    if (!is_tuple(item))
        return JY_OK;
    TRY(jy_value_items(f, &parts, &n, item));
    if (n != 2)
        return JY_OK;
    TRY(jy_dict_find(f, &index, out, dict, parts[0]));
    return *out ? jy_is_equal(f, out, dict->u.seq.at[index], parts[1]) : JY_OK;
}

jy_status
jy_contains(struct jy_frame *f, bool *out, struct jy_value *container, struct jy_value *item)
{
    struct jy_value **items;
    size_t n, index;
    TRY(jy_value_realize(f, container));
    TRY(jy_value_realize(f, item));
    bool done = false;
    TRY(jy_instance_contains(f, out, &done, container, item));
    if (done)
        return JY_OK;
    struct jy_value *answer;
    TRY(jy_metaclass_call(f, &answer, container, "__contains__", 1, &item));
    if (answer != NULL)
        return jy_value_truth(f, out, answer);
    if (container->v_kind == JY_V_DICT)
        return jy_dict_find(f, &index, out, container, item);
    if (container->v_kind == JY_V_SET)
        return jy_set_contains(f, out, container, item);
    if (container->v_kind == JY_V_DICTVIEW && container->u.iter.position == 0)
        return jy_dict_find(f, &index, out, container->u.iter.sequence, item);
    if (container->v_kind == JY_V_DICTVIEW && container->u.iter.position == 2)
        return items_contain(f, out, container->u.iter.sequence, item);
    PyObject *x = container->v_kind == JY_V_CONST || container->v_kind == JY_V_RANGE
                      ? jy_hold(f, jy_value_as_object(f, container))
                      : NULL;
    PyObject *y = jy_value_known(item);
    if (x != NULL && y != NULL && jy_value_is_plain(f, y)) {
        int contained = PySequence_Contains(x, y);
        if (contained < 0)
            return jy_raise_from_exception(f);
        *out = contained;
        return JY_OK;
    }
    if (container->v_kind == JY_V_CONST && (PyUnicode_Check(container->v_object) || PyBytes_Check(container->v_object)))
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "%s in text",
                        jy_value_describe(f, item)); /* it may be a TypeError */
    bool hashes = container->v_kind == JY_V_CONST && PyFrozenSet_CheckExact(container->v_object);
    if (hashes && !jy_number_is(item) &&
        item->v_kind != JY_V_SET) /* it may have none: TypeError. A set is looked for as a frozenset */
        return jy_set_contains(f, out, container, item);
    *out = false;
    while (container->v_kind == JY_V_ITER && !*out) { /* up to the first that is equal */
        struct jy_value *next;
        TRY(jy_iter_next(f, &next, container));
        if (next == NULL)
            return JY_OK;
        TRY(jy_is_equal(f, out, next, item));
    }
    if (*out)
        return JY_OK;
    TRY(jy_value_items(f, &items, &n, container));
    if (items == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "in %s", jy_value_describe(f, container));
    *out = false;
    for (size_t i = 0; i < n && !*out; i++)
        TRY(jy_is_equal(f, out, items[i], item));
    return JY_OK;
}

/* ---- instructions ---- */

static jy_status
replace_bool(struct jy_frame *f, size_t n, bool truth)
{
    return jy_replace(f, n, jy_value_const(f, truth ? Py_True : Py_False));
}

jy_status
op_compare(struct jy_frame *f, const struct jy_instr *instr)
{
    _Static_assert((int)JY_LT == Py_LT && (int)JY_GE == Py_GE && (int)JY_EQ == Py_EQ, "ORDER compare");
    struct jy_value *v;
    int op = jy_instr_compare(instr);
    if (op < Py_LT || op > Py_GE)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "COMPARE_OP %d", op);
    TRY(jy_compare_values(f, &v, (enum jy_compare)op, *jy_peek(f, 2), *jy_peek(f, 1)));
    if (jy_instr_compare_to_bool(instr)) {
        bool truth;
        TRY(jy_value_truth(f, &truth, v));
        return replace_bool(f, 2, truth);
    }
    return jy_replace(f, 2, v);
}

jy_status
op_is(struct jy_frame *f, const struct jy_instr *instr)
{
    bool same;
    TRY(jy_is_same(f, &same, *jy_peek(f, 2), *jy_peek(f, 1)));
    return replace_bool(f, 2, same != (instr->i_arg & 1));
}

jy_status
op_contains(struct jy_frame *f, const struct jy_instr *instr)
{
    bool found;
    TRY(jy_contains(f, &found, *jy_peek(f, 1), *jy_peek(f, 2)));
    return replace_bool(f, 2, found != (instr->i_arg & 1));
}

jy_status
op_unary_not(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    bool truth;
    TRY(jy_value_truth(f, &truth, *jy_peek(f, 1)));
    return replace_bool(f, 1, !truth);
}

jy_status
op_to_bool(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    bool truth;
    TRY(jy_value_truth(f, &truth, *jy_peek(f, 1)));
    return replace_bool(f, 1, truth);
}
