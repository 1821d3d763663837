#include "frontend/cpython/emit.h"

#include "frontend/cpython/compat.h"

static int
named(struct jy_code *code, int op, PyObject *name, int shift)
{
    int index = jy_edit_add_name(code, name);
    return index < 0 ? -1 : jy_edit_append(code, op, index << shift);
}

int
jy_emit_load_global(struct jy_code *code, PyObject *name)
{
    return named(code, LOAD_GLOBAL, name, 1);
}

int
jy_emit_callable_global(struct jy_code *code, PyObject *name)
{
#if PY_VERSION_HEX < 0x030d0000
    jy_edit_append(code, PUSH_NULL, 0);
    return jy_emit_load_global(code, name);
#else
    return jy_emit_load_global(code, name) < 0 ? -1 : jy_edit_append(code, PUSH_NULL, 0);
#endif
}

int
jy_emit_callable_const(struct jy_code *code, PyObject *callable)
{
#if PY_VERSION_HEX < 0x030d0000
    jy_edit_append(code, PUSH_NULL, 0);
    return jy_emit_load_const(code, callable);
#else
    return jy_emit_load_const(code, callable) < 0 ? -1 : jy_edit_append(code, PUSH_NULL, 0);
#endif
}

int
jy_emit_named(struct jy_code *code, int op, PyObject *name)
{
    return named(code, op, name, 0);
}

int
jy_emit_make_function(struct jy_code *code, PyObject *body, const bool has[4])
{
    static const int flags[] = { 1, 2, 4, 8 };
    if (jy_emit_load_const(code, body) < 0)
        return -1;
#if PY_VERSION_HEX < 0x030d0000
    int all = 0;
    for (int k = 0; k < 4; k++)
        all |= has[k] ? flags[k] : 0;
    return jy_edit_append(code, MAKE_FUNCTION, all);
#else
    int id = jy_edit_append(code, MAKE_FUNCTION, 0);
    for (int k = 4; k-- > 0;)
        if (has[k])
            id = jy_edit_append(code, SET_FUNCTION_ATTRIBUTE, flags[k]);
    return id;
#endif
}

int
jy_emit_load_cell(struct jy_code *code, int slot)
{
#if PY_VERSION_HEX < 0x030d0000
    return jy_edit_append(code, LOAD_CLOSURE, slot);
#else
    return jy_edit_append(code, LOAD_FAST, slot);
#endif
}

bool
jy_emit_take_local(struct jy_code *code, int local)
{
#if PY_VERSION_HEX < 0x030c0000
    jy_edit_append(code, MAKE_CELL, local);
    jy_edit_append(code, LOAD_FAST, local);
    return true;
#else
    jy_edit_append(code, LOAD_FAST_AND_CLEAR, local);
    return false;
#endif
}

int
jy_emit_call(struct jy_code *code, int nargs)
{
#if PY_VERSION_HEX < 0x030c0000
    jy_edit_append(code, PRECALL, nargs);
#endif
    return jy_edit_append(code, CALL, nargs);
}

int
jy_emit_load_attr(struct jy_code *code, PyObject *name)
{
#if PY_VERSION_HEX < 0x030c0000
    return named(code, LOAD_ATTR, name, 0);
#else
    return named(code, LOAD_ATTR, name, 1);
#endif
}

int
jy_emit_load_const(struct jy_code *code, PyObject *value)
{
    int index = jy_edit_add_const(code, value);
    return index < 0 ? -1 : jy_edit_append(code, LOAD_CONST, index);
}

int
jy_emit_load_free(struct jy_code *code, int index)
{
    int first = code->c_nlocalsplus - (int)PyTuple_GET_SIZE(code->c_origin->co_localsplusnames);
    for (int k = 0; k < PyTuple_GET_SIZE(code->c_origin->co_localsplusnames); k++, first++)
        if (jy_compat_local_kind(code->c_origin, k) & JY_LOCAL_FREE)
            return jy_edit_append(code, LOAD_DEREF, first + index);
    PyErr_SetString(PyExc_SystemError, "the code has no free variables");
    return -1;
}

int
jy_emit_pop_jump_if_false(struct jy_code *code)
{
#if PY_VERSION_HEX < 0x030c0000
    return jy_edit_append(code, POP_JUMP_FORWARD_IF_FALSE, 0);
#else
    return jy_edit_append(code, POP_JUMP_IF_FALSE, 0);
#endif
}

int
jy_emit_pop_jump_if_truthy(struct jy_code *code)
{
#if PY_VERSION_HEX < 0x030c0000
    return jy_edit_append(code, POP_JUMP_FORWARD_IF_TRUE, 0);
#else
#if PY_VERSION_HEX >= 0x030d0000
    jy_edit_append(code, TO_BOOL, 0);
#endif
    return jy_edit_append(code, POP_JUMP_IF_TRUE, 0);
#endif
}
