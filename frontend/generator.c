/* Generators: next, send, throw and close.
 *
 * A generator is a frame that is interpreted a piece at a time. Dropping one that is suspended inside try or with runs its handlers, at a moment that only CPython knows; so a unit
 * ends before the creation of a generator that would still be in such a place at its end. */
#include "frontend/generator.h"

#include <string.h>

#include "frontend/exception.h"

/* ---- suspending ---- */

static bool
is_of_yield_from(const struct jy_frame *g, const struct jy_handler *h)
{
#ifdef CLEANUP_THROW
    return jy_code_at(g->f_instrs, h->h_handler)->i_op == CLEANUP_THROW;
#else
    (void)g, (void)h;
    return false;
#endif
}

/* The compiler's own handler, which turns a StopIteration around, covers all of the code; another, around each `yield from`, hands an exception to the inner generator, which asks for
 * itself. */
static bool
is_in_try(const struct jy_frame *g)
{
    const struct jy_handler *h = jy_code_handler_of(g->f_instrs, g->f_pc);
    while (h != NULL && is_of_yield_from(g, h))
        h = jy_code_handler_of(g->f_instrs, h->h_handler);
    return h != NULL && !(h->h_lasti && h->h_depth == 0);
}

jy_status
jy_generator_suspend(struct jy_frame *g)
{
    if (g->f_generator == NULL)
        return jy_break(g, JY_BREAK_GENERATOR, "a yield that is not traced");
    for (size_t i = 0; i < g->f_depth; i++)
        if (g->f_stack[i] != NULL && g->f_stack[i]->v_kind == JY_V_HANDLED)
            return jy_break(g, JY_BREAK_GENERATOR, "a yield inside an except clause");
    g->f_in_try = is_in_try(g);
    if (g->f_in_try)
        *jy_vec_push(jy_frame_arena(g), &g->f_trace->in_try) = g;
    return JY_OK;
}

jy_status
jy_generators_check(struct jy_frame *f)
{
    struct jy_trace_state *t = f->f_trace;
    for (size_t i = 0; i < t->in_try.n; i++) {
        struct jy_frame *g = t->in_try.at[i];
        if (g->f_in_try) {
            t->unbuildable = g->f_generator;
            return jy_break(f, JY_BREAK_GENERATOR, "a generator that is left inside a try block");
        }
    }
    return JY_OK;
}

/* ---- running ---- */

/* Runs on; `raised`: an exception is on its way into it. *out NULL: it has returned. */
static jy_status
resume(struct jy_frame *f, struct jy_value **out, struct jy_value *generator, bool raised)
{
    struct jy_trace_state *t = f->f_trace;
    struct jy_frame *g = generator->u.iter.frame;
    uint32_t depth = t->depth, nesting = t->nesting;
    jy_status status = raised ? JY_BREAK : JY_OK;
    g->f_back = f;
    g->f_in_try = false;
    t->depth++;
    if (raised && g->f_pc != JY_NO_INSTR)
        status = jy_exception_unwind(g, t->depth, t->nesting);
    if (status == JY_OK)
        status = jy_interp_run(g);
    t->depth = depth;
    t->nesting = nesting;
    *out = status == JY_OK ? g->f_yield : NULL;
    generator->u.iter.exhausted = *out == NULL;
    if (status == JY_BREAK && jy_is_raised(f, PyExc_StopIteration)) /* where the code has no handler for that */
        jy_exception_turn(f);
    return status;
}

static jy_status
check_idle(struct jy_frame *f, struct jy_value *generator)
{
    if (generator->u.iter.frame->f_running)
        return jy_break(f, JY_BREAK_RAISES, "a generator that asks itself");
    return JY_OK;
}

jy_status
jy_generator_next(struct jy_frame *f, struct jy_value **out, struct jy_value *generator)
{
    TRY(check_idle(f, generator));
    return resume(f, out, generator, false);
}

jy_status
jy_generator_stop(struct jy_frame *f, struct jy_value *generator, bool now)
{
    struct jy_value *returned = now ? generator->u.iter.frame->f_return : NULL;
    bool has_value = returned != NULL && !jy_value_is_none(returned);
    return jy_raise_new(f, PyExc_StopIteration, has_value, has_value ? &returned : NULL);
}

/* ---- methods ---- */

/* Suspended at a `yield from`: what is thrown goes to the inner generator first. */
static bool
is_delegating(const struct jy_frame *g)
{
    int before = g->f_pc != JY_NO_INSTR ? jy_code_at(g->f_instrs, g->f_pc)->i_prev : JY_NO_INSTR;
    return before != JY_NO_INSTR && jy_code_at(g->f_instrs, before)->i_op == SEND;
}

