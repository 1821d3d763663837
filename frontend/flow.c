/* Versions of blocks, the edges between them, and the work list: from a start, along all ways, until no new vector of kinds appears. */
#include "frontend/flow.h"

#include <string.h>

enum { MAX_VERSIONS = 8, MAX_VALUES = 20000, MAX_BUILDS = 40 }; /* taste: per instruction; per flow; of one flow */

/* ---- frames ---- */

struct jy_vframe *
jy_vb_copy(struct jy_vbuild *b, const struct jy_vframe *frame)
{
    struct jy_vframe *copy = jy_arena_copy(b->arena, frame, sizeof *frame);
    copy->locals = jy_arena_copy(b->arena, frame->locals, (frame->nlocals + 1) * sizeof *frame->locals);
    copy->stack = JY_NEW_ARRAY(b->arena, struct jy_val *, frame->f->f_stacksize + 2);
    memcpy(copy->stack, frame->stack, frame->depth * sizeof *frame->stack);
    return copy;
}

/* Objects that exits make anew, and which the program can tell from others of equal parts (`v is w`, a view's attributes). Two places of a frame that hold one hold it in every version. */
static bool
has_identity(const struct jy_val *v)
{
    return v->input == 0 &&
           (v->kind == JY_K_ARRAY || (v->kind == JY_K_TUPLE && v->nparts != 0) || v->kind == JY_K_RANGE);
}

struct met {
    const struct jy_val **at;
    struct jy_val **as; /* what each became */
    size_t n, cap;
};

/* Index of the value among those with an identity that have been met before; n: none. */
static size_t
met_before(const struct met *met, const struct jy_val *v)
{
    size_t k = 0;
    while (k < met->n && met->at[k] != v)
        k++;
    return k;
}

static void
meet(struct met *met, struct jy_vbuild *b, const struct jy_val *v, struct jy_val *as)
{
    if (met->n == met->cap) {
        size_t cap = met->cap == 0 ? 8 : 2 * met->cap;
        const struct jy_val **at = JY_NEW_ARRAY(b->arena, const struct jy_val *, cap);
        struct jy_val **others = JY_NEW_ARRAY(b->arena, struct jy_val *, cap);
        for (size_t k = 0; k < met->n; k++) {
            at[k] = met->at[k];
            others[k] = met->as[k];
        }
        met->at = at;
        met->as = others;
        met->cap = cap;
    }
    met->at[met->n] = v;
    met->as[met->n++] = as;
}

/* Of values of the same kinds: is the same one met again in the same places? */
static bool
shares_alike(struct met *a, struct met *b, struct jy_vbuild *build, const struct jy_val *x, const struct jy_val *y)
{
    if (has_identity(x)) {
        size_t k = met_before(a, x);
        if (k != met_before(b, y))
            return false;
        if (k < a->n)
            return true;
        meet(a, build, x, NULL);
        meet(b, build, y, NULL);
    }
    for (size_t i = 0; i < x->nparts; i++)
        if (!shares_alike(a, b, build, x->parts[i], y->parts[i]))
            return false;
    return true;
}

static bool
same_sharing(struct jy_vbuild *build, const struct jy_vframe *x, const struct jy_vframe *y)
{
    struct met a = { 0 }, b = { 0 };
    for (; x != NULL && x != y; x = x->back, y = y->back) {
        for (size_t i = 0; i < x->nlocals; i++)
            if (!shares_alike(&a, &b, build, x->locals[i], y->locals[i]))
                return false;
        for (size_t i = 0; i < x->depth; i++)
            if (!shares_alike(&a, &b, build, x->stack[i], y->stack[i]))
                return false;
    }
    return true;
}

static bool
same_values(struct jy_val *const *a, struct jy_val *const *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!jy_val_same_kind(a[i], b[i]))
            return false;
    return true;
}

static bool
same_frame(const struct jy_vframe *a, const struct jy_vframe *b)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->pc != b->pc || a->depth != b->depth || a->nlocals != b->nlocals ||
        a->f->f_code != b->f->f_code || a->f->f_function != b->f->f_function || a->back_items != b->back_items ||
        a->call != b->call)
        return false;
    return same_values(a->locals, b->locals, a->nlocals) && same_values(a->stack, b->stack, a->depth) &&
           same_frame(a->back, b->back);
}

/* ---- registers of a frame, in one order ---- */

struct registers {
    jy_fv *at;
    size_t n, cap;
};

