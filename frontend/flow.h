/* Bytecode -> flow (graph/flow.h): what the files frontend/flow*.c share.
 *
 * The code is interpreted by kinds along all its ways. A *version* is a block of the flow for an instruction and the kinds of all that the frame holds there; another vector of kinds makes
 * another version, so nothing is joined: `x = 0` before a loop that adds floats gives one version of the head with an int and one with a float. Numbers are registers; objects that do not change
 * (arrays, functions, modules, lists that came in) are known while compiling and need none.
 *
 *   flow.c         versions, edges, the work list
 *   flow_state.c   what a frame holds; exits and boxes
 *   flow_maybe.c   locals that are bound on some ways only
 *   flow_told.c    what can be told from an equal object
 *   flow_short.c   short axes that loops go along
 *   flow_import.c  objects from outside become values
 *   flow_op.c      instructions
 *   flow_number.c  operators on numbers       flow_scalar.c  those of NumPy
 *   flow_array.c, flow_list.c, flow_native.c  elements, views of arrays
 *   flow_vector.c  whole arrays
 *   flow_iter.c    iteration                  flow_call.c  functions     flow_callee.c  the program's own, inlined
 *   flow_make.c    new lists                  flow_draw.c  random numbers
 *   flow_function.c  the program's own, called: those that call themselves
 *   flow_text.c      characters of text
 *   flow_source.c    which of the program's loops an instruction is of, for reports
 *
 * A handler reads, emits what it needs, and only then changes the frame; JY_BREAK from it means that flows do not have this: the flow stops before the instruction (an exit of kind STOP). */
#ifndef JY_FRONTEND_FLOW_H
#define JY_FRONTEND_FLOW_H

#include "frontend/code_loops.h"
#include "frontend/interp.h"
#include "graph/flow_helper.h"

enum jy_vkind {
    JY_K_UNBOUND, /* a local without a value; on the stack, the interpreter's NULL */
    JY_K_INT,     /* Python int: I64 */
    JY_K_FLOAT,   /* Python float: F64 */
    JY_K_BOOL,    /* Python bool: I1 */
    JY_K_NP,      /* NumPy scalar of `dtype` */
    JY_K_KNOWN,   /* `known`: a constant, function, class, module, builtin */
    JY_K_OBJECT,  /* an object of no interest that came in: passed on only */
    JY_K_ARRAY,   /* `array`; register: data, where that is not fixed */
    JY_K_LIST,    /* a live list, tuple or bytes, or a native list; register: its address. `elem` */
    JY_K_BYTE,    /* of an elem only: the sequence is bytes */
    JY_K_TEXT,    /* a live str, known to be ASCII; register: its address */
    JY_K_CHAR,    /* a character of such: I64, its code */
    JY_K_COMPLEX, /* Python complex: real, imag */
    JY_K_TUPLE,   /* parts */
    JY_K_RANGE,   /* registers: start, stop, step */
    JY_K_SLICE,   /* parts: start, stop, step; UNBOUND: None */
    JY_K_ITER,    /* enum jy_viter */
    JY_K_METHOD,  /* `name` of parts[0] */
    JY_K_CELL,    /* `known`: a cell that came in */
    JY_K_MAYBE, /* a local that may be unbound, or another: register: is it parts[0]; else it is parts[1], or unbound where there is none. Of frames at the beginning of versions: reading it checks */
    JY_K_NEWLIST, /* parts: a list display that nobody but the stack knows of yet; jy_vlist_make makes an object of it */
};

enum { JY_FEW_ROUNDS = 8 }; /* taste */

enum jy_viter {
    JY_VI_RANGE,     /* registers: next, stop, step */
    JY_VI_SEQUENCE,  /* parts[0]: list, tuple or array; register: index; of a TUPLE `step` is the index */
    JY_VI_REVERSED,  /* parts[0]: list or tuple; register: index */
    JY_VI_ENUMERATE, /* parts[0]: iterator; register: count */
    JY_VI_ZIP,       /* parts: iterators */
};

#define JY_FROM_INPUT UINT32_MAX

/* What the items of a list are taken for; checked at each. */
struct jy_velem {
    uint8_t kind;                 /* INT, FLOAT, BOOL, NP, LIST, BYTE, UNBOUND: nothing is known */
    uint8_t dtype;                /* NP */
    bool is_tuple;                /* LIST: tuples */
    bool is_native;               /* LIST */
    uint32_t origin;              /* LIST: as that of the items, where all have one */
    const struct jy_velem *elem;  /* LIST */
    const struct jy_velem *other; /* numbers: or this, by kind and dtype in ascending order */
};

