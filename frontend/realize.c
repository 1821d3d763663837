/* Looking at a lazy value: what kind of object came in, and what about it the unit will rely on.
 *
 *     None, bool, Ellipsis      identity                      constant
 *     int                       value                         constant; a size symbol once the source has shown a second value
 *     float                     exact type                    symbolic; a module's attribute: value, constant
 *     str, bytes                type and value                constant
 *     tuple, list               type and length               items stay lazy
 *     dict                      keys in order                 values stay lazy
 *     set                       items in order                known and plain
 *     slice, range              exact type                    parts stay lazy
 *     function, method          code                          inlined when called
 *     module, class, C callable identity
 *     ndarray, NumPy scalar     np.h
 *     everything else           nothing                       opaque: op_attr.c looks further
 */
#include "frontend/interp.h"

#include <string.h>

enum { MAX_ITEMS = 100000, MAX_KEYS = 1000 };

static void
become(struct jy_frame *f, struct jy_value *v, enum jy_value_kind kind)
{
    jy_keep(f->f_trace->unit, v->v_object);
    v->v_kind = (uint8_t)kind;
}

static jy_status
realize_int(struct jy_frame *f, struct jy_value *v)
{
    struct jy_trace_state *t = f->f_trace;
    int overflow;
    int64_t value = PyLong_AsLongLongAndOverflow(v->v_object, &overflow);
    if (overflow != 0) {
        jy_guard_object(f, JY_GUARD_EQUALS, v->v_source, v->v_object);
        become(f, v, JY_V_CONST);
        return JY_OK;
    }
    if (!jy_source_is_dynamic(f, v->v_source)) {
        jy_guard_value(f, JY_GUARD_INT, v->v_source, value);
        become(f, v, JY_V_CONST);
        return JY_OK;
    }
    jy_guard_type(f, v->v_source, &PyLong_Type);
    jy_ref node = jy_graph_placeholder(t->graph, JY_KIND_PYINT, JY_I64, 0, NULL, NULL);
    uint32_t number = jy_graph_at(t->graph, node)->n_input;
    jy_input_add(f, v->v_source, JY_KIND_PYINT, JY_I64, node, NULL);
    uint32_t symbol = jy_sizes_new_symbol(&t->graph->g_sizes, number, -1, value);
    v->v_kind = JY_V_SCALAR;
    v->u.scalar.kind = JY_KIND_PYINT;
    v->u.scalar.dtype = JY_I64;
    v->u.scalar.has_size = true;
    v->u.scalar.size = jy_sizes_symbol(&t->graph->g_sizes, symbol);
    v->u.scalar.node = JY_NO_REF;
    return JY_OK;
}

static bool
comes_from_module(struct jy_frame *f, jy_src source)
{
    struct jy_unit *unit = f->f_trace->unit;
    if (unit->u_sources.at[source].kind != JY_SOURCE_ATTR)
        return false;
    jy_src base = unit->u_sources.at[source].base;
    for (size_t i = 0; i < unit->u_guards.n; i++) {
        const struct jy_guard *g = &unit->u_guards.at[i];
        if (g->kind == JY_GUARD_IS && g->source == base && PyModule_Check(jy_unit_object(unit, g->object)))
            return true;
    }
    return false;
}

static jy_status
realize_float(struct jy_frame *f, struct jy_value *v)
{
    if (comes_from_module(f, v->v_source)) {
        jy_guard_object(f, JY_GUARD_EQUALS, v->v_source, v->v_object);
        become(f, v, JY_V_CONST);
        return JY_OK;
    }
    jy_guard_type(f, v->v_source, &PyFloat_Type);
    jy_keep(f->f_trace->unit, v->v_object);
    jy_ref node = jy_graph_placeholder(f->f_trace->graph, JY_KIND_PYFLOAT, JY_F64, 0, NULL, NULL);
    jy_input_add(f, v->v_source, JY_KIND_PYFLOAT, JY_F64, node, NULL);
    v->v_kind = JY_V_SCALAR;
    v->u.scalar.kind = JY_KIND_PYFLOAT;
    v->u.scalar.dtype = JY_F64;
    v->u.scalar.has_size = false;
    v->u.scalar.node = node;
    return JY_OK;
}

