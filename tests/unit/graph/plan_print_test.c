/* Everything a plan can hold is printed so that the reader gives the same plan. */
#include "tests/unit/graph/plan_text.h"

TEST(plan_print, every_line_there_is)
{
    check_round_trip("plan f (s0=1000, s1=-3) :\n"
                     "  size z0 = (s0*s1)\n"
                     "  size z1 = max((s0-1),0)\n"
                     "  scalar q0 = float64 npscalar %3\n"
                     "  scalar q1 = int64 pyint\n"
                     "  buffer b0 = input 0 : float64[s0,s1] order(0,1) unit(1) %0\n"
                     "  buffer b1 = output : float64[s0,s1] order(1,0) unit(0) %2\n"
                     "  buffer b2 = temp : bool[] order()\n"
                     "  buffer b3 = view 0 start(1,(s1-1)) axis(0,-1) step(-1,0) : float64[s0,1] order(0,1) %4\n"
                     "  buffer b4 = reshape 0 : float64[(s0*s1)] order(0) unit(0)\n"
                     "  buffer b5 = tile 64 16 : float64[16] order(0) unit(0)\n"
                     "  buffer b6 = object 3 : float64[s0] order(0) %6\n"
                     "  loop l0 = exp float64\n"
                     "  loop l1 = power float32\n"
                     "  input b0\n"
                     "  input q1\n"
                     "  kernel 0:\n"
                     "  kernel 1:\n"
                     "    %0 = size z0 ; (s0*s1)\n"
                     "  step kernel 1\n"
                     "  step matmul dot(b0, q1) -> b2 %5\n"
                     "  step reduce sum[axes 2; keepdims](b0) -> b3 %5\n"
                     "  step reduce max[axes 3](b0) -> q0\n"
                     "  step callout 3, 1 (b0, q1) -> b6 %6\n"
                     "  step callout 3, 0 () -> b6\n"
                     "  output b1 : float64 array view %7\n"
                     "  output q1 : int64 pyint\n"
                     "  write b3 %9\n"
                     "  write b0\n"
                     "  tile 192\n"
                     "  flags 2 %5\n");
    check_round_trip("plan g () :\n  flags 2\n");
    check_round_trip("plan g () :\n");
}

/* A dtype or kind of value more is tried by itself. */
TEST(plan_print, every_dtype_and_kind)
{
    static const char *const kinds[] = { "array", "npscalar", "pyfloat", "pyint", "pybool" };
    for (int dtype = 0; dtype < JY_DTYPE_COUNT; dtype++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            struct jy_text text = { 0 };
            jy_text_add(&text, "plan f () :\n  scalar q0 = %s %s\n", jy_dtype_info[dtype].text, kinds[kind]);
            jy_text_add(&text, "  buffer b0 = output : %s[7] order(0) unit(0)\n  loop l0 = add %s\n",
                        jy_dtype_info[dtype].text, jy_dtype_info[dtype].text);
            jy_text_add(&text, "  output q0 : %s %s\n", jy_dtype_info[dtype].text, kinds[kind]);
            check_round_trip(text.at);
            jy_text_free(&text);
        }
}

TEST(plan_print, every_inner_loop)
{
    for (int op = 0; op < JY_OP_COUNT; op++) {
        struct jy_text text = { 0 };
        if (jy_op_info[op].klass != JY_CLASS_TILE)
            continue;
        jy_text_add(&text, "plan f () :\n  loop l0 = %s float32\n", jy_op_info[op].text);
        check_round_trip(text.at);
        jy_text_free(&text);
    }
}
