/* Live arrays and NumPy scalars become graph inputs; and what must be guarded when the program writes to one.
 *
 * An array input is guarded by dtype, number of axes and layout class: C-contiguous, or the very order, signs, zeros and ones of the traced array.
 * One object that is reached by two ways is one input. Two objects may share memory as long as neither is written; from the first write on, the written input is
 * guarded to be apart from every other one. */
#include "frontend/np_internal.h"

/* In C order, with strides that nobody can tell from a fresh block's: a single element with a negative stride takes another path through some inner loops. */
static bool
is_plain(const struct jy_inspected_array *live)
{
    return live->c_contiguous && (live->ndim != 1 || live->stride[0] >= 0);
}

static const struct jy_array_guard *
describe_class(struct jy_frame *f, const struct jy_inspected_array *live, struct jy_layout *layout)
{
    struct jy_array_guard *guard = JY_NEW(jy_frame_arena(f), struct jy_array_guard);
    size_t itemsize = jy_dtype_info[live->dtype].bytes;
    guard->dtype = (uint8_t)live->dtype;
    guard->ndim = live->ndim;
    guard->c_contiguous = is_plain(live);
    if (guard
            ->c_contiguous) { /* strides of single elements are whatever they are: those of a fresh block serve as hints */
        *layout = jy_layout_fresh(live->ndim, live->shape, NULL, itemsize);
        return guard;
    }
    *layout = jy_layout_of_strides(live->ndim, live->shape, live->stride, itemsize);
    for (size_t d = 0; d < live->ndim; d++) {
        guard->order[d] = layout->order[d];
        guard->one[d] = live->shape[d] == 1;
        guard->sign[d] = (int8_t)(guard->one[d] ? 0 : (live->stride[d] > 0) - (live->stride[d] < 0));
    }
    guard->contiguous = layout->contiguous;
    guard->inner_unit = layout->inner_unit;
    return guard;
}

/* The storage of the input that is this very object. */
static struct jy_storage *
find_storage(const struct jy_trace_state *trace, const PyObject *object)
{
    for (size_t i = 0; i < trace->storages.n; i++)
        if (trace->storages.at[i]->object == object)
            return trace->storages.at[i];
    return NULL;
}

static bool
overlap(const struct jy_storage *a, const struct jy_storage *b)
{
    struct jy_inspected_array x, y;
    const char *why;
    return !jy_inspect_array(&x, &why, a->object, true) || !jy_inspect_array(&y, &why, b->object, true) ||
           (x.low < y.high && y.low < x.high);
}

static jy_status
keep_apart(struct jy_frame *f, struct jy_storage *a, struct jy_storage *b)
{
    bool overlaps = overlap(a, b);
    if (overlaps && f->f_trace->elements) { /* flows go element by element, in the program's order */
        a->mingled = b->mingled = true;
    } else if (overlaps) {
        return jy_break(f, JY_BREAK_OVERLAP, "two arrays share memory and one is written");
    }
    struct jy_guard *guard = jy_guard_add(f, JY_GUARD_DISJOINT, 0);
    guard->compare = overlaps ? JY_NE : JY_EQ; /* those that lie apart have faster code */
    guard->value = a->input, guard->other = b->input;
    return JY_OK;
}

static jy_status
new_storage(struct jy_frame *f, struct jy_storage **out, PyObject *object)
{
    struct jy_trace_state *trace = f->f_trace;
    struct jy_storage *storage = *out = JY_NEW(jy_frame_arena(f), struct jy_storage);
    storage->input = trace->graph->g_ninputs;
    storage->object = object;
    for (size_t i = 0; i < trace->storages.n; i++)
        if (trace->storages.at[i]->written)
            TRY(keep_apart(f, trace->storages.at[i], storage));
    *jy_vec_push(jy_frame_arena(f), &trace->storages) = storage;
    return JY_OK;
}

static void
fill_array(struct jy_value *v, struct jy_storage *storage, const struct jy_node *node,
           const struct jy_inspected_array *live)
{
    v->v_kind = JY_V_ARRAY;
    memset(&v->u, 0, sizeof v->u);
    v->u.array.storage = storage;
    v->u.array.layout = node->n_layout;
    v->u.array.shape = node->n_shape;
    v->u.array.node = JY_NO_REF;
    v->u.array.writeable = live->writeable;
    v->u.array.ndim = live->ndim;
    v->u.array.dtype = (uint8_t)live->dtype;
}

/* What the graph of a flow, which is never run, takes an input for. */
static jy_dtype
in_graph(jy_dtype dtype)
{
    return dtype < JY_DTYPE_COUNT ? dtype : JY_I64;
}

/* L['image'], a numpy.ndarray of numpy.uint8: why */
static jy_status
refuse_array(struct jy_frame *f, const struct jy_value *v, const char *why)
{
    struct jy_text source = { 0 };
    jy_source_print(&source, f->f_trace->unit, v->v_source);
    jy_status status = jy_break(f, JY_BREAK_ARRAY_KIND, "%s, a %s of %s: %s", source.at != NULL ? source.at : "?",
                                Py_TYPE(v->v_object)->tp_name, jy_inspect_element_type(v->v_object), why);
    jy_text_free(&source);
    return status;
}

