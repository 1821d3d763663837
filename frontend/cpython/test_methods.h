/* The bytecode layer as Python functions, for tests only: runtime/module.c adds the table to the extension.  It ends with a
 * zero row. */
#ifndef JY_FRONTEND_CPYTHON_TEST_METHODS_H
#define JY_FRONTEND_CPYTHON_TEST_METHODS_H

#include <Python.h>

extern PyMethodDef jy_bytecode_test_methods[];

#endif
