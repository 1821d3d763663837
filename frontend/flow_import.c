/* Objects from outside, as values of a flow: numbers in registers, arrays by their parts, lists by their address. Numbers are never baked: a flow fits whatever values come. */
#include "frontend/cpython/iter.h"
#include "frontend/flow.h"
#include "frontend/np_internal.h"

#include <math.h>
#include <string.h>

enum { MAX_TUPLE = 8, SAMPLE = 16, MAX_ELEM_DEPTH = 4 }; /* taste */

/* ---- inputs ---- */

uint32_t
jy_vb_input(struct jy_vbuild *b, jy_src source, enum jy_kind kind, jy_dtype dtype)
{
    struct jy_unit *unit = b->t->unit;
    for (size_t k = 0; k < unit->u_inputs.n; k++)
        if (unit->u_inputs.at[k].source == source)
            return (uint32_t)k;
    bool is_object = (uint8_t)kind == JY_INPUT_OBJECT;
    bool in_graph = !is_object && dtype < JY_DTYPE_COUNT;
    jy_ref node =
        jy_graph_placeholder(b->t->graph, in_graph ? kind : JY_KIND_PYFLOAT, in_graph ? dtype : JY_F64, 0, NULL, NULL);
    jy_input_add(b->frame->f, source, kind, dtype, node, NULL);
    return (uint32_t)unit->u_inputs.n - 1;
}

static jy_fv
input_part(struct jy_vbuild *b, enum jy_flow_input_kind kind, enum jy_ftype type, uint32_t number, size_t axis)
{
    struct jy_flow_input input = {
        .kind = (uint8_t)kind, .type = (uint8_t)type, .axis = (uint8_t)axis, .number = number
    };
    return jy_flow_input(b->w, &input);
}

static struct jy_val *
number_input(struct jy_vbuild *b, jy_src source, enum jy_vkind kind, enum jy_kind as, jy_dtype dtype)
{
    uint32_t number = jy_vb_input(b, source, as, dtype);
    struct jy_flow_input input = {
        .kind = JY_FLOW_IN_NUMBER, .type = (uint8_t)jy_vtype_of_dtype(dtype), .dtype = (uint8_t)dtype, .number = number
    };
    jy_fv reg = jy_flow_input(b->w, &input);
    return jy_val_reg(b, kind, kind == JY_K_NP ? dtype : JY_DTYPE_NONE, reg);
}

static struct jy_val *
object_input(struct jy_vbuild *b, jy_src source, struct jy_value *v)
{
    struct jy_val *out = jy_val_new(b, JY_K_OBJECT, 0);
    out->known = v;
    out->input = jy_vb_input(b, source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE) + 1;
    return out;
}

jy_fv
jy_vb_object_address(struct jy_vbuild *b, uint32_t number)
{
    return input_part(b, JY_FLOW_IN_OBJECT, JY_F_PTR, number, 0);
}

bool
jy_vis_nan(const struct jy_val *v)
{
    return v->kind == JY_K_KNOWN && v->known->v_kind == JY_V_CONST && PyFloat_CheckExact(v->known->v_object);
}

jy_fv
jy_vnan_object(struct jy_vbuild *b, const struct jy_val *v)
{
    if (v->known->v_source == JY_NO_SOURCE)
        return jy_vaddress(b, v->known->v_object);
    uint32_t number = jy_vb_input(b, v->known->v_source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE);
    return input_part(b, JY_FLOW_IN_OBJECT, JY_F_PTR, number, 0);
}

struct jy_val *
jy_vnumber(struct jy_vbuild *b, struct jy_val *v)
{
    if (!jy_vis_nan(v))
        return v;
    return jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, jy_vfloat(b, PyFloat_AS_DOUBLE(v->known->v_object)));
}

/* ---- lists ---- */

static const struct jy_velem *elem_of(struct jy_vbuild *b, PyObject *o, int depth);

