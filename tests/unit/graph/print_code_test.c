#include "graph_text.h"

TEST(print_code, reads_like_the_function)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g =
        parse_graph(arena, "graph f (s0=6, s1=4, s2=3 of 1, s3=6 of 0.0 is s0) :\n"
                           "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous) @2 \"f.py\" as x\n"
                           "  %1 = placeholder[1] : pyint\n"
                           "  %2 = constant[2.0] : float64\n"
                           "  %3 = multiply(%0, %2) : float64[s0,s1] @3\n"
                           "  %4 = view[j0, (s1-1)-j1](%3) : float64[s0,s1]\n"
                           "  %5 = sum[0](%4) : float64[s1]\n"
                           "  %6 = store[1, j0](%3, %5) : float64[s0,s1] @4\n"
                           "  %7 = store(%6, %2) : float64[s0,s1]\n"
                           "  %8 = reshape(%7) : float64[(s0*s1)]\n"
                           "  %9 = full(%2) : float64[s2]\n"
                           "  %10 = cast(%9) : int64[s2]\n"
                           "  %11 = callout[3, 1](%10) : pyfloat\n"
                           "  output (%8, %11)\n");
    struct jy_text text = { 0 };
    if (g != NULL)
        jy_graph_print_code(&text, g);
    CHECK_STR(text.at, "def forward(x, arg1):\n"
                       "    s0 = x.shape[0]\n"
                       "    s1 = x.shape[1]\n"
                       "    s2 = arg1\n"
                       "    s3 = s0\n"
                       "    v3 = np.multiply(x, np.float64(2.0))  # line 3\n"
                       "    v4 = view(v3, lambda j0, j1: (0 + 1*j0, (s1-1) + -1*j1), (s0, s1))\n"
                       "    v5 = np.sum(v4, axis=(0,))\n"
                       "    v6 = v3\n"
                       "    store(v6, lambda j0: (1, 0 + 1*j0), v5)  # line 4\n"
                       "    v7 = v6\n"
                       "    v7[...] = np.float64(2.0)\n"
                       "    v8 = v7.reshape(((s0*s1),))\n"
                       "    v9 = np.full((s2,), np.float64(2.0))\n"
                       "    v10 = cast(np.int64, v9)\n"
                       "    v11 = callee3(v10, **extra1)\n"
                       "    return (v8, v11)\n");
    jy_text_free(&text);
    jy_arena_free(arena);
}
