/* Each instruction of the flow IR as machine code against the interpreter, at the ends of its range, with its exit and without, at each feature level; then blocks, memory, helpers. */
#include "tests/unit/backend_llvm/flow_harness.h"
#include <math.h>
#include <stdio.h>

enum { SAMPLES = 34 };

/* Instructions ---------------------------------------------------------------------------------------------------- */

struct form {
    enum jy_fop op;
    enum jy_ftype type, of;
    bool exits;
    int fixed; /* operand 1 is this sample, as a constant; -1: an input */
};

static jy_dtype
dtype_of(enum jy_ftype type)
{
    static const uint8_t dtypes[JY_F_TYPE_COUNT] = { [JY_F_I1] = JY_BOOL, [JY_F_I8] = JY_I32,  [JY_F_I16] = JY_I32,
                                                     [JY_F_I32] = JY_I32, [JY_F_I64] = JY_I64, [JY_F_F32] = JY_F32,
                                                     [JY_F_F64] = JY_F64, [JY_F_PTR] = JY_I64 };
    return (jy_dtype)dtypes[type];
}

static enum jy_ftype
operand_type(const struct form *f, size_t k)
{
    if (f->op == JY_FLOW_SELECT && k == 0)
        return JY_F_I1;
    return f->op == JY_FLOW_OFFSET && k == 1 ? JY_F_I64 : f->of;
}

/* Numbers of eight and sixteen bits come about by cutting longer ones only. */
static jy_fv
operand(struct jy_flow *w, const struct form *f, size_t k)
{
    enum jy_ftype type = operand_type(f, k), from = type == JY_F_I8 || type == JY_F_I16 ? JY_F_I32 : type;
    struct jy_flow_input in = number_input(from, (uint32_t)k);
    if (k == 1 && f->fixed >= 0)
        return jy_flow_const(w, 0, type, sample(dtype_of(type), (size_t)f->fixed));
    jy_fv v = jy_flow_input(w, &in);
    return from == type ? v : jy_flow_op(w, 0, JY_FLOW_NARROW, type, 1, &v, JY_NO_EXIT);
}

/* Slots have no room for numbers so short. */
static jy_fv
shown(struct jy_flow *w, jy_fv v)
{
    uint8_t type = jy_flow_at(w, v)->f_type;
    return type == JY_F_I8 || type == JY_F_I16 ? jy_flow_op(w, 0, JY_FLOW_SEXT, JY_F_I64, 1, &v, JY_NO_EXIT) : v;
}

/* Exit 0 is the instruction's and gives the operands; exit 1 gives its value. */
static struct jy_flow *
build(struct jy_arena *arena, const struct form *f)
{
    struct jy_flow *w = jy_flow_new(arena, "f");
    size_t n = (size_t)jy_flow_op_info[f->op].nargs;
    jy_fv args[3] = { 0, 0, 0 };
    struct jy_flow_exit left = { .x_kind = JY_EXIT_CHECK }, done = { .x_kind = JY_EXIT_STOP };
    for (size_t k = 0; k < n; k++) {
        args[k] = operand(w, f, k);
        *jy_vec_push(arena, &left.x_values) = shown(w, args[k]);
    }
    jy_flow_exit_add(w, &left);
    jy_fv v = jy_flow_op(w, 0, f->op, f->type, n, args, f->exits ? 0 : JY_NO_EXIT);
    if (f->type != JY_F_NONE)
        *jy_vec_push(arena, &done.x_values) = shown(w, v);
    jy_flow_leave(w, 0, jy_flow_exit_add(w, &done));
    return w;
}

