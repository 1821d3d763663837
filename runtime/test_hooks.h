/* Methods of _jitney that only tests call (test_hooks.c). */
#ifndef JY_RUNTIME_TEST_HOOKS_H
#define JY_RUNTIME_TEST_HOOKS_H

#include <Python.h>

extern PyMethodDef jy_exec_test_methods[];

#endif
