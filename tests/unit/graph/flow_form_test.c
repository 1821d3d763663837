/* Linear forms, and the test in front of a loop that is made of them: it may say no too often, but yes only where everything holds. */
#include "graph/flow_range.h"
#include "tests/unit/graph/flow_case.h"

static struct jy_form
form(int64_t x, int64_t y, int64_t constant)
{
    return (struct jy_form){ 2, { { 0, x }, { 1, y } }, constant };
}

TEST(flow_form, sums)
{
    struct jy_form out, a = form(2, -3, 7), b = form(1, 3, -4);
    CHECK(jy_form_add(&out, &a, &b, 2));
    CHECK_UINT(out.n, 2);
    CHECK_INT(out.term[0].factor, 4);
    CHECK_INT(out.term[1].factor, 3);
    CHECK_INT(out.constant, -1);
    CHECK(jy_form_add(&out, &a, &b, 1)); /* a base that is gone */
    CHECK_UINT(out.n, 1);
    CHECK_UINT(out.term[0].base, 0);
    CHECK(jy_form_equal(&a, &a));
    CHECK(!jy_form_equal(&a, &b));
    struct jy_form other = form(2, -3, 8);
    CHECK(!jy_form_equal(&a, &other));
}

/* Beyond these limits a form could not be computed in 64 bits. */
TEST(flow_form, limits)
{
    const int64_t most = JY_FORM_MOST_CONSTANT;
    struct jy_form out, x = jy_form_base(0), one = jy_form_constant(1), top = jy_form_constant(most);
    struct jy_form bottom = jy_form_constant(-most);
    CHECK(!jy_form_add(&out, &top, &one, 1));
    CHECK(!jy_form_add(&out, &bottom, &one, -1));
    CHECK(jy_form_add(&out, &bottom, &one, 1));
    CHECK(!jy_form_add(&out, &one, &top, 16)); /* the product does not fit in 64 bits */
    CHECK(jy_form_add(&out, &one, &x, JY_FORM_MOST_FACTOR));
    CHECK(!jy_form_add(&out, &one, &x, JY_FORM_MOST_FACTOR + 1));
    CHECK(!jy_form_add(&out, &x, &x, JY_FORM_MOST_FACTOR));
    struct jy_form wide = form(JY_FORM_MOST_FACTOR / 2, -JY_FORM_MOST_FACTOR / 2, 0);
    CHECK(!jy_form_add(&out, &wide, &x, 1)); /* together */
    CHECK(jy_form_add(&out, &wide, &x, -1));
    struct jy_form many = { 0 };
    for (jy_fv base = 0; base < JY_FORM_TERMS; base++) {
        struct jy_form more = jy_form_base(base);
        CHECK(jy_form_add(&many, &many, &more, 1));
    }
    struct jy_form more = jy_form_base(JY_FORM_TERMS);
    CHECK(!jy_form_add(&out, &many, &more, 1));
}

/* A flow of two numbers, %0 and %1, and an extent, %2, whose entry is what stands in front of the loop. */
struct front {
    struct jy_arena *arena;
    struct jy_flow *w;
    struct jy_flow_shape shape;
    struct jy_counted c;
};

static void
front_begin(struct front *f)
{
    *f = (struct front){ .arena = jy_arena_new() };
    f->w = parse_flow(f->arena, "flow f :\n"
                                "  input 0 : i64 number 0 int64\n"
                                "  input 1 : i64 number 1 int64\n"
                                "  input 2 : i64 extent 2.0\n"
                                "  block 0 () :\n"
                                "    %0 = input[0] : i64\n"
                                "    %1 = input[1] : i64\n"
                                "    %2 = input[2] : i64\n"
                                "    exit 0\n"
                                "  exit 0 return at 1 ()\n");
    f->c = (struct jy_counted){ .w = f->w, .shape = &f->shape };
    jy_flow_shape_fill(&f->shape, f->w);
    jy_flow_bounds_init(&f->c.bounds, f->w, &f->shape);
}

static int64_t
front_say(struct front *f, jy_fv value, int64_t x, int64_t y, int64_t n)
{
    union jy_scalar in[] = { { .i = x }, { .i = y }, { .i = n } }, out[1];
    f->w->w_exits.at[0].x_values.n = 0;
    *jy_vec_push(f->arena, &f->w->w_exits.at[0].x_values) = value;
    CHECK_INT(jy_flow_eval(f->w, &(struct jy_flow_call){ .in = in, .out = out }), 0);
    return out[0].i;
}

TEST(flow_form, are_computed_in_front)
{
    struct front f;
    front_begin(&f);
    struct jy_form a = form(3, -1, 5), constant = jy_form_constant(-9);
    CHECK_INT(front_say(&f, jy_form_emit(&f.c, &a), 10, 4, 0), 31);
    CHECK_INT(front_say(&f, jy_form_emit(&f.c, &constant), 10, 4, 0), -9);
    struct jy_form itself = jy_form_base(1);
    CHECK_UINT(jy_form_emit(&f.c, &itself), 1);
    jy_arena_free(f.arena);
}

