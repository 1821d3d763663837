/* Building flows (flow.h). Whoever builds makes blocks, appends to them in any order and ends each once.
 *
 * Folding is shallow: an instruction on constants becomes a constant where jy_flow_apply says that no exit is taken and no flag of floating-point arithmetic is lost.
 * Everything else is left to flow_simplify.c, which sees the whole flow. */
#include "graph/flow.h"
#include <assert.h>
#include <string.h>

const struct jy_flow_op_info jy_flow_op_info[JY_FLOW_COUNT] = {
#define C true
#define FLOW(name, text, nargs, cheap) { text, nargs, cheap },
#include "graph/flow_ops.def"
#undef C
#undef FLOW
};

enum jy_ftype
jy_flow_dtype_type(uint8_t dtype)
{
    static const uint8_t types[JY_ELEMENT_COUNT] = {
        [JY_BOOL] = JY_F_I1, [JY_I32] = JY_F_I32, [JY_I64] = JY_F_I64, [JY_F32] = JY_F_F32,
        [JY_F64] = JY_F_F64, [JY_I8] = JY_F_I64,  [JY_I16] = JY_F_I64, [JY_U8] = JY_F_I64,
        [JY_U16] = JY_F_I64, [JY_U32] = JY_F_I64, [JY_U64] = JY_F_I64,
    };
    return dtype < JY_ELEMENT_COUNT ? (enum jy_ftype)types[dtype] : JY_F_NONE;
}

size_t
jy_flow_type_bytes(enum jy_ftype type)
{
    static const uint8_t bytes[JY_F_TYPE_COUNT] = {
        [JY_F_I1] = 1,  [JY_F_I8] = 1,  [JY_F_I16] = 2, [JY_F_I32] = 4,
        [JY_F_I64] = 8, [JY_F_F32] = 4, [JY_F_F64] = 8, [JY_F_PTR] = 8,
    };
    return bytes[type];
}

struct jy_flow *
jy_flow_new(struct jy_arena *arena, const char *name)
{
    struct jy_flow *w = JY_NEW(arena, struct jy_flow);
    w->w_arena = arena;
    w->w_name = jy_arena_strdup(arena, name);
    jy_flow_block(w);
    return w;
}

jy_fb
jy_flow_block(struct jy_flow *w)
{
    jy_fb block = (jy_fb)w->w_blocks.n;
    struct jy_fblock *b = jy_vec_push(w->w_arena, &w->w_blocks);
    *b = (struct jy_fblock){ .f_condition = JY_NO_FV, .f_leave = JY_NO_EXIT, .f_loop = w->w_here.loop };
    return block;
}

static struct jy_fvalue *
new_value(struct jy_flow *w, jy_fv *out, jy_fb block, enum jy_fop op, enum jy_ftype type)
{
    *out = (jy_fv)w->w_values.n;
    struct jy_fvalue *v = jy_vec_push(w->w_arena, &w->w_values);
    *v = (struct jy_fvalue){
        .f_op = (uint8_t)op, .f_type = (uint8_t)type, .f_exit = JY_NO_EXIT, .f_block = block, .f_line = w->w_line
    };
    return v;
}

static struct jy_fvalue *
append(struct jy_flow *w, jy_fv *out, jy_fb block, enum jy_fop op, enum jy_ftype type, size_t nargs, const jy_fv *args)
{
    struct jy_fvalue *v = new_value(w, out, block, op, type);
    assert(nargs <= UINT8_MAX && (jy_flow_op_info[op].nargs < 0 || (size_t)jy_flow_op_info[op].nargs == nargs));
    v->f_nargs = (uint8_t)nargs;
    v->f_args = jy_arena_copy(w->w_arena, args, nargs * sizeof(*args));
    *jy_vec_push(w->w_arena, &w->w_blocks.at[block].f_body) = *out;
    return v;
}

