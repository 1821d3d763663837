/* Symbolic values: one small struct per kind of Python value. Values live in the unit's arena and are never freed singly.
 *
 * A value is lazy where it can be: what comes from the frame has a source and is looked at (and guarded) only when something depends on it. */
#ifndef JY_FRONTEND_VALUE_H
#define JY_FRONTEND_VALUE_H

#if !defined(JY_IN_FRONTEND)
#error "frontend/value.h is internal to frontend/"
#endif

#include "frontend/frontend.h"

#define JY_NO_SOURCE UINT32_MAX

enum jy_value_kind {
    JY_V_NULL, /* the interpreter's NULL below a callable */
    JY_V_LAZY, /* from the frame, not looked at yet: v_source, v_object (the live object, borrowed from the request or an already guarded parent) */
    JY_V_CONST, /* a known immutable object: v_object. None, bool, int, str, Ellipsis, types, dtype objects, code, np.float64 constants... */
    JY_V_ARRAY, /* exact numpy.ndarray of a supported dtype */
    JY_V_SCALAR,    /* number whose value is not known while tracing: Python int/float/bool or NumPy scalar */
    JY_V_TUPLE,     /* items; also made by BUILD_TUPLE */
    JY_V_LIST,      /* items; mutable while nobody outside has it */
    JY_V_DICT,      /* keys are constants in insertion order */
    JY_V_RANGE,     /* start, stop, step as values */
    JY_V_SLICE,     /* start, stop, step as values (NULL: None) */
    JY_V_FUNCTION,  /* Python function: v_object known (guarded), or made by MAKE_FUNCTION */
    JY_V_METHOD,    /* bound method: self + function or + name of a method of an array, list, ... */
    JY_V_CALLABLE,  /* known C callable (guarded identity): builtin, ufunc, NumPy function, type: v_object */
    JY_V_MODULE,    /* v_object, guarded identity */
    JY_V_ITER,      /* iterator: enum jy_iter_how */
    JY_V_CELL,      /* cell: contents */
    JY_V_OPAQUE,    /* known only by its source; can be passed on and returned */
    JY_V_SET,       /* known, plain items; frozensets are constants */
    JY_V_DICTVIEW,  /* keys (position 0), values (1) or items (2) of the dict `sequence` */
    JY_V_HANDLED,   /* on the stack only: PUSH_EXC_INFO's mark; u.handled.exception is what the handler handles */
    JY_V_EXCEPTION, /* an exception made or raised while tracing */
    JY_V_INSTANCE,  /* instance of a class of the program's */
    JY_V_PARTIAL,   /* functools.partial */
};

/* What an iterator does when asked for the next value. Nothing is consumed ahead of the program. */
enum jy_iter_how {
    JY_ITER_SEQUENCE, /* items of `sequence` from `position`: tuple, list (as long as it is by then), range, array; `origin`: the set or constant whose items these are */
    JY_ITER_REVERSED, /* `position` items of `sequence` are left */
    JY_ITER_ZIP,      /* a tuple of the next of each part; `strict` */
    JY_ITER_ENUMERATE, /* (position, next of part 0) */
    JY_ITER_MAP,       /* `sequence` is the function */
    JY_ITER_FILTER,    /* `sequence` is the function or None */
    JY_ITER_GENERATOR, /* the suspended `frame` of an inlined generator */
    JY_ITER_DICT, /* keys (what 0), values (1), items (2) of the dict `sequence`, `backwards`; numbers: its size and removals at the start */
    JY_ITER_CALLABLE, /* calls `sequence` until it gives part 0 */
    JY_ITER_DEQUE, /* items of the deque whose part is `sequence`, from `position`, `backwards`; numbers: its changes and length at the start */
    JY_ITER_GETITEM, /* asks the instance `sequence` for item `position` until that raises IndexError */
    JY_ITER_COUNT,   /* itertools, from here on: itertools.c says where each keeps its state */
    JY_ITER_REPEAT,
    JY_ITER_CHAIN,
    JY_ITER_ISLICE,
    JY_ITER_CYCLE,
    JY_ITER_ACCUMULATE,
    JY_ITER_TAKEWHILE,
    JY_ITER_DROPWHILE,
    JY_ITER_FILTERFALSE,
    JY_ITER_STARMAP,
    JY_ITER_PAIRWISE,
    JY_ITER_ZIP_LONGEST,
    JY_ITER_COMPRESS,
    JY_ITER_BATCHED,
};

