#include "graph/op.h"
#include <string.h>

#define P JY_FACT_PURE
#define C JY_FACT_COMMUTES
#define F JY_FACT_FLAGS
#define I JY_FACT_INT_FLAGS
#define O JY_FACT_ORDER
const struct jy_op_info jy_op_info[JY_OP_COUNT] = {
#define OP(name, text, arity, class, facts, result, oracle)                                                            \
    { text, arity, JY_CLASS_##class, (facts), JY_RESULT_##result, oracle },
#include "graph/ops.def"
#undef OP
};
#undef P
#undef C
#undef F
#undef I
#undef O

bool
jy_op_from_text(jy_op *out, const char *text)
{
    for (int op = 0; op < JY_OP_COUNT; op++)
        if (strcmp(jy_op_info[op].text, text) == 0) {
            *out = (jy_op)op;
            return true;
        }
    return false;
}
