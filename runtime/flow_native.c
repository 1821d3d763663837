/* Native lists: items are plain numbers in memory, until somebody other than the flow gets to see the list. It becomes an object then, once, so that all who hold it hold one; and since the run has
 * been left by then, nothing changes its numbers afterwards. */
#include "runtime/flow_native.h"
#include "frontend/cpython/compat.h"
#include <stdlib.h>
#include <string.h>

static size_t
size_of(uint8_t type)
{
    return type == JY_F_I1 ? 1 : 8;
}

/* ---- making them ---- */

/* What the object of a list will take, about: its vector, and a number for each item. */
enum { NUMBER_BYTES = 32, POINTER_BYTES = 8, OBJECT_BYTES = 64 };

static size_t
debt_of(const struct jy_flow_list *list)
{
    bool is_number = list->type == JY_F_I64 || list->type == JY_F_F64;
    return OBJECT_BYTES + (size_t)list->room * (is_number ? NUMBER_BYTES + POINTER_BYTES : POINTER_BYTES);
}

/* A run that cannot be thrown away must be able to make its objects. Taste: less than this finds room in the reserve of the process. */
#define SMALL_DEBT ((size_t)1 << 20)

static bool
owes(struct jy_flow_owner *owner, size_t before, size_t now)
{
    size_t owed = owner->owed - before + now;
    if (owed > SMALL_DEBT && owed > owner->reserve.size && !jy_reserve_grow(&owner->reserve, 2 * owed))
        return false;
    owner->owed = owed;
    return true;
}

/* refs: room for n items behind the head; NULL: no memory, or too much is alive */
static struct jy_flow_list *
make(struct jy_flow_call *call, uint8_t type, int64_t n, int32_t *failed)
{
    struct jy_flow_owner *owner = call->owner;
    struct jy_flow_list *list = NULL;
    if (n <= (int64_t)(PY_SSIZE_T_MAX / sizeof(union jy_scalar)) - (int64_t)sizeof *list) {
        size_t bytes = sizeof *list + (size_t)n * size_of(type);
        list = jy_flow_owner_admits(owner, bytes) ? malloc(bytes) : NULL;
    }
    *failed = list == NULL;
    if (list == NULL)
        return NULL;
    *list = (struct jy_flow_list){ .size = n, .allocated = n, .items = list + 1, .room = n, .type = type };
    if (owner->keeps_reserve) {
        *failed = !owes(owner, 0, debt_of(list));
        list->owner = owner;
    }
    if (*failed) {
        owner->bytes -= sizeof *list + (size_t)n * size_of(type);
        owner->nlists--;
        free(list);
        return NULL;
    }
    list->next = owner->lists;
    if (list->next != NULL)
        list->next->previous = list;
    owner->lists = list;
    return list;
}

static void
destroy(struct jy_flow_owner *owner, struct jy_flow_list *list)
{
    owner->nlists--;
    if (list->next != NULL)
        list->next->previous = list->previous;
    if (list->previous != NULL)
        list->previous->next = list->next;
    else
        owner->lists = list->next;
    Py_XDECREF((PyObject *)list->object);
    if (list->owner != NULL)
        owner->owed -= debt_of(list);
    if (list->items != list + 1)
        free(list->items);
    else if (!list->is_input)
        owner->bytes -= sizeof *list + (size_t)list->room * size_of(list->type);
    free(list);
}

void
jy_flow_native_clear(struct jy_flow_owner *owner)
{
    while (owner->lists != NULL)
        destroy(owner, owner->lists);
    free(owner->known);
    owner->known = NULL;
    owner->nknown = owner->known_cap = 0;
}

struct jy_flow_list *
jy_native_new(struct jy_flow_call *call, int64_t type, int32_t *failed)
{
    enum { ROOM = 4 }; /* as CPython's first append() makes */
    struct jy_flow_list *list = make(call, (uint8_t)type, ROOM, failed);
    if (list != NULL)
        list->size = list->allocated = 0;
    return list;
}

static struct jy_flow_list *
fill(struct jy_flow_call *call, uint8_t type, union jy_scalar value, int64_t n, int32_t *failed)
{
    struct jy_flow_list *list = make(call, type, n < 0 ? 0 : n, failed);
    if (list == NULL)
        return NULL;
    list->fill = value;
    list->has_fill = type == JY_F_I64 || type == JY_F_F64;
    if (type == JY_F_I1)
        memset(list->items, (int)value.i, (size_t)list->size);
    else
        for (int64_t k = 0; k < list->size; k++)
            ((uint64_t *)list->items)[k] = value.bits;
    return list;
}