static void
collect_value(struct registers *out, struct met *met, struct jy_vbuild *b, const struct jy_val *v)
{
    if (has_identity(v)) {
        if (met_before(met, v) < met->n)
            return;
        meet(met, b, v, NULL);
    }
    for (size_t i = 0; i < v->nregs; i++)
        *jy_vec_push(b->arena, out) = v->regs[i];
    for (size_t i = 0; i < v->nparts; i++)
        collect_value(out, met, b, v->parts[i]);
}

static void
collect_frame(struct registers *out, struct jy_vbuild *b, const struct jy_vframe *frame)
{
    struct met met = { 0 };
    for (; frame != NULL; frame = frame->back) {
        for (size_t i = 0; i < frame->nlocals; i++)
            collect_value(out, &met, b, frame->locals[i]);
        for (size_t i = 0; i < frame->depth; i++)
            collect_value(out, &met, b, frame->stack[i]);
    }
}

/* The value with parameters of the block for its registers. */
static struct jy_val *
with_parameters(struct jy_vbuild *b, struct met *met, const struct jy_val *v, jy_fb block)
{
    if (v->nregs == 0 && v->nparts == 0)
        return (struct jy_val *)(uintptr_t)v;
    size_t k = has_identity(v) ? met_before(met, v) : met->n;
    if (k < met->n)
        return met->as[k];
    struct jy_val *copy = jy_arena_copy(b->arena, v, sizeof *v);
    if (has_identity(v))
        meet(met, b, v, copy);
    copy->regs = JY_NEW_ARRAY(b->arena, jy_fv, v->nregs + 1);
    copy->parts = JY_NEW_ARRAY(b->arena, struct jy_val *, v->nparts + 1);
    for (size_t i = 0; i < v->nregs; i++)
        copy->regs[i] = jy_flow_param(b->w, block, jy_val_type(v, i));
    for (size_t i = 0; i < v->nparts; i++)
        copy->parts[i] = with_parameters(b, met, v->parts[i], block);
    return copy;
}

static struct jy_vframe *
parametrised(struct jy_vbuild *b, struct met *met, const struct jy_vframe *frame, jy_fb block)
{
    struct jy_vframe *copy = jy_vb_copy(b, frame);
    for (size_t i = 0; i < copy->nlocals; i++)
        copy->locals[i] = with_parameters(b, met, copy->locals[i], block);
    for (size_t i = 0; i < copy->depth; i++)
        copy->stack[i] = with_parameters(b, met, copy->stack[i], block);
    if (copy->back != NULL)
        copy->back = parametrised(b, met, copy->back, block);
    return copy;
}

/* ---- versions ---- */

struct jy_vcode *
jy_vb_code(struct jy_vbuild *b, const struct jy_code *code)
{
    for (size_t i = 0; i < b->codes.n; i++)
        if (b->codes.at[i].code == code)
            return &b->codes.at[i];
    struct jy_vcode *c = jy_vec_push(b->arena, &b->codes);
    size_t n = code->c_instrs.n;
    c->code = code;
    c->versions = JY_NEW_ARRAY(b->arena, struct jy_version *, n);
    c->nversions = JY_NEW_ARRAY(b->arena, uint8_t, n);
    c->is_leader = JY_NEW_ARRAY(b->arena, bool, n);
    for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id))
        if (jy_instr_is_jump(jy_code_at(code, id)->i_op))
            c->is_leader[jy_code_live(code, jy_code_at(code, id)->i_target)] = true;
    return c;
}

static uint32_t
line_of(const struct jy_vframe *frame)
{
    int line = jy_code_at(frame->f->f_instrs, frame->pc)->i_position.line;
    return line > 0 ? (uint32_t)line : 0;
}

