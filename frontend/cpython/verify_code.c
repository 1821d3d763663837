/* Verification of a decoded code object by abstract interpretation.
 *
 * 1. Each instruction alone: known opcode, argument in range.
 * 2. The exception table: ids in list order, ranges apart.
 * 3. The stack: one depth per instruction, whichever way it is reached; an exception handler is reached from every
 *    instruction of its range.  The deepest point is the stack size.
 * 4. From 3.12 on LOAD_FAST does not check: every path to it must have bound the local. */
#include "frontend/cpython/verify_code.h"

#include "frontend/cpython/compat.h"
#include "frontend/cpython/stretch.h"
#if PY_VERSION_HEX >= 0x030c0000
#define Py_BUILD_CORE 1
#include "internal/pycore_intrinsics.h"
#endif

enum { UNREACHED = -1 };

struct verifier {
    struct jy_code *code;
    int *order;   /* place in the list by id */
    int *handler; /* index of the handler that covers it, by id; -1 */
    int *work;    /* ids to visit, each at most once at a time */
    bool *is_waiting;
    bool *gives_back; /* by id: it never raises, see mark_giving_back */
    int nwork;
    int max_depth;
    uint64_t *bound; /* by id: which locals are certainly bound before it */
    uint64_t *all;   /* every local */
    int nwords;      /* 64-bit words of one such set */
};

static jy_status
refuse(struct jy_code *code, int id, const char *what)
{
    const struct jy_instr *instr = jy_code_at(code, id);
    code->c_error =
        jy_arena_printf(code->c_arena, "%s %d (instruction %d, unit %d, line %d): %s", jy_instr_opname(instr->i_op),
                        instr->i_arg, id, instr->i_offset, instr->i_position.line, what);
    return JY_BREAK;
}

/* ---- 1. arguments ---- */

static unsigned
kind_of_local(const struct jy_code *code, int index)
{
    int nnew = code->c_nlocals - code->c_origin->co_nlocals;
    if (index >= code->c_nlocals)
        return jy_compat_local_kind(code->c_origin, index - nnew);
    return index < code->c_origin->co_nlocals ? jy_compat_local_kind(code->c_origin, index) : JY_LOCAL_FAST;
}

static bool
is_between(int arg, int low, int high)
{
    return arg >= low && arg <= high;
}

/* Arguments that the interpreter uses as an index, or trusts, without looking. */
static bool
is_raw_arg_legal(const struct jy_code *code, int op, int arg)
{
    switch (op) {
    case COPY:
    case SWAP:
        return arg >= 1;
    case BUILD_SLICE:
        return is_between(arg, 2, 3);
    case RAISE_VARARGS:
        return is_between(arg, 0, 2);
    case BINARY_OP:
        return is_between(arg, NB_ADD, NB_INPLACE_XOR);
    case IS_OP:
    case CONTAINS_OP:
    case CALL_FUNCTION_EX:
    case RERAISE:
        return is_between(arg, 0, op == RERAISE ? 2 : 1);
    case COPY_FREE_VARS:
        return arg == code->c_origin->co_nfreevars;
#ifdef FORMAT_VALUE
    case FORMAT_VALUE:
        return is_between(arg, 0, 7);
#endif
#ifdef CONVERT_VALUE
    case CONVERT_VALUE:
        return is_between(arg, 1, 3);
    case SET_FUNCTION_ATTRIBUTE:
        return arg == 1 || arg == 2 || arg == 4 || arg == 8;
#else
    case MAKE_FUNCTION:
        return is_between(arg, 0, 15);
#endif
#ifdef MAX_INTRINSIC_1
    case CALL_INTRINSIC_1:
        return is_between(arg, 1, MAX_INTRINSIC_1);
    case CALL_INTRINSIC_2:
        return is_between(arg, 1, MAX_INTRINSIC_2);
#endif
    default:
        return true;
    }
}

static Py_ssize_t
count_of(PyObject *list, PyObject *tuple)
{
    return list != NULL ? PyList_GET_SIZE(list) : PyTuple_GET_SIZE(tuple);
}

