/* The orders themselves are compared with NumPy by the differential tests; here: the rule on small cases, and that every element comes once. */
#include "graph/reduce_order.h"
#include "tests/unit/test.h"
#include <stdio.h>
#include <stdlib.h>

/* Lengths of the first runs as text. */
static void
check_runs(size_t ndim, const int64_t *extents, const int64_t *strides, uint32_t axes, int64_t chunk,
           const char *expected)
{
    char text[64] = "";
    size_t n = 0;
    struct jy_reduce_order o;
    jy_reduce_order_begin(&o, ndim, extents, strides, axes, 8, chunk);
    while (jy_reduce_order_next(&o) && n < 40)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%ld%s", n == 0 ? "" : " ", (long)o.n, o.folds ? "" : "k");
    CHECK_STR(text, expected);
}

TEST(reduce_order, one_axis)
{
    check_runs(1, (int64_t[]){ 20000 }, (int64_t[]){ 8 }, 1, INT64_MAX, "20000");
    check_runs(1, (int64_t[]){ 20000 }, (int64_t[]){ -16 }, 1, INT64_MAX, "20000");
    check_runs(1, (int64_t[]){ 20000 }, (int64_t[]){ 8 }, 1, 8192, "8192 8192 3616");
    check_runs(1, (int64_t[]){ 0 }, (int64_t[]){ 8 }, 1, INT64_MAX, "");
}

TEST(reduce_order, two_axes)
{
    check_runs(2, (int64_t[]){ 3, 100 }, (int64_t[]){ 800, 8 }, 3, INT64_MAX, "300");         /* joined */
    check_runs(2, (int64_t[]){ 3, 100 }, (int64_t[]){ 800, 8 }, 2, INT64_MAX, "100 100 100"); /* row by row */
    check_runs(2, (int64_t[]){ 3, 4 }, (int64_t[]){ 32, 8 }, 1, INT64_MAX, "4k 4k 4k"); /* rows added to the result */
    check_runs(2, (int64_t[]){ 3, 4 }, (int64_t[]){ 8, 24 }, 1, INT64_MAX, "3 3 3 3");  /* F order: columns are runs */
    check_runs(2, (int64_t[]){ 3, 9000 }, (int64_t[]){ 72000, 8 }, 2, 8192, "8192 808 8192 808 8192 808");
}

TEST(reduce_order, rows_that_do_not_join_are_copied_together)
{
    struct jy_reduce_order o;
    check_runs(2, (int64_t[]){ 3, 5 }, (int64_t[]){ 64, 8 }, 3, INT64_MAX, "15");
    jy_reduce_order_begin(&o, 2, (int64_t[]){ 3, 5 }, (int64_t[]){ 64, 8 }, 3, 8, INT64_MAX);
    CHECK(jy_reduce_order_next(&o) && o.gathered);
    check_runs(2, (int64_t[]){ 2000, 5 }, (int64_t[]){ 64, 8 }, 3, INT64_MAX,
               "8190 1810"); /* whole rows in a buffer of 8192 */
}

static void
check_covers(size_t ndim, const int64_t *extents, const int64_t *strides, uint32_t axes, int64_t chunk)
{
    int64_t total = 1, results = 1, in, out;
    for (size_t d = 0; d < ndim; d++) {
        total *= extents[d];
        results *= axes >> d & 1 ? 1 : extents[d];
    }
    uint8_t *seen = calloc((size_t)total, 1);
    int64_t *per_result = calloc((size_t)results, sizeof(*per_result));
    struct jy_reduce_order o;
    jy_reduce_order_begin(&o, ndim, extents, strides, axes, 8, chunk);
    while (jy_reduce_order_next(&o)) {
        int64_t first = -1;
        for (int64_t i = 0; i < o.n; i++) {
            jy_reduce_order_place(&in, &out, &o, o.start + i);
            first = i == 0 ? out : first;
            CHECK(!o.folds || out == first);
            per_result[out]++;
            seen[o.start + i]++;
        }
    }
    for (int64_t i = 0; i < total; i++)
        CHECK_INT(seen[i], 1);
    for (int64_t i = 0; i < results; i++)
        CHECK_INT(per_result[i], total / results);
    free(seen);
    free(per_result);
}

TEST(reduce_order, every_element_comes_once)
{
    for (uint32_t axes = 0; axes < 8; axes++)
        for (int old = 0; old < 2; old++) {
            int64_t chunk = old ? 16 : INT64_MAX;
            check_covers(3, (int64_t[]){ 3, 5, 7 }, (int64_t[]){ 280, 56, 8 }, axes, chunk);
            check_covers(3, (int64_t[]){ 3, 5, 7 }, (int64_t[]){ 8, 24, 120 }, axes, chunk);
            check_covers(3, (int64_t[]){ 3, 1, 7 }, (int64_t[]){ -1000, 0, 16 }, axes, chunk);
            check_covers(3, (int64_t[]){ 4, 5, 6 }, (int64_t[]){ 0, 8, 400 }, axes, chunk);
        }
}
