/* What functions of text ask of the process besides their arguments. They are not done in advance where the answer may be another one at the next call, or
 * where it is the program that is asked. */
#ifndef JY_FRONTEND_AMBIENT_H
#define JY_FRONTEND_AMBIENT_H

#include "frontend/value.h"

/* str.encode, bytes.decode, str(bytes, ...), bytes(str, ...): does `text` go through a codec that asks nobody, without an error? Else a break. */
jy_status jy_check_codec(struct jy_frame *f, PyObject *text, PyObject *encoding, PyObject *errors);
/* Text of a known int or of a tuple with some, and an int of text: over long ones sys.set_int_max_str_digits() decides. */
jy_status jy_check_digits(struct jy_frame *f, PyObject *object);
jy_status jy_check_digits_of(struct jy_frame *f, PyObject *text);
/* A format specification, or a template with some in braces (one that takes them from its arguments counts): does it ask the locale? */
jy_status jy_check_locale(struct jy_frame *f, PyObject *text, bool is_template);

#endif
