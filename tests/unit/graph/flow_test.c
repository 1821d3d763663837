/* The builders of flows: where things come to stand, what is made once, what folds. */
#include "tests/unit/graph/flow_case.h"
#include <string.h>

TEST(flow, is_built_as_it_is_printed)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = jy_flow_new(arena, "f");
    struct jy_flow_input in = number_input(JY_F_I64, 1), array = number_input(JY_F_PTR, 0);
    jy_fb head = jy_flow_block(w), body = jy_flow_block(w), end = jy_flow_block(w);
    jy_fv zero = jy_flow_const(w, 0, JY_F_I64, int_of(0));
    jy_flow_jump(w, 0, head, 1, &zero);
    jy_fv i = jy_flow_param(w, head, JY_F_I64);
    jy_fv n = jy_flow_input(w, &in), a = jy_flow_input(w, &array);
    struct jy_flow_exit leave = { .x_kind = JY_EXIT_CHECK, .x_what = "int overflow", .x_offset = 12, .x_line = 4 };
    *jy_vec_push(arena, &leave.x_values) = i;
    uint32_t overflow = jy_flow_exit_add(w, &leave);
    leave.x_kind = JY_EXIT_STOP;
    leave.x_what = NULL;
    uint32_t done = jy_flow_exit_add(w, &leave);
    jy_fv below = jy_flow_op(w, head, JY_FLOW_LT, JY_F_I1, 2, (jy_fv[]){ i, n }, JY_NO_EXIT);
    jy_flow_branch(w, head, below, body, 0, NULL, end, 0, NULL);
    w->w_line = 4;
    w->w_nalias = 1;
    w->w_alias = JY_NEW_ARRAY(arena, uint32_t, 1);
    w->w_alias_written = JY_NEW_ARRAY(arena, bool, 1);
    jy_fv x = jy_flow_load(w, body, JY_F_I64, a, i, -8, 1);
    jy_flow_store(w, body, a, i, 0, x, 1);
    jy_fv next = jy_flow_op(w, body, JY_FLOW_ADD, JY_F_I64, 2, (jy_fv[]){ i, x }, overflow);
    jy_flow_jump(w, body, head, 1, &next);
    jy_flow_leave(w, end, done);
    CHECK_STR(jy_flow_verify(w) == NULL ? "" : jy_flow_verify(w), "");
    check_flow_text(w, "flow f :\n"
                       "  input 0 : i64 number 1 int64\n"
                       "  input 1 : ptr object 0\n"
                       "  alias 1 : input 0 written\n"
                       "  block 0 () :\n"
                       "    %2 = input[0] : i64\n"
                       "    %3 = input[1] : ptr\n"
                       "    %0 = const[0] : i64\n"
                       "    jump 1 (%0)\n"
                       "  block 1 (%1 : i64) :\n"
                       "    %4 = lt %1, %2 : i1\n"
                       "    branch %4 ? 2 () : 3 ()\n"
                       "  block 2 () :\n"
                       "    %5 = load[-8] %3, %1 alias 1 : i64 @4\n"
                       "    store[0] %3, %1, %5 alias 1 @4\n"
                       "    %7 = add %1, %5 exit 0 : i64 @4\n"
                       "    jump 1 (%7)\n"
                       "  block 3 () :\n"
                       "    exit 1\n"
                       "  exit 0 check \"int overflow\" at 12 @4 (%1)\n"
                       "  exit 1 stop at 12 @4 (%1)\n");
    jy_arena_free(arena);
}

TEST(flow, makes_inputs_constants_and_helpers_once)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = jy_flow_new(arena, "f");
    struct jy_flow_input x = { .kind = JY_FLOW_IN_EXTENT, .type = JY_F_I64, .number = 3 }, y = x;
    y.axis = 1;
    jy_fv first = jy_flow_input(w, &x);
    CHECK(jy_flow_input(w, &y) != first);
    CHECK_UINT(jy_flow_input(w, &x), first);
    jy_fb other = jy_flow_block(w);
    jy_fv zero = jy_flow_const(w, 0, JY_F_F64, f64_of(0.0));
    CHECK_UINT(jy_flow_const(w, 0, JY_F_F64, f64_of(0.0)), zero);
    CHECK(jy_flow_const(w, 0, JY_F_F64, f64_of(-0.0)) != zero);
    CHECK(jy_flow_const(w, 0, JY_F_I64, int_of(0)) != zero);
    CHECK(jy_flow_const(w, other, JY_F_F64, f64_of(0.0)) != zero);
    struct jy_flow_helper sine = { .name = "sin", .type = JY_F_F64, .nargs = 1, .args = { JY_F_F64 }, .pure = true };
    struct jy_flow_helper cosine = sine;
    cosine.name = "cos";
    CHECK_UINT(jy_flow_helper_add(w, &sine), 0);
    CHECK_UINT(jy_flow_helper_add(w, &cosine), 1);
    CHECK_UINT(jy_flow_helper_add(w, &sine), 0);
    jy_fv result = jy_flow_ask(w, 0, 1, 1, &zero, JY_NO_EXIT);
    CHECK_UINT(jy_flow_at(w, result)->f_type, JY_F_F64);
    CHECK_UINT(jy_flow_at(w, result)->f_index, 1);
    jy_arena_free(arena);
}

