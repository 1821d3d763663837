/* Builtins that make iterators, and next. */
#include "frontend/generator.h"
#include "frontend/call_builtin.h"
#include "frontend/instance.h"
#include "frontend/exception.h"

jy_status
jy_iter_new(struct jy_frame *f, struct jy_value **out, enum jy_iter_how how, size_t n, struct jy_value *const *args)
{
    struct jy_value *it = jy_value_new(f, JY_V_ITER);
    it->u.iter.how = (uint8_t)how;
    it->u.iter.nparts = n;
    it->u.iter.parts =
        JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, n + 3); /* room for what some keep behind them */
    for (size_t i = 0; i < n; i++)
        TRY(jy_iter(f, &it->u.iter.parts[i], args[i]));
    *out = it;
    return JY_OK;
}

jy_status
jy_builtin_iter(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (n == 1)
        return jy_iter(f, out, args[0]);
    TRY(jy_iter_new(f, out, JY_ITER_CALLABLE, 0, NULL));
    (*out)->u.iter.sequence = args[0];
    (*out)->u.iter.parts[0] = args[1];
    (*out)->u.iter.nparts = 1;
    return JY_OK;
}

jy_status
jy_builtin_next(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    if (jy_is_instance(f, args[0])) {
        TRY(n == 1 ? jy_special_call(f, out, args[0], "__next__", 0, NULL) : jy_instance_next(f, out, args[0]));
        *out = *out == NULL && n == 2 ? args[1] : *out;
        return *out != NULL ? JY_OK : jy_builtin_unknown(f, "next", args[0]);
    }
    if (args[0]->v_kind != JY_V_ITER)
        return jy_builtin_unknown(f, "next", args[0]);
    bool ended = args[0]->u.iter.exhausted;
    TRY(jy_iter_next(f, out, args[0]));
    if (*out == NULL && n == 1)
        return jy_generator_stop(f, args[0], !ended && args[0]->u.iter.how == JY_ITER_GENERATOR);
    *out = *out != NULL ? *out : args[1];
    return JY_OK;
}

jy_status
jy_builtin_zip(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    bool bad = false, strict = false;
    struct jy_value *v = jy_builtin_keyword(&bad, "strict", n, args, kwnames);
    if (v != NULL)
        TRY(jy_value_truth(f, &strict, v));
    if (bad)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords of zip()");
    TRY(jy_iter_new(f, out, JY_ITER_ZIP, n, args));
    (*out)->u.iter.strict = strict;
    return JY_OK;
}

jy_status
jy_builtin_enumerate(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args,
                     PyObject *kwnames)
{
    bool bad = false;
    int64_t start = 0;
    struct jy_value *v = jy_builtin_keyword(&bad, "start", n, args, kwnames);
    v = n == 2 ? args[1] : v;
    if (v != NULL)
        TRY(jy_value_index(f, &start, v));
    if (bad)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords of enumerate()");
    TRY(jy_iter_new(f, out, JY_ITER_ENUMERATE, 1, args));
    (*out)->u.iter.position = (size_t)start;
    return JY_OK;
}

jy_status
jy_builtin_map(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)kwnames;
    TRY(jy_iter_new(f, out, JY_ITER_MAP, n - 1, args + 1));
    (*out)->u.iter.sequence = args[0];
    return JY_OK;
}

jy_status
jy_builtin_filter(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    (void)n, (void)kwnames;
    TRY(jy_value_realize(f, args[0]));
    TRY(jy_iter_new(f, out, JY_ITER_FILTER, 1, args + 1));
    (*out)->u.iter.sequence = args[0];
    return JY_OK;
}

jy_status
jy_builtin_reversed(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args,
                    PyObject *kwnames)
{
    (void)n, (void)kwnames;
    struct jy_value *v = args[0], *length;
    int64_t count;
    TRY(jy_value_realize(f, v));
    bool text = v->v_kind == JY_V_CONST && (PyUnicode_CheckExact(v->v_object) || PyBytes_CheckExact(v->v_object));
    if (text || (v->v_kind == JY_V_CONST && PyTuple_CheckExact(v->v_object)))
        TRY(jy_iter_collect(f, &v, JY_V_TUPLE, v));
    if (v->v_kind == JY_V_DICT || v->v_kind == JY_V_DICTVIEW) {
        bool view = v->v_kind == JY_V_DICTVIEW;
        *out = jy_dict_iter(f, view ? v->u.iter.sequence : v, view ? v->u.iter.position : 0, true);
        return JY_OK;
    }
    if (jy_is_instance(f, v)) {
        *out = NULL;
        TRY(jy_over_reversed(f, out, v));
        if (*out != NULL)
            return JY_OK;
    }
    if (v->v_kind != JY_V_TUPLE && v->v_kind != JY_V_LIST && v->v_kind != JY_V_RANGE && v->v_kind != JY_V_ARRAY)
        return jy_builtin_unknown(f, "reversed", v);
    TRY(jy_length(f, &length, v));
    TRY(jy_value_index(f, &count, length));
    TRY(jy_iter_new(f, out, JY_ITER_REVERSED, 0, NULL));
    (*out)->u.iter.sequence = v;
    (*out)->u.iter.position = (size_t)count;
    (*out)->u.iter.strict = text; /* no recipe: it is the reversed text, not the items */
    return JY_OK;
}
