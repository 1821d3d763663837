/* Arrays in flows: elements by index, views without an object, attributes. An index that is out of range leaves; the interpreter raises. */
#include "frontend/flow.h"
#include "frontend/np_internal.h"

#include <string.h>

static jy_fv
data_of(const struct jy_val *array)
{
    return array->array->is_view || array->array->is_new ? array->regs[0] : array->array->data;
}

/* ---- where the elements lie ---- */

void
jy_varray_geometry(struct jy_vgeometry *out, const struct jy_val *v)
{
    const struct jy_varray *a = v->array;
    size_t k = a->is_new ? 2 : 1;
    out->data = data_of(v);
    out->ndim = a->ndim;
    for (size_t d = 0; d < a->ndim; d++)
        out->extent[d] = a->extent[d] != JY_NO_FV ? a->extent[d] : v->regs[k++];
    for (size_t d = 0; d < a->ndim; d++)
        out->stride[d] = a->stride[d] != JY_NO_FV ? a->stride[d] : v->regs[k++];
    memcpy(out->about, a->about, sizeof a->about);
}

/* What is known when the flow begins, as a value of block 0. */
static jy_fv
fixed(struct jy_vbuild *b, jy_fv v)
{
    const struct jy_fvalue *value = jy_flow_at(b->w, v);
    if (value->f_op == JY_FLOW_CONST)
        return jy_flow_const(b->w, 0, (enum jy_ftype)value->f_type, value->f_value);
    return value->f_block == 0 && value->f_op != JY_FLOW_PARAM ? v : JY_NO_FV;
}

/* An operation on such values stands in block 0, too, once: extents that are one value are one kind. */
static jy_fv
early(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, size_t n, const jy_fv *args)
{
    struct jy_vearly e = { .op = (uint8_t)op, .args = { JY_NO_FV, JY_NO_FV, JY_NO_FV } };
    for (size_t i = 0; i < n; i++) {
        e.args[i] = fixed(b, args[i]);
        if (e.args[i] == JY_NO_FV)
            return jy_flow_op(b->w, b->block, op, type, n, args, JY_NO_EXIT);
    }
    for (size_t k = 0; k < b->early.n; k++)
        if (b->early.at[k].op == e.op && memcmp(b->early.at[k].args, e.args, sizeof e.args) == 0)
            return b->early.at[k].result;
    e.result = jy_flow_op(b->w, 0, op, type, n, e.args, JY_NO_EXIT);
    *jy_vec_push(b->arena, &b->early) = e;
    return e.result;
}

static jy_fv
early2(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x, jy_fv y)
{
    jy_fv args[] = { x, y };
    return early(b, op, type, 2, args);
}

static jy_fv
early_select(struct jy_vbuild *b, jy_fv condition, jy_fv x, jy_fv y)
{
    jy_fv args[] = { condition, x, y };
    return early(b, JY_FLOW_SELECT, JY_F_I64, 3, args);
}

jy_fv
jy_varray_product(struct jy_vbuild *b, jy_fv x, jy_fv y)
{
    return early2(b, JY_FLOW_MUL, JY_F_I64, x, y);
}

static bool
same_array(const struct jy_varray *x, const struct jy_varray *y)
{
    return x->value == y->value && x->input == y->input && x->alias == y->alias && x->dtype == y->dtype &&
           x->ndim == y->ndim && x->is_view == y->is_view && x->is_new == y->is_new && x->is_turned == y->is_turned &&
           memcmp(x->extent, y->extent, x->ndim * sizeof *x->extent) == 0 &&
           memcmp(x->stride, y->stride, x->ndim * sizeof *x->stride) == 0;
}

/* One struct for all that are alike, so that pointers tell kinds apart. */
static const struct jy_varray *
interned(struct jy_vbuild *b, const struct jy_varray *array)
{
    for (size_t k = 0; k < b->views.n; k++)
        if (same_array(b->views.at[k], array))
            return b->views.at[k];
    *jy_vec_push(b->arena, &b->views) = jy_arena_copy(b->arena, array, sizeof *array);
    return b->views.at[b->views.n - 1];
}

static struct jy_val *
value_of(struct jy_vbuild *b, struct jy_varray *array, const struct jy_vgeometry *g, jy_fv slot)
{
    jy_fv regs[2 + 2 * JY_MAX_NDIM];
    size_t n = 0;
    regs[n++] = g->data;
    if (array->is_new)
        regs[n++] = slot;
    array->ndim = (uint8_t)g->ndim;
    memcpy(array->about, g->about, sizeof g->about);
    for (size_t d = 0; d < g->ndim; d++)
        if ((array->extent[d] = fixed(b, g->extent[d])) == JY_NO_FV)
            regs[n++] = g->extent[d];
    for (size_t d = 0; d < g->ndim; d++)
        if ((array->stride[d] = fixed(b, g->stride[d])) == JY_NO_FV)
            regs[n++] = g->stride[d];
    struct jy_val *v = jy_val_new(b, JY_K_ARRAY, n);
    v->array = interned(b, array);
    memcpy(v->regs, regs, n * sizeof *regs);
    return v;
}

