/* Iterators that live where a unit stops: made anew, in the position that they have.
 *
 *     over a list, tuple or array    iter(sequence), then its own __setstate__(position)
 *     over a range                   iter() of what is left
 *     over a dict, set or text       iter(), and as many items are taken from it in C as the trace has taken
 *     zip, enumerate, map, filter    of the parts, made anew
 *     count, repeat, islice, chain   likewise, with what is left
 *
 * Whoever else holds the sequence sees the same object. Generators, and the rest of itertools, have no recipe: the unit ends before they are made. */
#include "frontend/instance.h"

static jy_status
no_recipe(struct jy_frame *f, const struct jy_value *v)
{
    return jy_break(f, JY_BREAK_RESULT, "%s", jy_value_describe(f, v));
}

static jy_status
make_iter(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *sequence)
{
    if (jy_over_is_filled_late(sequence))
        return jy_break(f, JY_BREAK_RESULT, "an iterator over a new object that is filled behind it");
    struct jy_recipe *r = JY_NEW(jy_frame_arena(f), struct jy_recipe);
    r->kind = JY_RECIPE_ITER;
    r->n = 1;
    r->items = JY_NEW(jy_frame_arena(f), struct jy_recipe *);
    *out = r;
    return jy_outputs_recipe(&r->items[0], f, o, sequence);
}

static struct jy_recipe *
number(struct jy_frame *f, int64_t k)
{
    PyObject *object = jy_hold(f, PyLong_FromLongLong(k));
    return object != NULL ? jy_recipe_const(f, object) : NULL;
}

/* callable(*items) once everything before it is done; its result is dropped. */
static void
add_call(struct jy_frame *f, PyObject *callable, size_t n, struct jy_recipe *const *items)
{
    struct jy_unit *unit = f->f_trace->unit;
    *jy_vec_push(unit->u_arena, &unit->u_effects) =
        (struct jy_effect){ .kind = JY_EFFECT_CALL, .value = jy_recipe_call(f, callable, n, items) };
}

/* iterator.__setstate__(k); `like`: an iterator of the same type. refs: like borrowed, NULL: an exception is set */
static jy_status
set_state(struct jy_frame *f, struct jy_recipe *iterator, PyObject *like, int64_t k)
{
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("__setstate__"));
    PyObject *method = like != NULL && name != NULL ? _PyType_Lookup(Py_TYPE(like), name) : NULL;
    struct jy_recipe *items[] = { iterator, number(f, k) };
    if (method == NULL || items[1] == NULL)
        return PyErr_Occurred() ? JY_ERROR : jy_break(f, JY_BREAK_RESULT, "an iterator without __setstate__");
    add_call(f, method, 2, items);
    return JY_OK;
}

static PyObject *
get_attribute(struct jy_frame *f, const char *module, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_FromString(module));
    PyObject *object = text != NULL ? jy_hold(f, PyImport_GetModule(text)) : NULL;
    return object != NULL ? jy_hold(f, PyObject_GetAttrString(object, name)) : NULL;
}

/* collections.deque(itertools.islice(iterator, k), 0) */
static jy_status
take_items(struct jy_frame *f, struct jy_recipe *iterator, int64_t k)
{
    PyObject *deque = get_attribute(f, "collections", "deque"), *islice = get_attribute(f, "itertools", "islice");
    PyErr_Clear();
    if (deque == NULL || islice == NULL)
        return jy_break(f, JY_BREAK_RESULT, "an iterator in the middle, without itertools");
    struct jy_recipe *slice[] = { iterator, number(f, k) }, *items[] = { NULL, number(f, 0) };
    if (slice[1] == NULL || items[1] == NULL)
        return JY_ERROR;
    items[0] = jy_recipe_call(f, islice, 2, slice);
    add_call(f, deque, 2, items);
    return JY_OK;
}

/* ---- sequences ---- */

static jy_status
range_rest(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_value *all = v->u.iter.sequence, *rest = jy_value_new(f, JY_V_RANGE);
    struct jy_value *at = jy_value_const_take(f, PyLong_FromSize_t(v->u.iter.position));
    rest->u.range = all->u.range;
    if (rest->u.range.start == NULL)
        rest->u.range.start = jy_value_const_take(f, PyLong_FromLong(0));
    if (rest->u.range.step == NULL)
        rest->u.range.step = jy_value_const_take(f, PyLong_FromLong(1));
    if (at == NULL || rest->u.range.start == NULL || rest->u.range.step == NULL)
        return JY_ERROR;
    TRY(jy_binary(f, &at, JY_NB_MULTIPLY, false, at, rest->u.range.step));
    TRY(jy_binary(f, &rest->u.range.start, JY_NB_ADD, false, rest->u.range.start, at));
    return make_iter(out, f, o, v->u.iter.exhausted || v->u.iter.position != 0 ? rest : all);
}

