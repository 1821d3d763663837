/* Operators: who is asked, in which order.
 *
 *     1. an array or NumPy scalar among the operands: NumPy's rules (np.h)
 *     2. sequences and dicts: concatenation, repetition, union
 *     3. constants: the real objects compute
 *     4. Python numbers: number.h
 * Everything else breaks. */
#include "frontend/ambient.h"
#include "frontend/instance.h"
#include "frontend/number.h"
#include "frontend/ops.h"

enum { MAX_REPEATED = 100000 };

static bool
is_sequence(const struct jy_value *v)
{
    return v->v_kind == JY_V_TUPLE || v->v_kind == JY_V_LIST ||
           (v->v_kind == JY_V_CONST && PyTuple_CheckExact(v->v_object));
}

static bool
is_list(const struct jy_value *v)
{
    return v->v_kind == JY_V_LIST;
}

static jy_status
concatenate(struct jy_frame *f, struct jy_value **out, struct jy_value *a, struct jy_value *b)
{
    struct jy_value **items[2], *seq = jy_value_seq(f, is_list(a) ? JY_V_LIST : JY_V_TUPLE, 0, NULL);
    size_t n[2];
    TRY(jy_value_items(f, &items[0], &n[0], a));
    TRY(jy_value_items(f, &items[1], &n[1], b));
    for (int part = 0; part < 2; part++)
        for (size_t i = 0; i < n[part]; i++)
            jy_seq_append(f, seq, items[part][i]);
    /* () + t and t + () are t itself */
    *out = is_list(a) || (n[0] != 0 && n[1] != 0) ? seq : n[0] == 0 ? b : a;
    return JY_OK;
}

static jy_status
repeat(struct jy_frame *f, struct jy_value **out, struct jy_value *a, struct jy_value *times)
{
    struct jy_value **items, *seq = jy_value_seq(f, is_list(a) ? JY_V_LIST : JY_V_TUPLE, 0, NULL);
    size_t n;
    int64_t k;
    TRY(jy_value_items(f, &items, &n, a));
    TRY(jy_value_index(f, &k, times));
    if (k > MAX_REPEATED || (k > 0 && n * (size_t)k > MAX_REPEATED))
        return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "a sequence of more than %d items", MAX_REPEATED);
    for (int64_t i = 0; i < k; i++)
        for (size_t j = 0; j < n; j++)
            jy_seq_append(f, seq, items[j]);
    *out = !is_list(a) && k == 1 ? a : seq; /* t * 1 is t itself */
    return JY_OK;
}

static jy_status
merge(struct jy_frame *f, struct jy_value *into, struct jy_value *from)
{
    for (size_t i = 0; i < from->u.seq.n; i++)
        TRY(jy_dict_set(f, into, jy_key_value(f, from->u.seq.keys[i]), from->u.seq.at[i]));
    return JY_OK;
}

static jy_status
container_inplace(struct jy_frame *f, bool *done, enum jy_nb op, struct jy_value *a, struct jy_value *b)
{
    *done = true;
    if (is_list(a) && op == JY_NB_ADD)
        return jy_list_extend(f, a, b);
    if (a->v_kind == JY_V_DICT && op == JY_NB_OR)
        return jy_dict_update(f, a, b);
    if (is_list(a) || a->v_kind == JY_V_DICT)
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "an in-place operator on %s", jy_value_describe(f, a));
    *done = false;
    return JY_OK;
}

static jy_status
container_binary(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op, struct jy_value *a,
                 struct jy_value *b)
{
    *done = true;
    if (op == JY_NB_ADD && is_sequence(a) && is_sequence(b)) {
        if (is_list(a) != is_list(b))
            return jy_break(f, JY_BREAK_RAISES, "%s + %s", jy_value_describe(f, a), jy_value_describe(f, b));
        return concatenate(f, out, a, b);
    }
    if (op == JY_NB_MULTIPLY && is_sequence(a) && !is_sequence(b))
        return repeat(f, out, a, b);
    if (op == JY_NB_MULTIPLY && is_sequence(b) && !is_sequence(a))
        return repeat(f, out, b, a);
    if (op == JY_NB_OR && a->v_kind == JY_V_DICT && b->v_kind == JY_V_DICT) {
        *out = jy_value_seq(f, JY_V_DICT, 0, NULL);
        TRY(merge(f, *out, a));
        return merge(f, *out, b);
    }
    *done = false;
    return JY_OK;
}