struct jy_val *
jy_varray_view(struct jy_vbuild *b, struct jy_val *of, const struct jy_vgeometry *g)
{
    struct jy_varray array = *of->array;
    struct jy_val *owner = of->array->is_new ? of : of->nparts != 0 ? of->parts[0] : NULL;
    array.is_view = true;
    array.is_new = false;
    struct jy_val *v = value_of(b, &array, g, JY_NO_FV);
    if (owner != NULL) {
        v->nparts = 1;
        v->parts = JY_NEW_ARRAY(b->arena, struct jy_val *, 1);
        v->parts[0] = owner;
    }
    return v;
}

struct jy_val *
jy_varray_new(struct jy_vbuild *b, jy_dtype dtype, const struct jy_vgeometry *g, jy_fv slot)
{
    struct jy_varray array = { .dtype = (uint8_t)dtype, .is_new = true, .alias = b->alias_vectors, .data = JY_NO_FV };
    return value_of(b, &array, g, slot);
}

jy_status
jy_varray_will_write(struct jy_vbuild *b, const struct jy_val *array)
{
    TRY(jy_vb_effect(b));
    return array->array->value != NULL ? jy_vb_will_write(b, array->array) : JY_OK;
}

/* ---- subscripts ---- */

static jy_fv
scaled(struct jy_vbuild *b, jy_fv index, jy_fv stride)
{
    return early2(b, JY_FLOW_MUL, JY_F_I64, index, stride);
}

static bool
is_none(const struct jy_val *v)
{
    return v->kind == JY_K_KNOWN && jy_value_is_none(v->known);
}

static const char out_of_range[] = "index out of range";

/* One axis of the array, from the next key on; `g` is the result so far, `offset` the bytes to its first element. */
struct subscripting {
    struct jy_vbuild *b;
    const struct jy_vgeometry *of;
    struct jy_vgeometry *g;
    size_t axis;
    jy_fv offset; /* JY_NO_FV: 0 */
};

static void
move(struct subscripting *s, jy_fv bytes)
{
    s->offset = s->offset == JY_NO_FV ? bytes : early2(s->b, JY_FLOW_ADD, JY_F_I64, s->offset, bytes);
}

static void
add_axis(struct subscripting *s, jy_fv extent, jy_fv stride, int64_t about)
{
    s->g->extent[s->g->ndim] = extent;
    s->g->stride[s->g->ndim] = stride;
    s->g->about[s->g->ndim++] = about;
}

/* A bound as Python clips it: from the end where it is negative, into low .. high. */
static jy_status
clipped(struct jy_vbuild *b, jy_fv *out, struct jy_val *bound, jy_fv length, jy_fv low, jy_fv high)
{
    jy_fv at, zero = jy_vint(b, 0);
    TRY(jy_vas_index(b, &at, bound));
    jy_fv negative = early2(b, JY_FLOW_LT, JY_F_I1, at, zero);
    jy_fv from_end = early2(b, JY_FLOW_MAX, JY_F_I64, early2(b, JY_FLOW_ADD, JY_F_I64, at, length), low);
    *out = early_select(b, negative, from_end, early2(b, JY_FLOW_MIN, JY_F_I64, at, high));
    return JY_OK;
}

/* The step of a slice. */
struct step {
    int64_t known; /* 0: it is not */
    jy_fv value, positive;
};

/* An extent that the slice has at most. */
static int64_t
about_slice(const struct jy_vbuild *b, int64_t n, const struct jy_val *const *bounds, int64_t step)
{
    Py_ssize_t start = step > 0 ? 0 : PY_SSIZE_T_MAX, stop = step > 0 ? PY_SSIZE_T_MAX : PY_SSIZE_T_MIN;
    int64_t k;
    if (step == 0)
        return n;
    if (bounds[0]->kind == JY_K_INT && jy_vconst(b, bounds[0]->regs[0], &k))
        start = k;
    if (bounds[1]->kind == JY_K_INT && jy_vconst(b, bounds[1]->regs[0], &k))
        stop = k;
    return PySlice_AdjustIndices(n, &start, &stop, step);
}

