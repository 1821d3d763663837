/* What folds is in tests/golden/graph/fold.txt; here: what text does not show. */
#include "graph/pass_internal.h"
#include "graph_text.h"
#include <fenv.h>

TEST(pass_fold, the_floating_point_status_is_left_alone)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, "graph f () :\n"
                                            "  %0 = constant[1.0] : float64\n"
                                            "  %1 = constant[0.0] : float64\n"
                                            "  %2 = divide(%0, %1) : float64\n"
                                            "  output (%2)\n");
    feclearexcept(FE_ALL_EXCEPT);
    jy_pass_fold(g);
    CHECK_INT(fetestexcept(FE_ALL_EXCEPT), 0);
    feraiseexcept(FE_OVERFLOW);
    jy_pass_fold(g);
    CHECK_INT(fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT), FE_OVERFLOW);
    feclearexcept(FE_ALL_EXCEPT);
    CHECK_INT(jy_graph_at(g, 2)->n_op, JY_OP_DIV);
    jy_arena_free(arena);
}

TEST(pass_fold, folded_values_have_the_operations_rounding)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = parse_graph(arena, "graph f () :\n"
                                            "  %0 = constant[0.1] : float32\n"
                                            "  %1 = constant[3.0] : float32\n"
                                            "  %2 = multiply(%0, %1) : float32\n"
                                            "  output (%2)\n");
    jy_pass_fold(g);
    CHECK_INT(jy_graph_at(g, 2)->n_op, JY_OP_CONSTANT);
    CHECK_F32BITS(jy_graph_at(g, 2)->n_value.f, 0.1f * 3.0f);
    jy_arena_free(arena);
}