static jy_status
check_arg(struct jy_code *code, int id)
{
    const struct jy_instr *instr = jy_code_at(code, id);
    int arg = instr->i_arg;
    if (!jy_instr_is_known(instr->i_op))
        return refuse(code, id, "unknown opcode");
    if (arg < 0 || !is_raw_arg_legal(code, instr->i_op, arg))
        return refuse(code, id, "argument out of range");
    switch (jy_instr_argkind(instr->i_op)) {
    case JY_ARG_CONST:
        if (arg >= count_of(code->c_consts, code->c_origin->co_consts))
            return refuse(code, id, "no such constant");
#ifdef KW_NAMES
        if (instr->i_op == KW_NAMES && !PyTuple_CheckExact(jy_code_const(code, arg)))
            return refuse(code, id, "not a tuple of names");
#endif
        return JY_OK;
    case JY_ARG_NAME:
    case JY_ARG_NAME1:
    case JY_ARG_NAME2:
        if (jy_instr_name_index(instr) >= count_of(code->c_names, code->c_origin->co_names))
            return refuse(code, id, "no such name");
        return JY_OK;
    case JY_ARG_LOCAL: /* a cell may be meant: 3.13 loads it for a closure, 3.12's comprehensions save it */
        return arg < code->c_nlocalsplus ? JY_OK : refuse(code, id, "no such local");
    case JY_ARG_LOCAL2:
        if (arg > 0xff || (arg >> 4) >= code->c_nlocalsplus || (arg & 15) >= code->c_nlocalsplus)
            return refuse(code, id, "no such local");
        return JY_OK;
    case JY_ARG_DEREF:
        if (instr->i_op == MAKE_CELL && instr->i_offset < 0 && arg < code->c_nlocalsplus)
            return JY_OK; /* how a frame is left with a local that may be unbound */
        if (arg >= code->c_nlocalsplus || (kind_of_local(code, arg) & (JY_LOCAL_CELL | JY_LOCAL_FREE)) == 0)
            return refuse(code, id, "neither a cell nor a free variable");
        return JY_OK;
    case JY_ARG_COMPARE:
        return is_between(jy_instr_compare(instr), Py_LT, Py_GE) ? JY_OK : refuse(code, id, "no such comparison");
    case JY_ARG_JUMP_FWD:
    case JY_ARG_JUMP_BACK:
        return jy_code_live(code, instr->i_target) != JY_NO_INSTR ? JY_OK : refuse(code, id, "jumps nowhere");
    case JY_ARG_NONE:
    case JY_ARG_BINOP:
    case JY_ARG_COUNT:
    case JY_ARG_RAW:
    case JY_ARG_INTERNAL:
        break;
    }
    return JY_OK;
}

/* A loop that is finished continues behind the END_FOR (3.13: and the POP_TOP) at its target, without looking. */
static jy_status
check_for_iter(struct jy_code *code, int id)
{
#if PY_VERSION_HEX >= 0x030c0000
    if (jy_code_at(code, id)->i_op != FOR_ITER)
        return JY_OK;
    int target = jy_code_live(code, jy_code_at(code, id)->i_target);
    if (jy_code_at(code, target)->i_op != END_FOR)
        return refuse(code, id, "its target is no END_FOR");
#if PY_VERSION_HEX >= 0x030d0000
    int next = jy_code_next(code, target);
    if (next == JY_NO_INSTR || jy_code_at(code, next)->i_op != POP_TOP)
        return refuse(code, id, "no POP_TOP behind the END_FOR at its target");
#endif
#else
    (void)code, (void)id;
#endif
    return JY_OK;
}

/* ---- 2. the exception table ---- */

/* A comprehension takes the locals of its names away and gives them back, also when it fails. Nothing raises where one is missing and a try around the whole is what protects the
 * code, so to that one's handler they are bound as before. */
static void
mark_giving_back(struct verifier *v, int id)
{
    for (id = jy_code_live(v->code, id); id != JY_NO_INSTR; id = jy_code_next(v->code, id)) {
        switch (jy_code_at(v->code, id)->i_op) {
#ifdef LOAD_FAST_AND_CLEAR
        case LOAD_FAST_AND_CLEAR:
        case END_FOR:
#endif
#ifdef STORE_FAST_STORE_FAST
        case STORE_FAST_STORE_FAST:
#endif
        case SWAP:
        case POP_TOP:
        case STORE_FAST:
            v->gives_back[id] = true;
            break;
        default:
            if (jy_code_at(v->code, id)->i_id !=
                JY_NO_INSTR) /* what is inserted under a handler asks whether to leave */
                return;
            v->gives_back[id] = true;
        }
    }
}

