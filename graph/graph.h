/* The graph: nodes in program order, the vocabulary between frontend, passes, executors and lowering.
 *
 * A node is a value: an array, a NumPy scalar or a Python number. Every node knows dtype, kind, symbolic shape, memory layout and the
 * user's line. Element-wise nodes have operands of one dtype (the builder of the graph inserts CAST nodes: NEP 50 is decided by the frontend)
 * and broadcast them as NumPy does: axes are matched from the right, an extent that is the constant 1 is stretched.
 *
 * Memory. Each array node lives in a *storage*: fresh nodes in their own, VIEW and RESHAPE nodes in their operand's, STORE nodes in that of
 * operand 0, of which they are the new *version*. Functionally a STORE gives a copy of its operand with a region replaced; in memory it writes in place, so
 * whatever reads an older version must be evaluated before the STORE. Program order of nodes always satisfies that, and every pass keeps it.
 *
 * Printed form (one node a line, parses back):
 *     graph f (s0=1000, s1=10) :
 *       %0 = placeholder[0] : float64[s0,s1] layout(0,1; contiguous) @12
 *       %1 = constant[2.0] : float64 @13
 *       %2 = multiply(%0, %1) : float64[s0,s1] @13
 *       output (%2)
 */
#ifndef JY_GRAPH_GRAPH_H
#define JY_GRAPH_GRAPH_H

#include "graph/base/status.h"
#include "graph/dtype.h"
#include "graph/op.h"
#include "graph/sizes.h"

#define JY_MAX_NDIM 8

typedef uint32_t jy_ref; /* index of a node */
#define JY_NO_REF UINT32_MAX

enum jy_kind {
    JY_KIND_ARRAY,    /* numpy.ndarray (0-d arrays too) */
    JY_KIND_NPSCALAR, /* numpy.float64 ... : ndim 0 */
    JY_KIND_PYFLOAT,  /* dtype F64 */
    JY_KIND_PYINT,    /* dtype I64; value proven to fit */
    JY_KIND_PYBOOL,   /* dtype BOOL */
};

/* Element j[0..ndim) of the view is element s of the source with s[a] = start[a] + sum of step[d]*j[d] over the result axes d with axis[d] == a.
 * axis[d] == -1: a new or broadcast axis (stride 0). Source axes that no result axis names are fixed at start[a]. */
struct jy_view {
    uint8_t source_ndim, ndim;
    jy_sx start[JY_MAX_NDIM];  /* per source axis */
    int8_t axis[JY_MAX_NDIM];  /* per result axis */
    int64_t step[JY_MAX_NDIM]; /* per result axis, in elements of that source axis; may be negative */
};

/* How the elements lie in memory. `stride` are hints in bytes: those of the traced call. */
struct jy_layout {
    uint8_t order
        [JY_MAX_NDIM]; /* axes, outermost first, by descending absolute stride; C order where strides say nothing */
    int64_t stride[JY_MAX_NDIM];
    bool contiguous; /* the elements fill one block in `order`, every stride positive (guarded or by construction) */
    bool inner_unit; /* the innermost axis of `order` has stride == itemsize (guarded or by construction) */
};

struct jy_node {
    uint16_t n_op;
    uint8_t n_dtype, n_kind, n_ndim, n_nargs;
    bool n_keepdims; /* REDUCE */
    uint32_t n_axes; /* REDUCE: bit mask of folded axes */
    jy_ref *n_args;
    jy_sx *n_shape;
    const struct jy_layout *n_layout; /* arrays with ndim >= 1; NULL for scalars */
    jy_ref n_storage;                 /* the node that owns the memory: itself when fresh; JY_NO_REF for scalars */
    const struct jy_view *n_view;     /* VIEW, STORE */
    union jy_scalar n_value;          /* CONSTANT */
    jy_sx n_size;                     /* SIZE */
    uint32_t n_input;                 /* PLACEHOLDER: number of the graph input */
    uint32_t n_callee,
        n_extra; /* CALLOUT: handles in the unit's object table (callable; dict of keyword constants or 0) */
    uint32_t n_line;
    const char *n_file;
    const char *n_name; /* of the user's variable, for dumps; may be NULL */
};

struct jy_graph {
    struct jy_arena *g_arena;
    const char *g_name;
    struct jy_sizes g_sizes;
    struct {
        struct jy_node *at;
        size_t n, cap;
    } g_nodes;
    struct {
        jy_ref *at;
        size_t n, cap;
    } g_outputs; /* what the kernel hands out, in order */
    uint32_t g_ninputs;
    const char *g_file; /* current position: stamped on new nodes */
    uint32_t g_line;
};

