/* Slots of what exits name, and that gathering puts it in the exit's order again. */
#include "tests/unit/graph/flow_case.h"

TEST(flow_slots, one_per_value_and_none_for_what_is_known)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, "flow f :\n"
                                          "  input 0 : i64 number 0 int64\n"
                                          "  block 0 () :\n"
                                          "    %0 = input[0] : i64\n"
                                          "    %1 = const[7] : i64\n"
                                          "    %2 = neg %0 : i64\n"
                                          "    %3 = add %2, %0 exit 0 : i64\n"
                                          "    %4 = add %3, %0 : i64\n"
                                          "    exit 1\n"
                                          "  exit 0 check at 5 (%2, %0)\n"
                                          "  exit 1 return at 6 (%1, %3, %0, %2, %3)\n");
    uint32_t slot[5];
    CHECK_UINT(jy_flow_slots(w, slot), 2);
    CHECK_BYTES(slot, ((uint32_t[]){ JY_NO_SLOT, JY_NO_SLOT, 0, 1, JY_NO_SLOT }), sizeof slot);
    union jy_scalar in = { .i = 40 }, machine[] = { { .i = 20 }, { .i = 30 } }, out[5];
    jy_flow_gather(out, w, 1, slot, &(struct jy_flow_call){ .in = &in, .out = machine });
    static const int64_t expected[] = { 7, 30, 40, 20, 30 };
    for (size_t k = 0; k < 5; k++)
        CHECK_INT(out[k].i, expected[k]);
    jy_arena_free(arena);
}

/* Arguments of a function do not stand in call->in, and what it returns goes in a register. Its other inputs stand behind the root's. */
TEST(flow_slots, of_a_function)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *root = jy_flow_new(arena, "root"), *w = jy_flow_function(root, "callee");
    struct jy_flow_input number = number_input(JY_F_I64, 3), argument = { .kind = JY_FLOW_IN_ARG, .type = JY_F_I64 };
    jy_flow_input(root, &number);
    number.number = 4;
    jy_fv x = jy_flow_input(w, &argument), y = jy_flow_input(w, &number);
    jy_fv sum = jy_flow_op(w, 0, JY_FLOW_ADD, JY_F_I64, 2, (jy_fv[]){ x, y }, JY_NO_EXIT);
    struct jy_flow_exit returns = { .x_kind = JY_EXIT_RETURN }, stops = { .x_kind = JY_EXIT_STOP };
    *jy_vec_push(arena, &returns.x_values) = sum;
    *jy_vec_push(arena, &stops.x_values) = y;
    *jy_vec_push(arena, &stops.x_values) = x;
    jy_flow_exit_add(w, &returns);
    jy_flow_exit_add(w, &stops);
    uint32_t slot[3];
    CHECK_UINT(jy_flow_slots(w, slot), 1);
    CHECK_UINT(slot[x], 0);
    CHECK_UINT(slot[y], JY_NO_SLOT);
    CHECK_UINT(slot[sum], JY_NO_SLOT);
    union jy_scalar in[] = { { .i = 1 }, { .i = 2 }, { .i = 3 } }, machine = { .i = 50 }, out[2];
    jy_flow_gather(out, w, 1, slot, &(struct jy_flow_call){ .in = in, .out = &machine });
    CHECK_INT(out[0].i, 3);
    CHECK_INT(out[1].i, 50);
    jy_arena_free(arena);
}

/* What is another one plus a constant is not stored where the exit names that one, or where it is an input. */
TEST(flow_slots, sums_with_a_constant)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, "flow f :\n"
                                          "  input 0 : i64 number 0 int64\n"
                                          "  block 0 () :\n"
                                          "    %0 = input[0] : i64\n"
                                          "    %1 = const[9223372036854775807] : i64\n"
                                          "    %2 = neg %0 : i64\n"
                                          "    %3 = add %1, %2 : i64\n"
                                          "    %4 = sub %3, %1 : i64\n"
                                          "    %5 = sub %0, %1 : i64\n"
                                          "    %6 = sub %1, %2 : i64\n"
                                          "    %7 = eq %2, %0 : i1\n"
                                          "    check %7 exit 0\n"
                                          "    check %7 exit 1\n"
                                          "    exit 2\n"
                                          "  exit 0 check at 5 (%4, %3, %2, %5)\n"
                                          "  exit 1 check at 5 (%4)\n"
                                          "  exit 2 return at 6 (%6, %2)\n");
    if (w != NULL) {
        uint32_t slot[10];
        CHECK_UINT(jy_flow_slots(w, slot), 3);
        CHECK_UINT(slot[3], JY_NO_SLOT);
        CHECK_UINT(slot[5], JY_NO_SLOT);
        union jy_scalar in = { .i = 40 }, machine[3] = { { 0 } }, out[4];
        machine[slot[2]].i = -40;
        machine[slot[4]].i = 77; /* of exit 1 alone */
        machine[slot[6]].i = INT64_MIN + 39;
        struct jy_flow_call call = { .in = &in, .out = machine };
        static const int64_t expected[] = { -40, INT64_MAX - 40, -40, 40 - INT64_MAX };
        jy_flow_gather(out, w, 0, slot, &call);
        for (size_t k = 0; k < 4; k++)
            CHECK_INT(out[k].i, expected[k]);
        jy_flow_gather(out, w, 1, slot, &call);
        CHECK_INT(out[0].i, 77);
        jy_flow_gather(out, w, 2, slot, &call);
        CHECK_INT(out[0].i, INT64_MIN + 39);
    }
    jy_arena_free(arena);
}
