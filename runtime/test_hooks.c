/* Hooks for tests: a graph given as text, compiled and called without bytecode, frontend or guards.
 *
 *     _test_compile_graph(text, executor="llvm", compare=False, globals=None, objects=()) -> compiled function;
 * NotImplemented stands for "the original must run"
 *     _test_run_graph(text, *inputs, executor=..., compare=...) -> tuple of outputs, or NotImplemented
 *     _test_exec_stats(compiled) -> dict     _test_exec_texts(compiled) -> dict     _test_blocks_kept() -> bytes
 *     _test_time_guards(function, args, n) -> ns     _test_flow_helper(name, *args) -> result, or NotImplemented where it fails
 *
 * Call-outs in the text name their callables by handle: handle k is objects[k - 1]. The inputs of _test_run_graph are
 * checked against the placeholders, because no guards stand before. */
#include "runtime/test_hooks.h"
#include "frontend/frontend.h"
#include "graph/flow_helper.h"
#include "runtime/alloc.h"
#include "runtime/exec_internal.h"
#include "runtime/function.h"
#include "runtime/numpy_api.h"
#include <string.h>
#include <time.h>

#ifndef JY_TEST_BACKEND_PATH
#define JY_TEST_BACKEND_PATH jy_runtime->backend_path
#endif

static const char *const option_names[] = { "text", "executor", "compare", "globals", "objects", NULL };

/* refs: objects borrowed. NULL with an exception. */
static struct jy_unit *
unit_from_text(const char *text, PyObject *objects)
{
    const char *error = NULL;
    struct jy_arena *arena = jy_arena_new();
    if (arena == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    struct jy_unit *unit = JY_NEW(arena, struct jy_unit);
    unit->u_arena = arena;
    unit->u_graph = jy_graph_parse(arena, text, &error);
    if (unit->u_graph == NULL || (error = jy_graph_verify(unit->u_graph)) != NULL) {
        PyErr_Format(PyExc_ValueError, "graph text: %s", error);
        jy_arena_free(arena);
        return NULL;
    }
    *jy_vec_push(arena, &unit->u_objects) = NULL;
    for (Py_ssize_t i = 0; objects != NULL && i < PyTuple_GET_SIZE(objects); i++)
        *jy_vec_push(arena, &unit->u_objects) = Py_NewRef(PyTuple_GET_ITEM(objects, i));
    return unit;
}

static int
executor_from_name(const char *name)
{
    static const char *const names[] = { "llvm", "loop", "graph", "numpy" };
    for (int i = 0; name != NULL && i < 4; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    PyErr_SetString(PyExc_ValueError, "executor is llvm, loop, graph or numpy");
    return -1;
}

/* refs: new */
static PyObject *
compile_text(const char *text, const char *executor, int compare, PyObject *globals, PyObject *objects)
{
    int chosen = executor_from_name(executor);
    struct jy_unit *unit = chosen < 0 ? NULL : unit_from_text(text, objects);
    if (unit == NULL)
        return NULL;
    struct jy_exec_options options = { .executor = (enum jy_executor)chosen,
                                       .compare = compare != 0,
                                       .verify = true,
                                       .name = unit->u_graph->g_name,
                                       .backend_path = JY_TEST_BACKEND_PATH };
    struct jy_exec *exec;
    const char *why;
    jy_status status = jy_exec_new(&exec, &why, unit, &options);
    if (status != JY_OK) {
        if (status == JY_NOMEM)
            PyErr_NoMemory();
        else if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "not compiled: %s", why == NULL ? "?" : why);
        jy_unit_free(unit);
        return NULL;
    }
    if (globals != NULL && PyDict_Check(globals))
        jy_exec_set_globals(exec, globals);
    PyObject *compiled = jy_compiled_fn_new(exec, "graph", Py_NotImplemented);
    if (compiled == NULL)
        jy_exec_free(exec);
    return compiled;
}

static PyObject *
test_compile_graph(PyObject *module, PyObject *args, PyObject *keywords)
{
    const char *text, *executor = "llvm";
    int compare = 0;
    PyObject *globals = NULL, *objects = NULL;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|$spO!O!", (char **)(uintptr_t)option_names, &text, &executor,
                                     &compare, &PyDict_Type, &globals, &PyTuple_Type, &objects))
        return NULL;
    return compile_text(text, executor, compare, globals, objects);
}

