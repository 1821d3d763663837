/* Every instruction on operands, at the ends of its range: with its exit and without, on inputs and (folded where that is allowed) on constants. */
#include "tests/unit/graph/flow_case.h"
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct row {
    enum jy_fop op;
    enum jy_ftype type, of; /* of the operands (SELECT: of the last two) */
    union jy_scalar x, y, z;
    bool leaves;            /* where it has an exit */
    union jy_scalar result; /* where it has none, or does not leave */
};

/* Exit 0 is the instruction's, exit 1 gives its value. */
static struct jy_flow *
build(struct jy_arena *arena, const struct row *r, bool constants, bool has_exit)
{
    struct jy_flow *w = jy_flow_new(arena, "f");
    union jy_scalar given[3] = { r->x, r->y, r->z };
    jy_fv args[3] = { 0, 0, 0 };
    size_t n = (size_t)jy_flow_op_info[r->op].nargs;
    for (size_t i = 0; i < n; i++) {
        enum jy_ftype type = r->op == JY_FLOW_SELECT && i == 0   ? JY_F_I1
                             : r->op == JY_FLOW_OFFSET && i == 1 ? JY_F_I64
                                                                 : r->of;
        struct jy_flow_input in = number_input(type, (uint32_t)i);
        args[i] = constants ? jy_flow_const(w, 0, type, given[i]) : jy_flow_input(w, &in);
    }
    jy_flow_exit_add(w, &(struct jy_flow_exit){ .x_kind = JY_EXIT_CHECK });
    jy_fv v = jy_flow_op(w, 0, r->op, r->type, n, args, has_exit ? 0 : JY_NO_EXIT);
    struct jy_flow_exit done = { .x_kind = JY_EXIT_STOP };
    if (r->type != JY_F_NONE)
        *jy_vec_push(arena, &done.x_values) = v;
    jy_flow_leave(w, 0, jy_flow_exit_add(w, &done));
    return w;
}

static void
check_run(const struct row *r, bool constants, bool has_exit)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = build(arena, r, constants, has_exit);
    const char *why = jy_flow_verify(w);
    union jy_scalar in[3] = { r->x, r->y, r->z }, out = { .bits = 0 };
    bool leaves = r->leaves && has_exit;
    if (why != NULL)
        CHECK_STR(why, "");
    int32_t exit = jy_flow_eval(w, &(struct jy_flow_call){ .in = in, .out = &out });
    bool good = exit == (leaves ? 0 : 1);
    if (!leaves && r->type == JY_F_F64)
        good &= CHECK_F64BITS(out.d, r->result.d);
    else if (!leaves && r->type == JY_F_F32)
        good &= CHECK_F32BITS(out.f, r->result.f);
    else if (!leaves && r->type != JY_F_NONE)
        good &= out.bits == r->result.bits;
    if (!CHECK(good))
        printf("\n    %s (%llx, %llx) exit %d: %d, %llx", jy_flow_op_info[r->op].text, (unsigned long long)r->x.bits,
               (unsigned long long)r->y.bits, has_exit, exit, (unsigned long long)out.bits);
    jy_arena_free(arena);
}

static bool
takes_exit(const struct row *r)
{
    bool arithmetic = r->op >= JY_FLOW_ADD && r->op <= JY_FLOW_ABS;
    bool integer = r->of == JY_F_I32 || r->of == JY_F_I64;
    return (integer && (arithmetic || (r->op >= JY_FLOW_SHL && r->op <= JY_FLOW_FLOORMOD && r->op != JY_FLOW_USHR))) ||
           r->op == JY_FLOW_NARROW || (r->op == JY_FLOW_TO_FLOAT && r->type == JY_F_F64) || r->op == JY_FLOW_TO_INT ||
           (r->op >= JY_FLOW_WRAP && r->op <= JY_FLOW_FLAGGED);
}