/* NULL: of no kind that flows have. */
static const struct jy_velem *
elem_of_object(struct jy_vbuild *b, PyObject *item, int depth)
{
    struct jy_velem *elem = JY_NEW(b->arena, struct jy_velem);
    union jy_scalar value;
    jy_dtype dtype;
    if (PyBool_Check(item)) {
        elem->kind = JY_K_BOOL;
    } else if (PyLong_CheckExact(item)) {
        elem->kind = JY_K_INT;
    } else if (PyFloat_CheckExact(item)) {
        elem->kind = JY_K_FLOAT;
    } else if ((PyList_CheckExact(item) || PyTuple_CheckExact(item)) && depth < MAX_ELEM_DEPTH) {
        elem->kind = JY_K_LIST;
        elem->is_tuple = PyTuple_CheckExact(item);
        elem->elem = elem_of(b, item, depth + 1);
    } else if (jy_inspect_element(&dtype, &value, item)) {
        elem->kind = JY_K_NP;
        elem->dtype = (uint8_t)dtype;
    } else {
        return NULL;
    }
    return elem;
}

/* From a few items, the first and the last among them. */
static const struct jy_velem *
elem_of(struct jy_vbuild *b, PyObject *o, int depth)
{
    struct jy_velem *unknown = JY_NEW(b->arena, struct jy_velem);
    bool is_sequence = PyList_CheckExact(o) || PyTuple_CheckExact(o);
    Py_ssize_t n = is_sequence ? PySequence_Fast_GET_SIZE(o) : 0, count = n < SAMPLE ? n : SAMPLE;
    const struct jy_velem *elem = unknown;
    unknown->kind = PyBytes_CheckExact(o) ? JY_K_BYTE : JY_K_UNBOUND;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *item = PySequence_Fast_GET_ITEM(o, count == n ? k : k * (n - 1) / (count - 1));
        const struct jy_velem *of_item = item == NULL ? NULL : elem_of_object(b, item, depth);
        if (of_item != NULL)
            elem = jy_velem_merge(b, elem, of_item);
    }
    return elem;
}

const struct jy_velem *
jy_velem_of(struct jy_vbuild *b, PyObject *sequence)
{
    return elem_of(b, sequence, 0);
}

static struct jy_val *
list_input(struct jy_vbuild *b, jy_src source, PyObject *object)
{
    uint32_t number = jy_vb_input(b, source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE);
    struct jy_val *v = jy_val_new(b, JY_K_LIST, 1);
    v->is_tuple = PyTuple_CheckExact(object);
    v->elem = jy_velem_of(b, object);
    v->input = number + 1;
    jy_vlist_set_origin(b, v, true, number);
    if (!jy_vnative_import(b, v, number)) {
        v->regs[0] = input_part(b, JY_FLOW_IN_OBJECT, JY_F_PTR, number, 0);
        jy_vnative_import_object(b, v);
    }
    return v;
}

/* ---- arrays ---- */

static jy_fv
entry_op(struct jy_vbuild *b, enum jy_fop op, jy_fv x, jy_fv y)
{
    jy_fv args[] = { x, y };
    return jy_flow_op(b->w, 0, op, JY_F_I64, 2, args, JY_NO_EXIT);
}

static struct jy_varray *
describe_array(struct jy_vbuild *b, struct jy_value *v)
{
    const struct jy_storage *storage = v->u.array.storage;
    for (size_t i = 0; i < b->arrays.n; i++)
        if (b->arrays.at[i]->value->u.array.storage == storage)
            return b->arrays.at[i];
    struct jy_varray *a = JY_NEW(b->arena, struct jy_varray);
    const struct jy_array_guard *guard = b->t->unit->u_inputs.at[storage->input].array;
    size_t ndim = v->u.array.ndim, itemsize = jy_dtype_info[v->u.array.dtype].bytes;
    a->value = v;
    a->input = storage->input;
    a->dtype = v->u.array.dtype;
    a->ndim = (uint8_t)ndim;
    a->base = a;
    a->alias = jy_vb_new_alias(b);
    if (a->alias != 0)
        b->w->w_alias[a->alias - 1] = a->input;
    a->data = input_part(b, JY_FLOW_IN_DATA, JY_F_PTR, a->input, 0);
    for (size_t d = 0; d < ndim; d++)
        a->extent[d] = input_part(b, JY_FLOW_IN_EXTENT, JY_F_I64, a->input, d);
    for (size_t d = 0; d < ndim; d++)
        a->about[d] = jy_np_hint(b->frame->f, v->u.array.shape[d]);
    for (size_t d = ndim; d-- > 0;) {
        bool last = d + 1 == ndim;
        if (!guard->c_contiguous && !(guard->inner_unit && guard->order[ndim - 1] == d))
            a->stride[d] = input_part(b, JY_FLOW_IN_STRIDE, JY_F_I64, a->input, d);
        else if (last || !guard->c_contiguous)
            a->stride[d] = jy_flow_const(b->w, 0, JY_F_I64, (union jy_scalar){ .i = (int64_t)itemsize });
        else
            a->stride[d] = entry_op(b, JY_FLOW_MUL, a->stride[d + 1], a->extent[d + 1]);
    }
    *jy_vec_push(b->arena, &b->arrays) = a;
    return a;
}