/* Where a list comes from: an input, or the instruction that makes it. What it turns out to hold there is known when the flow is built again. */
struct jy_vorigin {
    bool is_input;
    uint32_t number; /* of the input; offset of the instruction */
    const PyObject *code;
    const struct jy_velem *elem; /* NULL: nothing new has been found out */
    bool is_object;              /* it cannot be native */
};

/* An array's unchanging part: the whole of an input, a view of one, a new array (`is_new`), or a view of a new one (parts[0] of the value). Registers that it names are of block 0. What is not
 * known there the value has, in this order: data (all but whole inputs), slot (new arrays), extents, strides. */
struct jy_varray {
    struct jy_value *value; /* JY_V_ARRAY: of the input; NULL: there is none */
    uint32_t input;         /* of the unit */
    uint32_t alias;
    uint8_t dtype, ndim;
    bool is_view, is_new;
    bool is_turned; /* a.T, or a part of one: NumPy gives results the order of its axes, flows have C order */
    jy_fv data;     /* of a whole input */
    jy_fv extent[JY_MAX_NDIM], stride[JY_MAX_NDIM]; /* JY_NO_FV: of the value */
    int64_t about[JY_MAX_NDIM];                     /* extents that the first call had, at most; 0: not known */
    struct jy_varray *base;                         /* view: the input it is of */
};

/* Where the elements of an array lie. */
struct jy_vgeometry {
    jy_fv data;
    size_t ndim;
    jy_fv extent[JY_MAX_NDIM], stride[JY_MAX_NDIM];
    int64_t about[JY_MAX_NDIM];
};

struct jy_val {
    uint8_t kind, dtype, how;
    bool is_tuple;    /* LIST */
    bool is_native;   /* LIST: flow_native.c */
    bool fixed_step;  /* RANGE, ITER of one: step is the constant `step` */
    bool independent; /* RANGE, ITER of one: a jitney.prange */
    bool is_outside;  /* ITER: it was made before the flow began */
    uint8_t nregs;
    int64_t step;
    uint32_t origin; /* LIST: index + 1 of jy_vhints.origins; 0: unknown; JY_FROM_INPUT: a row of an input */
    uint32_t
        input; /* number + 1 of the unit's input that is this very object; 0: none. Never of numbers: registers say it */
    jy_fv *regs;
    struct jy_value *known;
    PyObject *name;
    const struct jy_varray *array;
    const struct jy_velem *elem;
    size_t nparts;
    struct jy_val **parts;
    const struct jy_val *subscript[3]; /* ARRAY: it is subscript[0][subscript[1]], or [subscript[1]:subscript[2]] */
};

/* A frame at an instruction. Values are shared and never changed. */
struct jy_vframe {
    struct jy_frame *f;     /* code, globals, sources */
    struct jy_vframe *back; /* of an inlined callee: its caller, before the CALL; the callee's result goes there */
    size_t back_items;      /* stack items of the CALL */
    int pc;                 /* id: where the interpreter would go on */
    int call;               /* caller of an inlined callee: id of the CALL; pc is that of its first prefix */
    size_t call_item;       /* of an inlined callee: the stack item that its caller calls */
    bool is_chained;        /* of an inlined callee: exits give its frame back; else its caller calls it again */
    size_t nlocals, depth;
    struct jy_val **locals, **stack;
    PyObject *kwnames;
};

struct jy_version {
    struct jy_version *next; /* of the same instruction */
    struct jy_vframe *frame; /* kinds and parameters */
    jy_fb block;
    bool started;
};

/* Locals that are bound on some ways only, and of what kind; outlives the builds that find them. */
struct jy_vhints {
    struct jy_vhint {
        const PyObject *code;
        size_t slot;
        const struct jy_val *like;
    } *at;
    size_t n, cap;
    struct {
        struct jy_vchain { /* a local that is of several kinds where it is not read any more */
            const PyObject *code;
            size_t slot, n;
            const struct jy_val *likes[4];
        } *at;
        size_t n, cap;
    } chains;
    struct {
        struct jy_vorigin *at;
        size_t n, cap;
    } origins;         /* of lists */
    unsigned nobjects; /* times that a list was found out to be no native one */
    bool no_natives;
    bool no_long;   /* operations on arrays of many elements stay with graphs */
    bool no_inputs; /* those that come in are objects: somebody may see them, or one of them */
    struct jy_vcodes {
        const PyObject **at;
        size_t n, cap;
    } chained,
        inlined; /* callees that do what may not be done twice; that have loops, but cannot be native code of their own */
};

