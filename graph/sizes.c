/* Size expressions: an interned table of small integer expressions and a union-find over symbols.
 *
 * Decides: when two expressions are one. Construction folds constants and identities and puts the operands of commutative operations into
 * one order, so that equal sums of the same parts are the same index. The order is structural (not by index), so that the printed
 * form does not depend on what was built first, and text parses back to the same text.
 * Relies on: exact integers. An expression whose constants overflow int64 stays unfolded and then fails in jy_sizes_eval.
 * Guarantees: an index never changes its meaning; index 0 is the constant 0 and index 1 the constant 1. */
#include "graph/sizes.h"
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const struct sx_text {
    const char *open, *middle;
} sx_text[] = {
    [JY_SX_ADD] = { "(", "+" },       [JY_SX_SUB] = { "(", "-" }, [JY_SX_MUL] = { "(", "*" },
    [JY_SX_FLOORDIV] = { "(", "//" }, [JY_SX_MOD] = { "(", "%" }, [JY_SX_MIN] = { "min(", "," },
    [JY_SX_MAX] = { "max(", "," },
};

static jy_sx
intern(struct jy_sizes *sizes, struct jy_sx_node node)
{
    for (jy_sx e = 0; e < sizes->exprs.n; e++) {
        const struct jy_sx_node *x = &sizes->exprs.at[e];
        if (x->op == node.op && x->k == node.k && x->a == node.a && x->b == node.b)
            return e;
    }
    node.weight = 1;
    if (node.op >= JY_SX_ADD)
        node.weight += sizes->exprs.at[node.a].weight + sizes->exprs.at[node.b].weight;
    if (node.weight > JY_SX_MAX_WEIGHT)
        node.weight = JY_SX_MAX_WEIGHT;
    *jy_vec_push(sizes->arena, &sizes->exprs) = node;
    return (jy_sx)(sizes->exprs.n - 1);
}

void
jy_sizes_init(struct jy_sizes *sizes, struct jy_arena *arena)
{
    *sizes = (struct jy_sizes){ .arena = arena };
    jy_sizes_const(sizes, 0);
    jy_sizes_const(sizes, 1);
}

jy_sx
jy_sizes_const(struct jy_sizes *sizes, int64_t value)
{
    return intern(sizes, (struct jy_sx_node){ .op = JY_SX_CONST, .k = value });
}

uint32_t
jy_sizes_new_symbol(struct jy_sizes *sizes, uint32_t placeholder, int32_t axis, int64_t hint)
{
    uint32_t number = (uint32_t)sizes->symbols.n;
    *jy_vec_push(sizes->arena, &sizes->symbols) =
        (struct jy_symbol){ .placeholder = placeholder, .axis = axis, .hint = hint, .same_as = number };
    return number;
}

jy_sx
jy_sizes_symbol(struct jy_sizes *sizes, uint32_t symbol)
{
    assert(symbol < sizes->symbols.n);
    return intern(sizes, (struct jy_sx_node){ .op = JY_SX_SYM, .k = symbol });
}

bool
jy_sizes_is_const(const struct jy_sizes *sizes, jy_sx e, int64_t *out)
{
    if (sizes->exprs.at[e].op != JY_SX_CONST)
        return false;
    if (out != NULL)
        *out = sizes->exprs.at[e].k;
    return true;
}

static bool
apply(int64_t *out, enum jy_sx_op op, int64_t a, int64_t b)
{
    switch (op) {
    case JY_SX_ADD:
        return !__builtin_add_overflow(a, b, out);
    case JY_SX_SUB:
        return !__builtin_sub_overflow(a, b, out);
    case JY_SX_MUL:
        return !__builtin_mul_overflow(a, b, out);
    case JY_SX_FLOORDIV:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return false;
        *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
        return true;
    case JY_SX_MOD:
        if (b == 0)
            return false;
        *out = b == -1 ? 0 : a % b;
        if (*out != 0 && (*out < 0) != (b < 0))
            *out += b;
        return true;
    case JY_SX_MIN:
        *out = a < b ? a : b;
        return true;
    case JY_SX_MAX:
        *out = a > b ? a : b;
        return true;
    case JY_SX_CONST:
    case JY_SX_SYM:
        break;
    }
    return false;
}

static bool
commutes(enum jy_sx_op op)
{
    return op == JY_SX_ADD || op == JY_SX_MUL || op == JY_SX_MIN || op == JY_SX_MAX;
}

