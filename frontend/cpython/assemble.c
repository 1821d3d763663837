/* struct jy_code -> code object, in four steps: verify; sizes and jumps to a fixed point; the three byte strings; the object.
 *
 * Sizes only ever grow, so a fixed point exists.  There can be several (a jump back over 255 or, with its own EXTENDED_ARG,
 * 256 units), and 3.13 does not always find the smallest: growing from the sizes that the original had ends at its own.
 * All bytes are in the arena before the first Python object is made. */
#include "frontend/cpython/assemble.h"

#include "frontend/cpython/compat.h"
#include "frontend/cpython/decode.h"
#include "frontend/cpython/original.h"
#include "frontend/cpython/stretch.h"
#include "frontend/cpython/verify_code.h"
#include <string.h>

struct bytes {
    uint8_t *at;
    size_t n, cap;
};

struct assembler {
    struct jy_code *code;
    struct jy_arena *arena;
    int *offset; /* first unit, by id; dead instructions have that of the next live one */
    int *units;  /* with EXTENDED_ARG and caches, by id; 0: dead */
    int nunits;
    struct bytes bytecode, exceptions, locations;
};

static void
emit(struct assembler *a, struct bytes *out, unsigned byte)
{
    *jy_vec_push(a->arena, out) = (uint8_t)byte;
}

/* ---- sizes and jumps ---- */

/* Of the original's instructions from `id` up to `end`. */
static int
units_between(const struct jy_code *original, int id, int end)
{
    return jy_code_at(original, end)->i_offset - jy_code_at(original, id)->i_offset;
}

static int
count_units(const struct jy_code *code, const struct jy_instr *instr)
{
    if (instr->i_span > 1)
        return units_between(code->c_stretches->s_code, instr->i_id, instr->i_id + instr->i_span);
    unsigned arg = (unsigned)instr->i_arg;
    int prefixes = (arg > 0xff) + (arg > 0xffff) + (arg > 0xffffff);
    return 1 + (prefixes > instr->i_prefix ? prefixes : instr->i_prefix) + instr->i_caches;
}

/* The opcode that jumps the same way in the other direction; -1: there is none. */
static int
reversed_jump(int op)
{
    switch (op) {
    case JUMP_FORWARD:
        return JUMP_BACKWARD;
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
        return JUMP_FORWARD;
#ifdef POP_JUMP_BACKWARD_IF_TRUE
#define PAIR(condition)                                                                                                \
    case POP_JUMP_FORWARD_IF_##condition:                                                                              \
        return POP_JUMP_BACKWARD_IF_##condition;                                                                       \
    case POP_JUMP_BACKWARD_IF_##condition:                                                                             \
        return POP_JUMP_FORWARD_IF_##condition;
        PAIR(TRUE)
        PAIR(FALSE)
        PAIR(NONE)
        PAIR(NOT_NONE)
#undef PAIR
#endif
    default:
        return -1;
    }
}

/* Gives each jump the opcode of its direction, which edits may have changed. */
static jy_status
direct_jumps(struct jy_code *code)
{
    int *place = JY_NEW_ARRAY(code->c_arena, int, code->c_instrs.n), n = 0;
    for (int id = code->c_first; id != JY_NO_INSTR; id = jy_code_at(code, id)->i_next)
        place[id] = n++;
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        struct jy_instr *instr = jy_code_at(code, id);
        if (!jy_instr_is_jump(instr->i_op))
            continue;
        instr->i_target = jy_code_live(code, instr->i_target);
        bool is_backward = instr->i_target != JY_NO_INSTR && place[instr->i_target] <= place[id];
        if (is_backward == (jy_instr_argkind(instr->i_op) == JY_ARG_JUMP_BACK))
            continue;
        int op = reversed_jump(instr->i_op);
        if (op < 0) {
            code->c_error = jy_arena_printf(code->c_arena, "%s (instruction %d) cannot jump backwards",
                                            jy_instr_opname(instr->i_op), id);
            return JY_BREAK;
        }
        instr->i_op = (uint8_t)op;
        instr->i_caches = (uint8_t)jy_instr_caches(op);
    }
    return JY_OK;
}

static void
place_instructions(struct assembler *a)
{
    a->nunits = 0;
    for (int id = a->code->c_first; id != JY_NO_INSTR; id = jy_code_at(a->code, id)->i_next) {
        a->offset[id] = a->nunits;
        a->nunits += a->units[id];
    }
}

