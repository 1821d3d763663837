/* Operations on whole arrays in flows: one call of a helper each (graph/flow_vector.h), without an object. Shapes are compared here; what must be repeated along an axis is known by its extent of
 * one when the flow is made. Whatever would raise or warn leaves before the operation.
 *
 * Each operation costs about as much as ten elements of it, NumPy's call of it as much as thousands. Of large arrays, where that does not matter, graphs make one pass of several operations: where
 * the first call had such, flows do not have the operation. But a graph has to keep the old elements of what it changes in place, which takes as long as the operation: loops that do so stay here. */
#include "frontend/flow.h"
#include "frontend/np_internal.h"
#include "graph/flow_vector.h"

#include <stddef.h>
#include <string.h>

enum { MANY_ELEMENTS = 4096, SOME_ELEMENTS = 1024 }; /* taste */

static const char no_room[] = "an array that cannot be made, or a warning";

bool
jy_vvector_concerns(size_t n, struct jy_val *const *values)
{
    for (size_t i = 0; i < n; i++)
        if (values[i]->kind == JY_K_ARRAY)
            return true;
    return false;
}

/* ---- the block ---- */

/* Functions of the flow have no such memory of their own. */
static jy_status
begin(struct jy_vbuild *b)
{
    if (b->self != NULL)
        return jy_vb_lacks(b, "whole arrays in a function that is called natively");
    if (b->vector_block != JY_NO_FV)
        return JY_OK;
    struct jy_flow_helper helper;
    b->alias_vectors = jy_vb_own_alias(b);
    b->alias_block = jy_vb_own_alias(b);
    if (b->alias_vectors == 0 || b->alias_block == 0)
        return jy_vb_lacks(b, "too many arrays");
    b->w->w_alias_written[b->alias_vectors - 1] = b->w->w_alias_written[b->alias_block - 1] = true;
    jy_flow_helper_row(&helper, "vector_block");
    b->vector_block = jy_flow_ask(b->w, 0, jy_flow_helper_add(b->w, &helper), 0, NULL, JY_NO_EXIT);
    return JY_OK;
}

static void
put(struct jy_vbuild *b, size_t at, jy_fv value)
{
    jy_flow_store(b->w, b->block, b->vector_block, jy_vint(b, 0), (int32_t)at, value, b->alias_block);
}

static size_t
stride_at(size_t operand, size_t axis)
{
    return offsetof(struct jy_vector_block, stride) + (operand * JY_VECTOR_NDIM + axis) * sizeof(int64_t);
}

static void
put_shape(struct jy_vbuild *b, const struct jy_vgeometry *g)
{
    for (size_t d = 0; d < g->ndim; d++)
        put(b, offsetof(struct jy_vector_block, extent) + d * sizeof(int64_t), g->extent[d]);
}

static bool
is_one(const struct jy_vbuild *b, jy_fv extent)
{
    int64_t n;
    return jy_vconst(b, extent, &n) && n == 1;
}

/* With the axes of the result. */
static void
put_array(struct jy_vbuild *b, size_t operand, const struct jy_vgeometry *g, const struct jy_vgeometry *result)
{
    size_t more = result->ndim - g->ndim;
    put(b, offsetof(struct jy_vector_block, data) + operand * sizeof(char *), g->data);
    for (size_t d = 0; d < result->ndim; d++) {
        bool repeated = d < more || (is_one(b, g->extent[d - more]) && !is_one(b, result->extent[d]));
        put(b, stride_at(operand, d), repeated ? jy_vint(b, 0) : g->stride[d - more]);
    }
}

static void
put_number(struct jy_vbuild *b, size_t operand, jy_fv value)
{
    put(b, offsetof(struct jy_vector_block, number) + operand * sizeof(union jy_scalar), value);
}

/* ---- slots in use ---- */

struct slots {
    struct jy_vbuild *b;
    jy_fv live;
    const struct jy_val *seen[64]; /* taste; of others the slot is added again */
    size_t n;
};

static void
add_slots(struct slots *s, const struct jy_val *v)
{
    for (size_t i = 0; i < v->nparts; i++)
        add_slots(s, v->parts[i]);
    if (v->kind != JY_K_ARRAY || !v->array->is_new)
        return;
    for (size_t k = 0; k < s->n; k++)
        if (s->seen[k] == v)
            return;
    if (s->n < sizeof s->seen / sizeof *s->seen)
        s->seen[s->n++] = v;
    s->live = jy_ve2(s->b, JY_FLOW_OR, JY_F_I64, s->live, v->regs[1]);
}

static void
add_frame_slots(struct slots *s, const struct jy_vframe *frame)
{
    for (; frame != NULL; frame = frame->back) {
        for (size_t i = 0; i < frame->nlocals; i++)
            add_slots(s, frame->locals[i]);
        for (size_t i = 0; i < frame->depth; i++)
            add_slots(s, frame->stack[i]);
    }
}

/* Of all that an exit here may have to give back, or that is an operand; `more`: operands that the frame does not hold, JY_NO_FV: none. */
static jy_fv
live_slots(struct jy_vbuild *b, jy_fv more)
{
    struct slots *s = JY_NEW(b->arena, struct slots);
    s->b = b;
    s->live = more != JY_NO_FV ? more : jy_vint(b, 0);
    add_frame_slots(s, b->snap);
    add_frame_slots(s, b->frame);
    return s->live;
}

/* ---- shapes ---- */

static jy_status
check_size(struct jy_vbuild *b, const struct jy_vgeometry *g)
{
    int64_t n = 1;
    if (g->ndim > JY_VECTOR_NDIM)
        return jy_vb_lacks(b, "an operation on arrays of %zu axes", g->ndim);
    for (size_t d = 0; d < g->ndim; d++)
        n = g->about[d] > MANY_ELEMENTS ? MANY_ELEMENTS + 1 : n * (g->about[d] > 0 ? g->about[d] : 1);
    if (n > MANY_ELEMENTS && b->hints->no_long)
        return jy_vb_lacks(b, "an operation on an array of many elements");
    b->has_long |= n > MANY_ELEMENTS;
    return JY_OK;
}

/* One more operand. Extents that are not known to be equal are compared; if they differ, it is an error, or an extent of one that only this call has. */
static void
broadcast(struct jy_vbuild *b, struct jy_vgeometry *out, const struct jy_vgeometry *g)
{
    if (g->ndim > out->ndim) {
        size_t more = g->ndim - out->ndim;
        memmove(out->extent + more, out->extent, out->ndim * sizeof *out->extent);
        memmove(out->about + more, out->about, out->ndim * sizeof *out->about);
        for (size_t d = 0; d < more; d++) {
            out->extent[d] = jy_vint(b, 1);
            out->about[d] = 1;
        }
        out->ndim = g->ndim;
    }
    for (size_t d = 0; d < g->ndim; d++) {
        size_t at = out->ndim - g->ndim + d;
        if (is_one(b, g->extent[d]) || out->extent[at] == g->extent[d])
            continue;
        if (!is_one(b, out->extent[at])) {
            jy_vcheck(b, jy_ve2(b, JY_FLOW_EQ, JY_F_I1, out->extent[at], g->extent[d]), "shapes that differ");
            if (out->about[at] != 0 && (g->about[d] == 0 || out->about[at] < g->about[d]))
                continue;
        }
        out->extent[at] = g->extent[d];
        out->about[at] = g->about[d];
    }
}

/* May the operand be repeated to that shape, which does not change? */
static jy_status
fit(struct jy_vbuild *b, const struct jy_vgeometry *to, const struct jy_vgeometry *g)
{
    struct jy_vgeometry all = *to;
    if (g->ndim > to->ndim)
        return jy_vb_lacks(b, "an operand of more axes than the array that is written to");
    broadcast(b, &all, g);
    for (size_t d = 0; d < to->ndim; d++)
        if (is_one(b, to->extent[d]) && !is_one(b, all.extent[d]))
            return jy_vb_lacks(b, "a longer operand than the array that is written to");
    return JY_OK;
}

