/* np.errstate inside a unit.
 *
 * A unit's graph runs as a whole, under the state that its call finds. So entering one is no effect: the trace keeps what the innermost block says of each kind of report, and sums up, over all
 * operations that may report,
 *
 *     ignored     kinds that every operation which may report them ignores: never looked at when the unit has run
 *     reported    kinds that some operation does something about: always looked at
 *     the others  are the business of the state that the call finds
 *
 * A unit that finds something to report leaves everything to the original, whose blocks are real. Where the unit stops inside a block, the object is made and really entered behind the graph.
 * NumPy's own Python is followed only where it fills in a new object. */
#include "frontend/call_builtin.h"
#include "frontend/exception.h"
#include "frontend/instance.h"
#include "graph/lower.h"

#include <string.h>

enum { DIVIDE = 1, ALL = 15 }; /* NPY_FPE_* */

static const struct {
    const char *attribute, *keyword;
    uint8_t kinds;
} settings[] = {
    { "_all", "all", ALL },   { "_divide", "divide", DIVIDE }, { "_over", "over", 2 },
    { "_under", "under", 4 }, { "_invalid", "invalid", 8 },
};

/* ---- which operations ---- */

/* Operations of the backend's own; loops of NumPy's may report anything. */
static bool
never_divides(uint16_t op)
{
    return op == JY_OP_ADD || op == JY_OP_SUB || op == JY_OP_MUL || op == JY_OP_SQUARE || op == JY_OP_SQRT ||
           op == JY_OP_CAST;
}

static uint32_t
may_report(const struct jy_graph *g, const struct jy_node *node)
{
    uint8_t klass = jy_op_info[node->n_op].klass;
    bool foreign =
        klass == JY_CLASS_CALL || klass == JY_CLASS_LINALG || klass == JY_CLASS_REDUCE || klass == JY_CLASS_TILE;
    if (!foreign && !jy_lower_may_flag(g, node))
        return 0;
    return never_divides(node->n_op) ? ALL & ~DIVIDE : ALL;
}

static void
count_operations(struct jy_frame *f)
{
    struct jy_trace_state *t = f->f_trace;
    for (; t->errs.counted < t->graph->g_nodes.n; t->errs.counted++) {
        uint32_t kinds = may_report(t->graph, jy_graph_at(t->graph, (jy_ref)t->errs.counted));
        t->errs.not_ignored |= kinds & ~t->errs.ignored;
        t->errs.some_reported |= kinds & t->errs.reported;
    }
}

jy_status
jy_errstate_finish(struct jy_frame *f)
{
    struct jy_trace_state *t = f->f_trace;
    if (!t->errs.any)
        return JY_OK;
    count_operations(f);
    t->unit->u_errs_ignored = (uint8_t)(ALL & ~t->errs.not_ignored);
    t->unit->u_errs_reported = (uint8_t)t->errs.some_reported;
    return t->errs.built == t->errs.depth ? JY_OK
                                          : jy_break(f, JY_BREAK_RESULT, "an np.errstate that nothing will leave");
}

/* ---- the object ---- */

static PyObject *
errstate_class(struct jy_frame *f)
{
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("numpy"));
    PyObject *numpy = name != NULL ? jy_hold(f, PyImport_GetModule(name)) : NULL;
    PyObject *klass = numpy != NULL ? jy_hold(f, PyObject_GetAttrString(numpy, "errstate")) : NULL;
    PyErr_Clear();
    return klass != NULL && PyType_Check(klass) ? klass : NULL;
}

static PyObject *
own_function(struct jy_frame *f, const char *name)
{
    PyObject *klass = errstate_class(f), *text = jy_hold(f, PyUnicode_InternFromString(name));
    return klass != NULL && text != NULL ? _PyType_Lookup((PyTypeObject *)klass, text) : NULL;
}

static bool
is_named_so(const PyFunctionObject *function, const char *name)
{
    return PyUnicode_CompareWithASCIIString(function->func_qualname, name) == 0;
}

bool
jy_errstate_is_init(struct jy_frame *f, PyFunctionObject *function)
{
    return is_named_so(function, "errstate.__init__") && own_function(f, "__init__") == (PyObject *)function;
}

static bool
is_new_errstate(struct jy_frame *f, struct jy_value *v)
{
    return v->v_kind == JY_V_INSTANCE && v->v_source == JY_NO_SOURCE &&
           (PyObject *)v->u.instance->type == errstate_class(f);
}

static struct jy_value *
setting(const struct jy_value *v, const char *name)
{
    for (size_t i = 0; i < v->u.instance->attributes.n; i++)
        if (PyUnicode_CompareWithASCIIString(v->u.instance->attributes.at[i].name, name) == 0)
            return v->u.instance->attributes.at[i].value;
    return NULL;
}