jy_fv
jy_flow_param(struct jy_flow *w, jy_fb block, enum jy_ftype type)
{
    jy_fv v;
    new_value(w, &v, block, JY_FLOW_PARAM, type);
    *jy_vec_push(w->w_arena, &w->w_blocks.at[block].f_params) = v;
    return v;
}

jy_fv
jy_flow_const(struct jy_flow *w, jy_fb block, enum jy_ftype type, union jy_scalar value)
{
    const struct jy_fblock *b = &w->w_blocks.at[block];
    if (type == JY_F_F32)
        value.bits &= UINT32_MAX;
    for (size_t i = 0; i < b->f_body.n; i++) {
        const struct jy_fvalue *v = jy_flow_at(w, b->f_body.at[i]);
        if (v->f_op == JY_FLOW_CONST && v->f_type == type && v->f_value.bits == value.bits)
            return b->f_body.at[i];
    }
    jy_fv v;
    struct jy_fvalue *new = append(w, &v, block, JY_FLOW_CONST, type, 0, NULL);
    new->f_value = value;
    new->f_line = 0;
    return v;
}

/* On a float, only what moves bits: arithmetic may raise a flag that somebody reads. */
static bool
is_foldable(const struct jy_flow *w, enum jy_fop op, size_t nargs, const jy_fv *args)
{
    bool moves_bits = op == JY_FLOW_NEG || op == JY_FLOW_ABS || op == JY_FLOW_COPYSIGN || op == JY_FLOW_BITS;
    if (nargs == 0 || nargs > 3 || op == JY_FLOW_LOAD || op == JY_FLOW_STORE || op == JY_FLOW_CALL ||
        op == JY_FLOW_INVOKE || op == JY_FLOW_SPREAD)
        return false;
    for (size_t i = 0; i < nargs; i++) {
        const struct jy_fvalue *a = jy_flow_at(w, args[i]);
        bool is_float = a->f_type == JY_F_F32 || a->f_type == JY_F_F64;
        if (a->f_op != JY_FLOW_CONST || (is_float && !moves_bits))
            return false;
    }
    return true;
}

/* JY_NO_FV also for what gives nothing: a check that holds. */
static bool
fold(jy_fv *out, struct jy_flow *w, jy_fb block, enum jy_fop op, enum jy_ftype type, size_t nargs, const jy_fv *args)
{
    union jy_scalar value, arg[3];
    if (op == JY_FLOW_SELECT && jy_flow_at(w, args[0])->f_op == JY_FLOW_CONST) {
        *out = args[jy_flow_at(w, args[0])->f_value.i != 0 ? 1 : 2];
        return true;
    }
    if (!is_foldable(w, op, nargs, args))
        return false;
    for (size_t i = 0; i < nargs; i++)
        arg[i] = jy_flow_at(w, args[i])->f_value;
    if (!jy_flow_apply(&value, op, type, (enum jy_ftype)jy_flow_at(w, args[0])->f_type, arg))
        return false;
    *out = type == JY_F_NONE ? JY_NO_FV : jy_flow_const(w, block, type, value);
    return true;
}

jy_fv
jy_flow_op(struct jy_flow *w, jy_fb block, enum jy_fop op, enum jy_ftype type, size_t nargs, const jy_fv *args,
           uint32_t exit)
{
    jy_fv v;
    if (!fold(&v, w, block, op, type, nargs, args)) {
        append(w, &v, block, op, type, nargs, args)->f_exit = exit;
        jy_flow_stamp(w, v);
    }
    return v;
}

static bool
is_same_input(const struct jy_flow_input *a, const struct jy_flow_input *b)
{
    return a->kind == b->kind && a->type == b->type && a->axis == b->axis && a->dtype == b->dtype &&
           a->number == b->number;
}

