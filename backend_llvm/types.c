/* Element types and the structs of the calling convention as LLVM types. ORDER call: the assertions are what keeps
 * them equal to graph/call.h. */
#include "emit.h"
#include <assert.h>
#include <stddef.h>

static_assert(offsetof(struct jy_desc, stride) == sizeof(char *), "desc is { ptr, [n x i64] }");
static_assert(sizeof(struct jy_desc) == sizeof(char *) + JY_MAX_NDIM * sizeof(int64_t), "desc has no padding");
static_assert(sizeof(struct jy_loop_fn) == 3 * sizeof(void *), "loop is { ptr, ptr, ptr }");
static_assert(offsetof(struct jy_call, desc) == 0 && offsetof(struct jy_call, size) == 8 &&
                  offsetof(struct jy_call, scalar) == 16 && offsetof(struct jy_call, loop) == 24 &&
                  offsetof(struct jy_call, helper) == 32 && offsetof(struct jy_call, tile) == 40 &&
                  offsetof(struct jy_call, sum_chunk) == 48 && offsetof(struct jy_call, status) == 56,
              "call is { 6 x ptr, i64, i32 }; ORDER call_field");
static_assert(sizeof(union jy_scalar) == 8 && sizeof(intptr_t) == 8, "scalars and strides are i64");

void
jy_types_fill(struct jy_emit *e)
{
    e->i1 = LLVMInt1TypeInContext(e->context);
    e->i8 = LLVMInt8TypeInContext(e->context);
    e->i32 = LLVMInt32TypeInContext(e->context);
    e->i64 = LLVMInt64TypeInContext(e->context);
    e->f32 = LLVMFloatTypeInContext(e->context);
    e->f64 = LLVMDoubleTypeInContext(e->context);
    e->ptr = LLVMPointerTypeInContext(e->context, 0);

    LLVMTypeRef desc[] = { e->ptr, LLVMArrayType2(e->i64, JY_MAX_NDIM) };
    LLVMTypeRef loop[] = { e->ptr, e->ptr, e->ptr };
    LLVMTypeRef call[] = { e->ptr, e->ptr, e->ptr, e->ptr, e->ptr, e->ptr, e->i64, e->i32 };
    e->desc_type = LLVMStructCreateNamed(e->context, "jy_desc");
    e->loop_type = LLVMStructCreateNamed(e->context, "jy_loop_fn");
    e->call_type = LLVMStructCreateNamed(e->context, "jy_call");
    LLVMStructSetBody(e->desc_type, desc, 2, false);
    LLVMStructSetBody(e->loop_type, loop, 3, false);
    LLVMStructSetBody(e->call_type, call, 8, false);
}

LLVMTypeRef
jy_types_memory(const struct jy_emit *e, jy_dtype dtype)
{
    return dtype == JY_BOOL ? e->i8 : jy_types_value(e, dtype);
}

LLVMTypeRef
jy_types_value(const struct jy_emit *e, jy_dtype dtype)
{
    const LLVMTypeRef of[JY_DTYPE_COUNT] = {
        [JY_BOOL] = e->i1, [JY_I32] = e->i32, [JY_I64] = e->i64, [JY_F32] = e->f32, [JY_F64] = e->f64,
    };
    return of[dtype];
}
