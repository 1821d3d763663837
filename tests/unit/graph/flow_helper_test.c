/* The signatures of flow_helpers.def, as they are read. */
#include "graph/flow_helper.h"
#include "tests/unit/graph/flow_case.h"

TEST(flow_helper, signatures)
{
    struct jy_flow_helper h;
    CHECK(jy_flow_helper_row(&h, "pow"));
    CHECK(h.pure && !h.may_fail && !h.wants_call);
    CHECK_UINT(h.type, JY_F_F64);
    CHECK_UINT(h.nargs, 2);
    CHECK(jy_flow_helper_row(&h, "list_store_bool"));
    CHECK(!h.pure && h.may_fail && !h.wants_call);
    CHECK_UINT(h.type, JY_F_NONE);
    CHECK_BYTES(h.args, ((uint8_t[]){ JY_F_PTR, JY_F_I64, JY_F_I1, 0, 0, 0 }), 6);
    CHECK(jy_flow_helper_row(&h, "array_new"));
    CHECK(h.wants_call); /* its c is no argument */
    CHECK_UINT(h.nargs, 5);
    CHECK(jy_flow_helper_row(&h, "random_draw"));
    CHECK(!h.pure && !h.may_fail);
    CHECK(!jy_flow_helper_row(&h, "list_store"));
    CHECK(!jy_flow_helper_row(&h, "sinh "));
}

/* The letters behind the result and its mark. */
TEST(flow_helper, what_they_change)
{
    CHECK_STR(jy_flow_helper_changes("list_store_float"), "inc");
    CHECK_STR(jy_flow_helper_changes("random_draw"), "g");
    CHECK_STR(jy_flow_helper_changes("native_shrink"), "h");
    CHECK_STR(jy_flow_helper_changes("list_extend"), ""); /* anything */
    CHECK_STR(jy_flow_helper_changes("sin"), "");
    CHECK_STR(jy_flow_helper_changes("int_gcd"), "ou");
    CHECK_STR(jy_flow_helper_changes("no such row"), "");
}

TEST(flow_helper, which_take_as_long_as_a_list_is)
{
    CHECK(jy_flow_helper_is_long("list_find_int"));
    CHECK(jy_flow_helper_is_long("native_find_int")); /* it cannot fail, nor is it pure */
    CHECK(jy_flow_helper_is_long("vector_into"));
    CHECK(!jy_flow_helper_is_long("list_append_int"));
    CHECK(!jy_flow_helper_is_long("sin"));
    CHECK(!jy_flow_helper_is_long("no such row"));
    CHECK_STR(jy_flow_helper_changes("list_find_int"), "o");
    CHECK_STR(jy_flow_helper_changes("list_sort"), "lri");
}

TEST(flow_helper, who_needs_the_gil)
{
    static const char *const names[] = { "sin", "int_gcd", "float_round", "vector_block", "list_new" };
    for (size_t k = 0; k < 5; k++) {
        struct jy_flow_helper h;
        CHECK(jy_flow_helper_row(&h, names[k]));
        CHECK(jy_flow_helper_needs_no_gil(&h) == (k < 2));
    }
}

/* A flow knows its helpers by name, and jy_flow_helper has room for six arguments. */
TEST(flow_helper, every_row_is_sound)
{
#define HELPER(name, signature, function) { #name, signature },
    static const struct {
        const char *name, *signature;
    } rows[] = {
#include "graph/flow_helpers.def"
    };
#undef HELPER
    size_t n = sizeof rows / sizeof rows[0];
    for (size_t k = 0; k < n; k++) {
        const char *arrow = strchr(rows[k].signature, '>');
        size_t call = rows[k].signature[0] == 'c', nargs = (size_t)(arrow - rows[k].signature) - call;
        const char *mark = arrow + 2 + (arrow[2] == '!' || arrow[2] == '*');
        mark += *mark == '~';
        CHECK(nargs <= 6);
        CHECK_UINT(strspn(rows[k].signature + call, "ifbp"), nargs);
        CHECK(strchr("ifbpv", arrow[1]) != NULL && arrow[1] != '\0');
        CHECK_UINT(strspn(mark, "lrinchmtgou"), strlen(mark));
        for (size_t j = 0; j < k; j++)
            CHECK(strcmp(rows[j].name, rows[k].name) != 0);
    }
}
