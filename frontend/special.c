/* Operators, calls and protocols of the program's classes: special methods, found on the class, called in CPython's order.
 *
 *     binary       binary_op1 and slot_nb_*: the right operand's reflected method first when its class is a subclass that overrides it, then the left's, then the right's
 *     comparison   do_richcompare: the right operand first when its class is a subclass; object's own == is identity, its != the negation of ==
 *     truth        __bool__, then __len__, then true
 *     in           __contains__, then iteration
 *
 * Builtin operands of the other side answer NotImplemented to an object that they do not know, without a look at it; where that is not so, and with arrays, the operation breaks. */
#include "frontend/call_builtin.h"
#include "frontend/instance.h"

enum { MAX_HINT = 100000 }; /* a list of that length would be made in advance */

/* ---- looking up ---- */

jy_status
jy_special(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name)
{
    const struct jy_instance *self = v->u.instance;
    *out = NULL;
    if (self->self != NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "%s of super()", name);
    PyObject *raw = jy_class_get_text(f, self->type, name);
    if (raw == NULL)
        return JY_OK;
    if (!PyFunction_Check(raw) && !Py_IS_TYPE(raw, &PyStaticMethod_Type) && !Py_IS_TYPE(raw, &PyClassMethod_Type))
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "%s of %s, a %s", name, self->type->tp_name,
                        Py_TYPE(raw)->tp_name);
    PyObject *text = jy_hold(f, PyUnicode_InternFromString(name));
    return text != NULL ? jy_class_bind(f, out, raw, v, self->klass, text) : JY_ERROR;
}

jy_status
jy_special_call(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name, size_t nargs,
                struct jy_value *const *args)
{
    struct jy_value *method;
    *out = NULL;
    TRY(jy_special(f, &method, v, name));
    return method != NULL ? jy_call(f, out, method, nargs, args, NULL) : JY_OK;
}

static bool
is_not_implemented(const struct jy_value *v)
{
    return v == NULL || (v->v_kind == JY_V_CONST && v->v_object == Py_NotImplemented);
}

/* As above, with NULL for NotImplemented. */
static jy_status
ask(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name, struct jy_value *other)
{
    TRY(jy_special_call(f, out, v, name, 1, &other));
    if (*out != NULL)
        TRY(jy_value_realize(f, *out));
    if (is_not_implemented(*out))
        *out = NULL;
    return JY_OK;
}

/* ---- the other operand ---- */

static bool
is_builtin_constant(PyObject *o)
{
    return o == Py_None || o == Py_Ellipsis || o == Py_NotImplemented || PyBool_Check(o) || PyLong_CheckExact(o) ||
           PyFloat_CheckExact(o) || PyComplex_CheckExact(o) || PyUnicode_CheckExact(o) || PyBytes_CheckExact(o) ||
           PyTuple_CheckExact(o) || PyFrozenSet_CheckExact(o);
}

/* Its type's own operators answer NotImplemented to any instance. */
static bool
is_passive(const struct jy_value *v)
{
    if (v->v_kind == JY_V_CONST)
        return is_builtin_constant(v->v_object);
    if (v->v_kind == JY_V_SCALAR)
        return v->u.scalar.kind == JY_KIND_PYINT || v->u.scalar.kind == JY_KIND_PYFLOAT ||
               v->u.scalar.kind == JY_KIND_PYBOOL;
    return v->v_kind == JY_V_TUPLE || v->v_kind == JY_V_LIST || v->v_kind == JY_V_DICT || v->v_kind == JY_V_SET ||
           v->v_kind == JY_V_RANGE || v->v_kind == JY_V_SLICE || v->v_kind == JY_V_FUNCTION ||
           v->v_kind == JY_V_METHOD || v->v_kind == JY_V_MODULE;
}

static bool
is_text(const struct jy_value *v)
{
    return v->v_kind == JY_V_CONST && (PyUnicode_CheckExact(v->v_object) || PyBytes_CheckExact(v->v_object));
}

