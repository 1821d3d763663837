/* Symbolic values: making them, and the questions that every kind answers (node, truth, index, text).
 *
 * A value is an object: two uses of one pointer are one object of the program. CONST values hold immutable objects of types whose operations run no
 * user code, so the frontend may compute with the real objects. */
#include "frontend/inspect_array.h"
#include "frontend/instance.h"
#include "frontend/exception.h"
#include "frontend/interp.h"

#include <string.h>

struct jy_value *
jy_value_new(struct jy_frame *f, enum jy_value_kind kind)
{
    struct jy_value *v = JY_NEW(jy_frame_arena(f), struct jy_value);
    v->v_kind = (uint8_t)kind;
    v->v_source = JY_NO_SOURCE;
    v->v_step = f->f_trace->root_steps;
    return v;
}

struct jy_value *
jy_value_const(struct jy_frame *f, PyObject *object)
{
    struct jy_value *v = jy_value_new(f, JY_V_CONST);
    jy_keep(f->f_trace->unit, object);
    v->v_object = object;
    return v;
}

struct jy_value *
jy_value_const_take(struct jy_frame *f, PyObject *object)
{
    if (object == NULL)
        return NULL;
    struct jy_value *v = jy_value_const(f, object);
    Py_DECREF(object);
    return v;
}

struct jy_value *
jy_value_lazy(struct jy_frame *f, PyObject *object, jy_src source)
{
    struct jy_trace_state *t = f->f_trace;
    while (t->values.n <= source)
        *jy_vec_push(jy_frame_arena(f), &t->values) = NULL;
    struct jy_value **slot = &t->values.at[source];
    if (*slot != NULL)
        return *slot;
    struct jy_value *same = jy_value_of_live(f, object);
    if (same != NULL) {
        jy_guard_same(f, source, same->v_source);
        return *slot = same;
    }
    *slot = jy_value_new(f, JY_V_LAZY);
    (*slot)->v_object = object;
    (*slot)->v_source = source;
    jy_value_set_live(f, *slot);
    return *slot;
}

struct jy_value *
jy_value_callable(struct jy_frame *f, PyObject *object, jy_src source)
{
    struct jy_value *v = jy_value_new(f, JY_V_CALLABLE);
    jy_keep(f->f_trace->unit, object);
    v->v_object = object;
    v->v_source = source;
    return v;
}

struct jy_value *
jy_value_seq(struct jy_frame *f, enum jy_value_kind kind, size_t n, struct jy_value *const *items)
{
    struct jy_value *v = jy_value_new(f, kind);
    v->u.seq.n = v->u.seq.cap = n;
    v->u.seq.at = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, n + 1);
    if (items != NULL && n != 0)
        memcpy(v->u.seq.at, items, n * sizeof *items);
    return v;
}

struct jy_value *
jy_value_of_node(struct jy_frame *f, jy_ref ref)
{
    const struct jy_node *node = jy_graph_at(f->f_trace->graph, ref);
    if (node->n_kind != JY_KIND_ARRAY) {
        struct jy_value *v = jy_value_new(f, JY_V_SCALAR);
        v->u.scalar.kind = node->n_kind;
        v->u.scalar.dtype = node->n_dtype;
        v->u.scalar.node = ref;
        return v;
    }
    struct jy_value *v = jy_value_new(f, JY_V_ARRAY);
    v->v_temporary = true;
    v->u.array.storage = JY_NEW(jy_frame_arena(f), struct jy_storage);
    v->u.array.storage->version = ref;
    v->u.array.storage->fresh = true;
    v->u.array.layout = node->n_layout;
    v->u.array.shape = node->n_shape;
    v->u.array.node = v->u.array.node_version = ref;
    v->u.array.writeable = true;
    v->u.array.ndim = node->n_ndim;
    v->u.array.dtype = node->n_dtype;
    return v;
}

struct jy_value *
jy_value_size(struct jy_frame *f, jy_sx size)
{
    int64_t k;
    if (jy_sizes_is_const(&f->f_trace->graph->g_sizes, size, &k)) {
        struct jy_value *known = jy_value_const_take(f, PyLong_FromLongLong(k));
        if (known != NULL)
            return known;
        PyErr_Clear(); /* no memory for an int: the symbolic form serves as well */
    }
    struct jy_value *v = jy_value_new(f, JY_V_SCALAR);
    v->u.scalar.kind = JY_KIND_PYINT;
    v->u.scalar.dtype = JY_I64;
    v->u.scalar.has_size = true;
    v->u.scalar.size = size;
    v->u.scalar.node = JY_NO_REF;
    return v;
}

