/* Flows of one instruction: machine code against the interpreter at the ends of its operands' ranges, with its exit and
 * without, at each feature level. */
#ifndef JY_BACKEND_FLOW_FORM_H
#define JY_BACKEND_FLOW_FORM_H

#include "tests/unit/backend_llvm/flow_harness.h"
#include <stdio.h>

enum { SAMPLES = 34 };

struct form {
    enum jy_fop op;
    enum jy_ftype type, of;
    bool exits;
    int fixed; /* operand 1 is this sample, as a constant; -1: an input */
};

static inline jy_dtype
dtype_of(enum jy_ftype type)
{
    static const uint8_t dtypes[JY_F_TYPE_COUNT] = { [JY_F_I1] = JY_BOOL, [JY_F_I8] = JY_I32,  [JY_F_I16] = JY_I32,
                                                     [JY_F_I32] = JY_I32, [JY_F_I64] = JY_I64, [JY_F_F32] = JY_F32,
                                                     [JY_F_F64] = JY_F64, [JY_F_PTR] = JY_I64 };
    return (jy_dtype)dtypes[type];
}

static inline enum jy_ftype
operand_type(const struct form *f, size_t k)
{
    if (f->op == JY_FLOW_SELECT && k == 0)
        return JY_F_I1;
    return f->op == JY_FLOW_OFFSET && k == 1 ? JY_F_I64 : f->of;
}

/* Numbers of eight and sixteen bits come about by cutting longer ones only. */
static inline jy_fv
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
static inline jy_fv
shown(struct jy_flow *w, jy_fv v)
{
    uint8_t type = jy_flow_at(w, v)->f_type;
    return type == JY_F_I8 || type == JY_F_I16 ? jy_flow_op(w, 0, JY_FLOW_SEXT, JY_F_I64, 1, &v, JY_NO_EXIT) : v;
}

/* Exit 0 is the instruction's and gives the operands; exit 1 gives its value. */
static inline struct jy_flow *
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
static inline bool
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

static inline void
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
        if (!CHECK(flow_agrees(w, c, &(struct jy_flow_call){ .in = in }))) {
            printf("\n    %s : %d of %d, level %d, exit %d: %llx %llx %llx\n", jy_flow_op_info[f->op].text, f->type,
                   f->of, (int)level, f->exits, (unsigned long long)x.bits, (unsigned long long)y.bits,
                   (unsigned long long)in[2].bits);
            return;
        }
    }
}

static inline void
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

static inline void
check_both(enum jy_fop op, enum jy_ftype type, enum jy_ftype of)
{
    check_form((struct form){ op, type, of, false, -1 });
    check_form((struct form){ op, type, of, true, -1 });
}

static inline void
check_plain(enum jy_fop op, enum jy_ftype type, enum jy_ftype of)
{
    check_form((struct form){ op, type, of, false, -1 });
}

static const enum jy_ftype integers[] = { JY_F_I32, JY_F_I64 }, floats[] = { JY_F_F32, JY_F_F64 };

#endif
