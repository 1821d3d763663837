/* Loops as a whole, against the slow interpreter, FP flags included: what is hoisted, what only some lanes take,
 * what nobody reads, constants, updates in place, tiles. */
#include "tests/unit/backend_llvm/harness.h"
#include <stdio.h>
#include <stdlib.h>

#define MOST 100

static jy_lv
op(struct trial *t, jy_op o, jy_lv a, jy_lv b)
{
    jy_lv args[] = { a, b };
    jy_dtype dtype = (jy_dtype)jy_loop_at(&t->b, a)->l_dtype;
    return jy_loop_op(&t->b, o, jy_scalar_result_dtype(o, dtype), (size_t)jy_op_info[o].arity, args, false);
}

static jy_lv
real(struct trial *t, double value)
{
    return jy_loop_const(&t->b, JY_F64, (union jy_scalar){ .d = value });
}

/* Machine code and interpreter on equal memory: three buffers of doubles, four scalar slots, size slot 0. */
struct world {
    double b[3][MOST];
    union jy_scalar scalar[4];
    int64_t size;
    uint32_t status;
    int flags;
};

static void
enter(struct world *w, struct jy_call *call, struct jy_desc *desc)
{
    for (size_t k = 0; k < 3; k++)
        desc[k] = (struct jy_desc){ .data = (char *)w->b[k], .stride = { sizeof(double) } };
    *call = (struct jy_call){
        .desc = desc, .size = &w->size, .scalar = w->scalar, .helper = trial_helpers(), .sum_chunk = INT64_MAX
    };
}

static void
compare_worlds(struct trial *t, enum level level, size_t n, size_t seed)
{
    struct world a = { .size = (int64_t)n }, b;
    struct jy_desc desc[3];
    struct jy_call call;
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < MOST; i++)
            a.b[k][i] = seed == 0 ? 1.5 + (double)(i * (k + 1)) : sample(JY_F64, seed * 31 + i * (k + 2) + k).d;
    for (size_t k = 0; k < 4; k++)
        a.scalar[k] = k < 2 ? sample(JY_I64, seed * 7 + k) : sample(JY_F64, seed * 7 + k);
    b = a;
    enter(&a, &call, desc);
    a.flags = trial_run(t, &call);
    a.status = call.status;
    enter(&b, &call, desc);
    feclearexcept(FE_ALL_EXCEPT);
    jy_loop_eval(&t->plan, 0, &call);
    b.flags = fetestexcept(FLAGS);
    b.status = call.status;
    if (a.flags != b.flags)
        printf("\n    level %d, n %zu, seed %zu: flags %x, not %x", (int)level, n, seed, a.flags, b.flags);
    CHECK_INT(a.flags, b.flags);
    CHECK_UINT(a.status, b.status);
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < MOST; i++)
            CHECK_F64BITS(a.b[k][i], b.b[k][i]);
    for (size_t k = 0; k < 4; k++)
        CHECK(same_value(k < 2 ? JY_I64 : JY_F64, a.scalar[k], b.scalar[k]));
}

/* `build` makes the body of a vector loop over buffers 0, 1 -> 2, or, with `i` absent, all of the kernel. */
static void
try_kernel(void (*build)(struct trial *t, jy_lv count))
{
    for (int level = 0; level < LEVELS; level++) {
        struct trial t;
        if (!level_runs((enum level)level))
            continue;
        trial_begin(&t);
        for (int k = 0; k < 3; k++)
            trial_buffer(&t, JY_F64, true);
        build(&t, trial_count(&t));
        trial_finish(&t);
        if (!CHECK(trial_compile(&t, (enum level)level)))
            printf("\n    %s", t.why);
        for (size_t seed = 0; t.kernel != NULL && seed < 40; seed++)
            for (size_t n = 0; n <= MOST; n += n < 18 ? 1 : 23)
                compare_worlds(&t, (enum level)level, n, seed);
        trial_end(&t);
    }
}

