/* The rules of the loop IR (loop.h), checked statement by statement over a whole kernel.
 *
 * Scopes: a value is visible from its statement to the end of the body that it stands in. `visible` marks what is; leaving a body clears
 * the marks of its statements, so "defined before use, in the same or an enclosing body" is one look-up. */
#include "graph/loop_text.h"
#include "graph/scalar.h"

struct verifier {
    const struct jy_plan *plan;
    const struct jy_kernel *kernel;
    size_t k;
    bool *visible;
    bool *seen;
    bool *vector_var; /* variables of vector loops */
    bool in_vector;
    const char *error;
};

static const char *
fail(struct verifier *v, jy_lv at, const char *what)
{
    if (v->error == NULL)
        v->error = jy_arena_printf(v->plan->p_arena, "kernel %zu, %%%u (kind %u, line %u): %s", v->k, at,
                                   v->kernel->k_stmts.at[at].l_kind, v->kernel->k_stmts.at[at].l_line, what);
    return v->error;
}

static bool
is_visible(const struct verifier *v, jy_lv x)
{
    return x < v->kernel->k_stmts.n && v->visible[x];
}

static bool
has_value(uint8_t kind)
{
    return kind != JY_L_STORE && kind != JY_L_SET_SCALAR && kind != JY_L_UFUNC;
}

static jy_dtype
dtype_of(const struct verifier *v, jy_lv x)
{
    return (jy_dtype)v->kernel->k_stmts.at[x].l_dtype;
}

static void
check_access(struct verifier *v, jy_lv at, const struct jy_access *a)
{
    if (a->buffer >= v->plan->p_buffers.n) {
        fail(v, at, "no such buffer");
        return;
    }
    const struct jy_buffer *b = &v->plan->p_buffers.at[a->buffer];
    if (a->run_axis >= (int)b->b_ndim)
        fail(v, at, "a run along an axis that the buffer does not have");
    for (size_t i = 0; i < a->nterms; i++) {
        if (a->term[i].axis >= b->b_ndim)
            fail(v, at, "an index for an axis that the buffer does not have");
        if (!is_visible(v, a->term[i].index) || dtype_of(v, a->term[i].index) != JY_I64)
            fail(v, at, "an index that is not a visible int64");
        for (size_t j = 0; j < i; j++)
            if (a->term[j].axis == a->term[i].axis && a->term[j].index == a->term[i].index)
                fail(v, at, "the same index twice on one axis");
    }
}

/* OP, INT and VCALL: below, by what they do. */
static bool
has_its_operands(const struct jy_lstmt *s)
{
    switch ((enum jy_lop)s->l_kind) {
    case JY_L_CONST:
    case JY_L_SIZE:
    case JY_L_SCALAR:
    case JY_L_LOAD:
    case JY_L_VAR:
        return s->l_nargs == 0;
    case JY_L_SET_SCALAR:
    case JY_L_STORE:
    case JY_L_CAST:
    case JY_L_FOR:
    case JY_L_UFUNC:
        return s->l_nargs == 1;
    case JY_L_FOLD: /* NumPy's tree has no initial value */
        return s->l_nargs == (s->l_order == JY_FOLD_PAIRWISE ? 1 : 2);
    case JY_L_UFOLD:
        return s->l_nargs == 2;
    case JY_L_INT:
    case JY_L_OP:
    case JY_L_VCALL:
        break;
    }
    return true;
}

static bool
counts(uint8_t kind)
{
    return kind == JY_L_FOR || kind == JY_L_FOLD || kind == JY_L_UFUNC || kind == JY_L_UFOLD;
}

static void
check_operands(struct verifier *v, jy_lv at, const struct jy_lstmt *s)
{
    if (!has_its_operands(s))
        fail(v, at, "another number of operands than the statement has");
    else if (counts(s->l_kind) && dtype_of(v, s->l_args[0]) != JY_I64)
        fail(v, at, "a count that is not int64");
    else if ((s->l_kind == JY_L_FOLD || s->l_kind == JY_L_UFOLD) && s->l_nargs == 2 &&
             dtype_of(v, s->l_args[1]) != (jy_dtype)s->l_dtype)
        fail(v, at, "an initial value of another dtype than the fold's");
}

static void
check_fold(struct verifier *v, jy_lv at, const struct jy_lstmt *s)
{
    jy_dtype dtype = (jy_dtype)s->l_dtype;
    if (s->l_op >= JY_OP_COUNT || jy_op_info[s->l_op].klass != JY_CLASS_EW || jy_op_info[s->l_op].arity != 2 ||
        jy_scalar_result_dtype((jy_op)s->l_op, dtype) != dtype)
        fail(v, at, "a fold by no operation of two operands and a result of one dtype");
    else if (s->l_order == JY_FOLD_PAIRWISE && (s->l_op != JY_OP_ADD || !jy_dtype_is_float(dtype)))
        fail(v, at, "pairwise, but not a sum of floats");
}

