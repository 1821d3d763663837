/* functools.partial: a function with arguments that it already has.
 *
 * One from outside reads its three members again at each call; one made while tracing is built by partial(func, *args), and gets its keywords by __setstate__ then, since recipes
 * call by position only. */
#include "frontend/instance.h"

#include <string.h>

/* functools.partial itself, borrowed; NULL: nobody has loaded it. */
static PyObject *
partial_type(struct jy_frame *f)
{
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("_functools"));
    PyObject *module = name != NULL ? jy_hold(f, PyImport_GetModule(name)) : NULL;
    PyObject *type = module != NULL ? jy_hold(f, PyObject_GetAttrString(module, "partial")) : NULL;
    PyErr_Clear();
    return type;
}

bool
jy_partial_is_type(struct jy_frame *f, PyObject *object)
{
    return PyType_Check(object) && strcmp(((PyTypeObject *)object)->tp_name, "functools.partial") == 0 &&
           object == partial_type(f);
}

static struct jy_value *
member(struct jy_frame *f, struct jy_value *v, const char *text)
{
    PyObject *name = jy_hold(f, PyUnicode_InternFromString(text));
    PyObject *object = name != NULL ? jy_hold(f, PyObject_GetAttr(v->v_object, name)) : NULL;
    PyErr_Clear();
    return object != NULL
               ? jy_value_lazy(f, object, jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, v->v_source, 0, name))
               : NULL;
}

bool
jy_partial_open(struct jy_frame *f, struct jy_value *v)
{
    if (!jy_partial_is_type(f, (PyObject *)Py_TYPE(v->v_object)))
        return false;
    struct jy_value *function = member(f, v, "func"), *args = member(f, v, "args"),
                    *keywords = member(f, v, "keywords");
    if (function == NULL || args == NULL || keywords == NULL)
        return false;
    jy_guard_type(f, v->v_source, Py_TYPE(v->v_object));
    jy_hold(f, Py_NewRef(v->v_object));
    v->v_kind = JY_V_PARTIAL;
    v->u.partial.function = function;
    v->u.partial.args = args;
    v->u.partial.keywords = keywords;
    return true;
}

PyTypeObject *
jy_partial_type(struct jy_frame *f)
{
    return (PyTypeObject *)partial_type(f);
}

/* ---- arguments ---- */

/* The keywords `first`, then those of the call; one that is given twice keeps its place and takes the later value. */
static jy_status
merge(struct jy_frame *f, struct jy_value **out, struct jy_value *first, PyObject *kwnames,
      struct jy_value *const *values)
{
    TRY(jy_value_realize(f, first));
    if (first->v_kind != JY_V_DICT)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "a partial with keywords that are no dict");
    *out = jy_value_seq(f, JY_V_DICT, 0, NULL);
    for (size_t i = 0; i < first->u.seq.n; i++)
        TRY(jy_dict_set(f, *out, jy_value_const(f, first->u.seq.keys[i]), first->u.seq.at[i]));
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++)
        TRY(jy_dict_set(f, *out, jy_value_const(f, PyTuple_GET_ITEM(kwnames, i)), values[i]));
    return JY_OK;
}

static jy_status
join(struct jy_frame *f, struct jy_value **out, struct jy_value *first, size_t n, struct jy_value *const *more)
{
    struct jy_value **items;
    size_t nfirst;
    TRY(jy_value_items(f, &items, &nfirst, first));
    *out = jy_value_seq(f, JY_V_TUPLE, nfirst + n, NULL);
    if (nfirst != 0)
        memcpy((*out)->u.seq.at, items, nfirst * sizeof *items);
    if (n != 0)
        memcpy((*out)->u.seq.at + nfirst, more, n * sizeof *more);
    return JY_OK;
}

