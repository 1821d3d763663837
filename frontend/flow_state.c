/* What a frame holds while bytecode becomes a flow: values by kind, and the exits that give all of it back to the interpreter. */
#include "frontend/flow.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

struct jy_val *
jy_val_new(struct jy_vbuild *b, enum jy_vkind kind, size_t nregs)
{
    struct jy_val *v = JY_NEW(b->arena, struct jy_val);
    v->kind = (uint8_t)kind;
    v->dtype = JY_DTYPE_NONE;
    v->nregs = (uint8_t)nregs;
    v->regs = JY_NEW_ARRAY(b->arena, jy_fv, nregs + 1);
    return v;
}

struct jy_val *
jy_val_reg(struct jy_vbuild *b, enum jy_vkind kind, jy_dtype dtype, jy_fv reg)
{
    struct jy_val *v = jy_val_new(b, kind, 1);
    v->dtype = (uint8_t)dtype;
    v->regs[0] = reg;
    return v;
}

struct jy_val *
jy_val_complex(struct jy_vbuild *b, jy_fv real, jy_fv imag)
{
    struct jy_val *v = jy_val_new(b, JY_K_COMPLEX, 2);
    v->regs[0] = real;
    v->regs[1] = imag;
    return v;
}

struct jy_val *
jy_val_known(struct jy_vbuild *b, struct jy_value *known)
{
    struct jy_val *v = jy_val_new(b, JY_K_KNOWN, 0);
    v->known = known;
    return v;
}

struct jy_val *
jy_val_parts(struct jy_vbuild *b, enum jy_vkind kind, size_t n, struct jy_val *const *parts)
{
    struct jy_val *v = jy_val_new(b, kind, 0);
    v->nparts = n;
    v->parts = JY_NEW_ARRAY(b->arena, struct jy_val *, n + 1);
    if (n != 0)
        memcpy(v->parts, parts, n * sizeof *parts);
    return v;
}

/* Whether the guards say which object it is. They know a function by its code and text by its characters: another call may bring another one. */
static bool
is_pinned(const struct jy_value *known)
{
    if (known->v_source == JY_NO_SOURCE)
        return true;
    const PyObject *o = known->v_object;
    if (known->v_kind == JY_V_CONST)
        return o == Py_None || PyBool_Check(o) || o == Py_Ellipsis || o == Py_NotImplemented;
    return known->v_kind == JY_V_CALLABLE || known->v_kind == JY_V_MODULE;
}

static bool
same_known(const struct jy_value *a, const struct jy_value *b)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->v_kind != b->v_kind || a->v_object == NULL || a->v_object != b->v_object ||
        a->v_kind == JY_V_CELL)
        return false;
    return a->v_source == b->v_source || (is_pinned(a) && is_pinned(b));
}

bool
jy_velem_same(const struct jy_velem *a, const struct jy_velem *b)
{
    return a == b || (a != NULL && b != NULL && a->kind == b->kind && a->is_tuple == b->is_tuple &&
                      a->is_native == b->is_native && a->dtype == b->dtype && jy_velem_same(a->elem, b->elem) &&
                      jy_velem_same(a->other, b->other));
}

bool
jy_val_same_kind(const struct jy_val *a, const struct jy_val *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->dtype != b->dtype || a->how != b->how || a->is_tuple != b->is_tuple ||
        a->is_native != b->is_native || a->fixed_step != b->fixed_step || a->nregs != b->nregs || a->step != b->step ||
        a->input != b->input || a->array != b->array || a->name != b->name || a->nparts != b->nparts ||
        !same_known(a->known, b->known) || !jy_velem_same(a->elem, b->elem))
        return false;
    for (size_t i = 0; i < a->nparts; i++)
        if (!jy_val_same_kind(a->parts[i], b->parts[i]))
            return false;
    return true;
}

enum jy_ftype
jy_vtype_of_dtype(jy_dtype dtype)
{
    return jy_flow_dtype_type((uint8_t)dtype);
}

