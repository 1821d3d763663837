/* What the handlers share: the value stack, and Python's protocols over symbolic values.
 *
 * Protocol functions answer with a new value through `out`, or break; they change nothing before they are certain. */
#ifndef JY_FRONTEND_INTERP_H
#define JY_FRONTEND_INTERP_H

#include <assert.h>

#include "frontend/cpython/instr.h"
#include "frontend/np.h"

struct jy_outputs;

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

/* A callable with its NULL, in the version's order. */
static inline jy_status
jy_push_callable(struct jy_frame *f, struct jy_value *v)
{
    struct jy_value *null = jy_value_new(f, JY_V_NULL);
    bool first = jy_instr_null_is_first();
    jy_push(f, first ? null : v);
    return jy_push(f, first ? v : null);
}

/* ---- frames ---- */

/* A frame for `code` with empty locals. function: the live one, or NULL; source: base of its GLOBAL and CELL sources. */
jy_status jy_frame_new(struct jy_frame **out, struct jy_frame *back, struct jy_trace_state *trace, PyObject *function,
                       PyObject *code, jy_src source);
/* Runs until the frame returns (f_return) or, a generator, yields (f_yield). */
jy_status jy_interp_run(struct jy_frame *f);
/* By id of the root frame's code: the root step of the instruction's first execution, 0 before that. */
uint32_t *jy_first_seen(struct jy_frame *root, int id);
/* The budget of the trace is used up before the root frame's instruction f_pc, and u_break says so: lets the unit end there when a second run, told where to end, would come to the same place. */
void jy_trace_end_here(struct jy_frame *root);
void jy_log_instr(struct jy_frame *f, const struct jy_instr *instr); /* log.c: a line of `trace_bytecode` */

/* ---- protocols ---- */

jy_status jy_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name);
/* value NULL: del */
jy_status jy_setattr(struct jy_frame *f, struct jy_value *v, PyObject *name, struct jy_value *value);
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

/* A text that every live function has as an attribute. */
bool jy_is_function_text(const struct jy_value *v, const char *name);

/* iter(v); an iterator gives itself */
jy_status jy_iter(struct jy_frame *f, struct jy_value **out, struct jy_value *v);
/* *out NULL: exhausted */
jy_status jy_iter_next(struct jy_frame *f, struct jy_value **out, struct jy_value *iterator);
/* All that is left, as a TUPLE or LIST value of its own. */
jy_status jy_iter_collect(struct jy_frame *f, struct jy_value **out, enum jy_value_kind kind, struct jy_value *v);

/* Over keys (what 0), values (1) or items (2). */
struct jy_value *jy_dict_iter(struct jy_frame *f, struct jy_value *dict, size_t what, bool backwards);
/* An iterator over iter() of the arguments. */
jy_status jy_iter_new(struct jy_frame *f, struct jy_value **out, enum jy_iter_how how, size_t n,
                      struct jy_value *const *args);
/* function(*args) on behalf of an iterator */
jy_status jy_iter_ask(struct jy_frame *f, struct jy_value **out, struct jy_value *function, size_t n,
                      struct jy_value *const *args);
jy_status jy_dict_view_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);
jy_status jy_iter_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);
/* call_library.c: *handled false: it is none that is followed */
jy_status jy_library_call(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
                          struct jy_value *const *args, PyObject *kwnames);
/* Is it the attribute of that name of a module of CPython's own? */
bool jy_is_named(struct jy_frame *f, PyObject *object, const char *module, const char *name);
/* An object of operator.itemgetter and its like. */
bool jy_is_getter(PyObject *object);
/* itertools.c */
jy_status jy_itertools_next(struct jy_frame *f, struct jy_value **out, struct jy_value *it);
jy_status jy_itertools_call(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
                            struct jy_value *const *args, PyObject *kwnames);

/* Positional arguments first, then those named by the tuple `kwnames` (or NULL). */
jy_status jy_call(struct jy_frame *f, struct jy_value **out, struct jy_value *callable, size_t nargs,
                  struct jy_value *const *args, PyObject *kwnames);
jy_status jy_call_python(struct jy_frame *f, struct jy_value **out, struct jy_value *function, size_t nargs,
                         struct jy_value *const *args, PyObject *kwnames);
/* *handled false: the callable is none of builtins.def */
jy_status jy_call_builtin(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
                          struct jy_value *const *args, PyObject *kwnames);
/* call_own.c: jitney's own C functions; Python functions with a mark of assume_constant_result or allow_in_graph */
/* Is it jitney's own C function of that name? */
bool jy_is_own(PyObject *callable, const char *name);
jy_status jy_call_own(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
                      struct jy_value *const *args, PyObject *kwnames);
jy_status jy_call_marked(struct jy_frame *f, struct jy_value **out, bool *handled, struct jy_value *function,
                         size_t nargs, struct jy_value *const *args, PyObject *kwnames);
