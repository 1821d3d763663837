/* Iteration. Nothing is consumed ahead of the program: an iterator value asks its parts when it is asked, as the real one does. Loops unroll by being
 * walked through. */
#include "frontend/cpython/layout.h"
#include "frontend/instance.h"
#include "frontend/generator.h"
#include "frontend/exception.h"
#include "frontend/ops.h"

enum { MAX_COLLECT = 100000 };

static struct jy_value *
sequence_iter(struct jy_frame *f, struct jy_value *sequence)
{
    struct jy_value *it = jy_value_new(f, JY_V_ITER);
    it->u.iter.how = JY_ITER_SEQUENCE;
    it->u.iter.sequence = sequence;
    return it;
}

struct jy_value *
jy_dict_iter(struct jy_frame *f, struct jy_value *dict, size_t what, bool backwards)
{
    struct jy_value *it = sequence_iter(f, dict);
    it->u.iter.how = JY_ITER_DICT;
    it->u.iter.what = (uint8_t)what;
    it->u.iter.backwards = backwards;
    it->u.iter.numbers = JY_NEW_ARRAY(jy_frame_arena(f), int64_t, 2);
    it->u.iter.numbers[0] = (int64_t)dict->u.seq.n;
    it->u.iter.numbers[1] = dict->u.seq.removals;
    return it;
}

jy_status
jy_iter(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_ITER:
        *out = v;
        return JY_OK;
    case JY_V_TUPLE:
    case JY_V_LIST:
    case JY_V_RANGE:
        *out = sequence_iter(f, v);
        return JY_OK;
    case JY_V_ARRAY: {
        struct jy_value *length;
        TRY(jy_np_length(f, &length, v));
        *out = sequence_iter(f, v);
        return JY_OK;
    }
    case JY_V_DICT:
        *out = jy_dict_iter(f, v, 0, false);
        return JY_OK;
    case JY_V_DICTVIEW:
        *out = jy_dict_iter(f, v->u.iter.sequence, v->u.iter.position, false);
        return JY_OK;
    case JY_V_SET: {
        struct jy_value *items;
        TRY(jy_set_items(f, &items, v));
        *out = sequence_iter(f, items);
        (*out)->u.iter.origin = v;
        return JY_OK;
    }
    case JY_V_CONST: {
        struct jy_value **items;
        size_t n;
        TRY(jy_value_items(f, &items, &n, v));
        if (items == NULL)
            break;
        *out = sequence_iter(f, jy_value_seq(f, JY_V_TUPLE, n, items));
        (*out)->u.iter.origin = v;
        return JY_OK;
    }
    case JY_V_CALLABLE:
        TRY(jy_metaclass_call(f, out, v, "__iter__", 0, NULL));
        if (*out == NULL)
            break;
        TRY(jy_value_realize(f, *out));
        if ((*out)->v_kind == JY_V_ITER)
            return JY_OK;
        break;
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_SCALAR:
    case JY_V_SLICE:
    case JY_V_FUNCTION:
    case JY_V_METHOD:
    case JY_V_MODULE:
    case JY_V_CELL:
    case JY_V_HANDLED:
    case JY_V_EXCEPTION:
    case JY_V_PARTIAL:
        break;
    case JY_V_OPAQUE:
    case JY_V_INSTANCE:
        if (jy_is_instance(f, v))
            return jy_instance_iter(f, out, v);
        break;
    }
    return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "%s", jy_value_describe(f, v));
}

/* ---- next ---- */

static jy_status
dict_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *dict = it->u.iter.sequence;
    size_t at = it->u.iter.position;
    if ((int64_t)dict->u.seq.n != it->u.iter.numbers[0]) {
        it->u.iter.numbers[0] = -1; /* for good */
        return jy_raises(f, PyExc_RuntimeError, "dictionary changed size during iteration");
    }
    if (at >= dict->u.seq.n)
        return JY_OK;
    if (dict->u.seq.removals != it->u.iter.numbers[1])
        return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "a dict that loses and gets keys");
    at = it->u.iter.backwards ? dict->u.seq.n - 1 - at : at;
    struct jy_value *pair[] = { it->u.iter.what == 1 ? NULL : jy_key_value(f, dict->u.seq.keys[at]),
                                dict->u.seq.at[at] };
    *out = it->u.iter.what == 2 ? jy_value_seq(f, JY_V_TUPLE, 2, pair) : pair[it->u.iter.what];
    it->u.iter.position++;
    return JY_OK;
}

