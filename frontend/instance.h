/* Classes of the program's and their instances (instance.c, class.c, special.c, over.c, op_super.c).
 *
 * An instance value is an object of a heap type. What it was given while tracing stands in its table of attributes; what it held before is read from the live object and is an ATTR
 * source. What its class holds is looked up once and guarded per (class, name): absence, too, since it is what decides that something else is looked for. */
#ifndef JY_FRONTEND_INSTANCE_H
#define JY_FRONTEND_INSTANCE_H

#include "frontend/exception.h"
#include "frontend/interp.h"

struct jy_attribute {
    PyObject *name;
    struct jy_value *value; /* NULL: deleted */
    bool slot;              /* a member of __slots__, not in the dictionary */
};

/* The builtin type that the instances of a class have a part of. */
enum jy_over {
    JY_OVER_OBJECT, /* none */
    JY_OVER_TUPLE,
    JY_OVER_LIST,
    JY_OVER_DICT,
    JY_OVER_DEFAULTDICT,
    JY_OVER_DEQUE,
    JY_OVER_NUMBER, /* int, float, str, bytes */
    JY_OVER_OTHER,  /* not followed */
};

struct jy_instance {
    PyTypeObject *type;
    struct jy_value *klass; /* the class as a value with a source */
    struct {
        struct jy_attribute *at;
        size_t n, cap;
    } attributes;          /* changed ones; a new instance's in the order of its dictionary */
    struct jy_value *self; /* a super object: super(after, self) */
    struct jy_value *after;
    PyTypeObject *start;            /* ... whose MRO is searched */
    uint32_t counted;               /* the walk that was here last */
    struct {                        /* np.errstate: errstate.c */
        bool used;                  /* it has been entered */
        uint32_t number;            /* of its block, counted from 1; 0: it has been left */
        uint32_t ignored, reported; /* what was the case outside */
    } errs;
    struct {          /* over.c */
        uint8_t kind; /* enum jy_over */
        PyTypeObject *builtin;
        struct jy_value *base;    /* TUPLE, LIST, DICT, CONST; NULL: not looked at */
        struct jy_value *factory; /* defaultdict */
        int64_t maxlen;           /* deque; -1: no bound */
        int64_t changes;          /* deque: those that its iterators mind */
    } over;
};

/* ---- class.c ---- */

/* What the class holds under that name, guarded; NULL: nothing. */
PyObject *jy_class_get(struct jy_frame *f, PyTypeObject *type, PyTypeObject *after, PyObject *name);
PyObject *jy_class_get_text(struct jy_frame *f, PyTypeObject *type, const char *name);
/* Is that what `object` holds under the name? */
bool jy_class_is_default(PyObject *raw, const char *name);
/* An object found in a class, as a value whose source is the object itself. */
struct jy_value *jy_class_value(struct jy_frame *f, PyObject *object);
/* A __getattribute__ that is object's, or another builtin's that does the same. */
bool jy_class_is_plain_lookup(PyObject *raw);
/* No descriptor. */
bool jy_class_is_data(PyObject *raw);
/* Data of the class, which holder.name fetches again at each call: no guard that it is the very same object. */
struct jy_value *jy_class_data(struct jy_frame *f, PyObject *raw, struct jy_value *holder, PyObject *name);
/* The method that the class v has from its metaclass, bound to v; NULL: v is no class, or has none of the program's. */
jy_status jy_metaclass_special(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name);
/* The same, called; *out NULL: no such method. */
jy_status jy_metaclass_call(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name,
                            size_t nargs, struct jy_value *const *args);
/* raw.__get__(self, klass), as attribute look-up does it; self NULL: through the class. raw is guarded. */
jy_status jy_class_bind(struct jy_frame *f, struct jy_value **out, PyObject *raw, struct jy_value *self,
                        struct jy_value *klass, PyObject *name);
jy_status jy_class_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *klass, PyObject *name);
/* A call of a class, of a method of `object`'s, of super. */
jy_status jy_class_call(struct jy_frame *f, struct jy_value **out, bool *handled, struct jy_value *callable,
                        size_t nargs, struct jy_value *const *args, PyObject *kwnames);

