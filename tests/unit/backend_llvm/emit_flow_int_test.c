/* Integer instructions as machine code against the interpreter, at the ends of their range, with exits and without. */
#include "tests/unit/backend_llvm/flow_form.h"

TEST(emit_flow_int, integers)
{
    static const enum jy_fop checked[] = { JY_FLOW_ADD, JY_FLOW_SUB, JY_FLOW_MUL,      JY_FLOW_NEG,     JY_FLOW_ABS,
                                           JY_FLOW_SHL, JY_FLOW_SHR, JY_FLOW_FLOORDIV, JY_FLOW_FLOORMOD };
    static const enum jy_fop free[] = { JY_FLOW_AND, JY_FLOW_OR,  JY_FLOW_XOR, JY_FLOW_NOT,
                                        JY_FLOW_MIN, JY_FLOW_MAX, JY_FLOW_USHR };
    for (size_t t = 0; t < 2; t++) {
        for (size_t k = 0; k < sizeof checked / sizeof *checked; k++)
            check_both(checked[k], integers[t], integers[t]);
        for (size_t k = 0; k < sizeof free / sizeof *free; k++)
            check_plain(free[k], integers[t], integers[t]);
        check_plain(JY_FLOW_BELOW, JY_F_I1, integers[t]);
    }
    check_both(JY_FLOW_WRAP, JY_F_I64, JY_F_I64);
    for (int op = JY_FLOW_AND; op <= JY_FLOW_NOT; op++)
        check_plain((enum jy_fop)op, JY_F_I1, JY_F_I1);
}

/* Constant divisors and counts have code of their own: among the samples are 0, 1, -1, powers of two and others. */
TEST(emit_flow_int, constant_operands)
{
    static const enum jy_fop ops[] = { JY_FLOW_SHL, JY_FLOW_SHR, JY_FLOW_USHR, JY_FLOW_FLOORDIV, JY_FLOW_FLOORMOD };
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (int fixed = 1; fixed < 18; fixed++)
            for (int exits = 0; exits < (ops[k] == JY_FLOW_USHR ? 1 : 2); exits++) {
                struct form f = { ops[k], JY_F_I64, JY_F_I64, exits == 1, fixed };
                if (!is_promised_away(&f, int_of(0), sample(JY_I64, (size_t)fixed)))
                    check_form(f);
            }
}

#define BOTH_OF(more)                                                                                                  \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i64 number 1 int64\n"                                                                                 \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i64\n" more

static const int64_t divided[] = {
    0, 1, -1, 2, -2, 7, -7, (INT64_C(1) << 32) - 1, INT64_C(1) << 32, INT64_MAX, INT64_MIN, INT64_MIN + 1, 3, -3
};

static void
check_divisions(const char *text)
{
    enum { N = sizeof divided / sizeof *divided };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        for (size_t k = 0; k < N * N; k++) {
            union jy_scalar in[] = { int_of(divided[k % N]), int_of(divided[k / N]) };
            if (!CHECK(flow_agrees(w, &c, &(struct jy_flow_call){ .in = in })))
                printf("\n    %lld, %lld\n", (long long)in[0].i, (long long)in[1].i);
        }
        flow_unload(&c);
    }
    jy_arena_free(arena);
}

/* `//` and `%` of the same numbers: one division of 64 bits, one of 32 bits, the exits of both. */
TEST(emit_flow_int, quotient_and_remainder_are_one_division)
{
    const char *text = BOTH_OF("    %2 = floordiv %0, %1 exit 0 : i64\n"
                               "    %3 = floormod %0, %1 exit 1 : i64\n"
                               "    %4 = floormod %2, %1 exit 1 : i64\n" /* the divisor alone is the same */
                               "    %5 = floormod %1, %0 exit 1 : i64\n"
                               "    exit 2\n"
                               "  exit 0 check at 1 (%0, %1)\n"
                               "  exit 1 check at 2 (%2)\n"
                               "  exit 2 stop at 3 (%2, %3, %4, %5)\n");
    check_divisions(text);
    char *ir = flow_ir(text, false);
    if (ir != NULL)
        CHECK_UINT(count_in(ir, "sdiv i64"), 3);
    free(ir);
}

/* What one branch has divided the other one has not. */
TEST(emit_flow_int, divisions_of_other_blocks_are_others)
{
    check_divisions(BOTH_OF("    %2 = lt %0, %1 : i1\n"
                            "    branch %2 ? 1 () : 2 ()\n"
                            "  block 1 () :\n"
                            "    %3 = floordiv %0, %1 exit 0 : i64\n"
                            "    jump 3 (%3)\n"
                            "  block 2 () :\n"
                            "    %4 = floormod %0, %1 exit 0 : i64\n"
                            "    jump 3 (%4)\n"
                            "  block 3 (%5 : i64) :\n"
                            "    exit 1\n"
                            "  exit 0 check at 1 (%0, %1)\n"
                            "  exit 1 stop at 3 (%5)\n"));
}
