/* The flow IR: numeric Python with its loops and branches, as basic blocks in SSA form with block parameters. The frontend makes it from bytecode (frontend/flow*.c), flow_eval.c
 * interprets it (the oracle), backend_llvm emits it. It knows machine types only; what is a Python int and what an np.int64 is known to whoever boxes the values: the exits.
 *
 * A flow has one entry (block 0, without parameters) and leaves by *exits* only. An exit is a place in the bytecode, *before* an instruction: it says of every live local and stack item where its
 * value is. Returning from the function is an exit too. So whatever the fast case does not cover (overflow, a bad index, a zero divisor, a warning, a signal) is performed by the
 * interpreter itself, with everything before it done exactly once.
 *
 * Rules (jy_flow_verify): a value is defined before its use in the same block, or in a block that dominates it; an edge passes one argument of the same type per parameter; a block ends with its
 * f_end; types are those of flow_ops.def; exits are numbered from 0 and every exit number used exists; the values of an exit are defined where it may be taken.
 *
 * Printed form, which parses back (docs/flow.md says what may stand where):
 *     flow f in "f.py" loops 1 :
 *       input 0 : ptr object 0
 *       input 1 : i64 number 1 int64
 *       block 0 () :
 *         %0 = input[0] : ptr
 *         %1 = input[1] : i64
 *         %2 = const[0] : i64
 *         jump 1 (%2)
 *       block 1 (%3 : i64) at 12 @3 :
 *         %4 = lt %3, %1 : i1
 *         branch %4 ? likely 2 () : 3 ()
 *       block 2 () :
 *         %5 = const[1] : i64
 *         %6 = add %3, %5 exit 0 : i64 @4
 *         jump 1 (%6)
 *       block 3 () :
 *         exit 1
 *       exit 0 check "int overflow" at 12 @4 (%3) :
 *         stack number pyint int64 $0
 *         local input 0
 *       exit 1 return at 13 @5 (%3) :
 *         result number pyint int64 $0
 * `at` is a place in the bytecode, `@` a line of the user's code; `$0` is the first of the exit's values.
 */
#ifndef JY_GRAPH_FLOW_H
#define JY_GRAPH_FLOW_H

#include "graph/base/arena.h"
#include "graph/base/status.h"
#include "graph/base/text.h"
#include "graph/dtype.h"
#include "graph/flow_report.h"
#include <stdbool.h>
#include <stdint.h>

typedef uint32_t jy_fv; /* a value: index into w_values */
typedef uint32_t jy_fb; /* a block */
#define JY_NO_FV UINT32_MAX
#define JY_NO_EXIT UINT32_MAX
#define JY_FLOW_MOST_ALIASES 63u               /* bits of jy_flow_helper.keeps, but for bit 0 */
#define JY_FLOW_MOST_EXTENT (INT64_C(1) << 44) /* a flow is not entered with an array that is longer (of nothing) */
enum { JY_SCRATCH_BYTES = 8192 };              /* of SCRATCH: fits into the first cache beside what a loop works on */

enum jy_ftype {
    JY_F_NONE,
    JY_F_I1, /* in memory and in slots: one byte, 0 or 1 */
    JY_F_I8, /* loads, stores and conversions only */
    JY_F_I16,
    JY_F_I32,
    JY_F_I64,
    JY_F_F32,
    JY_F_F64,
    JY_F_PTR,
    JY_F_TYPE_COUNT,
};

enum jy_fop {
#define FLOW(name, text, nargs, cheap) JY_FLOW_##name,
#include "graph/flow_ops.def"
#undef FLOW
    JY_FLOW_COUNT,
};

extern const struct jy_flow_op_info {
    const char *text;
    int8_t nargs;  /* -1: any */
    bool is_cheap; /* without an exit: may be computed for nothing */
} jy_flow_op_info[JY_FLOW_COUNT];

/* f_index of a CHECK: ALWAYS, or marks of flow_identity.c. */
enum jy_check_mark { JY_CHECK_ALWAYS, JY_CHECK_LOADED, JY_CHECK_STORED };

struct jy_fvalue {
    uint8_t f_op, f_type;
    uint8_t f_nargs;
    uint16_t f_alias; /* LOAD, STORE; 0: may touch anything */
    jy_fv *f_args;
    union jy_scalar f_value; /* CONST: `bits` of PTR, `i` of integers (sign-extended), `d`, `f` */
    uint32_t f_index;
    uint32_t f_exit; /* JY_NO_EXIT */
    jy_fb f_block;
    uint32_t f_line; /* of the user's code; 0: none */
    uint32_t f_site; /* of a check: number + 1 in the root's w_sites; 0: none. For reports */
};

