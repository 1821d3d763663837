/* Exception values: making, raising and following them; what the program can ask of one.
 *
 * Classes: builtin ones whose constructors only keep their arguments, and classes of the program's that derive from them without a __new__, a destructor or attribute hooks of their
 * own; their __init__, if any, is traced. Builtin classes with constructors of their own (OSError, UnicodeError, ...) are called for real, with constants. */
#include "frontend/exception.h"
#include "frontend/instance.h"

#include <string.h>

static PyObject *
name_object(struct jy_frame *f, const char *name)
{
    return jy_hold(f, PyUnicode_InternFromString(name));
}

/* ---- raising ---- */

struct jy_value *
jy_exception_handled(const struct jy_frame *f)
{
    for (const struct jy_frame *at = f; at != NULL; at = at->f_back)
        for (size_t i = at->f_depth; i > 0; i--)
            if (at->f_stack[i - 1] != NULL && at->f_stack[i - 1]->v_kind == JY_V_HANDLED)
                return at->f_stack[i - 1]->u.handled.exception;
    return NULL;
}

static jy_status
send(struct jy_frame *f, enum jy_break_reason reason, struct jy_value *exception)
{
    struct jy_trace_state *t = f->f_trace;
    struct jy_break_info before = t->unit->u_break;
    jy_break(f, reason, "%s", jy_value_describe(f, exception));
    t->before_raise = before;
    t->raised = exception;
    t->raised_depth = t->depth;
    return JY_BREAK;
}

/* As _PyErr_SetObject: the handled exception becomes the context, and a chain never becomes a ring. */
static void
set_context(struct jy_frame *f, struct jy_value *exception)
{
    struct jy_value *handled = jy_exception_handled(f);
    if (handled == exception)
        return;
    for (struct jy_value *at = handled; at != NULL && at->v_kind == JY_V_EXCEPTION; at = at->u.exception.context) {
        if (at->u.exception.context == exception) {
            at->u.exception.context = NULL;
            break;
        }
    }
    exception->u.exception.context = handled;
}

jy_status
jy_raise(struct jy_frame *f, enum jy_break_reason reason, struct jy_value *exception)
{
    set_context(f, exception);
    return send(f, reason, exception);
}

jy_status
jy_raise_again(struct jy_frame *f, struct jy_value *exception)
{
    return send(f, JY_BREAK_RAISE, exception);
}

static struct jy_value *
exception_new(struct jy_frame *f, struct jy_value *type, size_t n, struct jy_value *const *args)
{
    struct jy_value *v = jy_value_new(f, JY_V_EXCEPTION);
    v->u.exception.type = type;
    v->u.exception.args = jy_value_seq(f, JY_V_TUPLE, n, args);
    return v;
}

jy_status
jy_raise_new(struct jy_frame *f, PyObject *type, size_t n, struct jy_value *const *args)
{
    return jy_raise(f, JY_BREAK_RAISES, exception_new(f, jy_value_callable(f, type, JY_NO_SOURCE), n, args));
}

/* A value for the exception that CPython made; NULL: one that the trace does not follow. refs: borrows */
static struct jy_value *
exception_of_object(struct jy_frame *f, PyObject *object)
{
    PyObject *args = PyExceptionInstance_Check(object) ? ((PyBaseExceptionObject *)object)->args : NULL;
    if ((Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) || args == NULL || !jy_value_is_plain(f, args))
        return NULL;
    struct jy_value *type = jy_value_callable(f, (PyObject *)Py_TYPE(object), JY_NO_SOURCE);
    struct jy_value *v = exception_new(f, type, (size_t)PyTuple_GET_SIZE(args), NULL);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++)
        v->u.exception.args->u.seq.at[i] = jy_value_const(f, PyTuple_GET_ITEM(args, i));
    jy_keep(f->f_trace->unit, object);
    v->v_object = object;
    return v;
}

static bool
is_followed(PyObject *type)
{
    return PyErr_GivenExceptionMatches(type, PyExc_Exception) &&
           !PyErr_GivenExceptionMatches(type, PyExc_MemoryError) &&
           !PyErr_GivenExceptionMatches(type, PyExc_RecursionError) &&
           !PyErr_GivenExceptionMatches(type, PyExc_Warning);
}