/* The value goes behind the other inputs, before everything that is in the block already. */
static jy_fv
add_input(struct jy_flow *w, uint32_t index, enum jy_ftype type)
{
    jy_fv v;
    struct jy_fvalue *value = append(w, &v, 0, JY_FLOW_INPUT, type, 0, NULL);
    value->f_index = index;
    value->f_line = 0;
    struct jy_fblock *entry = &w->w_blocks.at[0];
    size_t at = 0, last = entry->f_body.n - 1;
    while (at < last && jy_flow_at(w, entry->f_body.at[at])->f_op == JY_FLOW_INPUT)
        at++;
    memmove(entry->f_body.at + at + 1, entry->f_body.at + at, (last - at) * sizeof(jy_fv));
    entry->f_body.at[at] = v;
    return v;
}

jy_fv
jy_flow_input(struct jy_flow *w, const struct jy_flow_input *input)
{
    const struct jy_fblock *entry = &w->w_blocks.at[0];
    uint32_t index = 0;
    while (index < w->w_inputs.n && !is_same_input(&w->w_inputs.at[index], input))
        index++;
    if (index == w->w_inputs.n)
        *jy_vec_push(w->w_arena, &w->w_inputs) = *input;
    for (size_t i = 0; i < entry->f_body.n; i++) {
        const struct jy_fvalue *v = jy_flow_at(w, entry->f_body.at[i]);
        if (v->f_op == JY_FLOW_INPUT && v->f_index == index)
            return entry->f_body.at[i];
    }
    return add_input(w, index, (enum jy_ftype)input->type);
}

jy_fv
jy_flow_load(struct jy_flow *w, jy_fb block, enum jy_ftype type, jy_fv pointer, jy_fv offset, int32_t plus,
             uint32_t alias)
{
    jy_fv v, args[] = { pointer, offset };
    struct jy_fvalue *load = append(w, &v, block, JY_FLOW_LOAD, type, 2, args);
    load->f_index = (uint32_t)plus;
    load->f_alias = (uint16_t)alias;
    return v;
}

void
jy_flow_store(struct jy_flow *w, jy_fb block, jy_fv pointer, jy_fv offset, int32_t plus, jy_fv value, uint32_t alias)
{
    jy_fv v, args[] = { pointer, offset, value };
    struct jy_fvalue *store = append(w, &v, block, JY_FLOW_STORE, JY_F_NONE, 3, args);
    store->f_index = (uint32_t)plus;
    store->f_alias = (uint16_t)alias;
    if (alias != 0 && w->w_alias_written != NULL)
        w->w_alias_written[alias - 1] = true;
}

uint32_t
jy_flow_helper_add(struct jy_flow *w, const struct jy_flow_helper *helper)
{
    for (size_t i = 0; i < w->w_helpers.n; i++)
        if (strcmp(w->w_helpers.at[i].name, helper->name) == 0)
            return (uint32_t)i;
    *jy_vec_push(w->w_arena, &w->w_helpers) = *helper;
    return (uint32_t)w->w_helpers.n - 1;
}

jy_fv
jy_flow_ask(struct jy_flow *w, jy_fb block, uint32_t helper, size_t nargs, const jy_fv *args, uint32_t exit)
{
    jy_fv v;
    enum jy_ftype type = (enum jy_ftype)w->w_helpers.at[helper].type;
    struct jy_fvalue *call = append(w, &v, block, JY_FLOW_CALL, type, nargs, args);
    call->f_index = helper;
    call->f_exit = exit;
    jy_flow_stamp(w, v);
    return v;
}

struct jy_flow *
jy_flow_function(struct jy_flow *root, const char *name)
{
    struct jy_flow *w = jy_flow_new(root->w_arena, name);
    w->w_root = root;
    w->w_file = root->w_file;
    *jy_vec_push(root->w_arena, &root->w_functions) = w;
    return w;
}

size_t
jy_flow_first_input(const struct jy_flow *w)
{
    const struct jy_flow *root = jy_flow_root(w), *part = root;
    size_t n = 0;
    for (size_t k = 0; part != w; part = root->w_functions.at[k++])
        n += part->w_inputs.n;
    return n;
}