/* The interpreter has steps of nothing and such that an extent is no matter for. */
static jy_status
step_of(struct jy_vbuild *b, struct step *out, struct jy_val *by)
{
    jy_fv far = jy_vint(b, INT32_MAX);
    *out = (struct step){ .known = 1, .value = jy_vint(b, 1) };
    if (is_none(by))
        return JY_OK;
    TRY(jy_vas_index(b, &out->value, by));
    bool is_known = jy_vconst(b, out->value, &out->known);
    if (is_known && (out->known == 0 || out->known > INT32_MAX || out->known < -INT32_MAX))
        return jy_vb_lacks(b, "a slice of an array with a step of %lld", (long long)out->known);
    if (is_known)
        return JY_OK;
    out->known = 0;
    out->positive = early2(b, JY_FLOW_GT, JY_F_I1, out->value, jy_vint(b, 0));
    jy_vcheck_not_zero(b, out->value, "a step of zero");
    jy_fv moved = jy_ve2(b, JY_FLOW_ADD, JY_F_I64, out->value, far);
    jy_vcheck(b, jy_ve2(b, JY_FLOW_BELOW, JY_F_I1, moved, jy_vint(b, INT64_C(2) * INT32_MAX + 1)), "a step of many");
    return JY_OK;
}

/* One for steps upwards, another for steps downwards. */
static jy_fv
by_sign(struct jy_vbuild *b, const struct step *s, jy_fv upwards, jy_fv downwards)
{
    if (s->known != 0)
        return s->known > 0 ? upwards : downwards;
    return early_select(b, s->positive, upwards, downwards);
}

/* How many steps there are on the way, which may be negative. What is not known is never divided by zero, not even in front of the check of it. */
static jy_fv
count_steps(struct jy_vbuild *b, const struct step *s, jy_fv length)
{
    jy_fv one = jy_vint(b, 1), size = jy_vint(b, s->known < 0 ? -s->known : s->known);
    if (s->known == 1 || s->known == -1)
        return length;
    if (s->known == 0) {
        jy_fv back = early2(b, JY_FLOW_SUB, JY_F_I64, jy_vint(b, 0), s->value);
        size = early2(b, JY_FLOW_MAX, JY_F_I64, early2(b, JY_FLOW_MAX, JY_F_I64, s->value, back), one);
    }
    jy_fv up = early2(b, JY_FLOW_ADD, JY_F_I64, length, early2(b, JY_FLOW_SUB, JY_F_I64, size, one));
    return early2(b, JY_FLOW_FLOORDIV, JY_F_I64, up, size);
}

/* NumPy lets a slice without elements begin where the axis does, in steps of one. */
static jy_status
take_slice(struct subscripting *s, struct jy_val *const *bounds, struct jy_val *by)
{
    struct jy_vbuild *b = s->b;
    struct step step;
    TRY(step_of(b, &step, by));
    jy_fv n = s->of->extent[s->axis], stride = s->of->stride[s->axis], zero = jy_vint(b, 0), one = jy_vint(b, 1);
    int64_t about = about_slice(b, s->of->about[s->axis], (const struct jy_val *const *)bounds, step.known);
    jy_fv low = by_sign(b, &step, zero, jy_vint(b, -1));
    jy_fv high = step.known > 0 ? n : by_sign(b, &step, n, early2(b, JY_FLOW_SUB, JY_F_I64, n, one));
    jy_fv start = by_sign(b, &step, zero, high), stop = by_sign(b, &step, n, low);
    for (size_t k = 0; k < 2; k++)
        if (!is_none(bounds[k]))
            TRY(clipped(b, k == 0 ? &start : &stop, bounds[k], n, low, high));
    s->axis++;
    if (step.known == 1 && is_none(bounds[0])) {
        add_axis(s, is_none(bounds[1]) ? n : stop, stride, about);
        return JY_OK;
    }
    jy_fv from = by_sign(b, &step, start, stop), to = by_sign(b, &step, stop, start);
    jy_fv length = count_steps(b, &step, early2(b, JY_FLOW_SUB, JY_F_I64, to, from));
    jy_fv some = early2(b, JY_FLOW_GT, JY_F_I1, length, zero);
    move(s, scaled(b, early_select(b, some, start, zero), stride));
    if (step.known != 1)
        stride = early_select(b, some, scaled(b, step.value, stride), stride);
    add_axis(s, early2(b, JY_FLOW_MAX, JY_F_I64, length, zero), stride, about);
    return JY_OK;
}