/* text % values; a tuple of known ones may have been made while tracing */
static jy_status
format_text(struct jy_frame *f, struct jy_value **out, bool *done, struct jy_value *text, struct jy_value *values)
{
    *done = text->v_kind == JY_V_CONST && (PyUnicode_CheckExact(text->v_object) || PyBytes_CheckExact(text->v_object));
    if (!*done)
        return JY_OK;
    PyObject *known = jy_hold(f, jy_value_as_object(f, values));
    if (known == NULL || !jy_value_is_plain(f, known))
        return jy_break(f, JY_BREAK_FORMAT, "%s in text", jy_value_describe(f, values));
    TRY(jy_check_digits(f, known));
    return jy_take(f, out, PyNumber_Remainder(text->v_object, known));
}

static bool
is_plain_const(struct jy_frame *f, const struct jy_value *v)
{
    return v->v_kind == JY_V_CONST && jy_value_is_plain(f, v->v_object);
}

jy_status
jy_binary(struct jy_frame *f, struct jy_value **out, enum jy_nb op, bool inplace, struct jy_value *a,
          struct jy_value *b)
{
    bool done = false;
    TRY(jy_value_realize(f, a));
    TRY(jy_value_realize(f, b));
    TRY(jy_instance_binary(f, out, &done, op, inplace, a, b));
    if (done)
        return JY_OK;
    TRY(jy_np_binary(f, out, &done, op, inplace, a, b));
    if (done)
        return JY_OK;
    TRY(jy_set_binary(f, out, &done, op, inplace, a, b));
    if (done)
        return JY_OK;
    if (inplace) {
        TRY(container_inplace(f, &done, op, a, b));
        *out = a;
        if (done)
            return JY_OK;
    }
    TRY(container_binary(f, out, &done, op, a, b));
    if (done)
        return JY_OK;
    if (op == JY_NB_REMAINDER)
        TRY(format_text(f, out, &done, a, b));
    if (done)
        return JY_OK;
    if (is_plain_const(f, a) && is_plain_const(f, b)) {
        TRY(jy_number_fold(f, out, op, a->v_object, b->v_object));
        jy_take_operand(out, a);
        jy_take_operand(out, b);
        return JY_OK;
    }
    if (jy_number_is(a) && jy_number_is(b))
        return jy_number_binary(f, out, op, a, b);
    return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "an operator on %s and %s", jy_value_describe(f, a),
                    jy_value_describe(f, b));
}

jy_status
jy_unary(struct jy_frame *f, struct jy_value **out, enum jy_unary op, struct jy_value *a)
{
    bool done = false;
    TRY(jy_value_realize(f, a));
    if (jy_is_instance(f, a))
        return jy_instance_unary(f, out, op, a);
    TRY(jy_np_unary(f, out, &done, op, a));
    if (done)
        return JY_OK;
    if (jy_number_is(a))
        return jy_number_unary(f, out, op, a);
    return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "an operator on %s", jy_value_describe(f, a));
}

/* ---- instructions ---- */

static void
mark_temporary(struct jy_frame *f, struct jy_value *v)
{
    v->v_temporary = jy_frame_is_temporary(f, v);
}

jy_status
op_binary_op(struct jy_frame *f, const struct jy_instr *instr)
{
    enum { INPLACE = NB_INPLACE_ADD };
    _Static_assert(JY_NB_ADD == NB_ADD && JY_NB_XOR == NB_XOR && INPLACE == NB_XOR + 1, "ORDER nb");
    struct jy_value *a = *jy_peek(f, 2), *b = *jy_peek(f, 1), *v;
    bool inplace = instr->i_arg >= INPLACE;
    int op = inplace ? instr->i_arg - INPLACE : instr->i_arg;
    if (op > NB_XOR)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "BINARY_OP %d", instr->i_arg);
    mark_temporary(f, a);
    mark_temporary(f, b);
    TRY(jy_binary(f, &v, (enum jy_nb)op, inplace, a, b));
    return jy_replace(f, 2, v);
}

static jy_status
unary(struct jy_frame *f, enum jy_unary op)
{
    struct jy_value *v;
    TRY(jy_unary(f, &v, op, *jy_peek(f, 1)));
    return jy_replace(f, 1, v);
}

jy_status
op_unary_negative(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return unary(f, JY_UNARY_NEGATIVE);
}

jy_status
op_unary_positive(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return unary(f, JY_UNARY_POSITIVE);
}

jy_status
op_unary_invert(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return unary(f, JY_UNARY_INVERT);
}
