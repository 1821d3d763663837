/* What a program tells jitney at run time: stances, disabled regions, marks; and the errors that tell the program. */
#ifndef JY_RUNTIME_API_H
#define JY_RUNTIME_API_H

#include <Python.h>
#include "graph/unit.h"

struct jy_function;

enum jy_stance {
    JY_STANCE_DEFAULT,
    JY_STANCE_FORCE_EAGER,        /* every call runs in CPython */
    JY_STANCE_EAGER_ON_RECOMPILE, /* what is compiled runs; nothing new is compiled */
    JY_STANCE_FAIL_ON_RECOMPILE /* where entries exist and none fits, RecompileError is raised; nothing new is compiled */
};

struct jy_api {
    uint32_t stance;
    uint32_t disabled; /* regions of jitney.disable() that are open, in all threads */
    PyObject *full_graph_error, *recompile_error;
};

int jy_api_init(PyObject *module);

/* Entry asks when stance or disabled are not 0: must this call run in CPython? */
bool jy_api_forces_eager(void);
/* May a call compile where it found that many entries? 1, 0, or -1 with an exception. */
int jy_api_allows_compile(struct jy_function *function, size_t nentries);

/* fullgraph=True: the break is the user's error. JY_ERROR. */
jy_status jy_api_raise_full_graph(const struct jy_break_info *why);

void jy_api_free_texts(char **texts); /* NULL-terminated, may be NULL */

#endif
