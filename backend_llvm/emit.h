/* The narrow waist between the emitters and llvm-c: the state of one module, the scope in which statements are
 * emitted, small helpers.
 *
 * Every statement is emitted in a *scope* (struct jy_lanes). Plain scope: one lane, one copy, addresses computed
 * where they stand. Inside a vector loop or a fold the scope has `width` lanes and `copies` of the body interleaved,
 * and what does not change with its variable is computed in the preheader. The same statements are emitted several
 * times (main loop, rest, tail) under different scopes.
 *
 * Values: bool is i1 once something was computed, or i8 as it was loaded (a copied byte keeps its value);
 * jy_emit_truth makes i1 of either. */
#ifndef JY_BACKEND_EMIT_H
#define JY_BACKEND_EMIT_H

#include "graph/flow.h"
#include "graph/plan.h"
#include "session.h"

#define JY_COPIES 8 /* the most copies of a body in one iteration */

/* ORDER call_field */
enum jy_call_field {
    JY_FIELD_DESC,
    JY_FIELD_SIZE,
    JY_FIELD_SCALAR,
    JY_FIELD_LOOP,
    JY_FIELD_HELPER,
    JY_FIELD_TILE,
    JY_FIELD_SUM_CHUNK,
    JY_FIELD_STATUS,
    JY_FIELD_FIELDS,
};

struct jy_lanes {
    jy_lv var; /* JY_NO_LV: plain scope */
    unsigned width, copies;
    LLVMValueRef index;          /* of lane 0 of copy 0 */
    LLVMValueRef mask;           /* <width x i1>; NULL: every lane is active */
    bool streams;                /* more than the caches keep: loads fetch ahead, aligned stores go past the caches */
    LLVMBasicBlockRef preheader; /* NULL: nothing is hoisted */
    uint32_t serial;             /* of the loop statement's emission: what is hoisted belongs to it */
    struct {
        struct jy_base *at;
        size_t n, cap;
    } bases;
};

/* The part of an address that does not change with the scope's variable, and what the variable is multiplied with. */
struct jy_base {
    const struct jy_access *access;
    LLVMValueRef address, step;  /* step NULL: unit stride */
    LLVMValueRef lane_offsets;   /* made at the first gather */
    LLVMValueRef hop[JY_COPIES]; /* from copy 0 to copy k, of width hop_width; made when needed */
    unsigned hop_width;
    bool moves;
};

struct jy_emit {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef i1, i8, i32, i64, f32, f64, ptr, desc_type, loop_type, call_type;
    struct jy_arena *arena;
    const struct jy_target *target;
    unsigned vector_bits;
    bool want_lines, want_vectors;
    bool fastmath;
    const struct jy_plan *plan;
    const struct jy_kernel *kernel;
    const char *why; /* the first thing that could not be emitted */

    LLVMValueRef function, call;
    LLVMBasicBlockRef entry; /* allocas and loads of descriptors and sizes; ends with a branch */
    LLVMValueRef sink;       /* volatile slot that keeps flag-raising values alive; made on demand */
    struct jy_lanes lanes;
    uint32_t serials;
    /* per statement */
    LLVMValueRef *value; /* JY_COPIES each */
    uint32_t *owner;     /* serial of the scope that defined it; 0: plain */
    struct {
        uint32_t serial;
        LLVMValueRef scalar, splat;
    } *hoisted;
    uint32_t *uses;
    /* per buffer, per axis of a buffer, per size slot: loaded once in `entry` */
    LLVMValueRef *data, *stride, *size;
    LLVMValueRef field[JY_FIELD_FIELDS];
};

/* types.c */
void jy_types_fill(struct jy_emit *e);
LLVMTypeRef jy_types_memory(const struct jy_emit *e, jy_dtype dtype); /* bool: i8 */
LLVMTypeRef jy_types_value(const struct jy_emit *e, jy_dtype dtype);  /* bool: i1 */

/* emit_function.c */
void jy_emit_kernel(struct jy_emit *e, size_t k);
void jy_emit_fail(struct jy_emit *e, const char *why);
void jy_emit_attribute(struct jy_emit *e, const char *key, const char *value); /* of the function */
void jy_emit_attributes(struct jy_emit *e);                                    /* those that each function has */
LLVMValueRef jy_emit_alloca(struct jy_emit *e, LLVMTypeRef type, const char *name);
LLVMValueRef jy_emit_data(struct jy_emit *e, uint32_t buffer);
LLVMValueRef jy_emit_stride(struct jy_emit *e, uint32_t buffer, unsigned axis);
LLVMValueRef jy_emit_size(struct jy_emit *e, uint32_t slot);
LLVMValueRef jy_emit_field(struct jy_emit *e, enum jy_call_field field); /* loaded once in `entry` */
LLVMValueRef jy_emit_field_address(struct jy_emit *e, enum jy_call_field field);

