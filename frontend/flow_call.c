/* Calls in flows: builtins, the math module, NumPy's functions of one number, methods of lists, the program's own functions. Whatever would raise leaves before the call. */
#include "frontend/flow.h"
#include "frontend/np_internal.h"

#include <string.h>

typedef jy_status call_handler(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args);

/* ---- conversions ---- */

static struct jy_val *
int_val(struct jy_vbuild *b, jy_fv reg)
{
    return jy_val_reg(b, JY_K_INT, JY_DTYPE_NONE, reg);
}

static struct jy_val *
float_val(struct jy_vbuild *b, jy_fv reg)
{
    return jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, reg);
}

static struct jy_val *
bool_val(struct jy_vbuild *b, jy_fv reg)
{
    return jy_val_reg(b, JY_K_BOOL, JY_DTYPE_NONE, reg);
}

static bool
is_float(const struct jy_val *v)
{
    return v->kind == JY_K_FLOAT || (v->kind == JY_K_NP && jy_dtype_is_float((jy_dtype)v->dtype));
}

/* A Python int of a float that `op` has made whole. */
static jy_status
whole(struct jy_vbuild *b, struct jy_val **out, enum jy_fop op, struct jy_val *v)
{
    jy_fv x;
    if (v->kind == JY_K_INT || v->kind == JY_K_BOOL) {
        TRY(jy_vas_index(b, &x, v));
        *out = v->kind == JY_K_INT ? v : int_val(b, x);
        return JY_OK;
    }
    TRY(jy_vas_float(b, &x, v));
    if (op != JY_FLOW_TRUNC) /* which TO_INT does */
        x = jy_ve1(b, op, JY_F_F64, x);
    *out = int_val(b, jy_ve1x(b, JY_FLOW_TO_INT, JY_F_I64, x, "a float beyond int64"));
    return JY_OK;
}

static jy_status
call_int(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    jy_fv x;
    if (nargs != 1)
        return jy_vb_lacks(b, "int() of %zu arguments", nargs);
    if (is_float(args[0]))
        return whole(b, out, JY_FLOW_TRUNC, args[0]);
    if (args[0]->kind == JY_K_NP && args[0]->dtype == JY_BOOL) {
        *out = int_val(b, jy_ve1(b, JY_FLOW_ZEXT, JY_F_I64, args[0]->regs[0]));
        return JY_OK;
    }
    if (args[0]->kind == JY_K_CHAR) {
        *out = jy_vtext_digit(b, args[0]);
        return JY_OK;
    }
    TRY(jy_vas_index(b, &x, args[0]));
    *out = args[0]->kind == JY_K_INT ? args[0] : int_val(b, x);
    return JY_OK;
}

/* operator.index() */
static jy_status
call_index(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    if (nargs != 1 || args[0]->kind != JY_K_INT)
        return jy_vb_lacks(b, "operator.index() of this");
    *out = args[0];
    return JY_OK;
}

static jy_status
call_float(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    jy_fv x;
    if (nargs != 1)
        return jy_vb_lacks(b, "float() of %zu arguments", nargs);
    struct jy_val *v = args[0];
    if (v->kind == JY_K_NP && !is_float(v))
        TRY(call_int(b, &v, 1, args));
    TRY(jy_vas_float(b, &x, v));
    *out = v->kind == JY_K_FLOAT ? v : float_val(b, x);
    return JY_OK;
}

static jy_status
call_bool(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    jy_fv x;
    if (nargs != 1)
        return jy_vb_lacks(b, "bool() of %zu arguments", nargs);
    TRY(jy_vtruth(b, &x, args[0]));
    *out = bool_val(b, x);
    return JY_OK;
}

static jy_status
call_round(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    if (nargs == 1 && (args[0]->kind == JY_K_FLOAT || args[0]->kind == JY_K_INT))
        return whole(b, out, JY_FLOW_RINT, args[0]);
    if (nargs != 2 || args[0]->kind != JY_K_FLOAT || args[1]->kind != JY_K_INT)
        return jy_vb_lacks(b, "round() of this");
    jy_fv regs[] = { args[0]->regs[0], args[1]->regs[0] };
    *out = float_val(b, jy_vhelp(b, "float_round", 2, regs, "round() that raises"));
    return JY_OK;
}

/* ---- other builtins ---- */