static jy_status
sequence_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *seq = it->u.iter.sequence, *origin = it->u.iter.origin;
    if (origin != NULL && origin->v_kind == JY_V_SET && (size_t)PySet_GET_SIZE(origin->u.set.mirror) != seq->u.seq.n)
        return jy_raises(f, PyExc_RuntimeError, "Set changed size during iteration");
    if (seq->v_kind == JY_V_TUPLE || seq->v_kind == JY_V_LIST) {
        if (it->u.iter.position < seq->u.seq.n)
            *out = seq->u.seq.at[it->u.iter.position++];
        return JY_OK;
    }
    int64_t n;
    struct jy_value *length;
    TRY(jy_length(f, &length, seq));
    TRY(jy_value_index(f, &n, length));
    if ((int64_t)it->u.iter.position >= n)
        return JY_OK;
    struct jy_value *index = jy_value_const_take(f, PyLong_FromSize_t(it->u.iter.position));
    if (index == NULL)
        return JY_ERROR;
    it->u.iter.position++;
    return jy_getitem(f, out, seq, index);
}

static jy_status
reversed_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    const struct jy_value *seq = it->u.iter.sequence;
    if (it->u.iter.position == 0 || (seq->v_kind == JY_V_LIST && it->u.iter.position > seq->u.seq.n))
        return JY_OK;
    struct jy_value *index = jy_value_const_take(f, PyLong_FromSize_t(--it->u.iter.position));
    return index != NULL ? jy_getitem(f, out, it->u.iter.sequence, index) : JY_ERROR;
}

/* zip(strict=True) whose part `short` has ended before part 0, or part `rest` after it. */
static jy_status
zip_is_uneven(struct jy_frame *f, size_t part, const char *how)
{
    return jy_raises(f, PyExc_ValueError, "zip() argument %zu is %s than argument%s%zu", part + 1, how,
                     part == 1 ? " " : "s 1-", part);
}

static jy_status
check_strict(struct jy_frame *f, size_t ended, const struct jy_value *it)
{
    struct jy_value *item;
    if (ended != 0)
        return zip_is_uneven(f, ended, "shorter");
    for (size_t i = 1; i < it->u.iter.nparts; i++) {
        TRY(jy_iter_next(f, &item, it->u.iter.parts[i]));
        if (item != NULL)
            return zip_is_uneven(f, i, "longer");
    }
    return JY_OK;
}

/* The next of every part; *items NULL when one of them has none. */
static jy_status
parts_next(struct jy_frame *f, struct jy_value ***items, struct jy_value *it)
{
    size_t n = it->u.iter.nparts;
    struct jy_value **at = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, n + 1);
    *items = NULL;
    TRY(jy_enter(f));
    for (size_t i = 0; i < n; i++) {
        TRY(jy_iter_next(f, &at[i], it->u.iter.parts[i]));
        if (at[i] == NULL) {
            if (it->u.iter.strict)
                TRY(check_strict(f, i, it));
            jy_leave(f);
            return JY_OK;
        }
    }
    jy_leave(f);
    if (n != 0)
        *items = at;
    return JY_OK;
}

/* The function of map() or filter(). A StopIteration out of it would end the iteration of whoever asks. */
jy_status
jy_iter_ask(struct jy_frame *f, struct jy_value **out, struct jy_value *function, size_t n,
            struct jy_value *const *args)
{
    jy_status status = jy_call(f, out, function, n, args, NULL);
    if (status == JY_BREAK && jy_is_raised(f, PyExc_StopIteration))
        return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "a StopIteration out of a function");
    return status;
}

static jy_status
callable_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *v;
    bool ends;
    TRY(jy_iter_ask(f, &v, it->u.iter.sequence, 0, NULL));
    TRY(jy_is_equal(f, &ends, it->u.iter.parts[0], v));
    *out = ends ? NULL : v;
    return JY_OK;
}

static jy_status
filter_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value **items, *verdict;
    for (;;) {
        bool keep;
        TRY(parts_next(f, &items, it));
        if (items == NULL)
            return JY_OK;
        verdict = items[0];
        if (!jy_value_is_none(it->u.iter.sequence))
            TRY(jy_iter_ask(f, &verdict, it->u.iter.sequence, 1, items));
        TRY(jy_value_truth(f, &keep, verdict));
        if (keep) {
            *out = items[0];
            return JY_OK;
        }
    }
}