static bool
is_const(const struct jy_flow *w, jy_fv v, int64_t i)
{
    return v != JY_NO_FV && jy_flow_at(w, v)->f_op == JY_FLOW_CONST && jy_flow_at(w, v)->f_value.i == i;
}

TEST(flow, folds_what_loses_nothing)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = jy_flow_new(arena, "f");
    uint32_t exit = jy_flow_exit_add(w, &(struct jy_flow_exit){ .x_kind = JY_EXIT_CHECK });
    jy_fv two = jy_flow_const(w, 0, JY_F_I64, int_of(2)), zero = jy_flow_const(w, 0, JY_F_I64, int_of(0));
    jy_fv most = jy_flow_const(w, 0, JY_F_I64, int_of(INT64_MAX)), yes = jy_flow_const(w, 0, JY_F_I1, int_of(1));
    jy_fv no = jy_flow_const(w, 0, JY_F_I1, int_of(0)), x = jy_flow_const(w, 0, JY_F_F64, f64_of(1.0));
    struct jy_flow_input in = number_input(JY_F_I64, 0);
    jy_fv n = jy_flow_input(w, &in);
    CHECK(is_const(w, jy_flow_op(w, 0, JY_FLOW_ADD, JY_F_I64, 2, (jy_fv[]){ two, two }, exit), 4));
    CHECK(is_const(w, jy_flow_op(w, 0, JY_FLOW_LT, JY_F_I1, 2, (jy_fv[]){ zero, two }, JY_NO_EXIT), 1));
    CHECK_UINT(jy_flow_op(w, 0, JY_FLOW_CHECK, JY_F_NONE, 1, &yes, exit), JY_NO_FV);
    CHECK_UINT(jy_flow_op(w, 0, JY_FLOW_SELECT, JY_F_I64, 3, (jy_fv[]){ no, two, n }, JY_NO_EXIT), n);
    /* not these: the exit is taken, nobody promised anything, a flag may come up */
    CHECK(jy_flow_op(w, 0, JY_FLOW_CHECK, JY_F_NONE, 1, &no, exit) != JY_NO_FV);
    CHECK_UINT(jy_flow_at(w, jy_flow_op(w, 0, JY_FLOW_ADD, JY_F_I64, 2, (jy_fv[]){ most, two }, exit))->f_op,
               JY_FLOW_ADD);
    CHECK_UINT(jy_flow_at(w, jy_flow_op(w, 0, JY_FLOW_FLOORDIV, JY_F_I64, 2, (jy_fv[]){ two, zero }, JY_NO_EXIT))->f_op,
               JY_FLOW_FLOORDIV);
    CHECK_UINT(jy_flow_at(w, jy_flow_op(w, 0, JY_FLOW_ADD, JY_F_F64, 2, (jy_fv[]){ x, x }, JY_NO_EXIT))->f_op,
               JY_FLOW_ADD);
    CHECK_UINT(jy_flow_at(w, jy_flow_op(w, 0, JY_FLOW_ADD, JY_F_I64, 2, (jy_fv[]){ n, zero }, exit))->f_op,
               JY_FLOW_ADD);
    jy_arena_free(arena);
}

TEST(flow, knows_the_bytes_of_types)
{
    CHECK_UINT(jy_flow_type_bytes(JY_F_I1), 1);
    CHECK_UINT(jy_flow_type_bytes(JY_F_I16), 2);
    CHECK_UINT(jy_flow_type_bytes(JY_F_F32), 4);
    CHECK_UINT(jy_flow_type_bytes(JY_F_PTR), sizeof(void *));
}
