/* One kernel: a function of the call. Its entry block holds what is fetched once: descriptors, sizes, stack slots.
 * Everything else is the kernel's body in plain scope. */
#include "emit.h"
#include <stdio.h>
#include <string.h>

void
jy_emit_fail(struct jy_emit *e, const char *why)
{
    if (e->why == NULL)
        e->why = why;
}

LLVMValueRef
jy_emit_alloca(struct jy_emit *e, LLVMTypeRef type, const char *name)
{
    LLVMBasicBlockRef here = l_visit(e, e->entry);
    LLVMValueRef slot = LLVMBuildAlloca(e->builder, type, name);
    LLVMSetAlignment(slot, 8);
    l_at(e, here);
    return slot;
}

LLVMValueRef
jy_emit_field_address(struct jy_emit *e, enum jy_call_field field)
{
    return LLVMBuildStructGEP2(e->builder, e->call_type, e->call, field, "");
}

LLVMValueRef
jy_emit_field(struct jy_emit *e, enum jy_call_field field)
{
    static const char *const names[] = { "desc", "size", "scalar", "loop", "helper", "tile", "sum_chunk", "status" };
    if (e->field[field] == NULL) {
        LLVMBasicBlockRef here = l_visit(e, e->entry);
        LLVMTypeRef type = LLVMStructGetTypeAtIndex(e->call_type, field);
        e->field[field] = LLVMBuildLoad2(e->builder, type, jy_emit_field_address(e, field), names[field]);
        l_at(e, here);
    }
    return e->field[field];
}

/* data or one stride of a buffer's descriptor, in the entry block */
static LLVMValueRef
load_descriptor(struct jy_emit *e, uint32_t buffer, int axis)
{
    char name[40];
    LLVMValueRef desc = jy_emit_field(e, JY_FIELD_DESC);
    LLVMValueRef path[3] = { l_i32(e, (int32_t)buffer), l_i32(e, axis < 0 ? 0 : 1), l_i32(e, axis < 0 ? 0 : axis) };
    LLVMBasicBlockRef here = l_visit(e, e->entry);
    LLVMValueRef at = LLVMBuildGEP2(e->builder, e->desc_type, desc, path, axis < 0 ? 2 : 3, "");
    if (axis < 0)
        snprintf(name, sizeof name, "b%u", buffer);
    else
        snprintf(name, sizeof name, "b%u.stride%d", buffer, axis);
    LLVMValueRef v = LLVMBuildLoad2(e->builder, axis < 0 ? e->ptr : e->i64, at, name);
    l_at(e, here);
    return v;
}

LLVMValueRef
jy_emit_data(struct jy_emit *e, uint32_t buffer)
{
    const struct jy_buffer *b = &e->plan->p_buffers.at[buffer];
    if (e->data[buffer] == NULL && b->b_kind == JY_BUFFER_TILE) {
        LLVMValueRef tile = jy_emit_field(e, JY_FIELD_TILE), offset = l_i64(e, b->b_index);
        LLVMBasicBlockRef here = l_visit(e, e->entry);
        e->data[buffer] = LLVMBuildGEP2(e->builder, e->i8, tile, &offset, 1, "tile");
        l_at(e, here);
    } else if (e->data[buffer] == NULL) {
        e->data[buffer] = load_descriptor(e, buffer, -1);
    }
    return e->data[buffer];
}

LLVMValueRef
jy_emit_stride(struct jy_emit *e, uint32_t buffer, unsigned axis)
{
    const struct jy_buffer *b = &e->plan->p_buffers.at[buffer];
    LLVMValueRef *slot = &e->stride[buffer * JY_MAX_NDIM + axis];
    if (b->b_unit_axis == (int)axis || b->b_kind == JY_BUFFER_TILE)
        return l_i64(e, jy_dtype_info[b->b_dtype].bytes);
    if (*slot == NULL)
        *slot = load_descriptor(e, buffer, (int)axis);
    return *slot;
}