/* Where its maker promised that the case does not occur, any result is right. */
static bool
is_promised_away(const struct form *f, union jy_scalar x, union jy_scalar y)
{
    union jy_scalar r, args[3] = { x, y, { .i = 0 } };
    bool defined = f->op <= JY_FLOW_ABS || f->op == JY_FLOW_NARROW || f->op == JY_FLOW_TO_FLOAT || f->op == JY_FLOW_SHL;
    if (f->op == JY_FLOW_CHECK || f->op == JY_FLOW_FLAGGED || f->exits || defined)
        return false;
    if (f->op == JY_FLOW_WRAP && x.i < 0)
        return true;
    return !jy_flow_apply(&r, f->op, f->type, f->of, args);
}

static bool
same_outcome(const struct jy_flow *w, const struct flow_code *c, const union jy_scalar *in)
{
    union jy_scalar expected[4] = { { 0 } }, actual[4] = { { 0 } };
    struct jy_flow_call slow = { .in = in, .out = expected }, fast = { .in = in, .out = actual };
    int32_t exit = jy_flow_eval(w, &slow);
    if (flow_run(c, w, &fast) != exit)
        return false;
    const struct jy_flow_exit *x = &w->w_exits.at[exit];
    for (size_t k = 0; k < x->x_values.n; k++)
        if (!flow_same((enum jy_ftype)jy_flow_at(w, x->x_values.at[k])->f_type, actual[k], expected[k]))
            return false;
    return true;
}

static void
check_samples(const struct form *f, const struct jy_flow *w, const struct flow_code *c, enum level level)
{
    for (size_t i = 0; i < SAMPLES * SAMPLES; i++) {
        union jy_scalar in[3], x, y;
        for (size_t k = 0, at = i; k < 3; k++, at = k == 1 ? i / SAMPLES : i / 7)
            in[k] = sample(dtype_of(operand_type(f, k)), at % SAMPLES);
        x = in[0];
        y = f->fixed < 0 ? in[1] : sample(dtype_of(operand_type(f, 1)), (size_t)f->fixed);
        if (f->op == JY_FLOW_WRAP && y.i < 0)
            continue; /* no array has such an extent */
        if (is_promised_away(f, x, y))
            continue;
        if (!CHECK(same_outcome(w, c, in))) {
            printf("\n    %s : %d of %d, level %d, exit %d: %llx %llx %llx\n", jy_flow_op_info[f->op].text, f->type,
                   f->of, (int)level, f->exits, (unsigned long long)x.bits, (unsigned long long)y.bits,
                   (unsigned long long)in[2].bits);
            return;
        }
    }
}

static void
check_form(struct form f)
{
    for (int level = 0; level < LEVELS; level++) {
        struct jy_arena *arena = jy_arena_new();
        struct jy_flow *w = build(arena, &f);
        struct flow_code c;
        const char *why = jy_flow_verify(w);
        if (why != NULL) {
            printf("\n    %s : %d of %d: ", jy_flow_op_info[f.op].text, f.type, f.of);
            CHECK_STR(why, "");
        } else if (level_runs((enum level)level)) {
            if (CHECK(flow_load(&c, w, (enum level)level)))
                check_samples(&f, w, &c, (enum level)level);
            else
                printf("\n    %s: %s\n", jy_flow_op_info[f.op].text, c.why);
            flow_unload(&c);
        }
        jy_arena_free(arena);
    }
}

static void
check_both(enum jy_fop op, enum jy_ftype type, enum jy_ftype of)
{
    check_form((struct form){ op, type, of, false, -1 });
    check_form((struct form){ op, type, of, true, -1 });
}

static void
check_plain(enum jy_fop op, enum jy_ftype type, enum jy_ftype of)
{
    check_form((struct form){ op, type, of, false, -1 });
}

static const enum jy_ftype integers[] = { JY_F_I32, JY_F_I64 }, floats[] = { JY_F_F32, JY_F_F64 };