static jy_status
call_abs(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    if (nargs == 1 && args[0]->kind == JY_K_ARRAY)
        return jy_vvector_unary(b, out, JY_UNARY_ABS, args[0]);
    return nargs == 1 ? jy_vnum_unary(b, out, JY_UNARY_ABS, args[0]) : jy_vb_lacks(b, "abs() of %zu", nargs);
}

static jy_status
call_len(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    jy_fv n;
    if (nargs != 1)
        return jy_vb_lacks(b, "len() of %zu", nargs);
    TRY(jy_vlength(b, &n, args[0]));
    *out = int_val(b, n);
    return JY_OK;
}

static jy_status
call_range(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return nargs >= 1 && nargs <= 3 ? jy_vrange(b, out, nargs, args) : jy_vb_lacks(b, "range() of %zu", nargs);
}

static jy_status
call_prange(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    TRY(call_range(b, out, nargs, args));
    (*out)->independent = true;
    return JY_OK;
}

static jy_status
call_enumerate(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return nargs == 1 || nargs == 2 ? jy_venumerate(b, out, nargs, args) : jy_vb_lacks(b, "enumerate() of %zu", nargs);
}

static jy_status
call_reversed(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return nargs == 1 ? jy_vreversed(b, out, args[0]) : jy_vb_lacks(b, "reversed() of %zu", nargs);
}

static jy_status
call_divmod(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    struct jy_val *parts[2];
    if (nargs != 2 || args[0]->kind == JY_K_NP || args[1]->kind == JY_K_NP)
        return jy_vb_lacks(b, "divmod() of this");
    TRY(jy_vnum_binary(b, &parts[0], JY_NB_FLOOR_DIVIDE, args[0], args[1]));
    TRY(jy_vnum_binary(b, &parts[1], JY_NB_REMAINDER, args[0], args[1]));
    *out = jy_val_parts(b, JY_K_TUPLE, 2, parts);
    return JY_OK;
}

static jy_status
call_pow(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    if (nargs == 2)
        return jy_vnum_binary(b, out, JY_NB_POWER, args[0], args[1]);
    if (nargs != 3 || args[0]->kind != JY_K_INT || args[1]->kind != JY_K_INT || args[2]->kind != JY_K_INT)
        return jy_vb_lacks(b, "pow() of this");
    jy_fv regs[] = { args[0]->regs[0], args[1]->regs[0], args[2]->regs[0] };
    *out = int_val(b, jy_vhelp(b, "int_powmod", 3, regs, "pow() that raises"));
    return JY_OK;
}

/* Of two types: which one it is goes on by itself. The call has been taken off the stack. */
static jy_status
mixed_extreme(struct jy_vbuild *b, enum jy_compare op, size_t nargs, struct jy_val *const *args)
{
    struct jy_val *second_is_better;
    if (nargs != 2)
        return jy_vb_lacks(b, "min() or max() of more than two of different types");
    TRY(jy_vnum_compare(b, &second_is_better, op, args[1], args[0]));
    b->frame->depth -= nargs + 2;
    struct jy_vframe *first = jy_vb_copy(b, b->frame), *second = jy_vb_copy(b, b->frame);
    first->stack[first->depth++] = args[0];
    second->stack[second->depth++] = args[1];
    jy_vb_branch(b, second_is_better->regs[0], second, first);
    return JY_OK;
}

/* The first that no other is less (greater) than; *out NULL: the block has ended. */
static jy_status
extreme(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, size_t nargs, struct jy_val *const *args)
{
    if (nargs < 2)
        return jy_vb_lacks(b, "min() or max() of an iterable");
    struct jy_val *best = args[0];
    bool alike = true;
    for (size_t i = 0; i < nargs; i++) {
        if (!jy_val_is_number(args[i]))
            return jy_vb_lacks(b, "min() or max() of %s", jy_val_describe(b, args[i]));
        alike &= jy_val_same_kind(args[i], args[0]);
    }
    if (!alike)
        return mixed_extreme(b, op, nargs, args);
    for (size_t i = 1; i < nargs; i++) {
        struct jy_val *better;
        TRY(jy_vnum_compare(b, &better, op, args[i], best));
        jy_fv reg = jy_ve3(b, JY_FLOW_SELECT, jy_val_type(best, 0), better->regs[0], args[i]->regs[0], best->regs[0]);
        best = jy_val_reg(b, (enum jy_vkind)best->kind, (jy_dtype)best->dtype, reg);
    }
    *out = best;
    return JY_OK;
}

