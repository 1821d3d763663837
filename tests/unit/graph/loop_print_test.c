/* Every statement is printed so that the reader gives the same kernel; operations and dtypes come from their tables. */
#include "tests/unit/graph/plan_text.h"

TEST(loop_print, every_statement)
{
    check_round_trip(KERNEL("    %1 = const float64 -0.0\n"
                            "    %2 = scalar float64 q0\n"
                            "    %3 = int floor_divide %0, %0\n"
                            "    set q1 = %3\n"
                            "    for %5 < %0 step 64:\n"
                            "      %6 = int subtract %0, %5\n"
                            "      for %7 < %6 vector:\n"
                            "        %8 = load float64 b0[%5+%7]\n"
                            "        %9 = vcall l1 float64 %8, %2\n"
                            "        %10 = cast int32 %9\n"
                            "        %11 = add int32 %10, %10 checked\n"
                            "        %12 = cast float64 %11\n"
                            "        store b1[%5+%7] = %12\n"
                            "      ufunc l0 %6 (b0[%5:]) -> b1[0:]\n"
                            "      ufunc l1 %6 (b0[%5:], b0[0]) -> b1[%5:]\n"
                            "    %16 = ufold l1 float64 %0 b0[0:] from %1\n"
                            "    %17 = fold pairwise add float64 %18 < %0:\n"
                            "      %19 = load float64 b0[%18]\n"
                            "      yield %19\n"
                            "    %20 = fold sequential multiply float64 %21 < %0 from %1:\n"
                            "      yield %17\n"
                            "    %22 = fold free maximum int64 %23 < %0 from %0:\n"
                            "      %24 = fold free add int64 %25 < %23 from %0:\n"
                            "        yield %25\n"
                            "      yield %24\n"));
}

TEST(loop_print, accesses_of_several_axes)
{
    check_round_trip("plan f (s0=5) :\n"
                     "  size z0 = s0\n"
                     "  buffer b0 = temp : float64[s0,s0,s0] order(0,1,2) unit(2)\n"
                     "  buffer b1 = temp : float64[] order()\n"
                     "  loop l0 = exp float64\n"
                     "  kernel 0:\n"
                     "    %0 = size z0 ; s0\n"
                     "    for %1 < %0:\n"
                     "      for %2 < %0:\n"
                     "        %3 = load float64 b0[%2, 0, %1+%2]\n"
                     "        store b1[] = %3\n"
                     "        ufunc l0 %0 (b0[0, %1:, 0]) -> b0[0, %2+%1:, %1]\n");
}

/* A row more of ops.def or dtype.def is tried by itself. */
TEST(loop_print, every_elementwise_operation_of_every_dtype)
{
    size_t tried = 0;
    for (int op = 0; op < JY_OP_COUNT; op++)
        for (int dtype = 0; dtype < JY_DTYPE_COUNT; dtype++) {
            struct jy_text text = { 0 };
            if (jy_op_info[op].klass != JY_CLASS_EW)
                continue;
            bool where = op == JY_OP_WHERE;
            const char *name = jy_dtype_info[dtype].text;
            jy_text_add(&text, "plan f () :\n  scalar q0 = %s npscalar\n  scalar q1 = bool npscalar\n  kernel 0:\n",
                        name);
            jy_text_add(&text, "    %%0 = scalar %s q0\n    %%1 = scalar bool q1\n    %%2 = %s %s %s", name,
                        jy_op_info[op].text, jy_dtype_info[jy_scalar_result_dtype((jy_op)op, (jy_dtype)dtype)].text,
                        where ? "%1" : "%0");
            for (int k = 1; k < jy_op_info[op].arity; k++)
                jy_text_add(&text, ", %%0");
            jy_text_add(&text, "\n");
            check_round_trip(text.at);
            jy_text_free(&text);
            tried++;
        }
    CHECK(tried >= 40 * (size_t)JY_DTYPE_COUNT);
}

TEST(loop_print, every_pair_of_a_cast_and_every_constant)
{
    static const char *const values[] = { [JY_BOOL] = "True",
                                          [JY_I32] = "-2147483648",
                                          [JY_I64] = "-9223372036854775808",
                                          [JY_F32] = "-0.0",
                                          [JY_F64] = "5e-324" };
    for (int from = 0; from < JY_DTYPE_COUNT; from++)
        for (int to = 0; to < JY_DTYPE_COUNT; to++) {
            struct jy_text text = { 0 };
            jy_text_add(&text, "plan f () :\n  kernel 0:\n    %%0 = const %s %s\n    %%1 = cast %s %%0\n",
                        jy_dtype_info[from].text, values[from], jy_dtype_info[to].text);
            check_round_trip(text.at);
            jy_text_free(&text);
        }
}
