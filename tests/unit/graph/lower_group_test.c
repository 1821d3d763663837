/* Which nodes share a loop nest and in which order nests run; every case is run as well. */
#include "tests/unit/graph/lowering.h"

/* `loops`: of all kernels; `notes`: must be said, NULL for nothing. */
static void
check_groups(const char *source, size_t kernels, size_t loops, const char *note)
{
    struct lowered l;
    if (lower_begin(&l, source, NULL)) {
        size_t n = 0;
        for (size_t k = 0; k < l.plan->p_kernels.n; k++)
            n += count_statements(&l, k, JY_L_FOR);
        if (!CHECK_UINT(l.plan->p_kernels.n, kernels) || !CHECK_UINT(n, loops)) {
            struct jy_text text = { 0 };
            jy_plan_print(&text, l.plan);
            printf("%s", text.at);
            jy_text_free(&text);
        }
        if (note != NULL)
            CHECK(has_note(&l, note));
        CHECK_RUNS(&l, 2, 3, 17);
    }
    lower_end(&l);
}

TEST(lower_group, one_shape_is_one_nest)
{
    check_groups(VECTORS "  %2 = multiply(%0, %1) : float64[s0]\n"
                         "  %3 = absolute(%1) : float64[s0]\n"
                         "  %4 = add(%2, %3) : float64[s0]\n"
                         "  output (%2, %4)\n",
                 1, 1, "%4 fused with %2");
}

/* A value that is used with another shape is stored, not computed again for every element. */
TEST(lower_group, another_shape_is_another_nest)
{
    check_groups("graph f (s0=6, s1=4) :\n"
                 "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"
                 "  %1 = placeholder[1] : float64[s1] layout(0; contiguous)\n"
                 "  %2 = square(%1) : float64[s1]\n"
                 "  %3 = add(%0, %2) : float64[s0,s1]\n"
                 "  output (%3)\n",
                 1, 3, "%2 materialised");
}

/* The same shape in another order of axes is walked by loops of its own, each in the order of its memory. */
TEST(lower_group, another_memory_order_is_another_nest)
{
    check_lowered("graph f (s0=6, s1=4) :\n"
                  "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"
                  "  %1 = placeholder[1] : float64[s0,s1] layout(1,0; contiguous)\n"
                  "  %2 = negative(%0) : float64[s0,s1] layout(0,1; contiguous)\n"
                  "  %3 = negative(%1) : float64[s0,s1] layout(1,0; contiguous)\n"
                  "  output (%2, %3)\n",
                  "    for", "    for %1 < %0 vector:\n    for %5 < %0 vector:\n");
}

/* %2 could stand in the first nest, but its only reader comes after the sum. */
TEST(lower_group, a_value_waits_in_the_nest_of_its_reader)
{
    check_groups(VECTORS "  %2 = negative(%0) : float64[s0]\n"
                         "  %3 = absolute(%1) : float64[s0]\n"
                         "  %4 = sum[0](%3) : float64\n"
                         "  %5 = multiply(%2, %4) : float64[s0]\n"
                         "  output (%3, %5)\n",
                 1, 2, "%2 moved to the nest of its reader");
}

TEST(lower_group, nothing_moves_behind_a_store_to_what_it_reads)
{
    struct lowered l;
    if (lower_begin(&l,
                    VECTORS "  %2 = negative(%0) : float64[s0]\n"
                            "  %3 = constant[1.0] : float64\n"
                            "  %4 = full(%3) : float64[(s0-1)]\n"
                            "  %5 = store[j0](%0, %4) : float64[s0]\n"
                            "  %6 = sum[0](%1) : float64\n"
                            "  %7 = multiply(%2, %6) : float64[s0]\n"
                            "  output (%7)\n",
                    NULL)) {
        CHECK(!has_note(&l, "%2 moved"));
        CHECK_RUNS(&l, 1, 2, 17);
    }
    lower_end(&l);
}

TEST(lower_group, a_store_to_the_elements_read_shares_the_nest)
{
    check_groups(VECTORS "  %2 = add(%0, %1) : float64[s0]\n"
                         "  %3 = store(%0, %2) : float64[s0]\n"
                         "  output (%2)\n",
                 1, 1, "%3 fused with %2");
}

/* Elements that move by one would be overwritten before they are read. */
TEST(lower_group, a_store_to_other_elements_comes_after_all_reads)
{
    check_groups(VECTORS "  %2 = view[j0](%0) : float64[(s0-1)]\n"
                         "  %3 = negative(%2) : float64[(s0-1)]\n"
                         "  %4 = store[1+j0](%0, %3) : float64[s0]\n"
                         "  output (%3)\n",
                 1, 2, NULL);
    check_groups(VECTORS "  %2 = view[(s0-1)-j0](%0) : float64[s0]\n"
                         "  %3 = negative(%2) : float64[s0]\n"
                         "  %4 = store(%0, %3) : float64[s0]\n"
                         "  output ()\n",
                 1, 2, NULL);
}