static jy_lv
begin_vector(struct trial *t, jy_lv count, jy_lv *a, jy_lv *b)
{
    jy_lv i = jy_loop_for(&t->b, count, 1, true);
    *a = trial_load(t, 0, i);
    *b = trial_load(t, 1, i);
    return i;
}

static void
end_vector(struct trial *t, uint32_t out, jy_lv i, jy_lv value)
{
    trial_store(t, out, i, value);
    jy_loop_end_for(&t->b);
}

/* where(b > 1, a / b, b): the division must happen in every lane */
static void
build_where_division(struct trial *t, jy_lv count)
{
    jy_lv one = real(t, 1.0), a, b, i = begin_vector(t, count, &a, &b);
    jy_lv args[] = { op(t, JY_OP_GT, b, one), op(t, JY_OP_DIV, a, b), b };
    end_vector(t, 2, i, jy_loop_op(&t->b, JY_OP_WHERE, JY_F64, 3, args, false));
}

/* where(b > 1, -(a / b), b + b > a): what the arms are made of */
static void
build_where_chains(struct trial *t, jy_lv count)
{
    jy_lv one = real(t, 1.0), a, b, i = begin_vector(t, count, &a, &b);
    jy_lv other = jy_loop_cast(&t->b, JY_F64, op(t, JY_OP_GT, op(t, JY_OP_ADD, b, b), a));
    jy_lv args[] = { op(t, JY_OP_GT, b, one), op(t, JY_OP_NEG, op(t, JY_OP_DIV, a, b), b), other };
    end_vector(t, 2, i, jy_loop_op(&t->b, JY_OP_WHERE, JY_F64, 3, args, false));
}

/* where(a > b, int(a), int(b)) as double: conversions raise INVALID in lanes not taken */
static void
build_where_casts(struct trial *t, jy_lv count)
{
    jy_lv a, b, i = begin_vector(t, count, &a, &b);
    jy_lv args[] = { op(t, JY_OP_GT, a, b), jy_loop_cast(&t->b, JY_I64, a), jy_loop_cast(&t->b, JY_I64, b) };
    jy_lv w = jy_loop_op(&t->b, JY_OP_WHERE, JY_I64, 3, args, false);
    end_vector(t, 2, i, jy_loop_cast(&t->b, JY_F64, w));
}

static void
build_where_narrowed(struct trial *t, jy_lv count)
{
    jy_lv a, b, i = begin_vector(t, count, &a, &b);
    jy_lv args[] = { op(t, JY_OP_LT, a, b), jy_loop_cast(&t->b, JY_F32, a),
                     jy_loop_cast(&t->b, JY_F32, op(t, JY_OP_SQRT, b, b)) };
    jy_lv w = jy_loop_op(&t->b, JY_OP_WHERE, JY_F32, 3, args, false);
    end_vector(t, 2, i, jy_loop_cast(&t->b, JY_F64, w));
}

/* a result that nobody reads, and one that is only compared */
static void
build_dead(struct trial *t, jy_lv count)
{
    jy_lv a, b, i = begin_vector(t, count, &a, &b);
    op(t, JY_OP_DIV, a, b);
    jy_loop_cast(&t->b, JY_I32, b);
    end_vector(t, 2, i, a);
}

/* 1/0 and sqrt(-1) of constants, beside and inside the loop */
static void
build_constants(struct trial *t, jy_lv count)
{
    jy_lv one = real(t, 1.0), zero = real(t, 0.0), q = op(t, JY_OP_DIV, one, zero), a, b,
          i = begin_vector(t, count, &a, &b);
    jy_lv root = op(t, JY_OP_SQRT, real(t, -1.0), zero);
    end_vector(t, 2, i, op(t, JY_OP_ADD, op(t, JY_OP_MUL, a, q), root));
}

/* A constant out of range converts in the loop only when there is an element. */
static void
build_constant_cast(struct trial *t, jy_lv count)
{
    jy_lv big = real(t, 1e300), a, b, i = begin_vector(t, count, &a, &b);
    jy_lv cast = jy_loop_cast(&t->b, JY_I64, big);
    end_vector(t, 2, i, op(t, JY_OP_ADD, a, jy_loop_cast(&t->b, JY_F64, cast)));
}

