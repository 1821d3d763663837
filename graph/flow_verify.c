/* The rules of the flow IR (flow.h), checked over a whole flow.
 *
 * First where everything stands and where edges go, for that is what the analysis of dominators relies on; then types, operands and exits. In blocks that nothing reaches
 * "defined before" says nothing and is not asked. */
#include "graph/flow_analysis.h"
#include "graph/flow_text.h"
#include "graph/graph.h"
#include <inttypes.h>
#include <string.h>

#define NOWHERE UINT32_MAX

struct verifier {
    const struct jy_flow *w;
    struct jy_flow_shape shape;
    uint32_t *place; /* by value: 0 for parameters, else 1 + its index in the body */
    jy_fb block;
    const char *error;
};

/* Operand classes, then the result. Operands of the classes that leave a choice (n i f m e y) have one type, which is the result's where that is '='.
 *     n: I32 I64 F32 F64   i: I32 I64   f: F32 F64   m: I1 I32 I64   e: those and PTR   y: any   b: I1   l: I64   p: PTR   v: none   *: see check_rest() */
static const char *const rules[JY_FLOW_COUNT] = {
    [JY_FLOW_CONST] = "*",      [JY_FLOW_INPUT] = "*",       [JY_FLOW_PARAM] = "*",   [JY_FLOW_ADD] = "nn=",
    [JY_FLOW_SUB] = "nn=",      [JY_FLOW_MUL] = "nn=",       [JY_FLOW_NEG] = "n=",    [JY_FLOW_ABS] = "n=",
    [JY_FLOW_AND] = "mm=",      [JY_FLOW_OR] = "mm=",        [JY_FLOW_XOR] = "mm=",   [JY_FLOW_NOT] = "m=",
    [JY_FLOW_SHL] = "ii=",      [JY_FLOW_SHR] = "ii=",       [JY_FLOW_USHR] = "ii=",  [JY_FLOW_FLOORDIV] = "ii=",
    [JY_FLOW_FLOORMOD] = "ii=", [JY_FLOW_MIN] = "ii=",       [JY_FLOW_MAX] = "ii=",   [JY_FLOW_DIV] = "ff=",
    [JY_FLOW_SQRT] = "f=",      [JY_FLOW_FLOOR] = "f=",      [JY_FLOW_CEIL] = "f=",   [JY_FLOW_TRUNC] = "f=",
    [JY_FLOW_RINT] = "f=",      [JY_FLOW_COPYSIGN] = "ff=",  [JY_FLOW_EQ] = "eeb",    [JY_FLOW_NE] = "eeb",
    [JY_FLOW_LT] = "nnb",       [JY_FLOW_LE] = "nnb",        [JY_FLOW_GT] = "nnb",    [JY_FLOW_GE] = "nnb",
    [JY_FLOW_BELOW] = "iib",    [JY_FLOW_SELECT] = "byy=",   [JY_FLOW_SEXT] = "y*",   [JY_FLOW_ZEXT] = "y*",
    [JY_FLOW_NARROW] = "y*",    [JY_FLOW_TO_FLOAT] = "i*",   [JY_FLOW_TO_INT] = "f*", [JY_FLOW_WIDEN] = "f*",
    [JY_FLOW_ROUND] = "f*",     [JY_FLOW_BITS] = "y*",       [JY_FLOW_LOAD] = "pl*",  [JY_FLOW_STORE] = "plyv",
    [JY_FLOW_OFFSET] = "plp",   [JY_FLOW_WRAP] = "lll",      [JY_FLOW_CHECK] = "bv",  [JY_FLOW_FLAGGED] = "fffv",
    [JY_FLOW_CALL] = "*",       [JY_FLOW_INVOKE] = "*",      [JY_FLOW_POLL] = "v",    [JY_FLOW_SCRATCH] = "p",
    [JY_FLOW_SPREAD] = "*",     [JY_FLOW_INDEPENDENT] = "v",
};