/* NULL: too many. */
static struct jy_version *
version_of(struct jy_vbuild *b, const struct jy_vframe *frame)
{
    struct jy_vcode *c = jy_vb_code(b, frame->f->f_instrs);
    for (struct jy_version *v = c->versions[frame->pc]; v != NULL; v = v->next)
        if (same_frame(v->frame, frame) && same_sharing(b, v->frame, frame))
            return v;
    for (struct jy_version *v = c->versions[frame->pc]; v != NULL && !b->again; v = v->next)
        b->again = b->may_again && jy_vmaybe_learn(b, v->frame, frame);
    if (c->nversions[frame->pc] >= MAX_VERSIONS)
        return NULL;
    c->nversions[frame->pc]++;
    struct jy_version *v = JY_NEW(b->arena, struct jy_version);
    v->block = jy_flow_block(b->w);
    b->w->w_blocks.at[v->block].f_offset = (uint32_t)jy_code_at(frame->f->f_instrs, frame->pc)->i_offset;
    b->w->w_blocks.at[v->block].f_line = line_of(frame);
    b->w->w_blocks.at[v->block].f_loop = jy_vsource_loop(b, frame);
    struct met met = { 0 };
    v->frame = parametrised(b, &met, frame, v->block);
    v->next = c->versions[frame->pc];
    c->versions[frame->pc] = v;
    *jy_vec_push(b->arena, &b->work) = v;
    return v;
}

static void
note_stop(struct jy_vbuild *b, const char *why, uint32_t line)
{
    if (b->first_stop == NULL) {
        b->first_stop = why;
        b->first_stop_line = line;
    }
}

/* A block that leaves to the instruction of the frame; only for one edge from the present block. */
static jy_fb
leaving_block(struct jy_vbuild *b, struct jy_vframe *frame, const char *why)
{
    struct jy_vframe *snap = b->snap;
    uint32_t exits[JY_EXIT_RETURN + 1];
    memcpy(exits, b->exits, sizeof exits);
    memset(b->exits, 0, sizeof b->exits);
    b->snap = frame;
    jy_fb block = jy_flow_block(b->w);
    jy_flow_leave(b->w, block, jy_vb_exit(b, JY_EXIT_STOP, why));
    note_stop(b, why, line_of(frame));
    b->snap = snap;
    memcpy(b->exits, exits, sizeof exits);
    return block;
}

static jy_fb
edge_to(struct jy_vbuild *b, struct jy_vframe *frame, struct registers *args)
{
    jy_vmaybe_frame(b, frame);
    struct jy_version *v = version_of(b, frame);
    if (v == NULL)
        return leaving_block(b, frame, "too many combinations of types");
    collect_frame(args, b, frame);
    return v->block;
}

void
jy_vb_goto(struct jy_vbuild *b, struct jy_vframe *frame)
{
    struct registers args = { 0 };
    jy_fb to = edge_to(b, frame, &args);
    jy_flow_jump(b->w, b->block, to, args.n, args.at);
    b->ended = true;
}

void
jy_vb_branch(struct jy_vbuild *b, jy_fv condition, struct jy_vframe *yes, struct jy_vframe *no)
{
    int64_t known;
    if (jy_vconst(b, condition, &known)) {
        jy_vb_goto(b, known != 0 ? yes : no);
        return;
    }
    struct registers yes_args = { 0 }, no_args = { 0 };
    jy_fb to_yes = edge_to(b, yes, &yes_args), to_no = edge_to(b, no, &no_args);
    jy_flow_branch(b->w, b->block, condition, to_yes, yes_args.n, yes_args.at, to_no, no_args.n, no_args.at);
    b->ended = true;
}

/* ---- one version ---- */

/* Does the instruction take a whole array? Graphs are for that. */
static bool
takes_array(const struct jy_vframe *frame, int id)
{
    const struct jy_instr *instr = jy_code_at(frame->f->f_instrs, id);
    size_t pops = (size_t)jy_instr_pops(instr->i_op, instr->i_arg);
    for (size_t k = 1; k <= pops && k <= frame->depth; k++) {
        const struct jy_val *v = frame->stack[frame->depth - k];
        if (v->kind == JY_K_ARRAY || (v->kind == JY_K_METHOD && v->parts[0]->kind == JY_K_ARRAY))
            return true;
    }
    return false;
}

static void
note_array_stop(struct jy_vbuild *b)
{
    const struct jy_vframe *root = b->snap;
    if (!takes_array(b->snap, b->snap->f->f_pc))
        return;
    while (root->back != NULL)
        root = root->back;
    *jy_vec_push(b->arena, &b->array_stops) = root->pc;
}

static void
stop(struct jy_vbuild *b)
{
    note_array_stop(b);
    const char *why = b->why != NULL ? b->why : b->t->unit->u_break.detail;
    if (why == NULL)
        why = "an instruction that loops do not have";
    note_stop(b, why, line_of(b->snap));
    jy_flow_leave(b->w, b->block, jy_vb_exit(b, JY_EXIT_STOP, why));
    b->ended = true;
}

