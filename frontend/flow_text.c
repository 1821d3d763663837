/* Text in flows: characters of ASCII text, which are one object each in all of CPython, so that a number stands for one: its code. Text itself is the live object. Whether it is ASCII is
 * checked where it is used; other text is left to the interpreter, and so is all that makes new text of several characters. */
#include "frontend/cpython/objects.h"
#include "frontend/flow.h"

#include <string.h>

enum { ASCII = 128, WORD_BITS = 64 };

static jy_fv
truth(struct jy_vbuild *b, enum jy_fop op, jy_fv x, int64_t y)
{
    return jy_ve2(b, op, JY_F_I1, x, jy_vint(b, y));
}

static jy_fv
both(struct jy_vbuild *b, enum jy_fop op, jy_fv x, jy_fv y)
{
    return jy_ve2(b, op, JY_F_I1, x, y);
}

static struct jy_val *
bool_val(struct jy_vbuild *b, jy_fv v)
{
    return jy_val_reg(b, JY_K_BOOL, JY_DTYPE_NONE, v);
}

/* Text that is known while compiling; NULL: it is not, or no text. */
static PyObject *
known_text(const struct jy_val *v)
{
    bool is_constant = v->kind == JY_K_KNOWN && v->known->v_kind == JY_V_CONST;
    return is_constant && PyUnicode_CheckExact(v->known->v_object) ? v->known->v_object : NULL;
}

/* The live text; NULL: it is none that flows have. */
static PyObject *
live_text(const struct jy_val *v)
{
    PyObject *o = v->kind == JY_K_OBJECT ? v->known->v_object : known_text(v);
    return o != NULL && PyUnicode_CheckExact(o) && PyUnicode_IS_COMPACT_ASCII(o) ? o : NULL;
}

bool
jy_vis_text(const struct jy_val *v)
{
    return v->kind == JY_K_TEXT || live_text(v) != NULL;
}

/* Another call may bring other text: of that the type is guarded, and the rest checked here. */
static void
check_ascii(struct jy_vbuild *b, const struct jy_val *text)
{
    jy_fv state = jy_vload(b, JY_F_I32, text->regs[0], jy_vint(b, 0), JY_TEXT_STATE, b->alias_fixed);
    jy_fv mask = jy_vint(b, jy_text_ascii_state());
    jy_fv bits = jy_ve2(b, JY_FLOW_AND, JY_F_I64, jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64, state), mask);
    jy_vcheck(b, jy_ve2(b, JY_FLOW_EQ, JY_F_I1, bits, mask), "text that is not ASCII");
}

jy_status
jy_vas_text(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v)
{
    PyObject *o = live_text(v);
    *out = v;
    if (v->kind == JY_K_TEXT)
        return JY_OK;
    if (o == NULL)
        return jy_vb_lacks(b, "%s as text", jy_val_describe(b, v));
    struct jy_val *text = jy_val_new(b, JY_K_TEXT, 1);
    *out = text;
    if (v->known->v_source == JY_NO_SOURCE) {
        text->regs[0] = jy_vaddress(b, o);
        return JY_OK;
    }
    text->input = jy_vb_input(b, v->known->v_source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE) + 1;
    text->regs[0] = jy_vb_object_address(b, text->input - 1);
    if (v->kind == JY_K_OBJECT) {
        jy_guard_type(b->frame->f, v->known->v_source, &PyUnicode_Type);
        check_ascii(b, text);
    }
    return JY_OK;
}

static struct jy_val *
char_val(struct jy_vbuild *b, jy_fv code)
{
    return jy_val_reg(b, JY_K_CHAR, JY_DTYPE_NONE, code);
}

jy_fv
jy_vtext_length(struct jy_vbuild *b, const struct jy_val *text)
{
    return jy_vload(b, JY_F_I64, text->regs[0], jy_vint(b, 0), JY_TEXT_LENGTH, b->alias_fixed);
}

static jy_fv
code_at(struct jy_vbuild *b, const struct jy_val *text, jy_fv index)
{
    jy_fv byte = jy_vload(b, JY_F_I8, text->regs[0], index, JY_TEXT_ITEMS, b->alias_fixed);
    return jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64, byte);
}

struct jy_val *
jy_vtext_at(struct jy_vbuild *b, const struct jy_val *text, jy_fv index)
{
    return char_val(b, code_at(b, text, index));
}

jy_status
jy_vtext_get(struct jy_vbuild *b, struct jy_val **out, struct jy_val *v, struct jy_val *key)
{
    struct jy_val *text;
    jy_fv index;
    TRY(jy_vas_text(b, &text, v));
    TRY(jy_vas_index(b, &index, key));
    index = jy_ve2x(b, JY_FLOW_WRAP, JY_F_I64, index, jy_vtext_length(b, text), "index out of range");
    *out = jy_vtext_at(b, text, index);
    return JY_OK;
}