static void
fail(struct verifier *v, const char *what)
{
    if (v->error == NULL)
        v->error = jy_arena_printf(v->w->w_arena, "block %" PRIu32 ": %s", v->block, what);
}

static void
fail_at(struct verifier *v, jy_fv at, const char *what)
{
    const struct jy_fvalue *x = jy_flow_at(v->w, at);
    if (v->error == NULL)
        v->error = jy_arena_printf(v->w->w_arena, "block %" PRIu32 ", %%%" PRIu32 " (%s, line %" PRIu32 "): %s",
                                   v->block, at, jy_flow_op_info[x->f_op].text, x->f_line, what);
}

static enum jy_ftype
type_of(const struct verifier *v, jy_fv x)
{
    return (enum jy_ftype)jy_flow_at(v->w, x)->f_type;
}

static bool
is_int(enum jy_ftype t)
{
    return t == JY_F_I32 || t == JY_F_I64;
}

static bool
is_float(enum jy_ftype t)
{
    return t == JY_F_F32 || t == JY_F_F64;
}

static bool
is_in_class(char class, enum jy_ftype t)
{
    switch (class) {
    case 'i':
        return is_int(t);
    case 'f':
        return is_float(t);
    case 'n':
        return is_int(t) || is_float(t);
    case 'm':
        return is_int(t) || t == JY_F_I1;
    case 'e':
        return is_int(t) || is_float(t) || t == JY_F_I1 || t == JY_F_PTR;
    case 'y':
        return t != JY_F_NONE;
    case 'b':
        return t == JY_F_I1;
    case 'l':
        return t == JY_F_I64;
    case 'p':
        return t == JY_F_PTR;
    default:
        return t == JY_F_NONE;
    }
}

/* ---- where things stand ---- */

static void
place(struct verifier *v, jy_fv x, size_t at)
{
    if (x >= v->w->w_values.n) {
        fail(v, "names a value that does not exist");
        return;
    }
    const struct jy_fvalue *value = jy_flow_at(v->w, x);
    if (value->f_op >= JY_FLOW_COUNT || value->f_type >= JY_F_TYPE_COUNT)
        fail(v, "holds a value that is none");
    else if (v->place[x] != NOWHERE)
        fail_at(v, x, "stands in two places");
    else if (value->f_block != v->block)
        fail_at(v, x, "says that it stands in another block");
    else if ((value->f_op == JY_FLOW_PARAM) != (at == 0))
        fail_at(v, x, "a parameter in a body, or another value as a parameter");
    else if (value->f_exit != JY_NO_EXIT && value->f_exit >= v->w->w_exits.n)
        fail_at(v, x, "an exit that does not exist");
    v->place[x] = (uint32_t)at;
}

static void
place_block(struct verifier *v)
{
    const struct jy_fblock *b = &v->w->w_blocks.at[v->block];
    for (size_t i = 0; i < b->f_params.n; i++)
        place(v, b->f_params.at[i], 0);
    for (size_t i = 0; i < b->f_body.n; i++)
        place(v, b->f_body.at[i], i + 1);
    if (v->block == 0 && b->f_params.n != 0)
        fail(v, "the entry has parameters");
    if (b->f_end > JY_END_EXIT || (b->f_end == JY_END_EXIT && b->f_leave >= v->w->w_exits.n))
        fail(v, "leaves by an exit that does not exist");
    for (size_t k = 0; k < jy_flow_nedges(b); k++)
        if (b->f_edge[k].to == 0 || b->f_edge[k].to >= v->w->w_blocks.n)
            fail(v, "has no end, or an edge to the entry or to a block that does not exist");
}

/* ---- operands ---- */

/* Is x defined in front of place `at` of the block? */
static bool
is_defined(const struct verifier *v, jy_fv x, size_t at)
{
    if (x >= v->w->w_values.n || v->place[x] == NOWHERE)
        return false;
    jy_fb home = jy_flow_at(v->w, x)->f_block;
    if (v->shape.dom.rank[v->block] == JY_UNREACHED)
        return true;
    if (home == v->block)
        return v->place[x] < at;
    return v->shape.dom.rank[home] != JY_UNREACHED && jy_dominates(&v->shape.dom, home, v->block);
}