static jy_status
call_min(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return extreme(b, out, JY_LT, nargs, args);
}

static jy_status
call_max(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return extreme(b, out, JY_GT, nargs, args);
}

/* ---- math ---- */

static jy_status
call_sqrt(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    jy_fv x;
    if (nargs != 1)
        return jy_vb_lacks(b, "math.sqrt() of %zu", nargs);
    TRY(jy_vas_float(b, &x, args[0]));
    jy_fv root = jy_ve1(b, JY_FLOW_SQRT, JY_F_F64, x);
    jy_vflagged(b, root, x, x, "math domain error");
    *out = float_val(b, root);
    return JY_OK;
}

static jy_status
call_fabs(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    jy_fv x;
    if (nargs != 1)
        return jy_vb_lacks(b, "math.fabs() of %zu", nargs);
    TRY(jy_vas_float(b, &x, args[0]));
    *out = float_val(b, jy_ve1(b, JY_FLOW_ABS, JY_F_F64, x));
    return JY_OK;
}

static jy_status
call_floor(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return nargs == 1 && args[0]->kind != JY_K_NP ? whole(b, out, JY_FLOW_FLOOR, args[0])
                                                  : jy_vb_lacks(b, "math.floor() of this");
}

static jy_status
call_ceil(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return nargs == 1 && args[0]->kind != JY_K_NP ? whole(b, out, JY_FLOW_CEIL, args[0])
                                                  : jy_vb_lacks(b, "math.ceil() of this");
}

static jy_status
call_trunc(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return nargs == 1 && args[0]->kind != JY_K_NP ? whole(b, out, JY_FLOW_TRUNC, args[0])
                                                  : jy_vb_lacks(b, "math.trunc() of this");
}

static jy_status
call_copysign(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    jy_fv x, y;
    if (nargs != 2)
        return jy_vb_lacks(b, "math.copysign() of %zu", nargs);
    TRY(jy_vas_float(b, &x, args[0]));
    TRY(jy_vas_float(b, &y, args[1]));
    *out = float_val(b, jy_ve2(b, JY_FLOW_COPYSIGN, JY_F_F64, x, y));
    return JY_OK;
}

static jy_status
classify(struct jy_vbuild *b, struct jy_val **out, enum jy_fop op, bool to_itself, size_t nargs,
         struct jy_val *const *args)
{
    jy_fv x;
    if (nargs != 1)
        return jy_vb_lacks(b, "this call");
    TRY(jy_vas_float(b, &x, args[0]));
    jy_fv left = to_itself ? x : jy_ve1(b, JY_FLOW_ABS, JY_F_F64, x);
    *out = bool_val(b, jy_ve2(b, op, JY_F_I1, left, to_itself ? x : jy_vfloat(b, __builtin_inf())));
    return JY_OK;
}

static jy_status
call_isnan(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return classify(b, out, JY_FLOW_NE, true, nargs, args);
}

static jy_status
call_isinf(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return classify(b, out, JY_FLOW_EQ, false, nargs, args);
}

static jy_status
call_isfinite(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return classify(b, out, JY_FLOW_LT, false, nargs, args);
}

static jy_status
scaled_by(struct jy_vbuild *b, struct jy_val **out, double factor, size_t nargs, struct jy_val *const *args)
{
    jy_fv x;
    if (nargs != 1)
        return jy_vb_lacks(b, "this call");
    TRY(jy_vas_float(b, &x, args[0]));
    *out = float_val(b, jy_ve2(b, JY_FLOW_MUL, JY_F_F64, x, jy_vfloat(b, factor)));
    return JY_OK;
}

static jy_status
call_radians(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return scaled_by(b, out, Py_MATH_PI / 180.0, nargs, args);
}

static jy_status
call_degrees(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return scaled_by(b, out, 180.0 / Py_MATH_PI, nargs, args);
}

