/* Kernels as functions of the call: what the entry fetches and how often, where tiles lie, what strides are known, attributes. */
#include "backend_llvm/emit.h"
#include "tests/unit/backend_llvm/harness.h"
#include <stdio.h>
#include <stdlib.h>

static char *
ir_of(const char *text, struct jy_backend_options options)
{
    struct jy_object out;
    struct trial t;
    char *ir = NULL;
    options.want_ir = options.verify = true;
    if (trial_parse(&t, text)) {
        if (CHECK_INT(jy_backend_entry()->compile(&out, &t.plan, &options), JY_OK))
            ir = strdup(out.ir);
        else
            printf("\n    %s", out.error);
        jy_backend_entry()->release(&out);
    }
    trial_end(&t);
    return ir;
}

#define TWO_LOOPS                                                                                                      \
    "plan f (s0=5) :\n"                                                                                                \
    "  size z0 = s0\n"                                                                                                 \
    "  buffer b0 = input 0 : float64[s0] order(0)\n"                                                                   \
    "  buffer b1 = output : float64[s0] order(0) unit(0)\n"                                                            \
    "  input b0\n"                                                                                                     \
    "  kernel 0:\n"                                                                                                    \
    "    %0 = size z0\n"                                                                                               \
    "    for %1 < %0 vector:\n"                                                                                        \
    "      %2 = load float64 b0[%1]\n"                                                                                 \
    "      store b1[%1] = %2\n"                                                                                        \
    "    for %4 < %0 vector:\n"                                                                                        \
    "      %5 = load float64 b0[%4]\n"                                                                                 \
    "      store b1[%4] = %5\n"

/* Once per call, in the entry, whatever number of loops asks; not at all what is known. */
TEST(emit_function, descriptors_and_sizes_are_fetched_once)
{
    char *ir = ir_of(TWO_LOOPS, (struct jy_backend_options){ .features = "" });
    if (ir != NULL) {
        const char *body = strstr(ir, "\nbody:");
        CHECK_UINT(count_in(ir, " = load ptr"), 4); /* desc, size, data of b0 and b1 */
        CHECK_UINT(count_in(ir, " = load i64"), 2); /* the size, the stride of b0: that of a unit axis is known */
        CHECK(strstr(ir, "%b0.stride0 = load i64") < body && strstr(body, " = load ptr") == NULL &&
              strstr(body, " = load i64") == NULL);
    }
    free(ir);
}

/* Without them LLVM splits the vectors that the emitters made. */
TEST(emit_function, attributes_name_the_chosen_width)
{
    static const int asked[] = { 0, 128, 256, 512, 7 };
    static const unsigned chosen[] = { 256, 128, 256, 256, 256 };
    for (size_t k = 0; k < 5; k++) {
        char *ir = ir_of(
            TWO_LOOPS, (struct jy_backend_options){ .features = level_features(LEVEL_AVX2), .vector_bits = asked[k] });
        char width[80];
        snprintf(width, sizeof width, "\"min-legal-vector-width\"=\"%u\" \"prefer-vector-width\"=\"%u\"", chosen[k],
                 chosen[k]);
        if (ir != NULL && !CHECK(strstr(ir, width) != NULL && strstr(ir, "nounwind") != NULL))
            printf("\n    %d: %s", asked[k], strstr(ir, "attributes"));
        free(ir);
    }
}

/* Values have names for those who read them only. */
TEST(emit_function, every_kernel_is_a_symbol_of_its_own)
{
    const char *text =
        "plan f (s0=5) :\n  size z0 = s0\n  scalar q0 = int64 npscalar\n  scalar q1 = int64 npscalar\n"
        "  kernel 0:\n    %0 = size z0\n    set q0 = %0\n  kernel 1:\n    %0 = size z0\n    %1 = int add %0, "
        "%0\n    set q1 = %1\n  step kernel 1\n  step kernel 0\n";
    for (int level = 0; level < LEVELS; level++) {
        struct trial t;
        int64_t size = 21;
        union jy_scalar slot[2] = { { .i = -1 }, { .i = -1 } };
        if (!trial_parse(&t, text) || !level_runs((enum level)level) || !CHECK(trial_compile(&t, (enum level)level))) {
            trial_end(&t);
            continue;
        }
        struct jy_call call = { .size = &size, .scalar = slot };
        CHECK_INT(trial_run(&t, &call), 0);
        CHECK(slot[0].i == 21 && slot[1].i == -1);
        void *second = jy_loader_symbol(t.code, "jy_kernel_1");
        if (CHECK(second != NULL)) {
            memcpy(&t.kernel, &second, sizeof second);
            trial_run(&t, &call);
            CHECK_INT(slot[1].i, 42);
        }
        CHECK_PTR(jy_loader_symbol(t.code, "jy_kernel_2"), NULL);
        trial_end(&t);
    }
}

/* Tiles lie at their offset in the memory that the call brings; they have no descriptor, and their elements are dense. */
TEST(emit_function, tiles_have_no_descriptor)
{
    const char *text =
        "plan f (s0=5) :\n  size z0 = s0\n  buffer b0 = tile 64 9 : float32[9] order(0) unit(0)\n  buffer b1 = "
        "tile 0 8 : float64[8] order(0)\n  kernel 0:\n    %0 = size z0\n    %1 = const int64 3\n    for %2 < %0 "
        "vector:\n      %3 = load float64 b1[%2]\n      %4 = cast float32 %3\n      store b0[%2] = %4\n    %6 = "
        "load float64 b1[%1]\n    store b1[0] = %6\n  tile 128\n";
    struct trial t;
    if (trial_parse(&t, text) && CHECK(trial_compile(&t, LEVEL_HOST))) {
        _Alignas(64) char tile[192];
        int64_t size = 8;
        struct jy_call call = { .size = &size, .tile = tile };
        memset(tile, 0x5a, sizeof tile);
        for (int k = 0; k < 8; k++)
            ((double *)tile)[k] = k / 4.0;
        trial_run(&t, &call);
        for (int k = 0; k < 8; k++)
            CHECK_F32BITS(((float *)(tile + 64))[k], (float)k / 4.0f);
        CHECK_F64BITS(((double *)tile)[0], 0.75);
        for (size_t k = 64 + 32; k < sizeof tile; k++)
            CHECK_INT(tile[k], 0x5a);
    }
    trial_end(&t);
    char *ir = ir_of(text, (struct jy_backend_options){ .features = "" });
    if (ir != NULL)
        CHECK(count_in(ir, "ptr %tile, i64 0") == 1 && count_in(ir, "ptr %tile, i64 64") == 1);
    free(ir);
}

/* The stride of a unit axis is not what the descriptor says: that is what somebody has promised. */
TEST(emit_function, unit_strides_are_not_read)
{
    struct trial t;
    if (trial_parse(&t, TWO_LOOPS) && CHECK(trial_compile(&t, LEVEL_HOST))) {
        double from[] = { 1, -1, 2, -1, 3 }, to[4] = { 0, 0, 0, -7 };
        int64_t size = 3;
        struct jy_desc desc[] = { { (char *)from, { 16 } }, { (char *)to, { 1 << 20 } } };
        trial_run(&t, &(struct jy_call){ .desc = desc, .size = &size });
        CHECK(to[0] == 1 && to[1] == 2 && to[2] == 3 && to[3] == -7);
    }
    trial_end(&t);
}

TEST(emit_function, the_first_reason_is_kept)
{
    struct jy_emit e = { .why = NULL };
    jy_emit_fail(&e, "first");
    jy_emit_fail(&e, "second");
    CHECK_STR(e.why, "first");
}
