/* The eval-frame slot of CPython 3.11 to 3.13, see hook.h.  Relies on the layout of a frame and of a thread's data stack, and on exported functions only. */
#define Py_BUILD_CORE 1 /* for the layouts in internal/ */
#include "frontend/cpython/hook.h"

#include "internal/pycore_code.h"
#include "internal/pycore_frame.h"

#if PY_VERSION_HEX < 0x030c0000
#define FRAME_FUNCTION(frame) ((PyObject *)(frame)->f_func)
#define HAS_FUNCTION(frame) true
#define FRAME_SIZE(code) ((code)->co_nlocalsplus + (code)->co_stacksize + (int)FRAME_SPECIALS_SIZE)
#define REQUEST_EXTRA _PyEval_RequestCodeExtraIndex
#define GET_EXTRA _PyCode_GetExtra
#define SET_EXTRA _PyCode_SetExtra
#else
#define FRAME_FUNCTION(frame) ((frame)->f_funcobj)
#define HAS_FUNCTION(frame) ((frame)->owner != FRAME_OWNED_BY_CSTACK)
#define FRAME_SIZE(code) ((code)->co_framesize)
#define REQUEST_EXTRA PyUnstable_Eval_RequestCodeExtraIndex
#define GET_EXTRA PyUnstable_Code_GetExtra
#define SET_EXTRA PyUnstable_Code_SetExtra
#endif

#if PY_VERSION_HEX < 0x030d0000
#define CURRENT_FRAME(thread) ((thread)->cframe->current_frame)
#define FRAME_CODE(frame) ((frame)->f_code)
#define SET_FRAME_CODE(frame, code) Py_SETREF((frame)->f_code, (PyCodeObject *)Py_NewRef(code))
#define FRAME_NEXT(frame) ((frame)->prev_instr)
#define FIRST_INSTR(code) (_PyCode_CODE(code) - 1)
#else
#define CURRENT_FRAME(thread) ((thread)->current_frame)
#define FRAME_CODE(frame) ((PyCodeObject *)(frame)->f_executable)
#define SET_FRAME_CODE(frame, code) Py_SETREF((frame)->f_executable, Py_NewRef(code))
#define FRAME_NEXT(frame) ((frame)->instr_ptr)
#define FIRST_INSTR(code) _PyCode_CODE(code)
#endif

/* The interpreter has one slot, and so have we. */
static struct {
    jy_hook_callback callback;
    _PyFrameEvalFunction previous;
} hook;

static bool
is_fresh(PyThreadState *thread, _PyInterpreterFrame *frame)
{
    PyCodeObject *code = FRAME_CODE(frame);
    return frame->owner == FRAME_OWNED_BY_THREAD && frame->frame_obj == NULL &&
           FRAME_NEXT(frame) == FIRST_INSTR(code) && frame->stacktop == code->co_nlocalsplus &&
           (PyObject **)frame + FRAME_SIZE(code) == thread->datastack_top;
}

static PyObject *
evaluate(PyThreadState *thread, _PyInterpreterFrame *frame, int throwing)
{
    if (throwing || hook.callback == NULL || !is_fresh(thread, frame))
        return hook.previous(thread, frame, throwing);
    return hook.callback(thread, frame);
}

bool
jy_hook_install(jy_hook_callback callback)
{
    PyInterpreterState *interp = PyInterpreterState_Get();
    if (hook.callback != NULL)
        return false;
    hook.callback = callback;
    if (hook.previous == NULL) { /* else ours is still in the chain */
        hook.previous = _PyInterpreterState_GetEvalFrameFunc(interp);
        _PyInterpreterState_SetEvalFrameFunc(interp, evaluate);
    }
    return true;
}

void
jy_hook_uninstall(void)
{
    PyInterpreterState *interp = PyInterpreterState_Get();
    hook.callback = NULL;
    if (hook.previous != NULL && _PyInterpreterState_GetEvalFrameFunc(interp) == evaluate) {
        _PyInterpreterState_SetEvalFrameFunc(interp, hook.previous);
        hook.previous = NULL;
    }
}

PyObject *
jy_hook_run(PyThreadState *thread, _PyInterpreterFrame *frame)
{
    /* The callback may have run code that gave the slot back. */
    return (hook.previous != NULL ? hook.previous : _PyEval_EvalFrameDefault)(thread, frame, 0);
}

bool
jy_hook_may_answer(void)
{
    return PY_VERSION_HEX < 0x030c0000;
}

PyCodeObject *
jy_frame_code(const _PyInterpreterFrame *frame)
{
    return FRAME_CODE(frame);
}

PyObject *
jy_frame_function(const _PyInterpreterFrame *frame)
{
    return FRAME_FUNCTION(frame);
}

PyObject *const *
jy_frame_parameters(const _PyInterpreterFrame *frame)
{
    return frame->localsplus;
}

bool
jy_frame_recode(PyThreadState *thread, _PyInterpreterFrame *frame, PyCodeObject *code)
{
    PyCodeObject *old = FRAME_CODE(frame);
    int grow = FRAME_SIZE(code) - FRAME_SIZE(old);
    if (grow != 0 && (old->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0)
        return false;
    if (grow > thread->datastack_limit - thread->datastack_top)
        return false;
    thread->datastack_top += grow;
    for (int i = old->co_nlocalsplus; i < code->co_nlocalsplus; i++)
        frame->localsplus[i] = NULL;
    frame->stacktop = code->co_nlocalsplus;
    FRAME_NEXT(frame) = FIRST_INSTR(code);
    SET_FRAME_CODE(frame, code);
    return true;
}

PyObject *
jy_thread_running_function(PyThreadState *thread)
{
    const _PyInterpreterFrame *frame = CURRENT_FRAME(thread);
    return frame != NULL && HAS_FUNCTION(frame) ? FRAME_FUNCTION(frame) : NULL;
}

bool
jy_thread_frame_is_kept(PyThreadState *thread)
{
    const _PyInterpreterFrame *frame = CURRENT_FRAME(thread);
    return frame->frame_obj != NULL && Py_REFCNT(frame->frame_obj) > 1;
}

Py_ssize_t
jy_code_request_extra(freefunc drop)
{
    Py_ssize_t index = REQUEST_EXTRA(drop);
    if (index < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "jitney: no place is left in code objects for data of ours");
    return index;
}

void *
jy_code_extra(PyCodeObject *code, Py_ssize_t index)
{
    void *extra = NULL;
    return GET_EXTRA((PyObject *)code, index, &extra) < 0 ? NULL : extra;
}

int
jy_code_set_extra(PyCodeObject *code, Py_ssize_t index, void *extra)
{
    return SET_EXTRA((PyObject *)code, index, extra);
}

void
jy_code_forget_version(PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030d0000
    code->co_version = 0;
#else
    (void)code;
#endif
}