static bool
check_exit_values(struct verifier *v, uint32_t exit, size_t at)
{
    const struct jy_flow_exit *x = &v->w->w_exits.at[exit];
    for (size_t i = 0; i < x->x_values.n; i++)
        if (!is_defined(v, x->x_values.at[i], at))
            return false;
    return true;
}

/* Values that are integers stand as flow.h says of slots, so that equal ones have equal bits. */
static bool
is_canonical(enum jy_ftype type, union jy_scalar value)
{
    switch ((int)type) {
    case JY_F_I1:
        return value.bits <= 1;
    case JY_F_I8:
        return value.i == (int8_t)value.i;
    case JY_F_I16:
        return value.i == (int16_t)value.i;
    case JY_F_I32:
        return value.i == (int32_t)value.i;
    case JY_F_F32:
        return value.bits <= UINT32_MAX;
    default:
        return true;
    }
}

static bool
is_extension(enum jy_ftype of, enum jy_ftype to)
{
    return JY_F_I8 <= of && of < to && to <= JY_F_I64;
}

static bool
is_reinterpretation(enum jy_ftype of, enum jy_ftype to)
{
    return (of == JY_F_F64 && to == JY_F_I64) || (of == JY_F_I64 && (to == JY_F_F64 || to == JY_F_PTR)) ||
           (of == JY_F_F32 && to == JY_F_I32) || (of == JY_F_I32 && to == JY_F_F32) ||
           (of == JY_F_PTR && to == JY_F_I64);
}

static const char *
check_call(const struct verifier *v, const struct jy_fvalue *x)
{
    if (x->f_index >= v->w->w_helpers.n)
        return "no such helper";
    const struct jy_flow_helper *h = &v->w->w_helpers.at[x->f_index];
    if (h->nargs != x->f_nargs || h->type != x->f_type)
        return "not as many arguments as the helper takes, or another type than it gives";
    for (size_t i = 0; i < h->nargs; i++)
        if (type_of(v, x->f_args[i]) != h->args[i])
            return "an argument of another type than the helper takes";
    return h->may_fail != (x->f_exit != JY_NO_EXIT) ? "an exit, but the helper cannot fail, or the other way round"
                                                    : NULL;
}

static const char *
check_invoke(const struct verifier *v, const struct jy_fvalue *x)
{
    const struct jy_flow *root = jy_flow_root(v->w);
    if (x->f_index >= root->w_functions.n)
        return "no such function";
    const struct jy_flow *called = root->w_functions.at[x->f_index];
    if (called->w_is_piece || called->w_nargs != x->f_nargs || called->w_type != x->f_type)
        return "not as many arguments as the function takes, or another type than it gives";
    for (size_t i = 0; i < x->f_nargs; i++)
        if (type_of(v, x->f_args[i]) != called->w_args[i])
            return "an argument of another type than the function takes";
    return x->f_exit == JY_NO_EXIT ? "no exit" : NULL;
}

static const char *
check_spread(const struct verifier *v, const struct jy_fvalue *x)
{
    const struct jy_flow *root = jy_flow_root(v->w);
    if (x->f_index >= root->w_functions.n || !root->w_functions.at[x->f_index]->w_is_piece)
        return "no such piece";
    const struct jy_flow *piece = root->w_functions.at[x->f_index];
    if (x->f_type != JY_F_I64 || x->f_nargs < 2 || type_of(v, x->f_args[0]) != JY_F_I64 ||
        type_of(v, x->f_args[1]) != JY_F_PTR)
        return "no number of rounds, or no place for what they know";
    if (piece->w_nargs != x->f_nargs - 2u + JY_PIECE_ARGS || piece->w_last.n * 8 > JY_SCRATCH_BYTES)
        return "not as many arguments as the piece takes";
    for (size_t i = 2; i < x->f_nargs; i++)
        if (type_of(v, x->f_args[i]) != piece->w_args[i - 2 + JY_PIECE_ARGS])
            return "an argument of another type than the piece takes";
    return NULL;
}

