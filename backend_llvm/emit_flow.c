/* A flow as one function, int32_t jy_kernel_0(struct jy_flow_call *): its blocks in an order in which definitions come
 * before their uses, their parameters as phis, and its exits behind everything else.
 *
 *     entry:          what does not change: fields of the call
 *     <blocks>        named by the place in the bytecode: at12.line5; a check ends one LLVM block and begins the next
 *     exit.3...:      cold: the values into `out`, ret 3 (emit_flow_exit.c)
 *
 *  1. An exit is one block, whoever takes it: its values dominate each of the places.
 *  2. Branches to exits carry weights, so that the machine code of exits stands behind the hot path.
 *  3. Blocks that no path reaches are not emitted: LLVM would have their values without definitions.
 *  4. FP status flags mean nothing to a flow: warnings are decided by values (FLAGGED), and whoever reads flags clears
 *     them first. So LLVM may move and drop float operations, but nothing is contracted or reassociated
 *     unless `fastmath` asks for it. */
#include "emit_flow.h"
#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static_assert(offsetof(struct jy_flow_call, in) == 0 && offsetof(struct jy_flow_call, out) == 8 &&
                  offsetof(struct jy_flow_call, helper) == 16 && offsetof(struct jy_flow_call, watch) == 24 &&
                  offsetof(struct jy_flow_call, watch_mask) == 32 && offsetof(struct jy_flow_call, owner) == 40 &&
                  offsetof(struct jy_flow_call, left) == 48 && offsetof(struct jy_flow_call, stack) == 56 &&
                  offsetof(struct jy_flow_call, push) == 64 && offsetof(struct jy_flow_call, spread) == 72,
              "flow_call is { 4 x ptr, i32, ptr, 2 x i64, 2 x ptr }; ORDER flow_call");

LLVMTypeRef
jy_flow_value_type(const struct jy_flow_emit *f, enum jy_ftype type)
{
    const struct jy_emit *e = f->e;
    switch (type) {
    case JY_F_I1:
        return e->i1;
    case JY_F_I8:
        return e->i8;
    case JY_F_I16:
        return LLVMInt16TypeInContext(e->context);
    case JY_F_I32:
        return e->i32;
    case JY_F_I64:
        return e->i64;
    case JY_F_F32:
        return e->f32;
    case JY_F_F64:
        return e->f64;
    case JY_F_PTR:
        return e->ptr;
    case JY_F_NONE:
    case JY_F_TYPE_COUNT:
        break;
    }
    return LLVMVoidTypeInContext(e->context);
}

LLVMTypeRef
jy_flow_memory_type(const struct jy_flow_emit *f, enum jy_ftype type)
{
    return type == JY_F_I1 ? f->e->i8 : jy_flow_value_type(f, type);
}

LLVMValueRef
jy_flow_field(struct jy_flow_emit *f, enum jy_flow_field field)
{
    static const char *const names[] = { "in",    "out",  "helper", "watch", "watch.mask",
                                         "owner", "left", "stack",  "push",  "spread" };
    struct jy_emit *e = f->e;
    if (f->field[field] == NULL) {
        LLVMBasicBlockRef here = l_visit(e, e->entry);
        LLVMValueRef at = LLVMBuildStructGEP2(e->builder, f->call_type, e->call, field, "");
        LLVMTypeRef type = LLVMStructGetTypeAtIndex(f->call_type, field);
        f->field[field] = LLVMBuildLoad2(e->builder, type, at, names[field]);
        LLVMSetMetadata(f->field[field], f->invariant_kind, f->frozen);
        l_at(e, here);
    }
    return f->field[field];
}

/* Checks ---------------------------------------------------------------------------------------------------------- */

static void
branch_weighted(struct jy_flow_emit *f, LLVMValueRef condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no,
                LLVMValueRef weights)
{
    LLVMValueRef branch = LLVMBuildCondBr(l_builder(f), condition, yes, no);
    if (weights != NULL)
        LLVMSetMetadata(branch, f->prof_kind, weights);
}

