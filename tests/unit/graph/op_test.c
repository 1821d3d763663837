#include "graph/op.h"
#include "tests/unit/test.h"

TEST(op, every_text_names_its_op)
{
    for (int op = 0; op < JY_OP_COUNT; op++) {
        jy_op found = JY_OP_COUNT;
        CHECK(jy_op_from_text(&found, jy_op_info[op].text));
        CHECK_INT(found, op);
    }
    jy_op op;
    CHECK(!jy_op_from_text(&op, "no_such_op"));
    CHECK(!jy_op_from_text(&op, ""));
}

/* The rest of the code relies on these combinations. */
TEST(op, facts_fit_classes)
{
    for (int op = 0; op < JY_OP_COUNT; op++) {
        const struct jy_op_info *info = &jy_op_info[op];
        bool pure = (info->facts & JY_FACT_PURE) != 0,
             effect = info->klass == JY_CLASS_STORE || info->klass == JY_CLASS_CALL;
        CHECK_INT(pure, !effect);
        if (info->facts & JY_FACT_COMMUTES)
            CHECK_INT(info->arity, 2);
        if (info->klass == JY_CLASS_EW || info->klass == JY_CLASS_TILE)
            CHECK(info->arity >= 1 && info->arity <= 3 && info->oracle != NULL);
        if (info->result == JY_RESULT_OPERAND1)
            CHECK(info->arity >= 2);
    }
}