/* emit_loop.c */
void jy_emit_body(struct jy_emit *e, const jy_lv *body, size_t n);
void jy_emit_for(struct jy_emit *e, jy_lv lv);
/* Statements that may stand in a scope with several lanes; `var` occurs in them only as an index term. */
bool jy_emit_is_wide_body(const struct jy_emit *e, const struct jy_lstmt *loop, jy_lv var);
/* Lanes, and copies of the body, of a loop over `var`. */
struct jy_shape {
    unsigned width, copies;
};
struct jy_shape jy_emit_shape(const struct jy_emit *e, const struct jy_lstmt *loop, jy_lv var);
/* for (i = from; i < to; i += step), tested before the first round; `carried` values go round and come out. */
typedef void (*jy_emit_round)(struct jy_emit *e, LLVMValueRef index, LLVMValueRef *carried, void *context);
LLVMValueRef jy_emit_counted(struct jy_emit *e, const char *name, LLVMValueRef from, LLVMValueRef to, int64_t step,
                             LLVMValueRef *carried, size_t n, jy_emit_round round, void *context);
/* Scopes: opened in a block of its own, entered only when there is an element, to which hoisted code goes. */
struct jy_lanes jy_emit_open(struct jy_emit *e, jy_lv var);
void jy_emit_close(struct jy_emit *e, struct jy_lanes saved);
/* `lanes` of the mask whose index is below `limit`. */
LLVMValueRef jy_emit_mask(struct jy_emit *e, LLVMValueRef index, LLVMValueRef limit, unsigned width);

/* emit_access.c */
LLVMValueRef jy_emit_address(struct jy_emit *e, const struct jy_access *access); /* plain scope */
LLVMValueRef jy_emit_run_stride(struct jy_emit *e, const struct jy_access *access);
LLVMValueRef jy_emit_start(struct jy_emit *e, const struct jy_access *access); /* where the scope's variable is 0 */
void jy_emit_load(struct jy_emit *e, jy_lv lv);
void jy_emit_store(struct jy_emit *e, jy_lv lv);

/* emit_expr.c */
void jy_emit_op(struct jy_emit *e, jy_lv lv);
void jy_emit_cast(struct jy_emit *e, jy_lv lv);
LLVMValueRef jy_emit_binary(struct jy_emit *e, jy_op op, jy_dtype dtype, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef jy_emit_constant(struct jy_emit *e, jy_dtype dtype, union jy_scalar value);
LLVMValueRef jy_emit_truth(struct jy_emit *e, LLVMValueRef v);
/* The value of a statement in the shape of the current scope. */
LLVMValueRef jy_emit_use(struct jy_emit *e, jy_lv lv, unsigned copy);
void jy_emit_define(struct jy_emit *e, jy_lv lv, unsigned copy, LLVMValueRef v);
LLVMValueRef jy_emit_splat(struct jy_emit *e, LLVMValueRef scalar, unsigned width);
LLVMValueRef jy_emit_intrinsic(struct jy_emit *e, const char *name, LLVMTypeRef type, LLVMValueRef *args, unsigned n,
                               const char *label);

/* emit_flow.c */
void jy_emit_flow(struct jy_emit *e, const struct jy_flow *flow);

/* emit_reduce.c */
void jy_emit_fold(struct jy_emit *e, jy_lv lv);

/* emit_call.c */
void jy_emit_ufunc(struct jy_emit *e, jy_lv lv);
void jy_emit_ufold(struct jy_emit *e, jy_lv lv);
void jy_emit_vcall(struct jy_emit *e, jy_lv lv);
LLVMValueRef jy_emit_helper(struct jy_emit *e, unsigned helper, LLVMTypeRef type, LLVMValueRef *args, unsigned n,
                            const char *label);

static inline const struct jy_lstmt *
l_stmt(const struct jy_emit *e, jy_lv lv)
{
    return &e->kernel->k_stmts.at[lv];
}

static inline LLVMValueRef
l_i64(const struct jy_emit *e, int64_t v)
{
    return LLVMConstInt(e->i64, (uint64_t)v, true);
}

static inline LLVMValueRef
l_i32(const struct jy_emit *e, int32_t v)
{
    return LLVMConstInt(e->i32, (uint64_t)(int64_t)v, true);
}

static inline LLVMTypeRef
l_widen(LLVMTypeRef type, unsigned width)
{
    return width == 1 ? type : LLVMVectorType(type, width);
}

static inline unsigned
l_width(LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

static inline LLVMTypeRef
l_element(LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static inline LLVMBasicBlockRef
l_block(struct jy_emit *e, const char *name)
{
    return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

/* To the end of a block: before its branch when it has one already. */
static inline void
l_at(struct jy_emit *e, LLVMBasicBlockRef block)
{
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(block);
    if (branch != NULL)
        LLVMPositionBuilderBefore(e->builder, branch);
    else
        LLVMPositionBuilderAtEnd(e->builder, block);
}

static inline LLVMBasicBlockRef
l_here(struct jy_emit *e)
{
    return LLVMGetInsertBlock(e->builder);
}

/* l_at for a moment: l_at(e, what it returned) comes back. */
static inline LLVMBasicBlockRef
l_visit(struct jy_emit *e, LLVMBasicBlockRef block)
{
    LLVMBasicBlockRef here = l_here(e);
    l_at(e, block);
    return here;
}

static inline LLVMValueRef
l_load(struct jy_emit *e, LLVMTypeRef type, LLVMValueRef at, unsigned align, const char *name)
{
    LLVMValueRef v = LLVMBuildLoad2(e->builder, type, at, name);
    LLVMSetAlignment(v, align);
    return v;
}

static inline void
l_store(struct jy_emit *e, LLVMValueRef v, LLVMValueRef at, unsigned align)
{
    LLVMSetAlignment(LLVMBuildStore(e->builder, v, at), align);
}

#endif