jy_status
jy_raise_from_exception(struct jy_frame *f)
{
    PyObject *type, *object, *traceback;
    PyErr_Fetch(&type, &object, &traceback);
    PyErr_NormalizeException(&type, &object, &traceback);
    struct jy_value *v = NULL;
    if (object != NULL && is_followed((PyObject *)Py_TYPE(object)))
        v = exception_of_object(f, object);
    if (v == NULL) {
        PyErr_Restore(type, object, traceback);
        return jy_break_from_exception(f, JY_BREAK_RAISES);
    }
    Py_XDECREF(type);
    Py_DECREF(object);
    Py_XDECREF(traceback);
    return jy_raise(f, JY_BREAK_RAISES, v);
}

/* ---- following ---- */

bool
jy_is_raised(const struct jy_frame *f, PyObject *type)
{
    const struct jy_value *raised = f->f_trace->raised;
    return raised != NULL && PyType_IsSubtype(jy_exception_type(raised), (PyTypeObject *)type);
}

struct jy_value *
jy_exception_take(struct jy_frame *f)
{
    struct jy_value *raised = f->f_trace->raised;
    f->f_trace->raised = NULL;
    f->f_trace->unit->u_break = f->f_trace->before_raise;
    return raised;
}

void
jy_exception_stop(struct jy_frame *f)
{
    if (f->f_trace->raised != NULL && f->f_trace->raised_depth > f->f_trace->depth)
        f->f_trace->raised = NULL;
}

struct jy_value *
jy_exception_turned(struct jy_frame *f, struct jy_value *exception)
{
    if (!PyType_IsSubtype(jy_exception_type(exception), (PyTypeObject *)PyExc_StopIteration))
        return exception;
    struct jy_value *text = jy_value_const(f, name_object(f, "generator raised StopIteration"));
    struct jy_value *turned = exception_new(f, jy_value_callable(f, PyExc_RuntimeError, JY_NO_SOURCE), 1, &text);
    turned->u.exception.cause = turned->u.exception.context = exception;
    turned->u.exception.suppress_context = true;
    return turned;
}

void
jy_exception_turn(struct jy_frame *f)
{
    f->f_trace->raised = jy_exception_turned(f, f->f_trace->raised);
}

jy_status
jy_exception_unwind(struct jy_frame *f, uint32_t depth, uint32_t nesting)
{
    struct jy_trace_state *t = f->f_trace;
    const struct jy_handler *h = jy_code_handler_of(f->f_instrs, f->f_pc);
    t->depth = depth;
    t->nesting = nesting;
    f->f_kwnames = NULL;
    if (h == NULL) {
        *jy_vec_push(jy_frame_arena(f), &t->raised->u.exception.left) = f;
        if (f->f_back == NULL)
            t->raised = NULL;
        return JY_BREAK;
    }
    size_t needed = (size_t)h->h_depth + h->h_lasti + 1;
    if ((size_t)h->h_depth > f->f_depth || needed > f->f_stacksize)
        return jy_break(f, JY_BREAK_BAD_BYTECODE, "a handler that does not fit the stack");
    struct jy_value *lasti = NULL;
    if (h->h_lasti) { /* a RERAISE would hand on an earlier one; it only tells tracebacks their lines */
        const struct jy_instr *instr = jy_code_at(f->f_instrs, f->f_pc);
        lasti = jy_value_const_take(f, PyLong_FromLong(instr->i_offset + instr->i_prefix));
        if (lasti == NULL)
            return JY_ERROR;
    }
    f->f_depth = (size_t)h->h_depth;
    if (lasti != NULL)
        jy_push(f, lasti);
    f->f_next = jy_code_live(f->f_instrs, h->h_handler);
    return jy_push(f, jy_exception_take(f));
}

/* ---- classes ---- */

PyTypeObject *
jy_exception_type(const struct jy_value *v)
{
    return (PyTypeObject *)v->u.exception.type->v_object;
}