/* A piece takes its rounds and the place first, and gives nothing. */
static const char *
check_piece(const struct jy_flow *w)
{
    if (!w->w_is_piece)
        return NULL;
    bool good = w->w_root != NULL && w->w_last.n <= JY_PIECE_MOST_LAST && w->w_nargs >= JY_PIECE_ARGS &&
                w->w_type == JY_F_NONE && w->w_args[0] == JY_F_I64 && w->w_args[1] == JY_F_I64 &&
                w->w_args[2] == JY_F_PTR;
    for (size_t k = 0; k < w->w_last.n; k++) {
        enum jy_ftype type = (enum jy_ftype)w->w_last.at[k].type;
        bool may_add = type == JY_F_I64 || is_float(type);
        good &= type != JY_F_NONE &&
                (w->w_last.at[k].how == JY_LAST_VALUE || (w->w_last.at[k].how == JY_LAST_SUM && may_add));
    }
    return good ? NULL : "a piece with another signature";
}

/* What no rule says. */
static const char *
check_rest(const struct verifier *v, const struct jy_fvalue *x)
{
    enum jy_ftype to = (enum jy_ftype)x->f_type, of = x->f_nargs > 0 ? type_of(v, x->f_args[0]) : JY_F_NONE;
    bool good = true;
    switch ((int)x->f_op) {
    case JY_FLOW_CONST:
        return to == JY_F_NONE || !is_canonical(to, x->f_value) ? "a constant that is none of its type" : NULL;
    case JY_FLOW_INPUT:
        if (v->block != 0 || x->f_index >= v->w->w_inputs.n)
            return "an input that does not exist, or outside of the entry";
        good = v->w->w_inputs.at[x->f_index].type == to;
        break;
    case JY_FLOW_CALL:
        return check_call(v, x);
    case JY_FLOW_INVOKE:
        return check_invoke(v, x);
    case JY_FLOW_SPREAD:
        return check_spread(v, x);
    case JY_FLOW_PARAM:
    case JY_FLOW_LOAD:
        good = to != JY_F_NONE;
        break;
    case JY_FLOW_SEXT:
        good = is_extension(of, to);
        break;
    case JY_FLOW_ZEXT:
        good = is_extension(of, to) || (of == JY_F_I1 && is_extension(JY_F_I8, to)) || (of == JY_F_I1 && to == JY_F_I8);
        break;
    case JY_FLOW_NARROW:
        good = is_extension(to, of);
        break;
    case JY_FLOW_TO_FLOAT:
        good = is_float(to);
        break;
    case JY_FLOW_TO_INT:
        good = is_int(to);
        break;
    case JY_FLOW_WIDEN:
        good = of == JY_F_F32 && to == JY_F_F64;
        break;
    case JY_FLOW_ROUND:
        good = of == JY_F_F64 && to == JY_F_F32;
        break;
    default: /* BITS */
        good = is_reinterpretation(of, to);
        break;
    }
    return good ? NULL : "not a type that it can give";
}

static bool
may_exit(const struct verifier *v, const struct jy_fvalue *x)
{
    switch ((int)x->f_op) {
    case JY_FLOW_ADD:
    case JY_FLOW_SUB:
    case JY_FLOW_MUL:
    case JY_FLOW_NEG:
    case JY_FLOW_ABS:
        return is_int((enum jy_ftype)x->f_type);
    case JY_FLOW_TO_FLOAT:
        return x->f_type == JY_F_F64;
    case JY_FLOW_SHL:
    case JY_FLOW_SHR:
    case JY_FLOW_FLOORDIV:
    case JY_FLOW_FLOORMOD:
    case JY_FLOW_NARROW:
    case JY_FLOW_TO_INT:
    case JY_FLOW_WRAP:
    case JY_FLOW_CHECK:
    case JY_FLOW_FLAGGED:
    case JY_FLOW_INVOKE:
    case JY_FLOW_POLL:
        return true;
    default:
        return x->f_op == JY_FLOW_CALL && v->w->w_helpers.at[x->f_index].may_fail;
    }
}