/* A scalar division whose result only the loop uses: its flag must be there for n = 0 too. */
static void
build_scalar_before(struct trial *t, jy_lv count)
{
    jy_lv s = op(t, JY_OP_DIV, jy_loop_scalar(&t->b, 2, JY_F64), jy_loop_scalar(&t->b, 3, JY_F64)), a, b,
          i = begin_vector(t, count, &a, &b);
    end_vector(t, 2, i, op(t, JY_OP_MUL, op(t, JY_OP_ADD, a, s), b));
}

/* a = a * b + a, in place, then b[:] = a[0] (a load that does not move) */
static void
build_in_place(struct trial *t, jy_lv count)
{
    jy_lv a, b, i = begin_vector(t, count, &a, &b);
    end_vector(t, 0, i, op(t, JY_OP_ADD, op(t, JY_OP_MUL, a, b), a));
    jy_lv k = jy_loop_for(&t->b, count, 1, true);
    end_vector(t, 1, k, op(t, JY_OP_SUB, trial_load(t, 0, JY_NO_LV), trial_load(t, 2, k)));
}

/* minimum and maximum, comparisons and a long body, so that fewer copies are emitted */
static void
build_long(struct trial *t, jy_lv count)
{
    jy_lv a, b, i = begin_vector(t, count, &a, &b), v = a;
    for (int k = 0; k < 6; k++) {
        v = op(t, JY_OP_ADD, op(t, k % 2 ? JY_OP_MINIMUM : JY_OP_MAXIMUM, v, b), op(t, JY_OP_ABS, a, a));
        v = op(t, JY_OP_MUL, v, jy_loop_cast(&t->b, JY_F64, op(t, JY_OP_LE, v, a)));
    }
    end_vector(t, 2, i, v);
}

/* for first in 0, 7, 14, ...: extent = min(7, n - first); for j < extent: out[first + j] = a[first + j] + first */
static void
build_tiles(struct trial *t, jy_lv count)
{
    jy_lv seven = jy_loop_int_const(&t->b, 7), first = jy_loop_for(&t->b, count, 7, false);
    jy_lv extent = jy_loop_int(&t->b, JY_OP_MINIMUM, seven, jy_loop_int(&t->b, JY_OP_SUB, count, first));
    jy_lv sum = jy_loop_cast(
        &t->b, JY_F64, jy_loop_int(&t->b, JY_OP_ADD, jy_loop_int(&t->b, JY_OP_FLOOR_DIVIDE, first, seven), first));
    jy_lv j = jy_loop_for(&t->b, extent, 1, true);
    struct jy_access at = { .nterms = 2, .term = { { .index = first }, { .index = j } } };
    jy_lv v = op(t, JY_OP_ADD, jy_loop_load(&t->b, JY_F64, &at), sum);
    at.buffer = 2;
    jy_loop_store(&t->b, &at, v);
    jy_loop_end_for(&t->b);
    jy_loop_end_for(&t->b);
}

/* Index that moves twice as fast: two terms of one axis. */
static void
build_two_terms(struct trial *t, jy_lv count)
{
    jy_lv half = jy_loop_int(&t->b, JY_OP_FLOOR_DIVIDE, count, jy_loop_int_const(&t->b, 2)),
          i = jy_loop_for(&t->b, half, 1, true);
    struct jy_access at = { .nterms = 2, .term = { { .index = i }, { .index = i } } };
    end_vector(t, 2, i, op(t, JY_OP_NEG, jy_loop_load(&t->b, JY_F64, &at), i));
}