/* An iterator over an empty one, of the type that this kind of sequence has. refs: held */
static PyObject *
like(struct jy_frame *f, const struct jy_value *sequence, bool reverse)
{
    PyObject *empty = NULL;
    if (sequence->v_kind == JY_V_LIST)
        empty = jy_hold(f, PyList_New(0));
    else if (sequence->v_kind == JY_V_TUPLE || (sequence->v_kind == JY_V_ARRAY && reverse))
        empty = jy_hold(f, PyTuple_New(0)); /* `reversed` is the type for both */
    if (empty != NULL && reverse)
        return jy_hold(f, PyObject_CallOneArg((PyObject *)&PyReversed_Type, empty));
    if (sequence->v_kind == JY_V_ARRAY && (empty = jy_hold(f, PyTuple_New(0))) != NULL)
        return jy_hold(f, PySeqIter_New(empty));
    return empty != NULL ? jy_hold(f, PyObject_GetIter(empty)) : NULL;
}

static jy_status
sequence_rest(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_value *seq = v->u.iter.sequence, *origin = v->u.iter.origin;
    size_t at = v->u.iter.position;
    if (v->u.iter.strict)
        return no_recipe(f, v);
    if (seq->v_kind == JY_V_RANGE)
        return range_rest(out, f, o, v);
    if (origin != NULL && origin->v_kind == JY_V_CONST && PyTuple_CheckExact(origin->v_object))
        seq = origin, origin = NULL;
    if (origin != NULL) {
        if (origin->v_kind == JY_V_SET && (size_t)PySet_GET_SIZE(origin->u.set.mirror) != seq->u.seq.n)
            return no_recipe(f, v);
        TRY(make_iter(out, f, o, origin));
        return at != 0 || v->u.iter.exhausted ? take_items(f, *out, (int64_t)at + v->u.iter.exhausted) : JY_OK;
    }
    if (v->u.iter.exhausted && seq->v_kind == JY_V_ARRAY) { /* no builtin container has iterators of this type */
        TRY(make_iter(out, f, o, seq));
        TRY(set_state(f, *out, like(f, seq, false), (int64_t)at));
        return take_items(f, *out, 1);
    }
    if (v->u.iter.exhausted) /* of the sequence it knows nothing any more */
        return make_iter(out, f, o, jy_value_seq(f, (enum jy_value_kind)v->u.iter.sequence->v_kind, 0, NULL));
    if (seq->v_kind == JY_V_LIST && at > seq->u.seq.n)
        return no_recipe(f, v);
    TRY(make_iter(out, f, o, seq));
    return at != 0 ? set_state(f, *out, like(f, v->u.iter.sequence, false), (int64_t)at) : JY_OK;
}

static jy_status
deque_rest(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    const struct jy_value *deque = v->u.iter.sequence->u.seq.owner;
    if (v->u.iter.numbers[0] != deque->u.instance->over.changes || v->u.iter.position > v->u.iter.sequence->u.seq.n)
        return no_recipe(f, v);
    if (v->u.iter.backwards) {
        struct jy_recipe *item;
        TRY(jy_outputs_recipe(&item, f, o, v->u.iter.sequence));
        *out = jy_recipe_call(f, (PyObject *)&PyReversed_Type, 1, &item);
    } else {
        TRY(make_iter(out, f, o, v->u.iter.sequence));
    }
    return v->u.iter.position != 0 ? take_items(f, *out, (int64_t)v->u.iter.position) : JY_OK;
}

/* By __getitem__: iter() of such an object runs no code. */
static jy_status
items_rest(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    PyObject *empty = jy_hold(f, PyTuple_New(0));
    PyObject *like = empty != NULL ? jy_hold(f, PySeqIter_New(empty)) : NULL;
    if (v->u.iter.exhausted)
        return no_recipe(f, v);
    TRY(make_iter(out, f, o, v->u.iter.sequence));
    return v->u.iter.position != 0 ? set_state(f, *out, like, (int64_t)v->u.iter.position) : JY_OK;
}

static jy_status
reversed_rest(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_value *seq = v->u.iter.sequence;
    struct jy_recipe *item;
    PyObject *iterator = like(f, seq, true);
    if (v->u.iter.exhausted || v->u.iter.strict || iterator == NULL ||
        (seq->v_kind == JY_V_LIST && v->u.iter.position > seq->u.seq.n)) {
        PyErr_Clear();
        return no_recipe(f, v);
    }
    TRY(jy_outputs_recipe(&item, f, o, seq));
    *out = jy_recipe_call(f, (PyObject *)&PyReversed_Type, 1, &item);
    return set_state(f, *out, iterator, (int64_t)v->u.iter.position - 1);
}

/* dict.keys(dict) and its like */
static jy_status
make_view(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *dict, size_t what)
{
    static const char *const names[] = { "keys", "values", "items" };
    PyObject *name = jy_hold(f, PyUnicode_InternFromString(names[what]));
    PyObject *method = name != NULL ? _PyType_Lookup(&PyDict_Type, name) : NULL;
    struct jy_recipe *item;
    if (method == NULL)
        return JY_ERROR;
    TRY(jy_outputs_recipe(&item, f, o, dict));
    *out = jy_recipe_call(f, method, 1, &item);
    return JY_OK;
}

