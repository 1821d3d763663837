/* The slow interpreter of the loop IR: one statement at a time, one element at a time, exactly what machine code must do.
 *
 * It is the oracle of the backend and an executor of its own, so it is made of nothing but the definitions: jy_scalar_apply for operations,
 * jy_pairwise for NumPy's sums, the inner loops of the call for UFUNC and UFOLD. Values live in an array indexed by statement;
 * a loop runs its body again and overwrites them. */
#include "graph/pairwise.h"
#include "graph/plan.h"
#include "graph/scalar.h"
#include <assert.h>
#include <stdlib.h>

struct eval {
    const struct jy_plan *plan;
    const struct jy_kernel *kernel;
    struct jy_call *call;
    union jy_scalar *value; /* per statement */
};

static void run_body(struct eval *e, const jy_lv *body, size_t n);

static int64_t
stride_of(const struct eval *e, uint32_t buffer, int axis)
{
    const struct jy_buffer *b = &e->plan->p_buffers.at[buffer];
    return axis == b->b_unit_axis ? jy_dtype_info[b->b_dtype].bytes : e->call->desc[buffer].stride[axis];
}

static char *
address(const struct eval *e, const struct jy_access *a)
{
    const struct jy_buffer *b = &e->plan->p_buffers.at[a->buffer];
    char *at = b->b_kind == JY_BUFFER_TILE ? e->call->tile + b->b_index : e->call->desc[a->buffer].data;
    for (size_t i = 0; i < a->nterms; i++)
        at += e->value[a->term[i].index].i * stride_of(e, a->buffer, a->term[i].axis);
    return at;
}

static int64_t
run_stride(const struct eval *e, const struct jy_access *a)
{
    return a->run_axis < 0 ? 0 : stride_of(e, a->buffer, a->run_axis);
}

static union jy_scalar
arg(const struct eval *e, const struct jy_lstmt *s, size_t i)
{
    return e->value[s->l_args[i]];
}

static int64_t
index_op(jy_op op, int64_t x, int64_t y)
{
    if (op == JY_OP_ADD)
        return x + y;
    if (op == JY_OP_SUB)
        return x - y;
    if (op == JY_OP_MUL)
        return x * y;
    if (op == JY_OP_MINIMUM)
        return x < y ? x : y;
    if (op == JY_OP_MAXIMUM)
        return x > y ? x : y;
    assert(op == JY_OP_FLOOR_DIVIDE && y > 0);
    return x / y;
}

static union jy_scalar
apply(struct eval *e, const struct jy_lstmt *s)
{
    union jy_scalar args[3] = { { .i = 0 }, { .i = 0 }, { .i = 0 } };
    for (size_t i = 0; i < s->l_nargs; i++)
        args[i] = arg(e, s, i);
    jy_dtype dtype = (jy_dtype)e->kernel->k_stmts.at[s->l_args[s->l_op == JY_OP_WHERE]].l_dtype;
    return jy_scalar_apply((jy_op)s->l_op, dtype, args, s->l_checked ? &e->call->status : NULL);
}

static union jy_scalar
element(struct eval *e, const struct jy_lstmt *s, int64_t i)
{
    e->value[s->l_var].i = i;
    run_body(e, s->l_body.at, s->l_body.n);
    return e->value[s->l_yield];
}

/* The elements of one leaf are gathered, as the leaf function reads memory. */
static union jy_scalar
fold_pairwise(struct eval *e, const struct jy_lstmt *s, int64_t n)
{
    struct jy_pairwise walk;
    union {
        double d[JY_PAIRWISE_LEAF];
        float f[JY_PAIRWISE_LEAF];
    } leaf;
    bool wide = s->l_dtype == JY_F64;
    for (int64_t m = jy_pairwise_begin(&walk, n, e->call->sum_chunk); m != 0;) {
        for (int64_t i = 0; i < m; i++) {
            union jy_scalar v = element(e, s, walk.start + i);
            if (wide)
                leaf.d[i] = v.d;
            else
                leaf.f[i] = v.f;
        }
        m = wide ? jy_pairwise_next_f64(&walk, jy_pairwise_leaf_f64((const char *)leaf.d, m, sizeof(double)))
                 : jy_pairwise_next_f32(&walk, jy_pairwise_leaf_f32((const char *)leaf.f, m, sizeof(float)));
    }
    return n != 0 ? walk.value : wide ? (union jy_scalar){ .d = -0.0 } : (union jy_scalar){ .f = -0.0f };
}

static union jy_scalar
fold(struct eval *e, const struct jy_lstmt *s)
{
    int64_t n = arg(e, s, 0).i;
    if (s->l_order == JY_FOLD_PAIRWISE)
        return fold_pairwise(e, s, n);
    union jy_scalar args[2] = { arg(e, s, 1), { .i = 0 } };
    for (int64_t i = 0; i < n; i++) {
        args[1] = element(e, s, i);
        args[0] = jy_scalar_apply((jy_op)s->l_op, (jy_dtype)s->l_dtype, args, NULL);
    }
    return args[0];
}

