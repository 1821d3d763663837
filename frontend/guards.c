/* What the trace relied on, as rows of guards.def: making them and printing them.
 *
 * A guard on a source comes after the guards of the sources it goes through: values are looked at from the outside in, and guards are appended as
 * that happens. A relation of sizes is decided on the traced call's sizes; only what does not follow from the table of sizes alone becomes a guard. */
#include "frontend/frame.h"

#include <inttypes.h>

static bool
is_equal(const struct jy_guard *a, const struct jy_guard *b)
{
    return a->kind == b->kind && a->compare == b->compare && a->source == b->source &&
           a->other_source == b->other_source && a->object == b->object && a->value == b->value &&
           a->other == b->other && a->a == b->a && a->b == b->b && a->array == b->array && a->name == b->name &&
           a->result == b->result && a->after == b->after;
}

static uint32_t
hash_of(const struct jy_guard *guard)
{
    uint32_t hash = jy_index_mix(guard->kind, (uint64_t)guard->source << 32 | guard->other_source);
    hash = jy_index_mix(hash, (uint64_t)guard->object << 32 | guard->name);
    return jy_index_mix(hash, (uint64_t)guard->value ^ ((uint64_t)guard->a << 40 | (uint64_t)guard->b << 20));
}

static void
add(struct jy_frame *f, struct jy_guard guard)
{
    struct jy_unit *unit = f->f_trace->unit;
    uint32_t hash = hash_of(&guard);
    struct jy_index_probe probe;
    for (uint32_t i = jy_index_first(&unit->u_guard_index, &probe, hash); i != JY_INDEX_END;
         i = jy_index_next(&unit->u_guard_index, &probe))
        if (is_equal(&unit->u_guards.at[i], &guard))
            return;
    guard.line = jy_frame_line(f);
    *jy_vec_push(unit->u_arena, &unit->u_guards) = guard;
    jy_index_add(unit->u_arena, &unit->u_guard_index, hash, (uint32_t)unit->u_guards.n - 1);
}

struct jy_guard *
jy_guard_add(struct jy_frame *f, enum jy_guard_kind kind, jy_src source)
{
    struct jy_unit *unit = f->f_trace->unit;
    struct jy_guard *guard = jy_vec_push(unit->u_arena, &unit->u_guards);
    *guard = (struct jy_guard){ .kind = (uint8_t)kind, .source = source, .line = jy_frame_line(f) };
    return guard;
}

void
jy_guard_is(struct jy_frame *f, jy_src source, PyObject *object)
{
    add(f, (struct jy_guard){ .kind = JY_GUARD_IS, .source = source, .object = jy_keep(f->f_trace->unit, object) });
}

void
jy_guard_type(struct jy_frame *f, jy_src source, PyTypeObject *type)
{
    add(f, (struct jy_guard){
               .kind = JY_GUARD_TYPE, .source = source, .object = jy_keep(f->f_trace->unit, (PyObject *)type) });
}

void
jy_guard_object(struct jy_frame *f, enum jy_guard_kind kind, jy_src source, PyObject *object)
{
    add(f, (struct jy_guard){ .kind = (uint8_t)kind, .source = source, .object = jy_keep(f->f_trace->unit, object) });
}

void
jy_guard_value(struct jy_frame *f, enum jy_guard_kind kind, jy_src source, int64_t value)
{
    add(f, (struct jy_guard){ .kind = (uint8_t)kind, .source = source, .value = value });
}

void
jy_guard_same(struct jy_frame *f, jy_src source, jy_src other)
{
    add(f, (struct jy_guard){ .kind = JY_GUARD_SAME, .source = source, .other_source = other });
}

void
jy_guard_not_dict(struct jy_frame *f, jy_src dict, jy_src instance)
{
    add(f, (struct jy_guard){ .kind = JY_GUARD_NOT_DICT, .source = dict, .other_source = instance });
}

void
jy_guard_flags(struct jy_frame *f, jy_src source, int64_t mask, int64_t flags)
{
    add(f, (struct jy_guard){ .kind = JY_GUARD_FLAGS, .source = source, .value = mask, .other = flags });
}

