/* Reads what flow_print.c writes.
 *
 * A value keeps the number that it has in the text; values that give nothing have none there and get those behind the last. Numbers that do not occur are values that stand in no
 * block. What the text cannot express needs no check here; what it means is checked by the verifier. */
#include "graph/flow_text.h"
#include "graph/loop_text.h"
#include "graph/scalar.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NUMBER 10000000u /* of a value or label: a text with larger ones is not ours */

struct reading {
    struct jy_reader r;
    struct jy_flow *w;
    struct {
        jy_fv *at;
        size_t n, cap;
    } unnamed; /* places in the bodies of values without a number: block, index, block, index ... */
    struct {
        struct jy_fvalue *at;
        size_t n, cap;
    } nothing; /* those values */
    struct {
        struct jy_box **at;
        size_t n, cap;
    } labels; /* of the exit that is being read */
    struct {
        struct jy_box **at;
        size_t n, cap;
    } boxes;
};

static const char *
read_quoted(struct reading *in)
{
    jy_reader_expect(&in->r, "\"");
    char *word = jy_arena_alloc(in->w->w_arena, strcspn(in->r.at, "\n") + 1);
    size_t n = 0;
    for (; in->r.error == NULL && *in->r.at != '"'; in->r.at++) {
        bool escaped = *in->r.at == '\\';
        in->r.at += escaped;
        if (*in->r.at == '\0' || *in->r.at == '\n')
            jy_reader_fail(&in->r, "a text without an end");
        else
            word[n++] = (char)(escaped && *in->r.at == 'n' ? '\n' : *in->r.at);
    }
    jy_reader_expect(&in->r, "\"");
    return word;
}

static bool
next_is(struct reading *in, char c)
{
    jy_reader_blanks(&in->r);
    return *in->r.at == c;
}

static bool
next_is_digit(struct reading *in)
{
    jy_reader_blanks(&in->r);
    return *in->r.at >= '0' && *in->r.at <= '9';
}

/* One of the words of a table, or a failure. */
static uint8_t
read_choice(struct reading *in, const char *what, const char *const *words, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (jy_reader_take(&in->r, words[k]))
            return (uint8_t)k;
    jy_reader_fail(&in->r, "expected %s", what);
    return 0;
}

static uint8_t
read_type(struct reading *in)
{
    return read_choice(in, "a type", jy_ftype_text, JY_F_TYPE_COUNT);
}

static uint32_t
read_number(struct reading *in)
{
    uint32_t n = jy_reader_index(&in->r);
    if (n > MAX_NUMBER)
        jy_reader_fail(&in->r, "the number is too large");
    return in->r.error == NULL ? n : 0;
}

static jy_fv
read_value(struct reading *in)
{
    jy_reader_expect(&in->r, "%");
    return read_number(in);
}

/* "(%1, %2)" */
static size_t
read_values(struct reading *in, jy_fv **out)
{
    struct {
        jy_fv *at;
        size_t n, cap;
    } list = { NULL, 0, 0 };
    jy_reader_expect(&in->r, "(");
    while (in->r.error == NULL && !jy_reader_take(&in->r, ")")) {
        if (list.n > 0)
            jy_reader_expect(&in->r, ",");
        *jy_vec_push(in->w->w_arena, &list) = read_value(in);
    }
    *out = list.at;
    return list.n;
}

/* Value `number` with what was read of it. */
static void
define(struct reading *in, jy_fv number, const struct jy_fvalue *v)
{
    const struct jy_fvalue hole = { .f_op = JY_FLOW_CONST, .f_exit = JY_NO_EXIT };
    if (in->r.error != NULL)
        return;
    while (in->w->w_values.n <= number)
        *jy_vec_push(in->w->w_arena, &in->w->w_values) = hole;
    if (jy_flow_at(in->w, number)->f_type != JY_F_NONE)
        jy_reader_fail(&in->r, "%%%" PRIu32 " is defined twice", number);
    *jy_flow_at(in->w, number) = *v;
}

static void
read_const(struct reading *in, struct jy_fvalue *v, const char *text)
{
    jy_dtype dtype = v->f_type == JY_F_I1    ? JY_BOOL
                     : v->f_type == JY_F_F32 ? JY_F32
                     : v->f_type == JY_F_F64 ? JY_F64
                                             : JY_I64;
    char *end = NULL;
    bool good = true;
    if (v->f_type == JY_F_PTR)
        v->f_value.bits = strtoull(text, &end, 0);
    else
        good = jy_scalar_parse(&v->f_value, dtype, &text);
    text = end != NULL ? end : text;
    if (!good || *text != ']')
        jy_reader_fail(&in->r, "a constant that is no %s", jy_ftype_text[v->f_type]);
}

