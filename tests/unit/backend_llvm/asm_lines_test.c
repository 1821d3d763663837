/* The program's lines in assembly texts, and that machine code is the same whether the text was wanted or not. */
#include "backend_llvm/session.h"
#include "tests/unit/backend_llvm/flow_harness.h"

/* for i in range(n): a[i] = a[i] * x (line 7), with a check in line 8 */
#define TEXT                                                                                                           \
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
    "  block 1 (%5 : i64) at 3 @6 :\n"                                                                                 \
    "    %6 = lt %5, %0 : i1 @6\n"                                                                                     \
    "    branch %6 ? 2 () : 3 ()\n"                                                                                    \
    "  block 2 () at 4 @7 :\n"                                                                                         \
    "    %7 = mul %5, %4 : i64 @7\n"                                                                                   \
    "    %8 = load[0] %1, %7 alias 1 : f64 @7\n"                                                                       \
    "    %9 = mul %8, %2 : f64 @7\n"                                                                                   \
    "    store[0] %1, %7, %9 alias 1 @7\n"                                                                             \
    "    %10 = lt %9, %2 : i1 @8\n"                                                                                    \
    "    check %10 exit 1 @8\n"                                                                                        \
    "    %12 = add %5, %11 : i64 @6\n"                                                                                 \
    "    jump 1 (%12)\n"                                                                                               \
    "  block 3 () :\n"                                                                                                 \
    "    exit 0\n"                                                                                                     \
    "  exit 0 stop at 1 ()\n"                                                                                          \
    "  exit 1 check at 2 (%5)\n"

static void
compile_text(struct jy_object *out, bool want_asm)
{
    struct jy_arena *arena = jy_arena_new();
    const char *error = NULL;
    struct jy_flow *w = jy_flow_parse(arena, TEXT, &error);
    struct jy_backend_options options = { .want_asm = want_asm, .verify = true };
    CHECK_STR(error, NULL);
    if (w != NULL)
        CHECK_INT(jy_backend_entry()->compile_flow(out, w, &options), JY_OK);
    jy_arena_free(arena);
}

TEST(asm_lines, lines_are_comments)
{
    struct jy_object out = { 0 };
    compile_text(&out, true);
    if (CHECK(out.asm_text != NULL)) {
        const char *six = strstr(out.asm_text, "# line 6\n"), *seven = strstr(out.asm_text, "# line 7\n");
        CHECK(six != NULL && seven != NULL && strstr(out.asm_text, "# line 8\n") != NULL);
        CHECK(strstr(out.asm_text, ".loc") == NULL && strstr(out.asm_text, ".debug") == NULL);
        CHECK(strstr(out.asm_text, ".cfi_") == NULL);
    }
    jy_backend_entry()->release(&out);
}

TEST(asm_lines, machine_code_is_the_same)
{
    struct jy_object with = { 0 }, without = { 0 };
    compile_text(&with, true);
    compile_text(&without, false);
    CHECK_UINT(with.size, without.size);
    if (with.size == without.size)
        CHECK(memcmp(with.bytes, without.bytes, with.size) == 0);
    jy_backend_entry()->release(&with);
    jy_backend_entry()->release(&without);
}

TEST(asm_lines, what_is_left_of_a_text)
{
    char text[] =
        "f:\n\t.file\t1 \"program\"\n\t.cfi_startproc\n\t.loc\t1 12 0\n\taddq\n.Ltmp0:\n\t.loc\t1 12 3\n\tsubq\n"
        "\t.loc\t1 0 0\n\tret\n\t.section\t.debug_line,\"\"\n\t.byte 1\n\t.section\t\".note\"\n";
    jy_lines_tidy(text);
    CHECK_STR(text, "f:\n# line 12\n\taddq\n\tsubq\n# no line\n\tret\n\t.section\t\".note\"\n");
}