TEST(emit_flow, integers)
{
    static const enum jy_fop checked[] = { JY_FLOW_ADD, JY_FLOW_SUB, JY_FLOW_MUL,      JY_FLOW_NEG,     JY_FLOW_ABS,
                                           JY_FLOW_SHL, JY_FLOW_SHR, JY_FLOW_FLOORDIV, JY_FLOW_FLOORMOD };
    static const enum jy_fop free[] = { JY_FLOW_AND, JY_FLOW_OR,  JY_FLOW_XOR, JY_FLOW_NOT,
                                        JY_FLOW_MIN, JY_FLOW_MAX, JY_FLOW_USHR };
    for (size_t t = 0; t < 2; t++) {
        for (size_t k = 0; k < sizeof checked / sizeof *checked; k++)
            check_both(checked[k], integers[t], integers[t]);
        for (size_t k = 0; k < sizeof free / sizeof *free; k++)
            check_plain(free[k], integers[t], integers[t]);
        check_plain(JY_FLOW_BELOW, JY_F_I1, integers[t]);
    }
    check_both(JY_FLOW_WRAP, JY_F_I64, JY_F_I64);
    for (int op = JY_FLOW_AND; op <= JY_FLOW_NOT; op++)
        check_plain((enum jy_fop)op, JY_F_I1, JY_F_I1);
}

/* Constant divisors and counts have code of their own: among the samples are 0, 1, -1, powers of two and others. */
TEST(emit_flow, constant_operands)
{
    static const enum jy_fop ops[] = { JY_FLOW_SHL, JY_FLOW_SHR, JY_FLOW_USHR, JY_FLOW_FLOORDIV, JY_FLOW_FLOORMOD };
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (int fixed = 1; fixed < 18; fixed++)
            for (int exits = 0; exits < (ops[k] == JY_FLOW_USHR ? 1 : 2); exits++) {
                struct form f = { ops[k], JY_F_I64, JY_F_I64, exits == 1, fixed };
                if (!is_promised_away(&f, int_of(0), sample(JY_I64, (size_t)fixed)))
                    check_form(f);
            }
}

TEST(emit_flow, floats)
{
    static const enum jy_fop ops[] = { JY_FLOW_ADD,  JY_FLOW_SUB,   JY_FLOW_MUL,  JY_FLOW_NEG,
                                       JY_FLOW_ABS,  JY_FLOW_DIV,   JY_FLOW_SQRT, JY_FLOW_FLOOR,
                                       JY_FLOW_CEIL, JY_FLOW_TRUNC, JY_FLOW_RINT, JY_FLOW_COPYSIGN };
    for (size_t t = 0; t < 2; t++) {
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            check_plain(ops[k], floats[t], floats[t]);
        check_form((struct form){ JY_FLOW_FLAGGED, JY_F_NONE, floats[t], true, -1 });
    }
}

TEST(emit_flow, comparisons)
{
    for (int op = JY_FLOW_EQ; op <= JY_FLOW_GE; op++)
        for (size_t t = 0; t < 2; t++) {
            check_plain((enum jy_fop)op, JY_F_I1, integers[t]);
            check_plain((enum jy_fop)op, JY_F_I1, floats[t]);
        }
    for (int op = JY_FLOW_EQ; op <= JY_FLOW_NE; op++) {
        check_plain((enum jy_fop)op, JY_F_I1, JY_F_I1);
        check_plain((enum jy_fop)op, JY_F_I1, JY_F_PTR);
    }
    for (int type = JY_F_I1; type < JY_F_TYPE_COUNT; type++)
        if (type != JY_F_I8 && type != JY_F_I16)
            check_plain(JY_FLOW_SELECT, (enum jy_ftype)type, (enum jy_ftype)type);
    check_form((struct form){ JY_FLOW_CHECK, JY_F_NONE, JY_F_I1, true, -1 });
}