static enum jy_fop
read_op(struct reading *in)
{
    const char *word = jy_reader_word(&in->r);
    for (int op = 0; op < JY_FLOW_COUNT; op++)
        if (op != JY_FLOW_PARAM && strcmp(word, jy_flow_op_info[op].text) == 0)
            return (enum jy_fop)op;
    jy_reader_fail(&in->r, "'%s' is no instruction", word);
    return JY_FLOW_CONST;
}

/* The index in brackets. A constant is read when its type is known: where its text begins is the result. */
static const char *
read_index(struct reading *in, struct jy_fvalue *v)
{
    jy_reader_expect(&in->r, "[");
    jy_reader_blanks(&in->r);
    const char *text = in->r.at;
    if (v->f_op == JY_FLOW_CONST)
        in->r.at += strcspn(in->r.at, "]\n");
    else
        v->f_index = (uint32_t)jy_reader_int(&in->r);
    jy_reader_expect(&in->r, "]");
    return text;
}

static void
read_operands(struct reading *in, struct jy_fvalue *v)
{
    jy_fv list[UINT8_MAX];
    size_t n = 0;
    while (in->r.error == NULL && next_is(in, '%')) {
        if (n == UINT8_MAX)
            jy_reader_fail(&in->r, "too many operands");
        else
            list[n++] = read_value(in);
        if (!jy_reader_take(&in->r, ","))
            break;
    }
    v->f_nargs = (uint8_t)n;
    v->f_args = jy_arena_copy(in->w->w_arena, list, n * sizeof(*list));
}

/* "%6 = add %3, %5 exit 0 : i64 @4" */
static void
read_instruction(struct reading *in, jy_fb block)
{
    struct jy_fvalue v = { .f_exit = JY_NO_EXIT, .f_block = block };
    jy_fv number = JY_NO_FV;
    const char *text = "";
    if (next_is(in, '%')) {
        number = read_value(in);
        jy_reader_expect(&in->r, "=");
    }
    v.f_op = (uint8_t)read_op(in);
    if (jy_flow_has_index((enum jy_fop)v.f_op))
        text = read_index(in, &v);
    read_operands(in, &v);
    if (jy_reader_take(&in->r, "alias"))
        v.f_alias = (uint16_t)read_number(in);
    if (jy_reader_take(&in->r, "exit"))
        v.f_exit = read_number(in);
    if (number != JY_NO_FV) {
        jy_reader_expect(&in->r, ":");
        v.f_type = read_type(in);
    }
    if (jy_reader_take(&in->r, "@"))
        v.f_line = jy_reader_index(&in->r);
    if (v.f_op == JY_FLOW_CONST && in->r.error == NULL)
        read_const(in, &v, text);
    struct jy_fblock *b = &in->w->w_blocks.at[block];
    if (number != JY_NO_FV) {
        define(in, number, &v);
    } else {
        *jy_vec_push(in->w->w_arena, &in->unnamed) = block;
        *jy_vec_push(in->w->w_arena, &in->unnamed) = (jy_fv)b->f_body.n;
        *jy_vec_push(in->w->w_arena, &in->nothing) = v;
    }
    *jy_vec_push(in->w->w_arena, &b->f_body) = number;
}

static void
number_the_unnamed(struct reading *in)
{
    for (size_t i = 0; i < in->nothing.n; i++) {
        jy_fv number = (jy_fv)in->w->w_values.n;
        in->w->w_blocks.at[in->unnamed.at[2 * i]].f_body.at[in->unnamed.at[2 * i + 1]] = number;
        *jy_vec_push(in->w->w_arena, &in->w->w_values) = in->nothing.at[i];
    }
}

static void
read_edge(struct reading *in, struct jy_fblock *b, size_t k)
{
    b->f_likely[k] = jy_reader_take(&in->r, "likely");
    b->f_edge[k].to = read_number(in);
    b->f_edge[k].nargs = read_values(in, &b->f_edge[k].args);
}