static void
check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK(takes_exit(&rows[i]) || !rows[i].leaves);
        check_run(&rows[i], false, false);
        check_run(&rows[i], true, false);
        if (takes_exit(&rows[i])) {
            check_run(&rows[i], false, true);
            check_run(&rows[i], true, true);
        }
    }
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])

#define INT(op, t, x, y, leaves, result)                                                                               \
    {                                                                                                                  \
        JY_FLOW_##op, JY_F_##t, JY_F_##t, { .i = (x) }, { .i = (y) }, { .i = 0 }, leaves,                              \
        {                                                                                                              \
            .i = (result)                                                                                              \
        }                                                                                                              \
    }
#define TEST_INT(op, t, x, y, result)                                                                                  \
    {                                                                                                                  \
        JY_FLOW_##op, JY_F_I1, JY_F_##t, { .i = (x) }, { .i = (y) }, { .i = 0 }, false,                                \
        {                                                                                                              \
            .i = (result)                                                                                              \
        }                                                                                                              \
    }
#define DBL(op, x, y, result)                                                                                          \
    {                                                                                                                  \
        JY_FLOW_##op, JY_F_F64, JY_F_F64, { .d = (x) }, { .d = (y) }, { .i = 0 }, false,                               \
        {                                                                                                              \
            .d = (result)                                                                                              \
        }                                                                                                              \
    }
#define TEST_DBL(op, x, y, result)                                                                                     \
    {                                                                                                                  \
        JY_FLOW_##op, JY_F_I1, JY_F_F64, { .d = (x) }, { .d = (y) }, { .i = 0 }, false,                                \
        {                                                                                                              \
            .i = (result)                                                                                              \
        }                                                                                                              \
    }
#define CONVERT(op, to, from, x, leaves, result)                                                                       \
    {                                                                                                                  \
        JY_FLOW_##op, JY_F_##to, JY_F_##from, { x }, { .i = 0 }, { .i = 0 }, leaves,                                   \
        {                                                                                                              \
            result                                                                                                     \
        }                                                                                                              \
    }

TEST(flow_apply, sums_differences_and_products_wrap_or_leave)
{
    static const struct row rows[] = {
        INT(ADD, I64, INT64_MAX, 0, false, INT64_MAX),
        INT(ADD, I64, INT64_MAX, 1, true, INT64_MIN),
        INT(ADD, I64, INT64_MIN, -1, true, INT64_MAX),
        INT(ADD, I64, INT64_MIN, INT64_MAX, false, -1),
        INT(ADD, I32, INT32_MAX, 1, true, INT32_MIN),
        INT(ADD, I32, INT32_MIN, INT32_MAX, false, -1),
        INT(SUB, I64, INT64_MIN, 1, true, INT64_MAX),
        INT(SUB, I64, 0, INT64_MIN, true, INT64_MIN),
        INT(SUB, I64, -1, INT64_MIN, false, INT64_MAX),
        INT(SUB, I32, INT32_MIN, 1, true, INT32_MAX),
        INT(MUL, I64, INT64_MIN, -1, true, INT64_MIN),
        INT(MUL, I64, INT64_C(1) << 32, INT64_C(1) << 31, true, INT64_MIN),
        INT(MUL, I64, -(INT64_C(1) << 32), INT64_C(1) << 31, false, INT64_MIN),
        INT(MUL, I64, 3037000500, 3037000500, true, -9223372036709301616),
        INT(MUL, I32, 65536, 65536, true, 0),
        INT(MUL, I32, -65536, 32768, false, INT32_MIN),
        INT(NEG, I64, INT64_MIN, 0, true, INT64_MIN),
        INT(NEG, I64, INT64_MAX, 0, false, -INT64_MAX),
        INT(NEG, I32, INT32_MIN, 0, true, INT32_MIN),
        INT(ABS, I64, INT64_MIN, 0, true, INT64_MIN),
        INT(ABS, I64, -INT64_MAX, 0, false, INT64_MAX),
        INT(ABS, I64, 7, 0, false, 7),
        INT(ABS, I32, INT32_MIN, 0, true, INT32_MIN),
    };
    CHECK_ROWS(rows);
}