/* A slot keeps values of one dtype. */
static void
check_slot(struct verifier *v, jy_lv at, const struct jy_lstmt *s)
{
    if (s->l_index >= (s->l_kind == JY_L_SIZE ? v->plan->p_sizes.n : v->plan->p_scalars.n))
        fail(v, at, "no such slot");
    else if (s->l_kind != JY_L_SIZE && v->plan->p_scalars.at[s->l_index].dtype != s->l_dtype)
        fail(v, at, "a value of another dtype than the slot's");
}

static void
check_op(struct verifier *v, jy_lv at, const struct jy_lstmt *s)
{
    if (s->l_op >= JY_OP_COUNT || jy_op_info[s->l_op].klass != JY_CLASS_EW || jy_op_info[s->l_op].arity != s->l_nargs) {
        fail(v, at, "not an elementwise operation with that many operands");
        return;
    }
    size_t first = s->l_op == JY_OP_WHERE;
    jy_dtype dtype = dtype_of(v, s->l_args[first]);
    for (size_t i = first; i < s->l_nargs; i++)
        if (dtype_of(v, s->l_args[i]) != dtype)
            fail(v, at, "operands differ in dtype");
    if (first == 1 && dtype_of(v, s->l_args[0]) != JY_BOOL)
        fail(v, at, "the condition is not bool");
    if (jy_scalar_result_dtype((jy_op)s->l_op, dtype) != (jy_dtype)s->l_dtype)
        fail(v, at, "another dtype than the operation gives");
}

static void
check_int(struct verifier *v, jy_lv at, const struct jy_lstmt *s)
{
    static const uint16_t known[] = {
        JY_OP_ADD, JY_OP_SUB, JY_OP_MUL, JY_OP_MINIMUM, JY_OP_MAXIMUM, JY_OP_FLOOR_DIVIDE
    };
    bool found = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        found |= known[i] == s->l_op;
    if (!found || s->l_nargs != 2 || dtype_of(v, s->l_args[0]) != JY_I64 || dtype_of(v, s->l_args[1]) != JY_I64)
        fail(v, at, "not index arithmetic on two int64");
}

/* The inner loop's operand dtypes against the buffers'. */
static void
check_loop(struct verifier *v, jy_lv at, const struct jy_lstmt *s)
{
    if (s->l_index >= v->plan->p_loops.n) {
        fail(v, at, "no such inner loop");
        return;
    }
    const struct jy_plan_loop *loop = &v->plan->p_loops.at[s->l_index];
    size_t want = s->l_kind == JY_L_UFUNC ? loop->nin + 1u : 1;
    if (s->l_naccess != want)
        fail(v, at, "another number of operands than the inner loop takes");
    for (size_t i = 0; i < s->l_naccess && v->error == NULL; i++)
        if (v->plan->p_buffers.at[s->l_access[i].buffer].b_dtype != loop->dtypes[i])
            fail(v, at, "a buffer of another dtype than the inner loop takes");
    if (s->l_kind == JY_L_UFOLD && (loop->nin != 2 || s->l_dtype != loop->dtypes[0]))
        fail(v, at, "not a fold by an inner loop of two operands of its dtype");
}

/* Vector functions take and give float64. */
static void
check_vcall(struct verifier *v, jy_lv at, const struct jy_lstmt *s)
{
    if (s->l_index >= v->plan->p_loops.n) {
        fail(v, at, "no such inner loop");
        return;
    }
    if (s->l_nargs != v->plan->p_loops.at[s->l_index].nin)
        fail(v, at, "another number of operands than the inner loop takes");
    for (size_t i = 0; i <= s->l_nargs && v->error == NULL; i++)
        if (v->plan->p_loops.at[s->l_index].dtypes[i] != JY_F64 ||
            (i < s->l_nargs ? dtype_of(v, s->l_args[i]) : (jy_dtype)s->l_dtype) != JY_F64)
            fail(v, at, "a vector function of something else than float64");
}

static void verify_body(struct verifier *v, const jy_lv *body, size_t n);