/* Dense in C order. */
static void
fill_strides(struct jy_vbuild *b, struct jy_vgeometry *g, jy_dtype dtype)
{
    jy_fv stride = jy_vint(b, (int64_t)jy_dtype_info[dtype].bytes);
    for (size_t d = g->ndim; d-- > 0;) {
        g->stride[d] = stride;
        if (d != 0)
            stride = jy_varray_product(b, stride, g->extent[d]);
    }
}

static struct jy_val *
made_in(struct jy_vbuild *b, jy_dtype dtype, struct jy_vgeometry *g, jy_fv data, jy_fv slot)
{
    g->data = data;
    fill_strides(b, g, dtype);
    return jy_varray_new(b, dtype, g, slot);
}

/* The array that a helper has made. */
static struct jy_val *
made(struct jy_vbuild *b, jy_dtype dtype, struct jy_vgeometry *g, jy_fv data)
{
    jy_fv slot =
        jy_vload(b, JY_F_I64, b->vector_block, jy_vint(b, 0), offsetof(struct jy_vector_block, slot), b->alias_block);
    return made_in(b, dtype, g, data, slot);
}

/* ---- casts ---- */

/* The array's elements in that dtype, a new array. `slots` are in use, too, and then the new one. */
static jy_status
cast(struct jy_vbuild *b, struct jy_val **out, jy_dtype to, struct jy_val *x, enum jy_vector_order order, jy_fv *slots)
{
    struct jy_vgeometry g;
    jy_dtype from = (jy_dtype)x->array->dtype;
    if (to >= JY_DTYPE_COUNT)
        return jy_vb_lacks(b, "an array of %s as %s", jy_dtype_info[from].text, jy_dtype_info[to].text);
    jy_varray_geometry(&g, x);
    TRY(check_size(b, &g));
    struct jy_vector_spec s = { .nin = 1, .ndim = (uint8_t)g.ndim, .order = (uint8_t)order };
    s.dtype[0] = (uint8_t)from;
    s.dtype[JY_VECTOR_RESULT] = (uint8_t)to;
    put_array(b, 0, &g, &g);
    put_shape(b, &g);
    b->w->w_np_flags = true;
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(&s)), live_slots(b, *slots) };
    jy_fv data =
        jy_vhelp(b, "vector_cast", 2, regs, "an element that the dtype does not hold, or axes in another order");
    *out = made(b, to, &g, data);
    *slots = *slots == JY_NO_FV ? (*out)->regs[1] : jy_ve2(b, JY_FLOW_OR, JY_F_I64, *slots, (*out)->regs[1]);
    return JY_OK;
}

/* ---- ufuncs ---- */

/* The dtype of all arrays, promoted; *mixed: they have several, or the numbers make it another. */
static jy_status
common_dtype(struct jy_vbuild *b, jy_dtype *out, bool *mixed, size_t n, struct jy_val *const *args)
{
    *out = JY_DTYPE_NONE;
    *mixed = false;
    for (size_t i = 0; i < n; i++) {
        if (args[i]->kind != JY_K_ARRAY && !jy_val_is_number(args[i]))
            return jy_vb_lacks(b, "an array and %s", jy_val_describe(b, args[i]));
        if (args[i]->kind != JY_K_ARRAY)
            continue;
        jy_dtype dtype = (jy_dtype)args[i]->array->dtype;
        *mixed |= *out != JY_DTYPE_NONE && *out != dtype;
        *out = *out == JY_DTYPE_NONE ? dtype : jy_dtype_promote(*out, dtype);
        if (args[i]->array->ndim == 0)
            return jy_vb_lacks(b, "an operation on a 0-d array");
    }
    for (size_t i = 0; i < n; i++) {
        jy_dtype with = args[i]->kind == JY_K_ARRAY ? *out : jy_vscalar_promote(*out, args[i]);
        *mixed |= with != *out;
        *out = with;
    }
    return JY_OK;
}

/* Operands of one ufunc: dtypes, numbers, the shape of the result. */
struct operation {
    struct jy_vector_spec spec;
    struct jy_vgeometry shape;
    size_t n;
    struct jy_val *args[2];
    PyObject *ufunc;
    jy_fv slots; /* of operands that were cast */
};

/* NumPy's own word for where it casts to. */
static bool
casts_to(const struct operation *o, jy_dtype dtype)
{
    struct jy_ufunc_operand operands[2];
    for (size_t i = 0; i < o->n; i++) {
        const struct jy_val *v = o->args[i];
        bool is_strong = v->kind == JY_K_ARRAY || v->kind == JY_K_NP;
        operands[i] = (struct jy_ufunc_operand){ JY_BOOL, NULL };
        if (is_strong)
            operands[i].dtype = (jy_dtype)(v->kind == JY_K_ARRAY ? v->array->dtype : v->dtype);
        else if (v->kind != JY_K_BOOL)
            operands[i].weak = v->kind == JY_K_INT ? &PyLong_Type : &PyFloat_Type;
    }
    return jy_inspect_ufunc_casts(o->ufunc, o->n, operands, dtype);
}

/* The ufunc's loop for operands of that dtype, or of float64 where it has none. */
static bool
find_loop(struct operation *o, jy_dtype *dtype, jy_dtype *result, bool mixed)
{
    size_t loop;
    bool found = jy_inspect_ufunc_loop(&loop, result, o->ufunc, o->n, *dtype);
    if (!found && !jy_dtype_is_float(*dtype)) {
        *dtype = JY_F64;
        mixed = true;
        found = jy_inspect_ufunc_loop(&loop, result, o->ufunc, o->n, JY_F64);
    }
    o->spec.loop = (uint32_t)loop;
    return found && (!mixed || casts_to(o, *dtype));
}

static jy_status
resolve(struct jy_vbuild *b, struct operation *o, jy_op op, size_t n, struct jy_val *const *args)
{
    jy_dtype dtype, result;
    bool mixed;
    o->ufunc = jy_np_ufunc_of(op);
    o->n = n;
    o->slots = JY_NO_FV;
    o->spec.nin = (uint8_t)n;
    TRY(common_dtype(b, &dtype, &mixed, n, args));
    bool is_power_of_ints = op == JY_OP_POWER && !jy_dtype_is_float(dtype);
    for (size_t i = 0; i < n && n <= 2; i++)
        o->args[i] = args[i];
    if (o->ufunc == NULL || n > 2 || is_power_of_ints || !find_loop(o, &dtype, &result, mixed))
        return jy_vb_lacks(b, "numpy.%s() of arrays of %s", jy_op_info[op].oracle, jy_dtype_info[dtype].text);
    o->spec.dtype[0] = o->spec.dtype[1] = (uint8_t)dtype;
    o->spec.dtype[JY_VECTOR_RESULT] = (uint8_t)result;
    for (size_t i = 0; i < n; i++)
        if (args[i]->kind == JY_K_ARRAY) {
            struct jy_vgeometry g;
            jy_varray_geometry(&g, args[i]);
            TRY(check_size(b, &g));
            broadcast(b, &o->shape, &g);
        }
    TRY(check_size(b, &o->shape));
    bool in_pieces = jy_op_info[op].klass == JY_CLASS_TILE && o->shape.ndim > 1;
    return in_pieces ? jy_vb_lacks(b, "numpy.%s() of several axes", jy_op_info[op].oracle) : JY_OK;
}

/* Casts first, which use the block; numbers then: converting them may leave. */
static jy_status
put_operands(struct jy_vbuild *b, struct operation *o, enum jy_vector_order order)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->args[i]->kind == JY_K_ARRAY && o->args[i]->array->dtype != o->spec.dtype[i])
            TRY(cast(b, &o->args[i], (jy_dtype)o->spec.dtype[i], o->args[i], order, &o->slots));
    for (size_t i = 0; i < o->n; i++) {
        jy_fv value;
        if (o->args[i]->kind == JY_K_ARRAY)
            continue;
        if (!jy_vscalar_operand(b, &value, (jy_dtype)o->spec.dtype[i], o->args[i]))
            return jy_vb_lacks(b, "an array of %s and %s", jy_dtype_info[o->spec.dtype[i]].text,
                               jy_val_describe(b, o->args[i]));
        o->spec.numbers |= (uint8_t)(1u << i);
        put_number(b, i, value);
    }
    for (size_t i = 0; i < o->n; i++)
        if (o->args[i]->kind == JY_K_ARRAY) {
            struct jy_vgeometry g;
            jy_varray_geometry(&g, o->args[i]);
            put_array(b, i, &g, &o->shape);
        }
    put_shape(b, &o->shape);
    o->spec.ndim = (uint8_t)o->shape.ndim;
    b->w->w_np_flags = true;
    return JY_OK;
}

