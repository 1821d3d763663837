/* What tests/python/test_bytecode.py and tests/tools/nop_stdlib.py call. */
#include "frontend/cpython/test_methods.h"

#include "frontend/cpython/assemble.h"
#include "frontend/cpython/compat.h"
#include "frontend/cpython/decode.h"
#include "frontend/cpython/edit.h"
#include "frontend/cpython/nops.h"
#include "frontend/cpython/verify_code.h"
#include "frontend/sweep.h"

/* refs: returns new, or NULL with an exception for every other outcome. */
static PyObject *
transform(PyObject *origin, jy_code_editor edit, void *context)
{
    PyObject *result;
    jy_status status = jy_transform_code_object(&result, origin, edit, context);
    if (status == JY_NOMEM)
        PyErr_NoMemory();
    return status == JY_OK ? result : NULL;
}

/* ---- bytecode_roundtrip(code) ---- */

static jy_status
edit_nothing(struct jy_code *code, void *context)
{
    (void)code, (void)context;
    return JY_OK;
}

static PyObject *
bytecode_roundtrip(PyObject *module, PyObject *code)
{
    (void)module;
    return transform(code, edit_nothing, NULL);
}

/* ---- bytecode_insert_nops(code, count, seed): nested code objects, too ---- */

struct insertion {
    int count;
    uint64_t state; /* of jy_nops_random */
};

static jy_status
edit_nested(struct jy_code *code, jy_code_editor edit, void *context)
{
    Py_ssize_t nconsts = PyTuple_GET_SIZE(code->c_origin->co_consts);
    for (int i = 0; i < nconsts; i++) {
        PyObject *nested = jy_code_const(code, i);
        if (!PyCode_Check(nested))
            continue;
        nested = transform(nested, edit, context);
        int failed = nested == NULL ? -1 : jy_edit_set_const(code, i, nested);
        Py_XDECREF(nested);
        if (failed)
            return JY_ERROR;
    }
    return JY_OK;
}

static jy_status
edit_nops(struct jy_code *code, void *context)
{
    struct insertion *in = context;
    TRY(edit_nested(code, edit_nops, in));
    jy_nops_insert(code, in->count, &in->state);
    return JY_OK;
}

static PyObject *
bytecode_insert_nops(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *code;
    unsigned long long seed;
    struct insertion in;
    if (!PyArg_ParseTuple(args, "O!iK", &PyCode_Type, &code, &in.count, &seed))
        return NULL;
    in.state = seed;
    return transform(code, edit_nops, &in);
}

/* ---- bytecode_sweep(code, count, seed): with things to sweep inserted first, nested code objects, too ---- */

enum { JUNK_LOCAL, JUNK_DELETED, JUNK_JUMP, JUNK_UNREACHABLE, JUNK_READ, JUNK_KINDS };

static void
insert_junk(struct jy_code *code, int at, int kind, int local, int constant)
{
    if (kind == JUNK_JUMP || kind == JUNK_UNREACHABLE)
        jy_edit_set_target(code, jy_edit_insert_before(code, at, JUMP_FORWARD, 0), at);
    if (kind == JUNK_JUMP)
        return;
    jy_edit_insert_before(code, at, LOAD_CONST, constant);
    if (kind == JUNK_UNREACHABLE) {
        jy_edit_insert_before(code, at, RETURN_VALUE, 0);
        return;
    }
    jy_edit_insert_before(code, at, STORE_FAST, local);
    if (kind == JUNK_READ) {
        jy_edit_insert_before(code, at, LOAD_FAST, local);
        jy_edit_insert_before(code, at, POP_TOP, 0);
    }
    if (kind == JUNK_DELETED)
        jy_edit_insert_before(code, at, DELETE_FAST, local);
}

