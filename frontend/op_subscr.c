/* Subscripts and lengths. Indices into Python's containers choose structure: a symbolic one is pinned to its value in the traced call. */
#include "frontend/exception.h"
#include "frontend/instance.h"
#include "frontend/ops.h"

#include <assert.h>

static jy_status
no_item(struct jy_frame *f, struct jy_value *v, struct jy_value *key)
{
    return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "%s[%s]", jy_value_describe(f, v), jy_value_describe(f, key));
}

/* ---- length ---- */

static jy_status
range_length(struct jy_frame *f, int64_t *out, struct jy_value *v)
{
    int64_t start, stop, step;
    TRY(jy_value_index(f, &start, v->u.range.start));
    TRY(jy_value_index(f, &stop, v->u.range.stop));
    TRY(jy_value_index(f, &step, v->u.range.step));
    const int64_t limit = INT64_C(1) << 62;
    if (step == 0 || start > limit || start < -limit || stop > limit || stop < -limit || step == INT64_MIN)
        return jy_break(f, JY_BREAK_RAISES, "a range out of bounds");
    if (step > 0)
        *out = start < stop ? (stop - start - 1) / step + 1 : 0;
    else
        *out = start > stop ? (start - stop - 1) / -step + 1 : 0;
    return JY_OK;
}

jy_status
jy_length(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    int64_t n;
    TRY(jy_value_realize(f, v));
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_TUPLE:
    case JY_V_LIST:
    case JY_V_DICT:
        return jy_take(f, out, PyLong_FromSize_t(v->u.seq.n));
    case JY_V_SET:
        return jy_take(f, out, PyLong_FromSsize_t(PySet_GET_SIZE(v->u.set.mirror)));
    case JY_V_DICTVIEW:
        return jy_length(f, out, v->u.iter.sequence);
    case JY_V_RANGE:
        TRY(range_length(f, &n, v));
        return jy_take(f, out, PyLong_FromLongLong(n));
    case JY_V_ARRAY:
        return jy_np_length(f, out, v);
    case JY_V_CONST:
        if (!jy_value_is_plain(f, v->v_object))
            break;
        n = PyObject_Size(v->v_object);
        return n < 0 ? jy_raise_from_exception(f) : jy_take(f, out, PyLong_FromLongLong(n));
    case JY_V_CALLABLE:
        TRY(jy_metaclass_call(f, out, v, "__len__", 0, NULL));
        if (*out == NULL)
            break;
        TRY(jy_value_realize(f, *out));
        if ((*out)->v_kind != JY_V_CONST || !PyLong_CheckExact((*out)->v_object))
            break;
        n = PyLong_AsLongLong((*out)->v_object);
        PyErr_Clear();
        if (n < 0)
            break;
        return JY_OK;
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_SCALAR:
    case JY_V_SLICE:
    case JY_V_FUNCTION:
    case JY_V_METHOD:
    case JY_V_MODULE:
    case JY_V_ITER:
    case JY_V_CELL:
    case JY_V_HANDLED:
    case JY_V_EXCEPTION:
    case JY_V_PARTIAL:
        break;
    case JY_V_OPAQUE:
    case JY_V_INSTANCE:
        if (jy_is_instance(f, v))
            return jy_instance_length(f, out, v);
        break;
    }
    return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "the length of %s", jy_value_describe(f, v));
}

jy_status
op_get_len(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *v;
    TRY(jy_length(f, &v, *jy_peek(f, 1)));
    return jy_push(f, v);
}

/* ---- get ---- */

/* start, stop, step of a slice of known bounds over n items */
jy_status
jy_slice_bounds(struct jy_frame *f, Py_ssize_t *start, Py_ssize_t *step, Py_ssize_t *count, struct jy_value *slice,
                size_t n)
{
    struct jy_value *parts[] = { slice->u.range.start, slice->u.range.stop, slice->u.range.step };
    int64_t bounds[3] = { 0 };
    bool none[3];
    for (int i = 0; i < 3; i++) {
        if (parts[i] != NULL)
            TRY(jy_value_realize(f, parts[i]));
        none[i] = parts[i] == NULL || jy_value_is_none(parts[i]);
        if (!none[i])
            TRY(jy_value_index(f, &bounds[i], parts[i]));
    }
    *step = none[2] ? 1 : (Py_ssize_t)bounds[2];
    if (*step == 0 || *step < -PY_SSIZE_T_MAX)
        return jy_raises(f, PyExc_ValueError, "slice step cannot be zero");
    *start = none[0] ? (*step < 0 ? PY_SSIZE_T_MAX : 0) : (Py_ssize_t)bounds[0];
    Py_ssize_t stop = none[1] ? (*step < 0 ? PY_SSIZE_T_MIN : PY_SSIZE_T_MAX) : (Py_ssize_t)bounds[1];
    *count = PySlice_AdjustIndices((Py_ssize_t)n, start, &stop, *step);
    return JY_OK;
}

