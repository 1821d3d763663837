/* What runtime/ sees of the frontend: trace a call into a unit, make new bytecode for a unit, name the breaks. */
#ifndef JY_FRONTEND_FRONTEND_H
#define JY_FRONTEND_FRONTEND_H

#include <Python.h>
#include "graph/base/status.h"
#include "graph/base/text.h"
#include "graph/unit.h"

struct jy_original; /* cpython/original.h */

struct jy_trace_request {
    PyObject *function;           /* exact function */
    struct jy_original *original; /* its code, decoded; NULL: it is decoded for this trace */
    uint32_t start;               /* offset of the instruction to start at, in code units; 0: a call */
    /* Borrowed. A call: the bound parameters in the order of co_varnames (*args as a tuple, **kwargs as a dict). Else all locals and cells; NULL: unbound. */
    PyObject *const *locals;
    size_t nlocals;
    PyObject *const *
        stack; /* the value stack there, bottom first; NULL: the interpreter's NULL; below a handler: the exception it handles */
    size_t nstack;
    uint32_t min_nodes; /* operations that make a unit worth while which does not reach from call to return */
    PyObject *
        callee; /* gives a function's compiled copy: called, where the unit stops, with a function that could not be inlined; NULL: none */
    bool no_alias;            /* jy_flow_trace: arrays may overlap */
    bool no_natives;          /* jy_flow_trace: lists that come in stay objects */
    bool any_sizes;           /* jy_flow_trace: of axes, too, that were short: another call has shown that they differ */
    bool as_function;         /* of its own: the flow is one call of the function, which calls itself natively */
    bool native_loops;        /* end before a loop that may run as a flow of its own ... */
    const uint32_t *unrolled; /* ... but before those whose heads have these offsets, which cannot */
    size_t nunrolled;
    uint32_t break_every; /* stress: stop before the instruction of that number; 0: never */
    const char *const *
        dynamic; /* source texts ("L['n']") of ints that have shown a second value, NULL-terminated; "*": every int; may be NULL */
    const char *const
        *fixed; /* source texts of ints that are never symbolic and of arrays whose sizes are constants; as `dynamic` */
    uint32_t max_steps, max_nodes, max_inline; /* limits; 0: defaults */
    /* `trace_bytecode` lines (may be NULL) */
    void (*log)(void *context, const char *line);
    void *context;
};

/* A unit that stops ends before an instruction that cannot be traced, or before one that makes what cannot be rebuilt there. JY_BREAK with u_stop.stops: there is nothing worth compiling
 * before that instruction.
 * Never runs user code but attribute look-ups on modules and types, hashing of constants and the like; never changes anything the program can see.
 * JY_OK: *out is a unit. JY_BREAK: *out is a unit whose u_break says why (free it too). JY_ERROR: a Python exception is set (MemoryError, KeyboardInterrupt). */
jy_status jy_trace(struct jy_unit **out, const struct jy_trace_request *request);
/* The same for a unit with u_flow: native code for the loops that the program comes to from there. JY_BREAK: there is none that flows can go round, or nothing stands in the way but what u_break says. */
jy_status jy_flow_trace(struct jy_unit **out, const struct jy_trace_request *request);
/* Does it look like the function calls itself by its own name, or a global function that calls it? */
bool jy_vcalls_itself(PyObject *function);
bool jy_vmay_recurse(PyObject *function);
void jy_unit_free(struct jy_unit *unit);
/* Once per process, before the first trace: imports NumPy's C API and resolves numpy.def. -1 with an exception. */
int jy_np_init(void);

/* Whether reading this attribute runs none of the program's code: no __getattr__, property or other descriptor has a say. Instances, classes and builtin objects. */
bool jy_attribute_is_quiet(PyObject *object, PyObject *name);
/* object.name where reading it is quiet. refs: new; NULL without an exception: it is not, or the attribute is not there */
PyObject *jy_attribute_load(PyObject *object, PyObject *name);
/* What abc.get_cache_token gives now; -1: it fails. It moves when a class is registered with an abstract one. */
int64_t jy_abstract_token(PyObject *get_cache_token);
/* What the classes of type's MRO, or of its part behind `after`, hold as `name`; borrowed, NULL without an exception: nothing. */
PyObject *jy_class_find(PyTypeObject *type, PyTypeObject *after, PyObject *name);

/* New code for a unit (codegen.c). Where `unit` is NULL: the original from `start` on. */
struct jy_codegen_request {
    const struct jy_unit *unit;
    PyObject *code;               /* of the function */
    struct jy_original *original; /* the same, decoded; may be NULL */
    PyObject *
        compiled_name; /* the global that is called with the unit's inputs, in order; it returns the tuple of the graph's outputs ... */
    PyObject
        *rerun; /* ... or this, when the original must do the unit's work: a whole call's code returns it as it is */
    uint32_t
        start; /* as in struct jy_trace_request; other than 0, the code's only argument gives locals and then the stack from its top when it is iterated */
    size_t depth;           /* items on the value stack there */
    const bool *absent;     /* stack, then locals: NULL there; may be NULL: none */
    const uint32_t *leaves; /* offsets of instructions before which the original is left */
    size_t nleaves;
};
/* refs: returns new; NULL with an exception. */
PyObject *jy_codegen(const struct jy_codegen_request *request);

/* "L['x'].T", "G['np'].sqrt" */
void jy_source_print(struct jy_text *text, const struct jy_unit *unit, jy_src source);
void jy_guard_print(struct jy_text *text, const struct jy_unit *unit, const struct jy_guard *guard);

/* The text in messages and names of graphs; "?" for text that UTF-8 cannot hold. Leaves no exception. */
static inline const char *
jy_utf8(PyObject *text)
{
    const char *utf8 = PyUnicode_AsUTF8(text);
    if (utf8 == NULL)
        PyErr_Clear();
    return utf8 != NULL ? utf8 : "?";
}

struct jy_break_row {
    const char *name, *phase, *what, *hint;
};
extern const struct jy_break_row jy_break_rows[];
extern const size_t jy_break_count;
const struct jy_break_row *jy_break_row_named(const char *name); /* of breaks.def */

static inline PyObject *
jy_unit_object(const struct jy_unit *unit, jy_obj handle)
{
    return (PyObject *)unit->u_objects.at[handle];
}

/* The flag of an array that gives a warning when it is written to (np.broadcast_arrays makes such); NumPy's headers do not name it. */
#define JY_WARN_ON_WRITE (UINT32_C(1) << 31)

#endif