size_t
jy_flow_count_inputs(const struct jy_flow *root)
{
    size_t n = root->w_inputs.n;
    for (size_t k = 0; k < root->w_functions.n; k++)
        n += root->w_functions.at[k]->w_inputs.n;
    return n;
}

size_t
jy_flow_first_helper(const struct jy_flow *w)
{
    const struct jy_flow *root = jy_flow_root(w), *part = root;
    size_t n = 0;
    for (size_t k = 0; part != w; part = root->w_functions.at[k++])
        n += part->w_helpers.n;
    return n;
}

size_t
jy_flow_count_helpers(const struct jy_flow *root)
{
    size_t n = root->w_helpers.n;
    for (size_t k = 0; k < root->w_functions.n; k++)
        n += root->w_functions.at[k]->w_helpers.n;
    return n;
}

jy_fv
jy_flow_invoke(struct jy_flow *w, jy_fb block, uint32_t function, size_t nargs, const jy_fv *args, uint32_t exit)
{
    jy_fv v;
    enum jy_ftype type = (enum jy_ftype)jy_flow_root(w)->w_functions.at[function]->w_type;
    struct jy_fvalue *call = append(w, &v, block, JY_FLOW_INVOKE, type, nargs, args);
    call->f_index = function;
    call->f_exit = exit;
    return v;
}

uint32_t
jy_flow_exit_add(struct jy_flow *w, const struct jy_flow_exit *exit)
{
    *jy_vec_push(w->w_arena, &w->w_exits) = *exit;
    return (uint32_t)w->w_exits.n - 1;
}

static void
set_edge(struct jy_flow *w, struct jy_fedge *edge, jy_fb to, size_t nargs, const jy_fv *args)
{
    *edge = (struct jy_fedge){ to, nargs, jy_arena_copy(w->w_arena, args, nargs * sizeof(*args)) };
}

void
jy_flow_jump(struct jy_flow *w, jy_fb from, jy_fb to, size_t nargs, const jy_fv *args)
{
    struct jy_fblock *b = &w->w_blocks.at[from];
    b->f_end = JY_END_JUMP;
    set_edge(w, &b->f_edge[0], to, nargs, args);
}

void
jy_flow_branch(struct jy_flow *w, jy_fb from, jy_fv condition, jy_fb yes, size_t nyes, const jy_fv *yes_args, jy_fb no,
               size_t nno, const jy_fv *no_args)
{
    struct jy_fblock *b = &w->w_blocks.at[from];
    b->f_end = JY_END_BRANCH;
    b->f_condition = condition;
    set_edge(w, &b->f_edge[0], yes, nyes, yes_args);
    set_edge(w, &b->f_edge[1], no, nno, no_args);
}

void
jy_flow_leave(struct jy_flow *w, jy_fb from, uint32_t exit)
{
    struct jy_fblock *b = &w->w_blocks.at[from];
    b->f_end = JY_END_EXIT;
    b->f_leave = exit;
}

bool
jy_flow_passes_on(const struct jy_flow *w, jy_fv v, jy_fv part, int depth)
{
    const struct jy_fvalue *value = jy_flow_at(w, v);
    while (jy_flow_at(w, part)->f_op == JY_FLOW_WIDEN)
        part = jy_flow_at(w, part)->f_args[0];
    if (v == part)
        return true;
    switch (depth == 0 ? JY_FLOW_PARAM : (int)value->f_op) {
    case JY_FLOW_ADD:
    case JY_FLOW_SUB:
    case JY_FLOW_MUL:
        return jy_flow_passes_on(w, value->f_args[0], part, depth - 1) ||
               jy_flow_passes_on(w, value->f_args[1], part, depth - 1);
    case JY_FLOW_DIV:
    case JY_FLOW_NEG:
    case JY_FLOW_ABS:
    case JY_FLOW_SQRT:
    case JY_FLOW_WIDEN:
    case JY_FLOW_ROUND:
        return jy_flow_passes_on(w, value->f_args[0], part, depth - 1);
    default:
        return false;
    }
}