/* 2x - y + 3 <= n: where the bases are small enough to be asked, exactly; where they are not, no. */
TEST(flow_form, the_test_says_yes_only_where_it_holds)
{
    static const int64_t at[] = { 0,
                                  1,
                                  -1,
                                  7,
                                  1000,
                                  -1000,
                                  (INT64_C(1) << 45) - 1,
                                  INT64_C(1) << 45,
                                  -(INT64_C(1) << 45),
                                  -(INT64_C(1) << 45) - 1,
                                  INT64_C(1) << 62,
                                  INT64_MAX,
                                  INT64_MIN };
    static const int64_t extents[] = { 0, 5, 2001, JY_FLOW_MOST_EXTENT };
    struct front f;
    front_begin(&f);
    struct jy_form left = form(2, -1, 0), right = jy_form_base(2);
    CHECK(jy_range_need_le(&f.c, &left, 3, &right));
    CHECK(jy_range_need_le(&f.c, &left, 3, &right)); /* said once */
    CHECK(jy_range_need_le(&f.c, &left, 1, &right)); /* follows */
    CHECK_UINT(f.c.conditions.n, 2);
    jy_fv test = jy_range_test(&f.c);
    for (size_t i = 0; i < 13; i++)
        for (size_t j = 0; j < 13; j++)
            for (size_t k = 0; k < 4; k++) {
                __int128 bound = INT64_C(1) << 45, x = at[i], y = at[j];
                bool small = x >= -bound && x < bound && y >= -bound && y < bound;
                CHECK_INT(front_say(&f, test, at[i], at[j], extents[k]), small && 2 * x - y + 3 <= extents[k]);
            }
    CHECK_UINT(count_op(f.w, JY_FLOW_LT), 1); /* for both conditions */
    jy_arena_free(f.arena);
}

/* Constants are compared at once; what extents say by themselves is not asked; a form that cannot be said is not needed but unknown. */
TEST(flow_form, what_is_not_asked)
{
    struct front f;
    front_begin(&f);
    struct jy_form four = jy_form_constant(4), five = jy_form_constant(5), extent = jy_form_base(2),
                   zero = jy_form_constant(0);
    struct jy_form most = jy_form_constant(JY_FORM_MOST_CONSTANT);
    CHECK(jy_range_need_le(&f.c, &four, 1, &five));
    CHECK(!jy_range_need_le(&f.c, &four, 2, &five));
    CHECK(!jy_range_need_le(&f.c, &most, 1, &zero));
    CHECK_UINT(f.c.conditions.n, 0);
    CHECK(jy_range_need_le(&f.c, &zero, 0, &extent)); /* of an extent: never false */
    jy_fv test = jy_range_test(&f.c);
    CHECK_UINT(jy_flow_at(f.w, test)->f_op, JY_FLOW_CONST);
    CHECK_INT(jy_flow_at(f.w, test)->f_value.i, 1);
    CHECK(jy_range_need_le(&f.c, &extent, 0, &four)); /* may be false */
    CHECK(jy_flow_at(f.w, jy_range_test(&f.c))->f_op != JY_FLOW_CONST);
    jy_arena_free(f.arena);
}

/* The minimum of two is at most each of them: x <= min(x, n) + ... is asked, min(x, n) <= n is not. */
TEST(flow_form, a_minimum_is_at_most_each_of_the_two)
{
    struct front f;
    front_begin(&f);
    jy_fv least = jy_front_op(&f.c, JY_FLOW_MIN, JY_F_I64, 0, 2);
    struct jy_form x = jy_form_base(0), n = jy_form_base(2), min = jy_form_base(least), zero = jy_form_constant(0);
    *jy_vec_push(f.arena, &f.c.derived) = (struct jy_derived){ .base = least, .from = { x, n }, .nfrom = 2 };
    jy_range_need(&f.c, &min);
    CHECK_UINT(f.c.small.n, 3); /* and what it is made of */
    CHECK(jy_range_need_le(&f.c, &min, 0, &n));
    jy_fv test = jy_range_test(&f.c);
    CHECK_INT(front_say(&f, test, 77, 0, 5), 1);
    CHECK_INT(front_say(&f, test, INT64_MIN, 0, 5), 0); /* not small */
    CHECK_UINT(count_op(f.w, JY_FLOW_LT), 0);
    CHECK(jy_range_need_le(&f.c, &zero, 0, &min)); /* the other way it says nothing */
    test = jy_range_test(&f.c);
    CHECK_INT(front_say(&f, test, -1, 0, 5), 0);
    CHECK_INT(front_say(&f, test, 0, 0, 5), 1);
    jy_arena_free(f.arena);
}

/* What a derived base needs to be right is asked with it, once it is needed; facts and what always must hold are in the test, too. */
TEST(flow_form, conditions_of_bases_facts_and_what_always_holds)
{
    struct front f;
    front_begin(&f);
    jy_fv product = jy_front_op(&f.c, JY_FLOW_MUL, JY_F_I64, 0, 1);
    struct jy_form at_most = form(1, 0, -10), far = form(0, 1, 0);
    at_most.n = 1;
    struct jy_derived d = {
        .base = product, .from = { jy_form_base(0) }, .nfrom = 1, .condition = { at_most }, .nconditions = 1
    };
    *jy_vec_push(f.arena, &f.c.derived) = d;
    struct jy_form base = jy_form_base(product), hundred = jy_form_constant(100);
    CHECK(jy_range_need_le(&f.c, &base, 0, &hundred));
    far.term[0] = far.term[1];
    far.n = 1;
    *jy_vec_push(f.arena, &f.c.always) = far;
    *jy_vec_push(f.arena, &f.c.facts) = jy_front_op(&f.c, JY_FLOW_NE, JY_F_I1, 1, jy_front_const(&f.c, 3));
    jy_fv test = jy_range_test(&f.c);
    CHECK_INT(front_say(&f, test, 10, 10, 0), 1);
    CHECK_INT(front_say(&f, test, 11, 2, 0), 0);               /* the condition of the base */
    CHECK_INT(front_say(&f, test, 10, 11, 0), 0);              /* the condition itself */
    CHECK_INT(front_say(&f, test, 1, 3, 0), 0);                /* the fact */
    CHECK_INT(front_say(&f, test, 0, INT64_C(1) << 50, 0), 0); /* always small */
    jy_arena_free(f.arena);
}