LLVMBasicBlockRef
jy_flow_go_on(struct jy_flow_emit *f, LLVMValueRef condition, LLVMBasicBlockRef otherwise)
{
    LLVMBasicBlockRef on = l_block(f->e, "");
    branch_weighted(f, condition, on, otherwise, f->usual);
    LLVMMoveBasicBlockAfter(on, l_here(f->e));
    l_at(f->e, on);
    return on;
}

void
jy_flow_require(struct jy_flow_emit *f, LLVMValueRef condition, uint32_t exit)
{
    LLVMBasicBlockRef failed = jy_flow_failed_block(f, exit);
    if (f->goes_on == NULL) {
        jy_flow_go_on(f, condition, failed);
        return;
    }
    LLVMBasicBlockRef doubt = l_block(f->e, "doubt"), on = jy_flow_go_on(f, condition, doubt);
    l_at(f->e, doubt);
    LLVMBuildCondBr(l_builder(f), f->goes_on, on, failed);
    l_at(f->e, on);
}

void
jy_flow_require_rarely(struct jy_flow_emit *f, LLVMValueRef enough, uint32_t exit, jy_flow_decide decide,
                       LLVMValueRef *args)
{
    LLVMBasicBlockRef doubt = l_block(f->e, "doubt"), on = jy_flow_go_on(f, enough, doubt);
    l_at(f->e, doubt);
    LLVMBuildCondBr(l_builder(f), decide(f, args), on, jy_flow_failed_block(f, exit));
    l_at(f->e, on);
}

/* Values ---------------------------------------------------------------------------------------------------------- */

/* What a reader of the IR finds again in the flow: operation and number of the value, line of the program. */
static void
name_value(struct jy_flow_emit *f, jy_fv fv, LLVMValueRef v)
{
    const struct jy_fvalue *value = jy_flow_at(f->w, fv);
    struct jy_emit *e = f->e;
    char name[64];
    if (LLVMIsAInstruction(v) == NULL)
        return;
    int n = snprintf(name, sizeof name, "%s.%u", jy_flow_op_info[value->f_op].text, fv);
    if (value->f_type != JY_F_NONE)
        LLVMSetValueName2(v, name, (size_t)n);
    if (value->f_line != 0) {
        n = snprintf(name, sizeof name, "line %u", value->f_line);
        LLVMMetadataRef text = LLVMMDStringInContext2(e->context, name, (size_t)n);
        LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, &text, 1);
        LLVMSetMetadata(v, LLVMGetMDKindIDInContext(e->context, "jitney", 6), LLVMMetadataAsValue(e->context, node));
    }
}

static LLVMValueRef
emit_constant(struct jy_flow_emit *f, const struct jy_fvalue *v)
{
    LLVMTypeRef type = jy_flow_value_type(f, v->f_type);
    switch ((int)v->f_type) {
    case JY_F_F64: /* by its bits: a NaN keeps them */
        return LLVMConstBitCast(LLVMConstInt(f->e->i64, v->f_value.bits, false), type);
    case JY_F_F32:
        return LLVMConstBitCast(LLVMConstInt(f->e->i32, (uint32_t)v->f_value.bits, false), type);
    case JY_F_PTR:
        return LLVMConstIntToPtr(LLVMConstInt(f->e->i64, v->f_value.bits, false), type);
    case JY_F_I1:
        return LLVMConstInt(type, v->f_value.i != 0, false);
    default:
        return LLVMConstInt(type, v->f_value.bits, true);
    }
}

/* What can be seen from outside, in which case the order of it and checks counts. */
static bool
is_observable(const struct jy_flow_emit *f, const struct jy_fvalue *v)
{
    if (v->f_op == JY_FLOW_CALL)
        return v->f_exit != JY_NO_EXIT || !f->w->w_helpers.at[v->f_index].pure;
    return v->f_op == JY_FLOW_INVOKE || v->f_op == JY_FLOW_SPREAD || v->f_op == JY_FLOW_STORE ||
           v->f_op == JY_FLOW_POLL;
}