TEST(emit_flow, conversions)
{
    for (int to = JY_F_I8; to <= JY_F_I64; to++)
        for (int from = JY_F_I1; from < to; from++) {
            if (from != JY_F_I1)
                check_plain(JY_FLOW_SEXT, (enum jy_ftype)to, (enum jy_ftype)from);
            check_plain(JY_FLOW_ZEXT, (enum jy_ftype)to, (enum jy_ftype)from);
            if (to >= JY_F_I32 && from >= JY_F_I8)
                check_both(JY_FLOW_NARROW, (enum jy_ftype)from, (enum jy_ftype)to);
        }
    for (size_t i = 0; i < 2; i++)
        for (size_t f = 0; f < 2; f++) {
            check_plain(JY_FLOW_TO_FLOAT, floats[f], integers[i]);
            check_both(JY_FLOW_TO_INT, integers[i], floats[f]);
        }
    check_both(JY_FLOW_TO_FLOAT, JY_F_F64, JY_F_I64);
    check_plain(JY_FLOW_WIDEN, JY_F_F64, JY_F_F32);
    check_plain(JY_FLOW_ROUND, JY_F_F32, JY_F_F64);
    check_plain(JY_FLOW_BITS, JY_F_I64, JY_F_F64);
    check_plain(JY_FLOW_BITS, JY_F_F64, JY_F_I64);
    check_plain(JY_FLOW_BITS, JY_F_I32, JY_F_F32);
    check_plain(JY_FLOW_BITS, JY_F_F32, JY_F_I32);
    check_plain(JY_FLOW_BITS, JY_F_I64, JY_F_PTR);
    check_plain(JY_FLOW_BITS, JY_F_PTR, JY_F_I64);
    check_plain(JY_FLOW_OFFSET, JY_F_PTR, JY_F_PTR);
}

/* Whole flows ----------------------------------------------------------------------------------------------------- */

/* Runs a text at each level and by the interpreter; `check` looks at what came out. */
static void
run_text(const char *text, struct jy_flow_call *call, void (*check)(int32_t exit, const struct jy_flow_call *call))
{
    for (int level = -1; level < LEVELS; level++) {
        struct jy_arena *arena = jy_arena_new();
        struct jy_flow *w = parse_flow(arena, text);
        struct flow_code c;
        if (w != NULL && level < 0) {
            check(jy_flow_eval(w, call), call);
        } else if (w != NULL && level_runs((enum level)level)) {
            if (CHECK(flow_load(&c, w, (enum level)level)))
                check(flow_run(&c, w, call), call);
            flow_unload(&c);
        }
        jy_arena_free(arena);
    }
}

static void
check_fib(int32_t exit, const struct jy_flow_call *call)
{
    CHECK_INT(exit, 1);
    CHECK_INT(call->out[0].i, 7540113804746346429);
    CHECK_INT(call->out[1].i, 91);
}

/* Parameters that change places, a check that fails in the middle of a loop, a block that nobody reaches. */
TEST(emit_flow, blocks)
{
    const char *text = "flow fib :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = const[0] : i64\n"
                       "    %2 = const[1] : i64\n"
                       "    jump 1 (%1, %1, %2)\n"
                       "  block 1 (%3 : i64, %4 : i64, %5 : i64) at 4 @2 :\n"
                       "    %6 = lt %3, %0 : i1\n"
                       "    branch %6 ? likely 2 () : 3 ()\n"
                       "  block 2 () :\n"
                       "    %7 = add %4, %5 exit 1 : i64\n"
                       "    %8 = add %3, %2 : i64\n"
                       "    jump 1 (%8, %5, %7)\n"
                       "  block 3 () :\n"
                       "    exit 0\n"
                       "  block 4 () :\n"
                       "    %9 = add %0, %0 : i64\n"
                       "    exit 0\n"
                       "  exit 0 return at 9 @5 (%4) :\n"
                       "    result number pyint int64 $0\n"
                       "  exit 1 check \"int overflow\" at 6 @3 (%5, %3)\n";
    union jy_scalar in = { .i = 200 }, out[2];
    struct jy_flow_call call = { .in = &in, .out = out };
    run_text(text, &call, check_fib);
}