bool jy_is_marked(PyFunctionObject *function);
/* call_python.c: may this live function be inlined? Its default of the index-th parameter. */
jy_status jy_callee_check(struct jy_frame *f, struct jy_value *function);
jy_status jy_callee_default(struct jy_frame *f, struct jy_value **out, struct jy_value *function, size_t index,
                            PyObject *name);
/* Methods of tuples, lists, dicts, constants. */
bool jy_method_is_known(const struct jy_value *self, const char *name);
jy_status jy_call_method(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name, size_t nargs,
                         struct jy_value *const *args, PyObject *kwnames);

/* type(v), guarded; breaks when it is not known */
jy_status jy_value_type(struct jy_frame *f, PyTypeObject **out, struct jy_value *v);
jy_status jy_isinstance(struct jy_frame *f, bool *out, struct jy_value *v, struct jy_value *classes);
/* Is it a class of abc.ABCMeta that says yes to its real subclasses at once? */
bool jy_is_abstract_base(struct jy_frame *f, PyObject *object);
/* issubclass(type, klass), guarded, of a class of abc.ABCMeta; *known: it can be asked for without running code of the program's */
jy_status jy_abstract_answer(struct jy_frame *f, bool *known, bool *out, PyTypeObject *type, PyObject *klass);

/* ---- helpers ---- */

/* The cells of the function's closure, into the last slots. */
jy_status jy_copy_free_vars(struct jy_frame *f, size_t n);
/* Would the program notice when a reference to `o` is dropped late? */
bool jy_drop_shows(struct jy_frame *f, PyObject *o, bool deleting);
/* The root frame returns, and drops what its locals still hold. */
void jy_drop_locals(struct jy_frame *f);

/* Around what walks into structures that the program may nest without limit. No need to leave on failure: the trace ends. */
jy_status jy_enter(struct jy_frame *f);
static inline void
jy_leave(struct jy_frame *f)
{
    f->f_trace->nesting--;
}

/* A constant from a new reference, or the exception that computing it raised: what the program raises. */
jy_status jy_take(struct jy_frame *f, struct jy_value **out, PyObject *object);
/* `out` was computed from a known operand; where it is the operand's very object, it comes from where that came from: +x, float(x), s + "". */
void jy_take_operand(struct jy_value **out, struct jy_value *operand);
/* The Python object that the value is, when it and all its parts are constants: tuples, slices and ranges of constants are made. refs: new, or NULL
 * without an exception */
PyObject *jy_value_as_object(struct jy_frame *f, struct jy_value *v);
/* Constant containers (tuple, str, bytes, frozenset, range) and known sequences as values; *items NULL: not a known sequence */
jy_status jy_value_items(struct jy_frame *f, struct jy_value ***items, size_t *n, struct jy_value *v);
void jy_seq_remove(struct jy_value *seq, size_t at);
void jy_seq_insert(struct jy_frame *f, struct jy_value *seq, size_t at, struct jy_value *item);
void jy_seq_append(struct jy_frame *f, struct jy_value *seq, struct jy_value *item);
/* A key or item of a set as the real object, borrowed: a number that came in is pinned. Breaks when it is not plain. */
jy_status jy_check_kept_key(struct jy_frame *f, struct jy_value *container, struct jy_value *key, PyObject *object);
/* Hash and equality of such an object run no code of the program's and are always the same: numbers, text, members of enums, tuples of these. */
bool jy_key_is_known(struct jy_frame *f, PyObject *key);
/* The value of a known key that a dict or set has given back. */
struct jy_value *jy_key_value(struct jy_frame *f, PyObject *key);
jy_status jy_key_object(struct jy_frame *f, PyObject **out, struct jy_value *key);
/* Index of a key among a DICT's keys or -1; keys are plain. */
jy_status jy_dict_find(struct jy_frame *f, size_t *index, bool *found, struct jy_value *dict, struct jy_value *key);
jy_status jy_dict_set(struct jy_frame *f, struct jy_value *dict, struct jy_value *key, struct jy_value *value);
/* An operation that raises: the exception is the one that CPython's own code makes. key: of a KeyError. */
jy_status jy_raises(struct jy_frame *f, PyObject *type, const char *format, ...) __attribute__((format(printf, 3, 4)));
jy_status jy_raises_key(struct jy_frame *f, struct jy_value *key);

/* ---- change.c: lists, dicts and sets that the program changes. One that existed before is changed here and in the ledger. ---- */

/* Before a change. */
jy_status jy_check_mutable(struct jy_frame *f, struct jy_value *v);
jy_status jy_seq_reverse(struct jy_frame *f, struct jy_value *v); /* a list or the items of a deque, in place */
/* Before `item` leaves `container` (or is taken from it): no code must run when that was the last reference. */
jy_status jy_check_dropped(struct jy_frame *f, struct jy_value *container, struct jy_value *item);
/* list.name(v, *args) after the values have changed, when others can see v. */
void jy_replay_call(struct jy_frame *f, struct jy_value *v, const char *name, size_t nargs,
                    struct jy_value *const *args);