struct jy_fedge {
    jy_fb to;
    size_t nargs;
    jy_fv *args;
};

enum jy_flow_end { JY_END_JUMP, JY_END_BRANCH, JY_END_EXIT };

struct jy_fblock {
    struct {
        jy_fv *at;
        size_t n, cap;
    } f_params;
    struct {
        jy_fv *at;
        size_t n, cap;
    } f_body;
    uint8_t f_end;
    jy_fv f_condition;         /* BRANCH: edge 0 when true, edge 1 when false */
    struct jy_fedge f_edge[2]; /* JUMP: the first */
    uint32_t f_leave;          /* EXIT: the exit */
    bool f_likely[2];          /* BRANCH: taken almost always (hint) */
    bool f_careful;            /* head of a loop of which there is a fast copy: it is seldom come to (hint) */
    uint32_t f_offset, f_line; /* where in the bytecode it begins; for dumps */
    uint32_t
        f_loop; /* the program's loop that it is of: number + 1 in the root's w_reports; 0: of none, or a pass made it. For reports */
};

/* Why a flow is left. The interpreter performs the instruction at the exit's place in each case but the last. */
enum jy_flow_exit_kind {
    JY_EXIT_CHECK, /* the fast case does not hold */
    JY_EXIT_STOP,  /* an instruction that flows do not have; compiled code may begin there */
    JY_EXIT_POLL,  /* the interpreter has something to do */
    JY_EXIT_CALL,  /* of INVOKE: the function was left, or was not begun; the interpreter goes on in it, or calls it */
    JY_EXIT_RETURN,
};

/* How an object is made from the values of an exit. What runtime/ does with it stands in runtime/flow_box.c. */
enum jy_box_how {
    JY_BOX_NULL,    /* unbound local, or the interpreter's NULL */
    JY_BOX_INPUT,   /* the very object: input object `number` of the unit */
    JY_BOX_CONST,   /* `object` of the unit's table */
    JY_BOX_NUMBER,  /* value 0 as a scalar of `kind` and `dtype` (enum jy_kind: PYINT, PYFLOAT, PYBOOL, NPSCALAR) */
    JY_BOX_CHAR,    /* value 0: the str of this one character */
    JY_BOX_COMPLEX, /* values 0, 1: Python complex, or `kind` NPSCALAR: np.complex128 */
    JY_BOX_OBJECT,  /* value 0: the address of a live object; a new reference to it is made. In a MAYBE it may be 0 */
    JY_BOX_NATIVE, /* value 0: the address of a struct jy_flow_list, or as OBJECT 0: the list object of its items, made when it is first asked for */
    JY_BOX_TUPLE,  /* of the parts */
    JY_BOX_LIST,   /* new one of the parts */
    JY_BOX_RANGE,  /* range(part 0, part 1, part 2) */
    JY_BOX_SLICE,  /* slice(part 0, part 1, part 2) */
    JY_BOX_VIEW, /* array on the memory of part 0 (an array object): value 0: data, then `ndim` extents, then `ndim` strides; `dtype` */
    JY_BOX_FRESH, /* new array with the elements that lie, in C order, at value 0; then `ndim` extents; `dtype`. A VIEW of it lies in the new one's memory. In a MAYBE value 0 may be 0 */
    JY_BOX_RANGE_ITER, /* values: next, stop, step: iter(range(next, stop, step)) */
    JY_BOX_SEQ_ITER, /* iter(part 0) at index value 0; of a list, a tuple, text or an array; exhausted where the value is negative */
    JY_BOX_REVERSED_ITER, /* reversed(part 0), a list, tuple or text, at index value 0 (the next one) */
    JY_BOX_ENUMERATE,     /* enumerate(part 0, part 1) */
    JY_BOX_ZIP,           /* zip(*parts), parts are iterators */
    JY_BOX_METHOD,        /* bound method: part 0 is self, `object` the name */
    JY_BOX_MAYBE          /* part 0 where value 0 (I1) is true; else part 1, or as NULL where there is none */
};

