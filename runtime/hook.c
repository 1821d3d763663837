/* Entering a function through its frame (CPython 3.11), see hook.h.
 *
 * The interpreter has bound the arguments already.  They are given to the usual entry as a call; where that runs the original, it
 * calls f_plain, which is run_frame below and evaluates the very frame that came.  A frame that never runs is cleared by whoever
 * made it.  So every call of such a function costs the entry and no second frame. */
#include "runtime/hook.h"

#include "frontend/cpython/hook.h"
#include "runtime/function.h"
#include <alloca.h>

#define MAX_ARGUMENTS 64 /* taste: a call with more runs as it is */

/* A frame that has been given to the entry: on the C stack of its thread, linked from the runtime. */
struct jy_pending {
    struct jy_pending *p_next, *p_prev;
    PyThreadState *p_thread;
    struct _PyInterpreterFrame *p_frame;
    PyObject *p_function;
    bool p_done;
};

static void
push_pending(struct jy_pending *p)
{
    p->p_next = jy_runtime->pending;
    if (p->p_next != NULL)
        p->p_next->p_prev = p;
    jy_runtime->pending = p;
}

/* Other threads' frames may lie above it. */
static void
remove_pending(struct jy_pending *p)
{
    if (p->p_prev != NULL)
        p->p_prev->p_next = p->p_next;
    else
        jy_runtime->pending = p->p_next;
    if (p->p_next != NULL)
        p->p_next->p_prev = p->p_prev;
}

/* The original: the thread's innermost frame of that function, once; whoever calls again makes a new frame.  refs: as vectorcall */
static PyObject *
run_frame(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyThreadState *thread = PyThreadState_Get();
    struct jy_pending *p = jy_runtime->pending;
    while (p != NULL && (p->p_thread != thread || p->p_function != callable))
        p = p->p_next;
    if (p == NULL || p->p_done)
        return jy_compat_get_vectorcall(callable)(callable, args, nargsf, kwnames);
    p->p_done = true;
    return jy_hook_run(thread, p->p_frame);
}

struct jy_function *
jy_hook_attach(PyObject *function)
{
    struct jy_function *f = jy_function_new(function);
    if (f == NULL || jy_function_attach(f) < 0) {
        jy_function_free(f);
        return NULL;
    }
    f->f_plain = run_frame;
    f->f_inplace = true;
    return f;
}

/* How many values the parameters of a frame are as a call; more than MAX_ARGUMENTS: not to be had. */
static Py_ssize_t
count_arguments(PyCodeObject *code, PyObject *const *slots)
{
    Py_ssize_t n = code->co_argcount + code->co_kwonlyargcount;
    PyObject *const *rest = slots + n;
    if (code->co_flags & CO_VARARGS)
        n += PyTuple_GET_SIZE(*rest++);
    if (code->co_flags & CO_VARKEYWORDS)
        n += PyDict_GET_SIZE(*rest);
    return n;
}

/* The parameters as arguments of a vectorcall, at least as many as count_arguments says.  refs: args borrowed, *kwnames new or NULL; false with an exception */
static bool
unbind(PyObject **args, size_t *nargs, PyObject **kwnames, PyCodeObject *code, PyObject *const *slots)
{
    Py_ssize_t n = 0, nnames = 0, at = 0;
    PyObject *const *keyword_only = slots + code->co_argcount, *const *rest = keyword_only + code->co_kwonlyargcount;
    PyObject *star = code->co_flags & CO_VARARGS ? *rest++ : NULL, *names = NULL, *key, *value;
    PyObject *starstar = code->co_flags & CO_VARKEYWORDS ? *rest : NULL;

    for (Py_ssize_t k = 0; k < code->co_argcount; k++)
        args[n++] = slots[k];
    for (Py_ssize_t k = 0; star != NULL && k < PyTuple_GET_SIZE(star); k++)
        args[n++] = PyTuple_GET_ITEM(star, k);
    *nargs = (size_t)n;
    *kwnames = NULL;
    Py_ssize_t nkeywords = code->co_kwonlyargcount + (starstar == NULL ? 0 : PyDict_GET_SIZE(starstar));
    if (nkeywords == 0)
        return true;
    names = PyTuple_New(nkeywords);
    if (names == NULL)
        return false;
    for (Py_ssize_t k = 0; k < code->co_kwonlyargcount; k++) {
        args[n++] = keyword_only[k];
        PyTuple_SET_ITEM(names, nnames++, Py_NewRef(jy_compat_local_name(code, code->co_argcount + (int)k)));
    }
    while (starstar != NULL && PyDict_Next(starstar, &at, &key, &value)) {
        args[n++] = value;
        PyTuple_SET_ITEM(names, nnames++, Py_NewRef(key));
    }
    *kwnames = names;
    return true;
}

PyObject *
jy_hook_enter(PyThreadState *thread, struct _PyInterpreterFrame *frame, struct jy_function *f)
{
    PyCodeObject *code = jy_frame_code(frame);
    PyObject *const *slots = jy_frame_parameters(frame), *kwnames = NULL, **args;
    size_t nargs = (size_t)code->co_argcount;
    if (f->f_plain != run_frame ||
        count_arguments(code, slots) > MAX_ARGUMENTS) /* an object of its own calls it, and was asked before */
        return jy_hook_run(thread, frame);
    args = alloca(sizeof(*args) * (MAX_ARGUMENTS + 1));
    if (!unbind(args, &nargs, &kwnames, code, slots))
        return NULL;
    struct jy_pending pending = { .p_thread = thread, .p_frame = frame, .p_function = f->f_object };
    push_pending(&pending);
    PyObject *result = jy_entry_call(f, args, nargs, kwnames);
    remove_pending(&pending);
    Py_XDECREF(kwnames);
    return result;
}