static size_t
count_slot(const struct jy_val *v, jy_fv slot)
{
    size_t n = v->kind == JY_K_ARRAY && v->array->is_new && v->regs[1] == slot;
    for (size_t i = 0; i < v->nparts; i++)
        n += count_slot(v->parts[i], slot);
    return n;
}

/* A new array of the result's dtype and shape, made since the last jump - other names of the slot have come to an end there - that the frame has once: on its stack. */
static bool
may_go_over(const struct jy_vbuild *b, const struct operation *o, const struct jy_val *x)
{
    size_t times = 0;
    struct jy_vgeometry g;
    if (x->kind != JY_K_ARRAY || !x->array->is_new || x->array->dtype != o->spec.dtype[JY_VECTOR_RESULT] ||
        x->array->ndim != o->shape.ndim || jy_flow_at(b->w, x->regs[1])->f_op == JY_FLOW_PARAM)
        return false;
    jy_varray_geometry(&g, x);
    for (size_t d = 0; d < g.ndim; d++)
        if (is_one(b, g.extent[d]) && !is_one(b, o->shape.extent[d]))
            return false;
    for (const struct jy_vframe *frame = b->snap; frame != NULL; frame = frame->back) {
        for (size_t i = 0; i < frame->nlocals; i++)
            times += count_slot(frame->locals[i], x->regs[1]);
        for (size_t i = 0; i < frame->depth; i++)
            times += count_slot(frame->stack[i], x->regs[1]);
    }
    return times == 1;
}

/* nstack: operands that the instruction has on the stack, of which those here are the first; 0: they lie elsewhere. */
static struct jy_val *
choose_over(const struct jy_vbuild *b, struct operation *o, size_t nstack)
{
    for (size_t k = 0; k < o->n && nstack != 0; k++)
        if (may_go_over(b, o, o->args[k])) {
            o->spec.over = nstack == 1 ? JY_VECTOR_OVER_ONLY : k == 0 ? JY_VECTOR_OVER_FIRST : JY_VECTOR_OVER_SECOND;
            return o->args[k];
        }
    return NULL;
}

static jy_status
apply_over(struct jy_vbuild *b, struct jy_val **out, jy_op op, size_t n, struct jy_val *const *args, size_t nstack)
{
    struct operation o = { .n = 0 };
    TRY(begin(b));
    for (size_t i = 0; i < n; i++)
        if (args[i]->kind == JY_K_ARRAY && args[i]->array->is_turned && args[i]->array->ndim > 1)
            return jy_vb_lacks(b, "a result in the order of a transposed array");
    TRY(resolve(b, &o, op, n, args));
    TRY(put_operands(b, &o, JY_VECTOR_OPERAND_ORDER));
    const struct jy_val *over = choose_over(b, &o, nstack);
    jy_fv regs[] = { jy_vaddress(b, o.ufunc), jy_vint(b, jy_vector_pack(&o.spec)), live_slots(b, o.slots) };
    jy_fv data = jy_vhelp(b, "vector_apply", 3, regs, no_room);
    jy_dtype dtype = (jy_dtype)o.spec.dtype[JY_VECTOR_RESULT];
    *out = over != NULL ? made_in(b, dtype, &o.shape, data, over->regs[1]) : made(b, dtype, &o.shape, data);
    return JY_OK;
}

static jy_status
apply(struct jy_vbuild *b, struct jy_val **out, jy_op op, size_t n, struct jy_val *const *args)
{
    return apply_over(b, out, op, n, args, 0);
}

/* May NumPy cast a result to the array that it goes into? */
static bool
is_same_kind(jy_dtype from, jy_dtype to)
{
    return jy_dtype_info[from].kind == jy_dtype_info[to].kind &&
           (jy_dtype_is_float(to) || to == JY_I32 || to == JY_I64);
}

static jy_status store(struct jy_vbuild *b, struct jy_val *to, struct jy_val *item, jy_fv slots);

/* x op= y with a result of another dtype: made first, and cast as it is stored. */
static jy_status
apply_and_store(struct jy_vbuild *b, struct jy_val **out, jy_op op, size_t n, struct jy_val *const *args)
{
    struct jy_val *made;
    TRY(apply(b, &made, op, n, args));
    TRY(jy_varray_will_write(b, args[0]));
    TRY(store(b, args[0], made, made->regs[1]));
    *out = args[0];
    return JY_OK;
}

/* More than so many in the first call. */
static bool
has_many(const struct jy_val *array, int64_t most)
{
    int64_t n = 1;
    for (size_t d = 0; d < array->array->ndim && n <= most; d++)
        n *= array->array->about[d] > 0 ? array->array->about[d] : 1;
    return n > most;
}

/* x op= y */
static jy_status
apply_in_place(struct jy_vbuild *b, struct jy_val **out, jy_op op, size_t n, struct jy_val *const *args)
{
    struct operation o = { .n = 0 };
    struct jy_vgeometry to, g;
    struct jy_val *x = args[0];
    TRY(begin(b));
    TRY(resolve(b, &o, op, n, args));
    if (!is_same_kind((jy_dtype)o.spec.dtype[JY_VECTOR_RESULT], (jy_dtype)x->array->dtype) &&
        o.spec.dtype[JY_VECTOR_RESULT] != x->array->dtype)
        return jy_vb_lacks(b, "an operation in place with a result of another dtype");
    jy_varray_geometry(&to, x);
    for (size_t i = 1; i < n; i++)
        if (args[i]->kind == JY_K_ARRAY) {
            jy_varray_geometry(&g, args[i]);
            TRY(fit(b, &to, &g));
        }
    if (o.spec.dtype[JY_VECTOR_RESULT] != x->array->dtype)
        return apply_and_store(b, out, op, n, args);
    TRY(jy_varray_will_write(b, x));
    b->writes_long |= has_many(x, MANY_ELEMENTS);
    o.shape = to;
    TRY(put_operands(b, &o, JY_VECTOR_ANY_ORDER));
    put_array(b, JY_VECTOR_RESULT, &to, &to);
    jy_fv regs[] = { jy_vaddress(b, o.ufunc), jy_vint(b, jy_vector_pack(&o.spec)), live_slots(b, o.slots) };
    jy_vhelp(b, "vector_into", 3, regs, no_room);
    *out = x;
    return JY_OK;
}

/* ---- operators ---- */

static jy_status product(struct jy_vbuild *b, struct jy_val **out, jy_op op, struct jy_val *const *args);

/* On all versions of NumPy `x ** 2` is a square; of other exponents flows have arrays only. */
static jy_status
power(struct jy_vbuild *b, struct jy_val **out, bool in_place, struct jy_val *const *args)
{
    int64_t exponent;
    size_t n = 2;
    jy_op op = JY_OP_POWER;
    if (args[1]->kind == JY_K_INT && jy_vconst(b, args[1]->regs[0], &exponent) && exponent == 2) {
        op = JY_OP_SQUARE;
        n = 1;
    } else if (args[0]->kind == JY_K_ARRAY && args[1]->kind != JY_K_ARRAY) {
        return jy_vb_lacks(b, "an array to the power of %s", jy_val_describe(b, args[1]));
    }
    return in_place ? apply_in_place(b, out, op, n, args) : apply_over(b, out, op, n, args, 2);
}

jy_status
jy_vvector_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, bool in_place, struct jy_val *x,
                  struct jy_val *y)
{
    struct jy_val *args[] = { jy_vnumber(b, x), jy_vnumber(b, y) };
    in_place &= x->kind == JY_K_ARRAY;
    if (op == JY_NB_MATMUL)
        return in_place ? jy_vb_lacks(b, "@= of arrays") : product(b, out, JY_OP_MATMUL, args);
    if (op == JY_NB_POWER)
        return power(b, out, in_place, args);
    return in_place ? apply_in_place(b, out, jy_np_binary_ops[op], 2, args)
                    : apply_over(b, out, jy_np_binary_ops[op], 2, args, 2);
}