static void
call_loop(struct eval *e, const struct jy_lstmt *s)
{
    const struct jy_loop_fn *fn = &e->call->loop[s->l_index];
    char *args[4];
    intptr_t strides[4], n = (intptr_t)arg(e, s, 0).i;
    for (size_t k = 0; k < s->l_naccess; k++) {
        args[k] = address(e, &s->l_access[k]);
        strides[k] = (intptr_t)run_stride(e, &s->l_access[k]);
    }
    if (n > 0)
        fn->fn(args, &n, strides, fn->data);
}

/* One element by the inner loop itself. */
static union jy_scalar
call_once(struct eval *e, const struct jy_lstmt *s)
{
    const struct jy_loop_fn *fn = &e->call->loop[s->l_index];
    union jy_scalar in[3], out;
    char *args[4];
    intptr_t strides[4] = { 8, 8, 8, 8 }, one = 1;
    for (size_t k = 0; k < s->l_nargs; k++) {
        in[k] = arg(e, s, k);
        args[k] = (char *)&in[k];
    }
    args[s->l_nargs] = (char *)&out;
    fn->fn(args, &one, strides, fn->data);
    return out;
}

/* The initial value counts as the run's first element: NumPy before 2.3 cuts the run that begins with it into pieces. */
static union jy_scalar
fold_by_loop(struct eval *e, const struct jy_lstmt *s)
{
    const struct jy_loop_fn *fn = &e->call->loop[s->l_index];
    union jy_scalar acc, first = arg(e, s, 1);
    char *at = address(e, &s->l_access[0]);
    intptr_t stride = (intptr_t)run_stride(e, &s->l_access[0]);
    int64_t left = arg(e, s, 0).i, piece = e->call->sum_chunk - 1;
    jy_scalar_store((jy_dtype)s->l_dtype, &acc, first);
    for (; left > 0; piece = e->call->sum_chunk) {
        intptr_t n = (intptr_t)(left < piece ? left : piece), strides[3] = { 0, stride, 0 };
        char *args[3] = { (char *)&acc, at, (char *)&acc };
        if (n > 0)
            fn->fn(args, &n, strides, fn->data);
        at += n * stride;
        left -= n;
    }
    return jy_scalar_load((jy_dtype)s->l_dtype, &acc);
}

static void
run_loop(struct eval *e, const struct jy_lstmt *s, jy_lv var)
{
    int64_t n = arg(e, s, 0).i;
    for (int64_t i = 0; i < n; i += s->l_step) {
        e->value[var].i = i;
        run_body(e, s->l_body.at, s->l_body.n);
    }
}

static void
run(struct eval *e, jy_lv v)
{
    const struct jy_lstmt *s = &e->kernel->k_stmts.at[v];
    switch ((enum jy_lop)s->l_kind) {
    case JY_L_CONST:
        e->value[v] = s->l_value;
        break;
    case JY_L_SIZE:
        e->value[v].i = e->call->size[s->l_index];
        break;
    case JY_L_SCALAR:
        e->value[v] = e->call->scalar[s->l_index];
        break;
    case JY_L_SET_SCALAR:
        e->call->scalar[s->l_index] = arg(e, s, 0);
        break;
    case JY_L_INT:
        e->value[v].i = index_op((jy_op)s->l_op, arg(e, s, 0).i, arg(e, s, 1).i);
        break;
    case JY_L_LOAD:
        e->value[v] = jy_scalar_load((jy_dtype)s->l_dtype, address(e, &s->l_access[0]));
        break;
    case JY_L_STORE:
        jy_scalar_store((jy_dtype)s->l_dtype, address(e, &s->l_access[0]), arg(e, s, 0));
        break;
    case JY_L_OP:
        e->value[v] = apply(e, s);
        break;
    case JY_L_VCALL:
        e->value[v] = call_once(e, s);
        break;
    case JY_L_CAST:
        e->value[v] =
            jy_scalar_cast((jy_dtype)e->kernel->k_stmts.at[s->l_args[0]].l_dtype, (jy_dtype)s->l_dtype, arg(e, s, 0));
        break;
    case JY_L_FOR:
        run_loop(e, s, v);
        break;
    case JY_L_VAR:
        break;
    case JY_L_FOLD:
        e->value[v] = fold(e, s);
        break;
    case JY_L_UFUNC:
        call_loop(e, s);
        break;
    case JY_L_UFOLD:
        e->value[v] = fold_by_loop(e, s);
        break;
    }
}

static void
run_body(struct eval *e, const jy_lv *body, size_t n)
{
    for (size_t i = 0; i < n; i++)
        run(e, body[i]);
}

int32_t
jy_loop_eval(const struct jy_plan *plan, size_t k, struct jy_call *call)
{
    const struct jy_kernel *kernel = &plan->p_kernels.at[k];
    struct eval e = { plan, kernel, call, calloc(kernel->k_stmts.n + 1, sizeof(union jy_scalar)) };
    if (e.value == NULL)
        return -1;
    run_body(&e, kernel->k_body.at, kernel->k_body.n);
    free(e.value);
    return 0;
}
