/* The decoded form of a code object.
 *
 * An instruction is known by its *id*, an index into the pool c_instrs.at[], which never changes.  The order of
 * execution is a linked list through i_next and i_prev.  Freshly decoded, id k is the k-th instruction and i_next is
 * k + 1; edit.h inserts anywhere in O(1) without disturbing an id, so jump targets and exception ranges need no
 * fixing.  Deleting only sets i_dead: a reference to a dead instruction means the first live one behind it.
 * Pushing to the pool may move it: hold ids, not pointers, across an edit.
 *
 * Caches and EXTENDED_ARG do not exist here; assemble.h puts them back.  Memory belongs to the arena; a decoded and
 * unedited code owns no Python reference, c_origin must be kept alive by the caller. */
#ifndef JY_FRONTEND_CPYTHON_INSTR_H
#define JY_FRONTEND_CPYTHON_INSTR_H

#include <Python.h>
#include <opcode.h>
#include <stdbool.h>
#include <stdint.h>

#include "graph/base/arena.h"
#include "graph/base/status.h"

#define JY_NO_INSTR (-1)

enum jy_argkind {
    JY_ARG_NONE,
    JY_ARG_CONST,
    JY_ARG_NAME,
    JY_ARG_NAME1,
    JY_ARG_NAME2,
    JY_ARG_LOCAL,
    JY_ARG_LOCAL2,
    JY_ARG_DEREF,
    JY_ARG_JUMP_FWD,
    JY_ARG_JUMP_BACK,
    JY_ARG_COMPARE,
    JY_ARG_BINOP,
    JY_ARG_COUNT,
    JY_ARG_RAW,
    JY_ARG_INTERNAL,
};

/* Lines are absolute, columns count bytes from 0; -1 where the code object has none.  line -1: no position at all. */
struct jy_position {
    int line, end_line, column, end_column;
};

struct jy_instr {
    uint8_t i_op;       /* the opcode's number, neither specialised nor instrumented */
    uint8_t i_caches;   /* inline cache units behind it */
    uint8_t i_prefix;   /* EXTENDED_ARG units before it, in the original */
    bool i_dead;        /* deleted: emits nothing */
    int i_arg;          /* of a jump: as found; assembling computes it anew from i_target */
    int i_target;       /* id of the instruction jumped to, else JY_NO_INSTR */
    int i_next, i_prev; /* ids, JY_NO_INSTR at the ends */
    int i_id;           /* of the original's instruction that it is a copy of; -1: inserted */
    int i_span; /* 1; in an edited copy also the number of the original's instructions, from i_id on, that it stands for: stretch.h */
    int i_offset; /* first unit (its EXTENDED_ARG if any) in the original's co_code; -1: inserted.  f_lasti / 2 is i_offset + i_prefix */
    int i_depth; /* items on the value stack before it; -1: unreachable or not computed (verify_code.h) */
    struct jy_position i_position;
};

/* From h_start up to but not including h_end (JY_NO_INSTR: to the end), in list order, an exception unwinds the stack to
 * h_depth items, pushes the offset of the instruction if h_lasti, pushes the exception and goes on at h_handler. */
struct jy_handler {
    int h_start, h_end, h_handler;
    int h_depth;
    bool h_lasti;
    bool h_cut; /* what it began with was dropped: the range went on in front of h_start */
};

struct jy_code {
    struct jy_arena *c_arena;
    PyCodeObject *c_origin; /* borrowed */
    struct {
        struct jy_instr *at;
        size_t n, cap;
    } c_instrs;
    struct {
        struct jy_handler *at;
        size_t n, cap;
    } c_handlers;                           /* sorted by place, never overlapping */
    int c_first, c_last;                    /* ids of the ends of the list */
    const uint8_t *c_bytes;                 /* the original's bytecode, neither specialised nor instrumented */
    const struct jy_stretches *c_stretches; /* of the original; NULL: there are none in this code */
    int c_ndecoded;                         /* ids below this came from c_origin, in order of offset */
    PyObject *c_consts;                     /* owned list once something was added, else NULL: see jy_code_add_const */
    PyObject *c_names;                      /* likewise */
    PyObject *c_new_locals;                 /* names of locals behind the original's, likewise */
    PyObject *c_name_index;                 /* owned dict: where in c_names; NULL until a name is added */
    PyObject *c_local_set;                  /* owned set: names of all locals; NULL until a local is added */
    struct {
        int *at;
        size_t n, cap;
    } c_cell_users; /* ids below c_cells_known that name a cell or free variable; jy_edit_add_local's */
    size_t c_cells_known;
    bool c_one_parameter; /* the new code takes one argument, in slot 0, and not what the original takes */
    int c_cursor;         /* jy_edit_append puts instructions before this one; JY_NO_INSTR: at the end */
    int c_nlocals;        /* with the new ones */
    int c_nlocalsplus;    /* with the new ones */
    int c_stacksize;      /* what the last verification found to be needed; at first the original's */
    const char *c_error;  /* why decoding, verifying or assembling answered JY_BREAK */
};