jy_status
jy_vvector_unary(struct jy_vbuild *b, struct jy_val **out, enum jy_unary op, struct jy_val *x)
{
    static const jy_op ops[] = { [JY_UNARY_NEGATIVE] = JY_OP_NEG,
                                 [JY_UNARY_POSITIVE] = JY_OP_POS,
                                 [JY_UNARY_INVERT] = JY_OP_INVERT,
                                 [JY_UNARY_ABS] = JY_OP_ABS };
    return apply_over(b, out, ops[op], 1, &x, op == JY_UNARY_ABS ? 0 : 1);
}

jy_status
jy_vvector_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *x, struct jy_val *y)
{
    static const jy_op ops[] = { [JY_LT] = JY_OP_LT, [JY_LE] = JY_OP_LE, [JY_EQ] = JY_OP_EQ,
                                 [JY_NE] = JY_OP_NE, [JY_GT] = JY_OP_GT, [JY_GE] = JY_OP_GE };
    struct jy_val *args[] = { jy_vnumber(b, x), jy_vnumber(b, y) };
    return apply(b, out, ops[op], 2, args);
}

/* ---- stores and copies ---- */

static jy_status
put_source(struct jy_vbuild *b, struct jy_vector_spec *s, struct jy_val *item, jy_dtype dtype,
           const struct jy_vgeometry *shape, jy_fv *slots)
{
    if (item->kind == JY_K_ARRAY && (jy_dtype)item->array->dtype != dtype) {
        if (has_many(item, SOME_ELEMENTS))
            return jy_vb_lacks(b, "many elements stored as another dtype"); /* NumPy casts them in one pass */
        TRY(cast(b, &item, dtype, item, JY_VECTOR_ANY_ORDER, slots));
    }
    s->ndim = (uint8_t)shape->ndim;
    s->dtype[0] = s->dtype[JY_VECTOR_RESULT] = (uint8_t)dtype;
    if (item->kind != JY_K_ARRAY) {
        s->numbers = 1;
        put_number(b, 0, jy_vscalar_stored(b, dtype, item));
    } else {
        struct jy_vgeometry g;
        jy_varray_geometry(&g, item);
        TRY(check_size(b, &g));
        TRY(fit(b, shape, &g));
        put_array(b, 0, &g, shape);
    }
    put_shape(b, shape);
    return JY_OK;
}

/* slots: in use, beside those that the frame holds */
static jy_status
store(struct jy_vbuild *b, struct jy_val *to, struct jy_val *item, jy_fv slots)
{
    struct jy_vector_spec s = { .nin = 1 };
    struct jy_vgeometry g;
    TRY(begin(b));
    jy_varray_geometry(&g, to);
    TRY(check_size(b, &g));
    TRY(put_source(b, &s, item, (jy_dtype)to->array->dtype, &g, &slots));
    put_array(b, JY_VECTOR_RESULT, &g, &g);
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(&s)), live_slots(b, slots) };
    jy_vhelp(b, "vector_store", 2, regs, no_room);
    return JY_OK;
}

jy_status
jy_vvector_store(struct jy_vbuild *b, struct jy_val *to, struct jy_val *item)
{
    return store(b, to, item, JY_NO_FV);
}

/* A new array of that shape, of the item's elements or all of one number. */
static jy_status
filled(struct jy_vbuild *b, struct jy_val **out, jy_dtype dtype, struct jy_vgeometry *g, struct jy_val *item)
{
    struct jy_vector_spec s = { .nin = 1 };
    TRY(begin(b));
    TRY(check_size(b, g));
    jy_fv slots = JY_NO_FV;
    TRY(put_source(b, &s, item, dtype, g, &slots));
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(&s)), live_slots(b, slots) };
    *out = made(b, dtype, g, jy_vhelp(b, "vector_copy", 2, regs, no_room));
    return JY_OK;
}

static jy_status
blank(struct jy_vbuild *b, struct jy_val **out, jy_dtype dtype, struct jy_vgeometry *g, bool zeroed)
{
    struct jy_vector_spec s = { .ndim = (uint8_t)g->ndim };
    TRY(begin(b));
    TRY(check_size(b, g));
    s.dtype[JY_VECTOR_RESULT] = (uint8_t)dtype;
    put_shape(b, g);
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(&s)), jy_vint(b, zeroed), live_slots(b, JY_NO_FV) };
    *out = made(b, dtype, g, jy_vhelp(b, "vector_new", 3, regs, no_room));
    return JY_OK;
}

/* An int or a tuple of ints. */
static jy_status
shape_of(struct jy_vbuild *b, struct jy_vgeometry *g, struct jy_val *v)
{
    struct jy_val *const *parts = v->kind == JY_K_TUPLE ? v->parts : &v;
    g->ndim = v->kind == JY_K_TUPLE ? v->nparts : 1;
    if (g->ndim == 0 || g->ndim > JY_VECTOR_NDIM)
        return jy_vb_lacks(b, "an array of %zu axes", g->ndim);
    for (size_t d = 0; d < g->ndim; d++) {
        if (parts[d]->kind != JY_K_INT)
            return jy_vb_lacks(b, "%s as an extent", jy_val_describe(b, parts[d]));
        g->extent[d] = parts[d]->regs[0];
        g->about[d] = 0;
        jy_vcheck(b, jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, g->extent[d], jy_vint(b, INT64_C(1) << 31)),
                  "an extent that is negative, or large");
    }
    return JY_OK;
}

enum content { EMPTY, ZEROS, ONES };

static jy_status
create(struct jy_vbuild *b, struct jy_val **out, enum content content, jy_dtype dtype, struct jy_vgeometry *g)
{
    if (content == ONES)
        return filled(b, out, dtype, g, jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, jy_vint(b, 1)));
    return blank(b, out, dtype, g, content == ZEROS);
}

static jy_status
create_like(struct jy_vbuild *b, struct jy_val **out, enum content content, const struct jy_val *x, jy_dtype dtype)
{
    struct jy_vgeometry g;
    jy_varray_geometry(&g, x);
    if (g.ndim != 1)
        return jy_vb_lacks(b, "an array like one of several axes");
    return create(b, out, content, dtype != JY_DTYPE_NONE ? dtype : (jy_dtype)x->array->dtype, &g);
}

/* ---- reductions ---- */

static const struct reduction {
    const char *name;
    jy_op op;
    enum jy_vector_start start;
} reductions[] = {
    { "all", JY_OP_LOGICAL_AND, JY_VECTOR_FROM_ONE }, { "any", JY_OP_LOGICAL_OR, JY_VECTOR_FROM_ZERO },
    { "amax", JY_OP_MAXIMUM, JY_VECTOR_FROM_FIRST },  { "amin", JY_OP_MINIMUM, JY_VECTOR_FROM_FIRST },
    { "max", JY_OP_MAXIMUM, JY_VECTOR_FROM_FIRST },   { "mean", JY_OP_ADD, JY_VECTOR_FROM_ZERO },
    { "min", JY_OP_MINIMUM, JY_VECTOR_FROM_FIRST },   { "prod", JY_OP_MUL, JY_VECTOR_FROM_ONE },
    { "sum", JY_OP_ADD, JY_VECTOR_FROM_ZERO },
};

static const struct reduction *
reduction_of(const char *name)
{
    for (size_t k = 0; k < sizeof reductions / sizeof *reductions; k++)
        if (strcmp(reductions[k].name, name) == 0)
            return &reductions[k];
    return NULL;
}

/* What NumPy casts the elements to before it reduces them: small integers that are added, those of a mean. */
static jy_dtype
reduces_as(const struct reduction *r, jy_dtype dtype)
{
    if (r->op == JY_OP_LOGICAL_AND || r->op == JY_OP_LOGICAL_OR)
        return JY_BOOL;
    if (jy_dtype_is_float(dtype) || (r->op != JY_OP_ADD && r->op != JY_OP_MUL))
        return dtype;
    if (strcmp(r->name, "mean") == 0)
        return JY_F64;
    return jy_dtype_is_unsigned(dtype) ? JY_U64 : JY_I64;
}

