/* What the np_*.c files share. How a call goes: np_table.c finds the row of numpy.def, the row's handler binds its arguments (np_args.c), decides dtypes (np_promote.c),
 * shapes and memory order (np_layout.c), and appends graph nodes. */
#ifndef JY_FRONTEND_NP_INTERNAL_H
#define JY_FRONTEND_NP_INTERNAL_H

#include <string.h>

#include "frontend/inspect_array.h"
#include "frontend/np.h"

/* ---- np_table.c: what is known of the running NumPy ---- */

struct jy_np_row;
typedef jy_status (*jy_np_handler)(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                                   struct jy_value *const *args, PyObject *kwnames);
struct jy_np_row {
    const char *name;
    jy_np_handler handler;
    int datum;
};

#define NP(name, handler, datum)                                                                                       \
    jy_status handler(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,            \
                      struct jy_value *const *args, PyObject *kwnames);
#define NP_METHOD NP
#include "frontend/numpy.def"
#undef NP
#undef NP_METHOD

bool jy_np_knows_method(PyObject *name);
/* The live ufunc that computes `op`, borrowed; NULL when NumPy has none. */
PyObject *jy_np_ufunc_of(jy_op op);
/* Its name under numpy; NULL: none of those in numpy.def. */
const char *jy_np_function_name(PyObject *callable);
/* Attribute path under numpy ("add.reduce"), resolved now. refs: new, held by the trace; NULL with the exception cleared. */
PyObject *jy_np_object(struct jy_frame *f, const char *path);
/* 2003 for NumPy 2.3 */
int jy_np_version(void);

/* ---- np_args.c ---- */

/* Sorts arguments into slots by the NULL-terminated parameter names; what was not given is NULL. All are realized. */
jy_status jy_np_bind(struct jy_frame *f, const char *function, const char *const *names, struct jy_value **slots,
                     size_t nargs, struct jy_value *const *args, PyObject *kwnames);
static inline bool
jy_np_given(const struct jy_value *v)
{
    return v != NULL && !jy_value_is_none(v);
}
/* A Python bool that is known. */
jy_status jy_np_flag(struct jy_frame *f, bool *out, struct jy_value *v, bool otherwise);
/* "C", "K" ...; '\0' when not given. */
jy_status jy_np_order_arg(struct jy_frame *f, char *out, struct jy_value *v);
jy_status jy_np_dtype_arg(struct jy_frame *f, jy_dtype *out, struct jy_value *v);
/* An axis, normalised against ndim. */
jy_status jy_np_axis_arg(struct jy_frame *f, size_t *out, struct jy_value *v, size_t ndim);
/* An axis, a tuple of axes, or None (all): bit mask. */
jy_status jy_np_axes_arg(struct jy_frame *f, uint32_t *out, struct jy_value *v, size_t ndim);
/* An int or a sequence of ints as a shape; -1 is kept as the constant -1. */
jy_status jy_np_shape_arg(struct jy_frame *f, size_t *ndim, jy_sx *shape, size_t nvalues,
                          struct jy_value *const *values);
/* Items of a tuple or list value, or of a CONST tuple; *n is SIZE_MAX when it is neither. */
jy_status jy_np_items(struct jy_frame *f, size_t *n, struct jy_value ***items, struct jy_value *v);
jy_status jy_np_array_arg(struct jy_frame *f, const char *function, struct jy_value *v);

/* ---- np_promote.c ---- */

enum jy_np_form { JY_NP_ARRAY, JY_NP_SCALAR, JY_NP_WEAK_INT, JY_NP_WEAK_FLOAT, JY_NP_PYBOOL };
struct jy_np_operand {
    struct jy_value *value;
    uint8_t form;     /* enum jy_np_form */
    uint8_t dtype;    /* own; of weak ones I64, F64 */
    uint32_t stretch; /* ARRAY: own axes of extent 1 that broadcasting stretches (jy_np_broadcast) */
    jy_sx *renamed;   /* ARRAY: shape in the result's expressions, where own ones are equal by guards only; NULL */
};

static inline bool
jy_np_is_scalar(const struct jy_value *v)
{
    return v->v_kind == JY_V_SCALAR && v->u.scalar.kind == JY_KIND_NPSCALAR;
}
/* False: no number and no array. */
jy_status jy_np_classify(struct jy_frame *f, bool *ok, struct jy_np_operand *out, struct jy_value *v);
/* Is the value an array or a NumPy scalar (constant ones included)? */
jy_status jy_np_concerns(struct jy_frame *f, bool *out, struct jy_value *v);
/* The loop that `op`'s ufunc takes: dtype of all inputs, dtype of the output. */
jy_status jy_np_resolve(struct jy_frame *f, jy_dtype *in, jy_dtype *result, jy_op op, size_t n,
                        const struct jy_np_operand *operands);
/* np.result_type */
jy_status jy_np_common(struct jy_frame *f, jy_dtype *out, size_t n, const struct jy_np_operand *operands);
/* The operand's node, stretched, as `to`. */
jy_status jy_np_convert(struct jy_frame *f, jy_ref *out, const struct jy_np_operand *operand, jy_dtype to);
/* casting="same_kind" */
bool jy_np_same_kind(jy_dtype from, jy_dtype to);
jy_ref jy_np_constant(struct jy_frame *f, jy_dtype dtype, double value);

