/* Flows as text (the form is shown in flow.h and docs/flow.md; flow_parse.c reads it).
 *
 * A value is named by its index, so that a dump, the verifier's messages and a debugger speak of the same thing. What is 0, NULL or as in the line above is left out. */
#include "graph/flow_text.h"
#include "graph/scalar.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

const char *const jy_ftype_text[JY_F_TYPE_COUNT] = { "none", "i1", "i8", "i16", "i32", "i64", "f32", "f64", "ptr" };
const char *const jy_flow_kind_text[JY_KIND_TEXT_COUNT] = { "array", "npscalar", "pyfloat", "pyint", "pybool" };
const char *const jy_flow_exit_text[JY_EXIT_KIND_COUNT] = { "check", "stop", "poll", "call", "return" };
const char *const jy_flow_input_text[JY_INPUT_KIND_COUNT] = { "number", "object",          "data",   "extent",
                                                              "stride", "range",           "index",  "constant",
                                                              "bitgen", "constant_bitgen", "native", "arg" };

const struct jy_box_text jy_box_text[JY_BOX_HOW_COUNT] = {
    [JY_BOX_NULL] = { "null", 0, 0 },
    [JY_BOX_INPUT] = { "input", JY_BOX_HAS_NUMBER, 0 },
    [JY_BOX_CONST] = { "const", JY_BOX_HAS_OBJECT, 0 },
    [JY_BOX_NUMBER] = { "number", JY_BOX_HAS_KIND | JY_BOX_HAS_DTYPE | JY_BOX_HAS_VALUE, 1 },
    [JY_BOX_CHAR] = { "char", JY_BOX_HAS_VALUE, 1 },
    [JY_BOX_COMPLEX] = { "complex", JY_BOX_HAS_KIND | JY_BOX_HAS_VALUE, 2 },
    [JY_BOX_OBJECT] = { "object", JY_BOX_HAS_VALUE, 1 },
    [JY_BOX_NATIVE] = { "native", JY_BOX_HAS_VALUE, 1 },
    [JY_BOX_TUPLE] = { "tuple", JY_BOX_HAS_PARTS, 0 },
    [JY_BOX_LIST] = { "list", JY_BOX_HAS_PARTS, 0 },
    [JY_BOX_RANGE] = { "range", JY_BOX_HAS_PARTS, 0 },
    [JY_BOX_SLICE] = { "slice", JY_BOX_HAS_PARTS, 0 },
    [JY_BOX_VIEW] = { "view", JY_BOX_HAS_DTYPE | JY_BOX_HAS_NDIM | JY_BOX_HAS_VALUE | JY_BOX_HAS_PARTS, -1 },
    [JY_BOX_FRESH] = { "fresh", JY_BOX_HAS_DTYPE | JY_BOX_HAS_NDIM | JY_BOX_HAS_VALUE, -2 },
    [JY_BOX_RANGE_ITER] = { "range_iter", JY_BOX_HAS_VALUE, 3 },
    [JY_BOX_SEQ_ITER] = { "seq_iter", JY_BOX_HAS_VALUE | JY_BOX_HAS_PARTS, 1 },
    [JY_BOX_REVERSED_ITER] = { "reversed_iter", JY_BOX_HAS_VALUE | JY_BOX_HAS_PARTS, 1 },
    [JY_BOX_ENUMERATE] = { "enumerate", JY_BOX_HAS_PARTS, 0 },
    [JY_BOX_ZIP] = { "zip", JY_BOX_HAS_PARTS, 0 },
    [JY_BOX_METHOD] = { "method", JY_BOX_HAS_OBJECT | JY_BOX_HAS_PARTS, 0 },
    [JY_BOX_MAYBE] = { "maybe", JY_BOX_HAS_VALUE | JY_BOX_HAS_PARTS, 1 },
};

