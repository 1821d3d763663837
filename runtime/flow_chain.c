/* Piles of records, and the callables that go on in a function that was left; flow_chain.h has the picture. */
#include "runtime/flow_chain.h"
#include "runtime/function.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* -- piles -------------------------------------------------------------------------------------------------------------------------- */

/* The outermost ones stay. */
static void
drop_innermost(struct jy_flow_pile *pile, size_t n)
{
    for (size_t k = 0; k < n; k++)
        free(pile->at[k].values);
    pile->n -= n;
    memmove(pile->at, pile->at + n, pile->n * sizeof *pile->at);
}

union jy_scalar *
jy_flow_pile_add(struct jy_flow_pile *pile, uint32_t function, uint32_t exit, size_t nvalues)
{
    if (pile->most != 0 && pile->n >= 2 * pile->most)
        drop_innermost(pile, pile->n - pile->most);
    if (pile->n == pile->cap) {
        size_t cap = pile->cap == 0 ? 16 : 2 * pile->cap;
        struct jy_flow_record *at = realloc(pile->at, cap * sizeof *at);
        if (at != NULL) {
            pile->at = at;
            pile->cap = cap;
        }
    }
    union jy_scalar *values = pile->n < pile->cap ? malloc((nvalues + 1) * sizeof *values) : NULL;
    if (values == NULL)
        pile->failed = true;
    else
        pile->at[pile->n++] = (struct jy_flow_record){ function, exit, values };
    return values;
}

void
jy_flow_pile_settle(struct jy_flow_pile *pile)
{
    if (pile->most != 0 && pile->n > pile->most)
        drop_innermost(pile, pile->n - pile->most);
}

void
jy_flow_pile_clear(struct jy_flow_pile *pile)
{
    for (size_t k = 0; k < pile->n; k++)
        free(pile->at[k].values);
    free(pile->at);
    *pile = (struct jy_flow_pile){ 0 };
}

/* -- who drives a function that is not compiled itself ------------------------------------------------------------------------------ */

/* It dies with the function, which it does not keep alive: the unit that it belongs to may be the function's own caller's. */
struct callee {
    PyObject_HEAD struct jy_function *f; /* NULL: the function is gone */
    PyObject *function;                  /* borrowed */
    PyObject *weak;                      /* to it; its callback frees f */
    PyObject *self; /* what the callback is given: a capsule with this, whose context says that this is gone */
};

/* The collector calls back for all that it has found, also when what it did for another one has freed this. */
static PyObject *
callee_died(PyObject *self, PyObject *Py_UNUSED(reference))
{
    struct callee *c = PyCapsule_GetPointer(self, NULL);
    if (PyCapsule_GetContext(self) != NULL)
        Py_RETURN_NONE;
    jy_function_free(c->f);
    c->f = NULL;
    c->function = NULL;
    Py_RETURN_NONE;
}

static PyMethodDef died_method = { "callee_died", callee_died, METH_O, NULL };

static PyObject *
watch(struct callee *c)
{
    PyObject *callback = NULL, *weak = NULL;
    c->self = PyCapsule_New(c, NULL, NULL);
    if (c->self != NULL)
        callback = PyCFunction_New(&died_method, c->self);
    if (callback != NULL)
        weak = PyWeakref_NewRef(c->function, callback);
    Py_XDECREF(callback);
    return weak;
}

static PyTypeObject callee_type;

static void
callee_dealloc(PyObject *self)
{
    struct callee *c = (struct callee *)self;
    if (c->self != NULL)
        PyCapsule_SetContext(c->self, &callee_type); /* cannot fail: it is one */
    Py_XDECREF(c->weak);
    Py_XDECREF(c->self);
    jy_function_free(c->f);
    PyObject_Free(self);
}

static PyTypeObject callee_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "jitney._callee",
    .tp_basicsize = sizeof(struct callee),
    .tp_dealloc = callee_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "state of a function that compiled code was left in",
};

PyObject *
jy_flow_callee_new(PyObject *function)
{
    struct callee *c = PyObject_New(struct callee, &callee_type);
    if (c == NULL)
        return NULL;
    c->function = function;
    c->weak = c->self = NULL;
    c->f = jy_function_new(function);
    if (c->f != NULL)
        c->weak = watch(c);
    if (c->weak == NULL) {
        Py_DECREF(c);
        return NULL;
    }
    jy_leaves_add_loops(c->f); /* loops that it was left in are native again soon */
    return (PyObject *)c;
}

PyObject *
jy_flow_callee_function(PyObject *callee)
{
    return ((struct callee *)callee)->function;
}

/* -- resumers ------------------------------------------------------------------------------------------------------------------------ */

struct resumer {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *continuation; /* owned; NULL: it was called */
    PyObject *function;
    PyObject *callee; /* may be NULL */
};

static PyObject *
resumer_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    struct resumer *r = (struct resumer *)self;
    PyObject *continuation = r->continuation;
    struct jy_function *f = r->callee != NULL ? ((struct callee *)r->callee)->f : jy_function_find(r->function);
    (void)args, (void)nargsf, (void)kwnames;
    r->continuation = NULL;
    if (continuation != NULL && f != NULL)
        return jy_drive(f, continuation);
    Py_XDECREF(continuation);
    PyErr_SetString(PyExc_SystemError, "jitney: a function that was left is gone");
    return NULL;
}

static void
resumer_dealloc(PyObject *self)
{
    struct resumer *r = (struct resumer *)self;
    Py_XDECREF(r->continuation);
    Py_DECREF(r->function);
    Py_XDECREF(r->callee);
    PyObject_Free(self);
}

static PyTypeObject resumer_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "jitney._resumer",
    .tp_basicsize = sizeof(struct resumer),
    .tp_dealloc = resumer_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(struct resumer, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_doc = "goes on in a function that compiled code was left in",
};

PyObject *
jy_flow_resumer_new(PyObject *continuation, PyObject *function, PyObject *callee)
{
    struct resumer *r = PyObject_New(struct resumer, &resumer_type);
    if (r == NULL) {
        Py_DECREF(continuation);
        return NULL;
    }
    r->vectorcall = resumer_call;
    r->continuation = continuation;
    r->function = Py_NewRef(function);
    r->callee = Py_XNewRef(callee);
    return (PyObject *)r;
}

int
jy_flow_chain_init(void)
{
    return PyType_Ready(&callee_type) < 0 ? -1 : PyType_Ready(&resumer_type);
}