/* The operands and the result against the instruction's rule. */
static const char *
check_types(const struct verifier *v, const struct jy_fvalue *x)
{
    const char *rule = rules[x->f_op];
    size_t n = strlen(rule) - 1;
    enum jy_ftype common = JY_F_NONE, result = (enum jy_ftype)x->f_type;
    if (x->f_op != JY_FLOW_CALL && x->f_op != JY_FLOW_INVOKE && x->f_op != JY_FLOW_SPREAD && x->f_nargs != n)
        return "another number of operands";
    for (size_t i = 0; i < n; i++) {
        enum jy_ftype type = type_of(v, x->f_args[i]);
        bool chosen = strchr("blp", rule[i]) == NULL;
        if (!is_in_class(rule[i], type))
            return "an operand of a type that it does not take";
        if (chosen && common != JY_F_NONE && type != common)
            return "operands of two types";
        common = chosen ? type : common;
    }
    if (rule[n] == '*')
        return check_rest(v, x);
    return (rule[n] == '=' ? result == common : is_in_class(rule[n], result)) ? NULL : "not the type that it gives";
}

static void
check_value(struct verifier *v, jy_fv number)
{
    const struct jy_fvalue *x = jy_flow_at(v->w, number);
    size_t at = v->place[number];
    for (size_t i = 0; i < x->f_nargs; i++)
        if (!is_defined(v, x->f_args[i], at)) {
            fail_at(v, number, "an operand that is not defined before it");
            return;
        }
    const char *why = check_types(v, x);
    if (why != NULL)
        fail_at(v, number, why);
    else if (x->f_exit != JY_NO_EXIT && !may_exit(v, x))
        fail_at(v, number, "an exit on an instruction that takes none");
    else if (x->f_exit == JY_NO_EXIT && x->f_op == JY_FLOW_POLL)
        fail_at(v, number, "no exit");
    else if (x->f_exit != JY_NO_EXIT && !check_exit_values(v, x->f_exit, at))
        fail_at(v, number, "its exit has a value that is not defined before it");
    else if (x->f_alias > v->w->w_nalias || (x->f_alias != 0 && x->f_op != JY_FLOW_LOAD && x->f_op != JY_FLOW_STORE))
        fail_at(v, number, "an alias number that is not in use, or on something that is no access");
}

static void
check_edge(struct verifier *v, const struct jy_fedge *e, size_t end)
{
    const struct jy_fblock *to = &v->w->w_blocks.at[e->to];
    if (e->nargs != to->f_params.n) {
        fail(v, "an edge with another number of arguments than the block has parameters");
        return;
    }
    for (size_t i = 0; i < e->nargs; i++)
        if (!is_defined(v, e->args[i], end))
            fail(v, "an edge's argument that is not defined");
        else if (type_of(v, e->args[i]) != type_of(v, to->f_params.at[i]))
            fail(v, "an edge's argument of another type than the parameter");
}

static void
check_block(struct verifier *v)
{
    const struct jy_fblock *b = &v->w->w_blocks.at[v->block];
    size_t end = b->f_body.n + 1;
    for (size_t i = 0; i < b->f_params.n; i++)
        check_value(v, b->f_params.at[i]);
    for (size_t i = 0; i < b->f_body.n && v->error == NULL; i++)
        check_value(v, b->f_body.at[i]);
    for (size_t k = 0; k < jy_flow_nedges(b); k++)
        check_edge(v, &b->f_edge[k], end);
    if (b->f_end == JY_END_BRANCH && (!is_defined(v, b->f_condition, end) || type_of(v, b->f_condition) != JY_F_I1))
        fail(v, "a condition that is not defined or no i1");
    if (b->f_end == JY_END_EXIT && !check_exit_values(v, b->f_leave, end))
        fail(v, "the exit that it leaves by has a value that is not defined");
}

