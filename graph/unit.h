/* The contract between frontend/ and runtime/: one compile attempt of one function under one set of assumptions.
 *
 * unit = guards + at most one graph + recipe for the result + object table. Python objects are handles (jy_obj), indices into the object table, which holds strong references until the
 * unit is freed. Sources say where a value can be fetched again from at a later call; they serve as guard path, graph input and load code. */
#ifndef JY_GRAPH_UNIT_H
#define JY_GRAPH_UNIT_H

#include "graph/flow.h"
#include "graph/base/index.h"
#include "graph/graph.h"

typedef uint32_t jy_obj; /* 0: none */
typedef uint32_t jy_src; /* index into u_sources; 0 is the traced function itself */

enum jy_source_kind {
    JY_SOURCE_FUNCTION,  /* the function being called */
    JY_SOURCE_LOCAL,     /* slot `index` of the frame's locals, cells and free variables */
    JY_SOURCE_GLOBAL,    /* base.__globals__[name]; base is a function */
    JY_SOURCE_BUILTIN,   /* base.__builtins__[name] */
    JY_SOURCE_CELL,      /* base.__closure__[index].cell_contents */
    JY_SOURCE_ATTR,      /* base.name */
    JY_SOURCE_ITEM,      /* base[index], base an exact tuple or list */
    JY_SOURCE_KEY,       /* base[object], base an exact dict */
    JY_SOURCE_DEFAULT,   /* base.__defaults__[index] */
    JY_SOURCE_KWDEFAULT, /* base.__kwdefaults__[name] */
    JY_SOURCE_STACK,     /* item `index` of the value stack where the unit starts */
    JY_SOURCE_CONTENT,   /* what the cell `base` holds */
    JY_SOURCE_OBJECT     /* the object `name` itself: found in a class, which a CLASS guard keeps an eye on */
};

struct jy_source {
    uint8_t kind;
    bool is_read; /* a name or a cell that an instruction reads or deletes: without a value it raises */
    jy_src base;
    uint32_t index;
    jy_obj name; /* interned str for GLOBAL, BUILTIN, ATTR, KWDEFAULT; the key for KEY */
};

enum jy_guard_kind {
#define GUARD(name, text) JY_GUARD_##name,
#include "graph/guards.def"
#undef GUARD
    JY_GUARD_COUNT,
};

enum jy_compare { JY_LT, JY_LE, JY_EQ, JY_NE, JY_GT, JY_GE }; /* ORDER compare: CPython's Py_LT ... Py_GE */

static inline bool
jy_compare_holds(int64_t a, enum jy_compare compare, int64_t b)
{
    switch (compare) {
    case JY_LT:
        return a < b;
    case JY_LE:
        return a <= b;
    case JY_EQ:
        return a == b;
    case JY_NE:
        return a != b;
    case JY_GT:
        return a > b;
    case JY_GE:
        return a >= b;
    }
    return false;
}

/* The class of an array operand. Two ways to fit: `c_contiguous` (the flag, aligned, native order), or the very order, signs, zeros and unit of the traced call. */
struct jy_array_guard {
    uint8_t dtype, ndim;
    bool c_contiguous;
    bool writeable;      /* must be, and no two elements at one place: the unit writes it */
    bool write_observed; /* writeability was read by the program: must equal `writeable` */
    /* only when !c_contiguous: */
    uint8_t order[JY_MAX_NDIM];  /* |stride| descending along it */
    int8_t sign[JY_MAX_NDIM];    /* per axis: -1, 0, 1 */
    bool one[JY_MAX_NDIM];       /* per axis: extent is 1 (such axes say nothing about strides) */
    bool contiguous, inner_unit; /* as in struct jy_layout */
};

struct jy_guard {
    uint8_t kind;
    uint8_t compare;
    jy_src source, other_source;
    jy_obj object;
    int64_t value, other;
    jy_sx a, b;
    const struct jy_array_guard *array;
    uint32_t line;              /* of the user's code that needed it */
    jy_obj name, result, after; /* CLASS, NOT_OWN */
};

enum { JY_INPUT_OBJECT = 255 }; /* kind of an input of a flow that is no number and no array */

struct jy_input {
    jy_src source;
    uint8_t kind, dtype; /* kind PYINT: also symbol with axis -1 */
    jy_ref node;
    const struct jy_array_guard *array;
    uint32_t goes_over; /* of an iterator: 1 + the input that it must go over for a native loop; 0: any */
};