/* The builtin class that a class of the program's derives from. */
static PyTypeObject *
builtin_base(PyTypeObject *type)
{
    while (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        type = type->tp_base;
    return type;
}

/* The constructor keeps its arguments and nothing else. */
static bool
only_keeps_arguments(const PyTypeObject *base)
{
    PyObject *const like[] = { PyExc_BaseException, PyExc_StopIteration, PyExc_SystemExit, PyExc_AttributeError,
                               PyExc_NameError };
    bool init = false, made = base->tp_new == ((PyTypeObject *)PyExc_BaseException)->tp_new;
    for (size_t i = 0; i < sizeof like / sizeof *like; i++)
        init = init || base->tp_init == ((PyTypeObject *)like[i])->tp_init;
    return init && made;
}

static jy_status
no_class(struct jy_frame *f, struct jy_value *klass)
{
    return jy_break(f, JY_BREAK_RAISE, "%s", jy_value_describe(f, klass));
}

/* What the class holds under the name; of a class of the program's it is guarded. */
static PyObject *
class_get(struct jy_frame *f, PyTypeObject *type, PyObject *name)
{
    return type->tp_flags & Py_TPFLAGS_HEAPTYPE ? jy_class_get(f, type, NULL, name) : _PyType_Lookup(type, name);
}

/* What a class of the program's inherits from the builtin one stays so. */
static jy_status
check_inherited(struct jy_frame *f, struct jy_value *klass, const char *text)
{
    PyTypeObject *type = (PyTypeObject *)klass->v_object;
    PyObject *name = name_object(f, text);
    if (name == NULL)
        return JY_ERROR;
    return class_get(f, type, name) == _PyType_Lookup(builtin_base(type), name) ? JY_OK : no_class(f, klass);
}

/* Arguments that the constructor of a builtin class looks into: it is called for real. */
static jy_status
call_for_real(struct jy_frame *f, struct jy_value **out, struct jy_value *klass, size_t n, struct jy_value *const *args)
{
    PyObject *objects = jy_hold(f, jy_value_as_object(f, jy_value_seq(f, JY_V_TUPLE, n, args)));
    if (objects == NULL || !jy_value_is_plain(f, objects))
        return no_class(f, klass);
    PyObject *object = jy_hold(f, PyObject_Call(klass->v_object, objects, NULL));
    if (object == NULL)
        return jy_raise_from_exception(f);
    *out = exception_of_object(f, object);
    return *out != NULL ? JY_OK : no_class(f, klass);
}

/* A class of the program's with an __init__ in Python. */
static jy_status
call_init(struct jy_frame *f, struct jy_value *klass, struct jy_value *self, size_t nargs, struct jy_value *const *args,
          PyObject *kwnames)
{
    PyObject *raw = jy_class_get_text(f, (PyTypeObject *)klass->v_object, "__init__");
    size_t n = nargs + (kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0);
    if (raw == NULL || !PyFunction_Check(raw))
        return no_class(f, klass);
    struct jy_value *result;
    struct jy_value **all = JY_NEW_ARRAY(jy_frame_arena(f), struct jy_value *, n + 1);
    all[0] = self;
    if (n != 0)
        memcpy(all + 1, args, n * sizeof *args);
    TRY(jy_call(f, &result, jy_class_value(f, raw), nargs + 1, all, kwnames));
    return jy_value_is_none(result) ? JY_OK : no_class(f, klass);
}

jy_status
jy_exception_call(struct jy_frame *f, struct jy_value **out, struct jy_value *klass, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames)
{
    PyTypeObject *type = (PyTypeObject *)klass->v_object, *base = builtin_base(type);
    bool own_init = type->tp_init != base->tp_init, keywords = kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0;
    if (!Py_IS_TYPE(klass->v_object, &PyType_Type) || (keywords && !own_init))
        return no_class(f, klass);
    if (!only_keeps_arguments(base))
        return type == base ? call_for_real(f, out, klass, nargs, args) : no_class(f, klass);
    if (type->tp_new != base->tp_new || type->tp_getattro != base->tp_getattro ||
        type->tp_setattro != base->tp_setattro || type->tp_finalize != NULL || type->tp_del != NULL)
        return no_class(f, klass);
    TRY(check_inherited(f, klass, "__new__"));
    if (!own_init)
        TRY(check_inherited(f, klass, "__init__"));
    *out = exception_new(f, klass, nargs, args);
    return own_init ? call_init(f, klass, *out, nargs, args, kwnames) : JY_OK;
}

void
jy_guard_bases(struct jy_frame *f, PyTypeObject *type)
{
    PyObject *name = type->tp_flags & Py_TPFLAGS_HEAPTYPE ? name_object(f, "__mro__") : NULL;
    if (name == NULL)
        return;
    jy_src klass = jy_class_value(f, (PyObject *)type)->v_source;
    jy_guard_is(f, jy_source_add(f->f_trace->unit, JY_SOURCE_ATTR, klass, 0, name), type->tp_mro);
}

jy_status
jy_exception_matches(struct jy_frame *f, bool *out, PyTypeObject *type, struct jy_value *classes)
{
    TRY(jy_value_realize(f, classes));
    jy_guard_bases(f, type);
    PyObject *object = jy_value_known(classes);
    if (object != NULL && PyExceptionClass_Check(object)) {
        *out = PyType_IsSubtype(type, (PyTypeObject *)object); /* no __subclasscheck__ has a say here */
        return JY_OK;
    }
    struct jy_value **items = NULL;
    size_t n = 0;
    if (classes->v_kind == JY_V_TUPLE || (object != NULL && PyTuple_CheckExact(object)))
        TRY(jy_value_items(f, &items, &n, classes));
    if (items == NULL)
        return jy_break(f, JY_BREAK_EXCEPTION_HANDLING, "except %s", jy_value_describe(f, classes));
    bool matches = false;
    for (size_t i = 0; i < n; i++) { /* all are looked at first: one that is no class raises */
        TRY(jy_value_realize(f, items[i]));
        object = jy_value_known(items[i]);
        if (object == NULL || !PyExceptionClass_Check(object))
            return jy_break(f, JY_BREAK_EXCEPTION_HANDLING, "except %s", jy_value_describe(f, items[i]));
        matches = matches || PyType_IsSubtype(type, (PyTypeObject *)object);
    }
    *out = matches;
    return JY_OK;
}

/* ---- attributes ---- */

static struct jy_value *
traceback_of(struct jy_frame *f, struct jy_value *v)
{
    struct jy_value *traceback = jy_value_new(f, JY_V_HANDLED);
    traceback->u.handled.exception = v;
    return traceback;
}

static jy_status
no_attribute(struct jy_frame *f, struct jy_value *v, PyObject *name)
{
    return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s of %s", jy_utf8(name), jy_value_describe(f, v));
}

/* The attributes of BaseException itself; *out NULL: none of them */
static void
base_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name)
{
    struct jy_value *none = jy_value_const(f, Py_None), *first = none;
    if (v->u.exception.args->u.seq.n != 0)
        first = v->u.exception.args->u.seq.at[0];
    *out = NULL;
    if (strcmp(name, "args") == 0)
        *out = v->u.exception.args;
    else if (strcmp(name, "__class__") == 0)
        *out = v->u.exception.type;
    else if (strcmp(name, "__cause__") == 0)
        *out = v->u.exception.cause != NULL ? v->u.exception.cause : none;
    else if (strcmp(name, "__context__") == 0)
        *out = v->u.exception.context; /* NULL: what handles the traced call is unknown */
    else if (strcmp(name, "__suppress_context__") == 0)
        *out = jy_value_const(f, v->u.exception.suppress_context ? Py_True : Py_False);
    else if (strcmp(name, "__traceback__") == 0)
        *out = traceback_of(f, v);
    else if (strcmp(name, "value") == 0 && builtin_base(jy_exception_type(v)) == (PyTypeObject *)PyExc_StopIteration)
        *out = first;
}