TEST(flow_apply, bits)
{
    static const struct row rows[] = {
        INT(AND, I64, -4, 6, false, 4),
        INT(OR, I64, INT64_MIN, 1, false, INT64_MIN + 1),
        INT(XOR, I32, -1, INT32_MAX, false, INT32_MIN),
        INT(NOT, I64, INT64_MAX, 0, false, INT64_MIN),
        INT(NOT, I32, 0, 0, false, -1),
        INT(AND, I1, 1, 0, false, 0),
        INT(OR, I1, 1, 0, false, 1),
        INT(XOR, I1, 1, 1, false, 0),
        INT(NOT, I1, 1, 0, false, 0),
        INT(NOT, I1, 0, 0, false, 1),
        INT(MIN, I64, INT64_MIN, INT64_MAX, false, INT64_MIN),
        INT(MAX, I32, INT32_MIN, -1, false, -1),
    };
    CHECK_ROWS(rows);
}

TEST(flow_apply, logical_shifts)
{
    static const struct row rows[] = {
        INT(USHR, I64, INT64_MIN, 63, false, 1), INT(USHR, I64, -1, 1, false, INT64_MAX),
        INT(USHR, I64, -1, 0, false, -1),        INT(USHR, I64, -1, 64, false, 0),
        INT(USHR, I64, -1, -1, false, 0),        INT(USHR, I32, INT32_MIN, 31, false, 1),
        INT(USHR, I32, -1, 4, false, 0xfffffff), INT(USHR, I32, -1, 0, false, -1),
        INT(USHR, I32, -1, 32, false, 0),        INT(USHR, I32, 5, -3, false, 0),
    };
    CHECK_ROWS(rows);
}

TEST(flow_apply, shifts)
{
    static const struct row rows[] = {
        INT(SHL, I64, 1, 62, false, INT64_C(1) << 62), INT(SHL, I64, 1, 63, true, INT64_MIN),
        INT(SHL, I64, -1, 63, false, INT64_MIN),       INT(SHL, I64, -3, 63, true, INT64_MIN),
        INT(SHL, I64, INT64_MAX, 1, true, -2),         INT(SHL, I32, 1, 31, true, INT32_MIN),
        INT(SHL, I32, -1, 31, false, INT32_MIN),       INT(SHL, I32, 3, 30, true, -1073741824),
        INT(SHR, I64, INT64_MIN, 63, false, -1),       INT(SHR, I64, INT64_MAX, 62, false, 1),
        INT(SHR, I32, INT32_MIN, 31, false, -1),       INT(SHR, I32, -8, 1, false, -4),
    };
    /* counts that only an instruction with an exit may get */
    static const struct row counts[] = {
        INT(SHL, I64, 1, -1, true, 0),           INT(SHL, I64, 1, 64, true, 0),
        INT(SHL, I64, 0, 64, false, 0),          INT(SHL, I64, 0, INT64_MAX, false, 0),
        INT(SHL, I64, 0, -1, true, 0),           INT(SHL, I32, 1, 32, true, 0),
        INT(SHL, I32, 0, 1000, false, 0),        INT(SHR, I64, -1, -1, true, 0),
        INT(SHR, I64, -5, 64, false, -1),        INT(SHR, I64, 5, INT64_MAX, false, 0),
        INT(SHR, I32, INT32_MIN, 32, false, -1), INT(SHR, I32, INT32_MAX, 100, false, 0),
        INT(SHR, I64, 1, INT64_MIN, true, 0),
    };
    CHECK_ROWS(rows);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_run(&counts[i], false, true);
        check_run(&counts[i], true, true);
    }
}

