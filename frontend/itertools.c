/* The module itertools, a row each. What an iterator keeps, beside the iterators `parts` that it asks:
 *
 *     count         `sequence` the next number, part 0 the step             repeat       `sequence`; `position` how often still, or `strict`: for ever
 *     chain         part 0 gives iterables, part 1 the present one          islice       numbers: next, stop (-1: none), step; `position` items were taken
 *     cycle         `sequence` the saved items, `what` 1: only these        accumulate   `sequence` the function, part 1 the total, part 2 the initial value
 *     takewhile, dropwhile, filterfalse, starmap   `sequence` the function  pairwise     part 1 the last item
 *     zip_longest   `sequence` the fill value, `position` parts are left    batched      numbers: size
 *
 * Products, permutations and combinations only arrange known items, so they are arranged at once. An iterator that has come to its end answers so from then on. */
#include "frontend/call_builtin.h"
#include "frontend/exception.h"

#include <string.h>

enum { MAX_ARRANGED = 20000, MAX_POOLS = 32 };

/* ---- next ---- */

static jy_status
count_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    *out = it->u.iter.sequence;
    return jy_binary(f, &it->u.iter.sequence, JY_NB_ADD, false, it->u.iter.sequence, it->u.iter.parts[0]);
}

static jy_status
repeat_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    (void)f;
    if (!it->u.iter.strict && it->u.iter.position == 0)
        return JY_OK;
    it->u.iter.position -= !it->u.iter.strict;
    *out = it->u.iter.sequence;
    return JY_OK;
}

static jy_status
chain_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *iterable;
    for (;;) {
        if (it->u.iter.parts[1] == NULL) {
            TRY(jy_iter_next(f, &iterable, it->u.iter.parts[0]));
            if (iterable == NULL)
                return JY_OK;
            TRY(jy_iter(f, &it->u.iter.parts[1], iterable));
        }
        TRY(jy_iter_next(f, out, it->u.iter.parts[1]));
        if (*out != NULL)
            return JY_OK;
        it->u.iter.parts[1] = NULL;
    }
}

static jy_status
islice_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    int64_t *next = &it->u.iter.numbers[0], stop = it->u.iter.numbers[1], step = it->u.iter.numbers[2];
    struct jy_value *item;
    while ((int64_t)it->u.iter.position < *next) {
        TRY(jy_iter_next(f, &item, it->u.iter.parts[0]));
        if (item == NULL)
            return JY_OK;
        it->u.iter.position++;
    }
    if (stop != -1 && (int64_t)it->u.iter.position >= stop)
        return JY_OK;
    TRY(jy_iter_next(f, out, it->u.iter.parts[0]));
    if (*out == NULL)
        return JY_OK;
    it->u.iter.position++;
    *next = *next > INT64_MAX - step || (stop != -1 && *next + step > stop) ? stop : *next + step;
    return JY_OK;
}

static jy_status
cycle_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *saved = it->u.iter.sequence;
    if (it->u.iter.what == 0) {
        TRY(jy_iter_next(f, out, it->u.iter.parts[0]));
        if (*out != NULL) {
            jy_seq_append(f, saved, *out);
            return JY_OK;
        }
        it->u.iter.what = 1;
    }
    if (saved->u.seq.n == 0)
        return JY_OK;
    *out = saved->u.seq.at[it->u.iter.position];
    it->u.iter.position = (it->u.iter.position + 1) % saved->u.seq.n;
    return JY_OK;
}

static jy_status
accumulate_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value **total = &it->u.iter.parts[1], **initial = &it->u.iter.parts[2], *item;
    if (*initial != NULL) {
        *out = *total = *initial;
        *initial = NULL;
        return JY_OK;
    }
    TRY(jy_iter_next(f, &item, it->u.iter.parts[0]));
    if (item == NULL)
        return JY_OK;
    struct jy_value *pair[] = { *total, item };
    if (*total == NULL) {
        *total = item;
    } else if (it->u.iter.sequence != NULL) {
        TRY(jy_iter_ask(f, total, it->u.iter.sequence, 2, pair));
    } else {
        pair[0]->v_temporary = false; /* the iterator holds it */
        jy_builtin_mark_temporary(f, item);
        TRY(jy_binary(f, total, JY_NB_ADD, false, pair[0], item));
    }
    *out = *total;
    return JY_OK;
}

static jy_status
verdict(struct jy_frame *f, bool *out, struct jy_value *it, struct jy_value *item)
{
    struct jy_value *v = item;
    if (!jy_value_is_none(it->u.iter.sequence))
        TRY(jy_iter_ask(f, &v, it->u.iter.sequence, 1, &item));
    return jy_value_truth(f, out, v);
}

