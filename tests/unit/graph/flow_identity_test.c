/* Which marked checks are needed. Text has neither marks nor what is told: here each CHECK is marked, and all that exits make of numbers is told but in the exits of checks. */
#include "tests/unit/graph/flow_case.h"

#define INPUTS                                                                                                         \
    "flow f :\n"                                                                                                       \
    "  input 0 : ptr object 0\n"                                                                                       \
    "  input 1 : f64 number 1 float64\n"                                                                               \
    "  input 2 : i1 number 2 bool\n"                                                                                   \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : ptr\n"                                                                                        \
    "    %1 = input[1] : f64\n"                                                                                        \
    "    %2 = input[2] : i1\n"                                                                                         \
    "    %3 = const[0] : i64\n"                                                                                        \
    "    %4 = load[16] %0, %3 : f64\n"                                                                                 \
    "    %5 = add %4, %4 : f64\n"
#define EXITS                                                                                                          \
    "  exit 0 check at 5 () :\n"                                                                                       \
    "  exit 1 return at 6 (%4) :\n"                                                                                    \
    "    result number pyfloat float64 $0\n"                                                                           \
    "  exit 2 return at 6 (%5) :\n"                                                                                    \
    "    result number pyfloat float64 $0\n"

static void
mark(struct jy_flow *w, enum jy_check_mark mark)
{
    for (size_t k = 0; k < w->w_values.n; k++)
        if (jy_flow_at(w, (jy_fv)k)->f_op == JY_FLOW_CHECK)
            jy_flow_at(w, (jy_fv)k)->f_index = (uint32_t)mark;
    for (size_t x = 0; x < w->w_exits.n; x++)
        if (w->w_exits.at[x].x_kind == JY_EXIT_RETURN)
            w->w_exits.at[x].x_boxes[0]->is_told = true;
}

static size_t
checks_of(const struct jy_flow *w)
{
    size_t n = 0;
    for (size_t b = 0; b < w->w_blocks.n; b++)
        for (size_t i = 0; i < w->w_blocks.at[b].f_body.n; i++)
            n += jy_flow_at(w, w->w_blocks.at[b].f_body.at[i])->f_op == JY_FLOW_CHECK;
    return n;
}

/* How many of its checks are needed; *no_nan: of input 1. */
static size_t
needed_in(const char *source, enum jy_check_mark as, bool *no_nan)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    size_t n = 99;
    if (w != NULL) {
        mark(w, as);
        jy_flow_identity(w);
        CHECK_PTR(jy_flow_verify(w), NULL);
        n = checks_of(w);
        *no_nan = w->w_inputs.at[1].no_nan;
    }
    jy_arena_free(arena);
    return n;
}

TEST(flow_identity, of_what_is_returned)
{
    bool no_nan = false;
    CHECK_INT(needed_in(INPUTS "    %6 = eq %4, %4 : i1\n"
                               "    check %6 exit 0\n"
                               "    exit 1\n" EXITS,
                        JY_CHECK_LOADED, &no_nan),
              1);
    CHECK_INT(needed_in(INPUTS "    %6 = eq %4, %4 : i1\n"
                               "    check %6 exit 0\n"
                               "    exit 2\n" EXITS,
                        JY_CHECK_LOADED, &no_nan),
              0);
    CHECK_INT(no_nan, false);
}

/* Put into a list twice: the first time makes sure of the second. */
TEST(flow_identity, of_what_is_stored)
{
    bool no_nan = false;
    CHECK_INT(needed_in(INPUTS "    %6 = eq %5, %5 : i1\n"
                               "    check %6 exit 0\n"
                               "    check %6 exit 0\n"
                               "    exit 1\n" EXITS,
                        JY_CHECK_STORED, &no_nan),
              1);
}

/* Round a loop: computed anew in each round, or once in front of it. */
TEST(flow_identity, in_a_loop)
{
    bool no_nan = false;
    CHECK_INT(needed_in(INPUTS "    jump 1 ()\n"
                               "  block 1 () :\n"
                               "    %6 = mul %5, %5 : f64\n"
                               "    %7 = eq %6, %6 : i1\n"
                               "    check %7 exit 0\n"
                               "    branch %2 ? 1 () : 2 ()\n"
                               "  block 2 () :\n"
                               "    exit 2\n" EXITS,
                        JY_CHECK_STORED, &no_nan),
              0);
    CHECK_INT(needed_in(INPUTS "    jump 1 ()\n"
                               "  block 1 () :\n"
                               "    %7 = eq %5, %5 : i1\n"
                               "    check %7 exit 0\n"
                               "    branch %2 ? 1 () : 2 ()\n"
                               "  block 2 () :\n"
                               "    exit 1\n" EXITS,
                        JY_CHECK_STORED, &no_nan),
              1);
}

#define MERGED(way)                                                                                                    \
    INPUTS "    jump 1 (%1)\n"                                                                                         \
           "  block 1 (%6 : f64) :\n"                                                                                  \
           "    branch %2 ? 1 (" way ") : 2 ()\n"                                                                      \
           "  block 2 () :\n"                                                                                          \
           "    exit 3\n" EXITS "  exit 3 return at 6 (%6) :\n"                                                        \
           "    result number pyfloat float64 $0\n"

/* What came in is merged with what was loaded: it must not be NaN; with what is computed it comes back as another one. */
TEST(flow_identity, of_what_came_in)
{
    bool no_nan = false;
    CHECK_INT(needed_in(MERGED("%4"), JY_CHECK_LOADED, &no_nan), 0);
    CHECK_INT(no_nan, true);
    CHECK_INT(needed_in(MERGED("%5"), JY_CHECK_LOADED, &no_nan), 0);
    CHECK_INT(no_nan, false);
    CHECK_INT(needed_in(INPUTS "    %6 = eq %1, %1 : i1\n"
                               "    check %6 exit 0\n"
                               "    exit 2\n" EXITS,
                        JY_CHECK_STORED, &no_nan),
              1);
}