/* A class above `object` and others of the program's: no slots of C's. */
static bool
is_pure(const struct jy_value *v)
{
    const PyTypeObject *type = v->u.instance->type;
    while (type != &PyBaseObject_Type && (type->tp_flags & Py_TPFLAGS_HEAPTYPE))
        type = type->tp_base;
    return type == &PyBaseObject_Type && v->u.instance->self == NULL;
}

/* Slots of C's are followed, or found when the special method of that name is asked for. */
static bool
is_known(const struct jy_value *v)
{
    return v->u.instance->self == NULL && v->u.instance->over.kind != JY_OVER_OTHER;
}

static jy_status
check_operands(struct jy_frame *f, const char *what, struct jy_value *a, struct jy_value *b)
{
    struct jy_value *both[] = { a, b };
    for (int i = 0; i < 2; i++)
        if (both[i]->v_kind == JY_V_INSTANCE ? !is_known(both[i]) : !is_passive(both[i]))
            return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "%s of %s and %s", what, jy_value_describe(f, a),
                            jy_value_describe(f, b));
    return JY_OK;
}

static bool
has_subclass(const struct jy_value *a, const struct jy_value *b)
{
    return a->v_kind == JY_V_INSTANCE && b->v_kind == JY_V_INSTANCE && a->u.instance->type != b->u.instance->type &&
           PyType_IsSubtype(b->u.instance->type, a->u.instance->type);
}

/* ---- binary operators ---- */

struct names {
    const char *plain, *reflected, *inplace;
};

static const struct names names_of[] = {
    [JY_NB_ADD] = { "__add__", "__radd__", "__iadd__" },
    [JY_NB_AND] = { "__and__", "__rand__", "__iand__" },
    [JY_NB_FLOOR_DIVIDE] = { "__floordiv__", "__rfloordiv__", "__ifloordiv__" },
    [JY_NB_LSHIFT] = { "__lshift__", "__rlshift__", "__ilshift__" },
    [JY_NB_MATMUL] = { "__matmul__", "__rmatmul__", "__imatmul__" },
    [JY_NB_MULTIPLY] = { "__mul__", "__rmul__", "__imul__" },
    [JY_NB_REMAINDER] = { "__mod__", "__rmod__", "__imod__" },
    [JY_NB_OR] = { "__or__", "__ror__", "__ior__" },
    [JY_NB_POWER] = { "__pow__", "__rpow__", "__ipow__" },
    [JY_NB_RSHIFT] = { "__rshift__", "__rrshift__", "__irshift__" },
    [JY_NB_SUBTRACT] = { "__sub__", "__rsub__", "__isub__" },
    [JY_NB_TRUE_DIVIDE] = { "__truediv__", "__rtruediv__", "__itruediv__" },
    [JY_NB_XOR] = { "__xor__", "__rxor__", "__ixor__" },
};

static bool
overrides(struct jy_frame *f, const struct jy_value *a, const struct jy_value *b, const char *name)
{
    PyObject *of_b = jy_class_get_text(f, b->u.instance->type, name);
    return of_b != NULL && of_b != jy_class_get_text(f, a->u.instance->type, name);
}

static jy_status
binary(struct jy_frame *f, struct jy_value **out, const struct names *names, struct jy_value *a, struct jy_value *b)
{
    bool left = a->v_kind == JY_V_INSTANCE, right = b->v_kind == JY_V_INSTANCE;
    *out = NULL;
    right = right && !(left && a->u.instance->type == b->u.instance->type);
    if (right && has_subclass(a, b) && overrides(f, a, b, names->reflected)) {
        TRY(ask(f, out, b, names->reflected, a));
        right = false;
    }
    if (left && *out == NULL)
        TRY(ask(f, out, a, names->plain, b));
    if (right && *out == NULL)
        TRY(ask(f, out, b, names->reflected, a));
    return JY_OK;
}