/* Begun again when there is news of the functions that it calls. */
static void
wait(struct jy_vbuild *b, struct jy_version *version)
{
    b->waits = false;
    b->w->w_blocks.at[version->block].f_body.n = 0;
    *jy_vec_push(b->arena, &b->waiting) = version;
    b->ended = true;
}

static jy_status
run(struct jy_vbuild *b, struct jy_version *version)
{
    version->started = true;
    b->frame = jy_vb_copy(b, version->frame);
    b->block = version->block;
    b->ended = false;
    b->made = JY_NO_FV;
    bool in_group = false; /* behind a prefix: before it the interpreter goes on */
    while (!b->ended) {
        struct jy_frame *f = b->frame->f;
        const struct jy_instr *instr = jy_code_at(f->f_instrs, b->frame->pc);
        if (!in_group) {
            b->snap = jy_vb_copy(b, b->frame);
            memset(b->exits, 0, sizeof b->exits);
        }
        in_group = jy_instr_is_prefix(instr->i_op);
        b->why = NULL;
        f->f_pc = b->frame->pc;
        b->t->graph->g_line = b->w->w_line = line_of(b->frame);
        jy_vsource_stamp(b, b->frame);
        b->frame->pc = jy_code_next(f->f_instrs, b->frame->pc);
        b->fresh = b->made;
        b->made = JY_NO_FV;
        jy_status status = jy_vstep(b, instr);
        if (status == JY_ERROR || status == JY_NOMEM)
            return status;
        if (b->again)
            return JY_OK;
        if (status == JY_BREAK && b->waits)
            wait(b, version);
        else if (status == JY_BREAK)
            stop(b);
        else if (!b->ended && jy_vb_code(b, b->frame->f->f_instrs)->is_leader[b->frame->pc])
            jy_vb_goto(b, b->frame);
        if (b->w->w_values.n > MAX_VALUES)
            return jy_break(f, JY_BREAK_LOOP_TOO_LONG, "more than %d values", MAX_VALUES);
    }
    return JY_OK;
}

/* ---- what came of it ---- */

struct cycles { /* Tarjan's strongly connected components, without recursion */
    const struct jy_flow *w;
    uint32_t *number, *low; /* by block; number 0: not visited */
    bool *on_stack, *is_cyclic;
    jy_fb *stack, *way;
    uint8_t *edge; /* by block: the next to follow */
    size_t nstack, nway;
    uint32_t next;
};

static void
enter_block(struct cycles *c, jy_fb block)
{
    c->number[block] = c->low[block] = ++c->next;
    c->on_stack[block] = true;
    c->stack[c->nstack++] = c->way[c->nway++] = block;
}

static void
leave_block(struct cycles *c, jy_fb block)
{
    c->nway--;
    if (c->nway != 0 && c->low[block] < c->low[c->way[c->nway - 1]])
        c->low[c->way[c->nway - 1]] = c->low[block];
    if (c->low[block] != c->number[block])
        return;
    bool several = c->stack[c->nstack - 1] != block;
    jy_fb member;
    do {
        member = c->stack[--c->nstack];
        c->on_stack[member] = false;
        c->is_cyclic[member] |= several;
    } while (member != block);
}

static void
follow_edge(struct cycles *c, jy_fb from, jy_fb to)
{
    if (c->number[to] == 0)
        enter_block(c, to);
    else if (c->on_stack[to] && c->number[to] < c->low[from])
        c->low[from] = c->number[to];
    c->is_cyclic[from] |= to == from;
}

/* Which blocks the flow goes round. */
static const bool *
find_cycles(struct jy_vbuild *b)
{
    size_t n = b->w->w_blocks.n;
    struct cycles c = { .w = b->w };
    c.number = JY_NEW_ARRAY(b->arena, uint32_t, n);
    c.low = JY_NEW_ARRAY(b->arena, uint32_t, n);
    c.on_stack = JY_NEW_ARRAY(b->arena, bool, n);
    c.is_cyclic = JY_NEW_ARRAY(b->arena, bool, n);
    c.stack = JY_NEW_ARRAY(b->arena, jy_fb, n);
    c.way = JY_NEW_ARRAY(b->arena, jy_fb, n);
    c.edge = JY_NEW_ARRAY(b->arena, uint8_t, n);
    enter_block(&c, 0);
    while (c.nway != 0) {
        jy_fb at = c.way[c.nway - 1];
        const struct jy_fblock *block = &b->w->w_blocks.at[at];
        uint8_t edges = block->f_end == JY_END_EXIT ? 0 : block->f_end == JY_END_JUMP ? 1 : 2;
        if (c.edge[at] < edges)
            follow_edge(&c, at, block->f_edge[c.edge[at]++].to);
        else
            leave_block(&c, at);
    }
    return c.is_cyclic;
}

