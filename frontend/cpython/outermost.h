/* The frames of this thread, put aside for a while: what runs then finds none below it. */
#ifndef JITNEY_FRONTEND_CPYTHON_OUTERMOST_H
#define JITNEY_FRONTEND_CPYTHON_OUTERMOST_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>

struct jy_hidden_frames {
    struct _PyInterpreterFrame *frame;
    int depth;
};

/* Nobody may return into one of them before they are shown again. */
struct jy_hidden_frames jy_compat_hide_frames(void);
void jy_compat_show_frames(struct jy_hidden_frames hidden);
#endif