jy_status
jy_vb_array(struct jy_vbuild *b, struct jy_val **out, struct jy_value *v)
{
    if (v->u.array.view != NULL || v->u.array.storage->fresh || v->u.array.storage->of != NULL)
        return jy_vb_lacks(b, "a view that was made outside of the loop");
    *out = jy_val_new(b, JY_K_ARRAY, 0);
    (*out)->array = describe_array(b, v);
    (*out)->input = (*out)->array->input + 1;
    return JY_OK;
}

jy_status
jy_vb_will_write(struct jy_vbuild *b, const struct jy_varray *array)
{
    TRY(jy_np_will_write(b->frame->f, array->base->value));
    if (array->alias != 0)
        b->w->w_alias_written[array->alias - 1] = true;
    return JY_OK;
}

/* ---- values ---- */

static struct jy_val *
constant(struct jy_vbuild *b, struct jy_value *v)
{
    PyObject *o = v->v_object;
    if (PyBool_Check(o))
        return jy_val_reg(b, JY_K_BOOL, JY_DTYPE_NONE, jy_vbool(b, o == Py_True));
    if (PyFloat_CheckExact(o) && isnan(PyFloat_AS_DOUBLE(o)))
        return jy_val_known(b, v); /* a number where it is computed with: jy_vnumber */
    if (PyFloat_CheckExact(o))
        return jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, jy_vfloat(b, PyFloat_AS_DOUBLE(o)));
    if (PyLong_CheckExact(o)) {
        int overflow;
        int64_t value = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (overflow == 0)
            return jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, jy_vint(b, value));
    }
    if (PyComplex_CheckExact(o)) {
        Py_complex value = PyComplex_AsCComplex(o);
        return jy_val_complex(b, jy_vfloat(b, value.real), jy_vfloat(b, value.imag));
    }
    jy_dtype dtype;
    union jy_scalar value;
    if (jy_inspect_element(&dtype, &value, o))
        return jy_val_reg(b, JY_K_NP, dtype, jy_flow_const(b->w, b->block, jy_vtype_of_dtype(dtype), value));
    return jy_val_known(b, v);
}

static jy_status
import_tuple(struct jy_vbuild *b, struct jy_val **out, size_t n, struct jy_value *const *items)
{
    struct jy_val **parts = JY_NEW_ARRAY(b->arena, struct jy_val *, n + 1);
    for (size_t i = 0; i < n; i++)
        TRY(jy_vb_import(b, &parts[i], items[i]));
    *out = jy_val_parts(b, JY_K_TUPLE, n, parts);
    return JY_OK;
}

static jy_status
import_range(struct jy_vbuild *b, struct jy_val **out, struct jy_value *v)
{
    struct jy_value *parts[] = { v->u.range.start, v->u.range.stop, v->u.range.step };
    struct jy_val *range = jy_val_new(b, JY_K_RANGE, 3), *part;
    for (size_t i = 0; i < 3; i++) {
        TRY(jy_vb_import(b, &part, parts[i]));
        if (part->kind != JY_K_INT)
            return jy_vb_lacks(b, "a range of large numbers");
        range->regs[i] = part->regs[0];
    }
    range->fixed_step = jy_vconst(b, range->regs[2], &range->step);
    *out = range;
    return JY_OK;
}