static jy_status
edit_junk(struct jy_code *code, void *context)
{
    struct insertion *in = context;
    TRY(edit_nested(code, edit_junk, in));
    bool is_function = (code->c_origin->co_flags & CO_OPTIMIZED) != 0; /* others have no locals to add */
    PyObject *name = PyUnicode_FromString(".junk");
    int local = name == NULL ? -1 : is_function ? jy_edit_add_local(code, name) : 0;
    int constant = local < 0 ? -1 : jy_edit_add_const(code, name);
    Py_XDECREF(name);
    if (constant < 0)
        return JY_ERROR;
    for (int i = 0; i < in->count; i++) {
        int at = (int)(jy_nops_random(&in->state) % (uint64_t)code->c_ndecoded);
        int kind = (int)(jy_nops_random(&in->state) % JUNK_KINDS);
        if (!is_function)
            kind = kind % 2 == 0 ? JUNK_JUMP : JUNK_UNREACHABLE;
        if (!jy_edit_is_glued(code, at))
            insert_junk(code, at, kind, local, constant);
    }
    return jy_sweep_code(code);
}

static PyObject *
bytecode_sweep(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *code;
    unsigned long long seed;
    struct insertion in;
    if (!PyArg_ParseTuple(args, "O!iK", &PyCode_Type, &code, &in.count, &seed))
        return NULL;
    in.state = seed;
    return transform(code, edit_junk, &in);
}

/* ---- bytecode_add_locals(code, names): each is bound and deleted at the start, so that the new slots are used ---- */

static int
start_of_body(const struct jy_code *code)
{
    int id = jy_code_begin(code);
    while (jy_code_at(code, id)->i_op != RESUME)
        id = jy_code_next(code, id);
    return id;
}

static jy_status
edit_locals(struct jy_code *code, void *context)
{
    PyObject *names = context;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        int local = jy_edit_add_local(code, PyTuple_GET_ITEM(names, i));
        int constant = local < 0 ? -1 : jy_edit_add_const(code, PyTuple_GET_ITEM(names, i));
        if (constant < 0)
            return JY_ERROR;
        int id = jy_edit_insert_after(code, start_of_body(code), LOAD_CONST, constant);
        id = jy_edit_insert_after(code, id, STORE_FAST, local);
        jy_edit_insert_after(code, id, DELETE_FAST, local);
    }
    return JY_OK;
}

static PyObject *
bytecode_add_locals(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *code, *names;
    if (!PyArg_ParseTuple(args, "O!O!", &PyCode_Type, &code, &PyTuple_Type, &names))
        return NULL;
    return transform(code, edit_locals, names);
}

/* ---- bytecode_verify(code): the stack size, or ValueError ---- */

static jy_status
edit_verify(struct jy_code *code, void *context)
{
    TRY(jy_verify_code(code));
    *(int *)context = code->c_stacksize;
    return JY_OK;
}

static PyObject *
bytecode_verify(PyObject *module, PyObject *code)
{
    (void)module;
    int stacksize = 0;
    PyObject *copy = transform(code, edit_verify, &stacksize);
    if (copy == NULL)
        return NULL;
    Py_DECREF(copy);
    return PyLong_FromLong(stacksize);
}

/* ---- bytecode_decode(code): [(opname, arg, target, offset, prefix, depth, line, end_line, column, end_column)] ---- */

static jy_status
edit_list(struct jy_code *code, void *context)
{
    PyObject *list = context;
    TRY(jy_verify_code(code));
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        const struct jy_instr *instr = jy_code_at(code, id);
        struct jy_position p = instr->i_position;
        PyObject *row =
            Py_BuildValue("siiiiiiiii", jy_instr_opname(instr->i_op), instr->i_arg, instr->i_target, instr->i_offset,
                          instr->i_prefix, instr->i_depth, p.line, p.end_line, p.column, p.end_column);
        int failed = row == NULL ? -1 : PyList_Append(list, row);
        Py_XDECREF(row);
        if (failed)
            return JY_ERROR;
    }
    return JY_OK;
}

static PyObject *
bytecode_decode(PyObject *module, PyObject *code)
{
    (void)module;
    PyObject *list = PyList_New(0);
    PyObject *copy = list == NULL ? NULL : transform(code, edit_list, list);
    if (copy == NULL)
        Py_CLEAR(list);
    Py_XDECREF(copy);
    return list;
}

/* ---- bytecode_facts(opcode, arg, jump): None, or (name, argkind, caches, pops, pushes, falls through) ---- */