enum jy_ftype
jy_val_type(const struct jy_val *v, size_t reg)
{
    switch ((enum jy_vkind)v->kind) {
    case JY_K_FLOAT:
    case JY_K_COMPLEX:
        return JY_F_F64;
    case JY_K_BOOL:
    case JY_K_MAYBE:
        return JY_F_I1;
    case JY_K_NP:
        return jy_vtype_of_dtype((jy_dtype)v->dtype);
    case JY_K_ARRAY:
        return reg == 0 ? JY_F_PTR : JY_F_I64;
    case JY_K_LIST:
    case JY_K_TEXT:
        return JY_F_PTR;
    case JY_K_INT:
    case JY_K_CHAR:
    case JY_K_RANGE:
    case JY_K_ITER:
    case JY_K_UNBOUND:
    case JY_K_KNOWN:
    case JY_K_OBJECT:
    case JY_K_TUPLE:
    case JY_K_SLICE:
    case JY_K_METHOD:
    case JY_K_CELL:
    case JY_K_NEWLIST:
    case JY_K_BYTE:
        break;
    }
    return JY_F_I64;
}

const char *
jy_val_describe(struct jy_vbuild *b, const struct jy_val *v)
{
    static const char *const texts[] = {
        [JY_K_UNBOUND] = "nothing",  [JY_K_INT] = "int",         [JY_K_FLOAT] = "float",
        [JY_K_BOOL] = "bool",        [JY_K_NP] = "numpy.",       [JY_K_KNOWN] = "",
        [JY_K_OBJECT] = "object",    [JY_K_ARRAY] = "array of ", [JY_K_LIST] = "list",
        [JY_K_TUPLE] = "tuple",      [JY_K_RANGE] = "range",     [JY_K_SLICE] = "slice",
        [JY_K_ITER] = "iterator",    [JY_K_METHOD] = "method",   [JY_K_CELL] = "cell",
        [JY_K_NEWLIST] = "list",     [JY_K_BYTE] = "bytes",      [JY_K_TEXT] = "str",
        [JY_K_CHAR] = "a character", [JY_K_COMPLEX] = "complex", [JY_K_MAYBE] = "a value or none",
    };
    if (v->kind == JY_K_KNOWN)
        return jy_value_describe(b->frame->f, v->known);
    if (v->kind == JY_K_METHOD)
        return jy_arena_printf(b->arena, "%s.%s", jy_val_describe(b, v->parts[0]), jy_utf8(v->name));
    if (v->kind == JY_K_NP || v->kind == JY_K_ARRAY) {
        jy_dtype dtype = (jy_dtype)(v->kind == JY_K_NP ? v->dtype : v->array->dtype);
        return jy_arena_printf(b->arena, "%s%s", texts[v->kind], jy_dtype_info[dtype].text);
    }
    return v->is_tuple ? "tuple" : texts[v->kind];
}

jy_status
jy_vb_lacks(struct jy_vbuild *b, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    b->why = jy_arena_strdup(b->arena, text);
    return JY_BREAK;
}

/* ---- boxes ---- */

struct boxing {
    struct jy_vbuild *b;
    struct jy_flow_exit *exit;
    struct {
        const struct jy_val *v;
        struct jy_box *box;
    } made[256]; /* taste: objects shared within one exit */
    size_t nmade;
};

static uint32_t
add_value(struct boxing *x, jy_fv reg)
{
    *jy_vec_push(x->b->arena, &x->exit->x_values) = reg;
    return (uint32_t)x->exit->x_values.n - 1;
}

static struct jy_box *box_of(struct boxing *x, const struct jy_val *v);

static void
box_parts(struct jy_box *box, struct boxing *x, size_t n, struct jy_val *const *parts)
{
    box->n = n;
    box->parts = JY_NEW_ARRAY(x->b->arena, struct jy_box *, n + 1);
    for (size_t i = 0; i < n; i++)
        box->parts[i] = box_of(x, parts[i]);
}

