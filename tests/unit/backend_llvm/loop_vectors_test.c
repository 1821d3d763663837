/* Which of a flow's loops are said to be vectorised. */
#include "tests/unit/backend_llvm/flow_harness.h"

/* for i in range(n): a[i] = `round` of %8 = a[i] and %7, 8 * i */
#define LOOP(careful, round)                                                                                           \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : ptr data 1\n"                                                                                         \
    "  input 2 : f64 number 2 float64\n"                                                                               \
    "  alias 1 : input 1 written\n"                                                                                    \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : ptr\n"                                                                                        \
    "    %2 = input[2] : f64\n"                                                                                        \
    "    %3 = const[0] : i64\n"                                                                                        \
    "    %4 = const[8] : i64\n"                                                                                        \
    "    %11 = const[1] : i64\n"                                                                                       \
    "    jump 1 (%3)\n"                                                                                                \
    "  block 1 (%5 : i64)" careful " :\n"                                                                              \
    "    %6 = lt %5, %0 : i1\n"                                                                                        \
    "    branch %6 ? 2 () : 3 ()\n"                                                                                    \
    "  block 2 () :\n"                                                                                                 \
    "    %7 = mul %5, %4 : i64\n"                                                                                      \
    "    %8 = load[0] %1, %7 alias 1 : f64\n" round "    %12 = add %5, %11 : i64\n"                                    \
    "    jump 1 (%12)\n"                                                                                               \
    "  block 3 () :\n"                                                                                                 \
    "    exit 0\n"                                                                                                     \
    "  exit 0 stop at 1 ()\n"                                                                                          \
    "  exit 1 check at 2 (%5)\n"

/* Elements at once; 99: it was not compiled. */
static unsigned
vectors_of(const char *text, bool want)
{
    struct jy_arena *arena = jy_arena_new();
    const char *error = NULL;
    struct jy_flow *w = jy_flow_parse(arena, text, &error);
    struct jy_backend_options options = { .want_vectors = want };
    struct jy_object out;
    unsigned n = 99;
    CHECK_STR(error, NULL);
    if (w != NULL) {
        *jy_vec_push(arena, &w->w_reports) = (struct jy_flow_report){ .kind = JY_REPORT_FOR };
        w->w_blocks.at[1].f_loop = w->w_blocks.at[2].f_loop = 1;
        if (CHECK_INT(jy_backend_entry()->compile_flow(&out, w, &options), JY_OK)) {
            CHECK((out.vectors != NULL) == want);
            n = out.vectors != NULL ? out.vectors[0] : 0;
        }
        jy_backend_entry()->release(&out);
    }
    jy_arena_free(arena);
    return n;
}

TEST(loop_vectors, only_loops_of_vectors_count)
{
    const char *product = LOOP("", "    %9 = mul %8, %2 : f64\n    store[0] %1, %7, %9 alias 1\n");
    CHECK(vectors_of(product, true) >= 2);
    CHECK_UINT(vectors_of(product, false), 0);
    CHECK_UINT(vectors_of(LOOP(" careful", "    %9 = mul %8, %2 : f64\n    store[0] %1, %7, %9 alias 1\n"), true), 0);
    CHECK_UINT(
        vectors_of(LOOP("", "    %9 = lt %8, %2 : i1\n    check %9 exit 1\n    store[0] %1, %7, %2 alias 1\n"), true),
        1);
}
