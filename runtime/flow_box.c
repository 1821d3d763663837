/* How the objects of an exit are made. Each struct jy_box becomes one object, parts before the whole, so that two uses of a box are one object. Numbers come from CPython's and NumPy's own
 * constructors: the small ints and the bools are the cached ones. Nothing here runs code of the program's: the types of all parts are builtin ones or arrays, as flows only have such. */
#include "runtime/flow_box.h"
#include "frontend/cpython/iter.h"
#include "frontend/frontend.h"
#include "runtime/exec_internal.h"
#include "runtime/flow_native.h"
#include "runtime/flow_vector.h"
#include "runtime/numpy_api.h"
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#define ON_STACK 128u

struct box_step {
    const struct jy_box *box;
    uint32_t *parts; /* steps */
};

struct jy_boxing {
    struct {
        struct box_step *at;
        size_t n, cap;
    } steps;
    uint32_t *roots; /* step of each item: stack, then locals, frame by frame; of RETURN the one */
    size_t nroots;
};

/* -- the order, once ----------------------------------------------------------------------------------------------------------------- */

static uint32_t
add_box(struct jy_arena *arena, struct jy_boxing *b, const struct jy_box *box)
{
    for (size_t k = 0; k < b->steps.n; k++)
        if (b->steps.at[k].box == box)
            return (uint32_t)k;
    uint32_t *parts = JY_NEW_ARRAY(arena, uint32_t, box->n + 1);
    for (size_t k = 0; k < box->n; k++)
        parts[k] = add_box(arena, b, box->parts[k]);
    *jy_vec_push(arena, &b->steps) = (struct box_step){ box, parts };
    return (uint32_t)b->steps.n - 1;
}

static void
add_boxes(struct jy_arena *arena, struct jy_boxing *b, struct jy_box *const *boxes, size_t n)
{
    static const struct jy_box unbound = { .how = JY_BOX_NULL };
    for (size_t k = 0; k < n; k++)
        b->roots[b->nroots++] = add_box(arena, b, boxes[k] != NULL ? boxes[k] : &unbound);
}

struct jy_boxing *
jy_boxing_new(struct jy_arena *arena, const struct jy_flow_exit *exit)
{
    struct jy_boxing *b = JY_NEW(arena, struct jy_boxing);
    size_t most = 1 + exit->x_depth + exit->x_nlocals;
    for (size_t k = 0; k < exit->x_ninner; k++)
        most += exit->x_inner[k].x_depth + exit->x_inner[k].x_nlocals;
    b->roots = JY_NEW_ARRAY(arena, uint32_t, most);
    if (exit->x_boxes != NULL)
        add_boxes(arena, b, exit->x_boxes, exit->x_kind == JY_EXIT_RETURN ? 1 : exit->x_depth + exit->x_nlocals);
    for (size_t k = 0; k < exit->x_ninner; k++)
        add_boxes(arena, b, exit->x_inner[k].x_boxes, exit->x_inner[k].x_depth + exit->x_inner[k].x_nlocals);
    return b;
}

bool
jy_boxing_has_views(const struct jy_boxing *b)
{
    for (size_t k = 0; k < b->steps.n; k++)
        if (b->steps.at[k].box->how == JY_BOX_VIEW && b->steps.at[k].box->parts[0]->how != JY_BOX_FRESH)
            return true;
    return false;
}

/* -- kinds of box -------------------------------------------------------------------------------------------------------------------- */

/* refs: new. The slot's unused bytes are anything. */
static PyObject *
box_number(const struct jy_box *box, union jy_scalar value)
{
    if (box->dtype == JY_BOOL || box->kind == JY_KIND_PYBOOL)
        value.i = (value.bits & 0xff) != 0;
    else if (box->dtype == JY_I32)
        value.i = (int32_t)value.bits;
    return jy_wrap_scalar(box->kind, (jy_dtype)box->dtype, value);
}

static PyObject *
box_complex(const struct jy_box *box, const union jy_scalar *values)
{
    if (box->kind != JY_KIND_NPSCALAR)
        return PyComplex_FromDoubles(values[0].d, values[1].d);
    PyCDoubleScalarObject *made = PyObject_Malloc((size_t)PyCDoubleArrType_Type.tp_basicsize);
    if (made == NULL)
        return PyErr_NoMemory();
    double parts[2] = { values[0].d, values[1].d };
    memcpy(&made->obval, parts, sizeof parts);
    return PyObject_Init((PyObject *)made, &PyCDoubleArrType_Type);
}

static PyObject *
box_sequence(const struct box_step *step, PyObject *const *made)
{
    Py_ssize_t n = (Py_ssize_t)step->box->n;
    bool is_list = step->box->how == JY_BOX_LIST;
    PyObject *whole = is_list ? PyList_New(n) : PyTuple_New(n);
    for (Py_ssize_t k = 0; whole != NULL && k < n; k++) {
        PyObject *part = Py_NewRef(made[step->parts[k]]);
        if (is_list)
            PyList_SET_ITEM(whole, k, part);
        else
            PyTuple_SET_ITEM(whole, k, part);
    }
    return whole;
}

static PyObject *
box_call(PyTypeObject *type, const struct box_step *step, PyObject *const *made)
{
    PyObject **args = alloca((step->box->n + 1) * sizeof *args);
    for (size_t k = 0; k < step->box->n; k++)
        args[k] = made[step->parts[k]];
    return PyObject_Vectorcall((PyObject *)type, args, step->box->n, NULL);
}