/* How to make an object. Two uses of one recipe pointer are one object. */
enum jy_recipe_kind {
    JY_RECIPE_SOURCE,
    JY_RECIPE_OUTPUT,
    JY_RECIPE_CONST,
    JY_RECIPE_TUPLE,
    JY_RECIPE_LIST,
    JY_RECIPE_DICT,
    JY_RECIPE_SET,
    JY_RECIPE_SLICE,
    JY_RECIPE_CALL,     /* object(*items): a constant callable that runs no code of the program's */
    JY_RECIPE_ITER,     /* iter(items[0]) */
    JY_RECIPE_FUNCTION, /* object: code; items: defaults, keyword defaults, annotations, closure, each may be NULL */
    JY_RECIPE_SLOT,     /* the cell that stands in slot `output` of the frame */
    JY_RECIPE_NULL,     /* stack only: the interpreter's NULL */
    JY_RECIPE_HANDLED   /* stack only: a handler's mark; items[0] is the exception that it handles */
};
struct jy_recipe {
    uint8_t kind;
    jy_src source;
    uint32_t output; /* graph output, or slot */
    jy_obj object;   /* CONST; keys tuple of DICT; code of FUNCTION; callable of CALL */
    size_t n;
    struct jy_recipe **items;
};

/* What the unit does to objects that others can see, in program order, after the graph has run. */
enum jy_effect_kind {
    JY_EFFECT_STORE_ATTR,    /* target.name = value */
    JY_EFFECT_DELETE_ATTR,   /* del target.name */
    JY_EFFECT_STORE_ITEM,    /* target[key] = value */
    JY_EFFECT_DELETE_ITEM,   /* del target[key] */
    JY_EFFECT_STORE_GLOBAL,  /* the traced function's global `name` = value */
    JY_EFFECT_DELETE_GLOBAL, /* del of it */
    JY_EFFECT_STORE_CELL,    /* contents of the cell `target` = value; NULL: emptied */
    JY_EFFECT_CALL           /* value: a CALL recipe, whose result is dropped */
};
struct jy_effect {
    uint8_t kind;
    jy_obj name;
    struct jy_recipe *target, *key, *value;
};

/* Where the program goes on when the unit does not return: at an instruction of the original code. */
struct jy_stop {
    bool stops;            /* false: the unit returns u_result */
    bool stands;           /* it is the very instruction where the unit starts: the next thing to do is to perform it */
    uint32_t offset;       /* of the instruction, in code units */
    size_t depth, nlocals; /* nlocals: localsplus of the original */
    struct jy_recipe **stack;  /* bottom first */
    struct jy_recipe **locals; /* NULL: unbound */
    bool *deletes;             /* it was bound where the unit starts */
};

/* Why a trace ended without a unit, or stopped before the program's end. */
struct jy_break_info {
    uint16_t reason; /* row of frontend/breaks.def */
    const char *name, *what, *hint;
    const char *detail; /* this case in words; may be NULL */
    const char *file, *function;
    uint32_t line;
    const char *instruction; /* name of the opcode; NULL: it belongs to none */
};

struct jy_unit {
    struct jy_arena *u_arena;
    struct jy_graph *u_graph;
    struct jy_flow *
        u_flow; /* instead of the graph, which is empty then: native code from bytecode to its exits, which say what the frame is; no result, stop or effects */
    struct {
        void **at;
        size_t n, cap;
    } u_objects; /* PyObject *, strong; slot 0 unused */
    struct {
        struct jy_source *at;
        size_t n, cap;
    } u_sources;
    struct {
        struct jy_guard *at;
        size_t n, cap;
    } u_guards;
    struct {
        struct jy_input *at;
        size_t n, cap;
    } u_inputs;
    uint32_t u_start; /* offset of the instruction where it starts, in code units; 0: the call */
    uint32_t u_depth; /* items on the value stack there */
    struct {
        struct jy_effect *at;
        size_t n, cap;
    } u_effects;
    struct jy_recipe *u_result; /* NULL: it stops */
    struct jy_stop u_stop;
    struct jy_break_info u_break;
    struct {
        struct jy_unrolled {
            const char *file, *function;
            uint32_t first_line; /* of the code that it is in */
            uint32_t offset;     /* of its head, in code units */
            uint64_t rounds;     /* jumps back to it */
        } *at;
        size_t n, cap;
    } u_unrolled; /* loops that were walked through round by round; for reports */
    /* Kinds of floating-point reports (NPY_FPE_*) that blocks of np.errstate inside the unit ignore wherever one could arise, and those
     * of which one does something. Of the others the state outside decides. */
    uint8_t u_errs_ignored, u_errs_reported;
    bool u_writes;     /* the graph writes memory that existed before the call */
    bool u_reads_time; /* reserved for sources that cannot be guarded */
    struct {
        uint32_t *at;
        size_t cap;
    } u_object_index;                              /* hash of u_objects by address, for jy_keep */
    struct jy_index u_source_index, u_guard_index; /* for those that make equal ones once */
};

#endif
