/* Checking guards: what a step looks at, and the walk over the steps of a call.
 *
 * Values are borrowed where their owner outlives the call and collected in `owned` elsewhere. Nothing here runs code of the program's: an attribute whose
 * look-up would counts as absent, and the call is a miss.
 *
 * A check that keeps failing moves to the front, as far as what it needs allows: calls that will be a miss should be one soon. */
#include "runtime/numpy_api.h"

#include "frontend/cpython/own.h"
#include "frontend/frontend.h"
#include "runtime/guard_internal.h"
#include <stdlib.h>
#include <string.h>

#define RAISE_AFTER 8u /* taste: failures until a check moves up */

/* -- loads ------------------------------------------------------------------------------------------------------------------------ */

/* An item of a module's or a function's dictionary: first where it was last. */
static PyObject *
dict_item(struct jy_gplace *place, PyObject *dict)
{
    if (dict == NULL || !PyDict_Check(dict))
        return NULL;
    PyObject *value = place->slot.s_key != NULL ? jy_compat_probe_slot(&place->slot, dict) : NULL;
    if (value != NULL)
        return value;
    value = PyDict_GetItemWithError(dict, place->name);
    if (value == NULL || !jy_compat_find_slot(&place->slot, dict, place->name))
        place->slot.s_key = NULL;
    return value;
}

static PyObject *
load_global(struct jy_gplace *place, PyObject *base)
{
    if (base == NULL || !PyFunction_Check(base))
        return NULL;
    const PyFunctionObject *f = (PyFunctionObject *)base;
    return dict_item(place, place->builtin ? f->func_builtins : f->func_globals);
}

PyObject *
jy_guards_load_fixed(const struct jy_gstep *s, PyObject *const *values)
{
    PyObject *base = values[s->a];
    if (s->op == JY_G_GLOBAL)
        return load_global(s->u.place, base);
    return base != NULL && PyModule_CheckExact(base) ? dict_item(s->u.place, PyModule_GetDict(base)) : NULL;
}

static PyObject *
tuple_item(PyObject *tuple, uint32_t index)
{
    return tuple != NULL && index < (size_t)PyTuple_GET_SIZE(tuple) ? PyTuple_GET_ITEM(tuple, index) : NULL;
}

static PyObject *
function_part(const struct jy_source *s, PyObject *base, PyObject *name)
{
    if (!PyFunction_Check(base))
        return NULL;
    const PyFunctionObject *f = (PyFunctionObject *)base;
    PyObject *cell;
    switch (s->kind) {
    case JY_SOURCE_KWDEFAULT:
        return f->func_kwdefaults != NULL ? PyDict_GetItemWithError(f->func_kwdefaults, name) : NULL;
    case JY_SOURCE_DEFAULT:
        return tuple_item(f->func_defaults, s->index);
    case JY_SOURCE_CELL:
        cell = tuple_item(f->func_closure, s->index);
        return cell != NULL ? PyCell_GET(cell) : NULL;
    default:
        return NULL;
    }
}

/* Might looking for it run Python code, as the hash of an enum's member does? */
static bool
is_hashed_by_code(PyObject *key)
{
    if (PyUnicode_CheckExact(key))
        return false;
    if (!PyTuple_Check(key))
        return PyType_HasFeature(Py_TYPE(Py_TYPE(key)), Py_TPFLAGS_HEAPTYPE);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++)
        if (is_hashed_by_code(PyTuple_GET_ITEM(key, i)))
            return true;
    return Py_TYPE(key)->tp_hash != PyTuple_Type.tp_hash;
}

/* refs: borrowed */
static PyObject *
value_at(PyObject *dict, PyObject *key)
{
    PyObject *here, *value;
    Py_ssize_t at = 0;
    if (!is_hashed_by_code(key))
        return PyDict_GetItemWithError(dict, key);
    while (PyDict_Next(dict, &at, &here, &value))
        if (here == key)
            return value;
    return NULL;
}