static bool
has_begun(const struct jy_value *generator)
{
    return generator->u.iter.frame->f_pc != JY_NO_INSTR;
}

static jy_status
call_send(struct jy_frame *f, struct jy_value **out, struct jy_value *generator, struct jy_value *value)
{
    struct jy_frame *g = generator->u.iter.frame;
    bool ended = generator->u.iter.exhausted;
    if (!ended && has_begun(generator)) {
        assert(g->f_depth > 0);
        g->f_stack[g->f_depth - 1] = value;
    } else if (!ended && !jy_value_is_none(value)) {
        return jy_break(f, JY_BREAK_RAISES, "a value sent to a generator that has not begun");
    }
    *out = NULL;
    if (!ended)
        TRY(resume(f, out, generator, false));
    return *out != NULL ? JY_OK : jy_generator_stop(f, generator, !ended);
}

/* throw(exception) and throw(type, exception, traceback) */
static jy_status
call_throw(struct jy_frame *f, struct jy_value **out, struct jy_value *generator, size_t n,
           struct jy_value *const *args)
{
    struct jy_value *exception = n == 1 ? args[0] : args[1];
    bool ended = generator->u.iter.exhausted;
    TRY(jy_value_realize(f, exception));
    if (exception->v_kind != JY_V_EXCEPTION || is_delegating(generator->u.iter.frame) ||
        (n > 1 && jy_value_known(args[0]) != (PyObject *)jy_exception_type(exception)))
        return jy_break(f, JY_BREAK_GENERATOR, "throw of %s", jy_value_describe(f, exception));
    jy_raise_again(f, exception);
    if (ended)
        return JY_BREAK;
    TRY(resume(f, out, generator, true));
    return *out != NULL ? JY_OK : jy_generator_stop(f, generator, true);
}

static jy_status
call_close(struct jy_frame *f, struct jy_value **out, struct jy_value *generator)
{
    struct jy_value *yielded = NULL;
    *out = jy_value_const(f, Py_None);
    if (generator->u.iter.exhausted)
        return JY_OK;
    if (is_delegating(generator->u.iter.frame))
        return jy_break(f, JY_BREAK_GENERATOR, "close() inside a yield from");
    if (!has_begun(generator) || !generator->u.iter.frame->f_in_try) {
        generator->u.iter.exhausted = true;
        return JY_OK;
    }
    jy_raise_new(f, PyExc_GeneratorExit, 0, NULL);
    jy_status status = resume(f, &yielded, generator, true);
    if (status == JY_BREAK && jy_is_raised(f, PyExc_GeneratorExit)) {
        jy_exception_take(f);
        return JY_OK;
    }
    TRY(status);
    if (yielded != NULL)
        return jy_raises(f, PyExc_RuntimeError, "generator ignored GeneratorExit");
    if (!jy_value_is_none(generator->u.iter.frame->f_return)) /* which some versions hand out */
        return jy_break(f, JY_BREAK_GENERATOR, "close() of a generator that returns something then");
    return JY_OK;
}

bool
jy_generator_has_method(const struct jy_value *v, const char *name)
{
    return v->v_kind == JY_V_ITER && v->u.iter.how == JY_ITER_GENERATOR &&
           (strcmp(name, "send") == 0 || strcmp(name, "throw") == 0 || strcmp(name, "close") == 0 ||
            strcmp(name, "__next__") == 0);
}

jy_status
jy_generator_method(struct jy_frame *f, struct jy_value **out, struct jy_value *generator, PyObject *name, size_t nargs,
                    struct jy_value *const *args, PyObject *kwnames)
{
    const char *text = jy_utf8(name);
    TRY(check_idle(f, generator));
    if (kwnames == NULL || PyTuple_GET_SIZE(kwnames) == 0) {
        if (strcmp(text, "send") == 0 && nargs == 1)
            return call_send(f, out, generator, args[0]);
        if (strcmp(text, "__next__") == 0 && nargs == 0)
            return call_send(f, out, generator, jy_value_const(f, Py_None));
        if (strcmp(text, "throw") == 0 && (nargs == 1 || nargs == 3))
            return call_throw(f, out, generator, nargs, args);
        if (strcmp(text, "close") == 0 && nargs == 0)
            return call_close(f, out, generator);
    }
    return jy_break(f, JY_BREAK_BAD_ARGUMENTS, "%s of a generator", text);
}
