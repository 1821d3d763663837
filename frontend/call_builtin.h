/* The handlers of builtins.def: call_number.c, call_container.c, call_iter.c, call_object.c. Positional arguments are looked at; those that kwnames names stand behind them, and only
 * handlers with `keywords` in their row get any. */
#ifndef JY_FRONTEND_CALL_BUILTIN_H
#define JY_FRONTEND_CALL_BUILTIN_H

#include "frontend/interp.h"

typedef jy_status jy_builtin(struct jy_frame *f, struct jy_value **out, size_t n, struct jy_value *const *args,
                             PyObject *kwnames);

jy_builtin jy_builtin_abs;
jy_builtin jy_builtin_all;
jy_builtin jy_builtin_any;
jy_builtin jy_builtin_bool;
jy_builtin jy_builtin_callable;
jy_builtin jy_builtin_dict;
jy_builtin jy_builtin_divmod;
jy_builtin jy_builtin_enumerate;
jy_builtin jy_builtin_filter;
jy_builtin jy_builtin_float;
jy_builtin jy_builtin_frozenset;
jy_builtin jy_builtin_getattr;
jy_builtin jy_builtin_hasattr;
jy_builtin jy_builtin_int;
jy_builtin jy_builtin_isinstance;
jy_builtin jy_builtin_iter;
jy_builtin jy_builtin_issubclass;
jy_builtin jy_builtin_complex;
jy_builtin jy_builtin_bytes;
jy_builtin jy_builtin_str;
jy_builtin jy_builtin_len;
jy_builtin jy_builtin_list;
jy_builtin jy_builtin_map;
jy_builtin jy_builtin_max;
jy_builtin jy_builtin_min;
jy_builtin jy_builtin_next;
jy_builtin jy_builtin_pow;
jy_builtin jy_builtin_range;
jy_builtin jy_builtin_reversed;
jy_builtin jy_builtin_set;
jy_builtin jy_builtin_setattr;
jy_builtin jy_builtin_slice;
jy_builtin jy_builtin_sorted;
jy_builtin jy_builtin_sum;
jy_builtin jy_builtin_tuple;
jy_builtin jy_builtin_type;
jy_builtin jy_builtin_zip;

/* ---- what they share ---- */

jy_status jy_builtin_unknown(struct jy_frame *f, const char *name, const struct jy_value *v);
/* The only keyword that a function takes; NULL: not given. *bad: another one is there. */
struct jy_value *jy_builtin_keyword(bool *bad, const char *name, size_t n, struct jy_value *const *args,
                                    PyObject *kwnames);
/* Before an operator gets an operand that is on no eager stack. */
void jy_builtin_mark_temporary(struct jy_frame *f, struct jy_value *v);
/* type(*args) of known, plain arguments */
jy_status jy_builtin_construct(struct jy_frame *f, struct jy_value **out, PyTypeObject *type, size_t n,
                               struct jy_value *const *args);

static inline struct jy_value *
jy_builtin_bool_value(struct jy_frame *f, bool truth)
{
    return jy_value_const(f, truth ? Py_True : Py_False);
}

#endif