static jy_status
sequence_slice(struct jy_frame *f, struct jy_value **out, struct jy_value *v, struct jy_value *key)
{
    Py_ssize_t start = 0, step = 1, count = 0;
    struct jy_value **items;
    size_t n;
    TRY(jy_value_items(f, &items, &n, v));
    TRY(jy_slice_bounds(f, &start, &step, &count, key, n));
    if (v->v_kind != JY_V_LIST && (size_t)count == n && step == 1) { /* all of a tuple is the tuple */
        *out = v;
        return JY_OK;
    }
    *out = jy_value_seq(f, v->v_kind == JY_V_LIST ? JY_V_LIST : JY_V_TUPLE, (size_t)count, NULL);
    for (Py_ssize_t i = 0; i < count; i++)
        (*out)->u.seq.at[i] = items[start + i * step];
    return JY_OK;
}

/* what: in CPython's message */
static jy_status
sequence_index(struct jy_frame *f, int64_t *out, struct jy_value *key, size_t n, const char *what)
{
    TRY(jy_value_index(f, out, key));
    if (*out < 0)
        *out += (int64_t)n;
    if (*out < 0 || *out >= (int64_t)n)
        return jy_raises(f, PyExc_IndexError, "%s index out of range", what);
    return JY_OK;
}

static jy_status
dict_item(struct jy_frame *f, struct jy_value **out, struct jy_value *v, struct jy_value *key)
{
    size_t index;
    bool found;
    TRY(jy_dict_find(f, &index, &found, v, key));
    if (!found)
        return jy_raises_key(f, key);
    *out = v->u.seq.at[index];
    return JY_OK;
}

static jy_status
range_item(struct jy_frame *f, struct jy_value **out, struct jy_value *v, struct jy_value *key)
{
    int64_t n, index, start, step;
    if (key->v_kind == JY_V_SLICE)
        return no_item(f, v, key);
    TRY(range_length(f, &n, v));
    TRY(sequence_index(f, &index, key, (size_t)n, "range object"));
    TRY(jy_value_index(f, &start, v->u.range.start));
    TRY(jy_value_index(f, &step, v->u.range.step));
    return jy_take(f, out, PyLong_FromLongLong(start + index * step));
}

static jy_status
const_item(struct jy_frame *f, struct jy_value **out, struct jy_value *v, struct jy_value *key)
{
    if (PyTuple_CheckExact(v->v_object) && key->v_kind == JY_V_SLICE)
        return sequence_slice(f, out, v, key);
    if (PyTuple_CheckExact(v->v_object)) {
        int64_t index;
        TRY(sequence_index(f, &index, key, (size_t)PyTuple_GET_SIZE(v->v_object), "tuple"));
        assert(index >= 0);
        *out = jy_value_const(f, PyTuple_GET_ITEM(v->v_object, index));
        return JY_OK;
    }
    PyObject *known = jy_hold(f, jy_value_as_object(f, key));
    if (known == NULL || !(PyUnicode_CheckExact(v->v_object) || PyBytes_CheckExact(v->v_object)))
        return no_item(f, v, key);
    TRY(jy_take(f, out, PyObject_GetItem(v->v_object, known)));
    jy_take_operand(out, v); /* text[:] */
    return JY_OK;
}

jy_status
jy_getitem(struct jy_frame *f, struct jy_value **out, struct jy_value *v, struct jy_value *key)
{
    struct jy_value *part;
    int64_t index;
    TRY(jy_value_realize(f, v));
    TRY(jy_value_realize(f, key));
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_ARRAY:
        return jy_np_getitem(f, out, v, key);
    case JY_V_TUPLE:
    case JY_V_LIST:
        if (key->v_kind == JY_V_SLICE)
            return sequence_slice(f, out, v, key);
        TRY(sequence_index(f, &index, key, v->u.seq.n, v->v_kind == JY_V_LIST ? "list" : "tuple"));
        *out = v->u.seq.at[index];
        return JY_OK;
    case JY_V_DICT:
        return dict_item(f, out, v, key);
    case JY_V_RANGE:
        return range_item(f, out, v, key);
    case JY_V_CONST:
        return const_item(f, out, v, key);
    case JY_V_SCALAR:
        if (v->u.scalar.kind == JY_KIND_NPSCALAR)
            return jy_np_getitem(f, out, v, key);
        break;
    case JY_V_CALLABLE:
        TRY(jy_metaclass_call(f, out, v, "__getitem__", 1, &key));
        if (*out != NULL)
            return JY_OK;
        break;
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_SLICE:
    case JY_V_FUNCTION:
    case JY_V_METHOD:
    case JY_V_MODULE:
    case JY_V_ITER:
    case JY_V_CELL:
    case JY_V_SET:
    case JY_V_DICTVIEW:
    case JY_V_HANDLED:
    case JY_V_EXCEPTION:
    case JY_V_PARTIAL:
        break;
    case JY_V_OPAQUE:
    case JY_V_INSTANCE:
        if (!jy_is_instance(f, v))
            break;
        TRY(jy_over_base(f, &part, v, "__getitem__"));
        if (part != NULL)
            return jy_over_getitem(f, out, v, key);
        TRY(jy_special_call(f, out, v, "__getitem__", 1, &key));
        return *out != NULL
                   ? JY_OK
                   : jy_raises(f, PyExc_TypeError, "'%s' object is not subscriptable", v->u.instance->type->tp_name);
    }
    return no_item(f, v, key);
}