static jy_status
realize_sequence(struct jy_frame *f, struct jy_value *v)
{
    PyObject *object = v->v_object;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
    if (n > MAX_ITEMS)
        return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "a container of %zd items", n);
    for (Py_ssize_t i = 0; i < n; i++)
        if (PySequence_Fast_GET_ITEM(object, i) == NULL)
            return jy_break(f, JY_BREAK_UNKNOWN_ITEM, "a tuple that C code has not filled");
    bool is_tuple = PyTuple_CheckExact(object);
    jy_guard_type(f, v->v_source, Py_TYPE(object));
    jy_guard_value(f, JY_GUARD_LENGTH, v->v_source, n);
    struct jy_value *seq = jy_value_seq(f, is_tuple ? JY_V_TUPLE : JY_V_LIST, (size_t)n, NULL);
    for (Py_ssize_t i = 0; i < n; i++) {
        jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_ITEM, v->v_source, (uint32_t)i, NULL);
        seq->u.seq.at[i] = jy_value_lazy(f, PySequence_Fast_GET_ITEM(object, i), source);
    }
    v->u.seq = seq->u.seq;
    v->u.seq.escaped = true;
    v->v_kind = seq->v_kind;
    if (!is_tuple)
        jy_list_add_appended(f, v);
    return JY_OK;
}

static jy_status
realize_dict(struct jy_frame *f, struct jy_value *v)
{
    PyObject *object = v->v_object;
    Py_ssize_t n = PyDict_GET_SIZE(object);
    if (n > MAX_KEYS)
        return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "a dict of %zd items", n);
    if (jy_is_stored_to(f, object))
        return jy_break(f, JY_BREAK_STORE_GLOBAL, "globals that were changed, as a dict");
    PyObject *keys = PyTuple_New(n);
    if (keys == NULL)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ITEM);
    PyObject *key, *value;
    struct jy_value *seq = jy_value_seq(f, JY_V_DICT, (size_t)n, NULL);
    seq->u.seq.keys = JY_NEW_ARRAY(jy_frame_arena(f), PyObject *, n + 1);
    Py_ssize_t position = 0, i = 0;
    bool plain = true;
    while (i < n && PyDict_Next(object, &position, &key, &value)) {
        plain = plain && jy_key_is_known(f, key);
        PyTuple_SET_ITEM(keys, i, Py_NewRef(key));
        jy_keep(f->f_trace->unit, key);
        seq->u.seq.keys[i] = key;
        jy_src source = jy_source_add(f->f_trace->unit, JY_SOURCE_KEY, v->v_source, 0, key);
        seq->u.seq.at[i++] = jy_value_lazy(f, value, source);
    }
    if (!plain) {
        Py_DECREF(keys);
        return jy_break(f, JY_BREAK_UNKNOWN_ITEM,
                        "a dict with keys that are not numbers, text, members of enums or tuples");
    }
    jy_guard_object(f, JY_GUARD_KEYS, v->v_source, keys);
    Py_DECREF(keys);
    v->u.seq = seq->u.seq;
    v->u.seq.escaped = true;
    v->v_kind = JY_V_DICT;
    return JY_OK;
}

static struct jy_value *
lazy_part(struct jy_frame *f, struct jy_value *v, const char *name)
{
    PyObject *text = jy_hold(f, PyUnicode_InternFromString(name));
    PyObject *part = text != NULL ? jy_hold(f, PyObject_GetAttr(v->v_object, text)) : NULL;
    return part != NULL ? jy_value_lazy(f, part, jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, v->v_source, 0, text))
                        : NULL;
}

/* slice and range */
static jy_status
realize_range(struct jy_frame *f, struct jy_value *v, enum jy_value_kind kind)
{
    struct jy_value *start = lazy_part(f, v, "start"), *stop = lazy_part(f, v, "stop"), *step = lazy_part(f, v, "step");
    if (start == NULL || stop == NULL || step == NULL)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ATTRIBUTE);
    jy_guard_type(f, v->v_source, Py_TYPE(v->v_object));
    v->u.range.start = start, v->u.range.stop = stop, v->u.range.step = step;
    v->v_kind = (uint8_t)kind;
    return JY_OK;
}

static jy_status
realize_method(struct jy_frame *f, struct jy_value *v)
{
    struct jy_value *self = lazy_part(f, v, "__self__"), *function = lazy_part(f, v, "__func__");
    if (self == NULL || function == NULL)
        return jy_break_from_exception(f, JY_BREAK_UNKNOWN_ATTRIBUTE);
    jy_guard_type(f, v->v_source, &PyMethod_Type);
    v->v_kind = JY_V_METHOD;
    v->u.func.self = self;
    v->u.func.function = function;
    v->u.func.name = NULL;
    return JY_OK;
}