/* list + x, [0] * x and their like have one more chance behind the operators of numbers. */
static bool
is_sequence(const struct jy_value *v)
{
    return v->v_kind == JY_V_LIST || v->v_kind == JY_V_TUPLE || is_text(v) ||
           (v->v_kind == JY_V_CONST && PyTuple_CheckExact(v->v_object));
}

jy_status
jy_instance_binary(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op, bool inplace,
                   struct jy_value *a, struct jy_value *b)
{
    const struct names *names = &names_of[op];
    if (jy_is_instance(f, a) + jy_is_instance(f, b) == 0)
        return JY_OK;
    const char *const all[] = { names->plain, names->reflected, names->inplace };
    TRY(jy_over_binary(f, out, done, op, inplace, all, a, b));
    if (*done)
        return JY_OK;
    TRY(check_operands(f, names->plain, a, b));
    if ((op == JY_NB_REMAINDER && is_text(a)) || (inplace && a->v_kind == JY_V_DICT))
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "%s of %s and %s", names->plain, jy_value_describe(f, a),
                        jy_value_describe(f, b));
    *out = NULL;
    *done = true;
    if (inplace && a->v_kind == JY_V_INSTANCE)
        TRY(ask(f, out, a, names->inplace, b));
    if (*out == NULL)
        TRY(binary(f, out, names, a, b));
    if (*out != NULL)
        return JY_OK;
    if (inplace && op == JY_NB_ADD && a->v_kind == JY_V_LIST) {
        *done = false;
        return JY_OK;
    }
    if ((op == JY_NB_ADD && is_sequence(a)) || (op == JY_NB_MULTIPLY && (is_sequence(a) || is_sequence(b))))
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "%s of %s and %s", names->plain, jy_value_describe(f, a),
                        jy_value_describe(f, b));
    return jy_break(f, JY_BREAK_RAISES, "%s of %s and %s", names->plain, jy_value_describe(f, a),
                    jy_value_describe(f, b));
}

jy_status
jy_instance_divmod(struct jy_frame *f, struct jy_value **out, bool *done, struct jy_value *a, struct jy_value *b)
{
    static const struct names names = { "__divmod__", "__rdivmod__", NULL };
    if (jy_is_instance(f, a) + jy_is_instance(f, b) == 0)
        return JY_OK;
    TRY(check_operands(f, "divmod", a, b));
    *done = true;
    TRY(binary(f, out, &names, a, b));
    return *out != NULL
               ? JY_OK
               : jy_break(f, JY_BREAK_RAISES, "divmod of %s and %s", jy_value_describe(f, a), jy_value_describe(f, b));
}

jy_status
jy_instance_unary(struct jy_frame *f, struct jy_value **out, enum jy_unary op, struct jy_value *a)
{
    static const char *const names[] = { [JY_UNARY_NEGATIVE] = "__neg__",
                                         [JY_UNARY_POSITIVE] = "__pos__",
                                         [JY_UNARY_INVERT] = "__invert__",
                                         [JY_UNARY_ABS] = "__abs__" };
    struct jy_value *part;
    TRY(jy_over_base(f, &part, a, names[op]));
    if (part != NULL)
        return jy_unary(f, out, op, part);
    TRY(jy_special_call(f, out, a, names[op], 0, NULL));
    return *out != NULL ? JY_OK : jy_break(f, JY_BREAK_RAISES, "%s of %s", names[op], jy_value_describe(f, a));
}

/* ---- comparison ---- */

static const char *const comparisons[] = { [JY_LT] = "__lt__", [JY_LE] = "__le__", [JY_EQ] = "__eq__",
                                           [JY_NE] = "__ne__", [JY_GT] = "__gt__", [JY_GE] = "__ge__" };
static const enum jy_compare swapped[] = { [JY_LT] = JY_GT, [JY_LE] = JY_GE, [JY_EQ] = JY_EQ,
                                           [JY_NE] = JY_NE, [JY_GT] = JY_LT, [JY_GE] = JY_LE };

static struct jy_value *
boolean(struct jy_frame *f, bool truth)
{
    return jy_value_const(f, truth ? Py_True : Py_False);
}