static void
verify_nested(struct verifier *v, jy_lv at, const struct jy_lstmt *s)
{
    jy_lv var = s->l_kind == JY_L_FOLD ? s->l_var : at;
    if (var >= v->kernel->k_stmts.n || (s->l_kind == JY_L_FOLD && v->kernel->k_stmts.at[var].l_kind != JY_L_VAR)) {
        fail(v, at, "a fold without a variable");
        return;
    }
    bool outer = v->in_vector;
    v->visible[var] = true;
    v->vector_var[var] = s->l_kind == JY_L_FOR && s->l_vector;
    v->in_vector |= v->vector_var[var];
    verify_body(v, s->l_body.at, s->l_body.n);
    if (s->l_kind == JY_L_FOLD && (!is_visible(v, s->l_yield) || dtype_of(v, s->l_yield) != (jy_dtype)s->l_dtype))
        fail(v, at, "what is folded is not a visible value of the fold's dtype");
    for (size_t i = 0; i < s->l_body.n; i++)
        v->visible[s->l_body.at[i]] = false;
    v->visible[var] = false;
    v->in_vector = outer;
}

static bool
is_for_vectors(uint8_t kind)
{
    return kind == JY_L_LOAD || kind == JY_L_STORE || kind == JY_L_OP || kind == JY_L_VCALL || kind == JY_L_CAST ||
           kind == JY_L_CONST || kind == JY_L_SCALAR || kind == JY_L_SIZE;
}

static void
verify_stmt(struct verifier *v, jy_lv at)
{
    const struct jy_lstmt *s = &v->kernel->k_stmts.at[at];
    if (v->seen[at])
        fail(v, at, "stands in two bodies");
    if (s->l_kind == JY_L_VAR)
        fail(v, at, "the variable of a fold in a body");
    v->seen[at] = true;
    if (v->in_vector && !is_for_vectors(s->l_kind))
        fail(v, at, "not allowed in a vector loop");
    for (size_t i = 0; i < s->l_nargs; i++)
        if (!is_visible(v, s->l_args[i]))
            fail(v, at, "an operand that is not defined before, in the same or an enclosing body");
        else if (v->vector_var[s->l_args[i]])
            fail(v, at, "the variable of a vector loop as an operand");
    for (size_t i = 0; i < s->l_naccess; i++)
        check_access(v, at, &s->l_access[i]);
    if (v->error == NULL)
        check_operands(v, at, s);
    if (v->error != NULL)
        return;
    if (s->l_kind == JY_L_SIZE || s->l_kind == JY_L_SCALAR || s->l_kind == JY_L_SET_SCALAR)
        check_slot(v, at, s);
    else if (s->l_kind == JY_L_OP)
        check_op(v, at, s);
    else if (s->l_kind == JY_L_INT)
        check_int(v, at, s);
    else if (s->l_kind == JY_L_UFUNC || s->l_kind == JY_L_UFOLD)
        check_loop(v, at, s);
    else if (s->l_kind == JY_L_VCALL)
        check_vcall(v, at, s);
    else if (s->l_kind == JY_L_FOR && s->l_step <= 0)
        fail(v, at, "a step that is not positive");
    else if ((s->l_kind == JY_L_LOAD || s->l_kind == JY_L_STORE) &&
             v->plan->p_buffers.at[s->l_access[0].buffer].b_dtype != s->l_dtype)
        fail(v, at, "a value of another dtype than the buffer's");
    else if (s->l_kind == JY_L_FOLD)
        check_fold(v, at, s);
    if (s->l_kind == JY_L_FOR || s->l_kind == JY_L_FOLD)
        verify_nested(v, at, s);
}

static void
verify_body(struct verifier *v, const jy_lv *body, size_t n)
{
    for (size_t i = 0; i < n && v->error == NULL; i++) {
        if (body[i] >= v->kernel->k_stmts.n) {
            v->error = jy_arena_printf(v->plan->p_arena, "kernel %zu: a body names statement %u, which does not exist",
                                       v->k, body[i]);
            return;
        }
        verify_stmt(v, body[i]);
        v->visible[body[i]] =
            has_value(v->kernel->k_stmts.at[body[i]].l_kind) && v->kernel->k_stmts.at[body[i]].l_kind != JY_L_FOR;
    }
}

const char *
jy_loop_verify(const struct jy_plan *plan, size_t k)
{
    const struct jy_kernel *kernel = &plan->p_kernels.at[k];
    size_t n = kernel->k_stmts.n + 1;
    struct verifier v = { .plan = plan,
                          .kernel = kernel,
                          .k = k,
                          .visible = JY_NEW_ARRAY(plan->p_arena, bool, n),
                          .seen = JY_NEW_ARRAY(plan->p_arena, bool, n),
                          .vector_var = JY_NEW_ARRAY(plan->p_arena, bool, n) };
    verify_body(&v, kernel->k_body.at, kernel->k_body.n);
    return v.error;
}