/* ---- comparisons ---- */

/* Is the text this one character? Text ends in a byte that is 0. */
static jy_status
is_char(struct jy_vbuild *b, jy_fv *out, struct jy_val *v, jy_fv code)
{
    struct jy_val *text;
    TRY(jy_vas_text(b, &text, v));
    jy_fv single = truth(b, JY_FLOW_EQ, jy_vtext_length(b, text), 1);
    jy_fv same = both(b, JY_FLOW_EQ, code_at(b, text, jy_vint(b, 0)), code);
    *out = both(b, JY_FLOW_AND, single, same);
    return JY_OK;
}

/* The code of one character. *out JY_NO_FV: it is no single one, or not known to be one. */
static void
code_of(struct jy_vbuild *b, jy_fv *out, const struct jy_val *v)
{
    PyObject *known = known_text(v);
    *out = v->kind == JY_K_CHAR ? v->regs[0] : JY_NO_FV;
    if (known != NULL && PyUnicode_GET_LENGTH(known) == 1)
        *out = jy_vint(b, (int64_t)PyUnicode_READ_CHAR(known, 0));
}

jy_status
jy_vtext_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *x, struct jy_val *y)
{
    static const uint8_t ops[] = { [JY_LT] = JY_FLOW_LT, [JY_LE] = JY_FLOW_LE, [JY_EQ] = JY_FLOW_EQ,
                                   [JY_NE] = JY_FLOW_NE, [JY_GT] = JY_FLOW_GT, [JY_GE] = JY_FLOW_GE };
    jy_fv p, q, equal;
    code_of(b, &p, x);
    code_of(b, &q, y);
    if (p != JY_NO_FV && q != JY_NO_FV) {
        *out = bool_val(b, jy_ve2(b, (enum jy_fop)ops[op], JY_F_I1, p, q));
        return JY_OK;
    }
    if (op != JY_EQ && op != JY_NE)
        return jy_vb_lacks(b, "a comparison of %s and %s", jy_val_describe(b, x), jy_val_describe(b, y));
    struct jy_val *other = x->kind == JY_K_CHAR ? y : x;
    if (known_text(other) != NULL)
        equal = jy_vbool(b, false); /* of another length */
    else
        TRY(is_char(b, &equal, other, x->kind == JY_K_CHAR ? p : q));
    *out = bool_val(b, op == JY_EQ ? equal : jy_ve1(b, JY_FLOW_NOT, JY_F_I1, equal));
    return JY_OK;
}

/* ---- in ---- */

/* A bit for each character. */
struct charset {
    uint64_t words[ASCII / WORD_BITS];
};

static void
add_char(struct charset *set, Py_UCS4 code)
{
    if (code < ASCII)
        set->words[code / WORD_BITS] |= UINT64_C(1) << (code % WORD_BITS);
}

/* An item of a container: text, of which longer ones equal no character. */
static bool
add_item(struct charset *set, PyObject *item)
{
    if (!PyUnicode_CheckExact(item))
        return false;
    if (PyUnicode_GET_LENGTH(item) == 1)
        add_char(set, PyUnicode_READ_CHAR(item, 0));
    return true;
}

static bool
read_frozen(struct charset *set, PyObject *frozen)
{
    PyObject *items = PySequence_Tuple(frozen);
    bool good = items != NULL;
    PyErr_Clear();
    for (Py_ssize_t k = 0; good && k < PyTuple_GET_SIZE(items); k++)
        good = add_item(set, PyTuple_GET_ITEM(items, k));
    Py_XDECREF(items);
    return good;
}

/* False: what it holds is not known. */
static bool
read_charset(struct charset *set, const struct jy_val *all)
{
    PyObject *text = known_text(all);
    for (Py_ssize_t k = 0; text != NULL && k < PyUnicode_GET_LENGTH(text); k++)
        add_char(set, PyUnicode_READ_CHAR(text, k));
    if (text != NULL)
        return true;
    if (all->kind == JY_K_KNOWN && all->known->v_kind == JY_V_CONST && PyFrozenSet_CheckExact(all->known->v_object))
        return read_frozen(set, all->known->v_object);
    for (size_t i = 0; all->kind == JY_K_TUPLE && i < all->nparts; i++)
        if ((text = known_text(all->parts[i])) == NULL || !add_item(set, text))
            return false;
    return all->kind == JY_K_TUPLE;
}

