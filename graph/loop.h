/* The loop IR: structured loops over buffers, statements in SSA form. One kernel is a list of statements; a statement that has a value is
 * named by its index (jy_lv). Lowering makes it from fused groups of graph nodes; loop_eval.c interprets it (the oracle); backend_llvm emits it.
 *
 * Rules (jy_loop_verify):
 *  1. a value is defined before it is used, in the same or an enclosing body;
 *  2. the variable of a VECTOR loop appears in accesses only directly as an index term, and its body has only LOAD, STORE, OP, VCALL, CAST, CONST, SCALAR, SIZE;
 *     its iterations are independent, and no STORE of it touches what another iteration loads;
 *  3. operands of OP have one dtype (but for the condition of `where`); TILE ops never appear as OP, they are UFUNC or VCALL statements;
 *  4. every access has one term or none per occurrence of an index; several terms may share an axis (their sum is the index).
 *
 * Printed form:
 *     kernel 0:
 *       %0 = size 0                                  ; (s0)
 *       for %1 < %0 vector:
 *         %2 = load float64 b0[%1]
 *         %3 = multiply float64 %2, %2
 *         store b1[%1] = %3
 */
#ifndef JY_GRAPH_LOOP_H
#define JY_GRAPH_LOOP_H

#include "graph/graph.h"

typedef uint32_t jy_lv;
#define JY_NO_LV UINT32_MAX

enum jy_lop {
    JY_L_CONST,      /* l_value */
    JY_L_SIZE,       /* int64: size slot l_index of the plan */
    JY_L_SCALAR,     /* scalar slot l_index */
    JY_L_SET_SCALAR, /* scalar slot l_index = args[0] */
    JY_L_INT, /* int64 index arithmetic: l_op is JY_OP_ADD, SUB, MUL, MINIMUM, MAXIMUM, FLOOR_DIVIDE (operands >= 0) on args[0], args[1] */
    JY_L_LOAD,  /* l_access[0] */
    JY_L_STORE, /* l_access[0] = args[0] */
    JY_L_OP,    /* l_op of class EW on args */
    JY_L_VCALL, /* inner loop l_index of the plan on args: one element; machine code calls the loop's vector function */
    JY_L_CAST,  /* args[0] to l_dtype */
    JY_L_FOR,   /* value: the loop variable (int64) 0, l_step, 2*l_step, ... < args[0]; l_body */
    JY_L_VAR,   /* the variable of a FOLD; appears in no body */
    JY_L_FOLD, /* value: fold of l_yield over l_var = 0 .. args[0]-1; l_order; args[1]: initial value (not for PAIRWISE); l_op is ADD, MUL, MINIMUM, MAXIMUM, LOGICAL_OR, LOGICAL_AND, ... */
    JY_L_UFUNC, /* inner loop l_index of the plan on l_access[0..l_naccess) (inputs, then output), args[0] elements; each access runs along its run_axis */
    JY_L_UFOLD, /* value: inner loop l_index of the plan used as a reduction: acc = args[1]; loop(acc, run, acc) over args[0] elements of l_access[0],
                        in pieces of jy_call.sum_chunk elements; the initial value counts as the first element of the first piece */
};

enum jy_fold_order {
    JY_FOLD_PAIRWISE,   /* NumPy's tree (pairwise.h); result is the tree's sum without any initial value */
    JY_FOLD_SEQUENTIAL, /* one by one from the initial value */
    JY_FOLD_FREE,       /* any order gives the same bits */
};

/* address = data + sum of term.index * stride(term.axis); the stride of the buffer's b_unit_axis is its itemsize, others come from the descriptor. */
struct jy_access {
    uint32_t buffer;
    uint8_t nterms;
    int8_t run_axis; /* UFUNC and UFOLD: axis whose stride the run follows; -1: stride 0 */
    struct {
        jy_lv index;
        uint8_t axis;
    } term[2 * JY_MAX_NDIM];
};

struct jy_lstmt {
    uint8_t l_kind;  /* enum jy_lop */
    uint8_t l_dtype; /* of the value */
    uint8_t l_order;
    bool l_vector;  /* FOR: iterations are independent, emit vectors */
    bool l_checked; /* OP on int NumPy scalars: overflow or division by zero sets JY_CALL_RERUN */
    uint16_t l_op;
    uint32_t l_index;
    uint8_t l_nargs, l_naccess;
    jy_lv l_args[3];
    struct jy_access *l_access;
    union jy_scalar l_value;
    int64_t l_step;
    jy_lv l_var, l_yield;
    struct {
        jy_lv *at;
        size_t n, cap;
    } l_body;
    uint32_t l_line;
    const char *l_file;
};

struct jy_kernel {
    struct {
        struct jy_lstmt *at;
        size_t n, cap;
    } k_stmts;
    struct {
        jy_lv *at;
        size_t n, cap;
    } k_body;
};

#endif