static jy_status
takewhile_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *item;
    bool good;
    TRY(jy_iter_next(f, &item, it->u.iter.parts[0]));
    if (item == NULL)
        return JY_OK;
    TRY(verdict(f, &good, it, item));
    *out = good ? item : NULL;
    return JY_OK;
}

/* dropwhile: as long as nothing has been given; filterfalse: always. */
static jy_status
dropwhile_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *item;
    for (;;) {
        bool drop = false;
        TRY(jy_iter_next(f, &item, it->u.iter.parts[0]));
        if (item == NULL)
            return JY_OK;
        if (it->u.iter.what == 0)
            TRY(verdict(f, &drop, it, item));
        if (drop)
            continue;
        it->u.iter.what = it->u.iter.how == JY_ITER_DROPWHILE;
        *out = item;
        return JY_OK;
    }
}

static jy_status
starmap_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *item, *all;
    TRY(jy_iter_next(f, &item, it->u.iter.parts[0]));
    if (item == NULL)
        return JY_OK;
    TRY(jy_iter_collect(f, &all, JY_V_TUPLE, item));
    return jy_iter_ask(f, out, it->u.iter.sequence, all->u.seq.n, all->u.seq.at);
}

static jy_status
pairwise_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *pair[2] = { it->u.iter.parts[1], NULL };
    for (size_t i = pair[0] == NULL ? 0 : 1; i < 2; i++) {
        TRY(jy_iter_next(f, &pair[i], it->u.iter.parts[0]));
        if (pair[i] == NULL)
            return JY_OK;
    }
    it->u.iter.parts[1] = pair[1];
    *out = jy_value_seq(f, JY_V_TUPLE, 2, pair);
    return JY_OK;
}

static jy_status
zip_longest_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *items = jy_value_seq(f, JY_V_TUPLE, it->u.iter.nparts, NULL);
    if (it->u.iter.position == 0)
        return JY_OK;
    for (size_t i = 0; i < it->u.iter.nparts; i++) {
        struct jy_value **item = &items->u.seq.at[i];
        *item = it->u.iter.sequence;
        if (it->u.iter.parts[i] == NULL)
            continue;
        TRY(jy_iter_next(f, item, it->u.iter.parts[i]));
        if (*item != NULL)
            continue;
        it->u.iter.parts[i] = NULL;
        *item = it->u.iter.sequence;
        if (--it->u.iter.position == 0)
            return JY_OK;
    }
    *out = items;
    return JY_OK;
}

static jy_status
compress_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *pair[2];
    bool keep = false;
    while (!keep) {
        for (size_t i = 0; i < 2; i++) {
            TRY(jy_iter_next(f, &pair[i], it->u.iter.parts[i]));
            if (pair[i] == NULL)
                return JY_OK;
        }
        TRY(jy_value_truth(f, &keep, pair[1]));
    }
    *out = pair[0];
    return JY_OK;
}

static jy_status
batched_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *batch = jy_value_seq(f, JY_V_TUPLE, 0, NULL), *item = NULL;
    for (int64_t i = 0; i < it->u.iter.numbers[0]; i++) {
        TRY(jy_iter_next(f, &item, it->u.iter.parts[0]));
        if (item == NULL)
            break;
        jy_seq_append(f, batch, item);
    }
    if (item == NULL && batch->u.seq.n != 0 && it->u.iter.strict)
        return jy_raises(f, PyExc_ValueError, "batched(): incomplete batch");
    *out = batch->u.seq.n != 0 ? batch : NULL;
    return JY_OK;
}

jy_status
jy_itertools_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    static jy_status (*const table[])(struct jy_frame *, struct jy_value **, struct jy_value *) = {
        [JY_ITER_COUNT] = count_next,           [JY_ITER_REPEAT] = repeat_next,
        [JY_ITER_CHAIN] = chain_next,           [JY_ITER_ISLICE] = islice_next,
        [JY_ITER_CYCLE] = cycle_next,           [JY_ITER_ACCUMULATE] = accumulate_next,
        [JY_ITER_TAKEWHILE] = takewhile_next,   [JY_ITER_DROPWHILE] = dropwhile_next,
        [JY_ITER_FILTERFALSE] = dropwhile_next, [JY_ITER_STARMAP] = starmap_next,
        [JY_ITER_PAIRWISE] = pairwise_next,     [JY_ITER_ZIP_LONGEST] = zip_longest_next,
        [JY_ITER_COMPRESS] = compress_next,     [JY_ITER_BATCHED] = batched_next,
    };
    TRY(table[it->u.iter.how](f, out, it));
    it->u.iter.exhausted = *out == NULL && it->u.iter.how != JY_ITER_ACCUMULATE && it->u.iter.how != JY_ITER_STARMAP &&
                           it->u.iter.how != JY_ITER_COMPRESS && it->u.iter.how != JY_ITER_DROPWHILE &&
                           it->u.iter.how != JY_ITER_FILTERFALSE; /* these ask again */
    return JY_OK;
}