static jy_status
int_helper(struct jy_vbuild *b, struct jy_val **out, const char *name, size_t n, size_t nargs,
           struct jy_val *const *args)
{
    jy_fv regs[2];
    if (nargs != n)
        return jy_vb_lacks(b, "%s of %zu", name, nargs);
    for (size_t i = 0; i < n; i++) {
        if (args[i]->kind != JY_K_INT && args[i]->kind != JY_K_BOOL)
            return jy_vb_lacks(b, "%s of %s", name, jy_val_describe(b, args[i]));
        TRY(jy_vas_index(b, &regs[i], args[i]));
    }
    *out = int_val(b, jy_vhelp(b, name, n, regs, "a result beyond int64, or an error"));
    return JY_OK;
}

static jy_status
call_gcd(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return int_helper(b, out, "int_gcd", 2, nargs, args);
}

static jy_status
call_isqrt(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    return int_helper(b, out, "int_isqrt", 1, nargs, args);
}

/* A function of the C library's, called as CPython calls it: an error is a NaN or an infinity that the operands do not explain. CPython's hypot is its own. */
static jy_status
call_c_function(struct jy_vbuild *b, struct jy_val **out, const char *name, size_t nargs, struct jy_val *const *args)
{
    struct jy_flow_helper helper;
    jy_fv regs[2];
    if (!jy_flow_helper_row(&helper, name) || helper.type != JY_F_F64 || !helper.pure || helper.nargs != nargs ||
        helper.args[0] != JY_F_F64 || strcmp(name, "hypot") == 0)
        return jy_vb_lacks(b, "math.%s", name);
    for (size_t i = 0; i < nargs; i++)
        TRY(jy_vas_float(b, &regs[i], args[i]));
    jy_fv result = jy_vhelp(b, name, nargs, regs, NULL);
    jy_vflagged(b, result, regs[0], regs[nargs - 1], "math domain or range error");
    *out = float_val(b, result);
    return JY_OK;
}

/* ---- pure functions without a row ---- */

/* Of numbers: the letters behind "ask_" say of what. They are called as objects, and what does not fit is left to the interpreter. */
static const struct {
    const char *module, *name, *helper;
} asked[] = {
    { "builtins", "all", "ask_list_bool" },
    { "builtins", "any", "ask_list_bool" },
    { "builtins", "max", "ask_list" },
    { "builtins", "min", "ask_list" },
    { "builtins", "sum", "ask_list" },
    { "math", "comb", "ask_ii" },
    { "math", "erf", "ask_f" },
    { "math", "erfc", "ask_f" },
    { "math", "fsum", "ask_list_float" },
    { "math", "gamma", "ask_f" },
    { "math", "hypot", "ask_f" },
    { "math", "hypot", "ask_ff" },
    { "math", "hypot", "ask_fff" },
    { "math", "lcm", "ask_ii" },
    { "math", "ldexp", "ask_fi" },
    { "math", "lgamma", "ask_f" },
    { "math", "nextafter", "ask_ff" },
    { "math", "perm", "ask_ii" },
    { "math", "prod", "ask_list" },
    { "math", "remainder", "ask_ff" },
    { "math", "ulp", "ask_f" },
};

static jy_status
ask_list(struct jy_vbuild *b, struct jy_val **out, const char *helper, PyObject *callable, struct jy_val *list)
{
    jy_fv regs[] = { jy_vaddress(b, callable), list->regs[0] };
    enum jy_vkind kind = (enum jy_vkind)list->elem->kind;
    TRY(jy_vlist_as_object(b, list));
    bool decided = strcmp(helper, "ask_list") != 0;
    if (!decided)
        helper = kind == JY_K_FLOAT ? "ask_list_float" : "ask_list_int";
    if (list->elem->other != NULL || (kind != JY_K_FLOAT && kind != JY_K_INT && (!decided || kind != JY_K_BOOL)))
        return jy_vb_lacks(b, "a function of a list of other things than ints or floats");
    kind = strcmp(helper, "ask_list_float") == 0 ? JY_K_FLOAT
           : strcmp(helper, "ask_list_int") == 0 ? JY_K_INT
                                                 : JY_K_BOOL;
    jy_fv result = jy_vhelp(b, helper, 2, regs, "a function that raises or gives another type");
    *out = jy_val_reg(b, kind, JY_DTYPE_NONE, result);
    jy_vcheck_nan(b, *out, JY_CHECK_LOADED); /* max() and min() give an item */
    return JY_OK;
}

