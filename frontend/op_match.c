/* The instructions of match statements. A pattern asks an object for its type, its length and its items; what is known of a value answers that. */
#include "frontend/exception.h"
#include "frontend/ops.h"

/* Sequence and Mapping patterns ask for a flag of the type. Registering a class of the program's with the ABC may set it later. */
static jy_status
push_flag(struct jy_frame *f, unsigned long flag)
{
    PyTypeObject *type;
    struct jy_value *v = *jy_peek(f, 1);
    TRY(jy_value_type(f, &type, v));
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) && v->v_source == JY_NO_SOURCE)
        return jy_break(f, JY_BREAK_MATCH, "a new %s", jy_value_describe(f, v));
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        jy_guard_flags(f, v->v_source, (int64_t)flag, (int64_t)(type->tp_flags & flag));
    return jy_push(f, jy_value_const(f, type->tp_flags & flag ? Py_True : Py_False));
}

jy_status
op_match_sequence(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return push_flag(f, Py_TPFLAGS_SEQUENCE);
}

jy_status
op_match_mapping(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    return push_flag(f, Py_TPFLAGS_MAPPING);
}

/* The values of all the keys, or None. */
jy_status
op_match_keys(struct jy_frame *f, const struct jy_instr *instr)
{
    (void)instr;
    struct jy_value *map = *jy_peek(f, 2), **keys, *values = jy_value_seq(f, JY_V_TUPLE, 0, NULL);
    size_t n, at;
    bool found = true, twice;
    TRY(jy_value_realize(f, map));
    TRY(jy_value_items(f, &keys, &n, *jy_peek(f, 1)));
    if (map->v_kind != JY_V_DICT || keys == NULL)
        return jy_break(f, JY_BREAK_MATCH, "keys of %s", jy_value_describe(f, map));
    for (size_t i = 0; i < n && found; i++) {
        for (size_t j = 0; j < i; j++) {
            TRY(jy_is_equal(f, &twice, keys[i], keys[j]));
            if (twice)
                return jy_break(f, JY_BREAK_RAISES, "a mapping pattern with a key twice");
        }
        TRY(jy_dict_find(f, &at, &found, map, keys[i]));
        if (found)
            jy_seq_append(f, values, map->u.seq.at[at]);
    }
    return jy_push(f, found ? values : jy_value_const(f, Py_None));
}

/* ---- class patterns ---- */

/* object.name; *out NULL: it has none. */
static jy_status
get_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    jy_status status = jy_getattr(f, out, v, name);
    if (status == JY_BREAK && jy_is_raised(f, PyExc_AttributeError)) {
        jy_exception_take(f);
        *out = NULL;
        return JY_OK;
    }
    return status;
}

/* The names that positional patterns stand for. *self: there are none, and the one pattern is for the object itself. */
static jy_status
match_names(struct jy_frame *f, struct jy_value ***names, size_t *n, bool *self, struct jy_value *type)
{
    const unsigned long match_self = 1UL << 22; /* int, str, list and their like, and what is derived from them */
    PyObject *text = jy_hold(f, PyUnicode_InternFromString("__match_args__"));
    PyTypeObject *klass = (PyTypeObject *)type->v_object;
    struct jy_value *v;
    if (text == NULL)
        return JY_ERROR;
    *self = (klass->tp_flags & match_self) != 0;
    if (!(klass->tp_flags & Py_TPFLAGS_HEAPTYPE) && _PyType_Lookup(klass, text) == NULL)
        return *self ? JY_OK : jy_break(f, JY_BREAK_RAISES, "a positional pattern of %s", klass->tp_name);
    TRY(get_attribute(f, &v, type, text));
    if (v == NULL)
        return *self ? JY_OK : jy_break(f, JY_BREAK_RAISES, "a positional pattern of %s", klass->tp_name);
    *self = false;
    TRY(jy_value_realize(f, v));
    if (v->v_kind != JY_V_TUPLE && !(v->v_kind == JY_V_CONST && PyTuple_CheckExact(v->v_object)))
        return jy_break(f, JY_BREAK_RAISES, "__match_args__ of %s is no tuple", klass->tp_name);
    return jy_value_items(f, names, n, v);
}

static jy_status
match_class(struct jy_frame *f, struct jy_value **out, struct jy_value *v, struct jy_value *type, size_t npositional,
            struct jy_value *const *keywords, size_t nkeywords)
{
    struct jy_value **names = NULL, *found = jy_value_seq(f, JY_V_TUPLE, 0, NULL), *item;
    size_t n = 0;
    bool matches, self = false;
    *out = NULL;
    TRY(jy_value_realize(f, type));
    PyObject *known = jy_value_known(type);
    if (known == NULL || !PyType_Check(known))
        return jy_break(f, JY_BREAK_MATCH, "%s as a class", jy_value_describe(f, type));
    TRY(jy_isinstance(f, &matches, v, type));
    if (!matches)
        return JY_OK;
    if (npositional != 0)
        TRY(match_names(f, &names, &n, &self, type));
    if (npositional > (self ? 1 : n))
        return npositional == 0 ? JY_OK : jy_break(f, JY_BREAK_RAISES, "too many positional patterns");
    if (self && npositional == 1)
        jy_seq_append(f, found, v);
    for (size_t i = self ? npositional : 0; i < npositional + nkeywords; i++) {
        struct jy_value *text = i < npositional ? names[i] : keywords[i - npositional];
        TRY(jy_value_realize(f, text));
        PyObject *name = jy_value_known(text);
        if (name == NULL || !PyUnicode_CheckExact(name))
            return jy_break(f, JY_BREAK_MATCH, "an attribute whose name is no text");
        TRY(get_attribute(f, &item, v, name));
        if (item == NULL)
            return JY_OK;
        jy_seq_append(f, found, item);
    }
    *out = found;
    return JY_OK;
}

jy_status
op_match_class(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_value **keywords, *found;
    size_t n;
    TRY(jy_value_items(f, &keywords, &n, *jy_peek(f, 1)));
    if (keywords == NULL)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "MATCH_CLASS without names");
    TRY(match_class(f, &found, *jy_peek(f, 3), *jy_peek(f, 2), (size_t)instr->i_arg, keywords, n));
    return jy_replace(f, 3, found != NULL ? found : jy_value_const(f, Py_None));
}
