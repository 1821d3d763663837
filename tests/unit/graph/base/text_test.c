#include "graph/base/text.h"
#include "tests/unit/test.h"
#include <string.h>

TEST(text, pieces_are_joined_and_end_with_a_zero)
{
    struct jy_text text = { 0 };
    jy_text_add(&text, "%s=%d", "a", 1);
    jy_text_put(&text, ", b", 3);
    jy_text_add(&text, "%s", "");
    CHECK_STR(text.at, "a=1, b");
    CHECK_UINT(text.n, 6);
    CHECK_INT(text.failed, 0);
    jy_text_free(&text);
    CHECK_PTR(text.at, NULL);
}

TEST(text, grows_over_many_pieces)
{
    struct jy_text text = { 0 };
    for (int i = 0; i < 5000; i++)
        jy_text_add(&text, "%04d", i);
    CHECK_UINT(text.n, 20000);
    CHECK_UINT(strlen(text.at), 20000);
    CHECK_STR(text.at + 19996, "4999");
    jy_text_free(&text);
}
