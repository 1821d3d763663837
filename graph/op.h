/* Operations: ops.def as an enum and a table. */
#ifndef JY_GRAPH_OP_H
#define JY_GRAPH_OP_H

#include <stdbool.h>
#include <stdint.h>

typedef enum jy_op {
#define OP(name, text, arity, class, facts, result, oracle) JY_OP_##name,
#include "graph/ops.def"
#undef OP
    JY_OP_COUNT,
} jy_op;

enum jy_op_class {
    JY_CLASS_SOURCE,
    JY_CLASS_EW,
    JY_CLASS_TILE,
    JY_CLASS_CAST,
    JY_CLASS_VIEW,
    JY_CLASS_CREATE,
    JY_CLASS_REDUCE,
    JY_CLASS_LINALG,
    JY_CLASS_STORE,
    JY_CLASS_CALL,
};

enum jy_op_fact {
    JY_FACT_PURE = 1,
    JY_FACT_COMMUTES = 2,
    JY_FACT_FLAGS = 4,
    JY_FACT_INT_FLAGS = 8,
    JY_FACT_ORDER = 16,
};

enum jy_op_result { JY_RESULT_SAME, JY_RESULT_BOOL, JY_RESULT_OPERAND1, JY_RESULT_GIVEN };

struct jy_op_info {
    const char *text;
    int8_t arity; /* -1: any */
    uint8_t klass, facts, result;
    const char *oracle; /* name under numpy, or NULL */
};

extern const struct jy_op_info jy_op_info[JY_OP_COUNT];

bool jy_op_from_text(jy_op *out, const char *text);

static inline bool
jy_op_is_elementwise(jy_op op)
{
    uint8_t k = jy_op_info[op].klass;
    return k == JY_CLASS_EW || k == JY_CLASS_TILE || k == JY_CLASS_CAST;
}

#endif