/* type(a).tp_richcompare(a, b, op); NULL: NotImplemented */
static jy_status
compare_one(struct jy_frame *f, struct jy_value **out, enum jy_compare op, struct jy_value *a, struct jy_value *b)
{
    bool truth;
    *out = NULL;
    if (!jy_class_is_default(jy_class_get_text(f, a->u.instance->type, comparisons[op]), comparisons[op]))
        return ask(f, out, a, comparisons[op], b);
    if (op == JY_EQ) {
        TRY(jy_is_same(f, &truth, a, b));
        *out = truth ? boolean(f, true) : NULL;
    } else if (op == JY_NE) {
        TRY(compare_one(f, out, JY_EQ, a, b));
        if (*out == NULL)
            return JY_OK;
        TRY(jy_value_truth(f, &truth, *out));
        *out = boolean(f, !truth);
    }
    return JY_OK;
}

jy_status
jy_instance_compare(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_compare op, struct jy_value *a,
                    struct jy_value *b)
{
    bool left = jy_is_instance(f, a), right = jy_is_instance(f, b), same;
    if (!left && !right)
        return JY_OK;
    TRY(jy_over_compare(f, out, done, op, comparisons[op], comparisons[swapped[op]], swapped[op], a, b));
    if (*done)
        return JY_OK;
    TRY(check_operands(f, comparisons[op], a, b));
    *done = true;
    *out = NULL;
    bool first = has_subclass(a, b);
    if (first)
        TRY(compare_one(f, out, swapped[op], b, a));
    if (left && *out == NULL)
        TRY(compare_one(f, out, op, a, b));
    if (right && !first && *out == NULL)
        TRY(compare_one(f, out, swapped[op], b, a));
    if (*out != NULL)
        return JY_OK;
    if (op != JY_EQ && op != JY_NE)
        return jy_break(f, JY_BREAK_RAISES, "%s of %s and %s", comparisons[op], jy_value_describe(f, a),
                        jy_value_describe(f, b));
    TRY(jy_is_same(f, &same, a, b));
    *out = boolean(f, same == (op == JY_EQ));
    return JY_OK;
}

/* ---- truth, length, containers ---- */

static bool
is_exact_bool(const struct jy_value *v)
{
    return (v->v_kind == JY_V_CONST && PyBool_Check(v->v_object)) ||
           (v->v_kind == JY_V_SCALAR && v->u.scalar.kind == JY_KIND_PYBOOL);
}

static bool
is_exact_int(const struct jy_value *v)
{
    return (v->v_kind == JY_V_CONST && PyLong_CheckExact(v->v_object)) ||
           (v->v_kind == JY_V_SCALAR && v->u.scalar.kind == JY_KIND_PYINT);
}

static bool
is_exact_float(const struct jy_value *v)
{
    return (v->v_kind == JY_V_CONST && PyFloat_CheckExact(v->v_object)) ||
           (v->v_kind == JY_V_SCALAR && v->u.scalar.kind == JY_KIND_PYFLOAT);
}

static jy_status
unexpected(struct jy_frame *f, struct jy_value *v, const char *name)
{
    return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "what %s of %s gave", name, jy_value_describe(f, v));
}

/* The length, or NULL where the class has no __len__; one that is negative or too large raises. */
static jy_status
length(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    struct jy_value *part;
    TRY(jy_over_base(f, &part, v, "__len__"));
    if (part != NULL)
        return jy_length(f, out, part);
    TRY(jy_special_call(f, out, v, "__len__", 0, NULL));
    if (*out == NULL)
        return JY_OK;
    TRY(jy_value_realize(f, *out));
    if (!is_exact_int(*out))
        return unexpected(f, v, "__len__");
    if ((*out)->v_kind == JY_V_CONST) {
        int overflow;
        int64_t n = PyLong_AsLongLongAndOverflow((*out)->v_object, &overflow);
        return overflow == 0 && n >= 0 ? JY_OK : jy_break(f, JY_BREAK_RAISES, "a __len__ out of range");
    }
    if (!(*out)->u.scalar.has_size ||
        !jy_guard_size(f, (*out)->u.scalar.size, JY_GE, jy_sizes_const(&f->f_trace->graph->g_sizes, 0)))
        return unexpected(f, v, "__len__");
    return JY_OK;
}

