/* The symbolic frame's own services: keeping objects, telling where we are, and counting references as eager would have them. */
#include "frontend/instance.h"
#include "frontend/interp.h"

/* ---- objects ---- */

static size_t
hash_address(const void *p, size_t cap)
{
    return (size_t)(((uintptr_t)p >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (cap - 1);
}

static void
index_object(struct jy_unit *unit, uint32_t handle)
{
    size_t cap = unit->u_object_index.cap, i = hash_address(unit->u_objects.at[handle], cap);
    while (unit->u_object_index.at[i] != 0)
        i = (i + 1) & (cap - 1);
    unit->u_object_index.at[i] = handle;
}

jy_obj
jy_keep(struct jy_unit *unit, PyObject *object)
{
    if (object == NULL)
        jy_arena_fail(unit->u_arena);
    if (2 * (unit->u_objects.n + 1) > unit->u_object_index.cap) {
        unit->u_object_index.cap = unit->u_object_index.cap == 0 ? 64 : 2 * unit->u_object_index.cap;
        unit->u_object_index.at = JY_NEW_ARRAY(unit->u_arena, uint32_t, unit->u_object_index.cap);
        for (uint32_t h = 1; h < unit->u_objects.n; h++)
            index_object(unit, h);
    }
    size_t cap = unit->u_object_index.cap;
    for (size_t i = hash_address(object, cap); unit->u_object_index.at[i] != 0; i = (i + 1) & (cap - 1))
        if (unit->u_objects.at[unit->u_object_index.at[i]] == object)
            return unit->u_object_index.at[i];
    if (unit->u_objects.n == 0)
        *jy_vec_push(unit->u_arena, &unit->u_objects) = NULL;
    *jy_vec_push(unit->u_arena, &unit->u_objects) = Py_NewRef(object);
    uint32_t handle = (uint32_t)unit->u_objects.n - 1;
    index_object(unit, handle);
    return handle;
}

PyObject *
jy_hold(struct jy_frame *f, PyObject *object)
{
    int failed = object != NULL && PyList_Append(f->f_trace->held, object) < 0;
    Py_XDECREF(object);
    if (failed || (object == NULL && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)))
        jy_arena_fail(jy_frame_arena(f));
    return object;
}

/* ---- place ---- */

uint32_t
jy_frame_line(const struct jy_frame *f)
{
    if (f->f_instrs == NULL || f->f_pc == JY_NO_INSTR)
        return (uint32_t)((PyCodeObject *)f->f_code)->co_firstlineno;
    int line = jy_code_at(f->f_instrs, f->f_pc)->i_position.line;
    return line > 0 ? (uint32_t)line : (uint32_t)((PyCodeObject *)f->f_code)->co_firstlineno;
}

const char *
jy_frame_file(const struct jy_frame *f)
{
    return jy_arena_strdup(jy_frame_arena(f), jy_utf8(((PyCodeObject *)f->f_code)->co_filename));
}

/* ---- references ---- */

enum { DEEP = 12, MANY = 2 };

struct count {
    const struct jy_storage *storage;
    uint32_t n; /* stops to matter at MANY */
    uint32_t walk;
};

static void count_value(struct count *c, const struct jy_value *v, int depth);

static void
count_values(struct count *c, struct jy_value *const *at, size_t n, int depth)
{
    for (size_t i = 0; i < n && c->n < MANY; i++)
        count_value(c, at[i], depth);
}

static void
count_frame(struct count *c, const struct jy_frame *f, int depth)
{
    count_values(c, f->f_stack, f->f_depth, depth);
    count_values(c, f->f_locals, f->f_nlocals, depth);
    count_value(c, f->f_closure, depth);
}

/* Once, however many ways lead to it. */
static void
count_instance(struct count *c, struct jy_instance *self, int depth)
{
    if (self->counted == c->walk)
        return;
    self->counted = c->walk;
    count_value(c, self->self, depth + 1);
    count_value(c, self->over.base, depth + 1);
    count_value(c, self->over.factory, depth + 1);
    for (size_t i = 0; i < self->attributes.n && c->n < MANY; i++)
        count_value(c, self->attributes.at[i].value, depth + 1);
}

static void
count_value(struct count *c, const struct jy_value *v, int depth)
{
    if (v == NULL || c->n >= MANY)
        return;
    if (depth > DEEP) { /* a cycle, or a structure nobody looks through: not provably the only one */
        c->n = MANY;
        return;
    }
    switch ((enum jy_value_kind)v->v_kind) {
    case JY_V_ARRAY:
        c->n += v->u.array.storage == c->storage;
        break;
    case JY_V_TUPLE:
    case JY_V_LIST:
    case JY_V_DICT:
        count_values(c, v->u.seq.at, v->u.seq.n, depth + 1);
        break;
    case JY_V_FUNCTION:
    case JY_V_METHOD:
        count_value(c, v->u.func.self, depth + 1);
        count_value(c, v->u.func.function, depth + 1);
        count_value(c, v->u.func.defaults, depth + 1);
        count_value(c, v->u.func.kwdefaults, depth + 1);
        count_value(c, v->u.func.closure, depth + 1);
        break;
    case JY_V_ITER:
    case JY_V_DICTVIEW:
        count_value(c, v->u.iter.sequence, depth + 1);
        count_values(c, v->u.iter.parts, v->u.iter.nparts, depth + 1);
        if (v->u.iter.frame != NULL && !v->u.iter.frame->f_running)
            count_frame(c, v->u.iter.frame, depth + 1);
        break;
    case JY_V_CELL:
        count_value(c, v->u.cell.content, depth + 1);
        break;
    case JY_V_NULL:
    case JY_V_LAZY:
    case JY_V_CONST:
    case JY_V_SCALAR:
    case JY_V_RANGE:
    case JY_V_SLICE:
    case JY_V_CALLABLE:
    case JY_V_MODULE:
    case JY_V_OPAQUE:
    case JY_V_SET:
        break;
    case JY_V_HANDLED:
        count_value(c, v->u.handled.exception, depth + 1);
        break;
    case JY_V_EXCEPTION: /* and its traceback */
        count_value(c, v->u.exception.args, depth + 1);
        count_value(c, v->u.exception.attrs, depth + 1);
        count_value(c, v->u.exception.cause, depth + 1);
        count_value(c, v->u.exception.context, depth + 1);
        for (size_t i = 0; i < v->u.exception.left.n; i++)
            count_values(c, v->u.exception.left.at[i]->f_locals, v->u.exception.left.at[i]->f_nlocals, depth + 1);
        break;
    case JY_V_INSTANCE:
        count_instance(c, v->u.instance, depth);
        break;
    case JY_V_PARTIAL:
        count_value(c, v->u.partial.function, depth + 1);
        count_value(c, v->u.partial.args, depth + 1);
        count_value(c, v->u.partial.keywords, depth + 1);
        break;
    }
}

uint32_t
jy_frame_references(const struct jy_frame *f, const struct jy_value *v)
{
    struct jy_trace_state *t = f->f_trace;
    struct count c = { .storage = v->u.array.storage, .walk = ++t->walks };
    for (const struct jy_frame *at = f; at != NULL; at = at->f_back)
        count_frame(&c, at, 0);
    for (size_t i = 0; i < t->effects.n; i++) { /* what objects from outside hold by then */
        count_value(&c, t->effects.at[i].value, 0);
        count_values(&c, t->effects.at[i].args, t->effects.at[i].nargs, 0);
    }
    return c.n;
}

bool
jy_frame_is_temporary(const struct jy_frame *f, const struct jy_value *v)
{
    return v->v_kind == JY_V_ARRAY && v->v_source == JY_NO_SOURCE && v->u.array.storage->fresh &&
           v->u.array.view == NULL && jy_frame_references(f, v) < MANY;
}