/* Sums of these as float64 have no order: there are not that many. */
static bool
adds_exactly(jy_dtype dtype)
{
    return !jy_dtype_is_float(dtype) && dtype != JY_I64 && dtype != JY_U64;
}

/* The loop must give the dtype that it takes, and NumPy reduce in that: small integers it widens first. */
static bool
reduces_in(const struct reduction *r, jy_dtype dtype, jy_dtype result)
{
    bool is_mean = strcmp(r->name, "mean") == 0, is_logical = r->op == JY_OP_LOGICAL_AND || r->op == JY_OP_LOGICAL_OR;
    bool adds = r->op == JY_OP_ADD || r->op == JY_OP_MUL;
    if (dtype != result || (is_mean && dtype != JY_F64) || (is_logical && dtype != JY_BOOL))
        return false;
    if (dtype == JY_F64 || dtype == JY_F32 || dtype == JY_I64 || dtype == JY_U64)
        return true;
    return !adds && (dtype == JY_BOOL || dtype == JY_I32);
}

/* What a helper gives in 64 bits. */
static jy_fv
narrowed(struct jy_vbuild *b, jy_dtype dtype, jy_fv value)
{
    if (dtype == JY_F32)
        return jy_ve1(b, JY_FLOW_ROUND, JY_F_F32, value);
    if (dtype == JY_I32)
        return jy_ve1(b, JY_FLOW_NARROW, JY_F_I32, value);
    return dtype == JY_BOOL ? jy_ve2(b, JY_FLOW_NE, JY_F_I1, value, jy_vint(b, 0)) : value;
}

/* By how many a sum is divided; it is not 0. */
static jy_fv
count_for_mean(struct jy_vbuild *b, const struct jy_vgeometry *g, unsigned axes)
{
    jy_fv n = jy_vint(b, 1);
    for (size_t d = 0; d < g->ndim; d++)
        if ((axes >> d & 1) != 0)
            n = jy_varray_product(b, n, g->extent[d]);
    jy_vcheck(b, jy_ve2(b, JY_FLOW_NE, JY_F_I1, n, jy_vint(b, 0)), "the mean of nothing");
    return jy_ve1(b, JY_FLOW_TO_FLOAT, JY_F_F64, n);
}

static jy_status
reduce_all(struct jy_vbuild *b, struct jy_val **out, const struct reduction *r, PyObject *ufunc,
           struct jy_vector_spec *s, const struct jy_vgeometry *g)
{
    jy_dtype dtype = (jy_dtype)s->dtype[0];
    jy_fv regs[] = { jy_vaddress(b, ufunc), jy_vint(b, jy_vector_pack(s)) };
    const char *helper = jy_dtype_is_float(dtype) ? "vector_reduce_f" : "vector_reduce_i";
    jy_fv value = narrowed(b, dtype, jy_vhelp(b, helper, 2, regs, "no elements, or a warning"));
    if (strcmp(r->name, "mean") == 0)
        value = jy_ve2(b, JY_FLOW_DIV, JY_F_F64, value, count_for_mean(b, g, ~0u));
    *out = jy_val_reg(b, JY_K_NP, dtype, value);
    return JY_OK;
}

static jy_status
reduce_some(struct jy_vbuild *b, struct jy_val **out, const struct reduction *r, PyObject *ufunc,
            const struct jy_vector_spec *s, const struct jy_vgeometry *g, jy_fv slots)
{
    struct jy_vgeometry result = { .ndim = 0 };
    for (size_t d = 0; d < g->ndim; d++) {
        bool goes = (s->axes >> d & 1) != 0;
        if (goes && !s->keepdims)
            continue;
        result.extent[result.ndim] = goes ? jy_vint(b, 1) : g->extent[d];
        result.about[result.ndim++] = goes ? 1 : g->about[d];
    }
    bool is_mean = strcmp(r->name, "mean") == 0;
    jy_fv n = is_mean ? count_for_mean(b, g, s->axes) : JY_NO_FV;
    jy_fv regs[] = { jy_vaddress(b, ufunc), jy_vint(b, jy_vector_pack(s)), live_slots(b, slots) };
    jy_fv data = jy_vhelp(b, "vector_reduce", 3, regs, "a result of nothing, axes in another order, or a warning");
    struct jy_val *sum = made(b, (jy_dtype)s->dtype[0], &result, data);
    if (!is_mean) {
        *out = sum;
        return JY_OK;
    }
    struct jy_val *parts[] = { sum, jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, n) };
    return apply(b, out, JY_OP_DIV, 2, parts);
}

/* How a reduction is called. */
struct reducing {
    unsigned axes; /* bit d: axis d goes */
    bool all, keepdims;
};

static bool
add_axis(struct jy_vbuild *b, struct reducing *how, const struct jy_val *axis, size_t ndim)
{
    int64_t k;
    if (axis->kind != JY_K_INT || !jy_vconst(b, axis->regs[0], &k))
        return false;
    k += k < 0 ? (int64_t)ndim : 0;
    if (k < 0 || k >= (int64_t)ndim || (how->axes >> k & 1) != 0)
        return false;
    how->axes |= 1u << k;
    return true;
}

static bool
read_axes(struct jy_vbuild *b, struct reducing *how, const struct jy_val *axis, size_t ndim)
{
    if (axis->kind == JY_K_KNOWN && jy_value_is_none(axis->known))
        return true;
    how->all = false;
    if (axis->kind != JY_K_TUPLE)
        return add_axis(b, how, axis, ndim);
    for (size_t k = 0; k < axis->nparts; k++)
        if (!add_axis(b, how, axis->parts[k], ndim))
            return false;
    return true;
}

/* Behind the array: axis, and axis= and keepdims=. */
static bool
read_reducing(struct jy_vbuild *b, struct reducing *how, size_t ndim, size_t nargs, struct jy_val *const *args,
              PyObject *kwnames)
{
    size_t nkw = kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0;
    bool good = nargs - nkw <= 1;
    *how = (struct reducing){ .all = true };
    if (nargs - nkw == 1)
        good = read_axes(b, how, args[0], ndim);
    for (size_t k = 0; k < nkw && good; k++) {
        const char *name = jy_utf8(PyTuple_GET_ITEM(kwnames, (Py_ssize_t)k));
        const struct jy_val *v = args[nargs - nkw + k];
        int64_t yes;
        if (strcmp(name, "axis") == 0) {
            good = nargs == nkw && read_axes(b, how, v, ndim);
        } else {
            good = strcmp(name, "keepdims") == 0 && v->kind == JY_K_BOOL && jy_vconst(b, v->regs[0], &yes);
            how->keepdims = good && yes != 0;
        }
    }
    return good;
}

static jy_status
reduce(struct jy_vbuild *b, struct jy_val **out, const struct reduction *r, struct jy_val *x, size_t nargs,
       struct jy_val *const *args, PyObject *kwnames)
{
    struct jy_vgeometry g;
    struct reducing how;
    jy_dtype from = (jy_dtype)x->array->dtype, dtype = reduces_as(r, from), result;
    PyObject *ufunc = jy_np_ufunc_of(r->op);
    jy_fv slots = JY_NO_FV;
    size_t loop;
    jy_varray_geometry(&g, x);
    TRY(begin(b));
    TRY(check_size(b, &g));
    if (g.ndim == 0 || ufunc == NULL || !jy_inspect_ufunc_loop(&loop, &result, ufunc, 2, dtype) ||
        !reduces_in(r, dtype, result))
        return jy_vb_lacks(b, "%s of %s", r->name, jy_val_describe(b, x));
    if (!read_reducing(b, &how, g.ndim, nargs, args, kwnames))
        return jy_vb_lacks(b, "%s with such arguments", r->name);
    unsigned all = (1u << g.ndim) - 1;
    if (how.all)
        how.axes = all;
    bool is_whole = how.axes == all && !how.keepdims;
    if (dtype != from) {
        if (!is_whole && dtype == JY_F64 && !adds_exactly(from))
            return jy_vb_lacks(b, "the mean of %s along an axis", jy_val_describe(b, x));
        TRY(cast(b, &x, dtype, x, JY_VECTOR_OPERAND_ORDER, &slots));
        jy_varray_geometry(&g, x);
    }
    struct jy_vector_spec s = { .loop = (uint32_t)loop, .nin = (uint8_t)r->start, .ndim = (uint8_t)g.ndim };
    s.dtype[0] = s.dtype[1] = s.dtype[JY_VECTOR_RESULT] = (uint8_t)dtype;
    s.axes = (uint8_t)how.axes;
    s.keepdims = how.keepdims;
    s.in_pieces = dtype != from;
    put_array(b, 0, &g, &g);
    put_shape(b, &g);
    b->w->w_np_flags = true;
    return is_whole ? reduce_all(b, out, r, ufunc, &s, &g) : reduce_some(b, out, r, ufunc, &s, &g, slots);
}