static struct jy_box *
box_number(struct boxing *x, enum jy_kind kind, jy_dtype dtype, jy_fv reg)
{
    struct jy_box *box = JY_NEW(x->b->arena, struct jy_box);
    box->kind = (uint8_t)kind;
    box->dtype = (uint8_t)dtype;
    box->how = JY_BOX_NUMBER;
    box->value = add_value(x, reg);
    return box;
}

/* A view of an input, or of a new array; or a new array itself. */
static void
box_array(struct jy_box *box, struct boxing *x, const struct jy_val *v)
{
    struct jy_vgeometry g;
    jy_varray_geometry(&g, v);
    box->how = v->array->is_new ? JY_BOX_FRESH : JY_BOX_VIEW;
    box->dtype = v->array->dtype;
    box->ndim = v->array->ndim;
    if (v->nparts != 0) {
        box_parts(box, x, 1, v->parts);
    } else if (box->how == JY_BOX_VIEW) {
        struct jy_box *base = JY_NEW(x->b->arena, struct jy_box);
        base->how = JY_BOX_INPUT;
        base->number = v->array->input;
        box->n = 1;
        box->parts = JY_NEW_ARRAY(x->b->arena, struct jy_box *, 1);
        box->parts[0] = base;
    }
    box->value = add_value(x, g.data);
    for (size_t d = 0; d < g.ndim; d++)
        add_value(x, g.extent[d]);
    for (size_t d = 0; d < g.ndim && box->how == JY_BOX_VIEW; d++)
        add_value(x, g.stride[d]);
}

static void
box_iterator(struct jy_box *box, struct boxing *x, const struct jy_val *v)
{
    switch ((enum jy_viter)v->how) {
    case JY_VI_RANGE:
        box->how = JY_BOX_RANGE_ITER;
        box->value = add_value(x, v->regs[0]);
        add_value(x, v->regs[1]);
        add_value(x, v->regs[2]);
        return;
    case JY_VI_SEQUENCE:
    case JY_VI_REVERSED:
        box->how = v->how == JY_VI_SEQUENCE ? JY_BOX_SEQ_ITER : JY_BOX_REVERSED_ITER;
        box->value =
            add_value(x, v->nregs != 0 ? v->regs[0] : jy_vint(x->b, v->step)); /* of known parts: no register */
        box_parts(box, x, 1, v->parts);
        return;
    case JY_VI_ENUMERATE:
        box->how = JY_BOX_ENUMERATE;
        box->n = 2;
        box->parts = JY_NEW_ARRAY(x->b->arena, struct jy_box *, 2);
        box->parts[0] = box_of(x, v->parts[0]);
        box->parts[1] = box_number(x, JY_KIND_PYINT, JY_I64, v->regs[0]);
        return;
    case JY_VI_ZIP:
        box->how = JY_BOX_ZIP;
        box_parts(box, x, v->nparts, v->parts);
        return;
    }
}

static void
box_known(struct jy_box *box, struct boxing *x, const struct jy_value *known)
{
    if (!is_pinned(known)) {
        box->how = JY_BOX_INPUT;
        box->number = jy_vb_input(x->b, known->v_source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE);
        return;
    }
    box->how = JY_BOX_CONST;
    box->object = jy_keep(x->b->t->unit, known->v_object);
}

static void
box_range(struct jy_box *box, struct boxing *x, const struct jy_val *v)
{
    box->how = JY_BOX_RANGE;
    box->n = 3;
    box->parts = JY_NEW_ARRAY(x->b->arena, struct jy_box *, 3);
    for (size_t i = 0; i < 3; i++)
        box->parts[i] = box_number(x, JY_KIND_PYINT, JY_I64, v->regs[i]);
}