TEST(lower_group, an_overlapping_copy_goes_through_a_temporary)
{
    check_groups(VECTORS "  %2 = view[j0](%0) : float64[(s0-1)]\n"
                         "  %3 = store[1+j0](%0, %2) : float64[s0]\n"
                         "  output ()\n",
                 1, 2, "%3 goes through a temporary: it reads other elements of what it writes");
}

/* The same elements through another view: no temporary. */
TEST(lower_group, a_copy_to_itself_needs_no_temporary)
{
    struct lowered l;
    if (lower_begin(&l,
                    VECTORS "  %2 = view[1+j0](%0) : float64[(s0-1)]\n"
                            "  %3 = store[1+j0](%0, %2) : float64[s0]\n"
                            "  output ()\n",
                    NULL)) {
        CHECK(!has_note(&l, "temporary"));
        CHECK_RUNS(&l, 1, 5);
    }
    lower_end(&l);
}

/* A later reader of an older version must not see the new one, also through a 0-d view that is read before the loops. */
TEST(lower_group, a_scalar_of_the_array_is_read_before_it_is_overwritten)
{
    check_groups(VECTORS "  %2 = view[0](%0) : float64[]\n"
                         "  %3 = subtract(%1, %2) : float64[s0]\n"
                         "  %4 = store(%0, %3) : float64[s0]\n"
                         "  %5 = view[0](%4) : float64[]\n"
                         "  %6 = add(%1, %5) : float64[s0]\n"
                         "  output (%6)\n",
                 1, 2, NULL);
}

/* A callable may look at everything: what is before it is done before it, what comes after is not moved before. */
TEST(lower_group, a_call_out_is_a_fence)
{
    struct lowered l;
    if (lower_begin(&l,
                    VECTORS "  %2 = negative(%0) : float64[s0]\n"
                            "  %3 = callout[3, 0](%1) : float64[s0]\n"
                            "  %4 = add(%0, %2) : float64[s0]\n"
                            "  output (%3, %4)\n",
                    NULL)) {
        CHECK_UINT(l.plan->p_kernels.n, 2);
        CHECK(l.plan->p_steps.n == 3 && l.plan->p_steps.at[1].s_kind == JY_STEP_CALLOUT);
        CHECK_UINT(count_statements(&l, 0, JY_L_OP), 1); /* %2 */
        CHECK_UINT(count_statements(&l, 1, JY_L_OP), 1); /* reads %0 when the callable has seen it */
        CHECK_RUNS(&l, 1, 17);
    }
    lower_end(&l);
}

/* A product in between splits kernels, but is no fence for what does not depend on it. */
TEST(lower_group, a_step_splits_kernels)
{
    check_groups("graph f (s0=6) :\n"
                 "  %0 = placeholder[0] : float64[s0,s0] layout(0,1; contiguous)\n"
                 "  %1 = negative(%0) : float64[s0,s0]\n"
                 "  %2 = matmul(%0, %1) : float64[s0,s0]\n"
                 "  %3 = absolute(%0) : float64[s0,s0]\n"
                 "  %4 = add(%2, %3) : float64[s0,s0]\n"
                 "  output (%4)\n",
                 2, 2, "%1 materialised: a view, a step or another nest reads it");
}

/* Folds are members of a nest over the result, which takes only what depends on them, and no calls; and they join no nest of others. */
TEST(lower_group, nests_with_folds_take_what_depends_on_them)
{
    check_groups("graph f (s0=6, s1=4) :\n"
                 "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"
                 "  %1 = placeholder[1] : float64[s0] layout(0; contiguous)\n"
                 "  %2 = absolute(%1) : float64[s0]\n"
                 "  %3 = sum[1](%0) : float64[s0]\n"
                 "  output (%2, %3)\n",
                 1, 2, NULL);
    check_groups("graph f (s0=6, s1=4) :\n"
                 "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"
                 "  %1 = placeholder[1] : float64[s0] layout(0; contiguous)\n"
                 "  %2 = sum[1](%0) : float64[s0]\n"
                 "  %3 = multiply(%2, %1) : float64[s0]\n"
                 "  output (%3)\n",
                 1, 1, "%3 fused with %2");
    check_groups("graph f (s0=6, s1=4) :\n"
                 "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"
                 "  %1 = placeholder[1] : float64[s0] layout(0; contiguous)\n"
                 "  %2 = sum[1](%0) : float64[s0]\n"
                 "  %3 = absolute(%1) : float64[s0]\n"
                 "  output (%2, %3)\n",
                 1, 2, NULL);
    check_groups("graph f (s0=6, s1=4) :\n"
                 "  %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous)\n"
                 "  %1 = sum[1](%0) : float64[s0]\n"
                 "  %2 = exp(%1) : float64[s0]\n"
                 "  output (%2)\n",
                 1, 1, "%1 materialised");
}