jy_status
jy_instance_length(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    TRY(length(f, out, v));
    return *out != NULL
               ? JY_OK
               : jy_raises(f, PyExc_TypeError, "object of type '%s' has no len()", v->u.instance->type->tp_name);
}

jy_status
jy_instance_truth(struct jy_frame *f, bool *out, struct jy_value *v)
{
    struct jy_value *answer, *part;
    TRY(jy_over_base(f, &part, v, "__bool__"));
    if (part != NULL)
        return jy_value_truth(f, out, part);
    TRY(jy_special_call(f, &answer, v, "__bool__", 0, NULL));
    if (answer != NULL) {
        TRY(jy_value_realize(f, answer));
        return is_exact_bool(answer) ? jy_value_truth(f, out, answer) : unexpected(f, v, "__bool__");
    }
    TRY(length(f, &answer, v));
    if (answer != NULL)
        return jy_value_truth(f, out, answer);
    *out = true;
    return JY_OK;
}

/* The iterator of `in`, which says something of its own whenever iter() raises TypeError. */
static jy_status
iter_to_search(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    struct jy_trace_state *t = f->f_trace;
    uint32_t depth = t->depth, nesting = t->nesting;
    jy_status status = jy_iter(f, out, v);
    if (status != JY_BREAK || !jy_is_raised(f, PyExc_TypeError))
        return status;
    jy_exception_take(f);
    t->depth = depth;
    t->nesting = nesting;
    return jy_raises(f, PyExc_TypeError, "argument of type '%s' is not iterable", v->u.instance->type->tp_name);
}

jy_status
jy_instance_contains(struct jy_frame *f, bool *out, bool *done, struct jy_value *v, struct jy_value *item)
{
    struct jy_value *answer, *it, *next;
    if (!jy_is_instance(f, v))
        return JY_OK;
    *done = true;
    TRY(jy_over_base(f, &answer, v, "__contains__"));
    if (answer != NULL)
        return jy_contains(f, out, answer, item);
    TRY(jy_special_call(f, &answer, v, "__contains__", 1, &item));
    if (answer != NULL)
        return jy_value_truth(f, out, answer);
    TRY(iter_to_search(f, &it, v));
    *out = false;
    while (!*out) {
        TRY(jy_iter_next(f, &next, it));
        if (next == NULL)
            break;
        TRY(jy_is_equal(f, out, next, item));
    }
    return JY_OK;
}

jy_status
jy_instance_iter(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    struct jy_value *method;
    TRY(jy_over_base(f, &method, v, "__iter__"));
    if (method != NULL)
        return jy_over_iter(f, out, v);
    TRY(jy_special_call(f, out, v, "__iter__", 0, NULL));
    if (*out == NULL) {
        TRY(jy_special(f, &method, v, "__getitem__"));
        if (method != NULL) {
            TRY(jy_iter_new(f, out, JY_ITER_GETITEM, 0, NULL));
            (*out)->u.iter.sequence = v;
            return JY_OK;
        }
        return jy_raises(f, PyExc_TypeError, "'%s' object is not iterable", v->u.instance->type->tp_name);
    }
    TRY(jy_value_realize(f, *out));
    if ((*out)->v_kind == JY_V_ITER)
        return JY_OK;
    if (!jy_is_instance(f, *out))
        return unexpected(f, v, "__iter__");
    TRY(jy_special(f, &method, *out, "__next__"));
    return method != NULL ? JY_OK : unexpected(f, v, "__iter__");
}