/* A function of the program's as native code that INVOKE calls, for one vector of kinds of its locals. It is a flow with a build of its own. */
struct jy_vfunction {
    uint32_t number;
    PyObject *function;
    jy_src source;
    struct jy_val **locals; /* at its start; arguments of the native function */
    size_t nlocals;
    struct jy_val *result; /* its kind; NULL: not known yet */
    uint32_t report;       /* number + 1 in w_reports */
    struct jy_vbuild *b;
};

struct jy_vbuild {
    struct jy_vbuild *root;    /* of a function: the build of the flow that it belongs to; else this one */
    struct jy_vfunction *self; /* NULL: no function */
    struct {
        struct jy_vfunction **at;
        size_t n, cap;
    } functions; /* of the root */
    struct {
        struct jy_version **at;
        size_t n, cap;
    } waiting;                   /* blocks that call what has no result yet */
    bool waits;                  /* the present one does */
    bool has_natives, has_lists; /* of the root: native lists that came in; lists that did and are objects */
    bool is_last;                /* of the root: what has none now gets none any more */
    bool has_news;               /* of the root: a result has become known */
    bool recurses;               /* of the root: a function calls itself, at once or by others */
    size_t next;                 /* of the work list */
    jy_fv *own_args;             /* of a root that is one call */
    size_t nown_args;
    struct jy_vhints *hints;
    bool may_again, again; /* there are more of them now: the flow is to be begun again */
    struct jy_flow *w;
    struct jy_trace_state *t;
    struct jy_arena *arena;
    jy_fb block;                        /* where instructions are appended */
    struct jy_vframe *frame;            /* being interpreted */
    struct jy_vframe *snap;             /* as it was before the instruction */
    uint32_t exits[JY_EXIT_RETURN + 1]; /* made for the snapshot: number + 1 */
    bool ended;                         /* the block has its end */
    const char *why;                    /* what flows do not have; for the report */
    uint32_t why_line;
    struct {
        struct jy_version **at;
        size_t n, cap;
    } work;
    struct {
        struct jy_vcode {
            const struct jy_code *code;
            struct jy_version **versions; /* by id */
            uint8_t *nversions;
            bool *is_leader;
            const char *file;
            const struct jy_code_loops *loops; /* flow_source.c; NULL: not asked yet */
            uint64_t *reads;                   /* flow_maybe.c */
            struct jy_vtold {
                uint64_t locals, stack; /* from the top down */
            } *told;                    /* flow_told.c */
        } *at;
        size_t n, cap;
    } codes;
    struct {
        struct jy_varray **at;
        size_t n, cap;
    } arrays, views; /* whole inputs; all others, each once */
    struct {
        struct jy_vearly { /* flow_array.c: an operation in block 0 */
            uint8_t op;
            jy_fv args[3], result;
        } *at;
        size_t n, cap;
    } early;
    jy_fv vector_block; /* flow_vector.c; JY_NO_FV: not needed yet */
    uint32_t alias_vectors, alias_block;
    struct {
        struct jy_vimport {
            struct jy_value *from;
            struct jy_val *to;
        } *at;
        size_t n, cap;
    } imported;
    uint32_t alias_list, alias_rows, alias_items, alias_number, alias_count, alias_fixed; /* flow_list.c */
    uint32_t alias_native[JY_F_TYPE_COUNT]; /* flow_native.c: by the items' type; NONE: heads. 0: not used yet */
    jy_fv made,
        fresh; /* the native list that the present instruction makes, and that of the one before it, which only the stack has; JY_NO_FV */
    size_t nvalues_limit;
    struct {
        int *at;
        size_t n, cap;
    } array_stops;                /* instructions of the root frame that do something with whole arrays */
    bool has_long, writes_long;   /* operations on arrays of many elements; some of them in place */
    bool few_rounds, many_rounds; /* iterators that the flow makes: over a few items, known to be; others */
    uint32_t first_stop_line;
    const char *first_stop;
};

/* ---- flow.c ---- */

/* Goes on at the instruction of `frame` (its pc) from the present block. */
void jy_vb_goto(struct jy_vbuild *b, struct jy_vframe *frame);
/* Two ways from the present block; both frames have their pc. */
void jy_vb_branch(struct jy_vbuild *b, jy_fv condition, struct jy_vframe *yes, struct jy_vframe *no);
struct jy_vframe *jy_vb_copy(struct jy_vbuild *b, const struct jy_vframe *frame);
struct jy_vcode *jy_vb_code(struct jy_vbuild *b, const struct jy_code *code);
uint32_t jy_vb_new_alias(struct jy_vbuild *b); /* 0: none is left */
uint32_t jy_vb_own_alias(struct jy_vbuild *b); /* of memory that goes with the run; 0: none is left */

/* ---- flow_source.c ---- */

