/* A run without the GIL is, to the program, one that held it and took no time, before the others ran: it has read what the guards and the inputs are made of when it was entered, it changes nothing until it is left,
 * and then at a place where the interpreter may switch threads. So what others change meanwhile is seen behind that place, as if they had run there.
 *
 * What could tell is an object that dies late: what the frame holds is held until the run is over. So it must be held in CPython, too, by the frame that each exit rebuilds, or be of a type whose death nobody
 * notices. Guards hold nothing then: flow_exec.c. */
#include "runtime/flow_unlock.h"
#include "frontend/cpython/compat.h"
#include "runtime/numpy_api.h"
#include <string.h>

/* Taste. Whoever wants the GIL waits 5 ms for it, and this thread as long when it comes back: of a shorter run it would have had more by holding on to it. */
#define LONG_MS 4.0
#define CREDIT 2

static bool
exit_shows(const struct jy_flow_exit *e, uint32_t input)
{
    for (size_t k = 0; e->x_boxes != NULL && k < e->x_depth + e->x_nlocals; k++)
        if (e->x_boxes[k] != NULL && e->x_boxes[k]->how == JY_BOX_INPUT && e->x_boxes[k]->number == input)
            return true;
    return false;
}

static bool
stays(const struct jy_flow *w, uint32_t input)
{
    bool does = true;
    for (size_t k = 0; k < w->w_exits.n && does; k++)
        does = w->w_exits.at[k].x_kind == JY_EXIT_RETURN || exit_shows(&w->w_exits.at[k], input);
    return does;
}

void
jy_flow_unlock_prepare(struct jy_flow_unlock *out, const struct jy_unit *unit, size_t nslots)
{
    const struct jy_flow *w = unit->u_flow;
    memset(out, 0, sizeof *out);
    out->nslots = nslots;
    out->why = jy_flow_why_locked(w);
    out->stays = JY_NEW_ARRAY(unit->u_arena, bool, unit->u_inputs.n + 1);
    out->read = JY_NEW_ARRAY(unit->u_arena, bool, unit->u_inputs.n + 1);
    for (size_t k = 0; k < unit->u_inputs.n && out->why == NULL; k++) {
        out->stays[k] = stays(w, (uint32_t)k);
        out->read[k] = jy_flow_reads_object(w, (uint32_t)k);
    }
    for (size_t k = 0; k < w->w_exits.n && out->why == NULL; k++)
        if (w->w_exits.at[k].x_kind == JY_EXIT_CALL && w->w_exits.at[k].x_boxes == NULL)
            out->why = "it is one call"; /* which the interpreter makes where it cannot begin */
}

/* Nobody has a weak reference to it, it has no destructor of the program's, and it holds nothing that does. */
static bool
dies_unseen(PyObject *object)
{
    return object == Py_None || PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object) ||
           PyComplex_CheckExact(object) || PyUnicode_CheckExact(object) || PyBytes_CheckExact(object) ||
           Py_IS_TYPE(object, &PyRange_Type) || Py_IS_TYPE(object, &PyRangeIter_Type) ||
           ((PyArray_IsScalar(object, Number) || PyArray_IsScalar(object, Bool)) &&
            !PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE));
}

static bool
never_changes(PyObject *object)
{
    return dies_unseen(object) && !Py_IS_TYPE(object, &PyRangeIter_Type);
}

static bool
is_held(const struct jy_flow_unlock *u, size_t ninputs, PyObject *const *inputs, PyObject *object)
{
    for (size_t k = 0; k < ninputs; k++)
        if (inputs[k] == object && u->stays[k])
            return true;
    return false;
}

static bool
is_slot(const struct jy_flow_unlock *u, PyObject *const *slots, PyObject *object)
{
    for (size_t k = 0; k < u->nslots; k++)
        if (slots[k] == object)
            return true;
    return false;
}

/* Functions of the program's that are called there are held by the frames of their calls; cells of a closure no frame gives away. */
bool
jy_flow_unlock_fits(const struct jy_flow_unlock *u, const struct jy_unit *unit, PyObject *const *slots,
                    PyObject *const *inputs)
{
    size_t n = unit->u_inputs.n;
    bool fits = jy_compat_has_other_threads(PyThreadState_Get());
    for (size_t k = 0; k < u->nslots && fits; k++)
        fits = slots[k] == NULL || dies_unseen(slots[k]) || PyCell_Check(slots[k]) || is_held(u, n, inputs, slots[k]);
    for (size_t k = 0; k < n && fits; k++)
        fits = (dies_unseen(inputs[k]) || PyFunction_Check(inputs[k]) || is_slot(u, slots, inputs[k])) &&
               (!u->read[k] || never_changes(inputs[k]));
    return fits;
}

void
jy_flow_unlock_judge(struct jy_flow_unlock *u, double ms, bool unlocked, bool polled)
{
    if (ms >= LONG_MS)
        u->credit = CREDIT;
    else if (unlocked && !polled && u->credit != 0)
        u->credit--;
}