/* True when every jump's distance fits into the units that were reserved for it. */
static bool
resolve_jumps(struct assembler *a)
{
    bool is_stable = true;
    for (int id = jy_code_begin(a->code); id != JY_NO_INSTR; id = jy_code_next(a->code, id)) {
        struct jy_instr *instr = jy_code_at(a->code, id);
        if (!jy_instr_is_jump(instr->i_op))
            continue;
        int distance = a->offset[instr->i_target] - (a->offset[id] + a->units[id]);
        instr->i_arg = jy_instr_argkind(instr->i_op) == JY_ARG_JUMP_FWD ? distance : -distance;
        int units = count_units(a->code, instr);
        if (units > a->units[id]) {
            a->units[id] = units;
            is_stable = false;
        }
    }
    return is_stable;
}

static void
lay_out(struct assembler *a)
{
    for (int id = jy_code_begin(a->code); id != JY_NO_INSTR; id = jy_code_next(a->code, id)) {
        struct jy_instr *instr = jy_code_at(a->code, id);
        if (jy_instr_is_jump(instr->i_op))
            instr->i_arg = 0;
        a->units[id] = count_units(a->code, instr);
    }
    do
        place_instructions(a);
    while (!resolve_jumps(a));
}

/* ---- co_code ---- */

static void
emit_bytes(struct assembler *a, struct bytes *out, const uint8_t *at, size_t n)
{
    while (out->cap - out->n < n)
        jy_vec_grow(a->arena, (void **)&out->at, out->n, &out->cap, 1);
    memcpy(out->at + out->n, at, n);
    out->n += n;
}

static void
emit_instruction(struct assembler *a, int id)
{
    const struct jy_instr *instr = jy_code_at(a->code, id);
    if (instr->i_span > 1) {
        emit_bytes(a, &a->bytecode, a->code->c_bytes + 2 * (size_t)instr->i_offset, 2 * (size_t)a->units[id]);
        return;
    }
    int prefixes = a->units[id] - 1 - instr->i_caches;
    for (int i = prefixes; i > 0; i--) {
        emit(a, &a->bytecode, EXTENDED_ARG);
        emit(a, &a->bytecode, (unsigned)instr->i_arg >> (8 * i) & 0xff);
    }
    emit(a, &a->bytecode, instr->i_op);
    emit(a, &a->bytecode, (unsigned)instr->i_arg & 0xff);
    for (int i = 0; i < instr->i_caches; i++) {
        emit(a, &a->bytecode, CACHE);
        emit(a, &a->bytecode, 0);
    }
}

/* ---- co_exceptiontable ---- */

static void
emit_exception_varint(struct assembler *a, unsigned value, unsigned mark)
{
    int shift = 0;
    while (value >> shift > 0x3f)
        shift += 6;
    for (; shift >= 0; shift -= 6, mark = 0)
        emit(a, &a->exceptions, mark | (shift > 0 ? 0x40u : 0) | (value >> shift & 0x3f));
}

static int
offset_of(const struct assembler *a, int id)
{
    return id == JY_NO_INSTR ? a->nunits : a->offset[id];
}

static void
emit_handler(struct assembler *a, const struct jy_handler *h)
{
    int start = offset_of(a, h->h_start), end = offset_of(a, h->h_end);
    if (start == end) /* all that it protected is gone */
        return;
    emit_exception_varint(a, (unsigned)start, 0x80);
    emit_exception_varint(a, (unsigned)(end - start), 0);
    emit_exception_varint(a, (unsigned)offset_of(a, h->h_handler), 0);
    emit_exception_varint(a, (unsigned)h->h_depth << 1 | h->h_lasti, 0);
}

/* ---- co_linetable ---- */

static void
emit_location_varint(struct assembler *a, unsigned value)
{
    for (; value > 0x3f; value >>= 6)
        emit(a, &a->locations, 0x40 | (value & 0x3f));
    emit(a, &a->locations, value);
}

static void
emit_location_signed(struct assembler *a, int value)
{
    emit_location_varint(a, value < 0 ? (0u - (unsigned)value) << 1 | 1 : (unsigned)value << 1);
}

static void
emit_location_head(struct assembler *a, unsigned kind, int units)
{
    emit(a, &a->locations, 0x80 | kind << 3 | (unsigned)(units - 1));
}