static void
emit_value(struct jy_flow_emit *f, jy_fv fv)
{
    const struct jy_fvalue *v = jy_flow_at(f->w, fv);
    LLVMValueRef args[JY_FLOW_MOST_ARGS], r = NULL;
    if (v->f_nargs > sizeof args / sizeof *args) {
        jy_emit_fail(f->e, "a call in a loop has too many arguments");
        return;
    }
    for (unsigned k = 0; k < v->f_nargs; k++)
        args[k] = f->value[v->f_args[k]];
    if (v->f_op == JY_FLOW_FLAGGED) {
        jy_flow_emit_flagged(f, fv);
        return;
    }
    if (is_observable(f, v))
        jy_flow_settle_flags(f);
    else if (v->f_exit != JY_NO_EXIT)
        jy_flow_before_check(f);
    switch ((int)v->f_op) {
    case JY_FLOW_CONST:
        r = emit_constant(f, v);
        break;
    case JY_FLOW_INPUT:
        r = jy_flow_emit_input(f, v);
        break;
    case JY_FLOW_SCRATCH:
        r = jy_flow_emit_scratch(f);
        break;
    case JY_FLOW_LOAD:
        r = jy_flow_emit_load(f, v, args);
        break;
    case JY_FLOW_STORE:
        jy_flow_emit_store(f, v, args);
        break;
    case JY_FLOW_CALL:
        r = jy_flow_emit_call(f, v, args);
        break;
    case JY_FLOW_INVOKE:
        r = jy_flow_emit_invoke(f, v, args);
        break;
    case JY_FLOW_SPREAD:
        r = jy_flow_emit_spread(f, v, args);
        break;
    case JY_FLOW_INDEPENDENT:
        break;
    case JY_FLOW_POLL:
        jy_flow_emit_poll(f, v);
        break;
    default:
        r = jy_flow_emit_stride(f, v);
        r = r != NULL ? r : jy_flow_emit_op(f, v, args);
        break;
    }
    f->value[fv] = r;
    if (v->f_exit != JY_NO_EXIT)
        jy_flow_behind_check(f, v);
    if (r != NULL && f->e->want_lines)
        name_value(f, fv, r);
}

/* Blocks ---------------------------------------------------------------------------------------------------------- */

static size_t
edges_of(const struct jy_fblock *b)
{
    return b->f_end == JY_END_JUMP ? 1 : b->f_end == JY_END_BRANCH ? 2 : 0;
}

/* Reverse postorder, without recursion: the second edge is walked first, so that the first, where loops go on, follows
 * its block. The number of blocks in `order`. */
static size_t
order_blocks(struct jy_flow_emit *f, jy_fb *order)
{
    size_t n = f->w->w_blocks.n, at = n, depth = 0;
    jy_fb *stack = JY_NEW_ARRAY(f->e->arena, jy_fb, n);
    uint8_t *walked = JY_NEW_ARRAY(f->e->arena, uint8_t, n);
    bool *seen = JY_NEW_ARRAY(f->e->arena, bool, n);
    stack[depth++] = 0;
    seen[0] = true;
    while (depth > 0) {
        jy_fb b = stack[depth - 1];
        const struct jy_fblock *block = &f->w->w_blocks.at[b];
        size_t edges = edges_of(block);
        if (walked[b] == edges) {
            order[--at] = b;
            depth--;
            continue;
        }
        jy_fb to = block->f_edge[edges - 1 - walked[b]++].to;
        if (!seen[to]) {
            seen[to] = true;
            stack[depth++] = to;
        }
    }
    memmove(order, order + at, (n - at) * sizeof *order);
    return n - at;
}

