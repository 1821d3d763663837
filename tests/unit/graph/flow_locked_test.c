/* What a run may do without the GIL. */
#include "tests/unit/graph/flow_case.h"

static void
check_locked(const char *source, const char *why)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL)
        CHECK_STR(jy_flow_why_locked(w), why);
    jy_arena_free(arena);
}

TEST(flow_locked, numbers_alone_need_no_gil)
{
    check_locked("flow f :\n"
                 "  input 0 : f64 number 0 float64\n"
                 "  input 1 : i64 range 1.0\n"
                 "  helper 0 sin (f64) : f64 pure\n"
                 "  helper 1 float_pow (f64, f64) : f64 fails\n"
                 "  block 0 () :\n"
                 "    %0 = input[0] : f64\n"
                 "    %1 = call[0] %0 : f64\n"
                 "    %2 = call[1] %1, %0 exit 0 : f64\n"
                 "    %3 = scratch : ptr\n"
                 "    %4 = const[8] : i64\n"
                 "    %5 = offset %3, %4 : ptr\n"
                 "    store[0] %5, %4, %2\n"
                 "    %7 = load[0] %5, %4 : f64\n"
                 "    exit 1\n"
                 "  exit 0 check at 5 (%0)\n"
                 "  exit 1 return at 6 (%7)\n",
                 NULL);
}

TEST(flow_locked, memory_of_others)
{
    check_locked("flow f :\n"
                 "  input 0 : ptr data 0\n"
                 "  block 0 () :\n"
                 "    exit 0\n"
                 "  exit 0 return at 6 ()\n",
                 "an array comes in, which others may reach");
    check_locked("flow f :\n"
                 "  input 0 : ptr object 0\n"
                 "  block 0 () :\n"
                 "    %0 = input[0] : ptr\n"
                 "    %1 = const[16] : i64\n"
                 "    %2 = load[0] %0, %1 : i64\n"
                 "    exit 0\n"
                 "  exit 0 return at 6 (%2)\n",
                 "it works on memory that others may reach");
}

TEST(flow_locked, helpers)
{
    check_locked("flow f :\n"
                 "  input 0 : f64 number 0 float64\n"
                 "  helper 0 float_round (f64, i64) : f64 fails\n"
                 "  block 0 () :\n"
                 "    %0 = input[0] : f64\n"
                 "    %1 = const[1] : i64\n"
                 "    %2 = call[0] %0, %1 exit 0 : f64\n"
                 "    exit 1\n"
                 "  exit 0 check at 5 (%0)\n"
                 "  exit 1 return at 6 (%2)\n",
                 "it calls float_round");
}

/* What is read of an object that came in is told to whoever knows the object. */
TEST(flow_locked, numbers_of_objects)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, "flow f :\n"
                                          "  input 0 : ptr object 3\n"
                                          "  input 1 : ptr object 4\n"
                                          "  block 0 () :\n"
                                          "    %0 = input[0] : ptr\n"
                                          "    %1 = input[1] : ptr\n"
                                          "    %2 = const[16] : i64\n"
                                          "    %3 = load[0] %0, %2 : f64\n"
                                          "    exit 0\n"
                                          "  exit 0 return at 6 (%3, %1)\n");
    CHECK_STR(jy_flow_why_locked(w), NULL);
    CHECK(jy_flow_reads_object(w, 3));
    CHECK(!jy_flow_reads_object(w, 4));
    jy_arena_free(arena);
}

/* One that calls another has a depth; one that calls itself has none. */
TEST(flow_locked, recursion)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *root = jy_flow_new(arena, "root");
    struct jy_flow *outer = jy_flow_function(root, "outer"), *inner = jy_flow_function(root, "inner");
    struct jy_flow_exit call = { .x_kind = JY_EXIT_CALL };
    outer->w_type = inner->w_type = JY_F_NONE;
    jy_flow_invoke(outer, 0, 1, 0, NULL, jy_flow_exit_add(outer, &call));
    CHECK_STR(jy_flow_why_locked(root), NULL);
    jy_flow_invoke(inner, 0, 0, 0, NULL, jy_flow_exit_add(inner, &call));
    CHECK_STR(jy_flow_why_locked(root), "a function calls itself");
    jy_arena_free(arena);
}