struct jy_flow_list *
jy_native_fill_int(struct jy_flow_call *call, int64_t value, int64_t n, int32_t *failed)
{
    return fill(call, JY_F_I64, (union jy_scalar){ .i = value }, n, failed);
}

struct jy_flow_list *
jy_native_fill_float(struct jy_flow_call *call, double value, int64_t n, int32_t *failed)
{
    return fill(call, JY_F_F64, (union jy_scalar){ .d = value }, n, failed);
}

struct jy_flow_list *
jy_native_fill_bool(struct jy_flow_call *call, bool value, int64_t n, int32_t *failed)
{
    return fill(call, JY_F_I1, (union jy_scalar){ .i = value }, n, failed);
}

struct jy_flow_list *
jy_native_fill_list(struct jy_flow_call *call, struct jy_flow_list *value, int64_t n, int32_t *failed)
{
    return fill(call, JY_F_PTR, (union jy_scalar){ .bits = (uintptr_t)value }, n, failed);
}

struct jy_flow_list *
jy_native_range(struct jy_flow_call *call, int64_t start, int64_t stop, int64_t step, int32_t *failed)
{
    uint64_t n = 0, first = (uint64_t)start, by = (uint64_t)step;
    if (step > 0 && start < stop)
        n = ((uint64_t)stop - first - 1) / by + 1;
    else if (step < 0 && start > stop)
        n = (first - (uint64_t)stop - 1) / (0 - by) + 1;
    struct jy_flow_list *list = make(call, JY_F_I64, n > INT64_MAX ? INT64_MAX : (int64_t)n, failed);
    for (uint64_t k = 0; list != NULL && k < n; k++)
        ((uint64_t *)list->items)[k] = first + k * by;
    return list;
}

/* ---- of others ---- */

static bool
has_nan(const struct jy_flow_list *list, int64_t low, int64_t high)
{
    bool found = false;
    const double *items = list->items;
    for (int64_t k = low; list->type == JY_F_F64 && k < high; k++)
        found |= items[k] != items[k];
    return found;
}

static void
copy(struct jy_flow_list *to, int64_t at, const struct jy_flow_list *from, int64_t low, int64_t n)
{
    size_t size = size_of(from->type);
    memcpy((char *)to->items + (size_t)at * size, (const char *)from->items + (size_t)low * size, (size_t)n * size);
}

struct jy_flow_list *
jy_native_slice(struct jy_flow_call *call, struct jy_flow_list *list, int64_t low, int64_t high, int32_t *failed)
{
    high = high < low ? low : high;
    *failed = has_nan(list, low, high);
    struct jy_flow_list *out = *failed ? NULL : make(call, list->type, high - low, failed);
    if (out == NULL)
        return NULL;
    copy(out, 0, list, low, high - low);
    out->fill = list->fill;
    out->has_fill = list->has_fill;
    return out;
}

struct jy_flow_list *
jy_native_concat(struct jy_flow_call *call, struct jy_flow_list *x, struct jy_flow_list *y, int64_t drop,
                 int32_t *failed)
{
    *failed = has_nan(x, 0, x->size) || has_nan(y, 0, y->size);
    struct jy_flow_list *out = *failed ? NULL : make(call, x->type, x->size + y->size, failed);
    if (out == NULL)
        return NULL;
    copy(out, 0, x, 0, x->size);
    copy(out, x->size, y, 0, y->size);
    const struct jy_flow_list *most = x->size > y->size ? x : y;
    out->fill = most->fill;
    out->has_fill = most->has_fill;
    if (drop & 1)
        destroy(call->owner, x);
    if (drop & 2)
        destroy(call->owner, y);
    return out;
}

int64_t
jy_native_find_int(struct jy_flow_list *list, int64_t value)
{
    for (int64_t k = 0; k < list->size; k++)
        if ((list->type == JY_F_I1 ? ((const uint8_t *)list->items)[k] : ((const int64_t *)list->items)[k]) == value)
            return k;
    return -1;
}

int64_t
jy_native_find_float(struct jy_flow_list *list, double value, int32_t *failed)
{
    const double *items = list->items;
    *failed = value != value;
    for (int64_t k = 0; !*failed && k < list->size; k++)
        if (items[k] == value)
            return k;
    return -1;
}

/* ---- changes ---- */