PyObject *
jy_value_known(const struct jy_value *v)
{
    return v->v_kind == JY_V_CONST || v->v_kind == JY_V_CALLABLE || v->v_kind == JY_V_MODULE ||
                   v->v_kind == JY_V_FUNCTION
               ? v->v_object
               : NULL;
}

bool
jy_value_is_none(const struct jy_value *v)
{
    return v->v_kind == JY_V_CONST && v->v_object == Py_None;
}

static bool
is_numpy_scalar(struct jy_frame *f, PyObject *object)
{
    PyObject *generic = f->f_trace->generic;
    return generic != NULL && PyObject_TypeCheck(object, (PyTypeObject *)generic) &&
           !(Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) && strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) == 0;
}

bool
jy_value_is_numpy_bool(struct jy_frame *f, const struct jy_value *v)
{
    return v->v_object != NULL && is_numpy_scalar(f, v->v_object) &&
           strncmp(Py_TYPE(v->v_object)->tp_name, "numpy.bool", 10) == 0;
}

static bool
is_dtype(PyObject *object)
{
    return strncmp(Py_TYPE(object)->tp_name, "numpy.dtype", 11) == 0 &&
           strcmp(Py_TYPE(Py_TYPE(object))->tp_name, "numpy._DTypeMeta") == 0;
}

bool
jy_value_is_plain(struct jy_frame *f, PyObject *object)
{
    if (object == NULL) /* an item of a tuple that C code has not filled */
        return false;
    if (object == Py_None || object == Py_Ellipsis || object == Py_NotImplemented || PyBool_Check(object) ||
        PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyComplex_CheckExact(object) ||
        PyUnicode_CheckExact(object) || PyBytes_CheckExact(object))
        return true;
    if (PyTuple_CheckExact(object)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); i++)
            if (!jy_value_is_plain(f, PyTuple_GET_ITEM(object, i)))
                return false;
        return true;
    }
    if (PyFrozenSet_CheckExact(object)) {
        PyObject *item, *copy = PySequence_Tuple(object);
        bool plain = copy != NULL;
        for (Py_ssize_t i = 0; plain && i < PyTuple_GET_SIZE(copy); i++) {
            item = PyTuple_GET_ITEM(copy, i);
            plain = jy_value_is_plain(f, item);
        }
        Py_XDECREF(copy);
        PyErr_Clear();
        return plain;
    }
    return (PyType_Check(object) && Py_IS_TYPE(object, &PyType_Type)) || is_numpy_scalar(f, object) || is_dtype(object);
}

/* ---- numbers that came in ---- */

jy_status
jy_value_bake(struct jy_frame *f, bool *done, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    *done = v->v_kind == JY_V_CONST;
    if (*done || v->v_kind != JY_V_SCALAR || v->v_source == JY_NO_SOURCE || v->v_object == NULL ||
        jy_source_is_dynamic(f, v->v_source))
        return JY_OK;
    if (v->u.scalar.kind == JY_KIND_PYINT)
        return JY_OK;
    jy_guard_object(f, JY_GUARD_EQUALS, v->v_source, v->v_object);
    v->v_kind = JY_V_CONST;
    *done = true;
    return JY_OK;
}

/* ---- nodes ---- */

static bool
const_scalar(union jy_scalar *out, enum jy_kind *kind, jy_dtype *dtype, struct jy_frame *f, PyObject *object)
{
    if (PyBool_Check(object)) {
        *kind = JY_KIND_PYBOOL, *dtype = JY_BOOL, out->i = object == Py_True;
        return true;
    }
    if (PyFloat_CheckExact(object)) {
        *kind = JY_KIND_PYFLOAT, *dtype = JY_F64, out->d = PyFloat_AS_DOUBLE(object);
        return true;
    }
    if (PyLong_CheckExact(object)) {
        int overflow;
        *kind = JY_KIND_PYINT, *dtype = JY_I64, out->i = PyLong_AsLongLongAndOverflow(object, &overflow);
        return overflow == 0;
    }
    if (!is_numpy_scalar(f, object))
        return false;
    char name[32];
    snprintf(name, sizeof name, "%s", Py_TYPE(object)->tp_name + 6);
    name[strcspn(name, "_")] = '\0'; /* bool_ */
    if (!jy_dtype_from_text(dtype, name))
        return false;
    *kind = JY_KIND_NPSCALAR;
    if (jy_dtype_is_float(*dtype)) {
        double d = PyFloat_AsDouble(object);
        if (*dtype == JY_F32)
            out->f = (float)d;
        else
            out->d = d;
    } else if (*dtype == JY_BOOL) {
        out->i = PyObject_IsTrue(object);
    } else {
        PyObject *index = PyNumber_Index(object);
        out->i = index != NULL ? PyLong_AsLongLong(index) : 0;
        Py_XDECREF(index);
    }
    bool ok = !PyErr_Occurred();
    PyErr_Clear();
    return ok;
}