/* ---- set and delete ---- */

jy_status
jy_setitem(struct jy_frame *f, struct jy_value *v, struct jy_value *key, struct jy_value *item)
{
    int64_t index;
    TRY(jy_value_realize(f, v));
    TRY(jy_value_realize(f, key));
    if (v->v_kind == JY_V_ARRAY)
        return jy_np_setitem(f, v, key, item);
    if (v->v_kind == JY_V_DICT)
        return jy_dict_store(f, v, key, item);
    if (jy_is_instance(f, v)) {
        struct jy_value *args[] = { key, item }, *done;
        TRY(jy_over_base(f, &done, v, "__setitem__"));
        if (done != NULL)
            return jy_over_setitem(f, v, key, item);
        TRY(jy_special_call(f, &done, v, "__setitem__", 2, args));
        return done != NULL ? JY_OK
                            : jy_raises(f, PyExc_TypeError, "'%s' object does not support item assignment",
                                        v->u.instance->type->tp_name);
    }
    if (v->v_kind != JY_V_LIST)
        return no_item(f, v, key);
    if (key->v_kind == JY_V_SLICE)
        return jy_list_set_slice(f, v, key, item);
    TRY(sequence_index(f, &index, key, v->u.seq.n, "list assignment"));
    TRY(jy_check_mutable(f, v));
    TRY(jy_check_dropped(f, v, v->u.seq.at[index]));
    v->u.seq.at[index] = item;
    jy_replay_item(f, v, key, item);
    return JY_OK;
}

jy_status
jy_delitem(struct jy_frame *f, struct jy_value *v, struct jy_value *key)
{
    int64_t index;
    TRY(jy_value_realize(f, v));
    TRY(jy_value_realize(f, key));
    if (v->v_kind == JY_V_DICT) {
        size_t at;
        bool found;
        TRY(jy_dict_find(f, &at, &found, v, key));
        return found ? jy_dict_delete(f, v, at, key) : jy_raises_key(f, key);
    }
    if (jy_is_instance(f, v)) {
        struct jy_value *done;
        TRY(jy_over_base(f, &done, v, "__delitem__"));
        if (done != NULL)
            return jy_over_delitem(f, v, key);
        TRY(jy_special_call(f, &done, v, "__delitem__", 1, &key));
        return done != NULL ? JY_OK
                            : jy_raises(f, PyExc_TypeError, "'%s' object does not support item deletion",
                                        v->u.instance->type->tp_name);
    }
    if (v->v_kind != JY_V_LIST)
        return no_item(f, v, key);
    if (key->v_kind == JY_V_SLICE)
        return jy_list_delete_slice(f, v, key);
    TRY(sequence_index(f, &index, key, v->u.seq.n, "list assignment"));
    TRY(jy_check_mutable(f, v));
    TRY(jy_check_dropped(f, v, v->u.seq.at[index]));
    jy_seq_remove(v, (size_t)index);
    jy_replay_item(f, v, key, NULL);
    return JY_OK;
}

/* ---- instructions ---- */

static struct jy_value *
make_slice(struct jy_frame *f, struct jy_value *start, struct jy_value *stop)
{
    struct jy_value *slice = jy_value_new(f, JY_V_SLICE);
    slice->u.range.start = start;
    slice->u.range.stop = stop;
    return slice;
}

jy_status
op_binary_subscr(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *v;
    TRY(jy_getitem(f, &v, *jy_peek(f, 2), *jy_peek(f, 1)));
    return jy_replace(f, 2, v);
}

jy_status
op_binary_slice(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *v;
    TRY(jy_getitem(f, &v, *jy_peek(f, 3), make_slice(f, *jy_peek(f, 2), *jy_peek(f, 1))));
    return jy_replace(f, 3, v);
}

jy_status
op_store_subscr(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    TRY(jy_setitem(f, *jy_peek(f, 2), *jy_peek(f, 1), *jy_peek(f, 3)));
    f->f_depth -= 3;
    return JY_OK;
}

jy_status
op_store_slice(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    TRY(jy_setitem(f, *jy_peek(f, 3), make_slice(f, *jy_peek(f, 2), *jy_peek(f, 1)), *jy_peek(f, 4)));
    f->f_depth -= 4;
    return JY_OK;
}

jy_status
op_delete_subscr(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    TRY(jy_delitem(f, *jy_peek(f, 2), *jy_peek(f, 1)));
    f->f_depth -= 2;
    return JY_OK;
}