/* ---- choices ---- */

/* The dtype of both, as np.where() has it; NONE: not known here. */
static jy_dtype
dtype_of_choice(struct jy_val *const *args)
{
    jy_dtype dtype = JY_DTYPE_NONE;
    for (size_t k = 0; k < 2; k++)
        if (args[k]->kind == JY_K_ARRAY)
            dtype = dtype == JY_DTYPE_NONE ? (jy_dtype)args[k]->array->dtype
                                           : jy_dtype_promote(dtype, (jy_dtype)args[k]->array->dtype);
    for (size_t k = 0; k < 2 && dtype != JY_DTYPE_NONE; k++)
        if (args[k]->kind != JY_K_ARRAY)
            dtype = jy_vscalar_promote(dtype, args[k]);
    if (dtype == JY_DTYPE_NONE && args[0]->kind == args[1]->kind)
        dtype = args[0]->kind == JY_K_INT ? JY_I64 : args[0]->kind == JY_K_FLOAT ? JY_F64 : JY_DTYPE_NONE;
    return dtype;
}

/* np.where(condition, x, y) */
static jy_status
where(struct jy_vbuild *b, struct jy_val **out, struct jy_val *const *args)
{
    struct jy_val *x[] = { args[1], args[2], args[0] };
    struct jy_vgeometry shape = { .ndim = 0 }, g;
    jy_fv slots = JY_NO_FV;
    for (size_t k = 0; k < 2; k++)
        if (x[k]->kind != JY_K_ARRAY && !jy_val_is_number(x[k]))
            return jy_vb_lacks(b, "numpy.where() of %s", jy_val_describe(b, x[k]));
    jy_dtype dtype = dtype_of_choice(x);
    if (dtype == JY_DTYPE_NONE || x[2]->kind != JY_K_ARRAY || x[2]->array->dtype != JY_BOOL)
        return jy_vb_lacks(b, "numpy.where() of such operands");
    TRY(begin(b));
    for (size_t k = 0; k < 3; k++)
        if (x[k]->kind == JY_K_ARRAY) {
            if (x[k]->array->ndim == 0)
                return jy_vb_lacks(b, "numpy.where() of a 0-d array");
            jy_varray_geometry(&g, x[k]);
            TRY(check_size(b, &g));
            broadcast(b, &shape, &g);
        }
    TRY(check_size(b, &shape));
    for (size_t k = 0; k < 2; k++)
        if (x[k]->kind == JY_K_ARRAY && x[k]->array->dtype != dtype)
            TRY(cast(b, &x[k], dtype, x[k], JY_VECTOR_OPERAND_ORDER, &slots));
    struct jy_vector_spec s = { .nin = 2, .ndim = (uint8_t)shape.ndim };
    s.dtype[0] = s.dtype[1] = (uint8_t)dtype;
    s.dtype[JY_VECTOR_RESULT] = JY_BOOL;
    for (size_t k = 0; k < 3; k++) {
        jy_fv value;
        if (x[k]->kind == JY_K_ARRAY)
            continue;
        if (!jy_vscalar_operand(b, &value, dtype, x[k]))
            return jy_vb_lacks(b, "numpy.where() of %s", jy_val_describe(b, x[k]));
        s.numbers |= (uint8_t)(1u << k);
        put_number(b, k, value);
    }
    for (size_t k = 0; k < 3; k++)
        if (x[k]->kind == JY_K_ARRAY) {
            jy_varray_geometry(&g, x[k]);
            put_array(b, k, &g, &shape);
        }
    put_shape(b, &shape);
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(&s)), live_slots(b, slots) };
    *out = made(b, dtype, &shape, jy_vhelp(b, "vector_where", 2, regs, no_room));
    return JY_OK;
}

/* argmax() and argmin() of all elements. */
static jy_status
place_of_best(struct jy_vbuild *b, struct jy_val **out, bool largest, struct jy_val *x, size_t nargs,
              struct jy_val *const *args, PyObject *kwnames)
{
    struct jy_vgeometry g;
    struct reducing how;
    jy_dtype dtype = (jy_dtype)x->array->dtype;
    jy_varray_geometry(&g, x);
    bool fits = g.ndim != 0 && dtype < JY_DTYPE_COUNT && nargs <= 1 && (nargs == 0 || args[0]->kind != JY_K_TUPLE) &&
                read_reducing(b, &how, g.ndim, nargs, args, kwnames) && !how.keepdims && (how.all || g.ndim == 1);
    if (!fits)
        return jy_vb_lacks(b, "%s of %s, or with such arguments", largest ? "argmax" : "argmin", jy_val_describe(b, x));
    TRY(begin(b));
    TRY(check_size(b, &g));
    struct jy_vector_spec s = { .nin = 1, .ndim = (uint8_t)g.ndim };
    s.dtype[0] = s.dtype[JY_VECTOR_RESULT] = (uint8_t)dtype;
    put_array(b, 0, &g, &g);
    put_shape(b, &g);
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(&s)), jy_vint(b, largest) };
    *out = jy_val_reg(b, JY_K_NP, JY_I64, jy_vhelp(b, "vector_arg", 2, regs, "no elements"));
    return JY_OK;
}

static bool
is_place_of_best(const char *name)
{
    return strcmp(name, "argmax") == 0 || strcmp(name, "argmin") == 0;
}

/* ---- products ---- */

static jy_status
dot(struct jy_vbuild *b, struct jy_val **out, jy_op op, struct jy_vector_spec *s, const struct jy_vgeometry *g)
{
    jy_vcheck(b, jy_ve2(b, JY_FLOW_EQ, JY_F_I1, g[0].extent[0], g[1].extent[0]), "shapes that differ");
    for (size_t k = 0; k < 2; k++)
        put_array(b, k, &g[k], &g[k]);
    put_shape(b, &g[0]);
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(s)), jy_vint(b, op) };
    jy_fv value = narrowed(b, (jy_dtype)s->dtype[0], jy_vhelp(b, "vector_dot", 2, regs, "a warning"));
    *out = jy_val_reg(b, JY_K_NP, (jy_dtype)s->dtype[0], value);
    return JY_OK;
}

/* numpy.linalg.norm() of one axis. */
static jy_status
norm(struct jy_vbuild *b, struct jy_val **out, struct jy_val *x)
{
    struct jy_vgeometry g;
    struct jy_vector_spec s = { .ndim = 1 };
    jy_fv slots = JY_NO_FV;
    TRY(begin(b));
    if (x->array->ndim != 1)
        return jy_vb_lacks(b, "the norm of an array of %u axes", x->array->ndim);
    if (!jy_dtype_is_float((jy_dtype)x->array->dtype))
        TRY(cast(b, &x, JY_F64, x, JY_VECTOR_COPY_ORDER, &slots));
    jy_varray_geometry(&g, x);
    TRY(check_size(b, &g));
    s.dtype[0] = s.dtype[1] = s.dtype[JY_VECTOR_RESULT] = x->array->dtype;
    put_array(b, 0, &g, &g);
    put_shape(b, &g);
    b->w->w_np_flags = true;
    jy_fv spec = jy_vint(b, jy_vector_pack(&s));
    jy_fv sum = narrowed(b, (jy_dtype)x->array->dtype, jy_vhelp(b, "vector_square", 1, &spec, no_room));
    jy_dtype dtype = (jy_dtype)x->array->dtype;
    *out = jy_val_reg(b, JY_K_NP, dtype, jy_ve1(b, JY_FLOW_SQRT, jy_vtype_of_dtype(dtype), sum));
    return JY_OK;
}