jy_status
jy_iter_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value **items;
    *out = NULL;
    if (it->v_kind == JY_V_INSTANCE)
        return jy_instance_next(f, out, it);
    if (it->u.iter.exhausted)
        return JY_OK;
    switch ((enum jy_iter_how)it->u.iter.how) {
    case JY_ITER_SEQUENCE:
        TRY(sequence_next(f, out, it));
        break;
    case JY_ITER_REVERSED:
        TRY(reversed_next(f, out, it));
        break;
    case JY_ITER_ZIP:
        TRY(parts_next(f, &items, it));
        if (items != NULL)
            *out = jy_value_seq(f, JY_V_TUPLE, it->u.iter.nparts, items);
        return JY_OK; /* asks its parts again, as zip does */
    case JY_ITER_ENUMERATE:
        TRY(parts_next(f, &items, it));
        if (items != NULL) {
            struct jy_value *pair[] = { jy_value_const_take(f, PyLong_FromSsize_t((Py_ssize_t)it->u.iter.position++)),
                                        items[0] };
            if (pair[0] == NULL)
                return JY_ERROR;
            *out = jy_value_seq(f, JY_V_TUPLE, 2, pair);
        }
        return JY_OK;
    case JY_ITER_MAP:
        TRY(parts_next(f, &items, it));
        if (items != NULL)
            TRY(jy_iter_ask(f, out, it->u.iter.sequence, it->u.iter.nparts, items));
        return JY_OK;
    case JY_ITER_FILTER:
        return filter_next(f, out, it);
    case JY_ITER_GENERATOR:
        TRY(jy_generator_next(f, out, it));
        break;
    case JY_ITER_DICT:
        TRY(dict_next(f, out, it));
        break;
    case JY_ITER_CALLABLE:
        TRY(callable_next(f, out, it));
        break;
    case JY_ITER_DEQUE:
        return jy_over_next(f, out, it); /* minds changes behind its end, too */
    case JY_ITER_GETITEM:
        TRY(jy_instance_next_item(f, out, it));
        break;
    case JY_ITER_ACCUMULATE:
    case JY_ITER_BATCHED:
    case JY_ITER_CHAIN:
    case JY_ITER_COMPRESS:
    case JY_ITER_COUNT:
    case JY_ITER_CYCLE:
    case JY_ITER_DROPWHILE:
    case JY_ITER_FILTERFALSE:
    case JY_ITER_ISLICE:
    case JY_ITER_PAIRWISE:
    case JY_ITER_REPEAT:
    case JY_ITER_STARMAP:
    case JY_ITER_TAKEWHILE:
    case JY_ITER_ZIP_LONGEST:
        TRY(jy_enter(f));
        TRY(jy_itertools_next(f, out, it));
        jy_leave(f);
        return JY_OK;
    }
    it->u.iter.exhausted = *out == NULL;
    return JY_OK;
}

jy_status
jy_iter_collect(struct jy_frame *f, struct jy_value **out, enum jy_value_kind kind, struct jy_value *v)
{
    struct jy_value *it, *item;
    TRY(jy_iter(f, &it, v));
    if (v->v_kind == JY_V_INSTANCE)
        TRY(jy_instance_ask_hint(f, v));
    if (v->v_kind == JY_V_ITER && v->u.iter.how == JY_ITER_GETITEM && !v->u.iter.exhausted)
        TRY(jy_instance_check_hint(f, v->u.iter.sequence));
    struct jy_value *seq = jy_value_seq(f, kind, 0, NULL);
    for (;;) {
        TRY(jy_iter_next(f, &item, it));
        if (item == NULL)
            break;
        if (seq->u.seq.n >= MAX_COLLECT)
            return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "more than %d items", MAX_COLLECT);
        jy_seq_append(f, seq, item);
    }
    *out = seq;
    return JY_OK;
}

/* ---- instructions ---- */

jy_status
op_get_iter(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *it;
    TRY(jy_iter(f, &it, *jy_peek(f, 1)));
    return jy_replace(f, 1, it);
}

/* At the end the iterator goes, and the program goes on behind the END_FOR, at which nothing can stop: no frame is ever there. */
jy_status
op_for_iter(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *it = *jy_peek(f, 1), *item;
    if (it->v_kind == JY_V_LAZY)
        return jy_break(f, JY_BREAK_LOOP_UNDER_WAY, "a %s", Py_TYPE(it->v_object)->tp_name);
    if (it->v_kind != JY_V_ITER && it->v_kind != JY_V_INSTANCE)
        return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "%s", jy_value_describe(f, it));
    TRY(jy_iter_next(f, &item, it));
    if (item != NULL)
        return jy_push(f, item);
    jy_pop(f);
    f->f_next = jy_layout_exit_of_loop(f->f_instrs, f->f_pc);
    return JY_OK;
}