struct jy_box {
    uint8_t how, kind, dtype, ndim;
    uint32_t number;
    uint32_t object;
    uint32_t value; /* its first value: index into x_values; the others follow */
    bool is_told;   /* the program may find out that it is another object; until flow_identity.c has looked */
    size_t n;
    struct jy_box **parts; /* two uses of one pointer in one exit are one object */
};

/* The frame of a callee that was inlined. Its caller stands before the CALL whose result this frame will give. */
struct jy_flow_frame {
    uint32_t x_function; /* as w_function */
    uint32_t x_offset, x_line;
    uint32_t x_call; /* as that of the exit */
    size_t x_depth, x_nlocals;
    struct jy_box **x_boxes;
};
size_t jy_box_nvalues(const struct jy_box *box); /* of its own */

struct jy_flow_exit {
    uint8_t x_kind;
    uint32_t x_offset; /* in code units */
    uint32_t x_line;
    const char *x_file;
    const char *x_what; /* "int overflow", "index", ...; for logs */
    struct {
        jy_fv *at;
        size_t n, cap;
    } x_values; /* what the machine code stores in `out`, in order, one slot of 8 bytes each */
    size_t x_depth, x_nlocals;
    struct jy_box **
        x_boxes; /* RETURN: one; else the stack, bottom first, then the locals. NULL: RETURN of a function; CALL: the frames are all the function's that was left */
    uint32_t x_call; /* where another frame comes behind: the stack item that its CALL calls */
    struct jy_flow_frame
        *x_inner; /* callees that were inlined, the caller's first; x_line and x_file are those of the last */
    size_t x_ninner;
};

/* What an input is, in terms of the unit's inputs (u_inputs, one object each). Iterators (RANGE of an iterator, INDEX) are taken over and come back as new objects: a flow is not entered when
 * somebody else holds a reference to one, or when it is exhausted already. */
enum jy_flow_input_kind {
    JY_FLOW_IN_NUMBER, /* the scalar of `dtype` in `type`: jy_flow_dtype_type */
    JY_FLOW_IN_OBJECT, /* PTR: its address */
    JY_FLOW_IN_DATA,   /* PTR: of an array */
    JY_FLOW_IN_EXTENT, /* I64: of axis `axis`: 0 .. JY_FLOW_MOST_EXTENT, `some`: from 1 */
    JY_FLOW_IN_STRIDE, /* I64, bytes */
    JY_FLOW_IN_RANGE, /* I64: `axis` 0: next value, 1: stop, 2: step of a range iterator; of a range: start, stop, step */
    JY_FLOW_IN_INDEX,        /* I64: index of a list, tuple or sequence iterator */
    JY_FLOW_IN_CONST_OBJECT, /* PTR: `number` is a handle of the unit's object table */
    JY_FLOW_IN_BITGEN, /* PTR: bitgen_t of a random generator of NumPy's; not entered when somebody else draws from it */
    JY_FLOW_IN_CONST_BITGEN, /* the same of an object in the unit's table */
    JY_FLOW_IN_NATIVE, /* PTR: the native list of a list: `axis` - 1 levels of lists in lists, then numbers of JY_I64, JY_F64 or JY_BOOL (`dtype`); not entered when it holds anything else */
    JY_FLOW_IN_ARG     /* of a function: argument `number` */
};

/* A native list: one that the run has made and nobody but the flow knows (frontend/flow_native.c), or the numbers of an input that nobody else sees during the run. Machine code reads and writes the
 * first fields, and items; it is freed when the run has been left. */
struct jy_flow_list {
    int64_t size, allocated; /* what a list object would have that was changed in the same way */
    void *items;
    /* for helpers and whoever makes the object: */
    int64_t room; /* for items, in memory: at least `allocated` */
    union jy_scalar
        fill; /* has_fill: the value that all items had at first. Items that still have it are one object, as they are in a list object */
    uint8_t type;        /* of the items: I1 (one byte), I64, F64, or PTR: native lists */
    uint8_t leaf, depth; /* of an input: what it was read as, a list (of lists, ...) of I1, I64 or F64 */
    bool has_fill;
    void *object; /* made already; of an input: the list, which gets what has changed when the run is left */
    bool is_input;
    void *owner;      /* whose reserve of address space grows with the list; NULL: none does */
    void **new_items; /* of an input, while the run is left: runtime/flow_back.c */
    int64_t nnew, end, was_allocated;
    struct jy_flow_list *previous, *next;
};

struct jy_flow_input {
    uint8_t kind, type, axis, dtype;
    uint32_t number;
    bool no_nan; /* NUMBER: the flow is not entered with a NaN there: flow_identity.c */
    bool some;   /* EXTENT: nor with 0 */
};

