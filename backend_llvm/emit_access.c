/* Loads and stores. In plain scope the address is computed in place; in a loop's scope it is base + variable * step,
 * where the base (and for steps that are not the element's size the lanes' offsets) are computed in the preheader,
 * once per distinct access.
 *
 * Under a mask the inactive lanes of a load repeat the element of lane 0, which is always active: whatever is
 * computed from them raises the same flags that lane 0 raises, so a masked tail neither adds nor loses one. */
#include "emit.h"
#include <llvm/Config/llvm-config.h>
#include <string.h>

#define FETCH_AHEAD 2048 /* bytes; measured: the machine's own prefetchers stop at pages, and there are many streams */

static LLVMValueRef
add_term(struct jy_emit *e, LLVMValueRef offset, const struct jy_access *a, unsigned t, LLVMValueRef index)
{
    LLVMValueRef step = jy_emit_stride(e, a->buffer, a->term[t].axis);
    LLVMValueRef part = index == NULL ? step : LLVMBuildMul(e->builder, index, step, "");
    return offset == NULL ? part : LLVMBuildAdd(e->builder, offset, part, "");
}

static LLVMValueRef
offset_by(struct jy_emit *e, LLVMValueRef at, LLVMValueRef bytes)
{
    return bytes == NULL ? at : LLVMBuildGEP2(e->builder, e->i8, at, &bytes, 1, "");
}

/* Address with the terms of `var` left out. */
static LLVMValueRef
address_without(struct jy_emit *e, const struct jy_access *a, jy_lv var)
{
    LLVMValueRef offset = NULL;
    for (unsigned t = 0; t < a->nterms; t++)
        if (a->term[t].index != var)
            offset = add_term(e, offset, a, t, e->value[a->term[t].index * JY_COPIES]);
    return offset_by(e, jy_emit_data(e, a->buffer), offset);
}

LLVMValueRef
jy_emit_address(struct jy_emit *e, const struct jy_access *access)
{
    return address_without(e, access, JY_NO_LV);
}

LLVMValueRef
jy_emit_run_stride(struct jy_emit *e, const struct jy_access *access)
{
    return access->run_axis < 0 ? l_i64(e, 0) : jy_emit_stride(e, access->buffer, (unsigned)access->run_axis);
}

static bool
is_same_access(const struct jy_access *a, const struct jy_access *b)
{
    if (a->buffer != b->buffer || a->nterms != b->nterms)
        return false;
    for (unsigned t = 0; t < a->nterms; t++)
        if (a->term[t].index != b->term[t].index || a->term[t].axis != b->term[t].axis)
            return false;
    return true;
}

/* Sum of the strides that the variable is multiplied with; NULL when it is one stride, of the unit axis. */
static LLVMValueRef
step_of(struct jy_emit *e, const struct jy_access *a, jy_lv var, bool *moves)
{
    const struct jy_buffer *b = &e->plan->p_buffers.at[a->buffer];
    LLVMValueRef step = NULL;
    unsigned n = 0, axis = 0;
    for (unsigned t = 0; t < a->nterms; t++) {
        if (a->term[t].index != var)
            continue;
        n++;
        axis = a->term[t].axis;
        step = add_term(e, step, a, t, NULL);
    }
    *moves = n > 0;
    return n == 1 && (b->b_kind == JY_BUFFER_TILE || b->b_unit_axis == (int)axis) ? NULL : step;
}

static struct jy_base *
find_base(struct jy_emit *e, const struct jy_access *a)
{
    struct jy_lanes *l = &e->lanes;
    for (size_t i = 0; i < l->bases.n; i++)
        if (is_same_access(l->bases.at[i].access, a))
            return &l->bases.at[i];
    struct jy_base base = { .access = a };
    LLVMBasicBlockRef here = l_visit(e, l->preheader);
    base.address = address_without(e, a, l->var);
    base.step = step_of(e, a, l->var, &base.moves);
    l_at(e, here);
    *jy_vec_push(e->arena, &l->bases) = base;
    return &l->bases.at[l->bases.n - 1];
}

LLVMValueRef
jy_emit_start(struct jy_emit *e, const struct jy_access *access)
{
    return find_base(e, access)->address;
}

/* <0, step, 2*step, ...> in bytes, in the preheader; made for the scope's widest vectors, which all scopes of one
 * loop share. */