static void
check_twins(int32_t exit, const struct jy_flow_call *call)
{
    CHECK_INT(exit, 0);
    CHECK_INT(call->out[0].i, call->in[0].i != 0 ? 10 : 20);
}

/* Both edges of a branch go to one block. */
TEST(emit_flow, twins)
{
    const char *text = "flow f :\n"
                       "  input 0 : i1 number 0 bool\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i1\n"
                       "    %1 = const[10] : i64\n"
                       "    %2 = const[20] : i64\n"
                       "    branch %0 ? 1 (%1) : 1 (%2)\n"
                       "  block 1 (%3 : i64) :\n"
                       "    exit 0\n"
                       "  exit 0 stop at 9 (%3)\n";
    for (int64_t k = 0; k < 2; k++) {
        union jy_scalar in = { .i = k }, out[1];
        struct jy_flow_call call = { .in = &in, .out = out };
        run_text(text, &call, check_twins);
    }
}

/* A result that warns leaves before any later one, although one test is enough for both when all is well. */
static void
check_first_flag(int32_t exit, const struct jy_flow_call *call)
{
    double x = call->in[0].d, y = call->in[1].d, z = call->in[2].d, p = x * y, s = p + z;
    bool first = (isnan(p) && !isnan(x) && !isnan(y)) || (isinf(p) && !isinf(x) && !isinf(y));
    bool second = (isnan(s) && !isnan(p) && !isnan(z)) || (isinf(s) && !isinf(p) && !isinf(z));
    CHECK_INT(exit, first ? 0 : second ? 1 : 2);
}

TEST(emit_flow, flags_in_order)
{
    const char *text = "flow f flags :\n"
                       "  input 0 : f64 number 0 float64\n"
                       "  input 1 : f64 number 1 float64\n"
                       "  input 2 : f64 number 2 float64\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : f64\n"
                       "    %1 = input[1] : f64\n"
                       "    %2 = input[2] : f64\n"
                       "    %3 = mul %0, %1 : f64\n"
                       "    flagged %3, %0, %1 exit 0\n"
                       "    %4 = add %3, %2 : f64\n"
                       "    flagged %4, %3, %2 exit 1\n"
                       "    exit 2\n"
                       "  exit 0 check at 1 (%0)\n"
                       "  exit 1 check at 2 (%3)\n"
                       "  exit 2 stop at 3 (%4)\n";
    static const double values[] = { 0.0, -1.0, 1e308, -1e308, INFINITY, -INFINITY, NAN };
    union jy_scalar in[3], out[1];
    struct jy_flow_call call = { .in = in, .out = out };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct flow_code c;
    if (w != NULL && CHECK(flow_load(&c, w, LEVEL_HOST))) {
        for (size_t k = 0; k < 7 * 7 * 7; k++) {
            in[0].d = values[k % 7], in[1].d = values[k / 7 % 7], in[2].d = values[k / 49];
            check_first_flag(flow_run(&c, w, &call), &call);
        }
        flow_unload(&c);
    }
    jy_arena_free(arena);
}

struct record {
    int8_t a;
    uint8_t flag;
    int16_t b;
    int32_t c;
    int64_t d;
    float e;
    int32_t gap;
    double f;
    char *g;
};

static struct record record;

static void
check_memory(int32_t exit, const struct jy_flow_call *call)
{
    const union jy_scalar *out = call->out;
    CHECK_INT(exit, 0);
    CHECK_INT(out[0].i, -3);
    CHECK_INT(out[1].i, 1);
    CHECK_INT(out[2].i, 65536 - 300);
    CHECK_INT(out[3].i, -70000);
    CHECK_INT(out[4].i, INT64_MIN);
    CHECK(out[5].f == 0.5f && isnan(out[6].d));
    CHECK_UINT(out[7].bits, (uintptr_t)&record);
    CHECK(record.a == 1 && record.flag == 1 && record.b == -259 && record.c == -70000 && record.d == INT64_MIN + 1);
    record.a = -3, record.flag = 1, record.b = -300, record.d = INT64_MIN;
}