/* One entry, of at most 8 units; the kinds are those of read_location in decode.c. */
static void
emit_location(struct assembler *a, struct jy_position p, int units, int *line)
{
    if (p.line < 0) {
        emit_location_head(a, 15, units);
        return;
    }
    int delta = p.line - *line;
    *line = p.line;
    bool has_columns = p.column >= 0 && p.end_column >= 0, is_one_line = p.end_line == p.line;
    if (!has_columns && (is_one_line || p.end_line < 0)) {
        emit_location_head(a, 13, units);
        emit_location_signed(a, delta);
    } else if (has_columns && is_one_line && delta == 0 && p.column < 80 && p.end_column >= p.column &&
               p.end_column - p.column < 16) {
        emit_location_head(a, (unsigned)p.column >> 3, units);
        emit(a, &a->locations, ((unsigned)p.column & 7) << 4 | (unsigned)(p.end_column - p.column));
    } else if (has_columns && is_one_line && delta >= 0 && delta < 3 && p.column < 128 && p.end_column < 128) {
        emit_location_head(a, 10 + (unsigned)delta, units);
        emit(a, &a->locations, (unsigned)p.column);
        emit(a, &a->locations, (unsigned)p.end_column);
    } else {
        emit_location_head(a, 14, units);
        emit_location_signed(a, delta);
        emit_location_varint(a, (unsigned)(p.end_line - p.line));
        emit_location_varint(a, (unsigned)(p.column + 1));
        emit_location_varint(a, (unsigned)(p.end_column + 1));
    }
}

static void
emit_location_run(struct assembler *a, struct jy_position p, int units, int *line)
{
    for (; units > 8; units -= 8)
        emit_location(a, p, 8, line);
    if (units > 0)
        emit_location(a, p, units, line);
}

/* 3.11 writes one run per instruction, later versions one per stretch with the same position. */
static bool
is_same_run(struct jy_position p, struct jy_position q)
{
#if PY_VERSION_HEX < 0x030c0000
    (void)p, (void)q;
    return false;
#else
    return p.line == q.line && p.end_line == q.end_line && p.column == q.column && p.end_column == q.end_column;
#endif
}

static const struct jy_position nowhere = { -1, -1, -1, -1 };

/* The first run is written anew, as it counts from the line before; the others are copied. */
static void
emit_stretch_locations(struct assembler *a, const struct jy_instr *instr, int *line)
{
    const struct jy_stretches *s = a->code->c_stretches;
    int end = instr->i_id + instr->i_span, next = s->s_run[instr->i_id];
    emit_location_run(a, instr->i_position, units_between(s->s_code, instr->i_id, next), line);
    emit_bytes(a, &a->locations, s->s_table + s->s_place[next], (size_t)(s->s_place[end] - s->s_place[next]));
    *line = s->s_line[end];
}

static void
emit_locations(struct assembler *a)
{
    struct jy_position run = nowhere;
    int units = 0, line = a->code->c_origin->co_firstlineno;
    for (int id = jy_code_begin(a->code); id != JY_NO_INSTR; id = jy_code_next(a->code, id)) {
        const struct jy_instr *instr = jy_code_at(a->code, id);
        if (instr->i_span > 1 || !is_same_run(run, instr->i_position)) {
            emit_location_run(a, run, units, &line);
            run = instr->i_position;
            units = 0;
        }
        if (instr->i_span > 1) {
            emit_stretch_locations(a, instr, &line);
            run = nowhere;
        } else {
            units += a->units[id];
        }
    }
    emit_location_run(a, run, units, &line);
}

void
jy_assemble_locations(struct jy_stretches *out, struct jy_code *code)
{
    struct assembler a = { .code = code, .arena = code->c_arena };
    int units = 0, first = 0, line = code->c_origin->co_firstlineno;
    for (int id = 0; id < code->c_ndecoded; id++) {
        struct jy_position run = jy_code_at(code, first)->i_position;
        if (id > 0 && !is_same_run(run, jy_code_at(code, id)->i_position)) {
            emit_location_run(&a, run, units, &line);
            out->s_run[first] = id;
            first = id;
            units = 0;
        }
        out->s_place[id] = (int)a.locations.n; /* of those that begin a run */
        out->s_line[id] = line;
        units += count_units(code, jy_code_at(code, id));
    }
    emit_location_run(&a, jy_code_at(code, first)->i_position, units, &line);
    out->s_run[first] = code->c_ndecoded;
    out->s_table = a.locations.at;
}

