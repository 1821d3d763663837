/* Code that runs as the interpreter's own command does: without a frame below it, and with all of the recursion limit. */
#define Py_BUILD_CORE 1 /* for the layouts in internal/ */
#include "frontend/cpython/outermost.h"

#include "internal/pycore_frame.h"

/* Where the thread keeps its innermost frame. */
static struct _PyInterpreterFrame **
innermost(PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030d0000
    return &thread->current_frame;
#else
    return &thread->cframe->current_frame;
#endif
}

/* Where the thread counts the Python frames that it may begin yet. */
static int *
frames_left(PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030c0000
    return &thread->py_recursion_remaining;
#else
    return &thread->recursion_remaining;
#endif
}

struct jy_hidden_frames
jy_compat_hide_frames(void)
{
    PyThreadState *thread = PyThreadState_Get();
    struct jy_hidden_frames hidden = { *innermost(thread), 0 };
    hidden.depth = Py_GetRecursionLimit() - *frames_left(thread);
    *innermost(thread) = NULL;
    *frames_left(thread) += hidden.depth;
    return hidden;
}

void
jy_compat_show_frames(struct jy_hidden_frames hidden)
{
    PyThreadState *thread = PyThreadState_Get();
    *innermost(thread) = hidden.frame;
    *frames_left(thread) -= hidden.depth;
}