/* ---- making them ---- */

static bool
is_number(const struct jy_value *v)
{
    return v->v_kind == JY_V_SCALAR ||
           (v->v_kind == JY_V_CONST && (PyLong_Check(v->v_object) || PyFloat_CheckExact(v->v_object)));
}

static jy_status
make_count(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    struct jy_value *start = n > 0 ? args[0] : jy_value_const_take(f, PyLong_FromLong(0)),
                    *step = n > 1 ? args[1] : jy_value_const_take(f, PyLong_FromLong(1));
    if (start == NULL || step == NULL)
        return JY_ERROR;
    if (!is_number(start) || !is_number(step))
        return jy_builtin_unknown(f, "count", start);
    TRY(jy_iter_new(f, out, JY_ITER_COUNT, 0, NULL));
    (*out)->u.iter.sequence = start;
    (*out)->u.iter.parts[0] = step;
    (*out)->u.iter.nparts = 1;
    return JY_OK;
}

static jy_status
make_repeat(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    bool bad = false;
    struct jy_value *times = jy_builtin_keyword(&bad, "times", n, args, kwnames);
    int64_t k = 0;
    times = n == 2 ? args[1] : times;
    if (bad || n == 0)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords of repeat()");
    if (times != NULL)
        TRY(jy_value_index(f, &k, times));
    TRY(jy_iter_new(f, out, JY_ITER_REPEAT, 0, NULL));
    (*out)->u.iter.sequence = args[0];
    (*out)->u.iter.position = k < 0 ? 0 : (size_t)k;
    (*out)->u.iter.strict = times == NULL;
    return JY_OK;
}

static jy_status
make_from_iterable(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    TRY(jy_iter_new(f, out, JY_ITER_CHAIN, n, args));
    (*out)->u.iter.nparts = 2;
    return JY_OK;
}

static jy_status
make_chain(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *all = jy_value_seq(f, JY_V_TUPLE, n, args);
    return make_from_iterable(f, out, 1, &all, kwnames);
}

static jy_status
make_islice(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    int64_t numbers[] = { 0, -1, 1 };
    for (size_t i = 1; i < n; i++) {
        size_t at = n == 2 ? 1 : i - 1;
        if (jy_value_is_none(args[i]))
            continue;
        TRY(jy_value_index(f, &numbers[at], args[i]));
        if (numbers[at] < (at == 2))
            return jy_break(f, JY_BREAK_RAISES, "islice() with %s", jy_value_describe(f, args[i]));
    }
    TRY(jy_iter_new(f, out, JY_ITER_ISLICE, 1, args));
    (*out)->u.iter.numbers = jy_arena_copy(jy_frame_arena(f), numbers, sizeof numbers);
    return JY_OK;
}

static jy_status
make_cycle(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    TRY(jy_iter_new(f, out, JY_ITER_CYCLE, n, args));
    (*out)->u.iter.sequence = jy_value_seq(f, JY_V_LIST, 0, NULL);
    return JY_OK;
}

static jy_status
make_accumulate(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *function = n == 2 ? args[1] : NULL, *initial = NULL;
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        struct jy_value *v = args[n + (size_t)i];
        TRY(jy_value_realize(f, v));
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), "initial") == 0)
            initial = jy_value_is_none(v) ? NULL : v;
        else if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), "func") == 0)
            function = v;
        else
            return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords of accumulate()");
    }
    TRY(jy_iter_new(f, out, JY_ITER_ACCUMULATE, 1, args));
    (*out)->u.iter.sequence = function != NULL && jy_value_is_none(function) ? NULL : function;
    (*out)->u.iter.parts[2] = initial;
    (*out)->u.iter.nparts = 3;
    return JY_OK;
}

/* kind(function, iterable) */
static jy_status
make_with_function(struct jy_frame *f, struct jy_value **out, enum jy_iter_how how, struct jy_value *const *args)
{
    TRY(jy_iter_new(f, out, how, 1, args + 1));
    (*out)->u.iter.sequence = args[0];
    return JY_OK;
}

static jy_status
make_takewhile(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return make_with_function(f, out, JY_ITER_TAKEWHILE, args);
}