static jy_status
realize_array(struct jy_frame *f, struct jy_value *v)
{
    struct jy_unit *unit = f->f_trace->unit;
    struct jy_graph *g = f->f_trace->graph;
    struct jy_inspected_array live;
    const char *why;
    if (!jy_inspect_array(&live, &why, v->v_object, f->f_trace->elements))
        return refuse_array(f, v, why);
    struct jy_storage *storage = find_storage(f->f_trace, v->v_object);
    if (storage != NULL) {
        const struct jy_input *input = &unit->u_inputs.at[storage->input];
        if (input->source != v->v_source)
            jy_guard_same(f, v->v_source, input->source);
        fill_array(v, storage, jy_graph_at(g, input->node), &live);
        return JY_OK;
    }
    struct jy_layout layout;
    const struct jy_array_guard *class = describe_class(f, &live, &layout);
    jy_guard_add(f, JY_GUARD_ARRAY, v->v_source)->array = class; /* before the guards that take it for an array */
    TRY(new_storage(f, &storage, v->v_object));
    jy_sx shape[JY_MAX_NDIM];
    bool fixed = jy_source_is_fixed(f, v->v_source);
    for (size_t d = 0; d < live.ndim; d++) {
        shape[d] = class->one[d] ? 1
                                 : jy_sizes_symbol(&g->g_sizes, jy_sizes_new_symbol(&g->g_sizes, storage->input,
                                                                                    (int32_t)d, live.shape[d]));
        if (fixed) {
            jy_sx extent = jy_sizes_const(&g->g_sizes, live.shape[d]);
            jy_guard_size(f, shape[d], JY_EQ, extent);
            shape[d] = extent;
        }
    }
    storage->version = jy_graph_placeholder(g, JY_KIND_ARRAY, in_graph(live.dtype), live.ndim, shape, &layout);
    jy_input_add(f, v->v_source, JY_KIND_ARRAY, live.dtype, storage->version, class);
    fill_array(v, storage, jy_graph_at(g, storage->version), &live);
    return JY_OK;
}

jy_status
jy_np_realize(struct jy_frame *f, struct jy_value *v)
{
    jy_dtype dtype;
    union jy_scalar value;
    if (jy_inspect_is_array(v->v_object))
        return realize_array(f, v);
    bool known = f->f_trace->elements ? jy_inspect_element(&dtype, &value, v->v_object)
                                      : jy_inspect_scalar(&dtype, &value, v->v_object);
    if (!known)
        return jy_break(f, JY_BREAK_ARRAY_KIND, "%s", Py_TYPE(v->v_object)->tp_name);
    jy_guard_type(f, v->v_source, Py_TYPE(v->v_object));
    jy_ref node = jy_graph_placeholder(f->f_trace->graph, JY_KIND_NPSCALAR, in_graph(dtype), 0, NULL, NULL);
    jy_input_add(f, v->v_source, JY_KIND_NPSCALAR, dtype, node, NULL);
    v->v_kind = JY_V_SCALAR;
    memset(&v->u, 0, sizeof v->u);
    v->u.scalar.kind = JY_KIND_NPSCALAR;
    v->u.scalar.dtype = (uint8_t)dtype;
    v->u.scalar.node = node;
    return JY_OK;
}

/* Such as as_strided() makes. NumPy's order of elements would decide what stands in the end. */
static bool
repeats(const struct jy_storage *storage)
{
    struct jy_inspected_array live;
    const char *why;
    return !jy_inspect_array(&live, &why, storage->object, true) || live.repeats;
}

/* The guard that was made when the array was first looked at now also wants it writeable, and its elements apart. */
static void
require_writeable(struct jy_frame *f, const struct jy_storage *storage)
{
    struct jy_unit *unit = f->f_trace->unit;
    struct jy_input *input = &unit->u_inputs.at[storage->input];
    const struct jy_array_guard *old = input->array;
    struct jy_array_guard *class = jy_arena_copy(jy_frame_arena(f), old, sizeof *old);
    class->writeable = true;
    input->array = class;
    for (size_t i = 0; i < unit->u_guards.n; i++)
        if (unit->u_guards.at[i].kind == JY_GUARD_ARRAY && unit->u_guards.at[i].array == old)
            unit->u_guards.at[i].array = class;
}

jy_status
jy_np_will_write(struct jy_frame *f, struct jy_value *array)
{
    struct jy_storage *storage = array->u.array.storage;
    while (storage->of != NULL)
        storage = storage->of->u.array.storage;
    if (!array->u.array.writeable)
        return jy_break(f, JY_BREAK_READ_ONLY, "assignment destination is read-only");
    if (storage->fresh || storage->written)
        return JY_OK;
    if (repeats(storage))
        return jy_break(f, JY_BREAK_OVERLAP, "an array of which elements share memory is written");
    for (size_t i = 0; i < f->f_trace->storages.n; i++)
        if (f->f_trace->storages.at[i] != storage)
            TRY(keep_apart(f, storage, f->f_trace->storages.at[i]));
    require_writeable(f, storage);
    storage->written = true;
    f->f_trace->unit->u_writes = true;
    return JY_OK;
}