/* What guards would have checked. */
static bool
check_input(const struct jy_graph *g, const struct jy_node *node, PyObject *input, const int64_t *symbols)
{
    const struct jy_dtype_info *info = &jy_dtype_info[node->n_dtype];
    union jy_scalar value;
    if (node->n_kind != JY_KIND_ARRAY)
        return jy_unwrap_scalar(&value, (jy_dtype)node->n_dtype, input);
    PyArrayObject *a = (PyArrayObject *)input;
    if (!PyArray_CheckExact(input) || PyArray_TYPE(a) != info->number || PyArray_NDIM(a) != node->n_ndim ||
        !PyArray_ISALIGNED(a) || PyArray_ISBYTESWAPPED(a))
        return false;
    int64_t extents[JY_MAX_NDIM], strides[JY_MAX_NDIM];
    for (int d = 0; d < node->n_ndim; d++) {
        extents[d] = PyArray_DIM(a, d);
        strides[d] = PyArray_STRIDE(a, d);
        int64_t expected;
        if (symbols != NULL &&
            (!jy_sizes_eval(&expected, &g->g_sizes, node->n_shape[d], symbols) || expected != extents[d]))
            return false;
    }
    if (node->n_layout == NULL || PyArray_SIZE(a) == 0)
        return true;
    int64_t step = info->bytes;
    for (size_t k = node->n_ndim; k-- > 0;) {
        size_t d = node->n_layout->order[k];
        if (extents[d] != 1 && strides[d] != step &&
            (node->n_layout->contiguous || (k + 1u == node->n_ndim && node->n_layout->inner_unit)))
            return false;
        step *= extents[d];
    }
    return true;
}

static bool
check_inputs(const struct jy_exec *exec, PyObject *const *inputs, size_t n)
{
    const struct jy_graph *g = exec->unit->u_graph;
    int64_t symbols[256];
    bool good = n == g->g_ninputs && g->g_sizes.symbols.n <= 256;
    for (int round = 0; round < 2; round++) {
        if (good && round == 1)
            good = jy_run_symbols(symbols, exec, inputs);
        for (jy_ref r = 0; good && r < g->g_nodes.n; r++)
            if (jy_graph_at(g, r)->n_op == JY_OP_PLACEHOLDER)
                good =
                    check_input(g, jy_graph_at(g, r), inputs[jy_graph_at(g, r)->n_input], round == 0 ? NULL : symbols);
    }
    if (!good && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "the inputs do not fit the graph's placeholders");
    return good;
}

static PyObject *
test_run_graph(PyObject *module, PyObject *args, PyObject *keywords)
{
    const char *text, *executor = "llvm";
    int compare = 0;
    PyObject *globals = NULL, *objects = NULL, *head = PyTuple_GetSlice(args, 0, 1),
             *inputs = PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args)), *result = NULL;
    (void)module;
    if (head != NULL && inputs != NULL &&
        PyArg_ParseTupleAndKeywords(head, keywords, "s|$spO!O!", (char **)(uintptr_t)option_names, &text, &executor,
                                    &compare, &PyDict_Type, &globals, &PyTuple_Type, &objects)) {
        PyObject *compiled = compile_text(text, executor, compare, globals, objects);
        if (compiled != NULL &&
            check_inputs(jy_compiled_fn_exec(compiled), &PyTuple_GET_ITEM(inputs, 0), (size_t)PyTuple_GET_SIZE(inputs)))
            result = PyObject_Call(compiled, inputs, NULL);
        Py_XDECREF(compiled);
    }
    Py_XDECREF(head);
    Py_XDECREF(inputs);
    return result;
}

static struct jy_exec *
exec_of(PyObject *object)
{
    struct jy_exec *exec = jy_compiled_fn_exec(object);
    if (exec == NULL)
        PyErr_SetString(PyExc_TypeError, "not a compiled graph");
    return exec;
}

static PyObject *
test_exec_stats(PyObject *module, PyObject *compiled)
{
    (void)module;
    const struct jy_exec *exec = exec_of(compiled);
    if (exec == NULL)
        return NULL;
    return Py_BuildValue("{sKsKsKsI}", "calls", (unsigned long long)exec->stats.calls, "reruns",
                         (unsigned long long)exec->stats.reruns, "flag_reruns",
                         (unsigned long long)exec->stats.flag_reruns, "flags", exec->stats.flags);
}

static PyObject *
test_exec_texts(PyObject *module, PyObject *compiled)
{
    (void)module;
    struct jy_exec *exec = exec_of(compiled);
    if (exec == NULL)
        return NULL;
    const struct jy_exec_texts *t = jy_exec_texts(exec);
    return Py_BuildValue("{szszszszsz}", "graph", t->graph, "plan", t->plan, "ir", t->ir, "ir_opt", t->ir_opt, "asm",
                         t->asm_text);
}

static PyObject *
test_blocks_kept(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromSize_t(jy_blocks_kept());
}