/* ---- exits and inputs ---- */

/* Value i of a box. */
static enum jy_ftype
type_in_box(const struct jy_box *box, size_t i)
{
    if (box->how == JY_BOX_NUMBER)
        return jy_flow_dtype_type(box->dtype);
    if (box->how == JY_BOX_COMPLEX)
        return JY_F_F64;
    if (box->how == JY_BOX_MAYBE)
        return JY_F_I1;
    if (box->how == JY_BOX_OBJECT || box->how == JY_BOX_NATIVE ||
        ((box->how == JY_BOX_VIEW || box->how == JY_BOX_FRESH) && i == 0))
        return JY_F_PTR;
    return JY_F_I64;
}

static bool
is_scalar_kind(const struct jy_box *box)
{
    static const uint8_t dtypes[] = { [JY_KIND_PYFLOAT] = JY_F64,
                                      [JY_KIND_PYINT] = JY_I64,
                                      [JY_KIND_PYBOOL] = JY_BOOL };
    if (box->how == JY_BOX_COMPLEX || box->kind == JY_KIND_NPSCALAR)
        return true;
    return JY_KIND_PYFLOAT <= box->kind && box->kind <= JY_KIND_PYBOOL && box->dtype == dtypes[box->kind];
}

static const char *
check_box(const struct verifier *v, const struct jy_flow_exit *x, const struct jy_box *box)
{
    static const uint8_t parts[JY_BOX_HOW_COUNT] = {
        [JY_BOX_RANGE] = 3,         [JY_BOX_SLICE] = 3,     [JY_BOX_VIEW] = 1,   [JY_BOX_SEQ_ITER] = 1,
        [JY_BOX_REVERSED_ITER] = 1, [JY_BOX_ENUMERATE] = 2, [JY_BOX_METHOD] = 1, [JY_BOX_MAYBE] = 1,
    };
    if (box == NULL || box->how >= JY_BOX_HOW_COUNT)
        return "a box that is none";
    const struct jy_box_text *how = &jy_box_text[box->how];
    size_t n = jy_box_nvalues(box);
    bool any_number = box->how == JY_BOX_TUPLE || box->how == JY_BOX_LIST || box->how == JY_BOX_ZIP;
    bool is_choice = box->how == JY_BOX_MAYBE && box->n == 2;
    if (!any_number && !is_choice && box->n != parts[box->how])
        return "a box of another number of parts";
    if ((how->fields & JY_BOX_HAS_KIND) && !is_scalar_kind(box))
        return "a box of a kind that does not go with its dtype";
    if (n > x->x_values.n || box->value > x->x_values.n - n)
        return "a box of a value that the exit does not have";
    for (size_t i = 0; i < n; i++)
        if (type_of(v, x->x_values.at[box->value + i]) != type_in_box(box, i))
            return "a box of a value of another type";
    for (size_t i = 0; i < box->n; i++) {
        const char *why = check_box(v, x, box->parts[i]);
        if (why != NULL)
            return why;
    }
    return NULL;
}

static const char *
check_frame(const struct verifier *v, const struct jy_flow_exit *x, const struct jy_flow_frame *frame)
{
    for (size_t i = 0; i < frame->x_depth + frame->x_nlocals; i++) {
        const char *why = check_box(v, x, frame->x_boxes[i]);
        if (why != NULL)
            return why;
    }
    return NULL;
}

/* A function gives one value, or none. */
static const char *
check_result(const struct verifier *v, const struct jy_flow_exit *x)
{
    bool gives = v->w->w_type != JY_F_NONE;
    if (x->x_boxes != NULL || x->x_values.n != gives || (gives && type_of(v, x->x_values.at[0]) != v->w->w_type))
        return "another result than the function gives";
    return NULL;
}