/* Number + 1 of the report of the loop, or of the native function, that the frame's next instruction is of; 0: it is of none. */
uint32_t jy_vsource_loop(struct jy_vbuild *b, const struct jy_vframe *frame);
/* New checks and blocks are of the frame's next instruction from now on. */
void jy_vsource_stamp(struct jy_vbuild *b, const struct jy_vframe *frame);
/* The report of a function that becomes native code of its own, called by the frame's next instruction. */
uint32_t jy_vsource_function(struct jy_vbuild *b, const struct jy_vframe *caller, const struct jy_vframe *callee);
/* The file of the frame's code. */
const char *jy_vsource_file(struct jy_vbuild *b, const struct jy_vframe *frame);

/* ---- flow_state.c ---- */

struct jy_val *jy_val_new(struct jy_vbuild *b, enum jy_vkind kind, size_t nregs);
struct jy_val *jy_val_reg(struct jy_vbuild *b, enum jy_vkind kind, jy_dtype dtype, jy_fv reg);
struct jy_val *jy_val_complex(struct jy_vbuild *b, jy_fv real, jy_fv imag);
struct jy_val *jy_val_known(struct jy_vbuild *b, struct jy_value *v);
struct jy_val *jy_val_parts(struct jy_vbuild *b, enum jy_vkind kind, size_t n, struct jy_val *const *parts);
bool jy_val_same_kind(const struct jy_val *a, const struct jy_val *b);
enum jy_ftype jy_val_type(const struct jy_val *v, size_t reg);
enum jy_ftype jy_vtype_of_dtype(jy_dtype dtype);
/* The exit before the present instruction. */
uint32_t jy_vb_exit(struct jy_vbuild *b, enum jy_flow_exit_kind kind, const char *what);
/* The same for an INVOKE; call_item: as in the frame of a callee. */
uint32_t jy_vb_exit_call(struct jy_vbuild *b, size_t call_item);
uint32_t jy_vb_exit_return(struct jy_vbuild *b, struct jy_val *v);
static inline bool
jy_val_is_number(const struct jy_val *v)
{
    return v->kind == JY_K_INT || v->kind == JY_K_FLOAT || v->kind == JY_K_BOOL || v->kind == JY_K_NP;
}
/* In words, for messages. */
const char *jy_val_describe(struct jy_vbuild *b, const struct jy_val *v);

static inline struct jy_val *
jy_vpop(struct jy_vbuild *b)
{
    return b->frame->stack[--b->frame->depth];
}
static inline struct jy_val *
jy_vpeek(const struct jy_vbuild *b, size_t n)
{
    return b->frame->stack[b->frame->depth - n];
}
static inline jy_status
jy_vpush(struct jy_vbuild *b, struct jy_val *v)
{
    b->frame->stack[b->frame->depth++] = v;
    return JY_OK;
}
static inline jy_status
jy_vreplace(struct jy_vbuild *b, size_t n, struct jy_val *v)
{
    b->frame->depth -= n;
    return jy_vpush(b, v);
}