/* ---- the object ---- */

static PyObject *
bytes_of(const struct bytes *bytes)
{
    return PyBytes_FromStringAndSize((const char *)bytes->at, (Py_ssize_t)bytes->n);
}

static PyObject *
take_tuple(PyObject *list, PyObject *tuple)
{
    return list != NULL ? PyList_AsTuple(list) : Py_NewRef(tuple);
}

static jy_status
make_object(PyObject **out, const struct assembler *a)
{
    struct jy_code *code = a->code;
    struct jy_code_parts parts = {
        .p_origin = code->c_origin,
        .p_bytecode = bytes_of(&a->bytecode),
        .p_consts = take_tuple(code->c_consts, code->c_origin->co_consts),
        .p_names = take_tuple(code->c_names, code->c_origin->co_names),
        .p_linetable = bytes_of(&a->locations),
        .p_exceptiontable = bytes_of(&a->exceptions),
        .p_new_locals = code->c_new_locals,
        .p_one_parameter = code->c_one_parameter,
        /* CPython also counts handlers that nothing reaches any more: never less than the original */
        .p_stacksize = Py_MAX(code->c_stacksize, code->c_origin->co_stacksize),
    };
    *out = NULL;
    if (parts.p_bytecode != NULL && parts.p_consts != NULL && parts.p_names != NULL && parts.p_linetable != NULL &&
        parts.p_exceptiontable != NULL)
        *out = jy_compat_new_code(&parts);
    Py_XDECREF(parts.p_bytecode);
    Py_XDECREF(parts.p_consts);
    Py_XDECREF(parts.p_names);
    Py_XDECREF(parts.p_linetable);
    Py_XDECREF(parts.p_exceptiontable);
    return *out != NULL ? JY_OK : JY_ERROR;
}

jy_status
jy_assemble_code(PyObject **out, struct jy_code *code)
{
    *out = NULL;
    TRY(direct_jumps(code));
    TRY(jy_verify_code(code));
    struct assembler a = {
        .code = code,
        .arena = code->c_arena,
        .offset = JY_NEW_ARRAY(code->c_arena, int, code->c_instrs.n),
        .units = JY_NEW_ARRAY(code->c_arena, int, code->c_instrs.n),
    };
    lay_out(&a);
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id))
        emit_instruction(&a, id);
    for (size_t i = 0; i < code->c_handlers.n; i++)
        emit_handler(&a, &code->c_handlers.at[i]);
    emit_locations(&a);
    return make_object(out, &a);
}

static jy_status
edit_and_assemble(PyObject **out, struct jy_code *code, jy_code_editor edit, void *context)
{
    TRY(edit(code, context));
    return jy_assemble_code(out, code);
}

struct copied { /* what is edited is a copy of this */
    const struct jy_stretches *stretches;
    const uint32_t *offsets;
    size_t noffsets;
};

static jy_status
transform(PyObject **out, PyObject *origin, const struct copied *copied, jy_code_editor edit, void *context)
{
    struct jy_arena *arena = jy_arena_new();
    if (arena == NULL)
        return JY_NOMEM;
    struct jy_code *volatile code = NULL; /* survives the jump */
    jy_status status = JY_NOMEM;
    *out = NULL;
    if (setjmp(*jy_arena_guard(arena)) == 0) {
        struct jy_code *own = NULL;
        status = JY_OK;
        if (copied != NULL)
            own = jy_stretches_copy(arena, copied->stretches, copied->offsets, copied->noffsets);
        else
            status = jy_decode_code(&own, arena, origin);
        code = own;
        if (status == JY_OK)
            status = edit_and_assemble(out, own, edit, context);
        if (status == JY_BREAK && own->c_error != NULL) {
            PyErr_SetString(PyExc_ValueError, own->c_error);
            status = JY_ERROR;
        }
    }
    if (code != NULL)
        jy_decode_release(code);
    jy_arena_free(arena);
    return status;
}

jy_status
jy_transform_code_object(PyObject **out, PyObject *origin, jy_code_editor edit, void *context)
{
    return transform(out, origin, NULL, edit, context);
}

jy_status
jy_transform_original(PyObject **out, const struct jy_original *original, const struct jy_stretches *stretches,
                      const uint32_t *offsets, size_t noffsets, jy_code_editor edit, void *context)
{
    struct copied copied = { stretches, offsets, noffsets };
    return transform(out, original->o_object, &copied, edit, context);
}