static jy_fv
is_in(struct jy_vbuild *b, const struct charset *set, jy_fv code)
{
    jy_fv low = jy_vint(b, (int64_t)set->words[0]), high = jy_vint(b, (int64_t)set->words[1]);
    jy_fv word = jy_ve3(b, JY_FLOW_SELECT, JY_F_I64, truth(b, JY_FLOW_LT, code, WORD_BITS), low, high);
    jy_fv bit = jy_ve2(b, JY_FLOW_AND, JY_F_I64, code, jy_vint(b, WORD_BITS - 1));
    jy_fv moved = jy_ve2(b, JY_FLOW_USHR, JY_F_I64, word, bit);
    return truth(b, JY_FLOW_NE, jy_ve2(b, JY_FLOW_AND, JY_F_I64, moved, jy_vint(b, 1)), 0);
}

jy_status
jy_vtext_contains(struct jy_vbuild *b, jy_fv *out, const struct jy_val *all, const struct jy_val *x)
{
    struct charset set = { { 0 } };
    if (!read_charset(&set, all))
        return jy_vb_lacks(b, "a character in %s", jy_val_describe(b, all));
    *out = is_in(b, &set, x->regs[0]);
    return JY_OK;
}

/* ---- functions ---- */

jy_status
jy_vtext_ord(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    jy_fv code = JY_NO_FV;
    if (nargs == 1)
        code_of(b, &code, args[0]);
    if (code == JY_NO_FV)
        return jy_vb_lacks(b, "ord() of %s", nargs == 1 ? jy_val_describe(b, args[0]) : "several");
    *out = jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, code);
    return JY_OK;
}

jy_status
jy_vtext_chr(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    jy_fv code;
    if (nargs != 1)
        return jy_vb_lacks(b, "chr() of %zu", nargs);
    TRY(jy_vas_index(b, &code, args[0]));
    jy_vcheck(b, truth(b, JY_FLOW_BELOW, code, ASCII), "a character that is not ASCII");
    *out = char_val(b, code);
    return JY_OK;
}

static jy_fv
is_between(struct jy_vbuild *b, jy_fv code, char first, char last)
{
    jy_fv from = jy_ve2(b, JY_FLOW_SUB, JY_F_I64, code, jy_vint(b, first));
    return truth(b, JY_FLOW_BELOW, from, last - first + 1);
}

/* int(c) */
struct jy_val *
jy_vtext_digit(struct jy_vbuild *b, const struct jy_val *v)
{
    jy_vcheck(b, is_between(b, v->regs[0], '0', '9'), "a character that is no digit");
    return jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, jy_ve2(b, JY_FLOW_SUB, JY_F_I64, v->regs[0], jy_vint(b, '0')));
}

/* What a method says of each character is asked of the characters. */
static const char *const questions[] = { "isalnum", "isalpha",   "isascii",     "isdecimal", "isdigit", "isidentifier",
                                         "islower", "isnumeric", "isprintable", "isspace",   "istitle", "isupper" };

static bool
is_question(const char *name)
{
    for (size_t k = 0; k < sizeof questions / sizeof *questions; k++)
        if (strcmp(name, questions[k]) == 0)
            return true;
    return false;
}

bool
jy_vtext_has_method(const char *name)
{
    return is_question(name) || strcmp(name, "upper") == 0 || strcmp(name, "lower") == 0;
}

static bool
ask_chars(struct charset *set, PyObject *name)
{
    bool good = true;
    for (Py_UCS4 code = 0; good && code < ASCII; code++) {
        PyObject *c = PyUnicode_FromOrdinal((int)code);
        PyObject *answer = c == NULL ? NULL : PyObject_CallMethodNoArgs(c, name);
        good = answer != NULL;
        if (answer == Py_True)
            add_char(set, code);
        Py_XDECREF(answer);
        Py_XDECREF(c);
    }
    PyErr_Clear();
    return good;
}

jy_status
jy_vtext_method(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *self, PyObject *name, size_t nargs)
{
    struct charset set = { { 0 } };
    jy_fv code = self->regs[0];
    bool upper = strcmp(jy_utf8(name), "upper") == 0;
    if (nargs != 0)
        return jy_vb_lacks(b, "the method %s of a character with arguments", jy_utf8(name));
    if (is_question(jy_utf8(name))) {
        if (!ask_chars(&set, name))
            return jy_vb_lacks(b, "the method %s of a character", jy_utf8(name));
        *out = bool_val(b, is_in(b, &set, code));
        return JY_OK;
    }
    jy_fv turns = upper ? is_between(b, code, 'a', 'z') : is_between(b, code, 'A', 'Z');
    jy_fv other = jy_ve2(b, JY_FLOW_XOR, JY_F_I64, code, jy_vint(b, 'a' ^ 'A'));
    *out = char_val(b, jy_ve3(b, JY_FLOW_SELECT, JY_F_I64, turns, other, code));
    return JY_OK;
}