TEST(emit_flow, memory)
{
    const char *text = "flow f :\n"
                       "  input 0 : ptr object 0\n"
                       "  input 1 : i64 number 1 int64\n"
                       "  alias 1 : input 0 written\n"
                       "  alias 2 : input 1\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : ptr\n"
                       "    %1 = input[1] : i64\n"
                       "    %2 = load[-4] %0, %1 alias 1 : i8\n"
                       "    %3 = sext %2 : i64\n"
                       "    %4 = load[-3] %0, %1 : i1\n"
                       "    %5 = load[-2] %0, %1 alias 1 : i16\n"
                       "    %6 = zext %5 : i64\n"
                       "    %7 = load[0] %0, %1 alias 1 : i32\n"
                       "    %8 = load[4] %0, %1 alias 1 : i64\n"
                       "    %9 = offset %0, %1 : ptr\n"
                       "    %10 = const[0] : i64\n"
                       "    %11 = load[12] %9, %10 alias 1 : f32\n"
                       "    %12 = load[20] %9, %10 alias 1 : f64\n"
                       "    %13 = load[28] %9, %10 : ptr\n"
                       "    %14 = const[1] : i64\n"
                       "    %15 = add %8, %14 : i64\n"
                       "    store[-4] %0, %1, %4 alias 1\n"
                       "    store[-2] %0, %1, %2 alias 1\n"
                       "    store[4] %0, %1, %15 alias 1\n"
                       "    exit 0\n"
                       "  exit 0 stop at 0 (%3, %4, %6, %7, %8, %11, %12, %13)\n";
    union jy_scalar in[] = { { .bits = (uintptr_t)&record }, { .i = 4 } }, out[8];
    struct jy_flow_call call = { .in = in, .out = out };
    record = (struct record){ -3, 1, -300, -70000, INT64_MIN, 0.5f, 0, NAN, (char *)&record };
    run_text(text, &call, check_memory);
}

/* Helpers --------------------------------------------------------------------------------------------------------- */

static int64_t
help_all(struct jy_flow_call *call, int64_t i, double d, bool b, void *p, float f, int32_t *failed)
{
    *failed = i == 3;
    return i + (int64_t)d + b + (p == call->owner) * 100 + (int64_t)(f * 2);
}

static bool
help_is_odd(int64_t i)
{
    return i % 2 != 0;
}

static float
help_half(float f)
{
    return f / 2;
}

static void
help_touch(void *p)
{
    ++*(int32_t *)p;
}

static int32_t touched;

static void
check_helpers(int32_t exit, const struct jy_flow_call *call)
{
    if (call->in[0].i == 3) {
        CHECK_INT(exit, 0);
        CHECK_INT(call->out[0].i, 3);
        CHECK_INT(touched, 0);
        return;
    }
    CHECK_INT(exit, 1);
    CHECK_INT(call->out[0].i, call->in[0].i + 2 + call->in[0].i % 2 + 100 + 3);
    CHECK_INT(call->out[1].i, call->in[0].i % 2);
    CHECK_F32BITS(call->out[2].f, 0.75f);
    CHECK_INT(call->out[3].i, 2);
    touched = 0;
}