void
jy_guard_not_same(struct jy_frame *f, jy_src source, jy_src other)
{
    add(f, (struct jy_guard){ .kind = JY_GUARD_NOT_SAME, .source = source, .other_source = other });
}

void
jy_guard_class(struct jy_frame *f, PyTypeObject *type, PyTypeObject *after, PyObject *name, PyObject *result)
{
    struct jy_unit *unit = f->f_trace->unit;
    if (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) /* and so are those that it derives from */
        return;
    add(f, (struct jy_guard){ .kind = JY_GUARD_CLASS,
                              .object = jy_keep(unit, (PyObject *)type),
                              .after = after != NULL ? jy_keep(unit, (PyObject *)after) : 0,
                              .name = jy_keep(unit, name),
                              .result = result != NULL ? jy_keep(unit, result) : 0 });
}

void
jy_guard_present(struct jy_frame *f, jy_src source)
{
    add(f, (struct jy_guard){ .kind = JY_GUARD_PRESENT, .source = source });
}

/* Whether the unit cannot run without the value of a source: for each, by guards and inputs on it and on what is reached through it. */
static bool *
find_needed(const struct jy_unit *unit)
{
    bool *needed = JY_NEW_ARRAY(unit->u_arena, bool, unit->u_sources.n);
    for (size_t i = 0; i < unit->u_guards.n; i++)
        if (unit->u_guards.at[i].kind != JY_GUARD_ABSENT)
            needed[unit->u_guards.at[i].source] = true;
    for (size_t i = 0; i < unit->u_inputs.n; i++)
        needed[unit->u_inputs.at[i].source] = true;
    for (size_t i = unit->u_sources.n; i-- > 1;) /* a base is made before what is reached through it */
        if (needed[i])
            needed[unit->u_sources.at[i].base] = true;
    return needed;
}

void
jy_guard_reads(struct jy_frame *f)
{
    const struct jy_unit *unit = f->f_trace->unit;
    const bool *needed = find_needed(unit);
    for (size_t i = 0; i < unit->u_sources.n; i++)
        if (unit->u_sources.at[i].is_read && !needed[i])
            jy_guard_present(f, (jy_src)i);
}

void
jy_guard_not_own(struct jy_frame *f, jy_src source, PyObject *name)
{
    add(f, (struct jy_guard){ .kind = JY_GUARD_NOT_OWN, .source = source, .name = jy_keep(f->f_trace->unit, name) });
}

/* ---- sizes ---- */

static const enum jy_compare negated[] = { [JY_LT] = JY_GE, [JY_LE] = JY_GT, [JY_EQ] = JY_NE,
                                           [JY_NE] = JY_EQ, [JY_GT] = JY_LE, [JY_GE] = JY_LT };

/* Extents are never negative, so many expressions have a least value. */
static bool
least(int64_t *out, const struct jy_sizes *sizes, jy_sx e)
{
    const struct jy_sx_node *x = &sizes->exprs.at[e];
    int64_t a, b;
    switch ((enum jy_sx_op)x->op) {
    case JY_SX_CONST:
        *out = x->k;
        return true;
    case JY_SX_SYM:
        *out = 0;
        return sizes->symbols.at[x->k].axis >= 0;
    case JY_SX_ADD:
        return least(&a, sizes, x->a) && least(&b, sizes, x->b) && !__builtin_add_overflow(a, b, out);
    case JY_SX_MUL:
        return least(&a, sizes, x->a) && least(&b, sizes, x->b) && a >= 0 && b >= 0 &&
               !__builtin_mul_overflow(a, b, out);
    case JY_SX_MIN:
    case JY_SX_MAX:
        if (!least(&a, sizes, x->a) || !least(&b, sizes, x->b))
            return false;
        *out = (x->op == JY_SX_MIN) == (a < b) ? a : b;
        return true;
    case JY_SX_FLOORDIV:
        *out = 0;
        return least(&a, sizes, x->a) && a >= 0 && jy_sizes_is_const(sizes, x->b, &b) && b > 0;
    case JY_SX_MOD:
        *out = 0;
        return jy_sizes_is_const(sizes, x->b, &b) && b > 0;
    case JY_SX_SUB:
        return false;
    }
    return false;
}

