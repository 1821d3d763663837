/* NumPy semantics over symbolic values: what operators, subscripts, attributes, methods and functions of NumPy mean for the graph (np_*.c, numpy.def).
 * Everything here decides NEP 50 promotion, broadcasting (with guards), result layout (NumPy's K order), result kind (array or NumPy scalar) and breaks on what it cannot
 * reproduce exactly. `*handled` false: none of the operands is an array or a NumPy scalar; Python's own rules apply (op_binary.c). */
#ifndef JY_FRONTEND_NP_H
#define JY_FRONTEND_NP_H

#include "frontend/frame.h"

/* ORDER nb: CPython's BINARY_OP codes, NB_ADD .. NB_XOR; in-place ones are separate calls. */
enum jy_nb {
    JY_NB_ADD,
    JY_NB_AND,
    JY_NB_FLOOR_DIVIDE,
    JY_NB_LSHIFT,
    JY_NB_MATMUL,
    JY_NB_MULTIPLY,
    JY_NB_REMAINDER,
    JY_NB_OR,
    JY_NB_POWER,
    JY_NB_RSHIFT,
    JY_NB_SUBTRACT,
    JY_NB_TRUE_DIVIDE,
    JY_NB_XOR
};
extern const jy_op jy_np_binary_ops[]; /* by enum jy_nb */
enum jy_unary { JY_UNARY_NEGATIVE, JY_UNARY_POSITIVE, JY_UNARY_INVERT, JY_UNARY_ABS };

jy_status jy_np_binary(struct jy_frame *f, struct jy_value **out, bool *handled, enum jy_nb op, bool inplace,
                       struct jy_value *a, struct jy_value *b);
jy_status jy_np_unary(struct jy_frame *f, struct jy_value **out, bool *handled, enum jy_unary op, struct jy_value *a);
jy_status jy_np_compare(struct jy_frame *f, struct jy_value **out, bool *handled, enum jy_compare op,
                        struct jy_value *a, struct jy_value *b);
jy_status jy_np_getitem(struct jy_frame *f, struct jy_value **out, struct jy_value *array, struct jy_value *key);
jy_status jy_np_setitem(struct jy_frame *f, struct jy_value *array, struct jy_value *key, struct jy_value *value);
/* Attribute of an array or NumPy scalar; a method comes back as a METHOD value with self and name. */
jy_status jy_np_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name);
jy_status jy_np_method(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name, size_t nargs,
                       struct jy_value *const *args, PyObject *kwnames);
/* Is this object a row of numpy.def (a function, ufunc or type of NumPy's)? */
bool jy_np_knows(struct jy_frame *f, PyObject *callable);
/* Positional arguments first, then keyword arguments named by the tuple `kwnames` (or NULL), as in vectorcall. */
jy_status jy_np_call(struct jy_frame *f, struct jy_value **out, PyObject *callable, size_t nargs,
                     struct jy_value *const *args, PyObject *kwnames);
/* len(array), iteration over the first axis (extent must be known: guarded), bool/float/int of an array or NumPy scalar */
jy_status jy_np_length(struct jy_frame *f, struct jy_value **out, struct jy_value *array);

/* The node that holds the present contents of a storage. */
jy_ref jy_np_present(struct jy_frame *f, struct jy_storage *storage);

/* Turns a live ndarray or NumPy scalar from `source` into an ARRAY or SCALAR value: guards, placeholder, layout. Break ARRAY_KIND when unsupported. */
jy_status jy_np_realize(struct jy_frame *f, struct jy_value *v);

#endif
