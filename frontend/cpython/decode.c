/* Code object -> struct jy_code.
 *
 * Three byte strings are read: co_code (two bytes a unit: opcode, argument; EXTENDED_ARG prefixes carry the higher bytes,
 * caches follow), co_exceptiontable and co_linetable.  Every reference by offset becomes a reference by id at once, so
 * nothing after this file has to know about units. */
#include "frontend/cpython/decode.h"

#include "frontend/cpython/compat.h"

struct reader {
    const uint8_t *at, *end;
    bool failed; /* read past the end */
};

static unsigned
read_byte(struct reader *r)
{
    if (r->at == r->end) {
        r->failed = true;
        return 0;
    }
    return *r->at++;
}

static struct reader
reader_of(PyObject *bytes)
{
    const uint8_t *data = (const uint8_t *)PyBytes_AS_STRING(bytes);
    return (struct reader){ data, data + PyBytes_GET_SIZE(bytes), false };
}

static jy_status
refuse(struct jy_code *code, const char *what, int unit)
{
    code->c_error = jy_arena_printf(code->c_arena, "%s (unit %d)", what, unit);
    return JY_BREAK;
}

/* ids[unit] becomes the id of the instruction that starts there, JY_NO_INSTR inside of one. */
static jy_status
decode_instructions(struct jy_code *code, int *ids, const uint8_t *bytes, int nunits)
{
    for (int unit = 0; unit < nunits;) {
        struct jy_instr instr = { .i_offset = unit, .i_target = JY_NO_INSTR, .i_depth = -1, .i_span = 1 };
        unsigned arg = 0, prefix = 0, op;
        for (;;) {
            ids[unit] = JY_NO_INSTR;
            op = bytes[2 * unit];
            arg = arg << 8 | bytes[2 * unit + 1];
            unit++;
            if (op != EXTENDED_ARG)
                break;
            if (unit == nunits || ++prefix > 3)
                return refuse(code, "EXTENDED_ARG without an instruction", unit);
        }
        if (!jy_instr_is_known((int)op))
            return refuse(code, "an opcode that this version of Python does not have", unit - 1);
        if (arg > INT32_MAX)
            return refuse(code, "an argument of more than 31 bits", unit - 1);
        instr.i_op = (uint8_t)op;
        instr.i_arg = (int)arg;
        instr.i_prefix = (uint8_t)prefix;
        instr.i_caches = (uint8_t)jy_instr_caches((int)op);
        for (int i = 0; i < instr.i_caches; i++, unit++) {
            if (unit == nunits || bytes[2 * unit] != CACHE)
                return refuse(code, "a cache is missing", unit);
            ids[unit] = JY_NO_INSTR;
        }
        int id = (int)code->c_instrs.n;
        ids[instr.i_offset] = id;
        instr.i_id = id;
        instr.i_prev = id - 1;
        instr.i_next = unit < nunits ? id + 1 : JY_NO_INSTR;
        *jy_vec_push(code->c_arena, &code->c_instrs) = instr;
    }
    if (code->c_instrs.n == 0)
        return refuse(code, "no instructions", 0);
    code->c_first = 0;
    code->c_last = (int)code->c_instrs.n - 1;
    code->c_ndecoded = (int)code->c_instrs.n;
    return JY_OK;
}

static jy_status
decode_jumps(struct jy_code *code, const int *ids, int nunits)
{
    for (int id = 0; id < code->c_ndecoded; id++) {
        struct jy_instr *instr = jy_code_at(code, id);
        if (!jy_instr_is_jump(instr->i_op))
            continue;
        int64_t end = (int64_t)instr->i_offset + instr->i_prefix + 1 + instr->i_caches;
        int64_t to = jy_instr_argkind(instr->i_op) == JY_ARG_JUMP_FWD ? end + instr->i_arg : end - instr->i_arg;
        if (to < 0 || to >= nunits || ids[to] == JY_NO_INSTR)
            return refuse(code, "a jump to no instruction", instr->i_offset);
        instr->i_target = ids[to];
    }
    return JY_OK;
}

/* Six bits a byte, highest first; 0x40: more follow; 0x80 marks the first byte of an entry. */
static unsigned
read_exception_varint(struct reader *r)
{
    unsigned byte = read_byte(r), value = byte & 0x3f;
    while ((byte & 0x40) != 0 && !r->failed) {
        byte = read_byte(r);
        value = value << 6 | (byte & 0x3f);
    }
    return value;
}

