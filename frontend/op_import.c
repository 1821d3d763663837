/* Imports inside functions, of modules that are loaded already: then the instruction looks into sys.modules, and so does the guard. Everything that would run code of an import breaks: a
 * module that is not there or half loaded, names that could be submodules, relative names, an __import__ of the program's. */
#include "frontend/ops.h"

#include <string.h>

/* sys.modules[name], guarded. */
static jy_status
get_module(struct jy_frame *f, struct jy_value **out, PyObject *name)
{
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *module = PyDict_CheckExact(modules) ? PyDict_GetItemWithError(modules, name) : NULL;
    if (module == NULL || !PyModule_CheckExact(module)) {
        PyErr_Clear();
        return jy_break(f, JY_BREAK_IMPORT, "the module %s, which is not loaded", jy_utf8(name));
    }
    PyObject *spec = jy_hold(f, PyObject_GetAttrString(module, "__spec__"));
    PyObject *loading = spec != NULL ? jy_hold(f, PyObject_GetAttrString(spec, "_initializing")) : NULL;
    PyErr_Clear();
    if (loading != NULL && loading != Py_False)
        return jy_break(f, JY_BREAK_IMPORT, "the module %s, which is being loaded", jy_utf8(name));
    struct jy_unit *unit = f->f_trace->unit;
    jy_src all = jy_source_add(unit, JY_SOURCE_OBJECT, 0, 0, modules);
    *out = jy_value_lazy(f, module, jy_source_add(unit, JY_SOURCE_KEY, all, 0, name));
    return jy_value_realize(f, *out);
}

/* builtins.__import__ is CPython's own. */
static jy_status
check_import(struct jy_frame *f)
{
    PyObject *name = jy_hold(f, PyUnicode_InternFromString("__import__"));
    PyObject *import = name != NULL ? PyDict_GetItemWithError(f->f_builtins, name) : NULL;
    if (import == NULL || !PyCFunction_CheckExact(import) ||
        strcmp(((PyCFunctionObject *)import)->m_ml->ml_name, "__import__") != 0) {
        PyErr_Clear();
        return jy_break(f, JY_BREAK_IMPORT, "an __import__ that is not CPython's");
    }
    jy_guard_is(f, jy_source_add(f->f_trace->unit, JY_SOURCE_BUILTIN, f->f_function_source, 0, name), import);
    return JY_OK;
}

/* A package looks for submodules under names that it does not have. */
static jy_status
check_names(struct jy_frame *f, const struct jy_value *module, PyObject *names)
{
    PyObject *dict = PyModule_GetDict(module->v_object);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if (!PyUnicode_CheckExact(name) || PyDict_Contains(dict, name) != 1) {
            PyErr_Clear();
            return jy_break(f, JY_BREAK_IMPORT, "a name that %s does not have", jy_value_describe(f, module));
        }
    }
    return JY_OK;
}

jy_status
op_import_name(struct jy_frame *f, const struct jy_instr *instr)
{
    PyObject *name = jy_code_name(f->f_instrs, instr->i_arg);
    PyObject *names = jy_value_known(*jy_peek(f, 1)), *level = jy_value_known(*jy_peek(f, 2));
    struct jy_value *module;
    if (level == NULL || !PyLong_CheckExact(level) || PyLong_AsLong(level) != 0)
        return jy_break(f, JY_BREAK_IMPORT, "a relative import of %s", jy_utf8(name));
    TRY(check_import(f));
    TRY(get_module(f, &module, name));
    Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, PyUnicode_GET_LENGTH(name), 1);
    if (names != NULL && PyTuple_CheckExact(names) && PyTuple_GET_SIZE(names) != 0) {
        TRY(check_names(f, module, names));
    } else if (names == Py_None && dot >= 0) { /* `import a.b` binds a */
        PyObject *top = PyUnicode_Substring(name, 0, dot);
        if (top == NULL)
            return JY_ERROR;
        PyUnicode_InternInPlace(&top);
        if (jy_hold(f, top) == NULL)
            return JY_ERROR;
        TRY(get_module(f, &module, top));
    } else if (names != Py_None) {
        return jy_break(f, JY_BREAK_IMPORT, "%s", jy_utf8(name));
    }
    return jy_replace(f, 2, module);
}

jy_status
op_import_from(struct jy_frame *f, const struct jy_instr *instr)
{
    PyObject *name = jy_code_name(f->f_instrs, instr->i_arg);
    struct jy_value *module = *jy_peek(f, 1), *v;
    if (module->v_kind != JY_V_MODULE || PyDict_Contains(PyModule_GetDict(module->v_object), name) != 1) {
        PyErr_Clear();
        return jy_break(f, JY_BREAK_IMPORT, "%s of %s", jy_utf8(name), jy_value_describe(f, module));
    }
    TRY(jy_getattr(f, &v, module, name));
    return jy_push(f, v);
}