static void
begin_block(struct jy_flow_emit *f, jy_fb b)
{
    const struct jy_fblock *block = &f->w->w_blocks.at[b];
    char name[64] = "";
    if (f->e->want_lines)
        snprintf(name, sizeof name, "b%u.at%u.line%u", b, block->f_offset, block->f_line);
    f->first[b] = l_block(f->e, name);
    l_at(f->e, f->first[b]);
    for (size_t k = 0; k < block->f_params.n; k++) {
        jy_fv v = block->f_params.at[k];
        f->value[v] = LLVMBuildPhi(l_builder(f), jy_flow_value_type(f, jy_flow_at(f->w, v)->f_type), "");
        if (f->e->want_lines)
            name_value(f, v, f->value[v]);
    }
}

static void
add_incoming(struct jy_flow_emit *f, const struct jy_fedge *edge, LLVMBasicBlockRef from, jy_fb b)
{
    const struct jy_fblock *to = &f->w->w_blocks.at[edge->to];
    for (size_t k = 0; k < edge->nargs; k++)
        LLVMAddIncoming(f->value[to->f_params.at[k]], &f->value[edge->args[k]], &from, 1);
    jy_flow_pass_strides(f, edge, from, f->place[edge->to] <= f->place[b]);
}

/* Both edges of a branch may go to one block with different arguments: the second gets a block of its own. */
static void
end_block(struct jy_flow_emit *f, jy_fb b)
{
    const struct jy_fblock *block = &f->w->w_blocks.at[b];
    const struct jy_fedge *yes = &block->f_edge[0], *no = &block->f_edge[1];
    l_at(f->e, f->last[b]);
    if (f->has_arms[b]) {
        jy_flow_join_arms(f, b);
    } else if (block->f_end == JY_END_JUMP) {
        LLVMBuildBr(l_builder(f), f->first[yes->to]);
        add_incoming(f, yes, f->last[b], b);
    } else if (block->f_end == JY_END_BRANCH) {
        bool twins = yes->to == no->to;
        LLVMBasicBlockRef other = twins ? l_block(f->e, "") : f->first[no->to];
        LLVMValueRef weights = block->f_likely[0] == block->f_likely[1] ? NULL
                               : block->f_likely[0]                     ? f->usual
                                                                        : f->rare;
        branch_weighted(f, f->value[block->f_condition], f->first[yes->to], other, weights);
        if (twins) {
            l_at(f->e, other);
            LLVMBuildBr(l_builder(f), f->first[no->to]);
        }
        add_incoming(f, yes, f->last[b], b);
        add_incoming(f, no, twins ? other : f->last[b], b);
    } else {
        const struct jy_flow_exit *x = &f->w->w_exits.at[block->f_leave];
        if (f->self != NULL && x->x_kind == JY_EXIT_RETURN)
            jy_flow_emit_result(f, x->x_values.n != 0 ? f->value[x->x_values.at[0]] : NULL, false);
        else
            LLVMBuildBr(l_builder(f), jy_flow_exit_block(f, block->f_leave));
    }
}

void
jy_flow_emit_body(struct jy_flow_emit *f, jy_fb b)
{
    const struct jy_fblock *block = &f->w->w_blocks.at[b];
    for (size_t i = 0; i < block->f_body.n && f->e->why == NULL; i++)
        emit_value(f, block->f_body.at[i]);
    jy_flow_settle_flags(f);
}

static void
emit_block(struct jy_flow_emit *f, jy_fb b)
{
    l_at(f->e, f->first[b]);
    f->division = (struct jy_flow_division){ 0 };
    jy_flow_emit_body(f, b);
    if (f->has_arms[b] && f->e->why == NULL)
        jy_flow_emit_arms(f, b);
    f->last[b] = l_here(f->e);
}

/* Those that are blocks of LLVM's, in order. */
static size_t
drop_arms(struct jy_flow_emit *f, jy_fb *order, size_t n)
{
    size_t left = 0;
    for (size_t k = 0; k < n; k++)
        f->place[order[k]] = (uint32_t)k;
    f->order = memcpy(JY_NEW_ARRAY(f->e->arena, jy_fb, n), order, n * sizeof *order);
    f->norder = n;
    jy_flow_find_arms(f, order, n);
    for (size_t k = 0; k < n; k++)
        if (!f->is_arm[order[k]])
            order[left++] = order[k];
    return left;
}