/* The last line of a block; false: it is none of that kind. */
static bool
read_end(struct reading *in, struct jy_fblock *b)
{
    if (jy_reader_take(&in->r, "jump")) {
        b->f_end = JY_END_JUMP;
        read_edge(in, b, 0);
    } else if (jy_reader_take(&in->r, "branch")) {
        b->f_end = JY_END_BRANCH;
        b->f_condition = read_value(in);
        jy_reader_expect(&in->r, "?");
        read_edge(in, b, 0);
        jy_reader_expect(&in->r, ":");
        read_edge(in, b, 1);
    } else if (jy_reader_take(&in->r, "exit")) {
        b->f_end = JY_END_EXIT;
        b->f_leave = read_number(in);
    } else {
        return false;
    }
    return true;
}

static void
end_line(struct reading *in)
{
    if (!jy_reader_at_end_of_line(&in->r))
        jy_reader_fail(&in->r, "more than expected");
}

/* To the next line, which must be there. */
static bool
read_next_line(struct reading *in)
{
    end_line(in);
    if (in->r.error == NULL && !jy_reader_next_line(&in->r))
        jy_reader_fail(&in->r, "a block without an end");
    return in->r.error == NULL;
}

/* "1 (%3 : i64) at 12 @3 :" and its lines */
static void
read_block(struct reading *in)
{
    struct jy_flow *w = in->w;
    jy_fb block = read_number(in);
    if (block != w->w_blocks.n)
        jy_reader_fail(&in->r, "blocks are numbered in order");
    struct jy_fblock *b = jy_vec_push(w->w_arena, &w->w_blocks);
    *b = (struct jy_fblock){ .f_condition = JY_NO_FV, .f_leave = JY_NO_EXIT };
    jy_reader_expect(&in->r, "(");
    while (in->r.error == NULL && !jy_reader_take(&in->r, ")")) {
        struct jy_fvalue v = { .f_op = JY_FLOW_PARAM, .f_exit = JY_NO_EXIT, .f_block = block };
        if (b->f_params.n > 0)
            jy_reader_expect(&in->r, ",");
        jy_fv number = read_value(in);
        jy_reader_expect(&in->r, ":");
        v.f_type = read_type(in);
        define(in, number, &v);
        *jy_vec_push(w->w_arena, &b->f_params) = number;
    }
    if (jy_reader_take(&in->r, "at"))
        b->f_offset = jy_reader_index(&in->r);
    if (jy_reader_take(&in->r, "@"))
        b->f_line = jy_reader_index(&in->r);
    b->f_careful = jy_reader_take(&in->r, "careful");
    jy_reader_expect(&in->r, ":");
    while (read_next_line(in) && !read_end(in, b))
        read_instruction(in, block);
}

static struct jy_box *read_box(struct reading *in);

static void
read_parts(struct reading *in, struct jy_box *box)
{
    struct {
        struct jy_box **at;
        size_t n, cap;
    } parts = { NULL, 0, 0 };
    jy_reader_expect(&in->r, "(");
    while (in->r.error == NULL && !jy_reader_take(&in->r, ")")) {
        if (parts.n > 0)
            jy_reader_expect(&in->r, ",");
        *jy_vec_push(in->w->w_arena, &parts) = read_box(in);
    }
    box->n = parts.n;
    box->parts = parts.at;
}

/* The place where a box of a new label goes. The label counts only when its box is complete: no box is its own part. */
static struct jy_box *
read_labelled(struct reading *in)
{
    uint32_t label = read_number(in);
    if (!jy_reader_take(&in->r, "=")) {
        if (label >= in->labels.n || in->labels.at[label] == NULL) {
            jy_reader_fail(&in->r, "no such box: #%" PRIu32, label);
            return NULL;
        }
        return in->labels.at[label];
    }
    if (label != in->labels.n)
        jy_reader_fail(&in->r, "labels are numbered in order");
    else
        *jy_vec_push(in->w->w_arena, &in->labels) = NULL;
    struct jy_box *box = read_box(in);
    if (in->r.error == NULL)
        in->labels.at[label] = box;
    return box;
}

