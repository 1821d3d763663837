#include "graph/base/arena.h"
#include "tests/unit/test.h"
#include <string.h>

TEST(arena, blocks_are_zeroed_aligned_and_apart)
{
    struct jy_arena *arena = jy_arena_new();
    char *blocks[200];
    for (size_t i = 0; i < 200; i++) {
        blocks[i] = jy_arena_alloc(arena, i + 1);
        CHECK_UINT((uintptr_t)blocks[i] % 16, 0);
        for (size_t k = 0; k <= i; k++)
            if (blocks[i][k] != 0)
                CHECK_INT(blocks[i][k], 0);
        memset(blocks[i], (int)i, i + 1);
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t k = 0; k <= i; k++)
            if (blocks[i][k] != (char)i)
                CHECK_INT(blocks[i][k], (char)i);
    jy_arena_free(arena);
}

TEST(arena, a_block_may_be_larger_than_a_chunk)
{
    struct jy_arena *arena = jy_arena_new();
    char *big = jy_arena_alloc(arena, 1 << 20);
    big[(1 << 20) - 1] = 7;
    CHECK(jy_arena_used(arena) >= 1 << 20);
    jy_arena_free(arena);
}

TEST(arena, exhaustion_jumps_to_the_guard)
{
    struct jy_arena *arena = jy_arena_new();
    volatile int reached = 0;
    if (setjmp(*jy_arena_guard(arena)) == 0)
        jy_arena_alloc(arena, SIZE_MAX - 3);
    else
        reached = 1;
    CHECK_INT(reached, 1);
    jy_arena_free(arena);
}

TEST(arena, printf_and_strdup_keep_text)
{
    struct jy_arena *arena = jy_arena_new();
    CHECK_STR(jy_arena_printf(arena, "%d-%s", 12, "x"), "12-x");
    CHECK_STR(jy_arena_strdup(arena, ""), "");
    jy_arena_free(arena);
}

TEST(arena, a_vector_grows_and_keeps_its_items)
{
    struct jy_arena *arena = jy_arena_new();
    struct {
        int *at;
        size_t n, cap;
    } v = { 0 };
    for (int i = 0; i < 1000; i++)
        *jy_vec_push(arena, &v) = i * i;
    CHECK_UINT(v.n, 1000);
    CHECK_INT(v.at[31], 961);
    CHECK_INT(v.at[999], 998001);
    jy_arena_free(arena);
}