/* Of a matrix and a vector, or the other way round. */
static jy_status
matrix_product(struct jy_vbuild *b, struct jy_val **out, jy_op op, struct jy_vector_spec *s,
               const struct jy_vgeometry *g)
{
    size_t m = g[0].ndim == 2 ? 0 : 1;
    size_t shared = m == 0 ? 1 : 0;
    struct jy_vgeometry result = { .ndim = 1 };
    jy_vcheck(b, jy_ve2(b, JY_FLOW_EQ, JY_F_I1, g[m].extent[shared], g[1 - m].extent[0]), "shapes that differ");
    s->nin = m == 0 ? JY_MATRIX_BY_VECTOR : JY_VECTOR_BY_MATRIX;
    s->loop = (uint32_t)op;
    put_array(b, m, &g[m], &g[m]);
    put_array(b, 1 - m, &g[1 - m], &g[1 - m]);
    put_shape(b, &g[m]);
    result.extent[0] = g[m].extent[1 - shared];
    result.about[0] = g[m].about[1 - shared];
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(s)), live_slots(b, JY_NO_FV) };
    *out = made(b, (jy_dtype)s->dtype[0], &result, jy_vhelp(b, "vector_product", 2, regs, no_room));
    return JY_OK;
}

static jy_status
product_of_matrices(struct jy_vbuild *b, struct jy_val **out, jy_op op, struct jy_vector_spec *s,
                    const struct jy_vgeometry *g)
{
    struct jy_vgeometry result = { .ndim = 2 }, shape = { .ndim = 3 };
    jy_vcheck(b, jy_ve2(b, JY_FLOW_EQ, JY_F_I1, g[0].extent[1], g[1].extent[0]), "shapes that differ");
    s->nin = JY_MATRIX_BY_MATRIX;
    s->loop = (uint32_t)op;
    put_array(b, 0, &g[0], &g[0]);
    put_array(b, 1, &g[1], &g[1]);
    for (size_t d = 0; d < 3; d++)
        shape.extent[d] = d == 2 ? g[1].extent[1] : g[0].extent[d];
    put_shape(b, &shape);
    for (size_t d = 0; d < 2; d++) {
        result.extent[d] = g[d].extent[d];
        result.about[d] = g[d].about[d];
    }
    TRY(check_size(b, &result));
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(s)), live_slots(b, JY_NO_FV) };
    *out = made(b, (jy_dtype)s->dtype[0], &result, jy_vhelp(b, "vector_product", 2, regs, no_room));
    return JY_OK;
}

static jy_status
product(struct jy_vbuild *b, struct jy_val **out, jy_op op, struct jy_val *const *args)
{
    struct jy_vgeometry g[2];
    struct jy_vector_spec s = { .ndim = 1 };
    TRY(begin(b));
    for (size_t k = 0; k < 2; k++) {
        if (args[k]->kind != JY_K_ARRAY)
            return jy_vb_lacks(b, "a product of %s", jy_val_describe(b, args[k]));
        jy_varray_geometry(&g[k], args[k]);
        TRY(check_size(b, &g[k]));
    }
    jy_dtype dtype = (jy_dtype)args[0]->array->dtype;
    bool fits = dtype == (jy_dtype)args[1]->array->dtype && jy_dtype_is_float(dtype) && g[0].ndim <= 2 &&
                g[1].ndim <= 2 && g[0].ndim != 0 && g[1].ndim != 0;
    if (!fits)
        return jy_vb_lacks(b, "a product of such arrays");
    s.dtype[0] = s.dtype[1] = s.dtype[JY_VECTOR_RESULT] = (uint8_t)dtype;
    b->w->w_np_flags = true;
    switch (g[0].ndim + g[1].ndim) {
    case 2:
        return dot(b, out, op, &s, g);
    case 3:
        return matrix_product(b, out, op, &s, g);
    default:
        return product_of_matrices(b, out, op, &s, g);
    }
}

/* ---- arrays as keys ---- */

static void
put_strides(struct jy_vbuild *b, size_t operand, const struct jy_vgeometry *g)
{
    put(b, offsetof(struct jy_vector_block, data) + operand * sizeof(char *), g->data);
    for (size_t d = 0; d < g->ndim; d++)
        put(b, stride_at(operand, d), g->stride[d]);
}

static void
put_extent(struct jy_vbuild *b, size_t at, jy_fv extent)
{
    put(b, offsetof(struct jy_vector_block, extent) + at * sizeof(int64_t), extent);
}

/* Which elements of an array of that shape, which is put, too. */
static jy_status
put_key(struct jy_vbuild *b, struct jy_vector_spec *s, struct jy_vgeometry *k, struct jy_val *key,
        const struct jy_vgeometry *g)
{
    jy_dtype dtype = (jy_dtype)key->array->dtype;
    jy_varray_geometry(k, key);
    bool is_mask = dtype == JY_BOOL, is_whole = is_mask && k->ndim == g->ndim;
    if (jy_dtype_is_float(dtype) || dtype == JY_U64 || g->ndim == 0 || g->ndim > 2 || (k->ndim != 1 && !is_whole))
        return jy_vb_lacks(b, "%s as a key", jy_val_describe(b, key));
    TRY(check_size(b, g));
    TRY(check_size(b, k));
    for (size_t d = 0; d < k->ndim && is_mask; d++)
        jy_vcheck(b, jy_ve2(b, JY_FLOW_EQ, JY_F_I1, k->extent[d], g->extent[d]), "a mask of another shape");
    s->nin = is_whole ? JY_VECTOR_MASK : is_mask ? JY_VECTOR_MASK_AXIS : JY_VECTOR_INDEX;
    s->ndim = (uint8_t)g->ndim;
    s->dtype[1] = (uint8_t)dtype;
    put_strides(b, 1, k);
    put_shape(b, g);
    put_extent(b, JY_VECTOR_KEYS, k->extent[0]);
    return JY_OK;
}

static const char bad_key[] = "an index out of range, or as many items as the key does not name";

jy_status
jy_vvector_take(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, struct jy_val *key)
{
    struct jy_vector_spec s = { .nin = 0 };
    struct jy_vgeometry g, k;
    TRY(begin(b));
    jy_varray_geometry(&g, v);
    s.dtype[0] = s.dtype[JY_VECTOR_RESULT] = v->array->dtype;
    TRY(put_key(b, &s, &k, key, &g));
    put_strides(b, 0, &g);
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(&s)), live_slots(b, JY_NO_FV) };
    jy_fv data = jy_vhelp(b, "vector_take", 2, regs, bad_key);
    struct jy_vgeometry result = g;
    size_t count = offsetof(struct jy_vector_block, extent) + JY_VECTOR_KEYS * sizeof(int64_t);
    result.ndim = s.nin == JY_VECTOR_MASK ? 1 : g.ndim;
    result.about[0] = k.about[0];
    result.extent[0] = s.nin == JY_VECTOR_INDEX
                           ? k.extent[0]
                           : jy_vload(b, JY_F_I64, b->vector_block, jy_vint(b, 0), (int32_t)count, b->alias_block);
    *out = made(b, (jy_dtype)v->array->dtype, &result, data);
    return JY_OK;
}

/* What is stored: a number; one element or row for all keys; or one for each. */
static jy_status
put_items(struct jy_vbuild *b, struct jy_vector_spec *s, struct jy_val *item, const struct jy_vgeometry *g)
{
    size_t inner = g->ndim == 2 && s->nin != JY_VECTOR_MASK ? 1 : 0;
    struct jy_vgeometry i;
    if (item->kind != JY_K_ARRAY) {
        s->numbers = 1;
        put_number(b, 0, jy_vscalar_stored(b, (jy_dtype)s->dtype[JY_VECTOR_RESULT], item));
        put_extent(b, JY_VECTOR_ITEMS, jy_vint(b, -1));
        return JY_OK;
    }
    jy_varray_geometry(&i, item);
    TRY(check_size(b, &i));
    if (i.ndim == 0 || i.ndim > inner + 1)
        return jy_vb_lacks(b, "%s stored by an array as a key", jy_val_describe(b, item));
    bool for_each = i.ndim == inner + 1 && !is_one(b, i.extent[0]);
    put(b, offsetof(struct jy_vector_block, data), i.data);
    put(b, stride_at(0, 0), for_each ? i.stride[0] : jy_vint(b, 0));
    put(b, stride_at(0, 1), jy_vint(b, 0));
    if (inner != 0 && !is_one(b, i.extent[i.ndim - 1])) {
        jy_vcheck(b, jy_ve2(b, JY_FLOW_EQ, JY_F_I1, i.extent[i.ndim - 1], g->extent[1]), "shapes that differ");
        put(b, stride_at(0, 1), i.stride[i.ndim - 1]);
    }
    put_extent(b, JY_VECTOR_ITEMS, for_each ? i.extent[0] : jy_vint(b, -1));
    return JY_OK;
}