static struct jy_box *
read_box(struct reading *in)
{
    struct jy_box *box = JY_NEW(in->w->w_arena, struct jy_box);
    if (in->r.error != NULL)
        return box;
    if (jy_reader_take(&in->r, "#"))
        return read_labelled(in);
    uint8_t how = 0;
    while (how < JY_BOX_HOW_COUNT && !jy_reader_take(&in->r, jy_box_text[how].text))
        how++;
    if (how == JY_BOX_HOW_COUNT) {
        jy_reader_fail(&in->r, "expected a box");
        return box;
    }
    uint8_t fields = jy_box_text[how].fields;
    box->how = how;
    if (fields & JY_BOX_HAS_NUMBER)
        box->number = jy_reader_index(&in->r);
    if (fields & JY_BOX_HAS_OBJECT) {
        jy_reader_expect(&in->r, "o");
        box->object = jy_reader_index(&in->r);
    }
    if (fields & JY_BOX_HAS_KIND)
        box->kind = read_choice(in, "a kind", jy_flow_kind_text, JY_KIND_TEXT_COUNT);
    if (fields & JY_BOX_HAS_DTYPE)
        box->dtype = (uint8_t)jy_reader_element(&in->r);
    if (fields & JY_BOX_HAS_NDIM) {
        box->ndim = (uint8_t)jy_reader_index(&in->r);
        jy_reader_expect(&in->r, "d");
    }
    if (fields & JY_BOX_HAS_VALUE) {
        jy_reader_expect(&in->r, "$");
        box->value = jy_reader_index(&in->r);
    }
    if (fields & JY_BOX_HAS_PARTS)
        read_parts(in, box);
    return box;
}

static struct jy_box **
take_boxes(struct reading *in)
{
    return jy_arena_copy(in->w->w_arena, in->boxes.at, in->boxes.n * sizeof(*in->boxes.at));
}

/* "frame 0 at 12 @4", and the "stack", "local" and "call" that follow */
static void
read_frame(struct reading *in, struct jy_flow_frame *frame)
{
    frame->x_function = jy_reader_index(&in->r);
    jy_reader_expect(&in->r, "at");
    frame->x_offset = jy_reader_index(&in->r);
    if (jy_reader_take(&in->r, "@"))
        frame->x_line = jy_reader_index(&in->r);
    end_line(in);
    in->boxes.n = 0;
    for (struct reading next = *in; in->r.error == NULL && jy_reader_next_line(&next.r); next = *in) {
        bool stack = jy_reader_take(&next.r, "stack"), calls = !stack && jy_reader_take(&next.r, "call");
        if (!stack && !calls && !jy_reader_take(&next.r, "local"))
            break;
        in->r = next.r;
        if (calls) {
            frame->x_call = jy_reader_index(&in->r);
        } else {
            frame->x_depth += stack;
            frame->x_nlocals += !stack;
            *jy_vec_push(in->w->w_arena, &in->boxes) = read_box(in);
        }
        end_line(in);
    }
    frame->x_boxes = take_boxes(in);
}

static void
read_frames(struct reading *in, struct jy_flow_exit *x)
{
    struct {
        struct jy_flow_frame *at;
        size_t n, cap;
    } frames = { NULL, 0, 0 };
    for (struct reading next = *in; in->r.error == NULL && jy_reader_next_line(&next.r); next = *in) {
        bool calls = jy_reader_take(&next.r, "call");
        if (!calls && !jy_reader_take(&next.r, "frame"))
            break;
        in->r = next.r;
        if (calls) {
            x->x_call = jy_reader_index(&in->r);
            end_line(in);
        } else {
            struct jy_flow_frame *frame = jy_vec_push(in->w->w_arena, &frames);
            *frame = (struct jy_flow_frame){ 0 };
            read_frame(in, frame);
        }
    }
    x->x_inner = frames.at;
    x->x_ninner = frames.n;
}

/* The lines of an exit: "result", or "stack" and then "local". */
static void
read_boxes(struct reading *in, struct jy_flow_exit *x)
{
    in->labels.n = in->boxes.n = 0;
    for (struct reading next = *in; in->r.error == NULL && jy_reader_next_line(&next.r); next = *in) {
        bool result = jy_reader_take(&next.r, "result"), stack = !result && jy_reader_take(&next.r, "stack");
        if (!result && !stack && !jy_reader_take(&next.r, "local"))
            break;
        in->r = next.r;
        if (result != (x->x_kind == JY_EXIT_RETURN) || (result && in->boxes.n > 0) || (stack && x->x_nlocals > 0))
            jy_reader_fail(&in->r, "not the place of such a line");
        x->x_depth += stack;
        x->x_nlocals += !result && !stack;
        *jy_vec_push(in->w->w_arena, &in->boxes) = read_box(in);
        end_line(in);
    }
    if (x->x_kind == JY_EXIT_RETURN && in->boxes.n == 0)
        jy_reader_fail(&in->r, "a return without a result");
    x->x_boxes = take_boxes(in);
    read_frames(in, x);
}

