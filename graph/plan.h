/* A plan: what a graph is lowered to. Buffers, scalar slots, size slots, kernels in loop IR, and steps that the runtime performs in order.
 *
 * Per call the runtime fills the size slots, the scalar inputs and the descriptors (INPUT from ndarrays, OUTPUT freshly allocated, TEMP from scratch, VIEW
 * computed from its base), performs the steps and wraps the outputs. */
#ifndef JY_GRAPH_PLAN_H
#define JY_GRAPH_PLAN_H

#include "graph/call.h"
#include "graph/loop.h"

enum jy_buffer_kind {
    JY_BUFFER_INPUT,  /* array placeholder b_index */
    JY_BUFFER_OUTPUT, /* a new ndarray handed out by output(s); contiguous in b_order */
    JY_BUFFER_TEMP,   /* scratch, contiguous in b_order, dead after the call */
    JY_BUFFER_VIEW,   /* b_view (NULL: RESHAPE, C-contiguous over the same memory) of buffer b_index */
    JY_BUFFER_TILE,   /* 1-D, at offset b_index in jy_call.tile, b_tile elements */
    JY_BUFFER_OBJECT, /* the ndarray that CALLOUT or NPREDUCE step b_index returned */
};

struct jy_buffer {
    uint8_t b_kind, b_dtype, b_ndim;
    int8_t b_unit_axis; /* axis whose stride is known to be the itemsize, or -1 */
    uint32_t b_index;
    int64_t b_tile;
    const jy_sx *b_shape;
    const uint8_t *b_order;
    const struct jy_view *b_view;
    jy_ref b_node;
};

enum jy_step_kind {
    JY_STEP_KERNEL,   /* kernel s_kernel */
    JY_STEP_MATMUL,   /* s_op MATMUL or DOT; buffers s_args[0], s_args[1] -> s_out, by NumPy's own decision table */
    JY_STEP_NPREDUCE, /* s_op by NumPy's ufunc.reduce over s_axes of s_args[0] */
    JY_STEP_CALLOUT,  /* callable s_callee(*args, **s_extra) */
};

/* An operand or result of a step: a buffer or a scalar slot. */
struct jy_place {
    bool scalar;
    uint32_t index;
};

struct jy_step {
    uint8_t s_kind;
    uint16_t s_op;
    uint32_t s_kernel;
    uint32_t s_nargs;
    struct jy_place *s_args;
    struct jy_place s_out;
    uint32_t s_axes;
    bool s_keepdims;
    uint32_t s_callee, s_extra;
    jy_ref s_node; /* for messages and attribution */
};

/* An inner loop that kernels call: ufunc and the dtypes of its operands (inputs, then output). */
struct jy_plan_loop {
    uint16_t op;
    uint8_t nin;
    uint8_t dtypes[4];
};

struct jy_plan_output {
    struct jy_place place;
    uint8_t kind; /* enum jy_kind */
    uint8_t dtype;
    bool is_view; /* of an input's or another output's memory: wrap with that object as base */
    jy_ref node;
};

/* A region of memory that existed before the call and that a step overwrites. */
struct jy_plan_write {
    uint32_t buffer; /* INPUT or VIEW of an INPUT */
    jy_ref node;     /* the STORE */
};

struct jy_plan {
    struct jy_arena *p_arena;
    const struct jy_graph *p_graph;
    struct {
        struct jy_buffer *at;
        size_t n, cap;
    } p_buffers;
    struct {
        jy_sx *at;
        size_t n, cap;
    } p_sizes; /* size slots: expressions over p_graph's symbols */
    struct {
        struct jy_slot {
            uint8_t dtype, kind;
            jy_ref node;
        } *at;
        size_t n, cap;
    } p_scalars;
    struct {
        struct jy_kernel *at;
        size_t n, cap;
    } p_kernels;
    struct {
        struct jy_step *at;
        size_t n, cap;
    } p_steps;
    struct {
        struct jy_plan_loop *at;
        size_t n, cap;
    } p_loops;
    struct {
        struct jy_plan_output *at;
        size_t n, cap;
    } p_outputs;
    struct {
        struct jy_plan_write *at;
        size_t n, cap;
    } p_writes;
    struct {
        struct jy_place *at;
        size_t n, cap;
    } p_inputs; /* per graph input: its buffer or scalar slot */
    size_t p_tile_bytes;
    bool p_may_flag;       /* some operation can raise an FP flag or set JY_CALL_RERUN */
    uint32_t p_flag_nodes; /* how many operations can */
    jy_ref p_flag_node;    /* the only one, when it is one */
    struct {
        const char *at;
    } p_notes; /* fusion decisions in words, for the `fusion` log; may be NULL */
};

/* Does the inner loop of `op` for `dtype` have a vector function that kernels can call? */
typedef bool (*jy_has_vector)(jy_op op, jy_dtype dtype);

/* Graph -> plan. JY_BREAK with *why set when something has no lowering. The graph must be verified and is not changed.
 * `has_vector` NULL: nothing has. */
jy_status jy_lower(struct jy_plan **out, const char **why, struct jy_arena *arena, const struct jy_graph *graph,
                   jy_has_vector has_vector);

const char *jy_plan_verify(const struct jy_plan *plan); /* NULL when sound; loops included */
void jy_plan_print(struct jy_text *text, const struct jy_plan *plan);
/* The same with the program's lines as comments, for readers. */
void jy_plan_print_lines(struct jy_text *text, const struct jy_plan *plan);
/* Parses what jy_plan_print wrote (kernels, buffers, sizes, loops; steps). NULL and *error on failure. */
struct jy_plan *jy_plan_parse(struct jy_arena *arena, const char *source, const char **error);

/* The slow interpreter: performs kernel `k` on `call` exactly as machine code would. */
int32_t jy_loop_eval(const struct jy_plan *plan, size_t k, struct jy_call *call);

/* The slow interpreter of graphs: evaluates every node by itself; fresh arrays are dense in their layout's order, views and STOREs address the memory of their storage. `io` supplies inputs and takes outputs, and lends what is not C (inner loops, products). */
struct jy_graph_io {
    void *context;
    /* array input: descriptor; scalar input: value */
    void (*input)(void *context, uint32_t number, struct jy_desc *desc, union jy_scalar *value);
    const int64_t *symbols; /* value per symbol */
    int64_t sum_chunk;
    /* inner loop of ufunc `op` for element type `dtype` */
    struct jy_loop_fn (*loop)(void *context, jy_op op, jy_dtype dtype);
    /* operands where they lie, with the strides that eager has; result dense in C order */
    jy_status (*matmul)(void *context, const struct jy_node *node, const struct jy_desc *a, const struct jy_desc *b,
                        struct jy_desc *out);
    /* node of class CALL */
    jy_status (*callout)(void *context, const struct jy_node *node, const struct jy_desc *args, struct jy_desc *out);
    /* output k: a fresh array is dense in the node's layout order, a view lies in its storage's memory (an input's, or the evaluator's) */
    jy_status (*output)(void *context, size_t k, jy_ref node, const struct jy_desc *desc, union jy_scalar value);
    uint32_t status; /* enum jy_call_status, ORed in */
};
jy_status jy_graph_eval(const struct jy_graph *graph, struct jy_arena *arena, struct jy_graph_io *io);

#endif