static void
fill_box(struct jy_box *box, struct boxing *x, const struct jy_val *v)
{
    if (v->input != 0) {
        box->how = JY_BOX_INPUT;
        box->number = v->input - 1;
        return;
    }
    switch ((enum jy_vkind)v->kind) {
    case JY_K_UNBOUND:
        box->how = JY_BOX_NULL;
        return;
    case JY_K_KNOWN:
        box_known(box, x, v->known);
        return;
    case JY_K_MAYBE:
        box->how = JY_BOX_MAYBE;
        box->value = add_value(x, v->regs[0]);
        box_parts(box, x, v->nparts, v->parts);
        return;
    case JY_K_ARRAY:
        box_array(box, x, v);
        return;
    case JY_K_LIST:
        box->how = v->is_native ? JY_BOX_NATIVE : JY_BOX_OBJECT;
        box->value = add_value(x, v->regs[0]);
        return;
    case JY_K_TEXT:
        box->how = JY_BOX_OBJECT;
        box->value = add_value(x, v->regs[0]);
        return;
    case JY_K_CHAR:
        box->how = JY_BOX_CHAR;
        box->value = add_value(x, v->regs[0]);
        return;
    case JY_K_TUPLE:
        box->how = JY_BOX_TUPLE;
        box_parts(box, x, v->nparts, v->parts);
        return;
    case JY_K_NEWLIST:
        box->how = JY_BOX_LIST;
        box_parts(box, x, v->nparts, v->parts);
        return;
    case JY_K_SLICE:
        box->how = JY_BOX_SLICE;
        box_parts(box, x, v->nparts, v->parts);
        return;
    case JY_K_METHOD:
        box->how = JY_BOX_METHOD;
        box->object = jy_keep(x->b->t->unit, v->name);
        box_parts(box, x, 1, v->parts);
        return;
    case JY_K_RANGE:
        box_range(box, x, v);
        return;
    case JY_K_ITER:
        box_iterator(box, x, v);
        return;
    case JY_K_COMPLEX:
        box->how = JY_BOX_COMPLEX;
        box->kind = JY_KIND_PYFLOAT;
        box->value = add_value(x, v->regs[0]);
        add_value(x, v->regs[1]);
        return;
    case JY_K_INT:
    case JY_K_FLOAT:
    case JY_K_BOOL:
    case JY_K_NP:
    case JY_K_OBJECT:
    case JY_K_CELL:
    case JY_K_BYTE:
        break;
    }
    assert(!"a value that no exit can give back");
}

static struct jy_box *
box_of(struct boxing *x, const struct jy_val *v)
{
    static const uint8_t kinds[] = { [JY_K_INT] = JY_KIND_PYINT,
                                     [JY_K_FLOAT] = JY_KIND_PYFLOAT,
                                     [JY_K_BOOL] = JY_KIND_PYBOOL,
                                     [JY_K_NP] = JY_KIND_NPSCALAR };
    static const uint8_t dtypes[] = { [JY_K_INT] = JY_I64, [JY_K_FLOAT] = JY_F64, [JY_K_BOOL] = JY_BOOL };
    for (size_t i = 0; i < x->nmade; i++)
        if (x->made[i].v == v)
            return x->made[i].box;
    struct jy_box *box;
    if (jy_val_is_number(v)) {
        box = box_number(x, (enum jy_kind)kinds[v->kind], (jy_dtype)(v->kind == JY_K_NP ? v->dtype : dtypes[v->kind]),
                         v->regs[0]);
    } else {
        box = JY_NEW(x->b->arena, struct jy_box);
        fill_box(box, x, v);
    }
    if (x->nmade < sizeof x->made / sizeof *x->made) {
        x->made[x->nmade].v = v;
        x->made[x->nmade++].box = box;
    }
    return box;
}

/* ---- exits ---- */

static uint32_t
line_of(const struct jy_vframe *frame)
{
    const struct jy_instr *instr = jy_code_at(frame->f->f_instrs, frame->pc);
    return instr->i_position.line > 0 ? (uint32_t)instr->i_position.line : 0;
}