/* Memory that arrays live in: which graph node is its present version. Shared by all symbolic views of it. An array reshaped without a copy has a storage of its own that
 * follows the one it is made `of`: read `version` through jy_np_present. */
struct jy_storage {
    jy_ref version;      /* placeholder, fresh node, or last STORE */
    bool fresh;          /* made during the trace */
    uint32_t input;      /* !fresh: number of the graph input */
    bool written;        /* !fresh: the unit writes it */
    bool mingled;        /* of a flow: it overlaps others of which one is written; no guard keeps these apart */
    PyObject *object;    /* !fresh: the live array, borrowed from the traced call */
    struct jy_value *of; /* reshaped: the array whose elements these are; NULL */
    jy_ref of_node;      /* its node when `version` was made */
};

struct jy_value {
    uint8_t v_kind;
    bool v_temporary;   /* ARRAY: eager would hold the only reference on its stack */
    jy_src v_source;    /* JY_NO_SOURCE for what was made while tracing */
    uint32_t v_step;    /* instruction of the root frame that made it: before that one it need not be rebuilt */
    PyObject *v_object; /* LAZY, CONST, FUNCTION, CALLABLE, MODULE, OPAQUE; kept in the unit's object table */
    union {
        struct {
            struct jy_storage *storage;
            const struct jy_view *view;     /* NULL: all of the storage, as its version node is */
            const struct jy_layout *layout; /* of this view, hints */
            jy_sx *shape;
            jy_ref node;         /* cached VIEW node ... */
            jy_ref node_version; /* ... of this version */
            bool writeable;
            bool frozen; /* read-only although its memory is not (broadcast_to): cannot be returned */
            uint8_t ndim, dtype;
        } array;
        struct {
            uint8_t kind, dtype; /* enum jy_kind, jy_dtype */
            bool has_size;       /* PYINT made of sizes: `size` is its value and no node is needed */
            jy_sx size;
            jy_ref node; /* JY_NO_REF until needed */
        } scalar;
        struct { /* TUPLE, LIST; DICT: values, with `keys` */
            struct jy_value **at;
            size_t n, cap;
            PyObject **keys;
            struct jy_key_index *index; /* container.c */
            uint32_t removals;          /* DICT: how many keys it has lost */
            bool escaped;
            bool is_key;            /* TUPLE: a container that the trace makes holds an object of its own for it */
            struct jy_value *owner; /* the instance whose part it is (over.c) */
        } seq;
        struct {              /* SET: set.c */
            PyObject *mirror; /* a real set of its items; held */
            PyObject *order;  /* tuple of the items in the order of iteration, where that is not the mirror's */
            bool unordered;   /* the mirror's order is not the program's */
        } set;
        struct { /* RANGE, SLICE */
            struct jy_value *start, *stop, *step;
        } range;
        struct { /* FUNCTION (made while tracing): parts; METHOD: self, function, name */
            struct jy_value *self, *function;
            PyObject *name;
            struct jy_value *defaults, *kwdefaults, *annotations, *closure;
            PyObject *code;
            jy_src globals_of;
            struct jy_frame *maker; /* FUNCTION made while tracing: the frame whose globals it has */
        } func;
        struct { /* ITER, DICTVIEW */
            struct jy_value *sequence;
            size_t position;
            struct jy_value **parts; /* iterators that this one asks */
            size_t nparts;
            struct jy_frame *frame;
            struct jy_value *origin;
            int64_t *numbers;
            uint8_t how, what;
            bool strict, exhausted, backwards;
        } iter;
        struct {
            struct jy_value *content; /* NULL: empty */
            uint32_t slot;            /* of the root frame, + 1; 0: made by an inlined call or comprehension */
        } cell;
        struct jy_instance *instance; /* INSTANCE: instance.h */
        struct {
            struct jy_value *function, *args, *keywords; /* TUPLE, DICT */
        } partial;
        struct { /* HANDLED: a handler's mark; elsewhere than on the stack, that exception's traceback */
            struct jy_value *exception;
        } handled;
        struct {                              /* EXCEPTION; v_object: the real one, where CPython made it */
            struct jy_value *type;            /* its class */
            struct jy_value *args;            /* TUPLE */
            struct jy_value *cause, *context; /* NULL: none that the trace knows of */
            struct jy_value *attrs;           /* DICT: its own attributes; NULL: none yet */
            struct {
                struct jy_frame **at;
                size_t n, cap;
            } left; /* frames that it has left: its traceback keeps their locals alive */
            bool suppress_context;
        } exception;
    } u;
};