/* A C function that flows call: its address is in jy_flow_call.helper at this index. Arguments and result are passed as C passes int64_t, double, float, bool, void *.
 * may_fail: it takes one more argument at the end, int32_t *, and sets it to nonzero where the exit must be taken; nothing has happened then. */
struct jy_flow_helper {
    const char *name; /* row of graph/flow_helpers.def */
    uint8_t type, nargs;
    uint8_t args[6];
    bool wants_call; /* struct jy_flow_call * is passed before all arguments */
    bool may_fail;
    bool
        pure; /* depends on its arguments only, touches no memory and no FP flag that matters: may be moved and shared */
    uint64_t keeps; /* bit k: it does not change memory that is accessed under alias number k; bit 0: under none */
};

struct jy_flow {
    struct jy_arena *w_arena;
    const char *w_name, *w_file;
    struct {
        struct jy_fvalue *at;
        size_t n, cap;
    } w_values;
    struct {
        struct jy_fblock *at;
        size_t n, cap;
    } w_blocks;
    struct {
        struct jy_flow_exit *at;
        size_t n, cap;
    } w_exits;
    struct {
        struct jy_flow_input *at;
        size_t n, cap;
    } w_inputs;
    struct {
        struct jy_flow_helper *at;
        size_t n, cap;
    } w_helpers;
    uint32_t w_loops; /* loop heads in the bytecode that it goes round */
    bool w_np_flags;  /* has FLAGGED: errstate must be the default one or ignore */
    uint32_t
        w_nalias; /* alias numbers 1 .. w_nalias are in use; number k belongs to unit input w_alias[k - 1]; JY_NO_FV: to memory of the interpreter's, apart from all others by itself */
    uint32_t *w_alias;
    bool *w_alias_written;   /* per alias number: something is stored there */
    uint64_t w_alias_shared; /* bit k: inputs that share memory, of which w_alias[k - 1] is one, have alias number k */
    uint64_t w_alias_own;    /* bit k: memory of the run's own, which goes with it, has alias number k */
    uint32_t w_line;         /* stamped on new values */
    struct jy_flow *w_root;  /* of a function: the flow that it belongs to; NULL: this is no function */
    struct {
        struct jy_flow **at;
        size_t n, cap;
    } w_functions; /* of a root: the program's functions as native code that INVOKE calls; they call each other and themselves */
    uint32_t w_frames; /* Python frames that a run may begin at most, its own included, INVOKEs not */
    uint32_t
        w_function; /* of a function: number + 1 of the unit's input that is the function object; 0: the unit's own */
    uint8_t w_type; /* of a function: what it gives, NONE: nothing */
    size_t w_nargs;
    uint8_t *w_args; /* types */
    bool w_is_piece; /* a function that SPREAD calls: rounds of a loop. Its exits say nothing but that it has failed */
    struct {
        struct jy_flow_last {
            uint8_t how, type;
        } *at;
        size_t n, cap;
    } w_last; /* of a piece */
    struct {
        struct jy_flow_prange {
            uint32_t line;
            uint32_t function; /* its piece */
            const char *why;   /* its rounds stay on one thread; NULL: they do not */
        } *at;
        size_t n, cap;
    } w_pranges; /* of a root: loops of jitney.prange, for reports */
    struct {
        struct jy_flow_report *at;
        size_t n, cap;
    } w_reports; /* of a root: the program's loops, and functions that are native code of their own: flow_report.h */
    struct {
        struct jy_flow_site *at;
        size_t n, cap;
    } w_sites; /* of a root: checks of the program's loops */
    struct {
        uint32_t loop, ordinal;
        uint64_t place;
    } w_here; /* stamped on new checks, and `loop` on new blocks; loop 0: on none */
};

enum { JY_PIECE_MOST_LAST = 24 }; /* w_last; taste */
enum {
    JY_PIECE_ARGS = 3
}; /* of a piece: its first round, that behind its last, and where it says what it knows: two slots of 8 bytes per w_last, the value, and whether there is one (I1) */

/* What a loop's rounds hand on, behind a SPREAD. */
enum jy_flow_last_how {
    JY_LAST_VALUE, /* the value of the last round that has one */
    JY_LAST_SUM,   /* what was there, and what all rounds have added */
};