static void
check_exit(struct verifier *v, size_t number)
{
    const struct jy_flow_exit *x = &v->w->w_exits.at[number];
    size_t n = x->x_boxes == NULL ? 0 : x->x_kind == JY_EXIT_RETURN ? 1 : x->x_depth + x->x_nlocals;
    const char *why = x->x_kind > JY_EXIT_RETURN ? "a kind that is none" : NULL;
    for (size_t i = 0; i < x->x_values.n && why == NULL; i++) {
        jy_fv value = x->x_values.at[i];
        if (value >= v->w->w_values.n || !is_in_class('e', type_of(v, value)))
            why = "a value that does not exist or has no slot";
    }
    for (size_t i = 0; i < n && why == NULL; i++)
        why = check_box(v, x, x->x_boxes[i]);
    for (size_t k = 0; k < x->x_ninner && why == NULL; k++)
        why = check_frame(v, x, &x->x_inner[k]);
    if (why == NULL && x->x_ninner != 0 && (x->x_kind == JY_EXIT_RETURN || x->x_call >= x->x_depth))
        why = "a frame behind what calls nothing";
    if (why == NULL && x->x_kind == JY_EXIT_RETURN && v->w->w_root != NULL)
        why = check_result(v, x);
    if (why != NULL && v->error == NULL)
        v->error = jy_arena_printf(v->w->w_arena, "exit %zu: %s", number, why);
}

static bool
is_sound_input(const struct jy_flow *w, const struct jy_flow_input *in)
{
    if (in->kind == JY_FLOW_IN_ARG)
        return in->number < w->w_nargs && w->w_args[in->number] == in->type;
    if (in->kind == JY_FLOW_IN_NUMBER)
        return jy_flow_dtype_type(in->dtype) == in->type && in->type != JY_F_NONE;
    bool is_address = in->kind == JY_FLOW_IN_OBJECT || in->kind == JY_FLOW_IN_DATA ||
                      in->kind == JY_FLOW_IN_CONST_OBJECT || in->kind == JY_FLOW_IN_BITGEN ||
                      in->kind == JY_FLOW_IN_CONST_BITGEN || in->kind == JY_FLOW_IN_NATIVE;
    return in->kind < JY_INPUT_KIND_COUNT && in->type == (is_address ? JY_F_PTR : JY_F_I64);
}

static const char *
verify_one(const struct jy_flow *w)
{
    struct verifier v = { .w = w, .place = JY_NEW_ARRAY(w->w_arena, uint32_t, w->w_values.n + 1) };
    memset(v.place, 0xff, w->w_values.n * sizeof(*v.place));
    if (w->w_blocks.n == 0)
        return "a flow without a block";
    if (w->w_nalias > JY_FLOW_MOST_ALIASES)
        return "too many alias numbers";
    if (check_piece(w) != NULL)
        return check_piece(w);
    for (size_t i = 0; i < w->w_inputs.n; i++)
        if (!is_sound_input(w, &w->w_inputs.at[i]))
            return jy_arena_printf(w->w_arena, "input %zu: not a type of that kind", i);
    for (v.block = 0; v.block < w->w_blocks.n && v.error == NULL; v.block++)
        place_block(&v);
    for (size_t x = 0; x < w->w_exits.n && v.error == NULL; x++)
        check_exit(&v, x);
    if (v.error != NULL)
        return v.error;
    jy_flow_shape_fill(&v.shape, w);
    for (v.block = 0; v.block < w->w_blocks.n && v.error == NULL; v.block++)
        check_block(&v);
    return v.error;
}

const char *
jy_flow_verify(const struct jy_flow *w)
{
    const char *why = verify_one(w);
    for (size_t k = 0; k < w->w_functions.n && why == NULL; k++) {
        why = verify_one(w->w_functions.at[k]);
        if (why != NULL)
            why = jy_arena_printf(w->w_arena, "function %zu: %s", k, why);
    }
    return why;
}