static struct jy_value *
method_of(struct jy_frame *f, struct jy_value *v, PyObject *name)
{
    struct jy_value *m = jy_value_new(f, JY_V_METHOD);
    jy_keep(f->f_trace->unit, name);
    m->u.func.self = v;
    m->u.func.name = name;
    return m;
}

static jy_status
own_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    size_t index;
    bool found = false;
    *out = NULL;
    if (v->u.exception.attrs != NULL)
        TRY(jy_dict_find(f, &index, &found, v->u.exception.attrs, jy_value_const(f, name)));
    if (found)
        *out = v->u.exception.attrs->u.seq.at[index];
    return JY_OK;
}

/* A function or plain data of a class of the program's. */
static jy_status
class_attribute(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name, PyObject *raw)
{
    bool data = Py_TYPE(raw)->tp_descr_get == NULL && Py_TYPE(raw)->tp_descr_set == NULL;
    if (!data && !PyFunction_Check(raw) && !Py_IS_TYPE(raw, &PyStaticMethod_Type) &&
        !Py_IS_TYPE(raw, &PyClassMethod_Type))
        return no_attribute(f, v, name);
    return jy_class_bind(f, out, raw, v, v->u.exception.type, name);
}

jy_status
jy_exception_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    PyTypeObject *type = jy_exception_type(v), *base = builtin_base(type);
    const char *text = jy_utf8(name);
    TRY(check_inherited(f, v->u.exception.type, "__getattribute__"));
    PyObject *raw = class_get(f, type, name);
    bool inherited = raw != NULL && raw == _PyType_Lookup(base, name);
    if (inherited && Py_TYPE(raw)->tp_descr_set != NULL) { /* getset and member descriptors come first */
        base_attribute(f, out, v, text);
        if (*out != NULL)
            return JY_OK;
        PyObject *object = v->v_object != NULL && type == base ? jy_hold(f, PyObject_GetAttr(v->v_object, name)) : NULL;
        PyErr_Clear();
        if (object == NULL || !jy_value_is_plain(f, object))
            return no_attribute(f, v, name);
        *out = jy_value_const(f, object);
        return JY_OK;
    }
    TRY(own_attribute(f, out, v, name));
    if (*out != NULL)
        return JY_OK;
    if (raw == NULL && (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && jy_class_get_text(f, type, "__getattr__") != NULL)
        return no_attribute(f, v, name);
    if (raw == NULL)
        return jy_raises(f, PyExc_AttributeError, "'%s' object has no attribute '%s'", type->tp_name, text);
    if (inherited && strcmp(text, "with_traceback") == 0) {
        *out = method_of(f, v, name);
        return JY_OK;
    }
    return inherited ? no_attribute(f, v, name) : class_attribute(f, out, v, name, raw);
}