/* A value that has been looked at. */
static jy_status
import_realized(struct jy_vbuild *b, struct jy_val **out, struct jy_value *v)
{
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_CONST:
        if (PyTuple_CheckExact(v->v_object)) {
            struct jy_value **items;
            size_t n;
            TRY(jy_value_items(b->frame->f, &items, &n, v));
            if (items != NULL && n <= MAX_TUPLE)
                return import_tuple(b, out, n, items);
        }
        *out = constant(b, v);
        return JY_OK;
    case JY_V_ARRAY:
        return jy_vb_array(b, out, v);
    case JY_V_SCALAR:
        if (v->v_source == JY_NO_SOURCE)
            break;
        if (v->u.scalar.kind == JY_KIND_NPSCALAR)
            *out = number_input(b, v->v_source, JY_K_NP, JY_KIND_NPSCALAR, (jy_dtype)v->u.scalar.dtype);
        else if (v->u.scalar.kind == JY_KIND_PYFLOAT)
            *out = number_input(b, v->v_source, JY_K_FLOAT, JY_KIND_PYFLOAT, JY_F64);
        else if (v->u.scalar.kind == JY_KIND_PYINT)
            *out = number_input(b, v->v_source, JY_K_INT, JY_KIND_PYINT, JY_I64);
        else
            break;
        return JY_OK;
    case JY_V_TUPLE:
        return import_tuple(b, out, v->u.seq.n, v->u.seq.at);
    case JY_V_RANGE:
        return import_range(b, out, v);
    case JY_V_FUNCTION:
    case JY_V_CALLABLE:
    case JY_V_MODULE:
        *out = jy_val_known(b, v);
        return JY_OK;
    case JY_V_METHOD:
        if (v->u.func.function != NULL || v->u.func.name == NULL)
            break;
        *out = jy_val_new(b, JY_K_METHOD, 0);
        (*out)->name = v->u.func.name;
        (*out)->nparts = 1;
        (*out)->parts = JY_NEW_ARRAY(b->arena, struct jy_val *, 1);
        return jy_vb_import(b, &(*out)->parts[0], v->u.func.self);
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_LIST:
    case JY_V_DICT:
    case JY_V_SLICE:
    case JY_V_ITER:
    case JY_V_CELL:
    case JY_V_OPAQUE:
    case JY_V_SET:
    case JY_V_DICTVIEW:
    case JY_V_HANDLED:
    case JY_V_EXCEPTION:
    case JY_V_INSTANCE:
    case JY_V_PARTIAL:
        break;
    }
    if (v->v_source == JY_NO_SOURCE)
        return jy_vb_lacks(b, "%s", jy_value_describe(b->frame->f, v));
    *out = object_input(b, v->v_source, v);
    return JY_OK;
}

static bool
fits_int64(PyObject *o)
{
    int overflow;
    (void)PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow == 0;
}

static jy_status
import_lazy(struct jy_vbuild *b, struct jy_val **out, struct jy_value *v)
{
    struct jy_frame *f = b->frame->f;
    PyObject *o = v->v_object;
    if (PyBool_Check(o)) {
        jy_guard_type(f, v->v_source, &PyBool_Type);
        *out = number_input(b, v->v_source, JY_K_BOOL, JY_KIND_PYBOOL, JY_BOOL);
        return JY_OK;
    }
    if (PyLong_CheckExact(o) && fits_int64(o) && !jy_source_is_fixed(f, v->v_source)) {
        jy_guard_type(f, v->v_source, &PyLong_Type);
        *out = number_input(b, v->v_source, JY_K_INT, JY_KIND_PYINT, JY_I64);
        return JY_OK;
    }
    if (PyComplex_CheckExact(o)) { /* never pinned by its value: read from the object */
        jy_guard_type(f, v->v_source, &PyComplex_Type);
        uint32_t number = jy_vb_input(b, v->v_source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE);
        jy_fv address = input_part(b, JY_FLOW_IN_OBJECT, JY_F_PTR, number, 0);
        jy_fv zero = jy_flow_const(b->w, 0, JY_F_I64, (union jy_scalar){ .i = 0 });
        *out =
            jy_val_complex(b, jy_flow_load(b->w, 0, JY_F_F64, address, zero, offsetof(PyComplexObject, cval.real), 0),
                           jy_flow_load(b->w, 0, JY_F_F64, address, zero, offsetof(PyComplexObject, cval.imag), 0));
        return JY_OK;
    }
    if (PyLong_CheckExact(o) && !fits_int64(o)) {
        *out = object_input(b, v->v_source, v);
        return JY_OK;
    }
    if (PyList_CheckExact(o) || PyBytes_CheckExact(o) || (PyTuple_CheckExact(o) && PyTuple_GET_SIZE(o) > MAX_TUPLE)) {
        jy_guard_type(f, v->v_source, Py_TYPE(o));
        *out = list_input(b, v->v_source, o);
        return JY_OK;
    }
    if (PyDict_CheckExact(o) || PySet_CheckExact(o)) {
        *out = object_input(b, v->v_source, v);
        return JY_OK;
    }
    jy_status status = jy_value_realize(f, v);
    if (status == JY_BREAK) {
        *out = object_input(b, v->v_source, v);
        return JY_OK;
    }
    TRY(status);
    return import_realized(b, out, v);
}