static size_t
count_locals(const struct jy_vframe *frame)
{
    return frame->nlocals - (size_t)((PyCodeObject *)frame->f->f_code)->co_nfreevars;
}

static struct jy_box **
box_frame(struct boxing *x, const struct jy_vframe *frame)
{
    size_t n = count_locals(frame);
    struct jy_box **boxes = JY_NEW_ARRAY(x->b->arena, struct jy_box *, frame->depth + n + 1);
    for (size_t i = 0; i < frame->depth; i++)
        boxes[i] = box_of(x, frame->stack[i]);
    for (size_t i = 0; i < n; i++)
        boxes[frame->depth + i] = box_of(x, frame->locals[i]);
    jy_vtold_mark_frame(x->b, frame, n, boxes);
    return boxes;
}

static uint32_t
offset_of(const struct jy_vframe *frame)
{
    return (uint32_t)jy_code_at(frame->f->f_instrs, frame->pc)->i_offset;
}

/* A callee has done nothing that others see, and its call is made again; or it is chained: it goes on where it is, as do its callers. The innermost frame that is given back. */
static const struct jy_vframe *
last_frame(const struct jy_vframe *frame)
{
    while (frame->back != NULL && !frame->is_chained)
        frame = frame->back;
    return frame;
}

static void
add_inner(struct boxing *x, const struct jy_vframe *frame, size_t k)
{
    struct jy_flow_frame *out = &x->exit->x_inner[k - 1];
    jy_src source = frame->f->f_function_source;
    if (source != 0)
        out->x_function = jy_vb_input(x->b, source, (enum jy_kind)JY_INPUT_OBJECT, JY_DTYPE_NONE) + 1;
    out->x_offset = offset_of(frame);
    out->x_line = line_of(frame);
    out->x_depth = frame->depth;
    out->x_nlocals = count_locals(frame);
    out->x_boxes = box_frame(x, frame);
}

/* call_item: of the innermost frame. */
static uint32_t
make_exit(struct jy_vbuild *b, enum jy_flow_exit_kind kind, const char *what, size_t call_item)
{
    if (b->exits[kind] != 0)
        return b->exits[kind] - 1;
    const struct jy_vframe *last = last_frame(b->snap), *frame = last;
    struct jy_flow_exit *exit = JY_NEW(b->arena, struct jy_flow_exit);
    struct boxing *x = JY_NEW(b->arena, struct boxing);
    size_t k = 0;
    x->b = b;
    x->exit = exit;
    exit->x_kind = (uint8_t)kind;
    exit->x_file = jy_vsource_file(b, last);
    exit->x_line = line_of(last);
    exit->x_what = what;
    while (frame->back != NULL) {
        frame = frame->back;
        k++;
    }
    exit->x_ninner = k;
    exit->x_inner = k != 0 ? JY_NEW_ARRAY(b->arena, struct jy_flow_frame, k) : NULL;
    for (frame = last; frame->back != NULL; frame = frame->back, k--) {
        add_inner(x, frame, k);
        exit->x_inner[k - 1].x_call = (uint32_t)call_item;
        call_item = frame->call_item;
    }
    exit->x_call = (uint32_t)call_item;
    exit->x_offset = offset_of(frame);
    exit->x_depth = frame->depth;
    exit->x_nlocals = count_locals(frame);
    exit->x_boxes = box_frame(x, frame);
    b->exits[kind] = jy_flow_exit_add(b->w, exit) + 1;
    return b->exits[kind] - 1;
}

uint32_t
jy_vb_exit(struct jy_vbuild *b, enum jy_flow_exit_kind kind, const char *what)
{
    return make_exit(b, kind, what, 0);
}

uint32_t
jy_vb_exit_call(struct jy_vbuild *b, size_t call_item)
{
    return make_exit(b, JY_EXIT_CALL, "a call that was left", call_item);
}