size_t
jy_box_nvalues(const struct jy_box *box)
{
    int n = jy_box_text[box->how].nvalues;
    return n < 0 ? 1 + (n == -1 ? 2u : 1u) * (size_t)box->ndim : (size_t)n;
}

struct printer {
    struct jy_text *text;
    const struct jy_flow *w;
    struct {
        const struct jy_box **at;
        size_t n, cap;
    } seen, shared; /* boxes of one exit: met once; met again, in the order of their labels */
    size_t nlabels; /* printed so far */
};

static void
quoted(const struct printer *p, const char *s)
{
    jy_text_add(p->text, " \"");
    for (; *s != '\0'; s++)
        if (*s == '\n')
            jy_text_add(p->text, "\\n");
        else
            jy_text_add(p->text, "%s%c", *s == '"' || *s == '\\' ? "\\" : "", *s);
    jy_text_add(p->text, "\"");
}

static void
type(const struct printer *p, uint8_t t)
{
    jy_text_add(p->text, " : %s", jy_ftype_text[t]);
}

static void
values(const struct printer *p, size_t n, const jy_fv *at)
{
    jy_text_add(p->text, " (");
    for (size_t i = 0; i < n; i++)
        jy_text_add(p->text, "%s%%%" PRIu32, i == 0 ? "" : ", ", at[i]);
    jy_text_add(p->text, ")");
}

static void
line(const struct printer *p, uint32_t number)
{
    if (number != 0)
        jy_text_add(p->text, " @%" PRIu32, number);
}

static void
print_const(const struct printer *p, const struct jy_fvalue *v)
{
    if (v->f_type == JY_F_PTR)
        jy_text_add(p->text, "0x%" PRIx64, v->f_value.bits);
    else
        jy_scalar_print(p->text,
                        v->f_type == JY_F_I1    ? JY_BOOL
                        : v->f_type == JY_F_F32 ? JY_F32
                        : v->f_type == JY_F_F64 ? JY_F64
                                                : JY_I64,
                        v->f_value);
}

static void
print_value(const struct printer *p, jy_fv number)
{
    const struct jy_fvalue *v = jy_flow_at(p->w, number);
    jy_text_add(p->text, "    ");
    if (v->f_type != JY_F_NONE)
        jy_text_add(p->text, "%%%" PRIu32 " = ", number);
    jy_text_add(p->text, "%s", jy_flow_op_info[v->f_op].text);
    if (jy_flow_has_index((enum jy_fop)v->f_op)) {
        jy_text_add(p->text, "[");
        if (v->f_op == JY_FLOW_CONST)
            print_const(p, v);
        else
            jy_text_add(p->text, "%" PRId32, (int32_t)v->f_index);
        jy_text_add(p->text, "]");
    }
    for (size_t i = 0; i < v->f_nargs; i++)
        jy_text_add(p->text, "%s%%%" PRIu32, i == 0 ? " " : ", ", v->f_args[i]);
    if (v->f_alias != 0)
        jy_text_add(p->text, " alias %u", v->f_alias);
    if (v->f_exit != JY_NO_EXIT)
        jy_text_add(p->text, " exit %" PRIu32, v->f_exit);
    if (v->f_type != JY_F_NONE)
        type(p, v->f_type);
    line(p, v->f_line);
    jy_text_add(p->text, "\n");
}

static void
print_edge(const struct printer *p, const struct jy_fblock *b, size_t k)
{
    const struct jy_fedge *e = &b->f_edge[k];
    jy_text_add(p->text, "%s %" PRIu32, b->f_end == JY_END_BRANCH && b->f_likely[k] ? " likely" : "", e->to);
    values(p, e->nargs, e->args);
}

static void
print_end(const struct printer *p, const struct jy_fblock *b)
{
    if (b->f_end == JY_END_JUMP) {
        jy_text_add(p->text, "    jump");
        print_edge(p, b, 0);
    } else if (b->f_end == JY_END_BRANCH) {
        jy_text_add(p->text, "    branch %%%" PRIu32 " ?", b->f_condition);
        print_edge(p, b, 0);
        jy_text_add(p->text, " :");
        print_edge(p, b, 1);
    } else {
        jy_text_add(p->text, "    exit %" PRIu32, b->f_leave);
    }
    jy_text_add(p->text, "\n");
}