static jy_status
realize_function(struct jy_frame *f, struct jy_value *v)
{
    if (jy_np_knows(f, v->v_object)) {
        jy_guard_is(f, v->v_source, v->v_object);
        become(f, v, JY_V_CALLABLE);
        return JY_OK;
    }
    jy_guard_object(f, JY_GUARD_CODE, v->v_source, ((PyFunctionObject *)v->v_object)->func_code);
    memset(&v->u.func, 0, sizeof v->u.func);
    v->v_kind = JY_V_FUNCTION;
    return JY_OK;
}

bool
jy_is_dispatcher(PyObject *object)
{
    return strncmp(Py_TYPE(object)->tp_name, "jitney.", 7) == 0 ||
           strncmp(Py_TYPE(object)->tp_name, "_jitney.", 8) == 0;
}

jy_status
jy_dispatcher_part(struct jy_frame *f, struct jy_value **out, struct jy_value *dispatcher)
{
    *out = dispatcher->v_source != JY_NO_SOURCE ? lazy_part(f, dispatcher, "_jitney_function") : NULL;
    if (*out == NULL || !PyFunction_Check((*out)->v_object)) {
        PyErr_Clear();
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s object", Py_TYPE(dispatcher->v_object)->tp_name);
    }
    return JY_OK;
}

static bool
is_c_callable(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (PyCFunction_Check(object) || PyType_Check(object) || type == &PyMethodDescr_Type ||
        type == &PyWrapperDescr_Type || type == &PyClassMethodDescr_Type || jy_is_getter(object))
        return true;
    return strcmp(type->tp_name, "numpy.ufunc") == 0 || strcmp(type->tp_name, "numpy._ArrayFunctionDispatcher") == 0;
}

static jy_status
look(struct jy_frame *f, struct jy_value *v)
{
    PyObject *o = v->v_object;
    const struct jy_trace_state *t = f->f_trace;
    if (o == Py_None || PyBool_Check(o) || o == Py_Ellipsis || o == Py_NotImplemented) {
        jy_guard_is(f, v->v_source, o);
        become(f, v, JY_V_CONST);
        return JY_OK;
    }
    if (PyLong_CheckExact(o))
        return realize_int(f, v);
    if (PyFloat_CheckExact(o))
        return realize_float(f, v);
    if (PyUnicode_CheckExact(o) || PyBytes_CheckExact(o)) {
        jy_guard_object(f, JY_GUARD_EQUALS, v->v_source, o);
        become(f, v, JY_V_CONST);
        return JY_OK;
    }
    if (t->ndarray != NULL && PyObject_TypeCheck(o, (PyTypeObject *)t->ndarray))
        return jy_np_realize(f, v);
    if (t->generic != NULL && PyObject_TypeCheck(o, (PyTypeObject *)t->generic))
        return jy_np_realize(f, v);
    if (PyTuple_CheckExact(o) || PyList_CheckExact(o))
        return realize_sequence(f, v);
    if (PyDict_CheckExact(o))
        return realize_dict(f, v);
    if (PySet_CheckExact(o))
        return jy_set_realize(f, v);
    if (PySlice_Check(o))
        return realize_range(f, v, JY_V_SLICE);
    if (PyRange_Check(o))
        return realize_range(f, v, JY_V_RANGE);
    if (PyFunction_Check(o))
        return realize_function(f, v);
    if (PyMethod_Check(o))
        return realize_method(f, v);
    if (PyModule_Check(o)) {
        jy_guard_is(f, v->v_source, o);
        become(f, v, JY_V_MODULE);
        return JY_OK;
    }
    if (is_c_callable(o) || jy_is_dispatcher(o) || jy_np_knows(f, o)) {
        jy_guard_is(f, v->v_source, o);
        become(f, v, JY_V_CALLABLE);
        return JY_OK;
    }
    if (jy_value_is_plain(f, o)) { /* dtype objects */
        jy_guard_is(f, v->v_source, o);
        become(f, v, JY_V_CONST);
        return JY_OK;
    }
    v->v_kind = JY_V_OPAQUE;
    return JY_OK;
}

jy_status
jy_value_realize(struct jy_frame *f, struct jy_value *v)
{
    if (v->v_kind != JY_V_LAZY)
        return JY_OK;
    TRY(look(f, v));
    return jy_value_looked_at(f, v);
}