struct jy_flow_call;
typedef bool (*jy_flow_piece)(struct jy_flow_call *call, const union jy_scalar *args, int64_t from, int64_t to,
                              union jy_scalar *last);

/* The calling convention: int32_t flow(struct jy_flow_call *) returns the number of the exit taken. ORDER flow_call: backend_llvm mirrors it. */
struct jy_flow_call {
    const union jy_scalar *in; /* one slot per input; I1 as 0 or 1, narrow integers extended */
    union jy_scalar *out;      /* room for the largest exit; for machine code: for jy_flow_slots */
    void *const *helper;
    const volatile uint32_t *watch; /* POLL: leave when *watch & watch_mask */
    uint32_t watch_mask;
    void *owner;     /* runtime/'s own */
    int64_t left;    /* Python frames that may be begun yet */
    uintptr_t stack; /* machine code uses no C stack below it */
    /* A function is left by that exit: called for it, then for its caller and so on, the root excepted. out: as call->out is filled for the root. */
    void (*push)(struct jy_flow_call *call, uint32_t function, uint32_t exit, const union jy_scalar *out);
    /* SPREAD: the first so many of `rounds`, which it gives. piece: as the function of that number, with `args` behind its first three; true: it was left. */
    int64_t (*spread)(struct jy_flow_call *call, uint32_t function, jy_flow_piece piece, const union jy_scalar *args,
                      int64_t rounds, union jy_scalar *last);
};
typedef int32_t (*jy_flow_fn)(struct jy_flow_call *call);

/* ---- building: flow.c ---- */

struct jy_flow *jy_flow_new(struct jy_arena *arena, const char *name);
static inline struct jy_fvalue *
jy_flow_at(const struct jy_flow *w, jy_fv v)
{
    return &w->w_values.at[v];
}
jy_fb jy_flow_block(struct jy_flow *w);
jy_fv jy_flow_param(struct jy_flow *w, jy_fb block, enum jy_ftype type);
/* Is v NaN or infinite whenever `part`, which it is computed from in at most `depth` steps, is? */
bool jy_flow_passes_on(const struct jy_flow *w, jy_fv v, jy_fv part, int depth);
/* Appends to the block. exit: JY_NO_EXIT or its number. Folds constants where no exit can be taken and nothing is lost; CONST values are shared per block. */
jy_fv jy_flow_op(struct jy_flow *w, jy_fb block, enum jy_fop op, enum jy_ftype type, size_t nargs, const jy_fv *args,
                 uint32_t exit);
jy_fv jy_flow_const(struct jy_flow *w, jy_fb block, enum jy_ftype type, union jy_scalar value);
jy_fv jy_flow_input(struct jy_flow *w, const struct jy_flow_input *input); /* in block 0, once per input */
jy_fv jy_flow_load(struct jy_flow *w, jy_fb block, enum jy_ftype type, jy_fv pointer, jy_fv offset, int32_t plus,
                   uint32_t alias);
void jy_flow_store(struct jy_flow *w, jy_fb block, jy_fv pointer, jy_fv offset, int32_t plus, jy_fv value,
                   uint32_t alias);
/* helper: index of a row that jy_flow_helper_add gave */
jy_fv jy_flow_ask(struct jy_flow *w, jy_fb block, uint32_t helper, size_t nargs, const jy_fv *args, uint32_t exit);
/* A function of the root flow; a flow of its own with ARG inputs. */
struct jy_flow *jy_flow_function(struct jy_flow *root, const char *name);
static inline struct jy_flow *
jy_flow_root(const struct jy_flow *w)
{
    return w->w_root != NULL ? w->w_root : (struct jy_flow *)(uintptr_t)w;
}
/* The root's inputs stand first in call->in, then those of each function in turn. */
size_t jy_flow_first_input(const struct jy_flow *w);
size_t jy_flow_count_inputs(const struct jy_flow *root); /* of all */
size_t jy_flow_first_helper(const struct jy_flow *w);    /* so in call->helper */
size_t jy_flow_count_helpers(const struct jy_flow *root);
/* The root, then its functions; NULL: there are no more. */
static inline const struct jy_flow *
jy_flow_part(const struct jy_flow *root, size_t k)
{
    return k == 0 ? root : k <= root->w_functions.n ? root->w_functions.at[k - 1] : NULL;
}
jy_fv jy_flow_invoke(struct jy_flow *w, jy_fb block, uint32_t function, size_t nargs, const jy_fv *args, uint32_t exit);
uint32_t jy_flow_helper_add(struct jy_flow *w, const struct jy_flow_helper *helper); /* equal names are one */
uint32_t jy_flow_exit_add(struct jy_flow *w, const struct jy_flow_exit *exit);       /* copies the struct */
void jy_flow_jump(struct jy_flow *w, jy_fb from, jy_fb to, size_t nargs, const jy_fv *args);
void jy_flow_branch(struct jy_flow *w, jy_fb from, jy_fv condition, jy_fb yes, size_t nyes, const jy_fv *yes_args,
                    jy_fb no, size_t nno, const jy_fv *no_args);
