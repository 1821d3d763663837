/* Calls of Python's own callables: which row of builtins.def, and pure C functions (math, parts of builtins) on constants. */
#include "frontend/ambient.h"
#include "frontend/call_builtin.h"

#include <string.h>

#include "frontend/exception.h"
#include "frontend/instance.h"
#include "frontend/number.h"

/* ---- what the handlers share ---- */

jy_status
jy_builtin_unknown(struct jy_frame *f, const char *name, const struct jy_value *v)
{
    return jy_break(f, JY_BREAK_UNKNOWN_CALL, "%s(%s)", name, jy_value_describe(f, v));
}

struct jy_value *
jy_builtin_keyword(bool *bad, const char *name, size_t n, struct jy_value *const *args, PyObject *kwnames)
{
    struct jy_value *found = NULL;
    for (Py_ssize_t i = 0; kwnames != NULL && i < PyTuple_GET_SIZE(kwnames); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), name) == 0)
            found = args[n + (size_t)i];
        else
            *bad = true;
    }
    return found;
}

void
jy_builtin_mark_temporary(struct jy_frame *f, struct jy_value *v)
{
    if (v->v_kind == JY_V_ARRAY)
        v->v_temporary = v->v_source == JY_NO_SOURCE && v->u.array.storage->fresh && v->u.array.view == NULL &&
                         jy_frame_references(f, v) == 0;
}

/* ---- the tables ---- */

static const struct row {
    const char *name;
    PyTypeObject *type;
    jy_builtin *call;
    uint8_t least, most;
    bool keywords;
} rows[] = {
#define FUNCTION(name, handler, least, most, keywords) { #name, NULL, handler, least, most, keywords },
#define TYPE(type, handler, least, most, keywords) { #type, &type, handler, least, most, keywords },
#define OPERATOR(name, op)
#define UNARY(name, op)
#define COMPARE(name, op)
#include "frontend/builtins.def"
};

static const struct operator_row {
    const char *name;
    uint8_t nargs, which, op; /* which: 0 binary, 1 unary, 2 comparison */
} operators[] = {
#define FUNCTION(name, handler, least, most, keywords)
#define TYPE(type, handler, least, most, keywords)
#define OPERATOR(name, op) { #name, 2, 0, op },
#define UNARY(name, op) { #name, 1, 1, op },
#define COMPARE(name, op) { #name, 2, 2, op },
#include "frontend/builtins.def"
};

static jy_status
call_row(struct jy_frame *f, struct jy_value **out, const struct row *row, size_t n, struct jy_value *const *args,
         PyObject *kwnames)
{
    if (n < row->least || n > row->most)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu arguments for %s", n, row->name);
    if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0 && !row->keywords)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords for %s", row->name);
    for (size_t i = 0; i < n; i++)
        TRY(jy_value_realize(f, args[i]));
    return row->call(f, out, n, args, kwnames);
}

static jy_status
call_operator(struct jy_frame *f, struct jy_value **out, const struct operator_row *row, size_t n,
              struct jy_value *const *args)
{
    if (n != row->nargs)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%zu arguments for operator.%s", n, row->name);
    for (size_t i = 0; i < n; i++)
        jy_builtin_mark_temporary(f, args[i]);
    if (row->which == 1)
        return jy_unary(f, out, (enum jy_unary)row->op, args[0]);
    if (row->which == 2)
        return jy_compare_values(f, out, (enum jy_compare)row->op, args[0], args[1]);
    return jy_binary(f, out, (enum jy_nb)row->op, false, args[0], args[1]);
}

static const char *
module_of(PyObject *function)
{
    PyObject *module = ((PyCFunctionObject *)function)->m_module;
    const char *name = module != NULL && PyUnicode_Check(module) ? jy_utf8(module) : NULL;
    return name != NULL ? name : "";
}

/* C functions that only look at their arguments and finish soon. */
static bool
is_pure(const char *module, const char *name)
{
    static const char *const of_builtins[] = { "ascii", "bin", "chr", "format", "hash",
                                               "hex",   "oct", "ord", "repr",   "round" };
    static const char *const slow_of_math[] = { "factorial", "comb", "perm" };
    bool math = strcmp(module, "math") == 0;
    for (size_t i = 0; math && i < sizeof slow_of_math / sizeof *slow_of_math; i++)
        if (strcmp(slow_of_math[i], name) == 0)
            return false;
    for (size_t i = 0; strcmp(module, "builtins") == 0 && i < sizeof of_builtins / sizeof *of_builtins; i++)
        if (strcmp(of_builtins[i], name) == 0)
            return true;
    return math;
}

static jy_status
call_pure(struct jy_frame *f, struct jy_value **out, PyObject *function, size_t n, struct jy_value *const *args,
          PyObject *kwnames)
{
    const char *name = ((PyCFunctionObject *)function)->m_ml->ml_name;
    bool known;
    if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0)
        return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "keywords for %s", name);
    for (size_t i = 0; i < n; i++) {
        TRY(jy_value_realize(f, args[i]));
        TRY(jy_value_bake(f, &known, args[i]));
        if (!known && args[i]->v_kind == JY_V_SCALAR)
            return jy_break(f, JY_BREAK_SCALAR_OP, "%s(%s)", name, jy_value_describe(f, args[i]));
        if (jy_value_is_numpy_bool(f, args[i]))
            return jy_break(f, JY_BREAK_SCALAR_OP, "%s of a numpy.bool, which may warn", name);
    }
    PyObject *objects = jy_hold(f, jy_value_as_object(f, jy_value_seq(f, JY_V_TUPLE, n, args)));
    if (objects == NULL || !jy_value_is_plain(f, objects))
        return jy_builtin_unknown(f, name, n != 0 ? args[0] : jy_value_const(f, Py_None));
    TRY(jy_check_digits(f, objects));
    if (strcmp(name, "format") == 0 && n == 2)
        TRY(jy_check_locale(f, PyTuple_GET_ITEM(objects, 1), false));
    PyObject *result = jy_hold(f, PyObject_Call(function, objects, NULL));
    if (result == NULL)
        return jy_raise_from_exception(f);
    if (!jy_value_is_plain(f, result))
        return jy_builtin_unknown(f, name, args[0]);
    *out = jy_value_const(f, result);
    return JY_OK;
}

static jy_status
call_function(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *function, size_t n,
              struct jy_value *const *args, PyObject *kwnames)
{
    const char *module = module_of(function), *name = ((PyCFunctionObject *)function)->m_ml->ml_name;
    *handled = true;
    for (size_t i = 0; strcmp(module, "builtins") == 0 && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == NULL && strcmp(rows[i].name, name) == 0)
            return call_row(f, out, &rows[i], n, args, kwnames);
    for (size_t i = 0; strcmp(module, "_operator") == 0 && i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i].name, name) == 0)
            return call_operator(f, out, &operators[i], n, args);
    if (is_pure(module, name))
        return call_pure(f, out, function, n, args, kwnames);
    *handled = false;
    return JY_OK;
}

jy_status
jy_call_builtin(struct jy_frame *f, struct jy_value **out, bool *handled, PyObject *callable, size_t nargs,
                struct jy_value *const *args, PyObject *kwnames)
{
    if (PyCFunction_CheckExact(callable))
        return call_function(f, out, handled, callable, nargs, args, kwnames);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].type != NULL && (PyObject *)rows[i].type == callable) {
            *handled = true;
            return call_row(f, out, &rows[i], nargs, args, kwnames);
        }
    }
    return JY_OK;
}