/* A call for the next item; *out NULL where it has raised StopIteration, or the other exception that says so. */
static jy_status
call_for_item(struct jy_frame *f, struct jy_value **out, struct jy_value *method, size_t nargs,
              struct jy_value *const *args, PyObject *other)
{
    struct jy_trace_state *t = f->f_trace;
    uint32_t depth = t->depth, nesting = t->nesting;
    jy_status status = jy_call(f, out, method, nargs, args, NULL);
    if (status != JY_BREAK || (!jy_is_raised(f, PyExc_StopIteration) && !jy_is_raised(f, other)))
        return status;
    jy_exception_take(f);
    t->depth = depth;
    t->nesting = nesting;
    *out = NULL;
    return JY_OK;
}

jy_status
jy_instance_next(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    struct jy_value *method;
    *out = NULL;
    TRY(jy_special(f, &method, v, "__next__"));
    if (method == NULL)
        return jy_break(f, JY_BREAK_RAISES, "next() of %s", jy_value_describe(f, v));
    return call_for_item(f, out, method, 0, NULL, PyExc_StopIteration);
}

jy_status
jy_instance_next_item(struct jy_frame *f, struct jy_value **out, struct jy_value *iterator)
{
    struct jy_value *index = jy_value_const_take(f, PyLong_FromSize_t(iterator->u.iter.position)), *method;
    if (index == NULL)
        return JY_ERROR;
    TRY(jy_special(f, &method, iterator->u.iter.sequence, "__getitem__"));
    if (method == NULL)
        return jy_break(f, JY_BREAK_RAISES, "items of %s", jy_value_describe(f, iterator->u.iter.sequence));
    TRY(call_for_item(f, out, method, 1, &index, PyExc_IndexError));
    iterator->u.iter.position += *out != NULL;
    return JY_OK;
}

jy_status
jy_instance_ask_hint(struct jy_frame *f, struct jy_value *v)
{
    struct jy_value *n;
    TRY(jy_over_base(f, &n, v, "__len__"));
    if (n != NULL)
        return JY_OK;
    jy_status status = length(f, &n, v);
    if (status == JY_BREAK) /* a TypeError would be forgotten */
        jy_exception_stop(f);
    TRY(status);
    int64_t items = 0;
    if (n != NULL && n->v_kind == JY_V_CONST)
        items = PyLong_AsLongLong(n->v_object);
    bool hint = n == NULL && jy_class_get_text(f, v->u.instance->type, "__length_hint__") != NULL;
    if (hint || items > MAX_HINT)
        return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "%s, which says how long it is", jy_value_describe(f, v));
    return JY_OK;
}

jy_status
jy_instance_check_hint(struct jy_frame *f, struct jy_value *v)
{
    struct jy_value *part;
    TRY(jy_over_base(f, &part, v, "__len__"));
    if (part != NULL)
        return JY_OK;
    if (jy_class_get_text(f, v->u.instance->type, "__len__") != NULL ||
        jy_class_get_text(f, v->u.instance->type, "__length_hint__") != NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_ITERATION, "%s, which says how long it is", jy_value_describe(f, v));
    return JY_OK;
}

/* ---- numbers ---- */

jy_status
jy_instance_convert(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyTypeObject *type)
{
    bool is_float = type == &PyFloat_Type;
    const char *name = is_float ? "__float__" : "__int__";
    struct jy_value *part;
    TRY(jy_over_base(f, &part, v, name));
    if (part != NULL)
        return jy_builtin_construct(f, out, type, 1, &part);
    if (!is_pure(v))
        return unexpected(f, v, name);
    TRY(jy_special_call(f, out, v, name, 0, NULL));
    if (*out != NULL) {
        TRY(jy_value_realize(f, *out));
        return (is_float ? is_exact_float(*out) : is_exact_int(*out)) ? JY_OK : unexpected(f, v, name);
    }
    TRY(jy_special_call(f, out, v, "__index__", 0, NULL));
    if (*out == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s(%s)", type->tp_name, jy_value_describe(f, v));
    TRY(jy_value_realize(f, *out));
    if (!is_exact_int(*out) || is_float)
        return unexpected(f, v, "__index__");
    return JY_OK;
}