void jy_flow_leave(struct jy_flow *w, jy_fb from, uint32_t exit);
size_t jy_flow_type_bytes(enum jy_ftype type); /* in memory */
/* What a number of that dtype is in a register: I1, I32, F32 and F64 have their own; other integers stand as I64 with their value, those of uint64 with their bits. NONE: no dtype. */
enum jy_ftype jy_flow_dtype_type(uint8_t dtype);

/* ---- the rest ---- */

/* flow_apply.c: what an instruction gives that depends on its operands only (no CONST, INPUT, memory, CALL, POLL). `of`: type of operand 0. False: the case holds in which its exit
 * is taken; `out` is then what it gives without one: wrapped, or 0 where its maker promised that the case does not occur. */
bool jy_flow_apply(union jy_scalar *out, enum jy_fop op, enum jy_ftype type, enum jy_ftype of,
                   const union jy_scalar *args);

/* flow_simplify.c: removes parameters that always get one value, unreachable blocks, empty blocks that only jump, values that nobody reads and that cannot exit; shares equal pure values
 * along the dominator tree. Values keep their meaning at every exit. */
void jy_flow_simplify(struct jy_flow *w);
/* flow_identity.c, once, when the frontend is done with the flow: drops the marked CHECKs that are not needed, and finds no_nan. */
void jy_flow_identity(struct jy_flow *w);
/* flow_hoist.c: innermost counted loops get a second copy without the checks that hold for all iterations, chosen by one test in front of the loop. */
void jy_flow_hoist(struct jy_flow *w);
/* Loops of jitney.prange become SPREADs where they can. Before jy_flow_hoist, behind jy_flow_simplify. fastmath: floats are added up in any order. */
void jy_flow_spread(struct jy_flow *w, bool fastmath);
/* flow_force.c, stress: every exit is also taken when the helper `exit_due` says so. Behind all passes. */
void jy_flow_force(struct jy_flow *w);
const char *jy_flow_verify(const struct jy_flow *w); /* NULL: sound; else what is wrong, in the arena */
/* flow_locked.c, behind all passes: why a run needs the GIL. NULL: it does not, as it changes no memory but its own, calls nothing that needs it, and its depth is known. What it reads beside that
 * are objects that came in: */
const char *jy_flow_why_locked(const struct jy_flow *root);
/* flow_undo.c, behind all passes: all that a run does is done to memory of its own, so that it may be thrown away, and another begin where it began. */
bool jy_flow_is_undone(const struct jy_flow *root);
bool jy_flow_reads_object(const struct jy_flow *root, uint32_t number); /* that input of the unit */
void jy_flow_print(struct jy_text *text, const struct jy_flow *w);
/* What jy_flow_print wrote, verified; values keep their numbers. NULL: *error says what is wrong. */
struct jy_flow *jy_flow_parse(struct jy_arena *arena, const char *source, const char **error);
/* The slow interpreter: exactly as machine code would. Returns the exit's number, or JY_FLOW_NO_MEMORY when it could not begin. */
#define JY_FLOW_NO_MEMORY (-1)
int32_t jy_flow_eval(const struct jy_flow *w, struct jy_flow_call *call);

/* flow_slots.c: machine code has another order in call->out: each value that exits name has one slot; constants, inputs and what follows from another one none. The number of slots; `slot` is filled,
 * per value. */
#define JY_NO_SLOT UINT32_MAX
size_t jy_flow_slots(const struct jy_flow *w, uint32_t *slot);
/* Does the exit store v, which it names? */
bool jy_flow_is_stored(const struct jy_flow *w, const struct jy_flow_exit *x, jy_fv v);
/* After machine code has left by the exit: its values, in order. */
void jy_flow_gather(union jy_scalar *out, const struct jy_flow *w, uint32_t exit, const uint32_t *slot,
                    const struct jy_flow_call *call);

#endif