/* Structural order: symbols by number, then compound expressions, constants last. */
static int
compare(const struct jy_sizes *sizes, jy_sx a, jy_sx b)
{
    if (a == b)
        return 0;
    const struct jy_sx_node *x = &sizes->exprs.at[a], *y = &sizes->exprs.at[b];
    int x_rank = x->op == JY_SX_CONST ? JY_SX_MAX + 1 : x->op, y_rank = y->op == JY_SX_CONST ? JY_SX_MAX + 1 : y->op;
    if (x_rank != y_rank)
        return x_rank < y_rank ? -1 : 1;
    if (x->op == JY_SX_CONST || x->op == JY_SX_SYM)
        return x->k < y->k ? -1 : 1;
    int first = compare(sizes, x->a, y->a);
    return first != 0 ? first : compare(sizes, x->b, y->b);
}

/* e == base + offset, with the constant of an outermost + or - taken off. */
static jy_sx
split_offset(int64_t *offset, const struct jy_sizes *sizes, jy_sx e)
{
    const struct jy_sx_node *x = &sizes->exprs.at[e];
    *offset = 0;
    if (x->op == JY_SX_ADD && jy_sizes_is_const(sizes, x->b, offset))
        return x->a;
    if (x->op == JY_SX_SUB && jy_sizes_is_const(sizes, x->b, offset) && *offset != INT64_MIN) {
        *offset = -*offset;
        return x->a;
    }
    *offset = 0;
    return e;
}

/* a + c as base + offset, written with + or - and a positive constant. */
static bool
try_add_const(jy_sx *out, struct jy_sizes *sizes, jy_sx a, int64_t c)
{
    int64_t offset;
    jy_sx base = split_offset(&offset, sizes, a);
    if (__builtin_add_overflow(offset, c, &offset) || offset == INT64_MIN)
        return false;
    if (offset == 0)
        *out = base;
    else
        *out = intern(sizes, (struct jy_sx_node){ .op = offset > 0 ? JY_SX_ADD : JY_SX_SUB,
                                                  .a = base,
                                                  .b = jy_sizes_const(sizes, offset > 0 ? offset : -offset) });
    return true;
}

static bool
try_fold(jy_sx *out, struct jy_sizes *sizes, enum jy_sx_op op, jy_sx a, jy_sx b)
{
    int64_t x, y, folded;
    bool a_const = jy_sizes_is_const(sizes, a, &x), b_const = jy_sizes_is_const(sizes, b, &y);
    if (a_const && b_const) {
        if (!apply(&folded, op, x, y))
            return false;
        *out = jy_sizes_const(sizes, folded);
        return true;
    }
    if (a == b && (op == JY_SX_SUB || op == JY_SX_MIN || op == JY_SX_MAX)) {
        *out = op == JY_SX_SUB ? 0 : a;
        return true;
    }
    if (!b_const)
        return false;
    if (op == JY_SX_ADD)
        return try_add_const(out, sizes, a, y);
    if (op == JY_SX_SUB)
        return y != INT64_MIN && try_add_const(out, sizes, a, -y);
    if ((op == JY_SX_MUL && y == 0) || (op == JY_SX_MOD && y == 1)) {
        *out = 0;
        return true;
    }
    if ((op == JY_SX_MUL || op == JY_SX_FLOORDIV) && y == 1) {
        *out = a;
        return true;
    }
    return false;
}

jy_sx
jy_sizes_binary(struct jy_sizes *sizes, enum jy_sx_op op, jy_sx a, jy_sx b)
{
    assert(op >= JY_SX_ADD && op <= JY_SX_MAX);
    if (commutes(op) && compare(sizes, a, b) > 0) {
        jy_sx swap = a;
        a = b;
        b = swap;
    }
    jy_sx folded;
    if (try_fold(&folded, sizes, op, a, b))
        return folded;
    return intern(sizes, (struct jy_sx_node){ .op = (uint8_t)op, .a = a, .b = b });
}

static uint32_t
root(const struct jy_sizes *sizes, uint32_t symbol)
{
    while (sizes->symbols.at[symbol].same_as != symbol)
        symbol = sizes->symbols.at[symbol].same_as;
    return symbol;
}

void
jy_sizes_merge(struct jy_sizes *sizes, uint32_t a, uint32_t b)
{
    a = root(sizes, a);
    b = root(sizes, b);
    if (a < b) /* the oldest symbol stands for its class, so that text is stable */
        sizes->symbols.at[b].same_as = a;
    else
        sizes->symbols.at[a].same_as = b;
}