static PyObject *
bytecode_facts(PyObject *module, PyObject *args)
{
    (void)module;
    int op, arg, jump;
    if (!PyArg_ParseTuple(args, "iip", &op, &arg, &jump))
        return NULL;
    if (op < 0 || op > 255 || !jy_instr_has_row(op))
        Py_RETURN_NONE;
    return Py_BuildValue("siiiii", jy_instr_opname(op), jy_instr_argkind(op), jy_instr_caches(op),
                         jy_instr_pops(op, arg), jy_instr_pushes(op, arg, jump != 0), jy_instr_falls_through(op));
}

/* ---- compat_is_watched(code, own_tool) ---- */

static PyObject *
compat_is_watched(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *code;
    int own_tool;
    if (!PyArg_ParseTuple(args, "O!i", &PyCode_Type, &code, &own_tool))
        return NULL;
    struct jy_compat_watch watch;
    jy_compat_fill_watch(&watch, own_tool);
    return PyBool_FromLong(jy_compat_is_watched(&watch, code));
}

/* ---- compat_slot(dict, key, change): None, or (the value after change(), the version has changed) ---- */

static PyObject *
compat_slot(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *dict, *key, *change;
    struct jy_dict_slot slot;
    if (!PyArg_ParseTuple(args, "O!OO", &PyDict_Type, &dict, &key, &change))
        return NULL;
    if (!jy_compat_find_slot(&slot, dict, key))
        Py_RETURN_NONE;
    uint64_t version = jy_compat_dict_version(dict);
    PyObject *result = PyObject_CallNoArgs(change);
    if (result == NULL)
        return NULL;
    Py_DECREF(result);
    PyObject *value = jy_compat_probe_slot(&slot, dict);
    return Py_BuildValue("OO", value == NULL ? Py_Ellipsis : value,
                         version == jy_compat_dict_version(dict) ? Py_False : Py_True);
}

/* ---- compat_type_version(type): (without giving one out, with) ---- */

static PyObject *
compat_type_version(PyObject *module, PyObject *type)
{
    (void)module;
    unsigned before = jy_compat_type_version((PyTypeObject *)type);
    return Py_BuildValue("II", before, jy_compat_take_type_version((PyTypeObject *)type));
}

/* ---- compat_override(function, while): calls while() under an entry that answers 42; the versions before and after ---- */

static PyObject *
answer(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    (void)callable, (void)args, (void)nargsf, (void)kwnames;
    return PyLong_FromLong(42);
}

static PyObject *
compat_override(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *function, *meanwhile;
    if (!PyArg_ParseTuple(args, "O!O", &PyFunction_Type, &function, &meanwhile))
        return NULL;
    vectorcallfunc plain = jy_compat_get_vectorcall(function);
    uint32_t version = jy_compat_function_version(function);
    jy_compat_set_vectorcall(function, answer);
    PyObject *result = PyObject_CallNoArgs(meanwhile);
    jy_compat_restore_vectorcall(function, plain, version);
    if (result == NULL)
        return NULL;
    return Py_BuildValue("NII", result, version, jy_compat_function_version(function));
}

PyMethodDef jy_bytecode_test_methods[] = {
    { "bytecode_roundtrip", bytecode_roundtrip, METH_O, "decode and assemble one code object" },
    { "bytecode_insert_nops", bytecode_insert_nops, METH_VARARGS,
      "(code, count, seed): NOPs at random places, nested code too" },
    { "bytecode_sweep", bytecode_sweep, METH_VARARGS, "(code, count, seed): with junk inserted and swept away again" },
    { "bytecode_add_locals", bytecode_add_locals, METH_VARARGS, "(code, names): the code with more locals" },
    { "bytecode_verify", bytecode_verify, METH_O,
      "the stack size that a code object needs; ValueError: it is not legal" },
    { "bytecode_decode", bytecode_decode, METH_O, "a list of rows, one per instruction" },
    { "bytecode_facts", bytecode_facts, METH_VARARGS, "(opcode, arg, jump): a row of the opcode table" },
    { "compat_is_watched", compat_is_watched, METH_VARARGS,
      "(code, own tool): tracing, profiling or monitoring is active" },
    { "compat_slot", compat_slot, METH_VARARGS, "(dict, key, change): what a slot probe finds after change()" },
    { "compat_type_version", compat_type_version, METH_O, "a type's version tag, before and after asking for one" },
    { "compat_override", compat_override, METH_VARARGS, "(function, while): versions before and after an override" },
    { NULL, NULL, 0, NULL },
};