struct jy_frame;

/* Constructors. Objects are borrowed and kept in the unit's object table. */
struct jy_value *jy_value_const(struct jy_frame *f, PyObject *object);
/* One value per source: equal sources are one object. One value per object that can change, whatever the source. */
struct jy_value *jy_value_lazy(struct jy_frame *f, PyObject *object, jy_src source);
struct jy_value *jy_value_const_take(struct jy_frame *f,
                                     PyObject *object); /* refs: steals object; NULL: an exception is set */
struct jy_value *jy_value_callable(struct jy_frame *f, PyObject *object, jy_src source);
struct jy_value *jy_value_seq(struct jy_frame *f, enum jy_value_kind kind, size_t n, struct jy_value *const *items);
/* A fresh array node becomes a value with a storage of its own; a scalar node becomes a SCALAR of its node's kind. */
struct jy_value *jy_value_of_node(struct jy_frame *f, jy_ref node);
struct jy_value *jy_value_size(struct jy_frame *f, jy_sx size); /* CONST when the expression is constant */
struct jy_value *jy_value_new(struct jy_frame *f, enum jy_value_kind kind);

/* live.c. The value that stands for this live object, which can change, or NULL. */
struct jy_value *jy_value_of_live(struct jy_frame *f, PyObject *object);
void jy_value_set_live(struct jy_frame *f, struct jy_value *v);
/* Before the trace changes a live object, and after it has looked at one: guards that it is none of the others. */
jy_status jy_value_changes(struct jy_frame *f, struct jy_value *v);
jy_status jy_value_looked_at(struct jy_frame *f, struct jy_value *v);

/* Looks at a LAZY value: decides its kind, adds its guards, changes *v in place. Others are left alone. */
jy_status jy_value_realize(struct jy_frame *f, struct jy_value *v);
/* What compile() gives where a function's own vectorcall is not honoured: an object that answers `function` as its class. The function that it runs. */
bool jy_is_dispatcher(PyObject *object);
jy_status jy_dispatcher_part(struct jy_frame *f, struct jy_value **out, struct jy_value *dispatcher);

/* Turns a number that came in from outside into the constant that it was in the traced call (EQUALS guard). *done false: it is a computed one, or one
 * that has shown a second value. */
jy_status jy_value_bake(struct jy_frame *f, bool *done, struct jy_value *v);

/* The graph node for the present contents of an array or scalar value (VIEW nodes are made as needed; a CONST number becomes a constant node of kind PYINT/PYFLOAT/PYBOOL/NPSCALAR). */
jy_status jy_value_node(struct jy_frame *f, jy_ref *out, struct jy_value *v);

/* As an integer it is a warning in some versions of NumPy and an error in others, so that nothing that may take it for one is computed while tracing. */
bool jy_value_is_numpy_bool(struct jy_frame *f, const struct jy_value *v);
/* Python's truth when it can be known; a SCALAR made of sizes is decided on its hint and guarded; else BREAK. */
jy_status jy_value_truth(struct jy_frame *f, bool *out, struct jy_value *v);
/* An int needed as a structural constant (axis, index of a tuple, count): a symbolic one is guarded to its hint. JY_BREAK when it is no int. */
jy_status jy_value_index(struct jy_frame *f, int64_t *out, struct jy_value *v);
/* An int as a size expression: CONST or PYINT. *ok false when it is no int. */
jy_status jy_value_as_size(struct jy_frame *f, jy_sx *out, bool *ok, struct jy_value *v);
/* The object that the value certainly is (CONST, CALLABLE, MODULE and live FUNCTION), else NULL. */
PyObject *jy_value_known(const struct jy_value *v);
/* A number of Python's own or NumPy's whose value is not known while tracing. */
static inline bool
jy_value_is_scalar(const struct jy_value *v)
{
    return v->v_kind == JY_V_SCALAR;
}
bool jy_value_is_none(const struct jy_value *v);
/* Immutable objects of CPython's and NumPy's own types: comparing, hashing, formatting and computing with them runs no user code. */
bool jy_value_is_plain(struct jy_frame *f, PyObject *object);
const char *jy_value_describe(struct jy_frame *f, const struct jy_value *v); /* for messages and trace_bytecode */

#endif
