/* Kernels as text (the form is shown in loop.h and docs/loops.md; loop_parse.c reads it). */
#include "graph/loop_text.h"
#include "graph/scalar.h"
#include <inttypes.h>

static const char *const order_text[] = { "pairwise", "sequential", "free" };

struct printer {
    struct jy_text *text;
    const struct jy_plan *plan;
    const struct jy_kernel *kernel;
    bool with_lines;
};

static void
print_access(const struct printer *p, const struct jy_access *a)
{
    const struct jy_buffer *b = &p->plan->p_buffers.at[a->buffer];
    jy_text_add(p->text, "b%" PRIu32 "[", a->buffer);
    for (int d = 0; d < b->b_ndim; d++) {
        const char *plus = "";
        jy_text_add(p->text, "%s", d == 0 ? "" : ", ");
        for (size_t i = 0; i < a->nterms; i++)
            if (a->term[i].axis == d) {
                jy_text_add(p->text, "%s%%%" PRIu32, plus, a->term[i].index);
                plus = "+";
            }
        jy_text_add(p->text, "%s%s", *plus == '\0' ? "0" : "", a->run_axis == d ? ":" : "");
    }
    jy_text_add(p->text, "]");
}

static void
print_args(const struct printer *p, const struct jy_lstmt *s)
{
    for (size_t i = 0; i < s->l_nargs; i++)
        jy_text_add(p->text, "%s%%%" PRIu32, i == 0 ? " " : ", ", s->l_args[i]);
}

static void print_body(const struct printer *p, const jy_lv *body, size_t n, int indent);

static void
print_ufunc(const struct printer *p, const struct jy_lstmt *s)
{
    jy_text_add(p->text, "ufunc l%" PRIu32 " %%%" PRIu32 " (", s->l_index, s->l_args[0]);
    for (size_t i = 0; i + 1 < s->l_naccess; i++) {
        jy_text_add(p->text, "%s", i == 0 ? "" : ", ");
        print_access(p, &s->l_access[i]);
    }
    jy_text_add(p->text, ") -> ");
    print_access(p, &s->l_access[s->l_naccess - 1]);
}

static void
print_fold(const struct printer *p, const struct jy_lstmt *s)
{
    jy_text_add(p->text, "fold %s %s %s %%%" PRIu32 " < %%%" PRIu32, order_text[s->l_order], jy_op_info[s->l_op].text,
                jy_dtype_info[s->l_dtype].text, s->l_var, s->l_args[0]);
    if (s->l_nargs == 2)
        jy_text_add(p->text, " from %%%" PRIu32, s->l_args[1]);
    jy_text_add(p->text, ":");
}

static void
print_right_side(const struct printer *p, const struct jy_lstmt *s)
{
    const char *dtype = jy_dtype_info[s->l_dtype].text;
    switch ((enum jy_lop)s->l_kind) {
    case JY_L_CONST:
        jy_text_add(p->text, "const %s ", dtype);
        jy_scalar_print(p->text, (jy_dtype)s->l_dtype, s->l_value);
        break;
    case JY_L_SIZE:
        jy_text_add(p->text, "size z%" PRIu32, s->l_index);
        jy_text_add(p->text, " ; ");
        jy_sizes_print(p->text, &p->plan->p_graph->g_sizes, p->plan->p_sizes.at[s->l_index]);
        break;
    case JY_L_SCALAR:
        jy_text_add(p->text, "scalar %s q%" PRIu32, dtype, s->l_index);
        break;
    case JY_L_INT:
        jy_text_add(p->text, "int %s", jy_op_info[s->l_op].text);
        print_args(p, s);
        break;
    case JY_L_LOAD:
        jy_text_add(p->text, "load %s ", dtype);
        print_access(p, &s->l_access[0]);
        break;
    case JY_L_OP:
        jy_text_add(p->text, "%s %s", jy_op_info[s->l_op].text, dtype);
        print_args(p, s);
        jy_text_add(p->text, "%s", s->l_checked ? " checked" : "");
        break;
    case JY_L_VCALL:
        jy_text_add(p->text, "vcall l%" PRIu32 " %s", s->l_index, dtype);
        print_args(p, s);
        break;
    case JY_L_CAST:
        jy_text_add(p->text, "cast %s", dtype);
        print_args(p, s);
        break;
    case JY_L_FOLD:
        print_fold(p, s);
        break;
    case JY_L_UFOLD:
        jy_text_add(p->text, "ufold l%" PRIu32 " %s %%%" PRIu32 " ", s->l_index, dtype, s->l_args[0]);
        print_access(p, &s->l_access[0]);
        jy_text_add(p->text, " from %%%" PRIu32, s->l_args[1]);
        break;
    case JY_L_SET_SCALAR:
    case JY_L_STORE:
    case JY_L_FOR:
    case JY_L_VAR:
    case JY_L_UFUNC:
        break;
    }
}

static void
print_stmt(const struct printer *p, jy_lv v, int indent)
{
    const struct jy_lstmt *s = &p->kernel->k_stmts.at[v];
    jy_text_add(p->text, "%*s", indent, "");
    if (s->l_kind == JY_L_SET_SCALAR) {
        jy_text_add(p->text, "set q%" PRIu32 " = %%%" PRIu32, s->l_index, s->l_args[0]);
    } else if (s->l_kind == JY_L_STORE) {
        jy_text_add(p->text, "store ");
        print_access(p, &s->l_access[0]);
        jy_text_add(p->text, " = %%%" PRIu32, s->l_args[0]);
    } else if (s->l_kind == JY_L_UFUNC) {
        print_ufunc(p, s);
    } else if (s->l_kind == JY_L_FOR) {
        jy_text_add(p->text, "for %%%" PRIu32 " < %%%" PRIu32, v, s->l_args[0]);
        if (s->l_step != 1)
            jy_text_add(p->text, " step %" PRId64, s->l_step);
        jy_text_add(p->text, "%s:", s->l_vector ? " vector" : "");
    } else {
        jy_text_add(p->text, "%%%" PRIu32 " = ", v);
        print_right_side(p, s);
    }
    if (p->with_lines && s->l_line != 0 && s->l_kind != JY_L_SIZE && s->l_kind != JY_L_CONST)
        jy_text_add(p->text, " ; line %" PRIu32, s->l_line);
    jy_text_add(p->text, "\n");
    if (s->l_kind == JY_L_FOR || s->l_kind == JY_L_FOLD)
        print_body(p, s->l_body.at, s->l_body.n, indent + 2);
    if (s->l_kind == JY_L_FOLD)
        jy_text_add(p->text, "%*syield %%%" PRIu32 "\n", indent + 2, "", s->l_yield);
}

static void
print_body(const struct printer *p, const jy_lv *body, size_t n, int indent)
{
    for (size_t i = 0; i < n; i++)
        print_stmt(p, body[i], indent);
}

void
jy_loop_print(struct jy_text *text, const struct jy_plan *plan, const struct jy_kernel *kernel, bool with_lines)
{
    struct printer p = { text, plan, kernel, with_lines };
    print_body(&p, kernel->k_body.at, kernel->k_body.n, 4);
}
