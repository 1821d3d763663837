/* Flows in unit tests: as text, and of one instruction. */
#ifndef JY_TESTS_FLOW_CASE_H
#define JY_TESTS_FLOW_CASE_H

#include "graph/flow.h"
#include "tests/unit/test.h"

/* The flow, or NULL after a failed check that shows the error. */
static inline struct jy_flow *
parse_flow(struct jy_arena *arena, const char *source)
{
    const char *error = NULL;
    struct jy_flow *w = jy_flow_parse(arena, source, &error);
    if (w == NULL)
        CHECK_STR(error, "");
    return w;
}

static inline void
check_flow_text(const struct jy_flow *w, const char *expected)
{
    struct jy_text text = { 0 };
    jy_flow_print(&text, w);
    CHECK_STR(text.at, expected);
    jy_text_free(&text);
}

/* What one step of a pass makes of the text (numbers stay as they are); NULL: the step says that it changes nothing, and changes nothing. */
static inline void
check_step(const char *source, bool (*step)(struct jy_flow *w), const char *expected)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL) {
        CHECK_INT(step(w), expected != NULL);
        CHECK_STR(jy_flow_verify(w), NULL);
        check_flow_text(w, expected != NULL ? expected : source);
    }
    jy_arena_free(arena);
}

static inline void
check_simplified(const char *source, const char *expected)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL) {
        jy_flow_simplify(w);
        CHECK_STR(jy_flow_verify(w), NULL);
        check_flow_text(w, expected);
    }
    jy_arena_free(arena);
}

/* A text begins with two inputs: %0, an int, and %1, a bool. */
#define INT_AND_BOOL                                                                                                   \
    "flow f :\n"                                                                                                       \
    "  input 0 : i64 number 0 int64\n"                                                                                 \
    "  input 1 : i1 number 1 bool\n"                                                                                   \
    "  block 0 () :\n"                                                                                                 \
    "    %0 = input[0] : i64\n"                                                                                        \
    "    %1 = input[1] : i1\n"

/* How often the instruction stands in blocks of the flow. */
static inline size_t
count_op(const struct jy_flow *w, enum jy_fop op)
{
    size_t n = 0;
    for (jy_fb b = 0; b < w->w_blocks.n; b++)
        for (size_t k = 0; k < w->w_blocks.at[b].f_body.n; k++)
            n += jy_flow_at(w, w->w_blocks.at[b].f_body.at[k])->f_op == op;
    return n;
}

/* The text is sound and printed again as it stands. */
static inline void
check_round_trip(const char *source)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    if (w != NULL)
        check_flow_text(w, source);
    jy_arena_free(arena);
}

static inline struct jy_flow_input
number_input(enum jy_ftype type, uint32_t number)
{
    static const uint8_t dtypes[JY_F_TYPE_COUNT] = {
        [JY_F_I1] = JY_BOOL, [JY_F_I32] = JY_I32, [JY_F_I64] = JY_I64, [JY_F_F32] = JY_F32, [JY_F_F64] = JY_F64
    };
    if (type == JY_F_PTR)
        return (struct jy_flow_input){ .kind = JY_FLOW_IN_OBJECT, .type = JY_F_PTR, .number = number };
    return (struct jy_flow_input){ .type = (uint8_t)type, .dtype = dtypes[type], .number = number };
}

static inline union jy_scalar
int_of(int64_t i)
{
    return (union jy_scalar){ .i = i };
}

static inline union jy_scalar
f64_of(double d)
{
    return (union jy_scalar){ .d = d };
}

static inline union jy_scalar
f32_of(float f)
{
    union jy_scalar s = { .bits = 0 };
    s.f = f;
    return s;
}

/* Evaluates a text with these inputs; `out` gets the values of the exit that is returned. */
static inline int32_t
eval_flow(const char *source, const union jy_scalar *in, union jy_scalar *out)
{
    struct jy_arena *arena = jy_arena_new();
    struct jy_flow *w = parse_flow(arena, source);
    int32_t exit = -2;
    if (w != NULL)
        exit = jy_flow_eval(w, &(struct jy_flow_call){ .in = in, .out = out });
    jy_arena_free(arena);
    return exit;
}

#endif
