/* What the handlers share: the value stack, and Python's protocols over symbolic values.
 *
 * Protocol functions answer with a new value through `out`, or break; they change nothing before they are certain. */
#ifndef JY_FRONTEND_INTERP_H
#define JY_FRONTEND_INTERP_H

#include <assert.h>

#include "frontend/cpython/instr.h"
#include "frontend/np.h"

/* ---- the stack: interp.c has checked the depth against the opcode table before a handler runs ---- */

static inline jy_status
jy_push(struct jy_frame *f, struct jy_value *v)
{
    assert(f->f_depth < f->f_stacksize);
    f->f_stack[f->f_depth++] = v;
    return JY_OK;
}

static inline struct jy_value *
jy_pop(struct jy_frame *f)
{
    assert(f->f_depth > 0);
    return f->f_stack[--f->f_depth];
}

/* The n-th item from the top, 1 is the top. */
static inline struct jy_value **
jy_peek(struct jy_frame *f, size_t n)
{
    assert(n >= 1 && n <= f->f_depth);
    return &f->f_stack[f->f_depth - n];
}

/* Replaces the top n items by one. */
static inline jy_status
jy_replace(struct jy_frame *f, size_t n, struct jy_value *v)
{
    assert(n <= f->f_depth);
    f->f_depth -= n;
    return jy_push(f, v);
}

/* ---- frames ---- */

/* A frame for `code` with empty locals. function: the live one, or NULL; source: base of its GLOBAL and CELL sources. */
jy_status jy_frame_new(struct jy_frame **out, struct jy_frame *back, struct jy_trace_state *trace, PyObject *function,
                       PyObject *code, jy_src source);
/* Runs until the frame returns (f_return) or, a generator, yields (f_yield). */
jy_status jy_interp_run(struct jy_frame *f);

/* ---- protocols ---- */

jy_status jy_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name);
jy_status jy_getitem(struct jy_frame *f, struct jy_value **out, struct jy_value *v, struct jy_value *key);
jy_status jy_setitem(struct jy_frame *f, struct jy_value *v, struct jy_value *key, struct jy_value *item);
jy_status jy_delitem(struct jy_frame *f, struct jy_value *v, struct jy_value *key);
jy_status jy_length(struct jy_frame *f, struct jy_value **out, struct jy_value *v);
jy_status jy_binary(struct jy_frame *f, struct jy_value **out, enum jy_nb op, bool inplace, struct jy_value *a,
                    struct jy_value *b);
jy_status jy_unary(struct jy_frame *f, struct jy_value **out, enum jy_unary op, struct jy_value *a);
jy_status jy_compare_values(struct jy_frame *f, struct jy_value **out, enum jy_compare op, struct jy_value *a,
                            struct jy_value *b);
jy_status jy_is_same(struct jy_frame *f, bool *out, struct jy_value *a, struct jy_value *b);
/* Identity or equality, as containers compare. */
jy_status jy_is_equal(struct jy_frame *f, bool *out, struct jy_value *a, struct jy_value *b);
jy_status jy_contains(struct jy_frame *f, bool *out, struct jy_value *container, struct jy_value *item);

/* iter(v); an iterator gives itself */
jy_status jy_iter(struct jy_frame *f, struct jy_value **out, struct jy_value *v);
/* *out NULL: exhausted */
jy_status jy_iter_next(struct jy_frame *f, struct jy_value **out, struct jy_value *iterator);
/* All that is left, as a TUPLE or LIST value of its own. */
jy_status jy_iter_collect(struct jy_frame *f, struct jy_value **out, enum jy_value_kind kind, struct jy_value *v);

/* Positional arguments first, then those named by the tuple `kwnames` (or NULL). */
jy_status jy_call(struct jy_frame *f, struct jy_value **out, struct jy_value *callable, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames);
jy_status jy_call_python(struct jy_frame *f, struct jy_value **out, struct jy_value *function, size_t nargs,
                         struct jy_value *const *args, PyObject *kwnames);
/* *handled false: the callable is none of builtins.def */
jy_status jy_call_builtin(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
                          struct jy_value *const *args, PyObject *kwnames);
/* call_own.c: jitney's own C functions; Python functions with a mark of assume_constant_result or allow_in_graph */
jy_status jy_call_own(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs);
jy_status jy_call_marked(struct jy_frame *f, struct jy_value **out, bool *handled, struct jy_value *function,
                         size_t nargs, struct jy_value *const *args, PyObject *kwnames);
/* Methods of tuples, lists, dicts, constants. */
bool jy_method_is_known(const struct jy_value *self, const char *name);
jy_status jy_call_method(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name, size_t nargs,
                         struct jy_value *const *args, PyObject *kwnames);

/* ---- helpers ---- */

/* Around what walks into structures that the program may nest without limit. No need to leave on failure: the trace ends. */
jy_status jy_enter(struct jy_frame *f);
static inline void
jy_leave(struct jy_frame *f)
{
    f->f_trace->nesting--;
}

/* A constant from a new reference, or the exception that computing it raised as a break: the original raises it. */
jy_status jy_take(struct jy_frame *f, struct jy_value **out, PyObject *object);
/* The Python object that the value is, when it and all its parts are constants: tuples, slices and ranges of constants are made. refs: new, or NULL
 * without an exception */
PyObject *jy_value_as_object(struct jy_frame *f, struct jy_value *v);
/* Constant containers (tuple, str, bytes, frozenset, range) and known sequences as values; *items NULL: not a known sequence */
jy_status jy_value_items(struct jy_frame *f, struct jy_value ***items, size_t *n, struct jy_value *v);
void jy_seq_remove(struct jy_value *seq, size_t at);
void jy_seq_insert(struct jy_frame *f, struct jy_value *seq, size_t at, struct jy_value *item);
void jy_seq_append(struct jy_frame *f, struct jy_value *seq, struct jy_value *item);
/* Index of a key among a DICT's keys or -1; keys are plain. */
jy_status jy_dict_find(struct jy_frame *f, size_t *index, bool *found, struct jy_value *dict, struct jy_value *key);
jy_status jy_dict_set(struct jy_frame *f, struct jy_value *dict, struct jy_value *key, struct jy_value *value);
/* May the program change it? Not what came from outside. */
jy_status jy_check_mutable(struct jy_frame *f, struct jy_value *v);

/* The unit's result from the value that the root frame returned. */
jy_status jy_outputs_build(struct jy_frame *f, struct jy_value *result);

#endif