static jy_status
decode_handlers(struct jy_code *code, const int *ids, int nunits)
{
    struct reader r = reader_of(code->c_origin->co_exceptiontable);
    unsigned last_end = 0, limit = (unsigned)nunits;
    while (r.at != r.end) {
        unsigned start = read_exception_varint(&r), length = read_exception_varint(&r);
        unsigned target = read_exception_varint(&r), depth = read_exception_varint(&r);
        if (r.failed || start < last_end || start >= limit || length == 0 || length > limit - start ||
            target >= limit || depth > 1u << 24)
            return refuse(code, "the exception table does not parse", (int)(r.at - r.end));
        int end_id = start + length == limit ? JY_NO_INSTR : ids[start + length];
        if (ids[start] == JY_NO_INSTR || ids[target] == JY_NO_INSTR ||
            (end_id == JY_NO_INSTR && start + length != limit))
            return refuse(code, "the exception table points into an instruction", (int)start);
        *jy_vec_push(code->c_arena, &code->c_handlers) = (struct jy_handler){
            .h_start = ids[start],
            .h_end = end_id,
            .h_handler = ids[target],
            .h_depth = (int)(depth >> 1),
            .h_lasti = (depth & 1) != 0,
        };
        last_end = start + length;
    }
    return JY_OK;
}

/* Six bits a byte, lowest first; 0x40: more follow. */
static int
read_location_varint(struct reader *r)
{
    unsigned byte, value = 0, shift = 0;
    do {
        byte = read_byte(r);
        value |= (byte & 0x3f) << shift;
        shift += 6;
    } while ((byte & 0x40) != 0 && shift < 30 && !r->failed);
    return (int)value;
}

static int
read_location_signed(struct reader *r)
{
    int value = read_location_varint(r);
    return (value & 1) != 0 ? -(value >> 1) : value >> 1;
}

/* The rest of an entry whose kind (0 to 15, see InternalDocs/code_objects.md of CPython) has been read. */
static struct jy_position
read_location(struct reader *r, unsigned kind, int *line)
{
    static const struct jy_position none = { -1, -1, -1, -1 };
    struct jy_position p = none;
    if (kind == 15)
        return none;
    if (kind < 10) {
        unsigned second = read_byte(r);
        p.column = (int)(kind << 3 | second >> 4);
        p.end_column = p.column + (int)(second & 15);
    } else if (kind < 13) {
        *line += (int)kind - 10;
        p.column = (int)read_byte(r);
        p.end_column = (int)read_byte(r);
    } else {
        *line += read_location_signed(r);
    }
    p.line = p.end_line = *line;
    if (kind == 14) {
        p.end_line += read_location_varint(r);
        p.column = read_location_varint(r) - 1;
        p.end_column = read_location_varint(r) - 1;
    }
    return p.line < 0 ? none : p;
}

/* A table that ends early leaves the rest without a position, as CPython does. */
static jy_status
decode_positions(struct jy_code *code, const int *ids, int nunits)
{
    struct reader r = reader_of(code->c_origin->co_linetable);
    int line = code->c_origin->co_firstlineno, unit = 0;
    for (int id = 0; id < code->c_ndecoded; id++)
        jy_code_at(code, id)->i_position = (struct jy_position){ -1, -1, -1, -1 };
    while (r.at != r.end && unit < nunits) {
        unsigned first = read_byte(&r);
        struct jy_position position = read_location(&r, first >> 3 & 15, &line);
        if ((first & 0x80) == 0 || r.failed)
            return refuse(code, "the location table does not parse", unit);
        for (unsigned i = 0; i <= (first & 7) && unit < nunits; i++, unit++) {
            if (ids[unit] != JY_NO_INSTR)
                jy_code_at(code, ids[unit])->i_position = position;
        }
    }
    return JY_OK;
}

jy_status
jy_decode_code(struct jy_code **out, struct jy_arena *arena, PyObject *origin)
{
    struct jy_code *code = JY_NEW(arena, struct jy_code);
    *out = code;
    code->c_arena = arena;
    if (!PyCode_Check(origin)) {
        PyErr_Format(PyExc_TypeError, "expected a code object, not %.200s", Py_TYPE(origin)->tp_name);
        return JY_ERROR;
    }
    code->c_origin = (PyCodeObject *)origin;
    code->c_cursor = JY_NO_INSTR;
    code->c_nlocals = code->c_origin->co_nlocals;
    code->c_nlocalsplus = code->c_origin->co_nlocalsplus;
    code->c_stacksize = code->c_origin->co_stacksize;
    int nunits = (int)Py_SIZE(origin);
    uint8_t *bytes = JY_NEW_ARRAY(arena, uint8_t, 2 * nunits); /* the arena may jump: no reference is held meanwhile */
    PyObject *bytecode = jy_compat_get_bytecode(code->c_origin);
    if (bytecode == NULL)
        return JY_ERROR;
    memcpy(bytes, PyBytes_AS_STRING(bytecode), 2 * (size_t)nunits);
    code->c_bytes = bytes;
    Py_DECREF(bytecode);
    int *ids = JY_NEW_ARRAY(arena, int, nunits);
    TRY(decode_instructions(code, ids, bytes, nunits));
    TRY(decode_jumps(code, ids, nunits));
    TRY(decode_handlers(code, ids, nunits));
    return decode_positions(code, ids, nunits);
}

void
jy_decode_release(struct jy_code *code)
{
    Py_CLEAR(code->c_consts);
    Py_CLEAR(code->c_names);
    Py_CLEAR(code->c_new_locals);
    Py_CLEAR(code->c_name_index);
    Py_CLEAR(code->c_local_set);
}