jy_status
jy_vvector_put(struct jy_vbuild *b, struct jy_val *v, struct jy_val *key, struct jy_val *item)
{
    struct jy_vector_spec s = { .nin = 0 };
    struct jy_vgeometry g, k;
    jy_dtype dtype = (jy_dtype)v->array->dtype;
    jy_fv slots = JY_NO_FV;
    TRY(begin(b));
    jy_varray_geometry(&g, v);
    if (item->kind == JY_K_ARRAY && (jy_dtype)item->array->dtype != dtype)
        TRY(cast(b, &item, dtype, item, JY_VECTOR_ANY_ORDER, &slots));
    s.dtype[0] = s.dtype[JY_VECTOR_RESULT] = (uint8_t)dtype;
    TRY(put_key(b, &s, &k, key, &g));
    TRY(put_items(b, &s, item, &g));
    put_strides(b, JY_VECTOR_RESULT, &g);
    jy_fv regs[] = { jy_vint(b, jy_vector_pack(&s)) };
    jy_vhelp(b, "vector_put", 1, regs, bad_key);
    return JY_OK;
}

/* ---- functions and methods ---- */

static jy_op
op_of_ufunc(PyObject *callable)
{
    jy_op op = 0;
    while (op < JY_OP_COUNT && (jy_op_info[op].oracle == NULL || jy_np_ufunc_of(op) != callable))
        op++;
    return op;
}

/* Functions that make an array. */
static jy_status
creation(struct jy_vbuild *b, struct jy_val **out, const char *name, struct jy_val *arg, jy_dtype dtype)
{
    static const char *const names[] = { [EMPTY] = "empty", [ZEROS] = "zeros", [ONES] = "ones" };
    for (enum content content = EMPTY; content <= ONES; content++) {
        size_t n = strlen(names[content]);
        if (strncmp(name, names[content], n) != 0)
            continue;
        if (strcmp(name + n, "_like") == 0 && arg->kind == JY_K_ARRAY)
            return create_like(b, out, content, arg, dtype);
        struct jy_vgeometry g = { .ndim = 0 };
        if (name[n] == '\0' && arg->kind != JY_K_ARRAY) {
            TRY(shape_of(b, &g, arg));
            return create(b, out, content, dtype != JY_DTYPE_NONE ? dtype : JY_F64, &g);
        }
    }
    return JY_OK;
}

/* One argument, by place or as dtype=, that names a dtype which is known. */
static bool
read_dtype(jy_dtype *out, size_t nargs, struct jy_val *const *args, PyObject *kwnames)
{
    if (nargs != 1 || args[0]->kind != JY_K_KNOWN ||
        (kwnames != NULL && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "dtype") != 0))
        return false;
    PyObject *object = jy_value_known(args[0]->known);
    return object != NULL && jy_inspect_dtype(out, object);
}

/* Of the same dtype it is a copy, too. */
static jy_status
astype(struct jy_vbuild *b, struct jy_val **out, struct jy_val *x, size_t nargs, struct jy_val *const *args,
       PyObject *kwnames)
{
    jy_dtype dtype;
    jy_fv slots = JY_NO_FV;
    if (!read_dtype(&dtype, nargs, args, kwnames) || x->array->ndim == 0)
        return jy_vb_lacks(b, "astype() with such arguments");
    TRY(begin(b));
    return cast(b, out, dtype, x, JY_VECTOR_COPY_ORDER, &slots);
}

static jy_status
copy_of(struct jy_vbuild *b, struct jy_val **out, struct jy_val *x)
{
    struct jy_vgeometry g;
    jy_varray_geometry(&g, x);
    return filled(b, out, (jy_dtype)x->array->dtype, &g, x);
}

jy_status
jy_vvector_call(struct jy_vbuild *b, struct jy_val **out, PyObject *callable, size_t nargs, struct jy_val *const *args,
                PyObject *kwnames)
{
    const char *name = jy_np_function_name(callable);
    bool concerns = jy_vvector_concerns(nargs, args);
    size_t nplain = nargs - (kwnames != NULL ? (size_t)PyTuple_GET_SIZE(kwnames) : 0);
    if (nplain >= 1 && args[0]->kind == JY_K_ARRAY && name != NULL && reduction_of(name) != NULL)
        return reduce(b, out, reduction_of(name), args[0], nargs - 1, args + 1, kwnames);
    if (nplain >= 1 && args[0]->kind == JY_K_ARRAY && name != NULL && is_place_of_best(name))
        return place_of_best(b, out, name[4] == 'a', args[0], nargs - 1, args + 1, kwnames);
    jy_dtype dtype = JY_DTYPE_NONE;
    if (name != NULL && nargs == 2 && nplain >= 1 && read_dtype(&dtype, 1, args + 1, kwnames))
        return creation(b, out, name, args[0], dtype);
    if (kwnames != NULL)
        return JY_OK;
    if (nargs == 1 && name != NULL && !concerns)
        return creation(b, out, name, args[0], JY_DTYPE_NONE);
    if (!concerns)
        return JY_OK;
    jy_op op = op_of_ufunc(callable);
    if (op == JY_OP_MATMUL && nargs == 2)
        return product(b, out, op, args);
    if (op != JY_OP_COUNT && (size_t)jy_op_info[op].arity == nargs)
        return apply(b, out, op, nargs, args);
    if (name == NULL)
        return JY_OK;
    if (nargs == 2 && strcmp(name, "dot") == 0)
        return product(b, out, JY_OP_DOT, args);
    if (nargs == 3 && strcmp(name, "where") == 0)
        return where(b, out, args);
    if (nargs == 1 && strcmp(name, "linalg.norm") == 0)
        return norm(b, out, args[0]);
    if (nargs == 1 && strcmp(name, "copy") == 0 && args[0]->array->ndim == 1)
        return copy_of(b, out, args[0]);
    return nargs == 1 ? creation(b, out, name, args[0], JY_DTYPE_NONE) : JY_OK;
}

bool
jy_vvector_has_method(const char *name)
{
    bool is_function_only = name[0] == 'a' && name[1] == 'm'; /* amin, amax */
    return (reduction_of(name) != NULL && !is_function_only) || strcmp(name, "dot") == 0 || strcmp(name, "copy") == 0 ||
           strcmp(name, "astype") == 0 || is_place_of_best(name);
}

jy_status
jy_vvector_method(struct jy_vbuild *b, struct jy_val **out, struct jy_val *self, const char *name, size_t nargs,
                  struct jy_val *const *args, PyObject *kwnames)
{
    if (reduction_of(name) != NULL)
        return reduce(b, out, reduction_of(name), self, nargs, args, kwnames);
    if (is_place_of_best(name))
        return place_of_best(b, out, name[4] == 'a', self, nargs, args, kwnames);
    if (strcmp(name, "astype") == 0)
        return astype(b, out, self, nargs, args, kwnames);
    if (kwnames != NULL)
        return jy_vb_lacks(b, "the method %s of an array with keywords", name);
    if (nargs == 0 && strcmp(name, "copy") == 0)
        return copy_of(b, out, self);
    if (nargs == 1 && strcmp(name, "dot") == 0) {
        struct jy_val *both[] = { self, args[0] };
        return product(b, out, JY_OP_DOT, both);
    }
    return jy_vb_lacks(b, "the method %s of an array", name);
}
