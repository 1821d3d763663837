/* Arithmetic and comparison of Python's own numbers when at least one of them is not known while tracing. */
#ifndef JY_FRONTEND_NUMBER_H
#define JY_FRONTEND_NUMBER_H

#include "frontend/interp.h"

/* A Python int, float or bool, known or not. */
bool jy_number_is(const struct jy_value *v);
jy_status jy_number_binary(struct jy_frame *f, struct jy_value **out, enum jy_nb op, struct jy_value *a,
                           struct jy_value *b);
jy_status jy_number_unary(struct jy_frame *f, struct jy_value **out, enum jy_unary op, struct jy_value *a);
jy_status jy_number_compare(struct jy_frame *f, struct jy_value **out, enum jy_compare op, struct jy_value *a,
                            struct jy_value *b);
/* float(v) as a node of kind PYFLOAT */
jy_status jy_number_float_node(struct jy_frame *f, jy_ref *out, struct jy_value *v);

/* `a op b` on the real objects; breaks where the result would be huge, the operation raise, or warn. */
jy_status jy_number_fold(struct jy_frame *f, struct jy_value **out, enum jy_nb op, PyObject *a, PyObject *b);

#endif
