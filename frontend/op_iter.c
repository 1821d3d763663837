/* Iteration. Nothing is consumed ahead of the program: an iterator value asks its parts when it is asked, as the real one does. Loops unroll by being
 * walked through. */
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

/* A snapshot of keys, values or items, with the dict that must keep its size beside it. */
static struct jy_value *
dict_iter(struct jy_frame *f, struct jy_value *dict, size_t what)
{
    size_t n = dict->u.seq.n;
    struct jy_value *snapshot = jy_value_seq(f, JY_V_TUPLE, n, NULL);
    for (size_t i = 0; i < n; i++) {
        struct jy_value *pair[] = { what == 1 ? NULL : jy_value_const(f, dict->u.seq.keys[i]), dict->u.seq.at[i] };
        snapshot->u.seq.at[i] = what == 0 ? pair[0] : what == 1 ? pair[1] : jy_value_seq(f, JY_V_TUPLE, 2, pair);
    }
    struct jy_value *it = sequence_iter(f, snapshot);
    it->u.iter.parts = JY_NEW(jy_frame_arena(f), struct jy_value *);
    it->u.iter.parts[0] = dict;
    it->u.iter.nparts = 1;
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
        *out = dict_iter(f, v, 0);
        return JY_OK;
    case JY_V_DICTVIEW:
        *out = dict_iter(f, v->u.iter.sequence, v->u.iter.position);
        return JY_OK;
    case JY_V_CONST: {
        struct jy_value **items;
        size_t n;
        TRY(jy_value_items(f, &items, &n, v));
        if (items == NULL)
            break;
        *out = sequence_iter(f, jy_value_seq(f, JY_V_TUPLE, n, items));
        return JY_OK;
    }
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_SCALAR:
    case JY_V_SLICE:
    case JY_V_FUNCTION:
    case JY_V_METHOD:
    case JY_V_CALLABLE:
    case JY_V_MODULE:
    case JY_V_CELL:
    case JY_V_OPAQUE:
    case JY_V_SET:
    case JY_V_HANDLED:
    case JY_V_EXCEPTION:
    case JY_V_INSTANCE:
    case JY_V_PARTIAL:
        break;
    }
    return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "%s", jy_value_describe(f, v));
}

/* ---- next ---- */

static jy_status
sequence_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value *seq = it->u.iter.sequence;
    if (it->u.iter.nparts != 0 && it->u.iter.parts[0]->u.seq.n != seq->u.seq.n)
        return jy_break(f, JY_BREAK_RAISES, "a dict that changes its size during iteration");
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
    if (it->u.iter.position == 0)
        return JY_OK;
    struct jy_value *index = jy_value_const_take(f, PyLong_FromSize_t(--it->u.iter.position));
    return index != NULL ? jy_getitem(f, out, it->u.iter.sequence, index) : JY_ERROR;
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
        if (at[i] == NULL && it->u.iter.strict)
            return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "the end of zip(strict=True)");
        if (at[i] == NULL) {
            jy_leave(f);
            return JY_OK;
        }
    }
    jy_leave(f);
    if (n != 0)
        *items = at;
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
            TRY(jy_call(f, &verdict, it->u.iter.sequence, 1, items, NULL));
        TRY(jy_value_truth(f, &keep, verdict));
        if (keep) {
            *out = items[0];
            return JY_OK;
        }
    }
}

static jy_status
generator_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_trace_state *t = f->f_trace;
    struct jy_frame *g = it->u.iter.frame;
    if (g->f_running)
        return jy_break(f, JY_BREAK_RAISES, "a generator that asks itself");
    g->f_back = f;
    t->depth++;
    TRY(jy_interp_run(g));
    t->depth--;
    *out = g->f_yield;
    return JY_OK;
}

jy_status
jy_iter_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it)
{
    struct jy_value **items;
    *out = NULL;
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
            TRY(jy_call(f, out, it->u.iter.sequence, it->u.iter.nparts, items, NULL));
        return JY_OK;
    case JY_ITER_FILTER:
        return filter_next(f, out, it);
    case JY_ITER_GENERATOR:
        TRY(generator_next(f, out, it));
        break;
    }
    it->u.iter.exhausted = *out == NULL;
    return JY_OK;
}

jy_status
jy_iter_collect(struct jy_frame *f, struct jy_value **out, enum jy_value_kind kind, struct jy_value *v)
{
    struct jy_value *it, *item;
    TRY(jy_iter(f, &it, v));
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

/* At the end the iterator goes, or stays below a placeholder for END_FOR, as the version's table says. */
jy_status
op_for_iter(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value *it = *jy_peek(f, 1), *item;
    if (it->v_kind != JY_V_ITER)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "FOR_ITER over %s", jy_value_describe(f, it));
    TRY(jy_iter_next(f, &item, it));
    if (item != NULL)
        return jy_push(f, item);
    f->f_next = jy_code_live(f->f_instrs, instr->i_target);
    if (jy_instr_pushes(instr->i_op, instr->i_arg, true) == 0)
        jy_pop(f);
    else
        jy_push(f, jy_value_new(f, JY_V_NULL));
    return JY_OK;
}
