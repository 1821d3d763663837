/* The opcode table as functions, and what a decoded code object answers by itself. */
#include "frontend/cpython/instr.h"

#include "frontend/cpython/compat.h"

struct opcode_facts {
    const char *name; /* NULL: no row */
    uint8_t argkind, caches;
};

static const struct opcode_facts facts[256] = {
#define OPCODE(name, handler, argkind, caches, pops, pushes) [name] = { #name, JY_ARG_##argkind, caches },
#define OPCODE_BREAKS(name, reason, argkind, caches, pops, pushes) [name] = { #name, JY_ARG_##argkind, caches },
#include "frontend/cpython/opcodes.def"
};

const char *
jy_instr_opname(int op)
{
    return facts[op].name != NULL ? facts[op].name : "unknown opcode";
}

bool
jy_instr_has_row(int op)
{
    return facts[op].name != NULL;
}

bool
jy_instr_is_known(int op)
{
    return facts[op].name != NULL && facts[op].argkind != JY_ARG_INTERNAL;
}

int
jy_instr_caches(int op)
{
    return facts[op].caches;
}

enum jy_argkind
jy_instr_argkind(int op)
{
    return (enum jy_argkind)facts[op].argkind;
}

int
jy_instr_pops(int op, int arg)
{
    (void)arg;
    switch (op) {
#define OPCODE(name, handler, argkind, caches, pops, pushes)                                                           \
    case name:                                                                                                         \
        return pops;
#define OPCODE_BREAKS OPCODE
#include "frontend/cpython/opcodes.def"
    default:
        return 0;
    }
}

int
jy_instr_pushes(int op, int arg, bool jump)
{
    (void)arg, (void)jump;
    switch (op) {
#define OPCODE(name, handler, argkind, caches, pops, pushes)                                                           \
    case name:                                                                                                         \
        return pushes;
#define OPCODE_BREAKS OPCODE
#include "frontend/cpython/opcodes.def"
    default:
        return 0;
    }
}

bool
jy_instr_is_jump(int op)
{
    return jy_instr_argkind(op) == JY_ARG_JUMP_FWD || jy_instr_argkind(op) == JY_ARG_JUMP_BACK;
}

bool
jy_instr_falls_through(int op)
{
    switch (op) {
    case RETURN_VALUE:
    case RAISE_VARARGS:
    case RERAISE:
    case JUMP_FORWARD:
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
#ifdef RETURN_CONST
    case RETURN_CONST:
#endif
        return false;
    default:
        return true;
    }
}

bool
jy_instr_looks_back(int op)
{
#if PY_VERSION_HEX >= 0x030d0000
    return op == CALL || op == CALL_KW || op == CALL_FUNCTION_EX || op == LOAD_ATTR || op == BINARY_SUBSCR ||
           op == FOR_ITER || op == SEND;
#else
    (void)op;
    return false;
#endif
}

bool
jy_instr_polls_at_target(void)
{
    return PY_VERSION_HEX < 0x030d0000;
}

bool
jy_instr_may_raise(int op)
{
    switch (op) {
    case NOP:
    case POP_TOP: /* a destructor may run, but its exception does not propagate */
    case PUSH_NULL:
    case COPY:
    case SWAP:
    case LOAD_CONST:
#if PY_VERSION_HEX >= 0x030c0000
    case LOAD_FAST: /* 3.11 checks whether it is bound */
#endif
    case STORE_FAST:
    case JUMP_FORWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
    case COPY_FREE_VARS:
    case PUSH_EXC_INFO:
    case POP_EXCEPT:
    case IS_OP:
#ifdef LOAD_FAST_LOAD_FAST
    case LOAD_FAST_LOAD_FAST:
    case STORE_FAST_LOAD_FAST:
    case STORE_FAST_STORE_FAST:
#endif
#ifdef LOAD_FAST_AND_CLEAR
    case LOAD_FAST_AND_CLEAR:
    case END_FOR:
#endif
        return false;
    default:
        return true;
    }
}

int
jy_instr_name_index(const struct jy_instr *instr)
{
    switch ((int)jy_instr_argkind(instr->i_op)) {
    case JY_ARG_NAME:
        return instr->i_arg;
    case JY_ARG_NAME1:
        return instr->i_arg >> 1;
    case JY_ARG_NAME2:
        return instr->i_arg >> 2;
    default:
        return -1;
    }
}