static jy_status
make_dropwhile(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return make_with_function(f, out, JY_ITER_DROPWHILE, args);
}

static jy_status
make_filterfalse(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return make_with_function(f, out, JY_ITER_FILTERFALSE, args);
}

static jy_status
make_starmap(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    return make_with_function(f, out, JY_ITER_STARMAP, args);
}

static jy_status
make_pairwise(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    TRY(jy_iter_new(f, out, JY_ITER_PAIRWISE, n, args));
    (*out)->u.iter.nparts = 2;
    return JY_OK;
}

static jy_status
make_compress(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    return jy_iter_new(f, out, JY_ITER_COMPRESS, n, args);
}

static jy_status
make_zip_longest(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    bool bad = false;
    struct jy_value *fill = jy_builtin_keyword(&bad, "fillvalue", n, args, kwnames);
    if (bad)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords of zip_longest()");
    TRY(jy_iter_new(f, out, JY_ITER_ZIP_LONGEST, n, args));
    (*out)->u.iter.sequence = fill != NULL ? fill : jy_value_const(f, Py_None);
    (*out)->u.iter.position = n;
    return JY_OK;
}

static jy_status
make_batched(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    bool bad = false, strict = false;
    struct jy_value *v = jy_builtin_keyword(&bad, "strict", n, args, kwnames);
    int64_t size;
    if (v != NULL)
        TRY(jy_value_truth(f, &strict, v));
    TRY(jy_value_index(f, &size, args[1]));
    if (bad || size < 1)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "batched() with %s", jy_value_describe(f, args[1]));
    TRY(jy_iter_new(f, out, JY_ITER_BATCHED, 1, args));
    (*out)->u.iter.numbers = jy_arena_copy(jy_frame_arena(f), &size, sizeof size);
    (*out)->u.iter.strict = strict;
    return JY_OK;
}

/* ---- arrangements ---- */

/* CPython's own class arranges numbers, which then stand for the items of the pools: in one pool for all places, or in one for each. */
static jy_status
arrange(struct jy_frame *f, struct jy_value **out, PyObject *callable, PyObject *pools, PyObject *keywords,
        struct jy_value *const *items, size_t npools)
{
    PyObject *iterator = jy_hold(f, PyObject_Call(callable, pools, keywords)), *numbers;
    if (iterator == NULL)
        return jy_raise_from_exception(f);
    struct jy_value *all = jy_value_seq(f, JY_V_TUPLE, 0, NULL);
    while ((numbers = jy_hold(f, PyIter_Next(iterator))) != NULL) {
        size_t n = (size_t)PyTuple_GET_SIZE(numbers);
        struct jy_value *row = jy_value_seq(f, JY_V_TUPLE, n, NULL);
        for (size_t i = 0; i < n; i++)
            row->u.seq.at[i] = items[npools == 1 ? 0 : i]->u.seq.at[PyLong_AsSsize_t(PyTuple_GET_ITEM(numbers, i))];
        if (all->u.seq.n >= MAX_ARRANGED)
            return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "more than %d arrangements", MAX_ARRANGED);
        jy_seq_append(f, all, row);
    }
    if (PyErr_Occurred())
        return JY_ERROR;
    TRY(jy_iter(f, out, all));
    (*out)->u.iter.strict = true; /* no recipe: it is no iterator of a tuple */
    return JY_OK;
}

static PyObject *
numbers_of(struct jy_frame *f, const struct jy_value *pool)
{
    PyObject *n = jy_hold(f, PyLong_FromSize_t(pool->u.seq.n));
    return n != NULL ? PyObject_CallOneArg((PyObject *)&PyRange_Type, n) : NULL;
}

static jy_status
arrange_product(struct jy_frame *f, struct jy_value **out, PyObject *callable, size_t n, struct jy_value *const *args,
                PyObject *kwnames)
{
    bool bad = false;
    struct jy_value *repeat = jy_builtin_keyword(&bad, "repeat", n, args, kwnames), *items[MAX_POOLS];
    int64_t times = 1;
    if (repeat != NULL)
        TRY(jy_value_index(f, &times, repeat));
    if (bad || times < 0 || n * (size_t)times > MAX_POOLS)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "product() of many");
    size_t npools = n * (size_t)times;
    PyObject *pools = jy_hold(f, PyTuple_New((Py_ssize_t)npools));
    if (pools == NULL)
        return JY_ERROR;
    for (size_t i = 0; i < npools; i++) {
        if (i < n)
            TRY(jy_iter_collect(f, &items[i], JY_V_TUPLE, args[i]));
        items[i] = items[i % n];
        PyObject *numbers = numbers_of(f, items[i]);
        if (numbers == NULL)
            return JY_ERROR;
        PyTuple_SET_ITEM(pools, i, numbers);
    }
    return arrange(f, out, callable, pools, NULL, items, npools == 1 ? 1 : npools);
}

