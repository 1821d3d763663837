/* Long kernels that touch nothing of Python's run without the GIL, for a slice of time: then their word says that they have to leave, whether anything has happened or not. */
#ifndef JY_RUNTIME_GIL_H
#define JY_RUNTIME_GIL_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* A thread that is away: in its own frame, known to others until it takes the GIL again. */
struct jy_away {
    uint32_t leave; /* what its machine code watches: not 0 when it has to leave */
    bool told;
    int64_t until; /* CLOCK_MONOTONIC, nanoseconds */
    PyThreadState *thread;
    struct jy_away *previous, *next;
};

/* The GIL is held, and given up. False: it is held yet, since nobody could end the slice. */
bool jy_gil_release(struct jy_away *out);
/* Waits for it. Where the interpreter has ended meanwhile, the thread ends in here. */
void jy_gil_take(struct jy_away *away);
/* Once per process: a child of fork() has nobody who is away. */
void jy_gil_init(void);
/* At the end of the interpreter: nobody goes away any more. */
void jy_gil_stop(void);

#endif