/* Flows do not have it. */
jy_status jy_vb_lacks(struct jy_vbuild *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- emitting ---- */

jy_fv jy_ve1(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x);
jy_fv jy_ve2(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x, jy_fv y);
jy_fv jy_ve3(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x, jy_fv y, jy_fv z);
jy_fv jy_ve1x(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x, const char *what); /* with an exit */
jy_fv jy_ve2x(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x, jy_fv y, const char *what);
jy_fv jy_vint(struct jy_vbuild *b, int64_t value);
jy_fv jy_vfloat(struct jy_vbuild *b, double value);
jy_fv jy_vbool(struct jy_vbuild *b, bool value);
void jy_vcheck(struct jy_vbuild *b, jy_fv condition, const char *what);
void jy_vcheck_not_zero(struct jy_vbuild *b, jy_fv v, const char *what);
/* The number, where it is a float, is not NaN: see graph/flow_identity.c. */
void jy_vcheck_nan(struct jy_vbuild *b, const struct jy_val *v, enum jy_check_mark mark);
void jy_vflagged(struct jy_vbuild *b, jy_fv result, jy_fv x, jy_fv y, const char *what);
bool jy_vconst(const struct jy_vbuild *b, jy_fv v, int64_t *out); /* an integer constant */
/* By the name of a row of flow_helpers.def. */
jy_fv jy_vhelp(struct jy_vbuild *b, const char *name, size_t nargs, const jy_fv *args, const char *what);
/* The address of a live object that the unit keeps. */
jy_fv jy_vaddress(struct jy_vbuild *b, PyObject *object);
jy_fv jy_vload(struct jy_vbuild *b, enum jy_ftype type, jy_fv pointer, jy_fv offset, int32_t plus, uint32_t alias);

/* ---- flow_maybe.c ---- */

/* Two frames at one instruction: notes locals that are bound in one of them only. True: some were new. */
bool jy_vmaybe_learn(struct jy_vbuild *b, const struct jy_vframe *x, const struct jy_vframe *y);
/* In exits, when all is known: what is always bound there, or never, is no MAYBE. */
void jy_vmaybe_resolve(struct jy_vbuild *b);
/* Before an edge: the locals noted become MAYBE. */
void jy_vmaybe_frame(struct jy_vbuild *b, struct jy_vframe *frame);

/* ---- flow_told.c ---- */

/* In an exit: the box and its parts; those of a frame, stack first, that can be told there. */
void jy_vtold_mark(struct jy_box *box);
void jy_vtold_mark_frame(struct jy_vbuild *b, const struct jy_vframe *frame, size_t nlocals,
                         struct jy_box *const *boxes);

/* ---- flow_import.c ---- */

/* What the frontend knows of a value from outside, with its guards. */
jy_status jy_vb_import(struct jy_vbuild *b, struct jy_val **out, struct jy_value *v);
/* What stands in the frame at the start; slot: of a local, SIZE_MAX: it is on the stack. */
jy_status jy_vb_import_slot(struct jy_vbuild *b, struct jy_val **out, struct jy_value *v, size_t slot);
/* A float that is NaN and known, by its object: no register stands for it, as another NaN would be another object. As a number; its address. */
bool jy_vis_nan(const struct jy_val *v);
struct jy_val *jy_vnumber(struct jy_vbuild *b, struct jy_val *v);
jy_fv jy_vnan_object(struct jy_vbuild *b, const struct jy_val *v);
/* The address of an input that is an object. */
jy_fv jy_vb_object_address(struct jy_vbuild *b, uint32_t number);
/* The number of the unit's input that is this object. */
uint32_t jy_vb_input(struct jy_vbuild *b, jy_src source, enum jy_kind kind, jy_dtype dtype);
jy_status jy_vb_array(struct jy_vbuild *b, struct jy_val **out, struct jy_value *array);
jy_status jy_vb_will_write(struct jy_vbuild *b, const struct jy_varray *array);

/* ---- flow_number.c ---- */

jy_status jy_vnum_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *x, struct jy_val *y);
jy_status jy_vnum_unary(struct jy_vbuild *b, struct jy_val **out, enum jy_unary op, struct jy_val *x);
jy_status jy_vnum_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *x,
                          struct jy_val *y);
/* Python's truth, as I1. */
jy_status jy_vtruth(struct jy_vbuild *b, jy_fv *out, struct jy_val *v);
/* Truth that is known while compiling. */
bool jy_vtruth_known(const struct jy_vbuild *b, bool *out, const struct jy_val *v);
/* As F64, as Python converts an int, float or bool. */
jy_status jy_vas_float(struct jy_vbuild *b, jy_fv *out, struct jy_val *v);
/* An index: INT, BOOL or a NumPy integer, as I64. */
jy_status jy_vas_index(struct jy_vbuild *b, jy_fv *out, struct jy_val *v);

/* ---- flow_scalar.c: NumPy's scalars; one of two operands is one ---- */

jy_status jy_vscalar_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *p,
                            struct jy_val *q);
jy_status jy_vscalar_unary(struct jy_vbuild *b, struct jy_val **out, enum jy_unary op, struct jy_val *v);
jy_status jy_vscalar_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *p,
                             struct jy_val *q);
/* An element of an array in memory, and a number as it is stored into an array of that dtype. */
jy_fv jy_vscalar_load(struct jy_vbuild *b, jy_dtype dtype, jy_fv data, jy_fv offset, uint32_t alias);
jy_fv jy_vscalar_stored(struct jy_vbuild *b, jy_dtype to, const struct jy_val *item);
/* A number beside an array of that dtype in an operation, as it lies in memory; false: the operation has another dtype then. */
jy_dtype jy_vscalar_promote(jy_dtype dtype, const struct jy_val *item); /* which one */
bool jy_vscalar_operand(struct jy_vbuild *b, jy_fv *out, jy_dtype to, const struct jy_val *item);
/* An INT, BOOL or NumPy integer as I64: its value, of a uint64 the bits. */
jy_fv jy_vint_of(struct jy_vbuild *b, const struct jy_val *v);

/* ---- flow_complex.c: Python's complex numbers ---- */

jy_status jy_vcomplex_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *x,
                             struct jy_val *y);