/* The last instruction that jumps back to the head; JY_NO_INSTR: it is none. */
static int
end_of_loop(const struct jy_code *code, int head)
{
    int last = JY_NO_INSTR;
    for (int id = head; id != JY_NO_INSTR; id = jy_code_next(code, id)) {
        const struct jy_instr *instr = jy_code_at(code, id);
        if (jy_instr_is_jump(instr->i_op) && jy_code_live(code, instr->i_target) == head)
            last = id;
    }
    return last;
}

static bool
stops_for_arrays(const struct jy_vbuild *b, const struct jy_code *code, int head, int last)
{
    int from = jy_code_at(code, head)->i_offset, to = jy_code_at(code, last)->i_offset;
    for (size_t k = 0; k < b->array_stops.n; k++) {
        int offset = jy_code_at(code, b->array_stops.at[k])->i_offset;
        if (offset >= from && offset <= to)
            return true;
    }
    return false;
}

/* Of the loop that the flow begins in. */
static bool
has_few_rounds(PyObject *iterator)
{
    if (!(Py_IS_TYPE(iterator, &PyRangeIter_Type) || Py_IS_TYPE(iterator, &PyListIter_Type) ||
          Py_IS_TYPE(iterator, &PyTupleIter_Type) || Py_IS_TYPE(iterator, &PySeqIter_Type)))
        return false;
    Py_ssize_t rounds = PyObject_LengthHint(iterator, PY_SSIZE_T_MAX);
    if (rounds < 0)
        PyErr_Clear();
    return rounds >= 0 && rounds <= JY_FEW_ROUNDS;
}

/* A single loop of few rounds, about whole arrays: a graph of all rounds makes one pass of them. */
static bool
is_for_a_graph(const struct jy_vbuild *b, const struct jy_frame *root, uint32_t loops)
{
    if (loops != 1 || b->vector_block == JY_NO_FV || b->many_rounds || b->writes_long)
        return false;
    const struct jy_value *top = root->f_depth != 0 ? root->f_stack[root->f_depth - 1] : NULL;
    return b->few_rounds || (top != NULL && top->v_object != NULL && has_few_rounds(top->v_object));
}

/* How many loops it goes round; 0 where one of them does something with whole arrays, or where the first that it comes to is not one of them: then nothing is gained by a flow from here, and inner loops begin flows of their own. */
static uint32_t
count_loops(struct jy_vbuild *b)
{
    const bool *is_cyclic = find_cycles(b);
    uint32_t loops = 0;
    int first = JY_NO_INSTR;
    bool first_goes_round = false;
    for (size_t k = 0; k < b->codes.n; k++) {
        const struct jy_code *code = b->codes.at[k].code;
        for (int id = jy_code_begin(code); id != JY_NO_INSTR; id = jy_code_next(code, id)) {
            const struct jy_version *v = b->codes.at[k].versions[id];
            bool cyclic = false;
            int last = v != NULL ? end_of_loop(code, id) : JY_NO_INSTR;
            if (last == JY_NO_INSTR)
                continue;
            bool is_root = v->frame->back == NULL;
            for (; v != NULL; v = v->next)
                cyclic |= is_cyclic[v->block];
            if (is_root && cyclic && stops_for_arrays(b, code, id, last))
                return 0;
            loops += cyclic;
            if (is_root && first == JY_NO_INSTR) {
                first = id;
                first_goes_round = cyclic;
            }
        }
    }
    return first == JY_NO_INSTR || first_goes_round ? loops : 0;
}

/* A number that is still the one that came in is that very object. */
static void
restore_identity(struct jy_vbuild *b, struct jy_flow_exit *exit, struct jy_box *box)
{
    if (box->how == JY_BOX_NUMBER) {
        const struct jy_fvalue *v = jy_flow_at(b->w, exit->x_values.at[box->value]);
        const struct jy_flow_input *in = v->f_op == JY_FLOW_INPUT ? &b->w->w_inputs.at[v->f_index] : NULL;
        const struct jy_input *of =
            in != NULL && in->kind == JY_FLOW_IN_NUMBER ? &b->t->unit->u_inputs.at[in->number] : NULL;
        if (of != NULL && of->kind == box->kind &&
            of->dtype == box->dtype) { /* float() of a numpy.float64 has its register */
            box->how = JY_BOX_INPUT;
            box->number = in->number;
        }
    }
    for (size_t i = 0; i < box->n; i++)
        restore_identity(b, exit, box->parts[i]);
}

