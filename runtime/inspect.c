/* What Python sees of a compiled function: entries, graphs, texts and statistics as plain dicts and lists; python/jitney/ gives them faces. */
#include "runtime/function.h"
#include <stdlib.h>
#include <string.h>

static PyObject *
text_object(struct jy_text *text)
{
    PyObject *object = PyUnicode_DecodeUTF8(text->at != NULL ? text->at : "", (Py_ssize_t)text->n, "replace");
    jy_text_free(text);
    return object;
}

static PyObject *
optional_text(const char *text)
{
    return text != NULL ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : Py_NewRef(Py_None);
}

static PyObject *
shape_object(const struct jy_graph *g, const struct jy_node *node)
{
    PyObject *shape = PyTuple_New(node->n_ndim);
    for (int d = 0; shape != NULL && d < node->n_ndim; d++) {
        int64_t extent;
        struct jy_text text = { 0 };
        PyObject *item;
        if (jy_sizes_is_const(&g->g_sizes, node->n_shape[d], &extent))
            item = PyLong_FromLongLong(extent);
        else {
            jy_sizes_print(&text, &g->g_sizes, node->n_shape[d]);
            item = text_object(&text);
        }
        if (item == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, d, item);
    }
    return shape;
}

static PyObject *
refs_object(const jy_ref *refs, size_t n)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)n);
    for (size_t k = 0; tuple != NULL && k < n; k++)
        PyTuple_SET_ITEM(tuple, k, PyLong_FromUnsignedLong(refs[k]));
    return tuple;
}

static const char *
opcode_of(const struct jy_node *node)
{
    if (node->n_op == JY_OP_PLACEHOLDER)
        return "placeholder";
    return node->n_op == JY_OP_CONSTANT || node->n_op == JY_OP_SIZE ? "constant" : "call";
}

static PyObject *
constant_object(const struct jy_node *node)
{
    if (node->n_op != JY_OP_CONSTANT)
        return Py_NewRef(Py_None);
    if (node->n_dtype == JY_F64)
        return PyFloat_FromDouble(node->n_value.d);
    if (node->n_dtype == JY_F32)
        return PyFloat_FromDouble((double)node->n_value.f);
    return node->n_dtype == JY_BOOL ? PyBool_FromLong(node->n_value.i != 0) : PyLong_FromLongLong(node->n_value.i);
}

static PyObject *
node_object(const struct jy_graph *g, jy_ref ref)
{
    static const char *const kinds[] = { "array", "numpy scalar", "float", "int", "bool" }; /* ORDER enum jy_kind */
    const struct jy_node *node = jy_graph_at(g, ref);
    return Py_BuildValue("{sI ss ss ss ss sN sN sN ss sI}", "index", ref, "op", opcode_of(node), "target",
                         jy_op_info[node->n_op].text, "dtype", jy_dtype_info[node->n_dtype].text, "kind",
                         kinds[node->n_kind], "shape", shape_object(g, node), "args",
                         refs_object(node->n_args, node->n_nargs), "value", constant_object(node), "file", node->n_file,
                         "line", node->n_line);
}

PyObject *
jy_describe_graph(const struct jy_unit *unit)
{
    const struct jy_graph *g = unit->u_graph;
    struct jy_text text = { 0 }, table = { 0 }, code = { 0 };
    PyObject *nodes = PyList_New(0);

    for (jy_ref k = 0; nodes != NULL && k < g->g_nodes.n; k++) {
        PyObject *node = node_object(g, k);
        if (node == NULL || PyList_Append(nodes, node) < 0)
            Py_CLEAR(nodes);
        Py_XDECREF(node);
    }
    if (nodes == NULL)
        return NULL;
    jy_graph_print(&text, g);
    jy_graph_print_table(&table, g);
    jy_graph_print_code(&code, g);
    return Py_BuildValue("{sssNsNsNsNsN}", "name", g->g_name != NULL ? g->g_name : "graph", "nodes", nodes, "outputs",
                         refs_object(g->g_outputs.at, g->g_outputs.n), "text", text_object(&text), "table",
                         text_object(&table), "code", text_object(&code));
}