TEST(flow_apply, division_rounds_down)
{
    static const struct row rows[] = {
        INT(FLOORDIV, I64, 7, 2, false, 3),
        INT(FLOORDIV, I64, -7, 2, false, -4),
        INT(FLOORDIV, I64, 7, -2, false, -4),
        INT(FLOORDIV, I64, -7, -2, false, 3),
        INT(FLOORDIV, I64, INT64_MIN, 1, false, INT64_MIN),
        INT(FLOORDIV, I64, INT64_MIN, INT64_MAX, false, -2),
        INT(FLOORDIV, I64, INT64_MAX, INT64_MIN, false, -1),
        INT(FLOORDIV, I64, INT64_MAX, -1, false, -INT64_MAX),
        INT(FLOORDIV, I32, INT32_MIN, 2, false, INT32_MIN / 2),
        INT(FLOORMOD, I64, 7, 2, false, 1),
        INT(FLOORMOD, I64, -7, 2, false, 1),
        INT(FLOORMOD, I64, 7, -2, false, -1),
        INT(FLOORMOD, I64, -7, -2, false, -1),
        INT(FLOORMOD, I64, -8, 2, false, 0),
        INT(FLOORMOD, I64, INT64_MIN, INT64_MAX, false, INT64_MAX - 1),
        INT(FLOORMOD, I64, INT64_MAX, -1, false, 0),
        INT(FLOORMOD, I32, INT32_MIN, 3, false, 1),
    };
    static const struct row leaving[] = {
        INT(FLOORDIV, I64, 1, 0, true, 0),          INT(FLOORDIV, I64, INT64_MIN, -1, true, 0),
        INT(FLOORDIV, I32, INT32_MIN, -1, true, 0), INT(FLOORMOD, I64, 0, 0, true, 0),
        INT(FLOORMOD, I64, INT64_MIN, -1, true, 0), INT(FLOORMOD, I32, INT32_MIN, -1, true, 0),
    };
    CHECK_ROWS(rows);
    for (size_t i = 0; i < sizeof leaving / sizeof leaving[0]; i++) {
        check_run(&leaving[i], false, true);
        check_run(&leaving[i], true, true);
    }
}

TEST(flow_apply, comparisons)
{
    static const struct row rows[] = {
        TEST_INT(EQ, I64, INT64_MIN, INT64_MIN, 1),
        TEST_INT(NE, I64, 1, 2, 1),
        TEST_INT(LT, I64, INT64_MIN, INT64_MAX, 1),
        TEST_INT(LE, I32, -1, -1, 1),
        TEST_INT(GT, I32, INT32_MIN, INT32_MAX, 0),
        TEST_INT(GE, I64, 0, 0, 1),
        TEST_INT(BELOW, I64, -1, 0, 0),
        TEST_INT(BELOW, I64, INT64_MAX, INT64_MIN, 1),
        TEST_INT(BELOW, I32, 0, -1, 1),
        TEST_INT(BELOW, I32, INT32_MIN, INT32_MAX, 0),
        TEST_INT(BELOW, I64, 3, 3, 0),
        TEST_INT(EQ, I1, 1, 1, 1),
        TEST_INT(NE, I1, 1, 0, 1),
        TEST_INT(EQ, PTR, 4096, 4096, 1),
        TEST_INT(NE, PTR, 4096, 0, 1),
        TEST_DBL(EQ, 0.0, -0.0, 1),
        TEST_DBL(EQ, NAN, NAN, 0),
        TEST_DBL(NE, NAN, 1.0, 1),
        TEST_DBL(LT, 1.0, NAN, 0),
        TEST_DBL(LE, NAN, 1.0, 0),
        TEST_DBL(GT, NAN, 1.0, 0),
        TEST_DBL(GE, 1.0, NAN, 0),
        TEST_DBL(LT, -INFINITY, INFINITY, 1),
        TEST_DBL(GE, -0.0, 0.0, 1),
    };
    CHECK_ROWS(rows);
}

