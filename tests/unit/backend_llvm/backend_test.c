/* The table: texts on demand, refusals with a reason, feature strings, and the same bytes for the same plan. */
#include "tests/unit/backend_llvm/harness.h"
#include <pthread.h>
#include <stdlib.h>

static void
build_sum(struct trial *t)
{
    trial_begin(t);
    for (int k = 0; k < 3; k++)
        trial_buffer(t, JY_F64, true);
    t->b.line = 17;
    jy_lv i = jy_loop_for(&t->b, trial_count(t), 1, true);
    jy_lv args[] = { trial_load(t, 0, i), trial_load(t, 1, i) };
    trial_store(t, 2, i, jy_loop_op(&t->b, JY_OP_ADD, JY_F64, 2, args, false));
    jy_loop_end_for(&t->b);
    trial_finish(t);
}

TEST(backend, texts)
{
    const struct jy_backend *b = jy_backend_entry();
    struct jy_backend_options options = {
        .want_ir = true, .want_ir_opt = true, .want_asm = true, .verify = true, .name = "mine"
    };
    struct jy_object out;
    struct trial t;
    build_sum(&t);
    CHECK_INT(b->abi, JY_BACKEND_ABI);
    CHECK(b->llvm_version[0] != '\0' && b->host_cpu()[0] != '\0' && b->host_features()[0] != '\0');
    if (CHECK_INT(b->compile(&out, &t.plan, &options), JY_OK)) {
        CHECK(strstr(out.ir, "define i32 @jy_kernel_0(ptr %call)") != NULL);
        CHECK(strstr(out.ir, "%b0.") != NULL && strstr(out.ir, "%add.") != NULL);
        CHECK(strstr(out.ir, "line 17") != NULL);
        CHECK(strstr(out.ir_opt, "jy_kernel_0") != NULL);
        CHECK(strstr(out.asm_text, "jy_kernel_0:") != NULL);
        CHECK_PTR(out.error, NULL);
        CHECK(out.emit_ms > 0 && out.codegen_ms > 0);
    }
    b->release(&out);
    CHECK_PTR(out.ir, NULL);
    trial_end(&t);
}

/* Texts change nothing in the object; nor does the process's history. */
TEST(backend, same_bytes)
{
    const struct jy_backend *b = jy_backend_entry();
    struct jy_backend_options quiet = { .name = "mine" }, loud = { .want_ir = true, .want_asm = true, .name = "mine" };
    struct jy_backend_options other = { .features = "", .name = "mine" };
    struct jy_object x, y, z;
    struct trial t;
    build_sum(&t);
    CHECK_INT(b->compile(&x, &t.plan, &quiet), JY_OK);
    CHECK_INT(b->compile(&z, &t.plan, &other), JY_OK);
    CHECK_INT(b->compile(&y, &t.plan, &loud), JY_OK);
    if (CHECK_UINT(x.size, y.size))
        CHECK_BYTES(y.bytes, x.bytes, x.size);
    CHECK(x.size != z.size || memcmp(x.bytes, z.bytes, x.size) != 0);
    b->release(&x);
    b->release(&y);
    b->release(&z);
    trial_end(&t);
}

TEST(backend, vector_bits)
{
    const struct jy_backend *b = jy_backend_entry();
    struct trial t;
    build_sum(&t);
    for (int bits = 128; bits <= 512; bits *= 2) {
        struct jy_backend_options options = { .features = level_features(LEVEL_AVX2),
                                              .vector_bits = bits,
                                              .want_ir = true };
        struct jy_object out;
        CHECK_INT(b->compile(&out, &t.plan, &options), JY_OK);
        CHECK((strstr(out.ir, "<4 x double>") != NULL) == (bits >= 256));
        CHECK((strstr(out.ir, "<2 x double>") != NULL) == (bits == 128));
        b->release(&out);
    }
    trial_end(&t);
}

/* An operation that only NumPy's loops perform has no code here. */
TEST(backend, refuses_with_a_reason)
{
    const struct jy_backend *b = jy_backend_entry();
    struct jy_backend_options options = { .name = "mine" };
    struct jy_object out;
    struct trial t;
    trial_begin(&t);
    jy_lv v = jy_loop_scalar(&t.b, 0, JY_F64);
    jy_loop_set_scalar(&t.b, 0, jy_loop_op(&t.b, JY_OP_EXP, JY_F64, 1, &v, false));
    trial_finish(&t);
    CHECK_INT(b->compile(&out, &t.plan, &options), JY_BREAK);
    CHECK_STR(out.error, "mine: an operation has no machine code for its dtype");
    CHECK_PTR(out.bytes, NULL);
    b->release(&out);
    trial_end(&t);
}

/* Alternates between two machines; NULL when all went well. */
static void *
compile_often(void *unused)
{
    static const char trouble[] = "";
    struct trial t;
    bool good = true;
    (void)unused;
    build_sum(&t);
    for (int k = 0; k < 20 && good; k++) {
        struct jy_backend_options options = { .features = k % 2 ? "" : NULL };
        struct jy_object out;
        good = jy_backend_entry()->compile(&out, &t.plan, &options) == JY_OK && out.size > 0;
        jy_backend_entry()->release(&out);
    }
    trial_end(&t);
    return good ? NULL : (void *)(uintptr_t)trouble;
}

TEST(backend, several_threads)
{
    pthread_t thread[3];
    for (int k = 0; k < 3; k++)
        CHECK_INT(pthread_create(&thread[k], NULL, compile_often, NULL), 0);
    for (int k = 0; k < 3; k++) {
        void *result = thread;
        pthread_join(thread[k], &result);
        CHECK_PTR(result, NULL);
    }
}