static PyObject *
guards_object(const struct jy_unit *unit)
{
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list != NULL && k < unit->u_guards.n; k++) {
        struct jy_text text = { 0 };
        jy_guard_print(&text, unit, &unit->u_guards.at[k]);
        PyObject *row = text_object(&text);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static long
line_of(const struct jy_function *f, uint32_t offset)
{
    return PyCode_Addr2Line((PyCodeObject *)f->f_code, (int)(2 * offset));
}

/* From where to where the unit reaches, in bytes of the function's bytecode and in lines, and why it stops. */
static PyObject *
extent_object(const struct jy_function *f, const struct jy_unit *unit)
{
    const struct jy_stop *stop = &unit->u_stop;
    const struct jy_break_info *why = &unit->u_break;
    if (!stop->stops)
        return Py_BuildValue("{sI sl}", "start", 2 * unit->u_start, "line", line_of(f, unit->u_start));
    return Py_BuildValue("{sI sl sI sl sz sz sz sz sz}", "start", 2 * unit->u_start, "line", line_of(f, unit->u_start),
                         "stop", 2 * stop->offset, "stop_line", line_of(f, stop->offset), "name", why->name, "what",
                         why->what, "detail", why->detail, "hint", why->hint, "instruction", why->instruction);
}

/* Exits of a flow that have been taken: list of (where and why, kind, count). */
static PyObject *
exits_object(const struct jy_flow_exec *flow)
{
    static const char *const kinds[] = { "check", "stop", "poll", "call", "return" }; /* ORDER flow_exit_kind */
    struct jy_flow_stats stats = jy_flow_exec_stats(flow);
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list != NULL && k < jy_flow_exec_count_exits(flow); k++) {
        if (stats.exits[k] == 0)
            continue;
        char *text = jy_flow_exec_describe_exit(flow, (uint32_t)k);
        PyObject *row = Py_BuildValue("(NsK)", optional_text(text), kinds[jy_flow_exec_exit_kind(flow, (uint32_t)k)],
                                      (unsigned long long)stats.exits[k]);
        free(text);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* Loops of jitney.prange: list of (line, why its rounds stay on one thread or None, times on threads, times undone). */
static PyObject *
pranges_object(const struct jy_flow_exec *flow)
{
    PyObject *list = PyList_New(0);
    struct jy_flow_prange_stats p;
    for (size_t k = 0; list != NULL && jy_flow_exec_prange(&p, flow, k); k++) {
        PyObject *row =
            Py_BuildValue("(IzKK)", p.line, p.why, (unsigned long long)p.runs, (unsigned long long)p.undone);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *
describe_flow(const struct jy_function *f, const struct jy_entry *entry)
{
    const struct jy_exec_texts *texts = jy_flow_exec_texts(entry->e_flow);
    const struct jy_unit *unit = jy_entry_unit(entry);
    struct jy_flow_stats stats = jy_flow_exec_stats(entry->e_flow);
    return Py_BuildValue("{sN sI sO sO sN sN sN sN sN sN sN ss sI sK sK sK sz sN sN sN sN}", "extent",
                         extent_object(f, unit), "number", 0, "direct", entry->e_direct ? Py_True : Py_False, "code",
                         Py_None, "guards", guards_object(unit), "graph", jy_describe_graph(unit), "loop_ir",
                         optional_text(texts->plan), "llvm_ir", optional_text(texts->ir), "llvm_ir_opt",
                         optional_text(texts->ir_opt), "asm", optional_text(texts->asm_text), "off",
                         PyBool_FromLong(entry->e_off), "kind", "loops", "loops", unit->u_flow->w_loops, "runs",
                         (unsigned long long)stats.runs, "refused", (unsigned long long)stats.refused, "unlocked",
                         (unsigned long long)stats.unlocked, "locked", stats.locked, "exits",
                         exits_object(entry->e_flow), "pranges", pranges_object(entry->e_flow), "reports",
                         jy_describe_flow_loops(entry->e_flow), "exit_rows", jy_describe_flow_exits(entry->e_flow));
}

static PyObject *
describe_entry(const struct jy_function *f, struct jy_entry *entry)
{
    if (entry->e_flow != NULL)
        return describe_flow(f, entry);
    const struct jy_exec_texts *texts = jy_exec_texts(entry->e_exec);
    return Py_BuildValue(
        "{sN sI sO sO sN sN sN sN sN sN sN sN}", "extent", extent_object(f, jy_exec_unit(entry->e_exec)), "number",
        entry->e_number, "direct", entry->e_direct ? Py_True : Py_False, "code",
        entry->e_new.code != NULL ? entry->e_new.code : Py_None, "guards", guards_object(jy_exec_unit(entry->e_exec)),
        "graph", jy_describe_graph(jy_exec_unit(entry->e_exec)), "loop_ir", optional_text(texts->plan), "llvm_ir",
        optional_text(texts->ir), "llvm_ir_opt", optional_text(texts->ir_opt), "asm", optional_text(texts->asm_text),
        "off", PyBool_FromLong(entry->e_off), "unrolled", jy_describe_unrolled(jy_exec_unit(entry->e_exec)));
}

PyObject *
jy_describe_start(const struct jy_function *f, const struct jy_start *start)
{
    PyObject *rows = PyList_New(0);
    for (struct jy_entry *entry = start->s_entries; rows != NULL && entry != NULL; entry = entry->e_next) {
        PyObject *row = describe_entry(f, entry);
        if (row == NULL || PyList_Append(rows, row) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

PyObject *
jy_describe_stats(const struct jy_function *f)
{
    const struct jy_stats *s = &f->f_stats;
    PyObject *stats =
        Py_BuildValue("{snsN}", "entries", (Py_ssize_t)f->f_call.s_nentries, "compile_ms",
                      Py_BuildValue("{sdsdsdsdsdsdsdsd}", "trace", s->trace_ms, "guards", s->guards_ms, "passes",
                                    s->passes_ms, "lower", s->lower_ms, "emit", s->emit_ms, "codegen", s->codegen_ms,
                                    "load", s->load_ms, "bytecode", s->bytecode_ms));
#define STAT(name, help)                                                                                               \
    if (stats != NULL) {                                                                                               \
        PyObject *value = PyLong_FromUnsignedLongLong(s->name);                                                        \
        if (value == NULL || PyDict_SetItemString(stats, #name, value) < 0)                                            \
            Py_CLEAR(stats);                                                                                           \
        Py_XDECREF(value);                                                                                             \
    }
#include "runtime/stats.def"
#undef STAT
    return stats;
}