/* Which memory stays as it was over a call: known when all alias numbers have been given. */
static void
fill_keeps(struct jy_vbuild *b)
{
    const struct {
        char letter;
        uint32_t alias;
    } classes[] = { { 'l', b->alias_list },
                    { 'r', b->alias_rows },
                    { 'i', b->alias_items },
                    { 'n', b->alias_number },
                    { 'c', b->alias_count },
                    { 'h', b->alias_native[JY_F_NONE] },
                    { 'm', b->alias_native[JY_F_I1] },
                    { 'm', b->alias_native[JY_F_I64] },
                    { 'm', b->alias_native[JY_F_F64] },
                    { 'm', b->alias_native[JY_F_PTR] },
                    { 't', b->alias_vectors },
                    { 't', b->alias_block } };
    for (size_t k = 0; k < b->w->w_helpers.n; k++) {
        struct jy_flow_helper *helper = &b->w->w_helpers.at[k];
        const char *changes = jy_flow_helper_changes(helper->name);
        if (*changes == '\0')
            continue;
        for (uint32_t alias = 0; alias <= b->w->w_nalias; alias++)
            helper->keeps |= UINT64_C(1) << alias;
        for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
            if (strchr(changes, classes[i].letter) != NULL)
                helper->keeps &= ~(UINT64_C(1) << classes[i].alias);
    }
}

static void
finish_part(struct jy_vbuild *b, struct jy_flow *w)
{
    b->w = w;
    jy_vmaybe_resolve(b);
    for (size_t k = 0; k < w->w_exits.n; k++) {
        struct jy_flow_exit *exit = &w->w_exits.at[k];
        size_t n = exit->x_boxes == NULL ? 0 : exit->x_kind == JY_EXIT_RETURN ? 1 : exit->x_depth + exit->x_nlocals;
        for (size_t i = 0; i < n; i++)
            restore_identity(b, exit, exit->x_boxes[i]);
        for (size_t f = 0; f < exit->x_ninner; f++)
            for (size_t i = 0; i < exit->x_inner[f].x_depth + exit->x_inner[f].x_nlocals; i++)
                restore_identity(b, exit, exit->x_inner[f].x_boxes[i]);
    }
    jy_flow_identity(w);
}

/* Arrays that share memory, or may, have one alias number: what one stores is what another loads. */
static void
merge_aliases(struct jy_vbuild *b)
{
    uint32_t *to = JY_NEW_ARRAY(b->arena, uint32_t, b->w->w_nalias + 1), common = 0;
    for (size_t k = 0; k < b->arrays.n; k++) {
        uint32_t alias = b->arrays.at[k]->alias;
        if (!b->arrays.at[k]->value->u.array.storage->mingled || alias == 0)
            continue;
        if (common == 0)
            common = alias;
        to[alias] = common;
        if (alias == common)
            continue;
        b->w->w_alias_shared |= UINT64_C(1) << common;
        b->w->w_alias[alias - 1] = JY_NO_FV;
        b->w->w_alias_written[common - 1] |= b->w->w_alias_written[alias - 1];
        b->w->w_alias_written[alias - 1] = false;
    }
    for (size_t v = 0; common != 0 && v < b->w->w_values.n; v++) {
        struct jy_fvalue *value = jy_flow_at(b->w, (jy_fv)v);
        if (value->f_alias <= b->w->w_nalias && to[value->f_alias] != 0)
            value->f_alias = (uint16_t)to[value->f_alias];
    }
}