TEST(emit_flow, helpers)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  input 1 : f32 number 1 float32\n"
                       "  input 2 : ptr object 2\n"
                       "  helper 0 all (call, i64, f64, i1, ptr, f32) : i64 fails\n"
                       "  helper 1 is_odd (i64) : i1 pure\n"
                       "  helper 2 half (f32) : f32 pure\n"
                       "  helper 3 touch (ptr) : none\n"
                       "  block 0 () :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = input[1] : f32\n"
                       "    %2 = input[2] : ptr\n"
                       "    %3 = const[2.5] : f64\n"
                       "    %4 = const[0] : i64\n"
                       "    %5 = call[1] %0 : i1\n"
                       "    %6 = call[0] %0, %3, %5, %2, %1 exit 0 : i64\n"
                       "    %7 = call[2] %1 : f32\n"
                       "    call[3] %2\n"
                       "    call[3] %2\n"
                       "    %8 = load[0] %2, %4 : i32\n"
                       "    exit 1\n"
                       "  exit 0 check at 1 (%0)\n"
                       "  exit 1 stop at 2 (%6, %5, %7, %8)\n";
    void *const helper[] = { (void *)help_all, (void *)help_is_odd, (void *)help_half, (void *)help_touch };
    for (int64_t k = 2; k < 5; k++) {
        union jy_scalar in[] = { { .i = k }, { .f = 1.5f }, { .bits = (uintptr_t)&touched } }, out[4];
        struct jy_flow_call call = { .in = in, .out = out, .helper = helper, .owner = &touched };
        touched = 0;
        run_text(text, &call, check_helpers);
    }
}

static void
check_poll(int32_t exit, const struct jy_flow_call *call)
{
    bool leaves = (*call->watch & call->watch_mask) != 0;
    CHECK_INT(exit, leaves ? 0 : 1);
    CHECK_INT(call->out[0].i, leaves ? 0 : 5);
}

TEST(emit_flow, polls)
{
    const char *text = "flow f :\n"
                       "  block 0 () :\n"
                       "    %0 = const[0] : i64\n"
                       "    %1 = const[1] : i64\n"
                       "    %2 = const[5] : i64\n"
                       "    jump 1 (%0)\n"
                       "  block 1 (%3 : i64) :\n"
                       "    poll exit 0\n"
                       "    %4 = add %3, %1 : i64\n"
                       "    %5 = lt %4, %2 : i1\n"
                       "    branch %5 ? 1 (%4) : 2 ()\n"
                       "  block 2 () :\n"
                       "    exit 1\n"
                       "  exit 0 poll at 1 (%3)\n"
                       "  exit 1 stop at 2 (%4)\n";
    for (uint32_t word = 0; word < 4; word++) {
        union jy_scalar out[1];
        struct jy_flow_call call = { .out = out, .watch = &word, .watch_mask = 2 };
        run_text(text, &call, check_poll);
    }
}

/* Texts ----------------------------------------------------------------------------------------------------------- */

TEST(emit_flow, texts)
{
    const char *text = "flow f :\n"
                       "  input 0 : i64 number 0 int64\n"
                       "  block 0 () at 2 @7 :\n"
                       "    %0 = input[0] : i64\n"
                       "    %1 = mul %0, %0 exit 0 : i64 @8\n"
                       "    exit 1\n"
                       "  exit 0 check at 4 @8 (%0)\n"
                       "  exit 1 stop at 6 @9 (%1)\n";
    struct jy_backend_options options = {
        .want_ir = true, .want_ir_opt = true, .want_asm = true, .verify = true, .name = "mine"
    };
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, text);
    struct jy_object out;
    if (w != NULL && CHECK_INT(jy_backend_entry()->compile_flow(&out, w, &options), JY_OK)) {
        CHECK(strstr(out.ir, "define i32 @jy_kernel_0(ptr %call)") != NULL);
        CHECK(strstr(out.ir, "b0.at2.line7:") != NULL && strstr(out.ir, "exit.0.check.at4.line8:") != NULL);
        CHECK(strstr(out.ir, "%mul.1 = ") != NULL && strstr(out.ir, "line 8") != NULL);
        CHECK(strstr(out.ir_opt, "jy_kernel_0") != NULL && strstr(out.asm_text, "jy_kernel_0:") != NULL);
        jy_backend_entry()->release(&out);
    }
    jy_arena_free(arena);
}
