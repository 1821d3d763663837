/* LLVM's idea of element types and of the structs of the calling convention against C's. */
#include "backend_llvm/emit.h"
#include "tests/unit/test.h"
#include <stddef.h>

struct types {
    struct jy_emit e;
    LLVMTargetDataRef layout;
};

/* Under the session's lock: there is one target machine. */
static void
begin(struct types *t)
{
    const char *why = NULL;
    *t = (struct types){ .e = { .context = LLVMContextCreate() } };
    jy_session_lock();
    t->layout = jy_session_target(NULL, &why)->layout;
    jy_types_fill(&t->e);
}

static void
end(struct types *t)
{
    jy_session_unlock();
    LLVMContextDispose(t->e.context);
}

TEST(types, elements_are_as_long_as_in_memory)
{
    struct types t;
    begin(&t);
    for (int dtype = 0; dtype < JY_DTYPE_COUNT; dtype++) {
        LLVMTypeRef type = jy_types_memory(&t.e, (jy_dtype)dtype);
        bool is_float = LLVMGetTypeKind(type) != LLVMIntegerTypeKind;
        CHECK_UINT(LLVMABISizeOfType(t.layout, type), jy_dtype_info[dtype].bytes);
        CHECK_INT(is_float, jy_dtype_is_float((jy_dtype)dtype));
    }
    end(&t);
}

/* What is computed has the type of what lies in memory, but for bool. */
TEST(types, values_of_bool_are_one_bit)
{
    struct types t;
    begin(&t);
    for (int dtype = 0; dtype < JY_DTYPE_COUNT; dtype++)
        if (dtype != JY_BOOL)
            CHECK_PTR(jy_types_value(&t.e, (jy_dtype)dtype), jy_types_memory(&t.e, (jy_dtype)dtype));
    CHECK_PTR(jy_types_value(&t.e, JY_BOOL), t.e.i1);
    CHECK_PTR(jy_types_memory(&t.e, JY_BOOL), t.e.i8);
    end(&t);
}

/* ORDER call_field: the fields by their names in C. */
TEST(types, fields_lie_where_c_has_them)
{
    static const struct {
        enum jy_call_field field;
        size_t offset, bytes;
    } fields[] = {
#define FIELD(number, name) { number, offsetof(struct jy_call, name), sizeof(((struct jy_call *)NULL)->name) }
        FIELD(JY_FIELD_DESC, desc),           FIELD(JY_FIELD_SIZE, size),     FIELD(JY_FIELD_SCALAR, scalar),
        FIELD(JY_FIELD_LOOP, loop),           FIELD(JY_FIELD_HELPER, helper), FIELD(JY_FIELD_TILE, tile),
        FIELD(JY_FIELD_SUM_CHUNK, sum_chunk), FIELD(JY_FIELD_STATUS, status),
    };
    struct types t;
    begin(&t);
    CHECK_UINT(sizeof fields / sizeof *fields, JY_FIELD_FIELDS);
    CHECK_UINT(LLVMCountStructElementTypes(t.e.call_type), JY_FIELD_FIELDS);
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        LLVMTypeRef type = LLVMStructGetTypeAtIndex(t.e.call_type, fields[k].field);
        CHECK_UINT(LLVMOffsetOfElement(t.layout, t.e.call_type, fields[k].field), fields[k].offset);
        CHECK_UINT(LLVMABISizeOfType(t.layout, type), fields[k].bytes);
        CHECK_INT(type == t.e.ptr, fields[k].field <= JY_FIELD_TILE);
    }
    CHECK_UINT(LLVMABISizeOfType(t.layout, t.e.desc_type), sizeof(struct jy_desc));
    CHECK_UINT(LLVMOffsetOfElement(t.layout, t.e.desc_type, 1), offsetof(struct jy_desc, stride));
    CHECK_UINT(LLVMABISizeOfType(t.layout, t.e.loop_type), sizeof(struct jy_loop_fn));
    CHECK_UINT(LLVMABISizeOfType(t.layout, t.e.call_type), sizeof(struct jy_call));
    end(&t);
}