/* ---- np_layout.c ---- */

struct jy_np_geometry {
    size_t ndim;
    jy_sx shape[JY_MAX_NDIM];
};
int64_t jy_np_hint(struct jy_frame *f, jy_sx e);
/* Records how each extent stands to 0 and 1: memory orders that depend on it hold for exactly those calls. */
void jy_np_guard_degenerate(struct jy_frame *f, size_t ndim, const jy_sx *shape);
jy_status jy_np_broadcast(struct jy_frame *f, struct jy_np_geometry *out, size_t n, struct jy_np_operand *operands);
/* Memory order of a new array that NumPy's iterator allocates over these operands; *out NULL: C order. `dtype_in`: element type of the loop (JY_DTYPE_NONE: never the ufunc machinery's
 * short cut for contiguous operands). */
jy_status jy_np_result_layout(struct jy_frame *f, const struct jy_layout **out, const struct jy_np_geometry *geometry,
                              size_t n, const struct jy_np_operand *operands, jy_dtype dtype_in, jy_dtype dtype_out);
/* The same of a reduction of `array` over `axes`. */
jy_status jy_np_reduce_layout(struct jy_frame *f, const struct jy_layout **out, struct jy_value *array, uint32_t axes,
                              bool keepdims, jy_dtype dtype);
/* Memory order of a copy with order="K". */
jy_status jy_np_keep_layout(struct jy_frame *f, const struct jy_layout **out, const struct jy_value *array,
                            jy_dtype dtype);
/* Breaks unless the array is certainly not C-contiguous, in other calls too. */
jy_status jy_np_check_not_contiguous(struct jy_frame *f, const struct jy_value *array);
/* Is the array one block in C order whatever the sizes are? */
bool jy_np_is_c_block(const struct jy_value *array);
void jy_np_set_layout(struct jy_frame *f, jy_ref node, const struct jy_layout *layout);
jy_sx jy_np_size(struct jy_frame *f, size_t ndim, const jy_sx *shape);

/* ---- np_ufunc.c ---- */

enum jy_np_apply_flags { JY_NP_OPERATOR = 1 };
/* `into`: out=, or the left side of an in-place operator; NULL: a new array or NumPy scalar. */
jy_status jy_np_apply(struct jy_frame *f, struct jy_value **out, jy_op op, size_t n, struct jy_value *const *args,
                      struct jy_value *into, unsigned flags);

/* ---- np_shape.c: views ---- */

/* A new view of an array; `view` is relative to it. */
struct jy_value *jy_np_view(struct jy_frame *f, struct jy_value *array, const struct jy_view *view, const jy_sx *shape);
void jy_np_view_identity(struct jy_view *view, size_t ndim);
struct jy_value *jy_np_transposed(struct jy_frame *f, struct jy_value *array, const uint8_t *axes);
jy_status jy_np_reshaped(struct jy_frame *f, struct jy_value **out, struct jy_value *array, size_t ndim, jy_sx *shape);
struct jy_value *jy_np_broadcast_view(struct jy_frame *f, struct jy_value *array, size_t ndim, const jy_sx *shape);

/* ---- np_index.c ---- */

/* target[...] = value, by the rules of assignment. */
jy_status jy_np_assign(struct jy_frame *f, struct jy_value *target, struct jy_value *value);
/* Writes a node of the target's dtype, which broadcasts to it, into the target's memory. */
jy_status jy_np_store(struct jy_frame *f, struct jy_value *target, jy_ref node);

/* ---- np_realize.c ---- */

/* The storage of an input is about to be written. */
jy_status jy_np_will_write(struct jy_frame *f, struct jy_value *array);

/* ---- np_reduce.c ---- */

jy_status jy_np_reduce_ufunc(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
                             struct jy_value *const *args, PyObject *kwnames);
jy_status jy_np_reduce(struct jy_frame *f, struct jy_value **out, jy_op op, struct jy_value *array, uint32_t axes,
                       bool keepdims);

/* ---- np_linalg.c ---- */

jy_status jy_np_matmul(struct jy_frame *f, struct jy_value **out, struct jy_value *a, struct jy_value *b);

/* ---- np_cast.c ---- */

/* A NumPy scalar or Python number with the value of a 0-d operand. */
jy_status jy_np_scalar_of(struct jy_frame *f, struct jy_value **out, struct jy_value *v, enum jy_kind kind,
                          jy_dtype dtype);

/* ---- np_callout.c: calls of NumPy itself ---- */

struct jy_np_callout {
    const char *callee; /* path under numpy */
    PyObject *keywords; /* dict of constants, or NULL. refs: stolen */
    size_t nargs;
    const jy_ref *args;
    enum jy_kind kind;
    jy_dtype dtype;
    size_t ndim;
    const jy_sx *shape;
    const struct jy_layout *layout; /* NULL: C order */
};
jy_status jy_np_callout_gather(struct jy_frame *f, struct jy_value **out, struct jy_value *array,
                               struct jy_value *indices);
jy_status jy_np_call_out(struct jy_frame *f, struct jy_value **out, const struct jy_np_callout *call);

#endif
