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

/* A global name that the trace has stored to. */
struct jy_global {
    PyObject *name;
    struct jy_value *value; /* NULL: deleted */
};

/* State of one trace, shared by the frames of inlined callees. */
struct jy_trace_state {
    struct jy_unit *unit;
    struct jy_graph *graph;
    const struct jy_trace_request *request;
    uint32_t steps, depth;
    uint32_t root_steps; /* instructions of the root frame so far, the present one included */
    uint32_t stop_at;    /* the root_steps before which the unit ends; 0: where the program does */
    uint32_t begun;      /* the root_steps of RESUME: before it no frame can be left */
    bool elements;       /* for a flow: arrays and scalars of all dtypes of dtype.def are known */
    bool native_loops;   /* the root frame's loops are units of their own, where request->unrolled does not name them */
    const struct jy_loop_heads *loop_heads; /* of the root frame's code; NULL: not asked for yet */
    int start;                              /* id of the instruction where the unit starts; JY_NO_INSTR: a call */
    bool other_cells,
        stores_cells;    /* cells of callees that existed before were read; such cells of the root frame were written */
    bool stopped;        /* f_pc of the root frame is the instruction before which the unit ends */
    bool calls_copy;     /* the unit stops at a call whose callee has operations: it calls the compiled copy */
    size_t step_nodes;   /* graph nodes before the present root step */
    uint32_t drop_step;  /* root step of the first reference dropped that a destructor may wait for; 0: none */
    size_t drop_effects; /* effects before it */
    size_t drop_slot;    /* the highest local so far that dropped one */
    bool drop_shows;     /* one of these objects has a destructor itself */
    bool drop_mixed;     /* another is dropped behind it, the frame would drop that one first, and it may show */
    const struct jy_value *unbuildable; /* what has no recipe, when building the end broke */
    struct {
        uint32_t *at;
        size_t n, cap;
    } groups;                   /* by root step: the step that begins its group of instructions that cannot be parted */
    uint32_t **first_seen;      /* pages of what jy_first_seen tells */
    struct jy_break_info ended; /* why jy_trace_end_here ended the trace; no name: it did not */
    int loop;                   /* id that the root frame's latest backward jump went to */
    struct {
        struct jy_pending_effect *at;
        size_t n, cap;
    } effects;
    uint32_t nesting;                  /* of protocol functions that call themselves: see jy_enter */
    struct jy_value *raised;           /* the exception on its way to a handler: exception.h */
    uint32_t raised_depth;             /* depth of the frame that raised it */
    struct jy_break_info before_raise; /* the unit's u_break then */
    struct {
        struct jy_frame **at;
        size_t n, cap;
    } in_try; /* generators that have been suspended so */
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
    struct {
        struct jy_value **at;
        size_t n, cap;
    } live; /* live.c: values of objects that can change, by v_object */
    struct {
        struct jy_value **at;
        size_t n, cap;
    } changed; /* of these, those that the trace changes */
    struct {
        struct jy_global *at;
        size_t n, cap;
    } globals; /* op_global.c */
    struct jy_index global_index;
    struct {                        /* errstate.c; kinds: NPY_FPE_* */
        bool any;                   /* a block of np.errstate has been entered */
        uint32_t depth;             /* blocks that have not been left ... */
        uint32_t built;             /* ... and of these, those with a recipe */
        size_t counted;             /* operations taken into account */
        uint32_t ignored, reported; /* what the innermost block says of each kind; nothing: as it was outside */
        uint32_t not_ignored, some_reported; /* by some operation */
    } errs;
    uint32_t napart; /* guards that keep them apart */
    uint32_t walks;  /* through what the frames hold, see jy_frame_references */
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
    int f_previous;                 /* root frame: id of the one before it */
    struct jy_value *f_kwnames;     /* KW_NAMES of the next call (3.11, 3.12) */
    struct jy_value *f_return;      /* set by RETURN_VALUE */
    struct jy_value *f_yield;       /* set by YIELD_VALUE: the frame is suspended */
    struct jy_value *f_closure;     /* of a function made while tracing: tuple of CELLs; else NULL */
    struct jy_value *f_generator;   /* the generator whose frame it is; else NULL */
    bool f_running;
    bool f_in_try; /* suspended where dropping it runs a handler */
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
void jy_guard_not_dict(struct jy_frame *f, jy_src dict, jy_src instance);
void jy_guard_flags(struct jy_frame *f, jy_src source, int64_t mask, int64_t flags);
void jy_guard_not_same(struct jy_frame *f, jy_src source, jy_src other);
/* What jy_class_find(type, after, name) gave. */
void jy_guard_class(struct jy_frame *f, PyTypeObject *type, PyTypeObject *after, PyObject *name, PyObject *result);
void jy_guard_present(struct jy_frame *f, jy_src source);
/* At the end of a trace: names and cells that were read, and of which nothing else asks, are there. */
void jy_guard_reads(struct jy_frame *f);
void jy_guard_not_own(struct jy_frame *f, jy_src source, PyObject *name);
void jy_guard_type(struct jy_frame *f, jy_src source, PyTypeObject *type);
/* Relation of two size expressions as it is on the hints: evaluates, guards unless it is provable, returns the outcome. Equality of two symbols that holds merges them. */
bool jy_guard_size(struct jy_frame *f, jy_sx a, enum jy_compare compare, jy_sx b);

#endif