/* "0 check "int overflow" at 12 @4 in "g.py" (%3) :" and its lines */
static void
read_exit(struct reading *in)
{
    struct jy_flow_exit x = { .x_file = in->w->w_file };
    if (read_number(in) != in->w->w_exits.n)
        jy_reader_fail(&in->r, "exits are numbered in order");
    x.x_kind = read_choice(in, "a kind of exit", jy_flow_exit_text, JY_EXIT_KIND_COUNT);
    if (next_is(in, '"'))
        x.x_what = read_quoted(in);
    jy_reader_expect(&in->r, "at");
    x.x_offset = jy_reader_index(&in->r);
    if (jy_reader_take(&in->r, "@"))
        x.x_line = jy_reader_index(&in->r);
    if (jy_reader_take(&in->r, "in")) {
        x.x_file = read_quoted(in);
        x.x_file = *x.x_file == '\0' ? NULL : x.x_file;
    }
    x.x_values.n = x.x_values.cap = read_values(in, &x.x_values.at);
    if (jy_reader_take(&in->r, ":"))
        read_boxes(in, &x);
    *jy_vec_push(in->w->w_arena, &in->w->w_exits) = x;
}

/* "1 : i64 extent 0.1" */
static void
read_input(struct reading *in)
{
    struct jy_flow_input input = { 0 };
    if (read_number(in) != in->w->w_inputs.n)
        jy_reader_fail(&in->r, "inputs are numbered in order");
    jy_reader_expect(&in->r, ":");
    input.type = read_type(in);
    input.kind = read_choice(in, "a kind of input", jy_flow_input_text, JY_INPUT_KIND_COUNT);
    input.number = jy_reader_index(&in->r);
    if (jy_reader_take(&in->r, "."))
        input.axis = (uint8_t)jy_reader_index(&in->r);
    if (input.kind == JY_FLOW_IN_NUMBER || input.kind == JY_FLOW_IN_NATIVE)
        input.dtype = (uint8_t)jy_reader_element(&in->r);
    input.no_nan = jy_reader_take(&in->r, "no_nan");
    input.some = jy_reader_take(&in->r, "some");
    *jy_vec_push(in->w->w_arena, &in->w->w_inputs) = input;
}

/* "1 list_set (call, ptr, i64) : none fails keeps 1 3" */
static void
read_helper(struct reading *in)
{
    struct jy_flow_helper h = { 0 };
    if (read_number(in) != in->w->w_helpers.n)
        jy_reader_fail(&in->r, "helpers are numbered in order");
    h.name = jy_reader_word(&in->r);
    jy_reader_expect(&in->r, "(");
    h.wants_call = jy_reader_take(&in->r, "call");
    while (in->r.error == NULL && !jy_reader_take(&in->r, ")")) {
        if (h.nargs > 0 || h.wants_call)
            jy_reader_expect(&in->r, ",");
        if (h.nargs == sizeof h.args)
            jy_reader_fail(&in->r, "too many arguments");
        else
            h.args[h.nargs++] = read_type(in);
    }
    jy_reader_expect(&in->r, ":");
    h.type = read_type(in);
    h.may_fail = jy_reader_take(&in->r, "fails");
    h.pure = jy_reader_take(&in->r, "pure");
    if (jy_reader_take(&in->r, "keeps"))
        do {
            uint32_t alias = jy_reader_index(&in->r);
            if (alias >= 64)
                jy_reader_fail(&in->r, "no such alias number");
            else
                h.keeps |= UINT64_C(1) << alias;
        } while (in->r.error == NULL && next_is_digit(in));
    *jy_vec_push(in->w->w_arena, &in->w->w_helpers) = h;
}

/* "1 : input 2 written", "2 : interpreter" */
static void
read_alias(struct reading *in)
{
    struct jy_flow *w = in->w;
    if (read_number(in) != ++w->w_nalias)
        jy_reader_fail(&in->r, "alias numbers count from 1");
    jy_reader_expect(&in->r, ":");
    bool is_input = !jy_reader_take(&in->r, "interpreter");
    if (is_input)
        jy_reader_expect(&in->r, "input");
    uint32_t n = w->w_nalias, *input = JY_NEW_ARRAY(w->w_arena, uint32_t, n);
    bool *written = JY_NEW_ARRAY(w->w_arena, bool, n);
    for (size_t i = 0; i + 1 < n; i++) {
        input[i] = w->w_alias[i];
        written[i] = w->w_alias_written[i];
    }
    input[n - 1] = is_input ? jy_reader_index(&in->r) : JY_NO_FV;
    if (jy_reader_take(&in->r, "shared"))
        w->w_alias_shared |= UINT64_C(1) << (n & 63);
    if (jy_reader_take(&in->r, "own"))
        w->w_alias_own |= UINT64_C(1) << (n & 63);
    written[n - 1] = jy_reader_take(&in->r, "written");
    w->w_alias = input;
    w->w_alias_written = written;
}