jy_status
jy_value_node(struct jy_frame *f, jy_ref *out, struct jy_value *v)
{
    struct jy_graph *g = f->f_trace->graph;
    TRY(jy_value_realize(f, v));
    if (v->v_kind == JY_V_CONST) {
        union jy_scalar value = { 0 };
        enum jy_kind kind;
        jy_dtype dtype;
        if (!const_scalar(&value, &kind, &dtype, f, v->v_object))
            return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "%s as a number", jy_value_describe(f, v));
        *out = jy_graph_constant(g, kind, dtype, value);
        return JY_OK;
    }
    if (v->v_kind == JY_V_SCALAR) {
        if (v->u.scalar.node == JY_NO_REF)
            v->u.scalar.node = jy_graph_size(g, v->u.scalar.size);
        *out = v->u.scalar.node;
        return JY_OK;
    }
    if (v->v_kind != JY_V_ARRAY)
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "%s as an array", jy_value_describe(f, v));
    jy_ref version = jy_np_present(f, v->u.array.storage);
    if (v->u.array.view == NULL) {
        *out = version;
        return JY_OK;
    }
    if (v->u.array.node == JY_NO_REF || v->u.array.node_version != version) {
        v->u.array.node = jy_graph_view(g, version, v->u.array.view, v->u.array.shape);
        v->u.array.node_version = version;
        if (v->u.array.layout != NULL)
            jy_graph_set_layout(g, v->u.array.node, v->u.array.layout);
    }
    *out = v->u.array.node;
    return JY_OK;
}

/* ---- truth and index ---- */

jy_status
jy_value_truth(struct jy_frame *f, bool *out, struct jy_value *v)
{
    struct jy_value *answer;
    bool baked;
    TRY(jy_value_realize(f, v));
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_CONST: {
        if (!jy_value_is_plain(f, v->v_object))
            break;
        if (v->v_object == Py_NotImplemented) /* CPython warns, from the line that asks */
            return jy_break(f, JY_BREAK_RAISES, "the truth of NotImplemented");
        int truth = PyObject_IsTrue(v->v_object);
        if (truth < 0)
            return jy_break_from_exception(f, JY_BREAK_RAISES);
        *out = truth;
        return JY_OK;
    }
    case JY_V_SCALAR:
        if (v->u.scalar.has_size) {
            *out = jy_guard_size(f, v->u.scalar.size, JY_NE, 0);
            return JY_OK;
        }
        TRY(jy_value_bake(f, &baked, v));
        if (baked)
            return jy_value_truth(f, out, v);
        break;
    case JY_V_TUPLE:
    case JY_V_LIST:
    case JY_V_DICT:
        *out = v->u.seq.n != 0;
        return JY_OK;
    case JY_V_SET:
        *out = PySet_GET_SIZE(v->u.set.mirror) != 0;
        return JY_OK;
    case JY_V_RANGE: {
        struct jy_value *length;
        TRY(jy_length(f, &length, v));
        return jy_value_truth(f, out, length);
    }
    case JY_V_CALLABLE:
        TRY(jy_metaclass_call(f, &answer, v, "__bool__", 0, NULL));
        if (answer != NULL && answer->v_kind == JY_V_CONST && PyBool_Check(answer->v_object)) {
            *out = answer->v_object == Py_True;
            return JY_OK;
        }
        if (PyType_Check(v->v_object) && !Py_IS_TYPE(v->v_object, &PyType_Type) &&
            Py_TYPE(v->v_object)->tp_as_number != NULL && Py_TYPE(v->v_object)->tp_as_number->nb_bool != NULL)
            break;
        *out = true;
        return JY_OK;
    case JY_V_DICTVIEW:
        return jy_value_truth(f, out, v->u.iter.sequence);
    case JY_V_EXCEPTION:
        return jy_exception_truth(f, out, v);
    case JY_V_SLICE:
    case JY_V_FUNCTION:
    case JY_V_METHOD:
    case JY_V_MODULE:
    case JY_V_PARTIAL:
    case JY_V_ITER:
        *out = true;
        return JY_OK;
    case JY_V_OPAQUE:
    case JY_V_INSTANCE:
        if (jy_is_instance(f, v))
            return jy_instance_truth(f, out, v);
        break;
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_ARRAY:
    case JY_V_CELL:
    case JY_V_HANDLED:
        break;
    }
    return jy_break(f, JY_BREAK_DATA_BRANCH, "the truth of %s", jy_value_describe(f, v));
}