static int64_t
with_reserve(int64_t n)
{
    return n == 0 ? 0 : (n + (n >> 3) + 6) & ~INT64_C(3);
}

void
jy_native_grow(struct jy_flow_list *list, int32_t *failed)
{
    int64_t allocated = with_reserve(list->size + 1);
    if (allocated > list->room) {
        int64_t room = allocated + allocated / 2;
        size_t size = size_of(list->type), bytes = (size_t)room * size;
        bool is_inner = list->items == list + 1;
        struct jy_flow_list larger = { .type = list->type, .room = room };
        *failed = list->owner != NULL && !owes(list->owner, debt_of(list), debt_of(&larger));
        void *items = *failed ? NULL : realloc(is_inner ? NULL : list->items, bytes);
        *failed = items == NULL;
        if (items == NULL)
            return;
        if (is_inner)
            memcpy(items, list->items, (size_t)list->size * size);
        list->items = items;
        list->room = room;
    }
    list->allocated = allocated;
}

void
jy_native_shrink(struct jy_flow_list *list, int64_t n)
{
    list->size = n;
    if (n < list->allocated >> 1 || n == 0)
        list->allocated = with_reserve(n);
}

void
jy_native_reverse(struct jy_flow_list *list, int32_t *failed)
{
    *failed = list->is_input && has_nan(list, 0, list->size);
    if (*failed)
        return;
    uint8_t *bytes = list->items;
    uint64_t *words = list->items;
    for (int64_t i = 0, j = list->size - 1; i < j; i++, j--) {
        if (list->type == JY_F_I1) {
            uint8_t byte = bytes[i];
            bytes[i] = bytes[j];
            bytes[j] = byte;
        } else {
            uint64_t word = words[i];
            words[i] = words[j];
            words[j] = word;
        }
    }
}

/* ---- inputs ---- */