LLVMValueRef
jy_emit_size(struct jy_emit *e, uint32_t slot)
{
    if (e->size[slot] == NULL) {
        char name[40];
        LLVMValueRef sizes = jy_emit_field(e, JY_FIELD_SIZE), index = l_i64(e, slot);
        LLVMBasicBlockRef here = l_visit(e, e->entry);
        snprintf(name, sizeof name, "size%u", slot);
        LLVMValueRef at = LLVMBuildGEP2(e->builder, e->i64, sizes, &index, 1, "");
        e->size[slot] = LLVMBuildLoad2(e->builder, e->i64, at, name);
        l_at(e, here);
    }
    return e->size[slot];
}

void
jy_emit_attribute(struct jy_emit *e, const char *key, const char *value)
{
    LLVMAttributeRef a =
        LLVMCreateStringAttribute(e->context, key, (unsigned)strlen(key), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(e->function, LLVMAttributeFunctionIndex, a);
}

/* Without these LLVM splits 512-bit vectors on CPUs that it thinks prefer 256. */
void
jy_emit_attributes(struct jy_emit *e)
{
    char bits[16];
    unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    snprintf(bits, sizeof bits, "%u", e->vector_bits);
    LLVMAddAttributeAtIndex(e->function, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(e->context, kind, 0));
    jy_emit_attribute(e, "prefer-vector-width", bits);
    jy_emit_attribute(e, "min-legal-vector-width", bits);
}

static void
count_use(struct jy_emit *e, jy_lv lv)
{
    if (lv < e->kernel->k_stmts.n)
        e->uses[lv]++;
}

static void
count_uses(struct jy_emit *e)
{
    for (size_t i = 0; i < e->kernel->k_stmts.n; i++) {
        const struct jy_lstmt *s = &e->kernel->k_stmts.at[i];
        for (unsigned k = 0; k < s->l_nargs; k++)
            count_use(e, s->l_args[k]);
        if (s->l_kind == JY_L_FOLD)
            count_use(e, s->l_yield);
    }
}

static void
allocate_tables(struct jy_emit *e)
{
    size_t n = e->kernel->k_stmts.n, buffers = e->plan->p_buffers.n;
    e->value = JY_NEW_ARRAY(e->arena, LLVMValueRef, n * JY_COPIES);
    e->owner = JY_NEW_ARRAY(e->arena, uint32_t, n);
    e->uses = JY_NEW_ARRAY(e->arena, uint32_t, n);
    e->hoisted = jy_arena_alloc(e->arena, n * sizeof *e->hoisted);
    e->data = JY_NEW_ARRAY(e->arena, LLVMValueRef, buffers);
    e->stride = JY_NEW_ARRAY(e->arena, LLVMValueRef, buffers * JY_MAX_NDIM);
    e->size = JY_NEW_ARRAY(e->arena, LLVMValueRef, e->plan->p_sizes.n);
    memset(e->field, 0, sizeof e->field);
    e->sink = NULL;
    e->serials = 0;
    e->lanes = (struct jy_lanes){ .var = JY_NO_LV, .width = 1, .copies = 1 };
}

void
jy_emit_kernel(struct jy_emit *e, size_t k)
{
    char name[40];
    e->kernel = &e->plan->p_kernels.at[k];
    allocate_tables(e);
    count_uses(e);

    snprintf(name, sizeof name, "jy_kernel_%zu", k);
    e->function = LLVMAddFunction(e->module, name, LLVMFunctionType(e->i32, &e->ptr, 1, false));
    e->call = LLVMGetParam(e->function, 0);
    LLVMSetValueName2(e->call, "call", 4);
    jy_emit_attributes(e);
    e->entry = l_block(e, "entry");
    LLVMBasicBlockRef body = l_block(e, "body");
    l_at(e, e->entry);
    LLVMBuildBr(e->builder, body);
    l_at(e, body);
    jy_emit_body(e, e->kernel->k_body.at, e->kernel->k_body.n);
    LLVMBuildRet(e->builder, l_i32(e, 0));
}