/* refs: borrowed */
static PyObject *
load_source(const struct jy_guard_program *p, const struct jy_source *s, PyObject *base)
{
    PyObject *name = s->name ? jy_unit_object(p->unit, s->name) : NULL;
    if (base == NULL)
        return NULL;
    switch (s->kind) {
    case JY_SOURCE_CONTENT:
        return PyCell_Check(base) ? PyCell_GET(base) : NULL;
    case JY_SOURCE_ITEM:
        if (PyTuple_Check(base))
            return tuple_item(base, s->index);
        if (PyList_Check(base))
            return s->index < (size_t)PyList_GET_SIZE(base) ? PyList_GET_ITEM(base, s->index) : NULL;
        return jy_own_is_deque(Py_TYPE(base)) ? jy_own_deque_item(base, s->index) : NULL;
    case JY_SOURCE_KEY:
        return PyDict_Check(base) ? value_at(base, name) : NULL;
    default:
        return function_part(s, base, name);
    }
}

/* refs: new */
static PyObject *
look_up(struct jy_gplace *place, PyObject *base)
{
    if (PyModule_CheckExact(base))
        return Py_XNewRef(dict_item(place, PyModule_GetDict(base)));
    if (!PyType_Check(base) && jy_own_has_foreign_keys(base)) /* no unit is made over such an object */
        return NULL;
    return jy_attribute_load(base, place->name);
}

/* refs: new */
static PyObject *
load_attribute(struct jy_gplace *place, PyObject *base)
{
    if (base == NULL)
        return NULL;
    PyObject *value = jy_probe_get(&place->probe, base);
    if (value != NULL)
        return Py_NewRef(value);
    value = look_up(place, base);
    jy_probe_learn(&place->probe, base, place->name, value);
    return value;
}

/* refs: new */
static PyObject *
load_method(struct jy_gplace *place, PyObject *base)
{
    if (base == NULL)
        return NULL;
    PyObject *function = jy_probe_get(&place->probe, base);
    if (function != NULL)
        return Py_NewRef(function);
    PyObject *bound = look_up(place, base);
    if (bound != NULL && PyMethod_Check(bound) && PyMethod_GET_SELF(bound) == base) {
        function = Py_NewRef(PyMethod_GET_FUNCTION(bound));
        jy_probe_learn_method(&place->probe, base, place->name, function);
    }
    Py_XDECREF(bound);
    return function;
}

static bool
is_not_own(struct jy_gplace *place, PyObject *object)
{
    if (object == NULL)
        return false;
    if (jy_probe_get(&place->probe, object) != NULL)
        return true;
    if (jy_own_attribute(object, place->name) != NULL)
        return false;
    jy_probe_learn_absence(&place->probe, object, place->name);
    return true;
}

/* An attribute that is not there is an answer; what else may have been raised is not. */
static bool
forgive(void)
{
    if (!PyErr_Occurred())
        return true;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError) && !PyErr_ExceptionMatches(PyExc_KeyError))
        return false;
    PyErr_Clear();
    return true;
}

/* -- checks ----------------------------------------------------------------------------------------------------------------------- */

/* ndarray: PyArray_Type, which the API's table would be asked for at every check */
static inline bool
is_c_array(PyObject *value, const PyTypeObject *ndarray, const struct jy_gstep *s)
{
    if (value == NULL || Py_TYPE(value) != ndarray)
        return false;
    const PyArrayObject_fields *array = (const PyArrayObject_fields *)value;
    if (array->descr != s->u.descr && (array->descr->type_num != s->u.descr->type_num || !jy_plain_descr(array->descr)))
        return false;
    return array->nd == s->ndim && ((uint32_t)array->flags & (s->b | JY_WARN_ON_WRITE)) == s->b &&
           (s->ndim != 1 || array->strides[0] >= 0); /* NumPy's inner loops see the stride of a single element, too */
}

static inline npy_intp
extent(PyObject *const *values, uint32_t value, uint8_t axis)
{
    return PyArray_DIM((PyArrayObject *)values[value], axis);
}

static bool
fits_int64(PyObject *value)
{
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0;
}