/* Is it the question whether an axis of an input has elements? Gives the input. */
static struct jy_flow_input *
asks_for_elements(const struct jy_flow *w, const struct jy_fvalue *v)
{
    if (v->f_op != JY_FLOW_LT && v->f_op != JY_FLOW_GT)
        return NULL;
    const struct jy_fvalue *zero = jy_flow_at(w, v->f_args[v->f_op == JY_FLOW_LT ? 0 : 1]);
    const struct jy_fvalue *extent = jy_flow_at(w, v->f_args[v->f_op == JY_FLOW_LT ? 1 : 0]);
    bool is_zero = zero->f_op == JY_FLOW_CONST && zero->f_type == JY_F_I64 && zero->f_value.i == 0;
    struct jy_flow_input *in = extent->f_op == JY_FLOW_INPUT ? &w->w_inputs.at[extent->f_index] : NULL;
    return is_zero && in != NULL && in->kind == JY_FLOW_IN_EXTENT ? in : NULL;
}

/* A first round that stands by itself asks whether there is one. Where it is of an axis that has elements, that is guarded instead: the flow needs no way without the round then, on which variables
 * are of other kinds, or unbound. */
static void
guard_elements(struct jy_vbuild *b, struct jy_frame *root)
{
    for (jy_fb block = 0; block < b->w->w_blocks.n; block++) {
        const struct jy_fblock *at = &b->w->w_blocks.at[block];
        struct jy_flow_input *in =
            at->f_end == JY_END_BRANCH ? asks_for_elements(b->w, jy_flow_at(b->w, at->f_condition)) : NULL;
        for (size_t k = 0; in != NULL && k < b->arrays.n && !in->some; k++) {
            const struct jy_value *array = b->arrays.at[k]->value;
            if (b->arrays.at[k]->input == in->number && array != NULL && b->arrays.at[k]->about[in->axis] > 0)
                in->some = jy_guard_size(root, array->u.array.shape[in->axis], JY_GT, 0);
        }
    }
}

static struct jy_vbuild *
build_of(struct jy_vbuild *root, size_t k)
{
    return k == 0 ? root : root->functions.at[k - 1]->b;
}

static jy_status
finish(struct jy_vbuild *b, struct jy_frame *root)
{
    for (size_t k = 0; k <= b->functions.n; k++) {
        merge_aliases(build_of(b, k));
        fill_keeps(build_of(b, k));
    }
    struct jy_flow *w = b->w;
    bool is_function = b->t->request->as_function;
    w->w_loops = is_function ? b->recurses : count_loops(b);
    if (is_for_a_graph(b, root, w->w_loops))
        return jy_break(root, JY_BREAK_NO_LOOP, "a loop of few rounds over whole arrays");
    if (w->w_loops == 0) {
        jy_break(root, JY_BREAK_NO_LOOP, "%s", b->first_stop != NULL ? b->first_stop : "there is no loop");
        if (b->first_stop_line != 0)
            b->t->unit->u_break.line = b->first_stop_line;
        return JY_BREAK;
    }
    jy_flow_simplify(w);
    guard_elements(b, root);
    jy_vshort_axes(b, root);
    for (size_t k = w->w_functions.n + 1; k-- > 0;)
        finish_part(b, k == 0 ? w : w->w_functions.at[k - 1]);
    for (size_t k = 0; k < w->w_functions.n; k++)
        w->w_np_flags |= w->w_functions.at[k]->w_np_flags;
    jy_flow_report_begin(w);
    const char *wrong = jy_flow_verify(w);
    if (wrong != NULL)
        return jy_break(root, JY_BREAK_NO_LOOP, "a mistake of jitney's: %s", wrong);
    b->t->unit->u_flow = b->w;
    return JY_OK;
}

static uint32_t
new_alias(struct jy_flow *w)
{
    enum { ROOM = JY_FLOW_MOST_ALIASES };
    if (w->w_alias == NULL) {
        w->w_alias = JY_NEW_ARRAY(w->w_arena, uint32_t, ROOM);
        w->w_alias_written = JY_NEW_ARRAY(w->w_arena, bool, ROOM);
    }
    if (w->w_nalias >= ROOM)
        return 0;
    w->w_alias[w->w_nalias] = JY_NO_FV;
    return ++w->w_nalias;
}

uint32_t
jy_vb_new_alias(struct jy_vbuild *b)
{
    return new_alias(b->w);
}

uint32_t
jy_vb_own_alias(struct jy_vbuild *b)
{
    uint32_t alias = new_alias(b->w);
    if (alias != 0)
        b->w->w_alias_own |= UINT64_C(1) << alias;
    return alias;
}

