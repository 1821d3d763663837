/* Whole-program mode: hot functions are found and compiled in place, without a decorator. */
#ifndef JY_RUNTIME_WHOLE_PROGRAM_H
#define JY_RUNTIME_WHOLE_PROGRAM_H

#include <Python.h>

struct jy_whole; /* owned by the runtime struct, lives as long as the process */

extern PyMethodDef jy_whole_methods[];

#endif