jy_status
jy_value_index(struct jy_frame *f, int64_t *out, struct jy_value *v)
{
    bool baked;
    TRY(jy_value_realize(f, v));
    if (jy_is_instance(f, v)) { /* a member of an IntEnum */
        struct jy_value *part;
        TRY(jy_over_base(f, &part, v, "__index__"));
        v = part != NULL ? part : v;
    }
    TRY(jy_value_bake(f, &baked, v));
    if (v->v_kind == JY_V_SCALAR && v->u.scalar.has_size) {
        struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
        *out = jy_sizes_hint(sizes, v->u.scalar.size);
        jy_guard_size(f, v->u.scalar.size, JY_EQ, jy_sizes_const(sizes, *out));
        return JY_OK;
    }
    if (!baked)
        return jy_break(f, JY_BREAK_DATA_VALUE, "%s as an integer", jy_value_describe(f, v));
    if (!PyIndex_Check(v->v_object) || !jy_value_is_plain(f, v->v_object))
        return jy_break(f, JY_BREAK_RAISES, "%s is no integer", jy_value_describe(f, v));
    if (jy_value_is_numpy_bool(f, v))
        return jy_break(f, JY_BREAK_RAISES, "a numpy.bool as an integer");
    PyObject *index = PyNumber_Index(v->v_object);
    if (index == NULL)
        return jy_break_from_exception(f, JY_BREAK_RAISES);
    *out = PyLong_AsLongLong(index);
    Py_DECREF(index);
    return PyErr_Occurred() ? jy_break_from_exception(f, JY_BREAK_RAISES) : JY_OK;
}

jy_status
jy_value_as_size(struct jy_frame *f, jy_sx *out, bool *ok, struct jy_value *v)
{
    TRY(jy_value_realize(f, v));
    *ok = v->v_kind == JY_V_SCALAR && v->u.scalar.has_size;
    if (*ok) {
        *out = v->u.scalar.size;
        return JY_OK;
    }
    if (v->v_kind != JY_V_CONST || !PyLong_Check(v->v_object))
        return JY_OK;
    int overflow;
    int64_t k = PyLong_AsLongLongAndOverflow(v->v_object, &overflow);
    *ok = overflow == 0;
    if (*ok)
        *out = jy_sizes_const(&f->f_trace->graph->g_sizes, k);
    return JY_OK;
}

/* ---- text ---- */

static void
describe_shape(struct jy_text *text, struct jy_frame *f, const struct jy_value *v)
{
    jy_text_add(text, "%s[", jy_dtype_info[v->u.array.dtype].text);
    for (uint8_t i = 0; i < v->u.array.ndim; i++) {
        jy_text_add(text, i != 0 ? "," : "%s", "");
        jy_sizes_print(text, &f->f_trace->graph->g_sizes, v->u.array.shape[i]);
    }
    jy_text_add(text, "]");
}

/* numpy.linalg.norm: the repr of such a function ends in an address */
static bool
describe_numpy_function(struct jy_text *text, PyObject *object)
{
    if (strcmp(Py_TYPE(object)->tp_name, "numpy._ArrayFunctionDispatcher") != 0)
        return false;
    PyObject *module = PyObject_GetAttrString(object, "__module__"), *name = PyObject_GetAttrString(object, "__name__");
    bool named = module != NULL && name != NULL && PyUnicode_Check(module) && PyUnicode_Check(name);
    if (named)
        jy_text_add(text, "%s.%s", jy_utf8(module), jy_utf8(name));
    PyErr_Clear();
    Py_XDECREF(module);
    Py_XDECREF(name);
    return named;
}