/* permutations and combinations of one pool */
static jy_status
arrange_pool(struct jy_frame *f, struct jy_value **out, PyObject *callable, size_t n, struct jy_value *const *args,
             PyObject *kwnames)
{
    bool bad = false;
    struct jy_value *length = jy_builtin_keyword(&bad, "r", n, args, kwnames), *items;
    PyObject *r = NULL;
    length = n == 2 ? args[1] : length;
    if (length != NULL)
        TRY(jy_value_realize(f, length));
    if (bad || n == 0)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords of %s", ((PyTypeObject *)callable)->tp_name);
    if (length != NULL && !jy_value_is_none(length)) {
        int64_t k;
        TRY(jy_value_index(f, &k, length));
        r = jy_hold(f, PyLong_FromLongLong(k));
    }
    TRY(jy_iter_collect(f, &items, JY_V_TUPLE, args[0]));
    PyObject *numbers = jy_hold(f, numbers_of(f, items));
    PyObject *pools =
        numbers == NULL ? NULL : jy_hold(f, r != NULL ? PyTuple_Pack(2, numbers, r) : PyTuple_Pack(1, numbers));
    return pools != NULL ? arrange(f, out, callable, pools, NULL, &items, 1) : JY_ERROR;
}

/* ---- the table ---- */

static const struct row {
    const char *name;
    jy_builtin *make;
    uint8_t least, most;
    bool keywords;
} rows[] = {
    { "accumulate", make_accumulate, 1, 2, true }, { "batched", make_batched, 2, 2, true },
    { "chain", make_chain, 0, 255, false },        { "compress", make_compress, 2, 2, false },
    { "count", make_count, 0, 2, false },          { "cycle", make_cycle, 1, 1, false },
    { "dropwhile", make_dropwhile, 2, 2, false },  { "filterfalse", make_filterfalse, 2, 2, false },
    { "islice", make_islice, 2, 4, false },        { "pairwise", make_pairwise, 1, 1, false },
    { "repeat", make_repeat, 1, 2, true },         { "starmap", make_starmap, 2, 2, false },
    { "takewhile", make_takewhile, 2, 2, false },  { "zip_longest", make_zip_longest, 0, 255, true },
};

/* The module's own object of that name? A class of the program's may call itself anything. */
static bool
is_of_itertools(struct jy_frame *f, PyObject *callable, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_FromString("itertools"));
    PyObject *module = text != NULL ? jy_hold(f, PyImport_GetModule(text)) : NULL;
    PyObject *object = module != NULL ? jy_hold(f, PyObject_GetAttrString(module, name)) : NULL;
    PyErr_Clear();
    return object == callable;
}

static jy_status
call_row(struct jy_frame *f, struct jy_value **out, const struct row *row, size_t n, struct jy_value *const *args,
         PyObject *kwnames)
{
    bool keywords = kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0;
    if (n < row->least || n > row->most || (keywords && !row->keywords))
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu arguments for %s", n, row->name);
    return row->make(f, out, n, args, kwnames);
}

jy_status
jy_itertools_call(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    *handled = false;
    if (PyCFunction_Check(callable) && strcmp(((PyCFunctionObject *)callable)->m_ml->ml_name, "from_iterable") == 0) {
        PyObject *self = PyCFunction_GET_SELF(callable);
        *handled = nargs == 1 && kwnames == NULL && self != NULL && is_of_itertools(f, self, "chain");
        return *handled ? make_from_iterable(f, out, nargs, args, kwnames) : JY_OK;
    }
    const char *name = PyType_Check(callable) ? ((PyTypeObject *)callable)->tp_name : "";
    if (strncmp(name, "itertools.", 10) != 0 || !is_of_itertools(f, callable, name + 10))
        return JY_OK;
    for (size_t i = 0; i < nargs; i++)
        TRY(jy_value_realize(f, args[i]));
    *handled = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name + 10) == 0)
            return call_row(f, out, &rows[i], nargs, args, kwnames);
    if (strcmp(name, "itertools.product") == 0)
        return arrange_product(f, out, callable, nargs, args, kwnames);
    if (strcmp(name, "itertools.permutations") == 0 || strncmp(name, "itertools.combinations", 22) == 0)
        return arrange_pool(f, out, callable, nargs, args, kwnames);
    *handled = false;
    return JY_OK;
}