/* ---- op_super.c ---- */

jy_status jy_super_new(struct jy_frame *f, struct jy_value **out, size_t nargs, struct jy_value *const *args);
/* Attribute of a super object. */
jy_status jy_super_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name);

/* ---- instance.c ---- */

/* An OPAQUE object of the program's classes becomes an INSTANCE (type guard). */
void jy_instance_open(struct jy_frame *f, struct jy_value *v);
/* Opens v: is it an instance of a class of the program's? */
static inline bool
jy_is_instance(struct jy_frame *f, struct jy_value *v)
{
    if (v->v_kind == JY_V_OPAQUE)
        jy_instance_open(f, v);
    return v->v_kind == JY_V_INSTANCE;
}
struct jy_value *jy_instance_new(struct jy_frame *f, struct jy_value *klass);
/* *out NULL: there is no such attribute */
jy_status jy_instance_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name);
/* The same, when AttributeError says that, too: for hasattr and for getattr with a default. */
jy_status jy_instance_find(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name);
jy_status jy_instance_no_attribute(struct jy_frame *f, struct jy_value *v, PyObject *name);
/* object.__getattribute__(v, name) */
jy_status jy_instance_generic_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name);
/* value NULL: del */
jy_status jy_instance_setattr(struct jy_frame *f, struct jy_value *v, PyObject *name, struct jy_value *value);
/* object.__setattr__(v, name, value) */
jy_status jy_instance_generic_setattr(struct jy_frame *f, struct jy_value *v, PyObject *name, struct jy_value *value);
/* A slot of __slots__; *out NULL: empty. */
jy_status jy_instance_slot(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *descriptor,
                           PyObject *name);
/* The recipe of a new instance is the empty object; its attributes are stored by effects once all is there. */
jy_status jy_instance_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);
jy_status jy_instance_store(struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);

/* ---- over.c ---- */

enum jy_over jy_over_find(struct jy_frame *f, PyTypeObject **builtin, PyTypeObject *type);
/* Is its class the builtin one itself? */
bool jy_over_is_exact(const struct jy_value *v);
/* The part of v that answers `name`, since its class leaves that to the builtin type; NULL: v has none, or its class has a say. */
jy_status jy_over_base(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name);
/* What is updated from: the table of an object over dict, whatever its class has overridden but __iter__. Others are left alone. */
jy_status jy_over_dict(struct jy_frame *f, struct jy_value **out, struct jy_value *v);
/* builtin.__new__(klass, *args) and builtin.__init__(v, *args) */
jy_status jy_over_new(struct jy_frame *f, struct jy_value **out, struct jy_value *klass, size_t n,
                      struct jy_value *const *args, PyObject *kwnames);
jy_status jy_over_init(struct jy_frame *f, struct jy_value *v, size_t n, struct jy_value *const *args,
                       PyObject *kwnames);
/* *done: `raw` is the builtin type's own, bound to v */
jy_status jy_over_bind(struct jy_frame *f, struct jy_value **out, bool *done, PyObject *raw, struct jy_value *v,
                       PyObject *name);
/* With the part at hand (jy_over_base). */
jy_status jy_over_getitem(struct jy_frame *f, struct jy_value **out, struct jy_value *v, struct jy_value *key);
jy_status jy_over_setitem(struct jy_frame *f, struct jy_value *v, struct jy_value *key, struct jy_value *item);
jy_status jy_over_delitem(struct jy_frame *f, struct jy_value *v, struct jy_value *key);
jy_status jy_over_iter(struct jy_frame *f, struct jy_value **out, struct jy_value *v);
/* reversed(v); NULL: not followed */
jy_status jy_over_reversed(struct jy_frame *f, struct jy_value **out, struct jy_value *v);
jy_status jy_over_next(struct jy_frame *f, struct jy_value **out, struct jy_value *iterator);
/* *done: the builtin type's operator decides. name and swapped: of op and back. */
jy_status jy_over_compare(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_compare op, const char *name,
                          const char *swapped, enum jy_compare back, struct jy_value *a, struct jy_value *b);
