#include "graph/base/index.h"
#include "tests/unit/test.h"

/* How often the position is found under the hash; `others`: what else is. */
static size_t
find(const struct jy_index *ix, uint32_t hash, uint32_t position, size_t *others)
{
    struct jy_index_probe probe = { 0 };
    size_t n = 0;
    *others = 0;
    for (uint32_t at = jy_index_first(ix, &probe, hash); at != JY_INDEX_END; at = jy_index_next(ix, &probe)) {
        n += at == position;
        *others += at != position;
    }
    return n;
}

TEST(index, nothing_is_found_in_an_empty_one)
{
    struct jy_index ix = { 0 };
    size_t others;
    CHECK_UINT(find(&ix, 0, 0, &others), 0);
    CHECK_UINT(others, 0);
}

TEST(index, keeps_all_positions_while_it_grows)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_index ix = { 0 };
    size_t others, found = 0, wrong = 0;
    for (uint32_t k = 0; k < 1000; k++)
        jy_index_add(arena, &ix, jy_index_mix(7, k), k);
    for (uint32_t k = 0; k < 1000; k++) {
        found += find(&ix, jy_index_mix(7, k), k, &others);
        wrong += others;
    }
    CHECK_UINT(found, 1000);
    CHECK_UINT(wrong, 0);
    CHECK(2 * ix.n <= ix.cap);
    jy_arena_free(arena);
}

/* Hashes that share their low bits stand in each other's way, also round the end of the table. */
TEST(index, tells_hashes_apart_that_begin_in_one_slot)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_index ix = { 0 };
    size_t others;
    for (uint32_t k = 0; k < 8; k++)
        jy_index_add(arena, &ix, 31 + 32 * (k % 4), k);
    CHECK_UINT(ix.cap, 32);
    for (uint32_t k = 0; k < 8; k++) {
        CHECK_UINT(find(&ix, 31 + 32 * (k % 4), k, &others), 1);
        CHECK_UINT(others, 1); /* of the same hash */
    }
    CHECK_UINT(find(&ix, 31 + 32 * 4, 0, &others) + others, 0);
    CHECK_UINT(find(&ix, 0, 0, &others) + others, 0); /* the slot is taken, by another hash */
    jy_arena_free(arena);
}

TEST(index, positions_of_one_hash_are_all_given_and_0_is_one)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_index ix = { 0 };
    size_t others;
    for (uint32_t k = 0; k < 100; k++)
        jy_index_add(arena, &ix, 5, k);
    CHECK_UINT(find(&ix, 5, 0, &others), 1);
    CHECK_UINT(others, 99);
    jy_arena_free(arena);
}

TEST(index, mixing_depends_on_both_and_spreads_what_stands_side_by_side)
{
    uint32_t seen = 0;
    for (uint32_t k = 0; k < 64; k++)
        seen |= UINT32_C(1) << (jy_index_mix(0, k) & 31);
    CHECK(__builtin_popcount(seen) > 20);
    CHECK(jy_index_mix(1, 2) != jy_index_mix(2, 2));
    CHECK(jy_index_mix(1, 2) != jy_index_mix(1, UINT64_C(1) << 40 | 2));
}
