/* `trace_bytecode`: an instruction as dis shows it, with the symbolic stack that it finds.
 *
 *     program.py:4    6 BINARY_OP +  [float64[s0], 2.0]
 *
 * An inlined function's lines are indented. What an argument stands for is told where the code object knows it: a name, a constant, an operator, the offset that a jump goes to. */
#include "frontend/interp.h"

#define CONSTANT_LIMIT 40 /* taste: characters of a constant */

static void
add_constant(struct jy_text *text, PyObject *constant)
{
    if (PyCode_Check(constant)) {
        jy_text_add(text, " <code %s>", jy_utf8(((PyCodeObject *)constant)->co_qualname));
        return;
    }
    PyObject *repr = PyObject_Repr(constant); /* constants are of Python's own types: no code of the program's runs */
    const char *shown = repr != NULL ? PyUnicode_AsUTF8(repr) : NULL;
    if (shown == NULL)
        PyErr_Clear();
    else if (PyUnicode_GET_LENGTH(repr) > CONSTANT_LIMIT)
        jy_text_add(text, " %.*s...", CONSTANT_LIMIT, PyUnicode_IS_ASCII(repr) ? shown : "(text)");
    else
        jy_text_add(text, " %s", shown);
    Py_XDECREF(repr);
}

static const char *
operator_sign(int arg)
{
    static const char *const signs[] = { "+",  "&",  "//", "<<",  "@",   "*",  "%",   "|",   "**",
                                         ">>", "-",  "/",  "^",   "+=",  "&=", "//=", "<<=", "@=",
                                         "*=", "%=", "|=", "**=", ">>=", "-=", "/=",  "^=" };
    return (size_t)arg < sizeof signs / sizeof *signs ? signs[arg] : "?";
}

static void
add_argument(struct jy_text *text, const struct jy_frame *f, const struct jy_instr *instr)
{
    static const char *const comparisons[] = { "<", "<=", "==", "!=", ">", ">=" }; /* ORDER Py_LT */
    const struct jy_code *code = f->f_instrs;
    int arg = instr->i_arg;
    switch (jy_instr_argkind(instr->i_op)) {
    case JY_ARG_NONE:
        break;
    case JY_ARG_CONST:
        add_constant(text, jy_code_const(code, arg));
        break;
    case JY_ARG_NAME:
    case JY_ARG_NAME1:
    case JY_ARG_NAME2:
        jy_text_add(text, jy_instr_pushes_null(instr) ? " %s + NULL" : " %s",
                    jy_utf8(jy_code_name(code, jy_instr_name_index(instr))));
        break;
    case JY_ARG_LOCAL:
    case JY_ARG_DEREF:
        jy_text_add(text, " %s", jy_utf8(jy_code_local_name(code, arg)));
        break;
    case JY_ARG_LOCAL2:
        jy_text_add(text, " %s, %s", jy_utf8(jy_code_local_name(code, arg >> 4)),
                    jy_utf8(jy_code_local_name(code, arg & 15)));
        break;
    case JY_ARG_JUMP_FWD:
    case JY_ARG_JUMP_BACK:
        jy_text_add(text, " to %d", 2 * jy_code_at(code, instr->i_target)->i_offset);
        break;
    case JY_ARG_COMPARE:
        jy_text_add(text, " %s", comparisons[jy_instr_compare(instr)]);
        break;
    case JY_ARG_BINOP:
        jy_text_add(text, " %s", operator_sign(arg));
        break;
    case JY_ARG_COUNT:
    case JY_ARG_RAW:
    case JY_ARG_INTERNAL:
        jy_text_add(text, " %d", arg);
        break;
    }
}

void
jy_log_instr(struct jy_frame *f, const struct jy_instr *instr)
{
    struct jy_text text = { 0 };
    jy_text_add(&text, "%s:%u  %*s%3d %s", jy_frame_file(f), jy_frame_line(f), 2 * (int)f->f_trace->depth, "",
                2 * (instr->i_offset + instr->i_prefix), jy_instr_opname(instr->i_op));
    add_argument(&text, f, instr);
    jy_text_add(&text, "  [");
    for (size_t i = 0; i < f->f_depth; i++)
        jy_text_add(&text, i != 0 ? ", %s" : "%s", jy_value_describe(f, f->f_stack[i]));
    jy_text_add(&text, "]");
    if (text.at != NULL && !text.failed)
        f->f_trace->request->log(f->f_trace->request->context, text.at);
    jy_text_free(&text);
}