static void
print_block(const struct printer *p, jy_fb number)
{
    const struct jy_fblock *b = &p->w->w_blocks.at[number];
    jy_text_add(p->text, "  block %" PRIu32 " (", number);
    for (size_t i = 0; i < b->f_params.n; i++) {
        jy_text_add(p->text, "%s%%%" PRIu32, i == 0 ? "" : ", ", b->f_params.at[i]);
        type(p, jy_flow_at(p->w, b->f_params.at[i])->f_type);
    }
    jy_text_add(p->text, ")");
    if (b->f_offset != 0)
        jy_text_add(p->text, " at %" PRIu32, b->f_offset);
    line(p, b->f_line);
    jy_text_add(p->text, b->f_careful ? " careful :\n" : " :\n");
    for (size_t i = 0; i < b->f_body.n; i++)
        print_value(p, b->f_body.at[i]);
    print_end(p, b);
}

static size_t
find(const struct jy_box *box, const struct jy_box *const *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (at[i] == box)
            return i;
    return n;
}

/* Finds out which boxes of an exit stand in it more than once. */
static void
note(struct printer *p, const struct jy_box *box)
{
    if (find(box, p->seen.at, p->seen.n) == p->seen.n) {
        *jy_vec_push(p->w->w_arena, &p->seen) = box;
        for (size_t i = 0; i < box->n; i++)
            note(p, box->parts[i]);
    } else if (find(box, p->shared.at, p->shared.n) == p->shared.n) {
        *jy_vec_push(p->w->w_arena, &p->shared) = box;
    }
}

/* "#0 = " in front of a box that stands elsewhere too. True: it was printed before, and its label says everything. */
static bool
print_label(struct printer *p, const struct jy_box *box)
{
    size_t k = find(box, p->shared.at, p->shared.n);
    if (k == p->shared.n)
        return false;
    if (k < p->nlabels) {
        jy_text_add(p->text, "#%zu", k);
        return true;
    }
    p->shared.at[k] = p->shared.at[p->nlabels];
    p->shared.at[p->nlabels] = box;
    jy_text_add(p->text, "#%zu = ", p->nlabels++);
    return false;
}

static void
print_box(struct printer *p, const struct jy_box *box)
{
    if (print_label(p, box))
        return;
    const struct jy_box_text *how = &jy_box_text[box->how];
    jy_text_add(p->text, "%s", how->text);
    if (how->fields & JY_BOX_HAS_NUMBER)
        jy_text_add(p->text, " %" PRIu32, box->number);
    if (how->fields & JY_BOX_HAS_OBJECT)
        jy_text_add(p->text, " o%" PRIu32, box->object);
    if (how->fields & JY_BOX_HAS_KIND)
        jy_text_add(p->text, " %s", jy_flow_kind_text[box->kind]);
    if (how->fields & JY_BOX_HAS_DTYPE)
        jy_text_add(p->text, " %s", jy_dtype_info[box->dtype].text);
    if (how->fields & JY_BOX_HAS_NDIM)
        jy_text_add(p->text, " %dd", box->ndim);
    if (how->fields & JY_BOX_HAS_VALUE)
        jy_text_add(p->text, " $%" PRIu32, box->value);
    if (how->fields & JY_BOX_HAS_PARTS) {
        jy_text_add(p->text, " (");
        for (size_t i = 0; i < box->n; i++) {
            jy_text_add(p->text, "%s", i == 0 ? "" : ", ");
            print_box(p, box->parts[i]);
        }
        jy_text_add(p->text, ")");
    }
}