TEST(flow_apply, floats)
{
    static const struct row rows[] = {
        DBL(ADD, 0.1, 0.2, 0.30000000000000004),
        DBL(SUB, 0.0, 0.0, 0.0),
        DBL(MUL, 1e308, 10.0, INFINITY),
        DBL(DIV, 1.0, -0.0, -INFINITY),
        DBL(NEG, 0.0, 0.0, -0.0),
        DBL(ABS, -0.0, 0.0, 0.0),
        DBL(SQRT, 2.0, 0.0, 1.4142135623730951),
        DBL(SQRT, -0.0, 0.0, -0.0),
        DBL(FLOOR, -0.5, 0.0, -1.0),
        DBL(CEIL, -0.5, 0.0, -0.0),
        DBL(TRUNC, -1.9, 0.0, -1.0),
        DBL(RINT, 2.5, 0.0, 2.0),
        DBL(RINT, 3.5, 0.0, 4.0),
        DBL(COPYSIGN, 3.0, -0.0, -3.0),
    };
    struct row halves[] = {
        { JY_FLOW_ADD, JY_F_F32, JY_F_F32, f32_of(16777216.0f), f32_of(1.0f), int_of(0), false, f32_of(16777216.0f) },
        { JY_FLOW_MUL, JY_F_F32, JY_F_F32, f32_of(1e30f), f32_of(1e30f), int_of(0), false, f32_of(INFINITY) },
        { JY_FLOW_DIV, JY_F_F32, JY_F_F32, f32_of(1.0f), f32_of(3.0f), int_of(0), false, f32_of(1.0f / 3.0f) },
        { JY_FLOW_NEG, JY_F_F32, JY_F_F32, f32_of(0.0f), int_of(0), int_of(0), false, f32_of(-0.0f) },
        { JY_FLOW_SQRT, JY_F_F32, JY_F_F32, f32_of(2.0f), int_of(0), int_of(0), false, f32_of(sqrtf(2.0f)) },
        { JY_FLOW_LT, JY_F_I1, JY_F_F32, f32_of(NAN), f32_of(1.0f), int_of(0), false, int_of(0) },
    };
    CHECK_ROWS(rows);
    CHECK_ROWS(halves);
}

TEST(flow_apply, conversions)
{
    const struct row rows[] = {
        CONVERT(ZEXT, I64, I1, .i = 1, false, .i = 1),
        CONVERT(ZEXT, I64, I32, .i = -1, false, .i = UINT32_MAX),
        CONVERT(SEXT, I64, I32, .i = INT32_MIN, false, .i = INT32_MIN),
        CONVERT(NARROW, I32, I64, .i = INT32_MAX, false, .i = INT32_MAX),
        CONVERT(NARROW, I32, I64, .i = INT64_C(1) + INT32_MAX, true, .i = INT32_MIN),
        CONVERT(NARROW, I32, I64, .i = INT64_MIN, true, .i = 0),
        CONVERT(TO_FLOAT, F64, I64, .i = INT64_C(1) << 53, false, .d = 9007199254740992.0),
        CONVERT(TO_FLOAT, F64, I64, .i = (INT64_C(1) << 53) + 1, true, .d = 9007199254740992.0),
        CONVERT(TO_FLOAT, F64, I64, .i = -(INT64_C(1) << 53), false, .d = -9007199254740992.0),
        CONVERT(TO_FLOAT, F64, I64, .i = -(INT64_C(1) << 53) - 1, true, .d = -9007199254740992.0),
        CONVERT(TO_FLOAT, F64, I64, .i = INT64_MIN, true, .d = -0x1p63),
        CONVERT(TO_FLOAT, F64, I32, .i = INT32_MIN, false, .d = -2147483648.0),
        CONVERT(TO_FLOAT, F32, I64, .i = 16777217, false, .f = 16777216.0f),
        CONVERT(WIDEN, F64, F32, .f = 0.1f, false, .d = (double)0.1f),
        CONVERT(ROUND, F32, F64, .d = 0.1, false, .f = 0.1f),
        CONVERT(BITS, I64, F64, .d = -0.0, false, .i = INT64_MIN),
        CONVERT(BITS, F64, I64, .i = 0x3ff0000000000000, false, .d = 1.0),
        CONVERT(BITS, I32, F32, .f = -0.0f, false, .i = INT32_MIN),
        CONVERT(BITS, F32, I32, .i = INT32_MIN, false, .f = -0.0f),
        CONVERT(BITS, PTR, I64, .i = -1, false, .i = -1),
        CONVERT(BITS, I64, PTR, .i = 4096, false, .i = 4096),
        CONVERT(TO_INT, I64, F64, .d = -0x1p63, false, .i = INT64_MIN),
        CONVERT(TO_INT, I64, F64, .d = 9223372036854774784.0, false, .i = 9223372036854774784),
        CONVERT(TO_INT, I64, F64, .d = -0.9, false, .i = 0),
        CONVERT(TO_INT, I32, F64, .d = 2147483647.9, false, .i = INT32_MAX),
        CONVERT(TO_INT, I32, F64, .d = -2147483648.9, false, .i = INT32_MIN),
        CONVERT(TO_INT, I64, F32, .f = 16777216.0f, false, .i = 16777216),
    };
    const struct row leaving[] = {
        CONVERT(TO_INT, I64, F64, .d = 0x1p63, true, .i = 0),
        CONVERT(TO_INT, I64, F64, .d = -9223372036854777856.0, true, .i = 0),
        CONVERT(TO_INT, I64, F64, .d = NAN, true, .i = 0),
        CONVERT(TO_INT, I64, F64, .d = INFINITY, true, .i = 0),
        CONVERT(TO_INT, I32, F64, .d = 2147483648.0, true, .i = 0),
        CONVERT(TO_INT, I32, F64, .d = -2147483649.0, true, .i = 0),
        CONVERT(TO_INT, I32, F32, .f = -INFINITY, true, .i = 0),
    };
    CHECK_ROWS(rows);
    for (size_t i = 0; i < sizeof leaving / sizeof leaving[0]; i++)
        check_run(&leaving[i], false, true);
}

