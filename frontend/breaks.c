/* Why we declined: breaks.def as a table, and how a reason is recorded.
 *
 * A break belongs to the instruction that is being interpreted in the innermost frame that knows of it; the unit keeps the last one. */
#include "frontend/cpython/instr.h"
#include "frontend/frame.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct jy_break_row jy_break_rows[] = {
#define BREAK(name, phase, what, hint) { #name, phase, what, hint },
#include "frontend/breaks.def"
#undef BREAK
};
const size_t jy_break_count = sizeof jy_break_rows / sizeof *jy_break_rows;

const struct jy_break_row *
jy_break_row_named(const char *name)
{
    size_t k = 0;
    while (k < jy_break_count && strcmp(jy_break_rows[k].name, name) != 0)
        k++;
    assert(k < jy_break_count);
    return &jy_break_rows[k];
}

static const char *
function_name(const struct jy_frame *f)
{
    return jy_arena_strdup(jy_frame_arena(f), jy_utf8(((PyCodeObject *)f->f_code)->co_qualname));
}

jy_status
jy_break(struct jy_frame *f, enum jy_break_reason reason, const char *format, ...)
{
    struct jy_break_info *info = &f->f_trace->unit->u_break;
    f->f_trace->raised = NULL;
    char detail[500];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    *info = (struct jy_break_info){
        .reason = (uint16_t)reason,
        .name = jy_break_rows[reason].name,
        .what = jy_break_rows[reason].what,
        .hint = jy_break_rows[reason].hint,
        .detail = jy_arena_strdup(jy_frame_arena(f), detail),
        .file = jy_frame_file(f),
        .function = function_name(f),
        .line = jy_frame_line(f),
        .instruction = f->f_pc == JY_NO_INSTR ? NULL : jy_instr_opname(jy_code_at(f->f_instrs, f->f_pc)->i_op),
    };
    return JY_BREAK;
}

jy_status
jy_break_from_exception(struct jy_frame *f, enum jy_break_reason reason)
{
    if (PyErr_ExceptionMatches(PyExc_MemoryError) || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
        return JY_ERROR;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *text = value != NULL ? PyObject_Str(value) : NULL;
    const char *message = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    jy_status status = jy_break(f, reason, "%s: %s", type != NULL ? ((PyTypeObject *)type)->tp_name : "exception",
                                message != NULL ? message : "");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return status;
}
