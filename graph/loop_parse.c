/* Reads kernels (loop_print.c), and what all readers of plans are made of.
 *
 * A statement's number in the text is its number in the kernel: statements are numbered in printing order, the variable of a fold right behind
 * the fold, and statements without a value have numbers too. Forward references are checked by the verifier, not here. */
#include "graph/loop_text.h"
#include "graph/scalar.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
jy_reader_fail(struct jy_reader *r, const char *format, ...)
{
    char message[200];
    va_list args;
    if (r->error != NULL)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    r->error = jy_arena_printf(r->arena, "line %" PRIu32 ": %s at \"%.20s\"", r->line, message, r->at);
}

void
jy_reader_blanks(struct jy_reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

bool
jy_reader_take(struct jy_reader *r, const char *word)
{
    size_t n = strlen(word);
    jy_reader_blanks(r);
    if (r->error != NULL || strncmp(r->at, word, n) != 0)
        return false;
    if (n > 1 && isalnum((unsigned char)word[n - 1]) && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_'))
        return false;
    r->at += n;
    return true;
}

void
jy_reader_expect(struct jy_reader *r, const char *word)
{
    if (!jy_reader_take(r, word))
        jy_reader_fail(r, "expected '%s'", word);
}

int64_t
jy_reader_int(struct jy_reader *r)
{
    char *end;
    jy_reader_blanks(r);
    if (!isdigit((unsigned char)*r->at) && *r->at != '-') {
        jy_reader_fail(r, "expected a number");
        return 0;
    }
    int64_t value = strtoll(r->at, &end, 10);
    r->at = end;
    return value;
}

uint32_t
jy_reader_index(struct jy_reader *r)
{
    int64_t value = jy_reader_int(r);
    if (value < 0 || value >= UINT32_MAX)
        jy_reader_fail(r, "expected an index");
    return r->error == NULL ? (uint32_t)value : 0;
}

const char *
jy_reader_word(struct jy_reader *r)
{
    jy_reader_blanks(r);
    size_t n = 0;
    while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
        n++;
    char *word = jy_arena_alloc(r->arena, n + 1);
    memcpy(word, r->at, n);
    r->at += n;
    if (n == 0)
        jy_reader_fail(r, "expected a word");
    return word;
}

jy_dtype
jy_reader_element(struct jy_reader *r)
{
    jy_dtype dtype = JY_F64;
    const char *word = jy_reader_word(r);
    if (r->error == NULL && !jy_element_from_text(&dtype, word))
        jy_reader_fail(r, "'%s' is no dtype", word);
    return dtype;
}

jy_dtype
jy_reader_dtype(struct jy_reader *r)
{
    jy_dtype dtype = jy_reader_element(r);
    if (r->error == NULL && dtype >= JY_DTYPE_COUNT)
        jy_reader_fail(r, "%s is no dtype of graphs", jy_dtype_info[dtype].text);
    return dtype >= JY_DTYPE_COUNT ? JY_F64 : dtype;
}

jy_op
jy_reader_op(struct jy_reader *r)
{
    jy_op op = JY_OP_ADD;
    const char *word = jy_reader_word(r);
    if (r->error == NULL && !jy_op_from_text(&op, word))
        jy_reader_fail(r, "'%s' is no operation", word);
    return op;
}

bool
jy_reader_at_end_of_line(struct jy_reader *r)
{
    jy_reader_blanks(r);
    return *r->at == '\0' || *r->at == '\n' || *r->at == ';';
}

bool
jy_reader_next_line(struct jy_reader *r)
{
    do {
        r->at += strcspn(r->at, "\n");
        if (*r->at == '\0')
            return false;
        r->at++;
        r->line++;
    } while (r->at[strspn(r->at, " \t")] == '\n' || r->at[strspn(r->at, " \t")] == ';');
    return r->at[strspn(r->at, " \t")] != '\0';
}

size_t
jy_reader_indent(const struct jy_reader *r)
{
    return strspn(r->at, " ");
}

static jy_lv
read_value(struct jy_reader *r)
{
    jy_reader_expect(r, "%");
    return jy_reader_index(r);
}

/* b3[%1+%2, 0, %4:] */
static struct jy_access
read_access(struct jy_reader *r)
{
    struct jy_access a = { .run_axis = -1 };
    jy_reader_expect(r, "b");
    a.buffer = jy_reader_index(r);
    jy_reader_expect(r, "[");
    for (int axis = 0; r->error == NULL && !jy_reader_take(r, "]"); axis++) {
        if (axis > 0)
            jy_reader_expect(r, ",");
        if (!jy_reader_take(r, "0"))
            do {
                if (axis >= JY_MAX_NDIM || a.nterms >= 2 * JY_MAX_NDIM) {
                    jy_reader_fail(r, "too many indices");
                    return a;
                }
                a.term[a.nterms].index = read_value(r);
                a.term[a.nterms++].axis = (uint8_t)axis;
            } while (jy_reader_take(r, "+"));
        if (jy_reader_take(r, ":"))
            a.run_axis = (int8_t)axis;
    }
    return a;
}

static void
read_args(struct jy_reader *r, struct jy_lstmt *s)
{
    do {
        if (s->l_nargs == 3) {
            jy_reader_fail(r, "too many operands");
            return;
        }
        s->l_args[s->l_nargs++] = read_value(r);
    } while (jy_reader_take(r, ","));
}

static void
add_accesses(struct jy_reader *r, struct jy_lstmt *s, const struct jy_access *a, size_t n)
{
    s->l_naccess = (uint8_t)n;
    s->l_access = jy_arena_copy(r->arena, a, n * sizeof(*a));
}

static void
read_ufunc(struct jy_reader *r, struct jy_lstmt *s)
{
    struct jy_access a[4];
    size_t n = 0;
    s->l_kind = JY_L_UFUNC;
    s->l_dtype = JY_I64;
    jy_reader_expect(r, "l");
    s->l_index = jy_reader_index(r);
    s->l_args[s->l_nargs++] = read_value(r);
    jy_reader_expect(r, "(");
    do {
        if (n == 3) {
            jy_reader_fail(r, "too many operands");
            return;
        }
        a[n++] = read_access(r);
    } while (jy_reader_take(r, ","));
    jy_reader_expect(r, ")");
    jy_reader_expect(r, "->");
    a[n++] = read_access(r);
    add_accesses(r, s, a, n);
}

static void
read_fold(struct jy_reader *r, struct jy_lstmt *s)
{
    s->l_kind = JY_L_FOLD;
    s->l_order = jy_reader_take(r, "pairwise")     ? JY_FOLD_PAIRWISE
                 : jy_reader_take(r, "sequential") ? JY_FOLD_SEQUENTIAL
                                                   : JY_FOLD_FREE;
    if (s->l_order == JY_FOLD_FREE)
        jy_reader_expect(r, "free");
    s->l_op = (uint16_t)jy_reader_op(r);
    s->l_dtype = (uint8_t)jy_reader_dtype(r);
    s->l_var = read_value(r);
    jy_reader_expect(r, "<");
    s->l_args[s->l_nargs++] = read_value(r);
    if (jy_reader_take(r, "from"))
        s->l_args[s->l_nargs++] = read_value(r);
    jy_reader_expect(r, ":");
}

static void
read_right_side(struct jy_reader *r, struct jy_lstmt *s)
{
    s->l_dtype = JY_I64;
    if (jy_reader_take(r, "const")) {
        s->l_kind = JY_L_CONST;
        s->l_dtype = (uint8_t)jy_reader_dtype(r);
        jy_reader_blanks(r);
        if (r->error == NULL && !jy_scalar_parse(&s->l_value, (jy_dtype)s->l_dtype, &r->at))
            jy_reader_fail(r, "expected a value");
    } else if (jy_reader_take(r, "size")) {
        s->l_kind = JY_L_SIZE;
        jy_reader_expect(r, "z");
        s->l_index = jy_reader_index(r);
    } else if (jy_reader_take(r, "scalar")) {
        s->l_kind = JY_L_SCALAR;
        s->l_dtype = (uint8_t)jy_reader_dtype(r);
        jy_reader_expect(r, "q");
        s->l_index = jy_reader_index(r);
    } else if (jy_reader_take(r, "int")) {
        s->l_kind = JY_L_INT;
        s->l_op = (uint16_t)jy_reader_op(r);
        read_args(r, s);
    } else if (jy_reader_take(r, "load")) {
        s->l_kind = JY_L_LOAD;
        s->l_dtype = (uint8_t)jy_reader_dtype(r);
        add_accesses(r, s, (struct jy_access[]){ read_access(r) }, 1);
    } else if (jy_reader_take(r, "vcall")) {
        s->l_kind = JY_L_VCALL;
        jy_reader_expect(r, "l");
        s->l_index = jy_reader_index(r);
        s->l_dtype = (uint8_t)jy_reader_dtype(r);
        read_args(r, s);
    } else if (jy_reader_take(r, "cast")) {
        s->l_kind = JY_L_CAST;
        s->l_dtype = (uint8_t)jy_reader_dtype(r);
        read_args(r, s);
    } else if (jy_reader_take(r, "fold")) {
        read_fold(r, s);
    } else if (jy_reader_take(r, "ufold")) {
        s->l_kind = JY_L_UFOLD;
        jy_reader_expect(r, "l");
        s->l_index = jy_reader_index(r);
        s->l_dtype = (uint8_t)jy_reader_dtype(r);
        s->l_args[s->l_nargs++] = read_value(r);
        add_accesses(r, s, (struct jy_access[]){ read_access(r) }, 1);
        jy_reader_expect(r, "from");
        s->l_args[s->l_nargs++] = read_value(r);
    } else {
        s->l_kind = JY_L_OP;
        s->l_op = (uint16_t)jy_reader_op(r);
        s->l_dtype = (uint8_t)jy_reader_dtype(r);
        read_args(r, s);
        s->l_checked = jy_reader_take(r, "checked");
    }
}

/* The statement of the current line; `*self` is the number that it gives itself, or JY_NO_LV. */
static struct jy_lstmt
read_stmt(struct jy_reader *r, jy_lv *self)
{
    struct jy_lstmt s = { .l_args = { JY_NO_LV, JY_NO_LV, JY_NO_LV }, .l_var = JY_NO_LV, .l_yield = JY_NO_LV };
    *self = JY_NO_LV;
    if (jy_reader_take(r, "set")) {
        s.l_kind = JY_L_SET_SCALAR;
        jy_reader_expect(r, "q");
        s.l_index = jy_reader_index(r);
        jy_reader_expect(r, "=");
        read_args(r, &s);
    } else if (jy_reader_take(r, "store")) {
        s.l_kind = JY_L_STORE;
        add_accesses(r, &s, (struct jy_access[]){ read_access(r) }, 1);
        jy_reader_expect(r, "=");
        read_args(r, &s);
    } else if (jy_reader_take(r, "ufunc")) {
        read_ufunc(r, &s);
    } else if (jy_reader_take(r, "for")) {
        s.l_kind = JY_L_FOR;
        s.l_dtype = JY_I64;
        *self = read_value(r);
        jy_reader_expect(r, "<");
        s.l_args[s.l_nargs++] = read_value(r);
        s.l_step = jy_reader_take(r, "step") ? jy_reader_int(r) : 1;
        s.l_vector = jy_reader_take(r, "vector");
        jy_reader_expect(r, ":");
    } else {
        *self = read_value(r);
        jy_reader_expect(r, "=");
        read_right_side(r, &s);
    }
    if (!jy_reader_at_end_of_line(r))
        jy_reader_fail(r, "more than a statement");
    return s;
}

static void read_body(struct jy_reader *r, struct jy_kernel *k, jy_lv owner, size_t indent);

static void
add_to(struct jy_reader *r, struct jy_kernel *k, jy_lv owner, jy_lv v)
{
    if (owner == JY_NO_LV)
        *jy_vec_push(r->arena, &k->k_body) = v;
    else
        *jy_vec_push(r->arena, &k->k_stmts.at[owner].l_body) = v;
}

/* The dtype of a STORE or SET is its value's. */
static void
give_dtype(struct jy_kernel *k, struct jy_lstmt *s)
{
    if ((s->l_kind == JY_L_STORE || s->l_kind == JY_L_SET_SCALAR) && s->l_args[0] < k->k_stmts.n)
        s->l_dtype = k->k_stmts.at[s->l_args[0]].l_dtype;
}

static void
read_line(struct jy_reader *r, struct jy_kernel *k, jy_lv owner, size_t indent)
{
    jy_lv self, v = (jy_lv)k->k_stmts.n;
    struct jy_lstmt s = read_stmt(r, &self);
    if (r->error != NULL)
        return;
    if ((self != JY_NO_LV && self != v) || (s.l_kind == JY_L_FOLD && s.l_var != v + 1)) {
        jy_reader_fail(r, "statement %%%" PRIu32 " is not number %" PRIu32, self, v);
        return;
    }
    give_dtype(k, &s);
    *jy_vec_push(r->arena, &k->k_stmts) = s;
    add_to(r, k, owner, v);
    if (s.l_kind == JY_L_FOLD)
        *jy_vec_push(r->arena, &k->k_stmts) = (struct jy_lstmt){ .l_kind = JY_L_VAR,
                                                                 .l_dtype = JY_I64,
                                                                 .l_args = { JY_NO_LV, JY_NO_LV, JY_NO_LV },
                                                                 .l_var = JY_NO_LV,
                                                                 .l_yield = JY_NO_LV };
    if (s.l_kind == JY_L_FOR || s.l_kind == JY_L_FOLD)
        read_body(r, k, v, indent);
}

/* The lines that are deeper than `indent`; the reader stays on the last of them. */
static void
read_body(struct jy_reader *r, struct jy_kernel *k, jy_lv owner, size_t indent)
{
    for (struct jy_reader next = *r; r->error == NULL && jy_reader_next_line(&next) && jy_reader_indent(&next) > indent;
         next = *r) {
        size_t depth = jy_reader_indent(&next);
        *r = next;
        if (jy_reader_take(r, "yield")) {
            if (owner == JY_NO_LV || k->k_stmts.at[owner].l_kind != JY_L_FOLD)
                jy_reader_fail(r, "yield outside of a fold");
            else
                k->k_stmts.at[owner].l_yield = read_value(r);
            continue;
        }
        read_line(r, k, owner, depth);
    }
}

struct jy_kernel
jy_loop_parse(struct jy_reader *r, size_t indent)
{
    struct jy_kernel k = { 0 };
    read_body(r, &k, JY_NO_LV, indent);
    return k;
}