static void
describe_object(struct jy_text *text, struct jy_frame *f, PyObject *object)
{
    if (PyType_Check(object)) {
        jy_text_add(text, "%s", ((PyTypeObject *)object)->tp_name);
    } else if (jy_value_is_plain(f, object) || PyCFunction_Check(object) || jy_inspect_is_ufunc(object)) {
        PyObject *repr = PyObject_Repr(object);
        const char *utf8 = repr != NULL ? PyUnicode_AsUTF8(repr) : NULL;
        if (utf8 == NULL)
            PyErr_Clear();
        jy_text_add(text, "%.60s", utf8 != NULL ? utf8 : "?");
        Py_XDECREF(repr);
    } else if (!describe_numpy_function(text, object)) {
        jy_text_add(text, "%s object", Py_TYPE(object)->tp_name);
    }
}

static void
describe(struct jy_text *text, struct jy_frame *f, const struct jy_value *v)
{
    static const char *const scalar_kinds[] = { [JY_KIND_ARRAY] = "array",
                                                [JY_KIND_NPSCALAR] = "numpy.",
                                                [JY_KIND_PYFLOAT] = "float",
                                                [JY_KIND_PYINT] = "int",
                                                [JY_KIND_PYBOOL] = "bool" };
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_NULL:
        jy_text_add(text, "NULL");
        return;
    case JY_V_LAZY:
    case JY_V_OPAQUE:
        if (v->v_source != JY_NO_SOURCE)
            jy_source_print(text, f->f_trace->unit, v->v_source);
        jy_text_add(text, v->v_kind == JY_V_LAZY ? "?" : " (%s object)", Py_TYPE(v->v_object)->tp_name);
        return;
    case JY_V_CONST:
    case JY_V_CALLABLE:
        describe_object(text, f, v->v_object);
        return;
    case JY_V_ARRAY:
        describe_shape(text, f, v);
        return;
    case JY_V_SCALAR:
        jy_text_add(text, "%s", scalar_kinds[v->u.scalar.kind]);
        if (v->u.scalar.kind == JY_KIND_NPSCALAR)
            jy_text_add(text, "%s", jy_dtype_info[v->u.scalar.dtype].text);
        if (v->u.scalar.has_size) {
            jy_text_add(text, " ");
            jy_sizes_print(text, &f->f_trace->graph->g_sizes, v->u.scalar.size);
        } else if (v->u.scalar.node != JY_NO_REF) {
            jy_text_add(text, " %%%u", v->u.scalar.node);
        }
        return;
    case JY_V_TUPLE:
        jy_text_add(text, "tuple of %zu", v->u.seq.n);
        return;
    case JY_V_LIST:
        jy_text_add(text, "list of %zu", v->u.seq.n);
        return;
    case JY_V_DICT:
        jy_text_add(text, "dict of %zu", v->u.seq.n);
        return;
    case JY_V_SET:
        jy_text_add(text, "set of %zd", PySet_GET_SIZE(v->u.set.mirror));
        return;
    case JY_V_RANGE:
        jy_text_add(text, "range");
        return;
    case JY_V_SLICE:
        jy_text_add(text, "slice");
        return;
    case JY_V_FUNCTION: {
        PyObject *code = v->v_object != NULL ? ((PyFunctionObject *)v->v_object)->func_code : v->u.func.code;
        jy_text_add(text, "function %s", jy_utf8(((PyCodeObject *)code)->co_qualname));
        return;
    }
    case JY_V_METHOD:
        jy_text_add(text, "method ");
        if (v->u.func.name != NULL)
            jy_text_add(text, "%s of ", jy_utf8(v->u.func.name));
        describe(text, f, v->u.func.self);
        return;
    case JY_V_MODULE: {
        const char *name = PyModule_GetName(v->v_object);
        if (name == NULL)
            PyErr_Clear();
        jy_text_add(text, "module %s", name != NULL ? name : "?");
        return;
    }
    case JY_V_ITER:
        jy_text_add(text, "iterator");
        return;
    case JY_V_DICTVIEW:
        jy_text_add(text, "dict view");
        return;
    case JY_V_HANDLED:
        jy_text_add(text, "handled exception");
        return;
    case JY_V_EXCEPTION:
        jy_text_add(text, "exception");
        return;
    case JY_V_INSTANCE:
        jy_text_add(text, "%s object", v->u.instance->type->tp_name);
        return;
    case JY_V_PARTIAL:
        jy_text_add(text, "partial");
        return;
    case JY_V_CELL:
        jy_text_add(text, "cell");
        return;
    }
}

const char *
jy_value_describe(struct jy_frame *f, const struct jy_value *v)
{
    struct jy_text text = { 0 };
    describe(&text, f, v);
    const char *copy = jy_arena_strdup(jy_frame_arena(f), text.at != NULL ? text.at : "?");
    jy_text_free(&text);
    return copy;
}