/* " of 2 (i64, ptr) gives f64" */
static void
read_signature(struct reading *in)
{
    struct jy_flow *w = in->w;
    struct {
        uint8_t *at;
        size_t n, cap;
    } args = { NULL, 0, 0 };
    jy_reader_expect(&in->r, "of");
    w->w_function = jy_reader_index(&in->r);
    jy_reader_expect(&in->r, "(");
    while (in->r.error == NULL && !jy_reader_take(&in->r, ")")) {
        if (args.n > 0)
            jy_reader_expect(&in->r, ",");
        *jy_vec_push(w->w_arena, &args) = read_type(in);
    }
    w->w_args = args.at;
    w->w_nargs = args.n;
    jy_reader_expect(&in->r, "gives");
    w->w_type = read_type(in);
}

/* " piece (i64 sum, f64 last)" */
static void
read_piece(struct reading *in)
{
    in->w->w_is_piece = true;
    jy_reader_expect(&in->r, "(");
    while (in->r.error == NULL && !jy_reader_take(&in->r, ")")) {
        struct jy_flow_last last = { JY_LAST_VALUE, JY_F_NONE };
        if (in->w->w_last.n > 0)
            jy_reader_expect(&in->r, ",");
        last.type = read_type(in);
        if (jy_reader_take(&in->r, "sum"))
            last.how = JY_LAST_SUM;
        else
            jy_reader_expect(&in->r, "last");
        *jy_vec_push(in->w->w_arena, &in->w->w_last) = last;
    }
}

/* "f in "f.py" loops 1 frames 2 flags :" */
static void
read_head(struct reading *in)
{
    in->w->w_name = next_is(in, '"') ? read_quoted(in) : jy_reader_word(&in->r);
    if (jy_reader_take(&in->r, "in"))
        in->w->w_file = read_quoted(in);
    if (in->w->w_root != NULL)
        read_signature(in);
    if (in->w->w_root != NULL && jy_reader_take(&in->r, "piece"))
        read_piece(in);
    if (jy_reader_take(&in->r, "loops"))
        in->w->w_loops = jy_reader_index(&in->r);
    if (jy_reader_take(&in->r, "frames"))
        in->w->w_frames = jy_reader_index(&in->r);
    in->w->w_np_flags = jy_reader_take(&in->r, "flags");
    jy_reader_expect(&in->r, ":");
    end_line(in);
}

/* What follows belongs to a function of the flow. */
static void
read_function(struct reading *in)
{
    struct jy_flow *root = jy_flow_root(in->w), *w = JY_NEW(root->w_arena, struct jy_flow);
    number_the_unnamed(in);
    in->unnamed.n = in->nothing.n = 0;
    w->w_arena = root->w_arena;
    w->w_root = root;
    *jy_vec_push(root->w_arena, &root->w_functions) = w;
    in->w = w;
    read_head(in);
}

static void
read_section(struct reading *in)
{
    if (jy_reader_take(&in->r, "function"))
        read_function(in);
    else if (jy_reader_take(&in->r, "input"))
        read_input(in);
    else if (jy_reader_take(&in->r, "helper"))
        read_helper(in);
    else if (jy_reader_take(&in->r, "alias"))
        read_alias(in);
    else if (jy_reader_take(&in->r, "block"))
        read_block(in);
    else if (jy_reader_take(&in->r, "exit"))
        read_exit(in);
    else
        jy_reader_fail(&in->r, "expected input, helper, alias, block, exit or function");
    end_line(in);
}

struct jy_flow *
jy_flow_parse(struct jy_arena *arena, const char *source, const char **error)
{
    struct reading in = { .r = { .arena = arena, .at = source, .line = 1 }, .w = JY_NEW(arena, struct jy_flow) };
    in.w->w_arena = arena;
    jy_reader_expect(&in.r, "flow");
    read_head(&in);
    while (in.r.error == NULL && jy_reader_next_line(&in.r))
        read_section(&in);
    if (in.r.error == NULL && in.w->w_blocks.n == 0)
        jy_reader_fail(&in.r, "a flow without a block");
    number_the_unnamed(&in);
    struct jy_flow *root = jy_flow_root(in.w);
    *error = in.r.error != NULL ? in.r.error : jy_flow_verify(root);
    return *error == NULL ? root : NULL;
}
