/* Running a program as the interpreter's own command runs it. */
#ifndef JITNEY_RUNTIME_PROGRAM_H
#define JITNEY_RUNTIME_PROGRAM_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef jy_program_methods[];
#endif