static bool
other_holds(const struct jy_guard_program *p, PyObject *const *values, const struct jy_gstep *s)
{
    return jy_guard_holds(p->unit, s->u.row, values[s->a], values[s->b], values) == 1;
}

/* -- the fixed part --------------------------------------------------------------------------------------------------------------- */

static enum jy_guard_result
miss(uint32_t *failed, uint32_t guard)
{
    *failed = guard;
    return PyErr_Occurred() ? JY_GUARDS_ERROR : JY_GUARDS_MISS;
}

static bool
fixed_holds(const struct jy_guard_program *p, const struct jy_gstep *s)
{
    PyObject *value = p->fixed_values[s->a];
    if (s->op == JY_G_TYPE)
        return value != NULL && (PyObject *)Py_TYPE(value) == s->u.object;
    if (s->op == JY_G_IS)
        return value != NULL && value == s->u.object;
    return other_holds(p, p->fixed_values, s);
}

static enum jy_guard_result
check_fixed(struct jy_guard_program *p, uint32_t *failed)
{
    for (const struct jy_gstep *s = p->fixed.at, *end = s + p->fixed.n; s < end; s++) {
        if (s->guard == JY_NO_GUARD) {
            p->fixed_values[s->to] = jy_guards_load_fixed(s, p->fixed_values);
            if (p->fixed_values[s->to] == NULL && !forgive())
                return JY_GUARDS_ERROR;
        } else if (!fixed_holds(p, s)) {
            return miss(failed, s->guard);
        }
    }
    for (size_t k = 0; k < p->ndicts; k++)
        p->dicts[k].tag = jy_probe_dict_tag(p->dicts[k].dict);
    for (size_t k = 0; k < p->ntypes; k++)
        p->types[k].tag = jy_compat_take_type_version(p->types[k].type);
    return JY_GUARDS_HOLD;
}

/* -- the order of checks ---------------------------------------------------------------------------------------------------------- */

static bool
is_load(const struct jy_gstep *s)
{
    return s->op <= JY_G_SOURCE || s->op == JY_G_PARAMETER_C_ARRAY;
}

static bool
reads_values(const struct jy_gstep *s)
{
    return s->op != JY_G_PARAMETER && s->op != JY_G_PARAMETER_C_ARRAY;
}

/* Whether `later` must stay behind `earlier`: it reads what that loads, or takes for an array what that found to be one. */
static bool
needs(const struct jy_gstep *later, const struct jy_gstep *earlier)
{
    bool is_row = later->op == JY_G_OTHER || later->op == JY_G_FITS_INT64, pair = later->op == JY_G_SAME_EXTENT;
    if (is_row) /* a size expression may be over any input */
        return true;
    if (!reads_values(later))
        return false;
    uint32_t subject = is_load(earlier) ? earlier->to : earlier->a;
    return subject == later->a ||
           ((pair || later->op == JY_G_SAME || later->op == JY_G_NOT_SAME) && subject == later->b);
}

/* Step k, behind the loads that it needs, as far to the front as it may go. */
static void
raise_step(struct jy_gsteps *steps, size_t k)
{
    for (size_t j = 0; j < k; j++)
        if (is_load(&steps->at[j]) && steps->at[j].op != JY_G_SOURCE && needs(&steps->at[k], &steps->at[j]))
            raise_step(steps, j);
    for (; k > 0 && !needs(&steps->at[k], &steps->at[k - 1]); k--) {
        struct jy_gstep step = steps->at[k];
        steps->at[k] = steps->at[k - 1];
        steps->at[k - 1] = step;
    }
}

static void
note_failure(struct jy_guard_program *p, struct jy_gstep *s)
{
    if (++s->failures < RAISE_AFTER || p->running != 0)
        return;
    s->failures = 0;
    raise_step(&p->per_call, (size_t)(s - p->per_call.at));
}

/* -- a call ------------------------------------------------------------------------------------------------------------------------ */

static inline bool
keep(struct jy_guard_values *out, uint32_t to, PyObject *value)
{
    out->values[to] = value;
    if (value == NULL)
        return forgive();
    out->owned[out->nowned++] = value;
    return true;
}

