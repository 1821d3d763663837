#include "graph/sizes.h"
#include "tests/unit/test.h"

struct fixture {
    struct jy_arena *arena;
    struct jy_sizes sizes;
    jy_sx a, b; /* symbols 0 and 1, hints 10 and 3 */
};

static struct fixture
set_up(void)
{
    struct fixture f = { .arena = jy_arena_new() };
    jy_sizes_init(&f.sizes, f.arena);
    f.a = jy_sizes_symbol(&f.sizes, jy_sizes_new_symbol(&f.sizes, 0, 0, 10));
    f.b = jy_sizes_symbol(&f.sizes, jy_sizes_new_symbol(&f.sizes, 0, 1, 3));
    return f;
}

static jy_sx
constant(struct fixture *f, int64_t k)
{
    return jy_sizes_const(&f->sizes, k);
}

static jy_sx
binary(struct fixture *f, enum jy_sx_op op, jy_sx a, jy_sx b)
{
    return jy_sizes_binary(&f->sizes, op, a, b);
}

static void
check_text(struct fixture *f, jy_sx e, const char *expected)
{
    struct jy_text text = { 0 };
    jy_sizes_print(&text, &f->sizes, e);
    CHECK_STR(text.at, expected);
    const char *at = text.at;
    jy_sx again = UINT32_MAX;
    CHECK(jy_sizes_parse(&again, &f->sizes, &at));
    CHECK_STR(at, "");
    CHECK_UINT(again, e);
    jy_text_free(&text);
}

TEST(sizes, zero_and_one_have_their_indices)
{
    struct fixture f = set_up();
    CHECK_UINT(constant(&f, 0), 0);
    CHECK_UINT(constant(&f, 1), 1);
    jy_arena_free(f.arena);
}

TEST(sizes, equal_expressions_are_one)
{
    struct fixture f = set_up();
    CHECK_UINT(binary(&f, JY_SX_ADD, f.a, f.b), binary(&f, JY_SX_ADD, f.b, f.a));
    CHECK_UINT(binary(&f, JY_SX_MUL, constant(&f, 3), f.b), binary(&f, JY_SX_MUL, f.b, constant(&f, 3)));
    CHECK(binary(&f, JY_SX_SUB, f.a, f.b) != binary(&f, JY_SX_SUB, f.b, f.a));
    jy_arena_free(f.arena);
}

TEST(sizes, identities_and_constants_fold)
{
    struct fixture f = set_up();
    CHECK_UINT(binary(&f, JY_SX_ADD, f.a, 0), f.a);
    CHECK_UINT(binary(&f, JY_SX_SUB, f.a, f.a), 0);
    CHECK_UINT(binary(&f, JY_SX_MUL, 1, f.a), f.a);
    CHECK_UINT(binary(&f, JY_SX_MUL, f.a, 0), 0);
    CHECK_UINT(binary(&f, JY_SX_FLOORDIV, f.a, 1), f.a);
    CHECK_UINT(binary(&f, JY_SX_MOD, f.a, 1), 0);
    CHECK_UINT(binary(&f, JY_SX_MIN, f.a, f.a), f.a);
    CHECK_UINT(binary(&f, JY_SX_FLOORDIV, constant(&f, -7), constant(&f, 2)), constant(&f, -4));
    CHECK_UINT(binary(&f, JY_SX_MOD, constant(&f, -7), constant(&f, 2)), 1);
    CHECK_UINT(binary(&f, JY_SX_MOD, constant(&f, 7), constant(&f, -2)), constant(&f, -1));
    jy_arena_free(f.arena);
}

TEST(sizes, constants_of_sums_are_joined)
{
    struct fixture f = set_up();
    jy_sx a2 = binary(&f, JY_SX_ADD, f.a, constant(&f, 2)), m5 = binary(&f, JY_SX_SUB, a2, constant(&f, 5));
    check_text(&f, a2, "(s0+2)");
    check_text(&f, m5, "(s0-3)");
    check_text(&f, binary(&f, JY_SX_SUB, m5, constant(&f, 4)), "(s0-7)");
    CHECK_UINT(binary(&f, JY_SX_ADD, m5, constant(&f, 3)), f.a);
    CHECK_UINT(binary(&f, JY_SX_ADD, f.a, constant(&f, -3)), m5);
    jy_arena_free(f.arena);
}

TEST(sizes, overflow_of_constants_stays_and_fails_when_evaluated)
{
    struct fixture f = set_up();
    jy_sx big = constant(&f, INT64_MAX), sum = binary(&f, JY_SX_ADD, big, 1);
    int64_t value;
    CHECK(!jy_sizes_is_const(&f.sizes, sum, NULL));
    CHECK(!jy_sizes_eval(&value, &f.sizes, sum, NULL));
    CHECK(!jy_sizes_eval(&value, &f.sizes, binary(&f, JY_SX_FLOORDIV, f.a, 0), NULL));
    CHECK(
        !jy_sizes_eval(&value, &f.sizes, binary(&f, JY_SX_FLOORDIV, constant(&f, INT64_MIN), constant(&f, -1)), NULL));
    check_text(&f, binary(&f, JY_SX_SUB, f.a, constant(&f, INT64_MIN)), "(s0--9223372036854775808)");
    jy_arena_free(f.arena);
}

TEST(sizes, merged_symbols_are_the_same)
{
    struct fixture f = set_up();
    jy_sx left = binary(&f, JY_SX_MUL, f.a, constant(&f, 2)), right = binary(&f, JY_SX_MUL, f.b, constant(&f, 2));
    CHECK(!jy_sizes_same(&f.sizes, left, right));
    jy_sizes_merge(&f.sizes, 1, 0);
    CHECK(jy_sizes_same(&f.sizes, left, right));
    CHECK_UINT(jy_sizes_canonical(&f.sizes, right), left);
    CHECK_UINT(jy_sizes_canonical(&f.sizes, binary(&f, JY_SX_SUB, f.a, f.b)), 0);
    jy_arena_free(f.arena);
}

TEST(sizes, evaluates_under_values_and_hints)
{
    struct fixture f = set_up();
    jy_sx e = binary(&f, JY_SX_MAX, binary(&f, JY_SX_FLOORDIV, binary(&f, JY_SX_SUB, f.b, f.a), constant(&f, 2)), f.b);
    int64_t value;
    CHECK_INT(jy_sizes_hint(&f.sizes, e), 3);
    CHECK(jy_sizes_eval(&value, &f.sizes, e, (int64_t[]){ -9, 0 }));
    CHECK_INT(value, 4);
    check_text(&f, e, "max(s1,((s1-s0)//2))");
    jy_arena_free(f.arena);
}

TEST(sizes, bad_text_is_refused)
{
    static const char *const bad[] = { "",        "s",    "s2", "(s0+s1", "(s0^s1)", "99999999999999999999",
                                       "min(s0)", "(s0)", "-" };
    struct fixture f = set_up();
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        const char *at = bad[i];
        jy_sx e;
        CHECK(!jy_sizes_parse(&e, &f.sizes, &at));
    }
    char deep[1001] = { 0 };
    for (int i = 0; i < 1000; i++)
        deep[i] = '(';
    const char *at = deep;
    jy_sx e;
    CHECK(!jy_sizes_parse(&e, &f.sizes, &at));
    jy_arena_free(f.arena);
}