/* NumPy integer scalars: what does not fit asks for the original. */
static void
build_checked(struct trial *t, jy_lv count)
{
    static const jy_op ops[] = { JY_OP_ADD, JY_OP_SUB, JY_OP_MUL, JY_OP_NEG, JY_OP_ABS, JY_OP_SQUARE };
    jy_lv x = jy_loop_scalar(&t->b, 0, JY_I64), y = jy_loop_scalar(&t->b, 1, JY_I64), sum = x;
    (void)count;
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        jy_lv args[] = { x, y }, r = jy_loop_op(&t->b, ops[k], JY_I64, (size_t)jy_op_info[ops[k]].arity, args, true);
        args[0] = sum;
        args[1] = r;
        sum = jy_loop_op(&t->b, JY_OP_BITWISE_XOR, JY_I64, 2, args, false);
    }
    jy_loop_set_scalar(&t->b, 0, sum);
}

static void
build_checked_narrow(struct trial *t, jy_lv count)
{
    jy_lv x = jy_loop_cast(&t->b, JY_I32, jy_loop_scalar(&t->b, 0, JY_I64)), args[] = { x, x };
    (void)count;
    jy_lv r = jy_loop_op(&t->b, JY_OP_MUL, JY_I32, 2, args, true);
    jy_loop_set_scalar(&t->b, 1, jy_loop_cast(&t->b, JY_I64, r));
}

/* clang-format off */
TEST(emit_loop, arms_of_where) { try_kernel(build_where_division); }
TEST(emit_loop, arms_of_chains) { try_kernel(build_where_chains); }
TEST(emit_loop, arms_that_convert) { try_kernel(build_where_casts); }
TEST(emit_loop, arms_that_narrow) { try_kernel(build_where_narrowed); }
TEST(emit_loop, results_nobody_reads) { try_kernel(build_dead); }
TEST(emit_loop, constants) { try_kernel(build_constants); }
TEST(emit_loop, constant_casts) { try_kernel(build_constant_cast); }
TEST(emit_loop, scalars_before_the_loop) { try_kernel(build_scalar_before); }
TEST(emit_loop, in_place) { try_kernel(build_in_place); }
TEST(emit_loop, long_body) { try_kernel(build_long); }
TEST(emit_loop, tiles) { try_kernel(build_tiles); }
TEST(emit_loop, two_terms_of_one_axis) { try_kernel(build_two_terms); }
TEST(emit_loop, checked_integers) { try_kernel(build_checked); }
TEST(emit_loop, checked_narrow_integers) { try_kernel(build_checked_narrow); }

/* More than caches keep: the result, at every alignment, and nothing beside it. */
TEST(emit_loop, streams)
{
    enum { N = 600000 };
    struct trial t;
    trial_begin(&t);
    uint32_t a = trial_buffer(&t, JY_F64, true), out = trial_buffer(&t, JY_F64, true);
    t.plan.p_buffers.at[out].b_kind = JY_BUFFER_OUTPUT;
    jy_lv i = jy_loop_for(&t.b, trial_count(&t), 1, true), x = trial_load(&t, a, i);
    trial_store(&t, out, i, jy_loop_op(&t.b, JY_OP_MUL, JY_F64, 2, (jy_lv[]){ x, x }, false));
    jy_loop_end_for(&t.b);
    trial_finish(&t);
    if (CHECK(trial_compile(&t, LEVEL_HOST))) {
        double *from = malloc((N + 32) * sizeof *from), *to = aligned_alloc(64, (N + 32) * sizeof *to);
        for (int k = 0; k < N + 32; k++)
            from[k] = k / 7.0;
        for (int shift = 0; shift < 8; shift++) {
            int64_t n = N - 3 * shift, wrong = 0;
            struct jy_desc desc[] = { { (char *)from, { 8 } }, { (char *)(to + 8 + shift), { 8 } } };
            struct jy_call call = { .desc = desc, .size = &n };
            for (int k = 0; k < N + 32; k++)
                to[k] = -1;
            trial_run(&t, &call);
            for (int k = -8 - shift; k < N + 16 - shift; k++)
                wrong += to[8 + shift + k] != (k < 0 || k >= n ? -1 : from[k] * from[k]);
            CHECK_INT(wrong, 0);
        }
        free(from);
        free(to);
    }
    trial_end(&t);
}
