/* super: attributes looked up behind a class in the MRO of another.
 *
 * A super object is an instance value with a `self`. super() without arguments takes both from the frame that calls it: the cell `__class__` and the first parameter. */
#include "frontend/exception.h"
#include "frontend/instance.h"
#include "frontend/ops.h"

/* supercheck: the class whose MRO is searched. */
static jy_status
start_of(struct jy_frame *f, PyTypeObject **out, struct jy_value *after, struct jy_value *self)
{
    TRY(jy_value_realize(f, after));
    TRY(jy_value_realize(f, self));
    *out = NULL;
    if (after->v_kind != JY_V_CALLABLE || !PyType_Check(after->v_object))
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "super(%s)", jy_value_describe(f, after));
    PyTypeObject *type = (PyTypeObject *)after->v_object;
    if (self->v_kind == JY_V_CALLABLE && PyType_Check(self->v_object)) {
        if (PyType_IsSubtype((PyTypeObject *)self->v_object, type))
            *out = (PyTypeObject *)self->v_object;
    } else if (self->v_kind == JY_V_EXCEPTION) {
        if (PyType_IsSubtype(jy_exception_type(self), type))
            *out = jy_exception_type(self);
    } else if (jy_is_instance(f, self) && self->u.instance->self == NULL &&
               PyType_IsSubtype(self->u.instance->type, type)) {
        *out = self->u.instance->type;
    }
    return *out != NULL
               ? JY_OK
               : jy_break(f, JY_BREAK_UNKNOWN_CALL, "super(%s, %s)", type->tp_name, jy_value_describe(f, self));
}

static jy_status
lookup(struct jy_frame *f, struct jy_value **out, struct jy_value *after, struct jy_value *self, PyTypeObject *start,
       PyObject *name)
{
    bool through_class = self->v_kind == JY_V_CALLABLE;
    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0)
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "__class__ of super()");
    PyObject *raw = jy_class_get(f, start, (PyTypeObject *)after->v_object, name);
    if (raw == NULL)
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s of super()", jy_utf8(name));
    if (self->v_kind == JY_V_EXCEPTION)
        return jy_exception_super(f, out, self, raw, name);
    /* a slot's descriptor reads by its own name: what it gives is what self.name gives only where nothing hides it */
    return jy_class_bind(f, out, raw, through_class ? NULL : self, through_class ? self : self->u.instance->klass,
                         name);
}

jy_status
jy_super_getattr(struct jy_frame *f, struct jy_value **out, struct jy_value *v, PyObject *name)
{
    const struct jy_instance *s = v->u.instance;
    return lookup(f, out, s->after, s->self, s->start, name);
}

/* The class and the object of super() without arguments. */
static jy_status
from_frame(struct jy_frame *f, struct jy_value **after, struct jy_value **self)
{
    const PyCodeObject *co = (PyCodeObject *)f->f_code;
    struct jy_value *first = co->co_argcount > 0 ? f->f_locals[0] : NULL;
    if (first != NULL && first->v_kind == JY_V_CELL)
        first = first->u.cell.content;
    *after = NULL;
    for (size_t i = f->f_nlocals - (size_t)co->co_nfreevars; i < f->f_nlocals; i++) {
        PyObject *name = jy_code_local_name(f->f_instrs, (int)i);
        struct jy_value *cell = f->f_locals[i];
        if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0 && cell != NULL && cell->v_kind == JY_V_CELL)
            *after = cell->u.cell.content;
    }
    *self = first;
    return first != NULL && *after != NULL ? JY_OK : jy_break(f, JY_BREAK_RAISES, "super() without a class or self");
}

jy_status
jy_super_new(struct jy_frame *f, struct jy_value **out, size_t nargs, struct jy_value *const *args)
{
    struct jy_value *after, *self;
    PyTypeObject *start;
    if (nargs != 0 && nargs != 2)
        return jy_break(f, JY_BREAK_UNKNOWN_CALL, "super() with %zu arguments", nargs);
    if (nargs == 0)
        TRY(from_frame(f, &after, &self));
    else
        after = args[0], self = args[1];
    TRY(start_of(f, &start, after, self));
    *out = jy_instance_new(f, jy_value_callable(f, (PyObject *)&PySuper_Type, JY_NO_SOURCE));
    (*out)->u.instance->after = after;
    (*out)->u.instance->self = self;
    (*out)->u.instance->start = start;
    return JY_OK;
}

/* super, class, self: as LOAD_GLOBAL and two loads left them. */
jy_status
op_load_super_attr(struct jy_frame *f, const struct jy_instr *instr)
{
    PyObject *name = jy_code_name(f->f_instrs, jy_instr_name_index(instr));
    struct jy_value *callable = *jy_peek(f, 3), *after = *jy_peek(f, 2), *self = *jy_peek(f, 1), *v;
    PyTypeObject *start;
    TRY(jy_value_realize(f, callable));
    if (callable->v_kind != JY_V_CALLABLE || callable->v_object != (PyObject *)&PySuper_Type)
        return jy_break(f, JY_BREAK_UNKNOWN_ATTRIBUTE, "%s of a super that is not the builtin", jy_utf8(name));
    TRY(start_of(f, &start, after, self));
    TRY(lookup(f, &v, after, self, start, name));
    if (!jy_instr_pushes_null(instr))
        return jy_replace(f, 3, v);
    jy_pop(f), jy_pop(f), jy_pop(f);
    return jy_push_callable(f, v);
}
