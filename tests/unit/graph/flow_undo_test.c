/* Which runs may be thrown away. */
#include "tests/unit/graph/flow_case.h"

static void
check_undone(const char *source, bool undone)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL)
        CHECK_INT(jy_flow_is_undone(w), undone);
    jy_arena_free(arena);
}

/* A store to an alias number of that kind. */
static void
check_store(const char *alias, bool undone)
{
    char source[512];
    snprintf(source, sizeof source,
             "flow f :\n"
             "  input 0 : ptr data 0\n"
             "  alias 1 : %s\n"
             "  block 0 () :\n"
             "    %%0 = input[0] : ptr\n"
             "    %%1 = const[8] : i64\n"
             "    store[0] %%0, %%1, %%1 alias 1\n"
             "    exit 0\n"
             "  exit 0 return at 6 (%%1)\n",
             alias);
    check_undone(source, undone);
}

TEST(flow_undo, stores)
{
    check_store("input 0 written", false);
    check_store("interpreter written", false);
    check_store("interpreter own written", true);
    check_undone("flow f :\n"
                 "  block 0 () :\n"
                 "    %0 = scratch : ptr\n"
                 "    %1 = const[8] : i64\n"
                 "    %2 = offset %0, %1 : ptr\n"
                 "    store[0] %2, %1, %1\n"
                 "    exit 0\n"
                 "  exit 0 return at 6 (%1)\n",
                 true);
}

/* A call of that helper. */
static void
check_call(const char *helper, const char *args, bool undone)
{
    char source[512];
    snprintf(source, sizeof source,
             "flow f :\n"
             "  input 0 : ptr object 0\n"
             "  helper 0 %s\n"
             "  block 0 () :\n"
             "    %%0 = input[0] : ptr\n"
             "    %%1 = const[8] : i64\n"
             "    %%2 = const[0.5] : f64\n"
             "    %s\n"
             "    exit 0\n"
             "  exit 0 return at 6 (%%1)\n",
             helper, args);
    check_undone(source, undone);
}

TEST(flow_undo, helpers)
{
    check_call("sin (f64) : f64 pure", "%3 = call[0] %2 : f64", true);
    check_call("native_shrink (ptr, i64) : none", "call[0] %0, %1", true);
    check_call("random_draw (ptr) : f64", "%3 = call[0] %0 : f64", false);
    check_call("list_append_new (ptr, ptr) : none", "call[0] %0, %0", false);
    check_call("list_extend (ptr, ptr) : none", "call[0] %0, %0", false);
}

TEST(flow_undo, functions)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *root = jy_flow_new(arena, "root"), *inner = jy_flow_function(root, "inner");
    jy_fb block = jy_flow_block(inner);
    jy_fv at = jy_flow_param(inner, block, JY_F_PTR);
    jy_fv number = jy_flow_const(inner, block, JY_F_I64, (union jy_scalar){ .i = 8 });
    CHECK(jy_flow_is_undone(root));
    jy_flow_store(inner, block, at, number, 0, number, 0);
    CHECK(!jy_flow_is_undone(root));
    jy_arena_free(arena);
}