bool
jy_instr_pushes_null(const struct jy_instr *instr)
{
    enum jy_argkind kind = jy_instr_argkind(instr->i_op);
    return (kind == JY_ARG_NAME1 || kind == JY_ARG_NAME2) && (instr->i_arg & 1) != 0;
}

bool
jy_instr_loads_method(const struct jy_instr *instr)
{
#if PY_VERSION_HEX < 0x030c0000
    return instr->i_op == LOAD_METHOD;
#else
    return instr->i_op == LOAD_ATTR && (instr->i_arg & 1) != 0;
#endif
}

int
jy_instr_compare(const struct jy_instr *instr)
{
#if PY_VERSION_HEX < 0x030c0000
    return instr->i_arg;
#elif PY_VERSION_HEX < 0x030d0000
    return instr->i_arg >> 4;
#else
    return instr->i_arg >> 5;
#endif
}

bool
jy_instr_compare_to_bool(const struct jy_instr *instr)
{
#if PY_VERSION_HEX < 0x030d0000
    (void)instr;
    return false;
#else
    return (instr->i_arg & 16) != 0;
#endif
}

bool
jy_instr_split(const struct jy_instr *instr, struct jy_instr out[2])
{
    int first, second;
    switch (instr->i_op) {
#ifdef LOAD_FAST_LOAD_FAST
    case LOAD_FAST_LOAD_FAST:
        first = LOAD_FAST, second = LOAD_FAST;
        break;
    case STORE_FAST_LOAD_FAST:
        first = STORE_FAST, second = LOAD_FAST;
        break;
    case STORE_FAST_STORE_FAST:
        first = STORE_FAST, second = STORE_FAST;
        break;
#endif
    default:
        return false;
    }
    out[0] = out[1] = *instr;
    out[0].i_op = (uint8_t)first, out[0].i_arg = instr->i_arg >> 4;
    out[1].i_op = (uint8_t)second, out[1].i_arg = instr->i_arg & 15;
    return true;
}

int
jy_code_id_at_offset(const struct jy_code *code, int unit)
{
    int low = 0, high = code->c_ndecoded;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const struct jy_instr *instr = jy_code_at(code, middle);
        if (unit < instr->i_offset)
            high = middle;
        else if (unit > instr->i_offset + instr->i_prefix)
            low = middle + 1;
        else
            return unit == instr->i_offset || unit == instr->i_offset + instr->i_prefix ? middle : JY_NO_INSTR;
    }
    return JY_NO_INSTR;
}

const struct jy_handler *
jy_code_handler_of(const struct jy_code *code, int id)
{
    for (size_t i = 0; i < code->c_handlers.n; i++) {
        const struct jy_handler *h = &code->c_handlers.at[i];
        if (id >= h->h_start && (h->h_end == JY_NO_INSTR || id < h->h_end))
            return h;
    }
    return NULL;
}

PyObject *
jy_code_const(const struct jy_code *code, int index)
{
    return code->c_consts != NULL ? PyList_GET_ITEM(code->c_consts, index)
                                  : PyTuple_GET_ITEM(code->c_origin->co_consts, index);
}

PyObject *
jy_code_name(const struct jy_code *code, int index)
{
    return code->c_names != NULL ? PyList_GET_ITEM(code->c_names, index)
                                 : PyTuple_GET_ITEM(code->c_origin->co_names, index);
}

PyObject *
jy_code_local_name(const struct jy_code *code, int localsplus_index)
{
    int nold = code->c_origin->co_nlocals;
    if (localsplus_index < nold)
        return jy_compat_local_name(code->c_origin, localsplus_index);
    if (localsplus_index < code->c_nlocals)
        return PyList_GET_ITEM(code->c_new_locals, localsplus_index - nold);
    return jy_compat_local_name(code->c_origin, localsplus_index - (code->c_nlocals - nold));
}

bool
jy_instr_null_is_first(void)
{
    return PY_VERSION_HEX < 0x030d0000;
}

bool
jy_instr_is_prefix(int op)
{
#ifdef KW_NAMES
    if (op == KW_NAMES)
        return true;
#endif
#ifdef PRECALL
    if (op == PRECALL)
        return true;
#endif
    (void)op;
    return false;
}

size_t
jy_instr_call_items(const struct jy_instr *instr)
{
    switch (instr->i_op) {
    case CALL:
#ifdef CALL_KW
    case CALL_KW:
#endif
    case CALL_FUNCTION_EX:
        return (size_t)jy_instr_pops(instr->i_op, instr->i_arg);
    default:
        return 0;
    }
}
