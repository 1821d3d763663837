/* Native lists that came in, back into their objects when the run is left.
 *
 *     prepare:  new items are made, and those that are appended lie behind the object's end, where nobody sees them     may fail
 *     commit:   items, sizes                                                                                            cannot
 *
 * So either all lists get what has changed, or none does, and the run may be thrown away. */
#include "runtime/flow_back.h"
#include <stdlib.h>
#include <string.h>

/* Is the object still what stands there? */
static bool
is_item(const struct jy_flow_list *list, int64_t index, PyObject *object)
{
    const uint64_t *words = list->items;
    union jy_scalar value;
    int overflow;
    if (list->type == JY_F_I1)
        return object == (((const uint8_t *)list->items)[index] ? Py_True : Py_False);
    value.bits = words[index];
    if (list->type == JY_F_PTR)
        return object == ((struct jy_flow_list *)(uintptr_t)value.bits)->object;
    if (list->type == JY_F_I64)
        return PyLong_AsLongLongAndOverflow(object, &overflow) == value.i;
    return memcmp(&((PyFloatObject *)object)->ob_fval, &value.d, sizeof value.d) == 0;
}

/* A float that nobody else holds becomes another. */
static bool
may_become(const struct jy_flow_list *list, PyObject *object)
{
    return list->type == JY_F_F64 && Py_REFCNT(object) == 1;
}

static int64_t
count_both(const struct jy_flow_list *list)
{
    int64_t before = Py_SIZE((PyObject *)list->object);
    return before < list->size ? before : list->size;
}

/* ---- prepare ---- */

/* refs: steals item */
static bool
add_new(struct jy_flow_list *list, PyObject *item)
{
    enum { FIRST = 8 };
    if ((list->nnew & (list->nnew - 1)) == 0 && (list->nnew == 0 || list->nnew >= FIRST)) {
        void **items = realloc(list->new_items, (size_t)(list->nnew == 0 ? FIRST : 2 * list->nnew) * sizeof *items);
        if (items == NULL) {
            Py_DECREF(item);
            PyErr_NoMemory();
            return false;
        }
        list->new_items = items;
    }
    list->new_items[list->nnew++] = item;
    return true;
}

static bool
make_new(struct jy_flow_list *list)
{
    PyObject *const *items = ((PyListObject *)list->object)->ob_item;
    for (int64_t k = 0, n = count_both(list); k < n; k++) {
        if (is_item(list, k, items[k]) || may_become(list, items[k]))
            continue;
        PyObject *item = jy_flow_native_item(list, k);
        if (item == NULL || !add_new(list, item))
            return false;
    }
    return true;
}

/* Room for the items, and those that are new behind the end. */
static bool
make_appended(struct jy_flow_list *list)
{
    PyListObject *object = list->object;
    list->end = Py_SIZE((PyObject *)object);
    if (object->allocated < list->allocated) {
        PyObject **items = PyMem_Realloc(object->ob_item, (size_t)list->allocated * sizeof(PyObject *));
        if (items == NULL) {
            PyErr_NoMemory();
            return false;
        }
        object->ob_item = items;
        object->allocated = (Py_ssize_t)list->allocated;
    }
    for (; list->end < list->size; list->end++) {
        PyObject *item = jy_flow_native_item(list, list->end);
        if (item == NULL)
            return false;
        object->ob_item[list->end] = item;
    }
    return true;
}

bool
jy_flow_back_prepare(struct jy_flow_owner *owner)
{
    bool good = true;
    for (struct jy_flow_list *list = owner->lists; list != NULL && good; list = list->next)
        if (list->is_input) {
            list->was_allocated = (int64_t)((PyListObject *)list->object)->allocated;
            list->end = 0;
            good = make_new(list) && make_appended(list);
        }
    return good;
}

/* ---- commit, or not ---- */

/* The vector gets smaller; of one that cannot the rest is not used. */
static void
fit(PyListObject *object, int64_t allocated)
{
    if (object->allocated <= allocated)
        return;
    PyObject **items = PyMem_Realloc(object->ob_item, (size_t)allocated * sizeof(PyObject *));
    if (items != NULL)
        object->ob_item = items;
    object->allocated = (Py_ssize_t)allocated;
}

static void
forget_new(struct jy_flow_list *list)
{
    for (int64_t k = 0; k < list->nnew; k++)
        Py_DECREF((PyObject *)list->new_items[k]);
    free(list->new_items);
    list->new_items = NULL;
    list->nnew = 0;
}

/* As jy_flow_back_prepare looked at them: an item that goes lives until all have been looked at. */
static void
put_new(struct jy_flow_list *list)
{
    PyObject **items = ((PyListObject *)list->object)->ob_item;
    int64_t next = 0;
    for (int64_t k = 0, n = count_both(list); k < n; k++) {
        if (is_item(list, k, items[k]))
            continue;
        if (may_become(list, items[k])) {
            memcpy(&((PyFloatObject *)items[k])->ob_fval, (const double *)list->items + k, sizeof(double));
            continue;
        }
        PyObject *old = items[k];
        items[k] = list->new_items[next];
        list->new_items[next++] = old;
    }
}

/* Items that go are let go when the list is as it should be: the last reference to a list may be among them. */
static void
commit(struct jy_flow_list *list)
{
    PyListObject *object = list->object;
    int64_t before = Py_SIZE((PyObject *)object);
    put_new(list);
    Py_SET_SIZE((PyVarObject *)object, (Py_ssize_t)list->size);
    for (int64_t k = list->size; k < before; k++)
        Py_DECREF(object->ob_item[k]);
    fit(object, list->allocated);
    forget_new(list);
}

void
jy_flow_back_commit(struct jy_flow_owner *owner)
{
    for (struct jy_flow_list *list = owner->lists; list != NULL; list = list->next)
        if (list->is_input)
            commit(list);
}

void
jy_flow_back_undo(struct jy_flow_owner *owner)
{
    for (struct jy_flow_list *list = owner->lists; list != NULL; list = list->next) {
        if (!list->is_input)
            continue;
        PyListObject *object = list->object;
        for (int64_t k = Py_SIZE((PyObject *)object); k < list->end; k++)
            Py_DECREF(object->ob_item[k]);
        list->end = 0;
        fit(object, list->was_allocated);
        forget_new(list);
    }
}