uint32_t
jy_vb_exit_return(struct jy_vbuild *b, struct jy_val *v)
{
    struct jy_flow_exit *exit = JY_NEW(b->arena, struct jy_flow_exit);
    struct boxing *x = JY_NEW(b->arena, struct boxing);
    x->b = b;
    x->exit = exit;
    exit->x_kind = JY_EXIT_RETURN;
    exit->x_offset = (uint32_t)jy_code_at(b->snap->f->f_instrs, b->snap->pc)->i_offset;
    exit->x_file = jy_vsource_file(b, b->snap);
    exit->x_line = line_of(b->snap);
    exit->x_what = "return";
    exit->x_boxes = JY_NEW_ARRAY(b->arena, struct jy_box *, 1);
    exit->x_boxes[0] = box_of(x, v);
    jy_vtold_mark(exit->x_boxes[0]);
    return jy_flow_exit_add(b->w, exit);
}

/* ---- emitting ---- */

jy_fv
jy_ve1(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x)
{
    return jy_flow_op(b->w, b->block, op, type, 1, &x, JY_NO_EXIT);
}

jy_fv
jy_ve2(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x, jy_fv y)
{
    jy_fv args[] = { x, y };
    return jy_flow_op(b->w, b->block, op, type, 2, args, JY_NO_EXIT);
}

jy_fv
jy_ve3(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x, jy_fv y, jy_fv z)
{
    jy_fv args[] = { x, y, z };
    return jy_flow_op(b->w, b->block, op, type, 3, args, JY_NO_EXIT);
}

jy_fv
jy_ve1x(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x, const char *what)
{
    return jy_flow_op(b->w, b->block, op, type, 1, &x, jy_vb_exit(b, JY_EXIT_CHECK, what));
}

jy_fv
jy_ve2x(struct jy_vbuild *b, enum jy_fop op, enum jy_ftype type, jy_fv x, jy_fv y, const char *what)
{
    jy_fv args[] = { x, y };
    return jy_flow_op(b->w, b->block, op, type, 2, args, jy_vb_exit(b, JY_EXIT_CHECK, what));
}

jy_fv
jy_vint(struct jy_vbuild *b, int64_t value)
{
    return jy_flow_const(b->w, b->block, JY_F_I64, (union jy_scalar){ .i = value });
}

jy_fv
jy_vfloat(struct jy_vbuild *b, double value)
{
    return jy_flow_const(b->w, b->block, JY_F_F64, (union jy_scalar){ .d = value });
}

jy_fv
jy_vbool(struct jy_vbuild *b, bool value)
{
    return jy_flow_const(b->w, b->block, JY_F_I1, (union jy_scalar){ .i = value });
}

bool
jy_vconst(const struct jy_vbuild *b, jy_fv v, int64_t *out)
{
    const struct jy_fvalue *value = jy_flow_at(b->w, v);
    if (value->f_op != JY_FLOW_CONST)
        return false;
    *out = value->f_value.i;
    return true;
}

void
jy_vcheck(struct jy_vbuild *b, jy_fv condition, const char *what)
{
    int64_t known;
    if (jy_vconst(b, condition, &known) && known != 0)
        return;
    jy_ve1x(b, JY_FLOW_CHECK, JY_F_NONE, condition, what);
}

/* A constant that makes nothing larger as a factor (`divisor`: as a divisor), and nothing that is finite or infinite NaN. */
static bool
is_harmless(const struct jy_vbuild *b, jy_fv v, bool divisor)
{
    const struct jy_fvalue *value = jy_flow_at(b->w, v);
    if (value->f_op != JY_FLOW_CONST)
        return false;
    double magnitude = fabs(value->f_type == JY_F_F32 ? (double)value->f_value.f : value->f_value.d);
    return divisor ? magnitude >= 1.0 && isfinite(magnitude) : magnitude > 0.0 && magnitude <= 1.0;
}

