/* The stress modes: every function of a program goes through a part of jitney.  For ./dev stress only. */
#ifndef JY_RUNTIME_STRESS_H
#define JY_RUNTIME_STRESS_H

#include <Python.h>

struct jy_stress; /* owned by the runtime struct, lives as long as the process */

extern PyMethodDef jy_stress_methods[];

#endif
