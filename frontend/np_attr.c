/* Attributes of arrays and NumPy scalars, and len().
 *
 * Shapes are tuples of sizes: they stay symbolic. What shows memory (strides, flags, base, data) is left to CPython. */
#include "frontend/np_internal.h"

static struct jy_value *
shape_tuple(struct jy_frame *f, size_t ndim, const jy_sx *shape)
{
    struct jy_value *items[JY_MAX_NDIM];
    for (size_t d = 0; d < ndim; d++)
        items[d] = jy_value_size(f, shape[d]);
    return jy_value_seq(f, JY_V_TUPLE, ndim, items);
}

static struct jy_value *
constant_size(struct jy_frame *f, int64_t k)
{
    return jy_value_size(f, jy_sizes_const(&f->f_trace->graph->g_sizes, k));
}

struct described {
    jy_dtype dtype;
    size_t ndim;
    const jy_sx *shape;
};

static struct jy_value *
dtype_of(struct jy_frame *f, struct jy_value *self, const struct described *d)
{
    (void)self;
    return jy_value_const(f, jy_inspect_descr(d->dtype));
}

static struct jy_value *
ndim_of(struct jy_frame *f, struct jy_value *self, const struct described *d)
{
    (void)self;
    return constant_size(f, (int64_t)d->ndim);
}

static struct jy_value *
shape_of(struct jy_frame *f, struct jy_value *self, const struct described *d)
{
    (void)self;
    return shape_tuple(f, d->ndim, d->shape);
}

static struct jy_value *
size_of(struct jy_frame *f, struct jy_value *self, const struct described *d)
{
    (void)self;
    return jy_value_size(f, jy_np_size(f, d->ndim, d->shape));
}

static struct jy_value *
itemsize_of(struct jy_frame *f, struct jy_value *self, const struct described *d)
{
    (void)self;
    return constant_size(f, jy_dtype_info[d->dtype].bytes);
}

static struct jy_value *
nbytes_of(struct jy_frame *f, struct jy_value *self, const struct described *d)
{
    (void)self;
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    return jy_value_size(f, jy_sizes_binary(sizes, JY_SX_MUL, jy_np_size(f, d->ndim, d->shape),
                                            jy_sizes_const(sizes, jy_dtype_info[d->dtype].bytes)));
}

static struct jy_value *
transpose_of(struct jy_frame *f, struct jy_value *self, const struct described *d)
{
    uint8_t axes[JY_MAX_NDIM];
    if (self->v_kind != JY_V_ARRAY)
        return self;
    for (size_t i = 0; i < d->ndim; i++)
        axes[i] = (uint8_t)(d->ndim - 1 - i);
    return jy_np_transposed(f, self, axes);
}

static const struct attribute {
    const char *name;
    struct jy_value *(*get)(struct jy_frame *f, struct jy_value *self, const struct described *d);
} attributes[] = {
    { "shape", shape_of },       { "ndim", ndim_of },     { "size", size_of },   { "dtype", dtype_of },
    { "itemsize", itemsize_of }, { "nbytes", nbytes_of }, { "T", transpose_of },
};

static jy_status
describe_value(struct jy_frame *f, struct described *out, struct jy_value *v)
{
    struct jy_np_operand operand;
    bool ok;
    TRY(jy_np_classify(f, &ok, &operand, v));
    if (!ok || (operand.form != JY_NP_ARRAY && operand.form != JY_NP_SCALAR))
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s where an array should be", jy_value_describe(f, v));
    *out = (struct described){ .dtype = (jy_dtype)operand.dtype };
    if (v->v_kind == JY_V_ARRAY)
        out->ndim = v->u.array.ndim, out->shape = v->u.array.shape;
    return JY_OK;
}

jy_status
jy_np_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *self, PyObject *name)
{
    struct described d;
    bool is_ufunc = self->v_kind == JY_V_CALLABLE && jy_inspect_is_ufunc(self->v_object);
    if (!is_ufunc)
        TRY(describe_value(f, &d, self));
    for (size_t i = 0; !is_ufunc && i < sizeof attributes / sizeof *attributes; i++)
        if (PyUnicode_CompareWithASCIIString(name, attributes[i].name) == 0) {
            *out = attributes[i].get(f, self, &d);
            return JY_OK;
        }
    bool method = is_ufunc ? PyUnicode_CompareWithASCIIString(name, "reduce") == 0 : jy_np_knows_method(name);
    if (!method)
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s of %s", jy_utf8(name), jy_value_describe(f, self));
    *out = jy_value_new(f, JY_V_METHOD);
    (*out)->u.func.self = self;
    (*out)->u.func.name = name;
    jy_keep(f->f_trace->unit, name);
    return JY_OK;
}

jy_status
jy_np_length(struct jy_frame *f, struct jy_value **out, struct jy_value *array)
{
    TRY(jy_value_realize(f, array));
    if (array->v_kind != JY_V_ARRAY || array->u.array.ndim == 0)
        return jy_break(f, JY_BREAK_RAISES, "len() of an object without axes");
    *out = jy_value_size(f, array->u.array.shape[0]);
    return JY_OK;
}

/* np.ndim(a), np.shape(a), np.size(a) */
jy_status
jy_np_attr_of(struct jy_frame *f, struct jy_value **out, const struct jy_np_row *row, size_t nargs,
              struct jy_value *const *args, PyObject *kwnames)
{
    struct described d;
    if (nargs != 1 || kwnames != NULL)
        return jy_break(f, JY_BREAK_NUMPY_CALL, "%s with these arguments", row->name);
    TRY(describe_value(f, &d, args[0]));
    *out = row->datum == 0   ? ndim_of(f, args[0], &d)
           : row->datum == 1 ? shape_of(f, args[0], &d)
                             : size_of(f, args[0], &d);
    return JY_OK;
}