struct jy_graph *jy_graph_new(struct jy_arena *arena, const char *name);

static inline struct jy_node *
jy_graph_at(const struct jy_graph *g, jy_ref ref)
{
    return &g->g_nodes.at[ref];
}

/* Builders append a node and return it; they infer dtype, kind, shape and storage (infer.c) but not the layout of arrays: elementwise, CREATE
 * and REDUCE results get a C-contiguous layout unless `jy_graph_set_layout` is called. Operands must satisfy the rules above (asserted). */
jy_ref jy_graph_placeholder(struct jy_graph *g, enum jy_kind kind, jy_dtype dtype, size_t ndim, const jy_sx *shape,
                            const struct jy_layout *layout);
jy_ref jy_graph_constant(struct jy_graph *g, enum jy_kind kind, jy_dtype dtype, union jy_scalar value);
jy_ref jy_graph_size(struct jy_graph *g, jy_sx size);
/* EW and TILE. `kind` is that of the result: ARRAY, or a scalar kind when every operand is 0-d (NPSCALAR for ufuncs on 0-d arrays and NumPy scalars). */
jy_ref jy_graph_elementwise(struct jy_graph *g, jy_op op, enum jy_kind kind, size_t nargs, const jy_ref *args);
jy_ref jy_graph_cast(struct jy_graph *g, jy_dtype to, enum jy_kind kind, jy_ref arg);
jy_ref jy_graph_view(struct jy_graph *g, jy_ref arg, const struct jy_view *view, const jy_sx *shape);
jy_ref jy_graph_reshape(struct jy_graph *g, jy_ref arg, size_t ndim, const jy_sx *shape);
jy_ref jy_graph_full(struct jy_graph *g, jy_ref scalar, size_t ndim, const jy_sx *shape);
jy_ref jy_graph_empty(struct jy_graph *g, jy_dtype dtype, size_t ndim, const jy_sx *shape);
jy_ref jy_graph_copy(struct jy_graph *g, jy_ref arg);
jy_ref jy_graph_reduce(struct jy_graph *g, jy_op op, enum jy_kind kind, jy_ref arg, uint32_t axes, bool keepdims);
jy_ref jy_graph_matmul(struct jy_graph *g, jy_op op, enum jy_kind kind, jy_ref a, jy_ref b, size_t ndim,
                       const jy_sx *shape);
jy_ref jy_graph_store(struct jy_graph *g, jy_ref base, const struct jy_view *view, jy_ref value);
jy_ref jy_graph_callout(struct jy_graph *g, uint32_t callee, uint32_t extra, size_t nargs, const jy_ref *args,
                        enum jy_kind kind, jy_dtype dtype, size_t ndim, const jy_sx *shape);
void jy_graph_set_layout(struct jy_graph *g, jy_ref ref, const struct jy_layout *layout);
void jy_graph_add_output(struct jy_graph *g, jy_ref ref);

/* Layout of `ndim` axes with these example extents and strides (bytes). */
struct jy_layout jy_layout_of_strides(size_t ndim, const int64_t *extents, const int64_t *strides, size_t itemsize);
/* Layout of a fresh block filled in the given axis order (NULL: C order). */
struct jy_layout jy_layout_fresh(size_t ndim, const int64_t *extents, const uint8_t *order, size_t itemsize);
bool jy_layout_is_c_order(const struct jy_layout *layout, size_t ndim);
/* May two elements share a byte? False only where they cannot: each axis steps over all that the axes inside of it reach. */
bool jy_layout_may_repeat(size_t ndim, const int64_t *extents, const int64_t *strides, size_t itemsize);

/* Users of every node: uses[first[r] .. first[r+1]) are the nodes that read r (outputs are not users). */
struct jy_uses {
    uint32_t *first, *uses;
    uint8_t *is_output; /* per node */
};
void jy_graph_fill_uses(struct jy_uses *out, const struct jy_graph *g);

/* NULL when sound, else a message that names node, op, operand and line; the message lives in the arena. Checks operands before uses, dtypes, shapes, and that no node reads
 * a version of a storage after the STORE that supersedes it. */
const char *jy_graph_verify(const struct jy_graph *g);

void jy_graph_print(struct jy_text *text, const struct jy_graph *g);
void jy_graph_print_table(struct jy_text *text,
                          const struct jy_graph *g); /* opcode, name, target, args, dtype, shape, line */
void jy_graph_print_code(struct jy_text *text, const struct jy_graph *g); /* as Python source */
/* On failure NULL, and `*error` says line and reason. */
struct jy_graph *jy_graph_parse(struct jy_arena *arena, const char *source, const char **error);

#endif