static void
mark_comprehension(struct verifier *v, int id)
{
#ifdef LOAD_FAST_AND_CLEAR
    int op = jy_code_at(v->code, id)->i_op;
    if ((op == LOAD_FAST_AND_CLEAR || op == END_FOR) && !v->gives_back[id])
        mark_giving_back(v, id);
#else
    (void)v, (void)id;
#endif
}

static jy_status
check_handlers(struct verifier *v)
{
    struct jy_code *code = v->code;
    int last_end = 0; /* in list order */
    for (size_t i = 0; i < code->c_handlers.n; i++) {
        const struct jy_handler *h = &code->c_handlers.at[i];
        int end = h->h_end == JY_NO_INSTR ? v->order[code->c_last] + 1 : v->order[h->h_end];
        if (v->order[h->h_start] < last_end || end < v->order[h->h_start])
            return refuse(code, h->h_start, "exception ranges overlap or are out of order");
        if (jy_code_live(code, h->h_handler) == JY_NO_INSTR)
            return refuse(code, h->h_start, "its exception handler is gone");
        last_end = end;
        mark_giving_back(v, h->h_handler);
        for (int id = h->h_start; id != h->h_end; id = jy_code_at(code, id)->i_next)
            v->handler[id] = (int)i;
    }
    return JY_OK;
}

/* ---- 3. the stack, 4. bound locals ---- */

static uint64_t *
bound_at(const struct verifier *v, int id)
{
    return v->bound + (size_t)id * (size_t)v->nwords;
}

static void
set_bound(uint64_t *set, int local, bool bound)
{
    uint64_t bit = UINT64_C(1) << (local & 63);
    set[local >> 6] = bound ? set[local >> 6] | bit : set[local >> 6] & ~bit;
}

/* What the instruction does to a set of bound locals; false: it loads one that may be unbound. */
static bool
apply_to_bound(const struct verifier *v, const struct jy_instr *instr, uint64_t *set)
{
    struct jy_instr parts[2];
    if (jy_instr_split(instr, parts))
        return apply_to_bound(v, &parts[0], set) && apply_to_bound(v, &parts[1], set);
    int arg = instr->i_arg;
    switch (instr->i_op) {
#if PY_VERSION_HEX >= 0x030c0000
    case LOAD_FAST:
        return (set[arg >> 6] >> (arg & 63) & 1) != 0;
    case LOAD_FAST_AND_CLEAR:
        set_bound(set, arg, false);
        return true;
    case LOAD_FAST_CHECK:
#endif
    case STORE_FAST:
    case MAKE_CELL:
        set_bound(set, arg, true);
        return true;
    case DELETE_FAST:
        set_bound(set, arg, false);
        return true;
    case COPY_FREE_VARS:
        for (int i = v->code->c_nlocalsplus - arg; i < v->code->c_nlocalsplus; i++)
            set_bound(set, i, true);
        return true;
    default:
        return true;
    }
}

/* Control reaches `id` with `depth` items and at least these locals bound. */
static jy_status
reach(struct verifier *v, int from, int id, int depth, const uint64_t *set)
{
    struct jy_code *code = v->code;
    id = jy_code_live(code, id);
    if (id == JY_NO_INSTR)
        return refuse(code, from, "runs off the end");
    struct jy_instr *to = jy_code_at(code, id);
    uint64_t *here = bound_at(v, id);
    bool changed = to->i_depth == UNREACHED;
    if (changed) {
        to->i_depth = depth;
        memcpy(here, set, sizeof *set * (size_t)v->nwords);
    } else if (to->i_depth != depth) {
        return refuse(code, id,
                      jy_arena_printf(code->c_arena, "reached with %d and with %d items on the stack (from %d)",
                                      to->i_depth, depth, from));
    }
    for (int i = 0; i < v->nwords; i++) {
        changed |= (here[i] & ~set[i]) != 0;
        here[i] &= set[i];
    }
    v->max_depth = depth > v->max_depth ? depth : v->max_depth;
    if (changed && !v->is_waiting[id]) {
        v->is_waiting[id] = true;
        v->work[v->nwork++] = id;
    }
    return JY_OK;
}