/* Does `a compare b` follow without looking at any size? */
static bool
is_provable(bool *out, const struct jy_sizes *sizes, jy_sx a, enum jy_compare compare, jy_sx b)
{
    if (a == b) {
        *out = jy_compare_holds(0, compare, 0);
        return true;
    }
    int64_t low, k;
    if (jy_sizes_is_const(sizes, b, &k) && least(&low, sizes, a)) {
        if (jy_sizes_is_const(sizes, a, NULL) || low > k) {
            *out = jy_compare_holds(low, compare, k);
            return true;
        }
        if (low == k && (compare == JY_GE || compare == JY_LT)) {
            *out = compare == JY_GE;
            return true;
        }
    }
    return false;
}

static bool
is_symbol(const struct jy_sizes *sizes, jy_sx e, uint32_t *out)
{
    const struct jy_sx_node *x = &sizes->exprs.at[e];
    *out = (uint32_t)x->k;
    return x->op == JY_SX_SYM;
}

bool
jy_guard_size(struct jy_frame *f, jy_sx a, enum jy_compare compare, jy_sx b)
{
    static const enum jy_compare swapped[] = { [JY_LT] = JY_GT, [JY_LE] = JY_GE, [JY_EQ] = JY_EQ,
                                               [JY_NE] = JY_NE, [JY_GT] = JY_LT, [JY_GE] = JY_LE };
    struct jy_sizes *sizes = &f->f_trace->graph->g_sizes;
    a = jy_sizes_canonical(sizes, a), b = jy_sizes_canonical(sizes, b);
    if (jy_sizes_is_const(sizes, a, NULL)) {
        jy_sx swap = a;
        a = b, b = swap, compare = swapped[compare];
    }
    bool outcome;
    if (is_provable(&outcome, sizes, a, compare, b))
        return outcome;
    outcome = jy_compare_holds(jy_sizes_hint(sizes, a), compare, jy_sizes_hint(sizes, b));
    enum jy_compare relation = outcome ? compare : negated[compare];
    add(f, (struct jy_guard){ .kind = JY_GUARD_SIZE, .compare = (uint8_t)relation, .a = a, .b = b });
    uint32_t x, y;
    if (relation == JY_EQ && is_symbol(sizes, a, &x) && is_symbol(sizes, b, &y))
        jy_sizes_merge(sizes, x, y);
    return outcome;
}

/* ---- text ---- */

static void
print_object(struct jy_text *text, const struct jy_unit *unit, jy_obj handle)
{
    PyObject *object = jy_unit_object(unit, handle);
    if (PyType_Check(object)) {
        jy_text_add(text, "%s", ((PyTypeObject *)object)->tp_name);
        return;
    }
    PyObject *repr = PyObject_Repr(object);
    const char *utf8 = repr != NULL ? PyUnicode_AsUTF8(repr) : NULL;
    if (utf8 == NULL)
        PyErr_Clear();
    jy_text_add(text, "%.120s", utf8 != NULL ? utf8 : "an object");
    Py_XDECREF(repr);
}

static void
print_array(struct jy_text *text, const struct jy_array_guard *a)
{
    jy_text_add(text, "%s array, ndim %u, ", jy_dtype_info[a->dtype].text, a->ndim);
    if (a->c_contiguous) {
        jy_text_add(text, "C-contiguous");
    } else {
        jy_text_add(text, "axes");
        for (uint8_t i = 0; i < a->ndim; i++) {
            uint8_t axis = a->order[i];
            jy_text_add(text, " %u%s", axis,
                        a->one[axis]         ? "(1)"
                        : a->sign[axis] < 0  ? "(-)"
                        : a->sign[axis] == 0 ? "(0)"
                                             : "");
        }
        jy_text_add(text, "%s%s", a->inner_unit ? ", unit stride" : "", a->contiguous ? ", contiguous" : "");
    }
    if (a->writeable || a->write_observed)
        jy_text_add(text, a->writeable ? ", writeable" : ", read-only");
}

