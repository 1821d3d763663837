/* The loop builder (loop_build.h). */
#include "graph/loop_build.h"
#include <assert.h>
#include <string.h>

void
jy_loop_begin(struct jy_loop_builder *b, struct jy_arena *arena)
{
    *b = (struct jy_loop_builder){ .arena = arena };
}

static struct jy_lstmt *
new_stmt(struct jy_loop_builder *b, jy_lv *out, enum jy_lop kind, jy_dtype dtype)
{
    *out = (jy_lv)b->kernel.k_stmts.n;
    struct jy_lstmt *s = jy_vec_push(b->arena, &b->kernel.k_stmts);
    *s = (struct jy_lstmt){ .l_kind = kind,
                            .l_dtype = dtype,
                            .l_args = { JY_NO_LV, JY_NO_LV, JY_NO_LV },
                            .l_var = JY_NO_LV,
                            .l_yield = JY_NO_LV,
                            .l_line = b->line,
                            .l_file = b->file };
    return s;
}

static void
add_to_body(struct jy_loop_builder *b, jy_lv v)
{
    if (b->depth == 0)
        *jy_vec_push(b->arena, &b->kernel.k_body) = v;
    else
        *jy_vec_push(b->arena, &jy_loop_at(b, b->open[b->depth - 1])->l_body) = v;
}

static struct jy_lstmt *
append(struct jy_loop_builder *b, jy_lv *out, enum jy_lop kind, jy_dtype dtype)
{
    new_stmt(b, out, kind, dtype);
    add_to_body(b, *out);
    return jy_loop_at(b, *out);
}

/* A statement of the prologue equal to this one, or a new one. */
static jy_lv
share(struct jy_loop_builder *b, enum jy_lop kind, jy_dtype dtype, uint32_t index, union jy_scalar value)
{
    for (size_t i = 0; i < b->prologue.n; i++) {
        const struct jy_lstmt *s = jy_loop_at(b, b->prologue.at[i]);
        if (s->l_kind == kind && s->l_dtype == dtype && s->l_index == index && s->l_value.bits == value.bits)
            return b->prologue.at[i];
    }
    jy_lv v;
    struct jy_lstmt *s = new_stmt(b, &v, kind, dtype);
    s->l_index = index;
    s->l_value = value;
    s->l_line = 0;
    *jy_vec_push(b->arena, &b->prologue) = v;
    return v;
}

jy_lv
jy_loop_const(struct jy_loop_builder *b, jy_dtype dtype, union jy_scalar value)
{
    if (dtype == JY_F32)
        value.bits &= UINT32_MAX;
    return share(b, JY_L_CONST, dtype, 0, value);
}

jy_lv
jy_loop_int_const(struct jy_loop_builder *b, int64_t value)
{
    return jy_loop_const(b, JY_I64, (union jy_scalar){ .i = value });
}

jy_lv
jy_loop_size(struct jy_loop_builder *b, uint32_t slot)
{
    return share(b, JY_L_SIZE, JY_I64, slot, (union jy_scalar){ .i = 0 });
}

jy_lv
jy_loop_scalar(struct jy_loop_builder *b, uint32_t slot, jy_dtype dtype)
{
    return share(b, JY_L_SCALAR, dtype, slot, (union jy_scalar){ .i = 0 });
}

void
jy_loop_set_scalar(struct jy_loop_builder *b, uint32_t slot, jy_lv value)
{
    jy_lv v;
    struct jy_lstmt *s = append(b, &v, JY_L_SET_SCALAR, (jy_dtype)jy_loop_at(b, value)->l_dtype);
    s->l_index = slot;
    s->l_nargs = 1;
    s->l_args[0] = value;
}

jy_lv
jy_loop_int(struct jy_loop_builder *b, jy_op op, jy_lv x, jy_lv y)
{
    jy_lv v;
    struct jy_lstmt *s = append(b, &v, JY_L_INT, JY_I64);
    s->l_op = (uint16_t)op;
    s->l_nargs = 2;
    s->l_args[0] = x;
    s->l_args[1] = y;
    return v;
}

static void
set_accesses(struct jy_loop_builder *b, struct jy_lstmt *s, size_t n, const struct jy_access *access)
{
    s->l_naccess = (uint8_t)n;
    s->l_access = jy_arena_copy(b->arena, access, n * sizeof(*access));
}

jy_lv
jy_loop_load(struct jy_loop_builder *b, jy_dtype dtype, const struct jy_access *access)
{
    jy_lv v;
    set_accesses(b, append(b, &v, JY_L_LOAD, dtype), 1, access);
    return v;
}

jy_lv
jy_loop_store(struct jy_loop_builder *b, const struct jy_access *access, jy_lv value)
{
    jy_lv v;
    struct jy_lstmt *s = append(b, &v, JY_L_STORE, (jy_dtype)jy_loop_at(b, value)->l_dtype);
    s->l_nargs = 1;
    s->l_args[0] = value;
    set_accesses(b, s, 1, access);
    return v;
}

jy_lv
jy_loop_op(struct jy_loop_builder *b, jy_op op, jy_dtype dtype, size_t nargs, const jy_lv *args, bool checked)
{
    jy_lv v;
    assert(nargs <= 3);
    struct jy_lstmt *s = append(b, &v, JY_L_OP, dtype);
    s->l_op = (uint16_t)op;
    s->l_nargs = (uint8_t)nargs;
    for (size_t i = 0; i < nargs; i++)
        s->l_args[i] = args[i];
    s->l_checked = checked;
    return v;
}