/* Tuples, ranges, methods and arrays that came in are given back as they are. */
static void
set_input(struct jy_vbuild *b, struct jy_val *v, jy_src source)
{
    if (source != JY_NO_SOURCE && (v->kind == JY_K_TUPLE || v->kind == JY_K_RANGE || v->kind == JY_K_METHOD))
        v->input = jy_vb_input(b, source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE) + 1;
}

jy_status
jy_vb_import(struct jy_vbuild *b, struct jy_val **out, struct jy_value *v)
{
    for (size_t i = 0; i < b->imported.n; i++) {
        if (b->imported.at[i].from == v) {
            *out = b->imported.at[i].to;
            return JY_OK;
        }
    }
    if (v->v_kind == JY_V_LAZY)
        TRY(import_lazy(b, out, v));
    else
        TRY(import_realized(b, out, v));
    if (v->v_source == JY_NO_SOURCE) /* its registers may be of this block only */
        return JY_OK;
    bool is_local_constant = (jy_val_is_number(*out) || (*out)->kind == JY_K_COMPLEX) &&
                             jy_flow_at(b->w, (*out)->regs[0])->f_op == JY_FLOW_CONST;
    if (is_local_constant)
        return JY_OK;
    set_input(b, *out, v->v_source);
    struct jy_vimport *kept = jy_vec_push(b->arena, &b->imported);
    kept->from = v;
    kept->to = *out;
    return JY_OK;
}

/* ---- the start ---- */

/* Of an object that list_iterator, tuple_iterator and iterator (over sequences) begin with, on all versions. */
struct sequence_iterator {
    PyObject_HEAD Py_ssize_t index;
    PyObject *sequence;
};

/* The array that an iterator goes over, if a local variable holds it. */
static struct jy_val *
local_array(const struct jy_vbuild *b, const PyObject *array)
{
    for (size_t i = 0; i < b->frame->nlocals; i++) {
        const struct jy_value *v = b->frame->f->f_locals[i];
        if (v != NULL && v->v_object == array && b->frame->locals[i]->kind == JY_K_ARRAY)
            return b->frame->locals[i];
    }
    return NULL;
}

/* What the flow is given of the array is guarded; whether the iterator goes over this one is asked before each run. */
static jy_status
import_array_iterator(struct jy_vbuild *b, struct jy_val **out, struct jy_value *v)
{
    PyObject *sequence = ((struct sequence_iterator *)v->v_object)->sequence;
    struct jy_val *array = sequence != NULL ? local_array(b, sequence) : NULL;
    if (array == NULL || array->array->ndim == 0)
        return jy_vb_lacks(b, "an iterator over what no variable holds");
    jy_guard_type(b->frame->f, v->v_source, &PySeqIter_Type);
    uint32_t number = jy_vb_input(b, v->v_source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE);
    b->t->unit->u_inputs.at[number].goes_over = array->array->input + 1;
    struct jy_val *it = jy_val_parts(b, JY_K_ITER, 1, &array);
    it->how = JY_VI_SEQUENCE;
    it->nregs = 1;
    it->regs[0] = input_part(b, JY_FLOW_IN_INDEX, JY_F_I64, number, 0);
    *out = it;
    return JY_OK;
}

