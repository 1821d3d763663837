/* Loads and stores: any strides, masked and strided tails, nothing touched beside the elements, nothing loaded for none. */
#include "tests/unit/backend_llvm/harness.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory between two pages that nobody may touch. */
struct fenced {
    char *all, *begin, *end;
    size_t page;
};

static bool
fence(struct fenced *f)
{
    f->page = (size_t)sysconf(_SC_PAGESIZE);
    f->all = mmap(NULL, 3 * f->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(f->all != MAP_FAILED))
        return false;
    f->begin = f->all + f->page;
    f->end = f->begin + f->page;
    return CHECK_INT(mprotect(f->begin, f->page, PROT_READ | PROT_WRITE), 0);
}

static void
unfence(struct fenced *f)
{
    munmap(f->all, 3 * f->page);
}

/* b1[i] = b0[i] */
static void
build_copy(struct trial *t, jy_dtype dtype, bool unit)
{
    trial_begin(t);
    trial_buffer(t, dtype, unit);
    trial_buffer(t, dtype, unit);
    jy_lv i = jy_loop_for(&t->b, trial_count(t), 1, true);
    trial_store(t, 1, i, trial_load(t, 0, i));
    jy_loop_end_for(&t->b);
    trial_finish(t);
}

/* n elements that end at (or, backwards, begin behind) the forbidden page; a crash is the failure. */
static void
copy_fenced(const struct trial *t, struct fenced *memory, jy_dtype dtype, int64_t n, int64_t stride, bool at_end)
{
    int64_t bytes = jy_dtype_info[dtype].bytes, step = stride * bytes, reach = (n - 1) * step;
    struct jy_desc desc[2];
    for (size_t k = 0; k < 2; k++) {
        memset(memory[k].begin, 0x5a, memory[k].page);
        char *lowest = at_end ? memory[k].end - (reach < 0 ? -reach : reach) - bytes : memory[k].begin;
        desc[k] = (struct jy_desc){ reach < 0 ? lowest - reach : lowest, { step } };
        if (n == 0)
            desc[k].data = memory[k].end;
    }
    for (int64_t i = 0; i < n; i++)
        jy_scalar_store(dtype, desc[0].data + i * step, sample(dtype, (size_t)i));
    trial_run(t, &(struct jy_call){ .desc = desc, .size = &n });
    size_t untouched = 0;
    for (int64_t i = 0; i < n; i++) {
        CHECK_BYTES(desc[1].data + i * step, desc[0].data + i * step, (size_t)bytes);
        memset(desc[1].data + i * step, 0x5a, (size_t)bytes);
    }
    for (size_t i = 0; i < memory[1].page; i++)
        untouched += memory[1].begin[i] == 0x5a;
    CHECK_UINT(untouched, memory[1].page);
}

TEST(emit_access, tails_touch_nothing_beside_the_elements)
{
    static const int64_t strides[] = { 1, 2, -1, -3 };
    struct fenced memory[2];
    if (!fence(&memory[0]) || !fence(&memory[1]))
        return;
    for (int level = 0; level < LEVELS; level++)
        for (int dtype = 0; dtype < JY_DTYPE_COUNT && level_runs((enum level)level); dtype++)
            for (int unit = 0; unit < 2; unit++) {
                struct trial t;
                build_copy(&t, (jy_dtype)dtype, unit == 1);
                if (CHECK(trial_compile(&t, (enum level)level)))
                    for (int64_t n = 0; n < 80; n += n < 18 ? 1 : 13)
                        for (size_t s = 0; s < (unit == 1 ? 1u : 4u); s++)
                            for (int at_end = 0; at_end < 2; at_end++)
                                copy_fenced(&t, memory, (jy_dtype)dtype, n, strides[s], at_end == 1);
                trial_end(&t);
            }
    unfence(&memory[0]);
    unfence(&memory[1]);
}

/* Machine code and interpreter on equal memory: two matrices of doubles of `rows` x `columns`, with these strides. */
enum { EDGE = 40 };

struct matrices {
    double from[EDGE * EDGE], to[EDGE * EDGE];
};

static void
fill(struct matrices *m)
{
    for (size_t i = 0; i < EDGE * EDGE; i++) {
        m->from[i] = (double)i + 0.5;
        m->to[i] = -1;
    }
}

static void
compare(const struct trial *t, int64_t rows, int64_t columns, const int64_t *from, const int64_t *to)
{
    static struct matrices a, b;
    int64_t sizes[] = { rows, columns };
    fill(&a);
    fill(&b);
    for (int slow = 0; slow < 2; slow++) {
        struct matrices *m = slow ? &b : &a;
        struct jy_desc desc[2] = { { (char *)m->from, { 8 * from[0], 8 * from[1] } },
                                   { (char *)m->to, { 8 * to[0], 8 * to[1] } } };
        for (size_t k = 0; k < 2; k++) /* the first element of an axis that goes backwards is at the far end */
            for (size_t d = 0; d < 2; d++)
                if (desc[k].stride[d] < 0 && sizes[d] > 0)
                    desc[k].data -= (sizes[d] - 1) * desc[k].stride[d];
        struct jy_call call = { .desc = desc, .size = sizes };
        if (slow)
            jy_loop_eval(&t->plan, 0, &call);
        else
            trial_run(t, &call);
    }
    if (!CHECK_BYTES(a.to, b.to, sizeof a.to))
        printf("\n    %d x %d, strides %d,%d to %d,%d\n", (int)rows, (int)columns, (int)from[0], (int)from[1],
               (int)to[0], (int)to[1]);
}