/* Of an int as a float the int is asked: what lies between bounds in a loop is known of ints only (graph/flow_range.c). */
void
jy_vcheck_not_zero(struct jy_vbuild *b, jy_fv v, const char *what)
{
    const struct jy_fvalue *value = jy_flow_at(b->w, v);
    if (value->f_op == JY_FLOW_TO_FLOAT && jy_flow_at(b->w, value->f_args[0])->f_type == JY_F_I64) {
        v = value->f_args[0];
        value = jy_flow_at(b->w, v);
    }
    union jy_scalar zero = { .bits = 0 };
    jy_vcheck(b, jy_ve2(b, JY_FLOW_NE, JY_F_I1, v, jy_flow_const(b->w, b->block, (enum jy_ftype)value->f_type, zero)),
              what);
}

/* Products with small constants and quotients by large ones raise no flag; of ints as divisors, which are 0 or at least 1, only 0 does. */
static bool
is_never_flagged(struct jy_vbuild *b, jy_fv result, jy_fv x, jy_fv y, const char *what)
{
    const struct jy_fvalue *r = jy_flow_at(b->w, result);
    if (r->f_op == JY_FLOW_MUL && r->f_args[0] == x && r->f_args[1] == y)
        return is_harmless(b, x, false) || is_harmless(b, y, false);
    if (r->f_op != JY_FLOW_DIV || r->f_args[0] != x || r->f_args[1] != y)
        return false;
    const struct jy_fvalue divisor = *jy_flow_at(b->w, y);
    if (divisor.f_op != JY_FLOW_TO_FLOAT)
        return is_harmless(b, y, true);
    if (jy_flow_at(b->w, divisor.f_args[0])->f_type != JY_F_I64)
        return false;
    jy_vcheck_not_zero(b, y, what);
    return true;
}

void
jy_vcheck_nan(struct jy_vbuild *b, const struct jy_val *v, enum jy_check_mark mark)
{
    if (v->kind != JY_K_FLOAT && (v->kind != JY_K_NP || !jy_dtype_is_float((jy_dtype)v->dtype)))
        return;
    jy_fv same = jy_ve2(b, JY_FLOW_EQ, JY_F_I1, v->regs[0], v->regs[0]);
    jy_fv check = jy_ve1x(b, JY_FLOW_CHECK, JY_F_NONE, same, "a NaN that is an object already");
    jy_flow_at(b->w, check)->f_index = (uint32_t)mark;
}

void
jy_vflagged(struct jy_vbuild *b, jy_fv result, jy_fv x, jy_fv y, const char *what)
{
    jy_fv args[] = { result, x, y };
    if (is_never_flagged(b, result, x, y, what))
        return;
    jy_flow_op(b->w, b->block, JY_FLOW_FLAGGED, JY_F_NONE, 3, args, jy_vb_exit(b, JY_EXIT_CHECK, what));
}

jy_fv
jy_vhelp(struct jy_vbuild *b, const char *name, size_t nargs, const jy_fv *args, const char *what)
{
    struct jy_flow_helper helper;
    bool found = jy_flow_helper_row(&helper, name);
    assert(found && helper.nargs == nargs);
    (void)found;
    uint32_t exit = helper.may_fail ? jy_vb_exit(b, JY_EXIT_CHECK, what) : JY_NO_EXIT;
    return jy_flow_ask(b->w, b->block, jy_flow_helper_add(b->w, &helper), nargs, args, exit);
}

jy_fv
jy_vaddress(struct jy_vbuild *b, PyObject *object)
{
    struct jy_flow_input input = { .kind = JY_FLOW_IN_CONST_OBJECT,
                                   .type = JY_F_PTR,
                                   .number = jy_keep(b->t->unit, object) };
    return jy_flow_input(b->w, &input);
}

jy_fv
jy_vload(struct jy_vbuild *b, enum jy_ftype type, jy_fv pointer, jy_fv offset, int32_t plus, uint32_t alias)
{
    return jy_flow_load(b->w, b->block, type, pointer, offset, plus, alias);
}