TEST(flow_apply, narrow_integers)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = narrow %0 : i8\n"
                       "    %2 = zext %1 : i64\n"
                       "    %3 = sext %1 : i64\n"
                       "    %4 = narrow %0 : i16\n"
                       "    %5 = zext %4 : i32\n"
                       "    %6 = sext %4 : i64\n"
                       "    %7 = narrow %0 exit 0 : i16\n"
                       "    exit 1\n"
                       "  exit 0 check at 1 (%2, %3, %5, %6)\n"
                       "  exit 1 stop at 2 (%2, %3, %5, %6)\n";
    union jy_scalar out[4], in = { .i = 0xffc0 };
    CHECK_INT(eval_flow(text, &in, out), 0);
    CHECK_INT(out[0].i, 0xc0);
    CHECK_INT(out[1].i, -0x40);
    CHECK_INT(out[2].i, 0xffc0);
    CHECK_INT(out[3].i, -0x40);
    in.i = INT16_MIN;
    CHECK_INT(eval_flow(text, &in, out), 1);
    CHECK_INT(out[2].i, 0x8000);
    CHECK_INT(out[3].i, INT16_MIN);
}

TEST(flow_apply, pythons_rules)
{
    static const struct row rows[] = {
        INT(WRAP, I64, 0, 5, false, 0),
        INT(WRAP, I64, 4, 5, false, 4),
    };
    static const struct row wrapped[] = {
        INT(WRAP, I64, 5, 5, true, 0),
        INT(WRAP, I64, -1, 5, false, 4),
        INT(WRAP, I64, -5, 5, false, 0),
        INT(WRAP, I64, -6, 5, true, 0),
        INT(WRAP, I64, 0, 0, true, 0),
        INT(WRAP, I64, -1, 0, true, 0),
        INT(WRAP, I64, INT64_MIN, 5, true, 0),
        INT(WRAP, I64, INT64_MIN, INT64_MAX, true, 0),
        INT(WRAP, I64, -1, INT64_MAX, false, INT64_MAX - 1),
    };
    const struct row checks[] = {
        { JY_FLOW_CHECK, JY_F_NONE, JY_F_I1, int_of(1), int_of(0), int_of(0), false, int_of(0) },
        { JY_FLOW_CHECK, JY_F_NONE, JY_F_I1, int_of(0), int_of(0), int_of(0), true, int_of(0) },
        { JY_FLOW_SELECT, JY_F_F64, JY_F_F64, int_of(1), f64_of(-0.0), f64_of(2.0), false, f64_of(-0.0) },
        { JY_FLOW_SELECT, JY_F_I1, JY_F_I1, int_of(0), int_of(1), int_of(0), false, int_of(0) },
        { JY_FLOW_OFFSET, JY_F_PTR, JY_F_PTR, int_of(4096), int_of(-96), int_of(0), false, int_of(4000) },
    };
    CHECK_ROWS(rows);
    CHECK_ROWS(checks);
    for (size_t i = 0; i < sizeof wrapped / sizeof wrapped[0]; i++) {
        check_run(&wrapped[i], false, true);
        check_run(&wrapped[i], true, true);
    }
}