jy_status jy_vcomplex_unary(struct jy_vbuild *b, struct jy_val **out, enum jy_unary op, struct jy_val *x);
jy_status jy_vcomplex_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *x,
                              struct jy_val *y);
jy_status jy_vcomplex_call(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args);

/* ---- flow_array.c, flow_list.c ---- */

void jy_varray_geometry(struct jy_vgeometry *out, const struct jy_val *array);
/* A view of the array; a new array, in that slot. */
struct jy_val *jy_varray_view(struct jy_vbuild *b, struct jy_val *of, const struct jy_vgeometry *g);
struct jy_val *jy_varray_new(struct jy_vbuild *b, jy_dtype dtype, const struct jy_vgeometry *g, jy_fv slot);
/* x[bounds[0]:bounds[1]] */
jy_status jy_varray_slice(struct jy_vbuild *b, struct jy_val **out, struct jy_val *array, struct jy_val *const *bounds);
jy_status jy_varray_set_slice(struct jy_vbuild *b, struct jy_val *array, struct jy_val *const *bounds,
                              struct jy_val *item);
/* x * y, in block 0 where both are known there. */
jy_fv jy_varray_product(struct jy_vbuild *b, jy_fv x, jy_fv y);
/* Something is about to be written to its elements. */
jy_status jy_varray_will_write(struct jy_vbuild *b, const struct jy_val *array);

jy_status jy_varray_get(struct jy_vbuild *b, struct jy_val **out, struct jy_val *array, struct jy_val *key);
jy_status jy_varray_set(struct jy_vbuild *b, struct jy_val *array, struct jy_val *key, struct jy_val *item);
/* Element or row at an index that is known to be inside. */
jy_status jy_varray_at(struct jy_vbuild *b, struct jy_val **out, struct jy_val *array, jy_fv index);
jy_status jy_varray_attr(struct jy_vbuild *b, struct jy_val **out, struct jy_val *array, const char *name);
jy_status jy_vlist_get(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, struct jy_val *key);
jy_status jy_vlist_set(struct jy_vbuild *b, struct jy_val *list, struct jy_val *key, struct jy_val *item);
jy_status jy_vlist_at(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, jy_fv index);
jy_fv jy_vlist_length(struct jy_vbuild *b, const struct jy_val *list);
/* An object for a list display. */
jy_status jy_vlist_make(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v);
/* [x, ..] * n */
jy_status jy_vlist_repeat(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, struct jy_val *count);
jy_status jy_vlist_append(struct jy_vbuild *b, struct jy_val *list, struct jy_val *item);
jy_status jy_vlist_method(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, const char *name, size_t nargs,
                          struct jy_val *const *args);
const struct jy_velem *jy_velem_of(struct jy_vbuild *b, PyObject *sequence);
bool jy_velem_same(const struct jy_velem *a, const struct jy_velem *b);
/* What items of both are; `a` where that cannot be said. */
const struct jy_velem *jy_velem_merge(struct jy_vbuild *b, const struct jy_velem *a, const struct jy_velem *c);
const struct jy_velem *jy_velem_of_item(struct jy_vbuild *b, const struct jy_val *item);
/* A list that has just been made, or come in, with its origin. */
struct jy_val *jy_vlist_new(struct jy_vbuild *b, jy_fv address, const struct jy_velem *elem);
void jy_vlist_set_origin(struct jy_vbuild *b, struct jy_val *list, bool is_input, uint32_t number);
/* Items of that kind come into the list. */
void jy_vlist_learn(struct jy_vbuild *b, struct jy_val *list, const struct jy_velem *elem);
/* May the list be changed here, and hold such an item (NULL: none)? */
jy_status jy_vlist_check_writable(struct jy_vbuild *b, const struct jy_val *list, const struct jy_val *item);
/* x[index], each kind of item in a way of its own: replaces `pops` items of the stack and goes on with the last; the others have gone. The index is inside. */
jy_status jy_vlist_push_item(struct jy_vbuild *b, struct jy_val *list, jy_fv index, size_t pops);
/* The bits of a NumPy scalar, as helpers take them. */
jy_fv jy_vscalar_bits(struct jy_vbuild *b, const struct jy_val *v);

/* ---- flow_native.c ---- */

