/* The eval-frame slot, and running other code in a frame that has just been made.
 *
 * A frame is *re-coded in place*: as long as nothing of it has run, it lies on top of the thread's data stack, has no frame
 * object, and only its parameters are set; cells are made and free variables copied by instructions.  So another code object
 * with the same signature, cells and free variables, and maybe more locals and stack, can take the place of the first one.
 * No frame is built and nothing of CPython is copied.  Visible to a program: frame.f_code and gi_code are the new object.
 *
 * The slot costs every Python call some time and C stack (docs/stress.md), so it is empty unless somebody asked. */
#ifndef JY_FRONTEND_CPYTHON_HOOK_H
#define JY_FRONTEND_CPYTHON_HOOK_H

#include <Python.h>
#include <stdbool.h>

struct _PyInterpreterFrame;

/* Answers a frame's result: by jy_hook_run, or on versions that let it (jy_hook_may_answer) without running the frame.
 * Gets fresh frames only: resumed generators and throw() pass it by. */
typedef PyObject *(*jy_hook_callback)(PyThreadState *thread, struct _PyInterpreterFrame *frame);

/* One callback at a time; whoever had the slot before is called for what the callback runs.  False: the slot is ours already. */
bool jy_hook_install(jy_hook_callback callback);
/* Gives the slot back, if it still is ours; else ours stays in the chain and passes everything on. */
void jy_hook_uninstall(void);
PyObject *jy_hook_run(PyThreadState *thread, struct _PyInterpreterFrame *frame);
/* 3.11: the caller of a frame clears it, whether it has run or not. */
bool jy_hook_may_answer(void);

/* What a fresh frame runs.  refs: borrowed */
PyCodeObject *jy_frame_code(const struct _PyInterpreterFrame *frame);
PyObject *jy_frame_function(const struct _PyInterpreterFrame *frame);
PyObject *const *
jy_frame_parameters(const struct _PyInterpreterFrame *frame); /* in the order of co_varnames, all bound */

/* False: the thread's piece of stack ends here, the frame stays as it was.  A generator's frame is copied by the size of its
 * function's code, so it can only be given code of the same size.  refs: code borrowed */
bool jy_frame_recode(PyThreadState *thread, struct _PyInterpreterFrame *frame, PyCodeObject *code);

/* The function whose frame runs innermost; NULL: a frame without function.  refs: borrowed */
PyObject *jy_thread_running_function(PyThreadState *thread);

/* Somebody holds the object of the frame that runs innermost: a traceback, a debugger, the object of a frame that it called. */
bool jy_thread_frame_is_kept(PyThreadState *thread);

/* A pointer per code object; `drop` gets it, or NULL, when the code dies.  -1 with an exception: no slot is free. */
Py_ssize_t jy_code_request_extra(freefunc drop);
void *jy_code_extra(PyCodeObject *code, Py_ssize_t index);
int jy_code_set_extra(PyCodeObject *code, Py_ssize_t index, void *extra); /* 0, or -1 with an exception */

/* 3.13 gives a new function the version of its code after its watchers were asked, and versioned functions are called
 * without a look at their vectorcall: takes the version from the code.  Elsewhere there is nothing to do. */
void jy_code_forget_version(PyCodeObject *code);

#endif