static jy_status
import_iterator(struct jy_vbuild *b, struct jy_val **out, struct jy_value *v)
{
    struct jy_frame *f = b->frame->f;
    PyObject *o = v->v_object;
    jy_guard_type(f, v->v_source, Py_TYPE(o));
    uint32_t number = jy_vb_input(b, v->v_source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE);
    if (Py_IS_TYPE(o, &PyRangeIter_Type)) {
        struct jy_val *it = jy_val_new(b, JY_K_ITER, 3);
        it->how = JY_VI_RANGE;
        it->is_outside = true;
        for (size_t i = 0; i < 3; i++)
            it->regs[i] = input_part(b, JY_FLOW_IN_RANGE, JY_F_I64, number, i);
        struct jy_range now;
        if (jy_range_get(&now, o))
            it->step = now.step;
        *out = it;
        return JY_OK;
    }
    PyObject *sequence = ((struct sequence_iterator *)o)->sequence;
    if (sequence == NULL)
        return jy_vb_lacks(b, "an exhausted iterator");
    bool is_text = PyUnicode_CheckExact(sequence);
    struct jy_val *list = jy_val_new(b, is_text ? JY_K_TEXT : JY_K_LIST, 1);
    jy_fv address = input_part(b, JY_FLOW_IN_OBJECT, JY_F_PTR, number, 0);
    jy_fv zero = jy_flow_const(b->w, 0, JY_F_I64, (union jy_scalar){ .i = 0 });
    list->regs[0] = jy_flow_load(b->w, 0, JY_F_PTR, address, zero, offsetof(struct sequence_iterator, sequence), 0);
    list->is_tuple = PyTuple_CheckExact(sequence);
    if (!is_text) {
        list->elem = jy_velem_of(b, sequence);
        jy_vnative_import_object(b, list);
    }
    struct jy_val *it = jy_val_parts(b, JY_K_ITER, 1, &list);
    it->how = JY_VI_SEQUENCE;
    it->nregs = 1;
    it->regs[0] = input_part(b, JY_FLOW_IN_INDEX, JY_F_I64, number, 0);
    *out = it;
    return JY_OK;
}

jy_status
jy_vb_import_slot(struct jy_vbuild *b, struct jy_val **out, struct jy_value *v, size_t slot)
{
    struct jy_frame *f = b->frame->f;
    if (v->v_kind == JY_V_CELL) {
        *out = jy_val_new(b, JY_K_CELL, 0);
        (*out)->known = v;
        size_t nfree = (size_t)((PyCodeObject *)f->f_code)->co_nfreevars;
        if (slot < f->f_nlocals - nfree) {
            PyObject *name = jy_code_local_name(f->f_instrs, (int)slot);
            jy_src source = jy_source_add(b->t->unit, JY_SOURCE_LOCAL, 0, (uint32_t)slot, name);
            (*out)->input = jy_vb_input(b, source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE) + 1;
        }
        return JY_OK;
    }
    PyObject *o = v->v_object;
    if (v->v_kind == JY_V_LAZY && slot == SIZE_MAX &&
        (Py_IS_TYPE(o, &PyRangeIter_Type) || Py_IS_TYPE(o, &PyListIter_Type) || Py_IS_TYPE(o, &PyTupleIter_Type) ||
         Py_IS_TYPE(o, &PyBytesIter_Type) || jy_is_ascii_iter(o)))
        return import_iterator(b, out, v);
    if (v->v_kind == JY_V_LAZY && slot == SIZE_MAX && Py_IS_TYPE(o, &PySeqIter_Type))
        return import_array_iterator(b, out, v);
    if (v->v_kind == JY_V_LAZY && PyUnicode_CheckExact(o)) { /* passed on, not pinned */
        *out = object_input(b, v->v_source, v);
        return JY_OK;
    }
    return jy_vb_import(b, out, v);
}
