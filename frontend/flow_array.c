/* Arrays in flows: elements by index, rows as views without an object, attributes. An index that is out of range leaves; the interpreter raises. */
#include "frontend/flow.h"
#include "frontend/np_internal.h"

#include <string.h>

static jy_fv
data_of(const struct jy_val *array)
{
    return array->array->is_view ? array->regs[0] : array->array->data;
}

/* What a[i] is where a has more than one axis. */
static const struct jy_varray *
row_of(struct jy_vbuild *b, const struct jy_varray *array)
{
    struct jy_varray *a = (struct jy_varray *)(uintptr_t)array;
    if (a->row != NULL)
        return a->row;
    struct jy_varray *row = jy_arena_copy(b->arena, a, sizeof *a);
    row->is_view = true;
    row->ndim--;
    memmove(row->extent, a->extent + 1, row->ndim * sizeof *row->extent);
    memmove(row->stride, a->stride + 1, row->ndim * sizeof *row->stride);
    row->row = NULL;
    a->row = row;
    return row;
}

static jy_fv
scaled(struct jy_vbuild *b, jy_fv index, jy_fv stride)
{
    return jy_ve2(b, JY_FLOW_MUL, JY_F_I64, index, stride);
}

/* indices are inside; n of them, as many as there are axes or fewer */
static jy_status
read_at(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *v, size_t n, const jy_fv *indices)
{
    const struct jy_varray *array = v->array;
    jy_fv offset = scaled(b, indices[0], array->stride[0]);
    for (size_t d = 1; d < n; d++)
        offset = jy_ve2(b, JY_FLOW_ADD, JY_F_I64, offset, scaled(b, indices[d], array->stride[d]));
    if (n == array->ndim) {
        jy_dtype dtype = (jy_dtype)array->dtype;
        *out = jy_val_reg(b, JY_K_NP, dtype, jy_vscalar_load(b, dtype, data_of(v), offset, array->alias));
        return JY_OK;
    }
    for (size_t d = 0; d < n; d++)
        array = row_of(b, array);
    *out = jy_val_new(b, JY_K_ARRAY, 1);
    (*out)->array = array;
    (*out)->regs[0] = jy_ve2(b, JY_FLOW_OFFSET, JY_F_PTR, data_of(v), offset);
    return JY_OK;
}

jy_status
jy_varray_at(struct jy_vbuild *b, struct jy_val **out, struct jy_val *array, jy_fv index)
{
    return read_at(b, out, array, 1, &index);
}

/* An int, or a tuple of ints: wrapped into the extents, with an exit where that cannot be. */
static jy_status
indices_of(struct jy_vbuild *b, size_t *n, jy_fv *indices, const struct jy_val *v, struct jy_val *key)
{
    const struct jy_varray *array = v->array;
    struct jy_val *const *keys = key->kind == JY_K_TUPLE ? key->parts : &key;
    *n = key->kind == JY_K_TUPLE ? key->nparts : 1;
    if (*n == 0 || *n > array->ndim)
        return jy_vb_lacks(b, "%zu indices for %u axes", *n, array->ndim);
    for (size_t d = 0; d < *n; d++) {
        if (keys[d]->kind == JY_K_BOOL)
            return jy_vb_lacks(b, "a bool as an index");
        TRY(jy_vas_index(b, &indices[d], keys[d]));
    }
    for (size_t d = 0; d < *n; d++)
        indices[d] = jy_ve2x(b, JY_FLOW_WRAP, JY_F_I64, indices[d], array->extent[d], "index out of range");
    return JY_OK;
}

jy_status
jy_varray_get(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, struct jy_val *key)
{
    jy_fv indices[JY_MAX_NDIM];
    size_t n;
    TRY(indices_of(b, &n, indices, v, key));
    return read_at(b, out, v, n, indices);
}

/* ---- stores ---- */

jy_status
jy_varray_set(struct jy_vbuild *b, struct jy_val *v, struct jy_val *key, struct jy_val *item)
{
    const struct jy_varray *array = v->array;
    size_t nkeys = key->kind == JY_K_TUPLE ? key->nparts : 1, n;
    jy_fv indices[JY_MAX_NDIM], value;
    item = jy_vnumber(b, item);
    if (nkeys != array->ndim || !jy_val_is_number(item))
        return jy_vb_lacks(b, "a store into more than one element");
    TRY(jy_vb_effect(b));
    TRY(jy_vb_will_write(b, array));
    TRY(indices_of(b, &n, indices, v, key));
    value = jy_vscalar_stored(b, (jy_dtype)array->dtype, item);
    jy_fv offset = scaled(b, indices[0], array->stride[0]);
    for (size_t d = 1; d < n; d++)
        offset = jy_ve2(b, JY_FLOW_ADD, JY_F_I64, offset, scaled(b, indices[d], array->stride[d]));
    jy_flow_store(b->w, b->block, data_of(v), offset, 0, value, array->alias);
    return JY_OK;
}

/* ---- attributes ---- */

jy_status
jy_varray_attr(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, const char *name)
{
    const struct jy_varray *array = v->array;
    if (strcmp(name, "shape") == 0) {
        struct jy_val *parts[JY_MAX_NDIM];
        for (size_t d = 0; d < array->ndim; d++)
            parts[d] = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, array->extent[d]);
        *out = jy_val_parts(b, JY_K_TUPLE, array->ndim, parts);
        return JY_OK;
    }
    if (strcmp(name, "ndim") == 0) {
        *out = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, jy_vint(b, array->ndim));
        return JY_OK;
    }
    if (strcmp(name, "size") == 0) {
        jy_fv size = jy_vint(b, 1);
        for (size_t d = 0; d < array->ndim; d++)
            size = jy_ve2(b, JY_FLOW_MUL, JY_F_I64, size, array->extent[d]);
        *out = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, size);
        return JY_OK;
    }
    return jy_vb_lacks(b, "the attribute %s of an array", name);
}