jy_status
jy_dict_view_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    return make_view(out, f, o, v->u.iter.sequence, v->u.iter.position);
}

static jy_status
dict_rest(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    const struct jy_value *dict = v->u.iter.sequence;
    if (jy_over_is_filled_late(dict) || (int64_t)dict->u.seq.n != v->u.iter.numbers[0] ||
        dict->u.seq.removals != v->u.iter.numbers[1])
        return no_recipe(f, v);
    struct jy_recipe *r, **view = JY_NEW(jy_frame_arena(f), struct jy_recipe *);
    TRY(make_view(view, f, o, v->u.iter.sequence, v->u.iter.what));
    if (v->u.iter.backwards) {
        r = jy_recipe_call(f, (PyObject *)&PyReversed_Type, 1, view);
    } else {
        r = JY_NEW(jy_frame_arena(f), struct jy_recipe);
        r->kind = JY_RECIPE_ITER;
        r->n = 1;
        r->items = view;
    }
    *out = r;
    size_t taken = v->u.iter.position + v->u.iter.exhausted;
    return taken != 0 ? take_items(f, r, (int64_t)taken) : JY_OK;
}

/* ---- iterators of iterators ---- */

/* callable(first, *parts, last), where first and last may be NULL */
static jy_status
with_parts(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, PyObject *callable, struct jy_value *first,
           const struct jy_value *v, struct jy_recipe *last)
{
    size_t n = 0;
    struct jy_recipe **items = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_recipe *, v->u.iter.nparts + 2);
    TRY(jy_enter(f));
    if (first != NULL)
        TRY(jy_outputs_recipe(&items[n++], f, o, first));
    for (size_t i = 0; i < v->u.iter.nparts; i++)
        TRY(jy_outputs_recipe(&items[n++], f, o, v->u.iter.parts[i]));
    if (last != NULL)
        items[n++] = last;
    jy_leave(f);
    *out = jy_recipe_call(f, callable, n, items);
    return JY_OK;
}

static jy_status
itertools_rest(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    static const char *const names[] = { [JY_ITER_COUNT] = "count", [JY_ITER_REPEAT] = "repeat" };
    PyObject *callable = get_attribute(f, "itertools", names[v->u.iter.how]);
    PyErr_Clear();
    if (callable == NULL)
        return no_recipe(f, v);
    if (v->u.iter.how == JY_ITER_COUNT)
        return with_parts(out, f, o, callable, v->u.iter.sequence, v, NULL);
    struct jy_recipe *left = v->u.iter.strict ? NULL : number(f, (int64_t)v->u.iter.position);
    return with_parts(out, f, o, callable, v->u.iter.sequence, v, left);
}

jy_status
jy_iter_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    switch ((enum jy_iter_how)v->u.iter.how) {
    case JY_ITER_SEQUENCE:
        return sequence_rest(out, f, o, v);
    case JY_ITER_REVERSED:
        return v->u.iter.sequence->v_kind == JY_V_RANGE ? no_recipe(f, v) : reversed_rest(out, f, o, v);
    case JY_ITER_DICT:
        return dict_rest(out, f, o, v);
    case JY_ITER_ZIP:
        return v->u.iter.strict ? no_recipe(f, v) : with_parts(out, f, o, (PyObject *)&PyZip_Type, NULL, v, NULL);
    case JY_ITER_ENUMERATE:
        return with_parts(out, f, o, (PyObject *)&PyEnum_Type, NULL, v, number(f, (int64_t)v->u.iter.position));
    case JY_ITER_MAP:
        return with_parts(out, f, o, (PyObject *)&PyMap_Type, v->u.iter.sequence, v, NULL);
    case JY_ITER_FILTER:
        return with_parts(out, f, o, (PyObject *)&PyFilter_Type, v->u.iter.sequence, v, NULL);
    case JY_ITER_COUNT:
    case JY_ITER_REPEAT:
        return itertools_rest(out, f, o, v);
    case JY_ITER_GETITEM:
        return items_rest(out, f, o, v);
    case JY_ITER_DEQUE:
        return deque_rest(out, f, o, v);
    case JY_ITER_GENERATOR:
    case JY_ITER_CALLABLE:
    case JY_ITER_CHAIN:
    case JY_ITER_ISLICE:
    case JY_ITER_CYCLE:
    case JY_ITER_ACCUMULATE:
    case JY_ITER_TAKEWHILE:
    case JY_ITER_DROPWHILE:
    case JY_ITER_FILTERFALSE:
    case JY_ITER_STARMAP:
    case JY_ITER_PAIRWISE:
    case JY_ITER_ZIP_LONGEST:
    case JY_ITER_COMPRESS:
    case JY_ITER_BATCHED:
        break;
    }
    return no_recipe(f, v);
}