static jy_status
take_index(struct subscripting *s, struct jy_val *key)
{
    jy_fv index;
    if (key->kind == JY_K_BOOL || (key->kind == JY_K_NP && key->dtype == JY_BOOL))
        return jy_vb_lacks(s->b, "a bool as an index");
    TRY(jy_vas_index(s->b, &index, key));
    index = jy_ve2x(s->b, JY_FLOW_WRAP, JY_F_I64, index, s->of->extent[s->axis], out_of_range);
    move(s, scaled(s->b, index, s->of->stride[s->axis]));
    s->axis++;
    return JY_OK;
}

/* The part of the array that the key says: `g`, one element where it has no axis. */
static jy_status
subscript(struct jy_vbuild *b, struct jy_vgeometry *g, jy_fv *offset, const struct jy_vgeometry *of, struct jy_val *key)
{
    struct jy_val *const *keys = key->kind == JY_K_TUPLE ? key->parts : &key;
    size_t n = key->kind == JY_K_TUPLE ? key->nparts : 1, taken = 0;
    struct subscripting s = { .b = b, .of = of, .g = g, .offset = JY_NO_FV };
    g->ndim = 0;
    for (size_t k = 0; k < n; k++)
        taken += !is_none(keys[k]);
    if (n == 0 || taken > of->ndim || n - taken + of->ndim > JY_MAX_NDIM)
        return jy_vb_lacks(b, "%zu indices for %zu axes", n, of->ndim);
    for (size_t k = 0; k < n; k++)
        if (is_none(keys[k]))
            add_axis(&s, jy_vint(b, 1), jy_vint(b, 0), 1);
        else if (keys[k]->kind == JY_K_SLICE)
            TRY(take_slice(&s, keys[k]->parts, keys[k]->parts[2]));
        else
            TRY(take_index(&s, keys[k]));
    for (; s.axis < of->ndim; s.axis++)
        add_axis(&s, of->extent[s.axis], of->stride[s.axis], of->about[s.axis]);
    *offset = s.offset;
    return JY_OK;
}

static void
move_data(struct jy_vbuild *b, struct jy_vgeometry *g, const struct jy_vgeometry *of, jy_fv offset)
{
    g->data = offset == JY_NO_FV ? of->data : jy_ve2(b, JY_FLOW_OFFSET, JY_F_PTR, of->data, offset);
}

static struct jy_val *
element(struct jy_vbuild *b, const struct jy_val *v, const struct jy_vgeometry *of, jy_fv offset)
{
    jy_dtype dtype = (jy_dtype)v->array->dtype;
    return jy_val_reg(b, JY_K_NP, dtype, jy_vscalar_load(b, dtype, of->data, offset, v->array->alias));
}

jy_status
jy_varray_at(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, jy_fv index)
{
    struct jy_vgeometry of, g = { .ndim = 0 };
    jy_varray_geometry(&of, v);
    struct subscripting s = { .b = b, .of = &of, .g = &g, .axis = 1, .offset = scaled(b, index, of.stride[0]) };
    if (of.ndim == 1) {
        *out = element(b, v, &of, s.offset);
        return JY_OK;
    }
    for (; s.axis < of.ndim; s.axis++)
        add_axis(&s, of.extent[s.axis], of.stride[s.axis], of.about[s.axis]);
    move_data(b, &g, &of, s.offset);
    *out = jy_varray_view(b, v, &g);
    return JY_OK;
}

/* v[i, key]: the row v[i], of which an array says which elements. NULL: no such key. */
static jy_status
row_of(struct jy_vbuild *b, struct jy_val **row, struct jy_val **key, struct jy_val *v)
{
    struct jy_val *keys = *key;
    *row = keys->kind == JY_K_ARRAY ? v : NULL;
    if (keys->kind != JY_K_TUPLE || keys->nparts < 2 || keys->parts[keys->nparts - 1]->kind != JY_K_ARRAY)
        return JY_OK;
    for (size_t k = 0; k + 1 < keys->nparts; k++)
        if (keys->parts[k]->kind != JY_K_INT)
            return JY_OK;
    *key = keys->parts[keys->nparts - 1];
    TRY(jy_varray_get(b, row, v, jy_val_parts(b, JY_K_TUPLE, keys->nparts - 1, keys->parts)));
    return (*row)->kind == JY_K_ARRAY ? JY_OK : jy_vb_lacks(b, "more indices than axes");
}

jy_status
jy_varray_get(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, struct jy_val *key)
{
    struct jy_vgeometry of, g;
    struct jy_val *row;
    jy_fv offset;
    TRY(row_of(b, &row, &key, v));
    if (row != NULL)
        return jy_vvector_take(b, out, row, key);
    jy_varray_geometry(&of, v);
    TRY(subscript(b, &g, &offset, &of, key));
    if (g.ndim == 0) {
        *out = element(b, v, &of, offset);
        return JY_OK;
    }
    move_data(b, &g, &of, offset);
    *out = jy_varray_view(b, v, &g);
    (*out)->subscript[0] = v;
    (*out)->subscript[1] = key;
    return JY_OK;
}

