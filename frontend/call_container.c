/* Builtins that make containers, and those that run through one: all, any, max, min, sum, with the very comparisons and additions that Python makes, in its order. */
#include "frontend/call_builtin.h"
#include "frontend/cpython/compat.h"
#include "frontend/exception.h"
#include "frontend/instance.h"
#include "frontend/number.h"

/* ---- reductions over known items ---- */

static jy_status
all_any(struct jy_frame *f, struct jy_value **out, struct jy_value *v, bool stop_at)
{
    struct jy_value *it, *item;
    bool truth;
    TRY(jy_iter(f, &it, v));
    for (;;) {
        TRY(jy_iter_next(f, &item, it));
        if (item == NULL)
            break;
        TRY(jy_value_truth(f, &truth, item));
        if (truth == stop_at) {
            *out = jy_builtin_bool_value(f, stop_at);
            return JY_OK;
        }
    }
    *out = jy_builtin_bool_value(f, !stop_at);
    return JY_OK;
}

jy_status
jy_builtin_all(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return all_any(f, out, args[0], false);
}

jy_status
jy_builtin_any(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return all_any(f, out, args[0], true);
}

/* The exception that this version raises. */
static jy_status
extreme_of_nothing(struct jy_frame *f, struct jy_value **out, enum jy_compare op)
{
    PyObject *function = jy_compat_dict_get(f->f_builtins, op == JY_LT ? "min" : "max");
    PyObject *nothing = jy_hold(f, PyTuple_New(0));
    if (nothing == NULL)
        return JY_ERROR;
    if (function == NULL || !PyCFunction_CheckExact(function))
        return jy_break(f, JY_BREAK_RAISES, "min or max of nothing");
    return jy_take(f, out, PyObject_CallOneArg(function, nothing));
}

static jy_status
extreme(struct jy_frame *f, struct jy_value **out, enum jy_compare op, size_t n, struct jy_value *const *args,
        PyObject *kwnames)
{
    struct jy_value *it, *item, *best = NULL, *best_key = NULL, *key = NULL, *fallback = NULL, *v, *verdict;
    bool better;
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        TRY(jy_value_realize(f, args[n + (size_t)i]));
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), "key") == 0)
            key = jy_value_is_none(args[n + (size_t)i]) ? NULL : args[n + (size_t)i];
        else if (n == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), "default") == 0)
            fallback = args[n + (size_t)i];
        else
            return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords of min() or max()");
    }
    TRY(jy_iter(f, &it, n == 1 ? args[0] : jy_value_seq(f, JY_V_TUPLE, n, args)));
    for (;;) {
        TRY(jy_iter_next(f, &item, it));
        if (item == NULL)
            break;
        better = true;
        TRY(jy_sort_key(f, &v, key, item));
        if (best != NULL) {
            TRY(jy_compare_values(f, &verdict, op, v, best_key));
            TRY(jy_value_truth(f, &better, verdict));
        }
        best = better ? item : best;
        best_key = better ? v : best_key;
    }
    *out = best != NULL ? best : fallback;
    return *out != NULL ? JY_OK : extreme_of_nothing(f, out, op);
}

jy_status
jy_builtin_min(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    return extreme(f, out, JY_LT, n, args, kwnames);
}

jy_status
jy_builtin_max(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    return extreme(f, out, JY_GT, n, args, kwnames);
}

static bool
is_python_float(const struct jy_value *v)
{
    return v->v_kind == JY_V_SCALAR ? v->u.scalar.kind == JY_KIND_PYFLOAT
                                    : v->v_kind == JY_V_CONST && PyFloat_CheckExact(v->v_object);
}

/* sum(known, start) of the real objects. */
static jy_status
sum_known(struct jy_frame *f, struct jy_value **out, struct jy_value *known, const struct jy_value *start)
{
    PyObject *items = jy_hold(f, jy_value_as_object(f, known)), *sum = jy_compat_dict_get(f->f_builtins, "sum");
    if (items == NULL || sum == NULL || !PyCFunction_CheckExact(sum))
        return jy_builtin_unknown(f, "sum", known);
    return jy_take(f, out, PyObject_CallFunctionObjArgs(sum, items, start->v_object, NULL));
}

/* Item by item, as a generator may change what it has given before. Python's own floats are summed with compensation on some versions: known ones by the real function; others only behind
 * something that is no number of Python's, where it adds as `+` does. */
jy_status
jy_builtin_sum(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    bool bad = false;
    struct jy_value *start = jy_builtin_keyword(&bad, "start", n, args, kwnames), *total = NULL, *it, *item;
    struct jy_value *known = jy_value_seq(f, JY_V_TUPLE, 0, NULL);
    start = n == 2 ? args[1] : start != NULL ? start : jy_value_const_take(f, PyLong_FromLong(0));
    if (bad || start == NULL)
        return jy_builtin_unknown(f, "sum", args[0]);
    TRY(jy_value_realize(f, start));
    if (start->v_kind != JY_V_CONST || !jy_value_is_plain(f, start->v_object))
        total = start;
    TRY(jy_iter(f, &it, args[0]));
    for (;;) {
        TRY(jy_iter_next(f, &item, it));
        if (item == NULL)
            break;
        TRY(jy_value_realize(f, item));
        if (total == NULL && item->v_kind == JY_V_CONST && jy_value_is_plain(f, item->v_object)) {
            jy_seq_append(f, known, item);
            continue;
        }
        if (total == NULL)
            TRY(sum_known(f, &total, known, start));
        if (jy_number_is(total) && jy_number_is(item) && (is_python_float(total) || is_python_float(item)))
            return jy_break(f, JY_BREAK_SCALAR_OP, "sum() of Python floats that are not all known");
        jy_builtin_mark_temporary(f, total);
        jy_builtin_mark_temporary(f, item);
        TRY(jy_binary(f, &total, JY_NB_ADD, false, total, item));
    }
    *out = total;
    return total != NULL ? JY_OK : sum_known(f, out, known, start);
}