/* Before something that needs an object. JY_BREAK: it is native, and the flow is begun again without. */
jy_status jy_vlist_as_object(struct jy_vbuild *b, const struct jy_val *list);
/* Where it comes from it could be, as far as is known. */
bool jy_vlist_may_be_native(const struct jy_vbuild *b, const struct jy_val *list);
bool jy_vnative_can_hold(const struct jy_velem *elem);
/* A list or tuple comes in, `list` says what it holds; true: natively. Either all do or none: one may be in another. */
bool jy_vnative_import(struct jy_vbuild *b, struct jy_val *list, uint32_t number);
/* ... as an object. */
void jy_vnative_import_object(struct jy_vbuild *b, const struct jy_val *list);
jy_fv jy_vnative_length(struct jy_vbuild *b, const struct jy_val *list);
struct jy_val *jy_vnative_at(struct jy_vbuild *b, const struct jy_val *list, jy_fv index);
jy_status jy_vnative_set(struct jy_vbuild *b, struct jy_val *list, struct jy_val *key, struct jy_val *item);
jy_status jy_vnative_append(struct jy_vbuild *b, struct jy_val *list, struct jy_val *item);
struct jy_val *jy_vnative_pop(struct jy_vbuild *b, const struct jy_val *list); /* the last */
void jy_vnative_clear(struct jy_vbuild *b, const struct jy_val *list);
/* New ones; elem: of jy_vnative_elem. */
const struct jy_velem *jy_vnative_elem(struct jy_vbuild *b, const struct jy_velem *elem);
struct jy_val *jy_vnative_empty(struct jy_vbuild *b, const struct jy_velem *elem);
struct jy_val *jy_vnative_repeat(struct jy_vbuild *b, const struct jy_val *item, jy_fv count,
                                 const struct jy_velem *elem);
struct jy_val *jy_vnative_display(struct jy_vbuild *b, const struct jy_val *display, const struct jy_velem *elem);
struct jy_val *jy_vnative_range(struct jy_vbuild *b, const struct jy_val *range, const struct jy_velem *elem);
struct jy_val *jy_vnative_slice(struct jy_vbuild *b, const struct jy_val *list, jy_fv low, jy_fv high);
/* drop: nobody else has it. */
struct jy_val *jy_vnative_concat(struct jy_vbuild *b, const struct jy_val *x, const struct jy_val *y, bool drop_x,
                                 bool drop_y);

/* ---- flow_text.c ---- */

/* A str that flows may have the characters of. */
bool jy_vis_text(const struct jy_val *v);
jy_status jy_vas_text(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v);
jy_fv jy_vtext_length(struct jy_vbuild *b, const struct jy_val *text);
/* The character at an index that is inside. */
struct jy_val *jy_vtext_at(struct jy_vbuild *b, const struct jy_val *text, jy_fv index);
/* v[key] */
jy_status jy_vtext_get(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, struct jy_val *key);
/* One of the two is a character. */
jy_status jy_vtext_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *x,
                           struct jy_val *y);
/* x in all, for a character x. */
jy_status jy_vtext_contains(struct jy_vbuild *b, jy_fv *out, const struct jy_val *all, const struct jy_val *x);
jy_status jy_vtext_ord(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args);
jy_status jy_vtext_chr(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args);
/* int() of a character. */
struct jy_val *jy_vtext_digit(struct jy_vbuild *b, const struct jy_val *v);
bool jy_vtext_has_method(const char *name);
jy_status jy_vtext_method(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *self, PyObject *name,
                          size_t nargs);

/* ---- flow_vector.c: operations on whole arrays ---- */

/* Does one of the values concern it? */
bool jy_vvector_concerns(size_t n, struct jy_val *const *values);
jy_status jy_vvector_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, bool in_place, struct jy_val *x,
                            struct jy_val *y);
jy_status jy_vvector_unary(struct jy_vbuild *b, struct jy_val **out, enum jy_unary op, struct jy_val *x);
jy_status jy_vvector_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *x,
                             struct jy_val *y);
/* A function or ufunc of NumPy's, with an array among the arguments or not. *out NULL: it is none of those that flows have. */
jy_status jy_vvector_call(struct jy_vbuild *b, struct jy_val **out, PyObject *callable, size_t nargs,
                          struct jy_val *const *args, PyObject *kwnames);
bool jy_vvector_has_method(const char *name);
jy_status jy_vvector_method(struct jy_vbuild *b, struct jy_val **out, struct jy_val *self, const char *name,
                            size_t nargs, struct jy_val *const *args, PyObject *kwnames);
/* v[key], v[key] = item with an array of indices or truth values as the key. */
jy_status jy_vvector_take(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, struct jy_val *key);
jy_status jy_vvector_put(struct jy_vbuild *b, struct jy_val *v, struct jy_val *key, struct jy_val *item);
/* Elements are set to those of another array, or to a number. */
jy_status jy_vvector_store(struct jy_vbuild *b, struct jy_val *to, struct jy_val *item);

/* ---- flow_make.c: new lists, and what changes whole lists ---- */