jy_status jy_over_binary(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op, bool inplace,
                         const char *const *names, struct jy_value *a, struct jy_value *b);
jy_status jy_over_method(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name, size_t n,
                         struct jy_value *const *args, PyObject *kwnames);
/* A part of a new object that is made empty: its iterators would take the filling for a change. */
bool jy_over_is_filled_late(const struct jy_value *part);
/* As those of an instance. */
jy_status jy_over_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);
jy_status jy_over_store(struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);

/* ---- errstate.c ---- */

/* np.errstate's own __init__, which is inlined. */
bool jy_errstate_is_init(struct jy_frame *f, PyFunctionObject *function);
/* *handled: it is __enter__ or __exit__ of a new np.errstate, or a function that one decorates */
jy_status jy_errstate_call(struct jy_frame *f, struct jy_value **out, bool *handled, struct jy_value *function,
                           size_t nargs, struct jy_value *const *args, PyObject *kwnames);
/* As those of an instance: one that has been entered is entered again. */
jy_status jy_errstate_recipe(struct jy_frame *f, struct jy_value *v);
jy_status jy_errstate_store(struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);
/* The end of the trace, recipes included. */
jy_status jy_errstate_finish(struct jy_frame *f);

/* ---- partial.c ---- */

bool jy_partial_is_type(struct jy_frame *f, PyObject *object);
PyTypeObject *jy_partial_type(struct jy_frame *f);
/* An OPAQUE partial becomes a PARTIAL (type guard); false: it is none. */
bool jy_partial_open(struct jy_frame *f, struct jy_value *v);
jy_status jy_partial_call(struct jy_frame *f, struct jy_value **out, struct jy_value *v, size_t nargs,
                          struct jy_value *const *args, PyObject *kwnames);
jy_status jy_partial_new(struct jy_frame *f, struct jy_value **out, size_t nargs, struct jy_value *const *args,
                         PyObject *kwnames);
jy_status jy_partial_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name);
/* As those of an instance. */
jy_status jy_partial_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);
jy_status jy_partial_store(struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);

/* ---- special.c ---- */

/* The method that the class has under a special name, bound to v; NULL: none. Breaks where it is not the program's own function. */
jy_status jy_special(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name);
/* v.name(*args); *out NULL: no such method */
jy_status jy_special_call(struct jy_frame *f, struct jy_value **out, struct jy_value *v, const char *name, size_t nargs,
                          struct jy_value *const *args);
/* Operators with an instance on either side. *done false: neither is one, or neither has the method and the other's own operator decides. */
jy_status jy_instance_binary(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op, bool inplace,
                             struct jy_value *a, struct jy_value *b);
jy_status jy_instance_divmod(struct jy_frame *f, struct jy_value **out, bool *done, struct jy_value *a,
                             struct jy_value *b);
jy_status jy_instance_unary(struct jy_frame *f, struct jy_value **out, enum jy_unary op, struct jy_value *a);
jy_status jy_instance_compare(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_compare op,
                              struct jy_value *a, struct jy_value *b);
jy_status jy_instance_truth(struct jy_frame *f, bool *out, struct jy_value *v);
jy_status jy_instance_length(struct jy_frame *f, struct jy_value **out, struct jy_value *v);
jy_status jy_instance_contains(struct jy_frame *f, bool *out, bool *done, struct jy_value *v, struct jy_value *item);
jy_status jy_instance_iter(struct jy_frame *f, struct jy_value **out, struct jy_value *v);
/* *out NULL: exhausted */
jy_status jy_instance_next(struct jy_frame *f, struct jy_value **out, struct jy_value *v);
/* The next item by __getitem__. */
jy_status jy_instance_next_item(struct jy_frame *f, struct jy_value **out, struct jy_value *iterator);
/* Before all items are taken at once: list() and its like ask for the length; others do not, and break. */
jy_status jy_instance_ask_hint(struct jy_frame *f, struct jy_value *v);
jy_status jy_instance_check_hint(struct jy_frame *f, struct jy_value *v);
/* int() and float() */
jy_status jy_instance_convert(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyTypeObject *type);

#endif