void
jy_guard_print(struct jy_text *text, const struct jy_unit *unit, const struct jy_guard *g)
{
    static const char *const operator_text[] = { "<", "<=", "==", "!=", ">", ">=" };
    const struct jy_sizes *sizes = unit->u_graph != NULL ? &unit->u_graph->g_sizes : NULL;
    struct jy_text source = { 0 }, other = { 0 };
    if (g->kind != JY_GUARD_SIZE && g->kind != JY_GUARD_DISJOINT && g->kind != JY_GUARD_CLASS)
        jy_source_print(&source, unit, g->source);
    switch ((enum jy_guard_kind)g->kind) {
    case JY_GUARD_TYPE:
        jy_text_add(text, "type(%s) is ", source.at);
        print_object(text, unit, g->object);
        break;
    case JY_GUARD_IS:
        jy_text_add(text, "%s is ", source.at);
        print_object(text, unit, g->object);
        break;
    case JY_GUARD_INT:
        jy_text_add(text, "%s == %" PRId64 " (int)", source.at, g->value);
        break;
    case JY_GUARD_EQUALS:
        jy_text_add(text, "%s == ", source.at);
        print_object(text, unit, g->object);
        break;
    case JY_GUARD_ARRAY:
        jy_text_add(text, "%s: ", source.at);
        print_array(text, g->array);
        break;
    case JY_GUARD_LENGTH:
        jy_text_add(text, "len(%s) == %" PRId64, source.at, g->value);
        break;
    case JY_GUARD_KEYS:
        jy_text_add(text, "list(%s) == ", source.at);
        print_object(text, unit, g->object);
        break;
    case JY_GUARD_ABSENT:
        jy_text_add(text, "%s is not there", source.at);
        break;
    case JY_GUARD_CODE:
        jy_text_add(text, "%s.__code__ is ", source.at);
        print_object(text, unit, g->object);
        break;
    case JY_GUARD_SIZE:
        jy_sizes_print(text, sizes, g->a);
        jy_text_add(text, " %s ", operator_text[g->compare]);
        jy_sizes_print(text, sizes, g->b);
        break;
    case JY_GUARD_DISJOINT:
        jy_text_add(text, "%s: inputs %" PRId64 ", %" PRId64, g->compare == JY_NE ? "overlap" : "no overlap", g->value,
                    g->other);
        break;
    case JY_GUARD_SAME:
        jy_source_print(&other, unit, g->other_source);
        jy_text_add(text, "%s is %s (same object)", source.at, other.at);
        break;
    case JY_GUARD_NOT_SAME:
        jy_source_print(&other, unit, g->other_source);
        jy_text_add(text, "%s is not %s (different objects)", source.at, other.at);
        break;
    case JY_GUARD_NOT_DICT:
        jy_source_print(&other, unit, g->other_source);
        jy_text_add(text, "%s is not %s.__dict__", source.at, other.at);
        break;
    case JY_GUARD_FLAGS:
        jy_text_add(text, "type(%s) has the flags %#" PRIx64 " of %#" PRIx64, source.at, (uint64_t)g->other,
                    (uint64_t)g->value);
        break;
    case JY_GUARD_MAXLEN:
        if (g->value < 0)
            jy_text_add(text, "%s.maxlen is None", source.at);
        else
            jy_text_add(text, "%s.maxlen == %" PRId64, source.at, g->value);
        break;
    case JY_GUARD_CLASS:
        print_object(text, unit, g->object);
        if (g->after != 0) {
            jy_text_add(text, " behind ");
            print_object(text, unit, g->after);
        }
        jy_text_add(text, ".%s is ", jy_utf8(jy_unit_object(unit, g->name)));
        if (g->result != 0)
            jy_text_add(text, "a %s", Py_TYPE(jy_unit_object(unit, g->result))->tp_name);
        else
            jy_text_add(text, "not there");
        break;
    case JY_GUARD_PRESENT:
        jy_text_add(text, "%s is there", source.at);
        break;
    case JY_GUARD_NOT_OWN:
        jy_text_add(text, "%s does not hold %s itself", source.at, jy_utf8(jy_unit_object(unit, g->name)));
        break;
    case JY_GUARD_REGISTERED:
        jy_text_add(text, "abc.get_cache_token() == %" PRId64, g->value);
        break;
    case JY_GUARD_COUNT:
        break;
    }
    jy_text_free(&source);
    jy_text_free(&other);
}
