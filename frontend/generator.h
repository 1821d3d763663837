/* Generators that a trace runs: suspended frames. */
#ifndef JY_FRONTEND_GENERATOR_H
#define JY_FRONTEND_GENERATOR_H

#include "frontend/interp.h"

/* *out NULL: it has returned, now or earlier. */
jy_status jy_generator_next(struct jy_frame *f, struct jy_value **out, struct jy_value *generator);
/* What next() raises of a generator that has just ended, or had ended before. */
jy_status jy_generator_stop(struct jy_frame *f, struct jy_value *generator, bool now);
bool jy_generator_has_method(const struct jy_value *v, const char *name);
/* send, throw, close */
jy_status jy_generator_method(struct jy_frame *f, struct jy_value **out, struct jy_value *generator, PyObject *name,
                              size_t nargs, struct jy_value *const *args, PyObject *kwnames);
/* Before a yield. */
jy_status jy_generator_suspend(struct jy_frame *g);
/* At the end of the unit: none is left that would run a handler when it is dropped. */
jy_status jy_generators_check(struct jy_frame *f);

#endif