static inline struct jy_instr *
jy_code_at(const struct jy_code *code, int id)
{
    return &code->c_instrs.at[id];
}

/* The first live instruction at or behind `id`; JY_NO_INSTR past the end. */
static inline int
jy_code_live(const struct jy_code *code, int id)
{
    while (id != JY_NO_INSTR && jy_code_at(code, id)->i_dead)
        id = jy_code_at(code, id)->i_next;
    return id;
}

/* `for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id))` visits the live ones. */
static inline int
jy_code_begin(const struct jy_code *code)
{
    return jy_code_live(code, code->c_first);
}

static inline int
jy_code_next(const struct jy_code *code, int id)
{
    return jy_code_live(code, jy_code_at(code, id)->i_next);
}

/* Facts of an opcode, from the table. */
const char *jy_instr_opname(int op);
bool jy_instr_has_row(int op);
bool jy_instr_is_known(int op); /* has a row and may stand in a decoded code object */
int jy_instr_caches(int op);
enum jy_argkind jy_instr_argkind(int op);
int jy_instr_pops(int op, int arg);
int jy_instr_pushes(int op, int arg, bool jump);
bool jy_instr_is_jump(int op);       /* has a target */
bool jy_instr_falls_through(int op); /* may go on at the next instruction */
bool jy_instr_may_raise(int op);     /* false only where it is certain */
/* 3.13: it may push a frame, and the handler of what comes out of that is looked up one unit before the instruction. */
bool jy_instr_looks_back(int op);
/* Up to 3.12: a jump back looks for signals when it has jumped, and the handler of what one raises is looked up one unit before the target. */
bool jy_instr_polls_at_target(void);

/* Arguments that versions pack differently. */
int jy_instr_name_index(const struct jy_instr *instr); /* index into co_names; -1: has none */
bool jy_instr_pushes_null(
    const struct jy_instr *instr); /* LOAD_GLOBAL with NULL; LOAD_ATTR and LOAD_SUPER_ATTR of a method */
bool jy_instr_is_prefix(int op);   /* KW_NAMES, PRECALL: belong to the CALL behind them */
size_t jy_instr_call_items(
    const struct jy_instr
        *instr); /* what a call takes from the stack, from the callable and its NULL or self on; 0: it is no call */
bool jy_instr_null_is_first(void); /* of a callable and the NULL that CALL finds with it, the NULL lies below */
bool jy_instr_loads_method(const struct jy_instr *instr);    /* of the object on the stack, to be called */
int jy_instr_compare(const struct jy_instr *instr);          /* COMPARE_OP: Py_LT ... Py_GE */
bool jy_instr_compare_to_bool(const struct jy_instr *instr); /* 3.13: its result is made a bool at once */

/* LOAD_FAST_LOAD_FAST and its like as the two simple instructions that they stand for; false: `instr` is none. */
bool jy_instr_split(const struct jy_instr *instr, struct jy_instr out[2]);

/* The instruction that begins at, or whose opcode stands at, that unit of the original; JY_NO_INSTR: none does. */
int jy_code_id_at_offset(const struct jy_code *code, int unit);

/* The handler that an exception in this instruction goes to; NULL: it leaves the frame.  O(handlers), unedited code only. */
const struct jy_handler *jy_code_handler_of(const struct jy_code *code, int id);

/* The object behind an argument, borrowed: of CONST and NAME kinds, and the name of LOCAL and DEREF kinds. */
PyObject *jy_code_const(const struct jy_code *code, int index);
PyObject *jy_code_name(const struct jy_code *code, int index);
PyObject *jy_code_local_name(const struct jy_code *code, int localsplus_index);

#endif