#define FLAGS(r, x, y, leaves)                                                                                         \
    { JY_FLOW_FLAGGED, JY_F_NONE, JY_F_F64, { .d = (r) }, { .d = (x) }, { .d = (y) }, leaves, { .i = 0 } }

/* The result, and then what it was made of. */
TEST(flow_apply, flagged_is_what_the_hardware_says)
{
    static const struct row rows[] = {
        FLAGS(3.0, 1.0, 2.0, false),
        FLAGS(INFINITY, 1.0, 0.0, true),
        FLAGS(-INFINITY, -1e308, 10.0, true),
        FLAGS(NAN, 0.0, 0.0, true),
        FLAGS(NAN, INFINITY, INFINITY, true),
        FLAGS(NAN, NAN, 1.0, false),
        FLAGS(NAN, 1.0, NAN, false),
        FLAGS(INFINITY, INFINITY, 1.0, false),
        FLAGS(-INFINITY, 1.0, -INFINITY, false),
        FLAGS(NAN, -1.0, -1.0, true), /* square root */
        FLAGS(0.0, 1e-300, 1e-300, false),
    };
    const struct row half = { JY_FLOW_FLAGGED, JY_F_NONE,     JY_F_F32, f32_of(INFINITY),
                              f32_of(1e38f),   f32_of(1e38f), true,     int_of(0) };
    CHECK_ROWS(rows);
    check_run(&half, false, true);
}

TEST(flow_apply, raises_the_flags_of_the_operation_and_no_others)
{
    const struct row quiet[] = {
        TEST_DBL(LT, NAN, 1.0, 0),
        TEST_DBL(EQ, NAN, 1.0, 0),
        CONVERT(TO_INT, I64, F64, .d = NAN, true, .i = 0),
        CONVERT(TO_INT, I32, F64, .d = 1e300, true, .i = 0),
        DBL(NEG, INFINITY, 0.0, -INFINITY),
        FLAGS(NAN, INFINITY, 0.0, true),
    };
    const struct row divides = DBL(DIV, 1.0, 0.0, INFINITY);
    const int watched = FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID;
    union jy_scalar out;
    for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++) {
        union jy_scalar args[3] = { quiet[i].x, quiet[i].y, quiet[i].z };
        feclearexcept(FE_ALL_EXCEPT);
        jy_flow_apply(&out, quiet[i].op, quiet[i].type, quiet[i].of, args);
        CHECK_INT(fetestexcept(watched), 0);
    }
    feclearexcept(FE_ALL_EXCEPT);
    jy_flow_apply(&out, divides.op, divides.type, divides.of, (union jy_scalar[]){ divides.x, divides.y });
    CHECK_INT(fetestexcept(watched), FE_DIVBYZERO);
    feclearexcept(FE_ALL_EXCEPT);
}
