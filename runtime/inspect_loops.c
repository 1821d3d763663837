/* What Python sees of the loops of a compiled function: those that its bytecode has, and of each unit those that its native code goes round or that were unrolled while it was traced. */
#include "frontend/code_loops.h"
#include "frontend/cpython/decode.h"
#include "runtime/function.h"
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = { "for", "while", "comprehension", "function" }; /* ORDER report_kind */

/* Appends; steals the row. False: an exception is set. */
static bool
push(PyObject *list, PyObject *row)
{
    bool done = row != NULL && PyList_Append(list, row) == 0;
    Py_XDECREF(row);
    return done;
}

/* -- what the bytecode has --------------------------------------------------------------------------------------------------------- */

static PyObject *
describe_code_loop(const struct jy_code *code, const struct jy_code_loop *loop, Py_ssize_t first)
{
    const PyCodeObject *co = code->c_origin;
    int offset = jy_code_at(code, loop->first)->i_offset, end = jy_code_at(code, loop->last)->i_offset;
    PyObject *around = loop->around < 0 ? Py_NewRef(Py_None) : PyLong_FromSsize_t(first + loop->around);
    return Py_BuildValue("{sO sO si sI sI si si ss sN}", "file", co->co_filename, "function", co->co_name, "first_line",
                         co->co_firstlineno, "line", loop->line, "last_line", loop->last_line, "offset", 2 * offset,
                         "end", 2 * end, "kind", kinds[loop->kind], "around", around);
}

static bool add_code(PyObject *list, struct jy_arena *arena, PyObject *code);

/* Comprehensions that are code objects of their own: all of them before 3.12, generator expressions always. */
static bool
add_nested(PyObject *list, struct jy_arena *arena, const PyCodeObject *code)
{
    static const char *const names[] = { "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>" };
    bool good = true;
    for (Py_ssize_t k = 0; good && k < PyTuple_GET_SIZE(code->co_consts); k++) {
        PyObject *item = PyTuple_GET_ITEM(code->co_consts, k);
        for (size_t n = 0; good && PyCode_Check(item) && n < sizeof names / sizeof *names; n++)
            if (strcmp(jy_utf8(((PyCodeObject *)item)->co_name), names[n]) == 0)
                good = add_code(list, arena, item);
    }
    return good;
}

static bool
add_code(PyObject *list, struct jy_arena *arena, PyObject *code)
{
    struct jy_code *decoded;
    Py_ssize_t first = PyList_GET_SIZE(list);
    bool good = true;
    jy_status status = jy_decode_code(&decoded, arena, code);
    if (status == JY_ERROR)
        return false;
    if (status == JY_OK) { /* else bytecode that nothing is known of */
        const struct jy_code_loops *loops = jy_code_loops_find(arena, decoded);
        for (size_t k = 0; good && k < loops->list.n; k++)
            good = push(list, describe_code_loop(decoded, &loops->list.at[k], first));
        jy_decode_release(decoded);
    }
    return good && add_nested(list, arena, (PyCodeObject *)code);
}

PyObject *
jy_describe_code_loops(PyObject *code)
{
    struct jy_arena *arena = jy_arena_new();
    PyObject *list = arena != NULL ? PyList_New(0) : PyErr_NoMemory();
    if (list == NULL) {
        jy_arena_free(arena);
        return NULL;
    }
    bool good = false;
    if (setjmp(*jy_arena_guard(arena)) == 0)
        good = add_code(list, arena, code);
    else
        PyErr_NoMemory();
    jy_arena_free(arena);
    if (good)
        return list;
    Py_DECREF(list);
    return NULL;
}

/* -- what native code goes round --------------------------------------------------------------------------------------------------- */

/* Why it is not vectorised: None, or (name, what, hint, detail, line). */
static PyObject *
why_object(const struct jy_flow_report *r, int vectors)
{
    bool is_folded = r->why == JY_WHY_NO_GAIN && vectors == 0;
    const struct jy_loop_why_info *why = &jy_loop_why_info[is_folded ? JY_WHY_FOLDED : r->why];
    if (why->name == NULL)
        return Py_NewRef(Py_None);
    return Py_BuildValue("(ssszI)", why->name, why->what, why->hint, r->detail, r->why_line);
}

static PyObject *
describe_report(const struct jy_flow_report *r, int vectors)
{
    PyObject *around = r->around == 0 ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(r->around - 1);
    return Py_BuildValue("{ss ss sI sI sI sI ss sN sO sO sO sO si sN s(IIII)}", "file", r->file, "function",
                         r->function, "first_line", r->first_line, "line", r->line, "last_line", r->last_line, "offset",
                         2 * r->offset, "kind", kinds[r->kind], "around", around, "counted",
                         r->is_counted ? Py_True : Py_False, "fast", r->is_fast ? Py_True : Py_False, "round",
                         r->is_round ? Py_True : Py_False, "recursive", r->calls_itself ? Py_True : Py_False, "vectors",
                         vectors, "why", why_object(r, vectors), "checks", r->checks[JY_SITE_PROVEN],
                         r->checks[JY_SITE_HOISTED], r->checks[JY_SITE_NOTED], r->checks[JY_SITE_LEFT]);
}

PyObject *
jy_describe_flow_loops(struct jy_flow_exec *flow)
{
    PyObject *list = PyList_New(0);
    const struct jy_flow_report *r;
    int vectors;
    for (size_t k = 0; list != NULL && (r = jy_flow_exec_report(&vectors, flow, k)) != NULL; k++)
        if (!push(list, describe_report(r, vectors)))
            Py_CLEAR(list);
    return list;
}

/* Exits that were taken, and all where flows end before an instruction. */
PyObject *
jy_describe_flow_exits(const struct jy_flow_exec *flow)
{
    static const char *const names[] = { "check", "stop", "poll", "call", "return" }; /* ORDER flow_exit_kind */
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list != NULL && k < jy_flow_exec_count_exits(flow); k++) {
        struct jy_flow_exit_report e = jy_flow_exec_exit(flow, (uint32_t)k);
        bool is_told = e.count != 0 || e.kind == JY_EXIT_STOP;
        if (is_told && !push(list, Py_BuildValue("{sz sI ss sz sK ss}", "file", e.file, "line", e.line, "kind",
                                                 names[e.kind], "what", e.what, "count", (unsigned long long)e.count,
                                                 "values", e.values != NULL ? e.values : "")))
            Py_CLEAR(list);
        free(e.values);
    }
    return list;
}

PyObject *
jy_describe_unrolled(const struct jy_unit *unit)
{
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list != NULL && k < unit->u_unrolled.n; k++) {
        const struct jy_unrolled *u = &unit->u_unrolled.at[k];
        if (!push(list, Py_BuildValue("{ss ss sI sI sK}", "file", u->file, "function", u->function, "first_line",
                                      u->first_line, "offset", 2 * u->offset, "rounds", (unsigned long long)u->rounds)))
            Py_CLEAR(list);
    }
    return list;
}
