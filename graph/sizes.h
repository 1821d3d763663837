/* Size expressions: integers made of symbols (extents of placeholders, Python ints that became symbolic) and constants.
 * Interned per table, so equal expressions are the same index; two symbols proven equal by a guard are one (union-find). Every
 * symbol carries a hint, its value in the traced call: decisions are made on hints and recorded as guards by the caller. */
#ifndef JY_GRAPH_SIZES_H
#define JY_GRAPH_SIZES_H

#include "graph/base/arena.h"
#include "graph/base/text.h"
#include <stdbool.h>
#include <stdint.h>

typedef uint32_t jy_sx; /* index of an expression; 0 is the constant 0, 1 the constant 1 */

enum jy_sx_op {
    JY_SX_CONST,
    JY_SX_SYM,
    JY_SX_ADD,
    JY_SX_SUB,
    JY_SX_MUL,
    JY_SX_FLOORDIV,
    JY_SX_MOD,
    JY_SX_MIN,
    JY_SX_MAX
};

struct jy_sx_node {
    uint8_t op;
    int64_t k; /* CONST: the value; SYM: the symbol's number */
    jy_sx a, b;
    uint32_t weight; /* nodes of the tree, parts counted each time they occur; not more than JY_SX_MAX_WEIGHT */
};

enum { JY_SX_MAX_WEIGHT = 1 << 30 };

/* What a symbol is: an axis of an array placeholder, or a Python int placeholder (axis -1). */
struct jy_symbol {
    uint32_t placeholder; /* number of the graph input */
    int32_t axis;
    int64_t hint;
    uint32_t same_as; /* union-find parent */
};

struct jy_sizes {
    struct jy_arena *arena;
    struct {
        struct jy_sx_node *at;
        size_t n, cap;
    } exprs;
    struct {
        struct jy_symbol *at;
        size_t n, cap;
    } symbols;
};

void jy_sizes_init(struct jy_sizes *sizes, struct jy_arena *arena);
jy_sx jy_sizes_const(struct jy_sizes *sizes, int64_t value);
uint32_t jy_sizes_new_symbol(struct jy_sizes *sizes, uint32_t placeholder, int32_t axis, int64_t hint);
jy_sx jy_sizes_symbol(struct jy_sizes *sizes, uint32_t symbol);
/* Folds constants and identities; operands of ADD, MUL, MIN, MAX are ordered; (a+c1)+c2 and (a-c1)-c2 are joined. Overflow of a constant stays unfolded. */
jy_sx jy_sizes_binary(struct jy_sizes *sizes, enum jy_sx_op op, jy_sx a, jy_sx b);
/* The guard that makes it true is the caller's business. */
void jy_sizes_merge(struct jy_sizes *sizes, uint32_t a, uint32_t b);
/* `e` rebuilt with merged symbols: compare two such results with == */
jy_sx jy_sizes_canonical(struct jy_sizes *sizes, jy_sx e);
bool jy_sizes_same(struct jy_sizes *sizes, jy_sx a, jy_sx b);
bool jy_sizes_is_const(const struct jy_sizes *sizes, jy_sx e, int64_t *out);
/* Value under given symbol values (NULL: the hints); false on overflow or division by zero. Python's floor semantics. */
bool jy_sizes_eval(int64_t *out, const struct jy_sizes *sizes, jy_sx e, const int64_t *values);
/* What looking at the whole expression takes: `x = x + x` again and again doubles it each time. */
uint32_t jy_sizes_weight(const struct jy_sizes *sizes, jy_sx e);
int64_t jy_sizes_hint(const struct jy_sizes *sizes, jy_sx e);
void jy_sizes_print(struct jy_text *text, const struct jy_sizes *sizes, jy_sx e); /* "s0", "(s0+s1)", "7" */
bool jy_sizes_parse(jy_sx *out, struct jy_sizes *sizes, const char **at);

#endif