/* refs: new. 0: of a variable that is not bound */
static PyObject *
box_fresh(const struct jy_box *box, const union jy_scalar *values, struct jy_vectors *vectors)
{
    int type = jy_dtype_info[box->dtype].number;
    npy_intp dims[JY_MAX_NDIM];
    for (size_t d = 0; d < box->ndim; d++)
        dims[d] = values[1 + d].i;
    if (values[0].bits == 0)
        return Py_NewRef(Py_None);
    const char *data = (const char *)(uintptr_t)values[0].bits;
    PyObject *made = jy_vectors_hand_out(vectors, data, box->ndim, dims, type);
    if (made != NULL)
        return made;
    made = PyArray_SimpleNew(box->ndim, dims, type);
    if (made != NULL)
        memcpy(PyArray_DATA((PyArrayObject *)made), data, (size_t)PyArray_NBYTES((PyArrayObject *)made));
    return made;
}

/* `value`: those of the exit. */
static PyObject *
box_view(const struct jy_box *box, const union jy_scalar *value, PyObject *base)
{
    int64_t shape[JY_MAX_NDIM];
    const union jy_scalar *values = value + box->value;
    struct jy_desc desc = { .data = (char *)(uintptr_t)values[0].bits };
    if (values[0].bits == 0 || base == Py_None)
        return Py_NewRef(Py_None);
    if (box->parts[0]->how == JY_BOX_FRESH)
        desc.data = PyArray_BYTES((PyArrayObject *)base) + (values[0].i - value[box->parts[0]->value].i);
    /* NumPy gives a new array of nothing strides of 0, and so they are in its views. */
    bool steps = box->parts[0]->how != JY_BOX_FRESH || PyArray_SIZE((PyArrayObject *)base) != 0;
    for (size_t d = 0; d < box->ndim; d++) {
        shape[d] = values[1 + d].i;
        desc.stride[d] = steps ? values[1 + box->ndim + d].i : 0;
    }
    return jy_wrap_view((jy_dtype)box->dtype, box->ndim, shape, &desc, base);
}

static PyObject *
box_range_iter(const union jy_scalar *values)
{
    struct jy_range range = { values[0].i, values[1].i, values[2].i };
    return jy_range_iter_new(&range);
}

static PyObject *
box_one(const struct box_step *step, const struct jy_unit *unit, const union jy_scalar *values, PyObject *const *inputs,
        PyObject *const *made, struct jy_vectors *vectors)
{
    const struct jy_box *box = step->box;
    const uint32_t *parts = step->parts;
    const union jy_scalar *all = values;
    values += box->value;
    switch ((enum jy_box_how)box->how) {
    case JY_BOX_NULL:
        return NULL;
    case JY_BOX_INPUT:
        return Py_NewRef(inputs[box->number]);
    case JY_BOX_CONST:
        return Py_NewRef(jy_unit_object(unit, box->object));
    case JY_BOX_NUMBER:
        return box_number(box, values[0]);
    case JY_BOX_CHAR:
        return PyUnicode_FromOrdinal((int)values[0].i);
    case JY_BOX_COMPLEX:
        return box_complex(box, values);
    case JY_BOX_OBJECT: /* 0: of a variable that is not bound, which nobody gets to see */
        return Py_NewRef(values[0].bits == 0 ? Py_None : (PyObject *)(uintptr_t)values[0].bits);
    case JY_BOX_NATIVE:
        return jy_flow_native_object((struct jy_flow_list *)(uintptr_t)values[0].bits);
    case JY_BOX_TUPLE:
    case JY_BOX_LIST:
        return box_sequence(step, made);
    case JY_BOX_RANGE:
        return box_call(&PyRange_Type, step, made);
    case JY_BOX_SLICE:
        return PySlice_New(made[parts[0]], made[parts[1]], made[parts[2]]);
    case JY_BOX_VIEW:
        return box_view(box, all, made[parts[0]]);
    case JY_BOX_FRESH:
        return box_fresh(box, values, vectors);
    case JY_BOX_RANGE_ITER:
        return box_range_iter(values);
    case JY_BOX_SEQ_ITER:
    case JY_BOX_REVERSED_ITER:
        return jy_seq_iter_new(made[parts[0]], box->how == JY_BOX_REVERSED_ITER, values[0].i);
    case JY_BOX_ENUMERATE:
        return box_call(&PyEnum_Type, step, made);
    case JY_BOX_ZIP:
        return box_call(&PyZip_Type, step, made);
    case JY_BOX_METHOD:
        return PyObject_GetAttr(made[parts[0]], jy_unit_object(unit, box->object));
    case JY_BOX_MAYBE:
        if ((values[0].bits & 0xff) != 0)
            return Py_NewRef(made[parts[0]]);
        return box->n == 2 ? Py_XNewRef(made[parts[1]]) : NULL;
    }
    return NULL;
}

/* -- an exit -------------------------------------------------------------------------------------------------------------------------- */

bool
jy_boxing_make(PyObject **out, const struct jy_boxing *b, const struct jy_unit *unit, const union jy_scalar *values,
               PyObject *const *inputs, struct jy_vectors *vectors)
{
    size_t n = b->steps.n, k = 0;
    PyObject *on_stack[ON_STACK], **made = n <= ON_STACK ? on_stack : malloc(n * sizeof *made);
    if (made == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (; k < n; k++) {
        made[k] = box_one(&b->steps.at[k], unit, values, inputs, made, vectors);
        if (made[k] == NULL && b->steps.at[k].box->how != JY_BOX_NULL && b->steps.at[k].box->how != JY_BOX_MAYBE)
            break;
    }
    bool good = k == n;
    for (size_t r = 0; good && r < b->nroots; r++)
        out[r] = Py_XNewRef(made[b->roots[r]]);
    while (k-- > 0)
        Py_XDECREF(made[k]);
    if (made != on_stack)
        free(made);
    return good;
}

size_t
jy_boxing_count(const struct jy_boxing *b)
{
    return b->nroots;
}