static void
print_frame(struct printer *p, const struct jy_flow_frame *frame, bool calls)
{
    jy_text_add(p->text, "    frame %" PRIu32 " at %" PRIu32, frame->x_function, frame->x_offset);
    line(p, frame->x_line);
    jy_text_add(p->text, "\n");
    for (size_t i = 0; i < frame->x_depth + frame->x_nlocals; i++) {
        jy_text_add(p->text, "    %s ", i < frame->x_depth ? "stack" : "local");
        print_box(p, frame->x_boxes[i]);
        jy_text_add(p->text, "\n");
    }
    if (calls)
        jy_text_add(p->text, "    call %" PRIu32 "\n", frame->x_call);
}

static void
print_boxes(struct printer *p, const struct jy_flow_exit *x)
{
    size_t n = x->x_kind == JY_EXIT_RETURN ? 1 : x->x_depth + x->x_nlocals;
    p->seen.n = p->shared.n = p->nlabels = 0;
    for (size_t i = 0; i < n; i++)
        note(p, x->x_boxes[i]);
    for (size_t k = 0; k < x->x_ninner; k++)
        for (size_t i = 0; i < x->x_inner[k].x_depth + x->x_inner[k].x_nlocals; i++)
            note(p, x->x_inner[k].x_boxes[i]);
    for (size_t i = 0; i < n; i++) {
        jy_text_add(p->text, "    %s ", x->x_kind == JY_EXIT_RETURN ? "result" : i < x->x_depth ? "stack" : "local");
        print_box(p, x->x_boxes[i]);
        jy_text_add(p->text, "\n");
    }
    bool calls = x->x_kind == JY_EXIT_CALL;
    if (calls || x->x_ninner != 0)
        jy_text_add(p->text, "    call %" PRIu32 "\n", x->x_call);
    for (size_t k = 0; k < x->x_ninner; k++)
        print_frame(p, &x->x_inner[k], calls || k + 1 < x->x_ninner);
}

static bool
is_same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void
print_exit(struct printer *p, size_t number)
{
    const struct jy_flow_exit *x = &p->w->w_exits.at[number];
    jy_text_add(p->text, "  exit %zu %s", number, jy_flow_exit_text[x->x_kind]);
    if (x->x_what != NULL)
        quoted(p, x->x_what);
    jy_text_add(p->text, " at %" PRIu32, x->x_offset);
    line(p, x->x_line);
    if (!is_same_text(x->x_file, p->w->w_file)) {
        jy_text_add(p->text, " in");
        quoted(p, x->x_file == NULL ? "" : x->x_file);
    }
    values(p, x->x_values.n, x->x_values.at);
    jy_text_add(p->text, "%s\n", x->x_boxes != NULL ? " :" : "");
    if (x->x_boxes != NULL)
        print_boxes(p, x);
}

static void
print_head(const struct printer *p)
{
    const struct jy_flow *w = p->w;
    size_t n = 0;
    while (isalnum((unsigned char)w->w_name[n]) || w->w_name[n] == '_')
        n++;
    jy_text_add(p->text, w->w_root != NULL ? "function" : "flow");
    if (n > 0 && w->w_name[n] == '\0')
        jy_text_add(p->text, " %s", w->w_name);
    else
        quoted(p, w->w_name);
    if (w->w_file != NULL) {
        jy_text_add(p->text, " in");
        quoted(p, w->w_file);
    }
    if (w->w_root != NULL) {
        jy_text_add(p->text, " of %" PRIu32 " (", w->w_function);
        for (size_t k = 0; k < w->w_nargs; k++)
            jy_text_add(p->text, "%s%s", k == 0 ? "" : ", ", jy_ftype_text[w->w_args[k]]);
        jy_text_add(p->text, ") gives %s", jy_ftype_text[w->w_type]);
    }
    if (w->w_is_piece) {
        jy_text_add(p->text, " piece (");
        for (size_t k = 0; k < w->w_last.n; k++)
            jy_text_add(p->text, "%s%s %s", k == 0 ? "" : ", ", jy_ftype_text[w->w_last.at[k].type],
                        w->w_last.at[k].how == JY_LAST_SUM ? "sum" : "last");
        jy_text_add(p->text, ")");
    }
    if (w->w_loops != 0)
        jy_text_add(p->text, " loops %" PRIu32, w->w_loops);
    if (w->w_frames != 0)
        jy_text_add(p->text, " frames %" PRIu32, w->w_frames);
    jy_text_add(p->text, "%s :\n", w->w_np_flags ? " flags" : "");
}