/* Phis come first, as loops use values of blocks that come later; then bodies, then ends. */
static void
emit_blocks(struct jy_flow_emit *f)
{
    jy_fb *order = JY_NEW_ARRAY(f->e->arena, jy_fb, f->w->w_blocks.n);
    size_t n = drop_arms(f, order, order_blocks(f, order));
    for (size_t k = 0; k < n; k++)
        begin_block(f, order[k]);
    for (size_t k = 0; k < n && f->e->why == NULL; k++)
        emit_block(f, order[k]);
    for (size_t k = 0; k < n && f->e->why == NULL; k++)
        end_block(f, order[k]);
    if (f->e->why == NULL) {
        jy_flow_mark_loops(f);
        jy_flow_emit_exits(f);
    }
}

/* The function ---------------------------------------------------------------------------------------------------- */

static LLVMValueRef
make_weights(struct jy_emit *e, uint32_t yes, uint32_t no)
{
    LLVMMetadataRef parts[] = {
        LLVMMDStringInContext2(e->context, "branch_weights", 14),
        LLVMValueAsMetadata(LLVMConstInt(e->i32, yes, false)),
        LLVMValueAsMetadata(LLVMConstInt(e->i32, no, false)),
    };
    return LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, parts, 3));
}

/* What a helper keeps and nothing in the flow writes may be loaded before the call as well as behind it. What the flow writes the helper may read. */
static void
make_kept(struct jy_flow_emit *f, LLVMMetadataRef *scope, LLVMMetadataRef *list)
{
    const struct jy_flow *w = f->w;
    f->kept = JY_NEW_ARRAY(f->e->arena, LLVMValueRef, w->w_helpers.n + 1);
    for (size_t h = 0; h < w->w_helpers.n; h++) {
        size_t m = 0;
        for (uint32_t k = 1; k <= w->w_nalias; k++)
            if (w->w_helpers.at[h].keeps >> k & 1 && !w->w_alias_written[k - 1])
                list[m++] = scope[k];
        if (m != 0)
            f->kept[h] = LLVMMetadataAsValue(f->e->context, LLVMMDNodeInContext2(f->e->context, list, m));
    }
}

/* Accesses of different numbers never touch the same byte: each number is a scope, apart from all others. */
static void
make_scopes(struct jy_flow_emit *f)
{
    struct jy_emit *e = f->e;
    uint32_t n = f->w->w_nalias + 1;
    LLVMMetadataRef *scope = JY_NEW_ARRAY(e->arena, LLVMMetadataRef, n);
    LLVMMetadataRef *others = JY_NEW_ARRAY(e->arena, LLVMMetadataRef, n);
    LLVMMetadataRef name = LLVMMDStringInContext2(e->context, "flow", 4);
    LLVMMetadataRef domain = LLVMMDNodeInContext2(e->context, &name, 1);
    char text[16];
    f->scope = JY_NEW_ARRAY(e->arena, LLVMValueRef, n);
    f->apart = JY_NEW_ARRAY(e->arena, LLVMValueRef, n);
    for (uint32_t k = 1; k < n; k++) {
        int length = snprintf(text, sizeof text, "alias %u", k);
        LLVMMetadataRef pair[] = { LLVMMDStringInContext2(e->context, text, (size_t)length), domain };
        scope[k] = LLVMMDNodeInContext2(e->context, pair, 2);
        f->scope[k] = LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, &scope[k], 1));
    }
    for (uint32_t k = 1; k < n; k++) {
        size_t m = 0;
        for (uint32_t other = 1; other < n; other++)
            if (other != k)
                others[m++] = scope[other];
        f->apart[k] = m == 0 ? NULL : LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, others, m));
    }
    make_kept(f, scope, others);
}