bool jy_vlist_has_operator(enum jy_nb op, const struct jy_val *x, const struct jy_val *y);
jy_status jy_vlist_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, bool in_place, struct jy_val *x,
                          struct jy_val *y);
/* start, stop: an int or None */
jy_status jy_vlist_slice(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, struct jy_val *const *bounds);
jy_status jy_vlist_set_slice(struct jy_vbuild *b, struct jy_val *list, struct jy_val *const *bounds,
                             struct jy_val *item);
/* del x[key]; key a slice or an index */
jy_status jy_vlist_delete(struct jy_vbuild *b, struct jy_val *list, struct jy_val *key);
jy_status jy_vlist_contains(struct jy_vbuild *b, jy_fv *out, struct jy_val *list, struct jy_val *x);
jy_status jy_vlist_call(struct jy_vbuild *b, struct jy_val **out, size_t nargs,
                        struct jy_val *const *args); /* list() */
/* Methods but append() and pop(). */
jy_status jy_vlist_other_method(struct jy_vbuild *b, struct jy_val **out, struct jy_val *list, const char *name,
                                size_t nargs, struct jy_val *const *args);

/* ---- flow_iter.c ---- */

jy_status jy_viter(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v);
/* At the start: iterators over ranges that came in keep the step that they have now; the flow is left at once when it is another one. */
void jy_viter_fix_steps(struct jy_vbuild *b, struct jy_vframe *frame);
jy_status jy_vfor_iter(struct jy_vbuild *b, const struct jy_instr *instr);
jy_status jy_vrange(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args);
jy_status jy_vzip(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args);
jy_status jy_venumerate(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args);
jy_status jy_vreversed(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v);
jy_status jy_vlength(struct jy_vbuild *b, jy_fv *out, struct jy_val *v);

/* ---- flow_call.c, flow_callee.c, flow_function.c ---- */

jy_status jy_vcall(struct jy_vbuild *b, size_t items, size_t nargs, PyObject *kwnames);
/* The frame is the callee's then. */
jy_status jy_vcall_python(struct jy_vbuild *b, struct jy_value *function, size_t items, size_t nargs,
                          struct jy_val *const *args, PyObject *kwnames);
jy_status jy_vreturn(struct jy_vbuild *b, struct jy_val *v);
/* The frame of a callee with its arguments bound, not entered yet. */
jy_status jy_vcallee_frame(struct jy_vbuild *b, struct jy_vframe **out, struct jy_value *function, size_t nargs,
                           struct jy_val *const *args, PyObject *kwnames);
/* Before something that others see: an exit behind it gives all callees' frames back. JY_BREAK: it cannot be, or the flow is begun again. */
jy_status jy_vb_effect(struct jy_vbuild *b);
/* Calls the callee natively, or waits until it is known what that gives; items as for jy_vcall, call_item as in the frame. */
jy_status jy_vinvoke(struct jy_vbuild *b, struct jy_vframe *callee, struct jy_value *function, size_t items,
                     size_t call_item);
/* The flow is one call of the unit's own function: to begin with, and when all is known. */
jy_status jy_vinvoke_own(struct jy_vbuild *b, struct jy_vframe *frame);
jy_status jy_vinvoke_finish(struct jy_vbuild *b);
/* Are its arguments such as native code of its own can take? */
bool jy_vcan_invoke(struct jy_vbuild *b, const struct jy_vframe *callee);
jy_status jy_vfunction_return(struct jy_vbuild *b, struct jy_val *v);
/* A build like that of the root; the root's when root is NULL. */
struct jy_vbuild *jy_vb_new(struct jy_vbuild *root, struct jy_flow *w, struct jy_trace_state *t);

/* ---- flow_draw.c: random numbers ---- */

/* Is the attribute of an object that came in a method that draws? Guarded then. */
bool jy_vdraw_has(struct jy_vbuild *b, const struct jy_val *v, PyObject *name);
/* A call of such a method of `self`. */
jy_status jy_vdraw_method(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *self, PyObject *name,
                          size_t nargs, struct jy_val *const *args);
/* A call of an object: a bound method that draws. *out NULL: it is none. */
jy_status jy_vdraw_bound(struct jy_vbuild *b, struct jy_val **out, PyObject *callable, size_t nargs,
                         struct jy_val *const *args);

/* ---- flow_op.c ---- */

jy_status jy_vstep(struct jy_vbuild *b, const struct jy_instr *instr);

/* ---- trace.c ---- */

jy_status jy_flow_build(struct jy_frame *root);

/* flow_short.c: how long short axes are that loops go along becomes a guard and a constant. */
void jy_vshort_axes(struct jy_vbuild *b, struct jy_frame *root);

#endif