jy_status
jy_varray_slice(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, struct jy_val *const *bounds)
{
    struct jy_val *parts[] = { bounds[0], bounds[1], jy_val_known(b, jy_value_const(b->frame->f, Py_None)) };
    TRY(jy_varray_get(b, out, v, jy_val_parts(b, JY_K_SLICE, 3, parts)));
    (*out)->subscript[1] = bounds[0];
    (*out)->subscript[2] = bounds[1];
    return JY_OK;
}

/* ---- stores ---- */

/* x[key] += ...: what is stored is the very part of x. */
static bool
is_itself(const struct jy_val *item, const struct jy_val *v, const struct jy_val *key, const struct jy_val *stop)
{
    return item->kind == JY_K_ARRAY && item->subscript[0] == v && item->subscript[1] == key &&
           item->subscript[2] == stop;
}

jy_status
jy_varray_set(struct jy_vbuild *b, struct jy_val *v, struct jy_val *key, struct jy_val *item)
{
    const struct jy_varray *array = v->array;
    struct jy_vgeometry of, g;
    struct jy_val *row;
    jy_fv offset;
    item = jy_vnumber(b, item);
    if (!jy_val_is_number(item) && item->kind != JY_K_ARRAY)
        return jy_vb_lacks(b, "%s stored into an array", jy_val_describe(b, item));
    TRY(jy_varray_will_write(b, v));
    if (is_itself(item, v, key, NULL))
        return JY_OK;
    TRY(row_of(b, &row, &key, v));
    if (row != NULL)
        return jy_vvector_put(b, row, key, item);
    jy_varray_geometry(&of, v);
    TRY(subscript(b, &g, &offset, &of, key));
    if (g.ndim == 0 && jy_val_is_number(item)) {
        jy_fv value = jy_vscalar_stored(b, (jy_dtype)array->dtype, item);
        jy_flow_store(b->w, b->block, of.data, offset, 0, value, array->alias);
        return JY_OK;
    }
    if (g.ndim == 0)
        return jy_vb_lacks(b, "an array stored into an element");
    move_data(b, &g, &of, offset);
    return jy_vvector_store(b, jy_varray_view(b, v, &g), item);
}

jy_status
jy_varray_set_slice(struct jy_vbuild *b, struct jy_val *v, struct jy_val *const *bounds, struct jy_val *item)
{
    struct jy_val *parts[] = { bounds[0], bounds[1], jy_val_known(b, jy_value_const(b->frame->f, Py_None)) };
    if (!is_itself(item, v, bounds[0], bounds[1]))
        return jy_varray_set(b, v, jy_val_parts(b, JY_K_SLICE, 3, parts), item);
    return jy_varray_will_write(b, v);
}

/* ---- attributes ---- */

jy_status
jy_varray_attr(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, const char *name)
{
    struct jy_vgeometry g;
    jy_varray_geometry(&g, v);
    if (strcmp(name, "shape") == 0) {
        struct jy_val *parts[JY_MAX_NDIM];
        for (size_t d = 0; d < g.ndim; d++)
            parts[d] = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, g.extent[d]);
        *out = jy_val_parts(b, JY_K_TUPLE, g.ndim, parts);
        return JY_OK;
    }
    if (strcmp(name, "ndim") == 0) {
        *out = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, jy_vint(b, (int64_t)g.ndim));
        return JY_OK;
    }
    if (strcmp(name, "size") == 0) {
        jy_fv size = jy_vint(b, 1);
        for (size_t d = 0; d < g.ndim; d++)
            size = jy_ve2(b, JY_FLOW_MUL, JY_F_I64, size, g.extent[d]);
        *out = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, size);
        return JY_OK;
    }
    if (strcmp(name, "T") == 0) {
        struct jy_vgeometry turned = g;
        for (size_t d = 0; d < g.ndim; d++) {
            turned.extent[d] = g.extent[g.ndim - 1 - d];
            turned.stride[d] = g.stride[g.ndim - 1 - d];
            turned.about[d] = g.about[g.ndim - 1 - d];
        }
        *out = jy_varray_view(b, v, &turned);
        struct jy_varray array = *(*out)->array;
        array.is_turned = !array.is_turned;
        (*out)->array = interned(b, &array);
        return JY_OK;
    }
    return jy_vb_lacks(b, "the attribute %s of an array", name);
}
