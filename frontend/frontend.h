/* What runtime/ sees of the frontend: trace a call into a unit, make new bytecode for a unit, name the breaks. */
#ifndef JY_FRONTEND_FRONTEND_H
#define JY_FRONTEND_FRONTEND_H

#include <Python.h>
#include "graph/base/status.h"
#include "graph/base/text.h"
#include "graph/unit.h"

struct jy_trace_request {
    PyObject *function; /* exact function */
    PyObject *const
        *locals; /* bound parameters in the order of co_varnames (*args as a tuple, **kwargs as a dict), borrowed */
    size_t nlocals;
    const char *const *
        dynamic; /* source texts ("L['n']") of ints that have shown a second value, NULL-terminated; "*": every int; may be NULL */
    const char *const *fixed; /* source texts of ints that are never symbolic and of arrays whose sizes are constants; as `dynamic` */
    uint32_t max_steps, max_nodes, max_inline; /* limits; 0: defaults */
    /* `trace_bytecode` lines (may be NULL) */
    void (*log)(void *context, const char *line);
    void *context;
};

/* Never runs user code but attribute look-ups on modules and types, hashing of constants and the like; never changes anything the program can see.
 * JY_OK: *out is a unit. JY_BREAK: *out is a unit whose u_break says why (free it too). JY_ERROR: a Python exception is set (MemoryError, KeyboardInterrupt). */
jy_status jy_trace(struct jy_unit **out, const struct jy_trace_request *request);
void jy_unit_free(struct jy_unit *unit);
/* Once per process, before the first trace: imports NumPy's C API and resolves numpy.def. -1 with an exception. */
int jy_np_init(void);

/* Whether reading this attribute runs none of the program's code: no __getattr__, property or other descriptor has a say. Instances, classes and builtin objects. */
bool jy_attribute_is_quiet(PyObject *object, PyObject *name);

/* A code object for `function` that calls the global `compiled_name` with the unit's inputs, in order, and rebuilds the result from the tuple that comes back.
 * When the object `rerun` comes back instead, the new code returns it as it is: the caller then runs the original.
 * refs: returns new; NULL with an exception. */
PyObject *jy_codegen(const struct jy_unit *unit, PyObject *function, PyObject *compiled_name, PyObject *rerun);

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

#endif
