/* Python's complex numbers in flows, by CPython's own formulas: products are not rearranged, a real operand is a complex one whose imaginary part is 0.0. Division and powers are left
 * to the interpreter. */
#include "frontend/flow.h"

/* Up to 3.13 a real operand is converted first. */
static jy_status
parts_of(struct jy_vbuild *b, jy_fv *real, jy_fv *imag, struct jy_val *v)
{
    if (v->kind == JY_K_COMPLEX) {
        *real = v->regs[0];
        *imag = v->regs[1];
        return JY_OK;
    }
    if (v->kind == JY_K_NP)
        return jy_vb_lacks(b, "complex and %s", jy_val_describe(b, v));
    *imag = jy_vfloat(b, 0);
    return jy_vas_float(b, real, v);
}

static jy_fv
two(struct jy_vbuild *b, enum jy_fop op, jy_fv x, jy_fv y)
{
    return jy_ve2(b, op, JY_F_F64, x, y);
}

jy_status
jy_vcomplex_binary(struct jy_vbuild *b, struct jy_val **out, enum jy_nb op, struct jy_val *x, struct jy_val *y)
{
    jy_fv xr, xi, yr, yi;
    TRY(parts_of(b, &xr, &xi, x));
    TRY(parts_of(b, &yr, &yi, y));
    if (op == JY_NB_ADD || op == JY_NB_SUBTRACT) {
        enum jy_fop how = op == JY_NB_ADD ? JY_FLOW_ADD : JY_FLOW_SUB;
        *out = jy_val_complex(b, two(b, how, xr, yr), two(b, how, xi, yi));
        return JY_OK;
    }
    if (op != JY_NB_MULTIPLY)
        return jy_vb_lacks(b, "a quotient or power of complex numbers");
    jy_fv real = two(b, JY_FLOW_SUB, two(b, JY_FLOW_MUL, xr, yr), two(b, JY_FLOW_MUL, xi, yi));
    jy_fv imag = two(b, JY_FLOW_ADD, two(b, JY_FLOW_MUL, xr, yi), two(b, JY_FLOW_MUL, xi, yr));
    *out = jy_val_complex(b, real, imag);
    return JY_OK;
}

jy_status
jy_vcomplex_unary(struct jy_vbuild *b, struct jy_val **out, enum jy_unary op, struct jy_val *x)
{
    jy_fv args[] = { x->regs[0], x->regs[1] };
    switch (op) {
    case JY_UNARY_POSITIVE:
        *out = x;
        return JY_OK;
    case JY_UNARY_NEGATIVE:
        *out = jy_val_complex(b, jy_ve1(b, JY_FLOW_NEG, JY_F_F64, args[0]), jy_ve1(b, JY_FLOW_NEG, JY_F_F64, args[1]));
        return JY_OK;
    case JY_UNARY_ABS: { /* the C library's hypot; an infinity that is none of the operands' is an OverflowError */
        jy_fv result = jy_vhelp(b, "hypot", 2, args, NULL);
        jy_vflagged(b, result, args[0], args[1], "absolute value too large");
        *out = jy_val_reg(b, JY_K_FLOAT, JY_DTYPE_NONE, result);
        return JY_OK;
    }
    case JY_UNARY_INVERT:
        break;
    }
    return jy_vb_lacks(b, "~ of a complex number");
}

jy_status
jy_vcomplex_compare(struct jy_vbuild *b, struct jy_val **out, enum jy_compare op, struct jy_val *x, struct jy_val *y)
{
    if (x->kind != JY_K_COMPLEX || y->kind != JY_K_COMPLEX || (op != JY_EQ && op != JY_NE))
        return jy_vb_lacks(b, "a comparison of %s and %s", jy_val_describe(b, x), jy_val_describe(b, y));
    jy_fv real = jy_ve2(b, JY_FLOW_EQ, JY_F_I1, x->regs[0], y->regs[0]);
    jy_fv imag = jy_ve2(b, JY_FLOW_EQ, JY_F_I1, x->regs[1], y->regs[1]);
    jy_fv equal = jy_ve2(b, JY_FLOW_AND, JY_F_I1, real, imag);
    *out = jy_val_reg(b, JY_K_BOOL, JY_DTYPE_NONE, op == JY_EQ ? equal : jy_ve1(b, JY_FLOW_NOT, JY_F_I1, equal));
    return JY_OK;
}

/* complex(real, imag) of real numbers */
jy_status
jy_vcomplex_call(struct jy_vbuild *b, struct jy_val **out, size_t nargs, struct jy_val *const *args)
{
    jy_fv parts[] = { JY_NO_FV, JY_NO_FV };
    if (nargs < 1 || nargs > 2)
        return jy_vb_lacks(b, "complex() of %zu", nargs);
    if (nargs == 1 && args[0]->kind == JY_K_COMPLEX) {
        *out = args[0];
        return JY_OK;
    }
    parts[1] = jy_vfloat(b, 0);
    for (size_t i = 0; i < nargs; i++) {
        if (args[i]->kind == JY_K_COMPLEX || (args[i]->kind == JY_K_NP && args[i]->dtype != JY_F64))
            return jy_vb_lacks(b, "complex() of %s", jy_val_describe(b, args[i]));
        TRY(jy_vas_float(b, &parts[i], args[i]));
    }
    *out = jy_val_complex(b, parts[0], parts[1]);
    return JY_OK;
}