static LLVMValueRef
lane_offsets(struct jy_emit *e, struct jy_base *base, unsigned width)
{
    LLVMValueRef lane[64];
    if (base->lane_offsets != NULL && l_width(base->lane_offsets) == width)
        return base->lane_offsets;
    for (unsigned i = 0; i < width; i++)
        lane[i] = l_i64(e, i);
    LLVMBasicBlockRef here = l_visit(e, e->lanes.preheader);
    LLVMValueRef step = jy_emit_splat(e, base->step, width);
    base->lane_offsets = LLVMBuildMul(e->builder, LLVMConstVector(lane, width), step, "lanes");
    l_at(e, here);
    return base->lane_offsets;
}

/* Bytes from copy 0 to `copy`, in the preheader. */
static LLVMValueRef
hop(struct jy_emit *e, struct jy_base *base, unsigned copy)
{
    unsigned width = e->lanes.width;
    if (base->hop_width != width)
        memset(base->hop, 0, sizeof base->hop);
    base->hop_width = width;
    if (base->hop[copy] == NULL) {
        LLVMBasicBlockRef here = l_visit(e, e->lanes.preheader);
        base->hop[copy] = LLVMBuildMul(e->builder, base->step, l_i64(e, (int64_t)copy * width), "");
        l_at(e, here);
    }
    return base->hop[copy];
}

/* Where lane 0 of `copy` lies. */
static LLVMValueRef
lane0(struct jy_emit *e, struct jy_base *base, LLVMTypeRef type, unsigned copy)
{
    LLVMValueRef index = e->lanes.index;
    if (base->step != NULL) {
        LLVMValueRef at = offset_by(e, base->address, LLVMBuildMul(e->builder, index, base->step, ""));
        return copy == 0 ? at : offset_by(e, at, hop(e, base, copy));
    }
    if (copy > 0)
        index = LLVMBuildAdd(e->builder, index, l_i64(e, (int64_t)copy * e->lanes.width), "");
    return LLVMBuildGEP2(e->builder, type, base->address, &index, 1, "");
}

static LLVMValueRef
all_lanes(struct jy_emit *e, unsigned width)
{
    return LLVMConstAllOnes(LLVMVectorType(e->i1, width));
}

/* A call of llvm.masked.<what>; LLVM 22 moved the alignment from an operand to an attribute of the pointer. */
static LLVMValueRef
masked_call(struct jy_emit *e, const char *name, LLVMTypeRef *types, LLVMValueRef *args, unsigned n, unsigned pointer,
            unsigned align)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->module, id, types, 2), call, full[4];
    unsigned m = 0;
    for (unsigned k = 0; k < n; k++) {
        full[m++] = args[k];
        if (LLVM_VERSION_MAJOR < 22 && k == pointer)
            full[m++] = l_i32(e, (int32_t)align);
    }
    call = LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(f), f, full, m, "");
    if (LLVM_VERSION_MAJOR >= 22) {
        unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
        LLVMAddCallSiteAttribute(call, pointer + 1, LLVMCreateEnumAttribute(e->context, kind, align));
    }
    return call;
}

static void
fetch_ahead(struct jy_emit *e, LLVMValueRef at)
{
    LLVMValueRef ahead = l_i64(e, FETCH_AHEAD);
    LLVMValueRef args[] = { offset_by(e, at, ahead), l_i32(e, 0), l_i32(e, 3),
                            l_i32(e, 1) }; /* read, all caches, data */
    jy_emit_intrinsic(e, "llvm.prefetch", e->ptr, args, 4, "");
}

static LLVMValueRef
load_lanes(struct jy_emit *e, struct jy_base *base, LLVMTypeRef type, unsigned align, unsigned copy)
{
    const struct jy_lanes *l = &e->lanes;
    LLVMTypeRef wide = l_widen(type, l->width);
    LLVMValueRef at = lane0(e, base, type, copy), rest = NULL;
    if (l->width == 1)
        return l_load(e, type, at, align, "");
    if (l->mask != NULL)
        rest = jy_emit_splat(e, l_load(e, type, at, align, ""), l->width);
    if (base->step != NULL) {
        LLVMValueRef lanes = lane_offsets(e, base, l->width);
        LLVMValueRef args[] = { LLVMBuildGEP2(e->builder, e->i8, at, &lanes, 1, ""),
                                l->mask != NULL ? l->mask : all_lanes(e, l->width),
                                rest != NULL ? rest : LLVMGetPoison(wide) };
        LLVMTypeRef types[] = { wide, LLVMTypeOf(args[0]) };
        return masked_call(e, "llvm.masked.gather", types, args, 3, 0, align);
    }
    if (l->streams)
        fetch_ahead(e, at);
    if (l->mask == NULL)
        return l_load(e, wide, at, align, "");
    LLVMValueRef args[] = { at, l->mask, rest };
    LLVMTypeRef types[] = { wide, e->ptr };
    return masked_call(e, "llvm.masked.load", types, args, 3, 0, align);
}