/* v[key] = item, or del v[key] where item is NULL, likewise: not by what the class of v has overridden. */
void jy_replay_item(struct jy_frame *f, struct jy_value *v, struct jy_value *key, struct jy_value *item);
/* Everything that the iterable gives goes to the end of the list, and to the ledger. */
jy_status jy_list_extend(struct jy_frame *f, struct jy_value *list, struct jy_value *iterable);
jy_status jy_list_set_slice(struct jy_frame *f, struct jy_value *list, struct jy_value *key, struct jy_value *iterable);
jy_status jy_list_delete_slice(struct jy_frame *f, struct jy_value *list, struct jy_value *key);
/* dict[key] = value and del of the index-th key, with the ledger; jy_dict_set and jy_seq_remove are those of new dicts. */
jy_status jy_dict_store(struct jy_frame *f, struct jy_value *dict, struct jy_value *key, struct jy_value *value);
jy_status jy_dict_delete(struct jy_frame *f, struct jy_value *dict, size_t index, struct jy_value *key);
/* dict.update(from): a dict, or an iterable of pairs */
jy_status jy_dict_update(struct jy_frame *f, struct jy_value *dict, struct jy_value *from);
/* start, step and number of the items that a slice of known bounds selects among n */
jy_status jy_slice_bounds(struct jy_frame *f, Py_ssize_t *start, Py_ssize_t *step, Py_ssize_t *count,
                          struct jy_value *slice, size_t n);
/* A list that nobody has looked into takes appends without a guard on its length. */
bool jy_is_appendable(struct jy_frame *f, const struct jy_value *v);
jy_status jy_list_append(struct jy_frame *f, struct jy_value *list, struct jy_value *item);
/* What it was given before it was looked at. */
void jy_list_add_appended(struct jy_frame *f, struct jy_value *list);
/* list[:] = what it holds */
jy_status jy_replay_contents(struct jy_frame *f, struct jy_value *list);

/* ---- op_global.c ---- */

/* What the frame's code reads as the global `name`. */
jy_status jy_global_load(struct jy_frame *f, struct jy_value **out, PyObject *name);
/* Has the trace stored to (*out NULL: deleted) this global of the frame? */
bool jy_global_is_stored(const struct jy_frame *f, struct jy_value **out, PyObject *name);
/* Is `dict` the globals that the trace has stored to? */
bool jy_is_stored_to(const struct jy_frame *f, PyObject *dict);

/* ---- sort.c ---- */

/* The keywords `key` (NULL: none) and `reverse`. */
jy_status jy_sort_arguments(struct jy_frame *f, struct jy_value **key, bool *reverse, size_t n,
                            struct jy_value *const *args, PyObject *kwnames);
/* key(item), or item */
jy_status jy_sort_key(struct jy_frame *f, struct jy_value **out, struct jy_value *key, struct jy_value *item);
/* A new LIST of the items of `all`, whose keys are known. in_place: a sort that would raise breaks otherwise. */
jy_status jy_sort(struct jy_frame *f, struct jy_value **out, const struct jy_value *all, struct jy_value *key,
                  bool reverse, bool in_place);

/* ---- set.c ---- */

/* A new set of the real, plain object `mirror`; refs: steals, NULL: an exception is set */
jy_status jy_set_new(struct jy_frame *f, struct jy_value **out, PyObject *mirror);
/* frozenset(iterable) */
jy_status jy_set_freeze(struct jy_frame *f, struct jy_value **out, struct jy_value *iterable);
jy_status jy_set_add(struct jy_frame *f, struct jy_value *set, struct jy_value *item);
/* The items in the order of iteration, as a TUPLE; breaks where that is not known. */
jy_status jy_set_items(struct jy_frame *f, struct jy_value **out, struct jy_value *set);
jy_status jy_set_contains(struct jy_frame *f, bool *out, struct jy_value *set, struct jy_value *item);
jy_status jy_set_binary(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_nb op, bool inplace,
                        struct jy_value *a, struct jy_value *b);
jy_status jy_set_compare(struct jy_frame *f, struct jy_value **out, bool *done, enum jy_compare op, struct jy_value *a,
                         struct jy_value *b);
bool jy_set_method_is_known(const char *name);
jy_status jy_set_method(struct jy_frame *f, struct jy_value **out, struct jy_value *self, const char *name,
                        size_t nargs, struct jy_value *const *args);
jy_status jy_set_realize(struct jy_frame *f, struct jy_value *v);
jy_status jy_set_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_value *v);

/* The unit's effects, then its result from the value that the root frame returned, or its stop from the state of the root frame. */
jy_status jy_outputs_build(struct jy_frame *f);
/* A recipe for one more value, from within the recipe of a kind of value. */
jy_status jy_outputs_recipe(struct jy_recipe **out, struct jy_frame *f, struct jy_outputs *o, struct jy_value *v);
struct jy_recipe *jy_recipe_const(struct jy_frame *f, PyObject *object);
/* callable(*items), a constant callable that runs no code of the program's. */
struct jy_recipe *jy_recipe_call(struct jy_frame *f, PyObject *callable, size_t n, struct jy_recipe *const *items);

#endif
