/* The symbolic frame: stack and locals of symbolic values, and how a handler ends.
 *
 * The break rule: a handler reads and checks first, then changes the frame. It returns JY_OK; or jy_break(...), which records reason, detail and place and returns JY_BREAK;
 * or JY_ERROR with a Python exception set. Exceptions from our own probing are cleared by jy_break_from_exception. */
#ifndef JY_FRONTEND_FRAME_H
#define JY_FRONTEND_FRAME_H

#include "frontend/value.h"

enum jy_break_reason {
#define BREAK(name, phase, what, hint) JY_BREAK_##name,
#include "frontend/breaks.def"
#undef BREAK
    JY_BREAK_COUNT,
};

/* What the trace has done to objects that others can see (effects.h). */
struct jy_pending_effect {
    uint8_t kind; /* enum jy_effect_kind */
    jy_obj name;  /* attribute or global; CALL: the callable */
    struct jy_value *target, *key, *value;
    size_t nargs;
    struct jy_value **args; /* CALL */
};

/* State of one trace, shared by the frames of inlined callees. */
struct jy_trace_state {
    struct jy_unit *unit;
    struct jy_graph *graph;
    const struct jy_trace_request *request;
    uint32_t steps, depth;
    uint32_t root_steps; /* instructions of the root frame so far, the present one included */
    uint32_t stop_at;    /* the root_steps before which the unit ends; 0: where the program does */
    struct {
        struct jy_pending_effect *at;
        size_t n, cap;
    } effects;
    uint32_t nesting; /* of protocol functions that call themselves: see jy_enter */
    struct {
        struct jy_storage **at;
        size_t n, cap;
    } storages;                  /* of inputs, to find two arguments that are one array */
    PyObject *ndarray, *generic; /* numpy's types, borrowed; NULL: NumPy is not loaded */
    PyObject *held;              /* list: keeps objects that only the trace looks at alive until it ends */
    struct {
        struct jy_code **at;
        size_t n, cap;
    } codes; /* decoded ones */
    struct {
        struct jy_value **at;
        size_t n, cap;
    } values; /* by source; NULL: not asked for yet */
};

struct jy_frame {
    struct jy_trace_state *f_trace;
    struct jy_frame *f_back; /* frame that inlined this one */
    PyObject *f_function;    /* live function object, or NULL for one made while tracing */
    PyObject *f_code, *f_globals, *f_builtins;
    jy_src f_function_source;   /* base of GLOBAL, CELL, DEFAULT sources */
    struct jy_value **f_locals; /* localsplus: parameters, locals, cells, free variables */
    size_t f_nlocals;
    struct jy_value **f_stack;
    size_t f_depth, f_stacksize;
    const struct jy_code *f_instrs; /* decoded code (frontend/cpython/) */
    int f_pc, f_next;               /* ids of the instruction being interpreted and of the one after it */
    struct jy_value *f_kwnames;     /* KW_NAMES of the next call (3.11, 3.12) */
    struct jy_value *f_return;      /* set by RETURN_VALUE */
    struct jy_value *f_yield;       /* set by YIELD_VALUE: the frame is suspended */
    struct jy_value *f_closure;     /* of a function made while tracing: tuple of CELLs; else NULL */
    bool f_generator, f_running;
};

static inline struct jy_arena *
jy_frame_arena(const struct jy_frame *f)
{
    return f->f_trace->unit->u_arena;
}

/* Keeps a borrowed object in the unit's table (once per object) and returns its handle. */
jy_obj jy_keep(struct jy_unit *unit, PyObject *object);
/* Keeps an object alive until the trace ends. refs: steals, returns borrowed; NULL stays NULL. */
PyObject *jy_hold(struct jy_frame *f, PyObject *object);
/* Line and file of the user's code that is being interpreted. */
uint32_t jy_frame_line(const struct jy_frame *f);
const char *jy_frame_file(const struct jy_frame *f);
/* How many references to this array's memory eager would have in all frames: 0, 1, or 2 for more. */
uint32_t jy_frame_references(const struct jy_frame *f, const struct jy_value *v);
/* Would eager hold the only reference to this fresh array on its value stack (then NumPy may reuse its memory for the result)? */
bool jy_frame_is_temporary(const struct jy_frame *f, const struct jy_value *v);

jy_status jy_break(struct jy_frame *f, enum jy_break_reason reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Clears the exception that our own probing raised and breaks (MemoryError and KeyboardInterrupt stay errors). */
jy_status jy_break_from_exception(struct jy_frame *f, enum jy_break_reason reason);

/* Sources and guards; equal ones are made once. */
jy_src jy_source_add(struct jy_unit *unit, enum jy_source_kind kind, jy_src base, uint32_t index, PyObject *name);
struct jy_guard *jy_guard_add(struct jy_frame *f, enum jy_guard_kind kind, jy_src source);
/* Registers a placeholder node as the next input of the unit. */
void jy_input_add(struct jy_frame *f, jy_src source, enum jy_kind kind, jy_dtype dtype, jy_ref node,
                  const struct jy_array_guard *array);
/* request->dynamic names it: its value is not to be baked. */
bool jy_source_is_dynamic(struct jy_frame *f, jy_src source);
/* request->fixed names it: an int that stays a constant, an array whose sizes are. */
bool jy_source_is_fixed(struct jy_frame *f, jy_src source);
void jy_guard_is(struct jy_frame *f, jy_src source, PyObject *object);
void jy_guard_object(struct jy_frame *f, enum jy_guard_kind kind, jy_src source,
                     PyObject *object); /* EQUALS, KEYS, CODE */
void jy_guard_value(struct jy_frame *f, enum jy_guard_kind kind, jy_src source,
                    int64_t value); /* INT, LENGTH, ABSENT */
void jy_guard_same(struct jy_frame *f, jy_src source, jy_src other);
void jy_guard_type(struct jy_frame *f, jy_src source, PyTypeObject *type);
/* Relation of two size expressions as it is on the hints: evaluates, guards unless it is provable, returns the outcome. Equality of two symbols that holds merges them. */
bool jy_guard_size(struct jy_frame *f, jy_sx a, enum jy_compare compare, jy_sx b);

#endif