/* The constructor that a class without one of its own would have. */
static bool
is_base_init(struct jy_frame *f, const struct jy_value *v, PyObject *raw)
{
    PyTypeObject *base = builtin_base(jy_exception_type(v));
    PyObject *name = name_object(f, "__init__");
    return name != NULL && Py_IS_TYPE(raw, &PyWrapperDescr_Type) && raw == _PyType_Lookup(base, name) &&
           only_keeps_arguments(base);
}

jy_status
jy_exception_super(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *raw, PyObject *name)
{
    if (!is_base_init(f, self, raw))
        return class_attribute(f, out, self, name, raw);
    *out = method_of(f, self, name);
    return JY_OK;
}

static bool
is_sys_exception(PyObject *callable)
{
    PyObject *module = PyCFunction_CheckExact(callable) ? ((PyCFunctionObject *)callable)->m_module : NULL;
    return module != NULL && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "sys") == 0 &&
           strcmp(((PyCFunctionObject *)callable)->m_ml->ml_name, "exception") == 0;
}

jy_status
jy_exception_builtin(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
                     struct jy_value *const *args, PyObject *kwnames)
{
    if (nargs == 0 && kwnames == NULL && is_sys_exception(callable)) {
        *out = jy_exception_handled(f); /* NULL: what handles the traced call is unknown */
        *handled = *out != NULL;
        return JY_OK;
    }
    *handled = nargs > 0 && args[0]->v_kind == JY_V_EXCEPTION && is_base_init(f, args[0], callable);
    if (!*handled)
        return JY_OK;
    return jy_exception_method(f, out, args[0], name_object(f, "__init__"), nargs - 1, args + 1, kwnames);
}