jy_lv
jy_loop_vcall(struct jy_loop_builder *b, uint32_t loop, jy_dtype dtype, size_t nargs, const jy_lv *args)
{
    jy_lv v;
    assert(nargs <= 3);
    struct jy_lstmt *s = append(b, &v, JY_L_VCALL, dtype);
    s->l_index = loop;
    s->l_nargs = (uint8_t)nargs;
    memcpy(s->l_args, args, nargs * sizeof *args);
    return v;
}

jy_lv
jy_loop_cast(struct jy_loop_builder *b, jy_dtype dtype, jy_lv value)
{
    jy_lv v;
    struct jy_lstmt *s = append(b, &v, JY_L_CAST, dtype);
    s->l_nargs = 1;
    s->l_args[0] = value;
    return v;
}

void
jy_loop_ufunc(struct jy_loop_builder *b, uint32_t loop, jy_lv count, size_t naccess, const struct jy_access *access)
{
    jy_lv v;
    struct jy_lstmt *s = append(b, &v, JY_L_UFUNC, JY_I64);
    s->l_index = loop;
    s->l_nargs = 1;
    s->l_args[0] = count;
    set_accesses(b, s, naccess, access);
}

jy_lv
jy_loop_ufold(struct jy_loop_builder *b, uint32_t loop, jy_dtype dtype, jy_lv count, jy_lv initial,
              const struct jy_access *access)
{
    jy_lv v;
    struct jy_lstmt *s = append(b, &v, JY_L_UFOLD, dtype);
    s->l_index = loop;
    s->l_nargs = 2;
    s->l_args[0] = count;
    s->l_args[1] = initial;
    set_accesses(b, s, 1, access);
    return v;
}

static void
open_body(struct jy_loop_builder *b, jy_lv v)
{
    assert(b->depth < JY_LOOP_DEPTH);
    b->open[b->depth++] = v;
}

jy_lv
jy_loop_for(struct jy_loop_builder *b, jy_lv count, int64_t step, bool vector)
{
    jy_lv v;
    struct jy_lstmt *s = append(b, &v, JY_L_FOR, JY_I64);
    s->l_nargs = 1;
    s->l_args[0] = count;
    s->l_step = step;
    s->l_vector = vector;
    open_body(b, v);
    return v;
}

jy_lv
jy_loop_fold(struct jy_loop_builder *b, jy_op op, jy_dtype dtype, enum jy_fold_order order, jy_lv count, jy_lv initial)
{
    jy_lv v, var;
    new_stmt(b, &var, JY_L_VAR, JY_I64);
    struct jy_lstmt *s = append(b, &v, JY_L_FOLD, dtype);
    s->l_op = (uint16_t)op;
    s->l_order = (uint8_t)order;
    s->l_nargs = initial == JY_NO_LV ? 1 : 2;
    s->l_args[0] = count;
    s->l_args[1] = initial;
    s->l_var = var;
    open_body(b, v);
    return var;
}

void
jy_loop_end_for(struct jy_loop_builder *b)
{
    assert(b->depth > 0 && jy_loop_at(b, b->open[b->depth - 1])->l_kind == JY_L_FOR);
    b->depth--;
}

jy_lv
jy_loop_end_fold(struct jy_loop_builder *b, jy_lv yield)
{
    assert(b->depth > 0 && jy_loop_at(b, b->open[b->depth - 1])->l_kind == JY_L_FOLD);
    jy_lv v = b->open[--b->depth];
    jy_loop_at(b, v)->l_yield = yield;
    return v;
}

/* New numbers in printing order: a loop before its body, a fold and its variable before theirs. */
struct renumber {
    struct jy_loop_builder *b;
    struct jy_kernel *out;
    jy_lv *to; /* old -> new */
};

static void
number(struct renumber *r, jy_lv old)
{
    r->to[old] = (jy_lv)r->out->k_stmts.n;
    *jy_vec_push(r->b->arena, &r->out->k_stmts) = *jy_loop_at(r->b, old);
}

static void
number_body(struct renumber *r, const jy_lv *body, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct jy_lstmt *s = jy_loop_at(r->b, body[i]);
        number(r, body[i]);
        if (s->l_var != JY_NO_LV)
            number(r, s->l_var);
        number_body(r, s->l_body.at, s->l_body.n);
    }
}

static void
rename_lv(const struct renumber *r, jy_lv *v)
{
    if (*v != JY_NO_LV)
        *v = r->to[*v];
}

struct jy_kernel
jy_loop_finish(struct jy_loop_builder *b)
{
    assert(b->depth == 0);
    struct jy_kernel out = { 0 };
    struct renumber r = { b, &out, JY_NEW_ARRAY(b->arena, jy_lv, b->kernel.k_stmts.n + 1) };
    for (size_t i = 0; i < b->kernel.k_body.n; i++)
        *jy_vec_push(b->arena, &b->prologue) = b->kernel.k_body.at[i];
    number_body(&r, b->prologue.at, b->prologue.n);
    for (size_t i = 0; i < b->prologue.n; i++)
        *jy_vec_push(b->arena, &out.k_body) = r.to[b->prologue.at[i]];
    for (size_t i = 0; i < out.k_stmts.n; i++) {
        struct jy_lstmt *s = &out.k_stmts.at[i];
        for (size_t k = 0; k < 3; k++)
            rename_lv(&r, &s->l_args[k]);
        rename_lv(&r, &s->l_var);
        rename_lv(&r, &s->l_yield);
        for (size_t k = 0; k < s->l_body.n; k++)
            rename_lv(&r, &s->l_body.at[k]);
        for (size_t k = 0; k < s->l_naccess; k++)
            for (size_t t = 0; t < s->l_access[k].nterms; t++)
                rename_lv(&r, &s->l_access[k].term[t].index);
    }
    return out;
}