static unsigned
metadata_kind(struct jy_emit *e, const char *name)
{
    return LLVMGetMDKindIDInContext(e->context, name, (unsigned)strlen(name));
}

static void
fill_state(struct jy_flow_emit *f)
{
    struct jy_emit *e = f->e;
    LLVMTypeRef call[] = { e->ptr, e->ptr, e->ptr, e->ptr, e->i32, e->ptr, e->i64, e->i64, e->ptr, e->ptr };
    f->call_type = LLVMStructCreateNamed(e->context, "jy_flow_call");
    LLVMStructSetBody(f->call_type, call, 10, false);
    f->value = JY_NEW_ARRAY(e->arena, LLVMValueRef, f->w->w_values.n);
    f->first = JY_NEW_ARRAY(e->arena, LLVMBasicBlockRef, f->w->w_blocks.n);
    f->last = JY_NEW_ARRAY(e->arena, LLVMBasicBlockRef, f->w->w_blocks.n);
    f->place = JY_NEW_ARRAY(f->e->arena, uint32_t, f->w->w_blocks.n);
    f->is_arm = JY_NEW_ARRAY(e->arena, bool, f->w->w_blocks.n);
    f->has_arms = JY_NEW_ARRAY(e->arena, bool, f->w->w_blocks.n);
    f->exits = JY_NEW_ARRAY(e->arena, LLVMBasicBlockRef, f->w->w_exits.n);
    f->slot = JY_NEW_ARRAY(e->arena, uint32_t, f->w->w_values.n);
    f->nslots = jy_flow_slots(f->w, f->slot);
    f->prof_kind = metadata_kind(e, "prof");
    f->invariant_kind = metadata_kind(e, "invariant.load");
    f->scope_kind = metadata_kind(e, "alias.scope");
    f->apart_kind = metadata_kind(e, "noalias");
    f->usual = make_weights(e, 1 << 20, 1);
    f->rare = make_weights(e, 1, 1 << 20);
    f->frozen = LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, NULL, 0));
    make_scopes(f);
}

/* From here on code goes into this function, which has a state of its own. */
static void
open_function(struct jy_flow_emit *f, LLVMValueRef function)
{
    struct jy_emit *e = f->e;
    fill_state(f);
    e->function = function;
    e->call = LLVMGetParam(function, 0);
    LLVMSetValueName2(e->call, "call", 4);
    jy_emit_attributes(e);
    jy_emit_attribute(e, "no-builtins", "");
    e->entry = l_block(e, "entry");
}

/* The program's functions ------------------------------------------------------------------------------------------ */

static LLVMValueRef
add_function(struct jy_emit *e, const char *name, LLVMTypeRef type)
{
    LLVMValueRef function = LLVMAddFunction(e->module, name, type);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMSetFunctionCallConv(function, LLVMFastCallConv);
    return function;
}

static void
declare_function(struct jy_emit *e, struct jy_flow_function *out, const struct jy_flow *w, uint32_t number)
{
    struct jy_flow_emit f = { .e = e, .w = w };
    LLVMTypeRef *types = JY_NEW_ARRAY(e->arena, LLVMTypeRef, w->w_nargs + 2);
    out->result = e->i1;
    if (w->w_type != JY_F_NONE) {
        LLVMTypeRef both[] = { jy_flow_value_type(&f, (enum jy_ftype)w->w_type), e->i1 };
        out->result = LLVMStructTypeInContext(e->context, both, 2, false);
    }
    types[0] = e->ptr;
    types[1] = e->i64;
    for (size_t k = 0; k < w->w_nargs; k++)
        types[k + 2] = jy_flow_value_type(&f, (enum jy_ftype)w->w_args[k]);
    out->type = LLVMFunctionType(out->result, types, (unsigned)w->w_nargs + 2, false);
    out->function = add_function(e, "function", out->type);
    for (unsigned k = jy_flow_count_copies(w, number); k > 0; k--)
        out->again[k - 1] = add_function(e, "again", out->type);
    if (w->w_is_piece)
        jy_flow_emit_piece(e, out, w);
}