static jy_status
ask_numbers(struct jy_vbuild *b, struct jy_val **out, const char *helper, PyObject *callable, size_t nargs,
            struct jy_val *const *args)
{
    jy_fv regs[4] = { jy_vaddress(b, callable) };
    const char *letters = helper + strlen("ask_");
    for (size_t i = 0; i < nargs; i++) {
        if (letters[i] == 'f')
            TRY(jy_vas_float(b, &regs[i + 1], args[i]));
        else if (args[i]->kind == JY_K_INT)
            regs[i + 1] = args[i]->regs[0];
        else
            return jy_vb_lacks(b, "a function of %s", jy_val_describe(b, args[i]));
    }
    jy_fv result = jy_vhelp(b, helper, nargs + 1, regs, "a function that raises or gives another type");
    *out = letters[0] == 'f' ? float_val(b, result) : int_val(b, result);
    return JY_OK;
}

/* *out NULL: the function is none of these. */
static jy_status
ask(struct jy_vbuild *b, struct jy_val **out, PyObject *callable, const char *module, const char *name, size_t nargs,
    struct jy_val *const *args)
{
    bool of_list = nargs == 1 && args[0]->kind == JY_K_LIST && args[0]->elem->kind != JY_K_BYTE;
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        const char *helper = asked[k].helper;
        bool wants_list = strncmp(helper, "ask_list", strlen("ask_list")) == 0;
        if (strcmp(asked[k].module, module) != 0 || strcmp(asked[k].name, name) != 0 || wants_list != of_list)
            continue;
        if (of_list)
            return ask_list(b, out, helper, callable, args[0]);
        if (strlen(helper + strlen("ask_")) == nargs)
            return ask_numbers(b, out, helper, callable, nargs, args);
    }
    return JY_OK;
}

/* ---- NumPy ---- */

static jy_status
call_np_sqrt(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    if (nargs != 1 || !is_float(args[0]))
        return jy_vb_lacks(b, "numpy.sqrt() of this");
    jy_dtype dtype = args[0]->kind == JY_K_NP ? (jy_dtype)args[0]->dtype : JY_F64;
    jy_fv x = args[0]->regs[0], root = jy_ve1(b, JY_FLOW_SQRT, jy_vtype_of_dtype(dtype), x);
    b->w->w_np_flags = true;
    jy_vflagged(b, root, x, x, "a warning");
    *out = jy_val_reg(b, JY_K_NP, dtype, root);
    return JY_OK;
}

static jy_status
call_np_abs(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    if (nargs != 1 || args[0]->kind != JY_K_NP)
        return jy_vb_lacks(b, "numpy.absolute() of this");
    return jy_vnum_unary(b, out, JY_UNARY_ABS, args[0]);
}

/* A float64, or a Python number that is one beside another. */
static bool
is_float64(const struct jy_val *v)
{
    return v->kind == JY_K_FLOAT || (v->kind == JY_K_NP && v->dtype == JY_F64);
}

/* Other ufuncs that jitney knows, of float64. *out NULL: it is none. */
static jy_status
call_ufunc(struct jy_vbuild *b, struct jy_val **out, PyObject *ufunc, size_t nargs, struct jy_val *const *args)
{
    jy_fv regs[3] = { JY_NO_FV };
    jy_op op = 0;
    while (op < JY_OP_COUNT && (jy_op_info[op].oracle == NULL || jy_np_ufunc_of(op) != ufunc))
        op++;
    if (op == JY_OP_COUNT)
        return JY_OK;
    bool gives_bool = jy_op_info[op].result == JY_RESULT_BOOL, fits = (size_t)jy_op_info[op].arity == nargs;
    fits &=
        nargs == 1 ? is_float64(args[0]) : nargs == 2 && !gives_bool && (is_float64(args[0]) || is_float64(args[1]));
    for (size_t i = 0; fits && i < nargs; i++)
        fits = is_float64(args[i]) || args[i]->kind == JY_K_INT;
    if (!fits || (!gives_bool && jy_op_info[op].result != JY_RESULT_SAME))
        return jy_vb_lacks(b, "numpy.%s() of this", jy_op_info[op].oracle);
    regs[0] = jy_vaddress(b, ufunc);
    for (size_t i = 0; i < nargs; i++)
        TRY(jy_vas_float(b, &regs[i + 1], args[i]));
    const char *helper = gives_bool ? "np_b_f" : nargs == 1 ? "np_f_f" : "np_f_ff";
    b->w->w_np_flags = true;
    *out = jy_val_reg(b, JY_K_NP, gives_bool ? JY_BOOL : JY_F64, jy_vhelp(b, helper, nargs + 1, regs, "a warning"));
    return JY_OK;
}