/* (function, args, n): nanoseconds of one check of the first entry's guards, over n checks */
static PyObject *
test_time_guards(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *function, *slots;
    Py_ssize_t n;
    struct timespec start, end;
    if (!PyArg_ParseTuple(args, "OO!n", &function, &PyTuple_Type, &slots, &n))
        return NULL;
    struct jy_function *f = jy_function_find(function);
    struct jy_entry *entry = f != NULL ? f->f_call.s_entries : NULL;
    if (entry == NULL || n < 1 || (size_t)PyTuple_GET_SIZE(slots) != f->f_nparams) {
        PyErr_SetString(PyExc_ValueError, "not a compiled function with an entry for such arguments");
        return NULL;
    }
    bool held = true;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (Py_ssize_t k = 0; held && k < n; k++)
        held = jy_entry_holds(f, entry, &PyTuple_GET_ITEM(slots, 0));
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (!held) {
        PyErr_SetString(PyExc_ValueError, "the guards do not hold");
        return NULL;
    }
    return PyFloat_FromDouble(((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
                              (double)n);
}

/* refs: new; NULL with an exception */
static PyObject *
slot_object(uint8_t type, union jy_scalar value)
{
    switch ((enum jy_ftype)type) {
    case JY_F_I64:
        return PyLong_FromLongLong(value.i);
    case JY_F_F64:
        return PyFloat_FromDouble(value.d);
    case JY_F_I1:
        return PyBool_FromLong(value.bits & 1);
    case JY_F_PTR:
        return Py_NewRef((PyObject *)(uintptr_t)value.bits);
    case JY_F_NONE:
    case JY_F_I8:
    case JY_F_I16:
    case JY_F_I32:
    case JY_F_F32:
    case JY_F_TYPE_COUNT:
        break;
    }
    Py_RETURN_NONE;
}

static union jy_scalar
object_slot(uint8_t type, PyObject *object)
{
    union jy_scalar value = { .bits = 0 };
    if (type == JY_F_F64)
        value.d = PyFloat_AsDouble(object);
    else if (type == JY_F_PTR)
        value.bits = (uintptr_t)object;
    else
        value.i = PyLong_AsLongLong(object);
    return value;
}

/* A flow of one call, by the slow interpreter. */
static PyObject *
ask_helper(struct jy_arena *arena, const struct jy_flow_helper *row, PyObject *const *objects)
{
    struct jy_flow *w = jy_flow_new(arena, row->name);
    struct jy_flow_exit failed = { .x_kind = JY_EXIT_CHECK }, good = { .x_kind = JY_EXIT_RETURN };
    jy_fv args[6];
    for (size_t k = 0; k < row->nargs; k++)
        args[k] = jy_flow_const(w, 0, (enum jy_ftype)row->args[k], object_slot(row->args[k], objects[k]));
    uint32_t failure = jy_flow_exit_add(w, &failed);
    jy_fv result =
        jy_flow_ask(w, 0, jy_flow_helper_add(w, row), row->nargs, args, row->may_fail ? failure : JY_NO_EXIT);
    if (row->type != JY_F_NONE)
        *jy_vec_push(arena, &good.x_values) = result;
    jy_flow_leave(w, 0, jy_flow_exit_add(w, &good));
    struct jy_flow_owner owner = { 0 };
    union jy_scalar out = { .bits = 0 };
    void *address = jy_flow_helper_address(row->name);
    struct jy_flow_call call = { .out = &out, .helper = &address, .owner = &owner };
    PyObject *answer = NULL;
    if (!PyErr_Occurred()) {
        bool fails = jy_flow_eval(w, &call) == (int32_t)failure;
        answer = fails ? Py_NewRef(Py_NotImplemented) : slot_object(row->type, out);
    }
    jy_flow_owner_clear(&owner);
    return answer;
}

static PyObject *
test_flow_helper(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    struct jy_flow_helper row;
    PyObject *volatile answer = NULL;
    (void)module;
    const char *name = nargs > 0 ? PyUnicode_AsUTF8(args[0]) : NULL;
    if (name == NULL || !jy_flow_helper_row(&row, name) || nargs != row.nargs + 1)
        return PyErr_Format(PyExc_ValueError, "no such helper, or with other arguments");
    struct jy_arena *arena = jy_arena_new();
    if (arena != NULL && setjmp(*jy_arena_guard(arena)) == 0)
        answer = ask_helper(arena, &row, args + 1);
    if (arena == NULL)
        return PyErr_NoMemory();
    jy_arena_free(arena);
    return answer;
}

PyMethodDef jy_exec_test_methods[] = {
    { "_test_flow_helper", (PyCFunction)(void (*)(void))test_flow_helper, METH_FASTCALL, NULL },
    { "_test_time_guards", test_time_guards, METH_VARARGS, NULL },
    { "_test_compile_graph", (PyCFunction)(void (*)(void))test_compile_graph, METH_VARARGS | METH_KEYWORDS, NULL },
    { "_test_run_graph", (PyCFunction)(void (*)(void))test_run_graph, METH_VARARGS | METH_KEYWORDS, NULL },
    { "_test_exec_stats", test_exec_stats, METH_O, NULL },
    { "_test_exec_texts", test_exec_texts, METH_O, NULL },
    { "_test_blocks_kept", test_blocks_kept, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};