/* Not begun: the caller leaves in front of the call. */
static void
emit_prologue(struct jy_flow_emit *f)
{
    struct jy_emit *e = f->e;
    LLVMBasicBlockRef refused = l_block(e, "refused");
    LLVMValueRef left = LLVMGetParam(e->function, 1), frames = l_i64(e, f->w->w_frames);
    LLVMValueRef here = LLVMBuildPtrToInt(e->builder, f->field[JY_FLOW_FIELD_OUT], e->i64, "");
    LLVMValueRef room = LLVMBuildICmp(e->builder, LLVMIntUGT, here, jy_flow_field(f, JY_FLOW_FIELD_STACK), "");
    if (f->depth == 0 && !f->self->is_part) { /* else the outer one has asked */
        jy_flow_go_on(f, LLVMBuildNot(e->builder, jy_flow_must_poll(f), ""), refused);
        jy_flow_go_on(f, room, refused);
    }
    jy_flow_go_on(f, LLVMBuildICmp(e->builder, LLVMIntSGE, left, frames, ""), refused);
    LLVMBuildBr(e->builder, f->first[0]);
    l_at(e, refused);
    jy_flow_emit_result(f, NULL, true);
}

static void
add_enum_attribute(struct jy_emit *e, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(e->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(e->context, kind, 0));
}

/* `depth`: 0, or which of the copies that are put into it. */
static void
emit_function(struct jy_emit *e, const struct jy_flow_function *functions, const struct jy_flow *w, uint32_t number,
              unsigned depth)
{
    struct jy_flow_emit f = { .e = e, .w = w, .functions = functions, .self = &functions[number], .number = number };
    f.depth = depth;
    open_function(&f, depth > 0 ? functions[number].again[depth - 1] : functions[number].function);
    if (depth > 0 || functions[number].is_part)
        add_enum_attribute(e, "alwaysinline");
    LLVMTypeRef room = LLVMArrayType2(e->i64, f.nslots + 1);
    f.field[JY_FLOW_FIELD_OUT] = jy_emit_alloca(e, room, "out");
    LLVMBasicBlockRef here = l_visit(e, e->entry);
    f.left = LLVMBuildSub(e->builder, LLVMGetParam(e->function, 1), l_i64(e, w->w_frames), "left");
    l_at(e, here);
    LLVMBasicBlockRef prologue = l_block(e, "prologue");
    emit_blocks(&f);
    l_at(e, prologue);
    if (e->why == NULL)
        emit_prologue(&f);
    l_at(e, e->entry);
    LLVMBuildBr(e->builder, prologue);
}

void
jy_emit_flow(struct jy_emit *e, const struct jy_flow *flow)
{
    size_t n = flow->w_functions.n;
    struct jy_flow_function *functions = JY_NEW_ARRAY(e->arena, struct jy_flow_function, n + 1);
    for (size_t k = 0; k < n; k++)
        declare_function(e, &functions[k], flow->w_functions.at[k], (uint32_t)k);
    jy_flow_find_parts(e, functions, flow);
    struct jy_flow_emit f = { .e = e, .w = flow, .functions = functions };
    open_function(&f, LLVMAddFunction(e->module, "jy_kernel_0", LLVMFunctionType(e->i32, &e->ptr, 1, false)));
    emit_blocks(&f);
    l_at(e, e->entry);
    LLVMBuildBr(e->builder, f.first[0]);
    for (size_t k = 0; k < n && e->why == NULL; k++) {
        emit_function(e, functions, flow->w_functions.at[k], (uint32_t)k, 0);
        for (unsigned depth = 1; depth <= JY_FLOW_MOST_COPIES && e->why == NULL; depth++)
            if (functions[k].again[depth - 1] != NULL)
                emit_function(e, functions, flow->w_functions.at[k], (uint32_t)k, depth);
    }
}