jy_status
jy_partial_call(struct jy_frame *f, struct jy_value **out, struct jy_value *v, size_t nargs,
                struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *positional, *keywords, *all;
    TRY(join(f, &positional, v->u.partial.args, nargs, args));
    TRY(merge(f, &keywords, v->u.partial.keywords, kwnames, args + nargs));
    size_t n = keywords->u.seq.n;
    PyObject *names = jy_hold(f, PyTuple_New((Py_ssize_t)n));
    if (names == NULL)
        return JY_ERROR;
    for (size_t i = 0; i < n; i++) {
        if (!PyUnicode_Check(keywords->u.seq.keys[i]))
            return jy_break(f, JY_BREAK_RAISES, "keywords that are no text");
        PyTuple_SET_ITEM(names, i, Py_NewRef(keywords->u.seq.keys[i]));
    }
    TRY(join(f, &all, positional, n, keywords->u.seq.at));
    return jy_call(f, out, v->u.partial.function, positional->u.seq.n, all->u.seq.at, names);
}

/* ---- new ones ---- */

static bool
is_callable(const struct jy_value *v)
{
    return v->v_kind == JY_V_FUNCTION || v->v_kind == JY_V_METHOD || v->v_kind == JY_V_CALLABLE ||
           v->v_kind == JY_V_PARTIAL;
}

jy_status
jy_partial_new(struct jy_frame *f, struct jy_value **out, size_t nargs, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *function = nargs != 0 ? args[0] : NULL, *none = jy_value_seq(f, JY_V_DICT, 0, NULL);
    if (function == NULL)
        return jy_break(f, JY_BREAK_RAISES, "partial() of nothing");
    TRY(jy_value_realize(f, function));
    if (function->v_kind == JY_V_OPAQUE)
        jy_instance_open(f, function);
    bool nested = function->v_kind == JY_V_PARTIAL;
    if (!is_callable(function) ||
        (nested && function->v_source != JY_NO_SOURCE)) /* it may have attributes, which keep it whole */
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "partial() of %s", jy_value_describe(f, function));
    struct jy_value *v = jy_value_new(f, JY_V_PARTIAL);
    v->u.partial.function = nested ? function->u.partial.function : function;
    TRY(join(f, &v->u.partial.args, nested ? function->u.partial.args : jy_value_seq(f, JY_V_TUPLE, 0, NULL), nargs - 1,
             args + 1));
    TRY(merge(f, &v->u.partial.keywords, nested ? function->u.partial.keywords : none, kwnames, args + nargs));
    *out = v;
    return JY_OK;
}

jy_status
jy_partial_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    *out = PyUnicode_CompareWithASCIIString(name, "func") == 0       ? v->u.partial.function
           : PyUnicode_CompareWithASCIIString(name, "args") == 0     ? v->u.partial.args
           : PyUnicode_CompareWithASCIIString(name, "keywords") == 0 ? v->u.partial.keywords
                                                                     : NULL;
    return *out != NULL ? JY_OK : jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s of a partial", jy_utf8(name));
}

/* ---- those that outlive the unit ---- */

jy_status
jy_partial_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    const struct jy_value *args = v->u.partial.args;
    size_t n = args->u.seq.n;
    struct jy_recipe **parts = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_recipe *, n + 1);
    PyObject *type = partial_type(f);
    if (type == NULL)
        return jy_break(f, JY_BREAK_RESULT, "a partial");
    TRY(jy_outputs_recipe(&parts[0], f, o, v->u.partial.function));
    for (size_t i = 0; i < n; i++)
        TRY(jy_outputs_recipe(&parts[i + 1], f, o, args->u.seq.at[i]));
    *out = jy_recipe_call(f, type, n + 1, parts);
    return JY_OK;
}

jy_status
jy_partial_store(struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_value *parts[] = { v->u.partial.function, v->u.partial.args, v->u.partial.keywords,
                                 jy_value_const(f, Py_None) };
    struct jy_recipe *items[2];
    PyObject *type = partial_type(f);
    PyObject *set = type != NULL ? jy_hold(f, PyObject_GetAttrString(type, "__setstate__")) : NULL;
    if (v->u.partial.keywords->u.seq.n == 0)
        return JY_OK;
    if (set == NULL)
        return JY_ERROR;
    TRY(jy_outputs_recipe(&items[0], f, o, v));
    TRY(jy_outputs_recipe(&items[1], f, o, jy_value_seq(f, JY_V_TUPLE, 4, parts)));
    *jy_vec_push(jy_frame_arena(f), &f->f_trace->unit->u_effects) =
        (struct jy_effect){ .kind = JY_EFFECT_CALL, .value = jy_recipe_call(f, set, 2, items) };
    return JY_OK;
}