static jy_status
read_setting(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_InternFromString(name));
    if (text == NULL)
        return JY_ERROR;
    *out = NULL;
    if (!is_new_errstate(f, v))
        TRY(jy_getattr(f, out, v, text));
    else
        *out = setting(v, name);
    return *out != NULL ? jy_value_realize(f, *out)
                        : jy_break(f, JY_BREAK_UNKNOWN_CALL, "np.errstate with settings that are not known");
}

/* The function for the mode "call", NULL for none. What it may be is looked up without running code of its class: an object with a method `write` is not. */
static jy_status
read_function(struct jy_frame *f, PyObject **out, struct jy_value *v)
{
    struct jy_value *call;
    TRY(read_setting(f, &call, v, "_call"));
    *out = NULL;
    if (call->v_object != NULL && strcmp(Py_TYPE(call->v_object)->tp_name, "_unspecified") == 0) {
        if (call->v_source != JY_NO_SOURCE)
            jy_guard_is(f, call->v_source, call->v_object);
        return JY_OK;
    }
    *out = jy_value_is_none(call) ? Py_None : (PyObject *)&PyBaseObject_Type; /* one callable is as good as another */
    bool known = jy_value_is_none(call) || call->v_kind == JY_V_FUNCTION || call->v_kind == JY_V_METHOD ||
                 call->v_kind == JY_V_CALLABLE;
    return known ? JY_OK
                 : jy_break(f, JY_BREAK_UNKNOWN_CALL, "np.errstate with %s to call", jy_value_describe(f, call));
}

/* NumPy itself says whether the settings are right. */
static jy_status
read_settings(struct jy_frame *f, struct jy_value *v, uint32_t *ignored, uint32_t *reported)
{
    PyObject *make = NULL, *call, *keywords = jy_hold(f, PyDict_New()), *none = jy_hold(f, PyTuple_New(0));
    struct jy_value *mode;
    if (keywords == NULL || none == NULL)
        return JY_ERROR;
    TRY(read_function(f, &call, v));
    if (call != NULL && PyDict_SetItemString(keywords, "call", call) < 0)
        return JY_ERROR;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        TRY(read_setting(f, &mode, v, settings[i].attribute));
        if (mode->v_kind != JY_V_CONST || (mode->v_object != Py_None && !PyUnicode_CheckExact(mode->v_object)))
            return jy_break(f, JY_BREAK_UNKNOWN_CALL, "np.errstate with settings that are not known");
        if (mode->v_object == Py_None)
            continue;
        bool ignores = PyUnicode_CompareWithASCIIString(mode->v_object, "ignore") == 0;
        *ignored = ignores ? *ignored | settings[i].kinds : *ignored & ~(uint32_t)settings[i].kinds;
        *reported = ignores ? *reported & ~(uint32_t)settings[i].kinds : *reported | settings[i].kinds;
        if (PyDict_SetItemString(keywords, settings[i].keyword, mode->v_object) < 0)
            return JY_ERROR;
    }
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("numpy._core.umath"));
    PyObject *umath = name != NULL ? jy_hold(f, PyImport_GetModule(name)) : NULL;
    make = umath != NULL ? jy_hold(f, PyObject_GetAttrString(umath, "_make_extobj")) : NULL;
    if (make == NULL || jy_hold(f, PyObject_Call(make, none, keywords)) == NULL)
        return jy_break_from_exception(f, JY_BREAK_RAISES);
    return JY_OK;
}

static jy_status
enter(struct jy_frame *f, struct jy_value *v)
{
    struct jy_trace_state *t = f->f_trace;
    struct jy_instance *self = v->u.instance;
    uint32_t ignored = t->errs.ignored, reported = t->errs.reported;
    if (self->errs.used)
        return jy_raises(f, PyExc_TypeError, "Cannot enter `np.errstate` twice.");
    TRY(read_settings(f, v, &ignored, &reported));
    count_operations(f);
    self->errs.used = t->errs.any = true;
    self->errs.number = ++t->errs.depth;
    self->errs.ignored = t->errs.ignored; /* for the way out */
    self->errs.reported = t->errs.reported;
    t->errs.ignored = ignored;
    t->errs.reported = reported;
    return JY_OK;
}

static jy_status
leave(struct jy_frame *f, struct jy_value *v)
{
    struct jy_trace_state *t = f->f_trace;
    struct jy_instance *self = v->u.instance;
    if (self->errs.number == 0 || self->errs.number != t->errs.depth)
        return jy_break(f, JY_BREAK_RAISES, "an np.errstate that is left before another one");
    count_operations(f);
    self->errs.number = 0;
    t->errs.depth--;
    t->errs.ignored = self->errs.ignored;
    t->errs.reported = self->errs.reported;
    return JY_OK;
}