static bool
np_function(call_handler **out, PyObject *callable, size_t nargs, struct jy_val *const *args)
{
    if (callable == jy_np_ufunc_of(JY_OP_SQRT))
        *out = call_np_sqrt;
    else if (callable == jy_np_ufunc_of(JY_OP_ABS) && nargs == 1 && args[0]->kind == JY_K_NP)
        *out = call_np_abs;
    else
        return false;
    return true;
}

/* ---- which one ---- */

static const struct {
    PyTypeObject *type;
    call_handler *handler;
} types[] = {
    { &PyBool_Type, call_bool },      { &PyComplex_Type, jy_vcomplex_call },
    { &PyEnum_Type, call_enumerate }, { &PyFloat_Type, call_float },
    { &PyLong_Type, call_int },       { &PyList_Type, jy_vlist_call },
    { &PyRange_Type, call_range },    { &PyReversed_Type, call_reversed },
    { &PyZip_Type, jy_vzip },
};

static const struct {
    const char *module, *name;
    call_handler *handler;
} functions[] = {
    { "builtins", "chr", jy_vtext_chr },   { "builtins", "ord", jy_vtext_ord },   { "builtins", "abs", call_abs },
    { "builtins", "divmod", call_divmod }, { "builtins", "len", call_len },       { "builtins", "max", call_max },
    { "builtins", "min", call_min },       { "builtins", "pow", call_pow },       { "builtins", "round", call_round },
    { "_operator", "index", call_index },  { "math", "ceil", call_ceil },         { "math", "copysign", call_copysign },
    { "math", "degrees", call_degrees },   { "math", "fabs", call_fabs },         { "math", "floor", call_floor },
    { "math", "gcd", call_gcd },           { "math", "isfinite", call_isfinite }, { "math", "isinf", call_isinf },
    { "math", "isnan", call_isnan },       { "math", "isqrt", call_isqrt },       { "math", "radians", call_radians },
    { "math", "sqrt", call_sqrt },         { "math", "trunc", call_trunc },
};

static jy_status
call_c_callable(struct jy_vbuild *b, struct jy_val **out, PyObject *callable, size_t nargs, struct jy_val *const *args)
{
    call_handler *handler = NULL;
    const char *module = NULL, *name = NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (callable == (PyObject *)types[i].type)
            handler = types[i].handler;
    if (handler == NULL && Py_IS_TYPE(callable, &PyCFunction_Type)) {
        PyObject *self = PyCFunction_GET_SELF(callable);
        name = ((PyCFunctionObject *)callable)->m_ml->ml_name;
        module = self != NULL && PyModule_Check(self) ? PyModule_GetName(self) : NULL;
        if (self != NULL && module == NULL)
            PyErr_Clear();
        if (module != NULL)
            TRY(ask(b, out, callable, module, name, nargs, args));
        if (*out != NULL)
            return JY_OK;
        for (size_t i = 0; module != NULL && i < sizeof functions / sizeof *functions; i++)
            if (strcmp(module, functions[i].module) == 0 && strcmp(name, functions[i].name) == 0)
                handler = functions[i].handler;
    }
    if (handler == NULL && jy_is_own(callable, "prange"))
        handler = call_prange;
    if (handler == NULL)
        np_function(&handler, callable, nargs, args);
    if (handler != NULL)
        return handler(b, out, nargs, args);
    TRY(jy_vdraw_bound(b, out, callable, nargs, args));
    if (*out == NULL)
        TRY(call_ufunc(b, out, callable, nargs, args));
    if (*out != NULL)
        return JY_OK;
    if (module != NULL && strcmp(module, "math") == 0 && (nargs == 1 || nargs == 2))
        return call_c_function(b, out, name, nargs, args);
    return jy_vb_lacks(b, "a call of %s",
                       jy_value_describe(b->frame->f, jy_value_callable(b->frame->f, callable, JY_NO_SOURCE)));
}