void
jy_emit_load(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    LLVMTypeRef type = jy_types_memory(e, s->l_dtype);
    unsigned align = jy_dtype_info[s->l_dtype].bytes;
    if (e->lanes.preheader == NULL) {
        jy_emit_define(e, lv, 0, l_load(e, type, jy_emit_address(e, s->l_access), align, ""));
        return;
    }
    struct jy_base *base = find_base(e, s->l_access);
    if (base->moves) {
        for (unsigned copy = 0; copy < e->lanes.copies; copy++)
            jy_emit_define(e, lv, copy, load_lanes(e, base, type, align, copy));
        return;
    }
    if (e->hoisted[lv].serial != e->lanes.serial) {
        LLVMBasicBlockRef here = l_visit(e, e->lanes.preheader);
        e->hoisted[lv].scalar = l_load(e, type, base->address, align, "");
        e->hoisted[lv].serial = e->lanes.serial;
        e->hoisted[lv].splat = NULL;
        l_at(e, here);
    }
}

static void
store_lanes(struct jy_emit *e, struct jy_base *base, LLVMValueRef v, unsigned align, unsigned copy)
{
    const struct jy_lanes *l = &e->lanes;
    LLVMValueRef at = lane0(e, base, l_element(v), copy);
    if (l->streams) {
        l_store(e, v, at, e->vector_bits / 8);
        LLVMMetadataRef one = LLVMValueAsMetadata(l_i32(e, 1));
        LLVMValueRef node = LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, &one, 1));
        LLVMSetMetadata(LLVMGetLastInstruction(l_here(e)), LLVMGetMDKindIDInContext(e->context, "nontemporal", 11),
                        node);
        return;
    }
    if (l->width == 1 || (base->step == NULL && l->mask == NULL)) {
        l_store(e, v, at, align);
    } else if (base->step != NULL) {
        LLVMValueRef lanes = lane_offsets(e, base, l->width);
        LLVMValueRef args[] = { v, LLVMBuildGEP2(e->builder, e->i8, at, &lanes, 1, ""),
                                l->mask != NULL ? l->mask : all_lanes(e, l->width) };
        LLVMTypeRef types[] = { LLVMTypeOf(v), LLVMTypeOf(args[1]) };
        masked_call(e, "llvm.masked.scatter", types, args, 3, 1, align);
    } else {
        LLVMValueRef args[] = { v, at, l->mask };
        LLVMTypeRef types[] = { LLVMTypeOf(v), e->ptr };
        masked_call(e, "llvm.masked.store", types, args, 3, 1, align);
    }
}

/* As it lies in memory. */
static LLVMValueRef
to_memory(struct jy_emit *e, LLVMValueRef v)
{
    if (l_element(v) != e->i1)
        return v;
    return LLVMBuildZExt(e->builder, v, l_widen(e->i8, l_width(v)), "");
}

void
jy_emit_store(struct jy_emit *e, jy_lv lv)
{
    const struct jy_lstmt *s = l_stmt(e, lv);
    unsigned align = jy_dtype_info[e->plan->p_buffers.at[s->l_access->buffer].b_dtype].bytes;
    if (e->lanes.preheader == NULL) {
        l_store(e, to_memory(e, jy_emit_use(e, s->l_args[0], 0)), jy_emit_address(e, s->l_access), align);
        return;
    }
    struct jy_base *base = find_base(e, s->l_access);
    if (!base->moves) {
        jy_emit_fail(e, "a vector loop stores to one place");
        return;
    }
    for (unsigned copy = 0; copy < e->lanes.copies; copy++)
        store_lanes(e, base, to_memory(e, jy_emit_use(e, s->l_args[0], copy)), align, copy);
}