/* Where the walk stops: NULL at the end, else the step that fails (or raised). */
static struct jy_gstep *
walk(struct jy_guard_values *out, struct jy_guard_program *p, PyObject *const *slots)
{
    PyObject **values = out->values, *value;
    const PyTypeObject *ndarray = &PyArray_Type;
    for (struct jy_gstep *s = p->per_call.at, *end = s + p->per_call.n; s < end; s++) {
        switch ((enum jy_gop)s->op) {
        case JY_G_PARAMETER:
            values[s->to] = slots[s->a];
            break;
        case JY_G_COPY:
            values[s->to] = values[s->a];
            break;
        case JY_G_GLOBAL:
            values[s->to] = value = load_global(s->u.place, values[s->a]);
            if (value == NULL && !forgive())
                return s;
            break;
        case JY_G_ATTR:
            if (!keep(out, s->to, load_attribute(s->u.place, values[s->a])))
                return s;
            break;
        case JY_G_METHOD:
            if (!keep(out, s->to, load_method(s->u.place, values[s->a])))
                return s;
            break;
        case JY_G_SOURCE:
            values[s->to] = value = load_source(p, s->u.source, values[s->a]);
            if (value == NULL && !forgive())
                return s;
            break;
        case JY_G_C_ARRAY:
            if (!is_c_array(values[s->a], ndarray, s))
                return s;
            break;
        case JY_G_PARAMETER_C_ARRAY:
            values[s->to] = value = slots[s->a];
            if (!is_c_array(value, ndarray, s))
                return s;
            break;
        case JY_G_SAME_EXTENT: /* guards of their ARRAY stand before it */
            if (extent(values, s->a, s->axis_a) != extent(values, s->b, s->axis_b))
                return s;
            break;
        case JY_G_EXTENT_IS:
            if (extent(values, s->a, s->axis_a) != s->u.value)
                return s;
            break;
        case JY_G_TYPE:
            value = values[s->a];
            if (value == NULL || (PyObject *)Py_TYPE(value) != s->u.object)
                return s;
            break;
        case JY_G_IS:
            if (values[s->a] != s->u.object)
                return s;
            break;
        case JY_G_SAME:
            if (values[s->a] != values[s->b] || values[s->a] == NULL)
                return s;
            break;
        case JY_G_NOT_SAME:
            if (values[s->a] == values[s->b] || values[s->a] == NULL)
                return s;
            break;
        case JY_G_NOT_OWN:
            if (!is_not_own(s->u.place, values[s->a]))
                return s;
            break;
        case JY_G_PRESENT:
            if (values[s->a] == NULL)
                return s;
            break;
        case JY_G_FITS_INT64:
            if (!fits_int64(values[s->a]))
                return s;
            break;
        case JY_G_MODULE_ATTR: /* only in the fixed part */
        case JY_G_OTHER:
            if (!other_holds(p, values, s))
                return s;
            break;
        }
    }
    return NULL;
}

size_t
jy_guards_room(const struct jy_guard_program *p)
{
    return 2 * p->nvalues * sizeof(PyObject *);
}

enum jy_guard_result
jy_guards_check(struct jy_guard_values *out, void *room, struct jy_guard_program *p, PyObject *function,
                PyObject *const *slots, uint32_t *failed)
{
    (void)function;
    out->inputs = out->values = room;
    out->slots = slots;
    out->owned = out->values + p->nvalues;
    out->nowned = 0;
    *failed = JY_NO_GUARD;

    if (!jy_guards_nothing_written(p)) {
        enum jy_guard_result result = check_fixed(p, failed);
        if (result != JY_GUARDS_HOLD)
            return result;
    }
    for (size_t k = 0; k < p->nlive; k++)
        out->values[p->live[k]] = p->fixed_values[p->live[k]];
    p->running++;
    struct jy_gstep *at = walk(out, p, slots);
    p->running--;
    if (at == NULL)
        return JY_GUARDS_HOLD;
    uint32_t guard = at->guard;
    note_failure(p, at);
    return miss(failed, guard);
}