jy_status
jy_builtin_len(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return jy_length(f, out, args[0]);
}

/* ---- containers ---- */

jy_status
jy_builtin_tuple(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (n == 0) {
        *out = jy_value_seq(f, JY_V_TUPLE, 0, NULL);
        return JY_OK;
    }
    TRY(jy_value_realize(f, args[0]));
    if (args[0]->v_kind != JY_V_TUPLE && !(args[0]->v_kind == JY_V_CONST && PyTuple_CheckExact(args[0]->v_object)))
        return jy_iter_collect(f, out, JY_V_TUPLE, args[0]);
    *out = args[0];
    return JY_OK;
}

jy_status
jy_builtin_list(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (n == 1)
        return jy_iter_collect(f, out, JY_V_LIST, args[0]);
    *out = jy_value_seq(f, JY_V_LIST, 0, NULL);
    return JY_OK;
}

jy_status
jy_builtin_set(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    struct jy_value *none;
    TRY(jy_set_new(f, out, PySet_New(NULL)));
    return n == 1 ? jy_set_method(f, &none, *out, "update", 1, args) : JY_OK;
}

jy_status
jy_builtin_frozenset(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args,
                     PyObject *kwnames)
{
    (void)kwnames;
    if (n == 1)
        return jy_set_freeze(f, out, args[0]);
    return jy_take(f, out, PyFrozenSet_New(NULL));
}

/* dict(), dict(mapping), dict(pairs), dict(name=value) */
jy_status
jy_builtin_dict(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *dict = jy_value_seq(f, JY_V_DICT, 0, NULL), *pairs = jy_value_seq(f, JY_V_TUPLE, 0, NULL), **pair;
    size_t two;
    if (n == 1) {
        TRY(jy_value_realize(f, args[0]));
        struct jy_value *v = args[0];
        TRY(jy_over_dict(f, &v, v));
        if (v->v_kind == JY_V_DICT) {
            struct jy_value *all = v;
            v = jy_value_new(f, JY_V_DICTVIEW);
            v->u.iter.sequence = all;
            v->u.iter.position = 2;
        }
        if (jy_is_instance(f, v)) /* keys() would be asked for first */
            return jy_builtin_unknown(f, "dict", v);
        TRY(jy_iter_collect(f, &pairs, JY_V_TUPLE, v));
    }
    for (size_t i = 0; i < pairs->u.seq.n; i++) {
        TRY(jy_value_items(f, &pair, &two, pairs->u.seq.at[i]));
        if (pair == NULL || two != 2)
            return jy_builtin_unknown(f, "dict", args[0]);
        TRY(jy_dict_set(f, dict, pair[0], pair[1]));
    }
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++)
        TRY(jy_dict_set(f, dict, jy_value_const(f, PyTuple_GET_ITEM(kwnames, i)), args[n + (size_t)i]));
    *out = dict;
    return JY_OK;
}

jy_status
jy_builtin_sorted(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *all, *key;
    bool reverse;
    TRY(jy_iter_collect(f, &all, JY_V_TUPLE, args[0]));
    TRY(jy_sort_arguments(f, &key, &reverse, n, args, kwnames));
    return jy_sort(f, out, all, key, reverse, false);
}

jy_status
jy_builtin_slice(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    *out = jy_value_new(f, JY_V_SLICE);
    (*out)->u.range.start = n == 1 ? NULL : args[0];
    (*out)->u.range.stop = n == 1 ? args[0] : args[1];
    (*out)->u.range.step = n == 3 ? args[2] : NULL;
    return JY_OK;
}

jy_status
jy_builtin_range(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    bool ok;
    jy_sx size;
    for (size_t i = 0; i < n; i++) {
        int64_t k = 1;
        TRY(jy_value_as_size(f, &size, &ok, args[i]));
        if (!ok) /* NumPy ints count as well; what is no int breaks */
            TRY(jy_value_index(f, &k, args[i]));
        if (i == 2 && (ok ? !jy_guard_size(f, size, JY_NE, 0) : k == 0))
            return jy_break(f, JY_BREAK_RAISES, "range() of step 0");
    }
    *out = jy_value_new(f, JY_V_RANGE);
    (*out)->u.range.start = n == 1 ? jy_value_const_take(f, PyLong_FromLong(0)) : args[0];
    (*out)->u.range.stop = n == 1 ? args[0] : args[1];
    (*out)->u.range.step = n == 3 ? args[2] : jy_value_const_take(f, PyLong_FromLong(1));
    return (*out)->u.range.start != NULL && (*out)->u.range.step != NULL ? JY_OK : JY_ERROR;
}
