/* Instructions on floats, comparisons and conversions as machine code against the interpreter. */
#include "tests/unit/backend_llvm/flow_form.h"

TEST(emit_flow_op, floats)
{
    static const enum jy_fop ops[] = { JY_FLOW_ADD,  JY_FLOW_SUB,   JY_FLOW_MUL,  JY_FLOW_NEG,
                                       JY_FLOW_ABS,  JY_FLOW_DIV,   JY_FLOW_SQRT, JY_FLOW_FLOOR,
                                       JY_FLOW_CEIL, JY_FLOW_TRUNC, JY_FLOW_RINT, JY_FLOW_COPYSIGN };
    for (size_t t = 0; t < 2; t++) {
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            check_plain(ops[k], floats[t], floats[t]);
    }
}

TEST(emit_flow_op, comparisons)
{
    for (int op = JY_FLOW_EQ; op <= JY_FLOW_GE; op++)
        for (size_t t = 0; t < 2; t++) {
            check_plain((enum jy_fop)op, JY_F_I1, integers[t]);
            check_plain((enum jy_fop)op, JY_F_I1, floats[t]);
        }
    for (int op = JY_FLOW_EQ; op <= JY_FLOW_NE; op++) {
        check_plain((enum jy_fop)op, JY_F_I1, JY_F_I1);
        check_plain((enum jy_fop)op, JY_F_I1, JY_F_PTR);
    }
    for (int type = JY_F_I1; type < JY_F_TYPE_COUNT; type++)
        if (type != JY_F_I8 && type != JY_F_I16)
            check_plain(JY_FLOW_SELECT, (enum jy_ftype)type, (enum jy_ftype)type);
    check_form((struct form){ JY_FLOW_CHECK, JY_F_NONE, JY_F_I1, true, -1 });
}

TEST(emit_flow_op, conversions)
{
    for (int to = JY_F_I8; to <= JY_F_I64; to++)
        for (int from = JY_F_I1; from < to; from++) {
            if (from != JY_F_I1)
                check_plain(JY_FLOW_SEXT, (enum jy_ftype)to, (enum jy_ftype)from);
            check_plain(JY_FLOW_ZEXT, (enum jy_ftype)to, (enum jy_ftype)from);
            if (to >= JY_F_I32 && from >= JY_F_I8)
                check_both(JY_FLOW_NARROW, (enum jy_ftype)from, (enum jy_ftype)to);
        }
    for (size_t i = 0; i < 2; i++)
        for (size_t f = 0; f < 2; f++) {
            check_plain(JY_FLOW_TO_FLOAT, floats[f], integers[i]);
            check_both(JY_FLOW_TO_INT, integers[i], floats[f]);
        }
    check_both(JY_FLOW_TO_FLOAT, JY_F_F64, JY_F_I64);
    check_plain(JY_FLOW_WIDEN, JY_F_F64, JY_F_F32);
    check_plain(JY_FLOW_ROUND, JY_F_F32, JY_F_F64);
    check_plain(JY_FLOW_BITS, JY_F_I64, JY_F_F64);
    check_plain(JY_FLOW_BITS, JY_F_F64, JY_F_I64);
    check_plain(JY_FLOW_BITS, JY_F_I32, JY_F_F32);
    check_plain(JY_FLOW_BITS, JY_F_F32, JY_F_I32);
    check_plain(JY_FLOW_BITS, JY_F_I64, JY_F_PTR);
    check_plain(JY_FLOW_BITS, JY_F_PTR, JY_F_I64);
    check_plain(JY_FLOW_OFFSET, JY_F_PTR, JY_F_PTR);
}

/* Both sides of the last value that a conversion takes. */
TEST(emit_flow_op, conversions_end_where_values_do_not_fit)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  input 1 : f64 number 1 float64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = input[1] : f64\n"
                       "    %2 = to_float %0 exit 0 : f64\n"
                       "    %3 = to_int %1 exit 1 : i64\n"
                       "    %4 = to_int %1 exit 2 : i32\n"
                       "    exit 3\n"
                       "  exit 0 check at 1 (%0)\n"
                       "  exit 1 check at 2 (%2)\n"
                       "  exit 2 check at 3 (%3)\n"
                       "  exit 3 stop at 4 (%2, %3, %4)\n";
    static const int64_t whole[] = { 0, (INT64_C(1) << 53) - 1, INT64_C(1) << 53, (INT64_C(1) << 53) + 1, INT64_MAX };
    static const double reals[] = { 0x1p31 - 0.5, 0x1p31,  -0x1p31 - 0.5,    -0x1p31 - 1, 0x1p63 - 0x1p9,
                                    0x1p63,       -0x1p63, -0x1p63 - 0x1p11, -0.5,        __builtin_inf() };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        for (size_t i = 0; i < 10; i++)
            for (size_t k = 0; k < 10; k++) {
                union jy_scalar in[] = { int_of(i < 5 ? whole[i] : -whole[i - 5]), f64_of(reals[k]) };
                if (!CHECK(flow_agrees(w, &c, &(struct jy_flow_call){ .in = in })))
                    printf("\n    %lld, %a\n", (long long)in[0].i, in[1].d);
            }
        flow_unload(&c);
    }
    jy_arena_free(arena);
}