jy_sx
jy_sizes_canonical(struct jy_sizes *sizes, jy_sx e)
{
    struct jy_sx_node x = sizes->exprs.at[e];
    if (x.op == JY_SX_CONST)
        return e;
    if (x.op == JY_SX_SYM)
        return jy_sizes_symbol(sizes, root(sizes, (uint32_t)x.k));
    jy_sx a = jy_sizes_canonical(sizes, x.a);
    return jy_sizes_binary(sizes, (enum jy_sx_op)x.op, a, jy_sizes_canonical(sizes, x.b));
}

bool
jy_sizes_same(struct jy_sizes *sizes, jy_sx a, jy_sx b)
{
    return a == b || jy_sizes_canonical(sizes, a) == jy_sizes_canonical(sizes, b);
}

bool
jy_sizes_eval(int64_t *out, const struct jy_sizes *sizes, jy_sx e, const int64_t *values)
{
    const struct jy_sx_node *x = &sizes->exprs.at[e];
    if (x->op == JY_SX_CONST) {
        *out = x->k;
        return true;
    }
    if (x->op == JY_SX_SYM) {
        *out = values != NULL ? values[x->k] : sizes->symbols.at[x->k].hint;
        return true;
    }
    int64_t a, b;
    return jy_sizes_eval(&a, sizes, x->a, values) && jy_sizes_eval(&b, sizes, x->b, values) &&
           apply(out, (enum jy_sx_op)x->op, a, b);
}

uint32_t
jy_sizes_weight(const struct jy_sizes *sizes, jy_sx e)
{
    return sizes->exprs.at[e].weight;
}

/* 0 when the hints give no value: a hint only steers. */
int64_t
jy_sizes_hint(const struct jy_sizes *sizes, jy_sx e)
{
    int64_t value;
    return jy_sizes_eval(&value, sizes, e, NULL) ? value : 0;
}

void
jy_sizes_print(struct jy_text *text, const struct jy_sizes *sizes, jy_sx e)
{
    const struct jy_sx_node *x = &sizes->exprs.at[e];
    if (x->op == JY_SX_CONST) {
        jy_text_add(text, "%" PRId64, x->k);
        return;
    }
    if (x->op == JY_SX_SYM) {
        jy_text_add(text, "s%" PRId64, x->k);
        return;
    }
    jy_text_add(text, "%s", sx_text[x->op].open);
    jy_sizes_print(text, sizes, x->a);
    jy_text_add(text, "%s", sx_text[x->op].middle);
    jy_sizes_print(text, sizes, x->b);
    jy_text_add(text, ")");
}

static bool
take(const char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

/* Digits with an optional sign; false on overflow, so that no text has two readings. */
static bool
take_integer(int64_t *out, const char **at)
{
    const char *p = *at;
    bool negative = *p == '-';
    p += negative;
    if (!isdigit((unsigned char)*p))
        return false;
    int64_t value = 0;
    for (; isdigit((unsigned char)*p); p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? '0' - *p : *p - '0', &value))
            return false;
    *out = value;
    *at = p;
    return true;
}

static bool
parse_nested(jy_sx *out, struct jy_sizes *sizes, const char **at, int depth)
{
    int64_t number;
    if (depth == 0)
        return false;
    if (**at == 's') {
        const char *p = *at + 1;
        if (!isdigit((unsigned char)*p) || !take_integer(&number, &p) || number >= (int64_t)sizes->symbols.n)
            return false;
        *at = p;
        *out = jy_sizes_symbol(sizes, (uint32_t)number);
        return true;
    }
    if (take_integer(&number, at)) {
        *out = jy_sizes_const(sizes, number);
        return true;
    }
    int first = JY_SX_ADD, last = JY_SX_MOD;
    if (take(at, "min("))
        first = last = JY_SX_MIN;
    else if (take(at, "max("))
        first = last = JY_SX_MAX;
    else if (!take(at, "("))
        return false;
    jy_sx a, b;
    if (!parse_nested(&a, sizes, at, depth - 1))
        return false;
    int op = first;
    while (op <= last && !take(at, sx_text[op].middle))
        op++;
    if (op > last || !parse_nested(&b, sizes, at, depth - 1) || !take(at, ")"))
        return false;
    *out = jy_sizes_binary(sizes, (enum jy_sx_op)op, a, b);
    return true;
}

bool
jy_sizes_parse(jy_sx *out, struct jy_sizes *sizes, const char **at)
{
    return parse_nested(out, sizes, at, 200); /* deeper text than a program makes would only exhaust the C stack */
}