static jy_status
call_method(struct jy_vbuild *b, struct jy_val **out, const struct jy_val *method, size_t nargs,
            struct jy_val *const *args, PyObject *kwnames)
{
    struct jy_val *self = method->parts[0];
    const char *name = jy_utf8(method->name);
    if (self->kind == JY_K_ARRAY)
        return jy_vvector_method(b, out, self, name, nargs, args, kwnames);
    if (kwnames != NULL)
        return jy_vb_lacks(b, "a method with keywords");
    if (self->kind == JY_K_OBJECT)
        return jy_vdraw_method(b, out, self, method->name, nargs, args);
    if (self->kind == JY_K_LIST)
        return jy_vlist_method(b, out, self, name, nargs, args);
    if (self->kind == JY_K_CHAR)
        return jy_vtext_method(b, out, self, method->name, nargs);
    if (self->kind == JY_K_INT && strcmp(name, "bit_length") == 0)
        return int_helper(b, out, "int_bit_length", 1, 1, &self);
    if (self->kind == JY_K_INT && strcmp(name, "bit_count") == 0)
        return int_helper(b, out, "int_bit_count", 1, 1, &self);
    if (self->kind == JY_K_NP && strcmp(name, "item") == 0 && nargs == 0) {
        enum jy_vkind kind = self->dtype == JY_BOOL ? JY_K_BOOL : is_float(self) ? JY_K_FLOAT : JY_K_INT;
        jy_fv x = self->regs[0];
        if (kind == JY_K_FLOAT)
            TRY(jy_vas_float(b, &x, self));
        else if (kind == JY_K_INT)
            TRY(jy_vas_index(b, &x, self));
        *out = jy_val_reg(b, kind, JY_DTYPE_NONE, x);
        return JY_OK;
    }
    return jy_vb_lacks(b, "a call of %s", jy_val_describe(b, method));
}

/* items: all that the call takes from the stack, the callable with its NULL and the arguments first to last. */
jy_status
jy_vcall(struct jy_vbuild *b, size_t items, size_t nargs, PyObject *kwnames)
{
    struct jy_val **slots = &b->frame->stack[b->frame->depth - items], *out = NULL;
    struct jy_val **args = jy_arena_copy(b->arena, slots + 2, (nargs + 1) * sizeof *args);
    struct jy_val *callable = slots[0]->kind == JY_K_UNBOUND ? slots[1] : slots[0];
    if (slots[0]->kind != JY_K_UNBOUND && slots[1]->kind != JY_K_UNBOUND)
        return jy_vb_lacks(b, "a method of %s", jy_val_describe(b, slots[1]));
    if (callable->kind == JY_K_METHOD) {
        TRY(call_method(b, &out, callable, nargs, args, kwnames));
        return jy_vreplace(b, items, out);
    }
    if (callable->kind == JY_K_OBJECT && kwnames == NULL && PyMethod_Check(callable->known->v_object)) {
        TRY(jy_vdraw_bound(b, &out, callable->known->v_object, nargs, args));
        if (out != NULL) {
            jy_guard_is(b->frame->f, callable->known->v_source, callable->known->v_object);
            return jy_vreplace(b, items, out);
        }
    }
    if (callable->kind != JY_K_KNOWN)
        return jy_vb_lacks(b, "a call of %s", jy_val_describe(b, callable));
    struct jy_value *known = callable->known;
    if (known->v_kind == JY_V_CALLABLE) {
        TRY(jy_vvector_call(b, &out, known->v_object, nargs, args, kwnames));
        if (out != NULL)
            return jy_vreplace(b, items, out);
    }
    if (known->v_kind == JY_V_CALLABLE && jy_is_dispatcher(known->v_object)) {
        TRY(jy_dispatcher_part(b->frame->f, &known, known));
        TRY(jy_value_realize(b->frame->f, known));
    }
    if (known->v_kind == JY_V_FUNCTION)
        return jy_vcall_python(b, known, items, nargs, args, kwnames);
    PyObject *object = jy_value_known(known);
    if (object == NULL || kwnames != NULL)
        return jy_vb_lacks(b, "a call of %s", jy_val_describe(b, callable));
    TRY(call_c_callable(b, &out, object, nargs, args));
    return out != NULL ? jy_vreplace(b, items, out) : JY_OK;
}