static jy_status
fill_start(struct jy_vbuild *b, struct jy_vframe *frame, struct jy_frame *root)
{
    struct jy_val *unbound = jy_val_new(b, JY_K_UNBOUND, 0);
    for (size_t i = 0; i < frame->nlocals; i++) {
        struct jy_value *v = root->f_locals[i];
        frame->locals[i] = unbound;
        if (v != NULL)
            TRY(jy_vb_import_slot(b, &frame->locals[i], v, i));
    }
    for (size_t i = 0; i < root->f_depth; i++) {
        struct jy_value *v = root->f_stack[i];
        frame->stack[i] = unbound;
        if (v->v_kind == JY_V_HANDLED)
            return jy_break(root, JY_BREAK_NO_LOOP, "a loop in an exception handler");
        if (v->v_kind != JY_V_NULL)
            TRY(jy_vb_import_slot(b, &frame->stack[i], v, SIZE_MAX));
    }
    frame->depth = root->f_depth;
    return JY_OK;
}

struct jy_vbuild *
jy_vb_new(struct jy_vbuild *root, struct jy_flow *w, struct jy_trace_state *t)
{
    struct jy_vbuild *b = JY_NEW(w->w_arena, struct jy_vbuild);
    b->root = root != NULL ? root : b;
    b->w = w;
    b->t = t;
    b->arena = w->w_arena;
    b->hints = b->root->hints;
    b->may_again = b->root->may_again;
    b->alias_list = new_alias(w);
    b->alias_rows = new_alias(w);
    b->alias_items = new_alias(w);
    b->alias_number = new_alias(w);
    b->alias_count = new_alias(w);
    b->alias_fixed = new_alias(w);
    b->vector_block = JY_NO_FV;
    return b;
}

static jy_status
run_waiting_list(struct jy_vbuild *b, bool *any)
{
    for (; b->next < b->work.n && !b->again; b->next++) {
        *any = true;
        TRY(run(b, b->work.at[b->next]));
    }
    b->root->again |= b->again;
    return JY_OK;
}

/* Puts back what waits. False: nothing does. */
static bool
wake(struct jy_vbuild *b)
{
    bool any = b->waiting.n != 0;
    for (size_t i = 0; i < b->waiting.n; i++)
        *jy_vec_push(b->arena, &b->work) = b->waiting.at[i];
    b->waiting.n = 0;
    return any;
}

/* Along all ways through the flow and its functions. */
static jy_status
run_all(struct jy_vbuild *root)
{
    for (bool any = true; any && !root->again;) {
        any = false;
        for (size_t k = 0; k <= root->functions.n && !root->again; k++)
            TRY(run_waiting_list(build_of(root, k), &any));
        if (any)
            continue;
        root->is_last |= !root->has_news;
        root->has_news = false;
        for (size_t k = 0; k <= root->functions.n; k++)
            any |= wake(build_of(root, k));
    }
    return JY_OK;
}

static jy_status
build(struct jy_frame *root, struct jy_vhints *hints, bool may_again, bool *again)
{
    struct jy_trace_state *t = root->f_trace;
    struct jy_arena *arena = t->unit->u_arena;
    struct jy_vbuild *b = jy_vb_new(NULL, jy_flow_new(arena, t->graph->g_name), t);
    b->hints = hints;
    b->may_again = may_again;
    b->w->w_file = t->graph->g_file = jy_frame_file(root);
    struct jy_vframe frame = { .f = root, .pc = root->f_next, .nlocals = root->f_nlocals };
    frame.locals = JY_NEW_ARRAY(arena, struct jy_val *, frame.nlocals + 1);
    frame.stack = JY_NEW_ARRAY(arena, struct jy_val *, root->f_stacksize + 2);
    b->frame = b->snap = &frame;
    TRY(fill_start(b, &frame, root));
    if (t->request->as_function) {
        TRY(jy_vinvoke_own(b, &frame));
    } else {
        b->w->w_frames = 1;
        jy_viter_fix_steps(b, &frame);
        jy_vb_goto(b, &frame);
    }
    TRY(run_all(b));
    if (b->has_long && !b->writes_long && may_again && !b->again)
        b->again = hints->no_long = true;
    *again = b->again;
    if (b->again)
        return JY_OK;
    TRY(t->request->as_function ? jy_vinvoke_finish(b) : JY_OK);
    return finish(b, root);
}

jy_status
jy_flow_build(struct jy_frame *root)
{
    struct jy_vhints hints = { 0 };
    bool again = true;
    for (int k = 1; again; k++)
        TRY(build(root, &hints, k < MAX_BUILDS, &again));
    return JY_OK;
}
