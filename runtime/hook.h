/* Entering a function through its frame: what CPython 3.11 has instead of a function's vectorcall. */
#ifndef JY_RUNTIME_HOOK_H
#define JY_RUNTIME_HOOK_H

#include <Python.h>

struct _PyInterpreterFrame;
struct jy_function;

/* Makes a state that jy_hook_enter may be called with.  refs: function borrowed; NULL with an exception */
struct jy_function *jy_hook_attach(PyObject *function);

/* From the eval-frame hook, for a fresh frame of a function that was attached: its result, compiled or not. */
PyObject *jy_hook_enter(PyThreadState *thread, struct _PyInterpreterFrame *frame, struct jy_function *function);

#endif
