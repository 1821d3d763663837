/* Reads the text form of print.c. Recursive descent over one cursor; the first thing that does not fit ends it with line and reason.
 *
 * Decides: nothing. What follows from ops and operands is inferred (infer.c) and compared with what the text says, so that a text that parses
 * is a graph whose nodes are well formed; the rules between nodes are jy_graph_verify's.
 * Blanks separate, but are free only where print.c writes them; ';' comments do not exist. */
#include "graph/infer.h"
#include "graph/scalar.h"
#include <assert.h>
#include <ctype.h>
#include <string.h>

struct parser {
    struct jy_graph *g;
    const char *start, *at;
    const char *file;
    const char *why;
};

/* Records the first reason; always false, to be returned. */
static bool
fail(struct parser *p, const char *why)
{
    if (p->why == NULL)
        p->why = why;
    return false;
}

static void
skip_blanks(struct parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static bool
take(struct parser *p, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(p);
    if (strncmp(p->at, word, n) != 0)
        return false;
    p->at += n;
    return true;
}

static bool
expect(struct parser *p, const char *word)
{
    return take(p, word) || fail(p, jy_arena_printf(p->g->g_arena, "expected '%s'", word));
}

static bool
take_unsigned(uint32_t *out, struct parser *p)
{
    skip_blanks(p);
    if (!isdigit((unsigned char)*p->at))
        return fail(p, "expected a number");
    uint64_t value = 0;
    for (; isdigit((unsigned char)*p->at); p->at++)
        if ((value = value * 10 + (uint64_t)(*p->at - '0')) > UINT32_MAX)
            return fail(p, "number too large");
    *out = (uint32_t)value;
    return true;
}

static bool
take_int64(int64_t *out, struct parser *p)
{
    union jy_scalar value;
    skip_blanks(p);
    if (!jy_scalar_parse(&value, JY_I64, &p->at))
        return fail(p, "expected an integer");
    *out = value.i;
    return true;
}

static bool
take_size(jy_sx *out, struct parser *p)
{
    skip_blanks(p);
    return jy_sizes_parse(out, &p->g->g_sizes, &p->at) || fail(p, "expected a size");
}

/* Letters, digits and '_' when `identifier`, else everything up to a blank. NULL when there is nothing. */
static char *
take_word(struct parser *p, bool identifier)
{
    skip_blanks(p);
    size_t n = 0;
    while (identifier ? isalnum((unsigned char)p->at[n]) || p->at[n] == '_' : (unsigned char)p->at[n] > ' ')
        n++;
    if (n == 0)
        return NULL;
    char *word = jy_arena_alloc(p->g->g_arena, n + 1);
    memcpy(word, p->at, n);
    p->at += n;
    return word;
}

static int
hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
take_quoted(const char **out, struct parser *p)
{
    if (!expect(p, "\""))
        return false;
    char *s = jy_arena_alloc(p->g->g_arena, strcspn(p->at, "\"\n") + 1);
    *out = s;
    for (; *p->at != '"'; p->at++) {
        if ((unsigned char)*p->at < ' ')
            return fail(p, "text without an end");
        *s = *p->at;
        if (*p->at == '\\') {
            int high = p->at[1] == 'x' ? hex_digit(p->at[2]) : -1, low = high < 0 ? -1 : hex_digit(p->at[3]);
            if (low < 0)
                return fail(p, "expected \\xNN");
            *s = (char)(high * 16 + low);
            p->at += 3;
        }
        s++;
    }
    p->at++;
    return true;
}

static bool
parse_symbol(struct parser *p)
{
    struct jy_sizes *sizes = &p->g->g_sizes;
    uint32_t number, input = UINT32_MAX, axis = 0, same;
    int64_t hint;
    if (!expect(p, "s") || !take_unsigned(&number, p) || !expect(p, "=") || !take_int64(&hint, p))
        return false;
    if (number != sizes->symbols.n)
        return fail(p, "symbols are not numbered in order");
    bool has_axis = false;
    if (take(p, "of ")) {
        if (!take_unsigned(&input, p))
            return false;
        has_axis = take(p, ".");
        if (has_axis && (!take_unsigned(&axis, p) || axis >= JY_MAX_NDIM))
            return fail(p, "no such axis");
    }
    jy_sizes_new_symbol(sizes, input, has_axis ? (int32_t)axis : -1, hint);
    if (take(p, "is s")) {
        if (!take_unsigned(&same, p) || same >= number)
            return fail(p, "a symbol equals an earlier one");
        jy_sizes_merge(sizes, same, number);
    }
    return true;
}

static bool
parse_header(struct parser *p)
{
    if (!expect(p, "graph "))
        return false;
    p->g->g_name = take_word(p, false);
    if (p->g->g_name == NULL || !expect(p, "("))
        return fail(p, "expected a name");
    if (!take(p, ")")) {
        do
            if (!parse_symbol(p))
                return false;
        while (take(p, ","));
        if (!expect(p, ")"))
            return false;
    }
    return expect(p, ":") && expect(p, "\n");
}

/* Symbols without "of" are what print.c expects: the first axis of that extent. */
static bool
place_symbols(struct parser *p)
{
    struct jy_sizes *sizes = &p->g->g_sizes;
    for (jy_ref r = 0; r < p->g->g_nodes.n; r++) {
        const struct jy_node *node = jy_graph_at(p->g, r);
        for (int d = 0; node->n_op == JY_OP_PLACEHOLDER && d < node->n_ndim; d++) {
            const struct jy_sx_node *x = &sizes->exprs.at[node->n_shape[d]];
            struct jy_symbol *s = x->op == JY_SX_SYM ? &sizes->symbols.at[x->k] : NULL;
            if (s != NULL && s->placeholder == UINT32_MAX) {
                s->placeholder = node->n_input;
                s->axis = d;
            }
        }
    }
    assert(sizes->symbols.n == 0 || sizes->symbols.at != NULL);
    for (size_t k = 0; k < sizes->symbols.n; k++)
        if (sizes->symbols.at[k].placeholder == UINT32_MAX)
            return fail(p, jy_arena_printf(p->g->g_arena, "s%zu is the extent of no placeholder and has no 'of'", k));
    return true;
}

/* One term of an index: [sign] [step *] jD, or a size. */
static bool
parse_term(struct parser *p, struct jy_view *view, int axis, bool first)
{
    const char *begin;
    int64_t sign = 1, step = 1;
    uint32_t d;
    skip_blanks(p);
    begin = p->at;
    if (take(p, "-"))
        sign = -1;
    else if (!first && !expect(p, "+"))
        return false;
    const char *digits = p->at;
    while (isdigit((unsigned char)*p->at))
        p->at++;
    if (p->at != digits && *p->at == '*') {
        p->at = sign < 0 ? begin : digits; /* with its sign, so that INT64_MIN reads */
        if (!take_int64(&step, p) || !expect(p, "*"))
            return false;
        sign = 1;
    } else
        p->at = digits;
    if (*p->at == 'j') {
        p->at++;
        if (!take_unsigned(&d, p))
            return false;
        if (d >= JY_MAX_NDIM || view->axis[d] != -1)
            return fail(p, "a result axis out of range or named twice");
        view->axis[d] = (int8_t)axis;
        view->step[d] = sign * step;
        return true;
    }
    if (!first)
        return fail(p, "expected jN");
    p->at = begin;
    return take_size(&view->start[axis], p);
}

static bool
parse_index_map(struct parser *p, struct jy_view *view)
{
    memset(view->axis, -1, sizeof(view->axis));
    if (take(p, "]"))
        return true;
    do {
        int axis = view->source_ndim++;
        if (axis >= JY_MAX_NDIM)
            return fail(p, "too many axes");
        bool first = true;
        do {
            if (!parse_term(p, view, axis, first))
                return false;
            first = false;
            skip_blanks(p);
        } while (*p->at == '+' || *p->at == '-');
    } while (take(p, ","));
    return expect(p, "]");
}

static bool
parse_axes(struct parser *p, struct jy_node *node)
{
    uint32_t axis;
    skip_blanks(p);
    if (isdigit((unsigned char)*p->at))
        do {
            if (!take_unsigned(&axis, p))
                return false;
            if (axis >= JY_MAX_NDIM || (node->n_axes >> axis) != 0)
                return fail(p, "axes ascend and are below the limit");
            node->n_axes |= 1u << axis;
        } while (take(p, ","));
    node->n_keepdims = take(p, "; keepdims");
    return expect(p, "]");
}

/* A constant can be read only once its type is known, which stands behind it: `value` keeps where it begins. */
static bool
parse_attributes(struct parser *p, struct jy_node *node, const char **value)
{
    uint8_t klass = jy_op_info[node->n_op].klass;
    if (node->n_op == JY_OP_VIEW || node->n_op == JY_OP_STORE) {
        if (node->n_op == JY_OP_STORE && *p->at != '[')
            return true;
        struct jy_view *view = JY_NEW(p->g->g_arena, struct jy_view);
        node->n_view = view;
        return expect(p, "[") && parse_index_map(p, view);
    }
    if (klass == JY_CLASS_REDUCE)
        return expect(p, "[") && parse_axes(p, node);
    if (klass == JY_CLASS_CALL)
        return expect(p, "[") && take_unsigned(&node->n_callee, p) && expect(p, ",") &&
               take_unsigned(&node->n_extra, p) && expect(p, "]");
    if (klass != JY_CLASS_SOURCE)
        return true;
    if (!expect(p, "["))
        return false;
    if (node->n_op == JY_OP_PLACEHOLDER)
        return take_unsigned(&node->n_input, p) && expect(p, "]");
    if (node->n_op == JY_OP_SIZE)
        return take_size(&node->n_size, p) && expect(p, "]");
    *value = p->at;
    p->at += strcspn(p->at, "]\n");
    return expect(p, "]");
}

static bool
parse_args(struct parser *p, struct jy_node *node)
{
    jy_ref args[UINT8_MAX];
    if (!expect(p, "("))
        return false;
    if (!take(p, ")")) {
        do {
            if (node->n_nargs == UINT8_MAX)
                return fail(p, "too many operands");
            if (!expect(p, "%") || !take_unsigned(&args[node->n_nargs++], p))
                return false;
        } while (take(p, ","));
        if (!expect(p, ")"))
            return false;
        node->n_args = jy_arena_copy(p->g->g_arena, args, node->n_nargs * sizeof(*args));
    }
    return true;
}

static bool
parse_type(struct parser *p, struct jy_node *node)
{
    static const struct {
        const char *text;
        uint8_t kind, dtype;
    } python[] = { { "pyfloat", JY_KIND_PYFLOAT, JY_F64 },
                   { "pyint", JY_KIND_PYINT, JY_I64 },
                   { "pybool", JY_KIND_PYBOOL, JY_BOOL } };
    jy_dtype dtype;
    const char *word = take_word(p, true);
    for (size_t i = 0; word != NULL && i < sizeof(python) / sizeof(*python); i++)
        if (strcmp(word, python[i].text) == 0) {
            node->n_kind = python[i].kind;
            node->n_dtype = python[i].dtype;
            return true;
        }
    if (word == NULL || !jy_dtype_from_text(&dtype, word))
        return fail(p, "expected a dtype");
    node->n_dtype = (uint8_t)dtype;
    node->n_kind = JY_KIND_NPSCALAR;
    if (*p->at != '[')
        return true;
    p->at++;
    node->n_kind = JY_KIND_ARRAY;
    if (take(p, "]"))
        return true;
    node->n_shape = JY_NEW_ARRAY(p->g->g_arena, jy_sx, JY_MAX_NDIM);
    do {
        if (node->n_ndim == JY_MAX_NDIM)
            return fail(p, "too many axes");
        if (!take_size(&node->n_shape[node->n_ndim++], p))
            return false;
    } while (take(p, ","));
    return expect(p, "]");
}

static bool
parse_layout(struct parser *p, struct jy_node *node)
{
    int64_t extents[JY_MAX_NDIM];
    uint8_t order[JY_MAX_NDIM] = { 0 };
    uint32_t axis, seen = 0;
    for (size_t d = 0; d < node->n_ndim; d++) {
        if ((d > 0 && !expect(p, ",")) || !take_unsigned(&axis, p))
            return false;
        if (axis >= node->n_ndim || seen >> axis & 1)
            return fail(p, "the order is not a permutation of the axes");
        seen |= 1u << axis;
        order[d] = (uint8_t)axis;
        extents[d] = jy_sizes_hint(&p->g->g_sizes, node->n_shape[d]);
    }
    struct jy_layout layout = jy_layout_fresh(node->n_ndim, extents, order, jy_dtype_info[node->n_dtype].bytes);
    layout.contiguous = take(p, "; contiguous");
    layout.inner_unit = layout.contiguous || take(p, "; unit");
    if (take(p, "; strides"))
        for (size_t d = 0; d < node->n_ndim; d++)
            if ((d > 0 && !expect(p, ",")) || !take_int64(&layout.stride[d], p))
                return false;
    node->n_layout = jy_arena_copy(p->g->g_arena, &layout, sizeof(layout));
    return expect(p, ")");
}

static bool
parse_position(struct parser *p, struct jy_node *node)
{
    if (take(p, "@")) {
        if (!take_unsigned(&node->n_line, p))
            return false;
        skip_blanks(p);
        if (*p->at == '"') {
            if (!take_quoted(&p->file, p))
                return false;
            if (*p->file == '\0')
                p->file = NULL;
        }
    }
    node->n_file = p->file;
    if (take(p, "as "))
        node->n_name = take_word(p, false);
    return expect(p, "\n");
}

/* The text's dtype and shape are kept if inference finds the same. */
static bool
check_inference(struct parser *p, struct jy_node *node)
{
    struct jy_sizes *sizes = &p->g->g_sizes;
    struct jy_node inferred = *node;
    const char *why = jy_infer_node(&inferred, (jy_ref)p->g->g_nodes.n, p->g, sizes);
    if (why != NULL)
        return fail(p, why);
    if (inferred.n_dtype != node->n_dtype)
        return fail(p, "the op gives another dtype");
    if (inferred.n_ndim != node->n_ndim)
        return fail(p, "the op gives another number of axes");
    for (size_t d = 0; d < node->n_ndim; d++)
        if (!jy_sizes_same(sizes, inferred.n_shape[d], node->n_shape[d]))
            return fail(p, "the op gives another shape");
    node->n_storage = inferred.n_storage;
    return true;
}

static bool
parse_node(struct parser *p)
{
    struct jy_node node = { 0 };
    jy_op op;
    uint32_t number;
    const char *value = NULL, *word;
    if (!take_unsigned(&number, p) || !expect(p, "="))
        return false;
    if (number != p->g->g_nodes.n)
        return fail(p, "nodes are not numbered in order");
    if ((word = take_word(p, true)) == NULL || !jy_op_from_text(&op, word))
        return fail(p, "no such op");
    node.n_op = (uint16_t)op;
    if (!parse_attributes(p, &node, &value) || (jy_op_info[op].klass != JY_CLASS_SOURCE && !parse_args(p, &node)))
        return false;
    if (!expect(p, ":") || !parse_type(p, &node))
        return false;
    if (value != NULL && (!jy_scalar_parse(&node.n_value, (jy_dtype)node.n_dtype, &value) || *value != ']'))
        return fail(p, "the value is not one of its dtype");
    if (node.n_view != NULL) { /* the region of a STORE has its value's axes */
        uint8_t ndim = node.n_ndim;
        if (op == JY_OP_STORE && node.n_nargs == 2 && node.n_args[1] < number)
            ndim = jy_graph_at(p->g, node.n_args[1])->n_ndim;
        struct jy_view view = *node.n_view;
        for (size_t d = ndim; d < JY_MAX_NDIM; d++)
            if (view.axis[d] != -1)
                return fail(p, "the index map names an axis that the result does not have");
        view.ndim = ndim;
        node.n_view = jy_arena_copy(p->g->g_arena, &view, sizeof(view));
    }
    if (!check_inference(p, &node))
        return false;
    if (take(p, "layout(")) {
        if (node.n_kind != JY_KIND_ARRAY || !parse_layout(p, &node))
            return fail(p, "a layout of a scalar");
    } else
        node.n_layout = jy_layout_default(p->g, &node);
    if (op == JY_OP_PLACEHOLDER) {
        if (node.n_ndim != 0 && node.n_layout == NULL)
            return fail(p, "a placeholder needs a layout");
        if (node.n_input >= p->g->g_ninputs)
            p->g->g_ninputs = node.n_input + 1;
    }
    if (!parse_position(p, &node))
        return false;
    *jy_vec_push(p->g->g_arena, &p->g->g_nodes) = node;
    return true;
}

static bool
parse_outputs(struct parser *p)
{
    uint32_t ref;
    if (!expect(p, "output") || !expect(p, "("))
        return false;
    if (!take(p, ")")) {
        do {
            if (!expect(p, "%") || !take_unsigned(&ref, p))
                return false;
            if (ref >= p->g->g_nodes.n)
                return fail(p, "no such node");
            jy_graph_add_output(p->g, ref);
        } while (take(p, ","));
        if (!expect(p, ")"))
            return false;
    }
    while (*p->at == '\n' || *p->at == ' ')
        p->at++;
    return *p->at == '\0' || fail(p, "text behind the output");
}

static bool
parse_graph(struct parser *p)
{
    if (!parse_header(p))
        return false;
    while (take(p, "%"))
        if (!parse_node(p))
            return false;
    return parse_outputs(p) && place_symbols(p);
}

struct jy_graph *
jy_graph_parse(struct jy_arena *arena, const char *source, const char **error)
{
    struct parser p = { .g = jy_graph_new(arena, ""), .start = source, .at = source };
    if (parse_graph(&p))
        return p.g;
    unsigned line = 1;
    for (const char *c = p.start; c < p.at; c++)
        line += *c == '\n';
    *error = jy_arena_printf(arena, "line %u: %s", line, p.why);
    return NULL;
}
