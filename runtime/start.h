/* Starts, leaves and continuations: how a function is compiled in pieces.
 *
 *   start  where a unit may begin: the call, or an instruction in the middle with its layout of the frame. Entries, misses and refusals belong to it.
 *   leave  an instruction before which new code gives the frame back, because a unit may begin there.
 *
 * New code that leaves returns a continuation to the driver; the driver finds the start, runs an entry whose guards hold, or a new one, or else the original from there on. No frame
 * of the function calls another, so there is one at any time. */
#ifndef JY_RUNTIME_START_H
#define JY_RUNTIME_START_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

struct jy_function;
struct jy_entry;
struct jy_unit;

/* A code object that we made, as a function that is ready to be called. */
struct jy_new_code {
    PyObject *code;
    PyObject *function; /* holds nothing but code and name between calls */
    uint32_t version;   /* of the leaves that it was made with */
};

struct jy_start {
    struct jy_start *s_next;
    uint32_t s_offset, s_depth, s_nlocals; /* all 0: the call */
    bool *s_absent;                        /* by item, stack first: NULL there */
    struct jy_entry *s_entries;            /* most recently used first */
    size_t s_nentries;
    uint32_t s_refused, s_misses;
    bool s_off;                 /* nothing more is compiled here */
    bool s_no_flow, s_no_alias; /* no loop here runs as a flow; one that does, with arrays that may overlap */
    bool s_no_natives;          /* ... with lists that stay objects */
    uint32_t s_arrivals;        /* at a loop's head, before anything was compiled for it */
    uint32_t s_found, s_missed; /* resumptions that found a unit; that did not, when none could be made any more */
    struct jy_new_code s_plain; /* the original from here on */
    struct jy_new_code s_alone; /* the same without leaves */
};

struct jy_leave {
    uint32_t offset;
    bool active;
    bool is_loop; /* the head of a loop, and nothing else: worth compiling for only when it is reached often */
};

struct jy_leaves {
    struct jy_leave *at;
    size_t n, active;
    uint32_t version;
    bool has_all; /* those that every function with a stop gets are in */
};

int jy_start_init(void); /* -1 with an exception */

/* The driver: runs on until the function returns.  refs: steals result (may be NULL), returns new. */
PyObject *jy_drive(struct jy_function *function, PyObject *result);
bool jy_is_continuation(PyObject *result);

/* After a trace that stops at that offset, or that found nothing to compile before it: the function may be left behind it. */
void jy_leaves_add(struct jy_function *function, uint32_t stop);
/* Behind an exit of a flow compiled code takes over at the next loop head. */
void jy_leaves_add_loop(struct jy_function *function,
                        uint32_t offset); /* a unit ends before this one, for a flow's sake */
void jy_leaves_add_loops(struct jy_function *function);
/* Has the function's code a loop? */
bool jy_function_loops_at(struct jy_function *function, uint32_t offset); /* a loop begins there */
bool jy_function_has_loop(struct jy_function *function);
/* Nothing worth compiling begins there. */
void jy_leaves_drop(struct jy_function *function, uint32_t offset);
void jy_leaves_drop_all(struct jy_function *function);

/* New code for a unit (NULL: the original) from a start, with the present leaves.  0, or -1 with an exception. */
int jy_new_code_make(struct jy_new_code *out, struct jy_function *function, const struct jy_start *start,
                     const struct jy_unit *unit, PyObject *compiled_name);
/* Calls it with the function's own globals, closure and defaults.  refs: as vectorcall */
PyObject *jy_new_code_call(struct jy_new_code *code, struct jy_function *function, PyObject *const *args, size_t nargsf,
                           PyObject *kwnames);
void jy_new_code_clear(struct jy_new_code *code);

/* The original with leaves, for a call that fits no entry; *has false: no leave is active, the original itself does. 0, or -1 with an exception. */
int jy_start_plain(bool *has, struct jy_function *function, struct jy_start *start);

void jy_starts_clear(struct jy_function *function); /* all but the entries of the call */

/* The function's code, decoded: a reference of the caller's, NULL when there is no memory. */
struct jy_original *jy_original_of(struct jy_function *function);
/* Forgets it when nothing will ask for it soon. */
void jy_original_settle(struct jy_function *function);
void jy_starts_free(struct jy_function *function);

#endif