/* ---- a function that one decorates ---- */

/* Is it the closure over `func` and `self` that NumPy's __call__ has made? */
static bool
is_decorated(struct jy_frame *f, PyFunctionObject *function)
{
    PyObject *own = own_function(f, "__call__"), *closure = function->func_closure;
    if (own == NULL || !PyFunction_Check(own) || closure == NULL || PyTuple_GET_SIZE(closure) != 2)
        return false;
    const PyCodeObject *maker = (PyCodeObject *)((PyFunctionObject *)own)->func_code;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(maker->co_consts); i++)
        if (PyTuple_GET_ITEM(maker->co_consts, i) == function->func_code)
            return true;
    return false;
}

static jy_status
closed_over(struct jy_frame *f, struct jy_value **out, struct jy_value *function, const char *name)
{
    PyObject *closure = ((PyFunctionObject *)function->v_object)->func_closure;
    PyObject *names =
        jy_hold(f, PyCode_GetFreevars((PyCodeObject *)((PyFunctionObject *)function->v_object)->func_code));
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names) && i < PyTuple_GET_SIZE(closure); i++) {
        PyObject *text = PyTuple_GET_ITEM(names, i), *content = PyCell_GET(PyTuple_GET_ITEM(closure, i));
        if (PyUnicode_CompareWithASCIIString(text, name) != 0 || content == NULL)
            continue;
        jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_CELL, function->v_source, (uint32_t)i, text);
        *out = jy_value_lazy(f, content, source);
        return JY_OK;
    }
    return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s without its %s", jy_value_describe(f, function), name);
}

/* Its object is never entered: each call makes the state of its settings anew. */
static jy_status
call_decorated(struct jy_frame *f, struct jy_value **out, struct jy_value *function, size_t nargs,
               struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_trace_state *t = f->f_trace;
    struct jy_value *inner, *self;
    TRY(closed_over(f, &inner, function, "func"));
    TRY(closed_over(f, &self, function, "self"));
    uint32_t ignored = t->errs.ignored, reported = t->errs.reported;
    const uint32_t old_ignored = ignored, old_reported = reported;
    TRY(read_settings(f, self, &ignored, &reported));
    count_operations(f);
    t->errs.any = true;
    t->errs.ignored = ignored;
    t->errs.reported = reported;
    t->depth++;
    jy_status status = jy_call(f, out, inner, nargs, args, kwnames); /* an exception leaves the block, too */
    t->depth--;
    count_operations(f);
    t->errs.ignored = old_ignored;
    t->errs.reported = old_reported;
    return status;
}

jy_status
jy_errstate_call(struct jy_frame *f, struct jy_value **out, bool *handled, struct jy_value *function, size_t nargs,
                 struct jy_value *const *args, PyObject *kwnames)
{
    PyFunctionObject *live = (PyFunctionObject *)function->v_object;
    if (function->v_source != JY_NO_SOURCE && is_decorated(f, live)) {
        *handled = true;
        return call_decorated(f, out, function, nargs, args, kwnames);
    }
    bool enters = is_named_so(live, "errstate.__enter__"), leaves = is_named_so(live, "errstate.__exit__");
    if ((!enters && !leaves) || nargs == 0 || own_function(f, enters ? "__enter__" : "__exit__") != (PyObject *)live ||
        !is_new_errstate(f, args[0]) || nargs != (enters ? 1 : 4))
        return JY_OK;
    *handled = true;
    *out = jy_value_const(f, Py_None);
    return enters ? enter(f, args[0]) : leave(f, args[0]);
}

/* ---- those that outlive the unit ---- */

jy_status
jy_errstate_recipe(struct jy_frame *f, struct jy_value *v)
{
    struct jy_instance *self = v->u.instance;
    if (self->errs.used && (self->errs.number == 0 || self->errs.number != ++f->f_trace->errs.built))
        return jy_break(f, JY_BREAK_RESULT, "an np.errstate that has been used");
    return JY_OK;
}

jy_status
jy_errstate_store(struct jy_frame *f, struct jy_outputs *o, struct jy_value *v)
{
    struct jy_recipe *self;
    PyObject *function = v->u.instance->errs.number != 0 ? own_function(f, "__enter__") : NULL;
    if (v->u.instance->errs.number == 0)
        return JY_OK;
    if (function == NULL)
        return JY_ERROR;
    TRY(jy_outputs_recipe(&self, f, o, v));
    *jy_vec_push(jy_frame_arena(f), &f->f_trace->unit->u_effects) =
        (struct jy_effect){ .kind = JY_EFFECT_CALL, .value = jy_recipe_call(f, function, 1, &self) };
    return JY_OK;
}