/* __traceback__ is what nobody sees here; other attributes of BaseException's own are not set, those of the program's are kept. */
jy_status
jy_exception_setattr(struct jy_frame *f, struct jy_value *v, PyObject *name, struct jy_value *value)
{
    PyObject *raw = class_get(f, jy_exception_type(v), name);
    TRY(jy_value_realize(f, value));
    if (PyUnicode_CompareWithASCIIString(name, "__traceback__") == 0 &&
        (value->v_kind == JY_V_HANDLED || jy_value_is_none(value)))
        return JY_OK;
    if (v->v_object != NULL || (raw != NULL && Py_TYPE(raw)->tp_descr_set != NULL) ||
        jy_exception_type(v)->tp_dictoffset == 0)
        return jy_break(f, JY_BREAK_STORE_ATTR, "%s of %s", jy_utf8(name), jy_value_describe(f, v));
    TRY(check_inherited(f, v->u.exception.type, "__setattr__"));
    if (v->u.exception.attrs == NULL)
        v->u.exception.attrs = jy_value_seq(f, JY_V_DICT, 0, NULL);
    return jy_dict_set(f, v->u.exception.attrs, jy_value_const(f, name), value);
}

jy_status
jy_exception_method(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name, size_t nargs,
                    struct jy_value *const *args, PyObject *kwnames)
{
    const char *text = jy_utf8(name);
    if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords for the method %s", text);
    if (strcmp(text, "with_traceback") == 0 && nargs == 1) {
        TRY(jy_value_realize(f, args[0]));
        if (args[0]->v_kind == JY_V_HANDLED || jy_value_is_none(args[0])) {
            *out = self;
            return JY_OK;
        }
    }
    if (strcmp(text, "__init__") == 0) { /* super().__init__(...) */
        self->u.exception.args = jy_value_seq(f, JY_V_TUPLE, nargs, args);
        *out = jy_value_const(f, Py_None);
        return JY_OK;
    }
    return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s of %s", text, jy_value_describe(f, self));
}

/* Exceptions are true unless their class has a say. */
jy_status
jy_exception_truth(struct jy_frame *f, bool *out, struct jy_value *v)
{
    PyTypeObject *type = jy_exception_type(v);
    *out = true;
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
        (jy_class_get_text(f, type, "__bool__") != NULL || jy_class_get_text(f, type, "__len__") != NULL))
        return jy_break(f, JY_BREAK_UNKNOWN_OPERAND, "the truth of %s", jy_value_describe(f, v));
    return JY_OK;
}

/* ---- text ---- */

jy_status
jy_exception_check_format(struct jy_frame *f, struct jy_value *v)
{
    return check_inherited(f, v->u.exception.type, "__format__");
}

jy_status
jy_exception_text(struct jy_frame *f, struct jy_value **out, struct jy_value *v)
{
    PyTypeObject *type = jy_exception_type(v), *base = builtin_base(type);
    if (v->v_object != NULL)
        return jy_take(f, out, PyObject_Str(v->v_object));
    if (type->tp_str != base->tp_str) {
        struct jy_value *method;
        PyObject *name = name_object(f, "__str__");
        if (name == NULL)
            return JY_ERROR;
        TRY(jy_exception_getattr(f, &method, v, name));
        return jy_call(f, out, method, 0, NULL, NULL);
    }
    TRY(check_inherited(f, v->u.exception.type, "__str__"));
    PyObject *args = jy_hold(f, jy_value_as_object(f, v->u.exception.args));
    if (args == NULL || !jy_value_is_plain(f, args) || !only_keeps_arguments(base))
        return jy_break(f, JY_BREAK_FORMAT, "%s in text", jy_value_describe(f, v));
    PyObject *object = jy_hold(f, PyObject_Call((PyObject *)base, args, NULL));
    return jy_take(f, out, object != NULL ? PyObject_Str(object) : NULL);
}
