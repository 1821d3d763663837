/* The loader: placing, many blocks, memory that is never writable and executable, forks, and objects that are
 * damaged anywhere. */
#include "tests/unit/backend_llvm/harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* b1[i] = floor(b0[i]) * 2.5: constants in rodata, and a call of libm where the machine has no rounding instruction. */
static void
build(struct trial *t)
{
    trial_begin(t);
    trial_buffer(t, JY_F64, true);
    trial_buffer(t, JY_F64, true);
    jy_lv i = jy_loop_for(&t->b, trial_count(t), 1, true);
    jy_lv v = trial_load(t, 0, i), f = jy_loop_op(&t->b, JY_OP_FLOOR, JY_F64, 1, &v, false);
    jy_lv args[] = { f, jy_loop_const(&t->b, JY_F64, (union jy_scalar){ .d = 2.5 }) };
    trial_store(t, 1, i, jy_loop_op(&t->b, JY_OP_MUL, JY_F64, 2, args, false));
    jy_loop_end_for(&t->b);
    trial_finish(t);
}

static double
call_with(void *kernel, double x)
{
    double in[] = { x, x, x, x, x }, out[5];
    struct jy_desc desc[] = { { (char *)in, { 8 } }, { (char *)out, { 8 } } };
    int64_t size = 5;
    struct jy_call call = { .desc = desc, .size = &size };
    jy_kernel_fn fn;
    memcpy(&fn, &kernel, sizeof fn);
    fn(&call);
    return out[4];
}

static bool
maps_say(const void *address, const char *rights)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[400], has[8];
    bool found = false;
    unsigned long from, to;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx %7s", &from, &to, has) == 3 && (uintptr_t)address >= from && (uintptr_t)address < to)
            found = strncmp(has, rights, 3) == 0;
    if (maps != NULL)
        fclose(maps);
    return found;
}

TEST(loader, places_and_frees)
{
    for (int level = 0; level < LEVELS; level++) {
        struct trial t;
        struct jy_code_block *blocks[150];
        const char *why;
        build(&t);
        if (level_runs((enum level)level) && CHECK(trial_compile(&t, (enum level)level))) {
            for (int k = 0; k < 150; k++)
                CHECK_INT(jy_loader_place(&blocks[k], t.object.bytes, t.object.size, &why), JY_OK);
            for (int k = 0; k < 150; k += 2)
                jy_loader_free(blocks[k]);
            for (int k = 1; k < 150; k += 2) {
                void *at = jy_loader_symbol(blocks[k], "jy_kernel_0");
                CHECK(maps_say(at, "r-x"));
                CHECK_F64BITS(call_with(at, -1.5), -5.0);
                CHECK_PTR(jy_loader_symbol(blocks[k], "jy_kernel_1"), NULL);
            }
            for (int k = 0; k < 150; k += 2)
                CHECK_INT(jy_loader_place(&blocks[k], t.object.bytes, t.object.size, &why), JY_OK);
            for (int k = 0; k < 150; k++) {
                CHECK_F64BITS(call_with(jy_loader_symbol(blocks[k], "jy_kernel_0"), 3.7), 7.5);
                jy_loader_free(blocks[k]);
            }
        }
        trial_end(&t);
    }
    jy_loader_free(NULL);
}

TEST(loader, survives_a_fork)
{
    struct trial t;
    struct jy_code_block *block;
    const char *why;
    build(&t);
    if (CHECK(trial_compile(&t, LEVEL_HOST))) {
        pid_t child = fork();
        if (child == 0) { /* what it places must not show in the parent */
            bool good = true;
            for (int k = 0; k < 10; k++)
                good = good && jy_loader_place(&block, t.object.bytes, t.object.size, &why) == JY_OK &&
                       call_with(jy_loader_symbol(block, "jy_kernel_0"), 4.5) == 10.0;
            _exit(good ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK_INT(status, 0);
        void *at;
        memcpy(&at, &t.kernel, sizeof at);
        CHECK_F64BITS(call_with(at, 4.5), 10.0);
    }
    trial_end(&t);
}

/* Every prefix, and every byte changed in turn: a refusal or a block, never a crash; a block is not run. */
TEST(loader, refuses_damaged_objects)
{
    struct trial t;
    struct jy_code_block *block;
    const char *why = NULL;
    unsigned refused = 0;
    build(&t);
    if (CHECK(trial_compile(&t, LEVEL_PLAIN))) {
        char *copy = malloc(t.object.size);
        for (size_t n = 0; n < t.object.size; n++) {
            memcpy(copy, t.object.bytes, n);
            CHECK_INT(jy_loader_place(&block, copy, n, &why), JY_BREAK);
            CHECK(why != NULL && block == NULL);
        }
        for (size_t n = 0; n < t.object.size; n++) {
            memcpy(copy, t.object.bytes, t.object.size);
            copy[n] = (char)~copy[n];
            jy_status status = jy_loader_place(&block, copy, t.object.size, &why);
            refused += status != JY_OK;
            CHECK(status != JY_BREAK || why != NULL);
            jy_loader_free(block);
        }
        CHECK(refused > 100);
        free(copy);
    }
    trial_end(&t);
}

TEST(loader, names_the_machine)
{
    struct trial t;
    struct jy_code_block *block;
    const char *why = NULL;
    build(&t);
    if (CHECK(trial_compile(&t, LEVEL_HOST))) {
        t.object.bytes[18] = (char)183; /* e_machine: AArch64 */
        CHECK_INT(jy_loader_place(&block, t.object.bytes, t.object.size, &why), JY_BREAK);
        CHECK_STR(why, "an object for a machine whose relocations the loader does not apply");
    }
    trial_end(&t);
}