static void
check_matrices(const char *unit, const char *statements, size_t n, const int64_t (*strides)[4])
{
    struct jy_text text = { 0 };
    jy_text_add(
        &text,
        "plan f (s0=5, s1=7) :\n  size z0 = s0\n  size z1 = s1\n  buffer b0 = input 0 : float64[s0,s1] order(0,1)%s\n"
        "  buffer b1 = output : float64[s0,s1] order(0,1)\n  input b0\n  kernel 0:\n    %%0 = size z0\n    %%1 = size "
        "z1\n%s",
        unit, statements);
    for (int level = 0; level < LEVELS; level++) {
        struct trial t;
        if (trial_parse(&t, text.at) && level_runs((enum level)level) && CHECK(trial_compile(&t, (enum level)level)))
            for (int64_t edge = 0; edge <= 37; edge += edge < 5 ? 1 : 16)
                for (size_t k = 0; k < n; k++) {
                    compare(&t, 3, edge, strides[k], strides[k] + 2);
                    compare(&t, edge, 3, strides[k], strides[k] + 2);
                }
        trial_end(&t);
    }
    jy_text_free(&text);
}

/* Rows and columns, transposed, backwards, all of one element. */
static const int64_t any[][4] = { { EDGE, 1, EDGE, 1 }, { 1, EDGE, EDGE, 1 },   { EDGE, 1, 1, EDGE },
                                  { 0, 0, EDGE, 1 },    { -EDGE, -1, EDGE, 1 }, { 0, 1, -1, -EDGE } };

TEST(emit_access, strides_of_every_axis_count)
{
    check_matrices(
        "",
        "    for %2 < %0:\n      for %3 < %1 vector:\n        %4 = load float64 b0[%2, %3]\n        store b1[%2, %3] = "
        "%4\n",
        6, any);
}

/* An element that does not move with the loop is loaded in front of it, and not at all for no round. */
TEST(emit_access, what_stands_still_is_loaded_once)
{
    check_matrices(
        "",
        "    for %2 < %0:\n      for %3 < %1 vector:\n        %4 = load float64 b0[%2, 0]\n        %5 = load float64 "
        "b0[0, %3]\n        %6 = add float64 %4, %5\n        store b1[%2, %3] = %6\n",
        6, any);
    struct fenced memory;
    struct trial t;
    int64_t none = 0;
    if (!fence(&memory))
        return;
    trial_begin(&t);
    trial_buffer(&t, JY_F64, true);
    jy_lv i = jy_loop_for(&t.b, trial_count(&t), 1, true);
    trial_store(&t, 0, i, trial_load(&t, 0, JY_NO_LV));
    jy_loop_end_for(&t.b);
    trial_finish(&t);
    struct jy_desc desc[] = { { memory.end, { 8 } } };
    if (CHECK(trial_compile(&t, LEVEL_HOST)))
        trial_run(&t, &(struct jy_call){ .desc = desc, .size = &none });
    trial_end(&t);
    unfence(&memory);
}

/* A variable that walks two axes at once steps by the sum of their strides, also where one of them is the unit. */
TEST(emit_access, diagonals)
{
    static const int64_t square[][4] = { { EDGE, 1, EDGE, 1 }, { EDGE, -1, EDGE, 1 } };
    const char *diagonal =
        "    %2 = int minimum %0, %1\n    for %3 < %2 vector:\n      %4 = load float64 b0[%3, %3]\n      store "
        "b1[%3, 0] = %4\n";
    check_matrices("", diagonal, 2, square);
    check_matrices(" unit(1)", diagonal, 1, square);
}

/* The same indices on other axes are other elements. */
TEST(emit_access, transposed_reads)
{
    static const int64_t square[][4] = { { EDGE, 1, EDGE, 1 } };
    check_matrices(
        "",
        "    %2 = int minimum %0, %1\n    for %3 < %2:\n      for %4 < %2 vector:\n        %5 = load float64 b0[%3, "
        "%4]\n        %6 = load float64 b0[%4, %3]\n        %7 = subtract float64 %5, %6\n        store b1[%3, %4] = "
        "%7\n",
        1, square);
}

/* Updates of what was just stored, through the same access in another loop. */
TEST(emit_access, a_later_loop_sees_what_was_stored)
{
    check_matrices(
        "",
        "    for %2 < %0:\n      for %3 < %1 vector:\n        %4 = load float64 b0[%2, %3]\n        store b1[%2, %3] = "
        "%4\n      for %6 < %1 vector:\n        %7 = load float64 b1[%2, %6]\n        %8 = add float64 %7, %7\n        "
        "store b1[%2, %6] = %8\n",
        1, any);
}

TEST(emit_access, refuses_vectors_into_one_place)
{
    struct trial t;
    trial_begin(&t);
    trial_buffer(&t, JY_F64, true);
    jy_lv i = jy_loop_for(&t.b, trial_count(&t), 1, true);
    trial_store(&t, 0, JY_NO_LV, trial_load(&t, 0, i));
    jy_loop_end_for(&t.b);
    trial_finish(&t);
    CHECK(!trial_compile(&t, LEVEL_HOST));
    CHECK_STR(t.why, "trial: a vector loop stores to one place");
    trial_end(&t);
}
