/* Which operations can raise a floating-point flag or ask for the original: every row of ops.def, casts by their pair of dtypes. */
#include "graph/lower.h"
#include "tests/unit/graph/lowering.h"

/* Of a last node with the first `arity` of these operands. */
static bool
may_flag(jy_op op, jy_dtype dtype, enum jy_kind kind, bool constant, int64_t value)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_graph *g = jy_graph_new(arena, "f");
    jy_sx shape[1] = { jy_sizes_const(&g->g_sizes, 7) };
    struct jy_layout layout = jy_layout_fresh(1, (int64_t[]){ 7 }, (uint8_t[]){ 0 }, jy_dtype_info[dtype].bytes);
    bool array = kind == JY_KIND_ARRAY;
    jy_ref x = jy_graph_placeholder(g, kind, dtype, array, array ? shape : NULL, array ? &layout : NULL);
    jy_ref c = jy_graph_constant(g, JY_KIND_NPSCALAR, dtype, (union jy_scalar){ .i = value });
    jy_ref b = jy_graph_constant(g, JY_KIND_NPSCALAR, JY_BOOL, (union jy_scalar){ .i = 1 });
    size_t n = (size_t)jy_op_info[op].arity;
    jy_ref args[3] = { op == JY_OP_WHERE ? b : x, x, x };
    if (constant)
        args[n - 1] = c;
    bool may = jy_lower_may_flag(g, jy_graph_at(g, jy_graph_elementwise(g, op, kind, n, args)));
    jy_arena_free(arena);
    return may;
}

static bool
divides(int op)
{
    return op == JY_OP_FLOOR_DIVIDE || op == JY_OP_REMAINDER || op == JY_OP_FMOD;
}

/* Floats by fact F, arrays and scalars alike. Integers: on arrays a division only, on scalars by fact I. */
TEST(lower_flags, follow_the_facts_of_every_operation)
{
    size_t flagged = 0;
    for (int op = 0; op < JY_OP_COUNT; op++) {
        if (jy_op_info[op].klass != JY_CLASS_EW && jy_op_info[op].klass != JY_CLASS_TILE)
            continue;
        bool floats = (jy_op_info[op].facts & JY_FACT_FLAGS) != 0,
             ints = (jy_op_info[op].facts & JY_FACT_INT_FLAGS) != 0;
        for (int dtype = JY_F32; dtype <= JY_F64; dtype++) {
            CHECK_INT(may_flag((jy_op)op, (jy_dtype)dtype, JY_KIND_ARRAY, false, 0), floats);
            CHECK_INT(may_flag((jy_op)op, (jy_dtype)dtype, JY_KIND_NPSCALAR, false, 0), floats);
        }
        for (int dtype = JY_I32; dtype <= JY_I64; dtype++) {
            CHECK_INT(may_flag((jy_op)op, (jy_dtype)dtype, JY_KIND_ARRAY, false, 0), divides(op));
            CHECK_INT(may_flag((jy_op)op, (jy_dtype)dtype, JY_KIND_NPSCALAR, false, 0), ints);
        }
        CHECK(!may_flag((jy_op)op, JY_BOOL, JY_KIND_ARRAY, false, 0));
        flagged += floats;
    }
    CHECK(flagged > 20);
}

/* By zero, and the lowest value by -1. */
TEST(lower_flags, constant_divisors_are_looked_at)
{
    static const jy_op ops[] = { JY_OP_FLOOR_DIVIDE, JY_OP_REMAINDER, JY_OP_FMOD };
    for (size_t i = 0; i < 3; i++) {
        CHECK(may_flag(ops[i], JY_I64, JY_KIND_ARRAY, true, 0));
        CHECK(may_flag(ops[i], JY_I64, JY_KIND_ARRAY, true, -1));
        CHECK(!may_flag(ops[i], JY_I64, JY_KIND_ARRAY, true, 1));
        CHECK(!may_flag(ops[i], JY_I64, JY_KIND_ARRAY, true, -2));
        CHECK(!may_flag(ops[i], JY_I64, JY_KIND_NPSCALAR, true, 3));
    }
    CHECK(may_flag(JY_OP_FLOOR_DIVIDE, JY_F64, JY_KIND_ARRAY, true, 3)); /* an inexact quotient may underflow */
}

TEST(lower_flags, casts_flag_where_they_lose_range)
{
    static const bool loses[JY_DTYPE_COUNT][JY_DTYPE_COUNT] = {
        [JY_F32] = { [JY_I32] = true, [JY_I64] = true },
        [JY_F64] = { [JY_I32] = true, [JY_I64] = true, [JY_F32] = true },
    };
    for (int from = 0; from < JY_DTYPE_COUNT; from++)
        for (int to = 0; to < JY_DTYPE_COUNT; to++) {
            struct jy_arena *arena = jy_arena_new();
            struct jy_graph *g = jy_graph_new(arena, "f");
            jy_ref x = jy_graph_placeholder(g, JY_KIND_NPSCALAR, (jy_dtype)from, 0, NULL, NULL);
            jy_ref r = jy_graph_cast(g, (jy_dtype)to, JY_KIND_NPSCALAR, x);
            CHECK_INT(jy_lower_may_flag(g, jy_graph_at(g, r)), loses[from][to]);
            jy_arena_free(arena);
        }
}

/* One suspect is named; several are counted; what is dead and cannot flag is not there. */
TEST(lower_flags, the_only_suspect_is_named)
{
    check_lowered(VECTORS "  %2 = absolute(%0) : float64[s0]\n  %3 = add(%2, %1) : float64[s0]\n  output (%3)\n",
                  "  flags", "  flags 1 %3\n");
    check_lowered(VECTORS "  %2 = sqrt(%0) : float64[s0]\n  %3 = add(%2, %1) : float64[s0]\n  output (%3)\n", "  flags",
                  "  flags 2\n");
    check_lowered(VECTORS "  %2 = absolute(%0) : float64[s0]\n  output (%2)\n", "  flags", "");
    check_lowered(VECTORS "  %2 = sqrt(%0) : float64[s0]\n  output (%1)\n", "  flags", "  flags 1 %2\n");
    check_lowered(VECTORS "  %2 = sum[0](%0) : float64\n  %3 = max[0](%0) : float64\n  output (%2, %3)\n", "  flags",
                  "  flags 1 %2\n");
}