static struct jy_flow_list **
place_of(struct jy_flow_list **known, size_t cap, const void *object)
{
    size_t k = ((uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (cap - 1);
    while (known[k] != NULL && known[k]->object != object)
        k = (k + 1) & (cap - 1);
    return &known[k];
}

static bool
make_known(struct jy_flow_owner *owner, struct jy_flow_list *list)
{
    if (2 * (owner->nknown + 1) > owner->known_cap) {
        size_t cap = owner->known_cap == 0 ? 16 : 4 * owner->known_cap;
        struct jy_flow_list **known = calloc(cap, sizeof(struct jy_flow_list *));
        if (known == NULL)
            return false;
        for (size_t k = 0; k < owner->known_cap; k++)
            if (owner->known[k] != NULL)
                *place_of(known, cap, owner->known[k]->object) = owner->known[k];
        free(owner->known);
        owner->known = known;
        owner->known_cap = cap;
    }
    *place_of(owner->known, owner->known_cap, list->object) = list;
    owner->nknown++;
    return true;
}

static struct jy_flow_list *
make_of_input(struct jy_flow_owner *owner, PyObject *object, uint8_t type)
{
    int64_t n = PyList_GET_SIZE(object), allocated = (int64_t)((PyListObject *)object)->allocated;
    int64_t room = allocated > n ? allocated : n;
    owner->nitems += n + 1;
    struct jy_flow_list *list =
        owner->nitems > owner->most_items ? NULL : malloc(sizeof *list + (size_t)room * size_of(type));
    if (list == NULL)
        return NULL;
    *list = (struct jy_flow_list){ .size = n,
                                   .allocated = allocated,
                                   .items = list + 1,
                                   .room = room,
                                   .type = type,
                                   .object = Py_NewRef(object),
                                   .owner = owner->keeps_reserve ? owner : NULL,
                                   .is_input = true };
    list->next = owner->lists;
    if (list->next != NULL)
        list->next->previous = list;
    owner->lists = list;
    owner->nlists++;
    if (list->owner != NULL && !owes(owner, 0, debt_of(list))) {
        list->owner = NULL;
        return NULL;
    }
    return make_known(owner, list) ? list : NULL;
}

static bool
read_floats(double *out, PyObject *object, int64_t n)
{
    bool good = true;
    for (int64_t k = 0; k < n && good; k++) {
        PyObject *item = PyList_GET_ITEM(object, k);
        good = item != NULL && PyFloat_CheckExact(item);
        out[k] = good ? PyFloat_AS_DOUBLE(item) : 0;
    }
    return good;
}

static bool
read_ints(int64_t *out, PyObject *object, int64_t n)
{
    int overflow = 0;
    bool good = true;
    for (int64_t k = 0; k < n && good; k++) {
        PyObject *item = PyList_GET_ITEM(object, k);
        good = item != NULL && PyLong_CheckExact(item);
        out[k] = good ? PyLong_AsLongLongAndOverflow(item, &overflow) : 0;
        good &= overflow == 0;
    }
    return good;
}

static bool
read_bools(uint8_t *out, PyObject *object, int64_t n)
{
    bool good = true;
    for (int64_t k = 0; k < n && good; k++) {
        PyObject *item = PyList_GET_ITEM(object, k);
        good = item == Py_True || item == Py_False;
        out[k] = item == Py_True;
    }
    return good;
}

static bool
read_rows(struct jy_flow_owner *owner, struct jy_flow_list *list, uint8_t type, unsigned depth)
{
    struct jy_flow_list **rows = list->items;
    for (int64_t k = 0; k < list->size; k++) {
        PyObject *item = PyList_GET_ITEM((PyObject *)list->object, k);
        if (item == NULL || (rows[k] = jy_flow_native_of(owner, item, type, depth)) == NULL)
            return false;
    }
    return true;
}

struct jy_flow_list *
jy_flow_native_of(struct jy_flow_owner *owner, PyObject *object, uint8_t type, unsigned depth)
{
    uint8_t of_items = depth > 1 ? JY_F_PTR : type;
    if (!PyList_CheckExact(object))
        return NULL;
    if (owner->nknown != 0) {
        struct jy_flow_list *known = *place_of(owner->known, owner->known_cap, object);
        if (known != NULL)
            return known->leaf == type && known->depth == depth ? known : NULL; /* its rows, or those that it may get */
    }
    struct jy_flow_list *list = make_of_input(owner, object, of_items);
    if (list == NULL)
        return NULL;
    list->leaf = type;
    list->depth = (uint8_t)depth;
    bool good = of_items == JY_F_F64   ? read_floats(list->items, object, list->size)
                : of_items == JY_F_I64 ? read_ints(list->items, object, list->size)
                : of_items == JY_F_I1  ? read_bools(list->items, object, list->size)
                                       : read_rows(owner, list, type, depth - 1);
    return good ? list : NULL;
}

/* ---- as an object ---- */

PyObject *
jy_flow_native_item(struct jy_flow_list *list, int64_t index)
{
    union jy_scalar value;
    if (list->type == JY_F_I1)
        return PyBool_FromLong(((const uint8_t *)list->items)[index]);
    memcpy(&value, (const char *)list->items + (size_t)index * sizeof value, sizeof value);
    if (list->type == JY_F_PTR)
        return jy_flow_native_object((struct jy_flow_list *)(uintptr_t)value.bits);
    return list->type == JY_F_F64 ? PyFloat_FromDouble(value.d) : PyLong_FromLongLong(value.i);
}

/* refs: steals nothing; false: an exception. *shared: new, the object of the first value, when there is one */
static bool
fill_object(PyObject *object, struct jy_flow_list *list, PyObject **shared)
{
    const uint64_t *words = list->items;
    for (int64_t k = 0; k < list->size; k++) {
        bool is_first = list->has_fill && words[k] == list->fill.bits;
        PyObject *item = is_first ? Py_XNewRef(*shared) : NULL;
        if (item == NULL && (item = jy_flow_native_item(list, k)) == NULL)
            return false;
        if (is_first && *shared == NULL)
            *shared = Py_NewRef(item);
        PyList_SET_ITEM(object, k, item);
    }
    return true;
}

PyObject *
jy_flow_native_object(struct jy_flow_list *list)
{
    PyObject *shared = NULL;
    if (list == NULL) /* of a variable that is not bound, which nobody gets to see */
        return Py_NewRef(Py_None);
    if (list->object != NULL)
        return Py_NewRef((PyObject *)list->object);
    bool collects = jy_compat_collects_at_once() && PyGC_Disable(); /* it would show the program a list without items */
    PyObject *object = PyList_New((Py_ssize_t)list->allocated);
    if (object != NULL && fill_object(object, list, &shared))
        Py_SET_SIZE((PyVarObject *)object, (Py_ssize_t)list->size); /* the rest is room for more */
    else
        Py_CLEAR(object);
    if (collects)
        PyGC_Enable();
    Py_XDECREF(shared);
    list->object = Py_XNewRef(object);
    return object;
}