static jy_status
visit(struct verifier *v, int id, uint64_t *set)
{
    struct jy_code *code = v->code;
    const struct jy_instr *instr = jy_code_at(code, id);
    int op = instr->i_op, arg = instr->i_arg, depth = instr->i_depth, pops = jy_instr_pops(op, arg);
    if (depth < pops)
        return refuse(code, id, jy_arena_printf(code->c_arena, "needs %d items, the stack holds %d", pops, depth));
    memcpy(set, bound_at(v, id), sizeof *set * (size_t)v->nwords);
    const struct jy_handler *h = v->handler[id] < 0 ? NULL : &code->c_handlers.at[v->handler[id]];
    if (h != NULL && depth < h->h_depth)
        return refuse(
            code, id,
            jy_arena_printf(code->c_arena, "its handler unwinds to %d items, the stack holds %d", h->h_depth, depth));
    if (h != NULL)
        TRY(reach(v, id, h->h_handler, h->h_depth + h->h_lasti + 1, v->gives_back[id] ? v->all : set));
    if (instr->i_span > 1 ? !jy_stretch_apply(code, instr, set) : !apply_to_bound(v, instr, set))
        return refuse(code, id, "loads a local that may be unbound");
    if (h != NULL &&
        !v->gives_back[id]) /* a store may have happened when the next unit raises, a delete when this one does */
        TRY(reach(v, id, h->h_handler, h->h_depth + h->h_lasti + 1, set));
    if (jy_instr_is_jump(op))
        TRY(reach(v, id, instr->i_target, depth - pops + jy_instr_pushes(op, arg, true), set));
    if (jy_instr_falls_through(op))
        TRY(reach(v, id, instr->i_next, depth - pops + jy_instr_pushes(op, arg, false), set));
    return JY_OK;
}

/* Parameters are bound at entry, cells and free variables are not made yet. */
static void
fill_entry_set(const struct verifier *v, uint64_t *set)
{
    const PyCodeObject *co = v->code->c_origin;
    int nparams = co->co_argcount + co->co_kwonlyargcount;
    nparams += ((co->co_flags & CO_VARARGS) != 0) + ((co->co_flags & CO_VARKEYWORDS) != 0);
    if (v->code->c_one_parameter)
        nparams = 1;
    memset(set, 0, sizeof *set * (size_t)v->nwords);
    for (int i = 0; i < nparams; i++)
        set_bound(set, i, true);
}

static jy_status
check_flow(struct verifier *v)
{
    struct jy_code *code = v->code;
    uint64_t *set = JY_NEW_ARRAY(code->c_arena, uint64_t, v->nwords);
    fill_entry_set(v, set);
    TRY(reach(v, code->c_first, code->c_first, 0, set));
    while (v->nwork > 0) {
        int id = v->work[--v->nwork];
        v->is_waiting[id] = false;
        TRY(visit(v, id, set));
    }
    return JY_OK;
}

jy_status
jy_verify_code_bound(struct jy_code *code, uint64_t **bound, size_t *nwords)
{
    struct jy_arena *arena = code->c_arena;
    size_t n = code->c_instrs.n;
    struct verifier v = {
        .code = code,
        .order = JY_NEW_ARRAY(arena, int, n),
        .handler = JY_NEW_ARRAY(arena, int, n),
        .work = JY_NEW_ARRAY(arena, int, n),
        .is_waiting = JY_NEW_ARRAY(arena, bool, n),
        .gives_back = JY_NEW_ARRAY(arena, bool, n),
        .nwords = (code->c_nlocalsplus + 63) / 64,
    };
    v.bound = JY_NEW_ARRAY(arena, uint64_t, n *(size_t)v.nwords);
    v.all = JY_NEW_ARRAY(arena, uint64_t, v.nwords);
    memset(v.all, 0xff, sizeof *v.all * (size_t)v.nwords);
    int place = 0;
    for (int id = code->c_first; id != JY_NO_INSTR; id = jy_code_at(code, id)->i_next) {
        v.order[id] = place++;
        v.handler[id] = -1;
        jy_code_at(code, id)->i_depth = UNREACHED;
    }
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        TRY(check_arg(code, id));
        TRY(check_for_iter(code, id));
        mark_comprehension(&v, id);
    }
    TRY(check_handlers(&v));
    TRY(check_flow(&v));
    code->c_stacksize = v.max_depth;
    *bound = v.bound;
    *nwords = (size_t)v.nwords;
    return JY_OK;
}

jy_status
jy_verify_code(struct jy_code *code)
{
    uint64_t *bound;
    size_t nwords;
    return jy_verify_code_bound(code, &bound, &nwords);
}
