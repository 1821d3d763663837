/* Where values come from. A source is made once, so that sources compare by index; its text is what users see in guards and logs and what
 * `request->dynamic` names. */
#include "frontend/frame.h"

#include <string.h>

jy_src
jy_source_add(struct jy_unit *unit, enum jy_source_kind kind, jy_src base, uint32_t index, PyObject *name)
{
    jy_obj handle = name != NULL ? jy_keep(unit, name) : 0;
    uint32_t hash = jy_index_mix(jy_index_mix((uint32_t)kind, (uint64_t)base << 32 | index), handle);
    struct jy_index_probe probe;
    for (jy_src s = jy_index_first(&unit->u_source_index, &probe, hash); s != JY_INDEX_END;
         s = jy_index_next(&unit->u_source_index, &probe)) {
        const struct jy_source *x = &unit->u_sources.at[s];
        if (x->kind == kind && x->base == base && x->index == index && x->name == handle)
            return s;
    }
    *jy_vec_push(unit->u_arena, &unit->u_sources) =
        (struct jy_source){ .kind = (uint8_t)kind, .base = base, .index = index, .name = handle };
    jy_index_add(unit->u_arena, &unit->u_source_index, hash, (uint32_t)unit->u_sources.n - 1);
    return (jy_src)(unit->u_sources.n - 1);
}

static void
print_object(struct jy_text *text, PyObject *object)
{
    PyObject *repr = PyObject_Repr(object);
    const char *utf8 = repr != NULL ? PyUnicode_AsUTF8(repr) : NULL;
    if (utf8 == NULL)
        PyErr_Clear();
    jy_text_add(text, "%s", utf8 != NULL ? utf8 : "?");
    Py_XDECREF(repr);
}

static const char *
name_text(const struct jy_unit *unit, jy_obj name)
{
    const char *text = name != 0 ? PyUnicode_AsUTF8(jy_unit_object(unit, name)) : NULL;
    if (text == NULL)
        PyErr_Clear();
    return text != NULL ? text : "?";
}

void
jy_source_print(struct jy_text *text, const struct jy_unit *unit, jy_src source)
{
    const struct jy_source *s = &unit->u_sources.at[source];
    if (s->base != 0 && s->kind != JY_SOURCE_FUNCTION && s->kind != JY_SOURCE_LOCAL && s->kind != JY_SOURCE_STACK)
        jy_source_print(text, unit, s->base);
    const char *name = name_text(unit, s->kind == JY_SOURCE_KEY ? 0 : s->name);
    switch ((enum jy_source_kind)s->kind) {
    case JY_SOURCE_FUNCTION:
        jy_text_add(text, "F");
        return;
    case JY_SOURCE_LOCAL:
        jy_text_add(text, "L['%s']", name);
        return;
    case JY_SOURCE_GLOBAL:
        jy_text_add(text, s->base == 0 ? "G['%s']" : ".__globals__['%s']", name);
        return;
    case JY_SOURCE_BUILTIN:
        jy_text_add(text, s->base == 0 ? "B['%s']" : ".__builtins__['%s']", name);
        return;
    case JY_SOURCE_CELL:
        jy_text_add(text, s->base == 0 ? "C['%s']" : ".__closure__['%s']", name);
        return;
    case JY_SOURCE_ATTR:
        jy_text_add(text, s->base == 0 ? "F.%s" : ".%s", name);
        return;
    case JY_SOURCE_ITEM:
        jy_text_add(text, "[%u]", s->index);
        return;
    case JY_SOURCE_KEY:
        jy_text_add(text, "[");
        print_object(text, jy_unit_object(unit, s->name));
        jy_text_add(text, "]");
        return;
    case JY_SOURCE_STACK:
        jy_text_add(text, "S[%u]", s->index);
        return;
    case JY_SOURCE_CONTENT:
        jy_text_add(text, ".cell_contents");
        return;
    case JY_SOURCE_OBJECT:
        jy_text_add(text, "<%s object>", Py_TYPE(jy_unit_object(unit, s->name))->tp_name);
        return;
    case JY_SOURCE_DEFAULT:
        jy_text_add(text, s->base == 0 ? "F.__defaults__[%u]" : ".__defaults__[%u]", s->index);
        return;
    case JY_SOURCE_KWDEFAULT:
        jy_text_add(text, s->base == 0 ? "F.__kwdefaults__['%s']" : ".__kwdefaults__['%s']", name);
        return;
    }
}

static bool
is_named(struct jy_frame *f, const char *const *names, jy_src source)
{
    if (names == NULL || *names == NULL || source == JY_NO_SOURCE)
        return false;
    struct jy_text text = { 0 };
    jy_source_print(&text, f->f_trace->unit, source);
    bool found = false;
    for (; *names != NULL && !found; names++)
        found = strcmp(*names, "*") == 0 || (text.at != NULL && strcmp(*names, text.at) == 0);
    jy_text_free(&text);
    return found;
}

bool
jy_source_is_dynamic(struct jy_frame *f, jy_src source)
{
    return is_named(f, f->f_trace->request->dynamic, source) && !jy_source_is_fixed(f, source);
}

bool
jy_source_is_fixed(struct jy_frame *f, jy_src source)
{
    return is_named(f, f->f_trace->request->fixed, source);
}

void
jy_input_add(struct jy_frame *f, jy_src source, enum jy_kind kind, jy_dtype dtype, jy_ref node,
             const struct jy_array_guard *array)
{
    struct jy_unit *unit = f->f_trace->unit;
    const struct jy_source *from = &unit->u_sources.at[source];
    if (from->kind == JY_SOURCE_LOCAL || from->kind == JY_SOURCE_GLOBAL || from->kind == JY_SOURCE_CELL)
        jy_graph_at(f->f_trace->graph, node)->n_name = jy_arena_strdup(unit->u_arena, name_text(unit, from->name));
    *jy_vec_push(unit->u_arena, &unit->u_inputs) = (struct jy_input){
        .source = source, .kind = (uint8_t)kind, .dtype = (uint8_t)dtype, .node = node, .array = array
    };
}