static void
print_inputs(const struct printer *p)
{
    for (size_t i = 0; i < p->w->w_inputs.n; i++) {
        const struct jy_flow_input *in = &p->w->w_inputs.at[i];
        jy_text_add(p->text, "  input %zu : %s %s %" PRIu32, i, jy_ftype_text[in->type], jy_flow_input_text[in->kind],
                    in->number);
        if (in->kind == JY_FLOW_IN_EXTENT || in->kind == JY_FLOW_IN_STRIDE || in->kind == JY_FLOW_IN_RANGE ||
            in->kind == JY_FLOW_IN_NATIVE)
            jy_text_add(p->text, ".%u%s", in->axis, in->some ? " some" : "");
        if (in->kind == JY_FLOW_IN_NUMBER || in->kind == JY_FLOW_IN_NATIVE)
            jy_text_add(p->text, " %s%s", jy_dtype_info[in->dtype].text, in->no_nan ? " no_nan" : "");
        jy_text_add(p->text, "\n");
    }
}

static void
print_helpers(const struct printer *p)
{
    for (size_t i = 0; i < p->w->w_helpers.n; i++) {
        const struct jy_flow_helper *h = &p->w->w_helpers.at[i];
        jy_text_add(p->text, "  helper %zu %s (%s", i, h->name, h->wants_call ? "call" : "");
        for (size_t k = 0; k < h->nargs; k++)
            jy_text_add(p->text, "%s%s", k > 0 || h->wants_call ? ", " : "", jy_ftype_text[h->args[k]]);
        jy_text_add(p->text, ")");
        type(p, h->type);
        jy_text_add(p->text, "%s%s%s", h->may_fail ? " fails" : "", h->pure ? " pure" : "",
                    h->keeps != 0 ? " keeps" : "");
        for (uint64_t left = h->keeps; left != 0; left &= left - 1)
            jy_text_add(p->text, " %d", __builtin_ctzll(left));
        jy_text_add(p->text, "\n");
    }
}

static void
print_aliases(const struct printer *p)
{
    for (size_t i = 0; i < p->w->w_nalias; i++) {
        if (p->w->w_alias[i] == JY_NO_FV)
            jy_text_add(p->text, "  alias %zu : interpreter", i + 1);
        else
            jy_text_add(p->text, "  alias %zu : input %" PRIu32, i + 1, p->w->w_alias[i]);
        jy_text_add(p->text, "%s%s%s\n", p->w->w_alias_shared >> (i + 1) & 1 ? " shared" : "",
                    p->w->w_alias_own >> (i + 1) & 1 ? " own" : "", p->w->w_alias_written[i] ? " written" : "");
    }
}

static void
print_one(struct jy_text *text, const struct jy_flow *w)
{
    struct printer p = { .text = text, .w = w };
    print_head(&p);
    print_inputs(&p);
    print_helpers(&p);
    print_aliases(&p);
    for (size_t b = 0; b < w->w_blocks.n; b++)
        print_block(&p, (jy_fb)b);
    for (size_t x = 0; x < w->w_exits.n; x++)
        print_exit(&p, x);
}

void
jy_flow_print(struct jy_text *text, const struct jy_flow *w)
{
    print_one(text, w);
    for (size_t k = 0; k < w->w_functions.n; k++)
        print_one(text, w->w_functions.at[k]);
}
